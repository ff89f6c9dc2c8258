r"""The concentration bounds of Balle et al. 2019, Section 5: Lemmas A.4, 5.5 and 5.6, Theorem 5.3, Corollary 5.3.1."""

import math
from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from shuffle_sym.algebra import field, latex
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.blanket import SOURCE, lemma52
from shuffle_sym.papers.balle2019.moments import lemma54
from shuffle_sym.papers.balle2019.reduction import S, copy, lemma53
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, growing, parts
from shuffle_sym.papers.engine.derivation import Blocks, Cited, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Least, Mean, Positive, Random, quantity
from shuffle_sym.papers.laws import positive_part
from shuffle_sym.papers.su2025.gparv import alpha, property2

t = field.t
a, b, c = sp.symbols("a b c", positive=True)
m, n = sp.symbols("m n", positive=True, integer=True)
u = sp.Symbol("u", nonnegative=True)
gamma = Parameter("gamma", 0, 1)
eps0 = sp.Symbol("epsilon_0", positive=True)
T, w, r, level = sp.symbols("T w r Lambda", positive=True)
x, y, z, rho = sp.symbols("x y z rho", positive=True)
rate, smaller, some = sp.symbols("R l z", nonnegative=True)
tau, sigma = Parameter("tau", 0, 1), Parameter("sigma", 0, 1)
L, lowest = Random("L"), sp.Symbol("b_-", real=True)
sum_of_g = quantity("S_G", r"(G_1 + \dots + G_{{{0}}})", real=True)(n, Random("G"))
tail = quantity("T", r"\Pr[L_1 + \dots + L_m > {0}]", nonnegative=True)
WHERE = {a: r"$-\mathbb{E}[L]$, positive", S(m, copy): "sum of $m$ independent copies of $L$"}
whole = (u, 0, sp.oo)
h, slope = quantity("h", real=True), quantity("s", "h'({0})", real=True)
start = sp.Symbol("h'_0", positive=True)
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
    below = claim(sp.Derivative(-falls, u), "=", slope(u) * falls, "the derivative of $-e^{-h}$", SLOPE)
    derivative = theorems.general(
        "the fundamental theorem of calculus", sp.Integral(slope(u) * falls, up_to), "=", sp.exp(-h(0)) - sp.exp(-h(r)),
        [], [("$h' e^{-h}$ is the derivative of $-e^{-h}$", below)],
    )  # fmt: skip
    every = chain(
        sp.Integral(falls, up_to),
        at_most(sp.Integral(slope(u) / start * falls, up_to), "$h'(u)/h'_0$ is at least 1", GROWS.at({})),
        equals(sp.Integral(slope(u) * falls, up_to) / start, "$h'_0$ is constant"),
        equals((sp.exp(-h(0)) - sp.exp(-h(r))) / start, "the integral of a derivative", derivative),
        at_most(sp.exp(-h(0)) / start, "an exponential is not negative"),
        words="the same bound up to every $r > 0$",
    )
    limit = theorems.general(
        "monotone convergence", sp.Integral(falls, whole), "<=", every.right, [],
        [("the integrand is not negative", claim(0, "<=", falls, "an exponential")), (every.words, every)], local=(r,),
    )  # fmt: skip
    return SLOPE, GROWS, every, chain(limit.left, at_most(limit.right, "$r$ grows without end", limit))


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
    tonelli = theorems.general(
        "Tonelli's theorem", Mean(counted), "=", sp.Integral(Mean(above(u, total)), whole), [],
        [("the integrand is not negative", claim(0, "<=", indicator.right, "an indicator"))], local=(s,),
    )  # fmt: skip
    lemma = cite(lemma_a4)
    meets = [
        (SLOPE, claim(sp.Derivative(rate, u), "=", rise, "the slope of $h$")),
        (GROWS, claim(rise, ">=", rise.subs(u, 0), "it grows", growing(u))),
    ]
    tangent = theorems.for_other_laws(lemma, {h(u): rate, slope(u): rise, start: rise.subs(u, 0)}, "", meets)
    shown = chain(
        Mean(Positive(total)),
        equals(Mean(counted), "$[S]_+$ counts the levels below $S$", levels.at({s: total})),
        equals(tonelli.right, "the mean and the integral change places", tonelli),
        equals(sp.Integral(tail(u), whole), "the tail", chance),
        at_most(sp.Integral(sp.exp(-rate), whole), words, inequality),
        at_most(tangent.right, "Lemma A.4", tangent),
    )
    return indicator, chance, levels, lemma, shown


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
    bounded = theorems.hoeffding(tail(u), m, gap, low, high, L, "the copies of $L$, whose mean is $-a$")
    words = "Hoeffding's inequality, $u + am$ above the mean"
    return low, high, *_integrated(2 * m * gap**2 / b**2, 4 * gap / b**2, bounded, words)


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
    words = f"independent copies of a variable with the values ${latex.formula(low.left)}$ and this mean"
    meets = list(zip(lemma.supposed, (low, high), strict=True))
    return theorems.for_other_laws(lemma, values, words, meets, {L: low.left}, [(r"the mean is $1 - \alpha$", mean)])


