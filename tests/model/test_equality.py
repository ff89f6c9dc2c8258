"""Randomizers are equal if their types and parameters are: nothing is cached under the name of another one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.model.randomizer import OutputClass

q = sp.Rational


class Quiet(ss.Randomizer):
    """Keeps a bit with probability ``keep``, and does not say so."""

    input_count = sp.Integer(2)

    def __init__(self, keep):
        self.keep, self.bindings = keep, {}

    def rows(self):
        keep = sp.Rational(str(np.asarray(self.keep).item()))
        return [[keep, 1 - keep], [1 - keep, keep]]

    def classes(self, *inputs):
        rows = self.rows()
        return [OutputClass(str(y), tuple(rows[x][y] for x in inputs), tuple(r[y] for r in rows)) for y in (0, 1)]

    def __repr__(self):
        return "Quiet()"


class Slotted(Quiet):
    __slots__ = ("other",)

    def __init__(self, keep, other):
        super().__init__(keep)
        self.other = other


def _truth(keep):
    """The local curve at ε = 0, one user: 2 keep − 1."""
    return 2 * sp.Rational(str(keep)) - 1


@pytest.mark.parametrize("wrap", [float, np.array], ids=["a number", "an array, which cannot be hashed"])
def test_what_an_object_prints_decides_nothing(wrap):
    first, second = Quiet(wrap(0.501)), Quiet(wrap(0.7535))
    assert repr(first) == repr(second)
    assert first != second
    for R, keep in ((first, 0.501), (second, 0.7535)):
        assert _truth(keep) in shuffled_laws(R, 1).delta(0)


def test_what_was_cached_is_forgotten_when_a_parameter_changes():
    for R in (Quiet(0.501), Quiet(np.array(0.501))):
        assert _truth(0.501) in shuffled_laws(R, 1).delta(0)
        R.keep = 0.7535
        assert _truth(0.7535) in shuffled_laws(R, 1).delta(0)


def test_equal_parameters_make_equal_randomizers(randomizer):
    again = pickle.loads(pickle.dumps(randomizer))
    assert again == randomizer
    assert hash(again) == hash(randomizer)
    _ = randomizer.eps0  # a cached result takes no part
    assert again == randomizer
    assert len({again, randomizer}) == 1


def test_types_count_and_so_do_slots():
    assert ss.BinaryRR(eps0=1) != ss.KRR(k=2, eps0=1)
    assert Slotted(0.6, 1) != Slotted(0.6, 2)
    assert Slotted(0.6, 1) == Slotted(0.6, 1)
    assert Quiet(1) != Quiet(True)
    assert ss.Laplace(eps0=1) == ss.Laplace(eps0=1) != ss.Laplace(eps0=2)
    assert ss.Joint(ss.BinaryRR(eps0=1), ss.BinaryRR(eps0=2)) != ss.Joint(ss.BinaryRR(eps0=2), ss.BinaryRR(eps0=1))


def test_decompositions_are_equal_whatever_the_order_of_their_components():
    first = ss.model.Decomposition([q(3, 4), q(1, 4)], [q(1, 4), q(3, 4)], [q(1, 8), q(1, 4)])
    second = ss.model.Decomposition([q(1, 4), q(3, 4)], [q(3, 4), q(1, 4)], [q(1, 4), q(1, 8)])
    assert first == second
    assert hash(first) == hash(second)
    assert first != first.reversed()
    assert first.reversed().reversed() == first
    assert first.reversed() == ss.model.Decomposition(first.b, first.a, first.c)
