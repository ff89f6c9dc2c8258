r"""Girgis et al. 2021, Sections 2.2 and 3.1: from Rényi to (ε, δ), and the upper bounds; t = e^ε0, v = (t − 1)²/t."""

import math
from itertools import product
from typing import Any

import sympy as sp
from flint import arb

from shuffle_sym.papers.claims import Check, Evidence, certified, claim, confirmed, on_grid, proved, refuted, searched
from shuffle_sym.papers.enclosures import below, enclosed, exp, log, shown, sqrt
from shuffle_sym.papers.engine import at_most, chain, equals
from shuffle_sym.papers.girgis2021 import bounds, curves, simplified, upper
from shuffle_sym.papers.tools import F
from shuffle_sym.randomizers import KRR, BinaryRR
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.exact import two_rr_moment


def divergence(moment: Any, order: int) -> Any:
    """log(moment)/(λ − 1), enclosed."""
    return log(moment) / (order - 1)


@claim("G-Lem2.1", "118-126", r"$(\lambda, \varepsilon(\lambda))$-RDP gives $(\varepsilon, \delta)$-DP, in two forms")
def lemma_2_1() -> Check:
    return proved(curves.lemma21(), finding="for every order and every ε")


def size(t: F, n: int) -> int:
    """n̄ of (5)."""
    return int((n - 1) / (2 * t)) + 1


def gamma_of_half(i: int) -> Any:
    """Γ(i/2), enclosed."""
    value = sp.gamma(sp.Rational(i, 2))
    return enclosed(value) if i % 2 == 0 else enclosed(value / sp.sqrt(sp.pi)) * sqrt(arb.pi())


def higher_terms(t: F, count: int, order: int) -> Any:
    """Σ_i C(λ, i) i Γ(i/2) ((t² − 1)²/(2t²m))^(i/2) for i = 3 … λ."""
    root = sqrt((t * t - 1) ** 2 / (2 * t * t * count))
    return sum((int(sp.binomial(order, i)) * i * gamma_of_half(i) * root**i for i in range(3, order + 1)), enclosed(0))


def chernoff(t: F, n: int, order: int) -> Any:
    """e^(ε0 λ − (n − 1)/(8t))."""
    return enclosed(t**order) * exp(-(n - 1) / (8 * t))


def printed_5(t: F, n: int, order: int) -> Any:
    """(5) as the text has it: λ/2 for C(λ, 2), and the sum outside the logarithm."""
    leading = F(order, 2) * (t - 1) ** 2 / (size(t, n) * t)
    return log(1 + enclosed(leading)) / (order - 1) + higher_terms(t, size(t, n), order) + chernoff(t, n, order)


def printed_6(t: F, n: int, order: int) -> Any:
    """(6) as the text has it: λ/2 for C(λ, 2)."""
    return log(1 + enclosed(F(order, 2) * 4 * (t - 1) ** 2 / n)) / (order - 1)


def bound_5(t: F, n: int, order: int) -> Any:
    """(5) as (41) has it."""
    leading = enclosed(sp.binomial(order, 2)) * enclosed((t - 1) ** 2 / (size(t, n) * t))
    return log(1 + leading + higher_terms(t, size(t, n), order) + chernoff(t, n, order)) / (order - 1)


def printed_8(eps0: int, n: int, order: int) -> Any:
    """(8) as the text has it: ε0 for e^ε0, n for n̄."""
    return log(exp(F(order**2 * (eps0 - 1) ** 2, n)) + exp(eps0 * order - F(n - 1, 8 * eps0))) / (order - 1)


def above_all_datasets(bound: Any) -> Any:
    """A check that the package's bound is above every pair of datasets, 2-RR and 3-RR, n ≤ 4."""
    orders = [2, 3, 6]

    def holds(make: Any, t: int, n: int) -> bool:
        worst = ground_truth.worst_moments(make(sp.log(t)), n, orders)
        return all(
            below(divergence(w.moment, order), F(bound(sp.log(t), n, order)))
            for order, w in zip(orders, worst, strict=True)
        )

    cases = product((BinaryRR, lambda e: KRR(3, e)), (2, 3), (1, 2, 4))
    return on_grid(cases, holds, finding="above all pairs of datasets, 2-RR and 3-RR, t = 2, 3, n ≤ 4")


