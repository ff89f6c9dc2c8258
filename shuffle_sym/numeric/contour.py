r"""Certified :math:`\frac1n \mathbb E[G_1 + \dots + G_n]_+` by a contour integral, at a cost that does not grow with n.

Let S = ΣG, φ(s) = E e^{sG}, N the standard normal density and, for a width τ > 0, k(x) = E[x + τZ]_+ with Z normal.
Then k(x) = [x]_+ + τ N(x/τ) w(x²/τ²), where

.. math:: w(v) = 1 - \sqrt v\, R(\sqrt v) = \int_0^\infty t\, e^{-\sqrt v\, t - t^2/2}\, dt,
          \qquad R(x) = \Pr[Z > x]/N(x).

w is completely monotone in v (an integral of functions e^{−t√v}, which are), so what interpolates it with double points
is on one side of it: the error of the line through the double point v = 1 is w''(ξ)/2 · (v − 1)² >= 0, that of the
parabola through v = 0 and the double point v = 3 is w'''(ξ)/6 · v (v − 3)² <= 0. With these two, Q₁ <= w <= Q₃,

.. math:: \mathbb E\bigl[k(S) - \tau N(S/\tau)\, Q_3(S^2/\tau^2)\bigr] \;\le\; \mathbb E[S]_+ \;\le\;
          \mathbb E\bigl[k(S) - \tau N(S/\tau)\, Q_1(S^2/\tau^2)\bigr],

0.39 τ² times the density of S at 0 apart (the points are those of Gauss and Radau: the best of their degree; constants
1 and 0 in their place give the plain f(0) − τ² f''(0) <= E[S]_+ <= f(0), 1.00 τ² apart). Written in Hermite
polynomials, Q₁ = u₀ + u₁ He₂ and Q₃ = l₀ + l₁ He₂ + l₂ He₄, each side is one integral, for any c > 0,

.. math:: \frac1{2\pi i} \int_{c - i\infty}^{c + i\infty} \varphi(s)^n\, e^{z^2/2}
          \bigl(s^{-2} - \tau^2 (q_0 + q_1 z^2 + q_2 z^4)\bigr)\, ds, \qquad z = \tau s,

taken at the saddle point c of n log φ(s) − 2 log s by the trapezoidal rule. If all values of G are multiples of a
number l there is nothing to smooth: (l/(2 sinh(sl/2)))² in place of the kernel, on −π/l <= y <= π/l, is E[S]_+ itself.
Whichever rule needs fewer nodes is taken. Where each error goes:

==================  ============================================================================================
smoothing           the two sides above
period (aliasing)   the rule with step h adds Σ_{m≠0} e^{cx} E[side(S − x)], x = 2πm/h. The upper side is never
                    negative: it only grows. The lower one is at most [·]_+, and e^{cx} E[S − x]_+ <=
                    e^{(c−s)x} φ(s)^n / (e s) for every s > 0 (Chernoff) is taken off the lower end
truncation          |φ(c + iy)| <= φ(c) and the Gaussian factor, for all nodes beyond the last
nodes left out      between two points where |φ(c + iy)|^n is small it is small, see `transforms`
input, round-off    in φ(s)^n: see `transforms`; in the kernel and in sums: relative to the absolute values
values off a        by a relative error of at most ε: S moves by at most ε Σ|G_i|, which is less than l, and
lattice             E[ε Σ|G_i|; S >= 0] <= ε E[Σ|G_i| e^{cS}]
==================  ============================================================================================
"""

from __future__ import annotations

import math

import numpy as np

from shuffle_sym.field import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.interval import Interval
from shuffle_sym.numeric.transforms import Array, Complex, Sums, checked, sums

MAX_WORK = 2**22  # nodes times values of G
_CHUNK = 2**16
_FEW = 2**14  # so many sines and cosines cost less than finding out which are needed
_ATTEMPTS = 16
_SHARE = 0.02  # of rtol, for each of aliasing and truncation
_LOG_UNHEARD = -40.0  # nodes with |φ(c + iy)/φ(c)|^n below e^this are left out
_FINEST = 2.0**-20  # spacing over the largest value
_OFF = 6 * FLOAT_ERROR  # relative distance of a true value from the lattice
_SMALLEST = 1e-305  # below this doubles lose their relative accuracy


def _mills(x: float) -> float:
    """The upper tail of the standard normal law over its density."""
    return math.exp(x * x / 2) * math.erfc(x / math.sqrt(2)) * math.sqrt(math.pi / 2)


