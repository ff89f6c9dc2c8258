"""A number may come as text or from NumPy, and a list as an array: the answer is that for the number or list itself."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
import pytest
import sympy as sp

import shuffle_sym as ss

R = ss.KRR(k=3, eps0=sp.log(3))
M = ss.Shuffle(R, 12)
ROUNDS = M.compose(2)
TWO = ss.from_matrix([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
PLD = ss.accounting.PairPLD([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)])


@cache
def profile() -> ss.accounting.PrivacyProfile:
    return M.profile(rtol=0.05)


SAME = {
    "eps0 as text": (lambda: ss.KRR(k="3", eps0="log(3)"), lambda: R),
    "a matrix of text": (lambda: ss.from_matrix([["3/4", "1/4"], ["0.25", "0.75"]]), lambda: TWO),
    "a matrix of doubles": (lambda: ss.from_matrix(np.eye(2) / 2 + 0.25), lambda: TWO),
    "a matrix as a table": (lambda: ss.from_matrix(pd.DataFrame([[0.75, 0.25], [0.25, 0.75]])), lambda: TWO),
    "exact at eps": (lambda: ss.Shuffle(R, 4).exact(eps="log(6/5)"), lambda: ss.Shuffle(R, 4).exact("6/5")),
    "weights as text": (lambda: ss.Parallel([R, R], ["1/3", "2/3"]).gamma, lambda: R.gamma),
    "sigma as text": (lambda: ss.Gaussian(sigma="3/2"), lambda: ss.Gaussian(sigma=sp.Rational(3, 2))),
    "n": (lambda: ss.Shuffle(R, "12").delta(0.1), lambda: M.delta(0.1)),
    "n of NumPy": (lambda: ss.Shuffle(R, np.int32(12)).delta(np.float64(0.1)), lambda: M.delta(0.1)),
    "n in an array": (lambda: ss.Shuffle(R, np.array(12)).delta(np.array(0.1)), lambda: M.delta(0.1)),
    "eps as text": (lambda: M.delta(["1/10", "log(2)"]), lambda: M.delta([0.1, sp.log(2)])),
    "eps in an array": (lambda: M.delta(np.array([0.1, 0.2])), lambda: M.delta([0.1, 0.2])),
    "alpha in an array": (lambda: M.hockey_stick(np.arange(1, 3)), lambda: M.hockey_stick([1, 2])),
    "exact alpha": (lambda: M.exact("6/5"), lambda: M.exact(Fraction(6, 5))),
    "log delta": (lambda: M.log_delta(np.array([0.1, 0.2])), lambda: [M.log_delta(0.1), M.log_delta("0.2")]),
    "delta as text": (lambda: M.epsilon("1/1000"), lambda: M.epsilon(0.001)),
    "delta in an array": (lambda: M.epsilon(np.logspace(-3, -2, 2)), lambda: [M.epsilon(0.001), M.epsilon(0.01)]),
    "order": (lambda: M.rdp(np.array([2, 3])), lambda: [M.rdp(2), M.rdp("3")]),
    "rounds in an array": (
        lambda: [each.epsilon(0.01) for each in M.compose(np.array([1, 2]))],
        lambda: [M.compose(1).epsilon(0.01), ROUNDS.epsilon("1/100")],
    ),
    "eps after rounds": (lambda: ROUNDS.delta(np.array([0.5, 1])), lambda: [ROUNDS.delta(0.5), ROUNDS.delta("1")]),
    "delta after rounds": (lambda: ROUNDS.epsilon((0.01,)), lambda: [ROUNDS.epsilon(0.01)]),
    "order after rounds": (lambda: ROUNDS.rdp(np.array([2])), lambda: [ROUNDS.rdp(2)]),
    "a profile": (lambda: profile().delta(np.array([0.1])), lambda: [profile().delta("0.1")]),
    "a profile's epsilon": (lambda: profile().epsilon([0.01]), lambda: [profile().epsilon("1e-2")]),
    "a profile's order": (lambda: profile().rdp(range(2, 4)), lambda: [profile().rdp(2), profile().rdp(3)]),
    "rounds of an accountant": (
        lambda: ss.FourierAccountant(PLD).delta("0.1", np.array([1, 2])),
        lambda: ss.FourierAccountant(PLD).delta(0.1, [1, 2]),
    ),
    "users needed": (
        lambda: ss.users_needed(R, eps="1/2", delta="1e-3"),
        lambda: ss.users_needed(R, eps=0.5, delta=0.001),
    ),
    "a bound": (
        lambda: ss.bounds.balle2019_hoeffding("1", np.int64(100), "1e-3"),
        lambda: ss.bounds.balle2019_hoeffding(1, 100, 0.001),
    ),
    "truth": (
        lambda: ss.ground_truth.delta(R, np.array([0, 2]), (1, 2), "6/5"),
        lambda: ss.ground_truth.delta(R, (0, 2), (1, 2), Fraction(6, 5)),
    ),
}


@pytest.mark.parametrize(("given", "plain"), SAME.values(), ids=SAME)
def test_text_and_numbers_of_numpy_are_read_as_the_numbers_they_are(given, plain):
    assert given() == plain()


def test_a_column_of_a_table_is_a_list():
    pandas = pytest.importorskip("pandas")
    assert M.delta(pandas.Series([0.1, 0.2])) == M.delta([0.1, 0.2])
