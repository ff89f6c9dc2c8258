r"""Histograms of n draws from a few types, inside tail cuts: what they sum to, and how likely they are.

Counts are drawn type by type, each a binomial given what is left, so the cells of m types are m − 1 nested windows:
:math:`O(\sqrt n)` by :math:`O(\sqrt n)` for three types. Nothing is approximated inside the windows. A binomial law is
built by its ratios :math:`\frac{N-k}{k+1}\frac pq` outward from the mode, which costs a few roundings a step, and no
Γ function; beyond a window the ratios fall, so a geometric series bounds what is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.field import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.convolution import Array

Counts = npt.NDArray[np.int64]
BLOCK = 2**18  # cells that are worked on at once
CUTS = ("binomial", "hoeffding")
_TINY = 1e-280  # relative weights below this are cut: doubles lose their digits soon after


@dataclass(frozen=True)
class BinomialRows:
    """One binomial law a row: probabilities of first, first + 1, …, and a bound on what lies outside the window.

    Each probability is at most ``error`` (relative) away from the true one.
    """

    first: Counts
    probabilities: Array
    outside: float
    error: float


def binomial_rows(sizes: Counts, p: float, q: float, reach: int) -> BinomialRows:
    r"""The laws Bin(N, p/(p + q)) for all N in ``sizes``, up to ``reach`` steps to each side of their modes.

    ``p`` and ``q`` are doubles with relative errors of at most 8 FLOAT_ERROR.
    """
    odds = p / q
    modes = np.minimum(np.floor((sizes + 1) * (p / (p + q))).astype(np.int64), sizes)[:, np.newaxis]
    largest = sizes[:, np.newaxis]
    up, down = modes + np.arange(reach + 1), modes - np.arange(reach + 1)
    with np.errstate(under="ignore"):
        # A count outside 0 … N has ratio 0, and so have all beyond it.
        ups = np.maximum(largest - up, 0) / (up + 1) * odds
        downs = np.maximum(down, 0) / np.maximum(largest - down + 1, 1) / odds
        right, left = np.cumprod(ups[:, :-1], axis=1), np.cumprod(downs[:, :-1], axis=1)
    weights = np.concatenate([left[:, ::-1], np.ones_like(modes, dtype=float), right], axis=1)
    weights[weights < _TINY] = 0.0
    totals = np.sum(weights, axis=1)
    edges = [_geometric_tail(side, ratios) for side, ratios in ((right, ups), (left, downs))]
    outside = float(np.max((edges[0] + edges[1]) / totals)) * (1 + 1e-9) + 2 * (reach + 1) * _TINY
    # Odds, quotient and product in each of the `reach` steps; the same in the sum; the mass that the sum misses.
    error = 2 * reach * (16 * FLOAT_ERROR + 4 * UNIT_ROUNDOFF) + weights.shape[1] * UNIT_ROUNDOFF + outside
    first: Counts = (modes[:, 0] - reach).astype(np.int64)
    return BinomialRows(first, weights / totals[:, np.newaxis], outside, error)


def _geometric_tail(weights: Array, ratios: Array) -> Array:
    """A bound on the sum beyond the window, relative to the mode: w (ρ + ρ² + …), with ρ the next ratio."""
    last = weights[:, -1] if weights.shape[1] else np.ones(len(ratios))
    ratio = ratios[:, -1] * (1 + 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.where(ratio < 1, last * ratio / (1 - ratio), np.inf)
    return np.where(last * ratio == 0, 0.0, tail)


def binomial_reach(size: int, p: float, tail: float) -> int:
    """Steps from the mode beyond which less than ``tail`` lies, by Bernstein's inequality."""
    log_tail = math.log(2 / tail)
    variance = size * p * (1 - p)
    reach = log_tail / 3 + math.sqrt(log_tail**2 / 9 + 2 * variance * log_tail)
    return min(math.ceil(reach) + 2, size)


def hoeffding_reach(size: int, tail: float) -> int:
    r"""The window of Koskela et al. 2021, Section 6.2: c·N with :math:`c = \sqrt{\log(2/\tau)/(2N)}`.

    It does not know p, and is wider than the exact tail needs by a factor of about :math:`1/(2\sqrt{p(1-p)})`.
    """
    return min(math.ceil(math.sqrt(size * math.log(2 / tail) / 2)) + 2, size)


