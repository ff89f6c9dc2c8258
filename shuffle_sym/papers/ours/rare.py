r"""Large values of G that are rare, counted by themselves in Σ G (`numeric.dropout`); the proof is ours.

G_1, …, G_N are independent. O(j, ω) is 1 where G_j(ω) is one of its large values, and 0 elsewhere; user i has them, the
positive numbers g(i, y), with the probabilities p(i, y). T_i is the sum of G for the users up to i and of G', which is
0 in place of a large value, for the others. V_i is T_i without user i, and S_i the sum of G' for all users but i.
"""

from itertools import product

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, cases, chain, claim, equals, telescoping
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Least, Mean, Positive, quantity
from shuffle_sym.papers.ours.notation import K, N, i, j, m, omega, y
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.tools import F

u = sp.Symbol("u", positive=True)
v, h, x = sp.symbols("v h x", real=True)
a, b, first, second = sp.symbols("a b m_1 m_2", nonnegative=True)
G, T, V, S, L, gain = quantities("G T V S L D", real=True)
is_large, C, p, e = quantities("O C p e", nonnegative=True)
G_i, V_i, S_i, O_i, C_i = (one(i, omega) for one in (G, V, S, is_large, C))
G_j, O_j = (one(j, omega) for one in (G, is_large))
value, values = quantity("g", positive=True)(i, y), (y, 1, K)
inner = G_j * (1 - O_j)  # G'
smaller = Least(e(value), value)


def _independent() -> bool:
    """Whether a sum over the values of two users is that over the values of the second of those over the first, for the
    gain from one large value, in fractions."""
    V = {F(-2): F(1, 2), F(1): F(1, 4), F(3): F(1, 4)}
    G = {F(-1): F(2, 3), F(2): F(1, 4), F(5): F(1, 12)}

    def more(v: F, g: F) -> F:
        return max(v + g, F(0)) - max(v, F(0))

    joint = sum(V[v] * G[g] * (g > 1) * more(v, g) for v, g in product(V, G))
    return joint == sum(G[g] * sum(V[v] * more(v, g) for v in V) for g in (F(2), F(5)))


