r"""The trapezoidal rules of `contour`: nodes, kernels and the error that is in each.

A rule is for several sums at once, one row for each; how they are derived is said in `contour`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.transforms import Array, Complex, Rows, Sums

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
