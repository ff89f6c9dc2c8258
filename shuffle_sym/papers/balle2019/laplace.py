r"""L of the Laplace mechanism on [0, 1]: Lemma 5.8 of Balle et al. 2019, for all pairs of inputs."""

from collections.abc import Sequence
from itertools import pairwise

import sympy as sp

from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.blanket import SOURCE
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given
from shuffle_sym.papers.engine.quantities import quantity

half = sp.Rational(1, 2)
eps0, alpha = sp.symbols("epsilon_0 alpha", positive=True)
x, other, y, s = sp.symbols("x x' y s", real=True)
p, q = sp.symbols("p q", positive=True)
#: e^(ε0/2), e^(ε0 p), e^(ε0 q)
r, X, Y = (Parameter(name, 1) for name in "rXY")
ratio = quantity("rho", r"\rho_{{{0}}}({1})", positive=True)
L = quantity("L", real=True)
square = quantity("A", positive=True)
apart, together = quantity("C", positive=True), quantity("B", positive=True)
second = (
    quantity("M", r"\mathbb{{E}}[L_{{{0},{1}}}^2]", real=True),
    quantity("N", r"\mathbb{{E}}[L_{{{0},{1}}}^2]", real=True),
)
WHERE = {
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


def _range() -> tuple[list[Fact], Fact, Fact]:
    """How far the ratio of a law to the blanket goes: e^(±ε0/2), by the triangle inequality."""
    unit = sp.Ge(x, 0), sp.Le(x, 1)
    defined = given(ratio(x, y), sp.exp(eps0 * (sp.Abs(y - half) - sp.Abs(y - x))), "two Laplace laws")
    centre = sp.Abs(x - half)
    right = chain(
        centre, equals(x - half, "right of $1/2$"), at_most(half, r"$x \le 1$"), under=(sp.Ge(x, half), unit[1])
    )
    left = chain(
        centre, equals(half - x, "left of $1/2$"), at_most(half, r"$x \ge 0$"), under=(unit[0], sp.Le(x, half))
    )
    near = cases(right, left, within=unit, words="$x$ is at most $1/2$ from $1/2$")

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
    return [defined, near, high, low], high, low


def _second_moments() -> tuple[Sequence[Fact], Sequence[Fact], Fact, Fact]:
    """E[ρ²] and E[ρρ'], as integrals and in closed form: definitions, short names, the square and the cross term."""
    names = [given(name, sp.exp(eps0 * size), "short") for name, size in ((r, half), (X, p), (Y, q))]
    zero = sp.Integer(0)
    own = given(
        square(p), _in_pieces(-p, -p, (-p, zero)), r"$\mathbb{E}[\rho^2]$ for the input $1/2 - p$, and for $1/2 + p$"
    )
    sides = given(apart(p, q), _in_pieces(-p, q, (-p, zero, q)), r"$\mathbb{E}[\rho\rho']$ for $1/2 - p$ and $1/2 + q$")
    same = given(
        together(p, q),
        _in_pieces(-p - q, -q, (-p - q, -q, zero)),
        r"$\mathbb{E}[\rho\rho']$ for $1/2 - p - q$ and $1/2 - q$",
    )
    closed = chain(square(p), equals((2 * sp.exp(eps0 * p) + sp.exp(-2 * eps0 * p)) / 3, "three integrals", own))
    cross = chain(
        apart(p, q), equals(sp.exp(-eps0 * p) + sp.exp(-eps0 * q) - sp.exp(-eps0 * (p + q)), "four integrals", sides)
    )
    return [own, sides, same], names, closed, cross


def _cross_terms(same: Fact, names: Sequence[Fact], cross: Fact) -> tuple[Sequence[Fact], Fact, Fact]:
    """E[ρρ'] from below, for inputs on different sides of 1/2 and on one side."""
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
    return shrink, opposite, one_side


#: The largest E[ρ²] and the smallest E[ρρ'], with r = e^(ε0/2).
MOST, LEAST = (2 * r + r**-2) / 3, 1 - (1 - 1 / r) ** 2


@derivation("$L$ of Laplace: range and second moment, for all pairs of inputs", f"{SOURCE}, Lemma 5.8", WHERE)
def lemma58() -> Blocks:
    r"""Range and second moment of L for Laplace on [0, 1] (Balle et al. 2019, Lemma 5.8), for all pairs of inputs;
    E[L²] is largest for 0 and 1.

    The cross term enters with a minus sign, so the bound needs its *smallest* value; the published proof bounds it from
    above. On different sides of 1/2 it is 1 − (1 − 1/X)(1 − 1/Y), smallest at the ends; on one side it is at least 1.

    >>> lemma58().result.subs({eps0: 0, alpha: 3})
    4
    """
    blocks, high, low = _range()
    loss = given(L(y), ratio(x, y) - alpha * ratio(other, y), "inputs $x$ and $x'$")
    inside, most = (sp.Ge(x, 0), sp.Le(x, 1), sp.Ge(other, 0), sp.Le(other, 1)), sp.exp(eps0 / 2)
    ends_of = "both ratios at their ends"
    upper = chain(L(y), at_most(most - alpha / most, ends_of, loss, high.at({}), low.at({x: other})), under=inside)
    lower = chain(L(y), at_least(1 / most - alpha * most, ends_of, loss, low.at({}), high.at({x: other})), under=inside)
    integrals, names, closed, cross = _second_moments()
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
    shrink, opposite, one_side = _cross_terms(integrals[2], names, cross)
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
        *blocks, loss, upper, lower, *names, *integrals, closed, cross, *squares, *shrink, opposite, one_side,
        *means, *shown, ends, parts(upper, lower, cross, ends, *reversed(shown)),
    )  # fmt: skip
