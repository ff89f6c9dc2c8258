"""The Fourier accountant against brute force: rounds multiplied out in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.model import decomposition
from shuffle_sym.numeric import composed_losses, histograms, inversion, losses

q = sp.Rational
R = ss.KRR(k=3, eps0=sp.log(3))
ANALYSES = {
    "clones": decomposition.clones(sp.log(3)),
    "clones of Koskela et al.": decomposition.clones_koskela(sp.log(3)),
    "strong": decomposition.strong(R),
    "weak": decomposition.weak(R),
    "2-RR dataset": decomposition.dataset(ss.BinaryRR(eps0=sp.log(2)), 0, 1, 0),
    "no privacy loss": decomposition.clones(0),
}


def pair_of_powers(base: int, masses: list[Fraction]) -> dict[int, tuple[Fraction, Fraction]]:
    """P-masses at losses j·log(base), j = −h … h, and the Q-masses that go with them, up to one more outcome."""
    half = len(masses) // 2
    pair = {j: (p, p / Fraction(base) ** j) for j, p in zip(range(-half, half + 1), masses, strict=True)}
    missing = 1 - sum(y for _, y in pair.values())
    assert missing >= 0
    return {**pair, "only Q": (Fraction(0), missing)}


# -- against exact values


@pytest.mark.exact
@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize("n", [1, 2, 5, 8])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_brute_force_composition_is_inside_the_interval(name, n, rounds):
    D = ANALYSES[name]
    pair = ss.truth.exact.shuffled_pair(D, n)
    accountant = ss.FourierAccountant(ss.accounting.ShuffledPLD(D, n))
    for alpha in (q(1), q(11, 10), q(2), q(5)):
        truth = ss.truth.exact.composed_divergence([pair] * rounds, alpha)
        for rtol in (1e-1, 1e-3, 1e-5):
            found = accountant.delta(sp.log(alpha), rounds, rtol=rtol)
            assert truth in found, (alpha, rtol)
            assert found.width <= rtol * found.upper or found.upper < 1e-300


@pytest.mark.exact
@given(decompositions(largest=4), st.integers(1, 4), st.integers(1, 2), alphas)
def test_random_decompositions_are_inside_the_interval(D, n, rounds, alpha):
    truth = ss.truth.exact.composed_divergence([ss.truth.exact.shuffled_pair(D, n)] * rounds, alpha)
    assert truth in ss.FourierAccountant(ss.accounting.ShuffledPLD(D, n)).delta(sp.log(alpha), rounds)


@pytest.mark.exact
@settings(max_examples=40)
@given(
    st.sampled_from(sorted(ANALYSES)),
    st.integers(1, 6),
    st.integers(1, 3),
    alphas,
    st.sampled_from([0.1, 1, 3, 20]),
    st.integers(10, 3000),
    st.sampled_from(["split", "outward"]),
)
def test_a_given_grid_is_certified_however_bad_it_is(name, n, rounds, alpha, L, half, rounding):
    D = ANALYSES[name]
    truth = ss.truth.exact.composed_divergence([ss.truth.exact.shuffled_pair(D, n)] * rounds, alpha)
    assert truth in ss.FourierAccountant(ss.accounting.ShuffledPLD(D, n), L, 2 * half, rounding=rounding).delta(
        sp.log(alpha), rounds
    )


@pytest.mark.exact
@pytest.mark.parametrize("alpha", [q(1), q(3, 2), q(4)])
def test_different_rounds_in_one_composition(alpha):
    plds = [(decomposition.clones(sp.log(2)), 3), (decomposition.weak(R), 2), (decomposition.strong(R), 4)]
    pairs = [ss.truth.exact.shuffled_pair(D, n) for D, n in plds]
    truth = ss.truth.exact.composed_divergence([pairs[0], pairs[0], pairs[1], pairs[2]], alpha)
    one, two, three = (ss.accounting.ShuffledPLD(D, n) for D, n in plds)
    assert truth in ss.FourierAccountant([(one, 2), two, (three, 1)]).delta(sp.log(alpha), rtol=1e-5)


@pytest.mark.exact
def test_a_delta_of_1e_30_after_16_rounds_has_four_good_digits():
    masses = [Fraction(x, 10**6) for x in (5, 500, 150_000, 529_494, 310_000, 10_000, 1)]
    pair = pair_of_powers(2, masses)
    accountant = ss.FourierAccountant(ss.accounting.PairPLD.from_pair(pair))
    for power in (10, 20, 28, 33):
        alpha = sp.Integer(2) ** power * q(3, 4)
        truth = ss.truth.exact.composed_divergence([pair] * 16, alpha)
        found = accountant.delta(sp.log(alpha), rounds=16, rtol=1e-4)
        assert truth in found
        assert found.relative_width <= 1e-4
    assert truth < 1e-30


def test_a_thousand_rounds_of_randomized_response_are_inside_the_interval():
    # The sum of the losses is log t times (2K − rounds), K binomial: exact without any convolution.
    t, rounds, alpha = Fraction(21, 20), 1000, Fraction(60)
    keep = t / (1 + t)
    truth = sum(
        math.comb(rounds, i)
        * max(keep**i * (1 - keep) ** (rounds - i) - alpha * keep ** (rounds - i) * (1 - keep) ** i, 0)
        for i in range(rounds + 1)
    )
    one = ss.accounting.PairPLD([keep, 1 - keep], [1 - keep, keep])
    found = ss.FourierAccountant(one).delta(sp.log(60), rounds, rtol=1e-5)
    assert truth in found
    assert found.relative_width <= 1e-5


def test_one_round_agrees_with_the_lattice_accountant():
    for D, n in ((decomposition.clones(4), 10_000), (decomposition.weak(ss.KRR(k=4, eps0=2)), 300)):
        for eps in (0.0, 0.1, 0.4, 1.5):
            first, second = (
                shuffled_laws(D, n).delta(eps),
                ss.FourierAccountant(ss.accounting.ShuffledPLD(D, n)).delta(eps),
            )
            assert max(first.lower, second.lower) <= min(first.upper, second.upper)


def test_epsilon_is_where_delta_reaches_the_target():
    accountant = ss.FourierAccountant(ss.accounting.ShuffledPLD(decomposition.clones(3), 1000))
    for rounds, target in ((1, 1e-2), (1, 1e-6), (7, 1e-2), (7, 1e-6), (7, 1e-20)):
        found = accountant.epsilon(target, rounds)
        assert found.relative_width <= 1e-3
        assert accountant.delta(found.upper, rounds, rtol=1e-5).lower <= target
        assert accountant.delta(found.lower, rounds, rtol=1e-5).upper >= target


def test_a_list_of_rounds_gives_the_same_bounds():
    D = decomposition.clones(4)
    accountant = ss.FourierAccountant(ss.accounting.ShuffledPLD(D, 1000))
    together = accountant.delta(1.5, [1, 4, 2], rtol=1e-2)
    for rounds, found in zip([1, 4, 2], together, strict=True):
        alone = ss.FourierAccountant(ss.accounting.ShuffledPLD(D, 1000)).delta(1.5, rounds, rtol=1e-2)
        assert max(found.lower, alone.lower) <= min(found.upper, alone.upper)


def test_epsilon_at_or_above_the_largest_loss_gives_exactly_zero():
    accountant = ss.FourierAccountant(ss.accounting.ShuffledPLD(decomposition.clones(1), 5))
    assert accountant.delta(2.1, rounds=2) == ss.Interval(0.0, 0.0)
    assert accountant.delta(1.9, rounds=2).lower > 0


def test_mass_that_is_impossible_under_the_other_is_never_lost():
    # P is 1/4 impossible under Q: two rounds lose 1 − (3/4)² at least, at every ε.
    one = ss.accounting.PairPLD([q(3, 4), q(1, 4), 0], [half := q(1, 2), 0, half])
    found = ss.FourierAccountant(one).delta(50, rounds=2)
    assert Fraction(7, 16) in found
    assert found.width < 1e-12
    with pytest.raises(ValueError, match="not reached"):
        ss.FourierAccountant(one).epsilon(0.1, rounds=2)


# -- the parts


@pytest.mark.exact
@pytest.mark.parametrize("cut", ["binomial", "hoeffding"])
@pytest.mark.parametrize("tail", [1e-2, 1e-6, 1e-30])
def test_what_the_windows_leave_out_is_said(cut, tail):
    D, n = decomposition.weak(ss.KRR(k=4, eps0=sp.log(3))), 30
    found = ss.accounting.ShuffledPLD(D, n, tail=tail, cut=cut).losses(1.0)
    kept = sum(Fraction(float(m)) for block in found.blocks() for m in block.masses)
    assert abs(1 - kept - Fraction(found.infinite)) <= Fraction(found.neglected + found.mass_error)
    assert found.neglected <= 40 * tail


def test_the_exact_tail_needs_fewer_cells_than_hoeffding():
    D = decomposition.clones(9)
    exact, hoeffding = (
        ss.accounting.ShuffledPLD(D, 10**6, tail=1e-12, cut=cut).losses(1.0) for cut in ("binomial", "hoeffding")
    )
    assert exact.count * 5 < hoeffding.count
    assert exact.neglected < hoeffding.neglected


def test_the_losses_are_those_of_lemma_11():
    n, t = 9, 3.0
    D = decomposition.clones_koskela(sp.log(3))
    p, mix = 1 / t, t / (t + 1)
    expected = {}
    for a in range(n + 1):
        for b in range(1, n + 1 - a):
            x = (1 - mix) * p / (1 - p) * (n - a - b) / (2 * b)
            expected[a, b] = (mix * a / b + x) / (mix + x)
    table = ss.accounting.ShuffledPLD(D, n).losses(1e-30)
    found = np.sort(np.concatenate([np.exp(block.losses) for block in table.blocks()]))
    for ratio in expected.values():
        if ratio > 0:
            assert np.min(np.abs(found / ratio - 1)) < 1e-12


def test_the_coarse_mgf_is_above_that_of_every_finer_grid():
    table = ss.accounting.ShuffledPLD(decomposition.clones(3), 200).losses(1e-30)
    thetas = np.array([-9.0, -1.0, 0.0, 0.5, 4.0, 20.0])
    coarse = table.coarse(2.0**-8).log_mgfs(thetas)
    for spacing in (2.0**-9, 2.0**-12, 2.0**-16):
        if spacing < table.coarse(2.0**-8).spacing:
            fine = losses.LossGrid(table, spacing, "split")
            kept = fine.masses > 0
            truth = [math.log(math.fsum(fine.masses[kept] * np.exp(t * fine.points[kept]))) for t in thetas]
            assert np.all(truth <= coarse)
    assert table.coarse(2.0**-8).log_mgfs(np.array([-0.5])) == np.inf


# -- every error term, made visible: the input is off by as much as is claimed, and the truth must still be inside


class Perturbed(ss.accounting.PrivacyLossDistribution):
    """Four outcomes whose losses and masses are claimed to be right up to ``error``, and are off by nearly that."""

    max_loss = sp.oo
    p, r = (
        [Fraction(2, 10), Fraction(3, 10), Fraction(4, 10), Fraction(1, 10)],
        [
            Fraction(1, 10),
            Fraction(25, 100),
            Fraction(45, 100),
            Fraction(2, 10),
        ],
    )

    def __init__(self, error, loss_sign, mass_sign):
        self.error, self.loss_sign, self.mass_sign = error, loss_sign, mass_sign

    def reversed(self):
        raise NotImplementedError("only one direction is perturbed")

    def losses(self, tail):
        s = np.array([math.log(x / y) for x, y in zip(self.p, self.r, strict=True)])
        masses = np.array([float(x) for x in self.p])
        moved, scaled = s + 0.99 * self.loss_sign * self.error, masses * (1 + 0.99 * self.mass_sign * self.error)
        return losses.Losses(lambda: (losses.Outcomes(moved, scaled, 0.0, 0.0, self.error, self.error),))


@pytest.mark.parametrize("loss_sign", [-1, 0, 1])
@pytest.mark.parametrize("mass_sign", [-1, 0, 1])
@pytest.mark.parametrize("rounding", ["split", "outward"])
def test_errors_of_losses_and_masses_are_inside(loss_sign, mass_sign, rounding):
    pair = dict(enumerate(zip(Perturbed.p, Perturbed.r, strict=True)))
    one = Perturbed(1e-3, loss_sign, mass_sign)
    for rounds in (1, 3):
        for alpha in (q(1), q(3, 2), q(5, 2)):
            truth = ss.truth.exact.composed_divergence([pair] * rounds, alpha)
            accountant = ss.FourierAccountant(one, 4, 2**18, rounding=rounding)
            assert truth in accountant.delta(sp.log(alpha), rounds)


@pytest.mark.exact
@pytest.mark.parametrize("cut", ["binomial", "hoeffding"])
@pytest.mark.parametrize("tail", [0.3, 1e-2, 1e-5])
def test_what_was_left_out_is_inside(monkeypatch, cut, tail):
    # The windows are made so narrow that much lies outside; the claim is their own.
    monkeypatch.setattr(histograms, "bernstein_reach", lambda size, p, log_tail: min(4, size))
    monkeypatch.setattr(histograms, "hoeffding_reach", lambda size, log_tail: min(6, size))
    D, n = decomposition.clones(sp.log(3)), 40
    accountant = ss.FourierAccountant(ss.accounting.ShuffledPLD(D, n, tail=tail, cut=cut))
    for alpha in (q(1), q(3, 2), q(2), q(5, 2)):
        found = accountant.delta(sp.log(alpha))
        assert shuffled_laws(D, n).exact(alpha) in found
    assert accountant.parts[0][0].losses(tail).neglected > 1e-3


def test_histograms_that_are_pruned_are_counted(monkeypatch):
    monkeypatch.setattr(histograms, "BLOCK", 1)
    found = ss.accounting.ShuffledPLD(decomposition.clones(sp.log(3)), 9, tail=0.9).losses(1.0)
    kept = math.fsum(m for block in found.blocks() for m in block.masses)
    assert 1 - kept > 1e-9
    assert 1 - kept <= found.neglected * (1 + 1e-6) + 1e-12


@pytest.mark.exact
@pytest.mark.parametrize("spacing", [1.0, 0.3, 0.05])
def test_changes_of_sign_are_inside_on_coarse_grids(spacing):
    # All the mass near ε, so that the split moves much of it across.
    rng = np.random.default_rng(3)
    for _ in range(20):
        p = [Fraction(int(x) + 1) for x in rng.integers(0, 50, 6)]
        r = [x * Fraction(int(y) + 80, 100) for x, y in zip(p, rng.integers(0, 40, 6), strict=True)]
        P, Q = [x / sum(p) for x in p], [x / sum(r) for x in r]
        pair = dict(enumerate(zip(P, Q, strict=True)))
        for rounds in (1, 2, 3):
            alpha = q(int(rng.integers(100, 140)), 100)
            truth = ss.truth.exact.composed_divergence([pair] * rounds, alpha)
            m = 2 * math.ceil(8 / spacing)
            found = ss.FourierAccountant(ss.accounting.PairPLD(P, Q), spacing * m / 2, m).delta(sp.log(alpha), rounds)
            assert truth in found


def test_the_far_changes_of_sign_are_rarer_than_claimed():
    # V = T − S of k splits: Pr[V > v] and E[e^−V; V < −v] from their law, for several places in the cell.
    spacing, rounds = 0.5, 4
    for x in (0.1, 0.25, 0.4):
        w = math.expm1(-x) / math.expm1(-spacing)
        law = {0.0: 1.0}
        for _ in range(rounds):
            law = _added(law, x, spacing, w)
        for log_beyond in (-1.0, -3.0, -6.0):
            v = spacing * math.sqrt(-rounds * log_beyond / 2) + rounds * spacing**2 / 8
            assert sum(mass for s, mass in law.items() if s > v) <= math.exp(log_beyond)
            assert sum(mass * math.exp(-s) for s, mass in law.items() if s < -v) <= math.exp(log_beyond)


def _added(law, x, spacing, w):
    found: dict[float, float] = {}
    for v, mass in law.items():
        for step, part in ((-x, 1 - w), (spacing - x, w)):
            key = round(v + step, 9)
            found[key] = found.get(key, 0.0) + mass * part
    return found


def test_losses_that_are_folded_in_from_below_do_not_raise_the_lower_end():
    # On [−1, 1) a loss of −1.2 appears at 0.8, above ε = 1/2.
    pair = {"-": (Fraction(1, 5), Fraction(13, 20)), "+": (Fraction(4, 5), Fraction(7, 20))}
    alpha = q(8, 5)
    truth = ss.truth.exact.composed_divergence([pair], alpha)
    for m in (40, 2000):
        assert truth in ss.FourierAccountant(ss.accounting.PairPLD.from_pair(pair), 1, m).delta(sp.log(alpha))


def test_changes_of_sign_that_are_far_are_paid_for():
    # All sums are just below ε, so the truth is 0; in 400 splits some of them move far above it.
    rounds, spacing, eps = 400, 0.02, 400 * 0.01
    one = losses.Losses(lambda: (losses.Outcomes(np.array([0.01 - 1e-6]), np.ones(1), 0.0, 0.0, 0.0, 0.0),))
    grid = losses.LossGrid(one, spacing, "split")
    transform = composed_losses.Transform.of(grid, 0.0, 512)
    law = composed_losses.ComposedLaw([(transform, rounds)], composed_losses.Tilt([(grid, rounds)]), -20, 512)
    assert law.upper(eps) > 0.05
    for log_beyond in (-0.1, -0.5, -2.0, -6.0, -12.0):
        assert law.lower(eps, log_beyond) == 0.0


@pytest.mark.exact
@pytest.mark.parametrize("power", [6, 12])
def test_a_rare_huge_loss_does_not_blind_the_accountant(power):
    # The outcome "huge" rules the tilted law long before it matters.
    rare = Fraction(1, 10**29)
    pair = {
        "huge": (rare, rare / 2**60),
        "up": (Fraction(1, 10**6), Fraction(1, 10**6) / 2**6),
        "flat": (1 - rare - Fraction(2, 10**6), 1 - rare / 2**60 - Fraction(1, 10**6) / 2**6 - Fraction(3, 10**6)),
        "down": (Fraction(1, 10**6), Fraction(3, 10**6)),
    }
    alpha = sp.Integer(2) ** power * q(2, 3)
    truth = ss.truth.exact.composed_divergence([pair] * 3, alpha)
    found = ss.FourierAccountant(ss.accounting.PairPLD.from_pair(pair)).delta(sp.log(alpha), rounds=3)
    assert truth in found
    assert found.relative_width <= 1e-3


@pytest.mark.exact
def test_losses_that_are_dropped_are_counted(monkeypatch):
    # Some of what lies above ε is dropped, by force.
    original = inversion.LossSum.capped
    monkeypatch.setattr(inversion.LossSum, "capped", lambda law, mass: original(law, 1e-5))
    pair = pair_of_powers(2, [Fraction(x, 10**6) for x in (5, 500, 150_000, 529_494, 310_000, 10_000, 1)])
    accountant = ss.FourierAccountant(ss.accounting.PairPLD.from_pair(pair))
    for alpha in (q(3, 2), q(2**9 * 3)):
        truth = ss.truth.exact.composed_divergence([pair] * 16, alpha)
        found = accountant._rounds(16, 1e-20).delta(float(sp.log(alpha)), 0.01)
        assert truth in found
    assert found.upper - truth > 1e-5  # the dropped mass: more than the truth itself


@pytest.mark.exact
@pytest.mark.parametrize("tail", [0.9, 0.5, 0.1, 1e-2, 1e-6])
@pytest.mark.parametrize("alpha", [q(1), q(3), q(10)])
def test_infinite_mass_inside_narrow_windows_is_not_counted_too_high(tail, alpha):
    D = ss.model.Decomposition(["99/100", "1/100", 0], [0, 0, 1], ["45/100", "54/100", "1/100"])
    found = ss.FourierAccountant(ss.accounting.ShuffledPLD(D, 60, tail=tail)).delta(sp.log(alpha))
    assert shuffled_laws(D, 60).exact(alpha) in found


def test_doubles_that_do_not_sum_to_one_are_divided_by_their_sum():
    P, Q = [0.7, 0.2, 0.1], [0.0, 0.2, 0.8]
    p, r = ([Fraction(x) / sum(map(Fraction, side)) for x in side] for side in (P, Q))
    truth = ss.truth.exact.composed_divergence([dict(enumerate(zip(p, r, strict=True)))] * 5, 1)
    assert truth in ss.FourierAccountant(ss.accounting.PairPLD(P, Q)).delta(0, 5)


def test_a_delta_beyond_the_first_tail_is_still_sharp():
    found = ss.FourierAccountant(ss.accounting.ShuffledPLD(decomposition.clones(4), 10_000)).delta(2.5)
    other = shuffled_laws(decomposition.clones(4), 10_000).delta(2.5)
    assert found.relative_width <= 1e-3
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)


def test_no_privacy_loss_needs_no_epsilon():
    assert ss.FourierAccountant(ss.accounting.PairPLD([1], [1])).epsilon(1e-6, 10) == ss.Interval(0.0, 0.0)
    assert ss.FourierAccountant(ss.accounting.ShuffledPLD(decomposition.clones(0), 10)).epsilon(1e-6) == ss.Interval(
        0.0, 0.0
    )


def test_losses_that_are_rounded_out_of_the_window_are_paid_for():
    # 64 losses of log(5/2) are 58.6, inside [−62, 62); each rounded up to 1 they are 64.
    one = ss.accounting.PairPLD([1, 0], [q(2, 5), q(3, 5)])
    found = ss.FourierAccountant(one, 62, 248, rounding="outward").delta(5, rounds=64)
    assert 1 - Fraction(149) * Fraction(2, 5) ** 64 <= found.upper


def test_a_grid_that_losses_do_not_fit_into_is_refused_before_it_is_made():
    # Losses of ±log 3 on a grid of 1,000 points from −1/1000 to 1/1000: more than a million points.
    accountant = ss.FourierAccountant(
        ss.accounting.PairPLD([0.75, 0.25], [0.25, 0.75]), m=1000, L=1e-3, max_bytes=10**7
    )
    with pytest.raises(ValueError, match="m = 1098613 points needs"):
        accountant.delta(0.5, 3)


def test_outcomes_that_are_impossible_under_the_other_law_are_not_left_out():
    half, tenth = sp.Rational(1, 2), sp.Rational(1, 10)
    one = ss.FourierAccountant(ss.accounting.PairPLD([half, half - tenth, tenth], [half, half, 0]))
    assert one.delta(0, 3).relative_width <= 1e-3
    assert {tail for _, tail in one._prepared} == {1e-20}  # no smaller one is tried
