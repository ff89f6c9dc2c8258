r"""How messages of a given randomizer are read: as columns of its matrix, or by the inputs that they match."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.protocols.data import integers_below
from shuffle_sym.protocols.empirical.events import Floats, Messages, Score, listed
from shuffle_sym.randomizers import KRR, OUE, RAPPOR, BlockHadamard, HadamardResponse, SubsetSelection

Bools = npt.NDArray[np.bool_]
Matches = Callable[[Messages, int], Bools]
_MOST_INPUTS = 64  # whose matches are compared with what the randomizer says


@dataclass(frozen=True)
class Expected:
    """An event of messages in words, its probability under one input, and the messages in which it holds."""

    words: str
    probability: float
    count: int


class Reading(ABC):
    """What is known of a message."""

    @abstractmethod
    def check(self, messages: Messages, name: str) -> Messages:
        """The messages, or an error that names the first one that R cannot send."""

    @abstractmethod
    def log_likelihoods(self, messages: Messages, x: int) -> Floats:
        """log R(x)(y) of each message y, but for a term that is the same for all inputs x."""

    @abstractmethod
    def expected(self, messages: Messages, x: int, other: int) -> Iterator[Expected]:
        """Events with known probabilities under x, for two inputs that are looked at, and how often each holds."""

    @abstractmethod
    def most_revealing(self, x0: int, x1: int) -> float:
        """The largest log R(x0)(y)/R(x1)(y), as the doubles of this reading have it."""

    @abstractmethod
    def words(self, threshold: float, swapped: bool, x0: int, x1: int) -> str:
        """The event that R(x0)/R(x1) is at least (swapped: at most) e^threshold."""


class Columns(Reading):
    """Messages are numbers of columns of R's matrix."""

    def __init__(self, R: Randomizer) -> None:
        rows = [[field.substitute(e, R.bindings) for e in row] for row in R.rows()]
        self.probabilities = np.array([[float(sp.N(e, 30)) for e in row] for row in rows])

    def check(self, messages: Messages, name: str) -> Messages:
        return integers_below(messages, self.probabilities.shape[1], name).astype(np.int64)

    def log_likelihoods(self, messages: Messages, x: int) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities[x])[messages])

    def expected(self, messages: Messages, x: int, other: int) -> Iterator[Expected]:
        counts = np.bincount(messages, minlength=self.probabilities.shape[1])
        for y, (p, count) in enumerate(zip(self.probabilities[x], counts, strict=True)):
            yield Expected(f"message {y}", float(p), int(count))

    def most_revealing(self, x0: int, x1: int) -> float:
        return float(np.max(ratios(self, np.arange(self.probabilities.shape[1]), x0, x1)))

    def words(self, threshold: float, swapped: bool, x0: int, x1: int) -> str:
        scores = ratios(self, np.arange(self.probabilities.shape[1]), x0, x1)
        inside = scores <= threshold if swapped else scores >= threshold
        return listed(np.flatnonzero(inside).tolist())


