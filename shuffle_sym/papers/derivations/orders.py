r"""Which decompositions exist, and which are above which: Su et al. 2025, Section 3, and two orders of our own.

An order is shown in three moves. Two laws of G have the same mean; their stop-loss transforms :math:`E[G - x]_+` are
ordered for every x, so one law is larger in convex order; convex order survives sums, and :math:`[u]_+` is convex. Then
:math:`D_\alpha = \frac1n E[G_1 + \dots + G_n]_+` is ordered for *every* n.
"""

from __future__ import annotations

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.derivations.engine import Derivation, Step
from shuffle_sym.randomizers import KRR, BinaryRR

t, k = field.t, field.k
SOURCE = "Su et al. 2025"
#: R(x_0)(y) and R(x_1)(y) at a message where the first is larger: ε0-LDP says that their ratio is between 1/t and 1.
r, u, w = sp.symbols("r u w", nonnegative=True)
lower = r * (1 + u) / (t + u)
#: Any α between 1 and t, and more of it than 1.
alpha = (1 + w * t) / (1 + w)


def two_point_decomposition() -> Derivation:
    r"""R(x_0) and R(x_1) are 2-RR of two laws :math:`Q_0 = (tR(x_0) - R(x_1))/(t - 1)` and Q_1, the same with x_0 and
    x_1 exchanged (Su et al. 2025, Lemma 1), for t > 1. At t = 1 both are R(x_0) = R(x_1).

    r and :math:`r(1 + u)/(t + u)`, u ≥ 0, stand for the two probabilities of one message.

    >>> two_point_decomposition().result
    1
    """
    Q0, Q1 = (t * r - lower) / (t - 1), (t * lower - r) / (t - 1)
    return Derivation(
        "R(x0) and R(x1) as mixtures of two laws",
        f"{SOURCE}, Lemma 1",
        (
            Step((t * Q0 + Q1) / (t + 1), r, "R(x0) at this message"),
            Step((Q0 + t * Q1) / (t + 1), lower, "R(x1) at this message"),
            Step(sp.Integer(0), Q0, "Q0 is not negative", "<="),
            Step(sp.Integer(0), Q1, "neither is Q1, because R(x1) ≥ R(x0)/t", "<="),
            Step((t * 1 - 1) / sp.UnevaluatedExpr(t - 1), sp.Integer(1), "summed over the messages each gives 1"),
        ),
    )


def standard_clone() -> Derivation:
    r"""Every R(x) has :math:`\frac1{2t}(Q_0 + Q_1)` in it, with the laws of Lemma 1 (Su et al. 2025, Theorem 2).

    R(x)(y) is at least R(x_0)(y)/t and R(x_1)(y)/t, so at least their mean; v is what it has above the larger one.

    >>> standard_clone().result
    1 - 1/t
    """
    Q0, Q1 = (t * r - lower) / (t - 1), (t * lower - r) / (t - 1)
    v = sp.Symbol("v", nonnegative=True)
    return Derivation(
        "Everyone is a clone with probability 1/t",
        f"{SOURCE}, Theorem 2",
        (
            Step(Q0 + Q1, r + lower, "the two laws together are R(x0) and R(x1) together"),
            Step((r + lower) / (2 * t), r / t + v, "R(x) ≥ R(x0)/t, the larger one", "<="),
            Step(sp.Integer(0), 1 - 1 / t, "what is left of R(x) has the mass 1 - 1/t", "<="),
        ),
    )


def three_point_decomposition() -> Derivation:
    r"""R(x_0) = tpQ_0 + pQ_1 + (1 − p − tp)Q, R(x_1) with p and tp exchanged, and pQ_0 + pQ_1 in every R(x)
    (Su et al. 2025, Theorem 4), with :math:`p = TV(R(x_0), R(x_1))/(t - 1)`.

    At a message where R(x_0) is larger take pQ_0 = (R(x_0) − R(x_1))/(t − 1) and Q_1 = 0, else the other way round. It
    needs neither finitely many messages nor a lemma.

    >>> three_point_decomposition().result
    1/(t + 1)
    """
    first = (r - lower) / (t - 1)
    rest = (t * lower - r) / (t - 1)
    distance = sp.Symbol("v", nonnegative=True)
    return Derivation(
        "The three-point decomposition",
        f"{SOURCE}, Theorem 4",
        (
            Step(t * first + rest, r, "R(x0) at a message where it is larger"),
            Step(first + rest, lower, "R(x1) there"),
            Step(sp.Integer(0), rest, "the common part is not negative", "<="),
            Step(first, r / t, "every R(x) ≥ R(x0)/t has pQ0 in it", "<="),
            Step(
                (t - 1) / (t + 1) / (1 + distance) / (t - 1),
                1 / (t + 1),
                "p ≤ 1/(t + 1): by Lemma 1 the distance is at most (t - 1)/(t + 1)",
                "<=",
            ),
        ),
    )


