"""NumPy functions of exact formulas against mpmath at 50 digits, and what they refuse."""

from __future__ import annotations

import inspect
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shuffle_sym.algebra import compiled as compiling
from shuffle_sym.algebra import precise
from shuffle_sym.algebra.compiled import NumpyFunction, log_multinomial
from shuffle_sym.algebra.rounding import FLOAT_ERROR
from shuffle_sym.algebra.symbols import parameter

n, k, j = sp.symbols("n k j", integer=True, nonnegative=True)
x = sp.Symbol("x", positive=True)
t = parameter("t", 1)
mp = precise.context(50)


def exact(number):
    """A double or fraction as an mpmath number, with all its digits."""
    whole = Fraction(number)
    return mp.mpf(whole.numerator) / whole.denominator


def compiled(expr, symbols, log=None, **bindings):
    return NumpyFunction(
        expr, symbols, "f", "A formula.", log, {s: bindings[s.name] for s in (t, x) if s.name in bindings}
    )


def log_law(h, shares):
    total = mp.loggamma(sum(h) + 1) - sum(mp.loggamma(i + 1) for i in h)
    return total + sum(i * mp.log(c) for i, c in zip(h, shares, strict=True) if i)


# -- accuracy


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 10**4), min_size=2, max_size=4),
    st.sampled_from([1, 7, 20, 10**3, 10**6, 10**9]),
    st.lists(st.floats(-4, 4), min_size=4, max_size=4),
)
def test_a_multinomial_probability_has_the_error_that_is_stated(weights, size, moves):
    shares = [exact(w) / sum(weights) for w in weights]
    doubles = [float(c) for c in shares]
    h = [max(round(size * c + m * (size * c) ** 0.5), 0) for c, m in zip(doubles, moves, strict=False)]
    log, error = log_multinomial(h, doubles, FLOAT_ERROR)
    assert abs(exact(float(log)) - log_law(h, shares)) <= error


def test_small_factorials_are_right_to_the_last_digit():
    for size in (1, 2, 15, 16, 17, 30, 100):
        main = mp.loggamma(size + 1) - size * mp.log(size) + size
        assert abs(exact(float(compiling._log_factorial_excess(np.array(float(size))))) - main) < 1.5e-15


def test_a_base_near_one_costs_what_its_last_digit_is_raised_to():
    log, error = compiled(x**k, (k,), x=1 + sp.Rational(1, 3 * 10**9)).with_error(10**9)
    truth = 10**9 * mp.log1p(exact(Fraction(1, 3 * 10**9)))
    assert 1e-10 < abs(exact(float(log)) - truth) <= error


def test_a_binomial_law_is_right_to_1e_12_for_a_million_users():
    law = compiled(sp.binomial(n, k) * x**k * (1 - x) ** (n - k), (k, n), x=sp.Rational(1, 3))
    counts = np.arange(333_333 - 4_700, 333_333 + 4_700, 97)  # ten standard deviations to each side
    logs, errors = law.with_error(counts, 10**6)
    for count, log, error in zip(counts, logs, errors, strict=True):
        truth = log_law((int(count), 10**6 - int(count)), (exact(Fraction(1, 3)), exact(Fraction(2, 3))))
        assert abs(exact(float(log)) - truth) <= min(float(error), 2e-12)
        assert error < 1e-10


def test_the_law_of_koskela_et_al_for_ten_thousand_users_is_a_number():
    # (6.7) as it is printed; compiled as it stands it is inf · 0.
    (a, b, n), (p, q) = sp.symbols("a b n", integer=True, positive=True), sp.symbols("p q", positive=True)
    P1 = sp.binomial(n - 1, a + b - 1) * sp.binomial(a + b - 1, a - 1) * (p / 2) ** (a + b - 1) * (1 - p) ** (n - a - b)
    given = (q + (1 - q) * p / (1 - p) * (n - a - b) / (2 * a)) * P1
    point = (91, 88, 10**4, 2.0**-6, 0.75)
    with np.errstate(all="ignore"):
        assert np.isnan(sp.lambdify((a, b, n, p, q), given, ["numpy", "scipy"])(*map(np.float64, point)))

    def law(i, first):
        ways = mp.binomial(9_999, i) * mp.binomial(i, first) / mp.mpf(2) ** i
        return ways * mp.mpf(2) ** (-6 * i) * (1 - mp.mpf(2) ** -6) ** (9_999 - i)

    truth = mp.log(3 * law(178, 90) / 4 + law(179, 91) / 4)
    assert abs(exact(float(compiled(given, (a, b, n, p, q))(*point))) - truth) < 1e-13


