"""The closed forms of Balle et al. against exact values and certified accountants, and where the print is wrong."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.algebra import balls
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.papers.balle2019.claims import printed_bennett_krr
from shuffle_sym.papers.balle2019.spread import Spread
from shuffle_sym.papers.engine import Least
from shuffle_sym.papers.tools import krr
from shuffle_sym.truth import ground_truth

q = sp.Rational
GENERIC = [bounds.balle2019_hoeffding, bounds.balle2019_bennett, bounds.balle2019_thm53, bounds.balle2019_cor531]
SPECIFIC = GENERIC[:2]
by_name = pytest.mark.parametrize("bound", GENERIC, ids=repr)
specific = pytest.mark.parametrize("bound", SPECIFIC, ids=repr)


# ------------------------------------------------------------------------------------------- never below the truth


@pytest.mark.exact
@specific
@pytest.mark.parametrize("alpha", [q(101, 100), q(6, 5), q(2)])
def test_a_bound_for_a_randomizer_is_above_every_exact_value(bound, randomizer, alpha):
    for n in (1, 2, 5):
        truth = shuffled_laws(randomizer, n).exact(alpha)
        assert exactly(truth) <= bound.delta(randomizer, n, sp.log(alpha))


def exactly(value):
    """A rational number as a Fraction, which Python compares with a double exactly."""
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else value


@pytest.mark.exact
@by_name
def test_a_generic_bound_is_above_the_worst_pair_of_real_datasets(bound):
    for R, n in ((ss.BinaryRR(sp.log(3)), 12), (ss.KRR(3, sp.log(2)), 6), (ss.BLH(3, sp.log(3)), 3)):
        for alpha in (q(6, 5), q(3, 2)):
            truth = ground_truth.worst_pair(R, n, alpha).delta
            assert exactly(truth) <= bound.delta(R.eps0, n, sp.log(alpha))


@pytest.mark.parametrize(("eps0", "n"), [(q(1, 4), 1000), (1, 1000), (1, 10**5), (4, 10**5)])
@pytest.mark.parametrize("make", [ss.BinaryRR, lambda e: ss.KRR(4, e), lambda e: ss.BLH(sp.oo, e)])
def test_a_generic_bound_is_above_certified_values_of_every_kind(make, eps0, n):
    for delta in (1e-2, 1e-8):
        truth = shuffled_laws(make(eps0), n).epsilon(delta, rtol=0.02).lower
        for bound in GENERIC:
            if bound is not bounds.balle2019_cor531 or eps0 <= math.log(n / math.log(1 / delta)) / 2:
                assert truth <= bound(eps0, n, delta)


@specific
@pytest.mark.parametrize(
    "R", [ss.BinaryRR(2), ss.KRR(100, 2), ss.RAPPOR(8, 2), ss.OUE(8, 2), ss.HadamardResponse(8, 2)], ids=repr
)
def test_a_bound_for_a_randomizer_is_above_the_certified_epsilon(bound, R):
    for n, delta in ((1000, 1e-4), (10**5, 1e-8)):
        assert shuffled_laws(R, n).epsilon(delta, rtol=0.02).lower <= bound(R, n, delta)


@specific
def test_the_bounds_of_laplace_are_above_its_certified_values(bound):
    R = ss.Laplace(1)
    for n, eps in ((10, 0.5), (1000, 0.1)):
        assert shuffled_laws(R, n).delta(eps, rtol=0.05).lower <= bound.delta(R, n, eps)


@pytest.mark.parametrize(
    ("k", "n", "eps", "delta"), [(4, 10**5, 0.5, 1e-6), (2, 10**4, 1, 0.01), (50, 10**6, 0.3, 1e-4)]
)
def test_the_gamma_of_theorem_3_1_meets_its_target_against_its_own_adversary(k, n, eps, delta):
    gamma = bounds.balle2019_thm31_gamma(k, n, eps, delta)
    eps0 = bounds.balle2019_thm31.eps0(n, eps, delta, partial(ss.KRR, k))
    assert math.isclose(gamma, k / (math.exp(eps0) + k - 1), rel_tol=1e-9)
    strong = decomposition.strong(ss.KRR(k=k, eps0=sp.Rational(eps0)))
    assert shuffled_laws(strong, n).delta(eps, rtol=0.05).upper <= delta
    assert math.isclose(bounds.balle2019_thm31.delta(krr(k, q(gamma)), n, eps), delta, rel_tol=1e-9)
    assert bounds.balle2019_thm31(krr(k, q(gamma)), n, delta) <= eps * (1 + 1e-12)


def test_the_number_of_users_that_theorem_3_1_names_is_the_smallest():
    with pytest.raises(ValueError, match=r"n must be at least (\d+)") as caught:
        bounds.balle2019_thm31_gamma(1000, 10_000, 1, 1e-8)
    enough = int(str(caught.value).split("at least ")[1].split()[0])
    assert bounds.balle2019_thm31_gamma(1000, enough, 1, 1e-8) <= 1
    with pytest.raises(ValueError, match=f"at least {enough}"):
        bounds.balle2019_thm31_gamma(1000, enough - 1, 1, 1e-8)


def test_theorem_3_1_keeps_its_second_term():
    # For δ near 1 the second term, 27k/((n − 1)ε), is the larger one.
    assert bounds.balle2019_thm31_gamma(4, 1001, 1, 0.9) == pytest.approx(27 * 4 / 1000, rel=1e-15)
    # c = γ(n − 1)/k = 100: cε = 26.9 says nothing, 27.1 something.
    assert bounds.balle2019_thm31.delta(krr(5, q(1, 2)), 1001, 0.269) == 1.0
    assert bounds.balle2019_thm31.delta(krr(5, q(1, 2)), 1001, 0.271) == 1.0  # 2 exp(−cε²/14) is still above 1
    assert bounds.balle2019_thm31.delta(krr(5, q(1, 2)), 1001, 0.5) == pytest.approx(2 * math.exp(-25 / 14), rel=1e-14)
    assert bounds.balle2019_thm31.delta(krr(5, q(1, 20)), 1001, 1) == 1.0  # 2 exp(−10/14) = 0.98, but cε = 10


# ------------------------------------------------------------------------------------------- what is sharper


@by_name
def test_hoeffding_on_the_gparv_is_below_theorem_5_3_and_the_corollary(bound):
    for eps0 in (0.2, 1, 3):
        for n in (100, 10**4, 10**7):
            for eps in (0.01, 0.1, 0.19):
                assert bounds.balle2019_hoeffding.delta(eps0, n, eps) <= bound.delta(eps0, n, eps) or (
                    bound is bounds.balle2019_bennett
                )


def test_binary_randomized_response_has_the_largest_second_moment(randomizer):
    level = Spread.of(randomizer.eps0)
    for alpha in (mpmath.mpf(1), mpmath.mpf("1.2"), mpmath.exp(mpmath.mpf(float(randomizer.eps0)))):
        most = level.pairs[0](alpha)
        for pair in Spread.of(randomizer).pairs:
            own = pair(alpha)
            assert own.second <= most.second * (1 + mpmath.mpf(10) ** -12)
            assert most.smallest <= own.smallest + 1e-12
            assert own.largest <= most.largest + 1e-12


def test_the_moments_of_krr_are_those_of_lemma_5_7():
    R, alpha = ss.KRR(7, sp.log(5)), q(3, 2)
    gamma = R.gamma
    printed = gamma * (2 - gamma) * (1 - alpha) ** 2 + (1 - gamma) ** 2 * 7 * (1 + alpha**2)
    found = Spread.of(R).pairs[0](mpmath.mpf("1.5"))
    assert found.second * mpmath.mpf(float(gamma)) == pytest.approx(float(printed), rel=1e-12)
    assert found.largest == pytest.approx(5 - 1.5, rel=1e-12)


@specific
def test_the_closed_form_is_the_sum_of_lemma_5_3(bound):
    # The average over M of the bound of Lemma 5.5 or 5.6, term by term; the direct form may only be smaller.
    R, n, eps = ss.KRR(5, sp.log(4)), 60, 0.25
    gamma, a = mpmath.mpf(float(R.gamma)), mpmath.expm1(eps)
    G = Spread.of(R).pairs[0](mpmath.exp(eps))
    b, c, span = gamma * G.largest, gamma * G.second, gamma * (G.largest - G.smallest)
    u = a * b / c
    terms = {
        bounds.balle2019_hoeffding: lambda m: span**2 / (4 * a) * mpmath.exp(-2 * m * a**2 / span**2),
        bounds.balle2019_bennett: lambda m: (
            b / mpmath.log1p(u) * mpmath.exp(-m * c / b**2 * ((1 + u) * mpmath.log1p(u) - u))
        ),
    }[bound]
    chances = [mpmath.binomial(n, m) * gamma**m * (1 - gamma) ** (n - m) for m in range(n + 1)]
    total = mpmath.fsum(chances[m] * terms(m) for m in range(1, n + 1)) / (gamma * n)
    # On the n copies of G at once.
    B, C, S = G.largest, G.second, G.largest - G.smallest
    direct = {
        bounds.balle2019_hoeffding: S**2 / (4 * a) * mpmath.exp(-2 * n * a**2 / S**2),
        bounds.balle2019_bennett: (B / mpmath.log1p(u) * mpmath.exp(-n * C / B**2 * ((1 + u) * mpmath.log1p(u) - u))),
    }[bound] / n
    smaller = "sum" if bound is bounds.balle2019_hoeffding else "direct"
    assert {"sum": total, "direct": direct}[smaller] == min(total, direct)
    assert bound.delta(R, n, eps) == pytest.approx(float(min(total, direct)), rel=1e-9)


@specific
def test_a_bound_at_a_billion_users_is_rounded_up_and_by_no_more_than_a_few_units(bound):
    R, n, eps = ss.KRR(5, sp.log(4)), 10**9, q(1, 1000)
    with mpmath.workdps(120):
        gamma, a = mpmath.mpf(5) / 8, mpmath.expm1(mpmath.mpf(1) / 1000)
        alpha = 1 + a
        values, span = [4 - alpha, 1 - 4 * alpha, 1 - alpha], (1 + alpha) * 3
        second = (values[0] ** 2 + values[1] ** 2 + 3 * values[2] ** 2) / 8
        u = a * values[0] / second
        if bound is bounds.balle2019_hoeffding:
            rate = -mpmath.log(1 - gamma * (1 - mpmath.exp(-2 * a**2 / (gamma * span) ** 2)))
            truth = gamma * span**2 / (4 * a * n) * mpmath.exp(-n * rate)
        else:
            rate = second / values[0] ** 2 * ((1 + u) * mpmath.log(1 + u) - u)
            truth = values[0] / (mpmath.log(1 + u) * n) * mpmath.exp(-n * rate)
        found = bound.delta(R, n, eps)
        assert truth <= mpmath.mpf(found) <= truth * (1 + mpmath.mpf(2) ** -51)


@pytest.mark.parametrize("source", [1, ss.KRR(20, 1), ss.Laplace(1)], ids=repr)
@specific
def test_the_precision_of_the_process_does_not_matter(bound, source):
    usual = bound.delta(source, 1000, q(1, 5)), bound(source, 1000, 1e-6)
    with mpmath.workdps(5):
        assert (bound.delta(source, 1000, q(1, 5)), bound(source, 1000, 1e-6)) == usual


# ------------------------------------------------------------------------------------------- inverses


@pytest.mark.parametrize("source", [1, ss.BinaryRR(1), ss.KRR(20, 1), ss.Laplace(1)], ids=repr)
@specific
@pytest.mark.parametrize("n", [100, 10**9])
def test_epsilon_meets_its_delta_and_hardly_more(bound, source, n):
    eps = bound(source, n, 1e-6)
    assert bound.delta(source, n, eps) <= 1e-6
    assert eps == 1 or bound.delta(source, n, eps * (1 - 1e-8)) > 1e-6


@pytest.mark.parametrize("bound", [*GENERIC, bounds.erlingsson2019_shuffling], ids=repr)
def test_eps0_meets_its_target_and_hardly_more(bound):
    n, eps, delta = 10**6, 0.02, 1e-6
    eps0 = bound.eps0(n, eps, delta)
    assert bound.delta(eps0, n, eps) <= delta
    assert bound.delta(eps0 * (1 + 1e-8), n, eps) > delta
    # Where nothing is gained by shuffling, ε0 = ε is still right.
    assert bound.eps0(1000, 0.001, 1e-6) >= 0.001 * (1 - 1e-12)


def test_eps0_of_a_family_of_randomizers_meets_its_target():
    for make in (lambda eps0: ss.KRR(k=100, eps0=eps0), ss.BinaryRR, ss.Laplace):
        eps0 = bounds.balle2019_bennett.eps0(10**5, 0.1, 1e-6, make)
        assert bounds.balle2019_bennett.delta(make(sp.Rational(eps0)), 10**5, 0.1) <= 1e-6
        assert bounds.balle2019_bennett.delta(make(sp.Rational(eps0 * (1 + 1e-8))), 10**5, 0.1) > 1e-6


def test_the_largest_loss_ends_every_bound():
    for bound in GENERIC:
        assert bound.delta(1, 100, 1) == 0.0
        assert bound.delta(1, 100, 0) == 1.0
        assert bound.delta(0, 100, 0) == 0.0
    assert bounds.balle2019_hoeffding(0, 100, 0.1) == 0.0


def test_the_corollary_gives_what_its_formula_says():
    found = bounds.balle2019_cor531(1, 10**6, 1e-6)
    truth = 2 * sp.log(1 + sp.sqrt(2)) * sp.E * sp.sqrt(sp.log(10**6) / 10**6)
    assert truth <= sp.Rational(found)
    assert found == pytest.approx(float(truth), rel=1e-15)
    assert bounds.balle2019_hoeffding.delta(1, 10**6, found) <= 1e-6


# ------------------------------------------------------------------------------------------- the print


@pytest.mark.exact
def test_lemma_5_6_as_printed_is_below_an_expectation():
    # L = 18 with probability 1/4, −18 with 3/4; m = 1: a = 9, b = 18, c = 324.
    truth, a, b, c = Fraction(18, 4), 9, 18, 324
    u = mpmath.mpf(a * b) / c
    falling = mpmath.exp(-mpmath.mpf(c) / b**2 * ((1 + u) * mpmath.log1p(u) - u))
    assert float(b / (a * mpmath.log1p(u)) * falling) < 4.44 < truth < 4.6 < float(b / mpmath.log1p(u) * falling)
    names = [one.name for one in derivations.lemma56().by]
    assert names[:3] == ["Tonelli's theorem", "Bennett's inequality", "a lemma for other laws"]
    assert not derivations.lemma56().checked


@pytest.mark.exact
def test_the_printed_bennett_bound_is_below_the_divergence_of_two_real_datasets():
    # 26 users of 50-RR, one of them with 0 or 1, all others with 2.
    real = shuffled_laws(decomposition.dataset(ss.KRR(50, sp.log(30)), 0, 1, 2), 26).exact(2)
    assert exactly(real) > 0.136 > 0.133 > balls.upper(printed_bennett_krr(50, Fraction(30), Fraction(2), 26))
    assert exactly(real) <= bounds.balle2019_bennett.delta(ss.KRR(50, sp.log(30)), 26, sp.log(2))


@pytest.mark.exact
def test_the_smallest_gamma_in_the_range_of_l_would_not_be_a_bound():
    # Hoeffding with γ = 1/t everywhere, against 2-RR, which is ε0-LDP and has γ = 2/(t + 1).
    t, alpha, n = 9, mpmath.mpf(3), 120
    a, b = alpha - 1, (alpha + 1) * (1 - mpmath.mpf(1) / t)
    wrong = mpmath.mpf(t) / n * b**2 / (4 * a) * (1 - (1 - mpmath.exp(-2 * a**2 / b**2)) / t) ** n
    truth = shuffled_laws(ss.BinaryRR(sp.log(t)), n).exact(3)
    assert exactly(truth) > float(wrong)
    assert exactly(truth) <= bounds.balle2019_hoeffding.delta(sp.log(t), n, sp.log(3))


def test_the_order_of_figure_3_is_that_of_the_bounds_and_not_of_the_randomizers():
    # Section 6: "binary randomized response has better amplification properties than Laplace, which in turn is better
    # than the randomizer response over a domain of size k = 100".
    eps0, n, delta = 1, 10**4, 1e-6
    two, noise, many = ss.BinaryRR(eps0), ss.Laplace(eps0), ss.KRR(100, eps0)
    hoeffding = [bounds.balle2019_hoeffding(R, n, delta) for R in (two, noise, many)]
    assert hoeffding == sorted(hoeffding)
    real = shuffled_laws(decomposition.dataset(two, 0, 1, 1), n).epsilon(delta, rtol=1e-2)
    assert shuffled_laws(many, n).epsilon(delta, rtol=1e-2).upper * 4 < real.lower


def test_bennett_is_not_better_than_hoeffding_for_every_randomizer():
    # Section 6 says so of panel (iii); binary randomized response has the smallest range that its variance allows.
    for n in (10**3, 10**5, 10**7):
        by_hoeffding, by_bennett = (bound.eps0(n, 0.1, 1e-6, ss.BinaryRR) for bound in SPECIFIC)
        assert by_bennett < by_hoeffding


@pytest.mark.parametrize(("k", "gamma", "n"), [(4, q(1, 4), 10**5), (2, q(1, 10), 10**5), (5, q(1, 10), 10**6)])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_theorem_3_1_is_above_its_adversary(k, gamma, n, delta):
    eps0 = sp.log(1 + k * (1 - gamma) / gamma)
    strong = decomposition.strong(ss.KRR(k=k, eps0=eps0))
    found = shuffled_laws(strong, n).epsilon(delta, rtol=1e-2)
    assert found.upper <= bounds.balle2019_thm31(krr(k, gamma), n, delta)


def test_no_bound_is_rounded_down():
    value = bounds.balle2019_thm31(krr(4, q(1, 4)), 10**5, 1e-6)
    truth = sp.sqrt(14 * 4 * sp.log(2 * 10**6) / (sp.Integer(10**5 - 1) / 4))
    assert truth <= sp.Rational(value)
    assert sp.Rational(math.nextafter(math.nextafter(value, 0), 0)) < truth


@pytest.mark.exact
def test_theorem_5_3_is_what_its_derivation_ends_in():
    (statement,) = derivations.theorem53().statement
    names = {symbol.name: symbol for symbol in statement.right.free_symbols}
    R = sp.Rational
    for t, alpha, users in ((2, R(9, 8), 10**4), (5, R(3, 2), 300), (R(6, 5), R(101, 100), 50)):
        value = statement.right.subs({names["t"]: t, names["alpha"]: alpha, names["n"]: users}).replace(Least, sp.Min)
        printed = bounds.balle2019_thm53.delta(sp.log(t), users, sp.log(alpha))
        assert math.isclose(printed, float(value), rel_tol=1e-9)
