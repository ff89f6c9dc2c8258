r"""The lower bound: 2-RR, all zeros against a single one. Girgis et al. 2021, Theorem 3.4 and Corollary 3.5, as chains;
and which randomizer is the worst: 2-RR for special neighbours, and to first order in 1/n.

:math:`\mu_i` is the i-th central moment of a binomial law, :math:`\mathbb E(K - np)^i`.
"""

from functools import lru_cache
from math import comb
from typing import Any

import sympy as sp

from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, law, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity
from shuffle_sym.papers.girgis2021.notation import (
    ABOVE,
    ORDER,
    SOURCE,
    USERS,
    S,
    i,
    j,
    k,
    m,
    n,
    order,
    real_order,
    t,
)
from shuffle_sym.papers.laws import binomial, shuffled
from shuffle_sym.papers.proofs import LEVEL, by, cite_parts, quantities, shown_by
from shuffle_sym.papers.tools import F
from shuffle_sym.randomizers import KRR, BinaryRR

LARGEST = 12  # moments are written out up to this order
p = sp.Symbol("p", positive=True)
K = Random("K", integer=True, nonnegative=True)
rest = sp.Symbol("l", integer=True, nonnegative=True)
mu = quantity("mu", r"\mu_{{{1}}}", real=True)
w = quantity("w", r"w_{{{1}}}", real=True)
eps = quantity("epsilon", r"\varepsilon({0})", real=True)
P, Q = quantity("P", r"M(D')({0})", positive=True), quantity("Q", r"M(D)({0})", positive=True)
chance, slope = 1 / (t + 1), (t**2 - 1) / (n * t)
_AT_MOST_HALF = sp.Le(p, sp.Rational(1, 2))
_LAWS = {**USERS, k: "how many messages are 1"}
_MOMENTS = {
    mu(n, i, p): r"$\mathbb{E}(K - np)^i$ for $K \sim \mathrm{Bin}(n, p)$",
    n: "number of trials",
    p: "their probability",
}


def _binomial(count: sp.Expr, ones: sp.Expr, probability: sp.Expr) -> sp.Expr:
    return sp.binomial(count, ones) * probability**ones * (1 - probability) ** (count - ones)


def _one_more_user_enumerated() -> bool:
    """The law of the ones of 2-RR, all zeros but one, from binomial laws, for n ≤ 4 and t = 3."""
    zero, one = [F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]

    def ones(users: int) -> list[F]:
        others = binomial(users - 1, F(1, 4))
        return [F(3, 4) * p + F(1, 4) * q for p, q in zip([F(0), *others], [*others, F(0)], strict=True)]

    return all(
        mass == ones(users)[h[1]]
        for users in (1, 2, 3, 4)
        for h, mass in shuffled([*[zero] * (users - 1), one]).items()
    )


@derivation("2-RR: the ratio is linear in the count", f"{SOURCE}, (72)", where=_LAWS)
def eq72() -> Blocks:
    r"""M(D')(k)/M(D)(k) = 1 + (t² − 1)/(nt) · (k − n/(t + 1)) for 2-RR, all zeros (D) against a single one (D')
    (Girgis et al. 2021, (72)): k of n messages are ones.

    >>> eq72().result
    1 + (k - n/(t + 1))*(t**2 - 1)/(n*t)
    """
    first, second = decomposition.dataset(BinaryRR(), 0, 1, 0).atoms
    stays, flips = first.a, second.a

    def law(users: sp.Expr, ones: sp.Expr) -> sp.Expr:
        return sp.binomial(users, ones) * flips**ones * stays ** (users - ones)

    zeros = given(Q(k), law(n, k), "every user has 0 and sends 1 with probability $1/(t + 1)$")
    mixture = second.b * law(n - 1, k - 1) + first.b * law(n - 1, k)
    return zeros, chain(
        P(k) / Q(k),
        equals(mixture / Q(k), "what the last user sends", theorems.total_probability(
            P(k), mixture, "the last user has 1 and sends 1 with probability $t/(t + 1)$, the others make the rest",
            checked=(r"$n \le 4$, $t = 3$, in fractions", _one_more_user_enumerated),
        )),
        equals(k * (t - 1 / t) / n + 1 / t, r"absorption: $\tbinom{n - 1}{k - 1}/\tbinom{n}{k} = k/n$", zeros),
        equals(1 + slope * (k - n * chance), "factored"),
    )  # fmt: skip


