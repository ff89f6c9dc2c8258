"""Exact Rényi moments: of decompositions, of datasets by brute force, and of 2-RR at any n."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from conftest import decompositions, literal_moment
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.papers.girgis2021.lower import central_moment, n, p
from shuffle_sym.truth import exact, ground_truth
from shuffle_sym.truth.histograms import power_sum

q = sp.Rational
RATIOS = [q(3, 2), sp.Integer(2), sp.Integer(3), sp.Integer(5)]


@pytest.mark.exact
@given(D=decompositions(4), users=st.integers(1, 4), order=st.integers(2, 5))
def test_the_moment_of_a_decomposition_is_that_of_its_reduction_pair(D, users, order):
    pair = exact.reduction_pair(D.exact(), users)
    if any(x and not y for x, y in pair.values()):
        with pytest.raises(ValueError, match="infinite"):
            exact.renyi_moment(D, users, order)
    else:
        assert exact.renyi_moment(D, users, order) == literal_moment(pair, order)


@pytest.mark.exact
@pytest.mark.parametrize(
    "R", [ss.BinaryRR(eps0=sp.log(3)), ss.KRR(k=3, eps0=sp.log(2)), ss.RAPPOR(d=2, eps0=sp.log(4))]
)
@pytest.mark.parametrize("order", [2, 3, 7])
def test_brute_force_over_two_datasets_is_the_decomposition_of_that_dataset(R, order):
    last = int(R.input_count) - 1
    for users in (1, 2, 4):
        D = decomposition.dataset(R, 0, 1, last)
        X0, X1 = (0, *[last] * (users - 1)), (1, *[last] * (users - 1))
        assert exact.renyi_moment(D, users, order) == ground_truth.renyi_moment(R, X0, X1, order)
        assert exact.renyi_moment(D.reversed(), users, order) == ground_truth.renyi_moment(R, X1, X0, order)


@pytest.mark.exact
def test_no_pair_of_datasets_is_above_the_blanket():
    for R in (ss.BinaryRR(eps0=sp.log(3)), ss.KRR(k=3, eps0=sp.log(4)), ss.BLH(d=3, eps0=sp.log(2))):
        for users, order in itertools.product((1, 2, 3), (2, 5)):
            (worst,) = ground_truth.worst_moments(R, users, [order])
            assert worst.moment == ground_truth.renyi_moment(R, worst.X0, worst.X1, order)
            assert worst.moment <= exact.renyi_moment(decomposition.blanket(R), users, order)
            assert worst.moment <= exact.renyi_moment(decomposition.clones_one_sided(R.eps0), users, order)


@pytest.mark.exact
@pytest.mark.parametrize("t", RATIOS)
def test_2_rr_at_any_n_is_the_decomposition_and_its_central_moments(t):
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(t)), 1, 0, 0)
    for users, order in itertools.product((1, 2, 5, 9), (2, 3, 8)):
        assert exact.two_rr_moment(sp.log(t), users, order) == exact.renyi_moment(D, users, order)
        reverse = exact.two_rr_moment(sp.log(t), users, order, reverse=True)
        assert reverse == exact.renyi_moment(D.reversed(), users, order)
    for users, order in ((10**6, 5), (10**9, 12)):
        scale, values = (t**2 - 1) / (users * t), {n: users, p: 1 / (t + 1)}
        terms = (math.comb(order, i) * scale**i * central_moment(i).subs(values) for i in range(order + 1))
        assert exact.two_rr_moment(sp.log(t), users, order) == sum(terms)


@pytest.mark.exact
def test_moments_in_digits_agree_with_fractions_and_real_orders_lie_between():
    for reverse in (False, True):
        values = []
        for order in (2, q(5, 2), 3):
            values.append(exact.two_rr_moment(sp.log(3), 20, order, reverse=reverse, digits=40))
        known = [exact.two_rr_moment(sp.log(3), 20, order, reverse=reverse) for order in (2, 3)]
        with mpmath.workdps(45):
            assert abs(values[0] - mpmath.mpf(known[0].p) / known[0].q) < mpmath.mpf(10) ** -38
            assert abs(values[2] - mpmath.mpf(known[1].p) / known[1].q) < mpmath.mpf(10) ** -38
            # The logarithm of the moment is convex in the order.
            assert values[1] ** 2 < values[0] * values[2]
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0)
    with mpmath.workdps(45):
        by_decomposition = exact.renyi_moment(D, 20, q(5, 2), digits=40)
        assert abs(by_decomposition - exact.two_rr_moment(sp.log(3), 20, q(5, 2), digits=40)) < mpmath.mpf(10) ** -37
        literal = ground_truth.renyi_moment(ss.BinaryRR(eps0=sp.log(3)), (1, 0, 0), (0, 0, 0), q(5, 2), digits=40)
        assert abs(literal - exact.two_rr_moment(sp.log(3), 3, q(5, 2), digits=40)) < mpmath.mpf(10) ** -37
        irrational = exact.renyi_moment(decomposition.dataset(ss.BinaryRR(eps0=1), 1, 0, 0), 6, 3, digits=40)
        assert abs(irrational - exact.two_rr_moment(1, 6, 3, digits=40)) < mpmath.mpf(10) ** -37


def test_moments_of_one_and_two_users_are_those_of_their_terms():
    # K heads of n coins with chance 1/(1 + t), and the ratio 1/t + (t − 1/t)K/n
    t = Fraction(3)
    for users, moment in ((1, (3 / t**2 + 9) / 4), (2, (9 / t**2 + 6 * (5 / t) ** 2 + 9) / 16)):
        assert sum(exact._two_rr_terms(t, users, 2)) == exact._by_factorial_moments(t, users, 2) == moment


def test_messages_of_one_user_alone_count_in_a_moment():
    mp = mpmath.MPContext()
    alone = (1, mp.mpf(0.5), mp.mpf(0.25))
    assert power_sum([alone], 3, mp) == 2  # a³/b²


def test_messages_that_no_other_user_sends_make_no_histograms():
    a, b = [q(1, 8), q(1, 8), q(1, 4), q(1, 2)], [q(1, 8), q(1, 4), q(1, 8), q(1, 2)]
    alone = ss.model.Decomposition(a, b, [0, 0, 0, 1])  # everybody else says the same
    assert exact.renyi_moment(alone, 5000, 2) == sum(x**2 / y for x, y in zip(a, b, strict=True))
    others = ss.model.Decomposition(a, b, [q(1, 4), q(1, 4), q(1, 2), 0])
    with pytest.raises(ValueError, match="n = 2000 with 3 kinds of messages"):
        exact.renyi_moment(others, 2000, 2)


def test_moments_have_all_their_digits_however_many_users_there_are():
    for users, digits in itertools.product((10**3, 2**53), (1, 2, 30)):
        fraction = exact.two_rr_moment(sp.log(3), users, 12)
        with mpmath.workdps(60):
            value = exact.two_rr_moment(sp.log(3), users, 12, digits=digits) / (mpmath.mpf(fraction.p) / fraction.q)
            assert abs(value - 1) < mpmath.mpf(10) ** -digits
