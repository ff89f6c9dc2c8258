"""δ(ε) and ε(δ) of `Shuffle` against exact values, in the direction that matters."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss

q = sp.Rational


@given(decompositions(), st.integers(1, 9), alphas, st.sampled_from([1e-1, 1e-3]))
def test_the_exact_value_is_inside_the_lattice_interval(D, n, alpha, rtol):
    M = shuffled_laws(D, n)
    interval = M.delta(sp.log(alpha), rtol=rtol)
    assert M.exact(alpha) in interval
    assert interval.width <= rtol * interval.upper + 1e-300


@given(decompositions(largest=3), st.integers(1, 6), alphas)
def test_the_exact_method_returns_the_exact_value_as_doubles(D, n, alpha):
    M = shuffled_laws(D, n)
    interval = M.delta(sp.log(alpha), method="exact")
    assert M.exact(alpha) in interval
    assert interval.width <= 1e-15 * interval.upper


def test_every_randomizer_is_inside_its_interval(randomizer):
    for n, eps in ((1, q(1, 3)), (4, q(1, 3)), (8, q(1, 10)), (8, 0)):
        M = shuffled_laws(randomizer, n)
        assert M.exact(sp.exp(eps), digits=30) in M.delta(eps)


@pytest.mark.parametrize("n", [100, 250])
@pytest.mark.parametrize("alpha", [q(101, 100), q(3, 2), q(29, 10)])
def test_hundreds_of_users(n, alpha):
    M = shuffled_laws(ss.BinaryRR(eps0=sp.log(3)), n)
    assert M.exact(alpha) in M.delta(sp.log(alpha))


def test_tiny_values_keep_their_relative_accuracy():
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 60)
    alpha = q(299, 100)
    exact, interval = M.exact(alpha), M.delta(sp.log(alpha))
    assert exact < 1e-15
    assert exact in interval
    assert interval.relative_width <= 1e-3


def test_values_below_the_smallest_double_do_not_become_zero():
    M = shuffled_laws(ss.BinaryRR(eps0=4), 200_000)
    interval = M.delta(3.9)
    assert interval.lower >= 0
    assert 0 < interval.upper < 1e-300


def test_one_percent_at_ten_thousand_users():
    interval = shuffled_laws(ss.KRR(k=10, eps0=4), 10_000).delta(0.2)
    assert interval.relative_width <= 0.01
    assert interval.method == "contour"


@pytest.mark.parametrize("eps", [4, 4.0, q(4), sp.log(sp.exp(4)), 5, 1e6])
def test_delta_is_exactly_zero_from_the_largest_loss_on(eps):
    assert shuffled_laws(ss.KRR(k=10, eps0=4), 10_000).delta(eps) == ss.Interval(0.0, 0.0)


def test_delta_is_exactly_zero_at_an_irrational_loss():
    assert shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 100).delta(sp.log(3)) == ss.Interval(0.0, 0.0)
    assert shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 5).delta(sp.log(3) - q(1, 10**15)).upper > 0


def test_delta_falls_in_eps_and_in_n():
    grid = [0, 0.05, 0.1, 0.3, 1]
    for n in (10, 1_000):
        ends = [shuffled_laws(ss.KRR(k=4, eps0=2), n).delta(eps) for eps in grid]
        assert all(later.upper < earlier.lower for earlier, later in pairwise(ends))
    assert (
        shuffled_laws(ss.KRR(k=4, eps0=2), 1_000).delta(0.1).upper
        < shuffled_laws(ss.KRR(k=4, eps0=2), 10).delta(0.1).lower
    )


def test_a_smaller_rtol_gives_a_narrower_interval_around_the_same_value():
    M = shuffled_laws(ss.KRR(k=5, eps0=2), 300)
    wide, narrow = M.delta(0.3, rtol=0.1), M.delta(0.3, rtol=1e-5)
    assert narrow.relative_width <= 1e-5
    assert wide.lower <= narrow.upper
    assert narrow.lower <= wide.upper


# ------------------------------------------------------------------------------------------------ epsilon(delta)


@pytest.mark.parametrize("delta", [0.03, 1e-3, 1e-6, 1e-12])
def test_epsilon_has_certified_ends(delta):
    M = shuffled_laws(ss.KRR(k=10, eps0=4), 1_000)
    found = M.epsilon(delta)
    assert found.relative_width <= 1e-3
    assert M.delta(found.upper).upper <= delta
    assert found.lower == 0 or M.delta(found.lower).lower > delta


@pytest.mark.parametrize("factor", [1, 1 + 1e-12, 1 - 1e-9, 1 - 1e-4])
def test_epsilon_of_a_delta_near_the_largest_one_is_near_zero(factor):
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 10)
    delta = float(M.exact(1)) * factor
    found = M.epsilon(delta)
    assert found.lower == 0
    assert found.upper < 1e-3
    assert M.delta(found.upper, rtol=1e-6).upper <= delta


def test_a_target_just_below_one_is_rounded_down():
    M = shuffled_laws(ss.BinaryRR(eps0=60), 1)
    assert M.epsilon(1 - q(1, 10**20), method="exact").upper > 0


def test_a_denominator_that_is_nearly_zero_is_not_read_as_zero():
    D = ss.model.Decomposition([q(1, 2)] * 2, [q(1, 4), q(3, 4)], [sp.exp(q(1, 10**20)) - 1, q(1, 2)])
    assert q(1, 4) in shuffled_laws(D, 1).delta(0, method="exact")


def test_a_zero_in_disguise_is_a_null_atom():
    zero = sp.sqrt(3 + 2 * sp.sqrt(2)) - 1 - sp.sqrt(2)
    D = ss.model.Decomposition([q(1, 2)] * 2, [q(1, 4), q(3, 4)], [zero, q(1, 2)])
    assert D.c == (0, q(1, 2))
    assert shuffled_laws(D, 3).exact(1) == q(1, 4)
    assert q(1, 4) in shuffled_laws(D, 3).delta(0)


def test_a_privacy_level_next_to_zero():
    M = shuffled_laws(ss.BinaryRR(eps0=sp.log(1 + q(2, 10**60))), 3)
    assert M.exact(1) in M.delta(0)


def test_epsilon_brackets_the_exact_inverse():
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 6)
    alpha = q(7, 5)
    delta = M.exact(alpha)
    found = M.epsilon(delta)
    assert found.lower <= math.log(1.4) + 1e-12
    assert found.upper >= math.log(1.4) - 1e-12


def test_epsilon_is_zero_where_delta_is_generous():
    assert shuffled_laws(ss.KRR(k=10, eps0=4), 10_000).epsilon(0.5) == ss.Interval(0.0, 0.0)


def test_epsilon_of_a_tiny_delta_is_at_most_the_largest_loss():
    found = shuffled_laws(ss.BinaryRR(eps0=1), 3).epsilon(1e-200)
    assert found.lower <= 1 <= found.upper <= 1 + 1e-12


def test_epsilon_of_an_unbounded_loss_can_still_be_reached():
    M = shuffled_laws(ss.from_matrix([[1, 0], [0.5, 0.5]]), 3)
    assert M.epsilon(0.6).upper == 0.0


@pytest.mark.parametrize("t", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_huge_local_levels_where_round_off_dominates(t, n):
    M = shuffled_laws(ss.KRR(k=3, eps0=sp.log(t)), n)
    for alpha in (q(6, 5), q(1000)):
        assert M.exact(alpha) in M.delta(sp.log(alpha), rtol=0.5)


def test_the_exact_method_has_all_digits_of_a_double_for_irrational_levels():
    M = shuffled_laws(ss.KRR(k=3, eps0=1), 6)
    interval = M.delta(0.3, method="exact")
    value = M.exact(sp.exp(q(3, 10)), digits=40)
    assert interval.lower <= value <= interval.upper
    assert interval.relative_width < 1e-15


def test_digits_hold_where_terms_cancel():
    M, alpha = shuffled_laws(ss.KRR(k=3, eps0=1), 30), sp.exp(q(99, 100))
    few, many = M.exact(alpha, digits=10), M.exact(alpha, digits=60)
    with mpmath.workdps(70):
        assert abs(few / many - 1) < mpmath.mpf(10) ** -10


def test_a_delta_just_below_the_largest_loss_is_not_zero():
    assert shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 5).delta(sp.log(3) - q(1, 10**5)).upper > 0


def test_the_ceiling_of_epsilon_is_the_largest_loss_of_all_pairs():
    M = shuffled_laws(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 5)
    assert M.max_loss == sp.log(q(7, 2))
    assert M.epsilon(1e-200).upper >= math.log(3.5)


def test_delta_is_never_above_one():
    assert shuffled_laws(ss.from_matrix([[1, 0], [0, 1]]), 10).delta(1).upper == 1.0


def test_more_than_doubles_can_give_is_refused_before_any_work():
    with pytest.raises(ValueError, match=r"rtol must be at least 8\.9e-16"):
        ss.Shuffle(ss.BinaryRR(eps0=1), 10).delta(0.5, rtol=8e-16)


def test_of_several_decompositions_the_worst_counts_wherever_it_stands():
    both = ss.decomposition.blankets(ss.from_matrix([["9/10", "1/10"], ["5/11", "6/11"]]))
    values = [ss.Shuffle(D, 5).exact(sp.Rational(3, 2)) for D in both]
    assert values[0] > values[1] * 1.04
    for order in (both, both[::-1]):
        assert values[0] in ss.Shuffle(order, 5).hockey_stick(sp.Rational(3, 2), rtol=1e-3)


def test_an_answer_that_is_0_says_why_and_what_may_have_been_meant():
    M = ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000)
    assert repr(M.epsilon(0.5)).endswith("δ(0) is at most 0.5 already; for δ at an ε ask delta(eps=…)")
    assert "the largest loss" in repr(M.delta(20))
    assert "the largest loss" in M.delta(20)._repr_latex_()
    assert [str(M.epsilon(0.5)), repr(M.delta([20])), M.epsilon(1e-6).hint] == ["[0, 0]", "[Interval(0, 0)]", ""]
