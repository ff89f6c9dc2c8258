r"""Exponential tilting of discrete laws and of their sums, and Chernoff bounds of an n-fold sum."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.search import last_that_holds

_LARGEST_EXPONENT = 1e8  # of a tilt: more would cost too many digits
_STEPS = 32  # tilts θ that are tried, in each factor e: few enough to be met again

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


class TiltedSum:
    """The sum of independent losses, (values, masses, how often) each: which tilt suits an ε, and how small δ is."""

    def __init__(self, laws: Sequence[tuple[Array, Array, int]]) -> None:
        self._laws = laws
        self._known: dict[float, tuple[float, float, float]] = {}

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """About the logarithm of the MGF, and mean and variance of the tilted sum."""
        if theta not in self._known:
            log_scale, mean, variance = 0.0, 0.0, 0.0
            for values, masses, count in self._laws:
                weights, scale = tilted(values, masses, theta)
                middle = float(weights @ values)
                log_scale, mean = log_scale + count * scale, mean + count * middle
                variance += count * float(weights @ (values - middle) ** 2)
            self._known[theta] = log_scale, mean, variance
        return self._known[theta]

    def saddle_point(self, eps: float) -> float:
        r"""About the θ > 0 that minimises :math:`M(\theta) e^{-\theta\varepsilon}/(\theta(1+\theta))`, M the MGF.

        If all sums are below ε there is none; then a θ that is large enough. It is one of a fixed geometric row.
        """

        def falls(step: int) -> bool:
            theta = math.exp(step / _STEPS)
            return theta * (self.cumulants(theta)[1] - eps) - 1 - theta / (1 + theta) < 0

        _, mean, variance = self.cumulants(0.0)
        spread = math.sqrt(max(variance, 1e-24))
        guess = math.log(max((eps - mean) / spread, 1.0) / spread)  # exact for a normal law
        reach = max(float(np.max(np.abs(values))) for values, _, _ in self._laws)
        low = high = round(_STEPS * min(guess, math.log(_LARGEST_EXPONENT / max(reach, 1e-290))))
        while falls(high) and high < low + 12 * _STEPS:
            high += _STEPS // 2
        while not falls(low):
            low -= _STEPS // 2
        return math.exp(last_that_holds(falls, low, high)[1] / _STEPS)

    def log_delta(self, eps: float, theta: float) -> float:
        """About log δ(ε), by the saddle point approximation: a guess to choose parameters by."""
        log_scale, _, variance = self.cumulants(theta)
        spread = variance + 1 / theta**2 + 1 / (1 + theta) ** 2
        size = log_scale - theta * eps - math.log(theta * (1 + theta)) - math.log(2 * math.pi * spread) / 2
        return min(size, 0.0)


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
