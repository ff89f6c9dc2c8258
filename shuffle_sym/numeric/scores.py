r"""From below, for users who are not alike: the law of a sum of scores of all messages.

Each message y counts with a whole number s(y), and only the sum K over all users is looked at: post-processing, so that
its divergence is a lower bound, whatever the scores are. With L the law of the sum of the others (groups of N_g users
with one input each) and p_b that of the differing user's score,

.. math:: D_\alpha \ge \sum_{k \in A} \sum_s (p_0 - \alpha p_1)(s)\, L(k - s) \qquad \text{for every set A.}

L is computed by one FFT after tilting, :math:`L_\theta(k) = L(k) e^{\theta k}/M(\theta)`, with θ such that the k where
the two laws cross are in the middle: small divergences keep their digits. Where errors go:

============  ======================================================================================================
folding       L_θ is computed modulo a length; outside it is e^−80 by Bernstein's inequality, added to the error
transform     `convolution` bounds the 2-norm of the error of L_θ, roundings of the tilted law included
sum over A    by Cauchy and Schwarz, that 2-norm times the one of the weights e^−θk on A; it is subtracted
scale         log M(θ) is a sum of N_g logarithms, each with a few roundings: a factor, taken off
============  ======================================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import convolution, transform
from shuffle_sym.numeric.transforms import Array

Scores = npt.NDArray[np.int64]
_LEVELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_GOOD = 0.999  # of the signal over the noise that real scores have
_FAR = 80.0  # what is outside the window weighs e^−this
_LARGEST_FFT = 2**22
_STEPS = 12


def best_scores(gain: Array, others: Sequence[tuple[int, Array]]) -> tuple[Scores, float]:
    """Whole numbers for which the sum sees ``gain`` = R(x0) − αR(x1) about as well as any linear function does, and how
    well: the square of the shift of its mean over its variance, for one user."""
    count = sum(n for n, _ in others)
    noise = sum(n / count * (np.diag(p) - np.outer(p, p)) for n, p in others)
    shift = gain - gain.sum() * sum(n / count * p for n, p in others)
    ideal = np.linalg.lstsq(np.asarray(noise), shift, rcond=1e-12)[0]
    ideal = ideal - (ideal.max() + ideal.min()) / 2

    def signal(scores: Array) -> float:
        variance = float(scores @ noise @ scores)
        return float(shift @ scores) ** 2 / variance if variance > 0 else 0.0

    wanted, best = signal(ideal), (np.zeros(len(shift), dtype=np.int64), 0.0)
    top = float(np.abs(ideal).max())
    if not top > 0:
        return best
    for level in _LEVELS:
        scores = np.round(ideal * (level / top)).astype(np.int64)
        value = signal(scores.astype(float))
        best = max(best, (scores, value), key=lambda pair: pair[1])
        if best[1] >= _GOOD * wanted:
            break
    return best


class ScoredSums:
    """Two laws of a sum: the differing user has ``first`` or ``second``, others are (number, law) each; all are laws of
    messages with these scores, as doubles with relative errors of at most FLOAT_ERROR."""

    def __init__(self, scores: Scores, first: Array, second: Array, others: Sequence[tuple[int, Array]]) -> None:
        self.s, places = np.unique(scores, return_inverse=True)
        self.p0: Any = np.bincount(places, weights=first)
        self.p1: Any = np.bincount(places, weights=second)
        self.others = [(n, np.bincount(places, weights=p)) for n, p in others if n]
        self.reach = int(self.s[-1] - self.s[0])
        self.error = (len(scores) + 8) * UNIT_ROUNDOFF  # relative, of a mass
        s = self.s.astype(float)
        means = [n * float(p @ s) for n, p in self.others]
        self.variance = sum(
            n * float(p @ (s * s)) - mean**2 / n for mean, (n, p) in zip(means, self.others, strict=True)
        )
        self.shift = float((self.p0 - self.p1) @ s)

    def _first_tilt(self, alpha: float) -> float:
        """About the θ at which normal laws with these means and variances cross: any θ >= 0 is right."""
        if self.shift <= 0 or self.variance <= 0:
            return 0.0
        return min(max(math.log(alpha) / self.shift, 0.0), 100 / max(abs(int(self.s[0])), abs(int(self.s[-1]))))

    def divergence(self, alpha: float) -> tuple[float, float]:
        """A lower bound of D_α, α >= 1, and about what D_α is; ``alpha`` has a relative error of a few roundings."""
        theta, low, high = self._first_tilt(alpha), 0.0, math.inf
        for _ in range(_STEPS):
            lower, about, mean, cross, spread = self._at(theta, alpha)
            if cross is None:  # farther out
                low, wanted = theta, theta + 4 / spread
            else:
                wanted = theta + (cross - mean) / spread**2
                if abs(wanted - theta) * spread < 1.5 or (theta == 0.0 and wanted < 0):
                    return lower, about
                low, high = (theta, high) if wanted > theta else (low, theta)
            theta = max(wanted if low <= wanted <= high else (low + min(high, 2 * low + 1 / spread)) / 2, 0.0)
            if theta * max(abs(int(self.s[0])), abs(int(self.s[-1]))) > 300:
                break
        return lower, about

    def _at(self, theta: float, alpha: float) -> tuple[float, float, float, float | None, float]:
        """By one θ: the lower bound, about the divergence, the tilted mean, where the laws cross and the spread."""
        s, u = self.s.astype(float), UNIT_ROUNDOFF
        transforms, etas, counts = [], [], []
        log_scale = mean = variance = slack = 0.0
        tilt, bent = np.exp(theta * s), 8 * u * (1 + theta * float(np.abs(s).max()))
        for n, p in self.others:
            weights = p * tilt
            total = float(weights.sum())
            q = weights / total
            error = self.error + bent + 4 * len(s) * u
            average = float(q @ s)
            log_scale += n * math.log(total)
            slack += n * (error + 8 * u * abs(math.log(total)))
            mean, variance = mean + n * average, variance + n * float(q @ (s - average) ** 2)
            transforms.append(q)
            etas.append(2 * error)
            counts.append(n)
        # Bernstein: t² >= 2·80 (variance + reach·t/3)
        t = _FAR / 3 * self.reach + math.sqrt((_FAR / 3 * self.reach) ** 2 + 2 * _FAR * variance * 1.01) + 2
        size = 2 ** math.ceil(math.log2(2 * t + 4 * self.reach + 8))
        spread = math.sqrt(max(variance, 0.25))
        if size > _LARGEST_FFT:
            return 0.0, 0.0, mean, mean, spread
        entries = [transform(s, q, size) for q in transforms]
        law, lost = convolution(
            [e for e, _ in entries], [eta + e for eta, (_, e) in zip(etas, entries, strict=True)], counts, size
        )
        first = math.floor(mean) - size // 2
        k = np.arange(first, first + size)
        gains = (self.p0 - alpha * self.p1) * tilt
        rough = (self.p0 + alpha * self.p1) * tilt
        difference = sum(gain * law[(k - int(score)) % size] for gain, score in zip(gains, self.s, strict=True))
        lost = (lost + 2 * math.exp(-_FAR)) * float(rough.sum()) + (self.error + bent + 8 * len(s) * u) * float(
            rough.sum()
        ) * math.sqrt(float((law**2).sum()))
        inside = np.abs(k - mean) <= t
        clear = inside & (difference > lost)
        if not clear.any():
            return 0.0, 0.0, mean, None, spread
        # Up from where the two laws cross: what is below is of the other sign, or noise.
        negative = np.flatnonzero(inside & (difference < -lost))
        start = (
            int(negative[-1]) + 1 if len(negative) and negative[-1] < np.flatnonzero(clear)[-1] else int(clear.argmax())
        )
        if not clear[start:].any():
            return 0.0, 0.0, mean, None, spread
        start += int(clear[start:].argmax())
        cross = float(k[start])
        chosen = clear.copy()
        chosen[:start] = False
        weights = np.exp(-theta * (k[chosen] - cross))
        value = float(difference[chosen] @ weights)
        off = lost * math.sqrt(float(weights @ weights)) + 8 * size * u * value
        scale = math.exp(min(log_scale - theta * cross, 700.0))
        slack += 16 * u * (4 + abs(log_scale) + abs(theta * cross))
        return max(value - off, 0.0) * scale * math.exp(-slack) * (1 - 1e-12), value * scale, mean, cross, spread
