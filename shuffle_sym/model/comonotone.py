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
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.rationals import convex_minorant
from shuffle_sym.model.decomposition import Decomposition

Point = tuple[Fraction, Fraction]


def from_transform(levels: Sequence[Point], gamma: Fraction, title: str) -> Decomposition:
    """The pair of laws from a blanket mass and upper bounds (k, Ψ(k)) at levels k > 1, in order.

    >>> D = from_transform([(Fraction(3), Fraction(0))], Fraction(3, 5), "3-RR")
    >>> D.a, D.b, D.c
    ((3/5, 1/5, 1/5), (1/5, 1/5, 3/5), (1/5, 1/5, 1/5))
    """
    points = convex_minorant([(Fraction(1), 1 - gamma), *levels])
    slopes = [-gamma, *((q[1] - p[1]) / (q[0] - p[0]) for p, q in pairwise(points)), Fraction(0)]
    law = [(k, after - before) for (k, _), (before, after) in zip(points, pairwise(slopes), strict=True)]
    coupled = _opposite([(k, mass) for k, mass in law if mass > 0])
    a, b, c = [high * m for high, _, m in coupled], [low * m for _, low, m in coupled], [m for *_, m in coupled]
    null = points[-1][1]
    if null:
        a, b, c = [*a, null, Fraction(0)], [*b, Fraction(0), null], [*c, Fraction(0), Fraction(0)]
    exact = [[sp.Rational(v.numerator, v.denominator) for v in masses] for masses in (a, b, c)]
    return Decomposition(*exact, title=title)


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


def _opposite(law: Sequence[Point]) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(X, X', mass) of two copies of a law, coupled so that one falls as the other grows."""
    coupled = []
    up, down = list(law), list(reversed(law))
    while up and down:
        (low, m0), (high, m1) = up[0], down[0]
        mass = min(m0, m1)
        coupled.append((high, low, mass))
        up[:1] = [(low, m0 - mass)] if m0 > mass else []
        down[:1] = [(high, m1 - mass)] if m1 > mass else []
    return coupled
