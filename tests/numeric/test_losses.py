"""Grids of losses, rows of binomial laws, and convolutions of several laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from shuffle_sym.numeric import convolution, losses
from shuffle_sym.numeric.binomial import binomial_laws


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 54), Fraction(9, 10)])
@pytest.mark.parametrize("reach", [0, 3, 40])
def test_binomial_rows_and_their_tails_hold(p, reach):
    sizes = np.array([0, 1, 7, 60])
    rows = binomial_laws(sizes, float(p), float(1 - p), reach, 2**-51)
    for size, first, row in zip(sizes.tolist(), rows.first, rows.probabilities, strict=True):
        law = {k: math.comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)}
        inside = Fraction(0)
        for k, found in enumerate(row, int(first)):
            truth = law.get(k, Fraction(0))
            inside += truth
            assert abs(Fraction(found) - truth) <= Fraction(rows.error) * truth if rows.error < 1 else True
            assert found == 0 or truth > 0
        assert 1 - inside <= rows.outside


def test_splitting_keeps_both_masses_and_rounding_bounds_them():
    rng = np.random.default_rng(1)
    s, p = rng.normal(size=500), rng.dirichlet(np.ones(500))
    table = losses.Losses(lambda: (losses.Outcomes(s, p, 0.0, 0.0, 0.0, 0.0),))
    for spacing in (0.5, 0.01, 0.3):
        grid = losses.LossGrid(table, spacing, "split")
        assert math.isclose(np.sum(grid.masses), 1, rel_tol=1e-12)
        assert math.isclose(np.sum(grid.masses * np.exp(-grid.points)), np.sum(p * np.exp(-s)), rel_tol=1e-9)
        up, down = (losses.LossGrid(table, spacing, rounding) for rounding in ("up", "down"))
        means = [float(np.sum(g.masses * g.points)) for g in (down, up)]
        assert means[0] <= float(np.sum(p * s)) <= means[1]
        assert means[1] - means[0] <= spacing * (1 + 1e-9)


def test_several_factors_are_convolved_with_their_error():
    rng = np.random.default_rng(2)
    size, laws = 64, [rng.dirichlet(np.ones(5)) for _ in range(2)]
    truth = np.ones(1)
    for law, count in zip(laws, (3, 4), strict=True):
        for _ in range(count):
            truth = np.convolve(truth, law)
    for eta in (1e-15, 1e-6):
        exact = [np.fft.rfft(law, size) for law in laws]
        off = [[entries + 0.99 * eta * np.exp(1j * np.angle(entries))] for entries in exact]
        found, error = convolution.convolution(off, [eta, eta], [3, 4], size)
        assert 0 < np.linalg.norm(found - np.pad(truth, (0, size - len(truth)))) <= error


def test_masses_that_are_multiplied_out_are_within_their_error():
    s, p = np.array([-0.45, 0.3, 1.1]), np.array([0.1, 0.2, 0.7])
    one = losses.Losses(lambda: (losses.Outcomes(s, p, 0.0, 0.0, 0.0, 0.0),))
    block = losses.multiplied_out([one], [6]).together()
    worst = Fraction(0)
    for place, mass in enumerate(block.masses):
        truth = math.prod(Fraction(p[place // 3**i % 3]) for i in range(6))
        worst = max(worst, abs(Fraction(mass) - truth) / truth)
    assert 0 < worst <= block.mass_error < 10 * 2.0**-53
    (unmerged,) = losses.multiplied_out([one], [6]).blocks()
    sums = [sum(Fraction(s[place // 3**i % 3]) for i in range(6)) for place in range(3**6)]
    assert 0 < max(abs(Fraction(x) - y) for x, y in zip(unmerged.losses, sums, strict=True)) <= unmerged.loss_error / 2


def test_losses_that_are_multiplied_out_a_thousand_times_are_within_their_error():
    s, off = 0.1, 1e-9
    one = losses.Losses(lambda: (losses.Outcomes(np.array([s]), np.ones(1), 0.0, 0.0, 0.0, off),))
    block = losses.multiplied_out([one], [1000]).together()
    exact = losses.Losses(lambda: (losses.Outcomes(np.array([s]), np.ones(1), 0.0, 0.0, 0.0, 0.0),))
    rounded = losses.multiplied_out([exact], [1000]).together()
    assert 8 * 2.0**-53 * 100 < abs(Fraction(rounded.losses[0]) - 1000 * Fraction(s)) <= rounded.loss_error
    assert block.loss_error >= rounded.loss_error + 1000 * off * 0.999


def test_masses_whose_product_no_double_holds_are_neglected_and_counted():
    rare = losses.Losses(lambda: (losses.Outcomes(np.array([1.0]), np.array([1e-200]), 0.0, 0.0, 0.0, 0.0),))
    product = losses.multiplied_out([rare], [2])
    assert product.together().masses[0] == 0 < Fraction(1e-200) ** 2 <= Fraction(product.neglected)
