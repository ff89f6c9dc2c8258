"""Protocols: what is sent has the law of the randomizer, what is estimated has the derived error."""

from __future__ import annotations

import math
import time
import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.papers import bounds
from shuffle_sym.papers.balle2019 import protocols as derived
from shuffle_sym.protocols import Frequencies, Histogram, Sum, shuffle, smallest_gamma
from shuffle_sym.protocols.summation import worst_message_variance

q = sp.Rational
ORACLES = [
    ss.KRR(5, sp.log(4)),
    ss.BinaryRR(1),
    ss.SubsetSelection(5, 2, sp.log(4)),
    ss.RAPPOR(4, 2),
    ss.OUE(4, sp.log(3)),
    ss.BLH(5, 1),
    ss.OLH(g=3, d=4, eps0=2),
    ss.HadamardResponse(8, sp.log(3)),
]
oracles = pytest.mark.parametrize("R", ORACLES, ids=repr)


def rng(seed=0):
    return np.random.default_rng(seed)


def five_deviations(p, count):
    """Below one chance in a million: a frequency of ``count`` draws strays farther than this from p."""
    return 5 * math.sqrt(p * (1 - p) / count) + 1e-12


# ------------------------------------------------------------------------------------------- what is sent


def numbered(R, P, messages):
    """The column of R's matrix that each message stands for."""
    if isinstance(R, (ss.RAPPOR, ss.OUE)):
        bits = np.unpackbits(messages, axis=1, count=P.inputs)
        return (1 - bits) @ (2 ** np.arange(P.inputs)[::-1])  # the list of messages begins with all ones
    if isinstance(R, ss.SubsetSelection) and not isinstance(R, ss.KRR):
        bits = np.unpackbits(messages, axis=1, count=P.inputs)
        numbers = {tuple(map(int, match)): i for i, (_, match) in enumerate(R.messages())}
        return np.array([numbers[tuple(row)] for row in bits.tolist()])
    return messages.astype(int)


@pytest.mark.parametrize("R", [R for R in ORACLES if not isinstance(R, ss.OLH)], ids=repr)
def test_messages_have_the_law_of_the_matrix(R):
    P, count = Frequencies(R), 100_000
    matrix = np.array(R.matrix().evalf(20), dtype=float)
    for x in range(P.inputs):
        columns = numbered(R, P, P.randomize(np.full(count, x), rng(x)))
        found = np.bincount(columns, minlength=matrix.shape[1]) / count
        for y, p in enumerate(matrix[x]):
            assert abs(found[y] - p) <= five_deviations(p, count)


@pytest.mark.parametrize("x", [0.0, 0.05, 0.3, 0.61, 1.0])
def test_messages_of_a_sum_have_the_law_of_algorithm_2(x):
    k, gamma, count = 4, 0.2, 100_000
    law = np.full(k + 1, gamma / (k + 1))
    cell = math.floor(k * x)
    law[cell] += (1 - gamma) * (1 - (k * x - cell))
    law[min(cell + 1, k)] += (1 - gamma) * (k * x - cell)
    found = np.bincount(Sum(k, gamma).randomize(np.full(count, x), rng(11)), minlength=k + 1) / count
    for y, p in enumerate(law):
        assert abs(found[y] - p) <= five_deviations(p, count)


@oracles
def test_a_message_matches_its_input_with_p_and_any_other_with_q(R):
    P, count = Frequencies(R), 100_000
    for x in range(P.inputs):
        found = P.encoding.support(P.randomize(np.full(count, x), rng(x))) / count
        for other in range(P.inputs):
            p = P.p if other == x else P.q
            assert abs(found[other] - p) <= five_deviations(p, count)


@pytest.mark.exact
@pytest.mark.parametrize("R", [R for R in ORACLES if not isinstance(R, ss.OLH)], ids=repr)
def test_p_and_q_are_sums_over_the_matrix(R):
    P = Frequencies(R)
    rows, matches = R.matrix().evalf(30), [match for _, match in R.messages()]
    for x, other in product(range(P.inputs), repeat=2):
        total = sum(rows[x, y] for y, match in enumerate(matches) if match[other])
        assert float(total) == pytest.approx(P.p if x == other else P.q, rel=1e-14)


@pytest.mark.parametrize("R", [R for R in ORACLES if not isinstance(R, ss.OLH)], ids=repr)
def test_support_is_counted_as_the_definition_says(R):
    P = Frequencies(R)
    messages = P.randomize(rng(1).integers(0, P.inputs, 300), rng(2))
    matches = np.array([match for _, match in R.messages()])
    assert np.array_equal(P.encoding.support(messages), matches[numbered(R, P, messages)].sum(axis=0))


