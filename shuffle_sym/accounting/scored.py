r"""Lower bounds for users with different randomizers: datasets in which all users of a group have one input."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import sympy as sp

from shuffle_sym.accounting.attacks import TYPICAL_ALPHA, Datasets
from shuffle_sym.accounting.sources import Between, Source
from shuffle_sym.algebra import field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.scores import ScoredSums, best_scores
from shuffle_sym.numeric.transforms import Array
from shuffle_sym.randomizers.composed import Stacked
from shuffle_sym.truth.ground_truth import merged_columns

_MOST_DATASETS = 200
_TRIED = 3
_NEAR = 0.95  # χ of a dataset that is tried, over the largest
_STEP, _MOST_STEPS = 2.0, 4  # of ε in deviations of the loss, for scores that are used again


@dataclass(frozen=True)
class GroupNeighbours:
    """Two neighbouring datasets in which one user of ``group`` has x0 or x1, and all others of each group one input."""

    group: int
    x0: int
    x1: int
    inputs: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def X0(self) -> tuple[tuple[int, int], ...]:  # noqa: N802
        """The first dataset, as pairs (group, input), the differing user first."""
        return ((self.group, self.x0), *self._others)

    @property
    def X1(self) -> tuple[tuple[int, int], ...]:  # noqa: N802
        """The second dataset."""
        return ((self.group, self.x1), *self._others)

    @property
    def _others(self) -> tuple[tuple[int, int], ...]:
        placed = zip(self.inputs, self.counts, strict=True)
        return tuple((g, x) for g, (x, count) in enumerate(placed) for _ in range(count))

    def reversed(self) -> GroupNeighbours:
        """The two datasets exchanged: the second one first."""
        return replace(self, x0=self.x1, x1=self.x0)

    def __str__(self) -> str:
        some = [(g, x) for g, (x, count) in enumerate(zip(self.inputs, self.counts, strict=True)) if count]
        others = ", ".join(f"all others of group {g} {x}" for g, x in some)
        return f"{self.x0} against {self.x1} in group {self.group}" + (f", {others}" if others else "")


class ScoredDatasets(Source):
    """One pair of datasets, seen through sums of scores that suit each α: the lower end is below the divergence of the
    pair, the upper end is about these scores only."""

    def __init__(self, R: Stacked, neighbours: GroupNeighbours, n: int) -> None:
        self.R, self.neighbours, self.n = R, neighbours, n
        self._sums: dict[float, ScoredSums] = {}

    @cached_property
    def _masses(self) -> list[Array]:
        """Under x0, x1 and the input of each group: the probabilities of the classes of messages."""
        at = self.neighbours
        named = [(at.group, at.x0), (at.group, at.x1), *enumerate(at.inputs)]
        # Merged, no class is as rare as a message that matches all of many inputs.
        classes = merged_columns([y.masses for y in self.R.classes(*(self.R.number(g, x) for g, x in named))])
        forms = [e for masses in classes for e in masses]
        table = np.array(field.floats(forms, self.R.bindings)).reshape(len(classes), len(named))
        return [np.ascontiguousarray(column) for column in table.T]

    @property
    def _others(self) -> list[tuple[int, Array]]:
        placed = zip(self.neighbours.counts, self._masses[2:], strict=True)
        return [(count, p) for count, p in placed if count]

    @cached_property
    def signal(self) -> tuple[float, float]:
        """How well one user's input can be seen, the larger the worse for many users: how likely messages are that none
        of the others can send, how much likelier at least for one input than for the other; then what χ is at an α
        above 1, because at 1 many datasets are alike."""
        shared = np.asarray(sum(count * p for count, p in self._others)) > 0
        gain = self._masses[0] - self._masses[1]
        (first, second), others = self._masses[:2], self._others
        return float(np.maximum(gain[~shared], 0.0).sum()), best_scores(first, second, TYPICAL_ALPHA, others)[1]

    @cached_property
    def chi(self) -> float:
        """The square of the shift of the best sum of scores over its variance, for one user."""
        first, second = self._masses[:2]
        return best_scores(first, second, 1.0, self._others)[1]

    def _scored(self, eps: float) -> ScoredSums:
        """The sums with scores that are good at ε, one of a few: those of one ε serve its neighbours."""
        step = _STEP * math.sqrt(self.chi / self.n)
        near = step * min(round(eps / step), _MOST_STEPS) if 0 < step < math.inf else 0.0
        if near not in self._sums:
            first, second = self._masses[:2]
            scores, _ = best_scores(first, second, math.exp(near), self._others)
            self._sums[near] = ScoredSums(scores, first, second, self._others)
        return self._sums[near]

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.R.parts[self.neighbours.group].eps0

    def reversed(self) -> Source:
        return ScoredDatasets(self.R, self.neighbours.reversed(), self.n)

    def fixed(self) -> FixedScores:
        """With the scores for an ε at which δ is small."""
        return FixedScores(self._scored(3 * math.sqrt(self.chi / self.n)), self.max_loss, self.n)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        ends = [self._scored(ratio.log).both_ends(float(ratio)) for ratio in ratios]
        return [Interval(*pair, "scores", self.neighbours) for pair in ends]


class FixedScores(Source):
    """One pair of datasets, seen through one set of scores at all α: one pair of laws, whose curve can be composed.
    Both ends are certain for that pair of laws."""

    def __init__(self, sums: ScoredSums, max_loss: sp.Expr, n: int, *, swapped: bool = False) -> None:
        self.sums, self._max_loss, self.n, self.swapped = sums, max_loss, n, swapped

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self._max_loss

    def reversed(self) -> Source:
        return FixedScores(self.sums, self._max_loss, self.n, swapped=not self.swapped)

    @property
    def impossible(self) -> float:
        return self.sums.impossible(swapped=self.swapped)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        ends = [self.sums.both_ends(float(ratio), swapped=self.swapped) for ratio in ratios]
        return [Interval(*pair, "scores") for pair in ends]


def datasets(
    R: Stacked, group: int, counts: Sequence[int], pairs: Sequence[tuple[int, int]], inputs: Sequence[Sequence[int]]
) -> Datasets:
    """The datasets that are tried for a user of one group; ``inputs`` are those of the others, group by group."""
    n = sum(counts) + 1
    choices = list(product(pairs, product(*inputs)))
    step = max(math.ceil(len(choices) / _MOST_DATASETS), 1)
    tried = [
        ScoredDatasets(R, GroupNeighbours(group, x0, x1, others, tuple(counts)), n)
        for (x0, x1), others in choices[::step]
    ]
    return worst_of(tried)


def worst_of(tried: Sequence[ScoredDatasets]) -> Datasets:
    """Those of some pairs of datasets that are worth trying, the one first whose user is seen best."""
    ranked = sorted(tried, key=lambda pair: pair.signal, reverse=True)[:_TRIED]
    # Where χ is far below, so is the divergence of many users.
    near = [pair for pair in ranked if pair.chi >= _NEAR * ranked[0].chi]
    return Datasets([(pair.neighbours, pair) for pair in near], near[0].n, near[0].fixed())
