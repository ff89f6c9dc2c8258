r"""Certified :math:`\frac1n \mathbb E[G_1 + \dots + G_n]_+` by a mean-preserving lattice and one FFT.

Every value of G is split between its two neighbours on a lattice so that its mean stays. The lattice sum T is
larger than S = ΣG in convex order and :math:`[\cdot]_+` is convex, so :math:`\mathbb E[S]_+ \le \mathbb E[T]_+`,
with an error that is quadratic in the spacing. With V = T − S, a sum of independent terms of mean zero, only changes of
sign cost anything, which gives the lower end: for every v > 0

.. math:: \mathbb E[S]_+ \ge \mathbb E[T]_+ - \mathbb E[|T|;\,|T| \le v] - \mathbb E[|V|;\,|V| > v].

The lattice law is tilted by :math:`e^{\theta x}` at the saddle point before the FFT and untilted after it, so that
small values keep *relative* accuracy. Where each error goes:

===================  =====================================================================================
values of G          shifted up by their error; the shift is given back in the lower end
probabilities        E[S]_+ has positive coefficients in them: a factor (1 ± κu)^n
window (aliasing)    what is folded in only adds; what is cut off, and the fold, are bounded by Chernoff
FFT, n-th power      Euclidean norm of the error times that of the weights (Cauchy–Schwarz)
===================  =====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST, UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import Array, self_convolution, transform
from shuffle_sym.numeric.tilting import saddle_point, scaled, tail_reach, tilted
from shuffle_sym.numeric.transforms import refusal, told

MAX_POINTS = 2**24
_FEWEST_POINTS = 2**10
_LOG_OUTSIDE = math.log(1e-24)  # tilted mass that may lie outside the window, each side
_UNDERFLOW = 1e-290  # bounds each tilted weight that is not a normal double


def positive_part(values: Array, probabilities: Array, n: int, rtol: float, max_points: int = MAX_POINTS) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`, refined until their width is at most ``rtol`` of the upper end.

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR. Cost: O(√n) lattice
    points for a fixed ``rtol``; more than ``max_points`` raise.
    """
    if np.max(values) <= 0:
        return Interval(0.0, 0.0)
    # Everything is homogeneous in G: values around 1 keep what is squared or exponentiated inside the doubles.
    unit = 2.0 ** math.floor(math.log2(float(np.max(values))))
    with np.errstate(over="ignore"):  # −inf is moved up again
        problem = _Problem.of(values / unit, probabilities, n, math.log(unit))
    spacing = problem.first_spacing(rtol)
    lower, upper, blurred = 0.0, math.inf, 0
    while True:
        lattice = _Lattice(problem, spacing)
        if lattice.size > max_points or blurred == 3:
            reached = (upper - lower) / upper if upper < math.inf else math.inf
            needed = "more than doubles can give" if blurred == 3 else f"more than {max_points} lattice points"
            raise refusal(n, rtol, reached, needed)
        below, above = lattice.bounds(rtol)
        # A finer lattice has a smaller discretisation error: if its upper end is higher, round-off takes over.
        blurred += above > upper * (1 + rtol / 4)
        lower, upper = max(lower, below), min(upper, above)
        if upper < math.inf and (upper - lower <= rtol * upper or upper < SMALLEST):
            return told(lower, upper)
        spacing /= 2


