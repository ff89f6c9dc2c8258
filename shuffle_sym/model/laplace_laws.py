r"""Finitely many laws that are above everything that the other users of Laplace noise can add, for all pairs of inputs.

p_x is the density of Laplace noise around x in [0, 1], and (u, v | x) the law of (p_u − αp_v)/p_x under p_x, α >= 1. A
law is *above* another one if it is larger in convex order; all of them have the mean 1 − α. Whatever the two inputs of
the first user are, in [0, 1] and with a divergence that is not 0, the law of every other user is below one of

.. math:: (0, 1 \mid x), \qquad (a, 1 \mid 0), \qquad (1, a \mid 0), \qquad 0 \le x, a \le 1

(by translation, the mirror and log-concavity; `papers.ours.noise`). These are infinitely many, each continuous.
Let d be ε0 times the width of a cell of [0, 1].

**Messages.** Between neighbouring nodes that have u, v, x among them, (p_u − αp_v)/p_x is monotone: it is affine in
e^{2ε0y} right of x and in e^{−2ε0y} left of x. So to move the mass of a cell to its two ends, keeping the mean of G, is
the same for all u, v and α, and it goes up in convex order. From a cell, a node y gets ½ e^{−ε0|y−x|} tanh(d/2), and
from a tail ½ e^{−ε0|y−x|}, where G is constant.

**The others' input** x in a cell [l, h] of width Δ. With θ = sinh ε0(h−x)/sinh ε0Δ and η = sinh ε0(x−l)/sinh ε0Δ,

.. math:: p_x \ge \theta p_l + \eta p_h, \qquad \theta + \eta = \frac{\cosh \varepsilon_0(x - (l+h)/2)}{\cosh(d/2)}
          \ge \frac1\kappa, \quad \kappa = \cosh(d/2),

with equality outside the cell: p_x is a solution of p'' = ε0²p but for its bend at x, which makes it larger. R f(w/R)
is convex and homogeneous in (R, w), and p f(w/p) + (1 − p) f(0) falls with p. So (0, 1 | x) is below a mixture of the
laws of κG with probability 1/κ, else 0, for G = (0, 1 | l) and G = (0, 1 | h).

**The first user's input** a in a cell C = [l, h]. Outside C, p_a = θp_l + ηp_h, a mean with weights that add up to 1 of
p_l, p_h, p_l/κ and p_h/κ. For y in C the value of G is in an interval which does not depend on a. So (a, 1 | 0) is
below a mixture of four laws: G with one of these four in the place of p_a outside C, and in C the two ends of the
interval, with the mean that makes that of all 1 − α. The same for (1, a | 0).

All of this costs an amount that is quadratic in d.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import balls
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.laws_in_cells import LawsInCells, Raised, doubles

Numbers = npt.NDArray[Any]  # doubles, or balls: one formula for both

_BITS = 256
_ROOM = 2e-15
_MOST_EPS0 = 16
_FEWEST_STEPS, _STEPS_PER_LOSS = 11, 8
_GROWTH = 5  # a cell of messages may be as long as its distance from an end over this
_ALLOWED = 1e-3  # excess of a variance over the largest one that is worth no smaller cell
_WIDE = 2**20  # one part in so many, by which a range is wider than it has to be: no probability is 0
_TYPICAL = (0.0, 1 / 16)  # ε over ε0 at which cells are chosen


@dataclass(frozen=True)
class Inside:
    """What is known of G = A − αB in a cell of messages: ranges and means of A and of B, and the cell's mass."""

    range_a: tuple[Any, Any]
    range_b: tuple[Any, Any]
    mean_a: Any
    mean_b: Any
    mass: Any


@dataclass(frozen=True)
class Law:
    """A law of G = A − αB for every α: values of A and of B and their probabilities, and possibly a cell."""

    a: Numbers
    b: Numbers
    p: Numbers
    inside: Inside | None = None

    def at(self, alpha: Any) -> tuple[Numbers, Numbers]:
        """Values and probabilities at one α."""
        values = self.a - alpha * self.b
        if (cell := self.inside) is None:
            return values, self.p
        low, high = cell.range_a[0] - alpha * cell.range_b[1], cell.range_a[1] - alpha * cell.range_b[0]
        share = cell.mass * (cell.mean_a - alpha * cell.mean_b - low) / (high - low)
        return np.append(values, [low, high]), np.append(self.p, [cell.mass - share, share])

    def variance(self, alpha: float) -> float:
        values, probabilities = self.at(alpha)
        return float((probabilities * values * values).sum() - (probabilities * values).sum() ** 2)


