"""Corners in which answers were wrong, refused or late: each line failed once. Truths are exact or from mpmath."""

import math
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import precise
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import lattice
from shuffle_sym.numeric.search import smallest_epsilon

mp = precise.context(80)


def two_real_datasets(eps0, n, eps):
    """δ(ε) of 2-RR for user 1 with 0 against 1 and all others with 1, from the law of the count of messages 0."""
    t, alpha = mp.exp(mp.mpf(eps0)), mp.exp(mp.mpf(eps))
    low = 1 / (1 + t)

    def law(first, k):
        others = [mp.binomial(n - 1, j) * low**j * (1 - low) ** (n - 1 - j) if 0 <= j < n else 0 for j in (k - 1, k)]
        return first * others[0] + (1 - first) * others[1]

    return sum(max(law(1 - low, k) - alpha * law(low, k), mp.mpf(0)) for k in range(n + 1))


def dataset(eps0, n=20):
    return ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=eps0), 0, 1, 1), n)


# -- wrong


@pytest.mark.parametrize(("eps0", "eps"), [(44, "43.9"), (50, "49.9"), (30, "29.9"), (500, "499"), (500, "10")])
@pytest.mark.parametrize("method", ["auto", "contour", "binomial"])
def test_no_end_is_on_the_wrong_side_where_products_underflow(eps0, eps, method):
    truth = two_real_datasets(eps0, 20, eps)
    try:
        answer = dataset(eps0).delta(sp.Rational(eps), method=method)
    except ValueError:
        assert method != "auto"
        return
    assert answer.lower <= truth <= answer.upper


def test_epsilon_at_a_delta_near_the_smallest_double():
    answer = dataset(50).epsilon(1e-290)
    assert two_real_datasets(50, 20, answer.upper) <= mp.mpf(1e-290) < two_real_datasets(50, 20, answer.lower)
    assert answer.relative_width <= 1e-3


def test_the_lattice_never_answers_with_0_for_a_sum_that_can_be_positive():
    answer = lattice.positive_part(np.array([-1e108, 4e-61, -2e21]), np.array([1.0, 1e-83, 1e-16]), 7, 1e-6)
    assert 0 == answer.lower < answer.upper  # 1e-641, about


# -- refused


def test_10_rr_with_a_large_eps0_and_many_users():
    eps0, n, delta = 30, 10**9, 1e-6
    answer = ss.Shuffle(ss.KRR(k=10, eps0=eps0), n).epsilon(delta)
    t = mp.exp(eps0)
    p, q = t / (t + 9), 1 / (t + 9)
    # User 1 has 0 or 1, all others 2; the event is that there is a message 0 and none is 1.
    zeros = (1 - p - q) * (1 - 2 * q) ** (n - 1)
    event = [(1 - q) * (1 - q) ** (n - 1) - zeros, (1 - p) * (1 - q) ** (n - 1) - zeros]
    assert event[0] - mp.exp(answer.lower) * event[1] > delta
    assert answer.lower <= answer.upper <= eps0
    assert answer.relative_width < 1e-2


@pytest.mark.parametrize(
    ("make", "eps0", "n", "delta"),
    [
        (lambda eps0: ss.RAPPOR(d=4, eps0=eps0), 46.01, 13, 0.0409),
        (lambda eps0: ss.OUE(d=4, eps0=eps0), 35.42, 951321, 3.23e-5),
        (lambda eps0: ss.OUE(d=4, eps0=eps0), 54.37, 70265, 5.63e-258),
        (lambda eps0: ss.BLH(d=8, eps0=eps0), 53.07, 12700426, 5.24e-12),
        (lambda eps0: ss.HadamardResponse(K=8, eps0=eps0), 72.01, 2414, 2.66e-96),
        (lambda eps0: ss.KRR(k=3, eps0=eps0), 47.44, 5666, 1.21e-7),
        (ss.decomposition.clones, 93.02, 55468641884889, 1.26e-31),
    ],
)
def test_epsilon_of_a_large_eps0_is_answered(make, eps0, n, delta):
    answer = ss.Shuffle(make(eps0), n).epsilon(delta)
    assert 0 < answer.lower <= answer.upper <= eps0 + 1e-12


