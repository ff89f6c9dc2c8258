r"""The field everything is written in: rational functions of :math:`t = e^{\varepsilon_0}` and of sizes such as k.

A formula is an expression in these symbols together with *bindings*, what each symbol stands for
(``{t: exp(4)}``). In this form `cancel` decides equality, and one compiled function of a formula evaluates it on
fractions, on enclosures (and so on mpmath numbers and doubles with a known error). Exponentials appear only in
the bindings.

A sign is never guessed: it is proved for all values of the symbols, or decided by an enclosure that excludes
zero, or shown to be zero by SymPy; otherwise the question is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt
import sympy as sp
from mpmath.ctx_iv import MPIntervalContext

from shuffle_sym.algebra.errors import VerificationError

t = sp.Symbol("t", positive=True)  # e^{eps0}
s = sp.Symbol("s", positive=True)  # e^{eps0 / 2}
k = sp.Symbol("k", positive=True, integer=True)  # alphabet size
d = sp.Symbol("d", positive=True, integer=True)  # number of inputs
alpha = sp.Symbol("alpha", positive=True)  # e^{eps}
eps0 = sp.Symbol("epsilon_0", nonnegative=True)

Bindings = Mapping[sp.Symbol, sp.Expr]

LEAST: dict[sp.Symbol, int] = {t: 1, s: 1, k: 2, d: 2}  # the smallest value of a symbol, for proofs of signs
UNIT_ROUNDOFF = 2.0**-53
FLOAT_ERROR = 2 * UNIT_ROUNDOFF  # relative error of what `floats` returns
_FIRST_BITS, _LAST_BITS = 128, 16384


# ---------------------------------------------------------------------------------------------- symbols


@lru_cache(maxsize=8192)
def simplest(expr: sp.Expr) -> sp.Expr:
    """The canonical form of a rational function: equal formulas become identical."""
    return expr if expr.is_Rational or expr.is_Symbol else sp.cancel(expr)


def substitute(expr: sp.Expr, bindings: Bindings) -> sp.Expr:
    """The formula as a reader wants it: with e^{eps0} instead of t."""
    return expr.xreplace(dict(bindings)) if expr.free_symbols else expr


def used(bindings: Bindings, exprs: Iterable[sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The bindings of symbols that occur."""
    occurring = set().union(*(e.free_symbols for e in exprs))
    return {symbol: value for symbol, value in bindings.items() if symbol in occurring}


def free_symbols(exprs: Iterable[sp.Expr], bindings: Bindings) -> set[sp.Symbol]:
    return set().union(*(substitute(e, bindings).free_symbols for e in exprs))


def rational_form(exprs: Iterable[sp.Expr]) -> tuple[tuple[sp.Expr, ...], dict[sp.Symbol, sp.Expr]]:
    r"""Write expressions as rational functions, with a new symbol bound to each irrational part.

    Exponentials whose exponents are multiples of each other become powers of one symbol.

    >>> (form,), bindings = rational_form([sp.exp(-sp.Symbol("x")) + sp.exp(sp.Symbol("x") / 2)])
    >>> form.is_rational_function(), list(bindings.values())
    (True, [exp(x/2)])
    """
    exprs = tuple(sp.sympify(e) for e in exprs)
    names: dict[sp.Expr, sp.Symbol] = {}
    units = _exponent_units(exprs)

    def name(e: sp.Expr) -> sp.Symbol:
        return names.setdefault(e, sp.Dummy(f"r{len(names)}", real=True))

    def rewrite(e: sp.Expr) -> sp.Expr:
        if e.is_Rational or e.is_Symbol:
            return e
        if e.is_Add or e.is_Mul or (e.is_Pow and e.exp.is_Integer and not isinstance(e, sp.exp)):
            return e.func(*(rewrite(part) for part in e.args))
        if isinstance(e, (sp.exp, type(sp.E))):
            multiple, base = e.as_base_exp()[1].as_coeff_Mul()
            return name(sp.exp(units[base] * base)) ** (multiple / units[base])
        return name(e)

    forms = tuple(rewrite(e) for e in exprs)
    return forms, {symbol: e for e, symbol in names.items()}


def _exponent_units(exprs: tuple[sp.Expr, ...]) -> dict[sp.Expr, sp.Rational]:
    """For each exponent without its rational factor, the largest rational that divides all of its factors."""
    units: dict[sp.Expr, sp.Rational] = {}
    for e in exprs:
        for power in e.atoms(sp.exp, type(sp.E)):
            multiple, base = power.as_base_exp()[1].as_coeff_Mul()
            units[base] = sp.gcd(units.get(base, sp.Integer(0)), multiple)
    return units


# ---------------------------------------------------------------------------------------------- signs


def _least(symbol: sp.Symbol, bindings: Bindings) -> sp.Expr | None:
    """A number that ``symbol`` is never below, None if nothing is known."""
    value = bindings.get(symbol, symbol)
    known = [sp.Integer(LEAST[symbol])] if symbol in LEAST else []
    if symbol.is_nonnegative:
        known.append(sp.Integer(0))
    if isinstance(value, sp.exp) and value.exp.is_nonnegative:
        known.append(sp.Integer(1))
    constant, rest = value.as_coeff_Add()
    if rest.is_nonnegative:
        known.append(constant)
    return max(known, default=None)


