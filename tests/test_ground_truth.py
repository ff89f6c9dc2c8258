"""Brute force over real datasets, and what the decompositions say about it."""

from __future__ import annotations

from itertools import product

import mpmath
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym import exact, ground_truth

pytestmark = pytest.mark.exact
q = sp.Rational
R3 = ss.KRR(k=3, eps0=sp.log(3))


def literal_delta(R, X0, X1, alpha):
    """D_α from the definition, message tuple by message tuple, sorted as a shuffler leaves them."""
    P = R.matrix()
    law: dict[tuple[int, ...], list[sp.Expr]] = {}
    for messages in product(range(P.cols), repeat=len(X0)):
        for i, X in enumerate((X0, X1)):
            probability = sp.prod(P[x, y] for x, y in zip(X, messages, strict=True))
            law.setdefault(tuple(sorted(messages)), [sp.Integer(0), sp.Integer(0)])[i] += probability
    return sum(max(p - alpha * r, 0) for p, r in law.values())


@pytest.mark.parametrize("others", [(), (0,), (2,), (0, 1), (2, 2), (1, 2)])
def test_polynomials_give_what_the_definition_gives(others):
    X0, X1 = (0, *others), (1, *others)
    assert ground_truth.delta(R3, X0, X1, q(6, 5)) == literal_delta(R3, X0, X1, q(6, 5))


def test_the_order_of_users_does_not_matter():
    assert ground_truth.delta(R3, (0, 1, 2), (0, 0, 2), 2) == ground_truth.delta(R3, (1, 2, 0), (0, 2, 0), 2)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("alpha", [q(1), q(6, 5), q(2)])
def test_the_worst_pair_is_the_worst_of_all_ordered_datasets(n, alpha):
    for R in (R3, ss.from_matrix([[0.7, 0.3], [0.2, 0.8]])):
        inputs = range(R.matrix().rows)
        everything = max(
            literal_delta(R, (x0, *others), (x1, *others), alpha)
            for others in product(inputs, repeat=n - 1)
            for x0, x1 in product(inputs, repeat=2)
        )
        found = ground_truth.worst_pair(R, n, alpha)
        assert found.delta == everything
        assert ground_truth.delta(R, found.X0, found.X1, alpha) == everything


def test_several_ratios_at_once_give_the_same_pairs():
    ratios = [q(1), q(6, 5), q(2)]
    assert ground_truth.worst_pairs(R3, 4, ratios) == [ground_truth.worst_pair(R3, 4, a) for a in ratios]


def test_no_dataset_is_worse_than_the_blanket(randomizer):
    for n, alpha in product([1, 2, 3, 4], [q(1), q(6, 5), q(2)]):
        truth, blanket = ground_truth.worst_pair(randomizer, n, alpha).delta, ss.Shuffle(randomizer, n).exact(alpha)
        # Rational values are compared as they are; of mpmath numbers 50 digits are good.
        with mpmath.workdps(60):
            assert truth <= blanket * (1 if isinstance(blanket, sp.Rational) else 1 + mpmath.mpf(10) ** -49)


def test_a_dataset_decomposition_is_that_dataset(randomizer):
    inputs = range(int(randomizer.input_count))
    for x2, n in product(inputs, [1, 2, 4]):
        others = (x2,) * (n - 1)
        formula = exact.divergence(ss.decomposition.dataset(randomizer, 0, 1, x2), n, q(6, 5))
        truth = ground_truth.delta(randomizer, (0, *others), (1, *others), q(6, 5))
        assert abs(mpmath.mpf(str(sp.Float(formula, 60))) - mpmath.mpf(str(sp.Float(truth, 60)))) < 1e-14
        if isinstance(formula, sp.Rational):
            assert formula == truth


def test_an_irrational_randomizer_gives_the_digits_of_its_rational_neighbour():
    # eps0 = log(3) + 10^-60 in mpmath against eps0 = log(3) in fractions.
    close = ss.BinaryRR(eps0=sp.log(3) + q(1, 10**60))
    exact_value = ground_truth.delta(ss.BinaryRR(eps0=sp.log(3)), (0, 1), (1, 1), 2)
    value = ground_truth.delta(close, (0, 1), (1, 1), 2, digits=50)
    assert isinstance(value, mpmath.mpf)
    with mpmath.workdps(60):
        assert abs(value - mpmath.mpf(1) / 16) < mpmath.mpf(10) ** -50
    assert exact_value == q(1, 16)
