r"""Orders between analyses that hold for every number of users; the proofs are ours.

An order is shown in three moves. Two laws of G have the same mean; their stop-loss transforms :math:`E[G - x]_+` are
ordered for every x, so one law is larger in convex order; convex order survives sums, and :math:`[u]_+` is convex. Then
:math:`D_\alpha = \frac1n E[G_1 + \dots + G_n]_+` is ordered for *every* n.
"""

from collections.abc import Callable
from functools import lru_cache

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, Link, at_most, cases, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, Law, Supposed, given, law, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random
from shuffle_sym.papers.ours.notation import K, n, y
from shuffle_sym.papers.proofs import (
    LEVEL,
    G,
    H,
    above_level,
    below_level,
    by,
    itself,
    law_from_table,
    quantities,
    reflected,
    x,
)
from shuffle_sym.randomizers import KRR, BinaryRR

t, k, alpha = field.t, field.k, field.alpha
SUM_G, SUM_H = Random("G_1 + … + G_n"), Random("H_1 + … + H_n")
Function = Callable[[sp.Expr], sp.Expr]
WITHIN = (sp.Ge(alpha, 1), sp.Le(alpha, t))

add(of_every_randomizer("shared clones", "Su et al. 2025, (1); proof ours", decomposition.clones_shared))


c, rho0, rho1 = quantities("c rho_0 rho_1", nonnegative=True)
all_messages, ratio = (y, 1, K), rho0(y) - alpha * rho1(y)
RANGES = tuple(
    fact
    for rho, which in ((rho0, "x_0"), (rho1, "x_1"))
    for fact in (
        suppose(rho(y), ">=", 1, f"the blanket is below $R({which})$"),
        suppose(rho(y), "<=", t, rf"$\varepsilon_0$-LDP: $R({which})$ is at most $t$ times every other law"),
    )
)
ROWS = tuple(
    suppose(sp.Sum(c(y) * rho(y), all_messages), "=", 1, f"$R({which})$ sums to 1")
    for rho, which in ((rho0, "x_0"), (rho1, "x_1"))
)


@lru_cache(maxsize=1)
def _two_rr() -> Law:
    return law_from_table(H, BinaryRR().gparv(), "the table of 2-RR")


def _over_messages(blanket: Law, f: Function) -> Link:
    """E f(G) as a sum over the messages, for an f that is 0 at 0."""
    on = sp.Sum(c(y) * f(ratio), all_messages)
    return equals(on, "the law of $G$; what is not covered adds nothing", blanket.mean(f))


def _through_line(blanket: Law, f: Function, line: tuple[sp.Expr, ...], under: tuple[object, ...], words: str) -> Chain:
    """E f(G) ≤ E f(H) through a line that is above f(G) at the corners of the square."""
    function, above, rho = f(ratio), line[0] * rho0(y) + line[1] * rho1(y), (rho0(y), rho1(y))
    places = {f"corner ${at}$": dict(zip(rho, at, strict=True)) for at in ((t, 1), (1, t), (1, 1), (t, t))}
    corners = [
        (name, claim(function.subs(at), "<=", above.subs(at), f"{words}, {name}", under=under))
        for name, at in places.items()
    ]
    return chain(
        Mean(f(G)),
        _over_messages(blanket, f),
        at_most(sp.Sum(c(y) * above, all_messages), "a line above at the corners is above", theorems.general(
            "a convex function below a line at the corners of a square", function, "<=", above,
            stated=["$[u]_+$ is convex in $u$"], under=under,
            shown=[
                ("$u$ is linear", theorems.affine(function.args[0], rho)), *corners,
                *((f"the square: {fact.formula}", fact) for fact in RANGES),
            ],
        )),
        equals(line[0] * ROWS[0].left + line[1] * ROWS[1].left, "two sums"),
        equals(line[0] + line[1], "both laws sum to 1", *ROWS),
        equals(Mean(f(H)), "it is that of 2-RR", _two_rr().mean(f)),
        under=under, words=words,
    )  # fmt: skip


def _out_of_reach(
    blanket: Law, f: Function, under: tuple[object, ...], reach: tuple[Supposed, ...], words: str
) -> Chain:
    """E f(G) = 0 where no value of G reaches the level."""
    return chain(
        Mean(f(G)),
        _over_messages(blanket, f),
        at_most(0, "no value reaches the level", *reach),
        at_most(Mean(f(H)), "a mean of what is not negative"),
        under=under, words=words,
    )  # fmt: skip


def _for_every_n(order: Fact, mean: Fact) -> Chain:
    """From one user to all of them: convex order survives sums, and [u]_+ is convex."""
    return chain(
        Mean(Positive(SUM_G)) / n,
        at_most(
            Mean(Positive(SUM_H)) / n,
            "so the divergences are in this order for every $n$",
            theorems.convex_order_of_sums(
                G, H, x, (SUM_G, SUM_H), r"$G_1, \dots, G_n$ and $H_1, \dots, H_n$", excess=order, means=mean
            ),
        ),
        under=WITHIN,
    )


