r"""The law of the privacy loss :math:`\log(P/Q)` under P, as outcomes with errors, and on a grid.

On a grid every outcome is split between its two neighbours so that its mass under P *and* under Q stays:

.. math:: w_- + w_+ = 1, \qquad w_- e^{-z_-} + w_+ e^{-z_+} = e^{-s}.

Merging the two gives the outcome back, so the pair on the grid dominates the true one (data processing), in
compositions too, and its error is quadratic in the spacing. Rounding up (Koskela et al. 2021, Lemma 6) dominates as
well, with an error that is linear.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import Array
from shuffle_sym.numeric.tilting import log_mgf

_KEPT_OUTCOMES = 2**22  # more are computed again each time: they would fill the memory
_COARSE_POINTS = 2**10


@dataclass(frozen=True)
class Outcomes:
    """Some outcomes: their losses, their P-masses, and the P-mass of those that are impossible under Q or left out.

    ``mass_error`` bounds the relative error of the masses (the infinite one, too), ``loss_error`` that of the losses.
    """

    losses: Array
    masses: Array
    infinite: float
    neglected: float
    mass_error: float
    loss_error: float


class Losses:
    r"""A privacy loss distribution: outcomes in blocks, :math:`\delta(\infty)`, and a bound on what was left out.

    ``mass_error`` bounds the relative error of each mass, ``loss_error`` the error of each loss.
    """

    def __init__(self, blocks: Callable[[], Iterable[Outcomes]]) -> None:
        self._blocks = blocks
        self._kept: list[Outcomes] | None = []
        self._coarse: dict[float, LossGrid] = {}
        self.mass_error, self.loss_error, self.count = 0.0, 0.0, 0
        infinite, neglected = [], []
        self.least, self.largest = math.inf, -math.inf
        for block in blocks():
            infinite.append(block.infinite)
            neglected.append(block.neglected)
            self.mass_error = max(self.mass_error, block.mass_error)
            self.loss_error = max(self.loss_error, block.loss_error)
            if len(block.losses):
                self.count += len(block.losses)
                self.least = min(self.least, float(np.min(block.losses)))
                self.largest = max(self.largest, float(np.max(block.losses)))
                if self._kept is not None:
                    self._kept = [*self._kept, block] if self.count <= _KEPT_OUTCOMES else None
        self.infinite, self.neglected = math.fsum(infinite), math.fsum(neglected) * (1 + 1e-12)
        self.loss_error += 4 * UNIT_ROUNDOFF * self.reach

    @property
    def infinite_bounds(self) -> tuple[float, float]:
        """δ(∞) from below and from above."""
        error = self.mass_error + 1e-12
        return max(self.infinite * (1 - error), 0.0), self.infinite * (1 + error)

    @property
    def reach(self) -> float:
        """The largest absolute value of a loss."""
        return max(abs(self.least), abs(self.largest)) if self.count else 0.0

    def blocks(self) -> Iterable[Outcomes]:
        return self._blocks() if self._kept is None else self._kept

    @property
    def coarse_spacing(self) -> float:
        """A spacing at which the law has about a thousand points."""
        return max(self.largest - self.least, self.reach / 64, 2.0**-30) / _COARSE_POINTS

    def coarse(self, spacing: float) -> LossGrid:
        """The split law on a grid so coarse that its MGF costs nothing; see `LossGrid.log_mgfs`."""
        if spacing not in self._coarse:
            self._coarse[spacing] = LossGrid(self, spacing, "split")
        return self._coarse[spacing]


class LossGrid:
    r"""P-masses on the grid {i·spacing}: ``masses[i]`` is at (first + i)·spacing.

    Losses enter ``shift`` above the computed ones (for ``"down"``: below), so that the rounding of the losses and of
    their split is on the safe side; each true loss is at most 2·shift away from where it was put before the split.
    """

    def __init__(self, losses: Losses, spacing: float, rounding: str) -> None:
        self.losses, self.spacing, self.rounding = losses, spacing, rounding
        # Any split belongs to *some* loss: 8 roundings in w are as many units of e^spacing − 1 in the loss.
        self.shift = losses.loss_error + 8 * UNIT_ROUNDOFF * (math.expm1(spacing) + losses.reach)
        sign = -1 if rounding == "down" else 1
        if not losses.count:
            self.first, self.masses = 0, np.zeros(2)
        else:
            self.first = math.floor((losses.least + sign * self.shift) / spacing) - 1
            last = math.ceil((losses.largest + sign * self.shift) / spacing) + 1
            self.masses = np.zeros(last - self.first + 1)
            for block in losses.blocks():
                self._place(block.losses + sign * self.shift, block.masses)
        # Errors of the masses, of the split, and of adding them up.
        self.mass_error = losses.mass_error + (8 + losses.count) * UNIT_ROUNDOFF
        self.cap, self.dropped = math.inf, 0.0

    def _place(self, s: Array, masses: Array) -> None:
        if not len(s):
            return
        below = np.floor(s / self.spacing).astype(np.int64)
        if self.rounding == "split":
            x = np.clip(s - below * self.spacing, 0.0, self.spacing)
            upper_part = masses * np.minimum(np.expm1(-x) / math.expm1(-self.spacing), 1.0)
            self.masses += np.bincount(below - self.first, masses - upper_part, len(self.masses))
            self.masses += np.bincount(below + 1 - self.first, upper_part, len(self.masses))
        else:
            places = below + (self.rounding == "up") - self.first
            self.masses += np.bincount(places, masses, len(self.masses))

    def cap_for(self, mass: float) -> float:
        """A point of the grid that has a mass of at most ``mass`` above it: the one after the lowest such point with a
        mass of its own, so that some loss is at most there, on finer grids too."""
        above = np.cumsum(self.masses[::-1])[::-1] - self.masses
        return float(self.points[int(np.argmax((above <= mass) & (self.masses > 0))) + 1])

    def capped(self, cap: float) -> LossGrid:
        """The law without the points above ``cap``; their mass is ``dropped``, to be counted as δ(∞).

        Losses that are hardly ever reached would rule the tilted law, and the round-off with it.
        """
        above = self.points > cap
        if not np.any(self.masses[above]):
            return self
        rest = copy.copy(self)
        rest.cap, rest.masses = cap, np.where(above, 0.0, self.masses)
        rest.dropped = float(np.sum(self.masses[above])) * (1 + self.mass_error + 1e-12)
        return rest

    @property
    def points(self) -> Array:
        return np.arange(self.first, self.first + len(self.masses), dtype=float) * self.spacing

    def log_mgfs(self, thetas: Array) -> Array:
        r"""Bounds from above of :math:`\log \mathbb E_P[e^{\theta s}]` of the true law *and* of every split law on a
        finer grid that contains this one, for θ >= 0 or θ <= −1.

        :math:`e^{\theta s}` is a convex function of :math:`e^{-s}` there, and a coarser split is larger in convex
        order. Between −1 and 0 it would be a bound from below, and inf is returned.
        """
        kept = self.masses > 0
        logs = log_mgf(self.points[kept], self.masses[kept], thetas)
        reach = np.abs(thetas) * (np.max(np.abs(self.points)) + self.shift)
        rounding = self.mass_error + 2 * np.abs(thetas) * self.shift + UNIT_ROUNDOFF * (16 + 4 * reach)
        bounds: Array = np.where((thetas >= 0) | (thetas <= -1), logs + rounding, np.inf)
        return bounds
