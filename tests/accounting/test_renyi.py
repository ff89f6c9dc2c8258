"""Rényi moments, the bounds of Girgis et al. 2021, and what is made of Rényi curves."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from conftest import decompositions
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from checks import renyi_grid
from shuffle_sym.accounting import rdp
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.papers.bounds import reduction
from shuffle_sym.papers.bounds.binomial_moments import log_cdf_upper, log_excess
from shuffle_sym.papers.derivations.renyi import central_moment, n, p
from shuffle_sym.truth import exact, ground_truth

q = sp.Rational
RATIOS = [q(3, 2), sp.Integer(2), sp.Integer(3), sp.Integer(5)]
UPPER = [bounds.girgis2021_thm31, bounds.girgis2021_thm33, bounds.girgis2021_thm36, bounds.girgis2021_eq9]


def literal_moment(pair, order):
    """E_Q[(P/Q)^λ] of {outcome: (P, Q)}, outcome by outcome."""
    return sum((x**order / y ** (order - 1) for x, y in pair.values() if x), Fraction(0))


# ------------------------------------------------------------------------------------------------ exact moments


@pytest.mark.exact
@given(D=decompositions(4), users=st.integers(1, 4), order=st.integers(2, 5))
def test_the_moment_of_a_decomposition_is_that_of_its_reduction_pair(D, users, order):
    pair = exact.reduction_pair(D.exact(), users)
    if any(x and not y for x, y in pair.values()):
        with pytest.raises(ValueError, match="infinite"):
            exact.renyi_moment(D, users, order)
    else:
        assert exact.renyi_moment(D, users, order) == literal_moment(pair, order)


@pytest.mark.exact
@pytest.mark.parametrize(
    "R", [ss.BinaryRR(eps0=sp.log(3)), ss.KRR(k=3, eps0=sp.log(2)), ss.RAPPOR(d=2, eps0=sp.log(4))]
)
@pytest.mark.parametrize("order", [2, 3, 7])
def test_brute_force_over_two_datasets_is_the_decomposition_of_that_dataset(R, order):
    last = int(R.input_count) - 1
    for users in (1, 2, 4):
        D = decomposition.dataset(R, 0, 1, last)
        X0, X1 = (0, *[last] * (users - 1)), (1, *[last] * (users - 1))
        assert exact.renyi_moment(D, users, order) == ground_truth.renyi_moment(R, X0, X1, order)
        assert exact.renyi_moment(D.reversed(), users, order) == ground_truth.renyi_moment(R, X1, X0, order)


@pytest.mark.exact
def test_no_pair_of_datasets_is_above_the_blanket():
    for R in (ss.BinaryRR(eps0=sp.log(3)), ss.KRR(k=3, eps0=sp.log(4)), ss.BLH(d=3, eps0=sp.log(2))):
        for users, order in itertools.product((1, 2, 3), (2, 5)):
            (worst,) = ground_truth.worst_moments(R, users, [order])
            assert worst.moment == ground_truth.renyi_moment(R, worst.X0, worst.X1, order)
            assert worst.moment <= exact.renyi_moment(decomposition.blanket(R), users, order)
            assert worst.moment <= exact.renyi_moment(decomposition.clones_one_sided(R.eps0), users, order)


@pytest.mark.exact
@pytest.mark.parametrize("t", RATIOS)
def test_2_rr_at_any_n_is_the_decomposition_and_its_central_moments(t):
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(t)), 1, 0, 0)
    for users, order in itertools.product((1, 2, 5, 9), (2, 3, 8)):
        assert exact.two_rr_moment(sp.log(t), users, order) == exact.renyi_moment(D, users, order)
        reverse = exact.two_rr_moment(sp.log(t), users, order, reverse=True)
        assert reverse == exact.renyi_moment(D.reversed(), users, order)
    for users, order in ((10**6, 5), (10**9, 12)):
        scale, values = (t**2 - 1) / (users * t), {n: users, p: 1 / (t + 1)}
        terms = (math.comb(order, i) * scale**i * central_moment(i).subs(values) for i in range(order + 1))
        assert exact.two_rr_moment(sp.log(t), users, order) == sum(terms)


@pytest.mark.exact
def test_moments_in_digits_agree_with_fractions_and_real_orders_lie_between():
    for reverse in (False, True):
        values = []
        for order in (2, q(5, 2), 3):
            values.append(exact.two_rr_moment(sp.log(3), 20, order, reverse=reverse, digits=40))
        known = [exact.two_rr_moment(sp.log(3), 20, order, reverse=reverse) for order in (2, 3)]
        with mpmath.workdps(45):
            assert abs(values[0] - mpmath.mpf(known[0].p) / known[0].q) < mpmath.mpf(10) ** -38
            assert abs(values[2] - mpmath.mpf(known[1].p) / known[1].q) < mpmath.mpf(10) ** -38
            # The logarithm of the moment is convex in the order.
            assert values[1] ** 2 < values[0] * values[2]
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0)
    with mpmath.workdps(45):
        by_decomposition = exact.renyi_moment(D, 20, q(5, 2), digits=40)
        assert abs(by_decomposition - exact.two_rr_moment(sp.log(3), 20, q(5, 2), digits=40)) < mpmath.mpf(10) ** -37
        literal = ground_truth.renyi_moment(ss.BinaryRR(eps0=sp.log(3)), (1, 0, 0), (0, 0, 0), q(5, 2), digits=40)
        assert abs(literal - exact.two_rr_moment(sp.log(3), 3, q(5, 2), digits=40)) < mpmath.mpf(10) ** -37
        irrational = exact.renyi_moment(decomposition.dataset(ss.BinaryRR(eps0=1), 1, 0, 0), 6, 3, digits=40)
        assert abs(irrational - exact.two_rr_moment(1, 6, 3, digits=40)) < mpmath.mpf(10) ** -37


# ------------------------------------------------------------------------------------------------ bounds


def randomizers(t):
    e = sp.log(t)
    return [ss.BinaryRR(eps0=e), ss.KRR(k=3, eps0=e), ss.KRR(k=6, eps0=e), ss.BLH(d=3, eps0=e), ss.OUE(d=3, eps0=e)]


@pytest.mark.parametrize("t", RATIOS)
def test_no_bound_is_below_an_exact_divergence(t):
    for R, users in itertools.product(randomizers(t), (1, 2, 5, 12)):
        last = int(R.input_count) - 1
        D = decomposition.dataset(R, 0, 1, last)
        for order in (2, 3, 7, 12):
            for direction in (D, D.reversed()):
                truth = exact.renyi_divergence(exact.renyi_moment(direction, users, order), order, digits=20)
                for bound in UPPER:
                    assert bound(sp.log(t), users, order) >= truth, (R, bound.__name__)
                assert bounds.girgis2021_thm31(sp.log(t), users, order, "best") >= truth


@pytest.mark.parametrize("t", RATIOS)
def test_no_bound_is_below_the_worst_of_all_datasets(t):
    orders = [2, 3, 6, 12]
    for R, users in itertools.product(randomizers(t)[:3], (2, 3, 4)):
        for order, worst in zip(orders, ground_truth.worst_moments(R, users, orders), strict=True):
            truth = exact.renyi_divergence(worst.moment, order, digits=20)
            assert all(bound(sp.log(t), users, order) >= truth for bound in UPPER)


@pytest.mark.parametrize("t", RATIOS)
def test_the_simplified_bound_is_above_theorem_3_6_wherever_it_applies(t):
    for order in (2, 3, 5, 12):
        least = int(sp.floor(9 * order**4 * t**5)) + 1
        for users in (least, least + 1, 3 * least, 100 * least):
            simplified = bounds.girgis2021_cor32(sp.log(t), users, order)
            assert bounds.girgis2021_thm36(sp.log(t), users, order) <= simplified
            # The proof shows it with 11/10 in place of 4.
            sharper = math.log1p(math.comb(order, 2) * 1.1 * float(t - 1) ** 2 / users) / (order - 1)
            assert bounds.girgis2021_thm36(sp.log(t), users, order) <= sharper * 1.01
        with pytest.raises(ValueError, match="order must satisfy"):
            bounds.girgis2021_cor32(sp.log(t), least - 1, order)


def test_lower_bounds_are_below_2_rr_and_in_order():
    for t, users, order in itertools.product(RATIOS, (1, 2, 12, 1000, 10**9), (2, 3, 12, 40)):
        truth = exact.renyi_divergence(exact.two_rr_moment(sp.log(t), users, order), order, digits=40)
        found = bounds.girgis2021_thm34(sp.log(t), users, order)
        assert truth * (1 - mpmath.mpf("1e-8")) <= found <= truth
        assert bounds.girgis2021_cor35(sp.log(t), users, order) <= truth
        assert found <= bounds.girgis2021_thm36(sp.log(t), users, order)


@pytest.mark.parametrize("eps0", ["1/10000", "1/10", "1", "3", "6"])
@pytest.mark.parametrize("users", [1, 2, 30, 1000, 10**6, 10**9])
def test_moments_in_doubles_have_the_exact_one_inside(eps0, users):
    for order in (2, 3, 20, 200):
        moment = exact.two_rr_moment(q(eps0), users, order, digits=60)
        with mpmath.workdps(60):
            truth = mpmath.log(moment - 1)
            (lower,), (upper,) = log_excess(float(q(eps0)), users, order)
            assert lower <= truth <= upper
            assert upper - lower < 1e-6


def test_binomial_tails_are_not_below_exact_ones():
    for count, t in ((5, 2), (60, 3), (300, 5)):
        chance, total = Fraction(1, t), Fraction(0)
        for k in range(count):
            total += math.comb(count, k) * chance**k * (1 - chance) ** (count - k)
            (found,) = log_cdf_upper(np.array([k]), count, 1 / t)
            with mpmath.workdps(40):
                truth = mpmath.log(mpmath.mpf(total.numerator) / total.denominator)
                assert truth <= found <= truth + 1e-5
    assert log_cdf_upper(np.array([-1]), 10, 0.5)[0] == -math.inf
    # A billion users, at the mean: a half, up to 1/(2σ) and the skew.
    assert abs(math.exp(log_cdf_upper(np.array([5 * 10**7]), 10**9, 0.05)[0]) - 0.5) < 1e-4


@pytest.mark.parametrize("t", [q(3, 2), sp.Integer(5)])
def test_theorem_3_6_is_the_moment_of_the_one_sided_clones(t):
    for users, order in itertools.product((1, 2, 9, 64, 65, 250), (2, 5, 30)):
        moment = exact.renyi_moment(decomposition.clones_one_sided(sp.log(t)), users, order)
        truth = exact.renyi_divergence(moment, order, digits=20)
        found = bounds.girgis2021_thm36(sp.log(t), users, order)
        assert truth <= found <= truth * (1 + 1e-5 if users <= 64 else 1.01)


@pytest.mark.parametrize("t", [q(11, 10), q(3, 2), sp.Integer(3), sp.Integer(20)])
def test_g_falls_from_the_order_on_and_the_moment_always(t):
    for order in (2, 4, 5, 9, 12):
        excesses = [exact.two_rr_moment(sp.log(t), users, order) - 1 for users in range(1, 3 * order)]
        assert all(x >= y for x, y in itertools.pairwise(excesses))
        G = [users * x for users, x in enumerate(excesses, start=1)][order - 1 :]
        assert all(x >= y for x, y in itertools.pairwise(G))


def reduced(eps0, users, order):
    """log E[M(m + 1)]/(λ − 1), term by term, with 40 digits: m and K as independent sums."""
    t = mpmath.exp(mpmath.mpf(eps0))
    p, double = 1 / (1 + t), 1 / t
    total = mpmath.mpf(0)
    for m in range(users):
        moment = mpmath.fsum(
            mpmath.binomial(m + 1, k) * p**k * (1 - p) ** (m + 1 - k) * (1 / t + (t - 1 / t) * k / (m + 1)) ** order
            for k in range(m + 2)
        )
        total += mpmath.binomial(users - 1, m) * double**m * (1 - double) ** (users - 1 - m) * moment
    return mpmath.log(total) / (order - 1)


@pytest.mark.parametrize(
    ("eps0", "users", "order"),
    # Few doubles; moments; tangents; sums by steps and by tables; λ above and below n.
    [(18.125, 40, 1964), (4, 150, 3), (3, 120, 20), (0.015625, 140, 3000), (0.5, 130, 40), (1.5, 150, 80), (9, 100, 6)],
)
def test_theorem_3_6_is_its_sum_rounded_up(eps0, users, order):
    with mpmath.workdps(40):
        truth = reduced(eps0, users, order)
        assert truth <= bounds.girgis2021_thm36(eps0, users, order) <= truth * mpmath.mpf("1.01")


def test_each_of_the_three_bounds_of_the_moment_is_one():
    for eps0, order in itertools.product((0.01, 0.5, 2.0, 8.0), (2, 3, 5, 12, 60, 200)):
        law = reduction.Law.of(eps0, order)
        sizes = np.array([1.0, 2, 7, 30, 64, 129, 300, 1000])
        with np.errstate(all="ignore"):
            small, _ = reduction._moments(law, sizes)
            tangent, _, centre, spread = reduction._tangent(law, sizes)
            summed = reduction._sum(law, sizes, centre, spread)
            tabled = reduction._table(law, sizes[:5])
        for i, users in enumerate(sizes.astype(int)):
            moment = exact.two_rr_moment(q(eps0), users, order, digits=50)
            with mpmath.workdps(50):
                assert moment - 1 <= small[i]
                truth = mpmath.log(moment)
                assert truth <= tangent[i]
                assert truth <= summed[i] <= truth + mpmath.mpf("1e-6") + truth * mpmath.mpf("1e-6")
                assert i > 4 or truth <= tabled[i] <= truth + mpmath.mpf("1e-7")


def test_theorem_3_6_is_never_above_theorem_3_1_and_close_to_its_leading_term():
    for eps0, users, order in itertools.product((0.1, 0.5, 3), (10, 1000, 10**6, 10**9), (2, 10, 200, 10_000)):
        best, first = bounds.girgis2021_thm36(eps0, users, order), bounds.girgis2021_thm31(eps0, users, order)
        assert bounds.girgis2021_thm34(eps0, users, order) <= best <= first
        assert best <= eps0 * 1.000001
    leading = math.expm1(0.5) ** 2 / 10**9
    assert leading * 0.9999 < bounds.girgis2021_thm36(0.5, 10**9, 2) < leading * 1.001


def formula31(eps0, users, order, gamma):
    t = mpmath.exp(eps0)
    size = mpmath.floor((1 - gamma) * (users - 1) / t) + 1
    total = 1 + mpmath.binomial(order, 2) * (t - 1) ** 2 / (size * t)
    base = (t**2 - 1) ** 2 / (2 * t**2 * size)
    for i in range(3, order + 1):
        total += mpmath.binomial(order, i) * i * mpmath.gamma(mpmath.mpf(i) / 2) * base ** (mpmath.mpf(i) / 2)
    return mpmath.log(total + mpmath.exp(eps0 * order - (users - 1) * gamma**2 / (2 * t))) / (order - 1)


def test_closed_forms_in_doubles_are_their_formulas_rounded_up():
    with mpmath.workdps(60):
        for eps0, users, order in itertools.product((0.125, 1, 4), (1, 50, 10**4, 10**9), (2, 3, 50, 700)):
            e = mpmath.mpf(eps0)
            t = mpmath.exp(e)
            size = mpmath.floor((users - 1) / (2 * t)) + 1
            first, last = order**2 * (t - 1) ** 2 / size, e * order - (users - 1) / (8 * t)
            cases = [
                (bounds.girgis2021_thm31(eps0, users, order), formula31(e, users, order, mpmath.mpf(1) / 2)),
                (bounds.girgis2021_thm31(eps0, users, order, 0.25), formula31(e, users, order, mpmath.mpf(1) / 4)),
                (
                    bounds.girgis2021_thm33(eps0, users, order),
                    (mpmath.log(mpmath.exp(first) + mpmath.exp(last))) / (order - 1),
                ),
                (bounds.girgis2021_eq9(eps0, users, order), order * 2 * t**4 * (t - 1) ** 2 / users),
            ]
            for found, truth in cases:
                assert truth <= found <= truth * (1 + mpmath.mpf("3e-9"))
            low = mpmath.log(1 + mpmath.binomial(order, 2) * (t - 1) ** 2 / (users * t)) / (order - 1)
            assert low * (1 - mpmath.mpf("3e-9")) <= bounds.girgis2021_cor35(eps0, users, order) <= low


def test_a_whole_number_of_doubles_is_not_rounded_down():
    # t = 2 and n = 5: (n − 1)/(2t) is 1, so n̄ is 2 and not 1; with t = 2 in doubles it might be either.
    with mpmath.workdps(40):
        truth = formula31(mpmath.log(2), 5, 2, mpmath.mpf(1) / 2)
        assert truth <= bounds.girgis2021_thm31(sp.log(2), 5, 2) <= truth * (1 + mpmath.mpf("3e-9"))
        assert formula31(mpmath.log(2) + mpmath.mpf("1e-30"), 5, 2, mpmath.mpf(1) / 2) > truth * mpmath.mpf("1.03")


def test_the_best_gamma_is_not_worse_than_others_and_saves_the_factor_two_of_remark_3():
    for eps0, users, order in itertools.product((0.1, 1, 3), (1, 2, 100, 10**6), (2, 9, 80)):
        best = bounds.girgis2021_thm31(eps0, users, order, "best")
        gamma = bounds.girgis2021_best_gamma(eps0, users, order)
        assert 0 < gamma <= 1
        for other in (0.5, 1, min(gamma * 1.1, 1), gamma * 0.9):
            assert best <= bounds.girgis2021_thm31(eps0, users, order, other) * (1 + 1e-6)
    saved = bounds.girgis2021_thm31(0.5, 10**8, 10) / bounds.girgis2021_thm31(0.5, 10**8, 10, "best")
    assert 1.99 < saved < 2.01
    # The γ printed in Remark 3 leaves the last term above 1, and more users do not help.
    for users in (10**4, 10**9):
        printed = math.sqrt(2 * 0.5 * math.exp(0.5) / (users * math.log(users)))
        assert bounds.girgis2021_thm31(0.5, users, 10, printed) > 0.5


def test_large_orders_and_many_users_do_not_overflow():
    for eps0, users, order in itertools.product((1e-6, 0.1, 3, 20), (1, 10**4, 10**9), (2, 10_000)):
        values = [bound(eps0, users, order) for bound in (*UPPER, bounds.girgis2021_thm34, bounds.girgis2021_cor35)]
        assert all(math.isfinite(value) and value >= 0 for value in values)


def test_without_local_privacy_loss_there_is_none():
    assert (
        bounds.girgis2021_thm36(0, 10, 3) == bounds.girgis2021_thm34(0, 10, 3) == bounds.girgis2021_cor35(0, 10, 3) == 0
    )


# ------------------------------------------------------------------------------------------------ what the paper says


@pytest.mark.exact
def test_moments_are_written_out_up_to_order_12():
    assert derivations.rdp_moments(12).proved
    assert derivations.central_moments(12).proved
    for power in range(13):
        for users, chance in ((1, q(1, 3)), (4, q(2, 7))):
            direct = sum(
                sp.binomial(users, k) * chance**k * (1 - chance) ** (users - k) * (k - users * chance) ** power
                for k in range(users + 1)
            )
            assert central_moment(power).subs({n: users, p: chance}) == direct


@pytest.mark.exact
def test_the_lower_bound_of_theorem_3_4_is_not_tight():
    e, R = sp.log(2), ss.BinaryRR(eps0=sp.log(2))
    assert exact.two_rr_moment(e, 2, 2) == q(5, 4)
    assert exact.two_rr_moment(e, 2, 2, reverse=True) == q(13, 10)
    assert ground_truth.worst_moments(R, 2, [2]) == [ground_truth.WorstMoment((0, 0), (1, 0), q(13, 10))]
    # Not in the first order either: for t > 2 three values hide worse than two, 2(t − 1)²/(t + 2) against (t − 1)²/t.
    three = exact.renyi_moment(decomposition.dataset(ss.KRR(k=3, eps0=sp.log(5)), 0, 1, 2), 60, 2)
    assert three > max(exact.two_rr_moment(sp.log(5), 60, 2, reverse=r) for r in (False, True))


@pytest.mark.exact
def test_the_first_order_of_the_worst_randomizer_is_that_of_2_rr_up_to_t_2_and_of_3_rr_beyond():
    # Remark 7: n(moment − 1)/C(λ, 2) of 2-RR and 3-RR tend to (t − 1)²/t and 2(t − 1)²/(t + 2).
    for t in (q(3, 2), q(4)):
        limits = (t - 1) ** 2 / t, 2 * (t - 1) ** 2 / (t + 2)
        two = 10**7 * (exact.two_rr_moment(sp.log(t), 10**7, 3) - 1) / 3
        assert abs(two - limits[0]) < q(1, 10**5)
        D = decomposition.dataset(ss.KRR(k=3, eps0=sp.log(t)), 0, 1, 2)
        three = [users * (exact.renyi_moment(D, users, 2) - 1) for users in (60, 120)]
        # To first order in 1/n the difference halves when n doubles.
        assert abs(2 * three[1] - three[0] - limits[1]) < limits[1] / 100
        assert (limits[0] > limits[1]) == (t < 2)


@pytest.mark.exact
def test_no_random_randomizer_is_above_the_planes_of_remark_7():
    generator = random.Random(2)
    for _ in range(300):
        t = Fraction(generator.randint(11, 80), 10)
        rows = [[Fraction(generator.randint(1, 60)) for _ in range(generator.choice([2, 3, 4]))] for _ in range(3)]
        size = min(map(len, rows))
        a, b, c = ([min(max(x, Fraction(10)), 10 * t) for x in row[:size]] for row in rows)
        a, b, c = ([x / sum(row) for x in row] for row in (a, b, c))
        level = max(x / y for one in (a, b, c) for other in (a, b, c) for x, y in zip(one, other, strict=True))
        worst = max((level - 1) ** 2 / level, 2 * (level - 1) ** 2 / (level + 2))
        assert sum((x - y) ** 2 / z for x, y, z in zip(a, b, c, strict=True)) <= worst


@pytest.mark.parametrize("t", RATIOS)
def test_a_sample_of_the_grid_of_exact_moments_holds(t):
    count = 0
    for name, users in (("2-RR", 11), ("3-RR", 5), ("Hadamard K=4", 3), ("subsets 2 of 4", 9), ("OUE d=3", 2)):
        for comparison in renyi_grid.check(t, name, users, (2, 5, 11)):
            count += 1
            assert comparison.holds, comparison.detail
    assert count > 500


@pytest.mark.exact
def test_odd_central_moments_are_not_negative_up_to_one_half_and_only_there():
    for power, users, chance in itertools.product((3, 5, 7, 9), (1, 2, 5), (q(1, 100), q(1, 3), q(1, 2))):
        assert central_moment(power).subs({n: users, p: chance}) >= 0
    assert central_moment(3).subs({n: 1, p: q(3, 4)}) == q(-3, 32)


def test_theorem_3_1_does_not_simplify_to_corollary_3_2_and_does_not_beat_9_everywhere():
    # λ = 2, n = 145: the condition 16 t⁵ < 145/9 holds for t = 1.0001; the last term of (5) is then above all of (6).
    eps0 = sp.log(q(10001, 10000))
    assert bounds.girgis2021_thm31(eps0, 145, 2) > 50 * bounds.girgis2021_cor32(eps0, 145, 2)
    # At t = 11/10, n = 10, λ = 2 both upper bounds are far above (9).
    for bound in (bounds.girgis2021_thm31, bounds.girgis2021_thm33):
        assert bound(sp.log(q(11, 10)), 10, 2) > 50 * bounds.girgis2021_eq9(sp.log(q(11, 10)), 10, 2)


@pytest.mark.exact
def test_a_vertex_of_lemma_6_2_need_not_have_all_ratios_at_the_ends():
    # p = p' = (1, 0) is no mean of two other points with p'_j <= t p_j and p_j <= t p'_j: both would have to be (1, 0).
    # With t = 2 the largest Σ p'²/p − 1 over a grid of pairs of three messages is that of 2-RR, (t − 1)²/t = 1/2.
    grid = [w for w in itertools.product(range(13), repeat=3) if sum(w) == 12]
    largest = max(
        sum(Fraction(y * y, x) for x, y in zip(a, b, strict=True) if x) / 12 - 1
        for a, b in itertools.product(grid, repeat=2)
        if all(x <= 2 * y and y <= 2 * x for x, y in zip(a, b, strict=True))
    )
    assert largest == Fraction(1, 2)


def test_claim_1_fails_for_k_1_only():
    for order, k in itertools.product(range(1, 30), range(1, 30)):
        holds = math.comb(order, k) * k * math.gamma(k / 2) <= order**k
        assert holds == (k > 1)


# ------------------------------------------------------------------------------------------------ curves


def test_conversions_return_the_best_order_and_undo_each_other():
    for curve in (lambda order: order / 200, lambda order: 3e-7 * order, lambda order: min(order / 50, 0.3)):
        for level in (1e-3, 1e-8):
            found = rdp.epsilon(curve, level)
            everything = rdp.epsilon(curve, level, orders=range(2, 10_001))
            assert found.value == everything.value
            back = rdp.delta(curve, found.value, orders=[found.order])
            if found.value > 0:
                assert level * 0.999 < back.value <= level * (1 + 1e-9)
            assert rdp.delta(curve, found.value).value <= back.value


def test_conversion_is_the_printed_formula():
    with mpmath.workdps(40):
        for order, level in ((2, 1e-5), (17, 0.01)):
            extra = (
                mpmath.log(1 / mpmath.mpf(level))
                + (order - 1) * mpmath.log(1 - mpmath.mpf(1) / order)
                - mpmath.log(order)
            ) / (order - 1)
            found = rdp.epsilon(lambda order: 0.25, level, orders=[order]).value
            assert extra + 0.25 <= found < (extra + 0.25) * (1 + 1e-11)
            printed = (
                mpmath.exp((order - 1) * (0.25 - mpmath.mpf(2))) / (order - 1) * (1 - mpmath.mpf(1) / order) ** order
            )
            found = rdp.delta(lambda order: 0.25, 2, orders=[order]).value
            assert printed <= found < printed * (1 + 1e-10)


@pytest.mark.exact
@pytest.mark.parametrize("rounds", [1, 3])
def test_composed_curves_are_above_exact_rounds(rounds):
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0)
    pair = exact.shuffled_pair(D, 3)

    def curve(order):
        return float(exact.renyi_divergence(exact.renyi_moment(D, 3, order), order)) * (1 + 1e-12)

    for alpha in (q(6, 5), 2, 5):
        truth = exact.composed_divergence([pair] * rounds, alpha)
        found = rdp.delta(rdp.repeated(curve, rounds), sp.log(alpha), orders=range(2, 40))
        assert truth <= sp.Rational(found.value)
        assert rdp.delta(rdp.composed(*[curve] * rounds), sp.log(alpha), orders=range(2, 40)).value == pytest.approx(
            found.value, rel=1e-9
        )


def test_interpolated_orders_are_above_exact_real_ones():
    def curve(order):
        return float(exact.renyi_divergence(exact.two_rr_moment(sp.log(5), 4, order), order)) * (1 + 1e-12)

    smooth = rdp.interpolated(curve)
    assert smooth(3) == curve(3)
    for order in (q(5, 4), q(9, 4), q(7, 2), q(49, 5)):
        truth = exact.renyi_divergence(exact.two_rr_moment(sp.log(5), 4, order), order)
        assert truth <= smooth(order) <= truth * 1.5


def coin(t):
    return {"0": (Fraction(t, t + 1), Fraction(1, t + 1)), "1": (Fraction(1, t + 1), Fraction(t, t + 1))}


def test_poisson_subsampling_is_exact_in_one_direction_and_a_bound_in_the_other():
    rate = Fraction(1, 5)
    pair = {
        "a": (Fraction(1, 2), Fraction(1, 6)),
        "b": (Fraction(1, 3), Fraction(1, 3)),
        "c": (Fraction(1, 6), Fraction(1, 2)),
    }

    def curve(order):
        both = (literal_moment(pair, order), literal_moment({k: v[::-1] for k, v in pair.items()}, order))
        return math.log(max(both)) / (order - 1) * (1 + 1e-12)

    mixed = {k: (rate * x + (1 - rate) * y, y) for k, (x, y) in pair.items()}
    for order in (2, 3, 6, 15):
        forward = math.log(literal_moment(mixed, order)) / (order - 1)
        backward = math.log(literal_moment({k: v[::-1] for k, v in mixed.items()}, order)) / (order - 1)
        exact_one = rdp.poisson_subsampled(curve, 0.2, by="forward")(order)
        assert forward <= exact_one <= forward * (1 + 1e-8)
        for by in ("proved", "zhu2019"):
            assert max(forward, backward) <= rdp.poisson_subsampled(curve, 0.2, by=by)(order)


def test_no_random_pair_is_above_a_poisson_sampled_curve():
    generator = random.Random(5)

    def law(size):
        weights = [generator.randint(1, generator.choice([5, 1000])) for _ in range(size)]
        return [Fraction(w, sum(weights)) for w in weights]

    for _ in range(60):
        size, rate = generator.randint(2, 5), Fraction(generator.randint(1, 20), generator.choice([20, 200]))
        P, Q = law(size), law(size)
        mixed = [rate * x + (1 - rate) * y for x, y in zip(P, Q, strict=True)]

        def divergence(first, second, order):
            return math.log(literal_moment(dict(enumerate(zip(first, second, strict=True))), order)) / (order - 1)

        def curve(order, P=P, Q=Q):
            return max(divergence(P, Q, order), divergence(Q, P, order)) * (1 + 1e-12)

        for order in (2, 3, 7, 12):
            forward, backward = divergence(mixed, Q, order), divergence(Q, mixed, order)
            for by in ("proved", "zhu2019"):
                assert max(forward, backward) <= rdp.poisson_subsampled(curve, q(rate), by=by)(order)
            assert forward <= rdp.poisson_subsampled(curve, q(rate), by="forward")(order)


def test_the_backward_bounds_of_a_poisson_sample_are_three_and_the_least_counts():
    # λ = 4, γ = 1/10, curves that make each of the three the least.
    with mpmath.workdps(30):
        for level, expected in (
            (1e-4, 1 + 6 * mpmath.mpf("0.01") * mpmath.mpf("0.9") ** -5 * mpmath.expm1(mpmath.mpf(1e-4))),
            (50.0, mpmath.mpf("0.9") ** -3),
            (0.75, None),
        ):
            found = rdp._backward(4, 0.1, level, 3 * level)
            three = [
                1 + 6 * mpmath.mpf("0.01") * mpmath.mpf("0.9") ** -5 * mpmath.expm1(level),
                mpmath.mpf("0.9") ** -3,
                mpmath.mpf("0.9") + mpmath.mpf("0.1") * mpmath.exp(3 * level),
            ]
            assert expected is None or expected == pytest.approx(min(three), rel=1e-12)
            assert mpmath.log(min(three)) <= found * (1 + mpmath.mpf("1e-15"))
            assert found <= mpmath.log(min(three)) * (1 + mpmath.mpf("3e-9"))
    assert rdp._backward(4, 1.0, 0.5, 1.5) == pytest.approx(1.5, rel=1e-8)


def test_an_infinite_divergence_stays_infinite():
    def infinite(order):
        return math.inf

    assert rdp.poisson_subsampled(infinite, 0.1)(3) == math.inf
    assert rdp.sampled_without_replacement(infinite, 0.1, 1)(3) == math.inf
    assert rdp.epsilon(infinite, 0.1).value == math.inf
    assert rdp.delta(infinite, 1).value == 1


def test_a_sample_of_the_users_is_bounded_with_replaced_records():
    # 4 users, 2 of them drawn, 2-RR with t = 3: every pair of datasets, by brute force.
    t, users, drawn = 3, 4, 2

    def law(X):
        found: dict[int, Fraction] = {}
        for chosen in itertools.combinations(X, drawn):
            for messages in itertools.product((0, 1), repeat=drawn):
                mass = math.prod(
                    (
                        Fraction(t, t + 1) if x == y else Fraction(1, t + 1)
                        for x, y in zip(chosen, messages, strict=True)
                    ),
                    start=Fraction(1),
                )
                found[sum(messages)] = found.get(sum(messages), Fraction(0)) + mass / math.comb(users, drawn)
        return found

    def curve(order):
        (worst,) = ground_truth.worst_moments(ss.BinaryRR(eps0=sp.log(t)), drawn, [order])
        return float(exact.renyi_divergence(worst.moment, order)) * (1 + 1e-12)

    sampled = rdp.sampled_without_replacement(curve, q(drawn, users), sp.log(t))
    for order, others in itertools.product((2, 3, 5), itertools.combinations_with_replacement((0, 1), users - 1)):
        P, Q = law((0, *others)), law((1, *others))
        truth = math.log(literal_moment({k: (P[k], Q[k]) for k in P}, order)) / (order - 1)
        assert truth <= sampled(order)


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
