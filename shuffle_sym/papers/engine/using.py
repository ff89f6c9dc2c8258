r"""How a fact is used: its left side is replaced by its right side wherever its conditions hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.engine import prover
from shuffle_sym.papers.engine.assumptions import Condition, Conditions, conditions, implied, put_strictly
from shuffle_sym.papers.engine.facts import Fact, Fixed, Instance
from shuffle_sym.papers.engine.sums import own_function
from shuffle_sym.papers.engine.values import limit_conditions, needed, put_in

#: Whether a condition holds where these symbols are: indices among them are in their ranges.
Holds = Callable[[Condition, set[sp.Symbol]], bool]
Ranges = Mapping[sp.Symbol, Conditions]


def is_universal(fact: Fact) -> bool:
    """Whether the left side is a function of different symbols: the fact may be used with any arguments."""
    left = fact.left
    if (isinstance(fact, Instance) and not isinstance(fact, Fixed)) or not isinstance(left, AppliedUndef):
        return False
    return all(part.is_Symbol for part in left.args) and len(set(left.args)) == len(left.args)


def own_conditions(fact: Fact) -> Iterator[Condition]:
    """The conditions that do not depend on the arguments with which a fact is used."""
    for one in fact.under:
        if not (is_universal(fact) and one.free_symbols & set(fact.left.args)):
            yield one


def used(expr: sp.Expr, fact: Fact, number: int, holds: Holds, poles: set[sp.Expr] | None = None) -> sp.Expr:
    """The expression with the left side of a fact replaced by its right side; an inequality leaves a slack ≥ 0."""
    sign = {"=": 0, "<=": -1, ">=": 1}[fact.relation]

    def instead(*args: sp.Expr) -> sp.Expr:
        values = dict(zip(fact.left.args, args, strict=True)) if is_universal(fact) else {}
        here = set().union(*(value.free_symbols for value in values.values()))
        for one in (*(put_in(one, values) for one in fact.under), *needed(values)) if values else ():
            if not holds(one, here):
                raise VerificationError(f"uses {fact.words!r} with {', '.join(map(str, args))}, which needs {one}")
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

    if is_universal(fact):
        return expr.replace(lambda e: _matches(e, fact), lambda e: instead(*e.args))
    return expr.subs(fact.left, instead()) if fact.left.is_Symbol else expr.xreplace({fact.left: instead()})


def _matches(expr: sp.Expr, fact: Fact) -> bool:
    """Whether this is the left side of a fact with arguments with which it may be used."""
    if not isinstance(expr, AppliedUndef) or expr.func != fact.left.func or len(expr.args) != len(fact.left.args):
        return False
    stay = fact.held | set(fact.fixed if isinstance(fact, Fixed) else ())
    return all(e == own for e, own in zip(expr.args, fact.left.args, strict=True) if own in stay)


def index_ranges(sides: Sequence[sp.Expr], under: Conditions, coming: Sequence[sp.Expr] = ()) -> Ranges:
    """The ranges of the indices of sums, where an index is no other symbol, and has one range only, in formulas that
    are to be put in as well."""
    limits = {limit for side in (*sides, *coming) for total in side.atoms(sp.Sum) for limit in total.limits}
    free = set().union(*(one.free_symbols for one in (*sides, *under)))
    names = [limit[0] for limit in limits]
    alone = [limit for limit in limits if limit[0] not in free and names.count(limit[0]) == 1 and len(limit) == 3]
    return {index: conditions(limit_conditions(index, ends, under)) for index, *ends in alone}


def follows(one: Condition, under: Conditions, ranges: Ranges, here: set[sp.Symbol]) -> bool:
    """Whether a condition follows from others, and from the ranges of the indices in ``here``: of an index elsewhere
    nothing may be used, since its sum may have no term."""
    if one in (sp.true, sp.false):
        return bool(one)
    if implied(one, under):
        return True
    inside: set[sp.Symbol] = set()
    open_ = here & set(ranges)
    while open_ := open_ - inside:
        inside |= open_
        open_ = {s for index in open_ for known in ranges[index] for s in known.free_symbols} & set(ranges)
    return bool(inside) and implied(one, under + tuple(known for index in inside for known in ranges[index]))


def follows_with(one: Condition, facts: Sequence[Fact], under: Conditions, holds: Holds, here: set[sp.Symbol]) -> bool:
    """Whether a condition follows from others, or from facts whose own conditions were shown before."""
    if holds(one, here):
        return True
    if not facts or isinstance(one, sp.Eq):
        return False
    difference, strict = one.gts - one.lts, isinstance(one, (sp.Gt, sp.Lt))
    ways = [list(facts), *([fact] for fact in facts)] if len(facts) > 1 else [list(facts)]
    shown = (_with(difference, way, holds) for way in ways)
    if not strict:
        return any(prover.at_most(sp.Integer(0), expr, under) is not None for expr in shown)
    return any(
        all(map(prover.is_positive, sp.fraction(sp.factor(sp.together(put_strictly(expr, under)))))) for expr in shown
    )


def _with(expr: sp.Expr, facts: Sequence[Fact], holds: Holds) -> sp.Expr:
    """The expression with facts used in it, those left out that are out of reach here."""
    for number, fact in enumerate(facts):
        with suppress(VerificationError):
            expr = used(expr, fact, number, holds)
    return expr
