r"""Range and moments of L: Lemmas 5.4, 5.7 and 5.8 of Balle et al. 2019, and the largest second moment of G."""

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.blanket import SOURCE
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.randomizers import BinaryRR

t, k = field.t, field.k
alpha, eps0 = sp.symbols("alpha epsilon_0", positive=True)
gamma = Parameter("gamma", 0, 1)
n, m, r = sp.symbols("n m r", positive=True, integer=True)
half = sp.Rational(1, 2)
j, K = sp.symbols("j K", positive=True, integer=True)
messages = (j, 1, K)
c, f, g = (quantity(name, positive=True) for name in "cfg")
#: f = 1 + u = t − v and g = 1 + w = t − z: what the infimum and ε0-LDP say of R(x)/c and R(x')/c.
u, v, w, z = (quantity(name, nonnegative=True) for name in "uvwz")
L = quantity("L", real=True)
moment = quantity("M", r"\mathbb{{E}}[L^{{{0}}}]", real=True)
WHERE = {
    gamma: "total variation similarity",
    c(j): "the infimum of $R(x)(j)$ over the inputs $x$",
    f(j): "$R(x)(j)/c(j)$",
    g(j): "$R(x')(j)/c(j)$",
    L(j): "$L$ at the message $j$",
    moment(r): r"$\mathbb{E}[L^r]$ for a message from the blanket $c/\gamma$",
}


def _ratios() -> tuple[Sequence[Fact], Sequence[Fact], Sequence[Fact]]:
    """f and g are not below 1 and not above t, and cf, cg are laws: as facts."""
    pairs = ((f, u, v, "R(x)"), (g, w, z, "R(x')"))
    low = [given(one(j), 1 + over(j), f"$c$ is the infimum: ${law}$ is not below it") for one, over, _, law in pairs]
    high = [
        suppose(
            under(j),
            "=",
            t - 1 - over(j),
            rf"$\varepsilon_0$-LDP: ${law}$ is not above $tc$, so $t - 1 - {over(j)}$ is not negative",
        )
        for _, over, under, law in pairs
    ]
    laws = [suppose(sp.Sum(c(j) * one(j), messages), "=", 1, f"${law}$ is a law") for one, _, _, law in pairs]
    return low, high, laws


@derivation("Mean, range and second moment of $L$", f"{SOURCE}, Lemma 5.4", WHERE)
def lemma54() -> Blocks:
    r"""Mean, range and second moment of L (Balle et al. 2019, Lemma 5.4); each published bound follows from a sharper
    one: :math:`\gamma(1-\alpha t) \le L \le \gamma(t-\alpha)` and :math:`E[L^2] \le \gamma(t+\alpha^2t-2\alpha)`.

    >>> lemma54().result
    -2*alpha*gamma**2/t**2 + gamma*t*(alpha**2 + 1)
    """
    (low_f, low_g), (high_f, high_g), (law_f, law_g) = _ratios()
    loss = given(
        L(j), gamma * (f(j) - alpha * g(j)), r"$(R(x) - \alpha R(x'))/\omega$, and $\omega = c/\gamma$ is the blanket"
    )
    average = given(moment(r), sp.Sum(c(j) / gamma * L(j) ** r, messages), "a message from the blanket")
    total_f, total_g = sp.Sum(c(j) * f(j), messages), sp.Sum(c(j) * g(j), messages)
    mean = chain(
        moment(1),
        equals(total_f - alpha * total_g, r"$\gamma$ cancels", average, loss),
        equals(1 - alpha, "both are laws", law_f, law_g),
    )
    upper = chain(
        L(j),
        at_most(gamma * (f(j) - alpha), "$R(x')$ is at least $c$", loss, low_g),
        equals(gamma * (t - v(j) - alpha), "what $R(x)$ is below $tc$", low_f, high_f),
        at_most(gamma * (t - alpha), "it is not above $tc$"),
        at_most(gamma * t * (1 - alpha / t**2), "the published end is above it"),
    )
    lower = chain(
        L(j),
        at_least(gamma * (1 - alpha * g(j)), "$R(x)$ is at least $c$", loss, low_f),
        equals(gamma * (1 - alpha * (t - z(j))), "what $R(x')$ is below $tc$", low_g, high_g),
        at_least(gamma * (1 - alpha * t), "it is not above $tc$"),
        at_least(gamma / t * (1 - alpha * t**2), "the published end is below it"),
    )
    squares = c(j) * (t * f(j) - f(j) * v(j) - 2 * alpha * (f(j) + f(j) * w(j)) + alpha**2 * (t * g(j) - g(j) * z(j)))
    second = chain(
        moment(2),
        equals(gamma * sp.Sum(squares, messages), "$f^2 = tf - fv$ and $fg = f + fw$", average, loss, low_f, low_g,
        high_f,
               high_g),
        at_most(gamma * ((t - 2 * alpha) * total_f + alpha**2 * t * total_g), "leave out what is not negative"),
        equals(gamma * (t - 2 * alpha + alpha**2 * t), "both are laws", law_f, law_g),
        at_most(gamma * t * (alpha**2 + 1) - 2 * gamma**2 * alpha / t**2, "the published bound is above it"),
    )  # fmt: skip
    return (low_f, low_g, high_f, high_g, law_f, law_g, loss, average, mean, upper, lower, second,
            parts(mean, upper, lower, second))  # fmt: skip


