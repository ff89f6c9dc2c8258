r"""Upper bounds for all neighbouring datasets of n users: the smallest one we can prove.

=============  =====================================================================================================
local          D_α(R(x0) ‖ R(x1)): shuffling is post-processing
blanket        Balle et al. 2019; Su et al. 2025: the best that a decomposition gives
drop-out       ours (`numeric.dropout`): asymptotically exact, and better unless the blanket mass times n is small;
               for Laplace, Gaussian and logistic noise with laws that cover all pairs of inputs
               (`model.laplace_laws`, `model.smooth_laws`), clipped or not
=============  =====================================================================================================

Each holds at every α, so the smallest one does; for pairs of inputs that differ, the largest over the pairs.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import sympy as sp

from shuffle_sym.accounting.noise import Noise
from shuffle_sym.accounting.sources import UNKNOWN, NotReachedError, PairOfLaws, Source, logarithm
from shuffle_sym.algebra import balls, field, rounding
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
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.randomizers.composed import SampledNoise
from shuffle_sym.randomizers.density import NoiseOfDensity
from shuffle_sym.truth.worst_datasets import candidates

_MOST_LAWS = 40  # of one pair of inputs; with more of them the blanket answers
_MOST_PAIRS = 64
_FEWEST_USERS = 3
_BITS = 128
_TOLERANCE = 2e-3  # of the drop-out bound of noise, whose laws are not sharper
# Attempts at messages that are cut off, and of the bound, about what they may be
_TAILS, _TAIL_SHARE, _FIRST_BOUND, _LARGEST_TAIL, _LEAST_TAIL = 5, 0.01, 1e-6, 1e-2, 1e-150
_LARGEST_EPS = 5.0
CLOSE = 1e-3  # a blanket that is so close to what is attained is not worth a better bound

Attacked = Callable[[Sequence[float]], list[Interval]]  # from divergences that are enough to those of datasets

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


def alone(D: Decomposition, ratios: Sequence[Ratio]) -> list[float]:
    """Upper ends of the divergence of the masses a and b of a decomposition: of one user."""
    law = D.gparv.floats_at(ratios)
    sums = np.maximum(law.values, 0.0) @ law.probabilities + law.null.sum(axis=1)
    slack = 1 + 8 * (law.values.shape[1] + law.null.shape[1]) * rounding.FLOAT_ERROR
    # A product that underflows is not 0.
    positive = (law.values > 0).any(axis=1) | (law.null > 0).any(axis=1)
    return [min(rounding.above(float(x) * slack), 1.0) if some else 0.0 for x, some in zip(sums, positive, strict=True)]


class PairBounds:
    """All bounds with n users for one ordered pair of inputs of the differing user."""

    def __init__(self, whole: Prepared, pair: PairOfInputs, n: int) -> None:
        self.whole, self.pair, self.n = whole, pair, n
        self.blanket = PairOfLaws(pair.blanket, n)

    def local(self, ratios: Sequence[Ratio]) -> list[float]:
        """Upper ends of D_α(R(x0) ‖ R(x1))."""
        return alone(self.pair.local, ratios)

    def blanketed(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """The blanket's divergence at each α; what the local randomizer gives, where no method has an answer."""
        try:
            return self.blanket.from_one(ratios, rtol, method)
        except NotSharpError as refusal:
            if method != "auto" or (len(ratios) == 1 and not refusal.for_any_width):
                raise
            if len(ratios) > 1:
                return [self.blanketed([ratio], rtol, method)[0] for ratio in ratios]
        (end,) = self.local(ratios)
        return [Interval(end, end, upper_by="local randomizer")]

    def least_dropped(self, ratios: Sequence[Ratio], known: Sequence[float]) -> list[float]:
        """About what the drop-out bound is at least, where so much is attained: no Φ*_N is below that."""
        nobody = (1 - self.whole.gamma) ** (self.n - 1)
        return [nobody * end + (1 - nobody) * least for end, least in zip(self.local(ratios), known, strict=True)]

    def dropped(self, ratios: Sequence[Ratio], *, equal: bool = True) -> list[tuple[float, str]]:
        """Upper ends of the drop-out bound and their names; 1 where it is not evaluated. ``equal`` is whether it is
        tried to show that equal others are the worst."""
        return [(bound.value, _NAMES[bound.method]) for bound in self.drop_out(ratios, equal=equal)]

    def drop_out(self, ratios: Sequence[Ratio], *, equal: bool = True) -> list[dropout.Bound]:
        """The drop-out bound with its logarithm; 1 where it is not evaluated."""
        if self.n < _FEWEST_USERS or self.pair.laws is None:
            return [dropout.Bound(1.0, 0.0, "none")] * len(ratios)
        gamma, local = self.whole.gamma, self.local(ratios)
        laws = [D.gparv.floats_at(ratios) for D in self.pair.laws]
        bounds = []
        for i in range(len(ratios)):
            rows = [(law.values[i], law.probabilities) for law in laws]
            bounds.append(dropout.upper(rows, [law.null[i] for law in laws], gamma, self.n, local[i], equal=equal))
        return bounds


