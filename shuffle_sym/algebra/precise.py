r"""mpmath with a precision that is the caller's own: no function here, and none that uses it, touches a global one."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import mpmath
from flint import arb
from mpmath import MPContext


@lru_cache(maxsize=256)
def context(digits: int) -> MPContext:
    """mpmath with so many digits. Its precision must not be changed: others have the same context.

    >>> str(context(30).mpf(1) / 3)
    '0.333333333333333333333333333333'
    """
    own = MPContext()
    own.dps = digits
    return own


def as_mpf(number: Any) -> mpmath.mpf:
    """A number of any context as a plain ``mpmath.mpf`` with all its bits."""
    return mpmath.mp.make_mpf(number._mpf_)


def fraction(number: Any) -> Fraction:
    """A finite mpmath number of any context, exactly."""
    return Fraction(*(int(part) for part in mpmath.libmp.to_rational(number._mpf_)))


def middle(x: arb, digits: int) -> mpmath.mpf:
    """The middle of a ball, rounded to so many digits."""
    mantissa, exponent = (int(part) for part in x.mid().man_exp())
    bits = mpmath.libmp.dps_to_prec(digits)
    return mpmath.mp.make_mpf(mpmath.libmp.from_man_exp(mantissa, exponent, bits, "n"))