class LaplaceGrid:
    """Laplace noise on nodes of [0, 1], in steps of 1/m: ``power(k)`` is e^{kε0/(2m)}, for arrays of integers k.

    ``nodes`` increase from 0 to m; inputs and ends of cells are some of them.
    """

    def __init__(self, nodes: Sequence[int], power: Callable[[Any], Any]) -> None:
        self.nodes, self.m, self.power = np.array(nodes), nodes[-1], power
        ends = power(2 * np.diff(self.nodes))
        #: tanh(d/2)/2 of the cell after each node, and of that before it
        self.after = np.append((ends - 1) / (ends + 1), power(0)) / 2
        self.before = np.append(self.after[-1], self.after[:-1])

    def ratios(self, u: int, x: int) -> Numbers:
        """p_u/p_x at the nodes."""
        return np.asarray(self.power(2 * (np.abs(self.nodes - x) - np.abs(self.nodes - u))))

    def masses(self, x: int) -> Numbers:
        """The probabilities of the nodes for the input at node x; they add up to 1."""
        return np.asarray((self.before + self.after) * self.power(-2 * np.abs(self.nodes - x)))

    def around(self, x: int, width: int) -> Law:
        """A law that is above a part of (0, 1 | x'), x' in a cell of so many steps with an end at node x."""
        kappa = (self.power(width) + self.power(-width)) / 2
        a, b, p = kappa * self.ratios(0, x), kappa * self.ratios(self.m, x), self.masses(x) / kappa
        nothing = self.power(0) - self.power(0)
        return Law(np.append(a, nothing), np.append(b, nothing), np.append(p, 1 - 1 / kappa))

    def between(self, low: int, high: int) -> Iterator[Law]:
        """Eight laws: mixtures of them are above (a, 1 | 0) and (1, a | 0) for a from node ``low`` to node ``high``."""
        m, power = self.m, self.power
        outside = (self.nodes <= low) | (self.nodes >= high)
        # Nodes at the ends of the cell keep what they get from outside.
        parts = np.where(self.nodes == high, 0, self.before) + np.where(self.nodes == low, 0, self.after)
        base = (parts * power(-2 * self.nodes))[outside]
        mass = (power(-2 * low) - power(-2 * high)) / 2
        fixed = self.ratios(m, 0)[outside]
        range_fixed, mean_fixed = (power(4 * low - 2 * m), power(4 * high - 2 * m)), (1 - (base * fixed).sum()) / mass
        kappa = (power(high - low) + power(low - high)) / 2
        moving = [r / k for r in (self.ratios(low, 0)[outside], self.ratios(high, 0)[outside]) for k in (kappa, 1)]
        means = [(1 - (base * r).sum()) / mass for r in moving]
        ends = min(power(4 * low - 2 * high), *means, key=float), max(power(2 * high), *means, key=float)
        range_moving = ends[0] * (_WIDE - 1) / _WIDE, ends[1] * (_WIDE + 1) / _WIDE
        for ratios, mean in zip(moving, means, strict=True):
            yield Law(ratios, fixed, base, Inside(range_moving, range_fixed, mean, mean_fixed, mass))
            yield Law(fixed, ratios, base, Inside(range_fixed, range_moving, mean_fixed, mean, mass))