@claim(
    "G-eq5/Thm3.1",
    "181",
    r"(5): $\frac{1}{\lambda - 1} \log\left(1 + \frac{\lambda}{2} \frac{v}{\bar{n}} + \sum_i "
    r"\binom{\lambda}{i} i \Gamma(i/2)(\dots)^{i/2} + e^{\varepsilon_0\lambda - (n - 1)/8t}\right)$",
)
def theorem_3_1() -> Evidence:
    t = F(2)

    def truth(order: int, n: int) -> Any:
        return divergence(two_rr_moment(sp.log(2), n, order), order)

    def fails(order: int, n: int) -> bool:
        return below(printed_5(t, n, order), truth(order, n))

    def told(order: int, n: int) -> str:
        return (
            f"e^ε0 = 2, λ = {order}, n = {n:.0e}: 2-RR has {shown(truth(order, n), 5)}, the right side is "
            f"{shown(printed_5(t, n, order), 5)}. λ/2 stands for C(λ, 2) and the logarithm ends too early"
        )

    return Evidence(
        searched(product(range(2, 9), (10**j for j in range(2, 10))), fails, told),
        corrected=confirmed(
            proved(upper.theorem31_renyi(), finding="log of the whole, C(λ, 2)v/n̄ (41), from Theorems 3.6 and 3.7"),
            above_all_datasets(bounds.thm31),
        ),
        misread="a binomial coefficient looks like a fraction, and a bracket may be lost; (41) has both right",
    )


@claim(
    "G-Cor3.2/(6)",
    "189-191,671-725",
    r"(6): $\frac{1}{\lambda - 1} \log\left(1 + \frac{\lambda}{2} \frac{4(t - 1)^2}{n}\right)$ if "
    r"$\lambda^4 t^5 < n/9$",
)
def corollary_3_2() -> Evidence:
    t = F(11, 10)

    def least(order: int) -> int:
        """The first n that the condition allows."""
        return int(9 * order**4 * t**5) + 1

    def truth(order: int) -> Any:
        return divergence(two_rr_moment(sp.log(sp.Rational(t)), least(order), order), order)

    def told(order: int) -> str:
        return (
            f"e^ε0 = 11/10, λ = {order}, n = {least(order)}: 2-RR has {shown(truth(order))}, the right side is "
            f"{shown(printed_6(t, least(order), order))}. λ/2 stands for C(λ, 2)"
        )

    cases: list[tuple[Any, int, int]] = []
    for ratio, power in product((F(3, 2), F(2), F(5)), (2, 3, 12)):
        first = int(9 * power**4 * ratio**5) + 1
        cases.extend((sp.log(sp.Rational(ratio)), users, power) for users in (first, 3 * first, 100 * first))
    ordered = all(bounds.thm36(*case) <= bounds.cor32(*case) for case in cases)
    return Evidence(
        searched(range(2, 12), lambda order: below(printed_6(t, least(order), order), truth(order)), told),
        corrected=confirmed(
            certified(
                ordered, f"with C(λ, 2): above Theorem 3.6 in {len(cases)} cases, at the smallest n that is allowed too"
            ),
            proved(simplified.corollary32(), finding="with C(λ, 2), from Theorem 3.6 and not from (5), see G-671"),
        ),
        misread="a binomial coefficient looks like a fraction; (44) has it right",
    )


@claim("G-671", "187,671-725", r"(5) simplifies to (6), with $\binom{\lambda}{2}$ in both, if $\lambda^4 t^5 < n/9$")
def simplified_671() -> Check:
    order, n = 2, 9 * 2**4 + 1
    nothing = bound_5(F(1), n, order)
    t = F(10001, 10000)
    much = bound_5(t, n, order) / log(1 + enclosed(4 * (t - 1) ** 2 / n))
    return refuted(
        below(0, nothing) and below(50, much),
        f"ε0 = 0, λ = 2, n = {n}: (6) is 0 and (5) is log(1 + e^-18) > 0, and so on for every n; e^ε0 = 1.0001: "
        f"(5) is {shown(much, 3)} times (6). (47) asks for n large against 1/ε0, which the condition does not; (6) "
        "holds all the same, by Theorem 3.6",
    )


@claim(
    "G-Rem1",
    "197",
    r"$\varepsilon_0 = c \log n$ and $\lambda < n^{(1 - 5c)/4}/2$, $c < 1/5$, satisfy $\lambda^4 "
    r"e^{5\varepsilon_0} < n/9$",
)
def remark_1() -> Check:
    n, c = sp.symbols("n c", positive=True)
    order = n ** ((1 - 5 * c) / 4) / 2
    line = chain(
        order**4 * n ** (5 * c), equals(n / 16, "λ⁴e^(5ε0) at the largest λ"), at_most(n / 9, "1/16 is below 1/9")
    )
    return proved(line.lines, finding="with 1/16 in place of 1/9")


