r"""How each randomizer's messages are drawn and counted.

An encoding turns inputs into messages and messages into *support counts*: how many messages match each input. What is
done with the counts is the same for all of them (see `frequencies`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import field, rounding
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.protocols.data import Messages, chunks, integers_below, randomized_response, smallest_type
from shuffle_sym.randomizers import KRR, OLH, OUE, RAPPOR, HadamardResponse, SubsetSelection

Counts = npt.NDArray[np.int64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Encoding(ABC):
    """Messages of one randomizer, as arrays: of numbers below ``size``, if nothing else is said."""

    #: How many numbers are needed for one user while drawing or counting.
    width = 1

    def __init__(self, R: Matching, size: Any = None) -> None:
        self.inputs = int(R.input_count)
        self.size = self.inputs if size is None else int(size)
        self.p, self.q = match_probability(R, 0, 0), match_probability(R, 0, 1)

    def empty(self, n: int) -> Messages:
        """Room for n messages."""
        return np.empty(n, smallest_type(self.size))

    @abstractmethod
    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        """One message for each value."""

    def check(self, messages: Any) -> Messages:
        """The messages, or an error that says what they must be."""
        return integers_below(messages, self.size, "messages")

    @abstractmethod
    def support(self, messages: Messages) -> Counts:
        """How many messages match each input."""


def number(R: Randomizer, formula: sp.Expr) -> float:
    """A formula of the randomizer as a double."""
    return float(sp.N(field.substitute(formula, R.bindings), 30))


def match_probability(R: Matching, x: int, i: int) -> float:
    """The probability that a message of x matches the input i."""
    if x == i:
        return number(R, R.joint((x,), (True,)) * R.likelihood(True))
    return number(R, sum(R.joint((x, i), (own, True)) * R.likelihood(own) for own in (True, False)))


def with_noise(k: Any, gamma: sp.Expr) -> KRR:
    """k-RR that answers uniformly with probability γ, and with the truth otherwise: γ = k/(k + t − 1)."""
    return KRR(k=k, eps0=sp.log(1 + k * (1 - gamma) / gamma))


def noise_of(R: KRR) -> float:
    """γ of k-RR as a double that is not below it: what is drawn is never less noise than what was analysed."""
    gamma = float(sp.N(R.gamma, 30))
    return min(rounding.above(gamma), 1.0) if sp.Rational(gamma) < R.gamma else gamma


def at_most(p: float) -> float:
    """A threshold that a uniform double (a multiple of 2^-53) stays below with probability at most p."""
    return math.floor(rounding.below(p) * 2**53) / 2**53


class Category(Encoding):
    """k-RR: the message is an input."""

    def __init__(self, R: KRR) -> None:
        super().__init__(R)
        self.gamma = noise_of(R)

    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        return randomized_response(values, self.inputs, self.gamma, rng)

    def support(self, messages: Messages) -> Counts:
        return np.bincount(messages.astype(np.int64, copy=False), minlength=self.inputs).astype(np.int64, copy=False)


class Bits(Encoding):
    """RAPPOR and OUE: d bits, packed eight to a byte."""

    def __init__(self, R: RAPPOR | OUE | SubsetSelection) -> None:
        super().__init__(R)
        self.bytes = -(-self.inputs // 8)
        self.width = self.inputs
        # Rounded to more noise.
        self.own, self.other = at_most(self.p), rounding.above(self.q)

    def empty(self, n: int) -> Messages:
        return np.empty((n, self.bytes), np.uint8)

    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        bits = rng.random((len(values), self.inputs)) < self.other
        bits[np.arange(len(values)), values.astype(np.int64)] = rng.random(len(values)) < self.own
        return np.packbits(bits, axis=1)

    def check(self, messages: Any) -> Messages:
        array = np.asarray(messages)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != self.bytes or not len(array):
            raise ValueError(
                f"messages must be rows of {self.bytes} bytes ({self.inputs} packed bits), at least one, got shape "
                f"{array.shape} of {array.dtype}"
            )
        return array

    def support(self, messages: Messages) -> Counts:
        counts = np.zeros(self.inputs, np.int64)
        for part in chunks(len(messages), self.inputs):
            counts += np.unpackbits(messages[part], axis=1, count=self.inputs).sum(axis=0, dtype=np.int64)
        return counts


class Subsets(Bits):
    """Subset selection: w of the d inputs, as d bits of which w are ones."""

    def __init__(self, R: SubsetSelection) -> None:
        super().__init__(R)
        self.w = int(R.w)

    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        rows = np.arange(len(values))
        keys = rng.random((len(values), self.inputs))
        # The own input comes first or last; the others are in a random order, and the first w are taken.
        keys[rows, values.astype(np.int64)] = np.where(rng.random(len(values)) < self.own, -1.0, 2.0)
        bits = np.zeros(keys.shape, bool)
        bits[rows[:, None], np.argpartition(keys, self.w - 1, axis=1)[:, : self.w]] = True
        return np.packbits(bits, axis=1)

    def check(self, messages: Any) -> Messages:
        array = super().check(messages)
        for part in chunks(len(array), self.inputs):
            sizes = np.unpackbits(array[part], axis=1, count=self.inputs).sum(axis=1)
            wrong = sizes != self.w
            if wrong.any():
                at = int(np.argmax(wrong))
                raise ValueError(f"messages[{part.start + at}] must be a set of {self.w} inputs, got {int(sizes[at])}")
        return array


class Hashed(Encoding):
    """BLH and OLH: the number of a hash function, and the randomised hash.

    The analysis takes h from *all* functions; here a 64-bit number names one of a pseudo-random family (the finaliser
    of splitmix64), in which values of different inputs are as good as independent. ε0-LDP holds for any family; the
    variance and the amplification are those of the ideal one.
    """

    def __init__(self, R: OLH) -> None:
        super().__init__(R)
        self.g = int(R.g)
        self.type = np.dtype([("hash", np.uint64), ("value", smallest_type(self.g))])
        self.gamma = noise_of(KRR(self.g, R.eps0))  # the hash is sent by g-ary randomized response

    def hashes(self, numbers: npt.NDArray[np.uint64], x: Any) -> npt.NDArray[np.uint64]:
        with np.errstate(over="ignore"):
            mixed = numbers + (np.asarray(x, np.uint64) + np.uint64(1)) * _GOLDEN
            for shift, factor in zip((np.uint64(30), np.uint64(27)), _MIX, strict=True):
                mixed = (mixed ^ (mixed >> shift)) * factor
            mixed ^= mixed >> np.uint64(31)
        return ((mixed >> np.uint64(32)) * np.uint64(self.g)) >> np.uint64(32)

    def empty(self, n: int) -> Messages:
        return np.empty(n, self.type)

    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        messages = self.empty(len(values))
        messages["hash"] = rng.integers(0, 2**64, len(values), dtype=np.uint64)
        own = self.hashes(messages["hash"], values.astype(np.uint64))
        messages["value"] = randomized_response(own, self.g, self.gamma, rng)
        return messages

    def check(self, messages: Any) -> Messages:
        array = np.asarray(messages)
        if array.dtype != self.type or array.ndim != 1 or not len(array):
            raise ValueError(f"messages must be an array of {self.type} with at least one entry, got {array.dtype}")
        integers_below(array["value"], self.g, "messages")
        return array

    def support(self, messages: Messages) -> Counts:
        counts = np.zeros(self.inputs, np.int64)
        for part in chunks(len(messages)):
            numbers, values = np.ascontiguousarray(messages["hash"][part]), messages["value"][part].astype(np.uint64)
            for x in range(self.inputs):
                counts[x] += np.count_nonzero(self.hashes(numbers, x) == values)
        return counts


class Columns(Encoding):
    """Hadamard response: the number of a column; counting is one fast Walsh-Hadamard transform."""

    def __init__(self, R: HadamardResponse) -> None:
        super().__init__(R, R.K)
        self.own = at_most(self.p)

    def draw(self, values: npt.NDArray[Any], rng: np.random.Generator) -> Messages:
        rows = values.astype(np.int64) + 1
        columns = rng.integers(0, self.size, len(values))
        odd = np.bitwise_count(rows & columns) % 2 == 1
        wanted = rng.random(len(values)) >= self.own  # an odd number of common ones: no match
        # Flipping a column at the lowest one of its row changes the parity, and keeps the column uniform.
        return np.where(odd == wanted, columns, columns ^ (rows & -rows)).astype(smallest_type(self.size))

    def support(self, messages: Messages) -> Counts:
        transform = np.bincount(messages.astype(np.int64, copy=False), minlength=self.size).astype(np.int64)
        step = 1
        while step < self.size:
            pairs = transform.reshape(-1, 2, step)
            transform = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
            step *= 2
        return (len(messages) + transform[1:]) // 2


_ENCODINGS: dict[type, Callable[[Any], Encoding]] = {
    KRR: Category,
    SubsetSelection: Subsets,
    RAPPOR: Bits,
    OUE: Bits,
    OLH: Hashed,
    HadamardResponse: Columns,
}


def encoding(R: Any) -> Callable[[Any], Encoding]:
    """What makes the encoding of a randomizer whose messages can be drawn here."""
    for kind, make in _ENCODINGS.items():
        if isinstance(R, kind):
            return make
    raise TypeError(f"R must be KRR, BinaryRR, SubsetSelection, RAPPOR, OUE, BLH, OLH or HadamardResponse, got {R!r}")
