"""Laws that every randomizer obeys, and k-RR from symbols to numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import field

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


def atoms(D):
    numbers = D.exact()
    return sorted(zip(numbers.a, numbers.b, numbers.c, strict=True))


def test_a_joint_randomizer_is_as_bad_as_the_worst_pair_of_its_matrix():
    J = ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.KRR(k=3, eps0=sp.log(3)))
    assert len(J.pairs()) == 3  # both attributes differ, or only one of them
    full = ss.from_matrix(J.matrix())
    for n, alpha in ((1, sp.Rational(6, 5)), (2, sp.Integer(2)), (2, sp.Rational(1, 2))):
        assert ss.Shuffle(J, n).exact(alpha) == ss.Shuffle(full, n).exact(alpha)


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
    assert ss.Shuffle(R, 3).exact(1) == 0
    assert ss.Shuffle(R, 3).delta(0) == ss.Interval(0.0, 0.0)


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
