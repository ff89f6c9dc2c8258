"""The best dataset we know: it is real, no divergence is above the worst pair, and the choice is right where exact."""

from __future__ import annotations

import math
import random

import pytest
import sympy as sp

import shuffle_sym as ss
from checks.dropout_grid import random_matrix
from shuffle_sym.truth import conjectures, exact, ground_truth, worst_datasets

pytestmark = pytest.mark.exact
q = sp.Rational


def test_the_divergence_of_the_choice_is_that_of_two_real_datasets():
    rng = random.Random(6)
    for _ in range(12):
        R = ss.from_matrix(random_matrix(rng))
        n, alpha = rng.randint(2, 4), q(rng.randint(5, 30), 10)
        largest = ground_truth.worst_pair(R, n, alpha).delta
        for x0, x1 in R.pairs():
            worst, *_ = worst_datasets.ranked(R, x0, x1, alpha)
            value = exact.divergence(worst.decomposition(R), n, alpha)
            assert value == ground_truth.delta(R, *worst.datasets(n), alpha) <= largest
            assert exact.divergence(ss.decomposition.mixture(R, x0, x1, {worst.x: 1}), n, alpha) == value


def test_of_two_equal_chi_the_next_term_decides():
    # 2-RR: χ = (t − 1)²/t for both inputs.
    R, n, alpha = ss.BinaryRR(eps0=sp.log(3)), 60, q(6, 5)
    first, second = worst_datasets.ranked(R, 0, 1, alpha)
    assert first.chi == pytest.approx(second.chi)
    assert (first.x, second.x) == (0, 1)
    values = [exact.divergence(entry.decomposition(R), n, alpha) for entry in (first, second)]
    assert values[0] > values[1]


def test_the_next_term_is_the_difference_of_two_divergences():
    # To the order 1/n: φ(a/√χ)/√χ · a/n · (s_0 − s_1); what follows is smaller by another √n.
    R, n = ss.BinaryRR(eps0=sp.log(3)), 1600
    alpha = 1 + q(1, 40)
    values = [exact.divergence(ss.decomposition.dataset(R, 0, 1, x), n, alpha) for x in (0, 1)]
    slopes = [float(worst_datasets.slope(ss.decomposition.dataset(R, 0, 1, x))) for x in (0, 1)]
    chi = 4 / 3
    predicted = math.exp(-1 / (2 * chi)) / math.sqrt(2 * math.pi * chi) / n * (slopes[0] - slopes[1])
    assert float(values[0] - values[1]) == pytest.approx(predicted, rel=2 / math.sqrt(n))


@pytest.mark.parametrize("rows", [(2, 6, 9), (2, 7, 9), (3, 7, 8), (2, 5, 9), (3, 6, 9)])
def test_the_largest_chi_is_not_always_the_worst_and_the_score_knows(rows):
    R = ss.from_matrix([[q(p, 10), 1 - q(p, 10)] for p in rows])
    n, alpha = 60, q(3, 2)
    ranked = worst_datasets.ranked(R, 0, 1, alpha)
    values = {entry.x: exact.divergence(entry.decomposition(R), n, alpha) for entry in ranked}
    assert max(values, key=lambda x: values[x]) == ranked[0].x
    assert max(ranked, key=lambda entry: entry.chi).x != ranked[0].x


def test_chi_of_3_rr_is_a_formula():
    t = sp.exp(ss.KRR(k=3).eps0)
    chi = worst_datasets.chi(ss.decomposition.dataset(ss.KRR(k=3), 0, 1, 2))
    assert sp.cancel(chi.subs(ss.KRR(k=3).eps0, sp.log(5)) - q(2 * 16, 7)) == 0
    assert chi.free_symbols == t.free_symbols


