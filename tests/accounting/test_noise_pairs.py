"""Noise: the bound for all pairs of inputs and all datasets, against datasets that are counted out."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import attacks, noise
from shuffle_sym.accounting import bounds as bounds_module
from shuffle_sym.accounting.bounds import DropOutOfNoise, of_all_datasets
from shuffle_sym.accounting.mechanism import Mechanism
from shuffle_sym.accounting.noise import Noise
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.laplace_laws import laws_of
from shuffle_sym.numeric import dropout
from shuffle_sym.randomizers import Logistic

T = sp.Integer(16)  # e^ε0: with inputs and cells of messages at quarters, everything is rational


def below(x, y, root):
    """Pr[x + Lap(1/ε0) <= y] at quarters x/4 and y/4, e^{ε0/4} = root."""
    return root ** (y - x) / 2 if y <= x else 1 - root ** (x - y) / 2


def merged(inputs, ends, root):
    rows = [[sp.S.Zero, *(below(x, y, root) for y in ends), sp.S.One] for x in inputs]
    return [[b - a for a, b in pairwise(row)] for row in rows]


@pytest.mark.parametrize(
    ("inputs", "ends", "n"),
    [((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), 3), ((0, 2, 4), (0, 2, 4), 5), ((0, 1, 4), (0, 1, 3, 4), 4)],
)
def test_no_dataset_of_few_users_is_above_the_bound(inputs, ends, n):
    finite = ss.from_matrix(merged(inputs, ends, sp.Integer(2)))
    bounds = DropOutOfNoise(ss.Laplace(sp.log(T)), n)
    for alpha in (sp.Rational(1), sp.Rational(6, 5), sp.Integer(2), sp.Integer(9)):
        truth = ss.ground_truth.worst_pair(finite, n, alpha).delta
        assert 0 < truth <= sp.Rational(bounds.at([Ratio(alpha=alpha)], None)[0][0].value)


def counted(rows, x0, x1, others, alpha):
    """D_α of the counts of three messages: the others' law of two counts by multiplication of polynomials."""
    n = len(others)
    law = np.zeros((n + 2, n + 2))
    law[0, 0] = 1.0

    def times(law, row):
        after = row[2] * law
        after[1:] += row[0] * law[:-1]
        after[:, 1:] += row[1] * law[:, :-1]
        return after

    for x in others:
        law = times(law, rows[x])
    return np.maximum(times(law, rows[x0]) - alpha * times(law, rows[x1]), 0.0).sum()


def laplace(rate):
    return lambda z: math.exp(rate * z) / 2 if z <= 0 else 1 - math.exp(-rate * z) / 2


def normal(sigma):
    return lambda z: math.erfc(-z / (sigma * math.sqrt(2))) / 2


def logistic(rate):
    return lambda z: 1 / (1 + math.exp(-rate * z))


