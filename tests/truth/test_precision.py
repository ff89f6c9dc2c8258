"""Precision is the caller's own: what one thread asks for changes no digit of another's."""

from __future__ import annotations

import sys
import threading

import mpmath
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import precise
from shuffle_sym.truth import exact, ground_truth

R = ss.BinaryRR(eps0=1)
ALPHA = sp.exp(sp.Rational(1, 3))
QUESTIONS = {
    "divergence": lambda digits: exact.divergence(ss.decomposition.blanket(R), 4, ALPHA, digits),
    "renyi_moment": lambda digits: exact.renyi_moment(ss.decomposition.dataset(R, 0, 1, 0), 3, 2, digits),
    "two_rr_moment": lambda digits: exact.two_rr_moment(1, 5, sp.Rational(5, 2), digits=digits),
    "renyi_divergence": lambda digits: exact.renyi_divergence(sp.Rational(5, 3), sp.Rational(5, 2), digits),
    "delta": lambda digits: ground_truth.delta(R, (0, 1, 0), (1, 1, 0), ALPHA, digits),
    "worst_pair": lambda digits: ground_truth.worst_pair(R, 3, ALPHA, digits).delta,
    "worst_moments": lambda digits: ground_truth.worst_moments(R, 2, [sp.Rational(5, 2)], digits)[0].moment,
}


@pytest.fixture
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("question", QUESTIONS)
def test_two_threads_with_50_and_200_digits_do_not_spoil_each_others_digits(question, frequent_switches):
    ask = QUESTIONS[question]
    truth = precise.fraction(ask(260))
    wrong, errors = [], []

    def repeat(digits: int) -> None:
        try:
            for _ in range(20):
                value = precise.fraction(ask(digits))
                if abs(value - truth) > truth / 10**digits:
                    wrong.append(digits)
        except Exception as error:  # a thread that dies must not look like one that is right
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(digits,)) for digits in (50, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, errors) == ([], [])


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_callers_precision_is_neither_used_nor_changed(question):
    ask = QUESTIONS[question]
    before, truth = mpmath.mp.dps, precise.fraction(ask(60))
    mpmath.mp.dps = 5
    try:
        value = ask(50)
        assert mpmath.mp.dps == 5
    finally:
        mpmath.mp.dps = before
    assert isinstance(value, mpmath.mpf)
    assert abs(precise.fraction(value) - truth) <= truth / 10**50