@lru_cache
def central_moment(power: int) -> sp.Expr:
    r"""E(K − np)^i for K ~ Bin(n, p), as a polynomial in n and p, by
    :math:`\mu_{i+1} = p(1 - p)\,(i n \mu_{i-1} + \mathrm d\mu_i/\mathrm dp)`.

    >>> central_moment(3)
    2*n*p**3 - 3*n*p**2 + n*p
    """
    if power < 2:
        return sp.Integer(1 - power)
    before, last = central_moment(power - 2), central_moment(power - 1)
    return sp.expand(p * (1 - p) * ((power - 1) * n * before + sp.diff(last, p)))


#: The law of K, and a central moment.
LAW_OF_K = given(w(n, k, p), _binomial(n, k, p), "the probability of $k$")
CENTRAL = given(mu(n, i, p), sp.Sum(w(n, k, p) * (k - n * p) ** i, (k, 0, n)), "$K$ is $k$ of $n$")


@derivation("Central moments, one from the two before", "Romanovsky 1923; used in Girgis et al. 2021", where=_MOMENTS)
def moment_recurrence() -> Blocks:
    r"""μ_{i+1} = p(1 − p)(i n μ_{i−1} + dμ_i/dp), and from it μ_0 = 1, μ_1 = 0, μ_2 = np(1 − p), for K ~ Bin(n, p).

    >>> moment_recurrence().proved
    True
    """
    law, definition, gap = LAW_OF_K, CENTRAL, k - n * p
    weight = chain(
        sp.Derivative(w(n, k, p), p), equals(w(n, k, p) * gap / (p * (1 - p)), "the derivative of a probability", law)
    )
    powers = sp.Sum(w(n, k, p) * gap ** (i + 1) / (p * (1 - p)) - i * n * w(n, k, p) * gap ** (i - 1), (k, 0, n))
    slope = chain(
        sp.Derivative(mu(n, i, p), p),
        equals(
            sp.Sum(sp.Derivative(w(n, k, p), p) * gap**i - i * n * w(n, k, p) * gap ** (i - 1), (k, 0, n)),
            "the derivative of each term", definition,
        ),
        equals(powers, "of its probability", weight),
        equals(mu(n, i + 1, p) / (p * (1 - p)) - i * n * mu(n, i - 1, p), "two moments", definition),
        under=sp.Gt(i, 0),
    )  # fmt: skip
    recurrence = chain(
        mu(n, i + 1, p),
        equals(p * (1 - p) * (i * n * mu(n, i - 1, p) + sp.Derivative(mu(n, i, p), p)), "solved for one", slope),
        under=sp.Gt(i, 0),
    )
    zeroth = chain(mu(n, 0, p), equals(1, "the binomial theorem", definition, law))
    first = chain(
        mu(n, 1, p),
        equals(p * (1 - p) * sp.Sum(sp.Derivative(w(n, k, p), p), (k, 0, n)), "as for $i > 0$", definition, weight),
        equals(p * (1 - p) * sp.Derivative(mu(n, 0, p), p), "a sum of derivatives", definition),
        equals(0, "order 1", zeroth),
    )
    second = chain(mu(n, 2, p), equals(n * p * (1 - p), "order 2", recurrence.at({i: 1}), zeroth, first))
    shown = (recurrence, zeroth, first, second)
    return law, definition, weight, slope, *shown, parts(*shown)


@derivation("Central moments of the binomial law, written out", f"{SOURCE}, Theorem 3.4", where=_MOMENTS)
def central_moments(largest: int = 6) -> Blocks:
    r"""The central moments of Bin(n, p) of order 2 … ``largest`` (at most 12), each from the two before it.

    >>> [fact.right for fact in central_moments(3).statement]
    [n*p*(1 - p), 2*n*p**3 - 3*n*p**2 + n*p]
    """
    _written_out(largest)
    recurrence, first, second = cite_parts(moment_recurrence, 0, 2, 3)
    known: list[Fact] = [second]
    for e in range(2, largest):
        step, before = recurrence.at({i: e}), known[-2] if e > 2 else first
        known.append(chain(mu(n, e + 1, p), equals(central_moment(e + 1), f"order {e + 1}", step, known[-1], before)))
    lemmas = (recurrence, first) if largest > 2 else ()
    return *lemmas, *known, parts(*known)