def stronger_clone_monotone() -> Derivation:
    r"""The divergence of the pair (P_0(ε0, p), P_1(ε0, p)) grows with p, for p ≤ 1/(t + 1) (Su et al. 2025, Lemma 5).

    G has the values t − α and 1 − αt with probability p each, and one middle value m(p). For p < p' the law with p is
    that with p' after a part of each outer value and the whole middle one are replaced by their mean, m(p): it is
    smaller in convex order. For p > 1/(t + 1) the last component has a negative mass and there is no pair.

    >>> stronger_clone_monotone().result
    -(t + 1)/(t + v + 1) + 1
    """
    a, p, more = sp.symbols("alpha p v", positive=True)

    def middle(p: sp.Expr) -> sp.Expr:
        return (1 - a) * (1 - (t + 1) * p) / (1 - 2 * p)

    larger = p + more
    outer = more * (t - a) + more * (1 - a * t)
    return Derivation(
        "The stronger clone is monotone in p",
        f"{SOURCE}, Lemma 5, corrected",
        (
            Step(p * (t - a) + p * (1 - a * t) + (1 - 2 * p) * middle(p), 1 - a, "the mean does not depend on p"),
            Step(outer + (1 - 2 * larger) * middle(larger), (1 - 2 * p) * middle(p), "the mean of what is merged"),
            Step(sp.Integer(0), (1 - (t + 1) * p).subs(p, 1 / (t + 1 + more)), "a mass for p ≤ 1/(t + 1)", "<="),
        ),
    )


def stronger_clone_generic() -> Derivation:
    r"""For every ε0-LDP randomizer, every n and 1 ≤ α ≤ t: the blanket is below the pair with p = 1/(t + 1), which is
    the blanket of 2-RR (Su et al. 2025, (1), which they leave open; the proof is ours).

    At a message with blanket mass c write :math:`\rho_i = R(x_i)/c`, both between 1 and t; Σ cρ_0 = Σ cρ_1 = 1 and
    :math:`G = \rho_0 - \alpha\rho_1`. For a fixed x, :math:`[G - x]_+` is convex in (ρ_0, ρ_1), so a linear function
    λ_0ρ_0 + λ_1ρ_1 that is above it at the corners of the square is above it everywhere, and :math:`E[G - x]_+` is at
    most λ_0 + λ_1. For x ≥ 0 let A be t − α − x. For x = −z ≤ 0 the same is done for :math:`[x - G]_+`, with
    B = αt − 1 − z. (Where A or B is negative, the transform is 0.)

    >>> stronger_clone_generic().result
    B/(t + 1)
    """
    A, B = sp.symbols("A B", nonnegative=True)
    z = sp.Symbol("z", nonnegative=True)
    high = (t * A / (t**2 - 1), -A / (t**2 - 1))
    low = (-B / (t**2 - 1), t * B / (t**2 - 1))
    value = alpha * t - 1 - z

    def at(line: tuple[sp.Expr, sp.Expr], rho0: sp.Expr, rho1: sp.Expr) -> sp.Expr:
        return sp.Add(line[0] * rho0, line[1] * rho1, evaluate=False)

    G = BinaryRR().gparv()
    masses = dict(zip(G.forms, G.masses, strict=True))
    top, bottom = masses[field.simplest(t - field.alpha)], masses[field.simplest(1 - field.alpha * t)]
    one = sp.Integer(1)
    return Derivation(
        "No blanket is above that of 2-RR",
        f"{SOURCE}, (1); proof ours",
        (
            Step(at(high, t, one), A, "x ≥ 0, corner (t, 1): the line is the value there"),
            Step(at(high, one, t), sp.Integer(0), "corner (1, t): it is 0, and so is the value"),
            Step(sp.Integer(0), at(high, one, one), "corner (1, 1): it is above 0", "<="),
            Step(sp.Integer(0), at(high, t, t), "corner (t, t)", "<="),
            Step(sp.Add(*high), A * top, "so the mean excess of G over x is at most that of 2-RR"),
            Step(at(low, one, t), B, "x = -z, corner (1, t): the line is how far G is below x"),
            Step(at(low, t, one), sp.Integer(0), "corner (t, 1)"),
            Step(alpha - 1 - z, at(low, one, one).subs(B, value), "corner (1, 1): the line is above", "<="),
            Step(t * (alpha - 1) - z, at(low, t, t).subs(B, value), "corner (t, t): the line is above", "<="),
            Step(sp.Integer(0), at(low, one, one), "and above 0", "<="),
            Step(sp.Add(*low), B * bottom, "so the mean of what G is below x is at most that of 2-RR"),
        ),
    )


