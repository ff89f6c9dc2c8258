"""Errors of the drop-out bound and of its parts: inputs that are off by all that is allowed stay inside."""

from __future__ import annotations

import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from test_transform_errors import PROBABILITIES, VALUES, law_of_sum, perturbed

from shuffle_sym.algebra import precise
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric import (
    chairs,
    contour,
    dropout,
    exchange,
    transforms,
)


def roundings_beside_places(monkeypatch, u):
    """Roundings are u from here on, but those in sums over places are what they were."""

    def as_before(method):
        def usual(*arguments):
            with monkeypatch.context() as patch:
                patch.setattr(dropout, "UNIT_ROUNDOFF", UNIT_ROUNDOFF)
                return method(*arguments)

        return usual

    for name in ("__init__", "logs_with_slack", "powers"):
        monkeypatch.setattr(dropout.Places, name, as_before(getattr(dropout.Places, name)))
    monkeypatch.setattr(dropout, "UNIT_ROUNDOFF", u)


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_bounds_of_moduli_hold_for_laws_that_are_a_little_off(monkeypatch, rate):
    size, u = 1e-3, np.array([0.0, 0.4, 1.0, 2.2])
    monkeypatch.setattr(dropout, "FLOAT_ERROR", size)
    tilts = dropout.Tilts(VALUES[None], PROBABILITIES[None], rate)
    squares = tilts.log_squares(u)[:, 0]
    for g, p in perturbed(size):
        phi = float(p @ np.exp(rate * g))
        q = p * np.exp(rate * g) / phi
        assert math.log(phi) <= tilts.log_tops[0]
        assert float(q @ (g - q @ g) ** 2) <= tilts.variances[0]
        there = 2 * np.log(np.abs(np.exp(1j * np.multiply.outer(u, g)) @ q))
        assert np.all(there <= squares + 1e-12)


def test_the_roundings_of_cells_are_counted(monkeypatch):
    u = 1e-6
    two = np.stack([VALUES, VALUES * 0.5]), np.stack([PROBABILITIES] * 2)
    tilts, where = dropout.Tilts(*two, 1.0), dropout.Places(0.25, 40, 0, 30)
    exact = dropout.Cells(tilts, np.array([0.1, 0.3]), 0.5, where)
    integral = exact.log_integral(1e-3)
    roundings_beside_places(monkeypatch, u)
    cells = dropout.Cells(tilts, np.array([0.1, 0.3]), 0.5, where)
    apart = float(exact.lags.min())
    assert apart < 0
    assert cells.log_top >= exact.log_top + u * (abs(exact.log_top) + 4 * 0.1 / 2)
    # The difference of two tops, and twice it; never above 0
    assert 0 >= cells.lags.max() >= cells.lags.min() >= apart - 2 * u * abs(apart) - 16 * u * abs(exact.log_top)
    assert cells.lags.min() > 2 * (tilts.log_tops.min() - tilts.log_tops.max()) - 1
    nodes = np.array([0.5, 1.0])
    largest = (tilts.log_squares(nodes) - cells.pads * (nodes**2)[:, None] + cells.lags).max(axis=1)
    assert np.all(cells.log_squares(nodes) >= largest * (1 - 4 * u))
    assert cells.log_integral(1e-3) >= integral + u * 256


def test_the_sum_over_places_is_above_the_exact_one_and_has_its_roundings(monkeypatch):
    mp = precise.context(40)
    for gamma, n, first, last in ((0.25, 12, 0, 10), (0.01, 300, 3, 298), (0.5, 9, 2, 4)):
        where = dropout.Places(gamma, n, first, last)
        for log_m in (-0.7, -0.01, 0.0):
            terms = (
                mp.mpf(gamma) * (1 - mp.mpf(gamma)) ** (j - 1) * mp.exp(mp.mpf(log_m) * (n - j)) / (n - j)
                for j in range(first + 1, last + 1)
            )
            truth = mp.log(sum(terms))
            found = float(where.log_sums(np.array([log_m]))[0])
            assert truth <= found <= truth + 0.4
        assert where.log_rest >= float(last * mp.log1p(-mp.mpf(gamma)))
        assert where.log_rest <= last * math.log1p(-gamma) * (1 - 20 * UNIT_ROUNDOFF)
    u = 1e-6
    monkeypatch.setattr(dropout, "UNIT_ROUNDOFF", u)
    where = dropout.Places(0.01, 300, 3, 298)
    (middle,), (slack,) = where.logs_with_slack(np.array([-0.7]))
    assert where.log_sums(np.array([-0.7]))[0] >= middle + slack * 0.999
    # Logarithms of γ and of n − a, powers of 1 − γ and of m, and a sum over the segments
    assert slack >= 8 * u * (abs(math.log(0.01)) + math.log(297) + 297 * 0.7 + len(where.lengths) / 8)
    _, (slack,) = dropout.Places(1e-200, 300, 3, 298).logs_with_slack(np.zeros(1))
    assert slack >= 8 * u * 200 * math.log(10)  # of log γ alone
    few = dropout.Places(0.01, 300, 3, 6)
    near = complex(few.log_x[0] - 1e-9)
    (power,), (error,) = few.powers(np.array([near]), 0.0)
    assert error / abs(power) >= u / 1e-9 / 4  # a numerator with a rounding, over 1 − e^{−t}
    shares = []
    for log_scale in (0.0, -200.0):
        (power,), (error,) = where.powers(np.array([-0.7 + 0.1j]), log_scale)
        shares.append(float(error / abs(power)))
    assert shares[0] >= 64 * u
    assert shares[1] - shares[0] >= 2 * u * 200  # of taking it off an exponent


