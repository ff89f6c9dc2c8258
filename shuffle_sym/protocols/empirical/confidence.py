r"""What a count says about a probability: exact binomial tails and Clopper–Pearson limits, rounded outward.

SciPy's inverse of the incomplete beta function proposes a limit; a sum of positive terms, each a ratio times the one
before it, and an enclosure of the first term certify it. What is not certified is moved outward until it is.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb
from scipy import special

from shuffle_sym.algebra import balls, rounding

_BITS = 120  # the logarithm of a binomial coefficient has at most 60 of them before the point
_ROUNDINGS = 8  # more than there are from one term of a sum to the next


def at_least(k: int, size: int, p: float) -> float:
    r"""An upper bound of :math:`\Pr[\mathrm{Bin}(N, p) \ge k]`, N = ``size``; sharp if k is at least Np.

    Above the mode the ratios of neighbouring terms fall, so a geometric series bounds what is not added up. For k
    below Np it is 1.

    >>> 0.25 < at_least(2, 2, 0.5) < 0.25 + 1e-14, at_least(0, 2, 0.5)
    (True, 1.0)
    """
    if k > size or (p <= 0 and k > 0):
        return 0.0
    if k <= 0 or k < size * p or p >= 1:
        return 1.0
    steps = np.arange(k, min(size, k + 12 * math.isqrt(size) + 50) + 1, dtype=float)
    ratios = (size - steps) / (steps + 1) * (p / (1 - p))
    with np.errstate(under="ignore"):
        terms = np.cumprod(ratios[:-1])
    last = float(terms[-1]) if len(terms) else 1.0
    beyond = 1.001 * last * ratios[-1] / (1 - ratios[-1]) if ratios[-1] > 0 else 0.0
    total = 1 + float(np.sum(terms)) + beyond + 1e-300 * len(steps)
    total *= 1 + _ROUNDINGS * (len(steps) + 2) * rounding.UNIT_ROUNDOFF
    return min(rounding.above(_term(k, size, p) * total), 1.0)


def at_most(k: int, size: int, p: float) -> float:
    r"""An upper bound of :math:`\Pr[\mathrm{Bin}(N, p) \le k]`, a few roundings above it for k at most Np.

    >>> 0.25 < at_most(0, 2, 0.5) < 0.25 + 1e-14
    True
    """
    return at_least(size - k, size, min(rounding.above(1 - p), 1.0)) if p > 0 else 1.0


def _term(k: int, size: int, p: float) -> float:
    """An upper bound of Pr[Bin(N, p) = k], as near as doubles get."""
    with balls.LOCK, balls.workprec(_BITS):
        share = arb(p)
        log_term = arb(size + 1).lgamma() - arb(k + 1).lgamma() - arb(size - k + 1).lgamma()
        log_term += k * share.log() if k else 0
        log_term += (size - k) * (-share).log1p() if k < size else 0
        return balls.upper(log_term.exp())


def lower_limit(k: int, size: int, beta: float) -> float:
    r"""A double p with :math:`\Pr[\mathrm{Bin}(N, p) \ge k] \le \beta`: Clopper and Pearson's lower limit (1934).

    *The truth π is below it with probability at most β.* If π is below the limits of some counts, let k be the least of
    them. Then :math:`\Pr[\mathrm{Bin}(N, \pi) \ge k] \le \Pr[\mathrm{Bin}(N, p_k) \ge k] \le \beta`, and no smaller
    count has a limit above π. Nothing else is asked of the limits: each may be rounded down on its own.

    >>> lower_limit(0, 10, 0.05), round(lower_limit(10, 10, 0.05), 9) == round(0.05 ** (1 / 10), 9)
    (0.0, True)
    """
    if k <= 0:
        return 0.0
    p = float(special.betaincinv(k, size - k + 1, beta))
    step = 1e-12
    while at_least(k, size, p) > beta:
        p, step = p * (1 - step), 4 * step
        if step > 1:
            return 0.0  # it says nothing, and is right
    return p


def upper_limit(k: int, size: int, beta: float) -> float:
    """A double that is below the truth with probability at most β: see `lower_limit`, of the failures.

    >>> upper_limit(10, 10, 0.05), round(upper_limit(0, 10, 0.05), 9) == round(1 - 0.05 ** (1 / 10), 9)
    (1.0, True)
    """
    return min(rounding.above(1 - lower_limit(size - k, size, beta)), 1.0) if k < size else 1.0
