"""Large values that are rare: counted by themselves, never too little."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest

from shuffle_sym.numeric import contour, dropout
from shuffle_sym.numeric.dropout import Places

Law = dict[Fraction, Fraction]


def random_law(random: Random, fewest: int = 0) -> Law:
    """Two values that are not rare, of either sign, and up to three large ones that are."""
    count = random.randint(fewest, 3)
    large = {Fraction(random.randint(3, 60)): Fraction(1, random.choice([6, 30, 400])) for _ in range(count)}
    high = Fraction(random.randint(1, 9), 10)
    share = random.choice([Fraction(1, 5), Fraction(1, 2)]) * (1 - sum(large.values()))
    return {high: share, Fraction(random.randint(-40, -5), 10): 1 - share - sum(large.values())} | large


def summed(laws: list[Law]) -> Law:
    total = {Fraction(0): Fraction(1)}
    for law in laws:
        longer: Law = {}
        for x, p in total.items():
            for y, q in law.items():
                longer[x + y] = longer.get(x + y, Fraction(0)) + p * q
        total = longer
    return total


def positive_part(law: Law, shift: Fraction = Fraction(0)) -> Fraction:
    return sum((max(x + shift, Fraction(0)) * p for x, p in law.items()), Fraction(0))


def without(law: Law, threshold: Fraction) -> Law:
    inner: Law = {}
    for x, p in law.items():
        place = x if x <= threshold else Fraction(0)
        inner[place] = inner.get(place, Fraction(0)) + p
    return inner


def largest(laws: list[Law], terms: int, shift: Fraction = Fraction(0)) -> Fraction:
    """The largest E[shift + sum]_+ over all ways to choose so many terms."""
    return max(positive_part(summed(list(xs)), shift) for xs in combinations_with_replacement(laws, terms))


def bound(laws: list[Law], terms: int, threshold: Fraction) -> Fraction:
    """The right side of the inequality, with the smallest e(g) that there is."""
    inner = [without(law, threshold) for law in laws]
    outer = [{x: p for x, p in law.items() if x > threshold} for law in laws]
    likely = max(sum(law.values(), Fraction(0)) for law in outer)
    mean = max(sum((x * p for x, p in law.items()), Fraction(0)) for law in outer)
    e = {x: min(x, largest(inner, terms - 1, x)) for law in outer for x in law}
    alone = max(sum((p * e[x] for x, p in law.items()), Fraction(0)) for law in outer)
    return largest(inner, terms) / terms + alone + Fraction(terms - 1, 2) * likely * mean


@pytest.mark.parametrize("seed", range(40))
def test_no_sum_is_above_the_bound_in_exact_arithmetic(seed):
    random = Random(seed)
    laws = [random_law(random) for _ in range(random.choice([1, 2, 3]))]
    for terms in (1, 2, 3, 4):
        for threshold in (Fraction(1), Fraction(20)):
            assert largest(laws, terms) / terms <= bound(laws, terms, threshold)


def test_each_of_the_three_parts_of_the_bound_is_needed():
    common, large = Fraction(-1, 100), Fraction(10)
    rarely = {large: Fraction(1, 4), common: Fraction(3, 4)}
    truth, inner = largest([rarely], 3) / 3, [without(rarely, Fraction(1))]
    alone = Fraction(1, 4) * largest(inner, 2, large)
    assert largest(inner, 3) == 0
    assert alone < truth <= bound([rarely], 3, Fraction(1))  # without what two of them add it would be too small


def in_doubles(law: Law) -> tuple[np.ndarray, np.ndarray]:
    return np.array([float(x) for x in law]), np.array([float(p) for p in law.values()])


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(1, 10)])
@pytest.mark.parametrize(("first", "last"), [(0, 4), (2, 5), (0, 1), (3, 4)])
def test_the_sum_over_places_is_not_below_that_of_fractions(gamma, first, last):
    n, laws = 9, [{Fraction(7): Fraction(1, 50), Fraction(30): Fraction(1, 1000)}, {Fraction(11): Fraction(1, 80)}]
    constants = {0.01: Fraction(3), 0.2: Fraction(1, 20)}  # C_λ for two λ, here the same for every number of terms
    weights = {n - j: gamma * (1 - gamma) ** (j - 1) for j in range(first + 1, last + 1)}  # of N = n − j
    rows = [in_doubles(law | {Fraction(0): Fraction(0)} if len(law) == 1 else law) for law in laws]
    g, p = (np.array(column) for column in zip(*rows, strict=True))
    values, asked = dropout.RareValues(g, p, 1.0, np.array(list(constants))), []

    def log_integral(rate: float, fewer: Places) -> float:
        asked.append((fewer.n, fewer.first, fewer.last))
        return math.log(sum(weight * constants[rate] / (N - 1) for N, weight in weights.items()))

    def e(x: Fraction) -> Fraction:
        return min(x, *(C * Fraction(math.exp(rate * float(x))) for rate, C in constants.items()))

    alone = max(sum((q * e(x) for x, q in law.items()), Fraction(0)) for law in laws)
    likely, mean = (max(sum(q * f(x) for x, q in law.items()) for law in laws) for f in (lambda x: 1, lambda x: x))
    exact = sum(weight * (alone + Fraction(N - 1, 2) * likely * mean) for N, weight in weights.items())
    total = math.exp(values.log_upper(Places(float(gamma), n, first, last), log_integral))
    assert asked == [(n - 1, first, last)] * len(constants)
    assert float(exact) * (1 - 1e-14) <= total <= 12 * float(exact)


@pytest.mark.parametrize("seed", range(16))
def test_the_drop_out_bound_with_rare_values_is_never_below_the_exact_one(seed, monkeypatch):
    random, n = Random(seed), 8
    gamma = random.choice([Fraction(1, 5), Fraction(3, 5)])
    laws = [{x / 40: p for x, p in random_law(random, fewest).items()} for fewest in (1, 0)]
    means = [largest(laws, terms) / terms for terms in range(1, n)]
    exact = sum(gamma * (1 - gamma) ** (j - 1) * means[n - j - 1] for j in range(1, n))
    exact += (1 - gamma) ** (n - 1) * means[0]
    made = []

    def chosen(g, p, n):
        made.append(dropout.RareValues(g, p, 0.05, np.array([0.4, 4.0, 20.0])))
        return made[-1]

    asked, log_integral = set(), dropout._Family._log_integral

    def recorded(self, rate, pads, places, tolerance):
        asked.add(places.n)
        return log_integral(self, rate, pads, places, tolerance)

    monkeypatch.setattr(dropout, "rare_values", chosen)
    monkeypatch.setattr(dropout._Family, "_log_integral", recorded)
    local = float(means[0]) * (1 + 1e-12)
    upper = dropout.upper([in_doubles(law) for law in laws], [[0.0]] * 2, float(gamma) * (1 - 1e-12), n, local)
    assert made
    assert asked == {n, n - 1}  # all terms, and one less next to a large one
    assert upper.value >= exact


def test_values_that_are_rare_are_0_in_the_law_that_is_left():
    g, p = np.array([[-2.0, 0.5, 3.0, 40.0], [-1.0, 1.0, 2.0, 0.0]]), np.full((2, 4), 0.25)
    inner = dropout.RareValues(g, p, 2.0, np.array([0.1])).inner
    assert inner.tolist() == [[-2.0, 0.5, 0.0, 0.0], [-1.0, 1.0, 2.0, 0.0]]


@pytest.mark.parametrize("off", [1, -1])
@pytest.mark.parametrize("shift", [0.0, 800.0])
def test_roundings_are_counted_also_where_much_cancels(off, shift, monkeypatch):
    """With doubles that are off by a millionth, and exponents that cancel: λg next to the logarithm of C_λ."""
    size, n, g, p, rate = 1e-6, 9, np.array([[7.0, 30.0]]), np.array([[0.02, 0.001]]), 3.0
    monkeypatch.setattr(dropout, "FLOAT_ERROR", size)
    log_c = -3.0 * 30.0 - shift
    values = dropout.RareValues(g, p, 1.0, np.array([rate]))
    upper = values.log_upper(Places(0.5, n, 0, 1), lambda rate, fewer: log_c)
    true_g, true_p = g[0] * (1 + off * size), p[0] * (1 + off * size)
    logs = np.minimum(log_c * (1 - off * size) + math.log(n - 2) + rate * true_g, np.log(true_g))
    total = np.logaddexp.reduce(np.log(true_p) + logs)
    both = math.log((n - 2) / 2 * true_p.sum() * (true_p @ true_g))
    assert np.logaddexp(total, both) <= upper <= np.logaddexp(total, both) + 1e-2


def heavy(cells: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """About e^{−1/2 − Z} − 1.2 for a normal Z: values up to 1,000, the large ones rare."""
    z = np.linspace(-7.5, 7.5, cells)
    p = np.exp(-z * z / 2)
    return np.exp(-0.5 - z) - 1.2, p / math.fsum(p)


@pytest.mark.parametrize("n", [300, 1_000, 4_000])
def test_the_bound_is_above_a_contour_integral_and_near_it_where_it_is_far_off_without(n, monkeypatch):
    g, p = heavy()
    (truth,) = contour.positive_parts(g[None], p, n - 1, 1e-3)
    ask = [(g, p)], [[0.0]], 0.6, n, 0.3
    upper = dropout.upper(*ask).value
    assert truth.lower <= upper <= 2.5 * truth.upper
    monkeypatch.setattr(dropout, "rare_values", lambda g, p, n: None)
    assert dropout.upper(*ask).value > 10 * upper


def test_values_of_which_none_would_be_left_are_not_rare():
    """Where only rare values are positive, they are all that counts."""
    g, p = np.array([[-0.5, 0.4]]), np.array([[1 - 1e-17, 1e-17]])
    assert dropout.rare_values(g, p, 31) is None
    assert dropout.upper([(g[0], p[0])], [[0.0]], 0.99, 31, 1e-17).value > 1e-300


def test_constants_and_values_that_are_far_apart_are_no_error():
    constant = np.array([[-1e9, -1e9], [-2.0, 40.0]]), np.array([[0.5, 0.5], [0.99, 0.01]])
    dropout.rare_values(*constant, 30)
    far = np.array([[-1e50, 1e-40, 2e50]]), np.array([[0.5, 0.5 - 1e-100, 1e-100]])
    assert dropout.rare_values(*far, 10) is None
    assert 0 < dropout.upper([(far[0][0], far[1][0])], [[0.0]], 0.5, 10, 1.0).value <= 1


def test_without_rare_values_nothing_is_added():
    values = dropout.RareValues(np.array([[-1.0, 0.5]]), np.array([[0.5, 0.5]]), 1.0, np.array([0.1]))
    assert values.log_upper(Places(0.5, 9, 0, 3), lambda rate, fewer: 0.0) == -math.inf


def test_nothing_is_rare_where_all_values_are_alike_or_users_are_few():
    g, p = heavy()
    assert dropout.rare_values(g[None], p[None], 1_000) is not None
    assert dropout.rare_values(g[None], p[None], dropout.FEWEST_USERS - 1) is None
    assert dropout.rare_values(np.array([[-1.2, 1.0]]), np.array([[0.5, 0.5]]), 1_000) is None
    assert dropout.rare_values(1e150 * g[None], p[None], 1_000) is None
