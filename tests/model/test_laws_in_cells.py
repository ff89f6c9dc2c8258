"""Laws in doubles: each is above the one that it stands for, in exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from shuffle_sym.algebra.rounding import FLOAT_ERROR
from shuffle_sym.model.laws_in_cells import LawsInCells


def stop_loss(values, probabilities, level):
    """E[G − k]_+."""
    return sum(p * max(value - level, 0) for value, p in zip(values, probabilities, strict=True))


def of_a_cell(room, ends_a, ends_b, mean, alpha):
    """The two values of one cell and the share of the upper one, as fractions."""
    a, b = (np.array([[[[end]]] for end in ends]) for ends in (ends_a, ends_b))
    rows = LawsInCells(a, b, np.array([[[mean[0]]], [[mean[1]]]]), np.ones((1, 1)), np.zeros((1, 1)), room)
    ((values, shares),) = rows.at(alpha)
    return [Fraction(g) for g in values.tolist()[:2]], [Fraction(p) for p in shares.tolist()[:2]]


@pytest.mark.parametrize("room", [1e-15, 1e-11])
def test_two_values_in_doubles_are_above_those_of_the_exact_ends_and_the_exact_mean(room):
    # Doubles are off by half of FLOAT_ERROR and α by all of it, here always to the worse side; shares are multiples of
    # 1/64, which rounding to 40 bits leaves as they are.
    rng, off = random.Random(4), Fraction(FLOAT_ERROR)
    for _ in range(400):
        alpha = Fraction(rng.randint(64, 640), 64)
        a, b = ([Fraction(rng.randint(0, 2**20), 2**14) for _ in range(2)] for _ in range(2))
        (low, high), (less, more) = sorted(a), sorted(b)
        share = Fraction(rng.randint(0, 64), 64)
        mean = [low + share * (high - low), more + share * (less - more)]
        bottom, top = low - alpha * more, high - alpha * less
        sides = [rng.choice([-1, 0, 1]) * off for _ in range(7)]
        doubles = [float(x * (1 + side / 2)) for x, side in zip((high, low, less, more, *mean), sides[:6], strict=True)]
        g, p = of_a_cell(room, doubles[:2], doubles[2:4], doubles[4:], float(alpha * (1 + sides[6])))
        assert sum(p) == 1
        assert g[0] >= top
        for level in (bottom, top, *g, (bottom + top) / 2):
            assert stop_loss(g, p, level) >= stop_loss((top, bottom), (share, 1 - share), level)


def test_a_share_is_not_below_the_exact_one_where_that_is_a_fraction_of_few_bits():
    # A from 0 to 2 with the mean 1: one half, and E[G]_+ = 1
    (high, low), (share, rest) = of_a_cell(1e-11, [2.0, 0.0], [0.0, 0.0], [1.0, 0.0], 1.0)
    assert (share + rest, low) == (1, 0)
    assert share >= Fraction(1, 2)
    assert 1 <= share * high <= 1 + Fraction(1, 10**10)


def test_a_cell_with_one_value_has_all_of_its_mass_there():
    (high, _), (share, rest) = of_a_cell(1e-15, [3.0, 3.0], [1.0, 1.0], [3.0, 1.0], 1.25)
    assert (share, rest) == (1, 0)
    assert Fraction(7, 4) <= high <= Fraction(7, 4) * (1 + Fraction(1, 10**14))
