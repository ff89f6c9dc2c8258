"""Exact values against independent exact values."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.truth import exact, histograms

pytestmark = pytest.mark.exact
q = sp.Rational


@given(decompositions(largest=4), st.integers(1, 5), alphas)
def test_the_formula_is_the_divergence_of_the_reduction_pair(D, n, alpha):
    assert exact.divergence(D, n, alpha) == exact.reduction_pair_divergence(D, n, Fraction(int(alpha.p), int(alpha.q)))


@given(decompositions(largest=3), st.integers(1, 4), st.fractions(Fraction(1, 20), Fraction(1)))
def test_the_formula_holds_below_alpha_one_as_well(D, n, alpha):
    assert exact.divergence(D, n, q(alpha)) == exact.reduction_pair_divergence(D, n, alpha)


def test_one_user_has_the_local_curve(randomizer):
    P = randomizer.matrix()
    for alpha in (q(1), q(6, 5), q(2)):
        local = [
            sum(sp.Max(P[x, y] - alpha * P[z, y], 0) for y in range(P.cols)).evalf(60)
            for x in range(P.rows)
            for z in range(P.rows)
        ]
        assert abs(sp.Float(shuffled_laws(randomizer, 1).exact(alpha), 50) - max(local)) < q(1, 10**45)


def test_delta_falls_in_alpha_and_in_n(randomizer):
    ratios = [q(1), q(6, 5), q(3, 2), q(2), q(3)]
    table = [[shuffled_laws(randomizer, n).exact(a) for a in ratios] for n in (1, 2, 3, 5, 8)]
    for row in table:
        assert row == sorted(row, reverse=True)
    for column in zip(*table, strict=True):
        assert list(column) == sorted(column, reverse=True)


def test_delta_at_the_largest_loss_is_exactly_zero(randomizer):
    M = shuffled_laws(randomizer, 4)
    assert M.exact(sp.exp(randomizer.eps0)) == 0
    assert M.exact(sp.exp(randomizer.eps0) - q(1, 1000)) > 0


def test_binary_rr_against_two_binomials():
    # All others are 0: message counts are Bin(n − 1, 1/(t+1)) plus the first user's bit (Koskela et al. 2021, (4.1)).
    t, n, alpha = 3, 12, Fraction(6, 5)
    bit = Fraction(1, t + 1)

    def ones(m: int, first: Fraction) -> Fraction:
        def rest(i: int) -> Fraction:
            return math.comb(n - 1, i) * bit**i * (1 - bit) ** (n - 1 - i) if 0 <= i < n else Fraction(0)

        return first * rest(m - 1) + (1 - first) * rest(m)

    both = [(ones(m, 1 - bit), ones(m, bit)) for m in range(n + 1)]
    expected = sum(max(p - alpha * r, 0) for p, r in both)
    D = ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(t)), 1, 0, 0)
    assert shuffled_laws(D, n).exact(q(6, 5)) == q(expected)


@given(decompositions(largest=3), st.integers(1, 6), alphas)
def test_mpmath_values_have_the_digits_that_were_asked_for(D, n, alpha):
    # |dδ/dα| <= 1, so a step of less than 10^-100 does not show in 40 digits of a value above 10^-50.
    truth = exact.divergence(D, n, alpha)
    value = exact.divergence(D, n, alpha - sp.sqrt(2) / 10**101, digits=40)
    with mpmath.workdps(120):
        gap = abs(value - mpmath.mpf(int(truth.p)) / int(truth.q))
        assert gap <= mpmath.mpf(10) ** -100 + abs(value) * mpmath.mpf(10) ** -40


def test_the_type_of_an_exact_value_says_whether_it_is_exact():
    assert isinstance(shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 4).exact(q(6, 5)), sp.Rational)
    assert isinstance(shuffled_laws(ss.KRR(k=3, eps0=1), 4).exact(q(6, 5)), mpmath.mpf)
    assert isinstance(shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 4).exact(sp.E), mpmath.mpf)


def test_digits_are_good_digits():
    M = shuffled_laws(ss.KRR(k=3, eps0=1), 20)
    few, many = M.exact(q(6, 5), digits=20), M.exact(q(6, 5), digits=100)
    with mpmath.workdps(110):
        assert abs(few / many - 1) < mpmath.mpf(10) ** -20


def test_the_worst_pair_of_a_lopsided_randomizer_is_taken():
    R = ss.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    one_way, other_way = (shuffled_laws(ss.decomposition.blanket(R, *pair), 3).exact(q(6, 5)) for pair in R.pairs())
    assert one_way != other_way
    assert shuffled_laws(R, 3).exact(q(6, 5)) == max(one_way, other_way)


def test_null_atoms_are_counted():
    # With c = 0 everywhere the first user's message is seen as it is, however many others there are.
    D = ss.model.Decomposition([q(3, 4), q(1, 4)], [q(1, 4), q(3, 4)], [0, 0])
    assert shuffled_laws(D, 7).exact(2) == q(3, 4) - 2 * q(1, 4)


def test_a_fraction_that_takes_too_long_is_refused_with_the_largest_n_that_does_not():
    D = ss.decomposition.blanket(ss.KRR(k=3, eps0=sp.log(3)), 0, 1)
    with pytest.raises(ValueError, match=r"n = 9999 is too much .* up to n = \d+; .*digits=") as refusal:
        exact.divergence(D, 9999, q(2))
    most = int(str(refusal.value).split("up to n = ")[1].split(";")[0])
    assert 200 < most < 9999


def test_as_many_products_as_are_allowed_are_not_too_many(monkeypatch):
    coin = {"heads": (Fraction(3, 4), Fraction(1, 4)), "tails": (Fraction(1, 4), Fraction(3, 4))}
    assert exact.composed_divergence([coin, coin, coin], 2) == sp.Rational(27 - 2 + 3 * (9 - 6), 64)
    monkeypatch.setattr(exact, "MAX_PRODUCTS", 4)
    assert exact.composed_divergence([coin, coin], 2) == sp.Rational(7, 16)
    with pytest.raises(ValueError, match="6 products, more than 4"):
        exact.composed_divergence([coin, coin, coin], 2)


def test_the_time_of_a_sum_goes_with_the_number_of_its_histograms():
    times = [histograms.seconds_of_all(100, values) for values in (2, 3, 5)]
    assert times[0] < times[1] < times[2]
    assert times[2] / times[0] > math.comb(103, 3) / 100  # with two values there is one term for each count
    listed = sum(1 for _ in histograms.weighted_histograms(20, [Fraction(1)] * 4))
    assert histograms.seconds_of_all(20, 5) == pytest.approx(3e-6 * (listed + 20 * 20 / 2), rel=1e-12)


def test_a_fraction_that_is_refused_names_the_largest_n_that_is_not():
    D = decomposition.clones(sp.log(3))
    with pytest.raises(ValueError, match="too much for a fraction") as refusal:
        exact.divergence(D, 10**7, q(3, 2))
    most = int(re.search(r"up to n = (\d+)", str(refusal.value))[1])
    law = D.gparv.fractions(q(3, 2))
    assert exact._seconds_of_fractions(law, most) <= exact.MOST_SECONDS < exact._seconds_of_fractions(law, most + 1)
