r"""Exact values at small n: fractions and mpmath, never floats."""

from shuffle_sym.truth.exact.divergence import divergence, most_users, work
from shuffle_sym.truth.exact.product import composed_divergence
from shuffle_sym.truth.exact.reduction_pair import reduction_pair, reduction_pair_divergence, shuffled_pair
from shuffle_sym.truth.exact.renyi import renyi_divergence, renyi_moment, two_rr_moment

__all__ = [
    "composed_divergence",
    "divergence",
    "most_users",
    "reduction_pair",
    "reduction_pair_divergence",
    "renyi_divergence",
    "renyi_moment",
    "shuffled_pair",
    "two_rr_moment",
    "work",
]
