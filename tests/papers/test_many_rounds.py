"""Closed forms against exact values and against the certified accountants: none may be below the truth."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.papers import bounds

q = sp.Rational


def leaky_coin(t: Fraction, delta: Fraction) -> dict[str, tuple[Fraction, Fraction]]:
    """Randomized response that leaks its input with probability δ: the worst (log t, δ)-DP mechanism."""
    keep = (1 - delta) * t / (1 + t)
    flip = 1 - delta - keep
    return {"0!": (delta, Fraction(0)), "0": (keep, flip), "1": (flip, keep), "1!": (Fraction(0), delta)}


@pytest.mark.exact
@pytest.mark.parametrize("t", [Fraction(1), Fraction(3, 2), Fraction(4)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 100)])
@pytest.mark.parametrize("rounds", [1, 2, 5, 9])
def test_optimal_composition_is_that_of_the_worst_mechanism(t, delta, rounds):
    for alpha in (Fraction(1), Fraction(5, 4), Fraction(8), Fraction(100)):
        truth = ss.truth.exact.composed_divergence([leaky_coin(t, delta)] * rounds, sp.Rational(alpha))
        found = bounds.optimal_composition(sp.log(q(t)), q(delta), rounds, sp.log(q(alpha)))
        assert truth <= found <= truth + 1e-14


@pytest.mark.exact
@pytest.mark.parametrize(("rounds", "alpha"), [(60, 10**6), (200, 10**15), (200, 10**30)])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**45)])
def test_optimal_composition_keeps_its_digits_where_it_is_tiny(rounds, alpha, delta):
    t = Fraction(3, 2)
    whole = (1 + t) ** rounds
    terms = (math.comb(rounds, i) * max(t ** (rounds - i) - alpha * t**i, 0) for i in range(rounds + 1))
    truth = 1 - (1 - delta) ** rounds * (1 - sum(terms) / whole)
    found = bounds.optimal_composition(sp.log(q(t)), q(delta), rounds, sp.log(alpha))
    assert truth <= found <= truth * (1 + Fraction(1, 10**12)) + Fraction(1, 10**300)


def test_basic_and_advanced_composition_are_above_the_optimal_one():
    for eps, delta, rounds in ((0.1, 1e-8, 100), (0.5, 0, 10), (1, 1e-5, 3)):
        total, total_delta = bounds.basic_composition(eps, delta, rounds)
        assert bounds.optimal_composition(eps, delta, rounds, total) <= total_delta or delta == 0
        total, total_delta = bounds.advanced_composition(eps, delta, rounds, 1e-6)
        assert bounds.optimal_composition(eps, delta, rounds, total) <= total_delta
        assert bounds.optimal_composition_epsilon(eps, delta, rounds, total_delta) <= total


def test_the_epsilon_of_optimal_composition_meets_its_delta():
    eps = bounds.optimal_composition_epsilon(0.1, 1e-9, 50, 1e-5)
    assert bounds.optimal_composition(0.1, 1e-9, 50, eps) <= 1e-5
    assert bounds.optimal_composition(0.1, 1e-9, 50, eps - 1e-6) > 1e-5
    with pytest.raises(ValueError, match=r"1e-08 is not reached: 50 rounds lose .* 4\.999e-05|5e-05"):
        bounds.optimal_composition_epsilon(0.1, 1e-6, 50, 1e-8)


def test_strong_composition_is_above_the_optimal_one_and_below_the_advanced_one():
    for eps, delta, rounds in ((0.1, 1e-8, 100), (0.5, 0, 10), (1, 1e-5, 3), (0.01, 1e-12, 5000)):
        for slack in (1e-3, 1e-7):
            total, total_delta = bounds.strong_composition(eps, delta, rounds, slack)
            assert total <= bounds.advanced_composition(eps, delta, rounds, slack)[0]
            if rounds < 1000:
                assert bounds.optimal_composition(eps, delta, rounds, total) <= total_delta


def test_subsampling_a_pair_is_above_the_subsampled_worst_mechanism():
    rate, t, leak = Fraction(1, 10), Fraction(3), Fraction(1, 100)
    keep = (1 - leak) * t / (1 + t)
    pair = [(leak, Fraction(0)), (keep, 1 - leak - keep), (1 - leak - keep, keep), (Fraction(0), leak)]
    eps, delta = bounds.poisson_subsampled(sp.log(3), q(1, 100), q(1, 10))
    alpha = Fraction(12, 10)  # 1 + γ(t − 1)
    assert sp.log(q(12, 10)) <= sp.Rational(eps)
    truth = sum((max(rate * x + (1 - rate) * y - alpha * y, Fraction(0)) for x, y in pair), Fraction(0))
    assert truth <= delta
