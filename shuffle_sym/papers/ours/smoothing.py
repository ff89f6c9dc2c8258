r"""The bracket of the contour accountant: Gaussian smoothing of :math:`[\cdot]_+`, its transforms, its two sides."""

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Applied, given
from shuffle_sym.papers.engine.quantities import Mean, Random, linear, quantity
from shuffle_sym.papers.proofs import by, quantities

z = sp.Symbol("z", real=True)
tau, y, t, v, a = sp.symbols("tau y t v a", positive=True)
OURS = "`shuffle_sym/numeric/contour.py`"
WHERE = {tau: "width of the smoothing", y: r"distance from 0 in units of $\tau$", t: "variable of integration"}


def density(argument: sp.Expr) -> sp.Expr:
    """The standard normal density."""
    return sp.exp(-(argument**2) / 2) / sp.sqrt(2 * sp.pi)


def mills(argument: sp.Expr) -> sp.Expr:
    """R(y) = Pr[Z > y]/N(y)."""
    return sp.sqrt(sp.pi / 2) * sp.exp(argument**2 / 2) * sp.erfc(argument / sp.sqrt(2))


def gap(argument: sp.Expr) -> sp.Expr:
    """w(y²) = 1 − y R(y)."""
    return 1 - argument * mills(argument)


@derivation("What smoothing adds", OURS, where=WHERE)
def smoothing_lemma() -> Blocks:
    r"""E[x + τZ]_+ exceeds [x]_+ by τ N(x/τ) w(x²/τ²), w(y²) = 1 − y R(y) = ∫ t e^(−yt − t²/2) dt, for normal Z.

    The two sides of 0 are x = τy and x = −τy.

    >>> smoothing_lemma().statement[0].right
    sqrt(2)*tau*w(y**2)*exp(-y**2/2)/(2*sqrt(pi))
    """
    w = quantity("w", nonnegative=True)
    above = sp.Integral((tau * y + tau * z) * density(z), (z, -y, sp.oo)) - tau * y
    below = sp.Integral((-tau * y + tau * z) * density(z), (z, y, sp.oo))
    tilted = sp.Integral(t * sp.exp(-y * t - t**2 / 2), (t, 0, sp.oo))
    as_integral = chain(
        gap(y), equals(tilted, r"$w$ as an integral of exponentials in $y = \sqrt{v}$"), words="$w$ as an integral"
    )
    name = given(w(v), sp.Integral(t * sp.exp(-sp.sqrt(v) * t - t**2 / 2), (t, 0, sp.oo)), "$w$")
    sides = [
        chain(
            start,
            equals(tau * density(y) * gap(y), rf"$\mathbb{{E}}[x + \tau Z]_+$ less $[x]_+$ for {words}"),
            equals(tau * density(y) * tilted, "$w$ as an integral", as_integral),
            equals(tau * density(y) * w(y**2), "its name", name),
        )
        for start, words in (
            (above, r"$x = \tau y > 0$, where $[x]_+ = x$"),
            (below, r"$x = -\tau y < 0$, where $[x]_+ = 0$"),
        )
    ]
    return as_integral, name, *sides, parts(*sides)


