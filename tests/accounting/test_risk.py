"""What a profile means for one person, against exact sums over all histograms of messages."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from scipy import special

import shuffle_sym as ss
from shuffle_sym.accounting import Risk
from shuffle_sym.accounting.convex import Bracket, curve_through
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.algebra.rationals import fraction, rational

q = sp.Rational


def histogram_laws(R, X):
    """The exact law of the multiset of messages of a dataset."""
    matrix, law = R.matrix(), {}
    for ys in product(range(matrix.shape[1]), repeat=len(X)):
        key = tuple(sorted(ys))
        law[key] = law.get(key, 0) + sp.Mul(*(matrix[x, y] for x, y in zip(X, ys, strict=True)))
    return law


@pytest.mark.parametrize("prior", [q(1, 2), q(1, 5), q(9, 10)])
def test_no_pair_of_datasets_has_a_smaller_error_and_one_attains_it_nearly(prior):
    R, n = ss.KRR(3, sp.log(3)), 3
    errors = []
    for x0, x1 in ((0, 1), (1, 0)):  # all pairs of inputs are alike
        for others in product(range(3), repeat=n - 1):
            P, Q = histogram_laws(R, (x0, *others)), histogram_laws(R, (x1, *others))
            errors.append(sum(sp.Min(prior * P[h], (1 - prior) * Q[h]) for h in P))
    least, risk = min(errors), Risk(ss.Shuffle(R, n).profile())
    assert least in risk.error(prior)
    assert risk.error(prior).width <= 0.01 * float(prior)
    assert 1 - least in risk.success(prior)


def test_the_advantage_is_the_total_variation_distance_of_the_worst_pair():
    R, n = ss.BinaryRR(sp.log(3)), 4
    assert ss.Shuffle(R, n).exact(1) in Risk(ss.Shuffle(R, n).profile()).advantage


def two_points(p, r):
    """The profile of a pair of laws on two points."""
    alphas = sorted([Fraction(p, r) if p > r else Fraction(1 - p, 1 - r), Fraction(1 - p, 1 - r)])
    points = [(0, 1), *((a, max(p - a * r, 0) + max((1 - p) - a * (1 - r), 0)) for a in alphas)]
    curve = curve_through([(rational(Fraction(a)), rational(Fraction(v))) for a, v in points])
    places = [a for a, _ in curve.vertices[1:]]
    values = [v for _, v in curve.vertices[1:]]
    bracket = Bracket(places, values, values)
    return PrivacyProfile(bracket, bracket, {})


@pytest.mark.parametrize(("p", "r"), [(Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 10))])
def test_mu_of_two_points_is_the_difference_of_two_normal_quantiles(p, r):
    # One event has P = p, Q = r: only there can a normal shift be too small.
    answer = Risk(two_points(p, r)).mu(1e-12)
    truth = special.ndtri(float(p)) - special.ndtri(float(r))
    assert answer.upper >= truth - 1e-9
    assert answer.upper == pytest.approx(truth, abs=1e-8)
    assert answer.lower <= answer.upper


def test_no_trade_off_is_below_that_of_the_normal_shift():
    profile = ss.Shuffle(ss.BinaryRR(1), 10).profile(rtol=0.02)
    delta = 1e-6
    mu = Risk(profile).mu(delta)
    f = profile.trade_off()
    for x in [*(q(i, 37) for i in range(1, 37)), q(1, 10**6), q(1, 10**4)]:
        normal = special.ndtr(-special.ndtri(float(x)) - mu.upper)
        assert f(x).lower >= normal - delta - 1e-12
    # And with a little less than the lower end some test is better.
    less = 0.98 * mu.lower
    errors = [q(int(10 ** (9 - j / 10)), 10**9) for j in range(1, 85)]
    assert any(f(x).upper < special.ndtr(-special.ndtri(float(x)) - less) - delta for x in errors)


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
def test_the_shifts_bracket_the_trade_off(delta):
    profile = ss.Shuffle(ss.BinaryRR(1), 10).profile(rtol=0.02)
    shifts, f = Risk(profile).shifts(delta), profile.trade_off()
    assert 0 < shifts.lower < shifts.upper == Risk(profile).mu(delta).upper
    errors = [q(i, 37) for i in range(1, 37)] + [q(1, 10**4), 1 - q(1, 10**4)]

    def normal(x, mu):
        return special.ndtr(-special.ndtri(float(x)) - mu)

    assert all(f(x).upper <= normal(x, shifts.lower) + delta + 1e-12 for x in errors)
    assert all(f(x).lower >= normal(x, shifts.upper) - delta - 1e-12 for x in errors)
    # A little more than the lower shift is too much somewhere.
    more = 1.02 * shifts.lower
    ratios = [Fraction(i, 100) for i in range(5, 400)]
    assert any(two_normals(float(a), more) > float(fraction(profile.lower(rational(a)))) + delta for a in ratios)


def two_normals(alpha, mu):
    """D_α of N(0, 1) against N(μ, 1)."""
    eps = math.log(alpha)
    return special.ndtr(mu / 2 - eps / mu) - alpha * special.ndtr(-mu / 2 - eps / mu)


def test_a_larger_delta_never_needs_a_larger_shift_and_impossible_outputs_have_none():
    risk = Risk(ss.Shuffle(ss.BinaryRR(1), 20).profile(rtol=0.05))
    shifts = [risk.mu(delta).upper for delta in (1e-9, 1e-6, 1e-3)]
    assert shifts == sorted(shifts, reverse=True)
    truthful = ss.from_matrix([["1/2", "1/2", 0], ["1/2", 0, "1/2"]])
    assert math.isinf(Risk(ss.Shuffle(truthful, 1).profile()).mu(1e-3).upper)


@pytest.mark.parametrize("prior", [0, 1, -1, sp.sqrt(2) / 2, "x"])
def test_a_prior_that_is_none_is_named(prior):
    risk = Risk(ss.Shuffle(ss.BinaryRR(1), 1).profile(rtol=0.05))
    with pytest.raises(ValueError, match="prior"):
        risk.error(prior)


def test_the_shifts_of_tiny_losses_are_as_close_to_each_other_as_those_of_others():
    shifts = Risk(ss.Shuffle(ss.BinaryRR(eps0="1e-6"), 2).profile(rtol=0.05)).shifts(1e-12)
    assert 0.2 * shifts.upper < shifts.lower < shifts.upper < 1e-5


# ------------------------------------------------------------------------------------------------ from a mechanism


def products(P, Q, rounds):
    """The probabilities of all outcomes of independent rounds, as pairs."""
    return [
        (sp.prod(p for p, _ in outcome), sp.prod(r for _, r in outcome))
        for outcome in product(list(zip(P, Q, strict=True)), repeat=rounds)
    ]


@pytest.mark.parametrize("prior", [q(1, 2), q(1, 5), q(9, 10)])
@pytest.mark.parametrize(
    ("M", "P", "Q"),
    [
        (ss.Shuffle(ss.BinaryRR(sp.log(3)), n=1), (q(3, 4), q(1, 4)), (q(1, 4), q(3, 4))),
        (
            ss.Shuffle(ss.decomposition.dataset(ss.from_matrix([["0.9", "0.1"], ["0.3", "0.7"]]), 0, 1, 0), n=1),
            (q(9, 10), q(1, 10)),
            (q(3, 10), q(7, 10)),
        ),
    ],
)
def test_the_risk_of_several_rounds_contains_the_exact_error_of_the_best_guess(M, P, Q, prior):
    for rounds in (1, 2, 3):
        least = sum(sp.Min(prior * p, (1 - prior) * r) for p, r in products(P, Q, rounds))
        risk = M.risk(rounds)
        assert least in risk.error(prior)
        assert 1 - least in risk.success(prior)
        assert risk.error(prior).width <= 0.02


def test_the_profile_of_rounds_brackets_delta_of_the_rounds_at_every_epsilon():
    rounds = ss.Shuffle(ss.KRR(k=4, eps0=2), n=500).compose(8)
    profile = rounds.profile()
    for eps in (0, 0.3, 0.7, 1.1, 2):
        exact, sampled = rounds.delta(eps), profile.delta(eps)
        assert sampled.lower <= exact.lower <= exact.upper <= sampled.upper
        assert sampled.width <= exact.width + 0.2 * exact.upper  # a cell is good within a fifth


def test_a_risk_is_read_out_in_percent_that_are_rounded_up():
    assert str(ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000).risk()).startswith(
        "Suppose an attacker knows everyone else's data and that yours is one of two values, equally likely. They "
        "guess right at most 51.9 % of the time, against 50 % without the messages. Except with probability 10⁻⁹, "
    )
    assert "right at most 84.4 % of" in str(ss.Shuffle(ss.BinaryRR(sp.log(3)), n=1).risk(3))  # 27/32 = 0.84375
    with pytest.raises(ValueError, match="rounds must be an integer >= 1, got 0"):
        ss.Shuffle(ss.BinaryRR(1), n=10).risk(0)
