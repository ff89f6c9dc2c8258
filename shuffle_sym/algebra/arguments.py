r"""Reading arguments: every number that enters the package passes through here.

A number becomes an exact SymPy number; a wrong one raises before any work, with its name, its value and what is right.
"""

import difflib
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym.algebra import balls, precise, quotients, rounding, texts, zeros
from shuffle_sym.algebra.errors import VerificationError

_LONGEST = 60  # characters of a value that a message shows


def _refuse(name: str, expected: str, value: Any) -> ValueError:
    shown = repr(value)
    if len(shown) > _LONGEST and isinstance(value, sp.Rational):
        shown = f"about {sp.N(value, 6)}"
    return ValueError(f"{name} must be {expected}, got {shown}")


def exact_number(value: Any, name: str) -> sp.Expr:
    r"""``value`` as an exact SymPy expression; symbols are kept.

    A float is read as the decimal that it prints as, so ``0.1`` is one tenth: that is what was typed, and it is
    within half a unit in the last place of the double. Text, `Decimal` and `Fraction` are what they say.

    >>> exact_number(0.1, "eps"), exact_number("log(3)", "eps0"), exact_number(Decimal("1e-6"), "delta")
    (1/10, log(3), 1/1000000)
    """
    value = _one_number(value, name)
    if isinstance(value, sp.Basic):
        if not isinstance(value, sp.Expr):
            raise TypeError(f"{name} must be a number, got {value!r}")
        exact, wanted = (value, "") if value.is_Rational else _exact_expression(value)
        if wanted:
            raise _refuse(name, wanted, exact)
        return exact
    if isinstance(value, numbers.Integral):
        return sp.Integer(int(value))
    if isinstance(value, numbers.Rational):
        return sp.Rational(int(value.numerator), int(value.denominator))
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number (int, float, Fraction or SymPy), got {value!r}")
    of_mpmath = isinstance(value, (mpmath.mpf, mpmath.mp.constant))
    if not (mpmath.isfinite if of_mpmath else math.isfinite)(value):
        raise _refuse(name, "a finite number", float(value))
    return sp.Rational(precise.fraction(value) if of_mpmath else str(value))


def _one_number(value: Any, name: str, expected: str = "a number") -> Any:
    """Text and `Decimal` as the number they write down, an array that holds one number as that number; the rest as
    it is, but for intervals of mpmath, which are real numbers to Python."""
    if isinstance(value, (bool, bytes)):
        raise TypeError(f"{name} must be {expected}, got {value!r}")
    if isinstance(value, mpmath.ctx_iv.ivmpf):
        raise TypeError(f"{name} must be {expected}, got the interval {value!r}")
    if isinstance(value, (str, Decimal)):
        return texts.read(str(value), name)
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def each(value: Any, name: str, answer: Callable[[Any], Any]) -> Any:
    r"""``answer`` of one number, or the list of answers for a list, a tuple, a range, an array or a column of a table.

    >>> each((1, 2), "eps", float), each("1/2", "eps", sp.Rational)
    ([1.0, 2.0], 1/2)
    """
    shape = getattr(value, "shape", ())
    if len(shape) > 1:
        raise ValueError(f"{name} must be a number or a list of numbers, got an array of shape {shape}")
    many = isinstance(value, (list, tuple, range)) or len(shape) == 1
    return [answer(number) for number in value] if many else answer(value)


@lru_cache(maxsize=4096)
def _exact_expression(value: sp.Expr) -> tuple[sp.Expr, str]:
    """The formula without Floats, which make what follows inexact without a word; and what it should be and is not."""
    value = value.xreplace({e: sp.Rational(str(e)) for e in value.atoms(sp.Float) if e.is_finite})
    if _is_clearly_real(value):
        return value, ""
    if value.is_finite is False or value is sp.nan:
        return value, "a finite number"
    return value, "a real number" if value.is_extended_real is False else ""