FORMULAS = {
    "a central coefficient": (sp.binomial(2 * k, k) / 4**k, lambda m: mp.binomial(2 * m, m) / mp.mpf(4) ** m),
    "two coefficients": (
        sp.binomial(n, k) * sp.binomial(k, j),
        lambda m: mp.binomial(3 * m, m) * mp.binomial(m, m // 2),
    ),
    "an offset": (
        sp.binomial(n, k) * sp.Rational(1, 3) ** (k + 2),
        lambda m: mp.binomial(3 * m, m) / mp.mpf(3) ** (m + 2),
    ),
    "one below twice": (
        sp.binomial(n, k) * sp.binomial(n + 1, k),
        lambda m: mp.binomial(3 * m, m) * mp.binomial(3 * m + 1, m),
    ),
    "a factorial alone": (sp.factorial(n) * sp.Rational(1, 3) ** k, lambda m: mp.factorial(3 * m) / mp.mpf(3) ** m),
    "a gamma function": (1 / sp.gamma(n + 2), lambda m: 1 / mp.factorial(3 * m + 1)),
    "a sum": (sp.binomial(n, k) + 7**n, lambda m: mp.binomial(3 * m, m) + mp.mpf(7) ** (3 * m)),
    "a power of a count": ((k + 1) ** n * sp.exp(-n * k), lambda m: mp.mpf(m + 1) ** (3 * m) * mp.exp(-3 * m * m)),
    "a square": ((k - n) ** 2 * 2**n, lambda m: mp.mpf(2 * m) ** 2 * mp.mpf(2) ** (3 * m)),
    "a sum over an index": (
        sp.Sum(sp.binomial(n, j) * sp.Rational(1, 4) ** j * (1 + j / n) ** k, (j, 0, n)),
        lambda m: mp.fsum(
            mp.binomial(3 * m, i) * mp.mpf(4) ** -i * (1 + mp.mpf(i) / (3 * m)) ** m for i in range(3 * m + 1)
        ),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("m", [2, 10, 300])
def test_formulas_with_counts_have_the_error_that_is_stated(name, m):
    expr, truth = FORMULAS[name]
    log, error = compiled(expr, (n, k, j)).with_error(3 * m, m, m // 2)
    assert abs(exact(float(log)) - mp.log(truth(m))) <= error
    assert error <= 1e-13 * (10 + abs(log))


def test_values_without_large_counts_are_values():
    f = compiled((sp.exp(x) - 1) / (x * k), (x, k))
    assert not f.log
    assert f(1e-12, 2) == pytest.approx(0.5, rel=1e-12)  # expm1: exp(x) − 1 would be wrong in the fifth digit
    assert f(np.array([1.0, 2.0]), 1).shape == (2,)


def test_a_value_may_be_asked_for_and_is_refused_where_it_overflows():
    f = compiled((2**k - 1) / (2**k + 1), (k,), log=False)
    assert f(3) == pytest.approx(7 / 9)
    with pytest.raises(ValueError, match="not defined: k = 2000"):
        f(2000)


def test_the_logarithm_of_one_and_a_bit_keeps_its_digits():
    assert compiled(1 + x / k, (x, k), log=True)(1e-12, 4) == pytest.approx(2.5e-13, rel=1e-12)


def test_the_error_of_a_formula_with_both_signs_grows_where_they_cancel():
    f = compiled(t * k - n, (k, n), t=sp.sqrt(2))
    value, error = f.with_error(np.array([10.0, 33461.0]), np.array([1.0, 47321.0]))
    for v, e, a, b in zip(value, error, (10, 33461), (1, 47321), strict=True):
        assert abs(exact(float(v)) - (mp.sqrt(2) * a - b)) <= e
    assert error[1] > 1e-7 * abs(value[1])


def test_an_error_that_nobody_bounded_is_not_a_number():
    assert np.isnan(compiled(x**k, (x, k)).error(0.5, 3))
    assert compiled(x**k, (k,), x=sp.Rational(1, 2)).error(3) < 1e-14


# -- as a function


def test_a_function_says_what_it_is():
    f = NumpyFunction(sp.binomial(n, k) * x**k, (n, k, x), "log_ways", "Weighted subsets.")
    assert str(inspect.signature(f)) == "(n, k, x)"
    assert f.__name__ == "log_ways"
    for text in ("Weighted subsets.", "natural logarithm", str(f.expr), "k: a whole number >= 0", "x: a number >= 0"):
        assert text in f.__doc__
    assert f(5, x=2.0, k=1) == f(5, 1, 2.0)
    assert pickle.loads(pickle.dumps(f))(5, 1, 2.0) == f(5, 1, 2.0)


def test_an_argument_that_python_reserves_has_an_underscore():
    order = sp.Symbol("lambda", integer=True, positive=True)
    assert compiled(x**order, (order, x))(lambda_=2, x=3.0) == pytest.approx(2 * np.log(3))


@pytest.mark.parametrize("expr", [sp.Integer(3), sp.Rational(1, 3), x])
def test_a_constant_has_the_shape_of_the_arguments(expr):
    assert compiled(expr, (k, x))(np.arange(3)[:, None], np.ones(2)).shape == (3, 2)
    assert np.ndim(compiled(expr, (k, x))(1, 1.0)) == 0


def test_outside_of_its_range_a_binomial_coefficient_is_zero():
    f = compiled(sp.binomial(n, k) * (n - k + x), (n, k, x))
    assert f(3, 5, 1.0) == -np.inf
    assert np.exp(f(3, np.arange(5), 1.0)) == pytest.approx([4, 9, 6, 1, 0])


# -- refused


def test_what_cannot_be_compiled_is_refused_and_says_why():
    for expr, symbols, words in (
        (sp.Float(0.1) * k, (k,), "must be exact"),
        (x * k, (k,), r"missing: \[x\]"),
        (sp.I * k, (k,), "must be real"),
        (sp.sqrt(-1 - x), (x,), "must be real"),
        (sp.Integral(x, (x, 0, k)), (k,), "Integral"),
        (x, (x, sp.Symbol("x")), "different names"),
        (x, (x, sp.Symbol("p'")), "name arguments"),
        (sp.factorial(k / 2), (k,), "factorials of counts"),
    ):
        with pytest.raises(ValueError, match=words):
            compiled(expr, symbols)
    with pytest.raises(TypeError, match="SymPy expression"):
        compiled(sp.true, ())


def test_values_outside_of_the_range_of_a_symbol_are_refused():
    f = compiled(sp.binomial(n, k) * (t - 1), (n, k, t))
    for values, words in (
        ((3.5, 1, 2.0), "n must be a whole number >= 0, got 3.5"),
        ((3, -1, 2.0), "k must be a whole number >= 0, got -1"),
        ((3, 1, 0.5), "t must be a number >= 1, got 0.5"),
        ((3, 1, np.nan), "t must be"),
        ((2.0**41, 1, 2.0), "n must be"),
    ):
        with pytest.raises(ValueError, match=words):
            f(*values)


def test_a_logarithm_of_a_negative_number_is_refused():
    with pytest.raises(ValueError, match="not a real number >= 0 there, or not defined: n = 1, k = 2"):
        compiled(2**n * (n - k), (n, k))(np.array([3, 1]), np.array([2, 2]))
    with pytest.raises(ValueError, match="not defined"):
        compiled(sp.sqrt(x - 2), (x,))(1.0)
