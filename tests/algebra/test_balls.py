"""Enclosures contain the number, at every precision and in every thread."""

from __future__ import annotations

import random
import signal
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import flint
import mpmath
import pytest
import sympy as sp
from flint import acb, arb
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
    sp.besselk(1, 1) * sp.besseli(0, q(5, 2)),
]


@pytest.mark.parametrize("bits", [40, 128, 700])
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_the_ball_of_a_constant_contains_it(formula, bits):
    truth = precise.fraction(sp.N(formula, 300))
    with balls.LOCK, balls.workprec(bits):
        low, high = balls.ends(balls.value(formula))
    room = abs(truth) / Fraction(10) ** 290  # of the 300 digits
    assert low - room <= truth <= high + room
    assert high - low <= abs(truth) / 2 ** (bits - 24)


def test_a_function_without_interval_arithmetic_is_refused():
    with pytest.raises(VerificationError, match="no interval arithmetic for besselj"):
        balls.value(sp.besselj(0, 1))


def test_pieces_that_the_balls_do_not_tell_apart_are_both_inside():
    step = sp.Piecewise((0, x < 1), (1, True))
    with balls.LOCK, balls.workprec(60):
        assert balls.ends(balls.value(step, {x: arb(2)})) == (1, 1)
        both = balls.value(step, {x: balls.value(sp.sqrt(3) ** 2 / 3)})
        near_one = balls.value(step, {x: arb(1, 1e-9)})
    assert near_one.contains(0)
    assert near_one.contains(1)
    assert both.is_finite()


ANALYTIC = {  # and a complex box over which it is not, at a cut
    "square root": (sp.sqrt(x), acb(arb(-2, 0.5), arb(0, 0.5))),
    "square root at 0": (sp.sqrt(1 + x**2), acb(arb(0, 0.5), arb(1, 0.5))),
    "power": (x ** q(-4, 3), acb(arb(-2, 0.5), arb(0.25, 0.25))),
    "constant base": (2 ** sp.sqrt(x), acb(arb(-1, 0.5), arb(0, 0.1))),
    "both": (x**x, acb(arb(-1, 0.5), arb(0, 0.1))),
    "logarithm": (sp.log(x), acb(arb(-2, 0.5), arb(0, 0.5))),
    "arc": (sp.atan(x), acb(arb(0, 0.5), arb(2, 0.5))),
    "gamma": (sp.loggamma(x), acb(arb(-2.5, 0.2), arb(0, 0.5))),
    "Lambert": (sp.LambertW(x), acb(arb(-2, 0.5), arb(0, 0.5))),
    "Bessel": (sp.besselk(q(1, 3), x), acb(arb(-2, 0.5), arb(0, 0.5))),
    "absolute value": (sp.Abs(x), acb(arb(2, 0.5), arb(1, 0.5))),
}


@pytest.mark.parametrize(("formula", "at_a_cut"), ANALYTIC.values(), ids=ANALYTIC.keys())
@pytest.mark.parametrize("evaluate", ["compiled", "value"])
def test_functions_of_complex_balls_are_finite_only_where_they_are_analytic(formula, at_a_cut, evaluate):
    def at(z):
        return balls.compiled(formula, x)(z) if evaluate == "compiled" else balls.value(formula, {x: z})

    with balls.LOCK, balls.workprec(100):
        assert not at(at_a_cut).is_finite()
        low, high = balls.ends(at(arb(3) / 4))
        box = at(acb(arb(0.75, 0.01), arb(0.01, 0.01)))
    truth = precise.fraction(sp.N(formula.subs(x, q(3, 4)), 60))
    assert abs(truth - low) < Fraction(1, 2**80) > abs(truth - high)
    if isinstance(formula, sp.Abs):
        assert not box.is_finite()
        return
    for place in (0.75, 0.742 + 0.003j, 0.757 + 0.019j):
        value = complex(sp.N(formula.subs(x, sp.sympify(place))))
        assert box.real.contains(arb(value.real))
        assert box.imag.contains(arb(value.imag))


def test_a_whole_power_of_a_ball_around_0_is_finite():
    with balls.LOCK, balls.workprec(60):
        for ball in (balls.compiled(x**3, x)(arb(0, 1)), balls.value(x**3, {x: arb(0, 1)})):
            assert ball.contains(arb(-1))
            assert ball.contains(arb(1))
            assert ball.is_finite()
        assert not balls.compiled(x**-2, x)(arb(0, 1)).is_finite()


def test_a_branch_of_a_function_that_has_no_ball_is_refused():
    for evaluate in (balls.value, lambda formula: balls.compiled(formula.subs(q(-1, 10), x), x)):
        with pytest.raises(VerificationError, match="LambertW"):
            evaluate(sp.LambertW(q(-1, 10), -1))


@given(st.fractions(q(1, 10**6), 10**6), st.integers(30, 200))
def test_a_value_with_symbols_is_that_of_the_numbers(number, bits):
    formula = sp.exp(-x) / (1 + x) - x**3
    with balls.LOCK, balls.workprec(bits):
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


def test_an_interrupt_at_any_moment_leaves_the_precision_as_it_was():
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    def work():
        while True:
            with balls.LOCK, balls.workprec(160):
                arb(2).sqrt()

    rng, before, kept = random.Random(1), signal.signal(signal.SIGALRM, stop), []
    try:
        for _ in range(300):
            # Once more after a while: where Python collects garbage, what is raised is lost.
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 1e-3), 0.05)
            try:
                work()
            except StopError as stopped:
                signal.setitimer(signal.ITIMER_REAL, 0)
                kept.append(stopped)  # as a notebook keeps the last one
                assert flint.ctx.prec == 53
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(kept) == 300
