"""Decompositions of datasets and of mixtures of datasets: against brute force."""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.truth import exact, ground_truth

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
