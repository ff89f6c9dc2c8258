r"""Counts of every input from shuffled messages: the private histogram, and other frequency estimators.

A message matches the own input with probability p and any other one with q. The number C of messages that match an
input gives :math:`\hat N = (C - nq)/(p - q)`; its variance and the standard error are `derivations.frequency_estimate`.
"""

import math
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.matching import Matching
from shuffle_sym.papers.balle2019 import variances as derived
from shuffle_sym.protocols import calibration
from shuffle_sym.protocols.data import Estimate, Floats, Messages, Protocol, chunks, generator, integers_below
from shuffle_sym.protocols.encodings import Encoding, encoding, with_noise

_count, _match_variance, _estimated_variance = (
    sp.lambdify((derived.p, derived.q, derived.users, symbol), formula, modules="numpy")
    for symbol, formula in (
        (derived.C, derived.COUNT),
        (derived.N, derived.MATCH_VARIANCE),
        (derived.C, derived.FOUND_VARIANCE),
    )
)


class Frequencies(Protocol):
    r"""A frequency estimator: randomise, shuffle, count, remove the bias.

    ``R`` is `KRR`, `BinaryRR`, `SubsetSelection`, `RAPPOR`, `OUE`, `BLH`, `OLH` or `HadamardResponse` with numbers for
    all parameters; inputs are the integers from 0 on.

    >>> import numpy as np, shuffle_sym as ss
    >>> P = Frequencies(ss.HadamardResponse(K=4, eps0=3))
    >>> answer = P.run(np.repeat([0, 1, 2], [6000, 3000, 1000]), np.random.default_rng(1))
    >>> bool(np.all(abs(answer.values - [6000, 3000, 1000]) < 4 * answer.standard_errors))
    True
    """

    def __init__(self, R: Matching) -> None:
        kind = encoding(R)
        arguments.numeric_only(R.free_symbols | R.input_count.free_symbols, "a protocol")
        if R.input_count is sp.oo:
            raise ValueError(f"R must have finitely many inputs, got {R!r}")
        if arguments.decided(R.eps0 > 0) is not True:
            raise ValueError(
                f"R must have eps0 > 0, because messages with eps0 = 0 say nothing about the data, got {R!r}"
            )
        self.randomizer = R
        self.encoding: Encoding = kind(R)
        self.inputs, self.p, self.q = self.encoding.inputs, self.encoding.p, self.encoding.q

    def randomize(self, values: Any, rng: np.random.Generator | None = None) -> Messages:
        """One message for each of ``values``, in their order, drawn with ``rng``: this is what the shuffler gets."""
        values, rng = integers_below(values, self.inputs, "values"), generator(rng)
        messages = self.encoding.empty(len(values))
        for part in chunks(len(values), self.encoding.width):
            messages[part] = self.encoding.draw(values[part], rng)
        return messages

    def estimate(self, messages: Any) -> Estimate:
        """Unbiased counts of all inputs, each with its standard error, from messages in any order."""
        messages = self.encoding.check(messages)
        support, n = self.encoding.support(messages), len(messages)
        variances = _estimated_variance(self.p, self.q, n, support)
        return Estimate(_count(self.p, self.q, n, support), np.sqrt(variances) / (self.p - self.q), n)

    def variance(self, counts: Any) -> Floats:
        """The exact variance of each estimated count, for a dataset with the true ``counts``, one for each input."""
        array = np.asarray(counts)
        if array.shape != (self.inputs,) or not np.all(array >= 0) or not np.all(np.isfinite(array)):
            raise ValueError(f"counts must be {self.inputs} numbers >= 0, got {counts!r}")
        variances: Floats = _match_variance(self.p, self.q, array.sum(), array) / (self.p - self.q) ** 2
        return variances

    def standard_error(self, n: Any, count: Any = 0) -> float:
        """The exact standard error of the count of an input that ``count`` of ``n`` users have."""
        n, number = arguments.users(n), float(arguments.exact_number(count, "count"))
        if not 0 <= number <= n:
            raise ValueError(f"count must be a number in 0 … n = {n}, got {count!r}")
        return math.sqrt(_match_variance(self.p, self.q, n, number)) / (self.p - self.q)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.randomizer!r})"


class Histogram(Frequencies):
    r"""Private histogram over ``k`` categories (Balle et al. 2019, Algorithm 1): k-RR that answers randomly with
    probability ``gamma``, a shuffler, and an analyzer that removes the bias.

    >>> P = Histogram.for_target(k=10, n=100_000, eps=1, delta=1e-6)
    >>> P.gamma < Histogram.for_target(k=10, n=100_000, eps=1, delta=1e-6, by="theorem31").gamma
    True
    """

    def __init__(self, k: Any, gamma: Any) -> None:
        size = arguments.size(k, "k", 2)
        arguments.numeric_only(size.free_symbols, "a protocol")
        share = arguments.between_0_and_1(gamma, "gamma")
        super().__init__(with_noise(size, share))
        self.k, self.gamma = int(size), float(share)

    @classmethod
    def for_target(cls, k: Any, n: Any, eps: Any, delta: Any, by: str = "certified") -> "Histogram":
        """The histogram over ``k`` categories with the least noise for which ``n`` users are (``eps``, ``delta``)-DP;
        ``by`` is the analysis, as in `smallest_gamma`."""
        size = arguments.size(k, "k", 2)
        arguments.numeric_only(size.free_symbols, "a protocol")
        return cls(size, calibration.smallest_gamma(int(size), n, eps, delta, by))

    def __repr__(self) -> str:
        return f"Histogram(k={self.k}, gamma={self.gamma})"
