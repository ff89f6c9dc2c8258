r"""Joint and parallel composition of local randomizers: Su et al. 2025, Theorems 11 and 12, Sections 6 and 7."""

from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.proofs import quantities
from shuffle_sym.papers.su2025.notation import SOURCE, K, alpha, i, y, z

m, L = sp.symbols("m L", integer=True, positive=True)
#: Part number i and all parts up to m: under one input and under another, x and x'.
one, one_other = (quantity(name, rf"R_{{{{{{0}}}}}}({x})", nonnegative=True) for name, x in (("R", "x"), ("R'", "x'")))
all_parts, all_other = (
    quantity(name, rf"R^\times_{{{{{{0}}}}}}({x})", nonnegative=True) for name, x in (("J", "x"), ("J'", "x'"))
)
#: Part i, chosen with probability w_i and named, with its message: under x and under x'.
weight = quantity("w", r"w_{{{0}}}", nonnegative=True)
either, either_other = (
    quantity(name, rf"R^\|({x})({{0}})", nonnegative=True) for name, x in (("V", "x"), ("V'", "x'"))
)
eps, total = quantity("epsilon", r"\epsilon_{{{0}}}", nonnegative=True), quantity("E", nonnegative=True)


@derivation(
    "Levels add up in joint composition", f"{SOURCE}, Theorem 11",
    where={
        one(i): "probability of the message of part $i$ under its input $x_i$; $R'$ under another input $x_i'$",
        all_parts(m): r"probability of the messages of the parts 1 to $m$ under $(x_1, \dots, x_m)$; $J'$ under "
                      r"the other inputs",
        total(m): r"$\varepsilon_1 + \dots + \varepsilon_m$",
    },
)  # fmt: skip
def joint_level() -> Blocks:
    r"""If part i is ε_i-LDP, then all m parts together are (ε_1 + … + ε_m)-LDP (Su et al. 2025, Theorem 11).

    >>> joint_level().result
    J'(m)*exp(E(m))
    """
    local = suppose(one(i), "<=", sp.exp(eps(i)) * one_other(i), r"part $i$ is $\varepsilon_i$-LDP")
    start = [
        suppose(all_parts(1), "=", one(1), "one part, under $x$"),
        suppose(all_other(1), "=", one_other(1), "and under $x'$"),
        suppose(total(1), "=", eps(1), "one level"),
    ]
    following = [
        suppose(all_parts(m + 1), "=", all_parts(m) * one(m + 1), "the parts are independent: a product, under $x$"),
        suppose(all_other(m + 1), "=", all_other(m) * one_other(m + 1), "and under $x'$"),
        suppose(total(m + 1), "=", total(m) + eps(m + 1), "levels add up"),
    ]
    statement = suppose(all_parts(m), "<=", sp.exp(total(m)) * all_other(m), "the statement for $m$ parts")
    base = chain(
        all_parts(1),
        equals(one(1), "one part", start[0]),
        at_most(sp.exp(eps(1)) * one_other(1), r"it is $\varepsilon_1$-LDP", local),
        equals(sp.exp(total(1)) * all_other(1), "one part", *start[1:]),
    )
    step = chain(
        all_parts(m + 1),
        equals(all_parts(m) * one(m + 1), "one part more", following[0]),
        at_most(sp.exp(total(m)) * all_other(m) * one(m + 1), "the statement for $m$ parts", statement.fixing(m)),
        at_most(sp.exp(total(m)) * all_other(m) * (sp.exp(eps(m + 1)) * one_other(m + 1)), "part $m + 1$", local),
        equals(sp.exp(total(m + 1)) * all_other(m + 1), "ratios are multiplied, levels add up", *following[1:]),
    )
    return local, *start, *following, statement, base, step, chain(
        all_parts(m),
        at_most(statement.right, "for every number of parts", theorems.induction(statement, m, base, step)),
    )  # fmt: skip


