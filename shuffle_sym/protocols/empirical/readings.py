r"""How messages of a given randomizer are read, as columns of its matrix or by the inputs that they match, and whether
they come as often as it says.

Each message (or each pattern of matches) is counted, and its count compared with the binomial law that the randomizer
gives it, by the exact tail. Of m comparisons at J looks the smallest p-value times mJ is a valid p-value by the union
bound: for any counts, with no cells merged and no large-sample approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import rounding
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.protocols.data import integers_below
from shuffle_sym.protocols.empirical.statistics import Floats, Messages, Score, at_least, at_most, listed
from shuffle_sym.protocols.encodings import match_probability, number
from shuffle_sym.randomizers import KRR, OUE, RAPPOR, BlockHadamard, HadamardResponse, SubsetSelection

Matches = Callable[[Messages, int], npt.NDArray[np.bool_]]
_MOST_INPUTS = 64  # whose matches are compared with what the randomizer says: each takes some milliseconds


@dataclass(frozen=True)
class Expected:
    """An event of messages in words, its probability under one input, and the messages in which it holds."""

    words: str
    probability: float
    count: int


class Columns:
    """Messages are numbers of columns of R's matrix."""

    def __init__(self, R: Randomizer) -> None:
        self.probabilities = np.array([[number(R, e) for e in row] for row in R.rows()])
        self.size = self.probabilities.shape[1]

    def check(self, messages: Messages, name: str) -> Messages:
        return integers_below(messages, self.size, name).astype(np.int64)

    def log_likelihoods(self, messages: Messages, x: int) -> Floats:
        """log R(x)(y) of each message y."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities[x])[messages])

    def expected(self, messages: Messages, x: int, other: int) -> Iterator[Expected]:
        """Events with known probabilities under x, for two inputs that are looked at, and how often each holds."""
        counts = np.bincount(messages, minlength=self.size)
        for y, (p, count) in enumerate(zip(self.probabilities[x], counts, strict=True)):
            yield Expected(f"message {y}", float(p), int(count))

    def most(self, x0: int, x1: int) -> float:
        """The largest log R(x0)(y)/R(x1)(y)."""
        return float(np.max(ratios(self, np.arange(self.size), x0, x1)))

    def words(self, threshold: float, swapped: bool, x0: int, x1: int) -> str:
        """The event that R(x0)/R(x1) is at least (swapped: at most) e^threshold."""
        scores = ratios(self, np.arange(self.size), x0, x1)
        inside = scores <= threshold if swapped else scores >= threshold
        return listed(np.flatnonzero(inside).tolist())


class Matched:
    """Messages match inputs or do not, and nothing else about them counts."""

    def __init__(self, R: Matching, matches: Matches, check: Callable[[Messages, str], Messages] | None = None) -> None:
        self.R = R
        self._matches = matches
        self.check = check or (lambda messages, name: messages)
        self.log_ratio = number(R, sp.log(R.ratio))

    def matches(self, messages: Messages, x: int) -> npt.NDArray[np.bool_]:
        matched = np.asarray(self._matches(messages, x))
        if matched.shape != (len(messages),) or matched.dtype != bool:
            raise ValueError(
                f"matches must return one bool for each of {len(messages)} messages, "
                f"got {matched.dtype} of shape {matched.shape}"
            )
        return matched

    def log_likelihoods(self, messages: Messages, x: int) -> Floats:
        """log R(x)(y) of each message y, but for a term that is the same for all inputs x."""
        return np.where(self.matches(messages, x), self.log_ratio, 0.0)

    def expected(self, messages: Messages, x: int, other: int) -> Iterator[Expected]:
        """Events with known probabilities under x, for two inputs that are looked at, and how often each holds."""
        matched = {i: self.matches(messages, i) for i in (x, other)}
        for own, and_other in product((True, False), repeat=2):
            holds = (matched[x] == own) & (matched[other] == and_other)
            verbs = ["match" if match else "do not match" for match in (own, and_other)]
            p = number(self.R, self.R.joint((x, other), (own, and_other)) * self.R.likelihood(own))
            words = f"messages that {verbs[0]} {x} and {verbs[1]} {other}"
            yield Expected(words, p, int(np.count_nonzero(holds)))
        alike = len(self.R.pairs()) == 1  # all pairs of inputs are: two probabilities serve
        known = {True: match_probability(self.R, x, x), False: match_probability(self.R, x, other)}
        for i in range(min(int(self.R.input_count), _MOST_INPUTS)):
            p = known[i == x] if alike else match_probability(self.R, x, i)
            yield Expected(f"messages that match {i}", p, int(np.count_nonzero(self.matches(messages, i))))

    def most(self, x0: int, x1: int) -> float:
        """The largest log R(x0)(y)/R(x1)(y)."""
        return self.log_ratio

    def words(self, threshold: float, swapped: bool, x0: int, x1: int) -> str:
        """The event that R(x0)/R(x1) is at least (swapped: at most) e^threshold."""
        own, other = (x1, x0) if swapped else (x0, x1)
        if (-threshold if swapped else threshold) > 0:
            return f"messages that match {own} and not {other}"
        return f"messages that match {own} or do not match {other}"


Reading = Columns | Matched


def ratios(reading: Reading, messages: Messages, x0: int, x1: int) -> Floats:
    """log R(x0)(y)/R(x1)(y) of each message; 0 for one that neither of them sends."""
    with np.errstate(invalid="ignore"):
        scores = reading.log_likelihoods(messages, x0) - reading.log_likelihoods(messages, x1)
    return np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)


def likelihood(reading: Reading, x0: int, x1: int) -> Score:
    """The logarithm of the likelihood ratio of a known randomizer."""
    return Score(
        lambda messages: ratios(reading, messages, x0, x1),
        lambda threshold, swapped: reading.words(threshold, swapped, x0, x1),
    )


def reading_of(R: Randomizer, matches: Matches | None = None) -> Reading:
    """How messages of R are read.

    >>> import shuffle_sym as ss
    >>> ratios(reading_of(ss.KRR(k=3, eps0=1)), np.array([0, 1, 2]), 0, 1).tolist()
    [1.0, -1.0, 0.0]
    """
    if R.input_count is sp.oo:
        raise ValueError(f"R must have finitely many inputs, got {R!r}")
    if matches is not None:
        if not isinstance(R, Matching) or not callable(matches):
            raise TypeError(f"matches must be a function (messages, x) of a randomizer with matches, got {R!r}")
        return Matched(R, matches)

    def below(size: Any) -> Callable[[Messages, str], Messages]:
        return lambda messages, name: integers_below(messages, int(size), name).astype(np.int64)

    if isinstance(R, KRR):
        return Matched(R, lambda y, x: y == x, below(R.k))
    if isinstance(R, (RAPPOR, OUE, SubsetSelection)):
        return Matched(R, lambda y, x: y[:, x] == 1, lambda y, name: _bits(R, y, name))
    if isinstance(R, HadamardResponse):
        return Matched(R, lambda y, x: np.bitwise_count(y & (x + 1)) % 2 == 0, below(R.K))
    if isinstance(R, BlockHadamard):
        return Matched(R, partial(_in_block, R), below(R.B * R.b))
    if isinstance(R, Matching):
        raise ValueError(
            f"matches must be given for {R!r}: a function (messages, x) that says which of the messages match x"
        )
    return Columns(R)


def _in_block(R: BlockHadamard, messages: Messages, x: int) -> npt.NDArray[np.bool_]:
    (block, row), (own, columns) = R.place(x), np.divmod(messages, int(R.b))
    return np.asarray((own == block) & (np.bitwise_count(columns & row) % 2 == 0))


def _bits(R: Any, messages: Messages, name: str) -> Messages:
    d = int(R.input_count)
    if messages.ndim != 2 or messages.shape[1] != d or not np.isin(messages, (0, 1)).all():
        raise ValueError(f"{name} must be rows of {d} bits for {R!r}, got shape {messages.shape} of {messages.dtype}")
    wrong = messages.sum(axis=1) != R.w if isinstance(R, SubsetSelection) else np.zeros(0, bool)
    if wrong.any():
        raise ValueError(f"{name}[{int(np.argmax(wrong))}] must have {R.w} ones, as every message of {R!r} has")
    return messages


# ----------------------------------------------------------------------------------------- agreement


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
        (e, x, len(messages))
        for x, other, messages in zip(inputs, inputs[::-1], samples, strict=True)
        for e in reading.expected(messages, x, other)
        if e.probability > 0 or e.count  # not those that cannot happen and did not
    ]
    p_values = [min(len(compared) * looks * two_sided(e, size), 1.0) for e, _, size in compared]
    found = [
        Disagreement(e.words, x, e.count, size, e.probability, p_value)
        for (e, x, size), p_value in zip(compared, p_values, strict=True)
        if p_value <= beta
    ]
    return tuple(sorted(found, key=lambda disagreement: disagreement.p_value))


def two_sided(event: Expected, size: int) -> float:
    """Twice the tail on the side where the count is; the probability is rounded against a disagreement.

    >>> two_sided(Expected("message 0", 0.5, 5), 10)
    1.0
    """
    p, k = event.probability, event.count
    if k >= size * p:
        return min(2 * at_least(k, size, min(rounding.above(p), 1.0) if p else 0.0), 1.0)
    return min(2 * at_most(k, size, max(rounding.below(p), 0.0)), 1.0)