def test_hashes_of_different_inputs_are_independent():
    P, count = Frequencies(ss.OLH(g=4, d=3, eps0=1)), 200_000
    numbers = rng(5).integers(0, 2**64, count, dtype=np.uint64)
    first, second = (P.encoding.hashes(numbers, x).astype(int) for x in (0, 1))
    joint = np.bincount(4 * first + second, minlength=16) / count
    assert np.all(np.abs(joint - 1 / 16) <= five_deviations(1 / 16, count))


def test_ten_million_users_take_less_than_ten_seconds_and_a_gigabyte():
    values = rng().integers(0, 1000, 10**7)
    P, S = Histogram(1000, 0.01), Sum(60, 0.001)
    for protocol, data in ((P, values), (S, values / 1000)):
        tracemalloc.start()
        start = time.process_time()
        protocol.run(data, rng(1))
        assert time.process_time() - start < 10
        assert tracemalloc.get_traced_memory()[1] < 10**9
        tracemalloc.stop()


# ------------------------------------------------------------------------------------------- the shuffler


@oracles
def test_the_analyzer_gets_the_same_messages_in_an_order_that_says_nothing(R):
    P = Frequencies(R)
    messages = P.randomize(np.arange(2000) % P.inputs, rng(3))
    mixed = shuffle(messages, rng(4))
    assert mixed.shape == messages.shape
    assert sorted(m.tobytes() for m in mixed) == sorted(m.tobytes() for m in messages)
    assert not np.array_equal(mixed, messages)
    before, after = P.estimate(messages), P.estimate(mixed)
    assert np.array_equal(before.values, after.values)
    assert np.array_equal(before.standard_errors, after.standard_errors)


def test_every_order_is_equally_likely():
    generator, count = rng(6), 24_000
    seen: dict[bytes, int] = {}
    for _ in range(count):
        key = shuffle(np.arange(4, dtype=np.uint8), generator).tobytes()
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 24
    assert all(abs(times / count - 1 / 24) <= five_deviations(1 / 24, count) for times in seen.values())


# ------------------------------------------------------------------------------------------- randomness


@pytest.mark.parametrize("P", [Histogram(50, 0.1), Sum(20, 0.05), *map(Frequencies, ORACLES[2:])], ids=repr)
def test_a_seeded_generator_gives_the_same_result_twice_and_no_generator_another(P):
    values = np.zeros(3000) if isinstance(P, Sum) else np.zeros(3000, int)
    one, two, three, four = (P.run(values, g) for g in (rng(9), rng(9), None, None))
    assert np.array_equal(one.values, two.values)
    assert not np.array_equal(three.values, four.values)


# ------------------------------------------------------------------------------------------- errors, derived