@dataclass(frozen=True)
class _Problem:
    """G with its values moved up by their error, so that every bound from above stays one."""

    values: Array
    shifts: Array  # how far a value may be above the true one
    probabilities: Array
    n: int
    log_unit: float  # of the values

    @staticmethod
    def of(values: Array, probabilities: Array, n: int, log_unit: float = 0.0) -> _Problem:
        # A sum with a value below −n·max is negative, whatever the others are: how far below does not matter.
        values = np.maximum(values, -4.0 * n * float(np.max(values)))
        errors = FLOAT_ERROR * np.abs(values)
        # Twice the error: it covers the rounding of this sum as well.
        return _Problem(values + 2 * errors, 4 * errors, probabilities, n, log_unit)

    def first_spacing(self, rtol: float) -> float:
        """A power of two that should do: the lower end loses about (vθ)². Nothing relies on the guess."""
        n, g, p = self.n, self.values, self.probabilities
        theta = saddle_point(g, p, n)
        weights, log_scale = tilted(g, p, theta)
        variance = max(n * float(weights @ (g - weights @ g) ** 2) + 2 * (1 / theta) ** 2, 1e-300)
        log_size = n * log_scale - 2 * math.log(theta) - 0.5 * math.log(2 * math.pi * variance)
        if log_size + self.log_unit < math.log(SMALLEST):
            rtol = 0.5  # no double is that small: an upper end is all that can be told
        noise = n * float(np.sum(p[g != 0])) / 4
        v_over_spacing = math.sqrt(2 * noise * max(1.0, -math.log(1e-3 * rtol) - log_size - math.log(theta)))
        spacing = min(math.sqrt(rtol) / (theta * min(v_over_spacing, n)), n * float(np.max(np.abs(g))) / _FEWEST_POINTS)
        return 2.0 ** math.floor(math.log2(spacing))


