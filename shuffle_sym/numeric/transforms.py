r"""Moment generating functions of sums of n copies of G on vertical lines, with a bound on every error.

A *sum* here is a positive measure on the line with transform M(s): the law of S = ΣG (`AllSums`, M = φ^n), or that law
without the outcomes in which no term is positive (`RareSums`), which add nothing to E[S]_+ and are most of the mass
when positive values are rare. Either knows a point c > 0 near the minimum of log M(s) − 2 log s and, relative to M(c),
what M is elsewhere. Everything is for several laws of G at once, which differ in their values only (G at several α):
arrays have one row for each. F is the relative error of values and E that of probabilities; u the unit round-off; J
values. The true probabilities add up to 1. NumPy's elementary functions are taken to be within 4 units in the last
place.

It begins with elementary functions of complex numbers that lose few digits, and with some that may lose them, for rough
sums.
"""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST, SUBNORMAL_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.search import increasing_roots

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]
Mask = npt.NDArray[np.bool_]

_TINY = 1e-290


# -- elementary functions

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


# -- sums

_CHUNK = 2**19
_RARE = 30.0  # expected number of positive terms up to which outcomes without any are taken out
_LOG_ALONE = 40.0  # log (φ/φ₋)^n at c from which on taking them out makes no difference
_LARGEST_EXPONENT = 690.0
_FAR = 30.0  # exponents from which on the logarithm of a weight is what is added to


class Rows:
    """Numbers of several laws: attributes that are arrays, or Rows themselves, have one row for each law."""

    def take(self, rows: Any) -> Self:
        """Everything here, for some of the laws only."""
        some = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(some, name, value[rows])
            elif isinstance(value, Rows):
                setattr(some, name, value.take(rows))
        return some


class Sums(Rows):
    """A measure with transform M. ``log_scale`` ± ``log_slack`` is log M(c); everything else is relative to M(c)."""

    n: int
    size: int  # values of G that a node costs
    patience = 1  # how much more work than usual may be done
    uneven = False  # whether the error of M may be much larger at some nodes
    c: Array
    log_scale: Array
    log_slack: Array
    variance: Array  # of the tilted measure; it need not be exact
    total: Array  # at least the tilted mean of Σ|G_i|

    def log_growths(self, d: Array) -> Array:
        """Upper bounds of log M(c + d)/M(c)."""
        raise NotImplementedError

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        """M(c + iy)/M(c) at y = step·node, one step for each law, and bounds on the error."""
        raise NotImplementedError

    def quiet(self, step: Array, nodes: Array, log_level: float) -> Mask:
        """Where it is known that |M(c + iy)/M(c)| < e^log_level for all y from step·node to step·(node + 1)."""
        return np.zeros((len(step), len(nodes)), dtype=bool)


def checked(values: Array, probabilities: Array, n: int, rtol: float) -> tuple[Array, Array]:
    """The laws without values that are impossible in each of them, or a ValueError that names what is wrong. There is
    one law, or one in each row, with probabilities of its own or the same ones."""
    g, p = np.asarray(values, dtype=float), np.asarray(probabilities, dtype=float)
    fits = p.size > 0 and g.ndim in (1, 2) and p.shape in (g.shape, g.shape[-1:])
    if not fits or not (np.isfinite(g).all() and np.isfinite(p).all()):
        raise ValueError("values and probabilities must be two finite arrays of the same length >= 1")
    least, totals = p.min(), [math.fsum(row) for row in p.reshape(-1, p.shape[-1]).tolist()]
    total = max(totals, key=lambda total: abs(total - 1))
    if least < 0 or abs(total - 1) > 2 * FLOAT_ERROR:
        raise ValueError(f"probabilities must be non-negative and add up to 1, their sum is {total!r}")
    if n < 1 or n > 2**53:
        raise ValueError(f"n must be an integer from 1 to 2^53, got {n!r}")
    if not 0 < rtol < 1:
        raise ValueError(f"rtol must be between 0 and 1, got {rtol!r}")
    if least > 0:
        return g, p
    possible = p.reshape(-1, p.shape[-1]).max(axis=0) > 0
    return g[..., possible], p[..., possible]


