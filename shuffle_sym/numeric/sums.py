r"""Certified :math:`\frac1n\mathbb E[G_1 + \dots + G_n]_+` for up to four users and many values of G: all sums.

S is x + y, two sums of at most two terms each, and :math:`\mathbb E[S]_+ = \sum_x p_x \sum_{y > -x} q_y (x + y)`.
Values are raised by their relative errors for the upper end, and lowered for the lower end; probabilities have positive
coefficients, a factor for each term; the sums over y are off by the number of their terms times the absolute values of
what is added up; and each product of probabilities by an underflow at most.
"""

import math

import numpy as np

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.transforms import SMALLEST, Array, checked, refusal, told

_MOST_USERS, _MOST_SUMS = 4, 2**20
_UNDERFLOW = 1e-300


def suits(values: Array, n: int) -> bool:
    """Whether the sums of half of the terms are few enough."""
    return n <= _MOST_USERS and len(values) ** math.ceil(n / 2) <= _MOST_SUMS


def positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`, no wider than ``rtol`` of the upper end (below 1e-305: from 0).

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR.

    >>> positive_part(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1e-3)  # E[S]_+ = 3/8 + 3/8
    Interval(0.249999, 0.250001)
    """
    values, p = checked(values, probabilities, n, rtol)
    if not suits(values, n):
        raise ValueError(f'n must be at most {_MOST_USERS}, less with many values of G, got {n}; use method="contour"')
    top = float(values.max())
    if top <= 0:
        return Interval(0.0, 0.0)
    unit = 2.0 ** math.floor(math.log2(top))
    values = np.maximum(values, -4.0 * n * top) / unit  # a sum with a value below −n·max is negative
    lower, upper = (_end(values, p, n, sign) * unit / n for sign in (-1, 1))
    if upper - lower > rtol * upper and upper > SMALLEST:
        raise refusal(n, rtol, (upper - lower) / upper, "more than doubles can give")
    return told(lower, upper)


def _end(values: Array, p: Array, n: int, sign: int) -> float:
    """The lower or the upper end of E[S]_+, for values that are at most 2."""
    values = values + sign * (FLOAT_ERROR + 4 * UNIT_ROUNDOFF) * np.abs(values)
    (x, p), (y, q) = (_sums(values, p, k) for k in (n // 2, n - n // 2))
    order = np.argsort(y, kind="stable")
    y, q = y[order], q[order]
    first = np.searchsorted(y, -x, side="right")
    tails = [np.append(np.cumsum(terms[::-1])[::-1], 0.0)[first] for terms in (q, q * y, q * np.abs(y))]
    total, size = math.fsum(p * (x * tails[0] + tails[1])), math.fsum(p * (np.abs(x) * tails[0] + tails[2]))
    off = (len(q) + 16) * UNIT_ROUNDOFF * size + 2 * n * (FLOAT_ERROR + UNIT_ROUNDOFF) * total
    return max(total + sign * (1.01 * off + len(p) * len(q) * n * _UNDERFLOW), 0.0)


def _sums(values: Array, p: Array, k: int) -> tuple[Array, Array]:
    """All sums of k values, and their probabilities."""
    if k < 2:
        return (values, p) if k else (np.zeros(1), np.ones(1))
    return np.add.outer(values, values).ravel(), np.multiply.outer(p, p).ravel()