@pytest.mark.parametrize(
    ("R", "below_0", "n", "losses"),
    [
        (ss.Laplace(1), laplace(1), 60, (0.02, 0.1, 0.3, 0.6)),
        (ss.Laplace("5/2"), laplace(2.5), 60, (0.05, 0.25, 0.75, 1.5)),
        (ss.Laplace(4), laplace(4), 120, (0.08, 0.4, 1.2, 2.4)),
        (ss.Gaussian(1), normal(1), 60, (0.0, 0.05, 0.1, 0.3)),
        (ss.Gaussian("1/2"), normal(0.5), 120, (0.1, 0.6)),
        (ss.Gaussian(3), normal(3), 120, (0.005, 0.02, 0.05, 0.1)),
        (Logistic(1), logistic(1), 60, (0.01, 0.05, 0.1, 0.2)),
        (Logistic(3), logistic(3), 120, (0.02, 0.08, 0.3, 0.6)),
    ],
    ids=["Laplace 1", "Laplace 2.5", "Laplace 4", "normal 1", "normal 1/2", "normal 3", "logistic 1", "logistic 3"],
)
def test_no_dataset_with_mixed_others_is_above_the_bound(R, below_0, n, losses):
    rng = random.Random(n)
    bounds, closest = DropOutOfNoise(R, n), 0.0
    for eps in losses * 2:
        bound = bounds.at([Ratio(eps=sp.Rational(str(eps)))], None)[0][0].value
        for _ in range(6):
            ends = sorted(rng.choice([0.0, 1.0, rng.uniform(-0.2, 1.2)]) for _ in range(2))
            x = rng.random()
            places = [0.0, 1.0, x, min(x + 2 * eps, 1.0), rng.random()]  # two of them are close
            rows = []
            for place in places:
                first, second = (below_0(end - place) for end in ends)
                rows.append([first, second - first, 1 - second])
            x0, x1 = rng.sample(range(5), 2)
            few = rng.sample(range(5), rng.randint(1, 3))
            value = counted(rows, x0, x1, [rng.choice(few) for _ in range(n - 1)], math.exp(eps))
            closest = max(closest, value / bound)
    assert 0.05 < closest < 1  # 1e-12 of round-off is far from the bound


@pytest.mark.parametrize(
    ("R", "n", "excess"),
    [(ss.Gaussian(2), 10_000, 0.006), (ss.Gaussian(1), 100_000, 0.013), (Logistic(1), 10_000, 0.003)],
    ids=str,
)
def test_gaussian_and_logistic_noise_is_bounded_nearly_as_its_worst_datasets_are(R, n, excess):
    answer = ss.Shuffle(R, n).epsilon(1e-6)
    assert answer.upper_by == "drop-out"
    assert answer.lower < answer.upper <= (1 + excess) * answer.lower


@pytest.mark.parametrize(
    ("sigma", "n", "eps"), [(10, 100, "1/2"), (3, 10, "4"), (1000, 10, "1/1000"), (10**6, 10**9, "0"), (1, 300, "1")]
)
def test_no_noise_is_too_large_or_too_small_for_an_attempt(sigma, n, eps):
    bound = DropOutOfNoise(ss.Gaussian(sigma), n).at([Ratio(eps=sp.Rational(eps))], None)[0][0]
    assert 0 < bound.value < 1


def test_what_is_cut_off_is_chosen_for_small_bounds_and_for_large_values_of_g():
    # With too much cut off the first would be above 1e-7, with too little the second one above 0.1.
    wide, narrow = DropOutOfNoise(ss.Gaussian(10), 100), DropOutOfNoise(ss.Gaussian(1), 300)
    # The attack, from cells, is 5.77e-10.
    assert 5.7e-10 < wide.at([Ratio(eps=sp.Rational(1, 20))], None)[0][0].value < 1e-9
    assert narrow.at([Ratio(eps=sp.Integer(1))], None)[0][0].value < 0.02


def test_messages_that_are_cut_off_count_in_full(monkeypatch):
    monkeypatch.setattr(bounds_module, "_TAILS", 1)
    bounds, ratio = DropOutOfNoise(ss.Gaussian(2), 10_000), Ratio(eps=sp.Rational(1, 20))
    _, lost = bounds.laws.at(float(ratio), 1e-3)
    assert bounds.at([ratio], [Interval(0.1, 1.0)])[0][0].value >= max(lost) > 0.99e-3


def test_of_several_attempts_the_smallest_bound_is_told():
    bounds, made = DropOutOfNoise(ss.Gaussian(1), 10_000), []

    def dropped(*given):
        value = 1e-30 if len(made) == 1 else 1e-20
        made.append(dropout.Bound(value, math.log(value), "moduli"))
        return made[-1]

    bounds._dropped = dropped
    told = bounds.at([Ratio(eps=sp.Rational(1, 10))], [Interval(1e-4, 1.0)])[0][0]
    assert len(made) > 2
    assert told is made[1]