def _rate(named: Sequence[Fact], similarity: Fact) -> tuple[Fact, ...]:
    """γ(1 − e^(−2x)) ≥ C(1/t ∧ y) for x = y/γ², C = 1 − e^-2."""
    power, exponent, share, _, least = named
    one, end = 1 - sp.exp(-2 * x), 1 - sp.exp(-2)
    few, many = sp.Le(y, 1 / t), sp.Ge(y, 1 / t)
    chord = theorems.general(
        "a concave function is above its chord", one, ">=", end * x, ["$x$ is in $[0, 1]$"],
        [("concave", claim(sp.Derivative(one, (x, 2)), "<=", 0, "the second derivative"))], under=sp.Le(x, 1),
    )  # fmt: skip
    below = [
        cases(
            chain(smaller, equals(1 / t, "$1/t$ is the smaller one", least), *first, under=many),
            chain(smaller, equals(y, "$y$ is the smaller one", least), *second, under=few),
        )
        for first, second in (((), (at_most(1 / t, "the smaller one"),)), ((at_most(y, "the smaller one"),), ()))
    ]
    starts = (equals(gamma * (1 - rho), "by definition", exponent), equals(gamma * one, "by definition", power))
    near = chain(
        rate,
        *starts,
        at_least(gamma * end * x, "above its chord", chord),
        equals(end * y / gamma, r"$x = y/\gamma^2$", share),
        at_least(end * y, r"$\gamma \le 1$"),
        at_least(end * smaller, "$y$ is not below it", below[1]),
        under=sp.Le(x, 1),
    )
    far = chain(
        rate,
        *starts,
        at_least(gamma * end, r"$x \ge 1$"),
        at_least(end / t, "Lemma 5.2", similarity),
        at_least(end * smaller, "$1/t$ is not below it", below[0]),
        under=sp.Ge(x, 1),
    )
    return *below, cases(near, far, words=r"$1 - e^{-2x} \ge C(1 \wedge x)$")


def _tangent() -> tuple[Fact, Fact]:
    """z^n ≤ e^(n(z−1)) for z > 0, and for z ≥ 0."""
    bound = sp.exp(n * (z - 1))
    positive = chain(z**n, at_most(bound, r"$\log z \le z - 1$", growing(z, 1)))
    below = bound.subs(z, some)
    more = chain(some**n, at_most(below, "as above", positive.at({z: some})), under=sp.Gt(some, 0))
    none = chain(some**n, equals(0, "$z = 0$"), at_most(below, "not negative"), under=sp.Eq(some, 0))
    return positive, cases(more, none)


@derivation(
    "Amplification in closed form", f"{SOURCE}, Theorem 5.3, (4)",
    {gamma: "total variation similarity", alpha: r"$e^{\varepsilon}$", t: r"$e^{\varepsilon_0}$", w:
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
    mean, high, low = (cite(lemma54, part=part) for part in range(3))
    chance, ends = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m), (alpha + 1) * (t - 1 / t)
    width, ratio = (
        given(w, ends, r"the range of $L$ has the length $\gamma w$"),
        given(y, ((alpha - 1) / w) ** 2, "in short"),
    )
    share = given(x, y / gamma**2, "the exponent of Lemma 5.5 is $2x$")
    power = given(rho, sp.exp(-2 * x), "what one more draw gains")
    exponent = given(rate, gamma * (1 - rho), "what one more user gains")
    least = given(smaller, Least(1 / t, y), r"$1/t \wedge y$")
    name = "Lemma 5.2"
    at_least_1_over_t = theorems.general(
        name, gamma, ">=", 1 / t, [r"$\gamma$ is that of this $R$"], [("the lemma", similarity)]
    )
    *below, fast = _rate((power, exponent, share, ratio, least), at_least_1_over_t)
    term, front = Mean(Positive(S(m, copy))), gamma * w**2 / (4 * (alpha - 1) * n)
    hoeffding = _by_lemma55(lemma, S(m, copy), m, (mean, low, high), gamma * ends)
    bounded = chain(
        term,
        at_most(hoeffding.right, "Lemma 5.5", hoeffding, at_least_1_over_t),
        equals(gamma**2 * w**2 / (4 * (alpha - 1)) * rho**m, r"a power of $\rho$", power, share, ratio, width),
        under=(sp.Gt(alpha, 1), sp.Gt(t, 1)),
    )
    positive, tangent = _tangent()
    constant, none_too = 1 - sp.exp(-2), sp.Symbol("m", integer=True, nonnegative=True)
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
        at_most(front * sp.exp(-n * constant * smaller), r"$1 - e^{-2x} \ge C(1 \wedge x)$", fast),
        at_most(front / gamma * sp.exp(-n * constant * smaller), r"$\gamma \le 1$"),
        equals(ends**2 / (4 * n * (alpha - 1)) * sp.exp(-constant * n * smaller), "$w$ written out", width),
        equals(ends**2 / (4 * n * (alpha - 1)) * sp.exp(-constant * n * short.right), r"and $1/t \wedge y$", short),
        under=(sp.Gt(alpha, 1), sp.Gt(t, 1)),
    )  # fmt: skip
    cited = (blanket, lemma, similarity, mean, high, low)
    return *cited, width, ratio, share, power, exponent, least, *below, fast, bounded, positive, tangent, short, shown


