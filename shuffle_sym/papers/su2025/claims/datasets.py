r"""Su et al. 2025, Sections 5.3 and 9, Appendices A and C: real datasets, worst neighbours, k-RR and Laplace."""

import math
from collections import defaultdict
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.model.decomposition import dataset
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers import derivations
from shuffle_sym.papers.claims import (
    Check,
    Evidence,
    all_of,
    claim,
    confirmed,
    first,
    identity,
    on_grid,
    proved,
    refuted,
)
from shuffle_sym.papers.koskela2021.definitions import EVERYONE, left_over, view
from shuffle_sym.papers.laws import positive_part
from shuffle_sym.papers.tools import F, between, collected, exact, fraction, law_of_g, level
from shuffle_sym.randomizers import KRR, BinaryRR, from_matrix
from shuffle_sym.truth import ground_truth


@claim("S-5.3-|X|=2", "601-603", "with two inputs the others are given $x_1^1$ for the lower bound")
def two_inputs() -> Evidence:
    def both(n: int, t: int, alpha: F) -> tuple[F, F]:
        R = BinaryRR(eps0=level(t))
        return exact(dataset(R, 0, 1, 1), n, alpha), exact(dataset(R, 0, 1, 0), n, alpha)

    case = first(
        ((n, t, alpha) for n in (1, 2) for t in (3, 2) for alpha in (F(2), F(3, 2)) if alpha < t),
        lambda *c: both(*c)[0] < both(*c)[1],
        "the choice",
    )
    n, t, alpha = case
    theirs, ours = both(*case)
    worst = fraction(ground_truth.worst_pair(BinaryRR(eps0=level(t)), n, alpha).delta)
    return Evidence(
        refuted(
            theirs < ours == worst,
            f"2-RR, t = {t}, n = {n}, α = {alpha}: it is a lower bound for D(X^0‖X^1), {theirs}, but with x_2 = … = "
            f"x_1^0 the datasets have {ours}, which is the largest of all",
        ),
        corrected=on_grid(
            [(n, t, alpha) for n in (1, 2, 3, 5, 20) for t in (2, 3, 5) for alpha in between(t, 6)],
            lambda *c: both(*c)[0] <= both(*c)[1],
            finding="x_2 = … = x_n = x_1^0 is never below it (the same as taking D(X^1‖X^0)): n up to 20, t = 2, 3, "
            "5, six α",
        ),
        well_read="the authors' program makes the same choice",
    )


def _formula(R: Randomizer, n: int, alpha: F, x2: int) -> F:
    """Theorem 10 as printed: y ~ R(x_2), so messages that x_2 cannot send do not occur."""
    return positive_part(law_of_g(dataset(R, 0, 1, x2), alpha).items(), n) / n


@claim(
    "S-Thm10",
    "611-613",
    r"$D = \mathbb{E}[G_1 + \dots + G_n]_+/n$ for $x_2 = \dots = x_n$, for every local "
    r"randomizer",
)
def theorem10() -> Evidence:
    honest = from_matrix([[1, 0], [0, 1]])
    truth = fraction(ground_truth.delta(honest, (0,), (1,), 1))
    lopsided = from_matrix([[F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]])

    def holds(R: Randomizer, n: int, alpha: F, x2: int) -> bool:
        others = (x2,) * (n - 1)
        return _formula(R, n, alpha, x2) == fraction(ground_truth.delta(R, (0, *others), (1, *others), alpha))

    alphas = (F(1, 2), F(1), F(5, 4), F(2))
    cases = product((KRR(k=3, eps0=level(2)), lopsided), (1, 2, 3, 4), alphas, (0, 1, 2))
    return Evidence(
        refuted(
            _formula(honest, 1, F(1), 1) != truth,
            f"one user who tells the truth, x_2 = x_1^1, α = 1: D is {truth}, the formula gives "
            f"{_formula(honest, 1, F(1), 1)}: what x_2 cannot send has no G",
        ),
        condition=confirmed(
            proved(derivations.one_dataset(), finding="it holds if x_2 can send what x_1^0 can, as under ε0-LDP"),
            on_grid(cases, holds, finding="3-RR and a randomizer without symmetry, n up to 4, four α, every x_2"),
        ),
    )


