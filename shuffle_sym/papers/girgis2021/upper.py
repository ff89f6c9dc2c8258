r"""The upper bounds: Girgis et al. 2021, Theorems 3.1 and 3.3, Corollary 3.2 and what they rest on, as chains.

The corollary says that (5) simplifies to (6), and it need not: Appendix A has (47) "for sufficiently large n" only, and
for t → 1 its right side goes to 0 and its left side does not. Here (6) comes from Theorem 3.6, the cut of (40) and
Theorem 3.7; what few doubles contribute goes to 0 with t − 1, as (6) does.
"""

from itertools import product

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.enclosures import below, exp
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, growing, parts, telescoping
from shuffle_sym.papers.engine.derivation import Blocks, Cited, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.girgis2021.mixtures import expected, lemma_d1, q, theorem36, whole
from shuffle_sym.papers.girgis2021.moments import (
    closed_form,
    higher_term,
    lemma62,
    pairs_of_laws,
    theorem37,
    theorem71,
)
from shuffle_sym.papers.girgis2021.notation import (
    ABOVE,
    MOMENT,
    ORDER,
    SOURCE,
    USERS,
    B,
    S,
    above_one,
    i,
    j,
    k,
    m,
    messages,
    n,
    not_above_t,
    order,
    p,
    p1,
    primed_sums_to_one,
    real_order,
    sums_to_one,
    t,
)
from shuffle_sym.papers.laws import binomial, moment, shuffled
from shuffle_sym.papers.proofs import LEVEL, by, cite_parts, quantities
from shuffle_sym.papers.tools import F

count, s = sp.symbols("m s", integer=True, nonnegative=True)
gamma = parameter("gamma", 0, 1)
nbar = quantity("nbar", r"\bar n", integer=True, positive=True)(gamma)
b = quantity("b", r"b_{{{0}}}", nonnegative=True)
D = quantity("D", r"D_{{{0}}}", real=True)
few, many = (quantity(name, name.replace("pi", r"\pi"), nonnegative=True)(gamma) for name in ("pi", "pi'"))
SIZE = sp.floor((1 - gamma) * (n - 1) / t) + 1
_MEANING = {
    **USERS,
    whole(real_order): r"the moment $\mathbb{E}[(M(D)/M(D'))^{\lambda}]$ of two neighbouring datasets",
    S(real_order, m): "the same of special neighbours, $m$ users",
    gamma: "a share in $[0, 1]$",
    nbar: "a number of users",
}
_CUT = {**_MEANING, few: r"the probability of fewer than $\bar{n} - 1$ doubles", many: "that of all others"}


def _tails_enumerated() -> bool:
    """Pr[Bin(n − 1, q) < ⌊(1 − γ)(n − 1)q⌋] ≤ exp(−γ²(n − 1)q/2) on a grid, enclosed."""
    grid = product((1, 8, 39), (F(1, 5), F(1, 2), F(9, 10)), (F(1, 10), F(1, 2), F(1)))
    return all(
        below(
            sum(binomial(trials, chance)[: int((1 - share) * trials * chance)], F(0)),
            exp(-(share**2) * trials * chance / 2),
        )
        for trials, chance, share in grid
    )


def one_user(lam: sp.Expr) -> Applied:
    """The moment of special neighbours with one user is that of R."""

    def alone(law: list[F], other: list[F]) -> bool:
        cubes = sum(u * (v / u) ** 3 for u, v in zip(law, other, strict=True))
        return moment(shuffled([other]), shuffled([law]), 3) == cubes

    ratios, words = sp.Sum(p(j) * (p1(j) / p(j)) ** lam, messages), "the user sends $j$ with probability $p_j$"
    checked = (r"three randomizers, $\lambda = 3$, in fractions", lambda: all(alone(*pair) for pair in pairs_of_laws()))
    return theorems.total_probability(S(lam, 1), ratios, words, checked)


