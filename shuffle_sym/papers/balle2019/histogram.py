r"""Randomized response against an adversary who knows who answered randomly: Theorem 3.1 of Balle et al. 2019."""

import sympy as sp

from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.blanket import SOURCE
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, claim, equals, growing
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given
from shuffle_sym.papers.engine.quantities import Divergence, quantity

n1, n2, rest = sp.symbols("n_1 n_2 B", positive=True, integer=True)
others, delta = sp.symbols("r delta", positive=True)
mean = sp.Symbol("mu", positive=True)
eps = Parameter("epsilon", 0, 1)
P, Q = (quantity(name, positive=True) for name in "PQ")
high, low = sp.symbols("T_+ T_-", nonnegative=True)
tail = sp.Symbol("T", nonnegative=True)
Y = sp.symbols("M M'")
WHERE = {
    n1: "messages 1 that are left when truthful ones of the others are taken away",
    mean: r"$\gamma(n - 1)/k$, the mean of $n_2$",
    tail: r"$\Pr[n_1/n_2 \ge e^{\varepsilon}]$ where the user answers truthfully",
    high: r"$\Pr[n_1 \ge \mu e^{\varepsilon/2}]$",
    low: r"$\Pr[n_2 \le \mu e^{-\varepsilon/2}]$",
}


above, below, level = sp.symbols("d_1 d_2 Lambda", positive=True)
SMALL = sp.exp(-mean * eps**2 / 14)
#: The conditions of the theorem.
MANY, ENOUGH = sp.Ge(mean, 14 * level / eps**2), sp.Ge(mean, 27 / eps)


def _tails(far: Fact, near: Fact) -> tuple[list[Fact], list[Fact]]:
    """Both counts are far off with probability e^(-με²/14) at most, by Chernoff; and what shows that."""
    half = sp.Rational(1, 2)
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
    chord = theorems.general(
        "a concave function is above its chord", 1 - sp.exp(-eps / 2), ">=", eps * (1 - sp.exp(-half)), (),
        [("concave", claim(sp.Derivative(1 - sp.exp(-eps / 2), (eps, 2)), "<=", 0, "second derivative"))],
    )  # fmt: skip
    second = chain(
        below,
        equals(1 - sp.exp(-eps / 2), "the definition", near),
        at_least(eps * (1 - sp.exp(-half)), "above its chord on $[0, 1]$", chord),
        at_least(19 * eps / 50, r"a number, above $1/\sqrt{7}$"),
    )
    name, sums = "Chernoff's inequality", r"$n - 1$ independent users choose the message with probability $\gamma/k$"
    upper = theorems.general(name, high, "<=", sp.exp(-mean * above**2 / 3), [sums], [(r"$d_1 \le 1$", small)])
    lower = theorems.general(
        name, low, "<=", sp.exp(-mean * below**2 / 2), [sums], [(r"$d_2 \ge 0$", claim(0, "<=", below, "a share"))]
    )
    tails: list[Fact] = [
        chain(one, at_most(bound.right, name, bound), at_most(SMALL, words, size), under=size.under)
        for one, bound, words, size in (
            (high, upper, r"$3\cdot 54^2/25^2 \le 14$", first),
            (low, lower, r"$2\cdot 50^2/19^2 \le 14$", second),
        )
    ]
    return [grown, first, largest, small, second], tails


@derivation("Shuffled randomized response is private", f"{SOURCE}, Theorem 3.1", WHERE)
def theorem31() -> Blocks:
    r"""k-RR with :math:`\gamma = \max\{\frac{14k\log(2/\delta)}{(n-1)\varepsilon^2}, \frac{27k}{(n-1)\varepsilon}\}` is
    (ε, δ)-DP for ε ≤ 1 (Balle et al. 2019, Theorem 3.1). In terms of μ = γ(n − 1)/k: με² ≥ 14 log(2/δ) and με ≥ 27.

    >>> theorem31().result
    delta
    """
    views = [
        given(one(n1, n2), sp.factorial(rest) * others / (sp.factorial(n1 - i) * sp.factorial(n2 - 1 + i)), words)
        for one, i, words in ((P, 1, "a view if the user has 1"), (Q, 0, "a view if the user has 2"))
    ]
    ratio = chain(P(n1, n2), equals(n1 / n2 * Q(n1, n2), "the multinomials", *views))
    far = given(
        above, sp.exp(eps / 2) - 1 - 1 / mean, r"how far $n_1 - 1$ is above its mean $\mu$, as a share of $\mu$"
    )
    near = given(below, 1 - sp.exp(-eps / 2), "how far $n_2$ is below")
    target = given(level, sp.log(2 / delta), "in short")
    estimates, tails = _tails(far, near)
    reached = chain(
        SMALL,
        at_most(sp.exp(-level), r"$\mu \ge 14 \log(2/\delta)/\varepsilon^2$"),
        equals(delta / 2, "in short", target),
        under=MANY,
    )
    views_differ = theorems.general(
        "a divergence is at most the probability of a large ratio", Divergence(sp.exp(eps), *Y), "<=", tail,
        ["where the user answers randomly both views have one law; the view tells the messages"],
        [("the ratio is $n_1/n_2$", ratio)],
    )  # fmt: skip
    some = sp.Symbol("u", positive=True)
    apart = sp.Ge(some, mean * sp.exp(-eps / 2))
    far_above = claim(
        mean * sp.exp(eps / 2), "<=", some * sp.exp(eps), r"$n_1$ is above $e^{\varepsilon} n_2$", under=apart
    )
    union = theorems.general(
        "the union bound", tail, "<=", high + low, [r"$n_1 < \mu e^{\varepsilon/2}$ and "
                                                    r"$n_2 > \mu e^{-\varepsilon/2}$ give $n_1/n_2 < e^{\varepsilon}$"],
        [(r"$n_1 \ge e^{\varepsilon} n_2$", far_above)], local=(some,),
    )  # fmt: skip
    shown = chain(
        Divergence(sp.exp(eps), *Y),
        at_most(tail, "the views with a large ratio", views_differ),
        at_most(high + low, "one of two counts is far off", union),
        at_most(2 * SMALL, "Chernoff's inequality, twice", *tails),
        at_most(delta, "both halves", reached),
        under=(MANY, ENOUGH),
    )
    return *views, ratio, far, near, target, *estimates, *tails, reached, shown
