"""Answers about the mechanism: the lower end is attained by two datasets, the upper end holds for all of them."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations, product
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.accounting import attacks, bounds, mechanism
from shuffle_sym.algebra import precise
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.papers.laws import shuffled_datasets
from shuffle_sym.truth import dropout, ground_truth
from shuffle_sym.truth.two_messages import TwoMessages
from shuffle_sym.truth.worst_datasets import candidates, chi

q = sp.Rational
R3 = ss.KRR(k=3, eps0=sp.log(3))
ALPHAS = [q(1, 3), q(9, 10), q(1), q(21, 20), q(3, 2), q(2)]
ASYMMETRIC = {
    "zeros": ss.from_matrix([[q(1, 2), q(1, 2), 0], [0, q(1, 3), q(2, 3)], [q(1, 4), q(1, 4), q(1, 2)]]),
    "nearly deterministic": ss.from_matrix(
        [[q(98, 100), q(1, 100), q(1, 100)], [q(1, 10**4), q(1, 10**4), q(9998, 10**4)]]
    ),
    "three unlike rows": ss.from_matrix([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2]]),
}


def fraction(number) -> Fraction:
    return Fraction(int(number.p), int(number.q)) if isinstance(number, sp.Rational) else precise.fraction(number)


# -- one round, against brute force over all datasets


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_worst_of_all_datasets_is_inside(randomizer, n):
    truths = [worst.delta for worst in ground_truth.worst_pairs(randomizer, n, ALPHAS)]
    for alpha, truth, answer in zip(ALPHAS, truths, ss.Shuffle(randomizer, n).hockey_stick(ALPHAS), strict=True):
        assert truth in answer, alpha


@pytest.mark.parametrize("R", ASYMMETRIC.values(), ids=ASYMMETRIC.keys())
@pytest.mark.parametrize("n", [2, 5])
def test_the_worst_of_all_datasets_is_inside_for_matrices_without_symmetry(R, n):
    truths = [worst.delta for worst in ground_truth.worst_pairs(R, n, ALPHAS)]
    for alpha, truth, answer in zip(ALPHAS, truths, ss.Shuffle(R, n).hockey_stick(ALPHAS), strict=True):
        assert truth in answer, alpha


def test_the_datasets_that_are_named_attain_the_lower_end(randomizer):
    for alpha in (q(21, 20), q(3, 2)):
        answer = ss.Shuffle(randomizer, 4).hockey_stick(alpha)
        by = answer.lower_by
        assert fraction(ground_truth.delta(randomizer, by.X0, by.X1, alpha)) >= Fraction(answer.lower)


@pytest.mark.parametrize(("n", "delta"), [(1, 0.3), (2, 0.05), (4, 0.01)])
def test_epsilon_brackets_that_of_the_worst_datasets(randomizer, n, delta):
    answer = ss.Shuffle(randomizer, n).epsilon(delta)
    below, above = (
        q(Fraction(math.exp(end))) * (1 + side * q(1, 10**9)) for end, side in ((answer.lower, -1), (answer.upper, 1))
    )
    if answer.lower > 0:
        assert ground_truth.worst_pair(randomizer, n, below).delta > delta
    assert ground_truth.worst_pair(randomizer, n, above).delta <= delta


@pytest.mark.parametrize("n", [30, 400])
def test_with_two_messages_the_truth_of_many_users_is_inside(n):
    R = ss.BinaryRR(eps0=2)
    truth = TwoMessages(R, n)
    for eps in (0.05, 0.2, 0.4):
        answer, worst = ss.Shuffle(R, n).delta(eps), truth.delta(eps)
        assert answer.lower <= worst.upper
        assert worst.lower <= answer.upper


# -- the drop-out bound by itself


@pytest.mark.parametrize("R", [*ASYMMETRIC.values(), R3, ss.BinaryRR(eps0=sp.log(5))], ids=[*ASYMMETRIC, "3", "2"])
@pytest.mark.parametrize("n", [3, 6])
def test_the_bound_in_doubles_is_above_the_exact_one(R, n):
    whole = bounds.prepared(R)
    for alpha in (q(1), q(11, 10), q(3, 2)):
        ends = [bounds.DropOutOfPair(whole, pair, n).hockey_sticks([Ratio(alpha=alpha)], 1e-3) for pair in whole.pairs]
        assert Fraction(max(end.upper for (end,) in ends)) >= fraction(dropout.worst_bound(R, n, alpha))


def test_a_bound_that_keeps_a_few_users_too_many_would_be_noticed():
    R, alpha = ss.BinaryRR(eps0=sp.log(2)), q(11, 10)
    whole, exact = bounds.prepared(R), fraction(dropout.worst_bound(R, 60, alpha))
    of_60, of_63 = (bounds.DropOutOfPair(whole, whole.pairs[0], n) for n in (60, 63))
    ((more,), (fewer,)) = (one.hockey_sticks([Ratio(alpha=alpha)], 1e-3) for one in (of_60, of_63))
    assert Fraction(fewer.upper) < exact <= Fraction(more.upper)


def test_a_bound_for_all_datasets_is_better_than_the_blanket_for_many_users():
    answer = ss.Shuffle(ss.BLH(d=100, eps0=4), 10_000).epsilon(1e-6)
    assert answer.upper_by.startswith("drop-out")
    assert answer.relative_width < 4e-3
    assert shuffled_laws(ss.BLH(d=100, eps0=4), 10_000).epsilon(1e-6).lower > 1.4 * answer.upper


def test_where_the_blanket_is_attained_nothing_better_is_looked_for():
    answer = ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000).epsilon(1e-6)
    assert (answer.upper_by, str(answer.lower_by)) == ("blanket", "0 against 1, all others 2")
    assert answer.relative_width < 1e-3


def test_a_delta_of_zero_is_by_the_largest_loss():
    assert ss.Shuffle(R3, 5).delta(2).upper_by == "the largest loss"
    assert ss.Shuffle(R3, 5).delta(2) == ss.Interval(0, 0)


def test_epsilon_is_never_above_the_local_level():
    assert ss.Shuffle(ss.BLH(d=10, eps0=4), 100).epsilon(1e-6).upper == 4
    assert ss.Shuffle(ss.decomposition.clones(8), 1000).epsilon(1e-6).upper <= 8


def test_pairs_with_one_blanket_and_other_laws_are_kept_apart():
    # The blanket of (0, 1) and of (2, 3) is the same; what the others can do is not.
    rows = [[q(4, 8), q(2, 8), q(1, 8), q(1, 8)], [q(2, 8), q(4, 8), q(1, 8), q(1, 8)]]
    mirrored = [row[::-1] for row in rows]
    R = ss.from_matrix([*rows, *mirrored, [q(1, 8), q(2, 8), q(3, 8), q(2, 8)]])
    known = [frozenset(pair.laws) for pair in bounds.prepared(R).pairs]
    for x0, x1 in R.pairs():
        assert frozenset(D for _, D in candidates(R, x0, x1)) in known


def test_below_one_the_datasets_are_named_in_the_order_that_attains_it():
    R, alpha = ASYMMETRIC["three unlike rows"], q(4, 5)
    answer = ss.Shuffle(R, 4).hockey_stick(alpha)
    attained = fraction(ground_truth.delta(R, answer.lower_by.X0, answer.lower_by.X1, alpha))
    assert Fraction(answer.lower) <= attained <= Fraction(answer.upper)
    assert attained > fraction(ground_truth.delta(R, answer.lower_by.X1, answer.lower_by.X0, alpha))
    assert answer.upper_by == "all datasets"


def test_an_epsilon_of_zero_is_by_the_largest_loss_only_where_there_is_no_loss():
    alike = ss.from_matrix([[q(1, 3), q(2, 3)]] * 2)
    assert ss.Shuffle(alike, 10).epsilon(0.1).upper_by == "the largest loss"
    answer = ss.Shuffle(ss.BLH(d=10, eps0=2), 10**6).epsilon(0.3)
    assert (answer.upper, answer.upper_by) == (0, "blanket")


def test_inputs_that_cannot_be_told_apart_have_no_loss_anywhere():
    M = ss.Shuffle(ss.from_matrix([[q(1, 3), q(2, 3)]] * 2), 3)
    profile = M.profile()
    assert (str(profile.delta(0)), str(profile.epsilon(0.1))) == ("[0, 0]", "[0, 0]")
    assert M.compose(2).epsilon(1e-6) == M.rdp(2) == ss.Interval(0, 0)


def test_the_upper_curve_ends_at_the_largest_loss_of_all_pairs():
    # The dataset with the largest χ belongs to a pair of inputs whose losses are smaller than those of another one.
    R, n = ss.from_matrix([[q(2, 3), q(1, 3)], *[[q(1, 2), q(1, 2)]] * 3]), 8
    profile = ss.Shuffle(R, n).profile(rtol=0.05, least_delta=1e-3)
    assert profile.ends_at_zero
    moment = ground_truth.worst_moments(R, n, [2])[0].moment
    assert math.log(moment) in profile.rdp(2)
    assert profile.delta(sp.log(3)) == ss.Interval(0, 0)


def test_a_large_eps0_is_answered_between_the_attack_and_the_largest_loss():
    R, n = ss.BinaryRR(eps0=sp.log(10**13)), 10**11
    M, attack = ss.Shuffle(R, n), ss.Shuffle(ss.decomposition.dataset(R, 0, 1, 0), n)
    assert attack.epsilon(1e-6).lower <= M.epsilon(1e-6).upper <= 29.94
    assert all(M.delta(eps).upper >= M.one_sided("attack", sp.sympify(eps), 1e-3).lower for eps in (0, 20, 29))


def test_a_mechanism_has_no_one_decomposition():
    with pytest.raises(TypeError, match="blankets"):
        ss.Shuffle(R3, 5).decompositions  # noqa: B018 (a property)


# -- rounds, the other way round, exact values


def test_rounds_of_every_dataset_are_below_the_upper_end_and_those_of_one_above_the_lower():
    n, rounds, alpha = 3, 2, q(3, 2)
    answer = ss.Shuffle(R3, n).compose(rounds).delta(sp.log(alpha))
    values = []
    for x0, x1, *others in product(range(3), repeat=n + 1):
        if x0 != x1:
            pair = shuffled_datasets(R3, (x0, *others), (x1, *others))
            values.append(ss.truth.exact.composed_divergence([pair] * rounds, alpha))
    assert answer.lower <= fraction(sp.Rational(max(values))) <= answer.upper


def test_a_profile_ends_at_zero_although_the_worst_datasets_lose_less_than_the_largest_loss():
    # Messages 2 and 3 are rare and tell inputs 1 and 2 apart best; 0 against 1 is worse for many users.
    R = ss.from_matrix(
        [["0.7", "0.28", "0.01", "0.01"], ["0.3", "0.68", "0.01", "0.01"], ["0.5", "0.48", "0.019", "0.001"]]
    )
    M = ss.Shuffle(R, 200)
    profile = M.profile(rtol=0.5)
    assert profile.ends_at_zero
    assert M.rdp(2, rtol=0.5).upper > 0
    for eps in (0.05, 0.3, 1.0, 2.0):
        sure = M.delta(eps)
        assert profile.delta(eps).lower <= sure.upper
        assert sure.lower <= profile.delta(eps).upper


def test_users_that_are_enough_and_users_that_are_not():
    R, target = ss.BinaryRR(eps0=4), 1e-6
    n = ss.users_needed(R, eps=0.4, delta=target)
    assert ss.Shuffle(R, int(n.upper)).delta(0.4, rtol=1e-5).upper <= target
    fewer = ss.Shuffle(R, int(n.lower) - 1).delta(0.4, rtol=1e-5)
    assert fewer.lower > target
    assert n.upper < 7_000  # the blanket asks for 10,495


def test_one_user_is_enough_where_delta_is_the_target_itself():
    assert ss.users_needed(ss.BinaryRR(eps0=sp.log(3)), eps=sp.log(2), delta=0.25) == ss.Interval(1, 1)


def test_a_level_that_meets_the_target_and_one_that_misses_it():
    eps0 = ss.calibrate(ss.BinaryRR, n=10_000, eps=0.4, delta=1e-6)
    assert ss.Shuffle(ss.BinaryRR(eps0=eps0.lower), 10_000).delta(0.4, rtol=1e-5).upper <= 1e-6
    assert ss.Shuffle(ss.BinaryRR(eps0=eps0.upper), 10_000).delta(0.4, rtol=1e-5).lower > 1e-6
    assert eps0.lower > 4.2  # the blanket stops at 3.956


def test_exact_is_the_maximum_over_all_datasets(randomizer):
    alpha = q(6, 5)
    truth = ground_truth.worst_pair(randomizer, 3, alpha).delta
    assert ss.Shuffle(randomizer, 3).exact(alpha) == truth
    assert shuffled_laws(randomizer, 3).exact(alpha) >= truth


def test_saved_profiles_of_the_old_meaning_are_refused():
    text = ss.Shuffle(R3, 3).profile(rtol=0.05).to_json()
    assert ss.accounting.PrivacyProfile.from_json(text).to_json() == text
    with pytest.raises(ValueError, match="privacy profile 2"):
        ss.accounting.PrivacyProfile.from_json(text.replace("profile 2", "profile 1"))


# -- the normal limit


def test_in_the_normal_limit_no_composition_is_worse_than_equal_others():
    # v' (Σ w_x Σ_x)^+ v <= max χ(x) for random matrices and random shares.
    rng = np.random.default_rng(1)
    for _ in range(200):
        P = rng.dirichlet(np.ones(4), size=3)
        w, v = rng.dirichlet(np.ones(3)), P[0] - P[1]
        covariance = sum(share * (np.diag(row) - np.outer(row, row)) for share, row in zip(w, P, strict=True))
        value = v @ np.linalg.pinv(covariance) @ v
        assert value <= max(float(np.sum(v**2 / row)) for row in P) * (1 + 1e-9)


def test_the_limit_of_the_gap_of_the_blanket_is_the_ratio_of_two_formulas():
    # BLH: χ of equal others is (1 + 1/t)/2 of the blanket's, with d = oo; ε goes like the square root of χ.
    R = ss.BLH(d=sp.oo, eps0=sp.log(9))
    blanket = chi(ss.decomposition.blanket(R))
    for x in (0, 1, 2):
        assert chi(ss.decomposition.dataset(R, 0, 1, x)) == blanket * (1 + q(1, 9)) / 2


def test_the_normal_limit_is_the_limit_of_the_certified_values():
    D = ss.decomposition.dataset(ss.KRR(k=10, eps0=4), 0, 1, 2)
    for n, close in ((10**6, 0.02), (10**9, 0.001)):
        delta = 0.01 / math.sqrt(n)  # far enough down that ε is not 0
        value = ss.Shuffle(D, n).epsilon(delta)
        assert math.isclose(attacks.gaussian_epsilon(float(chi(D)), n, delta), value.upper, rel_tol=close)


def test_hadamard_response_is_attacked_with_the_row_that_is_the_sum_of_two():
    # Rows 1 and 2 are the inputs 0 and 1; row 3 is their sum, and matches exactly where both or none of them match.
    by = ss.Shuffle(ss.HadamardResponse(K=16, eps0=4), 2000).delta(0.3).lower_by
    assert str(by) == "0 against 1, all others 2"


def test_continuous_noise_has_datasets_below_and_a_bound_above():
    answer = ss.Shuffle(ss.Laplace(eps0=2), 200).epsilon(1e-3, rtol=1e-2)
    assert 0 < answer.lower < answer.upper
    assert answer.upper_by == "drop-out"
    # Cells lose: more of them, a larger divergence.
    coarse, fine = (ss.Laplace(eps0=2).dataset(0, cells) for cells in (4, 32))
    assert ss.Shuffle(coarse, 200).delta(0.1).lower < ss.Shuffle(fine, 200).delta(0.1).upper


def test_with_two_messages_the_answer_is_from_all_datasets_unless_it_is_close_already():
    wide = ss.Shuffle(
        ss.from_matrix([[sp.Rational(7, 10), sp.Rational(3, 10)], [sp.Rational(1, 5), sp.Rational(4, 5)]]), 6
    ).delta(sp.log(sp.Rational(21, 20)))
    assert wide.upper_by == "all datasets"
    assert wide.relative_width < 1e-4
    close = ss.Shuffle(ss.from_matrix([[1, 0], [sp.Rational(1, 2), sp.Rational(1, 2)]]), 6).delta(
        sp.log(sp.Rational(3, 2))
    )
    assert close.upper_by == "blanket"
    assert sp.Rational(1, 2) in close


def test_upper_ends_of_a_curve_for_two_messages_are_those_of_all_datasets(monkeypatch):
    R, ratios = ss.BinaryRR(eps0=sp.log(3)), [Ratio(alpha=alpha) for alpha in (sp.Rational(6, 5), sp.Integer(2))]
    few = mechanism.Mechanism(R, 5)
    for ratio, answer in zip(ratios, few.bound.hockey_sticks(ratios, 1e-3), strict=True):
        exact = ss.ground_truth.worst_pair(R, 5, ratio.alpha).delta
        assert exact <= sp.Rational(answer.upper) <= exact * (1 + sp.Rational(1, 10**9))
    # Where doubles do not say what the worst dataset has, from bounds, and so with a method that somebody asked for
    others = mechanism.ask([("upper", few.bounds)], ratios, 1e-3)
    truths = {ratios[0].eps: Interval(0.0, 1.0), ratios[1].eps: few.every_dataset.truth.delta(ratios[1].eps)}
    monkeypatch.setattr(few.every_dataset, "truth", SimpleNamespace(delta=truths.__getitem__))
    found = [answer.upper for answer in few.bound.hockey_sticks(ratios, 1e-3)]
    assert found == [others[0].upper, truths[ratios[1].eps].upper]
    by_name = [answer.upper for answer in few.bound.hockey_sticks(ratios, 1e-3, "contour")]
    assert by_name == pytest.approx([answer.upper for answer in others], rel=1e-3)


# ------------------------------------------------------------------------------------------- which datasets are tried

SEEN = [[q(1, 20), q(3, 20), q(16, 20)], [q(5, 20), q(3, 20), q(12, 20)], [q(10, 20), q(10, 20), 0]]
BETWEEN = [[q(i, 20), q(3, 20), q(17 - i, 20)] for i in (2, 3, 4)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_message_that_nobody_else_sends_is_found_whatever_the_order_of_the_inputs(order):
    """If all others have the third input, only the first user sends the third message: with probability 4/5."""
    rows = [SEEN[i] for i in order]
    answer = ss.Shuffle(ss.from_matrix([*rows[:2], *BETWEEN, rows[2]]), 10**6).delta(0.1)
    assert answer.lower <= 0.8 <= answer.upper
    assert answer.relative_width < 1e-4


@pytest.mark.parametrize("seed", range(12))
def test_few_users_are_attacked_by_the_worst_of_all_datasets_with_equal_others(seed):
    rng = random.Random(seed)
    weights = [[rng.choice([0, 1, 2, 3, 5, 8]) for _ in range(4)] for _ in range(3)]
    R, n = ss.from_matrix([[q(w + (j == 0), sum(row) + 1) for j, w in enumerate(row)] for row in weights]), 5
    alpha = rng.choice([q(11, 10), q(3, 2)])
    pairs = [(x0, x1, x) for x0, x1, x in product(range(3), repeat=3) if x0 != x1]
    datasets = [ss.ground_truth.delta(R, (x0, *(x,) * (n - 1)), (x1, *(x,) * (n - 1)), alpha) for x0, x1, x in pairs]
    assert fraction(max(datasets)) * (1 - Fraction(1, 500)) <= Fraction(ss.Shuffle(R, n).hockey_stick(alpha).lower)


@pytest.mark.parametrize("seed", range(8))
def test_all_datasets_of_few_users_are_the_answer(seed):
    rng = random.Random(seed)
    weights = [[rng.choice([0, 1, 2, 3, 5, 8]) for _ in range(3)] for _ in range(3)]
    R, n = ss.from_matrix([[q(w + (j == 1), sum(row) + 1) for j, w in enumerate(row)] for row in weights]), 4
    M, alpha = ss.Shuffle(R, n), rng.choice([q(11, 10), q(3, 2), q(4, 5)])
    answer, exact = M.hockey_stick(alpha), M.exact(alpha)
    assert exact in answer
    assert answer.relative_width <= 1e-3
    named = ss.ground_truth.delta(R, answer.lower_by.X0, answer.lower_by.X1, alpha)
    assert answer.lower <= named <= exact
    positive = ss.from_matrix([[q(w + 1, sum(row) + 3) for w in row] for row in weights])
    M = ss.Shuffle(positive, n)
    eps = M.epsilon(0.01)
    assert eps.relative_width <= 4e-3
    assert M.exact(eps=q(eps.upper)) <= q(1, 100)
    assert eps.lower == 0 or M.exact(eps=q(eps.lower * (1 - 1e-9))) > q(1, 100)


def test_all_datasets_are_not_multiplied_out_where_that_takes_long():
    many = mechanism.FewDatasets(ss.from_matrix([[q(1, 2), q(1, 4), q(1, 4)], [q(1, 4)] * 2 + [q(1, 2)]]), 30)
    assert many.hockey_sticks([Ratio(alpha=q(6, 5))], 1e-3) == [Interval(0.0, 1.0)]
    assert many.epsilon(0.1, 1e-3).lower == 0
    listed = mechanism.FewDatasets(ss.OUE(d=256, eps0=2), 3)  # whose inputs and messages cannot be listed
    assert listed.hockey_sticks([Ratio(alpha=q(6, 5))], 1e-3) == [Interval(0.0, 1.0)]


# --------------------------------------------------------------------------------------- messages that prove an input

PROVING = [[q(1, 2), q(1, 4), q(1, 4), 0], [q(1, 4), q(1, 4), q(1, 4), q(1, 4)]]


@pytest.mark.parametrize(
    ("M", "words"),
    [
        (
            ss.Shuffle(ss.from_matrix(PROVING), n=1_000),
            r"message 3 is impossible for input 0, so δ\(ε\) ≥ 0.25 for every",
        ),
        (
            ss.Shuffle(ss.from_matrix([[1, 0, 0], [q(1, 3), 0, q(2, 3)]]), n=10),
            "message 2 is .*, so δ.ε. ≥ 0.666666 for",
        ),
        (
            ss.Shuffle(ss.from_matrix([[q(1, 2), q(1, 2), 0], [1, 0, 0], [q(4, 5), 0, q(1, 5)]]), n=10),
            "message 1 .*0.5 ",
        ),
        (ss.Shuffle(ss.from_matrix([[1, 0, 0], [q(1, 2), q(1, 4), q(1, 4)]]), n=10), "messages 1, 2 are .*≥ 0.5 for"),
        (ss.Shuffle(ss.from_matrix(PROVING), n=10).sampled_from(20), "message 3 .*, so δ.ε. ≥ 0.125 for every"),
        (ss.Shuffle(ss.Sampled(ss.from_matrix(PROVING), q(1, 10)), n=10), "message 3 is .*, so δ.ε. ≥ 0.025 for every"),
    ],
)
def test_a_delta_below_the_probability_of_proof_is_refused_with_the_message_that_proves(M, words):
    """Nobody else can send the message if all of them have the input for which it is impossible."""
    with pytest.raises(ValueError, match=words):
        M.epsilon(1e-6)


def test_the_delta_that_is_refused_is_the_limit_of_exact_values_and_one_above_it_has_an_epsilon():
    M = ss.Shuffle(ss.from_matrix(PROVING), n=3)
    assert M.exact(10**9) == q(1, 4)
    assert M.epsilon(0.2501).upper < 5
    with pytest.raises(ValueError, match=r"no ε meets delta = 0\.2499"):
        M.epsilon(0.2499)


def test_an_upper_end_of_one_has_a_name_too():
    for n in (1, 2, 1_000):
        answer = ss.Shuffle(ss.from_matrix([[1, 0], [0, 1]]), n).delta(0.5)
        assert answer.lower <= 1 == answer.upper
        assert answer.upper_by in ("local randomizer", "all datasets")
    assert ss.Shuffle(ss.KRR(k=3, eps0=30), 40).delta(1).upper_by == "local randomizer"
