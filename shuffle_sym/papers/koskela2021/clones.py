r"""The pair of Koskela et al. 2021, Section 6 and Appendix B, cell by cell: Lemma 11 and what leads to it.

.. math:: P = (A + \Delta, C - A), \quad Q = (A, C - A + \Delta), \qquad
          C \sim \mathrm{Bin}(n - 1, p),\ A \sim \mathrm{Bin}(C, 1/2),\ \Delta \sim \mathrm{Bern}(q)

with p = 1/t and q = t/(t + 1), t = e^{ε0}. Given Δ = 1 these are P1 and Q1, given Δ = 0 both are P0. A cell (a, b) has
a, b ≥ 0 and a + b ≤ n. Everything is for t > 1: at t = 1 the factor p/(1 − p) of the paper does not exist.
"""

from typing import Any

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.cells import a, b, clone_cells, n
from shuffle_sym.papers.engine import Blocks, cases, chain, cite, derivation, equals, given, parts, quantity

t = field.t
i, j = sp.symbols("i j", integer=True, nonnegative=True)
clones_, first_ = sp.symbols("i j", integer=True)  # also −1, where there is no such cell
p, q = sp.symbols("p q", positive=True)
odds = p / (1 - p)
SOURCE = "Koskela et al. 2021"

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
    n: "number of users, including the one whose input differs",
    p: "$1/t$, the probability that another user is a clone",
    q: r"$t/(t + 1)$, the probability of $\Delta = 1$",
    a: "first entry of a cell",
    b: "second entry of a cell",
}
CELL = sp.Ge(n, a + b)


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
    some = chain(
        Q1(a, 0),
        equals(C(a - 1) * A(a, a - 1), "$A = a$ and $C = a - 1$", law_of_q1),
        equals(0, "not more than $C$ clones are of the first kind", law_of_a),
        under=sp.Gt(a, 0),
    )
    none = chain(
        Q1(a, 0),
        equals(C(-1) * A(0, -1), "at $a = 0$: $A = 0$ and $C = -1$", law_of_q1),
        equals(0, "$C$ is not negative", law_of_c, law_of_a),
        under=sp.Eq(a, 0),
    )
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
    never = cases(some, none, words="$Q_1$ is never $(a, 0)$, (B.9)")
    laws = (law_of_c, law_of_a, law_of_p1, law_of_q1, law_of_p0)
    return *laws, never, origin, inside, parts(never, origin, inside)


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
    by_first, by_zero = cite(lemma_b1, part=0), cite(lemma_b1, part=1)
    never, origin, inside = (cite(lemma_b2, part=part) for part in range(3))
    branches = (
        _second_positive(the_ratio, by_first, by_zero),
        _second_zero(the_ratio, never, inside),
        _at_origin(the_ratio, never, origin),
    )
    no_q, some_p = _at_the_end()
    every = cases(*branches, within=(CELL, NOT_LAST), words="Lemma 11, for every cell but $(n, 0)$")
    laws = (law_of_c, law_of_a, law_of_p1, law_of_q1, law_of_p0, law_of_p, law_of_q)
    lemmas = (by_first, by_zero, never, origin, inside)
    return *laws, the_ratio, *lemmas, every, no_q, some_p, parts(no_q, some_p, every)


def _mixtures(first: Any, second: Any) -> sp.Expr:
    """The ratio of P and Q at a cell, through P1, Q1 and P0."""
    cell = first, second
    return (q * P1(*cell) + (1 - q) * P0(*cell)) / (q * Q1(*cell) + (1 - q) * P0(*cell))


def _second_positive(the_ratio: Any, by_first: Any, by_zero: Any) -> Any:
    through_zero = (1 - q) * odds * (n - a - b) / (2 * b)
    return chain(
        ratio(a, b),
        equals(_mixtures(a, b), "the ratio of the mixtures (6.3)", the_ratio, law_of_p, law_of_q),
        equals(
            (q * a / b * Q1(a, b) + through_zero * Q1(a, b)) / (q * Q1(a, b) + through_zero * Q1(a, b)),
            "everything through $Q_1$: Lemma B.1", by_first, by_zero,
        ),
        equals((q * a / b + through_zero) / (q + through_zero), "divided by $Q_1$: (6.5)"),
        under=(CELL, sp.Gt(b, 0)),
    )  # fmt: skip


def _second_zero(the_ratio: Any, never: Any, inside: Any) -> Any:
    return chain(
        ratio(a, b),
        equals(P(a, 0) / Q(a, 0), "at $b = 0$", the_ratio),
        equals(_mixtures(a, 0), "the mixtures (6.3)", law_of_p, law_of_q),
        equals((q * P1(a, 0) + (1 - q) * P0(a, 0)) / ((1 - q) * P0(a, 0)), "$Q_1$ is never $(a, 0)$: (6.6)", never),
        equals(
            (q * 2 * a / (n - a) / odds + 1 - q) / (1 - q), "$P_1$ through $P_0$, and divided by $P_0$: (B.11)", inside
        ),
        under=(sp.Eq(b, 0), sp.Gt(a, 0), sp.Gt(n, a)),
    )


def _at_origin(the_ratio: Any, never: Any, origin: Any) -> Any:
    return chain(
        ratio(a, b),
        equals(P(0, 0) / Q(0, 0), "at $a = b = 0$", the_ratio),
        equals(_mixtures(0, 0), "the mixtures (6.3)", law_of_p, law_of_q),
        equals(1, "neither $P_1$ nor $Q_1$ is $(0, 0)$", never.at({a: 0}), origin),
        under=(sp.Eq(a, 0), sp.Eq(b, 0)),
    )


def _at_the_end() -> Any:
    """Q and P at the cell (n, 0)."""
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
    return no_q, some_p


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
    clone, weight = given(p, 1 / t, r"$p = e^{-\varepsilon_0}$, (6.2)"), given(q, t / (t + 1), "the weight of (6.2)")
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