@derivation("One user alone", f"{SOURCE}, Appendix D.1, step (c)", where={**LEVEL, B: "number of messages"})
def single_user() -> Blocks:
    r"""S_λ(1) ≤ t^λ: without others the moment is that of R, whose ratios are at most t (Girgis et al. 2021, D.1).

    >>> single_user().result
    t**lambda
    """
    each = chain(
        (p1(j) / p(j)) ** real_order,
        equals((t / (1 + above_one(j))) ** real_order, r"$\varepsilon_0$-LDP", not_above_t),
        at_most(t**real_order, "a power rises"),
    )
    return (
        sums_to_one, not_above_t, each, chain(
            S(real_order, 1),
            at_most(t**real_order * sp.Sum(p(j), messages), "each ratio is at most $t$", one_user(real_order), each),
            equals(t**real_order, "$p$ is a law", sums_to_one),
        ),
    )  # fmt: skip


@derivation("The moment, cut at a number of doubles", f"{SOURCE}, (40), corrected", where=_CUT)
def cut() -> Blocks:
    r"""The moment of two neighbouring datasets is at most S_λ(1)π + S_λ(n̄)π', where n̄ = ⌊(1 − γ)(n − 1)/t⌋ + 1,
    π ≤ e^{−γ²(n−1)/(2t)} is the probability of fewer than n̄ − 1 doubles, and π' = 1 − π (Girgis et al. 2021, in the
    proof of (40)), for every real λ > 1.

    >>> cut().result
    S(lambda, 1)*pi(gamma) + S(lambda, nbar(gamma))*pi'(gamma)
    """
    reduction, falls = cite(theorem36), cite(lemma_d1)
    law = given(
        b(count), sp.binomial(n - 1, count) * q**count * (1 - q) ** (n - 1 - count), r"$\mathrm{Bin}(n - 1, 1/t)$"
    )
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    early = given(few, sp.Sum(b(count), (count, 0, nbar - 2)), r"fewer than $\bar{n} - 1$ doubles")
    late = given(many, sp.Sum(b(nbar - 1 + s), (s, 0, n - nbar)), "all others")
    total = chain(sp.Sum(b(count), (count, 0, n - 1)), equals(1, "the binomial theorem", law), under=ABOVE)
    everything = chain(
        many,
        equals(total.left - early.right, "all without the first ones", late),
        equals(1 - few, "all of them", total, early),
        under=(ABOVE, sp.Ge(n, nbar)),
    )
    bound = sp.exp(-(gamma**2) * (n - 1) / (2 * t))
    tail = chain(
        few,
        by("by definition", early),
        by("$m$ far below its mean", theorems.general(
            "Chernoff's bound", early.right, "<=", bound,
            [
                r"$m$ is a sum of $n - 1$ independent indicators of mean $1/t$, and $m \le \bar{n} - 2$ is below $(1 "
                r"- \gamma)(n - 1)/t$",
            ], [("the law of $m$", law), ("the number of users", size)],
            checked=(r"$n \le 40$, three values of $t$ and of $\gamma$, enclosed", _tails_enumerated),
        )),
    )  # fmt: skip
    shown = chain(
        whole(real_order),
        at_most(expected(lambda users: S(real_order, users)), "Theorem 3.6", reduction),
        equals(sp.Sum(b(count) * S(real_order, count + 1), (count, 0, n - 1)), "the law of $m$", law),
        equals(
            sp.Sum(b(count) * S(real_order, count + 1), (count, 0, nbar - 2))
            + sp.Sum(b(nbar - 1 + s) * S(real_order, nbar + s), (s, 0, n - nbar)),
            r"cut at $\bar{n} - 1$ doubles",
        ),
        at_most(
            S(real_order, 1) * early.right + S(real_order, nbar) * late.right, "the moments fall",
            falls.at({m: 1, k: count}), falls.at({m: nbar, k: s}),
        ),
        equals(S(real_order, 1) * few + S(real_order, nbar) * many, "their probabilities", early, late),
        under=(ABOVE, ORDER, sp.Ge(n, nbar)),
    )  # fmt: skip
    return reduction, falls, law, size, early, late, total, everything, tail, shown, parts(tail, everything, shown)


