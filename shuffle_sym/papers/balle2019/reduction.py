r"""From all users to those whom the blanket covers: Lemmas A.1–A.3 and 5.3 of Balle et al. 2019."""

import math
from collections.abc import Callable
from itertools import product

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.papers.balle2019.notation import SOURCE, K, alpha, gamma, m, n
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, cases, chain, equals
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.laws import Histogram, chosen, mixed, positive_part, shuffled
from shuffle_sym.papers.proofs import quantities
from shuffle_sym.papers.tools import F

h, H = sp.symbols("h H", positive=True, integer=True)
i, j, B = sp.symbols("i j B", nonnegative=True, integer=True)
copy = Random("L")
#: L_1 + … + L_m for independent copies of L.
S = quantity("S", r"(L_1 + \dots + L_{{{0}}})", real=True)
Y = sp.symbols("Y Y'")
#: The messages of W_1 … W_(m-1), drawn from the blanket, and of the user whose input differs.
hidden = quantity("W", r"W_{{{0} - 1}} \cup Y"), quantity("W'", r"W_{{{0} - 1}} \cup Y'")
WHERE = {
    gamma: "total variation similarity: every other user draws from the blanket with this probability",
    S(m, copy): "sum of $m$ independent copies of $L$",
    hidden[0](m): "$m - 1$ draws from the blanket and the message of the user whose input differs",
}
#: A small randomizer, its blanket, and what the laws have besides, for exact checks.
LAWS = ((F(1, 2), F(3, 10), F(1, 5)), (F(1, 4), F(1, 4), F(1, 2)))
FLOOR = tuple(map(min, zip(*LAWS, strict=True)))
SHARE = sum(FLOOR, F(0))
BLANKET = tuple(p / SHARE for p in FLOOR)
REST = tuple(tuple((p - c) / (1 - SHARE) for p, c in zip(law, FLOOR, strict=True)) for law in LAWS)


@derivation("The positive part of a mean", f"{SOURCE}, used for Lemmas A.1 and A.2")
def convex_positive_part() -> Blocks:
    r""":math:`[\sum_i w_i x_i]_+ \le \sum_i w_i [x_i]_+` for weights w ≥ 0.

    >>> convex_positive_part().proved
    True
    """
    w, x = quantity("w", nonnegative=True), quantity("x", real=True)
    total = sp.Symbol("s", real=True)
    index = (i, 1, n)
    bound = sp.Sum(w(i) * Positive(x(i)), index)
    mean = given(total, sp.Sum(w(i) * x(i), index), "the mean")
    both = cases(
        chain(
            Positive(total),
            equals(total, "it is not negative"),
            equals(sp.Sum(w(i) * x(i), index), "the definition", mean),
            at_most(bound, r"$x \le [x]_+$, term by term"),
            under=sp.Ge(total, 0),
        ),
        chain(
            Positive(total),
            equals(0, "it is not positive"),
            at_most(bound, "no term is negative"),
            under=sp.Le(total, 0),
        ),
    )
    whole = chain(
        Positive(sp.Sum(w(i) * x(i), index)),
        equals(Positive(total), "the mean", mean),
        at_most(bound, "in both cases", both),
    )
    return mean, both, whole


def _mixture_holds() -> bool:
    """Whether the histogram of three messages is the mixture over who is covered, with the weights of Lemma A.1."""

    def mixture(mine: tuple[F, ...]) -> dict[Histogram, F]:
        return mixed(
            (weight, shuffled([*(BLANKET if c else rest for c, rest in zip(covered, REST, strict=True)), mine]))
            for weight, covered in chosen(len(LAWS), SHARE)
        )

    return all(mixture(mine) == shuffled([*LAWS, mine]) for mine in LAWS)


def _by_size(function: Callable[[sp.Expr], sp.Expr]) -> Applied:
    r""":math:`\sum_{B \subseteq \{1..n-1\}} f(|B|) = \sum_{m=1}^n \binom{n-1}{m-1} f(m-1)`; sets are numbered."""

    def counted() -> bool:
        sizes = [bin(number).count("1") for number in range(2**5)]
        return all(sizes.count(size) == math.comb(5, size) for size in range(6))

    sets = sp.Sum(function(size(B)), (B, 1, 2 ** (n - 1)))
    return theorems.general(
        "counting sets by their size", sets, "=", sp.Sum(sp.binomial(n - 1, m - 1) * function(m - 1), (m, 1, n)),
        [r"$n - 1$ others have $\tbinom{n - 1}{m - 1}$ sets of $m - 1$ users, and the term depends on the size only"],
        checked=("$n = 6$, all sets", counted),
    )  # fmt: skip