@derivation("The largest second moment of $G$", f"sharpens {SOURCE}, Lemma 5.4 (3)", WHERE)
def second_moment() -> Blocks:
    r"""For every ε0-LDP randomizer and 1 <= α <= t,
    :math:`E[G^2] \le \frac{(1 + t^2)(1 + \alpha^2) - 4\alpha t}{t + 1}`, and binary randomized response attains
    it. Lemma 5.4 (3) of Balle et al. 2019 holds and is larger.

    Two bounds on the product fg are mixed with weights p + q = 1 that make γ drop out.

    >>> second_moment().result
    (-4*alpha*t + (alpha**2 + 1)*(t**2 + 1))/(t + 1)
    """
    (low_f, low_g), (high_f, high_g), (law_f, law_g) = _ratios()
    square = sp.Symbol("E2", positive=True)
    q = sp.Symbol("q", real=True)
    weight = given(q, (t * (1 + alpha**2) / (2 * alpha) - 1) / (t**2 - 1), r"between 0 and 1 for $1 \le \alpha \le t$")
    sharp = ((1 + t**2) * (1 + alpha**2) - 4 * alpha * t) / (t + 1)
    total_f, total_g, total_c = (sp.Sum(c(j) * one, messages) for one in (f(j), g(j), 1))
    average = given(
        square,
        sp.Sum(c(j) * (f(j) - alpha * g(j)) ** 2, messages),
        r"$\mathbb{E}[G^2]$: $G$ is $f - \alpha g$ with probability $c$",
    )

    def mixed(extra: int) -> sp.Expr:
        """The term of a message; with ``extra`` as it is, without it what is left when products ≥ 0 are left out."""
        own = (1 + t) * f(j) - t - extra * u(j) * v(j)
        other = (1 + t) * g(j) - t - extra * w(j) * z(j)
        near = f(j) + g(j) - 1 + extra * u(j) * w(j)
        far = t * (f(j) + g(j)) - t**2 + extra * v(j) * z(j)
        return c(j) * (own + alpha**2 * other - 2 * alpha * ((1 - q) * near + q * far))

    bound = (1 + t) * (total_f + alpha**2 * total_g) - t * (1 + alpha**2) * total_c
    bound -= 2 * alpha * ((1 - q) * (total_f + total_g - total_c) + q * (t * (total_f + total_g) - t**2 * total_c))
    most = chain(
        square,
        equals(sp.Sum(mixed(1), messages), "$f^2 = (1 + t)f - t - uv$; $fg$, twice, with weights "
                                           "$1 - q$ and $q$", average,
               low_f, low_g, high_f, high_g),
        at_most(sp.Sum(mixed(0), messages), "leave out products that are not negative", weight),
        equals(bound, "the sum, term by term"),
        equals(sharp, r"both are laws; $\gamma$ drops out", law_f, law_g, weight),
        under=(sp.Ge(alpha, 1), sp.Le(alpha, t)),
    )  # fmt: skip
    table = BinaryRR().gparv()
    found = quantity("G2", r"\mathbb{{E}}[G_{{{0}}}^2]", positive=True)
    terms = (p * value**2 for value, p in zip(table.forms, table.masses, strict=True))
    own = given(found(t), sp.Add(*terms).subs(field.alpha, alpha), r"$\mathbb{E}[G^2]$ of 2-RR, from its table")
    there = chain(found(t), equals(sharp, "2-RR has as much", own))
    return (low_f, low_g, high_f, high_g, law_f, law_g, average, weight, most, own, there,
            parts(there, most))  # fmt: skip


@derivation("$L$ of $k$-RR: range and second moment", f"{SOURCE}, Lemma 5.7", {L(j): "$L$ at the message $j$"})
def lemma57() -> Blocks:
    r"""Range and second moment of L for k-RR (Balle et al. 2019, Lemma 5.7), from its definition. The inputs are x = 1
    and x' = 2; all messages from 3 on are alike.

    >>> lemma57().result
    k*(1 - alpha)**2*(-k/(k + t - 1) + 2)/(k + t - 1) + k*(alpha**2 + 1)*(-k/(k + t - 1) + 1)**2
    """
    R = quantity("R", "R({0})({1})", nonnegative=True)
    x = sp.Symbol("x", positive=True, integer=True)
    share = k / (t + k - 1)
    law = given(R(x, j), sp.Piecewise((t / (t + k - 1), sp.Eq(x, j)), (1 / (t + k - 1), True)), "$k$-RR")
    loss = given(L(j), k * (R(1, j) - alpha * R(2, j)), "the blanket is $1/k$ at every message")
    high, low = share * (1 - alpha) + (1 - share) * k, share * (1 - alpha) - (1 - share) * k * alpha
    own, other, rest = share * (t - alpha), share * (1 - alpha * t), share * (1 - alpha)
    kinds = (
        (sp.Eq(j, 1), own, "the input $x$"),
        (sp.Eq(j, 2), other, "the input $x'$"),
        (sp.Ge(j, 3), rest, "any other"),
    )
    values = [chain(L(j), equals(value, words, loss, law), under=kind) for kind, value, words in kinds]

    def ends(relation: Callable[..., Any], end: sp.Expr, which: int) -> Fact:
        """Every message against one end; ``which`` attains it."""
        return cases(*(
            chain(L(j), (equals if number == which else relation)(end, kind[2], values[number]), under=kind[0])
            for number, kind in enumerate(kinds)
        ))  # fmt: skip

    upper, lower = ends(at_most, high, 0), ends(at_least, low, 1)
    average = given(
        moment(r), (L(1) ** r + L(2) ** r + (k - 2) * L(3) ** r) / k, "a message from the blanket, $1/k$ each"
    )
    second = chain(
        moment(2),
        equals((own**2 + other**2 + (k - 2) * rest**2) / k, "the three kinds of messages", average, loss, law),
        equals(
            share * (2 - share) * (1 - alpha) ** 2 + (1 - share) ** 2 * k * (1 + alpha**2),
            r"with $\gamma = k/(t + k - 1)$",
        ),
    )
    return law, loss, *values, upper, lower, average, second, parts(upper, lower, second)
