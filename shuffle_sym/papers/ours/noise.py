r"""The worst pair of inputs for noise on [0, 1]: opposite ends, for symmetric log-concave densities; and all pairs of
inputs for the drop-out bound. The proofs are ours.

p_x(y) = g(y − x), c = min(p_0, p_1). X_x = p_x/c and V_x = −p_x/c are random variables under the measure c, and G of
the pair (x_0, x_1) is X_{x0} + αV_{x1}. A law is *larger in convex order* if E[· − k]_+ is, for every level k, at equal
means.
"""

from collections.abc import Callable
from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity
from shuffle_sym.papers.ours.notation import alpha, eps0
from shuffle_sym.papers.proofs import by, quantities

OURS = "ours"
rho, n = sp.symbols("rho n", positive=True)
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
            Mean(Positive(low - k)), "<=", Mean(Positive(high - k)), f"${low}$ is below ${high}$ in convex order", (),
            [k],
        )
        for low, high in ((X, TOP), (V, LOW))
    )  # fmt: skip
    together = [
        chain(
            Positive(u) + alpha * Positive(v),
            equals(Positive(u + alpha * v), words),
            under=(relation(u, 0), relation(v, 0)),
        )
        for relation, words in ((sp.Ge, "both are positive"), (sp.Le, "both are negative"))
    ]
    return x_order, v_order, *together, chain(
        Mean(Positive(X + alpha * V - k)),
        equals(Mean(Positive(X - k1 + alpha * (V - k2))), "split the level"),
        at_most(Mean(Positive(X - k1) + alpha * Positive(V - k2)), r"$[u + v]_+ \le [u]_+ + [v]_+$"),
        equals(Mean(Positive(X - k1)) + alpha * Mean(Positive(V - k2)), "the mean is linear"),
        at_most(
            Mean(Positive(TOP - k1)) + alpha * Mean(Positive(LOW - k2)), "convex order", x_order.at({k: k1}),
            v_order.at({k: k2}),
        ),
        by("the starred variables move together", theorems.general(
            "a curve that rises in both coordinates", Mean(Positive(TOP - k1)) + alpha * Mean(Positive(LOW - k2)), "=",
            Mean(Positive(TOP - k1 + alpha * (LOW - k2))),
            stated=[
                r"$X_s$ and $V_s$ are non-decreasing functions of one variable; $(k_1, k_2)$ is a point where $X_s + "
                r"\alpha V_s$ crosses $k$",
            ], shown=[(f"they add up where {fact.words}", fact) for fact in together], local=(u, v),
        )),
        equals(Mean(Positive(TOP + alpha * LOW - k)), "put the level together"),
    )  # fmt: skip


