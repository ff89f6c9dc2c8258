"""What a stated error is for: each is made as large as it may be, one at a time, and the truth must still be inside.

Where no perturbation is as bad as a bound, the roundings are counted: u for each operation (the standard model).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric import composed_losses, lattice, losses
from shuffle_sym.numeric.binomial import _geometric_tail, binomial_laws, log_binomial_law
from shuffle_sym.numeric.composed_losses import ComposedLaw, Tilt, Transform
from shuffle_sym.numeric.losses import Losses, LossGrid, Outcomes

LOSSES = np.array([-3.0, -0.5, 0.25, 1.5])
MASSES = np.array([0.03, 0.37, 0.35, 0.25])  # and Σ p e^{−s} < 1: Q has the rest elsewhere
ROUNDS = 3


def table(s, masses, mass_error=0.0, loss_error=0.0, infinite=0.0, neglected=0.0) -> Losses:
    return Losses(lambda: (Outcomes(s, masses, infinite, neglected, mass_error, loss_error),))


def delta_of_rounds(s, masses, eps) -> float:
    """E[1 − e^{ε−S}]_+ of the sum of `ROUNDS` losses, outcome by outcome."""
    total = 0.0
    for outcome in product(range(len(s)), repeat=ROUNDS):
        total += max(-math.expm1(eps - sum(s[list(outcome)])), 0.0) * math.prod(masses[list(outcome)])
    return total


def composed(law: Losses, spacing: float, theta: float, low: int, size: int, rounding: str = "split") -> ComposedLaw:
    tilt = Tilt([(law.coarse(max(spacing, 2.0**-6)), ROUNDS)])
    return ComposedLaw([(Transform.of(LossGrid(law, spacing, rounding), theta, size), ROUNDS)], tilt, low, size)


@pytest.mark.parametrize("theta", [0.0, 1.5])
@pytest.mark.parametrize(("mass_error", "loss_error"), [(0.02, 0.0), (0.0, 0.02)])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_masses_and_losses_are_inside_a_composition(theta, mass_error, loss_error, sign):
    given = table(LOSSES + sign * loss_error, MASSES * (1 + sign * mass_error), mass_error * 1.02, loss_error)
    law = composed(given, 2.0**-10, theta, -11 * 2**10, 2**15)
    for eps in (0.0, 0.6, 1.9, 3.3):
        truth = delta_of_rounds(LOSSES, MASSES, eps)
        assert law.lower(eps, -40.0) <= truth <= law.upper(eps)


@pytest.mark.parametrize("theta", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("rounding", ["split", "up", "down"])
def test_what_is_cut_off_or_folded_into_a_small_window_is_inside(theta, rounding):
    law = table(LOSSES, MASSES)
    narrow = 0
    for low, size in product(range(-40, -2, 3), (8, 16, 24, 32, 64)):
        one = composed(law, 0.25, theta, low, size, rounding)
        for eps in (0.0, 0.3, 2.0, 3.6):
            if low * 0.25 < eps < (low + size - 2) * 0.25:
                truth = delta_of_rounds(LOSSES, MASSES, eps)
                narrow += one.outside > 0.1
                assert rounding == "down" or one.upper(eps) >= truth
                assert rounding == "up" or one.lower(eps, -700.0 if theta else -60.0) <= truth
    assert narrow > 20


@pytest.mark.parametrize("theta", [-3.0, -1.0, 0.0, 2.0])
def test_bounds_of_moments_hold_for_all_losses_and_masses_that_are_possible(theta):
    def log_moment(s, masses):
        return math.log(float(np.sum(masses * np.exp(theta * s))))

    for shift, error in ((0.1, 0.0), (0.0, 0.1)):
        grid = LossGrid(table(LOSSES, MASSES, error, shift), 2.0**-12, "split")
        (bound,) = grid.log_mgfs(np.array([theta]))
        for sign in (1, -1):
            assert log_moment(LOSSES + sign * shift, MASSES * (1 + 0.95 * sign * error)) <= bound


def test_the_rounding_of_moments_is_counted(monkeypatch):
    # θz, its sum with log w, the maximum that is taken off and added, exp, log: each is relative to θz or to 1.
    u, thetas = 1e-4, np.array([-4.0, -2.0, 1.0, 5.0])
    exact = LossGrid(table(LOSSES, MASSES), 0.25, "split").log_mgfs(thetas)
    monkeypatch.setattr(losses, "UNIT_ROUNDOFF", u)
    grid = LossGrid(table(LOSSES, MASSES), 0.25, "split")
    bounds = losses.log_mgf(grid.points[grid.masses > 0], grid.masses[grid.masses > 0], thetas)
    inputs = grid.mass_error + 2 * np.abs(thetas) * grid.shift
    assert np.all(grid.log_mgfs(thetas) - bounds >= inputs + u * (12 + 3 * np.abs(thetas) * 3.0))
    assert np.all(grid.log_mgfs(thetas) > exact)
    assert grid.log_mgfs(np.array([-0.5]))[0] == math.inf


def test_what_cannot_be_seen_of_losses_is_counted(monkeypatch):
    law = table(LOSSES, MASSES, mass_error=0.1, infinite=0.25, neglected=0.01)
    lower, upper = law.infinite_bounds
    assert lower <= 0.25 * 0.9 < 0.25 * 1.1 <= upper
    assert lower >= 0.25 * (0.9 - 1e-11)
    assert 0.01 < law.neglected < 0.010001  # sums of them are rounded
    many = Losses(lambda: [Outcomes(LOSSES[:0], MASSES[:0], x, x, 0.0, 0.0) for x in (0.1, 1e-18)])
    total = Fraction(0.1) + Fraction(1e-18)  # no double
    assert many.infinite_bounds[0] < total < many.infinite_bounds[1]
    assert total < many.neglected
    u = 1e-4
    monkeypatch.setattr(losses, "UNIT_ROUNDOFF", u)
    law = table(LOSSES, MASSES, loss_error=1e-3)
    assert law.reach == 3.0
    assert law.loss_error >= 1e-3 + 2 * u * 3.0  # of adding the shift, and of the quotient with the spacing
    grid = LossGrid(law, 0.25, "split")
    assert grid.shift >= law.loss_error + 4 * u * (math.expm1(0.25) + 3.0)
    assert grid.mass_error >= (4 + law.count) * u  # of the split, and of adding so many


def test_tilted_masses_and_points_have_their_roundings(monkeypatch):
    u, size, theta = 1e-5, 2**8, 3.0
    monkeypatch.setattr(composed_losses, "UNIT_ROUNDOFF", u)
    grid = LossGrid(table(LOSSES, MASSES), 0.25, "split")
    one = Transform.of(grid, theta, size)
    # The product θz, what is taken off it, exp; an FFT has log₂ size levels, and a sum for each layer.
    assert one.slack() >= u * (5 + 3 * theta * 3.0 + 2 * abs(one.log_scale))
    assert one.eta >= u * (1 + 4 * math.log2(size))
    law = composed(table(LOSSES, MASSES), 0.25, theta, -60, size)
    assert law._grid_rounding() >= 2 * u * 0.25 * max(60, size - 60)
    for eps in (2.0, 60.0):
        assert law._rounding(eps) >= law.slack + 4 * u * max(abs(law.log_scale), theta * eps, 1.0)
    fine = LossGrid(table(LOSSES, MASSES), 2.0**-10, "split")
    layers = len(fine.masses) // 8  # that are added up
    assert Transform.of(fine, theta, 8).eta >= u * (layers + 4 * 3)
    assert law.slack >= ROUNDS * one.slack()
    one_ulp = composed(table(LOSSES, MASSES), 0.25, 0.0, -60, size)
    assert one_ulp._rounding(0.0) >= one_ulp.slack + 4 * u  # a sum is rounded where it has no exponents, too


def test_the_roundings_of_binomial_laws_are_counted():
    # Odds, quotient and two products in each step, of an entry and of the sum; the additions of the sum.
    for sizes, reach in (([1], 1), ([60], 40), ([3, 900], 500)):
        laws = binomial_laws(np.array(sizes), 0.5, 0.5, reach)
        width = laws.probabilities.shape[1]
        steps = max(max(size - size // 2 for size in sizes) - 1, 1)
        assert laws.error >= (2 * 4 * min(reach, steps) + width) * UNIT_ROUNDOFF * 0.99
        assert laws.outside >= width * 1e-281  # what was cut to 0
    law = log_binomial_law(900, 0.5, 0.5, 400)
    # In each step a quotient, a product, its logarithm, a sum as large as the largest logarithm.
    assert law.error >= 400 * UNIT_ROUNDOFF * (4 + 2 * float(np.max(np.abs(law.logs))) - 4)
    assert Fraction(law.outside) >= Fraction(2 * sum(math.comb(900, k) for k in range(50)), 2**900)


@pytest.mark.parametrize(("n", "log_unit"), [(7, 0.0), (1, 600.0), (1, -600.0)])
def test_the_slack_of_a_lattice_is_counted(monkeypatch, n, log_unit):
    # All values are on the lattice and no other error is left: the ends differ by the roundings of n terms alone.
    u = 1e-6
    values, p = np.array([-1.25, -0.25, 0.0, 1.75]), np.array([0.25, 0.25, 0.25, 0.25])
    monkeypatch.setattr(lattice, "FLOAT_ERROR", 0.0)
    on = lattice._Lattice(lattice._Problem.of(values, p, n, log_unit), 2.0**-10)
    moment = on._moment
    log_total = n * on.log_scale - math.log(n) + log_unit
    truth = moment(1, on.low + on.size - 1)[0] * math.exp(log_total)
    monkeypatch.setattr(lattice, "UNIT_ROUNDOFF", u)
    monkeypatch.setattr(on, "_moment", lambda first, last: (moment(first, last)[0], 0.0))
    lower, upper = on.bounds(1e-3)
    reach = float(np.max(np.abs(on.theta * on.support)))
    # Each term: its weight, the product θx, what is taken off it, exp; then logarithms that doubles hold
    slack = n * u * (6 + 2 * reach + abs(on.log_scale)) + 2 * u * abs(log_total)
    assert lower <= truth * (1 - slack)
    assert upper >= truth * (1 + slack)
    assert upper <= truth * (1 + 3e4 * u)
    _, error = moment(1, on.low + on.size - 1)
    law, law_error = on._law
    x = np.arange(1, on.low + on.size) * on.spacing
    weights = x * np.exp(-on.theta * x)
    inside = float(np.sum(np.abs(law[1 - on.low :]) * weights))
    assert error >= law_error * float(np.linalg.norm(weights)) * 0.99
    assert error >= len(x) * u * inside


def test_values_of_a_lattice_are_moved_up_by_more_than_their_error():
    values = np.array([-1.3, 0.7])
    problem = lattice._Problem.of(values, np.array([0.5, 0.5]), 3)
    for value, moved, shift in zip(values, problem.values, problem.shifts, strict=True):
        error = Fraction(FLOAT_ERROR) * abs(Fraction(value))
        assert Fraction(value) + error < Fraction(moved)
        assert Fraction(moved) - Fraction(shift) <= Fraction(value) - error


@pytest.mark.parametrize("theta", [0.0, 3.0])
def test_what_is_outside_weighs_as_much_as_it_can(theta):
    law, eps = composed(table(LOSSES, MASSES), 0.25, theta, -60, 2**8, "down"), 0.3
    law.outside = 0.0
    before = law.lower(eps, -60.0), law.upper(eps)
    law.outside = outside = 1e-4
    y = np.linspace(0.0, 8.0, 4001)
    worst = outside * float(np.max(-np.expm1(-y) * np.exp(-theta * y)))  # folded in above ε
    scale = math.exp(law.log_scale - theta * eps)
    assert before[0] - law.lower(eps, -60.0) >= worst * scale * 0.999
    top = (law.low + law.size - 1) * law.spacing  # cut off from there on
    assert law.upper(eps) - before[1] >= outside * math.exp(-theta * (top - eps)) * scale * 0.99 - 1e-15


def test_what_is_outside_may_lie_next_to_a_change_of_sign_or_above():
    spacing, eps, log_beyond, outside = 2.0**-5, 0.3, -20.0, 1e-4
    law = composed(table(LOSSES, MASSES), spacing, 0.0, -12 * 32, 2**10)
    law.outside = 0.0
    before = law.lower(eps, log_beyond)
    assert before > 0.1
    law.outside = outside
    reach = spacing * math.sqrt(-ROUNDS * log_beyond / 2)  # so far from ε it may still be counted
    assert before - law.lower(eps, log_beyond) >= outside * (0.999 + math.expm1(reach))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_noise_of_a_lattice_has_a_bound_that_a_finer_search_does_not_undercut(share):
    n, step = 60, 0.5
    on = lattice._Lattice(lattice._Problem.of(np.array([share * step, 4 * step]), np.array([0.75, 0.25]), n), step)
    v, log_bound = on._sign_change_range(-25.0)
    rates = np.geomspace(1e-2, 40, 4000)
    f = float(on.fractions[0])
    ends = np.array([-f, 1 - f]) * step
    for sign in (1, -1):
        moments = 0.75 * (np.expm1(sign * np.multiply.outer(rates, ends)) @ np.array([1 - f, f]))
        chernoff = np.log(2 * (v + 1 / rates)) + n * moments - rates * v
        assert log_bound >= float(np.min(chernoff)) - 1e-9


def test_the_weights_of_a_composed_law_have_the_roundings_of_their_exponents(monkeypatch):
    u, theta, eps = 1e-6, 3.0, 0.3
    monkeypatch.setattr(composed_losses, "UNIT_ROUNDOFF", u)
    law = composed(table(LOSSES, MASSES), 0.25, theta, -60, 2**8)
    law.error = 0.0
    first, last = 2, law.low + law.size - 1
    gaps = np.arange(first, last + 1) * 0.25 - eps
    terms = np.abs(law.law[first - law.low :]) * -np.expm1(-gaps) * np.exp(-theta * gaps)
    _, error = law._sum(eps, first, last)
    # A product, two exponentials and a product; θ times a gap, and a sum
    assert error >= u * float(np.sum(terms * (4 + theta * gaps)))
    assert error >= u * theta * gaps[-1] * float(np.sum(terms)) / 2


def test_a_geometric_tail_has_room_for_the_roundings_of_its_ratio():
    for ratio in (2.0**-40, 0.1, 0.5, 0.9, 0.999):
        true = Fraction(ratio) * (1 + 8 * Fraction(UNIT_ROUNDOFF))  # two quotients, a product and their inputs
        assert Fraction(float(_geometric_tail(1.0, ratio))) >= true / (1 - true)
    assert _geometric_tail(1.0, 0.0) == 0.0
    assert _geometric_tail(1.0, 1.0) == math.inf
