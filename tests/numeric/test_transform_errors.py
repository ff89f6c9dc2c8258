"""Errors of transforms, rules and convolutions: inputs that are off by all that is allowed stay inside."""

from __future__ import annotations

import math
from itertools import pairwise, product
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric import (
    binomial,
    contour,
    convolution,
    tilting,
    transforms,
)

VALUES = np.array([-1.5, -0.3, 0.0, 1.0])
PROBABILITIES = np.array([0.3, 0.25, 0.25, 0.2])
N = 6


def law_of_sum(values, probabilities, n) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of the sum, term by term; errors of doubles are far below what is asked here."""
    x, p = np.zeros(1), np.ones(1)
    for _ in range(n):
        x, p = np.add.outer(x, values).ravel(), np.multiply.outer(p, probabilities).ravel()
    return x, p


def perturbed(size: float):
    """Laws that are off by a relative ``size``, in all directions; the probabilities still add up to 1."""
    for signs in product((1, -1), repeat=4):
        tilt = np.array(signs) * size
        p = PROBABILITIES * (1 + tilt - PROBABILITIES @ tilt)
        yield VALUES * (1 + tilt), PROBABILITIES
        yield VALUES, p


@pytest.mark.parametrize("rate", [0.4, 2.0])
def test_a_tilted_law_knows_how_far_it_may_be_off(rate):
    size = 1e-3
    one = transforms._Tilted(VALUES[None], PROBABILITIES, np.array([rate]), size, 2 * size)
    y = np.array([0.3, 1.0, 2.0])
    logs, angles = one.log_ratios(np.ones(1), y)
    ratios = np.exp(logs[0] + 1j * angles[0])
    growths, growth_errors = one.log_growths(np.array([[-0.3, 0.5]]))
    reached = np.zeros(4)
    for g, p in perturbed(size):
        phi = float(p @ np.exp(rate * g))
        reached[0] = max(reached[0], abs(math.log(phi) - one.log_phi[0]) / one.log_error[0])
        q = p * np.exp(rate * g) / phi
        reached[1] = max(reached[1], np.max(np.abs(q / one.q[0] - 1) / one.q_errors[0]))
        there = np.exp(1j * np.multiply.outer(y, g)) @ q
        reached[2] = max(reached[2], np.max(np.abs(there - ratios) / (one.drift[0] * y)))
        grown = np.log(np.exp(np.multiply.outer([rate - 0.3, rate + 0.5], g)) @ p / phi)
        reached[3] = max(reached[3], np.max(np.abs(grown - growths[0]) / growth_errors[0]))
    assert np.all((reached > 0.15) & (reached <= 1))


def test_the_roundings_of_a_tilted_law_are_counted(monkeypatch):
    u, J, x = 1e-6, 4, np.abs(2.0 * VALUES)
    monkeypatch.setattr(transforms, "UNIT_ROUNDOFF", u)
    one = transforms._Tilted(VALUES[None], PROBABILITIES, np.array([2.0]), 0.0, 0.0)
    # A product, an exponential of 4 units, a product with p and J − 1 additions; an error of x is one of e^x.
    assert one.log_error[0] >= u * (J + 4 + float(one.q[0] @ x) + 2 * abs(one.log_phi[0]))
    assert np.all(one.q_errors[0] >= one.log_error[0] * 0.7 + u * (6 + x))
    assert one.drift[0] >= np.sum(one.q[0] * np.abs(VALUES) * (one.q_errors[0] + (J + 40) * u))
    _, errors = one.log_growths(np.array([[0.5]]))
    assert errors[0, 0] >= u * (J + 10) * float(one.q[0] @ np.abs(np.expm1(0.5 * VALUES))) / 2
    every = transforms.AllSums(VALUES[None], PROBABILITIES, N, 0.0)
    _, errors = every.powers(np.ones(1), np.array([0.0, 0.7]))
    assert errors[0, 0] >= 32 * u  # of the exponential, and of a product with n
    assert errors[0, 1] >= N * 0.7 * every.one.drift[0] * 0.5 + 8 * u


@pytest.mark.parametrize("kind", [transforms.AllSums, transforms.RareSums])
def test_powers_of_transforms_are_within_their_errors(kind):
    size, y = 1e-4, np.array([0.1, 0.5, 1.0, 2.5, 6.0])
    p = np.array([0.5, 0.25, 0.22, 0.03])
    law = kind(VALUES[None], p, N, size)
    powers, errors = law.powers(np.ones(1), y)
    low = VALUES <= 0
    worst = 0.0
    for signs in product((1, -1), repeat=4):
        g = VALUES * (1 + 0.999 * size * np.array(signs))

        def measure(s, g=g):
            part = VALUES == 0 if kind is transforms.AllSums else low
            return (p @ np.exp(s * g)) ** N - (p[part] @ np.exp(s * g[part])) ** N

        c = float(law.c[0])
        # Relative to φ(c)^n, also where the outcomes in which all terms are 0 are left out
        scale = (p @ np.exp(c * g)) ** N if kind is transforms.AllSums else measure(c)
        assert abs(math.log(scale) - law.log_scale[0]) <= law.log_slack[0]
        there = np.array([measure(c + 1j * x) for x in y]) / scale
        room = 0.0 if kind is transforms.AllSums else law.log_slack[0]  # of M(c), which is computed by itself there
        worst = max(worst, np.max(np.abs(there - powers[0]) / (errors[0] + room)))
        for d in (-0.5 * c, 0.7):
            assert math.log(measure(c + d) / scale) <= law.log_growths(np.array([[d]]))[0, 0]
    assert 0.05 < worst <= 1


@pytest.mark.parametrize("target", [1e-4, 0.03, 0.3])
@pytest.mark.parametrize("width", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("spacing", [0.0, 0.5])
def test_rules_hold_whatever_their_aliasing_and_their_truncation(target, width, spacing):
    values = np.array([-1.5, -0.5, 0.0, 1.0]) if spacing else VALUES
    law = transforms.AllSums(values[None], PROBABILITIES, N, 0.0)
    goal, c = np.array([target]), float(law.c[0])
    x, p = law_of_sum(values, PROBABILITIES, N)
    truth = float(p @ np.maximum(x, 0.0)) / float(p @ np.exp(c * x))
    rule = contour.OnLattice(law, spacing, goal) if spacing else contour.Smoothed(law, np.array([width / c]), goal)
    below, above, error = (float(a[0]) for a in rule.evaluate())
    assert below - error - float(rule.alias[0]) <= truth * (1 + 1e-13)
    assert truth <= (above + error) * (1 + 1e-13)
    assert rule.alias[0] <= target


def test_terms_of_a_kernel_are_below_their_sizes_and_these_below_the_total():
    law = transforms.AllSums(VALUES[None], PROBABILITIES, N, 0.0)
    rule = contour.Smoothed(law, 0.7 / law.c, np.array([1e-12]))
    y = float(rule.step[0]) * np.arange(0.0, 4000.0)
    below, above, sizes = rule.kernel(y[None])
    assert np.all(np.maximum(np.abs(below), np.abs(above)) <= sizes)
    point = (law.c[0] + 1j * y) ** 2
    width, gauss = rule.tau[0] ** 2, np.abs(np.exp(rule.tau[0] ** 2 * point / 2))
    z = width * np.abs(point)
    for coefficients in (contour._BELOW, contour._ABOVE):
        q0, q1, q2 = map(abs, coefficients)
        assert np.all(gauss * (1 / np.abs(point) + width * (q0 + q1 * z + q2 * z * z)) <= sizes[0])
        # Each of these terms by itself: no coefficient is above 1.
        assert max(q0, q1, q2) <= 1
    assert np.all(gauss * (1 / np.abs(point) + width * (1 + z + z * z)) <= sizes[0] * (1 + 1e-12))
    assert float(rule.step[0]) / math.pi * float(np.sum(sizes)) <= float(rule.total[0])
    last = int(rule.count[0])
    gone = np.maximum(np.abs(below), np.abs(above))[0, last - 1 :]
    assert 0 < float(rule.step[0]) / math.pi * float(np.sum(gone)) <= float(rule.truncation[0])
    lattice = contour.OnLattice(law, 0.1, np.array([1e-12]))
    y = float(lattice.step[0]) * np.arange(float(lattice.count[0]))
    assert float(lattice.step[0]) / math.pi * float(np.sum(lattice.kernel(y[None])[2])) <= float(lattice.total[0])


def test_the_roundings_of_a_rule_are_counted(monkeypatch):
    u = 1e-6
    law = transforms.AllSums(VALUES[None], PROBABILITIES, N, 0.0)
    monkeypatch.setattr(contour, "UNIT_ROUNDOFF", u)
    for rule in (contour.Smoothed(law, 0.7 / law.c, np.array([1e-9])), contour.OnLattice(law, 0.1, np.array([1e-9]))):
        y = float(rule.step[0]) * np.arange(float(rule.count[0]))
        sizes, powers = rule.kernel(y[None])[2][0], np.abs(law.powers(np.ones(1), y)[0][0])
        weights = np.where(y > 0, 1.0, 0.5) * float(rule.step[0]) / math.pi
        error = float(rule.evaluate()[2][0] - rule.truncation[0] - rule.moved[0])
        # About 40 operations for a kernel, and so many additions
        assert error >= (40 + len(y)) * u * float(np.sum(sizes * weights * powers))
    assert rule.moved[0] >= 4 * FLOAT_ERROR * N * float(law.one.q[0] @ np.abs(VALUES))


def test_nodes_that_are_left_out_are_counted(monkeypatch):
    # Two values far apart: |φ(c + iy)|^n is large at one node of many, and the others are left out.
    values, p, n = np.array([-1.0, 1.001]), np.array([0.5, 0.5]), 4000
    law = transforms.AllSums(values[None], p, n, 0.0)
    monkeypatch.setattr(contour, "_FEW", 0)
    for level in (-40.0, -3.0):
        monkeypatch.setattr(contour, "_LOG_LEFT_OUT", level)
        rule = contour.Smoothed(law, 0.2 / law.c, np.array([1e-9]))
        below, above, error = (float(a[0]) for a in rule.evaluate())
        if level == -40.0:
            sides = below, above
        assert abs(below - sides[0]) <= error
        assert abs(above - sides[1]) <= error
    everything = set(range(int(rule.count[0])))
    kept = set(rule.nodes().astype(int).tolist())
    y = float(rule.step[0]) * np.array(sorted(everything - kept))
    assert np.all(np.abs(law.powers(np.ones(1), y)[0]) <= math.exp(-3.0))
    assert kept < everything


def test_the_logarithms_of_a_contour_have_their_roundings(monkeypatch):
    u = 1e-7
    monkeypatch.setattr(contour, "UNIT_ROUNDOFF", u)
    answer = contour.exponential(-20.0, -20.0)
    assert answer.lower <= math.exp(-20.0) * (1 - 21 * u)
    assert answer.upper >= math.exp(-20.0) * (1 + 21 * u)
    monkeypatch.setattr(contour, "_refined", lambda *_: (np.array([0.5]), np.array([0.5])))
    # The logarithms of what is computed, of n and of the unit, each seen by itself
    for n, power in ((6, 30), (2**40, 0), (2, 1000)):
        law = transforms.AllSums(VALUES[None], PROBABILITIES, N, 0.0)
        law.n, law.log_slack = n, np.zeros(1)
        ((low, high),) = contour.log_ends(law, 0.1, -math.inf, np.array([2.0**-power]), None)
        middle = math.log(0.5) + float(law.log_scale[0]) - math.log(n) - power * math.log(2)
        wide = u * (4 * (abs(float(law.log_scale[0])) + math.log(n) + power * math.log(2)) + 745)
        assert low <= middle - wide < middle + wide <= high
    for top, mass in ((1.0, 1e-200), (1e200, 0.25)):  # of one term
        ((low, high),) = contour._log_bounds(np.array([[-1.0, top]]), np.array([1 - mass, mass]), 1, 0.1, -math.inf)
        assert high - low >= 8 * u * (1 + abs(math.log(top)) + abs(math.log(mass)))
    law.log_slack = np.full(1, 1e-3)
    ((low, high),) = contour.log_ends(law, 0.1, -math.inf, np.ones(1), None)
    assert high - low >= 2e-3


@pytest.mark.parametrize("values", [[0.5, 2.0, 8.0], [-3.0, 0.0, 5.0]])
def test_one_term_or_one_sign_has_the_error_of_its_inputs(monkeypatch, values):
    size, p = 1e-3, np.array([0.25, 0.5, 0.25])
    monkeypatch.setattr(contour, "FLOAT_ERROR", size)
    values = np.array(values)
    answer = contour.positive_part(values, p, 1, 0.5)
    for sign in (1, -1):
        truth = float(p * (1 + sign * size) @ np.maximum(values * (1 + sign * size), 0.0))
        assert answer.lower <= truth <= answer.upper


def test_values_are_on_a_lattice_only_if_they_are_within_the_error_of_it():
    spacing, largest = 2.0**-10, 1.0
    for off, taken in ((0.0, True), (3 * FLOAT_ERROR, True), (40 * FLOAT_ERROR, False)):
        values = np.array([-0.75, 640 * spacing * (1 + off), largest])
        snapped, found = contour.on_a_lattice(values, 10)
        assert (found > 0) == taken
        assert np.all(np.abs(snapped - values) <= contour.OFF * np.abs(values))
    assert contour.on_a_lattice(np.array([-0.75, largest]), 2**53)[1] == 0  # so many errors add up to a spacing


def test_the_errors_of_a_convolution_are_counted(monkeypatch):
    u = 1e-6
    monkeypatch.setattr(convolution, "UNIT_ROUNDOFF", u)
    size = 2**16
    at_one = np.exp(-2j * math.pi / size * np.arange(size // 2 + 1))
    for n in (1, 50):
        _, error = convolution.self_convolution([at_one], 0.0, n, size)
        # exp(n log z), and an FFT with log₂ size levels
        assert error >= (4 * n + 4 * math.log2(size)) * u
    _, eta = convolution.transform(np.array([0.0, 3.0]), np.array([0.5, 0.5]), 64)
    assert eta >= (2 + 13) * u
    _, eta = convolution.transform(np.arange(20.0), np.full(20, 0.05), 64)
    assert eta >= (20 + 4 * 6) * u


def test_frequencies_that_are_left_out_are_counted(monkeypatch):
    size, law = 64, np.array([0.4, 0.1, 0.2, 0.3])
    truth = np.convolve(np.convolve(law, law), law)
    chunks = [np.fft.rfft(law, size)]
    for level in (-0.5, -1.0, -3.0):
        monkeypatch.setattr(convolution, "_LOG_NEGLIGIBLE", level)
        found, error = convolution.self_convolution(chunks, 0.0, 3, size)
        off = float(np.linalg.norm(found - np.pad(truth, (0, size - len(truth)))))
        assert 1e-9 < off <= error


def test_a_product_that_no_double_holds_is_not_zero():
    assert tilting.scaled(1.0, -800.0) == 5e-324
    assert tilting.scaled(0.0, 10.0) == 0
    assert tilting.scaled(2.0, 709.0) == math.inf


def test_a_reach_grows_with_the_rounding_of_the_moments(monkeypatch):
    values, p, u, n = np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 1e-9, 10**6
    before, _ = tilting.tail_reach(values, p, n, -30.0)
    monkeypatch.setattr(tilting, "UNIT_ROUNDOFF", u)
    after, _ = tilting.tail_reach(values, p, n, -30.0)
    # Every rate is at most 1 here: n·u·8/rate and n·u·2·reach
    assert after - before >= n * u * (8 + 2)


def test_the_roundings_of_rare_sums_are_counted(monkeypatch):
    u, p, d = 1e-6, np.array([0.5, 0.25, 0.22, 0.03]), 0.7
    monkeypatch.setattr(transforms, "UNIT_ROUNDOFF", u)
    law = transforms.RareSums(VALUES[None], p, N, 0.0)
    logs, errors = (float(a[0, 0]) for a in law.low.log_growths(np.array([[d]])))
    factors = 1 + law.psi_errors + (4 + 20) * u + 4 * u * d * law.g  # the errors of ψ, and of e^{dg}
    psi = float((law.psi * np.exp(d * law.g) * factors).sum())
    exponent = N * math.log1p(psi * math.exp(-logs))
    rest = exponent + math.log(-math.expm1(-exponent))
    middle = N * logs + rest - float(law.log_rest[0])
    bound = float(law.log_growths(np.array([[d]]))[0, 0])
    # Of the product with n, of two logarithms and of their sum; what is known of M(c), and of one term
    assert bound >= middle + N * errors + float(law.log_slack[0]) + 12 * u * (2 + exponent + abs(rest))
    slack = u * (2 + float(law.exponent[0]) + abs(float(law.log_rest[0])))
    assert law.log_slack[0] >= N * law.low.log_error[0] + law.gain[0] * law.fixed[0] + 7 * slack
    assert law.fixed[0] >= float((law.psi * law.psi_errors).sum()) + 50 * u * float(law.psi.sum())
    log_low = float(law.log_scale[0] - law.log_rest[0]) / N
    # Two logarithms, their difference, the product cg, the sum of both, and an exponential of 4 units
    logs = abs(math.log(p[-1])) + abs(log_low)
    assert np.all(law.psi_errors - law.low.log_error[0] >= u * (4 + 4 * logs + 2 * law.c * law.g))
    _, (error,) = law.powers(np.ones(1), np.array([0.0, 0.5]))
    assert error[0] >= law.gain[0] * law.fixed[0] + 32 * u * (1 + law.exponent[0])
    assert error[1] >= error[0] * 0.5 + N * law.low.drift[0] * 0.5


@pytest.mark.parametrize("mean", [-0.01, -0.9])
def test_where_only_an_upper_end_is_told_it_is_chernoffs(mean):
    values, p = np.array([mean - 1, mean + 1]), np.array([0.5, 0.5])
    law = transforms.AllSums(values[None], p, 40, 0.0)
    ((low, high),) = contour.log_ends(law, 0.1, math.inf, np.ones(1), None)
    truth = sum(math.comb(40, k) / 2**40 * max(40 * mean + 2 * k - 40, 0.0) for k in range(41)) / 40
    assert low == -math.inf
    assert math.log(truth) <= high <= math.log(truth) + 3


def test_the_roundings_of_a_tilted_law_with_many_values_are_counted(monkeypatch):
    u, J = 1e-7, 200
    monkeypatch.setattr(transforms, "UNIT_ROUNDOFF", u)
    values, p = np.linspace(-1.0, 1.0, J), np.full(J, 1 / J)
    one = transforms._Tilted(values[None], p, np.array([1.0]), 0.0, 0.0)
    assert one.log_error[0] >= u * J * float(p @ np.abs(np.expm1(values))) / float(p @ np.exp(values))
    assert np.all(one.q_errors[0] >= one.log_error[0] * 0.9 + u * J)
    # Of two sums with J terms, one of them of cosines and one of sines
    assert one.drift[0] >= float(one.q[0] @ (np.abs(values) * (one.q_errors[0] + 1.5 * J * u)))
    _, errors = one.log_growths(np.array([[0.5]]))
    growth = np.abs(np.expm1(0.5 * values))
    assert errors[0, 0] >= float((one.q[0] * (one.q_errors[0] + J * u)) @ growth) / float(
        one.q[0] @ np.exp(0.5 * values)
    )


def test_the_terms_of_two_values_have_their_roundings():
    # (x + v)k − vM: inputs, a sum, two products, a difference, and M itself from a quotient
    assert binomial._OFF >= 2 * FLOAT_ERROR + 6 * UNIT_ROUNDOFF
    assert binomial.has_two_values(np.array([-1.0, 0.0, 2.0]))


def test_what_lies_outside_the_window_of_two_values_is_in_the_upper_end(monkeypatch):
    two = binomial._Two(2.0, 1.0, 0.2, 0.5, 0.3, 20)
    monkeypatch.setattr(two, "_bounds", lambda log_tail: (1.0, 2.0, 0.015))
    lower, upper = two.bounds(1.0)
    assert lower <= 1.0 < 2.015 <= upper <= 2.0151


def test_the_growth_of_rare_sums_has_the_error_of_their_values():
    off, d, p = 1e-2, 0.7, np.array([0.5, 0.25, 0.22, 0.03])
    law = transforms.RareSums(VALUES[None], p, N, 0.0)
    before = law.log_growths(np.array([[d]]))[0, 0]
    law.value_error = off
    ((low,),), _ = law.low.log_growths(np.array([[d]]))
    shares = [float(law.psi[0] @ np.exp(d * law.g[0] * (1 + x))) * math.exp(-low) for x in (0.0, off)]
    logs = [math.log(math.expm1(N * math.log1p(share))) for share in shares]
    assert law.log_growths(np.array([[d]]))[0, 0] - before >= (logs[1] - logs[0]) * 0.999


def test_powers_of_rare_sums_have_the_error_of_their_values():
    off, n, y, p = 1e-6, 1, np.array([[5.0, 50.0, 200.0]]), np.array([0.97, 0.03])
    law = transforms.RareSums(np.array([[-0.01, 1.0]]), p, n, off)
    powers, errors = law.powers(np.ones(1), y[0])
    # For one term only the positive value is left, e^{(c + iy)g}/e^{cg}, and g may be off.
    reached = np.abs(np.exp((law.c[:, None] + 1j * y) * (1 + off) - law.c[:, None]) - powers) / errors
    assert 0.9 < reached[0, -1] < 1
    assert np.all(reached < 1)


def test_the_two_polynomials_of_the_smoothed_kernel_are_on_either_side_of_it():
    mp = mpmath.MPContext()
    mp.dps = 40
    below, above = ([mp.mpf(q) for q in side] for side in contour._sides())  # below and above w

    def polynomial(q, v):  # in He₀, He₂, He₄ of √v
        return q[0] + q[1] * (v - 1) + q[2] * (v * v - 6 * v + 3)

    for v in map(mp.mpf, [0, 0.1, 0.5, 1, 1.5, 2, 2.5, 2.9, 3, 3.1, 3.5, 4, 6, 10, 30]):
        x = mp.sqrt(v)
        w = 1 - x * mp.ncdf(-x) / mp.npdf(x)
        assert polynomial(below, v) <= w + 1e-15
        assert polynomial(above, v) >= w - 1e-15
        if v == 1:
            assert abs(polynomial(below, v) - w) < 1e-15
        if v in (0, 3):
            assert abs(polynomial(above, v) - w) < 1e-15


def test_a_rule_that_is_off_by_its_error_and_its_aliasing_leaves_the_truth_inside():
    law = transforms.AllSums(VALUES[None], PROBABILITIES, N, 0.0)
    truth, error, alias = np.array([0.5]), np.array([1e-3]), np.array([2e-3])

    def off(*given):
        sides = truth + error + alias, truth - error, error  # as bad as they may be
        return SimpleNamespace(evaluate=lambda: sides, alias=alias, truncation=error, count=np.zeros(1))

    lower, upper = contour._refined(law, off, 0.1, np.array([0.1]))
    assert lower[0] <= truth[0] * (1 + 1e-15)
    assert upper[0] >= truth[0] * (1 - 1e-15)


def test_a_window_of_two_values_grows_where_nothing_was_seen_in_it(monkeypatch):
    two, tails = binomial._Two(2.0, 1.0, 0.2, 0.5, 0.3, 20), []

    def bounds(log_tail):
        tails.append(log_tail)
        return (0.0, 0.0, 1e-9) if len(tails) < 3 else (1.0, 2.0, 1e-9)

    monkeypatch.setattr(two, "_bounds", bounds)
    lower, upper = two.bounds(1e-3)
    assert lower <= 1.0 < 2.0 <= upper
    assert all(4 * before <= after <= 1.5 * before for before, after in pairwise(tails))


def test_nothing_lies_beyond_the_sum_of_a_constant():
    with np.errstate(all="raise"):
        assert tilting.tail_reach(np.array([0.5]), np.array([1.0]), 10, -5.0) == (5.0, -math.inf)
        assert tilting.tail_reach(np.array([0.0, 0.0]), np.array([0.5, 0.5]), 10, -5.0)[0] <= 1e-100


def test_the_error_of_what_is_left_out_is_counted_where_nothing_else_is():
    # Where φ(c + iy) nearly vanishes, all that is left of φ^n − Pr[G = 0]^n is the second term.
    g, p, size, y = np.array([0.0, 1.0, -1.0]), np.array([0.5, 0.2, 0.3]), 1e-4, np.array([math.pi])
    law = transforms.AllSums(g[None], p, 6, 0.0, size)
    powers, errors = law.powers(np.ones(1), y)
    c = float(law.c[0])
    for sign in (1, -1):
        moved = p + sign * 0.999 * size * np.array([0.5, 0.0, -0.5])
        there = (moved @ np.exp((c + 1j * y[0]) * g)) ** 6 - moved[0] ** 6
        there /= (moved @ np.exp(c * g)) ** 6
        assert abs(there - powers[0, 0]) <= errors[0, 0]
    assert errors[0, 0] <= 5 * 6 * size * abs(powers[0, 0])
