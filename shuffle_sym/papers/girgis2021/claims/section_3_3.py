r"""Girgis et al. 2021, Sections 3.3, 5, 6, 7 and their appendices: the reduction, and special neighbours."""

import math
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import sympy as sp

from shuffle_sym.papers.claims import Check, Evidence, claim, confirmed, on_grid, proved, refuted, searched
from shuffle_sym.papers.enclosures import below, enclosed, exp, shown
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.girgis2021 import mixtures, moments, simplified, upper
from shuffle_sym.papers.girgis2021.claims.section_3_1 import higher_terms
from shuffle_sym.papers.girgis2021.notation import neighbours, randomizers, ratio_of, without
from shuffle_sym.papers.laws import mixed, moment, rows, shuffled
from shuffle_sym.papers.tools import F, fraction
from shuffle_sym.randomizers import BinaryRR

SCAN = "which the scan of the page may have done"


def special(P: Sequence[F], Q: Sequence[F], m: int, order: int) -> F:
    """E_m: m others with Q, one with P against Q."""
    same = [list(Q)] * m
    return moment(shuffled([*same, list(P)]), shuffled([*same, list(Q)]), order)


@claim(
    "G-Thm3.6",
    "289",
    r"(13): the moment is at most the mean of $E_m$ over "
    r"$m \sim \mathrm{Bin}(n - 1, e^{-\varepsilon_0})$",
)
def theorem_3_6() -> Check:
    def holds(R: Any, n: int, order: int) -> bool:
        q = 1 / ratio_of(R)
        for P, Q in neighbours(R, n):
            right = sum(
                (
                    math.comb(n - 1, m) * q**m * (1 - q) ** (n - 1 - m) * special(P[-1], Q[-1], m, order)
                    for m in range(n)
                ),
                F(0),
            )
            if moment(shuffled(P), shuffled(Q), order) > right:
                return False
        return True

    return confirmed(
        proved(mixtures.theorem36(), finding="Lemmas 5.1, 5.2 and 5.3 together"),
        on_grid(product(randomizers(), (1, 2, 3), (2, 5)), holds, finding="all pairs of datasets, n ≤ 3, λ = 2, 5"),
    )


@claim(
    "G-Thm3.7",
    "301-303",
    r"(14): special neighbours, $1 + \binom{\lambda}{2}\frac{v}{m} + \sum_i \binom{\lambda}{i} i "
    r"\Gamma(i/2)\left(\frac{(t^2 - 1)^2}{2mt^2}\right)^{i/2}$",
)
def theorem_3_7() -> Check:
    def holds(R: Any, m: int, order: int) -> bool:
        t, laws = ratio_of(R), rows(R)
        bound = 1 + enclosed(math.comb(order, 2) * (t - 1) ** 2 / (m * t)) + higher_terms(t, m, order)
        values = {special(P, Q, m - 1, order) for P in laws for Q in laws}
        exactly = 1 + math.comb(order, 2) * (t - 1) ** 2 / (m * t)
        return all(value <= exactly if order == 2 else below(value, bound) for value in values)

    return confirmed(
        proved(moments.theorem37(), finding="moment by moment"),
        on_grid(product(randomizers(), (1, 2, 4), (2, 3, 6)), holds, finding="m ≤ 4, λ ≤ 6, enclosed"),
    )


@claim(
    "G-Lem5.1",
    "461,767",
    r"$F(P) = \sum_C q^{|C|} (1 - q)^{n - 1 - |C|} F(P_C)$; proof: "
    r"$p_i = q p'_i + (1 - q) \tilde{p}_i$",
)
def lemma_5_1() -> Evidence:
    laws, q = rows(BinaryRR(sp.log(2))), F(1, 2)
    tilde = without(laws[0], laws[1], q)  # (18) with p_i = R(0), p'_n = R(1)
    printed = [q * p + (1 - q) * rest for p, rest in zip(laws[0], tilde, strict=True)]  # p'_i = p_i for i < n

    def holds(R: Any, n: int) -> bool:
        q = 1 / ratio_of(R)
        for P, Q in neighbours(R, n):
            for last in (P[-1], Q[-1]):
                parts = []
                for doubles in product((True, False), repeat=n - 1):
                    others = [Q[-1] if c else without(p, Q[-1], q) for c, p in zip(doubles, P, strict=False)]
                    weight = math.prod((q if c else 1 - q for c in doubles), start=F(1))
                    parts.append((weight, shuffled([*others, last])))
                if {h: p for h, p in mixed(parts).items() if p} != shuffled([*P[:-1], last]):
                    return False
        return True

    return Evidence(
        refuted(
            printed != laws[0],
            f"2-RR, e^ε0 = 2, d_i = 0, d'_n = 1: it is ({printed[0]}, {printed[1]}) for ({laws[0][0]}, {laws[0][1]}),"
            " with p'_i where (18) has p'_n",
        ),
        corrected=on_grid(
            product(randomizers(), (1, 2, 3)),
            holds,
            finding="(18), and the lemma with it, for all pairs of datasets, n ≤ 3",
        ),
        well_read="the proof has p'_i three times, and p'_n was read in the lines around",
    )


