r"""Balle et al. 2019, Sections 5.2 and 5.3: Hoeffding's and Bennett's bounds, and what they are given."""

from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.balle2019 import laplace, moments, tails
from shuffle_sym.papers.balle2019.bounds import bennett, hoeffding, thm53
from shuffle_sym.papers.balle2019.claims.section_5_blanket import law_of_l, randomizers
from shuffle_sym.papers.claims import Check, Evidence, certified, claim, confirmed, on_grid, proved, refuted, searched
from shuffle_sym.papers.enclosures import below, enclosed, exp, log, shown, sqrt
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.laws import positive_part
from shuffle_sym.papers.tools import F, fraction
from shuffle_sym.randomizers import KRR, BinaryRR

t = field.t


@claim(
    "B-Lem5.4",
    "504-508",
    r"$\mathbb{E}[L] = 1 - e^\varepsilon$; $\gamma e^{-\varepsilon_0}(1 - e^{\varepsilon + "
    r"2\varepsilon_0}) \le L \le \gamma e^{\varepsilon_0}(1 - e^{\varepsilon - 2\varepsilon_0})$; "
    r"$\mathbb{E}[L^2]$",
)
def lemma_5_4() -> Check:
    def holds(R: Any, alpha: F) -> bool:
        ratio = fraction(sp.exp(R.eps0))
        for pair in R.pairs():
            gamma, law = law_of_l(decomposition.blanket(R, *pair), alpha)
            low, high = gamma * (1 / ratio - alpha * ratio), gamma * (ratio - alpha / ratio)
            second = gamma * ratio * (alpha**2 + 1) - 2 * gamma**2 * alpha / ratio**2
            mean = sum((v * p for v, p in law), F(0))
            if mean != 1 - alpha or any(not low <= v <= high for v, _ in law):
                return False
            if sum((v * v * p for v, p in law), F(0)) > second:
                return False
        return True

    alphas = (F(1), F(6, 5), F(2), F(5))
    return confirmed(
        proved(moments.lemma54(), finding="and γ(1 - e^(ε+ε0)) ≤ L ≤ γ(e^ε0 - e^ε) is sharper"),
        on_grid(product(randomizers(), alphas), holds, finding="four randomizers"),
    )


@claim("B-LemA.4", "798", r"$\int_a^\infty e^{-h} \le e^{-h(a)}/h'(a)$ for $h'$ increasing, $h \to \infty$")
def lemma_a_4() -> Evidence:
    x = sp.Symbol("x", real=True)
    h, a = x**2, sp.Integer(-1)
    right = sp.exp(-h.subs(x, a)) / sp.diff(h, x).subs(x, a)
    positive = bool(sp.exp(-h).is_positive)
    return Evidence(
        refuted(
            positive and bool(right < 0), f"h = x², a = -1: the integral is positive, and the right side is {right}"
        ),
        condition=proved(tails.lemma_a4(), finding="if h'(a) > 0, as where it is used"),
    )


def two_points(low: int, high: int, chance: F) -> list[tuple[F, F]]:
    return [(F(high), chance), (F(low), 1 - chance)]


@claim("B-Lem5.5", "512", r"$\mathbb{E}[L_1 + \dots + L_m]_+ \le (b^2/4a) e^{-2ma^2/b^2}$")
def lemma_5_5() -> Check:
    def holds(high: int, chance: F, m: int) -> bool:
        law = two_points(-1, high, chance)
        a, b = -sum((v * p for v, p in law), F(0)), high + 1
        bound = enclosed(b * b / (4 * a)) * exp(-2 * m * a * a / (b * b))
        return below(positive_part(law, m), bound)

    chances = [F(1, 100), F(1, 12), F(1, 6)]
    return confirmed(
        proved(tails.lemma55(), finding="Hoeffding's inequality, integrated"),
        on_grid(product((1, 2, 4), chances, (1, 2, 7)), holds, finding="two-point laws, enclosed to 50 digits"),
    )