@pytest.mark.parametrize(("sigma", "n", "eps"), [("1/2", 300, 1), ("1/2", 1000, 1), ("3/5", 100, 1)])
def test_few_large_ratios_of_little_noise_are_summed(sigma, n, eps):
    # In equal cells, a lower bound, too
    R = ss.Gaussian(sigma)
    equal = ss.Shuffle(R.dataset(1, 40, 1e-5), n).delta(eps, rtol=0.1).lower
    assert ss.Shuffle(R, n).delta(eps).lower > 0.98 * equal > 1e-4


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize(("R", "below_0"), [(ss.Gaussian(1), normal(1)), (Logistic(2), logistic(2))], ids=["N", "L"])
def test_few_users_of_smooth_noise_are_below_the_bound_in_exact_arithmetic(R, below_0, n):
    # Messages are merged, and probabilities rounded to multiples of 1e-12, which adds up to less than 1e-10.
    rows = []
    for place in (0.0, 0.3, 1.0):
        first, second = (sp.Rational(round(below_0(end - place) * 10**12), 10**12) for end in (0.1, 0.8))
        rows.append([first, second - first, 1 - second])
    finite, bounds = ss.from_matrix(rows), DropOutOfNoise(R, n)
    for alpha in (sp.Integer(1), sp.Rational(11, 10), sp.Rational(3, 2)):
        truth = ss.ground_truth.worst_pair(finite, n, alpha).delta
        assert 0 < truth <= sp.Rational(bounds.at([Ratio(alpha=alpha)], None)[0][0].value) + sp.Rational(1, 10**10)


def clipped_laplace(eps0):
    x, y = sp.symbols("x y")
    return ss.from_density(eps0 / 2 * sp.exp(-eps0 * sp.Abs(y - x)), inputs=(0, 1), clip=(0, 1))


@pytest.mark.parametrize("q", [1, sp.Rational(1, 2)])
def test_clipped_noise_has_no_larger_bound_than_the_noise_before(q):
    before, after = (ss.Sampled(R, q) for R in (ss.Laplace(eps0=1), clipped_laplace(sp.Integer(1))))
    one, other = (ss.Shuffle(R, 1000).delta(0.1) for R in (before, after))
    assert other.lower <= other.upper <= one.upper
    assert (one.upper_by, other.upper_by) == ("drop-out", "drop-out, before clipping")
    assert ss.Shuffle(after, 1000).epsilon(1e-4).upper <= ss.Shuffle(before, 1000).epsilon(1e-4).upper * (1 + 1e-3)


def test_no_dataset_of_clipped_noise_is_above_the_bound_of_the_noise_before():
    # Counting clipped messages by quarters is post-processing.
    finite = ss.from_matrix(merged((0, 2, 4), (0, 2, 4), sp.Integer(2)))
    bounds = DropOutOfNoise(clipped_laplace(sp.log(T)), 5)
    assert bounds.laws
    for alpha in (sp.Integer(1), sp.Rational(3, 2), sp.Integer(4)):
        truth = ss.ground_truth.worst_pair(finite, 5, alpha).delta
        assert 0 < truth <= sp.Rational(bounds.at([Ratio(alpha=alpha)], None)[0][0].value)


@pytest.mark.parametrize(
    ("R", "eps"), [(Logistic(eps0=3), (0.07, 0.1)), (ss.Gaussian(sigma=sp.Rational(1, 2)), (0.17, 0.2))]
)
def test_a_larger_epsilon_has_no_larger_bound_where_most_pairs_of_inputs_are_close(R, eps):
    one, other = (ss.Shuffle(R, 3000).delta(value) for value in eps)
    assert other.lower <= other.upper <= one.upper
    # At the second ε the bound itself is far above that at the first one.
    bounds = DropOutOfNoise(R, 3000)
    first, second = (Ratio(eps=sp.Rational(str(value))) for value in eps)
    assert bounds._at_one(second, 0.0).value > 2 * bounds.at([first], None)[0][0].value
    assert bounds.at([second], None)[0][0].value <= bounds.at([first], None)[0][0].value


