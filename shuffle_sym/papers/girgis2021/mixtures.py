r"""The reduction to special neighbours: Girgis et al. 2021, Section 5, as chains.

Everyone is the double of the differing user with probability 1/t; given who is, the others do not help to tell the two
datasets apart. :math:`S_\lambda(m)` is the moment of special neighbours with m users.
"""

import math
from collections.abc import Callable
from itertools import product

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.girgis2021.notation import (
    ABOVE,
    MOMENT,
    ORDER,
    SOURCE,
    USERS,
    S,
    j,
    messages,
    n,
    neighbours,
    randomizers,
    ratio_of,
    t,
    without,
)
from shuffle_sym.papers.girgis2021.notation import real_order as order
from shuffle_sym.papers.laws import chosen, mixed, shuffled
from shuffle_sym.papers.proofs import by, cite_parts, quantities, shown_by

A, C, N, c, h = sp.symbols("A C N c h", integer=True, positive=True)
m, k = sp.symbols("m k", integer=True, nonnegative=True)
q = 1 / t

size = quantity("size", r"|{0}|", integer=True, nonnegative=True)
w = quantity("w", r"w_{{{0}}}", nonnegative=True)
first, second = quantity("F", r"F(P)({0})", positive=True), quantity("F'", r"F(P')({0})", positive=True)
first_part, second_part = (
    quantity(name, rf"F({law}_{{{{{{0}}}}}})({{1}})", positive=True) for name, law in (("F_C", "P"), ("F'_C", "P'"))
)
whole = quantity("Moment", r"\mathbb{{E}}_{{F(P')}}\left[(F(P)/F(P'))^{{{0}}}\right]", positive=True)
of_part = quantity("Moment_C", r"\mathbb{{E}}_{{F(P'_{1})}}\left[(F(P_{1})/F(P'_{1}))^{{{0}}}\right]", positive=True)
with_others = quantity("Moment_others", r"\mathbb{{E}}_{{{1},{2}}}\left[\rho^{{{0}}}\right]", positive=True)
crowd = quantity("Moment_crowd", r"\mathbb{{E}}_{{{1},{2}>0}}\left[\rho^{{{0}}}\right]", positive=True)
sets = (C, 1, 2 ** (n - 1))
_SETS = {
    **USERS,
    C: "a set of the first $n - 1$ users, numbered from 1 to $2^{n-1}$",
    size(C): "how many they are",
    whole(order): r"the moment $\mathbb{E}[(M(D)/M(D'))^{\lambda}]$ of two neighbouring datasets",
}


def _doubles_enumerated() -> bool:
    """(22) and (23), with (18), for all pairs of neighbouring datasets of at most three users."""
    for R, users in product(randomizers(), (1, 2, 3)):
        chance = 1 / ratio_of(R)
        for P, Q in neighbours(R, users):
            for last in (P[-1], Q[-1]):
                parts = (
                    (weight, [Q[-1] if d else without(p, Q[-1], chance) for d, p in zip(doubles, P, strict=False)])
                    for weight, doubles in chosen(users - 1, chance)
                )
                mixture = mixed((weight, shuffled([*others, last])) for weight, others in parts)
                if {e: mass for e, mass in mixture.items() if mass} != shuffled([*P[:-1], last]):
                    return False
    return True


