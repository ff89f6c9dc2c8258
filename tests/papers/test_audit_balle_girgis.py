"""What the audit says of Balle et al. 2019 and Girgis et al. 2021; each printed form that fails, by other means again.

A test of a claim below would fail if the printed form were right: it compares it with exact values or certified ends
that the evidence in the package does not compute.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import rdp
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model import decomposition
from shuffle_sym.papers import bounds
from shuffle_sym.papers.audit import balle2019, girgis2021
from shuffle_sym.papers.audit.claims import Check, confirmed, searched
from shuffle_sym.papers.audit.enclosures import IV, below, enclosed
from shuffle_sym.papers.audit.laws import convex_positive_part, moment, positive_part, rows, shuffled
from shuffle_sym.papers.literal import divergence_of_laws
from shuffle_sym.truth import exact, ground_truth

q = sp.Rational
CLAIMS = {claim.id: claim for paper in (balle2019.PAPER, girgis2021.PAPER) for claim in paper.claims}
MISPRINTS = {
    *("B-196", "B-404", "B-Lem5.1(3)", "B-675", "B-Lem5.6", "B-890"),
    *("G-eq5/Thm3.1", "G-Cor3.2/(6)", "G-eq7", "G-eq8/Thm3.3", "G-Rem3", "G-Lem5.1"),
}
FALSE = {
    *("B-Sec6-order", "B-578"),
    *("G-671", "G-Rem4", "G-253", "G-323", "G-Cor3.5-Jensen", "G-Rem7", "G-8x", "G-10x"),
}
CONDITIONAL = {"B-Cor4.1.1", "B-Lem5.3", "B-LemA.2", "B-LemA.3", "B-LemA.4", "G-Lem6.2", "G-eq40"}


def verdict(id):
    return CLAIMS[id].examine().verdict


@pytest.mark.parametrize("id", sorted(MISPRINTS | FALSE | CONDITIONAL))
def test_a_printed_form_that_fails_is_found_to_fail(id):
    expected = "misprint" if id in MISPRINTS else "false" if id in FALSE else "holds if"
    evidence = CLAIMS[id].examine()
    assert evidence.printed.passes is False
    assert evidence.verdict == expected


def test_the_papers_have_the_claims_that_were_listed_and_five_more():
    assert len(balle2019.PAPER.claims) == 29 + 2
    assert len(girgis2021.PAPER.claims) == 27 + 3
    assert {"B-404", "B-578", "G-671", "G-323", "G-10x"} <= set(CLAIMS)


# ------------------------------------------------------------------------------------------- if the print were right


def test_lemma_5_6_with_the_right_factor_would_not_be_refuted(monkeypatch):
    module = balle2019.section_5_bounds
    printed = module.printed_bennett
    monkeypatch.setattr(module, "printed_bennett", lambda a, b, c, m: printed(a, b, c, m) * a * m)
    assert verdict("B-Lem5.6") != "misprint"


def test_inequality_404_with_the_larger_of_both_would_not_be_refuted(monkeypatch):
    module = balle2019.section_4
    printed = module.printed_404
    monkeypatch.setattr(module, "printed_404", lambda *case: (printed(*case)[1], printed(*case)[1]))
    assert verdict("B-404") != "misprint"


def test_bounds_5_6_and_8_as_they_are_meant_would_not_be_refuted(monkeypatch):
    module = girgis2021.section_3_1
    monkeypatch.setattr(module, "printed_5", module.bound_5)
    assert verdict("G-eq5/Thm3.1") == "open"
    monkeypatch.setattr(
        module, "printed_6", lambda t, n, order: IV.log(1 + enclosed(math.comb(order, 2) * 4 * (t - 1) ** 2 / n))
    )
    assert verdict("G-Cor3.2/(6)") == "open"

    def as_in_section_7(eps0, n, order):
        t = IV.exp(eps0)
        size = int(((n - 1) / (2 * t)).mid) + 1
        return IV.log(IV.exp(order**2 * (t - 1) ** 2 / size) + IV.exp(eps0 * order - (n - 1) / (8 * t))) / (order - 1)

    monkeypatch.setattr(module, "printed_8", as_in_section_7)
    assert verdict("G-eq8/Thm3.3") == "open"


# ------------------------------------------------------------------------------------------- Balle et al., again


@pytest.mark.exact
def test_the_view_of_theorem_3_1_forgets_one_case():
    # n = 2, k = 2, γ = 1/2: user 2 truthful (1/2), and user 1 does not send a random 1 (3/4).
    pair = exact.shuffled_pair(decomposition.strong(ss.KRR(k=2, eps0=sp.log(3))), 2)
    assert sum(p for p, r in pair.values() if p >= 2 * r) == Fraction(1, 2) * Fraction(3, 4)
    assert Fraction(3, 8) not in (Fraction(3, 4), Fraction(13, 16))


@pytest.mark.exact
def test_the_proof_of_theorem_4_2_takes_one_of_two_for_both():
    k, t, n = 7, 19, 20
    own, other = Fraction(t, t + k - 1), Fraction(1, t + k - 1)
    delta = Fraction(str(ss.Shuffle(ss.KRR(k=k, eps0=sp.log(t)), n).exact(2)))
    assert delta < Fraction(1, 2)
    assert other >= (Fraction(1, 2) - delta) / n  # Lemma 4.5
    leaves, enters = (1 - own) / (4 * k**3), Fraction(k * k - 1, 48 * k * k) * other
    claimed = min(Fraction(1, 16 * k**3), Fraction(k * k - 1, 48 * k * k) * (Fraction(1, 2) - delta) / n)
    assert min(leaves, enters) < claimed <= max(leaves, enters)


def test_twice_the_wrong_tail_of_the_gaussian_is_no_probability():
    for sigma in (0.1, 0.5, 3):
        gamma = float(ss.Gaussian(sigma=q(sigma)).gamma)
        assert gamma == pytest.approx(2 * float(mpmath.ncdf(-0.5, 0, sigma)), rel=1e-12)
        assert 2 * float(1 - mpmath.ncdf(-0.5, 0, sigma)) >= 1 > gamma


@pytest.mark.exact
def test_the_mixture_of_675_is_the_other_way_round():
    R = ss.KRR(k=2, eps0=sp.log(2))
    (own, _), _ = rows(R)
    gamma = Fraction(str(R.gamma))
    assert gamma * 1 + (1 - gamma) / 2 == Fraction(5, 6) != own
    assert (1 - gamma) * 1 + gamma / 2 == own == Fraction(2, 3)


def test_lemma_5_6_fails_first_at_18():
    with mpmath.workdps(30):
        u = mpmath.mpf(1) / 2
        right = 2 / mpmath.log(1 + u) * mpmath.exp(-((1 + u) * mpmath.log(1 + u) - u))
        assert mpmath.mpf(17) / 4 < right < mpmath.mpf(18) / 4
    assert "±18" in CLAIMS["B-Lem5.6"].examine().printed.finding


def test_the_cross_term_of_laplace_is_smallest_at_the_ends():
    eps0 = 2 * mpmath.log(2)

    def cross(x, z):
        density = lambda y: mpmath.exp(eps0 * (abs(y - 0.5) - abs(y - x) - abs(y - z)))  # noqa: E731
        cuts = sorted({-mpmath.inf, mpmath.mpf(x), mpmath.mpf(z), mpmath.mpf("0.5"), mpmath.inf})
        return eps0 / 2 * mpmath.quad(density, cuts)

    printed = 2 * mpmath.exp(-eps0 / 2) - mpmath.exp(-eps0)
    assert cross(0, 1) == pytest.approx(printed, rel=1e-10)
    assert cross(0.5, 0.5) > 1.3 * printed
    assert cross(0.2, 0.9) > 1.05 * printed


@pytest.mark.exact
def test_100_rr_amplifies_better_than_2_rr():
    two = ground_truth.delta(ss.BinaryRR(sp.log(3)), (0, 0), (1, 0), 2)
    hundred = ss.Shuffle(ss.KRR(k=100, eps0=sp.log(3)), 2).exact(2)
    assert hundred < q(1, 3000) < two == q(3, 16)


def test_binary_answers_above_one_half_are_what_laplace_tells_at_least():
    # The chance that Laplace noise at 0 is above 1/2 is e^(−ε0/2)/2: 2-RR with e^ε0' = 2e^(ε0/2) − 1.
    above = math.exp(-0.5) / 2
    assert (1 - above) / above == pytest.approx(2 * math.exp(0.5) - 1, rel=1e-15)


# ------------------------------------------------------------------------------------------- Girgis et al., again


def divergence_2_rr(t, n, order):
    return mpmath.log(mpmath.mpf(str(exact.two_rr_moment(sp.log(t), n, order, digits=40)))) / (order - 1)


def test_bounds_5_and_6_as_read_are_below_2_rr():
    with mpmath.workdps(40):
        n, order, t = 10**7, 6, mpmath.mpf(2)
        size = mpmath.floor((n - 1) / (2 * t)) + 1
        base = (t**2 - 1) ** 2 / (2 * t**2 * size)
        extra = sum(
            math.comb(order, i) * i * mpmath.gamma(mpmath.mpf(i) / 2) * base ** (mpmath.mpf(i) / 2)
            for i in range(3, order + 1)
        )
        read = mpmath.log(1 + order / mpmath.mpf(2) * (t - 1) ** 2 / (size * t)) / (order - 1) + extra
        read += mpmath.exp(mpmath.log(t) * order - (n - 1) / (8 * t))
        truth = divergence_2_rr(2, n, order)
        assert read < truth < bounds.girgis2021_thm31(sp.log(2), n, order)
        n, t = 18785, mpmath.mpf(11) / 10
        assert 9 * order**4 * t**5 < n
        read = mpmath.log(1 + order / mpmath.mpf(2) * 4 * (t - 1) ** 2 / n) / (order - 1)
        assert read < divergence_2_rr(q(11, 10), n, order) < bounds.girgis2021_cor32(sp.log(q(11, 10)), n, order)


def test_bound_8_as_read_is_below_2_rr_from_48_users_on():
    for n, fails in ((47, False), (48, True), (1000, True)):
        read = math.log(1 + math.exp(2 - (n - 1) / 8))
        truth = math.log1p(math.expm1(1) ** 2 / (math.e * n))
        assert (read < truth) == fails
        assert truth <= bounds.girgis2021_thm33(1, n, 2)


def test_bound_5_does_not_simplify_to_6_where_there_is_no_loss():
    assert bounds.girgis2021_cor32(0, 145, 2) == 0 < bounds.girgis2021_thm31(0, 145, 2)
    assert bounds.girgis2021_thm31(0, 145, 2) == pytest.approx(math.exp(-18), rel=1e-6)


@pytest.mark.exact
def test_the_reason_below_7_gives_the_mirror_image():
    order = q(9, 4)
    a = sp.ceiling(order) - order
    assert a * 3 + (1 - a) * 2 == q(11, 4) != order == a * 2 + (1 - a) * 3


def test_the_gamma_of_remark_3_leaves_the_last_term_as_large_as_without_shuffling():
    for n in (10**4, 10**8):
        gamma = math.sqrt(2 * 0.5 * math.exp(0.5) / (n * math.log(n)))
        last = math.exp(0.5 * 10 - (n - 1) * gamma**2 / (2 * math.exp(0.5)))
        assert last > 100
        assert bounds.girgis2021_thm31(0.5, n, 10, gamma) > math.log(last) / 9


def test_the_first_bound_is_not_the_better_one_in_all_of_figure_2():
    first, second = (f(0.1, 10**4, 500) for f in (bounds.girgis2021_thm31, bounds.girgis2021_thm33))
    assert first > 1.1 * second
    with mpmath.workdps(30):  # (5) with its terms one by one
        t = mpmath.exp(mpmath.mpf("0.1"))
        size = mpmath.floor((10**4 - 1) / (2 * t)) + 1
        total = 1 + mpmath.binomial(500, 2) * (t - 1) ** 2 / (size * t)
        for i in range(3, 60):
            root = (t**2 - 1) / (t * mpmath.sqrt(2 * size))
            total += mpmath.binomial(500, i) * i * mpmath.gamma(mpmath.mpf(i) / 2) * root**i
        assert mpmath.log(total) > 500**2 * (t - 1) ** 2 / size


def test_bound_5_leaves_every_level_behind():
    # One term of it: λ Γ(λ/2) w^(λ/2), with the w of ε0 = 0.1 and n = 1e4.
    t, order = math.exp(0.1), 10**7
    w = (t**2 - 1) ** 2 / (2 * t**2 * 4525)
    assert (math.log(order) + math.lgamma(order / 2) + order / 2 * math.log(w)) / (order - 1) > 1


def test_bound_9_is_better_than_both_somewhere():
    assert bounds.girgis2021_thm33(0.1, 10**4, 2) > 1.4 * bounds.girgis2021_eq9(0.1, 10**4, 2)
    assert bounds.girgis2021_thm31(sp.log(q(11, 10)), 1, 2) > 10 * bounds.girgis2021_eq9(sp.log(q(11, 10)), 1, 2)


@pytest.mark.exact
def test_a_cube_may_have_a_negative_mean():
    p = Fraction(2, 3)
    assert p * (1 - p) ** 3 + (1 - p) * (-p) ** 3 == Fraction(-2, 27)


@pytest.mark.exact
def test_theorem_3_4_is_not_the_worst_case():
    R = ss.BinaryRR(eps0=sp.log(2))
    assert ground_truth.renyi_moment(R, (1, 0), (0, 0), 2) == q(5, 4)
    assert ground_truth.renyi_moment(R, (0, 0), (1, 0), 2) == q(13, 10)
    assert ground_truth.renyi_moment(R, (0,), (1,), 2) == ground_truth.renyi_moment(R, (1,), (0,), 2)


@pytest.mark.exact
def test_the_other_users_double_the_changed_input_and_not_themselves():
    first, second = rows(ss.BinaryRR(eps0=sp.log(2)))
    half = Fraction(1, 2)
    rest = [(a - half * b) / half for a, b in zip(first, second, strict=True)]
    assert [half * b + half * r for b, r in zip(second, rest, strict=True)] == first
    assert [half * a + half * r for a, r in zip(first, rest, strict=True)] != first


def test_the_factors_8_and_10_are_5_and_4():
    one = 1e-8 / (2 * 10**5)
    single = ss.Shuffle(decomposition.clones(0.5), 10**6).epsilon(one, rtol=0.01).upper
    total = bounds.strong_composition(single, one, 10**5, 0.4999e-8)[0]
    curve = rdp.repeated(lambda order: bounds.girgis2021_thm31(0.5, 10**6, order), 10**5)
    assert 4.9 < total / rdp.epsilon(curve, 1e-8).value < 5.1
    one = 1e-8 / (2 * 10**4 * 0.001)
    single = ss.Shuffle(decomposition.clones(3), 1000).epsilon(one, rtol=0.01).upper
    total = bounds.strong_composition(*bounds.poisson_subsampled(single, one, 0.001), 10**4, 0.4999e-8)[0]
    curve = rdp.poisson_subsampled(lambda order: bounds.girgis2021_thm31(3, 1000, order), 0.001, by="zhu2019")
    assert 3.8 < total / rdp.epsilon(rdp.repeated(curve, 10**4), 1e-8).value < 4.1


# ------------------------------------------------------------------------------------------- conditions


@pytest.mark.exact
def test_statements_without_their_condition_fail():
    R = ss.from_matrix([[1, 0], [q(1, 2), q(1, 2)]])
    assert ground_truth.delta(R, (1,), (0,), 1) == q(1, 2)  # Lemma 5.3 and A.3 would say 0
    assert ss.Shuffle(decomposition.blanket(R, 1, 0), 1).exact(1) == q(1, 2)
    coin = Fraction(1, 2)
    assert divergence_of_laws({(2, 0): coin, (0, 2): coin}, {(1, 1): Fraction(1)}, Fraction(1)) == 1  # Lemma A.2
    assert mpmath.quad(lambda x: mpmath.exp(-(x**2)), [-1, mpmath.inf]) > 0 > mpmath.exp(-1) / -2  # Lemma A.4


def test_no_unbiased_estimate_of_one_user_has_less_variance_than_corollary_4_1_1_is_refuted_with():
    # Any two laws, any Z with means 1 and 0: 1 <= (2(α − 1) + 2√δ)√(V + 1/4), δ the larger divergence at α.
    generator = np.random.default_rng(7)
    for _ in range(300):
        P, Q = generator.dirichlet(np.ones(5)), generator.dirichlet(np.ones(5))
        Z = np.linalg.lstsq(np.array([P, Q]), np.array([1.0, 0.0]), rcond=None)[0]
        V = max(np.sum(law * Z**2) - np.sum(law * Z) ** 2 for law in (P, Q))
        for alpha in (1, 1.1, 2):
            delta = max(np.maximum(P - alpha * Q, 0).sum(), np.maximum(Q - alpha * P, 0).sum())
            assert (2 * (alpha - 1) + 2 * math.sqrt(delta)) * math.sqrt(V + 0.25) * (1 + 1e-9) >= 1


@pytest.mark.exact
def test_every_vertex_of_lemma_6_2_is_found():
    found = girgis2021.section_3_3.vertices(3, 2)
    # Three with one cell; for each ordered pair of cells one with ratios 2 and 1/2, p = (1/3, 2/3).
    assert len({(tuple(p), tuple(r)) for p, r in found}) == 3 + 6
    assert ([Fraction(1, 3), Fraction(2, 3), 0], [Fraction(2, 3), Fraction(1, 3), 0]) in found


def test_the_layers_of_9_are_the_worst_over_a_and_bound_a_binomial_mean():
    # N above a/2, and layers of N between (1 − low)a and (1 − high)a, each with the worst a >= 8x; 1 for N <= 0.18a.
    ends = (0.5, 0.6, 0.65, 0.7, 0.75, 0.78, 0.82)
    layers = girgis2021.section_3_1_quoted.layers
    for x in (0.79, 2.0):
        a = np.linspace(8 * x, 60 * x, 200_001)
        worst = math.exp(2 * x) + 1
        for high, low in itertools.pairwise(ends):
            h = high + (1 - high) * math.log(1 - high)
            worst += math.exp(float(np.max(np.minimum(x / (1 - low), a / 2) - a * h)))
        assert float(layers(enclosed(Fraction(x))).mid) == pytest.approx(worst, rel=1e-3)
    # E[min(e^(xa/N), e^(a/2))], N = 1 + Bin(n − 1, 1/t), a = n/t, by its terms.
    for n, t, x in ((40, 2, 1.5), (200, 3, 0.8), (30, 1.1, 3.0)):
        a = n / t
        assert a >= 8 * x
        mean = math.fsum(
            math.comb(n - 1, m) * (1 / t) ** m * (1 - 1 / t) ** (n - 1 - m) * math.exp(min(x * a / (m + 1), a / 2))
            for m in range(n)
        )
        assert mean <= float(layers(enclosed(Fraction(x))).a)


# ------------------------------------------------------------------------------------------- tools


def test_an_enclosure_that_cannot_tell_raises():
    third = enclosed(Fraction(1, 3))
    with pytest.raises(VerificationError, match="do not tell"):
        below(third, third * 3 / 3)
    assert below(third, Fraction(34, 100))
    assert not below(Fraction(34, 100), third)


def test_checks_together_pass_if_all_do():
    good, bad, unknown = (Check(p, k, k) for p, k in ((True, "proved"), (False, "counterexample"), (None, "searched")))
    assert confirmed(good, good).passes is True
    assert (confirmed(good, bad).passes, confirmed(good, bad).kind) == (False, "counterexample")
    assert confirmed(good, unknown).passes is None
    assert confirmed(good, bad).finding == "proved; counterexample"


def test_a_search_that_finds_nothing_decides_nothing():
    assert searched([1, 2, 3], lambda n: n > 5, str).passes is None
    assert searched([1, 2, 3], lambda n: n > 1, str).finding == "2"


@pytest.mark.exact
def test_small_laws_are_those_of_their_definitions():
    laws = [[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 5), 0, Fraction(4, 5)]] * 2
    literal: dict = {}
    for messages in itertools.product(range(3), repeat=4):
        h = tuple(messages.count(y) for y in range(3))
        literal[h] = literal.get(h, 0) + math.prod(law[y] for law, y in zip(laws, messages, strict=True))
    assert shuffled(laws) == {h: p for h, p in literal.items() if p}
    law = [(Fraction(2), Fraction(1, 3)), (Fraction(-1), Fraction(2, 3))]
    assert positive_part(law, 2) == Fraction(1, 9) * 4 + Fraction(4, 9) * 1
    assert moment({0: Fraction(1)}, {0: Fraction(1, 2), 1: Fraction(1, 2)}, 3) == 4
    assert convex_positive_part().proved