@derivation(
    "No blanket is above that of 2-RR", "Su et al. 2025, (1); proof ours",
    where={x: "any level", y: "a message", K: "number of messages", **LEVEL, alpha:
        r"$e^{\varepsilon}$, between 1 and $t$"},
)  # fmt: skip
def stronger_clone_generic() -> Blocks:
    r"""For every ε0-LDP randomizer, every n and 1 ≤ α ≤ t: the blanket is below the pair with p = 1/(t + 1), which is
    the blanket of 2-RR (Su et al. 2025, (1), which they leave open; the proof is ours).

    At a message with blanket mass c write :math:`\rho_i = R(x_i)/c`, both between 1 and t; Σ cρ_0 = Σ cρ_1 = 1 and
    :math:`G = \rho_0 - \alpha\rho_1`; elsewhere G is 0. H is G of 2-RR. For a fixed level x, :math:`[G - x]_+` is
    convex in (ρ_0, ρ_1), so a line λ_0ρ_0 + λ_1ρ_1 that is above it at the corners of the square is above it
    everywhere, and its mean is λ_0 + λ_1. Below 0 the same is done for :math:`[x - G]_+`.

    >>> stronger_clone_generic().statement[0].relation
    '<='
    """
    # -- the law of G: c on the messages, and 0 where the blanket does not cover
    gamma = parameter("gamma", 0, 1)
    what_covers = given(gamma, sp.Sum(c(y), all_messages), "what the blanket covers")
    total = claim(sp.Sum(c(y), all_messages) + 1 - gamma, "=", 1, "and what it does not cover", what_covers)
    values = {ratio: (c(y), all_messages), 0: 1 - gamma}
    blanket = law(G, values, "$c$ on the messages; elsewhere $G$ is 0", total=total)
    mean = chain(
        Mean(G),
        equals(sp.Sum(c(y) * ratio, all_messages), "the law of $G$", blanket.mean(itself)),
        equals(ROWS[0].left - alpha * ROWS[1].left, "two sums"),
        equals(1 - alpha, "both laws sum to 1", *ROWS),
        equals(Mean(H), "the mean of 2-RR is the same", _two_rr().mean(itself)),
        words="equal means",
    )
    A, B, least, most = t - alpha - x, alpha * t - 1 + x, 1 - alpha * t, t - alpha
    high, low = (tuple(part / (t**2 - 1) for part in pair) for pair in ((A * t, -A), (-B, B * t)))
    inside = (sp.Ge(x, 0), sp.Le(x, most), *WITHIN), (sp.Ge(x, least), sp.Le(x, 0), *WITHIN)
    between = _through_line(blanket, above_level, high, inside[0], "a level between 0 and the largest value")
    under_zero = _through_line(blanket, below_level, low, inside[1], "a level below 0")
    above_all = _out_of_reach(blanket, above_level, (sp.Ge(x, most), *WITHIN), RANGES[1:3], "a level above all values")
    below_all = _out_of_reach(blanket, below_level, (sp.Le(x, least), *WITHIN), RANGES[::3], "a level below all values")
    lower = reflected(mean, under_zero), reflected(mean, below_all)
    order = cases(above_all, between, *lower, within=WITHIN, words="convex order")
    return (
        *RANGES, *ROWS, what_covers, total, blanket, _two_rr(), mean, between, under_zero, above_all, below_all,
        order, _for_every_n(order, mean),
    )  # fmt: skip


@derivation(
    "The blanket of $k$-RR falls in $k$", "Koskela et al. 2021, C.4, reversed; proof ours",
    where={G: "$G$ of $(k + 1)$-RR", H: "$G$ of $k$-RR", x: "any level", **LEVEL, alpha:
        r"$e^{\varepsilon}$, between 1 and $t$"},
)  # fmt: skip
def krr_falls_in_k() -> Blocks:
    r"""For every n and 1 ≤ α ≤ t the blanket of k-RR at a fixed ε0 falls as k grows (ours; Koskela et al. 2021, C.4,
    read the opposite off a figure).

    The stop-loss transforms of k-RR and (k + 1)-RR, from the table of G, level by level between its values.

    >>> krr_falls_in_k().statement[0].relation
    '<='
    """
    table = KRR().gparv()
    more, fewer = (
        law(
            variable,
            dict(zip(table.forms, (mass.subs(k, size) for mass in table.masses), strict=True)),
            f"the table of {name}",
        )
        for variable, size, name in ((G, k + 1, "$(k + 1)$-RR"), (H, k, "$k$-RR"))
    )
    mean = chain(
        Mean(G),
        equals(1 - alpha, "the table", more.mean(itself)),
        equals(Mean(H), "the table", fewer.mean(itself)),
        words="equal means",
    )
    larger, smaller = more.mean(above_level), fewer.mean(above_level)
    order = cases(*(
        chain(
            Mean(above_level(G)),
            by("from the table", larger),
            link(smaller.right, "from $k + 1$ to $k$"),
            equals(Mean(above_level(H)), "from the table", smaller),
            under=(*levels, *WITHIN),
        )
        for link, *levels in (  # at the ends both are the same
            (equals, sp.Ge(x, t - alpha)),
            (at_most, sp.Ge(x, 0), sp.Le(x, t - alpha)),
            (at_most, sp.Ge(x, 1 - alpha), sp.Le(x, 0)),
            (at_most, sp.Ge(x, 1 - alpha * t), sp.Le(x, 1 - alpha)),
            (equals, sp.Le(x, 1 - alpha * t)),
        )
    ), within=WITHIN, words="convex order")  # fmt: skip
    return more, fewer, mean, order, _for_every_n(order, mean)
