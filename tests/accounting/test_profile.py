"""Privacy profiles and what is built on them, against fractions: at every α > 0, composed, and as Rényi divergences."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import compress, pairwise

import numpy as np
import pytest
import sympy as sp
from conftest import FINITE, decompositions, masses, shuffled_laws
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

import shuffle_sym as ss
from shuffle_sym.accounting import convex, shuffle
from shuffle_sym.accounting import rounds as compositions
from shuffle_sym.accounting.sampling import Sampling, Side, combined, no_progress
from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rationals import ONE, rational
from shuffle_sym.algebra.rationals import fraction as as_fraction
from shuffle_sym.model import decomposition
from shuffle_sym.truth.histograms import hockey_stick

q = sp.Rational
F = Fraction
ALPHAS = [q(1, 50), q(1, 3), q(9, 10), q(1), q(21, 20), q(3, 2), q(2), q(5), q(40)]


def fraction(number: sp.Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def pair_of(p: list[sp.Rational], r: list[sp.Rational]) -> dict[int, tuple[Fraction, Fraction]]:
    return {i: (fraction(x), fraction(y)) for i, (x, y) in enumerate(zip(p, r, strict=True))}


def bracket_of(alphas, lowers, uppers, infinite=0):
    """A bracket of fractions, in the rationals of the package."""
    return convex.Bracket(*(tuple(map(rational, column)) for column in (alphas, lowers, uppers)), rational(infinite))


def at(curve, alpha: Fraction) -> Fraction:
    """The value of a curve as a Fraction, which Python compares with everything."""
    return as_fraction(curve(alpha))


def curve_of(pair: dict[int, tuple[Fraction, Fraction]], alphas: list[Fraction]) -> list[Fraction]:
    return [hockey_stick(pair.values(), alpha) for alpha in alphas]


pairs = st.integers(2, 5).flatmap(lambda m: st.tuples(masses(m), masses(m))).map(lambda both: pair_of(*both))
grids = st.lists(st.fractions(F(1, 30), 30, max_denominator=40), min_size=1, max_size=8, unique=True).map(sorted)
EVERYWHERE = sorted({F(i, 7) for i in range(1, 60)} | {F(7, i) for i in range(1, 60)} | {F(1, 100), F(200)})


@pytest.fixture
def sampled(monkeypatch):
    """Mechanisms with few outcomes are enumerated; here they are sampled as those with many are."""
    monkeypatch.setattr(shuffle, "_FEW_OUTCOMES", -1)


# -- curves through certified values


@given(pairs, grids, st.fractions(0, F(1, 10)), st.fractions(0, F(1, 10)))
def test_both_curves_bracket_the_true_one_between_the_points_and_beyond(pair, alphas, up, down):
    values = curve_of(pair, alphas)
    bracket = bracket_of(
        tuple(alphas), tuple(v * (1 - down) for v in values), tuple(min(v * (1 + up), F(1)) for v in values)
    )
    for alpha, truth in zip(EVERYWHERE, curve_of(pair, EVERYWHERE), strict=True):
        assert at(bracket.lower, alpha) <= truth <= at(bracket.upper, alpha)


@given(pairs, grids, st.integers(0, 2**20))
def test_noise_in_the_values_does_not_break_the_curves(pair, alphas, seed):
    rng = np.random.default_rng(seed)
    values = curve_of(pair, alphas)
    noise = [(F(int(x), 1000), F(int(y), 1000)) for x, y in rng.integers(0, 300, (len(alphas), 2))]
    bracket = bracket_of(
        tuple(alphas),
        tuple(v * (1 - x) for v, (x, _) in zip(values, noise, strict=True)),
        tuple(v + (1 - v) * y for v, (_, y) in zip(values, noise, strict=True)),
    )
    meet, tips, _ = bracket.tips
    for (a, b), tip in zip(compress(pairwise(alphas), meet), tips, strict=True):
        assert a <= as_fraction(tip) <= b
    for alpha, truth in zip(EVERYWHERE, curve_of(pair, EVERYWHERE), strict=True):
        assert at(bracket.lower, alpha) <= truth <= at(bracket.upper, alpha)


@given(pairs, pairs, grids, grids)
@settings(max_examples=40)
def test_the_pairs_of_the_two_curves_stay_on_their_sides_when_composed(first, second, alphas, betas):
    sides = {}
    for name in ("lower", "upper"):
        rounds = []
        for pair, grid in ((first, alphas), (second, betas)):
            values = tuple(curve_of(pair, grid))
            curve = getattr(bracket_of(tuple(grid), values, values), name)
            outcomes = {a: (as_fraction(a.alpha * a.q), as_fraction(a.q)) for a in curve.outcomes}
            rounds.append({**outcomes, "infinite": (as_fraction(curve.infinite), F(0))})
        sides[name] = rounds
    for alpha in (q(1, 4), q(1), q(3, 2), q(4)):
        truth = ss.truth.exact.composed_divergence([first, second], alpha)
        assert ss.truth.exact.composed_divergence(sides["lower"], alpha) <= truth
        assert truth <= ss.truth.exact.composed_divergence(sides["upper"], alpha)


@given(pairs)
def test_a_curve_is_its_pair_and_reversed_the_pair_the_other_way_round(pair):
    ratios = sorted({p / r for p, r in pair.values() if r})
    top = ratios[-1] if ratios[-1] > 0 else F(1)
    alphas = tuple(sorted({a for a in ratios if a > 0} | {top}))
    values = tuple(curve_of(pair, list(alphas)))
    curve = bracket_of(alphas, values, values).upper
    assert {as_fraction(a.alpha): as_fraction(a.q) for a in curve.outcomes} == {
        x: total for x in ratios if (total := sum((r for p, r in pair.values() if r and p / r == x), F(0)))
    }
    assert as_fraction(curve.infinite) == sum((p for p, r in pair.values() if not r), F(0))
    back = {i: (r, p) for i, (p, r) in pair.items()}
    assert [at(curve.reversed(), alpha) for alpha in EVERYWHERE] == curve_of(back, EVERYWHERE)


@given(pairs, st.fractions(0, F(1, 2)))
def test_a_shortened_curve_is_on_its_side_and_little_away(pair, least):
    alphas = tuple(sorted({p / r for p, r in pair.values() if p and r} | {F(1)}))
    values = tuple(curve_of(pair, list(alphas)))
    curve = bracket_of(alphas, values, values, sum((p for p, r in pair.values() if not r), F(0))).upper
    below, above = (curve.shortened(least, above=side) for side in (False, True))
    for alpha in EVERYWHERE:
        assert at(below, alpha) <= at(curve, alpha) <= at(above, alpha)
        assert at(above, alpha) - at(below, alpha) <= 2 * least * (1 + alpha)


def test_lines_between_lower_values_would_not_be_a_bound():
    pair = {0: (F(2, 3), F(1, 3)), 1: (F(1, 3), F(2, 3))}
    alphas = (F(1, 4), F(3, 4), F(3))
    values = tuple(curve_of(pair, list(alphas)))
    bracket = bracket_of(alphas, values, values)
    assert at(bracket.upper, F(1, 2)) > hockey_stick(pair.values(), F(1, 2)) == at(bracket.lower, F(1, 2))


@pytest.mark.parametrize(
    "vertices",
    [
        ((F(0), F(1)), (F(1), F(1, 2)), (F(2), F(3, 4))),
        ((F(0), F(1)), (F(1, 2), F(1, 4)), (F(2), F(0))),
        ((F(0), F(1)), (F(1), F(3, 4)), (F(2), F(0))),
        ((F(1, 2), F(1)), (F(2), F(0))),
    ],
    ids=["rises", "too steep", "not convex", "does not start at 0"],
)
def test_what_is_no_hockey_stick_curve_is_refused(vertices):
    with pytest.raises(ss.VerificationError, match="starts at"):
        convex.curve_through(vertices)


# -- profiles of shuffled mechanisms


@given(decompositions(4), st.integers(1, 6))
@settings(max_examples=40)
def test_the_exact_value_is_inside_the_profile_at_every_alpha(D, n):
    profile = shuffled_laws(D, n).profile(rtol=0.01, least_delta=1e-6)
    for alpha in ALPHAS:
        truth = ss.truth.exact.divergence(D, n, alpha)
        if rational(fraction(alpha)) <= profile.above.alphas[-1] or profile.ends_at_zero:
            assert truth in profile.delta(sp.log(alpha)), alpha


@pytest.mark.parametrize("name", FINITE)
def test_the_profile_is_above_every_pair_of_inputs_in_both_directions(name):
    R = FINITE[name]
    M = shuffled_laws(R, 3)
    profile = M.profile(rtol=0.003)
    for alpha in ALPHAS:
        found = profile.delta(sp.log(alpha))
        truths = []
        for D in M.decompositions:
            for one in (D, D.reversed()):
                truth = ss.truth.exact.divergence(one, 3, alpha)
                truths.append(fraction(arguments.exact_number(truth, "truth")))
        assert max(truths) in found, alpha


def test_the_curves_are_as_close_as_asked_for_and_convex():
    profile = shuffled_laws(ss.KRR(k=10, eps0=4), n=10_000).profile(rtol=1e-3)
    top = profile.delta(0)
    for eps in (0, 0.05, 0.1, 0.2, 0.3):
        found = profile.delta(eps)
        distance = 1 + 2 * np.log(top.upper / found.upper)
        assert found.width <= 1.5e-3 * distance * found.upper
    for curve in (profile.lower, profile.upper):
        assert all(s <= r for s, r in pairwise(curve.slopes))


def test_a_profile_gives_the_epsilon_of_the_accountant():
    M = shuffled_laws(ss.KRR(k=10, eps0=4), n=10_000)
    profile = M.profile(rtol=1e-3)
    for delta in (1e-3, 1e-6, 1e-9):
        direct, found = M.epsilon(delta, rtol=1e-4), profile.epsilon(delta)
        assert found.lower <= direct.upper
        assert direct.lower <= found.upper
        assert found.relative_width < 1e-3


def test_noise_without_bounds_has_a_profile_that_does_not_end():
    profile = shuffled_laws(ss.from_matrix([[0.5, 0.5, 0], [0, 0.5, 0.5]]), 2).profile(rtol=0.01)
    assert not profile.ends_at_zero
    assert q(1, 2) in ss.Interval(float(profile.lower.infinite), float(profile.upper.infinite))
    with pytest.raises(ValueError, match="where this profile ends"):
        profile.delta(profile.max_eps + 1)
    with pytest.raises(ValueError, match="is not reached"):
        profile.epsilon(0.1)
    with pytest.raises(ValueError, match="no finite bound"):
        profile.rdp(2)


def test_noise_far_out_has_an_upper_end_and_a_lower_one_of_zero():
    found = shuffled_laws(ss.Laplace(eps0=1), 10_000).delta(sp.log(2))
    assert found.lower == 0 < found.upper < 1e-305


def test_more_points_than_allowed_are_refused():
    with pytest.raises(ValueError, match="needs more than max_points = 20"):
        shuffled_laws(ss.KRR(k=3, eps0=1), 50).profile(max_points=20)


@pytest.mark.parametrize("eps0", [q(1, 10**6), q(1, 10**12), q(1, 10**18), q(1, 10**30)])
def test_losses_however_small_have_a_profile_as_sharp_as_asked_for(eps0):
    M = shuffled_laws(ss.BinaryRR(eps0=eps0), 40)
    profile = M.profile(rtol=0.01, least_delta=eps0 / 1000)
    for eps in (sp.Integer(0), eps0 / 10, eps0 / 4):
        found = profile.delta(eps)
        assert fraction(arguments.exact_number(M.exact(sp.exp(eps)), "truth")) in found, eps
        assert found.width <= 0.015 * (1 + 2 * np.log(profile.delta(0).upper / found.upper)) * found.upper, eps


def test_a_profile_answers_at_every_eps_there_is():
    profile = shuffled_laws(ss.KRR(k=3, eps0=1), 5).profile(rtol=0.05)
    assert profile.delta(10**15) == ss.Interval(0.0, 0.0)
    assert profile.delta(-(10**15)).upper == 1
    assert profile.delta(-(10**15)).lower == np.nextafter(1, 0)


def test_few_outcomes_with_masses_of_very_different_sizes_have_a_profile():
    """At α = 1 neither contour nor lattice comes near."""
    a, b = [q(600, 1103), q(3, 1103), q(500, 1103)], [0, q(3, 4), q(1, 4)]
    D = ss.model.Decomposition(a, b, [q(1, 802000001), q(1600000, 802000001), q(800000000, 802000001)])
    for alpha, found in zip((1, 2), shuffled_laws(D, 2).hockey_stick([1, 2], rtol=1e-4), strict=True):
        assert ss.truth.exact.divergence(D, 2, alpha) in found
        assert found.relative_width <= 1e-4
    profile = shuffled_laws(D, 2).profile(rtol=0.01)
    for alpha in ALPHAS:
        assert ss.truth.exact.divergence(D, 2, alpha) in profile.delta(sp.log(alpha)), alpha


def test_values_that_are_known_are_not_computed_again():
    asked = []

    def evaluate(alphas, rtol):
        asked.extend(alphas)
        return [
            ss.Interval(float(max(1 - a / 2, rational(0))) / 2, float(max(1 - a / 2, rational(0))) / 2) for a in alphas
        ]

    side = Side(evaluate, rational(2))
    Sampling(0.01, ((1.0, 1e-6),), 1000).bracket(side, side)
    first = len(asked)
    Sampling(0.01, ((1.0, 1e-6),), 1000).bracket(side, side)
    assert first == len(asked) == len(set(asked)) > 5


def test_the_other_direction_is_seen_from_the_front():
    front = Side(lambda alphas, _: [ss.Interval(0.25, 0.5)] * len(alphas), None)
    back = Side(lambda alphas, _: [ss.Interval(0.125, 0.25)] * len(alphas), None)
    front.learn([rational(1)], 0.1, iter)
    back.learn([rational(4)], 0.1, iter)
    both = combined(front, back, 0.1)
    assert [as_fraction(alpha) for alpha in both.alphas] == [F(1, 4), F(1)]
    ends = as_fraction(both.lowers[0]), as_fraction(both.uppers[0])
    assert ends == (1 - F(1, 4) + F(1, 32), 1 - F(1, 4) + F(1, 16))


# -- trade-off


@given(decompositions(3), st.integers(1, 4), st.fractions(0, 1, max_denominator=30))
@settings(max_examples=30)
def test_the_trade_off_curve_is_that_of_the_best_test(D, n, x):
    """Neyman and Pearson: outcomes by falling likelihood ratio until the error of the first kind is used up."""
    pair = ss.truth.exact.shuffled_pair(D, n)
    best = sorted(pair.values(), key=lambda both: both[0] / both[1] if both[1] else F(10**30), reverse=True)
    room, caught = x, F(0)
    for p, r in best:
        share = min(room / r, F(1)) if r else F(1)
        room, caught = room - share * r, caught + share * p
    found = shuffled_laws(D, n).profile(rtol=0.01, least_delta=1e-6).trade_off()(x)
    assert 1 - caught in found
    assert found.width < 0.05


# -- composition


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("n", [1, 2, 4, 6])
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("name", ["blanket", "strong", "clones of Koskela et al.", "lopsided"])
def test_brute_force_composition_is_inside_the_interval(name, n, rounds):
    D = {
        "blanket": decomposition.blanket(ss.KRR(k=3, eps0=sp.log(3))),
        "strong": decomposition.strong(ss.KRR(k=3, eps0=sp.log(3))),
        "clones of Koskela et al.": decomposition.clones_koskela(sp.log(2)),
        "lopsided": decomposition.blanket(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 0, 1),
    }[name]
    pair = ss.truth.exact.shuffled_pair(D, n)
    composed = shuffled_laws(D, n).compose(rounds)
    for alpha in (q(1), q(6, 5), q(2)):
        truth = ss.truth.exact.composed_divergence([pair] * rounds, alpha)
        found = composed.delta(sp.log(alpha), rtol=0.02)
        assert truth in found, alpha
        assert found.width <= 0.02 * found.upper


@pytest.mark.usefixtures("sampled")
def test_two_rounds_of_different_randomizers_agree_with_brute_force():
    first, second = ss.KRR(k=3, eps0=sp.log(3)), ss.OUE(d=3, eps0=sp.log(2))
    pairs = [ss.truth.exact.shuffled_pair(decomposition.blanket(R), 3) for R in (first, second)]
    composed = ss.compose([shuffled_laws(first, 3), (shuffled_laws(second, 3), 1)])
    for alpha in (q(1), q(3, 2), q(5, 2)):
        truth = ss.truth.exact.composed_divergence(pairs, alpha)
        assert truth in composed.delta(sp.log(alpha), rtol=0.01)
        if truth < 1:
            eps = composed.epsilon(truth, rtol=0.01)
            assert eps.lower <= float(sp.log(alpha)) + 1e-12
            assert composed.delta(eps.upper, rtol=0.01).lower <= truth


@given(decompositions(3), decompositions(3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=20)
def test_random_rounds_agree_with_brute_force(first, second, n, m):
    mechanisms = [shuffled_laws(first, n), shuffled_laws(second, m)]
    plds = [M.profile(rtol=0.02, least_delta=1e-6).plds for M in mechanisms]
    truth = ss.truth.exact.composed_divergence(
        [ss.truth.exact.shuffled_pair(D, k) for D, k in ((first, n), (second, m))], q(3, 2)
    )
    below, above = (ss.FourierAccountant([pair[side] for pair in plds]).delta(sp.log(q(3, 2))) for side in (0, 1))
    assert below.lower <= truth <= above.upper


@pytest.mark.usefixtures("sampled")
def test_a_round_that_nearly_always_tells_leaves_the_others_their_part():
    """What is finite in it is too rare to matter, and is not all dropped."""
    always = ss.model.Decomposition([q(10**6, 10**6 + 1), q(1, 10**6 + 1)], [0, 1], [0, q(1, 10**6 + 1)])
    other = ss.model.Decomposition([q(5, 7), q(2, 7)], [1 - q(1, 10**7), q(1, 10**7)], [0, q(1, 10**6)])
    truth = ss.truth.exact.composed_divergence([ss.truth.exact.shuffled_pair(D, 2) for D in (always, other)], 1)
    assert truth in ss.compose([shuffled_laws(always, 2), shuffled_laws(other, 2)]).delta(0, rtol=0.1)


def test_sampled_and_enumerated_rounds_agree(monkeypatch):
    D = decomposition.clones(4)
    enumerated = shuffled_laws(D, 10_000).compose(16).epsilon(1e-6)
    monkeypatch.setattr(shuffle, "_FEW_OUTCOMES", -1)
    found = shuffled_laws(D, 10_000).compose(16).epsilon(1e-6)
    assert max(found.lower, enumerated.lower) <= min(found.upper, enumerated.upper)
    assert max(found.relative_width, enumerated.relative_width) <= 1e-3


def test_many_rounds_at_a_tiny_delta(monkeypatch):
    widths, sharper = [], compositions.sharper
    monkeypatch.setattr(
        compositions, "sharper", lambda rtol, wanted, width: widths.append(width) or sharper(rtol, wanted, width)
    )
    composed = shuffled_laws(ss.KRR(k=10, eps0=4), n=10_000).compose(1000)
    found = composed.delta(24, rtol=0.03)
    assert found.relative_width <= 0.03
    assert widths
    assert min(widths) < 0.9995  # what was reached, not all there is
    eps = composed.epsilon(found.upper, rtol=0.01)
    assert eps.lower <= 24 <= eps.upper * (1 + 0.01)


def test_many_users_are_composed_though_the_largest_loss_is_far_away():
    """One round is what the contour says. Losses are nearly normal: sixteen rounds are as one, four times as wide."""
    M = shuffled_laws(ss.KRR(k=10, eps0=4), 10**8)
    one, found = M.compose(1).epsilon(1e-6), M.compose(16).epsilon(1e-6)
    direct = M.epsilon(1e-6, rtol=1e-4)
    assert max(one.lower, direct.lower) <= min(one.upper, direct.upper)
    assert found.relative_width <= 1e-3

    def normal(eps, mu):
        return norm.cdf(-eps / mu + mu / 2) - math.exp(eps) * norm.cdf(-eps / mu - mu / 2)

    mu = brentq(lambda mu: normal(direct.upper, mu) - 1e-6, 1e-5, 1)
    assert found.upper == pytest.approx(brentq(lambda eps: normal(eps, 4 * mu) - 1e-6, 0, 1), rel=0.01)


def test_a_delta_below_all_doubles_has_an_upper_end():
    found = shuffled_laws(ss.KRR(k=3, eps0=1), n=2000).compose(2).delta(1.9, rtol=0.1)
    assert found.lower == 0 < found.upper < 1e-250


def test_beyond_the_largest_loss_of_all_rounds_delta_is_zero():
    composed = shuffled_laws(ss.KRR(k=3, eps0=1), n=4).compose(2)
    assert composed.max_loss == 2
    assert composed.delta(2).upper == 0
    assert shuffled_laws(ss.BinaryRR(eps0=0), n=4).compose(2).epsilon(0.1).upper == 0


def test_progress_is_reported_in_batches():
    seen = []

    def progress(batches):
        seen.extend(len(batch) for batch in batches)
        return batches

    shuffled_laws(ss.KRR(k=10, eps0=2), n=2_000).compose(3, progress=progress).epsilon(1e-5, rtol=0.01)
    assert sum(seen) > 10
    assert max(seen) <= 64


# -- Rényi divergences


@given(decompositions(4), st.integers(1, 5), st.sampled_from([q(3, 2), q(2), q(5), q(12)]))
@settings(max_examples=30)
def test_the_exact_renyi_divergence_is_inside(D, n, order):
    M = shuffled_laws(D, n)
    if M.max_loss is sp.oo:
        with pytest.raises(ValueError, match="unbounded loss"):
            M.rdp(order)
        return
    found = M.rdp(order, rtol=0.01)
    assert float(ss.truth.exact.renyi_divergence(ss.truth.exact.renyi_moment(D, n, order), order)) in found
    assert found.width <= 0.01 * found.upper


def test_the_renyi_divergence_of_2_rr_at_many_users_is_that_of_its_binomial_moments():
    n, t, order = 500, 3, 8
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(t)), 1, 0, 0)
    moment = ss.truth.exact.two_rr_moment(sp.log(t), n, order)
    assert float(sp.log(moment) / (order - 1)) in shuffled_laws(D, n).rdp(order)


@pytest.mark.parametrize("above_one", [q(1, 10**6), q(1, 10**60), q(1, 10**400), sp.sqrt(2) / 10**60])
def test_next_to_order_one_it_is_the_relative_entropy(above_one):
    """Σ P log(P/Q): from there on the Rényi divergence grows with the order, by less than one for each."""
    profile = shuffled_laws(ss.KRR(k=3, eps0=sp.log(3)), 5).profile(rtol=0.001)
    pair = ss.truth.exact.shuffled_pair(decomposition.blanket(ss.KRR(k=3, eps0=sp.log(3))), 5)
    entropy = sum(p * math.log(p / r) for p, r in pair.values() if p)
    found = profile.rdp(1 + above_one)
    assert found.lower - 1e-6 <= entropy <= found.upper
    assert found.width <= 0.01 * found.upper


def test_an_order_that_needs_values_below_the_doubles_says_so(monkeypatch):
    monkeypatch.setattr(compositions, "MAX_POINTS", 200)
    with pytest.raises(ValueError, match=r"order = 2000 is too much .* orders up to about 300"):
        shuffled_laws(ss.KRR(k=10, eps0=2), 10_000).rdp(2000, rtol=0.1)


def test_rounds_add_up():
    M, other = shuffled_laws(ss.KRR(k=4, eps0=1), 100), shuffled_laws(ss.BinaryRR(eps0=2), 50)
    one, two, both = M.rdp(3), other.rdp(3), ss.compose([(M, 5), (other, 2)]).rdp(3)
    assert both.lower <= 5 * one.lower + 2 * two.lower <= both.upper
    assert both.upper == pytest.approx(5 * one.upper + 2 * two.upper, rel=1e-12)
    assert ss.compose([(M, 5), (other, 2)]).rdp([3]) == [both]
    assert M.rdp([]) == ss.compose([M]).rdp([]) == []


# -- ways out


def test_dp_accounting_composes_to_the_same_epsilon():
    from dp_accounting.pld import privacy_loss_distribution

    M = shuffled_laws(ss.KRR(k=10, eps0=4), n=10_000)
    theirs = M.profile(rtol=3e-4, least_delta=1e-14).as_pld().to_dp_accounting(1e-4)
    for rounds in (1, 16):
        ours = M.compose(rounds).epsilon(1e-6)
        found = theirs.self_compose(rounds).get_epsilon_for_delta(1e-6)
        assert ours.lower <= found <= ours.upper * (1 + 2e-3)
    laplace = privacy_loss_distribution.from_laplace_mechanism(5.0, value_discretization_interval=1e-4)
    assert theirs.compose(laplace).get_epsilon_for_delta(1e-6) > theirs.get_epsilon_for_delta(1e-6)
    # Their own object for 2-RR is the one we hand over.
    flip = privacy_loss_distribution.from_randomized_response(0.5, 2, value_discretization_interval=1e-4)
    mine = ss.accounting.PairPLD([q(3, 4), q(1, 4)], [q(1, 4), q(3, 4)]).to_dp_accounting(1e-4)
    for eps in (0.0, 0.5, 1.0):
        assert mine.get_delta_for_epsilon(eps) == pytest.approx(flip.get_delta_for_epsilon(eps), abs=2e-4)
        assert mine.get_delta_for_epsilon(eps) >= float((3 - sp.exp(q(str(eps)))) / 4) - 1e-12


def test_what_is_handed_over_dominates_in_both_directions():
    D = decomposition.blanket(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 0, 1)
    theirs = ss.accounting.ShuffledPLD(D, 4).to_dp_accounting(1e-3)
    for alpha in (q(1), q(3, 2), q(2)):
        truth = max(ss.truth.exact.divergence(one, 4, alpha) for one in (D, D.reversed()))
        found = theirs.get_delta_for_epsilon(float(sp.log(alpha)))
        assert float(truth) - 1e-12 <= found <= float(truth) + 1e-3


def test_a_profile_survives_json_and_says_what_it_is_of():
    profile = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), n=5).profile(rtol=0.01)
    text = profile.to_json()
    assert ss.accounting.PrivacyProfile.from_json(text) == profile
    assert json.loads(text)["about"]["n"] == 5
    assert "KRR(k=3, eps0=log(3))" in profile.to_csv().splitlines()[2]
    frame = profile.to_dataframe()
    assert list(frame.columns) == ["eps", "alpha", "lower", "upper"]
    assert frame.attrs["n"] == 5
    assert len(frame) == len(profile) == len(profile.to_csv().splitlines()) - 7  # six lines of words, one of names


def test_a_coarse_profile_takes_no_more_points_than_a_fine_one():
    # Values as blurred as the curve may be made every cell look bad: 2,527 points at rtol = 0.2, 31 s.
    coarse, fine = (ss.Shuffle(ss.KRR(k=3, eps0=1), 30).profile(rtol=rtol) for rtol in (0.2, 0.02))
    assert len(coarse) <= len(fine) <= 200


def test_few_points_of_a_curve_are_enough_for_lines_that_are_close_to_it():
    exact = {1 + fmpq(k, 100): fmpq(k - 200, 200) ** 2 for k in range(201)}  # a parabola, (1 − x/2)² at 1 + x
    side = Side(lambda alphas, rtol: [Interval(float(exact[a]), float(exact[a])) for a in alphas], None)
    sampling = Sampling(1e-6, ((1.0, 1e-9),), 1000)
    side.learn(exact, 1e-6, no_progress)
    points = sorted(exact)
    some = [points.index(alpha) for alpha in sampling._on_lines(side, points, 1.5e-3)]
    assert (some[0], some[-1]) == (0, 200)
    assert len(some) < 50
    assert sampling._on_lines(side, points, 0.0) == points
    for i, j in pairwise(some):
        for k in range(i, j + 1):
            share = fmpq(k - i, j - i)
            line = (1 - share) * exact[points[i]] + share * exact[points[j]]
            value = float(exact[points[k]])
            assert float(line) - value <= side.tolerance(1.5e-3, value) * value + 2e-9
        if j < 200:  # one more would be too far
            line = (exact[points[i]] + exact[points[j + 1]]) / 2 if (j + 1 - i) % 2 == 0 else None
            middle = float(exact[points[(i + j + 1) // 2]])
            assert line is None or float(line) - middle > side.tolerance(1.5e-3, middle) * middle


def test_rounds_make_one_profile_for_epsilon_and_for_a_rough_curve():
    M = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=10, eps0=2)), n=10_000)
    rounds = M.compose(5)
    eps = rounds.epsilon(1e-6, rtol=0.02)
    assert len(M._profiles) == 1
    curve = rounds.delta([0, eps.upper / 2, eps.upper], rtol=0.2)
    assert len(M._profiles) == 1
    assert all(answer.relative_width <= 0.2 for answer in curve)


def test_rounds_that_are_known_by_their_exact_law_are_accounted_once():
    rounds = ss.Shuffle(ss.decomposition.clones(2), n=1_000).compose(5)
    answer = rounds.epsilon(1e-6, rtol=0.02)
    ((accountant,),) = rounds._accountants.values()
    assert accountant.epsilon(1e-6, rtol=1e-4).lower in answer
    different = ss.compose(
        [(ss.Shuffle(ss.decomposition.clones(2), n=1_000), 2), ss.Shuffle(ss.KRR(k=10, eps0=2), n=1_000)]
    )
    different.epsilon(1e-6, rtol=0.1)
    ((below, above),) = different._accountants.values()
    assert below.delta(0.1, rtol=0.1).lower <= above.delta(0.1, rtol=0.1).upper


@pytest.mark.parametrize(("power", "times"), [(3, 1), (3, 2), (12, 3), (2, 5)])
@pytest.mark.parametrize("rtol", [1e-3, 0.2])
def test_curves_from_few_points_are_on_their_sides_at_every_alpha_also_far_out(power, times, rtol):
    # D_α = c α^−m from 1 on, of both directions, is one for c(2m + 1) <= 1, and never 0; another one is sampled first.
    top = fmpq(1, 2 * power + 1)

    def curve(alpha, scale=ONE):
        return scale * top / alpha**power if alpha >= 1 else 1 - alpha + alpha * curve(1 / alpha, scale)

    def side(scale):
        def evaluate(alphas, rtol):
            values = [as_fraction(curve(alpha, scale)) for alpha in alphas]
            return [Interval(rounding.down(value), rounding.up(value)) for value in values]

        return Side(evaluate, None)

    forward, sampling = side(fmpq(1, times)), Sampling(rtol, ((1.0, 1e-9),), 10_000)
    below = sampling.bracket(forward, forward)
    other = side(ONE)
    above = sampling.above(other, forward).upper
    assert len(other.values) <= len(forward.values) + 20
    last = max(other.values)
    inside = [1 + (last - 1) * fmpq(k, 977) ** 2 for k in range(978)]
    for alpha in (*inside, 2 * last, 1000 * last):
        assert above(alpha) >= curve(alpha)
        assert above(1 / alpha) >= curve(1 / alpha)
        value = curve(alpha, fmpq(1, times))
        assert below.lower(alpha) <= value <= below.upper(alpha)
        room = forward.tolerance(rtol, float(value)) * float(value)
        assert float(below.upper(alpha) - below.lower(alpha)) <= 1.2 * room + 2e-9 or alpha > last
    assert above.infinite > 0
    # Where the two are far apart the lower one may be rougher: about 1/√3 of the points, and still on its side.
    rough = replace(sampling, slack=3.0)
    rougher, roof = rough.brackets(again := side(fmpq(1, times)), again, high := side(ONE))
    fewer = len(rougher.alphas) / len(below.alphas)
    if rtol < 0.1:  # else there are hardly any
        assert 0.5 < fewer < 0.7 if times > 1 else fewer == 1
    assert all(rougher.lower(alpha) <= curve(alpha, fmpq(1, times)) for alpha in inside)
    assert [rough.serves(sampling), sampling.serves(rough)] == [False, True]
    # So may what is left out far away,
    assert not rough.serves(coarse := replace(sampling, rtol=4 * rtol))
    assert rough.serves(replace(coarse, levels=((1.0, 4e-9),)))
    # and lines of the upper one: they add a tenth of what the two differ by, at first, and more where values are small.
    assert len(high.values) <= len(other.values)
    # Values up to 3e-9 of the lower one do not count.
    share, least = max(0.1 * float(1 - fmpq(1, times)), 3 * rtol, 1.5e-3), (1 + times) * 3e-9
    for alpha in inside:
        excess = float(roof.upper(alpha) - curve(alpha))
        assert 0 <= excess <= 1.2 * high.tolerance(share, float(curve(alpha))) * float(curve(alpha)) + least
