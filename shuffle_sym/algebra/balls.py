r"""Enclosures of real numbers: python-flint's ``arb``, the one interval arithmetic of the package.

An ``arb`` contains the number it stands for at *any* precision; more bits only make it narrower. python-flint keeps one
precision for the whole process. `precision` sets it for one block and lets no other thread in, so that results are the
same in every thread; a program that changes the precision behind our back can make an enclosure wider, never wrong.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial, reduce
from operator import add, methodcaller, mul
from typing import Any

import flint
import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.errors import VerificationError

_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """A block in which balls are computed with so many bits.

    >>> with precision(200):
    ...     third = ball(Fraction(1, 3))
    >>> lower, upper = ends(third)
    >>> lower < Fraction(1, 3) < upper, upper - lower < Fraction(1, 2**190)
    (True, True)
    """
    with _LOCK, flint.ctx.workprec(bits):
        yield


def ball(number: Any) -> arb:
    """A ball that contains the number: an int, a Fraction, a SymPy rational or a double."""
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
    """What is said where no normal double holds a number."""


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
_FUNCTIONS: dict[type, Callable[[Any], Any]] = {  # of real and of complex balls alike
    sp.exp: methodcaller("exp"),
    sp.log: methodcaller("log"),
    sp.Abs: abs,
    sp.erf: methodcaller("erf"),
    sp.erfc: methodcaller("erfc"),
    sp.gamma: methodcaller("gamma"),
    sp.loggamma: methodcaller("lgamma"),
    sp.sin: methodcaller("sin"),
    sp.cos: methodcaller("cos"),
    sp.tan: methodcaller("tan"),
    sp.atan: methodcaller("atan"),
    sp.sinh: methodcaller("sinh"),
    sp.cosh: methodcaller("cosh"),
    sp.tanh: methodcaller("tanh"),
    sp.LambertW: methodcaller("lambertw"),
}


def value(expr: sp.Expr, values: Mapping[sp.Symbol, arb] | None = None) -> arb:
    """A ball that contains a constant expression, or one whose symbols have balls as ``values``, complex ones if it is
    analytic (no Abs, Min, Max, Piecewise).

    It is not finite where these bits say nothing (a denominator, or a number under a root, that may be 0); an
    expression with a function that has no ball is refused.

    >>> with precision(100):
    ...     half = value(sp.log(sp.sqrt(sp.E)))
    >>> lower(half) <= 0.5 <= upper(half)
    True
    """
    if expr.is_Rational:
        return ball(expr)
    if expr.is_Symbol and values is not None and expr in values:
        return values[expr]
    if expr in _CONSTANTS:
        return _CONSTANTS[expr]()
    if isinstance(expr, sp.Piecewise):
        return _piecewise(expr, values)
    known = _FUNCTIONS.get(type(expr))
    if known is None and not isinstance(expr, (sp.Add, sp.Mul, sp.Pow, sp.Min, sp.Max, sp.Float)):
        raise VerificationError(f"cannot enclose {expr}: there is no interval arithmetic for {type(expr).__name__}")
    if isinstance(expr, sp.Float):
        return ball(sp.Rational(expr))
    if isinstance(expr, sp.Pow) and known is None:
        return _power(value(expr.base, values), expr.exp, values)
    parts = [value(part, values) for part in expr.args]
    if known is not None:
        enclosed: arb = known(*parts)
        return enclosed
    combine = {sp.Add: add, sp.Mul: mul, sp.Min: arb.min, sp.Max: arb.max}[type(expr)]
    return reduce(combine, parts)


def compiled(expr: sp.Expr, *symbols: sp.Symbol) -> Callable[..., Any]:
    """`value` as a function of a few symbols that is called often: constants are enclosed once, with the bits of now.

    >>> with precision(100):
    ...     square = compiled(sp.exp(2 * sp.Symbol("y")), sp.Symbol("y"))(arb(1))
    >>> lower(square) <= 7.389056098930650 <= upper(square)
    True
    """
    if expr in symbols:
        place = symbols.index(expr)
        return lambda *x: x[place]
    if not expr.free_symbols.intersection(symbols):
        known = value(expr)
        return lambda *x: known
    if isinstance(expr, sp.Pow) and expr.exp.is_Integer:
        base, power = compiled(expr.base, *symbols), int(expr.exp)
        return lambda *x: base(*x) ** power
    if type(expr) in _FUNCTIONS:
        function, part = _FUNCTIONS[type(expr)], compiled(expr.args[0], *symbols)
        return lambda *x: function(part(*x))
    if not isinstance(expr, (sp.Add, sp.Mul)):
        names = ", ".join(map(str, symbols))
        raise VerificationError(f"cannot enclose {expr} as a function of {names}: {type(expr).__name__} is not smooth")
    # All constants are one: each call takes longer than the operation.
    constant, rest = expr.as_independent(*symbols)
    combine, parts = (add, mul)[isinstance(expr, sp.Mul)], rest.args if isinstance(rest, type(expr)) else (rest,)
    whole = reduce(partial(_combined, combine), [compiled(part, *symbols) for part in parts])
    if constant == expr.identity:
        return whole
    known = value(constant)
    return lambda *x: combine(known, whole(*x))


def _combined(combine: Callable[[Any, Any], Any], one: Callable[..., Any], two: Callable[..., Any]) -> Any:
    return lambda *x: combine(one(*x), two(*x))


def _power(base: arb, exponent: sp.Expr, values: Mapping[sp.Symbol, arb] | None) -> arb:
    if exponent.is_Integer:
        return base ** int(exponent)
    if exponent.is_Rational:
        return base.root(int(exponent.q)) ** int(exponent.p)
    return (base.log() * value(exponent, values)).exp()


def _piecewise(expr: sp.Piecewise, values: Mapping[sp.Symbol, arb] | None) -> arb:
    """The piece that applies; the union of all that may apply where the balls do not decide."""
    possible: list[arb] = []
    for piece, condition in expr.args:
        holds: bool | None = True
        if condition != sp.true:
            if not isinstance(condition, (sp.Le, sp.Lt, sp.Ge, sp.Gt)):
                raise VerificationError(f"cannot enclose {expr}: its condition {condition} is not an inequality")
            gap = value(condition.gts, values) - value(condition.lts, values)
            holds = True if gap > 0 else False if gap < 0 else None
        if holds is not False:
            possible.append(value(piece, values))
        if holds:
            break
    return reduce(arb.union, possible)
