r"""Balle et al. 2019, Sections 5.1 and A.2: the blanket, and the reduction to the users whom it covers."""

import math
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.model import decomposition
from shuffle_sym.papers.balle2019 import blanket, reduction, tails
from shuffle_sym.papers.claims import Check, Evidence, certified, claim, confirmed, identity, on_grid, proved, refuted
from shuffle_sym.papers.enclosures import below, enclosed, exp, log
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.laws import divergence_of_laws, mixed, positive_part, rows, shuffled
from shuffle_sym.papers.su2025 import gparv
from shuffle_sym.papers.tools import F, fraction
from shuffle_sym.randomizers import BLH, KRR, BinaryRR, from_matrix
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.exact import shuffled_pair
from shuffle_sym.truth.histograms import hockey_stick

ALPHAS = (F(1), F(6, 5), F(2))


def randomizers() -> list[Any]:
    """Small rational randomizers in which no message tells anything for certain."""
    skew = from_matrix([[F(1, 2), F(3, 10), F(1, 5)], [F(1, 4), F(1, 4), F(1, 2)]])
    return [BinaryRR(sp.log(3)), KRR(3, sp.log(2)), BLH(3, sp.log(3)), skew]


def split(R: Any) -> tuple[list[list[F]], F, list[F], list[list[F]]]:
    """The laws of all inputs, γ, the blanket ω, and what each law has besides: law = γω + (1 − γ)own."""
    laws = rows(R)
    floor = [min(column) for column in zip(*laws, strict=True)]
    gamma = sum(floor, F(0))
    own = [[(p - c) / (1 - gamma) for p, c in zip(law, floor, strict=True)] for law in laws]
    return laws, gamma, [c / gamma for c in floor], own


#: One message has probability 1/2 under input 1 and none under input 0: the blanket does not cover it.
UNCOVERED = [[F(1), F(0)], [F(1, 2), F(1, 2)]]


@claim("B-Lem5.1(1)", "460", r"$\gamma = k/(e^{\varepsilon_0} + k - 1)$ for $k$-RR")
def lemma_5_1_krr() -> Check:
    return proved(blanket.lemma51_krr(), finding="the infimum is the same at every message")


@claim("B-Lem5.1(2)", "461", r"$\gamma = e^{-\varepsilon_0/2}$ for Laplace on $[0, 1]$")
def lemma_5_1_laplace() -> Check:
    return proved(blanket.lemma51_laplace(), finding="two integrals")


@claim(
    "B-Lem5.1(3)",
    "462,655",
    r"$\gamma$ of the Gaussian: $2\Pr[N(0, \sigma^2) \le -1/2]$ (462), $2\Pr[N(0, \sigma^2) \ge -1/2]$ "
    "(655)",
)
def lemma_5_1_gaussian() -> Evidence:
    x = sp.Symbol("x", positive=True)
    gamma = sp.erfc(x)  # x = √2/(4σ): 2P[N ≤ −1/2]
    printed = sp.erfc(-x)  # 2P[N ≥ −1/2]
    too_large = identity(printed + gamma, sp.Integer(2), "both tails").passes is True
    return Evidence(
        refuted(too_large, "(655) is 2 - γ for every σ, above 1 and so no probability"),
        corrected=proved(blanket.lemma51_gaussian(), finding="(462), the statement, holds"),
        misread="it is one sign, ≥ for ≤, or − for nothing",
    )


@claim("B-Lem5.2", "466", r"$\gamma \ge e^{-\varepsilon_0}$ for every $\varepsilon_0$-LDP randomizer")
def lemma_5_2() -> Check:
    return proved(blanket.lemma52(), finding="the infimum is at least any law over e^ε0")


def hoeffding_constants() -> tuple[Line, ...]:
    """ε0 ≤ 1/2 and ε = 12 ε0 x ≤ ε0 with x = √(log(1/δ)/n): e^ε0 − 1 ≤ 2(√e − 1)ε0 and tanh(ε/2) ≥ 2ε tanh(1/4)."""
    e, x, p, level, tau = sp.symbols("epsilon_0 x p Lambda tau", positive=True)
    T, n = sp.symbols("T n", positive=True)
    return (
        line(sp.Derivative(sp.exp(e), (e, 2)), "=", sp.exp(e), "e^ε0 is convex: below its chord on [0, 1/2]"),
        line(
            sp.Derivative(sp.tanh(x), (x, 2)),
            "=",
            -2 * sp.tanh(x) * (1 - sp.tanh(x) ** 2),
            "tanh is concave: above its chord on [0, 1/4]",
        ),
        line(
            sp.Subs(2 * n * tau**2 / T**2, (tau, n), (p * x * T, level / x**2)),
            "=",
            2 * p**2 * level,
            "τ = pxT, x² = Λ/n: the exponent is 2p²Λ",
        ),
        line(
            sp.Subs(T**2 / (2 * n * tau), (n,), (p**2 * T**2 * level / tau**2,)),
            "=",
            tau / (2 * p**2 * level),
            "and the factor in front is τ/(2p²Λ(1 - τ))",
        ),
    )


