"""Brute force over real datasets, and what the decompositions say about it."""

from __future__ import annotations

import itertools
import math
from itertools import product

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.truth import exact, ground_truth
from shuffle_sym.truth.ground_truth import Messages, Symmetry
from shuffle_sym.truth.histograms import histograms

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
        truth, blanket = ground_truth.worst_pair(randomizer, n, alpha).delta, shuffled_laws(randomizer, n).exact(alpha)
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


# ---------------------------------------------------------------------------------------------- merged messages

# The second and third messages are proportional; the last is impossible.
REPEATED = ss.from_matrix(
    [[q(1, 2), q(1, 6), q(1, 3), 0], [q(1, 4), q(1, 4), q(1, 2), 0], [q(3, 4), q(1, 12), q(1, 6), 0]]
)


@pytest.mark.parametrize("others", [(), (0,), (2, 2), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("alpha", [q(1), q(6, 5), q(3, 2)])
def test_merging_proportional_messages_loses_nothing(others, alpha):
    X0, X1 = (0, *others), (1, *others)
    assert Messages(REPEATED, 1, [], 50).width == 2
    assert ground_truth.delta(REPEATED, X0, X1, alpha) == literal_delta(REPEATED, X0, X1, alpha)


def test_rappor_with_three_bits_has_seven_kinds_of_messages():
    # All bits set and no bit set tell nothing about the input: the two columns are constant.
    assert Messages(ss.RAPPOR(d=3, eps0=2 * sp.log(2)), 1, [], 50).width == 7
    assert Messages(ss.RAPPOR(d=3, eps0=1), 1, [], 50).width == 7


@pytest.mark.parametrize("X", [(), (0,), (0, 1), (2, 2, 0), (0, 1, 2, 2, 1)])
def test_an_array_holds_the_coefficients_of_the_polynomial(X):
    R = ss.KRR(k=3, eps0=sp.log(q(7, 2)))
    kinds = Messages(R, max(len(X), 1), [], 50)
    ring, *z = sp.ring("z:3", sp.ZZ)
    polynomial = ring.one
    for x in X:
        polynomial *= sum(((7 if y == x else 2) * z[y] for y in range(3)), ring.zero)  # the rows are (7, 2, 2)/11
    expected = {histogram: int(coefficient) for histogram, coefficient in polynomial.terms()}
    found = zip(histograms(len(X), 3).tolist(), kinds.shuffled(X), strict=True)
    assert {tuple(histogram): int(coefficient) for histogram, coefficient in found} == expected
    assert kinds.total == 11 ** max(len(X), 1)


# ---------------------------------------------------------------------------------------------- all α at once


def test_several_alphas_from_one_sorted_list_are_the_single_ones(randomizer):
    alphas = [q(1, 2), q(1), q(6, 5), q(3, 2), q(2), q(3), q(100)]
    X0, X1 = (0, 1), (1, 1)
    together = ground_truth.deltas(randomizer, X0, X1, alphas)
    for alpha, value in zip(alphas, together, strict=True):
        if isinstance(value, sp.Rational):
            assert value == literal_delta(randomizer, X0, X1, alpha)
        else:
            assert value == ground_truth.delta(randomizer, X0, X1, alpha)


def test_likelihood_ratios_that_round_to_alpha_are_told_apart():
    # t = 1 + 10^-20: as doubles all ratios and all these α are 1.
    tiny = q(1, 10**20)
    R = ss.BinaryRR(eps0=sp.log(1 + tiny))
    for alpha in (1 - tiny / 2, q(1), 1 + tiny / 3, 1 + tiny, 1 + 2 * tiny):
        for others in [(), (0,), (0, 1)]:
            X0, X1 = (0, *others), (1, *others)
            assert ground_truth.delta(R, X0, X1, alpha) == literal_delta(R, X0, X1, alpha)
        for n in (1, 2, 3):  # both directions
            pairs = [((x, *others), (1 - x, *others)) for x in (0, 1) for others in product((0, 1), repeat=n - 1)]
            assert ground_truth.worst_pair(R, n, alpha).delta == max(literal_delta(R, *pair, alpha) for pair in pairs)
    assert ground_truth.delta(R, (0,), (1,), 1) == tiny / (2 + tiny)


def test_an_alpha_that_is_a_likelihood_ratio_adds_nothing_for_it():
    # One user of 2-RR with t = 3: the ratios are 3 and 1/3.
    R = ss.BinaryRR(eps0=sp.log(3))
    assert ground_truth.deltas(R, (0,), (1,), [q(1, 3), 1, 3]) == [q(2, 3), q(1, 2), 0]


@pytest.mark.parametrize("n", [12, 24, 40])
def test_large_n_agrees_with_the_formula_of_the_decomposition(n):
    # 5^22 < 2^53 < 5^23: on both sides of the step from 64 bits to Python's integers.
    others = (2,) * (n - 1)
    formula = exact.divergence(ss.decomposition.dataset(R3, 0, 1, 2), n, q(6, 5))
    assert ground_truth.delta(R3, (0, *others), (1, *others), q(6, 5)) == formula


# ---------------------------------------------------------------------------------------------- symmetries

CYCLIC = ss.from_matrix([[q(4, 7), q(2, 7), q(1, 7)], [q(1, 7), q(4, 7), q(2, 7)], [q(2, 7), q(1, 7), q(4, 7)]])


def test_the_symmetries_are_found_from_the_matrix():
    def symmetry(R):
        return Symmetry(Messages(R, 1, [], 50).columns)

    assert symmetry(CYCLIC).elements == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert symmetry(ss.from_matrix(R3.matrix())).full
    assert symmetry(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]])).elements == [(0, 1)]
    # The invertible 3 × 3 matrices over two elements: 7·6·4.
    assert len(symmetry(ss.HadamardResponse(K=8, eps0=1)).elements) == 168
    assert symmetry(ss.HadamardResponse(K=8, eps0=1)).pairs == [(0, 1)]
    two_by_three = ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.KRR(k=3, eps0=sp.log(3)))
    assert len(symmetry(two_by_three).elements) == 2 * 6


