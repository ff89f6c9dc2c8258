r"""The blanket lemmas of Balle et al. 2019 and the GPARV theorems of Su et al. 2025, as derivations."""

from __future__ import annotations

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.derivations.engine import Derivation, Step
from shuffle_sym.randomizers import BLH, KRR, OUE, RAPPOR, Joint, Parallel

t, k, alpha, eps0 = field.t, field.k, field.alpha, sp.Symbol("epsilon_0", positive=True)
n, m = sp.symbols("n m", positive=True, integer=True)
gamma = sp.Symbol("gamma", positive=True)
y = sp.Symbol("y", real=True)
half = sp.Rational(1, 2)


def lemma51_krr() -> Derivation:
    r"""γ of k-RR is k/(e^ε0 + k − 1) (Balle et al. 2019, Lemma 5.1 (1)).

    >>> lemma51_krr().result
    k/(k + t - 1)
    """
    (messages,) = KRR().classes()
    floor = messages.floor({})
    each = sp.UnevaluatedExpr(floor / k)
    return Derivation(
        "Total variation similarity of k-RR",
        "Balle et al. 2019, Lemma 5.1 (1)",
        (
            Step(sp.Integer(0), t / (t + k - 1) - 1 / (t + k - 1), "the infimum is at y ≠ x, since t ≥ 1", "<="),
            Step(k * each, k / (t + k - 1), "k messages, each with the same infimum"),
        ),
    )


def lemma51_laplace() -> Derivation:
    r"""γ of Laplace on [0, 1] is e^(−ε0/2) (Balle et al. 2019, Lemma 5.1 (2)).

    >>> lemma51_laplace().result
    exp(-epsilon_0/2)
    """
    left = sp.Integral(eps0 / 2 * sp.exp(-eps0 * (1 - y)), (y, -sp.oo, half))
    right = sp.Integral(eps0 / 2 * sp.exp(-eps0 * y), (y, half, sp.oo))
    return Derivation(
        "Total variation similarity of Laplace on [0, 1]",
        "Balle et al. 2019, Lemma 5.1 (2)",
        (
            Step(left, sp.exp(-eps0 / 2) / 2, "for y < 1/2 the infimum is at x = 1"),
            Step(right, sp.exp(-eps0 / 2) / 2, "for y > 1/2 the infimum is at x = 0"),
            Step(left + right, sp.exp(-eps0 / 2), "both halves"),
        ),
    )


def lemma51_gaussian() -> Derivation:
    r"""γ of the Gaussian on [0, 1] is 2 Pr[N(0, σ²) ≤ −1/2] (Balle et al. 2019, Lemma 5.1 (3)).

    Their proof ends in ≥ −1/2, which would exceed 1; the statement is right.

    >>> lemma51_gaussian().result
    2*Integral(sqrt(2)*exp(-y**2/(2*sigma**2))/(2*sqrt(pi)*sigma), (y, -oo, -1/2))
    """
    sigma = sp.Symbol("sigma", positive=True)
    scale = 1 / (sp.sqrt(2 * sp.pi) * sigma)
    left = sp.Integral(scale * sp.exp(-((y - 1) ** 2) / (2 * sigma**2)), (y, -sp.oo, half))
    right = sp.Integral(scale * sp.exp(-(y**2) / (2 * sigma**2)), (y, half, sp.oo))
    tail = sp.Integral(scale * sp.exp(-(y**2) / (2 * sigma**2)), (y, -sp.oo, -half))
    closed = sp.erfc(sp.sqrt(2) / (4 * sigma)) / 2
    return Derivation(
        "Total variation similarity of the Gaussian on [0, 1]",
        "Balle et al. 2019, Lemma 5.1 (3)",
        (
            Step(left, closed, "for y < 1/2 the infimum is at x = 1"),
            Step(right, closed, "for y > 1/2 the infimum is at x = 0"),
            Step(left + right, 2 * tail, "twice the lower tail at -1/2"),
        ),
    )