@claim(
    "B-Thm5.1",
    "414-418",
    r"$\varepsilon = 12 \varepsilon_0 \sqrt{\log(1/\delta)/n}$ for $\varepsilon_0 < 1/2$, $n \ge 1000$, "
    r"$\delta < 1/100$",
)
def theorem_5_1() -> Check:
    root = exp(enclosed(1) / 2)
    p = 12 / (root + 1)  # τ ≥ 24 ε0 x tanh(1/4) and T ≤ 2(√e − 1)ε0, with tanh(1/4) = (√e − 1)/(√e + 1)
    front = enclosed(1) / 4 / (2 * p * p * log(100) * (enclosed(3) / 4))
    return confirmed(
        proved(
            gparv.property2(),
            tails.lemma55(),
            gparv.theorem9(),
            hoeffding_constants(),
            finding="Hoeffding's bound on the sum of G gives δ^41 there, for every n",
        ),
        certified(below(41, 2 * p * p) and below(front, 1), "2p² > 41 and a factor below 1"),
    )


def law_of_l(D: Any, alpha: F) -> tuple[F, list[tuple[F, F]]]:
    """γ, and the law of L = (μ_x − αμ_x')/ω at W ~ ω, as printed: messages with ω = 0 do not occur."""
    atoms = D.exact()
    gamma = sum((F(c) for c in atoms.c), F(0))
    law = [
        ((F(a) - alpha * F(b)) * gamma / F(c), F(c) / gamma)
        for a, b, c in zip(atoms.a, atoms.b, atoms.c, strict=True)
        if c
    ]
    return gamma, law


def printed_3(D: Any, n: int, alpha: F) -> F:
    """The right side of (3)."""
    gamma, law = law_of_l(D, alpha)
    total = sum(
        (math.comb(n, m) * gamma**m * (1 - gamma) ** (n - m) * positive_part(law, m) for m in range(1, n + 1)), F(0)
    )
    return total / (gamma * n)


def _uncovered() -> tuple[Any, F]:
    R = from_matrix(UNCOVERED)
    return decomposition.blanket(R, 1, 0), fraction(ground_truth.delta(R, (1,), (0,), 1))


@claim(
    "B-Lem5.3",
    "492-498",
    r"$D \le \frac{1}{\gamma n} \sum_m \binom{n}{m} \gamma^m (1 - \gamma)^{n - m} \mathbb{E}[L_1 + \dots "
    "+ L_m]_+$, for any randomizer",
)
def lemma_5_3() -> Evidence:
    D, truth = _uncovered()
    right = printed_3(D, 1, F(1))

    def holds(R: Any, n: int, alpha: F) -> bool:
        pairs = [decomposition.blanket(R, *pair) for pair in R.pairs()]
        bound = max(printed_3(pair, n, alpha) for pair in pairs)
        same = bound == max(fraction(Shuffle(pair, n).exact(alpha=sp.Rational(alpha))) for pair in pairs)
        return same and fraction(ground_truth.worst_pair(R, n, sp.Rational(alpha)).delta) <= bound

    return Evidence(
        refuted(
            truth > right,
            f"R(0) = (1, 0), R(1) = (1/2, 1/2), n = 1, ε = 0: the divergence is {truth} and the right side {right}. "
            "L is not defined at messages without blanket",
        ),
        condition=confirmed(
            proved(
                reduction.lemma53(),
                finding="if every message has a share in the blanket, as for every ε0-LDP randomizer",
            ),
            on_grid(product(randomizers(), (1, 2, 3), ALPHAS), holds, finding="above all pairs of datasets, n ≤ 3"),
        ),
    )


@claim("B-LemA.1", "685-693", r"$D(Y \| Y') \le \sum_B \gamma^{|B|} (1 - \gamma)^{n - 1 - |B|} D_B$")
def lemma_a_1() -> Check:
    def holds(R: Any, n: int, alpha: F) -> bool:
        laws, gamma, omega, own = split(R)
        X = [x % len(laws) for x in range(n - 1)]

        def apart(others: list[list[F]]) -> F:
            return divergence_of_laws(shuffled([*others, laws[0]]), shuffled([*others, laws[1]]), alpha)

        parts = F(0)
        for covered in product((True, False), repeat=n - 1):
            weight = math.prod((gamma if c else 1 - gamma for c in covered), start=F(1))
            parts += weight * apart([omega if c else own[x] for c, x in zip(covered, X, strict=True)])
        return apart([laws[x] for x in X]) <= parts

    return confirmed(
        proved(reduction.lemma_a1(), finding="joint convexity"),
        on_grid(product(randomizers(), (1, 2, 3), ALPHAS), holds, finding="four randomizers, n ≤ 3"),
    )


