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

Where each error goes, with e the relative error of f and F on their windows and o the mass outside of them:

==================  ===========================================================================================
threshold outside   f(T) <= o: at most o, next to a maximum over the window that is not negative (F is 0 at its end)
mass outside        o times the gain is missing above, o·(α − 1) is missing in F below: less than 2o(α + 1)
f and F             factors 1 ± e, each to the side that matters
the gain            1 − p_0 and 1 − p_1 are off by 2u, α by (2 + ε)u, then product and difference: in all by
                    (2 + (5 + ε) + 1)u (1 − p_0), since α(1 − p_1) <= 1 − p_0 where the gain is positive; where it is
                    not, the computed gain is at most as much above 0
α − 1               off by (3 + ε)u, in the same (16 + 2ε)u
==================  ===========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import RTOL, Interval, outward
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.binomial import Array, bernstein_reach, binomial_laws
from shuffle_sym.numeric.search import smallest_epsilon
from shuffle_sym.truth.ground_truth import merged_columns

MOST_USERS = 20_000
_LOG_TAIL = -60.0  # what is cut off each binomial law has a mass of about e^-60
_ODDS_ERROR = 3 * FLOAT_ERROR  # of the quotient of two probabilities
_TOGETHER = 64  # binomial laws that are computed at once


@dataclass(frozen=True)
class DatasetPair:
    """Neighbouring datasets: the first user has ``first`` or ``second``; of the others so many have each input."""

    first: int
    second: int
    others: Mapping[int, int]

    @property
    def X0(self) -> tuple[int, ...]:  # noqa: N802 (the name that ground_truth.delta has for it)
        """The first dataset, as `ground_truth.delta` takes it."""
        return (self.first, *(x for x, count in self.others.items() for _ in range(count)))

    @property
    def X1(self) -> tuple[int, ...]:  # noqa: N802
        """The second dataset."""
        return (self.second, *self.X0[1:])

    def reversed(self) -> DatasetPair:
        """The two datasets exchanged: the second one first."""
        return DatasetPair(self.second, self.first, self.others)

    def __str__(self) -> str:
        counted = " and ".join(f"{count} × {x}" for x, count in self.others.items())
        return f"{self.first} against {self.second}, others {counted}"


def has_two_messages(R: Any) -> bool:
    """Whether R has two messages, proportional ones counted as one, and inputs that can be listed.

    >>> import shuffle_sym as ss
    >>> has_two_messages(ss.BinaryRR(eps0=1)), has_two_messages(ss.KRR(k=3, eps0=1))
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

    >>> import shuffle_sym as ss, sympy as sp
    >>> truth = TwoMessages(ss.BinaryRR(eps0=sp.log(3)), n=3)
    >>> sp.Rational(5, 16) in truth.delta(0)
    True
    """

    def __init__(self, R: Randomizer, n: Any) -> None:
        if not has_two_messages(R):
            raise ValueError(f"R must have two messages, got {R!r}; Shuffle(R, n) takes any randomizer")
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
        self._ceiling = field.not_below(R.eps0)

    @cached_property
    def _laws(self) -> tuple[Array, Array, Array, float, float]:
        """For every j, on a window around the mean: f(T), Pr[others < T] and Pr[others > T]; the relative error of all
        of these, and how much mass they miss."""
        own, own_error, own_outside = _binomials(self.n, self._p0, self._q0)
        other, other_error, other_outside = _binomials(self.n, self._p1, self._q1)
        laws = [np.convolve(own[self.n - 1 - j], other[j]) for j in range(self.n)]
        f = np.zeros((self.n, max(map(len, laws))))
        for j, law in enumerate(laws):
            f[j, : len(law)] = law
        below, above = np.zeros_like(f), np.zeros_like(f)
        np.cumsum(f[:, :-1], axis=1, out=below[:, 1:])
        above[:, :-1] = np.cumsum(f[:, :0:-1], axis=1)[:, ::-1]
        # The sums of the convolution and of the tails have positive terms only.
        return f, below, above, own_error + other_error + 3 * f.shape[1] * UNIT_ROUNDOFF, own_outside + other_outside

    def _of_all_pairs(self, eps: float, side: int) -> tuple[Array, Array]:
        """D_α(x0 ‖ x1) and D_α(x1 ‖ x0) for every j: upper ends with ``side`` = 1, lower ends with −1."""
        f, below, above, error, outside = self._laws
        alpha, slope = math.exp(eps), math.expm1(eps)
        # α has two roundings and that of ε; the last products and differences have some more.
        slack = (16 + 2 * eps) * UNIT_ROUNDOFF
        error = side * (error + slack)
        ends = []
        for top, bottom, tail in ((self._q0, self._q1, below), (self._p1, self._p0, above)):
            gain = top - alpha * bottom + side * slack * top  # α·bottom is below top, or the gain is 0
            lost = side * 2 * outside * (alpha + 1)
            best = np.max((1 + error) * gain * f - (1 - error) * slope * tail, axis=1) + lost
            ends.append(np.maximum(best, 0.0) if gain > 0 else np.zeros(self.n))
        return ends[0], ends[1]

    def delta(self, eps: Any) -> Interval:
        """δ(ε) of the worst of all neighbouring datasets; ``lower_by`` are the datasets."""
        return self._delta(float(arguments.central_epsilon(eps)))

    def _delta(self, eps: float) -> Interval:
        lower, upper = (np.array(self._of_all_pairs(eps, side)) for side in (-1, 1))
        # The first of the pairs with the largest D_α, of those that doubles cannot tell apart
        way, j = (int(i) for i in np.argwhere(upper >= np.max(lower))[0])
        counts = dict(zip(self._inputs, (self.n - 1 - j, j), strict=True))
        worst = DatasetPair(self._inputs[way], self._inputs[1 - way], dict(sorted(counts.items())))
        beyond = eps >= self._ceiling
        answer = Interval(0.0, 0.0) if beyond else outward(float(np.max(lower)), float(np.max(upper)))
        return replace(answer, method="two messages", lower_by=worst)

    def epsilon(self, delta: Any, *, rtol: float = RTOL) -> Interval:
        """The smallest ε with δ(ε) <= ``delta``, certified as in `Shuffle.epsilon`; ``lower_by`` are the datasets."""
        target, rtol = arguments.delta_target(delta), arguments.relative_tolerance(rtol)
        eps = smallest_epsilon(lambda eps, _: self._delta(eps), target, rtol, self._ceiling, sharpens=False)
        return replace(eps, method="two messages", lower_by=self._delta(eps.lower).lower_by)


def _binomials(n: int, p: float, q: float) -> tuple[list[Array], float, float]:
    """The laws Bin(m, p) for m < n on windows around their modes, their relative error, and what they miss.

    Where a window begins does not matter here: the best threshold is looked for in all of it.
    """
    rows: list[Array] = []
    error = outside = 0.0
    for start in range(0, n, _TOGETHER):
        sizes = np.arange(start, min(start + _TOGETHER, n))
        laws = binomial_laws(sizes, p, q, bernstein_reach(int(sizes[-1]), p, _LOG_TAIL), _ODDS_ERROR)
        rows.extend(laws.probabilities)
        error, outside = max(error, laws.error), max(outside, laws.outside)
    return rows, error, outside
