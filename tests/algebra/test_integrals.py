"""Integrals contain the true value, and what is raised while they are computed comes out."""

from __future__ import annotations

import random
import signal
import time

import pytest
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, integrals
from shuffle_sym.algebra.errors import VerificationError

y = sp.Symbol("y", real=True)
PRIMITIVES = {  # densities, and a primitive of each
    "Gaussian": (sp.exp(-(y**2)), sp.sqrt(sp.pi) * sp.erf(y) / 2),
    "sech": (1 / sp.cosh(y), sp.atan(sp.sinh(y))),
    "logistic": (sp.exp(-y) / (1 + sp.exp(-y)) ** 2, sp.tanh(y / 2) / 2),
    "Cauchy": (1 / (1 + y**2), sp.atan(y)),
    "narrow": (1 / (1 + 10**8 * y**2), sp.atan(10**4 * y) / 10**4),
    "waves": (2 + sp.sin(40 * y), 2 * y - sp.cos(40 * y) / 40),
    "constant": (sp.Rational(1, 3), y / 3),
}
ENDS = [(-1, 1), (0, 12), (-30, 25), (sp.Rational(3, 7), sp.Rational(4, 7))]


class Stopped(BaseException):
    """What the alarm raises."""


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize(("density", "primitive"), PRIMITIVES.values(), ids=PRIMITIVES.keys())
def test_an_integral_contains_the_difference_of_the_primitive(density, primitive, ends):
    with balls.LOCK, balls.workprec(160):
        places = [balls.value(end) for end in map(sp.sympify, ends)]
        total = integrals.integral(balls.compiled(density, y), *places)
        assert total.rel_accuracy_bits() > 120
    with balls.LOCK, balls.workprec(400):
        left, right = (balls.value(primitive.subs(y, end)) for end in ends)
        assert total.contains(right - left)


def test_a_pole_next_to_the_line_and_one_on_it():
    # 1/(y - c) on [0, 1]: a logarithm while c is outside, refused when it is inside
    for c in (sp.Rational(-1, 10**6), sp.Rational(1000001, 10**6)):
        with balls.LOCK, balls.workprec(200):
            total = integrals.integral(balls.compiled(1 / (y - c), y), arb(0), arb(1))
            assert total.overlaps(balls.value(sp.log((1 - c) / c * -1)))
            assert balls.is_right_to(100, total)
    with balls.LOCK, balls.workprec(200), pytest.raises(VerificationError, match="from 0 to 1 cannot be enclosed"):
        integrals.integral(balls.compiled(1 / (y - sp.Rational(1, 3)), y), arb(0), arb(1))


def test_the_integral_of_a_function_that_is_known_badly_is_as_wide_as_that():
    with balls.LOCK, balls.workprec(160):
        total = integrals.integral(lambda z: z.exp() * arb(1, 1e-10), arb(0), arb(1))
        assert total.contains(arb(1).exp() - 1)
    assert 1e-10 < total.rad() < 1e-9


@pytest.mark.parametrize("call", [1, 2, 20, 30])
def test_what_the_function_raises_ends_the_integral_at_once(call):
    calls = 0

    def density(z):
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return (-z * z).exp()

    with pytest.raises(KeyboardInterrupt), balls.LOCK, balls.workprec(160):
        integrals.integral(density, arb(-9), arb(9))
    assert calls == call


def test_an_alarm_at_any_moment_comes_out_of_an_integral():
    def stop(*_):
        raise Stopped

    def density(z):
        return (-z * z / 2).exp()

    draw, before = random.Random(1), signal.signal(signal.SIGALRM, stop)
    stopped = 0
    try:
        start = time.perf_counter()
        with balls.LOCK, balls.workprec(160):
            whole = integrals.integral(density, arb(-30), arb(30))
        lasts = time.perf_counter() - start
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-5, lasts))
                with balls.LOCK, balls.workprec(160):
                    assert integrals.integral(density, arb(-30), arb(30)).overlaps(whole)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Stopped:
                stopped += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert stopped > 50