def _is_clearly_real(value: sp.Expr) -> bool:
    """Whether a formula of real symbols, or an enclosure of a constant, shows that it is real: SymPy takes longer."""
    if symbols := value.free_symbols:
        return all(symbol.is_real for symbol in symbols) and quotients.is_rational(value)
    try:
        with balls.LOCK, balls.workprec(64):
            return bool(balls.value(value).is_finite())
    except VerificationError:
        return False


def decided(condition: Any) -> bool | None:
    """True or False where SymPy knows the answer, None where it does not (free symbols)."""
    return bool(condition) if condition in (True, False, sp.true, sp.false) else None


def _sign(number: sp.Expr) -> int | None:
    """The sign of a constant, None for an expression with symbols."""
    return None if number.free_symbols else zeros.sign(number)


def positive_integer(value: Any, name: str, least: int = 1) -> int:
    """An integer that is at least ``least``."""
    expected = f"an integer >= {least}"
    value = _one_number(value, name, expected)
    if not isinstance(value, (numbers.Real, sp.Expr)):
        raise TypeError(f"{name} must be {expected}, got {value!r}")
    if isinstance(value, sp.Expr) and (value.free_symbols or value.is_extended_real is not True):
        raise _refuse(name, expected, value)
    number: Any = value if isinstance(value, (numbers.Rational, sp.Rational)) else float(value)
    # nan fails every comparison, and an infinity the first one.
    if not least <= number < math.inf or number != int(number):
        raise _refuse(name, expected, value)
    return int(number)


def even(value: Any, name: str) -> int:
    """The number of points of a grid that is swapped in halves."""
    number = positive_integer(value, name, 2)
    if number % 2:
        raise _refuse(name, "an even integer >= 2", value)
    return number


def size(value: Any, name: str, least: int) -> sp.Expr:
    """The size of an alphabet: an integer, or an expression that is left symbolic."""
    if isinstance(value, sp.Expr) and value.free_symbols:
        if value.is_integer is False or value.is_positive is False:
            raise _refuse(name, f"an integer >= {least} or a symbol for one", value)
        return value
    return sp.Integer(positive_integer(value, name, least))


def users(n: Any) -> int:
    """The number of users, including the one whose input differs."""
    number = positive_integer(n, "n", 1)
    if number > 2**53:
        raise _refuse("n", "at most 2^53", n)
    return number


def integer_from_0(value: Any, name: str) -> int:
    return positive_integer(value, name, 0)


def local_epsilon(eps0: Any) -> sp.Expr:
    number = _number(eps0, "eps0", "a number >= 0", lambda v: _sign(v) != -1)
    if number.free_symbols and not number.is_nonnegative:
        raise _refuse("eps0", 'known to be >= 0, as sp.Symbol("x", nonnegative=True) is', eps0)
    return number


def _number(value: Any, name: str, expected: str, holds: Callable[[sp.Expr], bool]) -> sp.Expr:
    """An exact number, refused where it is not what is expected."""
    number = exact_number(value, name)
    if not holds(number):
        raise _refuse(name, expected, value)
    return number


def positive(value: Any, name: str) -> float:
    return float(_number(value, name, "a number > 0", lambda v: _sign(v) == 1 and 0 < float(v) < math.inf))


def central_epsilon(eps: Any) -> sp.Expr:
    return _number(eps, "eps", "a number >= 0", lambda v: _sign(v) in (0, 1))


def ratio(alpha: Any) -> sp.Expr:
    """The argument α = e^ε of a hockey-stick divergence; every α > 0 is meaningful."""
    return _number(alpha, "alpha", "a number > 0", lambda v: _sign(v) == 1)


def order(value: Any, name: str = "order") -> sp.Expr:
    """The order λ > 1 of a Rényi divergence."""
    return _number(value, name, "a number > 1", lambda v: _sign(v - 1) == 1)


