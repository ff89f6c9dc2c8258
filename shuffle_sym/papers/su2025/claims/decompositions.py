r"""Su et al. 2025, Sections 3 and 4: clones, blanket, stronger clone, and the general clone."""

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import sympy as sp

from shuffle_sym.model.decomposition import Decomposition, blanket, clones, dataset
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers import derivations
from shuffle_sym.papers.claims import Check, Evidence, claim, confirmed, first, on_grid, proved, refuted, seen
from shuffle_sym.papers.koskela2021.definitions import standard_clone_cells
from shuffle_sym.papers.laws import divergence_of_laws, rows, shuffled_datasets
from shuffle_sym.papers.tools import F, between, exact, fraction, level
from shuffle_sym.randomizers import KRR, BinaryRR, from_matrix
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.histograms import hockey_stick

ALPHAS = (F(1), F(9, 8), F(5, 4), F(3, 2), F(7, 4), F(2), F(3))


def _examples() -> list[Randomizer]:
    """2-RR, 3-RR and two randomizers without symmetry, all rational."""
    return [
        BinaryRR(eps0=level(3)),
        KRR(k=3, eps0=level(2)),
        from_matrix([[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], [F(1, 3), F(1, 3), F(1, 3)]]),
        from_matrix([[F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)]]),
    ]


@claim(
    "S-Lem1",
    "175-181",
    r"for an $\varepsilon_0$-DP randomizer $R(x_0)$ and $R(x_1)$ are the mixtures of two laws $Q_0$ and "
    "$Q_1$ with the weights $t$ to 1 and 1 to $t$",
)
def lemma1() -> Check:
    return proved(
        derivations.two_point_decomposition(), finding="with Q_0 = (tR(x_0) − R(x_1))/(t − 1), Q_1 likewise, t > 1"
    )


@claim("S-Thm2", "193-201", r"the standard clone bounds the divergence of every $\varepsilon_0$-DP randomizer")
def theorem2() -> Check:
    def holds(R: Randomizer, n: int, alpha: F) -> bool:
        bound = exact(clones(R.eps0), n, alpha)
        literal = hockey_stick(standard_clone_cells(fraction(sp.exp(R.eps0)), n).values(), alpha)
        return fraction(ground_truth.worst_pair(R, n, alpha).delta) <= bound == literal

    return confirmed(
        proved(derivations.standard_clone(), finding="every R(x) has (Q_0 + Q_1)/(2t) in it"),
        on_grid(
            product(_examples(), (1, 2, 3), ALPHAS),
            holds,
            finding="no dataset is above it: 2-RR, 3-RR and two randomizers without symmetry, n up to 3, seven α",
        ),
    )


@claim("S-Thm3", "263", "the blanket's reduction pair bounds the divergence of every pair of datasets")
def theorem3() -> Check:
    def cases() -> Iterator[tuple[Randomizer, int, int, int]]:
        for R in _examples():
            inputs = range(int(R.input_count))
            for n, x0, x1 in product((1, 2, 3), inputs, inputs):
                if x0 != x1:
                    yield R, n, x0, x1

    def holds(R: Randomizer, n: int, x0: int, x1: int) -> bool:
        bounds = {alpha: exact(blanket(R, x0, x1), n, alpha) for alpha in ALPHAS}
        for others in combinations_with_replacement(range(int(R.input_count)), n - 1):
            pair = shuffled_datasets(R, (x0, *others), (x1, *others)).values()
            if any(hockey_stick(pair, alpha) > bound for alpha, bound in bounds.items()):
                return False
        return True

    return confirmed(
        proved(derivations.blanket_reduction(), finding="Algorithm 2 makes the shuffled messages from the pair"),
        on_grid(
            cases(),
            holds,
            finding="all datasets of 2-RR, 3-RR and two randomizers without symmetry, all pairs of inputs, n up to 3, "
            "seven α",
        ),
    )


@claim(
    "S-Thm4",
    "277-283",
    r"every $\varepsilon_0$-DP randomizer with finitely many messages has the three-point decomposition, "
    r"$p \le 1/(t + 1)$",
)
def theorem4() -> Check:
    return proved(
        derivations.three_point_decomposition(),
        finding="with p = TV(R(x_0), R(x_1))/(t − 1); the messages need not be finitely many",
    )


def stronger_clone(t: F, p: F) -> Decomposition:
    """The pair P_0(ε0, p), P_1(ε0, p) as printed: what is left of x_1 is mixed with what is left of the others."""
    rest = 1 - p - t * p
    return Decomposition([t * p, p, rest], [p, t * p, rest], [p, p, 1 - 2 * p], title="stronger clone")


