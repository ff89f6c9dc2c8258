r"""Elementary functions of complex numbers that lose few digits, and where they may lose some."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

_TINY = 1e-290


def rotations(y: Array, halves: Array, weights: Array) -> tuple[Array, Array]:
    """Σ_j q_j (e^{2iyh_j} − 1), real and imaginary part, by t = tan yh_j: sin² = t²/(1 + t²), sin cos = t/(1 + t²)."""
    tangents = np.tan(y[:, :, None] * halves[:, None, :])
    ratios = tangents / (1 + tangents * tangents)
    return times(tangents * ratios, -2 * weights), times(ratios, 2 * weights)


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