@derivation("Mixtures over the doubles", f"{SOURCE}, Lemma 5.1", where=_SETS)
def lemma51_renyi() -> Blocks:
    r"""F(P) = Σ_C q^|C| (1 − q)^(n−1−|C|) F(P_C), and the same with P', q = 1/t (Girgis et al. 2021, Lemma 5.1, with
    p'_n where its proof has p'_i).

    In P_C the users in C have the law p'_n of the differing user, the other ones p̃_i, and the last one its own.

    >>> lemma51_renyi().result
    Sum(F'_C(C, h)*w(C), (C, 1, 2**(n - 1)))
    """
    own, shared, rest = (
        quantity(name, drawn, nonnegative=True)
        for name, drawn in (("p_i", r"p_{{i,{0}}}"), ("p'_n", r"p'_{{n,{0}}}"), ("p~_i", r"\tilde p_{{i,{0}}}"))
    )
    laws = [suppose(sp.Sum(law(j), messages), "=", 1, "probabilities sum to 1") for law in (own, shared)]
    private = suppose(own(j), ">=", shared(j) / t, r"$R$ is $\varepsilon_0$-LDP, $t = e^{\varepsilon_0}$")
    tilde = given(rest(j), (own(j) - q * shared(j)) / (1 - q), "what is left of $p_i$", ABOVE)
    positive = chain(rest(j), at_least(0, r"not negative, by $\varepsilon_0$-LDP", tilde, private), under=ABOVE)
    total = chain(
        sp.Sum(rest(j), messages),
        equals((sp.Sum(own(j), messages) - q * sp.Sum(shared(j), messages)) / (1 - q), "term by term", tilde),
        equals(1, "both sum to 1", *laws),
        under=ABOVE,
    )
    mixture = chain(own(j), equals(q * shared(j) + (1 - q) * rest(j), "(18)", tilde), under=ABOVE)
    weight = given(
        w(C), q ** size(C) * (1 - q) ** (n - 1 - size(C)), "$C$ are those who take $p'_n$, each with probability $q$"
    )
    coins = (
        r"each of the first $n - 1$ users takes $p'_n$ with probability $q$ and $\tilde{p}_i$ else; "
        r"$C$ are those who take $p'_n$"
    )
    shown = [
        shown_by(number, theorems.general(
            "total probability", law(h), "=", sp.Sum(w(C) * part(C, h), sets), [coins],
            [("(18)", mixture), (r"$\tilde{p}$ is not negative", positive), (r"$\tilde{p}$ sums to 1", total),
             ("the weights", weight)],
            checked=(r"three randomizers, $n \le 3$, all pairs of datasets, in fractions", _doubles_enumerated),
            under=ABOVE,
        ), under=ABOVE)
        for law, part, number in ((first, first_part, "(22)"), (second, second_part, "(23)"))
    ]  # fmt: skip
    return *laws, private, tilde, positive, total, mixture, weight, *shown, parts(weight, *shown)


@derivation(
    "The moment is jointly convex", f"{SOURCE}, Lemma 5.2 and Lemma B.1",
    where={h: "an outcome", c: "a part of the mixtures", order: "the order, above 1"},
)  # fmt: skip
def lemma52_renyi() -> Blocks:
    r"""E_Q[(P/Q)^λ] ≤ Σ_c w_c E_{Q_c}[(P_c/Q_c)^λ] for P = Σ_c w_c P_c and Q = Σ_c w_c Q_c, and every real λ > 1
    (Girgis et al. 2021, Lemma 5.2).

    >>> lemma52_renyi().result
    Sum(H_c(lambda, c)*w(c), (c, 1, N))
    """
    P, Q = quantities("P Q", positive=True)
    P_c, Q_c = (quantity(f"{name}_c", rf"{name}_{{{{{{0}}}}}}({{1}})", positive=True) for name in "PQ")
    mixed_moment = quantity("H", r"\mathbb{{E}}_Q\left[(P/Q)^{{{0}}}\right]", positive=True)
    part_moment = quantity("H_c", r"\mathbb{{E}}_{{Q_{1}}}\left[(P_{1}/Q_{1})^{{{0}}}\right]", positive=True)
    components, outcomes = (c, 1, N), (h, 1, A)
    above = suppose(P(h), "=", sp.Sum(w(c) * P_c(c, h), components), "$P$ is a mixture")
    below = suppose(Q(h), "=", sp.Sum(w(c) * Q_c(c, h), components), "$Q$ is a mixture with the same weights")
    definition = given(mixed_moment(order), sp.Sum(Q(h) * (P(h) / Q(h)) ** order, outcomes), "over all outcomes")
    of_parts = given(part_moment(order, c), sp.Sum(Q_c(c, h) * (P_c(c, h) / Q_c(c, h)) ** order, outcomes), "of a part")
    share, ratio = w(c) * Q_c(c, h) / Q(h), P_c(c, h) / Q_c(c, h)
    at_one = chain(
        (P(h) / Q(h)) ** order,
        equals(sp.Sum(share * ratio, components) ** order, "the ratio is a mean of ratios", above),
        at_most(
            sp.Sum(share * ratio**order, components),
            r"$x^{\lambda}$ is convex",
            theorems.jensen(lambda v: v**order, [(share, ratio)], below, index=components, under=ORDER),
        ),
        under=ORDER,
    )
    inner = sp.Sum(w(c) * Q_c(c, h) * ratio**order, components)
    return above, below, definition, of_parts, at_one, chain(
        mixed_moment(order),
        equals(sp.Sum(Q(h) * (P(h) / Q(h)) ** order, outcomes), "by definition", definition),
        at_most(sp.Sum(Q(h) * sp.Sum(share * ratio**order, components), outcomes), "at every outcome", at_one),
        equals(sp.Sum(inner, outcomes), "$Q$ cancels"),
        equals(sp.Sum(w(c) * sp.Sum(Q_c(c, h) * ratio**order, outcomes), components), "the other order"),
        equals(sp.Sum(w(c) * part_moment(order, c), components), "by definition", of_parts),
        under=ORDER,
    )  # fmt: skip


