r"""How probable the cells of the pair of Koskela et al. 2021, Section 6, are under P: (6.7), (6.8), and δ(∞)."""

import sympy as sp

from shuffle_sym.model.cells import a, b, clone_cells, n
from shuffle_sym.papers.engine import Blocks, cases, chain, cite, derivation, equals, given, parts
from shuffle_sym.papers.koskela2021.clones import (
    P0,
    P1,
    SOURCE,
    WHERE,
    A,
    C,
    P,
    i,
    j,
    law_of_a,
    law_of_c,
    law_of_p,
    law_of_p0,
    law_of_p1,
    lemma11,
    lemma_b3,
    odds,
    p,
    q,
    t,
)


@derivation("Probability of a cell under $P$, for $a > 0$", f"{SOURCE}, (6.7)", WHERE)
def eq67() -> Blocks:
    r"""The probability of (a, b) under P, for a > 0 (Koskela et al. 2021, (6.7); i = a + b − 1 and j = a − 1).

    >>> eq67().result.subs({a: 1, b: 1, n: 2, p: sp.Rational(1, 2), q: sp.Rational(2, 3)})
    1/6
    """
    closed, through = cite(lemma_b3, part=0), cite(lemma_b3, part=1)
    bracket = q + (1 - q) * odds * (n - a - b) / (2 * a)
    shown = chain(
        P(a, b),
        equals(q * P1(a, b) + (1 - q) * P0(a, b), r"$P_1$ if $\Delta = 1$, $P_0$ if $\Delta = 0$", law_of_p),
        equals(bracket * P1(a, b), "$P_0$ through $P_1$: Lemma B.3, second part", through),
        equals(bracket * closed.right, "$P_1$ in closed form: Lemma B.3, first part", closed),
        under=sp.Gt(a, 0),
    )
    return law_of_p, closed, through, shown


@derivation("Probability of a cell under $P$, for $a = 0$", f"{SOURCE}, (6.8)", WHERE)
def eq68() -> Blocks:
    r"""The probability of (0, b) under P (Koskela et al. 2021, (6.8)).

    >>> eq68().result
    (p/2)**b*(1 - p)**(-b + n - 1)*(1 - q)*binomial(n - 1, b)
    """
    shown = chain(
        P(0, b),
        equals(q * P1(0, b) + (1 - q) * P0(0, b), r"$P_1$ if $\Delta = 1$, $P_0$ if $\Delta = 0$", law_of_p),
        equals(q * C(b - 1) * A(-1, b - 1) + (1 - q) * C(b) * A(0, b), "$A = -1$, or $A = 0$", law_of_p1, law_of_p0),
        equals((1 - q) * C(b) * A(0, b), "$A$ is not negative: $P_1$ is never $(0, b)$", law_of_a),
        equals(
            (1 - q) * sp.binomial(n - 1, b) * (p / 2) ** b * (1 - p) ** (n - 1 - b), "no clone is of the first kind",
            law_of_c, law_of_a,
        ),
    )  # fmt: skip
    return law_of_c, law_of_a, law_of_p1, law_of_p0, law_of_p, shown


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
    shown = chain(
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
    return law_of_c, law_of_a, at_zero, positive, cell, mass, mean, one_more, shown


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
    clone, weight = given(p, 1 / t, r"$p = e^{-\varepsilon_0}$, (6.2)"), given(q, t / (t + 1), "the weight of (6.2)")
    positive, at_zero = cite(eq67), cite(eq68)
    whole = clone_cells().law
    some = chain(
        P(a, b),
        equals(positive.right, "(6.7)", positive),
        equals(whole, "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
        under=sp.Gt(a, 0),
    )
    none = chain(
        P(a, b),
        equals(P(0, b), "at $a = 0$"),
        equals(at_zero.right, "(6.8)", at_zero),
        equals(whole, "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
        under=sp.Eq(a, 0),
    )
    return clone, weight, positive, at_zero, cases(some, none, words="one formula for all cells")


@derivation(
    r"The mass that no $\varepsilon$ removes", f"{SOURCE}, Section 6.1", {**WHERE, t: r"$e^{\varepsilon_0}$, above 1"}
)
def delta_infinity() -> Blocks:
    r"""The part of P where Q vanishes (Koskela et al. 2021, Section 6.1): Pr[A + Δ = n].

    >>> delta_infinity().result
    2**(1 - n)*t**(2 - n)/(t + 1)
    """
    mass = sp.Symbol("delta_infinity", nonnegative=True)
    no_q, some_p = cite(lemma11, part=0), cite(lemma11, part=1)
    where_q_is_zero = given(
        mass, P(n, 0), "the mass of $P$ where $Q$ is 0: by Lemma 11 at the cell $(n, 0)$, and nowhere else"
    )
    clone, weight = given(p, 1 / t, r"$p = e^{-\varepsilon_0}$, (6.2)"), given(q, t / (t + 1), "the weight of (6.2)")
    shown = chain(
        mass,
        equals(P(n, 0), r"$A + \Delta = n$", where_q_is_zero),
        equals(q * (p / 2) ** (n - 1), r"all others are clones of the first kind, and $\Delta = 1$: Lemma 11", some_p),
        equals(t ** (2 - n) / (2 ** (n - 1) * (t + 1)), "$p = 1/t$ and $q = t/(t + 1)$", clone, weight),
    )
    return clone, weight, no_q, some_p, where_q_is_zero, shown, parts(no_q, shown)
