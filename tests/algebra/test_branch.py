"""Inequalities over a box: true ones proved, false ones refuted by a point, and what is neither refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from shuffle_sym.algebra.branch import counterexample
from shuffle_sym.algebra.errors import VerificationError

a, b = sp.symbols("a b", real=True)
UNIT = {a: (Fraction(0), Fraction(1)), b: (Fraction(0), Fraction(1))}
TINY = Fraction(1, 1000)

TRUE = {
    "a square": ([(a - b) ** 2 * sp.exp(a)], -TINY),
    "touches at a corner": ([a * b], -TINY / 10**4),
    "Jensen": ([sp.exp(a) / 2 + sp.exp(b) / 2 - sp.exp((a + b) / 2)], -TINY),
    "one or the other": ([a - b, b - a], -TINY),
    "well above": ([2 + sp.sin(20 * a) * sp.cos(20 * b)], Fraction(9, 10)),
}
FALSE = {
    "below in a small region": (
        [(a - Fraction(1, 3)) ** 2 + (b - Fraction(1, 7)) ** 2 - Fraction(1, 10**5)],
        Fraction(0),
    ),
    "below by little": ([(a - b) ** 2 - TINY / 500], -TINY / 1000),
    "below on one side of where it touches": ([(a - Fraction(1, 2)) ** 3 + 0 * b], Fraction(0)),
    "both": ([a - b - Fraction(1, 100), b - a - Fraction(1, 100)], Fraction(0)),
}


@pytest.mark.parametrize(("formulas", "least"), TRUE.values(), ids=TRUE.keys())
def test_what_is_true_is_proved(formulas, least):
    assert counterexample(formulas, UNIT, least) is None


@pytest.mark.parametrize(("formulas", "least"), FALSE.values(), ids=FALSE.keys())
def test_what_is_false_has_a_point(formulas, least):
    point = counterexample(formulas, UNIT, least)
    values = {symbol: sp.Rational(place) for symbol, place in point.items()}
    assert all(sp.sympify(f).subs(values) < sp.Rational(least) for f in formulas)


def test_what_touches_its_bound_is_refused():
    with pytest.raises(VerificationError, match="200 boxes do not decide"):
        counterexample([(a - b) ** 2], UNIT, Fraction(0), most=200)


def test_a_pole_is_never_passed_over():
    # It is −∞ on one side of 1/3.
    point = counterexample([1 / (a - Fraction(1, 3)) + 100], {a: UNIT[a]}, Fraction(0))
    assert 1 / (point[a] - Fraction(1, 3)) + 100 < 0
