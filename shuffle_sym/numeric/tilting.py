r"""Exponential tilting of a discrete law and Chernoff bounds of its n-fold sum."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.search import last_that_holds

Array = npt.NDArray[np.float64]


def log_mgf(values: Array, weights: Array, thetas: Array | float) -> Array:
    r"""log Σ w e^{θ g} for each θ, without overflow."""
    with np.errstate(divide="ignore"):
        exponents = np.multiply.outer(thetas, values) + np.log(weights)
    top: Array = np.max(exponents, axis=-1)
    total: Array = top + np.log(np.sum(np.exp(exponents - top[..., np.newaxis]), axis=-1))
    return total


def tilted(values: Array, weights: Array, theta: float) -> tuple[Array, float]:
    r"""Weights w e^{θ g − K} with sum 1, and K = log Σ w e^{θ g}."""
    log_scale = float(log_mgf(values, weights, theta))
    with np.errstate(under="ignore"):
        return weights * np.exp(theta * values - log_scale), log_scale


def saddle_point(values: Array, weights: Array, n: int) -> float:
    r"""The θ > 0 that minimises n log E e^{θG} − 2 log θ, where E[S]_+ e^{…} has its weight.

    Needs a positive value of G. A few digits are all that tilting needs.
    """
    with np.errstate(divide="ignore"):
        return saddle_point_of_logs(values, np.log(weights), n)


def saddle_point_of_logs(values: Array, log_weights: Array, n: int) -> float:
    """`saddle_point` for the logarithms of weights, which may be far below the smallest double."""

    def falls(log_theta: float) -> bool:
        theta = math.exp(log_theta)
        exponents = theta * values + log_weights
        with np.errstate(under="ignore"):
            tilted_weights = np.exp(exponents - np.max(exponents))
        return theta * n * float(tilted_weights @ values) < 2 * float(np.sum(tilted_weights))

    low = -math.log(n * float(np.max(np.abs(values))))  # here θ·n·mean <= 1 < 2
    high = low + 1
    while falls(high):
        low, high = high, high + 2
    return math.exp(last_that_holds(falls, low, high, atol=1e-4)[1])


def tail_reach(values: Array, weights: Array, n: int, log_tail: float) -> tuple[float, float]:
    r"""An x, and the log of a bound on the mass of {S > x} that is at most ``log_tail``.

    Chernoff at the best of a grid of rates; the bound holds at each of them.
    """
    mean = float(weights @ values)
    spread = math.sqrt(max(float(weights @ (values - mean) ** 2), 1e-300))
    reach = float(np.max(np.abs(values)))
    rates = np.geomspace(1e-2, 1e3, 101) / (math.sqrt(n) * spread)
    rates = rates[rates * reach <= 500]
    growths = n * (log_mgf(values, weights, rates) + UNIT_ROUNDOFF * (16 + 4 * rates * reach))
    reaches = (growths - log_tail) / rates
    largest = n * float(np.max(values))
    if not len(rates) or np.min(reaches) >= largest:
        return largest, -math.inf  # nothing lies beyond n times the largest value
    best = int(np.argmin(reaches))
    return float(reaches[best]), float(growths[best] - rates[best] * reaches[best])


def scaled(x: float, log_factor: float) -> float:
    """x e^log_factor; a positive product never becomes a zero, and an overflow becomes inf."""
    if x <= 0:
        return 0.0
    log_product = math.log(x) + log_factor
    return max(math.exp(log_product), 5e-324) if log_product < 709 else math.inf
