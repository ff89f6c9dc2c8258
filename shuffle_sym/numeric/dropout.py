r"""The drop-out bound of all datasets, certified in doubles, at a cost that does not grow with n.

For inputs x0, x1 and every other input x let w = R(x0) − αR(x1) and G_x = w(Y)/R(x)(Y), Y ~ R(x). With the blanket mass
γ and Φ*_N the largest mean positive part :math:`\frac1N \mathbb E[G_{x_1} + \dots + G_{x_N}]_+` over all inputs,

.. math:: D_\alpha \;\le\; \sum_{j=1}^{n-1} \gamma(1-\gamma)^{j-1}\, \Phi^*_{n-j} + (1-\gamma)^{n-1} D_1,
          \qquad D_1 = D_\alpha(R(x_0) \| R(x_1)),

for every dataset of the other n − 1 users (`truth.dropout` has the proof and exact values). Φ*_N does not increase with
N, and Φ*_1 = D_1: from any place J <= n − 1 on, the rest of the sum is at most (1 − γ)^J D_1. The places before are
bounded in groups of similar N, in each of them by one of

* one integral of moduli for all inputs and all places of the group (`moduli`, with the sum of `places` inside);
* one contour integral for equal others (`placed`), if it is certain that equal others are the worst (`exchange`):
  they have a little more variance there, so that it can be certain also where laws are nearly alike.

Messages that are impossible under x but not under x0 add their :math:`s_x = \sum [w]_+`: in the mean over the users at
most the largest one, and in D_1 they are contained. With such messages the means of the G_x are not the same, and the
second way is closed.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SUBNORMAL_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.laws_in_cells import Raised
from shuffle_sym.numeric import exchange, placed, rare
from shuffle_sym.numeric.elementary import COARSE, coarse_waves
from shuffle_sym.numeric.moduli import NARROW, Cells, Tilts
from shuffle_sym.numeric.places import Places
from shuffle_sym.numeric.transforms import Array, checked

Row = tuple[Array, Array]

TOLERANCE, _ROUGHLY = 3e-4, 1e-2  # the second one for each of several parts
_LARGEST_EXPONENT = 690.0
_FAR_APART = 1e100  # cubes of values over the largest have to be doubles
_LARGEST_GAMMA = 1 - UNIT_ROUNDOFF
_REST = 12.0  # the places left out weigh about e^−this of the bound
_SHRINK, _GROUPS = 0.7, 4  # smallest N of a group of places over its largest; the places after the last count as D_1
_PADDINGS = np.array([0.0, 0.8, 0.9, 0.97, 1.0])
_SOME_PADDING = 0.5  # of laws with little variance, if others have none
# Variances of normal terms over that of one user's term, at least and per user: a user more costs 1/n in ε², too.
_SMOOTHING, _SMOOTHING_PER_USER = 1.0, 5e-5
# Attempts at an exchange: τ² over the variance of one term, and η over what a rough calculation says is needed
_EXCHANGES, _EXCHANGES_PER_USER = ((4.0, 1.2), (16.0, 1.2), (32.0, 1.3), (64.0, 2.0)), 1e-5
_LITTLE = 1e-3  # smoothing that is not worth another bound, over the variance of the sum
_MOST_LOOKED_AT, _SKEWED = 16, 4  # laws, in a rough calculation
_RATES = (16, 8, 8)  # values of λ that are looked at, each time between the neighbours of the best one
_AROUND = 1.07 ** np.arange(-3.0, 6.0)  # of a guess of λ


class Bound(NamedTuple):
    """An upper bound, its logarithm (which has no smallest double) and what gave most of it.

    ``method`` is "exchange" (equal others, certified to be the worst), "moduli" (all inputs in one integral) or "local"
    (what one user's randomizer gives by itself).
    """

    value: float
    log: float
    method: str


def upper(
    laws: Sequence[Row],
    null: Sequence[Sequence[float]],
    gamma: float,
    n: int,
    local: float,
    *,
    equal: bool = True,
    tolerance: float = TOLERANCE,
) -> Bound:
    r"""An upper bound of the divergence at one α of all pairs of datasets in which one user changes x0 into x1.

    Args:
        laws: for each input x of the other users (x0 and x1 among them), the values of G_x and their probabilities, as
            doubles with relative errors of at most `FLOAT_ERROR`. Equal laws need not be repeated.
        null: for each law the positive parts [w(y)]_+ of the messages that are impossible under x but not under x0 and
            x1, also if they are 0: an empty sequence says that there are none, and so that the mean of G_x is 1 − α.
        gamma: a lower bound of the blanket mass, from 0 to 1.
        n: number of users, including the one whose input differs.
        local: an upper bound of D_α(R(x0)‖R(x1)).
        equal: whether to try if equal others are certain to be the worst; not for `Raised` laws.
        tolerance: relative excess of an integral that is worth no more work.

    >>> law = np.array([-2.0, 1.0]), np.array([0.5, 0.5])
    >>> bound = upper([law], [[]], 0.5, 10_000, 0.25)
    >>> bound.value, bound.method
    (6.47...e-252, 'exchange')
    """
    _check(laws, null, gamma, local)
    if equal and any(isinstance(law, Raised) for law in laws):
        raise VerificationError("equal others are the worst of laws with one mean, and these laws were raised")
    values, probabilities = padded(laws, n)
    if local == 0:
        return Bound(0.0, -math.inf, "local")
    far_apart = float(np.abs(values).max()) > _FAR_APART * max(float(values.max()), 1e-300)
    if gamma > 1e-300 and n > 2 and not far_apart:
        # What holds for a blanket mass holds for every smaller one.
        same = equal and not any(map(len, null)) and exchange.same_means(values, probabilities)
        family = _Family(values, probabilities, min(gamma, _LARGEST_GAMMA), n, local, same, tolerance)
        log_total, method = family.log_upper()
        lost = max(math.fsum(s) for s in null) * (1 + 8 * FLOAT_ERROR)
        log_total = raised(float(np.logaddexp(log_total, math.log(lost))) if lost else log_total)
        total = math.exp(min(log_total, 0.0)) * (1 + 8 * UNIT_ROUNDOFF) + SUBNORMAL_ERROR
        if total < local:
            return Bound(total, log_total, method)
    return Bound(local, raised(math.log(local)), "local")


def raised(log: float) -> float:
    """A logarithm, raised by more than a few roundings of it and of what is made from it."""
    return log + 16 * UNIT_ROUNDOFF * (1 + abs(log))


def _check(laws: Sequence[Row], null: Sequence[Sequence[float]], gamma: float, local: float) -> None:
    if not len(laws) or len(null) != len(laws):
        raise ValueError(f"laws and null must have an entry for each input, got {len(laws)} and {len(null)}")
    if not 0 <= gamma <= 1:
        raise ValueError(f"gamma must be a blanket mass from 0 to 1, got {gamma!r}")
    if not 0 <= local <= 1:
        raise ValueError(f"local must be a divergence from 0 to 1, got {local!r}")
    if any(not s >= 0 for parts in null for s in parts):
        raise ValueError("null must hold positive parts, which are not negative")


def padded(laws: Sequence[Row], n: int) -> tuple[Array, Array]:
    """The laws in one array, a row each, filled up with values and probabilities 0; repeated rows are left out."""
    if any(len(g) != len(p) for g, p in laws):
        raise ValueError("laws must have as many values as probabilities")
    width = max(len(p) for _, p in laws)
    values, probabilities = np.zeros((2, len(laws), width))
    for i, (g, p) in enumerate(laws):
        values[i, : len(g)], probabilities[i, : len(p)] = g, p
    values, probabilities = checked(np.where(probabilities > 0, values, 0.0), probabilities, n, 0.5)
    rows = {(g.tobytes(), p.tobytes()): i for i, (g, p) in enumerate(zip(values, probabilities, strict=True))}
    kept = sorted(rows.values())
    return values[kept], probabilities[kept]


class _Family:
    """The sum over the places for one set of laws."""

    def __init__(
        self,
        values: Array,
        probabilities: Array,
        gamma: float,
        n: int,
        local: float,
        same_means: bool,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.gamma, self.n, self.tolerance = gamma, n, tolerance
        self.log_local = raised(math.log(local))
        self.rare = None if same_means else rare.chosen(values, probabilities, n)
        values = self.rare.inner if self.rare else values
        # Everything is homogeneous in G.
        top = float(values.max())
        self.unit = 2.0 ** (math.frexp(top)[1] - 1) if top > 0 else 1.0
        self.log_unit = math.log(self.unit)
        self.g, self.p = values / self.unit, probabilities
        self.means = (self.g * self.p).sum(axis=1)
        about = self.g - self.means[:, None]
        self.variances, self.thirds = (self.p * about**2).sum(axis=1), (self.p * about**3).sum(axis=1)
        self.spread = max(float(self.variances.max()), 1e-12)  # constants have none
        # Where any choice is right, some of the laws are enough to look at: of all variances, and the most skewed ones.
        places = np.linspace(0, len(values) - 1, _MOST_LOOKED_AT - _SKEWED).round().astype(int)
        some = np.unique([*np.argsort(self.variances)[places], *np.argsort(self.thirds)[-_SKEWED:]])
        self.some, self.some_g, self.some_log_p = some, self.g[some], np.log(np.maximum(probabilities[some], 1e-320))
        self.attempts: Sequence[tuple[float, float]] = ()  # that are left, of variances for an exchange
        if same_means:
            self.attempts = _EXCHANGES if len(self.g) > 1 else ((0.0, 0.0),)

    def log_upper(self) -> tuple[float, str]:
        n, first, total, method = self.n, 0, -math.inf, "local"
        if self.g.max() <= 0 and not self.rare:  # no sum is positive
            return Places(self.gamma, n, 0, n - 2).log_rest + self.log_local, method
        for _ in range(_GROUPS):
            rate, log_guess = self._rate(first)
            log_guess = max(log_guess + first * math.log1p(-self.gamma) + self.log_unit, total)
            wanted = (_REST - log_guess + self.log_local) / -math.log1p(-self.gamma)
            enough = min(math.ceil(min(max(wanted, first + 1), 2.0**53)), n - (3 if self.rare else 2))
            places = Places(self.gamma, n, first, min(enough, max(n - int(_SHRINK * (n - first)), first + 1)))
            part, by = self._group(places, rate)
            method = by if part > total else method
            total, first = float(np.logaddexp(total, part)), places.last
            if first == enough or total > self.log_local:
                break
        log_rest = places.log_rest + self.log_local
        method = method if total > log_rest else "local"
        total = float(np.logaddexp(total, log_rest))
        return total + 32 * UNIT_ROUNDOFF * (4 + abs(total) + abs(self.log_unit) + abs(self.log_local)), method

    def _group(self, places: Places, rate: float) -> tuple[float, str]:
        equal, smoothing = self._by_exchange(places)
        # Little smoothing costs less than the phases that are lost in moduli, or not much more.
        log_bound = self._by_moduli(places, rate) if smoothing > _LITTLE * self.n * self.spread else math.inf
        return min(log_bound, equal) + self.log_unit, "exchange" if equal <= log_bound else "moduli"

    def _by_exchange(self, places: Places) -> tuple[float, float]:
        """By equal terms of the law with the largest variance, if that is certain, and how much smoothing it took."""
        star = int(self.variances.argmax())
        terms = places.n - places.last, places.n - places.first - 1
        while self.attempts:
            factor, enough = self.attempts[0]
            smoothing = factor * max(1.0, _EXCHANGES_PER_USER * places.n) * self.spread
            pads = np.zeros(len(self.g))
            pads[star] = self._star_pad(star, enough / terms[1])
            if len(self.g) == 1 or exchange.certified(self.g, self.p, pads, star, smoothing, terms):
                # As many η as the largest number of terms has: more than the others have.
                smoothing = (smoothing + terms[1] * float(pads[star])) * (1 + 4 * UNIT_ROUNDOFF)
                log_bound = placed.log_upper(self.g[star], self.p[star], places, smoothing, self.tolerance)
                return (math.inf, math.inf) if log_bound is None else (log_bound, smoothing)
            self.attempts = self.attempts[1:]  # fewer terms do not make it easier
        return math.inf, math.inf

    def _star_pad(self, star: int, share: float) -> float:
        """About the smallest η with which an exchange can be certified if share = 1/N: any η >= 0 is right.

        In the normal limit, λ = −mean/variance: for an exchange is −2q_x(λ), the difference of the variances minus λ/3
        of that of the third cumulants, and against it this one times the third cumulants of the others over 6N V².
        """
        apart = self.thirds - self.thirds[star]
        rate = max(-float(self.means[star]) / self.spread, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            needed = share * np.abs(self.thirds).max() * np.abs(apart) / (6 * self.spread**2)
            eta = float((needed - self.variances[star] + self.variances + rate / 3 * apart).max())
        return eta if math.isfinite(eta) else 0.0

    def _by_moduli(self, places: Places, guess: float) -> float:
        rate, pads = self._best(places, guess)
        log_bound = self._log_integral(rate, pads, places, self.tolerance)
        if not self.rare:
            return log_bound

        def of_large_values(rate: float, fewer: Places) -> float:
            return self._log_integral(rate * self.unit, pads, fewer, _ROUGHLY) + self.log_unit

        return float(np.logaddexp(log_bound, self.rare.log_upper(places, of_large_values) - self.log_unit))

    def _log_integral(self, rate: float, pads: Array, places: Places, tolerance: float) -> float:
        return Cells(Tilts(self.g, self.p, rate), pads, self._smoothing, places).log_integral(tolerance)

    @property
    def _smoothing(self) -> float:
        return max(_SMOOTHING, _SMOOTHING_PER_USER * self.n) * self.spread

    def _rate(self, first: int) -> tuple[float, float]:
        """About the λ with the smallest bound, and a guess of the logarithm of the bound: any λ > 0 is right.

        The integral is about M(λ)^N / (2λ (1 + 1.25λσ)), σ² the variance of the tilted sum.
        """
        top, common, N = float(self.g.max()), self._smoothing, self.n - first
        low, high = 1 / (4 * N * top), _LARGEST_EXPONENT / top
        for points in _RATES:
            rates = np.geomspace(low, high, points)
            logs, q = self._tilted(rates)
            means = (q * self.some_g).sum(axis=2)
            variances = ((q * self.some_g**2).sum(axis=2) - means**2)[np.arange(points), logs.argmax(axis=1)]
            tail = 2 * N * rates * (1 + 1.2533 * rates * np.sqrt(N * np.maximum(variances, 0.0) + common))
            guesses = N * logs.max(axis=1) + common * rates**2 / 2 - np.log(tail)
            best = int(guesses.argmin())
            low, high = float(rates[max(best - 1, 0)]), float(rates[min(best + 1, points - 1)])
        return float(rates[best]), float(guesses[best])

    def _tilted(self, rates: Array) -> tuple[Array, Array]:
        """log M_x(λ) and the tilted probabilities of some laws, without error bounds."""
        exponents = rates[:, None, None] * self.some_g + self.some_log_p
        peaks = exponents.max(axis=2)
        weights = np.exp(exponents - peaks[:, :, None])
        totals = weights.sum(axis=2)
        return peaks + np.log(totals), weights / totals[:, :, None]

    def _paddings(self) -> Array:
        """Variances τ_x² that are tried, a row each: up to a share of the largest variance for all laws, and for only
        those that have so little of their own that it is of no account."""
        shares = np.repeat((_PADDINGS if len(self.g) > 1 else _PADDINGS[:1])[:, None], len(self.g), axis=1)
        narrow = self.variances < NARROW * _SOME_PADDING * self.spread
        if 0 < narrow.sum() < len(narrow):
            shares = np.append(shares, [np.where(narrow, _SOME_PADDING, 0.0)], axis=0)
        variances: Array = np.maximum(shares * self.spread - self.variances, 0.0)
        return variances

    def _best(self, places: Places, guess: float) -> tuple[float, Array]:
        """λ, and variances τ_x² of normal terms that go with the laws, for which a rough sum of the integral is least.

        Laws with a small variance spoil the maximum at large u: they may have more.
        """
        rates = np.minimum(guess * _AROUND, _LARGEST_EXPONENT / float(self.g.max()))
        pads = self._paddings()
        logs, q = self._tilted(rates)
        unit, q = 1 / math.sqrt(self.n * self.spread + self._smoothing), q.transpose(1, 2, 0)  # the law first
        u, waves = COARSE * unit, coarse_waves(self.some_g * unit)
        moduli = np.hypot(waves.real @ q, waves.imag @ q).transpose(2, 1, 0)
        squares = rates[:, None] ** 2 - u**2
        # Axes: λ, the padding, u, the law; a modulus that is not computed is taken to be 1.
        narrow = self.variances[self.some] < NARROW * pads[:, None, self.some]
        logs = logs[:, None, None] + np.where(narrow, 0.0, np.log(np.maximum(moduli, 1e-300))[:, None])
        logs = logs + pads[:, None, self.some] * squares[:, None, :, None] / 2
        sums = places.log_sums(logs.max(axis=3).ravel()).reshape(logs.shape[:3])
        sums += (self._smoothing / 2 * squares - np.log(rates[:, None] ** 2 + u**2))[:, None]
        top = sums.max(axis=2)
        totals = top + np.log((np.exp(sums - top[:, :, None]) * np.gradient(u)).sum(axis=2))
        best, padding = np.unravel_index(totals.argmin(), totals.shape)
        rate = float(rates[best])
        if 0 < best < len(rates) - 1:  # the lowest point of the parabola through three
            before, here, after = totals[best - 1 : best + 2, padding]
            step = (before - after) / (2 * max(before - 2 * here + after, 1e-9))
            rate *= float((_AROUND[1] / _AROUND[0]) ** np.clip(step, -0.5, 0.5))
        return min(rate, float(rates[-1])), pads[padding]
