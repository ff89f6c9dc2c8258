r"""Certified :math:`\delta(\varepsilon)` of many rounds by an integral along a vertical line, at a cost that does not
grow with the number of rounds.

Let S be the sum of the losses of all rounds under P and :math:`\Psi(z) = \mathbb E_P[e^{zS}]`, a product of powers of
finite sums. For every θ > 0, with z = θ + it,

.. math:: \delta(\varepsilon) = \mathbb E_P[1 - e^{\varepsilon - S}]_+
          = \frac1{2\pi} \int \frac{\Psi(z) e^{-z\varepsilon}}{z(z+1)} \, dt.

**Noise.** The pair (P, Q) is composed with the Gaussian pair whose loss is :math:`L_\tau \sim N(\tau/2, \tau)`: the
integrand is multiplied by :math:`e^{\tau z(z+1)/2}` and falls like :math:`e^{-\tau t^2/2}`, so that the line may be cut
off. Forgetting the noise gives the pair back, so δ_τ >= δ (data processing). Conversely, let
:math:`p_u(\varepsilon)` be the density of S + L_u at ε. Then :math:`\partial_u \delta_u = p_u / 2`, and for
u <= τ the ratio of the densities of L_u and L_τ at any point is at most
:math:`\sqrt{\tau/u}\, e^{(\tau-u)/8}` (in the exponents the terms that are linear in the point cancel). Hence

.. math:: 0 \le \delta_\tau - \delta = \tfrac12 \int_0^\tau p_u \, du
          \le \tfrac12 p_\tau e^{\tau/8} \int_0^\tau \sqrt{\tau/u} \, du = \tau e^{\tau/8} p_\tau,

and :math:`p_\tau` is the same integral without z(z + 1): both ends come from one pass over the line. The error is
relative to the variance of the *sum*, however many rounds there are.

=================  ==========================================================================================
noise              only adds; for the lower end :math:`\tau e^{\tau/8} p_\tau` is taken off
steps of length h  the trapezoidal sum is :math:`\sum_m e^{\theta m W} \delta_\tau(\varepsilon + mW)`, W = 2π/h
                   (Poisson): the terms m ≠ 0 only add; for the lower end Chernoff bounds of them are taken off
cut-off at T       the Gaussian factor, integrated
transform, powers  the roundings of each node, added up
masses             δ has positive coefficients in them: a factor (1 ± κ)^rounds
losses             ε moved by the sum of their errors, down for the upper end and up for the lower
=================  ==========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import Array, Complex
from shuffle_sym.numeric.losses import Outcomes
from shuffle_sym.numeric.tilting import TiltedSum, log_mgf, scaled, tilted

MOST_NODES = 2**20
_BLOCK = 256  # outcomes that are added up at a time: the roundings go with it
_UNDERFLOW = 1e-290  # bounds each tilted mass that is not a normal double
SMALLEST = 1e-260  # a smaller δ is told from 0 to an upper end
_MOST_PRODUCTS = 2e10  # of a node and an outcome, for one line: half a minute
_MOST_NOISE = 2.0  # its variance: e^{τ/8} stays near 1
_MOST_LINES = 8
_MOST_GUESSES = 4
_KEPT = 6
_SHARE = 1 / 16  # of the tolerance: for what is folded in, and for what is cut off

Rounds = Sequence[tuple[Outcomes, int]]


class Ends(NamedTuple):
    """Bounds of the part of δ that finite losses make, and how much of the width is due to the noise."""

    lower: float
    upper: float
    noise: float

    def within(self, room: float) -> bool:
        return self.upper - self.lower <= room

    def tighter(self, other: Ends, dropped: float) -> Ends:
        """The better of either end; ``dropped`` is the probability of what the other does not see."""
        return Ends(max(self.lower, other.lower), min(self.upper, other.upper + dropped), other.noise)


class LossSum(TiltedSum):
    """The sum of the losses of independent rounds, its moment generating function and its tilts."""

    def __init__(self, rounds: Rounds) -> None:
        super().__init__([(one.losses, one.masses, count) for one, count in rounds])
        self.rounds = rounds
        self._known_logs: dict[tuple[float, float], tuple[Array, Array]] = {}

    @property
    def copies(self) -> int:
        return sum(count for _, count in self.rounds)

    @property
    def outcomes(self) -> int:
        return sum(len(one.losses) for one, _ in self.rounds)

    @property
    def largest(self) -> float:
        """A bound on the sum."""
        return sum(c * (float(np.max(one.losses, initial=-math.inf)) + 2 * one.loss_error) for one, c in self.rounds)

    def log_mgfs(self, thetas: Array) -> Array:
        """Bounds from above of the logarithm of the MGF."""
        total = np.zeros(len(thetas))
        for one, count in self.rounds:
            reach = float(np.max(np.abs(one.losses)))
            slack = 2 * one.mass_error + UNIT_ROUNDOFF * (len(one.losses) + 16 + 4 * thetas * reach)
            total += count * (log_mgf(one.losses, one.masses, thetas) + slack + thetas * one.loss_error)
        return total

    def tail_logs(self, theta: float, tau: float) -> tuple[Array, Array]:
        r"""Rates λ on either side of θ, and bounds of :math:`\log \sup_y \delta_\tau(y) e^{\lambda y}`."""
        if (theta, tau) not in self._known_logs:
            spread = min(math.sqrt(max(self.cumulants(theta)[2] + tau, 1e-280)), 1e6 / theta)
            rates = np.concatenate(
                [[0.0], theta * (1 - np.geomspace(1e-3, 0.98, 20)), theta + np.geomspace(0.1, 50, 24) / spread]
            )
            # (1 − e^{−x}) e^{−λx} <= 1/(1 + λ) for x > 0.
            logs = self.log_mgfs(rates) + tau * rates * (rates + 1) / 2 - np.log1p(rates)
            self._known_logs[theta, tau] = rates, logs
        return self._known_logs[theta, tau]

    def capped(self, mass: float) -> tuple[LossSum, float]:
        """The sum without the largest losses, of which each round has at most so much, and a bound on the probability
        that some round has one: losses that are hardly ever reached would rule the tilted law."""
        kept, log_rest = [], 0.0
        for one, count in self.rounds:
            order = np.argsort(one.losses)[::-1]
            first = int(np.searchsorted(np.cumsum(one.masses[order]), mass, side="right"))
            first = min(first, len(order) - 1)
            dropped = float(np.sum(one.masses[order[:first]])) * (1 + one.mass_error + 1e-12)
            log_rest += count * math.log1p(-dropped)
            kept.append((one.only(np.sort(order[first:])), count) if first else (one, count))
        return LossSum(kept), -math.expm1(log_rest)


@dataclass(frozen=True)
class Plan:
    """A line Re z = θ, its step, the variance of the noise, and the number of nodes on either side."""

    theta: float
    tau: float
    step: float
    nodes: int

    @staticmethod
    def of(law: LossSum, eps: float, theta: float, log_delta: float, rtol: float, tau: float) -> Plan:
        """What a δ of about that size needs, to within a share of ``rtol``, with one of few windows and depths, so that
        questions that are close to each other have the same line."""
        log_room = log_delta + math.log(_SHARE * rtol)
        rates, logs = law.tail_logs(theta, tau)
        reaches = (logs - rates * eps - log_room) / np.abs(rates - theta)
        least = math.sqrt(law.cumulants(theta)[2] + tau)
        window = max(float(np.min(reaches[rates < theta])), float(np.min(reaches[rates > theta])), least)
        log_scale = law.cumulants(theta)[0] - theta * eps + tau * theta * (theta + 1) / 2
        depth = math.ceil(max(log_scale + math.log(tau) / 2 - log_room, 1.0))
        step = 2 * math.pi / (1.01 * 2.0 ** (math.ceil(8 * math.log2(window)) / 8))
        return Plan(theta, tau, step, math.ceil(math.sqrt(2 * depth / tau) / step))


class Line:
    """The transform along a line, for any ε near the one that the line was chosen for."""

    def __init__(self, law: LossSum, plan: Plan) -> None:
        self.law, self.plan = law, plan
        self._rates, self._logs = law.tail_logs(plan.theta, plan.tau)
        self._t = np.arange(plan.nodes + 1) * plan.step
        exponents = np.zeros(plan.nodes + 1, dtype=complex)
        log_bounds, relative = np.zeros(plan.nodes + 1), np.zeros(plan.nodes + 1)
        self.log_scale, self.slack, self.shift, self.centre, self.lost = 0.0, 0.0, 0.0, 0.0, 0.0
        log_sum = 0.0  # how far the weights may add up to more than 1
        for one, count in law.rounds:
            weights, log_scale = tilted(one.losses, one.masses, plan.theta)
            centre = float(weights @ one.losses)
            x, reach = one.losses - centre, float(np.max(np.abs(one.losses)))
            entries = transform(x, weights, plan.step, plan.nodes + 1)
            eta = UNIT_ROUNDOFF * (4 * (_BLOCK + len(x) / _BLOCK + 16) + 8 * self._t * float(weights @ np.abs(x)))
            size = np.abs(entries)
            with np.errstate(divide="ignore"):
                logs = np.log(np.where(size > 0, entries, 1e-300))
            exponents += count * logs
            # |Π(z + η)^k − Π z^k| <= Π(|z| + η)^k · Σ kη/(|z| + η), and the rounding of exp(Σ k log z).
            log_bounds += count * np.log(size + eta)
            relative += count * (eta / (size + eta) + 8 * UNIT_ROUNDOFF * (1 + np.abs(logs)))
            self.log_scale += count * log_scale
            self.slack += count * (one.mass_error + UNIT_ROUNDOFF * (12 + 4 * plan.theta * reach + 4 * abs(log_scale)))
            self.shift += count * (one.loss_error + 4 * UNIT_ROUNDOFF * (reach + abs(centre)))
            self.centre += count * centre
            self.lost += count * len(x) * _UNDERFLOW
            log_sum += count * (len(x) + 16) * UNIT_ROUNDOFF
        self._largest = math.exp(min(log_sum, 700.0))
        t, tau, theta = self._t, plan.tau, plan.theta
        self._exponents: Complex = exponents - tau * t * t / 2 + 1j * tau * t * (theta + 0.5)
        with np.errstate(under="ignore"):
            self._bounds: Array = np.exp(log_bounds - tau * t * t / 2)
        self._relative: Array = relative + 16 * UNIT_ROUNDOFF * (1 + tau * t * (t + theta + 1))
        z = theta + 1j * t
        self._weights = np.asarray(1 / (z * (z + 1)), dtype=complex)

    def ends(self, eps: float) -> Ends:
        """Bounds of the true δ(ε), of finite losses."""
        shift = self.shift + 4 * UNIT_ROUNDOFF * (abs(eps) + abs(self.centre))
        tau, theta = self.plan.tau, self.plan.theta
        log_scale = self.log_scale + tau * theta * (theta + 1) / 2
        slack = self.slack + 8 * UNIT_ROUNDOFF * (abs(self.log_scale) + abs(theta * eps) + 1)
        cut, cut_density = self._cut_off()
        above, error, _, _ = self._integrals(eps - shift)
        log_factor = log_scale - theta * (eps - shift) + slack
        upper = scaled(above + error + cut + self.lost, log_factor)
        below, error, density, density_error = self._integrals(eps + shift)
        log_factor = log_scale - theta * (eps + shift)
        noise = tau * (math.exp(tau / 8) if tau < 5000 else math.inf) * (density + density_error + cut_density)
        folded = math.exp(min(self._log_folded(eps + shift) + slack - log_factor, 700.0))
        lower = scaled(below - error - cut - folded - noise, log_factor - slack)
        return Ends(lower, min(upper, 1.0), scaled(noise, log_factor))

    def _integrals(self, eps: float) -> tuple[float, float, float, float]:
        """The trapezoidal sums for δ and for the density, over e^log_scale, and bounds of their rounding errors."""
        y = eps - self.centre
        with np.errstate(under="ignore"):
            values = np.exp(self._exponents - 1j * (self._t * y))
        values[1:] *= 2
        errors = self._bounds * (self._relative + UNIT_ROUNDOFF * (len(values) + 4 * self._t * abs(y)))
        step = self.plan.step / (2 * math.pi)
        delta, density = (step * float(np.sum(part)) for part in ((values * self._weights).real, values.real))
        error = 2 * step * float(np.sum(errors * np.abs(self._weights)))
        return delta, error, density, 2 * step * float(np.sum(errors))

    def _cut_off(self) -> tuple[float, float]:
        """What lies beyond the last node, of either sum: integrals of the Gaussian factor, over t² and as it is."""
        tau, end = self.plan.tau, float(self._t[-1])
        gauss = self._largest * math.exp(-tau * end * end / 2) / math.pi
        return gauss * min(1 / end, 1 / (tau * end**3)), gauss * min(1 / (tau * end), math.sqrt(math.pi / 2 / tau))

    def _log_folded(self, eps: float) -> float:
        """The log of a bound on what the step folds in: a geometric series on either side, at the best of some
        rates."""
        window = 2 * math.pi / self.plan.step
        gaps = np.abs(self._rates - self.plan.theta) * window
        logs = self._logs - self._rates * eps - gaps - np.log(-np.expm1(-gaps))
        before = self._rates < self.plan.theta
        return float(np.logaddexp(np.min(logs[before]), np.min(logs[~before]))) + 1e-9


class Inversion:
    """δ of a sum of losses at any ε, to any tolerance.

    Which lines are used follows from ε and the tolerance alone; they are kept, because few of them serve all ε.
    """

    def __init__(self, law: LossSum) -> None:
        self.law = law
        self._capped: dict[float, tuple[LossSum, float]] = {}
        self._lines: dict[tuple[float, Plan], Line] = {}

    def ends(self, eps: float, rtol: float, infinite: float = 0.0) -> Ends:
        """Bounds of δ(ε), of finite losses, within ``rtol`` of the upper end and what is ``infinite`` beside it; or as
        close as lines of `MOST_NODES` and doubles bring them."""
        largest = self.law.largest + 4 * UNIT_ROUNDOFF * (abs(eps) + abs(self.law.largest))
        reached = Ends(0.0, min(-math.expm1(eps - largest), 1.0), 0.0)
        guess, ratio = 0.0, 0.5
        for number in range(_MOST_LINES):
            plan, law, dropped, guess = self._plan(eps, rtol, guess, ratio)
            if plan.nodes > MOST_NODES or plan.nodes * law.outcomes > _MOST_PRODUCTS:
                coarser = 100 * rtol
                if coarser > 0.5 or reached.within(coarser * (reached.upper + infinite)):
                    break
                return reached.tighter(self.ends(eps, coarser, infinite), 0.0)
            found, before = self._line(law, plan, dropped).ends(eps), reached
            reached = reached.tighter(found, dropped)
            room = rtol * (reached.upper + infinite)
            # Where a line with less noise is no better, round-off is what is seen.
            blurred = number > 1 and reached.upper - reached.lower > 0.7 * (before.upper - before.lower)
            if reached.within(room) or reached.upper < SMALLEST or blurred:
                break
            # A density that is higher than guessed is one near an atom: its noise falls with the root of τ only.
            ratio *= 2.0 ** math.floor(2 * math.log2(min(max(0.4 * room / max(found.noise, 1e-300), 1 / 20), 1.0)))
            guess = min(guess, math.log(reached.upper)) - 0.5
        return reached

    def _line(self, law: LossSum, plan: Plan, dropped: float) -> Line:
        """A line for the law without losses of that probability; the last few are kept."""
        line = self._lines.get((dropped, plan)) or Line(law, plan)
        self._lines = {**dict(list(self._lines.items())[1 - _KEPT :]), (dropped, plan): line}
        return line

    def _without(self, rare: float) -> tuple[LossSum, float]:
        """The sum without losses that are as rare as that, and the probability of these; the last few are kept."""
        answer = self._capped.get(rare) or self.law.capped(rare)
        self._capped = {**dict(list(self._capped.items())[-_KEPT:]), rare: answer}
        return answer

    def _plan(self, eps: float, rtol: float, guess: float, ratio: float) -> tuple[Plan, LossSum, float, float]:
        """A line for a δ of at most e^guess; the losses without those that are too rare to matter for it, the
        probability of these, and a better guess."""
        law, dropped, log_delta = self.law, 0.0, guess
        for _ in range(_MOST_GUESSES):
            theta = law.saddle_point(eps)
            log_delta = max(min(guess, law.log_delta(eps, theta)), math.log(SMALLEST))
            rare = 10.0 ** (3 * math.floor((log_delta + math.log(1e-3 * rtol / law.copies)) / math.log(1e3)))
            shorter, probability = self._without(rare)
            if shorter.largest <= eps or probability == dropped:
                break
            law, dropped = shorter, probability
        tau = min(ratio * rtol / (theta * (1 + theta)), _MOST_NOISE)
        return Plan.of(law, eps, theta, log_delta, rtol, tau), law, dropped, log_delta


def transform(x: Array, weights: Array, step: float, count: int) -> Complex:
    r"""Σ w e^{i j step x} for j = 0 … count − 1: a product of two matrices for each block of outcomes.

    >>> [complex(round(v.real, 12), round(v.imag, 12)) for v in transform(np.array([math.pi]), np.ones(1), 0.5, 3)]
    [(1+0j), 1j, (-1+0j)]
    """
    width = math.isqrt(count - 1) + 1
    rows, columns = -(-count // width), width
    total = np.zeros((rows, columns), dtype=complex)
    for start in range(0, len(x), _BLOCK):
        block, masses = x[start : start + _BLOCK], weights[start : start + _BLOCK]
        far = np.exp(1j * np.multiply.outer(np.arange(rows) * (columns * step), block))
        near = np.exp(1j * np.multiply.outer(block, np.arange(columns) * step)) * masses[:, np.newaxis]
        total += far @ near
    return total.reshape(-1)[:count]
