"""Ends that are seen only where something is tiny, left out, or between two bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws
from flint import fmpq
from scipy import special

import shuffle_sym as ss
from shuffle_sym.accounting import (
    analyses,
    attacks,
    batches,
    bounds,
    cell_pld,
    convex,
    inverses,
    mechanism,
    pld,
    profile,
    rounds,
    sampling,
    sources,
)
from shuffle_sym.accounting.sampling import Sampling
from shuffle_sym.algebra import precise
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.losses import Losses, Outcomes

q = sp.Rational
R = ss.KRR(k=4, eps0=sp.log(3))


@pytest.mark.parametrize("alpha", [q(1, 100), q(1, 2), q(1), q(3, 2), q(29, 10), q(3), q(7)])
def test_the_divergence_of_one_user_is_rounded_up_and_nothing_more(alpha):
    whole = bounds.prepared(R)
    (answer,) = sources.PairOfLaws(whole.pairs[0].local, 1).on_either_side([Ratio(alpha=alpha)], 1e-3, "auto")
    found = answer.upper
    truth = sum((max(x - alpha * y, 0) for x, y in zip((3, 1, 1, 1), (1, 3, 1, 1), strict=True)), q(0)) / 6
    assert truth <= q(found) <= truth * (1 + q(1, 10**12)) + q(1, 10**315)  # which no double is nearer to 0


def test_a_logarithm_of_a_tiny_delta_has_its_roundings():
    # One message of x0 that nobody else sends, with a mass that no other part of delta reaches.
    mp = precise.context(60)
    for number in range(3, 23):
        tiny = q(1, 7**number) / 10**250
        D = ss.model.Decomposition([tiny, 1 - tiny], [0, 1], [0, q(1, 2)])
        low, high = sources._log_delta(D, 1, Ratio(alpha=sp.Integer(1)), 1e-3)
        assert low <= mp.log(mp.mpf(tiny.p) / mp.mpf(tiny.q)) <= high
        assert high - low < 1e-11


def test_a_finer_profile_serves_a_coarser_question_and_no_other():
    fine = Sampling(1e-4, ((1.0, 1e-9), (4.0, 1e-6)), 100)
    for rtol, levels, served in (
        (1e-3, ((1.0, 1e-9),), True),
        (1e-3, ((1.0, 1e-8), (3.0, 1e-6)), True),
        (1e-3, ((1.0, 1e-12),), False),
        (1e-3, ((5.0, 1e-6),), False),
        (1e-5, ((1.0, 1e-9),), False),
    ):
        assert fine.serves(Sampling(rtol, levels, 100)) == served


def test_what_is_left_out_counts_as_an_infinite_loss_in_other_tools():
    class Some(pld.PrivacyLossDistribution):
        def losses(self, tail):
            return Losses(lambda: (Outcomes(np.array([0.5]), np.array([0.7]), 0.1, 0.2, 0.0, 0.0),))

    masses, infinite = pld._on_grid(Some(), 0.25)
    assert infinite >= 0.1 + 0.2
    assert math.isclose(sum(masses.values()), 0.7)


def test_enough_users_are_enough_where_the_two_ends_are_far_apart():
    # Between the ends for 32 users: the datasets that are tried meet the target, and the bound for all does not.
    wide = ss.KRR(k=10, eps0=2)
    between = ss.Shuffle(wide, 32).delta(1)
    assert between.upper > 1.1 * between.lower
    target = (between.lower + between.upper) / 2
    n = inverses.users_needed(wide, 1, target)
    assert ss.Shuffle(wide, int(n.upper)).delta(1, rtol=1e-6).upper <= target
    assert n.lower <= 32 < n.upper


@pytest.mark.parametrize(("question", "words"), [({"delta": 1e-3}, "ε at δ = 0.001"), ({"eps": 0.5}, "δ at ε = 0.5")])
def test_a_table_says_which_question_it_answers(question, words):
    assert words in repr(ss.Shuffle(ss.BinaryRR(eps0=1), 20).analyses(**question))


def test_a_sweep_refuses_a_value_that_is_there_twice():
    with pytest.raises(ValueError, match="twice"):
        ss.sweep(lambda n: n, {"n": [1, 2, 1]}, progress=False)


def test_the_two_curves_of_a_profile_are_a_bound_and_datasets():
    below, above = (
        convex.Bracket([fmpq(1), fmpq(3)], [v, fmpq(0)], [v + fmpq(1, 100), fmpq(0)]) for v in (fmpq(1, 4), fmpq(1, 3))
    )
    one = profile.PrivacyProfile(below, above, {})
    assert one.upper == above.upper != below.upper
    assert one.lower == below.lower != above.lower
    assert one.upper(1) == fmpq(1, 3) + fmpq(1, 100)


def test_the_upper_ends_of_a_mechanism_are_a_curve_of_their_own():
    M = mechanism.Mechanism(ss.KRR(k=10, eps0=2), 32)
    ratios = [Ratio(eps=sp.Integer(1))]
    (ends,), (answer,) = M.bound.hockey_sticks(ratios, 1e-4), M.hockey_sticks(ratios, 1e-4)
    assert ends.lower == ends.upper == answer.upper > 1.05 * answer.lower


def test_a_sum_of_renyi_divergences_is_rounded_outward():
    for counts in ((3, 7), (1, 1), (10, 11)):
        ends = [ss.Interval(0.1, 0.3), ss.Interval(0.7, 0.9)]
        total = rounds.Composition([(None, count) for count in counts], 10, None)._weighted(ends)
        assert Fraction(total.lower) <= sum(c * Fraction(end.lower) for c, end in zip(counts, ends, strict=True))
        assert Fraction(total.upper) >= sum(c * Fraction(end.upper) for c, end in zip(counts, ends, strict=True))


def test_what_a_profile_leaves_out_of_a_moment_is_a_share_of_it(monkeypatch):
    M, order, rtol = shuffled_laws(ss.BinaryRR(eps0=1), 200), 3, 1e-3
    seen, original = [], M._profile
    monkeypatch.setattr(M, "_profile", lambda sampling: seen.append(sampling) or original(sampling))
    answer = M.rdp(order, rtol=rtol)
    share = rtol / 40 / order / (order - 1)
    low, high = (share * math.expm1((order - 1) * end) for end in (answer.lower, answer.upper))
    assert len(seen) > 1
    for asked in seen[1:]:
        ((power, least),) = asked.levels
        assert power == order
        assert 0.5 * low <= least <= high


def test_a_box_of_cells_grows_like_the_root_of_n_and_holds_its_mass():
    D = ss.decomposition.clones_koskela(1)
    for n in (100, 10**4, 10**6):
        lows, sizes = cell_pld._box(D, n, 1e-20)
        for share, low, size in zip([*D.floats.c, D.floats.beta], lows, sizes, strict=False):
            assert size <= 40 * math.sqrt(n)
            law = binomial_law(n, float(share))
            assert law(low - 1) + 1 - law(low + size - 1) < 1e-12
            assert low <= n * share <= low + size - 1


def binomial_law(n: int, p: float):
    return lambda k: float(special.bdtr(k, n, p)) if k >= 0 else 0.0


def test_an_answer_names_the_methods_that_were_used():
    laws = ss.Shuffle(ss.decomposition.blanket(R), 400)
    used = set(laws.epsilon(1e-3).method.split("+"))
    assert used
    assert used <= {"contour", "binomial", "quadrature", "lattice"}
    assert laws.delta(q(1, 4)).method != "auto"
    few = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=5, eps0=1)), 4)
    assert few.delta(q(1, 4)).method not in ("auto", "fft")  # the exact sum is shorter than a transform


def test_the_normal_limit_is_that_of_the_worst_datasets():
    chis = {neighbours.alike.chi for neighbours, _ in attacks.datasets_of(ss.KRR(k=5, eps0=1), 100).pairs}
    assert len(chis) > 1
    assert all(analyses._chi(ss.KRR(k=5, eps0=1), 100) >= chi for chi in chis)


def test_all_datasets_of_two_messages_are_tried_up_to_a_number_of_users():
    two = ss.BinaryRR(eps0=1)
    assert analyses._two_messages(two, 2_000).n == 2_000
    with pytest.raises(ValueError, match="2000"):
        analyses._two_messages(two, 2_001)


def test_a_target_that_no_level_meets_is_refused_with_the_smallest_one_that_was_tried():
    with pytest.raises(ValueError, match="1e-12"):
        ss.calibrate(lambda eps0: ss.BinaryRR(eps0=eps0), 10, 0, 1e-30)


def test_slopes_of_a_bracket_come_from_two_points_on_each_side():
    # The curve (4 − x)²/16 at 0 … 4, known to within 1/100
    points = [Fraction((4 - x) ** 2, 16) for x in range(5)]
    room = Fraction(1, 100)
    bracket = convex.Bracket(list(range(5)), [v - room for v in points], [v + room for v in points])
    after, before = bracket.slopes
    for i in range(1, 4):
        slope = Fraction(-2 * (4 - i), 16)
        assert after[i] <= slope <= before[i] <= 0
        assert before[i] <= points[i + 1] - points[i] + 2 * room
        assert after[i] >= points[i] - points[i - 1] - 2 * room


def test_masses_that_no_double_holds_are_left_out_with_their_error():
    tiny = math.log(1e-295)
    cells = {"x": np.array([0.0, 1.0])}
    one = cell_pld.CellPLD(lambda x: 0 * x, lambda x: tiny * x, cells, error=1e-3, left_out=1e-3)
    block = one._block(cells)
    assert block.neglected >= 1e-295 * (1 + 0.99e-3)
    assert len(block.masses) == 1
    assert block.mass_error >= 1e-3


def test_logarithms_of_ratios_are_rounded_to_the_side_that_is_asked_for():
    mp = precise.context(50)
    for i in range(1, 200):
        alpha = fmpq(7 * i + 3, 5 * i + 11) ** (i % 5 + 1)
        truth = mp.log(mp.mpf(int(alpha.p)) / int(alpha.q))
        assert profile._log(alpha, up=False) <= truth <= profile._log(alpha, up=True)


def test_below_one_the_mirrored_ends_are_rounded_outward(monkeypatch):
    monkeypatch.setattr(sources, "UNIT_ROUNDOFF", u := 1e-3)
    found = sources._below_one(Ratio(alpha=q(1, 2)), Interval(0.25, 0.25))
    assert 0.61 < found.lower <= 0.625 * (1 - 3 * u)  # two doubles, a product and a sum
    assert 0.625 * (1 + 3 * u) <= found.upper < 0.64


def test_outcomes_that_are_too_rare_for_a_double_are_counted_and_no_others():
    rare, half = Fraction(1, 10**280), Fraction(1, 2)
    losses = pld._exact_losses([(half, half / 2), (half - rare, 3 * half / 2 - rare), (rare, rare)], 0)
    assert rare <= Fraction(losses.neglected) <= 2 * rare


def test_both_brackets_of_a_profile_are_saved_each_by_itself():
    ends = ((fmpq(1, 4), fmpq(1, 2)), (fmpq(1, 3), fmpq(2, 3)))
    below, above = (convex.Bracket((fmpq(2),), (low,), (high,), fmpq(low)) for low, high in ends)
    saved = profile.PrivacyProfile.from_json(profile.PrivacyProfile(below, above, {}).to_json())
    assert (saved.below, saved.above) == (below, above)


class Known(sources.Source):
    """A bound whose values are given, and which keeps what it is asked."""

    def __init__(self, *values: float) -> None:
        self.values, self.asked, self.n, self.max_loss = values, [], 10, sp.Integer(1)

    def hockey_sticks(self, ratios, rtol, method="auto", between=None):
        self.asked.append([(inside.lower, inside.upper) for inside in between])
        return [Interval(value, value) for value in self.values[: len(ratios)]]


def test_the_smallest_bound_of_the_worst_pair_of_inputs_is_the_answer_and_no_more_is_asked_than_needed():
    ratios = [Ratio(eps=q(1, 10)), Ratio(eps=q(2, 10))]
    cheap, dear, other = Known(0.5, 0.25), Known(0.375), Known(0.125, 0.75)
    pairs = bounds.Largest([bounds.Smallest([("cheap", cheap), ("dear", dear)]), bounds.Smallest([("other", other)])])
    answers = pairs.hockey_sticks(ratios, 1e-3, "auto", [Interval(0.0, 1.0), Interval(0.25, 1.0)])
    assert [(answer.upper, answer.upper_by) for answer in answers] == [(0.375, "dear"), (0.75, "other")]
    assert dear.asked == [[(0.0, 0.5)]]  # at the second α the cheap one is as small as what is attained
    assert other.asked == [[(0.375, 1.0), (0.25, 1.0)]]


def test_an_attack_that_is_above_a_bound_is_an_error_and_not_cut_off():
    ratios = [Ratio(eps=q(1, 10))]
    with pytest.raises(VerificationError, match="an Interval needs lower <= upper"):
        mechanism.ask([("lower", Known(0.5)), ("upper", Known(0.25))], ratios, 1e-3)


def test_the_largest_loss_of_exact_outcomes_is_within_its_error():
    masses = [fmpq(1, 3), fmpq(2, 7), fmpq(8, 21)], [fmpq(1, 1000), fmpq(9, 10), fmpq(99, 1000)]
    (found,) = pld._exact_losses(list(zip(*masses, strict=True)), 0).blocks()
    mp = precise.context(40)
    for x, y, loss in zip(*masses, found.losses, strict=True):
        true = mp.log(mp.mpf(int((x / y).p)) / int((x / y).q))
        assert abs(mp.mpf(float(loss)) - true) <= found.loss_error
    assert 0 < found.loss_error < 1e-14
    for x, mass in zip(masses[0], found.masses, strict=True):
        exact = Fraction(int(x.p), int(x.q))
        assert 0 < abs(Fraction(float(mass)) - exact) <= Fraction(found.mass_error) * exact


@pytest.mark.parametrize("n", [5, 30])
def test_the_logarithm_of_a_bound_is_not_below_that_of_the_exact_blanket(n):
    M = mechanism.Mechanism(R, n)
    mp = precise.context(40)
    for alpha in (q(1), q(3, 2), q(5, 2)):
        log = M.bounds.log_delta(Ratio(alpha=alpha), 0.3)
        true = ss.truth.exact.divergence(ss.decomposition.blanket(R), n, alpha)
        assert log.upper_by != "blanket" or mp.mpf(log.upper) >= mp.log(mp.mpf(int(true.p)) / int(true.q))
    assert log.upper_by == "blanket"


def test_a_mechanism_of_two_messages_is_known_as_sharply_as_all_its_datasets():
    two = ss.BinaryRR(eps0=sp.log(50))
    answer = ss.Shuffle(two, 20).delta(sp.log(2))
    assert answer.relative_width <= 1e-9
    assert ss.ground_truth.worst_pair(two, 20, sp.Integer(2)).delta in answer


def test_a_share_of_a_logarithm_is_rounded_up():
    # A batch of one out of 10^12 users: the sum of two logarithms, of very different sizes, against 40 digits.
    mp = precise.context(40)
    for users in (10**12, 3 * 10**12, 7 * 10**11, 10**11 + 7):
        inner = SimpleNamespace(log_delta=lambda *_: Interval(-1.5, -0.1, "contour"), n=1)
        share = batches.ShareOfBatch(inner, sp.Rational(1, users), sp.oo)
        upper = share.log_delta(Ratio(alpha=sp.Integer(2)), 0.1).upper
        true = mp.mpf(-0.1) - mp.log(users)
        assert true <= upper <= true * (1 - mp.mpf(2) ** -50)


def test_doubles_that_add_up_to_one_but_for_their_roundings_are_masses():
    assert sum(map(Fraction, [0.1] * 10)) != 1
    assert pld.PairPLD([0.1] * 10, [0.1] * 10).max_loss == 0
    with pytest.raises(ValueError, match="must sum to 1"):
        pld.PairPLD([0.1] * 9 + [0.1001], [0.1] * 10)


def test_a_profile_for_moments_that_no_double_holds_is_asked_for_values_above_zero():
    seen = []

    def profile_of(asked):
        seen.append(asked)
        raise rounds.BudgetSpentError

    with pytest.raises(ValueError, match="order = 2 is too much"):
        rounds.renyi(profile_of, [sp.Integer(2)], 1e-3, 1e-3, 1e-200)  # 1e-400 of the moment
    assert all(0 < least < math.inf for _, least in seen[0].levels)


def test_the_nearest_of_known_points_is_on_either_side():
    known = [1.0, 2.0, 4.0]
    for eps, apart in ((0.5, 0.5), (1.0, 0.0), (1.25, 0.25), (1.75, 0.25), (2.0, 0.0), (3.5, 0.5), (9.0, 5.0)):
        assert sampling._distance(eps, known) == apart
    assert sampling._distance(1.0, []) == math.inf
