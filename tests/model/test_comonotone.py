"""One pair of laws above the blankets of all pairs of inputs: against exact values of every pair."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.model.comonotone import from_mass, from_transform

q = sp.Rational


def random_rows(seed: int, inputs: int, messages: int) -> list[list[Fraction]]:
    pick = random.Random(seed)
    rows = [[Fraction(pick.randint(1, 9)) for _ in range(messages)] for _ in range(inputs)]
    return [[p / sum(row) for p in row] for row in rows]


def transform(rows: list[list[Fraction]], k: Fraction) -> Fraction:
    c = [min(column) for column in zip(*rows, strict=True)]
    return max(sum(max(p - k * low, 0) for p, low in zip(row, c, strict=True)) for row in rows)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("coarse", [False, True])
def test_no_pair_of_inputs_of_a_random_matrix_is_above(seed, coarse):
    rows = random_rows(seed, 3, 4)
    c = [min(column) for column in zip(*rows, strict=True)]
    every = sorted({p / low for row in rows for p, low in zip(row, c, strict=True)} - {Fraction(1)})
    levels = every[-1:] if coarse else every
    D = from_transform([(k, transform(rows, k)) for k in levels], sum(c), "above")
    R = ss.from_matrix(rows)
    for n in (1, 2, 4):
        for alpha in (q(1, 2), q(1), q(6, 5), q(2)):
            bound = shuffled_laws(D, n).exact(alpha)
            for x0, x1 in permutations(range(3), 2):
                assert shuffled_laws(ss.decomposition.blanket(R, x0, x1), n).exact(alpha) <= bound


def test_where_one_pair_is_above_all_others_the_bound_is_that_pair():
    R = ss.KRR(k=4, eps0=sp.log(3))
    D = from_transform([(Fraction(3), Fraction(0))], Fraction(2, 3), "4-RR")
    for alpha in (q(1), q(3, 2)):
        assert shuffled_laws(D, 3).exact(alpha) == shuffled_laws(ss.decomposition.blanket(R), 3).exact(alpha)


def test_a_level_at_which_the_transform_is_not_0_gives_null_atoms():
    exact = from_transform([(Fraction(2), Fraction(1, 8)), (Fraction(4), Fraction(0))], Fraction(1, 2), "all")
    cut = from_transform([(Fraction(2), Fraction(1, 8))], Fraction(1, 2), "cut")
    assert sum(a for a, c in zip(cut.a, cut.c, strict=True) if c == 0) == q(1, 8)
    for n in (1, 3):
        for alpha in (q(1), q(3)):
            assert shuffled_laws(exact, n).exact(alpha) <= shuffled_laws(cut, n).exact(alpha)


@pytest.mark.parametrize("gamma", [q(3, 5), q(2, 5)])  # above and below 2/(t + 1)
def test_the_bound_from_the_mass_alone_is_that_with_two_levels(gamma):
    formula = from_mass(gamma, sp.Integer(3), {}, "two levels")
    levels = from_transform([(Fraction(3), Fraction(0))], Fraction(int(gamma.p), int(gamma.q)), "two levels")
    assert shuffled_laws(formula, 3).exact(q(6, 5)) == shuffled_laws(levels, 3).exact(q(6, 5))