def test_log_delta_of_laplace_noise():
    # One user: the two densities cross at distance ε, δ(ε) = 1 − e^{(ε − ε0)/2}.
    truth = math.log(-math.expm1((0.1 - 1) / 2))
    answer = ss.Shuffle(ss.Laplace(eps0=1), 1).log_delta(0.1)
    assert answer.lower <= truth <= answer.upper
    many = ss.Shuffle(ss.Laplace(eps0=1), 1000)
    ends = many.delta(0.1)
    assert many.log_delta(0.1).lower == pytest.approx(math.log(ends.lower), rel=1e-3)
    assert many.log_delta(0.1).upper == pytest.approx(math.log(ends.upper), rel=1e-3)


def test_log_delta_where_the_contour_integral_is_refused():
    truth = mp.log(two_real_datasets(50, 20, "49.9"))
    answer = dataset(50).log_delta(sp.Rational("49.9"))
    assert answer.lower <= truth <= answer.upper
    assert answer.width < 1e-2


@pytest.mark.parametrize("unknown", [(0.4, 0.6), (0.0, 0.01), (0.49, 1.0)])
def test_a_search_ends_with_what_is_known_where_values_are_not(unknown):
    asked = []

    def delta_at(eps, rtol):
        asked.append(eps)
        if unknown[0] <= eps <= unknown[1]:
            return Interval(0.0, 1.0)
        return Interval(*(math.exp(-10 * eps) * (1 + side * rtol / 3) for side in (-1, 1)))

    truth = -math.log(0.01) / 10
    answer = smallest_epsilon(delta_at, 0.01, 1e-3, 5.0)
    assert answer.lower <= truth <= answer.upper <= 5
    assert len(asked) < 30
    if unknown[1] < 0.1:
        assert answer.width <= 2e-3  # relative to 1, the most that δ(0) may be


# -- what is said


def test_a_refusal_names_no_rtol_that_nobody_gave_and_its_advice_works():
    M = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=3, eps0=1)), 10**13)
    with pytest.raises(ValueError, match="was reached: ask for a larger rtol") as refused:
        M.delta(1e-7, rtol=1e-12)
    reached = float(re.search(r"([0-9.e-]+) was reached", str(refused.value)).group(1))
    assert M.delta(1e-7, rtol=2 * reached).relative_width <= 2 * reached
    with pytest.raises(ValueError, match="leave method out") as refused:
        dataset(500).epsilon(0.5, method="binomial")
    assert "rtol" not in str(refused.value)
    assert dataset(500).epsilon(0.5).relative_width <= 1e-3


@pytest.mark.parametrize("power", [160, 170])
def test_a_mass_whose_square_underflows(power):
    # The message 0 of user 1 and nobody else: 1/2 at most, and 1/2 − e^ε·10^-power nearly.
    e = sp.Rational(1, 10**power)
    M = ss.Shuffle(ss.from_matrix([["1/2", "1/2"], [e, 1 - e]]), 3)
    assert M.hockey_stick(2).lower <= 0.5 <= M.hockey_stick(2).upper * (1 + 1e-12)
    assert M.log_delta(0.5).lower <= math.log(0.5) <= M.log_delta(0.5).upper + 1e-12


def test_values_that_are_far_apart_do_not_overflow():
    t = sp.Rational(1, 10**287)
    masses = [t, 0, 1 - t], [0, "1/2", "1/2"], ["1/1000000", sp.Rational(1, 10**100), 0]
    D = ss.decomposition.Decomposition(*masses)
    answer = ss.Shuffle(D, 6).hockey_stick(3, rtol=0.01)
    assert ss.truth.exact.divergence(D, 6, 3) in answer


@pytest.mark.parametrize(("eps0", "n", "eps"), [(73, 9, 4e-4), (45, 38703, 4), (500, 20, 0)])
def test_no_logarithm_of_a_delta_is_above_0(eps0, n, eps):
    """δ is 1 nearly, and its interval goes beyond that."""
    for source in (ss.decomposition.clones(eps0), ss.BinaryRR(eps0=eps0)):
        answer = ss.Shuffle(source, n).log_delta(eps)
        assert -1e-3 < answer.lower <= answer.upper <= 0


