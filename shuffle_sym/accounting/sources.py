r"""Sources of certified divergences: D_α of decompositions with n users, at many α at once."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.interval import Interval, decimal_interval, outward
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import contour, methods
from shuffle_sym.numeric.search import smallest_epsilon
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.truth import exact

METHODS = ("auto", *methods.METHODS, "exact")
CLOSE = 1e-3  # a bound that is so close to what is attained is not worth a better one, nor the other way round
_TINY = 5e-324  # the smallest double
_DIGITS = 17  # of a sum that becomes doubles
_LOG_BITS = 128
_PATIENCE = 5.0  # seconds that an exact sum may take where doubles are refused: fewer refuse more, more answer later

Between = Sequence[Interval] | None


class Source(ABC):
    """The divergence of n shuffled users in one direction, certified: of one pair of laws, the largest of several, what
    some datasets attain, or a bound."""

    n: int
    #: The largest loss; from α = e^max_loss on the divergence is exactly 0.
    max_loss: Any

    def reversed(self) -> Source:
        """The other direction; the same object if both directions have the same curve."""
        return self

    @abstractmethod
    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        """D_α for each α >= 1, no wider than ``rtol`` where that can be had, and as narrow as can be elsewhere. Only a
        ``method`` that is named is refused where it does not reach that.

        ``between`` are intervals, one for each α, where it is enough to know on which side a value is: an answer may be
        as wide as it likes if all of it is.
        """

    @property
    def impossible(self) -> float:
        """A lower bound of the limit of D_α for α → ∞: the mass of what is impossible under the other input."""
        return 0.0

    def decompositions(self) -> tuple[Decomposition, ...]:
        """The decompositions whose largest divergence this is, with numbers for every parameter."""
        raise TypeError(
            f"{self!r} is continuous; for exact values take a discretisation from either side, "
            "R.lower(cells) and R.upper(cells)"
        )

    def on_either_side(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """D_α for each α > 0; below 1 it is 1 − α + α D_{1/α} of the other direction."""
        answers: dict[int, Interval] = {}
        for side in (False, True):
            rows = [i for i, ratio in enumerate(ratios) if ratio.below_one is side]
            source = self.reversed() if side else self
            inside = [ratios[i].inverse() if side else ratios[i] for i in rows]
            for i, answer in zip(rows, source.hockey_sticks(inside, rtol, method) if rows else (), strict=True):
                answers[i] = _below_one(ratios[i], answer) if side else answer
        return [answers[i] for i in range(len(ratios))]

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        """Bounds of the smallest ε with δ(ε) <= target, within ``rtol`` of each other if δ is known that well."""
        used: dict[str | None, None] = {}

        def delta_at(eps: float, delta_rtol: float) -> Interval:
            (answer,) = self.hockey_sticks([ratio_at(eps)], delta_rtol, method)
            used[answer.method] = None
            return answer

        ceiling = field.not_below(self.max_loss)
        answer = smallest_epsilon(delta_at, target, rtol, ceiling, sharpens=method != "exact")
        by = "+".join(name for name in used if name and name != "auto") or method
        return Interval(answer.lower, answer.upper, by)

    @property
    def attack(self) -> Source:
        """What the lower ends come from."""
        return self

    @property
    def bound(self) -> Source:
        """What the upper ends come from."""
        return self

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """D_α as a ``Rational`` where everything is rational, else with ``digits`` good digits."""
        values = [exact.divergence(D, self.n, alpha, digits) for D in self.decompositions()]
        return max(values, key=lambda value: arguments.exact_number(value, "value"))

    def to_digits(self, ratio: Ratio, digits: int) -> Interval:
        """D_α between two decimals, rounded outward, within 10^-digits of each other."""
        asked = f"digits = {digits}"
        values = [exact.enclosure(D, self.n, ratio, digits, asked) for D in self.decompositions()]
        return largest([decimal_interval(value, digits) for value in values], "exact")

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        """log D_α for an α >= 1: also far below the smallest double."""
        (answer,) = self.hockey_sticks([ratio], rtol)
        return logarithm(answer)


class PairOfLaws(Source):
    """One decomposition with n users: an ordered pair of laws."""

    def __init__(self, D: Decomposition, n: int) -> None:
        self.D, self.n = D, n

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.D.max_loss

    def decompositions(self) -> tuple[Decomposition, ...]:
        arguments.numeric_only(self.D.free_symbols, "a numerical answer")
        return (self.D,)

    def reversed(self) -> Source:
        other = self.D.reversed()
        return self if other == self.D else type(self)(other, self.n)

    @cached_property
    def impossible(self) -> float:
        """A message that only x0 sends, and from all others messages that do not tell."""
        masses = self.D.floats
        only = (masses.b == 0) & (masses.a > 0)
        alone, among = float(np.sum(masses.a[only & (masses.c == 0)])), only & (masses.c > 0)
        silent = float(np.sum(masses.c[masses.b == 0])) + float(masses.beta)
        hidden = float(np.sum(masses.a[among])) * min(silent, 1.0) ** (self.n - 1)
        return max((alone + hidden) * (1 - (self.n + len(masses.a)) * 16 * FLOAT_ERROR), 0.0)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        (D,) = self.decompositions()
        answers = [Interval(0.0, 0.0)] * len(ratios)
        places = [i for i, ratio in enumerate(ratios) if not D.has_no_loss_above(ratio)]
        if method == "exact":
            for i in places:
                answers[i] = _in_doubles(exact.enclosure(D, self.n, ratios[i], _DIGITS, 'method = "exact"'))
        elif places:
            laws = D.gparv.floats_at([ratios[i] for i in places])
            names = [methods.cheapest_first(row, self.n) if method == "auto" else (method,) for row in laws.values]
            parts = methods.first_within(laws.values, laws.probabilities, self.n, rtol, names)
            for row, (i, part) in enumerate(zip(places, parts, strict=True)):
                if isinstance(part, ValueError):
                    if method != "auto":
                        raise NotSharpError(f"{part}; leave method out") from part
                    if (summed := self._summed(ratios[i])) is not None:
                        answers[i] = _in_doubles(summed)
                        continue
                    part = methods.widened(laws.values[row], laws.probabilities, self.n, rtol, names[row], part)
                answers[i] = _with_null(laws.null[row], part)
        return answers

    def _summed(self, ratio: Ratio) -> arb | None:
        """The sum with all digits of a double, None if it takes too long: what is left where doubles are refused."""
        planned = exact.CentralSum(self.D.gparv, ratio, self.n, _DIGITS)
        try:
            return planned.value() if planned.seconds <= _PATIENCE else None
        except ValueError:  # values too far apart
            return None

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        """By the contour integral; where that is refused, from the exact sum or from δ itself."""
        try:
            return Interval(*_log_delta(self.decompositions()[0], self.n, ratio, rtol), "contour")
        except ValueError:
            if (summed := self._summed(ratio)) is None:
                return super().log_delta(ratio, rtol)
        with balls.LOCK, balls.workprec(_LOG_BITS):
            log = summed.log()
        return Interval(balls.lower(log), balls.upper(log), "exact")


class InCells(PairOfLaws):
    """Noise in cells with n users: one of several discretisations, so that what takes seconds is not tried, and values
    are as sharp as they get. Masses are rounded, so that only the noise itself knows its ``largest`` loss."""

    def __init__(self, D: Decomposition, n: int, largest: sp.Expr) -> None:
        super().__init__(D, n)
        self.largest = largest

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.largest

    def reversed(self) -> Source:
        other = self.D.reversed()
        return self if other == self.D else InCells(other, self.n, self.largest)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        inside = [i for i, ratio in enumerate(ratios) if not ratio.at_least(self.largest)]
        found = super().hockey_sticks([ratios[i] for i in inside], rtol, method)
        answers = dict(zip(inside, found, strict=True))
        return [answers.get(i, Interval(0.0, 0.0)) for i in range(len(ratios))]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return Interval(-math.inf, -math.inf) if ratio.at_least(self.largest) else super().log_delta(ratio, rtol)

    def _summed(self, ratio: Ratio) -> None:
        return None


class MaxOverPairs(Source):
    """Several decompositions with n users: the largest of their divergences at each α."""

    def __init__(self, decompositions: Sequence[Decomposition], n: int) -> None:
        self.n = n
        self.pairs = [PairOfLaws(D, n) for D in decompositions]

    def decompositions(self) -> tuple[Decomposition, ...]:
        return tuple(D for pair in self.pairs for D in pair.decompositions())

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Max(*(D.max_loss for D in self.decompositions()))

    @property
    def impossible(self) -> float:
        return max(pair.impossible for pair in self.pairs)

    def reversed(self) -> Source:
        mirrored = MaxOverPairs([D.reversed() for D in self.decompositions()], self.n)
        return self if set(mirrored.decompositions()) == set(self.decompositions()) else mirrored

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        wanted: list[list[int]] = [list(range(len(ratios)))] * len(self.pairs)
        if method != "exact" and len(self.pairs) > 1:
            # A rough look is enough to see which pairs of inputs cannot be the worst.
            rough = [pair.hockey_sticks(ratios, max(rtol, 0.3), method) for pair in self.pairs]
            least = [max(column, key=lambda answer: answer.lower).lower for column in zip(*rough, strict=True)]
            wanted = [[i for i, answer in enumerate(row) if answer.upper >= least[i]] for row in rough]
        contenders: list[list[Interval]] = [[] for _ in ratios]
        for pair, places in zip(self.pairs, wanted, strict=True):
            answers = pair.hockey_sticks([ratios[i] for i in places], rtol, method)
            for i, answer in zip(places, answers, strict=True):
                contenders[i].append(answer)
        return [largest(answers, method) for answers in contenders]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return largest([pair.log_delta(ratio, rtol) for pair in self.pairs], "contour")


def ratio_at(eps: float) -> Ratio:
    """α = e^ε for a double ε, which is taken as the number that it is written as."""
    return Ratio(eps=sp.Rational(str(eps)))


def _with_null(null: Any, part: Interval) -> Interval:
    """A mean positive part and the mass of the null atoms."""
    mass, slack = math.fsum(null), 4 * FLOAT_ERROR
    return outward(part.lower + mass * (1 - slack), part.upper + mass * (1 + slack), part.method)


def _in_doubles(value: arb) -> Interval:
    """The doubles next to a ball of a δ."""
    if value < _TINY:
        return Interval(0.0, 0.0 if value.is_zero() else _TINY, "exact")
    return Interval(max(balls.lower(value), 0.0), min(balls.upper(value), 1.0), "exact")


def largest(answers: Sequence[Interval], method: str) -> Interval:
    """The largest of several intervals, end by end."""
    used = "+".join(dict.fromkeys(answer.method for answer in answers if answer.method))
    return Interval(max(a.lower for a in answers), max(a.upper for a in answers), used or method)


def _below_one(ratio: Ratio, mirrored: Interval) -> Interval:
    r"""1 − α + α D for α < 1 and bounds of D; α and 1 − α as doubles have relative errors of at most FLOAT_ERROR."""
    rest, alpha = ratio.less_than_one_by, float(ratio)
    slack = 8 * UNIT_ROUNDOFF
    lower, upper = rest + alpha * mirrored.lower, rest + alpha * mirrored.upper
    answer = outward(lower * (1 - slack), upper * (1 + slack), mirrored.method)
    by = mirrored.lower_by
    return replace(answer, lower_by=by and by.reversed(), upper_by=mirrored.upper_by)


def logarithm(answer: Interval) -> Interval:
    """Bounds of the logarithm; that of 0 is −inf."""
    lower, upper = (math.log(end) if end > 0 else -math.inf for end in (answer.lower, answer.upper))
    slack = [8 * UNIT_ROUNDOFF * (1 + abs(end)) if end > -math.inf else 0.0 for end in (lower, upper)]
    return Interval(lower - slack[0], upper + slack[1], answer.method)


def _log_delta(D: Decomposition, n: int, ratio: Ratio, rtol: float) -> tuple[float, float]:
    """Bounds of log D_α of one decomposition for an α >= 1."""
    if D.has_no_loss_above(ratio):
        return -math.inf, -math.inf
    law = D.gparv.floats_at([ratio])
    part = contour.log_positive_part(law.values[0], law.probabilities, n, rtol)
    null, slack = math.fsum(law.null[0]), 4 * FLOAT_ERROR
    log_null = math.log(null) if null > 0 else -math.inf
    low, high = (float(np.logaddexp(end, log_null)) for end in (part.lower, part.upper))
    rounding = slack + 8 * UNIT_ROUNDOFF * (1 + (abs(high) if high > -math.inf else 0.0))
    return low - rounding, high + rounding
