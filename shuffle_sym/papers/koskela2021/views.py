r"""The views of Koskela et al. 2021, Sections 4 and 5 and Appendix A: 2-RR, and k-RR as A_w and A_s see it.

A user of k-RR answers truthfully with probability 1 − γ and otherwise sends one of the k values at random. The
adversary takes the truthful messages of the other users away; n_1, …, n_k count what is left. b of the n − 1 others
answered randomly. The differing user has value 1 (dataset X) or 2 (dataset X').
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.accounting import analyses
from shuffle_sym.accounting.sources import MaxOverPairs, Source
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Positive, quantity
from shuffle_sym.papers.koskela2021.definitions import EVERYONE, OTHERS, view
from shuffle_sym.papers.koskela2021.notation import SOURCE, USERS, alpha, k, n, t
from shuffle_sym.papers.laws import divergence_of_laws
from shuffle_sym.papers.proofs import LEVEL, by, cite_parts, quantities, shown_by
from shuffle_sym.papers.tools import fraction
from shuffle_sym.randomizers import KRR, BinaryRR

n1, n2, b, m, i, j = sp.symbols("n_1 n_2 b m i j", integer=True, nonnegative=True)
gamma, p = sp.symbols("gamma p", positive=True)
#: Probabilities of one message of the differing user: the own value, and any other.
own, other = 1 - gamma + gamma / k, gamma / k
share = given(gamma, k / (t + k - 1), r"$k$-RR with $\varepsilon_0$: $1 - \gamma + \gamma/k$ is $t$ times $\gamma/k$")


def _strong(R: Any, n: int) -> Source:
    if not isinstance(R, Randomizer):
        raise ValueError(f"the messages must be those of one randomizer and finitely many, got {R!r}")
    return MaxOverPairs([decomposition.strong(R, *pair) for pair in R.pairs()], n)


analyses.add(analyses.by_laws("strong adversary", f"{SOURCE}, Definition 8", analyses.GIVEN, _strong))


@derivation(
    "Shuffled 2-RR: all zeros against one 1", f"{SOURCE}, (4.1)",
    {i: "number of ones that are seen", n: "users", p: "$1/(t + 1)$, the probability that a bit is flipped",
     **LEVEL},
)  # fmt: skip
def two_rr_pair() -> Blocks:
    r"""The pair of (4.1), P = Bin(n, p) and Q = Bin(n − 1, p) + Bern(1 − p), p = 1/(t + 1), and its ratio Q/P, between
    1/t and t (Koskela et al. 2021, §4).

    P is the dataset of n zeros, Q has one 1 in it: ``dataset(BinaryRR(), 0, 1, 0)``. As the ratio has a lower and an
    upper end, δ(∞) is 0 in both directions. The paper calls it the worst case; from three users on a 1 among the others
    can be worse (``tests/papers/test_koskela2021.py``).

    >>> two_rr_pair().result
    i*t/n + (-i + n)/(n*t)
    """
    N, P, Q = quantities("N P Q", r"\Pr[* = {0}]", nonnegative=True)
    ratio = quantity("ratio", r"\rho({0})", nonnegative=True)
    any_i = sp.Symbol("i", integer=True)
    others = given(
        N(any_i),
        sp.binomial(n - 1, any_i) * p**any_i * (1 - p) ** (n - 1 - any_i),
        r"the ones of $n - 1$ zeros: $\mathrm{Bin}(n - 1, p)$",
    )
    zero = given(P(i), (1 - p) * N(i) + p * N(i - 1), "the last user has a 0, too: no 1 with probability $1 - p$")
    one = given(Q(i), p * N(i) + (1 - p) * N(i - 1), "the last user has a 1: no 1 with probability $p$")
    the_ratio = given(ratio(i), Q(i) / P(i), "what the privacy loss is the logarithm of")
    flip = given(p, 1 / (t + 1), r"$\varepsilon_0$-LDP: a bit is flipped with this probability")
    binomial = chain(
        P(i),
        equals((1 - p) * N(i) + p * N(i - 1), "by definition", zero),
        equals(
            sp.binomial(n, i) * p**i * (1 - p) ** (n - i), r"Pascal's triangle: $P$ is $\mathrm{Bin}(n, p)$", others
        ),
    )
    without = chain(
        N(i),
        equals(
            (n - i) / (n * (1 - p)) * P(i), r"$\binom{n - 1}{i}$ is $(n - i)/n$ times $\binom{n}{i}$", others, binomial
        ),
    )
    with_one = chain(
        N(i - 1), equals(i / (n * p) * P(i), r"$\binom{n - 1}{i - 1}$ is $i/n$ times $\binom{n}{i}$", others, binomial)
    )
    in_t = (n - i) / (n * t) + t * i / n
    shown = chain(
        ratio(i),
        equals((p * N(i) + (1 - p) * N(i - 1)) / P(i), "the last user has a 1", the_ratio, one),
        equals(p / (1 - p) * (n - i) / n + (1 - p) / p * i / n, "both through $P(i)$", with_one, without),
        equals(in_t, "$p/(1 - p) = 1/t$", flip),
    )
    lower, upper = (
        chain(
            ratio(i),
            equals(in_t, "as above", shown),
            end(value, "a mean of $1/t$ and $t$, with weights $(n - i)/n$ and $i/n$"),
            under=sp.Ge(n, i),
        )
        for end, value in ((at_least, 1 / t), (at_most, t))
    )
    zeros, ones = _in_order(decomposition.dataset(BinaryRR(), 0, 1, 0))
    written = ((n - i) * zeros.b / zeros.c + i * ones.b / ones.c) / ((n - i) * zeros.a / zeros.c + i * ones.a / ones.c)
    same = chain(written, equals(in_t, "the decomposition $(a, b, c)$ of the two datasets"))
    return (
        flip, others, zero, one, the_ratio, binomial, without, with_one, shown, lower, upper, same,
        parts(binomial, lower, upper, same, shown),
    )  # fmt: skip


def _in_order(D: decomposition.Decomposition) -> tuple[decomposition.Component, decomposition.Component]:
    """The two messages of 2-RR, the more likely one under x0 first."""
    first, second = D.atoms
    return (first, second) if field.proves_nonnegative(first.a - second.a, D.bindings) else (second, first)


# ------------------------------------------------------------------------------------------------- the weak adversary

WHERE = {
    **USERS, k: "size of the alphabet", gamma: "probability of a random answer",
    b: "how many of the others answered randomly",
}  # fmt: skip
V, V_other = sp.Symbol("V", nonnegative=True), sp.Symbol("V'", nonnegative=True)
count = quantity("count", "n_{{{0}}}", integer=True, nonnegative=True)


@derivation(
    "A view of the weak adversary", f"{SOURCE}, Appendix A, corrected",
    {**WHERE, i: r"a value, $1, \dots, k$", V: "probability of the view under $X$", V_other: "and under $X'$"},
)  # fmt: skip
def appendix_a() -> Blocks:
    r"""Probability of a view of A_w under X, and under X' (Koskela et al. 2021, Theorem 10 and Appendix A, corrected).

    The n_i messages that are left are the noise of b users and one message of the differing user. The paper writes the
    multinomial coefficient "b over n_1, …, n_k" for :math:`b!/(n_1! \cdots n_k!)`, which is none, because the n_i do
    not sum to b; it is one divided by b + 1. It also writes Pr[B = b] for the probability of the *vector* β, in which
    no binomial coefficient occurs.

    >>> [str(fact.left) for fact in appendix_a().statement]
    ['factorial(b)/F', 'V', "V'"]
    """
    noise = quantity("noise", r"\nu_{{{0}}}", nonnegative=True)
    F, beta = sp.Symbol("F", positive=True), sp.Symbol("w", nonnegative=True)
    factorials = given(F, sp.Product(sp.factorial(count(j)), (j, 1, k)), "the factorials of all counts")
    marked = given(
        beta,
        gamma**b * (1 - gamma) ** (n - 1 - b),
        r"the probability of the vector $\beta$, $b$ of whose entries are 1",
    )
    multinomial = given(
        noise(i), sp.factorial(b) / (sp.factorial(count(i) - 1) * (F / sp.factorial(count(i)))) / k**b,
        "the noise of $b$ users is the counts with one message $i$ less: multinomial",
    )  # fmt: skip
    rest = sp.Sum(count(i), (i, 3, k))
    left = suppose(rest, "=", b + 1 - count(1) - count(2), "$b + 1$ messages are left")
    fewer = chain(noise(i), equals(sp.factorial(b) / (F * k**b) * count(i), "$(n_i - 1)! = n_i!/n_i$", multinomial))
    before = beta * sp.factorial(b) / (F * k**b)
    definitions, shown = [], []
    for name, mine, theirs in ((V, 1, 2), (V_other, 2, 1)):
        sent = own * noise(mine) + other * (noise(theirs) + sp.Sum(noise(i), (i, 3, k)))
        bracket = count(mine) * (1 - gamma) + gamma / k * (b + 1)
        definitions.append(given(name, beta * sent, f"the differing user has the value {mine} and adds some message"))
        shown.append(
            chain(
                name,
                equals(beta * sent, "message by message of the differing user", definitions[-1]),
                equals(before * (own * count(mine) + other * (count(theirs) + rest)), "the law of the noise", fewer),
                equals(before * (own * count(mine) + other * (b + 1 - count(mine))), "$b + 1$ messages are left", left),
                equals(before * bracket, "collected"),
                equals(
                    gamma**b * (1 - gamma) ** (n - 1 - b) * sp.factorial(b) / (factorials.right * k**b) * bracket,
                    "written out", marked, factorials,
                ),
            )
        )  # fmt: skip
    coefficient = chain(
        sp.factorial(b) / F,
        equals(
            sp.factorial(b + 1) / F / (b + 1), "the multinomial coefficient of $b + 1$ messages, divided by $b + 1$"
        ),
    )
    return factorials, marked, multinomial, left, fewer, *definitions, coefficient, *shown, parts(coefficient, *shown)


def _agree(seen: slice, formula: Callable[[int, Fraction, int, Fraction], Fraction]) -> Callable[[], bool]:
    """Whether the divergence of the views, written out choice by choice, is that of a formula: n ≤ 3, k = 2, 3."""

    def holds() -> bool:
        share = Fraction(1, 3)
        for users, size, ratio in product((1, 2, 3), (2, 3), (Fraction(1, 2), Fraction(6, 5), Fraction(3))):
            P, Q = (view(size, share, (*(0,) * (users - 1), x), seen) for x in (0, 1))
            if divergence_of_laws(P, Q, ratio) != formula(size, share, users, ratio):
                return False
        return True

    return holds


SMALL = r"for $n \le 3$, $k = 2, 3$, $\gamma = 1/3$ and three $\alpha$, all views in fractions"
Weak, Weak_other = quantities("W W'", "*({0}, {1}, {2})", nonnegative=True)
weak_cells = (n2, 0, b + 1 - n1), (n1, 0, b + 1), (b, 0, n - 1)


def _weak_formula(law: sp.Expr, law_other: sp.Expr) -> Callable[[int, Fraction, int, Fraction], Fraction]:
    def total(size: int, share: Fraction, users: int, ratio: Fraction) -> Fraction:
        where = {k: size, gamma: sp.Rational(share), n: users}
        both = sp.Tuple(law, law_other).subs(where)
        cells = ((x, y, z) for z in range(users) for x in range(z + 2) for y in range(z + 2 - x))
        masses = (both.subs({n1: x, n2: y, b: z}) for x, y, z in cells)
        return sum((max(fraction(p) - ratio * fraction(q), Fraction(0)) for p, q in masses), Fraction(0))

    return total


@derivation(
    "The weak adversary sees $(N_1, N_2, B)$", f"{SOURCE}, Theorem 10, corrected",
    {**WHERE, n1: "messages 1 that are left", n2: "messages 2 that are left", **LEVEL, alpha:
        r"$e^{\varepsilon}$"},
)  # fmt: skip
def theorem10() -> Blocks:
    r"""What A_w sees is the joint law of (N1, N2, B), which is the blanket's reduction pair (Koskela et al. 2021,
    Theorem 10, corrected). Counts n_1, n_2 with n_1 + n_2 ≤ b + 1 ≤ n; W is their law under X and W' that under X'.

    The paper goes on to two *scalar* random variables with the laws of numerator and denominator; what follows from
    them is smaller than what the view gives away.

    >>> theorem10().result
    (b + n_1*(t - 1) + 1)/(b + n_2*(t - 1) + 1)
    """
    # -- the laws W and W' of (N1, N2, B), from what the differing user adds to the noise
    B, noise = quantity("B", r"\Pr[B = {0}]", nonnegative=True), quantity("noise", r"\nu({0}, {1})", nonnegative=True)
    x, y = sp.symbols("x y", integer=True)
    marked = given(
        B(b), sp.binomial(n - 1, b) * gamma**b * (1 - gamma) ** (n - 1 - b), r"$B$ is $\mathrm{Bin}(n - 1, \gamma)$"
    )
    spread = given(
        noise(x, y),
        sp.factorial(b) / (sp.factorial(x) * sp.factorial(y) * sp.factorial(b - x - y)) * (k - 2) ** (b - x - y) / k**b,
        "$b$ random answers are $x$ ones, $y$ twos and $b - x - y$ of the $k - 2$ other values",
    )  # fmt: skip
    ways = sp.factorial(b) / (sp.factorial(n1) * sp.factorial(n2) * sp.factorial(b + 1 - n1 - n2))
    before = sp.binomial(n - 1, b) * gamma**b * (1 - gamma) ** (n - 1 - b) * ways * (k - 2) ** (b + 1 - n1 - n2) / k**b
    definitions: list[Fact] = []
    laws: list[Fact] = []
    for W, name, one, two, mine in ((Weak, "a 1", own, other, n1), (Weak_other, "a 2", other, own, n2)):
        sent = one * noise(n1 - 1, n2) + two * noise(n1, n2 - 1) + (k - 2) * other * noise(n1, n2)
        said = f"the differing user, who has {name}, adds a 1, a 2 or another value to the noise"
        definitions.append(given(W(n1, n2, b), B(b) * sent, said))
        laws.append(
            chain(
                W(n1, n2, b),
                equals(B(b) * sent, "message by message of the differing user", definitions[-1]),
                equals(before * (mine * (1 - gamma) + gamma / k * (b + 1)), "the law of the noise", marked, spread),
            )
        )
    ratio = chain(
        Weak(n1, n2, b) / Weak_other(n1, n2, b),
        equals(
            (n1 * (1 - gamma) + gamma / k * (b + 1)) / (n2 * (1 - gamma) + gamma / k * (b + 1)),
            "what both have in common cancels", *laws,
        ),
        equals((n1 * (t - 1) + b + 1) / (n2 * (t - 1) + b + 1), r"$\gamma$ in $t$", share),
    )  # fmt: skip
    same = chain(Weak(n1, n2, b), by("as above", laws[0]),
                 equals(_reduction_pair(), "the blanket of $k$-RR, cell by cell", share))  # fmt: skip
    under_X, under_other = cite_parts(appendix_a, 1, 2)
    of_view = chain(
        V / V_other,
        equals(
            (count(1) * (1 - gamma) + gamma / k * (b + 1)) / (count(2) * (1 - gamma) + gamma / k * (b + 1)),
            "Appendix A: a function of $n_1$, $n_2$ and $b$", under_X, under_other,
        ),
    )  # fmt: skip
    difference = Positive(Weak(n1, n2, b) - alpha * Weak_other(n1, n2, b))
    divergence = shown_by("only $(N_1, N_2, B)$ matters", theorems.general(
        "a sufficient statistic keeps the divergence", Divergence(alpha, sp.Symbol("View"), sp.Symbol("View'")), "=",
        sp.Sum(difference, *weak_cells),
        stated=["$(N_1, N_2, B)$ is a function of the view, with the laws $W$ and $W'$"],
        shown=[("the ratio of a view is a function of it", of_view)],
        checked=(SMALL, _agree(OTHERS, _weak_formula(laws[0].right, laws[1].right))),
    ))  # fmt: skip
    return (
        share, marked, spread, *definitions, *laws, under_X, under_other, of_view, same, divergence, ratio,
        parts(*laws, same, divergence, ratio),
    )  # fmt: skip


def _reduction_pair() -> sp.Expr:
    """P of the blanket's reduction pair of k-RR at n_1, n_2, the other values, and the messages that are not noise."""
    D = decomposition.blanket(KRR())
    h = (n1, n2, b + 1 - n1 - n2)
    seen = sp.factorial(n) / sp.factorial(n - 1 - b) * D.beta_form ** (n - 1 - b) / n
    powers: dict[sp.Expr, sp.Expr] = {}
    for messages, atom in zip(h, D.atoms, strict=True):
        powers[atom.c] = powers.get(atom.c, 0) + messages
        seen /= sp.factorial(messages)
    seen *= sp.Mul(*(mass**messages for mass, messages in powers.items()))
    return seen * sp.Add(*(x * field.simplest(atom.a / atom.c) for x, atom in zip(h, D.atoms, strict=True)))


