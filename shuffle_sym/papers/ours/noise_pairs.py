r"""All pairs of inputs for the drop-out bound of noise on [0, 1]; the proofs are ours.

p_x(y) = g(y − x) with a log-concave g, and (u, v | x) is the law of (p_u − αp_v)/p_x under p_x. It does not change if
u, v, x are translated, and all of these laws have the mean 1 − α. Larger in convex order: E[· − k]_+ is, for every k.
"""

from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.ours.noise import OURS, Psi, S, comonotone_sums, in_convex_order, over_the_set, p, x, z

alpha, eps0 = sp.Symbol("alpha", positive=True), sp.Symbol("epsilon_0", positive=True)
a, b, k, y = sp.symbols("a b k y", real=True)
d, e = sp.Symbol("d", positive=True), sp.Symbol("e", nonnegative=True)
F, h = quantity("F"), quantity("h")
slope = quantity("l", r"(\log g)'({0})")


def _left_half_line(S: Any, near: sp.Expr, far: sp.Expr, why: str) -> list[Fact]:
    """That log g is concave, and S(near) >= S(far) for near <= far, where S(t) is the mass of p_t on a set that is a
    left half line: ratios p_s/p_s' with s <= s' do not increase in y."""
    concave = suppose(slope(y + e), "<=", slope(y), r"$\log g$ is concave: its slope, from the right, does not rise")
    falls = claim(
        slope(y - b), "<=", slope(y - b - e), r"$\log p_b$ rises less than $\log p_{b+e}$", concave.at({y: y - b - e})
    )
    mass = theorems.general(
        "the mass of a half line", S(near) - S(far), "=", F(y - near) - F(y - far),
        stated=[f"{why}: the set is all that is left of some $y$", "$F$ is the distribution function of $g$"],
        shown=[(r"$p_s/p_{s'}$ does not increase in $y$ for $s \le s'$", falls)],
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
        at_least(gain.right, "integrate over the set", gain),
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
    negative = chain(
        Psi(far) - Psi(near),
        at_least(gain.right, "integrate over the set", gain),
        equals(alpha * (F(y - near) - F(y - far)), "$E$ is a half line", mass),
        at_least(0, "$F$ rises", rises),
        under=(sp.Ge(alpha, 1), sp.Lt(k, 0)),
    )
    chord = (e * h(a) + d * h(far)) / (d + e)
    beyond = suppose(h(near), ">=", chord, r"$h(t) = \log p_t$ at a message of $E$; $g$ is log-concave")
    p_b, p_0, r = sp.symbols("p_b p_0 r", positive=True)
    most = (sp.Ge(alpha, 1), sp.Ge(k, 0))
    less = claim(p_b, "<=", alpha * p_b + k * p_0 + r, r"$\alpha \ge 1$ and $k \ge 0$", under=most)
    falls = theorems.general(
        "the logarithm rises", h(near), "<=", h(a), stated=[r"on $E$, $p_a = \alpha p_b + kp_0 + r$ with some $r > 0$"],
        shown=[(r"$p_b \le p_a$", less)],
    )  # fmt: skip
    drop = chain(
        h(far),
        at_most(h(near) + e / d * (h(near) - h(a)), "a concave function is below its chord, beyond it", beyond),
        at_most(h(near), "the chord falls", falls),
        under=most, words=r"$p_{b'} \le p_b$ on $E$",
    )  # fmt: skip
    more = theorems.general(
        "integrals keep inequalities",
        S(near) - S(far),
        ">=",
        sp.Integer(0),
        [],
        shown=[(r"$p_{b'} \le p_b$ on $E$", drop)],
    )
    positive = chain(
        Psi(far) - Psi(near),
        at_least(gain.right, "integrate over the set", gain),
        at_least(0, r"$p_{b'} \le p_b$ on $E$", more),
        under=most,
    )
    shown = cases(negative, positive, within=sp.Ge(alpha, 1), words="the farther the second input, the worse")
    return concave, beyond, drop, *names, shown


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
    positive = chain(
        Psi(far) - Psi(near),
        at_least(gain.right, "integrate over the set", gain),
        equals(T(near) - T(far), "the complement", whole),
        equals(F(y - near) - F(y - far), "the complement is a half line", mass),
        at_least(0, "$F$ rises", rises),
        under=sp.Ge(k, 0),
    )
    apart = suppose(alpha, "<=", sp.exp(eps0 * d), r"the pair is not close: $\varepsilon_0(a - b) \ge \log \alpha$")
    ratio = chain(
        alpha,
        at_most(sp.exp(eps0 * d), "the pair is not close", apart),
        equals(sp.exp(-eps0 * e / 2) / sp.exp(-eps0 * (d + e / 2)), "$p_a/p_b$ of Laplace noise from $(a + a')/2$ on"),
        words=r"$\alpha \le p_a/p_b$ where $p_{a'} > p_a$",
    )
    kept = theorems.general(
        "integrals keep inequalities", T(near) - T(far), ">=", sp.Integer(0),
        stated=[r"$p_{a'} > p_a$ right of $(a + a')/2$ only; on the complement of $E$, $\alpha p_b > p_a$ for $k < 0$"],
        shown=[(r"$\alpha \le p_a/p_b$ where $p_{a'} > p_a$", ratio)],
    )  # fmt: skip
    negative = chain(
        Psi(far) - Psi(near),
        at_least(gain.right, "integrate over the set", gain),
        equals(T(near) - T(far), "the complement", whole),
        at_least(0, r"$p_{a'} \le p_a$ on the complement", kept),
        under=sp.Lt(k, 0),
    )
    shown = cases(positive, negative, words="the farther the first input, the worse")
    return *names, complement, whole, apart, ratio, concave, shown


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