@derivation("The moment, cut at a number of users", f"{SOURCE}, (40), corrected", where=_CUT)
def eq40() -> Blocks:
    r"""The moment of two neighbouring datasets is at most t^λ e^{−γ²(n−1)/(2t)} + S_λ(n̄), n̄ = ⌊(1 − γ)(n − 1)/t⌋ + 1,
    for every real λ > 1 (Girgis et al. 2021, (40)), if γ ≤ 1 and with the floor; the paper has γ > 0 arbitrary.

    >>> eq40().result
    t**lambda*exp(-gamma**2*(n - 1)/(2*t)) + S(lambda, nbar(gamma))
    """
    (tail, everything, parted), alone = cite_parts(cut, 0, 1, 2), cite(single_user)
    return tail, everything, parted, alone, chain(
        whole(real_order),
        at_most(S(real_order, 1) * few + S(real_order, nbar) * many, "few doubles, or many", parted),
        at_most(t**real_order * few + S(real_order, nbar) * many, "one user alone", alone),
        at_most(t**real_order * tail.right + S(real_order, nbar) * many, "Chernoff's bound", tail),
        equals(t**real_order * tail.right + S(real_order, nbar) * (1 - few), "all others", everything),
        at_most(t**real_order * tail.right + S(real_order, nbar), "no probability is negative"),
        under=(ABOVE, ORDER, sp.Ge(n, nbar)),
    )  # fmt: skip


half_number, HALF = (one.subs(gamma, sp.Rational(1, 2)) for one in (nbar, SIZE))


def _assembled(special: Cited, lam: sp.Expr, moment: sp.Expr) -> Blocks:
    """From (40) with γ = 1/2 and a bound for special neighbours to the Rényi divergence."""
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    cut = cite(eq40)
    divergence = given(D(lam), sp.log(whole(lam)) / (lam - 1), "the Rényi divergence of two neighbouring datasets")
    half = cut.at({gamma: sp.Rational(1, 2), real_order: lam})
    last = half.right - S(lam, half_number)
    bounded = chain(
        whole(lam),
        at_most(half.right, r"(40) with $\gamma = 1/2$", half, size),
        at_most(
            moment + last,
            "special neighbours with so many users",
            theorems.for_other_laws(special, {m: half_number}, r"$\rho$ and $X$ are those of $\bar{n}$ users"),
        ),
        under=(ABOVE, ORDER) if lam == real_order else ABOVE,
    )
    return size, cut, special, divergence, bounded, chain(
        D(lam),
        at_most(sp.log(moment + last) / (lam - 1), r"$\log$ rises", divergence, bounded),
        equals(sp.log(moment.subs(half_number, HALF) + last) / (lam - 1), "the number of users put in", size),
        under=bounded.under,
    )  # fmt: skip


_RESULT = {
    **_MEANING,
    half_number: "$(n - 1)/(2t)$ rounded down, plus 1",
    D(real_order): r"the Rényi divergence of order $\lambda$",
}


@derivation("The first upper bound", f"{SOURCE}, Theorem 3.1, corrected", where=_RESULT)
def theorem31_renyi() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any integer λ ≥ 2 is at most
    log(1 + C(λ, 2)(t − 1)²/(n̄t) + Σ_{i=3}^λ C(λ, i) i Γ(i/2) ((t² − 1)²/(2n̄t²))^{i/2} + t^λ e^{−(n−1)/(8t)})/(λ − 1),
    n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.1 as its proof has it, (41): (5) as printed has λ/2 for
    C(λ, 2) and ends the logarithm early).

    >>> theorem31_renyi().statement[0].left
    D(lambda)
    """
    return _assembled(cite(theorem37), order, closed_form(half_number))


@derivation("The second upper bound", f"{SOURCE}, Theorem 3.3, corrected", where=_RESULT)
def theorem33() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any real λ > 1 is at most
    1/(λ − 1) · log(e^{λ²(t − 1)²/n̄} + t^λ e^{−(n−1)/(8t)}), n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.3 as
    its proof has it: (8) as printed has ε0 for e^ε0 and n for n̄).

    >>> theorem33().result
    log(t**lambda*exp(-(n - 1)/(8*t)) + exp(lambda**2*(t - 1)**2/(floor((n - 1)/(2*t)) + 1)))/(lambda - 1)
    """
    return _assembled(cite(theorem71), real_order, sp.exp(real_order**2 * (t - 1) ** 2 / half_number))


# ------------------------------------------------------------------------------------------------- Corollary 3.2

