"""With two messages all datasets are known: against brute force."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.truth import ground_truth, two_messages
from shuffle_sym.truth.two_messages import DatasetPair, TwoMessages

q = sp.Rational
TWO = {
    "2-RR": ss.BinaryRR(eps0=sp.log(3)),
    "small eps0": ss.BinaryRR(eps0=sp.log(q(11, 10))),
    "lopsided": ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]),
    "lopsided, exchanged": ss.from_matrix([[0.2, 0.8], [0.7, 0.3]]),
    "proportional messages": ss.from_matrix([[q(1, 2), q(1, 4), q(1, 4)], [q(1, 10), q(9, 20), q(9, 20)]]),
    "a zero": ss.from_matrix([[1, 0], [q(1, 2), q(1, 2)]]),
    "three inputs": ss.from_matrix([[0.5, 0.5], [0.25, 0.75], [0.4, 0.6]]),
    "four inputs": ss.from_matrix([[0.3, 0.7], [0.5, 0.5], [0.45, 0.55], [0.2, 0.8]]),
}


@pytest.mark.parametrize("R", TWO.values(), ids=TWO.keys())
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_with_two_messages_all_datasets_are_known(R, n):
    truth = TwoMessages(R, n)
    for alpha in (q(1), q(21, 20), q(3, 2), q(2), q(29, 10)):
        exact_value, interval = ground_truth.worst_pair(R, n, alpha).delta, truth.delta(sp.log(alpha))
        assert exact_value in interval
        assert interval.width < 1e-11


@pytest.mark.parametrize("R", TWO.values(), ids=TWO.keys())
def test_the_composition_named_for_two_messages_has_that_divergence(R):
    n, alpha = 9, q(11, 10)
    truth = TwoMessages(R, n)
    worst = truth.delta(sp.log(alpha)).lower_by
    others = tuple(x for x, count in worst.others.items() for _ in range(count))
    value = ground_truth.delta(R, (worst.first, *others), (worst.second, *others), alpha)
    assert value == ground_truth.worst_pair(R, n, alpha).delta


def test_the_published_pair_of_2rr_is_below_the_truth_for_a_hundred_users():
    # Others all 0 (Koskela et al. 2021, Section 4) against 49 zeros and 50 ones, both with certified ends.
    R = ss.BinaryRR(eps0=4)
    published = max(shuffled_laws(ss.decomposition.dataset(R, 0, 1, x), 100).delta(0, rtol=1e-5).upper for x in (0, 1))
    assert TwoMessages(R, 100).delta(0).lower > 1.1 * published


@pytest.mark.exact
@pytest.mark.parametrize("t", [3, 10**6, 10**9 + 7])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_worst_of_all_datasets_is_inside_even_where_nearly_everything_cancels(t, n):
    # Next to ε0, D_α is a difference of two numbers that agree in 13 digits, and ε itself is rounded.
    R = ss.BinaryRR(eps0=sp.log(t))
    truth = TwoMessages(R, n)
    for i in range(1, 40):
        alpha = t * (1 - q(i, 10**13))
        assert ground_truth.worst_pair(R, n, alpha).delta in truth.delta(sp.log(alpha))


def test_of_pairs_that_are_equally_bad_the_first_is_named():
    # 2-RR: exchanging 0 and 1 everywhere changes nothing.
    assert TwoMessages(ss.BinaryRR(eps0=2), 100).delta(0.7).lower_by == DatasetPair(0, 1, {0: 98, 1: 1})


@pytest.mark.exact
def test_a_message_that_one_input_never_sends():
    R = ss.from_matrix([[1, 0], [q(1, 3), q(2, 3)]])
    for n in (1, 3):
        for alpha in (q(1), q(2), q(50)):
            assert ground_truth.worst_pair(R, n, alpha).delta in TwoMessages(R, n).delta(sp.log(alpha))


@pytest.mark.parametrize("log_tail", [-0.5, -2.0, -6.0])
def test_what_is_cut_off_two_messages_is_inside(monkeypatch, log_tail):
    monkeypatch.setattr(two_messages, "_LOG_TAIL", log_tail)
    for name in ("2-RR", "lopsided"):
        truth = TwoMessages(TWO[name], 20)
        assert truth._laws[4] > 1e-9
        for alpha in (q(1), q(6, 5)):
            assert shuffled_truth(TWO[name], 20, alpha) in truth.delta(sp.log(alpha))


def shuffled_truth(R, n, alpha):
    """The worst of all compositions of the others, from two binomial laws in fractions."""
    P = [[Fraction(int(x.p), int(x.q)) for x in row] for row in R.matrix().tolist()]
    number, best = Fraction(int(alpha.p), int(alpha.q)), Fraction(0)
    for j in range(n):
        others = [Fraction(1)]
        for p in [P[0][1]] * (n - 1 - j) + [P[1][1]] * j:
            others = [x * (1 - p) + y * p for x, y in zip([*others, 0], [0, *others], strict=True)]
        laws = [
            [x * (1 - p) + y * p for x, y in zip([*others, 0], [0, *others], strict=True)] for p in (P[0][1], P[1][1])
        ]
        for one, other in (laws, laws[::-1]):
            best = max(best, sum((max(x - number * y, Fraction(0)) for x, y in zip(one, other, strict=True))))
    return best


def test_the_roundings_of_two_messages_are_counted(monkeypatch):
    truth = TwoMessages(TWO["lopsided"], 30)
    own, other = (two_messages._binomials(30, p, 1 - p)[1] for p in (0.3, 0.8))
    f, _, _, error, _ = truth._laws
    # A convolution and two cumulated sums
    assert error >= (own + other) * 0.99 + 2 * f.shape[1] * UNIT_ROUNDOFF
    monkeypatch.setattr(two_messages, "UNIT_ROUNDOFF", 1e-5)
    exact, wide = ground_truth.worst_pair(TWO["lopsided"], 3, q(6, 5)).delta, TwoMessages(TWO["lopsided"], 3)
    interval = wide.delta(sp.log(q(6, 5)))
    assert interval.lower <= exact * (1 - 16e-5) < exact * (1 + 16e-5) <= interval.upper


def test_the_error_of_odds_is_in_the_laws_of_two_messages(monkeypatch):
    monkeypatch.setattr(two_messages, "_ODDS_ERROR", 1e-3)
    assert two_messages._binomials(30, 0.3, 0.7)[1] >= 9 * 1e-3  # so many steps from the mode to 0, each with one odds


@pytest.mark.parametrize("sign", [1, -1])
def test_probabilities_of_two_messages_that_are_off_leave_the_truth_inside(monkeypatch, sign):
    R, alpha, n = TWO["2-RR"], q(3, 2), 6
    exact_value, truth = ground_truth.worst_pair(R, n, alpha).delta, TwoMessages(R, n)
    f, below, above, _, outside = truth._laws
    off = 0.05  # what is gained and what is lost, each the worse way
    moved = f * (1 + sign * off), below * (1 - sign * off), above * (1 - sign * off), off / (1 - off), outside
    monkeypatch.setitem(vars(truth), "_laws", moved)
    assert exact_value in truth.delta(sp.log(alpha))


def test_the_roundings_of_sums_of_two_messages_are_counted(monkeypatch):
    monkeypatch.setattr(two_messages, "UNIT_ROUNDOFF", u := 1e-6)
    f, *_, error, _ = TwoMessages(TWO["2-RR"], 12)._laws
    assert error >= 2 * f.shape[1] * u  # so many terms of a convolution and of a tail


def test_a_largest_loss_of_1e_25_ends_at_itself_and_not_at_0():
    # ε0 is the logarithm of a number that no double tells from 1, and e^ε is less than 1 + ε + ε² here.
    R, eps = ss.from_matrix([[q(1, 2) + q(1, 10**25), q(1, 2) - q(1, 10**25)], [q(1, 2), q(1, 2)]]), q(1, 10**25)
    true = ground_truth.worst_pair(R, 2, 1 + eps + eps**2).delta
    assert 0 < true <= TwoMessages(R, 2).delta(eps).upper
    assert TwoMessages(R, 2).delta(3 * eps) == ss.Interval(0, 0, "two messages")
