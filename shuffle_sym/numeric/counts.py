r"""Certified :math:`\frac1n\mathbb E[G_1 + \dots + G_n]_+` by the counts of rare values of G.

A sum with a value below −n·max G is negative and adds nothing. Of the other values let the rare ones r_j have
probabilities p_j, and the rest the probability q, the mean μ and the variance v. With k = Σh_j terms at rare values,
h_j of them at r_j, and all others at values of the rest, the sum has the mean m and the variance (n − k)v,

.. math:: \Pr[h] = q^n \binom{n}{h, n - k} \prod_j (p_j/q)^{h_j}, \qquad m = \sum_j h_j r_j + (n - k)\mu,

.. math:: [m]_+ \;\le\; \mathbb E[S]_+ \;\le\; [m]_+ + \tfrac12\Bigl(\sqrt{m^2 + (n - k)v} - |m|\Bigr),

by Jensen, and by [s]_+ = (s + |s|)/2 and E S² = m² + (n − k)v. Where rare values are large next to the spread of the
rest both are sharp; if the rest is one value, v = 0 and nothing is lost. All h with k <= K are summed.
Where each error goes:

===================  ===============================================================================================
more than K rare     [S]_+ <= Σ[G_i]_+ and Pr[Bin(n − 1, ρ) >= K] <= (nρ)^K/K!, ρ = Σp_j
spread of the rest   the two ends above, or Bernstein's inequality; where that is wide, another method for the rest
                     alone, with all other values so low that no sum that has one of them is positive
values of G          m moves by at most Σ h_j |r_j| + (n − k) E|G| times their relative error, and by as much again
                     for p and for q in the mean of the rest
probabilities        E[S]_+ has positive coefficients in them: (1 ± 2E)^k for the p_j/q, e^{±x} <= 1 ± x(1 + x), and a
                     factor for q^n, where q is best known from the p that it is not
underflow            weights are mantissas and exponents; what is too small next to the largest term is added to the
                     upper end, and taken off the lower one
===================  ===============================================================================================
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric import binomial, contour
from shuffle_sym.numeric.tilting import scaled
from shuffle_sym.numeric.transforms import SMALLEST, Array, checked, refusal, told

_MOST = 2**14  # counts that are summed
_MOST_RARE = 40  # different values
# Rare values that may be expected in a sum, how far from the rest they are at least, next to the largest value, and how
# many different ones there may be
_FEW = ((4.0, 0.0, _MOST_RARE), (0.05, 0.0, _MOST_RARE), (0.05, 0.01, 2))
_MOST_SHARPENED = 4
_UNDERFLOW = 1e-290
_NOTHING = 1e-200  # next to the largest term, which is about 1, unless there is none
_LARGE = 2.0**800  # it keeps what is small next to 1 inside the doubles
_LOG_LARGE = 800 * math.log(2)
_LARGEST_EXPONENT = 600.0
Mask = npt.NDArray[np.bool_]


def positive_parts(values: Array, probabilities: Array, n: int, rtol: float) -> list[Interval | ValueError]:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+` for each row of ``values``, no wider than ``rtol`` of the upper end
    (below 1e-305: from 0), or the refusal.

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR.

    >>> positive_parts(np.array([[-1.0, 1.0]]), np.array([0.5, 0.5]), 3, 1e-3)  # E[S]_+ = 3/8 + 3/8
    [Interval(0.249999, 0.250001)]
    """
    values, p = checked(values, probabilities, n, rtol)
    if n * float(p.min()) > _FEW[0][0] and _count(n, 1) > _MOST:  # nothing is rare
        return [refusal(n, rtol, 1.0, f"more than {_MOST} counts")] * len(values)
    return [_positive_part(row, p, n, rtol) for row in values]


def _positive_part(values: Array, p: Array, n: int, rtol: float) -> Interval | ValueError:
    top = float(values.max())
    if top <= 0:
        return Interval(0.0, 0.0)
    unit = 2.0 ** math.floor(math.log2(top))
    values = np.maximum(values, -4.0 * n * top) / unit
    lower, upper = 0.0, math.inf
    for rare in _rare(values, p, n):
        try:
            low, high = _Split(values, p, rare, n).bounds(rtol, unit)
        except ValueError:  # of the method for the rest
            continue
        lower, upper = max(lower, low), min(upper, high)
        if upper < math.inf and (upper - lower <= rtol * upper or upper < SMALLEST):
            return told(lower, upper)
    return refusal(n, rtol, (upper - lower) / upper if upper < math.inf else 1.0, f"more than {_MOST} counts")


