r"""The mechanism: n users of one randomizer, shuffled.

Two neighbouring datasets attain the lower end of an answer; the upper end holds for all neighbouring datasets.
"""

from __future__ import annotations

import decimal
import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import mpmath
import sympy as sp
from flint import arb

from shuffle_sym.accounting.attacks import Datasets, datasets_of
from shuffle_sym.accounting.bounds import of_all_datasets
from shuffle_sym.accounting.sources import CLOSE, Between, Source, ratio_at
from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.interval import Interval, decimal_interval
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Family, Randomizer
from shuffle_sym.numeric.search import LARGEST_EPS, smallest_eps_meeting
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.truth import exact, ground_truth, two_messages
from shuffle_sym.truth.two_messages import DatasetPair, TwoMessages

_OF_CURVES = 0.01  # relative precision of δ of noise, which moves ε by a tenth of that
_DIGITS = 25  # of what is multiplied out
_A_MOMENT = 0.1  # seconds that this may take, for one α
_MOST_INPUTS = 8  # with more of them it takes long to find out which datasets are alike
_VERY_FEW_USERS = 30  # more of them take longer than that whatever the randomizer is
_ALL = "all datasets"
_FEW_USERS = 2000  # up to here all datasets with two messages are tried in a tenth of a second


def ask(
    sources: Sequence[tuple[str, Source]],
    ratios: Sequence[Ratio],
    rtol: float,
    method: str = "auto",
    between: Between = None,
) -> list[Interval]:
    """D_α for each α from several sources, in this order, until both ends meet or no source is left.

    With each source stands which of its ends count: "lower" for an attack, "upper" for a bound, "both" for what knows
    all datasets. A source is told what is known so far, and no more is asked about what is not ``between``.
    """
    limits = between or [Interval(0.0, 1.0)] * len(ratios)
    answers = [Interval(0.0, 1.0)] * len(ratios)
    for side, source in sources:
        rows = [
            i
            for i, (answer, limit) in enumerate(zip(answers, limits, strict=True))
            if limit.lower < answer.upper
            and answer.lower < limit.upper
            and (answer.upper * (1 - max(rtol, CLOSE)) > answer.lower or answer.upper_by is None)
        ]
        found = (
            source.hockey_sticks([ratios[i] for i in rows], rtol, method, [answers[i] for i in rows]) if rows else []
        )
        for i, new in zip(rows, found, strict=True):
            if side != "upper" and (new.lower > answers[i].lower or answers[i].lower_by is None):
                answers[i] = replace(answers[i], lower=new.lower, lower_by=new.lower_by)
            if side != "lower" and (new.upper < answers[i].upper or answers[i].upper_by is None):
                answers[i] = replace(answers[i], upper=new.upper, upper_by=new.upper_by, method=new.method)
    return answers


class Crowd(Source):
    """Users and a shuffler: lower ends from datasets, upper ends for all datasets, in both directions."""

    @property
    @abstractmethod
    def attack(self) -> Datasets:
        """The datasets behind the lower ends; ``best`` is one pair of laws, whose curve can be composed."""

    @property
    @abstractmethod
    def bounds(self) -> Source:
        """What holds for all datasets, whatever is known of lower ends."""

    @property
    def every_dataset(self) -> Source | None:
        """The divergence of the worst of all datasets, where it is little work to try them."""
        return None

    @cached_property
    def bound(self) -> Source:
        """The upper ends as a function of their own."""
        return UpperEnds(self)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        sources: list[tuple[str, Source]] = [
            ("lower", self.attack.first),
            ("upper", self.bounds),
            ("lower", self.attack.rest),
        ]
        if self.every_dataset:
            sources.append(("both", self.every_dataset))
        return ask(sources, ratios, rtol, method, between)

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        """The lower end from datasets; the upper end where the bound meets the target, or from all datasets."""
        self.refuse_what_no_epsilon_meets(target)
        low = self.attack.epsilon(target, rtol, method)

        wanted = Interval(target * (1 - CLOSE), 1.0)  # whether it is at most the target, not only close to it

        def bound_at(eps: float, tolerance: float) -> Interval:
            return self.bounds.hockey_sticks([ratio_at(eps)], tolerance, method, [wanted])[0]

        ceiling = field.not_below(self.max_loss)
        end, by = smallest_eps_meeting(bound_at, target, low.lower, ceiling, rtol)
        answer = replace(low, upper=end, upper_by=by or "the largest loss")
        if self.every_dataset and answer.relative_width > max(rtol, CLOSE):
            every = self.every_dataset.epsilon(target, rtol)
            if every.lower > answer.lower:
                answer = replace(answer, lower=every.lower, lower_by=every.lower_by)
            if every.upper < answer.upper:
                answer = replace(answer, upper=every.upper, upper_by=every.upper_by, method=every.method)
        if answer.upper == math.inf:
            raise NotSharpError(
                f"delta = {target:g} is not reached by any eps <= {LARGEST_EPS:g} for {self!r}: "
                "some messages may prove an input; ask for a larger delta"
            )
        return answer

    def refuse_what_no_epsilon_meets(self, target: float) -> None:
        """An error if δ(ε) is known to be larger for every ε."""

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        low, high = self.attack.log_delta(ratio, rtol), self.bounds.log_delta(ratio, rtol)
        return Interval(low.lower, high.upper, low.method, low.lower_by, high.upper_by)

    def decompositions(self) -> tuple[Decomposition, ...]:
        raise TypeError(f"{self!r} is a mechanism, which is not analysed by one pair of laws")

    def to_digits(self, ratio: Ratio, digits: int) -> Interval:
        value = arguments.exact_number(self.exact(ratio.alpha, digits + 3), "value")
        with balls.LOCK, balls.workprec(4 * digits + 64):
            off = arb(0, 1) / 10 ** (digits + 3)  # of an mpf; nothing, in fact, of a fraction
            return decimal_interval(balls.ball(value) * (1 + off), digits)


