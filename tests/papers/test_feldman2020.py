"""Feldman et al. 2020: the closed form, and their numerical method as published."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

from shuffle_sym.model import decomposition
from shuffle_sym.papers import feldman2020
from shuffle_sym.papers.feldman2020 import numerical

FORMS = [feldman2020.thm31, feldman2020.thm31_full]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize(("eps0", "n"), [(0.1, 10**4), (1, 1000), (4, 10**5), (7, 10**6)])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-9])
def test_the_clones_theorem_is_above_the_clones_themselves(form, eps0, n, delta):
    eps = form(eps0, n, delta)
    assert shuffled_laws(decomposition.clones(eps0), n).epsilon(delta, rtol=1e-2).upper <= eps
    if eps >= eps0:  # nothing is gained by shuffling: ε is ε0, rounded up
        assert form.delta(eps0, n, eps) == 0.0
        return
    # The form that is solved for δ gives the δ back.
    assert math.isclose(form.delta(eps0, n, eps), delta, rel_tol=1e-9)
    assert form.delta(eps0, n, eps / 2) > delta


def test_shuffling_never_costs_more_than_the_local_loss():
    # 8√(log(4/δ)t/n) is ten times ε0 here, and no shuffled ε0-LDP message loses more than ε0.
    assert feldman2020.thm31(0.01, 10**5, 1e-6) == pytest.approx(0.01, rel=1e-15)
    assert feldman2020.thm31.delta(0.01, 10**5, 0.01) == 0.0


def test_outside_of_the_theorem_nothing_is_said():
    assert feldman2020.thm31.delta(4, 100, 0.5) == 1.0  # e^ε − 1 <= 8/(pn)
    for ask in (lambda: feldman2020.thm31(4, 10**4, 1e-6), lambda: feldman2020.thm31.delta(4, 10**4, 2)):
        with pytest.raises(ValueError, match="eps0 must be at most"):
            ask()


def test_the_largest_eps0_is_where_the_condition_or_the_bound_ends():
    # ε is generous: the condition ε0 <= log(n/(16 log(2/δ))) decides.
    found = feldman2020.thm31.eps0(10**5, 3, 1e-6)
    assert found == pytest.approx(math.log(10**5 / (16 * math.log(2e6))), rel=1e-6)
    tight = feldman2020.thm31.eps0(10**5, 0.3, 1e-6)
    assert feldman2020.thm31(tight, 10**5, 1e-6) == pytest.approx(0.3, rel=1e-8)


def test_the_factor_is_that_of_mixing_and_the_formula_knows_no_condition():
    t, delta, n = math.exp(0.5), 1e-6, 10**5
    without, full = (math.expm1(form(0.5, n, delta)) for form in FORMS)
    assert full == pytest.approx(without * (t - 1) / (t + 1), rel=1e-12)
    assert feldman2020.thm31_formula(0.5, n, delta) == feldman2020.thm31_full(0.5, n, delta)
    # Outside of its condition the formula is below the very divergence that the theorem bounds.
    clones = shuffled_laws(decomposition.clones(4), 1000).epsilon(delta, rtol=1e-2)
    assert feldman2020.thm31_formula(4, 1000, delta) < clones.lower


# ------------------------------------------------------------------------------------------ the numerical method


def given_clones(c: int, t: Fraction, alpha: Fraction) -> Fraction:
    """The divergence given c clones, from the two laws of the number of zeros."""
    keep, flip, total = t / (t + 1), 1 / (t + 1), Fraction(0)
    for zeros in range(c + 2):
        one_less, same = (Fraction(math.comb(c, k), 2**c) if k >= 0 else Fraction(0) for k in (zeros - 1, zeros))
        total += max(Fraction(0), keep * one_less + flip * same - alpha * (flip * one_less + keep * same))
    return total


@pytest.mark.parametrize("t", [Fraction(3, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)])
def test_given_the_number_of_clones_two_tails_are_the_divergence(t, share):
    alpha = 1 + share * (t - 1)
    exact = [given_clones(c, t, alpha) for c in range(40)]
    assert exact == sorted(exact, reverse=True), "one clone more is post-processing"
    values = numerical._given(np.arange(40.0), float(t), float(alpha))
    assert values == pytest.approx([float(e) for e in exact], rel=1e-12)


@pytest.mark.parametrize("step", [1, 2, 7])
@pytest.mark.parametrize("t", [Fraction(3, 2), Fraction(3), Fraction(20)])
def test_the_exact_divergence_of_the_clones_is_between_the_published_ends(t, step):
    D, allowed = decomposition.clones(sp.log(sp.Rational(t.numerator, t.denominator))), Fraction(1, 10**12)
    for n in (1, 2, 3, 10, 33):
        for share in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)):
            alpha = 1 + share * (t - 1)
            exact = shuffled_laws(D, n).exact(sp.Rational(alpha.numerator, alpha.denominator))
            lower, upper = feldman2020.numerical_delta(D.max_loss, n, sp.log(sp.Rational(str(alpha))), step=step)
            assert Fraction(lower) * (1 - allowed) <= exact <= Fraction(upper) * (1 + allowed)
            if step == 1:  # it ends when less is left than was found
                assert Fraction(upper) * (1 - allowed) <= 2 * exact


def test_without_blocks_and_without_an_early_end_the_method_is_exact():
    # C has two values, and no mass is left when both are taken.
    assert feldman2020.numerical_delta(sp.log(3), 2, sp.log(2)) == pytest.approx([5 / 24] * 2, rel=1e-14)


def test_the_blocks_of_the_published_program_give_its_published_numbers():
    # github.com/apple/ml-shuffling-amplification, README: n = 10^5, ε0 = 4, δ = 10^-6, blocks of 100 from n/2 down, ten
    # halvings from a closed form of 0.5378040242374512.
    n, t, delta, ends = 10**5, math.exp(4), 1e-6, []
    first = np.arange(n / 2 - 100, -1, -100)
    masses = numerical._tail(first, n - 1, 1 / t) - numerical._tail(first + 100, n - 1, 1 / t)
    left = 1 - np.cumsum(masses)
    for side in (0, 1):
        low, high = 0.0, 0.5378040242374512
        for _ in range(10):
            eps = (low + high) / 2
            sums = [np.cumsum(masses * numerical._given(c, t, math.exp(eps))) for c in (first + 99, first)]
            stop = int(np.flatnonzero(left < sums[0])[0])
            low, high = (low, eps) if sums[side][stop] + side * left[stop] < delta else (eps, high)
        ends.append(high)
    assert ends == pytest.approx([0.1675385583317841, 0.172790550755978], rel=1e-12)
    certified = shuffled_laws(decomposition.clones(4), n).epsilon(delta)
    assert ends[0] < certified.lower < certified.upper < ends[1]


@pytest.mark.parametrize(("eps0", "n"), [(0.1, 10**3), (4, 10**3), (4, 10**5), (1, 10**6)])
def test_the_published_ends_are_around_the_certified_ones(eps0, n):
    lower, upper = feldman2020.numerical_epsilon(eps0, n, 1e-6)
    certified = shuffled_laws(decomposition.clones(eps0), n).epsilon(1e-6)
    assert lower < certified.lower < certified.upper < upper < 1.2 * lower


def test_nothing_is_lost_where_nothing_is_told():
    assert feldman2020.numerical_epsilon(0, 10, 1e-6) == (0.0, 0.0)
    assert feldman2020.numerical_delta(1, 10, 1) == (0.0, 0.0)
