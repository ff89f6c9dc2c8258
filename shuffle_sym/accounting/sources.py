r"""What n users are analysed by: certified D_α at many α at once, of decompositions and of continuous noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments, field, rounding
from shuffle_sym.algebra.interval import Interval, decimal_end, outward
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import contour, methods
from shuffle_sym.numeric.search import smallest_epsilon
from shuffle_sym.truth import exact

METHODS = ("auto", *methods.METHODS, "exact")
_MAX_CELLS = 4096
_LEAST_TAIL = 1e-290
_SMALLEST = 1e-305  # below this only an upper end is told
_LITTLE_WORK = 10**4  # up to here the exact sum takes the place of the lattice, which would not do better


class Source(ABC):
    """The divergence of n shuffled users in one direction: of one pair of laws, or the largest of several."""

    n: int

    @property
    @abstractmethod
    def max_loss(self) -> sp.Expr:
        """The largest loss; from α = e^max_loss on the divergence is exactly 0."""

    @abstractmethod
    def reversed(self) -> Source:
        """The other direction; the same object where the two are alike."""

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

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """Bounds of the smallest ε with δ(ε) <= target, within ``rtol`` of each other."""
        ceiling = not_below(self.max_loss)
        used: dict[str | None, None] = {}

        def delta_at(eps: float, delta_rtol: float) -> Interval:
            (answer,) = self.from_one([Ratio(eps=sp.Rational(str(eps)))], delta_rtol, method)
            used[answer.method] = None
            return answer

        answer = smallest_epsilon(delta_at, target, rtol, ceiling, sharpens=method != "exact")
        by = "+".join(name for name in used if name and name != "auto") or method
        return Interval(answer.lower, answer.upper, by)

    @property
    def below(self) -> Source:
        """What the lower ends come from."""
        return self

    @property
    def above(self) -> Source:
        """What the upper ends come from."""
        return self

    # -- exact values

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """D_α as a ``Rational`` where everything is rational, else with ``digits`` good digits."""
        values = [exact.divergence(D, self.n, alpha, digits) for D in self.decompositions()]
        return max(values, key=lambda value: arguments.exact_number(value, "value"))

    def refuse_too_many_users(self, digits: int) -> None:
        """Raise if the exact value would take too long."""
        for D in self.decompositions():
            if self.n > (most := exact.most_users(D)):
                raise ValueError(
                    f"digits = {digits} takes the exact sum, which ends in time up to n = {most} for this "
                    f"decomposition, got n = {self.n}; delta(eps, rtol=…) has an answer in doubles for every n"
                )

    def to_digits(self, ratio: Ratio, digits: int) -> Interval:
        """The exact D_α; the ends are decimals, rounded outward."""
        self.refuse_too_many_users(digits)
        value = arguments.exact_number(self.exact(ratio.alpha, digits + 3), "value")
        off = sp.Rational(1, 10 ** (digits + 3))  # of an mpf; nothing, in fact, of a fraction
        lower, upper = (decimal_end(value * (1 + side * off), digits + 2, side) for side in (-1, 1))
        return Interval(lower, upper, "exact")

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        """log D_α for an α >= 1, by the contour integral: also far below the smallest double."""
        ends = [_log_delta(D, self.n, ratio, rtol) for D in self.decompositions()]
        return Interval(max(low for low, _ in ends), max(high for _, high in ends), "contour")


class PairOfLaws(Source):
    """One decomposition with n users: an ordered pair of laws."""

    def __init__(self, D: Decomposition, n: int) -> None:
        self.D, self.n = D, n

    @property
    def max_loss(self) -> sp.Expr:
        return self.D.max_loss

    def decompositions(self) -> tuple[Decomposition, ...]:
        arguments.numeric_only(self.D.free_symbols, "a number")
        return (self.D,)

    def reversed(self) -> Source:
        other = self.D.reversed()
        return self if other == self.D else PairOfLaws(other, self.n)

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
                answers[i] = self._exactly(ratios[i])
        elif places:
            laws = D.gparv.floats_at([ratios[i] for i in places])
            names = [self._names(values, method) for values in laws.values]
            parts = methods.first_within(laws.values, laws.probabilities, self.n, rtol, names)
            for i, null, part in zip(places, laws.null, parts, strict=True):
                answers[i] = self._answer(ratios[i], null, part, method)
        return answers

    def _names(self, values: Any, method: str) -> tuple[str, ...]:
        """The methods that are tried for one law of G, in this order."""
        if method != "auto":
            return (method,)
        names = methods.cheapest_first(values, self.n)
        return tuple(name for name in names if name != "fft") if self._has_little_work else names

    def _answer(self, ratio: Ratio, null: Any, part: Interval | ValueError, method: str) -> Interval:
        if isinstance(part, Interval):
            masses, slack = math.fsum(null), 4 * FLOAT_ERROR
            return outward(part.lower + masses * (1 - slack), part.upper + masses * (1 + slack), part.method)
        if method == "auto" and self._has_little_work:
            return self._exactly(ratio)
        raise ValueError(f"{part}; for small n digits=… in place of rtol has any accuracy") from part

    def _exactly(self, ratio: Ratio) -> Interval:
        value = float(exact.divergence(self.D, self.n, ratio.alpha, digits=20))
        return outward(value, value, "exact")

    @cached_property
    def _has_little_work(self) -> bool:
        """Whether the exact sum costs next to nothing."""
        return self.n <= _LITTLE_WORK and exact.work(self.D, self.n) <= _LITTLE_WORK


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


class Noise(Source):
    """Continuous noise: a lower and an upper discretisation, refined until the two are close."""

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n = R, n
        self._discretisations: dict[tuple[str, int, float], PairOfLaws] = {}

    @property
    def max_loss(self) -> sp.Expr:
        return self.R.eps0

    def reversed(self) -> Source:
        return self  # each of the inputs 0 and 1 is the mirror image of the other

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        R = self.R
        arguments.numeric_only(R.free_symbols, "a number")
        if method not in ("auto", "contour", "fft"):
            raise ValueError(
                f'method must be "auto", "contour" or "fft" for {R!r}, which is continuous, got {method!r}'
            )
        bounded = R.eps0 is not sp.oo
        answers = [Interval(0.0, 0.0, method)] * len(ratios)
        waiting = {
            i: (0.0, 1.0) for i, ratio in enumerate(ratios) if not (bounded and field.at_least(ratio.eps, R.eps0))
        }
        tail, cells = 1e-8, 32
        while waiting and cells <= _MAX_CELLS:
            there = [ratios[i] for i in waiting]
            below, above = (
                self._discretised(side, cells, tail).from_one(there, rtol / 4, method) for side in ("lower", "upper")
            )
            for (i, (lower, upper)), low, high in zip(list(waiting.items()), below, above, strict=True):
                waiting[i] = lower, upper = max(lower, low.lower), min(upper, high.upper)
                if upper - lower <= rtol * upper or upper < _SMALLEST:
                    answers[i] = Interval(lower, upper, high.method)
                    del waiting[i]
            # What is cut off would be seen; few tails are ever tried, so that discretisations are used again.
            least = min((lower for lower, _ in waiting.values()), default=1.0)
            if not bounded and tail > max(rtol * least / 8, _LEAST_TAIL):
                tail *= 1e-8
            else:
                cells *= 2
        if waiting:
            reached = max((upper - lower) / upper for lower, upper in waiting.values())
            raise ValueError(
                f"rtol = {rtol:g} needs more than {_MAX_CELLS} cells; ask for a larger rtol "
                f"(reached so far: {reached:.2g})"
            )
        return answers

    def _discretised(self, side: str, cells: int, tail: float) -> PairOfLaws:
        key = (side, cells, tail)
        if key not in self._discretisations:
            cut: Callable[[int, float], Decomposition] = self.R.lower if side == "lower" else self.R.upper
            self._discretisations[key] = PairOfLaws(cut(cells, tail), self.n)
        return self._discretisations[key]

    def __repr__(self) -> str:
        return repr(self.R)


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


def not_below(loss: sp.Expr) -> float:
    """The smallest double that is not below a loss, or inf."""
    if loss is sp.oo:
        return math.inf
    (form,), bindings = field.rational_form([loss])
    ((_, high),) = field.enclosures((form,), bindings, 60)
    return rounding.up(high)
