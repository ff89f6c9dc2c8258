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
from functools import cached_property

import mpmath
import sympy as sp

from shuffle_sym.accounting import scored
from shuffle_sym.accounting.attacks import Datasets
from shuffle_sym.accounting.bounds import DropOut, Largest, Smallest
from shuffle_sym.accounting.mechanism import Crowd, Mechanism
from shuffle_sym.accounting.sources import CLOSE, Between, PairOfLaws, Source
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric import chairs
from shuffle_sym.numeric.blanket_counts import BlanketCounts
from shuffle_sym.numeric.dropout import Bound
from shuffle_sym.randomizers.composed import Stacked
from shuffle_sym.randomizers.matrix import MatrixRandomizer
from shuffle_sym.truth import crowds

_MOST_PAIRS, _MOST_LAWS = 64, 40  # of inputs, and of laws in a group: with more of them the blanket answers
_STEP, _RARE, _RARE_STEP = 5e-4, 1e-4, 0.02  # tolerances of a step, and of one that is rare: less is not seen


class Chairs(DropOut):
    """The drop-out bound with chairs of different weights, for one ordered pair of inputs of a user of one group."""

    def __init__(self, crowd: OneGroup, x0: int, x1: int) -> None:
        self.crowd, self.n, self.max_loss, self.inputs = crowd, crowd.n, crowd.max_loss, (x0, x1)
        R, group = crowd.stacked, crowd.group
        self.X0, self.X1 = R.number(group, x0), R.number(group, x1)
        self.local = PairOfLaws(decomposition.blanket(R, self.X0, self.X1), 1)

    @cached_property
    def laws(self) -> list[list[Decomposition]]:
        """For each group with others in it, the datasets in which all others have one input of it."""
        R = self.crowd.stacked
        kinds = {g: [R.number(g, x) for x in R.parts[g].kinds(*self.inputs)] for g in R.common}
        return [list(dict.fromkeys(decomposition.dataset(R, self.X0, self.X1, x) for x in kinds[g])) for g in R.common]

    def at(self, ratios: Sequence[Ratio], between: Between) -> list[tuple[Bound, str]]:
        counts = [self.crowd.counts[g] for g in self.crowd.stacked.common]
        laws = [[D.gparv.floats_at(ratios) for D in group] for group in self.laws]
        ends = []
        for i, local in enumerate(self.local.hockey_sticks(ratios, CLOSE)):
            rows = [[(law.values[i], law.probabilities) for law in group] for group in laws]
            null = [[law.null[i] for law in group] for group in laws]
            bound = chairs.upper(rows, null, counts, self.crowd.gamma, local.upper)
            ends.append((bound, "weighted chairs" if bound.method == "chairs" else "local randomizer"))
        return ends


