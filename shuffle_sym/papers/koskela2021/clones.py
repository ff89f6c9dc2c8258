r"""The pair of Koskela et al. 2021, Section 6 and Appendix B, cell by cell: Lemma 11 and what leads to it; how probable
the cells are under P, (6.7) and (6.8), and δ(∞).

.. math:: P = (A + \Delta, C - A), \quad Q = (A, C - A + \Delta), \qquad
          C \sim \mathrm{Bin}(n - 1, p),\ A \sim \mathrm{Bin}(C, 1/2),\ \Delta \sim \mathrm{Bern}(q)

with p = 1/t and q = t/(t + 1), t = e^{ε0}. Given Δ = 1 these are P1 and Q1, given Δ = 0 both are P0. A cell (a, b) has
a, b ≥ 0 and a + b ≤ n. Everything is for t > 1: at t = 1 the factor p/(1 − p) of the paper does not exist.
"""

from collections.abc import Callable
from typing import Any

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.model import decomposition
from shuffle_sym.model.cells import a, b, clone_cells, n
from shuffle_sym.papers.engine import (
    Blocks,
    Divergence,
    Mean,
    Positive,
    Random,
    at_most,
    cases,
    chain,
    cite,
    derivation,
    equals,
    given,
    parts,
    quantity,
    theorems,
)
from shuffle_sym.papers.engine.chains import Chain
from shuffle_sym.papers.engine.facts import Law
from shuffle_sym.papers.koskela2021.notation import SOURCE, USERS, alpha, t
from shuffle_sym.papers.laws import COPIES
from shuffle_sym.papers.proofs import (
    G,
    H,
    above_level,
    below_level,
    by,
    cite_parts,
    itself,
    law_from_table,
    reflected,
    x,
)
from shuffle_sym.papers.su2025.gparv import L, pair, theorem9, total

i, j = sp.symbols("i j", integer=True, nonnegative=True)
clones_, first_ = sp.symbols("i j", integer=True)  # also −1, where there is no such cell
p, q = sp.symbols("p q", positive=True)
odds = p / (1 - p)

add(of_every_randomizer("Koskela's clones", f"{SOURCE}, Section 6", decomposition.clones_koskela, one_randomizer=False))

# ------------------------------------------------------------------------------------------------- the pair

C = quantity("C", r"\Pr[C = {0}]", nonnegative=True)
A = quantity("A", r"\Pr[A = {0} \mid C = {1}]", nonnegative=True)
P, Q, P1, Q1, P0 = (
    quantity(name, rf"\Pr[{drawn} = ({{0}}, {{1}})]", nonnegative=True)
    for name, drawn in (("P", "P"), ("Q", "Q"), ("P1", "P_1"), ("Q1", "Q_1"), ("P0", "P_0"))
)
ratio = quantity("ratio", r"\rho({0}, {1})", nonnegative=True)

law_of_c = given(
    C(clones_),
    sp.binomial(n - 1, clones_) * p**clones_ * (1 - p) ** (n - 1 - clones_),
    r"$C$ is $\mathrm{Bin}(n - 1, p)$: how many of the others are clones",
)
law_of_a = given(
    A(first_, clones_),
    sp.binomial(clones_, first_) / 2**clones_,
    r"$A$ is $\mathrm{Bin}(C, 1/2)$: how many of the $C$ clones are of the first kind",
)
law_of_p1 = given(
    P1(a, b),
    C(a + b - 1) * A(a - 1, a + b - 1),
    "$P_1 = (A + 1, C - A)$ is $(a, b)$ where $A = a - 1$ and $C = a + b - 1$",
)
law_of_q1 = given(
    Q1(a, b), C(a + b - 1) * A(a, a + b - 1), "$Q_1 = (A, C - A + 1)$ is $(a, b)$ where $A = a$ and $C = a + b - 1$"
)
law_of_p0 = given(P0(a, b), C(a + b) * A(a, a + b), "$P_0 = (A, C - A)$ is $(a, b)$ where $A = a$ and $C = a + b$")
law_of_p = given(
    P(a, b),
    q * P1(a, b) + (1 - q) * P0(a, b),
    r"$P = (A + \Delta, C - A)$, and $\Delta$ is $\mathrm{Bern}(q)$: $P_1$ if $\Delta = 1$, $P_0$ if "
    r"$\Delta = 0$, (6.3)",
)
law_of_q = given(
    Q(a, b),
    q * Q1(a, b) + (1 - q) * P0(a, b),
    r"$Q = (A, C - A + \Delta)$: $Q_1$ if $\Delta = 1$, $P_0$ if $\Delta = 0$, (6.3)",
)
WHERE = {
    **USERS,
    p: "$1/t$, the probability that another user is a clone",
    q: r"$t/(t + 1)$, the probability of $\Delta = 1$",
    a: "first entry of a cell",
    b: "second entry of a cell",
}
CELL = sp.Ge(n, a + b)
clone, weight = given(p, 1 / t, r"$p = e^{-\varepsilon_0}$, (6.2)"), given(q, t / (t + 1), "the weight of (6.2)")


