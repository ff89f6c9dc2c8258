r"""The private sum of numbers in [0, 1] (Balle et al. 2019, Algorithms 2 and 3)."""

import math
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.balle2019 import variances as derived
from shuffle_sym.protocols import calibration
from shuffle_sym.protocols.data import (
    Estimate,
    Messages,
    Protocol,
    chunks,
    generator,
    integers_below,
    randomized_response,
    smallest_type,
    unit_interval,
)
from shuffle_sym.protocols.encodings import noise_of, with_noise

_message_variance = sp.lambdify(
    (derived.gamma, derived.k, derived.rest, derived.x), derived.MESSAGE_VARIANCE, modules="numpy"
)
_worst_variance = sp.lambdify((derived.gamma, derived.k), derived.WORST_VARIANCE, modules="numpy")
_safe_variance = sp.lambdify(
    (derived.gamma, derived.k, derived.first, derived.second), derived.SAFE_VARIANCE, modules="math"
)


def worst_message_variance(gamma: Any, k: Any) -> Any:
    """The supremum of V[y/k] over x, for numbers or arrays (`derivations.sum_worst_case`)."""
    return _worst_variance(gamma, k) - np.where(gamma * k > 1, ((1 - gamma * k) / (2 * k)) ** 2, 0.0)


class Sum(Protocol):
    r"""Randomised rounding to multiples of 1/``k``, then randomized response on 0 … k: noise with probability
    ``gamma`` = c(k + 1)/n.

    >>> import numpy as np
    >>> P = Sum.for_target(n=10_000, eps=1, delta=1e-6)
    >>> answer = P.run(np.full(10_000, 0.25), np.random.default_rng(1))
    >>> abs(answer.values - 2500) < 4 * answer.standard_errors
    True
    """

    def __init__(self, k: Any, gamma: Any) -> None:
        self.k = arguments.positive_integer(k, "k")
        share = arguments.between_0_and_1(gamma, "gamma")
        self.gamma = float(share)
        self.randomizer = with_noise(self.k + 1, share)
        self._noise = noise_of(self.randomizer)

    @classmethod
    def for_target(cls, n: Any, eps: Any, delta: Any, by: str = "certified", k: Any = None) -> "Sum":
        """The k and γ with the smallest worst-case error for which ``n`` users are (``eps``, ``delta``)-DP; with ``k``
        given, the γ for it. ``by`` is the analysis, as in `smallest_gamma`.

        γ n/(k + 1) hardly depends on k, so the best k is where the derived MSE is smallest with that held fixed; a few
        rounds of this settle it.
        """
        n = arguments.users(n)
        if k is not None:
            k = arguments.positive_integer(k, "k")
            return cls(k, calibration.smallest_gamma(k + 1, n, eps, delta, by))
        known: dict[int, Sum] = {}
        size = 1
        for _ in range(8):
            if size not in known:
                known[size] = cls.for_target(n, eps, delta, by, k=size)
            new = known[size]._best_size(n)
            if new in known:
                break
            size = new
        return min(known.values(), key=lambda P: P.worst_variance(n))

    def _best_size(self, n: int) -> int:
        """The k with the smallest worst-case variance if γ/(k + 1) stays what it is."""
        per_value = self.gamma / (self.k + 1)
        sizes = np.unique(np.geomspace(1, max(1, min(1 / per_value - 2, 2.0**30)), 4000).astype(np.int64))
        shares = per_value * (sizes + 1)
        return int(sizes[np.argmin(worst_message_variance(shares, sizes.astype(float)) / (1 - shares) ** 2)])

    def randomize(self, values: Any, rng: np.random.Generator | None = None) -> Messages:
        """Algorithm 2: one message in 0 … k for each of ``values``, in their order, drawn with ``rng``."""
        values, rng = unit_interval(values, "values"), generator(rng)
        messages = np.empty(len(values), smallest_type(self.k + 1))
        for part in chunks(len(values)):
            scaled = values[part].astype(float) * self.k
            floors = np.floor(scaled)
            rounded = floors + (rng.random(len(scaled)) < scaled - floors)
            messages[part] = randomized_response(rounded, self.k + 1, self._noise, rng)
        return messages

    def estimate(self, messages: Any) -> Estimate:
        """Algorithm 3: the unbiased sum from ``messages``; beside it a standard error that is not too small on average.

        Rounding hides how much of the spread it made, so its largest possible part is counted
        (`derivations.sum_standard_error`).
        """
        messages = integers_below(messages, self.k + 1, "messages")
        n, total, squares = len(messages), 0, 0
        for part in chunks(n):
            y = messages[part].astype(np.int64)
            total += int(y.sum())
            squares += int((y * y).sum())
        mean, square = total / (n * self.k), squares / (n * self.k**2)
        value = n * (mean - self.gamma / 2) / (1 - self.gamma)
        variance = n * _safe_variance(self.gamma, self.k, mean, square)
        return Estimate(value, math.sqrt(variance) / (1 - self.gamma), n)

    def variance(self, values: Any) -> float:
        """The exact mean squared error for the dataset ``values``."""
        values = unit_interval(values, "values")
        total = 0.0
        for part in chunks(len(values)):
            x = values[part].astype(float)
            rest = x * self.k - np.floor(x * self.k)
            total += float(np.sum(_message_variance(self.gamma, self.k, rest, x)))
        return total / (1 - self.gamma) ** 2

    def worst_variance(self, n: Any) -> float:
        """The largest mean squared error over all datasets of ``n`` users, exactly."""
        return arguments.users(n) * float(worst_message_variance(self.gamma, float(self.k))) / (1 - self.gamma) ** 2

    def __repr__(self) -> str:
        return f"Sum(k={self.k}, gamma={self.gamma})"
