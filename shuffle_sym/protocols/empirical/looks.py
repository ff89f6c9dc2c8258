r"""Looking at samples while they come in, and stopping as soon as it is decided.

The samples come in 2^K equal pieces. Look j = 1 … K is after 2^j of them: the event is chosen on the first quarter of
what is there (the first piece at least), and tested on the rest by Clopper–Pearson limits at level β/K. The choice at
look j depends on the first quarter alone, whatever was seen of the rest at looks before.

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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shuffle_sym.protocols.empirical.events import Bound, Event, Messages, Score, best_event, tested

Progress = Callable[[Iterable[Any]], Iterable[Any]]
Fit = Callable[[Messages, Messages], Sequence[Score]]
_MOST_PIECES = 64
_SMALLEST_PIECE = 250
QUARTER = 4  # the part of the samples on which an event is chosen is one in so many


@dataclass(frozen=True)
class Looks:
    """How often samples are looked at: 2^``count`` pieces of ``piece`` samples of each of the two laws.

    >>> looks_at(100_000)
    Looks(count=6, piece=1562)
    """

    count: int
    piece: int

    @property
    def pieces(self) -> int:
        return 1 << self.count


def looks_at(size: int, smallest: int = _SMALLEST_PIECE) -> Looks:
    """The looks at ``size`` samples of each law: as many as pieces of the smallest size allow, one at least."""
    pieces = max(min(_MOST_PIECES, size // smallest), 2)
    count = pieces.bit_length() - 1
    return Looks(count, max(size // 2**count, 1))


@dataclass(frozen=True)
class Seen:
    """The largest bound of all looks, how many there were, and all samples that were drawn."""

    bound: Bound
    looks: int
    first: Messages
    second: Messages


def look(
    draw: Callable[[int], tuple[Messages, Messages]],
    fit: Fit,
    fixed: Event | None,
    looks: Looks,
    claim: float | None,
    delta: float,
    beta: float,
    progress: Progress,
) -> Seen:
    """Draw samples of two laws piece by piece until a bound is above the claim, or all are drawn.

    Args:
        draw: from a number to so many new samples of each law.
        fit: from two samples to scores that may tell them apart.
        fixed: an event that is tested on all samples.
        looks: when to look.
        claim: an ε; a bound above it decides. None: all samples are drawn.
        delta: the δ at which ε is bounded.
        beta: the probability with which some bound may be wrong.
        progress: wraps the pieces, as tqdm does.
    """
    pieces: list[tuple[Messages, Messages]] = []
    best, number = None, 0
    level = beta / looks.count / (2 if fixed else 1)
    for done, _ in enumerate(progress(range(looks.pieces)), 1):
        pieces.append(draw(looks.piece))
        if done < 2 or done & (done - 1):
            continue
        number += 1
        cut = max(done // QUARTER, 1)
        (first, second), rest = _joined(pieces[:cut]), _joined(pieces[cut:])
        event = _chosen(fit, first, second, claim, delta, level)
        bounds = [*([best] if best else []), tested(event, *rest, delta, level)]
        if fixed:
            bounds.append(tested(fixed, *_joined(pieces), delta, level))
        best = max(bounds, key=lambda bound: bound.lower)
        if claim is not None and best.lower > claim:
            break
    if best is None:
        raise ValueError("progress must pass on every piece that it is given, as tqdm does")
    first, second = _joined(pieces)
    return Seen(best, number, first, second)


def _chosen(fit: Fit, first: Messages, second: Messages, claim: float | None, delta: float, beta: float) -> Event:
    """The event that looks best. A score that was fitted knows its own sample: its threshold is chosen on another."""
    middle, center = len(first) // 2, len(second) // 2
    scores = fit(first[:middle], second[:center])
    if any(score.fitted for score in scores):
        first, second = first[middle:], second[center:]
    return best_event(scores, first, second, claim, delta, beta)


def _joined(pieces: Sequence[tuple[Messages, Messages]]) -> tuple[Messages, Messages]:
    first, second = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return first, second
