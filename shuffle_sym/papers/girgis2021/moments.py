r"""Rényi moments of special neighbours: Girgis et al. 2021, Section 6, as chains.

All m users have the input d, or one of them has d'. Messages of probability 0 are left out, so p and p' are positive.
"""

from math import factorial, prod

import sympy as sp

from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, claim, equals, growing, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import given, law
from shuffle_sym.papers.engine.quantities import Mean, Random, quantity
from shuffle_sym.papers.girgis2021.notation import (
    ABOVE,
    MEANING,
    MOMENT,
    SOURCE,
    S,
    X,
    i,
    j,
    m,
    messages,
    not_above,
    not_below,
    order,
    p,
    p1,
    primed_sums_to_one,
    randomizers,
    real_order,
    rho,
    sums_to_one,
    t,
)
from shuffle_sym.papers.laws import rows, shuffled
from shuffle_sym.papers.proofs import by, cite_parts
from shuffle_sym.papers.tools import F, collected, sum_of_copies
from shuffle_sym.randomizers import BinaryRR

Z = Random("Z", real=True)
y, x, V = sp.symbols("y x V", positive=True)
power, z = sp.Symbol("i", integer=True, positive=True), sp.Symbol("s", real=True)


def pairs_of_laws() -> list[tuple[list[F], list[F]]]:
    """(p, p') of small randomizers."""
    return [(rows(R)[0], rows(R)[1]) for R in randomizers()]


def _last_user_enumerated() -> bool:
    """(29) with multinomial laws, for all histograms of at most three users."""

    def multinomial(law: list[F], h: tuple[int, ...]) -> F:
        if min(h) < 0:
            return F(0)
        return prod((q**e / factorial(e) for q, e in zip(law, h, strict=True)), start=F(factorial(sum(h))))

    def one_less(h: tuple[int, ...], y: int) -> tuple[int, ...]:
        return tuple(e - (z == y) for z, e in enumerate(h))

    return all(
        mass == sum(b * multinomial(law, one_less(h, y)) for y, b in enumerate(primed))
        for law, primed in pairs_of_laws()
        for users in (1, 2, 3)
        for h, mass in shuffled([*[law] * (users - 1), primed]).items()
    )


@derivation("The ratio of special neighbours", f"{SOURCE}, (32)", where=MEANING)
def eq32() -> Blocks:
    r"""M(D')(h)/M(D)(h) = Σ_j (p'_j/p_j) h_j/m (Girgis et al. 2021, (32)), so that X = Σ_j (p'_j/p_j) h_j − m.

    h arises from D' if the last user sends some message j and the others make h − e_j.

    >>> eq32().result
    -m + Sum(h(j)*p'(j)/p(j), (j, 1, B))
    """
    h = quantity("h", r"h_{{{0}}}", integer=True, nonnegative=True)
    rest = quantity("rest", r"c_{{{0}}}", positive=True)
    others = quantity("others", r"M_{{m-1}}(h - e_{{{0}}})", nonnegative=True)
    same, differ = sp.Symbol("M(D)", positive=True), sp.Symbol("M(D')", positive=True)
    cells = given(
        rest(j),
        same * sp.factorial(h(j)) / (sp.factorial(m) * p(j) ** h(j)),
        "$M(D)(h)$ is multinomial, $m!$ times the product of $p_j^{h_j}/h_j!$: what the other messages contribute",
    )
    fewer = given(
        others(j),
        sp.factorial(m - 1) * p(j) ** (h(j) - 1) / sp.factorial(h(j) - 1) * rest(j),
        "$m - 1$ users make $h$ with one $j$ less; 0 if there is no $j$, as $1/(-1)!$ is 0",
    )
    one = chain(others(j), equals(same * h(j) / (m * p(j)), "the factorials and powers cancel", fewer, cells))
    ratio = chain(
        differ / same,
        equals(sp.Sum(p1(j) * others(j), messages) / same, "(29)", theorems.total_probability(
            differ, sp.Sum(p1(j) * others(j), messages), "the last user sends $j$, the others make the rest of $h$",
            checked=(r"three randomizers, $m \le 3$, all histograms, in fractions", _last_user_enumerated),
        )),
        equals(sp.Sum(p1(j) / p(j) * h(j) / m, messages), "each term", one),
        words="(32)",
    )  # fmt: skip
    excess = given(X, m * (differ / same - 1), "how much the ratio exceeds 1, times $m$")
    shown = chain(
        X,
        equals(m * (sp.Sum(p1(j) / p(j) * h(j) / m, messages) - 1), "(32)", excess, ratio),
        equals(sp.Sum(p1(j) / p(j) * h(j), messages) - m, "$m$ times"),
    )
    return cells, fewer, one, ratio, excess, shown, parts(ratio, shown)


