"""What the audit says of Balle et al. 2019: each printed form that fails, by other means again.

A test of a claim below would fail if the printed form were right: it compares it with exact values or certified ends
that the evidence in the package does not compute.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.papers import audit
from shuffle_sym.papers.balle2019 import claims
from shuffle_sym.papers.laws import divergence_of_laws, rows
from shuffle_sym.truth import exact, ground_truth

q = sp.Rational
CLAIMS = {claim.id: claim for claim in audit.claims()}


def verdict(id):
    return CLAIMS[id].examine().verdict


def test_lemma_5_6_with_the_right_factor_would_not_be_refuted(monkeypatch):
    printed = claims.printed_bennett
    monkeypatch.setattr(claims, "printed_bennett", lambda a, b, c, m: printed(a, b, c, m) * a * m)
    assert verdict("B-Lem5.6") != "misprint"


def test_inequality_404_with_the_larger_of_both_would_not_be_refuted(monkeypatch):
    printed = claims.printed_404
    monkeypatch.setattr(claims, "printed_404", lambda *case: (printed(*case)[1], printed(*case)[1]))
    assert verdict("B-404") != "misprint"


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
    delta = Fraction(str(shuffled_laws(ss.KRR(k=k, eps0=sp.log(t)), n).exact(2)))
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
    hundred = shuffled_laws(ss.KRR(k=100, eps0=sp.log(3)), 2).exact(2)
    assert hundred < q(1, 3000) < two == q(3, 16)


def test_binary_answers_above_one_half_are_what_laplace_tells_at_least():
    # The chance that Laplace noise at 0 is above 1/2 is e^(−ε0/2)/2: 2-RR with e^ε0' = 2e^(ε0/2) − 1.
    above = math.exp(-0.5) / 2
    assert (1 - above) / above == pytest.approx(2 * math.exp(0.5) - 1, rel=1e-15)


@pytest.mark.exact
def test_statements_without_their_condition_fail():
    R = ss.from_matrix([[1, 0], [q(1, 2), q(1, 2)]])
    assert ground_truth.delta(R, (1,), (0,), 1) == q(1, 2)  # Lemma 5.3 and A.3 would say 0
    assert shuffled_laws(decomposition.blanket(R, 1, 0), 1).exact(1) == q(1, 2)
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


def test_the_generic_bennett_bound_is_that_of_the_authors_program():
    # github.com/BorjaBalle/amplification-by-shuffling, its notebook: ε of "Bennett, Generic" for ε0 = 0.4, n = 5000,
    # δ = 1e-6 (since the factor am was removed).
    corrected, _ = claims.generic_bennett(Fraction("0.4"), Fraction("0.11301679081207759"), 5000)
    assert float(corrected.mid()) == pytest.approx(1e-6, rel=1e-5)
    # The same program has Hoeffding's bound at 0.05746164784348143, the smaller one.
    assert claims.generic_bennett(Fraction("0.4"), Fraction("0.05746164784348143"), 5000)[0].mid() > 1e-5


def test_what_the_factor_am_makes_of_it_is_bounded_term_by_term():
    eps0, eps, n = 0.4, 0.1, 300
    t, alpha = math.exp(eps0), math.exp(eps)
    a, b, c = alpha - 1, t - alpha / t, t * (alpha**2 + 1) - 2 * alpha / t**3
    u = a * b / c
    rate = c / b**2 * ((1 + u) * math.log1p(u) - u)
    terms = [math.comb(n, m) * t**-m * (1 - 1 / t) ** (n - m) * math.exp(-m * rate) for m in range(1, n + 1)]
    front = b * t / (math.log1p(u) * n)
    corrected, with_am = claims.generic_bennett(Fraction(eps0), Fraction(eps), n)
    assert float(corrected.mid()) == pytest.approx(front * math.fsum(terms), rel=1e-9)
    printed = front / a * math.fsum(term / m for m, term in enumerate(terms, 1))
    assert printed < float(with_am.mid()) < 2.01 * printed


def test_a_generic_bennett_bound_that_is_smaller_would_not_be_refuted(monkeypatch):
    monkeypatch.setattr(claims, "generic_bennett", lambda *case: (Fraction(1, 10**7), Fraction(1, 10**7)))
    assert verdict("B-574") == "holds"


def test_with_the_constant_2_nobody_else_is_likely_to_send_a_1():
    n = 10**4
    t = (n / math.log(10**6)) ** 2
    assert (1 + 1 / t) ** -n * (1 - math.e / t) > 0.98  # two datasets: all zeros against one 1


def test_the_corrected_generic_bennett_bound_is_above_that_of_erlingsson_at_a_small_level():
    # The exponent alone: nγa²/(2c) with c > 8 ε0(1 − 2ε0), against log(1/δ).
    eps0, n = 0.01, 10**4
    eps = 12 * eps0 * math.sqrt(math.log(10**6) / n)
    assert n * math.expm1(eps) ** 2 / (2 * 8 * eps0 * (1 - 2 * eps0)) < 1.3
    corrected, _ = claims.generic_bennett(Fraction(eps0), Fraction(eps), n)
    assert 1e-4 < float(corrected.mid()) < 1e-3