def printed_bennett(a: Any, b: Any, c: Any, m: int) -> Any:
    """The right side of Lemma 5.6 as printed, with am in the denominator."""
    u = enclosed(a) * b / c
    growth = log(1 + u)
    return b / (a * m * growth) * exp(-m * enclosed(c) / enclosed(b) ** 2 * ((1 + u) * growth - u))


def printed_bennett_krr(k: int, ratio: F, alpha: F, n: int) -> Any:
    """Lemmas 5.1, 5.3, 5.6 and 5.7 as printed, for k-RR with e^ε0 = ``ratio``."""
    gamma, a = F(k) / (ratio + k - 1), alpha - 1
    b = gamma * (1 - alpha) + (1 - gamma) * k
    c = gamma * (2 - gamma) * a**2 + (1 - gamma) ** 2 * k * (1 + alpha**2)
    total = enclosed(0)
    for m in range(1, n + 1):
        chance = sp.binomial(n, m) * sp.Rational(gamma) ** m * (1 - sp.Rational(gamma)) ** (n - m)
        total += enclosed(chance) * printed_bennett(enclosed(a), enclosed(b), enclosed(c), m)
    return total / enclosed(gamma * n)


@claim(
    "B-Lem5.6",
    "536-540,858",
    r"$\mathbb{E}[L_1 + \dots + L_m]_+ \le b/(am \log(1 + ab/c)) "
    r"e^{-(mc/b^2)\varphi(ab/c)}$",
)
def lemma_5_6() -> Evidence:
    def sides(size: int) -> tuple[F, Any]:
        """L = ±size with probabilities 1/4, 3/4 and m = 1: a = size/2, b = size, c = size²."""
        law = two_points(-size, size, F(1, 4))
        return positive_part(law, 1), printed_bennett(enclosed(F(size, 2)), enclosed(size), enclosed(size * size), 1)

    def told(size: int) -> str:
        truth, bound = sides(size)
        return (
            f"m = 1, L = ±{size} with probabilities 1/4 and 3/4: {truth} on the left, {shown(bound)} on the right, "
            "which is the same for every multiple of L"
        )

    real = fraction(Shuffle(decomposition.dataset(KRR(50, sp.log(30)), 0, 1, 2), 26).exact(alpha=sp.Integer(2)))
    inside = printed_bennett_krr(50, F(30), F(2), 26)
    stands = real <= bennett.delta(KRR(50, sp.log(30)), 26, sp.log(2))
    return Evidence(
        confirmed(
            searched(range(1, 100), lambda size: below(*reversed(sides(size))), told),
            refuted(
                below(inside, real),
                f"in Lemma 5.3, 50-RR with e^ε0 = 30, n = 26, e^ε = 2: {shown(inside, 3)}, and two real datasets have "
                f"{shown(real, 3)}",
            ),
        ),
        corrected=confirmed(
            proved(tails.lemma56(), finding="without am: b/log(1 + ab/c) e^…"),
            certified(stands, "above the two real datasets"),
        ),
        well_read="lemma and proof have am; so had the authors' program, BorjaBalle/amplification-by-shuffling, which "
        "has since been corrected",
    )


@claim(
    "B-Lem5.7",
    "546-549",
    r"$k$-RR: $-(1 - \gamma)ke^\varepsilon \le L - \gamma(1 - e^\varepsilon) \le (1 - \gamma)k$; "
    r"$\mathbb{E}[L^2]$",
)
def lemma_5_7() -> Check:
    return proved(moments.lemma57(), finding="from the table of G")


@claim(
    "B-Lem5.8(1)",
    "553",
    r"Laplace: $e^{-\varepsilon_0/2}(1 - e^{\varepsilon+\varepsilon_0}) \le L \le e^{\varepsilon_0/2}(1 - "
    r"e^{\varepsilon-\varepsilon_0})$",
)
def lemma_5_8_range() -> Check:
    return proved(
        laplace.lemma58(), finding="γ(1 - αt) ≤ L ≤ γ(t - α), as for every ε0-LDP randomizer, with γ = e^(-ε0/2)"
    )


