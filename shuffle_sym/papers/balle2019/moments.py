r"""Range and moments of L: Lemmas 5.4, 5.7 and 5.8 of Balle et al. 2019, and the largest second moment of G."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.notation import SIMILARITY, SOURCE, K, alpha, eps0, gamma, half, j, k, t
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.proofs import quantities
from shuffle_sym.randomizers import BinaryRR

power = sp.Symbol("r", positive=True, integer=True)
messages = (j, 1, K)
c, f, g = quantities("c f g", positive=True)
#: f = 1 + u = t − v and g = 1 + w = t − z: what the infimum and ε0-LDP say of R(x)/c and R(x')/c.
u, v, w, z = quantities("u v w z", nonnegative=True)
L = quantity("L", real=True)
moment = quantity("M", r"\mathbb{{E}}[L^{{{0}}}]", real=True)
WHERE = {
    **SIMILARITY,
    c(j): "the infimum of $R(x)(j)$ over the inputs $x$",
    f(j): "$R(x)(j)/c(j)$",
    g(j): "$R(x')(j)/c(j)$",
    L(j): "$L$ at the message $j$",
    moment(power): r"$\mathbb{E}[L^r]$ for a message from the blanket $c/\gamma$",
}


#: f and g are not below 1 and not above t, and cf, cg are laws.
_PAIRS = ((f, u, v, "R(x)"), (g, w, z, "R(x')"))
low_f, low_g = (
    given(one(j), 1 + over(j), f"$c$ is the infimum: ${law}$ is not below it") for one, over, _, law in _PAIRS
)
high_f, high_g = (
    suppose(under(j), "=", t - 1 - over(j),
            rf"$\varepsilon_0$-LDP: ${law}$ is not above $tc$, so $t - 1 - {over(j)}$ is not negative")
    for _, over, under, law in _PAIRS
)  # fmt: skip
law_f, law_g = (suppose(sp.Sum(c(j) * one(j), messages), "=", 1, f"${law}$ is a law") for one, _, _, law in _PAIRS)


@derivation("Mean, range and second moment of $L$", f"{SOURCE}, Lemma 5.4", WHERE)
def lemma54() -> Blocks:
    r"""Mean, range and second moment of L (Balle et al. 2019, Lemma 5.4); each published bound follows from a sharper
    one: :math:`\gamma(1-\alpha t) \le L \le \gamma(t-\alpha)` and :math:`E[L^2] \le \gamma(t+\alpha^2t-2\alpha)`.

    >>> lemma54().result
    -2*alpha*gamma**2/t**2 + gamma*t*(alpha**2 + 1)
    """
    loss = given(
        L(j), gamma * (f(j) - alpha * g(j)), r"$(R(x) - \alpha R(x'))/\omega$, and $\omega = c/\gamma$ is the blanket"
    )
    average = given(moment(power), sp.Sum(c(j) / gamma * L(j) ** power, messages), "a message from the blanket")
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
        moment(power),
        (L(1) ** power + L(2) ** power + (k - 2) * L(3) ** power) / k,
        "a message from the blanket, $1/k$ each",
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


# ------------------------------------------------------------------------------------------------- Laplace noise

x, other, y, s = sp.symbols("x x' y s", real=True)
p, q = sp.symbols("p q", positive=True)
#: e^(ε0/2), e^(ε0 p), e^(ε0 q)
r, X, Y = (Parameter(name, 1) for name in "rXY")
ratio = quantity("rho", r"\rho_{{{0}}}({1})", positive=True)
square, apart, together = quantities("A C B", positive=True)
second = quantities("M N", r"\mathbb{{E}}[L_{{{0},{1}}}^2]", real=True)
LAPLACE = {
    ratio(x, y): r"$R(x)(y)/\omega(y)$, where $\omega$ is the Laplace law around $1/2$",
    second[0](p, q): r"$\mathbb{E}[L^2]$ for the inputs $1/2 - p$ and $1/2 + q$",
    second[1](p, q): r"$\mathbb{E}[L^2]$ for the inputs $1/2 - p - q$ and $1/2 - q$",
}


def _in_pieces(first: sp.Expr, last: sp.Expr, ends: tuple[sp.Expr, ...]) -> sp.Expr:
    """∫ e^(ε0(|s| − |s − first| − |s − last|)) ε0/2 over s = y − 1/2, between the ends at which a sign changes."""
    pieces = []
    middles = [(low + high) / 2 for low, high in pairwise(ends)]
    far = p + q + 1
    for low, high, inside in zip((-sp.oo, *ends), (*ends, sp.oo), (-far, *middles, far), strict=True):
        signs = [1 if sp.expand(inside - at).is_positive else -1 for at in (0, first, last)]
        distances = [sign * (s - at) for sign, at in zip(signs, (0, first, last), strict=True)]
        exponent = sp.expand(distances[0] - distances[1] - distances[2])
        pieces.append(sp.Integral(eps0 / 2 * sp.exp(eps0 * exponent), (s, low, high)))
    return sp.Add(*pieces)


#: The largest E[ρ²] and the smallest E[ρρ'], with r = e^(ε0/2).
MOST, LEAST = (2 * r + r**-2) / 3, 1 - (1 - 1 / r) ** 2


@derivation("$L$ of Laplace: range and second moment, for all pairs of inputs", f"{SOURCE}, Lemma 5.8", LAPLACE)
def lemma58() -> Blocks:
    r"""Range and second moment of L for Laplace on [0, 1] (Balle et al. 2019, Lemma 5.8), for all pairs of inputs;
    E[L²] is largest for 0 and 1.

    The cross term enters with a minus sign, so the bound needs its *smallest* value; the published proof bounds it from
    above. On different sides of 1/2 it is 1 − (1 − 1/X)(1 − 1/Y), smallest at the ends; on one side it is at least 1.

    >>> lemma58().result.subs({eps0: 0, alpha: 3})
    4
    """
    # -- how far the ratio of a law to the blanket goes: e^(±ε0/2), by the triangle inequality
    unit = sp.Ge(x, 0), sp.Le(x, 1)
    defined = given(ratio(x, y), sp.exp(eps0 * (sp.Abs(y - half) - sp.Abs(y - x))), "two Laplace laws")
    centre = sp.Abs(x - half)
    near = cases(
        chain(centre, equals(x - half, "right of $1/2$"), at_most(half, r"$x \le 1$"), under=(sp.Ge(x, half), unit[1])),
        chain(centre, equals(half - x, "left of $1/2$"), at_most(half, r"$x \ge 0$"), under=(unit[0], sp.Le(x, half))),
        within=unit,
        words="$x$ is at most $1/2$ from $1/2$",
    )
    high = chain(
        ratio(x, y),
        at_most(sp.exp(eps0 * centre), "the triangle inequality", defined, theorems.triangle(y - x, x - half)),
        at_most(sp.exp(eps0 / 2), "$x$ is at most $1/2$ from $1/2$", near),
        under=unit,
    )
    low = chain(
        ratio(x, y),
        at_least(sp.exp(-eps0 * centre), "the triangle inequality", defined, theorems.triangle(y - half, half - x)),
        at_least(sp.exp(-eps0 / 2), "$x$ is at most $1/2$ from $1/2$", near),
        under=unit,
    )
    loss = given(L(y), ratio(x, y) - alpha * ratio(other, y), "inputs $x$ and $x'$")
    inside, most = (sp.Ge(x, 0), sp.Le(x, 1), sp.Ge(other, 0), sp.Le(other, 1)), sp.exp(eps0 / 2)
    ends_of = "both ratios at their ends"
    upper = chain(L(y), at_most(most - alpha / most, ends_of, loss, high.at({}), low.at({x: other})), under=inside)
    lower = chain(L(y), at_least(1 / most - alpha * most, ends_of, loss, low.at({}), high.at({x: other})), under=inside)
    # -- E[ρ²] and E[ρρ'], as integrals and in closed form: the square and the cross term
    names = [given(name, sp.exp(eps0 * size), "short") for name, size in ((r, half), (X, p), (Y, q))]
    own = given(
        square(p),
        _in_pieces(-p, -p, (-p, sp.Integer(0))),
        r"$\mathbb{E}[\rho^2]$ for the input $1/2 - p$, and for $1/2 + p$",
    )
    sides = given(
        apart(p, q), _in_pieces(-p, q, (-p, sp.Integer(0), q)), r"$\mathbb{E}[\rho\rho']$ for $1/2 - p$ and $1/2 + q$"
    )
    same = given(
        together(p, q),
        _in_pieces(-p - q, -q, (-p - q, -q, sp.Integer(0))),
        r"$\mathbb{E}[\rho\rho']$ for $1/2 - p - q$ and $1/2 - q$",
    )
    closed = chain(square(p), equals((2 * sp.exp(eps0 * p) + sp.exp(-2 * eps0 * p)) / 3, "three integrals", own))
    cross = chain(
        apart(p, q), equals(sp.exp(-eps0 * p) + sp.exp(-eps0 * q) - sp.exp(-eps0 * (p + q)), "four integrals", sides)
    )
    outer = (sp.Le(X, r), sp.Le(Y, r))
    sizes = (p, X, outer[0]), (q, Y, outer[1]), (p + q, X * Y, sp.Le(X * Y, r))
    squares = [
        chain(
            square(size),
            equals((2 * name + name**-2) / 3, "in short", closed, *names[1:]),
            at_most(MOST, "it grows as the input moves outward"),
            under=one,
        )
        for size, name, one in sizes
    ]
    # -- E[ρρ'] from below, for inputs on different sides of 1/2 and on one side
    shrink = [chain(1 / name, at_least(1 / r, "both at least 1"), under=sp.Le(name, r)) for name in (X, Y)]
    opposite = chain(
        apart(p, q),
        equals(1 - (1 - 1 / X) * (1 - 1 / Y), "in short", cross, *names[1:]),
        at_least(1 - (1 - 1 / r) * (1 - 1 / Y), "it falls as an input moves outward", shrink[0]),
        at_least(LEAST, "and so with the other one", shrink[1]),
        under=(sp.Le(X, r), sp.Le(Y, r)),
    )
    one_side = chain(
        together(p, q),
        equals(Y - (Y**2 - 1 / Y) / (3 * X * Y), "four integrals", same, *names[1:]),
        at_least(1, r"$X \ge 1$ and $Y \ge 1$"),
        at_least(LEAST, "a square is not negative"),
    )
    means = [
        given(one(p, q), square(size) - 2 * alpha * mixed(p, q) + alpha**2 * square(q), "$L^2$ taken apart")
        for one, size, mixed in ((second[0], p, apart), (second[1], p + q, together))
    ]
    result = (alpha**2 + 1) / 3 * (2 * most + most**-2) - 2 * alpha * (2 / most - most**-2)
    ways = (opposite, squares[0], outer), (one_side, squares[2], sizes[2][2])
    shown = [
        chain(
            one(p, q),
            at_most((1 + alpha**2) * MOST - 2 * alpha * LEAST, "both squares, and the cross term from below",
                    mean, far.at({}), squares[1].at({}), floor.at({})),
            equals(result, r"$r = e^{\varepsilon_0/2}$", names[0]),
            under=under,
        )
        for one, mean, (floor, far, under) in zip(second, means, ways, strict=True)
    ]  # fmt: skip
    ends = chain(second[0](half, half), equals(result, "attained by the inputs 0 and 1", means[0], closed, cross))
    return (
        defined, near, high, low, loss, upper, lower, *names, own, sides, same, closed, cross, *squares, *shrink,
        opposite, one_side, *means, *shown, ends, parts(upper, lower, cross, ends, *reversed(shown)),
    )  # fmt: skip
