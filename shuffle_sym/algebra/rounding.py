r"""Doubles that are on a known side of a number: the one place where something is rounded outward."""

import math
import sys
from fractions import Fraction

UNIT_ROUNDOFF = 2.0**-53
FLOAT_ERROR = 2 * UNIT_ROUNDOFF  # relative error of a double that stands for an exact number
SMALLEST = 1e-305  # below this doubles lose their relative accuracy, and only an upper end is told
SUBNORMAL_ERROR = 1e-320  # doubles below 1e-308 are 5e-324 apart: added to a bound, more than rounding takes there
LARGEST_EXPONENT = 600.0  # of an exponential that is a double with room for products; a larger one overflows to inf
BITS = 256  # of balls that stand for exact numbers: fewer cost digits where numbers cancel, more cost time


def below(x: float) -> float:
    """The next double below a double."""
    return math.nextafter(x, -math.inf)


def above(x: float) -> float:
    """The next double above a double."""
    return math.nextafter(x, math.inf)


def down(number: Fraction) -> float:
    """The largest double that is not above the number.

    >>> down(Fraction(1, 3)) < Fraction(1, 3) < up(Fraction(1, 3))
    True
    """
    try:
        nearest = float(number)
    except OverflowError:  # beyond the doubles
        return sys.float_info.max if number > 0 else -math.inf
    return below(nearest) if nearest > number else nearest


def up(number: Fraction) -> float:
    """The smallest double that is not below the number."""
    return 0.0 - down(-number)  # and not -0.0 for 0
