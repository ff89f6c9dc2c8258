r"""Upper bounds for all neighbouring datasets of n users: the smallest one we can prove.

=============  =====================================================================================================
local          D_α(R(x0) ‖ R(x1)): shuffling is post-processing
blanket        Balle et al. 2019; Su et al. 2025: the best that a decomposition gives
drop-out       ours (`numeric.dropout`): asymptotically exact, and better unless the blanket mass times n is small;
               for Laplace, Gaussian and logistic noise with laws that cover all pairs of inputs
               (`model.laplace_laws`, `model.smooth_laws`), clipped or not
=============  =====================================================================================================

Each holds at every α, so the smallest one does; for pairs of inputs that differ, the largest over the pairs. A bound is
a source of divergences as any other: upper ends of what it says are upper ends of what is asked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.sources import CLOSE, Between, PairOfLaws, Source
from shuffle_sym.algebra import field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition, laplace_laws, smooth_laws
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.laplace_laws import LaplaceLaws
from shuffle_sym.model.randomizer import Family, Randomizer
from shuffle_sym.model.smooth_laws import SmoothLaws
from shuffle_sym.numeric import dropout
from shuffle_sym.randomizers.composed import SampledNoise
from shuffle_sym.randomizers.density import NoiseOfDensity
from shuffle_sym.truth.worst_datasets import candidates

_MOST_LAWS = 40  # of one pair of inputs; with more of them the blanket answers
_MOST_PAIRS = 64
_FEWEST_USERS = 3
_TOLERANCE = 2e-3  # of the drop-out bound of noise, whose laws are not sharper
# Attempts at messages that are cut off, and of the bound, about what they may be
_TAILS, _TAIL_SHARE, _FIRST_BOUND, _LARGEST_TAIL, _LEAST_TAIL = 5, 0.01, 1e-6, 1e-2, 1e-150
_LARGEST_EPS = 5.0

_NAMES = {"exchange": "drop-out, equal others", "moduli": "drop-out", "local": "local randomizer", "none": "nothing"}
_NO_BETTER = ("local", "none")  # than one user's randomizer by itself


@dataclass(frozen=True)
class PairOfInputs:
    """What the bounds for one ordered pair of inputs of the differing user are made of; nothing depends on n.

    ``blanket`` is the decomposition above, ``local`` one whose masses under the two inputs are those of the first user,
    and ``laws`` are the datasets in which all others have one input, for each input that makes a difference: None if
    these are too many, and the blanket answers.
    """

    blanket: Decomposition
    local: Decomposition
    laws: tuple[Decomposition, ...] | None


@dataclass(frozen=True)
class Prepared:
    """What the bounds for all datasets of a randomizer are made of; ``gamma`` is not above the blanket mass."""

    pairs: tuple[PairOfInputs, ...]
    gamma: float
    max_loss: sp.Expr


@cached_by_value
def prepared(R: Randomizer | Family) -> Prepared:
    """What the bounds of R are made of, made once."""
    if isinstance(R, Family):
        pairs = [PairOfInputs(R.dominating(), R.worst_alone(), R.extreme_laws())]
    else:
        ordered = R.pairs()
        few = len(ordered) <= _MOST_PAIRS
        # Pairs are alike if everything that is used of them is.
        every = [_of_inputs(R, x0, x1, few) for x0, x1 in ordered]
        pairs = list({(pair.blanket, frozenset(pair.laws or ())): pair for pair in every}.values())
    return Prepared(tuple(pairs), field.not_above(R.gamma), sp.Max(*(pair.local.max_loss for pair in pairs)))


def _of_inputs(R: Randomizer, x0: int, x1: int, few: bool) -> PairOfInputs:
    blanket = decomposition.blanket(R, x0, x1)
    if not few or len(R.kinds(x0, x1)) > _MOST_LAWS:
        return PairOfInputs(blanket, blanket, None)
    return PairOfInputs(blanket, blanket, tuple(D for _, D in candidates(R, x0, x1)))


class Smallest(Source):
    """The smallest of several bounds at each α, asked in this order: a dearer one only where all before it leave
    something open. Both ends of an answer are the bound. A name is that of the answers; if it is empty, they have their
    own."""

    def __init__(self, named: Sequence[tuple[str, Source]]) -> None:
        self.named, self.n = tuple(named), named[0][1].n

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Min(*(source.max_loss for _, source in self.named))

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        ratios = [ratio.from_one() for ratio in ratios]  # bounds of a batch, and by clones, are proved from there on
        between = between or [Interval(0.0, 1.0)] * len(ratios)
        best = [Interval(1.0, 1.0, upper_by="local randomizer")] * len(ratios)
        for name, source in self.named:
            rows = [i for i, at in enumerate(between) if best[i].upper * (1 - max(rtol, CLOSE)) > at.lower]
            limits = [min(between[i].upper, best[i].upper) for i in rows]
            inside = [
                Interval(between[i].lower, max(end, between[i].lower)) for i, end in zip(rows, limits, strict=True)
            ]
            found = source.hockey_sticks([ratios[i] for i in rows], rtol, method, inside)
            for i, answer in zip(rows, found, strict=True):
                if answer.upper < best[i].upper:
                    best[i] = replace(answer, lower=answer.upper, upper_by=name or answer.upper_by)
        return best

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        logs = [(name, source.log_delta(ratio.from_one(), rtol)) for name, source in self.named]
        name, least = min(logs, key=lambda entry: entry[1].upper)
        return replace(least, lower=least.upper, upper_by=name or least.upper_by)


class Largest(Source):
    """The largest of several bounds at each α: one for each pair of inputs, or for each group of users."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources, self.n = tuple(sources), sources[0].n

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Max(*(source.max_loss for source in self.sources))

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        most = [Interval(0.0, 0.0, upper_by="the largest loss")] * len(ratios)
        rows = [i for i, ratio in enumerate(ratios) if not ratio.at_least(self.max_loss)]
        for source in self.sources:
            limits = [between[i] if between else Interval(0.0, 1.0) for i in rows]
            least = [max(limit.lower, most[i].upper) for i, limit in zip(rows, limits, strict=True)]
            inside = [Interval(low, max(limit.upper, low)) for low, limit in zip(least, limits, strict=True)]
            found = source.hockey_sticks([ratios[i] for i in rows], rtol, method, inside)
            for i, answer in zip(rows, found, strict=True):
                most[i] = max(most[i], answer, key=lambda end: end.upper)
        return most

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        if ratio.at_least(self.max_loss):
            return Interval(-math.inf, -math.inf, upper_by="the largest loss")
        return max((source.log_delta(ratio, rtol) for source in self.sources), key=lambda log: log.upper)