def lemma52() -> Derivation:
    r"""γ ≥ e^(−ε0) for every ε0-LDP randomizer (Balle et al. 2019, Lemma 5.2).

    ε0-LDP says that at every message the infimum is μ/t plus some :math:`\sigma \ge 0`, for any fixed input's law μ.

    >>> lemma52().result
    Sigma + 1/t
    """
    mu, sigma = sp.IndexedBase("mu"), sp.IndexedBase("sigma")
    j = sp.Symbol("y", integer=True, positive=True)
    total_mu, total_sigma = sp.Sum(mu[j], (j, 1, m)), sp.Sum(sigma[j], (j, 1, m))
    slack = sp.Symbol("Sigma", nonnegative=True)
    return Derivation(
        "Total variation similarity is at least exp(-ε0)",
        "Balle et al. 2019, Lemma 5.2",
        (
            Step(
                sp.Sum(mu[j] / t + sigma[j], (j, 1, m)),
                total_mu / t + total_sigma,
                "γ: sum the infima over the messages",
            ),
            Step(1 / t, 1 / t + slack, "μ sums to 1, and the rest is not negative", "<="),
        ),
    )


def _mean_over_two_messages(ratio: sp.Expr) -> sp.Expr:
    """Σ c (a − αb)/c over two messages; the second has what the first leaves of a and b."""
    a, b = sp.symbols("a b", nonnegative=True)
    return (a - ratio * b) + ((1 - a) - ratio * (1 - b))


def property2() -> Derivation:
    r"""E[G] = 1 − α and 1 − αt ≤ G ≤ t − α (Su et al. 2025, Property 2; the print has e^(−ε) for α).

    Write R(x)(y)/c(y) = 1 + u and R(x')(y)/c(y) = 1 + w with 0 ≤ u, w ≤ t − 1: that is what the blanket and ε0-LDP say.

    >>> property2().result
    -alpha*(w + 1) + u + 1
    """
    u, w = sp.symbols("u w", nonnegative=True)
    rest = sp.Symbol("r", nonnegative=True)  # t − 1 − u, or t − 1 − w
    aa = sp.Symbol("alpha", positive=True)
    return Derivation(
        "Mean and range of G",
        "Su et al. 2025, Property 2, corrected",
        (
            Step(_mean_over_two_messages(aa), 1 - aa, "R(x) and R(x') sum to 1 (two messages stand for all)"),
            # With t = 1 + u + r: (1 + u) − α(1 + w) <= t − α.
            Step((1 + u) - aa * (1 + w), (1 + u + rest) - aa, "upper end: u ≤ t - 1, w ≥ 0", "<="),
            Step(1 - aa * (1 + w + rest), (1 + u) - aa * (1 + w), "lower end: u ≥ 0, w ≤ t - 1", "<="),
        ),
    )


def lemma54() -> Derivation:
    r"""Mean, range and second moment of L = γG (Balle et al. 2019, Lemma 5.4): what is printed follows, and is looser.

    As in `property2`, f = 1 + u and f' = 1 + w are R(x)/c and R(x')/c at a message with blanket mass c, and t = f + r.
    Summed over the messages, cf and cf' give 1 each, so E[L²] = γ Σ c (f − αf')² is at most γ(t + α²t − 2α).

    >>> lemma54().result
    -2*alpha/(t**2*(g + 1)**2) + t*(alpha**2 + 1)/(g + 1)
    """
    aa, u, w, r, c, rest = sp.symbols("alpha u w r c g", positive=True)
    share = 1 / (1 + rest)  # γ, as any number between 0 and 1
    sharp = share * (t * (1 + aa**2) - 2 * aa)
    printed = share * t * (aa**2 + 1) - 2 * share**2 * aa / t**2
    return Derivation(
        "Mean, range and second moment of L",
        "Balle et al. 2019, Lemma 5.4",
        (
            Step(_mean_over_two_messages(aa), 1 - aa, "(1) E[L] = E[G], because G is L/γ with probability γ"),
            Step(gamma * (t - aa), gamma * (t - aa / t), "(2) their upper end is above γ(t - α)", "<="),
            Step(gamma * (1 / t - aa * t), gamma * (1 - aa * t), "(2) their lower end is below γ(1 - αt)", "<="),
            Step(c * (1 + u) ** 2, (1 + u + r) * c * (1 + u), "(3) the square: cf² ≤ t·cf", "<="),
            Step(c * (1 + w), c * (1 + u) * (1 + w), "(3) the cross term: cff' ≥ cf'", "<="),
            Step(sharp, printed, "(3) their bound is above γ(t + α²t - 2α)", "<="),
        ),
    )


