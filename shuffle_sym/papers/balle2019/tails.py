r"""The concentration bounds of Balle et al. 2019, Section 5: Lemmas A.4, 5.5 and 5.6, Theorem 5.3, Corollary 5.3.1."""

from collections.abc import Sequence

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.blanket import lemma52
from shuffle_sym.papers.balle2019.moments import lemma54
from shuffle_sym.papers.balle2019.notation import SIMILARITY, SOURCE, eps0, gamma, m, n, t
from shuffle_sym.papers.balle2019.reduction import S, copy, lemma53
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, growing, parts
from shuffle_sym.papers.engine.derivation import Blocks, Cited, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Least, Mean, Positive, Random, quantity
from shuffle_sym.papers.laws import binomial, positive_part
from shuffle_sym.papers.proofs import LEVEL, by, cite_parts, shown_by
from shuffle_sym.papers.su2025.gparv import property2
from shuffle_sym.papers.su2025.notation import alpha
from shuffle_sym.papers.tools import F

a, b, c, r, w, x, y, z = sp.symbols("a b c r w x y z", positive=True)
T, level, rho, start = sp.symbols("T Lambda rho h'_0", positive=True)
u, rate, smaller, some = sp.symbols("u R l z", nonnegative=True)
tau, sigma = Parameter("tau", 0, 1), Parameter("sigma", 0, 1)
L, lowest = Random("L"), sp.Symbol("b_-", real=True)
sum_of_g = quantity("S_G", r"(G_1 + \dots + G_{{{0}}})", real=True)(n, Random("G"))
tail = quantity("T", r"\Pr[L_1 + \dots + L_m > {0}]", nonnegative=True)
WHERE = {a: r"$-\mathbb{E}[L]$, positive", S(m, copy): "sum of $m$ independent copies of $L$"}
whole = (u, 0, sp.oo)
h, slope = quantity("h", real=True), quantity("s", "h'({0})", real=True)
SLOPE = given(slope(u), sp.Derivative(h(u), u), "the slope of $h$")
GROWS = suppose(slope(u), ">=", start, "$h'$ grows from $h'_0$ on")


@derivation(
    "An exponential under its tangent", f"{SOURCE}, Lemma A.4, corrected: $h'$ must be positive at the start",
    {start: "$h'(0)$, which is positive"},
)  # fmt: skip
def lemma_a4() -> Blocks:
    r""":math:`\int_a^\infty e^{-h} \le e^{-h(a)}/h'(a)` for a growing h' with h'(a) > 0 (Balle et al. 2019, Lemma A.4,
    corrected; for h = x² and a = −1 the right side is negative). The start a is 0 here.

    >>> lemma_a4().result
    exp(-h(0))/h'_0
    """
    falls, up_to = sp.exp(-h(u)), (u, 0, r)
    every = chain(
        sp.Integral(falls, up_to),
        at_most(sp.Integral(slope(u) / start * falls, up_to), "$h'(u)/h'_0$ is at least 1", GROWS.at({})),
        equals(sp.Integral(slope(u) * falls, up_to) / start, "$h'_0$ is constant"),
        equals((sp.exp(-h(0)) - sp.exp(-h(r))) / start, "the integral of a derivative", theorems.general(
            "the fundamental theorem of calculus", sp.Integral(slope(u) * falls, up_to), "=",
            sp.exp(-h(0)) - sp.exp(-h(r)), [],
            [
                (
                    "$h' e^{-h}$ is the derivative of $-e^{-h}$",
                    claim(sp.Derivative(-falls, u), "=", slope(u) * falls, "the derivative of $-e^{-h}$", SLOPE),
                ),
            ],
        )),
        at_most(sp.exp(-h(0)) / start, "an exponential is not negative"),
        words="the same bound up to every $r > 0$",
    )  # fmt: skip
    return (
        SLOPE, GROWS, every, shown_by(
            "$r$ grows without end", theorems.general(
                "monotone convergence", sp.Integral(falls, whole), "<=", every.right, [],
                [("the integrand is not negative", claim(0, "<=", falls, "an exponential")), (every.words, every)],
                local=(r,),
            ),
        ),
    )  # fmt: skip


