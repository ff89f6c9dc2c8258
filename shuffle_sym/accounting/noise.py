r"""Continuous noise with n users: certified D_α of its blanket, by cells from either side."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import sympy as sp

from shuffle_sym.accounting.sources import Between, InCells, MaxOverPairs, PairOfLaws, Source
from shuffle_sym.algebra import arguments, balls
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import SMALLEST
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.transforms import told

_SIDES = ("lower", "upper")
_FEWEST_CELLS, _FEW_CELLS, _MOST_CELLS = 8, 32, 4096
_STEADY = 128  # cells from which on twice as many are four times as close, or cells are not what is missing
_VERY_FEW_USERS = 8
_FIRST_TAIL, _LEAST_TAIL = 2e-2, 1e-290  # of an answer, and of 1
_FINE_TAILS = 1e-10


class Noise(Source):
    """The blanket of a continuous randomizer, for all pairs of inputs.

    For symmetric noise that is the pair of the two ends: a lower and an upper discretisation, refined until the two are
    close. For any other randomizer it is the finite pair of laws that is above all pairs of inputs.
    """

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n = R, n
        self._discretisations: dict[tuple[str, int, float], InCells] = {}

    @cached_property
    def above_all(self) -> PairOfLaws | MaxOverPairs | None:
        """The finite pairs of laws above all pairs of inputs, where no pair is known to be the worst."""
        finite = [made for made in self.R.noise_blankets() if isinstance(made, Decomposition)]
        return PairOfLaws(finite[0], self.n) if len(finite) == 1 else MaxOverPairs(finite, self.n) if finite else None

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.R.eps0

    @cached_property
    def _gamma(self) -> float:
        return float(self.R.gamma)

    def decompositions(self) -> tuple[Decomposition, ...]:
        return super().decompositions() if self.above_all is None else self.above_all.decompositions()

    def reversed(self) -> Source:
        return self  # either end is the mirror image of the other, and so is either law that is above all

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        R = self.R
        arguments.numeric_only(R.free_symbols, "a numerical answer")
        if self.above_all is not None:
            return self.above_all.hockey_sticks(ratios, rtol, method, between)
        if method not in ("auto", "contour", "fft"):
            raise ValueError(f'method must be "auto", "contour" or "fft" for continuous {R!r}, got {method!r}')
        answers = [Interval(0.0, 0.0, method)] * len(ratios)
        inside = [i for i, ratio in enumerate(ratios) if R.eps0 is sp.oo or not ratio.at_least(R.eps0)]
        few = method == "auto" and self.n <= _VERY_FEW_USERS
        for rows in [[i] for i in inside] if few else [inside]:
            limits = [between[i] if between else Interval(0.0, 1.0) for i in rows]
            found = self._by_cells([ratios[i] for i in rows], rtol, method, few, limits)
            for i, answer in zip(rows, found, strict=True):
                answers[i] = answer
        return answers

    def _by_cells(
        self, ratios: list[Ratio], rtol: float, method: str, few: bool, limits: Sequence[Interval]
    ) -> list[Interval]:
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

        def open_ones() -> list[int]:
            """Where a value is not known well enough, and not known to be aside of what matters."""
            return [
                i
                for i, (answer, limit) in enumerate(zip(answers, limits, strict=True))
                if not _is_within(answer, rtol) and answer.upper > limit.lower and answer.lower < limit.upper
            ]

        waiting = open_ones()
        ends = [min(at.upper, limit.upper) for at, limit in zip(answers, limits, strict=True)]
        tail = good = _rounded(_FIRST_TAIL * max([*ends, _LEAST_TAIL]))
        finest, most = _LEAST_TAIL, _MOST_CELLS
        while waiting and cells <= most:
            left = [ratios[i] for i in waiting]
            try:
                below, above = (
                    self._discretised(side, cells, tail, cut).hockey_sticks(left, rtol / 4, method) for side in _SIDES
                )
            except balls.RangeError:  # masses far out, or too small for this
                break
            before = max(answers[i].relative_width for i in waiting)
            for i, low, high in zip(waiting, below, above, strict=True):
                lower, upper = max(answers[i].lower, low.lower), min(answers[i].upper, high.upper)
                answers[i] = Interval(lower, upper, high.method)
            waiting = open_ones()
            if any(answer.method == "one user" for answer in (*below, *above)):
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
            smallest = max(_rounded(rtol * min((answers[i].lower for i in waiting), default=1.0) / 8), finest)
            if self.R.eps0 is sp.oo and tail > smallest:
                tail = max(smallest, tail * 1e-8)
            elif cells > _STEADY and max((answers[i].relative_width for i in waiting), default=0.0) > before / 2:
                break  # it should be a quarter: the cells are not what is missing
            else:
                cells *= 2
        return answers

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