@pytest.mark.parametrize(("eps0", "eps"), [("1", "0"), ("4", "0.25"), ("8", "7.999"), ("0.01", "0.002")])
def test_the_divergence_of_one_user_is_not_below_the_true_one(eps0, eps):
    truth = 1 - sp.exp((sp.Rational(eps) - sp.Rational(eps0)) / 2).n(40)
    local = laws_of(ss.Laplace(sp.Rational(eps0))).local(Ratio(eps=sp.Rational(eps)))
    assert truth <= sp.Rational(local) <= truth * (1 + sp.Rational(1, 10**12))


def test_the_bound_is_within_one_percent_of_the_attack():
    # 0.244483: others at 0, from another program
    answer = ss.Shuffle(ss.Laplace(4), n=10_000).epsilon(1e-6)
    assert 0.244483 * 0.999 <= answer.lower <= 0.244484
    assert 0.244482 <= answer.upper <= 0.244483 * 1.01
    assert answer.upper_by == "drop-out"


def test_where_the_blanket_is_smaller_it_answers():
    few = ss.Shuffle(ss.Laplace(4), n=20)
    assert few.delta(0.5).upper_by == "blanket"
    assert ss.Shuffle(ss.Gaussian(1), n=1000).delta(0.3).upper_by == "blanket"  # few ratios are most of G's variance


def test_below_one_the_pair_is_swapped():
    M = ss.Shuffle(ss.Laplace(2), n=1000)
    above, below_one = M.hockey_stick(sp.Rational(11, 10)), M.hockey_stick(sp.Rational(10, 11))
    assert below_one.upper == pytest.approx(1 - 10 / 11 + 10 / 11 * above.upper, rel=1e-12)
    assert above.upper_by == below_one.upper_by == "drop-out"
    assert below_one.lower <= below_one.upper


def test_rounds_are_between_the_attack_and_the_blanket():
    M, D = ss.Shuffle(ss.Laplace(1), n=1000), ss.decomposition.blanket(ss.Laplace(1))
    rounds = M.compose(4).epsilon(1e-6, rtol=0.02)
    assert 2 * M.epsilon(1e-6).lower < rounds.lower <= rounds.upper < 1.1 * rounds.lower
    assert rounds.upper < 0.97 * ss.Shuffle(D, 1000).compose(4).epsilon(1e-6, rtol=0.02).lower


def test_tails_are_rounded_down_to_a_few_and_0_to_the_least_of_them():
    tails = [noise._rounded(tail) for tail in (0.5, 0.01, 3e-7, 9e-11, 9e-201, 1e-320, 0.0)]
    assert tails == pytest.approx([0.1, 0.01, 1e-7, 1e-12, 1e-202, 1e-290, 1e-290], rel=1e-9, abs=0)


@pytest.mark.parametrize("R", [ss.Laplace(6), ss.randomizers.Logistic(3), ss.Gaussian(1), ss.Gaussian("1/2")], ids=str)
def test_epsilon_of_few_users_is_between_those_of_exact_cells(R):
    n, target = 2, 0.01
    answer = noise.Noise(R, n).epsilon(target, 1e-2)
    assert answer.relative_width <= 1e-2
    below, above = (ss.Shuffle(cut(40, 1e-9), n) for cut in (R.lower, R.upper))
    assert below.exact(eps=answer.upper) <= target < above.exact(eps=answer.lower)