def test_the_mean_of_a_placed_sum_has_the_errors_of_its_transform():
    where = dropout.Places(0.2, 12, 0, 8)
    size = 1e-4
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, where, 0.3, size)
    c, y = float(law.c[0]), np.array([0.2, 0.8, 1.5])
    powers, errors = law.powers(np.ones(1), y)

    def measure(s, g):
        logs = np.log(PROBABILITIES @ np.exp(np.multiply.outer(g, s)))
        values = [where.powers(np.array([complex(z)]), 0.0)[0][0] for z in logs]
        return np.array(values) * np.exp(0.3 * s * s / 2)

    worst = 0.0
    for sign in (1, -1):
        g = VALUES * (1 + sign * 0.99 * size * np.sign(VALUES))
        scale = measure(np.array([c]), g)[0]
        assert abs(math.log(scale.real) - law.log_scale[0]) <= law.log_slack[0]
        there = measure(c + 1j * y, g) / scale
        worst = max(worst, float(np.max(np.abs(there - powers[0]) / errors[0])))
        for d in (-0.5 * c, 0.5):
            grown = math.log((measure(np.array([c + d]), g)[0] / scale).real)
            assert grown <= law.log_growths(np.array([[d]]))[0, 0]
    assert 0.05 < worst <= 1


def test_logarithms_of_drop_out_bounds_are_rounded_outward():
    for log in (-700.0, -3.0, 0.0):
        assert dropout.raised(log) >= log + 4 * UNIT_ROUNDOFF * (1 + abs(log)) * 0.99


def test_means_that_doubles_cannot_tell_apart_are_the_same(monkeypatch):
    size = 1e-3
    monkeypatch.setattr(exchange, "FLOAT_ERROR", size)
    g, p = np.array([-2.0, -0.5, 0.5, 2.0]), np.array([0.25, 0.25, 0.25, 0.25])
    wider = np.array([-2.0, -0.5, 0.5, 2.0]) * (1 + 3 * size)
    assert exchange.same_means(np.stack([g + 1, wider + 1 + 4 * size]), np.stack([p, p]))
    assert not exchange.same_means(np.stack([g + 1, wider + 1.1]), np.stack([p, p]))


def test_the_variance_of_an_exchange_is_never_too_small():
    # Tilted by e^{±45} both values are as likely; an exponent of 45 has an error that is seen in their masses.
    rare, pads = math.exp(-90.0), np.zeros(2)
    values, p = np.array([[-1.5, 1.5], [-1.0, 1.0]]), np.array([[1 - rare, rare]] * 2)
    bounds = exchange._Bounds(values, p, pads, 0, 0.1, (2, 5), np.array([30.0]), 0.01)
    one = transforms._Tilted(values, p, np.full(2, 30.0), FLOAT_ERROR, FLOAT_ERROR)
    assert one.q_errors[0].max() > 2e-14
    about = (bounds.q * (bounds.g - bounds.mean[:, :, None]) ** 2).sum(axis=2)
    assert bounds.variance[0, 0] >= about[0, 0] * (1 + one.q_errors[0].max())


def test_a_placed_bound_is_above_the_sum_for_values_that_are_a_little_off(monkeypatch):
    size, gamma, n, variance = 1e-3, 0.3, 7, 0.3
    where = dropout.Places(gamma, n, 0, 5)
    monkeypatch.setattr(dropout, "FLOAT_ERROR", size)
    bound = dropout.equal_log_upper(VALUES, PROBABILITIES, where, variance, 0.1)
    g = VALUES * (1 + size * np.sign(VALUES))
    total, spread = 0.0, math.sqrt(variance)
    for j in range(1, 6):
        x, p = law_of_sum(g, PROBABILITIES, n - j)
        z = x / spread
        parts = x * ndtr(z) + spread * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)  # E[x + τZ]_+
        total += gamma * (1 - gamma) ** (j - 1) / (n - j) * float(p @ parts)
    assert math.log(total) <= bound <= math.log(total) + 0.3