def in_convex_order(largest: Applied, pair_in_words: str, worst_in_words: str) -> tuple[Fact, Fact, Fact]:
    """G of a pair as X + αV, G_s of the worst one as X_s + αV_s, and that G is below G_s: their sums are in order."""
    low, high = (Mean(Positive(Random(name) - k)) for name in ("G", "G_s"))
    pair = suppose(low, "=", largest.left, pair_in_words, (), [k])
    worst = suppose(high, "=", largest.right, worst_in_words, (), [k])
    bounded = at_most(worst.right, "sums are largest when they move together", largest)
    ends = by("the pair", pair), equals(high, "the worst pair", worst)
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
    return lemma, pair, star, means, *rising, order, chain(
        Mean(Positive(sums[0])) / n,
        at_most(
            Mean(Positive(sums[1])) / n,
            "the divergence of $n$ users, for every $n$",
            theorems.convex_order_of_sums(G, H, k, sums, "users are independent", excess=order, means=means),
        ),
    )  # fmt: skip


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
    psi, F, g, c = quantities("psi F g c", nonnegative=True)
    # -- where the set ends: y_2 ≥ 2a − y_1
    even = suppose(psi(y1 - a), "=", psi(a - y1), r"$\psi$ is even")
    level = suppose(psi(1 - y1), "=", psi(y1 - a) + sp.log(k), "$p_a = kp_1$ at the left end $y_1$")
    not_in = chain(
        psi(2 * a - y1) - psi(a - y1),
        at_most(psi(1 - y1) - psi(a - y1), r"$\psi$ rises with the distance", theorems.general(
            "an even convex function does not fall in the distance from 0", psi(2 * a - y1), "<=", psi(1 - y1),
            stated=[
                r"$g$ is symmetric and log-concave: $\psi = -\log g$ is even and convex",
                "$0 < 2a - y_1$; else it is clear",
            ],
            shown=[(r"$2a - y_1 \le 1 - y_1$", claim(2 * a - y1, "<=", 1 - y1, "$a$ is at most $1/2$", under=small))],
        )),
        equals(psi(y1 - a) + sp.log(k) - psi(a - y1), "the left end", level),
        equals(sp.log(k), r"$\psi$ is even", even),
        under=small, words=r"$p_a \le kp_0$ at the point $2a - y_1$, so that $y_2 \ge 2a - y_1$",
    )  # fmt: skip
    # -- the integrals over that set
    half = (sp.Eq(y2, y1 + sp.Abs(d)), sp.Eq(y1, (sp.Abs(e) + 2 * a - sp.Abs(d)) / 2), sp.Eq(x, a - sp.Abs(h)))
    density = given(g(x), sp.Derivative(F(x), x), "$g$ is the density of $F$")
    slope = claim(sp.Derivative(-F(y1 - x), x), "=", g(y1 - x), "its derivative in $x$", density)
    *names, on_set = over_the_set(a, sp.Integer(0), lambda at: p(at, z), c(z))
    mass = (F(y1) + 1 - F(y2)) - (F(y1 - a) + 1 - F(y2 - a))
    gain = chain(
        Psi(0) - Psi(a),
        at_least(S(0) - S(a), "integrate over the set of $a$", on_set),
        by("the set is left of $y_1$ and right of $y_2$", theorems.general(
            "the mass outside an interval", S(0) - S(a), "=", mass,
            ["$p_a > kc$ left of $y_1$ and right of $y_2$, nowhere else"],
            shown=[("$p_x(z) = g(z - x)$ is the density of $F(z - x)$", slope)],
        )),
        by("$F$ is the integral of $g$", theorems.general(
            "fundamental theorem of calculus", F(y1) - F(y1 - a) - F(y2) + F(y2 - a), "=",
            sp.Integral(g(y1 - x) - g(y2 - x), (x, 0, a)), stated=[],
            shown=[("$g(y_1 - x)$ is the derivative of $-F(y_1 - x)$, and the same at $y_2$", slope)],
        )),
        at_least(0, r"$y_1$ is nearer to every $x \le a$ than $y_2$", theorems.general(
            "a symmetric log-concave density falls with the distance from its centre",
            sp.Integral(g(y1 - x) - g(y2 - x), (x, 0, a)), ">=", sp.Integer(0),
            stated=[r"$0 \le x \le a$, $y_1 \le y_2$"],
            shown=[
                (r"$y_1 + y_2 \ge 2a$", not_in),
                (
                    "$y_1$ is nearer to $x$ than $y_2$", claim(
                        (y1 - x) ** 2, "<=", (y2 - x) ** 2, "$(y_2 - x)^2 - (y_1 - x)^2 = (y_2 - y_1)(y_1 + y_2 - 2x)$",
                        under=half,
                    ),
                ),
            ], local=(x, y1, y2, d, e, h),
        )),
        under=small, words="no other input is worse",
    )  # fmt: skip
    return even, level, not_in, density, *names, gain


# --------------------------------------------------------------------------------- all pairs, for the drop-out bound

#: (u, v | x) is the law of (p_u − αp_v)/p_x under p_x, for a log-concave g. It does not change if u, v, x are
#: translated, and all of these laws have the mean 1 − α.
a, b, y = sp.symbols("a b y", real=True)
d, e = sp.Symbol("d", positive=True), sp.Symbol("e", nonnegative=True)
F, h = quantities("F h")
slope = quantity("l", r"(\log g)'({0})")


