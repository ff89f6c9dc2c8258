r"""Decompositions (a, b, c): the object that carries every analysis, and the analyses that are decompositions."""

from shuffle_sym.model.decomposition.analyses import (
    blanket,
    blankets,
    clones,
    clones_koskela,
    clones_one_sided,
    clones_shared,
    dataset,
    mixture,
    strong,
    weak,
)
from shuffle_sym.model.decomposition.core import Atom, Decomposition, Numbers, is_zero

__all__ = [
    "Atom",
    "Decomposition",
    "Numbers",
    "blanket",
    "blankets",
    "clones",
    "clones_koskela",
    "clones_one_sided",
    "clones_shared",
    "dataset",
    "is_zero",
    "mixture",
    "strong",
    "weak",
]
