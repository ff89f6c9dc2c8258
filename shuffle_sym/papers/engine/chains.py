r"""Chains of lines: a line starts where the last one of its chain ended, and is shown when it is written.

What it may use are the facts that are handed to it, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine import growth, prover
from shuffle_sym.papers.engine.assumptions import (
    Condition,
    Conditions,
    conditions,
    implied,
    limit_conditions,
    needed,
    refuse_gaps,
    refuse_indices,
)
from shuffle_sym.papers.engine.facts import Applied, Fact, Fixed, Instance, denominators, put_in
from shuffle_sym.papers.engine.sums import apart, own_function

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


@dataclass(frozen=True, eq=False)
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
            if side.has(sp.Float, sp.nan, sp.zoo):
                raise VerificationError(f"{self.words}: not an exact formula: {side}")
            refuse_indices(side, self.under)
        status, evidence = self._shown()
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "evidence", evidence)

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
        self._refuse_facts_out_of_reach()
        before, after = self._with_facts()
        if self.relation == ">=":
            before, after = after, before
        if ways and isinstance(ways[0], OnGrid):
            self._check(ways[0].values, before, after)
            ranges = ", ".join(f"{symbol} in {list(values)}" for symbol, values in ways[0].values.items())
            return "checked", f"exact for {ranges}"
        evidence = _evidence(before, after, self.relation, ways, self.under)
        if evidence is None:
            raise VerificationError(f"{self.words}: cannot prove {self.relational()}{self._conditions()}")
        theorems = [one.root.name for one in self.uses if isinstance(one.root, Applied)]
        return ("by " + ", ".join(theorems) if theorems else "proved"), evidence

    def _conditions(self) -> str:
        return f" for {', '.join(map(str, self.under))}" if self.under else ""

    def _refuse_facts_out_of_reach(self) -> None:
        for fact in self.uses:
            for one in fact.under:
                if _is_universal(fact) and one.free_symbols & set(fact.left.args):
                    continue  # checked for the arguments that occur
                if not self._holds(one, fact):
                    raise VerificationError(f"{self.words}: uses {fact.words!r}, which needs {one}")

    @cached_property
    def _indices(self) -> Conditions:
        """The ranges of the indices of sums, where an index is no other symbol of the line, and has one range only."""
        limits = {limit for side in (self.left, self.right) for total in side.atoms(sp.Sum) for limit in total.limits}
        free = set().union(self.left.free_symbols, self.right.free_symbols, *(one.free_symbols for one in self.under))
        names = [limit[0] for limit in limits]
        alone = [limit for limit in limits if limit[0] not in free and names.count(limit[0]) == 1 and len(limit) == 3]
        return conditions([limit_conditions(index, ends, self.under) for index, *ends in alone])

    def _holds(self, one: Condition, needs_it: Fact) -> bool:
        """Whether a condition follows from those of the line, or from the other facts that it uses."""
        if _follows(one, self.under, self._indices):
            return True
        others = [fact for fact in self.uses if fact is not needs_it]
        if not others or not isinstance(one, (sp.Ge, sp.Le)):  # what fails is none of these
            return False
        difference = one.gts - one.lts
        for number, fact in enumerate(others):
            difference = _used(difference, fact, number, lambda here: _follows(here, self.under, self._indices))
        return prover.at_most(sp.Integer(0), difference, self.under) is not None

    def _with_facts(self) -> tuple[sp.Expr, sp.Expr]:
        # An index is not the symbol of the same name of which a condition or a hypothesis speaks.
        known = {one for condition in self._indices for one in condition.free_symbols}
        about = (one.free_symbols for holder in (self, *self.uses) for one in holder.under)
        held = (set().union(*about) - known).union(*(fact.held for fact in self.uses))
        sides = [apart(side, held) for side in (self.left, self.right)]
        poles: set[sp.Expr] = set()
        for number, fact in enumerate(self.uses):
            if fact.relation != "=" and self.relation == "=":
                raise VerificationError(f"{self.words}: an equation cannot use the inequality {fact.words!r}")
            holds = partial(self._holds, needs_it=fact)
            sides = [_used(side, fact, number, holds, poles) for side in sides]
        # Kept for those who use this line: facts for all arguments have poles at theirs only.
        self.__dict__["poles"] = frozenset(poles).union(*map(denominators, (self.left, self.right, *sides)))
        return sides[0], sides[1]

    def _check(self, values: Grid, before: sp.Expr, after: sp.Expr) -> None:
        symbols = list(values)
        for chosen in product(*(values[symbol] for symbol in symbols)):
            point = dict(zip(symbols, map(sp.sympify, chosen), strict=True))
            left, right = (sp.simplify(side.subs(point).doit()) for side in (before, after))
            holds = left == right or prover.vanishes(left - right) if self.relation == "=" else bool(left <= right)
            if not holds:
                raise VerificationError(f"{self.words}: fails at {point}: {left} against {right}")


def _evidence(before: sp.Expr, after: sp.Expr, relation: str, ways: Sequence[Any], under: Conditions) -> str | None:
    if ways and isinstance(ways[0], Telescoping):
        return prover.telescopes(before, after, ways[0].certificate, under)
    if ways and isinstance(ways[0], Growing):
        return None if relation == "=" else growth.grows(before, after, ways[0].symbol, ways[0].start, under)
    return (prover.equal if relation == "=" else prover.at_most)(before, after, under)


def _follows(one: Condition, under: Conditions, indices: Conditions) -> bool:
    if one in (sp.true, sp.false):
        return bool(one)
    return implied(one, under) or (bool(indices) and implied(one, under + indices))


def _is_universal(fact: Fact) -> bool:
    """Whether the left side is a function of different symbols: the fact may be used with any arguments."""
    left = fact.left
    if (isinstance(fact, Instance) and not isinstance(fact, Fixed)) or not isinstance(left, AppliedUndef):
        return False
    return all(part.is_Symbol for part in left.args) and len(set(left.args)) == len(left.args)


def _matches(expr: sp.Expr, fact: Fact) -> bool:
    """Whether this is the left side of a fact with arguments with which it may be used."""
    if not isinstance(expr, AppliedUndef) or expr.func != fact.left.func or len(expr.args) != len(fact.left.args):
        return False
    stay = fact.held | set(fact.fixed if isinstance(fact, Fixed) else ())
    return all(e == own for e, own in zip(expr.args, fact.left.args, strict=True) if own in stay)


def _used(
    expr: sp.Expr, fact: Fact, number: int, holds: Callable[[Condition], bool], poles: set[sp.Expr] | None = None
) -> sp.Expr:
    """The expression with the left side of a fact replaced by its right side; an inequality leaves a slack ≥ 0."""
    sign = {"=": 0, "<=": -1, ">=": 1}[fact.relation]

    def instead(*args: sp.Expr) -> sp.Expr:
        values = dict(zip(fact.left.args, args, strict=True)) if _is_universal(fact) else {}
        for here in (*(put_in(one, values) for one in fact.under), *needed(values)) if values else ():
            if not holds(here):
                raise VerificationError(f"uses {fact.words!r} with {', '.join(map(str, args))}, which needs {here}")
        divided = fact.poles_at(values)
        if poles is not None:
            poles.update(divided)
        right = put_in(fact.right, values) if values else fact.right
        if not sign:
            return right
        # How much is missing depends on all symbols: another index of a sum, another slack.
        symbols = right.free_symbols | (set() if values else fact.left.free_symbols)
        slack = own_function(f"slack_{number}", nonnegative=True, real=True)
        return right + sign * slack(*args, *sorted(symbols, key=str))

    if _is_universal(fact):
        return expr.replace(lambda e: _matches(e, fact), lambda e: instead(*e.args))
    return expr.subs(fact.left, instead()) if fact.left.is_Symbol else expr.xreplace({fact.left: instead()})


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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
