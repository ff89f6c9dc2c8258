r"""Continuous noise with n users: certified D_α of its blanket, by panels, and by cells where panels fail."""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from shuffle_sym.accounting.sources import UNKNOWN, InCells, NotReachedError, PairOfLaws, Source, Worst
from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.panels import Panels
from shuffle_sym.numeric import quadrature
from shuffle_sym.numeric.transforms import SMALLEST, NotSharpError, told

_SIDES = ("lower", "upper")
_PANELS = "panels"  # the method, and no cells if it is asked for by name
_ROUGHLY = 1e-2  # width of an ε that need not be known better
_SPREADS = (0.6, 0.2, 0.07)  # of log ρ in a panel
_SPREADS_OF_FEW = (0.6, 0.2, 0.05)
_MOST_TAILS = 8
_FIRST_TAIL = 1e-4
_FEW_USERS, _VERY_FEW_USERS, _SUMMED_USERS = 40, 8, 4
_LEAST_TAIL = 1e-290
_FINE_TAILS = 1e-10
_FEW_CELLS, _STEADY, _MAX_CELLS = (32, 64, 128, 256, 512), 128, 4096
_WIDE_CELLS, _WIDE_TAIL = (32, 24, 16, 8), 2e-2  # and of what is known, what may be cut off with these


