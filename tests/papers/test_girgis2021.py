"""The Rényi bounds of Girgis et al. 2021 against exact moments: no upper bound below, no lower bound above."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy import special
from sympy.core.function import AppliedUndef

import shuffle_sym as ss
from checks import renyi_grid
from shuffle_sym.accounting import rdp
from shuffle_sym.accounting.analyses import TABLE
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.papers.girgis2021 import reduction
from shuffle_sym.papers.girgis2021.binomial_moments import log_cdf_upper, log_excess
from shuffle_sym.papers.girgis2021.lower import central_moment, n, p
from shuffle_sym.truth import exact, ground_truth

q = sp.Rational
RATIOS = [q(3, 2), sp.Integer(2), sp.Integer(3), sp.Integer(5)]
UPPER = [bounds.girgis2021_thm31, bounds.girgis2021_thm33, bounds.girgis2021_thm36, bounds.girgis2021_eq9]


def randomizers(t):
    e = sp.log(t)
    return [ss.BinaryRR(eps0=e), ss.KRR(k=3, eps0=e), ss.KRR(k=6, eps0=e), ss.BLH(d=3, eps0=e), ss.OUE(d=3, eps0=e)]


@cache
def upper(t, users, order):
    """Name → value: the upper bounds know nothing of a randomizer but its level."""
    values = {bound.__name__: bound(sp.log(t), users, order) for bound in UPPER}
    return {**values, "the best gamma": bounds.girgis2021_thm31(sp.log(t), users, order, "best")}


@pytest.mark.parametrize("t", RATIOS)
def test_no_bound_is_below_an_exact_divergence(t):
    for R, users in itertools.product(randomizers(t), (1, 2, 5, 12)):
        if users > 5 and isinstance(R, (ss.BLH, ss.OUE)):
            users = 7  # they have eight kinds of messages
        last = int(R.input_count) - 1
        D = decomposition.dataset(R, 0, 1, last)
        for order in (2, 3, 7, 12):
            for direction in (D, D.reversed()):
                truth = exact.renyi_divergence(exact.renyi_moment(direction, users, order), order, digits=20)
                for name, value in upper(t, users, order).items():
                    assert value >= truth, (R, name)


@pytest.mark.parametrize("t", RATIOS)
def test_no_bound_is_below_the_worst_of_all_datasets(t):
    orders = [2, 3, 6, 12]
    for R, users in itertools.product(randomizers(t)[:3], (2, 3, 4)):
        for order, worst in zip(orders, ground_truth.worst_moments(R, users, orders), strict=True):
            truth = exact.renyi_divergence(worst.moment, order, digits=20)
            assert all(value >= truth for value in upper(t, users, order).values())


@pytest.mark.parametrize("t", RATIOS)
def test_the_simplified_bound_is_above_theorem_3_6_wherever_it_applies(t):
    for order in (2, 3, 5, 12):
        least = int(sp.floor(9 * order**4 * t**5)) + 1
        for users in (least, least + 1, 3 * least, 100 * least):
            simplified = bounds.girgis2021_cor32(sp.log(t), users, order)
            assert bounds.girgis2021_thm36(sp.log(t), users, order) <= simplified
            # It is loose: it holds with 11/10 in place of 4 here.
            sharper = math.log1p(math.comb(order, 2) * 1.1 * float(t - 1) ** 2 / users) / (order - 1)
            assert bounds.girgis2021_thm36(sp.log(t), users, order) <= sharper * 1.01
        with pytest.raises(ValueError, match="order must satisfy"):
            bounds.girgis2021_cor32(sp.log(t), least - 1, order)


@pytest.mark.exact
def test_the_simplified_bound_is_what_its_derivation_ends_in():
    (statement,) = derivations.corollary32().statement
    assert [str(one) for one in statement.under] == ["n >= 9*lambda**4*t**5", "t > 1"]
    names = {symbol.name: symbol for symbol in statement.right.free_symbols}
    for t, users, order in ((q(3, 2), 10**6, 3), (q(11, 10), 10**4, 5), (q(4), 10**7, 2)):
        value = statement.right.subs({names["t"]: t, names["n"]: users, names["lambda"]: order})
        assert 0 <= bounds.girgis2021_cor32(sp.log(t), users, order) / value - 1 < 2e-9


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
            math.comb(m + 1, k) * p**k * (1 - p) ** (m + 1 - k) * (1 / t + (t - 1 / t) * k / (m + 1)) ** order
            for k in range(m + 2)
        )
        total += math.comb(users - 1, m) * double**m * (1 - double) ** (users - 1 - m) * moment
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
        law = reduction.BinaryResponse.of(eps0, order)
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
    largest = mpmath.mpf(0)
    for i in range(3, order + 1):
        term = mpmath.binomial(order, i) * i * mpmath.gamma(mpmath.mpf(i) / 2) * base ** (mpmath.mpf(i) / 2)
        total, largest = total + term, max(largest, term)
        if term < largest * mpmath.mpf(10) ** -40:  # they rise to the largest and fall from there
            break
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


def log_moments_of_2_rr(eps0, sizes, order):
    """log E[r^λ] with every term of the binomial law within 14 standard deviations of where it and the terms are."""
    t = math.exp(eps0)
    logs = []
    for m in sizes:
        centre, spread = m / (t + 1), math.sqrt(m * t) / (t + 1)
        K = np.arange(max(math.floor(centre - 14 * spread), 0), min(math.ceil(centre + 30 * spread), m) + 1.0)
        law = special.gammaln(m + 1) - special.gammaln(K + 1) - special.gammaln(m - K + 1) - K * eps0
        ratio = 1 / t + (t - 1 / t) * K / m
        logs.append(np.logaddexp.reduce(law + order * np.log(ratio)) - m * math.log1p(1 / t))
    return np.array(logs)


def expectation_of_theorem_3_6(eps0, users, order):
    """The divergence of Theorem 3.6: every 30th number of doubles within 8 standard deviations, which is a tenth of one
    and loses nothing of a smooth sum."""
    q, others = math.exp(-eps0), users - 1
    reach = 8 * math.sqrt(others * q * (1 - q))
    m = np.arange(round(others * q - reach), round(others * q + reach), 30.0)
    law = special.gammaln(others + 1) - special.gammaln(m + 1) - special.gammaln(others - m + 1)
    weights = law + m * math.log(q) + (others - m) * math.log1p(-q) + math.log(30)
    logs = np.log(np.expm1(log_moments_of_2_rr(eps0, m + 1, order)))
    return math.log1p(math.exp(np.logaddexp.reduce(weights + logs))) / (order - 1)


def test_figure_3_at_a_million_users_has_its_best_orders_above_10_000():
    eps0, users, level = 0.1, 10**6, 1e-6
    formulas = {
        "girgis2021_thm31": (lambda order: formula31(mpmath.mpf(eps0), users, order, 0.5), 4.98676e-4, 1e-7),
        "girgis2021_thm34": (
            lambda order: log_moments_of_2_rr(eps0, [users], order)[0] / (order - 1),
            2.31827e-4,
            1e-7,
        ),
        "girgis2021_thm36": (lambda order: expectation_of_theorem_3_6(eps0, users, order), 2.45661e-4, 1e-4),
    }
    for name, (formula, value, sharp) in formulas.items():
        bound = getattr(bounds, name)
        found = rdp.epsilon(lambda order, bound=bound: bound(eps0, users, order), level)

        def converted(order, formula=formula):
            rest = -math.log(level) + (order - 1) * math.log1p(-1 / order) - math.log(order)
            return float(formula(order)) + rest / (order - 1)

        truth = converted(found.order)
        assert truth == pytest.approx(value, rel=2e-5)
        assert found.value == pytest.approx(truth, rel=sharp)
        assert found.value >= truth or bound.side == "lower"
        # It is the bottom of the valley: away from it the formula itself is larger.
        assert all(converted(round(found.order * factor)) > truth for factor in (0.9, 1.1))


def test_a_best_order_beyond_doubles_is_refused_and_not_replaced_by_a_smaller_one():
    for name in ("Girgis, closed form", "Girgis, expectation"):
        assert TABLE[name].row(ss.BinaryRR(eps0=0.01), 10, "delta", 1e-8, 1e-3).value <= 0.01 * (1 + 1e-9)
        R = ss.BinaryRR(eps0=1e-4)
        refused = [TABLE[name].row(R, 10**9, *given, 1e-3) for given in (("delta", 1e-300), ("eps", 2e-8))]
        assert [row.value for row in refused] == [None, None]
        assert all("the best order is above 10000000" in row.refusal for row in refused)
    assert bounds.girgis2021_thm31.curve(0.1, 10)(10**8) == math.inf
    assert bounds.girgis2021_thm34.curve(0.1, 10)(10**8) == bounds.girgis2021_thm34(0.1, 10, 10**7)


def test_large_orders_and_many_users_do_not_overflow():
    for eps0, users, order in itertools.product((1e-6, 0.1, 3, 20), (1, 10**4, 10**9), (2, 10_000)):
        values = [bound(eps0, users, order) for bound in (*UPPER, bounds.girgis2021_thm34, bounds.girgis2021_cor35)]
        assert all(math.isfinite(value) and value >= 0 for value in values)


def test_without_local_privacy_loss_there_is_none():
    assert (
        bounds.girgis2021_thm36(0, 10, 3) == bounds.girgis2021_thm34(0, 10, 3) == bounds.girgis2021_cor35(0, 10, 3) == 0
    )


def test_moments_are_written_out_from_order_2_on():
    central, whole = derivations.central_moments(2), derivations.rdp_moments(2)
    assert central.proved
    assert whole.proved
    assert central.result == n * p * (1 - p)
    assert whole.result == 1 + (field.t - 1) ** 2 / (n * field.t)


def test_moments_are_written_out_up_to_order_12():
    moments = derivations.rdp_moments(12)
    assert moments.proved
    assert [(lemma.name, lemma.proved) for lemma in moments.lemmas] == [("central_moments", True)]
    assert len(moments.lemmas[0].statement) == 11  # order 2 … 12
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


def test_the_theorems_are_assembled_from_their_lemmas_and_say_what_they_rest_on():
    first = derivations.theorem31_renyi()
    cited, open_ = set(), [first]
    while open_:
        for lemma in open_.pop().lemmas:
            if lemma.name not in cited:
                cited.add(lemma.name)
                open_.append(lemma)
    assert cited == {
        "cut", "eq40", "theorem37", "theorem36", "lemma_d1", "single_user", "lemma61", "lemma62", "eq32",
        "lemma51_renyi", "lemma52_renyi", "lemma53_renyi",
    }  # fmt: skip
    assert {one.name for one in first.by} >= {"Hoeffding's lemma", "Chernoff's bound", "joint convexity of the moment"}
    assert not first.proved
    assert not first.checked
    # What is supposed is that there are laws, that R is private, and what a mixture is: nothing about moments.
    assert not {"S", "Moment_others"} & {
        e.func.__name__ for one in first.supposed for e in one.left.atoms(AppliedUndef)
    }
    for name in ("moment_recurrence", "central_moments", "lemma62", "lemma21", "absorption"):
        assert derivations.ALL[name]().proved


@pytest.mark.exact
@pytest.mark.parametrize("t", [q(3, 2), sp.Integer(4)])
def test_the_statements_are_above_exact_moments(t):
    # Right sides of the statements, with numbers put in, against moments that `exact` sums up.
    special, tail = derivations.theorem37().statement[0].right, derivations.theorem71().statement[0].right
    low = derivations.rdp_moments(5).statement
    for users, order in itertools.product((1, 3, 10), (2, 3, 5)):
        truth = exact.two_rr_moment(sp.log(t), users, order)
        for right in (special, tail):
            names = {symbol.name: symbol for symbol in right.free_symbols}
            put_in = {names["lambda"]: order, names["m"]: users, names["t"]: t}
            assert bool(right.subs(put_in).doit() >= truth)  # for λ = 2 the first is an equality
        names = {symbol.name: symbol for symbol in low[order - 2].right.free_symbols}
        assert low[order - 2].right.subs({names["n"]: users, names["t"]: t}) == truth


@pytest.mark.exact
def test_absorption_is_an_identity_of_numbers():
    users, chance = 6, Fraction(2, 7)

    def law(count, k):
        return math.comb(count, k) * chance**k * (1 - chance) ** (count - k)

    values = [Fraction(3 + k * k, 2 + k) for k in range(users + 2)]
    left = sum(law(users - 1, m) * (values[m + 1] - 1) for m in range(users))
    right = sum(law(users, N) * N * (values[N] - 1) for N in range(users + 1)) / (users * chance)
    assert left == right
    assert derivations.absorption().statement[0].relation == "="