def _left_half_line(S: Any, near: sp.Expr, far: sp.Expr, why: str) -> list[Fact]:
    """That log g is concave, and S(near) >= S(far) for near <= far, where S(t) is the mass of p_t on a set that is a
    left half line: ratios p_s/p_s' with s <= s' do not increase in y."""
    concave = suppose(slope(y + e), "<=", slope(y), r"$\log g$ is concave: its slope, from the right, does not rise")
    mass = theorems.general(
        "the mass of a half line", S(near) - S(far), "=", F(y - near) - F(y - far),
        stated=[f"{why}: the set is all that is left of some $y$", "$F$ is the distribution function of $g$"],
        shown=[
            (
                r"$p_s/p_{s'}$ does not increase in $y$ for $s \le s'$", claim(
                    slope(y - b), "<=", slope(y - b - e), r"$\log p_b$ rises less than $\log p_{b+e}$",
                    concave.at({y: y - b - e}),
                ),
            ),
        ],
    )  # fmt: skip
    rises = theorems.general(
        "a distribution function does not fall", F(y - near) - F(y - far), ">=", sp.Integer(0), stated=[],
        shown=[("the arguments", claim(y - far, "<=", y - near, "translation"))],
    )  # fmt: skip
    return [concave, mass, rises]


@derivation(
    "Others between the two inputs: 0 and 1 are the worst pair", f"{OURS}, Lemma 13",
    where={a: r"the first input, $0 \le a \le x$", k: "any level"},
)  # fmt: skip
def others_between() -> Blocks:
    r"""For x_0 ≤ x ≤ x_1 the law (x_0, x_1 | x) is below (0, 1 | x) in convex order, for log-concave noise.

    p_a/p_x does not increase in y for a ≤ x, so it is above k left of some y: there p_0 has more mass than p_a. The
    same for −p_b/p_x and the mirror; and p_0/p_x, −p_1/p_x are both non-increasing in y.

    >>> others_between().statement[0].relation
    '<='
    """
    first = sp.Symbol("a", nonnegative=True)
    concave, mass, rises = _left_half_line(S, sp.Integer(0), first, "$p_a/p_x > k$, which does not increase in $y$")
    *names, gain = over_the_set(first, sp.Integer(0), lambda at: p(at, z), p(x, z))
    ratio = chain(
        Psi(0) - Psi(first),
        by("integrate over the set", gain),
        equals(F(y) - F(y - first), "a half line", mass),
        at_least(0, "$F$ rises", rises),
        words="$p_a/p_x$ is below $p_0/p_x$ in convex order",
    )
    lemma = cite(comonotone_sums)
    together = theorems.general(
        "$p_0/p_x$ and $-p_1/p_x$ fall together", lemma.left, "<=", lemma.right,
        stated=[r"$g$ is log-concave and $0 \le x \le 1$", "the mirror image of the first line is the one for "
                                                           "$-p_b/p_x$"],
        shown=[("$p_a/p_x$ is below $p_0/p_x$", ratio), ("sums are largest when they move together", lemma)],
        local=(y, first),
    )  # fmt: skip
    pair, star, statement = in_convex_order(
        together, r"$(x_0, x_1 \mid x)$ is $X + \alpha V$", r"$(0, 1 \mid x)$ is $X_s + \alpha V_s$"
    )
    return concave, *names, ratio, lemma, pair, star, statement


