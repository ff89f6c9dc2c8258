r"""Exact values for decompositions, for real datasets (by brute force), and the maximum over all neighbours."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later
from shuffle_sym.truth import exact, ground_truth, neighbours

__all__ = ["exact", "ground_truth", "neighbours"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