class Matched(Reading):
    """Messages match inputs or do not, and nothing else about them counts."""

    def __init__(self, R: Matching, matches: Matches, check: Callable[[Messages, str], Messages] | None = None) -> None:
        self.R = R
        self._matches, self._check = matches, check
        self.log_ratio = float(sp.N(sp.log(field.substitute(R.ratio, R.bindings)), 30))
        self.alike = len(R.pairs()) == 1
        self._known: dict[tuple[Any, ...], float] = {}

    def check(self, messages: Messages, name: str) -> Messages:
        return self._check(messages, name) if self._check else messages

    def matches(self, messages: Messages, x: int) -> Bools:
        matched = np.asarray(self._matches(messages, x))
        if matched.shape != (len(messages),) or matched.dtype != bool:
            raise ValueError(
                f"matches must return one bool for each of {len(messages)} messages, "
                f"got {matched.dtype} of shape {matched.shape}"
            )
        return matched

    def log_likelihoods(self, messages: Messages, x: int) -> Floats:
        return np.where(self.matches(messages, x), self.log_ratio, 0.0)

    def probability(self, x: int, inputs: tuple[int, ...], pattern: tuple[bool, ...]) -> float:
        """The probability that a message of x matches exactly these of the inputs."""
        if self.alike and len(inputs) == 1:  # all pairs of inputs are alike
            x, inputs = (0, (0,)) if inputs == (x,) else (0, (1,))
        if (x, inputs, pattern) not in self._known:
            R = self.R
            if x in inputs:
                law = R.joint(inputs, pattern) * R.likelihood(pattern[inputs.index(x)])
            else:
                law = sum(R.joint((x, *inputs), (own, *pattern)) * R.likelihood(own) for own in (True, False))
            self._known[x, inputs, pattern] = float(sp.N(field.substitute(law, R.bindings), 30))
        return self._known[x, inputs, pattern]

    def expected(self, messages: Messages, x: int, other: int) -> Iterator[Expected]:
        matched = {i: self.matches(messages, i) for i in (x, other)}
        for pattern in product((True, False), repeat=2):
            holds = (matched[x] == pattern[0]) & (matched[other] == pattern[1])
            words = f"messages that {_verb(pattern[0])} {x} and {_verb(pattern[1])} {other}"
            yield Expected(words, self.probability(x, (x, other), pattern), int(np.count_nonzero(holds)))
        for i in range(min(int(self.R.input_count), _MOST_INPUTS)):
            count = int(np.count_nonzero(self.matches(messages, i)))
            yield Expected(f"messages that match {i}", self.probability(x, (i,), (True,)), count)

    def most_revealing(self, x0: int, x1: int) -> float:
        return self.log_ratio

    def words(self, threshold: float, swapped: bool, x0: int, x1: int) -> str:
        own, other = (x1, x0) if swapped else (x0, x1)
        if (-threshold if swapped else threshold) > 0:
            return f"messages that match {own} and not {other}"
        return f"messages that match {own} or do not match {other}"


def _verb(match: bool) -> str:
    return "match" if match else "do not match"


def ratios(reading: Reading, messages: Messages, x0: int, x1: int) -> Floats:
    """log R(x0)(y)/R(x1)(y) of each message; 0 for one that neither of them sends."""
    with np.errstate(invalid="ignore"):
        scores = reading.log_likelihoods(messages, x0) - reading.log_likelihoods(messages, x1)
    return np.nan_to_num(scores, nan=0.0, posinf=np.inf, neginf=-np.inf)


class Likelihood(Score):
    """The logarithm of the likelihood ratio of a known randomizer."""

    def __init__(self, reading: Reading, x0: int, x1: int) -> None:
        self.reading, self.x0, self.x1 = reading, x0, x1

    def __call__(self, messages: Messages) -> Floats:
        return ratios(self.reading, messages, self.x0, self.x1)

    def words(self, threshold: float, swapped: bool) -> str:
        return self.reading.words(threshold, swapped, self.x0, self.x1)


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
    if isinstance(R, KRR):
        return Matched(R, lambda y, x: y == x, lambda y, name: integers_below(y, int(R.k), name))
    if isinstance(R, (RAPPOR, OUE, SubsetSelection)):
        return Matched(R, lambda y, x: y[:, x] == 1, lambda y, name: _bits(R, y, name))
    if isinstance(R, HadamardResponse):
        return Matched(R, _even, lambda y, name: integers_below(y, int(R.K), name).astype(np.int64))
    if isinstance(R, BlockHadamard):
        return Matched(R, partial(_in_block, R), lambda y, name: integers_below(y, int(R.B * R.b), name))
    if isinstance(R, Matching):
        raise ValueError(
            f"matches must be given for {R!r}: a function (messages, x) that says which of the messages match x"
        )
    return Columns(R)


def _even(messages: Messages, x: int) -> Bools:
    return np.asarray(np.bitwise_count(messages & (x + 1)) % 2 == 0)


def _in_block(R: BlockHadamard, messages: Messages, x: int) -> Bools:
    block, row = R.place(x)
    own, columns = np.divmod(messages.astype(np.int64), int(R.b))
    return np.asarray((own == block) & (np.bitwise_count(columns & row) % 2 == 0))


def _bits(R: Any, messages: Messages, name: str) -> Messages:
    d = int(R.input_count)
    if messages.ndim != 2 or messages.shape[1] != d or not np.isin(messages, (0, 1)).all():
        raise ValueError(f"{name} must be rows of {d} bits for {R!r}, got shape {messages.shape} of {messages.dtype}")
    wrong = messages.sum(axis=1) != R.w if isinstance(R, SubsetSelection) else np.zeros(0, bool)
    if wrong.any():
        raise ValueError(f"{name}[{int(np.argmax(wrong))}] must have {R.w} ones, as every message of {R!r} has")
    return messages
