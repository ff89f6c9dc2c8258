"""Sampled users: independently (`Sampled`) and without replacement (`Shuffle.sampled_from`), against brute force."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.truth import crowds

q = sp.Rational
THREE = ss.KRR(k=3, eps0=sp.log(3))


def matrix(rng: random.Random, inputs: int, messages: int) -> ss.Randomizer:
    """A random matrix with zeros in it, but with a message that all inputs send."""
    rows = []
    for _ in range(inputs):
        row = [rng.choice([0, 1, 1, 2, 5, 9]) for _ in range(messages - 1)] + [rng.randint(1, 6)]
        rows.append([q(e, sum(row)) for e in row])
    return ss.from_matrix(rows)


def literal_batches(rows: list[list[Fraction]], X: tuple[int, ...], m: int) -> dict[tuple[int, ...], Fraction]:
    """The law of the histogram of a batch, batch by batch and message by message."""
    law: dict[tuple[int, ...], Fraction] = {}
    batches = list(combinations(X, m))
    for batch in batches:
        for messages in product(range(len(rows[0])), repeat=m):
            p = Fraction(1, len(batches))
            for x, y in zip(batch, messages, strict=True):
                p *= rows[x][y]
            h = tuple(messages.count(y) for y in range(len(rows[0])))
            law[h] = law.get(h, Fraction(0)) + p
    return law


def test_poisson_sampling_is_exact_in_the_model():
    assert ss.Shuffle(ss.Sampled(THREE, q(1, 2)), 4).exact(q(6, 5)) == q(43, 400)
    assert ss.Sampled(THREE, q(1, 2)).gamma == q(3, 5) / 2 + q(1, 2)
    p = ss.parameter("p", 0, 1)
    gamma = ss.Sampled(ss.KRR(), p).gamma
    assert sp.simplify(gamma - (p * ss.KRR().gamma + 1 - p)) == 0


def test_a_void_message_is_one_message_of_the_matrix():
    rows = ss.Sampled(THREE, q(1, 3)).matrix().tolist()
    assert rows[1] == [*(e / 3 for e in THREE.matrix().tolist()[1]), q(2, 3)]
    assert ss.Sampled(THREE, 1).matrix() == THREE.matrix()
    assert repr(ss.Sampled(THREE, 0.25)) == "Sampled(KRR(k=3, eps0=log(3)), q=1/4)"


def test_many_rounds_of_sampled_users_are_within_one_percent():
    answer = ss.Shuffle(ss.Sampled(ss.KRR(k=10, eps0=4), 0.1), 10**5).compose(1_000).epsilon(1e-6)
    assert 0.99 * answer.upper <= answer.lower
    assert answer.upper <= 1.2945


@pytest.mark.parametrize("seed", range(4))
def test_the_brute_force_of_batches_is_the_literal_one(seed):
    rng = random.Random(seed)
    R, (m, n) = matrix(rng, 2, 3), rng.choice([(1, 2), (2, 3), (2, 4), (3, 4)])
    rows = [[Fraction(int(e.p), int(e.q)) for e in row] for row in R.matrix().tolist()]
    alpha = Fraction(rng.choice([10, 11, 13, 20]), 10)
    literal = max(
        crowds.divergence(literal_batches(rows, (x0, *others), m), literal_batches(rows, (1 - x0, *others), m), alpha)
        for x0 in (0, 1)
        for others in product((0, 1), repeat=n - 1)
    )
    assert crowds.worst_of_batches(R, m, n, q(alpha.numerator, alpha.denominator)) == literal


def test_the_largest_divergence_of_a_batch_is_below_the_bound_and_here_attained_by_a_dataset():
    batch = ss.Shuffle(THREE, 2).sampled_from(4)
    assert batch.exact(q(11, 10)) == q(17, 125)
    answer = batch.hockey_stick(q(11, 10))
    assert q(17, 125) in answer
    assert answer.lower > 0.1359
    assert answer.upper < q(7, 50)  # half of 7/25, which two shuffled users have at 6/5


def on_chairs(chairs: list[list[Fraction]], mine: list[list[Fraction]], less: Fraction, rest: Fraction) -> Fraction:
    """The mean positive part of the proof for drop-out: one chair is the differing user's, or none is."""
    total = Fraction(0)
    for z in product(range(len(mine[0])), repeat=len(chairs)):
        p = math.prod(row[y] for row, y in zip(chairs, z, strict=True))
        taken = sum(
            (mine[0][z[k]] - less * mine[1][z[k]]) * math.prod(chairs[i][z[i]] for i in range(len(z)) if i != k)
            for k in range(len(z))
        )
        total += max(taken / len(chairs) - rest * p, Fraction(0))
    return total


