"""The worst neighbours: published candidates against the truth, and our own conjectures on a grid."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations

import pytest
import sympy as sp
from conftest import shuffled_laws
from test_ground_truth import literal_delta

import shuffle_sym as ss
from shuffle_sym.truth import conjectures, exact, ground_truth, neighbours

pytestmark = pytest.mark.exact
q = sp.Rational


def test_the_third_value_is_not_always_the_worst():
    # Two users of 3-RR with t = 3, in 25ths. Others x0: all messages 0 with 9 against 3, and 9 − 3α = 3/2 at α = 5/2.
    # Others 2: messages 0, 0 with 3 against 1, 3 − α = 1/2; messages 0, 2 with 10 against 4, 10 − 4α = 0.
    R = ss.KRR(k=3, eps0=sp.log(3))
    found = neighbours.witness(R, "third", [2], [q(5, 2)])
    assert found is not None
    assert (found.pair, found.truth, found.candidate) == (((0, 0), (1, 0)), q(3, 50), q(1, 50))
    # With one user nobody else is there, and at α = 3/2 the candidate is right.
    assert neighbours.witness(R, "third", [1, 2], [q(3, 2)]) is None


def test_the_published_pair_of_2rr_is_not_the_worst_at_three_users():
    # t = 2, in 27ths: others (0, 1) give ones with law (2, 5, 2)/9; at α = 1 the largest f(T)·(p1 − p0) is 5/9·1/3;
    # others (0, 0) have the law (4, 4, 1)/9.
    found = neighbours.witness(ss.BinaryRR(eps0=sp.log(2)), "own", [1, 2, 3], [1])
    assert found is not None
    assert (found.n, found.pair) == (3, ((0, 0, 1), (1, 0, 1)))
    assert (found.truth, found.candidate) == (q(5, 27), q(4, 27))


def test_near_the_largest_loss_all_others_have_x0(randomizer):
    # Only the messages with the largest ratio count there, and all n must be such: each other user's probability of
    # them is a factor of the divergence.
    rows, n = randomizer.matrix(), 3
    alpha = sp.exp(randomizer.eps0)
    if not alpha.is_Rational or not randomizer.symmetric:
        return
    close = alpha - (alpha - 1) / 10**6
    best = [y for y in range(rows.cols) if rows[0, y] == alpha * rows[1, y]]
    masses = [sum(rows[x, y] for y in best) for x in range(rows.rows)]
    (worst,) = ground_truth.worst_pairs(randomizer, n, [close])
    assert masses[0] == max(masses)
    assert worst.delta == masses[0] ** n * (1 - close / alpha)
    assert (worst.X0, worst.X1) == ((0, 0, 0), (1, 0, 0))


def test_a_map_row_says_what_ties_and_how_far_the_blanket_is():
    (row,) = neighbours.worst_map(ss.BinaryRR(eps0=sp.log(3)), [2], [1])
    assert row.kind == "all x0"
    assert row.kinds == ("all x0", "all x1")
    # Two users of 2-RR, t = 3: f = (3, 1)/4, times p1 − p0 = 1/2.
    assert row.truth == q(3, 8)
    assert row.blanket == shuffled_laws(ss.BinaryRR(eps0=sp.log(3)), 2).exact(1)
    assert row.excess == float(row.blanket / row.truth - 1) >= 0


CASES = list(conjectures.checked_range(levels=[q(11, 10), q(2)], most_users=4, steps=6))


@pytest.mark.parametrize(("R", "users", "alphas"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_our_conjectures_hold_on_a_grid(R, users, alphas):
    rows = neighbours.worst_map(R, users, alphas, blanket=False)
    for rule in conjectures.CONJECTURES:
        if conjectures.covers(rule, R):
            assert neighbours.exceptions(rows, rule) == []


def test_the_second_conjecture_is_about_three_inputs_or_more():
    rule = "nobody else has x1"
    said = [conjectures.covers(rule, R) for R in (ss.KRR(k=2, eps0=1), ss.KRR(k=3, eps0=1), ss.BLH(d=3, eps0=1))]
    assert said == [False, True, False]
    assert conjectures.covers(rule, ss.HadamardResponse(K=4, eps0=1))


def test_the_first_conjecture_is_not_true_of_every_randomizer():
    rows, n, alpha = conjectures.THREE_VALUES
    R = ss.from_matrix(rows)
    (row,) = neighbours.worst_map(R, [n], [alpha], blanket=False)
    assert row.tied == (((2, 0, 1, 2), (0, 0, 1, 2)),)
    assert neighbours.exceptions([row], "the others have at most two values") == [row]
    assert not conjectures.covers("the others have at most two values", R)
    # By the definition, message tuple by message tuple, over everything with two values or fewer among the others.
    two_values = max(
        ground_truth.delta(R, (x0, *others), (x1, *others), alpha)
        for x0, x1 in permutations(range(3), 2)
        for others in combinations_with_replacement(range(3), n - 1)
        if len(set(others)) <= 2
    )
    assert literal_delta(R, *row.pair, alpha) == row.truth == q(17, 576) > two_values


def test_stronger_rules_have_exceptions():
    # 2-RR above: the others are 0 and 1. RAPPOR: all others have x1.
    rows = neighbours.worst_map(ss.BinaryRR(eps0=sp.log(2)), [3], [1])
    assert neighbours.exceptions(rows, "the others have one value") == rows
    rows = neighbours.worst_map(ss.RAPPOR(d=3, eps0=2 * sp.log(2)), [2], [q(9, 8)])
    assert neighbours.exceptions(rows, "nobody else has x1") == rows
    assert rows[0].kind == "all x1"


def test_the_blanket_of_a_map_is_that_of_the_worst_pair_of_inputs():
    R = ss.from_matrix([["1/2", "1/2"], ["2/5", "3/5"], ["1/4", "3/4"]])
    values = [exact.divergence(D, 3, sp.Integer(1)) for D in ss.decomposition.blankets(R)]
    assert len(set(values)) > 1
    assert all(neighbours._blanket(R, 3, sp.Integer(1)) >= value for value in values)
