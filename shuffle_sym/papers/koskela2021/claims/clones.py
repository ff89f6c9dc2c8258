r"""Koskela et al. 2021, Section 6 and Appendix B: the pair of the clones, its losses, and what is cut off."""

import math
import time
from collections.abc import Callable
from operator import truediv

import numpy as np
import sympy as sp

from shuffle_sym.accounting.pld import ShuffledPLD
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.cells import a, b, n
from shuffle_sym.numeric.losses import LossGrid
from shuffle_sym.papers import derivations
from shuffle_sym.papers.claims import (
    Check,
    Evidence,
    all_of,
    claim,
    confirmed,
    fact,
    identity,
    measured,
    on_grid,
    proved,
    refuted,
)
from shuffle_sym.papers.enclosures import below, exp
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.koskela2021.clones import p, q
from shuffle_sym.papers.koskela2021.definitions import clone_cells, standard_clone_cells
from shuffle_sym.papers.tools import F, between, exact, fraction, level
from shuffle_sym.randomizers import KRR, BinaryRR
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.histograms import hockey_stick

LEVELS = (F(3, 2), F(2), F(5))
Cell = tuple[F, int, tuple[int, int]]


def _at(formula: sp.Expr, t: F, users: int, cell: tuple[int, int], weight: F | None = None) -> F:
    """A formula in a, b, n, p and q at one cell; q is the mixing weight t/(t + 1) unless another is given."""
    numbers = (cell[0], cell[1], users, sp.Rational(1 / t), sp.Rational(t / (t + 1) if weight is None else weight))
    return fraction(sp.sympify(formula).subs(dict(zip((a, b, n, p, q), numbers, strict=True))))


def _cells(keep: Callable[[int, int, int], bool]) -> list[tuple[Cell, F, F]]:
    """All cells of (6.1) that are kept, with their probabilities, n up to 4 and three levels."""
    return [
        ((t, users, cell), P, Q)
        for t in LEVELS
        for users in (1, 2, 3, 4)
        for cell, (P, Q) in clone_cells(t, users, t / (t + 1)).items()
        if keep(*cell, users)
    ]


def _everywhere(
    formula: sp.Expr, keep: Callable[[int, int, int], bool], what: Callable[[F, F], F], where: str
) -> Check:
    """The formula against the enumeration of C, A and Δ."""
    return on_grid(
        _cells(keep),
        lambda cell, P, Q: what(P, Q) == _at(formula, *cell),
        finding=f"equal to the enumeration of C, A and Δ at every cell with {where}, n up to 4, t = 3/2, 2, 5",
    )


@claim(
    "K-6.1-pair",
    "full 329-342; workshop 128-137",
    r"$P = (A + \Delta, C - A)$, $Q = (A, C - A + \Delta)$, $\Delta \sim \mathrm{Bern}(t/(t + 1))$, is "
    "the clone pair of Feldman et al., Remark 3.5",
)
def clone_pair() -> Evidence:
    t, alpha = F(2), F(3, 2)
    theirs, ours = (exact(D(level(t)), 1, alpha) for D in (decomposition.clones_koskela, decomposition.clones))
    local = fraction(ground_truth.delta(BinaryRR(eps0=level(t)), (0,), (1,), alpha))
    above = proved(
        derivations.clones_order(),
        finding="(6.1) is above the standard clone for all n, t and α, so what was computed with it is a bound, too "
        "large",
    )

    def holds(t: F, users: int, alpha: F) -> bool:
        bound = exact(decomposition.clones(level(t)), users, alpha)
        worst = [ground_truth.worst_pair(R, users, alpha).delta for R in (KRR(k=k, eps0=level(t)) for k in (2, 3, 4))]
        return hockey_stick(standard_clone_cells(t, users).values(), alpha) == bound >= max(map(fraction, worst))

    return Evidence(
        refuted(
            theirs != local,
            f"one user, t = {t}, α = {alpha}: no ε0-LDP randomizer has more than {local}, but (6.1) gives {theirs}. "
            f"{fact(above)}",
        ),
        corrected=on_grid(
            [(t, users, alpha) for t in (F(2), F(3)) for users in (1, 2, 3) for alpha in between(t, 4)],
            holds,
            finding="P = (A + Δ, C − A + 1 − Δ), Q = (A + 1 − Δ, C − A + Δ), as Su et al. 2025, Theorem 2, quote it, "
            f"gives {ours} there and bounds 2-RR, 3-RR and 4-RR over all datasets: n up to 3, t = 2, 3, four α",
        ),
        well_read="both versions of the paper have this pair, and (6.3) to (6.8) go on with it",
    )


@claim(
    "K-LemB1",
    "full 539-549",
    r"$P_1 = \frac{a}{b} Q_1$ and "
    r"$P_0 = \frac{p}{1 - p} \cdot \frac{n - a - b}{2b} Q_1$, for $b > 0$",
)
def lemma_b1() -> Check:
    return proved(derivations.lemma_b1(), finding="for b > 0, a + b ≤ n and ε0 > 0")