@derivation("Cells with $b > 0$", f"{SOURCE}, Lemma B.1", WHERE)
def lemma_b1() -> Blocks:
    r"""P1 and P0 as multiples of Q1, for b > 0 and a + b ≤ n (Koskela et al. 2021, Lemma B.1).

    >>> lemma_b1().result
    p*(-a - b + n)*Q1(a, b)/(2*b*(1 - p))
    """
    same_count = C(a + b - 1) * A(a, a + b - 1)
    first = chain(
        P1(a, b),
        equals(C(a + b - 1) * A(a - 1, a + b - 1), "$A = a - 1$ and $C = a + b - 1$", law_of_p1),
        equals(a / b * same_count, r"$\binom{a + b - 1}{a - 1}$ is $a/b$ times $\binom{a + b - 1}{a}$", law_of_a),
        equals(a / b * Q1(a, b), "which is the law of $Q_1$", law_of_q1),
        under=(sp.Gt(b, 0), CELL),
    )
    second = chain(
        P0(a, b),
        equals(C(a + b) * A(a, a + b), "$A = a$ and $C = a + b$", law_of_p0),
        equals(odds * (n - a - b) / (a + b) * C(a + b - 1) * A(a, a + b), "remove one clone, by (B.6)", law_of_c),
        equals(
            odds * (n - a - b) / (2 * b) * same_count, r"$\binom{a + b}{a}$ is $(a + b)/b$ times the other", law_of_a
        ),
        equals(odds * (n - a - b) / (2 * b) * Q1(a, b), "which is the law of $Q_1$", law_of_q1),
        under=(sp.Gt(b, 0), CELL),
    )
    return law_of_c, law_of_a, law_of_p1, law_of_q1, law_of_p0, first, second, parts(first, second)


@derivation("Cells with $b = 0$", f"{SOURCE}, Lemma B.2, (B.9) and (B.10)", WHERE)
def lemma_b2() -> Blocks:
    r"""At b = 0 the law Q1 has no mass, and P1 is a multiple of P0 (Koskela et al. 2021, (B.9), (B.10)). P1 is never
    (0, 0), for the last statement of Lemma B.2.

    >>> [str(fact.right) for fact in lemma_b2().statement]
    ['0', '0', '2*a*(1 - p)*P0(a, 0)/(p*(-a + n))']
    """
    origin = chain(
        P1(0, 0),
        equals(C(-1) * A(-1, -1), "$A = C = -1$", law_of_p1),
        equals(0, "$C$ is not negative", law_of_c, law_of_a),
    )
    multiple = 2 * a / (n - a) / odds
    inside = chain(
        P1(a, 0),
        equals(C(a - 1) * A(a - 1, a - 1), "$A = C = a - 1$", law_of_p1),
        equals(multiple * C(a) * A(a, a), "add one clone, by (B.6), and $1/2$ for its kind", law_of_c, law_of_a),
        equals(multiple * P0(a, 0), "which is the law of $P_0$", law_of_p0),
        under=(sp.Gt(a, 0), sp.Gt(n, a)),
    )
    never = cases(
        chain(
            Q1(a, 0),
            equals(C(a - 1) * A(a, a - 1), "$A = a$ and $C = a - 1$", law_of_q1),
            equals(0, "not more than $C$ clones are of the first kind", law_of_a),
            under=sp.Gt(a, 0),
        ),
        chain(
            Q1(a, 0),
            equals(C(-1) * A(0, -1), "at $a = 0$: $A = 0$ and $C = -1$", law_of_q1),
            equals(0, "$C$ is not negative", law_of_c, law_of_a),
            under=sp.Eq(a, 0),
        ),
        words="$Q_1$ is never $(a, 0)$, (B.9)",
    )
    return law_of_c, law_of_a, law_of_p1, law_of_q1, law_of_p0, never, origin, inside, parts(never, origin, inside)


