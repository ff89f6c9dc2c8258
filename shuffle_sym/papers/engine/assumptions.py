r"""Conditions on symbols: what they allow to substitute, whether they are implied, whether cases leave anything out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine import sums

Condition = Any  # a relation of SymPy
Conditions = tuple[Condition, ...]
Row = tuple[sp.Expr, bool]
_MOST_COMBINATIONS = 4096
_MOST_ROWS = 24
#: Functions that jump: what is shown of them beside a point need not hold at the point.
JUMPS = (sp.Piecewise, sp.floor, sp.ceiling, sp.frac, sp.sign, sp.Heaviside, sp.Mod, sp.KroneckerDelta, sp.DiracDelta)


def conditions(given: object) -> Conditions:
    """Conditions as a tuple: a relation, a conjunction or a list of them."""
    if isinstance(given, (list, tuple)):
        return tuple(one for part in given for one in conditions(part))
    if given is True or given is sp.true:
        return ()
    if isinstance(given, sp.And):
        return tuple(one for part in sorted(given.args, key=str) for one in conditions(part))
    if not isinstance(given, (sp.Ge, sp.Gt, sp.Le, sp.Lt, sp.Eq)):
        raise TypeError(f"a condition must be a relation (=, <, ≤, >, ≥) such as sp.Gt(b, 0), got {given!r}")
    return (given,)


def substitution(given: Conditions, signs: bool = True, limits: bool = True) -> list[tuple[sp.Symbol, sp.Expr]]:
    r"""Symbols and what to put in their place: an equation fixes a symbol, :math:`x \ge l` makes :math:`x = l + s` with
    a new symbol s ≥ 0, :math:`l \le x \le h` makes :math:`x = (l + hs)/(1 + s)`, and :math:`0 < x \le h` makes
    :math:`x = h/(1 + s)`. The point x = h, or x = 0, is only a limit of the last two, which need ``limits``.

    >>> n, a = sp.symbols("n a", integer=True, nonnegative=True)
    >>> substitution((sp.Gt(n, a),))
    [(n, s_0 + a + 1)]
    """
    values: dict[sp.Symbol, sp.Expr] = {}
    for number, one in enumerate(given):
        symbol, value = _replaced(one, number, given, signs, limits)
        values.setdefault(symbol, value)
    return list(values.items())


def _replaced(one: Condition, number: int, given: Conditions, signs: bool, limits: bool) -> tuple[sp.Symbol, sp.Expr]:
    large, small, strict = _sides(one)
    if isinstance(one, sp.Eq):
        if one.lhs.is_Symbol and not one.rhs.has(one.lhs):
            return one.lhs, one.rhs
        if one.rhs.is_Symbol and not one.lhs.has(one.rhs):
            return one.rhs, one.lhs
    else:
        whole = bool((large - small).is_integer)
        slack = sums.Own(f"s_{number}", integer=whole or None, nonnegative=True)
        if strict and not whole:
            slack = sums.Own(f"s_{number}", positive=True)
        ratio = sums.Own(f"s_{number}", nonnegative=True)  # of whole numbers, which is not whole
        for symbol in (large, small) if limits else ():
            low, high = _bounds(symbol, given) if symbol.is_Symbol else (None, None)
            if low is not None and high is not None and not (low.has(symbol) or high.has(symbol)):
                return symbol, (low + high * ratio) / (1 + ratio)
        unknown = small.is_Symbol and range_of(small) == (None, None) != range_of(large)
        if large.is_Symbol and not small.has(large) and not unknown:  # what is known of the larger one is kept
            return large, small + slack + (1 if strict and whole else 0)
        if small.is_Symbol and not large.has(small):
            if small.is_nonnegative and signs and limits:
                return small, large / (1 + (ratio if whole else slack))
            return small, large - slack - (1 if strict and whole else 0)
    raise ValueError(f"a condition must have a symbol alone on one side, got {one}")


def _bounds(symbol: sp.Symbol, given: Conditions) -> tuple[sp.Expr | None, sp.Expr | None]:
    """The first lower and the first upper end of a symbol, if both are stated as ≥ and ≤."""
    sides = [_sides(one) for one in given if isinstance(one, (sp.Ge, sp.Le))]
    low = next((small for large, small, _ in sides if large == symbol), None)
    high = next((large for large, small, _ in sides if small == symbol), None)
    return low, high


def _sides(one: Condition) -> tuple[sp.Expr, sp.Expr, bool]:
    """The larger side, the smaller one, and whether they differ."""
    if isinstance(one, (sp.Gt, sp.Ge)):
        return one.lhs, one.rhs, isinstance(one, sp.Gt)
    return one.rhs, one.lhs, isinstance(one, sp.Lt)


@lru_cache(maxsize=4096)
def put(expr: sp.Expr, given: Conditions, signs: bool = True) -> sp.Expr:
    """The expression with the symbols that the conditions speak of written through new ones, free of conditions.
    Without ``signs`` it is not used that a symbol with an upper end is positive: then it is linear in the new one."""
    return _put(expr, substitution(given, signs, _is_continuous(expr)))


def put_strictly(expr: sp.Expr, given: Conditions) -> sp.Expr:
    """The expression written through new symbols, which reach every point that the conditions allow: what is shown
    to be positive is positive at the ends, too."""
    return _put(expr, substitution(given, limits=False))


def _put(expr: sp.Expr, values: Sequence[tuple[sp.Symbol, sp.Expr]]) -> sp.Expr:
    expr = sums.apart(expr, set().union(*(value.free_symbols for _, value in values)))
    for _ in values:  # the ends of one symbol may hold another one
        for symbol, value in values:
            expr = expr.subs(symbol, value) if symbol in expr.free_symbols else expr
    return expr


def _is_continuous(expr: sp.Expr) -> bool:
    """Whether a formula has no jump; 0^x has one at x = 0."""
    powers = (one for one in expr.atoms(sp.Pow) if one.exp.free_symbols and not one.base.is_positive)
    return not expr.has(*JUMPS) and all(one.exp.is_positive or one.exp.is_integer for one in powers)


@lru_cache(maxsize=4096)
def implied(one: Condition, given: Conditions) -> bool:
    """Whether a condition follows from others: it is one of them, or its difference is proved to have the sign."""
    if one in given or one.reversed in given:
        return True
    large, small, strict = _sides(one)
    difference = sp.expand((put_strictly if strict else put)(large - small, given))
    if isinstance(one, sp.Eq):
        return bool(difference == 0)
    step = 1 if strict and (large - small).is_integer else 0
    if difference.is_positive or (step == strict and _is_nonnegative(difference - step)):
        return True
    gap, denominator = sp.fraction(sp.together(large - small))
    if not denominator.is_positive:
        return False
    whole = not strict and gap.is_integer
    broken = (-sp.expand(gap) - (1 if whole else 0), not strict and not whole)
    rows = [*(row for condition in given for row in _rows(condition)), broken]
    return _contradict(rows + _ranges(rows))


def _is_nonnegative(difference: sp.Expr) -> bool:
    try:
        return bool(difference.is_nonnegative) or field.proves_nonnegative(difference, {})
    except VerificationError:  # a named function of a number, of which nothing is known
        return False


# ------------------------------------------------------------------------------------------------- cases


def refuse_gaps(cases: Sequence[Conditions], within: Conditions) -> None:
    r"""Raise unless every point that satisfies ``within`` satisfies one of the cases.

    A point outside all of them breaks one condition of each. Every such choice is refuted by linear arithmetic
    (Fourier and Motzkin's elimination) over the products of symbols that occur, with what the symbols are known to be.

    >>> b = sp.Symbol("b", integer=True, nonnegative=True)
    >>> refuse_gaps([(sp.Gt(b, 0),), (sp.Eq(b, 0),)], ())
    >>> refuse_gaps([(sp.Gt(b, 1),), (sp.Eq(b, 0),)], ())
    Traceback (most recent call last):
    ...
    shuffle_sym.algebra.errors.VerificationError: the cases leave out b <= 1, b > 0
    """
    known = [row for one in within for row in _rows(one)]
    choices = [[broken for one in case for broken in _negated(one)] for case in cases]
    if math.prod(max(len(choice), 1) for choice in choices) > _MOST_COMBINATIONS:
        raise ValueError(f"cases must be fewer, or their conditions, got {len(cases)}")
    for chosen in product(*choices):
        rows = known + [row for one in chosen for row in _rows(one)]
        if not _contradict(rows + _ranges(rows)):
            raise VerificationError(f"the cases leave out {', '.join(map(str, chosen))}")


def contradict(given: Sequence[Condition]) -> bool:
    """Whether no numbers satisfy all conditions; False where linear arithmetic does not see it, or sees too many.

    >>> x = sp.Symbol("x", positive=True)
    >>> contradict([sp.Le(x, -1, evaluate=False)]), contradict([sp.Le(x, 1, evaluate=False)])
    (True, False)
    """
    rows = [row for one in given for row in _rows(one)]
    return len(rows) <= _MOST_ROWS and _contradict(rows + _ranges(rows))


def _rows(one: Condition) -> list[Row]:
    """What is not negative where the condition holds, and whether it is positive there."""
    large, small, strict = _sides(one)
    difference = sp.expand(large - small)
    if isinstance(one, sp.Eq):
        return [(difference, False), (-difference, False)]
    return [(difference - 1, False)] if strict and difference.is_integer else [(difference, strict)]


def _negated(one: Condition) -> list[Condition]:
    """The ways in which a condition can fail."""
    if isinstance(one, sp.Eq):
        return [sp.Gt(one.lhs, one.rhs, evaluate=False), sp.Lt(one.lhs, one.rhs, evaluate=False)]
    return [one.negated]


def _ranges(rows: Iterable[Row]) -> list[Row]:
    """What the symbols are known to be."""
    known: list[Row] = []
    for symbol in sorted(field.symbols_of(form for form, _ in rows), key=str):
        least, most = range_of(symbol)
        if least is not None:
            strict = bool(least == 0 and symbol.is_positive)
            known.append((symbol - 1, False) if strict and symbol.is_integer else (symbol - least, strict))
        if most is not None:
            known.append((most - symbol, False))
    return known


def _contradict(forms: Sequence[Row]) -> bool:
    """Whether no point satisfies all rows, by elimination of one product of symbols after the other."""
    rows = [(dict(form.as_coefficients_dict()), strict) for form, strict in forms]
    while True:
        for row, strict in rows:
            constant = row.get(sp.S.One, 0)
            if not any(c for m, c in row.items() if m != 1) and (constant < 0 or (strict and constant == 0)):
                return True
        products = {m for row, _ in rows for m, c in row.items() if m != 1 and c != 0}
        if not products:
            return False
        pivot = min(products, key=str)
        left = [(row, strict) for row, strict in rows if row.get(pivot, 0) == 0]
        for low, one in rows:
            for high, two in rows:
                if low.get(pivot, 0) > 0 > high.get(pivot, 0):
                    u, v = -high[pivot], low[pivot]
                    both = {m: u * low.get(m, 0) + v * high.get(m, 0) for m in {*low, *high} - {pivot}}
                    left.append((both, one or two))
        rows = left
