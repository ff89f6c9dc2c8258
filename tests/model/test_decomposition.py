"""Decompositions: validated, merged, and three views of one object."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import arguments, field, rounding
from shuffle_sym.truth import exact

pytestmark = pytest.mark.exact
q = sp.Rational


def test_proportional_atoms_are_merged():
    D = ss.model.Decomposition([q(1, 2), q(1, 4), q(1, 4)], [q(1, 4), q(1, 8), q(5, 8)], [q(1, 5), q(1, 10), q(1, 10)])
    assert D.a == (q(3, 4), q(1, 4))
    assert D.c == (q(3, 10), q(1, 10))
    assert D.beta == q(3, 5)


@given(decompositions(), st.integers(1, 4), alphas, st.fractions(Fraction(1, 10), Fraction(9, 10)))
def test_splitting_an_atom_changes_nothing(D, n, alpha, share):
    s = sp.Rational(share)
    split = ss.model.Decomposition(
        [*D.a[:-1], s * D.a[-1], (1 - s) * D.a[-1]],
        [*D.b[:-1], s * D.b[-1], (1 - s) * D.b[-1]],
        [*D.c[:-1], s * D.c[-1], (1 - s) * D.c[-1]],
    )
    assert split == D
    # The literal pair of the *unmerged* masses, so that merging itself is what is tested.
    unmerged = exact.reduction_pair(
        ss.decomposition.Numbers(
            *([Fraction(int(e.p), int(e.q)) for e in (*v[:-1], s * v[-1], (1 - s) * v[-1])] for v in (D.a, D.b, D.c)),
            Fraction(int(D.beta.p), int(D.beta.q)),
        ),
        n,
    )
    a = Fraction(int(alpha.p), int(alpha.q))
    assert sum(max(p - a * r, 0) for p, r in unmerged.values()) == exact.divergence(D, n, alpha)


@given(decompositions())
def test_the_float_view_is_the_exact_view_rounded(D):
    numbers, floats = D.exact(), D.floats
    for exact_values, doubles in ((numbers.a, floats.a), (numbers.b, floats.b), (numbers.c, floats.c)):
        assert [float(v) for v in exact_values] == list(doubles)


def test_the_float_view_of_irrational_masses():
    D = ss.decomposition.blanket(ss.KRR(k=10, eps0=4))
    assert D.floats.c[0] == pytest.approx(float((1 / (sp.exp(4) + 9)).evalf(30)), rel=rounding.FLOAT_ERROR)


def test_reversed_exchanges_the_inputs():
    D = ss.decomposition.blanket(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 0, 1)
    assert D.reversed() == ss.decomposition.blanket(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 1, 0)
    assert D.reversed() != D


def test_the_largest_loss():
    R = ss.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    assert ss.decomposition.blanket(R, 0, 1).max_loss == sp.log(q(7, 2))
    assert ss.decomposition.blanket(R, 1, 0).max_loss == sp.log(q(8, 3))
    assert ss.model.Decomposition([1, 0], [0, 1], [0, 0]).max_loss is sp.oo


def test_symbolic_masses_are_proved_not_sampled():
    t = field.t
    D = ss.model.Decomposition([t / (t + 1), 1 / (t + 1)], [1 / (t + 1), t / (t + 1)], [1 / (2 * t)] * 2)
    assert sp.simplify(D.beta - (1 - 1 / t)) == 0
    with pytest.raises(ss.VerificationError, match="changes sign at t = 2, inside the range"):
        ss.model.Decomposition([1 - 2 / t, 2 / t], [1, 0], [0, 0])


def test_exponentials_of_the_user_are_understood():
    e = sp.Symbol("e", nonnegative=True)
    D = ss.model.Decomposition(
        [sp.exp(e) / (sp.exp(e) + 1), 1 / (sp.exp(e) + 1)],
        [1 / (sp.exp(e) + 1), sp.exp(e) / (sp.exp(e) + 1)],
        [sp.exp(-e) / 2, sp.exp(-e) / 2],
    )
    assert sp.simplify(D.max_loss - e) == 0


def test_a_dataset_decomposition_covers_everybody():
    more = sp.Symbol("m", integer=True, nonnegative=True)
    D = ss.decomposition.dataset(ss.KRR(k=3 + more), 0, 1, 2)
    assert D.beta == 0
    assert len(D.atoms) == 4


def test_a_third_input_that_may_not_exist_is_refused():
    with pytest.raises(ss.VerificationError, match="k - 3"):
        ss.decomposition.dataset(ss.KRR(), 0, 1, 2)


def test_the_clones_of_a_shared_randomizer_are_the_blanket_of_2_rr():
    assert ss.decomposition.clones_shared() == ss.decomposition.blanket(ss.BinaryRR())


@pytest.mark.parametrize("alpha", [q(1, 3), q(1), q(6, 5), q(2)])
@pytest.mark.parametrize("users", [1, 2, 4])
def test_no_randomizer_is_above_the_clones_of_a_shared_one_nor_these_above_the_standard_clone(randomizer, users, alpha):
    shared = shuffled_laws(ss.decomposition.clones_shared(randomizer.eps0), users).exact(alpha)
    standard = shuffled_laws(ss.decomposition.clones(randomizer.eps0), users).exact(alpha)
    M = shuffled_laws(randomizer, users)
    found = [ss.truth.exact.divergence(one, users, alpha) for D in M.decompositions for one in (D, D.reversed())]
    room = 0 if sp.exp(randomizer.eps0).is_Rational else q(1, 10**40)
    numbers = [arguments.exact_number(x, "x") for x in (*found, shared, standard)]
    assert max(numbers[:-2]) <= numbers[-2] + room
    assert numbers[-2] <= numbers[-1] + room


def test_a_null_atom_is_not_merged_with_a_live_one():
    D = ss.model.Decomposition([q(1, 4), q(1, 4), q(1, 2)], [q(1, 4), q(1, 4), q(1, 2)], [0, q(1, 4), 0])
    assert len(D.atoms) == 2