def _integrated(rate: sp.Expr, rise: sp.Expr, inequality: Applied, words: str) -> tuple[Fact, ...]:
    """E[S]_+ as an integral over its tail, the tail bounded by e^-h, and the integral by Lemma A.4; ``rate`` is h(u),
    ``rise`` is h'(u)."""
    above, s, total = quantity("1", r"\mathbf{{1}}[{0} < {1}]", nonnegative=True), sp.Symbol("s", real=True), S(m, copy)
    indicator = given(above(u, s), sp.Piecewise((1, s > u), (0, True)), "whether $s$ is above the level $u$")
    chance = given(tail(u), Mean(above(u, total)), "a probability is the mean of an indicator")
    levels = cases(*(
        chain(sp.Integral(above(u, s), whole), equals(Positive(s), why, indicator), under=sign(s, 0))
        for sign, why in ((sp.Ge, "all levels from 0 to $s$"), (sp.Le, "no level"))
    ))  # fmt: skip
    counted = sp.Integral(above(u, total), whole)
    lemma = cite(lemma_a4)
    meets = [
        (SLOPE, claim(sp.Derivative(rate, u), "=", rise, "the slope of $h$")),
        (GROWS, claim(rise, ">=", rise.subs(u, 0), "it grows", growing(u))),
    ]
    return indicator, chance, levels, lemma, chain(
        Mean(Positive(total)),
        equals(Mean(counted), "$[S]_+$ counts the levels below $S$", levels.at({s: total})),
        by("the mean and the integral change places", theorems.general(
            "Tonelli's theorem", Mean(counted), "=", sp.Integral(Mean(above(u, total)), whole), [],
            [("the integrand is not negative", claim(0, "<=", indicator.right, "an indicator"))], local=(s,),
        )),
        equals(sp.Integral(tail(u), whole), "the tail", chance),
        at_most(sp.Integral(sp.exp(-rate), whole), words, inequality),
        by("Lemma A.4", theorems.for_other_laws(
            lemma, {h(u): rate, slope(u): rise, start: rise.subs(u, 0)}, "", meets,
        )),
    )  # fmt: skip


@derivation("Hoeffding's bound on the positive part", f"{SOURCE}, Lemma 5.5", WHERE)
def lemma55() -> Blocks:
    r"""Hoeffding's inequality, integrated: :math:`E[L_1 + \dots + L_m]_+ \le \frac{b^2}{4a} e^{-2ma^2/b^2}` for
    :math:`b_- \le L \le b_+`, :math:`b = b_+ - b_-` (Balle et al. 2019, Lemma 5.5).

    >>> lemma55().result
    b**2*exp(-2*a**2*m/b**2)/(4*a)
    """
    low = suppose(lowest, "<=", L, "$L$ is at least $b_-$")
    high = suppose(L, "<=", lowest + b, "$L$ is at most $b_+ = b_- + b$")
    gap = u / m + a
    return (
        low, high, *_integrated(
            2 * m * gap**2 / b**2, 4 * gap / b**2,
            theorems.hoeffding(tail(u), m, gap, low, high, L, "the copies of $L$, whose mean is $-a$"),
            "Hoeffding's inequality, $u + am$ above the mean",
        ),
    )  # fmt: skip


@derivation("Bennett's bound on the positive part", f"{SOURCE}, Lemma 5.6, corrected", WHERE)
def lemma56() -> Blocks:
    r"""Bennett's inequality, integrated (Balle et al. 2019, Lemma 5.6, corrected): for L ≤ b and E[L²] ≤ c the first
    factor is :math:`b/\log(1 + ab/c)`, without the am of the published formula.

    L, a and b have one unit and c its square. The left side has that unit too; the published factor has none, so it
    stays where it is when L is multiplied by a large number.

    >>> lemma56().result
    b*exp(-c*m*(-a*b/c + (a*b/c + 1)*log(a*b/c + 1))/b**2)/log(a*b/c + 1)
    """

    def phi(v: sp.Expr) -> sp.Expr:
        return (1 + v) * sp.log(1 + v) - v

    high = suppose(L, "<=", b, "$L$ is at most $b$")
    square = suppose(Mean(L**2), "<=", c, "the second moment of $L$")
    far = (u + a * m) * b / (m * c)
    rate, words = m * c / b**2 * phi(far), "Bennett's inequality, $u + am$ above the mean"
    bounded = theorems.general(
        "Bennett's inequality", tail(u), "<=", sp.exp(-rate), ["the copies of $L$, whose mean is $-a$: independent"],
        [("$L$ is not above $b$", high), ("its second moment is not above $c$", square)],
    )  # fmt: skip
    return high, square, *_integrated(rate, sp.log(1 + far) / b, bounded, words)


