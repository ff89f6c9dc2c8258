r"""The drop-out bound for users with different randomizers, chairs having different weights, certified in doubles.

The other users are in groups: N_g of them have laws :math:`G_{g,x} = w/R_g(x)`, any x each, w = R(x0) − αR(x1) of the
differing user, and chairs of weight ω_g <= 1, the largest 1. With a part c <= R_g(x) that is common to all of them,
γ = Σc, users are asked in the order of successive draws by weight until one drops out (`truth.dropout`, Theorem G):

.. math:: D_\alpha \le \sum_{j=1}^{J} \gamma(1-\gamma)^{j-1} \max_{S} \frac1{\omega_S}
          \mathbb E\Bigl[\sum_{k \in S} \omega_k G_k\Bigr]_+ + (1-\gamma)^J D_1,

the maximum over all sets S of users that are left after any j − 1 of them went: an average over S is no more, and no
mean positive part over S is above D_1, which the places after J count as.

*One integral.* With m_g(u) = max_x |M_{g,x}(ω_g(λ + iu))| a set S that lost r_g users of each group, Σr_g = j − 1, has
:math:`\omega_S \ge W - (j - 1)`, W = Σ N_g ω_g, and :math:`\prod_g m_g^{N_g - r_g} \le \prod_g m_g^{N_g} \cdot m^{1-j}`
with the smallest m of the m_g. So the sum over j is that of `dropout` for ⌊W⌋ + 1 users, times
:math:`\prod_g m_g^{N_g} \cdot m^{-\lfloor W\rfloor}`, and the rest is the integral of moduli there, smoothing and
padding included.

*Cells.* For given r_g the product is one of powers N_g − r_g of √f_g. In a cell each f_g is below its chord, raised as
in `dropout`; a chord that reaches above 1 becomes the constant 1, and one that does not go the way that most go becomes
a constant, its larger end. Powers >= 2 of √f_g are then convex and monotone in one direction, and so is their product:
below its chord. A power 1 is replaced by the power 0 (f_g <= 1), at most once for each group that may lose all but one
of its users. Maxima and sums of convex functions are convex, so it is enough to bound them at both ends of the cell.

ω_g = 1/max_x E G² makes the variances of the mean add up as users come: no user ever hurts. It is not the best possible
in the limit: 4 % above the best attack for two groups of BLH with ε0 = 1 and 4.
"""

import math
from collections.abc import Sequence

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, SUBNORMAL_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.dropout import TOLERANCE, Bound, Cells, Places, Row, Tilts, padded, raised
from shuffle_sym.numeric.transforms import Array

_LARGEST_EXPONENT = 690.0
_LARGEST_GAMMA = 1 - UNIT_ROUNDOFF
_REST = 12.0  # the places left out weigh about e^−this of the bound
_SHARES = (0.0, 0.9, 1.0)  # of the largest variance of a group, that the others are padded to
_SMOOTHING, _SMOOTHING_PER_USER = 1.0, 5e-5  # variances of a normal term over that of one user's


def upper(
    laws: Sequence[Sequence[Row]],
    null: Sequence[Sequence[Sequence[float]]],
    counts: Sequence[int],
    gamma: float,
    local: float,
) -> Bound:
    r"""An upper bound of the divergence at one α of all pairs of datasets in which one user changes x0 into x1.

    Args:
        laws: for each group of other users and each input x, values and probabilities of G_x, as in `dropout.upper`.
        null: for each group and law what `dropout.upper` takes for one group.
        counts: how many users are in each group, the differing one not counted.
        gamma: a lower bound of the mass that all of them have in common.
        local: an upper bound of D_α(R(x0)‖R(x1)).

    >>> law = np.array([-2.0, 1.0]), np.array([0.5, 0.5])
    >>> bound = upper([[law], [law]], [[[]], [[]]], [600, 400], 0.5, 0.25)
    >>> 1e-29 < bound.value < 1e-28
    True
    """
    users = sum(counts)
    rows = [padded(group, users + 1) for group in laws]
    # Where squares are no doubles, α is so large that the divergence of one user is nearly all there is.
    if local and gamma > 1e-300 and users > 1 and max(float(np.abs(g).max()) for g, _ in rows) < 1e150:
        crowd = _Crowd(rows, counts, min(gamma, _LARGEST_GAMMA), local)
        log_total = crowd.log_upper()
        lost = max(math.fsum(s) for group in null for s in group) * (1 + 8 * FLOAT_ERROR)
        log_total = raised(float(np.logaddexp(log_total, math.log(lost))) if lost else log_total)
        total = math.exp(min(log_total, 0.0)) * (1 + 8 * UNIT_ROUNDOFF) + SUBNORMAL_ERROR
        if total < local:
            return Bound(total, log_total, "chairs")
    return Bound(local, raised(math.log(local)) if local else -math.inf, "local")