def lemma57() -> Derivation:
    r"""Range and second moment of L for k-RR (Balle et al. 2019, Lemma 5.7), from the GPARV table of k-RR.

    >>> lemma57().result
    k*(1 - alpha)**2*(-k/(k + t - 1) + 2)/(k + t - 1) + k*(alpha**2 + 1)*(-k/(k + t - 1) + 1)**2
    """
    G = KRR().gparv()
    mass = k / (t + k - 1)
    second = sp.Add(*(p * v**2 for v, p in zip(G.forms, G.masses, strict=True) if v != 0), evaluate=False)
    printed = mass * (2 - mass) * (1 - alpha) ** 2 + (1 - mass) ** 2 * k * (1 + alpha**2)
    return Derivation(
        "L of k-RR: range and second moment",
        "Balle et al. 2019, Lemma 5.7",
        (
            Step(mass * (t - alpha), mass * (1 - alpha) + (1 - mass) * k, "largest value of L"),
            Step(mass * (1 - alpha * t), mass * (1 - alpha) - (1 - mass) * k * alpha, "smallest value of L"),
            Step(mass * second, printed, "E[L²] = γ E[G²], term by term from the table"),
        ),
    )


def _laplace_moment(power0: int, power1: int) -> sp.Expr:
    """∫ (μ_0/ω)^power0 (μ_1/ω)^power1 ω for Laplace with inputs 0 and 1, piece by piece (y < 0, < 1/2, < 1, > 1)."""
    pieces = []
    for low, high, to_0, to_1, to_half in (
        (-sp.oo, 0, -y, 1 - y, half - y),
        (0, half, y, 1 - y, half - y),
        (half, 1, y, 1 - y, y - half),
        (1, sp.oo, y, y - 1, y - half),
    ):
        exponent = -power0 * (to_0 - to_half) - power1 * (to_1 - to_half) - to_half
        pieces.append(sp.Integral(eps0 / 2 * sp.exp(eps0 * sp.expand(exponent)), (y, low, high)))
    return sp.Add(*pieces)


def lemma58() -> Derivation:
    r"""Range and second moment of L for Laplace and the pair (0, 1) (Balle et al. 2019, Lemma 5.8).

    For this pair (2) is an equality. The cross term enters with a minus sign, so the bound needs its *smallest* value;
    the print bounds it from above.

    >>> lemma58().proved
    True
    """
    r = sp.exp(eps0 / 2)
    square = (2 * r + r**-2) / 3
    cross = 2 / r - r**-2
    aa = sp.Symbol("alpha", positive=True)
    return Derivation(
        "L of Laplace for inputs 0 and 1: range and second moment",
        "Balle et al. 2019, Lemma 5.8",
        (
            Step(sp.exp(-eps0 / 2) * (sp.exp(eps0) - aa), r * (1 - aa / r**2), "(1) largest value of L: γ(t - α)"),
            Step(sp.exp(-eps0 / 2) * (1 - aa * sp.exp(eps0)), 1 / r - aa * r, "(1) smallest value: γ(1 - αt)"),
            Step(_laplace_moment(1, 0), sp.Integer(1), "μ is a density"),
            Step(_laplace_moment(2, 0), square, "E[(μ₀/ω)²]"),
            Step(_laplace_moment(0, 2), square, "E[(μ₁/ω)²]"),
            Step(_laplace_moment(1, 1), cross, "E[μ₀μ₁/ω²]"),
            Step(
                square - 2 * aa * cross + aa**2 * square,
                (aa**2 + 1) / 3 * (2 * r + r**-2) - 2 * aa * (2 / r - r**-2),
                "E[L²]",
            ),
        ),
    )


