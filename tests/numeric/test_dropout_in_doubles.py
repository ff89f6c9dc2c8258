"""The drop-out bound in doubles: never below exact fractions, close to real datasets, no term too many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from random import Random

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import rounding
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import contour, dropout
from shuffle_sym.numeric.dropout import Cells, Places, Tilts

Law = dict[Fraction, Fraction]
Matrix = list[list[Fraction]]


# -------------------------------------------------------------------------- the bound in fractions, by all multisets


def law_of(matrix: Matrix, x: int, alpha: Fraction) -> tuple[Law, list[Fraction]]:
    """The law of G_x for the pair of inputs 0, 1, and [w]_+ of the messages that are impossible under x."""
    law: Law = {}
    null = []
    for a, b, c in zip(matrix[0], matrix[1], matrix[x], strict=True):
        if c:
            law[(a - alpha * b) / c] = law.get((a - alpha * b) / c, Fraction(0)) + c
        else:
            null.append(max(a - alpha * b, Fraction(0)))
    return law, null


def convolved(one: Law, other: Law) -> Law:
    total: Law = {}
    for x, p in one.items():
        for y, q in other.items():
            total[x + y] = total.get(x + y, Fraction(0)) + p * q
    return total


def largest_means(laws: Sequence[Law], null: Sequence[Fraction], most: int) -> list[Fraction]:
    """Φ*_N for N = 1 … most."""
    sums: dict[tuple[int, ...], Law] = {(): {Fraction(0): Fraction(1)}}
    means = []
    for N in range(1, most + 1):
        chosen = combinations_with_replacement(range(len(laws)), N)
        sums = {xs: convolved(sums[xs[:-1]], laws[xs[-1]]) for xs in chosen}
        parts = (sum(v * p for v, p in sums[xs].items() if v > 0) + sum(null[x] for x in xs) for xs in sums)
        means.append(max(parts) / N)
    return means


def exact_bound(means: Sequence[Fraction], gamma: Fraction, n: int) -> Fraction:
    """Σ_j γ(1 − γ)^(j−1) Φ*_{n−j} + (1 − γ)^(n−1) Φ*_1."""
    total = sum(gamma * (1 - gamma) ** (j - 1) * means[n - j - 1] for j in range(1, n))
    return total + (1 - gamma) ** (n - 1) * means[0]


def in_doubles(law: Law) -> tuple[np.ndarray, np.ndarray]:
    return np.array([float(v) for v in law]), np.array([float(p) for p in law.values()])


def random_matrix(random: Random, inputs: int, messages: int) -> Matrix:
    """Rows of fractions with zeros, near-deterministic rows and plain ones."""
    rows = []
    for _ in range(inputs):
        kind = random.choice(["plain", "zeros", "sharp"])
        weights = [random.randint(1, 9) if kind != "zeros" else random.choice([0, 1, 3]) for _ in range(messages)]
        if kind == "sharp":
            weights[random.randrange(messages)] = 10 ** random.randint(2, 6)
        if not sum(weights):
            weights[0] = 1
        rows.append([Fraction(w, sum(weights)) for w in weights])
    return rows


def compared(matrix: Matrix, alpha: Fraction, most: int) -> list[tuple[float, Fraction]]:
    """The certified and the exact bound for n = 1 … most."""
    rows = [law_of(matrix, x, alpha) for x in range(len(matrix))]
    means = largest_means([law for law, _ in rows], [sum(null, Fraction(0)) for _, null in rows], most)
    gamma = sum(map(min, zip(*matrix, strict=True)), Fraction(0))
    laws, null = [in_doubles(law) for law, _ in rows], [[float(s) for s in null] for _, null in rows]
    local = rounding.up(means[0])
    ends = []
    for n in range(1, most + 1):
        upper = dropout.upper(laws, null, rounding.down(gamma), n, local).value
        ends.append((upper, exact_bound(means, gamma, n) if n > 1 else means[0]))
    return ends


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_is_never_below_the_exact_one(seed):
    random = Random(seed)
    matrix = random_matrix(random, random.choice([2, 3]), random.choice([2, 3]))
    alpha = random.choice([Fraction(1, 3), Fraction(1), Fraction(11, 10), Fraction(3), Fraction(40)])
    for upper, exact in compared(matrix, alpha, 6):
        assert upper >= exact


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 100), Fraction(1, 3000)])
def test_a_bound_that_keeps_one_user_too_many_would_be_noticed(p):
    """Next to the largest loss a sum is positive only if all terms are: one user more is a factor p."""
    matrix = [[1 - 3 * p, 3 * p], [p, 1 - p]]
    alpha = (1 - 3 * p) / p * Fraction(98, 100)
    for n, (upper, exact) in enumerate(compared(matrix, alpha, 8), 1):
        assert exact <= upper <= 4 * exact + float(1 - 4 * p) ** max(n - 2, 0)


@pytest.mark.parametrize("n", [4, 7])
def test_without_lost_users_the_bound_is_that_of_n_minus_1_terms(n):
    """γ next to 1: the sum over the places is its first term, which falls by a factor for one term more."""
    law = {Fraction(1): Fraction(1, 50), Fraction(-20): Fraction(49, 50)}
    means = largest_means([law], [Fraction(0)], n)
    upper = dropout.upper([in_doubles(law)], [[]], 1 - 2.0**-50, n, rounding.up(means[0])).value
    assert means[n - 2] <= upper <= 3 * means[n - 2] + 2.0 ** (-50 * (n - 2))
    assert upper > 5 * means[n - 1]


# ------------------------------------------------------------------------------------------------- term by term


@pytest.mark.parametrize("seed", range(40))
def test_the_geometric_sums_are_above_the_sum_over_places_and_close(seed):
    random = Random(seed)
    n = random.choice([3, 5, 40, 700])
    last = random.randint(1, n - 2)
    first = random.choice([0, last // 2])
    gamma = random.choice([0.9, 0.3, 0.05, 1e-3])
    log_m = random.choice([-3.0, -0.5, -0.05, math.log1p(-gamma), -1e-6, 0.01]) * random.choice([1, 1, 0.99999])
    with mpmath.workdps(40):
        m, g = mpmath.exp(mpmath.mpf(log_m)), mpmath.mpf(gamma)
        exact = mpmath.log(sum(g * (1 - g) ** (j - 1) * m ** (n - j) / (n - j) for j in range(first + 1, last + 1)))
        (bound,) = Places(gamma, n, first, last).log_sums(np.array([log_m]))
        assert exact <= bound <= exact + 0.3
        assert Places(gamma, n, first, last).log_rest >= last * mpmath.log(1 - g)


LAWS = [
    (np.array([-2.0, 0.25, 1.5]), np.array([0.5, 0.25, 0.25])),
    (np.array([-0.75, 0.5, 0.0]), np.array([0.5, 0.25, 0.25])),
]
VALUES, PROBABILITIES = (np.array(column) for column in zip(*LAWS, strict=True))


def modulus(u, rate: float, pads) -> mpmath.mpf:
    """The largest padded modulus, to many digits."""
    s = mpmath.mpc(rate, u)
    return max(
        abs(sum(p * mpmath.exp(s * g) for g, p in zip(values.tolist(), probabilities.tolist(), strict=True)))
        * mpmath.exp(pad * (rate**2 - u**2) / 2)
        for (values, probabilities), pad in zip(LAWS, pads, strict=True)
    )


@pytest.mark.parametrize("pads", [(0.0, 0.0), (0.0, 1.25)])
@pytest.mark.parametrize("rate", [0.3, 1.1])
def test_every_cell_is_above_its_integral(rate, pads):
    n, common = 30, 0.5
    cells = Cells(Tilts(VALUES, PROBABILITIES, rate), np.array(pads), common, Places(0.4, n, 0, 12))
    u = cells.unit * np.concatenate([0.7 * np.arange(8), 5.0 * 1.4 ** np.arange(1, 9)])
    parts, _, log_scale = cells._parts(u, cells.log_squares(u))

    def integrand(x):
        (log_sum,) = cells.places.log_sums(np.array([float(mpmath.log(modulus(x, rate, pads)))]))
        return mpmath.exp(log_sum - log_scale - common * x**2 / 2) / (rate**2 + x**2)

    for part, ends in zip(parts.tolist(), pairwise(u.tolist()), strict=True):
        pieces = np.linspace(*ends, 9).tolist()
        assert part >= mpmath.quad(integrand, pieces, maxdegree=3) * (1 - 1e-9)


@pytest.mark.parametrize("common", [0.0, 0.5])
def test_the_integral_is_within_its_tolerance(common):
    rate, n = 0.3, 30
    places = Places(0.4, n, 0, 12)
    cells = Cells(Tilts(VALUES, PROBABILITIES, rate), np.zeros(2), common, places)
    u = np.linspace(0, 400, 400_001)
    s = rate + 1j * u
    largest = np.max([np.abs(sum(p * np.exp(s * g) for g, p in zip(*law, strict=True))) for law in LAWS], axis=0)
    heights = np.exp(places.log_sums(np.log(largest)) + common * (rate**2 - u * u) / 2) / (rate**2 + u * u)
    # Beyond 400 the largest modulus is at most that at 0.
    total = np.trapezoid(heights, u) / math.pi
    assert total * (1 - 1e-6) <= math.exp(cells.log_integral(1e-4)) <= (total + heights[0] * rate**2 / 400) * (1 + 2e-3)


def test_a_constant_is_its_own_mean():
    constant = np.array([0.25]), np.array([1.0])
    assert 0.25 <= dropout.upper([constant], [[]], 0.5, 50, 1.0).value <= 0.5


def test_laws_with_other_means_are_never_exchanged():
    """The law with the larger variance would be the worst of two with the same mean."""
    wide, high = {Fraction(-3): Fraction(1, 2), Fraction(2): Fraction(1, 2)}, {Fraction(1): Fraction(1)}
    means = largest_means([wide, high], [Fraction(0)] * 2, 6)
    bound = dropout.upper([in_doubles(wide), in_doubles(high)], [[], []], 0.5, 6, 1.0)
    assert bound.value >= exact_bound(means, Fraction(1, 2), 6)


def test_arguments_that_make_no_sense_are_refused():
    law = np.array([-2.0, 1.0]), np.array([0.5, 0.5])
    with pytest.raises(ValueError, match="gamma must be a blanket mass"):
        dropout.upper([law], [[]], 1.5, 10, 0.25)
    with pytest.raises(ValueError, match="local must be a divergence"):
        dropout.upper([law], [[]], 0.5, 10, -0.25)
    with pytest.raises(ValueError, match="an entry for each input"):
        dropout.upper([], [], 0.5, 10, 0.25)


# ------------------------------------------------------------------------------------------- against real datasets

BLH, SUBSETS, RAPPOR = ss.BLH(d=16, eps0=4), ss.SubsetSelection(d=10, w=3, eps0=4), ss.RAPPOR(d=16, eps0=4)
HADAMARD, OUE = ss.HadamardResponse(K=16, eps0=4), ss.OUE(d=16, eps0=4)
TEN, TWO = ss.KRR(k=10, eps0=4), ss.BinaryRR(eps0=4)

# δ is about 10^-6 at the first ε and 10^-2 at the second one.
CLOSE = [
    (BLH, 10**4, 0.200549, 0.004),
    (BLH, 10**4, 0.0268, 0.006),
    (SUBSETS, 10**4, 0.302951, 0.002),
    (SUBSETS, 10**4, 0.0595, 0.006),
    (RAPPOR, 10**4, 0.336491, 0.002),
    (RAPPOR, 10**4, 0.0706, 0.006),
    (HADAMARD, 10**4, 0.278723, 0.002),
    (HADAMARD, 10**4, 0.0525, 0.006),
    (OUE, 10**4, 0.276118, 0.002),
    (OUE, 10**4, 0.0517, 0.006),
    (TEN, 10**4, 0.3805, 0.002),
    (TEN, 10**4, 0.0854, 0.006),
    (TWO, 10**4, 0.31464, 0.002),
    (TWO, 10**4, 0.0552, 0.006),
    (BLH, 10**3, 0.690716, 0.06),
    (SUBSETS, 10**3, 1.153, 0.025),
    (RAPPOR, 10**3, 1.288, 0.02),
    (BLH, 10**6, 0.0164012, 0.001),
    (TWO, 10**6, 0.02401, 0.001),
    (OUE, 10**9, 0.000503, 0.001),
]


def laws_at(R, eps: float):
    """The laws of G of all inputs (those beyond 0 and 1 are alike), null messages, γ and D_1 as doubles."""
    inputs = [0, 1] if R is TWO else [0, 1, 2]
    datasets = [ss.decomposition.dataset(R, 0, 1, x) for x in inputs]
    laws = [D.gparv.floats_at([Ratio(eps=sp.Rational(eps))]) for D in datasets]
    assert all(law.null.size == 0 for law in laws)
    masses = datasets[0].floats
    local = math.fsum(np.maximum(masses.a - math.exp(eps) * masses.b, 0.0)) * (1 + 1e-12)
    return [(law.values[0], law.probabilities) for law in laws], float(R.gamma) * (1 - 1e-14), local


@pytest.mark.parametrize(("R", "n", "eps", "excess"), CLOSE)
def test_the_bound_is_above_equal_others_and_close_to_them(R, n, eps, excess):
    laws, gamma, local = laws_at(R, eps)
    attacks = [contour.positive_part(*law, n, 1e-3).lower for law in laws]
    assert max(attacks) <= dropout.upper(laws, [[]] * len(laws), gamma, n, local).value
    laws, gamma, local = laws_at(R, eps * (1 + excess))
    assert dropout.upper(laws, [[]] * len(laws), gamma, n, local).value <= max(attacks)


@pytest.mark.parametrize("n", [10**4, 10**9, 10**15])
def test_one_user_more_or_less_is_seen_at_any_n_without_lost_users(n):
    """A single law, γ next to 1: n − 1 terms by the contour of one law, from both sides."""
    values, probabilities = np.array([-1.25, 0.25, 1.0]), np.array([0.5, 0.25, 0.25])
    values = values + 0.3125 - 2 / math.sqrt(n)
    exact = contour.positive_part(values, probabilities, n - 1, 1e-3)
    bound = dropout.upper([(values, probabilities)], [[]], 1 - 2.0**-50, n, 1.0)
    assert exact.lower <= bound.value <= exact.upper * (1 + 2e-3)


def test_what_is_beyond_the_last_cell_is_in_the_bound(monkeypatch):
    """Cells that end early: a lattice, on which the modulus comes back, has the rest beyond."""
    values, probabilities = np.array([[-1.0, 1.0]]), np.array([[0.75, 0.25]])
    places = Places(0.9, 400, 0, 12)
    whole = Cells(Tilts(values, probabilities, 0.2), np.zeros(1), 0.0, places).log_integral(1e-3)
    monkeypatch.setattr(Cells, "_nodes", lambda self, step: np.arange(0.0, 1.0, step * self.unit))
    cut = Cells(Tilts(values, probabilities, 0.2), np.zeros(1), 0.0, places).log_integral(1e-3)
    assert cut >= whole - 2e-3