@derivation(
    "Others left of both inputs: the farther the second input, the worse", f"{OURS}, Lemma 14",
    where={a: "the first input, not left of 0", d: "the second one is at $a + d$", e: "or at $a + d + e$"},
)  # fmt: skip
def second_input() -> Blocks:
    r"""(a, b | 0) is below (a, b' | 0) in convex order for 0 ≤ a < b ≤ b' and α ≥ 1, for log-concave noise.

    E is the set where p_a − αp_b − kp_0 is positive; Ψ(b) is its integral there and S(t) the mass of p_t on E.

    >>> second_input().statement[0].relational()
    '-Psi(a + d) + Psi(a + d + e) >= 0'
    """
    near, far = a + d, a + d + e
    *names, gain = over_the_set(near, far, lambda at: p(a, z) - alpha * p(at, z), p(0, z), -alpha)
    concave, mass, rises = _left_half_line(
        S, near, far, r"$p_a/p_b - kp_0/p_b > \alpha$, which does not increase in $y$ for $k < 0$"
    )
    chord = (e * h(a) + d * h(far)) / (d + e)
    beyond = suppose(h(near), ">=", chord, r"$h(t) = \log p_t$ at a message of $E$; $g$ is log-concave")
    p_b, p_0, r = sp.symbols("p_b p_0 r", positive=True)
    most = (sp.Ge(alpha, 1), sp.Ge(k, 0))
    drop = chain(
        h(far),
        at_most(h(near) + e / d * (h(near) - h(a)), "a concave function is below its chord, beyond it", beyond),
        at_most(h(near), "the chord falls", theorems.general(
            "the logarithm rises", h(near), "<=", h(a),
            stated=[r"on $E$, $p_a = \alpha p_b + kp_0 + r$ with some $r > 0$"],
            shown=[
                (
                    r"$p_b \le p_a$",
                    claim(p_b, "<=", alpha * p_b + k * p_0 + r, r"$\alpha \ge 1$ and $k \ge 0$", under=most),
                ),
            ],
        )),
        under=most, words=r"$p_{b'} \le p_b$ on $E$",
    )  # fmt: skip
    return concave, beyond, drop, *names, cases(
        chain(
            Psi(far) - Psi(near),
            by("integrate over the set", gain),
            equals(alpha * (F(y - near) - F(y - far)), "$E$ is a half line", mass),
            at_least(0, "$F$ rises", rises),
            under=(sp.Ge(alpha, 1), sp.Lt(k, 0)),
        ),
        chain(
            Psi(far) - Psi(near),
            by("integrate over the set", gain),
            at_least(0, r"$p_{b'} \le p_b$ on $E$", theorems.general(
                "integrals keep inequalities", S(near) - S(far), ">=", sp.Integer(0), [],
                shown=[(r"$p_{b'} \le p_b$ on $E$", drop)],
            )),
            under=most,
        ),
        within=sp.Ge(alpha, 1), words="the farther the second input, the worse",
    )  # fmt: skip


@derivation(
    "Others right of both inputs: the farther the first input, the worse, if the two are not close",
    f"{OURS}, Lemma 15 and its condition for Laplace noise",
    where={b: "the second input, mirrored", d: "the first one is at $b + d$", e: "or at $b + d + e$"},
)
def first_input() -> Blocks:
    r"""(a, b | 0) is below (a', b | 0) in convex order for 0 ≤ b < a ≤ a' if p_a ≥ αp_b wherever p_a' > p_a; for
    Laplace noise that is so if ε0(a − b) ≥ log α, and if it is not the divergence of the pair is 0 in any case.

    E is the set where p_a − αp_b − kp_0 is positive, Ψ(a) the integral there, S(t) the mass of p_t on E and T(t) that
    on its complement. On the complement, for k < 0, αp_b > p_a.

    >>> first_input().statement[0].relational()
    '-Psi(b + d) + Psi(b + d + e) >= 0'
    """
    T, near, far = quantity("T"), b + d, b + d + e
    *names, gain = over_the_set(near, far, lambda at: p(at, z) - alpha * p(b, z), p(0, z))
    complement = given(T(a), 1 - S(a), "$p_a$ has the mass 1, on $E$ and on its complement")
    whole = chain(S(a), equals(1 - T(a), "what the complement leaves", complement))
    concave, mass, rises = _left_half_line(
        T, near, far, r"$\alpha p_b/p_a + kp_0/p_a \ge 1$, which does not increase in $y$ for $k \ge 0$"
    )
    apart = suppose(alpha, "<=", sp.exp(eps0 * d), r"the pair is not close: $\varepsilon_0(a - b) \ge \log \alpha$")
    ratio = chain(
        alpha,
        at_most(sp.exp(eps0 * d), "the pair is not close", apart),
        equals(sp.exp(-eps0 * e / 2) / sp.exp(-eps0 * (d + e / 2)), "$p_a/p_b$ of Laplace noise from $(a + a')/2$ on"),
        words=r"$\alpha \le p_a/p_b$ where $p_{a'} > p_a$",
    )
    return *names, complement, whole, apart, ratio, concave, cases(
        chain(
            Psi(far) - Psi(near),
            by("integrate over the set", gain),
            equals(T(near) - T(far), "the complement", whole),
            equals(F(y - near) - F(y - far), "the complement is a half line", mass),
            at_least(0, "$F$ rises", rises), under=sp.Ge(k, 0),
        ),
        chain(
            Psi(far) - Psi(near),
            by("integrate over the set", gain),
            equals(T(near) - T(far), "the complement", whole),
            at_least(0, r"$p_{a'} \le p_a$ on the complement", theorems.general(
                "integrals keep inequalities", T(near) - T(far), ">=", sp.Integer(0),
                stated=[
                    r"$p_{a'} > p_a$ right of $(a + a')/2$ only; on the complement of $E$, $\alpha p_b > p_a$ for $k "
                    r"< 0$",
                ], shown=[(r"$\alpha \le p_a/p_b$ where $p_{a'} > p_a$", ratio)],
            )), under=sp.Lt(k, 0),
        ), words="the farther the first input, the worse",
    )  # fmt: skip


