r"""Pairs of inputs of Gaussian and logistic noise that are not close: the two ends are worse; the proofs are ours.

The scale is 1, inputs are in [0, w], p_x is the density around x and (u, v | x) the law of (p_u − αp_v)/p_x under p_x.
Others right of both inputs have laws (a, b | 0), b < a, up to a mirror image: (a, b | 0) is below (w, b | 0), which is
below (w, 0 | 0), unless the two inputs are close. Others left of both inputs have laws below (a, w | 0)
(`noise`), which is below (0, w | 0).

In each of these three steps one input, x, moves. Ψ is E[G − k]_+ as a function of x, and E = {p_u − αp_v > kp_0}. For
one sign of k that is a half line, and the sign of the derivative of Ψ is clear. For the other one E or its complement
is an interval (y, y'), on which a multiple h of (p_u − αp_v)/p_0 is above some level, and the derivative is a multiple
of p_x(y) − p_x(y'). If h(x − s) ≥ h(x + s) for all s > 0 then y + y' ≤ 2x: otherwise s = y' − x > 0, h is at its level
in x + s, and x − s < y is not in the interval. So y is at least as far from x as y' is, and p_x(y) ≤ p_x(y').

In all three steps h = (ωp_b − p_w)/p_0 up to a factor, with two inputs b < w and a weight ω, which is α or 1/α.
"""

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_least, at_most, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.ours.noise import OURS, Psi

alpha, b, d, s = sp.symbols("alpha b d s", positive=True)
e = sp.Symbol("e", nonnegative=True)
m, r, v = sp.symbols("m r v", positive=True)

_COMPLEMENT = r"the complement of $E$ is an interval $(y, y')$ for $k < 0$, and a left half line for $k \ge 0$"
_ITSELF = r"$E$ is an interval $(y, y')$ for $k \ge 0$, and a left half line for $k < 0$"
_SECOND = ("<=", r"\alpha(p_x(y) - p_x(y'))", f"$(p_w - kp_0)/p_b$ is convex for $k < 0$: {_COMPLEMENT}")
_FIRST = (">=", "p_x(y') - p_x(y)", f"$(p_x - kp_0)/p_b$ is convex for $k < 0$: {_COMPLEMENT}")
_LEFT = ("<=", "p_x(y) - p_x(y')", rf"$(\alpha p_w + kp_0)/p_x$ is convex for $k \ge 0$: {_ITSELF}")
_IN_Y = "sums of exponentials of $y$ are convex"
_IN_TANH = r"each ratio of densities is the square of a positive convex function of $\tanh(y/2)$"
_EXPONENTIALS = {d: "$w - b$", s: "any distance", m: r"$\exp(bs) - 1$", r: r"$\exp(ds) - 1$"}
_TANGENTS = {
    m: r"$\tanh(b/2)$",
    r: r"$q/(1 - q)$, $q = \tanh((w - b)/2)$",
    v: r"$t/(1 - t)$, $t = \tanh(s/2)$, $s$ any distance",
}


def _moves(x: sp.Expr, step: tuple[str, str, str], why: str, leans: Fact, *shown: tuple[str, Fact]) -> Chain:
    """How Ψ changes if the input x moves by e; what holds at x has to hold on the way."""
    relation, derivative, interval = step
    moved = theorems.general(
        "a function whose derivative has one sign", Psi(x + e), relation, Psi(x),
        stated=[
            f"{interval}; {why}",
            rf"where that is an interval the derivative of $\Psi$ is ${derivative}$; $p_x$ falls with the distance "
            rf"from $x$",
            r"the condition on $\alpha$ holds from $x$ to $x + e$",
        ],
        shown=[(r"$h(x - s) \ge h(x + s)$", leans), *shown],
    )  # fmt: skip
    link = at_most if relation == "<=" else at_least
    return chain(Psi(x + e), link(Psi(x), "the derivative has one sign", moved))


