r"""Lower bounds: neighbouring datasets that can be written down, and the divergence that they attain.

Which datasets are tried is chosen once for a randomizer, whatever n is (`truth.worst_datasets`): in the normal limit
all others have one value in a worst pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import scipy
import sympy as sp

from shuffle_sym.accounting.sources import CLOSE, Between, InCells, PairOfLaws, Source, ratio_at
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.continuous import TYPICAL_USERS, Continuous
from shuffle_sym.model.decomposition import Decomposition, blanket
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family, Randomizer
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.worst_datasets import AllAlike, all_alike, candidates, signal

_MOST_PAIRS = 12  # pairs of inputs that are looked at, those first whose blanket is the worst
_MOST_TRIED, _FEW_TRIED = 64, 4  # and how many are compared without a rough look at all of them
TYPICAL_ALPHA = 1.1  # it decides between datasets that are equal in the limit
_CELLS = 48  # that messages of continuous noise are counted by: a thousandth of ε is lost, or less
_ROUGHLY = 0.3  # tolerance of a first look at a δ that may be far from what matters


@dataclass(frozen=True)
class Neighbours:
    """Two neighbouring datasets of n users in which all other users have one input; ``alike`` names the inputs.

    >>> import shuffle_sym as ss
    >>> by = ss.Shuffle(ss.KRR(k=3, eps0=1), n=4).delta(0.1).lower_by
    >>> str(by), by.X0, by.X1
    ('0 against 1, all others 2', (0, 2, 2, 2), (1, 2, 2, 2))
    """

    alike: AllAlike
    n: int
    of: str = ""

    @property
    def X0(self) -> tuple[Any, ...]:  # noqa: N802 (the name that ground_truth.delta has for it)
        """The first dataset, as `ground_truth.delta` takes it."""
        return self.alike.datasets(self.n)[0]

    @property
    def X1(self) -> tuple[Any, ...]:  # noqa: N802
        """The second dataset."""
        return self.alike.datasets(self.n)[1]

    def reversed(self) -> Neighbours:
        """The two datasets exchanged: the second one first."""
        return replace(self, alike=replace(self.alike, x0=self.alike.x1, x1=self.alike.x0))

    def __str__(self) -> str:
        return f"{self.of}: {self.alike}" if self.of else str(self.alike)


def gaussian_delta(chi: float, n: int, eps: float) -> float:
    r"""δ at ε of N(0, 1) against N(√(χ/n), 1): Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) with μ = √(χ/n). No bound.

    >>> round(gaussian_delta(4.0, 4, 0.0), 6)  # Φ(1/2) − Φ(−1/2)
    0.382925
    """
    if not chi:
        return 0.0
    mu = math.sqrt(chi / n)
    return float(scipy.special.ndtr(mu / 2 - eps / mu) - math.exp(eps + scipy.special.log_ndtr(-mu / 2 - eps / mu)))


def gaussian_epsilon(chi: float, n: int, delta: float) -> float:
    r"""ε at δ of N(0, 1) against N(√(χ/n), 1), see `gaussian_delta`: an approximation, no bound.

    >>> round(gaussian_epsilon(4.0, 4, 0.1), 6) > 0
    True
    """
    if math.isinf(chi):
        return math.inf

    def met(eps: float) -> bool:
        return gaussian_delta(chi, n, eps) <= delta

    if met(0.0):
        return 0.0
    high = math.sqrt(chi / n)
    while not met(high):
        high *= 2
    return last_that_holds(met, high, 0.0, rtol=1e-12)[0]


@cached_by_value
def worst_datasets(R: Randomizer) -> list[tuple[AllAlike, Decomposition]]:
    """The datasets that may be the worst, and their laws, the worst for many users first; they do not depend on n."""
    pairs = list(R.pairs())
    if len(pairs) > _MOST_PAIRS:
        pairs.sort(key=lambda pair: signal(blanket(R, *pair), TYPICAL_ALPHA), reverse=True)
    tried: dict[Decomposition, AllAlike] = {}
    for alike, D in (entry for pair in pairs[:_MOST_PAIRS] for entry in candidates(R, *pair)):
        tried.setdefault(D, alike)
    ranked = sorted(tried.items(), key=lambda entry: signal(entry[0], TYPICAL_ALPHA), reverse=True)
    return [(alike, D) for D, alike in ranked[:_MOST_TRIED]]


class Datasets(Source):
    """The worst of a few pairs of neighbouring datasets, each with its laws, the worst for many users first.

    ``best`` is one curve that can be composed: that of the first pair, unless another one is given.
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]], n: int, best: Source | None = None) -> None:
        self.pairs, self.n, self.best = tuple(pairs), n, best or pairs[0][1]

    @property
    def first(self) -> Datasets:
        """The first pair alone."""
        return Datasets(self.pairs[:1], self.n)

    @property
    def rest(self) -> Datasets:
        """The other pairs, if there are any."""
        return Datasets(self.pairs[1:], self.n, self.best)

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Max(*(laws.max_loss for _, laws in self.pairs))

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        """D_α of the worst pair; once some reach what it is ``between``, no other is tried."""
        worst = [Interval(0.0, 0.0)] * len(ratios)
        looks = [[Interval(0.0, 1.0)] * len(ratios)] * len(self.pairs)
        if len(self.pairs) > _FEW_TRIED:
            looks = [laws.hockey_sticks(ratios, max(rtol, _ROUGHLY), method) for _, laws in self.pairs]
        least = [max((look[i].lower for look in looks), default=0.0) for i in range(len(ratios))]
        for (neighbours, laws), look in zip(self.pairs, looks, strict=True):
            open_ones = (i for i, at in enumerate(worst) if not between or at.lower < between[i].upper * (1 - CLOSE))
            rows = [i for i in open_ones if look[i].upper >= max(worst[i].lower, least[i])]
            for i, answer in zip(rows, laws.hockey_sticks([ratios[i] for i in rows], rtol, method), strict=True):
                if worst[i].lower_by is None or answer.lower > worst[i].lower:
                    worst[i] = replace(answer, lower_by=neighbours)
        return worst

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        """ε of the worst pair: of the first, and of another one only if its δ there is larger."""
        (neighbours, first), *others = self.pairs
        answer: Interval = replace(first.epsilon(target, rtol, method), lower_by=neighbours)
        for neighbours, laws in others:
            there = Interval(0.0, 1.0)
            for tolerance in (max(rtol, _ROUGHLY), rtol):
                (there,) = laws.hockey_sticks([ratio_at(answer.lower)], tolerance, method)
                if not there.lower <= target < there.upper:
                    break
            if there.lower > target:
                other = replace(laws.epsilon(target, rtol, method), lower_by=neighbours)
                answer = max(answer, other, key=lambda ends: ends.lower)
        return answer

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        logs: list[Interval] = [
            replace(laws.log_delta(ratio, rtol), lower_by=neighbours) for neighbours, laws in self.pairs
        ]
        return max(logs, key=lambda log: log.lower)