def _written_out(largest: int) -> None:
    if largest not in range(2, LARGEST + 1):
        raise ValueError(f"largest must be an integer in 2 … {LARGEST}, got {largest!r}")


def _sum_enumerated() -> bool:
    """E(Y_1 + … + Y_{n+1})^i from those of n and of one, for n ≤ 4, i ≤ 6, p = 2/7."""
    q = F(2, 7)

    def moment(count: int, power: int) -> F:
        return sum((mass * (e - count * q) ** power for e, mass in enumerate(binomial(count, q))), F(0))

    return all(
        moment(count + 1, power)
        == sum(comb(power, e) * moment(count, e) * moment(1, power - e) for e in range(power + 1))
        for count in range(1, 5)
        for power in range(7)
    )


@derivation(
    r"No central moment is negative for $p \le 1/2$", f"{SOURCE}, below Theorem 3.4, another proof", where=_MOMENTS
)
def odd_moments() -> Blocks:
    r"""No central moment of Bin(n, p) is negative if p ≤ 1/2 (Girgis et al. 2021, below Theorem 3.4; another proof).

    K − np is a sum of n independent copies of Y = 1 − p or −p, and Y² = (1 − 2p)Y + p(1 − p). The paper calls
    :math:`x^i` convex for odd i and uses Jensen's inequality, which would prove the same for p > 1/2, where it is
    false: n = 1, p = 3/4, i = 3 gives −3/32.

    >>> odd_moments().statement[0].relational()
    'mu(n, i, p) >= 0'
    """
    y = quantity("y", r"y_{{{0}}}", real=True)
    one = given(
        y(i),
        p * (1 - p) ** i + (1 - p) * (-p) ** i,
        r"$\mathbb{E}[Y^i]$: $Y$ is $1 - p$ with probability $p$, else $-p$",
    )
    starts = [chain(y(e), equals(1 - e, f"$i = {e}$", one), under=_AT_MOST_HALF) for e in (0, 1)]
    here = suppose(y(i), ">=", 0, "the hypothesis of the induction, at $i$", _AT_MOST_HALF)
    after = suppose(y(i + 1), ">=", 0, "and at $i + 1$", _AT_MOST_HALF)
    step = chain(
        y(i + 2),
        equals((1 - 2 * p) * y(i + 1) + p * (1 - p) * y(i), "$Y^2$ is $(1 - 2p)Y + p(1 - p)$", one),
        at_least(0, "$1 - 2p$ is not negative", after, here),
        under=_AT_MOST_HALF,
    )
    single = theorems.general(
        "induction", y(i), ">=", 0, [],
        [("$i = 0$", starts[0]), ("$i = 1$", starts[1]), ("from $i$ and $i + 1$ to $i + 2$", step)],
        under=_AT_MOST_HALF,
        discharges=(here, after),
    )  # fmt: skip
    first = chain(
        mu(1, i, p), equals(y(i), "one trial", CENTRAL, LAW_OF_K, one), at_least(0, "by induction over $i$", single),
        under=_AT_MOST_HALF,
    )  # fmt: skip
    split = sp.Sum(sp.binomial(i, rest) * mu(n, rest, p) * y(i - rest), (rest, 0, i))
    before = suppose(mu(n, i, p), ">=", 0, "the hypothesis of the induction, at $n$", _AT_MOST_HALF)
    following = chain(
        mu(n + 1, i, p),
        by("one more trial", theorems.independence(
            mu(n + 1, i, p), split, r"$(Y_1 + \dots + Y_n + Y_{n+1})^i$ multiplied out: the last $Y$ and the others",
            checked=(r"$n \le 4$, $i \le 6$, $p = 2/7$, in fractions", _sum_enumerated),
        )),
        at_least(0, "no term is negative", before.fixing(n), single),
        under=_AT_MOST_HALF,
    )  # fmt: skip
    return one, *starts, here, after, step, LAW_OF_K, CENTRAL, first, before, following, chain(
        mu(n, i, p),
        at_least(
            0, "by induction over $n$", theorems.induction(before, n, first, following, 1, "by induction over $n$")
        ),
        under=_AT_MOST_HALF,
    )  # fmt: skip