later = k + 3  # an index from 3 on
e, y, z = sp.symbols("e y z", nonnegative=True)
w, x = sp.symbols("w x", positive=True)
users = sp.Symbol("nbar", integer=True, positive=True)
PAIRS = sp.binomial(order, 2)
CONDITION, MANY = sp.Ge(n, 9 * order**4 * t**5), sp.Ge(m, (n - 1) / (2 * t))


@derivation(r"The $\Gamma$ function and the binomial coefficient", f"{SOURCE}, Claim 1", where={order: "the order"})
def claim1() -> Blocks:
    r"""C(λ, k) k Γ(k/2) ≤ λ^k for k ≥ 2 (Girgis et al. 2021, Claim 1, for k ≥ 3). For k = 1 it is false (√π > 1).

    C(λ, k) k! is a product of k factors, each at most λ, so Γ(k/2) ≤ (k − 1)! is enough.

    >>> claim1().result
    lambda**k
    """
    G, down = quantity("G", positive=True), quantity("ff", r"\lambda^{{\underline{{{0}}}}}", nonnegative=True)
    ratio = given(G(k), sp.gamma(k / 2) / sp.factorial(k - 1), r"$\Gamma(k/2)/(k - 1)!$")
    falling = given(
        down(k), sp.factorial(order) / sp.factorial(order - k), r"$\lambda(\lambda - 1)\dots(\lambda - k + 1)$"
    )
    starts = [
        chain(G(2), equals(1, r"$\Gamma(1) = 1!$", ratio)),
        chain(
            G(3), equals(sp.sqrt(sp.pi) / 4, r"$\Gamma(3/2) = \sqrt{\pi}/2$", ratio), at_most(1, r"$\pi$ is below 16")
        ),
    ]
    two = sp.Ge(k, 2)
    hypothesis = suppose(G(k), "<=", 1, "the hypothesis of the induction, at $k$", two)
    step = chain(
        G(k + 2),
        equals(G(k) / (2 * (k + 1)), r"$\Gamma(k/2 + 1) = (k/2)\Gamma(k/2)$", ratio),
        at_most(1 / (2 * (k + 1)), "at $k$", hypothesis),
        at_most(1, "a fraction"),
        under=two,
    )
    first = chain(down(0), equals(1, "no factor", falling))
    before = suppose(down(k), "<=", order**k, "the hypothesis of the induction, at $k$")
    factor = chain(
        down(k + 1),
        equals(order * down(k) - k * down(k), "one factor more", falling),
        at_most(order * down(k), "$k$ is not negative"),
        at_most(order ** (k + 1), "at $k$", before.fixing(k)),
    )
    return ratio, falling, *starts, hypothesis, step, first, before, factor, chain(
        sp.binomial(order, k) * k * sp.gamma(k / 2),
        equals(down(k) * G(k), r"$\tbinom{\lambda}{k} k!$ and $\Gamma(k/2)/(k - 1)!$", falling, ratio),
        at_most(down(k), r"$\Gamma(k/2) \le (k - 1)!$", theorems.general(
            "induction", G(k), "<=", 1, [],
            [("$k = 2$", starts[0]), ("$k = 3$", starts[1]), ("from $k$ to $k + 2$", step)], under=two,
            discharges=(hypothesis,),
        )),
        at_most(order**k, r"$k$ factors, each at most $\lambda$", theorems.induction(before, k, first, factor, 0)),
        under=two,
    )  # fmt: skip


