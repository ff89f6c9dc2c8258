r"""Numbers enclosed in intervals of 50 digits, in a context of their own; `below` answers only where these do."""

from __future__ import annotations

from typing import Any

from mpmath.ctx_iv import MPIntervalContext

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.audit.tools import fraction

IV = MPIntervalContext()
IV.dps = 50


def enclosed(value: Any) -> Any:
    """An interval around a rational number; an interval stays as it is."""
    if isinstance(value, IV.mpf):
        return value
    exact = fraction(value)
    return IV.mpf(exact.numerator) / exact.denominator


def below(left: Any, right: Any) -> bool:
    """Whether left < right, for rational numbers and intervals; raises where the intervals overlap."""
    found = enclosed(left) < enclosed(right)
    if found is None:
        raise VerificationError(f"50 digits do not tell {left} from {right}")
    return bool(found)


def shown(value: Any, digits: int = 4) -> str:
    """The middle of an interval, or a rational number, as a decimal."""
    return f"{float(enclosed(value).mid):.{digits}g}"
