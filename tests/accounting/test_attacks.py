"""Attack ≤ truth ≤ bound: mixtures, two messages, and the sandwich, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import attacks
from shuffle_sym.truth import exact, ground_truth
from shuffle_sym.truth.two_messages import TwoMessages

q = sp.Rational
R3 = ss.KRR(k=3, eps0=sp.log(3))
SMALL = {
    "3-RR": R3,
    "lopsided": ss.from_matrix(
        [[q(1, 2), q(3, 10), q(1, 5)], [q(1, 10), q(3, 10), q(3, 5)], [q(1, 3), q(1, 3), q(1, 3)]]
    ),
    "BLH": ss.BLH(d=3, eps0=sp.log(2)),
}


def averaged_delta(R, x0, x1, weights, n, alpha):
    """D_α of the averages over all datasets of the others, message tuple by message tuple."""
    P, law = R.matrix(), {}
    for others in product(weights, repeat=n - 1):
        share = sp.prod(weights[x] for x in others)
        for messages in product(range(P.cols), repeat=n):
            rest = share * sp.prod(P[x, y] for x, y in zip(others, messages[1:], strict=True))
            entry = law.setdefault(tuple(sorted(messages)), [sp.Integer(0), sp.Integer(0)])
            entry[0] += rest * P[x0, messages[0]]
            entry[1] += rest * P[x1, messages[0]]
    return sum(max(p - alpha * r, 0) for p, r in law.values())


@pytest.mark.parametrize("R", [R3, SMALL["lopsided"]], ids=["3-RR", "lopsided"])
@pytest.mark.parametrize("weights", [{2: q(1)}, {0: q(1, 2), 2: q(1, 2)}, {0: q(1, 6), 1: q(1, 3), 2: q(1, 2)}])
def test_a_mixture_is_the_average_over_datasets(R, weights):
    for n, alpha in product([1, 2, 3], [q(1), q(6, 5), q(2)]):
        D = ss.decomposition.mixture(R, 0, 1, weights)
        assert exact.divergence(D, n, alpha) == averaged_delta(R, 0, 1, weights, n, alpha)


@pytest.mark.parametrize("R", SMALL.values(), ids=SMALL.keys())
def test_some_dataset_with_these_inputs_is_at_least_as_bad_as_the_mixture(R):
    for weights in ({0: q(1, 2), 2: q(1, 2)}, {0: q(1, 5), 1: q(2, 5), 2: q(2, 5)}, {0: q(1, 9), 1: q(8, 9)}):
        D = ss.decomposition.mixture(R, 0, 1, weights)
        for n, alpha in product([2, 3], [q(1), q(6, 5)]):
            worst = max(
                ground_truth.delta(R, (0, *others), (1, *others), alpha) for others in product(weights, repeat=n - 1)
            )
            assert exact.divergence(D, n, alpha) <= worst


def test_a_mixture_of_many_inputs_is_that_of_their_classes():
    # Five inputs of RAPPOR, all messages listed, against few classes: by exchangeability c depends on the sum of bits.
    R, s = ss.RAPPOR(d=4, eps0=2 * sp.log(2)), 2
    D = ss.decomposition.mixture(R, 0, 1, {2: q(1, 2), 3: q(1, 2)})
    mu, norm = q(1, s + 1), 1 + (q(s) ** 2 - 1) * q(1, s + 1)
    expected: dict[tuple[sp.Rational, sp.Rational], sp.Rational] = {}
    for bits in product((0, 1), repeat=4):
        ref = sp.prod(mu if bit else 1 - mu for bit in bits)
        likelihood = [(4 if bit else 1) / norm for bit in bits]
        c = ref * (likelihood[2] + likelihood[3]) / 2
        key = (ref * likelihood[0] / c, ref * likelihood[1] / c)
        expected[key] = expected.get(key, 0) + c
    assert {(a / c, b / c): c for a, b, c in zip(D.a, D.b, D.c, strict=True)} == expected


def test_others_may_send_what_is_impossible_for_the_first_user():
    # Only input 2 sends message 2: it says nothing about the first user, and was taken for missing mass.
    R = ss.from_matrix([[1, 0, 0], [q(1, 2), q(1, 2), 0], [0, q(1, 2), q(1, 2)]])
    for n, alpha in product([1, 2, 3], [q(1), q(3, 2)]):
        others = (2,) * (n - 1)
        D = ss.decomposition.dataset(R, 0, 1, 2)
        assert exact.divergence(D, n, alpha) == ground_truth.delta(R, (0, *others), (1, *others), alpha)


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


TWO = {
    "2-RR": ss.BinaryRR(eps0=sp.log(3)),
    "small eps0": ss.BinaryRR(eps0=sp.log(q(11, 10))),
    "lopsided": ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]),
    "lopsided, exchanged": ss.from_matrix([[0.2, 0.8], [0.7, 0.3]]),
    "proportional messages": ss.from_matrix([[q(1, 2), q(1, 4), q(1, 4)], [q(1, 10), q(9, 20), q(9, 20)]]),
    "a zero": ss.from_matrix([[1, 0], [q(1, 2), q(1, 2)]]),
    "three inputs": ss.from_matrix([[0.5, 0.5], [0.25, 0.75], [0.4, 0.6]]),
    "four inputs": ss.from_matrix([[0.3, 0.7], [0.5, 0.5], [0.45, 0.55], [0.2, 0.8]]),
}


@pytest.mark.parametrize("R", TWO.values(), ids=TWO.keys())
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_with_two_messages_all_datasets_are_known(R, n):
    truth = TwoMessages(R, n)
    for alpha in (q(1), q(21, 20), q(3, 2), q(2), q(29, 10)):
        exact_value, interval = ground_truth.worst_pair(R, n, alpha).delta, truth.delta(sp.log(alpha))
        assert exact_value in interval
        assert interval.width < 1e-11


@pytest.mark.parametrize("R", TWO.values(), ids=TWO.keys())
def test_the_composition_named_for_two_messages_has_that_divergence(R):
    n, alpha = 9, q(11, 10)
    truth = TwoMessages(R, n)
    worst = truth.worst(sp.log(alpha))
    others = tuple(x for x, count in worst.others.items() for _ in range(count))
    value = ground_truth.delta(R, (worst.first, *others), (worst.second, *others), alpha)
    assert value == ground_truth.worst_pair(R, n, alpha).delta


def test_the_published_pair_of_2rr_is_below_the_truth_for_a_hundred_users():
    # Others all 0 (Koskela et al. 2021, Section 4) against 49 zeros and 50 ones, both with certified ends.
    R = ss.BinaryRR(eps0=4)
    published = max(ss.Shuffle(ss.decomposition.dataset(R, 0, 1, x), 100).delta(0, rtol=1e-5).upper for x in (0, 1))
    assert TwoMessages(R, 100).delta(0).lower > 1.1 * published


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