def moment_terms(first: int) -> sp.Expr:
    """Σ C(λ, i) ((t² − 1)/(nt))^i μ_i from i = ``first`` on: what (10) has inside the logarithm."""
    return sp.Sum(sp.binomial(order, i) * slope**i * mu(n, i, chance), (i, first, order))


LEADING = 1 + sp.binomial(order, 2) * (t - 1) ** 2 / (n * t)


@derivation(
    "The lower bound", f"{SOURCE}, Theorem 3.4",
    where={**USERS, mu(n, i, chance):
        r"$\mathbb{E}(K - n/(t + 1))^i$ for $K \sim \mathrm{Bin}(n, 1/(t + 1))$"},
)  # fmt: skip
def theorem34() -> Blocks:
    r"""ε(λ) ≥ 1/(λ − 1) · log(1 + C(λ, 2)(t − 1)²/(nt) + Σ_{i=3}^λ C(λ, i) ((t² − 1)/(nt))^i μ_i), for every integer λ
    (Girgis et al. 2021, Theorem 3.4, (10)): the moment of 2-RR, exactly, and a supremum is not below it.

    >>> theorem34().statement[0].right == sp.log(LEADING + moment_terms(3)) / (order - 1)
    True
    """
    ratio = cite(eq72)
    zeroth, first, second = cite_parts(moment_recurrence, 1, 2, 3)
    definition = given(
        S(order, n), Mean((P(K) / Q(K)) ** order), r"$K$ is drawn from $M(D)$, $\mathrm{Bin}(n, 1/(t + 1))$"
    )
    Y, c = Random("Y", real=True), sp.Symbol("c", nonnegative=True)
    scale = given(c, slope, "what one more message 1 adds to the ratio")
    centred = given(Y, K - n * chance, "$K$ without its mean")
    # -- what K ~ Bin(n, 1/(t + 1)) is, and the mean of a power of Y = K − n/(t + 1) as a central moment
    mass, ones = _binomial(n, k, chance), (k, 0, n)
    total = claim(sp.Sum(mass, ones), "=", 1, "the binomial theorem")
    drawn = law(K, {k: (mass, ones)}, r"$K$ is drawn from $\mathrm{Bin}(n, 1/(t + 1))$", total=total)
    central = chain(
        Mean(Y**i),
        equals(Mean((K - n * chance) ** i), "$K$ without its mean", centred),
        equals(
            sp.Sum(mass * (k - n * chance) ** i, ones), "the law of $K$", drawn.mean(lambda u: (u - n * chance) ** i)
        ),
        equals(mu(n, i, chance), "by definition", CENTRAL, LAW_OF_K),
    )

    def terms(start: int) -> sp.Expr:
        return sp.Sum(sp.binomial(order, i) * c**i * mu(n, i, chance), (i, start, order))

    early = [fact.at({p: chance}) for fact in (zeroth, first, second)]
    moment = chain(
        S(order, n),
        equals(Mean((1 + c * Y) ** order), "(72)", definition, ratio.at({k: K}), scale, centred),
        equals(Mean(sp.Sum(sp.binomial(order, i) * (c * Y) ** i, (i, 0, order))), "the binomial theorem"),
        equals(sp.Sum(sp.binomial(order, i) * c**i * Mean(Y**i), (i, 0, order)), "(15), moment by moment"),
        equals(terms(0), "central moments", central),
        equals(
            mu(n, 0, chance)
            + order * c * mu(n, 1, chance)
            + sp.binomial(order, 2) * c**2 * mu(n, 2, chance)
            + terms(3),
            "the first three terms",
        ),
        equals(LEADING + moment_terms(3), "orders 0, 1 and 2", *early, scale),
    )
    supremum = suppose(
        eps(order), ">=", sp.log(S(order, n)) / (order - 1),
        r"$\varepsilon(\lambda)$ is the supremum over $\varepsilon_0$-LDP randomizers and neighbouring datasets; "
        r"this is one pair of them",
    )  # fmt: skip
    laws = (LAW_OF_K, CENTRAL, total, drawn)
    return *laws, ratio, zeroth, first, second, definition, scale, centred, central, moment, supremum, chain(
        eps(order),
        at_least(sp.log(S(order, n)) / (order - 1), "by definition", supremum),
        equals(sp.log(LEADING + moment_terms(3)) / (order - 1), "the moment of 2-RR", moment),
    )  # fmt: skip


