r"""Rational functions with integer coefficients: one quotient of polynomials that decides equality, proves signs and is
evaluated on any kind of number. The polynomials are python-flint's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp
from flint import Ordering, fmpz_mpoly, fmpz_mpoly_ctx

Range = tuple[sp.Rational | None, sp.Rational | None]
Term = tuple[int, tuple[tuple[sp.Symbol, int], ...]]
_DOUBLINGS = 6  # 1 + u to the power 2^6 − 1 at most, before a proof of a sign is given up
_MOST_TERMS = 20_000


class NotRationalError(Exception):
    """The expression is not a rational function of its symbols with rational coefficients."""


@dataclass(frozen=True)
class Quotient:
    """Numerator over denominator in ``symbols``, without a common factor."""

    symbols: tuple[sp.Symbol, ...]
    numerator: fmpz_mpoly
    denominator: fmpz_mpoly

    @cached_property
    def _terms(self) -> list[list[Term]]:
        return [
            [
                (int(c), tuple((x, int(e)) for x, e in zip(self.symbols, powers, strict=True) if e))
                for powers, c in part.terms()
            ]
            for part in (self.numerator, self.denominator)
        ]

    def as_expr(self) -> sp.Expr:
        """The quotient as SymPy writes it."""
        top, bottom = (sp.Add(*(sp.Mul(c, *(x**e for x, e in powers)) for c, powers in part)) for part in self._terms)
        return top / bottom

    def at(self, values: Mapping[sp.Symbol, Any], one: Any) -> Any:
        """The value for numbers of any one kind, of which ``one`` is 1: only +, ×, ÷ and whole powers are used."""
        totals = []
        for part in self._terms:
            total = 0 * one
            for coefficient, powers in part:
                term = coefficient * one
                for x, e in powers:
                    term = term * (values[x] if e == 1 else values[x] ** e)
                total = total + term
            totals.append(total)
        return totals[0] / totals[1]


def _context(symbols: Sequence[sp.Symbol]) -> fmpz_mpoly_ctx:
    return fmpz_mpoly_ctx.get(tuple(f"x{i}" for i in range(len(symbols))), Ordering.lex)


@lru_cache(maxsize=8192)
def quotient(expr: sp.Expr) -> Quotient:
    """The expression as a quotient without a common factor; `NotRationalError` if it is none."""
    symbols = _ordered(frozenset(expr.free_symbols))
    context = _context(symbols)
    numerator, denominator = _parts(expr, dict(zip(symbols, context.gens(), strict=True)), context)
    if denominator.is_zero():
        raise ZeroDivisionError(f"a denominator of {expr} is 0")
    common = numerator.gcd(denominator)
    if denominator.leading_coefficient() < 0:
        common = -common
    return Quotient(symbols, *(part if common.is_one() else part // common for part in (numerator, denominator)))


@lru_cache(maxsize=8192)
def is_rational(expr: sp.Expr) -> bool:
    """Whether the expression is a rational function of its symbols with rational coefficients.

    >>> is_rational(1 / (1 + sp.Symbol("x"))), is_rational(sp.sqrt(2))
    (True, False)
    """
    try:
        return quotient(expr) is not None
    except NotRationalError:
        return False


@lru_cache(maxsize=4096)
def _ordered(symbols: frozenset[sp.Symbol]) -> tuple[sp.Symbol, ...]:
    """The order in which SymPy takes symbols: it decides which of two equal quotients is written."""
    return tuple(sp.Poly(sp.Add(*symbols)).gens) if len(symbols) > 1 else tuple(symbols)


def _parts(expr: sp.Expr, generators: Mapping[sp.Symbol, Any], context: Any) -> tuple[Any, Any]:
    """Numerator and denominator as polynomials, perhaps with a common factor."""
    one = context.constant(1)
    if expr.is_Rational:
        return context.constant(int(expr.p)), context.constant(int(expr.q))
    if expr.is_Symbol:
        return generators[expr], one
    if expr.is_Pow and expr.exp.is_Integer and not isinstance(expr, sp.exp):
        top, bottom = _parts(expr.base, generators, context)
        power = int(expr.exp)
        return (top**power, bottom**power) if power >= 0 else (bottom**-power, top**-power)
    if not (expr.is_Mul or expr.is_Add):
        raise NotRationalError(f"{expr} is not a rational function")
    top, bottom = one if expr.is_Mul else context.constant(0), one
    for p, q in (_parts(part, generators, context) for part in expr.args):
        if expr.is_Mul:
            top, bottom = top * p, bottom * q
        elif q == bottom:
            top = top + p
        else:
            common = bottom.gcd(q)
            rest = q // common
            top, bottom = top * rest + p * (bottom // common), bottom * rest
    return top, bottom


def numerator_terms(expr: sp.Expr) -> tuple[tuple[sp.Symbol, ...], dict[tuple[int, ...], int]]:
    """The numerator of an expression, not reduced: its powers and coefficients, cheap also for huge powers."""
    symbols = tuple(expr.free_symbols)
    context = _context(symbols)
    top, _ = _parts(expr, dict(zip(symbols, context.gens(), strict=True)), context)
    return symbols, {tuple(map(int, powers)): int(c) for powers, c in top.terms()}


# ------------------------------------------------------------------------------------------------------- signs


@lru_cache(maxsize=8192)
def proved_sign(expr: sp.Expr, ranges: tuple[Range, ...]) -> int | None:
    r"""1 if the expression is proved to be >= 0 wherever it is defined in the box, −1 if <= 0, None if neither.

    ``ranges`` are those of ``quotient(expr).symbols``. Sufficient, not necessary: with :math:`x = l + u` for
    :math:`x \ge l` and :math:`x = (l + hu)/(1 + u)` for :math:`l \le x \le h`, all coefficients of numerator and
    denominator have one sign, perhaps after a multiplication by powers of 1 + u (Pólya).
    """
    parts = quotient(expr)
    signs = [_polynomial_sign(part, ranges) for part in (parts.numerator, parts.denominator)]
    return None if None in signs else signs[0] * signs[1]  # type: ignore[operator]


def _polynomial_sign(polynomial: fmpz_mpoly, ranges: Sequence[Range]) -> int | None:
    if polynomial.is_zero():
        return 1
    context = polynomial.context()
    factor = context.constant(1)
    # Write each x as a quotient of polynomials in u >= 0, the second one positive.
    powers: list[list[Any]] = []
    for (low, high), degree, u in zip(ranges, polynomial.degrees(), context.gens(), strict=True):
        if degree and low is None and high is None:
            return None
        if not degree:
            top = bottom = context.constant(1)
        elif low is None or high is None:
            end: Any = low if high is None else high
            way = 1 if high is None else -1
            top, bottom = int(end.p) + way * u, u * 0 + int(end.q)
        else:
            top = int(low.p) * int(high.q) + int(high.p) * int(low.q) * u
            bottom = int(low.q) * int(high.q) * (1 + u)
        powers.append([top**e * bottom ** (degree - e) for e in range(degree + 1)])
        factor = factor * (1 + u) if degree else factor
    shifted = context.constant(0)
    for exponents, coefficient in polynomial.terms():
        term = context.constant(int(coefficient))
        for power, e in zip(powers, exponents, strict=True):
            term = term * power[e]
        shifted = shifted + term
    # Multiply by powers of 1 + u until all coefficients have one sign.
    for _ in range(_DOUBLINGS + 1):
        coefficients = shifted.coeffs()
        if all(c >= 0 for c in coefficients):
            return 1
        if all(c <= 0 for c in coefficients):
            return -1
        # Where corners of the box have different signs no multiplication will help.
        ends = shifted.leading_coefficient() * shifted.coefficient(len(shifted) - 1)
        if len(coefficients) * len(factor) > _MOST_TERMS or ends < 0:
            return None
        shifted, factor = shifted * factor, factor * factor
    return None
