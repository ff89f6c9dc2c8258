r"""Decompositions that every ε0-LDP randomizer has: Su et al. 2025, Section 3, and their Theorems 11 and 12."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.derivation import Step, Steps, derivation

t = field.t
SOURCE = "Su et al. 2025"
#: R(x_0)(y) and R(x_1)(y) at a message where the first is larger: ε0-LDP says that their ratio is between 1/t and 1.
r, u, w = sp.symbols("r u w", nonnegative=True)
lower = r * (1 + u) / (t + u)


@derivation("R(x0) and R(x1) as mixtures of two laws", f"{SOURCE}, Lemma 1")
def two_point_decomposition() -> Steps:
    r"""R(x_0) and R(x_1) are 2-RR of two laws :math:`Q_0 = (tR(x_0) - R(x_1))/(t - 1)` and Q_1, the same with x_0 and
    x_1 exchanged (Su et al. 2025, Lemma 1), for t > 1. At t = 1 both are R(x_0) = R(x_1).

    r and :math:`r(1 + u)/(t + u)`, u ≥ 0, stand for the two probabilities of one message.

    >>> two_point_decomposition().result
    1
    """
    Q0, Q1 = (t * r - lower) / (t - 1), (t * lower - r) / (t - 1)
    return (
        Step((t * Q0 + Q1) / (t + 1), r, "R(x0) at this message"),
        Step((Q0 + t * Q1) / (t + 1), lower, "R(x1) at this message"),
        Step(sp.Integer(0), Q0, "Q0 is not negative", "<="),
        Step(sp.Integer(0), Q1, "neither is Q1, because R(x1) ≥ R(x0)/t", "<="),
        Step((t * 1 - 1) / sp.UnevaluatedExpr(t - 1), sp.Integer(1), "summed over the messages each gives 1"),
    )


@derivation("Everyone is a clone with probability 1/t", f"{SOURCE}, Theorem 2")
def standard_clone() -> Steps:
    r"""Every R(x) has :math:`\frac1{2t}(Q_0 + Q_1)` in it, with the laws of Lemma 1 (Su et al. 2025, Theorem 2).

    R(x)(y) is at least R(x_0)(y)/t and R(x_1)(y)/t, so at least their mean; v is what it has above the larger one.

    >>> standard_clone().result
    1 - 1/t
    """
    Q0, Q1 = (t * r - lower) / (t - 1), (t * lower - r) / (t - 1)
    v = sp.Symbol("v", nonnegative=True)
    return (
        Step(Q0 + Q1, r + lower, "the two laws together are R(x0) and R(x1) together"),
        Step((r + lower) / (2 * t), r / t + v, "R(x) ≥ R(x0)/t, the larger one", "<="),
        Step(sp.Integer(0), 1 - 1 / t, "what is left of R(x) has the mass 1 - 1/t", "<="),
    )


@derivation("The three-point decomposition", f"{SOURCE}, Theorem 4")
def three_point_decomposition() -> Steps:
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
    return (
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
    )


@derivation("The stronger clone is monotone in p", f"{SOURCE}, Lemma 5, corrected")
def stronger_clone_monotone() -> Steps:
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
    return (
        Step(p * (t - a) + p * (1 - a * t) + (1 - 2 * p) * middle(p), 1 - a, "the mean does not depend on p"),
        Step(outer + (1 - 2 * larger) * middle(larger), (1 - 2 * p) * middle(p), "the mean of what is merged"),
        Step(sp.Integer(0), (1 - (t + 1) * p).subs(p, 1 / (t + 1 + more)), "a mass for p ≤ 1/(t + 1)", "<="),
    )


@derivation("Levels of joint and parallel composition", f"{SOURCE}, Theorems 11 and 12")
def levels_of_compositions() -> Steps:
    r"""Levels add up in joint composition and do not in parallel composition (Su et al. 2025, Theorems 11 and 12).

    f and g are probabilities under x'; those under x are at most s and t times as large.

    >>> levels_of_compositions().result
    f*p*t
    """
    f, g, p = sp.symbols("f g p", nonnegative=True)
    s = field.s
    return (
        Step(f * s / (1 + u) * g * t / (1 + w), s * t * f * g, "joint: the ratios are multiplied", "<="),
        Step(p * f * t / (1 + u), t * p * f, "parallel: the weight of a part cancels", "<="),
    )