def _with_p(t: F, p: F) -> Randomizer | None:
    """An ε0-LDP randomizer with this p whose third input has as little as it may of what x_0 and x_1 share."""
    own = (1 - 2 * p - (1 - (t + 1) * p) / t) / (1 - 1 / t**2)
    shared = 1 - (t + 1) * p - own / t
    if own < 0 or shared < 0:
        return None
    return from_matrix([[t * p, p, shared, own / t], [p, t * p, shared, own / t], [p, p, shared / t, own]])


@claim(
    "S-3.3-specific",
    "297-301",
    r"a randomizer with the decomposition of Theorem 4 is bounded by the pair $P_0(\varepsilon_0, p)$, "
    r"$P_1(\varepsilon_0, p)$",
)
def stronger_specific() -> Check:
    def both(n: int, t: F, p: F, alpha: F) -> tuple[F, F]:
        R = _with_p(t, p)
        if R is None or fraction(sp.exp(R.eps0)) > t:
            return F(0), F(0)
        return exact(dataset(R, 0, 1, 2), n, alpha), exact(stronger_clone(t, p), n, alpha)

    shares = (F(1, 4), F(1, 5), F(1, 6), F(1, 8))
    grid = product((1, 2, 3), (F(2), F(3)), shares, (F(5, 4), F(3, 2), F(7, 4)))
    cases = ((n, t, p, alpha) for n, t, p, alpha in grid if p <= 1 / (t + 1))
    case = first(cases, lambda *case: both(*case)[0] > both(*case)[1], "the specific form")
    n, t, p, alpha = case
    truth, bound = both(*case)
    R = _with_p(t, p)
    matrix = "" if R is None else "; ".join(", ".join(map(str, row)) for row in R.matrix().tolist())
    return refuted(
        truth > bound,
        f"n = {n}, t = {t}, p = {p}, α = {alpha}: the randomizer ({matrix}), the other user at the third input, has "
        f"{truth}, the pair gives {bound}. Feldman, McMillan and Talwar (arXiv 2208.04591) carry an erratum for it",
    )


@claim(
    "S-eq1",
    "303",
    r"every $\varepsilon_0$-DP randomizer is bounded by the pair with $p = 1/(t + 1)$, the generic form "
    "(1) of the stronger clone",
)
def stronger_generic() -> Check:
    def holds(R: Randomizer, n: int, alpha: F) -> bool:
        t = fraction(sp.exp(R.eps0))
        bound = exact(stronger_clone(t, 1 / (t + 1)), n, alpha)
        return fraction(ground_truth.worst_pair(R, n, alpha).delta) <= exact(R, n, alpha) <= bound

    built = [R for R in (_with_p(F(2), p) for p in (F(1, 4), F(1, 5), F(1, 8))) if R is not None]
    pair, two_rr = stronger_clone(F(2), F(1, 3)), blanket(BinaryRR(eps0=level(2)))
    same = seen(
        sorted(zip(pair.a, pair.b, pair.c, strict=True)) == sorted(zip(two_rr.a, two_rr.b, two_rr.c, strict=True)),
        "the pair is the blanket of 2-RR at the same ε0",
    )
    return confirmed(
        proved(
            derivations.stronger_clone_generic(),
            finding=f"{same}, and no blanket is above it, for all n and 0 ≤ ε ≤ ε0, by convex order. The paper "
            "leaves this open after the erratum of arXiv 2208.04591; it is a bound for one randomizer that all users "
            "share, not for users who choose their own, with about twice as many clones as in Theorem 2",
        ),
        on_grid(
            product((*_examples(), *built), (1, 2, 3), ALPHAS),
            holds,
            finding="datasets ≤ blanket ≤ (1) for seven randomizers, those that break the specific form included, "
            "n up to 3",
        ),
    )


@claim(
    "S-Lem5",
    "305-307",
    r"the divergence of $P_0(\varepsilon_0, p)$, $P_1(\varepsilon_0, p)$ grows with $p$, for all $p$, "
    "$p'$ in $[0, 1]$",
)
def lemma5() -> Evidence:
    t, p = F(2), F(1, 2)
    shares = (F(1, 12), F(1, 8), F(1, 5))
    cases = [(t, p, n, a) for t in (F(2), F(3)) for p in shares for n in (1, 2, 3) for a in between(t, 4)]
    return Evidence(
        refuted(
            t * p + p > 1,
            f"t = {t}, p' = {p}: Δ_1 and Δ_2 have the probabilities {t * p} and {p}, more than 1 together; there is no "
            "such pair for p' > 1/(t + 1)",
        ),
        condition=confirmed(
            proved(derivations.stronger_clone_monotone(), finding="it holds if p < p' ≤ 1/(t + 1), by convex order"),
            on_grid(
                cases,
                lambda t, p, n, alpha: (
                    exact(stronger_clone(t, p), n, alpha) <= exact(stronger_clone(t, 1 / (t + 1)), n, alpha)
                ),
                finding="p = 1/12, 1/8, 1/5 against 1/(t + 1), n up to 3, t = 2, 3",
            ),
        ),
    )


