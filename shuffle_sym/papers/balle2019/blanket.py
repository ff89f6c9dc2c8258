r"""The lemmas of Balle et al. 2019 on the privacy blanket and on L, as derivations."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import KRR

t, k, alpha, eps0 = field.t, field.k, field.alpha, sp.Symbol("epsilon_0", positive=True)
n, m = sp.symbols("n m", positive=True, integer=True)
gamma = sp.Symbol("gamma", positive=True)
y = sp.Symbol("y", real=True)
half = sp.Rational(1, 2)


@derivation("Total variation similarity of k-RR", "Balle et al. 2019, Lemma 5.1 (1)")
def lemma51_krr() -> Steps:
    r"""γ of k-RR is k/(e^ε0 + k − 1) (Balle et al. 2019, Lemma 5.1 (1)).

    >>> lemma51_krr().result
    k/(k + t - 1)
    """
    (messages,) = KRR().classes()
    floor = messages.floor({})
    each = sp.UnevaluatedExpr(floor / k)
    return (
        Step(sp.Integer(0), t / (t + k - 1) - 1 / (t + k - 1), "the infimum is at y ≠ x, since t ≥ 1", "<="),
        Step(k * each, k / (t + k - 1), "k messages, each with the same infimum"),
    )


@derivation("Total variation similarity of Laplace on [0, 1]", "Balle et al. 2019, Lemma 5.1 (2)")
def lemma51_laplace() -> Steps:
    r"""γ of Laplace on [0, 1] is e^(−ε0/2) (Balle et al. 2019, Lemma 5.1 (2)).

    >>> lemma51_laplace().result
    exp(-epsilon_0/2)
    """
    left = sp.Integral(eps0 / 2 * sp.exp(-eps0 * (1 - y)), (y, -sp.oo, half))
    right = sp.Integral(eps0 / 2 * sp.exp(-eps0 * y), (y, half, sp.oo))
    return (
        Step(left, sp.exp(-eps0 / 2) / 2, "for y < 1/2 the infimum is at x = 1"),
        Step(right, sp.exp(-eps0 / 2) / 2, "for y > 1/2 the infimum is at x = 0"),
        Step(left + right, sp.exp(-eps0 / 2), "both halves"),
    )


@derivation("Total variation similarity of the Gaussian on [0, 1]", "Balle et al. 2019, Lemma 5.1 (3)")
def lemma51_gaussian() -> Steps:
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
    return (
        Step(left, closed, "for y < 1/2 the infimum is at x = 1"),
        Step(right, closed, "for y > 1/2 the infimum is at x = 0"),
        Step(left + right, 2 * tail, "twice the lower tail at -1/2"),
    )


@derivation("Total variation similarity is at least exp(-ε0)", "Balle et al. 2019, Lemma 5.2")
def lemma52() -> Steps:
    r"""γ ≥ e^(−ε0) for every ε0-LDP randomizer (Balle et al. 2019, Lemma 5.2).

    ε0-LDP says that at every message the infimum is μ/t plus some :math:`\sigma \ge 0`, for any fixed input's law μ.

    >>> lemma52().result
    Sigma + 1/t
    """
    mu, sigma = sp.IndexedBase("mu"), sp.IndexedBase("sigma")
    j = sp.Symbol("y", integer=True, positive=True)
    total_mu, total_sigma = sp.Sum(mu[j], (j, 1, m)), sp.Sum(sigma[j], (j, 1, m))
    slack = sp.Symbol("Sigma", nonnegative=True)
    return (
        Step(
            sp.Sum(mu[j] / t + sigma[j], (j, 1, m)), total_mu / t + total_sigma, "γ: sum the infima over the messages"
        ),
        Step(1 / t, 1 / t + slack, "μ sums to 1, and the rest is not negative", "<="),
    )


def mean_over_two_messages(ratio: sp.Expr) -> sp.Expr:
    """Σ c (a − αb)/c over two messages; the second has what the first leaves of a and b."""
    a, b = sp.symbols("a b", nonnegative=True)
    return (a - ratio * b) + ((1 - a) - ratio * (1 - b))


@derivation("Mean, range and second moment of L", "Balle et al. 2019, Lemma 5.4")
def lemma54() -> Steps:
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
    return (
        Step(mean_over_two_messages(aa), 1 - aa, "(1) E[L] = E[G], because G is L/γ with probability γ"),
        Step(gamma * (t - aa), gamma * (t - aa / t), "(2) their upper end is above γ(t - α)", "<="),
        Step(gamma * (1 / t - aa * t), gamma * (1 - aa * t), "(2) their lower end is below γ(1 - αt)", "<="),
        Step(c * (1 + u) ** 2, (1 + u + r) * c * (1 + u), "(3) the square: cf² ≤ t·cf", "<="),
        Step(c * (1 + w), c * (1 + u) * (1 + w), "(3) the cross term: cff' ≥ cf'", "<="),
        Step(sharp, printed, "(3) their bound is above γ(t + α²t - 2α)", "<="),
    )


@derivation("L of k-RR: range and second moment", "Balle et al. 2019, Lemma 5.7")
def lemma57() -> Steps:
    r"""Range and second moment of L for k-RR (Balle et al. 2019, Lemma 5.7), from the GPARV table of k-RR.

    >>> lemma57().result
    k*(1 - alpha)**2*(-k/(k + t - 1) + 2)/(k + t - 1) + k*(alpha**2 + 1)*(-k/(k + t - 1) + 1)**2
    """
    G = KRR().gparv()
    mass = k / (t + k - 1)
    second = sp.Add(*(p * v**2 for v, p in zip(G.forms, G.masses, strict=True) if v != 0), evaluate=False)
    printed = mass * (2 - mass) * (1 - alpha) ** 2 + (1 - mass) ** 2 * k * (1 + alpha**2)
    return (
        Step(mass * (t - alpha), mass * (1 - alpha) + (1 - mass) * k, "largest value of L"),
        Step(mass * (1 - alpha * t), mass * (1 - alpha) - (1 - mass) * k * alpha, "smallest value of L"),
        Step(mass * second, printed, "E[L²] = γ E[G²], term by term from the table"),
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


@derivation("L of Laplace for inputs 0 and 1: range and second moment", "Balle et al. 2019, Lemma 5.8")
def lemma58() -> Steps:
    r"""Range and second moment of L for Laplace and the pair (0, 1) (Balle et al. 2019, Lemma 5.8).

    For this pair (2) is an equality. The cross term enters with a minus sign, so the bound needs its *smallest* value;
    the paper bounds it from above.

    >>> lemma58().proved
    True
    """
    r = sp.exp(eps0 / 2)
    square = (2 * r + r**-2) / 3
    cross = 2 / r - r**-2
    aa = sp.Symbol("alpha", positive=True)
    return (
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
    )


@derivation("One user hidden among m - 1 draws", "Balle et al. 2019, Lemma A.3; Su et al. 2025, Theorem 10")
def lemma_a3() -> Steps:
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
    return (
        Step(others / everyone, h / m, "the multinomials of h without one j, and of h"),
        Step(mu * others * omega ** (h - 1), everyone * omega**h * (h / m) * (mu / omega), "times the probabilities"),
    )


def others_covered() -> sp.Expr:
    """The weight of E[L_1 + … + L_m]_+: m − 1 of the n − 1 others are covered, and the mean is over m."""
    return sp.binomial(n - 1, m - 1) * gamma ** (m - 1) * (1 - gamma) ** (n - m) / m


@derivation("From n - 1 others to n copies", "Balle et al. 2019, Lemma 5.3")
def lemma53() -> Steps:
    r"""The change of summation at the end of Lemma 5.3 (Balle et al. 2019): the prefactor is 1/(γn).

    Su et al. 2025, Lemma 8, prints :math:`1/\gamma^n`, which is another number as soon as γ < 1 and n > 1.

    >>> lemma53().result
    gamma**m*(1 - gamma)**(-m + n)*E(m)*binomial(n, m)/(gamma*n)
    """
    E = sp.Function("E")
    inner = others_covered()
    outer = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) / (gamma * n)
    return (
        Step(sp.binomial(n - 1, m - 1) / m, sp.binomial(n, m) / n, "absorption"),
        Step(inner, outer, "the coefficient of the m-th expectation"),
        Step(inner * E(m), outer * E(m), "term by term, after m is replaced by m - 1"),
    )
