r"""The privacy profile: δ(ε) at every ε, of either sign, bracketed by two convex curves."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.accounting.convex import ONE, Bracket, Curve
from shuffle_sym.accounting.pld import CurvePLD, log_ratio
from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.interval import Interval

SIDES = ("upper", "lower")
_DIGITS = 40
_FARTHEST_EPS = 10**5
_COLUMNS = ("alphas", "lowers", "uppers")
_FORMAT = "shuffle_sym privacy profile 1"


@dataclass(frozen=True)
class PrivacyProfile:
    r"""Two curves with :math:`\text{lower} \le D_\alpha(P\|Q) \le \text{upper}` for **every** α > 0.

    Both are convex in α, so each is the hockey-stick curve of a pair of distributions: the upper one dominates (P, Q),
    the lower one is dominated by it, in compositions too. ``about`` says what was sampled and how.

    >>> import shuffle_sym as ss
    >>> profile = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).profile()
    >>> sp.Rational(2552, 15625) in profile.delta(sp.log(sp.Rational(6, 5)))
    True
    """

    bracket: Bracket
    about: Mapping[str, Any]

    # -- the curves

    @property
    def upper(self) -> Curve:
        return self.bracket.upper

    @property
    def lower(self) -> Curve:
        return self.bracket.lower

    @property
    def max_eps(self) -> float:
        """The largest ε that was sampled; from there on the profile is exactly 0 if ``ends_at_zero``."""
        return _log(self.bracket.alphas[-1], up=False)

    @property
    def ends_at_zero(self) -> bool:
        return self.upper.infinite == 0

    def __len__(self) -> int:
        return len(self.bracket.alphas)

    # -- numbers

    def delta(self, eps: Any) -> Interval:
        r"""Bounds of δ(ε), for ε of either sign; what lies between the sampled points is inside."""
        number = arguments.exact_number(eps, "eps")
        if number.free_symbols:
            raise ValueError(f"eps must be a number, got {eps!r}")
        # Farther out only the nearest double to 0 or 1 is told, and that is the same.
        number = sp.Max(sp.Min(number, _FARTHEST_EPS), -_FARTHEST_EPS)
        ((low, high),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(number)}, 64)
        if high > self.bracket.alphas[-1] and not self.ends_at_zero:
            raise ValueError(
                f"eps must be at most {self.max_eps:.6g}, where this profile ends, got {eps!r}; "
                "a smaller least_delta makes it longer"
            )
        return Interval(_double(self.lower(high), up=False), _double(self.upper(low), up=True), "profile")

    def epsilon(self, delta: Any) -> Interval:
        r"""Bounds of the smallest ε >= 0 with δ(ε) <= ``delta``."""
        target = Fraction(arguments.delta_target(delta))
        if self.upper.infinite > target:
            raise ValueError(
                f"delta = {float(target):g} is not reached: this profile ends with delta = "
                f"{float(self.upper.infinite):.3g} at eps = {self.max_eps:.6g}; a smaller least_delta makes it longer"
            )
        low, high = (_first_at_most(curve, target) for curve in (self.lower, self.upper))
        return Interval(max(_log(low, up=False), 0.0), max(_log(high, up=True), 0.0), "profile")

    def rdp(self, order: Any) -> Interval:
        r"""Bounds of the Rényi divergence :math:`\frac1{\lambda-1}\log\mathbb E_Q[(P/Q)^\lambda]`, λ = ``order`` > 1.

        Each curve is a pair, and its moment a finite sum. If the profile does not end at zero the upper end is
        infinite, and it is refused.
        """
        power = arguments.order(order)
        if not self.ends_at_zero:
            raise ValueError(
                f"order = {order}: the Rényi divergence has no finite bound, because delta does not reach 0 "
                "(some loss is unbounded, or impossible under the other input)"
            )
        lower, upper = (_renyi(curve, power) for curve in (self.lower, self.upper))
        # The moments have far more digits than a double: one unit in the last place covers both roundings.
        return Interval(max(math.nextafter(lower, -1.0), 0.0), math.nextafter(upper, math.inf), "profile")

    def trade_off(self) -> TradeOff:
        """The f-DP curve: the least error of the second kind of any test of P against Q."""
        return TradeOff(self)

    def as_pld(self, side: str = "upper") -> CurvePLD:
        """The privacy loss distribution of the pair that dominates (or, ``"lower"``, is dominated)."""
        return CurvePLD(getattr(self, arguments.one_of(side, "side", SIDES)))

    @cached_property
    def plds(self) -> tuple[CurvePLD, CurvePLD]:
        """Both: lower, upper."""
        return self.as_pld("lower"), self.as_pld("upper")

    # -- ways out

    def rows(self) -> list[dict[str, float]]:
        """The sampled points: ε, α and the bounds of δ there, rounded outward."""
        columns = zip(self.bracket.alphas, self.bracket.lowers, self.bracket.uppers, strict=True)
        return [
            {
                "eps": log_ratio(alpha),
                "alpha": float(alpha),
                "lower": _double(lower, up=False),
                "upper": _double(upper, up=True),
            }
            for alpha, lower, upper in columns
        ]

    def to_csv(self) -> str:
        """The sampled points as CSV, after lines that say what they are of."""
        lines = [
            f"# {key}: {value}" for key, value in {"privacy profile": "lower <= delta <= upper", **self.about}.items()
        ]
        rows = self.rows()
        return "\n".join([*lines, ",".join(rows[0]), *(",".join(map(repr, row.values())) for row in rows)]) + "\n"

    def to_dataframe(self) -> Any:
        """The sampled points as a pandas DataFrame, with ``about`` as its ``attrs``; pandas must be installed."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise ImportError("to_dataframe needs pandas; rows() has the same without it") from None
        frame = DataFrame(self.rows())
        frame.attrs.update(self.about)
        return frame

    def to_json(self) -> str:
        """Everything, as exact fractions: `from_json` gives the same profile back."""
        columns = {name: [str(x) for x in getattr(self.bracket, name)] for name in _COLUMNS}
        return json.dumps(
            {"format": _FORMAT, "about": dict(self.about), "infinite": str(self.bracket.infinite), **columns}
        )

    @staticmethod
    def from_json(text: str) -> PrivacyProfile:
        """A profile that `to_json` wrote."""
        found = json.loads(text)
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise ValueError(f"text must be JSON with the format {_FORMAT!r}, got {text[:60]!r}")
        columns = {name: tuple(map(Fraction, found[name])) for name in _COLUMNS}
        return PrivacyProfile(Bracket(**columns, infinite=Fraction(found["infinite"])), found["about"])

    # -- as a picture and as a value

    def plot(self, ax: Any = None) -> Any:
        """The bracket of δ(ε), ε >= 0, on logarithmic scale; returns the axes."""
        from importlib import import_module  # plotting is imported only where something is plotted

        return import_module("shuffle_sym.apps.plots").profile(self, ax)

    def __repr__(self) -> str:
        words = ", ".join(f"{key}={value}" for key, value in self.about.items())
        return f"PrivacyProfile({len(self)} points, {words})"


