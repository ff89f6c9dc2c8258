r"""The privacy profile: δ(ε) at every ε, of either sign, bracketed by two convex curves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import sympy as sp
from flint import arb, fmpq

from shuffle_sym.accounting import cards
from shuffle_sym.accounting.convex import Bracket, HockeyStickCurve
from shuffle_sym.accounting.pld import CurvePLD, log_ratio
from shuffle_sym.algebra import arguments, balls, field, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rationals import ONE, ZERO, fraction, rational

SIDES = ("upper", "lower")
_BITS = 140
_FARTHEST_EPS = 10**5
_COLUMNS = ("alphas", "lowers", "uppers")
_FORMAT = "shuffle_sym privacy profile 2"  # 1 was about the blanket, and is refused


@dataclass(frozen=True)
class PrivacyProfile:
    r"""Two curves with :math:`\text{lower} \le D_\alpha \le \text{upper}` for **every** α > 0.

    Both are convex in α, so each is the hockey-stick curve of a pair of distributions. Of a mechanism the lower one is
    dominated by two neighbouring datasets and the upper one dominates all of them, in compositions too; ``below`` and
    ``above`` are the sampled values that they were made from, the same object for a single pair of laws. ``about`` says
    what was sampled and how.

    >>> import shuffle_sym as ss
    >>> profile = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).profile()
    >>> sp.Rational(2552, 15625) in profile.delta(sp.log(sp.Rational(6, 5)))
    True
    """

    below: Bracket
    above: Bracket
    about: Mapping[str, Any]

    # -- the curves

    @property
    def upper(self) -> HockeyStickCurve:
        """The curve that is at least δ(ε) everywhere."""
        return self.above.upper

    @property
    def lower(self) -> HockeyStickCurve:
        """The curve that is at most δ(ε) everywhere."""
        return self.below.lower

    @property
    def max_eps(self) -> float:
        """The largest ε that was sampled; from there on the profile is exactly 0 if ``ends_at_zero``."""
        return _log(self.above.alphas[-1], up=False)

    @property
    def ends_at_zero(self) -> bool:
        """Whether the upper curve is exactly 0 from some ε on."""
        return self.upper.infinite == 0

    def __len__(self) -> int:
        return len(self.above.alphas)

    # -- numbers

    def delta(self, eps: Any) -> Any:
        r"""Bounds of δ(ε), for ε of either sign; points between the sampled ones included; a list for a list."""
        return arguments.each(eps, "eps", self._delta)

    def _delta(self, eps: Any) -> Interval:
        number = arguments.exact_number(eps, "eps")
        if number.free_symbols:
            raise ValueError(f"eps must be a number, got {eps!r}")
        # Farther out only the nearest double to 0 or 1 is told, and that is the same.
        number = sp.Max(sp.Min(number, _FARTHEST_EPS), -_FARTHEST_EPS)
        ((low, high),) = field.enclosures((field.alpha,), {field.alpha: sp.exp(number)}, 64)
        if rational(high) > self.above.alphas[-1] and not self.ends_at_zero:
            raise ValueError(
                f"eps must be at most {self.max_eps:.6g}, where this profile ends, got {eps!r}; "
                "a smaller least_delta makes it longer"
            )
        return Interval(_double(self.lower(high), up=False), _double(self.upper(low), up=True), "profile")

    def epsilon(self, delta: Any) -> Any:
        r"""Bounds of the smallest ε >= 0 with δ(ε) <= ``delta``; a list for a list."""
        return arguments.each(delta, "delta", self._epsilon)

    def _epsilon(self, delta: Any) -> Interval:
        target = rational(arguments.delta_target(delta))
        if self.upper.infinite > target:
            raise ValueError(
                f"delta = {float(target):g} is not reached: this profile ends with delta = "
                f"{float(self.upper.infinite):.3g} at eps = {self.max_eps:.6g}; a smaller least_delta makes it longer"
            )
        low, high = (_first_at_most(curve, target) for curve in (self.lower, self.upper))
        return Interval(max(_log(low, up=False), 0.0), max(_log(high, up=True), 0.0), "profile")

    def rdp(self, order: Any) -> Any:
        r"""Bounds of the Rényi divergence :math:`\frac1{\lambda-1}\log\mathbb E_Q[(P/Q)^\lambda]`, λ = ``order`` > 1.

        Each curve is a pair, and its moment a finite sum. If the profile does not end at zero the upper end is
        infinite, and it is refused. A list of orders gives a list.
        """
        return arguments.each(order, "order", self._rdp)

    def _rdp(self, order: Any) -> Interval:
        power = arguments.order(order)
        if not self.ends_at_zero:
            raise ValueError(
                f"order = {order}: the Rényi divergence has no finite bound, because delta does not reach 0 "
                "(some loss is unbounded, or impossible under the other input)"
            )
        lower, upper = (_renyi(curve, power) for curve in (self.lower, self.upper))
        return Interval(max(balls.lower(lower), 0.0), balls.upper(upper), "profile")

    def trade_off(self) -> TradeOff:
        """The f-DP curve: the least error of the second kind of any test of P against Q."""
        return TradeOff(self)

    def as_pld(self, side: str = "upper") -> CurvePLD:
        """The privacy loss distribution of the pair that dominates (or, with ``side="lower"``, is dominated)."""
        return CurvePLD(getattr(self, arguments.one_of(side, "side", SIDES)))

    @cached_property
    def plds(self) -> tuple[CurvePLD, CurvePLD]:
        """The privacy loss distributions of the lower and of the upper curve."""
        return self.as_pld("lower"), self.as_pld("upper")

    # -- ways out

    def rows(self) -> list[dict[str, float]]:
        """The sampled points: ε, α and the bounds of δ there, rounded outward."""
        return [
            {
                "eps": log_ratio(alpha),
                "alpha": float(alpha),
                "lower": _double(self.lower(alpha), up=False),
                "upper": _double(self.upper(alpha), up=True),
            }
            for alpha in self.above.alphas
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
        brackets = [self.below] if self.below is self.above else [self.below, self.above]
        columns = [
            {**{name: [str(x) for x in getattr(bracket, name)] for name in _COLUMNS}, "infinite": str(bracket.infinite)}
            for bracket in brackets
        ]
        return json.dumps({"format": _FORMAT, "about": dict(self.about), "brackets": columns})

    @staticmethod
    def from_json(text: str) -> PrivacyProfile:
        """A profile from the ``text`` that `to_json` wrote."""
        saved = json.loads(text)
        if not isinstance(saved, dict) or saved.get("format") != _FORMAT:
            raise ValueError(f"text must be JSON with the format {_FORMAT!r}, got {text[:60]!r}")
        brackets = []
        for saved_columns in saved["brackets"]:
            columns = [tuple(rational(Fraction(x)) for x in saved_columns[name]) for name in _COLUMNS]
            brackets.append(Bracket(columns[0], columns[1], columns[2], rational(Fraction(saved_columns["infinite"]))))
        return PrivacyProfile(brackets[0], brackets[-1], saved["about"])

    # -- as a picture and as a value

    def plot(self, ax: Any = None) -> Any:
        """The bracket of δ(ε), ε >= 0, on logarithmic scale, in ``ax`` or new axes, which are returned."""
        from importlib import import_module  # plotting is imported only where something is plotted

        return import_module("shuffle_sym.apps.plots").profile(self, ax)

    def __repr__(self) -> str:
        words = ", ".join(f"{key}={value}" for key, value in self.about.items())
        return f"PrivacyProfile({len(self)} points, {words})"

    def _repr_html_(self) -> str:
        return cards.of_profile(self)


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
        return Interval(_double(max(low, ZERO), up=False), _double(high, up=True), "profile")


def _first_at_most(curve: HockeyStickCurve, target: fmpq) -> fmpq:
    """The smallest α with a value of at most ``target``; past the last vertex if there is none."""
    for (a, v), (b, w) in pairwise(curve.vertices):
        if w <= target:
            return a + (v - target) * (b - a) / (v - w)
    return curve.vertices[-1][0]


def _renyi(curve: HockeyStickCurve, order: sp.Expr) -> arb:
    r""":math:`\frac1{\lambda-1}\log(1 + \sum q (\alpha^\lambda - 1 - \lambda(\alpha - 1)))`, enclosed.

    No term of the sum is negative. A term is about :math:`(\lambda - 1)(\alpha - 1)^2` for α near 1 and at least about
    λ − 1 elsewhere: so many bits of numbers around 1 cancel.
    """
    nearest = min((abs(outcome.alpha - 1) for outcome in curve.outcomes if outcome.alpha != 1), default=ONE)
    bits = _BITS + _bits_of(1 / (order - 1)) + 2 * _bits_of((1 / nearest).ceil())
    ((low, high),) = field.enclosures((field.alpha,), {field.alpha: order}, bits)
    with balls.LOCK, balls.workprec(bits):
        power = balls.ball(low).union(balls.ball(high))
        excess = arb(0)
        for alpha, q in curve.outcomes:
            x = arb(alpha)
            excess += arb(q) * ((x**power if alpha != 0 else arb(0)) - 1 - power * (x - 1))
        return excess.nonnegative_part().log1p() / (power - 1)


def _bits_of(number: Any) -> int:
    """Before the point."""
    return int(number).bit_length() + 1


def _double(value: fmpq, *, up: bool) -> float:
    """The next double on the safe side."""
    return rounding.up(fraction(value)) if up else rounding.down(fraction(value))


def _log(alpha: fmpq, *, up: bool) -> float:
    """log α, some roundings to the safe side."""
    about = log_ratio(alpha)
    slack = 8 * rounding.UNIT_ROUNDOFF * abs(about)
    return about + slack if up else about - slack