@derivation(
    "An input in a cell: finitely many laws for Laplace noise", f"{OURS}; the covers of `model.laplace_laws`",
    where={sp.Symbol("r"): r"$\exp(\varepsilon_0(x - l)/2)$", sp.Symbol("s"): r"$\exp(\varepsilon_0(h - x)/2)$",
           sp.Symbol("v"): r"$\exp(\varepsilon_0(y - l))$"},
)  # fmt: skip
def input_in_a_cell() -> Blocks:
    r"""p_x ≥ θp_l + ηp_h for x in [l, h], with equality outside of the cell, θ = sinh ε0(h−x)/sinh ε0(h−l),
    η = sinh ε0(x−l)/sinh ε0(h−l); and θ + η ≥ 1/cosh(ε0(h−l)/2).

    Densities are over that of the nearer end at a message: left of l they are p_l : p_x : p_h = 1 : 1/r² : 1/(rs)².

    >>> [fact.words for fact in input_in_a_cell().statement][2:]
    ['inside the cell $p_x$ is larger', 'the weights are almost 1']
    """
    m, w, v = sp.symbols("m w v", positive=True)
    r, s = 1 + m, 1 + w  # x is inside the cell
    whole = (r * s) ** 2 - 1 / (r * s) ** 2
    theta, eta = (s**2 - s**-2) / whole, (r**2 - r**-2) / whole
    left = claim(theta + eta / (r * s) ** 2, "=", 1 / r**2, r"left of the cell: $\theta p_l + \eta p_h = p_x$")
    right = claim(theta / (r * s) ** 2 + eta, "=", 1 / s**2, r"right of the cell: $\theta p_l + \eta p_h = p_x$")
    inside = chain(
        (1 + v) / r**2 - theta / (1 + v) - eta * (1 + v) / (r * s) ** 2,
        equals(
            theta * (1 + v - 1 / (1 + v)),
            r"$p_x - \theta p_l - \eta p_h$ between $l$ and $x$, at $1 + v = \exp(\varepsilon_0(y - l))$",
        ),
        at_least(0, r"$\theta$ is positive; by the mirror between $x$ and $h$, too"),
        words="inside the cell $p_x$ is larger",
    )
    kappa = (r * s + 1 / (r * s)) / 2
    enough = chain(
        theta + eta,
        equals((r / s + s / r) / 2 / kappa, r"$\sinh A + \sinh B = 2 \sinh((A+B)/2) \cosh((A-B)/2)$"),
        equals((1 + (r - s) ** 2 / (2 * r * s)) / kappa, "complete the square"),
        at_least(1 / kappa, "a square is not negative"),
        words="the weights are almost 1",
    )
    return left, right, inside, enough, parts(left, right, inside, enough)
