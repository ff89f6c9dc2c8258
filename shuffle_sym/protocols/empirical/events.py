r"""Events that tell two samples apart: chosen on one part of them, tested on another.

A score gives every message a number; an event is that the score is at least (or at most) some threshold. Any event
gives a valid bound: if a mechanism is (ε, δ)-DP, then :math:`\Pr_0[E] \le e^\varepsilon \Pr_1[E] + \delta`, so

.. math:: \varepsilon \ge \log\frac{\Pr_0[E] - \delta}{\Pr_1[E]}.

A good score makes the bound large: the likelihood ratio, where the randomizer is known.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.protocols.empirical.confidence import lower_limit, upper_limit

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Messages = npt.NDArray[Any]
_MOST_THRESHOLDS = 256
_SHOWN = 6  # messages that are listed


class Score(ABC):
    """A number for every message, large where the first input is more likely."""

    #: Whether it depends on a sample.
    fitted = False

    @abstractmethod
    def __call__(self, messages: Messages) -> Floats:
        """The score of each message."""

    @abstractmethod
    def words(self, threshold: float, swapped: bool) -> str:
        """The event that the score is at least (swapped: at most) the threshold."""


class Value(Score):
    """The message itself, a number, or the number with the other sign.

    >>> Value(-1.0)(np.array([3, 1])).tolist(), Value(-1.0).words(-3.0, swapped=False)
    ([-3.0, -1.0], 'messages ≤ 3')
    """

    def __init__(self, sign: float = 1.0) -> None:
        self.sign = sign

    def __call__(self, messages: Messages) -> Floats:
        return self.sign * messages.astype(float)

    def words(self, threshold: float, swapped: bool) -> str:
        return f"messages {'≤' if swapped == (self.sign > 0) else '≥'} {self.sign * threshold:g}"


class Frequencies(Score):
    """The logarithm of how many times more often a message came in the first sample, half a message added to each; 0
    for one that did not come. Its events are unions of messages.

    >>> score = Frequencies(np.array([1, 1, 2]), np.array([2, 3]))
    >>> score(np.array([1, 9])).round(6).tolist()  # log(2.5/3) − log(0.5/2)
    [1.203973, 0.0]
    """

    fitted = True

    def __init__(self, first: Messages, second: Messages) -> None:
        self.known, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        counts = [
            np.bincount(part, minlength=len(self.known)) + 0.5 for part in (places[: len(first)], places[len(first) :])
        ]
        self.scores = np.log(counts[0] * len(second)) - np.log(counts[1] * len(first))

    def __call__(self, messages: Messages) -> Floats:
        places = np.minimum(np.searchsorted(self.known, messages), len(self.known) - 1)
        return np.where(self.known[places] == messages, self.scores[places], 0.0)

    def words(self, threshold: float, swapped: bool) -> str:
        inside = self.scores <= threshold if swapped else self.scores >= threshold
        return listed(self.known[inside].tolist(), (threshold >= 0) if swapped else (threshold <= 0))


def listed(messages: list[Any], others: bool = False) -> str:
    """A union of messages in words.

    >>> listed([3]), listed([1, 2], others=True)
    ('message 3', 'messages 1, 2 or one that was not seen before')
    """
    shown = ", ".join(str(message) for message in messages[:_SHOWN])
    more = f" and {len(messages) - _SHOWN} more" if len(messages) > _SHOWN else ""
    ending = " or one that was not seen before" if others else ""
    return f"message{'s' if len(messages) != 1 else ''} {shown}{more}{ending}"


class Coordinates(Score):
    """Rows of numbers: the sum over the places of a row of how much likelier its value there is under the first input.

    >>> bits = np.array([[1, 0], [1, 0], [1, 1]])
    >>> scores = Coordinates(bits, 1 - bits)(np.array([[1, 0], [0, 1]]))
    >>> bool(scores[0] > 0 > scores[1])
    True
    """

    fitted = True

    def __init__(self, first: Messages, second: Messages) -> None:
        self.places = [Frequencies(a, b) for a, b in zip(first.T, second.T, strict=True)]

    def __call__(self, messages: Messages) -> Floats:
        total: Floats = np.sum([score(column) for score, column in zip(self.places, messages.T, strict=True)], axis=0)
        return total

    def words(self, threshold: float, swapped: bool) -> str:
        side = "second" if swapped else "first"
        return f"messages whose {len(self.places)} places together point to the {side} input"


@dataclass(frozen=True)
class Event:
    """The score is at least the threshold; swapped, at most, and then it is likelier under the second input."""

    score: Score
    threshold: float
    swapped: bool

    def holds(self, messages: Messages) -> npt.NDArray[np.bool_]:
        scores = self.score(messages)
        return scores <= self.threshold if self.swapped else scores >= self.threshold

    def __str__(self) -> str:
        return self.score.words(self.threshold, self.swapped)


def best_event(
    scores: Sequence[Score], first: Messages, second: Messages, claim: float | None, delta: float, beta: float
) -> Event:
    """The event that is farthest above the claim in standard deviations; without a claim the one whose bound would be
    the largest if these samples were the test. A choice, it certifies nothing."""
    candidates = []
    for score in scores:
        s0, s1 = score(first), score(second)
        for swapped, (a, b) in enumerate([(s0, s1), (-s1, -s0)]):
            merit, threshold = _best_threshold(a, b, claim, delta, beta)
            candidates.append((merit, Event(score, -threshold if swapped else threshold, bool(swapped))))
    return max(candidates, key=lambda candidate: candidate[0])[1]


def _best_threshold(a: Floats, b: Floats, claim: float | None, delta: float, beta: float) -> tuple[float, float]:
    thresholds = np.unique(np.concatenate([a, b]))
    if len(thresholds) > _MOST_THRESHOLDS:
        both = np.sort(np.concatenate([a, b]))
        # Finer towards the far end, where an event is rare and its ratio large.
        tails = np.geomspace(1, len(both), _MOST_THRESHOLDS).astype(np.int64)
        thresholds = np.unique(both[len(both) - tails])
    hits = len(a) - np.searchsorted(np.sort(a), thresholds, side="left")
    others = len(b) - np.searchsorted(np.sort(b), thresholds, side="left")
    if claim is None or math.isinf(claim):
        merits = _bounds(hits, len(a), others, len(b), delta, beta)
    else:
        p, r = (hits + 0.5) / (len(a) + 1), (others + 0.5) / (len(b) + 1)
        deviations = np.sqrt(p * (1 - p) / len(a) + math.exp(2 * claim) * r * (1 - r) / len(b))
        merits = (p - delta - math.exp(claim) * r) / deviations
    merits[others == len(b)] = -np.inf  # an event that always holds says nothing
    best = int(np.argmax(merits))
    return float(merits[best]), float(thresholds[best])


def _bounds(hits: Counts, size: int, others: Counts, other_size: int, delta: float, beta: float) -> Floats:
    """Clopper–Pearson bounds of many events at once, not rounded."""
    low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), size - hits + 1, beta / 2), 0.0)
    high = special.betaincinv(others + 1, np.maximum(other_size - others, 1), 1 - beta / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(low > delta, np.log(np.maximum(low - delta, 1e-300)) - np.log(high), -np.inf)


@dataclass(frozen=True)
class Bound:
    r"""What a count of one event says: ε is at least ``lower``, with confidence 1 − ``beta``.

    ``event`` holds ``hits[0]`` times in ``sizes[0]`` of the law under which it is likelier (the first input's, if not
    ``swapped``) and ``hits[1]`` times in ``sizes[1]`` of the other. ``estimate`` is :math:`\log((\hat p - \delta)/\hat
    q)`, and ``interval`` contains the true value of that with confidence 1 − ``beta``; other events may reveal more.

    >>> round(bound_of("E", (800, 200), (1000, 1000), False, 0.0, 0.05).estimate, 6)  # log 4
    1.386294
    """

    event: str
    hits: tuple[int, int]
    sizes: tuple[int, int]
    swapped: bool
    beta: float
    lower: float
    estimate: float
    interval: Interval


def bound_of(
    event: str, hits: tuple[int, int], sizes: tuple[int, int], swapped: bool, delta: float, beta: float
) -> Bound:
    """The bound of one event from its counts under the law where it is likelier, and under the other."""
    lower = _log_ratio(lower_limit(hits[0], sizes[0], beta / 2), upper_limit(hits[1], sizes[1], beta / 2), delta)
    estimate = _nearest(hits[0] / sizes[0] - delta, hits[1] / sizes[1])
    least = _log_ratio(lower_limit(hits[0], sizes[0], beta / 4), upper_limit(hits[1], sizes[1], beta / 4), delta)
    most = _nearest(upper_limit(hits[0], sizes[0], beta / 4) - delta, lower_limit(hits[1], sizes[1], beta / 4))
    interval = Interval(least, max(most * (1 + 1e-12), least))
    return Bound(event, hits, sizes, swapped, beta, lower, estimate, interval)


def _nearest(p: float, q: float) -> float:
    """log(p/q), 0 where it is negative."""
    if p <= 0:
        return 0.0
    return max(math.log(p / q), 0.0) if q > 0 else math.inf


def _log_ratio(p: float, q: float, delta: float) -> float:
    """log((p − δ)/q), rounded down; 0 where it is negative, for no ε is."""
    if not p > delta:
        return 0.0
    gap = rounding.below(p - delta) if delta else p
    # A quotient and a logarithm, each right to two units in the last place.
    log_ratio = math.log(gap / q * (1 - 4 * rounding.UNIT_ROUNDOFF)) if gap > 0 else 0.0
    return max(log_ratio - 4 * rounding.UNIT_ROUNDOFF * abs(log_ratio), 0.0)


def tested(event: Event, first: Messages, second: Messages, delta: float, beta: float) -> Bound:
    """The bound of an event that was fixed before these samples were drawn."""
    inside = [event.holds(messages) for messages in (first, second)]
    if event.swapped:
        inside.reverse()
    hits = (int(np.count_nonzero(inside[0])), int(np.count_nonzero(inside[1])))
    return bound_of(str(event), hits, (len(inside[0]), len(inside[1])), event.swapped, delta, beta)
