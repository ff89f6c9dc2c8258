"""Symbols that carry their range: a proof may use what a symbol is, never how it is called."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
import sympy as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import field, quotients
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import Irrational, Parameter, parameter

pytestmark = pytest.mark.exact
q = sp.Rational
p, r = parameter("p", 0, 1), parameter("q", 0, 1)


# ------------------------------------------------------------------------------------------------ what a symbol is


def test_a_symbol_of_the_same_name_with_another_range_is_another_symbol():
    small, large, whole = parameter("x", 0, 1), parameter("x", 0, 2), parameter("x", 0, 1, integer=True)
    assert len({small, large, whole, sp.Symbol("x"), sp.Symbol("x", nonnegative=True), Irrational("x", 0, 1)}) == 6
    assert small - large != 0
    assert (small + large).xreplace({small: sp.Integer(1)}) == 1 + large


def test_what_sympy_remembers_of_one_range_is_not_used_for_another():
    wide, narrow = parameter("x", -1, 1), parameter("x", 0, 1)
    for _ in range(2):
        assert sp.sqrt(narrow**2) == narrow
        assert sp.sqrt(wide**2) != wide
        assert sp.Abs(wide) != wide
    assert sp.cancel((wide**2 - 1) / (wide - 1)).free_symbols == {wide}


@pytest.mark.parametrize("symbol", [p, field.t, field.k, parameter("z", -3, q(-1, 2)), Irrational("r0", -sp.oo)])
def test_a_symbol_survives_pickle_copy_and_sympify(symbol):
    expr = 1 / (symbol + 1)
    assert pickle.loads(pickle.dumps(expr)) == expr
    assert type(pickle.loads(pickle.dumps(symbol))) is type(symbol)
    assert copy.copy(symbol) == copy.deepcopy(symbol) == sp.sympify(symbol) == symbol
    assert copy.deepcopy(symbol).greatest == symbol.greatest


def test_assumptions_follow_from_the_range():
    assert field.t.is_positive
    assert field.k.is_integer
    assert p.is_nonnegative
    assert p.is_positive is None
    assert parameter("z", -3, q(-1, 2)).is_negative


def test_a_parameter_is_printed_where_a_symbol_would_be():
    assert str(ss.KRR().gamma) == "k/(k + exp(epsilon_0) - 1)"


@pytest.mark.parametrize(
    ("call", "exception", "words"),
    [
        (lambda: parameter("p", 1, 0), ValueError, "greatest must be above least = 1"),
        (lambda: parameter("p", 0, sp.pi), ValueError, "greatest must be a rational number"),
        (lambda: parameter("", 0, 1), TypeError, "name must be"),
        (lambda: parameter("p", "a", 1), ValueError, "least must be"),
    ],
)
def test_a_range_that_is_none_is_refused(call, exception, words):
    with pytest.raises(exception, match=words):
        call()


# ------------------------------------------------------------------------------------------------ matrices


def _two_by_two(x):
    return [[1 / (1 + x), x / (1 + x)], [x / (1 + x), 1 / (1 + x)]]


def test_a_users_symbol_is_not_taken_for_one_of_ours_because_of_its_name():
    # For s = e^(eps0/2) >= 1 this would be gamma = 2/(s + 1); at s = 1/2 that is 4/3.
    R = ss.from_matrix(_two_by_two(sp.Symbol("s", positive=True)))
    with pytest.raises(VerificationError, match="changes sign at s = 1"):
        _ = R.gamma
    assert ss.from_matrix(_two_by_two(parameter("s", 1))).gamma.subs(parameter("s", 1), 3) == q(1, 2)
    small = parameter("s", 0, 1)
    assert ss.from_matrix(_two_by_two(small)).gamma.subs(small, q(1, 2)) == q(2, 3)


def test_a_derivation_does_not_change_what_a_matrix_may_contain():
    X = sp.Symbol("X", positive=True)
    rows = [[(X - 1) / X, 1 / X], [1 / X, (X - 1) / X]]
    for _ in range(2):
        with pytest.raises(VerificationError, match="changes sign at X = 1"):
            ss.from_matrix(rows)
        ss.derivations.lemma58()


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        # The roots are those of linear and quadratic equations, solved by hand.
        (q(1, 3) - 4 * p / 3, ["changes sign at p = 1/4, inside", '("p", 0, "1/4") or ss.parameter("p", "1/4", 1)']),
        ((p - q(1, 4)) * (p - q(1, 2)), ["at p = 1/4 and at p = 1/2", '"1/4") or ss.parameter("p", "1/4", "1/2") or ']),
        ((p - q(1, 4)) ** 2 * (p - q(1, 3)), ["changes sign at p = 1/3, inside the range (0, 1) of p. Narrow it: "]),
        (1 / (p - q(2, 3)), ["changes sign at p = 2/3"]),
        (Parameter("x", 2) - 5, ["at x = 5, inside the range (2, oo) of x", 'ss.parameter("x", 5, sp.oo)']),
        (sp.Symbol("y", real=True), ["y changes sign at y = 0, inside the range (-oo, oo)", '"y", -sp.oo, 0) or ']),
        (p - r, ["Could not prove that p - q has one sign for all values"]),  # two symbols
        (sp.Symbol("z", positive=True) - 3, ["z - 3 changes sign at z = 3, inside the range (0, oo) of z"]),
    ],
)
def test_a_sign_that_changes_is_refused_with_the_place_where_it_does(formula, words):
    with pytest.raises(VerificationError) as caught:
        field.is_nonnegative(formula, {})
    for word in words:
        assert word in str(caught.value)


def test_an_irrational_place_where_a_sign_changes_is_enclosed_and_the_narrowed_ranges_are_proved():
    with pytest.raises(VerificationError, match="changes sign between p = ") as caught:
        field.is_nonnegative(2 * p**2 - 1, {})
    low, high = re.search("between p = (\\S+) and p = (\\S+), inside the range", str(caught.value)).groups()
    assert 2 * q(low) ** 2 < 1 < 2 * q(high) ** 2
    assert q(high) - q(low) <= q(1, 1000)
    assert not field.is_nonnegative(2 * parameter("p", 0, low) ** 2 - 1, {})
    assert field.is_nonnegative(2 * parameter("p", high, 1) ** 2 - 1, {})


def test_a_matrix_whose_blanket_changes_says_where():
    with pytest.raises(VerificationError, match="changes sign at p = 3/4, inside the range"):
        ss.from_matrix([[1 - p / 3, p / 3], [p, 1 - p]]).gamma  # noqa: B018
    narrow = parameter("p", "3/4", 1)
    gamma = ss.from_matrix([[1 - narrow / 3, narrow / 3], [narrow, 1 - narrow]]).gamma
    assert sp.expand(gamma) == 2 - 4 * narrow / 3  # the smaller entries are 1 - p/3 and 1 - p from p = 3/4 on


def test_a_matrix_with_two_free_probabilities():
    R = ss.from_matrix([[p, 1 - p], [r, 1 - r]])
    with pytest.raises(VerificationError, match="Could not prove"):
        _ = R.gamma  # which of p and q is smaller is not known
    # Report x with probability 1 − p, else a coin of bias q; either way the smaller entry is known.
    R = ss.from_matrix([[1 - p + p * r, p * (1 - r)], [p * r, 1 - p * r]])
    assert sp.expand(R.gamma - p) == 0


def test_a_probability_below_one_ninth():
    x = parameter("p", 0, q(1, 9))
    R = ss.from_matrix([[1 - 8 * x, 8 * x], [x, 1 - x]])
    assert sp.expand(R.gamma - 9 * x) == 0


def test_a_number_outside_the_range_of_its_symbol_is_refused():
    with pytest.raises(ValueError, match="t must be a number in 1"):
        ss.model.Decomposition([1 / field.t, 1 - 1 / field.t], [q(1, 2)] * 2, [0, 0], bindings={field.t: q(1, 2)})


# ------------------------------------------------------------------------------------------------ proofs


@pytest.mark.parametrize(
    ("expr", "proved"),
    [
        (1 - p, True),
        (1 - p * r, True),
        (p + r - p * r, True),
        (1 - p - r, False),
        (p - r, False),
        (p**2 - p + q(26, 100), True),  # positive, but close to zero in the middle
        (p**2 - p + q(24, 100), False),
        ((1 - p) / (2 - r), True),
        (1 / (p - 2), False),
        (field.t * p - p, True),
        (3 - parameter("z", -2, 3), True),
        (-Parameter("z", -sp.oo, 0), True),
    ],
)
def test_both_ends_of_a_range_are_used(expr, proved):
    assert field.proves_nonnegative(expr, {}) is proved


coefficients = st.lists(st.integers(-6, 9), min_size=9, max_size=9)
ends = st.tuples(st.fractions(-3, 3, max_denominator=6), st.fractions(-3, 3, max_denominator=6)).map(sorted)


def _polynomial(given_coefficients, x, y):
    return sum(c * x ** (i % 3) * y ** (i // 3) for i, c in enumerate(given_coefficients))


@given(
    coefficients,
    st.sampled_from([[1], [-1], [-1, -1], [1, -2], [-3, 1], [-1, 0, 0, 2], [0, 0, -1]]),
    ends,
    ends,
    st.booleans(),
    st.lists(st.fractions(0, 1), min_size=6, max_size=6),
)
def test_what_is_proved_holds(top, bottom, first, second, half_line, shares):
    assume(first[0] < first[1] and second[0] < second[1])
    x = Parameter("x", *(q(e) for e in first))
    y = Parameter("y", q(second[0]), sp.oo if half_line else q(second[1]))
    numerator, denominator = sp.sympify(_polynomial(top, x, y)), sp.sympify(_polynomial(bottom, x, y))
    for sign in (1, -1):
        if not field.proves_nonnegative(sign * numerator / denominator, {}):
            continue
        for share, other in zip((*shares[:3], 0, 1, 0, 1), (*shares[3:], 0, 0, 1, 1), strict=True):
            at_x = x.least + (x.greatest - x.least) * q(share)
            at_y = y.least + (10 * q(other) if half_line else (y.greatest - y.least) * q(other))
            below = denominator.subs({x: at_x, y: at_y})
            assert below == 0 or sign * numerator.subs({x: at_x, y: at_y}) / below >= 0


@given(coefficients, coefficients)
def test_the_canonical_form_is_that_of_sympy(top, bottom):
    t, k = field.t, field.k
    assume(any(bottom))
    expr = sum(c * t ** (i % 3) * k ** (i // 3) for i, c in enumerate(top)) / sum(
        c * t ** (i % 3) * k ** (i // 3) for i, c in enumerate(bottom)
    )
    assert field.simplest(expr) == sp.cancel(expr)
    assert quotients.quotient(expr).as_expr() == sp.cancel(expr)