def _sum_of_copies_enumerated() -> bool:
    """The law of Σ (p'_j/p_j) h_j − m over histograms is that of a sum of m independent copies of Z."""
    return all(
        collected((sum(b / a * e for a, b, e in zip(law, primed, h, strict=True)) - users, mass)
                  for h, mass in shuffled([law] * users).items())
        == sum_of_copies(collected((b / a - 1, a) for a, b in zip(law, primed, strict=True)), users)
        for law, primed in pairs_of_laws()
        for users in (1, 2, 3)
    )  # fmt: skip


_COPIES = r"$X$ is $Z_1 + \dots + Z_m$, independent copies of $Z$, one for each user"
_SMALL = (r"three randomizers, $m \le 3$, in fractions", _sum_of_copies_enumerated)


@derivation(
    "The moments of $X$", f"{SOURCE}, Lemma 6.1, (3) corrected",
    where={**MEANING, X: r"$\sum_j (p'_j/p_j) h_j - m$, by (32)", Z: "$p'_j/p_j - 1$ for the message $j$ of one user"},
)  # fmt: skip
def lemma61() -> Blocks:
    r"""E[X] = 0, E[X²] = m(Σ p'²/p − 1), E[e^{sX}] ≤ e^{ms²(t − 1/t)²/8} and
    E[X^i] ≤ i Γ(i/2) (m(t − 1/t)²/2)^{i/2} (Girgis et al. 2021, Lemma 6.1).

    X is a sum of m independent copies of Z, which has mean 0 and lies in an interval of length t − 1/t. (34) and (35)
    of the paper have i! where the proof has i, which is what Theorem 3.7 needs. For t = 1 all is 0.

    >>> [fact.right for fact in lemma61().statement][:2]
    [0, m*(Sum(p'(j)**2/p(j), (j, 1, B)) - 1)]
    """
    ratio_of_laws, excess = cite(eq32, part=1), p1(j) / p(j) - 1
    # -- the law of Z; E[Z] = 0 for one user, then E[X] and E[X²]
    by_32 = [("what $X$ is", ratio_of_laws)]
    ratio, chi = p1(j) / p(j), sp.Sum(p1(j) ** 2 / p(j), messages)
    sent = law(Z, {ratio - 1: (p(j), messages)}, "one user sends $j$ with probability $p_j$", total=sums_to_one)
    first, square = sent.mean(lambda u: u), sent.mean(lambda u: u**2)
    no_mean = chain(
        Mean(Z),
        equals(sp.Sum(p(j) * (ratio - 1), messages), "over the messages", first),
        equals(sp.Sum(p1(j), messages) - sp.Sum(p(j), messages), "multiplied out"),
        equals(0, "both sum to 1", sums_to_one, primed_sums_to_one),
    )
    mean = chain(
        Mean(X),
        by("$m$ users", theorems.general("independence", Mean(X), "=", m * Mean(Z), [_COPIES], by_32, checked=_SMALL)),
        equals(0, "$Z$ has mean 0", no_mean),
    )
    squares = m * Mean(Z**2) + m * (m - 1) * Mean(Z) ** 2
    variance = chain(
        Mean(X**2),
        by(
            "users with themselves, and pairs of users",
            theorems.general("independence", Mean(X**2), "=", squares, [_COPIES], by_32, checked=_SMALL),
        ),
        equals(m * Mean(Z**2), "$Z$ has mean 0", no_mean),
        equals(m * sp.Sum(p(j) * (ratio - 1) ** 2, messages), "over the messages", square),
        equals(m * (chi - 2 * sp.Sum(p1(j), messages) + sp.Sum(p(j), messages)), "multiplied out"),
        equals(m * (chi - 1), "both sum to 1", sums_to_one, primed_sums_to_one),
    )
    bounded = chain(
        Mean(sp.exp(z * X)),
        at_most(sp.exp(m * z**2 * (t - 1 / t) ** 2 / 8), "$m$ users", theorems.general(
            "Hoeffding's lemma", Mean(sp.exp(z * X)), "<=", sp.exp(m * z**2 * ((t - 1) - (1 / t - 1)) ** 2 / 8),
            [_COPIES],
            [
                ("mean 0", no_mean),
                ("$Z$ is not above $t - 1$", claim(excess, "<=", t - 1, "$Z$ is not above $t - 1$", not_above)),
                ("$Z$ is not below $1/t - 1$", claim(excess, ">=", 1 / t - 1, "$Z$ is not below $1/t - 1$", not_below)),
            ], checked=_SMALL,
        )),
    )  # fmt: skip
    spread = given(
        V, m * (t - 1 / t) ** 2 / 4, "$m$ times the square of half the interval; positive, as $t > 1$", ABOVE
    )
    # -- from the moments of e^(sX) to the tails of X, and from these to its moments
    narrow = chain(
        Mean(sp.exp(z * X)),
        by("Hoeffding's lemma, as above", bounded),
        equals(sp.exp(z**2 * V / 2), "with $V$", spread),
        under=ABOVE,
    )
    tail, best = quantity("Tail", r"\Pr[|X| \ge {0}]", nonnegative=True), y / V
    both = sp.exp(-best * y) * (Mean(sp.exp(best * X)) + Mean(sp.exp(-best * X)))
    tails = chain(
        tail(y),
        by("both tails", theorems.general(
            "Chernoff's bound", tail(y), "<=", both,
            [r"if $|X| \ge y$ then $e^{sX}$ or $e^{-sX}$ is at least $e^{sy}$, for every $s > 0$; here $s = y/V$"],
            [("$e^{s(x - y)}$ is at least 1", claim(1, "<=", sp.exp(best * (x - y)), "far out", under=sp.Ge(x, y)))],
            under=ABOVE, local=(x,),
        )),
        at_most(2 * sp.exp(-(y**2) / (2 * V)), "the exponents", *(narrow.at({z: w * best}) for w in (1, -1))),
        under=ABOVE,
    )  # fmt: skip
    integral = sp.Integral(power * y ** (power - 1) * tails.right, (y, 0, sp.oo))
    higher = chain(
        Mean(X**power),
        by("over all levels $y$", theorems.general(
            "the mean as an integral of tails", Mean(X**power), "<=", integral,
            [r"$\mathbb{E}[X^i] \le \mathbb{E}|X|^i$, the integral of $i y^{i-1} \Pr[|X| \ge y]$ over $y \ge 0$"],
            [("the tails", tails)], under=ABOVE,
        )),
        equals(power * sp.gamma(power / 2) * (2 * V) ** (power / 2), r"$\Gamma$'$s$ integral"),
        equals(power * sp.gamma(power / 2) * (m * (t - 1 / t) ** 2 / 2) ** (power / 2), "$V$ put in", spread),
        under=ABOVE,
    )  # fmt: skip
    return (
        sums_to_one, primed_sums_to_one, not_above, not_below, sent, no_mean, ratio_of_laws, mean, variance, bounded,
        spread, narrow, tails, higher, parts(mean, variance, bounded, higher),
    )  # fmt: skip