@pytest.mark.parametrize(("R", "n"), [(Logistic("3.5"), 10_000), (ss.Laplace(17), 10_000)], ids=str)
def test_where_there_is_no_drop_out_bound_the_upper_end_of_epsilon_is_that_of_the_blanket(R, n):
    answer = ss.Shuffle(R, n).epsilon(1e-6)
    blanket = ss.Shuffle(ss.decomposition.blanket(R), n).epsilon(1e-6)
    assert answer.upper_by == ("blanket" if blanket.upper < R.eps0 else "the largest loss")
    assert answer.upper == pytest.approx(blanket.upper, rel=1e-3)
    assert answer.lower <= blanket.lower
    assert ss.Shuffle(R.lower(64, 1e-12), n).delta(answer.upper).lower <= 1e-6


@pytest.mark.parametrize(("eps0", "n", "by"), [(1, 10_000, "drop-out"), (8, 1_000, "blanket")])
def test_the_upper_end_of_epsilon_meets_the_target_by_the_bound_that_it_names(eps0, n, by):
    answer = ss.Shuffle(ss.Laplace(eps0), n).epsilon(1e-6)
    bounds, ratio = DropOutOfNoise(ss.Laplace(eps0), n), Ratio(eps=sp.Rational(str(answer.upper)))
    assert answer.upper_by == by
    if by == "drop-out":
        assert bounds.at([ratio], None)[0][0].value <= 1e-6
        assert bounds.at([Ratio(eps=sp.Rational(str(answer.upper * 0.998)))], None)[0][0].value > 1e-6
    else:
        assert bounds.at([ratio], None)[0][0].value > 1e-6
        assert ss.Shuffle(ss.Laplace(eps0).upper(512), n).delta(answer.upper).lower <= 1e-6


def test_a_blanket_in_cells_that_is_wider_than_asked_is_refused_and_bounds_the_mechanism_as_it_is():
    R = ss.Gaussian(sp.Rational(1, 2))
    answer = ss.Shuffle(R, 10**6).epsilon(1e-6)
    assert 0 < answer.lower < answer.upper
    with pytest.raises(ValueError, match="not known sharply enough to find eps; ask for a larger rtol"):
        ss.Shuffle(ss.decomposition.blanket(R), 10**6).epsilon(1e-6, rtol=1e-5)
    wide = ss.Shuffle(ss.decomposition.blanket(R), 10**6).epsilon(1e-6, rtol=0.2)
    assert wide.lower <= answer.upper
    assert wide.relative_width <= 0.2


def test_a_delta_of_noise_below_all_doubles_has_a_logarithm_with_two_ends():
    R, n, eps = ss.Laplace(eps0=1), 10**5, 0.3
    answer = ss.Shuffle(ss.decomposition.blanket(R), n).log_delta(eps)
    coarse = ss.Shuffle(R.lower(32, 1e-9), n).log_delta(eps)  # merged messages say less
    assert -math.inf < coarse.lower <= answer.upper
    assert answer.upper - 0.1 < answer.lower < math.log(5e-324)


def test_where_hardly_anybody_sends_a_message_of_the_blanket_one_user_alone_is_close():
    # D of n users is between (1 − γ)^(n − 1) of that of one, 1 − e^{(ε − ε0)/2}, and that itself.
    for eps0, n, rtol in ((62, 925, 1e-3), (8, 10, 0.5), (40, 10**6, 1e-2)):
        crowd, gamma = noise.Noise(ss.Laplace(eps0=eps0), n), math.exp(-eps0 / 2)
        for eps in (1, eps0 / 2, 3 * eps0 / 4):
            (found,) = crowd.hockey_sticks([Ratio(eps=sp.Rational(eps))], rtol)
            alone = -math.expm1((eps - eps0) / 2)
            assert found.lower <= (1 - gamma) ** (n - 1) * alone * (1 + 1e-14)
            assert found.upper >= alone * (1 - 1e-14)  # which is not below it, and all that is known here
            assert found.relative_width <= rtol
    for eps in (1, 4, 6):  # nine others: a tenth of them is seen
        ratio, few = [Ratio(eps=sp.Integer(eps))], noise.Noise(ss.Laplace(eps0=8), 10)
        (wide,), (sharp,) = few.hockey_sticks(ratio, 0.5), few.hockey_sticks(ratio, 0.05, "contour")
        assert wide.lower <= sharp.lower <= sharp.upper <= wide.upper