@derivation("Cells with $a > 0$", f"{SOURCE}, Lemma B.3", WHERE)
def lemma_b3() -> Blocks:
    r"""P1 in closed form, and P0 as a multiple of it for a > 0 (Koskela et al. 2021, Lemma B.3; i = a + b − 1
    clones, of which j = a − 1 are of the first kind).

    >>> lemma_b3().result
    p*(-a - b + n)*P1(a, b)/(2*a*(1 - p))
    """
    clones, first_kind = a + b - 1, a - 1
    closed = chain(
        P1(a, b),
        equals(C(clones) * A(first_kind, clones), "$j = a - 1$ and $i = a + b - 1$", law_of_p1),
        equals(
            sp.binomial(n - 1, clones) * sp.binomial(clones, first_kind) * p**clones * (1 - p) ** (n - a - b)
            / 2**clones,
            "the two binomial laws", law_of_c, law_of_a,
        ),
    )  # fmt: skip
    multiple = chain(
        P0(a, b),
        equals(C(a + b) * A(a, a + b), "$A = a$ and $C = a + b$", law_of_p0),
        equals(odds * (n - a - b) / (a + b) * C(clones) * A(a, a + b), "remove one clone, by (B.6)", law_of_c),
        equals(
            odds * (n - a - b) / (2 * a) * C(clones) * A(first_kind, clones),
            r"$\binom{a + b}{a}$ is $(a + b)/a$ times $\binom{a + b - 1}{a - 1}$", law_of_a,
        ),
        equals(odds * (n - a - b) / (2 * a) * P1(a, b), "which is the law of $P_1$", law_of_p1),
        under=sp.Gt(a, 0),
    )  # fmt: skip
    return law_of_c, law_of_a, law_of_p1, law_of_p0, closed, multiple, parts(closed, multiple)


# ------------------------------------------------------------------------------------------------- Lemma 11

#: Among the cells this leaves out (n, 0), and nothing else.
NOT_LAST = sp.Gt(n, a - b)