@claim(
    "B-Lem5.8(2)",
    "554",
    r"Laplace: $\mathbb{E}[L^2] \le \frac{1}{3}(e^{2\varepsilon} + 1)(2e^{\varepsilon_0/2} + "
    r"e^{-\varepsilon_0}) - 2e^\varepsilon(2e^{-\varepsilon_0/2} - e^{-\varepsilon_0})$",
)
def lemma_5_8_square() -> Check:
    return proved(laplace.lemma58(), finding="equality for inputs 0 and 1, and no pair of inputs has more")


@claim(
    "B-890",
    "890",
    r"Laplace: $\mathbb{E}[\mu_x \mu_{x'}/\omega^2] \le 2e^{-\varepsilon_0/2} - e^{-\varepsilon_0}$, "
    "attained at $x = 0$, $x' = 1$",
)
def cross_term_890() -> Evidence:
    all_pairs = laplace.lemma58()
    cross = all_pairs.statement[2].right  # inputs 1/2 − p and 1/2 + q
    eps0, u, v = laplace.eps0, laplace.p, laplace.q
    at = {eps0: 2 * sp.log(2)}
    middle = sp.simplify(cross.subs({u: 0, v: 0}).subs(at))
    ends = sp.simplify(cross.subs({u: sp.Rational(1, 2), v: sp.Rational(1, 2)}).subs(at))
    printed = sp.simplify((2 * sp.exp(-eps0 / 2) - sp.exp(-eps0)).subs(at))
    return Evidence(
        refuted(
            middle > printed,
            f"e^ε0 = 4, x = x' = 1/2: {middle} on the left, {printed} on the right, which is the smallest value "
            f"({ends} at 0 and 1). The bound on E L² needs it from below",
        ),
        corrected=proved(all_pairs, finding="≥ in place of ≤"),
        misread="it is one sign",
    )


@claim("B-Thm5.3", "518-522", r"(4), with $C = 1 - e^{-2} \approx 0.86$")
def theorem_5_3() -> Check:
    C = 1 - exp(-2)
    T, w = sp.symbols("T w", positive=True)
    steps = (  # Hoeffding's bound on G, (α+1)²T²/(4na) e^(−2na²/((α+1)²T²)), is below (4)
        line(t - 1, "<=", t - 1 / t, "T = t - 1 is at most t - 1/t: the factor in front"),
        line(1 / (T + w) ** 2, "<=", 2 / T**2, "and the exponent, where the paper has C < 1 for 2"),
    )
    cases = list(product((0.2, 1, 3), (100, 10**4, 10**7), (0.01, 0.1, 0.19)))
    ordered = all(hoeffding.delta(*case) <= thm53.delta(*case) for case in cases)
    return confirmed(
        proved(
            tails.theorem53(),
            steps,
            finding="from Lemmas 5.2 to 5.5, for t > 1 and α > 1; Hoeffding's bound on the sum of G is below (4)",
        ),
        certified(below(F(86, 100), C) and below(C, F(87, 100)), "C = 0.8647"),
        certified(ordered, f"in {len(cases)} cases"),
    )


def large_delta_steps() -> tuple[Line, ...]:
    """Corollary 5.3.1 for e^-(1+√2) < δ < 1, with the constant 5.6; Λ = log(1/δ), n ≥ Λt²."""
    x, mean, n, alpha = sp.symbols("x mu n alpha", positive=True)
    u = sp.Symbol("u", nonnegative=True)  # α²
    root = sp.sqrt(2)
    return (
        line(
            ((x + mean) ** 2 - 4 * mean * x) / (4 * mean),
            "=",
            (x - mean) ** 2 / (4 * mean),
            "x ≤ (x + μ)²/(4μ): E[S]_+ ≤ Var S/(4μ) for mean -μ, and ≤ √(Var S)/2",
        ),
        line(1 - 2 / (1 + t), "=", (t - 1) / (t + 1), "one message: D_1 ≤ 1 - 2/(t + 1) ≤ 1 - Λ if Λ ≤ 2/(t + 1)"),
        line(
            sp.Subs((t - 1) ** 2 / (2 * (t + 1) * n), n, 2 / (t + 1) * t**2) - sp.Rational(1, 4),
            "=",
            (t - 1) ** 2 / (4 * t**2) - sp.Rational(1, 4),
            "else D_1² ≤ (t - 1)²/(2(t + 1)n), n ≥ 2t²/(t + 1): D_1 ≤ 1/2, enough for Λ ≤ log 2",
        ),
        line((t - 1) ** 2 / (4 * t**2), "<=", sp.Rational(1, 4), "which is below 1/4"),
        line(0, "<=", t * (1 + u) * (t + 1) - ((1 + t**2) * (1 + u) - 4 * t), "E[G²] ≤ t(1 + α²)"),
        line(
            ((1 + alpha**2) / (4 * (alpha - 1))).subs(alpha, 1 + root),
            "=",
            (1 + root) / 2,
            "D_α ≤ (1 + α²)/(4Λt(α - 1)) with α = 1 + √2 is (1 + √2)/(2Λt)",
        ),
    )