def jointly_convex(left: sp.Expr, right: sp.Expr, lemma: Fact, mixtures: tuple[Fact, Fact]) -> Applied:
    """Lemma 5.2 for two mixtures with the same weights, which are facts."""
    names = ("the first law is a mixture", "and the second, with the same weights")
    shown = [("the moment is jointly convex", lemma), *zip(names, mixtures, strict=True)]
    return theorems.general("joint convexity of the moment", left, "<=", right, [], shown, under=lemma.under)


def _one_more_enumerated() -> bool:
    """F(P)(h) = Σ_j p_i(j) F(P without i)(h − e_j), for all datasets of at most three users."""
    for R, users in product(randomizers(), (2, 3)):
        for P, _ in neighbours(R, users):
            fewer = shuffled(P[1:])
            terms = [
                (mass, {(*e[:y], e[y] + 1, *e[y + 1 :]): chance for e, chance in fewer.items()})
                for y, mass in enumerate(P[0])
            ]
            if mixed(terms) != shuffled(P):
                return False
    return True


@derivation(
    "One more user does not help", f"{SOURCE}, Lemma 5.3 and Lemma D.1",
    where={with_others(order, m, k): "the moment of $m$ doubles, the differing user and $k$ further users",
           j: "what one more user sends",
           order: "the order, above 1"},
)  # fmt: skip
def lemma53_renyi() -> Blocks:
    r"""The moment does not grow with a further user, whose law is the same for both datasets (Girgis et al. 2021,
    Lemma 5.3; Lemma D.1 is the case in which that user is a double).

    >>> lemma53_renyi().statement[0].relational()
    'Moment_others(lambda, m, k + 1) <= Moment_others(lambda, m, k)'
    """
    lemma = cite(lemma52_renyi)
    law = quantity("p_i", r"p_{{i,{0}}}", nonnegative=True)
    more = [quantity(f"{name}_+", rf"{name}_+({{0}})", positive=True) for name in "GH"]
    moved = [quantity(f"{name}_j", rf"{name}(h - e_{{{{{{0}}}}}})", positive=True) for name in "GH"]
    shifted = quantity("Shifted", r"\mathbb{{E}}_{{H(\cdot - e_{1})}}\left[(G/H)^{{{0}}}\right]", positive=True)
    one = suppose(sp.Sum(law(j), messages), "=", 1, "the law of the further user")
    sends = "the further user sends $j$, and the others make the rest of $h$"
    mixtures = [
        shown_by(sends, theorems.total_probability(
            whole_law(h), sp.Sum(law(j) * rest(j, h), messages), sends,
            (r"three randomizers, $n \le 3$, all datasets, in fractions", _one_more_enumerated),
        ))
        for whole_law, rest in zip(more, moved, strict=True)
    ]  # fmt: skip
    average = sp.Sum(law(j) * shifted(order, j), messages)
    shift = given(
        shifted(order, j), with_others(order, m, k), "the sum over all $h$, with one $j$ taken away from each"
    )
    return lemma, one, *mixtures, shift, chain(
        with_others(order, m, k + 1),
        at_most(
            average,
            "Lemma 5.2",
            jointly_convex(with_others(order, m, k + 1), average, lemma, (mixtures[0], mixtures[1])),
        ),
        equals(sp.Sum(law(j), messages) * with_others(order, m, k), "a shift of the histogram", shift),
        equals(with_others(order, m, k), "a law", one),
        under=ORDER,
    )  # fmt: skip


def _sets_enumerated() -> bool:
    """How many of the sets of the first n − 1 users have m elements, for n ≤ 7."""
    return all(
        sum(sum(chosen) == count for chosen in product((0, 1), repeat=users - 1)) == math.comb(users - 1, count)
        for users in range(1, 8)
        for count in range(users)
    )


