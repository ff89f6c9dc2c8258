"""The integral along a line: against exact fractions, and every error term made visible."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb, arb_poly, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.accounting import fourier
from shuffle_sym.numeric import inversion
from shuffle_sym.numeric.inversion import Inversion, Line, LossSum, Plan
from shuffle_sym.numeric.losses import Losses, Outcomes, multiplied_out

LOSSES = np.array([-3.0, -0.5, 0.25, 1.5])
MASSES = np.array([0.03, 0.37, 0.35, 0.25])  # and Σ p e^{−s} < 1: Q has the rest elsewhere


def outcomes(s, masses, mass_error=0.0, loss_error=0.0) -> Outcomes:
    return Outcomes(np.asarray(s), np.asarray(masses), 0.0, 0.0, mass_error, loss_error)


def delta_of_rounds(s, masses, rounds, eps) -> float:
    """E[1 − e^{ε−S}]_+ of the sum of so many losses, over all combinations of outcomes."""
    block = multiplied_out([Losses(lambda: (outcomes(s, masses),))], [rounds]).together()
    return math.fsum(np.where(block.losses > eps, block.masses * -np.expm1(eps - block.losses), 0.0))


def composed(p: list[Fraction], r: list[Fraction], rounds: int, alpha: Fraction) -> Fraction:
    """D_α of so many rounds of one pair in fractions, over all multisets of outcomes."""
    total = Fraction(0)
    for chosen in combinations_with_replacement(range(len(p)), rounds):
        ways = math.factorial(rounds)
        for count in Counter(chosen).values():
            ways //= math.factorial(count)
        total += ways * max(math.prod(p[i] for i in chosen) - alpha * math.prod(r[i] for i in chosen), Fraction(0))
    return total


masses = st.one_of(
    st.integers(0, 50).map(Fraction),
    st.sampled_from([Fraction(1, 10**9), Fraction(1, 10**40), Fraction(10**6), Fraction(0)]),
)


@st.composite
def hostile_pairs(draw):
    """P and Q on 2 to 4 outcomes: some impossible under one of them, some of tiny mass, ratios of any size."""
    size = draw(st.integers(2, 4))
    p, r = (draw(st.lists(masses, min_size=size, max_size=size).filter(any)) for _ in range(2))
    return [x / sum(p) for x in p], [x / sum(r) for x in r]


@pytest.mark.exact
@settings(max_examples=30)
@given(hostile_pairs(), st.integers(2, 8), st.fractions(1, 40), st.sampled_from([0.3, 1e-2, 1e-3]))
def test_hostile_pairs_in_both_directions_are_inside(pair, rounds, alpha, rtol):
    for P, Q in (pair, pair[::-1]):
        truth = composed(P, Q, rounds, alpha)
        accountant = ss.FourierAccountant(ss.accounting.PairPLD(P, Q))
        prepared = accountant._rounds(rounds, 1e-20)
        eps = sp.log(sp.Rational(alpha.numerator, alpha.denominator))
        try:
            found = accountant.delta(eps, rounds, rtol=rtol)
        except ValueError:  # losses near 1e-10 beside losses near 100
            assert truth < 1e-8
        else:
            assert truth in found
            assert found.width <= rtol * found.upper
        prepared.few = None  # the line, and not the sum over all outcomes
        found = prepared.delta(float(eps), rtol)
        room = Fraction(2**-50) * (1 + Fraction(float(eps)))  # ε is a double here
        assert found.lower - room <= truth <= found.upper + room


def test_a_million_rounds_of_randomized_response_are_inside_the_interval():
    # The sum of the losses is log t times (2K − rounds), K binomial: incomplete beta functions, enclosed.
    t, rounds = Fraction(1001, 1000), 10**6
    keep = t / (1 + t)
    accountant = ss.FourierAccountant(ss.accounting.PairPLD([keep, 1 - keep], [1 - keep, keep]))
    for eps in (Fraction(1, 100), Fraction(3), Fraction(9)):
        least = math.floor((float(eps) / math.log(t) + rounds) / 2) + 1  # the least K with a loss above ε
        ctx.prec, before = 400, ctx.prec
        try:
            tails = [arb(x.numerator) / x.denominator for x in (keep, 1 - keep)]
            above = [x.beta_lower(arb(least), arb(rounds - least + 1), regularized=True) for x in tails]
            truth = above[0] - (arb(eps.numerator) / eps.denominator).exp() * above[1]
            found = accountant.delta(sp.Rational(eps.numerator, eps.denominator), rounds, rtol=1e-4)
            assert arb(found.lower) <= truth <= arb(found.upper)
        finally:
            ctx.prec = before
        assert found.relative_width <= 1e-4


@pytest.mark.parametrize("power", [4, 10])
def test_repeated_squaring_in_high_precision_is_inside_the_interval(power):
    # Losses j·log 2 for j = −3 … 3: a power of a polynomial.
    numerators = (5, 500, 150_000, 529_494, 310_000, 10_000, 1)
    p = [Fraction(x, 10**6) for x in numerators]
    pair = {j: (x, x / Fraction(2) ** j) for j, x in zip(range(-3, 4), p, strict=True)}
    missing = 1 - sum(y for _, y in pair.values())
    accountant = ss.FourierAccountant(ss.accounting.PairPLD.from_pair({**pair, "rest": (Fraction(0), missing)}))
    ctx.prec, before = 500, ctx.prec
    try:
        law = arb_poly([arb(x) / 10**6 for x in numerators])
        for _ in range(power):
            law = law * law
        rounds = 2**power
        mean = rounds * sum(float(x) * j for j, (x, _) in pair.items()) * math.log(2)
        for eps in (max(mean, 0.0) + shift * math.sqrt(rounds) * 0.5 for shift in (0.0, 2.0, 6.0, 10.0)):
            place = math.floor(eps / math.log(2)) + 1 + 3 * rounds
            terms = (law[j] * (1 - (arb(eps) - (j - 3 * rounds) * arb(2).log()).exp()) for j in range(place, len(law)))
            truth = sum(terms, arb(0))
            found = accountant.delta(eps, rounds, rtol=1e-4)
            assert arb(found.lower) <= truth <= arb(found.upper)
            assert found.relative_width <= 1e-4
    finally:
        ctx.prec = before


# -- the inequality that the lower end rests on


@pytest.mark.parametrize("tau", [1e-4, 1e-2, 1.0, 6.0])
def test_noise_adds_at_most_what_the_density_says(tau):
    mp = mpmath.MPContext()
    mp.dps = 40
    for shape in ([-1.0, 0.0, 0.7], [0.0], [0.3, 0.31]):
        for eps in (0.0, 0.29, 0.7, 1.5):
            noisy, plain, density = mp.mpf(0), mp.mpf(0), mp.mpf(0)
            for s in shape:
                # The loss of the Gaussian pair is N(τ/2, τ): the formula of Black and Scholes.
                d = (s - eps) / mp.sqrt(tau) + mp.sqrt(tau) / 2
                noisy += mp.ncdf(d) - mp.exp(eps - s) * mp.ncdf(d - mp.sqrt(tau))
                plain += max(-mp.expm1(eps - s), 0)
                density += mp.npdf(eps - s, tau / 2, mp.sqrt(tau))
            assert noisy - plain + mp.mpf(10) ** -35 >= 0
            assert noisy - plain <= tau * mp.exp(tau / 8) * density + mp.mpf(10) ** -35


# -- lines that are too short, too coarse or too noisy


@pytest.mark.parametrize("theta", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("tau", [1e-3, 0.1, 2.0])
def test_a_bad_line_is_still_certified(theta, tau):
    law = LossSum([(outcomes(LOSSES, MASSES), 3)])
    useless = 0
    for step in (0.05, 0.4, 1.5, 4.0):
        for nodes in (1, 5, 40, 600):
            line = Line(law, Plan(theta, tau, step, nodes))
            for eps in (0.0, 0.3, 0.5, 2.0, 4.4):
                found, truth = line.ends(eps), delta_of_rounds(LOSSES, MASSES, 3, eps)
                assert found.lower <= truth * (1 + 1e-12)
                assert found.upper >= truth * (1 - 1e-12)
                useless += found.lower == 0
    assert useless > 10


def test_each_term_of_the_error_is_needed():
    # In each line one of the errors is visible, and the end without its term would be on the wrong side.
    law, rounds, eps = LossSum([(outcomes(LOSSES, MASSES), 3)]), 3, 0.5
    truth = delta_of_rounds(LOSSES, MASSES, rounds, eps)
    noisy = Line(law, Plan(1.0, 0.5, 0.05, 600))
    assert noisy._integrals(eps)[0] * math.exp(noisy.log_scale + 0.5 - eps) > truth * 1.01
    folded = Line(law, Plan(1.0, 1e-4, 1.5, 600))
    assert folded._integrals(eps)[0] * math.exp(folded.log_scale + 1e-4 - eps) > truth * 1.01
    cut = [Line(law, Plan(1.0, 1e-4, 0.05, nodes)) for nodes in range(40, 60)]
    values = [line._integrals(eps)[0] * math.exp(line.log_scale + 1e-4 - eps) for line in cut]
    assert min(values) < truth * 0.999


@pytest.mark.parametrize(("mass_error", "loss_error"), [(0.02, 0.0), (0.0, 0.02)])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_masses_and_losses_are_inside(mass_error, loss_error, sign):
    off = outcomes(LOSSES + sign * loss_error, MASSES * (1 + sign * mass_error), mass_error * 1.03, loss_error * 1.001)
    for eps in (0.0, 0.6, 1.9, 3.3):
        found = Inversion(LossSum([(off, 3)])).ends(eps, 1e-3)
        assert found.lower <= delta_of_rounds(LOSSES, MASSES, 3, eps) <= found.upper


def test_the_transform_is_within_its_stated_error():
    rng = np.random.default_rng(4)
    mp = mpmath.MPContext()
    mp.dps = 30
    x, weights, step, count = rng.normal(size=700), rng.dirichlet(np.ones(700)), 0.37, 1000
    found = inversion.transform(x, weights, step, count)
    for j in (0, 1, 31, 32, 500, 999):
        exact = sum(mp.mpf(w) * mp.expj(j * mp.mpf(step) * mp.mpf(s)) for s, w in zip(x, weights, strict=True))
        eta = 2.0**-53 * (4 * (256 + 3 + 16) + 8 * j * step * float(weights @ np.abs(x)))
        assert abs(mp.mpc(found[j]) - exact) <= eta


def test_a_line_is_used_again():
    law = Inversion(LossSum([(outcomes(LOSSES, MASSES), 40)]))
    first = law.ends(9.0, 1e-3)
    assert len(law._lines) == 1
    assert law.ends(9.01, 1e-3).upper < first.upper
    assert len(law._lines) == 1


def test_what_was_asked_before_changes_nothing():
    fresh, asked = (Inversion(LossSum([(outcomes(LOSSES, MASSES), 40)])) for _ in range(2))
    for eps, rtol in ((8.99, 1e-3), (9.0, 1e-6), (2.0, 1e-2), (25.0, 1e-3)):
        asked.ends(eps, rtol)
    assert asked.ends(9.0, 1e-3) == fresh.ends(9.0, 1e-3)


# -- cells


@pytest.mark.parametrize("cells", [3, 20, 400])
def test_cells_are_bracketed_by_what_they_merge_and_split(cells):
    rng = np.random.default_rng(5)
    s = np.concatenate([rng.normal(size=300), [25.0, -9.0]])
    p = rng.dirichlet(np.ones(len(s)))
    table = Losses(lambda: (outcomes(s[:100], p[:100]), outcomes(s[100:], p[100:])))
    merged, split = table.in_cells(cells)
    for one in (merged, split):
        assert math.isclose(math.fsum(one.masses), 1, rel_tol=1e-12)
        assert math.isclose(math.fsum(one.masses * np.exp(-one.losses)), math.fsum(p * np.exp(-s)), rel_tol=1e-9)
        assert len(one.losses) <= cells + 1
    for eps in np.linspace(-8, 26, 60):
        low, truth, high = (
            math.fsum(np.where(t > eps, m * -np.expm1(eps - t), 0.0))
            for t, m in ((merged.losses, merged.masses), (s, p), (split.losses, split.masses))
        )
        assert low <= truth * (1 + 1e-12) + 1e-15
        assert truth <= high * (1 + 1e-12) + 1e-15


def test_many_outcomes_and_few_cells_give_the_same_as_all_of_them(monkeypatch):
    one = ss.accounting.ShuffledPLD(ss.decomposition.clones(2), 60)
    plain = ss.FourierAccountant(one).delta(1, 5)
    monkeypatch.setattr(fourier, "_FEWEST_CELLS", 2**6)
    found = ss.FourierAccountant(one).delta(1, 5)
    assert found.relative_width <= 1e-3
    assert max(plain.lower, found.lower) <= min(plain.upper, found.upper)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rounds", [1, 3, 100])
def test_a_transform_that_is_off_by_its_error_moves_the_integrals_by_no_more_than_theirs(monkeypatch, rounds, sign):
    # As if doubles had 26 bits; the transform is off by 1000 roundings, and 4 (256 + 16) are allowed.
    plan = Plan(1.0, 0.5, 0.05, 120)
    right = Line(LossSum([(outcomes(LOSSES, MASSES), rounds)]), plan)._integrals(0.5)
    unit, plain = 2.0**-26, inversion.transform
    monkeypatch.setattr(inversion, "UNIT_ROUNDOFF", unit)
    monkeypatch.setattr(inversion, "transform", lambda *given: plain(*given) * (1 + sign * 1000 * unit))
    delta, error, density, density_error = Line(LossSum([(outcomes(LOSSES, MASSES), rounds)]), plan)._integrals(0.5)
    assert 1e-6 * abs(right[0]) < abs(delta - right[0]) <= error
    assert 1e-6 * abs(right[2]) < abs(density - right[2]) <= density_error


@pytest.mark.parametrize(("plan", "eps"), [
    (Plan(1.0, 0.5, 0.05, 120), 0.5),
    (Plan(1e8, 0.01, 0.1, 300), 1.5),  # the noise turns by 10⁷ radians in every step
    (Plan(1.0, 1e-6, 1.0, 300), 1e6),  # and here ε by 10⁶
    (Plan(1e-9, 1e10, 1e-6, 40), 0.5),  # much noise next to the axis: the half in θ + 1/2
])  # fmt: skip
def test_the_sums_along_a_line_are_within_their_error_of_those_in_high_precision(plan, eps):
    s, masses, mp = np.array([-0.5, 0.25, 1.5]), np.array([0.37, 0.35, 0.28]), mpmath.MPContext()
    mp.dps = 40
    line = Line(LossSum([(outcomes(s, masses), 1)]), plan)
    theta, tau, sums = mp.mpf(plan.theta), mp.mpf(plan.tau), [mp.mpf(0), mp.mpf(0)]
    for j, t in enumerate(map(mp.mpf, line._t.tolist())):
        z = mp.mpc(theta, t)
        phi = sum(mp.mpf(w) * mp.exp(z * mp.mpf(x) - mp.mpf(line.log_scale)) for x, w in zip(s, masses, strict=True))
        value = (2 if j else 1) * phi * mp.exp(-tau * t * t / 2) * mp.expj(t * (tau * (theta + 0.5) - mp.mpf(eps)))
        sums = [sums[0] + (value / (z * (z + 1))).real, sums[1] + value.real]
    delta, error, density, density_error = line._integrals(eps)
    step = mp.mpf(plan.step) / (2 * mp.pi)
    assert abs(delta - step * sums[0]) <= error
    assert abs(density - step * sums[1]) <= density_error


def test_a_line_without_noise_is_no_reason_to_divide_by_0(monkeypatch):
    law, truth = Inversion(LossSum([(outcomes(LOSSES, MASSES), 3)])), delta_of_rounds(LOSSES, MASSES, 3, 0.5)
    wide = SimpleNamespace(ends=lambda eps: inversion.Ends(truth / 2, 2 * truth, 0.0))
    monkeypatch.setattr(law, "_line", lambda *given: wide)
    found = law.ends(0.5, 1e-3)
    assert found.lower <= truth <= found.upper


def test_losses_along_a_line_have_the_rounding_of_their_size(monkeypatch):
    u, rounds = 1e-6, 3
    monkeypatch.setattr(inversion, "UNIT_ROUNDOFF", u)
    for losses, size in ((LOSSES, 3.0), (LOSSES + 50.0, 51.5), (np.array([-8.0, 8.0, 0.0, 0.0]), 8.0)):
        line = Line(LossSum([(outcomes(losses, MASSES, loss_error=1e-4), rounds)]), Plan(1e-9, 0.5, 0.1, 20))
        # The centre is taken off each of them, and added again.
        assert line.shift >= rounds * (1e-4 + u * (size + abs(line.centre) / rounds))


def test_masses_along_a_line_have_the_roundings_of_their_exponents(monkeypatch):
    u, rounds, theta = 1e-6, 3, 2.0
    monkeypatch.setattr(inversion, "UNIT_ROUNDOFF", u)
    law = LossSum([(outcomes([-40.0, -0.5, 0.25, 0.5], MASSES, mass_error=1e-4), rounds)])
    line = Line(law, Plan(theta, 0.5, 0.1, 20))
    # θs is rounded, and the logarithm of the sum is taken off it; a product, an exponential, a sum, a logarithm.
    assert line.slack >= rounds * (1e-4 + u * (6 + theta * 40.0)) + u * abs(line.log_scale)
