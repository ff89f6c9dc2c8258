r"""Numbers as people read them: ends with six digits."""

from __future__ import annotations

from shuffle_sym.algebra.interval import Interval


def shown(interval: Interval) -> tuple[str, str]:
    """Both ends with six digits, rounded outward.

    >>> shown(Interval(1 / 3, 2 / 3))
    ('0.333333', '0.666667')
    """
    lower, upper = str(interval).strip("[]").split(", ")
    return lower, upper