@derivation(
    "Large values that are rare count by themselves", "ours (shuffle_sym, numeric/dropout)",
    where={
        omega: "the outcome of all users",
        b: "a bound of the probability of large values",
        first: r"the largest mean of $\min(e(g), g)$ over the large values of a law",
        second: "the largest mean of $g$ over them",
        K: "how many large values a user has",
    },
)  # fmt: skip
def rare_values() -> Blocks:
    r"""With G' = G, but 0 in place of large values, for independent G_1, …, G_N (ours):

    .. math:: \tfrac1N \mathbb E\Bigl[\sum_j G_j\Bigr]_+ \le \tfrac1N \mathbb E\Bigl[\sum_j G_j'\Bigr]_+
              + m_1 + \tfrac{N-1}2\, b\, m_2 .

    Go from ΣG' to ΣG, one user after the other. If user i has the large value g, the step is from [V]_+ to [V + g]_+.
    That is at most g, and at most [V + g]_+. If nobody before i has a large value V is a sum of N − 1 terms G', which
    adds at most e(g); somebody has one with a probability of at most (i − 1)b, and then g is enough.

    >>> rare_values().statement[0].relation
    '<='
    """
    # -- the definitions of T, V, S and C; what T is at i and at i − 1, and V in terms of S
    total = given(T(m, omega), sp.Sum(G_j, (j, 1, m)) + sp.Sum(inner, (j, m + 1, N)), "$T_m$: $G$ up to $m$, then $G'$")
    before, after = sp.Sum(G_j, (j, 1, i - 1)), sp.Sum(inner, (j, i + 1, N))
    others = given(V_i, before + after, "$V_i$: without user $i$")
    small_ones = given(S_i, sp.Sum(inner, (j, 1, i - 1)) + after, "$S_i$: $G'$ of all users but $i$")
    count = given(C_i, sp.Sum(O_j, (j, 1, i - 1)), "$C_i$: how many before $i$ have a large value")
    with_i, without_i = (
        chain(
            T(last, omega),
            equals(before + sp.Sum(term, (j, i, i)) + after, "user $i$ apart", total),
            equals(V_i + term.subs(j, i), words, others),
        )
        for last, term, words in ((i, G_j, "user $i$ with $G$"), (i - 1, inner, "user $i$ with $G'$"))
    )
    rest = chain(
        V_i,
        equals(before + after, "without user $i$", others),
        equals(S_i + sp.Sum(O_j * G_j, (j, 1, i - 1)), "$G$ is $G'$ and the large values", small_ones),
    )
    # -- what one large value adds: at most min(e(g), g) + (i − 1)bg
    likely = suppose(Mean(O_j), "<=", b, "$b$ is at least the probability of large values, for every user")
    enough = suppose(Mean(Positive(S_i + u)), "<=", e(u), "$e(u)$ is at least that of every sum of $G'$", (), [u])
    gained = given(gain(i, y), Mean(Positive(V_i + value)) - Mean(Positive(V_i)), "what a large value adds")
    users = chain(
        Mean(C_i),
        equals(sp.Sum(Mean(O_j), (j, 1, i - 1)), "the mean is linear", count),
        at_most(sp.Sum(b, (j, 1, i - 1)), "each of them", likely),
        equals((i - 1) * b, "$i - 1$ users"),
        words="users with large values before $i$",
    )
    with_one, bound = Positive(v + h + u), Positive(v + h) + Positive(v + u) + u * a
    nobody = chain(with_one, at_most(bound, "nobody before $i$ has a large value"), under=(sp.Eq(h, 0), sp.Eq(a, 0)))
    somebody = chain(
        with_one,
        at_most(Positive(v + h) + u, r"$[x + u]_+ \le [x]_+ + u$"),
        at_most(bound, "somebody before $i$ has one"),
        under=sp.Ge(a, 1),
    )
    limit = Positive(V_i) + Positive(S_i + value) + value * C_i
    itself = chain(
        gain(i, y),
        at_most(Mean(Positive(V_i) + value) - Mean(Positive(V_i)), "for every outcome", gained, claim(
            Positive(V_i + value), "<=", Positive(V_i) + value, r"$[x + u]_+ \le [x]_+ + u$",
        )),
        equals(value, "the mean is linear"),
        words="no more than itself",
    )  # fmt: skip
    by_e = chain(
        gain(i, y),
        at_most(Mean(limit) - Mean(Positive(V_i)), "nobody or somebody", gained, theorems.general(
            "a whole number is 0 or at least 1", Positive(V_i + value), "<=", limit,
            ["$O$ is 0 or 1, so that $C_i$ is a whole number; if it is 0 then nothing is added to $S_i$"],
            [(nobody.words, nobody), (somebody.words, somebody), ("what is added to $S_i$", rest)], local=(v, h, a, u),
        )),
        equals(Mean(Positive(S_i + value)) + value * Mean(C_i), "the mean is linear"),
        at_most(e(value) + value * (i - 1) * b, "$e$ and $b$ are large enough", enough.at({u: value}), users),
        words="$S_i$, and those before",
    )  # fmt: skip
    # -- a number below two others is below the smaller of them
    d0, (e0, g0, more) = sp.Symbol("d_0", real=True), sp.symbols("e_0 g_0 r_0", nonnegative=True)
    plain, larger = suppose(d0, "<=", g0, "one bound"), suppose(d0, "<=", e0 + more, "another one")
    least_of_both = Least(e0, g0) + more
    either = cases(
        *(
            chain(
                d0,
                at_most(right + more, "a bound", bound),
                equals(least_of_both, "it is the smaller one"), under=case,
            )
            for right, bound, case in ((g0, plain, sp.Ge(e0, g0)), (e0, larger, sp.Le(e0, g0)))
        ),
        words="the smaller of two bounds",
    )  # fmt: skip
    here = {d0: gain(i, y), e0: e(value), g0: value, more: value * (i - 1) * b}
    one_value = chain(
        gain(i, y),
        at_most(
            smaller + value * (i - 1) * b,
            "one large value",
            theorems.for_other_laws(either, here, "", [(plain, itself), (larger, by_e)]),
        ),
    )
    # -- what user i adds to E[T]_+: at most m_1 + (i − 1)bm_2
    mean = given(L(m), Mean(Positive(T(m, omega))), "what is to be compared")
    least = suppose(sp.Sum(p(i, y) * smaller, values), "<=", first, "$m_1$ is the largest of all laws")
    means = suppose(sp.Sum(p(i, y) * value, values), "<=", second, "$m_2$ is the largest of all laws")
    changed, own = Positive(V_i + G_i) - Positive(V_i + G_i * (1 - O_i)), O_i * (Positive(V_i + G_i) - Positive(V_i))
    numbers = {V_i: v, G_i: x, O_i: a}
    ways = [
        claim(changed.xreplace(numbers), "=", own.xreplace(numbers), words, under=sp.Eq(a, number))
        for number, words in ((0, "where $O$ is 0 nothing changes"), (1, "where $O$ is 1 user $i$ adds 0 at first"))
    ]
    one_step = chain(
        L(i) - L(i - 1),
        equals(Mean(Positive(T(i, omega)) - Positive(T(i - 1, omega))), "the mean is linear", mean),
        equals(Mean(changed), "user $i$ apart", with_i.at({}), without_i),
        equals(Mean(own), "a large value, or none", theorems.general(
            "a variable that is 0 or 1", changed, "=", own, ["$O$ is 0 or 1"], [(one.words, one) for one in ways],
            local=(v, x, a),
        )),
        by("value by value", theorems.independence(
            Mean(own), sp.Sum(p(i, y) * gain(i, y), values), "$V_i$ and the value of user $i$",
            ("two users, in fractions", _independent),
        )),
        at_most(sp.Sum(p(i, y) * one_value.right, values), "each of them", one_value),
        equals(least.left + (i - 1) * b * means.left, "two sums"),
        at_most(first + (i - 1) * b * second, "the largest of all laws", least, means),
        words="one user",
    )  # fmt: skip
    steps = sp.Sum(one_step.left, (i, 1, N))
    telescopes = chain(steps, equals(L(N) - L(0), "they telescope", telescoping(L(i - 1))), words="all steps")
    whole, usual = (sp.Sum(term, (j, 1, N)) for term in (G_j, inner))
    last = first + (N - 1) / 2 * b * second
    statement = chain(
        Mean(Positive(whole)) / N,
        equals(L(N) / N, "all users with $G$", mean, total),
        equals((L(0) + steps) / N, "step by step", telescopes),
        at_most((L(0) + sp.Sum(one_step.right, (i, 1, N))) / N, "each step", one_step),
        equals(L(0) / N + last, "the sum over the users"),
        equals(Mean(Positive(usual)) / N + last, "all users with $G'$", mean, total),
    )
    return (
        total, others, small_ones, count, with_i, without_i, rest, likely, enough, gained, users, nobody, somebody,
        itself, by_e, plain, larger, either, one_value, mean, least, means, one_step, telescopes, statement,
    )  # fmt: skip
