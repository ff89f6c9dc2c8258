r"""Enclosures of real numbers: python-flint's ``arb``, the one interval arithmetic of the package.

An ``arb`` contains the number it stands for at *any* precision; more bits only make it narrower. python-flint keeps one
precision for the whole process. `precision` sets it for one block and lets no other thread in, so that results are the
same in every thread; a program that changes the precision behind our back can make an enclosure wider, never wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
import sympy as sp
from flint import arb

from shuffle_sym.algebra import rounding

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


def _exact(x: arb) -> Fraction:
    """The number that an exact ball holds."""
    mantissa, exponent = (int(part) for part in x.man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def lower(x: arb) -> float:
    """The largest double that is not above the ball; −inf if it is not finite."""
    known = ends(x)
    return float("-inf") if known is None else rounding.down(known[0])


def upper(x: arb) -> float:
    """The smallest double that is not below the ball; inf if it is not finite."""
    known = ends(x)
    return float("inf") if known is None else rounding.up(known[1])
