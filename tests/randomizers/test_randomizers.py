"""Laws that every randomizer obeys, and k-RR from symbols to numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws
from scipy.linalg import hadamard

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.randomizers import BlockHadamard
from shuffle_sym.truth.ground_truth import Messages, Symmetry

pytestmark = pytest.mark.exact


def test_rows_sum_to_one(randomizer):
    P = randomizer.matrix()
    for x in range(P.rows):
        assert sp.simplify(sum(P[x, :]) - 1) == 0


def test_eps0_is_the_largest_log_ratio_of_the_matrix(randomizer):
    P = randomizer.matrix()
    ratios = [P[x, y] / P[z, y] for x, z, y in itertools.product(range(P.rows), range(P.rows), range(P.cols))]
    largest = max(ratios, key=lambda r: r.evalf(50))
    assert sp.simplify(sp.exp(randomizer.eps0) - largest) == 0


def test_gamma_is_the_sum_of_column_minima(randomizer):
    P = randomizer.matrix()
    minima = [min(P[:, y], key=lambda e: e.evalf(50)) for y in range(P.cols)]
    assert sp.simplify(randomizer.gamma - sum(minima)) == 0


def test_the_blanket_masses_are_below_every_row(randomizer):
    for x0, x1 in randomizer.pairs():
        D = ss.decomposition.blanket(randomizer, x0, x1)
        for a, b, c in zip(D.a, D.b, D.c, strict=True):
            assert c <= a
            assert c <= b


def test_gparv_has_total_mass_one_and_mean_one_minus_alpha(randomizer):
    for x0, x1 in randomizer.pairs():
        G = randomizer.gparv(x0, x1)
        assert sp.simplify(sum(G.probabilities) - 1) == 0
        assert sp.simplify(G.mean() - (1 - field.alpha)) == 0
        assert G.null == ()


@pytest.mark.parametrize("k", [2, 3, 6])
def test_classes_of_krr_give_what_its_matrix_gives(k):
    R = ss.KRR(k=k, eps0=sp.log(3))
    full = ss.from_matrix(R.matrix())
    assert full.eps0 == R.eps0
    assert full.gamma == R.gamma
    for x0, x1 in [(0, 1), (1, 0), (k - 1, 0)]:
        assert atoms(ss.decomposition.blanket(R, x0, x1)) == atoms(ss.decomposition.blanket(full, x0, x1))


@pytest.mark.parametrize(("B", "b"), [(2, 4), (3, 2), (2, 2)])
def test_hadamard_response_in_blocks_has_the_matrix_of_its_definition(B, b):
    R = BlockHadamard(B, b, sp.log(3))
    # One block after the other; each row of a Hadamard matrix but the first is an input, +1 is three times as likely.
    blocks = np.kron(np.eye(B, dtype=int), hadamard(b)[1:] > 0)
    weights = np.where(blocks, 3, 1)
    expected = sp.Matrix(weights.tolist()) / int(weights[0].sum())
    assert R.matrix() == expected
    full = ss.from_matrix(expected)
    assert (full.eps0, full.gamma) == (R.eps0, R.gamma)
    symmetries = Symmetry(Messages(full, 1, [], 50).columns)
    assert tuple(symmetries.pairs) == R.pairs()
    n, alpha = 2, sp.Rational(6, 5)
    for x0, x1 in R.pairs():
        for x2 in range(B * (b - 1)):
            ours, theirs = (ss.Shuffle(ss.decomposition.dataset(S, x0, x1, x2), n).exact(alpha) for S in (R, full))
            assert ours == theirs
    answer = ss.Shuffle(R, n).delta(sp.log(alpha))
    assert ss.ground_truth.worst_pair(R, n, alpha).delta in answer


def atoms(D):
    numbers = D.exact()
    return sorted(zip(numbers.a, numbers.b, numbers.c, strict=True))


def test_a_joint_randomizer_is_as_bad_as_the_worst_pair_of_its_matrix():
    J = ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.KRR(k=3, eps0=sp.log(3)))
    assert len(J.pairs()) == 3  # both attributes differ, or only one of them
    full = ss.from_matrix(J.matrix())
    for n, alpha in ((1, sp.Rational(6, 5)), (2, sp.Integer(2)), (2, sp.Rational(1, 2))):
        assert shuffled_laws(J, n).exact(alpha) == shuffled_laws(full, n).exact(alpha)


def test_symbolic_krr_keeps_k_and_eps0():
    R = ss.KRR()
    k, e = field.k, sp.exp(field.eps0)
    assert R.eps0 == field.eps0
    # Balle et al. 2019, Lemma 5.1 (1)
    assert sp.simplify(R.gamma - k / (e + k - 1)) == 0
    assert sum(R.gparv().probabilities).equals(1)
    assert R.gparv().mean() == 1 - field.alpha


def test_the_gparv_of_symbolic_krr_has_the_four_values_derived_by_hand():
    # Messages x0, x1 and the k − 2 others have (a, b, c) = (t, 1, 1), (1, t, 1), (1, 1, 1) over t + k − 1.
    t, k, alpha = field.t, field.k, field.alpha
    G = ss.KRR().gparv()
    table = dict(zip(G.forms, G.masses, strict=True))
    expected = {t - alpha: 1, 1 - alpha * t: 1, 1 - alpha: k - 2, sp.Integer(0): t - 1}
    assert {field.simplest(v): field.simplest(p) for v, p in table.items()} == {
        field.simplest(v): field.simplest(p / (t + k - 1)) for v, p in expected.items()
    }


def test_krr_with_a_symbol_of_the_user_for_k():
    m = sp.Symbol("m", integer=True, positive=True)
    assert ss.KRR(k=m, eps0=sp.log(3)).gamma == m / (m + 2)


def test_krr_with_a_million_messages_costs_three_classes():
    assert len(ss.KRR(k=10**6, eps0=1).classes(0, 1)) == 3
    assert ss.KRR(k=10**6, eps0=sp.log(3)).gamma == sp.Rational(10**6, 10**6 + 2)


def test_binary_rr_is_krr_with_two_messages():
    assert ss.BinaryRR(eps0=1).matrix() == ss.KRR(k=2, eps0=1).matrix()
    assert len(ss.BinaryRR(eps0=1).classes(0, 1)) == 2


def test_eps0_zero_hides_everything():
    R = ss.KRR(k=4, eps0=0)
    assert R.gamma == 1
    assert shuffled_laws(R, 3).exact(1) == 0
    assert shuffled_laws(R, 3).delta(0) == ss.Interval(0.0, 0.0)


def test_typed_floats_are_read_as_decimals():
    R = ss.from_matrix([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    assert R.matrix() == sp.Matrix([[1, 2, 7], [3, 3, 4]]) / 10


def test_computed_floats_are_divided_by_their_exact_sum():
    P = np.exp(np.random.default_rng(1).normal(size=(4, 5)))
    P /= P.sum(axis=1, keepdims=True)
    assert all(sum(row) == 1 for row in ss.from_matrix(P).matrix().tolist())


def test_from_matrix_takes_fractions_sympy_and_irrational_entries():
    e = sp.exp(1)
    assert ss.from_matrix([[Fraction(3, 4), Fraction(1, 4)], [sp.Rational(1, 4), 0.75]]).eps0 == sp.log(3)
    R = ss.from_matrix(sp.Matrix([[e, 1], [1, e]]) / (1 + e))
    assert sp.simplify(R.eps0 - 1) == 0
    assert sp.simplify(R.gamma - 2 / (1 + e)) == 0


def test_from_matrix_takes_formulas_in_t():
    t = field.t
    R = ss.from_matrix([[t / (t + 2), 1 / (t + 2), 1 / (t + 2)], [1 / (t + 2), t / (t + 2), 1 / (t + 2)]])
    assert R.eps0 == sp.log(t)
    assert sp.simplify(R.gamma - 3 / (t + 2)) == 0


def test_a_message_that_is_impossible_for_some_input_means_no_finite_eps0():
    assert ss.from_matrix([[1, 0], [0.5, 0.5]]).eps0 is sp.oo


def test_everything_shows_itself_as_latex():
    R = ss.KRR()
    shown = [R, R.blanket(), R.gparv(), ss.decomposition.blanket(R), ss.from_matrix([[0.5, 0.5], [1, 0]])]
    for thing in shown:
        text = thing._repr_latex_()
        assert text.startswith("$")
        assert text.endswith("$")
        assert text.count("{") == text.count("}")


q = sp.Rational


def test_numbers_keep_their_digits_on_the_way_in():
    assert ss.KRR(k=3, eps0=sp.Float(0.1)).eps0 == q(1, 10)
    assert ss.KRR(k=3, eps0=np.float32(0.1)).eps0 == q(1, 10)
    assert ss.KRR(k=3, eps0=sp.Float("1e-400")).eps0 == q(1, 10**400)
    assert ss.KRR(k=3, eps0=sp.Float("0.123456789012345678901234567890", 40)).eps0 == q(
        "0.12345678901234567890123456789"
    )
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
    assert abs(ss.KRR(k=3, eps0=third).eps0 - q(1, 3)) < q(1, 10**39)


def test_equal_randomizers_are_equal():
    assert ss.KRR(k=3, eps0=1) == ss.KRR(k=3, eps0=1)
    assert ss.KRR(k=3, eps0=1) != ss.KRR(k=4, eps0=1)
    assert len({ss.OUE(d=3, eps0=1), ss.OUE(d=3, eps0=1)}) == 1


def test_irrational_parts_of_a_matrix_and_of_weights_are_kept_apart():
    e = sp.E
    part = ss.from_matrix(sp.Matrix([[e, 1], [1, e]]) / (1 + e))
    weights = [sp.log(2) / sp.log(6), sp.log(3) / sp.log(6)]
    R = ss.Parallel([part, ss.from_matrix([[0.5, 0.5], [0.5, 0.5]])], weights)
    expected = weights[0] * 2 / (1 + e) + weights[1]
    assert field.is_zero(R.gamma - expected, {})
    J = ss.Joint(part, ss.from_matrix(sp.Matrix([[e**2, 1], [1, e**2]]) / (1 + e**2)))
    assert field.is_zero(J.gamma - 4 / ((1 + e) * (1 + e**2)), {})


def test_many_equal_parts_have_few_classes():
    # The loss of m binary answers of which j differ: (j + 1)(m − j + 1) classes, not 4^m.
    R = ss.Joint(*[ss.BinaryRR(eps0=sp.log(2))] * 8)
    assert len(R.pairs()) == 8
    sizes = [len(R.classes(*pair)) for pair in R.pairs()]
    assert sorted(sizes) == sorted((j + 1) * (9 - j) for j in range(1, 9))
    assert R.gamma == sp.Rational(2, 3) ** 8
    assert R.eps0 == 8 * sp.log(2) or field.is_zero(R.eps0 - 8 * sp.log(2), {})


def test_equal_parts_give_what_the_whole_matrix_gives():
    parts = [ss.from_matrix([[0.7, 0.3], [0.2, 0.8]])] * 2 + [ss.BinaryRR(eps0=sp.log(2))]
    J = ss.Joint(*parts)
    full = ss.from_matrix(J.matrix())
    assert J.gamma == full.gamma
    for alpha in (sp.Rational(3, 2), sp.Integer(4)):
        assert shuffled_laws(J, 2).exact(alpha) == shuffled_laws(full, 2).exact(alpha)


def test_text_and_numpy_integers_are_numbers():
    R = ss.from_matrix([["3/4", "0.25"], [np.int64(0), np.int32(1)]])
    assert R.matrix() == sp.Matrix([[3, 1], [0, 4]]) / 4
    assert ss.Parallel([ss.BinaryRR(eps0=1)] * 2, ["1/3", "2/3"]).eps0 == 1


@pytest.mark.parametrize(
    "make", [lambda d: ss.BLH(d, 1), lambda d: ss.OLH(10, d, sp.log(3)), lambda d: ss.RAPPOR(d, 2)]
)
def test_a_huge_number_of_inputs_costs_nothing(make):
    # 2^(10^9) is never written out; from some thousands of inputs on, no double sees the difference.
    few, many = (shuffled_laws(make(d), 100).delta(0.1, rtol=1e-6) for d in (5000, 10**12))
    assert few.lower <= many.upper
    assert many.lower <= few.upper


def test_parts_of_parts_keep_their_own_levels():
    one, two, three = (ss.BinaryRR(eps0=level) for level in (1, 2, 3))
    nested, flat = ss.Joint(ss.Joint(one, two), three), ss.Joint(one, two, three)
    assert nested.eps0 == flat.eps0 == 6
    assert field.is_zero(nested.gamma - flat.gamma, {})
    chosen = ss.Parallel([ss.Parallel([one, two], [0.5, 0.5]), three], [0.5, 0.5])
    assert chosen.eps0 == 3
    assert field.is_zero(chosen.gamma - (one.gamma + two.gamma + 2 * three.gamma) / 4, {})


def test_a_size_that_is_free_in_one_part_and_given_in_another_stays_free():
    m = sp.Symbol("m", integer=True, positive=True)
    e = sp.exp(field.eps0)
    R = ss.Joint(ss.KRR(), ss.KRR(k=m))
    assert sp.cancel(R.gamma - field.k / (e + field.k - 1) * m / (e + m - 1)) == 0


def test_a_symbol_in_the_weights_is_not_taken_for_one_of_a_part():
    t = field.t
    R = ss.Parallel([ss.BinaryRR(eps0=1), ss.from_matrix([[0.5, 0.5]] * 2)], [1 / t, 1 - 1 / t])
    assert sp.simplify(R.gamma - (2 / (t * (1 + sp.E)) + 1 - 1 / t)) == 0


def every_law(R, x0, x1, inputs):
    return {ss.decomposition.dataset(R, x0, x1, x) for x in inputs}


def test_others_of_every_input_have_the_laws_of_one_of_the_kinds(randomizer):
    for x0, x1 in randomizer.pairs()[:3]:
        inputs = range(int(randomizer.input_count))
        assert every_law(randomizer, x0, x1, randomizer.kinds(x0, x1)) == every_law(randomizer, x0, x1, inputs)


@pytest.mark.parametrize(
    ("R", "pair", "count"),
    [
        *((ss.HadamardResponse(K=K, eps0=sp.log(3)), pair, 4) for K in (8, 32) for pair in ((0, 1), (2, 5), (6, 0))),
        (ss.randomizers.BlockHadamard(B=3, b=8, eps0=sp.log(3)), (0, 1), 5),
        (ss.randomizers.BlockHadamard(B=3, b=8, eps0=sp.log(3)), (3, 9), 5),
        (ss.randomizers.BlockHadamard(B=3, b=2, eps0=sp.log(3)), (0, 1), 3),
    ],
)
def test_hadamard_response_has_few_kinds_of_others(R, pair, count):
    assert len(R.kinds(*pair)) == count
    assert every_law(R, *pair, R.kinds(*pair)) == every_law(R, *pair, range(int(R.input_count)))