@claim("K-Lem11-b>0", "full 364-369, 616", "the ratio of $P$ and $Q$ at a cell with $b > 0$, (6.5)")
def lemma11() -> Check:
    formula = derivations.lemma11()
    return confirmed(
        proved(formula, finding="with q = t/(t + 1)"),
        _everywhere(formula.result, lambda a, b, users: b > 0, truediv, "b > 0"),
    )


def _at_b0() -> tuple[Check, Check]:
    """The cell (n, 0), which no ratio has, and the ratio at (a, 0) for a < n."""
    t, users = F(2), 1
    P, Q = clone_cells(t, users, t / (t + 1))[users, 0]
    zero = refuted(
        Q == 0 < P,
        f"n = {users}, t = {t}, a = n = {users}: P is {P}, Q is {Q}, and the denominator of the formula is 0; the cell "
        "(n, 0) belongs to δ(∞)",
    )
    formula = derivations.lemma11()
    inside = confirmed(
        proved(formula, finding="for 0 < a < n, and 1 at a = 0"),
        _everywhere(formula.result, lambda a, b, users: b == 0 and a < users, truediv, "b = 0 and a < n"),
    )
    return zero, inside


@claim("K-Lem11-b=0", "full 371-376, 623-628", "the ratio of $P$ and $Q$ at $(a, 0)$, for all $a$, (6.6)")
def lemma11_b0() -> Evidence:
    zero, inside = _at_b0()
    return Evidence(zero, condition=inside)


@claim("K-LemB2-q", "full 614", r"Lemma B.2 with $q = e^{-\varepsilon_0}$")
def lemma_b2() -> Evidence:
    t, users, cell = F(2), 2, (0, 1)
    formula = derivations.lemma11().result
    P, Q = clone_cells(t, users, t / (t + 1))[cell]
    printed = _at(formula, t, users, cell, weight=1 / t)
    return Evidence(
        refuted(
            printed != P / Q,
            f"n = {users}, t = {t}, cell {cell}: the ratio is {P / Q}, with q = e^−ε0, which is p, (B.7) gives "
            f"{printed}",
        ),
        corrected=_everywhere(formula, lambda a, b, users: b > 0, truediv, "b > 0, with q = t/(t + 1) as in (6.3)"),
        misread="it is one letter if p = e^−ε0 is meant: the lemma uses p further down",
    )


@claim("K-LemB2-b=0,a>0", "full 630-634", "the ratio at $b = 0$ and $a > 0$, in closed form")
def lemma_b2_b0() -> Evidence:
    zero, inside = _at_b0()
    return Evidence(zero, condition=inside)


@claim("K-LemB2-(0,0)", "full 636-640", "the ratio at $a = b = 0$ is 1")
def lemma_b2_origin() -> Check:
    return confirmed(
        proved(derivations.lemma11(), finding="only Δ = 0 and no clones lead there, under P and Q alike"),
        _everywhere(sp.Integer(1), lambda a, b, users: a == b == 0, truediv, "a = b = 0"),
    )


@claim(
    "K-LemB3",
    "full 706-716",
    r"$P_1$ at $(j + 1, i - j)$, and "
    r"$P_0 = \frac{p}{1 - p} \cdot \frac{n - a - b}{2a} P_1$ for $a > 0$",
)
def lemma_b3() -> Check:
    return proved(derivations.lemma_b3(), finding="for ε0 > 0")


@claim("K-eq6.7", "full 380-383", "the probability of $(a, b)$ under $P$ for $a > 0$")
def eq67() -> Check:
    formula = derivations.eq67()
    return confirmed(
        proved(formula, derivations.cells_sum_to_one(), finding="and P sums to 1"),
        _everywhere(formula.result, lambda a, b, users: a > 0, lambda P, Q: P, "a > 0"),
    )


@claim("K-eq6.8", "full 387-390", "the probability of $(0, b)$ under $P$")
def eq68() -> Check:
    formula = derivations.eq68()
    return confirmed(
        proved(formula, finding="A = 0, C = b and Δ = 0"),
        _everywhere(formula.result, lambda a, b, users: a == 0, lambda P, Q: P, "a = 0"),
    )


@claim("K-delta_inf", "full 401", r"$\delta(\infty) = (1/2)^{n-1} e^{-(n-2)\varepsilon_0}/(e^{\varepsilon_0} + 1)$")
def delta_infinity() -> Check:
    derived = derivations.delta_infinity()
    t = field.t
    printed = sp.Rational(1, 2) ** (n - 1) * t ** (-(n - 2)) / (t + 1)
    return all_of(
        proved(derived, finding="everybody else is a clone, all of the first kind, and Δ = 1"),
        identity(printed, derived.result, "the published formula is the derived one"),
    )


