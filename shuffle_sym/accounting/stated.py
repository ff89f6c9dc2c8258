r"""Mechanisms whose privacy somebody else states: by a profile, a trade-off curve, or a PLD of dp_accounting.

The statement is believed, for *all* neighbouring datasets and both directions. It gives no lower bound: there such a
mechanism counts as one that reveals nothing. So the upper end of a composition is a bound *if* the stated numbers are,
and the lower end is that of the other mechanisms. Shuffled mechanisms have neighbours in which one user's input is
*replaced*; numbers do not say what theirs are, so it is asked. For one user added or removed, two changes make a
replacement: if :math:`P \le \alpha R + \delta` and :math:`R \le \alpha Q + \delta` on all events, then :math:`P \le
\alpha^2 Q + (1 + \alpha)\delta`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, fmpq

from shuffle_sym.accounting.convex import Bracket
from shuffle_sym.accounting.pld import CurvePLD, PrivacyLossDistribution
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.sampling import Progress
from shuffle_sym.algebra import arguments, balls, rounding
from shuffle_sym.algebra.interval import RTOL
from shuffle_sym.algebra.rationals import ONE, ZERO, convex_minorant, rational

_ADJACENCIES = ("replace-one", "add-or-remove-one")
_LARGEST_EPS = 500  # e^ε is a double
_POINTS = 2_000  # at which a curve is read
_NOTHING = Bracket((ONE,), (ZERO,), (ONE,))


class StatedMechanism:
    """A mechanism with a profile that was made elsewhere, which `compose` takes beside shuffled ones. One that this
    package made, such as `PrivacyProfile.from_json` reads, keeps both of its ends.

    >>> import shuffle_sym as ss
    >>> central = StatedMechanism.from_profile([(1, 1e-7), (2, 1e-12)], adjacency="replace-one")
    >>> both = ss.compose([ss.Shuffle(ss.BinaryRR(eps0=1), n=1), central])
    >>> 1.99 < both.epsilon(1e-6).upper < 2.01  # one user alone has eps0 = 1
    True
    """

    closes, both_directions = False, True

    def __init__(self, profile: PrivacyProfile) -> None:
        if not isinstance(profile, PrivacyProfile):
            raise TypeError(f"profile must be a PrivacyProfile; from_profile takes points, got {profile!r}")
        self.profile = profile
        #: The ε from which on the stated δ is 0, and that from which on it is not known to be above 0.
        self.max_loss, self.attained_loss = (CurvePLD(curve).max_loss for curve in (profile.upper, profile.lower))

    def __repr__(self) -> str:
        return f"StatedMechanism({self.profile!r})"

    def loss_distributions(
        self, rtol: float, least: float, max_points: int, progress: Progress
    ) -> tuple[PrivacyLossDistribution, PrivacyLossDistribution]:
        """One that is dominated and one that dominates, if what was stated is true, down to δ = ``least``;
        ``rtol``, ``max_points`` and ``progress`` are not used."""
        lower = self.profile.lower.shortened(least, above=False)
        return CurvePLD(lower), CurvePLD(self.profile.upper.shortened(least, above=True))

    def rdp(self, order: Any, *, rtol: Any = RTOL) -> Any:
        """Bounds of the Rényi divergence of ``order``; ``rtol`` is not used. Refused where the stated δ is never 0."""
        return self.profile.rdp(order)

    @classmethod
    def gaussian(cls, mu: Any) -> StatedMechanism:
        r"""The Gaussian mechanism, both ends certified. μ = ``mu`` is the largest change of the released vector, over
        all neighbours, in standard deviations of the noise; several are one with the root of the sum of their μ².

        >>> 0.12693674 in StatedMechanism.gaussian(1).profile.delta(1)
        True
        """
        shift = arguments.positive(mu, "mu")
        end = shift * (shift / 2 + 8.3)  # D_α is less than 1e-16 beyond
        if end > _LARGEST_EPS:
            raise ValueError(f"mu must be at most 20, got {mu!r}")
        alphas = [rational(math.exp(e)) for e in np.linspace(-end, end, _POINTS).tolist()]
        lowers, uppers = zip(*(normal_divergence(alpha, shift) for alpha in alphas), strict=True)
        bracket = Bracket(alphas, lowers, uppers)
        return cls(PrivacyProfile(bracket, bracket, {"Gaussian, mu": shift}))

    @classmethod
    def from_profile(cls, points: Any, *, adjacency: Any = None) -> StatedMechanism:
        r"""From ``points`` (ε, δ), ε >= 0, or a mapping ε → δ: it is (ε, δ)-DP for each of them. Between them is the
        largest curve that is convex in e^ε. ``adjacency`` is ``"replace-one"`` or ``"add-or-remove-one"``.

        >>> StatedMechanism.from_profile({0: 0.5, 1: 0.1}, adjacency="replace-one").profile.delta(1).upper < 0.1001
        True
        """
        neighbours, stated = _adjacency(adjacency), [(_alpha(e), _unit(d, "delta", 1)) for e, d in _pairs(points)]
        return cls(_profile(dict(sorted(stated, reverse=True)), neighbours, "profile"))

    @classmethod
    def from_trade_off(cls, points: Any, *, adjacency: Any = None) -> StatedMechanism:
        r"""From pairs (x, y), or a mapping x → y: no test with an error of the first kind of at most x has one of the
        second kind below y. The more points the sharper: a line between two points of a convex curve is *above* it, so
        between them only that the curve does not increase is used. Then :math:`D_\alpha = \max_x 1 - f(x) - \alpha x`
        is attained at a corner: at one x, with the y of the next. ``adjacency`` as for `from_profile`.

        >>> StatedMechanism.from_trade_off({0.25: 0.25}, adjacency="replace-one").profile.delta(0).upper  # f(0) >= 1/4
        0.75
        """
        neighbours = _adjacency(adjacency)
        stated = sorted((_unit(x, "x", -1), _unit(y, "y", -1)) for x, y in _pairs(points))
        corners = zip((ZERO, *(x for x, _ in stated)), (*(y for _, y in stated), ZERO), strict=True)
        lowest = dict(sorted(corners, reverse=True))  # of corners above each other the lowest
        values = {ONE: ONE}
        for (x, y), (right, lower) in pairwise(convex_minorant(sorted(lowest.items()))):
            if y > lower:  # no corner is below the line through these two
                alpha = (y - lower) / (right - x)
                values[alpha] = 1 - y - alpha * x
        return cls(_profile(values, neighbours, "trade-off curve"))

    @classmethod
    def from_dp_accounting(cls, pld: Any, *, adjacency: Any = None, least_delta: Any = 1e-15) -> StatedMechanism:
        """From ``pld``, a ``PrivacyLossDistribution`` of dp_accounting, composed already or not, read at 2,000 points
        down to ``least_delta``. It must be a pessimistic one for this ``adjacency``; its round-off is not certified."""
        neighbours, least = _adjacency(adjacency), arguments.open_unit(least_delta, "least_delta")
        parts = [getattr(pld, name, None) for name in ("_pmf_remove", "_pmf_add")]
        if parts[0] is None:
            raise TypeError(f"pld must be a PrivacyLossDistribution of dp_accounting, got {pld!r}")
        if not all(getattr(part, "_pessimistic_estimate", False) for part in parts if part is not None):
            raise ValueError("pld must be made with pessimistic_estimate=True: an optimistic one is no upper bound")
        while not math.isfinite(end := float(pld.get_epsilon_for_delta(least))):
            least = min(2 * least, 1.0)  # so much has an infinite loss
        eps = np.linspace(0.0, min(max(end, 1e-9), _LARGEST_EPS), _POINTS)
        deltas = np.clip(pld.get_delta_for_epsilon(eps), 0.0, 1.0)
        points = {_alpha(e): rational(d) for e, d in zip(eps.tolist(), deltas.tolist(), strict=True)}
        return cls(_profile(points, neighbours, "PLD of dp_accounting"))


def normal_divergence(alpha: fmpq, mu: float) -> tuple[fmpq, fmpq]:
    r"""Bounds of D_α of N(0, 1) against N(μ, 1): :math:`\Phi(\mu/2 - \varepsilon/\mu) - \alpha\,\Phi(-\mu/2 -
    \varepsilon/\mu)`, ε = log α (Balle and Wang 2018)."""
    with balls.LOCK, balls.workprec(120):
        ratio, shift, root = arb(alpha), arb(mu), arb(2).sqrt()
        middle = ratio.log() / shift
        value = ((middle - shift / 2) / root).erfc() / 2 - ratio * ((middle + shift / 2) / root).erfc() / 2
        return rational(max(balls.lower(value), 0.0)), rational(min(balls.upper(value), 1.0))


def _adjacency(adjacency: Any) -> str:
    if adjacency is None:
        raise ValueError(f"adjacency must be one of {_ADJACENCIES}: the numbers do not say which datasets they compare")
    return arguments.one_of(adjacency, "adjacency", _ADJACENCIES)


def _pairs(points: Any) -> list[Any]:
    listed = points.items() if isinstance(points, Mapping) else points
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise TypeError(f"points must be pairs of numbers or a mapping, got {points!r}")
    pairs = list(listed)
    if not pairs or any(np.shape(pair) != (2,) for pair in pairs):
        raise ValueError(f"points must be pairs of numbers, one at least, got {pairs[:3]!r}")
    return pairs


def _unit(value: Any, name: str, side: int) -> fmpq:
    """A number from 0 to 1 as a double that is not below it (or not above), so that fractions stay short."""
    number = arguments.exact_number(value, name)
    if not number.is_Rational or not 0 <= number <= 1:
        raise ValueError(f"{name} must be a rational number between 0 and 1, got {value!r}")
    return rational((rounding.up if side > 0 else rounding.down)(Fraction(int(number.p), int(number.q))))


def _alpha(eps: Any) -> fmpq:
    """e^ε, a little larger: a larger α has no larger δ."""
    number = float(arguments.central_epsilon(eps))
    if number > _LARGEST_EPS:
        raise ValueError(f"eps must be at most {_LARGEST_EPS} where it is stated by others, got {eps!r}")
    return rational(math.exp(number) * (1 + 8 * (1 + number) * rounding.UNIT_ROUNDOFF)) if number else ONE


def _profile(stated: Mapping[fmpq, fmpq], neighbours: str, kind: str) -> PrivacyProfile:
    r"""The curve below bounds that hold in both directions: :math:`D_{1/\alpha} \le 1 - (1 - D_\alpha)/\alpha`."""
    if neighbours != "replace-one":
        stated = {a * a: min((1 + a) * v, ONE) for a, v in stated.items()}
    both = {1 / a: 1 - (1 - v) / a for a, v in stated.items()}
    both |= {a: min(v, both.get(a, ONE)) for a, v in stated.items()}
    alphas = sorted(both)
    uppers = [both[a] for a in alphas]
    return PrivacyProfile(_NOTHING, Bracket(alphas, uppers, uppers), {"stated as": kind, "neighbours": neighbours})