class DropOut(Source):
    """A drop-out bound: both ends of an interval are the bound, 1 where it is not evaluated."""

    def at(self, ratios: Sequence[Ratio], between: Between) -> list[tuple[dropout.Bound, str]]:
        """The bound and its name at each α >= 1."""
        raise NotImplementedError

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        ratios = [ratio.from_one() for ratio in ratios]
        return [Interval(bound.value, bound.value, upper_by=name) for bound, name in self.at(ratios, between)]

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        """As for other laws; a bound that is a number can be followed more closely at no cost."""
        return super().epsilon(target, rtol / 16, method)

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        ((bound, name),) = self.at([ratio.from_one()], None)
        return Interval(bound.log, bound.log, upper_by=name)


class DropOutOfPair(DropOut):
    """The drop-out bound with n users for one ordered pair of inputs of the differing user. ``equal`` is whether it is
    tried to show that equal others are the worst."""

    def __init__(self, whole: Prepared, pair: PairOfInputs, n: int, *, equal: bool = True) -> None:
        self.gamma, self.pair, self.n, self.equal = whole.gamma, pair, n, equal
        self.max_loss = pair.local.max_loss

    def at(self, ratios: Sequence[Ratio], between: Between) -> list[tuple[dropout.Bound, str]]:
        # Of one user: post-processing
        local = [answer.upper for answer in PairOfLaws(self.pair.local, 1).hockey_sticks(ratios, CLOSE)]
        laws = [D.gparv.floats_at(ratios) for D in self.pair.laws or ()]
        nobody = (1 - self.gamma) ** (self.n - 1)  # has dropped out: with this probability the bound is the local one
        bounds = []
        for i, end in enumerate(local):
            gamma = self.gamma if between is None or nobody * end < between[i].upper else 0.0
            rows = [(law.values[i], law.probabilities) for law in laws]
            bounds.append(dropout.upper(rows, [law.null[i] for law in laws], gamma, self.n, end, equal=self.equal))
        return [(bound, _NAMES[bound.method]) for bound in bounds]