@derivation("The simplified lower bound", f"{SOURCE}, Corollary 3.5", where={**USERS})
def corollary35() -> Blocks:
    r"""ε(λ) ≥ 1/(λ − 1) · log(1 + C(λ, 2)(t − 1)²/(nt)) (Girgis et al. 2021, Corollary 3.5, (11)): Theorem 3.4 without
    its higher moments, none of which is negative, as 1/(t + 1) ≤ 1/2. The reason given in the paper is not one.

    >>> corollary35().result == sp.log(LEADING) / (order - 1)
    True
    """
    whole, moments = cite(theorem34), cite(odd_moments)
    return whole, moments, chain(
        eps(order),
        at_least(sp.log(LEADING + moment_terms(3)) / (order - 1), "Theorem 3.4", whole),
        at_least(sp.log(LEADING) / (order - 1), "no moment is negative", moments),
    )  # fmt: skip


@derivation(
    "Rényi moments of 2-RR, written out",
    f"{SOURCE}, Theorem 3.4",
    where={**USERS},
)
def rdp_moments(largest: int = 5) -> Blocks:
    r"""The moment of Theorem 3.4 as a rational function of n and t, for λ = 2 … ``largest`` (at most 12).

    >>> rdp_moments().statement[0].right
    1 + (t - 1)**2/(n*t)
    """
    _written_out(largest)
    written = central_moments(largest)
    known = {e: cite(lambda: written, part=e - 2) for e in range(3, largest + 1)}
    inside = quantity("E", r"\mathbb{{E}}\left[\rho^{{{0}}}\right]", real=True)
    definition = given(inside(order), LEADING + moment_terms(3), "Theorem 3.4, inside the logarithm")
    shown = []
    for power in range(2, largest + 1):
        leading, factors = (
            LEADING.subs(order, power),
            {e: sp.binomial(power, e) * slope**e for e in known if e <= power},
        )
        held = leading + sp.Add(*(factor * mu(n, e, chance) for e, factor in factors.items()))
        values = {e: sp.factor(central_moment(e).subs(p, chance)) for e in factors}
        links = [equals(held, rf"$\lambda = {power}$", definition)]
        if factors:
            right = leading + sp.Add(*(factor * values[e] for e, factor in factors.items()))
            links.append(equals(right, "its central moments", *(known[e].at({p: chance}) for e in factors)))
        shown.append(chain(inside(sp.Integer(power)), *links))
    return definition, *known.values(), *shown, parts(*shown)


# ------------------------------------------------------------------------------------------- is 2-RR the worst one?

level = sp.Symbol("k", real=True)


@derivation(
    "2-RR is the worst for special neighbours", "ours; it sharpens Girgis et al. 2021, Theorem 3.7",
    where={**LEVEL, m: "number of users", level: "any level", real_order: "the order, above 1"},
)  # fmt: skip
def worst_special() -> Blocks:
    r"""No ε0-LDP randomizer has a larger moment for special neighbours than 2-RR, by convex order.

    The ratio r = p'_j/p_j of one user is in [1/t, t] and has mean 1; that of 2-RR is t with probability 1/(t + 1), else
    1/t.

    >>> worst_special().statement[0].relation
    '<='
    """
    r, two, U = Random("r", positive=True), Random("r2", positive=True), Random("U", nonnegative=True)
    share = suppose(
        r, "=", U * t + (1 - U) / t, r"$\varepsilon_0$-LDP: $r$ is in $[1/t, t]$, with some $U$ in $[0, 1]$"
    )
    at_most_one = suppose(U, "<=", 1, "$U$ is not above 1")
    mean = suppose(Mean(r), "=", 1, "$p'$ is a law")
    weight = chain(
        Mean(U),
        equals((Mean(U * t + (1 - U) / t) - 1 / t) / (t - 1 / t), "solved for $U$"),
        equals((Mean(r) - 1 / t) / (t - 1 / t), "the ratio", share),
        equals(1 / (t + 1), "it has mean 1", mean),
        under=ABOVE,
    )
    high, low = Positive(t - level), Positive(1 / t - level)
    jensen = theorems.jensen(Positive, [(U, t - level), (1 - U, 1 / t - level)], at_most_one)
    ratio = law(two, {t: 1 / (t + 1), 1 / t: t / (t + 1)}, "the ratio of 2-RR")
    excess = chain(
        Mean(Positive(r - level)),
        equals(Mean(jensen.left), "the ratio", share),
        at_most(Mean(jensen.right), "below the chord", jensen),
        equals(Mean(U) * high + (1 - Mean(U)) * low, "the mean is linear"),
        equals(high / (t + 1) + t * low / (t + 1), "the mean of $U$", weight),
        equals(Mean(Positive(two - level)), "2-RR", ratio.mean(lambda u: Positive(u - level))),
        under=ABOVE,
    )
    means = chain(
        Mean(r), equals(1, "$p'$ is a law", mean), equals(t / (t + 1) + 1 / (t + 1), "of 2-RR"),
        equals(Mean(two), "2-RR", ratio.mean(lambda u: u)), under=ABOVE,
    )  # fmt: skip
    total, worst = Random("R", positive=True), Random("R2", positive=True)
    x = sp.Symbol("x", positive=True)
    return share, at_most_one, mean, weight, ratio, excess, means, shown_by(
        "2-RR",
        theorems.general(
            "convex order is closed under independent sums", Mean((total / m) ** real_order), "<=",
            Mean((worst / m) ** real_order), ["$R$ and $R_2$ are sums over $m$ independent users, by (32)"],
            [
                ("the excess over every level", excess), ("equal means", means),
                (
                    r"$(x/m)^{\lambda}$ is convex", claim(
                        0, "<=", sp.diff((x / m) ** real_order, x, 2), r"the second derivative of $(x/m)^{\lambda}$",
                        under=ORDER,
                    ),
                ),
            ], local=(level, x),
        ), under=(ABOVE, ORDER),
    )  # fmt: skip


