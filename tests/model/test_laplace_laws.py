"""The laws that cover all pairs of inputs of Laplace noise, against exact stop-loss transforms."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model.laplace_laws import Inside, LaplaceGrid, Law, _Cells, _nodes, laws_of
from shuffle_sym.randomizers import TruncatedLaplace

MP = mpmath.MPContext()
MP.dps = 20


def stop_loss(eps0, u, v, x, alpha, k):
    """∫ [p_u − αp_v − kp_x]_+ for Laplace noise, piece by piece: a e^{ε0y} + b e^{−ε0y} between bends."""
    e = MP.mpf(eps0)
    parts = [(MP.mpf(1), MP.mpf(u)), (-MP.mpf(alpha), MP.mpf(v)), (-MP.mpf(k), MP.mpf(x))]
    bends = sorted({place for _, place in parts})
    left = sum(c * MP.exp(e * (bends[0] - place)) for c, place in parts)
    right = sum(c * MP.exp(e * (place - bends[-1])) for c, place in parts)
    total = (max(left, 0) + max(right, 0)) / 2
    for low, high in pairwise(bends):
        a = sum(c * MP.exp(-e * place) for c, place in parts if place >= high)
        b = sum(c * MP.exp(e * place) for c, place in parts if place <= low)
        cuts = [low, high]
        if a * b < 0 and low < (root := MP.log(-b / a) / (2 * e)) < high:
            cuts.insert(1, root)
        for start, end in pairwise(cuts):
            integral = a * (MP.exp(e * end) - MP.exp(e * start)) - b * (MP.exp(-e * end) - MP.exp(-e * start))
            total += max(integral, 0) / 2
    return total


def of_law(values, probabilities, k):
    return math.fsum(p * max(g - float(k), 0.0) for g, p in zip(values, probabilities, strict=True))


def floats_of(grid_eps0, m):
    return LaplaceGrid(range(m + 1), lambda k: np.exp(grid_eps0 * np.asarray(k, dtype=float) / (2 * m)))


def thresholds(eps0, alpha):
    t = math.exp(eps0)
    return [*np.linspace(-alpha * t, t, 21), *np.linspace(-2 * alpha, 2.0, 17)]


def random_triples(rng, eps0, alpha, count):
    """Inputs of the first user with a divergence, and one of another user; corners and ties among them."""
    places = [lambda: rng.random(), lambda: rng.choice([0.0, 1.0, 0.5]), lambda: rng.random() ** 4]
    while count:
        x0, x1, x = (rng.choice(places)() for _ in range(3))
        if eps0 * abs(x0 - x1) > math.log(alpha):
            count -= 1
            yield x0, x1, x


def test_the_transform_of_one_law_is_that_of_an_integral():
    for u, v, x, k in ((0.2, 0.9, 0.4, 0.3), (0.7, 0.1, 0.3, -1.5), (0.0, 1.0, 0.0, -3.0)):
        y = (np.arange(200_000) + 0.5) / 10_000 - 9.5
        density = [1.5 * np.exp(-3 * np.abs(y - c)) for c in (u, v, x)]
        integral = np.maximum(density[0] - 1.2 * density[1] - k * density[2], 0).sum() / 10_000
        assert abs(float(stop_loss(3, u, v, x, 1.2, k)) - integral) < 1e-6


@pytest.mark.parametrize("eps0", [1, 4, 8])
def test_no_pair_of_inputs_and_no_other_user_is_above_all_laws(eps0):
    rng = random.Random(eps0)
    laws = laws_of(ss.Laplace(eps0))
    for eps in (sp.Rational(1, 100), sp.Rational(eps0, 11), sp.Rational(eps0, 2)):
        rows, alpha = laws.at(math.exp(eps)), math.exp(eps)
        for k in thresholds(eps0, alpha)[:: 3 if eps0 > 1 else 1]:
            most = max(of_law(*row, k) for row in rows)
            for x0, x1, x in random_triples(rng, eps0, alpha, 12):
                assert stop_loss(eps0, x0, x1, x, MP.exp(MP.mpf(eps.p) / eps.q), k) <= most * (1 + 1e-12) + 1e-13


def test_without_the_pairs_that_are_not_0_and_1_it_would_be_false():
    # f = 0.59[−1.1 − G]_+ + 0.98[G − 12]_+ at ε0 = 4, α = 1.05: (1, 0.35 | 0) is above every (0, 1 | x).
    def f(transform):  # E[−1.1 − G]_+ = E[G + 1.1]_+ − E G − 1.1
        return 0.59 * (transform(-1.1) - (1 - 1.05) - 1.1) + 0.98 * transform(12.0)

    near = f(lambda k: float(stop_loss(4, 1, 0.35, 0, 1.05, k)))
    plain = max(f(lambda k, x=x: float(stop_loss(4, 0, 1, x, 1.05, k))) for x in np.linspace(0, 1, 201))
    rows = laws_of(ss.Laplace(4)).at(1.05)
    assert plain < near <= max(f(lambda k, row=row: of_law(*row, k)) for row in rows)


def test_the_largest_variance_is_hardly_above_that_of_the_attack():
    for eps0, eps in ((1, sp.Rational(1, 25)), (4, sp.Rational(1, 4)), (8, sp.Integer(1))):
        t, alpha = MP.exp(eps0), MP.exp(MP.mpf(eps.p) / eps.q)
        square = (t + t**-2) / 2 + (t - t**-2) / 6  # ∫ p_1²/p_0: both tails, and between
        variance = 1 - 2 * alpha + alpha**2 * square - (1 - alpha) ** 2
        largest = max(p @ g**2 - (p @ g) ** 2 for g, p in laws_of(ss.Laplace(eps0)).at(float(alpha)))
        assert variance <= largest * (1 + 1e-12) <= variance * 1.006


@pytest.mark.parametrize("nodes", [(0, 1), (0, 1, 2, 3), (0, 2, 3, 7)])
def test_probabilities_add_up_to_1_and_means_are_exact(nodes):
    m = nodes[-1]
    grid = LaplaceGrid(nodes, lambda k: np.vectorize(lambda i: Fraction(3, 2) ** int(i), otypes=[object])(k)[()])
    alpha = Fraction(6, 5)
    for x in nodes:
        assert grid.masses(x).sum() == 1
        assert (grid.masses(x) * grid.ratios(m, x)).sum() == 1
        for width in (0, 1, 3):
            values, probabilities = grid.around(x, width).at(alpha)
            assert (probabilities.sum(), (values * probabilities).sum()) == (1, 1 - alpha)
    for i, low in enumerate(nodes):
        for high in nodes[i + 1 :]:
            for law in grid.between(low, high):
                values, probabilities = law.at(alpha)
                assert (probabilities.sum(), (values * probabilities).sum()) == (1, 1 - alpha)
                assert probabilities.min() > 0


def weights(eps0, low, high, x):
    theta, eta = (math.sinh(eps0 * d) / math.sinh(eps0 * (high - low)) for d in (high - x, x - low))
    return theta, eta


def excess(true, ks, shares, rows):
    """The largest of what a law has more than a mixture, over all thresholds."""
    mixed = [sum(s * of_law(*row, k) for s, row in zip(shares, rows, strict=True)) for k in ks]
    return max(one - other for one, other in zip(true, mixed, strict=True))


def random_cells(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        m, eps0, alpha = rng.randint(1, 4), rng.uniform(0.3, 6), rng.uniform(1, 3)
        low = rng.randrange(m)
        high = rng.randint(low + 1, m)
        yield floats_of(eps0, m), eps0, alpha, low, high, rng.uniform(low, high) / m


def test_inputs_of_the_others_in_a_cell_are_below_a_mixture_of_the_laws_at_its_ends():
    noticed = 0
    for grid, eps0, alpha, low, high, x in random_cells(5, 20):
        shares = np.array(weights(eps0, low / grid.m, high / grid.m, x))
        ks = thresholds(eps0, alpha)
        true = [float(stop_loss(eps0, 0, 1, x, alpha, k)) for k in ks]
        for width in (high - low, 0):
            rows = [grid.around(node, width).at(alpha) for node in (low, high)]
            more = excess(true, ks, shares / shares.sum(), rows)
            assert width == 0 or more <= 1e-12
            noticed += width == 0 and more > 1e-6  # as if inputs were at nodes only
    assert noticed > 7


def test_inputs_of_the_first_user_in_a_cell_are_below_a_mixture_of_four_laws():
    noticed = [0, 0]
    for grid, eps0, alpha, low, high, a in random_cells(6, 20):
        theta, eta = weights(eps0, low / grid.m, high / grid.m, a)
        share = (1 - theta - eta) / (1 - 1 / math.cosh(eps0 * (high - low) / grid.m / 2))
        shares = [w / (theta + eta) * s for w in (theta, eta) for s in (share, 1 - share)]
        ks = thresholds(eps0, alpha)
        for first, (u, v) in enumerate([(a, 1), (1, a)]):
            true = [float(stop_loss(eps0, u, v, 0, alpha, k)) for k in ks]
            laws = list(grid.between(low, high))[first::2]
            assert excess(true, ks, shares, [law.at(alpha) for law in laws]) <= 1e-12
            # Planted: messages of the cell in one; only the laws at its ends
            noticed[0] += excess(true, ks, shares, [_merged(law).at(alpha) for law in laws]) > 1e-6
            ends = [laws[1].at(alpha), laws[3].at(alpha)]
            noticed[1] += excess(true, ks, [theta / (theta + eta), eta / (theta + eta)], ends) > 1e-6
    assert noticed[0] > 20
    assert noticed[1] > 1


def _merged(law):
    cell = law.inside
    middle_a, middle_b = ((mean * (1 - 1e-9), mean * (1 + 1e-9)) for mean in (cell.mean_a, cell.mean_b))
    return Law(law.a, law.b, law.p, Inside(middle_a, middle_b, cell.mean_a, cell.mean_b, cell.mass))


@pytest.mark.parametrize("eps0", [1, 4])
def test_the_laws_of_all_cells_are_there(eps0):
    # Every input is in a cell, whose laws are in the order of the cells: first those of the others' inputs.
    nodes = _nodes(11 if eps0 == 1 else 37)
    m, alpha = nodes[-1], 1.1
    grid = LaplaceGrid(nodes, lambda k: np.exp(eps0 * np.asarray(k, dtype=float) / (2 * m)))
    cells, rows = _Cells(grid, float(eps0)), laws_of(ss.Laplace(eps0)).at(1.1)
    assert len(rows) == len(cells.others) + 8 * (len(cells.first) - 1)
    assert (cells.others[0], cells.others[-1], cells.first[0], cells.first[-1]) == (0, m, 0, m)
    for i, (low, high) in enumerate(pairwise(cells.others)):
        x = (low + high) / (2 * m)
        for k in (-1.0, -0.5, 0.3, -math.exp(eps0) / 2):
            mixed = (of_law(*rows[i], k) + of_law(*rows[i + 1], k)) / 2
            assert float(stop_loss(eps0, 0, 1, x, alpha, k)) <= mixed + 1e-13
    for i, (low, high) in enumerate(pairwise(cells.first)):
        a, eight = (low + high) / (2 * m), rows[len(cells.others) + 8 * i :][:8]
        for first, (u, v) in enumerate([(a, 1), (1, a)]):
            for k in (-1.0, -0.5, 0.3, -math.exp(eps0) / 2):
                # In the middle θ + η = 1/κ: all of the weight is on two of the laws.
                mixed = (of_law(*eight[first], k) + of_law(*eight[4 + first], k)) / 2
                assert float(stop_loss(eps0, u, v, 0, alpha, k)) <= mixed + 1e-13


def test_a_value_that_is_0_is_not_below_it():
    # e^{ε} is the ratio at a node: ε0 = 37/10 has 29 steps, and ε = 37/290 is one step.
    laws = laws_of(ss.Laplace(sp.Rational(37, 10)))
    rows = laws.at(math.exp(37 / 290))
    assert any(((g > 0) & (g < 1e-14)).any() for g, _ in rows)
    assert all((g[np.abs(g) < 1e-14] >= 0).all() for g, _ in rows)


def test_only_laplace_noise_that_is_not_too_strong_has_these_laws():
    x, y = sp.symbols("x y")
    density = sp.exp(-2 * sp.Abs(y - x))
    assert laws_of(ss.Laplace(sp.log(3))) is not None
    assert laws_of(ss.from_density(density, inputs=(0, 1))) is not None
    assert laws_of(ss.Laplace(17)) is None
    assert laws_of(ss.Gaussian(1)) is None
    assert laws_of(TruncatedLaplace(2)) is None
    assert laws_of(ss.from_density(density, inputs=(0, 1), clip=(0, 1))) is None


def test_laplace_noise_has_these_laws_however_it_is_written():
    x, y = sp.symbols("x y", real=True)
    u, rate = y - x, sp.log(16)
    either = sp.Piecewise((sp.exp(u), y < x), (sp.exp(-u), True)) / 2
    for density in (either, sp.exp(-sp.Max(u, -u)) / 2, rate / 2 * sp.exp(-rate * sp.Abs(u))):
        assert laws_of(ss.from_density(density, inputs=(0, 1))) is not None
    # Linear far out and round in the middle; two rates
    scale = 2 * sp.integrate(sp.exp(-(u**2) / 2), (y, x, x + 1)) + 2 * sp.exp(-sp.Rational(1, 2))
    huber = sp.Piecewise((sp.exp(-(u**2) / 2), sp.Abs(u) < 1), (sp.exp(sp.Rational(1, 2) - sp.Abs(u)), True))
    skew = sp.Piecewise((sp.exp(u), y < x), (sp.exp(-2 * u), True)) * sp.Rational(2, 3)
    for density in (huber / sp.simplify(scale), skew):
        assert laws_of(ss.from_density(density, inputs=(0, 1))) is None


def test_inputs_that_are_farther_apart_have_the_laws_of_a_larger_eps0():
    x, y = sp.symbols("x y")
    wide = ss.from_density(sp.exp(-2 * sp.Abs(y - x)), inputs=(-1, 1))
    alpha = math.exp(1 / 7)
    for one, other in zip(laws_of(wide).at(alpha), laws_of(ss.Laplace(4)).at(alpha), strict=True):
        assert np.array_equal(one[0], other[0])
        assert np.array_equal(one[1], other[1])