@pytest.mark.parametrize("question", ["delta", "rdp"])
def test_rounds_of_noise_that_hides_nobody_have_an_answer_though_next_to_the_largest_loss_little_is_known(question):
    rounds = ss.Shuffle(ss.Laplace(eps0=62), 925).compose(2)
    if question == "delta":
        answer = rounds.delta(1.0, rtol=0.5)
        assert 0.99 < answer.lower < answer.upper <= 1
    else:
        answer = rounds.rdp(8, rtol=0.5)
        assert 0 < answer.lower < answer.upper <= 124.001  # 2 ε0


def test_a_bound_of_noise_that_hides_few_users_is_no_looser_than_its_blanket():
    for eps0, n in ((6, 40), (8, 100), (10, 925)):
        blanket = ss.Shuffle(ss.decomposition.blanket(ss.Laplace(eps0)), n).delta([0, 1], rtol=1e-2)
        for one, other in zip(ss.Shuffle(ss.Laplace(eps0), n).delta([0, 1], rtol=1e-2), blanket, strict=True):
            assert one.upper <= other.upper * (1 + 1e-12)


def test_no_loss_is_larger_than_that_of_the_noise_though_masses_are_rounded():
    for R, largest in ((ss.Laplace(1), 1), (ss.Joint(ss.Laplace(1), ss.Laplace(1)), 2)):
        M = ss.Shuffle(R, 40)
        assert tuple(M.log_delta(largest)) == (-math.inf, -math.inf)
        assert M.profile(rtol=0.2).delta(largest).lower == 0


@pytest.mark.parametrize("R", [ss.Laplace(1), ss.Laplace("0.1"), ss.Sampled(ss.Laplace(4), "1/3"), Logistic(2)])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_from_the_largest_loss_on_nothing_is_attained_whatever_cells_say(R, n):
    # D_α = 0 for α >= e^ε0; masses of cells have finitely many digits, and would leave 1e-78 there.
    M, loss = ss.Shuffle(R, n), R.eps0
    for answer in (*M.delta([loss, loss + 1]), M.hockey_stick(sp.exp(loss))):
        assert (answer.lower, answer.upper) == (0, 0)
    assert M.log_delta(loss).upper == -math.inf


@pytest.mark.parametrize("n", [1, 2, 31, 32, 400])
@pytest.mark.parametrize(
    ("R", "eps", "alone"),
    [
        (ss.Laplace(12), 7.5, -math.expm1((7.5 - 12) / 2)),
        (ss.Laplace(8), 5.5, -math.expm1((5.5 - 8) / 2)),
        (ss.Sampled(ss.Laplace(1), "1e-17"), 0.5, -math.expm1((0.5 - 1) / 2) * 1e-17),
        (ss.Gaussian("1/2"), 2.0, normal(1)(1 - 1) - math.exp(2) * normal(1)(-1 - 1)),  # w/2 − ε/w, w = 2
    ],
)
def test_no_divergence_is_above_that_of_one_user_alone(R, eps, alone, n):
    answer = ss.Shuffle(R, n).delta(eps, rtol=0.01)
    assert 0 <= answer.lower <= answer.upper <= alone * 1.01
    assert answer.upper_by != "nothing"


@pytest.mark.parametrize(("eps0", "n", "least"), [(6, 32, 0.74), (8, 100, 0.82)])
def test_where_drop_out_is_no_better_than_one_user_alone_the_blanket_is_told(eps0, n, least):
    one = -math.expm1(-eps0 / 2)
    answer = ss.Shuffle(ss.Laplace(eps0), n).delta(0)
    assert answer.upper_by == "blanket"
    assert least < answer.lower < answer.upper < 0.95 * one