@derivation(
    "The expectation of Theorem 3.6, absorbed", "ours; Girgis et al. 2021, Theorem 3.6",
    where={n: "number of users", sp.Symbol("q", positive=True): "$1/t$"},
)  # fmt: skip
def absorption() -> Blocks:
    r"""E[M(m + 1)] − 1 over m ~ Bin(n − 1, q) is E[G(N)]/(nq) over N ~ Bin(n, q), with G(N) = N(M(N) − 1).

    >>> absorption().proved
    True
    """
    q, M = sp.Symbol("q", positive=True), quantity("M", positive=True)
    G, b = quantity("G", real=True), quantity("b", r"b_{{{0}}}", nonnegative=True)
    doubles = sp.Symbol("N", integer=True, nonnegative=True)
    excess = given(G(i), i * (M(i) - 1), "what the reduction bounds")
    law = given(b(i), sp.binomial(n, i) * q**i * (1 - q) ** (n - i), r"$\mathrm{Bin}(n, q)$")
    mean = sp.Sum(b(doubles) * G(doubles), (doubles, 0, n)) / (n * q)
    fewer = sp.binomial(n - 1, i) * q**i * (1 - q) ** (n - 1 - i)
    term = chain(
        fewer * (M(i + 1) - 1),
        equals(b(i + 1) * G(i + 1) / (n * q), r"$(i + 1)\tbinom{n}{i + 1}$ is $n\tbinom{n - 1}{i}$", law, excess),
    )
    none = chain(G(0), equals(0, "no user", excess))
    return excess, law, term, none, chain(
        sp.Sum(fewer * (M(i + 1) - 1), (i, 0, n - 1)),
        equals(sp.Sum(b(i + 1) * G(i + 1) / (n * q), (i, 0, n - 1)), "absorption", term),
        equals(mean - b(0) * G(0) / (n * q), "$N = m + 1$"),
        equals(mean, "and $N = 0$ adds nothing", none),
    )  # fmt: skip


def _first_order(D: decomposition.Decomposition) -> sp.Expr:
    """Σ (a_j − b_j)²/c_j: n(E[(P/Q)^λ] − 1) tends to C(λ, 2) times this."""
    return sp.Add(*((atom.a - atom.b) ** 2 / atom.c for atom in D.atoms), evaluate=False)