@derivation("The ratio of $P$ and $Q$ at every cell", f"{SOURCE}, Lemma 11 and Lemma B.2, corrected", WHERE)
def lemma11() -> Blocks:
    r"""The ratio of P and Q at every cell but (n, 0), where Q is 0 and P is not (Koskela et al. 2021, Lemma 11, (6.5)
    and (6.6), and Lemma B.2, corrected).

    The published (6.6) and (B.8) are "for all a"; at a = n their denominator is 0. Lemma B.2 prints
    :math:`q = e^{-\varepsilon_0}`, which is p; the mixing weight of (6.3) is t/(t + 1).

    >>> at = lemma11().result.subs({n: 3, p: sp.Rational(1, 3), q: sp.Rational(3, 4)})
    >>> [at.subs({a: x, b: y}) for x, y in ((1, 1), (1, 0), (0, 0))]
    [1, 7, 1]
    >>> lemma11().statement[1].relational()
    'P(n, 0) = q*(p/2)**(n - 1)'
    """
    the_ratio = given(
        ratio(a, b), P(a, b) / Q(a, b), "how many times as likely the cell $(a, b)$ is under $P$ as under $Q$"
    )
    by_first, by_zero = cite_parts(lemma_b1, 0, 1)
    never, origin, inside = cite_parts(lemma_b2, 0, 1, 2)

    def mixtures(*cell: Any) -> sp.Expr:
        """The ratio of P and Q at a cell, through P1, Q1 and P0: (6.3)."""
        return (q * P1(*cell) + (1 - q) * P0(*cell)) / (q * Q1(*cell) + (1 - q) * P0(*cell))

    through_zero = (1 - q) * odds * (n - a - b) / (2 * b)
    # -- the cell (n, 0)
    no_q = chain(
        Q(n, 0),
        equals(q * Q1(n, 0) + (1 - q) * P0(n, 0), "the mixture (6.3)", law_of_q),
        equals(q * C(n - 1) * A(n, n - 1) + (1 - q) * C(n) * A(n, n), "$A = n$ in both", law_of_q1, law_of_p0),
        equals(0, "among $n - 1$ others there are no $n$ clones", law_of_c, law_of_a),
        words="$Q$ is never $(n, 0)$",
    )
    some_p = chain(
        P(n, 0),
        equals(q * P1(n, 0) + (1 - q) * P0(n, 0), "the mixture (6.3)", law_of_p),
        equals(q * C(n - 1) * A(n - 1, n - 1) + (1 - q) * C(n) * A(n, n), "the cell $(n, 0)$", law_of_p1, law_of_p0),
        equals(
            q * (p / 2) ** (n - 1), r"all others are clones of the first kind, and $\Delta = 1$", law_of_c, law_of_a
        ),
        words="$P$ is $(n, 0)$ with this probability",
    )
    every = cases(
        chain(
            ratio(a, b),
            equals(mixtures(a, b), "the ratio of the mixtures (6.3)", the_ratio, law_of_p, law_of_q),
            equals(
                (q * a / b * Q1(a, b) + through_zero * Q1(a, b)) / (q * Q1(a, b) + through_zero * Q1(a, b)),
                "everything through $Q_1$: Lemma B.1",
                by_first,
                by_zero,
            ),
            equals((q * a / b + through_zero) / (q + through_zero), "divided by $Q_1$: (6.5)"),
            under=(CELL, sp.Gt(b, 0)),
        ),
        chain(
            ratio(a, b),
            equals(P(a, 0) / Q(a, 0), "at $b = 0$", the_ratio),
            equals(mixtures(a, 0), "the mixtures (6.3)", law_of_p, law_of_q),
            equals((q * P1(a, 0) + (1 - q) * P0(a, 0)) / ((1 - q) * P0(a, 0)), "$Q_1$ is never $(a, 0)$: (6.6)", never),
            equals(
                (q * 2 * a / (n - a) / odds + 1 - q) / (1 - q),
                "$P_1$ through $P_0$, and divided by $P_0$: (B.11)",
                inside,
            ),
            under=(sp.Eq(b, 0), sp.Gt(a, 0), sp.Gt(n, a)),
        ),
        chain(
            ratio(a, b),
            equals(P(0, 0) / Q(0, 0), "at $a = b = 0$", the_ratio),
            equals(mixtures(0, 0), "the mixtures (6.3)", law_of_p, law_of_q),
            equals(1, "neither $P_1$ nor $Q_1$ is $(0, 0)$", never.at({a: 0}), origin),
            under=(sp.Eq(a, 0), sp.Eq(b, 0)),
        ),
        within=(CELL, NOT_LAST),
        words="Lemma 11, for every cell but $(n, 0)$",
    )
    return (
        law_of_c, law_of_a, law_of_p1, law_of_q1, law_of_p0, law_of_p, law_of_q, the_ratio, by_first, by_zero, never,
        origin, inside, every, no_q, some_p, parts(no_q, some_p, every),
    )  # fmt: skip


