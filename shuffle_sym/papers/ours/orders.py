r"""Orders between analyses that hold for every number of users; the proofs are ours.

An order is shown in three moves. Two laws of G have the same mean; their stop-loss transforms :math:`E[G - x]_+` are
ordered for every x, so one law is larger in convex order; convex order survives sums, and :math:`[u]_+` is convex. Then
:math:`D_\alpha = \frac1n E[G_1 + \dots + G_n]_+` is ordered for *every* n.
"""

from collections.abc import Callable

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_most, cases, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Applied, Supposed, law, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity
from shuffle_sym.randomizers import KRR, BinaryRR

t, k, alpha = field.t, field.k, field.alpha
x = sp.Symbol("x", real=True)
y, K, n = sp.symbols("y K n", integer=True, positive=True)
G, H = Random("G"), Random("H")
SUM_G, SUM_H = Random("G_1 + … + G_n"), Random("H_1 + … + H_n")
Function = Callable[[sp.Expr], sp.Expr]
WITHIN = (sp.Ge(alpha, 1), sp.Le(alpha, t))

add(of_every_randomizer("shared clones", "Su et al. 2025, (1); proof ours", decomposition.clones_shared))


def masses_of(source: object) -> dict[sp.Expr, sp.Expr]:
    """Value → probability of G, from the table of a randomizer."""
    table = source.gparv()  # type: ignore[attr-defined]
    return dict(zip(table.forms, table.masses, strict=True))


def _at_corners(function: sp.Expr, line: sp.Expr, words: str, under: tuple[object, ...], rho: tuple[sp.Expr, sp.Expr],
                ranges: tuple[Supposed, ...]) -> Applied:  # fmt: skip
    """A convex function of (ρ_0, ρ_1) that is below a line at the corners of the square 1 ≤ ρ ≤ t is below it there."""
    corners = []
    for values in ((t, 1), (1, t), (1, 1), (t, t)):
        low, high = (side.subs(dict(zip(rho, values, strict=True))) for side in (function, line))
        corners.append((f"corner {values}", claim(low, "<=", high, f"{words}, corner {values}", under=under)))
    return theorems.general(
        "a convex function below a line at the corners of a square", function, "<=", line,
        stated=["[u]_+ of a linear u is convex"],
        shown=[*corners, *((f"the square: {fact.relational()}", fact) for fact in ranges)], under=under,
    )  # fmt: skip


@derivation(
    "No blanket is above that of 2-RR",
    "Su et al. 2025, (1); proof ours",
    where={x: "any level", y: "a message", K: "number of messages", t: "e^ε0", alpha: "e^ε, between 1 and t"},
)
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
    c, rho0, rho1 = (quantity(name, nonnegative=True) for name in ("c", "rho_0", "rho_1"))
    gamma = sp.Symbol("gamma", nonnegative=True)
    ranges = tuple(
        fact
        for rho, which in ((rho0, "x_0"), (rho1, "x_1"))
        for fact in (
            suppose(rho(y), ">=", 1, f"the blanket is below R({which})"),
            suppose(rho(y), "<=", t, f"ε0-LDP: R({which}) is at most t times every other law"),
        )
    )
    rows = tuple(
        suppose(sp.Sum(c(y) * rho(y), (y, 1, K)), "=", 1, f"R({which}) sums to 1")
        for rho, which in ((rho0, "x_0"), (rho1, "x_1"))
    )

    def of_blanket(f: Function) -> Applied:
        """E f(G): over the messages, and over what the blanket does not cover, where G is 0."""
        on = sp.Sum(c(y) * f(rho0(y) - alpha * rho1(y)), (y, 1, K)) + (1 - gamma) * f(sp.Integer(0))
        return theorems.total_probability(Mean(f(G)), on, "the law of G: c on the messages, 0 on the rest")

    two_rr = law(H, masses_of(BinaryRR()), "the table of 2-RR")

    mean = chain(
        Mean(G),
        equals(sp.Sum(c(y) * (rho0(y) - alpha * rho1(y)), (y, 1, K)), "the law of G", of_blanket(lambda u: u)),
        equals(sp.Sum(c(y) * rho0(y), (y, 1, K)) - alpha * sp.Sum(c(y) * rho1(y), (y, 1, K)), "two sums"),
        equals(1 - alpha, "both laws sum to 1", *rows),
        equals(Mean(H), "the mean of 2-RR is the same", two_rr.mean(lambda u: u)),
        words="equal means",
    )

    def written_out(f: Function) -> sp.Expr:
        return sp.Sum(c(y) * f(rho0(y) - alpha * rho1(y)), (y, 1, K))

    def side(f: Function, line: tuple[sp.Expr, sp.Expr], under: tuple[object, ...], words: str) -> Chain:
        """E f(G) ≤ E f(H) through a line."""
        above = line[0] * rho0(y) + line[1] * rho1(y)
        corners = _at_corners(f(rho0(y) - alpha * rho1(y)), above, words, under, (rho0(y), rho1(y)), ranges)
        sums = [sp.Sum(c(y) * rho(y), (y, 1, K)) for rho in (rho0, rho1)]
        return chain(
            Mean(f(G)),
            equals(written_out(f), "the law of G; what is not covered adds nothing", of_blanket(f)),
            at_most(sp.Sum(c(y) * above, (y, 1, K)), "a line above at the corners is above", corners),
            equals(line[0] * sums[0] + line[1] * sums[1], "two sums"),
            equals(line[0] + line[1], "both laws sum to 1", *rows),
            equals(Mean(f(H)), "it is that of 2-RR", two_rr.mean(f)),
            under=under, words=words,
        )  # fmt: skip

    def beyond(f: Function, under: tuple[object, ...], reach: tuple[Supposed, ...], words: str) -> Chain:
        """E f(G) = 0 where no value of G reaches the level."""
        return chain(
            Mean(f(G)),
            equals(written_out(f), "the law of G; what is not covered adds nothing", of_blanket(f)),
            at_most(0, "no value reaches the level", *reach),
            at_most(Mean(f(H)), "a mean of what is not negative"),
            under=under, words=words,
        )  # fmt: skip

    def over(u: sp.Expr) -> sp.Expr:
        return Positive(u - x)

    def below(u: sp.Expr) -> sp.Expr:
        return Positive(x - u)

    A, B = t - alpha - x, alpha * t - 1 + x
    high, low = ((A * t, -A), (-B, B * t))
    square = t**2 - 1
    high, low = (tuple(part / square for part in pair) for pair in (high, low))
    between = side(over, high, (sp.Ge(x, 0), sp.Le(x, t - alpha), *WITHIN), "a level between 0 and the largest value")
    under_zero = side(below, low, (sp.Ge(x, 1 - alpha * t), sp.Le(x, 0), *WITHIN), "a level below 0")
    above_all = beyond(over, (sp.Ge(x, t - alpha), *WITHIN), ranges[1:3], "a level above all values")
    below_all = beyond(below, (sp.Le(x, 1 - alpha * t), *WITHIN), ranges[::3], "a level below all values")

    def reflected(fact: Chain) -> Chain:
        """The order of E[G − x]_+ from that of E[x − G]_+, because [u]_+ = u + [−u]_+."""
        return chain(
            Mean(Positive(G - x)),
            equals(Mean(G) - x + Mean(Positive(x - G)), "[u]_+ = u + [−u]_+"),
            at_most(Mean(H) - x + Mean(Positive(x - H)), "equal means, and the other side", mean, fact),
            equals(Mean(Positive(H - x)), "[u]_+ = u + [−u]_+"),
            under=fact.under,
        )

    order = cases(above_all, between, reflected(under_zero), reflected(below_all), within=WITHIN, words="convex order")
    sums = theorems.convex_order_of_sums(
        G, H, x, (SUM_G, SUM_H), "G_1, …, G_n and H_1, …, H_n", excess=order, means=mean
    )
    statement = chain(
        Mean(Positive(SUM_G)) / n,
        at_most(Mean(Positive(SUM_H)) / n, "so the divergences are in this order for every n", sums),
        under=WITHIN,
    )
    return (*ranges, *rows, two_rr, mean, between, under_zero, above_all, below_all, order, statement)


