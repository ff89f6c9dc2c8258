"""What an Interval shows is still a bound."""

from __future__ import annotations

import math
import operator
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_ends_are_shown_rounded_outward(x, y):
    interval = ss.Interval(min(x, y), max(x, y))
    shown = re.sub(r"\\cdot 10\^\{(-?\d+)\}", r"e\1", interval._repr_latex_())
    for text in (shown, str(interval)):
        lower, upper = (Fraction(number) for number in re.findall(r"[\d.]+(?:e-?\d+)?", text))
        assert lower <= Fraction(interval.lower)
        assert upper >= Fraction(interval.upper)


def test_containment_is_exact():
    third = ss.Interval(1 / 3, 1 / 3)
    assert Fraction(1 / 3) in third
    assert Fraction(1, 3) not in third
    assert sp.Rational(1, 3) not in third


def test_the_method_takes_no_part_in_comparisons():
    assert ss.Interval(0.0, 1.0, "fft") == ss.Interval(0.0, 1.0, "exact")


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(["f", "e", "g"]), st.integers(0, 20))
def test_formats_of_numbers_round_outward(x, y, kind, digits):
    interval = ss.Interval(min(x, y), max(x, y))
    lower, upper = (Fraction(number) for number in f"{interval:.{digits}{kind}}"[1:-1].split(", "))
    assert lower <= Fraction(interval.lower)
    assert upper >= Fraction(interval.upper)


def test_other_formats_are_those_of_text():
    assert f"{ss.Interval(1.0, 2.0):>12}" == "      [1, 2]"
    assert f"{ss.Interval(0.0, math.inf):.2f}" == "[0.00, inf]"


@given(st.floats(0, 3), st.floats(0, 3), st.fractions(0, 3) | st.floats(0, 3).map(Fraction))
def test_comparisons_are_true_of_every_number_inside_or_refused(x, y, z):
    interval = ss.Interval(min(x, y), max(x, y))
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        truths = {compare(Fraction(end), z) for end in interval}
        for number in (z, sp.Rational(z.numerator, z.denominator)):
            if truths == {True} or truths == {False}:
                assert truths == {compare(interval, number)}
            else:
                with pytest.raises(ValueError, match=r"compare \.upper, the guarantee"):
                    compare(interval, number)


def test_a_number_is_compared_without_rounding():
    tenth = ss.Interval(0.1, 0.1)
    assert tenth > Fraction(1, 10)  # the double is a little more
    assert tenth > sp.Rational(1, 10)
    assert tenth <= 0.1
    assert ss.Interval(0.6, 0.69) < sp.log(2)


def test_two_intervals_compare_where_they_do_not_overlap():
    assert ss.Interval(1, 2) < ss.Interval(3, 4)
    with pytest.raises(ValueError, match="neither below"):
        _ = ss.Interval(1, 3) < ss.Interval(2, 4)


def test_an_interval_is_two_numbers():
    lower, upper = ss.Interval(0.25, 0.5)
    assert (lower, upper) == (0.25, 0.5)
    with pytest.raises(TypeError, match=r"take \.upper, the guarantee"):
        float(ss.Interval(0.25, 0.5))


def test_a_list_of_intervals_is_one_column():
    answers = [ss.Interval(0.25, 0.5), ss.Interval(0.5, 0.75)]
    assert np.array(answers).shape == (2,)
    assert pd.DataFrame({"eps": answers}).loc[1, "eps"] == answers[1]
    assert repr(answers) == "[Interval(0.25, 0.5), Interval(0.5, 0.75)]"


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_is_shown_in_a_list_is_an_interval_around_it(x, y):
    interval = ss.Interval(min(x, y), max(x, y))
    shown = eval(repr(interval), {"Interval": ss.Interval})
    assert shown.lower <= interval.lower <= interval.upper <= shown.upper
