r"""Rational numbers where there are many of them: python-flint's ``fmpq``, several times as fast as ``Fraction``."""

from fractions import Fraction
from typing import Any

from flint import fmpq

ZERO, ONE = fmpq(0), fmpq(1)


def rational(number: Any) -> fmpq:
    """A Fraction, an int, a double, a SymPy rational or an ``fmpq``, exactly.

    >>> rational(0.75) + rational(Fraction(1, 4))
    1
    """
    if hasattr(number, "p"):
        return number if isinstance(number, fmpq) else fmpq(int(number.p), int(number.q))
    return fmpq(*number.as_integer_ratio())


def fraction(number: fmpq) -> Fraction:
    """An ``fmpq`` as a ``Fraction``, which Python compares with doubles exactly."""
    return Fraction(int(number.p), int(number.q))
