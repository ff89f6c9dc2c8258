r"""``Interval``: the answer of every accountant."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, NoReturn

import mpmath
import sympy as sp
from flint import arb

from shuffle_sym.algebra import precise, rounding
from shuffle_sym.algebra.errors import VerificationError

RTOL = 1e-3  # width of an answer relative to its upper end, where the caller says nothing


@dataclass(frozen=True)
class Interval:
    r"""Two certified ends: :math:`\text{lower} \le \text{truth} \le \text{upper}`.

    Discretisation, truncation, aliasing and round-off are inside. Report ``upper``: it is the guarantee. The ends are
    floats, and decimals where more digits were asked for than a float has.
    ``method`` names the algorithm that made it; of an answer about a mechanism ``lower_by`` names the neighbouring
    datasets that attain the lower end, and ``upper_by`` the bound for all datasets; ``hint`` says why an answer is 0,
    which may be because another question was meant. They take no part in comparisons.

    >>> from fractions import Fraction
    >>> Fraction(1, 3) in Interval(0.333, 0.334)
    True
    >>> print(Interval(1 / 3, 2 / 3))
    [0.333333, 0.666667]

    It unpacks into its ends, is shown with fewer digits rounded outward, and compares where all of it is on one side:

    >>> lower, upper = Interval(1 / 3, 2 / 3)
    >>> f"{Interval(1 / 3, 2 / 3):.2f}"
    '[0.33, 0.67]'
    >>> Interval(1 / 3, 2 / 3) < 0.7
    True
    >>> Interval(1 / 3, 2 / 3) < 0.5
    Traceback (most recent call last):
    ValueError: [0.333333, 0.666667] is neither below 0.5 nor above it; compare .upper, the guarantee, or .lower
    """

    lower: float
    upper: float
    method: str | None = field(default=None, compare=False)
    lower_by: Any = field(default=None, compare=False)
    upper_by: str | None = field(default=None, compare=False)
    hint: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if math.isnan(self.lower) or math.isnan(self.upper) or self.lower > self.upper:
            raise VerificationError(f"an Interval needs lower <= upper, got lower = {self.lower}, upper = {self.upper}")

    @property
    def width(self) -> float:
        """The upper end minus the lower end."""
        return self.upper - self.lower

    @property
    def relative_width(self) -> float:
        """Width over the upper end; 0 where both ends are equal."""
        return self.width / self.upper if self.width else 0.0

    def __contains__(self, value: Any) -> bool:
        number = _exact(value)
        return bool(self.lower <= number <= self.upper)

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __lt__(self, other: Any) -> bool:
        low, high = _ends(other)
        return self._decided(self.upper < low, self.lower >= high, other)

    def __le__(self, other: Any) -> bool:
        low, high = _ends(other)
        return self._decided(self.upper <= low, self.lower > high, other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def _decided(self, yes: Any, no: Any, other: Any) -> bool:
        if not yes and not no:
            raise ValueError(f"{self} is neither below {other} nor above it; compare .upper, the guarantee, or .lower")
        return bool(yes)

    def __float__(self, *_: Any) -> NoReturn:
        raise TypeError(f"an Interval is two numbers, not one: take .upper, the guarantee, or .lower of {self}")

    __int__ = __round__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __float__

    def __repr__(self) -> str:
        return f"Interval({str(self)[1:-1]})" + (f"  # {self.hint}" if self.hint else "")

    def __str__(self) -> str:
        return f"[{', '.join(self.shown)}]"

    @property
    def shown(self) -> tuple[str, str]:
        """Both ends with six digits, rounded outward.

        >>> Interval(1 / 3, 2 / 3).shown
        ('0.333333', '0.666667')
        """
        return _six_digits(self.lower, ROUND_FLOOR), _six_digits(self.upper, ROUND_CEILING)

    def __format__(self, spec: str) -> str:
        """The ends rounded outward where the format is that of a number, such as .3f; else the text."""
        if spec[-1:] not in tuple("eEfFgG"):
            return format(str(self), spec)
        ends = []
        for end, rounding_ in ((self.lower, ROUND_FLOOR), (self.upper, ROUND_CEILING)):
            with localcontext(Context(rounding=rounding_, Emin=MIN_EMIN, Emax=MAX_EMAX)):
                ends.append(format(Decimal(end), spec).replace("Infinity", "inf"))
        return f"[{', '.join(ends)}]"

    def _repr_latex_(self) -> str:
        powers = re.sub(r"e([+-]?\d+)", lambda m: rf"\cdot 10^{{{int(m[1])}}}", str(self))
        return "$" + powers.replace("inf", r"\infty") + "$" + (f" ({self.hint})" if self.hint else "")


def _exact(value: Any) -> Any:
    """A number that Python compares with a float or a Decimal without rounding."""
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    return precise.fraction(value) if isinstance(value, mpmath.mpf) else value


def _ends(other: Any) -> tuple[Any, Any]:
    """The least and the greatest that something is: an interval, or a number."""
    return (other.lower, other.upper) if isinstance(other, Interval) else (_exact(other),) * 2


def _six_digits(x: float | Decimal, rounding: str) -> str:
    """Rounded outward: what is shown is still a bound. A decimal is shown with the digits that were asked for."""
    if isinstance(x, Decimal):
        return str(x).lower()
    if x == 0 or math.isinf(x):
        return f"{x:g}"
    digits = Context(prec=6, rounding=rounding).create_decimal(Decimal(x))
    return f"{digits:g}" if 1e-4 <= abs(x) < 1e6 else f"{digits:e}"


def hinted(answer: Any, hint: str) -> Any:
    """One answer, with a hint if it is 0; a list of answers as it is.

    >>> hinted(Interval(0.0, 0.0), "nothing was asked")
    Interval(0, 0)  # nothing was asked
    """
    return replace(answer, hint=hint) if isinstance(answer, Interval) and not answer.upper else answer


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