@claim(
    "G-eq7",
    "223-225",
    r"(7), since $\lambda = a\lceil\lambda\rceil + (1 - a)\lfloor\lambda\rfloor$ for $a = "
    r"\lceil\lambda\rceil - \lambda$",
)
def equation_7() -> Evidence:
    order = F(9, 4)
    low, high = 2, 3
    a = high - order
    mirrored = a * high + (1 - a) * low
    return Evidence(
        refuted(mirrored != order, f"λ = 9/4, a = {a}: the reason gives {mirrored}. (7) itself has the weights right"),
        corrected=proved(curves.eq7(), finding="λ = a⌊λ⌋ + (1 - a)⌈λ⌉, and (7) follows by convexity"),
        misread="⌈ ⌉ and ⌊ ⌋ look alike",
    )


@claim(
    "G-eq8/Thm3.3",
    "231-233",
    r"(8): $\frac{1}{\lambda - 1} \log\left(e^{\lambda^2(\varepsilon_0 - 1)^2/n} + "
    r"e^{\varepsilon_0\lambda - (n - 1)/(8\varepsilon_0)}\right)$",
)
def theorem_3_3() -> Evidence:
    v = (exp(1) - 1) ** 2 / exp(1)  # ε0 = 1 and λ = 2: E[r²] = 1 + v/n

    def told(n: int) -> str:
        return (
            f"ε0 = 1, λ = 2, n = {n}: 2-RR has log(1 + (e - 1)²/(en)) = {shown(log(1 + v / n))}, the right side is "
            f"{shown(printed_8(1, n, 2))}. ε0 stands for e^ε0 three times and n for n̄"
        )

    return Evidence(
        searched(range(1, 200), lambda n: below(printed_8(1, n, 2), log(1 + v / n)), told),
        corrected=confirmed(
            proved(upper.theorem33(), finding="log(e^(λ²(t-1)²/n̄) + e^(ε0λ-(n-1)/(8t))) for every real λ > 1"),
            above_all_datasets(bounds.thm33),
        ),
        misread="letters of e^ε0 and the bar of n̄ may be lost; Section 7.2 has all of them",
    )


@claim(
    "G-Rem3",
    "237-239",
    r"$\gamma = \sqrt{2\varepsilon_0 t/(n \log n)}$ in place of $1/2$ saves a factor 2 in (5) and (8) "
    "asymptotically",
)
def remark_3() -> Evidence:
    n, e, order = sp.symbols("n epsilon_0 lambda", positive=True)
    t = sp.exp(e)
    exponent = sp.simplify(e * order - (n - 1) / (2 * t) * (2 * e * t / (n * sp.log(n))))
    stays = sp.limit(exponent, n, sp.oo) == e * order
    square = 2 * t * (order * e + 2 * sp.log(n)) / (n - 1)
    vanishes = sp.limit(square, n, sp.oo) == 0
    users, power = 10**8, 10
    better = math.sqrt(2 * math.exp(0.5) * (power * 0.5 + 2 * math.log(users)) / (users - 1))
    saved = bounds.thm31(0.5, users, power) / bounds.thm31(0.5, users, power, better)
    exponent_now = sp.Add(e * order, sp.Mul(-(n - 1) / (2 * t), square, evaluate=False), evaluate=False)
    line = chain(exponent_now, equals(-2 * sp.log(n), "the last term is n^-2"))
    printed = math.sqrt(2 * 0.5 * math.exp(0.5) / (10**9 * math.log(10**9)))
    large = bounds.thm31(0.5, 10**9, power, printed)
    return Evidence(
        refuted(
            stays and large > 0.5,
            "with it the last term tends to e^(ε0λ) and not to 0: at ε0 = 0.5, λ = 10, n = 1e9 the bound is above ε0",
        ),
        corrected=confirmed(
            proved(line.lines, finding="γ² = 2t(λε0 + 2 log n)/(n - 1), which tends to 0"),
            certified(
                vanishes and 1.98 < saved < 2, f"ε0 = 0.5, λ = 10, n = 1e8: {saved:.3f} times smaller than with 1/2"
            ),
        ),
        misread="with log n above the line, γ² = 2ε0 t log n/n, the last term would vanish too",
    )


@claim("G-Rem4", "241", "(5) is better than (8) for all parameter ranges of interest, see Figure 2")
def remark_4() -> Check:
    eps0, n = 0.1, 10**4

    def larger(order: int) -> bool:
        first, second = (f(eps0, n, order) for f in (bounds.thm31, bounds.thm33))
        return first > second * (1 + 1e-6)  # both are within 1e-8 of their formulas

    orders = [order for order in range(2, 3001) if larger(order)]
    if not orders:
        return certified(True, "Figure 2(a), ε0 = 0.1, n = 1e4: for all λ up to 3000")
    return certified(
        False,
        f"Figure 2(a), ε0 = 0.1, n = 1e4: (5) is the larger one for all λ from {orders[0]} to {orders[-1]} "
        f"({len(orders)} orders). The terms of order 3 and more in (5) have a constant that those of (8) have not",
    )