def _covered_copies() -> bool:
    """E[G_1 + … + G_n]_+ by how many of the copies are L/γ, the others being 0."""
    share, quarter = Fraction(2, 5), Fraction(1, 4)
    of_l = [(Fraction(3), quarter), (Fraction(1), quarter), (Fraction(-2), 2 * quarter)]
    of_g = [(Fraction(0), 1 - share), *((value / share, share * mass) for value, mass in of_l)]

    def by_number(users: int) -> Fraction:
        law = ((i, math.comb(users, i) * share**i * (1 - share) ** (users - i)) for i in range(1, users + 1))
        return sum((mass * positive_part(of_l, i) / share for i, mass in law), Fraction(0))

    return all(positive_part(of_g, users) == by_number(users) for users in (1, 2, 3))


def _sum_of_g() -> tuple[tuple[Fact, ...], Applied, Applied, Applied]:
    """What is cited; the sum of Lemma 5.3 as one mean; E[S]_+ by Lemma 5.5 where α ≤ t, and where α ≥ t."""
    blanket, lemma = cite(lemma53), cite(lemma55)
    mean, low, high, negative = (cite(property2, part=part) for part in range(4))
    positive = Mean(Positive(sum_of_g))
    one = theorems.total_probability(
        positive / n, blanket.right, r"each of the $n$ copies of $G$ is $L/\gamma$ with probability $\gamma$, and "
                                     r"0 otherwise",
        checked=(r"for a law of $L$ with three values, $n \le 3$, in fractions", _covered_copies),
    )  # fmt: skip
    bounded = _by_lemma55(lemma, sum_of_g, n, (mean, low, high), (alpha + 1) * (t - 1))
    none = theorems.general(
        "a sum of numbers that are not positive", positive, "=", 0, ["$S$ is the sum of $n$ copies of $G$"],
        [("$G$ is not positive", negative)],
    )  # fmt: skip
    return (blanket, lemma, mean, low, high, negative), one, bounded, none


def _width_of_g(level_of_t: Fact, width: Fact, factor: Fact) -> tuple[Fact, Fact]:
    """T ≤ w ≤ t, for ε0 ≤ 1 and for ε0 ≥ 1."""
    low, high = sp.Le(eps0, 1), sp.Ge(eps0, 1)
    at_low = chain(
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
    )
    at_high = chain(w, equals(t, "1 is the smaller one", factor), at_least(T, r"$t - 1 \le t$", width), under=high)
    below = (
        chain(w, at_most(t, r"$\varepsilon_0 \le 1$", factor), under=low),
        chain(w, equals(t, r"$\varepsilon_0 \ge 1$", factor), under=high),
    )
    return cases(at_low, at_high, words=r"$T \le w$"), cases(*below, words=r"$w \le t$")


def _front(x: sp.Expr, y: sp.Expr) -> sp.Expr:
    """Hoeffding's bound on G in τ: with x for T in the factor in front, and y for T in the exponent."""
    return x**2 / (2 * n * tau * (1 - tau)) * sp.exp(-2 * n * tau**2 / y**2)