@derivation(
    "One ratio for every cell",
    f"{SOURCE}, Lemma 11; Su et al. 2025, Theorem 10",
    {**WHERE, t: r"$e^{\varepsilon_0}$, above 1"},
)
def lemma11_every_cell() -> Blocks:
    r"""One ratio for every cell but (n, 0), where its denominator is 0; it is that of the decomposition
    `clones_koskela`: Σ h_j a_j/c_j over Σ h_j b_j/c_j with h = (a, b, n − a − b), for t > 1. The accountant
    compiles this very formula (`shuffle_sym.model.cells`).

    >>> lemma11_every_cell().result.subs({a: 1, b: 0, n: 3, t: 3})
    7
    """
    one_ratio = clone_cells().ratio
    known: Any = cite(lemma11, part=2)
    branches = [
        chain(
            ratio(a, b),
            equals(branch.right, name, known),
            equals(one_ratio, "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
            under=branch.under,
        )
        for branch, name in zip(known.fact.branches, ("(6.5)", "(6.6)", "at the origin"), strict=True)
    ]
    every = cases(*branches, within=(CELL, NOT_LAST), words="one formula for all cells but $(n, 0)$")
    return clone, weight, known, every


# ------------------------------------------------------------------------------------------------- the cells under P


@derivation("Probability of a cell under $P$, for $a > 0$", f"{SOURCE}, (6.7)", WHERE)
def eq67() -> Blocks:
    r"""The probability of (a, b) under P, for a > 0 (Koskela et al. 2021, (6.7); i = a + b − 1 and j = a − 1).

    >>> eq67().result.subs({a: 1, b: 1, n: 2, p: sp.Rational(1, 2), q: sp.Rational(2, 3)})
    1/6
    """
    closed, through = cite_parts(lemma_b3, 0, 1)
    bracket = q + (1 - q) * odds * (n - a - b) / (2 * a)
    return law_of_p, closed, through, chain(
        P(a, b),
        equals(q * P1(a, b) + (1 - q) * P0(a, b), r"$P_1$ if $\Delta = 1$, $P_0$ if $\Delta = 0$", law_of_p),
        equals(bracket * P1(a, b), "$P_0$ through $P_1$: Lemma B.3, second part", through),
        equals(bracket * closed.right, "$P_1$ in closed form: Lemma B.3, first part", closed),
        under=sp.Gt(a, 0),
    )  # fmt: skip


@derivation("Probability of a cell under $P$, for $a = 0$", f"{SOURCE}, (6.8)", WHERE)
def eq68() -> Blocks:
    r"""The probability of (0, b) under P (Koskela et al. 2021, (6.8)).

    >>> eq68().result
    (p/2)**b*(1 - p)**(-b + n - 1)*(1 - q)*binomial(n - 1, b)
    """
    return law_of_c, law_of_a, law_of_p1, law_of_p0, law_of_p, chain(
        P(0, b),
        equals(q * P1(0, b) + (1 - q) * P0(0, b), r"$P_1$ if $\Delta = 1$, $P_0$ if $\Delta = 0$", law_of_p),
        equals(q * C(b - 1) * A(-1, b - 1) + (1 - q) * C(b) * A(0, b), "$A = -1$, or $A = 0$", law_of_p1, law_of_p0),
        equals((1 - q) * C(b) * A(0, b), "$A$ is not negative: $P_1$ is never $(0, b)$", law_of_a),
        equals(
            (1 - q) * sp.binomial(n - 1, b) * (p / 2) ** b * (1 - p) ** (n - 1 - b), "no clone is of the first kind",
            law_of_c, law_of_a,
        ),
    )  # fmt: skip


@derivation("The probabilities of all cells sum to 1", f"{SOURCE}, (6.7) and (6.8)", WHERE)
def cells_sum_to_one() -> Blocks:
    r"""(6.7) and (6.8), summed over all cells, are 1 (ours; Koskela et al. 2021 do not sum them).

    A cell with a > 0 is (j + 1, i − j) for one i in 0 … n − 1 and one j in 0 … i; the others are (0, b), and (0, n) has
    no mass, as C is at most n − 1.

    >>> cells_sum_to_one().result
    1
    """
    at_zero, positive = cite(eq68), cite(eq67)
    without = (1 - q) * (1 - p / 2) ** (n - 1)
    weight = (1 - q) * odds * (n - 1 - i)
    cell = chain(
        P(j + 1, i - j),
        equals(
            (q + weight / (2 * j + 2)) * A(j, i) * C(i), "(6.7) with $a = j + 1$ and $b = i - j$",
            positive.at({a: j + 1, b: i - j}), law_of_c, law_of_a,
        ),
        under=sp.Ge(i, j),
    )  # fmt: skip
    first_kind, clones = (j, 0, i), (i, 0, n - 1)
    mass = chain(sp.Sum(A(j, i), first_kind), equals(1, "the law of $A$", law_of_a))
    mean = chain(
        sp.Sum(A(j, i) / (2 * j + 2), first_kind),
        equals(
            sp.Sum(sp.binomial(i + 1, j + 1), first_kind) / (2 ** (i + 1) * (i + 1)),
            r"$\binom{i + 1}{j + 1}$ is $(i + 1)/(j + 1)$ times $\binom{i}{j}$", law_of_a,
        ),
        equals((1 - 2 ** (-i - 1)) / (i + 1), "the binomial theorem without its first term"),
    )  # fmt: skip
    one_more = chain(C(i + 1), equals(odds * (n - 1 - i) / (i + 1) * C(i), "add one clone, by (B.6)", law_of_c))
    more, halved = sp.Sum(C(i + 1), clones), sp.Sum(C(i + 1) / 2 ** (i + 1), clones)
    return law_of_c, law_of_a, at_zero, positive, cell, mass, mean, one_more, chain(
        sp.Sum(P(0, b), (b, 0, n - 1)) + sp.Sum(P(j + 1, i - j), first_kind, clones),
        equals(without + sp.Sum(P(j + 1, i - j), first_kind, clones), "(6.8), and the binomial theorem", at_zero),
        equals(
            without + q * sp.Sum(A(j, i) * C(i), first_kind, clones)
            + (1 - q) * odds * sp.Sum((n - 1 - i) / (2 * j + 2) * A(j, i) * C(i), first_kind, clones),
            "(6.7)", cell,
        ),
        equals(
            without + q * sp.Sum(mass.left * C(i), clones)
            + (1 - q) * odds * sp.Sum((n - 1 - i) * mean.left * C(i), clones),
            "what depends on $j$ summed over $j$",
        ),
        equals(
            without + q * sp.Sum(C(i), clones)
            + (1 - q) * odds * sp.Sum((n - 1 - i) * (1 - 2 ** (-i - 1)) / (i + 1) * C(i), clones),
            "the two sums over $j$",
            mass, mean,
        ),
        equals(without + q * sp.Sum(C(i), clones) + (1 - q) * more - (1 - q) * halved, "add one clone", one_more),
        equals(without + q + (1 - q) * (1 - (1 - p / 2) ** (n - 1)), "three times the binomial theorem", law_of_c),
        equals(1, "everything cancels"),
    )  # fmt: skip


@derivation(
    "One law for every cell",
    f"{SOURCE}, (6.7) and (6.8); Su et al. 2025, Theorem 10",
    {**WHERE, t: r"$e^{\varepsilon_0}$, above 1"},
)
def law_every_cell() -> Blocks:
    r"""The probability of every cell under P in one formula, in t = e^{ε0} > 1: that of the decomposition
    `clones_koskela`, which the accountant compiles (`shuffle_sym.model.cells`).

    >>> law_every_cell().result.subs({a: 1, b: 1, n: 2, t: 2})
    1/6
    """
    positive, at_zero = cite(eq67), cite(eq68)
    whole = clone_cells().law
    return (
        clone,
        weight,
        positive,
        at_zero,
        cases(
            chain(
                P(a, b),
                by("(6.7)", positive),
                equals(whole, "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
                under=sp.Gt(a, 0),
            ),
            chain(
                P(a, b),
                equals(P(0, b), "at $a = 0$"),
                by("(6.8)", at_zero),
                equals(whole, "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
                under=sp.Eq(a, 0),
            ),
            words="one formula for all cells",
        ),
    )


@derivation(
    r"The mass that no $\varepsilon$ removes", f"{SOURCE}, Section 6.1", {**WHERE, t: r"$e^{\varepsilon_0}$, above 1"}
)
def delta_infinity() -> Blocks:
    r"""The part of P where Q vanishes (Koskela et al. 2021, Section 6.1): Pr[A + Δ = n].

    >>> delta_infinity().result
    2**(1 - n)*t**(2 - n)/(t + 1)
    """
    mass = sp.Symbol("delta_infinity", nonnegative=True)
    no_q, some_p = cite_parts(lemma11, 0, 1)
    where_q_is_zero = given(
        mass, P(n, 0), "the mass of $P$ where $Q$ is 0: by Lemma 11 at the cell $(n, 0)$, and nowhere else"
    )
    shown = chain(
        mass,
        equals(P(n, 0), r"$A + \Delta = n$", where_q_is_zero),
        equals(q * (p / 2) ** (n - 1), r"all others are clones of the first kind, and $\Delta = 1$: Lemma 11", some_p),
        equals(t ** (2 - n) / (2 ** (n - 1) * (t + 1)), "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
    )
    return clone, weight, no_q, some_p, where_q_is_zero, shown, parts(no_q, shown)


# ------------------------------------------------------------------------------------- against the standard clone

SUM_G, SUM_H = Random("S_G"), Random("S_H")
BETWEEN = (sp.Ge(alpha, 1 / t), sp.Le(alpha, t))


def _one_side(
    standard: Law, koskela: Law, f: Callable[[sp.Expr], sp.Expr], outer: int, level: sp.Rel, words: str
) -> Chain:
    """E f(G) ≤ E f(H), where f is 0 at all values of G but the outer one, and that of H is further out."""
    (value, mass), (further, _) = standard.right[outer], koskela.right[outer]
    return chain(
        Mean(f(G)),
        by("the law of $G$", standard.mean(f)),
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
    standard = law_from_table(G, decomposition.clones().gparv, "the table of the standard clone")
    koskela = law_from_table(H, decomposition.clones_koskela().gparv, "the table of the pair of Koskela et al.")
    mean_G = chain(Mean(G), equals(1 - alpha, "the law of $G$", standard.mean(itself)))
    mean_H = chain(Mean(H), equals(1 - alpha, "the law of $H$", koskela.mean(itself)))
    means = chain(Mean(G), equals(1 - alpha, "the mean of $G$", mean_G), equals(Mean(H), "the mean of $H$", mean_H))
    high = _one_side(standard, koskela, above_level, 0, sp.Ge(x, 0), "neither 0 nor the low value is above the level")
    low = _one_side(standard, koskela, below_level, 1, sp.Le(x, 0), "neither 0 nor the high value is below the level")
    order = cases(high, reflected(means, low), within=BETWEEN, words="convex order")
    # -- α ≥ t: no value of G is positive
    copies = "$S_G$ is the sum of $n$ copies of $G$"
    large = chain(
        Mean(Positive(SUM_G)) / n,
        at_most(Mean(Positive(G)), "the positive parts one by one", theorems.general(
            r"$[u + v]_+ \le [u]_+ + [v]_+$", Mean(Positive(SUM_G)), "<=", n * Mean(Positive(G)), [copies],
            checked=COPIES,
        )),
        by("the law of $G$", standard.mean(Positive)),
        equals(0, "no value is positive"),
        at_most(Mean(Positive(SUM_H)) / n, "a mean of what is not negative"),
        under=sp.Ge(alpha, t),
    )  # fmt: skip
    # -- α ≤ 1/t: no value of G is negative
    negative = standard.mean(lambda u: Positive(-u))
    small = chain(
        Mean(Positive(SUM_G)) / n,
        equals(Mean(SUM_G) / n + Mean(Positive(-SUM_G)) / n, "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(SUM_G) / n + Mean(Positive(-G)), "the negative parts one by one", theorems.general(
            r"$[u + v]_+ \le [u]_+ + [v]_+$", Mean(Positive(-SUM_G)), "<=", n * Mean(Positive(-G)), [copies],
            checked=COPIES,
        )),
        equals(Mean(SUM_G) / n + negative.right, "the law of $G$", negative),
        equals(Mean(SUM_G) / n, "no value is negative"),
        equals(1 - alpha, "the mean of $G$", theorems.general(
            "the mean of a sum", Mean(SUM_G), "=", n * Mean(G), [copies], checked=COPIES
        ), mean_G),
        equals(Mean(SUM_H) / n, "the mean of $H$ is the same", theorems.general(
            "the mean of a sum", Mean(SUM_H), "=", n * Mean(H), ["$S_H$ is the sum of $n$ copies of $H$"],
            checked=COPIES,
        ), mean_H),
        equals(Mean(Positive(SUM_H)) / n - Mean(Positive(-SUM_H)) / n, "$[u]_+ = u + [-u]_+$"),
        at_most(Mean(Positive(SUM_H)) / n, "without a part that is not negative"),
        under=sp.Le(alpha, 1 / t),
    )  # fmt: skip
    # -- in between
    between = chain(
        Mean(Positive(SUM_G)) / n,
        at_most(
            Mean(Positive(SUM_H)) / n, "convex order survives sums, and $[u]_+$ is convex",
            theorems.convex_order_of_sums(
                G, H, x, (SUM_G, SUM_H), "$S_G$ and $S_H$ are sums of $n$ copies of $G$ and $H$",
                excess=order, means=means,
            ),
        ),
        under=BETWEEN,
    )  # fmt: skip
    every = cases(large, between, small, words=r"for every $\alpha$")
    lemma, clones, theirs = cite(theorem9), sp.symbols("P_0 P_1"), sp.symbols("P Q")
    by_g, by_h = (
        theorems.for_other_laws(lemma, {pair[0]: first, pair[1]: second, total: copies, L: 0},
                                f"${first}$, ${second}$ are the reduction pair of this table")
        for (first, second), copies in ((clones, SUM_G), (theirs, SUM_H))
    )  # fmt: skip
    return standard, koskela, mean_G, mean_H, means, low, order, every, lemma, chain(
        Divergence(alpha, *clones),
        equals(Mean(Positive(SUM_G)) / n, "Theorem 9; no component has $c = 0$", by_g),
        at_most(Mean(Positive(SUM_H)) / n, r"for every $\alpha$", every),
        equals(Divergence(alpha, *theirs), "Theorem 9", by_h),
    )  # fmt: skip