@derivation(
    "The blanket of k-RR falls in k",
    "Koskela et al. 2021, C.4, reversed; proof ours",
    where={G: "G of (k + 1)-RR", H: "G of k-RR", x: "any level", t: "e^ε0", alpha: "e^ε, between 1 and t"},
)
def krr_falls_in_k() -> Blocks:
    r"""For every n and 1 ≤ α ≤ t the blanket of k-RR at a fixed ε0 falls as k grows (ours; Koskela et al. 2021, C.4,
    read the opposite off a figure).

    The stop-loss transforms of k-RR and (k + 1)-RR, from the table of G, level by level between its values.

    >>> krr_falls_in_k().statement[0].relation
    '<='
    """

    more, fewer = (
        law(variable, {value: mass.subs(k, size) for value, mass in masses_of(KRR()).items()}, f"the table of {name}")
        for variable, size, name in ((G, k + 1, "(k + 1)-RR"), (H, k, "k-RR"))
    )

    def same(u: sp.Expr) -> sp.Expr:
        return u

    def over(u: sp.Expr) -> sp.Expr:
        return Positive(u - x)

    mean = chain(
        Mean(G),
        equals(1 - alpha, "the table", more.mean(same)),
        equals(Mean(H), "the table", fewer.mean(same)),
        words="equal means",
    )
    levels = (
        (sp.Ge(x, t - alpha),),
        (sp.Ge(x, 0), sp.Le(x, t - alpha)),
        (sp.Ge(x, 1 - alpha), sp.Le(x, 0)),
        (sp.Ge(x, 1 - alpha * t), sp.Le(x, 1 - alpha)),
        (sp.Le(x, 1 - alpha * t),),
    )
    branches = []
    for level in levels:
        larger, smaller = more.mean(over), fewer.mean(over)
        at_all = level not in (levels[0], levels[-1])  # else both are the same
        links = [equals(larger.right, "from the table", larger)]
        links.append((at_most if at_all else equals)(smaller.right, "from k + 1 to k"))
        links.append(equals(Mean(over(H)), "from the table", smaller))
        branches.append(chain(Mean(over(G)), *links, under=(*level, *WITHIN)))
    order = cases(*branches, within=WITHIN, words="convex order")
    sums = theorems.convex_order_of_sums(
        G, H, x, (SUM_G, SUM_H), "G_1, …, G_n and H_1, …, H_n", excess=order, means=mean
    )
    statement = chain(
        Mean(Positive(SUM_G)) / n,
        at_most(Mean(Positive(SUM_H)) / n, "so the divergences are in this order for every n", sums),
        under=WITHIN,
    )
    return more, fewer, mean, order, statement