class _Lattice:
    """The sum T on a lattice with one spacing, tilted, inside a window of ``size`` points."""

    def __init__(self, problem: _Problem, spacing: float) -> None:
        p = problem.probabilities
        # The spacing is a power of two: quotient, floor and fraction are exact in doubles.
        quotients = problem.values / spacing
        floors = np.floor(quotients)
        self.n, self.spacing = problem.n, spacing
        self.problem = problem
        self.fractions = quotients - floors
        places = np.concatenate([floors, floors + 1])
        weights = np.concatenate([p * (1 - self.fractions), p * self.fractions])
        shifts = np.concatenate([problem.shifts, problem.shifts])
        self.theta = saddle_point(places * spacing, weights, self.n)
        tilted_weights, self.log_scale = tilted(places * spacing, weights, self.theta)
        kept = tilted_weights > _UNDERFLOW
        self.places, self.weights, self.shifts = places[kept], tilted_weights[kept], shifts[kept]
        self.support = self.places * spacing
        self._set_window()

    def _set_window(self) -> None:
        """Indices low … low + size − 1 of the sum; tilted mass outside them is at most ``outside``."""
        n, step = self.n, self.spacing
        down, log_below = tail_reach(-self.support, self.weights, n, _LOG_OUTSIDE)
        up, log_above = tail_reach(self.support, self.weights, n, _LOG_OUTSIDE)
        low = max(math.floor(-down / step) - 1, n * int(self.places.min()))
        high = min(math.ceil(up / step) + 1, n * int(self.places.max()))
        # 0 is in the window, so that everything positive in it lies to its right.
        self.low, high = min(low, 0), max(high, 1)
        self.size = 2 ** math.ceil(math.log2(high - self.low + 1))
        self.outside = math.exp(log_below) + math.exp(log_above) + n * len(self.problem.values) * 2 * _UNDERFLOW

    @cached_property
    def _law(self) -> tuple[Array, float]:
        """Probabilities at low … low + size − 1, wrapped around, and the 2-norm of their error."""
        chunks, eta = transform(self.places, self.weights, self.size)
        law, error = self_convolution(chunks, eta, self.n, self.size)
        return np.roll(law, -(self.low % self.size)), error

    def _moment(self, first: int, last: int) -> tuple[float, float]:
        r"""Σ P(s) |x| e^{−θx}, x = s·spacing, over first <= s <= last, within the window, and a bound on its error."""
        law, error = self._law
        first, last = max(first, self.low), min(last, self.low + self.size - 1)
        x = np.arange(first, last + 1) * self.spacing
        exponents = self.theta * x
        moments = np.abs(x) * np.exp(-exponents)
        inside = law[first - self.low : last + 1 - self.low]
        rounding = (len(x) + 8 + 4 * float(np.max(np.abs(exponents), initial=0.0))) * UNIT_ROUNDOFF
        # Sums of products rather than `@`: the threads of a BLAS cost more than they save on a busy machine.
        total, size = float(np.sum(inside * moments)), float(np.sum(np.abs(inside) * moments))
        return total, error * math.sqrt(float(np.sum(moments**2))) + rounding * size

    def bounds(self, rtol: float) -> tuple[float, float]:
        n, theta = self.n, self.theta
        value, error = self._moment(1, self.low + self.size - 1)
        cut_off = self.outside / (math.e * theta)  # x e^{−θx} <= 1/(eθ)
        # The values were moved up, and a fraction in doubles is within u of the exact one. What this adds is at
        # most E[Σ shifts; S > 0], and on average 1{S > 0} <= e^{θT}.
        rounding = n * UNIT_ROUNDOFF * self.spacing
        moved = n * float(self.weights @ self.shifts + _UNDERFLOW * np.sum(self.problem.shifts)) + rounding
        v, log_beyond = self._sign_change_range(math.log(1e-2 * rtol * max(value, 1e-300)) + n * self.log_scale)
        last = math.floor(v / self.spacing) + 1
        near, near_error = self._moment(-last, last)
        widest = (last + 1) * self.spacing
        near_error += self.outside * widest * math.exp(min(theta * widest, 700.0))
        # Roundings in the weights, in tilting them and back, and in logarithms that are multiplied by n.
        reach = float(np.max(np.abs(theta * self.support)))
        slack = n * UNIT_ROUNDOFF * (12 + 4 * reach + 4 * abs(self.log_scale))
        log_n = math.log(n) - self.problem.log_unit
        log_total = n * self.log_scale - log_n
        slack += 8 * UNIT_ROUNDOFF * (abs(log_total) + abs(log_n) + 800)
        upper = scaled(value + error + cut_off + rounding, log_total + slack)
        lower = scaled(value - error - cut_off, log_total - slack)
        lower -= scaled(moved + near + near_error, log_total + slack)
        lower -= scaled(1.0, log_beyond - log_n + slack)
        return max(lower, 0.0), upper

    def _sign_change_range(self, log_target: float) -> tuple[float, float]:
        r"""A v and log of a bound on E[|V|; |V| > v], about ``log_target`` or less.

        Each term of V is −f or 1 − f spacings, with mean zero. By Chernoff, for every λ > 0,
        E[V; V > v] <= (v + 1/λ) e^{n K(λ) − λv}.
        """
        n, step, f, p = self.n, self.spacing, self.fractions, self.problem.probabilities
        largest = n * step
        if np.all((f == 0) | (f == 1)):
            return 0.0, -math.inf  # every value is on the lattice
        noise = max(n * float(p @ (f * (1 - f))), 1e-300) * step * step
        rates = np.concatenate([np.geomspace(0.1, 100, 61) / math.sqrt(noise), np.geomspace(0.05, 50, 41) / step])
        rates = rates[rates * step <= 50]
        x = np.multiply.outer(rates * step, np.stack([f, -(1 - f)]))
        growths = np.maximum(
            (np.expm1(-x[:, 0]) * (1 - f) + np.expm1(-x[:, 1]) * f) @ p,
            (np.expm1(x[:, 0]) * (1 - f) + np.expm1(x[:, 1]) * f) @ p,
        )
        # log(1 + y) <= y; the roundings of the two terms, which cancel, are at most 8u(1 + λ·spacing); λ·spacing <= 50.
        rounding = 408 * UNIT_ROUNDOFF * np.exp(rates * step)
        log_mgfs = n * (np.maximum(growths, 0.0) + rounding)
        reaches = (log_mgfs - log_target + np.log(2 * (20 * math.sqrt(noise) + 1 / rates))) / rates
        if not len(rates) or np.min(reaches) >= largest:
            return largest, -math.inf  # |V| is never larger
        best = int(np.argmin(reaches))
        v, rate = max(float(reaches[best]), step), float(rates[best])
        return v, math.log(2 * (v + 1 / rate)) + float(log_mgfs[best]) - rate * v
