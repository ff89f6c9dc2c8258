r"""The sign of a constant: an enclosure excludes 0, or algebra proves that it is 0. A small number is not 0."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction

import sympy as sp

from shuffle_sym.algebra import balls, quotients
from shuffle_sym.algebra.errors import VerificationError

FIRST_BITS, LAST_BITS = 128, 16384


def sign(number: sp.Expr) -> int:
    """The sign of a constant expression, refused if neither an enclosure nor algebra decides.

    >>> sign(sp.log(10**60 + 1) - sp.log(10**60)), sign(sp.sqrt(6) - sp.sqrt(2) * sp.sqrt(3))
    (1, 0)
    """
    if number.is_Rational:
        return int(number.p > 0) - int(number.p < 0)  # sp.sign takes a hundred times as long
    bits, tried = FIRST_BITS, False
    while bits <= LAST_BITS:
        with balls.LOCK, balls.workprec(bits):
            enclosed = balls.value(number)
        if enclosed > 0 or enclosed < 0:
            return 1 if enclosed > 0 else -1
        if enclosed.is_finite() and not tried:  # then no denominator is 0, as the proof supposes
            tried = True
            if vanishes(number):
                return 0
        bits *= 4
    if enclosed.is_finite() and number.is_algebraic is True:
        x = sp.Dummy("x")
        with suppress(NotImplementedError):
            if sp.minimal_polynomial(number, x) == x:
                return 0
    raise VerificationError(
        f"cannot decide the sign of {number}: its first {LAST_BITS} bits are 0, and no proof that it is 0 was found"
    )


def vanishes(number: sp.Expr) -> bool:
    r"""Whether algebra proves that a constant, with denominators that are known not to be 0, is 0; False says nothing.

    Logarithms and roots of rational numbers are written in logarithms and roots of numbers without a common factor,
    exponentials in powers of one for each kind of exponent, everything else as it is. What is left is a rational
    function of these, which is 0 if its numerator is.

    >>> vanishes(sp.log(12) - 2 * sp.log(2) - sp.log(3)), vanishes(sp.log(10**60 + 1) - sp.log(10**60))
    (True, False)
    """
    number = sp.expand_log(sp.expand_power_exp(number))
    if number.is_Rational:
        return bool(number == 0)
    form = _Constant(number)
    try:
        symbols, terms = quotients.numerator_terms(form.rewrite(number))
    except quotients.NotRationalError:
        return False
    reduced: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for powers, coefficient in terms.items():
        left, factor = [], Fraction(coefficient)
        for symbol, power in zip(symbols, powers, strict=True):
            whole, rest = divmod(power, form.degree) if symbol in form.radicands else (0, power)
            factor *= Fraction(form.radicands.get(symbol, 1)) ** whole
            left.append(rest)
        reduced[tuple(left)] += factor
    return not any(reduced.values())


def _exponent_units(exprs: Iterable[sp.Expr]) -> dict[sp.Expr, sp.Rational]:
    """For each exponent without its rational factor, the largest rational that divides all of its factors."""
    units: dict[sp.Expr, sp.Rational] = {}
    for power in (power for e in exprs for power in e.atoms(sp.exp, type(sp.E))):
        multiple, base = power.as_base_exp()[1].as_coeff_Mul()
        units[base] = units[base].gcd(multiple) if base in units else abs(multiple)
    return units


class Rewriting:
    """Formulas as rational functions, with a symbol for each irrational part.

    Exponentials whose exponents are multiples of each other are powers of one symbol.
    """

    def __init__(self, exprs: Iterable[sp.Expr], new_symbol: Callable[[], sp.Symbol]) -> None:
        self.units = _exponent_units(exprs)
        self.names: dict[sp.Expr, sp.Symbol] = {}
        self._new_symbol = new_symbol

    def rewrite(self, e: sp.Expr) -> sp.Expr:
        if e.is_Rational or e.is_Symbol:
            return e
        if e.is_Add or e.is_Mul or (e.is_Pow and e.exp.is_Integer and not isinstance(e, sp.exp)):
            return e.func(*map(self.rewrite, e.args))
        power = 1
        if isinstance(e, (sp.exp, type(sp.E))):
            multiple, base = e.as_base_exp()[1].as_coeff_Mul()
            e, power = sp.exp(self.units[base] * base), multiple / self.units[base]
        if e not in self.names:
            self.names[e] = self._new_symbol()
        return self.names[e] ** power


class _Constant(Rewriting):
    """A constant as a rational function of independent symbols; the ``degree``-th power of a root is a radicand."""

    def __init__(self, number: sp.Expr) -> None:
        super().__init__([number], sp.Dummy)
        roots = [e for e in number.atoms(sp.Pow) if _is_root(e)]
        logs = [e for e in number.atoms(sp.log) if _is_positive_rational(e.args[0])]
        rationals = [*(e.base for e in roots), *(e.args[0] for e in logs)]
        self.degree = math.lcm(1, *(int(e.exp.q) for e in roots))
        self.base = _coprime_base(int(part) for r in rationals for part in (r.p, r.q))
        self.logs = {b: sp.Dummy(f"log{b}") for b in self.base}
        self.roots = {b: sp.Dummy(f"root{b}") for b in self.base}
        self.radicands = {root: b for b, root in self.roots.items()}

    def rewrite(self, e: sp.Expr) -> sp.Expr:
        if _is_root(e):
            times = e.exp * self.degree
            return sp.Mul(*(self.roots[b] ** (times * power) for b, power in self._factors(e.base)))
        if isinstance(e, sp.log) and _is_positive_rational(e.args[0]):
            return sp.Add(*(power * self.logs[b] for b, power in self._factors(e.args[0])))
        return super().rewrite(e)

    def _factors(self, number: sp.Rational) -> list[tuple[int, int]]:
        p, q = int(number.p), int(number.q)
        return [(b, power) for b in self.base if (power := _multiplicity(b, p) - _multiplicity(b, q))]


def _is_positive_rational(e: sp.Expr) -> bool:
    return bool(e.is_Rational and e > 0)


def _is_root(e: sp.Expr) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer and _is_positive_rational(e.base))


def _multiplicity(b: int, n: int) -> int:
    count = 0
    while n % b == 0:
        n, count = n // b, count + 1
    return count


def _coprime_base(numbers: Iterable[int]) -> list[int]:
    """Integers > 1 without common factors, of which all ``numbers`` are products; nothing is factored into primes.

    >>> _coprime_base([12, 18])
    [2, 3]
    """
    pending, base = list(numbers), list[int]()
    while pending:
        n = pending.pop()
        common = next(((b, g) for b in base if (g := math.gcd(n, b)) > 1), None)
        if common is None:
            base += [n] if n > 1 else []
        elif n != common[0]:
            b, g = common
            base.remove(b)
            pending += [g, b // g, n // g]
    return sorted(base)
