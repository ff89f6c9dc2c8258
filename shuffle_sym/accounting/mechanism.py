r"""The mechanism: n users of one randomizer, shuffled.

Two neighbouring datasets attain the lower end of an answer; the upper end holds for all neighbouring datasets.
"""

import decimal
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import mpmath
import sympy as sp
from flint import arb

from shuffle_sym.accounting.attacks import Datasets, datasets_of, gaussian_slope
from shuffle_sym.accounting.bounds import CLOSE, AllDatasets, NoiseOfAllDatasets, of_all_datasets
from shuffle_sym.accounting.sources import SMALLEST, Source, largest
from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.interval import Interval, decimal_interval
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family, Randomizer
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.truth import exact, ground_truth, two_messages
from shuffle_sym.truth.two_messages import TwoMessages

_MOST_STEPS = 30
_OF_CURVES = 0.01  # relative precision of δ of noise, which moves ε by a tenth of that
_AHEAD = 1 / 3  # of rtol, beyond where an ε of noise is looked for: a step more costs more than what that may lose
_FEW_USERS = 2000  # up to here all datasets with two messages are tried in a tenth of a second


class CrowdOfUsers(Source):
    """Users and a shuffler: lower ends from datasets, upper ends for all datasets, in both directions."""

    @property
    @abstractmethod
    def below(self) -> Any:
        """The attacks behind the lower ends; ``best`` is one pair of datasets, whose curve can be composed."""

    @cached_property
    def above(self) -> Source:
        """The bounds behind the upper ends."""
        return _UpperEnds(self)

    def for_upper_ends(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """D_α for each α >= 1, where only the upper ends will be looked at."""
        return self.from_one(ratios, rtol, method)

    @property
    def impossible(self) -> float:
        return float(self.below.best.impossible)

    def reversed(self) -> Source:
        return self  # all ordered pairs of inputs are there

    def decompositions(self) -> tuple[Decomposition, ...]:
        raise TypeError(f"{self!r} is a mechanism, which is not analysed by one pair of laws")

    def to_digits(self, ratio: Ratio, digits: int) -> Interval:
        value = arguments.exact_number(self.exact(ratio.alpha, digits + 3), "value")
        with balls.LOCK, balls.workprec(4 * digits + 64):
            off = arb(0, 1) / 10 ** (digits + 3)  # of an mpf; nothing, in fact, of a fraction
            return decimal_interval(balls.ball(value) * (1 + off), digits)


class Mechanism(CrowdOfUsers):
    """n users of one randomizer."""

    #: The probability that the user who differs is among those who are shuffled.
    share: sp.Expr = sp.Integer(1)

    def __init__(self, R: Randomizer | Continuous | Family, n: int) -> None:
        self.R, self.n = R, n

    @cached_property
    def below(self) -> Datasets:
        """The datasets behind the lower ends."""
        arguments.numeric_only(self.R.free_symbols, "a numerical answer")
        return datasets_of(self.R, self.n)

    @cached_property
    def bounds(self) -> AllDatasets | NoiseOfAllDatasets:
        arguments.numeric_only(self.R.free_symbols, "a numerical answer")
        return of_all_datasets(self.R, self.n)

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.bounds.max_loss

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        return self._ends(ratios, rtol, method)

    def for_upper_ends(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        """From all datasets, where they are few, because that takes less time than a bound. Bounds for continuous noise
        are only as sharp as curves need them."""
        rtol = max(rtol, _OF_CURVES) if isinstance(self.bounds, NoiseOfAllDatasets) else rtol
        few = self.all_datasets if method == "auto" else None
        truths = [few.delta(ratio.eps) for ratio in ratios] if few else []
        answers = {i: truth for i, truth in enumerate(truths) if truth.relative_width <= min(rtol, CLOSE)}
        if rest := [i for i in range(len(ratios)) if i not in answers]:
            answers.update(zip(rest, self._ends([ratios[i] for i in rest], rtol, method, most=1), strict=True))
        return [answers[i] for i in range(len(ratios))]

    def _ends(self, ratios: Sequence[Ratio], rtol: float, method: str, most: int | None = None) -> list[Interval]:
        """D_α for each α >= 1; with lower ends from the first ``most`` pairs of datasets, or from all."""
        attacked = partial(self.below.at_least, ratios, rtol, method, most=most)
        lowers, uppers = self.bounds.ends(ratios, rtol, method, attacked)
        both = zip(lowers, uppers, strict=True)
        answers = [replace(upper, lower=lower.lower, lower_by=lower.lower_by) for lower, upper in both]
        return [self._closed(answer, ratio, rtol) for answer, ratio in zip(answers, ratios, strict=True)]

    @cached_property
    def all_datasets(self) -> TwoMessages | None:
        """Every dataset there is, where that is little work: two messages and few users."""
        few = self.n <= _FEW_USERS and two_messages.has_two_messages(self.R)
        return TwoMessages(self.R, self.n) if few and isinstance(self.R, Randomizer) else None

    def _closed(self, answer: Interval, ratio: Ratio, rtol: float) -> Interval:
        """The answer, or one from all datasets if it is wide and these can be tried."""
        if answer.upper * (1 - max(rtol, CLOSE)) <= answer.lower or self.all_datasets is None:
            return answer
        truth = self.all_datasets.delta(ratio.eps)
        if truth.lower > answer.lower:
            answer = replace(answer, lower=truth.lower, lower_by=self.all_datasets.worst(ratio.eps))
        return replace(answer, upper=truth.upper, upper_by="all datasets") if truth.upper < answer.upper else answer

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """The lower end from datasets, the upper end from the blanket if that meets it, else from all bounds. For
        noise the drop-out bound is asked first, and the blanket if it is not shown to be no better."""
        if self.max_loss is sp.oo and isinstance(self.R, Randomizer):
            _refuse_less_than_proofs(self.R, self.share, target)
        low, bounds = self.below.epsilon(target, rtol, method), self.bounds
        end, by = math.inf, None
        if isinstance(bounds, NoiseOfAllDatasets) and not bounds.no_drop_out(equal=False):
            bound_at = partial(_bound_of_noise, bounds, target)
            end, by = first_met(bound_at, target, low.lower, bounds.farthest, rtol, ahead=_AHEAD)
            (blanket,) = bounds.sources[0].roughly("lower", [Ratio(eps=sp.Rational(str(end)))], [target])
            if by and blanket.lower > target:
                return replace(low, upper=end, upper_by=by)
        blanket = self.above_by_blanket(target, rtol, method)
        if isinstance(bounds, NoiseOfAllDatasets):
            end, by = min((end if by else math.inf, by), (blanket.upper, blanket.upper_by), key=lambda one: one[0])
            return replace(low, upper=end, upper_by=by)
        answer = replace(low, upper=blanket.upper, upper_by=blanket.upper_by)
        if blanket.upper <= low.lower * (1 + rtol):
            return answer
        if self.all_datasets is not None:
            truth = self.all_datasets.epsilon(target, rtol=rtol)
            if truth.relative_width <= max(rtol, CLOSE):
                worst = self.all_datasets.worst(truth.lower)
                return Interval(truth.lower, truth.upper, truth.method, worst, "all datasets")
        if blanket.lower > 0 and bounds.no_drop_out(equal=False):
            return answer  # no bound is smaller
        bound, by = first_met(partial(self._bound_at, rtol=rtol, method=method), target, low.lower, blanket.upper, rtol)
        return replace(answer, upper=bound, upper_by=by or blanket.upper_by)

    def above_by_blanket(self, target: float, rtol: float, method: str) -> Interval:
        """ε by the blanket alone, or from 0 to the largest loss where no method is sharp enough for it."""
        name = "the largest loss" if self.max_loss == 0 else self.bounds.name
        try:
            answers = [source.known_epsilon(target, rtol, method) for source in self.bounds.sources]
        except NotSharpError:
            if method != "auto" or self.max_loss is sp.oo:
                raise
            return Interval(0.0, field.not_below(self.max_loss), upper_by="the largest loss")
        return replace(largest(answers, method), upper_by=name)

    def _bound_at(self, eps: float, rtol: float, method: str) -> Interval:
        """The bound for all datasets."""
        try:
            return self.above.from_one([Ratio(eps=sp.Rational(str(eps)))], rtol, method)[0]
        except NotSharpError:
            return Interval(1.0, 1.0)

    def decompositions(self) -> tuple[Decomposition, ...]:
        if isinstance(self.R, Continuous):
            return Source.decompositions(self)
        raise TypeError(
            f"{self!r} is a mechanism, which is not analysed by one pair of laws; those of its blanket are "
            "ss.decomposition.blankets(R), and Shuffle takes them in the place of R"
        )

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """The maximum over all neighbouring datasets, by brute force."""
        if isinstance(self.R, Continuous):
            self.decompositions()  # says what to do with continuous noise
        if not isinstance(self.R, Randomizer):
            raise TypeError(f"exact values are for one randomizer, such as KRR(k=3, eps0=…), got {self.R!r}")
        self._refuse_too_many_users("exact(alpha)", alpha)
        return ground_truth.worst_pair(self.R, self.n, alpha, digits).delta

    def to_digits(self, ratio: Ratio, digits: int) -> Interval:
        self._refuse_too_many_users(f"digits = {digits}", ratio.alpha)
        return super().to_digits(ratio, digits)

    def _refuse_too_many_users(self, asked: str, alpha: sp.Expr) -> None:
        if not isinstance(self.R, Randomizer) or self.R.free_symbols or not self.R.input_count.is_Integer:
            return  # refused for another reason
        most = ground_truth.users_within(self.R, exact.MOST_SECONDS, rational=bool(alpha.is_Rational))
        if self.n > most:
            raise ValueError(
                f"{asked} compares all neighbouring datasets, which ends within {exact.MOST_SECONDS:g} s up to "
                f"n = {most} for {self.R!r}, got n = {self.n}; use delta(eps, rtol=…), which has certified bounds for "
                "every n"
            )

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        ends = [pair.log_delta(ratio, rtol).lower for pair in self.below.laws]
        upper, by = self.bounds.log_upper(ratio, rtol)
        return Interval(max(ends), upper, "contour", self.below.neighbours[ends.index(max(ends))], by)

    def __repr__(self) -> str:
        return repr(self.R)


def _refuse_less_than_proofs(R: Randomizer, share: sp.Expr, target: float) -> None:
    """Refuse a δ below the probability of messages that are impossible for another input. If all others have that
    input, nobody else sends such a message: it proves the input of its sender, however many users are shuffled."""
    most, proof = 0.0, ""
    for x0, x1 in R.pairs():
        only = [y for y in R.classes(x0, x1) if field.is_zero(y.masses[1], R.bindings) and y.masses[0] != 0]
        mass = field.substitute(share * sum(y.masses[0] for y in only), R.bindings)
        if (least := field.not_above(mass)) > max(most, target):
            names = [" with ".join(re.findall(r"y = (\w+)", y.label)) or y.label for y in only]
            are = f"message {names[0]} is" if len(names) == 1 else f"messages {', '.join(names)} are"
            most, proof = least, f"{are} impossible for input {x1}, so δ(ε) ≥ {_from_below(mass)} for every ε"
    if proof:
        raise ValueError(
            f"no ε meets delta = {target:g}: {proof}. Ask for a delta that is not below that, or change the randomizer "
            "so that every input can send every message"
        )


def _from_below(mass: sp.Expr) -> str:
    """Six digits of a number, rounded down."""
    with decimal.localcontext(prec=6, rounding=decimal.ROUND_FLOOR):
        return f"{decimal.Decimal(str(mass.evalf(30, strict=True))).normalize():g}"


def _bound_of_noise(bounds: NoiseOfAllDatasets, target: float, eps: float) -> Interval:
    """A bound for all datasets, which is of use if it is not above the target: a few cells of the blanket or, where
    these do not meet it, the drop-out bound."""
    ratios = [Ratio(eps=sp.Rational(str(eps)))]
    (rough,) = bounds.sources[0].roughly("upper", ratios, [target])
    if rough.upper <= target:
        return Interval(rough.upper, rough.upper, upper_by=bounds.name)
    ((end, name),) = bounds.dropped(ratios, equal=False, about=target)
    return Interval(end, end, upper_by=name)


class _UpperEnds(Source):
    """The upper ends of a mechanism as a function of their own: both ends of an interval are the bound."""

    def __init__(self, mechanism: CrowdOfUsers) -> None:
        self.mechanism, self.n = mechanism, mechanism.n

    @property
    def max_loss(self) -> sp.Expr:
        return self.mechanism.max_loss

    def reversed(self) -> Source:
        return self

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        answers = self.mechanism.for_upper_ends(ratios, rtol, method)
        return [replace(answer, lower=answer.upper) for answer in answers]


def first_met(
    bound_at: Callable[[float], Interval], target: float, low: float, high: float, rtol: float, ahead: float = 1 / 8
) -> tuple[float, str | None]:
    """An ε between ``low`` and ``high`` at which the bound is at most the target, and the name of the bound
    there, None at ``high``.

    ``high`` is known to meet it. The bound is close to what is attained at ``low``, and its logarithm is nearly a
    straight line, with the slope of a normal law at first: secants from there, each a little beyond its aim, the first
    one by ``ahead`` of ``rtol``, until the last ε that fails, or where the line says that the bound is the target, is
    within half of ``rtol``.
    """
    by: str | None = None
    beyond, x = ahead * rtol, low
    slope = gaussian_slope(low, target) if low else math.inf
    last, too_much = low, math.inf  # the last ε that fails, and the logarithm of what it is off by
    for _ in range(_MOST_STEPS):
        answer = bound_at(x)
        excess = math.log(max(answer.upper, SMALLEST) / target)
        if x > last and too_much > excess:
            slope = (too_much - excess) / (x - last)
        if answer.upper <= target:
            high, by, crossing = x, answer.upper_by, x + excess / slope
        else:
            last, too_much, crossing = x, excess, x
        if high - crossing <= rtol * high / 2:
            break
        aim = last + too_much / slope + beyond * high
        x = min(max(aim, last + beyond * high), (last + high) / 2)
        beyond = min(2 * beyond, 0.45 * rtol)  # less than what is close enough
    return high, by
