r"""The law of L for Laplace noise: Su et al. 2025, Appendix C."""

import sympy as sp

from shuffle_sym.papers.engine import Blocks, cases, chain, derivation, equals, given, quantity, theorems
from shuffle_sym.papers.engine.chains import Chain
from shuffle_sym.papers.engine.facts import Fact

eps0, alpha, u = sp.symbols("epsilon_0 alpha u", positive=True)
x, y = sp.symbols("x y", real=True)
t, gamma = sp.exp(eps0), sp.exp(-eps0 / 2)
F, tail = quantity("F", nonnegative=True), quantity("T", nonnegative=True)


def _branch(form: sp.Expr, words: str, under: list[sp.Basic], value: sp.Expr | None = None, *facts: Fact) -> Chain:
    """F(x) on one interval: which messages have L ≤ γx, and their probability under the blanket."""
    law = theorems.general("total probability", F(x), "=", form, stated=[words], under=under)
    more = () if value is None else (equals(value, "the tail of the ratio", *facts),)
    return chain(F(x), equals(form, words, law), *more, under=under)


@derivation(
    "The law of L for Laplace noise", "Su et al. 2025, Appendix C",
    where={
        F(x): "Pr[L ≤ γx] for the inputs 0 and 1, where L = γG and γ = e^(−ε0/2)",
        tail(u): "the blanket's probability, over γ, that R(0)/R(1) exceeds u, 1 ≤ u ≤ e^ε0; by symmetry R(1)/R(0)",
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
    defined = given(tail(u), sp.Integral(blanket, (y, -sp.oo, cut)), "the ratio exceeds u to the left of this point")
    shown = chain(tail(u), equals(1 / (2 * sp.sqrt(u)), "the integral of the blanket's density", defined))
    low, middle, high = 1 - alpha * t, 1 - alpha, t - alpha
    never = _branch(sp.Integer(0), "γ(1 − αt) is the smallest value of L", [sp.Lt(x, low)])
    below = _branch(
        tail((1 - x) / alpha), "R(1)/R(0) is at least (1 − x)/α", [sp.Ge(x, low), sp.Lt(x, middle)],
        sp.sqrt(alpha) / (2 * sp.sqrt(1 - x)), shown,
    )  # fmt: skip
    above = _branch(
        1 - tail(x + alpha), "R(0)/R(1) does not exceed x + α", [sp.Ge(x, middle), sp.Lt(x, high)],
        1 - 1 / (2 * sp.sqrt(x + alpha)), shown,
    )  # fmt: skip
    always = _branch(sp.Integer(1), "γ(t − α) is the largest value of L", [sp.Ge(x, high)])
    return defined, shown, cases(never, below, above, always)