# ------------------------------------------------------------------------------------------------- the strong adversary


def _strong_formula(size: int, share: Fraction, users: int, ratio: Fraction) -> Fraction:
    """γ[1 − α]_+ + (1 − γ) Σ T(m, y)[1 − αy/(m + 1)]_+."""
    noise, total = share / size, Fraction(0)
    for ones, twos in ((x, y) for x in range(users) for y in range(users - x)):
        rest = users - 1 - ones - twos
        ways = math.factorial(users - 1) // (math.factorial(ones) * math.factorial(twos) * math.factorial(rest))
        total += (
            ways * noise ** (ones + twos) * (1 - 2 * noise) ** rest * max(1 - ratio * twos / (ones + 1), Fraction(0))
        )
    return share * max(1 - ratio, Fraction(0)) + (1 - share) * total


@derivation(
    "What the strong adversary sees", f"{SOURCE}, Definition 8 and (5.1), corrected",
    {n: "users", k: "size of the alphabet", gamma: "probability of a random answer", p: r"$\gamma/k$",
     m: "messages 1 among the noise of the others: $N_1 = m + 1$", n2: "messages 2 among it",
     alpha: r"$e^{\varepsilon}$"},
)  # fmt: skip
def strong_view() -> Blocks:
    r"""What A_s sees (Koskela et al. 2021, Definition 8 and (5.1), corrected; Balle et al. 2019, Theorem 3.1):
    :math:`D_\alpha = \gamma[1-\alpha]_+ + (1-\gamma)\,\mathbb E[1 - \alpha N_2/N_1]_+`, and for α → ∞ the views without
    a 2 are left.

    If the differing user answered randomly, which A_s knows, X and X' are equally likely; else their ratio is n_1/n_2.
    The paper says n_1/n_2 for *every* view, leaves out the factor 1 − γ, and replaces the joint law by its two margins.

    >>> strong_view().result
    (1 - gamma)*(-gamma/k + 1)**(n - 1)
    """
    T, U = quantity("T", "T({0}, {1})", nonnegative=True), quantity("U", "U({0})", nonnegative=True)
    x, y = sp.symbols("x y", integer=True)
    views, last = sp.Symbol("J", integer=True, positive=True), sp.Symbol("delta_infinity", real=True)
    each = given(p, gamma / k, "another user's noise is a 1, or a 2, with this probability")
    noise = given(
        T(x, y), sp.binomial(n - 1, x + y) * sp.binomial(x + y, x) * p ** (x + y) * (1 - 2 * p) ** (n - 1 - x - y),
        "the noise of the $n - 1$ others has $x$ ones and $y$ twos",
    )  # fmt: skip
    sums = suppose(sp.Sum(U(j), (j, 1, views)), "=", 1, "$U(j)$: the law of a view in which the user answered randomly")
    moved = chain(T(m + 1, n2 - 1), equals(n2 / (m + 1) * T(m, n2), "the ratio is $n_1/n_2$, $n_1 = m + 1$", noise))
    cells = (n2, 0, n - 1 - m), (m, 0, n - 1)
    sees = theorems.general(
        "the divergence given what is seen",
        Divergence(alpha, sp.Symbol("View"), sp.Symbol("View'")), "=",
        gamma * sp.Sum(Positive(U(j) - alpha * U(j)), (j, 1, views))
        + (1 - gamma) * sp.Sum(Positive(T(m, n2) - alpha * T(m + 1, n2 - 1)), *cells),
        stated=["the view tells whether the user answered randomly, and then has the same law under $X$ and "
                "$X'$; else the counts are those of the noise and a 1, or a 2"],
        checked=(SMALL, _agree(EVERYONE, _strong_formula)),
    )  # fmt: skip
    truthful = (1 - gamma) * sp.Sum(T(m, n2) * Positive(1 - alpha * n2 / (m + 1)), *cells)
    shown = chain(
        sees.left,
        by("a random answer, or a truthful one", sees),
        equals(
            gamma * Positive(1 - alpha) * sp.Sum(U(j), (j, 1, views)) + truthful, "the ratios 1 and $n_1/n_2$", moved
        ),
        equals(gamma * Positive(1 - alpha) + truthful, "$U$ sums to 1", sums),
    )
    no_two = given(
        last,
        (1 - gamma) * sp.Sum(T(m, 0), (m, 0, n - 1)),
        r"for $\alpha \to \infty$ only the terms with $n_2 = 0$ are left",
    )
    end = chain(
        last,
        equals((1 - gamma) * sp.Sum(T(m, 0), (m, 0, n - 1)), "no 2 among the noise", no_two),
        equals((1 - gamma) * (1 - p) ** (n - 1), "the binomial theorem", noise),
        equals((1 - gamma) * (1 - gamma / k) ** (n - 1), r"$p = \gamma/k$", each),
    )
    first = decomposition.strong(KRR()).atoms[0]
    same = [
        chain(mass, equals(of, f"${name}$ of the decomposition `strong`", share))
        for mass, of, name in ((1 - gamma, first.a, "a"), (gamma / k, first.c, "c"))
    ]
    return share, each, noise, sums, moved, shown, no_two, end, *same, parts(*same, moved, shown, end)
