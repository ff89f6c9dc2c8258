r"""A hockey-stick curve :math:`\alpha \mapsto D_\alpha(P \| Q)` from two-sided bounds at some points, in fractions.

Such a curve is convex and does not increase, starts at :math:`D_0 = 1` with a slope of at least −1, and lies above
:math:`1 - \alpha`; and every curve of that kind belongs to a pair (P, Q): the slope changes are the Q-masses of the
outcomes with P/Q = α, and what is left at α → ∞ is the P-mass of outcomes that are impossible under Q. If one curve is
above another for *every* α > 0, its pair is at least as easy to tell apart, in compositions too (Blackwell).

The upper curve has straight lines between upper values, made convex by their greatest convex minorant. For the lower
curve, lines between lower values would not be a bound. But on either side of a cell between two points the curve is
above the line through the two points *beyond* that side, so it is above the tip where the two lines meet.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.rationals import ONE, ZERO, convex_minorant, rational

Point = tuple[fmpq, fmpq]


class Outcome(NamedTuple):
    """Outcomes with one ratio α = P/Q and their mass under Q; the mass under P is α times that."""

    alpha: fmpq
    q: fmpq


@dataclass(frozen=True)
class HockeyStickCurve:
    r"""A convex curve through ``vertices`` (α, D_α), the first of them (0, 1); constant after the last.

    Made from points by `curve_through`, which checks them; what is made from a curve here is one by construction.
    """

    vertices: tuple[Point, ...]

    @cached_property
    def slopes(self) -> tuple[fmpq, ...]:
        return tuple(_slope(left, right) for left, right in pairwise(self.vertices))

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes with a mass under Q, by increasing ratio; the first may have the ratio 0."""
        slopes = (-ONE, *self.slopes, ZERO)
        masses = (after - before for before, after in pairwise(slopes))
        return tuple(Outcome(alpha, q) for (alpha, _), q in zip(self.vertices, masses, strict=True) if q != 0)

    @property
    def infinite(self) -> fmpq:
        """The P-mass of outcomes that are impossible under Q."""
        return self.vertices[-1][1]

    def __call__(self, alpha: Any) -> fmpq:
        ratio = rational(alpha)
        i = bisect_right(self.vertices, ratio, key=lambda vertex: vertex[0]) - 1
        left, value = self.vertices[i]
        return value if i == len(self.slopes) else value + self.slopes[i] * (ratio - left)

    def reversed(self) -> HockeyStickCurve:
        r"""The curve of (Q, P): :math:`D_\alpha(Q \| P) = 1 - \alpha + \alpha D_{1/\alpha}(P \| Q)`."""
        mirrored = [(1 / a, 1 - (1 - v) / a) for a, v in reversed(self.vertices) if a != 0]
        return HockeyStickCurve(((ZERO, ONE), *mirrored))

    def shortened(self, least: Any, *, above: bool) -> HockeyStickCurve:
        """A curve above this one (or below it) without the far ratios on either side: from where on D_α, or that of
        (Q, P), is at most ``least`` more than it will ever be."""
        room = rational(least)
        return self._cut(room, above).reversed()._cut(room, above).reversed()

    def _cut(self, least: fmpq, above: bool) -> HockeyStickCurve:
        last = next(i for i, (_, value) in enumerate(self.vertices) if value <= self.infinite + least)
        kept, (alpha, value) = self.vertices[: last + 1], self.vertices[last]
        if above or value == self.infinite:
            return HockeyStickCurve(kept)  # it stays what it is there
        # It falls on as before, as a convex curve does at most.
        slope = _slope(self.vertices[last - 1], self.vertices[last]) if last else -ONE
        return HockeyStickCurve((*kept, (alpha - (value - self.infinite) / slope, self.infinite)))

    def conjugate(self, x: Any) -> fmpq:
        r"""The least error of the second kind at an error of the first kind x: :math:`\max_\alpha 1 - D_\alpha - \alpha
        x`, which a vertex attains."""
        error = rational(x)
        return max(1 - value - alpha * error for alpha, value in self.vertices)


def _slope(left: Point, right: Point) -> fmpq:
    return (right[1] - left[1]) / (right[0] - left[0])