@derivation(
    "A power above its tangent",
    "Taylor's theorem at 1",
    where={e: "$x = t/(1 + e)$ is at most $t$", **LEVEL},
)
def above_tangent() -> Blocks:
    r"""x^λ ≤ 1 + λ(x − 1) + C(λ, 2)(x − 1)² t^(λ−2) for 0 < x ≤ t, here x = t/(1 + e), and every integer λ ≥ 2.

    >>> above_tangent().statement[0].left
    (t/(e + 1))**lambda
    """
    f, g = quantity("f", r"f_{{{0}}}", real=True), quantity("g", r"g_{{{0}}}", positive=True)
    ratio = t / (1 + e)
    square = (ratio - 1) ** 2
    rest = given(f(order), ratio**order - 1 - order * (ratio - 1), r"$x^{\lambda}$ less its tangent at 1")
    power = given(g(order), t ** (order - 2), "a power of $t$")
    large = chain(g(order), equals(t ** (order - 2), "by definition", power), at_least(1, r"$t \ge 1$", growing(t, 1)))
    base = chain(f(2), equals(square, "multiplied out", rest), equals(square * g(2), "$t$ to the 0", power))
    before = suppose(f(order), "<=", PAIRS * square * g(order), r"the hypothesis of the induction, at $\lambda$")
    following = chain(
        f(order + 1),
        equals(ratio * f(order) + order * square, "$x$ times it, and what is new", rest),
        at_most(square * (ratio * PAIRS * g(order) + order), r"at $\lambda$", before.fixing(order)),
        at_most(square * (t * PAIRS * g(order) + order), r"$x \le t$"),
        at_most(square * (t * PAIRS * g(order) + t * order * g(order)), r"$t \ge 1$", large),
        equals(
            sp.binomial(order + 1, 2) * square * g(order + 1),
            r"$\tbinom{\lambda}{2} + \lambda = \tbinom{\lambda + 1}{2}$",
            power,
        ),
    )
    return rest, power, large, base, before, following, chain(
        ratio**order,
        equals(1 + order * (ratio - 1) + f(order), "the tangent and the rest", rest),
        at_most(
            1 + order * (ratio - 1) + PAIRS * square * g(order),
            r"by induction over $\lambda$",
            theorems.induction(before, order, base, following, 2),
        ),
        equals(1 + order * (ratio - 1) + PAIRS * square * t ** (order - 2), "the power put in", power),
    )  # fmt: skip


@derivation("One user alone, to second order", f"{SOURCE}, ours", where={**MOMENT, **USERS, B: "number of messages"})
def single_user_excess() -> Blocks:
    r"""S_λ(1) ≤ 1 + C(λ, 2)(t − 1)² t^(λ−3) for every integer λ ≥ 2: without others the moment is that of R.

    >>> single_user_excess().result
    1 + t**(lambda - 2)*(t - 1)**2*binomial(lambda, 2)/t
    """
    tangent, largest = cite(above_tangent), cite(lemma62, part=0)
    ratio, power = p1(j) / p(j), t ** (order - 2)
    parabola = 1 + order * (ratio - 1) + PAIRS * (ratio - 1) ** 2 * power
    each = chain(
        ratio**order,
        equals((t / (1 + above_one(j))) ** order, r"$\varepsilon_0$-LDP", not_above_t),
        at_most(tangent.right.subs(e, above_one(j)), "a parabola above it", tangent.at({e: above_one(j)})),
        equals(parabola, r"$\varepsilon_0$-LDP", not_above_t),
    )
    totals = [sp.Sum(law(j), messages) for law in (p, p1)]
    chi = sp.Sum(p1(j) ** 2 / p(j), messages)
    return (
        sums_to_one, primed_sums_to_one, not_above_t, tangent, largest, each, chain(
            S(order, 1),
            at_most(sp.Sum(p(j) * parabola, messages), "each ratio", one_user(order), each),
            equals(
                totals[0] + order * (totals[1] - totals[0]) + PAIRS * power * (chi - 2 * totals[1] + totals[0]),
                "term by term",
            ),
            equals(1 + PAIRS * power * (chi - 1), "both sum to 1", sums_to_one, primed_sums_to_one),
            at_most(1 + PAIRS * power * ((t - 1) ** 2 / t), "the largest variance", largest),
        ),
    )  # fmt: skip


#: What √w is at most under the condition, which is at most 7/80.
SMALL, ENOUGH = sp.Rational(7, 20) * t / (t + 1) ** 2, (CONDITION, MANY, ABOVE)
power, most = quantities("v u", "*_{{{0}}}", nonnegative=True)


