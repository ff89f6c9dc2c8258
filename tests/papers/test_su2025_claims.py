"""What the audit says of the experiments and rates of Su et al. 2025, by other means again."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws
from scipy.stats import binom

import shuffle_sym as ss
from shuffle_sym.papers import audit
from shuffle_sym.papers.su2025 import printed

CLAIMS = {claim.id: claim for claim in audit.claims()}


@pytest.mark.parametrize(("row", "id"), [("$k$-RR", "S-Table1-kRR"), ("OUE", "S-Table1-OUE")])
def test_one_more_wrong_entry_of_table_1_would_be_noticed(row, id, monkeypatch):
    monkeypatch.setitem(printed.TABLE_1, row, (*printed.TABLE_1[row][:4], 2 * printed.TABLE_1[row][4]))
    with pytest.raises(ss.VerificationError, match="does not hold either"):
        _ = CLAIMS[id].examine().verdict


def test_the_blanket_of_blh_is_far_above_two_datasets_by_the_lattice_too():
    R = ss.BLH(d=sp.oo, eps0=4)
    blanket = shuffled_laws(R, 1000).epsilon(1e-6, rtol=0.01, method="fft").lower
    # The others of the two datasets have a third value, as in the paper's Section 5.3.
    datasets = shuffled_laws(ss.decomposition.dataset(R, 0, 1, 2), 1000).epsilon(1e-6, rtol=0.01, method="fft").upper
    assert blanket > 1.9 * datasets


def clone_delta(eps0: float, n: int, eps: float) -> float:
    """The standard clone, from its definition: C ~ Bin(n − 1, e^-ε0), A ~ Bin(C, 1/2), Δ ~ Bern(e^ε0/(e^ε0 + 1))."""
    t, total = math.exp(eps0), 0.0
    for c in range(n):
        weight = binom.pmf(c, n - 1, 1 / t)
        if weight > 1e-13:
            without = np.append(binom.pmf(np.arange(c + 1), c, 0.5), 0.0)
            one_more = np.append(0.0, without[:-1])
            P, Q = t * one_more + without, one_more + t * without
            total += weight * float(np.maximum(P - math.exp(eps) * Q, 0).sum()) / (t + 1)
    return total


def bennett_delta(eps0: float, n: int, eps: float) -> float:
    """Balle et al., Lemmas 5.1, 5.3, 5.6 without am, and 5.8, for Laplace."""
    alpha, gamma = math.exp(eps), math.exp(-eps0 / 2)
    a, b = alpha - 1, (1 - alpha * math.exp(-eps0)) / gamma
    c = (alpha**2 + 1) / 3 * (2 / gamma + gamma**2) - 2 * alpha * (2 * gamma - gamma**2)
    u = a * b / c
    rate = c / b**2 * ((1 + u) * math.log1p(u) - u)
    return b / (math.log1p(u) * gamma * n) * (1 - gamma * -math.expm1(-rate)) ** n


def test_the_clone_is_below_bennetts_bound_for_laplace():
    assert clone_delta(0.1, 1000, 0.0103) < 1e-6 < bennett_delta(0.1, 1000, 0.0103)
    finding = CLAIMS["S-679"].examine().printed.finding
    assert "0.0101" in finding
    assert clone_delta(0.1, 1000, 0.0100) > 1e-6


def rounding_error(n: int, l: float) -> float:  # noqa: E741
    """2-RR, t = 1.1, α = 1.05: the sum of G is (1 − αt)i + (t − α)j, with multinomial counts."""
    t, alpha = 1.1, 1.05
    low, high, p = 1 - alpha * t, t - alpha, 1 / (t + 1)
    up_low, up_high = l * math.ceil(low / l - 1e-9), l * math.ceil(high / l - 1e-9)
    total = 0.0
    for i in range(n + 1):
        for j in range(n - i + 1):
            ways = math.comb(n, i) * math.comb(n - i, j)
            chance = ways * p ** (i + j) * ((t - 1) / (t + 1)) ** (n - i - j)
            total += chance * (max(up_low * i + up_high * j, 0) - max(low * i + high * j, 0))
    return total


def test_a_spacing_above_the_mean_makes_an_error_that_grows():
    errors = [rounding_error(n, 0.1) for n in (2, 16, 200)]
    assert errors[0] < errors[1] < errors[2]
    assert f"from {errors[0]:.4f} at n = 2 to {errors[1]:.4f} at n = 16" in CLAIMS["S-570"].examine().printed.finding
    assert rounding_error(200, 0.01) < rounding_error(50, 0.01)  # below the mean it falls


@pytest.mark.exact
def test_with_a_spacing_that_is_small_enough_the_statement_would_stand():
    a, b = Fraction(1, 21), Fraction(1, 10) * Fraction(41, 20)  # |e^-ε − 1| as printed, (t − 1)(α + 1)
    assert Fraction(1, 20) < Fraction(1, 10) < 2 * a**2 / b**2  # a = α − 1 is 1/20
