r"""Where to evaluate a hockey-stick curve so that few certified values pin it down everywhere.

A curve has two sides: α >= 1, and α <= 1, which is the other direction seen from the front,
:math:`D_\alpha(P \| Q) = 1 - \alpha + \alpha D_{1/\alpha}(Q \| P)`. In that form small values keep their relative
accuracy on both sides.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from flint import fmpq

from shuffle_sym.accounting.convex import Bracket
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rationals import ONE, ZERO, rational

Evaluate = Callable[[Sequence[fmpq], float], Sequence[Interval]]
Progress = Callable[[Iterable[Any]], Iterable[Any]]

_BATCH = 64
_MOST_PASSES = 60
_NARROWEST = 2.0**-38  # of a cell, in ε, over ε
_BITS = 40  # of α − 1, where α is chosen
_LARGEST_EPS = 700.0
_STEP_OUT = 1.25  # no more: a δ that is far below what counts costs most
_MOST_STEPS_OUT = 20
_OF_GAP = 0.25  # what lines may add to the gap between the two curves
_CLOSE_ABOVE = 1.5e-3  # the least tolerance of a curve for all datasets, whose values cost most
_OF_LARGE_GAP = 0.1  # that tolerance over the gap, where this is more and rounds are what it is for
_UNSEEN = 0.025  # tolerance of a curve over what another one is above it at α = 1: less than a tenth, in ε
_MOST_OF_VALUE = 0.2
_FAR_OUT = 10.0  # a value over the least that counts, up to which a bound need not be sharper than that
_NOISE = 1 / 6  # relative width of a value, over the tolerance of the curve


class BudgetSpentError(ValueError):
    """More points than allowed would be needed."""


@dataclass
class Side:
    r"""Certified values of one direction at α >= 1.

    ``evaluate(alphas, rtol)`` returns them; ``ceiling`` is an α at which the curve is exactly 0 (None if there is
    none) and ``infinite`` a lower bound of its limit for α → ∞.
    """

    evaluate: Evaluate
    ceiling: fmpq | None
    infinite: fmpq = ZERO
    values: dict[fmpq, tuple[fmpq, fmpq]] = field(default_factory=dict)
    _known_to: dict[fmpq, float] = field(default_factory=dict)
    doubles: dict[fmpq, tuple[float, float, float]] = field(default_factory=dict)  # α − 1 and its two values
    _top: float = 0.0  # the value at α = 1, the largest

    def learn(self, alphas: Iterable[fmpq], rtol: float, progress: Progress, least: float = 0.0) -> None:
        """Evaluate at these α, unless values of that accuracy are known; ``rtol`` is that of the largest value, and
        ``least`` one that is enough for these."""
        missing = self.missing(alphas, rtol)
        for batch in progress([missing[i : i + _BATCH] for i in range(0, len(missing), _BATCH)]):
            # The curve falls: what is known to the left of a batch bounds all of it.
            before = max((alpha for alpha in self.values if alpha <= batch[0]), default=batch[0])
            within = max(self.tolerance(rtol, self.upper(before) if before in self.values else 1.0, _NOISE), least)
            for alpha, answer in zip(batch, self._evaluated(batch, within), strict=True):
                lower, upper = self.values.get(alpha, (ZERO, ONE))
                lower, upper = max(lower, rational(answer.lower)), min(upper, rational(answer.upper))
                self.values[alpha] = lower, upper
                self.doubles[alpha] = float(alpha - 1), float(lower), float(upper)
                self._known_to[alpha] = rtol
            if batch[0] == ONE:
                self._top = self.upper(ONE)

    def missing(self, alphas: Iterable[fmpq], rtol: float) -> list[fmpq]:
        """Those of these α where no value of that accuracy is known, in order."""
        return [alpha for alpha in sorted(set(alphas)) if self._known_to.get(alpha, math.inf) > rtol]

    def _evaluated(self, alphas: list[fmpq], rtol: float) -> list[Interval]:
        inside = [alpha for alpha in alphas if self.ceiling is None or alpha < self.ceiling]
        known = dict(zip(inside, self.evaluate(inside, rtol), strict=True)) if inside else {}
        return [known.get(alpha, Interval(0.0, 0.0)) for alpha in alphas]

    def tolerance(self, rtol: float, upper: float, share: float = 1.0) -> float:
        """The relative error that is allowed where the curve is at most ``upper``: more of it, farther out, up to
        ``share`` of what is the most anywhere."""
        if not upper or not self._top:
            return rtol
        return min(rtol * (1 + 2 * math.log(max(self._top / upper, 1.0))), max(share * _MOST_OF_VALUE, rtol))

    def known(self, rtol: float) -> list[fmpq]:
        """Where values of that accuracy are known, in order; a blurred one among sharp ones would do harm."""
        return sorted(alpha for alpha, reached in self._known_to.items() if reached <= rtol)

    def upper(self, alpha: fmpq) -> float:
        return self.doubles[alpha][2]


def no_progress(items: Iterable[Any]) -> Iterable[Any]:
    return items


@dataclass(frozen=True)
class Sampling:
    r"""How good the bracket of a curve is to be.

    A cell is good if the two curves differ by at most ``rtol`` of the value, times :math:`1 + 2\log(D_1/D_\alpha)`
    (farther out a relative error of δ matters less for ε) but never a fifth of it, or if the value there does not
    count. It counts if for one of the pairs (λ, least) in ``levels`` it is, multiplied by
    :math:`e^{(\lambda-1)\varepsilon}`, above ``least``: with λ = 1 for δ itself, with λ > 1 for the moment of that
    order. ``slack`` is by how much ``rtol`` and ``least`` may be larger next to another curve that is far enough above.
    """

    rtol: float
    levels: tuple[tuple[float, float], ...]
    max_points: int
    progress: Progress = field(default=no_progress, compare=False)
    slack: float = 1.0

    def serves(self, other: Sampling) -> bool:
        """Whether what is good enough here is good enough there."""
        return self.rtol * self.slack <= other.rtol and all(
            any(order <= mine and self.slack * bound <= least for mine, bound in self.levels)
            for order, least in other.levels
        )

    def brackets(self, forward: Side, backward: Side, above: Side | None) -> tuple[Bracket, Bracket]:
        """That of the curve, and that of the one above it, if there is one, else the same again."""
        if above is None:
            return (both := self.bracket(forward, backward)), both
        rough = self._beside(forward, above) if self.slack > 1 else self
        return rough.bracket(forward, backward), rough.above(above, forward)

    def _beside(self, forward: Side, above: Side) -> Sampling:
        """A sampling with a tolerance that is not seen next to what the two curves differ by at α = 1."""
        for side in (forward, above):
            self._learn(side, [ONE])
        factor = min(max(_UNSEEN * _gap(forward, above, ONE) / self.rtol, 1.0), self.slack)
        levels = tuple((order, factor * least) for order, least in self.levels)
        return replace(self, rtol=factor * self.rtol, levels=levels)

    def bracket(self, forward: Side, backward: Side) -> Bracket:
        """Values on both sides (one object, where the two directions are alike), refined until all cells are good."""
        pairs = [(forward, backward)] if backward is forward else [(forward, backward), (backward, forward)]
        for side, _ in pairs:
            self._start(side)
        for _ in range(_MOST_PASSES):
            wanted = [self._wanted(side, other) for side, other in pairs]
            if not any(wanted):
                break
            for (side, _), alphas in zip(pairs, wanted, strict=True):
                self._learn(side, alphas)
        return combined(forward, backward, self._noise)

    def above(self, side: Side, forward: Side) -> Bracket:
        """A bracket of another curve, which is above this one, at some of the points where this one was sampled.

        The two have about the same shape, so that it is enough to look where lines between the values of this one are
        as close to it as ``rtol`` and `_CLOSE_ABOVE` say. Farther out it goes on until it is small.
        """
        # Beyond the largest loss of this one the other may be far below what counts, where a value costs most.
        points = [a for a in forward.known(self._noise) if a == ONE or forward.ceiling is None or a < forward.ceiling]
        self._learn(side, [ONE])
        of_large = _OF_LARGE_GAP if self.slack > 1 else 0.0
        first = max(_CLOSE_ABOVE, of_large * _gap(forward, side, ONE))
        some = self._on_lines(forward, points, max(self.rtol, first))
        ends = [] if side.ceiling is None else [side.ceiling]  # other pairs of inputs may have larger losses
        least = min(least for _, least in self.levels)
        far = {alpha for alpha in some if forward.upper(alpha) <= _FAR_OUT * least}
        self._learn(side, {*some, *ends} - far)
        self._learn(side, far, _MOST_OF_VALUE)
        # Lines should not be seen next to what the curves differ by; where that is nothing, all points are needed.
        gaps = [_gap(forward, side, alpha) for alpha in some]
        between: set[fmpq] = set()
        for (left, right), both in zip(pairwise(some), pairwise(gaps), strict=True):
            gap = max(both) if max(both) > self.rtol / 2 else 0.0
            share = max(min(_OF_GAP * gap, _CLOSE_ABOVE), of_large * gap)
            if share < first:
                between.update(self._on_lines(forward, points[points.index(left) : points.index(right) + 1], share))
        self._learn(side, between)
        inside = [alpha for alpha in side.known(self._noise) if side.ceiling is None or alpha < side.ceiling]
        for _ in range(_MOST_STEPS_OUT if len(inside) > 1 else 0):
            following = _alpha(min(_STEP_OUT * _log(inside[-1]), _LARGEST_EPS))
            if side.upper(inside[-1]) <= least or (side.ceiling is not None and following >= side.ceiling):
                break
            inside.append(following)
            self._learn(side, [following], _MOST_OF_VALUE)  # lines between so few points are no closer
        return combined(side, side, self._noise)

    def _on_lines(self, side: Side, points: list[fmpq], share: float) -> list[fmpq]:
        """Some of the points of a curve, the first and the last among them, as few as possible: lines between them are
        close to the curve at all points, about ``share`` of it. Doubles are enough to see that."""
        x, values = [float(alpha - 1) for alpha in points], [side.upper(alpha) for alpha in points]
        least = [min(least * float(alpha) ** (1 - order) for order, least in self.levels) for alpha in points]
        rooms = [side.tolerance(share, value) * value + more for value, more in zip(values, least, strict=True)]
        some = [0]
        while some[-1] < len(points) - 1:
            i, most, j = some[-1], math.inf, some[-1]
            # The steepest of the lines from here that are below the curve and its room so far
            while j + 1 < len(points) and (values[j + 1] - values[i]) / (x[j + 1] - x[i]) <= most:
                j += 1
                most = min(most, (values[j] + rooms[j] - values[i]) / (x[j] - x[i]))
            some.append(j)
        return [points[i] for i in some]

    @property
    def _noise(self) -> float:
        return self.rtol * _NOISE

    def _learn(self, side: Side, alphas: Iterable[fmpq], least: float = 0.0) -> None:
        alphas = set(alphas)
        count = len(side.known(self._noise)) + len(side.missing(alphas, self._noise))
        if count > self.max_points:
            raise BudgetSpentError(
                f"a profile with rtol = {self.rtol:.2g} needs more than max_points = {self.max_points} points; "
                "ask for a larger rtol, or give more points"
            )
        side.learn(alphas, self._noise, self.progress, least)

    def _start(self, side: Side) -> None:
        """As many points as a normal law would need, as far out as it would reach; and then until δ is small."""
        self._learn(side, [ONE])
        top = side.upper(ONE)
        if side.ceiling is not None:
            self._learn(side, [side.ceiling])
        least = min(least for _, least in self.levels)
        if not top:
            return
        sigma = math.sqrt(2 * math.pi) * top
        shift = max(order - 1 for order, _ in self.levels) * sigma
        reach = (math.sqrt(2 * max(math.log(top / least), 0.0) + 1) + shift) * sigma
        end = _LARGEST_EPS if side.ceiling is None else _log(side.ceiling)
        steps = math.ceil(min(reach, end) / (sigma * math.sqrt(2 * self.rtol)))
        width = min(reach, end) / steps
        known = [_log(alpha) for alpha in side.known(self._noise)]
        wanted = [width * i for i in range(1, min(steps, self.max_points // 2))]
        self._learn(side, (_alpha(eps) for eps in wanted if _distance(eps, known) > width / 2))
        eps = min(reach, end) if side.ceiling is None else end
        while side.ceiling is None:
            alpha = _alpha(eps)
            self._learn(side, [alpha])
            settled = float(side.infinite) * (1 + self.rtol)
            if side.upper(alpha) <= max(least, settled) or eps >= _LARGEST_EPS:
                break
            eps = min(_STEP_OUT * eps, _LARGEST_EPS)

    def _wanted(self, side: Side, other: Side) -> list[fmpq]:
        """The middles of the cells on one side that are not good yet. Doubles are enough to see which."""
        nodes, first = _around_one(side, other, self._noise)
        ends, uppers = np.log1p(nodes.alphas[first:]), nodes.uppers[first:]
        rooms = np.array([side.tolerance(self.rtol, value) * value for value in uppers[:-1]])
        wide = np.array(uppers) - nodes.lowers[first:]
        # Where a value is not known well enough, no cell is good enough.
        poor = (nodes.gaps[first:] > rooms) & (np.maximum(wide[:-1], wide[1:]) <= rooms)
        poor &= np.diff(ends) > _NARROWEST * ends[1:]
        logs = np.log(np.maximum(uppers[:-1], 5e-324))
        counts = [logs + (order - 1) * ends[1:] > math.log(least) for order, least in self.levels]
        return [_alpha(eps) for eps in ((ends[:-1] + ends[1:]) / 2)[poor & np.any(counts, axis=0)].tolist()]


def _gap(curve: Side, above: Side, alpha: fmpq) -> float:
    """What a curve is below another one at an α, over that one; 0 where it is not."""
    return max(1 - curve.upper(alpha) / above.upper(alpha), 0.0) if above.upper(alpha) else 0.0


def _distance(eps: float, known: list[float]) -> float:
    """From ε to the nearest of these, which are in order."""
    i = bisect_left(known, eps)
    return min((abs(eps - x) for x in known[max(i - 1, 0) : i + 1]), default=math.inf)


def _around_one(side: Side, other: Side, rtol: float) -> tuple[Bracket, int]:
    """The values at α >= 1 as doubles, after a few at α < 1 which the lines into the first cells come from; and how
    many these are. In place of α there is α − 1, which a double tells apart however small the losses are."""
    back = other.known(rtol)[2:0:-1]
    mirrored = [(1 / beta - 1, *(1 - (1 - end) / beta for end in other.values[beta])) for beta in back]
    rows = [*(tuple(map(float, row)) for row in mirrored), *(side.doubles[alpha] for alpha in side.known(rtol))]
    return Bracket(*zip(*rows, strict=True)), len(back)


def combined(forward: Side, backward: Side, rtol: float) -> Bracket:
    """The bracket of the whole curve from values of that accuracy, α < 1 from the other direction."""
    front = forward.known(rtol)
    lowers, uppers = ([forward.values[alpha][end] for alpha in front] for end in (0, 1))
    back = [beta for beta in reversed(backward.known(rtol)) if beta > 1]
    mirrored = [[1 - (1 - backward.values[beta][end]) / beta for beta in back] for end in (0, 1)]
    return Bracket(
        tuple([*(1 / beta for beta in back), *front]),
        tuple([*mirrored[0], *lowers]),
        tuple([*mirrored[1], *uppers]),
        forward.infinite,
    )


def _alpha(eps: float) -> fmpq:
    """A fraction near e^ε, few digits away from 1."""
    mantissa, exponent = math.frexp(math.expm1(eps))
    return 1 + round(math.ldexp(mantissa, _BITS)) * fmpq(2) ** (exponent - _BITS)


def _log(alpha: fmpq) -> float:
    """log α for α >= 1, with its relative accuracy next to 1."""
    return math.log1p(float(alpha - 1))
