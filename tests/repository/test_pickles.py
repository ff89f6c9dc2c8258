"""Every public object can be sent to another process, before and after it was used, and answers the same there."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

import shuffle_sym as ss
from shuffle_sym.apps import catalogue
from shuffle_sym.papers import audit

R = ss.KRR(k=3, eps0=1)
PLD = ss.accounting.PairPLD([Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)])

# what it is: (how it is made, how it is used)
OBJECTS = {
    "a mechanism": (lambda: ss.Shuffle(R, 30), lambda M: (M.delta(0.2), M.epsilon(1e-3), M.rdp(2, rtol=0.1))),
    "a mechanism with noise": (lambda: ss.Shuffle(ss.Laplace(eps0=1), 30), lambda M: M.delta(0.2)),
    "a batch": (lambda: ss.Shuffle(R, 10).sampled_from(30), lambda M: (repr(M), M.delta(0.2), M.epsilon(1e-3))),
    "users in groups": (
        lambda: ss.Shuffle([(R, 20), (ss.KRR(k=3, eps0=2), 10)]).group(1),
        lambda M: (repr(M), M.delta(0.2), M.epsilon(1e-3)),
    ),
    "a pair of laws": (lambda: ss.Shuffle(ss.decomposition.blanket(R), 30), lambda M: M.hockey_stick([0.5, 1.2])),
    "a bit": (lambda: ss.Shuffle(ss.BinaryRR(eps0=1), 30), lambda M: M.epsilon(1e-3)),
    "only eps0": (lambda: ss.Shuffle(ss.AnyRandomizer(eps0=1), 30), lambda M: M.epsilon(1e-3)),
    "rounds": (lambda: ss.Shuffle(R, 30).compose(2), lambda rounds: rounds.epsilon(1e-3, rtol=0.1)),
    "a profile": (lambda: ss.Shuffle(R, 30).profile(rtol=0.2), lambda profile: (profile.delta(0.1), profile.plds)),
    "a trade-off": (lambda: ss.Shuffle(R, 30).profile(rtol=0.2).trade_off(), lambda curve: curve(0.1)),
    "an accountant": (lambda: ss.FourierAccountant(PLD), lambda accountant: accountant.delta(0.1, [1, 3])),
    "losses of cells": (
        lambda: ss.FourierAccountant(ss.accounting.CompiledPLD(ss.decomposition.clones(1), 10)),
        lambda accountant: accountant.delta(0.1),
    ),
    "a table of analyses": (lambda: ss.Shuffle(R, 30).analyses(delta=1e-3), str),
    "a GPARV": (lambda: ss.KRR().gparv(), lambda G: G.values),
    "a blanket": (lambda: ss.KRR().blanket(), lambda blanket: blanket.gamma),
    "an interval": (lambda: ss.Shuffle(R, 30).delta(0.1), str),
    "verdicts": (lambda: audit.run(["K-ratio"], quick=True), str),
    "a histogram protocol": (lambda: ss.protocols.Histogram(3, "1/4"), repr),
}
NUMBERS = {"discretelaplace": {"k": 3}, "truncatedlaplace": {"eps0": 1}}  # what has no symbol in its place
OBJECTS |= {
    f"the randomizer {name}": (lambda name=name: catalogue.makers()[name](**NUMBERS.get(name, {})), repr)
    for name in catalogue.makers()
}


@pytest.mark.parametrize(("make", "use"), OBJECTS.values(), ids=OBJECTS)
def test_an_object_survives_a_pickle_before_and_after_use(make, use):
    one = make()
    again = pickle.loads(pickle.dumps(one))
    expected = use(one)
    assert repr(use(again)) == repr(expected)
    assert repr(use(pickle.loads(pickle.dumps(one)))) == repr(expected)


@pytest.mark.parametrize("name", ss.__all__)
def test_every_public_name_can_be_named_to_another_process(name):
    value = getattr(ss, name)
    if callable(value):
        assert pickle.loads(pickle.dumps(value)) is value


def test_a_derivation_says_that_it_is_built_where_it_is_needed():
    with pytest.raises(TypeError, match="built where it is needed"):
        pickle.dumps(ss.papers.koskela2021.eq68())