def _gaussian(x: sp.Expr, weight: sp.Expr, allowed: Fact) -> tuple[Fact, ...]:
    """That h(x − s) ≥ h(x + s), from what the weight is at most."""
    w, near, far = b + d, sp.Symbol("S_b", positive=True), sp.Symbol("S_w", positive=True)
    of_b, of_w = 1 + m, (1 + m) * (1 + r)
    logs = b * x - b**2 / 2, w * x - w**2 / 2
    scale, of_ends, share = sp.exp(logs[0]), sp.exp(logs[1]), sp.exp(sp.expand(logs[1] - logs[0]))
    sines = [given(name, (log - 1 / log) / 2, "a hyperbolic sine") for name, log in ((near, of_b), (far, of_w))]
    leans = chain(
        (scale * weight / of_b - of_ends / of_w) - (scale * weight * of_b - of_ends * of_w),
        equals(2 * scale * (share * far - weight * near), "$h(x - s) - h(x + s)$", *sines),
        at_least(2 * scale * near * (w / b * share - weight), r"$\sinh(x)/x$ rises", theorems.general(
            r"$\sinh(x)/x$ does not fall", far, ">=", w / b * near,
            stated=[r"$S_b = \sinh(bs)$, $S_w = \sinh(ws)$", r"$\sinh$ is convex from 0 on"],
            shown=[("the arguments", claim(b * s, "<=", w * s, "$w = b + d$"))],
        )),
        at_least(0, r"the condition on $\alpha$", allowed),
        words="the set leans to the left",
    )  # fmt: skip
    return *sines, leans


@derivation(
    "Gaussian noise: the farther the second input, the worse, if the two are not close", OURS, where=_EXPONENTIALS
)
def gaussian_pairs() -> Blocks:
    r"""(w, b + e | 0) is below (w, b | 0) in convex order as long as α ≤ (w/b) e^{−(w−b)²/2}, for Gaussian noise.

    >>> gaussian_pairs().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    allowed = suppose(alpha, "<=", (b + d) / b * sp.exp(-(d**2) / 2), "the two inputs are not close")
    *sines, leans = _gaussian(b, alpha, allowed)
    return *sines, allowed, leans, _moves(b, _SECOND, _IN_Y, leans)


@derivation(
    "Gaussian noise: the farther the first input, the worse, if the two are not close", OURS,
    where={**_EXPONENTIALS, d: "$a - b$", r: r"$\exp(ds) - 1$", e: "$w - a$"},
)  # fmt: skip
def gaussian_first() -> Blocks:
    r"""(a, b | 0) is below (w, b | 0) in convex order as long as α ≤ (a/b) e^{(a−b)²/2}, for Gaussian noise: that is so
    if α ≤ e^{−d²/2}/(1 − d/w) for the distance d = a − b.

    >>> gaussian_first().statement[0].relational()
    'Psi(b + d + e) >= Psi(b + d)'
    """
    a, w, square = b + d, b + d + e, sp.exp(d**2 / 2)
    apart = suppose(alpha, "<=", w / (w - d) / square, "the two inputs are not close")
    allowed = chain(
        alpha,
        at_most(w / (w - d) / square, "at the distance $d$", apart),
        at_most(a / b / square, "$1/(1 - d/a)$ falls with $a$"),
        at_most(a / b * square, "the exponent is not negative"),
    )
    on_the_way = claim(0, "<=", sp.Derivative(a / b * square, d), r"what $\alpha$ may be rises with $a$")
    *sines, leans = _gaussian(a, alpha, allowed)
    return *sines, apart, allowed, leans, _moves(a, _FIRST, _IN_Y, leans, (on_the_way.words, on_the_way))


@derivation(
    "Gaussian noise, others left of both inputs: the nearer the first input, the worse", OURS,
    where={**_EXPONENTIALS, b: "the first input", d: "$w - b$, $b$ times $z$"},
)  # fmt: skip
def gaussian_left() -> Blocks:
    r"""(b, w | 0) is below (0, w | 0) in convex order for all b in [0, w] if w ≤ 2, for Gaussian noise and α ≥ 1.

    >>> gaussian_left().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    z, w = sp.Symbol("z", positive=True), b + d
    least = suppose(alpha, ">=", 1, r"$\alpha = e^{\varepsilon}$, $\varepsilon \ge 0$")
    narrow, part = suppose(w**2, "<=", 4, r"$w \le 2$"), sp.Symbol("c", positive=True)
    named = given(part, d / w, "a share of $w$")
    parabola = 2 * z**2 / (1 + z) ** 2
    slope = chain(
        sp.Derivative(sp.log(1 + z) - parabola, z),
        equals((1 - z) ** 2 / (1 + z) ** 3, "a square"),
        at_least(0, "which is not negative"),
        words=r"$\log(1 + z)$ rises as fast as $2z^2/(1 + z)^2$",
    )
    above = theorems.general(
        "a function that is 0 at 0 and does not fall", sp.log(1 + z), ">=", parabola, [], [(slope.words, slope)]
    )
    share = chain(
        d**2 / 2,
        equals(w**2 * part**2 / 2, "$d = cw$", named),
        at_most(2 * part**2, r"$w \le 2$", narrow),
        equals(parabola.subs(z, d / b), "$c = z/(1 + z)$ for $z = d/b$", named),
        at_most(sp.log(1 + d / b), "the logarithm rises as fast", above.at({z: d / b})),
    )
    allowed = chain(
        1 / alpha,
        at_most(1, r"$\alpha \ge 1$", least),
        at_most(w / b * sp.exp(-(d**2) / 2), "$1 + d/b = w/b$", theorems.general(
            r"$\exp(-x)$ falls", sp.exp(-(d**2) / 2), ">=", b / w, [], [(r"$d^2/2 \le \log(1 + d/b)$", share)],
        )),
    )  # fmt: skip
    *sines, leans = _gaussian(b, 1 / alpha, allowed)
    return *sines, least, narrow, named, slope, share, allowed, leans, _moves(b, _LEFT, _IN_Y, leans)


