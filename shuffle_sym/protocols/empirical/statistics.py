r"""Events that tell two samples apart, and what their counts say about ε: exact limits, while samples come in.

If a mechanism is (ε, δ)-DP, then :math:`\Pr_0[E] \le e^\varepsilon \Pr_1[E] + \delta` for every event E, so

.. math:: \varepsilon \ge \log\frac{\Pr_0[E] - \delta}{\Pr_1[E]}.

A score gives every message a number; an event is that the score is at least (or at most) some threshold. Any event
gives a valid bound; a good score, such as the likelihood ratio where the randomizer is known, makes it large. Events
are chosen on one part of the samples and tested on another, by Clopper and Pearson's limits from exact binomial tails.

*Looking while samples come in.* The samples come in 2^K equal pieces. Look j = 1 … K is after 2^j of them: the event is
chosen on the first quarter of what is there (the first piece at least), and tested on the rest by limits at level β/K.
The choice at look j depends on the first quarter alone, whatever was seen of the rest at looks before.

*All bounds hold at once with probability at least 1 − β, whenever one stops.* Imagine all pieces drawn. Given the first
quarter of look j its event is fixed, and the rest is drawn independently of it; so the bound of look j is wrong with
probability at most β/K, for every first quarter, thus on the average. The union of K such events has probability at
most β. Stopping decides only which bounds are looked at, and all of them hold together.

Where an event is known before anything is drawn, the best one against the randomizer that was claimed, it is tested on
*all* samples at each look; it and the chosen one have β/2K each, and the same union covers both. A single test that is
repeated at the full level as samples come in would not have this property: it is wrong at some time with a probability
that grows with the number of looks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from flint import arb
from scipy import special

from shuffle_sym.algebra import balls, rounding
from shuffle_sym.algebra.interval import Interval

Floats = npt.NDArray[np.float64]
Messages = npt.NDArray[Any]
Progress = Callable[[Iterable[Any]], Iterable[Any]]

QUARTER = 4  # the part of the samples on which an event is chosen is one in so many
_THRESHOLDS = 256  # of a score: with fewer the best one is missed, with more noise chooses
_BITS = 80  # of a tail, of which a million samples cost 22


# ----------------------------------------------------------------------------------------- what a count says


def at_least(k: int, size: int, p: float) -> float:
    r"""An upper bound of :math:`\Pr[\mathrm{Bin}(N, p) \ge k]`, N = ``size``, a few roundings above it: an incomplete
    beta function.

    >>> 0.25 <= at_least(2, 2, 0.5) < 0.25 + 1e-14, at_least(0, 2, 0.5)
    (True, 1.0)
    """
    if k > size or (p <= 0 and k > 0):
        return 0.0
    if k <= 0 or p >= 1:
        return 1.0
    with balls.LOCK, balls.workprec(_BITS):
        return min(balls.upper(arb(p).beta_lower(k, size - k + 1, True)), 1.0)


def at_most(k: int, size: int, p: float) -> float:
    r"""An upper bound of :math:`\Pr[\mathrm{Bin}(N, p) \le k]`, a few roundings above it.

    >>> 0.25 <= at_most(0, 2, 0.5) < 0.25 + 1e-14
    True
    """
    return at_least(size - k, size, min(rounding.above(1 - p), 1.0)) if p > 0 else 1.0


def lower_limit(k: int, size: int, beta: float) -> float:
    r"""A double p with :math:`\Pr[\mathrm{Bin}(N, p) \ge k] \le \beta`: Clopper and Pearson's lower limit (1934). SciPy
    proposes it; what the exact tail does not certify is moved outward until it does.

    *The truth π is below it with probability at most β.* If π is below the limits of some counts, let k be the least of
    them. Then :math:`\Pr[\mathrm{Bin}(N, \pi) \ge k] \le \Pr[\mathrm{Bin}(N, p_k) \ge k] \le \beta`, and no smaller
    count has a limit above π. Nothing else is asked of the limits: each may be rounded down on its own.

    >>> lower_limit(0, 10, 0.05), round(lower_limit(10, 10, 0.05), 9) == round(0.05 ** (1 / 10), 9)
    (0.0, True)
    """
    p, step = float(special.betaincinv(k, size - k + 1, beta)) if k > 0 else 0.0, 1e-12
    while p and at_least(k, size, p) > beta:
        p, step = p * max(1 - step, 0.0), 4 * step
    return p


def upper_limit(k: int, size: int, beta: float) -> float:
    """A double that is below the truth with probability at most β: see `lower_limit`, of the failures.

    >>> upper_limit(10, 10, 0.05), round(upper_limit(0, 10, 0.05), 9) == round(1 - 0.05 ** (1 / 10), 9)
    (1.0, True)
    """
    return min(rounding.above(1 - lower_limit(size - k, size, beta)), 1.0) if k < size else 1.0


@dataclass(frozen=True)
class Bound:
    r"""What a count of one event says: ε at δ is at least ``lower``, with confidence 1 − ``beta``.

    ``event`` holds ``hits[0]`` times in ``sizes[0]`` of the law under which it is likelier (the first input's, if not
    ``swapped``) and ``hits[1]`` times in ``sizes[1]`` of the other.

    >>> round(Bound("E", (800, 200), (1000, 1000), False, 0.0, 0.05).estimate, 6)  # log 4
    1.386294
    """

    event: str
    hits: tuple[int, int]
    sizes: tuple[int, int]
    swapped: bool
    delta: float
    beta: float

    @cached_property
    def lower(self) -> float:
        return self._at_least(self.beta / 2)

    @property
    def estimate(self) -> float:
        r""":math:`\log((\hat p - \delta)/\hat q)`, from the shares of both samples."""
        p, q = (hits / size for hits, size in zip(self.hits, self.sizes, strict=True))
        return _log_ratio(p - self.delta, q)

    @property
    def interval(self) -> Interval:
        """It contains the true value of the estimate with confidence 1 − ``beta``. Its upper end bounds no ε: another
        event may reveal more."""
        least, level = self._at_least(self.beta / 4), self.beta / 4
        p, q = upper_limit(self.hits[0], self.sizes[0], level), lower_limit(self.hits[1], self.sizes[1], level)
        return Interval(least, max(_log_ratio(p - self.delta, q) * (1 + 1e-12), least))

    def _at_least(self, level: float) -> float:
        """log((p − δ)/q) of the limits of p and q, rounded down; 0 where it is negative, for no ε is."""
        p, q = lower_limit(self.hits[0], self.sizes[0], level), upper_limit(self.hits[1], self.sizes[1], level)
        if p <= self.delta:
            return 0.0
        with balls.LOCK, balls.workprec(_BITS):
            return max(balls.lower(((arb(p) - self.delta) / q).log()), 0.0)


def _log_ratio(p: float, q: float) -> float:
    """log(p/q), 0 where it is negative."""
    if p <= 0:
        return 0.0
    return max(math.log(p / q), 0.0) if q > 0 else math.inf


# ----------------------------------------------------------------------------------------- scores and events


@dataclass(frozen=True)
class Score:
    """A number for every message, ``of`` them, large where the first input is more likely; ``words`` say the event that
    it is at least (swapped: at most) a threshold."""

    of: Callable[[Messages], Floats]
    words: Callable[[float, bool], str]


@dataclass(frozen=True)
class Event:
    """The score is at least the threshold; swapped, at most, and then it is likelier under the second input."""

    score: Score
    threshold: float
    swapped: bool

    def bound(self, first: Messages, second: Messages, delta: float, beta: float) -> Bound:
        """The bound from samples that were drawn after the event was fixed."""
        scores = [self.score.of(messages) for messages in (first, second)]
        inside = [part <= self.threshold if self.swapped else part >= self.threshold for part in scores]
        pair = inside[::-1] if self.swapped else inside
        hits = int(np.count_nonzero(pair[0])), int(np.count_nonzero(pair[1]))
        words = self.score.words(self.threshold, self.swapped)
        return Bound(words, hits, (len(pair[0]), len(pair[1])), self.swapped, delta, beta)


def value(sign: float) -> Score:
    """The message itself, a number, or the number with the other sign.

    >>> value(-1.0).of(np.array([3, 1])).tolist(), value(-1.0).words(-3.0, False)
    ([-3.0, -1.0], 'messages ≤ 3')
    """
    return Score(
        lambda messages: sign * messages.astype(float),
        lambda threshold, swapped: f"messages {'≤' if swapped == (sign > 0) else '≥'} {sign * threshold:g}",
    )


def frequencies(first: Messages, second: Messages) -> Score:
    """The logarithm of how many times more often a message came in the first sample, half a message added to each; 0
    for one that did not come. Its events are unions of messages. Rows of numbers have the sum over their places.

    >>> score = frequencies(np.array([1, 1, 2]), np.array([2, 3]))
    >>> score.of(np.array([1, 9])).round(6).tolist()  # log(2.5/3) − log(0.5/2)
    [1.203973, 0.0]
    >>> bits = np.array([[1, 0], [1, 0], [1, 1]])
    >>> scores = frequencies(bits, 1 - bits).of(np.array([[1, 0], [0, 1]]))
    >>> bool(scores[0] > 0 > scores[1])
    True
    """
    if first.ndim == 2:
        columns = [frequencies(a, b).of for a, b in zip(first.T, second.T, strict=True)]
        return Score(
            lambda rows: np.asarray(sum(of(column) for of, column in zip(columns, rows.T, strict=True))),
            lambda threshold, swapped: (
                f"messages whose {len(columns)} places together point to the {'second' if swapped else 'first'} input"
            ),
        )
    known, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    counts = [np.bincount(part, minlength=len(known)) + 0.5 for part in (places[: len(first)], places[len(first) :])]
    scores = np.log(counts[0] * len(second)) - np.log(counts[1] * len(first))

    def of(messages: Messages) -> Floats:
        places = np.minimum(np.searchsorted(known, messages), len(known) - 1)
        return np.where(known[places] == messages, scores[places], 0.0)

    def words(threshold: float, swapped: bool) -> str:
        inside = scores <= threshold if swapped else scores >= threshold
        return listed(known[inside].tolist(), (threshold >= 0) if swapped else (threshold <= 0))

    return Score(of, words)


def listed(messages: list[Any], others: bool = False) -> str:
    """A union of messages in words, at most six of them.

    >>> listed([3]), listed([1, 2], others=True)
    ('message 3', 'messages 1, 2 or one that was not seen before')
    """
    shown = ", ".join(str(message) for message in messages[:6])
    more = f" and {len(messages) - 6} more" if len(messages) > 6 else ""
    ending = " or one that was not seen before" if others else ""
    return f"message{'s' if len(messages) != 1 else ''} {shown}{more}{ending}"


def best_event(
    scores: Sequence[Score], first: Messages, second: Messages, claim: float | None, delta: float, beta: float
) -> Event:
    """The event that is farthest above the claim in standard deviations; without a claim the one whose bound would be
    the largest if these samples were the test. A choice, it certifies nothing."""
    candidates = []
    for score in scores:
        s0, s1 = score.of(first), score.of(second)
        for swapped, a, b in ((False, s0, s1), (True, -s1, -s0)):
            merit, threshold = _best_threshold(a, b, claim, delta, beta)
            candidates.append((merit, Event(score, -threshold if swapped else threshold, swapped)))
    return max(candidates, key=lambda candidate: candidate[0])[1]


def _best_threshold(a: Floats, b: Floats, claim: float | None, delta: float, beta: float) -> tuple[float, float]:
    both = np.sort(np.concatenate([a, b]))
    # Finer towards the far end, where an event is rare and its ratio large.
    thresholds = np.unique(both[len(both) - np.geomspace(1, len(both), _THRESHOLDS).astype(np.int64)])
    hits = len(a) - np.searchsorted(np.sort(a), thresholds, side="left")
    others = len(b) - np.searchsorted(np.sort(b), thresholds, side="left")
    if claim is None or math.isinf(claim):
        low = np.where(hits > 0, special.betaincinv(np.maximum(hits, 1), len(a) - hits + 1, beta / 2), 0.0)
        high = special.betaincinv(others + 1, np.maximum(len(b) - others, 1), 1 - beta / 2)
        merits = np.where(low > delta, np.log(np.maximum(low - delta, 1e-300) / high), -np.inf)
    else:
        p, r = (hits + 0.5) / (len(a) + 1), (others + 0.5) / (len(b) + 1)
        deviations = np.sqrt(p * (1 - p) / len(a) + math.exp(2 * claim) * r * (1 - r) / len(b))
        merits = (p - delta - math.exp(claim) * r) / deviations
    merits[others == len(b)] = -np.inf  # an event that always holds says nothing
    best = int(np.argmax(merits))
    return float(merits[best]), float(thresholds[best])


# ----------------------------------------------------------------------------------------- looking while samples come


@dataclass(frozen=True)
class Looks:
    """How often samples are looked at: 2^``count`` pieces of ``piece`` samples of each of the two laws.

    >>> looks_at(100_000)
    Looks(count=6, piece=1562)
    """

    count: int
    piece: int

    def plan(self, samples: str) -> str:
        """What will be looked at, in words."""
        return f"At most {self.piece << self.count:,} {samples}, looked at up to {self.count} times."


def looks_at(size: int, smallest: int = 250) -> Looks:
    """The looks at ``size`` samples of each law: up to six, of pieces of the smallest size at least. Smaller pieces,
    and so more looks, cost confidence; larger ones cost samples where a violation is plain."""
    count = min(max((size // smallest).bit_length() - 1, 1), 6)
    return Looks(count, max(size >> count, 1))


def look(
    draw: Callable[[int], tuple[Messages, Messages]],
    choose: Callable[[Messages, Messages, float], Event],
    fixed: Event | None,
    looks: Looks,
    claim: float | None,
    delta: float,
    beta: float,
    progress: Progress,
) -> tuple[Bound, Messages, Messages]:
    """Draw samples of two laws piece by piece until a bound is above the claim, or all are drawn. The largest bound of
    all looks, and all samples that were drawn.

    Args:
        draw: from a number to so many new samples of each law.
        choose: from two samples and a level to the event that is tested on later ones.
        fixed: an event that is tested on all samples.
        looks: when to look.
        claim: an ε; a bound above it decides. None: all samples are drawn.
        delta: the δ at which ε is bounded.
        beta: the probability with which some bound may be wrong.
        progress: wraps the pieces, as tqdm does.
    """
    pieces: list[tuple[Messages, Messages]] = []
    bounds: list[Bound] = []
    level = beta / looks.count / (2 if fixed else 1)
    for done, _ in enumerate(progress(range(1 << looks.count)), 1):
        pieces.append(draw(looks.piece))
        if done < 2 or done & (done - 1):
            continue
        cut = max(done // QUARTER, 1)
        event = choose(*_joined(pieces[:cut]), level)
        bounds.append(event.bound(*_joined(pieces[cut:]), delta, level))
        if fixed:
            bounds.append(fixed.bound(*_joined(pieces), delta, level))
        if claim is not None and max(bound.lower for bound in bounds) > claim:
            break
    if not bounds:
        raise ValueError("progress must pass on every piece that it is given, as tqdm does")
    return max(bounds, key=lambda bound: bound.lower), *_joined(pieces)


def _joined(pieces: Sequence[tuple[Messages, Messages]]) -> tuple[Messages, Messages]:
    first, second = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return first, second
