r"""Enclosures of real numbers: python-flint's ``arb``, the one interval arithmetic of the package.

An ``arb`` contains the number it stands for at *any* precision; more bits only make it narrower. python-flint keeps one
precision for the whole process. `precision` sets it for one block and lets no other thread in, so that results are the
same in every thread; a program that changes the precision behind our back can make an enclosure wider, never wrong.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial, reduce
from operator import add, methodcaller, mul
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import acb, arb
from sympy.printing.precedence import PRECEDENCE

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.errors import VerificationError

#: Balls are computed in blocks ``with balls.LOCK, balls.workprec(bits)``, because flint has one precision for all
#: threads. Both are written in C, so that an interrupt finds a block entered or left, and never halfway.
LOCK, workprec = threading.RLock(), flint.ctx.workprec


def ball(number: Any) -> arb:
    """A ball that contains the number: an int, a Fraction, a SymPy rational or a double.

    >>> with LOCK, workprec(200):
    ...     third = ball(Fraction(1, 3))
    >>> lower, upper = ends(third)
    >>> lower < Fraction(1, 3) < upper, upper - lower < Fraction(1, 2**190)
    (True, True)
    """
    if isinstance(number, (int, float)):
        return arb(number)
    if isinstance(number, sp.Rational):
        return arb(int(number.p)) / arb(int(number.q))
    return arb(number.numerator) / arb(number.denominator)


def ends(x: arb) -> tuple[Fraction, Fraction] | None:
    """Both ends of a ball, None if it is not finite."""
    if not x.is_finite():
        return None
    middle, radius = _exact(x.mid()), _exact(x.rad())
    return middle - radius, middle + radius


def middle(x: arb) -> Fraction:
    """The middle of a finite ball."""
    return _exact(x.mid())


def _exact(x: arb) -> Fraction:
    """The number that an exact ball holds."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def lower(x: arb) -> float:
    """The largest double that is not above the ball; −inf if it is not finite."""
    end = x.lower() if x.is_finite() else arb.neg_inf()
    nearest = float(end)
    return rounding.below(nearest) if arb(nearest) > end else nearest


def upper(x: arb) -> float:
    """The smallest double that is not below the ball; inf if it is not finite."""
    end = x.upper() if x.is_finite() else arb.pos_inf()
    nearest = float(end)
    return rounding.above(nearest) if arb(nearest) < end else nearest


class RangeError(ValueError):
    """The error for a number that no normal double holds."""


def doubles(numbers: Iterable[arb]) -> npt.NDArray[np.float64]:
    """The doubles nearest to the middles of balls; a number that no normal double holds is refused."""
    exact = list(numbers)
    nearest = np.array([float(x) for x in exact])
    tiny = np.flatnonzero(np.abs(nearest) < np.finfo(float).tiny)
    if not np.isfinite(nearest).all() or not all(exact[i].is_zero() for i in tiny):
        raise RangeError("a value is outside the range of doubles (1e-308 … 1e308); use exact(…, digits=…)")
    return nearest


def is_right_to(bits: int, x: arb) -> bool:
    """Whether the radius is at most 2^-bits of the number."""
    return bool(x.rel_accuracy_bits() > bits and x.is_finite())


# ----------------------------------------------------------------------------------------- constant expressions

_CONSTANTS: dict[sp.Expr, Callable[[], arb]] = {
    sp.E: arb.const_e,
    sp.pi: arb.pi,
    sp.EulerGamma: arb.const_euler,
    sp.Catalan: arb.const_catalan,
    sp.GoldenRatio: lambda: (1 + arb(5).sqrt()) / 2,
}


