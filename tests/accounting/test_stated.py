"""What others state of a mechanism: bounds stay bounds, against exact sums and against their own numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import sympy as sp
from dp_accounting.pld import privacy_loss_distribution as google
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import shuffle_sym as ss
from shuffle_sym.accounting import PrivacyProfile, StatedMechanism, stated
from shuffle_sym.algebra.rationals import fraction, rational

LOG3 = sp.log(3)
TWO_RR = {0: sp.Rational(1, 2), LOG3: 0}  # 3/4 against 1/4


def two_rr_rounds(k: int, alpha: Fraction) -> Fraction:
    """D_α of k rounds of 2-RR with e^ε0 = 3, exactly."""
    p, q = Fraction(3, 4), Fraction(1, 4)
    return sum(comb(k, j) * max(p**j * q ** (k - j) - alpha * q**j * p ** (k - j), 0) for j in range(k + 1))


def divergence(P, Q, alpha):
    return sum(max(p - alpha * q, 0) for p, q in zip(P, Q, strict=True))


def laws(size):
    return (
        st.lists(st.integers(0, 20), min_size=size, max_size=size)
        .filter(any)
        .map(lambda w: [Fraction(x, sum(w)) for x in w])
    )


def stated_by_google():
    return StatedMechanism.from_dp_accounting(google.from_randomized_response(0.5, 2), adjacency="replace-one")


def stated_by_trade_off():
    # f(x) = max(1 − 3x, (1 − x)/3, 0), its corner at 1/4 among the points
    points = {sp.Rational(i, 200): max(1 - sp.Rational(3 * i, 200), (1 - sp.Rational(i, 200)) / 3) for i in range(201)}
    return StatedMechanism.from_trade_off(points, adjacency="replace-one")


@pytest.mark.parametrize(
    ("make", "room"),
    [
        (lambda: StatedMechanism.from_profile(TWO_RR, adjacency="replace-one"), 1e-6),
        (stated_by_google, 1e-3),
        (stated_by_trade_off, 0.1),
    ],
    ids=["profile", "PLD", "trade-off"],
)
def test_shuffled_and_stated_rounds_together_bound_the_exact_sum(make, room):
    both = ss.compose([(ss.Shuffle(ss.BinaryRR(LOG3), 1), 2), (make(), 3)])
    for alpha in (Fraction(1), Fraction(5)):
        answer = both.delta(sp.log(sp.Rational(alpha.numerator, alpha.denominator)), rtol=0.01)
        exact = two_rr_rounds(5, alpha)
        assert answer.lower <= exact <= answer.upper
        assert answer.upper <= 1.011 * float(exact) + room
        assert answer.lower >= two_rr_rounds(2, alpha) * Fraction(98, 100)  # what is known of the shuffled rounds


@settings(max_examples=15)
@given(laws(4), laws(4), st.lists(st.fractions(0, 3), min_size=1, max_size=4, unique=True))
def test_what_is_stated_of_a_pair_is_above_it_everywhere(P, Q, points):
    ratios = [1 + x for x in points]
    worst = {a: max(divergence(P, Q, a), divergence(Q, P, a)) for a in ratios}
    stated = [(sp.log(sp.Rational(a.numerator, a.denominator)), v) for a, v in worst.items()]
    curve = StatedMechanism.from_profile(stated, adjacency="replace-one").profile.upper
    tests = [(sum(Q[i] for i in E), sum(P[i] for i in range(4) if i not in E)) for E in subsets(4)]
    others = [(sum(P[i] for i in E), sum(Q[i] for i in range(4) if i not in E)) for E in subsets(4)]
    # A random test is a mean of two others, so the convex hull is what is true.
    hull = {x: lowest(x, [*tests, *others]) for x in (Fraction(1, 5), Fraction(2, 3))}
    risen = StatedMechanism.from_trade_off(hull, adjacency="replace-one").profile.upper
    for alpha in (Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4), Fraction(30)):
        exact = max(divergence(P, Q, alpha), divergence(Q, P, alpha))
        assert fraction(curve(rational(alpha))) >= exact
        assert fraction(risen(rational(alpha))) >= exact


def subsets(size):
    return [[i for i in range(size) if keep[i]] for keep in product((True, False), repeat=size)]


def lowest(x, points):
    """The lower convex hull of points at x, by all pairs."""
    below = [(a, b) for a, b in points if a <= x]
    above = [(a, b) for a, b in points if a >= x]
    values = [b for a, b in points if a == x]
    values += [b + (d - b) * (x - a) / (c - a) for a, b in below for c, d in above if c > a]
    return min(values)


def test_one_added_and_one_removed_is_one_replaced():
    # Noise σ on a sum of numbers in [−1, 1]: one of them comes or goes, μ = 1/σ; one is replaced, μ = 2/σ.
    pld = google.from_gaussian_mechanism(4.0)
    stated = StatedMechanism.from_dp_accounting(pld, adjacency="add-or-remove-one").profile
    truth = StatedMechanism.gaussian(0.5).profile
    for eps in (0, 0.2, 0.5, 1, 2):
        assert truth.delta(eps).lower <= stated.delta(eps).upper <= 1
    assert stated.delta(1).upper < 0.2


@pytest.mark.parametrize("mu", [0.01, 0.4, 3])
def test_the_curve_of_the_gaussian_mechanism_has_its_closed_form_inside(mu):
    profile = StatedMechanism.gaussian(mu).profile
    for eps in np.linspace(-2 * mu, 4 * mu, 9):
        exact = special.ndtr(mu / 2 - eps / mu) - np.exp(eps) * special.ndtr(-mu / 2 - eps / mu)
        answer = profile.delta(float(eps))
        assert answer.lower - 1e-13 <= exact <= answer.upper + 1e-13
        assert answer.width <= 1e-3 * exact


def test_rounds_of_the_gaussian_mechanism_are_one_with_a_larger_shift():
    several = ss.compose([(StatedMechanism.gaussian(0.3), 4)]).epsilon(1e-5, rtol=0.01)
    one = StatedMechanism.gaussian(0.6).profile.epsilon(1e-5)
    assert several.lower <= one.upper
    assert one.lower <= several.upper <= 1.02 * one.upper


def test_a_saved_profile_of_ours_keeps_both_ends():
    M = ss.Shuffle(ss.BinaryRR(1), 2)
    saved = PrivacyProfile.from_json(M.profile(rtol=0.05).to_json())
    direct, again = (
        mechanism.delta(1, rtol=0.05) for mechanism in (M.compose(2), ss.compose([(StatedMechanism(saved), 2)]))
    )
    assert again.lower > 0.7 * direct.lower
    assert again.lower <= direct.upper
    assert direct.lower <= again.upper <= 1.3 * direct.upper


def test_a_delta_that_was_not_stated_is_refused_and_far_out_the_lower_end_is_0():
    stated = StatedMechanism.from_profile([(1, 1e-6)], adjacency="replace-one")
    both = ss.compose([ss.Shuffle(ss.BinaryRR(sp.Rational(1, 2)), 1), stated])
    with pytest.raises(ValueError, match="not reached"):
        both.epsilon(1e-7)
    far = both.delta(2, rtol=0.01)
    assert far.lower == 0
    assert 1e-6 <= far.upper <= 1.02e-6
    with pytest.raises(ValueError, match="no finite bound"):
        both.rdp(2)
    assert "stated as=profile" in repr(both)


@pytest.mark.parametrize("digits", range(1, 100))
def test_the_ratio_of_a_stated_epsilon_is_not_below_its_exponential(digits):
    eps = sp.Rational(digits, 1000)
    assert sp.Rational(str(stated._alpha(eps))) > sp.exp(eps)