@derivation("Two sides of the smoothing", OURS, where={v: "$y^2$", **WHERE})
def smoothing_sides() -> Blocks:
    r"""Q₁ <= w <= Q₃ in v = y²: each exp(−t√v) is completely monotone in v, and so is w; double points do the rest.

    The error of interpolation has the sign of the derivative: w'' >= 0 for the line with a double point at 1,
    w''' <= 0 for the parabola through 0 with a double point at 3.

    >>> [fact.relation for fact in smoothing_sides().statement]
    ['>=', '<=']
    """
    w, line, parabola = quantities("w Q_1 Q_3")
    slope1, slope3 = sp.symbols("w'_1 w'_3")
    exponential = sp.exp(-t * sp.sqrt(v))
    tangent = given(line(v), w(1) + slope1 * (v - 1), "the line with a double point at 1")
    bend = (w(0) - w(3) + 3 * slope3) / 9
    double = given(parabola(v), w(3) + slope3 * (v - 3) + bend * (v - 3) ** 2, "through 0, with a double point at 3")
    inside = r"$w$ is the integral of $t e^{-t^2/2}$ times $\exp(-t\sqrt{v})$, differentiated under the integral"
    sides = (
        chain(
            w(v),
            by("the line is below", theorems.general(
                "the error of Hermite interpolation", w(v), ">=", line(v),
                stated=[inside, r"$w - Q_1 = w''(\xi)(v - 1)^2/2$"],
                shown=[
                    (
                        "$w''$ is not negative",
                        claim(0, "<=", sp.Derivative(exponential, (v, 2)), r"second derivative of $\exp(-t\sqrt{v})$"),
                    ),
                ],
            )),
            by("written out", tangent),
        ), chain(
            w(v),
            by("the parabola is above", theorems.general(
                "the error of Hermite interpolation", w(v), "<=", parabola(v),
                stated=[inside, r"$w - Q_3 = w'''(\xi) v (v - 3)^2/6$"],
                shown=[
                    (
                        "$w'''$ is not positive",
                        claim(0, "<=", -sp.Derivative(exponential, (v, 3)), r"third derivative of $\exp(-t\sqrt{v})$"),
                    ),
                ],
            )),
            by("written out", double),
        ),
    )  # fmt: skip
    return tangent, double, *sides, parts(*sides)


@derivation("Transforms of the two sides", OURS, where={a: r"$\tau s$", v: "$s$", **WHERE})
def smoothing_transforms() -> Blocks:
    r"""Bilateral transforms ∫ f(x) e^(−sx) dx of the pieces: [x]_+ becomes 1/s², and τN(x/τ)·He_{2j}(x/τ) becomes
    τ² e^(τ²s²/2) (τs)^{2j}, for j = 0, 1, 2. E f(S) is then (1/2πi) ∫ φ(s)^n F(s) ds.

    With x = τz the second one is τ² times the mean of He_{2j}(Z) e^(−aZ), a = τs, for a normal Z; completing the square
    moves Z by a, and the rest are its moments.

    >>> smoothing_transforms().result
    a**4*exp(a**2/2)
    """
    Z = Random("Z")
    square = claim(density(z) * sp.exp(-a * z), "=", sp.exp(a**2 / 2) * density(z + a), "complete the square")
    ramp = chain(sp.Integral(t * sp.exp(-v * t), (t, 0, sp.oo)), equals(v**-2, "the transform of $[x]_+$"))
    moments = [
        theorems.general(
            "the mean over a density", Mean(Z**power), "=", sp.Integer(value), ["$Z$ is standard normal"],
            [(f"moment {power}",
              claim(sp.Integral(z**power * density(z), (z, -sp.oo, sp.oo)), "=", value, f"moment {power}"))],
        )
        for power, value in ((1, 0), (2, 1), (3, 0), (4, 3))
    ]  # fmt: skip

    def moved(polynomial: sp.Expr) -> Applied:
        return theorems.general(
            "substitution in an integral", Mean(polynomial.subs(z, Z) * sp.exp(-a * Z)), "=",
            sp.exp(a**2 / 2) * Mean(polynomial.subs(z, Z - a)), stated=["$z + a$ is put for $z$"],
            shown=[("the densities agree", square)],
        )  # fmt: skip

    plain = moved(sp.Integer(1))
    pieces = [chain(plain.left, equals(sp.exp(a**2 / 2), r"$\mathrm{He}_0 = 1$: $Z$ is moved by $a$", plain))]
    for name, polynomial, value in (
        (r"$\mathrm{He}_2$", z**2 - 1, a**2),
        (r"$\mathrm{He}_4$", z**4 - 6 * z**2 + 3, a**4),
    ):
        fact = moved(polynomial)
        pieces.append(
            chain(
                fact.left,
                by(f"{name}: $Z$ is moved by $a$", fact),
                equals(linear(fact.right), "the mean is linear"),
                equals(sp.exp(a**2 / 2) * value, "the moments of $Z$", *moments),
            )
        )  # fmt: skip
    return ramp, *pieces, parts(ramp, *pieces)
