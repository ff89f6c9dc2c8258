r"""Logarithms of multinomial probabilities in doubles, for any number of users.

Loader's saddle point form: with :math:`\mu_j = N c_j` and :math:`D(x, \mu) = x \log(x/\mu) + \mu - x \ge 0`,

.. math:: \log \frac{N!}{h_1! \cdots h_m!} c_1^{h_1} \cdots c_m^{h_m}
          = \sigma(N) - \sum_{j:\, h_j > 0} \sigma(h_j) - \sum_j D(h_j, \mu_j), \qquad
          \sigma(x) = \log x! - x \log x + x.

Differences of log Γ lose ten of sixteen digits at N = 10⁶. Here a wrong last digit of c_j costs only |h_j − μ_j| units
in the last place, because the shares sum to 1 by assumption and not by rounding.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF

Array = npt.NDArray[np.float64]
_FIRST_OF_SERIES = 16  # from here on the series below is right to 2e-16
#: Roundings of a logarithm of NumPy, whose fast versions may be off by four units in the last place.
LOG_ROUNDINGS = 8


def _stirling_errors() -> Array:
    """log k! less Stirling's formula for k = 1 … 15, and a 0 for k = 0."""
    with balls.LOCK, balls.workprec(128):
        exact = [(arb(k + 1).lgamma() - (k + arb(0.5)) * arb(k).log() + k) for k in range(1, _FIRST_OF_SERIES)]
        return np.array([0.0, *(float(x - (2 * arb.pi()).log() / 2) for x in exact)])


_TABLE = _stirling_errors()


def log_multinomial(counts: Sequence[Any], shares: Sequence[Any]) -> Array:
    r"""The logarithm of N!/(h_1! h_2! …) · Π c_j^h_j with N the sum of the ``counts`` h_j; −inf if a count is negative,
    nan if N is.

    ``counts`` are whole numbers (arrays or numbers), ``shares`` numbers c_j ≥ 0 that sum to 1.

    >>> float(np.exp(log_multinomial((1, 1, 0), (0.5, 0.25, 0.25))).round(12))
    0.25
    """
    drawn = [np.maximum(np.asarray(h, dtype=float), 0.0) for h in counts]
    total: Any = np.asarray(sum(np.asarray(h, dtype=float) for h in counts))
    log: Any = _log_factorial_excess(np.maximum(total, 0.0))
    for h, share in zip(drawn, shares, strict=True):
        log = log - _log_factorial_excess(h) - _deviance(h, total * share)[0]
    impossible = np.logical_or.reduce(np.broadcast_arrays(*(np.asarray(h) < 0 for h in counts)))
    return np.where(total < 0, np.nan, np.where(impossible, -np.inf, log))


def log_multinomial_error(counts: Sequence[Any], shares: Sequence[Any], share_error: float) -> Array:
    r"""A bound of the absolute error of `log_multinomial`, ``share_error`` that of each share, relative to it.

    D(x, μ) is computed as μ((1 + w) log(1 + w) − w), w = (x − μ)/μ. An error of μ by the factor 1 + e moves D by
    e|x − μ|; w has two roundings, and dD/dw is μ log(1 + w); the logarithm and the products round x log(1 + w), and the
    sums round terms that are at most x|log(1 + w)| + |x − μ|. The rest is of the size of log N.
    """
    total: Any = np.asarray(sum(np.asarray(h, dtype=float) for h in counts))
    error: Any = 32.0 * (len(shares) + 1) * (1 + np.log1p(np.maximum(total, 0.0)))
    for h, share in zip(counts, shares, strict=True):
        x = np.maximum(np.asarray(h, dtype=float), 0.0)
        gap, log = np.abs(x - total * share), np.abs(_deviance(x, total * share)[1])
        moved = gap * (share_error / UNIT_ROUNDOFF + 2 + (2 + log) * 2)
        rounded = (LOG_ROUNDINGS + 8 + 2 * len(shares)) * (x * log + gap)
        error = error + moved + rounded
    return UNIT_ROUNDOFF * np.asarray(error)


def log_factorial(x: Any) -> tuple[Array, Array]:
    """log x! of whole numbers, and a bound of its error; +inf where they are negative."""
    some = np.maximum(np.asarray(x, dtype=float), 0.0)
    main = some * np.log(np.maximum(some, 1.0))
    log = main - some + _log_factorial_excess(some)
    return np.where(np.asarray(x) < 0, np.inf, log), 2 * LOG_ROUNDINGS * UNIT_ROUNDOFF * (1 + main + some)


def _log_factorial_excess(x: Array) -> Array:
    """log x! − x log x + x, which is about log(2πx)/2; 0 at x = 0."""
    some = np.maximum(x, 1.0)
    y = 1 / some**2
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - y / 1188) * y) * y) * y) / some
    small = some < _FIRST_OF_SERIES
    stirling = np.where(small, _TABLE[np.where(small, some, 0).astype(int)], series)
    return np.where(x > 0, stirling + 0.5 * np.log(2 * np.pi * some), 0.0)


def _deviance(x: Array, mean: Any) -> tuple[Array, Array]:
    """x log(x/μ) + μ − x, and log(x/μ) (0 where x is 0)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        w = (x - mean) / mean
        log = np.where(x > 0, np.log1p(w), 0.0)
        # x > 0 and μ = 0: impossible. x = 0 and μ = 0: nothing.
        inside = np.where(mean > 0, mean * ((1 + w) * log - w), np.inf)
    return np.where(x > 0, inside, mean), log
