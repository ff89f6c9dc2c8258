r"""The sum over the place of the user who drops out, inside an integral: one factor for all N = n − j at once.

The drop-out bound (see `dropout`) is a sum over j of terms that are integrals of m^{n−j}/(n−j), the same m for all j:

.. math:: \sum_{j=J_0+1}^{J} \gamma (1-\gamma)^{j-1} \frac{m^{n-j}}{n-j}, \qquad J \le n - 2.

On a segment a < j <= b, (n−a)/(n−j) = 1 + (j−a)/(n−j) <= 1 + (j−a)/(n−b) <= e^{(j−a)/(n−b)}: the sum over the segment
is at most a geometric one. With x = (1−γ) e^{1/(n−b)} and L = b − a,

.. math:: \frac{\gamma (1-\gamma)^{a-1}}{n-a}\, m^{n-b} \sum_{i=1}^{L} x^i m^{L-i}
          \;=\; \frac{\gamma (1-\gamma)^{a-1}}{n-a}\, m^{n-b}\, x\, \frac{m^L - x^L}{m - x} .

The segments begin with a length of 0.7/γ, which doubles as long as it stays below a fifth of n − a: what j loses is
second order in that length over n, and the later segments weigh little. Every power of m is at least 2.

Where the round-off of a segment goes, with A = ``sizes``, w = log m, t = ±(w − log x) with Re t <= 0, T = L|t|, and
elementary functions that are within 8u of their values (4 units in the last place):

=================  ==============================================================================================
log x              a weight x^i is off by L times its error: 3L|log x| + 5L/(n − b) roundings, less than 2.5 A
the exponent e     its terms are at most A, |e| + A + L|w| + |log scale| and L|w| + A/2, the logarithm of n − a is off
                   by 8u: all sums together are off by less than u (13A + 4|e| + 3L|w| + 3|log scale|)
(e^{Lt} − 1) /     either is off by at most 19u (|z| + |e^z − 1|), z = Lt or t, and |e^t − 1| >= 0.63 min(|t|, 1) for
(e^t − 1)          Re t <= 0, |Im t| <= π. With e^e and the products the quotient is off by less than
                   160 u L if T <= 2, |t| < 1;  u (30 L + 370/|t|) if T > 2, |t| < 1;  u (30 T + 100|t| + 362) else:
                   each is less than 128 u (L + T + 2/min(|t|, 1)) and what the line above leaves of 16 u L (…)
=================  ==============================================================================================
"""

import math

import numpy as np

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.elementary import Array, Complex, expm1

_FIRST = 0.7  # length of the first segment, times γ


class Places:
    """The segments of j = ``first`` + 1 … ``last`` for a blanket mass ``gamma`` (a double, 0 < γ < 1) and n >= 3 users.

    ``last`` is at most n − 2; ``log_rest`` is at least the logarithm of (1 − γ)^last, the probability of a later place.
    """

    def __init__(self, gamma: float, n: int, first: int, last: int) -> None:
        if not last <= n - 2:
            raise ValueError(f"last must be at most n - 2 = {n - 2}, got {last}")
        self.gamma, self.n, self.first, self.last = gamma, n, first, last
        starts, ends = _segments(gamma, n, first, last)
        log_stay = math.log1p(-gamma)
        self.log_rest = last * log_stay * (1 - 8 * UNIT_ROUNDOFF)
        self.rests, self.lengths = n - ends, ends - starts
        self.log_x = log_stay + 1 / self.rests
        self.log_first = math.log(gamma) + (starts - 1) * log_stay - np.log(n - starts) + self.log_x
        self.sizes = abs(math.log(gamma)) + np.abs((starts - 1) * log_stay) + np.log(n - starts) + 2
        self.sizes += 2 * self.lengths * (np.abs(self.log_x) + 1 / self.rests)

    def log_sums(self, log_m: Array) -> Array:
        """Upper bounds of the logarithm of the sum over j, for each real log m of one axis."""
        logs, slack = self.logs_with_slack(log_m)
        total: Array = logs + slack
        return total

    def logs_with_slack(self, log_m: Array) -> tuple[Array, Array]:
        """The logarithm of the sum of the geometric sums, and a bound on its round-off."""
        mu, L = log_m[:, None], self.lengths
        away = np.maximum(np.abs(self.log_x - mu), 1e-290)
        # Σ x^i m^(L−i) = x max(x, m)^(L−1) (1 − e^{−L·away})/(1 − e^{−away}): its logarithm moves by at most L times
        # what log x and log m move.
        geometric = np.log(np.expm1(-L * away) / np.expm1(-away))
        logs = self.log_first + self.rests * mu + (L - 1) * np.maximum(self.log_x, mu) + geometric
        slack = 32 * UNIT_ROUNDOFF * (self.sizes + (self.rests + 2 * L) * np.abs(mu) + geometric).max(axis=1)
        top = logs.max(axis=1)
        return top + np.log(np.exp(logs - top[:, None]).sum(axis=1)), slack + 8 * UNIT_ROUNDOFF * len(L)

    def powers(self, log_m: Complex, log_scale: float) -> tuple[Complex, Array]:
        """The geometric sums, added up, over e^log_scale at complex log m, arguments from −π to π; the round-off."""
        w, L, u = log_m[:, None], self.lengths, UNIT_ROUNDOFF
        v = w - self.log_x
        inner = v.real > 0
        t = np.asarray(np.where(inner, -v, v), dtype=complex)
        exponents = self.log_first + self.rests * w + (L - 1) * np.where(inner, w, self.log_x) - log_scale
        scales = np.exp(exponents)
        near = np.abs(t) < 1e-100
        ratios = np.where(near, L, expm1(L * t) / np.where(near, 1, expm1(t)))
        lost = 128 * u * (L + L * np.abs(t) + 2 / np.minimum(np.maximum(np.abs(t), 1e-100), 1.0))
        lost += 16 * u * L * (self.sizes + abs(log_scale) + np.abs(exponents) + L * np.abs(w))
        total: Complex = np.asarray((scales * ratios).sum(axis=1), dtype=complex)
        errors: Array = (np.abs(scales) * lost).sum(axis=1)
        return total, errors


def _segments(gamma: float, n: int, first: int, last: int) -> tuple[Array, Array]:
    starts, ends, a, length = [], [], first, max(_FIRST / gamma, 1.0)
    while a < last:
        b = min(a + max(int(min(length, (n - a) / 5)), 1), last)
        starts.append(float(a))
        ends.append(float(b))
        a, length = b, 2 * length
    return np.array(starts), np.array(ends)
