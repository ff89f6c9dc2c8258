r"""Exact values: fractions and mpmath at small n, balls at any n; never floats."""

from shuffle_sym.truth.exact.central import CentralSum
from shuffle_sym.truth.exact.divergence import MOST_SECONDS, divergence, enclosure
from shuffle_sym.truth.exact.product import composed_divergence
from shuffle_sym.truth.exact.reduction_pair import reduction_pair, reduction_pair_divergence, shuffled_pair
from shuffle_sym.truth.exact.renyi import renyi_divergence, renyi_moment, two_rr_moment

__all__ = [
    "MOST_SECONDS",
    "CentralSum",
    "composed_divergence",
    "divergence",
    "enclosure",
    "reduction_pair",
    "reduction_pair_divergence",
    "renyi_divergence",
    "renyi_moment",
    "shuffled_pair",
    "two_rr_moment",
]
