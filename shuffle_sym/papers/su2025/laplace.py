r"""The law of L for Laplace noise: Su et al. 2025, Appendix C."""

from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import Blocks, cases, chain, claim, derivation, equals, given, theorems
from shuffle_sym.papers.engine.chains import Chain
from shuffle_sym.papers.engine.facts import Fact
from shuffle_sym.papers.proofs import quantities

eps0, alpha, u = sp.symbols("epsilon_0 alpha u", positive=True)
x, y, v = sp.symbols("x y v", real=True)
w = sp.Symbol("w", nonnegative=True)
t, gamma = sp.exp(eps0), sp.exp(-eps0 / 2)
F, tail, F_left, F_right = quantities("F T F_l F_r", nonnegative=True)
left, right = quantities("l r", real=True)
ON_LEFT = given(
    left(v), v - alpha, r"$L/\gamma$ where $R(0)/R(1)$ is $v$, $1 \le v \le t$: the left half of the messages"
)
ON_RIGHT = given(right(v), 1 - alpha * v, r"$L/\gamma$ where $R(1)/R(0)$ is $v$, $1 \le v \le t$: the right half")
HALVES = given(F(x), F_left(x) + F_right(x), "the left half of the messages, and the right half")


def _branch(total: Fact, under: list[sp.Basic], *both: tuple[Any, ...]) -> Chain:
    """F(x) on one interval. ``both`` halves: Pr[L ≤ γx] there, that event in words, and what L/γ is there; at last the
    tails of the ratio become numbers by ``total``."""
    here, links, known = HALVES.right, [], [HALVES]
    for half, side, (value, event, at, relation, loss) in zip(
        (F_left(x), F_right(x)), ("left", "right"), both, strict=True
    ):
        there = claim(at, relation, loss, rf"$L/\gamma$ on the {side} half", ON_LEFT if at.func == left else ON_RIGHT)
        happens = theorems.general(
            "equal events are equally likely", half, "=", value, stated=[
                rf"on the {side} half $L \le \gamma x$ is: {event}"],
            shown=[(there.words, there)], under=under, local=(v, w),
        )  # fmt: skip
        here = here.subs(half, value)
        links.append(equals(here, f"on the {side} half: {event}", *known, happens))
        known = []
    if here.has(tail):
        links.append(equals(here.replace(tail, lambda at: total.right.subs(u, at)), "the tails of the ratio", total))
    return chain(F(x), *links, under=under)


@derivation(
    "The law of $L$ for Laplace noise", "Su et al. 2025, Appendix C",
    where={F(x): r"$\Pr[L \le \gamma x]$ for the inputs 0 and 1, where $L = \gamma G$ and "
                 r"$\gamma = e^{-\varepsilon_0/2}$",
           F_left(x): r"the same, and $R(0) \ge R(1)$", F_right(x): "the same, and $R(1) > R(0)$",
           tail(u): r"the blanket's probability, over $\gamma$, that $R(0)/R(1) \ge u$, "
                    r"$1 \le u \le e^{\varepsilon_0}$; by symmetry $R(1)/R(0) \ge u$"},
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
    defined = given(tail(u), sp.Integral(blanket, (y, -sp.oo, cut)), "the ratio is $u$ or more left of this point")
    total = chain(tail(u), equals(1 / (2 * sp.sqrt(u)), "the integral of the blanket's density", defined))
    low, middle, high = 1 - alpha * t, 1 - alpha, t - alpha
    never, always = (sp.Integer(0), "never"), (tail(1), "always")
    below = tail((1 - x) / alpha), r"$R(1)/R(0) \ge (1 - x)/\alpha$", right((1 - x) / alpha + v), "=", x - alpha * v
    above = tail(1) - tail(x + alpha), r"not $R(0)/R(1) > x + \alpha$", left(x + alpha + v), "=", x + v
    branches = (
        ([sp.Lt(x, low)], (*never, left(1 + w), ">=", low), (*never, right(t - w), ">=", low)),
        ([sp.Ge(x, low), sp.Lt(x, middle)], (*never, left(1 + w), ">=", middle), below),
        ([sp.Ge(x, middle), sp.Lt(x, high)], above, (*always, right(1 + w), "<=", middle)),
        ([sp.Ge(x, high)], (*always, left(t - w), "<=", high), (*always, right(1 + w), "<=", high)),
    )
    return ON_LEFT, ON_RIGHT, HALVES, defined, total, cases(*(_branch(total, *branch) for branch in branches))
