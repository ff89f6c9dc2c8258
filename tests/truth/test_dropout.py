"""The drop-out bound in fractions: against the view of its proof, taken literally, and against all real datasets."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import pytest
import sympy as sp

import shuffle_sym as ss
from checks import dropout_grid
from shuffle_sym.model.gparv import LawOfG
from shuffle_sym.truth import dropout, ground_truth

pytestmark = pytest.mark.exact
q = sp.Rational
F = Fraction

MATRICES = {
    "lopsided": [[q(7, 10), q(3, 10)], [q(1, 5), q(4, 5)]],
    "null for x1": [[q(1, 2), q(1, 2), 0], [0, q(1, 2), q(1, 2)]],
    "null for a third": [[q(1, 2), q(1, 4), q(1, 4)], [q(1, 4), q(1, 4), q(1, 2)], [0, q(1, 2), q(1, 2)]],
    "only a third says 2": [[q(3, 4), q(1, 4), 0], [q(1, 4), q(3, 4), 0], [q(1, 8), q(1, 8), q(3, 4)]],
    "nearly deterministic": [[q(98, 100), q(1, 100), q(1, 100)], [q(1, 100), q(98, 100), q(1, 100)]],
}


def literal_view(matrix, x0, x1, others, alpha, weights, common):
    """D_α of everything that the proof reveals, outcome by outcome: orders, coins, messages, dropout."""
    names, messages = range(len(others)), range(len(matrix[0]))
    seen: dict[object, list[Fraction]] = {}

    def reveal(view, place, probability):
        for world, x in enumerate((x0, x1)):
            for own in messages:
                seen.setdefault(view(place, own), [F(0), F(0)])[world] += probability * matrix[x][own]

    for order in permutations(names):
        ordered = F(1)
        for i, name in enumerate(order):
            ordered *= weights[others[name]] / sum(weights[others[k]] for k in order[i:])
        for sent in product(messages, repeat=len(others)):
            stayed = ordered
            for i, name in enumerate(order):
                y, c = sent[name], common[others[name]][sent[name]]
                rest = F(1)
                for k in order[i + 1 :]:
                    rest *= matrix[others[k]][sent[k]]
                before = tuple((k, sent[k]) for k in order[:i])

                def chairs(place, own, before=before, y=y, left=order[i:], sent=sent):
                    return before, y, tuple(sorted((k, own if k == place else sent[k]) for k in left))

                reveal(chairs, name, stayed * c * rest)
                stayed *= matrix[others[name]][y] - c
            reveal(lambda _, own, by_name=sent: (by_name, own), None, stayed)
    return sum((max(P - alpha * Q, F(0)) for P, Q in seen.values()), F(0))


def fractions_of(matrix):
    return [[F(str(e)) for e in row] for row in matrix]


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("alpha", [q(2, 3), q(6, 5)])
def test_one_dataset_is_the_divergence_of_the_view_in_the_proof(name, alpha):
    matrix = fractions_of(MATRICES[name])
    others = tuple(i % len(matrix) for i in range(3))
    least = [min(matrix[x][y] for x in set(others)) for y in range(len(matrix[0]))]
    literal = literal_view(
        matrix, 0, 1, others, F(str(alpha)), dict.fromkeys(others, F(1)), dict.fromkeys(others, least)
    )
    assert dropout.dataset_bound(ss.from_matrix(MATRICES[name]), 0, 1, others, alpha) == q(literal)


@pytest.mark.parametrize("name", MATRICES)
def test_chairs_of_different_weights_are_the_divergence_of_their_view(name):
    matrix, alpha = fractions_of(MATRICES[name]), F(9, 8)
    others = tuple(i % len(matrix) for i in range(3))
    weights = {x: F(x + 1, 2) for x in set(others)}
    common = {x: [e * F(y + 1, y + 2 + x) for y, e in enumerate(matrix[x])] for x in set(others)}
    literal = literal_view(matrix, 0, 1, others, alpha, weights, common)
    R = ss.from_matrix(MATRICES[name])
    assert dropout.dataset_bound(R, 0, 1, others, alpha, weights=weights, common=common) == q(literal)


def test_the_sum_over_the_places_by_hand():
    # 2-RR, t = 3, α = 2: with others x0 G is 1/3 or −5 with 3/4, 1/4, and Φ_N = (3/4)^N/3 as one −5 outweighs all;
    # with others x1 it is 1 or −5/3: Φ_1 = 1/4, Φ_2 = 2/16/2 = 1/16. γ = 1/2.
    R = ss.BinaryRR(eps0=sp.log(3))
    assert dropout.largest_means(dropout.laws(R, 0, 1, 2), 2) == [F(1, 4), F(3, 16)]
    assert dropout.bounds(R, 0, 1, 3, 2) == [q(1, 4), q(1, 4), q(3, 32) + q(1, 8)]


@pytest.mark.parametrize("name", MATRICES)
def test_below_one_the_swapped_pair_says_the_same(name):
    R, alpha = ss.from_matrix(MATRICES[name]), q(3, 4)
    swapped = [1 - alpha + alpha * value for value in dropout.bounds(R, 1, 0, 4, 1 / alpha)]
    assert dropout.bounds(R, 0, 1, 4, alpha) == swapped


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("alpha", [q(2, 3), q(1), q(6, 5), q(5, 2)])
def test_pruned_laws_have_the_same_largest_means(name, alpha):
    candidates = dropout.laws(ss.from_matrix(MATRICES[name]), 0, 1, alpha)
    assert dropout.largest_means(dropout.pruned(candidates), 4) == dropout.largest_means(candidates, 4)


def test_pruning_keeps_one_of_two_equal_laws():
    (law,) = dropout.extreme_laws(F(1), F(2))
    assert dropout.pruned([law, law]) == [law]


def test_the_largest_mean_of_one_chair_is_the_local_divergence_and_means_fall():
    rng = random.Random(1)
    for _ in range(40):
        matrix = dropout_grid.random_matrix(rng)
        R = ss.from_matrix(matrix)
        alpha = q(rng.randint(1, 30), 10)
        means = dropout.largest_means(dropout.laws(R, 0, 1, alpha), 4)
        local = sum(max(a - alpha * b, 0) for a, b in zip(matrix[0], matrix[1], strict=True))
        assert means[0] == F(str(local))
        assert means == sorted(means, reverse=True)


def test_every_dataset_is_below_its_own_bound_and_that_is_below_the_bound_for_all():
    rng = random.Random(2)
    for _ in range(25):
        R = ss.from_matrix(dropout_grid.random_matrix(rng))
        n, alpha = rng.randint(2, 5), q(rng.randint(2, 40), 15)
        largest = dropout.bound(R, 0, 1, n, alpha)
        for others in list(combinations_with_replacement(range(int(R.input_count)), n - 1))[:6]:
            truth = ground_truth.delta(R, (0, *others), (1, *others), alpha)
            own = dropout.dataset_bound(R, 0, 1, others, alpha)
            assert truth <= own <= largest, (R, others, alpha)


def test_any_weights_and_any_common_part_bound_every_dataset():
    rng = random.Random(3)
    for _ in range(25):
        matrix = dropout_grid.random_matrix(rng)
        R, inputs = ss.from_matrix(matrix), range(len(matrix))
        others = [rng.choice(inputs) for _ in range(rng.randint(1, 4))]
        weights = {x: q(rng.randint(1, 9), rng.randint(1, 9)) for x in inputs}
        common = {x: [q(rng.randint(0, 4), 4) * e for e in matrix[x]] for x in inputs}
        alpha = q(rng.randint(2, 40), 15)
        truth = ground_truth.delta(R, (0, *others), (1, *others), alpha)
        assert truth <= dropout.dataset_bound(R, 0, 1, others, alpha, weights=weights, common=common)


def sample(**options):
    return dropout_grid.run(dropout_grid.random_cases(randomizers=14, seed=4, most_users=4), **options)


def test_no_dataset_is_above_the_bound():
    report = sample()
    assert report.comparisons > 700
    assert not report.violations


def test_two_users_too_many_are_noticed_by_real_datasets():
    assert sample(bounds=lambda R, x0, x1, n, alpha: dropout.bounds(R, x0, x1, n + 2, alpha)[2:], stop=True).violations


def test_one_user_too_many_is_noticed_by_the_exact_bound():
    # Real datasets do not notice it: with all others equal the truth is Φ_n, which is at most the first term then.
    def too_many(R, x0, x1, n, alpha):
        return dropout.bounds(R, x0, x1, n + 1, alpha)[1:]

    assert sample(bounds=too_many, reference=dropout.bounds, stop=True).violations
    (case, *_) = dropout_grid.random_cases(randomizers=0, most_users=3)
    assert not dropout_grid.run([case], reference=dropout.bounds).violations


def test_a_bound_for_one_number_of_users_can_be_checked():
    (case, *_) = dropout_grid.random_cases(randomizers=0, most_users=3)
    one_by_one, at_once = (
        dropout_grid.run([case], bounds) for bounds in (dropout_grid.each(dropout.bound), dropout.bounds)
    )
    assert one_by_one == at_once
    assert dropout_grid.run([case], dropout_grid.each(lambda *_: 0.0)).violations


def own_bounds_above_the_bound_for_all():
    """Datasets of 2-RR whose own bound, with the common part of all inputs, is above that for all datasets."""
    R, least = ss.BinaryRR(eps0=sp.log(3)), [q(1, 4), q(1, 4)]
    return [
        (others, alpha)
        for alpha in (q(1), q(3, 2), q(2))
        for others in combinations_with_replacement((0, 1), 3)
        if dropout.dataset_bound(R, 0, 1, others, alpha, common={0: least, 1: least}) > dropout.bound(R, 0, 1, 4, alpha)
    ]


def test_no_dataset_has_a_bound_of_its_own_above_the_bound_for_all(monkeypatch):
    assert not own_bounds_above_the_bound_for_all()
    means = dropout.largest_means

    def one_user_too_many(candidates, most):
        return means(candidates, most + 1)[1:] if most else []

    monkeypatch.setattr(dropout, "largest_means", one_user_too_many)
    assert own_bounds_above_the_bound_for_all()


def _without_null(law):
    return LawOfG(tuple(law.values), tuple(law.probabilities), ())


def _without_zero(law):
    kept = [(v, p) for v, p in zip(law.values, law.probabilities, strict=True) if v != 0]
    values, probabilities = zip(*kept, strict=True) if kept else ((F(0),), (F(1),))
    return LawOfG(values, probabilities, tuple(law.null))


@pytest.mark.parametrize("wrong", [_without_null, _without_zero], ids=["null messages forgotten", "zeros forgotten"])
def test_a_law_that_lost_something_is_noticed(monkeypatch, wrong):
    monkeypatch.setattr(dropout, "_tidy", wrong)
    assert sample(stop=True).violations


def test_laws_are_those_of_the_datasets_decomposition(randomizer):
    if not randomizer.matrix().is_symbolic() and all(e.is_Rational for e in randomizer.matrix()):
        alpha = q(7, 5)
        for x, law in enumerate(dropout.laws(randomizer, 0, 1, alpha)):
            listed = ss.decomposition.dataset(randomizer, 0, 1, x).gparv.exact(alpha, 15)
            assert law == dropout._tidy(listed)


def test_a_user_alone_has_the_divergence_of_one_message():
    R = ss.BinaryRR(eps0=sp.log(3))
    assert dropout.dataset_bound(R, 0, 1, (), 2) == dropout.bound(R, 0, 1, 1, 2) == ground_truth.delta(R, (0,), (1,), 2)


def test_a_law_must_be_complete():
    with pytest.raises(ValueError, match="must sum to 1, got 1/2"):
        dropout._tidy(LawOfG([F(1)], [F(1, 2)], []))


def test_every_randomizer_with_the_same_level_is_below_theorem_5():
    alphas = (q(1, 2), q(1), q(5, 4), q(2))
    for t, n in ((q(3, 2), 3), (q(4), 4)):
        bounds = [dropout.any_randomizer_bound(sp.log(t), n, alpha) for alpha in alphas]
        for R in (ss.BinaryRR(eps0=sp.log(t)), ss.KRR(k=3, eps0=sp.log(t)), ss.BLH(d=3, eps0=sp.log(t))):
            for alpha, largest, worst in zip(alphas, bounds, ground_truth.worst_pairs(R, n, alphas), strict=True):
                assert worst.delta <= largest
                # With the randomizer's own γ, which is at least 1/t, and its own laws.
                assert dropout.worst_bound(R, n, alpha) <= largest


@pytest.mark.parametrize("alpha", [F(1, 4), F(1, 2), F(1), F(3, 2), F(5)])
def test_one_user_of_theorem_5_is_2_rr(alpha):
    t = F(3)
    formula = max(1 - alpha, max(t - alpha, F(0)) / (t + 1))
    assert dropout.largest_means(dropout.extreme_laws(t, alpha), 1) == [formula]
    assert dropout.any_randomizer_bound(sp.log(3), 1, q(alpha)) == q(formula)


def test_without_any_loss_theorem_5_is_zero():
    assert dropout.any_randomizer_bound(0, 5, 1) == 0
    assert dropout.any_randomizer_bound(0, 5, q(1, 2)) == q(1, 2)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda R: dropout.bound(R, 0, 1, 5000, 2), ValueError, "the largest feasible n is"),
        (lambda R: dropout.bound(R, 0, 0, 3, 2), ValueError, "x0 and x1 must be different"),
        (lambda R: dropout.bound(R, 0, 1, 0, 2), ValueError, "n must be an integer >= 1"),
        (lambda R: dropout.bound(R, 0, 1, 3, 0), ValueError, "alpha must be a number > 0"),
        (lambda R: dropout.bound(R, 0, 1, 3, sp.sqrt(2)), ValueError, "alpha must be a rational number"),
        (lambda R: dropout.bound(ss.KRR(k=3, eps0=1), 0, 1, 3, 2), ValueError, "R must have rational probabilities"),
        (lambda R: dropout.bound(ss.KRR(k=3), 0, 1, 3, 2), TypeError, "still symbolic"),
        (lambda R: dropout.bound(ss.Laplace(eps0=1), 0, 1, 3, 2), TypeError, "finitely many messages"),
        (lambda R: dropout.dataset_bound(R, 0, 1, (0, 7), 2), ValueError, r"others\[1\] must be"),
        (lambda R: dropout.dataset_bound(R, 0, 1, (0, 2), 2, weights={0: 1}), ValueError, "2 is missing"),
        (
            lambda R: dropout.dataset_bound(R, 0, 1, (0,), 2, weights={0: 0}),
            ValueError,
            r"weights\[0\] must be a number",
        ),
        (lambda R: dropout.dataset_bound(R, 0, 1, (0,), 2, common={0: [1]}), ValueError, "row of 3 numbers"),
        (
            lambda R: dropout.dataset_bound(R, 0, 1, (0,), 2, common={0: [1, 0, 0]}),
            ValueError,
            r"common\[0\]\[0\] must be in 0",
        ),
        (lambda R: dropout.any_randomizer_bound(1, 3, 2), ValueError, "eps0 must have a rational"),
    ],
)
def test_what_cannot_be_computed_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call(ss.KRR(k=3, eps0=sp.log(3)))


def test_the_largest_feasible_number_of_users_is_feasible():
    R = ss.from_matrix(MATRICES["lopsided"])
    with pytest.raises(ValueError, match="feasible") as refusal:
        dropout.bound(R, 0, 1, 5000, 2)
    largest = int(str(refusal.value).rsplit(" ", 1)[1])
    chosen = dropout.pruned(dropout.laws(R, 0, 1, 2))
    assert dropout.work(largest, chosen) <= dropout.MAX_SUMS < dropout.work(largest + 1, chosen)


def test_a_thousand_users_with_one_law():
    # 3-RR: all others a third input is worst whatever the number of chairs, G is 2, 0 or −2 at α = 1, and t = 3.
    values = dropout.bounds(ss.KRR(k=3, eps0=sp.log(3)), 0, 1, 1010, 1)
    assert len(values) == 1010
    assert values == sorted(values, reverse=True)
    # Theorem 6: √n D → √(χ/2π), χ = 2(t − 1)²/(t + 2) = 8/5.
    assert float(values[-1]) * 1010**0.5 == pytest.approx((8 / 5 / (2 * sp.pi.n())) ** 0.5, rel=0.01)


def test_sums_are_not_more_than_announced():
    for name, matrix in MATRICES.items():
        candidates = dropout.laws(ss.from_matrix(matrix), 0, 1, q(6, 5))
        for n in (2, 3, 4):
            listed = {}
            for counts, _ in dropout.sums(candidates, (n,) * len(candidates), n - 1):
                values = {F(0)}
                for law, count in zip(candidates, counts, strict=True):
                    for _ in range(count):
                        values = {v + w for v in values for w in law.values}
                listed[counts] = len(values)
            assert sum(listed.values()) <= dropout.work(n, candidates), name


def test_the_work_is_the_number_of_sums_where_all_of_them_are_different():
    # A sum of N values −1, 0, 1 is one of 2N + 1 numbers; of two values without a common unit, one of N + 1.
    three = LawOfG((F(-1), F(0), F(1)), (F(1, 4), F(1, 2), F(1, 4)), ())
    assert dropout.work(6, [three]) == 3 + 5 + 7 + 9 + 11
    two = LawOfG((F(-1, 997), F(1)), (F(1, 2), F(1, 2)), ())
    assert dropout.work(6, [two]) == 1 + 2 + 3 + 4 + 5 + 6
    assert dropout.work(2, [three, two]) >= 3 + 2


def test_the_work_of_a_list_of_chairs_is_the_number_of_its_multisets():
    far = LawOfG((F(1, 7919), F(-1, 7907)), (F(1, 2), F(1, 2)), ())  # on no lattice with few points
    assert dropout.work(3, [far]) == 1 + 2 + 3
    near = LawOfG((F(1), F(-1)), (F(1, 2), F(1, 2)), ())
    assert dropout.work(31, [near, near]) == sum((size + 1) * (2 * size + 1) for size in range(1, 31))


def test_sums_of_chairs_are_refused_where_one_more_than_allowed_is_listed(monkeypatch):
    laws = dropout.laws(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 2)
    for most in (2, 5):
        listed = dropout.work(most + 1, laws)
        monkeypatch.setattr(dropout, "MAX_SUMS", listed)
        assert len(dropout.largest_means(laws, most)) == most
        monkeypatch.setattr(dropout, "MAX_SUMS", listed - 1)
        with pytest.raises(ValueError, match=f"the largest feasible n is {most}"):
            dropout.largest_means(laws, most)


@pytest.mark.parametrize("weight", [0, -1])
def test_weights_that_are_not_positive_are_refused(weight):
    with pytest.raises(ValueError, match=r"weights\[1\] must be a number > 0"):
        dropout._weights([0, 1], {0: 1, 1: weight})


def test_the_worst_bound_is_above_the_worst_datasets_where_two_inputs_are_nearly_the_same():
    R = ss.from_matrix([[q(1, 2), q(1, 2)], [q(49, 100), q(51, 100)], [q(1, 10), q(9, 10)]])
    truth = ground_truth.worst_pair(R, 3, q(5, 4)).delta
    assert dropout.bound(R, 0, 1, 3, q(5, 4)) < truth <= dropout.worst_bound(R, 3, q(5, 4))
