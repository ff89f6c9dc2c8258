r"""The worst pair of inputs for noise on [0, 1]: opposite ends, for symmetric log-concave densities; the proof is ours.

p_x(y) = g(y − x), c = min(p_0, p_1). X_x = p_x/c and V_x = −p_x/c are random variables under the measure c, and G of
the pair (x_0, x_1) is X_{x0} + αV_{x1}. A law is *larger in convex order* if E[· − k]_+ is, for every level k, at equal
means.
"""

from collections.abc import Callable

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity

OURS = "ours"
alpha, rho, n = sp.Symbol("alpha", positive=True), sp.Symbol("rho", positive=True), sp.Symbol("n", positive=True)
k, k2 = sp.symbols("k k_2", real=True)
s, x, z = sp.symbols("s x z", real=True)
p, Psi, S = quantity("p", "p_{{{0}}}({1})", nonnegative=True), quantity("Psi", real=True), quantity("S", real=True)
X, V, TOP, LOW = Random("X"), Random("V"), Random("X_s"), Random("V_s")


@derivation(
    "Sums are largest when they move together", f"{OURS}, Lemma 9; comonotone sums",
    where={TOP: "above $X$ in convex order", LOW: "above $V$ in convex order", k: "any level"},
)  # fmt: skip
def comonotone_sums() -> Blocks:
    r"""If X ≤ X_s and V ≤ V_s in convex order and X_s, V_s are non-decreasing functions of one variable, then
    E[X + αV − k]_+ ≤ E[X_s + αV_s − k]_+ at every level k.

    The level is split, k = k_1 + αk_2, at a point of the curve (X_s, V_s): there X_s − k_1 and V_s − k_2 have one sign.

    >>> comonotone_sums().result
    E[V_s*alpha + X_s - k]_+
    """
    u, v = sp.symbols("u v", real=True)
    k1 = k - alpha * k2
    x_order, v_order = (
        suppose(
            Mean(Positive(low - k)),
            "<=",
            Mean(Positive(high - k)),
            f"${low}$ is below ${high}$ in convex order",
            (),
            [k],
        )
        for low, high in ((X, TOP), (V, LOW))
    )
    together = [
        chain(
            Positive(u) + alpha * Positive(v),
            equals(Positive(u + alpha * v), words),
            under=(relation(u, 0), relation(v, 0)),
        )
        for relation, words in ((sp.Ge, "both are positive"), (sp.Le, "both are negative"))
    ]
    same = theorems.general(
        "a curve that rises in both coordinates", Mean(Positive(TOP - k1)) + alpha * Mean(Positive(LOW - k2)), "=",
        Mean(Positive(TOP - k1 + alpha * (LOW - k2))),
        stated=[
            r"$X_s$ and $V_s$ are non-decreasing functions of one variable; $(k_1, k_2)$ is a point where "
            r"$X_s + \alpha V_s$ crosses $k$"
        ],
        shown=[(f"they add up where {fact.words}", fact) for fact in together], local=(u, v),
    )  # fmt: skip
    statement = chain(
        Mean(Positive(X + alpha * V - k)),
        equals(Mean(Positive(X - k1 + alpha * (V - k2))), "split the level"),
        at_most(Mean(Positive(X - k1) + alpha * Positive(V - k2)), r"$[u + v]_+ \le [u]_+ + [v]_+$"),
        equals(Mean(Positive(X - k1)) + alpha * Mean(Positive(V - k2)), "the mean is linear"),
        at_most(Mean(Positive(TOP - k1)) + alpha * Mean(Positive(LOW - k2)), "convex order",
                x_order.at({k: k1}), v_order.at({k: k2})),
        equals(Mean(Positive(TOP - k1 + alpha * (LOW - k2))), "the starred variables move together", same),
        equals(Mean(Positive(TOP + alpha * LOW - k)), "put the level together"),
    )  # fmt: skip
    return x_order, v_order, *together, statement


def in_convex_order(largest: Applied, pair_in_words: str, worst_in_words: str) -> tuple[Fact, Fact, Fact]:
    """G of a pair as X + αV, G_s of the worst one as X_s + αV_s, and that G is below G_s: their sums are in order."""
    low, high = (Mean(Positive(Random(name) - k)) for name in ("G", "G_s"))
    pair = suppose(low, "=", largest.left, pair_in_words, (), [k])
    worst = suppose(high, "=", largest.right, worst_in_words, (), [k])
    bounded = at_most(worst.right, "sums are largest when they move together", largest)
    ends = equals(pair.right, "the pair", pair), equals(high, "the worst pair", worst)
    return pair, worst, chain(low, ends[0], bounded, ends[1], words="convex order")