def _dead(values: Array, n: int) -> Mask:
    """Values so low that a sum that has one of them is negative, whatever the others are."""
    low: Mask = values < -1.001 * n * float(values.max())
    return low


def _rare(values: Array, p: Array, n: int) -> list[Mask]:
    """Which values may be the rare ones; the most that are worth a try come first."""
    order = np.argsort(p, kind="stable")
    order = order[~_dead(values, n)[order]]
    masks = []
    alone = values[order[-1]]
    size = len(set(values[order]) - {alone})
    if size <= _MOST_RARE and _count(n, size) <= _MOST and -n * math.log(p[order[-1]]) < _LARGEST_EXPONENT:
        masks.append(np.isin(values, values[order]) & (values != alone))
    for few, away, most in _FEW:
        rest = values[order[int(np.searchsorted(n * np.cumsum(p[order[:-1]]), few, side="right")) :]]
        # What is among the rest, or near it, is part of it.
        outside = (values > rest.max() + away * values.max()) | (values < rest.min() - away * values.max())
        rare = outside & ~_dead(values, n)
        masks += [rare] if len(set(values[rare])) <= most else []
    different = [mask for i, mask in enumerate(masks) if not any((mask == m).all() for m in masks[:i])]
    return [mask for mask in different if mask.any() or len(order) < len(p)]  # else nothing would be gained


def _count(most: int, rare: int) -> float:
    """The number of h with at most so many terms."""
    if rare * math.log1p(most) > 700:
        return math.inf
    return math.exp(sum(math.log1p(most / i) for i in range(1, rare + 1)))


@lru_cache(maxsize=8)
def _counts(n: int, most: int, ratios: tuple[float, ...]) -> list[Any]:
    """For each h with at most so many terms: k, Pr[h]/q^n as a mantissa and an exponent of 2, and h, from the p_j/q."""
    k, mantissas, exponents, h = np.zeros(1), np.ones(1), np.zeros(1, dtype=int), np.zeros((1, len(ratios)))
    for one, ratio in zip(np.eye(len(ratios)), ratios, strict=True):
        steps = np.arange(1, most + 1)  # few; where nothing is rare, there may be as many terms as users
        more = k[:, None] + steps
        fits = more <= most
        products, powers = _products((n - more + 1) / steps * ratio)
        products, shifts = np.frexp(mantissas[:, None] * products)
        exponents = np.concatenate([exponents, (exponents[:, None] + powers + shifts)[fits]])
        mantissas = np.concatenate([mantissas, products[fits]])
        k = np.concatenate([k, more[fits]])
        h = np.concatenate([h, (h[:, None, :] + steps[:, None] * one)[fits]])
    return [k, mantissas, exponents, h]


def _products(factors: Array) -> tuple[Array, Array]:
    """The products of the first 1, 2, … factors of each row, as mantissas and exponents of 2."""
    mantissas, exponents = np.frexp(factors)
    exponents = np.cumsum(exponents, axis=1)
    for first in range(0, factors.shape[1], 1000):  # 2^-1000 is a double
        block = mantissas[:, first : first + 1000]
        block[:, 0] *= mantissas[:, first - 1] if first else 1.0
        block[:], shifts = np.frexp(np.cumprod(block, axis=1))
        exponents[:, first : first + 1000] += shifts
        exponents[:, first + 1000 :] += shifts[:, -1:]
    return mantissas, exponents