def told(lower: float, upper: float) -> Interval:
    """Bounds as doubles can tell them: below SMALLEST from 0, and to more than what rounding there may take away."""
    return Interval(lower if lower > SMALLEST else 0.0, upper + SUBNORMAL_ERROR)


class NotSharpError(ValueError):
    """The error for bounds that are wider than they should be."""

    reached = 1.0  # their relative width; 1 if nothing is known


def refusal(n: int, rtol: float, reached: float, needed: str) -> NotSharpError:
    """The error for an ``rtol`` that cannot be met; ``reached`` is the relative width so far, or inf."""
    so_far = f"{reached:.2g} was reached: ask for a larger rtol" if reached < 0.99 else "ask for a larger rtol"
    error = NotSharpError(f"bounds within a relative {rtol:.2g} of each other at n = {n} need {needed}; {so_far}")
    error.reached = min(reached, 1.0)
    return error


def sums(values: Array, probabilities: Array, n: int, value_error: float) -> Iterator[tuple[Any, Sums]]:
    """`AllSums` or `RareSums`, whichever suits a law, with the numbers of the rows it is for; n >= 2, and each row of
    ``values`` has both signs and a largest one about 1."""
    # A sum with a value below −n·max is negative, whatever the others are: how far below does not matter.
    values = np.maximum(values, -4.0 * n * values.max(axis=1, keepdims=True))
    positive = values > 0
    rare = n * (positive @ probabilities) <= _RARE
    alike: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(rare).tolist():
        alike.setdefault(positive[i].tobytes(), []).append(i)
    for rows in map(np.array, alike.values()):
        try:
            law = RareSums(values[rows], probabilities, n, value_error)
        except ValueError:  # the values <= 0 are so low that none of them is left after tilting
            rare[rows] = False
            continue
        alone = law.exponent < _LOG_ALONE
        rare[rows[~alone]] = False
        if alone.any():
            yield rows[alone], law if alone.all() else law.take(alone)
    rows = np.flatnonzero(~rare)
    if len(rows):
        yield rows, AllSums(values[rows], probabilities, n, value_error)


