r"""Ground truth: brute force over real datasets, with no decomposition anywhere.

A shuffled dataset is the polynomial :math:`\prod_i \sum_y R(x_i)(y)\, z_y`: the coefficient of a monomial is the
probability of that histogram of messages. Two datasets are compared coefficient by coefficient, in whole numbers where
R and α are rational and in mpmath numbers otherwise.
"""

from shuffle_sym.truth.ground_truth.divergences import (
    WorstMoment,
    WorstPair,
    delta,
    deltas,
    renyi_moment,
    worst_moments,
    worst_pair,
    worst_pairs,
)
from shuffle_sym.truth.ground_truth.search import most_users, seconds, users_within

__all__ = [
    "WorstMoment",
    "WorstPair",
    "delta",
    "deltas",
    "most_users",
    "renyi_moment",
    "seconds",
    "users_within",
    "worst_moments",
    "worst_pair",
    "worst_pairs",
]