@derivation(
    "Special neighbours, many of them", f"{SOURCE}, (44) to (50), corrected",
    where={**MOMENT, **USERS, w: "what the terms of Theorem 3.7 are powers of"},
)  # fmt: skip
def enough_users() -> Blocks:
    r"""S_λ(m) ≤ 1 + 9/5 C(λ, 2)(t − 1)²/(mt) if n ≥ 9λ⁴t⁵ and m ≥ (n − 1)/(2t) (Girgis et al. 2021, (44) to (50)).

    With w = λ²(t² − 1)²/(2mt²) the i-th term of Theorem 3.7 is at most w^(i/2), and the condition makes w small.

    >>> enough_users().result
    1 + 9*(t - 1)**2*binomial(lambda, 2)/(5*m*t)
    """
    moment, by_claim = cite(theorem37), cite(claim1)
    c = quantity("c", "c_{{{0}}}", nonnegative=True)
    base = given(w, order**2 * (t**2 - 1) ** 2 / (2 * m * t**2), r"$\lambda^2$ times what (14) has a power of")
    named = given(c(k), sp.binomial(order, k) * k * sp.gamma(k / 2), "the coefficient in (14)")
    powers = given(power(k), w ** ((k + 1) / 2), "all factors of the term $i = k + 3$ but $w$")
    bound = given(most(k), SMALL ** (k + 1), "what the condition makes of it")
    coefficient = chain(c(later), at_most(order**later, "Claim 1", named, by_claim.at({k: later})))
    term = chain(
        higher_term(m).subs(i, later),
        equals(c(later) * (w / order**2) ** (later / 2), "with $w$", named, base),
        at_most(order**later * (w / order**2) ** (later / 2), "Claim 1", coefficient),
        equals(w * power(k), "$w^{i/2}$", powers),
    )
    # -- w^(1/2) + … + w^((λ−2)/2) is below a geometric series, under the condition
    rises = chain(e ** ((k + 1) / 2), at_most(z ** ((k + 1) / 2), "a power rises"), under=sp.Le(e, z))
    rest = chain(
        power(k),
        at_most(SMALL ** (k + 1), "the condition", powers, base, rises.at({z: y**2}).at({e: base.right, y: SMALL})),
        equals(most(k), "a name for it", bound),
        under=ENOUGH,
    )
    summed = chain(
        sp.Sum(power(k), (k, 0, order - 3)),
        at_most(sp.Sum(most(k), (k, 0, order - 3)), "the condition", rest),
        equals(
            (SMALL - SMALL ** (order - 1)) / (1 - SMALL),
            "a geometric sum",
            bound,
            telescoping(SMALL ** (k + 1) / (SMALL - 1)),
        ),
        at_most(SMALL / (1 - SMALL), "without its end"),
        at_most(sp.Rational(80, 73) * SMALL, "it is at most $7/80$"),
        under=ENOUGH,
    )
    leading, half = PAIRS * (t - 1) ** 2 / (m * t), order * (order - 1) / 2
    counted = chain(
        S(order, m),
        at_most(closed_form(m), "Theorem 3.7", moment),
        equals(1 + leading + sp.Sum(higher_term(m).subs(i, later), (k, 0, order - 3)), "counted from 0"),
        under=ABOVE,
    )
    total = chain(
        sp.Rational(80, 73) * SMALL * w,
        at_most(sp.Rational(4, 5) * half * (t - 1) ** 2 / (m * t), r"$\lambda/2 \le \lambda - 1$", base),
        equals(sp.Rational(4, 5) * leading, r"$\tbinom{\lambda}{2}$"),
    )
    shown = chain(
        S(order, m),
        by("Theorem 3.7", counted),
        at_most(1 + leading + w * sp.Sum(power(k), (k, 0, order - 3)), "(45)", term),
        at_most(1 + leading + w * sp.Rational(80, 73) * SMALL, "the condition", summed),
        at_most(1 + sp.Rational(9, 5) * leading, "together", total),
        under=ENOUGH,
    )
    return moment, by_claim, base, named, powers, bound, coefficient, rises, rest, term, summed, counted, total, shown