def curve_through(vertices: Iterable[tuple[Any, Any]]) -> HockeyStickCurve:
    r"""The curve with these vertices (α, D_α), checked.

    >>> curve_through([(0, 1), (0.5, 0.5), (2, 0)]).outcomes  # P = (2/3, 1/3), Q = (1/3, 2/3)
    (Outcome(alpha=1/2, q=2/3), Outcome(alpha=2, q=1/3))
    """
    curve = HockeyStickCurve(tuple((rational(alpha), rational(value)) for alpha, value in vertices))
    slopes = [-ONE, *curve.slopes, ZERO]
    if curve.vertices[0] != (ZERO, ONE) or any(s > t for s, t in pairwise(slopes)):
        raise VerificationError("a curve starts at (0, 1), is convex, and has slopes between -1 and 0")
    return curve


@dataclass(frozen=True)
class Bracket:
    r"""Bounds ``lowers`` <= D_α <= ``uppers`` of one curve at increasing ``alphas`` > 0, and a lower bound of D_∞.

    Numbers of any kind: rationals for the curves from above and from below, doubles to look for gaps.
    """

    alphas: Sequence[Any]
    lowers: Sequence[Any]
    uppers: Sequence[Any]
    infinite: Any = ZERO

    @cached_property
    def upper(self) -> HockeyStickCurve:
        """The curve from above."""
        points, least = [(ZERO, ONE)], ONE
        for alpha, value in zip(self.alphas, self.uppers, strict=True):
            least = min(least, value)
            points.append((alpha, least))
        return curve_through(convex_minorant(points))

    @cached_property
    def lower(self) -> HockeyStickCurve:
        """The curve from below."""
        lowers, largest = [], self.infinite
        for alpha, value in zip(reversed(self.alphas), reversed(self.lowers), strict=True):
            largest = max(value, 1 - alpha, largest)  # what every such curve is above; and it does not increase
            lowers.append(largest)
        lowers.reverse()
        whole = Bracket((ZERO, *self.alphas), (ONE, *lowers), (ONE, *self.uppers))
        meet, *tips = whole.tips
        inside, points = zip(*tips, strict=True), [(ZERO, ONE)]
        for point, meets in zip(zip(self.alphas, lowers, strict=True), meet, strict=True):
            points += [next(inside), point] if meets else [point]
        slope = whole.slopes[0][-1]
        if slope < 0:
            points.append((self.alphas[-1] + (lowers[-1] - self.infinite) / -slope, self.infinite))
        return curve_through(convex_minorant(points))

    @cached_property
    def _columns(self) -> Any:
        kind = float if isinstance(self.alphas[0], float) else object
        return [np.array(column, dtype=kind) for column in (self.alphas, self.lowers, self.uppers)]

    @cached_property
    def slopes(self) -> tuple[Any, Any]:
        """At each point a bound from below of the slope to its right, by lines from two points before it, and one from
        above of the slope to its left, by lines to two points after it."""
        alphas, lowers, uppers = self._columns
        after, before = np.full_like(alphas, -1), np.full_like(alphas, 0)
        for i in range(1, min(3, len(alphas))):
            widths = alphas[i:] - alphas[:-i]
            after[i:] = np.maximum(after[i:], (lowers[i:] - uppers[:-i]) / widths)
            before[:-i] = np.minimum(before[:-i], (uppers[i:] - lowers[:-i]) / widths)
        return after, before

    @cached_property
    def tips(self) -> tuple[Any, Any, Any]:
        """In which of the cells between points the lines from both sides meet, and α and the value where they do."""
        (a, v, _), (after, before) = self._columns, self.slopes
        s, r, widths, falls = after[:-1], before[1:], np.diff(a), np.diff(v)
        # Else one of the lines is above both lower values: so is the line between these.
        meet = (s * widths < falls) & (falls < r * widths)
        x = (falls - r * widths)[meet] / (s - r)[meet]
        return meet, a[:-1][meet] + x, v[:-1][meet] + s[meet] * x

    @property
    def gaps(self) -> Any:
        """How far the curves from above and below are apart in each cell between points, before they are convex."""
        alphas, lowers, uppers = self._columns
        gaps = np.maximum((uppers - lowers)[:-1], (uppers - lowers)[1:])
        meet, x, values = self.tips
        shares = (x - alphas[:-1][meet]) / np.diff(alphas)[meet]
        gaps[meet] = np.maximum(gaps[meet], uppers[:-1][meet] + shares * np.diff(uppers)[meet] - values)
        return gaps