def _by_lemma55(lemma: Cited, total: sp.Expr, count: sp.Expr, ends: Sequence[Fact], length: sp.Expr) -> Applied:
    """Lemma 5.5 for ``count`` copies of a variable with mean 1 − α; ``ends``: its mean, where it begins and ends."""
    mean, low, high = ends
    values = {S(m, copy): total, m: count, a: alpha - 1, b: length, lowest: low.right}
    meets = list(zip(lemma.supposed, (low, high), strict=True))
    return theorems.for_other_laws(
        lemma, values, f"independent copies of a variable with the values ${latex.formula(low.left)}$ and this mean",
        meets, {L: low.left}, [(r"the mean is $1 - \alpha$", mean)],
    )  # fmt: skip


@derivation(
    "Amplification in closed form", f"{SOURCE}, Theorem 5.3, (4)",
    {**SIMILARITY, alpha: r"$e^{\varepsilon}$", **LEVEL, w:
        r"$(\alpha + 1)(t - 1/t)$", smaller:
        r"$1/t \wedge y$"},
)  # fmt: skip
def theorem53() -> Blocks:
    r"""Shuffling an ε0-LDP randomizer is (ε, δ)-DP if δ is at least :math:`\frac{w^2}{4n(\alpha-1)}
    e^{-Cn(\frac1t \wedge (\alpha-1)^2/w^2)}` with w = (α + 1)(t − 1/t) and C = 1 − e^-2, for t > 1 and α > 1 (Balle et
    al. 2019, Theorem 5.3, (4)).

    The sum of Lemma 5.3 with the bound of Lemma 5.5 in it has a closed form, as E[e^(−sM)] of M ~ Bin(n, γ).

    >>> theorem53().statement[0].left
    D_alpha(Y || Y')
    """
    blanket, lemma, similarity = cite(lemma53), cite(lemma55), cite(lemma52)
    mean, high, low = cite_parts(lemma54, 0, 1, 2)
    chance, ends = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m), (alpha + 1) * (t - 1 / t)
    width, ratio = (
        given(w, ends, r"the range of $L$ has the length $\gamma w$"),
        given(y, ((alpha - 1) / w) ** 2, "in short"),
    )
    share = given(x, y / gamma**2, "the exponent of Lemma 5.5 is $2x$")
    power = given(rho, sp.exp(-2 * x), "what one more draw gains")
    exponent = given(rate, gamma * (1 - rho), "what one more user gains")
    least = given(smaller, Least(1 / t, y), r"$1/t \wedge y$")
    at_least_1_over_t = theorems.general(
        "Lemma 5.2", gamma, ">=", 1 / t, [r"$\gamma$ is that of this $R$"], [("the lemma", similarity)]
    )
    # -- γ(1 − e^(−2x)) ≥ C(1/t ∧ y) for x = y/γ², C = 1 − e^-2
    one, end = 1 - sp.exp(-2 * x), 1 - sp.exp(-2)
    few, many = sp.Le(y, 1 / t), sp.Ge(y, 1 / t)
    first, second = equals(1 / t, "$1/t$ is the smaller one", least), equals(y, "$y$ is the smaller one", least)
    below_1_over_t, below_y = (
        cases(chain(smaller, first, *more, under=many), chain(smaller, second, *less, under=few))
        for more, less in (((), (at_most(1 / t, "the smaller one"),)), ((at_most(y, "the smaller one"),), ()))
    )
    starts = (equals(gamma * (1 - rho), "by definition", exponent), equals(gamma * one, "by definition", power))
    fast = cases(
        chain(
            rate,
            *starts,
            at_least(gamma * end * x, "above its chord", theorems.general(
                "a concave function is above its chord", one, ">=", end * x, ["$x$ is in $[0, 1]$"],
                [("concave", claim(sp.Derivative(one, (x, 2)), "<=", 0, "the second derivative"))], under=sp.Le(x, 1),
            )),
            equals(end * y / gamma, r"$x = y/\gamma^2$", share),
            at_least(end * y, r"$\gamma \le 1$"),
            at_least(end * smaller, "$y$ is not below it", below_y),
            under=sp.Le(x, 1),
        ),
        chain(
            rate,
            *starts,
            at_least(gamma * end, r"$x \ge 1$"),
            at_least(end / t, "Lemma 5.2", at_least_1_over_t),
            at_least(end * smaller, "$1/t$ is not below it", below_1_over_t),
            under=sp.Ge(x, 1),
        ),
        words=r"$1 - e^{-2x} \ge C(1 \wedge x)$",
    )  # fmt: skip
    # -- the sum
    term, front = Mean(Positive(S(m, copy))), gamma * w**2 / (4 * (alpha - 1) * n)
    hoeffding = _by_lemma55(lemma, S(m, copy), m, (mean, low, high), gamma * ends)
    bounded = chain(
        term,
        at_most(hoeffding.right, "Lemma 5.5", hoeffding, at_least_1_over_t),
        equals(gamma**2 * w**2 / (4 * (alpha - 1)) * rho**m, r"a power of $\rho$", power, share, ratio, width),
        under=(sp.Gt(alpha, 1), sp.Gt(t, 1)),
    )
    bound = sp.exp(n * (z - 1))
    positive = chain(z**n, at_most(bound, r"$\log z \le z - 1$", growing(z, 1)))
    limit = bound.subs(z, some)
    tangent = cases(
        chain(some**n, at_most(limit, "as above", positive.at({z: some})), under=sp.Gt(some, 0)),
        chain(some**n, equals(0, "$z = 0$"), at_most(limit, "not negative"), under=sp.Eq(some, 0)),
    )
    none_too = sp.Symbol("m", integer=True, nonnegative=True)
    every = sp.Sum((chance * rho**m).subs(m, none_too), (none_too, 0, n))
    short = chain(
        smaller,
        equals(Least(1 / t, y), "by definition", least),
        equals(Least(1 / t, ((alpha - 1) / ends) ** 2), "written out", ratio, width),
    )
    shown = chain(
        blanket.left,
        at_most(sp.Sum(chance * term, (m, 1, n)) / (gamma * n), "Lemma 5.3", blanket),
        at_most(front * sp.Sum(chance * rho**m, (m, 1, n)), "Lemma 5.5", bounded),
        equals(front * (every - (1 - gamma) ** n), "with the term $m = 0$ and without it"),
        equals(front * ((1 - gamma + gamma * rho) ** n - (1 - gamma) ** n), "the binomial theorem"),
        at_most(front * (1 - gamma + gamma * rho) ** n, "a power is not negative"),
        at_most(front * sp.exp(n * (gamma * rho - gamma)), r"$1 - v \le e^{-v}$",
        tangent.at({some: 1 - gamma + gamma * rho})),
        equals(front * sp.exp(-n * rate), "in short", exponent),
        at_most(front * sp.exp(-n * end * smaller), r"$1 - e^{-2x} \ge C(1 \wedge x)$", fast),
        at_most(front / gamma * sp.exp(-n * end * smaller), r"$\gamma \le 1$"),
        equals(ends**2 / (4 * n * (alpha - 1)) * sp.exp(-end * n * smaller), "$w$ written out", width),
        equals(ends**2 / (4 * n * (alpha - 1)) * sp.exp(-end * n * short.right), r"and $1/t \wedge y$", short),
        under=(sp.Gt(alpha, 1), sp.Gt(t, 1)),
    )  # fmt: skip
    return (
        blanket, lemma, similarity, mean, high, low, width, ratio, share, power, exponent, least,
        below_1_over_t, below_y, fast, bounded, positive, tangent, short, shown,
    )  # fmt: skip