def _attained(answer: Interval) -> float:
    """About the divergence of two datasets, 0 if nothing is known of it."""
    return 0.0 if answer == UNKNOWN else answer.upper


class AllDatasets:
    """The smallest bound on D_α, α >= 1, for all neighbouring datasets of n users of a finite randomizer.

    Blanket and drop-out bound hold for every α > 0; in a batch, and where only ε0 is known, they are proved from 1 on.
    """

    def __init__(self, whole: Prepared, n: int) -> None:
        self.max_loss = whole.max_loss
        self.n, self.pairs = n, [PairBounds(whole, pair, n) for pair in whole.pairs]
        #: What a bound by a decomposition alone is called: the blanket, or one of the clones in its place.
        self.name = whole.pairs[0].blanket.title

    @property
    def sources(self) -> list[PairOfLaws]:
        """The blanket for each pair of inputs."""
        return [pair.blanket for pair in self.pairs]

    def log_upper(self, ratio: Ratio, rtol: float) -> tuple[float, str]:
        """The logarithm of the smallest bound at one α, also far below the smallest double, and its name."""
        ratio.from_one()
        ends = []
        for pair in self.pairs:
            of_blanket, (dropped,) = pair.blanket.log_delta(ratio, rtol).upper, pair.drop_out([ratio])
            ends.append(min((of_blanket, self.name), (dropped.log, _NAMES[dropped.method])))
        return max(ends)

    def no_drop_out(self, *, equal: bool) -> str:
        """Why there is no drop-out bound; empty if there is one."""
        many = f"more than {_MOST_LAWS} inputs of the others, or {_MOST_PAIRS} pairs of inputs, are too many"
        few = all(pair.pair.laws is not None for pair in self.pairs)
        return "" if few else f"{many}, and users must share one randomizer"

    def dropped(self, ratios: Sequence[Ratio], *, equal: bool) -> list[tuple[float, str]]:
        """The drop-out bound and its name for the worst pair of inputs at each α."""
        ratios = [ratio.from_one() for ratio in ratios]
        return [max(column) for column in zip(*(pair.dropped(ratios, equal=equal) for pair in self.pairs), strict=True)]

    def ends(
        self, ratios: Sequence[Ratio], rtol: float, method: str, attacked: Attacked
    ) -> tuple[list[Interval], list[Interval]]:
        """What is attained and the smallest bound, for each α. Where datasets reach the blanket, no more are tried."""
        ratios = [ratio.from_one() for ratio in ratios]
        blankets = [pair.blanketed(ratios, rtol, method) for pair in self.pairs]
        wanted = [max(answer.lower for answer in column) * (1 - CLOSE) for column in zip(*blankets, strict=True)]
        lowers = attacked(wanted)
        return lowers, self._upper(ratios, blankets, [_attained(answer) for answer in lowers])

    def _upper(
        self, ratios: Sequence[Ratio], blankets: Sequence[Sequence[Interval]], known: Sequence[float]
    ) -> list[Interval]:
        """The smallest bound for each α, both ends of the interval alike; where the blanket cannot be told from the
        divergence that is ``known`` to be attained, nothing better is looked for."""
        largest = [Interval(0.0, 0.0, upper_by="the largest loss")] * len(ratios)
        for pair, answers in zip(self.pairs, blankets, strict=True):
            ends = {i: (answer.upper, answer.upper_by or self.name) for i, answer in enumerate(answers) if answer.upper}
            some = ends if pair.pair.laws is not None else ()
            wide = [i for i in some if answers[i].lower * (1 - CLOSE) > max(known[i], largest[i].upper)]
            least = pair.least_dropped([ratios[i] for i in wide], [known[i] for i in wide]) if wide else []
            wide = [i for i, bound in zip(wide, least, strict=True) if bound < ends[i][0]]
            for i, bound in zip(wide, pair.dropped([ratios[i] for i in wide]), strict=True):
                ends[i] = min(ends[i], bound)
            for i, (end, name) in ends.items():
                if end > largest[i].upper:
                    largest[i] = Interval(end, end, answers[i].method, upper_by=name)
        return largest