@dataclass(frozen=True)
class Block:
    """Some of the histograms: the two sums and the probability of each, and the probability that was left out."""

    first_sums: Array
    second_sums: Array
    probabilities: Array
    outside: float
    error: float
    sums_error: float = 0.0


class Histograms:
    r"""All histograms h of n draws with :math:`\sum_j h_j u_j`, :math:`\sum_j h_j v_j` and their probability.

    ``u`` and ``v`` are non-negative; every input double has a relative error of at most 4 FLOAT_ERROR. At most about
    ``tail`` of the probability is left out, and how much is said in the blocks: with ``cut="binomial"`` what the exact
    tails say, with ``"hoeffding"`` what that inequality says.
    """

    def __init__(self, u: Array, v: Array, probabilities: Array, n: int, tail: float, cut: str = "binomial") -> None:
        order = np.argsort(-probabilities, kind="stable")  # the likeliest first: it takes the widest window alone
        self.u, self.v, self.p, self.n = u[order], v[order], probabilities[order], n
        # Where a window ends there is half of it left to come, level by level.
        self.tail, self.cut = tail / max(2 * (len(order) - 1), 1), cut

    def cell_count(self) -> float:
        """About how many histograms there are inside the windows."""
        sizes = [math.ceil(self.n * float(np.sum(self.p[level:]))) for level in range(len(self.p) - 1)]
        shares = [float(self.p[level] / np.sum(self.p[level:])) for level in range(len(self.p) - 1)]
        return math.prod(2.0 * self._reach(s, p) + 1 for s, p in zip(sizes, shares, strict=True))

    def blocks(self) -> Iterator[Block]:
        start = np.zeros(1)
        yield from self._drawn(0, np.array([self.n]), start, start, np.ones(1), 0.0)

    def _reach(self, size: int, p: float) -> int:
        return hoeffding_reach(size, self.tail) if self.cut == "hoeffding" else binomial_reach(size, p, self.tail)

    def _drawn(self, level: int, left: Counts, u: Array, v: Array, mass: Array, error: float) -> Iterator[Block]:
        """Draw the count of the type ``level`` in every one of these partial histograms."""
        if level == len(self.p) - 1:
            sums = (len(self.p) + 2) * (UNIT_ROUNDOFF + 2 * FLOAT_ERROR)
            yield Block(u + left * self.u[level], v + left * self.v[level], mass, 0.0, error + sums, sums)
            return
        p, q = float(self.p[level]), float(np.sum(self.p[level + 1 :]))
        reach = self._reach(int(np.max(left)), p / (p + q))
        each = max(BLOCK // (2 * reach + 1), 1)
        for start in range(0, len(left), each):
            part = slice(start, start + each)
            low = int(np.min(left[part]))
            rows = binomial_rows(np.arange(low, int(np.max(left[part])) + 1), p, q, reach)
            part_error, width = error + rows.error + 2 * UNIT_ROUNDOFF, rows.probabilities.shape[1]
            which = left[part] - low
            probabilities = mass[part, np.newaxis] * rows.probabilities[which]
            counts = rows.first[which][:, np.newaxis] + np.arange(width)
            # Corners of the windows are hardly ever reached: they are left out, and counted.
            kept = probabilities > (self.tail * 1e-3 / BLOCK if self.cut == "binomial" else 0.0)
            beyond = rows.outside if self.cut == "binomial" else max(rows.outside, self.tail)
            outside = float(np.sum(probabilities[~kept])) * (1 + 1e-9) + beyond * float(np.sum(mass[part]))
            counts, owner = counts[kept], np.nonzero(kept)[0]
            yield Block(np.zeros(0), np.zeros(0), np.zeros(0), outside, part_error)
            if len(owner):
                yield from self._drawn(
                    level + 1,
                    left[part][owner] - counts,
                    u[part][owner] + counts * self.u[level],
                    v[part][owner] + counts * self.v[level],
                    probabilities[kept],
                    part_error,
                )