size = quantity("b", r"|B_{{{0}}}|", nonnegative=True, integer=True)
covered_set = quantity("V", r"Y_{{B_{{{0}}}}}"), quantity("V'", r"Y'_{{B_{{{0}}}}}")


def _weight(users: sp.Expr) -> sp.Expr:
    return gamma**users * (1 - gamma) ** (n - 1 - users)


@derivation("Given who is covered", f"{SOURCE}, Lemma A.1", WHERE | {size(B): "size of the set number $B$ of others"})
def lemma_a1() -> Blocks:
    r""":math:`D(Y\|Y') \le \sum_B \gamma^{|B|}(1-\gamma)^{n-1-|B|} D(Y_B\|Y'_B)` over the sets B of other users who
    draw from the blanket (Balle et al. 2019, Lemma A.1): joint convexity. The sets are numbered from 1 to 2^(n-1).

    >>> [one.name for one in lemma_a1().by]
    ['counting sets by their size', 'joint convexity']
    """
    sets = (B, 1, 2 ** (n - 1))
    weight = _weight(size(B))
    one = chain(
        sp.Sum(weight, sets),
        equals(
            sp.Sum(sp.binomial(n - 1, m - 1) * _weight(m - 1), (m, 1, n)), "sets of $m - 1$ users", _by_size(_weight)
        ),
        equals(1, "the binomial theorem"),
    )
    apart = Divergence(alpha, covered_set[0](B), covered_set[1](B))
    return one, chain(
        Divergence(alpha, *Y),
        at_most(sp.Sum(weight * apart, sets), "given who is covered", theorems.joint_convexity(
            alpha, Y, weight, sets, (covered_set[0](B), covered_set[1](B)),
            r"every other user draws from the blanket with probability $\gamma$, and from the rest with $1 - \gamma$",
            one, ("$n = 3$, three messages, exact fractions", _mixture_holds),
        )),
    )  # fmt: skip


def _one_more_holds() -> bool:
    """Whether the histograms Y without one message y, over all Y that hold it, are all histograms of one message less,
    each once: those of two messages of three kinds."""
    two = {tuple(h) for h in product(range(3), repeat=3) if sum(h) == 2}
    three = [h for h in product(range(4), repeat=3) if sum(h) == 3]
    return all(sorted((*h[:y], h[y] - 1, *h[y + 1 :]) for h in three if h[y]) == sorted(two) for y in range(3))


@derivation(
    "An independent multiset tells nothing",
    f"{SOURCE}, Lemma A.2, corrected: $A_0$ must be independent of $A$ and of $A'$",
    {K: "number of messages", H: "number of multisets"},
)
def lemma_a2() -> Blocks:
    r""":math:`D(A_0 \cup A\|A_0 \cup A') \le D(A\|A')` for an independent multiset A_0 (Balle et al. 2019, Lemma A.2,
    corrected: without independence it is false). For A_0 with one element; with more, one after the other.

    >>> [one.name for one in lemma_a2().by]
    ['renumbering a sum']
    """
    a, P, Q, U, V = quantities("a P Q U V", nonnegative=True)
    index, multisets = (j, 1, K), (h, 1, H)
    apart = Positive(P(h, j) - alpha * Q(h, j))
    defined = given(Divergence(alpha, *joined), sp.Sum(Positive(U(h) - alpha * V(h)), multisets), "the divergence")
    laws = [
        given(
            union(h),
            sp.Sum(a(j) * own(h, j), index),
            f"$A_0$ is $j$ with probability $a(j)$, and ${name}$ is $Y_h$ without $j$",
        )
        for union, own, name in ((U, P, "A"), (V, Q, "A'"))
    ]
    convex = cite(convex_positive_part)
    w, x = quantity("w", nonnegative=True), quantity("x", real=True)
    here = convex.at({n: K}).at({w(i): a(i), x(i): P(h, i) - alpha * Q(h, i)})
    total = suppose(sp.Sum(a(j), index), "=", 1, "$A_0$ has a law")
    return *laws, defined, convex, total, chain(
        Divergence(alpha, *joined),
        equals(
            sp.Sum(Positive(sp.Sum(a(i) * (P(h, i) - alpha * Q(h, i)), (i, 1, K))), multisets), "independence", defined,
            *laws,
        ),
        at_most(
            sp.Sum(sp.Sum(a(i) * Positive(P(h, i) - alpha * Q(h, i)), (i, 1, K)), multisets), r"$[\cdot]_+$ is convex",
            here,
        ),
        equals(sp.Sum(a(j) * sp.Sum(apart, multisets), index), "in the other order"),
        equals(Divergence(alpha, *alone) * sp.Sum(a(j), index), "what is left without $j$", theorems.general(
            "renumbering a sum", sp.Sum(apart, multisets), "=", Divergence(alpha, *alone),
            ["$Y$ without $j$, over all multisets $Y$ with $j$ in them, is every multiset of one element less, once"],
            checked=("three messages of three kinds", _one_more_holds),
        )),
        equals(Divergence(alpha, *alone), "the probabilities sum to 1", total),
    )  # fmt: skip


