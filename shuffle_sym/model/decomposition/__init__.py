r"""Decompositions (a, b, c): the object that carries every analysis, and the analyses that are decompositions."""

from shuffle_sym.model.decomposition.analyses import (
    blanket,
    blankets,
    clones,
    clones_koskela,
    clones_one_sided,
    clones_shared,
    dataset,
    in_batch,
    mixture,
    strong,
    weak,
)
from shuffle_sym.model.decomposition.core import Component, Decomposition, Numbers

__all__ = [
    "Component",
    "Decomposition",
    "Numbers",
    "blanket",
    "blankets",
    "clones",
    "clones_koskela",
    "clones_one_sided",
    "clones_shared",
    "dataset",
    "in_batch",
    "mixture",
    "strong",
    "weak",
]
