r"""The pair of Koskela et al. 2021, Section 6, against the standard clone, for every number of users."""

from collections.abc import Callable

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_most, cases, chain, equals
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Law, law
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random
from shuffle_sym.papers.laws import COPIES
from shuffle_sym.papers.su2025.gparv import L, n, pair, theorem9, total

t, alpha = field.t, field.alpha
x = sp.Symbol("x", real=True)
G, H = Random("G"), Random("H")
SUM_G, SUM_H = Random("S_G"), Random("S_H")
BETWEEN = (sp.Ge(alpha, 1 / t), sp.Le(alpha, t))


def _table(variable: Random, D: decomposition.Decomposition, words: str) -> Law:
    """The law of G of a decomposition, from its table."""
    return law(variable, dict(zip(D.gparv.forms, D.gparv.masses, strict=True)), words)


def _same(u: sp.Expr) -> sp.Expr:
    return u


def _over(u: sp.Expr) -> sp.Expr:
    return Positive(u - x)


def _below(u: sp.Expr) -> sp.Expr:
    return Positive(x - u)


def _one_side(
    standard: Law, koskela: Law, f: Callable[[sp.Expr], sp.Expr], outer: int, level: sp.Rel, words: str
) -> Chain:
    """E f(G) ≤ E f(H), where f is 0 at all values of G but the outer one, and that of H is further out."""
    (value, mass), (further, _) = standard.right[outer], koskela.right[outer]
    return chain(
        Mean(f(G)),
        equals(standard.mean(f).right, "the law of $G$", standard.mean(f)),
        equals(mass * f(value), words),
        at_most(mass * f(further), "the value of $H$ is further out, and as probable"),
        at_most(koskela.mean(f).right, "the other values of $H$ add something"),
        equals(Mean(f(H)), "the law of $H$", koskela.mean(f)),
        under=(level, *BETWEEN),
    )