@derivation(
    "Parallel composition keeps the level", f"{SOURCE}, Theorem 12",
    where={weight(i): "probability of part $i$, which the message names",
           one(i): "probability of its message under $x$; $R'$ under another input $x'$",
           either(i): "probability of both, the name and the message, under $x$; $V'$ under $x'$"},
)  # fmt: skip
def parallel_level() -> Blocks:
    r"""If every part is ε-LDP, then one of them, chosen at random and named, is ε-LDP (Su et al. 2025, Theorem 12).

    >>> parallel_level().result
    V'(i)*exp(epsilon)
    """
    level = sp.Symbol("epsilon", nonnegative=True)
    local = suppose(one(i), "<=", sp.exp(level) * one_other(i), r"part $i$ is $\varepsilon$-LDP")
    here = given(either(i), weight(i) * one(i), "part $i$ is chosen, and sends the message")
    there = given(either_other(i), weight(i) * one_other(i), "the choice does not depend on the input")
    return local, here, there, chain(
        either(i),
        at_most(weight(i) * (sp.exp(level) * one_other(i)), r"part $i$ is $\varepsilon$-LDP", here, local),
        equals(sp.exp(level) * either_other(i), "the weight of the part is on both sides", there),
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- blankets

#: R_1(x, y), R_2(x, z): two parts under any input; their infima, and inputs that attain these.
first, second = quantities("R_1 R_2", "*({0})({1})", nonnegative=True)
low, low_second = quantities("c_1 c_2", "*({0})", nonnegative=True)
at, at_second = (quantity(f"x_{k}", rf"x_{k}^*({{0}})") for k in (1, 2))
x, x_second = sp.symbols("x x'")
INFIMA = {
    low(y): "the infimum over all inputs $x$ of $R_1(x, y)$; $c_2$ of $R_2$",
    at(y): "an input at which $R_1(x, y)$ is the infimum; $x_2$ for $R_2$",
}


def _infimum(part: Any, floor: Any, where: Any, own: sp.Symbol, message: sp.Symbol) -> list[Fact]:
    return [
        suppose(floor(message), "<=", part(own, message), f"${floor}$ is not above any input"),
        suppose(part(where(message), message), "=", floor(message), f"${floor}$ is attained"),
    ]


@derivation("Joint composition: the blanket is the product", f"{SOURCE}, Section 6", where=INFIMA)
def joint_blanket() -> Blocks:
    r"""The blanket of two parts with inputs of their own is the product of their blankets (Su et al. 2025, Section 6):
    no pair of inputs is below c_1(y)c_2(z), one pair attains it, and γ = γ_1γ_2.

    >>> [fact.right for fact in joint_blanket().statement]
    [J(x, x', y, z), c_1(y)*c_2(z), gamma_1*gamma_2]
    """
    joint = quantity("J", r"R^\times(({0}, {1}))(({2}, {3}))", nonnegative=True)
    infima = [_infimum(first, low, at, x, y), _infimum(second, low_second, at_second, x_second, z)]
    gammas = sp.symbols("gamma_1 gamma_2")
    masses = [
        suppose(sp.Sum(low(y), (y, 1, K)), "=", gammas[0], r"$\gamma$ of the first part"),
        suppose(sp.Sum(low_second(z), (z, 1, L)), "=", gammas[1], r"$\gamma$ of the second part"),
    ]
    defined = given(
        joint(x, x_second, y, z), first(x, y) * second(x_second, z), "each part randomises its own attribute"
    )
    below = chain(
        low(y) * low_second(z),
        at_most(first(x, y) * low_second(z), "the first part, whatever $x$", infima[0][0]),
        at_most(first(x, y) * second(x_second, z), "the second part, whatever $x'$", infima[1][0]),
        equals(joint(x, x_second, y, z), "the product", defined),
    )
    attained = chain(
        joint(at(y), at_second(z), y, z),
        equals(first(at(y), y) * second(at_second(z), z), "both attributes are free", defined),
        equals(low(y) * low_second(z), "each part has its infimum", infima[0][1], infima[1][1]),
    )
    size = chain(
        sp.Sum(low(y) * low_second(z), (y, 1, K), (z, 1, L)),
        equals(sp.Sum(low(y), (y, 1, K)) * sp.Sum(low_second(z), (z, 1, L)), "a sum of products"),
        equals(gammas[0] * gammas[1], r"$\gamma$ of both", *masses),
    )
    return *infima[0], *infima[1], *masses, defined, below, attained, size, parts(below, attained, size)


@derivation("Parallel composition: the blanket is a weighted union", f"{SOURCE}, Section 7", where=INFIMA)
def parallel_blanket() -> Blocks:
    r"""The blanket of parts chosen at random is the union of theirs, weighted (Su et al. 2025, Section 7), and G of the
    whole is G of part i with probability w_i; here for one part, R_1 with the weight w.

    >>> [fact.right for fact in parallel_blanket().statement]
    [V(x, y), w*c_1(y), (-alpha*b(y) + a(y))/c(y)]
    """
    w = sp.Symbol("w", positive=True)
    whole = quantity("V", r"R^\|({0})(({1}))", nonnegative=True)
    a, b, c = quantities("a b c", nonnegative=True)
    value = quantity("g", real=True)
    infimum = _infimum(first, low, at, x, y)
    defined = given(whole(x, y), w * first(x, y), "part 1 is chosen with probability $w$, and named in the message")
    below = chain(
        w * low(y),
        at_most(w * first(x, y), "whatever $x$: the other parts send other messages", infimum[0]),
        equals(whole(x, y), "the message names the part", defined),
    )
    attained = chain(
        whole(at(y), y), equals(w * low(y), "at the input at which the part has its infimum", defined, infimum[1])
    )
    quotient = given(value(y), (w * a(y) - alpha * (w * b(y))) / (w * c(y)), "$G$ on the messages of part 1")
    same = chain(value(y), equals((a(y) - alpha * b(y)) / c(y), "the weight cancels: $G$ of the part itself", quotient))
    return *infimum, defined, below, attained, quotient, same, parts(below, attained, same)
