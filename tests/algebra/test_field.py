"""The field of formulas: signs are proved or refused, and numbers come with known errors."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from shuffle_sym.algebra import field, rounding
from shuffle_sym.algebra.errors import VerificationError

t, k = field.t, field.k
pytestmark = pytest.mark.exact


def test_a_minimum_is_proved_for_all_t_and_k():
    assert field.minimum([t / (t + k - 1), 1 / (t + k - 1)], {}) == 1 / (k + t - 1)
    assert field.maximum([t / (t + k - 1), 1 / (t + k - 1)], {}) == t / (k + t - 1)


def test_a_minimum_that_changes_with_t_is_refused():
    with pytest.raises(VerificationError, match="changes sign at t = 2, inside the range"):
        field.minimum([t, sp.Integer(2)], {})


def test_a_minimum_that_changes_with_t_is_decided_once_t_is_a_number():
    assert field.minimum([t, sp.Integer(2)], {t: sp.exp(1)}) == 2
    assert field.minimum([t, sp.Integer(3)], {t: sp.exp(1)}) == t


def test_the_sign_of_an_irrational_zero_is_zero():
    x, y = sp.symbols("x y")
    assert field.sign(x * y - 6, {x: sp.sqrt(12), y: sp.sqrt(3)}) == 0
    assert field.sign(x * y - 6, {x: sp.sqrt(12) + sp.Rational(1, 10**200), y: sp.sqrt(3)}) == 1


@given(st.fractions(Fraction(1), Fraction(50)), st.integers(2, 40))
def test_fractions_are_what_sympy_substitutes(value, size):
    form = (t - 1) * (t + 2) / (t * (t + k - 1)) + sp.Rational(1, 3)
    (number,) = field.fractions([form], {t: sp.Rational(value), k: sp.Integer(size)})
    expected = form.subs({t: sp.Rational(value), k: size})
    assert number == Fraction(int(expected.p), int(expected.q))


@given(st.fractions(Fraction(1, 10**12), Fraction(20)))
def test_a_double_is_within_its_stated_error_of_the_number(eps0):
    # (t − 1)/(t + 2) loses all its digits in plain doubles when eps0 is small.
    (double,) = field.floats([(t - 1) / (t + 2)], {t: sp.exp(sp.Rational(eps0))})
    with mpmath.workdps(60):
        x = mpmath.exp(mpmath.mpf(eps0.numerator) / eps0.denominator)
        truth = (x - 1) / (x + 2)
        assert abs(mpmath.mpf(float(double)) / truth - 1) <= rounding.FLOAT_ERROR


def test_mpmath_numbers_have_the_digits_asked_for_and_leave_the_global_precision_alone():
    before = mpmath.mp.dps
    (number,) = field.mp_numbers([1 / (t + 1)], {t: sp.exp(sp.Rational(1, 7))}, 80)
    assert mpmath.mp.dps == before
    with mpmath.workdps(100):
        truth = 1 / (mpmath.exp(mpmath.mpf(1) / 7) + 1)
        assert abs(number / truth - 1) < mpmath.mpf(10) ** -80


def test_a_number_outside_the_doubles_is_refused_not_turned_into_zero():
    with pytest.raises(ValueError, match="range of doubles"):
        field.floats([1 / t], {t: sp.exp(800)})


q = sp.Rational