@lru_cache(maxsize=4096)
def _nonnegative_from(expr: sp.Expr, leasts: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> bool:
    """Whether all coefficients, in the symbols less their least values, have one sign."""
    shift = {symbol: symbol + least for symbol, least in leasts}
    signs = []
    for part in sp.fraction(simplest(expr)):
        coefficients = sp.Poly(part.xreplace(shift), *shift).coeffs() if shift else [part]
        if all(c >= 0 for c in coefficients):
            signs.append(1)
        elif all(c <= 0 for c in coefficients):
            signs.append(-1)
        else:
            return False
    return signs[0] == signs[1]


def proves_nonnegative(expr: sp.Expr, bindings: Bindings) -> bool:
    r"""Whether ``expr >= 0`` is *proved* for all values of its symbols (t >= 1, k >= 2, …).

    Sufficient, not necessary: numerator and denominator, written in t − 1, k − 2, …, have coefficients of one sign.

    >>> proves_nonnegative((t - 1) / (t + k - 1), {})
    True
    """
    leasts = tuple((s, _least(s, bindings)) for s in sorted(expr.free_symbols, key=str))
    return all(least is not None for _, least in leasts) and _nonnegative_from(expr, leasts)


def sign(expr: sp.Expr, bindings: Bindings) -> int:
    """The sign of a number, decided: by an enclosure that excludes 0, or by SymPy that it is 0."""
    expr = simplest(expr)
    if expr.is_Rational:
        return int(sp.sign(expr))
    bits = _FIRST_BITS
    while bits <= _LAST_BITS:
        (ends,) = _bounds((expr,), bindings, bits)
        if ends is not None and (ends[0] > 0 or ends[1] < 0):
            return 1 if ends[0] > 0 else -1
        if bits == _FIRST_BITS and sp.simplify(substitute(expr, bindings)) == 0:
            return 0
        bits *= 4
    raise VerificationError(f"cannot decide the sign of {substitute(expr, bindings)} with {_LAST_BITS} bits")


def at_least(x: sp.Expr, y: sp.Expr, about_y: float | None = None) -> bool:
    """Whether x >= y, decided exactly: equality counts, a rounding error does not. ``about_y`` is y as a double, if it
    is known; y may be infinite."""
    far = float(y) if about_y is None else about_y
    near = float(x)
    if clearly_different(near, far):
        return near > far
    (form,), bindings = rational_form([x - y])
    return sign(form, bindings) >= 0


def clearly_different(x: float, y: float) -> bool:
    """Whether two doubles that are right to ten digits stand for numbers in the same order."""
    return math.isinf(y) or abs(x - y) > 1e-9 * (1 + abs(y))


def is_nonnegative(expr: sp.Expr, bindings: Bindings) -> bool:
    """Proved for all values of the free symbols, or decided where there are none; refused otherwise."""
    if proves_nonnegative(expr, bindings):
        return True
    if not free_symbols((expr,), bindings):
        return sign(expr, bindings) >= 0
    if proves_nonnegative(-expr, bindings):
        return bool(simplest(expr) == 0)
    raise VerificationError(
        f"cannot prove the sign of {substitute(expr, bindings)} for all values of its symbols; "
        "write it in t = e^eps0 (t >= 1), or give the symbols values"
    )


def minimum(exprs: Iterable[sp.Expr], bindings: Bindings) -> sp.Expr:
    """The expression that is proved to be the smallest for all values of the free symbols.

    >>> minimum([t, sp.Integer(1)], {})
    1
    """
    candidates = list(dict.fromkeys(simplest(e) for e in exprs))
    best = candidates[0]
    for other in candidates[1:]:
        # A proof for all values is cheaper than a decision for one; where the two are equal, either will do.
        if proves_nonnegative(best - other, bindings) or not is_nonnegative(other - best, bindings):
            best = other
    return best


def maximum(exprs: Iterable[sp.Expr], bindings: Bindings) -> sp.Expr:
    return -minimum([-e for e in exprs], bindings)


# ---------------------------------------------------------------------------------------------- numbers


@lru_cache(maxsize=1024)
def _compiled(exprs: tuple[sp.Expr, ...], symbols: tuple[sp.Symbol, ...]) -> Callable[..., list[Any]]:
    """Numerators and denominators of the formulas, with integer coefficients, as one Python function.

    Only +, −, ×, ÷ and integer powers of the arguments occur: it takes any kind of number and keeps it.
    """
    parts = [part for e in exprs for part in sp.fraction(sp.together(simplest(e)))]
    function = sp.lambdify(symbols, parts, modules=[], cse=True)

    def quotients(one: Any, *numbers: Any) -> list[Any]:
        # A constant part comes back as a Python int: times one, it is of the caller's kind of number.
        values = [part * one for part in function(*numbers)]
        return [p / q for p, q in zip(values[::2], values[1::2], strict=True)]

    return quotients


def _symbols(exprs: tuple[sp.Expr, ...]) -> tuple[sp.Symbol, ...]:
    return tuple(sorted(set().union(*(e.free_symbols for e in exprs)), key=str))


def fractions(exprs: Iterable[sp.Expr], bindings: Bindings) -> tuple[Fraction, ...] | None:
    """Exact values, None if a binding is irrational."""
    exprs = tuple(exprs)
    symbols = _symbols(exprs)
    values = [bindings.get(s, s) for s in symbols]
    if not all(v.is_Rational for v in values):
        return None
    arguments = [Fraction(int(v.p), int(v.q)) for v in values]
    return tuple(_compiled(exprs, symbols)(Fraction(1), *arguments))


@lru_cache(maxsize=256)
def _context(bits: int) -> MPIntervalContext:
    """An interval context of our own: mpmath's global one is not ours to set."""
    context = MPIntervalContext()
    context.prec = bits
    return context


@lru_cache(maxsize=4096)
def _enclosed(number: sp.Expr, bits: int) -> Any:
    iv = _context(bits)
    if number.is_Rational:
        return iv.mpf(int(number.p)) / iv.mpf(int(number.q))
    digits = int(bits * 0.30103) + 5
    # `strict` makes SymPy raise where it cannot reach the digits asked for; log(1 + tiny) it calls 0 all the same.
    value = number.evalf(digits, strict=True)
    while not value.is_Float:
        digits *= 2
        if digits > _LAST_BITS:
            raise VerificationError(f"cannot evaluate {number}; is it zero in disguise?")
        value = number.evalf(digits, strict=True)
    p, q = mpmath.libmp.to_rational(value._mpf_)
    slack = iv.mpf(10) ** (2 - digits)
    return iv.mpf(int(p)) / iv.mpf(int(q)) * (1 + iv.mpf([-slack.b, slack.b]))


def _bounds(exprs: tuple[sp.Expr, ...], bindings: Bindings, bits: int) -> list[tuple[Fraction, Fraction] | None]:
    """Rational lower and upper bounds of the numbers, by interval arithmetic with ``bits`` bits.

    None where these bits say nothing, because a denominator may be 0.
    """
    symbols = _symbols(exprs)
    arguments = [_enclosed(substitute(s, bindings), bits) for s in symbols]
    enclosed = _compiled(exprs, symbols)(_context(bits).mpf(1), *arguments)
    return [_rational_ends(v._mpi_) for v in enclosed]


def _rational_ends(ends: tuple[Any, Any]) -> tuple[Fraction, Fraction] | None:
    if any(end in (mpmath.libmp.finf, mpmath.libmp.fninf, mpmath.libmp.fnan) for end in ends):
        return None  # mpmath would turn an infinity into the fraction 0
    low, high = (Fraction(*mpmath.libmp.to_rational(end)) for end in ends)
    return low, high


def enclosures(exprs: Iterable[sp.Expr], bindings: Bindings, bits: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """Rational bounds of numbers with a relative width of at most 2^-bits; exact zeros stay zeros."""
    exprs = tuple(simplest(e) for e in exprs)
    known = fractions(exprs, bindings)
    if known is not None:
        return tuple((v, v) for v in known)
    found: dict[int, tuple[Fraction, Fraction]] = {}
    working = bits + 64
    while len(found) < len(exprs):
        if working > _LAST_BITS + bits:
            raise VerificationError(f"cannot evaluate to {bits} bits; is an expression zero in disguise?")
        for i, ends in enumerate(_bounds(exprs, bindings, working)):
            if ends is None:
                continue
            low, high = ends
            if high - low <= min(abs(low), abs(high)) / 2**bits:
                found.setdefault(i, (low, high))
            elif low <= 0 <= high and sign(exprs[i], bindings) == 0:
                found.setdefault(i, (Fraction(0), Fraction(0)))
        working *= 2
    return tuple(found[i] for i in range(len(exprs)))


def mp_numbers(exprs: Iterable[sp.Expr], bindings: Bindings, digits: int) -> tuple[mpmath.mpf, ...]:
    """mpmath numbers, right to ``digits`` digits, whatever the global precision is."""
    bounds = enclosures(exprs, bindings, int(digits * 3.3220) + 4)
    with mpmath.workdps(digits + 5):
        return tuple(mpmath.mpf(low.numerator) / low.denominator for low, _ in bounds)


def floats(exprs: Iterable[sp.Expr], bindings: Bindings) -> npt.NDArray[np.float64]:
    """Doubles with a relative error of at most FLOAT_ERROR; a number that no double holds is refused."""
    return as_doubles(low for low, _ in enclosures(exprs, bindings, 60))


def as_doubles(values: Iterable[Fraction]) -> npt.NDArray[np.float64]:
    """The nearest doubles; a number that no double holds is refused."""
    exact = list(values)
    try:
        doubles = np.array([float(v) for v in exact])
    except OverflowError:
        doubles = np.array([np.inf])
    tiny = np.finfo(float).tiny
    if not all(np.isfinite(doubles)) or any(abs(d) < tiny for d, v in zip(doubles, exact, strict=True) if v):
        raise ValueError("a value is outside the range of doubles (1e-308 … 1e308); use exact(…, digits=…)")
    return doubles