class _Crowd:
    """The sum over the places for groups of laws, a pair of arrays each: a row of values and of probabilities a law."""

    def __init__(self, rows: Sequence[tuple[Array, Array]], counts: Sequence[int], gamma: float, local: float) -> None:
        self.counts, self.gamma = np.array(counts, dtype=float), gamma
        self.log_local = raised(math.log(local))
        squares = [max(float((p * g * g).sum(axis=1).max()), 1e-300) for g, p in rows]
        least = min(squares)
        self.weights = np.array([max(least / square, 1e-12) for square in squares])  # any weights are right
        scaled = [(weight * g, p) for weight, (g, p) in zip(self.weights, rows, strict=True)]
        top = max(float(g.max()) for g, _ in scaled)
        unit = 2.0 ** (math.frexp(top)[1] - 1) if top > 0 else 1.0
        self.log_unit, self.top = math.log(unit), top / unit
        self.rows = [(g / unit, p) for g, p in scaled]
        self.variances = [(p * (g - (p * g).sum(axis=1, keepdims=True)) ** 2).sum(axis=1) for g, p in self.rows]
        spread = max(max(float(v.max()) for v in self.variances), 1e-12)
        self.smoothing = max(_SMOOTHING, _SMOOTHING_PER_USER * float(self.counts.sum())) * spread
        #: ⌊W⌋ + 1, W the sum of all weights
        total = float((self.counts * self.weights).sum()) * (1 - 4 * len(rows) * UNIT_ROUNDOFF)
        self.n = math.floor(total) + 1

    def log_upper(self) -> float:
        if self.top <= 0 or self.n < 3:
            return self.log_local
        rate, log_guess = self._rate()
        wanted = (_REST - log_guess - self.log_unit + self.log_local) / -math.log1p(-self.gamma)
        last = min(math.ceil(min(max(wanted, 1.0), 2.0**53)), self.n - 2)
        places = Places(self.gamma, self.n, 0, last)
        tilts = [Tilts(g, p, rate, 2 * UNIT_ROUNDOFF) for g, p in self.rows]
        bounds = []
        for share in _SHARES if any(len(g) > 1 for g, _ in self.rows) else _SHARES[:1]:
            pads = [np.maximum(share * v.max() - v, 0.0) for v in self.variances]
            bounds.append(_GroupCells(tilts, pads, self.counts, self.smoothing, places).log_integral(TOLERANCE))
        total = float(np.logaddexp(min(bounds) + self.log_unit, places.log_rest + self.log_local))
        return total + 32 * UNIT_ROUNDOFF * (4 + abs(total) + abs(self.log_unit) + abs(self.log_local))

    def _rate(self) -> tuple[float, float]:
        """About the λ with the smallest bound, and a guess of the logarithm of the bound: any λ > 0 is right."""
        total = float((self.counts * self.weights).sum())
        low, high = 1 / (4 * total * self.top), _LARGEST_EXPONENT / self.top
        for points in (64, 16, 16):
            rates = np.geomspace(low, high, points)
            logs, variances = np.zeros(points), np.full(points, self.smoothing)
            for count, (g, p) in zip(self.counts, self.rows, strict=True):
                exponents = rates[:, None, None] * g + np.log(np.maximum(p, 1e-320))
                peaks = exponents.max(axis=2, keepdims=True)
                q = np.exp(exponents - peaks)
                sums = q.sum(axis=2, keepdims=True)
                every, q = (peaks + np.log(sums))[:, :, 0], q / sums
                means = (q * g).sum(axis=2)
                spreads = (q * g**2).sum(axis=2) - means**2
                largest = every.argmax(axis=1)
                logs += count * every[np.arange(points), largest]
                variances += count * np.maximum(spreads[np.arange(points), largest], 0.0)
            tail = 2 * total * rates * (1 + 1.2533 * rates * np.sqrt(variances))
            guesses = logs + self.smoothing * rates**2 / 2 - np.log(tail)
            best = int(guesses.argmin())
            low, high = float(rates[max(best - 1, 0)]), float(rates[min(best + 1, points - 1)])
        return float(rates[best]), float(guesses[best])


