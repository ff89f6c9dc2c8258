r"""What enters a protocol (data, messages, randomness) and what leaves it (estimates)."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Messages = npt.NDArray[Any]
CHUNK = 2**18  # users, or numbers, that are worked on at once


@dataclass(frozen=True)
class Estimate:
    """What the analyzer says: unbiased values, and beside each the standard error to report.

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


def _one_dimensional(values: Any, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
    if not len(array):
        raise ValueError(f"{name} must not be empty: at least one user is needed")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must hold numbers, got {array.dtype}")
    return array


def integers_below(values: Any, size: int, name: str) -> npt.NDArray[Any]:
    """A sequence of integers in 0 … size − 1; the first one that is not is named."""
    array = _one_dimensional(values, name)
    for part in chunks(len(array)):
        piece = array[part]
        # nan fails both comparisons.
        wrong = ~((piece >= 0) & (piece < size))
        if array.dtype.kind == "f":
            wrong |= piece != np.floor(piece)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(
                f"{name}[{part.start + at}] must be an integer in 0 … {size - 1}, got {piece[at].item()!r}"
            )
    return array


def unit_interval(values: Any, name: str) -> npt.NDArray[Any]:
    """A sequence of numbers in [0, 1]; the first one that is not is named."""
    array = _one_dimensional(values, name)
    for part in chunks(len(array)):
        wrong = ~((array[part] >= 0) & (array[part] <= 1))
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(f"{name}[{part.start + at}] must be a number in [0, 1], got {array[part][at].item()!r}")
    return array


def smallest_type(size: int) -> np.dtype[Any]:
    """The smallest unsigned integer type that holds 0 … size − 1."""
    return np.min_scalar_type(size - 1)


def shuffle(messages: Messages, rng: np.random.Generator | None = None) -> Messages:
    """The messages in a uniformly random order: all that the analyzer gets to see.

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