def expected(moment: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """Σ_m C(n − 1, m) q^m (1 − q)^(n−1−m) moment(m + 1): the mean over m doubles."""
    return sp.Sum(sp.binomial(n - 1, m) * q**m * (1 - q) ** (n - 1 - m) * moment(m + 1), (m, 0, n - 1))


@derivation("More doubles do not help", f"{SOURCE}, Lemma D.1", where=MOMENT)
def lemma_d1() -> Blocks:
    r"""The moment of special neighbours does not grow with the number of users: S_λ(m + k) ≤ S_λ(m) (Girgis et al.
    2021, Lemma D.1, whose (66) has the same law above and below).

    >>> lemma_d1().statement[0].relational()
    'S(lambda, k + m) <= S(lambda, m)'
    """
    lemma, users = cite(lemma53_renyi), sp.Symbol("m", integer=True, positive=True)
    one = chain(
        S(order, users + k + 1),
        at_most(S(order, users + k), "Lemma 5.3", theorems.for_other_laws(
            lemma.at({m: users - 1}), {with_others(order, m, k): S(order, m + k + 1)}, "the further users are doubles",
        )),
        under=ORDER,
    )  # fmt: skip
    before = suppose(S(order, users + k), "<=", S(order, users), "the hypothesis of the induction, at $k$", ORDER)
    following = chain(
        S(order, users + k + 1),
        at_most(S(order, users + k), "one double less", one),
        at_most(S(order, users), "at $k$", before),
        under=ORDER,
    )
    return lemma, one, before, following, shown_by(
        "by induction over $k$",
        theorems.general(
            "induction", S(order, users + k), "<=", S(order, users), ["for $k = 0$ both sides are one and the same"],
            [("from $k$ to $k + 1$", following)], under=ORDER, discharges=(before,),
        ), under=ORDER,
    )  # fmt: skip


@derivation("The reduction to special neighbours", f"{SOURCE}, Theorem 3.6", where={**_SETS, **MOMENT})
def theorem36() -> Blocks:
    r"""The moment of two neighbouring datasets is at most the mean of S_λ(m + 1) over m ~ Bin(n − 1, 1/t), for every
    real λ > 1 and t > 1 (Girgis et al. 2021, Theorem 3.6, (13)).

    >>> theorem36().result == expected(lambda users: S(order, users))
    True
    """
    weight, up, down = cite_parts(lemma51_renyi, 0, 1, 2)
    convexity, fewer = cite(lemma52_renyi), cite(lemma53_renyi)
    over_sets = sp.Sum(w(C) * of_part(order, C), sets)
    nobody = given(
        with_others(order, m, k), sp.Piecewise((S(order, m + 1), sp.Eq(k, 0)), (crowd(order, m, k), True)),
        "$m$ doubles, the differing user and nobody else are special neighbours",
    )  # fmt: skip
    base = chain(with_others(order, m, 0), equals(S(order, m + 1), "special neighbours", nobody), under=ORDER)
    before = suppose(with_others(order, m, k), "<=", S(order, m + 1), "the hypothesis of the induction, at $k$", ORDER)
    following = chain(
        with_others(order, m, k + 1),
        at_most(with_others(order, m, k), "Lemma 5.3", fewer),
        at_most(S(order, m + 1), "at $k$", before.fixing(k)),
        under=ORDER,
    )
    all_gone = theorems.induction(before, k, base, following, 0, "all others taken away, by induction")
    members = given(of_part(order, C), with_others(order, size(C), n - 1 - size(C)), "the users in $C$ are doubles")
    others = suppose(size(C), "<=", n - 1, "$C$ is a set of other users")
    one_set = chain(
        of_part(order, C),
        at_most(S(order, size(C) + 1), "(26)", members, all_gone.at({m: size(C), k: n - 1 - size(C)}), others),
        under=ORDER,
    )
    return nobody, weight, up, down, convexity, fewer, base, before, following, members, others, one_set, chain(
        whole(order),
        at_most(over_sets, "(24), Lemmas 5.1 and 5.2", jointly_convex(whole(order), over_sets, convexity, (up, down))),
        at_most(sp.Sum(w(C) * S(order, size(C) + 1), sets), "(26), each set", one_set),
        by("(13), by the size of the set", theorems.general(
            "counting sets by their size", sp.Sum(w(C) * S(order, size(C) + 1), sets), "=",
            expected(lambda users: S(order, users)), [r"$\tbinom{n - 1}{m}$ of the sets $C$ have $m$ elements"],
            [("the weight of a set", weight)], checked=(r"$n \le 7$", _sets_enumerated),
        )),
        under=(ABOVE, ORDER),
    )  # fmt: skip
