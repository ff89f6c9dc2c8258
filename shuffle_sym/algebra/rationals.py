r"""Rational numbers where there are many of them: python-flint's ``fmpq``, several times as fast as ``Fraction``."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeVar

from flint import fmpq

ZERO, ONE = fmpq(0), fmpq(1)

Number = TypeVar("Number", fmpq, Fraction)


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


def convex_minorant(points: Iterable[tuple[Number, Number]]) -> list[tuple[Number, Number]]:
    """The corners of the largest convex function below points with increasing first coordinates.

    >>> convex_minorant([(Fraction(0), Fraction(1)), (Fraction(1), Fraction(1)), (Fraction(2), Fraction(0))])
    [(Fraction(0, 1), Fraction(1, 1)), (Fraction(2, 1), Fraction(0, 1))]
    """
    hull: list[tuple[Number, Number]] = []
    for b, w in points:
        while len(hull) > 1:
            (a0, v0), (a1, v1) = hull[-2:]
            if (v1 - v0) * (b - a0) < (w - v0) * (a1 - a0):
                break
            hull.pop()
        hull.append((b, w))
    return hull


def with_sum(masses: Iterable[Any], total: Any) -> list[Any]:
    """Numbers that sum to a total: what rounding misses of it goes to the largest of them.

    >>> with_sum([Fraction(1, 2), Fraction(1, 4)], 1)
    [Fraction(3, 4), Fraction(1, 4)]
    """
    made = list(masses)
    made[made.index(max(made))] += total - sum(made)
    return made
