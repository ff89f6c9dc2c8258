r"""The law of the privacy loss :math:`\log(P/Q)` under P, as outcomes with errors, and on a grid.

On a grid every outcome is split between its two neighbours so that its mass under P *and* under Q stays:

.. math:: w_- + w_+ = 1, \qquad w_- e^{-z_-} + w_+ e^{-z_+} = e^{-s}.

Merging the two gives the outcome back, so the pair on the grid dominates the true one (data processing), in
compositions too, and its error is quadratic in the spacing. Rounding up (Koskela et al. 2021, Lemma 6) dominates as
well, with an error that is linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

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

    def only(self, places: npt.NDArray[np.int64]) -> Outcomes:
        """Some of the finite losses."""
        return replace(self, losses=self.losses[places], masses=self.masses[places])


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

    def divergence(self, eps: float) -> tuple[float, float]:
        r"""Bounds of :math:`\mathbb E_P[1 - e^{\varepsilon - s}]_+`, outcome by outcome."""
        lower, upper = 0.0, 0.0
        for block in self.blocks():
            for sign in (-1, 1):
                gaps = np.maximum(block.losses - (eps + sign * self.loss_error), 0.0)
                part = float(np.sum(block.masses * -np.expm1(-gaps)))
                lower, upper = (lower, upper + part) if sign < 0 else (lower + part, upper)
        error = self.mass_error + (16 + self.count) * UNIT_ROUNDOFF
        return max(lower * (1 - error), 0.0), upper * (1 + error)

    def together(self) -> Outcomes:
        """All outcomes in one block."""
        losses, masses = (
            np.concatenate([np.empty(0), *(getattr(block, name) for block in self.blocks())])
            for name in ("losses", "masses")
        )
        return Outcomes(losses, masses, 0.0, 0.0, self.mass_error, self.loss_error)

    def in_cells(self, cells: int) -> tuple[Outcomes, Outcomes]:
        r"""Two laws with one outcome for each of so many cells: one that is dominated and one that dominates.

        An outcome with the loss s in the cell [z, z + w] is split between its ends,

        .. math:: \frac{1 - e^{-(s - z)}}{1 - e^{-w}} \text{ to } z + w,

        which keeps its masses under P and Q: merging the two gives it back, so the split pair dominates. Merging all
        outcomes of one cell, P- and Q-mass by P- and Q-mass, forgets which it was: that pair is dominated, and is the
        same for the split outcomes as for the true ones. Both are so in compositions, too (data processing), and both
        are off by a share of the variance that does not depend on the number of rounds. The cells are wider far out.
        """
        edges = self._edges(cells)
        cells = len(edges) - 1
        low, high, most = np.zeros(cells), np.zeros(cells), np.zeros(cells)
        widths = np.diff(edges)
        for block in self.blocks():
            places = np.clip(np.searchsorted(edges, block.losses, side="right") - 1, 0, cells - 1)
            inside = np.clip(block.losses - edges[places], 0.0, widths[places])
            upper = block.masses * np.minimum(np.expm1(-inside) / np.expm1(-widths[places]), 1.0)
            low += np.bincount(places, block.masses - upper, cells)
            high += np.bincount(places, upper, cells)
            most += np.bincount(places, minlength=cells)
        mass_error = self.mass_error + (8 + 2 * float(np.max(most))) * UNIT_ROUNDOFF
        # Any split belongs to *some* loss: 8 roundings in a share are as many units of e^w − 1 in the loss.
        loss_error = self.loss_error + 8 * UNIT_ROUNDOFF * (math.expm1(float(np.max(widths))) + self.reach)
        full = low + high > 0
        shares = high[full] / (low[full] + high[full])
        merged = edges[:-1][full] - np.log1p(shares * np.expm1(-widths[full]))
        merged_error = loss_error + 4 * mass_error * math.expm1(float(np.max(widths)))
        masses = np.append(low, 0.0) + np.append(0.0, high)
        return (
            Outcomes(merged, (low + high)[full], 0.0, 0.0, mass_error, merged_error),
            Outcomes(edges[masses > 0], masses[masses > 0], 0.0, 0.0, mass_error, loss_error),
        )

    def _edges(self, cells: int) -> Array:
        """Ends of cells that hold all losses: about equally wide within four standard deviations of the mean, and in
        proportion to the distance from it farther out."""
        moments = np.zeros(3)
        for block in self.blocks():
            moments += [np.sum(block.masses * block.losses**power) for power in range(3)]
        mean = float(moments[1] / moments[0])
        spread = math.sqrt(max(float(moments[2] / moments[0]) - mean**2, 1e-12 * self.reach**2, 1e-290))
        first, last = (math.asinh((end - mean) / (4 * spread)) for end in (self.least, self.largest))
        edges = mean + 4 * spread * np.sinh(np.linspace(first, last, cells + 1))
        pad = 1e-9 * (self.largest - self.least) + 1e-12 * self.reach + 1e-290
        edges[0], edges[-1] = self.least - pad, self.largest + pad
        return np.unique(edges)


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


def multiplied_out(losses: Sequence[Losses], counts: Sequence[int]) -> Losses:
    """The finite losses of so many rounds of each, every combination of outcomes by itself; ``neglected`` are those
    whose mass is too small for a double.

    >>> coin = Losses(lambda: (Outcomes(np.array([-1.0, 1.0]), np.array([0.25, 0.75]), 0.0, 0.0, 0.0, 0.0),))
    >>> multiplied_out([coin], [3]).count
    8
    """
    s, p, copies = np.zeros(1), np.ones(1), sum(counts)
    for one, count in zip(losses, counts, strict=True):
        all_of_it = one.together()
        for _ in range(count):
            s, p = np.add.outer(s, all_of_it.losses).ravel(), np.multiply.outer(p, all_of_it.masses).ravel()
    reach = sum(count * one.reach for one, count in zip(losses, counts, strict=True))
    loss_error = sum(count * one.loss_error for one, count in zip(losses, counts, strict=True))
    mass_error = math.expm1(
        sum(count * (one.mass_error + UNIT_ROUNDOFF) for one, count in zip(losses, counts, strict=True))
    )
    block = Outcomes(s, p, 0.0, len(p) * 1e-306, mass_error, loss_error + copies * UNIT_ROUNDOFF * reach)
    return Losses(lambda: (block,))
