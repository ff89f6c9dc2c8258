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

**Binomial laws** are built in doubles here and nowhere else, on windows around their modes. A law Bin(N, p/(p + q)) is
built by its ratios :math:`\frac{N-k}{k+1}\frac pq` outward from the mode, which costs a few roundings a step and no Γ
function, and is divided by its own sum. Beyond a window the ratios fall, so a geometric series bounds what is left out;
nothing is approximated inside. ``p`` and ``q`` need not add up to 1. ``odds_error`` bounds the relative error of p/q as
it is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST, UNIT_ROUNDOFF
from shuffle_sym.numeric.tilting import scaled
from shuffle_sym.numeric.transforms import checked, refusal, told

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


# -- sums with two values

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


# -- binomial laws

_TINY = 1e-280  # relative weights below this are cut: doubles lose their digits soon after
_SMALL = 1e-300  # more than all that underflow can take from a weight


@dataclass(frozen=True)
class BinomialLaws:
    """One law a row: the probabilities of first, first + 1, …, each with a relative error of at most ``error``; of no
    row more than ``outside`` lies outside the window or was cut to 0. Entries for counts below 0 or above N are 0."""

    first: Counts
    probabilities: Array
    outside: float
    error: float


@dataclass(frozen=True)
class LogBinomialLaw:
    """One law: the logarithms of the probabilities of ``counts``, each with an absolute error of at most ``error``;
    no more than ``outside`` lies outside the window."""

    counts: Array
    logs: Array
    outside: float
    error: float


def binomial_laws(sizes: Counts, p: float, q: float, reach: int, odds_error: float = 0.0) -> BinomialLaws:
    r"""The laws Bin(N, p/(p + q)) for all N in ``sizes``, up to ``reach`` steps to each side of their modes.

    >>> binomial_laws(np.array([2, 3]), 0.5, 0.5, 3).probabilities.round(9).tolist()
    [[0.0, 0.25, 0.5, 0.25], [0.125, 0.375, 0.375, 0.125]]
    """
    modes, ups, downs = _ratios(sizes, p, q, reach)
    with np.errstate(under="ignore"):
        right, left = np.cumprod(ups[:, :-1], axis=1), np.cumprod(downs[:, :-1], axis=1)
    weights = np.concatenate([left[:, ::-1], np.ones((len(sizes), 1)), right], axis=1)
    weights[weights < _TINY] = 0.0
    totals = np.sum(weights, axis=1)
    width, steps = weights.shape[1], max(left.shape[1], right.shape[1])
    beyond = sum(
        _geometric_tail((side[:, -1] if side.shape[1] else 1.0) + _SMALL, ratios[:, -1])
        for side, ratios in ((right, ups), (left, downs))
    )
    outside = float(np.max(beyond / totals)) * (1 + 1e-9) + width * _TINY
    # Odds, quotient and product in each step; the same in the sum; the mass that the sum misses.
    error = 2 * steps * (odds_error + 4 * UNIT_ROUNDOFF) + width * UNIT_ROUNDOFF + outside
    return BinomialLaws(modes - left.shape[1], weights / totals[:, None], outside, error)


def log_binomial_law(size: int, p: float, q: float, reach: int, odds_error: float = 0.0) -> LogBinomialLaw:
    """The law Bin(N, p/(p + q)) up to ``reach`` steps to each side of its mode, in logarithms: far tails, too.

    >>> np.exp(log_binomial_law(3, 0.5, 0.5, 3).logs).round(9).tolist()
    [0.125, 0.375, 0.375, 0.125]
    """
    (mode,), (ups,), (downs,) = _ratios(np.array([size]), p, q, reach if p and q else 0)
    right, left = np.cumsum(np.log(ups[:-1])), np.cumsum(np.log(downs[:-1]))
    logs = np.concatenate([left[::-1], [0.0], right])
    weights = np.exp(logs)
    total = float(np.sum(weights))
    beyond = float(_geometric_tail(weights[-1] + 5e-324, ups[-1]) + _geometric_tail(weights[0] + 5e-324, downs[-1]))
    outside = 1.01 * beyond / total + 5e-324 if beyond else 0.0
    # Of every step, of its logarithm, and of every partial sum; twice that, for the total has the same.
    error = len(logs) * (2 * odds_error + UNIT_ROUNDOFF * (20 + 2 * float(np.max(np.abs(logs)))))
    return LogBinomialLaw(
        np.arange(mode - len(left), mode + len(right) + 1, dtype=float),
        logs - math.log(total),
        outside,
        error + outside,
    )


def _ratios(sizes: Counts, p: float, q: float, reach: int) -> tuple[Counts, Array, Array]:
    """The modes, the quotients of neighbours upward from them and downward, the first beyond the window included; 0
    where a count is not in 0 … N. Windows are not wider than the widest range of counts."""
    odds = p / q if q else math.inf
    modes = np.minimum(np.floor((sizes + 1) * (p / (p + q))).astype(np.int64), sizes)
    largest, middle = sizes[:, None], modes[:, None]
    up = middle + np.arange(min(reach, int(np.max(sizes - modes))) + 1)
    down = middle - np.arange(min(reach, int(np.max(modes))) + 1)
    with np.errstate(under="ignore", invalid="ignore"):  # 0·∞ if q is 0, where no count is above the mode
        ups = np.where(up < largest, (largest - up) / (up + 1) * odds, 0.0)
        downs = np.where(down > 0, down / (largest - down + 1) / odds, 0.0)
    return modes, ups, downs


def _geometric_tail(last: Any, ratio: Any) -> Any:
    """A bound on all terms after the last one, ρ + ρ² + … times it, with ρ the next ratio; they fall from there on."""
    ratio = ratio * (1 + 1e-9)
    with np.errstate(divide="ignore", under="ignore"):
        tail = np.where(ratio < 1, last * ratio / np.abs(1 - ratio) + 5e-324, np.inf)
    return np.where(ratio == 0, 0.0, tail)


def bernstein_reach(size: int, p: float, log_tail: float) -> int:
    """Steps from the mode of Bin(size, p) beyond which less than e^log_tail lies, by Bernstein's inequality."""
    log_factor = math.log(2) - log_tail
    variance = size * p * (1 - p)
    reach = log_factor / 3 + math.sqrt(log_factor**2 / 9 + 2 * variance * log_factor)
    return min(math.ceil(reach) + 2, size)


def hoeffding_reach(size: int, log_tail: float) -> int:
    r"""The window of Koskela et al. 2021, Section 6.2: c·N with :math:`c = \sqrt{\log(2/\tau)/(2N)}`.

    It does not know p, and is wider than the exact tail needs by a factor of about :math:`1/(2\sqrt{p(1-p)})`.
    """
    return min(math.ceil(math.sqrt(size * (math.log(2) - log_tail) / 2)) + 2, size)
