r"""Convolutions of many copies of laws on a lattice, by their transforms, with a bound on the round-off."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

_LOG_NEGLIGIBLE = -90.0  # frequencies with |transform|^n below e^this are left out
CHUNK = 2**17
_FEW_ATOMS = 12


def convolution(
    transforms: Sequence[Iterable[Complex]], etas: Sequence[float], counts: Sequence[int], size: int
) -> tuple[Array, float]:
    r"""The law of a sum modulo ``size``, with so many copies of each law in it, and a bound on the 2-norm of its error.

    A transform is its entries 0 … size/2 in chunks of the same lengths, each entry within η of the truth.
    """
    spectrum = np.zeros(size // 2 + 1, dtype=complex)
    squared_error, start = 0.0, 0
    for chunks in zip(*transforms, strict=True):
        log_bound = sum(n * np.log(np.abs(z) + eta) for n, eta, z in zip(counts, etas, chunks, strict=True))
        kept = log_bound > _LOG_NEGLIGIBLE
        bound, entries = np.exp(log_bound[kept]), [z[kept] for z in chunks]
        nonzero = np.all([z != 0 for z in entries], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            powers = np.exp(sum(n * np.log(z) for n, z in zip(counts, entries, strict=True)))
        powers = np.where(nonzero, powers, 0)
        spectrum[start : start + len(kept)][kept] = powers
        # |Π(z + η)^n − Π z^n| <= Π(|z| + η)^n · Σ nη/(|z| + η), and the rounding of exp(Σ n log z).
        relative = sum(n * eta / (np.abs(z) + eta) for n, eta, z in zip(counts, etas, entries, strict=True))
        errors = bound * relative + np.abs(powers) * sum(counts) * 16 * UNIT_ROUNDOFF
        squared_error += 2 * float(np.sum(errors**2))  # each entry but the first and the last stands for two
        start += len(kept)
    law = np.fft.irfft(spectrum, size)
    # Relative error of an FFT in the 2-norm (Higham 2002, Theorem 24.2, with room for other radices).
    fft_error = 10 * UNIT_ROUNDOFF * math.log2(size) * math.sqrt(float(np.sum(law**2)))
    return law, math.sqrt(squared_error / size) + math.exp(_LOG_NEGLIGIBLE) + fft_error


def self_convolution(chunks: Iterable[Complex], eta: float, n: int, size: int) -> tuple[Array, float]:
    """The law of the sum of n copies of one law."""
    return convolution([chunks], [eta], [n], size)


def transform(places: Array, weights: Array, size: int) -> tuple[Iterable[Complex], float]:
    """The transform of a law on a lattice, in chunks, and a bound on the error of each entry."""
    residues = np.mod(places, size).astype(np.int64)  # exact; a place itself may be too large for an integer type
    if len(weights) <= _FEW_ATOMS:
        # Angles (13u), cos and sin, the products and the sum.
        return _from_definition(residues, weights, size), (20 + 2 * len(weights)) * UNIT_ROUNDOFF
    return transform_by_fft(residues, weights, size)


def _from_definition(residues: npt.NDArray[np.int64], weights: Array, size: int) -> Iterable[Complex]:
    for start in range(0, size // 2 + 1, CHUNK):
        k = np.arange(start, min(start + CHUNK, size // 2 + 1), dtype=np.int64)
        total = np.zeros(len(k), dtype=complex)
        for residue, weight in zip(residues, weights, strict=True):
            # k·residue modulo size is exact: only the product with 2π/size and cos, sin are rounded.
            total += weight * np.exp((-2j * math.pi / size) * ((k * residue) % size))
        yield total


def transform_by_fft(residues: npt.NDArray[np.int64], weights: Array, size: int) -> tuple[Iterable[Complex], float]:
    """The transform by one FFT of the dense law."""
    law = np.zeros(size)
    np.add.at(law, residues, weights)
    entries = np.fft.rfft(law)
    chunks = (entries[start : start + CHUNK] for start in range(0, len(entries), CHUNK))
    # Every entry is a sum of masses that add up to 1, through log2(size) levels of rounding.
    return chunks, (len(weights) + 10 * math.log2(size)) * UNIT_ROUNDOFF
