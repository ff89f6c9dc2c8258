r"""The concentration bounds of Balle et al. 2019, Section 5, and their constants, as derivations."""

from itertools import pairwise

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import BinaryRR

t = field.t
a, b, c, u = sp.symbols("a b c u", positive=True)
m, n = sp.symbols("m n", positive=True, integer=True)
gamma = sp.Symbol("gamma", positive=True)
eps0 = sp.Symbol("epsilon_0", positive=True)


@derivation("Hoeffding's bound on the positive part", "Balle et al. 2019, Lemma 5.5")
def lemma55() -> Steps:
    r"""Hoeffding's inequality, integrated: :math:`E[L_1 + \dots + L_m]_+ \le \frac{b^2}{4a} e^{-2ma^2/b^2}`
    (Balle et al. 2019, Lemmas A.4 and 5.5). What is printed holds.

    :math:`E[S]_+ = \int_0^\infty \Pr[S > u]\,du \le \int_0^\infty e^{-h(u)}\,du`, and h' grows, so the integral is at
    most :math:`\int h' e^{-h}/h'(0)`.

    >>> lemma55().result
    b**2*exp(-2*a**2*m/b**2)/(4*a)
    """
    h = 2 * (u + a * m) ** 2 / (m * b**2)
    slope = 4 * (u + a * m) / (m * b**2)
    return (
        Step(sp.Derivative(h, u), slope, "the slope of h"),
        Step(4 * a / b**2, slope, "it is smallest at 0", "<="),
        Step(sp.Derivative(-sp.exp(-h), u), slope * sp.exp(-h), "h'e^-h is the derivative of -e^-h"),
        Step(sp.Subs(sp.exp(-h), u, 0), sp.exp(-2 * m * a**2 / b**2), "so its integral is e^-h(0)"),
        Step(
            sp.exp(-2 * m * a**2 / b**2) / sp.Subs(sp.Derivative(h, u), u, 0),
            b**2 / (4 * a) * sp.exp(-2 * m * a**2 / b**2),
            "divided by the slope at 0",
        ),
    )


@derivation("Bennett's bound on the positive part", "Balle et al. 2019, Lemma 5.6, corrected")
def lemma56() -> Steps:
    r"""Bennett's inequality, integrated (Balle et al. 2019, Lemma 5.6, corrected): the first factor is
    :math:`b/\log(1 + ab/c)`, without the am of the published formula.

    L, a and b have one unit and c its square. The left side has that unit too; the printed factor has none, so it stays
    where it is when L is multiplied by a large number.

    >>> lemma56().result
    b*exp(-c*m*(-a*b/c + (a*b/c + 1)*log(a*b/c + 1))/b**2)/log(a*b/c + 1)
    """
    factor = sp.Symbol("lambda", positive=True)

    def phi(v: sp.Expr) -> sp.Expr:
        return (1 + v) * sp.log(1 + v) - v

    def printed(scale: sp.Expr) -> sp.Expr:
        return scale * b / (scale * a * m * sp.log(1 + scale * a * scale * b / (scale**2 * c)))

    h = m * c / b**2 * phi((u + a * m) * b / (m * c))
    slope = sp.log(1 + (u + a * m) * b / (m * c)) / b
    at_zero = sp.log(1 + a * b / c) / b
    rate = c / b**2 * phi(a * b / c)
    return (
        Step(sp.Derivative(h, u), slope, "the slope of h grows with u"),
        Step(sp.Subs(slope, u, 0), at_zero, "at 0"),
        Step(sp.Subs(h, u, 0), m * rate, "h at 0"),
        Step(printed(sp.UnevaluatedExpr(factor)), printed(sp.Integer(1)), "the print: λL has the factor of L"),
        Step(
            sp.exp(-m * rate) / sp.Subs(slope, u, 0),
            b / sp.log(1 + a * b / c) * sp.exp(-m * rate),
            "e^-h(0) divided by the slope at 0",
        ),
    )


@derivation("Lemma 5.3 without a sum", "Balle et al. 2019, proof of Theorem 5.3")
def theorem53() -> Steps:
    r"""The sum of Lemma 5.3 with the bound of Lemma 5.5 or 5.6 in it has a closed form (Balle et al. 2019, proof of
    Theorem 5.3), with r = e^(−2a²/b²) for Hoeffding and L = γG.

    >>> theorem53().result
    b_G**2*gamma/(4*a*n)
    """
    r = sp.Symbol("r", positive=True)
    chance = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m)
    span = sp.Symbol("b_G", positive=True)  # the range of G; that of L is γ times as long
    return (
        Step(sp.Sum(chance * r**m, (m, 0, n)), (1 - gamma + gamma * r) ** n, "E[r^M] for M ~ Bin(n, γ)"),
        Step(
            sp.Sum(chance * r**m, (m, 0, n)) - (1 - gamma) ** n,
            (1 - gamma + gamma * r) ** n - (1 - gamma) ** n,
            "without the term m = 0, in which nobody is covered",
        ),
        Step(
            sp.Subs(b**2 / (4 * a) / (gamma * n), b, gamma * span),
            gamma * span**2 / (4 * a * n),
            "the factor in front, in terms of G",
        ),
    )


