r"""Protocols, the data, messages and randomness that enter them, and the estimates that leave them."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.model.randomizer import Randomizer

Floats = npt.NDArray[np.float64]
Messages = npt.NDArray[Any]
CHUNK = 2**18  # users, or numbers, that are worked on at once


@dataclass(frozen=True)
class Estimate:
    """The analyzer's result for n users: unbiased values, and the ``standard_errors`` to report with them.

    >>> Estimate(values=[3.0, 7.0], standard_errors=[1.0, 1.0], n=10).n
    10
    """

    values: Any
    standard_errors: Any
    n: int


def generator(rng: Any = None) -> np.random.Generator:
    """``rng``, or one that is seeded with 256 bits from the operating system.

    NumPy's generators are fast and not cryptographic: whoever learns the state of one can undo the noise. Every user
    has one of their own in a real deployment, and nobody else sees it.
    """
    if rng is None:
        return np.random.default_rng(secrets.randbits(256))
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator or None, got {rng!r}")
    return rng


def chunks(count: int, width: int = 1) -> Iterator[slice]:
    """Slices of ``count`` rows, with about CHUNK numbers in each if a row has ``width`` of them."""
    step = max(CHUNK // width, 1)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def _checked(values: Any, name: str, wrong: Callable[[Messages], Messages], right: str) -> npt.NDArray[Any]:
    """A sequence of numbers; the first one that is ``wrong`` is named, with what would be ``right``."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if not len(array):
        raise ValueError(f"{name} must not be empty: at least one user is needed")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {array.dtype}")
    for part in chunks(len(array)):
        refused = wrong(array[part])
        if refused.any():
            at = part.start + int(np.argmax(refused))
            raise ValueError(f"{name}[{at}] must be {right}, got {array[at].item()!r}")
    return array


def integers_below(values: Any, size: int, name: str) -> npt.NDArray[Any]:
    """A sequence of integers in 0 … size − 1; the first one that is not is named."""

    def wrong(piece: Messages) -> Messages:
        outside = ~((piece >= 0) & (piece < size))  # nan fails both comparisons
        return outside | (piece != np.floor(piece)) if piece.dtype.kind == "f" else outside

    return _checked(values, name, wrong, f"an integer in 0 … {size - 1}")


def unit_interval(values: Any, name: str) -> npt.NDArray[Any]:
    """A sequence of numbers in [0, 1]; the first one that is not is named."""
    return _checked(values, name, lambda piece: ~((piece >= 0) & (piece <= 1)), "a number in [0, 1]")


def smallest_type(size: int) -> np.dtype[Any]:
    """The smallest unsigned integer type that holds 0 … size − 1."""
    return np.min_scalar_type(size - 1)


def shuffle(messages: Messages, rng: np.random.Generator | None = None) -> Messages:
    """The messages in a uniformly random order, drawn with ``rng``: all that the analyzer gets to see.

    The permutation is drawn, applied and forgotten. What is left to know is how often each message occurs.

    >>> sorted(shuffle(np.array([2, 0, 1])).tolist())
    [0, 1, 2]
    """
    rng = generator(rng)
    if messages.ndim == 1:
        mixed = messages.copy()
        rng.shuffle(mixed)
        return mixed
    return messages[rng.permutation(len(messages))]


def randomized_response(
    values: npt.NDArray[Any], size: int, gamma: float, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Algorithm 1 of Balle et al. 2019: each value, or with probability γ a uniform one."""
    noise = rng.integers(0, size, len(values), dtype=smallest_type(size))
    return np.where(rng.random(len(values)) < gamma, noise, values.astype(noise.dtype, copy=False))


class Protocol(ABC):
    """A local randomizer, the shuffler and an analyzer."""

    randomizer: Randomizer

    @abstractmethod
    def randomize(self, values: Any, rng: np.random.Generator | None = None) -> Messages:
        """One message for every user, in the order of the users: this is what the shuffler gets."""

    @abstractmethod
    def estimate(self, messages: Any) -> Estimate:
        """Unbiased estimates and their standard errors, from messages in any order."""

    def run(self, values: Any, rng: np.random.Generator | None = None) -> Estimate:
        """Randomise, shuffle, estimate.

        ``values`` has one entry for each user; ``rng`` draws the noise and the order, by default from a fresh seed.
        """
        rng = generator(rng)
        return self.estimate(shuffle(self.randomize(values, rng), rng))

    def delta(self, n: Any, eps: Any, *, rtol: float = RTOL) -> Interval:
        """Certified bounds of δ(ε) of the messages of ``n`` users, shuffled; ``rtol`` is their relative width."""
        interval: Interval = Shuffle(self.randomizer, n).delta(eps, rtol=rtol)
        return interval
