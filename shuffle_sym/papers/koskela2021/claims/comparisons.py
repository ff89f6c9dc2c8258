r"""Koskela et al. 2021, Appendix C: the bounds that are compared with, and what the comparison is said to show."""

import math
from itertools import product

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import rounding
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.papers.claims import (
    Check,
    Evidence,
    all_of,
    certified,
    claim,
    fact,
    first,
    on_grid,
    proved,
    refuted,
    seen,
)
from shuffle_sym.papers.enclosures import ends, exp
from shuffle_sym.papers.koskela2021.printed import divergences, printed_strong
from shuffle_sym.papers.tools import F, between, exact, fraction, krr, level
from shuffle_sym.randomizers import KRR
from shuffle_sym.truth import ground_truth


@claim(
    "K-C1",
    "full 726-735",
    r"$\gamma = \max\left(\frac{14k \log(2/\delta)}{(n - 1)\varepsilon^2}, \frac{27k}{(n - "
    r"1)\varepsilon}\right)$ makes shuffled $k$-RR $(\varepsilon, \delta)$-DP for $\varepsilon \le 1$; "
    r"for $\delta \le 2e^{-2}$ this is $\varepsilon = \sqrt{14k \log(2/\delta)/((n - 1)\gamma)}$",
)
def theorem_c1() -> Check:
    # The first term is the larger one iff log(2/δ) ≥ 27ε/14; δ ≤ 2e^−2 says log(2/δ) ≥ 2.
    inversion = Check(F(27, 14) <= 2, "proved", "log(2/δ) ≥ 2 ≥ 27ε/14 for ε ≤ 1, so the first term is the larger one")
    sharpest = 0.0
    for k, gamma, n, delta in product((2, 4, 10), (0.1, 0.25), (10**4, 10**5), (1e-2, 1e-6)):
        eps = math.sqrt(14 * k * math.log(2 / delta) / ((n - 1) * gamma))
        if eps <= 1:
            seen_by_them = Shuffle(decomposition.strong(krr(k, F(gamma))), n).delta(rounding.below(eps))
            sharpest = max(sharpest, seen_by_them.upper / delta)
    theorem = certified(
        0 < sharpest < 1,
        f"at that ε the δ of the strong adversary is at most {sharpest:.1g} of the one claimed: k = 2, 4, 10, γ = 0.1, "
        "0.25, n = 10^4, 10^5, δ = 10^-2, 10^-6, where ε ≤ 1. (Balle et al. also say γ < 1; where ε comes out above 1, "
        "(C.1) says nothing)",
    )
    return all_of(inversion, theorem)


def _printed_c2(t: F, n: int, alpha: F) -> tuple[F, F]:
    """Bounds of 4 exp(−[(α − 1 − 8/(pn))√(pn)/8]²), p = 1/t, as printed: whatever the sign of the bracket."""
    pn = n / t
    return ends(4 * exp(-((alpha - 1 - 8 / pn) ** 2) * pn / 64))


@claim(
    "K-C2",
    "full 763-770",
    r"every shuffled $\varepsilon_0$-LDP randomizer has $\delta \le 4 \exp(-[(e^{\varepsilon} - 1 - "
    r"8/(pn))\sqrt{pn}/8]^2)$, $p = e^{-\varepsilon_0}$",
)
def eq_c2() -> Evidence:
    t = first((F(t) for t in range(2, 9)), lambda t: _printed_c2(t, 1, F(1))[1] < (t - 1) / (t + 1), "(C.2)")
    truth = fraction(ground_truth.delta(KRR(k=2, eps0=level(t)), (0,), (1,), 1))
    # With the bracket positive, but ε0 above log(n/(16 log(2/δ))):
    big, n, alpha = F(10**4), 9, F(9900)
    other = exact(decomposition.dataset(KRR(k=3, eps0=level(big)), 0, 1, 2), n, alpha)
    printed = _printed_c2(big, n, alpha)[1]
    outside = seen(
        alpha - 1 > 8 * big / n and printed < other,
        "nor is it enough that the bracket is positive: t = 10^4, n = 9, α = 9900 gives less than "
        f"{float(printed):.1g}, 3-RR with the others at a third value has more than {float(other) - 1e-4:.4f}",
    )
    figures = ", ".join(
        f"at n = 10^{power}, ε0 = {eps0}, the condition is δ ≥ {2 * math.exp(-(10**power) / (16 * math.exp(eps0))):.1e}"
        for power, eps0 in ((4, 4), (6, 9))
    )
    return Evidence(
        refuted(
            _printed_c2(t, 1, F(1))[1] < truth,
            f"one user of 2-RR, t = {t}, ε = 0: (C.2) gives 4e^−{t}, less than {truth}; {outside}. The theorem has the "
            "condition ε0 ≤ log(n/(16 log(2/δ))), and δ follows from it only where e^ε − 1 > 8/(pn). In the figures: "
            f"{figures}",
        ),
        condition=_c2_where_it_holds(),
    )


