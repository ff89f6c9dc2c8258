r"""The drop-out bound of all datasets, certified in doubles, at a cost that does not grow with n.

For inputs x0, x1 and every other input x let w = R(x0) − αR(x1) and G_x = w(Y)/R(x)(Y), Y ~ R(x). With the blanket mass
γ and Φ*_N the largest mean positive part :math:`\frac1N \mathbb E[G_{x_1} + \dots + G_{x_N}]_+` over all inputs,

.. math:: D_\alpha \;\le\; \sum_{j=1}^{n-1} \gamma(1-\gamma)^{j-1}\, \Phi^*_{n-j} + (1-\gamma)^{n-1} D_1,
          \qquad D_1 = D_\alpha(R(x_0) \| R(x_1)),

for every dataset of the other n − 1 users (`truth.dropout` has the proof and exact values). Φ*_N does not increase with
N, and Φ*_1 = D_1: from any place J <= n − 1 on, the rest of the sum is at most (1 − γ)^J D_1. The places before are
bounded in groups of similar N, in each of them by one of

* one integral of moduli for all inputs, with the sum over all places of the group inside;
* one contour integral for equal others, if it is certain that equal others are the worst (`exchange`): they have a
  little more variance there, so that it can be certain also where laws are nearly alike.

Messages that are impossible under x but not under x0 add their :math:`s_x = \sum [w]_+`: in the mean over the users at
most the largest one, and in D_1 they are contained. With such messages the means of the G_x are not the same, and the
second way is closed.

**The places.** The bound is a sum over j of terms that are integrals of m^{n−j}/(n−j), the same m for all j:

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

**One integral of moduli** bounds the largest mean positive part of a sum, over all ways to choose its terms from some
laws. For laws G_x, M_x(s) = E e^{sG_x}, every λ > 0, τ, τ_x >= 0 and independent terms with any of these laws,

.. math:: \mathbb E\Bigl[\sum_{i=1}^N G_{x_i}\Bigr]_+ \le \frac1\pi \int_0^\infty
          e^{\tau^2(\lambda^2 - u^2)/2}\, m(u)^N \frac{du}{\lambda^2 + u^2}, \qquad
          m(u) = \max_x |M_x(\lambda + iu)|\, e^{\tau_x^2(\lambda^2 - u^2)/2}.

*Proof.* By Jensen's inequality independent normal terms with mean 0 and variances τ² and τ_{x_i}² do not make it
smaller; :math:`v_+ = \frac1{2\pi i}\int e^{sv} s^{-2} ds` over Re s = λ; moduli inside. The integrand is even in u.

The integral is bounded from above by cells. f = |M_x|² e^{τ_x²(λ²−u²)} over its value at 0 is the mean of cos(uD), D
the difference of two copies of the tilted term, so |f''| <= 2V, V its variance (that of the tilted law, plus τ_x²).
In a cell of width H it is below its chord raised by β = H² V/4, and so is the largest f over x, with the largest β. The
sum over N has powers >= 2 of √f, so it is convex in f and below its own chord between the raised ends.
1/(λ² + u²) is convex beyond λ/√3, and before that its second derivative is at least −2/(λ² + u²)²: it is below its
chord raised by H²/(4(λ² + u_k²)²), u_k the left end. e^{−τ²u²/2} falls: the left end's value. Beyond the last cell
U, f <= 1 and ∫ e^{−τ²u²/2} u^{−2} du <= e^{−τ²U²/2}/U. A cell whose chord is above 1 takes f <= 1 instead. The
product of two chords is integrated as it is, and all terms are positive: round-off is relative.

**Equal others** have one contour integral, that of `contour`, for all j. With φ the transform of one law of G and
τ² >= 0, the sum over j of :math:`\frac{\gamma(1-\gamma)^{j-1}}{n-j}\, \mathbb E[G_1 + \dots + G_{n-j} + \tau Z]_+` is
the mean positive part under one measure, with the transform F(φ(s)) e^{τ²s²/2}, F the geometric sums above. The measure
takes the place of the law of a sum in `contour`. F has positive coefficients and powers from n − J to n − 1, so that
|F(z)| <= F(|z|), F(rz) <= r^{n−J} F(z) for 0 <= r <= 1 and |F'(z)| <= (n − 1) F(|z|)/|z|.

**Rare large values.** A value that is so large that one of its kind makes a sum positive spoils every mean
:math:`\mathbb E e^{\lambda G}` with a λ that suits the other values. So such values are counted by themselves, with λ
of their own.

For each law x let O_x be some of its positive values, b at least the probability of O_x for every x, and G' = G, but 0
in O_x. For independent terms G_1, …, G_N with any of these laws, and e(g) at least :math:`\mathbb E[g + S']_+` for
every sum S' of N − 1 terms G' with any of them,

.. math:: \frac1N \mathbb E\Bigl[\sum_i G_i\Bigr]_+ \le \frac1N \mathbb E\Bigl[\sum_i G_i'\Bigr]_+
          + \max_x \sum_{g \in O_x} p_x(g) \min(e(g), g) + \frac{N-1}2\, b\, \max_x \sum_{g \in O_x} p_x(g)\, g .

The proof is `papers.ours.rare`. :math:`e(g) = e^{\lambda g} C_\lambda` will do for every λ > 0, C_λ the integral of
moduli for N − 1 terms. Which values are rare and which λ they have is chosen by a rough calculation; any choice is
right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SUBNORMAL_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.laws_in_cells import Raised
from shuffle_sym.numeric import contour, exchange
from shuffle_sym.numeric.transforms import (
    COARSE,
    DOUBLINGS,
    AllSums,
    Array,
    Complex,
    Mask,
    _Tilted,
    checked,
    coarse_waves,
    expm1,
    rotations,
    to_complex,
)

# -- the places

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


# -- one integral of moduli

NARROW = 0.15  # variance of a law over that of its normal term, up to which |M_x(λ + iu)| <= M_x(λ) will do
ALL = slice(None)
_ROUNDS = 14
_MOST_CELLS = 4_000
_LOBE = 6.0  # equal cells up to so many standard deviations
_OCTAVE = np.array([1.25, 1.5, 1.75, 2.0])  # beyond, and two, four, … times as far
_ABYSS = 600.0  # values of G below −this/λ are raised to it: upper bounds stay upper bounds


class Tilts:
    """Several laws, one row each, tilted by one λ > 0: values and probabilities are doubles, as in `transforms`.

    Rows may be filled up with probabilities 0; ``scaling`` is what values are off by beyond that, relative to them.
    ``log_tops`` are upper bounds of log M_x(λ), ``variances`` of the tilted variances.
    """

    def __init__(self, values: Array, probabilities: Array, rate: float, scaling: float = 0.0) -> None:
        raised = np.maximum(values, -_ABYSS / rate)
        one = _Tilted(raised, probabilities, np.full(len(values), rate), FLOAT_ERROR + scaling, FLOAT_ERROR)
        self.rate, self.halves, self.q = rate, raised / 2, one.q
        # Angles may be doubled here, and be whole multiples of a step for others that are nearly that.
        self.drifts = one.drift + (DOUBLINGS + 8) * UNIT_ROUNDOFF * (one.q * np.abs(raised)).sum(axis=1)
        self.log_tops = one.log_phi + one.log_error
        means = (one.q * raised).sum(axis=1, keepdims=True)
        about = one.q * (raised - means) ** 2
        self.variances = (1 + 1e-9) * (about * (1 + one.q_errors)).sum(axis=1) + 1e-14 * (raised**2).max(axis=1)

    def log_squares(self, u: Array, laws: Mask | slice = ALL, step: float = 1.0) -> Array:
        """Upper bounds of log |M_x(λ + iu)/M_x(λ)|², a row for each u and a column for each of some laws. Where many u
        are multiples of a ``step``, that is less work."""
        halves, nodes = self.halves[laws], u / step
        whole = np.rint(nodes)
        nodes = np.where(np.abs(nodes - whole) <= 4 * UNIT_ROUNDOFF * nodes, whole, nodes)
        rotated = rotations(np.full(len(halves), step), nodes, halves, self.q[laws], octaves=True).T
        real, imaginary = rotated.real, rotated.imag
        # |ζ| is known to within drift·u, and |ζ|² − 1 to within twice that and its square.
        excess = real * (2 + real) + imaginary * imaginary + 4 * self.drifts[laws] * u[:, None]
        logs: Array = np.log1p(np.minimum(np.maximum(excess, -1 + UNIT_ROUNDOFF), 0.0))
        return logs


class Cells:
    """The integral of moduli, divided by N and summed over places, for one λ, one τ² and one τ_x² for each law."""

    def __init__(self, tilts: Tilts, pads: Array, common: float, places: Places) -> None:
        self.tilts, self.pads, self.common, self.places = tilts, pads, common, places
        rate, u = tilts.rate, UNIT_ROUNDOFF
        tops = tilts.log_tops + (1 + 8 * u) * pads * rate**2 / 2
        tops += 4 * u * np.abs(tops)
        self.log_top = float(tops.max())
        self.lags = 2 * (1 - 4 * u) * (tops - self.log_top)  # never above 0
        self.spread = float(((tilts.variances + pads) * np.exp(self.lags)).max())
        self.unit = 1 / math.sqrt(places.n * self.spread + common)
        # A normal term that is much wider than the law itself decides how fast the modulus falls.
        self.narrow = tilts.variances < NARROW * pads
        self.step = 1.0

    def log_squares(self, u: Array) -> Array:
        """Upper bounds of the logarithm of the largest f, for each u."""
        logs = self.lags - self.pads * (u * u)[:, None]
        logs[:, ~self.narrow] += self.tilts.log_squares(u, ~self.narrow, self.step)
        largest: Array = logs.max(axis=1) * (1 - 8 * UNIT_ROUNDOFF)  # never above 0
        return largest

    def log_integral(self, tolerance: float) -> float:
        """An upper bound of the logarithm, made of cells until their excess is about ``tolerance``."""
        u = self._nodes(math.sqrt(8 * tolerance))
        self.step = float(u[1])
        logs = self.log_squares(u)
        for attempt in range(_ROUNDS + 1):
            parts, shares, log_scale = self._parts(u, logs)
            total = float(parts.sum())
            excess = parts * shares
            if attempt == _ROUNDS or excess.sum() <= 2 * tolerance * total or len(u) > _MOST_CELLS:
                break
            wanted = tolerance * total / len(parts)
            u, logs = self._split(u, logs, np.clip(np.ceil(np.sqrt(excess / wanted)), 1, 8).astype(int))
        beyond = self._beyond(float(u[-1]))
        log_total = math.log(total + beyond) + log_scale - math.log(math.pi) + self.common * self.tilts.rate**2 / 2
        # Sums of positive terms, each with a few roundings; exponents have had their own.
        slack = UNIT_ROUNDOFF * (len(u) + 256 + 8 * abs(log_total) + 8 * self.common * self.tilts.rate**2)
        return log_total + slack

    def _nodes(self, step: float) -> Array:
        lobe = step * np.arange(4 * math.ceil(_LOBE / 4 / step) + 1)
        # The common normal factor ends the integral at e^−40; without one, where doubles see nothing.
        end = 9.0 / math.sqrt(self.common) if self.common > 0 else 1e9 * self.unit
        octaves = max(math.ceil(math.log2(max(end / (self.unit * lobe[-1]), 1.0))), 0)
        beyond = np.outer(2.0 ** np.arange(octaves), lobe[-1] * _OCTAVE).ravel()
        nodes: Array = self.unit * np.concatenate([lobe, beyond[beyond * self.unit < end * _OCTAVE[0]]])
        return nodes

    def _parts(self, u: Array, logs: Array) -> tuple[Array, Array, float]:
        """The cells' integrals over a scale, a guess of the share of each that is excess, and the scale's logarithm."""
        widths, rate, n = np.diff(u) * (1 + 8 * UNIT_ROUNDOFF), self.tilts.rate, self.places.n
        log_raise = np.log(widths * widths * (self.spread / 4)) + 1e-12
        left, right = np.logaddexp(logs[:-1], log_raise), np.logaddexp(logs[1:], log_raise)
        # Roundings next to 0 are relative to β and to the logarithm, not to 1.
        slack = 8 * UNIT_ROUNDOFF
        left += slack * (np.exp(np.minimum(log_raise, 0.0)) + np.abs(left) + np.abs(logs[:-1]))
        right += slack * (np.exp(np.minimum(log_raise, 0.0)) + np.abs(right) + np.abs(logs[1:]))
        # One more, for f = 1: it is the scale, and what a cell takes whose chord is above it.
        both = np.concatenate([[0.0], left, right])
        sums = self.places.log_sums(self.log_top + both / 2 + 2 * slack * (abs(self.log_top) + np.abs(both)))
        log_scale = float(sums[0])
        first, last = np.exp(np.minimum(sums[1:] - log_scale, 1.0)).reshape(2, -1)
        flat = first + last > 2
        first, last = np.where(flat, 1.0, first), np.where(flat, 1.0, last)
        weights = 1 / (rate * rate + u * u)
        lift = np.where(u[:-1] < rate, (widths * weights[:-1]) ** 2 / 4, 0.0)
        near, far = weights[:-1] + lift, weights[1:] + lift
        parts = widths / 6 * (first * (2 * near + far) + last * (near + 2 * far))
        parts *= np.exp(-(u[:-1] ** 2) * (self.common / 2)) * (1 + 8 * UNIT_ROUNDOFF * u[:-1] ** 2 * self.common)
        rise = n / 4 * (left + right - logs[:-1] - logs[1:])
        drop = sums[1 : len(u)] - sums[len(u) :]
        return parts, np.minimum(np.where(flat, 1.0, rise + drop**2 / 12), 1.0), log_scale

    def _beyond(self, end: float) -> float:
        """All from the last node on, over the scale: that of f = 1 is at most 1."""
        return math.exp(-self.common * end**2 / 2 * (1 - 1e-12)) / end * (1 + 1e-12)

    def _split(self, u: Array, logs: Array, pieces: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """Cells in so many equal pieces; the logarithms at nodes that were there are kept."""
        starts = np.repeat(u[:-1], pieces)
        steps = np.repeat(np.diff(u) / pieces, pieces)
        first = np.concatenate([[0], np.cumsum(pieces)])
        inside = np.arange(len(starts)) - np.repeat(first[:-1], pieces)
        nodes = np.append(starts + inside * steps, u[-1])
        fresh = np.append(inside > 0, False)
        all_logs = np.empty((len(nodes), *logs.shape[1:]))
        all_logs[first] = logs
        all_logs[fresh] = self.log_squares(nodes[fresh])
        return nodes, all_logs


# -- equal others

_LOG_TINY = -50.0  # powers below e^this are bounded, not computed
_FEW_POSITIVE = 30.0  # expected positive terms below which a sum has too much mass next to 0 if nothing smooths it


class PlacedSums(AllSums):
    """The measure with the transform F(φ(s)) e^{τ²s²/2}, for one row of values."""

    def __init__(self, values: Array, probabilities: Array, places: Places, smoothing: float, error: float) -> None:
        usual = places.first + min(1 / places.gamma, (places.last - places.first) / 2)
        super().__init__(values, probabilities, max(round(places.n - usual), 2), error)
        self.n, self.places, self.smoothing = places.n - 1, places, smoothing
        logs, slack = places.logs_with_slack(self.one.log_phi)
        normal = smoothing * self.c**2 / 2
        self.log_sum = logs
        self.log_scale = logs + normal
        self.log_slack = self.n * self.one.log_error + slack + 8 * UNIT_ROUNDOFF * (np.abs(logs) + normal)
        self.variance = self.n * self.spread + smoothing
        self.total = 1.01 * self.n * (self.one.q * np.abs(values)).sum(axis=1)

    def log_growths(self, d: Array) -> Array:
        logs, errors = self.one.log_growths(d)
        known = np.isfinite(errors)
        reached = self.one.log_phi[:, None] + logs + np.where(known, errors, 0.0)
        sums = self.places.log_sums(reached.ravel()).reshape(d.shape)
        normal = self.smoothing * d * (self.c[:, None] + d / 2)
        growths = sums - self.log_sum[:, None] + self.log_slack[:, None] + normal + 16 * UNIT_ROUNDOFF * np.abs(normal)
        return np.where(known, growths, np.inf)

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        logs, angles = self.one.log_ratios(step, nodes)
        y = step[:, None] * nodes
        eta = self.one.drift[:, None] * y
        # |F(ζ + η) − F(ζ)| <= (n − 1)η F(|ζ| + η)/(|ζ| + η); |ζ| is taken as 1/10 at least.
        shown = np.maximum(logs, math.log(0.1))
        reached = self.one.log_phi[:, None] + shown + 10 * eta
        sums = self.places.log_sums(reached.ravel()).reshape(y.shape)
        bounds = np.exp(np.minimum(sums - self.log_sum[:, None], 700.0))
        errors = bounds.copy()
        powers = np.zeros(y.shape, dtype=complex)
        large = (self.n + 1 - self.places.last) * logs[0] > _LOG_TINY
        w = to_complex(self.one.log_phi[0] + logs[0, large], angles[0, large])
        powers[0, large], lost = self.places.powers(w, float(self.log_sum[0]))
        errors[0, large] = (self.n * eta * bounds * np.exp(-shown))[0, large] + lost
        damped = np.exp(-self.smoothing / 2 * y * y)
        turn = self.smoothing * self.c[:, None] * y
        rotated = powers * damped * to_complex(np.cos(turn), np.sin(turn))
        return rotated, errors * damped + 16 * UNIT_ROUNDOFF * (1 + turn) * np.abs(rotated) + 8 * UNIT_ROUNDOFF * damped

    def quiet(self, step: Array, nodes: Array, log_level: float) -> Mask:
        few: PlacedSums = self.take(slice(None))
        few.n = self.n + 1 - self.places.last
        return AllSums.quiet(few, step, nodes, log_level)


def equal_log_upper(values: Array, probabilities: Array, places: Places, smoothing: float, rtol: float) -> float | None:
    """The logarithm of an upper bound of the sum over equal terms, about ``rtol`` above it; None where the contour is
    not the method.

    ``values`` have both signs and a largest one about 1, relative errors of at most FLOAT_ERROR.
    """
    possible = probabilities > 0
    values, probabilities = values[possible], probabilities[possible]
    rare = places.n * float(probabilities[values > 0].sum()) <= _FEW_POSITIVE
    if values.min() >= 0 or (rare and not smoothing):
        return None
    spacing = 0.0
    if not smoothing:
        values, spacing = contour.on_a_lattice(values, places.n)
    # As in `transforms`: how far below −n·max a value is does not matter.
    values = np.maximum(values, -4.0 * places.n * values.max())
    try:
        law = PlacedSums(values[None], probabilities, places, smoothing, contour.OFF if spacing else FLOAT_ERROR)
        on_lattice = (lambda law, target, like: contour.OnLattice(law, spacing, target, like)) if spacing else None
        _, upper = contour._refined(law, on_lattice, rtol, np.array([rtol]))
    except ValueError:
        return None
    log_bound = float(np.log(upper[0]) + law.log_scale[0] + law.log_slack[0])
    return log_bound + 8 * UNIT_ROUNDOFF * (2 + abs(log_bound) + abs(float(law.log_scale[0])))


# -- rare large values

FEWEST_USERS = 8  # for which a value may be rare
_HARMLESS = 3.0  # an exponent λg for the usual λ, up to which no value spoils a mean
_NOT_RARE = 1e-2  # the least probability of a value that is not looked at
_RARE_RATES = np.geomspace(0.1, 50.0, 28)  # λ that are looked at, times the standard deviation of the sum
_THRESHOLDS = 8  # that are looked at
_MOST_RATES, _WORTH_A_RATE = 3, 2e-3  # of large values, and by how much a logarithm has to fall for one more
_LARGEST_RARE_EXPONENT = 600.0
_LARGEST, _LEAST = 1e60, 1e-30  # values whose cubes, and those of quotients, are doubles
_FAR_BELOW = 100.0  # a logarithm that is so far below another one does not count next to it


class RareValues:
    """The values of some laws, a row each, that are above a threshold; ``inner`` are the values with 0 in their place.

    ``rates`` are the λ for them.
    """

    def __init__(self, g: Array, p: Array, threshold: float, rates: Array) -> None:
        out = g > threshold
        self.inner: Array = np.where(out, 0.0, g)
        self.rates: list[float] = rates.tolist()
        with np.errstate(divide="ignore"):
            self.log_p: Array = np.where(out, np.log(p), -math.inf)
        self.g: Array = np.where(out, g, 1.0)

    def log_upper(self, places: Places, log_integral: Callable[[float, Places], float]) -> float:
        """The logarithm of the two terms that rare values add, summed over places; ``log_integral`` gives that of
        C_λ/(N − 1), summed over places."""
        terms = places.n - places.first - 2  # N − 1, at most
        log_weight = places.first * math.log1p(-places.gamma)
        fewer = Places(places.gamma, places.n - 1, places.first, places.last)
        log_g = np.log(self.g)
        exponents = [log_g + log_weight]  # e(g) = g
        for rate in self.rates:
            log, growth = log_integral(rate, fewer) + math.log(terms), rate * self.g
            exponents.append(log + growth + 8 * FLOAT_ERROR * (abs(log) + growth))  # of which much may cancel
        best = np.argmin(exponents, axis=0)
        parts = [self._log_largest(np.where(best == k, exponent, -math.inf)) for k, exponent in enumerate(exponents)]
        likely, mean = self._log_largest(np.zeros_like(log_g)), self._log_largest(log_g)
        parts.append(math.log(terms / 2) + likely + mean + log_weight)
        total = float(np.logaddexp.reduce(parts))
        return total + FLOAT_ERROR * (64 + 8 * (abs(total) + abs(log_weight))) if total > -math.inf else total

    def _log_largest(self, exponents: Array) -> float:
        """An upper bound of the logarithm of the largest Σ p e^exponent of a law."""
        logs = self.log_p + exponents
        top = float(logs.max())
        if top == -math.inf:
            return -math.inf
        # Roundings of both logarithms, of which none that counts is far below the largest, and of the sum
        sizes = float(np.where(logs > top - _FAR_BELOW, np.abs(self.log_p) + np.abs(exponents), 0.0).max())
        log_sum = top + math.log(float(np.exp(logs - top).sum(axis=1).max()))
        return log_sum + FLOAT_ERROR * (16 + len(self.g[0]) + 8 * sizes)


def rare_values(g: Array, p: Array, n: int) -> RareValues | None:
    """The large values of laws that should count by themselves in sums of about n terms; None if there are none.

    By a rough calculation for two laws, that with the largest variance and that with the most large values.
    """
    top = float(g.max())
    if n < FEWEST_USERS or not 0 < top < _LARGEST or -g.min() > _LARGEST:
        return None
    means = (p * g).sum(axis=1)
    variances = np.maximum((p * g * g).sum(axis=1) - means**2, 1e-300)
    # In the normal limit λ is about −mean/variance.
    low = max(
        _HARMLESS * float((variances / np.maximum(-means, _LEAST)).max()), float(g[p > _NOT_RARE].max(initial=0.0))
    )
    if low >= top:
        return None
    thresholds = np.append(np.geomspace(low, top, _THRESHOLDS + 1)[:-1], top)
    wide, heavy = int(variances.argmax()), int((p * np.maximum(g - low, 0.0)).sum(axis=1).argmax())
    deviation = math.sqrt(n * float(variances[wide]))
    rates = _RARE_RATES / deviation
    looked_at = [(g[i], p[i]) for i in dict.fromkeys([wide, heavy])]
    logs = _rough(looked_at, n, rates, thresholds, 1 / deviation)
    outside = g > thresholds[:, None, None]
    values = g[heavy]
    with np.errstate(divide="ignore"):  # values that are not there count nothing
        log_p = np.log(p[heavy])
        pairs = np.log((outside * p).sum(axis=2).max(axis=1) * (outside * (p * g)).sum(axis=2).max(axis=1) * n / 2)
    # Axes: threshold, value, rate
    exponents = rates * values[:, None] + logs[:, None, :]
    log_e = np.minimum(exponents.min(axis=2), np.log(np.maximum(values, low)))
    tails = np.logaddexp.reduce(np.where(outside[:, heavy], log_p + log_e, -math.inf), axis=1)
    best = int(np.logaddexp.reduce([logs.min(axis=1) - math.log(n), tails, pairs]).argmin())
    threshold, rare = float(thresholds[best]), outside[best, heavy]
    possible = rates * threshold < _LARGEST_RARE_EXPONENT
    # What is left is a law of its own only if it has positive values, and they are not far below the others.
    if not rare.any() or not possible.any() or float(g[~outside[best]].max()) < _LEAST:
        return None
    beside = float(np.logaddexp(logs[best].min() - math.log(n), pairs[best]))
    some = _few(log_p[rare], values[rare], exponents[best][rare][:, possible], beside)
    return RareValues(g, p, threshold, rates[possible][some])


def _rough(laws: list[tuple[Array, Array]], n: int, rates: Array, thresholds: Array, unit: float) -> Array:
    """About the logarithm of ∫ |M(λ + iu)|^n/(λ² + u²) du/π for each threshold and each rate: for the largest M of some
    laws, with 0 in the place of the values that are above the threshold. ``unit`` is that of u."""
    u = COARSE * unit
    moduli = np.zeros((len(thresholds), len(rates), len(u)))
    for values, masses in laws:
        inside = values <= thresholds[:, None]
        grown = masses * np.exp(np.minimum(rates[:, None] * values, _LARGEST_RARE_EXPONENT))
        waves, parts = coarse_waves(values * unit).T, inside[:, None, :] * grown
        real, imaginary = parts @ waves.real + (~inside @ masses)[:, None, None], parts @ waves.imag
        moduli = np.maximum(moduli, np.hypot(real, imaginary))
    logs = n * np.log(moduli) - np.log(rates[:, None] ** 2 + u**2)
    top = logs.max(axis=2)
    return np.asarray(top + np.log((np.exp(logs - top[:, :, None]) * np.gradient(u)).sum(axis=2) / math.pi))


def _few(log_p: Array, values: Array, exponents: Array, beside: float) -> list[int]:
    """The places of some rates that serve all values nearly as well as all of them do: one after the other, whichever
    helps most, as long as that is seen ``beside`` the logarithm of the rest of the bound."""
    kept: list[int] = []
    logs, before = np.log(values), math.inf
    for _ in range(_MOST_RATES):
        totals = np.logaddexp.reduce(log_p[:, None] + np.minimum(exponents, logs[:, None]), axis=0)
        total = float(np.logaddexp(beside, totals.min()))
        if total > before - _WORTH_A_RATE:
            break
        kept.append(int(totals.argmin()))
        logs, before = np.minimum(logs, exponents[:, kept[-1]]), total
    return sorted({*kept})


# -- the bound

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
        self.rare = None if same_means else rare_values(values, probabilities, n)
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
                log_bound = equal_log_upper(self.g[star], self.p[star], places, smoothing, self.tolerance)
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
