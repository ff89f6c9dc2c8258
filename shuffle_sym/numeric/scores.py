r"""Lower bounds for users with different randomizers: the law of a sum of scores of all messages.

Each message y counts with a whole number s(y), and only the sum K over all users is looked at: post-processing, so that
its divergence is a lower bound, whatever the scores are. A message that none of the others can send is seen by itself.
With L the law of the sum of the others (groups of N_g users with one input each), p_b that of the differing user's
score where the message is one of theirs, and r_b the probabilities of the messages y that nobody else can send,

.. math:: D_\alpha \ge \sum_k \Bigl[ \sum_s (p_0 - \alpha p_1)(s)\, L(k - s) \Bigr]_+
          + \sum_y \bigl[ (r_0 - \alpha r_1)(y) \bigr]_+ .

L(k) is bounded from both sides in a list of all k that matter, by FFTs after tilting,
:math:`L_\theta(k) = L(k) e^{\theta k}/M(\theta)`, with a θ for every few deviations, so that small probabilities keep
their digits: the right side above is known at every α from one list. Where errors go:

============  ======================================================================================================
folding       L_θ is computed modulo a length; outside it is e^−80 by Bernstein's inequality, added to the error
transform     `convolution` bounds the 2-norm of the error of L_θ, and so the error of each entry
scale         log M(θ) is a sum of N_g logarithms, each with a few roundings: a factor
differences   bounds of L(k − s) by the sign of p_0 − αp_1, and a few roundings of the terms, for each k
outside       what lies beyond the list, by Bernstein's inequality; it is added from above
============  ======================================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

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
_REACH, _MOST_PIECES, _STEEPEST = 26.0, 60, 200.0  # of a list for all α: deviations from the mean, tilts, θ·score


def best_scores(first: Array, second: Array, alpha: float, others: Sequence[tuple[int, Array]]) -> tuple[Scores, float]:
    """Whole numbers for which the sum sees R(x0) − αR(x1) about as well as any linear function does, and how well: the
    square of the shift of its mean over its variance, for one user; inf if the others' sum does not vary."""
    count = sum(n for n, _ in others)
    noise = np.asarray(sum(n / count * (np.diag(p) - np.outer(p, p)) for n, p in others))
    shared = np.asarray(sum(n * p for n, p in others)) > 0
    first, second = np.where(shared, first, 0.0), np.where(shared, second, 0.0)
    gain, sizes = first - alpha * second, (first.sum(), second.sum())
    ideal = _solved(noise, gain - gain.sum() * sum(n / count * p for n, p in others))
    shift = noise @ ideal
    # Scores whose sum over the others is a constant tell x0 from x1 if they do so of the differing user alone.
    moved = first / sizes[0] - second / sizes[1] if min(sizes) > 0 else np.zeros(len(gain))
    certain = moved - noise @ _solved(noise, moved)
    if np.abs(certain).max() > 1e-9 * np.abs(moved).max():  # any scores are right: roundings are not taken for one
        ideal = shift = certain
    ideal = ideal - (ideal.max() + ideal.min()) / 2

    def signal(scores: Array) -> float:
        variance, moved = float(scores @ noise @ scores), float(shift @ scores) ** 2
        return moved / variance if variance > 1e-18 * moved else math.inf * (moved > 0)

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


def _solved(noise: Array, shift: Array) -> Array:
    """The scores whose covariance with each message is the shift, as far as there are such scores."""
    return np.asarray(np.linalg.lstsq(noise, shift, rcond=1e-12)[0])


