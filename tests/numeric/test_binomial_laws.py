"""Binomial laws on windows: every probability is within the error, and no more mass is outside than is said."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffle_sym.algebra import precise, rounding
from shuffle_sym.numeric.binomial import bernstein_reach, binomial_laws, hoeffding_reach, log_binomial_law


def exact_law(size: int, p: Fraction, q: Fraction) -> list[Fraction]:
    chance = p / (p + q)
    return [math.comb(size, k) * chance**k * (1 - chance) ** (size - k) for k in range(size + 1)]


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.3, 0.5), (1e-3, 0.7), (1.0, 0.0), (0.0, 0.25), (0.9, 1e-12)])
@pytest.mark.parametrize("reach", [0, 1, 3, 12, 200])
def test_probabilities_and_what_is_outside_are_those_of_fractions(p, q, reach):
    sizes = np.array([0, 1, 2, 9, 60])
    laws = binomial_laws(sizes, p, q, reach)
    for size, first, row in zip(sizes.tolist(), laws.first.tolist(), laws.probabilities.tolist(), strict=True):
        truth = dict(enumerate(exact_law(size, Fraction(p), Fraction(q))))
        inside = sum(truth.get(first + i, 0) for i, value in enumerate(row) if value)
        assert 1 - inside <= laws.outside
        for i, value in enumerate(row):
            true = truth.get(first + i, Fraction(0))
            if value or not true:
                assert laws.error >= 1 or abs(Fraction(value) - true) <= Fraction(laws.error) * true


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.5), (0.3, 0.5), (1e-3, 0.7), (1.0, 0.0), (0.0, 0.25)])
@pytest.mark.parametrize("reach", [0, 1, 3, 12, 200])
@pytest.mark.parametrize("size", [0, 1, 9, 150])
def test_logarithms_and_what_is_outside_are_those_of_fractions(p, q, reach, size):
    law = log_binomial_law(size, p, q, reach)
    truth = exact_law(size, Fraction(p), Fraction(q))
    assert 1 - sum(truth[int(k)] for k in law.counts) <= law.outside
    mp = precise.context(40)
    for count, log in zip(law.counts, law.logs, strict=True):
        true = truth[int(count)]
        assert abs(mp.log(mp.mpf(true.numerator) / true.denominator) - float(log)) <= law.error


@pytest.mark.parametrize("sign", [-1, 1])
def test_an_error_of_the_odds_is_inside(sign):
    p, q, off = 0.3, 0.5, 1e-9
    true = exact_law(40, Fraction(p) * (1 + sign * Fraction(off)), Fraction(q))
    laws, logs = binomial_laws(np.array([40]), p, q, 40, off), log_binomial_law(40, p, q, 40, off)
    far = 0.0
    for k, (value, log) in enumerate(zip(laws.probabilities[0].tolist(), logs.logs.tolist(), strict=True)):
        assert abs(Fraction(value) - true[k]) <= Fraction(laws.error) * true[k]
        assert abs(log - math.log(true[k])) <= logs.error + 1e-13
        far = max(far, abs(float(Fraction(value) / true[k]) - 1))
    assert far > off  # the test can fail


@pytest.mark.parametrize("p", [0.5, 0.01])
@pytest.mark.parametrize("log_tail", [-2.0, -20.0])
@pytest.mark.parametrize("size", [1, 30, 400])
def test_beyond_a_reach_lies_less_than_was_asked_for(p, log_tail, size):
    law = exact_law(size, Fraction(p), 1 - Fraction(p))
    mode = law.index(max(law))
    for reach in (bernstein_reach(size, p, log_tail), hoeffding_reach(size, log_tail)):
        inside = sum(law[max(mode - reach, 0) : mode + reach + 1])
        assert 1 - inside <= Fraction(rounding.above(math.exp(log_tail)))


def test_a_tail_below_the_doubles_is_not_said_to_be_nothing():
    law = log_binomial_law(10**6, 0.5, 0.5, 40_000)
    assert 0 < law.outside < 1e-300
    assert law.logs[0] < -3000
