r"""The numerical method of Feldman et al. 2020 for the clones, as in their Appendix E and their program.

C ~ Bin(n − 1, 1/t) of the others are clones, A ~ Bin(C, 1/2) of them send 0. Given C = c the zeros tell everything; the
differing user adds one with probability t/(t + 1) or 1/(t + 1), and the ratio of the two laws grows with the zeros:

.. math:: D_\alpha(c) = \frac{(t - \alpha)\Pr[A \ge m - 1] - (\alpha t - 1)\Pr[A \ge m]}{t + 1}, \quad
          m = \Bigl\lfloor \frac{(\alpha t - 1)(c + 1)}{(\alpha + 1)(t - 1)} \Bigr\rfloor + 1 .

It falls with c: one clone more is post-processing. C is taken in blocks of ``step`` values from its mean outward, each
with its smallest or its largest divergence, until less mass is left than the sum so far; from above what is left is
added, as if it told everything. ε is found by halving an interval, from Theorem 3.1 (or ε0) on.

Kept for comparison: nothing bounds the round-off, so neither end is certified; `Shuffle(decomposition.clones(eps0), n)`
is. Arrays in place of a loop, and a lower end of ε that is not beyond the root, are our gift to it.
"""

import math
from typing import Any

import numpy as np
import sympy as sp
from scipy import special

from shuffle_sym.algebra import arguments
from shuffle_sym.numeric.binomial import Array, bernstein_reach
from shuffle_sym.papers.amplification import every_randomizer
from shuffle_sym.papers.feldman2020.bounds import thm31_full

_LOG_UNSEEN = -745.0  # beyond the window lies less than the smallest double


def numerical_delta(eps0: Any, n: Any, eps: Any, *, step: Any = 1) -> tuple[float, float]:
    r"""δ of the clones for n users with ε0 at ``eps``, from below and from above, as published: **not certified**.

    Numbers of clones are taken in blocks of ``step``.

    >>> numerical_delta(sp.log(3), 2, sp.log(2))  # 5/24
    (0.20833..., 0.20833...)
    """
    level, users, size = every_randomizer(eps0).eps0, arguments.users(n), arguments.positive_integer(step, "step")
    exact_eps = arguments.central_epsilon(eps)
    return (0.0, 0.0) if exact_eps >= level else _delta(float(sp.exp(level)), users, float(sp.exp(exact_eps)), size)


def numerical_epsilon(eps0: Any, n: Any, delta: Any, *, step: Any = 8, iterations: Any = 10) -> tuple[float, float]:
    r"""ε of the clones for n users with ε0 at ``delta``, from below and from above, as published: **not certified**.

    Numbers of clones are taken in blocks of ``step``; each end is found by so many ``iterations`` of bisection.

    >>> [round(end, 3) for end in numerical_epsilon(4, 100_000, 1e-6)]
    [0.169, 0.176]
    """
    level, users, target = every_randomizer(eps0).eps0, arguments.users(n), arguments.delta_target(delta)
    size, halvings = arguments.positive_integer(step, "step"), arguments.positive_integer(iterations, "iterations")
    try:
        start = thm31_full(level, users, target)
    except ValueError:
        start = float(level)
    ends = []
    for side in (0, 1) if start else ():
        left, right = 0.0, start
        for _ in range(halvings):
            middle = (left + right) / 2
            met = _delta(float(sp.exp(level)), users, math.exp(middle), size)[side] < target
            left, right = (left, middle) if met else (middle, right)
        ends.append((left, right)[side])
    return (ends[0], ends[1]) if ends else (0.0, 0.0)


def _delta(t: float, n: int, alpha: float, step: int) -> tuple[float, float]:
    others, blocks = n - 1, np.arange(2 * (bernstein_reach(n - 1, 1 / t, _LOG_UNSEEN) // step + 2))
    first = math.ceil(others / t) + step * np.where(blocks % 2, -(blocks // 2 + 1), blocks // 2)  # up, down, up, …
    first, last = (end[(first + step > 0) & (first <= others)] for end in (first, first + step - 1))
    first, last = np.maximum(first, 0.0), np.minimum(last, float(others))
    masses = _tail(first, others, 1 / t) - _tail(last + 1, others, 1 / t)
    left, (low, high) = 1 - np.cumsum(masses), (np.cumsum(masses * _given(c, t, alpha)) for c in (last, first))
    stop = min([*np.flatnonzero(left < low)[:1], len(left) - 1])
    return float(low[stop]), float(high[stop] + max(left[stop], 0.0))


def _given(c: Array, t: float, alpha: float) -> Array:
    """The divergence if c of the others are clones."""
    m = np.floor((alpha * t - 1) * (c + 1) / ((alpha + 1) * (t - 1))) + 1
    return ((t - alpha) * _tail(m - 1, c, 0.5) - (alpha * t - 1) * _tail(m, c, 0.5)) / (t + 1)


def _tail(k: Array, N: Any, p: float) -> Array:
    """Pr[Bin(N, p) >= k]."""
    # Not bdtrc: at N = 1e9 it is off in the first digit.
    inside = special.betainc(np.maximum(k, 1.0), np.maximum(N - k + 1, 1.0), p)
    return np.where(k <= 0, 1.0, np.where(k > N, 0.0, inside))
