"""Few users of noise: values of nested quadratures in mpmath, which have nothing to do with cells."""

import math

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.algebra import balls
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import contour
from shuffle_sym.numeric.transforms import AllSums

# sigma, n, eps, δ of the blanket with 13 digits: for two users ½ E[G₁ + G₂]_+ as an integral over one message of the
# stop-loss function of the other; for eight (1 − Re φ(iu)⁸)/u² integrated over u
VALUES = [
    (1, 2, 0.3, 0.239139341885079),
    (1, 2, 1.5, 0.0324175399934386),
    (2, 2, 3, 6.71638641019051e-11),
    (2, 2, 6, 2.807658265399e-34),
    (2, 2, 10, 1.94552548931907e-89),
    (1, 8, 0.3, 0.10930458595742),
]
# D_α of one user: Φ(1/(2σ) − σε) − α Φ(−1/(2σ) − σε)
ALONE = [(1, 0.3, 0.29328483372878), (1, 1.5, 0.0566962362305535), (2, 3, 3.40091173567353e-10)]


@pytest.mark.parametrize(("sigma", "n", "eps", "value"), VALUES)
def test_few_users_of_a_gaussian_blanket_are_answered(sigma, n, eps, value):
    found = ss.Shuffle(ss.decomposition.blanket(ss.Gaussian(sigma=sigma)), n).delta(eps)
    assert found.lower <= value * (1 + 1e-12)
    assert found.upper >= value * (1 - 1e-12)
    assert found.relative_width <= 1e-3


@pytest.mark.parametrize(("sigma", "n", "eps", "value"), [*VALUES[:2], (1, 50, 0.9, 4.7454494907e-05)])
def test_some_cells_enclose_the_epsilon_of_a_blanket(sigma, n, eps, value):
    # The last value: (1 − Re φ(iu)⁵⁰)/u² by Gauss and Legendre in doubles, φ the same over the messages
    blanket = Noise(ss.Gaussian(sigma=sigma), n)
    found = blanket.epsilon(value, 1e-3)
    assert found.lower <= eps <= found.upper <= found.lower * 1.01


@pytest.mark.parametrize(("sigma", "eps", "value"), ALONE)
def test_one_user_alone_is_known_to_the_last_digit(sigma, eps, value):
    place, found = ss.Gaussian(sigma=sigma).alone(Ratio(eps=sp.Rational(str(eps))).ball)
    assert float(place) == pytest.approx(0.5 - sigma**2 * eps, rel=1e-12)
    assert balls.lower(found) == pytest.approx(value, rel=2e-13)
    assert balls.lower(found) <= balls.upper(found) <= balls.lower(found) * (1 + 1e-12)
    alone = ss.Shuffle(ss.decomposition.blanket(ss.Gaussian(sigma=sigma)), 1).delta(eps, rtol=1e-9)
    assert alone.lower * (1 - 1e-12) <= value <= alone.upper * (1 + 1e-12)


@pytest.mark.parametrize("sigma", [sp.Rational(1, 4), sp.Rational(1, 2)])
def test_more_users_of_little_noise_have_no_larger_bound(sigma):
    R, alpha = ss.Gaussian(sigma=sigma), sp.Rational(6, 5)
    uppers = [ss.Shuffle(R, n).delta(sp.log(alpha)).upper for n in (4, 5, 12)]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] < uppers[0] or sigma == sp.Rational(1, 4)
    # Two cells on either side are post-processing of the blanket, and a sum over all counts is exact.
    assert ss.Shuffle(R.lower(2), 5).exact(alpha) <= uppers[1]


def test_what_one_user_cannot_do_alone_no_crowd_can():
    # One standard deviation of the noise is 1000: the loss 0.1 is a hundred of them away.
    found = ss.Shuffle(ss.decomposition.blanket(ss.Gaussian(sigma=1000)), 1000).delta(0.1)
    assert found.lower == 0 < found.upper < 1e-300


def test_the_end_of_a_cell_next_to_another_is_left_out():
    # ρ = 1 in the middle, which is the end of a cell already.
    assert ss.Shuffle(ss.decomposition.blanket(ss.Gaussian(sigma=1)), 2).delta(0).relative_width <= 1e-3


def test_no_answer_is_above_1_and_what_doubles_cannot_hold_is_no_error():
    # Two messages tell the inputs apart: D_α of one user alone is 1, to all digits of a double.
    assert ss.Shuffle(ss.decomposition.blanket(ss.Gaussian(sigma="1/100")), 1000).delta(1).upper == 1
    found = ss.Shuffle(ss.Gaussian(sigma="0.3"), 1000).epsilon(1e-300)
    assert 0 < found.lower <= found.upper


def test_cells_over_which_the_ratio_hardly_changes_have_no_negative_mass():
    # Far out ρ is e^20, to 100 digits.
    found = ss.randomizers.Logistic(eps0=20).upper(32, 1e-100)
    assert min(*found.a, *found.b) >= 0


@pytest.mark.parametrize("zero", [0.5, 0.99, 0.9999])
@pytest.mark.parametrize("n", [2, 5])
def test_sums_without_any_term_are_left_out_of_the_contour(zero, n):
    # So many outcomes are exactly 0 that with them the smoothing would have to be narrow.
    values, p = np.array([-1.5, 1.0, math.sqrt(2), 0.0]), np.array([0.5, 0.2, 0.3, 0.0]) * (1 - zero)
    p[-1] = 1 - p.sum()
    counts = [(i, j, k) for i in range(n + 1) for j in range(n + 1 - i) for k in range(n + 1 - i - j)]
    exact = 0.0
    for i, j, k in counts:
        ways = math.factorial(n) / math.prod(map(math.factorial, (i, j, k, n - i - j - k)))
        weight = ways * p[0] ** i * p[1] ** j * p[2] ** k * p[3] ** (n - i - j - k)
        exact += weight * max(values[0] * i + values[1] * j + values[2] * k, 0.0) / n
    found = contour.positive_part(values, p, n, 1e-3)
    assert found.lower <= exact * (1 + 1e-13)
    assert found.upper >= exact * (1 - 1e-13)


def test_all_zero_is_taken_out_of_the_transform():
    values, p = np.array([[-1.0, 1.0, 0.0]]), np.array([0.25, 0.25, 0.5])
    law = AllSums(values, p, 3, 0.0)
    y = np.array([0.0, 0.7, 3.1])
    powers, errors = law.powers(np.ones(1), y)
    s = law.c[0] + 1j * y
    phi = 0.25 * np.exp(-s) + 0.25 * np.exp(s) + 0.5
    scale = (0.25 * math.exp(-law.c[0]) + 0.25 * math.exp(law.c[0]) + 0.5) ** 3
    assert np.abs(powers[0] - (phi**3 - 0.125) / scale).max() <= errors.max() < 1e-11
    assert abs(phi[2]) ** 3 / scale < 0.04 < math.exp(-2.5) < 2 * 0.125 / scale  # φ^n is small, and M need not be
    assert not law.quiet(np.array([0.002]), np.array([1570.0]), -2.5).any()
