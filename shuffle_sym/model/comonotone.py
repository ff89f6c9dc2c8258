r"""One finite pair of laws that is above the blanket of every pair of inputs.

Let c be below every density p_x, with mass γ, and :math:`\Psi(k) = \sup_x \int [p_x - kc]_+`. This is convex, it is
1 − kγ for k <= 1, and it is the stop-loss transform of a law X* under c that is above every p_x/c in convex order; −X*
is above every −p_x/c, because :math:`\int [kc - p_x]_+ = \int [p_x - kc]_+ - 1 + k\gamma`. Let X* take its large values
where a second copy X' takes its small ones. Then X* − αX' is above :math:`(p_{x_0} - \alpha p_{x_1})/c` in convex order
for all inputs x_0 and x_1: of all couplings of two laws one in which both terms grow together has the largest sums
(`papers.ours.noise`, Lemma 9). So n users are bounded by the pair of laws with density X* and X' with respect to c.

It is enough to have upper bounds of Ψ at a few levels: a convex function is below its chords. With no level between 1
and :math:`e^{\varepsilon_0}` that is the bound that needs γ and ε0 only. Beyond the last level, where Ψ is N, the first
user is told apart for certain with probability N (a null atom): [·]_+ is subadditive.

**Ratios that are monotone in y** have such bounds. Let p_x/p_x' not increase in y for x < x', and let c = min(p_0, p_1)
be the blanket, that of the two end inputs, which are equal at y*. Then

.. math:: \Psi(k) = \sup_x\,(A_k(x) + B_k(x)), \quad A_k(x) = \int_{y < y^*} [p_x - k p_1]_+, \quad
          B_k(x) = \int_{y > y^*} [p_x - k p_0]_+ .

The set of all y with p_x > kp_1 is a half line, so :math:`A_k(x) = \sup_{v \le y^*} (P_x(v) - k P_1(v))`, where the
distribution functions P_x do not increase in x: A does not increase in x, and B does not decrease. Between two
neighbours x < x' of a grid the sum is at most A_k(x) + B_k(x'). In k, A_k(x) is convex, and where k is the ratio at a
place v of a grid of messages it is P_x(v) − kP_1(v).
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.rationals import convex_minorant
from shuffle_sym.model.decomposition import Decomposition

Array = npt.NDArray[np.float64]
Point = tuple[Fraction, Fraction]

_LEVELS = 240  # of k: with fewer of them the chords are farther above Ψ, with more of them bounds take longer
_ROUNDING = 1e-14  # a few hundred units in the last place
_SLACK = 1e-12


def from_transform(levels: Sequence[Point], gamma: Fraction, title: str) -> Decomposition:
    """The pair of laws from a blanket mass and upper bounds (k, Ψ(k)) at levels k > 1, in order.

    >>> D = from_transform([(Fraction(3), Fraction(0))], Fraction(3, 5), "3-RR")
    >>> D.a, D.b, D.c
    ((3/5, 1/5, 1/5), (1/5, 1/5, 3/5), (1/5, 1/5, 1/5))
    """
    points = convex_minorant([(Fraction(1), 1 - gamma), *levels])
    slopes = [-gamma, *((q[1] - p[1]) / (q[0] - p[0]) for p, q in pairwise(points)), Fraction(0)]
    law = [(k, after - before) for (k, _), (before, after) in zip(points, pairwise(slopes), strict=True)]
    # Couple two copies of the law so that one falls as the other grows.
    up = [(k, mass) for k, mass in law if mass > 0]
    down, atoms = up[::-1], []
    while up and down:
        (low, m0), (high, m1) = up[0], down[0]
        mass = min(m0, m1)
        atoms.append((high * mass, low * mass, mass))
        up[:1] = [(low, m0 - mass)] if m0 > mass else []
        down[:1] = [(high, m1 - mass)] if m1 > mass else []
    if null := points[-1][1]:
        atoms += [(null, Fraction(0), Fraction(0)), (Fraction(0), null, Fraction(0))]
    return Decomposition(*zip(*atoms, strict=True), title=title)


def from_mass(gamma: sp.Expr, ratio: sp.Expr, bindings: field.Bindings, title: str) -> Decomposition:
    r"""The pair of laws from the blanket mass γ and the largest ratio t alone, as formulas: X* is t with probability
    m = (1 − γ)/(t − 1), 0 if t = 1, and 1 with probability γ − m. It is refused if no sign of γ − 2m is proved.

    >>> t = field.t
    >>> from_mass(3 / (t + 2), t, {t: sp.exp(sp.Symbol("e", positive=True))}, "3-RR").beta
    (exp(e) - 1)/(exp(e) + 2)
    """
    top = sp.Integer(0) if ratio == 1 else field.simplest((1 - gamma) / (ratio - 1))
    both = field.simplest(gamma - 2 * top)
    if field.is_nonnegative(both, bindings):
        alone, shared = top, (both, sp.Integer(1))
    else:
        alone, shared = field.simplest(gamma - top), (-both, ratio)
    a, b = [ratio * alone, alone, shared[0] * shared[1]], [alone, ratio * alone, shared[0] * shared[1]]
    return Decomposition(a, b, [alone, alone, shared[0]], bindings=bindings, title=title)


# ---- Ratios that are monotone in y -----------------------------------------------------------------------------------


class Half:
    """A_k(x) for a grid of inputs, a row each, the last one that of p_1.

    ``masses`` and ``densities`` are P_x and p_x at places from y* down; ``largest`` is the largest ratio of each input,
    None if it is not known.
    """

    def __init__(self, masses: Array, densities: Array, largest: Array | None) -> None:
        self.ratios = densities / densities[-1]
        products = self.ratios * masses[-1]
        self.values = np.maximum(masses - products, 0.0) + _ROUNDING * (masses + products)
        self.nearest = masses[:, 0], masses[-1, 0]
        self.bounded = largest is not None
        if largest is not None:
            self.ratios = np.hstack([self.ratios, largest[:, None] * (1 + _ROUNDING)])
            self.values = np.hstack([self.values, np.zeros((len(largest), 1))])
        self.most = float(self.ratios.max())

    def at(self, levels: Array) -> Array:
        """Upper bounds of A_k(x), a row for each input."""
        rows = []
        own, last = self.nearest
        for i, (ratios, values) in enumerate(zip(self.ratios, self.values, strict=True)):
            # Below its chords. Beyond the last knot it does not grow.
            row = np.interp(levels, np.maximum.accumulate(ratios), values)
            row = np.where(levels < ratios[0], (own[i] - levels * last) + _ROUNDING * (own[i] + levels * last), row)
            rows.append(np.where(levels >= ratios.max(), 0.0, row) if self.bounded else row)
        return np.array(rows)


def combined(left: Half, right: Half, gamma: float, top: float | None, slack: float, title: str) -> Decomposition:
    """The finite pair of laws above all pairs of inputs, from A and, mirrored, from B; ``top`` is not below the largest
    ratio, None if there is none, and ``slack`` is what ratios may be off by."""
    levels = np.geomspace(1.0, top or max(left.most, right.most), _LEVELS)[1:]
    # Row i of A is for the input i, of B for the one that is i from the other end.
    sums = left.at(levels)[:-1] + right.at(levels)[::-1][1:]
    bounds = sums.max(axis=0) * (1 + _SLACK)
    if top is not None:
        bounds[-1] = 0.0
    factor = 1 + Fraction(slack)
    points = [(Fraction(float(k)) * factor, Fraction(float(v))) for k, v in zip(levels, bounds, strict=True)]
    return from_transform(points, Fraction(gamma), title)
