r"""G of Su et al. 2025: tables from the definition of a randomizer, Property 2, Theorem 9, compositions, Laplace."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.balle2019.blanket import mean_over_two_messages, others_covered
from shuffle_sym.papers.derivation import Derivation, Step, Steps, derivation
from shuffle_sym.randomizers import BLH, KRR, OUE, RAPPOR, Joint, Parallel

eps0, gamma = sp.symbols("epsilon_0 gamma", positive=True)
n, m = sp.symbols("n m", positive=True, integer=True)
y = sp.Symbol("y", real=True)
half = sp.Rational(1, 2)


def gparv_table(R: Randomizer, x0: int | None = None, x1: int | None = None) -> Derivation:
    r"""The row of `R` in the table of GPARVs (Su et al. 2025, Table 1), derived from the definition of R.

    >>> import shuffle_sym as ss
    >>> gparv_table(ss.KRR()).result
    1 - alpha
    """
    D = decomposition.blanket(R, x0, x1)
    G = D.gparv
    live = [atom for atom in D.atoms if atom.c != 0]
    steps = []
    for atom, value in zip(live, G.forms, strict=False):
        held = sp.Mul(sp.Add(atom.a, -field.alpha * atom.b, evaluate=False), 1 / atom.c, evaluate=False)
        steps.append(Step(held, value, f"value of G on the messages of class ${atom.label}$"))
    covered = sp.Add(*(atom.c for atom in live), evaluate=False)
    steps.append(Step(1 - covered, D.beta_form, "probability of 0: what the blanket does not cover"))
    steps.append(Step(sp.Add(*G.masses, evaluate=False), sp.Integer(1), "the probabilities sum to 1"))
    products = [sp.Mul(v, p, evaluate=False) for v, p in zip(G.forms, G.masses, strict=True) if v != 0]
    mean = field.simplest(sum(products))
    steps.append(Step(sp.Add(*products, evaluate=False), mean, "the mean of G"))
    return Derivation(f"GPARV of {R!r}", "Su et al. 2025, Definition 10", tuple(steps))


@derivation("Mean and range of G", "Su et al. 2025, Property 2, corrected")
def property2() -> Steps:
    r"""E[G] = 1 − α and 1 − αt ≤ G ≤ t − α (Su et al. 2025, Property 2; the paper has e^(−ε) for α).

    Write R(x)(y)/c(y) = 1 + u and R(x')(y)/c(y) = 1 + w with 0 ≤ u, w ≤ t − 1: that is what the blanket and ε0-LDP say.

    >>> property2().result
    -alpha*(w + 1) + u + 1
    """
    u, w = sp.symbols("u w", nonnegative=True)
    rest = sp.Symbol("r", nonnegative=True)  # t − 1 − u, or t − 1 − w
    aa = sp.Symbol("alpha", positive=True)
    return (
        Step(mean_over_two_messages(aa), 1 - aa, "R(x) and R(x') sum to 1 (two messages stand for all)"),
        # With t = 1 + u + r: (1 + u) − α(1 + w) <= t − α.
        Step((1 + u) - aa * (1 + w), (1 + u + rest) - aa, "upper end: u ≤ t - 1, w ≥ 0", "<="),
        Step(1 - aa * (1 + w + rest), (1 + u) - aa * (1 + w), "lower end: u ≥ 0, w ≤ t - 1", "<="),
    )


@derivation("The divergence is one expectation", "Su et al. 2025, Theorem 9")
def theorem9() -> Steps:
    r"""D = (1/n) E[G_1 + … + G_n]_+ (Su et al. 2025, Theorem 9).

    The number of copies that are covered is binomial. Given m of them, ΣG is (L_1 + … + L_m)/γ, and [·]_+ is positively
    homogeneous, so every term is that of Lemma 5.3.

    >>> theorem9().result
    gamma**(m - 1)*(1 - gamma)**(-m + n)*E(m)*binomial(n - 1, m - 1)/m
    """
    E = sp.Function("E")
    chance = sp.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m)
    return (
        Step(
            sp.binomial(n + 1, m + 1),
            sp.binomial(n, m) + sp.binomial(n, m + 1),
            "one more copy is covered or not: the number of covered copies is binomial",
        ),
        Step(chance * (E(m) / gamma) / n, others_covered() * E(m), "given m of them: the term of Lemma 5.3"),
    )


@derivation("Joint composition: products of blankets", "Su et al. 2025, §6 and Example 6.1")
def joint_blanket() -> Steps:
    r"""The blanket of a joint randomizer is the product of the blankets (Su et al. 2025, §6).

    With probabilities f(1 + u) and g(1 + w) of two parts, where u, w ≥ 0 are 0 for some inputs, the infimum of the
    product is fg.

    >>> joint_blanket().result
    k**2/(k + exp(epsilon_0) - 1)**2
    """
    f, g, u, w = sp.symbols("f g u w", nonnegative=True)
    part = KRR()
    return (
        Step(f * g, f * (1 + u) * g * (1 + w), "no pair of inputs is below the product of the infima", "<="),
        Step(Joint(part, part).gamma, part.gamma**2, "two k-RRs, from the classes of their product"),
    )


@derivation("Parallel composition: a weighted union", "Su et al. 2025, §7")
def parallel_blanket() -> Steps:
    r"""The blanket of a parallel randomizer is the weighted union of the blankets (Su et al. 2025, §7).

    >>> parallel_blanket().proved
    True
    """
    weight, f, u = sp.symbols("p f u", nonnegative=True)
    parts = KRR(), OUE(field.k)
    mixed = Parallel(parts, [half, half])
    return (
        Step(weight * f, weight * f * (1 + u), "the message names the part: infimum part by part", "<="),
        Step(mixed.gamma, (parts[0].gamma + parts[1].gamma) / 2, "k-RR and OUE on k inputs, each half the time"),
    )


@derivation("The law of L for Laplace", "Su et al. 2025, Appendix C")
def laplace_law() -> Steps:
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
    return (
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
    )


@derivation("From d inputs to infinitely many", "Su et al. 2025, Table 1")
def idealised_limit() -> Steps:
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
    return tuple(steps)
