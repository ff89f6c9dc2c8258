r"""Users with different randomizers on one message space, shuffled together.

A user of group i changes x0 into x1; n_g users of each group g are the others, with any inputs. Upper ends are the
smallest of

=============  =======================================================================================================
local          D_α(R_i(x0) ‖ R_i(x1)): shuffling is post-processing
own group      the users of group i alone: the messages of all others given away
blanket        c <= R_g(x) for all other users, and more of the same shape: user by user a message comes from u = c/γ
               with probability γ_g, whatever the input is. Reveal the messages of those for whom it does not: with B
               messages from u left, D_α is the mean of that of B + 1 users, which falls with B (`blanket_counts`)
weighted       drop-out with chairs of different weights (`numeric.chairs`): Theorem G with one c for all, of which
chairs         Theorem 1 with user-dependent laws is the case of equal weights
=============  =======================================================================================================

Each holds at every α and for all datasets. Lower ends are datasets in which all users of a group have one input
(`scored`). The weighted chairs are not tight in the limit: for two groups of BLH, ε0 = 1 and 4, some 4 % of ε is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.accounting import bounds, scored
from shuffle_sym.accounting.mechanism import CrowdOfUsers, Mechanism, first_met
from shuffle_sym.accounting.sources import PairOfLaws, logarithm
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric import chairs
from shuffle_sym.numeric.blanket_counts import BlanketCounts
from shuffle_sym.numeric.dropout import Bound
from shuffle_sym.numeric.search import LARGEST_EPS
from shuffle_sym.numeric.transforms import NotSharpError
from shuffle_sym.randomizers.composed import Stacked
from shuffle_sym.randomizers.matrix import MatrixRandomizer
from shuffle_sym.truth import crowds

_MOST_PAIRS, _MOST_LAWS = 64, 40  # of inputs, and of laws in a group: with more of them the blanket answers
_SMALLEST = 1e-300
_ROUGH = 0.1
_STEP, _RARE, _RARE_STEP = 5e-4, 1e-4, 0.02  # tolerances of a step, and of one that is rare: less is not seen
_LOOK = 8  # every so many points of a curve all bounds are tried
_CHAIRS, _COUNTED, _ALONE = "weighted chairs", "blanket, counted", "own group only"
_ALL = frozenset((_CHAIRS, _COUNTED, _ALONE))

Ends = list[float]
NamedEnd = tuple[float, str]


class PairInGroup:
    """The bounds for one ordered pair of inputs of a user of one group."""

    def __init__(self, crowd: OneGroup, x0: int, x1: int) -> None:
        self.crowd = crowd
        R, group = crowd.stacked, crowd.group
        self.X0, self.X1 = R.number(group, x0), R.number(group, x1)
        self.x0, self.x1 = x0, x1
        self.blanket = decomposition.blanket(R, self.X0, self.X1)

    @cached_property
    def laws(self) -> list[list[Decomposition]]:
        """For each group with others in it, the datasets in which all others have one input of it."""
        R = self.crowd.stacked
        return [
            list(
                dict.fromkeys(
                    decomposition.dataset(R, self.X0, self.X1, R.number(g, x))
                    for x in R.parts[g].kinds(self.x0, self.x1)
                )
            )
            for g in R.common
        ]

    @cached_property
    def from_blanket(self) -> Decomposition:
        """All others send from u = c/γ."""
        R = self.crowd.stacked
        total = sp.Add(*R.blanket().forms)
        atoms = self.blanket.atoms
        return Decomposition(
            [y.a for y in atoms],
            [y.b for y in atoms],
            [y.c / total for y in atoms],
            labels=[y.label for y in atoms],
            bindings=R.bindings,
            title="blanket",
        )

    def local(self, ratios: Sequence[Ratio]) -> list[float]:
        """Upper ends of D_α(R(x0) ‖ R(x1))."""
        return bounds.alone(self.blanket, ratios)

    def by_chairs(self, ratios: Sequence[Ratio], local: Sequence[float]) -> list[Bound]:
        counts = [self.crowd.counts[g] for g in self.crowd.stacked.common]
        laws = [[D.gparv.floats_at(ratios) for D in group] for group in self.laws]
        ends = []
        for i in range(len(ratios)):
            rows = [[(law.values[i], law.probabilities) for law in group] for group in laws]
            null = [[law.null[i] for law in group] for group in laws]
            ends.append(chairs.upper(rows, null, counts, self.crowd.gamma, local[i]))
        return ends

    def by_blanket(self, ratios: Sequence[Ratio], local: Sequence[float], best: Sequence[float]) -> Ends:
        """At each α, Σ over the steps: (D of so many messages − D of the next) times the probability of fewer; 1 where
        that is not below the ``best`` bound so far."""
        totals = [1.0] * len(ratios)
        if not self.crowd.gamma:
            return totals
        steps = self.crowd.blanket_messages.steps()
        last = self._of_messages(steps[-1][0], ratios, local, _STEP)
        # Where no number of messages that is at all likely gives less, there is nothing to sum.
        open_ones = {i: (end, end) for i, end in enumerate(last) if end < best[i]}
        for (b, _), (_, fewer) in zip(reversed(steps[:-1]), reversed(steps[1:]), strict=True):
            places = list(open_ones)
            there = self._of_messages(
                b, [ratios[i] for i in places], [local[i] for i in places], _STEP if fewer > _RARE else _RARE_STEP
            )
            for i, here in zip(places, there, strict=True):
                total, after = open_ones.pop(i)
                total += (max(here, after) - after) * fewer
                if total < best[i]:
                    open_ones[i] = total, max(here, after)
        for i, (total, _) in open_ones.items():
            totals[i] = min(total * (1 + 1e-12), local[i])
        return totals

    def _of_messages(self, b: int, ratios: Sequence[Ratio], local: Sequence[float], rtol: float) -> Ends:
        """Upper ends of D_α with b messages from the blanket."""
        if not b or not ratios:
            return list(local)
        answers = PairOfLaws(self.from_blanket, b + 1).known(ratios, rtol, "auto")
        return [min(answer.upper, end) for answer, end in zip(answers, local, strict=True)]


class OneGroup(CrowdOfUsers):
    """A user of one group among all others: worst over this user's inputs and over all datasets of the others."""

    def __init__(self, parts: Sequence[tuple[Randomizer, int]], group: int) -> None:
        self.parts, self.group, self.n = tuple(parts), group, sum(count for _, count in parts)
        self.counts = [count - (i == group) for i, (_, count) in enumerate(parts)]
        self.own = Mechanism(parts[group][0], parts[group][1])

    @cached_property
    def stacked(self) -> Stacked:
        randomizers = [R for R, _ in self.parts]
        arguments.numeric_only(set().union(*(R.free_symbols for R in randomizers)), "a numerical answer")
        return Stacked(randomizers, [g for g, count in enumerate(self.counts) if count])

    @cached_property
    def pairs(self) -> list[PairInGroup]:
        """Ordered pairs of inputs; those that a symmetry of all groups makes alike once."""
        return [PairInGroup(self, x0, x1) for x0, x1 in self._ordered]

    @cached_property
    def _ordered(self) -> tuple[tuple[int, int], ...]:
        randomizers = [R for R, _ in self.parts]
        R = randomizers[self.group]
        same = self.stacked.one_reference or all(one.symmetric for one in randomizers)
        return R.pairs() if same else Randomizer.pairs(R)

    @cached_property
    def gamma(self) -> float:
        return field.not_above(self.stacked.gamma)

    @cached_property
    def blanket_messages(self) -> BlanketCounts:
        """How many of the others send from the common blanket: as many times c as fits below all of a group's laws."""
        R = self.stacked
        floors = R.blanket().forms
        gammas, counts = [], []
        for g in R.common:
            own = Stacked(R.parts, [g]).blanket().forms
            ratios = field.floats([a / c for a, c in zip(own, floors, strict=True) if c != 0] or [sp.S.One], R.bindings)
            gammas.append(self.gamma * float(ratios.min()) * (1 - 1e-14))
            counts.append(self.counts[g])
        return BlanketCounts(counts, gammas)

    @cached_property
    def max_loss(self) -> sp.Expr:
        return self.parts[self.group][0].eps0

    @cached_property
    def below(self) -> scored.WorstScored:
        x0, x1 = self._ordered[0]
        inputs = [R.kinds(x0, x1) if count else [0] for (R, _), count in zip(self.parts, self.counts, strict=True)]
        return scored.datasets(self.stacked, self.group, self.counts, self._ordered, inputs)

    @cached_property
    def _few(self) -> bool:
        """Whether there are few enough inputs for the bound by chairs."""
        laws = max(len(self.stacked.parts[g].kinds(*self._ordered[0])) for g in self.stacked.common)
        return len(self._ordered) <= _MOST_PAIRS and laws <= _MOST_LAWS

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        lowers = self.below.from_one(ratios, rtol, method)
        uppers = self.upper(ratios, rtol)
        return [
            Interval(lower.lower, end, "auto", lower.lower_by, by)
            for lower, (end, by) in zip(lowers, uppers, strict=True)
        ]

    def for_upper_ends(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        return [Interval(end, end, "auto", None, by) for end, by in self.curve(ratios, rtol, [0.0] * len(ratios))]

    def curve(self, ratios: Sequence[Ratio], rtol: float, enough: Sequence[float]) -> list[NamedEnd]:
        """Bounds at points of a curve, in order, as `upper` gives them for some of these. Between two of them the
        chord, where that is ``enough``: the largest divergence of all datasets is convex in α. Elsewhere the bounds
        that were the smallest at the two."""
        looked = sorted({*range(0, len(ratios), _LOOK), len(ratios) - 1})
        found = self.upper([ratios[i] for i in looked], rtol, [enough[i] for i in looked])
        ends = dict(zip(looked, found, strict=True))
        open_ones: dict[frozenset[str], list[int]] = {}
        for first, last in pairwise(looked):
            (left, by), (right, other) = ends[first], ends[last]
            width = float(ratios[last].alpha - ratios[first].alpha)
            for i in range(first + 1, last):
                chord = left + (right - left) * float(ratios[i].alpha - ratios[first].alpha) / width
                ends[i] = chord + 1e-12 * left, by
                if ends[i][0] > enough[i]:
                    open_ones.setdefault(frozenset((by, other)), []).append(i)
        for names, some in open_ones.items():
            found = self.upper([ratios[i] for i in some], rtol, [enough[i] for i in some], names)
            ends.update((i, min(ends[i], end)) for i, end in zip(some, found, strict=True))
        return [ends[i] for i in range(len(ratios))]

    def upper(
        self, ratios: Sequence[Ratio], rtol: float, enough: Sequence[float] | None = None, bounds: frozenset[str] = _ALL
    ) -> list[NamedEnd]:
        """The smallest of some bounds at each α and its name; once one is at most ``enough`` no other is tried."""
        enough = [0.0] * len(ratios) if enough is None else enough
        largest = [(0.0, "the largest loss")] * len(ratios)
        for pair in self.pairs:
            local = pair.local(ratios)
            ends = [(end, "local randomizer") for end in local]
            some = [i for i, (end, _) in enumerate(ends) if end > max(largest[i][0], enough[i])]
            if some and self._few and _CHAIRS in bounds:
                seated = pair.by_chairs([ratios[i] for i in some], [local[i] for i in some])
                for i, bound in zip(some, seated, strict=True):
                    ends[i] = min(ends[i], (bound.value, _CHAIRS if bound.method == "chairs" else ends[i][1]))
            some = [i for i in some if ends[i][0] > max(largest[i][0], enough[i]) and _COUNTED in bounds]
            counted = pair.by_blanket([ratios[i] for i in some], [local[i] for i in some], [ends[i][0] for i in some])
            for i, end in zip(some, counted, strict=True):
                ends[i] = min(ends[i], (end, _COUNTED))
            largest = [max(one, other) for one, other in zip(largest, ends, strict=True)]
        return self._or_alone(ratios, rtol, largest, enough) if _ALONE in bounds else largest

    def _or_alone(
        self, ratios: Sequence[Ratio], rtol: float, known: list[NamedEnd], enough: Sequence[float]
    ) -> list[NamedEnd]:
        """Those of the users of the group alone, where their best attack does not show that they are larger."""
        if self.parts[self.group][1] < 2:
            return known
        attacks = self.own.below.from_one(ratios, _ROUGH, "auto")
        some = [i for i, attack in enumerate(attacks) if enough[i] < known[i][0] > attack.lower]
        if some:
            for i, answer in zip(some, self.own.above.from_one([ratios[i] for i in some], rtol, "auto"), strict=True):
                known[i] = min(known[i], (answer.upper, _ALONE))
        return known

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """The lower end from datasets, the upper end by a search."""
        low = self.below.epsilon(target, rtol, method)
        high = field.not_below(self.max_loss)
        if self.max_loss is sp.oo:
            high = max(low.lower, 1e-3)
            while self._bound_at(rtol)(high).upper > target:
                if high == LARGEST_EPS:
                    raise NotSharpError(
                        f"delta = {target:g} is not reached by any eps <= {LARGEST_EPS:g} for {self!r}: "
                        "some messages may prove an input; ask for a larger delta"
                    )
                high = min(2 * high, LARGEST_EPS)
        end, by = first_met(self._bound_at(rtol), target, low.lower, high, rtol)
        return replace(low, upper=end, upper_by=by or "the largest loss")

    def _bound_at(self, rtol: float) -> Any:
        def bound_at(eps: float) -> Interval:
            ((end, by),) = self.upper([Ratio(eps=sp.Rational(str(eps)))], rtol)
            return Interval(end, end, upper_by=by)

        return bound_at

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """The maximum over all datasets that differ in a user of this group, by brute force."""
        for R, _ in self.parts:
            if field.fractions([e for row in R.rows() for e in row], R.bindings) is None:
                raise ValueError(f"exact values are for rational probabilities, as with eps0 = sp.log(3), got {R!r}")
        # The columns of the stacked rows are the same messages for all.
        rows, bindings = self.stacked.rows(), self.stacked.bindings
        firsts = [self.stacked.number(g, 0) for g in range(len(self.parts))]
        parts = [
            (MatrixRandomizer(rows[first : first + int(R.input_count)], bindings), count)
            for first, (R, count) in zip(firsts, self.parts, strict=True)
        ]
        return crowds.worst_of_groups(parts, self.group, alpha)

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        """From δ itself; where that is no double, from the chairs."""
        (answer,) = self.from_one([ratio], rtol, "auto")
        if answer.upper > _SMALLEST or not self._few:
            return replace(logarithm(answer), lower_by=answer.lower_by, upper_by=answer.upper_by)
        ends = [pair.by_chairs([ratio], pair.local([ratio]))[0].log for pair in self.pairs]
        return Interval(logarithm(answer).lower, max(ends), "auto", answer.lower_by, _CHAIRS)

    def __repr__(self) -> str:
        return f"{list(self.parts)!r}, a user of group {self.group}"


class Groups(CrowdOfUsers):
    """All groups: the worst user of any."""

    def __init__(self, parts: Sequence[tuple[Randomizer, int]]) -> None:
        self.parts, self.n = tuple(parts), sum(count for _, count in parts)
        self.each = [OneGroup(parts, i) for i in range(len(parts))]

    def of(self, R: Randomizer) -> OneGroup:
        """The group of the users of R."""
        return next(one for one in self.each if one.parts[one.group][0] == R)

    @property
    def below(self) -> scored.WorstScored:
        """Those of the group whose users can be seen best."""
        return max((one.below for one in self.each), key=lambda below: below.pairs[0].signal)

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Max(*(one.max_loss for one in self.each))

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        ordered = self._worst_first
        lowers = [
            max(c, key=lambda a: a.lower)
            for c in zip(*(o.below.from_one(ratios, rtol, method) for o in ordered), strict=True)
        ]
        uppers = ordered[0].upper(ratios, rtol)
        for one in ordered[1:]:
            others = one.upper(ratios, rtol, [end for end, _ in uppers])
            uppers = [max(known, other) for known, other in zip(uppers, others, strict=True)]
        return [
            Interval(lower.lower, end, "auto", lower.lower_by, by)
            for lower, (end, by) in zip(lowers, uppers, strict=True)
        ]

    def for_upper_ends(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        ends = [(0.0, "the largest loss")] * len(ratios)
        for one in self._worst_first:
            ends = [max(pair) for pair in zip(ends, one.curve(ratios, rtol, [end for end, _ in ends]), strict=True)]
        return [Interval(end, end, "auto", None, by) for end, by in ends]

    @cached_property
    def _worst_first(self) -> list[OneGroup]:
        return sorted(self.each, key=lambda one: one.below.pairs[0].signal, reverse=True)

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """That of the group whose users are seen best; others count where their bounds do not meet the target."""
        first, *others = self._worst_first
        answer = first.epsilon(target, rtol, method)
        there = Ratio(eps=sp.Rational(str(answer.upper)))
        open_ones = [one for one in others if one.upper([there], rtol, [target])[0][0] > target]
        return _worst([answer, *(one.epsilon(target, rtol, method) for one in open_ones)])

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        return max(one.exact(alpha, digits) for one in self.each)

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        return _worst([one.log_delta(ratio, rtol) for one in self.each])

    def __repr__(self) -> str:
        return repr(list(self.parts))


def _worst(answers: Sequence[Interval]) -> Interval:
    """The largest of several intervals, end by end, with what each end comes from."""
    low, high = max(answers, key=lambda a: a.lower), max(answers, key=lambda a: a.upper)
    return replace(high, lower=low.lower, lower_by=low.lower_by)