class _Tilted(Rows):
    r"""The law q_j = p_j e^{x_j}/φ(c), x_j = cg_j, of one term.

    Inputs included, Σ p_j expm1(x_j) = φ(c) − 1 has an error of at most
    Σ p_j ((E + (2J + 10)u) |expm1(x_j)| + (F + 2u) |x_j| e^{x_j}); summed directly, φ(c) has the relative error
    E + (2J + 10)u + (F + 2u) Σ q_j |x_j|. The smaller one is ``phi_error``, and q_j has the relative error
    phi_error + E + (J + 10)u + (F + 2u) |x_j|. In φ(c + iy)/φ(c) = 1 + Σ q_j (e^{iyg_j} − 1) a product yg_j has the
    error F + 4u, and what follows (`rotations` (3J + 72)u, the logarithm and n times it 36u) is relative to
    Σ q_j |yg_j|: it is known to within |y| · ``drift``.
    """

    def __init__(self, values: Array, probabilities: Array, c: Array, value_error: float, error: float) -> None:
        self.g, p, u, J, x = values, probabilities, UNIT_ROUNDOFF, values.shape[1], c[:, None] * values
        growth, grown = p * np.expm1(x), p * np.exp(x)
        phi, excess = grown.sum(axis=1), growth.sum(axis=1)
        if phi.min() < _TINY:
            raise ValueError("the tilted law has no mass that doubles can hold; ask for another method")
        bent = (grown * np.abs(x)).sum(axis=1)
        factor, self.exponent, tiny = error + (2 * J + 10) * u, value_error + 2 * u, J * 2.0**-1070
        directly = (factor * phi + self.exponent * bent + tiny) / phi
        from_one = (factor * np.abs(growth).sum(axis=1) + self.exponent * bent + tiny) / phi
        near = from_one <= directly
        self.log_phi = np.where(near, np.log1p(np.where(near, excess, 0.0)), np.log(phi))
        phi_error = 1.01 * np.minimum(directly, from_one)
        self.log_error = phi_error + 8 * u * np.abs(self.log_phi)
        self.q = grown / phi[:, None]
        self.logs_q = x + np.log(np.maximum(p, 5e-324)) - self.log_phi[:, None]
        self.q_errors = phi_error[:, None] + error + (J + 10) * u + self.exponent * np.abs(x)
        self.drift = (self.q * np.abs(values) * (self.q_errors + value_error + (3 * J + 112) * u)).sum(axis=1)

    def log_growths(self, d: Array) -> tuple[Array, Array]:
        """log φ(c + d)/φ(c), and bounds on its error."""
        exponents = d[:, :, None] * self.g[:, None, :]
        q, logs_q = self.q[:, None, :], self.logs_q[:, None, :] + exponents
        # Exponents have an error, too: |x| e^x <= (1 + [x]_+) |expm1(x)|.
        rounding = (self.g.shape[1] + 20) * UNIT_ROUNDOFF
        errors = self.q_errors[:, None, :] + rounding + self.exponent * (1 + np.maximum(exponents, 0.0))
        growth, far = q * np.expm1(np.minimum(exponents, _FAR)), exponents > _FAR
        if far.any():
            # A value far below may have next to no weight after tilting, and grow by more than doubles hold.
            errors = np.where(far, errors + 8 * UNIT_ROUNDOFF * (np.abs(logs_q) + np.abs(exponents)), errors)
            growth = np.where(far, np.exp(np.minimum(logs_q, _LARGEST_EXPONENT)) - q, growth)
        tops = logs_q + errors
        beyond = (far & (tops > _LARGEST_EXPONENT)) | ((errors > 1) & (tops > -_LARGEST_EXPONENT))
        excess = np.maximum(growth.sum(axis=-1), -0.999)
        logs, small = np.asarray(np.log1p(excess)), np.minimum(errors, 1.0)
        sizes = (np.abs(growth) * (small * (1 + small)) + _TINY).sum(axis=-1)  # e^x − 1 <= x + x² up to x = 1
        bounds = 1.01 * sizes / (1 + excess) + 8 * UNIT_ROUNDOFF * np.abs(logs)
        # Where doubles end, no bound: an infinite error.
        return logs, np.where(beyond.any(axis=-1), np.inf, bounds)

    def log_ratios(self, step: Array, nodes: Array) -> tuple[Array, Array]:
        """log φ(c + iy)/φ(c) at y = step·node: real part and argument."""
        rotated = _rotated(step, nodes, self.g, self.q)
        return log1p(rotated.real, rotated.imag)


