r"""The protocols of Balle et al. 2019: how private randomized response is to who knows who answered randomly
(Theorem 3.1), and what sums and counts estimate, and how well (Theorem 4.1)."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.notation import SOURCE, n
from shuffle_sym.papers.balle2019.variances import (
    COUNT,
    FOUND_VARIANCE,
    MATCH_VARIANCE,
    MESSAGE_VARIANCE,
    SAFE_VARIANCE,
    WORST_VARIANCE,
    C,
    N,
    first,
    gamma,
    half,
    k,
    p,
    q,
    rest,
    second,
    users,
    x,
)
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, claim, equals, growing, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Random, quantity
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.randomizers import KRR

# ----------------------------------------------------------------- counts: against who knows who answered randomly

n1, n2, kept = sp.symbols("n_1 n_2 B", positive=True, integer=True)
others, delta, noisy, above, below, level = sp.symbols("r delta mu d_1 d_2 Lambda", positive=True)
eps = Parameter("epsilon", 0, 1)
P, Q = quantities("P Q", positive=True)
high, low, tail = sp.symbols("T_+ T_- T", nonnegative=True)
Y = sp.symbols("M M'")
VIEWS = {
    n1: "messages 1 that are left when truthful ones of the others are taken away",
    noisy: r"$\gamma(n - 1)/k$, the mean of $n_2$",
    tail: r"$\Pr[n_1/n_2 \ge e^{\varepsilon}]$ where the user answers truthfully",
    high: r"$\Pr[n_1 \ge \mu e^{\varepsilon/2}]$",
    low: r"$\Pr[n_2 \le \mu e^{-\varepsilon/2}]$",
}


SMALL = sp.exp(-noisy * eps**2 / 14)
#: The conditions of the theorem.
MANY, ENOUGH = sp.Ge(noisy, 14 * level / eps**2), sp.Ge(noisy, 27 / eps)


@derivation("Shuffled randomized response is private", f"{SOURCE}, Theorem 3.1", VIEWS)
def theorem31() -> Blocks:
    r"""k-RR with :math:`\gamma = \max\{\frac{14k\log(2/\delta)}{(n-1)\varepsilon^2}, \frac{27k}{(n-1)\varepsilon}\}` is
    (ε, δ)-DP for ε ≤ 1 (Balle et al. 2019, Theorem 3.1). In terms of μ = γ(n − 1)/k: με² ≥ 14 log(2/δ) and με ≥ 27.

    >>> theorem31().result
    delta
    """
    views = [
        given(one(n1, n2), sp.factorial(kept) * others / (sp.factorial(n1 - i) * sp.factorial(n2 - 1 + i)), words)
        for one, i, words in ((P, 1, "a view if the user has 1"), (Q, 0, "a view if the user has 2"))
    ]
    ratio = chain(P(n1, n2), equals(n1 / n2 * Q(n1, n2), "the multinomials", *views))
    far = given(
        above, sp.exp(eps / 2) - 1 - 1 / noisy, r"how far $n_1 - 1$ is above its mean $\mu$, as a share of $\mu$"
    )
    near = given(below, 1 - sp.exp(-eps / 2), "how far $n_2$ is below")
    target = given(level, sp.log(2 / delta), "in short")
    # -- both counts are far off with probability e^(-με²/14) at most, by Chernoff
    grown = chain(
        sp.exp(eps / 2) - 1 - eps / 27,
        at_least(25 * eps / 54, r"$e^{\varepsilon/2} \ge 1 + \varepsilon/2$", growing(eps, 0)),
    )
    first = chain(
        above,
        at_least(sp.exp(eps / 2) - 1 - eps / 27, r"$\mu \ge 27/\varepsilon$", far),
        at_least(25 * eps / 54, "as above", grown),
        under=ENOUGH,
    )
    largest = chain(sp.exp(eps / 2), at_most(sp.exp(half), r"$\varepsilon \le 1$"))
    small = chain(above, at_most(sp.exp(half) - 1, r"$\varepsilon \le 1$", far, largest), at_most(1, "a number"))
    second = chain(
        below,
        equals(1 - sp.exp(-eps / 2), "the definition", near),
        by("above its chord on $[0, 1]$", theorems.general(
            "a concave function is above its chord", 1 - sp.exp(-eps / 2), ">=", eps * (1 - sp.exp(-half)), (),
            [("concave", claim(sp.Derivative(1 - sp.exp(-eps / 2), (eps, 2)), "<=", 0, "second derivative"))],
        )),
        at_least(19 * eps / 50, r"a number, above $1/\sqrt{7}$"),
    )  # fmt: skip
    name, sums = "Chernoff's inequality", r"$n - 1$ independent users choose the message with probability $\gamma/k$"
    upper = theorems.general(name, high, "<=", sp.exp(-noisy * above**2 / 3), [sums], [(r"$d_1 \le 1$", small)])
    lower = theorems.general(
        name, low, "<=", sp.exp(-noisy * below**2 / 2), [sums], [(r"$d_2 \ge 0$", claim(0, "<=", below, "a share"))]
    )
    tails: list[Fact] = [
        chain(one, by(name, bound), at_most(SMALL, words, size), under=size.under)
        for one, bound, words, size in (
            (high, upper, r"$3\cdot 54^2/25^2 \le 14$", first),
            (low, lower, r"$2\cdot 50^2/19^2 \le 14$", second),
        )
    ]
    reached = chain(
        SMALL,
        at_most(sp.exp(-level), r"$\mu \ge 14 \log(2/\delta)/\varepsilon^2$"),
        equals(delta / 2, "in short", target),
        under=MANY,
    )
    some = sp.Symbol("u", positive=True)
    return (
        *views, ratio, far, near, target, grown, first, largest, small, second, *tails, reached, chain(
            Divergence(sp.exp(eps), *Y),
            by("the views with a large ratio", theorems.general(
                "a divergence is at most the probability of a large ratio", Divergence(sp.exp(eps), *Y), "<=", tail,
                ["where the user answers randomly both views have one law; the view tells the messages"],
                [("the ratio is $n_1/n_2$", ratio)],
            )),
            by("one of two counts is far off", theorems.general(
                "the union bound", tail, "<=", high + low,
                [r"$n_1 < \mu e^{\varepsilon/2}$ and $n_2 > \mu e^{-\varepsilon/2}$ give $n_1/n_2 < e^{\varepsilon}$"],
                [
                    (
                        r"$n_1 \ge e^{\varepsilon} n_2$", claim(
                            noisy * sp.exp(eps / 2), "<=", some * sp.exp(eps), r"$n_1$ is above $e^{\varepsilon} n_2$",
                            under=sp.Ge(some, noisy * sp.exp(-eps / 2)),
                        ),
                    ),
                ], local=(some,),
            )),
            at_most(2 * SMALL, "Chernoff's inequality, twice", *tails),
            at_most(delta, "both halves", reached),
            under=(MANY, ENOUGH),
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- sums

c, logarithm, z = sp.symbols("c l z", positive=True)  # l is log(1/δ), z is (n/c)^(1/3)
cell = sp.Symbol("j", nonnegative=True)  # kx = j + f, and f is rounded at random


rounded, uniform, sent = (
    quantity(name, rf"\mathbb{{{{E}}}}[{letter}^{{{{{{0}}}}}}]", real=True)
    for name, letter in (("X", r"\bar x"), ("U", "U"), ("Y", "y"))
)
WHERE = {gamma: "probability of a random answer", cell: "the whole part of $kx$", rest: "the rest of $kx$"}
#: E[y^r] of a message y of a user with kx = j + f, from Algorithm 2.
_power, _value = sp.symbols("r i", integer=True, nonnegative=True)
IN_CELL = given(x, (cell + rest) / k, "$kx = j + f$: $j$ is whole, $f$ is rounded at random")
MOMENTS = (
    given(uniform(_power), sp.Sum(_value**_power / (k + 1), (_value, 0, k)), r"a random value of $0, \dots, k$"),
    given(rounded(_power), (1 - rest) * cell**_power + rest * (cell + 1) ** _power, "the rounded input"),
    given(sent(_power), (1 - gamma) * rounded(_power) + gamma * uniform(_power), r"random with probability $\gamma$"),
)


@derivation("The estimated sum is unbiased", f"{SOURCE}, Theorem 4.1", WHERE)
def sum_unbiased() -> Blocks:
    r"""The analyzer of Algorithm 3 is unbiased (Balle et al. 2019, Theorem 4.1): with γ = c(k + 1)/n one message y of a
    user with input x has :math:`\bigl(E[y]/k - \frac{c(k+1)}{2n}\bigr)/\bigl(1 - \frac{c(k+1)}{n}\bigr) = x`.

    >>> sum_unbiased().result
    x
    """
    share = given(gamma, c * (k + 1) / n, "Algorithm 2")
    mean = chain(
        sent(1),
        equals(
            (1 - gamma) * (cell + rest) + gamma * k / 2,
            "rounding keeps the mean, a random value has $k/2$",
            *MOMENTS[::-1],
        ),
        equals((1 - gamma) * k * x + gamma * k / 2, "$kx = j + f$", IN_CELL),
    )
    return share, *MOMENTS, IN_CELL, mean, chain(
        (sent(1) / k - c * (k + 1) / (2 * n)) / (1 - c * (k + 1) / n),
        equals((sent(1) / k - gamma / 2) / (1 - gamma), r"$\gamma = c(k + 1)/n$", share),
        equals(x, "the mean of a message", mean.at({})),
    )  # fmt: skip


@derivation("Variance of one message", f"{SOURCE}, Theorem 4.1", WHERE)
def sum_variance() -> Blocks:
    r"""The exact variance of one message, and that the bound of Theorem 4.1 (Balle et al. 2019) follows from it:

    .. math:: V[y/k] = (1-\gamma)\frac{f(1-f)}{k^2} + \gamma(1-\gamma)\bigl(x - \tfrac12\bigr)^2
              + \gamma\frac{k+2}{12k} \le \frac{1-\gamma}{4k^2} + \frac\gamma2.

    The MSE of the sum is :math:`\sum_i V[y_i/k]/(1-\gamma)^2`: users are independent and the estimate is unbiased.

    >>> sum_variance().result
    gamma/2 + (1 - gamma)/(4*k**2)
    """
    V, spread, off = sp.symbols("V v e", nonnegative=True)
    variance = given(V, sent(2) / k**2 - (sent(1) / k) ** 2, "the variance of $y/k$")
    noise = given(spread, rest * (1 - rest), "what rounding adds")
    away = given(off, (x - half) ** 2, "how far the input is from the middle")
    exact = chain(
        V,
        equals((1 - gamma) * spread / k**2 + gamma * (1 - gamma) * off + gamma * (k + 2) / (12 * k),
               "first and second moments", variance, *MOMENTS[::-1], noise, away, IN_CELL),
        equals(MESSAGE_VARIANCE, "in $f$ and $x$", noise, away),
    )  # fmt: skip
    rounding = chain(spread, equals(half**2 - (rest - half) ** 2, "a square", noise), at_most(half**2, "not negative"))
    middle = chain(off, equals(half**2 - x * (1 - x), "a square", away), at_most(half**2, r"$0 \le x \le 1$"))
    bound = chain(
        V,
        equals((1 - gamma) * spread / k**2 + gamma * (1 - gamma) * off + gamma * (k + 2) / (12 * k), "as above",
               exact, noise, away),
        at_most((1 - gamma) / (4 * k**2) + gamma * (1 - gamma) / 4 + gamma * (k + 2) / (12 * k), "both at most $1/4$",
                rounding, middle),
        at_most((1 - gamma) / (4 * k**2) + gamma / 2, r"$k \ge 1$"),
        under=sp.Le(gamma, 1),
    )  # fmt: skip
    return *MOMENTS, IN_CELL, variance, noise, away, exact, rounding, middle, bound, parts(exact, bound)


@derivation(
    "The error of the sum", f"{SOURCE}, Theorem 4.1, with a constant and its conditions",
    {**WHERE, logarithm: r"$\log(1/\delta)$", z: "$(n/c)^{1/3}$", k: "the precision, $z$ rounded up"},
)  # fmt: skip
def theorem41() -> Blocks:
    r"""For ε ≤ 1, δ ≤ 1/4 and n ≥ 64c, c = 42 log(1/δ)/ε², the protocol with c and k = z rounded up, z = (n/c)^(1/3),
    is (ε, δ)-DP and has MSE ≤ 5/4 · 42^(2/3) n^(1/3) log^(2/3)(1/δ)/ε^(4/3), whose constant is below 16
    (Balle et al. 2019, Theorem 4.1, which has O(…), and no condition on n; without one it is false, see B-Cor4.1.1).

    >>> theorem41().result
    5*42**(2/3)*l**(2/3)*n**(1/3)/(4*epsilon**(4/3))
    """
    laws = (unbiased, variance, privacy) = cite(sum_unbiased), cite(sum_variance, part=1), cite(theorem31)
    mse, V, third = sp.Symbol("MSE", nonnegative=True), variance.left, sp.Rational(1, 3)
    # -- γ = c(k + 1)/n with c = 42 log(1/δ)/ε² is enough for Theorem 3.1, if δ ≤ 1/4 and n ≥ 2
    chosen = given(c, 42 * logarithm / eps**2, "the choice of $c$")
    reached = given(
        noisy, c * (n - 1) / n, r"$\gamma(n - 1)/(k + 1)$: how often another user sends a message at random"
    )
    short = given(logarithm, sp.log(1 / delta), "in short")
    double = given(level, sp.log(2 / delta), "in short")
    enough = sp.Ge(logarithm, 2 * sp.log(2))
    often_enough = chain(
        noisy,
        equals(c * (n - 1) / n, "by definition", reached),
        at_least(c / 2, r"$n \ge 2$"),
        equals(21 * logarithm / eps**2, "the choice of $c$", chosen),
        under=sp.Ge(n, 2),
    )
    logs = chain(
        level,
        equals(sp.log(2) + logarithm, r"$\log(2/\delta)$", double, short),
        at_most(sp.Rational(3, 2) * logarithm, r"$\delta \le 1/4$"),
        under=enough,
    )
    many = chain(
        noisy,
        at_least(21 * logarithm / eps**2, "as above", often_enough),
        at_least(14 * level / eps**2, r"$\log(2/\delta) \le 3/2 \log(1/\delta)$", logs),
        under=(sp.Ge(n, 2), enough),
    )
    often = chain(
        noisy,
        at_least(21 * logarithm / eps**2, "as above", often_enough),
        at_least(27 / eps, r"$21 \log 4 \ge 27$, and $\varepsilon \le 1$"),
        under=(sp.Ge(n, 2), enough),
    )
    # -- the error
    share, root = given(gamma, c * (k + 1) / n, "Algorithm 2"), given(z, (n / c) ** third, "in short")
    up, near = Parameter("u", 0, 1), sp.Ge(z, 4)
    whole = suppose(k, "=", z + up, "$k$ is $z$ rounded up, $u$ is at most 1")
    few = chain(
        gamma,
        equals(c * (k + 1) / n, "Algorithm 2", share),
        equals((k + 1) / z**3, "$n = cz^3$", root),
        at_most((z + 2) / z**3, r"$k \le z + 1$", whole),
    )
    message = chain(
        V,
        at_most((1 - gamma) / (4 * k**2) + gamma / 2, "the variance of a message", variance, few),
        at_most(1 / (4 * k**2) + gamma / 2, r"$\gamma$ is not negative"),
        at_most(1 / (4 * z**2) + gamma / 2, r"$k \ge z$", whole),
        under=near,
    )
    error = chain(
        mse,
        by("the variances add up", theorems.general(
            "independence", mse, "=", n * V / (1 - gamma) ** 2,
            ["the users are independent, and $V$ is the largest variance of a message $y/k$"], [("unbiased", unbiased)],
        )),
        at_most(n / (1 - gamma) ** 2 * (1 / (4 * z**2) + gamma / 2), "each message", message, few),
        at_most(sp.Rational(5, 4) * n / z**2, r"$\gamma \le (z + 2)/z^3$, and $z \ge 4$", few),
        equals(sp.Rational(5, 4) * n**third * c ** (2 * third), "$z$ in $n$ and $c$", root),
        equals(sp.Rational(5, 4) * n**third * (42 * logarithm / eps**2) ** (2 * third), "the choice of $c$", chosen),
        under=near,
    )  # fmt: skip
    private = chain(privacy.left, at_most(delta, "Theorem 3.1", privacy, many, often), under=many.under)
    return (
        short, double, chosen, reached, often_enough, logs, many, often, share, root, whole, *laws, few, message,
        private, error, parts(many, often, private, error),
    )  # fmt: skip


@derivation("The worst input of the sum", f"sharpens {SOURCE}, Theorem 4.1", WHERE)
def sum_worst_case() -> Blocks:
    r"""The worst input, exactly: sup V[y/k] is :math:`\frac{\gamma(1-\gamma)}{4} + \frac{[1-\gamma k]_+^2}{4k^2} +
    \gamma\frac{k+2}{12k}`, at x = f/k with f = (1 − γk)/(2(1 − γ)), or at x = 0 if γk >= 1.

    In a cell nearer to 1/2 the rounding costs the same and the rest less, so the first cell is the worst. The part that
    is spent on noise is γ/3 for large k, where the paper has γ/2.

    >>> sum_worst_case().result
    gamma*(1 - gamma)/4 + gamma*(k + 2)/(12*k)
    """
    V = quantity("V", nonnegative=True)
    off = (1 - gamma) * rest - (1 - gamma * k) / 2  # 0 at the worst f
    defined = given(
        V(cell, rest), MESSAGE_VARIANCE.subs(x, (cell + rest) / k), "the variance of $y/k$, with $kx = j + f$"
    )
    first_cell = chain(
        V(cell, rest),
        at_most(V(0, rest), r"the input $f/k$ is farther from $1/2$ than $(j + f)/k \le 1/2$", defined),
        under=(sp.Ge(k, 2 * cell + 2 * rest), sp.Le(gamma, 1)),
    )
    square = chain(
        V(0, rest),
        equals(WORST_VARIANCE - off**2 / k**2, "what depends on $f$, as a square", defined),
        at_most(WORST_VARIANCE, r"equal where $f = (1 - \gamma k)/(2(1 - \gamma))$"),
    )
    no_rounding = chain(
        V(0, rest),
        at_most(gamma * (1 - gamma) / 4 + gamma * (k + 2) / (12 * k), "largest at $f = 0$", defined),
        under=(sp.Ge(k, 1 / gamma), sp.Le(gamma, 1)),
    )
    return defined, first_cell, square, no_rounding, parts(first_cell, square, no_rounding)


@derivation("The standard error of a sum", f"for {SOURCE}, Algorithm 3", WHERE)
def sum_standard_error() -> Blocks:
    r"""The standard error to report with a sum: with S_1 and S_2 the means of y/k and (y/k)² over the messages,

    .. math:: \hat V = \gamma(S_2 - S_1) + \gamma(1-\gamma)\frac{2k+1}{6k} + \frac{\gamma^2}{4}
              + \frac{(1-\gamma)^2}{4k^2}

    is positive, and its mean is the mean of V[y/k] over the users and at most 1/(4k²) more: what rounding adds cannot
    be told from the messages, so all that it can add is counted.

    >>> sum_standard_error().proved
    True
    """
    expected, square = sp.symbols("E e", nonnegative=True)
    own = {first: sent(1) / k, second: sent(2) / k**2}
    reported = given(expected, SAFE_VARIANCE.subs(own), "the mean of what is reported, for one user")
    off = given(square, (rest - half) ** 2, "how far $f$ is from $1/2$")
    exact = chain(
        expected,
        equals(MESSAGE_VARIANCE + (1 - gamma) ** 2 * (rest - half) ** 2 / k**2, "first and second moments",
               reported, *MOMENTS[::-1], IN_CELL),
    )  # fmt: skip
    enough = chain(expected, at_least(MESSAGE_VARIANCE, "squares are not negative", exact))
    small = chain(square, equals(half**2 - rest * (1 - rest), "a square", off), at_most(half**2, r"$0 \le f \le 1$"))
    close = chain(
        expected,
        equals(MESSAGE_VARIANCE + (1 - gamma) ** 2 * square / k**2, "in short", exact, off),
        at_most(MESSAGE_VARIANCE + (1 - gamma) ** 2 / (4 * k**2), r"$(f - 1/2)^2 \le 1/4$", small),
        at_most(MESSAGE_VARIANCE + 1 / (4 * k**2), r"$0 \le \gamma \le 1$"),
        under=sp.Le(gamma, 1),
    )
    far = suppose(second, ">=", first - half**2, r"$y^2 - y \ge -1/4$ for every message")
    positive = chain(
        SAFE_VARIANCE, at_least(gamma * (1 - gamma) / 12, r"$y^2 - y \ge -1/4$", far), under=sp.Le(gamma, 1)
    )
    return (
        *MOMENTS, IN_CELL, reported, off, exact, enough, small, close, far, positive,
        parts(enough, close, positive),
    )  # fmt: skip


@derivation("The best precision", f"{SOURCE}, Theorem 4.1", {z: "$k$ as a multiple of the best one"})
def optimal_k() -> Blocks:
    r"""The k that makes the bound on the MSE smallest: :math:`(n/c)^{1/3}` for the published bound (Balle et al. 2019,
    Theorem 4.1), :math:`(3n/2c)^{1/3}` for the exact worst case. In both cases the bound, without what does not depend
    on k, is :math:`w(\frac1{4z^2} + \frac z2) \ge \frac34 w` for k = z times the best one; the second is then
    :math:`\frac12\sqrt[3]{3/2}\,c^{2/3} n^{1/3}`, up to the factor 1/(1 − γ)² and lower powers of n.

    >>> optimal_k().result
    2**(2/3)*3**(1/3)*c**(2/3)*n**(1/3)/4
    """
    third = sp.Rational(1, 3)
    blocks, shown = [], []
    for name, share, factor, result in (
        ("k_1", c / users, half, 3 * users * (c / users) ** (2 * third) / 4),
        ("k_2", 2 * c / (3 * users), third, half * (3 * half) ** third * c ** (2 * third) * users**third),
    ):
        size, w = sp.symbols(f"{name} w_{name[-1]}", positive=True)
        named = given(size, z * share ** (-third), "$k = z$ times the best one")
        short = given(w, share ** (2 * third), "in short")
        chained = chain(
            users * (1 / (4 * size**2) + factor * c * size / users),
            equals(users * w * (1 / (4 * z**2) + z / 2), "with $k = z$ times the best one", named, short),
            equals(
                3 * users * w / 4 + users * w * (z - 1) ** 2 * (2 * z + 1) / (4 * z**2), "less its value at $z = 1$"
            ),
            at_least(3 * users * w / 4, "a square is not negative; equal at $z = 1$"),
            equals(result, "in $n$ and $c$", short),
        )
        blocks += [named, short, chained]
        shown.append(chained)
    return *blocks, parts(*shown)


@derivation("Counts, and the standard error to report with them", f"{SOURCE}, Algorithm 1; Wang et al. 2017")
def frequency_estimate() -> Blocks:
    r"""Counts from messages that match the own input with probability p and any other one with q: C of n messages match
    an input that N users have.

    :math:`\hat N = (C - nq)/(p - q)` is unbiased, its variance is :math:`[Np(1-p) + (n-N)q(1-q)]/(p-q)^2`, exactly, and
    :math:`[(n-C)pq + C(1-p)(1-q)]/(p-q)^2` is an unbiased estimate of that variance which is never negative: its root
    is the standard error to report. For k-RR that answers randomly with probability γ, p − q = 1 − γ and q = γ/k.

    >>> frequency_estimate().result
    1/(k + t - 1)
    """
    count = Random("C")
    spread, truth, lie, share = sp.symbols("V p_k q_k gamma_k", positive=True)
    mean = suppose(Mean(count), "=", N * p + (users - N) * q, "$N$ users match with $p$, the others with $q$")
    moved = given(spread, MATCH_VARIANCE, "the variance of $C$: independent users")
    unbiased = chain(
        Mean(COUNT.subs(C, count)),
        equals((Mean(count) - users * q) / (p - q), "linear in $C$"),
        equals(N, "the mean of $C$", mean),
    )
    estimate = chain(
        Mean(FOUND_VARIANCE.subs(C, count)),
        equals(users * p * q + Mean(count) * (1 - p - q), "linear in $C$"),
        equals(spread, "the mean of $C$", mean, moved),
    )
    safe = chain(FOUND_VARIANCE, at_least(0, r"$0 \le C \le n$"), under=(sp.Ge(users, C), sp.Le(p, 1), sp.Le(q, 1)))
    krr = KRR()
    hit, miss = (krr.likelihood(match) * krr.mu for match in (True, False))
    laws = [given(truth, hit, "$k$-RR: the own input"), given(lie, miss, "$k$-RR: another one")]
    blanket = given(share, field.k / (field.t + field.k - 1), "the probability of a random answer (Lemma 5.1)")
    gap = chain(truth - lie, equals(1 - share, "what is not random", *laws, blanket))
    own = chain(share / field.k, equals(lie, "a random answer is each message with $1/k$", *laws, blanket),
                equals(1 / (field.t + field.k - 1), "$k$-RR", laws[1]))  # fmt: skip
    return mean, moved, unbiased, estimate, safe, *laws, blanket, gap, own, parts(unbiased, estimate, safe, gap, own)
