r"""Formulas at a point: what is wrong there is wrong."""

from __future__ import annotations

import sympy as sp
from sympy.core.function import AppliedUndef

from shuffle_sym.algebra.symbols import range_of
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive

_GENERIC = 0.6180339887498949


def differ_at_a_point(left: sp.Expr, right: sp.Expr) -> bool:
    """Whether two formulas differ clearly at a point that has nothing special, whole numbers among its coordinates not
    either. It saves time where something wrong is written; nothing is ever shown like this."""
    held = (sp.Sum, sp.Integral, sp.Limit, sp.Derivative, sp.Subs, Mean, Positive, Divergence)
    if left.has(*held) or right.has(*held):
        return False
    # A named function is any number, the same one wherever its arguments are the same.
    named = {one: sp.Dummy(str(one), positive=True) for one in left.atoms(AppliedUndef) | right.atoms(AppliedUndef)}
    left, right = left.xreplace(named), right.xreplace(named)
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    point = {}
    for number, symbol in enumerate(symbols):
        least, most = range_of(symbol)
        value = sp.Float(_GENERIC * (number + 2) % 1)
        point[symbol] = value * most if most is not None and least is not None else value + 2 + 3 * number
    try:
        terms = [complex(term.xreplace(point).evalf(20)) for term in sp.Add.make_args(left - right)]
        return abs(sum(terms)) > 1e-6 * (1 + sum(map(abs, terms)))  # large terms that cancel leave their round-off
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return False
