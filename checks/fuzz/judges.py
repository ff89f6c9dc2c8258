r"""When an end of an answer is on the wrong side: of a value, or of the place where a divergence passes a target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from flint import arb, ctx

from checks.fuzz.oracle import BITS, ball

_STEP = Fraction(1, 2**52)


class Judge(Protocol):
    """Whether an end is wrong for certain."""

    def low_wrong(self, end: Any) -> bool:
        """As a lower end: it is above the truth."""

    def high_wrong(self, end: Any) -> bool:
        """As an upper end: it is below the truth."""


@dataclass(frozen=True)
class Value:
    """A number between two balls."""

    below: arb
    above: arb | None

    def low_wrong(self, end: Any) -> bool:
        return self.above is not None and end != -math.inf and bool(exactly(end) > self.above)

    def high_wrong(self, end: Any) -> bool:
        if end == -math.inf:  # the logarithm of 0
            return bool(self.below.is_finite())
        return end != math.inf and bool(exactly(end) < self.below)


@dataclass(frozen=True)
class Level:
    """Where a function passes a target: ``below`` and ``above`` enclose it from either side.

    A falling function (δ of ε) is above the target left of it; a rising one (δ of ε0) is below. ``least`` is where the
    search ends: nothing is said of a lower end there.
    """

    target: Fraction
    below: Callable[[Any], arb]
    above: Callable[[Any], arb] | None
    falls: bool = True
    least: float = 0.0

    def low_wrong(self, end: Any) -> bool:
        if end <= self.least:
            return False
        if self.falls:
            return self.above is not None and bool(self.above(end) < ball(self.target))
        return bool(self.below(end) > ball(self.target))

    def high_wrong(self, end: Any) -> bool:
        if self.falls:
            return end != math.inf and bool(self.below(end) > ball(self.target))
        return self.above is not None and bool(self.above(end) < ball(self.target))


@dataclass(frozen=True)
class Users:
    """The smallest n whose δ is at most the target: so many are enough, one less than the lower end is not."""

    target: Fraction
    at: Callable[[int], arb]

    def low_wrong(self, end: Any) -> bool:
        return end > 1 and bool(self.at(int(end) - 1) < ball(self.target))

    def high_wrong(self, end: Any) -> bool:
        return end < 1 or bool(self.at(int(end)) > ball(self.target))


def exactly(end: Any) -> arb:
    """A float, a fraction or a decimal as a ball."""
    if isinstance(end, Decimal):  # 1e-1000000 as a fraction would be long
        with ctx.workprec(BITS):
            return arb(str(end))
    return end if isinstance(end, arb) else ball(Fraction(end))


def exponential(eps: Any) -> arb:
    """e^ε of an exact number."""
    with ctx.workprec(BITS):
        return ball(Fraction(eps)).exp()


def notices(judge: Judge, lower: Any, upper: Any) -> tuple[bool, bool]:
    """Whether the answer, moved down and moved up by its width and one unit in the last place, would be wrong."""
    if isinstance(judge, Value):
        with ctx.workprec(BITS):
            ends = exactly(lower), exactly(upper)
            below, above = ends[0] - abs(ends[0]) * ball(_STEP), ends[1] + abs(ends[1]) * ball(_STEP)
        return judge.high_wrong(below), judge.low_wrong(above)
    low, high = Fraction(lower), Fraction(upper)
    down = low - (1 if isinstance(judge, Users) else abs(low) * _STEP)
    up = high + (1 if isinstance(judge, Users) else abs(high) * _STEP)
    return judge.high_wrong(down), judge.low_wrong(up)
