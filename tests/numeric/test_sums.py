"""The method of all sums against fractions, with inputs as far off as they may be, and each of its error terms."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffle_sym.numeric import sums


def positive_part(values, probabilities, n) -> Fraction:
    """E[S]_+/n, outcome by outcome, in fractions."""
    total = Fraction(0)
    for outcome in product(zip(values, probabilities, strict=True), repeat=n):
        mass = Fraction(1)
        for _, p in outcome:
            mass *= p
        total += mass * max(sum(v for v, _ in outcome), Fraction(0))
    return total / n


def ends(values, probabilities, n, rtol=1e-9):
    return sums.positive_part(
        np.array([float(v) for v in values]), np.array([float(p) for p in probabilities]), n, rtol
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_bounds_hold_next_to_sums_of_exactly_zero_and_of_all_sizes(n):
    random = np.random.default_rng(n)
    for _ in range(60):
        size = int(random.integers(2, 6))
        values = [Fraction(int(x), 3) * 10 ** int(random.integers(0, 4)) for x in random.integers(-7, 8, size)]
        weights = [Fraction(int(x)) ** int(random.integers(1, 9)) for x in random.integers(1, 10, size)]
        probabilities = [w / sum(weights) for w in weights]
        answer, truth = ends(values, probabilities, n), positive_part(values, probabilities, n)
        assert answer.lower <= truth <= answer.upper


def test_sums_that_seem_to_be_zero_in_doubles_are_not_forgotten():
    rare = Fraction(1, 10**20)
    truth = positive_part([1 + Fraction(1, 2**53), Fraction(-1)], [rare, 1 - rare], 2)
    high = sums._end(np.array([1.0, -1.0]), np.array([1e-20, 1.0]), 2, 1) / 2
    assert Fraction(1, 10**36) < truth <= high


def test_the_rounding_of_a_long_sum_is_inside():
    many = 100_000
    total = np.cumsum(np.full(many, 1 / many))[-1]
    assert abs(total - 1) > 1e-13
    low, high = (sums._end(np.ones(many), np.full(many, 1 / many), 1, sign) for sign in (-1, 1))
    assert low <= 1 <= high


def test_what_is_below_the_smallest_double_is_not_lost():
    rare = Fraction(1, 10**170)
    low, high = (sums._end(np.array([1.0, -1.5]), np.array([1e-170, 1.0]), 2, sign) for sign in (-1, 1))
    assert low <= 2 * positive_part([Fraction(1), Fraction(-3, 2)], [rare, 1 - rare], 2) <= high < 1e-290


def test_what_is_too_much_is_refused():
    with pytest.raises(ValueError, match="n must be at most 4"):
        ends([Fraction(-1), Fraction(1)], [Fraction(1, 2)] * 2, 5)
    assert sums.suits(np.zeros(1024), 4)
    assert not sums.suits(np.zeros(1025), 3)
    assert sums.suits(np.zeros(1025), 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_values_and_of_probabilities_are_inside_together(monkeypatch, sign):
    off = 1e-3
    monkeypatch.setattr(sums, "FLOAT_ERROR", off)
    values, p = np.array([0.5, 1.0, 1.75]), np.array([0.25, 0.5, 0.25])
    for n in (1, 2, 3, 4):
        given = values * (1 - sign * off), p * (1 - sign * off)
        low, high = (sums._end(*given, n, end) / n for end in (-1, 1))
        assert low <= float(p @ values) <= high  # E[S]/n, for no value is negative
