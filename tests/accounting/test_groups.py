"""Users with different randomizers: every answer against brute force over all datasets, or against known figures."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise, permutations, product
from types import SimpleNamespace

import pytest
import sympy as sp

import shuffle_sym as ss
from checks import crowds as cases
from shuffle_sym.accounting import groups
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.randomizers.composed import Stacked, message_space
from shuffle_sym.truth import crowds
from shuffle_sym.truth.dropout import matrix_of

q = sp.Rational


@pytest.fixture(scope="module")
def ten() -> ss.Shuffle:
    return ss.Shuffle([(ss.KRR(k=10, eps0=1), 5_000), (ss.KRR(k=10, eps0=4), 5_000)])


@pytest.mark.parametrize("seed", range(10))
def test_every_dataset_of_a_small_crowd_is_between_the_ends(seed):
    rng = random.Random(seed)
    for alpha in (q(9, 10), q(1), q(11, 10)):
        assert cases.examined(cases.crowd(rng), alpha) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_curve_for_all_datasets_is_above_each_of_them_between_its_points_too(seed):
    M = cases.crowd(random.Random(seed))
    alphas = [1 + q(i, 30) for i in range(18)]
    ends = M._analysed.bound.hockey_sticks([Ratio(alpha=alpha) for alpha in alphas], 1e-3)
    assert all(M.exact(alpha) <= end.upper for alpha, end in zip(alphas, ends, strict=True))
    (sharp,) = M._analysed.hockey_sticks([Ratio(alpha=alphas[5])], 1e-3)
    assert ends[5].upper <= sharp.upper * 1.05


def test_users_with_a_larger_eps0_hide_among_those_with_a_smaller_one(ten):
    answer = ten.group(1).delta(0.1)
    assert answer.upper <= 6.44e-4  # 7.6e-3 if all have ε0 = 4
    assert answer.lower >= 6.35e-4
    assert str(answer.lower_by) == "0 against 1 in group 1, all others of group 0 2, all others of group 1 2"
    assert len(answer.lower_by.X0) == ten.n
    eps = ten.group(1).epsilon(1e-6)
    assert 0.2015 < eps.lower < eps.upper < 0.2030  # own group only: 0.559, all like this user: 0.381


def test_users_whose_messages_no_other_group_sends_are_as_private_as_among_themselves_and_one_is_not_at_all():
    """Each has 2-RR, one of them with messages of its own: there, shuffling does nothing."""
    two, eps = ss.BinaryRR(eps0=sp.log(3)), [0.1, 0.5, sp.log(2)]
    lonely = two.matrix().row_join(sp.zeros(2))
    others = lonely[:, [2, 3, 0, 1]]
    M = ss.Shuffle([(ss.from_matrix(lonely), 1), (ss.from_matrix(others), 99)])
    for answer, alone in zip(M.group(1).delta(eps), ss.Shuffle(two, 99).delta(eps), strict=True):
        assert 0.99 * alone.lower < answer.lower < alone.upper
        assert alone.lower < answer.upper < 1.01 * alone.upper
    for answer, alone in zip(M.delta(eps), ss.Shuffle(two, 1).delta(eps), strict=True):
        assert alone.lower * (1 - 1e-6) < answer.lower < answer.upper < alone.upper * (1 + 1e-6)


def test_the_worst_user_is_that_of_the_worst_group(ten):
    one, other = ten.group(0).epsilon(1e-6), ten.group(1).epsilon(1e-6)
    assert one.upper < other.lower
    assert ten.epsilon(1e-6) == other


def test_two_groups_of_binary_hashing_are_within_six_percent():
    M = ss.Shuffle([(ss.BLH(d=sp.oo, eps0=1), 5_000), (ss.BLH(d=sp.oo, eps0=4), 5_000)])
    answer = M.group(1).epsilon(1e-6)
    assert answer.upper_by == "weighted chairs"
    assert answer.upper <= 1.06 * answer.lower
    assert answer.upper < 0.0750


def test_one_round_more_and_the_other_answers(ten):
    one = ten.group(0)
    assert one.compose(4).epsilon(1e-6, rtol=0.1).lower > one.epsilon(1e-6).upper
    assert one.log_delta(0.02).upper == pytest.approx(float(sp.log(one.delta(0.02).upper)), rel=1e-3)
    assert one.log_delta(0.9).upper < -600
    many = ss.Shuffle([(ss.KRR(k=3, eps0=1), 10**6), (ss.KRR(k=3, eps0=2), 10**6)]).group(0)
    assert 0 < many.delta(0.5).upper < 1e-319  # hardly a double is smaller
    assert many.log_delta(0.5).upper < -1000
    assert "group(0)" in repr(one)


def test_two_rounds_of_the_worst_dataset_are_between_the_ends():
    """Two rounds with one dataset, outcome by outcome: no dataset is above the upper end, one is above the lower."""
    R, S, alpha = ss.BinaryRR(eps0=sp.log(3)), ss.BinaryRR(eps0=sp.log(2)), Fraction(11, 10)
    rows = [matrix_of(part) for part in (R, S)]
    largest = Fraction(0)
    for x, y in product(range(2), repeat=2):
        others = crowds.one_more(crowds.one_more({(0, 0): Fraction(1)}, rows[0][x]), rows[1][y])
        laws = [crowds.one_more(others, row) for row in rows[0]]
        for P, Q in permutations(laws, 2):
            twice = [{(g, h): L[g] * L[h] for g in L for h in L} for L in (P, Q)]
            largest = max(largest, crowds.divergence(*twice, alpha))
    answer = ss.Shuffle([(R, 2), (S, 1)]).group(0).compose(2).delta(sp.log(q(11, 10)))
    assert answer.lower <= largest <= answer.upper
    assert answer.lower > 0.8 * largest


@pytest.mark.parametrize("counts", [(3, 2), (1, 4)])
def test_groups_may_have_different_numbers_of_inputs(counts):
    two = ss.from_matrix([[q(1, 2), q(1, 4), q(1, 4)], [q(1, 4), q(1, 2), q(1, 4)]])
    five = ss.from_matrix([*two.rows(), [q(1, 4), q(1, 4), q(1, 2)], [q(1, 3)] * 3, [q(1, 5), q(2, 5), q(2, 5)]])
    for parts in (zip((two, five), counts, strict=True), zip((five, two), counts, strict=True)):
        assert cases.examined(M := ss.Shuffle([*parts]), q(11, 10)) == []
        assert M.epsilon(1e-3).lower > 0


ALONE, APART, COIN = [[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]], [[q(1, 4), q(3, 4), 0], [q(3, 4), q(1, 4), 0]]


@pytest.mark.parametrize(
    ("parts", "exact"),
    [
        ([(ALONE, 1), (APART, 3)], 1),  # nobody else sends what this user sends
        ([(ALONE, 3), (APART, 1)], 1),  # the others of this group send something, but always the same
        ([(COIN, 1), (APART, 3)], q(3, 4) - q(11, 10) * q(1, 4)),
        ([(COIN, 1), (ALONE, 3)], q(3, 4) - q(11, 10) * q(1, 4)),
    ],
)
def test_messages_that_none_of_the_others_can_hide_are_seen(parts, exact):
    M = ss.Shuffle([(ss.from_matrix(rows), count) for rows, count in parts]).group(0)
    answer = M.hockey_stick(q(11, 10))
    assert M.exact(q(11, 10)) == exact
    assert exact * (1 - 1e-9) <= answer.lower <= exact <= answer.upper
    assert answer.lower_by.X0[0] != answer.lower_by.X1[0]


def test_a_profile_of_groups_knows_the_mass_of_messages_that_prove_an_input():
    M = ss.Shuffle([(ss.from_matrix([[q(1, 2), 0, q(1, 2)], [0, q(1, 2), q(1, 2)]]), 1), (ss.from_matrix(APART), 5)])
    assert M.group(0).profile().delta(20).lower >= 0.499
    with pytest.raises(ValueError, match=r"delta = 0.001 is not reached by any eps"):
        M.epsilon(1e-3)


def test_groups_with_one_randomizer_are_one_group():
    R = ss.KRR(k=4, eps0=2)
    both = ss.Shuffle([(R, 300), (R, 700)])
    assert both.delta(0.1) == both.group(1).delta(0.1) == ss.Shuffle(R, 1_000).delta(0.1)


def test_the_order_of_groups_and_the_names_of_messages_do_not_matter():
    P, Q = [[q(1, 2), q(1, 2)], [q(1, 4), q(3, 4)]], [[q(2, 3), q(1, 3)], [q(1, 5), q(4, 5)]]
    turned = [row[::-1] for row in Q]
    exact = ss.Shuffle([(ss.from_matrix(P), 2), (ss.from_matrix(Q), 1)]).exact(q(11, 10))
    named = [(ss.from_matrix(turned, messages=["no", "yes"]), 1), (ss.from_matrix(P, messages=["yes", "no"]), 2)]
    M = ss.Shuffle(named)
    assert M.exact(q(11, 10)) == exact
    assert exact in M.hockey_stick(q(11, 10))
    assert "messages=['yes', 'no']" in repr(M)


def test_users_may_take_part_at_different_rates():
    R = ss.KRR(k=2, eps0=sp.log(3))
    M = ss.Shuffle([(ss.Sampled(R, q(1, 2)), 2), (ss.Sampled(R, 1), 2)])
    for alpha in (q(1), q(6, 5)):
        assert M.exact(alpha) in M.hockey_stick(alpha)


def test_classes_of_messages_and_their_list_give_the_same_laws():
    parts = [ss.SubsetSelection(d=4, w=2, eps0=sp.log(2)), ss.SubsetSelection(d=4, w=2, eps0=sp.log(5))]
    stacked = Stacked(parts)
    listed = ss.from_matrix(stacked.matrix())
    assert stacked.gamma == listed.gamma
    for x in (0, 1, 3, 4, 6):
        inputs = stacked.number(1, 0), stacked.number(1, 1), x
        values = [ss.Shuffle(ss.decomposition.dataset(R, *inputs), 3).exact(q(6, 5)) for R in (stacked, listed)]
        assert values[0] == values[1]


def test_bits_with_different_reference_laws_are_listed():
    parts = [ss.RAPPOR(d=3, eps0=2 * sp.log(2)), ss.RAPPOR(d=3, eps0=2 * sp.log(3))]
    assert message_space(parts[0]) == message_space(parts[1])
    assert Stacked(parts).gamma == ss.from_matrix(Stacked(parts).matrix()).gamma


def test_a_curve_over_colluders_in_one_group(ten):
    ends = [M.epsilon(1e-6).upper for M in ten.without([(0, 0), (2_500, 0), (5_000, 0)])]
    assert ends == sorted(ends)
    assert ends[-1] == ss.Shuffle(ss.KRR(k=10, eps0=4), 5_000).epsilon(1e-6).upper


def test_users_that_leave_are_counted_group_by_group():
    M = ss.Shuffle([(ss.BinaryRR(eps0=1), 5), (ss.BinaryRR(eps0=2), 3)])
    assert ss.Shuffle([(ss.BinaryRR(eps0=1), 5), (ss.BinaryRR(eps0=1), 3)]).n == 8
    assert [count for _, count in M.without((4, 0)).source] == [1, 3]
    with pytest.raises(ValueError, match=r"m\[1\] must be at most 3"):
        M.without((0, 4))
    with pytest.raises(ValueError, match=r"each of the 2 groups, as \(10, 0\), got 4"):
        M.without(4)


def test_the_work_of_all_datasets_is_that_of_all_users(monkeypatch):
    rows = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    work = 3 * 2**2 * 4  # datasets of 2 others, pairs of inputs, histograms of 3 users
    monkeypatch.setattr(crowds, "MOST_WORK", work)
    crowds.refuse_too_much([rows], [2], 0)
    monkeypatch.setattr(crowds, "MOST_WORK", work - 1)
    with pytest.raises(ValueError, match="of 3 users would be 48"):
        crowds.refuse_too_much([rows], [2], 0)


def test_sums_over_numbers_of_messages_have_room_for_their_roundings(monkeypatch):
    R = ss.KRR(k=3, eps0=1)
    pair = groups.CountedBlanket(groups.OneGroup([(R, 20), (R, 30)], 0), 0, 1)
    rng = random.Random(1)
    for _ in range(20):
        shares = sorted(rng.random() / 1000 for _ in range(300))
        steps = [(len(shares) - i, share) for i, share in enumerate(shares)]
        monkeypatch.setattr(type(pair.crowd.blanket_messages), "steps", lambda self, steps=steps: steps[::-1])
        values = {b: 2.0**-9 / b for b, _ in steps}
        monkeypatch.setattr(pair, "_of_messages", lambda b, ratios, *_, values=values: [values[b]] * len(ratios))
        monkeypatch.setattr(pair, "local", SimpleNamespace(hockey_sticks=lambda *_: [Interval(1.0, 1.0)]))
        (found,) = (answer.upper for answer in pair.hockey_sticks([Ratio(eps=sp.Integer(1))], 1e-3))
        exact, listed = Fraction(values[steps[0][0]]), steps[::-1]
        for (b, _), (after, fewer) in pairwise(listed):
            exact += max(Fraction(values[b]) - Fraction(values[after]), 0) * Fraction(fewer)
        assert exact <= found <= exact * (1 + Fraction(1, 10**11))


def test_groups_with_one_randomizer_are_one_group_of_all_their_users():
    R, other = ss.KRR(k=3, eps0=1), ss.KRR(k=3, eps0=2)
    assert ss.Shuffle([(R, 3), (R, 4)]).delta(0.5) == ss.Shuffle(R, 7).delta(0.5)
    merged = ss.Shuffle([(R, 3), (other, 5), (R, 4)]).without((1, 2, 0))
    assert [merged.n, merged._analysed.parts] == [12 - 3, ((R, 6), (other, 3))]