def _sides() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Q₁ and Q₃ in He₀, He₂, He₄. With x = √v: w' = (x − (1 + x²) R)/(2x), v = He₂ + 1, v² = He₄ + 6 He₂ + 3."""
    r1, r3, root = _mills(1.0), _mills(math.sqrt(3.0)), math.sqrt(3.0)
    value, slope = 1 - root * r3, (root - 4 * r3) / (2 * root)
    # 1 + b v + d v² with this value and slope at v = 3
    d = (slope - (value - 1) / 3) / 3
    b = slope - 6 * d
    return (1 - r1, 0.5 - r1, 0.0), (1 + b + 3 * d, b + 6 * d, d)


_ABOVE, _BELOW = _sides()


def positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`, no wider than ``rtol`` of the upper end (below 1e-305: from 0).

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR; the true probabilities
    add up to 1. Cost: O(λ/√rtol) nodes, where λ is the distance of 0 from the mean of S in standard deviations,
    whatever n is; more where S has much of its mass at a single point next to 0, as it may for small n.

    >>> positive_part(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1e-3)  # E[S]_+ = 3/8 + 3/8
    Interval(lower=0.249..., upper=0.250...)
    """
    log_lower, log_upper = _log_bounds(values, probabilities, n, rtol, math.log(_SMALLEST))
    if log_upper == -math.inf:
        return Interval(0.0, 0.0)
    # exp and its argument: one rounding each, of a number up to 745.
    slack = 8 * UNIT_ROUNDOFF * (1 + abs(log_upper))
    lower, upper = math.exp(log_lower - slack), math.exp(log_upper + slack)
    return Interval(lower if lower > _SMALLEST else 0.0, max(upper, 5e-324))


def log_positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\log\frac1n\mathbb E[S]_+`, which may be far below the logarithm of the smallest double.

    The bounds of E[S]_+ itself are no wider than ``rtol`` of the upper end; the logarithm of 0 is −inf.

    >>> log_positive_part(np.array([-9.0, 1.0]), np.array([0.5, 0.5]), 5_000, 1e-3)
    Interval(lower=-1852.47197..., upper=-1852.47196...)
    """
    return Interval(*_log_bounds(values, probabilities, n, rtol, -math.inf))


def _log_bounds(values: Array, probabilities: Array, n: int, rtol: float, floor: float) -> tuple[float, float]:
    """Bounds of the logarithm; an upper end below ``floor`` need not be sharp, and its lower end is −inf."""
    values, probabilities = checked(values, probabilities, n, rtol)
    top = float(np.max(values))
    if top <= 0:
        return -math.inf, -math.inf
    if n == 1 or np.min(values) >= 0:  # no sum has terms of both signs: E[S]_+ = n E[G]_+
        total = math.fsum(probabilities * np.maximum(values, 0.0) / top)
        log_mean = math.log(total) + math.log(top)
        slack = 3 * FLOAT_ERROR + 8 * UNIT_ROUNDOFF * (1 + abs(math.log(top)) + abs(math.log(total)))
        return log_mean - slack, log_mean + slack
    # Everything is homogeneous in G: values around 1 keep what is squared inside the doubles.
    unit = 2.0 ** math.floor(math.log2(top))
    values, spacing = on_a_lattice(values / unit, n)
    law = sums(values, probabilities, n, _OFF if spacing else FLOAT_ERROR)
    log_total = law.log_scale - math.log(n) + math.log(unit)
    slack = law.log_slack + 8 * UNIT_ROUNDOFF * (abs(law.log_scale) + math.log(n) + abs(math.log(unit)) + 800)
    chernoff = log_total + slack - 1 - math.log(law.c)  # [x]_+ <= e^{cx}/(ec)
    if chernoff < floor:
        return -math.inf, chernoff
    if slack > rtol / 4:
        raise _refusal(n, rtol, -math.expm1(-2 * slack), "more than doubles can give")
    lower, upper = _refined(law, spacing, rtol, rtol - 2 * slack)
    return math.log(lower) + log_total - slack, math.log(upper) + log_total + slack


def _refusal(n: int, rtol: float, reached: float, needed: str) -> ValueError:
    return ValueError(
        f"rtol = {rtol:g} at n = {n} needs {needed}; ask for a larger rtol (reached so far: {reached:.2g})"
    )


def on_a_lattice(values: Array, n: int) -> tuple[Array, float]:
    """The values as multiples of a spacing, if they are within a relative _OFF of that, and the spacing; else 0."""
    largest, spacing = float(np.max(np.abs(values))), 0.0
    for value in np.abs(values[values != 0]).tolist():  # Euclid's algorithm
        rest = value
        while rest > 2.0**-40 * largest:
            spacing, rest = rest, abs(math.remainder(spacing, rest))
        if spacing < _FINEST * largest:
            return values, 0.0
    spacing = largest / round(largest / spacing)
    snapped = spacing * np.rint(values / spacing)
    off = np.abs(snapped - values) > (_OFF - 2 * FLOAT_ERROR) * np.abs(values)
    # The sum of all errors stays below the spacing.
    return (values, 0.0) if np.any(off) or 2 * _OFF * n * largest >= spacing else (snapped, spacing)


def _refined(law: Sums, spacing: float, rtol: float, within: float) -> tuple[float, float]:
    """Bounds of E[S]_+ / M(c), by narrower and narrower smoothing, until they are ``within`` of the upper one.

    Nothing relies on a guess.
    """
    squared = law.variance * law.c**2
    value = 1 / (law.c * math.sqrt(2 * math.pi * (squared + 2)))
    # Density of S at 0 over E[S]_+ c², by the saddle point approximation of both
    density = math.sqrt(1 + 2 / squared) * math.exp(-2 / squared) if squared > 0.1 else 0.0
    tau = math.sqrt(min(2.2 * within / max(density, 0.2), 1.0)) / law.c
    lower, upper, power = 0.0, math.inf, 0.5
    for _ in range(_ATTEMPTS):
        target = _SHARE * within * value
        rule: _Rule = _Smoothed(law, tau, target)
        if spacing:
            rule = min(rule, _OnLattice(law, spacing, target), key=lambda r: r.count)
        nodes = rule.nodes()
        if nodes is None:
            break
        below, above, error = rule.evaluate(nodes)
        lower, upper = max(lower, below - error - rule.alias), min(upper, above + error)
        if upper - lower <= within * upper:
            return lower, upper
        if error - rule.truncation > within * upper / 4:
            raise _refusal(law.n, rtol, (upper - lower) / upper, "more than doubles can give")
        value = min(max((above + below) / 2, value / 2**16), upper)
        # A density at 0 costs its value times τ², an atom next to 0 its mass times τ: hope for the best once.
        tau *= min(1.0, max(0.5 * within * value / abs(above - below), 2.0**-8) ** power) if above != below else 1.0
        power = 1.0
    reached = (upper - lower) / upper if upper < math.inf else 1.0
    raise _refusal(law.n, rtol, reached, f"more than {MAX_WORK} terms")


class _Rule:
    """The trapezoidal rule, with the number of nodes from 0 on; ``total`` is Σ|kernel| over all of them, or more."""

    count: int
    total: float
    truncation = 0.0
    moved = 0.0  # error of the values that is not in φ
    roundings: float  # relative, of the kernel

    def __init__(self, law: Sums, target: float) -> None:
        self.law = law
        self.period, self.alias = _period(law, target)

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        """Lower side, upper side, and a bound on the absolute value of every term in either."""
        raise NotImplementedError

    def nodes(self) -> Array | None:
        """Numbers of the nodes that are heard, or None if they are too many."""
        size, self.unheard = self.law.size, 0.0
        if self.count * size <= _FEW:
            return np.arange(self.count, dtype=float)
        self.unheard = self.total * math.exp(_LOG_UNHEARD)
        block = 8 ** max(math.ceil(math.log(self.count / 64, 8)), 0)
        starts = block * np.arange(math.ceil(self.count / block), dtype=float)
        while block > 1:
            quiet = self.law.quiet(self.step * starts, self.step * (starts + block), _LOG_UNHEARD)
            block //= 8
            starts = np.add.outer(starts[~quiet], block * np.arange(8.0)).ravel()
            if len(starts) * size > MAX_WORK:
                return None
        heard: Array = starts[starts < self.count]
        return heard

    @property
    def step(self) -> float:
        return 2 * math.pi / self.period

    def evaluate(self, nodes: Array) -> tuple[float, float, float]:
        """Lower side, upper side, and a bound on the error of either, aliasing apart."""
        ends = np.zeros(3)
        for i in range(0, len(nodes), _CHUNK):
            y = self.step * nodes[i : i + _CHUNK]
            below, above, sizes = self.kernel(y)
            powers, errors = self.law.powers(y)
            weights = np.where(y == 0, 0.5, 1.0) * (self.step / math.pi)
            scaled = weights * powers
            errors += (self.roundings + len(nodes) * UNIT_ROUNDOFF) * np.abs(powers)
            ends += [_real_sum(below, scaled), _real_sum(above, scaled), float(sizes * weights @ errors)]
        return float(ends[0]), float(ends[1]), float(ends[2]) + self.truncation + self.unheard + self.moved


class _Smoothed(_Rule):
    """Both sides for one width τ <= 1/c of the smoothing."""

    roundings = 200 * UNIT_ROUNDOFF

    def __init__(self, law: Sums, tau: float, target: float) -> None:
        super().__init__(law, target)
        self.tau = tau
        self.truncation, last = self._truncated(target)
        self.count = math.ceil(last / self.step) + 1
        # ∫ dy/(c² + y²) = π/2c, ∫ e^{−x²/2} (1 + (x² + 1) + (x² + 1)²) dx < 11.3 and never above 10; e^{1/2} < 2
        h, c = self.step, law.c
        self.total = h / (math.pi * c * c) + 1 / c + 2 * tau * (11.3 + 10 * h * tau) / math.pi

    def _truncated(self, target: float) -> tuple[float, float]:
        r"""A bound on all nodes from the last one on, and where that is.

        With x = τy >= 5 and τc <= 1 each is at most e^{1/2} τ² · 1.1 (x² + 1)² e^{−x²/2} · h/π, which falls in x;
        ∫_X^∞ (x² + 1)² e^{−x²/2} dx <= 1.2 (X² + 1)² e^{−X²/2} / X.
        """
        x = np.arange(5.0, 38.0, 0.125)
        bounds = 2.2 / math.pi * self.tau * (x * x + 1) ** 2 * np.exp(-x * x / 2) / x
        i = int(np.argmax(bounds <= target)) if bounds[-1] <= target else len(x) - 1
        return float(bounds[i]), float(x[i]) / self.tau

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        s = self.law.c + 1j * y
        z2 = (self.tau * s) ** 2
        gauss, inverse, sizes, square = np.exp(z2 / 2), 1 / (s * s), np.abs(z2), self.tau**2
        below, above = (gauss * (inverse - square * (q0 + z2 * (q1 + q2 * z2))) for q0, q1, q2 in (_BELOW, _ABOVE))
        # No coefficient is above 1; |z²| more roundings are in the exponent.
        return below, above, np.abs(gauss) * (np.abs(inverse) + square * (1 + sizes + sizes * sizes)) * (1 + sizes / 64)


class _OnLattice(_Rule):
    """All values are multiples of the spacing l; a period of an odd number of spacings."""

    def __init__(self, law: Sums, spacing: float, target: float) -> None:
        super().__init__(law, target)
        self.spacing = spacing
        self.count = math.ceil(self.period / spacing / 2) + 1
        self.period = (2 * self.count - 1) * spacing
        self.roundings = UNIT_ROUNDOFF * (200 + 8 * law.c * spacing)
        # |2 sinh(sl/2)| >= |s| l · 2/π for |y| <= π/l
        self.total = 3 * (self.step / law.c**2 + 1 / law.c)
        self.moved = _OFF * law.total

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        root = self.spacing / (2 * np.sinh((self.law.c + 1j * y) * (self.spacing / 2)))
        square = root * root
        return square, square, np.abs(square)


def _real_sum(kernel: Complex, powers: Complex) -> float:
    return float(np.sum(kernel.real * powers.real - kernel.imag * powers.imag))


def _period(law: Sums, target: float) -> tuple[float, float]:
    r"""A period, and a bound on what the rule with it, or with a longer one, adds to the lower side.

    It is at most ``target``: for d > 0, s = c ± d > 0 and m >= 1 copy m adds at most e^{−dm·period} M(s)/(es M(c)).
    """
    spread = math.sqrt(law.variance + 2 / law.c**2)
    rates = np.geomspace(0.05, 50, 24) / spread
    down = np.concatenate([rates, law.c * np.array([0.3, 0.6, 0.8, 0.9, 0.95, 0.98])])
    d = np.concatenate([rates[rates <= 300], -down[down < 0.99 * law.c]])
    logs = law.log_growths(d) - np.log(law.c + d) - 1
    right, rate = d > 0, np.abs(d)
    reaches = (logs - math.log(target / 4)) / rate
    period = max(float(np.min(reaches[right])), float(np.min(reaches[~right])), 1 / law.c)
    copies = np.exp(np.minimum(logs - rate * period, 700.0)) / -np.expm1(-rate * period)
    return period, float(np.min(copies[right]) + np.min(copies[~right]))
