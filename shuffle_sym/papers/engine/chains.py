r"""Chains of lines: a line starts where the last one of its chain ended, and is shown when it is written.

What it may use are the facts that are handed to it, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine import growth, prover
from shuffle_sym.papers.engine.assumptions import Condition, Conditions, conditions, implied, refuse_gaps
from shuffle_sym.papers.engine.facts import Applied, Fact
from shuffle_sym.papers.engine.quantities import is_random
from shuffle_sym.papers.engine.sums import apart, bound_elsewhere
from shuffle_sym.papers.engine.using import Holds, Ranges, follows, follows_with, index_ranges, own_conditions, used
from shuffle_sym.papers.engine.values import denominators, refuse_indices

Grid = Mapping[sp.Symbol, Sequence[Any]]


class OnGrid(NamedTuple):
    """The line is checked for these values, exactly, and nowhere else."""

    values: Grid


class Telescoping(NamedTuple):
    """The sum on the left has terms that are differences of this formula in its index."""

    certificate: sp.Expr


class Growing(NamedTuple):
    """The inequality holds at ``start``, and its difference does not fall in ``symbol`` from there on."""

    symbol: sp.Symbol
    start: sp.Expr


def on_grid(values: Grid) -> OnGrid:
    """A reason: the line is *checked* for all combinations of these exact values, not proved."""
    if not values or not all(len(chosen) for chosen in values.values()):
        raise ValueError(f"values must have at least one value for each symbol, got {values}")
    return OnGrid({symbol: tuple(chosen) for symbol, chosen in values.items()})


def telescoping(certificate: Any) -> Telescoping:
    """A reason: the terms of the sum on the left are T(i + 1) − T(i), with this formula T in the index i."""
    return Telescoping(sp.sympify(certificate))


def growing(symbol: sp.Symbol, start: Any = 0) -> Growing:
    """A reason: an inequality holds at the start, and a derivative of the difference is not negative from there on."""
    return Growing(symbol, sp.sympify(start))


@dataclass(frozen=True, eq=False, repr=False)
class Line(Fact):
    """One line of a chain with its reasons: facts that it uses, or how it is shown. A wrong one cannot be built.

    >>> x = sp.Symbol("x")
    >>> Line((x + 1) ** 2, "=", x**2 + 2 * x + 1, "expand").status
    'proved'
    """

    reasons: tuple[Any, ...] = ()
    status: str = field(init=False, default="")
    evidence: str = field(init=False, default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.left == self.right:
            raise VerificationError(f"{self.words}: a line that says nothing: {self.relational()}")
        for side in (self.left, self.right):
            infinite = not prover.is_finite(side) or any(one.doit() == 0 for one in denominators(side))
            if infinite or side.has(sp.Float, sp.nan, sp.zoo, sp.I):
                raise VerificationError(f"{self.words}: not an exact formula: {side}")
            refuse_indices(side, self.under)
        self._refuse_logarithms()
        status, evidence = self._shown()
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "evidence", evidence)

    def _refuse_logarithms(self) -> None:
        """Raise unless the logarithms on the smaller side, but those of the facts, are of positive numbers, so that
        those on the larger side are, too. Where a formula divides by 0 it is undefined anyway."""
        smaller = {"<=": self.left, ">=": self.right}.get(self.relation, sp.Integer(0))
        known = set().union(*(side.atoms(sp.log) for fact in self.uses for side in (fact.left, fact.right)))
        for one in smaller.atoms(sp.log) - known:
            above, below = sp.fraction(sp.together(one.args[0]))
            shown = prover.is_positive(above) and prover.is_nonnegative(below)
            if not shown and not implied(sp.Gt(one.args[0], 0, evaluate=False), self.under):
                raise VerificationError(f"{self.words}: {one} must be real, which is not shown")

    @property
    def kind(self) -> str:
        return self.status

    @property
    def uses(self) -> tuple[Fact, ...]:
        return tuple(reason for reason in self.reasons if isinstance(reason, Fact))

    @property
    def lines(self) -> tuple[Line, ...]:
        return (self,)

    def _shown(self) -> tuple[str, str]:
        ways = [reason for reason in self.reasons if not isinstance(reason, Fact)]
        if len(ways) > 1 or not all(isinstance(way, (OnGrid, Telescoping, Growing)) for way in ways):
            raise TypeError(f"reasons must be facts, and one of on_grid, telescoping, growing at most, got {ways}")
        before, after = self._with_facts()
        if self.relation == ">=":
            before, after = after, before
        if ways and isinstance(ways[0], OnGrid):
            self._check(ways[0].values, before, after)
            ranges = ", ".join(
                rf"${latex.formula(symbol)} \in {latex.formula(sp.FiniteSet(*values))}$"
                for symbol, values in ways[0].values.items()
            )
            return "checked", f"exact for {ranges}"
        evidence = _evidence(before, after, self.relation, ways, self.under)
        if evidence is None:
            raise VerificationError(f"{self.words}: cannot prove {self.relational()}{self._conditions()}")
        theorems = [one.root.name for one in self.uses if isinstance(one.root, Applied)]
        return ("by " + ", ".join(dict.fromkeys(theorems)) if theorems else "proved"), evidence

    def _conditions(self) -> str:
        return f" for {', '.join(map(str, self.under))}" if self.under else ""

    def _facts_in_reach(self) -> list[Fact]:
        """The facts that the line uses, in an order in which the conditions of each follow from those of the line, or
        with the facts before it; raises if there is none."""
        ranges = index_ranges([self.left, self.right], self.under, [fact.right for fact in self.uses])
        known: list[Fact] = []
        waiting = list(self.uses)
        while waiting:
            missing = {number: self._missing(fact, known, ranges) for number, fact in enumerate(waiting)}
            if None not in missing.values():
                raise VerificationError(f"{self.words}: uses {waiting[0].words!r}, which needs {missing[0]}")
            known += [fact for number, fact in enumerate(waiting) if missing[number] is None]
            waiting = [fact for number, fact in enumerate(waiting) if missing[number] is not None]
        return known

    def _missing(self, fact: Fact, known: Sequence[Fact], ranges: Ranges) -> Condition | None:
        """A condition of a fact that does not follow with the facts known so far; None if there is none."""
        for one in own_conditions(fact):
            if not self._holds(one, fact.left.free_symbols, known, ranges):
                return one
        return None

    def _holds(self, one: Condition, here: set[sp.Symbol], by: Sequence[Fact], ranges: Ranges) -> bool:
        def holds(one: Condition, here: set[sp.Symbol]) -> bool:
            return follows(one, self.under, ranges, here)

        return follows_with(one, by, self.under, holds, here)

    def _with_facts(self) -> tuple[sp.Expr, sp.Expr]:
        known = self._facts_in_reach()
        # An index is not the symbol of the same name of which a condition or a hypothesis speaks.
        ranges = index_ranges([self.left, self.right], self.under)
        about = (one.free_symbols for holder in (self, *self.uses) for one in holder.under)
        held = (set().union(*about) - set(ranges)).union(*(fact.held for fact in self.uses))
        sides = [apart(side, held) for side in (self.left, self.right)]
        if self.uses and (caught := held & set().union(*map(bound_elsewhere, sides))):
            raise VerificationError(
                f"{self.words}: facts for this {caught.pop()} only say nothing about its neighbours"
            )
        poles: set[sp.Expr] = set()
        for number, fact in enumerate(self.uses):
            if fact.relation != "=" and self.relation == "=":
                raise VerificationError(f"{self.words}: an equation cannot use the inequality {fact.words!r}")
            ranges = index_ranges(sides, self.under)
            holds = partial(self._holds, by=[one for one in known if one is not fact], ranges=ranges)
            divided: set[sp.Expr] = set()
            replaced = [apart(used(side, fact, number, holds, divided), held) for side in sides]
            self._refuse_poles(fact, divided, sides, holds)
            sides, poles = replaced, poles | divided
        # Kept for those who use this line: facts for all arguments have poles at theirs only.
        self.__dict__["poles"] = frozenset(poles).union(*map(denominators, (self.left, self.right, *sides)))
        return sides[0], sides[1]

    def _refuse_poles(self, fact: Fact, poles: set[sp.Expr], sides: Sequence[sp.Expr], holds: Holds) -> None:
        """Raise if a fact divides by something that is 0 at an end of a sum, or by a polynomial in an index, or in what
        is random, that is not shown to differ from 0."""
        totals = set().union(*(side.atoms(sp.Sum, sp.Product) for side in sides))
        limits = {limit for total in totals for limit in total.limits}
        for pole in poles:
            own = [limit for limit in limits if pole.has(limit[0])]
            vanishes = any(pole.subs(index, end) == 0 for index, *ends in own for end in ends)
            if (own or is_random(pole)) and pole.is_polynomial(*pole.free_symbols) and not pole.is_nonzero:
                signs = (sp.Gt(one, 0, evaluate=False) for one in (pole, -pole))
                vanishes = vanishes or not any(holds(one, pole.free_symbols) for one in signs)
            if vanishes:
                raise VerificationError(f"{self.words}: {fact.words!r} divides by {pole}, which may be 0")

    def _check(self, values: Grid, before: sp.Expr, after: sp.Expr) -> None:
        symbols = list(values)
        for chosen in product(*(values[symbol] for symbol in symbols)):
            point = dict(zip(symbols, map(sp.sympify, chosen), strict=True))
            left, right = (sp.simplify(side.subs(point).doit()) for side in (before, after))
            if any(side.has(sp.nan, sp.zoo, sp.oo, -sp.oo) for side in (left, right)):
                raise VerificationError(f"{self.words}: undefined at {point}: {left} against {right}")
            holds = left == right or prover.vanishes(left - right) if self.relation == "=" else bool(left <= right)
            if not holds:
                raise VerificationError(f"{self.words}: fails at {point}: {left} against {right}")


def _evidence(before: sp.Expr, after: sp.Expr, relation: str, ways: Sequence[Any], under: Conditions) -> str | None:
    if ways and isinstance(ways[0], Telescoping):
        return prover.telescopes(before, after, ways[0].certificate, under)
    if ways and isinstance(ways[0], Growing):
        return None if relation == "=" else growth.grows(before, after, ways[0].symbol, ways[0].start, under)
    return (prover.equal if relation == "=" else prover.at_most)(before, after, under)


class Link(NamedTuple):
    """What the next line of a chain says: its relation, its right side, why in words, and the reasons."""

    relation: str
    right: Any
    words: str
    reasons: tuple[Any, ...]


def equals(right: Any, words: str, *reasons: Any) -> Link:
    """The next line of a chain: = ``right``."""
    return Link("=", right, words, reasons)


def at_most(right: Any, words: str, *reasons: Any) -> Link:
    """The next line of a chain: ≤ ``right``."""
    return Link("<=", right, words, reasons)


def at_least(right: Any, words: str, *reasons: Any) -> Link:
    """The next line of a chain: ≥ ``right``."""
    return Link(">=", right, words, reasons)


@dataclass(frozen=True, eq=False, repr=False)
class Chain(Fact):
    """Lines, each of which starts where the one before it ended; together they say left relation right."""

    parts: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.parts:
            raise ValueError("a chain must have a line")
        for line, following in zip(self.parts, self.parts[1:], strict=False):
            if line.right != following.left:
                raise VerificationError(f"a broken link: {line.right} is followed by {following.left}")
        ends = (self.parts[0].left, _composed(self.parts), self.parts[-1].right)
        if ends != (self.left, self.relation, self.right):
            raise VerificationError(f"the lines say {ends[0]} {ends[1]} {ends[2]}, not {self.relational()}")
        for line in self.parts:
            if line.under != self.under:
                raise VerificationError(f"{line.words}: a line under other conditions than its chain")

    @property
    def uses(self) -> tuple[Fact, ...]:
        return tuple(fact for line in self.parts for fact in line.uses)

    @property
    def lines(self) -> tuple[Line, ...]:
        return self.parts

    @cached_property
    def poles(self) -> frozenset[sp.Expr]:
        return frozenset().union(*(line.poles for line in self.parts))


def _composed(lines: Sequence[Line]) -> str:
    directions = {line.relation for line in lines} - {"="}
    if len(directions) > 1:
        raise VerificationError(f"lines in both directions: {' then '.join(line.relational() for line in lines)}")
    return directions.pop() if directions else "="


def chain(start: Any, *links: Link, under: Any = (), words: str = "") -> Chain:
    """A chain of lines from ``start`` on: ``chain(x, equals(y, "why", *reasons), at_most(z, "why", *reasons))``.

    ``under`` holds conditions on the symbols, for all lines; ``words`` say what the chain shows.
    """
    here, lines, always = sp.sympify(start), [], conditions(under)
    for relation, right, why, reasons in links:
        lines.append(Line(here, relation, right, why, always, reasons=tuple(reasons)))
        here = lines[-1].right
    return Chain(sp.sympify(start), _composed(lines), here, words or (links[-1].words if links else ""), always,
                 parts=tuple(lines))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Cases(Fact):
    """Chains from one and the same formula under conditions of which one always holds; that is checked."""

    branches: tuple[Fact, ...] = ()

    @property
    def uses(self) -> tuple[Fact, ...]:
        shown = [branch for branch in self.branches if branch.lines]
        others = [branch for branch in self.branches if not branch.lines]
        return (*others, *(fact for branch in shown for fact in branch.uses))

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for branch in self.branches for line in branch.lines)


def cases(*branches: Fact, within: Any = (), words: str = "") -> Cases:
    """All cases of one statement. Each branch is a chain ``under`` its conditions, or a fact already shown;
    ``within`` are conditions of the statement itself, which every branch may have as well."""
    domain = conditions(within)
    if len({branch.left for branch in branches}) != 1:
        raise VerificationError(f"cases must start from one formula, got {[str(b.left) for b in branches]}")
    own = [tuple(one for one in branch.under if one not in domain) for branch in branches]
    if random := [one for case in own for one in case if is_random(one)]:
        raise VerificationError(
            f"cases must not be about a random variable, got {random[0]}: a mean is over all of them"
        )
    refuse_gaps(own, domain)
    rights = [branch.right for branch in branches]
    right = rights[0]
    if len(set(rights)) > 1:
        right = sp.Piecewise(
            *((side, sp.And(*(one for one in case), evaluate=False)) for side, case in zip(rights, own, strict=True)),
            evaluate=False,
        )
    relations = {branch.relation for branch in branches} - {"="}
    if len(relations) > 1:
        raise VerificationError("cases must not have different directions")
    return Cases(branches[0].left, relations.pop() if relations else "=", right, words, domain, branches=branches)


@dataclass(frozen=True, eq=False, repr=False)
class Parts(Fact):
    """A statement of several parts."""

    members: tuple[Fact, ...] = ()

    @property
    def uses(self) -> tuple[Fact, ...]:
        return self.members

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.members)


def parts(*members: Fact) -> Parts:
    """The statement of a derivation that shows several things: facts that were shown before, in this order."""
    last = members[-1]
    return Parts(last.left, last.relation, last.right, "", last.under, members=members)


def claim(left: Any, relation: str, right: Any, words: str, *reasons: Any, under: Any = ()) -> Line:
    """One line that stands alone, such as a hypothesis of a general theorem."""
    return Line(left, relation, right, words, conditions(under), reasons=tuple(reasons))


def mutated(line: Line, right: sp.Expr, reasons: tuple[Any, ...] | None = None) -> Line:
    """The line with another right side, or with other reasons, shown again; raises where that does not hold."""
    return replace(line, right=right, reasons=line.reasons if reasons is None else reasons)