class _GroupCells(Cells):
    """The integral for groups of laws: logarithms have a column for each group."""

    def __init__(
        self, tilts: Sequence[Tilts], pads: Sequence[Array], counts: Array, common: float, places: Places
    ) -> None:
        self.tilts, self.common, self.places, self.counts, self.step = tilts[0], common, places, counts, 1.0
        self.groups, u, rate = list(zip(tilts, pads, strict=True)), UNIT_ROUNDOFF, tilts[0].rate
        tops = [tilt.log_tops + (1 + 8 * u) * pad * rate**2 / 2 for tilt, pad in self.groups]
        tops = [top + 4 * u * np.abs(top) for top in tops]
        self.log_tops = np.array([float(top.max()) for top in tops])
        self.group_lags = [2 * (1 - 4 * u) * (top - top.max()) for top in tops]  # never above 0
        both = zip(self.groups, self.group_lags, strict=True)
        self.spreads = np.array([float(((tilt.variances + pad) * np.exp(lags)).max()) for (tilt, pad), lags in both])
        self.unit = 1 / math.sqrt(float(counts @ self.spreads) + common)
        self.alone = int((counts <= places.last + 1).sum())  # groups that may lose all but one of their users

    def log_squares(self, u: Array) -> Array:
        """Upper bounds of the logarithm of the largest f of each group, a row for each u."""
        columns = [
            (tilt.log_squares(u, step=self.step) - pad * (u * u)[:, None] + lags).max(axis=1) * (1 - 8 * UNIT_ROUNDOFF)
            for (tilt, pad), lags in zip(self.groups, self.group_lags, strict=True)
        ]
        return np.stack(columns, axis=1)

    def _sums(self, logs: Array) -> Array:
        """Upper bounds of the logarithm of the sum over the places, given those of the f_g, a row each."""
        halves = self.log_tops + logs / 2
        smallest = halves.min(axis=1)
        n = self.places.n
        totals = self.places.log_sums(smallest) - (n - 1) * smallest + halves @ self.counts
        totals -= self.alone * logs.min(axis=1) / 2
        sizes = (n + 8) * np.abs(smallest) + (np.abs(self.log_tops) + np.abs(logs)) @ (self.counts + 1)
        result: Array = totals + 16 * UNIT_ROUNDOFF * (4 + sizes + np.abs(totals))
        return result

    def _parts(self, u: Array, logs: Array) -> tuple[Array, Array, float]:
        widths, rate = np.diff(u) * (1 + 8 * UNIT_ROUNDOFF), self.tilts.rate
        log_raise = np.log((widths * widths)[:, None] * (self.spreads / 4)) + 1e-12
        slack = 8 * UNIT_ROUNDOFF
        ends = []
        for known in (logs[:-1], logs[1:]):
            end = np.logaddexp(known, log_raise)
            ends.append(end + slack * (np.exp(np.minimum(log_raise, 0.0)) + np.abs(end) + np.abs(known)))
        left, right = ends
        above = (left > 0) | (right > 0)
        left, right = np.where(above, 0.0, left), np.where(above, 0.0, right)
        falls = ((left - right) @ self.counts >= 0)[:, None]
        larger = np.maximum(left, right)
        left, right = np.where(falls, larger, left), np.where(falls, right, larger)
        # One more, for f = 1: it is the scale.
        sums = self._sums(np.concatenate([np.zeros((1, len(self.counts))), left, right]))
        log_scale = float(sums[0])
        first, last = np.exp(np.minimum(sums[1:] - log_scale, 0.0)).reshape(2, -1)  # no sum is above that for f = 1
        weights = 1 / (rate * rate + u * u)
        lift = np.where(u[:-1] < rate, (widths * weights[:-1]) ** 2 / 4, 0.0)
        near, far = weights[:-1] + lift, weights[1:] + lift
        parts = widths / 6 * (first * (2 * near + far) + last * (near + 2 * far))
        parts *= np.exp(-(u[:-1] ** 2) * (self.common / 2)) * (1 + 8 * UNIT_ROUNDOFF * u[:-1] ** 2 * self.common)
        rise = (left + right - logs[:-1] - logs[1:]) @ self.counts / 4
        drop = sums[1 : len(u)] - sums[len(u) :]
        return parts, np.minimum(np.where(above.all(axis=1), 1.0, rise + drop**2 / 12), 1.0), log_scale