class DropOutOfNoise(DropOut):
    """The drop-out bound of n users of Laplace, Gaussian or logistic noise, for all pairs of inputs."""

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n, self.max_loss = R, n, R.eps0
        noise, share = (R.R, R.q) if isinstance(R, SampledNoise) else (R, sp.S.One)
        self._after = ", before clipping" if isinstance(noise, AddedNoise) and noise.clip is not None else ""
        # To clip is post-processing of each message: what bounds the noise before bounds it after.
        before = NoiseOfDensity(noise.density, noise.inputs, None) if self._after else noise
        self.laws: LaplaceLaws | SmoothLaws | None = None
        if n >= _FEWEST_USERS:
            self.laws = laplace_laws.laws_of(before, share) or smooth_laws.laws_of(before, share)

    @cached_property
    def _gamma(self) -> float:
        return field.not_above(self.R.gamma)

    def at(self, ratios: Sequence[Ratio], between: Between) -> list[tuple[dropout.Bound, str]]:
        about = [inside.lower for inside in between] if between else [0.0] * len(ratios)
        bounds = [self._at(ratio, value) for ratio, value in zip(ratios, about, strict=True)]
        return [(bound, _NAMES[bound.method] + self._after * (bound.method not in _NO_BETTER)) for bound in bounds]

    def _at(self, ratio: Ratio, about: float) -> dropout.Bound:
        """The bound for all pairs of inputs; ``about`` is what it may be, 0 if nothing is known of that. Where most
        pairs are close, the bound at a smaller α, at which they are not, may be the smaller one: it holds, because D_α
        does not increase with α."""
        here, laws = self._at_one(ratio, about), self.laws
        if here.method == "none" or not isinstance(laws, SmoothLaws) or float(ratio) <= laws.last:
            return here
        before = self._at_one(Ratio(alpha=sp.Rational(laws.last)), about)
        return min(here, before, key=lambda bound: bound.log)

    def _at_one(self, ratio: Ratio, about: float) -> dropout.Bound:
        laws = self.laws
        if laws is None or ratio.log > _LARGEST_EPS or not (local := laws.local(ratio)):
            return dropout.Bound(1.0, 0.0, "none")
        if isinstance(laws, LaplaceLaws):
            return self._dropped(rows := laws.at(float(ratio)), [()] * len(rows), local)
        # Messages that are cut off count in full, so that they have to be few next to the bound.
        tail = _rounded(_TAIL_SHARE * (about or _FIRST_BOUND))
        bounds: dict[float, dropout.Bound] = {}
        while tail not in bounds and len(bounds) < _TAILS:
            rows, lost = laws.at(float(ratio), tail)
            bounds[tail] = bound = self._dropped(rows, [[part] for part in lost], local)
            if max(lost) > 2 * _TAIL_SHARE * bound.value:
                tail = _rounded(_TAIL_SHARE * max(bound.value - max(lost), tail * 1e-6))
        return min(bounds.values(), key=lambda bound: bound.log)

    def _dropped(self, laws: Sequence[dropout.Row], null: Sequence[Sequence[float]], local: float) -> dropout.Bound:
        # Values are raised, so that means are not quite the same.
        return dropout.upper(laws, null, self._gamma, self.n, local, equal=False, tolerance=_TOLERANCE)


def _rounded(tail: float) -> float:
    """A power of 10, or of 10⁻³ far out, that is not larger: few tails are ever tried."""
    power = math.log10(min(max(tail, _LEAST_TAIL), _LARGEST_TAIL)) + 1e-9
    return 10.0 ** (math.floor(power) if power > -6 else 3 * math.floor(power / 3))


def of_all_datasets(R: Randomizer | Continuous | Family, n: int) -> Source:
    """The bound for n users of a randomizer: the smallest of all that are known."""
    if isinstance(R, Continuous):
        dropped = DropOutOfNoise(R, n)
        named: list[tuple[str, Source]] = [("", dropped)] if dropped.laws else []
        return Largest([Smallest([*named, ("blanket", Noise(R, n))])])
    return of_prepared(prepared(R), n)


def of_prepared(whole: Prepared, n: int) -> Source:
    """The bound for n users of finitely many messages, for the worst ordered pair of inputs at each α."""
    bounds = []
    for pair in whole.pairs:
        # A decomposition that is in the place of the blanket has a name of its own: one of the clones.
        named: list[tuple[str, Source]] = [(whole.pairs[0].blanket.title, PairOfLaws(pair.blanket, n))]
        if pair.laws is not None and n >= _FEWEST_USERS:
            named.append(("", DropOutOfPair(whole, pair, n)))
        bounds.append(Smallest(named))
    return Largest(bounds)


def drop_out(R: Randomizer | Continuous | Family, n: int, *, equal: bool) -> Source:
    """The drop-out bound alone, for the worst of all pairs of inputs; why there is none is an error."""
    if n < _FEWEST_USERS:
        raise ValueError(f"n must be at least {_FEWEST_USERS}, got {n}")
    if isinstance(R, Continuous):
        dropped = DropOutOfNoise(R, n)
        if dropped.laws is None:
            raise ValueError(
                f"messages must be finitely many, or those of Laplace, Gaussian or logistic noise that is not too "
                f"small, got {R!r}"
            )
        if equal:
            raise ValueError(f"equal others are not shown to be the worst where messages are continuous: {R!r}")
        return dropped
    whole = prepared(R)
    if any(pair.laws is None for pair in whole.pairs):
        raise ValueError(
            f"more than {_MOST_LAWS} inputs of the others, or {_MOST_PAIRS} pairs of inputs, are too many, and users "
            "must share one randomizer"
        )
    return Largest([DropOutOfPair(whole, pair, n, equal=equal) for pair in whole.pairs])
