r"""Pairs of inputs of Gaussian and logistic noise that are not close: the two ends are worse; the proofs are ours.

The scale is 1, inputs are in [0, w], p_x is the density around x and (u, v | x) the law of (p_u − αp_v)/p_x under p_x.
Others right of both inputs have laws (a, b | 0), b < a, up to a mirror image. Here: (w, b | 0) is below (w, 0 | 0),
unless the two inputs are close.

Ψ(b) is E[G − k]_+ of (w, b | 0). Its derivative is −α times the integral of ∂p_b/∂b over E = {p_w − αp_b > kp_0}. For
k ≥ 0 that is a right half line, and Ψ falls. For k < 0 the complement of E is an interval (y, y'), on which h, which is
(αp_b − p_w)/p_0, is above −k, and the derivative is α(p_b(y) − p_b(y')). If h(b − s) ≥ h(b + s) for all s > 0 then
y + y' ≤ 2b: y is at least as far from b as y' is, and Ψ falls.

Two more steps go the same way. (a, b | 0) is below (w, b | 0): with d = a − b the condition is α ≤ (a/b) e^{d²/2} for
Gaussian noise, and α ≤ sinh(a/2) cosh(d/2)/sinh(b/2) is enough for logistic noise; both follow from those below. And
(a, w | 0) is below (0, w | 0): that is the inequality below with a in the place of b and 1/α in that of α, which holds
for all a in [0, w] if w ≤ 2 for Gaussian noise, and if sinh(w − a) tanh(a/2) ≤ 2, as for w ≤ 3, for logistic noise.
"""

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_least, at_most, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.ours.noise import OURS, Psi

alpha, b, d, s = sp.symbols("alpha b d s", positive=True)
e = sp.Symbol("e", nonnegative=True)
m, r, v = sp.symbols("m r v", positive=True)


def _falls(leans: Chain, interval: str) -> Chain:
    falls = theorems.general(
        "a function whose derivative is not positive", Psi(b + e), "<=", Psi(b),
        stated=[
            f"{interval}: for k < 0 the complement of E is an interval (y, y'), for k ≥ 0 it is a left half line",
            "the derivative of Ψ is −α times the integral of ∂p_b/∂b over E",
            "p_b is symmetric around b and falls with the distance; the condition on α holds from b to b + e",
        ],
        shown=[("h(b − s) ≥ h(b + s)", leans)],
    )  # fmt: skip
    return chain(Psi(b + e), at_most(Psi(b), "the derivative is not positive", falls))


@derivation(
    "Gaussian noise: the farther the second input, the worse, if the two are not close", OURS,
    where={d: "w − b", s: "any distance", m: "exp(bs) − 1", r: "exp(ds) − 1"},
)  # fmt: skip
def gaussian_pairs() -> Blocks:
    r"""(w, b + e | 0) is below (w, b | 0) in convex order as long as α ≤ (w/b) e^{−(w−b)²/2}, for Gaussian noise.

    >>> gaussian_pairs().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    w, near, far = b + d, sp.Symbol("S_b", positive=True), sp.Symbol("S_w", positive=True)
    of_b, of_w = 1 + m, (1 + m) * (1 + r)
    scale, of_ends, share = sp.exp(b**2 / 2), sp.exp(b * w - w**2 / 2), sp.exp(-(d**2) / 2)
    sines = [given(name, _hyperbolic(log)[1], "a hyperbolic sine") for name, log in ((near, of_b), (far, of_w))]
    rises = theorems.general(
        "sinh(x)/x does not fall", far, ">=", w / b * near,
        stated=["S_b = sinh(bs), S_w = sinh(ws)", "sinh is convex from 0 on"],
        shown=[("the arguments", claim(b * s, "<=", w * s, "w = b + d"))],
    )  # fmt: skip
    allowed = suppose(alpha, "<=", w / b * share, "the two inputs are not close")
    leans = chain(
        (scale * alpha / of_b - of_ends / of_w) - (scale * alpha * of_b - of_ends * of_w),
        equals(2 * scale * (share * far - alpha * near), "h(b − s) − h(b + s)", *sines),
        at_least(2 * scale * near * (w / b * share - alpha), "sinh(x)/x rises", rises),
        at_least(0, "the two inputs are not close", allowed),
        words="the set leans to the left",
    )
    falls = _falls(leans, "αp_b/p_w + kp_0/p_w is a sum of two exponentials of y, which is convex")
    return *sines, allowed, leans, falls


def _hyperbolic(log: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """cosh and sinh at the logarithm of a number."""
    return (log + 1 / log) / 2, (log - 1 / log) / 2


@derivation(
    "Logistic noise: the farther the second input, the worse, if the two are not close", OURS,
    where={m: "tanh(b/2)", r: "q/(1 − q), q = tanh((w − b)/2)", v: "t/(1 − t), t = tanh(s/2), s any distance"},
)  # fmt: skip
def logistic_pairs() -> Blocks:
    r"""(w, b + e | 0) is below (w, b | 0) in convex order as long as α ≤ sinh(w/2)/(sinh(b/2) cosh³((w−b)/2)), for
    logistic noise; with tanh(b/2) and q = tanh((w−b)/2) that bound is (1 + q/tanh(b/2))(1 − q²).

    A density is 1/4 over cosh², and cosh((b ± s)/2) = cosh(b/2) cosh(s/2) (1 ± t tanh(b/2)).

    >>> logistic_pairs().statement[0].relational()
    'Psi(b + e) <= Psi(b)'
    """
    q, t = r / (1 + r), v / (1 + v)

    def h(t: sp.Expr) -> sp.Expr:  # at b − s, over cosh²(b/2)
        return alpha * (1 - m * t) ** 2 - (1 - q**2) * (1 - m * t) ** 2 / (1 + q * t) ** 2

    allowed = suppose(alpha, "<=", (1 + q / m) * (1 - q**2), "the two inputs are not close")
    whole = (1 - q**2) * (m + q)
    leans = chain(
        h(t) - h(-t),
        equals(4 * t * (whole * (1 + m * q * t**2) / (1 - q**2 * t**2) ** 2 - alpha * m), "h(b − s) − h(b + s)"),
        at_least(4 * t * (whole - alpha * m), "the quotient is at least 1"),
        at_least(0, "the two inputs are not close", allowed),
        words="the set leans to the left",
    )
    return allowed, leans, _falls(leans, "p_w/p_b and p_0/p_b are convex in tanh(y/2)")
