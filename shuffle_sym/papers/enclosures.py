r"""Numbers enclosed in balls, for comparisons that are decided or refused.

Every claim is examined with `BITS` of precision (`shuffle_sym.papers.claims.claim` sets it).
"""

from fractions import Fraction
from typing import Any

from flint import arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError

BITS = 170  # 50 digits


def enclosed(value: Any) -> arb:
    """A ball around a rational number; a ball stays as it is."""
    return value if isinstance(value, arb) else balls.ball(value)


def exp(value: Any) -> arb:
    """e to a rational number or a ball."""
    return enclosed(value).exp()


def log(value: Any) -> arb:
    """The logarithm of a rational number or a ball."""
    return enclosed(value).log()


def sqrt(value: Any) -> arb:
    """The root of a rational number or a ball."""
    return enclosed(value).sqrt()


def ends(value: arb) -> tuple[Fraction, Fraction]:
    """Both ends of a ball."""
    known = balls.ends(value)
    if known is None:
        raise VerificationError(f"{value} is not finite")
    return known


def below(left: Any, right: Any) -> bool:
    """Whether left < right, for rational numbers and balls; raises where the balls overlap."""
    low, high = enclosed(left), enclosed(right)
    if low < high:
        return True
    if low >= high:
        return False
    raise VerificationError(f"50 digits do not tell {left} from {right}")


def shown(value: Any, digits: int = 4) -> str:
    """The middle of a ball, or a rational number, as a decimal."""
    return f"{float(enclosed(value).mid()):.{digits}g}"
