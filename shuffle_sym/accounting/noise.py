r"""Continuous noise with n users: certified D_α of its blanket, by cells from either side."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import sympy as sp

from shuffle_sym.accounting.sources import UNKNOWN, InCells, NotReachedError, PairOfLaws, Source, Worst
from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.transforms import SMALLEST, NotSharpError, told

_SIDES = ("lower", "upper")
_FEWEST_CELLS, _FEW_CELLS, _MOST_CELLS = 8, 32, 4096
_STEADY = 128  # cells from which on twice as many are four times as close, or cells are not what is missing
_VERY_FEW_USERS = 8
_FIRST_TAIL, _LEAST_TAIL = 2e-2, 1e-290  # of an answer, and of 1
_FINE_TAILS = 1e-10
_ROUGHLY = 1e-2  # width of a divergence that need not be known better


class Noise(Source):
    """The blanket of a continuous randomizer, for all pairs of inputs.

    For symmetric noise that is the pair of the two ends: a lower and an upper discretisation, refined until the two are
    close. For any other randomizer it is the finite pair of laws that is above all pairs of inputs.
    """

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n = R, n
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
        arguments.numeric_only(R.free_symbols, "a numerical answer")
        if self.above_all is not None:
            return self.above_all.from_one(ratios, rtol, method)
        if method not in ("auto", "contour", "fft"):
            raise ValueError(f'method must be "auto", "contour" or "fft" for continuous {R!r}, got {method!r}')
        answers = [Interval(0.0, 0.0, method)] * len(ratios)
        inside = [i for i, ratio in enumerate(ratios) if R.eps0 is sp.oo or not ratio.at_least(R.eps0)]
        few = method == "auto" and self.n <= _VERY_FEW_USERS
        for rows in [[i] for i in inside] if few else [inside]:
            found = self._by_cells([ratios[i] for i in rows], rtol, method, few)
            for i, answer in zip(rows, found, strict=True):
                answers[i] = answer
        if not all(_is_within(answer, rtol) for answer in answers):
            raise self._refusal(answers, rtol)
        return answers

    def _by_cells(self, ratios: list[Ratio], rtol: float, method: str, few: bool) -> list[Interval]:
        """By more and more cells on either side, as far as that goes. With ``few`` users, for one α only: then the
        message of one alone may be what counts, and that is exact if a cell ends where ρ = α."""
        answers, cells, cut = [Interval(0.0, 1.0, method)] * len(ratios), _FEW_CELLS, None
        for i, alone in enumerate(map(self.R.alone, (ratio.ball for ratio in ratios)) if method == "auto" else ()):
            if alone is not None:
                # All others send what does not tell, or they do not help: [·]_+ is subadditive. γ is known from below,
                # to 9 digits or 1e-30.
                silent = max(1 - self._gamma * (1 + 1e-8) - 1e-29, 0.0) ** (self.n - 1) * (1 - 1e-12 * self.n)
                one = told(max(silent * balls.lower(alone[1]), 0.0), balls.upper(alone[1]))
                answers[i] = Interval(min(one.lower, 1.0), min(one.upper, 1.0), "alone")
                if few:
                    cut = alone[0]
        waiting = [i for i, answer in enumerate(answers) if not _is_within(answer, rtol)]
        tail = good = _rounded(_FIRST_TAIL * max((answer.upper for answer in answers), default=1.0))
        finest, most = _LEAST_TAIL, _MOST_CELLS
        while waiting and cells <= most:
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
                # Large ratios make it hard, and more cells: half of the way back to a tail that was not refused, and
                # then fewer cells.
                finest = _rounded(math.sqrt(tail * good))
                if finest > tail:
                    tail = finest
                elif _FEWEST_CELLS < cells <= _FEW_CELLS:
                    cells = most = cells // 2
                else:
                    given = _rounded(_FIRST_TAIL * max((answers[i].upper for i in waiting), default=0.0))
                    if tail >= given:
                        break
                    tail = good = finest = given
                continue
            good = tail
            # What is cut off would be seen; few tails are ever tried, so that discretisations are used again.
            seen = max(_rounded(rtol * min((answers[i].lower for i in waiting), default=1.0) / 8), finest)
            if self.R.eps0 is sp.oo and tail > seen:
                tail = max(seen, tail * 1e-8)
            elif cells > _STEADY and max((answers[i].relative_width for i in waiting), default=0.0) > before / 2:
                break  # it should be a quarter: the cells are not what is missing
            else:
                cells *= 2
        return answers

    def roughly(self, side: str, ratios: Sequence[Ratio], ends: Sequence[float]) -> list[Interval]:
        """Bounds from a few cells on one side only, to compare with these ends: what is shown by the lower ends of
        cells from below, or by the upper ends of cells from above, is certain."""
        answers: dict[int, Interval] = {}
        tails = [_rounded(_FIRST_TAIL * max(end, _LEAST_TAIL)) for end in ends]
        for tail in dict.fromkeys(tails):
            rows = [i for i, other in enumerate(tails) if other == tail]
            source = self.above_all or self._discretised(side, _FEW_CELLS, tail)
            found = source.known([ratios[i] for i in rows], _ROUGHLY, "auto")
            answers.update(zip(rows, found, strict=True))
        return [answers[i] for i in range(len(ratios))]

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        answer = self.known_epsilon(target, rtol, method)
        if answer.method == "cells" and answer.width > rtol * max(answer.upper, target):
            raise self._refusal([answer], rtol)
        return answer

    def known_epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """What more and more cells on either side say of ε, from δ itself if that is nothing. Where ratios are so large
        that they are refused, what is far out is given away."""
        if self.above_all is not None:
            return super().epsilon(target, rtol, method)
        low, high, cells = 0.0, field.not_below(self.max_loss), _FEW_CELLS
        tail, finest = _FIRST_TAIL * target, rtol * target / 8
        while cells <= _MOST_CELLS:
            before = high - low
            try:
                sides = (self._discretised(side, cells, _rounded(tail)) for side in _SIDES)
                below, above = (side.epsilon(target, rtol / 4, method) for side in sides)
            except (NotSharpError, balls.RangeError):
                if tail == _FIRST_TAIL * target:
                    break
                tail = finest = _FIRST_TAIL * target
                continue
            low, high = max(low, below.lower), min(high, above.upper)
            if high - low <= rtol * max(high, target) or (cells > _STEADY and high - low > before / 2):
                break
            cells, tail = 2 * cells, finest
        return Interval(low, high, "cells") if high < math.inf else super().epsilon(target, rtol, method)

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
    """A tail that is not larger, of few that are ever tried, so that discretisations are used again. Where noise has
    heavy tails a larger one is much less work; these tails are not small."""
    if tail >= _FINE_TAILS:
        return 10.0 ** math.floor(math.log10(tail))
    return max(_FINE_TAILS * 1e-2 ** math.ceil(math.log(max(tail, 1e-300) / _FINE_TAILS, 1e-2)), _LEAST_TAIL)
