"""Which of several answers is taken, and what is added to it: with answers that are made up, so that each matters."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import inverses, risk, rounds, scored
from shuffle_sym.accounting.attacks import Datasets, gaussian_delta
from shuffle_sym.accounting.batches import ShareOfBatch
from shuffle_sym.accounting.sources import logarithm
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.histograms import BLOCK, Histograms
from shuffle_sym.numeric.search import smallest_eps_meeting


class Made:
    """A pair of datasets whose answers are given."""

    def __init__(self, eps: Interval, deltas: list[Interval]) -> None:
        self.eps, self.deltas, self.asked = eps, deltas, []

    def epsilon(self, target, rtol, method="auto"):
        return self.eps

    def hockey_sticks(self, ratios, rtol, method="auto", between=None):
        self.asked.append([float(ratio) for ratio in ratios])
        return self.deltas[: len(ratios)]


def made(*pairs: Made) -> Datasets:
    return Datasets([(f"pair {i}", pair) for i, pair in enumerate(pairs)], 10)


def test_epsilon_is_that_of_the_pair_with_the_larger_lower_end():
    first, wide = Made(Interval(0.5, 0.6), []), Made(Interval(0.4, 0.9), [Interval(0.2, 0.3)])
    assert made(first, wide).epsilon(0.1, 1e-3) == Interval(0.5, 0.6, lower_by="pair 0")
    better = Made(Interval(0.55, 0.56), [Interval(0.2, 0.3)])
    assert made(first, better).epsilon(0.1, 1e-3) == Interval(0.55, 0.56, lower_by="pair 1")
    assert better.asked == [[math.exp(0.5)]]  # where the first one is met
    perhaps = Made(Interval(0.55, 0.56), [Interval(0.05, 0.3)])  # δ of the other pair is not larger for certain
    assert made(first, perhaps).epsilon(0.1, 1e-3).lower_by == "pair 0"


def test_no_other_pair_is_asked_where_one_reaches_what_is_wanted():
    ratios = [Ratio(eps=1), Ratio(eps=2), Ratio(eps=3)]
    first = Made(None, [Interval(0.35, 0.4), Interval(0.1, 0.2), Interval(0.0, 1.0)])
    second = Made(None, [Interval(0.15, 0.16), Interval(0.6, 0.7)])
    wanted = [Interval(0.0, end) for end in (0.35, 0.25, 1.0)]
    best = made(first, second).hockey_sticks(ratios, 1e-3, "auto", wanted)
    assert second.asked == [[math.exp(2), math.exp(3)]]
    assert [answer.lower for answer in best] == [0.35, 0.15, 0.6]
    assert [answer.lower_by for answer in best] == ["pair 0", "pair 1", "pair 1"]
    worse = Made(None, [Interval(0.05, 0.3)])
    (kept,) = made(Made(None, [Interval(0.1, 0.2)]), worse).hockey_sticks(ratios[:1], 1e-3)
    assert (kept.lower, kept.upper, kept.lower_by) == (0.1, 0.2, "pair 0")
    one = made(Made(None, [Interval(0.1, 0.2)]), worse)
    assert one.first.hockey_sticks(ratios[:1], 1e-3)[0] == kept
    assert [pair for pair, _ in one.rest.pairs] == ["pair 1"]
    assert one.rest.best is one.best


def test_scored_datasets_with_the_largest_lower_end_are_named():
    ends = [Interval(0.2, 0.9), Interval(0.3, 0.4), Interval(0.1, 0.8)]
    pairs = [SimpleNamespace(chi=1.0 - i / 100, signal=(0.0, 1.0 - i / 100), n=5, neighbours=f"pair {i}",
                             epsilon=lambda *_, e=e: e, hockey_sticks=lambda *_, e=e: [e], fixed=lambda: None)
             for i, e in enumerate(ends)]  # fmt: skip
    worst = scored.worst_of(pairs[::-1])
    assert [neighbours for neighbours, _ in worst.pairs] == ["pair 0", "pair 1", "pair 2"]
    assert worst.epsilon(0.25, 1e-3) == Interval(0.3, 0.4, lower_by="pair 1")
    assert worst.hockey_sticks([Ratio(eps=1)], 1e-3) == [Interval(0.3, 0.4)]
    assert len(scored.worst_of([*pairs, SimpleNamespace(chi=0.1, signal=(0.0, 0.1))]).pairs) == 3


@pytest.mark.parametrize("inside", [-0.5, -300.0])
def test_the_logarithm_of_a_share_of_a_delta_is_rounded_up(inside):
    inner = SimpleNamespace(log_delta=lambda *_: Interval(inside - 0.1, inside), n=2)
    answer = ShareOfBatch(inner, sp.Rational(1, 100), sp.oo).log_delta(Ratio(eps=1), 1e-3)
    with mpmath.workdps(40):  # it is above the exact sum by a few units in the last place
        exact = mpmath.mpf(inside) + mpmath.log(mpmath.mpf(1) / 100)
        assert exact <= answer.upper <= exact * (1 - mpmath.mpf(2) ** -49)


def test_logarithms_are_rounded_outward_relative_to_their_size(monkeypatch):
    monkeypatch.setattr("shuffle_sym.accounting.sources.UNIT_ROUNDOFF", u := 1e-4)
    for x in (0.5, 1e-200):
        answer = logarithm(Interval(x, x))
        assert answer.lower <= math.log(x) - u * abs(math.log(x)) < math.log(x) + u * abs(math.log(x)) <= answer.upper
        assert answer.width <= 20 * u * (1 + abs(math.log(x)))
    assert logarithm(Interval(0.0, 0.0)) == Interval(-math.inf, -math.inf)


def test_the_quantiles_of_a_normal_shift_have_room_on_both_sides(monkeypatch):
    monkeypatch.setattr(risk, "_SLACK", slack := 1e-3)
    one = risk.Risk(ss.Shuffle(ss.decomposition.clones(3), 3).profile())
    low, high = (risk._largest_shift(curve, risk.Fraction(1, 10)) for curve in (one.profile.lower, one.profile.upper))
    answer = one.mu(0.1)
    assert low > 0.1
    assert answer.lower == pytest.approx(low - slack * (1 + low), rel=1e-12)
    assert answer.upper == pytest.approx(high + slack * (1 + high), rel=1e-12)


def test_each_type_that_is_drawn_adds_its_error(monkeypatch):
    monkeypatch.setattr("shuffle_sym.numeric.histograms._ODDS_ERROR", odds := 1e-3)
    n, four = 6, np.array([0.4, 0.3, 0.2, 0.1])
    blocks = list(Histograms(four, four, four, n, 1e-30).blocks())
    full = max(block.error for block in blocks if len(block.probabilities))
    # Three counts are drawn; a probability of the first is at most 4 steps from the mode, the sum of all has the same
    first, *_ = blocks
    assert first.error >= 2 * 4 * odds
    assert full >= first.error + 2 * 3 * odds + 2 * 2 * odds
    assert sum(float(block.probabilities.sum()) + block.outside for block in blocks) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("target", "few"), [(0.03, 40), (1e-3, 200)])
def test_searches_for_users_end_where_the_answer_changes(target, few):
    n = inverses.users_needed(ss.decomposition.clones(1), eps=0.2, delta=target, rtol=0.05)
    assert ss.Shuffle(ss.decomposition.clones(1), int(n.upper)).delta(0.2).upper <= target
    assert ss.Shuffle(ss.decomposition.clones(1), int(n.lower) - 1).delta(0.2).lower > target
    assert few / 4 < n.lower <= n.upper < 4 * few


def test_corners_that_are_left_out_of_histograms_are_counted(monkeypatch):
    p = np.array([0.5, 0.25, 0.25])
    drawn = Histograms(np.zeros(3), np.zeros(3), p, 12, 1e-9)
    monkeypatch.setattr(drawn, "_reach", lambda size, p: size)  # nothing else is left out
    drawn.tail = 1e-3 * BLOCK / 1e-3  # corners below 1e-3
    blocks = list(drawn.blocks())
    inside = math.fsum(x for block in blocks for x in block.probabilities.tolist())
    outside = math.fsum(block.outside for block in blocks)
    assert outside > 5e-3
    assert 1 - 1e-14 <= inside + outside <= 1 + 1e-9
    u, v = np.array([1.0, 2.0, 4.0]), np.array([4.0, 2.0, 0.0])
    blocks = list(Histograms(u, v, p, 12, 1e-30).blocks())
    for sums, values in (("first_sums", u), ("second_sums", v)):
        mean = sum(float(block.probabilities @ getattr(block, sums)) for block in blocks)
        assert mean == pytest.approx(12 * float(p @ values), rel=1e-12)


def test_an_epsilon_of_many_rounds_that_is_too_wide_is_computed_again(monkeypatch):
    rounds, rtols = ss.Shuffle(ss.decomposition.clones(1), 100).compose(4), []

    def pair(own_rtol, least):
        rtols.append(own_rtol)
        low, high = (1.0, 1.2) if len(rtols) < 3 else (1.1, 1.1001)
        ends = Interval(low, low), Interval(high, high)
        return [SimpleNamespace(epsilon=lambda *a, e=e, **k: e, delta=lambda *a, **k: Interval(0.1, 0.1)) for e in ends]

    monkeypatch.setattr(rounds, "_pair", pair)
    assert rounds.epsilon(1e-6, rtol=1e-3) == Interval(1.1, 1.1001)
    assert rtols == sorted(rtols, reverse=True)
    assert len(set(rtols)) == 3


def test_a_level_misses_the_target_only_if_two_datasets_say_so():
    def delta(eps0):
        return ss.Shuffle(ss.RAPPOR(d=4, eps0=eps0), 20).delta(0.5)

    between = delta(1.5)
    assert between.lower * 1.5 < between.upper  # 1.5 is where the search for a level that misses it begins
    target = math.sqrt(between.lower * between.upper)
    level = ss.calibrate(lambda eps0: ss.RAPPOR(d=4, eps0=eps0), 20, eps=0.5, delta=target, rtol=0.01)
    assert delta(level.lower).upper <= target < delta(level.upper).lower
    assert level.lower < 1.5 < level.upper


def test_the_two_distributions_of_a_round_are_on_either_side_of_the_worst_datasets():
    R = ss.KRR(k=3, eps0=sp.log(3))
    low, high = ss.Shuffle(R, 2).loss_distributions(0.2, 1e-6, 10_000, lambda *given, **named: given[0])
    strict = 0
    for alpha in (sp.Rational(11, 10), sp.Rational(3, 2), sp.Rational(2)):
        truth = ss.ground_truth.worst_pair(R, 2, alpha).delta
        assert low.curve(alpha) <= truth <= high.curve(alpha)
        strict += bool(low.curve(alpha) < truth)
    assert strict


def test_histograms_in_windows_are_counted_for_each_type_but_the_last(monkeypatch):
    drawn = Histograms(np.zeros(3), np.zeros(3), np.array([0.25, 0.5, 0.25]), 6, 1e-9)
    monkeypatch.setattr(drawn, "_reach", lambda size, p: size)
    assert drawn.cell_count() == (2 * 6 + 1) * (2 * 3 + 1)  # the likeliest type first, of half of the users the next


def test_no_more_datasets_are_scored_than_a_fixed_number(monkeypatch):
    scored_ones = []
    monkeypatch.setattr(scored, "GroupNeighbours", lambda *given: given)
    monkeypatch.setattr(scored, "worst_of", list)
    monkeypatch.setattr(scored, "ScoredDatasets", lambda R, neighbours, n: scored_ones.append(neighbours) or n)
    most = scored._MOST_DATASETS
    for choices in (1, most, most + 1, 2 * most - 1, 2 * most):
        scored_ones.clear()
        scored.datasets(None, 0, [3], [(0, 1)], [range(choices)])
        assert choices / 2 <= len(scored_ones) <= most


def test_the_share_of_a_delta_is_rounded_up():
    # As doubles, 161/321 is too small by nearly half a unit, and products with it are rounded once more.
    share, ends = Fraction(161, 321), [k / 1000 for k in range(1, 1000)]
    assert Fraction(float(share)) < share
    inner = SimpleNamespace(hockey_sticks=lambda *_: [Interval(0.0, end) for end in ends], n=161)
    answers = ShareOfBatch(inner, sp.Rational(161, 321), sp.oo).hockey_sticks([Ratio(eps=1)] * len(ends), 1e-3)
    for end, answer in zip(ends, answers, strict=True):
        assert share * Fraction(end) <= Fraction(answer.upper) <= share * Fraction(end) * (1 + Fraction(1, 10**14))


def test_the_first_epsilon_that_meets_a_target_on_a_straight_line_takes_few_steps():
    for steep in (3.0, 40.0):
        asked = []

        def bound_at(eps, rtol, steep=steep, asked=asked):
            asked.append(eps)
            return Interval(0.0, math.exp(-5 - steep * (eps - 1)), upper_by="line")

        target, rtol = math.exp(-5 - steep * 0.75), 1e-3
        eps, by = smallest_eps_meeting(bound_at, target, 1.0, 3.0, rtol)
        assert by == "line"
        assert 1.75 <= eps <= 1.75 * (1 + rtol)
        assert len(asked) <= 4  # the slope is not known at first


def test_the_first_epsilon_that_meets_a_target_has_a_normal_slope_at_first():
    asked, target, rtol = [], gaussian_delta(0.01, 1, 0.4), 1e-3

    def bound_at(eps, rtol):  # one in a hundred more than what is attained
        asked.append(eps)
        return Interval(0.0, 1.01 * gaussian_delta(0.01, 1, eps), upper_by="normal")

    eps, by = smallest_eps_meeting(bound_at, target, 0.4, 0.6, rtol)
    assert by == "normal"
    assert 1.01 * gaussian_delta(0.01, 1, eps) <= target < 1.01 * gaussian_delta(0.01, 1, eps * (1 - rtol))
    assert len(asked) <= 3


BOUNDS = {
    "a plateau above the target": lambda eps, target: target * (3.0 if eps < 0.9 else 0.5),
    "steps": lambda eps, target: target * 10 ** (2 - math.floor(5 * eps)),
    "up and down": lambda eps, target: target * math.exp(1 - 2 * eps + math.sin(60 * eps)),
    "met everywhere": lambda eps, target: target / 2,
    "0": lambda eps, target: 0.0,
    "the target itself": lambda eps, target: target,
    "met nowhere but at the end": lambda eps, target: 1.0 if eps < 1 else target,
    "not evaluated at first": lambda eps, target: 1.0 if eps < 0.3 else target * math.exp(1 - 2 * eps),
}


@pytest.mark.parametrize("target", [1e-300, 1e-6, 0.3, 0.999])
@pytest.mark.parametrize("low", [0.0, 1e-9, 0.2, 0.999999])
@pytest.mark.parametrize("shape", BOUNDS)
def test_a_bound_of_any_shape_meets_the_target_at_the_epsilon_that_is_told(shape, low, target):
    asked = {}

    def bound_at(eps, rtol):
        asked[eps] = min(BOUNDS[shape](eps, target), 1.0)
        return Interval(0.0, asked[eps], upper_by="made up")

    eps, by = smallest_eps_meeting(bound_at, target, low, 1.0, 1e-3)
    assert low <= eps <= 1
    assert all(low <= one <= 1 for one in asked)
    assert (by, eps) == (None, 1.0) if by is None else (by, asked[eps] <= target) == ("made up", True)


def test_divergences_that_are_exactly_as_narrow_as_asked_for_will_do(monkeypatch):
    profile = SimpleNamespace(below=None, rdp=lambda order: Interval(0.75, 1.0))
    made_up = []
    monkeypatch.setattr(rounds, "PrivacyProfile", lambda *_: profile)
    answers = rounds.renyi(lambda asked: made_up.append(asked) or profile, [sp.Integer(2)], 0.25, 1.0, 0.5)
    assert answers == [Interval(0.75, 1.0)]
    assert len(made_up) == 1
