r"""Formulas with Abs, Min, Max and cases, taken apart into smooth pieces with the points between them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from shuffle_sym.algebra import zeros
from shuffle_sym.algebra.errors import VerificationError

_BENDS = (sp.Abs, sp.Min, sp.Max, sp.Piecewise)
_JUMPS = (sp.floor, sp.ceiling, sp.sign, sp.Heaviside, sp.DiracDelta)


@dataclass(frozen=True)
class Smooth:
    """A formula between two points, without Abs, Min, Max and cases of the variable."""

    left: sp.Expr
    right: sp.Expr
    formula: sp.Expr


Order = Callable[[sp.Expr], int]


def order(difference: sp.Expr) -> int:
    """The sign of a number, or of a formula whose symbols decide it.

    >>> order(sp.pi - 3), order(-sp.Symbol("e", positive=True))
    (1, -1)
    """
    difference = sp.expand(difference)
    if difference in (sp.oo, -sp.oo):
        return 1 if difference is sp.oo else -1
    if not difference.free_symbols:
        return zeros.sign(difference)
    for form in (difference, sp.factor(difference)):
        if form.is_zero:
            return 0
        if form.is_positive or form.is_negative:
            return 1 if form.is_positive else -1
    raise VerificationError(f"cannot decide the sign of {difference} for every value of its symbols")


def smooth_pieces(
    formula: sp.Expr, y: sp.Symbol, left: sp.Expr = -sp.oo, right: sp.Expr = sp.oo, sign: Order = order
) -> list[Smooth]:
    """The smooth pieces of a formula in y from ``left`` to ``right``, in order; ``sign`` compares the points between.

    >>> y = sp.Symbol("y", real=True)
    >>> [(str(piece.left), str(piece.right), piece.formula) for piece in smooth_pieces(sp.Abs(y - 1), y)]
    [('-oo', '1', 1 - y), ('1', 'oo', y - 1)]
    """
    bend = _innermost(formula, y)
    if bend is None:
        return [Smooth(left, right, formula)]
    tested, below, above = _sides(bend)
    # What is tested has to be linear in y.
    tested = sp.expand(tested)
    slope = sp.diff(tested, y)
    if y in sp.expand(slope).free_symbols:
        raise ValueError(f"the bends of density must be where something linear is 0, got {bend}")
    start = sp.expand(tested - slope * y)
    if slope == 0:
        chosen = above if sign(start) >= 0 else below
        return smooth_pieces(formula.xreplace({bend: chosen}), y, left, right, sign)
    place = sp.cancel(-start / slope)
    before, after = (formula.xreplace({bend: side}) for side in ((below, above) if sign(slope) > 0 else (above, below)))
    if left is not -sp.oo and sign(place - left) <= 0:
        return smooth_pieces(after, y, left, right, sign)
    if right is not sp.oo and sign(right - place) <= 0:
        return smooth_pieces(before, y, left, right, sign)
    return smooth_pieces(before, y, left, place, sign) + smooth_pieces(after, y, place, right, sign)


def refuse_jumps(formula: sp.Expr, name: str) -> None:
    """Refuse functions that jump and say nothing about where; cases do."""
    if jumps := sorted(formula.atoms(*_JUMPS), key=sp.default_sort_key):
        raise ValueError(f"{name} must be made of Abs, Min, Max, Piecewise and smooth functions, got {jumps[0]}")


def _innermost(formula: sp.Expr, y: sp.Symbol) -> Any:
    """A bend of the formula that has none inside, or None."""
    refuse_jumps(formula, "density")
    bends = [bend for bend in formula.atoms(*_BENDS) if y in bend.free_symbols]
    inner = [bend for bend in bends if not any(other != bend and bend.has(other) for other in bends)]
    return min(inner, key=sp.default_sort_key, default=None)


def _sides(bend: Any) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """A formula, and what the bend is where it is negative and where it is positive."""
    if isinstance(bend, sp.Abs):
        (inside,) = bend.args
        return inside, -inside, inside
    if isinstance(bend, (sp.Min, sp.Max)):
        first, *others = bend.args
        rest = bend.func(*others)
        return (first - rest, first, rest) if isinstance(bend, sp.Min) else (first - rest, rest, first)
    (value, condition), *others = bend.args
    if condition == sp.true:
        return sp.Integer(0), value, value
    rest = sp.Piecewise(*others) if others else sp.nan
    if isinstance(condition, (sp.And, sp.Or)):
        # The first condition decides between what the others decide and what one of them alone decides.
        first, *more = condition.args
        both = sp.Piecewise((value, condition.func(*more)), *others)
        value, rest = (both, rest) if isinstance(condition, sp.And) else (value, both)
        condition = first
    if not isinstance(condition, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
        raise ValueError(f"a case of density must be an inequality such as y < x, got {condition}")
    return condition.gts - condition.lts, rest, value
