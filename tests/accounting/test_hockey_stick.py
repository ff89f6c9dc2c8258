"""D_α at every α > 0, one at a time and many at once, against exact values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from conftest import decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss

q = sp.Rational
LOPSIDED = ss.from_matrix([[0.7, 0.3, 0], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
ratios = st.fractions(Fraction(1, 100), 100, max_denominator=10**6)


# ------------------------------------------------------------------------------------------- against exact values


@given(decompositions(largest=4), st.integers(1, 6), ratios, st.sampled_from(["auto", "contour", "exact"]))
def test_the_exact_divergence_is_inside_for_every_ratio(D, n, alpha, method):
    interval = shuffled_laws(D, n).hockey_stick(alpha, method=method)
    assert ss.truth.exact.divergence(D, n, q(alpha.numerator, alpha.denominator)) in interval
    assert interval.width <= 1e-3 * interval.upper + 1e-300


@pytest.mark.parametrize("method", ["auto", "contour", "binomial", "fft"])
@pytest.mark.parametrize("eps", [q(-7, 2), q(-1), q(-1, 10), q(-1, 10**9), 0, q(1, 3)])
def test_every_method_holds_on_both_sides_of_one(method, eps):
    for D in (ss.decomposition.clones(2), ss.decomposition.strong(ss.KRR(k=2, eps0=1))):
        interval = shuffled_laws(D, 12).hockey_stick(sp.exp(eps), method=method)
        assert interval.lower <= ss.truth.exact.divergence(D, 12, sp.exp(eps), digits=30) <= interval.upper


@pytest.mark.parametrize("alpha", [q(1, 50), q(1, 3), q(9, 10), q(1), q(3, 2), q(40)])
def test_the_worst_of_all_pairs_is_taken_below_one_as_well(alpha):
    M = shuffled_laws(LOPSIDED, 4)
    assert M.exact(alpha) in M.hockey_stick(alpha)
    assert len({ss.truth.exact.divergence(D, 4, alpha) for D in M.decompositions}) > 1


@pytest.mark.parametrize("alpha", [q(1, 2), q(19, 20), q(2)])
def test_noise_is_bracketed_at_every_ratio(alpha):
    R = ss.Laplace(eps0=1)
    found = shuffled_laws(R, 3).hockey_stick(alpha, rtol=0.01)
    below, above = (ss.truth.exact.divergence(D, 3, alpha, digits=20) for D in (R.lower(8), R.upper(8)))
    assert below <= found.upper
    assert found.lower <= above


def test_one_minus_alpha_is_reached_where_every_loss_is_smaller():
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 5)
    assert q(9, 10) in M.hockey_stick(q(1, 10))
    assert M.hockey_stick(q(1, 10)).relative_width < 1e-14
    assert q(2, 3) in M.hockey_stick(q(1, 3))


def test_a_ratio_next_to_one_keeps_its_relative_accuracy():
    # One loss on either side of 1 only, so that D_α is 1 − α in closed form up to the loss of the pair.
    M = shuffled_laws(ss.KRR(k=3, eps0=q(1, 10**30)), 1)
    alpha = 1 - q(1, 10**20)
    found = M.hockey_stick(alpha)
    assert q(1, 10**20) in found
    assert found.relative_width < 1e-10


@pytest.mark.parametrize("alpha", [q(1, 10**400), sp.exp(-2000), q(10) ** 400, sp.exp(2000)])
def test_ratios_that_no_double_holds_are_met(alpha):
    found = shuffled_laws(ss.KRR(k=3, eps0=1), 5).hockey_stick(alpha)
    assert found.relative_width < 1e-14
    assert (1 if alpha < 1 else 0) in found


def test_delta_is_the_hockey_stick_at_the_exponential():
    M = shuffled_laws(ss.KRR(k=10, eps0=4), 1000)
    for eps in (q(0), q(1, 7), sp.log(2)):
        assert M.delta(eps) == M.hockey_stick(sp.exp(eps))


# --------------------------------------------------------------------------------------------------- many at once


@pytest.mark.parametrize("kind", [list, tuple, np.array])
@pytest.mark.parametrize("source", [ss.KRR(k=10, eps0=4), LOPSIDED, ss.decomposition.clones(2), ss.Laplace(eps0=1)])
def test_many_at_once_are_the_same_as_one_by_one(source, kind):
    M, losses = shuffled_laws(source, 300), [0.0, 0.05, 0.3, 0.1, 5.0, 0.3]
    together = M.delta(kind(losses), rtol=0.02)
    assert isinstance(together, list)
    for eps, found in zip(losses, together, strict=True):
        alone = M.delta(eps, rtol=0.02)
        assert found.relative_width <= 0.02
        assert found.lower <= alone.upper
        assert alone.lower <= found.upper
    assert together[2] == together[5]


def test_ratios_on_both_sides_of_one_keep_their_order():
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 6)
    alphas = [q(2), q(1, 2), q(1), q(11, 10), q(9, 10), q(1, 7), q(5)]
    for alpha, found in zip(alphas, M.hockey_stick(alphas), strict=True):
        assert M.exact(alpha) in found


def test_nothing_is_asked_and_nothing_is_answered():
    assert shuffled_laws(ss.KRR(k=3, eps0=1), 6).delta([]) == []


# ------------------------------------------------------------------------------------------------- more digits


@pytest.mark.parametrize("alpha", [q(1, 3), q(99, 100), q(1), q(6, 5), q(29, 10)])
@pytest.mark.parametrize("digits", [5, 30, 200])
def test_digits_that_are_asked_for_are_certified(alpha, digits):
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 9)
    found = M.hockey_stick(alpha, digits=digits)
    assert M.exact(alpha) in found
    assert Fraction(found.upper) - Fraction(found.lower) <= Fraction(found.upper) / 10**digits
    assert found.method == "exact"


def test_digits_of_irrational_levels_hold_the_value_with_more_digits():
    M = shuffled_laws(ss.KRR(k=3, eps0=1), 12)
    for eps, found in zip((0.1, 0.7), M.delta([0.1, 0.7], digits=30), strict=True):
        assert M.exact(sp.exp(q(str(eps))), digits=60) in found
        assert found.lower in M.delta(eps)
        assert found.relative_width < 1e-30
        assert len(str(found)) > 60


def test_digits_of_a_delta_far_below_the_doubles_are_certified():
    # G is −99/100 or 1/100, each with probability 1/2: all of n have to be positive for E[S]_+ > 0.
    D = ss.model.Decomposition([q(1, 2), q(1, 2)], [q(99, 200), q(101, 200)], [q(1, 2), q(1, 2)])
    M, alpha = shuffled_laws(D, 2000), q(100, 99) - q(1, 10**6)
    found = M.hockey_stick(alpha, digits=20)
    assert M.exact(alpha) in found
    assert 0 < found.upper < q(1, 10**500)


def test_no_loss_is_zero_to_all_digits():
    assert shuffled_laws(ss.KRR(k=3, eps0=1), 5).delta(1, digits=40) == ss.Interval(0, 0)