@derivation("The largest variance", f"{SOURCE}, Lemma 6.2", where=MEANING)
def lemma62() -> Blocks:
    r"""Σ p'²/p − 1 ≤ (t − 1)²/t, with equality for 2-RR (Girgis et al. 2021, Lemma 6.2).

    A parabola is below its chord: p'/p is in [1/t, t] and has mean 1 under p. The paper argues with the vertices of a
    polytope, "any vertex satisfies all the B LDP constraints with equality": p = p' = (1, 0) is a vertex and has
    ratio 1. The bound stands.

    >>> lemma62().result
    (t - 1)**2/t
    """
    above = chain(t * p(j) - p1(j), at_least(0, r"$R$ is $\varepsilon_0$-LDP", not_above))
    below = chain(t * p1(j) - p(j), at_least(0, r"$R$ is $\varepsilon_0$-LDP, the other way", not_below))
    line = (t + 1 / t) * p1(j) - p(j)
    chord = chain(
        p1(j) ** 2 / p(j),
        equals(line - (t * p(j) - p1(j)) * (t * p1(j) - p(j)) / (t * p(j)), "the chord of a square over $[1/t, t]$"),
        at_most(line, "neither factor is negative", above, below),
    )
    bound = chain(
        sp.Sum(p1(j) ** 2 / p(j), messages) - 1,
        at_most(sp.Sum(line, messages) - 1, "each term", chord),
        equals((t + 1 / t) * sp.Sum(p1(j), messages) - sp.Sum(p(j), messages) - 1, "term by term"),
        equals((t - 1) ** 2 / t, "both sum to 1", sums_to_one, primed_sums_to_one),
    )
    atoms = decomposition.dataset(BinaryRR(), 0, 1, 0).atoms
    attained = chain(
        sp.Add(*(sp.Mul(e.b**2, 1 / e.c, evaluate=False) for e in atoms), -1, evaluate=False),
        equals((t - 1) ** 2 / t, "2-RR attains it: $p = (t/(t + 1), 1/(t + 1))$, $p' = (1/(t + 1), t/(t + 1))$"),
    )
    return (
        not_above, not_below, above, below, chord, sums_to_one, primed_sums_to_one, bound, attained,
        parts(bound, attained),
    )  # fmt: skip


