r"""Histograms of n draws from a few types, inside tail cuts: what they sum to, and how likely they are.

Counts are drawn type by type, each a binomial given what is left, so the cells of m types are m − 1 nested windows:
:math:`O(\sqrt n)` by :math:`O(\sqrt n)` for three types. Nothing is approximated inside the windows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.binomial import Array, Counts, bernstein_reach, binomial_laws, hoeffding_reach

BLOCK = 2**18  # cells that are worked on at once
CUTS = ("binomial", "hoeffding")
_ODDS_ERROR = 16 * FLOAT_ERROR  # of the quotient of two sums of probabilities


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
        log_tail = math.log(self.tail)
        return hoeffding_reach(size, log_tail) if self.cut == "hoeffding" else bernstein_reach(size, p, log_tail)

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
            rows = binomial_laws(np.arange(low, int(np.max(left[part])) + 1), p, q, reach, _ODDS_ERROR)
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
