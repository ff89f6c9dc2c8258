"""Enclosures contain the number, at every precision and in every thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from shuffle_sym.algebra import balls, field, precise
from shuffle_sym.algebra.errors import VerificationError

q = sp.Rational
x = sp.Symbol("x", real=True)
FORMULAS = [
    sp.exp(q(1, 7)),
    sp.log(q(5, 3)),
    sp.sqrt(2) + sp.pi,
    sp.Integer(5) ** q(2, 3) / sp.E,
    sp.Integer(3) ** sp.sqrt(2),
    sp.erf(q(1, 3)) * sp.erfc(q(7, 2)),
    sp.Abs(-sp.log(3)) - sp.Min(sp.E, 3) + sp.Max(sp.pi, 3),
    sp.sinh(1) + sp.cosh(1) * sp.tanh(q(1, 2)),
    sp.sin(1) * sp.cos(2) + sp.tan(1) - sp.atan(3),
    sp.gamma(q(1, 3)) + sp.loggamma(q(10, 3)),
    sp.LambertW(2) + sp.EulerGamma + sp.GoldenRatio + sp.Catalan,
    sp.exp(-sp.exp(sp.exp(2))),
]


@pytest.mark.parametrize("bits", [40, 128, 700])
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_the_ball_of_a_constant_contains_it(formula, bits):
    truth = precise.fraction(sp.N(formula, 300))
    with balls.precision(bits):
        low, high = balls.ends(balls.value(formula))
    room = abs(truth) / Fraction(10) ** 290  # of the 300 digits
    assert low - room <= truth <= high + room
    assert high - low <= abs(truth) / 2 ** (bits - 24)


def test_a_function_without_interval_arithmetic_is_refused():
    with pytest.raises(VerificationError, match="no interval arithmetic for besselj"):
        balls.value(sp.besselj(0, 1))


def test_pieces_that_the_balls_do_not_tell_apart_are_both_inside():
    step = sp.Piecewise((0, x < 1), (1, True))
    with balls.precision(60):
        assert balls.ends(balls.value(step, {x: arb(2)})) == (1, 1)
        both = balls.value(step, {x: balls.value(sp.sqrt(3) ** 2 / 3)})
        near_one = balls.value(step, {x: arb(1, 1e-9)})
    assert near_one.contains(0)
    assert near_one.contains(1)
    assert both.is_finite()


@given(st.fractions(q(1, 10**6), 10**6), st.integers(30, 200))
def test_a_value_with_symbols_is_that_of_the_numbers(number, bits):
    formula = sp.exp(-x) / (1 + x) - x**3
    with balls.precision(bits):
        low, high = balls.ends(balls.value(formula, {x: balls.ball(number)}))
        direct = balls.ends(balls.value(formula.subs(x, q(number))))
    assert low <= direct[1]
    assert direct[0] <= high


def test_four_threads_with_other_precisions_get_the_same_bits():
    t = field.t
    formulas = [(t - 1) ** 3 / (t + 2), 1 / (t + sp.Integer(9)), t**4 - 3 * t]

    def answers(digits: int) -> list[tuple[int, int]]:
        numbers = []
        for i in range(40):
            bindings = {t: sp.exp(q(i + 1, 10**6))}
            numbers += [tuple(map(int, v._mpf_[1:3])) for v in field.mp_numbers(formulas, bindings, digits)]
            numbers += [float(v).hex() for v in field.floats(formulas, bindings)]
        return numbers

    precisions = [20, 60, 150, 400]
    alone = [answers(digits) for digits in precisions]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answers, precisions)) == alone
    assert mpmath.mp.dps == 15