@derivation("The largest second moment of G", "sharpens Balle et al. 2019, Lemma 5.4 (3)")
def second_moment() -> Steps:
    r"""For every ε0-LDP randomizer and 1 <= α <= t,
    :math:`E[G^2] \le \frac{(1 + t^2)(1 + \alpha^2) - 4\alpha t}{t + 1}`, and binary randomized response attains
    it. Lemma 5.4 (3) of Balle et al. 2019 holds and is larger.

    f = 1 + u and g = 1 + w are R(x)/c and R(x')/c at a message with blanket mass c; cf and cg sum to 1, c to γ. The two
    bounds on the product fg are mixed with weights w₁ + w₂ = 1 that make γ drop out.

    >>> second_moment().result
    (-4*alpha*t + (alpha**2 + 1)*(t**2 + 1))/(t + 1)
    """
    w, rest, aa, share = sp.symbols("w r alpha gamma", positive=True)
    extra, more = sp.symbols("v s", nonnegative=True)  # α = 1 + v, t = α + s
    top = {aa: 1 + extra, t: 1 + extra + more}
    weight2 = (t * (1 + aa**2) / (2 * aa) - 1) / (t**2 - 1)
    sharp = ((1 + t**2) * (1 + aa**2) - 4 * aa * t) / (t + 1)
    total = (1 + t) * (1 + aa**2) - t * share * (1 + aa**2)
    cross = (1 - weight2) * (2 - share) + weight2 * (2 * t - t**2 * share)
    G = BinaryRR().gparv()
    second = sp.Add(*(p * v**2 for v, p in zip(G.forms, G.masses, strict=True) if v != 0), evaluate=False)
    weight1 = sp.cancel((1 - weight2).subs(top)) * (extra + more)
    return (
        Step((1 + u) ** 2, (2 + u + rest) * (1 + u) - (1 + u + rest), "f² ≤ (1 + t)f - t, with t = f + r", "<="),
        Step((1 + u) + (1 + w) - 1, (1 + u) * (1 + w), "fg ≥ f + g - 1, which sums to 2 - γ", "<="),
        Step(
            (u + w + rest) * (2 * (u + w + rest) - u - w) - (u + w + rest) ** 2,
            (u + w + rest - u) * (u + w + rest - w),
            "fg ≥ t(f + g) - t², which sums to 2t - t²γ (f = t - u, g = t - w)",
            "<=",
        ),
        Step(sp.Integer(0), sp.cancel(weight2.subs(top)), "w₂ ≥ 0, for α = 1 + v and t = α + s", "<="),
        Step(sp.Integer(0), weight1, "w₁ ≥ 0 (times t - 1)", "<="),
        Step(total - 2 * aa * cross, sharp, "the sum, in which γ drops out"),
        Step(second, sharp.subs(aa, field.alpha), "binary randomized response attains it"),
    )


@derivation("L of Laplace: no pair has a larger second moment than 0 and 1", "Balle et al. 2019, Lemma 5.8 (2)")
def lemma58_all_pairs() -> Steps:
    r"""Lemma 5.8 (2) of Balle et al. 2019 holds for all pairs of inputs: E[L²] is largest for 0 and 1.

    Inputs 1/2 − u and 1/2 ± v, in the variable z = y − 1/2; X = e^(ε0·u) and Y = e^(ε0·v). On different sides of 1/2
    the cross term E[μμ'/ω²] is 1 − (1 − 1/X)(1 − 1/Y), smallest at the ends; on one side it is at least 1. (The print
    bounds it from above, where a bound from below is needed.)

    >>> lemma58_all_pairs().result
    2*X*t/3 + 1/(3*X**2*t**2)
    """
    v, r = sp.symbols("v r", positive=True)
    X: sp.Symbol = Parameter("X", 1)
    Y: sp.Symbol = Parameter("Y", 1)
    z = sp.Symbol("z", real=True)

    def moment(first: sp.Expr, second: sp.Expr, ends: tuple[sp.Expr, ...]) -> sp.Expr:
        """∫ e^(−ε0(|z − first| + |z − second| − |z|)) ε0/2 between the ends, at which the signs change."""
        pieces = []
        for low, high, inside in zip(
            (-sp.oo, *ends), (*ends, sp.oo), (-u - v - 1, *_middles(ends), u + v + 1), strict=True
        ):
            exponent = sum(sign * (z - at) * _sign(inside - at) for sign, at in ((-1, first), (-1, second), (1, 0)))
            pieces.append(sp.Integral(eps0 / 2 * sp.exp(eps0 * sp.expand(exponent)), (z, low, high)))
        return sp.Add(*pieces)

    square = (2 * X + X**-2) / 3
    one_side = Y - (Y**2 - 1 / Y) / (3 * X)
    names = {X: sp.exp(eps0 * u), Y: sp.exp(eps0 * v)}
    return (
        Step(
            moment(-u, v, (-u, sp.Integer(0), v)),
            (1 - (1 - 1 / X) * (1 - 1 / Y)).subs(names),
            "cross term, inputs on different sides",
        ),
        Step(
            1 - (1 - 1 / (X * t)) * (1 - 1 / Y),
            1 - (1 - 1 / X) * (1 - 1 / Y),
            "it falls as an input moves outward (X grows to Xt)",
            "<=",
        ),
        Step(
            moment(-u - v, -v, (-u - v, -v, sp.Integer(0))),
            one_side.subs(X, X * Y).subs(names),
            "cross term, inputs 1/2 - u - v and 1/2 - v on one side",
        ),
        Step(sp.Integer(1), one_side.subs(X, Y * (1 + r)), "it is at least 1", "<="),
        Step(moment(-u, -u, (-u, sp.Integer(0))), square.subs(names), "the square"),
        Step(square, square.subs(X, X * t), "it grows as the input moves outward", "<="),
    )