@pytest.mark.exact
@pytest.mark.parametrize("seed", range(6))
def test_no_dataset_is_above_the_blanket_and_drop_out_of_a_batch(seed):
    """Exact, dataset by dataset: in_batch of the blanket, and the sum over the places that `batches` proves."""
    rng = random.Random(seed)
    R, (m, n) = matrix(rng, 3, rng.choice([2, 3])), rng.choice([(2, 3), (2, 4), (3, 4), (3, 5)])
    rows = [[Fraction(int(e.p), int(e.q)) for e in row] for row in R.matrix().tolist()]
    share, less = Fraction(m, n), Fraction(rng.choice([10, 11, 13, 20]), 10)
    gamma, rest = sum(map(min, zip(*rows, strict=True))), (less - 1) * (1 / share - 1)
    law = decomposition.in_batch(decomposition.blanket(R, 0, 1), q(m, n))
    blanket = ss.Shuffle(law, m).exact(q(less.numerator, less.denominator))
    for others in combinations_with_replacement(range(3), n - 1):
        D = crowds.divergence(*(literal_batches(rows, (x, *others), m) for x in (0, 1)), less)
        nobody = (1 - gamma) ** (m - 1) * sum(max(a - less * b, 0) for a, b in zip(rows[0], rows[1], strict=True))
        places = Fraction(0)
        for j in range(1, m):
            sets = [on_chairs([rows[x] for x in S], rows[:2], less, rest) for S in combinations(others, m - j)]
            places += gamma * (1 - gamma) ** (j - 1) * sum(sets) / len(sets)
        assert blanket >= D <= share * (places + nobody)


@pytest.mark.parametrize("R", [ss.KRR(k=10, eps0=4), ss.BinaryRR(eps0=1), ss.BLH(d=100, eps0=4)], ids=repr)
def test_one_round_of_a_batch_is_known_within_three_percent(R):
    answer = ss.Shuffle(R, 1_000).sampled_from(10_000).epsilon(1e-6)
    assert answer.relative_width < 0.03


@pytest.mark.parametrize("seed", range(12))
def test_every_batch_is_between_the_ends(seed):
    rng = random.Random(100 + seed)
    R = matrix(rng, rng.choice([2, 3]), rng.choice([2, 3]))
    m, n = rng.choice([(1, 2), (1, 4), (2, 3), (2, 4), (3, 4)])
    batch = ss.Shuffle(R, m).sampled_from(n)
    for alpha in (q(9, 10), q(1), q(21, 20), q(3, 2), q(4)):
        assert batch.exact(alpha) in batch.hockey_stick(alpha)


def test_answers_about_a_batch_agree_with_one_another():
    batch = ss.Shuffle(ss.KRR(k=4, eps0=2), 300).sampled_from(3_000)
    delta = batch.delta(0.05)
    assert batch.log_delta(0.05).upper == pytest.approx(float(sp.log(delta.upper)), rel=1e-3)
    eps = batch.epsilon(delta.upper)
    assert eps.lower <= 0.05 <= eps.upper * 1.001
    profile = batch.profile(rtol=0.1)
    assert profile.delta(0.05).lower <= delta.upper
    assert profile.delta(0.05).upper >= delta.lower
    assert batch.compose(4).epsilon(1e-6, rtol=0.05).upper > batch.epsilon(1e-6).lower
    assert batch.rdp(2, rtol=0.05).lower > 0
    assert batch.epsilon(0.5).upper == 0.0  # a tenth of the users is in a batch
    assert str(delta.lower_by) == "0 against 1, all others 2"
    assert len(delta.lower_by.X0) == 3_000


def test_all_users_in_the_batch_are_no_sample():
    M = ss.Shuffle(THREE, 5)
    assert M.sampled_from(5) is M


def test_noise_is_sampled_too():
    noise = ss.Shuffle(ss.Laplace(eps0=1), 500).sampled_from(5_000).epsilon(1e-4)
    assert 0 < noise.lower < noise.upper < 0.1


def test_fewer_users_are_worse():
    M = ss.Shuffle(ss.KRR(k=3, eps0=1), 1_000)
    ends = [without.epsilon(1e-6).upper for without in M.without(range(0, 900, 200))]
    assert ends == sorted(ends)
    assert ends[0] == M.epsilon(1e-6).upper


def test_users_who_may_stay_away_are_no_worse_than_users_who_do():
    """Exact: each of two of the others stays away with its own probability, and nobody tells who."""
    rows = [[q(3, 4), q(1, 4), 0], [q(1, 4), q(3, 4), 0]]
    sometimes = [[q(1, 3) * p for p in row[:2]] + [q(2, 3)] for row in rows]
    rarely = [[q(9, 10) * p for p in row[:2]] + [q(1, 10)] for row in rows]
    parts = [(ss.from_matrix(P), count) for P, count in ((rows, 2), (sometimes, 1), (rarely, 1))]
    without_two = ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), 4).without(2)
    for alpha in (q(1), q(11, 10), q(2)):
        assert crowds.worst_of_groups(parts, 0, alpha) <= without_two.exact(alpha)


def test_of_fewer_users_there_are_as_many_sizes_of_sets_as_are_asked_for_and_the_large_ones_are_empty():
    half = [Fraction(1, 2)] * 2
    none, one, *larger = crowds._batches([half], 2, 4)
    assert none == {(0, 0): 1}
    assert one == {(1, 0): Fraction(1, 2), (0, 1): Fraction(1, 2)}
    assert larger == [{}, {}, {}]


def test_a_batch_of_the_only_user_there_is_has_the_divergence_of_that_user():
    R = ss.BinaryRR(eps0=sp.log(3))
    assert crowds.worst_of_batches(R, 1, 1, 1) == ss.ground_truth.worst_pair(R, 1, 1).delta == q(1, 2)
