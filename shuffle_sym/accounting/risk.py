r"""What a privacy profile means for one person: an attacker's advantage, error and equivalent normal shift.

The attacker knows everybody else's data and that this person's input is one of two, and sees the shuffled messages. A
profile brackets :math:`D_\alpha(P \| Q)` for every α > 0, and everything here is a function of that curve.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import scipy
import sympy as sp
from flint import fmpq

from shuffle_sym.accounting.convex import HockeyStickCurve
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.stated import normal_divergence
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rationals import fraction, rational

_LITTLE = 1e-9  # the δ that is left out unless the caller names one; `__str__` writes it as 10⁻⁹
_SLACK = 1e-12  # relative and absolute: a hundred times the error of SciPy's normal quantile


@dataclass(frozen=True)
class Risk:
    r"""The risk of one person from a ``profile``: upper ends hold for every pair of neighbouring datasets.

    `Shuffle.risk` and `Composition.risk` make it from a mechanism; printed, it says in words what the numbers mean.

    >>> import shuffle_sym as ss
    >>> risk = Risk(ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), n=1).profile())
    >>> sp.Rational(1, 2) in risk.advantage, sp.Rational(1, 4) in risk.error("1/2")  # 3/4 against 1/4
    (True, True)
    >>> "They guess right at most 75 % of the time, against 50 % without the messages." in str(risk)
    True
    """

    profile: PrivacyProfile

    @property
    def advantage(self) -> Interval:
        """The largest difference between the probabilities that a test says "x0" when the input is x0 and when it is
        x1: the total variation distance, which is δ at ε = 0."""
        answer: Interval = self.profile.delta(0)
        return answer

    def error(self, prior: Any) -> Interval:
        r"""The Bayes risk: the probability with which the best guess is wrong, if x0 has the probability π = ``prior``.

        .. math:: \sum \min(\pi P, (1 - \pi) Q) = \pi (1 - D_\alpha(P \| Q)), \qquad \alpha = (1 - \pi)/\pi.

        Without the messages it is min(π, 1 − π). The *lower* end is the guarantee.
        """
        share = _share(prior)
        alpha = (1 - share) / share
        curves = (self.profile.upper, self.profile.lower)
        low, high = (share * (1 - fraction(curve(fmpq(alpha.numerator, alpha.denominator)))) for curve in curves)
        return Interval(max(rounding.down(low), 0.0), rounding.up(min(high, share, 1 - share)), "profile")

    def success(self, prior: Any) -> Interval:
        """The probability that the best guess is right. Without the messages it is max(π, 1 − π), π = ``prior``."""
        error = self.error(prior)
        ends = [1 - Fraction(end) for end in (error.upper, error.lower)]
        return Interval(rounding.down(ends[0]), rounding.up(ends[1]), "profile")

    def mu(self, delta: Any = _LITTLE) -> Interval:
        r"""The smallest μ for which the mechanism is μ-GDP up to δ = ``delta`` (Dong, Roth and Su 2022): no test has an
        error of the second kind that is smaller by more than δ than that of a test between N(0, 1) and N(μ, 1).

        A mechanism with bounded losses has a μ that its rarest outputs decide, and one with impossible outputs has
        none; a small δ leaves these out, as it does in (ε, δ)-DP.

        The trade-off curve f of a convex curve D is piecewise linear, with a corner for each segment: the event E with
        Q(E) = −slope and P(E) = D_α + αQ(E). The trade-off curve of a normal shift is convex, so it is below f + δ
        everywhere if it is at the corners: μ is the largest :math:`\Phi^{-1}(P(E) - \delta) - \Phi^{-1}(Q(E))`.
        """
        little = fraction(rational(arguments.open_unit(delta, "delta")))
        low, high = (_largest_shift(curve, little) for curve in (self.profile.lower, self.profile.upper))
        least = low if math.isinf(low) else max(low - _SLACK * (1 + low), 0.0)
        return Interval(least, high + _SLACK * (1 + high), "profile")

    def shifts(self, delta: Any = _LITTLE) -> Interval:
        r"""Two normal shifts that bracket the mechanism up to δ = ``delta``: no test of its datasets is better than one
        between N(0, 1) and N(μ, 1) for the upper μ, that of `mu`, and tests of the worst pair are at least as good as
        for the lower μ: there D_α of the normal laws is at most δ above the curve from below. It is convex and that
        curve piecewise linear, so that it is enough to compare them at the vertices.

        >>> import shuffle_sym as ss
        >>> shifts = Risk(ss.Shuffle(ss.BinaryRR(eps0=1), n=10).profile(rtol=0.05)).shifts(1e-6)
        >>> 0.2 < shifts.lower < shifts.upper < 0.5
        True
        """
        little, largest = rational(arguments.open_unit(delta, "delta")), self.mu(delta).upper
        vertices = [(alpha, value + little) for alpha, value in self.profile.lower.vertices if alpha != 0]
        low, high = 0.0, min(largest, 40.0)  # a shift by 40 standard deviations is always seen
        for _ in range(20):
            middle = (low + high) / 2
            fits = all(normal_divergence(alpha, middle)[1] <= value for alpha, value in vertices)
            low, high = (middle, high) if fits else (low, middle)
        return Interval(low, largest, "profile")

    def __str__(self) -> str:
        return (
            f"{in_words(self.success(sp.Rational(1, 2)).upper)} Except with probability 10⁻⁹, telling the two values "
            f"apart is at least as hard as telling N(0, 1) from N({self.mu().shown[1]}, 1)."
        )


def in_words(success: float) -> str:
    """What it means that the best guess is right with probability at most ``success``, in percent that are rounded up.

    >>> "They guess right at most 51.9 % of the time, against 50 % without the messages." in in_words(0.518953)
    True
    """
    return (
        "Suppose an attacker knows everyone else's data and that yours is one of two values, equally likely. They "
        f"guess right at most {math.ceil(Fraction(success) * 1000) / 10:g} % of the time, against 50 % without the "
        "messages."
    )


def _share(prior: Any) -> Fraction:
    number = arguments.between_0_and_1(prior, "prior")
    if not number.is_Rational:
        raise ValueError(f"prior must be a rational number strictly between 0 and 1, got {prior!r}")
    return Fraction(int(number.p), int(number.q))


def _largest_shift(curve: HockeyStickCurve, delta: Fraction) -> float:
    if fraction(curve.infinite) > delta:
        return float("inf")
    shifts = [0.0]
    for (alpha, value), (beta, other) in pairwise(curve.vertices):
        q = fraction((value - other) / (beta - alpha))
        p = fraction(value) + fraction(alpha) * q - delta
        if p > 0 and q < 1:
            shifts.append(_quantile(p) - _quantile(q))
    return max(shifts)


def _quantile(p: Fraction) -> float:
    """Φ⁻¹(p), from the nearer end."""
    return float(scipy.special.ndtri(float(p))) if 2 * p < 1 else -float(scipy.special.ndtri(float(1 - p)))