def test_what_is_known_of_the_scale_is_in_a_placed_bound(monkeypatch):
    where, u, size = dropout.Places(0.3, 7, 0, 5), 1e-6, 1e-3
    monkeypatch.setattr(contour, "_refined", lambda *_: (np.zeros(1), np.ones(1)))
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, where, 0.3, size)
    scale = float(law.log_scale[0])
    monkeypatch.setattr(dropout, "FLOAT_ERROR", size)
    assert dropout.equal_log_upper(VALUES, PROBABILITIES, where, 0.3, 1e-3) >= scale + float(law.log_slack[0])
    assert law.log_slack[0] > size
    monkeypatch.setattr(dropout, "FLOAT_ERROR", 0.0)
    roundings_beside_places(monkeypatch, u)
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, where, 0.3, 0.0)
    assert law.log_slack[0] >= 4 * u * abs(float(law.log_sum[0]))
    found = dropout.equal_log_upper(VALUES, PROBABILITIES, where, 0.3, 1e-3)
    assert found >= scale + float(law.log_slack[0]) + 4 * u * (1 + abs(scale))  # the sum of three logarithms


def test_means_that_differ_by_roundings_are_the_same(monkeypatch):
    monkeypatch.setattr(exchange, "FLOAT_ERROR", 0.0)
    values = np.random.default_rng(5).normal(size=60)
    p = np.full(60, 1 / 60)
    turned = np.stack([np.roll(values, i) for i in range(60)]), np.stack([p] * 60)
    means = (turned[0] * turned[1]).sum(axis=1)
    assert len(set(means.tolist())) > 1  # the order of a sum is seen
    assert exchange.same_means(*turned)


def test_how_far_laws_lag_behind_the_largest_one_is_rounded_up(monkeypatch):
    u = 1e-6
    roundings_beside_places(monkeypatch, u)
    tilts = SimpleNamespace(log_tops=np.array([0.0, -1.0]), rate=1.0, variances=np.ones(2))
    cells = dropout.Cells(tilts, np.zeros(2), 0.5, dropout.Places(0.25, 40, 0, 30))
    assert cells.lags[0] == 0
    assert cells.lags[1] >= -2 + 2 * 5 * u  # two tops, their difference and a product


def test_the_growth_of_a_placed_sum_has_the_rounding_of_its_normal_factor(monkeypatch):
    where, d, u = dropout.Places(0.3, 7, 0, 5), 0.8, 1e-3
    exact = dropout.PlacedSums(VALUES[None], PROBABILITIES, where, 5.0, 0.0)
    before = float(exact.log_growths(np.array([[d]]))[0, 0])
    roundings_beside_places(monkeypatch, u)
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, where, 5.0, 0.0)
    normal = 5.0 * d * (float(law.c[0]) + d / 2)
    grown = float(law.log_growths(np.array([[d]]))[0, 0]) - before
    assert grown >= float(law.log_slack[0] - exact.log_slack[0]) + 4 * u * normal
    assert law.log_slack[0] >= 4 * u * 5.0 * float(law.c[0]) ** 2 / 2


def test_the_sum_of_all_groups_of_places_has_its_roundings(monkeypatch):
    u = 1e-6
    family = dropout._Family(VALUES[None] * 2.0**-40, PROBABILITIES[None], 0.3, 20, 0.2, False)
    monkeypatch.setattr(family, "_group", lambda *_: (-30.0, "moduli"))
    before, _ = family.log_upper()
    roundings_beside_places(monkeypatch, u)
    after, _ = family.log_upper()
    # Three logarithms are added, twice one of a sum
    assert after - before >= 4 * u * (1 + abs(before) + 40 * math.log(2) + abs(math.log(0.2)))