@claim("B-675", "675", r"$Y_i$ is $V_i$ with probability $\gamma$ and $W_i$ with probability $1 - \gamma$")
def mixture_675() -> Evidence:
    R = KRR(2, sp.log(2))
    own, gamma = F(2, 3), fraction(R.gamma)
    printed = gamma + (1 - gamma) / 2

    def holds(R: Any) -> bool:
        laws, gamma, omega, own = split(R)
        return gamma == fraction(R.gamma) and all(
            [(1 - gamma) * v + gamma * w for v, w in zip(nu, omega, strict=True)] == law and min(nu) >= 0
            for nu, law in zip(own, laws, strict=True)
        )

    return Evidence(
        refuted(printed != own, f"2-RR, e^ε0 = 2, γ = 2/3: a user would answer truthfully with {printed}, not {own}"),
        corrected=on_grid(randomizers(), holds, finding="V_i with probability 1 - γ and W_i with γ"),
        well_read="γ and 1 - γ stand in two lines, exchanged; the lines below have them right",
    )


@claim("B-LemA.2", "701", r"$D(A_0 \cup A \| A_0 \cup A') \le D(A \| A')$")
def lemma_a_2() -> Evidence:
    coin = F(1, 2)
    alone = divergence_of_laws({(1, 0): coin, (0, 1): coin}, {(1, 0): coin, (0, 1): coin}, F(1))
    joined = divergence_of_laws({(2, 0): coin, (0, 2): coin}, {(1, 1): F(1)}, F(1))  # A = A0, A' = 1 − A0

    def holds(i: int, j: int, k: int, alpha: F) -> bool:
        multisets = [(2, 0), (1, 1), (0, 2)]
        A, B = (
            {h: F(w, sum(weights)) for h, w in zip(multisets, weights, strict=True)}
            for weights in ((i, j, k), (k + 1, i, j))
        )
        extra = {(1, 0): F(i, i + k), (0, 1): F(k, i + k)}

        def union(law: dict[tuple[int, int], F]) -> dict[Any, F]:
            return mixed((mass, {(x + u, y + v): p for (x, y), p in law.items()}) for (u, v), mass in extra.items())

        return divergence_of_laws(union(A), union(B), alpha) <= divergence_of_laws(A, B, alpha)

    return Evidence(
        refuted(
            joined > alone, f"A0 a fair bit, A = A0, A' = 1 - A0: the right side is {alone} and the left side {joined}"
        ),
        condition=confirmed(
            proved(reduction.lemma_a2(), finding="if A0 is independent of A and of A', as where it is used"),
            on_grid(product((1, 2, 5), (0, 1, 3), (1, 4), ALPHAS), holds, finding="multisets of two, exact"),
        ),
    )


@claim("B-LemA.3", "723", r"$D(W_{m - 1} \cup Y \| W_{m - 1} \cup Y') = \mathbb{E}[(L_1 + \dots + L_m)/m]_+$")
def lemma_a_3() -> Evidence:
    D, truth = _uncovered()
    right = positive_part(law_of_l(D, F(1))[1], 1)

    def holds(R: Any, m: int, alpha: F) -> bool:
        D = decomposition.blanket(R, 0, 1)
        _, law = law_of_l(D, alpha)
        laws, _, omega, _ = split(R)
        P, Q = (shuffled([*[omega] * (m - 1), laws[x]]) for x in (0, 1))
        return divergence_of_laws(P, Q, alpha) == positive_part(law, m) / m

    covered = Check(
        hockey_stick(shuffled_pair(D, 1).values(), F(1)) == truth,
        "exact grid",
        "the package counts such messages apart, and has the divergence",
    )
    return Evidence(
        refuted(
            truth > right, f"R(0) = (1, 0), R(1) = (1/2, 1/2), m = 1, ε = 0: {truth} on the left, {right} on the right"
        ),
        condition=confirmed(
            proved(reduction.lemma_a3(), finding="if the blanket is positive wherever a law is"),
            on_grid(product(randomizers(), (1, 2, 3), ALPHAS), holds, finding="message by message, m ≤ 3"),
            covered,
        ),
    )
