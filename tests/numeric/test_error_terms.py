"""Every error term of the lattice accountant, made visible.

At ordinary tolerances the discretisation hides the round-off, so a missing term would not be noticed. Here the constant
behind a term is inflated, the input is perturbed by as much, and the exact value must still be inside.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.fft
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.algebra import precise
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.numeric import lattice, tilting, transforms
from shuffle_sym.numeric.convolution import self_convolution
from shuffle_sym.numeric.search import smallest_epsilon

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


def test_values_far_below_the_others_are_as_good_as_any_negative_value():
    near, far = np.array([-50.0, 1.0, 0.0]), np.array([-1e300, 1.0, 0.0])
    chances = np.array([0.2, 0.3, 0.5])
    truth = positive_part(near, chances, 9)
    for values in (near, far):
        found = lattice.positive_part(values, chances, 9, 1e-3)
        assert found.lower <= truth <= found.upper


def test_epsilon_is_not_zero_where_delta_of_zero_is_only_perhaps_small_enough():
    found = smallest_epsilon(lambda eps, _: Interval(0.9 - eps / 2, 1.1 - eps / 2), 1.0, 1e-3, 1.0)
    assert found.lower == 0
    assert found.upper >= 0.2


RARE = np.array([[-53.6, -0.6, 8050.0, 0.0]]) / 8050, np.array([0.5, 6.2e-5, 6.2e-5, 0.5 - 1.24e-4])


def test_powers_of_rare_sums_are_within_their_error_even_where_the_quotient_of_two_powers_is_beyond_the_doubles():
    # M(s) = φ(s)^n − φ₋(s)^n. For n = 10^4, (φ/φ₋)^n is above 1e308 where φ₋^n is far below 1.
    (values, p), n, mp = RARE, 10_000, precise.context(60)
    law = transforms.RareSums(values, p, n, 2.0**-52)
    y = np.concatenate([np.linspace(0.0, 700.0, 60), np.geomspace(700, 3e5, 400)])[None]
    powers, errors = law.powers(np.ones(1), y[0])

    def measure(s):
        terms = [mp.mpf(float(w)) * mp.exp(s * mp.mpf(float(g))) for g, w in zip(values[0], p, strict=True)]
        low = sum(term for term, g in zip(terms, values[0], strict=True) if g <= 0)
        return sum(terms) ** n - low**n, n * mp.re(mp.log(sum(terms) / low))

    c, beyond = mp.mpf(float(law.c[0])), 0
    scale = measure(mp.mpc(c))[0]
    for i, place in enumerate(y[0].tolist()):
        truth, log_quotient = measure(mp.mpc(c, place))
        beyond += log_quotient > 710
        assert abs(mp.mpc(complex(powers[0, i])) - truth / scale) <= errors[0, i]
    assert beyond >= 3


def test_a_value_far_below_the_others_leaves_the_period_finite_and_the_answer_right():
    D = ss.decomposition.blanket(ss.KRR(k=10, eps0=9))
    by_contour, by_lattice = (shuffled_laws(D, 10_000).delta(8.9, method=method) for method in ("contour", "fft"))
    assert max(by_contour.lower, by_lattice.lower) <= min(by_contour.upper, by_lattice.upper)
    assert by_contour.relative_width <= 1e-3


def test_the_window_of_a_lattice_reaches_as_far_as_its_tails_are_bounded(monkeypatch):
    for down, up in ((5.5, 10.0), (10.0, 5.5)):  # a step less on one side, and a half as many points would do
        reaches = iter([down, up])
        monkeypatch.setattr(lattice, "tail_reach", lambda *_, reaches=reaches: (next(reaches), -3.0))
        on = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, 100), 0.5)
        assert on.low * on.spacing <= -down
        assert (on.low + on.size - 1) * on.spacing >= up
        assert on.outside >= 2 * math.exp(-3.0)


def test_what_is_outside_the_window_of_a_lattice_is_in_both_ends():
    n, outside = 12, 1e-3
    on = lattice._Lattice(lattice._Problem.of(VALUES, PROBABILITIES, n), 2.0**-10)
    on.outside = 0.0
    before = on.bounds(1e-3)
    on.outside = outside
    after = on.bounds(1e-3)
    # x e^{−θx} is at most 1/(eθ)
    weight = outside / (math.e * on.theta) * math.exp(n * on.log_scale - math.log(n) + on.problem.log_unit)
    assert after[1] - before[1] >= 0.999 * weight
    assert before[0] - after[0] >= 0.999 * weight
    assert before[0] > 2 * weight


@pytest.mark.parametrize("sign", [1, -1])
def test_a_law_on_the_lattice_that_is_off_by_its_error_leaves_the_truth_inside(monkeypatch, sign):
    values, plain = np.array([-1.5, -0.25, 0.0, 1.75]), lattice.self_convolution  # no value is moved
    truth = positive_part(values, PROBABILITIES, 8)

    def off(*given):
        law, error = plain(*given)
        return law * (1 + sign * 1e-3 / np.linalg.norm(law)), error + 1e-3

    monkeypatch.setattr(lattice, "self_convolution", off)
    found = lattice.positive_part(values, PROBABILITIES, 8, 0.2)
    assert found.lower <= truth <= found.upper


@pytest.mark.parametrize("n", [1, 2])
def test_the_error_of_a_convolution_covers_entries_that_are_nothing_but_error(n):
    size, eta = 64, 1e-3
    entries = np.full(size // 2 + 1, 0.999 * eta, dtype=complex)
    entries[0] = 1.0  # the true ones of the uniform law are 1, 0, 0, …
    law, error = self_convolution([entries], eta, n, size)
    assert 0 < np.linalg.norm(law - 1 / size) <= error