class _Split:
    """Rare values, and the rest; values are at most about 1."""

    def __init__(self, values: Array, p: Array, rare: Mask, n: int) -> None:
        self.values, self.p, self.n, u = values, p, n, UNIT_ROUNDOFF
        self.sharpened: dict[tuple[int, float, float], tuple[float, float]] = {}
        self.alive = ~rare & ~_dead(values, n)
        self.rare = [(r, math.fsum(p[rare & (values == r)])) for r in sorted(set(values[rare]))]
        self.q, self.rho, gone = math.fsum(p[self.alive]), math.fsum(p[rare]), math.fsum(p[~self.alive])
        self.log_q = math.log1p(-gone) if gone < 0.5 else math.log(self.q)
        # Of q, from the probabilities or from 1 minus the others, whichever is better known
        off = 1.01 * min(gone / self.q, 1.0) * (FLOAT_ERROR + u)
        self.step_error = 2 * FLOAT_ERROR + 8 * u  # of p/q, and of the products
        self.error = n * (off + 8 * u * abs(self.log_q)) + 16 * u
        g, weights = values[self.alive], p[self.alive] / self.q
        self.mean, self.highest = math.fsum(weights * g), float(g.max())
        # Of p, of q and of g, and of products and sums
        self.mean_error = math.fsum(weights * np.abs(g)) * (3 * FLOAT_ERROR + 8 * u)
        self.reach = 1.001 * max(self.highest - self.mean, self.mean - float(g.min()))
        # About any point it is never below the variance; values are off by a relative FLOAT_ERROR.
        spread = 1.001 * math.fsum(weights * (g - self.mean) ** 2) + 1e-28 * math.fsum(weights * g**2)
        self.variance = spread if g.min() < self.highest else 0.0
        # What rare values, and what the rest, of one term add to [S]_+ at most
        gains = p * np.maximum(values, 0.0) * (1 + 8 * u)
        self.gains = math.fsum(gains[rare]), math.fsum(gains[self.alive])

    def bounds(self, rtol: float, unit: float) -> tuple[float, float]:
        """Bounds of E[S]_+/n in the original unit; K grows until what lies beyond does not matter."""
        lower, upper, log_upper, log_rtol = 0.0, math.inf, math.log(sum(self.gains)), math.log(rtol / 8)
        # So many rare values outweigh the mean of the rest.
        enough = 1 + math.ceil(max(-self.n * self.mean, 0.0))
        most, nothing = min(enough, self.n) if _count(enough, len(self.rare)) <= _MOST / 4 else 1, False
        while _count(most, len(self.rare)) <= _MOST:
            log_beyond = self._log_beyond(most)
            # At first as far as the largest sum there can be would need
            if log_beyond <= log_rtol + log_upper:
                low, summed, log_scale = self._summed(most, rtol)
                high = summed + (scaled(1.0, log_beyond - log_scale) if log_beyond > -math.inf else 0.0)
                nothing = summed < _NOTHING
                # Where the sum is not 0 it says what lies beyond has to be small next to.
                log_upper = math.log(summed if low > 0 else high) + log_scale
                log_unit = math.log(unit) + log_scale
                # Of the logarithms
                slack = 8 * UNIT_ROUNDOFF * (abs(log_unit) + abs(log_scale) + abs(log_upper) + 8)
                lower, upper = scaled(low, log_unit - slack), scaled(high, log_unit + slack)
                if high - low <= rtol * high or log_beyond <= log_rtol + log_upper or upper < SMALLEST:
                    break
            most = self._more(most, nothing) if most < self.n else _MOST
        return lower, upper

    def _more(self, most: int, nothing: bool) -> int:
        """The next K; where no sum was positive so far, the last one that is worth a try."""
        more = min(most + 1 + most // 4, self.n)
        while nothing and more < self.n and _count(more + 1 + more // 4, len(self.rare)) <= _MOST:
            more = min(more + 1 + more // 4, self.n)
        return more

    def _log_beyond(self, most: int) -> float:
        """The logarithm of a bound on the part of E[S]_+/n with more than so many rare values."""
        if most >= self.n or not self.rho:
            return -math.inf
        log = most * math.log(self.n * self.rho) - math.lgamma(most + 1) + 0.01
        more = self.n * self.rho / (most + 1)  # the next power over this one
        return log + math.log(self.gains[0] + more * self.gains[1])

    def _summed(self, most: int, rtol: float) -> tuple[float, float, float]:
        """Bounds of the part of E[S]_+/n with at most so many rare values over a scale, and the scale's logarithm."""
        n, u = self.n, UNIT_ROUNDOFF
        k, mantissas, exponents, h = _counts(n, most, tuple(p / self.q for _, p in self.rare))
        rare = np.array([r for r, _ in self.rare])
        totals, sizes = h @ rare, h @ np.abs(rare)
        rest = n - k
        m = totals + rest * self.mean
        off = (FLOAT_ERROR + (k + 4) * u) * sizes + rest * self.mean_error + 4 * u * np.abs(m)
        excess = _excess(np.maximum(np.abs(m) - off, 0.0), rest * self.variance, self.reach)
        below, above = np.maximum(m - off, 0.0), np.maximum(m + off, 0.0) + excess
        # No sum is above that of the highest values.
        highest = rest * (self.highest + (FLOAT_ERROR + 4 * u) * abs(self.highest))
        above = np.minimum(above, np.maximum(totals + highest + off, 0.0))
        if self.highest <= 0:
            above[totals == -sizes] = 0.0  # no term is positive
        errors = 1.01 * (k * self.step_error + self.error)
        if errors.max() > 0.01:
            return 0.0, math.inf, 0.0
        some = above > 0
        above = np.where(some, np.maximum(above, _UNDERFLOW), 0.0)
        # So that the largest upper end is about 1
        first = int((exponents + np.frexp(above)[1])[some].max()) if some.any() else 0
        log_scale = n * self.log_q - math.log(n) + first * math.log(2)
        scales = np.ldexp(mantissas, np.where(some, np.maximum(exponents - first, -2000), 0))
        below, above = below * scales * (1 - errors), above * scales * (1 + errors * (1 + errors))
        self._sharpen(rtol, below, above, k, totals, sizes, scales)
        lost = len(k) * _UNDERFLOW
        return max(math.fsum(below) - lost, 0.0) * (1 - 16 * u), (math.fsum(above) + lost) * (1 + 16 * u), log_scale

    def _sharpen(
        self, rtol: float, below: Array, above: Array, k: Array, totals: Array, sizes: Array, scales: Array
    ) -> None:
        """Where mean and variance leave much open, another method for the rest: the widest first."""
        gaps = above - below
        for _ in range(_MOST_SHARPENED):
            i = int(np.argmax(gaps))
            if math.fsum(gaps) <= rtol / 4 * math.fsum(below) or k[i] == self.n:
                return
            m = self.n - int(k[i])
            case = m, float(totals[i]), float(sizes[i])
            if case not in self.sharpened:
                self.sharpened[case] = self._sharper(m, *case[1:], rtol)
            ends = self.sharpened[case]
            error = 1.01 * (k[i] * self.step_error + 2 * self.error) + 4 * _LOG_LARGE * UNIT_ROUNDOFF
            factor = math.log(m) - m * self.log_q - _LOG_LARGE
            below[i] = max(below[i], scaled(ends[0] * scales[i] * (1 - error), factor))
            above[i] = min(above[i], scaled(ends[1] * scales[i] * (1 + error * (1 + error)), factor))
            gaps[i] = 0.0  # as sharp as it gets

    def _sharper(self, m: int, total: float, size: float, rtol: float) -> tuple[float, float]:
        r"""Bounds of :math:`q^m\frac1m\mathbb E[t + S]_+`, S the sum of m terms of the rest, times e^_LOG_LARGE."""
        k, ends = self.n - m, []
        shifted = np.where(self.alive, self.values + total / m, 0.0)
        of_total = (FLOAT_ERROR + (k + 6) * UNIT_ROUNDOFF) * size / m
        off = (FLOAT_ERROR + 4 * UNIT_ROUNDOFF) * np.abs(self.values) + of_total
        for sign in (-1, 1):
            values = shifted + sign * off
            top = float(values[self.alive].max())
            values[~self.alive | (values < -1.001 * m * top)] = -4.0 * m * top
            method = binomial if binomial.has_two_values(values) else contour
            part = method.positive_part(values * _LARGE, self.p, m, rtol / 8) if top > 0 else Interval(0.0, 0.0)
            ends.append(part)
        return ends[0].lower, ends[1].upper


def _excess(m: Array, variance: Array, reach: float) -> Array:
    r"""Bounds of E[m + X]_+ − [m]_+ for an X with mean 0, this variance and terms within ``reach`` of their means.

    (√(m² + v) − |m|)/2, and by Bernstein's inequality ∫_{|m|}^∞ e^{−f(x)} dx <= e^{−f}/f' at |m|, f convex.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        by_variance = variance / (2 * (np.sqrt(m * m + variance) + m))
        below = variance + reach * m / 3
        by_tail = np.exp(-m * m / (2 * below) * (1 - 1e-12)) * below**2 / (m * (variance + reach * m / 6))
        excess: Array = np.fmin(by_variance, by_tail + _UNDERFLOW) * (1 + 1e-12)
    return np.where(variance > 0, excess, 0.0)