def _logistic(weight: sp.Expr, allowed: Fact) -> Chain:
    """That h(b − s) ≥ h(b + s), from what the weight is at most."""
    q, t = r / (1 + r), v / (1 + v)

    def h(t: sp.Expr) -> sp.Expr:  # at b − s, over cosh²(b/2)
        return weight * (1 - m * t) ** 2 - (1 - q**2) * (1 - m * t) ** 2 / (1 + q * t) ** 2

    whole = (1 - q**2) * (m + q)
    return chain(
        h(t) - h(-t),
        equals(4 * t * (whole * (1 + m * q * t**2) / (1 - q**2 * t**2) ** 2 - weight * m), "$h(b - s) - h(b + s)$"),
        at_least(4 * t * (whole - weight * m), "the quotient is at least 1"),
        at_least(0, r"the condition on $\alpha$", allowed),
        words="the set leans to the left",
    )


@derivation("Logistic noise: the farther the second input, the worse, if the two are not close", OURS, where=_TANGENTS)
def logistic_pairs() -> Blocks:
    r"""(w, b + e | 0) is below (w, b | 0) in convex order as long as α ≤ sinh(w/2)/(sinh(b/2) cosh³((w−b)/2)), for
    logistic noise; with tanh(b/2) and q = tanh((w−b)/2) that bound is (1 + q/tanh(b/2))(1 − q²).

    A density is 1/4 over cosh², and cosh((b ± s)/2) = cosh(b/2) cosh(s/2) (1 ± t tanh(b/2)).

    >>> logistic_pairs().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    q = r / (1 + r)
    allowed = suppose(alpha, "<=", (1 + q / m) * (1 - q**2), "the two inputs are not close")
    leans = _logistic(alpha, allowed)
    return allowed, leans, _moves(b, _SECOND, _IN_TANH, leans)


@derivation(
    "Logistic noise: the farther the first input, the worse, if the two are not close", OURS,
    where={**_TANGENTS, r: r"$q/(1 - q)$, $q = \tanh((a - b)/2)$", d: "$a - b$", e: "$w - a$"},
)  # fmt: skip
def logistic_first() -> Blocks:
    r"""(a, b | 0) is below (w, b | 0) in convex order as long as α ≤ sinh(a/2) cosh(d/2)/sinh(b/2), d = a − b, for
    logistic noise; that is so if α ≤ sinh(w/2)/(sinh((w − d)/2) cosh³(d/2)).

    With q = tanh(d/2) these bounds are (1 + q/tanh(b/2))/(1 − q²) and (1 + q/M)(1 − q²), M = tanh((w − d)/2).

    >>> logistic_first().statement[0].relational()
    'Psi(b + d + e) >= Psi(b + d)'
    """
    q, t, more = r / (1 + r), v / (1 + v), sp.Symbol("M_b", nonnegative=True)
    A = (m + q) / (1 + m * q)  # tanh(a/2)

    def h(t: sp.Expr) -> sp.Expr:  # at a − s, over cosh²(a/2)
        return alpha * (1 - q**2) * (1 - A * t) ** 2 / (1 - q * t) ** 2 - (1 - A * t) ** 2

    apart = suppose(
        alpha, "<=", (1 + q / (m + more)) * (1 - q**2), r"not close; $M = \tanh(b/2) + M_b$, as $b \le w - d$"
    )
    allowed = chain(
        alpha,
        at_most((1 + q / (m + more)) * (1 - q**2), "at the distance $d$", apart),
        at_most((1 + q / m) * (1 - q**2), r"$\tanh$ rises"),
        at_most((1 + q / m) / (1 - q**2), "$q$ is at most 1"),
    )
    on_the_way = claim(0, "<=", sp.Derivative((1 + q / m) / (1 - q**2), r), r"what $\alpha$ may be rises with $a$")
    leans = chain(
        h(t) - h(-t),
        equals(4 * t * (A - alpha * (1 - q**2) * (A - q) * (1 - A * q * t**2) / (1 - q**2 * t**2) ** 2),
               "$h(a - s) - h(a + s)$"),
        at_least(4 * t * (A - alpha * (1 - q**2) * (A - q) / (1 - q**2 * t**2)), "$A$ is at least $q$"),
        at_least(4 * t * (A - alpha * (A - q)), "$t$ is at most 1"),
        at_least(0, r"the condition on $\alpha$", allowed),
        words="the set leans to the left",
    )  # fmt: skip
    return apart, allowed, leans, _moves(b + d, _FIRST, _IN_TANH, leans, (on_the_way.words, on_the_way))


@derivation(
    "Logistic noise, others left of both inputs: the nearer the first input, the worse", OURS,
    where={**_TANGENTS, b: "the first input"},
)  # fmt: skip
def logistic_left() -> Blocks:
    r"""(b, w | 0) is below (0, w | 0) in convex order for all b in [0, w] if w ≤ 3, for logistic noise and α ≥ 1.

    >>> logistic_left().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    q, least = r / (1 + r), suppose(alpha, ">=", 1, r"$\alpha = e^{\varepsilon}$, $\varepsilon \ge 0$")
    third = sp.Rational(9, 11)
    small = chain(
        1 - q * (q + m),
        at_least(1 - q * (q + (10 - 11 * q) / (11 - 10 * q)), r"$w \le 3$", theorems.general(
            r"$\tanh$ rises", m, "<=", (10 - 11 * q) / (11 - 10 * q),
            stated=[r"$m = (T - q)/(1 - Tq)$ for $T = \tanh(w/2)$, $w \le 3$"],
            shown=[(r"$T \le 10/11$, as $\exp(3) \le 21$", claim(sp.exp(3), "<=", 21, r"$\exp(3)$"))],
        )),
        equals((10 * q**3 - 20 * q + 11) / (11 - 10 * q), "over one denominator"),
        equals(
            (10 * (q - third) ** 2 * (q + 2 * third) + 10 * q / 121 + sp.Rational(61, 1331)) / (11 - 10 * q),
            "a square",
        ),
        at_least(0, "no term is negative"),
        words=r"$q^2 + qm \le 1$",
    )  # fmt: skip
    allowed = chain(
        1 / alpha,
        at_most(1, r"$\alpha \ge 1$", least),
        at_most(1 + q / m * (1 - q * (q + m)), r"$q^2 + qm \le 1$", small),
        equals((1 + q / m) * (1 - q**2), "multiply out"),
    )
    leans = _logistic(1 / alpha, allowed)
    return least, small, allowed, leans, _moves(b, _LEFT, _IN_TANH, leans)