class UpperEnds(Source):
    """The upper ends of a mechanism: both ends of an interval are the bound, where it is not known to be aside."""

    def __init__(self, mechanism: Crowd) -> None:
        self.mechanism, self.n, self.max_loss = mechanism, mechanism.n, mechanism.max_loss

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        crowd = self.mechanism
        sources: list[tuple[str, Source]] = [("lower", crowd.attack.first), ("upper", crowd.bounds)]
        if isinstance(crowd.every_dataset, TwoMessageDatasets) and method == "auto":
            sources.insert(0, ("both", crowd.every_dataset))  # it takes less time than a bound
        answers = ask(sources, ratios, rtol, method, between)
        return [replace(answer, lower=answer.upper) for answer in answers]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return self.mechanism.bounds.log_delta(ratio, rtol)


class TwoMessageDatasets(Source):
    """The worst of all datasets of users with two messages."""

    def __init__(self, R: Randomizer, n: int) -> None:
        self.truth, self.n, self.max_loss = TwoMessages(R, n), n, R.eps0

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        return [replace(self.truth.delta(ratio.eps), upper_by=_ALL) for ratio in ratios]

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        return replace(self.truth.epsilon(target, rtol=rtol), upper_by=_ALL)


class FewDatasets(Source):
    """The worst of all datasets of so few users that they are multiplied out in a moment; where they are more, nothing
    is known."""

    def __init__(self, R: Randomizer, n: int) -> None:
        self.R, self.n, self.max_loss = R, n, R.eps0

    @cached_property
    def _few(self) -> bool:
        if self.R.input_count > _MOST_INPUTS:
            return False
        try:
            return ground_truth.seconds(self.R, self.n, rational=False) <= _A_MOMENT
        except ValueError:  # too many messages to be listed
            return False

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        if not self._few:
            return [Interval(0.0, 1.0)] * len(ratios)
        return list(map(_worst, ground_truth.worst_pairs(self.R, self.n, [ratio.alpha for ratio in ratios], _DIGITS)))

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        if not self._few:
            return Interval(0.0, field.not_below(self.max_loss))
        answer = super().epsilon(target, rtol)
        (there,) = self.hockey_sticks([ratio_at(answer.lower)], rtol)
        return replace(there, lower=answer.lower, upper=answer.upper)


def _worst(pair: ground_truth.WorstPair) -> Interval:
    """The doubles next to the divergence of the worst pair, which has that many digits, and its datasets."""
    with balls.LOCK, balls.workprec(128):
        value = balls.ball(arguments.exact_number(pair.delta, "delta")) * (1 + arb(0, 1) / 10 ** (_DIGITS - 1))
    first, second = Counter(pair.X0), Counter(pair.X1)
    ((x0,), (x1,)) = (first - second).elements(), (second - first).elements()
    worst = DatasetPair(x0, x1, dict(sorted((first & second).items())))
    return Interval(max(balls.lower(value), 0.0), min(balls.upper(value), 1.0), "all datasets", worst, _ALL)


class Mechanism(Crowd):
    """n users of one randomizer."""

    def __init__(self, R: Randomizer | Continuous | Family, n: int) -> None:
        self.R, self.n = R, n

    @cached_property
    def attack(self) -> Datasets:
        arguments.numeric_only(self.R.free_symbols, "a numerical answer")
        return datasets_of(self.R, self.n)

    @cached_property
    def bounds(self) -> Source:
        arguments.numeric_only(self.R.free_symbols, "a numerical answer")
        return of_all_datasets(self.R, self.n)

    @cached_property
    def every_dataset(self) -> TwoMessageDatasets | FewDatasets | None:
        if not isinstance(self.R, Randomizer):
            return None
        if self.n <= _FEW_USERS and two_messages.has_two_messages(self.R):
            return TwoMessageDatasets(self.R, self.n)
        return FewDatasets(self.R, self.n) if self.n <= _VERY_FEW_USERS else None

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.bounds.max_loss

    def refuse_what_no_epsilon_meets(self, target: float) -> None:
        refuse_less_than_proofs(self.R, sp.S.One, target)

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

    def __repr__(self) -> str:
        return repr(self.R)


def refuse_less_than_proofs(R: Randomizer | Continuous | Family, share: sp.Expr, target: float) -> None:
    """Refuse a δ below the probability of messages that are impossible for another input, of a user who takes part with
    probability ``share``. If all others have that input, nobody else sends such a message: it proves the input of its
    sender, however many users are shuffled."""
    if not isinstance(R, Randomizer) or R.eps0 is not sp.oo:
        return
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
