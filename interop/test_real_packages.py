"""What public packages send is what our matrices say: audited with `ss.empirical`, a release with a known bug included.

Run by `make interop-test` in an environment of its own; nothing here is a requirement of the package.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from flower_accountant import ShuffleAccountant

import shuffle_sym as ss

BETA = 1e-4  # a sound package is accused in one of ten thousand runs
OLD = Path(__file__).parent.parent / ".venv-interop" / "pure-ldp-1.1.2"


@pytest.fixture(autouse=True)
def _seeds():
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (these packages draw from the global generators)


def samples(draw, size=10_000):
    return [[draw(x) for _ in range(size)] for x in (0, 1)]


def passes(R, draw, matches=None, size=10_000):
    """No violation seen, the law of our matrix, and a bound that is not trivial."""
    audit = ss.empirical.local(*samples(draw, size), R=R, matches=matches, beta=BETA)
    assert audit.verdict == "no violation seen", audit
    assert audit.consistent, audit
    assert 0.6 * float(R.eps0) < audit.lower <= float(R.eps0)


# ------------------------------------------------------------------------------------------- multi-freq-ldpy


def test_multi_freq_ldpy_sends_k_ary_randomized_response():
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    passes(ss.KRR(5, 2), lambda x: GRR_Client(x, 5, 2.0))


@pytest.mark.parametrize("optimal", [True, False])
def test_multi_freq_ldpy_sends_unary_encodings(optimal):
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    passes(ss.OUE(5, 2) if optimal else ss.RAPPOR(5, 2), lambda x: UE_Client(x, 5, 2.0, optimal))


def test_the_subsets_of_multi_freq_ldpy_are_right_as_sets_and_leak_in_the_order_in_which_they_are_sent():
    # A subset that contains the input has it in the first place: one with 1 in another place is never sent by input 1,
    # so no eps0 holds. The event that 0 comes first alone shows 2.3 where 1 was meant.
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    d, w = 12, 3
    R = ss.SubsetSelection(d, w, 1)

    def contained(y, x):
        return (y == x).any(axis=1)

    passes(R, lambda x: np.sort(SS_Client(x, d, 1.0)), contained)
    audit = ss.empirical.local(*samples(lambda x: SS_Client(x, d, 1.0)), R=R, matches=contained, beta=BETA)
    assert audit.convicted
    assert audit.lower > 2
    assert audit.consistent  # as sets


@pytest.mark.parametrize("optimal", [True, False])
def test_multi_freq_ldpy_sends_hashes(optimal):
    import xxhash
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client

    g = round(math.exp(2)) + 1 if optimal else 2

    def matches(messages, x):
        hashes = [xxhash.xxh32(str(x), seed=int(seed)).intdigest() % g for _, seed in messages]
        return np.array(hashes) == messages[:, 0]

    passes(ss.OLH(g, 6, 2), lambda x: [int(part) for part in LH_Client(x, 6, 2.0, optimal)], matches)


# ------------------------------------------------------------------------------------------- pure-ldp


def test_pure_ldp_sends_direct_encoding():
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=2, d=5, index_mapper=lambda x: x)
    passes(ss.KRR(5, 2), client.privatise)


@pytest.mark.parametrize("use_oue", [True, False])
def test_pure_ldp_sends_unary_encodings(use_oue):
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    client = UEClient(epsilon=2, d=5, use_oue=use_oue, index_mapper=lambda x: x)
    passes(ss.OUE(5, 2) if use_oue else ss.RAPPOR(5, 2), client.privatise)


@pytest.mark.parametrize("use_olh", [True, False])
def test_pure_ldp_sends_hashes(use_olh):
    import xxhash
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    client = LHClient(epsilon=2, d=6, use_olh=use_olh, index_mapper=lambda x: x)

    def matches(messages, x):
        hashes = [xxhash.xxh32(str(x), seed=int(seed)).intdigest() % client.g for _, seed in messages]
        return np.array(hashes) == messages[:, 0]

    passes(ss.OLH(client.g, 6, 2), lambda x: [int(part) for part in client.privatise(x)], matches)


def test_pure_ldp_sends_hadamard_response():
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient

    client = HadamardResponseClient(epsilon=1, d=7, hash_funcs=None, index_mapper=lambda x: x)
    passes(ss.HadamardResponse(8, 1), client.privatise)


@pytest.mark.parametrize(("eps0", "d", "B", "b"), [(2, 12, 4, 4), (1.5, 6, 4, 4), (3, 12, 16, 2)])
def test_pure_ldp_sends_hadamard_response_in_blocks(eps0, d, B, b):
    # Above eps0 = 1 it is the general one; inputs are permuted first, and here the permutation is none.
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient

    client = HadamardResponseClient(epsilon=eps0, d=d, hash_funcs=list(range(d)), index_mapper=lambda x: x)
    assert (client.hr.part, client.hr.partsz) == (B, b)
    R = ss.randomizers.BlockHadamard(B, b, eps0)
    passes(R, client.privatise)
    audit = ss.empirical.local(*samples(client.privatise), R=ss.randomizers.BlockHadamard(B, b, eps0 / 2), beta=BETA)
    assert audit.convicted


def test_an_old_oue_of_pure_ldp_is_convicted():
    # Its bit is set with probability q + (1 − q)/2 where 1/2 was meant: at eps0 = 0.5 it leaks 1.29.
    code = (
        "import json, random, numpy; random.seed(1); numpy.random.seed(1)\n"
        "from pure_ldp.frequency_oracles.unary_encoding import UEClient\n"
        "client = UEClient(epsilon=0.5, d=5, use_oue=True, index_mapper=lambda x: x)\n"
        "print(json.dumps([[client.privatise(x).tolist() for _ in range(10_000)] for x in (0, 1)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(OLD)}, capture_output=True, text=True, check=True
    )
    audit = ss.empirical.local(*json.loads(done.stdout), R=ss.OUE(5, 0.5), beta=BETA)
    q = 1 / (math.exp(0.5) + 1)
    own = q + (1 - q) / 2
    truth = math.log(own * (1 - q) / (q * (1 - own)))
    assert audit.convicted
    assert 1 < audit.lower <= truth
    assert not audit.consistent
    assert "match 0" in audit.disagreements[0].words or "match 1" in audit.disagreements[0].words


# ------------------------------------------------------------------------------------------- OpenDP


def test_opendp_sends_binary_randomized_response():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = dp.m.make_randomized_response_bool(prob=0.75)
    R = ss.BinaryRR(sp.log(3))
    passes(R, lambda x: int(response(bool(x))))
    assert response.map(1) >= float(R.eps0)


def test_opendp_sends_k_ary_randomized_response():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = dp.m.make_randomized_response(categories=[0, 1, 2, 3], prob=0.5)
    R = ss.KRR(4, sp.log(3))
    passes(R, response)
    assert response.map(1) >= float(R.eps0) * (1 - 1e-12)


def test_opendp_takes_a_profile_and_a_measurement():
    import opendp.prelude as dp

    from shuffle_sym.apps import opendp_bridge

    dp.enable_features("contrib", "honest-but-curious")
    M = ss.Shuffle(ss.BinaryRR(1), 20)
    profile = opendp_bridge.privacy_profile(M, rtol=0.02)
    for eps in (0.1, 0.3):
        assert M.delta(eps).lower <= profile.delta(eps) <= 1.1 * M.delta(eps).upper
    assert M.epsilon(1e-3).lower <= profile.epsilon(1e-3) <= 1.1 * M.epsilon(1e-3).upper
    pipeline = ss.protocols.Frequencies(ss.BinaryRR(1))
    run = opendp_bridge.measurement(M, lambda X: ss.protocols.shuffle(pipeline.randomize(X)).tolist(), 1e-3)
    assert sorted(set(run([0] * 20))) in ([0], [0, 1], [1])
    assert run.map(1) == pytest.approx((M.epsilon(1e-3).upper, 1e-3), rel=1e-12)
    with pytest.raises(dp.OpenDPException, match="d_in must be 0 or 1"):
        run.map(2)
    with pytest.raises(TypeError, match="mechanism must be Shuffle of a randomizer"):
        opendp_bridge.privacy_profile(3)
    for few in ([0] * 2, [0] * 19, [0] * 21, []):
        with pytest.raises(dp.OpenDPException, match=f"of n = 20 users: give one input for each, not {len(few)}"):
            run(few)
    for other in (M.sampled_from(40), ss.Shuffle([(ss.BinaryRR(1), 5), (ss.BinaryRR(2), 5)]).group(0)):
        with pytest.raises(ValueError, match="mechanism must be about all users"):
            opendp_bridge.measurement(other, list, 1e-3)


# ------------------------------------------------------------------------------------------- riskcal


def test_riskcal_finds_the_same_advantage_and_trade_off():
    from riskcal.analysis.conversions import get_advantage_from_pld, get_beta_from_pld

    profile = ss.Shuffle(ss.BinaryRR(1), 20).profile(rtol=0.01)
    pld = profile.as_pld("upper").to_dp_accounting(1e-4)
    advantage = ss.accounting.Risk(profile).advantage
    assert advantage.lower <= get_advantage_from_pld(pld) <= advantage.upper * 1.001
    f = profile.trade_off()
    for error in (sp.Rational(1, 100), sp.Rational(1, 10), sp.Rational(1, 2)):
        # Theirs is on a grid that dominates: never more private than what is attained, hardly less than what is proved.
        beta = float(get_beta_from_pld(pld, alpha=float(error)))
        assert f(error).lower - 1e-3 <= beta <= f(error).upper + 1e-9


def test_a_trade_off_curve_of_riskcal_comes_in():
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
    from riskcal.analysis.conversions import get_beta_from_pld

    pld = from_gaussian_mechanism(2.0)
    errors = np.concatenate([np.geomspace(1e-9, 0.01, 300), np.linspace(0.01, 1, 300)])
    betas = np.clip(get_beta_from_pld(pld, alpha=errors), 0, 1)
    stated = ss.accounting.StatedMechanism.from_trade_off(
        zip(errors.tolist(), betas.tolist(), strict=True), adjacency="replace-one"
    )
    truth = ss.accounting.StatedMechanism.gaussian(0.5)
    M = ss.Shuffle(ss.BinaryRR(1), 20)
    ours, theirs = (ss.compose([(M, 2), (other, 2)]).epsilon(1e-5, rtol=0.02) for other in (truth, stated))
    assert ours.lower <= theirs.upper <= 1.2 * ours.upper


# ------------------------------------------------------------------------------------------- Flower


def test_flower_takes_our_accountant_and_its_own_is_never_above():
    from flwr.serverapp import (
        GaussianPrivacyEvent,
        NeighboringRelation,
        PrivacyAccountant,
        PrivacyConfig,
        PrivacySpent,
        RdpAccountant,
        SamplingMethod,
    )
    from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg

    config = PrivacyConfig(
        1e-5, 100, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION, max_epsilon=8.0
    )
    M = ss.Shuffle(ss.BinaryRR(1), 100)
    ours = ShuffleAccountant(config, {"votes": M}, rtol=0.02)
    public = [name for name in vars(PrivacyAccountant) if not name.startswith("_")]
    assert len(public) >= 9
    assert all(hasattr(ours, name) for name in public)
    strategy = DifferentialPrivacyServerSideFixedClipping(FedAvg(), 4.0, 1.0, 10, accountant=ours)
    assert strategy.privacy_spent() == PrivacySpent(0.0, 1e-5, 0, "shuffle_sym, replace-one")
    # A release with twice the noise, one client replaced, is one with that noise, one client added or removed.
    ours.compose(GaussianPrivacyEvent(8.0, 10, 100), 3)
    theirs = RdpAccountant(config)
    theirs.compose(GaussianPrivacyEvent(4.0, 10, 100), 3)
    exact = ss.accounting.StatedMechanism.gaussian(math.sqrt(3) / 4).profile.epsilon(1e-5)
    assert exact.lower <= ours.get_epsilon(1e-5) <= 1.03 * exact.upper
    assert ours.get_epsilon(1e-5) <= theirs.get_epsilon(1e-5)  # theirs goes by Rényi divergences, a looser bound
    alone = ours.get_epsilon(1e-5)
    ours.compose("votes", 2)
    assert strategy.privacy_spent().num_releases == 5
    assert max(alone, M.compose(2).epsilon(1e-5).lower) < ours.get_epsilon(1e-5) < alone + 2 * M.epsilon(1e-6).upper
    assert ours.get_delta(ours.get_epsilon(1e-5)) <= 1.2e-5
    assert ours.would_exceed(GaussianPrivacyEvent(0.5, 10, 100))
    assert not ours.would_exceed("votes")
    again = ShuffleAccountant(config, {"votes": M}, rtol=0.02)
    again.load_state_dict(json.loads(json.dumps(ours.state_dict())))
    assert again.get_epsilon(1e-5) == ours.get_epsilon(1e-5)
    with pytest.raises(ValueError, match="with the mechanisms"):
        ShuffleAccountant(config).load_state_dict(ours.state_dict())
    with pytest.raises(ValueError, match="event must be"):
        ours.compose("vote")
    with pytest.raises(TypeError, match="Shuffle of a randomizer"):
        ShuffleAccountant(config, {"votes": 3})