class CountedBlanket(Source):
    """The blanket for one ordered pair of inputs of a user of one group: the mean over how many of the others send
    from what all of them have in common."""

    def __init__(self, crowd: OneGroup, x0: int, x1: int) -> None:
        self.crowd, self.n, self.max_loss = crowd, crowd.n, crowd.max_loss
        R, group = crowd.stacked, crowd.group
        blanket = decomposition.blanket(R, R.number(group, x0), R.number(group, x1))
        self.atoms, self.local = blanket.atoms, PairOfLaws(blanket, 1)

    @cached_property
    def common(self) -> Decomposition:
        """All others send from u = c/γ."""
        R, atoms = self.crowd.stacked, self.atoms
        total = sp.Add(*R.blanket().forms)
        return Decomposition(
            [y.a for y in atoms],
            [y.b for y in atoms],
            [y.c / total for y in atoms],
            labels=[y.label for y in atoms],
            bindings=R.bindings,
            title="blanket",
        )

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        """At each α, Σ over the steps: (D of so many messages − D of the next) times the probability of fewer; the
        local divergence where that is not below what is known."""
        local = [answer.upper for answer in self.local.hockey_sticks(ratios, CLOSE)]
        totals, known = list(local), [inside.upper for inside in between] if between else local
        if self.crowd.gamma:
            steps = self.crowd.blanket_messages.steps()
            last = self._of_messages(steps[-1][0], ratios, local, _STEP)
            # Where no number of messages that is at all likely gives less, there is nothing to sum.
            open_ones = {i: (end, end) for i, end in enumerate(last) if end < known[i]}
            for (b, _), (_, fewer) in zip(reversed(steps[:-1]), reversed(steps[1:]), strict=True):
                rows, tolerance = list(open_ones), _STEP if fewer > _RARE else _RARE_STEP
                there = self._of_messages(b, [ratios[i] for i in rows], [local[i] for i in rows], tolerance)
                for i, here in zip(rows, there, strict=True):
                    total, after = open_ones.pop(i)
                    total += (max(here, after) - after) * fewer
                    if total < known[i]:
                        open_ones[i] = total, max(here, after)
            for i, (total, _) in open_ones.items():
                totals[i] = min(total * (1 + 1e-12), local[i])
        return [Interval(end, end, upper_by="blanket, counted") for end in totals]

    def _of_messages(self, b: int, ratios: Sequence[Ratio], local: Sequence[float], rtol: float) -> list[float]:
        """Upper ends of D_α with b messages from the blanket."""
        if not b or not ratios:
            return list(local)
        answers = PairOfLaws(self.common, b + 1).hockey_sticks(ratios, rtol)
        return [min(answer.upper, end) for answer, end in zip(answers, local, strict=True)]


class OneGroup(Crowd):
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
    def ordered(self) -> tuple[tuple[int, int], ...]:
        """Ordered pairs of inputs; those that a symmetry of all groups makes alike once."""
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
    def attack(self) -> Datasets:
        x0, x1 = self.ordered[0]
        inputs = [R.kinds(x0, x1) if count else [0] for (R, _), count in zip(self.parts, self.counts, strict=True)]
        return scored.datasets(self.stacked, self.group, self.counts, self.ordered, inputs)

    @cached_property
    def bounds(self) -> Source:
        """The smallest for all groups, pair of inputs by pair of inputs, and of the users of the group alone."""
        parts = self.stacked.parts
        laws = max((len(parts[g].kinds(*self.ordered[0])) for g in self.stacked.common), default=0)
        pairs = []
        for x0, x1 in self.ordered:
            named: list[tuple[str, Source]] = [("blanket, counted", CountedBlanket(self, x0, x1))]
            if len(self.ordered) <= _MOST_PAIRS and laws <= _MOST_LAWS:
                named.insert(0, ("", Chairs(self, x0, x1)))
            pairs.append(Smallest(named))
        alone: list[tuple[str, Source]] = [("", Largest(pairs))]
        if self.parts[self.group][1] > 1:
            alone.append(("own group only", self.own.bound))
        return Smallest(alone)

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

    def __repr__(self) -> str:
        return f"{list(self.parts)!r}, a user of group {self.group}"


class Groups(Crowd):
    """All groups: the worst user of any."""

    def __init__(self, parts: Sequence[tuple[Randomizer, int]]) -> None:
        self.parts, self.n = tuple(parts), sum(count for _, count in parts)
        self.each = [OneGroup(parts, i) for i in range(len(parts))]

    def of(self, R: Randomizer) -> OneGroup:
        """The group of the users of R."""
        return next(one for one in self.each if one.parts[one.group][0] == R)

    @cached_property
    def _worst_first(self) -> list[OneGroup]:
        """The groups, that one first whose users are seen best."""
        return sorted(self.each, key=lambda one: one.attack.pairs[0][1].signal, reverse=True)

    @cached_property
    def attack(self) -> Datasets:
        first = self._worst_first[0].attack
        return Datasets([pair for one in self._worst_first for pair in one.attack.pairs], self.n, first.best)

    @cached_property
    def bounds(self) -> Source:
        return Largest([one.bounds for one in self._worst_first])

    @cached_property
    def max_loss(self) -> sp.Expr:
        return sp.Max(*(one.max_loss for one in self.each))

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        return max(one.exact(alpha, digits) for one in self.each)

    def __repr__(self) -> str:
        return repr(list(self.parts))
