r"""``Interval``: the answer of every accountant."""

import math
import re
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath
import sympy as sp
from flint import arb

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.errors import VerificationError

RTOL = 1e-3  # width of an answer relative to its upper end, where the caller says nothing


@dataclass(frozen=True)
class Interval:
    r"""Two certified ends: :math:`\text{lower} \le \text{truth} \le \text{upper}`.

    Discretisation, truncation, aliasing and round-off are inside. Report ``upper``: it is the guarantee. The ends are
    floats, and decimals where more digits were asked for than a float has.
    ``method`` names the algorithm that made it; of an answer about a mechanism ``lower_by`` names the neighbouring
    datasets that attain the lower end, and ``upper_by`` the bound for all datasets. They take no part in comparisons.

    >>> from fractions import Fraction
    >>> Fraction(1, 3) in Interval(0.333, 0.334)
    True
    >>> print(Interval(1 / 3, 2 / 3))
    [0.333333, 0.666667]
    """

    lower: float
    upper: float
    method: str | None = field(default=None, compare=False)
    lower_by: Any = field(default=None, compare=False)
    upper_by: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise VerificationError(f"an Interval needs lower <= upper, got lower = {self.lower}, upper = {self.upper}")

    @property
    def width(self) -> float:
        return self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """Width over the upper end; 0 where both ends are equal."""
        return self.width / self.upper if self.width else 0.0

    def __contains__(self, value: Any) -> bool:
        # Python compares a Fraction with a float exactly; nothing is rounded here.
        if isinstance(value, sp.Rational):
            value = Fraction(int(value.p), int(value.q))
        elif isinstance(value, mpmath.mpf):
            value = Fraction(*mpmath.libmp.to_rational(value._mpf_))
        return bool(self.lower <= value <= self.upper)

    def __repr__(self) -> str:
        return f"Interval(lower={self.lower!r}, upper={self.upper!r})"

    def __str__(self) -> str:
        return f"[{_six_digits(self.lower, ROUND_FLOOR)}, {_six_digits(self.upper, ROUND_CEILING)}]"

    def _repr_latex_(self) -> str:
        powers = re.sub(r"e([+-]?\d+)", lambda m: rf"\cdot 10^{{{int(m[1])}}}", str(self))
        return "$" + powers.replace("inf", r"\infty") + "$"


def _six_digits(x: float | Decimal, rounding: str) -> str:
    """Rounded outward: what is shown is still a bound. A decimal is shown with the digits that were asked for."""
    if isinstance(x, Decimal):
        return str(x).lower()
    if x == 0 or math.isinf(x):
        return f"{x:g}"
    digits = Context(prec=6, rounding=rounding).create_decimal(Decimal(x))
    return f"{digits:g}" if 1e-4 <= abs(x) < 1e6 else f"{digits:e}"


def outward(lower: float, upper: float, method: str | None = None) -> Interval:
    """The interval one unit in the last place wider at each end, cut to δ's range [0, 1]."""
    return Interval(max(0.0, rounding.below(lower)), min(1.0, rounding.above(upper)), method)


def decimal_interval(x: arb, digits: int) -> Interval:
    """Decimal ends around a ball of a δ, with two digits more than so many.

    >>> print(decimal_interval(arb(1) / 3, 4))
    [0.333333, 0.333334]
    """
    middle, radius, exponent = (int(part) for part in x.mid_rad_10exp(digits + 2))
    ends: list[Any] = []
    for end, side in ((middle - radius, ROUND_FLOOR), (middle + radius, ROUND_CEILING)):
        rounded = Context(prec=digits + 2, rounding=side, Emin=MIN_EMIN, Emax=MAX_EMAX)
        ends.append(min(rounded.scaleb(rounded.create_decimal(end), exponent), Decimal(1)))
    return Interval(ends[0], ends[1], "exact")
