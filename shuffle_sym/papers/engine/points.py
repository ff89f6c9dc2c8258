r"""Formulas at a point: what is wrong there is wrong."""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive

_GENERIC = 0.6180339887498949
_HELD = (sp.Integral, sp.Limit, sp.Derivative, sp.Subs, sp.Product, Mean)


def differ_at_a_point(left: sp.Expr, right: sp.Expr, at_most: bool = False) -> bool:
    """Whether two formulas differ clearly, or the first is clearly not ``at_most`` the other, at a point that has
    nothing special. It saves time where something wrong is written; nothing is ever shown like this."""
    if left.has(*_HELD) or right.has(*_HELD):
        return False
    symbols, summed = sorted(left.free_symbols | right.free_symbols, key=str), left.has(sp.Sum) or right.has(sp.Sum)
    for lift in (3, 0):  # a power of 1 − p may not be real for a large p
        point = {symbol: _value(symbol, number, lift, summed) for number, symbol in enumerate(symbols)}
        try:
            terms = [_added(term.xreplace(point)) for term in sp.Add.make_args(left - right)]
            # A named function is any number, the same one wherever its arguments are the same.
            names = sorted(set().union(*(one.atoms(AppliedUndef, Divergence) for one in terms)), key=str)
            named = {one: 1 + sp.Float(_GENERIC * (3 * number + 5) % 1) for number, one in enumerate(names)}
            values = [complex(one.xreplace(named).replace(Positive, lambda x: sp.Max(x, 0)).evalf(20)) for one in terms]
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            continue
        if not any(value.imag for value in values):
            gap = sum(value.real for value in values)
            clear = 1e-6 * (1 + sum(map(abs, values)))  # large terms that cancel leave their round-off
            return (gap if at_most else abs(gap)) > clear
    return False


def _value(symbol: sp.Symbol, number: int, lift: int, summed: bool) -> sp.Expr:
    """A value within the range of a symbol, far above the least one with a large ``lift``."""
    least, most = range_of(symbol)
    value = sp.Rational(int(997 * (_GENERIC * (number + 2) % 1)) + 1, 999)  # exact: equal arguments stay equal
    if summed and symbol.is_integer:
        return sp.Integer(number % 3 + 2) if most is None else least or sp.Integer(0)
    if least is not None and most is not None:
        return least + value * (most - least)
    return value + (lift * (1 if summed else number + 1) if lift else least or 0)


def _added(expr: sp.Expr) -> sp.Expr:
    """The formula with its sums written out, from the outermost one on; raises where that is not possible."""
    if not isinstance(expr, sp.Sum):
        return expr.func(*map(_added, expr.args)) if expr.has(sp.Sum) else expr
    *inner, (index, first, last) = expr.limits
    if not (first.is_Integer and last.is_Integer and -1 <= last - first <= 12):
        raise ValueError("a sum must have few terms")
    inside = sp.Sum(expr.function, *inner) if inner else expr.function
    return sp.Add(*(_added(inside.subs(index, value)) for value in range(int(first), int(last) + 1)))