@pytest.mark.exact
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("gamma", [Fraction(1, 10), Fraction(2, 3)])
def test_the_variance_of_a_message_is_the_one_of_its_law(k, gamma):
    for x in (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
        cell = math.floor(k * x)
        rest = k * x - cell
        law = {y: gamma / (k + 1) for y in range(k + 1)}
        law[cell] += (1 - gamma) * (1 - rest)
        if rest:
            law[cell + 1] += (1 - gamma) * rest
        mean = sum(p * Fraction(y, k) for y, p in law.items())
        variance = sum(p * (Fraction(y, k) - mean) ** 2 for y, p in law.items())
        values = {derived.gamma: q(gamma), derived.k: k, derived.rest: q(rest), derived.x: q(x)}
        assert derived.MESSAGE_VARIANCE.subs(values) == q(variance)
        assert (mean - gamma / 2) / (1 - gamma) == x


@pytest.mark.parametrize(("k", "gamma"), [(1, 0.3), (5, 0.05), (5, 0.9), (40, 0.001), (40, 0.2)])
def test_the_worst_input_is_the_worst_of_a_fine_grid(k, gamma):
    P = Sum(k, gamma)
    grid = [P.variance([x]) for x in np.linspace(0, 1, 40 * k + 1)]
    worst = P.worst_variance(1)
    assert max(grid) <= worst * (1 + 1e-12)
    assert max(grid) >= worst * (1 - 0.02)
    printed = ((1 - gamma) / (4 * k**2) + gamma / 2) / (1 - gamma) ** 2
    assert worst <= printed


@oracles
def test_the_variance_of_counts_is_the_one_of_binomials(R):
    P, counts = Frequencies(R), np.arange(1, int(R.input_count) + 1) * 10
    n = counts.sum()
    for found, own in zip(P.variance(counts), counts, strict=True):
        direct = (own * P.p * (1 - P.p) + (n - own) * P.q * (1 - P.q)) / (P.p - P.q) ** 2
        assert found == pytest.approx(direct, rel=1e-12)
        assert P.standard_error(n, int(own)) == pytest.approx(math.sqrt(direct), rel=1e-12)


RUNS = 200
#: The mean of 200 squares of nearly normal numbers has a relative deviation of sqrt(2/200) = 0.1.
WITHIN = 3.3 * math.sqrt(2 / RUNS)


def test_the_simulated_error_of_a_sum_is_the_derived_one():
    n, values = 4000, rng(10).random(4000)
    P = Sum(12, 0.02)
    runs = [P.run(values, rng(1000 + i)) for i in range(RUNS)]
    errors = np.array([run.values for run in runs]) - values.sum()
    exact = P.variance(values)
    assert abs(errors.mean()) <= 3.3 * math.sqrt(exact / RUNS)
    assert abs(np.mean(errors**2) / exact - 1) <= WITHIN
    # What is reported: not too small on average, and too large by no more than rounding can add.
    reported = np.mean([run.standard_errors**2 for run in runs])
    assert exact * 0.99 <= reported <= exact + n / (4 * P.k**2)


def test_the_reported_error_of_a_sum_is_not_too_small_for_the_worst_data():
    P, values = Sum(100, 0.3), np.zeros(200)
    assert P.variance(values) == pytest.approx(P.worst_variance(200), rel=1e-12)
    reported = [P.run(values, rng(3000 + i)).standard_errors ** 2 for i in range(RUNS)]
    # One reported variance has a relative deviation of 1 % here; 200 of them have 0.07 %.
    assert P.variance(values) * 0.997 <= np.mean(reported)


@oracles
def test_the_simulated_error_of_counts_is_the_derived_one(R):
    P = Frequencies(R)
    values = np.repeat(np.arange(P.inputs), np.arange(1, P.inputs + 1) * 200)
    truth = np.bincount(values, minlength=P.inputs)
    runs = [P.run(values, rng(2000 + i)) for i in range(RUNS)]
    errors = np.array([run.values for run in runs]) - truth
    exact = P.variance(truth)
    # The chance that one of so few inputs strays farther than 4.5 deviations is below 1e-4.
    assert np.all(np.abs(errors.mean(axis=0)) <= 4.5 * np.sqrt(exact / RUNS))
    assert np.all(np.abs(np.mean(errors**2, axis=0) / exact - 1) <= 4.5 * math.sqrt(2 / RUNS))
    reported = np.mean([run.standard_errors**2 for run in runs], axis=0)
    assert reported == pytest.approx(exact, rel=0.05)


# ------------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize("by", ["certified", "clones", "theorem31"])
def test_every_way_to_choose_gamma_meets_the_target(by):
    n, eps, delta = 10**5, 0.5, 1e-6
    P = Histogram.for_target(20, n, eps, delta, by)
    assert P.delta(n, eps).upper <= delta
    assert P.encoding.gamma >= P.gamma
    S = Sum.for_target(n, eps, delta, by)
    assert S.delta(n, eps).upper <= delta


def test_a_set_of_another_size_is_no_message():
    P = Frequencies(ss.SubsetSelection(9, 3, 1))
    messages = P.randomize(np.arange(9), rng())
    messages[4, 0] ^= 128
    with pytest.raises(ValueError, match=r"messages\[4\] must be a set of 3 inputs, got [24]"):
        P.estimate(messages)


@pytest.mark.parametrize("eps0", [q(1, 10), 3, 20, 34])
def test_doubles_never_make_a_message_more_telling_than_the_analysis_says(eps0):
    # A uniform double is a multiple of 2^-53: it is below x with probability ceil(2^53 x)/2^53.
    def drawn(x):
        return sp.Rational(math.ceil(Fraction(x) * 2**53), 2**53)

    for R in (ss.RAPPOR(4, eps0), ss.OUE(4, eps0), ss.SubsetSelection(5, 2, eps0)):
        E = Frequencies(R).encoding
        own, other = (sp.N(e.subs(R.bindings), 40) for e in exact_matches(R))
        assert drawn(E.own) <= own
        assert drawn(E.other) >= other
    H, R = Frequencies(ss.OLH(g=3, d=4, eps0=eps0)).encoding, ss.KRR(3, eps0)
    assert drawn(H.gamma) >= R.gamma


def exact_matches(R):
    """Pr[R(x) matches x] and Pr[R(x) matches another x'], as formulas."""
    hit, miss = R.likelihood(True), R.likelihood(False)
    return R.joint((0,), (True,)) * hit, R.joint((0, 1), (True, True)) * hit + R.joint((0, 1), (False, True)) * miss


@pytest.mark.parametrize("eps0", [q(i, 7) for i in range(1, 30, 3)])
def test_the_noise_that_is_drawn_is_never_less_than_the_noise_that_was_analysed(eps0):
    R = ss.KRR(6, eps0)
    gamma = Frequencies(R).encoding.gamma
    assert R.gamma <= sp.Rational(gamma)
    assert sp.Rational(math.nextafter(math.nextafter(gamma, 0), 0)) < R.gamma


class LastDraw(np.random.Generator):
    """Draws the largest multiple of 2^-53 below γ: to send noise with probability γ, this draw has to send noise."""

    def __init__(self, gamma):
        super().__init__(np.random.PCG64(1))
        self.draw = float(Fraction(math.ceil(gamma * 2**53) - 1, 2**53))

    def random(self, size=None):
        return np.full(size, self.draw)


@pytest.mark.parametrize("hundredths", range(1, 100))
def test_histogram_and_sum_send_noise_with_the_probability_that_was_analysed(hundredths):
    gamma = Fraction(hundredths, 100)
    for P, value in ((Histogram(8, q(gamma)), 0), (Sum(7, q(gamma)), 0.0)):
        messages = P.randomize([value] * 100, LastDraw(gamma))
        assert len(set(messages.tolist())) == 8, "uniform ones, where without noise all are 0"


def test_the_certified_gamma_is_the_smallest_and_hardly_too_large():
    n, eps, delta = 10**5, 0.5, 1e-6
    certified, clones, closed = (smallest_gamma(20, n, eps, delta, by) for by in ("certified", "clones", "theorem31"))
    assert certified < clones < closed
    assert Histogram(20, certified * q(999, 1000)).delta(n, eps, rtol=1e-4).lower > delta


def test_gamma_is_rounded_up_to_six_digits():
    for k in range(2, 12):
        found = smallest_gamma(k, 10**5, 0.5, 1e-6, "theorem31")
        asked = sp.Rational(bounds.balle2019_thm31_gamma(k, 10**5, 0.5, 1e-6))
        assert asked <= found <= asked * (1 + q(1, 10**5))
        assert len(str(float(found)).replace("0.", "").lstrip("0")) <= 6


@pytest.mark.parametrize("by", ["certified", "theorem31"])
def test_the_chosen_precision_is_the_best_of_all(by):
    n, eps, delta = 5_000, 1, 1e-6
    chosen = Sum.for_target(n, eps, delta, by)
    best = min((Sum.for_target(n, eps, delta, by, k=k) for k in range(1, 16)), key=lambda P: P.worst_variance(n))
    assert chosen.worst_variance(n) <= best.worst_variance(n) * 1.002
    c = chosen.gamma * n / (chosen.k + 1)
    assert chosen.k == pytest.approx((3 * n / (2 * c)) ** (1 / 3), abs=2)


def test_the_lower_bound_is_the_largest_of_all_k_and_below_every_protocol():
    for n, eps, delta in ((10, 1, 1e-6), (10**4, 0.5, 1e-6), (10**6, 1, 1e-8)):
        found = bounds.balle2019_thm42(n, eps, delta)
        brute = max(
            min(n / (8 * k**2 * math.exp(eps)) - (1 - 2 * delta) / (8 * k), (k - 1 / k) * (0.5 - delta) / 48)
            for k in range(1, 1000)
        )
        assert found == pytest.approx(brute, rel=1e-12)
        assert found <= brute * (1 + 1e-14)
        assert found <= Sum.for_target(n, eps, delta).worst_variance(n)


def test_the_worst_message_is_the_same_for_arrays():
    gammas, sizes = np.array([0.01, 0.5]), np.array([7.0, 9.0])
    for i in range(2):
        one = worst_message_variance(gammas[i], sizes[i])
        assert worst_message_variance(gammas, sizes)[i] == pytest.approx(float(one), rel=1e-15)
