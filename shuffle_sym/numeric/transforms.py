r"""The moment generating function of a sum of n copies of G on a vertical line, with a bound on every error.

A *sum* here is a positive measure on the line with transform M(s): the law of S = ΣG (`AllSums`, M = φ^n), or that law
without the one atom where all n terms have the same value g₀ <= 0 (`RareSums`): it adds nothing to E[S]_+, and it is
most of the mass when other values are rare. Either knows a point c > 0 near the minimum of log M(s) − 2 log s and,
relative to M(c), what M is elsewhere. F is FLOAT_ERROR, the relative error of values and probabilities; u is the unit
round-off; J values. The true probabilities add up to 1. NumPy's elementary functions are taken to be within 4 units in
the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shuffle_sym.field import FLOAT_ERROR, UNIT_ROUNDOFF

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]

_CHUNK = 2**16
_TINY = 1e-290
_RARE = 30.0  # expected number of rare values up to which the frequent one is taken out
_LOG_ALONE = 40.0  # log M(c)/(mass of the atom) from which on taking it out makes no difference
_LARGEST_EXPONENT = 690.0


class Sums(Protocol):
    """``log_scale`` ± ``log_slack`` is log M(c); everything else is relative to M(c)."""

    n: int
    size: int  # values of G that a node costs
    c: float
    log_scale: float
    log_slack: float
    variance: float  # of the tilted measure; it need not be exact
    total: float  # at least the tilted mean of Σ|G_i|

    def log_growths(self, d: Array) -> Array:
        """Upper bounds of log M(c + d)/M(c)."""

    def powers(self, y: Array) -> tuple[Complex, Array]:
        """M(c + iy)/M(c), and bounds on the error."""

    def quiet(self, left: Array, right: Array, log_level: float) -> npt.NDArray[np.bool_]:
        """Where |M(c + iy)/M(c)| < e^log_level is certain for all y between ``left`` and ``right``."""


def sums(values: Array, probabilities: Array, n: int) -> Sums:
    """What suits the law; ``values`` of both signs, the largest about 1."""
    top = float(np.max(values))
    # A sum with a value below −n·max is negative, whatever the others are: how far below does not matter.
    values, where = np.unique(np.maximum(values, -4.0 * n * top), return_inverse=True)
    merged: Array = np.bincount(where, weights=probabilities).astype(float)
    probabilities = merged
    base = int(np.argmax(np.where(values <= 0, probabilities, 0.0)))
    if n * (1 - probabilities[base]) <= _RARE:
        rare = RareSums(values, probabilities, n, base)
        if rare.exponent < _LOG_ALONE:
            return rare
    return AllSums(values, probabilities, n)


class AllSums:
    r"""All of S, by the tilted probabilities q_j = p_j e^{x_j}/φ(c), x_j = cg_j.

    Inputs included, Σ p_j expm1(x_j) = φ(c) − 1 has an error of at most
    Σ p_j ((F + (2J + 10)u) |expm1(x_j)| + (F + 2u) |x_j| e^{x_j}); summed directly, φ(c) has the relative error
    F + (2J + 10)u + (F + 2u) Σ q_j |x_j|. The smaller one is ``phi_error``, and q_j has the relative error
    phi_error + F + (J + 10)u + (F + 2u) |x_j|. In φ(c + iy)/φ(c) = 1 + Σ q_j (e^{iyg_j} − 1) a product yg_j has the
    error F + 2u, and what follows (sin, cos, the sum, a logarithm, n times it) is fewer than J + 100 roundings of
    something at most 2 Σ q_j |yg_j|: it is known to within |y| · ``drift``.
    """

    def __init__(self, values: Array, probabilities: Array, n: int) -> None:
        self.g, self.n, self.size = values, n, len(values)
        g, p, u, J = values, probabilities, UNIT_ROUNDOFF, len(values)
        self.c = _saddle_point(self._moments(p), n * float(np.max(g)), float(np.max(g)))
        x = self.c * g
        growth, grown = p * np.expm1(x), p * np.exp(x)
        phi, excess = math.fsum(grown), math.fsum(growth)
        bent = float(grown @ np.abs(x))
        factor, exponent, tiny = FLOAT_ERROR + (2 * J + 10) * u, FLOAT_ERROR + 2 * u, J * 2.0**-1070
        directly = (factor * phi + exponent * bent + tiny) / phi
        from_one = (factor * float(np.sum(np.abs(growth))) + exponent * bent + tiny) / phi
        phi_error = 1.01 * min(directly, from_one)
        log_phi = math.log1p(excess) if from_one <= directly else math.log(phi)
        self.log_scale = n * log_phi
        self.log_slack = n * (phi_error + 8 * u * abs(log_phi))
        self.q = grown / phi
        self.q_errors = phi_error + FLOAT_ERROR + (J + 10) * u + exponent * np.abs(x)
        self.drift = float(self.q * np.abs(g) @ (self.q_errors + FLOAT_ERROR + 2 * u * (J + 100)))
        self.spread = float(self.q @ (g - self.q @ g) ** 2)
        self.variance = n * self.spread
        self.total = 1.01 * n * float(self.q @ np.abs(g))

    def _moments(self, p: Array) -> Callable[[float], tuple[float, float]]:
        log_p, g, n = np.log(p), self.g, self.n

        def moments(s: float) -> tuple[float, float]:
            exponents = s * g + log_p
            weights = np.exp(exponents - np.max(exponents))
            weights /= np.sum(weights)
            mean = float(weights @ g)
            return n * mean, n * float(weights @ (g - mean) ** 2)

        return moments

    def log_growths(self, d: Array) -> Array:
        growth = np.expm1(np.multiply.outer(d, self.g))
        # Exponents have an error, too: |x| e^x <= (1 + [x]_+) |expm1(x)|.
        top = 1 + float(np.max(d)) * float(np.max(self.g))
        errors = self.q * (self.q_errors + (self.size + 20) * UNIT_ROUNDOFF + (FLOAT_ERROR + 2 * UNIT_ROUNDOFF) * top)
        logs: Array = np.log1p(np.maximum(growth @ self.q + np.abs(growth) @ errors, -0.999))
        return self.n * (logs + 8 * UNIT_ROUNDOFF * np.abs(logs))

    def _log_ratios(self, y: Array) -> tuple[Array, Array]:
        """log φ(c + iy)/φ(c): real part and argument."""
        real, imaginary = np.empty(len(y)), np.empty(len(y))
        rows = max(_CHUNK // self.size, 1)
        for i in range(0, len(y), rows):
            x = np.multiply.outer(y[i : i + rows], self.g / 2)
            sines = np.sin(x)
            real[i : i + rows] = (sines * sines) @ (-2 * self.q)
            imaginary[i : i + rows] = (sines * np.cos(x)) @ (2 * self.q)
        return _log1p(real, imaginary)

    def powers(self, y: Array) -> tuple[Complex, Array]:
        n, u = self.n, UNIT_ROUNDOFF
        logs, angles = self._log_ratios(y)
        # |(ζ + η)^n − ζ^n| <= nη (|ζ| + η)^(n−1), η = drift·y; |ζ| is taken as 1/10 at least.
        eta = self.drift * y
        growths = np.exp(np.minimum((n - 1) * (np.maximum(logs, math.log(0.1)) + 10 * eta), 700.0))
        powers = np.exp(n * (logs + 1j * angles))
        return powers, n * eta * growths + 64 * u * np.abs(powers) + 8 * u

    def quiet(self, left: Array, right: Array, log_level: float) -> npt.NDArray[np.bool_]:
        r"""f(y) = |φ(c + iy)/φ(c)|² = Σ q_i q_j cos(y(g_i − g_j)) has |f''| <= 2 Var, so between two points at a
        distance H it is at most the larger value there plus H² Var/4.
        """
        y = np.concatenate([left, right])
        excess = np.expm1(2 * self._log_ratios(y)[0]) + 4 * self.drift * y
        highest = np.maximum(excess[: len(left)], excess[len(left) :]) + (right - left) ** 2 * self.spread / 3.9
        below: npt.NDArray[np.bool_] = self.n / 2 * np.log1p(np.maximum(highest, -0.999)) < log_level
        return below


class RareSums:
    r"""S without the atom n·g₀ of mass p₀^n.

    M(s) = p₀^n e^{nsg₀} ((1 + ψ(s))^n − 1) with ψ(s) = Σ_{j≠0} (p_j/p₀) e^{s(g_j − g₀)}.

    With e_j = g_j − g₀, known to within F (|g_j| + |g₀|) + u|e_j|, a term ψ_j of ψ(c) has the relative error
    2F + (2J + 10)u + c·(that) + 2u|ce_j|, and a term of ψ(c + iy) an error of ψ_j times the same with |y| for c
    more; sums and logarithms are fewer than J + 100 roundings of something at most 2ψ(c). So 1 + ψ(c + iy) is known to
    within ``fixed`` + |y| · ``drift``, and |1 + ψ(c + iy)| <= 1 + ψ(c).
    """

    def __init__(self, values: Array, probabilities: Array, n: int, base: int) -> None:
        u, J, F = UNIT_ROUNDOFF, len(values), FLOAT_ERROR
        self.n, self.size = n, J
        self.g0, p0 = float(values[base]), float(probabilities[base])
        others = np.arange(J) != base
        g, p = values[others], probabilities[others]
        self.e = e = g - self.g0
        self.e_errors = F * (np.abs(g) + abs(self.g0)) + 2 * u * np.abs(e)
        self.c = c = _saddle_point(self._moments(p / p0), n * float(np.max(values)), float(np.max(e)))
        self.psi = p / p0 * np.exp(c * e)
        self.rho = 2 * F + (2 * J + 10) * u + c * self.e_errors + 2 * u * np.abs(c * e)
        psi = float(np.sum(self.psi))
        self.exponent = n * math.log1p(psi)
        self.fixed = float(self.psi @ (self.rho + 2 * (J + 100) * u))
        self.drift = float(self.psi @ (self.e_errors + 2 * u * np.abs(e)))
        gone = -math.expm1(-self.exponent)  # 1 − (mass of the atom)/(mass of everything), tilted
        self.gain = 1.01 * n / (1 + psi) / gone  # of |d(1 + ψ)^n|/M(c) over |dψ|
        rare = float(np.sum(p))
        log_p0 = math.log1p(-rare) if rare < 0.5 else math.log(p0)
        p0_error = 1.01 * (F + 2 * J * u) * min(rare / p0, 1.0) + 8 * u * abs(log_p0)
        log_rest = self.exponent + math.log(gone)  # log((1 + ψ(c))^n − 1)
        self.log_scale = n * (log_p0 + c * self.g0) + log_rest
        self.log_slack = 2 * n * (p0_error + (F + 2 * u) * c * abs(self.g0)) + self.gain * self.fixed
        self.log_slack += 8 * u * (2 + self.exponent + abs(log_rest))
        self.variance = self._moments(p / p0)(c)[1]
        self.total = 1.01 * (n * abs(self.g0) + n * float(self.psi @ np.abs(e)) / (1 + psi) / gone)

    def _moments(self, odds: Array) -> Callable[[float], tuple[float, float]]:
        log_odds, e, n = np.log(odds), self.e, self.n

        def moments(s: float) -> tuple[float, float]:
            exponents = s * e + log_odds
            top = max(float(np.max(exponents)), 0.0)
            weights = np.exp(exponents - top)
            rest = float(np.sum(weights))
            log_psi = math.log(max(rest, _TINY)) + top
            exponent = n * (math.log1p(math.exp(log_psi)) if log_psi < 30 else log_psi)
            gone = -math.expm1(-max(exponent, _TINY))
            share = rest + math.exp(-top)
            first, second = float(weights @ e) / share, float(weights @ (e * e)) / share
            mean = n * first / gone
            # Moments about the atom; E(Σe)² = n E e² + n(n − 1) (E e)².
            square = (n * second + n * (n - 1.0) * first * first) / gone
            return n * self.g0 + mean, max(square - mean * mean, 0.0)

        return moments

    def log_growths(self, d: Array) -> Array:
        u, n = UNIT_ROUNDOFF, self.n
        errors = self.rho + (self.size + 20) * u + np.multiply.outer(np.abs(d), self.e_errors + 4 * u * np.abs(self.e))
        psi = np.sum(self.psi * np.exp(np.multiply.outer(d, self.e)) * (1 + 1.01 * errors), axis=-1)
        exponents = n * np.log1p(psi) * (1 + 8 * u)
        logs: Array = exponents + np.log(-np.expm1(-exponents))
        logs -= self.exponent + math.log(-math.expm1(-self.exponent))
        shifts = n * d * self.g0
        slack = 16 * u * (2 + exponents + self.exponent + np.abs(logs)) + (FLOAT_ERROR + 4 * u) * np.abs(shifts)
        logs += shifts + slack + self.log_slack
        return logs

    def powers(self, y: Array) -> tuple[Complex, Array]:
        real, imaginary = np.empty(len(y)), np.empty(len(y))
        rows = max(_CHUNK // self.size, 1)
        for i in range(0, len(y), rows):
            x = np.multiply.outer(y[i : i + rows], self.e)
            real[i : i + rows] = np.cos(x) @ self.psi
            imaginary[i : i + rows] = np.sin(x) @ self.psi
        logs, angles = _log1p(real, imaginary)
        logs, angles = self.n * logs, self.n * angles
        # e^{a + ib} − 1 = expm1(a) cos b − 2 sin²(b/2) + i e^a sin b, here divided by e^exponent
        unit = math.exp(-self.exponent)
        heights = np.exp(logs - self.exponent)
        rest = unit * (np.expm1(logs) * np.cos(angles) - 2 * np.sin(angles / 2) ** 2) + 1j * heights * np.sin(angles)
        turn = self.n * self.g0 * y
        powers = rest / -math.expm1(-self.exponent) * np.exp(1j * turn)
        errors = self.gain * (self.fixed + self.drift * y) + (FLOAT_ERROR + 4 * UNIT_ROUNDOFF) * np.abs(turn)
        return powers, errors + 64 * UNIT_ROUNDOFF

    def quiet(self, left: Array, right: Array, log_level: float) -> npt.NDArray[np.bool_]:
        return np.zeros(len(left), dtype=bool)


def _log1p(real: Array, imaginary: Array) -> tuple[Array, Array]:
    """log(1 + w): real part and argument, to within a few u |w| where |1 + w| is near 1, a few u elsewhere."""
    excess = real * (2 + real) + imaginary * imaginary
    near = np.abs(excess) < 0.5
    modulus = np.hypot(1 + real, imaginary)
    logs = np.where(near, np.log1p(np.where(near, excess, 0.0)) / 2, np.log(np.maximum(modulus, _TINY)))
    return logs, np.arctan2(imaginary, 1 + real)


def _saddle_point(moments: Callable[[float], tuple[float, float]], reach: float, top: float) -> float:
    r"""The s > 0 that minimises log M(s) − 2 log s, to a few digits: any s > 0 is right, this one is best.

    Newton's method for the slope, mean(s) − 2/s, which increases, inside a bracket that shrinks. ``reach`` is at least
    the largest sum; s·top stays below the largest exponent.
    """
    low, high = 1 / reach, _LARGEST_EXPONENT / top
    mean, variance = moments(low)
    # Of a normal law with this mean and variance
    s = low + (math.sqrt(mean * mean + 8 * variance) - mean) / max(2 * variance, _TINY)
    for _ in range(200):
        if not low < s < high:
            s = math.sqrt(low * high)
        mean, variance = moments(s)
        slope, curvature = mean - 2 / s, variance + 2 / (s * s)
        low, high = (s, high) if slope < 0 else (low, s)
        s -= slope / curvature
        if abs(slope) < 0.05 * math.sqrt(curvature) or high - low < 1e-3 * low:
            break
    return min(max(s, low), high)