def lemma_a3() -> Derivation:
    r"""One user among m draws from ω: the histogram h has probability
    :math:`\Pr[W_m = h] \cdot \frac1m \sum_j h_j \mu_j/\omega_j` (Balle et al. 2019, Lemma A.3; Su et al. 2025,
    Theorem 10 with m = n and ω = R(x_2)).

    h arises if the user sends some message j and the others make h − e_j. For each j the two multinomials differ by the
    factor h_j/m; what the other cells contribute (``r``) is the same on both sides.

    >>> lemma_a3().result
    h*mu*omega**h*factorial(m)/(m*omega*r*factorial(h))
    """
    h, rest = sp.symbols("h r", positive=True, integer=True)
    mu, omega = sp.symbols("mu omega", positive=True)
    others = sp.factorial(m - 1) / (sp.factorial(h - 1) * rest)
    everyone = sp.factorial(m) / (sp.factorial(h) * rest)
    return Derivation(
        "One user hidden among m - 1 draws",
        "Balle et al. 2019, Lemma A.3; Su et al. 2025, Theorem 10",
        (
            Step(others / everyone, h / m, "the multinomials of h without one j, and of h"),
            Step(
                mu * others * omega ** (h - 1), everyone * omega**h * (h / m) * (mu / omega), "times the probabilities"
            ),
        ),
    )


def _others_covered() -> sp.Expr:
    """The weight of E[L_1 + … + L_m]_+: m − 1 of the n − 1 others are covered, and the mean is over m."""
    return sp.binomial(n - 1, m - 1) * gamma ** (m - 1) * (1 - gamma) ** (n - m) / m


def lemma53() -> Derivation:
    r"""The change of summation at the end of Lemma 5.3 (Balle et al. 2019): the prefactor is 1/(γn).

    Su et al. 2025, Lemma 8, prints :math:`1/\gamma^n`, which is another number as soon as γ < 1 and n > 1.

    >>> lemma53().result
    gamma**m*(1 - gamma)**(-m + n)*E(m)*binomial(n, m)/(gamma*n)
    """
    E = sp.Function("E")
    inner = _others_covered()
    outer = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) / (gamma * n)
    return Derivation(
        "From n - 1 others to n copies",
        "Balle et al. 2019, Lemma 5.3",
        (
            Step(sp.binomial(n - 1, m - 1) / m, sp.binomial(n, m) / n, "absorption"),
            Step(inner, outer, "the coefficient of the m-th expectation"),
            Step(inner * E(m), outer * E(m), "term by term, after m is replaced by m - 1"),
        ),
    )


def theorem9() -> Derivation:
    r"""D = (1/n) E[G_1 + … + G_n]_+ (Su et al. 2025, Theorem 9).

    The number of copies that are covered is binomial. Given m of them, ΣG is (L_1 + … + L_m)/γ, and [·]_+ is positively
    homogeneous, so every term is that of Lemma 5.3.

    >>> theorem9().result
    gamma**(m - 1)*(1 - gamma)**(-m + n)*E(m)*binomial(n - 1, m - 1)/m
    """
    E = sp.Function("E")
    chance = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m)
    return Derivation(
        "The divergence is one expectation",
        "Su et al. 2025, Theorem 9",
        (
            Step(
                sp.binomial(n + 1, m + 1),
                sp.binomial(n, m) + sp.binomial(n, m + 1),
                "one more copy is covered or not: the number of covered copies is binomial",
            ),
            Step(chance * (E(m) / gamma) / n, _others_covered() * E(m), "given m of them: the term of Lemma 5.3"),
        ),
    )


