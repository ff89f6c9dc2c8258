r"""Exact values: of decompositions, of real datasets by brute force, and the maximum over all neighbours."""

from shuffle_sym.truth import exact, ground_truth, neighbours

__all__ = ["exact", "ground_truth", "neighbours"]