class ScoredSums:
    """Two laws of a sum: the differing user has ``first`` or ``second``, others are (number, law) each; all are laws of
    messages with these scores, as doubles with relative errors of at most FLOAT_ERROR."""

    def __init__(self, scores: Scores, first: Array, second: Array, others: Sequence[tuple[int, Array]]) -> None:
        shared = np.asarray(sum(n * p for n, p in others)) > 0  # messages that some other user can send
        self.own0, self.own1 = first[~shared], second[~shared]
        self.s, places = np.unique(scores[shared], return_inverse=True)
        self.p0: Any = np.bincount(places, weights=first[shared])
        self.p1: Any = np.bincount(places, weights=second[shared])
        self.others = [(n, np.bincount(places, weights=p[shared])) for n, p in others if n]
        self.reach = int(self.s[-1] - self.s[0])
        self.error = (len(scores) + 8) * UNIT_ROUNDOFF  # relative, of a mass

    def _tilted(self, theta: float) -> _Tilt | None:
        """The law of the others' sum, tilted by θ; None if it takes too long a list."""
        s, u = self.s.astype(float), UNIT_ROUNDOFF
        laws, etas, log_scale, mean, variance, slack = [], [], 0.0, 0.0, 0.0, 0.0
        tilt, bent = np.exp(theta * s), 8 * u * (1 + abs(theta) * float(np.abs(s).max()))
        for n, p in self.others:
            weights = p * tilt
            total = float(weights.sum())
            q = weights / total
            error = self.error + bent + 4 * len(s) * u
            average = float(q @ s)
            log_scale += n * math.log(total)
            slack += n * (error + 8 * u * abs(math.log(total)))
            mean, variance = mean + n * average, variance + n * float(q @ (s - average) ** 2)
            laws.append(q)
            etas.append(2 * error)
        # Bernstein: t² >= 2·80 (variance + reach·t/3)
        t = _FAR / 3 * self.reach + math.sqrt((_FAR / 3 * self.reach) ** 2 + 2 * _FAR * variance * 1.01) + 2
        size = 2 ** math.ceil(math.log2(2 * t + 4 * self.reach + 8))
        if size > _LARGEST_FFT:
            return None
        entries = [transform(s, q, size) for q in laws]
        etas = [eta + error for eta, (_, error) in zip(etas, entries, strict=True)]
        law, lost = convolution([e for e, _ in entries], etas, [n for n, _ in self.others], size)
        slack += 16 * u * (4 + abs(log_scale) + abs(theta) * (abs(mean) + t))
        return _Tilt(theta, law, lost + 2 * math.exp(-_FAR), log_scale, slack, mean, math.sqrt(max(variance, 0.25)), t)

    @cached_property
    def _list(self) -> tuple[Array, Array, float]:
        """Lower and upper bounds of L(k) for all k of an interval, and of the mass of the others' sum that is not well
        inside: pieces from several tilts, each around its own mean."""
        middle = self._tilted(0.0)
        if middle is None:
            return np.zeros(0), np.zeros(0), 1.0
        pieces, users = [self._piece(middle)], sum(n for n, _ in self.others)
        ends = users * int(self.s[0]), users * int(self.s[-1])  # of the support: beyond them L is 0
        for side in (-1, 1):
            here, step, edge = middle, 4.0, pieces[0][0][-1 if side > 0 else 0]
            while side * (ends[side > 0] - edge) > 0 and abs(here.mean - middle.mean) < _REACH * middle.spread:
                theta = here.theta + side * step / here.spread
                there = self._tilted(theta) if abs(theta) * np.abs(self.s).max() < _STEEPEST else None
                if there is None or len(pieces) > _MOST_PIECES:
                    break
                piece = self._piece(there)
                if not len(piece[0]):
                    break
                near, far = (piece[0][0], piece[0][-1])[::side]
                if side * (near - edge) > 1:  # a gap
                    step /= 2
                    continue
                pieces.append(piece)
                here, edge = there, max(edge, far) if side > 0 else min(edge, far)
        return self._joined(pieces, ends, middle)

    def _joined(
        self, pieces: Sequence[tuple[Scores, Array, Array]], ends: tuple[int, int], middle: _Tilt
    ) -> tuple[Array, Array, float]:
        """One list of all pieces, and what is outside by Bernstein's inequality, where it does not reach the ends."""
        first, last = int(min(k[0] for k, _, _ in pieces)), int(max(k[-1] for k, _, _ in pieces))
        outside = 0.0
        for distance, reached in ((middle.mean - first, first <= ends[0]), (last - middle.mean, last >= ends[1])):
            t = max(distance - self.reach - 1, 0.0)
            tail = math.exp(-(t * t) / (2 * (1.01 * middle.spread**2 + self.reach * t / 3)) * (1 - 1e-12))
            outside += 0.0 if reached else tail
        room = 2 * self.reach  # of zeros beyond the ends of the support
        first, last = first - room if first <= ends[0] else first, last + room if last >= ends[1] else last
        low, high = np.zeros(last - first + 1), np.ones(last - first + 1)
        for k, lower, upper in pieces:
            at = slice(k[0] - first, k[-1] - first + 1)
            low[at], high[at] = np.maximum(low[at], lower), np.minimum(high[at], upper)
        beyond = (np.arange(first, last + 1) < ends[0]) | (np.arange(first, last + 1) > ends[1])
        low[beyond] = high[beyond] = 0.0
        return low, high, outside

    def _piece(self, found: _Tilt) -> tuple[Scores, Array, Array]:
        """Bounds of L(k) around the mean of a tilted law."""
        reach = min(math.floor(3 * found.spread) + 1, math.floor(found.t))
        k = np.arange(math.ceil(found.mean) - reach, math.floor(found.mean) + reach + 1)
        k = k[np.abs(found.log_scale - found.theta * k) < 690]  # the others are no doubles
        law, slack = found.law[k % len(found.law)], math.expm1(found.slack) + 1e-13
        scale = np.exp(found.log_scale - found.theta * k)
        lower = np.maximum(law - found.lost, 0.0) * scale * (1 - slack)
        return k, lower, (np.maximum(law, 0.0) + found.lost) * scale * (1 + slack)

    def impossible(self, *, swapped: bool = False) -> float:
        """A lower bound of the probability of messages that prove that the first law is not the second one."""
        own0, own1 = (self.own1, self.own0) if swapped else (self.own0, self.own1)
        return float(own0[own1 == 0].sum()) * (1 - self.error - 8 * UNIT_ROUNDOFF)

    def both_ends(self, alpha: float, *, swapped: bool = False) -> tuple[float, float]:
        """Bounds of D_α of the two laws of the sum, α >= 1; ``swapped``, of the second against the first."""
        low, high, outside = self._list
        first, second = (self.p1, self.p0) if swapped else (self.p0, self.p1)
        slack = self.error + 8 * UNIT_ROUNDOFF
        own0, own1 = (self.own1, self.own0) if swapped else (self.own0, self.own1)
        seen = float(np.maximum(own0 * (1 - slack) - alpha * own1 * (1 + slack), 0.0).sum()) * (1 - slack)
        if len(low) <= self.reach:
            return seen, 1.0
        count, offsets = len(low) - self.reach, (self.s[-1] - self.s).tolist()
        least, most, sizes = np.zeros((3, count))
        for p, r, offset in zip(first.tolist(), second.tolist(), offsets, strict=True):
            at = slice(offset, offset + count)  # k − s, for the k whose k − s are all in the list
            down, up = p * (1 - slack) - alpha * r * (1 + slack), p * (1 + slack) - alpha * r * (1 - slack)
            least += np.where(down > 0, low[at], high[at]) * down
            most += np.where(up > 0, high[at], low[at]) * up
            sizes += high[at] * (p + alpha * r)
        # Roundings of a difference are relative to its terms, those of the sum to the sum.
        sizes *= 4 * (len(self.s) + 2) * UNIT_ROUNDOFF
        lower, upper = (float(np.maximum(ends, 0.0).sum()) for ends in (least - sizes, most + sizes))
        rest = 2 * count * UNIT_ROUNDOFF
        own = float(np.maximum(own0 * (1 + slack) - alpha * own1 * (1 - slack), 0.0).sum()) * (1 + slack)
        return lower * (1 - rest) + seen * (1 - slack), min((upper * (1 + rest) + outside + own) * (1 + slack), 1.0)


class _Tilt(NamedTuple):
    """L(k) = law[k modulo its length] e^(log_scale − θk), to within ``lost`` in the 2-norm before that factor, whose
    relative error is at most e^slack − 1; for k within t of the mean."""

    theta: float
    law: Array
    lost: float
    log_scale: float
    slack: float
    mean: float
    spread: float
    t: float