@claim("G-Lem5.2", "473", "the moment is jointly convex")
def lemma_5_2() -> Check:
    return proved(mixtures.lemma52_renyi(), finding="at every outcome, for every real λ > 1")


@claim("G-Lem5.3", "483", "the moment does not fall when a user among the first $n - 1$ is removed")
def lemma_5_3() -> Check:
    def holds(R: Any, n: int, order: int) -> bool:
        for P, Q in neighbours(R, n):
            whole = moment(shuffled(P), shuffled(Q), order)
            for i in range(n - 1):
                first, second = (shuffled([*laws[:i], *laws[i + 1 :]]) for laws in (P, Q))
                if whole > moment(first, second, order):
                    return False
        return True

    return confirmed(
        proved(
            mixtures.lemma53_renyi(),
            finding="convex in p_i, and equal where p_i is a point mass: a shift of the histogram",
        ),
        on_grid(product(randomizers(), (2, 3), (2, 5)), holds, finding="all pairs of datasets, n ≤ 3, λ = 2, 5"),
    )


@claim("G-Lem6.1(1,2)", "533-539", r"$X$ has mean 0 and variance $m(\sum p'^2/p - 1)$")
def lemma_6_1_mean() -> Check:
    return proved(moments.lemma61(), finding="X is a sum of m independent copies")


@claim(
    "G-Lem6.1(3)/(34),(35)",
    "543-549",
    r"$\mathbb{E}[X^i] \le i! \Gamma(i/2)(2m\nu^2)^{i/2}$ for $i \ge 3$, "
    r"$\nu = (t - 1/t)/2$",
)
def lemma_6_1_tail() -> Check:
    k = sp.Symbol("k", integer=True, nonnegative=True)
    i = sp.Symbol("i", integer=True, positive=True)
    factorials = [
        line(sp.factorial(i) / i, "=", sp.factorial(i - 1), "i!/i is (i - 1)!, a whole number"),
        line(1, "<=", 1 + k, "so it is at least 1"),
    ]
    return proved(
        moments.lemma61(),
        factorials,
        finding="true, and weaker than what is proved and used, which has i and not i!: from (35) as it stands "
        f"Theorem 3.7 does not follow. The text also has ε^ε0 for e^ε0, {SCAN}",
    )


def vertices(B: int, t: int) -> list[tuple[list[F], list[F]]]:
    """All vertices (p, p') of {p'_j ≤ t p_j, p_j ≤ t p'_j, Σp = Σp' = 1}: 2B − 2 constraints hold with equality."""
    faces = []
    for j in range(B):
        for a, b in ((t, -1), (-1, t)):
            row = [0] * (2 * B)
            row[j], row[B + j] = a, b
            faces.append(row)
    ones = [[1] * B + [0] * B, [0] * B + [1] * B]
    corners = []
    for active in combinations(faces, 2 * B - 2):
        system = sp.Matrix([*active, *ones])
        if system.det() == 0:
            continue
        point = [fraction(e) for e in system.LUsolve(sp.Matrix([0] * (2 * B - 2) + [1, 1]))]
        if all(sum(c * e for c, e in zip(face, point, strict=True)) >= 0 for face in faces):
            corners.append((point[:B], point[B:]))
    return corners


def _at_the_ends(p: list[F], primed: list[F], t: int) -> bool:
    """Whether all cells with mass have the ratio t or 1/t."""
    return all(b in (t * a, F(a) / t) for a, b in zip(p, primed, strict=True) if a)


