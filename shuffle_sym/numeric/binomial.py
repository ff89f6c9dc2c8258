r"""Certified :math:`\frac1n\mathbb E[G_1 + \dots + G_n]_+` for a G with one positive and one negative value: no grid.

Let G be x > 0 with probability p, −v < 0 with probability r, else 0 (2-RR, the standard clone), with E[G] <= 0; if it
is positive, E[S]_+ = E[S] + E[−S]_+. Given that M of the n terms are not 0, M ~ Bin(n, p + r), the sum is
X_M = (x + v)K − vM with K ~ Bin(M, π), π = p/(p + r). With m the first count that makes it positive, b_M = Pr[K = m]
and T_M = Pr[K >= m], de Moivre's identity E[K − Mπ; K >= m] = m(1 − π) Pr[K = m] gives

.. math:: \mathbb E[X_M]_+ = (x + v)\, m (1 - \pi)\, b_M + \bigl((x + v)\pi - v\bigr) M\, T_M .

From M to M + 1, m stays or grows by one, b_M is multiplied by a ratio of small numbers, and

.. math:: T_{M+1} = T_M + \pi \Pr[K = m - 1] \quad\text{or}\quad T_{M+1} = T_M - (1 - \pi) \Pr[K = m],

so two cumulative sums, of log-ratios and of these, give all of them: O(√n) terms. Where each error goes:

===================  =========================================================================================
pmf                  ratios of neighbours, normalised by their own sum; each logarithm and each partial sum
                     is rounded; what is cut off is at most the last term times ρ/(1 − ρ), ρ the next ratio
T_M                  relative to the sum of the absolute values of what was added up, from the largest M down
values of G          X_M moves by at most _OFF·(x + v)M, which matters where it is positive or m is off by one
probabilities        E[S]_+ has positive coefficients in them: a factor (1 ± FLOAT_ERROR)^n
M left out           E[X_M]_+ <= xM, and <= xM(M + 1) b_M, as Pr[K = k] falls from m on
===================  =========================================================================================
"""

import math

import numpy as np

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST, UNIT_ROUNDOFF
from shuffle_sym.numeric.binomial_laws import Array, LogBinomialLaw, bernstein_reach, log_binomial_law
from shuffle_sym.numeric.tilting import scaled
from shuffle_sym.numeric.transforms import checked, refusal, told

MAX_TERMS = 2**24
_OFF = 4 * FLOAT_ERROR + 32 * UNIT_ROUNDOFF
_LOG_LEFT_OUT = -100.0


def has_two_values(values: Array) -> bool:
    """Whether G has at most one positive and at most one negative value, or no value of one of the signs."""
    sides = values[values > 0], values[values < 0]
    return any(not len(side) for side in sides) or all(side.min() == side.max() for side in sides)


def positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`, no wider than ``rtol`` of the upper end (below 1e-305: from 0).

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR.

    >>> positive_part(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1e-3)  # E[S]_+ = 3/8 + 3/8
    Interval(0.249999, 0.250001)
    """
    values, probabilities = checked(values, probabilities, n, rtol)
    if not has_two_values(values):
        raise ValueError('values must have at most one positive and one negative one; use method="contour"')
    if np.max(values) <= 0:
        return Interval(0.0, 0.0)
    gains, losses = (math.fsum(probabilities * np.maximum(sign * values, 0.0)) for sign in (1.0, -1.0))
    mean, error = gains - losses, 4 * FLOAT_ERROR * (gains + losses)
    lower, upper = max(mean - error, 0.0), mean + error
    if losses > 0:
        x, v = float(np.max(values)), -float(np.min(values))
        p, r, zero = (math.fsum(probabilities[np.sign(values) == sign]) for sign in (1, -1, 0))
        part = (_Two(v, x, r, p, zero, n) if mean > 0 else _Two(x, v, p, r, zero, n)).bounds(rtol)
        lower, upper = (lower + part[0], upper + part[1]) if mean > 0 else part
    if upper - lower > rtol * upper and upper > SMALLEST:
        raise refusal(n, rtol, (upper - lower) / upper, "more than doubles can give")
    return told(lower, upper)


class _Two:
    """G is x with probability p, −v with probability r, else 0, and E[G] <= 0 up to round-off."""

    def __init__(self, x: float, v: float, p: float, r: float, zero: float, n: int) -> None:
        # Everything is homogeneous in G. A sum with one value below −nx is negative: how far below does not matter.
        self.unit = 2.0 ** math.floor(math.log2(x))
        self.x, self.v = x / self.unit, min(v / self.unit, 4.0 * n * x / self.unit)
        self.p, self.r, self.zero, self.n, self.log_unit = p, r, zero, n, math.log(self.unit)
        self.pi, self.rest = p / (p + r), r / (p + r)

    def bounds(self, rtol: float) -> tuple[float, float]:
        """Bounds of E[S]_+/n; the window of M grows until what lies outside does not matter."""
        log_tail = math.log(rtol) - 50.0
        while True:
            lower, upper, outside = self._bounds(log_tail)
            if outside <= 0.01 * rtol * upper or upper + outside < SMALLEST or log_tail < -1500:
                slack = 4 * self.n * FLOAT_ERROR  # of the probabilities
                return max(lower, 0.0) * math.exp(-slack), (upper + outside) * math.exp(slack)
            wanted = math.log(max(upper, SMALLEST)) + math.log(rtol) - math.log(self.n) - self.log_unit - 20
            log_tail = min(1.5 * log_tail, max(4 * log_tail, wanted))

    def _bounds(self, log_tail: float) -> tuple[float, float, float]:
        n, x, v, u = self.n, self.x, self.v, UNIT_ROUNDOFF
        law = _log_law(n, self.p + self.r, self.zero, log_tail)
        outside = x * law.outside * self.unit  # E[X_M]_+/n <= x
        counts, log_pmf = law.counts[law.counts > 0], law.logs[law.counts > 0]
        first = self._first_positive(counts)
        log_b, b_error = self._log_b(counts, first, log_tail)

        score = log_pmf + log_b
        best = int(np.argmax(score))
        kept = np.flatnonzero(score >= score[best] + _LOG_LEFT_OUT)
        kept = np.arange(kept[0], kept[-1] + 1)
        log_left_out = float(score[best]) + _LOG_LEFT_OUT + math.log(len(counts) * (n + 1.0) * x) + b_error
        outside += scaled(1.0, log_left_out + self.log_unit)
        M, m = counts[kept], first[kept]
        exponents = log_b[kept] - log_b[best]
        moves = _OFF * (x + v) * M
        perhaps_positive = (x + v) * (m - 1) - v * M > -4 * moves
        with np.errstate(over="ignore"):
            b = np.exp(exponents)
            previous = np.where(perhaps_positive, b * m * self.rest / ((M - m + 1) * self.pi), 0.0)  # Pr[K = m − 1]
        if np.max(np.abs(exponents)) > 600 or not np.isfinite(previous).all():
            raise ValueError(f'n = {n} needs a wider range than doubles have; use method="contour"')
        tails, sizes = self._tails(M, m, b)

        terms = (x + v) * self.rest * m * b
        drift = (x * self.p - v * self.r) / (self.p + self.r)
        parts = terms + drift * M * tails
        errors = (8 * u + b_error) * terms + abs(drift) * M * (b_error + (len(M) + 100) * u) * sizes
        errors += moves * (sizes + b + 5 * previous)
        weights = np.exp(log_pmf[kept] - log_pmf[best])
        value, error = float(weights @ parts), float(weights @ errors)
        error += (law.error + (len(M) + 100) * u) * float(weights @ (np.abs(parts) + errors))
        log_scale = float(score[best]) - math.log(n) + self.log_unit
        rounding = u * (2 * abs(float(score[best])) + 2 * abs(self.log_unit) + 2000)
        return scaled(value - error, log_scale - rounding), scaled(value + error, log_scale + rounding), outside

    def _first_positive(self, M: Array) -> Array:
        """The first k with xk > v(M − k); from the smaller of two shares, so that even rounded it grows by 0 or 1."""
        share = self.v / (self.x + self.v)
        if share <= 0.5:
            return np.floor(share * M) + 1
        return M - np.ceil(self.x / (self.x + self.v) * M) + 1

    def _log_b(self, M: Array, m: Array, log_tail: float) -> tuple[Array, float]:
        """log Pr[Bin(M, π) = m] for each M, and a bound on the error."""
        if len(M) > 1:
            before, m_before = M[:-1], m[:-1]
            grows = m[1:] > m_before
            steps = np.log(
                np.where(grows, self.pi / (m_before + 1), self.rest / (before + 1 - m_before)) * (before + 1)
            )
        else:
            steps = np.zeros(0)
        last = int(m[-1])
        law = _log_law(int(M[-1]), self.p, self.r, max(log_tail, -60.0), last)
        at_last = float(law.logs[last - int(law.counts[0])])
        falls = np.concatenate([np.cumsum(steps[::-1])[::-1], [0.0]])
        error = law.error + UNIT_ROUNDOFF * (len(M) + 2) * (16 + float(np.max(np.abs(falls))) + abs(at_last))
        return at_last - falls, error

    def _tails(self, M: Array, m: Array, b: Array) -> tuple[Array, Array]:
        """Pr[Bin(M, π) >= m] in the units of b, and the sum of the absolute values that it was added up from."""
        last = float(M[-1])
        k = np.arange(m[-1], min(m[-1] + 12 * math.sqrt(last * self.pi * self.rest) + 200, last))
        products = np.cumprod((last - k) / (k + 1) * (self.pi / self.rest))
        start = float(b[-1]) * (1 + float(np.sum(products)))
        following = (last - m[-1] - len(k)) / (m[-1] + len(k) + 1) * (self.pi / self.rest)
        cut_off = float(b[-1] * products[-1] * following / (1 - following)) if len(k) else 0.0
        M, m, b, grows = M[:-1], m[:-1], b[:-1], m[1:] > m[:-1]
        rises = b * self.rest * np.where(grows, -1.0, m / (M - m + 1))
        tails = start - np.concatenate([np.cumsum(rises[::-1])[::-1], [0.0]])
        sizes = start + np.concatenate([np.cumsum(np.abs(rises)[::-1])[::-1], [0.0]])
        # The cut-off and the rounding of start, which has fewer than 13√M + 200 factors, into units of (len + 100)u.
        unit = (len(M) + 101) * UNIT_ROUNDOFF
        return tails, sizes + (cut_off + 16 * (len(k) + 1) * UNIT_ROUNDOFF * start) / unit


def _log_law(N: int, p: float, q: float, log_tail: float, until: int | None = None) -> LogBinomialLaw:
    """The law Bin(N, p/(p + q)) on a window outside of which about e^log_tail lies, and that contains ``until``."""
    reach = bernstein_reach(N, p / (p + q), log_tail)
    if until is not None:
        reach = max(reach, abs(until - math.floor((N + 1) * (p / (p + q)))) + 1)
    if 2 * reach > MAX_TERMS:
        raise ValueError(f'n = {N} needs more than {MAX_TERMS} terms here; use method="contour"')
    return log_binomial_law(N, p, q, reach)
