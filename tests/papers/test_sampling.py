"""The derivations about sampled users say what the package computes, and what brute force finds."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.papers import derivations
from shuffle_sym.papers.laws import divergence_of_laws, mixed, rows, shuffled
from shuffle_sym.papers.ours import sampling
from shuffle_sym.papers.tools import F

pytestmark = pytest.mark.exact

SEED = random.Random(20)


def a_law(size: int = 3) -> tuple[F, ...]:
    weights = [SEED.choice((0, 1, 1, 2, 5, 9)) for _ in range(size - 1)] + [SEED.randint(1, 4)]
    return tuple(F(w, sum(weights)) for w in weights)


@pytest.mark.parametrize("R", [ss.KRR(), ss.BLH(), ss.from_matrix([[F(1, 2), F(1, 2)], [F(1, 8), F(7, 8)]])], ids=repr)
def test_the_derived_mass_is_the_blanket_of_the_sampled_randomizer(R):
    rate = ss.parameter("q", 0, 1)
    derived = derivations.sampled_blanket().result.subs({sampling.gamma: R.gamma, sampling.q: rate})
    assert sp.simplify(derived - ss.Sampled(R, rate).gamma) == 0


def test_the_derived_common_part_is_the_smallest_entry_of_every_column():
    R, q = ss.from_matrix([a_law() for _ in range(3)]), F(1, 3)
    least = [min(column) for column in zip(*rows(ss.Sampled(R, q)), strict=True)]
    assert sorted(least) == sorted([*(q * min(column) for column in zip(*rows(R), strict=True)), 1 - q])


def test_the_identity_holds_for_any_three_laws():
    for _ in range(200):
        P, Q, mu = (dict(enumerate(a_law(4))) for _ in range(3))
        q, alpha = F(SEED.randint(1, 9), 9), 1 + F(SEED.randint(0, 30), 10)
        less = 1 + q * (alpha - 1)
        worlds = [mixed([(1 - q, mu), (q, law)]) for law in (P, Q)]
        mixture = mixed([(1 - less / alpha, mu), (less / alpha, Q)])
        assert divergence_of_laws(*worlds, less) == q * divergence_of_laws(P, mixture, alpha)


def in_batches(users: list[tuple[F, ...]], m: int) -> dict[tuple[int, ...], F]:
    batches = list(combinations(users, m))
    return mixed([(F(1, len(batches)), shuffled(batch)) for batch in batches])


def test_no_dataset_is_above_the_derived_upper_bound():
    positive = 0
    for _ in range(60):
        n = SEED.choice((2, 3, 4))
        m, inputs = SEED.randint(1, n - 1), [a_law() for _ in range(3)]
        others = [SEED.choice(inputs) for _ in range(n - 1)]
        q, alpha = F(m, n), 1 + F(SEED.randint(0, 12), 10)
        here = divergence_of_laws(*(in_batches([x, *others], m) for x in inputs[:2]), 1 + q * (alpha - 1))
        # The neighbours of which the derivation speaks: (x_0, T) beside (x_1, T), or (x_j, T) with another's x_j.
        neighbours = [
            divergence_of_laws(shuffled([inputs[0], *T]), shuffled([x, *T]), alpha)
            for T in combinations(others, m - 1)
            for x in inputs
        ]
        assert here <= q * max(neighbours)
        positive += here > 0
    assert positive > 20


def test_the_derived_decomposition_is_the_divergence_of_a_batch_of_others_who_are_alike():
    R = ss.from_matrix([[F(1, 2), F(1, 4), F(1, 4)], [F(1, 8), F(3, 8), F(1, 2)], [F(3, 5), F(1, 5), F(1, 5)]])
    laws = rows(R)
    for n, m in ((2, 1), (4, 2), (4, 3), (3, 3)):
        D = decomposition.in_batch(decomposition.dataset(R, 0, 1, 2), sp.Rational(m, n))
        for alpha in (F(1), F(6, 5), F(3, 2)):
            brute = divergence_of_laws(*(in_batches([laws[x]] + [laws[2]] * (n - 1), m) for x in (0, 1)), alpha)
            assert ss.Shuffle(D, m).exact(sp.Rational(alpha)) == sp.Rational(brute)


def test_what_the_derivations_rest_on_is_named():
    assert derivations.sampled_blanket().proved
    for name in ("batch_identity", "batch_lower"):
        assert {one.name for one in derivations.ALL[name]().by} == {"total probability"}
    assert {one.name for one in derivations.batch_upper().by} == {"total probability", "joint convexity"}


def test_one_more_user_is_never_worse():
    for _ in range(40):
        (first, second, *others), alpha = [a_law() for _ in range(5)], 1 + F(SEED.randint(0, 12), 10)
        few, more = (
            divergence_of_laws(shuffled([first, *others[:m]]), shuffled([second, *others[:m]]), alpha) for m in (2, 3)
        )
        assert derivations.one_more_user().statement[0].relation == "<="
        assert more <= few
