"""The method of counts against all sums, exactly: with inputs as far off as they may be, and error terms made large."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffle_sym.algebra import precise
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.numeric import counts

COARSE = 2e-4


def positive_part(values, probabilities, n) -> Fraction:
    """E[S]_+/n, outcome by outcome, in fractions."""
    law = {Fraction(0): Fraction(1)}
    for _ in range(n):
        longer: dict[Fraction, Fraction] = {}
        for (s, mass), (v, p) in product(law.items(), zip(values, probabilities, strict=True)):
            longer[s + v] = longer.get(s + v, Fraction(0)) + mass * p
        law = longer
    return sum((s * p for s, p in law.items() if s > 0), Fraction(0)) / n


def laws(random, count, most=4) -> Iterator[tuple[list[Fraction], list[Fraction], int]]:
    """Values and probabilities in fractions with few digits; most of the mass is at one value or at two."""
    for _ in range(count):
        size, n = int(random.integers(2, most + 1)), int(random.integers(2, 7))
        values = [Fraction(int(x), 8) for x in random.choice(np.arange(-40, 41), size, replace=False)]
        weights = [Fraction(1, int(10 ** random.integers(0, 5))) for _ in values]
        weights[0] += int(random.integers(1, 9))
        weights[1] += int(random.integers(0, 9))
        total = sum(weights, Fraction(0))
        yield values, [w / total for w in weights], n


def ends(values, probabilities, n, rtol) -> Interval | ValueError:
    p = np.array([float(q) for q in probabilities])
    (answer,) = counts.positive_parts(np.array([[float(v) for v in values]]), p, n, rtol)
    return answer


def splits(values, probabilities, n) -> Iterator[counts._Split]:
    """Every choice of rare values that leaves something else."""
    top = max(map(float, values))
    if top <= 0:
        return
    unit = 2.0 ** math.floor(math.log2(top))
    g, p = np.array([float(v) for v in values]) / unit, np.array([float(q) for q in probabilities])
    for choice in product([False, True], repeat=len(g)):
        rare = np.array(choice) & ~counts._dead(g, n)
        if (~rare & ~counts._dead(g, n)).any():
            yield counts._Split(g, p, rare, n), unit


@pytest.mark.parametrize("rtol", [0.5, 1e-2, 1e-6, 1e-9])
def test_all_sums_are_inside(rtol):
    answered = 0
    for values, probabilities, n in laws(np.random.default_rng(1), 60):
        answer = ends(values, probabilities, n, rtol)
        if isinstance(answer, Interval):
            answered += answer.upper > 0
            assert answer.lower <= positive_part(values, probabilities, n) <= answer.upper
            assert answer.upper - answer.lower <= rtol * answer.upper
    assert answered > 20


@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_every_split_and_every_number_of_counts_has_the_truth_inside(most):
    tight = 0
    for values, probabilities, n in laws(np.random.default_rng(2), 30, 3):
        truth = positive_part(values, probabilities, n)
        for split, unit in splits(values, probabilities, n):
            low, high, log_scale = split._summed(min(most, n), 0.5)
            beyond = math.exp(split._log_beyond(most))
            assert low * math.exp(log_scale) * unit <= truth * (1 + Fraction(1, 10**12))
            assert truth <= Fraction((high * math.exp(log_scale) + beyond) * unit) * (1 + Fraction(1, 10**12))
            tight += high > 0 and low > 0.8 * high and low * math.exp(log_scale) * unit > 0.8 * truth
    assert tight > 10


# Another method for the rest has terms of its own for probabilities that are off.
@pytest.mark.parametrize(("sharpened", "rtol"), [(0, 1e-9), (4, 1e-4)])
@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0)])
def test_values_and_probabilities_may_be_off_by_as_much_as_is_said(monkeypatch, signs, sharpened, rtol):
    """Values are given too small or too large by the error they may have, rare probabilities, too, and the others the
    other way: every term is needed."""
    monkeypatch.setattr(counts, "FLOAT_ERROR", COARSE)
    monkeypatch.setattr(counts, "_MOST_SHARPENED", sharpened if not signs[1] else 0)
    compared, off = 0, 0.995 * COARSE
    for values, probabilities, n in laws(np.random.default_rng(3), 25, 3):
        truth = positive_part(values, probabilities, n)
        for split, unit in splits(values, probabilities, n):
            rare = ~split.alive & ~counts._dead(split.values, n)
            given = split.values * (1 - signs[0] * off * np.sign(split.values))
            p = split.p * np.where(rare, 1 - signs[1] * off, 1 + signs[1] * off)
            low, high, log_scale = counts._Split(given, p, rare, n)._summed(n, rtol)
            scale = Fraction(math.exp(log_scale) * unit)
            assert Fraction(low) * scale <= truth
            assert high == math.inf or truth <= Fraction(high) * scale
            compared += 0 < high < math.inf
    assert compared > 40


def test_sums_with_equal_totals_and_other_sizes_have_errors_of_their_own(monkeypatch):
    """1 − 1 and 0 + 0 are the same number of rare values with the same sum: the first is known less well."""
    monkeypatch.setattr(counts, "FLOAT_ERROR", COARSE)
    values, p = np.array([-1.0, 0.0, 1.0, 0.25, -0.25]), np.array([0.01, 0.01, 0.01, 0.37, 0.6])
    split = counts._Split(values, p, np.array([True, True, True, False, False]), 6)
    split._summed(2, 1e-3)
    cached = {case[1:] for case in split.sharpened}
    assert all(ends == split._sharper(*case, 1e-3) for case, ends in split.sharpened.items())
    assert cached


def test_very_low_values_stay_as_low_as_they_are():
    """Next to a positive value of 1e306, −1.7e308 makes a sum of 200 terms negative unless 171 are positive."""
    values, p, n = np.array([[1e306, -1.7e308]]), np.array([0.5, 0.5]), 200
    (answer,) = counts.positive_parts(values, p, n, 1e-3)
    truth = (
        sum(
            (
                Fraction(math.comb(n, k), 2**n) * max(k * Fraction(1e306) - (n - k) * Fraction(1.7e308), 0)
                for k in range(n + 1)
            ),
            Fraction(0),
        )
        / n
    )
    assert isinstance(answer, ValueError) or answer.lower <= truth <= answer.upper


def test_a_sum_that_is_far_below_its_largest_value_takes_a_few_steps(monkeypatch):
    """Rare values have to come together, far below 10^-40 of all cases: found in a few sums, not in one a factor."""
    summed, sums = counts._Split._summed, []
    monkeypatch.setattr(counts._Split, "_summed", lambda *given: sums.append(given[1]) or summed(*given))
    values = [Fraction(7), Fraction(6), Fraction(-1), Fraction(-2)]
    probabilities = [Fraction(1, 10**20), Fraction(1, 10**19)]
    probabilities += [Fraction(1, 10**18), 1 - sum(probabilities) - Fraction(1, 10**18)]
    answer = ends(values, probabilities, 12, 1e-6)
    assert answer.lower <= positive_part(values, probabilities, 12) <= answer.upper
    assert len(sums) <= 4


def test_the_excess_of_a_sum_is_bounded_by_its_variance_or_by_its_tail():
    n, mp = 40, precise.context(30)
    coins = {2 * k - n: mp.mpf(math.comb(n, k)) / 2**n for k in range(n + 1)}  # a sum of ±1: variance n, reach 1
    means = np.array([0.0, 0.5, 3.0, 9.0, 14.0, 21.0, 35.0])

    def bernstein(x):
        return x * x / (2 * (n + x / 3))

    for m, bound in zip(means, counts._excess(means, np.full(len(means), float(n)), 1.0), strict=True):
        truth = sum(weight * max(x - m, 0) for x, weight in coins.items())
        by_variance = (mp.sqrt(mp.mpf(m) ** 2 + n) - m) / 2
        by_tail = mp.exp(-bernstein(mp.mpf(m))) / mp.diff(bernstein, m) if m else mp.inf
        assert truth <= bound
        assert min(by_variance, by_tail) <= bound <= min(by_variance, by_tail) * (1 + 1e-9)
    two = counts._excess(np.zeros(2), np.array([9.0, 0.0]), 3.0)  # ±3 with probability 1/2 each attains it
    assert two.tolist() == [pytest.approx(1.5), 0.0]


def split_of(n=5):
    """Two rare values of either sign, two of the rest, and one that is dead."""
    values, p = np.array([-0.75, 1.0, -0.25, 0.125, -1e9]), np.array([0.0625, 0.03125, 0.5, 0.375, 0.03125])
    return counts._Split(values, p, np.array([True, True, False, False, False]), n)


def test_the_rest_has_its_moments_and_their_errors(monkeypatch):
    monkeypatch.setattr(counts, "UNIT_ROUNDOFF", u := 1e-5)
    monkeypatch.setattr(counts, "FLOAT_ERROR", float_error := 1e-4)
    split, q = split_of(), 0.875
    mean = (0.5 * -0.25 + 0.375 * 0.125) / q
    variance = (0.5 * (0.25 + mean) ** 2 + 0.375 * (0.125 - mean) ** 2) / q
    assert (split.q, split.rho, split.rare) == (q, 0.09375, [(-0.75, 0.0625), (1.0, 0.03125)])
    assert split.log_q == pytest.approx(math.log(q), rel=1e-14)
    assert split.mean == pytest.approx(mean, rel=1e-14)
    assert variance < split.variance < 1.0011 * variance
    assert 0.125 - mean < split.reach < 1.0011 * (0.125 - mean)
    for gain, exact in zip(split.gains, (0.03125, 0.375 * 0.125), strict=True):
        assert exact * (1 + 2 * u) < gain < exact * (1 + 10 * u)
    # p/q and the products; terms of the mean
    assert 2 * float_error + 3 * u < split.step_error < 2 * float_error + 10 * u
    size = (0.5 * 0.25 + 0.375 * 0.125) / q
    assert size * (3 * float_error + 3 * u) < split.mean_error < size * (3 * float_error + 10 * u)


def test_counts_of_rare_values_have_their_multinomial_weights():
    n, most = 5, 3
    expected = []
    for a, b in product(range(most + 1), repeat=2):
        if a + b <= most:
            weight = Fraction(math.factorial(n), math.factorial(a) * math.factorial(b) * math.factorial(n - a - b))
            weight *= Fraction(0.0625 / 0.875) ** a * Fraction(0.03125 / 0.875) ** b
            expected.append((a + b, b - 0.75 * a, b + 0.75 * a, float(weight)))
    k, mantissas, exponents, h = counts._counts(n, most, (0.0625 / 0.875, 0.03125 / 0.875))
    found = sorted(zip(k, h @ [-0.75, 1], h @ [0.75, 1], np.ldexp(mantissas, exponents), strict=True))
    assert len(found) == len(expected)
    for one, other in zip(found, sorted(expected), strict=True):
        assert one == pytest.approx(other, rel=1e-13)


def test_the_error_of_the_power_of_q_grows_with_n(monkeypatch):
    n, log_q = 10**4, math.log(0.875)
    monkeypatch.setattr(counts, "UNIT_ROUNDOFF", 0.0)
    monkeypatch.setattr(counts, "FLOAT_ERROR", 1e-4)
    assert n * 1e-4 / 7 <= split_of(n).error <= 1.02 * n * 1e-4 / 7  # q is 1 minus an eighth, which is better known
    monkeypatch.setattr(counts, "FLOAT_ERROR", 0.0)
    monkeypatch.setattr(counts, "UNIT_ROUNDOFF", u := 1e-5)
    assert n * 4 * u * abs(log_q) <= split_of(n).error <= n * u * (0.2 + 10 * abs(log_q)) + 20 * u
    coin = counts._Split(np.array([-0.5, 0.125]), np.array([0.25, 0.75]), np.zeros(2, dtype=bool), 8)
    assert (coin.q, coin.rho, coin.log_q) == (1.0, 0.0, 0.0)
    assert 2 * u <= coin.error <= 20 * u
    assert 0.46875 < coin.reach < 0.4693  # from the mean, −1/32, down to −1/2
    little = counts._Split(np.array([1.0, 0.5]), np.array([1e-20, 1.0]), np.array([True, False]), 1)
    assert little.log_q == -1e-20


@pytest.mark.parametrize(("r", "g"), [(1.0, 0.5), (1.0, 0.0), (0.0, 0.5)])
@pytest.mark.parametrize(("n", "rare", "most"), [(60, 2.0**-10, 1), (60, 2.0**-10, 4), (10**9, 2.0**-40, 2)])
def test_what_lies_beyond_so_many_rare_values_is_bounded_closely(r, g, n, rare, most):
    rest = 1 - rare
    split = counts._Split(np.array([r, g]), np.array([rare, rest]), np.array([True, False]), n)
    beyond = range(most + 1, min(most + 30, n + 1))  # what follows is below 1e-20 of it
    truth = sum(math.comb(n, k) * rare**k * rest ** (n - k) * (k * r + (n - k) * g) for k in beyond) / n
    # n^k for the falling power, in the part with rare values and in the part with the others; and a percent
    assert truth <= math.exp(split._log_beyond(most)) <= truth * (1.015 + n * rare + most * (most + 2) / n)
    assert split._log_beyond(n) == -math.inf


def test_values_next_to_the_rest_are_part_of_it():
    # At least 69 rare values are needed: too many counts of three different ones. The true value is between those with
    # all low values at the highest and at the lowest of them, two binomial sums.
    n, values = 1000, np.array([[65089.361, -4823.9907, -4824.0693, -4824.0468]])
    chances = np.array([1.2857e-05, 4.2857e-20, 1.2857e-08, 1.0])
    chances[3] -= chances[:3].sum()
    (answer,) = counts.positive_parts(values, chances, n, 0.03)
    mp, p = precise.context(60), precise.context(60).mpf(chances[0])

    def with_low(low):
        sums = ((k, k * values[0, 0] + (n - k) * low) for k in range(60, 100))
        return mp.fsum(mp.binomial(n, k) * p**k * (1 - p) ** (n - k) * mp.mpf(s) for k, s in sums if s > 0) / n

    assert answer.lower <= with_low(values[0, 1:].max()) * (1 + mp.mpf("1e-12"))
    assert with_low(values[0].min()) <= answer.upper * (1 + mp.mpf("1e-12"))


def test_where_nothing_is_rare_the_memory_does_not_grow_with_the_users():
    k, mantissas, exponents, h = counts._counts(2**50, 2**50, ())
    assert (k.tolist(), mantissas.tolist(), exponents.tolist(), h.shape) == ([0.0], [1.0], [0], (1, 0))


def test_what_another_method_says_of_the_rest_has_the_errors_of_powers_and_products(monkeypatch):
    split, one, ends = split_of(), np.array([1.0]), []
    monkeypatch.setattr(split, "_sharper", lambda *_: (1.0, 1.0))
    for error in (0.0, 1e-3):
        split.sharpened.clear()
        split.error, split.step_error = error, 0.0
        below, above = np.zeros(1), np.full(1, 1e9)
        split._sharpen(1e-9, below, above, np.array([1]), one, one, one)
        ends.append((below[0], above[0]))
    (low, high), (lower, upper) = ends
    assert lower <= low * (1 - 2e-3)  # once in what is computed, and once in what is taken off: q to the power m
    assert upper >= high * (1 + 2e-3)
    assert 0 < low <= high < 1e9


def test_what_is_wider_than_asked_for_is_refused(monkeypatch):
    monkeypatch.setattr(counts._Split, "bounds", lambda *_: (0.25, 0.5))
    (refused,) = counts.positive_parts(np.array([[-1.0, 1.0]]), np.array([0.5, 0.5]), 3, 0.1)
    assert isinstance(refused, ValueError)
    assert refused.reached == 0.5
    (answer,) = counts.positive_parts(np.array([[-1.0, 1.0]]), np.array([0.5, 0.5]), 3, 0.5)
    assert (answer.lower, answer.upper) == (0.25, 0.5)