@claim(
    "G-Lem6.2",
    "563-565,1015",
    r"$\sup \sum p'^2/p - 1 = (t - 1)^2/t$; any vertex satisfies all $B$ "
    r"constraints with equality",
)
def lemma_6_2() -> Evidence:
    def holds(B: int, t: int) -> bool:
        all_of_them = vertices(B, t)
        largest = max(sum(b * b / a for a, b in zip(p, q, strict=True) if a) - 1 for p, q in all_of_them)
        ends = all(_at_the_ends(p, q, t) for p, q in all_of_them if sum(1 for a in p if a) > 1)
        return ends and largest == F((t - 1) ** 2, t)

    return Evidence(
        searched(
            vertices(2, 2),
            lambda p, q: not _at_the_ends(p, q, 2),
            lambda p, q: f"B = 2, e^ε0 = 2: p = p' = ({', '.join(map(str, p))}) is a vertex and has the ratio 1",
        ),
        condition=confirmed(
            proved(moments.lemma62(), finding="the supremum is right, by a chord"),
            on_grid(
                product((2, 3, 4), (2, 3)),
                holds,
                finding="and the sentence is true of cells with mass, if there is more than one; else the value is 0. "
                "All vertices, B ≤ 4, e^ε0 = 2, 3",
            ),
        ),
    )


@claim(
    "G-eq40",
    "587,1046",
    r"(40): $E \le e^{\varepsilon_0\lambda} e^{-q(n - 1)\gamma^2/2} + E_{(1 - \gamma)q(n - 1)}$, $\gamma "
    "> 0$ arbitrary",
)
def equation_40() -> Evidence:
    t, n, order, gamma = 2, 3, 2, 3
    index = (1 - gamma) * F(n - 1, t)
    rest = 1 + F((t - 1) ** 2, t) / (index + 1)  # E_m of 2-RR for λ = 2 is 1 + v/(m + 1)
    right = t**order * exp(-F(n - 1, t) * gamma**2 / 2) + enclosed(rest)

    def holds(R: Any, n: int, order: int, gamma: F) -> bool:
        t = ratio_of(R)
        m = int((1 - gamma) * (n - 1) / t)
        first = enclosed(t**order) * exp(-(n - 1) * gamma**2 / (2 * t))
        return all(
            below(moment(shuffled(P), shuffled(Q), order), first + enclosed(special(P[-1], Q[-1], m, order)))
            for P, Q in neighbours(R, n)
        )

    shares = (F(1, 10), F(1, 2), F(1))
    return Evidence(
        refuted(
            below(right, 1),
            f"2-RR, e^ε0 = 2, λ = 2, n = 3, γ = 3: no dataset has (1-γ)q(n-1)+1 = {index + 1} users, and with "
            f"E_m = 1 + v/(m+1) the right side is {shown(right)}, below 1",
        ),
        condition=confirmed(
            proved(
                upper.eq40(),
                finding="if γ ≤ 1 and (1-γ)q(n-1) is rounded down: E_m falls, E_0 ≤ e^(ε0λ), and Chernoff's inequality",
            ),
            on_grid(
                product(randomizers()[:2], (1, 2, 4), (2, 3), shares), holds, finding="all pairs of datasets, n ≤ 4"
            ),
        ),
    )


@claim("G-LemD.1", "1034", "$E_m$ is non-increasing in $m$")
def lemma_d_1() -> Check:
    def holds(R: Any, m: int, order: int) -> bool:
        laws = rows(R)
        return all(special(P, Q, m + 1, order) <= special(P, Q, m, order) for P in laws for Q in laws)

    return confirmed(
        proved(mixtures.lemma_d1(), finding="a case of Lemma 5.3"),
        on_grid(
            product(randomizers(), (0, 1, 2), (2, 5)),
            holds,
            finding=f"m ≤ 2; (66) has the same law above and below in both ratios, 1 ≤ 1, {SCAN}",
        ),
    )


@claim("G-Thm7.1", "599", r"special neighbours: the moment is at most $\exp(\lambda^2(t-1)^2/m)$, $\lambda \ge 2$ real")
def theorem_7_1() -> Check:
    def holds(R: Any, m: int, order: int) -> bool:
        t, laws = ratio_of(R), rows(R)
        bound = exp(order**2 * (t - 1) ** 2 / m)
        return all(below(special(P, Q, m - 1, order), bound) for P in laws for Q in laws)

    return confirmed(
        proved(moments.theorem71(), finding="for every real λ > 0, and with half the exponent or less"),
        on_grid(product(randomizers(), (1, 2, 3), (2, 5)), holds, finding="m ≤ 3, enclosed"),
    )


@claim("G-Claim1", "727", r"$\tbinom{\lambda}{k} k \Gamma(k/2) \le \lambda^k$ for $k \ge 3$")
def claim_1() -> Check:
    return proved(simplified.claim1(), finding="and for k = 2; it fails for k = 1")