@pytest.mark.parametrize(
    "R",
    [CYCLIC, REPEATED, ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.BinaryRR(eps0=sp.log(3))), ss.from_matrix(R3.matrix())],
    ids=["cyclic", "repeated", "joint", "3-RR as a matrix"],
)
@pytest.mark.parametrize("n", [2, 3])
def test_the_worst_up_to_symmetry_is_the_worst_of_all(R, n):
    inputs = range(int(R.input_count))
    for alpha in (q(1), q(5, 4), q(2)):
        everything = max(
            literal_delta(R, (x0, *others), (x1, *others), alpha)
            for others in product(inputs, repeat=n - 1)
            for x0, x1 in product(inputs, repeat=2)
        )
        assert ground_truth.worst_pair(R, n, alpha).delta == everything


def test_ties_are_listed_and_the_first_one_is_the_answer():
    # One other user, α = 1: |P − Q| is the same in both directions.
    (worst,) = ground_truth.worst_pairs(ss.BinaryRR(eps0=sp.log(3)), 2, [1])
    assert worst.tied == (((0, 0), (1, 0)), ((0, 1), (1, 1)))
    assert worst.tied[0] == (worst.X0, worst.X1)
    # The same for an irrational ε0, where the two values differ by round-off.
    (close,) = ground_truth.worst_pairs(ss.BinaryRR(eps0=1), 2, [1])
    assert close.tied == worst.tied


# ---------------------------------------------------------------------------------------------- long searches


class StoppedError(Exception):
    pass


@pytest.mark.parametrize("R", [R3, ss.KRR(k=3, eps0=1)], ids=["fractions", "mpmath"])
def test_an_interrupted_search_goes_on_where_it_stopped(R, tmp_path, monkeypatch):
    path, alphas = tmp_path / "search.jsonl", [q(1), q(3, 2)]
    whole = ground_truth.worst_pairs(R, 5, alphas)
    computed = []
    of_part = ground_truth.Search._of_part
    monkeypatch.setattr(
        ground_truth.Search, "_of_part", lambda self, part: computed.append(part) or of_part(self, part)
    )

    def two_only(parts, **_):
        yield from list(parts)[:2]
        raise StoppedError

    with pytest.raises(StoppedError):
        ground_truth.worst_pairs(R, 5, alphas, progress=two_only, path=path)
    assert len(computed) == 2
    resumed = ground_truth.worst_pairs(R, 5, alphas, path=path)
    assert len(computed) == len(set(computed)) == len(path.read_text().splitlines())
    assert [w.tied for w in resumed] == [w.tied for w in whole]
    for a, b in zip(resumed, whole, strict=True):
        assert a.delta == b.delta if R is R3 else abs(a.delta - b.delta) < mpmath.mpf(10) ** -50
    # Another question in the same file is another question.
    assert ground_truth.worst_pairs(R, 5, [q(2)], path=path) == ground_truth.worst_pairs(R, 5, [q(2)])


def test_moments_go_through_a_file_too(tmp_path):
    path = tmp_path / "moments.jsonl"
    first = ground_truth.worst_moments(R3, 3, [2, 3], path=path)
    assert ground_truth.worst_moments(R3, 3, [2, 3], path=path) == first == ground_truth.worst_moments(R3, 3, [2, 3])