def _cut(function: Callable[[Any], Any], rest: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that is analytic unless ``rest`` is a number <= 0: not finite on a complex ball where that may be. On
    a ball of real numbers it is what it is there, analytic or not."""

    def enclosed(z: Any) -> Any:
        if isinstance(z, acb) and not z.imag.is_zero():
            away = acb(rest(z))
            if not away.real > 0 and away.imag.contains(0):
                return acb(arb.nan())
        return function(z)

    return enclosed


class HugePower(sp.Expr):  # type: ignore[misc]
    r"""A power of a rational number above 1 that has too many digits to be written out, which SymPy would do.

    >>> bool(HugePower(sp.Integer(2), sp.Integer(10**9)) > 1), 1 / HugePower(sp.Integer(2), sp.Integer(10**9))
    (True, 1/(2**1000000000))
    """

    is_commutative = is_positive = True
    precedence = PRECEDENCE["Pow"]

    def _eval_evalf(self, prec: int) -> sp.Expr:
        base, exponent = self.args
        return base._eval_evalf(prec + int(exponent).bit_length()) ** exponent  # in which an error grows so many times

    def _sympystr(self, printer: Any) -> str:
        return str(printer._print(sp.Pow(*self.args, evaluate=False)))

    _latex = _sympystr


_FUNCTIONS: dict[type, Callable[..., Any]] = {  # of real and of complex balls alike
    sp.exp: methodcaller("exp"),
    sp.log: _cut(methodcaller("log"), lambda z: z),
    sp.Abs: _cut(abs, lambda z: 0),
    sp.erf: methodcaller("erf"),
    sp.erfc: methodcaller("erfc"),
    sp.gamma: methodcaller("gamma"),
    sp.loggamma: _cut(methodcaller("lgamma"), lambda z: z),
    sp.sin: methodcaller("sin"),
    sp.cos: methodcaller("cos"),
    sp.tan: methodcaller("tan"),
    sp.atan: _cut(methodcaller("atan"), lambda z: 1 + z * z),
    sp.sinh: methodcaller("sinh"),
    sp.cosh: methodcaller("cosh"),
    sp.tanh: methodcaller("tanh"),
    sp.LambertW: _cut(methodcaller("lambertw"), lambda z: 1 + z * arb.const_e()),
    sp.besseli: lambda order, z: _cut(methodcaller("bessel_i", order), lambda z: z)(z),
    HugePower: pow,
    sp.besselk: lambda order, z: _cut(methodcaller("bessel_k", order), lambda z: z)(z),
}

_COMBINED: dict[type, Callable[[Any, Any], Any]] = {sp.Add: add, sp.Mul: mul, sp.Min: arb.min, sp.Max: arb.max}


def _function(expr: sp.Expr) -> Callable[..., Any] | None:
    """What a function is for balls, if that is known; of LambertW only the principal branch, which is not named."""
    return None if isinstance(expr, sp.LambertW) and len(expr.args) > 1 else _FUNCTIONS.get(type(expr))


def value(expr: sp.Expr, values: Mapping[sp.Symbol, arb] | None = None) -> Any:
    """A ball that contains a constant expression, or one whose symbols have balls as ``values``, complex ones if it is
    analytic (no Abs, Min, Max, Piecewise).

    It is not finite where these bits say nothing (a denominator, or a number under a root, that may be 0); an
    expression with a function that has no ball is refused.

    >>> with LOCK, workprec(100):
    ...     half = value(sp.log(sp.sqrt(sp.E)))
    >>> lower(half) <= 0.5 <= upper(half)
    True
    """
    if expr.is_Rational or isinstance(expr, sp.Float):
        return ball(sp.Rational(expr))
    if expr.is_Symbol and values is not None and expr in values:
        return values[expr]
    if expr in _CONSTANTS:
        return _CONSTANTS[expr]()
    if isinstance(expr, sp.Piecewise):
        return _piecewise(expr, values)
    function = _function(expr)
    if function is None and isinstance(expr, sp.Pow):
        base = value(expr.base, values)
        if expr.exp.is_Rational:
            return _root(expr.exp)(base)
        return (_FUNCTIONS[sp.log](base) * value(expr.exp, values)).exp()
    if function is None and type(expr) not in _COMBINED:
        raise VerificationError(f"cannot enclose {expr}: there is no interval arithmetic for {type(expr).__name__}")
    parts = [value(part, values) for part in expr.args]
    return reduce(_COMBINED[type(expr)], parts) if function is None else function(*parts)


def compiled(expr: sp.Expr, *symbols: sp.Symbol) -> Callable[..., Any]:
    """`value` as a function of a few symbols that is called often: constants are enclosed once, with the bits of now.
    Of complex balls it is finite only where it is analytic, unless they are all real.

    >>> with LOCK, workprec(100):
    ...     square = compiled(sp.exp(2 * sp.Symbol("y")), sp.Symbol("y"))(arb(1))
    >>> lower(square) <= 7.389056098930650 <= upper(square)
    True
    """
    if expr in symbols:
        place = symbols.index(expr)
        return lambda *x: x[place]
    if not expr.free_symbols.intersection(symbols):
        constant = value(expr)
        return lambda *x: constant
    if isinstance(expr, sp.Pow) and not expr.exp.is_Rational:
        return compiled(sp.exp(sp.log(expr.base) * expr.exp, evaluate=False), *symbols)
    if (function := _root(expr.exp) if isinstance(expr, sp.Pow) else _function(expr)) is not None:
        first, *others = (compiled(part, *symbols) for part in expr.args[: 1 if isinstance(expr, sp.Pow) else None])
        return lambda *x: function(first(*x), *(other(*x) for other in others))
    if not isinstance(expr, (sp.Add, sp.Mul)):
        names = ", ".join(map(str, symbols))
        raise VerificationError(f"cannot enclose {expr} as a function of {names}: {type(expr).__name__} is not smooth")
    # All constants are one: each call takes longer than the operation.
    constant, rest = expr.as_independent(*symbols)
    combine, parts = (add, mul)[isinstance(expr, sp.Mul)], rest.args if isinstance(rest, type(expr)) else (rest,)
    whole = reduce(lambda f, g: lambda *x: combine(f(*x), g(*x)), [compiled(part, *symbols) for part in parts])
    if constant == expr.identity:
        return whole
    first = value(constant)
    return lambda *x: combine(first, whole(*x))


def _root(exponent: sp.Rational) -> Callable[[Any], Any]:
    """The power with an exponent p/q; a square root may touch 0."""
    p, q = int(exponent.p), int(exponent.q)
    if q == 1:
        return partial(_whole, p)
    return _cut(lambda z: (z.sqrt() if q == 2 else z.root(q)) ** p, lambda z: z)


def _whole(exponent: int, z: Any) -> Any:
    """A power with a whole exponent, which has no value in python-flint if a real ball contains 0."""
    power = z**exponent
    return power if exponent < 0 or power.is_finite() else reduce(mul, [z] * exponent)


def _piecewise(expr: sp.Piecewise, values: Mapping[sp.Symbol, arb] | None) -> arb:
    """The piece that applies; the union of all that may apply where the balls do not decide."""
    possible: list[arb] = []
    for piece, condition in expr.args:
        if condition != sp.true and not isinstance(condition, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
            raise VerificationError(f"cannot enclose {expr}: its condition {condition} is not an inequality")
        gap = arb(1) if condition == sp.true else value(condition.gts, values) - value(condition.lts, values)
        if not gap < 0:
            possible.append(value(piece, values))
        if gap > 0:
            break
    return reduce(arb.union, possible)
