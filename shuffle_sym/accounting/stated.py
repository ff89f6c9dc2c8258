r"""Mechanisms of which others state how private they are: a profile, a trade-off curve, or a PLD of dp_accounting.

What is stated is believed to hold for *all* neighbouring datasets and both directions. Nothing is known from below:
there such a mechanism counts as one that says nothing. So in a composition the upper end is a bound *if* the stated
numbers are bounds, and the lower end is that of the other mechanisms, which stays one.

Shuffled mechanisms are for neighbours in which one user's input is *replaced*. Numbers of others do not say which
neighbours they are for, so it is asked. For one user added or removed, the two changes of a replacement go together: if
:math:`P(E) \le \alpha R(E) + \delta` and :math:`R(E) \le \alpha Q(E) + \delta` for all E, then
:math:`P(E) \le \alpha^2 Q(E) + (1 + \alpha)\delta`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq

from shuffle_sym.accounting import normal
from shuffle_sym.accounting.convex import Bracket, convex_minorant
from shuffle_sym.accounting.pld import CurvePLD, PrivacyLossDistribution
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.sampling import Progress
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import RTOL
from shuffle_sym.algebra.rationals import ONE, ZERO, rational

ADJACENCIES = ("replace-one", "add-or-remove-one")
_LARGEST_EPS = 500  # e^ε is a double
_POINTS = 2_000  # at which a PLD is read
_FARTHEST = 8.3  # standard deviations: beyond is less than 1e-16
_NOTHING = Bracket((ONE,), (ZERO,), (ONE,))


class StatedMechanism:
    """A mechanism with a profile that was made elsewhere, which `compose` takes beside shuffled ones.

    Made by `gaussian`, `from_profile`, `from_trade_off` and `from_dp_accounting`; or from a `PrivacyProfile` of this package, such
    as one that `PrivacyProfile.from_json` read, which keeps both of its ends.

    >>> import shuffle_sym as ss
    >>> central = StatedMechanism.from_profile([(1, 1e-7), (2, 1e-12)], adjacency="replace-one")
    >>> both = ss.compose([ss.Shuffle(ss.BinaryRR(eps0=1), n=1), central])
    >>> 1 < both.epsilon(1e-6).upper <= 2  # and one user alone has eps0 = 1
    True
    """

    closes = False
    both_directions = True

    def __init__(self, profile: PrivacyProfile) -> None:
        if not isinstance(profile, PrivacyProfile):
            raise TypeError(f"profile must be a PrivacyProfile; from_profile takes points, got {profile!r}")
        self._profile = profile

    def __repr__(self) -> str:
        return f"StatedMechanism({self._profile!r})"

    def profile(self) -> PrivacyProfile:
        """What was stated, as the upper curve of a profile; the lower one is 0 where nothing is known."""
        return self._profile

    @property
    def max_loss(self) -> sp.Expr:
        """The ε from which on the stated δ is 0."""
        return CurvePLD(self._profile.upper).max_loss

    @property
    def attained_loss(self) -> sp.Expr:
        """The ε from which on it is not known that δ is above 0."""
        return CurvePLD(self._profile.lower).max_loss

    def loss_distributions(
        self, rtol: float, least: float, max_points: int, progress: Progress
    ) -> tuple[PrivacyLossDistribution, PrivacyLossDistribution]:
        """One that is dominated by the mechanism and one that dominates it, if what was stated is true."""
        lower, upper = self._profile.lower, self._profile.upper
        return CurvePLD(lower.shortened(least, above=False)), CurvePLD(upper.shortened(least, above=True))

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        """Bounds of the Rényi divergence; refused where the stated δ does not reach 0."""
        return self._profile.rdp(order)

    @classmethod
    def gaussian(cls, mu: Any) -> StatedMechanism:
        r"""The Gaussian mechanism: N(0, 1) against N(μ, 1), both ends certified.

        μ = ``mu`` is the largest change of the released vector, over all neighbours, in standard deviations of the
        noise. Its curve is enclosed at 2,000 points. Several of them are one with the root of the sum of their μ².

        >>> 0.12693674 in StatedMechanism.gaussian(1).profile().delta(1)
        True
        """
        shift = arguments.positive(mu, "mu")
        end = shift * (shift / 2 + _FARTHEST)
        if end > _LARGEST_EPS:
            raise ValueError(f"mu must be at most 20, got {mu!r}")
        alphas = [rational(math.exp(e)) for e in np.linspace(-end, end, _POINTS).tolist()]
        ends = [normal.divergence(alpha, shift) for alpha in alphas]
        bracket = Bracket(alphas, [low for low, _ in ends], [high for _, high in ends])
        return cls(PrivacyProfile(bracket, bracket, {"Gaussian, mu": shift}))

    @classmethod
    def from_profile(cls, points: Any, *, adjacency: Any = None) -> StatedMechanism:
        r"""From pairs (ε, δ), ε >= 0, or a mapping ε → δ: the mechanism is (ε, δ)-DP for each of them.

        Between the points it is the largest curve that is convex in e^ε; after the last one δ stays what it is there.
        ``adjacency`` is ``"replace-one"`` or ``"add-or-remove-one"``.

        >>> StatedMechanism.from_profile({0: 0.5, 1: 0.1}, adjacency="replace-one").profile().delta(1).upper < 0.1001
        True
        """
        neighbours = _adjacency(adjacency)
        stated: dict[fmpq, fmpq] = {}
        for eps, delta in _pairs(points, "points"):
            alpha, value = _alpha(eps), _above(_unit(delta, "delta"))
            stated[alpha] = min(value, stated.get(alpha, ONE))
        return cls(_profile(stated, neighbours, "profile"))

    @classmethod
    def from_trade_off(cls, points: Any, *, adjacency: Any = None) -> StatedMechanism:
        r"""From pairs (x, y), or a mapping x → y: no test with an error of the first kind of at most x has one of the
        second kind below y. The more points the sharper: a line between two points of a convex curve is *above* it, so
        between them only that the curve does not increase is used.

        With y_i stated at x_i, the curve is at least y_{i+1} up to x_{i+1}, and :math:`D_\alpha = \max_x 1 - f(x) -
        \alpha x` is attained at a corner :math:`(x_i, y_{i+1})`.

        >>> f = {sp.Rational(i, 40): max(1 - 3 * sp.Rational(i, 40), (1 - sp.Rational(i, 40)) / 3) for i in range(41)}
        >>> M = StatedMechanism.from_trade_off(f, adjacency="replace-one")  # 2-RR with e^ε0 = 3 has D_1 = 1/2
        >>> 0.5 <= M.profile().delta(0).upper < 0.54
        True
        """
        neighbours = _adjacency(adjacency)
        stated = sorted((_unit(x, "x"), _unit(y, "y")) for x, y in _pairs(points, "points"))
        xs = [ZERO, *(_below(x) for x, _ in stated)]
        ys = [*(_below(y) for _, y in stated), ZERO]
        corners: dict[fmpq, fmpq] = {}
        for x, y in zip(xs, ys, strict=True):
            corners[x] = min(y, corners.get(x, ONE))
        values: dict[fmpq, fmpq] = {ONE: ONE}
        for (x, y), (right, lower) in pairwise(convex_minorant(sorted(corners.items()))):
            if y > lower:  # the line through these two corners is below all others
                alpha = (y - lower) / (right - x)
                values[alpha] = 1 - y - alpha * x
        return cls(_profile(values, neighbours, "trade-off curve"))

    @classmethod
    def from_dp_accounting(cls, pld: Any, *, adjacency: Any = None, least_delta: Any = 1e-15) -> StatedMechanism:
        """From a ``PrivacyLossDistribution`` of Google's dp_accounting, composed already or not, read at 2,000 points
        down to ``least_delta``. It must be a pessimistic one; its own round-off is not certified.
        """
        neighbours, least = _adjacency(adjacency), arguments.open_unit(least_delta, "least_delta")
        parts = [getattr(pld, name, None) for name in ("_pmf_remove", "_pmf_add")]
        if not hasattr(pld, "get_delta_for_epsilon") or parts[0] is None:
            raise TypeError(f"pld must be a PrivacyLossDistribution of dp_accounting, got {pld!r}")
        if not all(getattr(part, "_pessimistic_estimate", False) for part in parts if part is not None):
            raise ValueError("pld must be made with pessimistic_estimate=True: another one bounds nothing from above")
        while not math.isfinite(end := float(pld.get_epsilon_for_delta(least))):
            least = min(2 * least, 1.0)  # so much has an infinite loss
        eps = np.linspace(0.0, min(max(end, 1e-9), _LARGEST_EPS), _POINTS)
        deltas = np.clip(pld.get_delta_for_epsilon(eps), 0.0, 1.0)
        points = {_alpha(e): _above(rational(d)) for e, d in zip(eps.tolist(), deltas.tolist(), strict=True)}
        return cls(_profile(points, neighbours, "PLD of dp_accounting"))


def _adjacency(adjacency: Any) -> str:
    if adjacency is None:
        raise ValueError(
            "adjacency must be given, because the numbers do not say which neighbours they are for: "
            "'replace-one' as for shuffled mechanisms, or 'add-or-remove-one'"
        )
    return arguments.one_of(adjacency, "adjacency", ADJACENCIES)


def _pairs(points: Any, name: str) -> list[tuple[Any, Any]]:
    listed = list(points.items()) if isinstance(points, Mapping) else points
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise TypeError(f"{name} must be pairs of numbers or a mapping, got {points!r}")
    pairs = [tuple(pair) if isinstance(pair, Iterable) else (pair,) for pair in listed]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{name} must be pairs of numbers, one at least, got {pairs[:3]!r}")
    return [(first, second) for first, second in pairs]


def _unit(value: Any, name: str) -> fmpq:
    number = arguments.exact_number(value, name)
    if not number.is_Rational or not 0 <= number <= 1:
        raise ValueError(f"{name} must be a rational number between 0 and 1, got {value!r}")
    return fmpq(int(number.p), int(number.q))


def _above(value: fmpq) -> fmpq:
    """A double that is not below it: fractions stay short."""
    return rational(min(rounding.up(Fraction(int(value.p), int(value.q))), 1.0))


def _below(value: fmpq) -> fmpq:
    return rational(max(rounding.down(Fraction(int(value.p), int(value.q))), 0.0))


def _alpha(eps: Any) -> fmpq:
    """e^ε, a little larger: a larger α has no larger δ."""
    number = float(arguments.central_epsilon(eps))
    if number > _LARGEST_EPS:
        raise ValueError(f"eps must be at most {_LARGEST_EPS} where it is stated by others, got {eps!r}")
    return rational(math.exp(number) * (1 + 8 * (1 + number) * rounding.UNIT_ROUNDOFF)) if number else ONE


def _profile(stated: Mapping[fmpq, fmpq], neighbours: str, kind: str) -> PrivacyProfile:
    r"""The curve through bounds α → D_α that hold in both directions, so that :math:`D_{1/\alpha} \le 1 - (1 -
    D_\alpha)/\alpha`."""
    if neighbours != "replace-one":
        stated = {a * a: min((1 + a) * v, ONE) for a, v in stated.items()}
    both = {1 / a: 1 - (1 - v) / a for a, v in stated.items()}
    both |= {a: min(v, both.get(a, ONE)) for a, v in stated.items()}
    alphas = sorted(both)
    uppers = [both[a] for a in alphas]
    return PrivacyProfile(_NOTHING, Bracket(alphas, uppers, uppers), {"stated as": kind, "neighbours": neighbours})
