r"""Inequalities by calculus: true at one point, and a derivative has the sign that keeps them so."""

from __future__ import annotations

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine.assumptions import JUMPS, Condition, Conditions, implied, put, put_strictly
from shuffle_sym.papers.engine.prover import is_nonnegative, is_positive

_DEPTH = 4


def grows(before: sp.Expr, after: sp.Expr, x: sp.Symbol, start: sp.Expr, given: Conditions = ()) -> str | None:
    """Why ``before`` is at most ``after`` for every x: it is so at the ``start``, and the difference does not fall on
    the way from there, upwards and, where x may be below the start, downwards. The same is tried for its derivatives,
    and for the logarithms of two formulas that are positive."""
    least, most = range_of(x)
    if (least is not None and not _surely(start, least)) or (most is not None and not _surely(most, start)):
        return None  # there may be a pole on the way
    ways = [1] if least == start else [-1] if most == start else [1, -1]
    fixed = tuple(one for one in given if not one.has(x))
    at_start = [_closed(one).subs(x, start) for one in given if one.has(x)]
    if not all(one is sp.true or (one is not sp.false and implied(one, fixed)) for one in at_start):
        return None
    pairs = [("the difference", before, after)]
    if before.is_positive and after.is_positive:  # first: powers become products
        logarithms = (sp.expand_log(sp.log(side)) for side in (before, after))
        pairs.insert(0, ("the difference of the logarithms", *logarithms))
    if any(not smooth(side, x, put_strictly(x, given)) for side in (before, after)):
        return None
    for of, low, high in pairs:
        difference = put(high - low, fixed).doit()
        depths = [_grows_one_way(difference, x, start, way) for way in ways]
        if all(depths):
            at = f"${latex.formula(x)} = {latex.formula(start)}$"
            return f"equal or less at {at}, and derivative {max(depths)} of {of} has the sign that keeps it so"
    return None


def _closed(one: Condition) -> Condition:
    """The condition with its end."""
    weak = {sp.StrictGreaterThan: sp.Ge, sp.StrictLessThan: sp.Le}
    return weak.get(one.func, one.func)(one.lhs, one.rhs, evaluate=False)


def smooth(expr: sp.Expr, x: sp.Symbol, value: sp.Expr) -> bool:
    """Whether a formula has no jump and no pole in x, so far as that is known."""
    if any(one.has(x) for one in expr.atoms(*JUMPS, sp.Abs, sp.Max, sp.Min)):
        return False
    poles = [one.base for one in expr.atoms(sp.Pow) if not one.exp.is_nonnegative and one.base.has(x)]
    poles += [one.args[0] for one in expr.atoms(sp.log, sp.gamma) if one.has(x)]
    return all(is_positive(pole) or is_positive(pole.subs(x, value)) for pole in poles)


def _surely(high: sp.Expr | None, low: sp.Expr | None) -> bool:
    return high is not None and low is not None and bool((high - low).is_nonnegative)


def _grows_one_way(difference: sp.Expr, x: sp.Symbol, start: sp.Expr, way: int) -> int:
    """The first derivative that shows a difference not to be negative beyond ``start`` in this direction; 0 if none."""
    s = sp.Dummy("s", nonnegative=True)
    beyond = start + s if way == 1 else start / (1 + s) if x.is_positive and start.is_positive else start - s
    for depth in range(1, _DEPTH + 1):
        at_start = sp.simplify(difference.subs(x, start))
        if not (at_start.is_nonnegative or is_nonnegative(at_start)):
            return 0
        difference = sp.together(way * sp.diff(difference, x))
        if any(one.is_nonnegative or is_nonnegative(one) for one in (difference, difference.subs(x, beyond))):
            return depth
    return 0