def _at_most_delta(
    blanket: Fact, sums: Sequence[Applied], named: Sequence[Fact], wide: Fact, least: Fact
) -> tuple[Fact, Fact]:
    """The divergence, for α ≤ t by Hoeffding's bound on G; beyond, where G ≤ 0, it is 0."""
    one, bounded, none = sums
    as_mean = equals(one.left, r"$G$ is $L/\gamma$ on the blanket, and 0 elsewhere", one)
    width, scale, end, angle, chosen, small = named
    delta, two, some = sp.exp(-level), sp.sqrt(2), sp.Gt(alpha, 1)
    wider = chain(sp.exp(-2 * n * tau**2 / T**2), at_most(sp.exp(-2 * n * tau**2 / w**2), r"$T \le w$", wide))
    by_hoeffding = chain(
        blanket.left,
        at_most(blanket.right, "Lemma 5.3", blanket),
        as_mean,
        at_most(bounded.right / n, "Lemma 5.5", bounded),
        equals(_front(T, T), r"in $\tau$", chosen, width),
        at_most(_front(w, T), r"$T \le w$", wide),
        at_most(_front(w, w), "and in the exponent", wider),
        equals(tau / (level * (1 - tau)) * delta, r"the choice of $\tau$", angle, scale, end),
        at_most(sigma / (level * (1 - sigma)) * delta, r"$\tau \le \sigma$", least),
        equals((1 + two) / level * delta, r"$\sigma = 1/\sqrt{2}$", end),
        at_most(delta, r"$\log(1/\delta) \ge 1 + \sqrt{2}$", small),
        under=[some, sp.Le(alpha, t)],
    )
    nothing = chain(
        blanket.left, at_most(blanket.right, "Lemma 5.3", blanket), as_mean, equals(0, r"$G \le 0$", none),
        at_most(delta, r"$\delta \ge 0$"),
        under=[some, sp.Ge(alpha, t)],
    )  # fmt: skip
    return wider, cases(by_hoeffding, nothing, within=some)


def _below_chord(least: Fact, at_end: Fact) -> Applied:
    """2 artanh τ, from 0 to σ, against its chord."""
    curve = sp.log((1 + tau) / (1 - tau))
    return theorems.general(
        "a convex function is below its chord", curve, "<=", sp.log(at_end.left) * tau / sigma,
        [],
        [
            ("it is convex", claim(0, "<=", sp.Derivative(curve, (tau, 2)), "the second derivative")),
            ("it starts at 0", claim(sp.Subs(curve, tau, 0), "=", 0, "the value at 0")),
            (r"$\tau$ is not beyond the end", least),
        ],
    )  # fmt: skip


@derivation(
    "Amplification in closed form, with constants", rf"{SOURCE}, Corollary 5.3.1, with constants, for "
                                                    rf"$\delta \le e^{{-(1 + \sqrt{{2}})}}$",
    {level: r"$\log(1/\delta)$", alpha: r"$e^{\varepsilon}$", t: r"$e^{\varepsilon_0}$", sum_of_g:
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
    cited, *sums = _sum_of_g()
    level_of_t = given(t, sp.exp(eps0), r"$t = e^{\varepsilon_0}$")
    width = given(T, t - 1, r"the range of $G$ has the length $(\alpha + 1)T$")
    factor = given(w, Least(1, eps0) * t, r"$w = (1 \wedge \varepsilon_0) e^{\varepsilon_0}$")
    scale = given(r, sp.sqrt(level / n), r"$r = \sqrt{\log(1/\delta)/n}$")
    end = given(sigma, 1 / two, r"the largest $\tau$")
    angle = given(tau, sigma * w * r, r"$\tau = \tanh(\varepsilon/2)$, as it is chosen")
    chosen = given(alpha, (1 + tau) / (1 - tau), r"$e^{\varepsilon}$, as it is chosen")
    many = suppose(r, "<=", 1 / t, r"$\varepsilon_0 \le \log(n/\log(1/\delta))/2$")
    small = suppose(level, ">=", 1 + two, r"$\delta \le e^{-(1 + \sqrt{2})}$")
    wide, narrow = _width_of_g(level_of_t, width, factor)
    least = chain(
        tau, at_most(sigma * t * r, r"$w \le t$", angle, narrow), at_most(sigma, r"$n \ge t^2 \log(1/\delta)$", many)
    )
    wider, private = _at_most_delta(cited[0], sums, (width, scale, end, angle, chosen, small), wide, least)
    at_end = chain((1 + sigma) / (1 - sigma), equals((1 + two) ** 2, r"$e^{\varepsilon}$ at the largest $\tau$", end))
    chord = _below_chord(least, at_end)
    level_of_alpha = chain(
        sp.log(alpha),
        equals(chord.left, r"$\varepsilon = 2 \operatorname{artanh} \tau$", chosen),
        at_most(chord.right, r"$\operatorname{artanh}$ is convex", chord),
        equals(2 * sp.log(1 + two) * tau / sigma, r"$2 \operatorname{artanh} \sigma = 2 \log(1 + \sqrt{2})$", at_end),
        equals(2 * sp.log(1 + two) * w * sp.sqrt(level / n), r"the choice of $\tau$", angle, scale),
    )
    return (level_of_t, width, factor, scale, end, angle, chosen, *cited, many, small, wide, narrow, least, wider,
            private, at_end, level_of_alpha, parts(private, level_of_alpha))  # fmt: skip