def _c2_where_it_holds() -> Check:
    cases, largest = 0, 0.0
    for eps0, n in ((1, 10**4), (2, 10**4), (4, 10**5), (4, 10**6)):
        M = Shuffle(decomposition.clones(eps0), n)
        for delta in (1e-1, 1e-3, 1e-6):
            if eps0 <= math.log(n / (16 * math.log(2 / delta))):
                eps = bounds.feldman2020_thm31(eps0, n, delta)
                largest = max(largest, M.delta(eps).upper / bounds.feldman2020_thm31.delta(eps0, n, eps))
                cases += 1
    return certified(
        0 < largest < 1,
        f"under both conditions the standard clone is at most {largest:.1g} of it: {cases} cases, ε0 = 1, 2, 4, n = "
        "10^4, 10^5, 10^6",
    )


@claim(
    "K-C3-adv",
    "full 781",
    r"$n_c$ rounds of an $(\varepsilon, \delta)$-DP mechanism are $(\varepsilon', n_c\delta + "
    r"\delta')$-DP with $\varepsilon' = \varepsilon\sqrt{2n_c \log(1/\delta')} + "
    r"n_c\varepsilon(e^{\varepsilon} - 1)$",
)
def advanced() -> Check:
    largest = 0.0
    pairs = ((0, 1e-3), (1e-6, 1e-5), (1e-8, 1e-2))
    for eps, rounds, (delta, slack) in product((0.01, 0.1, 0.5, 1.0), (1, 4, 30), pairs):
        total, allowed = bounds.advanced_composition(eps, delta, rounds, slack)
        largest = max(largest, bounds.optimal_composition(eps, delta, rounds, rounding.below(total)) / allowed)
    return certified(
        largest <= 1,
        f"the least δ that holds for all such mechanisms (Kairouz et al. 2015) is at most {largest:.2f} of it: ε = "
        "0.01 … 1, up to 30 rounds, 36 cases",
    )


@claim("K-C4-weaker", "full 801", r"at a fixed $\varepsilon_0$ the amplification of $k$-RR is weaker for larger $k$")
def weaker_for_larger_k() -> Check:
    def deltas(t: int, n: int, alpha: F) -> list[F]:
        return [fraction(ground_truth.worst_pair(KRR(k=k, eps0=level(t)), n, alpha).delta) for k in (2, 3, 4)]

    t, n, alpha = 2, 2, F(5, 4)
    two, three, _ = deltas(t, n, alpha)
    reverse = proved(
        derivations.krr_falls_in_k(),
        finding="for all n, ε0 and 0 ≤ ε ≤ ε0 the blanket of k-RR falls as k grows: stronger",
    )
    truth = on_grid(
        [(t, n, a) for t in (2, 5) for n in (1, 2, 3, 4) for a in between(t, 5)],
        lambda *case: deltas(*case) == sorted(deltas(*case), reverse=True),
        finding="so does the largest divergence of all datasets, from k = 2 to 3 to 4, t = 2, 5, n up to 4, five α",
    )
    view = [Shuffle(decomposition.strong(KRR(k=k, eps0=4)), 10**4).delta(1.0) for k in (4, 40)]
    pair = [max(divergences(printed_strong(k, F(k, 4 + k - 1), 9), F(3, 2))) for k in (4, 40)]
    why = seen(
        view[0].upper < view[1].lower and pair[0] < pair[1],
        f"what grows with k is the view of A_s (n = 10^4, ε0 = 4, ε = 1: {view[0]} for k = 4, {view[1]} for k = 40), "
        "who knows "
        "who answered randomly, and the printed P_s, Q_s, which depend on k through γ/k = 1/(e^ε0 + k − 1) only",
    )
    return refuted(
        two > three,
        f"n = {n}, t = {t}, α = {alpha}: the worst datasets of 2-RR give {two}, those of 3-RR {three}; "
        f"{fact(reverse)}; {fact(truth)}; {why}",
    )