def integer_order(value: Any) -> int:
    """An order at which only integers are proved."""
    order(value)
    expected = "an integer >= 2 here (rdp.interpolated gives real orders between integers)"
    return int(_number(value, "order", expected, lambda v: v.is_Integer))


def share(value: Any, name: str) -> float:
    """A number in (0, 1]."""
    expected = "a number in (0, 1]"
    return float(_number(value, name, expected, lambda v: _sign(v) == 1 and _sign(1 - v) != -1 and float(v) > 0))


def between_0_and_1(value: Any, name: str) -> sp.Expr:
    """An exact number strictly between 0 and 1."""
    return _number(value, name, "a number strictly between 0 and 1", lambda v: _sign(v) == 1 == _sign(1 - v))


def open_unit(value: Any, name: str) -> float:
    """A number strictly between 0 and 1, as the largest double that is not above it."""
    number = between_0_and_1(value, name)
    double = float(number)
    double = rounding.below(double) if _sign(sp.Rational(double) - number) == 1 else double
    if _sign(number - sp.Rational(1, 10**300)) == -1:
        raise _refuse(name, "at least 1e-300", value)
    return double


def delta_target(delta: Any) -> float:
    try:
        return open_unit(delta, "delta")
    except ValueError as refusal:
        if isinstance(delta, (int, float)) and 1 <= delta < math.inf:
            raise ValueError(f"{refusal}; did you mean delta(eps={delta})?") from None
        raise


def relative_tolerance(rtol: Any) -> float:
    return open_unit(rtol, "rtol")


def member(x: Any, name: str, count: sp.Expr) -> int:
    """An input of a finite domain {0, …, count − 1}; the domain may be of symbolic size."""
    expected = f"an integer in 0 … {count - 1}"
    if isinstance(x, bool) or not isinstance(x, (numbers.Integral, sp.Integer)):
        raise TypeError(f"{name} must be {expected}, got {x!r}")
    if x < 0 or decided(sp.Integer(int(x)) < count) is False:
        raise _refuse(name, expected, x)
    return int(x)


def different(x0: int, x1: int) -> None:
    if x0 == x1:
        raise ValueError(f"x0 and x1 must be different inputs, got x0 = x1 = {x0}")


def numeric_only(symbols: set[sp.Symbol], what: str) -> None:
    """Refuse to compute ``what`` while parameters are still symbols."""
    if symbols:
        names = ", ".join(sorted(str(s) for s in symbols))
        raise TypeError(
            f"{what} needs numbers for every parameter; still symbolic: {names}; make it with numbers in their place"
        )


#: What people call an argument, and what it may be called here.
_MEANT = {
    **dict.fromkeys(("epsilon", "eps", "epsilon0", "epsilon_0", "eps_0", "e0", "epsilon_local"), ("eps0",)),
    **dict.fromkeys(("scale", "b"), ("sigma", "eps0, which is 1/scale")),
    **dict.fromkeys(("std", "stddev", "sd", "standard_deviation"), ("sigma", "eps0, which is sqrt(2)/std")),
    **dict.fromkeys(("k", "d", "K", "g", "size", "domain_size", "num_categories", "m"), ("k", "d", "K", "g")),
}


def known(given: Iterable[str], names: Sequence[str], what: str) -> None:
    """Refuse an argument that ``what`` does not have, with the name that was probably meant.

    >>> known(["epsilon"], ["k", "eps0"], "KRR")
    Traceback (most recent call last):
    TypeError: KRR has no argument 'epsilon': did you mean eps0? Its arguments are k, eps0
    """
    for name in given:
        if name not in names:
            meant = [other for other in _MEANT.get(name, ()) if other.split(",")[0] in names]
            meant = meant or difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {meant[0]}? Its" if meant else "its"
            raise TypeError(f"{what} has no argument {name!r}: {hint} arguments are {', '.join(names)}")


def one_of(value: Any, name: str, choices: Sequence[str] | Mapping[str, Any]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise _refuse(name, "one of " + ", ".join(repr(c) for c in choices), value)
    return str(value)