@derivation(
    "The first order of the worst randomizer", f"{SOURCE}, Remark 7, answered",
    where={**LEVEL, j: "a message; $a$, $b$, $c$ are its probabilities for $x_0$, $x_1$ and "
                                         "all others"},
)  # fmt: skip
def remark7() -> Blocks:
    r"""Is the lower bound tight "at least for the first order term" (Girgis et al. 2021, Remark 7 and Section 8)? For
    t ≤ 2 it is, for t > 2 it is not.

    Let R(x0) = a, R(x1) = b, and let all others have R(x2) = c. n(E[(P/Q)^λ] − 1) tends to C(λ, 2) Σ (a_j − b_j)²/c_j,
    the term of second order of A^λ B^{1−λ} around (1, 1). An ε0-LDP randomizer has (α, β) = (a/c, b/c) with mean (1, 1)
    in the hexagon 1/t ≤ α, β, α/β ≤ t, and (α − β)² is convex: a plane above it at the corners is above it everywhere,
    and its value at (1, 1) bounds the sum. 2-RR attains (t − 1)²/t, the value of Theorem 3.4, and 3-RR attains
    2(t − 1)²/(t + 2), which is larger for t > 2. Theorem 3.6 has (t − 1)², and the standard clone, whose Rényi
    divergence bounds every ε0-LDP randomizer as well, 4t(t − 1)²/(t + 1)²: the gap e^ε0 of the remark is a factor
    below 2.

    >>> [fact.right for fact in remark7().statement][:2]
    [2*(t - 1)**2/(t + 2), (t - 1)**2/t]
    """
    B = sp.Symbol("B", integer=True, positive=True)
    a, b, c = quantities("a b c", "*_{{{0}}}", positive=True)
    totals = [sp.Sum(law(j), (j, 1, B)) for law in (a, b, c)]
    laws = [suppose(total, "=", 1, "a law") for total in totals]
    first = sp.Sum((a(j) - b(j)) ** 2 / c(j), (j, 1, B))
    large, small = sp.Ge(t, 2), (sp.Ge(t, 1), sp.Le(t, 2))

    def above(x0: Any, x1: Any) -> sp.Expr:
        return (t - 1) / (t + 2) * (t * (x0 + x1) - 2)

    def beneath(x0: Any, x1: Any) -> sp.Expr:
        return (t - 1) ** 2 / t * (x0 + x1 - 1)

    shown = []
    # mirrored corners of the hexagon 1/t ≤ α, β, α/β ≤ t are one
    corners = {"(t, t)": (t, t), "(1/t, 1/t)": (1 / t, 1 / t), "(t, 1)": (t, 1), "(1/t, 1)": (1 / t, 1)}
    for plane, case, D, who in (
        (above, large, decomposition.dataset(KRR(k=3), 0, 1, 2), "3-RR"),
        (beneath, small, decomposition.dataset(BinaryRR(), 0, 1, 0), "2-RR"),
    ):
        ratio, zero = plane(a(j) / c(j), b(j) / c(j)), plane(0, 0)
        at_means = [sp.expand(plane(1, 0) - zero), sp.expand(plane(0, 1) - zero), zero]
        below = [
            (f"the corner ${name}$", claim((x0 - x1) ** 2, "<=", plane(x0, x1), f"at ${name}$", under=case))
            for name, (x0, x1) in corners.items()
            if (x0 - x1) ** 2 != plane(x0, x1)  # where it meets the corner there is nothing to show
        ]
        shown.append(chain(
            first,
            at_most(sp.Sum(c(j) * ratio, (j, 1, B)), "a plane above it in the hexagon", theorems.general(
                "a convex function is below a plane that is above it at the corners",
                (a(j) - b(j)) ** 2 / c(j), "<=", c(j) * ratio,
                [r"$\varepsilon_0$-LDP: $(a/c, b/c)$ is in the hexagon; $(\alpha - \beta)^2$ is convex"],
                below, under=case,
            )),
            equals(sp.Add(*(part * total for part, total in zip(at_means, totals, strict=True))), "term by term"),
            equals(sp.factor(plane(1, 1)), f"no randomizer has more than {who}", *laws),
            under=case,
        ))  # fmt: skip
        shown.append(chain(_first_order(D), equals(sp.factor(plane(1, 1)), f"{who} has it")))
    clone = 4 * t * (t - 1) ** 2 / (t + 1) ** 2
    shown.append(
        chain(
            _first_order(decomposition.clones()),
            equals(clone, "the standard clone"),
            at_most(2 * (2 * (t - 1) ** 2 / (t + 2)), "below twice 3-RR"),
        )
    )
    return *laws, *shown, parts(shown[0], shown[2], shown[1], shown[3], shown[4])
