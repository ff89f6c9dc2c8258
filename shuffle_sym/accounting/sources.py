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
UNKNOWN = Interval(0.0, 1.0)
_TINY = 5e-324  # the smallest double
SMALLEST = 1e-305  # below this only an upper end is told
_MOST_REFUSALS = 4  # values of δ without an answer, in a search for ε
_DIGITS = 17  # of a sum that becomes doubles
_LOG_BITS = 128
_PATIENCE = 5.0  # seconds that an exact sum may take where doubles are refused: fewer refuse more, more answer later


class Source(ABC):
    """The divergence of n shuffled users in one direction: of one pair of laws, or the largest of several."""

    n: int

    @property
    @abstractmethod
    def max_loss(self) -> sp.Expr:
        """The largest loss; from α = e^max_loss on the divergence is exactly 0."""

    @abstractmethod
    def reversed(self) -> Source:
        """The other direction; the same object if both directions have the same curve."""

    @abstractmethod
    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """D_α for each α >= 1."""

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

    def hockey_sticks(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """D_α for each α > 0; below 1 it is 1 − α + α D_{1/α} of the other direction."""
        below = [i for i, ratio in enumerate(ratios) if ratio.below_one]
        if not below:
            return self.from_one(ratios, rtol, method)
        above = [i for i, ratio in enumerate(ratios) if not ratio.below_one]
        mirrored = self.reversed().from_one([ratios[i].inverse() for i in below], rtol, method)
        answers = {i: _below_one(ratios[i], answer) for i, answer in zip(below, mirrored, strict=True)}
        if above:
            answers.update(zip(above, self.from_one([ratios[i] for i in above], rtol, method), strict=True))
        return [answers[i] for i in range(len(ratios))]

    def known(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """D_α for each α >= 1; from 0 to 1 where no method has an answer of any width."""
        try:
            return self.from_one(ratios, rtol, method)
        except NotSharpError as refusal:
            if method != "auto" or (len(ratios) == 1 and not refusal.for_any_width):
                raise
        return [self.known([ratio], rtol, method)[0] for ratio in ratios] if len(ratios) > 1 else [UNKNOWN]

    def _reached(self, refusal: NotSharpError, ratio: Ratio, rtol: float, method: str) -> Interval:
        """What is known of D_α after a refusal."""
        return refusal.answers[0] if isinstance(refusal, NotReachedError) else UNKNOWN

    def known_epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """What is known of ``epsilon``, however wide, where that is not a refusal."""
        return self.epsilon(target, rtol, method)

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """Bounds of the smallest ε with δ(ε) <= target, within ``rtol`` of each other."""
        ceiling = field.not_below(self.max_loss)
        used: dict[str | None, None] = {}

        def delta_at(eps: float, delta_rtol: float) -> Interval:
            ratio = Ratio(eps=sp.Rational(str(eps)))
            try:
                (answer,) = self.from_one([ratio], delta_rtol, method)
            except NotSharpError as refusal:  # what is known may be enough
                answer = self._reached(refusal, ratio, delta_rtol, method)
                if answer.lower <= target < answer.upper:
                    raise
            used[answer.method] = None
            return answer

        refusals = _MOST_REFUSALS if method == "auto" else 0  # nobody asked for this method
        sharpens = method != "exact"
        try:
            answer = smallest_epsilon(delta_at, target, rtol, ceiling, sharpens=sharpens, most_refusals=refusals)
        except NotSharpError as refusal:
            advice = "leave method out" if method != "auto" else "ask for a larger rtol, or a larger delta"
            raise NotSharpError(
                f"delta = {target:g} at n = {self.n}: delta(eps) is not known sharply enough to find eps; {advice}"
            ) from refusal
        by = "+".join(name for name in used if name and name != "auto") or method
        return Interval(answer.lower, answer.upper, by)

    @property
    def below(self) -> Source:
        """The attacks behind the lower ends."""
        return self

    @property
    def above(self) -> Source:
        """The bounds behind the upper ends."""
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
        (answer,) = self.from_one([ratio], rtol, "auto")
        return logarithm(answer)


class PairOfLaws(Source):
    """One decomposition with n users: an ordered pair of laws."""

    def __init__(self, D: Decomposition, n: int) -> None:
        self.D, self.n = D, n

    @property
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

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
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
            for i, null, part in zip(places, laws.null, parts, strict=True):
                summed = self._summed(ratios[i]) if method == "auto" and not isinstance(part, Interval) else None
                answers[i] = _with_null(null, part, method) if summed is None else _in_doubles(summed)
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

    @property
    def max_loss(self) -> sp.Expr:
        return self.largest

    def reversed(self) -> Source:
        other = self.D.reversed()
        return self if other == self.D else InCells(other, self.n, self.largest)

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        inside = [i for i, ratio in enumerate(ratios) if not ratio.at_least(self.largest)]
        answers = dict(zip(inside, super().from_one([ratios[i] for i in inside], rtol, method), strict=True))
        return [answers.get(i, Interval(0.0, 0.0)) for i in range(len(ratios))]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return Interval(-math.inf, -math.inf) if ratio.at_least(self.largest) else super().log_delta(ratio, rtol)

    def known(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        try:
            return super().known(ratios, rtol, method)
        except NotSharpError as refusal:
            if method != "auto":
                raise
            wider = 2 * max(refusal.reached, rtol)
        return self.known(ratios, wider, method)

    def _reached(self, refusal: NotSharpError, ratio: Ratio, rtol: float, method: str) -> Interval:
        return self.known([ratio], 4 * rtol, method)[0]

    def _summed(self, ratio: Ratio) -> None:
        return None


class Worst(Source):
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
        mirrored = Worst([D.reversed() for D in self.decompositions()], self.n)
        return self if set(mirrored.decompositions()) == set(self.decompositions()) else mirrored

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        wanted: list[list[int]] = [list(range(len(ratios)))] * len(self.pairs)
        if method != "exact":
            # A rough look is enough to see which pairs of inputs cannot be the worst.
            rough = [pair.from_one(ratios, max(rtol, 0.3), method) for pair in self.pairs]
            least = [max(column, key=lambda answer: answer.lower).lower for column in zip(*rough, strict=True)]
            wanted = [[i for i, answer in enumerate(row) if answer.upper >= least[i]] for row in rough]
        contenders: list[list[Interval]] = [[] for _ in ratios]
        for pair, places in zip(self.pairs, wanted, strict=True):
            for i, answer in zip(places, pair.from_one([ratios[i] for i in places], rtol, method), strict=True):
                contenders[i].append(answer)
        return [largest(answers, method) for answers in contenders]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return largest([pair.log_delta(ratio, rtol) for pair in self.pairs], "contour")


class NotReachedError(NotSharpError):
    """The error if continuous noise needs too many cells; ``answers`` are the bounds that were reached."""

    answers: list[Interval]


def _with_null(null: Any, part: Interval | ValueError, method: str) -> Interval:
    """A mean positive part and the mass of the null atoms, or the refusal with advice."""
    if isinstance(part, Interval):
        mass, slack = math.fsum(null), 4 * FLOAT_ERROR
        return outward(part.lower + mass * (1 - slack), part.upper + mass * (1 + slack), part.method)
    advice = "leave method out" if method != "auto" else "digits=… in place of rtol has any accuracy if n is small"
    error = NotSharpError(f"{part}; {advice}")
    error.reached = methods.reached(part)
    raise error from part


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