class Noise(Source):
    """The blanket of a continuous randomizer, for all pairs of inputs.

    For symmetric noise that is the pair of the two ends: panels, or a lower and an upper discretisation, refined until
    the two are close. For any other randomizer it is the finite pair of laws that is above all pairs of inputs.
    """

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n, self._one = R, n, Noise(R, 1) if n > 1 else None
        self._discretisations: dict[tuple[str, int, float], InCells] = {}

    @cached_property
    def above_all(self) -> PairOfLaws | Worst | None:
        """The finite pairs of laws above all pairs of inputs, where no pair is known to be the worst."""
        finite = [made for made in self.R.noise_blankets() if isinstance(made, Decomposition)]
        return PairOfLaws(finite[0], self.n) if len(finite) == 1 else Worst(finite, self.n) if finite else None

    @property
    def max_loss(self) -> sp.Expr:
        return self.R.eps0

    @cached_property
    def _gamma(self) -> float:
        return float(self.R.gamma)

    def decompositions(self) -> tuple[Decomposition, ...]:
        return super().decompositions() if self.above_all is None else self.above_all.decompositions()

    def reversed(self) -> Source:
        return self  # either end is the mirror image of the other, and so is either law that is above all

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        R = self.R
        arguments.numeric_only(R.free_symbols, "a number")
        if self.above_all is not None:
            return self.above_all.from_one(ratios, rtol, method)
        if method not in ("auto", "contour", "fft", _PANELS):
            raise ValueError(f'method must be "auto", "contour" or "fft" for continuous {R!r}, got {method!r}')
        some = self.n * (self._gamma * (1 + 1e-8) + 1e-29) + 1e-15  # γ is known from below, to 9 digits or 1e-30
        if method == "auto" and self._one and some <= rtol / 2:
            with suppress(NotSharpError):  # (1 − γ)^(n − 1) of one user alone, at least
                alone = self._one.from_one(ratios, rtol / 2, method)
                return [Interval(one.lower * (1 - some), one.upper, one.method) for one in alone]
        bounded = R.eps0 is not sp.oo
        answers = [Interval(0.0, 0.0, method)] * len(ratios)
        waiting = [i for i, ratio in enumerate(ratios) if not (bounded and ratio.at_least(R.eps0))]
        if method in ("auto", _PANELS):
            by_panels = self._by_panels([float(ratios[i]) for i in waiting], rtol)
            for i, answer in zip(waiting, by_panels, strict=True):
                answers[i] = answer or UNKNOWN
            waiting = [i for i, answer in zip(waiting, by_panels, strict=True) if answer is None and method == "auto"]
        few = method == "auto" and self.n <= _VERY_FEW_USERS
        for rows in ([i] for i in list(waiting)) if few else [list(waiting)] if waiting else []:
            found = self._by_cells([ratios[i] for i in rows], rtol, method, bounded, few)
            for i, answer in zip(rows, found, strict=True):
                answers[i] = answer
        if not all(_is_within(answer, rtol) for answer in answers):
            raise self._refusal(answers, rtol)
        return answers

    def _by_cells(self, ratios: list[Ratio], rtol: float, method: str, bounded: bool, few: bool) -> list[Interval]:
        """By more and more cells on either side, as far as that goes. With ``few`` users, for one α only: then the
        message of one alone may be what counts, and that is exact if a cell ends where ρ = α."""
        answers, tail, cells, cut = [Interval(0.0, 1.0, method)] * len(ratios), 1e-8, 32, None
        for i, alone in enumerate(map(self.R.alone, (ratio.ball for ratio in ratios)) if method == "auto" else ()):
            if alone is not None:
                # All others send what does not tell, or they do not help: [·]_+ is subadditive.
                silent = max(1 - self._gamma * (1 + 1e-8) - 1e-29, 0.0) ** (self.n - 1) * (1 - 1e-12 * self.n)
                one = told(max(silent * balls.lower(alone[1]), 0.0), balls.upper(alone[1]))
                answers[i] = Interval(min(one.lower, 1.0), min(one.upper, 1.0), "alone")
                if few:
                    cut, tail = alone[0], min(tail, _rounded(rtol * answers[i].lower / 8))
        waiting = [i for i, answer in enumerate(answers) if not _is_within(answer, rtol)]
        while waiting and cells <= _MAX_CELLS:
            left = [ratios[i] for i in waiting]
            try:
                below, above = (
                    self._discretised(side, cells, tail, cut).known(left, rtol / 4, method) for side in _SIDES
                )
            except balls.RangeError:  # masses far out, or too small for this
                break
            before = max(answers[i].relative_width for i in waiting)
            for i, low, high in zip(waiting, below, above, strict=True):
                lower, upper = max(answers[i].lower, low.lower), min(answers[i].upper, high.upper)
                answers[i] = Interval(lower, upper, high.method)
            waiting = [i for i in waiting if not _is_within(answers[i], rtol)]
            if UNKNOWN in below or UNKNOWN in above:
                break  # more cells make it harder
            # What is cut off would be seen; few tails are ever tried, so that discretisations are used again.
            least = min((answers[i].lower for i in waiting), default=1.0)
            if not bounded and tail > max(rtol * least / 8, _LEAST_TAIL):
                tail *= 1e-8
            elif cells > _STEADY and max((answers[i].relative_width for i in waiting), default=0.0) > before / 2:
                break  # it should be a quarter: the cells are not what is missing
            else:
                cells *= 2
        for i in waiting if method == "auto" else ():
            answers[i] = self._roughly(answers[i], ratios[i], rtol)
        return answers

    def _roughly(self, answer: Interval, ratio: Ratio, rtol: float) -> Interval:
        """An answer with a smaller upper end, where ratios are so large that no method serves for many cells: by wide
        cells, and few of the large ratios. It holds for any number of cells and any tail.

        Nor is it above that of fewer users: the mean of n values of G is the mean of those that leave one of them out,
        and [·]_+ is convex."""
        tail, fewer = _rounded(_WIDE_TAIL * answer.upper), Noise(self.R, _SUMMED_USERS)
        for cells in _WIDE_CELLS:
            (high,) = self._discretised("upper", cells, tail).known([ratio], max(rtol, _ROUGHLY) / 4, "auto")
            answer = replace(answer, upper=min(answer.upper, high.upper))
            if high.relative_width <= _ROUGHLY:
                break
        if _SUMMED_USERS < self.n <= _VERY_FEW_USERS:
            (low,) = fewer._discretised("lower", _WIDE_CELLS[0], tail).known([ratio], _ROUGHLY, "auto")
            if low.lower < answer.upper:
                try:
                    (other,) = fewer.from_one([ratio], rtol, "auto")
                except NotReachedError as refusal:
                    (other,) = refusal.answers
                answer = replace(answer, upper=min(answer.upper, other.upper))
        return answer

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        answer = self._by_many_cells(target, rtol, method) or super().epsilon(target, rtol, method)
        if answer.method == "cells" and answer.relative_width > rtol:
            raise self._refusal([answer], rtol)
        return answer

    def known_epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """`epsilon`; falls back to a coarse grid of cells where panels fail."""
        if answer := self._by_many_cells(target, rtol, method):
            return answer
        if method == "auto" and self.above_all is None:
            with suppress(NotSharpError):
                return super().epsilon(target, rtol, _PANELS)
            with suppress(NotSharpError, balls.RangeError):
                low, high = self._sides_of(target, rtol, _STEADY, _rounded(rtol * target / 8), method)
                if high - low <= max(rtol, _ROUGHLY) * high:
                    return Interval(low, high, "cells")
        return super().epsilon(target, rtol, method)

    def _sides_of(self, target: float, rtol: float, cells: int, tail: float, method: str) -> tuple[float, float]:
        """What so many cells say of ε on either side."""
        below, above = (self._discretised(side, cells, tail).epsilon(target, rtol / 4, method) for side in _SIDES)
        return below.lower, above.upper

    def _by_many_cells(self, target: float, rtol: float, method: str) -> Interval | None:
        """ε from cells where it is known that panels do not serve: because it is too likely that nobody sends a message
        of the blanket, or because ratios are so large that few messages are what counts. Else None."""
        few = (1 - self._gamma) ** self.n > rtol * target if self.above_all is None else False
        heavy = self.above_all is None and self.max_loss is sp.oo
        heavy = heavy and self.R.panels(_SPREADS[0], _FINE_TAILS).ratios.max() > max(1e4, self.n / 1000)
        tail, low, high = _rounded(target / 100 if heavy else rtol * target / 8), 0.0, field.not_below(self.max_loss)
        for cells in _FEW_CELLS[: 2 if heavy else None] if method == "auto" and (few or heavy) else ():
            try:
                below, above = self._sides_of(target, rtol, cells, tail, method)
            except (NotSharpError, balls.RangeError):
                break
            low, high = max(low, below), min(high, above)
            if high - low <= rtol * high:
                break
        return Interval(low, high, "cells") if high < math.inf and (heavy or high - low <= rtol * high) else None

    def _refusal(self, answers: list[Interval], rtol: float) -> NotReachedError:
        reached = max(answer.relative_width for answer in answers)
        error = NotReachedError(
            f"bounds within a relative {rtol:.2g} of each other need more cells of {self!r} at n = {self.n} than there "
            f"can be; {reached:.2g} was reached: ask for a larger rtol"
        )
        error.answers, error.reached = answers, reached
        return error

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        """From δ itself; far below the smallest double, from cells until the two sides are close."""
        if self.above_all is not None:
            return self.above_all.log_delta(ratio, rtol)
        answer = super().log_delta(ratio, rtol)
        if answer.lower == -math.inf < answer.upper:
            low, high = (self._discretised(side, 256, _LEAST_TAIL).log_delta(ratio, rtol) for side in _SIDES)
            answer = Interval(low.lower, min(high.upper, answer.upper), high.method)
        return answer

    def _by_panels(self, alphas: list[float], rtol: float) -> list[Interval | None]:
        """By the contour integral without cells, or None if that is not narrow enough: for few users, mostly."""
        answers: list[Interval | None] = [None] * len(alphas)
        if self.n == 1:
            return answers
        sides, tails = self._sides, self._first_tails(alphas, rtol)
        for _ in range(_MOST_TAILS):
            alike: dict[float, list[int]] = {}
            for i, tail in tails.items():
                alike.setdefault(_rounded(tail), []).append(i)
            for tail, rows in alike.items():
                there = [alphas[i] for i in rows]
                ends = [self._by_some_panels(side, tail, there, rtol / len(sides)) for side in sides]
                for i, below, above in zip(rows, ends[0], ends[-1], strict=True):
                    del tails[i]
                    if below is None or above is None:
                        continue
                    answer = Interval(below.lower, above.upper, "panels")
                    if answer.upper - answer.lower <= rtol * answer.upper or answer.upper < SMALLEST:
                        answers[i] = answer
                    else:
                        panels = self.R.panels(_SPREADS[0], tail, sides[0])
                        tails[i] = min(tail / 10, quadrature.tails(panels, alphas[i], self.n, answer.upper, rtol / 4))
        return answers

    def estimates(self, ratios: Sequence[Ratio]) -> list[float]:
        """About what the divergences are, 0 where that is not known: where few users send a message of the blanket,
        and where α is not below the largest ratio. No bounds."""
        if self.above_all is not None or self.n * self._gamma < _FEW_USERS:
            return [0.0] * len(ratios)
        alphas, about = np.array([float(ratio) for ratio in ratios]), np.zeros(len(ratios))
        for spread in _SPREADS:
            if len(rows := np.flatnonzero(about == 0)):
                panels = self.R.panels(spread, self._widest_tail(RTOL), self._sides[0])
                about[rows] = quadrature.estimates(panels, alphas[rows], self.n)
        return [float(value) for value in about]

    @property
    def _sides(self) -> tuple[str, ...]:
        """From which sides panels come: both, where messages far out are nearly one; else what is cut off counts."""
        return _SIDES if self.R.rounds_off else ("cut",)

    def _widest_tail(self, rtol: float) -> float:
        """The most that may lie beyond the panels."""
        return _FIRST_TAIL if self.R.rounds_off else _rounded(rtol / self.n)

    def _first_tails(self, alphas: list[float], rtol: float) -> dict[int, float]:
        """What may lie beyond the panels for each α: so little that it is not seen next to about what D_α is."""
        most = self._widest_tail(rtol)
        if self.R.rounds_off:
            return dict.fromkeys(range(len(alphas)), most)
        widest = self.R.panels(_SPREADS[0], most)
        tails = [most] * len(alphas)
        if widest.tail.most_0:
            tails = self._estimated_tails(widest, alphas, rtol)
            if min(tails) < _FINE_TAILS < most:
                # It may be large ratios that count, which the first look leaves out.
                again = self._estimated_tails(self.R.panels(_SPREADS[0], _FINE_TAILS), alphas, rtol)
                tails = [max(two) for two in zip(tails, again, strict=True)]
        return {i: min(most, tail) for i, tail in enumerate(tails)}

    def _estimated_tails(self, panels: Panels, alphas: list[float], rtol: float) -> list[float]:
        about = quadrature.estimates(panels, np.array(alphas), self.n).tolist()
        both = zip(alphas, about, strict=True)
        return [quadrature.tails(panels, alpha, self.n, value, rtol) if value else 1.0 for alpha, value in both]

    def _by_some_panels(self, side: str, tail: float, alphas: list[float], rtol: float) -> list[Interval | None]:
        """By the widest panels that are sharp enough for each α."""
        answers: list[Interval | None] = [None] * len(alphas)
        waiting = list(range(len(alphas)))
        for spread in _SPREADS_OF_FEW if self.n <= _FEW_USERS else _SPREADS:
            if not waiting:
                break
            there = np.array([alphas[i] for i in waiting])
            parts = quadrature.positive_parts(self.R.panels(spread, tail, side), there, self.n, rtol)
            for i, part in zip(waiting, parts, strict=True):
                answers[i] = part if isinstance(part, Interval) else None
            waiting = [i for i in waiting if answers[i] is None]
        return answers

    def _discretised(self, side: str, cells: int, tail: float, cut: Fraction | None = None) -> InCells:
        if cut is not None:  # of one α
            return InCells(getattr(self.R, side)(cells, tail, cut), self.n, self.max_loss)
        key = (side, cells, tail)
        if key not in self._discretisations:
            self._discretisations[key] = InCells(getattr(self.R, side)(cells, tail), self.n, self.max_loss)
        return self._discretisations[key]

    def __repr__(self) -> str:
        return repr(self.R)


def _is_within(answer: Interval, rtol: float) -> bool:
    return answer.upper - answer.lower <= rtol * answer.upper or answer.upper < SMALLEST


def _rounded(tail: float) -> float:
    """A tail that is not larger, of few that are ever tried, so that panels are used again. Where noise has heavy tails
    a larger one is much less work; these tails are not small."""
    if tail >= _FINE_TAILS:
        return 10.0 ** math.floor(math.log10(tail))
    return max(_FINE_TAILS * 1e-2 ** math.ceil(math.log(max(tail, 1e-300) / _FINE_TAILS, 1e-2)), _LEAST_TAIL)
