r"""The bracket of the contour accountant: Gaussian smoothing of :math:`[\cdot]_+`, its transforms, its two sides."""

import sympy as sp

from shuffle_sym.papers.derivation import Step, Steps, derivation

x, z = sp.symbols("x z", real=True)
tau, y, t = sp.symbols("tau y t", positive=True)
OURS = "shuffle_sym/numeric/contour.py"


def density(argument: sp.Expr) -> sp.Expr:
    """The standard normal density."""
    return sp.exp(-(argument**2) / 2) / sp.sqrt(2 * sp.pi)


def mills(argument: sp.Expr) -> sp.Expr:
    """R(y) = Pr[Z > y]/N(y)."""
    return sp.sqrt(sp.pi / 2) * sp.exp(argument**2 / 2) * sp.erfc(argument / sp.sqrt(2))


def gap(argument: sp.Expr) -> sp.Expr:
    """w(y²) = 1 − y R(y)."""
    return 1 - argument * mills(argument)


@derivation("What smoothing adds", OURS)
def smoothing_lemma() -> Steps:
    r"""k(x) = E[x + τZ]_+ exceeds [x]_+ by τ N(x/τ) w(x²/τ²), w(y²) = 1 − y R(y) = ∫ t e^(−yt − t²/2) dt > 0.

    >>> smoothing_lemma().result
    -sqrt(2)*sqrt(pi)*y*exp(y**2/2)*erfc(sqrt(2)*y/2)/2 + 1
    """
    smoothed = x * (1 + sp.erf(x / (sp.sqrt(2) * tau))) / 2 + tau * density(x / tau)
    above = smoothed.subs(x, tau * y)
    below = smoothed.subs(x, -tau * y)
    return (
        Step(sp.Integral((x + tau * z) * density(z), (z, -x / tau, sp.oo)), smoothed, "E[x + τZ]_+ for normal Z"),
        Step(above - tau * y, tau * density(y) * gap(y), "what it adds at x = τy > 0, where [x]_+ = x"),
        Step(below, tau * density(y) * gap(y), "and at x = -τy < 0, where [x]_+ = 0"),
        Step(
            sp.Integral(t * sp.exp(-y * t - t**2 / 2), (t, 0, sp.oo)),
            gap(y),
            "w as an integral of exponentials in y = √v",
        ),
    )


@derivation("Two sides of the smoothing", OURS)
def smoothing_sides() -> Steps:
    r"""Q₁ <= w <= Q₃ in v = y²: each exp(−t√v) is completely monotone in v, and so is w; double points do the rest.

    The error of interpolation has the sign of the derivative: w'' >= 0 for the line with a double point at 1,
    w''' <= 0 for the parabola through 0 with a double point at 3.

    >>> smoothing_sides().result
    (y - sqrt(2)*sqrt(pi)*(y**2 + 1)*exp(y**2/2)*erfc(sqrt(2)*y/2)/2)/(2*y)
    """
    positive = sp.Symbol("v", positive=True)
    exponential = sp.exp(-t * sp.sqrt(positive))
    first = exponential * t / (2 * sp.sqrt(positive))
    second = exponential * (t**2 / (4 * positive) + t / (4 * positive ** sp.Rational(3, 2)))
    third = exponential * (
        t**3 / (8 * positive ** sp.Rational(3, 2))
        + 3 * t**2 / (8 * positive**2)
        + 3 * t / (8 * positive ** sp.Rational(5, 2))
    )
    slope = (y - (1 + y**2) * mills(y)) / (2 * y)
    return (
        Step(-sp.Derivative(exponential, positive), first, "first derivative of exp(-t√v): negative"),
        Step(sp.Derivative(exponential, (positive, 2)), second, "second derivative: positive, all terms"),
        Step(-sp.Derivative(exponential, (positive, 3)), third, "third derivative: negative, all terms"),
        Step(sp.Derivative(gap(y), y) / (2 * y), slope, "dw/dv with v = y²: the slope of Q₁ at 1, of Q₃ at 3"),
    )


@derivation("Transforms of the two sides", OURS)
def smoothing_transforms() -> Steps:
    r"""Bilateral transforms ∫ f(x) e^(−sx) dx of the pieces: [x]_+ becomes 1/s², and τN(x/τ)·He_{2j}(x/τ) becomes
    τ² e^(τ²s²/2) (τs)^{2j}, for j = 0, 1, 2.

    E f(S) is then (1/2πi) ∫ φ(s)^n F(s) ds. The normal density is moved by a = τs, and the rest are its moments:
    1, 1 and 3 of z⁰, z² and z⁴, and 0 of odd powers.

    >>> smoothing_transforms().result
    a**4
    """
    c, a = sp.symbols("s a", positive=True)
    moved = sp.exp(a**2 / 2) * density(z + a)

    def mean(polynomial: sp.Expr) -> sp.Expr:
        """E of a polynomial in Z − a, from the moments of Z."""
        coefficients = sp.Poly(sp.expand(polynomial.subs(z, z - a)), z).all_coeffs()[::-1]
        moments = (1, 0, 1, 0, 3)
        terms = (u * m for u, m in zip(coefficients, moments, strict=False))
        return sp.Add(*terms, evaluate=False)

    return (
        Step(sp.Integral(t * sp.exp(-c * t), (t, 0, sp.oo)), c**-2, "[x]_+"),
        Step(density(z) * sp.exp(-a * z), moved, "N(z) times exp(-sx), with x = τz and a = τs"),
        Step(sp.Integral(z**2 * density(z), (z, -sp.oo, sp.oo)), sp.Integer(1), "second moment"),
        Step(sp.Integral(z**4 * density(z), (z, -sp.oo, sp.oo)), sp.Integer(3), "fourth moment"),
        Step(mean(z**2 - 1), a**2, "He₂, moved by a"),
        Step(mean(z**4 - 6 * z**2 + 3), a**4, "He₄, moved by a"),
    )