@derivation(
    "When one pair of inputs is the worst", f"{OURS}, Theorem 10",
    where={rho: "$p_s/p_{s'}$, the likelihood ratio of the pair", k: "any level", n: "users"},
)  # fmt: skip
def worst_pair() -> Blocks:
    r"""If c = min(p_s, p_s') is the blanket and every p_x/c is below p_s/c and p_s'/c in convex order under c, then
    (s, s') is a worst ordered pair for the blanket, for every α > 0 and n.

    With ρ = p_s/p_s' the starred variables are X_s = max(ρ, 1) and V_s = −max(1/ρ, 1), both non-decreasing in ρ.

    >>> worst_pair().statement[0].relation
    '<='
    """
    G, H = Random("G"), Random("G_s")
    sums = (Random("G_1 + … + G_n"), Random("H_1 + … + H_n"))
    lemma = cite(comonotone_sums)
    rising = [
        chain(0, at_most(sp.Derivative(f, rho), rf"{name} does not fall in $\rho$ where $\rho {side} 1$"), words=name)
        for f, name, side in ((rho, r"$X_s = \rho$", ">"), (-1 / rho, r"$V_s = -1/\rho$", "<"))
    ]
    means = suppose(Mean(G), "=", Mean(H), r"both are $1 - \alpha$: $p_x$ integrates to 1")
    largest = theorems.general(
        "a continuous function that does not fall on two pieces does not fall", lemma.left, "<=", lemma.right,
        stated=[r"$X_s$ is 1 for $\rho \le 1$, and $V_s$ is $-1$ for $\rho \ge 1$"],
        shown=[("sums are largest when they move together", lemma), *((fact.words, fact) for fact in rising)],
    )  # fmt: skip
    pair, star, order = in_convex_order(
        largest, r"$G$ of a pair is $X + \alpha V$", r"$G_s$ of $(s, s')$ is $X_s + \alpha V_s$"
    )
    total = theorems.convex_order_of_sums(G, H, k, sums, "users are independent", excess=order, means=means)
    statement = chain(
        Mean(Positive(sums[0])) / n,
        at_most(Mean(Positive(sums[1])) / n, "the divergence of $n$ users, for every $n$", total),
    )
    return lemma, pair, star, means, *rising, order, statement


def over_the_set(
    near: sp.Expr, far: sp.Expr, top: Callable[[sp.Expr], sp.Expr], bottom: sp.Expr, scale: sp.Expr | int = 1
) -> tuple[Fact, ...]:
    """What Ψ and S are, what is integrable, and that Ψ(far) − Ψ(near) is at least what ``far`` has more on the set of
    ``near``: Ψ(s) is the integral of [top(s) − k·bottom]_+, of densities, and S(s) the mass of p_s where that is
    positive for ``near``; top(far) − top(near) is ``scale`` times p_far − p_near."""
    (u, v), line = sp.symbols("u v", real=True), (z, -sp.oo, sp.oo)
    total = given(Psi(s), sp.Integral(Positive(top(s) - k * bottom), line), "what is above 0, integrated")
    on_set = sp.Piecewise((p(s, z), top(near) - k * bottom > 0), (0, True))
    mass = given(S(s), sp.Integral(on_set, line), "the mass of $p_s$ on the set of the nearer input")
    pointwise = (
        claim(Positive(u) - Positive(v), ">=", u - v, "on the set of the nearer input", under=sp.Gt(v, 0)),
        claim(Positive(u) - Positive(v), ">=", 0, "outside", under=sp.Le(v, 0)),
        claim(Positive(top(s) - k * bottom), "<=", top(s).subs(alpha, 0) + Positive(-k) * bottom, "below densities"),
    )
    known = (
        total, mass, suppose(sp.Integral(p(s, z), line), "=", 1, "every $p_s$ is a density"),
        suppose(sp.Integral(bottom, line), "<=", 1, "and so is, or is below one, what is subtracted $k$ times"),
    )  # fmt: skip
    return *known, theorems.general(
        "integrals are linear and keep inequalities", Psi(far) - Psi(near), ">=", -scale * (S(near) - S(far)),
        [], [(fact.words, fact) for fact in (*known, *pointwise)], local=(u, v),
    )  # fmt: skip


