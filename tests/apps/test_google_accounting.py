"""Shuffled mechanisms in dp_accounting: not below what is certified, and not far above it."""

from __future__ import annotations

import pytest
import sympy as sp
from dp_accounting import dp_event
from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism, from_randomized_response

import shuffle_sym as ss
from shuffle_sym.apps.google_accounting import ShuffleAccountant, ShuffleDpEvent


def test_one_user_is_their_randomized_response():
    # 3-RR that answers uniformly with probability 3/5 is ε0 = log 3.
    ours = ShuffleAccountant().compose(ShuffleDpEvent(ss.Shuffle(ss.KRR(3, sp.log(3)), 1)), 5)
    theirs = from_randomized_response(0.6, 3).self_compose(5)
    for eps in (0.5, 1.0, 2.0, 4.0):
        assert ours.get_delta(eps) == pytest.approx(theirs.get_delta_for_epsilon(eps), rel=0.01, abs=1e-12)


def test_rounds_are_not_below_what_is_certified_and_close_to_it():
    M = ss.Shuffle(ss.BinaryRR(1), 6)
    certified = M.compose(8).epsilon(1e-5)
    composed = ShuffleAccountant().compose(ShuffleDpEvent(M, 0.01), 8).get_epsilon(1e-5)
    assert certified.lower <= composed <= 1.03 * certified.upper
    inside = dp_event.SelfComposedDpEvent(ShuffleDpEvent(M, 0.01), 8)
    assert ShuffleAccountant().compose(inside).get_epsilon(1e-5) == composed


def test_central_and_shuffled_mechanisms_go_together():
    M, gaussian = ss.Shuffle(ss.BinaryRR(1), 10), dp_event.GaussianDpEvent(10.0)
    both = ShuffleAccountant().compose(ShuffleDpEvent(M, 0.02)).compose(gaussian).get_epsilon(1e-5)
    alone = M.epsilon(1e-5).lower
    # Replacing one moves a sum of sensitivity 1 by up to 2.
    normal = from_gaussian_mechanism(5.0).get_epsilon_for_delta(1e-5)
    assert max(alone, normal) < both < M.epsilon(5e-6).upper + from_gaussian_mechanism(5.0).get_epsilon_for_delta(5e-6)


@pytest.mark.parametrize("what", [3, ss.Shuffle(ss.decomposition.blanket(ss.BinaryRR(1)), 5)], ids=str)
def test_what_is_not_known_for_all_neighbours_is_refused(what):
    with pytest.raises(TypeError, match="mechanism must be Shuffle of a randomizer"):
        ShuffleDpEvent(what)


def test_a_grid_without_a_spacing_is_refused():
    with pytest.raises(ValueError, match="value_discretization_interval"):
        ShuffleAccountant(0)