def test_a_message_that_the_others_cannot_send_is_the_worst_and_stays():
    # Under x = 2 message 0 is impossible: the divergence is at least 1/2 − α/4 for every n.
    R = ss.from_matrix([[q(1, 2), q(1, 2)], [q(1, 4), q(3, 4)], [0, 1]])
    worst, *_ = worst_datasets.ranked(R, 0, 1, q(3, 2))
    assert (worst.x, worst.chi) == (2, math.inf)
    assert exact.divergence(worst.decomposition(R), 50, q(3, 2)) == q(1, 8)
    # Seen from x1 that message has a negative gain at α > 1; the mean of G is then 1 − α + (α/2 − 1/4) = 0 at 3/2.
    assert worst_datasets.ranked(R, 1, 0, q(3, 2))[0].chi == math.inf


@pytest.mark.parametrize(
    ("R", "x"),
    [
        (ss.BinaryRR(eps0=4), 0),
        (ss.KRR(k=10, eps0=4), 2),
        (ss.OUE(d=8, eps0=4), 2),
        (ss.RAPPOR(d=8, eps0=4), 2),
        (ss.HadamardResponse(K=16, eps0=4), 2),
        (ss.OLH(g=8, d=10, eps0=4), 2),
        (ss.SubsetSelection(d=10, w=3, eps0=4), 2),
        (ss.BLH(d=10, eps0=4), 0),
    ],
    ids=repr,
)
def test_the_catalogue(R, x):
    # What a search over all inputs and mixtures with certified values finds at n = 10⁴, δ = 10⁻⁶ (accounting.attacks).
    assert worst_datasets.ranked(R, 0, 1, q(27, 20))[0].x == x


def test_one_input_is_not_the_worst_for_three_users():
    R = ss.BinaryRR(eps0=sp.log(2))
    alike, *_ = worst_datasets.ranked(R, 0, 1)
    assert ground_truth.worst_pair(R, 3, 1).delta == q(5, 27)
    assert ground_truth.delta(R, *alike.datasets(3), 1) == q(4, 27)


def test_with_one_user_there_are_no_others():
    assert worst_datasets.ranked(ss.KRR(k=3, eps0=sp.log(3)), 0, 1)[0].datasets(1) == ((0,), (1,))


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: worst_datasets.ranked(ss.KRR(k=3, eps0=1), 0, 0), ValueError, "must be different"),
        (lambda: worst_datasets.ranked(ss.KRR(k=3, eps0=1), 0, 5), ValueError, "x1 must be an integer in"),
        (lambda: worst_datasets.ranked(ss.KRR(k=3), 0, 1), TypeError, "still symbolic"),
        (lambda: worst_datasets.ranked(ss.Laplace(eps0=1), 0, 1), TypeError, "finitely many messages"),
        (lambda: worst_datasets.ranked(ss.KRR(k=3, eps0=1), 0, 1, 0), ValueError, "alpha must be a number > 0"),
    ],
)
def test_what_is_no_question_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_an_exception_to_a_conjecture_is_told_and_counted(monkeypatch, capsys):
    few = [("2-RR", ss.BinaryRR(eps0=sp.log(3)), range(2, 4), [sp.Integer(1), sp.Integer(2)])]
    monkeypatch.setattr(conjectures, "checked_range", lambda: iter(few))
    assert conjectures.main() == 0
    told = capsys.readouterr().out
    assert "EXCEPTION" not in told
    assert ": 4 worst pairs" in told
    monkeypatch.setattr(conjectures, "exceptions", lambda rows, rule: rows[:1])
    assert conjectures.main() == 1
    assert "EXCEPTION" in capsys.readouterr().out


def test_conjectures_are_checked_from_one_up_to_the_largest_ratio():
    for _, R, users, alphas in conjectures.checked_range(most_users=4, steps=6):
        top = sp.exp(R.eps0)
        assert alphas == sorted(alphas)
        assert alphas[0] == 1
        assert alphas[-1] == top - (top - 1) / 6
        assert users.start == 2
        assert users.stop <= 5


def test_the_slope_of_a_score_is_that_of_its_formula():
    # Σ(a − b)³/c² over 6 Σ(a − b)²/c, less Σ(a − b)b/c
    for c, slope in (((q(1, 4), q(3, 4)), q(2, 9)), ((q(3, 4), q(1, 4)), q(10, 9))):
        masses = [(q(3, 4), q(1, 4), c[0]), (q(1, 4), q(3, 4), c[1])]
        assert worst_datasets._slope(masses) == slope