@claim(
    "S-Sec9",
    "687-693",
    r"the most vulnerable datasets are $(x_0, x_2, \dots, x_2)$ and $(x_1, x_2, \dots, x_2)$, three "
    r"distinct values, for every $\varepsilon$",
)
def worst_neighbours() -> Check:
    def both(n: int, k: int, t: int, alpha: F) -> tuple[F, Any]:
        R = KRR(k=k, eps0=level(t))
        return exact(dataset(R, 0, 1, 2), n, alpha), ground_truth.worst_pair(R, n, alpha)

    cases = ((n, 3, t, alpha) for n in (1, 2, 3) for t in (2, 3) for alpha in between(t, 8))
    case = first(cases, lambda *c: both(*c)[0] < fraction(both(*c)[1].delta), "the conjecture")
    n, k, t, alpha = case
    theirs, worst = both(*case)
    return refuted(
        theirs < fraction(worst.delta),
        f"{k}-RR, n = {n}, t = {t}, α = {alpha}: the others at a third value give {theirs}, {worst.X0} against "
        f"{worst.X1} gives {worst.delta}. (The paper calls it plausible, and leaves it open)",
    )


def _binomial(size: int, p: F, count: int) -> F:
    """Pr[Bin(size, p) = count]; nothing for a negative size, which the paper has."""
    if not 0 <= count <= size:
        return F(0)
    return math.comb(size, count) * p**count * (1 - p) ** (size - count)


def _joint_law(n: int, k: int, gamma: F, extra: int) -> dict[tuple[int, int], F]:
    """N ~ Bin(n − 1, γ), N_0 ~ Bin(N, 1/k) + 1, N_1 ~ Bin(N − N_0 + extra, 1/(k − 1)); printed with extra = 0."""
    law: dict[tuple[int, int], F] = defaultdict(F)
    for size in range(n):
        for one in range(1, size + 2):
            chance = _binomial(n - 1, gamma, size) * _binomial(size, F(1, k), one - 1)
            for two in range(size + 1):
                law[one, two] += chance * _binomial(size - one + extra, F(1, k - 1), two)
    return {counts: mass for counts, mass in law.items() if mass}


def _literal(n: int, k: int, gamma: F) -> dict[tuple[int, int], F]:
    """The law of the counts of x_0 and x_1 among the blanket's messages, given that the first user told the truth."""
    others = (0,) * (n - 1)
    views = view(k, gamma, (*others, 0), EVERYONE).items()
    left = ((left_over(random, messages, others), p) for (random, messages), p in views if not random[-1])
    return collected(((counts[0], counts[1]), p / (1 - gamma)) for counts, p in left)


@claim(
    "S-AppA",
    "779",
    r"the joint law is $N \sim \mathrm{Bin}(n - 1, k/(t + k - 1))$, $N_0 \sim \mathrm{Bin}(N, 1/k) + 1$, "
    r"$N_1 \sim \mathrm{Bin}(N - N_0, 1/(k - 1))$",
)
def joint_law() -> Evidence:
    n, k, gamma = 2, 2, F(1, 2)
    truth, printed = _literal(n, k, gamma)[1, 1], _joint_law(n, k, gamma, 0).get((1, 1), F(0))
    sizes = ((1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3), (2, 4))
    cases = ((n, k, gamma) for (n, k), gamma in product(sizes, (F(1, 4), F(1, 2))))
    return Evidence(
        refuted(
            printed != truth,
            f"n = {n}, k = {k}, γ = {gamma}: Pr[N_0 = 1, N_1 = 1] is {truth}, the printed law gives {printed}; for N = "
            "0 it asks for Bin(−1, ·). N_0 counts the first user's own message, which is not one of the N",
        ),
        corrected=on_grid(
            cases,
            lambda n, k, gamma: _joint_law(n, k, gamma, 1) == _literal(n, k, gamma),
            finding="with N_1 ~ Bin(N − N_0 + 1, 1/(k − 1)) it is the law of the view: n up to 4, k = 2, 3, 4",
        ),
        well_read="the line is complete, and the + 1 of N_0 was read",
    )


@claim(
    "S-Laplace-CDF",
    "805-811",
    r"$\gamma$, $\omega$ and the distribution function of $L$ for the Laplace "
    r"mechanism on $[0, 1]$",
)
def laplace() -> Check:
    law = derivations.laplace_law()
    a, x = sp.Symbol("alpha", positive=True), sp.Symbol("x", real=True)  # x = e^(ε0/2)·L
    below, above = (branch.right for branch in law.blocks[-1].branches[1:3])
    return all_of(
        proved(law, derivations.lemma51_laplace(), finding="γ = e^(−ε0/2), and both branches from the blanket"),
        identity(sp.sqrt(a) / sp.sqrt(1 - x) / 2, below, "the paper has them: below γ(1 − e^ε)"),
        identity(1 - 1 / (2 * sp.sqrt(x + a)), above, "and above"),
    )
