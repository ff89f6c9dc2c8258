"""Every kind of number that a caller may hold is taken as exactly what it is, or refused in words."""

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import arguments


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (Decimal("0.1"), sp.Rational(1, 10)),
        (Decimal("-0.10"), sp.Rational(-1, 10)),
        (Decimal("1E+3"), sp.Integer(1000)),
        (Decimal("0.1234567890123456789012345"), sp.Rational(1234567890123456789012345, 10**25)),
        (Fraction(1, 3), sp.Rational(1, 3)),
        (np.array(0.1), sp.Rational(1, 10)),
        (mpmath.mpf("0.5"), sp.Rational(1, 2)),
        ("1_000", sp.Integer(1000)),
    ],
)
def test_a_number_is_taken_as_what_it_is(given, exact):
    assert arguments.exact_number(given, "eps") == exact


def test_a_constant_of_mpmath_is_its_binary_value_as_of_any_other_mpf():
    assert arguments.exact_number(mpmath.mp.pi, "eps") == arguments.exact_number(+mpmath.mp.pi, "eps")


@pytest.mark.parametrize("given", ["NaN", "sNaN", "Infinity", "1E+1000000000", "1E-400"])
def test_a_decimal_that_is_no_number_of_a_reasonable_size_is_refused_at_once(given):
    with pytest.raises(ValueError, match="eps must be a number such as"):
        arguments.exact_number(Decimal(given), "eps")


@pytest.mark.parametrize("given", ["0x10", "0b1", "0o7", "0X1F", "1+0x10"])
def test_numbers_are_decimal(given):
    with pytest.raises(ValueError, match="n must be a number such as"):
        ss.Shuffle(ss.BinaryRR(eps0=1), given)
    with pytest.raises(ValueError, match="eps0 must be a number such as"):
        ss.KRR(k=3, eps0=given)


def test_an_interval_of_mpmath_is_refused_by_its_name():
    wide = mpmath.iv.mpf([1, 2])
    asked = {
        "eps0": lambda: ss.KRR(k=3, eps0=wide),
        "k": lambda: ss.KRR(k=mpmath.iv.mpf(10), eps0=1),
        "n": lambda: ss.Shuffle(ss.BinaryRR(eps0=1), mpmath.iv.mpf(10)),
        "delta": lambda: ss.Shuffle(ss.BinaryRR(eps0=1), 10).epsilon(wide),
        r"P\[0\]\[0\]": lambda: ss.from_matrix([[wide, 0], [1, 0]]),
    }
    for name, question in asked.items():
        with pytest.raises(TypeError, match=f"^{name} must be .*, got the interval mpi"):
            question()


def test_a_decimal_is_a_number_of_users_and_a_target():
    M = ss.Shuffle(ss.KRR(k=Decimal(3), eps0=Decimal(1)), Decimal("1E+3"))
    assert M.epsilon(Decimal("1e-6")) == ss.Shuffle(ss.KRR(k=3, eps0=1), 1000).epsilon(1e-6)
    with pytest.raises(ValueError, match=r"n must be an integer >= 1, got 21/2"):
        ss.Shuffle(ss.KRR(k=3, eps0=1), Decimal("10.5"))
