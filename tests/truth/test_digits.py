"""Many digits at any n: against powers of integer polynomials, sums written down here, and two other programs."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import combinations, pairwise

import mpmath
import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from flint import arb, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import balls
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.binomial import bernstein_reach
from shuffle_sym.truth import central_sum
from shuffle_sym.truth.exact import (
    MOST_SECONDS,
    CentralSum,
    _seconds_of_fractions,
    enclosure,
    reduction_pair_divergence,
)

q = sp.Rational
LOG3 = sp.log(3)
LAWS = {
    "2-RR": ss.decomposition.blanket(ss.BinaryRR(eps0=LOG3)),
    "3-RR": ss.decomposition.blanket(ss.KRR(k=3, eps0=LOG3)),
    "10-RR": ss.decomposition.blanket(ss.KRR(k=10, eps0=LOG3)),
    "clones": ss.decomposition.clones(LOG3),
    "3-RR, others 2": ss.decomposition.dataset(ss.KRR(k=3, eps0=LOG3), 0, 1, 2),
    "2-RR, others 0": ss.decomposition.dataset(ss.BinaryRR(eps0=LOG3), 0, 1, 0),
    "OUE, five values": ss.decomposition.blanket(ss.OUE(d=3, eps0=LOG3)),
    "lopsided": ss.model.Decomposition(
        [q(4, 10), q(3, 10), q(2, 10), q(1, 10)],
        [q(2, 10), q(1, 10), q(4, 10), q(3, 10)],
        [q(1, 8), q(1, 4), q(1, 8), q(1, 2)],
    ),
}


def by_a_power_of_a_polynomial(D, n: int, alpha: Fraction) -> Fraction:
    """G on a lattice: the coefficients of (Σ p x^g)^n are the law of the sum."""
    masses = D.exact()
    atoms = [(a - alpha * b, c) for a, b, c in zip(masses.a, masses.b, masses.c, strict=True)]
    values = [(gap / c, c) for gap, c in atoms if c] + [(Fraction(0), masses.beta)]
    unit, whole = (math.lcm(*(pair[i].denominator for pair in values)) for i in (0, 1))
    lowest = min(value for value, _ in values)
    coefficients: dict[int, int] = {}
    for value, mass in values:
        place = int((value - lowest) * unit)
        coefficients[place] = coefficients.get(place, 0) + int(mass * whole)
    power = fmpz_poly([coefficients.get(i, 0) for i in range(max(coefficients) + 1)]) ** n
    zero = -int(lowest * unit * n)
    total = sum(int(power[i]) * (i - zero) for i in range(max(zero, 0), power.degree() + 1))
    null = sum((max(gap, 0) for gap, c in atoms if not c), Fraction(0))
    return null + Fraction(total, unit * n * whole**n)


def assert_contains(ball, truth: Fraction, digits: int) -> None:
    lower, upper = balls.ends(ball)
    assert lower <= truth <= upper
    assert upper - lower <= 2 * truth / 10**digits


@pytest.mark.parametrize("alpha", [q(6, 5), q(1), q(1, 2), q(29, 10)])
@pytest.mark.parametrize("name", LAWS)
def test_the_power_of_a_polynomial_is_inside(name, alpha):
    for n, digits in ((1, 30), (2, 3), (7, 1), (40, 30), (250, 2)):
        if name == "OUE, five values" and n > 50:
            continue
        truth = by_a_power_of_a_polynomial(LAWS[name], n, Fraction(alpha))
        assert_contains(enclosure(LAWS[name], n, Ratio(alpha=alpha), digits, ""), truth, digits)


@pytest.mark.parametrize("name", ["3-RR", "lopsided"])
def test_every_choice_of_pairs_gives_the_same(name, monkeypatch):
    n, digits = 60, 15
    truth = by_a_power_of_a_polynomial(LAWS[name], n, Fraction(11, 10))
    for outer in combinations(range(4), 2):
        inner = tuple(i for i in range(4) if i not in outer)
        monkeypatch.setattr(CentralSum, "plan", property(lambda one, pair=outer, rest=inner: one._plan(pair, rest)))
        assert_contains(CentralSum(LAWS[name].gparv, Ratio(alpha=q(11, 10)), n, digits).value(), truth, digits)


@pytest.mark.parametrize("name", ["3-RR", "clones", "lopsided"])
def test_what_lies_outside_narrow_windows_is_inside_the_ball(name):
    truth = by_a_power_of_a_polynomial(LAWS[name], 250, Fraction(11, 10))
    one = CentralSum(LAWS[name].gparv, Ratio(alpha=q(11, 10)), 250, 10)
    one.log_outside = -3.0
    lower, upper = balls.ends(one._value())
    assert lower <= truth <= upper
    assert truth - lower > truth / 10**6  # seen, had it been forgotten


def test_a_tail_that_is_cut_early_contains_the_whole():
    with balls.LOCK, balls.workprec(100):
        tail = central_sum._Tail(arb(1), arb(1), 1, 8)
        tail.to(400, 200)
        lower, upper = balls.ends(tail.below)
    truth = Fraction(sum(math.comb(400, i) for i in range(200)), 2**400)
    assert lower <= truth <= upper
    assert upper - lower > truth / 10**6


@given(decompositions(largest=4), st.integers(1, 5), alphas, st.sampled_from([2, 25]))
def test_the_divergence_of_the_reduction_pair_is_inside(D, n, alpha, digits):
    ratio = alpha if n % 2 else 1 / alpha
    truth = reduction_pair_divergence(D, n, Fraction(ratio))
    assert_contains(enclosure(D, n, Ratio(alpha=ratio), digits, ""), truth, digits)


def test_three_messages_and_ten_thousand_users_as_two_other_programs_have_it():
    found = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=3, eps0=1)), 10**4).delta(q(3, 100), digits=33)
    assert str(found.lower).startswith("0.00001278062981338742816168064968088106"[:40])
    assert found.relative_width < 1e-33


@pytest.mark.parametrize(("n", "eps"), [(6_000, q(1, 50)), (6_000, q(1, 2))])
def test_six_thousand_users_of_two_messages_term_by_term(n, eps):
    # G is 1 − α/t with probability t/(t + 1), 1 − αt otherwise; S is positive up to some number k of the latter.
    mp = mpmath.MPContext()
    mp.dps = 60
    t, alpha = mp.e, mp.exp(mp.mpf(int(eps.p)) / int(eps.q))
    p, gain, loss, total = 1 / (1 + t), 1 - alpha / t, 1 - alpha * t, mp.mpf(0)
    term = (1 - p) ** n
    for k in range(n + 1):
        total += term * max((n - k) * gain + k * loss, 0)
        term = term * (n - k) / (k + 1) * (p / (1 - p))
    found = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0), n).delta(eps, digits=40)
    assert abs(mp.mpf(str(found.lower)) * n / total - 1) < mp.mpf(10) ** -40
    assert abs(mp.mpf(str(found.upper)) * n / total - 1) < mp.mpf(10) ** -40


def test_fewer_digits_give_wider_intervals_around_narrower_ones():
    M = ss.Shuffle(ss.decomposition.clones(1), 10**5)
    found = [M.delta(0.02, digits=digits) for digits in (2, 5, 20, 60)]
    for wide, narrow in pairwise(found):
        assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
        assert narrow.width < wide.width


def test_values_of_one_size_and_masses_of_another():
    tiny = q(1, 10**300)
    D = ss.model.Decomposition([tiny, 1 - tiny], [tiny / 2, 1 - tiny / 2], [tiny, 1 - tiny])
    for n in (1, 2, 5):
        truth = reduction_pair_divergence(D, n, Fraction(11, 10))
        assert_contains(enclosure(D, n, Ratio(alpha=q(11, 10)), 20, ""), truth, 20)
    far = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=5000), 0, 1, 1), 10**4).delta(49, digits=20)
    assert far.lower > q(9, 10)
    assert far.upper == 1


def test_nothing_and_less_than_all_above_the_largest_loss_and_far_below_one():
    M = ss.Shuffle(LAWS["3-RR"], 10**4)
    assert M.delta(LOG3, digits=30) == ss.Interval(0, 0)
    # Below 1/3 every message is more probable under x0: 1 − α, and hardly more at 1/2.
    assert q(2, 3) in M.hockey_stick(q(1, 3), digits=30)
    assert q(1, 2) in M.hockey_stick(q(1, 2), digits=30)


def test_what_takes_too_long_is_refused_before_it_is_begun_and_the_advice_can_be_followed():
    D = LAWS["3-RR"]
    start = time.process_time()
    with pytest.raises(ValueError, match=r"digits = 30 .* up to n = \d+ .* got n = 1000000000; delta") as refusal:
        ss.Shuffle(D, 10**9).delta(0.001, digits=30)
    assert time.process_time() - start < 2
    most = int(str(refusal.value).split("up to n = ")[1].split()[0])
    sums = [CentralSum(D.gparv, Ratio(eps=q("0.001")), n, 32).seconds for n in (most, most + 1)]
    assert sums[0] <= MOST_SECONDS < sums[1]


def test_the_first_tail_of_a_sum_with_two_values_counts_in_what_the_sum_takes():
    # Its terms fall by the standard deviation of a binomial law, here 7 million.
    D = ss.decomposition.Decomposition(["1/5", "4/5"], ["19/100", "81/100"], ["9/10", "1/10"])
    assert CentralSum(D.gparv, Ratio(alpha=1 + q(9, 500000000)), 573785861787016, 17).seconds > 50
    with pytest.raises(ValueError, match=r"6.3e-06 was reached"):
        ss.Shuffle(D, 573785861787016).hockey_stick(1 + q(9, 500000000), rtol=1e-8)


# ------------------------------------------------------------------------------------- in the place of doubles


def test_few_users_are_answered_to_many_digits():
    D = ss.decomposition.blanket(ss.KRR(k=3, eps0=1))
    for n in (2, 5, 10):
        found = ss.Shuffle(D, n).delta(0.1, rtol=1e-9)
        assert found.relative_width <= 1e-9
        assert shuffled_laws(D, n).exact(sp.exp(q(1, 10)), digits=30) in found


def test_a_tolerance_that_no_contour_meets_is_met_by_the_sum():
    M = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=3, eps0=1)), 10**3)
    with pytest.raises(ValueError, match="larger rtol"):
        M.delta(0.1, rtol=1e-13, method="contour")
    found = M.delta(0.1, rtol=1e-13)
    assert found.method == "exact"
    assert M.delta(0.1, digits=20).lower in found
    assert found.relative_width <= 1e-13


def test_the_window_of_a_sum_has_room_for_the_doubles_that_place_it():
    n = 10**15
    one = CentralSum(LAWS["clones"].gparv, Ratio(alpha=1 + q(1, 10**7)), n, 10)
    for outer, inner in (((0, 1), (2,)), ((0, 2), (1,)), ((1, 2), (0,))):
        plan = one._plan(outer, inner)
        narrow = bernstein_reach(n, one._share(outer, inner), one.log_outside)
        assert len(plan.window) >= 2 * narrow + 2 * n // 10**12  # a share is right to 1e-12


def test_a_plan_counts_the_steps_of_every_tail_that_is_moved():
    # Two values next to each other and one far away: with every M the tail of the two moves a thousand places.
    D = ss.decomposition.Decomposition(["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/1000", "1/2", "499/1000"])
    one = CentralSum(D.gparv, Ratio(alpha=q(11, 10)), 10**6, 10)
    values = one.values
    places = sorted(range(3), key=values.__getitem__)
    outer, inner = tuple(sorted(places[:2])), (places[2],)
    moved = abs(values[outer[0]] - values[inner[0]]) / abs(values[outer[0]] - values[outer[1]])
    assert moved > 100
    plan = one._plan(outer, inner)
    assert plan.seconds >= len(plan.window) * moved * central_sum._SECONDS_OF_STEP


def test_sums_of_long_fractions_are_expected_to_take_longer():
    short, long = (
        ss.decomposition.Decomposition(["1/2", "1/2"], ["1/4", "3/4"], [third, 1 - third])
        for third in (q(1, 3), q(10**200, 3 * 10**200 + 1))
    )
    seconds = [_seconds_of_fractions(D.gparv.fractions(sp.Integer(1)), 200) for D in (short, long)]
    assert seconds[1] > 50 * seconds[0]  # 200 numerators of 130,000 bits in place of 300