def _rounded_down() -> bool:
    """⌊x⌋ + 1 ≥ x, for fractions."""
    return all(F(u, v) <= u // v + 1 for u in range(60) for v in range(1, 12))


@derivation(
    "The simplified upper bound", f"{SOURCE}, Corollary 3.2, another proof",
    where={**MOMENT, **USERS, users: "$(n - 1)/(2t)$ rounded down, plus 1", D(order):
        r"the Rényi divergence of order $\lambda$"},
)  # fmt: skip
def corollary32() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets and any ε0-LDP randomizer is at most
    log(1 + 4C(λ, 2)(t − 1)²/n)/(λ − 1) for every integer λ ≥ 2 with 9λ⁴t⁵ ≤ n (Girgis et al. 2021, Corollary 3.2, (6),
    with C(λ, 2) as in (44)); for t > 1, and for t = 1 it is 0.

    >>> corollary32().result
    log(1 + 4*(t - 1)**2*binomial(lambda, 2)/n)/(lambda - 1)
    """
    half = {gamma: sp.Rational(1, 2), real_order: order}
    chernoff, everything, parted = cite_parts(cut, 0, 1, 2)
    alone, enough = cite(single_user_excess), cite(enough_users)
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    number = given(users, half_number, "half the mean number of doubles, rounded down, and the differing user")
    divergence = given(D(order), sp.log(whole(order)) / (order - 1), "the Rényi divergence of two datasets")
    # -- what few doubles contribute, C(λ, 2)(t − 1)² t^(λ−3) π, is at most C(λ, 2)(t − 1)²/(4nt), if n ≥ 9λ⁴t⁵
    tail = chernoff.at(half)
    power = chain(t ** (order - 2), at_most(sp.exp((order - 2) * (t - 1)), r"$\log t \le t - 1$", growing(t, 1)))
    cube = chain(sp.exp(-x), at_most(6 / x**3, r"$e^x \ge x^3/6$", growing(x, 3)))
    factor = PAIRS * (t - 1) ** 2 / t
    early = chain(
        factor * t ** (order - 2) * tail.left,
        at_most(factor * t ** (order - 2) * tail.right, "Chernoff's bound", tail),
        at_most(factor * sp.exp((order - 2) * (t - 1)) * tail.right, "a power below an exponential", power),
        equals(factor * sp.exp((order - 2) * (t - 1) - (n - 1) / (8 * t)), "one exponent"),
        at_most(factor * sp.exp(-n / (9 * t)), "the condition"),
        at_most(factor * 6 / (n / (9 * t)) ** 3, "an exponential below a power", cube.at({x: n / (9 * t)})),
        at_most(factor / (4 * n), "the condition"),
        under=(CONDITION, ABOVE),
    )
    rare, often = (one.subs(gamma, sp.Rational(1, 2)) for one in (few, many))
    leading = PAIRS * (t - 1) ** 2
    one, more = leading * t ** (order - 2) / t, sp.Rational(9, 5) * leading / (users * t)
    put_in = chain(users, equals(half_number, "by definition", number), equals(HALF, r"$\gamma = 1/2$", size))
    rounded = theorems.general(
        "rounding down loses less than 1", users, ">=", (n - 1) / (2 * t), [r"$\lfloor x \rfloor + 1$ is at least $x$"],
        [("the number", put_in)], checked=("660 fractions", _rounded_down),
    )  # fmt: skip
    bounded = chain(
        whole(order),
        at_most(S(order, 1) * rare + S(order, users) * often, "few doubles, or many", parted.at(half), number, size),
        at_most((1 + one) * rare + S(order, users) * often, "one user alone", alone),
        at_most(
            (1 + one) * rare + (1 + more) * often,
            "enough users",
            theorems.for_other_laws(enough, {m: users}, r"$\rho$ and $X$ are those of $\bar{n}$ users"),
            rounded,
        ),
        equals(1 + one * rare + more * (1 - rare), "all others", everything.at(half), size),
        at_most(1 + leading / (4 * n * t) + more * (1 - rare), "few doubles", early),
        at_most(1 + leading / (4 * n * t) + more, "no probability is negative"),
        at_most(1 + 4 * leading / n, r"$\bar{n}$ is at least $(n - 1)/(2t)$", rounded),
        under=(CONDITION, ABOVE),
    )
    shown = chain(
        D(order),
        at_most(sp.log(bounded.right) / (order - 1), r"$\log$ rises", divergence, bounded),
        under=(CONDITION, ABOVE),
    )
    return (
        size, number, chernoff, everything, parted, alone, enough, divergence, power, cube, early, put_in, bounded,
        shown,
    )  # fmt: skip
