"""Every error term of the lattice accountant, made visible.

At ordinary tolerances the discretisation hides the round-off, so a missing term would not be noticed. Here the constant
behind a term is inflated, the input is perturbed by as much, and the exact value must still be inside.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
import scipy.fft
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.numeric import lattice, tilting
from shuffle_sym.numeric.convolution import self_convolution
from shuffle_sym.numeric.inverse import smallest_epsilon

q = sp.Rational
VALUES = np.array([-1.3, -0.2, 0.0, 1.7])
PROBABILITIES = np.array([0.3, 0.2, 0.3, 0.2])


def law_of_sum(values, probabilities, n) -> dict[Fraction, Fraction]:
    """The exact law of the sum of n copies, by plain convolution."""
    law = {Fraction(0): Fraction(1)}
    for _ in range(n):
        longer: dict[Fraction, Fraction] = {}
        for x, mass in law.items():
            for v, p in zip(values, probabilities, strict=True):
                key = x + Fraction(v)
                longer[key] = longer.get(key, Fraction(0)) + mass * Fraction(p)
        law = longer
    return law


def positive_part(values, probabilities, n) -> Fraction:
    return sum((x * p for x, p in law_of_sum(values, probabilities, n).items() if x > 0), Fraction(0)) / n


@pytest.mark.parametrize("eta", [1e-15, 1e-8, 1e-5])
def test_the_error_of_a_convolution_covers_a_transform_that_is_off_by_eta(eta):
    n, size = 200, 256
    one = np.zeros(size)
    one[:2] = 0.5
    entries = scipy.fft.rfft(one)
    entries += 0.999 * eta * np.exp(1j * np.angle(entries))  # the worst direction
    law, error = self_convolution([entries], eta, n, size)
    truth = np.array([float(Fraction(math.comb(n, i), 2**n)) for i in range(n + 1)] + [0.0] * (size - n - 1))
    assert 0 < np.linalg.norm(law - truth) <= error


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_the_values_are_inside(monkeypatch, n, sign):
    error = 1e-3
    monkeypatch.setattr(lattice, "FLOAT_ERROR", error)
    truth = positive_part(VALUES * (1 + sign * 0.9 * error * np.sign(VALUES)), PROBABILITIES, n)
    lower, upper = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, n), 2.0**-12).bounds(1e-6)
    assert lower <= truth <= upper


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_the_probabilities_are_inside(monkeypatch, n, sign):
    unit = 1e-4
    monkeypatch.setattr(lattice, "UNIT_ROUNDOFF", unit)
    truth = positive_part(VALUES, PROBABILITIES * (1 + sign * unit), n)
    lower, upper = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, n), 2.0**-14).bounds(1e-6)
    assert lower <= truth <= upper


@pytest.mark.parametrize("n", [5, 14])
@pytest.mark.parametrize("log_outside", [-1.0, -2.0, -3.0, -5.0])
def test_mass_outside_the_window_is_inside_the_interval(monkeypatch, n, log_outside):
    monkeypatch.setattr(lattice, "_LOG_OUTSIDE", log_outside)
    truth = positive_part(VALUES, PROBABILITIES, n)
    lower, upper = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, n), 2.0**-10).bounds(1e-6)
    assert lower <= truth <= upper


@pytest.mark.parametrize("t", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_huge_local_levels_where_round_off_dominates(t, n):
    M = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(t)), n)
    for alpha in (q(6, 5), q(1000)):
        assert M.exact(alpha) in M.delta(sp.log(alpha), rtol=0.5)


@pytest.mark.parametrize("n", [4, 12])
@pytest.mark.parametrize("log_tail", [-1.0, -3.0, -8.0])
def test_no_more_than_the_stated_tail_lies_beyond_the_reach(n, log_tail):
    for sign in (1, -1):
        reach, log_bound = tilting.tail_reach(sign * VALUES, PROBABILITIES, n, log_tail)
        beyond = sum(p for x, p in law_of_sum(sign * VALUES, PROBABILITIES, n).items() if x > reach)
        assert log_bound <= log_tail + 1e-12
        assert float(beyond) <= math.exp(log_bound) * (1 + 1e-12)


@pytest.mark.parametrize("n", [2, 8])
@pytest.mark.parametrize("log_target", [-1.0, -4.0, -9.0])
def test_the_lattice_noise_beyond_v_is_bounded(n, log_target):
    on = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, n), 0.5)
    v, log_bound = on._sign_change_range(log_target)
    noise = np.concatenate([-on.fractions, 1 - on.fractions]) * on.spacing
    chances = np.concatenate([PROBABILITIES * (1 - on.fractions), PROBABILITIES * on.fractions])
    beyond = sum(abs(x) * p for x, p in law_of_sum(noise, chances, n).items() if abs(x) > v)
    assert float(beyond) <= math.exp(log_bound) * (1 + 1e-12)


def test_an_enclosure_contains_the_number_even_at_few_bits():
    for bits in (53, 80, 120):
        enclosure = field._enclosed(sp.exp(q(1, 7)), bits)
        with mpmath.workdps(200):
            truth = mpmath.exp(mpmath.mpf(1) / 7)
            assert mpmath.mpf(enclosure.a._mpi_[0]) < truth < mpmath.mpf(enclosure.b._mpi_[1])


def test_the_bounds_of_a_value_of_g_contain_it():
    # Rational masses, so that the bounds of α alone decide.
    for eps0, t in ((sp.log(3), mpmath.mpf(3)), (sp.Integer(1), None)):
        low, high = ss.KRR(k=3, eps0=eps0).gparv()._gaps(sp.exp(q(1, 7)), 40)[0]
        with mpmath.workdps(200):
            truth = (mpmath.e if t is None else t) - mpmath.exp(mpmath.mpf(1) / 7)
            assert mpmath.mpf(low.numerator) / low.denominator < truth < mpmath.mpf(high.numerator) / high.denominator


def test_the_exact_method_has_all_digits_of_a_double_for_irrational_levels():
    M = ss.Shuffle(ss.KRR(k=3, eps0=1), 6)
    interval = M.delta(0.3, method="exact")
    value = M.exact(sp.exp(q(3, 10)), digits=40)
    assert interval.lower <= value <= interval.upper
    assert interval.relative_width < 1e-15


def test_digits_hold_where_terms_cancel():
    M, alpha = ss.Shuffle(ss.KRR(k=3, eps0=1), 30), sp.exp(q(99, 100))
    few, many = M.exact(alpha, digits=10), M.exact(alpha, digits=60)
    with mpmath.workdps(70):
        assert abs(few / many - 1) < mpmath.mpf(10) ** -10


def test_values_far_below_the_others_are_as_good_as_any_negative_value():
    near, far = np.array([-50.0, 1.0, 0.0]), np.array([-1e300, 1.0, 0.0])
    chances = np.array([0.2, 0.3, 0.5])
    truth = positive_part(near, chances, 9)
    for values in (near, far):
        found = lattice.positive_part(values, chances, 9, 1e-3)
        assert found.lower <= truth <= found.upper


def test_a_delta_just_below_the_largest_loss_is_not_zero():
    assert ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), 5).delta(sp.log(3) - q(1, 10**5)).upper > 0


def test_epsilon_is_not_zero_where_delta_of_zero_is_only_perhaps_small_enough():
    found = smallest_epsilon(lambda eps, _: Interval(0.9 - eps / 2, 1.1 - eps / 2), 1.0, 1e-3, 1.0)
    assert found.lower == 0
    assert found.upper >= 0.2


def test_the_ceiling_of_epsilon_is_the_largest_loss_of_all_pairs():
    M = ss.Shuffle(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 5)
    assert M.max_loss == sp.log(q(7, 2))
    assert M.epsilon(1e-200).upper >= math.log(3.5)


def test_delta_is_never_above_one():
    assert ss.Shuffle(ss.from_matrix([[1, 0], [0, 1]]), 10).delta(1).upper == 1.0


def test_a_null_atom_is_not_merged_with_a_live_one():
    D = ss.Decomposition([q(1, 4), q(1, 4), q(1, 2)], [q(1, 4), q(1, 4), q(1, 2)], [0, q(1, 4), 0])
    assert len(D.atoms) == 2


def test_the_worst_pair_is_found_among_all_others_when_t_is_small():
    R = ss.KRR(k=3, eps0=sp.log(2))
    for alpha, n in product((q(6, 5), q(19, 10), q(1, 2)), (2, 3, 4)):
        everything = max(
            ss.ground_truth.delta(R, (0, *others), (1, *others), alpha) for others in product(range(3), repeat=n - 1)
        )
        assert ss.ground_truth.worst_pair(R, n, alpha).delta == everything


def test_numbers_keep_their_digits_on_the_way_in():
    assert ss.KRR(k=3, eps0=sp.Float(0.1)).eps0 == q(1, 10)
    assert ss.KRR(k=3, eps0=np.float32(0.1)).eps0 == q(1, 10)
    assert ss.KRR(k=3, eps0=sp.Float("1e-400")).eps0 == q(1, 10**400)
    assert ss.KRR(k=3, eps0=sp.Float("0.123456789012345678901234567890", 40)).eps0 == q(
        "0.12345678901234567890123456789"
    )
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
    assert abs(ss.KRR(k=3, eps0=third).eps0 - q(1, 3)) < q(1, 10**39)


def test_equal_randomizers_are_equal():
    assert ss.KRR(k=3, eps0=1) == ss.KRR(k=3, eps0=1)
    assert ss.KRR(k=3, eps0=1) != ss.KRR(k=4, eps0=1)
    assert len({ss.OUE(d=3, eps0=1), ss.OUE(d=3, eps0=1)}) == 1