def _middles(ends: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    return tuple((low + high) / 2 for low, high in pairwise(ends))


def _sign(difference: sp.Expr) -> int:
    return 1 if sp.expand(difference).is_positive else -1


@derivation("Constants for Corollary 5.3.1", "Balle et al. 2019, Corollary 5.3.1, made explicit")
def corollary531() -> Steps:
    r"""The constants of Corollary 5.3.1 (Balle et al. 2019): :math:`\varepsilon = 2\log(1 + \sqrt2)\,w\sqrt{\Lambda/n}`
    with :math:`w = (1 \wedge \varepsilon_0) e^{\varepsilon_0}` and :math:`\Lambda = \log(1/\delta) \ge 1 + \sqrt2`, if
    :math:`e^{\varepsilon_0} \le \sqrt{n/\Lambda}`.

    From Hoeffding's bound on G, with τ = tanh(ε/2) and T = t − 1:
    :math:`\delta \le \frac{T^2}{2n\tau(1-\tau)} e^{-2n\tau^2/T^2}`, which grows with T <= w. Take
    :math:`\tau = w\sqrt{\Lambda/(2n)} \le \kappa = 1/\sqrt2`: the exponential is δ, and the factor in front is
    :math:`\frac{\tau}{\Lambda(1-\tau)} \le 1`. Then ε = 2 artanh τ, at most 2τ artanh(κ)/κ because artanh is convex.

    >>> corollary531().result
    2*sqrt(Lambda)*w*log(1 + sqrt(2))/sqrt(n)
    """
    tau, w, level, r, s, p = sp.symbols("tau w Lambda r s p", positive=True)
    kappa = 1 / sp.sqrt(2)
    alpha = (1 + tau) / (1 - tau)
    convex = 2 * tau / (1 - tau**2) ** 2
    users = w**2 * level / (2 * tau**2)  # n, from τ = w sqrt(Λ/(2n))
    return (
        Step(sp.Integral(sp.exp(s), (s, 0, eps0)), sp.exp(eps0) - 1, "T = t - 1 is an integral of e^s ≤ t"),
        Step(p, p * t, "so T ≤ ε0·t, and T ≤ t: T ≤ w", "<="),
        Step((alpha + 1) ** 2 / (alpha - 1), 2 / (tau * (1 - tau)), "the factor in front, in τ"),
        Step((alpha - 1) / (alpha + 1), tau, "the exponent, in τ"),
        Step(sp.Subs(2 * n * tau**2 / w**2, n, users), level, "with this τ the exponential is δ"),
        Step(sp.Subs(w**2 / (2 * n * tau * (1 - tau)), n, users), tau / (level * (1 - tau)), "and the factor is"),
        Step(tau / (r + s), (tau + r) / s, "which grows with τ (κ = τ + r, 1 - κ = s)", "<="),
        Step(kappa / (1 - kappa), 1 + sp.sqrt(2), "at κ it is (1 + √2)/Λ ≤ 1"),
        Step(sp.Derivative(sp.atanh(tau), (tau, 2)), convex, "artanh is convex"),
        Step(sp.Integer(0), convex.subs(tau, p / (1 + p)), "for 0 < τ < 1", "<="),
        Step((1 + kappa) / (1 - kappa), (1 + sp.sqrt(2)) ** 2, "e^(2 artanh κ)"),
        Step(
            sp.Subs(2 * tau * sp.log(1 + sp.sqrt(2)) / kappa, tau, w * sp.sqrt(level / (2 * n))),
            2 * sp.log(1 + sp.sqrt(2)) * w * sp.sqrt(level / n),
            "ε ≤ 2τ artanh(κ)/κ",
        ),
    )
