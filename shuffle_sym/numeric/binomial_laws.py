r"""Binomial laws on windows around their modes: the one place where they are built in doubles.

A law Bin(N, p/(p + q)) is built by its ratios :math:`\frac{N-k}{k+1}\frac pq` outward from the mode, which costs a few
roundings a step and no Γ function, and is divided by its own sum. Beyond a window the ratios fall, so a geometric
series bounds what is left out; nothing is approximated inside.

``p`` and ``q`` need not add up to 1. ``odds_error`` bounds the relative error of p/q as it is given.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
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