def datasets_of(R: Randomizer | Continuous | Family, n: int) -> Datasets:
    """The neighbouring datasets that are tried on n users of a randomizer."""
    if isinstance(R, Family):
        tried = [(Neighbours(alike, n, name), D) for name, M in R.members().items() for alike, D in worst_datasets(M)]
        tried.sort(key=lambda entry: -entry[0].alike.score(TYPICAL_ALPHA))
        return Datasets([(neighbours, PairOfLaws(D, n)) for neighbours, D in tried[:_FEW_TRIED]], n)
    if isinstance(R, Continuous):
        # Cells serve similar n, and all n if ratios are bounded.
        users = 10 ** round(math.log10(n)) if R.eps0 is sp.oo else TYPICAL_USERS
        return Datasets([(Neighbours(alike, n), InCells(D, n, R.eps0)) for alike, D in _datasets_in_cells(R, users)], n)
    return Datasets([(Neighbours(alike, n), PairOfLaws(D, n)) for alike, D in worst_datasets(R)], n)


@cached_by_value
def _datasets_in_cells(R: Continuous, users: int) -> list[tuple[AllAlike, Decomposition]]:
    """The datasets that are tried on continuous noise with about so many users, the worst first."""
    tried = [(all_alike(x0, x1, x, D), D) for x0, x1, x, D in R.datasets(_CELLS, users)]
    return sorted(tried, key=lambda entry: -entry[0].score(TYPICAL_ALPHA))
