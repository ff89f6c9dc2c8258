"""What an Interval shows is still a bound."""

from __future__ import annotations

import re
from fractions import Fraction

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
