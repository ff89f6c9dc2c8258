"""Budgets: how many rounds are allowed, against exact fractions; and what is saved is what is loaded."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting.budget import Budget, rounds_allowed
from shuffle_sym.model import decomposition

q = sp.Rational
M = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000)


@pytest.mark.exact
@pytest.mark.parametrize(("n", "delta"), [(1, Fraction(1, 2)), (2, Fraction(3, 10)), (3, Fraction(1, 5))])
@pytest.mark.parametrize("alpha", [q(3, 2), q(3)])
def test_the_number_of_rounds_is_the_exact_one(n, delta, alpha):
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(2)), 0, 1, 0)
    pair, exact = ss.truth.exact.shuffled_pair(D, n), 0
    while ss.truth.exact.composed_divergence([pair] * (exact + 1), alpha) <= delta:
        exact += 1
    found = rounds_allowed(ss.Shuffle(D, n), sp.log(alpha), delta)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 1
    assert isinstance(found.lower, int)


def test_one_more_round_is_certainly_too_many():
    found = rounds_allowed(M, 5, 1e-6)
    assert M.compose(found.lower).meets(5, 1e-6) is True
    assert M.compose(found.upper + 1).meets(5, 1e-6) is False
    assert found.upper - found.lower <= 2


def test_a_budget_counts_what_was_spent_before():
    # Rounds of one mechanism are the same in one step or in many, by one object or by equal ones.
    budget = Budget()
    for _ in range(3):
        budget.spend(ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000), 10)
    budget.spend(M)
    assert budget.parts == ((budget.parts[0][0], 31),)
    assert budget.spent(1e-6, rtol=0.02) == M.compose(31).epsilon(1e-6, rtol=0.02)
    left, allowed = budget.left(M, 5, 1e-6, rtol=0.02), rounds_allowed(M, 5, 1e-6, rtol=0.02)
    assert (left.lower, left.upper) == (allowed.lower - 31, allowed.upper - 31)


def test_different_rounds_are_spent_together():
    other = ss.Shuffle(ss.KRR(k=10, eps0=2), n=10_000)
    budget = Budget()
    assert budget.spent(1e-6) == ss.Interval(0.0, 0.0)
    budget.spend(M, 5)
    budget.spend(other, 2)
    assert budget.rounds == 7
    assert budget.spent(1e-6, rtol=0.02) == ss.compose([(M, 5), (other, 2)]).epsilon(1e-6, rtol=0.02)


SMALL = ss.Shuffle(ss.KRR(k=3, eps0=1), n=100)
MIXED = ss.Shuffle([(ss.KRR(k=3, eps0=1), 50), (ss.KRR(k=3, eps0=4), 50)])


@pytest.mark.parametrize(("small", "large"), [(SMALL.sampled_from(1_000), SMALL), (MIXED.group(0), MIXED.group(1))])
def test_a_batch_or_a_group_is_not_the_mechanism_that_it_was_made_from(small, large):
    B = Budget()
    B.spend(small)
    B.spend(large)
    assert B.parts == ((small, 1), (large, 1))
    assert B.spent(1e-3, rtol=0.2).upper >= large.epsilon(1e-3).lower


def test_a_spent_budget_is_refused_with_what_was_spent():
    budget = Budget()
    budget.spend(M, 100)
    with pytest.raises(ValueError, match=r"eps = 1 at delta = 1e-06 is already spent: \[4\.6"):
        budget.left(M, 1, 1e-6)


def test_nothing_is_spent_by_what_is_refused():
    budget = Budget()
    budget.spend(M)
    with pytest.raises(ValueError, match="one neighbouring relation"):
        budget.spend(ss.Shuffle(decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0), 5))
    assert budget.rounds == 1


SAVED = [
    ss.KRR(k=10, eps0=sp.log(3)),
    ss.BinaryRR(eps0=0.1),
    ss.SubsetSelection(d=8, w=2, eps0=1),
    ss.OUE(d=3, eps0=1),
    ss.RAPPOR(d=3, eps0="3/2"),
    ss.BLH(eps0=1),
    ss.OLH(g=4, eps0=1),
    ss.HadamardResponse(K=8, eps0=1),
    ss.Laplace(eps0=1),
    ss.Gaussian(sigma=2),
    ss.AnyRandomizer(eps0=1),
    ss.AnyRandomizer(eps0=1, data_shuffled_first=True),
    ss.randomizers.DiscreteLaplace(k=4, eps0=1),
    ss.randomizers.AsymmetricLaplace(left=1, right="1/2"),
    ss.randomizers.PiecewiseMechanism(eps0=2),
    ss.from_matrix([[q(2, 3), q(1, 3)], ["1/3", "2/3"]]),
    ss.from_matrix([[1 / (1 + sp.E), sp.E / (1 + sp.E)], [q(1, 2), q(1, 2)]], messages=["no", "yes"]),
    ss.Joint(ss.BinaryRR(eps0=1), ss.KRR(k=3, eps0=sp.log(2))),
    ss.Parallel([ss.KRR(k=3, eps0=1), ss.KRR(k=3, eps0=0)], ["1/3", "2/3"]),
    ss.Sampled(ss.Joint(ss.BinaryRR(eps0=1), ss.BinaryRR(eps0=2)), "0.1"),
]


def test_what_is_saved_is_what_is_loaded():
    budget = Budget()
    for i, R in enumerate(SAVED, start=1):
        budget.spend(ss.Shuffle(R, 10 * i), i)
    again = Budget.from_json(budget.to_json())
    assert again == budget
    assert [(one.source, one.n, count) for one, count in again.parts] == [
        (R, 10 * i, i) for i, R in enumerate(SAVED, start=1)
    ]
    again.spend(M)
    assert again != budget


@pytest.mark.parametrize("kept", [SMALL.sampled_from(1_000), MIXED, MIXED.group(1)], ids=repr)
def test_a_batch_and_a_group_are_saved_as_what_they_are(kept):
    B = Budget()
    B.spend(kept, 3)
    ((again, rounds),) = Budget.from_json(B.to_json()).parts
    assert repr(again) == repr(kept)
    assert rounds == 3
    assert again.__reduce__() == kept.__reduce__() != SMALL.__reduce__()


def test_a_budget_of_the_first_version_is_read():
    entry = {"randomizer": "KRR", "parameters": {"k": "3", "eps0": "log(3)"}, "n": 5, "rounds": 2}
    old = Budget.from_json(json.dumps({"format": "shuffle_sym budget 1", "spent": [entry]}))
    assert old.parts[0][0].source == ss.KRR(k=3, eps0=sp.log(3))
    assert old.rounds == 2


@pytest.mark.parametrize(
    "source",
    [
        decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0),
        ss.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]], messages=[("a",), ("b",)]),
    ],
    ids=["decomposition", "messages that are no text"],
)
def test_what_has_no_name_is_not_saved(source):
    budget = Budget()
    budget.spend(ss.Shuffle(source, 5))
    with pytest.raises(ValueError, match="cannot be saved"):
        budget.to_json()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"randomizer": "os.system"}, "one of BLH"),
        ({"parameters": {"k": "__import__('os')", "eps0": "1"}}, "k must be"),
        ({"parameters": {"k": "3", "eps0": "1", "extra": "1"}}, "with its parameters, got .*extra"),
        ({"rounds": 0}, "rounds must be"),
        ({"n": 0}, "n must be"),
        ({"steps": [["__class__", 1]]}, "a step must be"),
        ({"randomizer": "Sampled", "parameters": {"R": "1", "q": "1/2"}}, "R must be"),
    ],
)
def test_a_file_that_was_changed_is_refused(change, words):
    budget = Budget()
    budget.spend(ss.Shuffle(ss.KRR(k=3, eps0=1), 5))
    saved = json.loads(budget.to_json())
    saved["spent"][0] |= change
    with pytest.raises((ValueError, TypeError), match=words):
        Budget.from_json(json.dumps(saved))


# -- the package of Google as a second opinion


def test_the_composed_export_is_not_above_our_upper_end():
    profile = M.profile()
    rounds, eps = 1000, 20.0
    ours = M.compose(rounds).delta(eps)
    coarse, fine = (
        profile.as_pld().to_dp_accounting(spacing).self_compose(rounds).get_delta_for_epsilon(eps)
        for spacing in (2e-3, 1e-3)
    )
    assert ours.lower <= fine <= coarse
    assert fine <= ours.upper + (coarse - fine) + 1e-9  # the discretisation goes with the square of the spacing
    assert math.isclose(fine, ours.upper, rel_tol=0.05)