def higher_term(size: sp.Expr) -> sp.Expr:
    """The i-th term of (14) for ``size`` users."""
    return sp.binomial(order, i) * i * sp.gamma(i / 2) * ((t**2 - 1) ** 2 / (2 * size * t**2)) ** (i / 2)


def closed_form(size: sp.Expr) -> sp.Expr:
    """The right side of (14) for ``size`` users."""
    leading = sp.binomial(order, 2) * (t - 1) ** 2 / (size * t)
    return 1 + leading + sp.Sum(higher_term(size), (i, 3, order))


@derivation("Special neighbours, first bound", f"{SOURCE}, Theorem 3.7", where={**MOMENT, **MEANING})
def theorem37() -> Blocks:
    r"""The moment of special neighbours is at most
    1 + C(λ, 2)(t − 1)²/(mt) + Σ_{i=3}^λ C(λ, i) i Γ(i/2) ((t² − 1)²/(2mt²))^{i/2} (Girgis et al. 2021, Theorem 3.7),
    for every integer λ ≥ 2 and t > 1; for t = 1 it is 1.

    >>> theorem37().statement[0].left
    S(lambda, m)
    """
    definition = given(S(order, m), Mean(rho**order), r"$\rho = M(D')(h)/M(D)(h)$, and $h$ is drawn from $M(D)$")
    excess = given(rho, 1 + X / m, r"$X = m(\rho - 1)$")
    lemma = cite_parts(lemma61, 0, 1, 3)
    largest = cite(lemma62, part=0)

    def moments(first: int) -> sp.Expr:
        return sp.Sum(sp.binomial(order, i) * Mean(X**i) / m**i, (i, first, order))

    b = quantity("b", r"b_{{{0}}}", nonnegative=True)
    named = given(b(i), i * sp.gamma(i / 2) * (m * (t - 1 / t) ** 2 / 2) ** (i / 2), "the bound of Lemma 6.1 (3)")
    moment = chain(
        Mean(X**i),
        at_most(named.right, "Lemma 6.1 (3)", lemma[2].at({power: i})),
        equals(b(i), "a name for it", named),
        under=(ABOVE, sp.Gt(i, 0)),
    )
    chi = sp.Sum(p1(j) ** 2 / p(j), messages)
    pairs, rest = sp.binomial(order, 2), sp.Sum(sp.binomial(order, i) * b(i) / m**i, (i, 3, order))
    each = chain(rest.function, equals(higher_term(m), "$m^i$ is $(m^2)^{i/2}$", named))
    return excess, definition, *lemma, named, moment, largest, each, chain(
        S(order, m),
        equals(Mean((1 + X / m) ** order), "with $X$", definition, excess),
        equals(Mean(sp.Sum(sp.binomial(order, i) * (X / m) ** i, (i, 0, order))), "(15), the binomial theorem"),
        equals(moments(0), "(31), moment by moment"),
        equals(1 + order * Mean(X) / m + pairs * Mean(X**2) / m**2 + moments(3), "the first three terms"),
        equals(1 + pairs * (chi - 1) / m + moments(3), "mean and variance of $X$", lemma[0], lemma[1]),
        at_most(1 + pairs * (chi - 1) / m + rest, "the higher moments of $X$", moment),
        at_most(1 + pairs * ((t - 1) ** 2 / t) / m + rest, "the largest variance", largest),
        equals(closed_form(m), "one power", each),
        under=ABOVE,
    )  # fmt: skip