class NoiseOfAllDatasets:
    """The smallest bound on D_α, α >= 1, for all neighbouring datasets of n users of continuous noise: the blanket, for
    the inputs 0 and 1, and for Laplace, Gaussian and logistic noise the drop-out bound, for all pairs of inputs."""

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n = R, n
        noise, self._share = (R.R, R.q) if isinstance(R, SampledNoise) else (R, sp.S.One)
        self._after = ", before clipping" if isinstance(noise, AddedNoise) and noise.clip is not None else ""
        # To clip is post-processing of each message: what bounds the noise before bounds it after.
        self._noise = NoiseOfDensity(noise.density, noise.inputs, None) if self._after else noise
        self.sources, self.name = [Noise(R, n)], "blanket"

    @property
    def max_loss(self) -> sp.Expr:
        return self.sources[0].max_loss

    @property
    def farthest(self) -> float:
        """The largest ε at which there may be a drop-out bound."""
        return min(field.not_below(self.max_loss), _LARGEST_EPS)

    def log_upper(self, ratio: Ratio, rtol: float) -> tuple[float, str]:
        if ratio.at_least(self.max_loss):
            return -math.inf, "the largest loss"
        try:
            log = self.sources[0].log_delta(ratio, rtol).upper
        except NotReachedError as refusal:
            log = logarithm(refusal.answers[0]).upper
        dropped = self.drop_out(ratio)
        return min((log, self.name), (dropped.log, self._named(dropped)))

    def ends(
        self, ratios: Sequence[Ratio], rtol: float, method: str, attacked: Attacked
    ) -> tuple[list[Interval], list[Interval]]:
        """What is attained and the smaller of drop-out bound and blanket, for each α. The blanket is not computed where
        it is shown to be above the drop-out bound."""
        lowers = attacked([math.inf] * len(ratios))
        inside = [i for i, ratio in enumerate(ratios) if not ratio.at_least(self.max_loss)]
        least = {i: Interval(0.0, 0.0, upper_by="the largest loss") for i in range(len(ratios))}
        if self._laws:
            dropped = [self.drop_out(ratios[i], _attained(lowers[i])) for i in inside]
            least |= {
                i: Interval(d.value, d.value, upper_by=self._named(d)) for i, d in zip(inside, dropped, strict=True)
            }
            ends = [bound.value for bound in dropped]
            rough = self.sources[0].roughly("lower", [ratios[i] for i in inside], ends)
            inside = [i for i, blanket, end in zip(inside, rough, ends, strict=True) if blanket.lower <= end]
        for i, answer in zip(inside, self._blankets([ratios[i] for i in inside], rtol, method), strict=True):
            if not self._laws or answer.upper < least[i].upper:
                least[i] = replace(answer, lower=answer.upper, upper_by=self.name)
        return lowers, list(least.values())

    def _blankets(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """The blanket's divergence at each α, as far as it goes."""
        try:
            return self.sources[0].from_one(ratios, rtol, method) if ratios else []
        except NotReachedError as refusal:
            return refusal.answers

    def no_drop_out(self, *, equal: bool) -> str:
        """Why there is no drop-out bound; empty if there is one."""
        if self._laws is None:
            return (
                "messages must be finitely many, or those of Laplace, Gaussian or logistic noise that is not too "
                f"small, got {self.R!r}"
            )
        return f"equal others are not shown to be the worst where messages are continuous: {self.R!r}" if equal else ""

    def dropped(self, ratios: Sequence[Ratio], *, equal: bool, about: float = 0.0) -> list[tuple[float, str]]:
        """The drop-out bound and its name at each α; ``about`` as for `drop_out`."""
        bounds = [self.drop_out(ratio, about) for ratio in ratios]
        return [(bound.value, self._named(bound)) for bound in bounds]

    def _named(self, bound: dropout.Bound) -> str:
        return _NAMES[bound.method] + ("" if bound.method in _NO_BETTER else self._after)

    @cached_property
    def _laws(self) -> LaplaceLaws | SmoothLaws | None:
        if self.n < _FEWEST_USERS:
            return None
        return laplace_laws.laws_of(self._noise, self._share) or smooth_laws.laws_of(self._noise, self._share)

    @cached_property
    def _gamma(self) -> float:
        """The blanket mass, rounded down."""
        with balls.LOCK, balls.workprec(_BITS):
            share = balls.value(self._share)
            return balls.lower(share * balls.value(self._noise.gamma) + 1 - share)

    def drop_out(self, ratio: Ratio, about: float = 0.0) -> dropout.Bound:
        """The drop-out bound for all pairs of inputs; 1 where it is not evaluated. ``about`` is what it may be, if
        something is known of that. Where most pairs are close, the bound at a smaller α, at which they are not, may be
        the smaller one: it holds, because D_α does not increase with α."""
        here, laws = self._drop_out_at(ratio, about), self._laws
        if here.method == "none" or not isinstance(laws, SmoothLaws) or float(ratio) <= laws.last:
            return here
        before = self._drop_out_at(Ratio(alpha=sp.Rational(laws.last)), about)
        return min(here, before, key=lambda bound: bound.log)

    def _drop_out_at(self, ratio: Ratio, about: float) -> dropout.Bound:
        laws = self._laws
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


def of_all_datasets(R: Randomizer | Continuous | Family, n: int) -> AllDatasets | NoiseOfAllDatasets:
    """The bounds for n users of a randomizer."""
    return NoiseOfAllDatasets(R, n) if isinstance(R, Continuous) else AllDatasets(prepared(R), n)


class DropOut(Source):
    """The drop-out bound alone, for the worst of all pairs of inputs: both ends of an interval are the bound."""

    def __init__(self, bounds: AllDatasets | NoiseOfAllDatasets, *, equal: bool) -> None:
        self.bounds, self.equal, self.n = bounds, equal, bounds.n
        if self.n < _FEWEST_USERS:
            raise ValueError(f"n must be at least {_FEWEST_USERS}, got {self.n}")
        if missing := bounds.no_drop_out(equal=equal):
            raise ValueError(missing)

    @property
    def max_loss(self) -> sp.Expr:
        return self.bounds.max_loss

    def reversed(self) -> Source:
        return self  # all ordered pairs of inputs are there

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """As for other laws; a bound that is a number can be followed more closely at no cost."""
        return super().epsilon(target, rtol / 16, method)

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        return [Interval(end, end, upper_by=name) for end, name in self.bounds.dropped(ratios, equal=self.equal)]