class AllSums(Sums):
    """The law of S without the outcomes in which all terms are exactly 0: M = φ^n − Pr[G = 0]^n. They add nothing to
    E[S]_+, and with few terms they are most of the mass. ``log_scale`` is that of φ(c)^n still."""

    def __init__(
        self, values: Array, probabilities: Array, n: int, value_error: float, error: float = FLOAT_ERROR
    ) -> None:
        self.n, self.size = n, values.shape[1]
        log_p, top = np.log(probabilities), values.max(axis=1)

        def moments(s: Array) -> tuple[Array, Array]:
            mean, variance, _ = _moments(s, values, log_p)
            return n * mean, n * variance

        self.c = _saddle_points(moments, n * top, top)
        self.one = one = _Tilted(values, probabilities, self.c, value_error, error)
        self.log_scale, self.log_slack = n * one.log_phi, n * one.log_error
        mean = (one.q * values).sum(axis=1, keepdims=True)
        self.spread = (one.q * (values - mean) ** 2).sum(axis=1)
        self.variance = n * self.spread
        self.total = 1.01 * n * (one.q * np.abs(values)).sum(axis=1)
        self.leave_out_zero((values == 0) @ probabilities, error)

    def leave_out_zero(self, mass: Array, error: Any) -> None:
        """The probability that all terms are 0, over φ(c)^n: of the mass at 0 with a relative error."""
        logs = np.where(mass > 0, self.n * (np.log(np.maximum(mass, _TINY)) - self.one.log_phi), -np.inf)
        self.all_zero = np.exp(logs)
        off = self.n * (error + self.one.log_error + 16 * UNIT_ROUNDOFF * (1 + np.abs(self.one.log_phi)))
        self.all_zero_error = self.all_zero * np.minimum(1.1 * off, 1.0)

    def log_growths(self, d: Array) -> Array:
        logs, errors = self.one.log_growths(d)
        return np.asarray(self.n * (logs + errors))

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        n, u = self.n, UNIT_ROUNDOFF
        logs, angles = self.one.log_ratios(step, nodes)
        # |(ζ + η)^n − ζ^n| <= nη (|ζ| + η)^(n−1); |ζ| is taken as 1/10 at least.
        eta = self.off(step[:, None] * nodes)
        growths = np.exp(np.minimum((n - 1) * (np.maximum(logs, math.log(0.1)) + 10 * eta), 700.0))
        powers = np.exp(n * to_complex(logs, angles))
        errors = n * eta * growths + 64 * u * np.abs(powers) + 8 * u + self.all_zero_error[:, None]
        return powers - self.all_zero[:, None], errors

    def off(self, y: Array) -> Array:
        """A bound on the error of φ(c + iy)/φ(c)."""
        return np.asarray(self.one.drift[:, None] * y)

    def quiet(self, step: Array, nodes: Array, log_level: float) -> Mask:
        r"""f(y) = |φ(c + iy)/φ(c)|² = Σ q_i q_j cos(y(g_i − g_j)) has |f''| <= 2 Var, so between two points at a
        distance H it is at most the larger value there plus H² Var/4.
        """
        # The right end of an interval is often the left end of the next one.
        ends, both = np.unique([nodes, nodes + 1], return_inverse=True)
        excess = np.expm1(2 * self.one.log_ratios(step, ends)[0]) + 4 * (self.one.drift * step)[:, None] * ends
        highest = excess[:, both.reshape(2, -1)].max(axis=1) + (step**2 * self.spread / 3.9)[:, None]
        low = self.n / 2 * np.log1p(np.maximum(highest, -0.999)) < log_level - 0.7
        return np.asarray(low & (2 * self.all_zero[:, None] < math.exp(log_level)))