def joint_blanket() -> Derivation:
    r"""The blanket of a joint randomizer is the product of the blankets (Su et al. 2025, §6).

    With probabilities f(1 + u) and g(1 + w) of two parts, where u, w ≥ 0 are 0 for some inputs, the infimum of the
    product is fg.

    >>> joint_blanket().result
    k**2/(k + exp(epsilon_0) - 1)**2
    """
    f, g, u, w = sp.symbols("f g u w", nonnegative=True)
    part = KRR()
    return Derivation(
        "Joint composition: products of blankets",
        "Su et al. 2025, §6 and Example 6.1",
        (
            Step(f * g, f * (1 + u) * g * (1 + w), "no pair of inputs is below the product of the infima", "<="),
            Step(Joint(part, part).gamma, part.gamma**2, "two k-RRs, from the classes of their product"),
        ),
    )


def parallel_blanket() -> Derivation:
    r"""The blanket of a parallel randomizer is the weighted union of the blankets (Su et al. 2025, §7).

    >>> parallel_blanket().proved
    True
    """
    weight, f, u = sp.symbols("p f u", nonnegative=True)
    parts = KRR(), OUE(field.k)
    mixed = Parallel(parts, [half, half])
    return Derivation(
        "Parallel composition: a weighted union",
        "Su et al. 2025, §7",
        (
            Step(weight * f, weight * f * (1 + u), "the message names the part: infimum part by part", "<="),
            Step(mixed.gamma, (parts[0].gamma + parts[1].gamma) / 2, "k-RR and OUE on k inputs, each half the time"),
        ),
    )


def laplace_law() -> Derivation:
    r"""The law of L for Laplace and the pair (0, 1) (Su et al. 2025, Appendix C), from the blanket.

    With :math:`\rho = \mu_0/\mu_1 = e^{\varepsilon_0(1 - 2y)}` for 0 < y < 1/2: L is γ(ρ − α) there, and γ(1 − αρ) on
    the mirrored half. What is printed holds.

    >>> laplace_law().result
    1 - 1/(2*sqrt(alpha + x))
    """
    rho, level, gap, aa = sp.symbols("rho x z alpha", positive=True)
    cut = half - sp.log(rho) / (2 * eps0)
    share = sp.exp(-eps0 / 2)
    below = sp.Integral(eps0 / 2 * sp.exp(-eps0 * (1 - y)) / share, (y, -sp.oo, cut))
    tail = 1 / (2 * sp.sqrt(rho))
    return Derivation(
        "The law of L for Laplace",
        "Su et al. 2025, Appendix C",
        (
            Step(below, tail, "the blanket's mass where the ratio exceeds ρ, for 1 < ρ < t"),
            Step(
                below.subs(rho, gap / aa),
                sp.sqrt(aa) / (2 * sp.sqrt(gap)),
                "Pr[L ≤ γ(1 - z)] on the half where L = γ(1 - αρ), for α < z < αt",
            ),
            Step(
                1 - below.subs(rho, level + aa),
                1 - (level + aa) ** (-half) / 2,
                "Pr[L ≤ γx] on the half where L = γ(ρ - α), for 1 - α < x < t - α",
            ),
        ),
    )


def idealised_limit() -> Derivation:
    r"""With d → ∞ the blanket of RAPPOR, OUE and local hashing becomes that of the published tables.

    The part that is lost is the reference probability :math:`\mu^d` of a message that matches all inputs.

    >>> idealised_limit().result
    2/(exp(epsilon_0) + 1) + (exp(epsilon_0)/(exp(epsilon_0)/2 + 1/2) - 1/(exp(epsilon_0)/2 + 1/2))/2**d
    """
    d = field.d
    root = sp.Symbol("s", positive=True)  # any number above 1 will do: 1 + root > 1
    steps = [Step(sp.Limit((1 + root) ** (-d), d, sp.oo), sp.Integer(0), "no message matches infinitely many inputs")]
    for R in (RAPPOR(), OUE(), BLH()):
        gain = field.substitute(R.universal(0) * (R.likelihood(True) - R.likelihood(False)), R.bindings)
        ideal = R.idealised().gamma
        steps.append(
            Step(R.gamma, ideal + gain, f"{type(R).__name__}: γ with d inputs is the idealised one and a gain")
        )
    return Derivation("From d inputs to infinitely many", "Su et al. 2025, Table 1", tuple(steps))
