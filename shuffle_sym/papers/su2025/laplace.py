r"""The law of L for Laplace noise: Su et al. 2025, Appendix C."""

import sympy as sp

from shuffle_sym.papers.engine import Blocks, cases, chain, claim, derivation, equals, given, quantity, theorems
from shuffle_sym.papers.engine.chains import Chain
from shuffle_sym.papers.engine.facts import Fact

eps0, alpha, u = sp.symbols("epsilon_0 alpha u", positive=True)
x, y, v = sp.symbols("x y v", real=True)
w = sp.Symbol("w", nonnegative=True)
t, gamma = sp.exp(eps0), sp.exp(-eps0 / 2)
F, tail = quantity("F", nonnegative=True), quantity("T", nonnegative=True)
left, right = quantity("l", real=True), quantity("r", real=True)


def _branch(
    form: sp.Expr, words: str, ratio: Fact, under: list[sp.Basic], value: sp.Expr | None = None, *facts: Fact
) -> Chain:
    """F(x) on one interval: which messages have L ≤ γx, by ``ratio``, and their probability under the blanket."""
    law = theorems.general(
        "total probability", F(x), "=", form, stated=[words], shown=[(ratio.words, ratio)], under=under
    )
    more = () if value is None else (equals(value, "the tail of the ratio", *facts),)
    return chain(F(x), equals(form, words, law), *more, under=under)


@derivation(
    "The law of L for Laplace noise", "Su et al. 2025, Appendix C",
    where={
        F(x): "Pr[L ≤ γx] for the inputs 0 and 1, where L = γG and γ = e^(−ε0/2)",
        tail(u): "the blanket's probability, over γ, that R(0)/R(1) ≥ u, 1 ≤ u ≤ e^ε0; by symmetry R(1)/R(0) ≥ u",
    },
)  # fmt: skip
def laplace_law() -> Blocks:
    r"""The distribution function of L for Laplace noise on [0, 1] and the pair (0, 1) (Su et al. 2025, Appendix C).

    For y < 1/2 the infimum of R(x)(y) over x in [0, 1] is at x = 1, and R(0)/R(1) is :math:`e^{\varepsilon_0(1 - 2y)}`
    for 0 < y < 1/2. There L = γ(R(0)/R(1) − α), and L = γ(1 − αR(1)/R(0)) on the mirrored half. The published function
    holds.

    >>> [branch.right for branch in laplace_law().blocks[-1].branches]
    [0, sqrt(alpha)/(2*sqrt(1 - x)), 1 - 1/(2*sqrt(alpha + x)), 1]
    """
    cut = sp.Rational(1, 2) - sp.log(u) / (2 * eps0)  # where the ratio is u
    blanket = eps0 / 2 * sp.exp(-eps0 * (1 - y)) / gamma
    defined = given(tail(u), sp.Integral(blanket, (y, -sp.oo, cut)), "the ratio is u or more left of this point")
    shown = chain(tail(u), equals(1 / (2 * sp.sqrt(u)), "the integral of the blanket's density", defined))
    low, middle, high = 1 - alpha * t, 1 - alpha, t - alpha
    on_left = given(left(v), v - alpha, "L/γ where R(0)/R(1) is v ≥ 1")
    on_right = given(right(v), 1 - alpha * v, "L/γ where R(1)/R(0) is v ≥ 1")
    outside, inside = [sp.Lt(x, low)], [sp.Ge(x, high)]
    least = claim(right(t - w), ">=", x, "L/γ at R(1)/R(0) = t − w, w ≥ 0", on_right, under=outside)
    never = _branch(sp.Integer(0), "γ(1 − αt) is the smallest value of L", least, outside)
    below = _branch(
        tail((1 - x) / alpha), "R(1)/R(0) is at least (1 − x)/α",
        claim(right((1 - x) / alpha + v), "=", x - alpha * v, "L/γ at R(1)/R(0) = (1 − x)/α + v", on_right),
        [sp.Ge(x, low), sp.Lt(x, middle)], sp.sqrt(alpha) / (2 * sp.sqrt(1 - x)), shown,
    )  # fmt: skip
    above = _branch(
        1 - tail(x + alpha), "all messages but those with R(0)/R(1) above x + α",
        claim(left(x + alpha + v), "=", x + v, "L/γ at R(0)/R(1) = x + α + v", on_left),
        [sp.Ge(x, middle), sp.Lt(x, high)], 1 - 1 / (2 * sp.sqrt(x + alpha)), shown,
    )  # fmt: skip
    most = claim(left(t - w), "<=", x, "L/γ at R(0)/R(1) = t − w, w ≥ 0", on_left, under=inside)
    always = _branch(sp.Integer(1), "γ(t − α) is the largest value of L", most, inside)
    return on_left, on_right, defined, shown, cases(never, below, above, always)