class RareSums(Sums):
    r"""The law of S where some term is positive: M = φ^n − φ₋^n, with φ₋ the part of φ from values <= 0.

    Relative to φ₋(c)^n that is (A + B)^n − A^n with A = φ₋(c + iy)/φ₋(c), the transform of a tilted law, |A| <= 1, and
    B = Σ_{g_j > 0} ψ_j e^{iyg_j}, ψ_j = p_j e^{cg_j}/φ₋(c), |B| <= ψ = Σ ψ_j; M(c) becomes (1 + ψ)^n − 1. Its
    derivatives are at most n(1 + ψ)^(n−1) in B, and n((1 + ψ)^(n−1) − 1) <= n M(c) in A: small errors of either are
    small next to M(c), however small that is. B is known to within ``fixed`` + |y| · ``drift``: its roundings are
    those of `rotations`, where no factor is above 2, and of one more sum.
    """

    def __init__(self, values: Array, probabilities: Array, n: int, value_error: float) -> None:
        u, J, E = UNIT_ROUNDOFF, values.shape[1], FLOAT_ERROR
        self.n, self.size, self.value_error = n, J, value_error
        positive = values[0] > 0  # the same for all rows
        g, p, lows, low_p = values[:, positive], probabilities[positive], values[:, ~positive], probabilities[~positive]
        log_p, low_log_p = np.log(p), np.log(low_p)

        def moments(s: Array) -> tuple[Array, Array]:
            low_mean, low_variance, low_log = _moments(s, lows, low_log_p)
            mean, variance, log = _moments(s, g, log_p)
            gone = -np.expm1(-np.maximum(n * np.logaddexp(0.0, log - low_log), _TINY))
            share = np.exp(-np.logaddexp(0.0, low_log - log))
            # About n·low_mean: the first moment, and what the positive values add to the second one
            apart = n * share * (mean - low_mean) / gone
            added = variance - low_variance + (1 - share + n * share) * (mean - low_mean) ** 2
            return n * low_mean + apart, np.maximum(n * low_variance + n * share * added / gone - apart * apart, 0.0)

        self.c = c = _saddle_points(moments, n * g.max(axis=1), g.max(axis=1))
        rare, low = math.fsum(p), math.fsum(low_p)
        self.low = _Tilted(lows, low_p / low, c, value_error, 2 * E + (J + 2) * u)
        log_low_p = math.log1p(-rare) if rare < 0.5 else math.log(low)
        low_error = 1.01 * (E + 2 * J * u) * min(rare / low, 1.0) + 8 * u * abs(log_low_p) + self.low.log_error
        log_low = log_low_p + self.low.log_phi
        exponents = c[:, None] * g + (log_p - log_low[:, None])
        if exponents.max() > _LARGEST_EXPONENT:
            raise ValueError("positive values outweigh the others by more than doubles hold; ask for another method")
        self.g, self.psi = g, np.exp(exponents)
        self.psi_errors = E + low_error[:, None] + (2 * J + 20) * u + (value_error + 2 * u) * c[:, None] * g
        self.psi_errors += 4 * u * (np.abs(log_p) + np.abs(log_low[:, None]))
        psi, lifted = self.psi.sum(axis=1), (self.psi * g).sum(axis=1)
        self.fixed = (self.psi * (self.psi_errors + (13 * J + 400) * u)).sum(axis=1)
        self.drift = lifted * (value_error + 4 * u)
        self.exponent = n * np.log1p(psi)
        gone = -np.expm1(-self.exponent)
        self.log_rest = self.exponent + np.log(gone)  # log((1 + ψ)^n − 1)
        self.gain = 1.01 * n / (1 + psi) / gone  # n(1 + ψ)^(n−1)/M(c)
        self.log_scale = n * log_low + self.log_rest
        self.log_slack = n * low_error + self.gain * self.fixed + 8 * u * (2 + self.exponent + np.abs(self.log_rest))
        self.variance = moments(c)[1]
        low_total = (self.low.q * np.abs(lows)).sum(axis=1)
        self.total = 1.01 * n * (low_total + lifted / (1 + psi) / gone)

    def log_growths(self, d: Array) -> Array:
        u, n = UNIT_ROUNDOFF, self.n
        logs, errors = self.low.log_growths(d)
        lifts = d[:, :, None] * self.g[:, None, :]
        psi_errors = (self.psi_errors + (self.size + 20) * u)[:, None, :] + np.abs(lifts) * (self.value_error + 4 * u)
        known = (lifts.max(axis=-1) <= _LARGEST_EXPONENT) & np.isfinite(errors)
        errors = np.where(known, errors, 0.0)
        growths = np.exp(np.minimum(lifts, _LARGEST_EXPONENT)) * (1 + 1.01 * psi_errors)
        psi = (self.psi[:, None, :] * growths).sum(axis=-1)
        exponents = n * np.log1p(psi * np.exp(-logs)) * (1 + 16 * u)  # (A + B)^n − A^n increases with A
        rests = exponents + np.log(-np.expm1(-exponents))
        bounds: Array = n * (logs + errors) + rests + 16 * u * (2 + exponents + np.abs(rests))
        bounds += (self.log_slack - self.log_rest)[:, None]
        return np.where(known, bounds, np.inf)

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        n, exponent, y = self.n, self.exponent[:, None], step[:, None] * nodes
        B = _rotated(step, nodes, self.g, self.psi) + self.psi.sum(axis=1)[:, None]
        log_A = to_complex(*self.low.log_ratios(step, nodes))
        A = np.exp(log_A)
        near = np.abs(B) <= np.abs(A) / 2  # here the difference is small, and e^z − 1 is what has to be computed
        ratios = np.where(near, B, 0) / np.where(near, A, 1)
        log_total = np.log(np.where(near | (A + B == 0), 1, A + B))
        far = np.where(A + B == 0, 0, np.exp(n * log_total)) - np.exp(n * log_A)
        z = n * to_complex(*log1p(ratios.real, ratios.imag))
        large = z.real > 600  # next to e^z nobody sees the 1
        close = np.where(large, np.exp(n * log_A + z), np.exp(n * log_A) * expm1(np.where(large, 0, z)))
        powers: Complex = np.asarray(np.where(near, close, far) * np.exp(-self.log_rest[:, None]), dtype=complex)
        errors = self.gain[:, None] * (self.fixed[:, None] + self.drift[:, None] * y)
        errors += 1.01 * n * self.low.drift[:, None] * y
        # Near: n|B| (|A| + |B|)^(n−1) <= (1 + exponent) M(c). Else |A + B| <= 3ψ and n <= 140 unless ψ < 1/3, so that
        # n|log(A + B)| |A + B|^n <= 1000 M(c).
        return powers, errors + UNIT_ROUNDOFF * np.where(near, 64 * (1 + exponent), 4096.0)


