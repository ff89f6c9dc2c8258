r"""Upper bounds of the largest mean positive part of a sum, over all ways to choose its terms from some laws.

For laws G_x, M_x(s) = E e^{sG_x}, every λ > 0, τ, τ_x >= 0 and independent terms with any of these laws,

.. math:: \mathbb E\Bigl[\sum_{i=1}^N G_{x_i}\Bigr]_+ \le \frac1\pi \int_0^\infty
          e^{\tau^2(\lambda^2 - u^2)/2}\, m(u)^N \frac{du}{\lambda^2 + u^2}, \qquad
          m(u) = \max_x |M_x(\lambda + iu)|\, e^{\tau_x^2(\lambda^2 - u^2)/2}.

*Proof.* By Jensen's inequality independent normal terms with mean 0 and variances τ² and τ_{x_i}² do not make it
smaller; :math:`v_+ = \frac1{2\pi i}\int e^{sv} s^{-2} ds` over Re s = λ; moduli inside. The integrand is even in u.

The integral is bounded from above by cells. f = |M_x|² e^{τ_x²(λ²−u²)} over its value at 0 is the mean of cos(uD), D
the difference of two copies of the tilted term, so |f''| <= 2V, V its variance (that of the tilted law, plus τ_x²).
In a cell of width H it is below its chord raised by β = H² V/4, and so is the largest f over x, with the largest β. The
sum over N (`places`) has powers >= 2 of √f, so it is convex in f and below its own chord between the raised ends.
1/(λ² + u²) is convex beyond λ/√3, and before that its second derivative is at least −2/(λ² + u²)²: it is below its
chord raised by H²/(4(λ² + u_k²)²), u_k the left end. e^{−τ²u²/2} falls: the left end's value. Beyond the last cell
U, f <= 1 and ∫ e^{−τ²u²/2} u^{−2} du <= e^{−τ²U²/2}/U. A cell whose chord is above 1 takes f <= 1 instead. The
product of two chords is integrated as it is, and all terms are positive: round-off is relative.
"""

import math

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.elementary import DOUBLINGS, rotations
from shuffle_sym.numeric.places import Places
from shuffle_sym.numeric.transforms import Array, Mask, _Tilted

NARROW = 0.15  # variance of a law over that of its normal term, up to which |M_x(λ + iu)| <= M_x(λ) will do
ALL = slice(None)
_ROUNDS = 14
_MOST_CELLS = 4_000
_LOBE = 6.0  # equal cells up to so many standard deviations
_OCTAVE = np.array([1.25, 1.5, 1.75, 2.0])  # beyond, and two, four, … times as far
_LARGEST_EXPONENT = 690.0
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
    """The integral above, divided by N and summed over N by `places`, for one λ, one τ² and one τ_x² for each law."""

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
