"""Bisection, Newton's method and the search for ε: what comes out has the property it was searched for."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.numeric.search import boundary, increasing_roots, last_that_holds, smallest_epsilon


@given(st.integers(-(10**20), 10**20), st.integers(-(10**20), 10**20), st.booleans())
def test_bisection_of_whole_numbers_ends_at_neighbours(limit, other, upward):
    def holds(x):
        return x <= limit if upward else x >= limit

    distance = abs(other) + 1
    good, bad = last_that_holds(holds, limit, limit + distance if upward else limit - distance)
    assert (good, bad) == (limit, limit + 1 if upward else limit - 1)


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_bisection_of_doubles_ends_at_neighbours(limit, other):
    low, high = sorted((limit, other))
    if low < high:
        good, bad = last_that_holds(lambda x: x <= low, low, high)
        assert good == low
        assert bad == rounding.above(low)


def test_bisection_stops_at_the_width_asked_for():
    asked = []

    def holds(x):
        asked.append(x)
        return x < 0.3

    good, bad = last_that_holds(holds, 0.0, 1.0, atol=0.1)
    assert good < 0.3 <= bad
    assert bad - good <= 0.1
    assert len(asked) == 4
    good, bad = last_that_holds(lambda x: x < 1000.3, 0.0, 2.0**11, rtol=1e-3)
    assert good < 1000.3 <= bad
    assert 0.5 < bad - good <= 1.1


def test_roots_are_found_for_every_entry_even_where_newtons_method_alone_would_leave():
    # arctan(log x/c): Newton's steps from far away overshoot and run off.
    centres = np.array([1e-6, 1.0, 3.0, 1e8])

    def function(x):
        logs = np.log(x / centres)
        return np.arctan(logs), 1 / (x * (1 + logs**2))

    ones = np.ones(4)
    roots = increasing_roots(function, 50 * ones, 1e-9 * ones, 1e12 * ones, lambda v, d: np.abs(v) < 1e-12)
    assert np.abs(roots / centres - 1).max() < 2e-3


@pytest.mark.parametrize("blur", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("sharpens", [True, False])
@pytest.mark.parametrize("max_loss", [3.0, math.inf])
@pytest.mark.parametrize("target", [0.4, 1e-3, 1e-9])
def test_the_ends_of_epsilon_are_certain_however_blurred_delta_is(blur, sharpens, max_loss, target):
    def delta(eps):
        return 0.0 if eps >= max_loss else 0.5 * math.exp(-4 * eps * eps - eps)

    def delta_at(eps, rtol):
        width = min(blur, rtol) if sharpens else blur
        return Interval(delta(eps) * (1 - width), delta(eps) * (1 + width))

    answer = smallest_epsilon(delta_at, target, 1e-3, max_loss, sharpens=sharpens)
    assert delta(answer.upper) <= target
    assert answer.lower == 0 or delta(answer.lower) > target
    if sharpens or not blur:
        assert answer.width <= 1e-3 * max(answer.upper, 0.51)  # for ε near 0 relative to δ(0)


def test_a_delta_that_never_falls_to_the_target_is_refused():
    with pytest.raises(ValueError, match="is not reached by any eps <= 700"):
        smallest_epsilon(lambda eps, _: Interval(0.2, 0.2), 0.1, 1e-3, math.inf)


def test_an_exact_fraction_on_the_boundary_is_met_from_above():
    def delta_at(eps, _):
        value = Fraction(1, 2) - Fraction(eps) / 4  # 1/4 at ε = 1
        return Interval(rounding.down(max(value, Fraction(0))), rounding.up(max(value, Fraction(0))))

    answer = smallest_epsilon(delta_at, 0.25, 1e-6, 2.0)
    assert answer.lower <= 1 <= answer.upper


def test_a_delta_that_is_the_target_itself_meets_it():
    def step(x, _):
        return Interval(0.25, 0.25) if x >= 3 else Interval(0.5, 0.5)

    meets, fails = boundary(step, 0.25, 8.0, 1.0, 1e-3)
    assert 2.99 < fails < 3 <= meets < 3.01


def test_a_range_in_which_delta_decides_nothing_is_left_in_few_steps():
    # δ is known to 5 % and ε is asked for to 1e-7: some 10⁵ times less than the range in which nothing is decided.
    asked = []

    def delta_at(eps, _):
        asked.append(eps)
        delta = 0.5 * math.exp(-4 * eps * eps - eps)
        return Interval(0.95 * delta, 1.05 * delta)

    answer = smallest_epsilon(delta_at, 1e-3, 1e-7, math.inf, sharpens=False)
    assert delta_at(answer.lower, 0).lower < 1.0001e-3
    assert delta_at(answer.upper, 0).upper > 0.9999e-3
    assert len(asked) < 80


def test_values_that_say_nothing_below_the_bracket_do_not_matter_any_more():
    asked = []

    def delta_at(eps, _):
        asked.append(eps)
        if eps < 40:
            return Interval(0.0, 1.0)
        return Interval(1e-3 * math.exp(45 - eps), 1e-3 * math.exp(45 - eps))

    answer = smallest_epsilon(delta_at, 1e-3, 1e-3, 62.0)
    assert answer.lower <= 45 <= answer.upper
    assert len(asked) == len(set(asked)) <= 20