def krr_falls_in_k() -> Derivation:
    r"""For every n and 1 ≤ α ≤ t the blanket of k-RR at a fixed ε0 falls as k grows (ours; Koskela et al. 2021, C.4,
    read the opposite off a figure).

    The stop-loss transforms of k-RR and (k + 1)-RR, from the table of G. Below 0 the value 1 − α counts only where
    it is below −z, that is for E = α − 1 − z > 0; there α = 1 + z + E and t = α + v.

    >>> krr_falls_in_k().proved
    True
    """
    G = KRR().gparv()
    masses = dict(zip(G.forms, G.masses, strict=True))
    outer, middle = masses[field.simplest(t - field.alpha)], masses[field.simplest(1 - field.alpha)]
    A, B, E, z, v = sp.symbols("A B E z v", nonnegative=True)
    level = {t: 1 + z + E + v}
    reach = (1 + z + E) * (1 + z + E + v) - 1 - z

    def both(size: sp.Expr) -> sp.Expr:
        return (outer * reach + middle * E).subs(level).subs(k, size)

    return Derivation(
        "k-RR amplifies more for larger k",
        "Koskela et al. 2021, C.4, reversed; proof ours",
        (
            Step((A * outer).subs(k, k + 1), A * outer, "x ≥ 0: only t - α exceeds it", "<="),
            Step((B * outer).subs(k, k + 1), B * outer, "x = -z, z ≥ α - 1: only 1 - αt is below", "<="),
            Step(both(k + 1), both(k), "x = -z, z < α - 1: 1 - αt and 1 - α are below", "<="),
        ),
    )


def rounded_losses() -> Derivation:
    r"""Losses rounded up raise δ and losses rounded down lower it (Koskela et al. 2021, Lemma 6).

    An outcome of two rounds with ratios x and y adds P(1 − α/(xy)) where that is positive; rounding multiplies the
    ratios by 1 + u and 1 + w. More rounds are the same with more factors, and :math:`[\cdot]_+` keeps the order.

    >>> rounded_losses().result
    -alpha/(x*y) + 1
    """
    x, y, a = sp.symbols("x y alpha", positive=True)
    return Derivation(
        "Rounded losses bound the divergence",
        "Koskela et al. 2021, Lemma 6",
        (
            Step(1 - a / (x * y), 1 - a / (x * (1 + u) * y * (1 + w)), "rounded up", "<="),
            Step(1 - a * (1 + u) * (1 + w) / (x * y), 1 - a / (x * y), "rounded down", "<="),
        ),
    )


def levels_of_compositions() -> Derivation:
    r"""Levels add up in joint composition and do not in parallel composition (Su et al. 2025, Theorems 11 and 12).

    f and g are probabilities under x'; those under x are at most s and t times as large.

    >>> levels_of_compositions().result
    f*p*t
    """
    f, g, p = sp.symbols("f g p", nonnegative=True)
    s = field.s
    return Derivation(
        "Levels of joint and parallel composition",
        f"{SOURCE}, Theorems 11 and 12",
        (
            Step(f * s / (1 + u) * g * t / (1 + w), s * t * f * g, "joint: the ratios are multiplied", "<="),
            Step(p * f * t / (1 + u), t * p * f, "parallel: the weight of a part cancels", "<="),
        ),
    )