def _nodes(m: int) -> list[int]:
    """Every step at first, from either end, and then fewer: G is large at the ends."""
    half, place = [0], 0
    while (place := place + max(place // _GROWTH, 1)) <= m // 2:
        half.append(place)
    return [*half, *(m - place for place in reversed(half))]


class LaplaceLaws:
    """The laws above for one ε0, of users who take part with probability q: exact numbers.

    Who stays away sends a message that is as likely for all inputs: G = 1 − α with probability 1 − q.
    """

    def __init__(self, eps0: sp.Expr, q: sp.Expr = sp.S.One) -> None:
        m = int(sp.nextprime(max(int(_STEPS_PER_LOSS * eps0), _FEWEST_STEPS) - 1))  # few α have a node with G = 0
        nodes, last = _nodes(m), 4 * m
        with balls.LOCK, balls.workprec(_BITS):
            self._eps0, self._q = balls.value(eps0), balls.value(q)
            step = (self._eps0 / (2 * m)).exp()
            powers = np.array([step**k for k in range(-last, last + 1)], dtype=object)
            rough = powers.astype(float)
            cells = _Cells(LaplaceGrid(nodes, lambda k: rough[k + last]), float(eps0))
            self.rows = _rows(list(_chosen(LaplaceGrid(nodes, lambda k: powers[k + last]), cells)), self._q)

    def local(self, ratio: Ratio) -> float:
        """An upper end of the largest divergence of one user, that of the inputs 0 and 1."""
        with balls.LOCK, balls.workprec(_BITS):
            gap = 1 - ((ratio.from_one().ball.log() - self._eps0) / 2).exp()
            return min(max(balls.upper(self._q * gap), 0.0), 1.0)

    def at(self, alpha: float) -> list[Raised]:
        """Values and probabilities of all laws at one α >= 1."""
        return self.rows.at(alpha)


def _rows(laws: list[Law], q: Any) -> LawsInCells:
    """The laws as doubles; single values are cells, and so is staying away."""
    one, size = balls.ball(1), max(len(law.p) for law in laws) + 2
    ends: list[list[Numbers]] = [[], [], [], [], [], []]  # A and B at the upper ends, the lower ends, the means
    masses = []
    for law in laws:
        cell = law.inside or Inside((one, one), (one, one), one, one, one - one)
        more = [cell.range_a[1], cell.range_b[0], cell.range_a[0], cell.range_b[1], cell.mean_a, cell.mean_b]
        empty = [one] * (size - len(law.p) - 2)
        for place, (values, last) in enumerate(zip([law.a, law.b] * 3, more, strict=True)):
            ends[place].append(doubles([*values, last, one, *empty]))
        masses.append(doubles([*(q * p for p in law.p), q * cell.mass, 1 - q, *(0 * p for p in empty)]))
    upper_a, upper_b, lower_a, lower_b, mean_a, mean_b = map(np.array, ends)
    a, b = np.array([[upper_a], [lower_a]]), np.array([[upper_b], [lower_b]])
    return LawsInCells(a, b, np.array([mean_a, mean_b]), np.array(masses), np.zeros((len(laws), 1)), _ROOM)


class _Cells:
    """Where cells of inputs end, as numbers of nodes: the longest ones that do no harm at typical α; any are right."""

    def __init__(self, grid: LaplaceGrid, eps0: float) -> None:
        self.grid, self.alphas = grid, [float(np.exp(share * eps0)) for share in _TYPICAL]
        plain = [Law(grid.ratios(0, x), grid.ratios(grid.m, x), grid.masses(x)) for x in grid.nodes]
        self.limits = [max(law.variance(alpha) for law in plain) * (1 + _ALLOWED) for alpha in self.alphas]

    @cached_property
    def others(self) -> list[int]:
        return self._ends(lambda low, high: [self.grid.around(low, high - low), self.grid.around(high, high - low)])

    @cached_property
    def first(self) -> list[int]:
        return self._ends(lambda low, high: list(self.grid.between(low, high))[:2])

    def _ends(self, laws: Callable[[int, int], list[Law]]) -> list[int]:
        nodes = [int(node) for node in self.grid.nodes]
        ends = nodes[:1]
        for place, following in pairwise(nodes[1:]):
            if not self._harmless(laws(ends[-1], following)):
                ends.append(place)
        return [*ends, nodes[-1]]

    def _harmless(self, laws: list[Law]) -> bool:
        return all(
            law.variance(alpha) <= limit for law in laws for alpha, limit in zip(self.alphas, self.limits, strict=True)
        )


def _chosen(grid: LaplaceGrid, cells: _Cells) -> Iterator[Law]:
    ends = cells.others
    widths = [0, *(high - low for low, high in pairwise(ends)), 0]
    for node, width in zip(ends, map(max, pairwise(widths)), strict=True):
        yield grid.around(node, width)
    for low, high in pairwise(cells.first):
        yield from grid.between(low, high)


@cached_by_value
def laws_of(R: Continuous, q: sp.Expr = sp.S.One) -> LaplaceLaws | None:
    """The laws above if R is Laplace noise, with an ε0 that is not too large for so many nodes; else None.

    Inputs in another interval than [0, 1], and messages, are translated and scaled: that does not change any law.
    """
    if not isinstance(R, AddedNoise) or R.clip is not None or R.eps0 is sp.oo or not R.eps0 <= _MOST_EPS0:
        return None
    # A density with two mirrored pieces whose logarithms are linear is c e^{−r|u|}, however it is written.
    laplace = len(R.added.pieces) == 2 and R.added.symmetric and R.added.flat
    return LaplaceLaws(R.eps0, q) if laplace else None