@derivation(
    "The pair of Koskela et al. is above the standard clone",
    "Koskela et al. 2021, (6.1), against Su et al. 2025, Theorem 2",
    {G: "$G$ of the standard clone", H: "$G$ of the pair of Koskela et al.", x: "any level",
     SUM_G: "the sum of $n$ copies of $G$", SUM_H: "the sum of $n$ copies of $H$",
     t: r"$e^{\varepsilon_0}$, above 1", alpha:
         r"$e^{\varepsilon}$",
     n: "users"},
)  # fmt: skip
def clones_order() -> Blocks:
    r"""For all n, t > 1 and α > 0 the pair of Koskela et al. 2021, (6.1), is above the standard clone; the proof is
    ours.

    The divergence is :math:`\frac1n E[G_1 + \dots + G_n]_+` (Su et al. 2025, Theorem 9). G of both takes a low, a
    middle and a high value with probabilities 1/(2t), 1 − 1/t, 1/(2t), and has the mean 1 − α. For 1/t ≤ α ≤ t the
    middle value of the standard clone is 0, and the outer ones of the pair are further out: that is larger in convex
    order. For α ≥ t the standard clone has no divergence, and for α ≤ 1/t it has 1 − α, the least there is.

    >>> clones_order().statement[0].relational()
    'D_alpha(P_0 || P_1) <= D_alpha(P || Q)'
    """
    standard = _table(G, decomposition.clones(), "the table of the standard clone")
    koskela = _table(H, decomposition.clones_koskela(), "the table of the pair of Koskela et al.")
    mean_G = chain(Mean(G), equals(1 - alpha, "the law of $G$", standard.mean(_same)))
    mean_H = chain(Mean(H), equals(1 - alpha, "the law of $H$", koskela.mean(_same)))
    means = chain(Mean(G), equals(1 - alpha, "the mean of $G$", mean_G), equals(Mean(H), "the mean of $H$", mean_H))
    high = _one_side(standard, koskela, _over, 0, sp.Ge(x, 0), "neither 0 nor the low value is above the level")
    low = _one_side(standard, koskela, _below, 1, sp.Le(x, 0), "neither 0 nor the high value is below the level")
    reflected = chain(
        Mean(_over(G)),
        equals(Mean(G) - x + Mean(_below(G)), "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(H) - x + Mean(_below(H)), "equal means, and the other side", means, low),
        equals(Mean(_over(H)), "$[u]_+ = u + [-u]_+$"),
        under=low.under,
    )
    order = cases(high, reflected, within=BETWEEN, words="convex order")
    sums = theorems.convex_order_of_sums(
        G, H, x, (SUM_G, SUM_H), "$S_G$ and $S_H$ are sums of $n$ copies of $G$ and $H$", excess=order, means=means
    )
    between = chain(
        Mean(Positive(SUM_G)) / n,
        at_most(Mean(Positive(SUM_H)) / n, "convex order survives sums, and $[u]_+$ is convex", sums),
        under=BETWEEN,
    )
    large, small = _no_divergence(standard), _least_divergence(standard, mean_G, mean_H)
    every = cases(large, between, small, words=r"for every $\alpha$")
    lemma, clone, theirs = cite(theorem9), sp.symbols("P_0 P_1"), sp.symbols("P Q")
    by_g, by_h = (
        theorems.for_other_laws(lemma, {pair[0]: first, pair[1]: second, total: copies, L: 0},
                                f"${first}$, ${second}$ are the reduction pair of this table")
        for (first, second), copies in ((clone, SUM_G), (theirs, SUM_H))
    )  # fmt: skip
    shown = chain(
        Divergence(alpha, *clone),
        equals(Mean(Positive(SUM_G)) / n, "Theorem 9; no component has $c = 0$", by_g),
        at_most(Mean(Positive(SUM_H)) / n, r"for every $\alpha$", every),
        equals(Divergence(alpha, *theirs), "Theorem 9", by_h),
    )
    return standard, koskela, mean_G, mean_H, means, low, order, every, lemma, shown


def _no_divergence(standard: Law) -> Chain:
    """α ≥ t: no value of G is positive."""
    added = theorems.general(
        r"$[u + v]_+ \le [u]_+ + [v]_+$", Mean(Positive(SUM_G)), "<=", n * Mean(Positive(G)),
        stated=["$S_G$ is the sum of $n$ copies of $G$"], checked=COPIES,
    )  # fmt: skip
    return chain(
        Mean(Positive(SUM_G)) / n,
        at_most(Mean(Positive(G)), "the positive parts one by one", added),
        equals(standard.mean(Positive).right, "the law of $G$", standard.mean(Positive)),
        equals(0, "no value is positive"),
        at_most(Mean(Positive(SUM_H)) / n, "a mean of what is not negative"),
        under=sp.Ge(alpha, t),
    )


def _least_divergence(standard: Law, mean_G: Chain, mean_H: Chain) -> Chain:
    """α ≤ 1/t: no value of G is negative."""

    def below(u: sp.Expr) -> sp.Expr:
        return Positive(-u)

    added = theorems.general(
        r"$[u + v]_+ \le [u]_+ + [v]_+$", Mean(below(SUM_G)), "<=", n * Mean(below(G)),
        stated=["$S_G$ is the sum of $n$ copies of $G$"], checked=COPIES,
    )  # fmt: skip
    totals = [
        theorems.general(
            "the mean of a sum",
            Mean(total),
            "=",
            n * Mean(one),
            stated=[f"${total}$ is the sum of $n$ copies of ${one}$"],
            checked=COPIES,
        )
        for total, one in ((SUM_G, G), (SUM_H, H))
    ]
    return chain(
        Mean(Positive(SUM_G)) / n,
        equals(Mean(SUM_G) / n + Mean(below(SUM_G)) / n, "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(SUM_G) / n + Mean(below(G)), "the negative parts one by one", added),
        equals(Mean(SUM_G) / n + standard.mean(below).right, "the law of $G$", standard.mean(below)),
        equals(Mean(SUM_G) / n, "no value is negative"),
        equals(1 - alpha, "the mean of $G$", totals[0], mean_G),
        equals(Mean(SUM_H) / n, "the mean of $H$ is the same", totals[1], mean_H),
        equals(Mean(Positive(SUM_H)) / n - Mean(below(SUM_H)) / n, "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(Positive(SUM_H)) / n, "without a part that is not negative"),
        under=sp.Le(alpha, 1 / t),
    )