def _histograms_hold() -> bool:
    """Whether E[(L_1 + … + L_m)/m]_+ is the sum over the histograms of m draws, for m = 2 and three messages."""
    order, draws = F(6, 5), 2
    loss = [(p - order * q) / w for p, q, w in zip(*LAWS, BLANKET, strict=True)]

    def term(histogram: Histogram) -> F:
        return max(sum((c * v for c, v in zip(histogram, loss, strict=True)), F(0)), F(0)) / draws

    total = sum((mass * term(histogram) for histogram, mass in shuffled([BLANKET] * draws).items()), F(0))
    return total == positive_part(zip(loss, BLANKET, strict=True), draws) / draws


#: m draws in which a message with probability ω occurs a times, and m − 1 draws with one of it less.
whole, less = quantities("M N", nonnegative=True)


@derivation(
    "One user hidden among $m - 1$ draws",
    f"{SOURCE}, Lemma A.3, corrected: the blanket must be positive at every message; Su et al. 2025, Theorem 10",
    WHERE | {h: "number of a histogram of $m$ messages", j: "a message"},
)
def lemma_a3() -> Blocks:
    r""":math:`D(W_{m-1} \cup Y \| W_{m-1} \cup Y') = E[(L_1 + \dots + L_m)/m]_+` if the blanket ω is positive at every
    message (Balle et al. 2019, Lemma A.3; Su et al. 2025, Theorem 10 with m = n and ω = R(x_2)).

    A histogram arises if the user sends some message j and the others make the rest. The two multinomials differ by the
    factor a/(mω), where a is how often j occurs; what the other messages contribute, r, is the same in both.

    >>> lemma_a3().result
    E[S(m, L)]_+/m
    """
    # -- the multinomial probabilities of m and of m − 1 draws, and the factor between them
    a = sp.Symbol("a", nonnegative=True, integer=True)
    w, r = sp.symbols("omega r", positive=True)
    all_draws = given(
        whole(m, a, w, r), sp.factorial(m) * w**a / sp.factorial(a) * r, "$m$ draws: $j$ occurs $a$ times"
    )
    one_less = sp.Piecewise((sp.factorial(m - 1) * w ** (a - 1) / sp.factorial(a - 1) * r, a > 0), (0, True))
    fewer = given(less(m, a, w, r), one_less, "$m - 1$ draws: $j$ occurs $a - 1$ times, and all others as often")
    factor = a / (m * w) * whole(m, a, w, r)
    ratio = cases(
        chain(less(m, a, w, r), equals(factor, r"the factor $a/(m\omega)$", fewer, all_draws), under=sp.Gt(a, 0)),
        chain(less(m, a, w, r), equals(factor, "both are 0", fewer), under=sp.Eq(a, 0)),
    )
    count, rest = (
        quantity("a", "a_{2}({1})", nonnegative=True, integer=True),
        quantity("r", "r_{2}({1})", positive=True),
    )
    omega, law, loss = (
        quantity("omega", r"\omega({0})", positive=True),
        quantity("M_h", "M({1})", nonnegative=True),
        quantity("L", real=True),
    )
    mu = quantity("mu", r"\mu({0})", nonnegative=True), quantity("mu'", r"\mu'({0})", nonnegative=True)
    P, Q = quantities("P Q", nonnegative=True)
    index, histograms = (j, 1, K), (h, 1, H)
    pieces = m, count(m, h, j), omega(j), rest(m, h, j)
    same = suppose(whole(*pieces), "=", law(m, h), "the probability of the histogram, whichever $j$ is looked at")
    mine, yours = (
        given(
            own(m, h),
            sp.Sum(one(j) * less(*pieces), index),
            f"the user sends $j$ with probability ${latex.formula(one(j))}$",
        )
        for own, one in ((P, mu[0]), (Q, mu[1]))
    )
    terms = sp.Sum(Positive(P(m, h) - alpha * Q(m, h)), histograms)
    defined = given(Divergence(alpha, hidden[0](m), hidden[1](m)), terms, "the divergence")
    amplified = given(loss(j), (mu[0](j) - alpha * mu[1](j)) / omega(j), "$L$ at the message $j$")
    inside = sp.Sum(count(m, h, j) * loss(j), index)
    return all_draws, fewer, ratio, same, mine, yours, defined, amplified, chain(
        Divergence(alpha, hidden[0](m), hidden[1](m)),
        equals(
            sp.Sum(law(m, h) * Positive(inside / m), histograms), r"each term has the factor $a/(m\omega)$", defined,
            mine, yours, ratio, same, amplified,
        ),
        equals(Mean(Positive(S(m, copy) / m)), "the mean over $m$ draws from the blanket", theorems.total_probability(
            Mean(Positive(S(m, copy) / m)), sp.Sum(law(m, h) * Positive(inside / m), histograms),
            "the sum over the draws is the sum over the messages, each as often as it occurs",
            ("$m = 2$, three messages, exact fractions", _histograms_hold),
        )),
        equals(Mean(Positive(S(m, copy))) / m, r"$[\cdot]_+$ is positively homogeneous"),
    )  # fmt: skip


