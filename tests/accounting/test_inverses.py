"""The questions the other way round: what is returned meets its target, and the next step does not."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.accounting import inverses, sources
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.numeric.search import boundary

q = sp.Rational


@pytest.mark.parametrize(("n", "eps", "delta"), [(10_000, 1, 1e-6), (50, 0.5, 1e-2), (10**9, 0.1, 1e-12), (3, 0, 0.3)])
def test_the_calibrated_level_meets_the_target_and_a_little_more_does_not(n, eps, delta):
    found = ss.calibrate(lambda eps0: decomposition.blanket(ss.KRR(k=4, eps0=eps0)), n, eps, delta)
    assert found.relative_width <= 1e-3
    lower, upper = (
        shuffled_laws(ss.KRR(k=4, eps0=sp.Rational(e)), n).delta(eps, rtol=1e-5) for e in (found.lower, found.upper)
    )
    assert lower.upper <= delta < upper.lower


@pytest.mark.exact
def test_the_calibrated_level_is_right_in_exact_arithmetic():
    # 2-RR with n = 2 at α = 2: δ = (t − 2)/(t + 1)·… is an exact fraction at every rational t.
    def exact(t: sp.Rational) -> sp.Rational:
        return shuffled_laws(ss.BinaryRR(eps0=sp.log(t)), 2).exact(2)

    found = ss.calibrate(lambda eps0: decomposition.blanket(ss.BinaryRR(eps0=eps0)), 2, sp.log(2), 0.1)
    assert exact(sp.Rational(Fraction(sp.exp(sp.Rational(found.lower)).evalf(30).__str__()))) <= q(1, 10)
    assert exact(sp.Rational(Fraction(sp.exp(sp.Rational(found.upper)).evalf(30).__str__()))) > q(1, 10)


def test_decompositions_are_calibrated_as_well():
    clones = ss.calibrate(decomposition.clones, 10_000, 1, 1e-6)
    krr = ss.calibrate(lambda eps0: ss.KRR(k=10, eps0=eps0), 10_000, 1, 1e-6)
    assert clones.upper < krr.lower


@pytest.mark.parametrize(("eps0", "eps", "delta"), [(4, 1, 1e-6), (2, 0.3, 1e-4), (1, 0.1, 1e-8)])
def test_so_many_users_are_enough_and_one_less_is_not(eps0, eps, delta):
    R = ss.KRR(k=10, eps0=eps0)
    found = ss.users_needed(decomposition.blanket(R), eps, delta)
    assert found.lower == found.upper
    n = int(found.upper)
    assert shuffled_laws(R, n).delta(eps, rtol=1e-5).upper <= delta
    assert shuffled_laws(R, n - 1).delta(eps, rtol=1e-5).lower > delta


@pytest.mark.exact
def test_the_number_of_users_is_that_of_exact_arithmetic():
    R, alpha = ss.KRR(k=3, eps0=sp.log(3)), q(3, 2)
    smallest = next(n for n in range(1, 60) if shuffled_laws(R, n).exact(alpha) <= q(1, 50))
    assert ss.users_needed(decomposition.blanket(R), sp.log(alpha), 0.02) == Interval(smallest, smallest)


def test_one_user_is_enough_at_the_local_level():
    assert ss.users_needed(ss.KRR(k=10, eps0=0.5), 1, 1e-8) == Interval(1, 1)


def test_many_users_are_found_within_the_tolerance():
    R = ss.KRR(k=10, eps0=8)
    found = ss.users_needed(decomposition.blanket(R), 0.01, 1e-9)
    assert 1e9 < found.lower <= found.upper <= found.lower * (1 + 1e-3)
    assert shuffled_laws(R, int(found.upper)).delta(0.01, rtol=1e-5).upper <= 1e-9


def test_a_handful_of_evaluations_is_enough():
    calls = []

    def curve(x: float, rtol: float) -> Interval:
        calls.append(x)
        value = x**3 * 1e-9
        return Interval(value * (1 - rtol / 2), value * (1 + rtol / 2))

    meets, fails = boundary(curve, 1e-6, 1.0, 100.0, 1e-3)
    assert meets <= 10 <= fails <= meets * 1.001
    assert len(calls) <= 14


def test_a_value_that_cannot_be_told_from_the_target_stops_the_search():
    meets, fails = boundary(lambda x, rtol: Interval(x / 1.1, x * 1.1), 1.0, 0.5, 2.0, 1e-9)
    assert meets * 1.1 <= 1 < fails / 1.1


@pytest.mark.parametrize("n", [1_000, 10**5, 10**9])
@pytest.mark.parametrize("source", [ss.KRR(k=10, eps0=4), ss.OUE(d=64, eps0=4), decomposition.clones(2)])
def test_an_epsilon_takes_a_handful_of_deltas_and_meets_its_target(monkeypatch, source, n):
    calls = []
    one = sources.Source.hockey_sticks
    monkeypatch.setattr(sources.Source, "hockey_sticks", lambda *given: calls.append(given) or one(*given))
    M = shuffled_laws(source, n)
    found = M.epsilon(1e-6)
    assert len(calls) <= 9
    assert found.relative_width <= 1e-3
    assert M.delta(found.upper, rtol=1e-4).lower <= 1e-6 <= M.delta(found.lower, rtol=1e-4).upper


@pytest.mark.parametrize(
    ("make", "eps0"),
    [(ss.Laplace, 3.5), (ss.AnyRandomizer, 1), (ss.BinaryRR, 2), (decomposition.clones, 1), (decomposition.clones, 2)],
)
def test_one_user_is_never_said_to_be_too_few_where_the_target_is_the_local_delta(make, eps0):
    """δ of one user is known, and the target is the smallest double above it: decided exactly, or left open."""
    with mpmath.workdps(40):
        t, alpha = mpmath.exp(eps0), mpmath.exp(mpmath.mpf(1) / 2)
        local = 1 - mpmath.sqrt(alpha / t) if make is ss.Laplace else (t - alpha) / (t + 1)
        target = float(local)
        enough = mpmath.mpf(repr(target)) >= local
    found = ss.users_needed(make(eps0=eps0), 0.5, target, rtol=0.2)
    assert found.lower <= 1 if enough else found.upper >= 2
    with mpmath.workdps(40):
        target = float(local) * (1 + 2**-52)
        assert mpmath.mpf(repr(target)) > local
    assert ss.users_needed(make(eps0=eps0), 0.5, target, rtol=0.2).lower == 1


@pytest.mark.exact
@pytest.mark.parametrize("R", [ss.KRR(k=3, eps0=sp.log(3)), ss.BinaryRR(eps0=sp.log(5))])
def test_delta_of_the_mechanism_does_not_grow_with_n_and_the_smallest_number_of_users_is_inside(R):
    """By brute force over all neighbouring datasets: what a search over n relies on."""
    for alpha in (q(1), q(5, 4)):
        truths = [ss.ground_truth.worst_pair(R, n, alpha).delta for n in range(1, 5)]
        assert all(fewer >= more for fewer, more in pairwise(truths))
        for delta in {float(d) for d in truths if 0 < d < 1}:
            for target in (math.nextafter(delta, 0), delta):
                needed = next((n for n, d in enumerate(truths, 1) if d <= q(str(target))), 5)
                found = ss.users_needed(R, sp.log(alpha), target, rtol=0.2)
                assert found.lower <= needed
                assert needed == 5 or needed <= found.upper


def test_a_number_of_users_is_called_too_small_only_if_that_is_known(monkeypatch):
    monkeypatch.setattr(ss.Shuffle, "delta", lambda M, eps, rtol: ss.Interval(0.0, 0.25))
    with pytest.raises(ValueError, match=r"not known to be reached by any n <= 2\^53: .* our bound 0.25"):
        ss.users_needed(ss.BinaryRR(eps0=9), 1, 0.1)


def test_a_delta_that_no_local_level_reaches_is_refused():
    with pytest.raises(ValueError, match="is not reached by any eps0 >= 1e-12"):
        ss.calibrate(decomposition.clones, 6, 0, 1e-200)


def test_more_users_are_asked_where_a_straight_line_meets_the_target_and_at_most_eight_times_as_many():
    assert inverses._more_users((0.0, 10.0), (100.0, 8.0)) == 601  # it meets it at 500
    assert inverses._more_users((0.0, 10.0), (100.0, 1.0)) == 134  # at 111
    assert inverses._more_users((0.0, 1.0), (100.0, 1.0)) == 800
    assert inverses._more_users((0.0, 1.0), (100.0, 0.999)) == 800