def _splits(R: Randomizer) -> Iterator[Decomposition]:
    """Decompositions of x0 = 0, x1 = 1 that are valid for all other inputs: each message is split in two components,
    with unequal shares of a, b and c, and some of c is left out."""
    laws = rows(R)
    floors = [min(column) for column in zip(*laws, strict=True)]
    for shares in ((F(1, 2), F(1, 2), F(1, 4)), (F(1, 3), F(2, 3), F(1, 2)), (F(3, 4), F(1, 4), F(1, 2))):
        for used in (F(1), F(3, 4), F(1, 3)):
            columns = (
                (mass * share, mass * (1 - share))
                for share, row in zip(shares, (*laws[:2], floors), strict=True)
                for mass in row
            )
            flat = [part for pair in columns for part in pair]
            size = 2 * len(floors)
            yield Decomposition(flat[:size], flat[size : 2 * size], [used * c for c in flat[2 * size :]])


@claim(
    "S-Thm6",
    "372-388",
    r"no decomposition of the general clone gives less than the blanket: $D \le D_{\text{blanket}} \le "
    r"D_{\text{clone}}$",
)
def theorem6() -> Evidence:
    def both(n: int, alpha: F) -> tuple[F, F]:
        R = KRR(k=3, eps0=level(2))
        return exact(dataset(R, 0, 1, 2), n, alpha), exact(blanket(R), n, alpha)

    n, alpha = first(
        ((n, a) for n in (1, 2, 3) for a in (F(5, 4), F(3, 2))), lambda *c: both(*c)[0] < both(*c)[1], "Theorem 6"
    )
    less, more = both(n, alpha)

    def holds(R: Randomizer, D: Decomposition, n: int, alpha: F) -> bool:
        return exact(blanket(R, 0, 1), n, alpha) <= exact(D, n, alpha)

    analyses = [(R, D) for R in _examples() for D in (clones(R.eps0), *_splits(R))]
    cases = ((R, D, n, alpha) for (R, D), n, alpha in product(analyses, (1, 2, 3), (F(1), F(5, 4), F(2))))
    return Evidence(
        refuted(
            less < more,
            f"3-RR, t = 2, n = {n}, α = {alpha}, all others at a third value x_2: c = R(x_2) satisfies (2) of "
            f"Definition 7 and gives {less}, the blanket {more}",
        ),
        condition=confirmed(
            proved(
                derivations.blanket_is_best(),
                finding="it holds if (2) is asked for all inputs x_i at once, as the proof does: by Algorithms 2 and 3",
            ),
            on_grid(cases, holds, finding="the clones and nine splits of each of four randomizers, n up to 3, three α"),
        ),
    )


def _blanket_pair(R: Randomizer, n: int, x1: int) -> dict[Any, F]:
    """The law of (|b|, the multiset of the messages) of Definition 6, multiplied out."""
    laws = rows(R)
    floors = [min(column) for column in zip(*laws, strict=True)]
    gamma = sum(floors, F(0))
    law: dict[Any, F] = {}
    for size in range(n):
        chance = math.comb(n - 1, size) * gamma**size * (1 - gamma) ** (n - 1 - size)
        for y in product(range(len(floors)), repeat=size + 1):
            mass = chance * laws[x1][y[0]] * math.prod((floors[m] / gamma for m in y[1:]), start=F(1))
            key = (size, tuple(sorted(y)))
            law[key] = law.get(key, F(0)) + mass
    return law


@claim("S-Thm7", "396-404", r"the blanket is the general clone with point masses and $c = \inf_x R(x)$")
def theorem7() -> Check:
    def holds(R: Randomizer, n: int, alpha: F) -> bool:
        literal = divergence_of_laws(_blanket_pair(R, n, 0), _blanket_pair(R, n, 1), alpha)
        return literal == exact(blanket(R, 0, 1), n, alpha)

    return confirmed(
        proved(derivations.blanket_is_a_decomposition(), finding="both pairs have one law"),
        on_grid(
            product(_examples(), (1, 2, 3, 4), ALPHAS),
            holds,
            finding="(|b|, Y) of Definition 6, multiplied out, and the histograms of the decomposition have equal "
            "divergences: four randomizers, n up to 4, seven α",
        ),
    )
