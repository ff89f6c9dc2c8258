r"""The truth for randomizers with two messages, at any n up to some ten thousand: beyond decompositions.

The shuffled messages are a number K of ones. Let j of the n − 1 other users have x1, so that their ones are
:math:`\text{Bin}(n - 1 - j, p_0) + \text{Bin}(j, p_1)` with law f and distribution function F, where
p_x = Pr[R(x) = 1] and p_0 < p_1. Sums of independent bits are log-concave, so the likelihood ratio of the two
datasets is monotone in K and the best test is a threshold:

.. math:: D_\alpha(x_0 \| x_1) = \max_T \bigl[(1 - p_0) - \alpha (1 - p_1)\bigr] f(T) - (\alpha - 1) F(T - 1),

and the other direction is the same with zeros and ones exchanged. There are only n values of j: all of them are tried.

With more than two inputs, x0 and x1 stand for those with the smallest and the largest p_x, and no other one is needed:
the divergence is convex in R(x) for each user, and jointly in the two rows of the first user, while all rows are on
the segment between these two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import Interval, outward
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.inverse import smallest_epsilon
from shuffle_sym.truth.ground_truth.messages import merged_columns

MOST_USERS = 20_000
_LOST = 60.0  # natural logarithms: what is cut off each law has mass at most 2 e^-60
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Composition:
    """The first user has ``first`` and not ``second``; ``others`` says how many of the others have each input."""

    first: int
    second: int
    others: Mapping[int, int]

    def __str__(self) -> str:
        counted = " and ".join(f"{count} × {x}" for x, count in self.others.items())
        return f"{self.first} against {self.second}, others {counted}"


def applies(R: Any) -> bool:
    """Whether R has two messages, proportional ones counted as one, and inputs that can be listed.

    >>> import shuffle_sym as ss
    >>> applies(ss.BinaryRR(eps0=1)), applies(ss.KRR(k=3, eps0=1))
    (True, False)
    """
    if not isinstance(R, Randomizer) or R.free_symbols or not R.input_count.is_Integer:
        return False
    # More than two classes of messages under two inputs cannot be two messages: no need to list them all.
    few = len({field.simplest(y.masses[0] / y.masses[1]) for y in R.classes(0, 1) if y.masses[1] != 0}) <= 2
    return few and len(_columns(R)) == 2


def _columns(R: Randomizer) -> list[tuple[Any, ...]]:
    return merged_columns([tuple(map(field.simplest, column)) for column in zip(*R.rows(), strict=True)])


class TwoMessages:
    r"""Certified δ(ε) and ε(δ) of the worst pair of neighbouring datasets, of all there are.

    Cost: n convolutions of length O(√n), once; then O(n^1.5) products for each ε.

    >>> import shuffle_sym as ss
    >>> truth = TwoMessages(ss.BinaryRR(eps0=sp.log(3)), n=3)
    >>> sp.Rational(5, 16) in truth.delta(0)
    True
    """

    def __init__(self, R: Randomizer, n: Any) -> None:
        if not applies(R):
            raise ValueError(f"R must have two messages, got {R!r}; sandwich(R, n, delta) is for any R")
        self.n = arguments.users(n)
        if self.n > MOST_USERS:
            raise ValueError(f"n must be at most {MOST_USERS}, got {self.n}: all {self.n} compositions are tried")
        zero, one = _columns(R)
        least, most = field.minimum(one, R.bindings), field.maximum(one, R.bindings)
        self._inputs = one.index(least), one.index(most)
        # 1 − p_x and p_x, each by itself with a small relative error
        (self._q0, self._q1), (self._p0, self._p1) = (
            field.floats([column[x] for x in self._inputs], R.bindings) for column in (zero, one)
        )
        self._ceiling = math.inf if R.eps0 is sp.oo else math.nextafter(float(R.eps0), math.inf)

    @cached_property
    def _laws(self) -> tuple[Floats, Floats, Floats]:
        """For every j, on a window around the mean: f(T), Pr[others < T] and Pr[others > T]."""
        own = [_binomial(m, self._p0, self._q0) for m in range(self.n)]
        other = [_binomial(m, self._p1, self._q1) for m in range(self.n)]
        laws = [np.convolve(own[self.n - 1 - j], other[j]) for j in range(self.n)]
        f = np.zeros((self.n, max(map(len, laws))))
        for j, law in enumerate(laws):
            f[j, : len(law)] = law
        below, above = np.zeros_like(f), np.zeros_like(f)
        np.cumsum(f[:, :-1], axis=1, out=below[:, 1:])
        above[:, :-1] = np.cumsum(f[:, :0:-1], axis=1)[:, ::-1]
        return f, below, above

    def _by_composition(self, eps: float, side: int) -> tuple[Floats, Floats]:
        """D_α(x0 ‖ x1) and D_α(x1 ‖ x0) for every j: upper ends with ``side`` = 1, lower ends with −1."""
        f, below, above = self._laws
        alpha, slope = math.exp(eps), math.expm1(eps)
        # Each f is a product of fewer than 2·width ratios with some roundings each, tails are sums of positive numbers.
        error = side * 64 * f.shape[1] * field.UNIT_ROUNDOFF
        ends = []
        for top, bottom, tail in ((self._q0, self._q1, below), (self._p1, self._p0, above)):
            gain = top - alpha * bottom + side * 8 * field.UNIT_ROUNDOFF * (top + alpha * bottom)
            lost = side * 8 * math.exp(-_LOST) * (alpha + 1)
            best = np.max((1 + error) * gain * f - (1 - error) * slope * tail, axis=1) + lost
            ends.append(np.maximum(best, 0.0) if gain > 0 else np.zeros(self.n))
        return ends[0], ends[1]

    def delta(self, eps: Any) -> Interval:
        """δ(ε) of the worst of all neighbouring datasets."""
        return self._delta(float(arguments.central_epsilon(eps)))

    def _delta(self, eps: float) -> Interval:
        if eps >= self._ceiling:
            return Interval(0.0, 0.0, "two messages")
        lower, upper = (float(np.max(self._by_composition(eps, side))) for side in (-1, 1))
        return outward(lower, upper, "two messages")

    def epsilon(self, delta: Any, *, rtol: float = 1e-3) -> Interval:
        """The smallest ε with δ(ε) <= ``delta``, certified as in `Shuffle.epsilon`."""
        target, rtol = arguments.delta_target(delta), arguments.relative_tolerance(rtol)
        found = smallest_epsilon(lambda eps, _: self._delta(eps), target, rtol, self._ceiling, sharpens=False)
        return Interval(found.lower, found.upper, "two messages")

    def worst(self, eps: Any) -> Composition:
        """The composition with the largest lower end of D_α."""
        ends = self._by_composition(float(arguments.central_epsilon(eps)), -1)
        way = 0 if np.max(ends[0]) >= np.max(ends[1]) else 1
        j = int(np.argmax(ends[way]))
        counts = dict(zip(self._inputs, (self.n - 1 - j, j), strict=True))
        return Composition(self._inputs[way], self._inputs[1 - way], dict(sorted(counts.items())))


def _binomial(m: int, p: float, q: float) -> Floats:
    """The probabilities of Bin(m, p) within a distance h of the mean, 2 exp(−h²/(2mpq + 2h/3)) = 2 e^-60 (Bernstein).

    Ratios of neighbours are multiplied up from the mode, and divided by their sum.
    """
    h = _LOST / 3 + math.sqrt(_LOST**2 / 9 + 2 * _LOST * m * p * q)
    low, high = max(0, math.ceil(m * p - h)), min(m, math.floor(m * p + h))
    mode = min(max(math.floor((m + 1) * p), low), high)
    up, down = np.arange(mode, high, dtype=float), np.arange(mode, low, -1, dtype=float)
    right = np.cumprod((m - up) * p / ((up + 1) * q))
    left = np.cumprod(down * q / ((m - down + 1) * p))
    law = np.concatenate([left[::-1], [1.0], right])
    return np.asarray(law / law.sum())
