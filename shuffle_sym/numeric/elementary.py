r"""Elementary functions of complex numbers that lose few digits, and where they may lose some."""

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

_TINY = 1e-290
_OCTAVES = 11
COARSE = np.concatenate([0.25 * np.arange(17), np.outer(2.0 ** np.arange(_OCTAVES), [6, 8]).ravel()])  # of rough sums
_MOST_DOUBLINGS = 12
DOUBLINGS = 6 * _MOST_DOUBLINGS  # roundings
_MANY, _MUCH = 40, 2**14  # nodes, and products with values, for which it is worth a look whether numbers are few


def rotations(step: Array, nodes: Array, halves: Array, weights: Array, *, octaves: bool = False) -> Complex:
    """Σ_j q_j (e^{2iyh_j} − 1) at y = step·node, for each row of steps, halves h and weights q.

    Where many nodes are sums of few numbers, such as 0, 1, 2, …, e^{i(a + b)} − 1 = A + B + AB with A = e^{ia} − 1 and
    B = e^{ib} − 1: the sums over j are then products of matrices. With ``octaves``, where large nodes are few numbers
    times powers of 2, e^{2ia} − 1 = A(2 + A).

    With u the unit round-off and J values, A and B are off by 20u of themselves (8u of the tangent are as much of the
    quotient, whose operations add 3u, and twice as much of its product with the tangent), products with q by u, sums by
    Ju of |A| or |B|; AB by 45u and 2Ju of itself; |A| <= |a|, |B| <= |b| and |AB| <= |a| + |b|: together by less than
    (3J + 72)u of Σ_j q_j |2yh_j|, the roundings of y and of yh apart. To double an angle adds 6u of it, and there are
    at most 12 of that (`DOUBLINGS`).
    """
    if len(nodes) >= _MANY and len(nodes) * halves.size >= _MUCH:
        most = 2.0 * len(nodes) if octaves else math.inf
        small = nodes <= most
        width = 2 ** (len(nodes).bit_length() // 2)  # nodes may come in runs of 8
        near = np.fmod(nodes[small], width)
        (fars, i), (nears, j) = (np.unique(part, return_inverse=True) for part in (nodes[small] - near, near))
        doublings = np.ceil(np.log2(np.maximum(nodes / most, 1.0)))
        bases, k = np.unique((nodes / 2**doublings)[~small], return_inverse=True)
        if doublings.max() <= _MOST_DOUBLINGS and 2 * (len(fars) + len(nears) + len(bases)) <= len(nodes):
            far, near, turns = (to_complex(*_turns(step[:, None] * part, halves)) for part in (fars, nears, bases))
            far *= weights[:, None, :]
            sums = far @ near.swapaxes(1, 2)
            sums += far.sum(axis=2)[:, :, None] + (near @ weights[:, :, None]).swapaxes(1, 2)
            answers = np.empty((len(step), len(nodes)), dtype=complex)
            answers[:, small] = sums[:, i, j]
            doubled = []
            for _ in range(int(doublings.max())):
                turns *= 2 + turns
                doubled.append((turns @ weights[:, :, None])[:, :, 0])
            if doubled:
                answers[:, ~small] = np.array(doubled)[doublings[~small].astype(int) - 1, :, k].T
            return answers
    return to_complex(*(times(part, weights) for part in _turns(step[:, None] * nodes, halves)))


def _turns(y: Array, halves: Array) -> tuple[Array, Array]:
    """e^{2iyh} − 1, real and imaginary part, by t = tan yh: −2 sin² = −2t²/(1 + t²), 2 sin cos = 2t/(1 + t²)."""
    tangents = np.tan(y[:, :, None] * halves[:, None, :])
    ratios = tangents / (1 + tangents * tangents)
    ratios *= 2
    return -tangents * ratios, ratios


def coarse_waves(x: Array) -> Complex:
    """About e^{icx} for each c of `COARSE`, on an axis before the last one: powers of the first one, then squares."""
    powers = np.multiply.accumulate(np.repeat(np.exp(0.25j * x)[..., None, :], 16, axis=-2), axis=-2)
    two, four = powers[..., 7:8, :], powers[..., 15:, :]
    waves = [np.ones_like(two), powers, np.concatenate([two * four, four * four], axis=-2)]
    for _ in range(_OCTAVES - 1):
        waves.append(waves[-1] * waves[-1])
    return np.concatenate(waves, axis=-2)


def times(x: Array, weights: Array) -> Array:
    """Σ_j x_{ikj} w_{ij}."""
    return np.asarray((x @ weights[:, :, None])[:, :, 0])


def to_complex(real: Array, imaginary: Array) -> Complex:
    """Complex numbers from their two parts."""
    return np.asarray(real + 1j * imaginary, dtype=complex)


def expm1(z: Complex) -> Complex:
    """e^z − 1, with an error of a few u next to |z| + |e^z − 1|."""
    real = np.expm1(z.real) * np.cos(z.imag) - 2 * np.sin(z.imag / 2) ** 2
    return to_complex(real, np.exp(z.real) * np.sin(z.imag))


def log1p(real: Array, imaginary: Array) -> tuple[Array, Array]:
    """log(1 + w): real part and argument, to within a few u |w| where |1 + w| is near 1, a few u elsewhere."""
    excess, modulus = real * (2 + real) + imaginary * imaginary, np.hypot(1 + real, imaginary)
    near = np.abs(excess) < 0.5
    logs = np.where(near, np.log1p(np.where(near, excess, 0.0)) / 2, np.log(np.maximum(modulus, _TINY)))
    return logs, np.arctan2(imaginary, 1 + real)
