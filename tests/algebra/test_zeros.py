"""A zero is proved by algebra or refused; a number that is merely small is not called 0."""

from __future__ import annotations

import pytest
import sympy as sp
from conftest import shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import field, zeros
from shuffle_sym.algebra.errors import VerificationError

pytestmark = pytest.mark.exact
q = sp.Rational
exp, log, sqrt = sp.exp, sp.log, sp.sqrt


@pytest.mark.parametrize(
    "number",
    [
        log(12) - 2 * log(2) - log(3),
        log(q(35, 6)) + log(6) - log(5) - log(7),
        sqrt(6) - sqrt(2) * sqrt(3),
        sp.Integer(2) ** q(1, 3) * sp.Integer(4) ** q(1, 3) - 2,
        1 / (1 + sqrt(2)) - sqrt(2) + 1,
        (exp(1) ** 2 - 1) / (exp(1) - 1) - exp(1) - 1,
        exp(q(1, 2) + sqrt(2)) - exp(q(1, 2)) * exp(sqrt(2)),
        (exp(q(1, 3)) + 1) ** 3 - exp(1) - 3 * exp(q(2, 3)) - 3 * exp(q(1, 3)) - 1,
        log(8) / log(2) - 3,
        exp(q(10**9 + 1, 10**9)) - exp(1) * exp(q(1, 10**9)),
    ],
)
def test_a_zero_in_disguise_is_proved(number):
    assert zeros.vanishes(number)
    assert field.is_zero(number, {})
    assert not field.is_zero(number + q(1, 10**300), {})
    assert field.sign(number + q(1, 10**300), {}) == 1


def test_a_nested_root_is_decided_by_its_minimal_polynomial():
    assert field.sign(sqrt(3 + 2 * sqrt(2)) - 1 - sqrt(2), {}) == 0


def test_a_zero_that_cannot_be_proved_is_refused():
    # sin² + cos² − 1 is 0, which is not among the proofs.
    with pytest.raises(VerificationError, match="no proof that it is 0"):
        field.sign(sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, {})


@given(st.fractions(q(1, 50), 50), st.integers(20, 900))
def test_logarithms_of_different_numbers_differ(ratio, digits):
    first = q(ratio) + q(1, 10**digits)
    assert field.sign(log(first) - log(q(ratio)), {}) == 1
    assert not field.at_least(log(q(ratio)), log(first))
    assert field.at_least(log(first), log(q(ratio)))


def test_an_epsilon_just_below_the_local_one_is_not_taken_for_it():
    # simplify(log r1 − log r2) is 0 here, and the answer used to be [0, 0].
    r2 = 1 + q(1, 10**15)
    r1 = r2 + q(5, 2 * 10**55) * (r2 + 1) / 2
    M = shuffled_laws(ss.BinaryRR(eps0=log(r1)), 1)
    assert (r1 - r2) / (r1 + 1) in M.delta(log(r2))
    assert M.delta(log(r1)).upper == 0


def test_weights_that_miss_one_by_little_are_refused():
    parts = [ss.BinaryRR(eps0=1)] * 2
    assert ss.Parallel(parts, [log(2) / log(6), log(3) / log(6)]).gamma
    first = 1 + q(1, 10**15)
    wrong = log(first + q(1, 10**50)) / log(first)
    with pytest.raises(ValueError, match="sum to 1"):
        ss.Parallel(parts, [wrong / 2, q(1, 2)])
