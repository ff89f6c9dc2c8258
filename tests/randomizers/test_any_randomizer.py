"""Only ε0 is known: what holds if the data are shuffled first, and why it does not hold if only messages are."""

import random
from fractions import Fraction
from itertools import permutations, product

import pytest
import sympy as sp

import shuffle_sym as ss

ALPHAS = (Fraction(1), Fraction(6, 5), Fraction(2), Fraction(5, 2))


def divergence(P: dict, Q: dict, alpha: Fraction) -> Fraction:
    return sum((max(P.get(y, 0) - alpha * Q.get(y, 0), Fraction(0)) for y in {*P, *Q}), Fraction(0))


def randomizer(rng: random.Random, t: Fraction) -> list[dict[tuple[int, int], Fraction]]:
    """Each of three inputs raises as many messages t times as the others; nobody else has these messages."""
    own, messages = rng.randrange(10**9), rng.choice([2, 3, 4])
    raised = rng.randint(1, messages - 1)
    rows = []
    for _ in range(3):
        some = rng.sample(range(messages), raised)
        total = raised * t + messages - raised
        rows.append({(own, y): (t if y in some else 1) / total for y in range(messages)})
    return rows


def published(randomizers: list, data: tuple[int, ...]) -> dict:
    """The law of all messages in order, if the data are shuffled and the i-th randomizer gets the i-th datum."""
    law: dict = {}
    orders = list(permutations(data))
    for order in orders:
        rows = [R[x] for R, x in zip(randomizers, order, strict=True)]
        for messages in product(*rows):
            p = Fraction(1, len(orders))
            for row, y in zip(rows, messages, strict=True):
                p *= row[y]
            law[messages] = law.get(messages, 0) + p
    return law


@pytest.mark.parametrize("seed", range(30))
def test_if_the_data_are_shuffled_first_every_place_may_have_a_randomizer_of_its_own(seed):
    rng = random.Random(seed)
    t, n = Fraction(3), 2 + seed % 2  # of 3,000 such cases the worst was at 0.9 of the bound
    M = ss.Shuffle(ss.AnyRandomizer(sp.log(3), data_shuffled_first=True), n)
    ends = M.hockey_stick([sp.Rational(alpha) for alpha in ALPHAS])
    randomizers = [randomizer(rng, t) for _ in range(n)]
    for others in product(range(3), repeat=n - 1):
        P, Q = (published(randomizers, (x, *others)) for x in (0, 1))
        for alpha, end in zip(ALPHAS, ends, strict=True):
            assert max(divergence(P, Q, alpha), divergence(Q, P, alpha)) <= Fraction(end.upper)


def test_users_who_keep_a_randomizer_of_their_own_may_hide_nothing():
    """2-RR on {0, 1} for user 1 and on {2, 3} for all others: the messages of user 1 are seen, whatever n is."""
    own, others = [{0: Fraction(3, 4), 1: Fraction(1, 4)}, {0: Fraction(1, 4), 1: Fraction(3, 4)}], 100
    alone = ss.Shuffle(ss.AnyRandomizer(sp.log(3)), 1).hockey_stick([1, 2])
    assert [divergence(*own, Fraction(alpha)) for alpha in (1, 2)] == [Fraction(1, 2), Fraction(1, 4)]
    assert all(Fraction(x) in end for x, end in zip(("1/2", "1/4"), alone, strict=True))
    for model in ({}, {"data_shuffled_first": True}):
        crowd = ss.Shuffle(ss.AnyRandomizer(sp.log(3), **model), 1 + others).delta(0)
        assert crowd.upper < 1 / 2  # no answer of a crowd is about them
    with pytest.raises(TypeError, match="shared"):
        ss.AnyRandomizer(1, shared=False)