@derivation(
    "Opposite ends are the worst pair for symmetric log-concave noise", f"{OURS}, Theorem 7 (Lemma 8)",
    where={sp.Symbol("a"): "an input in $[0, 1/2]$; the mirror takes care of the others", k: "a level above 1"},
)  # fmt: skip
def symmetric_noise() -> Blocks:
    r"""For a symmetric log-concave density g and p_x(y) = g(y − x), every p_a/c is below p_0/c in convex order under
    c = min(p_0, p_1): :math:`\Psi_k(a) = \int [p_a - kc]_+ \le \Psi_k(0)` for every k. With `worst_pair`, (0, 1)
    and (1, 0) are the worst pairs for the blanket.

    p_a/c falls up to y = 1/2 and rises from there on, so it exceeds k > 1 outside of an interval (y_1, y_2). F is the
    distribution function of g, ψ = −log g.

    >>> symmetric_noise().statement[0].relational()
    'Psi(0) - Psi(a) >= 0'
    """
    a, d, e, h, y1, y2 = sp.symbols("a d e h y_1 y_2", real=True)
    small = sp.Le(a, sp.Rational(1, 2))
    psi, F, g, c = (quantity(name, nonnegative=True) for name in ("psi", "F", "g", "c"))
    # -- where the set ends: y_2 ≥ 2a − y_1
    distance = claim(2 * a - y1, "<=", 1 - y1, "$a$ is at most $1/2$", under=small)
    mirrored = theorems.general(
        "an even convex function does not fall in the distance from 0", psi(2 * a - y1), "<=", psi(1 - y1),
        stated=[r"$g$ is symmetric and log-concave: $\psi = -\log g$ is even and convex",
            "$0 < 2a - y_1$; else it is clear"],
        shown=[(r"$2a - y_1 \le 1 - y_1$", distance)],
    )  # fmt: skip
    even = suppose(psi(y1 - a), "=", psi(a - y1), r"$\psi$ is even")
    level = suppose(psi(1 - y1), "=", psi(y1 - a) + sp.log(k), "$p_a = kp_1$ at the left end $y_1$")
    not_in = chain(
        psi(2 * a - y1) - psi(a - y1),
        at_most(psi(1 - y1) - psi(a - y1), r"$\psi$ rises with the distance", mirrored),
        equals(psi(y1 - a) + sp.log(k) - psi(a - y1), "the left end", level),
        equals(sp.log(k), r"$\psi$ is even", even),
        under=small, words=r"$p_a \le kp_0$ at the point $2a - y_1$, so that $y_2 \ge 2a - y_1$",
    )  # fmt: skip
    # -- the integrals over that set
    half = (sp.Eq(y2, y1 + sp.Abs(d)), sp.Eq(y1, (sp.Abs(e) + 2 * a - sp.Abs(d)) / 2), sp.Eq(x, a - sp.Abs(h)))
    squares = claim(
        (y1 - x) ** 2, "<=", (y2 - x) ** 2, "$(y_2 - x)^2 - (y_1 - x)^2 = (y_2 - y_1)(y_1 + y_2 - 2x)$", under=half
    )
    nearer = theorems.general(
        "a symmetric log-concave density falls with the distance from its centre",
        sp.Integral(g(y1 - x) - g(y2 - x), (x, 0, a)), ">=", sp.Integer(0),
        stated=[r"$0 \le x \le a$, $y_1 \le y_2$"],
        shown=[(r"$y_1 + y_2 \ge 2a$", not_in), ("$y_1$ is nearer to $x$ than $y_2$", squares)], local=(x, y1, y2, d,
        e, h),
    )  # fmt: skip
    density = given(g(x), sp.Derivative(F(x), x), "$g$ is the density of $F$")
    slope = claim(sp.Derivative(-F(y1 - x), x), "=", g(y1 - x), "its derivative in $x$", density)
    calculus = theorems.general(
        "fundamental theorem of calculus",
        F(y1) - F(y1 - a) - F(y2) + F(y2 - a), "=", sp.Integral(g(y1 - x) - g(y2 - x), (x, 0, a)),
        stated=[], shown=[("$g(y_1 - x)$ is the derivative of $-F(y_1 - x)$, and the same at $y_2$", slope)],
    )  # fmt: skip
    *names, on_set = over_the_set(a, sp.Integer(0), lambda at: p(at, z), c(z))
    mass = (F(y1) + 1 - F(y2)) - (F(y1 - a) + 1 - F(y2 - a))
    outside = theorems.general(
        "the mass outside an interval", S(0) - S(a), "=", mass, ["$p_a > kc$ left of $y_1$ and right of $y_2$, "
                                                                 "nowhere else"],
        shown=[("$p_x(z) = g(z - x)$ is the density of $F(z - x)$", slope)],
    )  # fmt: skip
    gain = chain(
        Psi(0) - Psi(a),
        at_least(S(0) - S(a), "integrate over the set of $a$", on_set),
        equals(mass, "the set is left of $y_1$ and right of $y_2$", outside),
        equals(sp.Integral(g(y1 - x) - g(y2 - x), (x, 0, a)), "$F$ is the integral of $g$", calculus),
        at_least(0, r"$y_1$ is nearer to every $x \le a$ than $y_2$", nearer),
        under=small, words="no other input is worse",
    )  # fmt: skip
    return even, level, not_in, density, *names, gain
