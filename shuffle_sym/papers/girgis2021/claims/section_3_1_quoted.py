r"""Girgis et al. 2021, Section 3.1: the bound (9), which is quoted from Erlingsson et al. 2019; t = e^ε0."""

from itertools import pairwise, product
from typing import Any

import sympy as sp

from shuffle_sym.papers.claims import Check, certified, claim, confirmed, proved, refuted
from shuffle_sym.papers.enclosures import below, enclosed, exp, log, shown
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.girgis2021 import bounds, mixtures, moments
from shuffle_sym.papers.girgis2021.claims.section_3_1 import bound_5
from shuffle_sym.papers.girgis2021.notation import t
from shuffle_sym.papers.tools import F


def quoted_lines() -> list[Line]:
    r"""(9) from Theorem 3.6, where the moment given m is at most e^(K/(m+1)), K = λ²(t − 1/t)²/8, and at most t^(λ−1).

    x = Kt/n and a = n/t. For λ ≤ 2 the moment of order 2 is enough. For x ≤ 0.79 sum the powers of K/(m + 1). If (9) is
    at least ε0 nothing is left to show. Else a > 8x, (λ − 1)ε0 < a/2 and, for x > 0.79, λ > 25; `layers` does the rest.
    """
    n, m, j = sp.symbols("n m j", positive=True, integer=True)
    u = sp.Symbol("u", nonnegative=True)
    s = sp.Symbol("s", positive=True)
    return [
        line((2 + u) * (t + 1) ** 2, "<=", 8 * (1 + u) * t**5, "2x/(λ - 1) is at most (9), for λ = 2 + u"),
        line(m + 1 + u, "<=", (1 + u) * (m + 1), "m + i ≤ i(m + 1): (m + 1)^-j ≤ j!/((m + 1)…(m + j))"),
        line(
            sp.binomial(n - 1, m) * sp.factorial(m) / sp.factorial(m + j),
            "=",
            sp.binomial(n - 1 + j, m + j) * sp.factorial(n - 1) / sp.factorial(n - 1 + j),
            "its mean under Bin(n - 1, 1/t) is at most t^j/(n(n + 1)…(n + j - 1)): E[e^(K/(m+1))] ≤ 1/(1 - x)",
        ),
        line(8 * t**6, "<=", 32 * t**8 / (t + 1) ** 2, "a/x > 8t⁶, with t - 1 ≥ ε0"),
        line(4 * t**3, "<=", 16 * t**5 / (t + 1) ** 2, "(λ - 1)·(9) ≥ 4t³x(1 - 1/λ)"),
        line(sp.Derivative(sp.log(s) / s, s), "=", (1 - sp.log(s)) / s**2, "log s ≤ s/e: t³/ε0 ≥ 3e, so λ > 3.16·3e"),
    ]


def layers(x: Any) -> Any:
    """A bound on E[min(e^(xa/N), e^(a/2))], N = m + 1, for every a ≥ 8x, where P[N ≤ (1−y)a] ≤ e^(−a h(y)),
    h(y) = y + (1 − y) log(1 − y): N above a/2, and layers of N below it."""
    ends = [F(i, 100) for i in (50, 60, 65, 70, 75, 78, 82)]
    total = exp(2 * x) + 1  # the 1 is for N ≤ 0.18a, where h ≥ 1/2
    for high, low in pairwise(ends):
        h = enclosed(high) + enclosed(1 - high) * log(1 - high)
        top = enclosed(1 / (1 - low))
        # The exponent is largest at a = 8x, or where both sides of the minimum are equal.
        total += exp(x * (top - 8 * h if 1 / (1 - low) <= 4 else top * (1 - 2 * h)))
    return total


@claim("G-eq9", "251", r"(9): $\varepsilon(\lambda) \le \lambda \frac{2t^4(t - 1)^2}{n}$ for every $\lambda > 1$")
def equation_9() -> Check:
    x = enclosed(F(79, 100))
    last = enclosed(F(82, 100)) + enclosed(F(18, 100)) * log(F(18, 100))
    least = enclosed(F(948, 100)) * exp(1)  # λ is above 3.16·3e
    rate = 4 * (1 - 1 / least)
    numbers = below(-log(1 - x), 2 * x) and below(F(1, 2), last) and below(layers(x), exp(rate * x)) and below(2, rate)
    cases = list(product((0.01, 0.3, 1, 4), (1, 3, 30, 1000, 10**6), (2, 3, 10, 100, 1000)))
    ordered = all(bounds.thm36(*case) <= bounds.eq9(*case) for case in cases)
    return confirmed(
        proved(
            mixtures.theorem36(),
            moments.theorem71(),
            quoted_lines(),
            finding="from Theorem 3.6, for all n, ε0 and real λ > 1",
        ),
        certified(numbers, "with constants enclosed"),
        certified(ordered, f"above Theorem 3.6 in {len(cases)} cases"),
    )


@claim("G-253-factor", "253", r"(9) is worse than (6) by a factor $e^{4\varepsilon_0}$")
def factor_253() -> Check:
    n, order, t = sp.symbols("n lambda t", positive=True)
    x = order * (order - 1) / 2 * 4 * (t - 1) ** 2 / n  # C(λ, 2) 4(t − 1)²/n of (6)
    nine = order * 2 * t**4 * (t - 1) ** 2 / n
    y = sp.Symbol("y", positive=True)
    steps = (
        line(
            sp.Derivative(sp.log(1 + y), (y, 2)),
            "=",
            -1 / (1 + y) ** 2,
            "concave: log(1 + y) ≤ y, with equality as y → 0",
        ),
        line(sp.Subs(nine / (y / (order - 1)), y, x), "=", t**4, "(9) over y/(λ - 1), which is at least (6)"),
    )
    return proved(steps, finding="at least, and exactly so as n → ∞; (6) with C(λ, 2)")


@claim("G-253", "253", "both upper bounds beat (9) in all cases")
def sentence_253() -> Check:
    t, n = exp(enclosed(1) / 10), 10**4
    share = (n - 1) / (2 * t)
    users = int(float(share.mid())) + 1  # n̄
    whole = below(users - 1, share) and below(share, users)
    eight, nine = 4 * (t - 1) ** 2 / users, 4 * t**4 * (t - 1) ** 2 / n
    small = F(11, 10)
    five, quoted = bound_5(small, 1, 2), 4 * small**4 * (small - 1) ** 2
    return refuted(
        whole and below(nine, eight) and below(quoted, five),
        f"Figure 2(a), ε0 = 0.1, n = 1e4, λ = 2: (8) is at least {shown(eight)} and (9) is {shown(nine)}; so for "
        f"all large n if e^ε0 < 2^(1/3). (5): e^ε0 = 11/10, n = 1, λ = 2: {shown(five)} against {shown(quoted)}",
    )