@pytest.mark.parametrize("digits", [1, 5, 30])
def test_no_number_of_digits_makes_a_delta_larger_than_1(digits):
    answer = ss.Shuffle(ss.decomposition.clones(60), 5).delta(sp.Rational(1, 1000), digits=digits)
    assert answer.lower < answer.upper <= 1


def test_upper_ends_ask_for_one_pair_of_datasets_and_no_more(monkeypatch):
    """Each of the others took a minute here, and no upper end rests on any."""
    M = ss.Shuffle(ss.BLH(d=16, eps0=34), 425)._analysed
    for _, laws in M.attack.pairs[1:]:
        monkeypatch.setattr(laws, "hockey_sticks", None)
    (answer,) = M.bound.hockey_sticks([Ratio(eps=sp.Integer(30))], 1e-3)
    assert 0 < answer.upper <= 1
    assert len(M.attack.pairs) > 1


# -- questions of an earlier interface, in today's words


def test_a_delta_of_1e_minus_30_has_two_ends_that_are_close():
    answer = ss.Shuffle(ss.BinaryRR(eps0=1), 1_000).epsilon(1e-30)
    assert two_real_datasets(1, 1_000, answer.upper) <= mp.mpf(1e-30)
    assert 0.3 < answer.lower <= answer.upper <= answer.lower * 1.001


@pytest.mark.parametrize("eps0", [9, 12, 20])
def test_a_large_eps0_prints_no_warning(eps0):  # warnings are errors in all tests
    answer = ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=10, eps0=eps0)), 10**4).epsilon(1e-6)
    assert 0 < answer.lower <= answer.upper <= eps0


@pytest.mark.parametrize("delta", [0.5, 0.9, 0.99])
def test_a_delta_near_1_over_rounds(delta):
    # One user, 30 rounds: the number of messages 0 is binomial, and so is the loss.
    rounds, t = 30, mp.exp(2)
    answer = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=2), 0, 1, 1), 1).compose(rounds).epsilon(delta)

    def truth(eps):
        def law(p, k):
            return mp.binomial(rounds, k) * p**k * (1 - p) ** (rounds - k)

        own, other = t / (1 + t), 1 / (1 + t)
        return sum(max(law(own, k) - mp.exp(eps) * law(other, k), mp.mpf(0)) for k in range(rounds + 1))

    assert truth(answer.upper) <= delta <= truth(answer.lower)
    assert answer.relative_width <= 1e-2


def test_a_million_users_to_thirty_digits():
    D, eps = ss.decomposition.clones(1), sp.Rational(1, 100)
    digits, doubles = (ss.Shuffle(D, 10**6).delta(eps, **how) for how in ({"digits": 30}, {"method": "contour"}))
    assert doubles.lower <= digits.lower <= digits.upper <= doubles.upper
    assert digits.upper - digits.lower <= sp.Rational(1, 10**30)


def test_profiles_and_rounds_work_where_the_package_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", None)
    M = ss.Shuffle(ss.decomposition.clones(1), 5)
    assert M.compose(2).delta(0.5).upper <= 2 * M.profile().delta(0).upper


def test_cubes_beyond_the_doubles_give_no_warning():
    tiny, rare = Fraction(1, 10**100), Fraction(1, 10**20)
    M = ss.Shuffle(ss.from_matrix([[rare, "1/10", Fraction(9, 10) - rare], ["2/3", Fraction(1, 3) - tiny, tiny]]), 6)
    answer, truth = M.log_delta("44.77", rtol=0.01), M.exact(eps="44.77", digits=10)
    assert answer.lower <= math.log(truth) <= answer.upper


def test_no_epsilon_of_rounds_is_above_the_largest_loss_of_all_of_them(monkeypatch):
    rounds = ss.Shuffle(ss.BinaryRR(eps0=1), 10).compose(3)
    curve = SimpleNamespace(
        epsilon=lambda *_, **__: Interval(2.9999, 3.0001), delta=lambda *_, **__: Interval(0.5, 0.6)
    )
    monkeypatch.setattr(rounds, "_pair", lambda *_: (curve, curve))  # with losses that were rounded up
    assert rounds.epsilon(1e-6).upper == 3