@dataclass(frozen=True)
class TradeOff:
    r"""f(x): no test that errs with probability at most x under Q errs with less than f(x) under P.

    >>> import shuffle_sym as ss
    >>> f = ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), n=1).profile().trade_off()
    >>> sp.Rational(1, 4) in f(sp.Rational(1, 4))
    True
    """

    profile: PrivacyProfile

    def __call__(self, type_1: Any) -> Interval:
        number = arguments.exact_number(type_1, "type_1")
        if not number.is_Rational or not 0 <= number <= 1:
            raise ValueError(f"type_1 must be a rational number in [0, 1], got {type_1!r}")
        x = Fraction(int(number.p), int(number.q))
        low, high = self.profile.upper.conjugate(x), self.profile.lower.conjugate(x)
        return Interval(_double(max(low, Fraction(0)), up=False), _double(high, up=True), "profile")


def _first_at_most(curve: Curve, target: Fraction) -> Fraction:
    """The smallest α with a value of at most ``target``; past the last vertex if there is none."""
    for (a, v), (b, w) in pairwise(curve.vertices):
        if w <= target:
            return a + (v - target) * (b - a) / (v - w)
    return curve.vertices[-1][0]


def _renyi(curve: Curve, order: sp.Expr) -> float:
    r""":math:`\sum q (\alpha^\lambda - 1 - \lambda(\alpha - 1))` has no negative terms, and each about 40 good digits.

    A term is about :math:`(\lambda - 1)(\alpha - 1)^2` for α near 1 and at least about λ − 1 elsewhere: so much of
    numbers around 1 cancels.
    """
    nearest = min((abs(atom.alpha - 1) for atom in curve.atoms if atom.alpha != 1), default=ONE)
    with mpmath.workdps(_DIGITS + _digits_of(1 / (order - 1)) + 2 * _digits_of(1 / nearest)):
        power = mpmath.mpf(order.p) / order.q if order.is_Rational else sp.lambdify((), order, "mpmath")()
        excess = mpmath.mpf(0)
        for alpha, q in curve.atoms:
            x = mpmath.mpf(alpha.numerator) / alpha.denominator
            excess += mpmath.mpf(q.numerator) / q.denominator * (x**power - 1 - power * (x - 1))
        if excess < 0:
            raise VerificationError(f"a Rényi moment below 1 at order {order}")
        return float(mpmath.log1p(excess) / (power - 1))


def _digits_of(number: Any) -> int:
    """Before the point, at most."""
    return int(number).bit_length() // 3 + 1


def _double(value: Fraction, *, up: bool) -> float:
    """The next double on the safe side."""
    found = float(value)
    if up and found < value:
        return math.nextafter(found, math.inf)
    return math.nextafter(found, -math.inf) if not up and found > value else found


def _log(alpha: Fraction, *, up: bool) -> float:
    """log α, some roundings to the safe side."""
    found = log_ratio(alpha)
    slack = 8 * field.UNIT_ROUNDOFF * abs(found)
    return found + slack if up else found - slack
