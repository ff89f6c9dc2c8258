"""Attack ≤ truth ≤ bound: the sandwich and its limit, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import attacks
from shuffle_sym.truth import ground_truth

q = sp.Rational
R3 = ss.KRR(k=3, eps0=sp.log(3))


def test_in_the_normal_limit_no_composition_is_worse_than_equal_others():
    # v' (Σ w_x Σ_x)^+ v <= max χ(x) for random matrices and random shares; the module says why.
    rng = np.random.default_rng(1)
    for _ in range(200):
        P = rng.dirichlet(np.ones(4), size=3)
        w, v = rng.dirichlet(np.ones(3)), P[0] - P[1]
        covariance = sum(share * (np.diag(row) - np.outer(row, row)) for share, row in zip(w, P, strict=True))
        value = v @ np.linalg.pinv(covariance) @ v
        assert value <= max(float(np.sum(v**2 / row)) for row in P) * (1 + 1e-9)
        assert math.isclose(
            float(v @ np.linalg.pinv(np.diag(P[2]) - np.outer(P[2], P[2])) @ v),
            float(np.sum(v**2 / P[2])),
            rel_tol=1e-6,
        )


def below(x: float) -> sp.Rational:
    """A rational number a little below e^x."""
    return sp.Rational(Fraction(math.exp(x))) * (1 - q(1, 10**9))


def above(x: float) -> sp.Rational:
    return sp.Rational(Fraction(math.exp(x))) * (1 + q(1, 10**9))


@pytest.mark.parametrize(("n", "delta"), [(1, 0.3), (2, 0.05), (4, 0.01)])
def test_the_truth_is_inside_the_sandwich(randomizer, n, delta):
    found = ss.sandwich(randomizer, n, delta, rtol=1e-3)
    if found.attack.lower > 0:
        assert ground_truth.worst_pair(randomizer, n, below(found.attack.lower)).delta > delta
    assert ground_truth.worst_pair(randomizer, n, above(found.bound.upper)).delta <= delta
    assert found.attack.lower <= found.bound.upper
    assert found.gap >= 0


@pytest.mark.parametrize(
    ("R", "suspect"),
    [
        (ss.BinaryRR(eps0=4), "none"),
        (ss.KRR(k=10, eps0=4), "none"),
        (ss.RAPPOR(d=10, eps0=4), "bound"),
        (ss.BLH(d=10, eps0=4), "bound"),
        (ss.HadamardResponse(K=16, eps0=4), "either"),
    ],
    ids=repr,
)
def test_the_suspect_of_an_open_sandwich_is_named(R, suspect):
    found = ss.sandwich(R, 3000, 1e-6, rtol=1e-3 / 2)
    assert found.suspect == suspect
    assert repr(R) in str(found)
    assert f"suspect: {suspect}" in str(found)


def test_the_limit_of_the_gap_is_the_ratio_of_two_formulas():
    # BLH: χ of equal others is (1 + 1/t)/2 of the blanket's, with d = oo; ε goes like the square root of χ.
    t = sp.Integer(9)
    R = ss.BLH(d=sp.oo, eps0=sp.log(t))
    blanket = attacks.chi_square(ss.decomposition.blanket(R))
    for x in (0, 1, 2):
        assert math.isclose(attacks.chi_square(ss.decomposition.dataset(R, 0, 1, x)), blanket * (1 + 1 / 9) / 2)


def test_the_normal_limit_is_the_limit_of_the_certified_values():
    D = ss.decomposition.dataset(ss.KRR(k=10, eps0=4), 0, 1, 2)
    for n, close in ((10**6, 0.02), (10**9, 0.001)):
        delta = 0.01 / math.sqrt(n)  # far enough down that ε is not 0
        value = ss.Shuffle(D, n).epsilon(delta)
        assert math.isclose(attacks.gaussian_epsilon(attacks.chi_square(D), n, delta), value.upper, rel_tol=close)


def test_hadamard_response_is_attacked_with_the_row_that_is_the_sum_of_two():
    # Rows 1 and 2 are the inputs 0 and 1; row 3 is their sum, and matches exactly where both or none of them match.
    assert ss.sandwich(ss.HadamardResponse(K=16, eps0=4), 2000, 1e-4).dataset == "0 against 1, all others 2"


def test_continuous_noise_has_a_sandwich_too():
    found = ss.sandwich(ss.Laplace(eps0=2), 200, 1e-3, rtol=1e-2)
    assert 0 < found.attack.lower < found.bound.upper
    assert found.suspect == "bound"
    # Cells lose: more of them, a larger divergence.
    coarse, fine = (attacks.cells_of_dataset(ss.Laplace(eps0=2), 0, cells) for cells in (4, 32))
    assert ss.Shuffle(coarse, 200).delta(0.1).lower < ss.Shuffle(fine, 200).delta(0.1).upper


def test_the_table_has_a_row_for_each_sandwich():
    found = [ss.sandwich(R3, 5, 0.01, rtol=0.01), ss.sandwich(ss.BinaryRR(eps0=1), 5, 0.01, rtol=0.01)]
    lines = attacks.table(found).splitlines()
    assert len(lines) == 4
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_an_epsilon_that_is_known_to_be_zero_has_no_gap():
    found = ss.sandwich(R3, 1, 0.9)
    assert (found.attack, found.bound, found.gap, found.suspect) == (ss.Interval(0, 0), ss.Interval(0, 0), 0, "none")