def _neglected(t: F, users: int, x: F) -> F:
    """The P-mass of the cells whose i = a + b − 1 is outside S_c (cells with a = 0: b outside), for τ = 2e^−x.

    |i − p(n − 1)| > c(n − 1) is (i − p(n − 1))² > (n − 1)x/2: nothing irrational is compared.
    """
    lost, middle = F(0), (users - 1) / t
    for (first_count, second), (P, _) in clone_cells(t, users, t / (t + 1)).items():
        i = first_count + second - 1 if first_count else second
        if (i - middle) ** 2 > (users - 1) * x / 2:
            lost += P
    return lost


@claim(
    "K-6.2-Hoeffding",
    "full 408-414",
    r"with $c = \sqrt{\log(2/\tau)/(2(n - 1))}$ the mass that is neglected "
    r"is at most $\tau$",
)
def hoeffding() -> Check:
    tau, c = sp.symbols("tau c", positive=True)
    users = sp.Symbol("n", integer=True, positive=True)
    printed = sp.sqrt(sp.log(2 / tau) / (2 * (users - 1)))
    both_tails = (2 * sp.exp(-2 * (users - 1) * c**2)).subs(c, printed)
    algebra = identity(both_tails, tau, "Hoeffding's two tails at this c are τ together")

    def holds(t: F, users: int, x: F) -> bool:
        return below(_neglected(t, users, x), 2 * exp(-x))

    cases = [(t, users, F(x, 2)) for t in (F(5, 4), F(2), F(5)) for users in (2, 3, 8, 25) for x in range(2, 15, 2)]
    return all_of(
        algebra,
        on_grid(
            cases,
            holds,
            finding="the mass of P outside, counted by the summation index i of (6.7), which is C where Δ = 1 and "
            "C − 1 where Δ = 0, is at most τ: n up to 25, t = 5/4, 2, 5, τ = 2e^−1, …, 2e^−7",
        ),
    )


def _terms(t: int, others: int, x: int) -> int:
    """The values (i, j) of (C, A) with |i − (n−1)/t| ≤ √((n−1)x/2) and |j − i/2| ≤ √(ix/2), for n − 1 others."""
    total = 0
    for i in range(others + 1):
        if 2 * (t * i - others) ** 2 <= t * t * others * x:
            r = math.isqrt(2 * i * x)  # 2j − i is at most that, and even or odd as i is
            total += r + ((r - i) % 2 == 0)
    return total


@claim(
    "K-6.2-terms",
    "full 406-414",
    r"cutting $C$ and $A$ off drops the terms of the PLD from $O(n^2)$ to "
    r"$O(n \log(2/\tau))$",
)
def number_of_terms() -> Check:
    others, x = sp.symbols("n x", positive=True)  # x = log(2/τ)
    share = sp.Symbol("c", positive=True)
    values = sp.Subs((2 * share * others) ** 2, share, sp.sqrt(x / (2 * others)))
    step = line(values, "=", 2 * others * x, "2c(n - 1) for C, and for A no more")

    def holds(t: int, others: int, x: int) -> bool:
        most = 2 * others * x
        return _terms(t, others, x) <= most + 2 * (math.isqrt(most) + 1) + 1 < others**2 / 2

    cases = [(t, others, x) for t in (2, 5) for others in (10**3, 10**4, 10**5) for x in (14, 28)]
    return confirmed(
        proved((step,), finding="at most √(2(n - 1) log(2/τ)) + 1 values of C, and so of A given C"),
        on_grid(cases, holds, finding="counted: t = 2, 5, n up to 10^5, τ = 2e^-14, 2e^-28"),
    )


@claim("K-6.2-time", "full 414", "forming the PLD costs more than the FFT already for $n = 1000$", slow=True)
def time_of_forming() -> Evidence:
    m, tail = 10**7, 1e-12  # L = 20 and m are those of the figures

    def formed(n: int) -> float:
        start = time.perf_counter()
        losses = ShuffledPLD(decomposition.clones_koskela(4), n, tail=tail, cut="hoeffding").losses(tail)
        LossGrid(losses, 2 * 20 / m, "up")
        return time.perf_counter() - start

    formed(10)  # the first call loads and compiles
    masses = np.full(m, 1 / m)
    start = time.perf_counter()
    np.fft.irfft(np.fft.rfft(masses), m)
    transformed = time.perf_counter() - start
    share = formed(1000) / transformed
    told = "less than a tenth of" if share < 0.1 else "less than" if share < 1 else "more than"
    return Evidence(
        measured(
            share > 1,
            "a ratio of times within one run of our program, which handles the cells as arrays: at n = 1000, ε0 = 4, "
            f"L = 20, m = 1e7 forming the PLD takes {told} the time of the two FFTs",
        ),
        not_in_print="the program; what is published of it (DPBayes/numerical-shuffler-experiments on GitHub) goes "
        "through the cells one by one in Python",
    )
