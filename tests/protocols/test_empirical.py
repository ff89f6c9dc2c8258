"""Audits from samples: never against a sound implementation more often than they say, and soon against a broken one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from scipy import special

import shuffle_sym as ss
from shuffle_sym.protocols import Frequencies
from shuffle_sym.protocols.empirical import audits, readings, statistics

q = sp.Rational
LOPSIDED = ss.from_matrix([["1/2", "1/4", "1/4", 0], ["1/8", "5/8", 0, "1/4"], ["1/4", "1/4", "1/4", "1/4"]])


def krr(k, eps0):
    """k-RR as people write it."""
    gamma = k / (k + math.exp(eps0) - 1)
    return lambda x, rng: int(rng.integers(k)) if rng.random() < gamma else x


def pipeline(k, gamma):
    """n users of k-RR with the noise γ, shuffled."""
    return lambda X, rng: rng.permutation(np.where(rng.random(len(X)) < gamma, rng.integers(0, k, len(X)), X))


# ------------------------------------------------------------------------------------------- what a bound is


@pytest.mark.parametrize(("p", "r"), [(q(3, 4), q(1, 4)), (q(9, 10), q(1, 20)), (q(1, 2), q(1, 2))])
@pytest.mark.parametrize("delta", [0.0, 0.125])
def test_a_bound_is_wrong_with_probability_at_most_beta_over_all_counts(p, r, delta):
    size, beta = 9, 0.2
    laws = [[special.comb(size, k, exact=True) * x**k * (1 - x) ** (size - k) for k in range(size + 1)] for x in (p, r)]
    truth = max(float(sp.log((p - q(delta)) / r)), 0.0)
    wrong = Fraction(0)
    for k0, k1 in product(range(size + 1), repeat=2):
        if statistics.Bound("E", (k0, k1), (size, size), False, delta, beta).lower > truth + 1e-12:
            wrong += Fraction(int((laws[0][k0] * laws[1][k1]).p), int((laws[0][k0] * laws[1][k1]).q))
    assert wrong <= Fraction(beta)


def test_the_interval_of_the_estimate_contains_it_and_the_bound():
    for hits in [(0, 0), (5, 0), (90, 10), (100, 100), (100, 0)]:
        bound = statistics.Bound("E", hits, (100, 100), False, 0.0, 0.05)
        assert bound.interval.lower <= bound.lower <= bound.estimate <= bound.interval.upper


# ------------------------------------------------------------------------------------------- how messages are read

READ = [
    (ss.KRR(4, sp.log(3)), lambda R: np.arange(4)),
    (ss.OUE(3, sp.log(3)), lambda R: np.array([m for _, m in R.messages()], int)),
    (ss.RAPPOR(3, 2), lambda R: np.array([m for _, m in R.messages()], int)),
    (ss.SubsetSelection(4, 2, 1), lambda R: np.array([m for _, m in R.messages()], int)),
    (ss.HadamardResponse(8, 1), lambda R: np.arange(8)),
    (ss.randomizers.BlockHadamard(3, 4, 1), lambda R: np.arange(12)),
    (LOPSIDED, lambda R: np.arange(4)),
]


@pytest.mark.parametrize(("R", "every_message"), READ, ids=lambda e: repr(e) if isinstance(e, ss.Randomizer) else "")
def test_a_reading_has_the_likelihoods_and_the_probabilities_of_the_matrix(R, every_message):
    reading, messages = readings.reading_of(R), every_message(R)
    matrix = np.array(R.matrix().evalf(30), float)
    for x0, x1 in [(0, 1), (1, 2), (2, 0)]:
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.nan_to_num(np.log(matrix[x0]) - np.log(matrix[x1]), nan=0, posinf=np.inf, neginf=-np.inf)
        assert np.allclose(readings.ratios(reading, reading.check(messages, "m"), x0, x1), expected)
        assert reading.most(x0, x1) == pytest.approx(expected.max())
        # Each event holds in some columns, and has the probability of these.
        single = [list(reading.expected(messages[y : y + 1], x0, x1)) for y in range(len(messages))]
        for i, event in enumerate(single[0]):
            columns = [y for y in range(len(messages)) if single[y][i].count]
            assert event.probability == pytest.approx(matrix[x0][columns].sum(), abs=1e-14)


@pytest.mark.parametrize(
    ("R", "n"), [(ss.KRR(3, sp.log(3)), 4), (ss.BinaryRR(sp.log(2)), 5), (LOPSIDED, 3), (ss.KRR(3, 1), 1)], ids=repr
)
def test_the_score_of_a_run_is_the_exact_likelihood_ratio_of_its_multiset(R, n):
    matrix, reading = R.matrix(), readings.reading_of(R)
    for x0, x1, x in [(0, 1, R.input_count - 1), (1, 0, 0)]:
        laws = []
        for own in (x0, x1):
            law = Counter()
            for ys in product(range(matrix.shape[1]), repeat=n):
                law[tuple(sorted(ys))] += sp.Mul(matrix[own, ys[0]], *(matrix[x, y] for y in ys[1:]))
            laws.append(law)
        possible = [h for h in laws[0] if laws[0][h] != 0 or laws[1][h] != 0]
        messages = np.array(possible).reshape(-1)
        logs = np.stack([reading.log_likelihoods(messages, i).reshape(-1, n) for i in (x0, x1, int(x))])
        scores = audits.multiset_scores(logs)
        for h, score in zip(possible, scores, strict=True):
            first, second = float(laws[0][h]), float(laws[1][h])
            ratio = math.log(first / second) if first and second else math.inf if first else -math.inf
            assert score == pytest.approx(ratio, abs=1e-9)


# ------------------------------------------------------------------------------------------- sound ones


def test_equal_laws_are_convicted_no_more_often_than_beta():
    # 100 messages in a few hundred draws: an event that is tested where it was chosen convicts every time.
    rng, beta, audits = np.random.default_rng(5), 0.2, 120
    samples = rng.integers(0, 100, (audits, 2, 400))
    convicted = sum(ss.empirical.local(*pair, eps0=0, beta=beta).convicted for pair in samples)
    assert convicted <= audits * beta + 5 * math.sqrt(audits * beta * (1 - beta))


def test_sound_sequential_audits_say_nothing_wrong_more_often_than_beta():
    R, beta, audits = ss.KRR(3, 1), 0.3, 20
    wrong = 0
    for seed in range(audits):
        audit = ss.empirical.local(krr(3, 1), R=R, beta=beta, most=2_000, seed=seed)
        wrong += audit.convicted or not audit.consistent
    assert wrong <= audits * beta + 5 * math.sqrt(audits * beta * (1 - beta))


def test_a_sound_pipeline_stays_below_the_certified_upper_end():
    R = ss.BinaryRR(1)
    audit = ss.empirical.shuffled(pipeline(2, float(R.gamma)), R, 30, seed=2, most=2_000)
    assert not audit.convicted
    assert audit.lower <= audit.certified.upper
    assert "No violation seen" in str(audit)


@pytest.mark.parametrize(
    "R",
    [
        ss.KRR(5, sp.log(4)),
        ss.SubsetSelection(5, 2, 1),
        ss.RAPPOR(4, 2),
        ss.OUE(4, 1),
        ss.BLH(5, 1),
        ss.OLH(3, 4, 2),
        ss.HadamardResponse(8, 1),
    ],
    ids=repr,
)
def test_our_own_protocols_pass(R):
    P, rng = Frequencies(R), np.random.default_rng(3)

    def matches(y, x):
        if isinstance(R, ss.OLH):
            return P.encoding.hashes(np.ascontiguousarray(y["hash"]), x) == y["value"]
        return np.unpackbits(y, axis=1)[:, x] == 1 if y.ndim == 2 else readings.reading_of(R).matches(y, x)

    samples = [P.randomize(np.full(40_000, x), rng) for x in (0, 1)]
    audit = ss.empirical.local(*samples, R=R, matches=matches, beta=1e-4)
    assert audit.verdict == "no violation seen"
    assert audit.consistent
    assert audit.lower > 0.75 * float(R.eps0)


# ------------------------------------------------------------------------------------------- broken ones


@pytest.mark.parametrize("k", [2, 10])
def test_twenty_percent_too_much_is_found_in_two_hundred_thousand_messages(k):
    audit = ss.empirical.local(krr(k, 1.2), R=ss.KRR(k, 1), seed=7)
    assert audit.convicted
    assert 1 < audit.lower <= 1.2
    assert sum(audit.sizes) <= 200_000
    assert str(audit).startswith("Convicted: with confidence 95 % eps0 is at least 1.")


def test_a_wrong_bit_of_oue_is_found_and_named():
    # q = 1/(e + 1) was meant; every other bit is set half as often
    d, t = 6, math.e

    def sloppy(x, rng):
        bits = rng.random(d) < 1 / (t + 1) / 2
        bits[x] = rng.random() < 0.5
        return bits.astype(int)

    audit = ss.empirical.local(sloppy, R=ss.OUE(d, 1), seed=1)
    assert audit.convicted
    assert not audit.consistent
    assert "match" in audit.disagreements[0].words
    # It really is log(0.5/(1 − 0.5) · (1 − q)/q) with q = 0.134 in place of 0.269.
    assert audit.lower <= math.log((1 - 1 / (t + 1) / 2) / (1 / (t + 1) / 2))


def test_an_implementation_that_is_too_private_is_no_violation_and_not_r():
    audit = ss.empirical.local(krr(3, 0.5), R=ss.KRR(3, 1), seed=1, most=20_000)
    assert audit.verdict == "other messages"
    assert "not those of KRR" in str(audit)


def test_a_leak_in_a_message_that_r_sends_alike_is_found():
    # Messages 2 and 3 say nothing of 0 against 1 in 4-RR; here they tell all.
    def leaky(x, rng):
        y = krr(4, 1)(x, rng)
        return 2 + x if y >= 2 else y

    audit = ss.empirical.local(leaky, R=ss.KRR(4, 1), seed=1)
    assert audit.convicted
    assert audit.lower > 1.5


def test_half_the_noise_is_convicted_after_shuffling():
    R = ss.BinaryRR(1)
    said = []
    audit = ss.empirical.shuffled(pipeline(2, float(R.gamma) / 2), R, 100, seed=1, say=said.append)
    assert audit.convicted
    assert audit.lower > audit.certified.upper
    assert len(said) == 1
    assert said[0].startswith("At most 24,960 runs of 100 users on each of two datasets")


ORDERS = {
    "as they came": lambda messages, rng: messages,
    "backwards": lambda messages, rng: messages[::-1],
    "within batches of four": lambda messages, rng: rng.permuted(messages.reshape(-1, 4), axis=1).reshape(-1),
}


@pytest.mark.parametrize("order", ORDERS)
def test_messages_that_are_not_shuffled_are_convicted_by_their_places(order):
    R, n = ss.BinaryRR(1), 40
    gamma = float(R.gamma)

    def unshuffled(X, rng):
        return ORDERS[order](np.where(rng.random(n) < gamma, rng.integers(0, 2, n), X), rng)

    audit = ss.empirical.shuffled(unshuffled, R, n, seed=1, most=10_000)
    assert audit.convicted
    assert audit.lower <= 1  # what one message has at most
    assert "in places" in str(audit)
    assert "0 … 39" not in str(audit)


def test_sorted_messages_say_no_more_than_shuffled_ones():
    R = ss.BinaryRR(1)
    run = pipeline(2, float(R.gamma))
    audit = ss.empirical.shuffled(lambda X, rng: np.sort(run(X, rng)), R, 20, seed=1, most=1_500)
    assert not audit.convicted


@pytest.mark.parametrize("truth", [0.7, 2.0])
def test_without_a_randomizer_numbers_are_compared_by_thresholds(truth):
    rng = np.random.default_rng(1)
    samples = [x + rng.laplace(scale=1 / truth, size=30_000) for x in (0, 1)]
    audit = ss.empirical.local(*samples)
    assert 0.8 * truth < audit.lower <= truth
    assert audit.verdict == "no claim"
    assert ss.empirical.local(*samples, R=ss.Laplace(eps0=truth)).verdict == "no violation seen"


def test_at_a_delta_the_claim_is_that_of_one_user_at_that_delta():
    R, delta = ss.KRR(3, 1), 0.1
    audit = ss.empirical.local(krr(3, 1), R=R, delta=delta, seed=1, most=20_000)
    assert audit.claim == pytest.approx(ss.Shuffle(R, 1).epsilon(delta).upper)
    assert 0.5 * audit.claim < audit.lower <= audit.claim


def test_texts_and_rows_are_messages_too():
    rng = np.random.default_rng(1)
    words = [np.array(["yes", "no"])[(rng.random(5_000) < p).astype(int)] for p in (0.2, 0.8)]
    assert math.log(4) * 0.8 < ss.empirical.local(*words).lower <= math.log(4)
    rows = [np.stack([word == "yes", rng.random(5_000) < 0.5], axis=1).astype(int) for word in words]
    assert math.log(4) * 0.8 < ss.empirical.local(*rows).lower <= math.log(4)


# ------------------------------------------------------------------------------------------- before and after


def test_the_cost_is_about_what_it_takes():
    R, broken = ss.BinaryRR(1), ss.BinaryRR(1.3)
    cost = ss.empirical.cost(R, broken)
    audits = [ss.empirical.local(krr(2, 1.3), R=R, most=2 * cost.samples, seed=s).convicted for s in range(20)]
    few = [ss.empirical.local(krr(2, 1.3), R=R, most=cost.samples // 3, seed=s).convicted for s in range(20)]
    # 18 of 20 are expected; fewer than 11 has a chance of less than one in a hundred thousand at nine in ten.
    assert sum(audits) >= 11
    assert sum(few) < sum(audits)


def test_the_cost_of_an_audit_grows_with_the_users():
    R, broken = ss.BinaryRR(1), ss.BinaryRR(2)
    costs = [ss.empirical.cost(R, broken, n=n) for n in (50, 200, 800)]
    assert [cost.n for cost in costs] == [50, 200, 800]
    # The excess falls like 1/√n, so the runs grow like n.
    assert 2.5 < costs[1].samples / costs[0].samples < 6
    assert 2.5 < costs[2].samples / costs[1].samples < 6
    assert "runs of 800 users" in str(costs[2])


def test_looks_share_the_level_and_end_with_all_samples():
    for size in (100, 1_000, 10_000, 10**6):
        plan = statistics.looks_at(size)
        assert 1 <= plan.count <= 6
        assert size - 2**plan.count < 2**plan.count * plan.piece <= size


def test_an_audit_can_be_repeated_watched_and_kept():
    pieces = []
    first = ss.empirical.local(
        krr(3, 1), R=ss.KRR(3, 1), seed=4, most=2_000, progress=lambda p: (pieces.append(i) or i for i in p)
    )
    assert first == ss.empirical.local(krr(3, 1), R=ss.KRR(3, 1), seed=4, most=2_000)
    assert pieces == list(range(4))
    with pytest.raises(FrozenInstanceError):
        first.beta = 0.5


# ------------------------------------------------------------------------------------------- wrong arguments

R3 = ss.KRR(3, 1)
three = [0, 1, 2] * 5


def never(*_):
    pytest.fail("work was done before the argument was refused")


BAD = {
    "no messages": (lambda: ss.empirical.local([], [1] * 9), ValueError, ["sample0", "at least 8", "0"]),
    "one sample": (lambda: ss.empirical.local(three), ValueError, ["sample1 must be given"]),
    "two functions": (lambda: ss.empirical.local(never, never), ValueError, ["sample1 must be left out"]),
    "outside R": (lambda: ss.empirical.local(three, [3] * 9, R=R3), ValueError, ["sample1[0]", "0 … 2", "3"]),
    "bits": (lambda: ss.empirical.local(three, three, R=ss.OUE(3, 1)), ValueError, ["sample0", "rows of 3 bits"]),
    "ones": (
        lambda: ss.empirical.local([[1, 1, 0]] * 9, [[1, 1, 1]] * 9, R=ss.SubsetSelection(3, 2, 1)),
        ValueError,
        ["sample1[0]", "2 ones"],
    ),
    "ragged": (lambda: ss.empirical.local([[1], [1, 2]] * 9, three), ValueError, ["sample0", "one shape"]),
    "kinds": (lambda: ss.empirical.local(three, [[1, 2]] * 9), ValueError, ["one kind"]),
    "hashes": (lambda: ss.empirical.local(never, R=ss.OLH(3, 4, 1)), ValueError, ["matches must be given"]),
    "matches": (lambda: ss.empirical.local(never, matches=never), ValueError, ["matches", "R = None"]),
    "matches of a matrix": (lambda: ss.empirical.local(never, R=LOPSIDED, matches=never), TypeError, ["matches"]),
    "wrong matches": (
        lambda: ss.empirical.local(three, three, R=R3, matches=lambda y, x: y),
        ValueError,
        ["one bool for each of"],
    ),
    "two claims": (lambda: ss.empirical.local(never, R=R3, eps0=1), ValueError, ["eps0 must be left out"]),
    "no randomizer": (lambda: ss.empirical.local(never, R=3), TypeError, ["R must be a randomizer", "3"]),
    "symbols": (lambda: ss.empirical.local(never, R=ss.KRR(3)), TypeError, ["eps"]),
    "beta": (lambda: ss.empirical.local(never, R=R3, beta=1), ValueError, ["beta", "between 0 and 1", "1"]),
    "delta": (lambda: ss.empirical.local(never, R=R3, delta=-1), ValueError, ["delta", "-1"]),
    "most": (lambda: ss.empirical.local(never, R=R3, most=7), ValueError, ["most", "100", "7"]),
    "equal inputs": (lambda: ss.empirical.local(never, R=R3, inputs=(1, 1)), ValueError, ["inputs", "different"]),
    "no input": (lambda: ss.empirical.local(never, R=R3, inputs=(0, 5)), ValueError, ["inputs[1]", "0 … 2", "5"]),
    "one input": (lambda: ss.empirical.local(never, inputs=(0,)), ValueError, ["inputs must be two", "(0,)"]),
    "negative eps0": (lambda: ss.empirical.local(never, eps0=-1), ValueError, ["eps0", "-1"]),
    "n": (lambda: ss.empirical.shuffled(never, R3, 0), ValueError, ["n must be an integer >= 1", "0"]),
    "shuffled beta": (lambda: ss.empirical.shuffled(never, R3, 5, beta=0), ValueError, ["beta", "0"]),
    "shuffled delta": (lambda: ss.empirical.shuffled(never, R3, 5, delta=0), ValueError, ["delta", "0"]),
    "run": (lambda: ss.empirical.shuffled(3, R3, 5), TypeError, ["run must be a function", "3"]),
    "shuffled R": (lambda: ss.empirical.shuffled(never, ss.Laplace(1), 5), TypeError, ["R must be", "finitely"]),
    "runs": (lambda: ss.empirical.shuffled(never, R3, 5, most=3), ValueError, ["most", "40", "3"]),
    "nothing to see": (lambda: ss.empirical.shuffled(never, ss.KRR(3, 0), 5), ValueError, ["delta must be given"]),
    "infinitely many inputs": (lambda: ss.empirical.local(never, R=ss.OUE(sp.oo, 1)), ValueError, ["finitely many"]),
    "impossible messages": (lambda: ss.empirical.shuffled(never, LOPSIDED, 5), ValueError, ["delta must be given"]),
    "too few messages": (
        lambda: ss.empirical.shuffled(lambda X: X[:-1], R3, 5),
        ValueError,
        ["run must return 5 messages", "(4,)"],
    ),
    "foreign messages": (lambda: ss.empirical.shuffled(lambda X: [7] * 5, R3, 5), ValueError, ["run(X)", "0 … 2", "7"]),
    "cost of nothing": (lambda: ss.empirical.cost(R3, R3), ValueError, ["broken", "less private"]),
    "cost of a number": (lambda: ss.empirical.cost(R3, 3), TypeError, ["broken must be a randomizer", "3"]),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_argument_is_named_before_any_work(name):
    call, error, words = BAD[name]
    with pytest.raises(error) as refusal:
        call()
    for word in words:
        assert word in str(refusal.value)
