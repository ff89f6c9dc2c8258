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
Whichever rule needs fewer nodes is taken. Several laws of G (at several α) are done in the same arrays, one row each: a
rule is for several sums at once.
Where each error goes:

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
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST, UNIT_ROUNDOFF
from shuffle_sym.numeric.transforms import Array, Complex, Rows, Sums, checked, refusal, sums, told

# -- the trapezoidal rules

MAX_WORK = 2**22  # nodes times values of G
OFF = 6 * FLOAT_ERROR  # relative distance of a true value from the lattice
_CHUNK = 2**16
_SAMPLE = 32
_FEW = 2**14  # so many sines and cosines cost less than finding out which are needed
_TOGETHER = 2**17  # so many for several rows at once, which need not have all of them
_LOG_LEFT_OUT = -40.0  # nodes with |φ(c + iy)/φ(c)|^n below e^this are left out


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


class Rule(Rows):
    """The trapezoidal rule, with the number of nodes from 0 on; ``total`` is Σ|kernel| over all of them, or more."""

    period: Array
    alias: Array  # see `periods`
    count: Array
    total: Array
    truncation: Array
    moved: Array  # error of the values that is not in φ
    roundings: Array  # relative, of the kernel

    def __init__(self, law: Sums, target: Array, like: Rule | None = None) -> None:
        self.law = law
        # A rule for the same law and target has found the period, which is much of the work.
        self.period, self.alias = periods(law, target) if like is None else (like.period, like.alias)
        self.truncation = self.moved = self.left_out = np.zeros(len(target))

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        """Lower side, upper side, and a bound on the absolute value of every term in either."""
        raise NotImplementedError

    def evaluate(self) -> tuple[Array, Array, Array] | None:
        """Lower side, upper side, and a bound on the error of either, aliasing apart; None if that is too much work."""
        if not np.isfinite(self.count).all():
            return None
        ends = np.zeros((3, len(self.count)))
        few = self.count * self.law.size <= _FEW
        for rows in _alike(self.count, np.flatnonzero(few), _CHUNK // self.law.size):
            part = self if len(rows) == len(few) == 1 else self.take(rows)
            ends[:, rows] = part.added(np.arange(part.count.max()))
        waiting = [np.flatnonzero(~few)] if not few.all() else []
        while waiting:
            rows = waiting.pop()
            part = self.take(rows)
            kept = part.nodes()
            if kept is not None:
                ends[:, rows] = part.added(kept)
                ends[2, rows] += part.left_out
            elif len(rows) == 1:
                return None
            else:
                waiting += np.array_split(rows, 2)
        return ends[0], ends[1], ends[2] + self.truncation + self.moved

    def sampled_error(self) -> Array:
        """About the error of `evaluate`, from a few nodes; 0 where that is no less work."""
        errors = np.zeros(len(self.count))
        for row in np.flatnonzero(np.isfinite(self.count) & (self.count > 8 * _SAMPLE)):
            nodes = np.unique(np.rint(np.geomspace(1, self.count[row] - 1, _SAMPLE)))
            errors[row] = self.take(slice(row, row + 1)).summed(nodes, np.gradient(nodes)[None], 1)[2, 0]
        return errors

    def nodes(self) -> Array | None:
        """Numbers of the nodes that matter in some row, or None if they are too many."""
        count, work = float(self.count.max()), self.law.size * len(self.count)
        most = MAX_WORK * self.law.patience if len(self.count) == 1 else _TOGETHER
        self.left_out = self.total * math.exp(_LOG_LEFT_OUT)
        block = 8 ** max(math.ceil(math.log(count / 64, 8)), 0)
        starts = block * np.arange(math.ceil(count / block), dtype=float)
        while len(starts) * work <= most:
            if block == 1:
                nodes: Array = starts[starts < count]
                return nodes
            quiet = self.law.quiet(block * self.step, starts / block, _LOG_LEFT_OUT).all(axis=0)
            block //= 8
            starts = np.add.outer(starts[~quiet], block * np.arange(8.0)).ravel()
        return None

    def added(self, kept: Array) -> Array:
        """Lower side, upper side and error of the nodes with these numbers, as far as a row has so many."""
        ends, count = np.zeros((3, len(self.count))), self.count[:, None]
        for i in range(0, len(kept), _CHUNK):
            nodes = kept[i : i + _CHUNK]
            weights = np.where(nodes == 0, 0.5, 1.0) * (nodes < count)
            ends += self.summed(nodes, weights, len(kept))
        return ends

    @property
    def step(self) -> Array:
        return 2 * math.pi / self.period

    def summed(self, nodes: Array, weights: Array, terms: int) -> Array:
        """Lower side, upper side and error of some nodes; ``terms`` are added up in all."""
        below, above, sizes = self.kernel(self.step[:, None] * nodes)
        powers, errors = self.law.powers(self.step, nodes)
        weights = weights * (self.step / math.pi)[:, None]
        scaled = weights * powers
        errors += (self.roundings[:, None] + terms * UNIT_ROUNDOFF) * np.abs(powers)
        return np.array([_real_sums(below, scaled), _real_sums(above, scaled), (sizes * errors * weights).sum(axis=1)])


def _alike(count: Array, rows: Any, most: int) -> Iterator[Any]:
    """The rows in groups of about as many nodes, at most ``most`` altogether unless one alone has more."""
    rows = rows[np.argsort(count[rows], kind="stable")]
    while len(rows):
        sizes = count[rows] * np.arange(1, len(rows) + 1)
        taken = max(int(np.searchsorted(sizes, most, side="right")), 1)
        yield rows[:taken]
        rows = rows[taken:]


class Smoothed(Rule):
    """Both sides for one width τ <= 1/c of the smoothing."""

    def __init__(self, law: Sums, tau: Array, target: Array) -> None:
        super().__init__(law, target)
        self.tau = tau
        self.truncation, last = self._truncated(target)
        with np.errstate(divide="ignore"):  # an infinite period has infinitely many nodes
            self.count = np.ceil(last / self.step) + 1
        self.roundings = np.full(len(tau), 200 * UNIT_ROUNDOFF)
        # ∫ dy/(c² + y²) = π/2c, ∫ e^{−x²/2} (1 + (x² + 1) + (x² + 1)²) dx < 11.3 and never above 10; e^{1/2} < 2
        h, c = self.step, law.c
        self.total = h / (math.pi * c * c) + 1 / c + 2 * tau * (11.3 + 10 * h * tau) / math.pi

    def _truncated(self, target: Array) -> tuple[Array, Array]:
        r"""A bound on all nodes from the last one on, and where that is.

        With x = τy >= 5 and τc <= 1 each is at most e^{1/2} τ² · 1.1 (x² + 1)² e^{−x²/2} · h/π, which falls in x;
        ∫_X^∞ (x² + 1)² e^{−x²/2} dx <= 1.2 (X² + 1)² e^{−X²/2} / X.
        """
        i = np.minimum(np.searchsorted(-_CUTOFF, -target / self.tau), len(_CUTS) - 1)
        return self.tau * _CUTOFF[i], _CUTS[i] / self.tau

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        s = self.law.c[:, None] + 1j * y
        square = self.tau[:, None] ** 2
        z2 = square * (s * s)
        gauss, inverse, sizes = np.exp(z2 / 2), 1 / (s * s), np.abs(z2)
        below, above = (gauss * (inverse - square * (q0 + z2 * (q1 + q2 * z2))) for q0, q1, q2 in (_BELOW, _ABOVE))
        # No coefficient is above 1; |z²| more roundings are in the exponent.
        return below, above, np.abs(gauss) * (np.abs(inverse) + square * (1 + sizes + sizes * sizes)) * (1 + sizes / 64)


_CUTS = np.arange(5.0, 38.0, 0.125)
_CUTOFF = 2.2 / math.pi * (_CUTS**2 + 1) ** 2 * np.exp(-(_CUTS**2) / 2) / _CUTS  # it falls


class OnLattice(Rule):
    """All values are multiples of the spacing l; a period of an odd number of spacings."""

    def __init__(self, law: Sums, spacing: float, target: Array, like: Rule | None = None) -> None:
        super().__init__(law, target, like)
        self.spacing = spacing
        self.count = np.ceil(self.period / spacing / 2) + 1
        self.period = (2 * self.count - 1) * spacing
        self.roundings = UNIT_ROUNDOFF * (200 + 8 * law.c * spacing)
        # |2 sinh(sl/2)| >= |s| l · 2/π for |y| <= π/l
        self.total = 3 * (self.step / law.c**2 + 1 / law.c)
        self.moved = OFF * law.total

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        s = self.law.c[:, None] + 1j * y
        square = np.asarray((self.spacing / (2 * np.sinh(s * (self.spacing / 2)))) ** 2, dtype=complex)
        return square, square, np.abs(square)


def _real_sums(kernel: Complex, powers: Complex) -> Array:
    total: Array = (kernel.real * powers.real - kernel.imag * powers.imag).sum(axis=1)
    return total


_RATES = np.geomspace(0.05, 50, 24)
_SHARES = np.array([0.3, 0.6, 0.8, 0.9, 0.95, 0.98])


def periods(law: Sums, target: Array) -> tuple[Array, Array]:
    r"""A period, and a bound on what the rule with it, or with a longer one, adds to the lower side.

    It is at most ``target``: for d > 0, s = c ± d > 0 and m >= 1 copy m adds at most e^{−dm·period} M(s)/(es M(c)).
    """
    c = law.c[:, None]
    rates = _RATES[:: 2 if law.uneven else 1] / np.sqrt(law.variance + 2 / law.c**2)[:, None]
    down = np.concatenate([rates, c * _SHARES], axis=1)
    # Rates that are out of range are taken to be one that is not.
    d = np.concatenate(
        [np.minimum(rates, np.maximum(rates[:, :1], 300)), -np.where(down < 0.99 * c, down, 0.3 * c)], axis=1
    )
    logs = law.log_growths(d) - np.log(c + d) - 1
    rate = np.abs(d)
    reaches = (logs - np.log(target / 4)[:, None]) / rate
    split = rates.shape[1]
    period = np.maximum(np.maximum(reaches[:, :split].min(axis=1), reaches[:, split:].min(axis=1)), 1 / law.c)
    # Where no rate has a bound the period is infinite, and there are no copies.
    known = np.isfinite(period)[:, None]
    exponents = np.where(known, logs, -np.inf) - rate * np.where(known, period[:, None], 0.0)
    copies = np.exp(np.minimum(exponents, 700.0)) / -np.expm1(-rate * period[:, None])
    return period, copies[:, :split].min(axis=1) + copies[:, split:].min(axis=1)


# -- bounds, by narrower and narrower smoothing

Unsmoothed = Callable[[Sums, Array, Rule], Rule] | None
_ATTEMPTS = 16
_SHARE = 0.02  # of rtol, for each of aliasing and truncation
_HOPELESS = 100.0  # an error over what is asked for, from which on a rule is not evaluated
_FINEST = 2.0**-20  # spacing over the largest value


def positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`, no wider than ``rtol`` of the upper end (below 1e-305: from 0).

    ``values`` and ``probabilities`` are doubles with relative errors of at most FLOAT_ERROR; the true probabilities
    add up to 1. Cost: O(λ/√rtol) nodes, where λ is the distance of 0 from the mean of S in standard deviations,
    whatever n is; more where S has much of its mass at a single point next to 0, as it may for small n.

    >>> positive_part(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3, 1e-3)  # E[S]_+ = 3/8 + 3/8
    Interval(0.249998, 0.250001)
    """
    (answer,) = positive_parts(np.asarray(values)[None], probabilities, n, rtol)
    if isinstance(answer, ValueError):
        raise answer
    return answer


def positive_parts(values: Array, probabilities: Array, n: int, rtol: float) -> list[Interval | ValueError]:
    """`positive_part` for each row of ``values``, in the same arrays; a refusal is returned, not raised."""
    answers = _log_bounds(values, probabilities, n, rtol, math.log(SMALLEST))
    return [ends if isinstance(ends, ValueError) else exponential(*ends) for ends in answers]


def exponential(log_lower: float, log_upper: float) -> Interval:
    """Bounds of a number from those of its logarithm."""
    if log_upper == -math.inf:
        return Interval(0.0, 0.0)
    # exp and its argument: one rounding each, of a number up to 745.
    slack = 8 * UNIT_ROUNDOFF * (1 + abs(log_upper))
    lower, upper = math.exp(log_lower - slack), math.exp(log_upper + slack)
    return told(lower, upper)


def log_positive_part(values: Array, probabilities: Array, n: int, rtol: float) -> Interval:
    r"""Bounds of :math:`\log\frac1n\mathbb E[S]_+`, which may be far below the logarithm of the smallest double.

    The bounds of E[S]_+ itself are no wider than ``rtol`` of the upper end; the logarithm of 0 is −inf.

    >>> log_positive_part(np.array([-9.0, 1.0]), np.array([0.5, 0.5]), 5_000, 1e-3)
    Interval(-1852.48, -1852.47)
    """
    (ends,) = _log_bounds(np.asarray(values)[None], probabilities, n, rtol, -math.inf)
    if isinstance(ends, ValueError):
        raise ends
    return Interval(*ends)


_Ends = tuple[float, float] | ValueError


def _log_bounds(values: Array, probabilities: Array, n: int, rtol: float, floor: float) -> list[_Ends]:
    """Bounds of the logarithms; an upper end below ``floor`` need not be sharp, and its lower end is −inf."""
    values, probabilities = checked(values, probabilities, n, rtol)
    tops, bottoms = values.max(axis=1), values.min(axis=1)
    # Everything is homogeneous in G: values around 1 keep what is squared inside the doubles.
    units = np.ldexp(1.0, np.frexp(tops)[1] - 1)
    with np.errstate(over="ignore"):  # below −n·max a value makes every sum negative, however far below it is
        scaled = np.maximum(values / units[:, None], -(2.0**400))
    ends: dict[int, _Ends] = {}
    together = []
    for i, (top, bottom) in enumerate(zip(tops.tolist(), bottoms.tolist(), strict=True)):
        if top <= 0:
            ends[i] = -math.inf, -math.inf
        elif n == 1 or bottom >= 0:  # no sum has terms of both signs: E[S]_+ = n E[G]_+
            total = math.fsum(probabilities * np.maximum(values[i], 0.0) / top)
            log_mean = math.log(total) + math.log(top)
            slack = 3 * FLOAT_ERROR + 8 * UNIT_ROUNDOFF * (1 + abs(math.log(top)) + abs(math.log(total)))
            ends[i] = log_mean - slack, log_mean + slack
        else:
            snapped, spacing = on_a_lattice(scaled[i], n)
            if spacing:
                (ends[i],) = _tried(snapped[None], probabilities, n, rtol, floor, units[i : i + 1], spacing)
            else:
                together.append(i)
    if together:
        rows = _tried(scaled[together], probabilities, n, rtol, floor, units[together], 0.0)
        ends.update(zip(together, rows, strict=True))
    return [ends[i] for i in range(len(values))]


def _tried(
    values: Array, probabilities: Array, n: int, rtol: float, floor: float, units: Array, spacing: float
) -> list[_Ends]:
    """Bounds for all rows at once; if that is refused, for one at a time, to see which row is the reason."""
    try:
        ends: dict[int, _Ends] = {}
        for rows, law in sums(values, probabilities, n, OFF if spacing else FLOAT_ERROR):
            on_lattice = (lambda law, target, like: OnLattice(law, spacing, target, like)) if spacing else None
            ends.update(zip(rows.tolist(), log_ends(law, rtol, floor, units[rows], on_lattice), strict=True))
        return [ends[i] for i in range(len(values))]
    except ValueError as refusal:
        if len(values) == 1:
            return [refusal]
    alone = (slice(i, i + 1) for i in range(len(values)))
    return [_tried(values[i], probabilities, n, rtol, floor, units[i], spacing)[0] for i in alone]


def log_ends(law: Sums, rtol: float, floor: float, units: Array, unsmoothed: Unsmoothed) -> list[tuple[float, float]]:
    """Bounds of the logarithm for each row of a law, by a rule without smoothing where that has fewer nodes."""
    n, log_units = law.n, np.log(units)
    log_total = law.log_scale - math.log(n) + log_units
    slack = law.log_slack + 8 * UNIT_ROUNDOFF * (np.abs(law.log_scale) + math.log(n) + np.abs(log_units) + 800)
    log_lower = np.full(len(units), -math.inf)
    log_upper = log_total + slack - 1 - np.log(law.c)  # Chernoff: [x]_+ <= e^{cx}/(ec)
    sharp = np.flatnonzero(log_upper >= floor)
    if len(sharp):
        if (slack[sharp] > rtol / 4).any():
            raise refusal(n, rtol, 8 * float(slack[sharp].max()), "more than doubles can give")
        part = law if len(sharp) == len(units) else law.take(sharp)
        lower, upper = _refined(part, unsmoothed, rtol, rtol - 2 * slack[sharp])
        log_lower[sharp] = np.log(lower) + log_total[sharp] - slack[sharp]
        log_upper[sharp] = np.log(upper) + log_total[sharp] + slack[sharp]
    return list(zip(log_lower.tolist(), log_upper.tolist(), strict=True))


def on_a_lattice(values: Array, n: int) -> tuple[Array, float]:
    """The values moved to multiples of a spacing, and the spacing; as they are, and 0, if one would move by more than
    a relative OFF."""
    largest, spacing = float(np.abs(values).max()), 0.0
    for value in np.abs(values[values != 0]).tolist():  # Euclid's algorithm
        rest = value
        while rest > 2.0**-40 * largest:
            spacing, rest = rest, abs(math.remainder(spacing, rest))
        if spacing < _FINEST * largest:
            return values, 0.0
    spacing = largest / round(largest / spacing)
    snapped = spacing * np.rint(values / spacing)
    off = np.abs(snapped - values) > (OFF - 2 * FLOAT_ERROR) * np.abs(values)
    # The sum of all errors stays below the spacing.
    return (values, 0.0) if off.any() or 2 * OFF * n * largest >= spacing else (snapped, spacing)


def _refined(law: Sums, unsmoothed: Unsmoothed, rtol: float, within: Array) -> tuple[Array, Array]:
    """Bounds of E[S]_+ / M(c), by narrower and narrower smoothing, until they are ``within`` of the upper one.

    Nothing relies on a guess. Rows that are done are left alone.
    """
    squared = law.variance * law.c**2
    value = 1 / (law.c * np.sqrt(2 * math.pi * (squared + 2)))
    # Density of S at 0 over E[S]_+ c², by the saddle point approximation of both
    bounded = np.maximum(squared, 0.1)
    density = np.where(squared > 0.1, np.sqrt(1 + 2 / bounded) * np.exp(-2 / bounded), 0.0)
    tau = np.sqrt(np.minimum(2.2 * within / np.maximum(density, 0.2), 1.0)) / law.c
    lower, upper, power = np.zeros(len(tau)), np.full(len(tau), math.inf), 0.5
    active = np.arange(len(tau))
    for _ in range(_ATTEMPTS):
        target = _SHARE * within[active] * value[active]
        rule: Rule = Smoothed(law, tau[active], target)
        if unsmoothed:
            rule = min(rule, unsmoothed(law, target, rule), key=lambda r: float(r.count.sum()))
        if law.uneven and (rule.sampled_error() > _HOPELESS * within[active] * value[active]).any():
            raise refusal(law.n, rtol, _reached(lower[active], upper[active]), "more than doubles can give")
        sides = rule.evaluate()
        if sides is None:
            break
        below, above, error = sides
        lower[active] = np.maximum(lower[active], below - error - rule.alias)
        upper[active] = np.minimum(upper[active], above + error)
        wide = ~(upper[active] - lower[active] <= within[active] * upper[active])  # nan is wide, and so is inf
        wide |= upper[active] == math.inf
        if not wide.any():
            return lower, upper
        below, above, noise = below[wide], above[wide], (error - rule.truncation)[wide]
        active, law = active[wide], law.take(wide)
        if (noise > within[active] * upper[active] / 4).any():
            raise refusal(law.n, rtol, _reached(lower[active], upper[active]), "more than doubles can give")
        value[active] = np.minimum(np.maximum((above + below) / 2, value[active] / 2**16), upper[active])
        # A density at 0 costs its value times τ², an atom next to 0 its mass times τ: hope for the best once.
        apart = np.maximum(np.abs(above - below), 1e-280)
        tau[active] *= np.minimum(1.0, np.maximum(0.5 * within[active] * value[active] / apart, 2.0**-8) ** power)
        power = 1.0
    raise refusal(law.n, rtol, _reached(lower[active], upper[active]), f"more than {MAX_WORK} terms")


def _reached(lower: Array, upper: Array) -> float:
    known = upper < math.inf
    return float(((upper - lower)[known] / upper[known]).max()) if known.all() else 1.0