def _covered_copies() -> bool:
    """E[G_1 + … + G_n]_+ by how many of the copies are L/γ, the others being 0."""
    share, of_l = F(2, 5), [(F(3), F(1, 4)), (F(1), F(1, 4)), (F(-2), F(1, 2))]
    of_g = [(F(0), 1 - share), *((value / share, share * mass) for value, mass in of_l)]

    def by_number(users: int) -> F:
        return sum((mass * positive_part(of_l, i) / share for i, mass in enumerate(binomial(users, share))), F(0))

    return all(positive_part(of_g, users) == by_number(users) for users in (1, 2, 3))


@derivation(
    "Amplification in closed form, with constants", rf"{SOURCE}, Corollary 5.3.1, with constants, for "
                                                    rf"$\delta \le e^{{-(1 + \sqrt{{2}})}}$",
    {level: r"$\log(1/\delta)$", alpha: r"$e^{\varepsilon}$", **LEVEL, sum_of_g:
        "sum of $n$ independent copies of $G$", n:
        "users"},
)  # fmt: skip
def corollary531() -> Blocks:
    r"""Shuffling an ε0-LDP randomizer is (ε, δ)-DP with :math:`\varepsilon = 2\log(1 + \sqrt2)\,w\sqrt{\Lambda/n}`,
    :math:`w = (1 \wedge \varepsilon_0) e^{\varepsilon_0}`, if :math:`\Lambda = \log(1/\delta) \ge 1 + \sqrt2` and
    :math:`e^{\varepsilon_0} \le \sqrt{n/\Lambda}` (Balle et al. 2019, Corollary 5.3.1, which has O(…) for the constant;
    from Lemma 5.3 and Hoeffding's bound on G, which is below that of Theorem 5.3).

    Two parts: the divergence at α = (1 + τ)/(1 − τ), τ = tanh(ε/2), is at most δ for :math:`\tau =
    w\sqrt{\Lambda/(2n)}`, and log α is at most the ε above.

    >>> corollary531().result
    2*sqrt(Lambda)*w*log(1 + sqrt(2))/sqrt(n)
    """
    two = sp.sqrt(2)
    blanket, lemma = cite(lemma53), cite(lemma55)
    mean, lowest_g, highest_g, negative = cite_parts(property2, 0, 1, 2, 3)
    # -- the sum of Lemma 5.3 as one mean
    positive = Mean(Positive(sum_of_g))
    one = theorems.total_probability(
        positive / n, blanket.right,
        r"each of the $n$ copies of $G$ is $L/\gamma$ with probability $\gamma$, and 0 otherwise",
        checked=(r"for a law of $L$ with three values, $n \le 3$, in fractions", _covered_copies),
    )  # fmt: skip
    as_mean = equals(one.left, r"$G$ is $L/\gamma$ on the blanket, and 0 elsewhere", one)
    level_of_t = given(t, sp.exp(eps0), r"$t = e^{\varepsilon_0}$")
    width = given(T, t - 1, r"the range of $G$ has the length $(\alpha + 1)T$")
    factor = given(w, Least(1, eps0) * t, r"$w = (1 \wedge \varepsilon_0) e^{\varepsilon_0}$")
    scale = given(r, sp.sqrt(level / n), r"$r = \sqrt{\log(1/\delta)/n}$")
    end = given(sigma, 1 / two, r"the largest $\tau$")
    angle = given(tau, sigma * w * r, r"$\tau = \tanh(\varepsilon/2)$, as it is chosen")
    chosen = given(alpha, (1 + tau) / (1 - tau), r"$e^{\varepsilon}$, as it is chosen")
    many = suppose(r, "<=", 1 / t, r"$\varepsilon_0 \le \log(n/\log(1/\delta))/2$")
    small = suppose(level, ">=", 1 + two, r"$\delta \le e^{-(1 + \sqrt{2})}$")
    # -- T ≤ w ≤ t, for ε0 ≤ 1 and for ε0 ≥ 1
    low, high = sp.Le(eps0, 1), sp.Ge(eps0, 1)
    wide = cases(
        chain(
            w,
            equals(eps0 * sp.exp(eps0), r"$\varepsilon_0$ is the smaller one", factor, level_of_t),
            at_least(
                sp.exp(eps0) - 1,
                r"$e^{\varepsilon_0} - 1$ is an integral of $e^s \le e^{\varepsilon_0}$, over $s$ from 0 to "
                r"$\varepsilon_0$",
                growing(eps0),
            ),
            equals(T, "this is $t - 1$", width, level_of_t),
            under=low,
        ),
        chain(w, equals(t, "1 is the smaller one", factor), at_least(T, r"$t - 1 \le t$", width), under=high),
        words=r"$T \le w$",
    )
    narrow = cases(
        chain(w, at_most(t, r"$\varepsilon_0 \le 1$", factor), under=low),
        chain(w, equals(t, r"$\varepsilon_0 \ge 1$", factor), under=high),
        words=r"$w \le t$",
    )
    least = chain(
        tau, at_most(sigma * t * r, r"$w \le t$", angle, narrow), at_most(sigma, r"$n \ge t^2 \log(1/\delta)$", many)
    )
    # -- the divergence: for α ≤ t by Hoeffding's bound on G; beyond, where G ≤ 0, it is 0
    delta = sp.exp(-level)
    bounded = _by_lemma55(lemma, sum_of_g, n, (mean, lowest_g, highest_g), (alpha + 1) * (t - 1))

    def in_tau(x: sp.Expr, y: sp.Expr) -> sp.Expr:
        """Hoeffding's bound with x for T in the factor in front, and y for T in the exponent."""
        return x**2 / (2 * n * tau * (1 - tau)) * sp.exp(-2 * n * tau**2 / y**2)

    wider = chain(sp.exp(-2 * n * tau**2 / T**2), at_most(sp.exp(-2 * n * tau**2 / w**2), r"$T \le w$", wide))
    private = cases(
        chain(
            blanket.left,
            by("Lemma 5.3", blanket),
            as_mean,
            at_most(bounded.right / n, "Lemma 5.5", bounded),
            equals(in_tau(T, T), r"in $\tau$", chosen, width),
            at_most(in_tau(w, T), r"$T \le w$", wide),
            at_most(in_tau(w, w), "and in the exponent", wider),
            equals(tau / (level * (1 - tau)) * delta, r"the choice of $\tau$", angle, scale, end),
            at_most(sigma / (level * (1 - sigma)) * delta, r"$\tau \le \sigma$", least),
            equals((1 + two) / level * delta, r"$\sigma = 1/\sqrt{2}$", end),
            at_most(delta, r"$\log(1/\delta) \ge 1 + \sqrt{2}$", small),
            under=[sp.Gt(alpha, 1), sp.Le(alpha, t)],
        ),
        chain(
            blanket.left,
            by("Lemma 5.3", blanket),
            as_mean,
            by(
                r"$G \le 0$",
                theorems.general(
                    "a sum of numbers that are not positive",
                    positive,
                    "=",
                    0,
                    ["$S$ is the sum of $n$ copies of $G$"],
                    [("$G$ is not positive", negative)],
                ),
            ),
            at_most(delta, r"$\delta \ge 0$"),
            under=[sp.Gt(alpha, 1), sp.Ge(alpha, t)],
        ),
        within=sp.Gt(alpha, 1),
    )
    at_end = chain((1 + sigma) / (1 - sigma), equals((1 + two) ** 2, r"$e^{\varepsilon}$ at the largest $\tau$", end))
    # -- 2 artanh τ, from 0 to σ, against its chord
    curve = sp.log((1 + tau) / (1 - tau))
    chord = theorems.general(
        "a convex function is below its chord", curve, "<=", sp.log(at_end.left) * tau / sigma, [],
        [
            ("it is convex", claim(0, "<=", sp.Derivative(curve, (tau, 2)), "the second derivative")),
            ("it starts at 0", claim(sp.Subs(curve, tau, 0), "=", 0, "the value at 0")),
            (r"$\tau$ is not beyond the end", least),
        ],
    )  # fmt: skip
    level_of_alpha = chain(
        sp.log(alpha),
        equals(chord.left, r"$\varepsilon = 2 \operatorname{artanh} \tau$", chosen),
        by(r"$\operatorname{artanh}$ is convex", chord),
        equals(2 * sp.log(1 + two) * tau / sigma, r"$2 \operatorname{artanh} \sigma = 2 \log(1 + \sqrt{2})$", at_end),
        equals(2 * sp.log(1 + two) * w * sp.sqrt(level / n), r"the choice of $\tau$", angle, scale),
    )
    return (
        level_of_t, width, factor, scale, end, angle, chosen, blanket, lemma, mean, lowest_g, highest_g, negative, many,
        small, wide, narrow, least, wider, private, at_end, level_of_alpha, parts(private, level_of_alpha),
    )  # fmt: skip