def test_cells_of_attacks_are_made_once_if_ratios_are_bounded():
    few, many = (attacks.datasets_of(ss.Laplace(eps0=1), n).best.decompositions() for n in (100, 10**6))
    assert few[0] is many[0]
    few, many = (attacks.datasets_of(ss.Gaussian(sigma=1), n).best.decompositions() for n in (100, 10**6))
    assert few[0] != many[0]


def test_a_list_of_eps_has_what_each_has_alone():
    # At 0.02 the drop-out bound is far above the blanket, and at 0.15 below it.
    M = ss.Shuffle(ss.Gaussian(sigma=0.5), 3000)
    together = M.delta([0.02, 0.15])
    assert together == [M.delta(0.02), M.delta(0.15)]
    assert [answer.upper_by for answer in together] == ["blanket", "drop-out"]


# δ of the blanket by another contour in mpmath, 22 digits
VALUES = [
    (ss.Laplace(eps0=1), 10**3, 0.1, 2.4862754983e-5),
    (ss.Gaussian(sigma=2), 10**3, 0.1, 9.2176730081e-10),
    (ss.Gaussian(sigma=1), 10**5, 0.01, 6.8505417569e-5),
    (ss.Gaussian(sigma=1), 10**3, 0.1, 7.2210573150e-4),  # from ∫ (1 − Re φ(iu)^n)/u² du, at 110 bits
]


@pytest.mark.parametrize(("R", "n", "eps", "value"), VALUES, ids=repr)
@pytest.mark.parametrize("rtol", [1e-2, 1e-3])
def test_values_of_another_tool_are_inside_the_blanket(R, n, eps, value, rtol):
    found = ss.Shuffle(ss.decomposition.blanket(R), n).delta(eps, rtol=rtol)
    assert found.lower <= value * (1 + 1e-10)
    assert found.upper >= value * (1 - 1e-10)
    assert found.relative_width <= rtol


@pytest.mark.parametrize(("R", "n", "eps", "value"), VALUES, ids=repr)
def test_a_few_cells_are_enough_to_see_on_which_side_of_a_number_the_blanket_is(R, n, eps, value, monkeypatch):
    cells, made = [], Noise._discretised
    monkeypatch.setattr(Noise, "_discretised", lambda self, *given: cells.append(given[1]) or made(self, *given))
    ratio = [Ratio(eps=sp.Rational(str(eps)))]
    (below,) = Noise(R, n).hockey_sticks(ratio, 1e-3, "auto", [Interval(0.0, 0.8 * value)])
    (above,) = Noise(R, n).hockey_sticks(ratio, 1e-3, "auto", [Interval(1.25 * value, 1.0)])
    assert set(cells) == {32}
    assert 0.8 * value < below.lower < value < above.upper < 1.25 * value


def test_the_smaller_bound_of_noise_is_told_whatever_few_cells_show(monkeypatch):
    ratios = [Ratio(eps=sp.Rational(k, 20)) for k in range(4)]
    bounds = of_all_datasets(ss.Laplace(4), 10**4)
    shown = bounds.hockey_sticks(ratios, 1e-3)
    assert {answer.upper_by for answer in shown} == {"drop-out"}
    original = Noise.hockey_sticks
    monkeypatch.setattr(Noise, "hockey_sticks", lambda self, ratios, *given: original(self, ratios, 1e-3))
    assert [one.upper for one in bounds.hockey_sticks(ratios, 1e-3)] == [one.upper for one in shown]


def test_epsilon_of_noise_is_met_by_the_bound_that_is_named():
    target, answer = 1e-6, Mechanism(ss.Laplace(1), 10**4).epsilon(1e-6, 1e-3)
    assert answer.upper_by == "drop-out"
    ((bound, _),) = DropOutOfNoise(ss.Laplace(1), 10**4).at([Ratio(eps=sp.Rational(str(answer.upper)))], None)
    assert bound.value <= target
