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

    def as_expr(self) -> sp.Expr:
        """The quotient as SymPy writes it."""
        return _as_expr(self.numerator, self.symbols) / _as_expr(self.denominator, self.symbols)

    @cached_property
    def _terms(self) -> tuple[list[Term], list[Term]]:
        top, bottom = (_terms(part, self.symbols) for part in (self.numerator, self.denominator))
        return top, bottom

    def at(self, values: Mapping[sp.Symbol, Any], one: Any) -> Any:
        """The value for numbers of any one kind, of which ``one`` is 1: only +, ×, ÷ and whole powers are used."""
        top, bottom = self._terms
        return _evaluated(top, values, one) / _evaluated(bottom, values, one)


def _context(symbols: Sequence[sp.Symbol]) -> fmpz_mpoly_ctx:
    return fmpz_mpoly_ctx.get(tuple(f"x{i}" for i in range(len(symbols))), Ordering.lex)


def _as_expr(polynomial: fmpz_mpoly, symbols: Sequence[sp.Symbol]) -> sp.Expr:
    return sp.Add(
        *(
            sp.Mul(sp.Integer(int(c)), *(x ** int(e) for x, e in zip(symbols, powers, strict=True) if e))
            for powers, c in polynomial.terms()
        )
    )


def _terms(polynomial: fmpz_mpoly, symbols: Sequence[sp.Symbol]) -> list[Term]:
    return [
        (int(c), tuple((x, int(e)) for x, e in zip(symbols, powers, strict=True) if e))
        for powers, c in polynomial.terms()
    ]


def _evaluated(terms: list[Term], values: Mapping[sp.Symbol, Any], one: Any) -> Any:
    total = 0 * one
    for coefficient, powers in terms:
        term = coefficient * one
        for x, e in powers:
            term = term * (values[x] if e == 1 else values[x] ** e)
        total = total + term
    return total


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
    if expr.is_Mul:
        top, bottom = one, one
        for factor in expr.args:
            p, q = _parts(factor, generators, context)
            top, bottom = top * p, bottom * q
        return top, bottom
    if expr.is_Add:
        top, bottom = context.constant(0), one
        for term in expr.args:
            p, q = _parts(term, generators, context)
            if q == bottom:
                top = top + p
            else:
                common = bottom.gcd(q)
                rest = q // common
                top, bottom = top * rest + p * (bottom // common), bottom * rest
        return top, bottom
    raise NotRationalError(f"{expr} is not a rational function")


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
    degrees, generators = polynomial.degrees(), context.gens()
    powers: list[list[Any]] = []
    for (low, high), degree, u in zip(ranges, degrees, generators, strict=True):
        if not degree:
            powers.append([context.constant(1)])
        elif low is None and high is None:
            return None
        else:
            top, bottom = _on_half_line(low, high, u)
            powers.append([top**e * bottom ** (degree - e) for e in range(degree + 1)])
    shifted = context.constant(0)
    for exponents, coefficient in polynomial.terms():
        term = context.constant(int(coefficient))
        for power, e in zip(powers, exponents, strict=True):
            term = term * power[e if len(power) > 1 else 0]
        shifted = shifted + term
    factor = context.constant(1)
    for u, degree in zip(generators, degrees, strict=True):
        factor = factor * (1 + u) if degree else factor
    for _ in range(_DOUBLINGS + 1):
        coefficients = shifted.coeffs()
        if all(c >= 0 for c in coefficients):
            return 1
        if all(c <= 0 for c in coefficients):
            return -1
        if len(coefficients) * len(factor) > _MOST_TERMS or _ends_differ(shifted):
            return None
        shifted, factor = shifted * factor, factor * factor
    return None


def _ends_differ(polynomial: fmpz_mpoly) -> bool:
    """Whether corners of the box have different signs: then no multiplication will help."""
    return bool(polynomial.leading_coefficient() * polynomial.coefficient(len(polynomial) - 1) < 0)


def _on_half_line(low: Any, high: Any, u: Any) -> tuple[Any, Any]:
    """x as a quotient of polynomials in u >= 0, the second one positive."""
    if high is None:
        return int(low.p) + u, u * 0 + int(low.q)
    if low is None:
        return int(high.p) - u, u * 0 + int(high.q)
    least, most = int(low.p) * int(high.q), int(high.p) * int(low.q)
    return least + most * u, int(low.q) * int(high.q) * (1 + u)
