r"""How many of the other users send a message from a common blanket, if that has different chances for them.

B is the sum of independent binomials Bin(N_g, γ_g). `below` bounds Pr[B < b] from above: by the exact law, computed by
one FFT with its error added, or by Chernoff's inequality, whichever is smaller.
"""

import math
from collections.abc import Sequence

import numpy as np

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import convolution, transform
from shuffle_sym.numeric.transforms import Array

_LARGEST_FFT = 2**21
# In deviations from the mean; what lies between two of them counts as the smaller one.
_PLACES = (-12.0, -9.0, -7.0, -5.5, -4.5, -3.8, *(-3.2 + 0.3 * i for i in range(16)), 1.7, 2.2)


class BlanketCounts:
    """B for ``counts`` users of each group, whose chances are at least ``gammas``: doubles in [0, 1].

    >>> B = BlanketCounts([2, 1], [0.5, 1.0])
    >>> B.below(0), round(B.below(2), 9)
    (0.0, 0.25)
    """

    def __init__(self, counts: Sequence[int], gammas: Sequence[float]) -> None:
        self.counts, self.gammas = list(counts), [min(gamma, 1.0) for gamma in gammas]
        placed = list(zip(self.counts, self.gammas, strict=True))
        self.mean = sum(n * p for n, p in placed)
        self.deviation = math.sqrt(sum(n * p * (1 - p) for n, p in placed))
        self._sums, self._error = self._law()

    def _law(self) -> tuple[Array, float]:
        size = 2 ** math.ceil(math.log2(sum(self.counts) + 2))
        if size > _LARGEST_FFT:
            return np.zeros(1), 1.0
        entries = [transform(np.array([0.0, 1.0]), np.array([1 - p, p]), size) for p in self.gammas]
        etas = [eta + 2 * UNIT_ROUNDOFF for _, eta in entries]
        law, error = convolution([e for e, _ in entries], etas, self.counts, size)
        sums = np.concatenate([[0.0], np.cumsum(np.maximum(law, 0.0))])
        return sums, error * math.sqrt(size) + 4 * size * UNIT_ROUNDOFF

    def below(self, b: int) -> float:
        """An upper bound of Pr[B < b]."""
        if b <= 0:
            return 0.0
        by_sum = 1.0 if b >= len(self._sums) else float(self._sums[b]) + self._error
        return min(by_sum, self._chernoff(b - 1), 1.0)

    def _chernoff(self, b: int) -> float:
        """Pr[B <= b] <= e^{λb} Π(1 − γ + γe^−λ)^N for every λ > 0: about the best one."""
        if b >= self.mean:
            return 1.0
        best = 0.0
        guess = (self.mean - b) / max(self.deviation**2, 1e-9)
        for rate in (guess * np.geomspace(0.3, 20.0, 24)).tolist():
            logs = [n * _log_transform(p, rate) for n, p in zip(self.counts, self.gammas, strict=True)]
            size = 1 + rate * b + sum(abs(log) for log in logs)
            best = min(best, rate * b + math.fsum(logs) + 32 * UNIT_ROUNDOFF * size)
        return math.exp(best) * (1 + 1e-12)

    def steps(self) -> list[tuple[int, float]]:
        """Numbers of messages b_0 = 0 < b_1 < … and an upper bound of the probability of fewer than each."""
        places = {round(self.mean + z * self.deviation) for z in _PLACES}
        numbers = [0, *sorted(b for b in places if 0 < b <= sum(self.counts))]
        return [(b, self.below(b)) for b in numbers]


def _log_transform(p: float, rate: float) -> float:
    """log(1 − p + p e^−λ), with a relative error of a few roundings: nothing cancels."""
    gone = -p * math.expm1(-rate)
    return math.log1p(-gone) if gone < 0.5 else math.log((1 - p) + p * math.exp(-rate))
