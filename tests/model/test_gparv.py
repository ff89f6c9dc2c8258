"""The values of the random variable G: enclosures, and doubles with the error that is stated."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from conftest import decompositions
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import balls, precise, rounding
from shuffle_sym.model.gparv import Ratio

q = sp.Rational


def test_the_bounds_of_a_value_of_g_contain_it():
    # Rational masses, so that the bounds of α alone decide.
    for eps0, t in ((sp.log(3), mpmath.mpf(3)), (sp.Integer(1), None)):
        low, high = balls.ends(ss.KRR(k=3, eps0=eps0).gparv()._gaps(Ratio(eps=q(1, 7)), 40)[0])
        with mpmath.workdps(200):
            truth = (mpmath.e if t is None else t) - mpmath.exp(mpmath.mpf(1) / 7)
            assert mpmath.mpf(low.numerator) / low.denominator < truth < mpmath.mpf(high.numerator) / high.denominator


ratios = st.fractions(Fraction(1, 100), 100, max_denominator=10**6)


@given(decompositions(largest=4), ratios)
def test_the_values_of_g_have_the_error_that_is_stated(D, alpha):
    law = D.gparv.floats(q(alpha.numerator, alpha.denominator))
    truth = D.gparv.exact(q(alpha.numerator, alpha.denominator), 50)
    for double, exact in zip(law.values, truth.values, strict=True):
        assert abs(Fraction(float(double)) - exact) <= Fraction(rounding.FLOAT_ERROR) * abs(exact)


@given(st.fractions(-30, 30, max_denominator=10**9))
def test_the_values_of_g_have_that_error_at_exponentials_as_well(eps):
    D, ratio = ss.decomposition.clones(3), Ratio(eps=q(eps.numerator, eps.denominator))
    law, truth = D.gparv.floats_at([ratio]), D.gparv.exact(ratio.alpha, 50)
    with mpmath.workdps(60):
        for double, exact in zip(law.values[0], truth.values, strict=True):
            assert abs(mpmath.mpf(float(double)) - exact) <= rounding.FLOAT_ERROR * abs(exact)
        alpha = mpmath.exp(mpmath.mpf(eps.numerator) / eps.denominator)
        assert abs(precise.middle(ratio.ball, 60) / alpha - 1) <= mpmath.mpf(2) ** -119
        assert math.isclose(ratio.log, eps, rel_tol=1e-14, abs_tol=1e-14)


def test_a_value_of_g_next_to_zero_has_that_error_and_a_zero_is_zero():
    t = sp.exp(q(1, 3))
    D = ss.model.Decomposition([t / (t + 1), 1 / (t + 1)], [1 / (t + 1), t / (t + 1)], [1 / (t + 1)] * 2)
    for digits in (20, 40, 80, 300):
        near = q(1, 3) + q(1, 10**digits)
        law, truth = D.gparv.floats_at([Ratio(eps=near)]), D.gparv.exact(sp.exp(near), 50)
        for double, exact in zip(law.values[0], truth.values, strict=True):
            assert abs(Fraction(float(double)) - precise.fraction(exact)) <= rounding.FLOAT_ERROR * abs(
                precise.fraction(exact)
            )
    assert 0.0 in D.gparv.floats_at([Ratio(eps=q(1, 3))]).values
    assert Ratio(eps=q(-1, 10**30)).less_than_one_by == pytest.approx(1e-30, rel=1e-15)