@derivation("Special neighbours, second bound", f"{SOURCE}, Theorem 7.1", where={**MOMENT, **MEANING})
def theorem71() -> Blocks:
    r"""The moment of special neighbours is at most exp(λ²(t − 1)²/m) for every real λ > 0 (Girgis et al. 2021,
    Theorem 7.1, which has λ ≥ 2).

    Hoeffding's lemma in place of the paper's Taylor series: the chain passes half of the exponent, or less.

    >>> theorem71().result
    exp(lambda**2*(t - 1)**2/m)
    """
    definition = given(
        S(real_order, m), Mean(rho**real_order), r"$\rho = M(D')(h)/M(D)(h)$, and $h$ is drawn from $M(D)$"
    )
    excess = given(rho, 1 + X / m, r"$X = m(\rho - 1)$")
    lemma = cite(lemma61, part=2)
    tangent = chain(x**real_order, at_most(sp.exp(real_order * (x - 1)), r"$\log x \le x - 1$", growing(x, 1)))
    return excess, definition, lemma, tangent, chain(
        S(real_order, m),
        equals(Mean(rho**real_order), "by definition", definition),
        at_most(Mean(sp.exp(real_order * (rho - 1))), "a power is below an exponential", tangent.at({x: rho})),
        equals(Mean(sp.exp(real_order / m * X)), "with $X$", excess),
        at_most(
            sp.exp(real_order**2 * (t - 1 / t) ** 2 / (8 * m)), "$X$ is sub-Gaussian",
            lemma.at({z: real_order / m}),
        ),
        at_most(sp.exp(real_order**2 * (t - 1) ** 2 / (2 * m)), "$t - 1/t$ is at most $2(t - 1)$"),
        at_most(sp.exp(real_order**2 * (t - 1) ** 2 / m), "twice the exponent"),
    )  # fmt: skip
