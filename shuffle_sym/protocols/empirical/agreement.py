r"""Do messages have the law of the randomizer, and if not, which ones?

Each message (or each pattern of matches) is counted, and its count compared with the binomial law that the randomizer
gives it, by the exact tail. Of m comparisons at J looks the smallest p-value times mJ is a valid p-value by the union
bound: for any counts, with no cells merged and no large-sample approximation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shuffle_sym.algebra import rounding
from shuffle_sym.protocols.empirical.confidence import at_least, at_most
from shuffle_sym.protocols.empirical.events import Messages
from shuffle_sym.protocols.empirical.readings import Expected, Reading


@dataclass(frozen=True)
class Disagreement:
    """Messages (``words``) that come too often or too rarely under the input ``x``: ``count`` times in ``size``, where
    they have this ``probability``; ``p_value`` counts all comparisons made.

    >>> print(Disagreement("message 2", x=0, count=300, size=1000, probability=0.2, p_value=1e-9))
    message 2 came 300 times in 1,000 from input 0, where 200 are expected (p-value below 1e-09)
    """

    words: str
    x: int
    count: int
    size: int
    probability: float
    p_value: float

    def __str__(self) -> str:
        expected = self.probability * self.size
        return (
            f"{self.words} came {self.count:,} times in {self.size:,} from input {self.x}, where {expected:,.0f} are "
            f"expected (p-value below {rounding.above(self.p_value):.2g})"
        )


def disagreements(
    reading: Reading, inputs: tuple[int, int], samples: tuple[Messages, Messages], looks: int, beta: float
) -> tuple[Disagreement, ...]:
    """The messages whose counts do not fit, the least likely first; a right implementation has none with probability at
    least 1 − β, whichever of so many looks this is."""
    compared = [
        (x, len(messages), expected)
        for x, other, messages in zip(inputs, inputs[::-1], samples, strict=True)
        for expected in _possible(reading.expected(messages, x, other))
    ]
    factor = len(compared) * looks
    all_of_them = [
        Disagreement(e.words, x, e.count, size, e.probability, min(factor * two_sided(e, size), 1.0))
        for x, size, e in compared
    ]
    return tuple(sorted((d for d in all_of_them if d.p_value <= beta), key=lambda d: d.p_value))


def _possible(events: Iterator[Expected]) -> Iterator[Expected]:
    """Without those that cannot happen and did not."""
    return (event for event in events if event.probability > 0 or event.count)


def two_sided(event: Expected, size: int) -> float:
    """Twice the tail on the side where the count is; the probability is rounded against a disagreement.

    >>> two_sided(Expected("message 0", 0.5, 5), 10)
    1.0
    """
    p, k = event.probability, event.count
    if k >= size * p:
        return min(2 * at_least(k, size, min(rounding.above(p), 1.0) if p else 0.0), 1.0)
    return min(2 * at_most(k, size, max(rounding.below(p), 0.0)), 1.0)