def _rotated(step: Array, nodes: Array, values: Array, weights: Array) -> Complex:
    """`rotations` by the values, so many nodes at a time that there are not too many products with all values."""
    width = max(_CHUNK // values.size, 1)
    parts = (nodes[i : i + width] for i in range(0, len(nodes), width))
    return np.concatenate([rotations(step, part, values / 2, weights) for part in parts], axis=1)


def _moments(s: Array, values: Array, log_weights: Array) -> tuple[Array, Array, Array]:
    """Mean and variance under weights tilted by e^{sx}, and the logarithm of their sum."""
    exponents = s[:, None] * values + log_weights
    top = exponents.max(axis=1)
    weights = np.exp(exponents - top[:, None])
    total = weights.sum(axis=1)
    mean = (weights * values).sum(axis=1) / total
    return mean, (weights * (values - mean[:, None]) ** 2).sum(axis=1) / total, top + np.log(total)


def _saddle_points(moments: Callable[[Array], tuple[Array, Array]], reach: Array, top: Array) -> Array:
    r"""The s > 0 that minimise log M(s) − 2 log s, to a few digits: any s > 0 is right, these are best.

    The slope, mean(s) − 2/s, increases. ``reach`` is at least the largest sum; s·top stays below the largest exponent.
    """

    def slopes(s: Array) -> tuple[Array, Array]:
        mean, variance = moments(s)
        return mean - 2 / s, variance + 2 / (s * s)

    low, high = 1 / reach, _LARGEST_EXPONENT / top
    mean, variance = moments(low)
    with np.errstate(over="ignore"):
        # Of a normal law with this mean and variance
        start = low + (np.sqrt(mean * mean + 8 * variance) - mean) / np.maximum(2 * variance, _TINY)
    return increasing_roots(slopes, start, low, high, lambda slope, bend: np.abs(slope) < 0.05 * np.sqrt(bend))
