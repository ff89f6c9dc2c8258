r"""Certified :math:`\delta(\varepsilon)` of many rounds on a given grid: the published accountant, with its errors.

With T the sum of the losses on a grid, :math:`\delta(\varepsilon) = \mathbb E_P[1 - e^{\varepsilon - T}]_+` is read off
the product of their transforms (Koskela et al. 2021, Theorem 5 and Algorithm 1). Where each error goes:

=====================  ===================================================================================
outcomes left out      their P-mass counts as δ(∞) in the upper end, as nothing in the lower
grid (split)           T dominates the true sum S. For the lower end only changes of sign cost anything:
                       E[1 − e^(ε−S)]_+ >= E[1 − e^(ε−T)]_+ − E[|1 − e^(ε−T)|; |T − ε| <= v] − 2 Pr[…> v]
grid (outward)         Lemma 6: all losses up for the upper end, all down for the lower
periodisation          what is folded in only adds; what is folded or cut off is bounded by the MGF (Chernoff)
FFT, powers            Euclidean norm of the error times that of the weights
masses                 δ has positive coefficients in them: a factor (1 ± κ)^rounds
losses                 moved up before they are split, and the upper end of ε moved by as much for the lower end
=====================  ===================================================================================

The laws are tilted by :math:`e^{\theta s}` before the transform and untilted after it, so that a tiny δ keeps
*relative* accuracy.

The sign changes. Let V = T − S, a sum of independent terms, each inside an interval of length l (the spacing) and with
:math:`\mathbb E[e^{-V_i}] = 1` given the outcome: the split keeps the Q-mass. :math:`[1 - e^\varepsilon x]_+` is
linear on both sides of :math:`x = e^{-\varepsilon}`, so moving from S to T changes its mean only where S and T lie on
different sides of ε, and there by :math:`|1 - e^{\varepsilon - T}|`. If |T − ε| > v, then |V| > v: for T above ε this
costs at most Pr[V > v], for T below ε at most :math:`\mathbb E[e^{-V}; V < -v]`, a probability under another law. Under
both, the mean of V_i is at most :math:`l^2/8` away from 0 (Hoeffding's lemma with :math:`\mathbb E[e^{-V_i}] = 1`), and
Hoeffding's inequality with :math:`v = u + k l^2/8` gives :math:`e^{-2u^2/(k l^2)}` for each, k the number of rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import CHUNK, Array, Complex, convolution
from shuffle_sym.numeric.losses import Losses, LossGrid
from shuffle_sym.numeric.tilting import TiltedSum, scaled, tilted

_FINER = 10  # powers of 2 between the coarse grids of different parts, at most
_UNDERFLOW = 1e-290  # bounds each tilted mass that is not a normal double

Rounds = Sequence[tuple[LossGrid, int]]


class Tilt(TiltedSum):
    r"""Coarse laws, tilted: which θ suits an ε, how small δ will be, and what lies outside a window.

    Everything here comes from `LossGrid.log_mgfs` of coarse grids; only `outside` has to be a bound, and is one.
    """

    def __init__(self, rounds: Rounds, rounded_by: float = 0.0) -> None:
        super().__init__([(grid.points[grid.masses > 0], grid.masses[grid.masses > 0], c) for grid, c in rounds])
        self.rounds = rounds
        self.rounded_by = rounded_by  # how far a loss is moved, where it is rounded instead of split
        self._known_logs: dict[tuple[float, bool], tuple[Array, Array]] = {}

    def tail_logs(self, theta: float, log_scale: float, *, above: bool) -> tuple[Array, Array]:
        r"""Rates λ and bounds of :math:`\log \mathbb E e^{\pm\lambda T}` under the tilted law, whose MGF at θ was
        :math:`e^{\text{log\_scale}}`."""
        if (theta, above) not in self._known_logs:
            spread = math.sqrt(max(self.cumulants(theta)[2], 1e-24))
            rates = np.geomspace(0.1, 50, 24) / spread
            if not above:
                rates = np.concatenate([rates, theta + 1 + rates, [theta, theta + 1]])
                rates = rates[(rates > 0) & ((rates <= theta) | (rates >= theta + 1))]
            shifted = theta + rates if above else theta - rates
            total = np.zeros(len(rates))
            for grid, count in self.rounds:
                total += count * (grid.log_mgfs(shifted) + np.abs(shifted) * self.rounded_by)
            self._known_logs[theta, above] = rates, total
        rates, total = self._known_logs[theta, above]
        return rates, total - log_scale

    def outside(self, theta: float, log_scale: float, low: float, high: float) -> float:
        """A bound on the mass of the tilted sum that is not strictly between ``low`` and ``high``."""
        total = 0.0
        for above, end in ((True, -high), (False, low)):
            rates, logs = self.tail_logs(theta, log_scale, above=above)
            total += math.exp(min(float(np.min(logs + rates * end)), 0.0))
        return total


@dataclass(frozen=True)
class Transform:
    """The transform of a tilted grid law with ``size`` points, to be used for any number of rounds."""

    entries: Complex
    eta: float
    theta: float
    log_scale: float
    grid: LossGrid

    @staticmethod
    def of(grid: LossGrid, theta: float, size: int) -> Transform:
        kept = grid.masses > 0
        weights = np.zeros(len(grid.masses))
        weights[kept], log_scale = tilted(grid.points[kept], grid.masses[kept], theta)
        folded = np.zeros(size)
        # The law is stored from 0 on, negative losses at the end: that is the half-swap D of the published algorithm.
        start, done = grid.first % size, 0
        while done < len(weights):
            step = min(size - start, len(weights) - done)
            folded[start : start + step] += weights[done : done + step]
            start, done = 0, done + step
        layers = 2 + len(weights) // size
        eta = (layers + 10 * math.log2(size)) * UNIT_ROUNDOFF
        return Transform(np.fft.rfft(folded), eta, theta, log_scale, grid)

    def slack(self) -> float:
        """A bound on the relative error of every tilted mass: of the mass, of θ·z − K, of its exponential."""
        reach = abs(self.theta) * float(np.max(np.abs(self.grid.points)))
        return self.grid.mass_error + UNIT_ROUNDOFF * (12 + 4 * reach + 4 * abs(self.log_scale))

    def chunks(self) -> Iterable[Complex]:
        return (self.entries[i : i + CHUNK] for i in range(0, len(self.entries), CHUNK))


class GivenGrid:
    """The finite losses of all rounds on the grid of ``size`` points with this spacing around 0."""

    def __init__(self, losses: Sequence[Losses], counts: Sequence[int], spacing: float, size: int, outward: bool):
        self.losses, self.counts, self.spacing, self.size = losses, counts, spacing, size
        self.roundings = ("down", "up") if outward else ("split",)
        # The coarse laws bound those on finer grids that contain theirs.
        powers = [max(math.ceil(math.log2(one.coarse_spacing / spacing)), 0) for one in losses]
        powers = [max(power, max(powers) - _FINER) for power in powers]
        coarse = [one.coarse(spacing * 2.0**power) for one, power in zip(losses, powers, strict=True)]
        self.tilt = Tilt(list(zip(coarse, counts, strict=True)), spacing if outward else 0.0)
        self._grids = [[LossGrid(one, spacing, rounding) for one in losses] for rounding in self.roundings]
        self._laws: dict[float, list[ComposedLaw]] = {}

    def ends(self, eps: float, rtol: float) -> tuple[float, float]:
        """Bounds of δ(ε), of finite losses; of a tolerance only the far changes of sign depend on it."""
        saddle_point = self.tilt.saddle_point(eps)
        log_small = math.log(rtol) + max(self.tilt.log_delta(eps, saddle_point), -690.0)
        # An untilted law serves every ε, but its round-off is seen in a δ near 1e-13.
        theta = 0.0 if log_small > math.log(1e-10) else saddle_point
        if theta not in self._laws:
            self._laws = {theta: [self._composed(grids, theta) for grids in self._grids]}
        laws = self._laws[theta]
        return laws[0].lower(rounding.above(eps), math.log(1e-3) + log_small), laws[-1].upper(rounding.below(eps))

    def _composed(self, grids: list[LossGrid], theta: float) -> ComposedLaw:
        transforms = [Transform.of(grid, theta, self.size) for grid in grids]
        return ComposedLaw(list(zip(transforms, self.counts, strict=True)), self.tilt, -(self.size // 2), self.size)


class ComposedLaw:
    """The tilted law of the sum of all rounds, on ``size`` points from ``low`` on (in units of the spacing)."""

    def __init__(self, rounds: Sequence[tuple[Transform, int]], tilt: Tilt, low: int, size: int) -> None:
        first = rounds[0][0]
        self.spacing, self.theta, self.low, self.size = first.grid.spacing, first.theta, low, size
        self.split = first.grid.rounding == "split"
        self.count = sum(count for _, count in rounds)
        chunks, etas, counts = zip(*((one.chunks(), one.eta, count) for one, count in rounds), strict=True)
        law, self.error = convolution(chunks, etas, counts, size)
        self.law = np.roll(law, -(low % size))
        self.log_scale = sum(count * transform.log_scale for transform, count in rounds)
        self.slack = sum(count * transform.slack() for transform, count in rounds)
        # Losses that are rounded down were moved down before.
        self.shift = sum(2 * count * transform.grid.shift for transform, count in rounds) if self.split else 0.0
        self.outside = tilt.outside(self.theta, self.log_scale, low * self.spacing, (low + size - 1) * self.spacing)
        self.outside += sum(count * len(transform.grid.masses) for transform, count in rounds) * _UNDERFLOW

    def _sum(self, eps: float, first: int, last: int) -> tuple[float, float]:
        r"""Σ law(x) |1 − e^{ε−x}| e^{−θ(x−ε)} over the points first … last in the window, and its error."""
        first, last = max(first, self.low), min(last, self.low + self.size - 1)
        gaps = np.arange(first, last + 1) * self.spacing - eps
        exponents = self.theta * gaps
        with np.errstate(under="ignore", over="ignore"):
            weights = np.abs(np.expm1(-gaps)) * (np.exp(-exponents) if self.theta else 1.0)
        inside = self.law[first - self.low : last + 1 - self.low]
        rounding = (len(gaps) + 8 + 4 * float(np.max(np.abs(exponents), initial=0.0))) * UNIT_ROUNDOFF
        error = self.error * math.sqrt(float(np.sum(weights**2))) + rounding * float(np.sum(np.abs(inside) * weights))
        return float(np.sum(inside * weights)), error

    def upper(self, eps: float) -> float:
        """A bound from above of E[1 − e^{ε−T}]_+."""
        eps = eps - self._grid_rounding()
        # The point just below ε and what is folded in only add.
        value, error = self._sum(eps, math.floor(eps / self.spacing), self.low + self.size - 1)
        # Above the window the weight is at most e^{−θ(x−ε)}.
        top = (self.low + self.size - 1) * self.spacing
        cut_off = self.outside * math.exp(min(-self.theta * (top - eps), 700.0))
        return scaled(value + error + cut_off, self.log_scale - self.theta * eps + self._rounding(eps))

    def lower(self, eps: float, log_beyond: float) -> float:
        """A bound from below of the true value; ``log_beyond`` is the log of what the far sign changes may cost."""
        eps = eps + self._grid_rounding() + self.shift
        first = math.floor(eps / self.spacing) + 1
        value, error = self._sum(eps, first, self.low + self.size - 1)
        error += self.outside / (1 + self.theta)  # what is folded in: (1 − e^{−y}) e^{−θy} <= 1/(1 + θ) for y > 0
        log_total, rounding = self.log_scale - self.theta * eps, self._rounding(eps)
        lower = scaled(value - error, log_total - rounding)
        if self.split:
            v = self.spacing * math.sqrt(-self.count * log_beyond / 2) + self.count * self.spacing**2 / 8
            last = math.ceil(v / self.spacing) + 1
            near, near_error = self._sum(eps, first - 1 - last, first + last)
            widest = (last + 2) * self.spacing
            if widest * (1 + self.theta) > 300:
                return 0.0  # the whole window is near
            near_error += self.outside * math.expm1(widest) * math.exp(self.theta * widest)
            lower -= scaled(near + near_error, log_total + rounding) + 2 * math.exp(log_beyond)
        return max(lower, 0.0)

    def _grid_rounding(self) -> float:
        """A point of the grid is computed with one rounding, and so is its distance to ε."""
        return 4 * UNIT_ROUNDOFF * self.spacing * (abs(self.low) + self.size)

    def _rounding(self, eps: float) -> float:
        return self.slack + 8 * UNIT_ROUNDOFF * (abs(self.log_scale) + abs(self.theta * eps) + 1)
