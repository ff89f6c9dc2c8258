"""The table of methods: which are tried for a law, in which order, and what comes of it."""

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.numeric import methods

HALVES = np.array([0.5, 0.5])
COIN = np.array([[-1.0, 1.0]])  # E[S]_+/n is 1/4 for n = 3


def refused(reason):
    def positive_parts(values, probabilities, n, rtol):
        return [ValueError(f"{reason}: {row.tolist()}") for row in values]

    return methods.Method(reason, positive_parts)


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_contains_the_mean_of_three_coins(name):
    (answer,) = methods.METHODS[name].positive_parts(COIN, HALVES, 3, 1e-3)
    assert Fraction(1, 4) in answer
    assert answer.width <= 1e-3 * answer.upper


@pytest.mark.parametrize("name", methods.METHODS)
def test_a_method_returns_a_refusal_for_each_row_and_does_not_raise_it(name):
    values = np.array([[-1.0, 1.0], [-1.0, 1 + 1e-9]])
    answers = methods.METHODS[name].positive_parts(values, HALVES, 2**50, 1e-12)
    assert [isinstance(answer, ValueError) for answer in answers] == [True, True]


def test_the_binomial_comes_first_up_to_a_hundred_thousand_users_and_only_where_it_suits():
    two, three = np.array([-1.0, 0.0, 2.0]), np.array([-1.0, 1.0, 2.0])
    assert methods.cheapest_first(two, 10**5) == ("binomial", "contour")
    assert methods.cheapest_first(two, 10**5 + 1) == ("contour", "binomial")
    assert methods.cheapest_first(three, 10) == ("contour",)


def test_rows_get_the_first_method_that_does_not_refuse_and_else_a_refusal(monkeypatch):
    monkeypatch.setitem(methods.METHODS, "one", refused("one"))
    monkeypatch.setitem(methods.METHODS, "two", refused("two"))
    values = np.array([[-1.0, 1.0], [-1.0, 1.0], [-2.0, 2.0]])
    names = [("one", "contour"), ("binomial",), ("one", "two")]
    first, second, third = methods.first_within(values, HALVES, 3, 1e-3, names)
    for answer, name in ((first, "contour"), (second, "binomial")):
        assert answer.method == name
        assert Fraction(1, 4) in answer
    assert str(third) == "one: [-2.0, 2.0]"


def test_an_interval_that_is_too_wide_is_a_refusal_and_the_closest_one_is_told(monkeypatch):
    for name, upper in (("wide", math.inf), ("closer", 2.0), ("wider", 4.0)):
        method = methods.Method(name, lambda values, p, n, rtol, upper=upper: [Interval(1.0, upper)] * len(values))
        monkeypatch.setitem(methods.METHODS, name, method)
    (answer,) = methods.first_within(COIN, HALVES, 3, 1e-3, [("wide", "closer", "wider")])
    assert isinstance(answer, ValueError)
    assert answer.reached == 0.5


@pytest.mark.parametrize("name", methods.METHODS)
def test_an_upper_end_is_none_the_less_one_where_doubles_are_far_apart(name):
    """S > 0 only where nobody has the value −1; δ is a few times the least double, and rounds down as easily as up."""
    for numerator in range(1, 60):
        p, top = Fraction(numerator, 10**16), Fraction(1e-308)
        for values, masses, truth in (
            ([top, 0, -1], [p, Fraction(1, 2), Fraction(1, 2) - p], top * p * (p + Fraction(1, 2))),
            ([top, -1], [30 * p, 1 - 30 * p], top * (30 * p) ** 2),
        ):
            row, probabilities = (np.array([float(x) for x in column]) for column in (values, masses))
            if methods.METHODS[name].suits(row, 2):
                (found,) = methods.METHODS[name].positive_parts(row[None], probabilities, 2, 1e-3)
                assert found.upper >= truth * Fraction(99, 100)  # the masses are rounded, too


def test_binomial_tails_of_what_overflows_give_no_warning():
    """S > 0 only where all 5,000 users have a value of probability 1e-305."""
    values, probabilities = np.array([[1.0, -1e6]]), np.array([1e-305, 1 - 1e-305])
    (answer,) = methods.METHODS["binomial"].positive_parts(values, probabilities, 5000, 1e-3)
    assert answer.lower == 0 < answer.upper < 1e-319


def exact_mean(values, probabilities, n):
    """E[S]_+/n for n independent copies, in fractions."""
    law = {Fraction(0): Fraction(1)}
    for _ in range(n):
        after: dict[Fraction, Fraction] = {}
        for (x, p), (v, q) in product(law.items(), zip(values, probabilities, strict=True)):
            after[x + v] = after.get(x + v, Fraction(0)) + p * q
        law = after
    return sum((x * p for x, p in law.items() if x > 0), Fraction(0)) / n


@pytest.mark.parametrize("seed", range(40))
def test_large_values_that_are_summed_apart_enclose_the_exact_mean(seed):
    rng = random.Random(seed)
    size, n = rng.randint(2, 4), rng.randint(1, 6)
    powers = [2.0 ** -rng.choice([1, 2, 3, 7, 20, 30]) for _ in range(size)]
    masses = [p / (2 * sum(powers)) for p in powers]
    masses = [math.floor(p * 2**50) / 2**50 for p in masses]  # exact as doubles, and so is the rest
    masses.append(1 - math.fsum(masses))
    values = [rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.choice([0, 0, 1, 3, 6, 9]) for _ in masses]
    refusal = ValueError("nothing is known")
    answer = methods.widened(np.array(values), np.array(masses), n, 1e-3, ("contour",), refusal)
    truth = exact_mean(list(map(Fraction, values)), list(map(Fraction, masses)), n)
    assert Fraction(answer.lower) <= truth <= Fraction(answer.upper) + Fraction(1, 10**300)


def test_a_large_value_by_itself_is_known_to_what_the_others_take_away():
    # One of 1000 users sends it with probability 1e-9: 1e9 less the sum of the others, about 999, matters.
    values, masses = np.array([-1.0, 0.5, 1e9]), np.array([0.75, 0.25 - 1e-9, 1e-9])
    answer = methods.widened(values, masses, 1000, 1e-3, ("contour",), ValueError("nothing is known"))
    assert answer.method == "large values apart"
    assert answer.relative_width < 1e-4
    assert answer.lower <= 1 - 625e-9 <= answer.upper  # the others have the mean −0.625 each
