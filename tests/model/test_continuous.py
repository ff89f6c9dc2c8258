"""Laplace and Gaussian noise, from below and from above."""

from __future__ import annotations

from itertools import pairwise, product

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws
from scipy.stats import norm

import shuffle_sym as ss
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import x, y
from shuffle_sym.papers import derivations
from shuffle_sym.randomizers.noise import Logistic

q = sp.Rational
NOISE = {
    "Laplace(1)": ss.Laplace(1),
    "Laplace(3)": ss.Laplace(3),
    "Gaussian(1)": ss.Gaussian(1),
    "Logistic(2)": Logistic(2),
}


@pytest.fixture(params=NOISE.values(), ids=NOISE.keys())
def noise(request):
    return request.param


def test_the_distribution_is_the_integral_of_the_density(noise):
    for point, input_ in product([q(-3, 2), q(1, 5), q(9, 4)], [0, 1, q(1, 2)]):
        slope = sp.diff(noise.distribution.subs(x, input_), y).subs(y, point)
        assert sp.simplify(slope - noise.density.subs({x: input_, y: point})) == 0
    assert 0 < noise.distribution.subs({x: 0, y: -200}).evalf() < q(1, 10**80)


def test_gamma_is_what_the_derivation_gives():
    eps0 = sp.Symbol("epsilon_0", positive=True)
    assert sp.simplify(derivations.lemma51_laplace().result.subs(eps0, 3) - ss.Laplace(3).gamma) == 0
    sigma = sp.Symbol("sigma", positive=True)
    derived = derivations.lemma51_gaussian().result.subs(sigma, 2).doit()
    assert sp.simplify((derived - ss.Gaussian(2).gamma).rewrite(sp.erf)) == 0


def test_the_cells_cover_the_whole_blanket(noise):
    covered = 1 - noise.lower(8).beta
    assert abs(covered - noise.gamma.evalf(50)) < q(1, 10**40)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("alpha", [q(1), q(6, 5), q(2)])
def test_finer_cells_are_nested(noise, n, alpha):
    lowers = [shuffled_laws(noise.lower(cells), n).exact(alpha) for cells in (1, 2, 4, 8)]
    uppers = [shuffled_laws(noise.upper(cells), n).exact(alpha) for cells in (1, 2, 4, 8)]
    tiny = q(1, 10**40)  # the masses are rounded to rational numbers far below this
    assert all(coarse <= fine + tiny for coarse, fine in pairwise(lowers))
    assert all(fine <= coarse + tiny for coarse, fine in pairwise(uppers))
    assert lowers[-1] <= uppers[-1] + tiny


@pytest.mark.parametrize(("R", "cells"), [(ss.Laplace(3), 8), (ss.Laplace(1), 4), (ss.Gaussian(2), 24)], ids=str)
def test_the_gap_closes_with_the_square_of_the_number_of_cells(R, cells):
    def gap(count):
        low, high = (shuffled_laws(D, 50).delta(0.2, rtol=1e-4) for D in (R.lower(count, 1e-7), R.upper(count, 1e-7)))
        return (high.lower + high.upper) / 2 - (low.lower + low.upper) / 2

    # Halving the cells divides the gap by 4; the rest is of higher order.
    assert 1 / 5 < gap(2 * cells) / gap(cells) < 1 / 3


def test_one_user_of_laplace_noise_has_the_known_local_curve():
    # δ(ε) = 1 − exp((ε − ε0)/2) for the Laplace mechanism with sensitivity 1 and scale 1/ε0.
    for eps0, eps in product([1, 3], [0, 0.3, 0.9]):
        interval = shuffled_laws(ss.Laplace(eps0), 1).delta(eps)
        assert -mpmath.expm1((mpmath.mpf(str(eps)) - eps0) / 2) in interval


def test_one_user_of_gaussian_noise_has_the_known_local_curve():
    # Balle and Wang 2018: δ = Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ).
    for sigma, eps in product([1, 2], [0.1, 0.5]):
        truth = norm.cdf(1 / (2 * sigma) - eps * sigma) - mpmath.exp(eps) * norm.cdf(-1 / (2 * sigma) - eps * sigma)
        interval = shuffled_laws(ss.Gaussian(sigma), 1).delta(eps, rtol=1e-2)
        assert interval.lower - 1e-12 <= truth <= interval.upper + 1e-12


@pytest.mark.parametrize("tail", [0.3, 0.05, 1e-4])
@pytest.mark.parametrize("eps", [0.5, 2, 5, 9])
def test_what_is_cut_off_never_makes_the_upper_end_too_small(tail, eps):
    # One user, so that the local curve is the truth; from some ε on only the tail is left.
    upper = shuffled_laws(ss.Gaussian(1).upper(16, tail), 1).exact(sp.exp(eps), digits=30)
    with mpmath.workdps(40):
        truth = mpmath.ncdf(mpmath.mpf(1) / 2 - eps) - mpmath.exp(eps) * mpmath.ncdf(-mpmath.mpf(1) / 2 - eps)
        assert upper >= truth


def test_the_interval_is_as_narrow_as_asked_for():
    interval = shuffled_laws(ss.Laplace(1), 1_000).delta(0.1, rtol=1e-2)
    assert interval.relative_width <= 1e-2


def test_delta_is_zero_from_eps0_on():
    assert shuffled_laws(ss.Laplace(1), 100).delta(1) == ss.Interval(0.0, 0.0)


def coarse_pair(R, x0, x1, cells=24):
    """Messages in cells, for any pair of inputs: a lower bound for that pair."""
    with mpmath.workdps(40):
        below = sp.lambdify((x, y), R.distribution, modules="mpmath")
        ends = [mpmath.mpf(1) / 2 + mpmath.mpf(3) * i / cells for i in range(-cells, cells + 1)]

        def masses(input_):
            levels = [mpmath.mpf(0), *(below(mpmath.mpf(input_), end) for end in ends), mpmath.mpf(1)]
            cuts = [q(*mpmath.libmp.to_rational((b - a)._mpf_)) for a, b in pairwise(levels)]
            cuts[len(cuts) // 2] += 1 - sum(cuts)
            return cuts

        a, b, at_0, at_1 = masses(x0), masses(x1), masses(0), masses(1)
    return ss.model.Decomposition(a, b, [min(p, r) for p, r in zip(at_0, at_1, strict=True)])


@pytest.mark.parametrize("n", [1, 30])
def test_no_other_pair_of_inputs_on_a_grid_is_worse_than_0_and_1(noise, n):
    grid = [q(i, 3) for i in range(4)]
    for eps in (0.1, 0.5):
        bound = shuffled_laws(noise.upper(64, 1e-8), n).delta(eps, rtol=1e-2).upper
        for x0, x1 in product(grid, repeat=2):
            if x0 != x1:
                assert shuffled_laws(coarse_pair(noise, x0, x1), n).delta(eps, rtol=1e-2).lower <= bound


class Cauchy(AddedNoise):
    density = 1 / (sp.pi * (1 + (y - x) ** 2))


def test_noise_that_is_not_log_concave_is_refused():
    for ask in (
        lambda: ss.Shuffle(Cauchy(), 1000).delta(0.1),
        lambda: ss.Shuffle(ss.decomposition.blanket(Cauchy()), 1000).delta(0.1),
        lambda: Cauchy().lower(8),
    ):
        with pytest.raises(ValueError, match="log-concave"):
            ask()
