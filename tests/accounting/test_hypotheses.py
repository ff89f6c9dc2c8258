"""What a theorem assumes is asserted where it is used: each of these was only said before."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting.bounds import DropOutOfNoise, drop_out, of_all_datasets
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model import laplace_laws, smooth_laws
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.laws_in_cells import Raised
from shuffle_sym.model.randomizer import OutputClass
from shuffle_sym.model.smooth_laws import LOGISTIC, NORMAL, SmoothLaws
from shuffle_sym.numeric import dropout
from shuffle_sym.randomizers import DuchiMechanism, Logistic

BELOW_ONE = Ratio(alpha=sp.Rational(9, 10))


def questions_below_one() -> Iterator[tuple[str, object]]:
    batch = ss.Shuffle(ss.KRR(k=3, eps0=1), 10).sampled_from(30)._analysed
    noise = ss.Shuffle(ss.Laplace(eps0=1), 10).sampled_from(30)._analysed
    family = ss.AnyRandomizer(eps0=1)
    yield "a batch", lambda: batch.hockey_sticks([BELOW_ONE], 1e-3)
    yield "a batch, far out", lambda: batch.log_delta(BELOW_ONE, 1e-3)
    yield "a batch of noise", lambda: noise.bounds.hockey_sticks([BELOW_ONE], 1e-3)
    yield "any randomizer", lambda: drop_out(family, 50, equal=False).hockey_sticks([BELOW_ONE], 1e-3)
    yield "the clones of any randomizer", lambda: of_all_datasets(family, 50).hockey_sticks([BELOW_ONE], 1e-3)
    yield "noise", lambda: DropOutOfNoise(ss.Laplace(eps0=1), 50).hockey_sticks([BELOW_ONE], 1e-3)
    yield "one user of Laplace noise", lambda: laplace_laws.laws_of(ss.Laplace(eps0=1)).local(BELOW_ONE)
    yield "one user of Gaussian noise", lambda: smooth_laws.laws_of(ss.Gaussian(sigma=1)).local(BELOW_ONE)
    yield "the laws of Gaussian noise", lambda: smooth_laws.laws_of(ss.Gaussian(sigma=1)).at(0.9, 1e-6)
    yield "the laws of Laplace noise", lambda: laplace_laws.laws_of(ss.Laplace(eps0=1)).at(0.9)


@pytest.mark.parametrize("name", [name for name, _ in questions_below_one()])
def test_what_is_proved_from_alpha_1_on_is_refused_below(name):
    with pytest.raises(VerificationError, match="alpha >= 1"):
        dict(questions_below_one())[name]()


def test_callers_may_ask_for_alpha_below_1_because_the_swapped_pair_answers():
    M = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(3)), 2).sampled_from(4)
    assert M.exact(sp.Rational(9, 10)) in M.hockey_stick(sp.Rational(9, 10))


@pytest.mark.parametrize(("shape", "limit"), [(NORMAL, 2), (LOGISTIC, 3)], ids=["Gaussian", "logistic"])
def test_pairs_of_inputs_are_covered_up_to_the_widths_of_the_theorem(shape, limit):
    SmoothLaws(shape, sp.Integer(limit))
    with pytest.raises(VerificationError, match=f"at most {limit} scales of the noise"):
        SmoothLaws(shape, limit + sp.Rational(1, 1000))
    assert smooth_laws.laws_of(ss.Gaussian(sigma="0.499")) is None
    assert smooth_laws.laws_of(Logistic(eps0="3.001")) is None


def test_equal_others_are_not_taken_for_the_worst_of_raised_laws():
    law = Raised(np.array([-2.0, 1.0]), np.array([0.5, 0.5]))
    assert dropout.upper([law], [[]], 0.5, 100, 0.25, equal=False).value > 0
    with pytest.raises(VerificationError, match="these laws were raised"):
        dropout.upper([law], [[]], 0.5, 100, 0.25)


class CallsItselfSymmetric(ss.Randomizer):
    """Three inputs, the third of which is not like the others."""

    symmetric = True

    def __init__(self, last: sp.Expr) -> None:
        self.last, self.bindings, self.input_count = last, {}, sp.Integer(3)

    def rows(self) -> list[list[sp.Expr]]:
        p, q = sp.Rational(1, 2), sp.Rational(1, 4)
        return [[p, q, q], [q, p, q], [(1 - self.last) / 2, (1 - self.last) / 2, self.last]]

    def classes(self, *inputs: int) -> list[OutputClass]:
        columns = zip(*self.rows(), strict=True)
        return [OutputClass(f"y = {y}", tuple(c[x] for x in inputs), c) for y, c in enumerate(columns)]


def test_a_randomizer_that_calls_itself_symmetric_has_to_be():
    alpha = sp.Rational(11, 10)
    true, false = CallsItselfSymmetric(last=sp.Rational(1, 2)), CallsItselfSymmetric(last=sp.Rational(9, 10))
    krr = ss.Shuffle(ss.KRR(k=3, eps0=sp.log(2)), 3)
    assert ss.Shuffle(true, 3).exact(alpha) == krr.exact(alpha)
    assert krr.exact(alpha) in ss.Shuffle(true, 3).hockey_stick(alpha)
    with pytest.raises(ValueError, match=r"symmetric must be False for .*: exchanging the inputs 1 and 2 does more"):
        ss.Shuffle(false, 3).delta(0.1)
    listed = ss.Shuffle(ss.from_matrix(false.rows()), 3).exact(alpha)
    assert ss.Shuffle(false, 3).exact(alpha) == listed  # brute force believes nothing


class Arcs(ss.SubsetSelection):
    """Of all sets of w inputs only those of neighbours on a circle."""

    def messages(self) -> Iterator[tuple[sp.Expr, tuple[bool, ...]]]:
        for start in range(int(self.d)):
            yield 1 / self.d, tuple((x - start) % self.d < self.w for x in range(int(self.d)))

    def joint(self, inputs: tuple[int, ...], matches: tuple[bool, ...]) -> sp.Expr:
        arcs = [(p, tuple(arc[x] for x in inputs)) for p, arc in self.messages()]
        return sp.Add(*(p for p, arc in arcs if arc == tuple(matches)))


def test_a_symmetry_is_not_inherited_by_a_class_that_sends_something_else():
    """δ(0.1) of 1,000 users is at least 0.0084 for arcs, and at most 0.0012 for all sets of two."""
    with pytest.raises(
        ValueError, match=r"symmetric must be False for Arcs.*: exchanging the inputs 0 and 1 does more"
    ):
        ss.Shuffle(Arcs(d=5, w=2, eps0=sp.log(9)), 1_000).delta(0.1)

    class Survey(ss.KRR):
        def __init__(self, eps0: float) -> None:
            super().__init__(k=1_000, eps0=eps0)  # whose messages are too many to be compared, and need not be

    assert ss.Shuffle(Survey(1), 10).delta(0) == ss.Shuffle(ss.KRR(k=1_000, eps0=1), 10).delta(0)


def test_numbers_that_two_randomizers_send_are_one_message_only_if_they_are_equal():
    """Duchi et al. send ± (t + 1)/(t − 1): another ε0 is another number, which says who sent it."""
    with pytest.raises(ValueError, match="groups must have one message space"):
        ss.Shuffle([(DuchiMechanism(1), 5_000), (DuchiMechanism(2), 5_000)])
    assert ss.Shuffle([(DuchiMechanism(1), 50), (DuchiMechanism(1), 50)]).n == 100


class Unnamed(CallsItselfSymmetric):
    """It does not keep its argument under its name."""

    symmetric = False

    def __init__(self, third: sp.Expr) -> None:
        super().__init__(third)


def test_a_class_that_hides_its_arguments_shares_its_messages_with_equals_only():
    one, other = Unnamed(sp.Rational(1, 2)), Unnamed(sp.Rational(1, 3))
    with pytest.raises(ValueError, match="groups must have one message space"):
        ss.Shuffle([(one, 2), (other, 2)])
    assert ss.Shuffle([(one, 2), (Unnamed(sp.Rational(1, 2)), 2)]).n == 4
