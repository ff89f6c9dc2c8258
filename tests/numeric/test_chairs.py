"""Weighted chairs, sums of scores and blanket messages in doubles, against fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.numeric import blanket_counts, chairs, dropout
from shuffle_sym.numeric.blanket_counts import BlanketCounts
from shuffle_sym.numeric.scores import ScoredSums, best_scores
from shuffle_sym.truth import crowds
from shuffle_sym.truth.dropout import dataset_bound, laws, matrix_of

q = sp.Rational


def stacked_rows(rng: random.Random) -> list[list[sp.Rational]]:
    """Two inputs of each of two groups, three messages."""
    rows = [[rng.choice([1, 1, 2, 4, 9, 30]) for _ in range(3)] for _ in range(4)]
    return [[q(e, sum(row)) for e in row] for row in rows]


@pytest.mark.parametrize("seed", range(6))
def test_weighted_chairs_in_doubles_are_above_theorem_g_for_every_dataset(seed):
    rng = random.Random(seed)
    rows = stacked_rows(rng)
    R, alpha = ss.from_matrix(rows), q(rng.choice([100, 105, 120, 150]), 100)
    by_input = laws(R, 0, 1, alpha)
    groups = [[by_input[0], by_input[1]], [by_input[2], by_input[3]]]
    counts = rng.choice([(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)])
    doubles = [
        [(np.array([float(v) for v in law.values]), np.array([float(p) for p in law.probabilities])) for law in group]
        for group in groups
    ]
    column_least = [min(row[y] for row in rows) for y in range(3)]
    gamma, local = (
        float(sum(column_least)) * (1 - 1e-15),
        float(
            crowds.divergence(
                {(y,): Fraction(int(p.p), int(p.q)) for y, p in enumerate(rows[0])},
                {(y,): Fraction(int(p.p), int(p.q)) for y, p in enumerate(rows[1])},
                Fraction(int(alpha.p), int(alpha.q)),
            )
        )
        * (1 + 1e-15),
    )
    bound = chairs.upper(doubles, [[[], []], [[], []]], counts, gamma, local)
    crowd = chairs._Crowd([dropout.padded(group, 9) for group in doubles], counts, gamma, local)
    weights = {x: q(Fraction(float(crowd.weights[x // 2]))) for x in range(4)}
    common = {x: column_least for x in range(4)}
    for first in combinations_with_replacement((0, 1), counts[0]):
        for second in combinations_with_replacement((2, 3), counts[1]):
            exact = dataset_bound(R, 0, 1, (*first, *second), alpha, weights=weights, common=common)
            assert exact <= bound.value * (1 + 1e-12)


def test_equal_groups_are_about_the_drop_out_bound():
    law = np.array([-2.0, 0.5, 1.0]), np.array([0.3, 0.3, 0.4])
    mean = float(law[0] @ law[1])
    law = law[0] - mean - 0.05, law[1]
    both = chairs.upper([[law], [law]], [[[]], [[]]], [600, 400], 0.5, 0.4)
    one = dropout.upper([law], [[]], 0.5, 1_001, 0.4, equal=False)
    assert one.value * 0.999 <= both.value <= one.value * 1.05


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_scores_are_below_the_exact_divergence_and_known_from_both_sides(seed):
    rng = random.Random(seed)
    rows = stacked_rows(rng)
    matrix = matrix_of(ss.from_matrix(rows))
    counts = rng.choice([(1, 1), (3, 1), (2, 3), (5, 0)])
    law = {(0, 0, 0): Fraction(1)}
    for row, count in ((matrix[2], counts[0]), (matrix[3], counts[1])):
        for _ in range(count):
            law = crowds.one_more(law, row)
    P, Q = crowds.one_more(law, matrix[0]), crowds.one_more(law, matrix[1])
    others = [
        (count, np.array([float(p) for p in matrix[x]])) for count, x in zip(counts, (2, 3), strict=True) if count
    ]
    first, second = (np.array([float(p) for p in matrix[x]]) for x in (0, 1))
    for alpha in (Fraction(1), Fraction(6, 5), Fraction(2)):
        exact = crowds.divergence(P, Q, alpha)
        scores, _ = best_scores(first, second, float(alpha), others)
        sums = ScoredSums(scores, first, second, others)
        by_sum = {
            k: sum((P[h] - alpha * Q[h]) for h in P if int(np.array(h) @ scores) == k)
            for k in {int(np.array(h) @ scores) for h in P}
        }
        seen = sum(max(v, Fraction(0)) for v in by_sum.values())
        lower, upper = sums.both_ends(float(alpha))
        assert lower <= seen <= min(exact, Fraction(upper))
        assert upper - lower <= 1e-9
        back = crowds.divergence(Q, P, alpha)
        assert sums.both_ends(float(alpha), swapped=True)[0] <= back


def test_sums_of_scores_of_many_equal_users_are_close_to_their_decomposition():
    D = ss.decomposition.dataset(ss.KRR(k=10, eps0=4), 0, 1, 2)
    masses = D.floats
    for n, eps in ((1_000, 0.5), (10_000, 0.3), (10_000, 0.8), (100_000, 0.1)):
        others = [(n - 1, masses.c)]
        scores, _ = best_scores(masses.a, masses.b, np.exp(eps), others)
        lower, upper = ScoredSums(scores, masses.a, masses.b, others).both_ends(float(np.exp(eps)))
        exact = ss.Shuffle(D, n).delta(eps)
        assert 0.96 * exact.lower <= lower <= exact.upper
        assert upper - lower <= 1e-4 * upper


def test_blanket_messages_are_counted_from_above():
    counts, gammas = [5, 3, 2], [Fraction(1 / 3), Fraction(0.9), Fraction(1)]  # doubles, as they are
    law = {(0,): Fraction(1)}
    for count, gamma in zip(counts, gammas, strict=True):
        for _ in range(count):
            law = {(k,): law.get((k,), 0) * (1 - gamma) + law.get((k - 1,), 0) * gamma for k in range(len(law) + 1)}
    B = BlanketCounts(counts, [float(gamma) for gamma in gammas])
    for b in range(12):
        exact = sum((p for (k,), p in law.items() if k < b), Fraction(0))
        assert exact <= Fraction(B.below(b)) <= exact + Fraction(1, 10**12)
    assert B.below(0) == 0.0
    many = BlanketCounts([10**7], [0.5])  # no list of them: by Chernoff alone
    assert many.below(5 * 10**6 - 10**4) < 1e-7
    assert many.below(5 * 10**6 + 1) == 1.0


def test_counts_of_blankets_hold_for_transforms_that_are_off(monkeypatch):
    eta, transform = 1e-3, blanket_counts.transform

    def worse(places, weights, size):
        entries = np.concatenate(list(transform(places, weights, size)[0]))
        return [entries * (1 - 0.9 * eta / np.maximum(np.abs(entries), eta))], eta

    monkeypatch.setattr(blanket_counts, "transform", worse)
    monkeypatch.setattr(BlanketCounts, "_chernoff", lambda *_: 1.0)
    B = BlanketCounts([6], [0.5])
    assert B._sums[6] < 1 - 2**-6  # without the error it would be too little
    for b in range(1, 7):
        assert sum(math.comb(6, k) for k in range(b)) / 2**6 <= B.below(b)


def test_where_one_user_alone_shows_nothing_the_logarithm_of_the_bound_is_minus_infinity():
    law = np.array([-2.0, 1.0]), np.array([0.5, 0.5])
    assert chairs.upper([[law]], [[[]]], [10], 0.5, 0.0)[:2] == (0.0, -math.inf)


def test_the_logarithm_of_a_local_bound_is_not_below_that_of_the_bound():
    law, mp = (np.array([-2.0, 1.0]), np.array([0.5, 0.5])), mpmath.MPContext()
    mp.dps = 40
    for local in [10.0**-k for k in range(1, 300, 3)]:
        bound = chairs.upper([[law]], [[[]]], [10], 0.0, local)
        assert bound[::2] == (local, "local")
        assert mp.log(local) <= bound.log <= mp.log(local) * (1 - 1e-14) + 1e-14


def test_the_rounding_of_what_no_blanket_takes_is_in_the_error_of_its_transform(monkeypatch):
    u, given = 1e-3, []
    monkeypatch.setattr(blanket_counts, "UNIT_ROUNDOFF", u)
    convolution = blanket_counts.convolution
    monkeypatch.setattr(blanket_counts, "convolution", lambda *args: given.append(args[1]) or convolution(*args))
    BlanketCounts([6, 2], [0.3, 0.6])
    assert min(given[0]) >= u  # of 1 − γ


def test_bounds_of_a_tilted_law_are_told_only_where_they_hold():
    coins = ScoredSums(np.array([0, 1]), np.array([0.25, 0.75]), np.array([0.75, 0.25]), [(400, np.array([0.5, 0.5]))])
    found = coins._tilted(0.0)
    for t in (1.0, 2.5, 7.0):
        for mean in (199.5, 200.0, 200.25):
            k, _, _ = coins._piece(found._replace(t=t, mean=mean))
            assert np.all(np.abs(k - mean) <= t)
            assert len(k) >= 2 * math.floor(t) - 1


def test_the_cells_of_groups_have_the_roundings_of_their_widths(monkeypatch):
    law, where = (np.array([[-2.0, 1.0]]), np.array([[0.5, 0.5]])), dropout.Places(0.25, 40, 0, 30)
    nodes, parts = np.array([0.0, 0.25, 0.75]), []
    for u in (2.0**-53, 1e-6):
        monkeypatch.setattr(chairs, "UNIT_ROUNDOFF", u)
        cells = chairs._GroupCells([dropout.Tilts(*law, 0.5)] * 2, [np.zeros(1)] * 2, np.array([20, 19]), 1e-9, where)
        parts.append(cells._parts(nodes, np.zeros((3, 2)))[0])  # f = 1: no sum is below that of the scale
    assert np.all(parts[1] >= parts[0] * (1 + 3 * 1e-6))  # a difference and two products