def test_the_largest_feasible_n_is_feasible_and_the_next_is_not():
    R, width, inputs = ss.KRR(k=9, eps0=1), 9, 9
    compared = {n: math.comb(n + inputs - 2, inputs - 1) * math.comb(n + width - 1, width - 1) for n in range(1, 40)}
    largest = max(n for n, number in compared.items() if number <= ground_truth.MAX_COMPARISONS)
    with pytest.raises(ValueError, match=f"largest feasible one is {largest}$"):
        ground_truth.worst_pair(R, largest + 1, 2)


def test_the_worst_pair_is_found_among_all_others_when_t_is_small():
    R = ss.KRR(k=3, eps0=sp.log(2))
    for alpha, n in product((q(6, 5), q(19, 10), q(1, 2)), (2, 3, 4)):
        everything = max(
            ss.ground_truth.delta(R, (0, *others), (1, *others), alpha) for others in product(range(3), repeat=n - 1)
        )
        assert ss.ground_truth.worst_pair(R, n, alpha).delta == everything


def test_searches_that_take_too_long_are_refused_with_the_largest_n_that_does_not():
    R = ss.KRR(k=4, eps0=sp.log(3))
    for alpha, refused in ((q(6, 5), 40), (sp.E, 30)):
        with pytest.raises(ValueError, match=rf"within 20 s up to n = \d+ for KRR.* got n = {refused}"):
            ss.Shuffle(R, refused).exact(alpha)


def test_the_number_of_comparisons_is_that_of_a_list(monkeypatch):
    R, n, inputs, width = ss.KRR(k=3, eps0=1), 4, 3, 3  # all pairs of inputs are alike
    others = list(itertools.combinations_with_replacement(range(inputs), n - 1))
    histograms = list(itertools.combinations_with_replacement(range(width), n))
    monkeypatch.setattr(ground_truth, "MAX_COMPARISONS", len(others) * len(histograms))
    assert ground_truth.most_users(R) == n
    monkeypatch.setattr(ground_truth, "MAX_COMPARISONS", len(others) * len(histograms) - 1)
    assert ground_truth.most_users(R) == n - 1


def test_the_largest_number_of_histograms_is_not_too_many(monkeypatch):
    R = ss.KRR(k=3, eps0=sp.log(3))
    monkeypatch.setattr(ground_truth, "MAX_HISTOGRAMS", 10)  # those of three users and three messages
    assert ground_truth.most_users(R) == 3


def test_messages_have_as_many_digits_as_are_asked_for():
    assert Messages(ss.BinaryRR(eps0=1), 2, (), 40).mp.dps >= 40


@pytest.mark.parametrize("inputs", [3, 4, 5])
def test_of_all_renamings_that_keep_the_pair_the_one_with_more_small_inputs_is_kept(inputs):
    symmetry = Symmetry([tuple(int(x == y) for x in range(inputs)) for y in range(inputs)])
    assert symmetry.full
    keeping = [pi for pi in itertools.permutations(range(inputs)) if {pi[0], pi[1]} == {0, 1}]
    for counts in product(range(3), repeat=inputs):
        names = [tuple(counts[pi[x]] for x in range(inputs)) for pi in keeping]
        assert symmetry.represents((0, 1), counts) == (counts == max(names))


def test_of_a_circle_of_inputs_the_smallest_renaming_is_kept_and_it_is_a_name():
    inputs = 5
    symmetry = Symmetry([tuple(int(x == y) + 2 * int(x == (y + 1) % inputs) for x in range(inputs)) for y in range(5)])
    turns = [tuple((x + turn) % inputs for x in range(inputs)) for turn in range(inputs)]
    assert not symmetry.full
    assert {tuple(g) for g in symmetry.elements} | {turns[0]} == set(turns)
    mirror = [tuple(int((x - y) % inputs in (0, 1)) for x in range(inputs)) for y in range(inputs)]
    symmetry = Symmetry(mirror)
    kept = 0
    for pair in symmetry.pairs:
        for counts in product(range(3), repeat=inputs):
            keeping = [g for g in symmetry.elements if {g[pair[0]], g[pair[1]]} == set(pair)]
            names = [tuple(counts[g.index(x)] for x in range(inputs)) for g in keeping]
            assert symmetry.represents(pair, counts) == (counts >= max(names, default=counts))
            kept += any(name != counts for name in names)
    assert kept > 50


def test_with_all_the_time_in_the_world_as_many_users_are_possible_as_are_not_refused():
    for R in (ss.BinaryRR(eps0=1), ss.KRR(k=3, eps0=1)):
        most = ground_truth.users_within(R, float("inf"), rational=True)
        assert most == ground_truth.most_users(R)
        assert (
            ground_truth.seconds(R, most, rational=True)
            < float("inf")
            == ground_truth.seconds(R, most + 1, rational=True)
        )
