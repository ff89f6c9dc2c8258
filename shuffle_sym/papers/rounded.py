r"""Closed forms are evaluated with 40 digits and rounded up, so that what is returned is still a bound."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp
from mpmath.libmp import from_rational

from shuffle_sym.algebra import precise, rounding

DIGITS = 40
#: mpmath with so many digits, for every closed form.
MP = precise.context(DIGITS)
Mpf = Any  # a number of MP
# What 40 digits may have lost is far below this share of a number, and this is far below a double's precision.
_SLACK = Fraction(1, 10**30)


def evaluated(formula: Callable[..., Mpf], *arguments: Any) -> float:
    """``formula`` of exact SymPy numbers, as a double that is not below it."""
    return up(formula(*(number(x) for x in arguments)))


def number(x: sp.Expr) -> Mpf:
    """An exact SymPy number with 40 digits; fractions, the most frequent, are simply divided out."""
    digits = from_rational(x.p, x.q, MP.prec, "n") if x.is_Rational else sp.Float(sp.N(x, DIGITS), DIGITS)._mpf_
    return MP.make_mpf(digits)


def up(value: Mpf) -> float:
    """A double that is not below the number that ``value`` was computed for.

    >>> up(MP.mpf(1) / 3) > Fraction(1, 3), up(MP.mpf(0))
    (True, 0.0)
    """
    computed = precise.fraction(value)
    return rounding.up(computed + abs(computed) * _SLACK) + 0.0  # no −0.0


def down(value: Mpf) -> float:
    """A double that is not above the number that ``value`` was computed for."""
    return -up(-value)
