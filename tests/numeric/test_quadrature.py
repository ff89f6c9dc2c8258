"""Continuous laws by panels: independent values, and panels so crude that a missing error term would be seen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import shuffle_sym as ss
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import panels
from shuffle_sym.numeric import contour, quadrature
from shuffle_sym.numeric.transforms import SMALLEST

# δ of the blanket by another contour in mpmath, 22 digits
VALUES = [
    (ss.Laplace(eps0=1), 10**3, 0.1, 2.4862754983e-5),
    (ss.Gaussian(sigma=2), 10**3, 0.1, 9.2176730081e-10),
    (ss.Gaussian(sigma=1), 10**5, 0.01, 6.8505417569e-5),
    (ss.Gaussian(sigma=1), 10**3, 0.1, 7.2210573150e-4),  # from ∫ (1 − Re φ(iu)^n)/u² du, at 110 bits
]


@pytest.mark.parametrize(("noise", "n", "eps", "value"), VALUES, ids=repr)
@pytest.mark.parametrize("rtol", [1e-2, 1e-3, 1e-6])
def test_values_of_another_tool_are_inside(noise, n, eps, value, rtol):
    found = ss.Shuffle(ss.decomposition.blanket(noise), n).delta(eps, rtol=rtol)
    assert found.method == "panels"
    assert found.lower <= value * (1 + 1e-10)
    assert found.upper >= value * (1 - 1e-10)
    assert found.upper - found.lower <= rtol * found.upper


@pytest.mark.parametrize(("noise", "n", "eps", "value"), VALUES[1:], ids=repr)
@pytest.mark.parametrize("tail", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-11])
def test_messages_beyond_the_panels_are_in_both_ends(noise, n, eps, value, tail):
    made = noise.panels(0.2, tail)
    (found,) = quadrature.positive_parts(made, np.array([math.exp(eps)]), n, 1e-7)
    assert found.lower <= value * (1 + 1e-10)
    assert found.upper >= value * (1 - 1e-10)
    if (noise, n, tail) == (ss.Gaussian(sigma=1), 10**3, 1e-9):  # one message beyond adds its mean, next to all of it
        assert found.relative_width < made.tail.most_0 / found.upper / 200


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(("eps", "b", "edge"), [(0.0, 0.1, 3.0), (0.2, 0.1, 8.0), (0.2, 0.01, 40.0), (0.7, 0.05, 5.0)])
def test_one_ratio_beyond_is_counted_as_in_all_sums_written_out(n, eps, b, edge):
    alpha, p = math.exp(eps), (1 - b * (1 + edge)) / 5.5  # G has the mean 1 − α
    law = [(value, p) for A in (1.0, 2.5) for value in (A - alpha, 1 - alpha * A)]
    law += [(0.0, 1 - 2 * b - 4 * p)]
    far = [(edge - alpha, b), (1 - alpha * edge, b)]

    def mean(terms, count, function):
        chosen = itertools.product(terms, repeat=count)
        return math.fsum(math.prod(p for _, p in some) * function(sum(g for g, _ in some)) for some in chosen)

    inside, beyond = (mean([*law, *rest], n, lambda s: max(s, 0.0)) / n for rest in ([(0.0, 2 * b)], far))
    left = mean(law, n - 1, lambda s: max(-s - far[0][0], 0.0) + max(s + far[1][0], 0.0))
    tail = panels.Tail(b * edge, b * edge, b, b, edge)
    found = quadrature._with_tails(Interval(inside, inside), tail, alpha, n, left)
    assert found.lower <= beyond <= found.upper
    crude = quadrature._with_tails(Interval(inside, inside), tail, alpha, n, math.inf)
    assert found.upper <= crude.upper == pytest.approx(min(inside + b * edge, 1.0))


def by_cells(noise, n: int, eps: float) -> Interval:
    """Bounds from two discretisations, which have nothing to do with panels."""
    low, high = (ss.Shuffle(cut(64, 1e-9), n).delta(eps, rtol=1e-3) for cut in (noise.lower, noise.upper))
    return Interval(low.lower, high.upper)


CASES = [
    (ss.Laplace(eps0=0.3), 50, 0.02),
    (ss.Laplace(eps0=2), 12, 0.6),
    (ss.Laplace(eps0=3), 2_000, 0.3),
    (ss.Gaussian(sigma=1), 40, 0.3),
    (ss.Gaussian(sigma=3), 700, 0.05),
]


@pytest.mark.parametrize(("noise", "n", "eps"), CASES, ids=repr)
def test_crude_panels_and_short_ranges_still_give_bounds(monkeypatch, noise, n, eps):
    truth, told = by_cells(noise, n, eps), 0
    for nodes in (2, 3, 5, 16):
        monkeypatch.setattr(panels, "_NODES", nodes)
        for spread in (0.2, 1.0):
            for tail in (1e-2, 1e-4, 1e-8):
                noise._known_parts.clear()
                made = noise._panels(spread, tail)
                (found,) = quadrature.positive_parts(made, np.array([math.exp(eps)]), n, 0.9)
                if isinstance(found, Interval):
                    told += 1
                    assert found.lower <= truth.upper, (nodes, spread, tail)
                    assert found.upper >= truth.lower, (nodes, spread, tail)
    assert told >= 6


def test_the_error_of_a_panel_is_not_lost_where_its_density_may_be_0():
    # On a wide panel the ball of the density contains 0, and yet it is not 0.
    made = ss.Gaussian(sigma=2)._panels(5.0, 1e-9)
    assert (made.caps > 0).all()


@pytest.mark.parametrize("nodes", [2, 3, 4])
@pytest.mark.parametrize("s", [0.3, -0.3])
def test_the_bound_of_a_panel_covers_its_error(monkeypatch, nodes, s):
    alpha = 1.2

    def transform() -> tuple[float, float]:
        law = quadrature.SmoothSums(ss.Laplace(eps0=2)._panels(1.0, 0.0), np.array([alpha]), 10)
        law.one.log_phi[:] = 0.0  # so that the bound is that of φ itself
        g, p = law.one.g[0], np.concatenate([law.panels.masses, law.panels.masses])
        return float(p @ np.expm1(s * g[:-1])), float(law._quadrature(np.full((1, 1), s), np.zeros((1, 1)))[0, 0])

    exact, _ = transform()
    monkeypatch.setattr(panels, "_NODES", nodes)
    value, bound = transform()
    assert 1e-12 < abs(value - exact) <= bound < 1.0


def test_the_envelope_is_above_every_later_value():
    z = np.linspace(1e-3, 40, 200_001)
    later = np.maximum.accumulate(np.abs(np.sin(z) / z)[::-1])[::-1]
    assert (quadrature._envelope(z) >= later - 1e-15).all()


@pytest.mark.parametrize(("noise", "n", "eps"), [*CASES, (ss.randomizers.Logistic(eps0=2), 1000, 0.1)], ids=repr)
def test_uniform_parts_bound_the_modulus(noise, n, eps):
    law = quadrature.SmoothSums(noise.panels(0.15, 1e-8), np.array([math.exp(eps)]), n)
    y = np.geomspace(0.01, 8, 400)
    bound = np.exp(law.log_modulus(y[None])[0])
    assert (bound >= np.abs(np.exp(law.one.log_ratios(np.ones(1), y)[0][0])) - 1e-6).all()
    assert (np.diff(bound) <= 0).all()
    assert bound[-1] < 0.99


def test_too_many_terms_are_refused_and_not_answered_with_infinity():
    made = ss.Laplace(eps0=1).panels(0.6, 0.0)
    (found,) = quadrature.positive_parts(made, np.array([math.exp(0.3)]), 3, 1e-9)
    assert isinstance(found, ValueError) or found.upper <= 1


@pytest.mark.parametrize(("n", "eps"), [(200, 0.3), (2_000, 0.1)])
def test_noise_whose_ratio_never_reaches_its_bound_is_between_its_cells(n, eps):
    noise = ss.randomizers.Logistic(eps0=2)
    truth, found = by_cells(noise, n, eps), ss.Shuffle(ss.decomposition.blanket(noise), n).delta(eps, rtol=1e-4)
    assert found.method == "panels"
    assert truth.lower <= found.upper <= truth.upper
    assert truth.lower <= found.lower <= truth.upper
    for tail in (1e-2, 1e-3):  # so much of the messages in one: still bounds
        low, high = (
            quadrature.positive_parts(noise.panels(0.2, tail, side), np.array([math.exp(eps)]), n, 1e-2)[0]
            for side in ("lower", "upper")
        )
        assert low.lower <= found.upper
        assert high.upper >= found.lower


@pytest.mark.parametrize(("noise", "n"), [(ss.Gaussian(sigma=2), 10**4), (ss.Laplace(eps0=2), 300)], ids=repr)
def test_rows_of_alpha_are_what_they_are_alone(noise, n):
    # Far out the widest panels are too wide: some rows are refused, and the others are not.
    alphas, made = np.exp([0.0, 0.01, 0.03, 0.1, 0.5, 2.0]), noise.panels(0.6, 1e-12)
    together = quadrature.positive_parts(made, alphas, n, 1e-4)
    for alpha, row in zip(alphas, together, strict=True):
        (alone,) = quadrature.positive_parts(made, np.array([alpha]), n, 1e-4)
        assert isinstance(row, Interval) == isinstance(alone, Interval)
        if isinstance(row, Interval):
            assert row.lower <= alone.upper
            assert alone.lower <= row.upper
    kinds = {type(row) for row in together}
    assert Interval in kinds
    # The estimate that tails are chosen by is no bound, but of the right size.
    about = quadrature.estimates(made, alphas[:3], n)
    assert all(0.5 * row.lower <= value <= 2 * row.upper for row, value in zip(together[:3], about, strict=True))


def test_the_roundings_of_ends_by_panels_are_counted(monkeypatch):
    u, made = 1e-6, ss.Laplace(eps0=2)._panels(1.0, 0.0)
    monkeypatch.setattr(quadrature, "log_ends", lambda *_: [(-20.0, -20.0)])
    monkeypatch.setattr(quadrature.SmoothSums, "sharp", lambda law, rtol: np.ones(1, dtype=bool))
    law = quadrature.SmoothSums(made, np.array([1.2]), 10)
    monkeypatch.setattr(quadrature, "SmoothSums", lambda *_: law)
    for module in (quadrature, contour):
        monkeypatch.setattr(module, "UNIT_ROUNDOFF", u)
    (answer,) = quadrature._positive_parts(made, np.array([1.2]), 10, 0.1)
    assert answer.lower <= math.exp(-20.0) * (1 - 21 * u)
    assert answer.upper >= math.exp(-20.0) * (1 + 21 * u)
    both = quadrature._with_tails(Interval(0.25, 0.25), panels.Tail(0.125, 0.25), 1.5, 10, math.inf)
    assert both.lower <= 0.375 * (1 - 2 * u)  # a sum and a product
    assert 0.5 * (1 + 2 * u) <= both.upper <= 0.5 * (1 + 10 * u)


def test_the_bound_of_a_panel_covers_its_error_along_the_contour(monkeypatch):
    # With α = 3 the values 1 − αA of the panels turn three times as fast as A − α.
    s, alpha = 0.05 + 1j, 3.0

    def transform() -> tuple[complex, float]:
        law = quadrature.SmoothSums(ss.Laplace(eps0=2)._panels(1.0, 0.0), np.array([alpha]), 10)
        law.one.log_phi[:] = 0.0  # so that the bound is that of φ itself
        g, p = law.one.g[0], np.concatenate([law.panels.masses, law.panels.masses])
        bound = law._quadrature(np.full((1, 1), s.real), np.full((1, 1), s.imag))
        return complex(p @ np.expm1(s * g[:-1])), float(bound[0, 0])

    exact, _ = transform()
    monkeypatch.setattr(panels, "_NODES", 8)
    value, bound = transform()
    assert 1e-6 < abs(value - exact) <= bound < 0.01


def test_a_value_far_below_the_doubles_need_not_be_known_sharply():
    law = quadrature.SmoothSums(ss.Laplace(eps0=2)._panels(1.0, 0.0), np.array([1.2]), 1000)
    law.log_slack[:] = 1.0
    for below, known in ((0.5, True), (-0.5, False)):  # M(c)/(n c), at most: below the smallest, or above
        law.log_scale = math.log(SMALLEST) - 1.0 + math.log(1000) + np.log(law.c) - below
        assert law.sharp(1e-3).tolist() == [known]


def test_tails_that_are_as_likely_under_both_inputs_add_nothing_to_the_lower_end():
    for mass in (1 / 8, 1e-3, 1e-200):
        tail = panels.Tail(mass, mass, mass, mass)
        assert quadrature._with_tails(Interval(0.0, 0.5), tail, 1.0, 2, math.inf).lower == 0.0


@pytest.mark.parametrize(
    ("a", "b", "alpha", "n", "value"), [(1e-6, 1e-9, 1.25, 1000, 1e-7), (0.01, 0.001, 1.5, 5, 0.25)]
)
def test_every_part_of_the_upper_end_is_counted(a, b, alpha, n, value):
    left, (A, B, ratio, D) = 2.0**-40, map(Fraction, (a, b, alpha, value))
    rest = (ratio - 1) * (1 - A - B) / (1 - 2 * B)
    several = (n - 1) * D - 2 * (n - 1) * B * (n * D + 2 * (ratio - 1))  # E[S']_+ if no other message lies beyond
    assert several > 0
    exact = D - 2 * B * several + (1 - 2 * B) ** (n - 1) * (A - ratio * B - (n - 1) * rest * B)
    exact += B * Fraction(left) + 2 * (n - 1) * A * B
    part, tail = Interval(value, value), quadrature.Tail(a, a, b, b, 40.0)
    upper = quadrature._with_tails(part, tail, alpha, n, left).upper
    assert exact <= upper <= min(float(exact) * (1 + 1e-2), value + a)
    assert upper < value + 0.99 * a


def test_what_the_mirror_image_has_left_is_not_below_chernoffs_bound(monkeypatch):
    panels, alpha, n, edge = ss.Gaussian(sigma=1).panels(0.6, 1e-6), 1.2, 1000, 30.0
    law = quadrature.SmoothSums(panels, np.array([alpha]), n)
    monkeypatch.setattr(quadrature.SmoothSums, "log_growths", lambda self, d: np.full(d.shape, -1e9))
    c, (left,) = float(law.c[0]), law.left_of_one(edge)
    g = np.concatenate([panels.ratios - alpha, 1 - alpha * panels.ratios, [0.0]])
    p = np.concatenate([panels.masses, panels.masses, [1 - 2 * panels.masses.sum()]])
    chernoff = float(p @ np.exp(c * g)) ** (n - 1) * math.exp(-c * (alpha * edge - 1) - 1) / c
    assert chernoff * (1 - 1e-9) <= left <= 3 * chernoff