def test_roundings_next_to_one_are_not_counted_n_times(monkeypatch):
    # The n-th power of a number next to 1: what is relative to its logarithm stays small, what is relative to 1 grows.
    u, n = 1e-8, 400
    tilts, where = dropout.Tilts(VALUES[None], PROBABILITIES[None], 0.05), dropout.Places(0.25, n, 0, n // 2)
    exact = dropout.Cells(tilts, np.zeros(1), 0.5, where).log_integral(1e-3)
    roundings_beside_places(monkeypatch, u)
    found = dropout.Cells(tilts, np.zeros(1), 0.5, where).log_integral(1e-3)
    assert 256 * u <= found - exact <= 2.5 * n * u


def test_the_growth_of_a_placed_sum_has_the_error_of_the_scale_that_it_is_relative_to():
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, dropout.Places(0.3, 7, 0, 5), 0.3, 0.0)
    before = float(law.log_growths(np.array([[0.8]]))[0, 0])
    law.log_slack = law.log_slack + 1e-3
    assert law.log_growths(np.array([[0.8]]))[0, 0] >= before + 0.999e-3


def test_the_largest_modulus_of_groups_is_rounded_up(monkeypatch):
    tilts, where = dropout.Tilts(VALUES[None], PROBABILITIES[None], 1.0), dropout.Places(0.25, 40, 0, 30)
    given = [tilts, tilts], [np.zeros(1)] * 2, np.array([20, 20]), 0.5, where
    nodes = np.linspace(0.1, 4.0, 30)
    exact = chairs._GroupCells(*given).log_squares(nodes)
    monkeypatch.setattr(chairs, "UNIT_ROUNDOFF", u := 1e-6)
    assert np.all(chairs._GroupCells(*given).log_squares(nodes) >= exact * (1 - 4 * u))


def test_the_best_rate_is_looked_for_far_below_the_doubles():
    laws = [(np.array([-2.0, 1.0]), np.array([0.5, 0.5])), (np.array([-1.5, 1.0]), np.array([0.6, 0.4]))]
    bounds = [dropout.upper(laws, [[], []], 0.5, n, 0.25, equal=False) for n in (10_000, 30_000, 60_000)]
    assert all(bound.method == "moduli" for bound in bounds)
    # About exponential in the number of users
    assert bounds[0].log > bounds[1].log > bounds[2].log > 3 * bounds[1].log
    assert bounds[2].log < -1000


def test_the_sums_over_the_places_of_groups_have_their_roundings(monkeypatch):
    tilts, where = dropout.Tilts(VALUES[None], PROBABILITIES[None], 1.0), dropout.Places(0.25, 40, 0, 30)
    cells = chairs._GroupCells([tilts, tilts], [np.zeros(1)] * 2, np.array([20, 20]), 0.5, where)
    logs = cells.log_squares(np.linspace(0.1, 4.0, 30))
    before = cells._sums(logs)
    monkeypatch.setattr(chairs, "UNIT_ROUNDOFF", u := 1e-6)
    # Forty halves of logarithms and forty of the largest one are added
    assert np.all(cells._sums(logs) - before >= 12 * u * (np.abs(logs).sum(axis=1) * 20 + 40 * abs(cells.log_tops[0])))


def test_the_roundings_of_a_rotation_by_the_noise_are_counted():
    law = dropout.PlacedSums(VALUES[None], PROBABILITIES, dropout.Places(0.3, 12, 0, 8), 0.3, 0.0)
    y, mp = np.linspace(0.0, 0.4, 9), mpmath.MPContext()
    law.c = np.zeros(1)
    unrotated, error = law.powers(np.ones(1), y)
    law.c = np.full(1, 1e9)
    rotated, errors = law.powers(np.ones(1), y)
    mp.dps = 40
    for x, before, known, after, bound in zip(y, unrotated[0], error[0], rotated[0], errors[0], strict=True):
        exact = mp.mpc(before) * mp.expj(mp.mpf(law.smoothing) * 10**9 * mp.mpf(x))
        assert abs(exact - mp.mpc(after)) <= bound - known + 1e-14


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_modulus_of_a_law_with_little_variance_is_not_below_its_own_with_its_normal_term(share):
    g = np.array([[-3.0, 1.0], [-0.51, -0.49], [-0.9, 0.1]])
    p, rate = np.full(g.shape, 0.5), 0.4
    pads, u = np.maximum(share * 4.0 - np.array([4.0, 1e-4, 0.25]), 0.0), np.linspace(0.0, 9.0, 300)
    cells = dropout.Cells(dropout.Tilts(g, p, rate), pads, 1.0, dropout.Places(0.5, 1000, 0, 20))
    assert cells.narrow.tolist() == [False, True, True]
    transforms = (p * np.exp((rate + 1j * u[:, None, None]) * g)).sum(axis=2)
    logs = 2 * np.log(np.abs(transforms)) + pads * (rate**2 - u[:, None] ** 2)
    assert (logs.argmax(axis=1) > 0).any()  # one of them is the largest somewhere
    assert (cells.log_squares(u) + 2 * cells.log_top >= logs.max(axis=1) - 1e-13).all()