#: Of Corollary 5.3.1, for every δ < 1.
CONSTANT = sp.Rational(28, 5)


@claim(
    "B-420",
    "63,420",
    r"a level $\varepsilon_0 = O(\log(\varepsilon^2 n/\log(1/\delta)))$ suffices for $(\varepsilon, "
    r"\delta)$-DP with $\varepsilon = \Theta(1)$",
)
def rate_of_the_level() -> Evidence:
    eps, Lambda, n = sp.symbols("epsilon Lambda n", positive=True)
    T = (n / Lambda) ** 2  # e^ε0 with the constant 2: all zeros against one 1, and no message is 1
    alone = sp.limit((T / (T + 1)) ** n * (1 - sp.exp(eps) / T), n, sp.oo)
    users = 10**4
    real = Shuffle(BinaryRR(2 * sp.log(users / sp.log(10**6))), users).delta(1, rtol=0.01).lower
    at_level = sp.Subs(CONSTANT * t * sp.sqrt(Lambda / n), t, sp.sqrt(eps**2 * n / (CONSTANT**2 * Lambda)))
    return Evidence(
        certified(
            not (alone == 1 and real > 0.9),
            "the constant matters. With 2, ε0 = 2 log(n/log(1/δ)), δ = 1e-6, n = 1e4: two datasets of shuffled 2-RR "
            f"have δ ≥ {real:.3f} at ε = 1, and this tends to 1 with n",
        ),
        condition=proved(
            tails.corollary531(),
            moments.second_moment(),
            large_delta_steps(),
            (line(at_level, "=", eps, "the ε of Corollary 5.3.1 at that ε0"),),
            finding="it holds with the constant 1/2: ε0 ≤ log(ε²n/(31.36 log(1/δ)))/2, by Corollary 5.3.1, for ε ≤ 5.6",
        ),
    )


@claim(
    "B-Cor5.3.1",
    "526",
    r"$\varepsilon = O((1 \wedge \varepsilon_0)e^{\varepsilon_0} \sqrt{\log(1/\delta)/n})$ if "
    r"$\varepsilon_0 \le \log(n/\log(1/\delta))/2$",
)
def corollary_5_3_1() -> Check:
    kappa, small = 1 + sqrt(2), log(2)  # Λ between log 2 and 1 + √2 is left
    many = 2 * log(kappa) * sqrt(kappa / small)  # n ≥ (1 + √2)t²: the corollary at Λ = 1 + √2
    least = enclosed(28) / 5 * sqrt(small / kappa)  # n < (1 + √2)t²: ε/(1 ∧ ε0) is at least this
    rest = kappa / (2 * small * exp(3))  # t > e³: D at α = 1 + √2
    numbers = below(many, F(28, 5)) and below(3, least) and below(rest, exp(-kappa))
    return confirmed(
        proved(
            tails.corollary531(),
            moments.second_moment(),
            large_delta_steps(),
            finding="with 2 log(1 + √2) = 1.763 for δ ≤ e^-(1+√2), and 5.6 for larger δ",
        ),
        certified(numbers, "the constants"),
    )
