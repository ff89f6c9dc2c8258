"""Clopper–Pearson limits against exact fractions: wrong no more often than they say, and not much too wide."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffle_sym.protocols.empirical.statistics import at_least, at_most, lower_limit, upper_limit


def exact_tail(k, size, p):
    """Pr[Bin(size, p) >= k] as a fraction."""
    return sum(math.comb(size, i) * p**i * (1 - p) ** (size - i) for i in range(max(k, 0), size + 1))


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 60), st.integers(-1, 61), st.floats(0, 1))
def test_tails_are_not_below_the_exact_ones_and_sharp_on_their_side(size, k, p):
    upper, lower = exact_tail(k, size, Fraction(p)), 1 - exact_tail(k + 1, size, Fraction(p))
    assert at_least(k, size, p) >= upper
    assert at_most(k, size, p) >= lower
    if k >= size * p:
        assert at_least(k, size, p) <= upper * Fraction(1 + 1e-9) + Fraction(1e-290)
    if k <= size * p and p > 1e-9:
        assert at_most(k, size, p) <= lower * Fraction(1 + 1e-9) + Fraction(1e-290)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 50), st.integers(0, 50), st.floats(1e-12, 0.5))
def test_the_limits_meet_their_level_exactly(size, k, beta):
    k = min(k, size)
    low, high = lower_limit(k, size, beta), upper_limit(k, size, beta)
    assert 0 <= low <= k / size <= high <= 1
    if k:
        assert exact_tail(k, size, Fraction(low)) <= Fraction(beta)
        # A relative 1e-7 more would miss it: the limit is not needlessly low.
        assert exact_tail(k, size, Fraction(low) * Fraction(1 + 1e-7)) > Fraction(beta)
    if k < size:
        assert 1 - exact_tail(k + 1, size, Fraction(high)) <= Fraction(beta)


@pytest.mark.parametrize("p", [Fraction(1, 100), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("beta", [0.2, 0.01])
def test_the_truth_is_outside_with_probability_at_most_beta(p, beta):
    size = 40
    law = [math.comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]
    below = sum(mass for k, mass in enumerate(law) if lower_limit(k, size, beta) > p)
    above = sum(mass for k, mass in enumerate(law) if upper_limit(k, size, beta) < p)
    assert below <= Fraction(beta)
    assert above <= Fraction(beta)


def test_large_samples_keep_their_level():
    # 200 and 10^6 samples, at probabilities from 1e-6 on, in logarithms with 40 digits
    import mpmath

    mp = mpmath.MPContext()
    mp.dps = 40
    for size, k in [(200, 7), (10**6, 12), (10**6, 250_000), (10**6, 999_990)]:
        for beta in (0.05, 1e-4, 1e-9):
            p = mp.mpf(lower_limit(k, size, beta))
            tail = mp.betainc(k, size - k + 1, 0, p, regularized=True) if size == 200 or k < 20 else None
            if tail is None:  # a sum of terms that fall, from the first one on
                term = mp.exp(
                    mp.loggamma(size + 1)
                    - mp.loggamma(k + 1)
                    - mp.loggamma(size - k + 1)
                    + k * mp.log(p)
                    + (size - k) * mp.log1p(-p)
                )
                tail, i = mp.mpf(0), k
                while term > tail * mp.mpf(10) ** -30 and i <= size:
                    tail += term
                    term *= mp.mpf(size - i) / (i + 1) * p / (1 - p)
                    i += 1
            assert beta * (1 - 1e-6) < tail <= beta


def test_counts_at_the_ends_say_what_they_can():
    assert at_least(1, 1, 1.0) == at_most(0, 1, 0.0) == 1.0
    assert at_least(2, 1, 1.0) == at_least(1, 1, 0.0) == 0.0
    assert lower_limit(0, 5, 0.1) == 0.0
    assert upper_limit(5, 5, 0.1) == 1.0
    assert math.isclose(upper_limit(0, 10**6, 0.05), -math.log(0.05) / 10**6, rel_tol=1e-5)  # the rule of three
    assert not np.isnan(lower_limit(1, 1, 1e-300))