joined, alone = sp.symbols("A_0A A_0A'"), sp.symbols("A A'")


@derivation(
    "The blanket bound", f"{SOURCE}, Lemma 5.3, corrected: the blanket must be positive at every message", WHERE
)
def lemma53() -> Blocks:
    r""":math:`D \le \frac{1}{\gamma n} \sum_{m=1}^n \binom nm \gamma^m (1-\gamma)^{n-m} E[L_1 + \dots + L_m]_+` if the
    blanket is positive at every message, as for every ε0-LDP randomizer (Balle et al. 2019, Lemma 5.3, corrected).

    Su et al. 2025, Lemma 8, has :math:`1/\gamma^n` in front, which is another number as soon as γ < 1 and n > 1.

    >>> lemma53().result
    Sum(gamma**m*(1 - gamma)**(-m + n)*E[S(m, L)]_+*binomial(n, m), (m, 1, n))/(gamma*n)
    """
    sets, among = (B, 1, 2 ** (n - 1)), (m, 1, n)
    parts, alike, average = cite(lemma_a1), cite(lemma_a2), cite(lemma_a3)
    V = covered_set[0](B), covered_set[1](B)
    W = hidden[0](size(B) + 1), hidden[1](size(B) + 1)
    chance = sp.binomial(n - 1, m - 1) * _weight(m - 1)
    term = Mean(Positive(S(m, copy)))
    return parts, alike, average, chain(
        Divergence(alpha, *Y),
        at_most(sp.Sum(_weight(size(B)) * Divergence(alpha, *V), sets), "given who is covered", parts),
        at_most(
            sp.Sum(_weight(size(B)) * Divergence(alpha, *W), sets),
            "the others tell nothing",
            theorems.for_other_laws(
                alike,
                dict(zip((*joined, *alone), (*V, *W), strict=True)),
                "given $B$, the messages of the others are draws that are independent of the hidden ones",
            ),
        ),
        equals(
            sp.Sum(chance * Divergence(alpha, hidden[0](m), hidden[1](m)), among),
            "their number counts",
            _by_size(lambda b: _weight(b) * Divergence(alpha, hidden[0](b + 1), hidden[1](b + 1))),
        ),
        equals(sp.Sum(chance * term / m, among), "one user among $m$ draws", average),
        equals(
            sp.Sum(sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) * term, among) / (gamma * n),
            r"$n \tbinom{n - 1}{m - 1} = m \tbinom{n}{m}$",
        ),
    )  # fmt: skip
