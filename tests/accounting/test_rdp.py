"""What is made of Rényi curves: conversions, rounds, samples of the users."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import mpmath
import pytest
import sympy as sp
from conftest import literal_moment

import shuffle_sym as ss
from shuffle_sym.accounting import rdp
from shuffle_sym.model import decomposition
from shuffle_sym.truth import exact, ground_truth

q = sp.Rational


def test_conversions_return_the_best_order_and_undo_each_other():
    for curve in (lambda order: order / 200, lambda order: 3e-6 * order):
        for level in (1e-3, 1e-8):
            found = rdp.epsilon(curve, level)
            everything = rdp.epsilon(curve, level, orders=range(2, 3_001))
            assert found.value == everything.value
            back = rdp.delta(curve, found.value, orders=[found.order])
            if found.value > 0:
                assert level * 0.999 < back.value <= level * (1 + 1e-9)
            assert rdp.delta(curve, found.value).value <= back.value


@pytest.mark.parametrize("slope", [1e-9, 1e-12])
def test_the_best_order_is_found_however_large_it_is(slope):
    # What is minimised has the derivative slope − (log(1/δ) − log λ)/(λ − 1)².
    level = 1e-8
    found = rdp.epsilon(lambda order: slope * order, level)
    expected = 1 + math.sqrt((-math.log(level) - math.log(found.order)) / slope)
    assert found.order > 10_000
    assert found.order == pytest.approx(expected, rel=1e-4)
    around = [round(found.order * factor) for factor in (0.9, 0.99, 1, 1.01, 1.1)]
    values = [rdp.epsilon(lambda order: slope * order, level, orders=[order]).value for order in around]
    assert min(values) == values[2] == found.value
    back = rdp.delta(lambda order: slope * order, found.value)
    assert back.value == pytest.approx(level, rel=1e-6)


def test_a_bounded_curve_has_its_best_order_at_one_over_delta():
    # There the derivative, (log λ − log(1/δ))/(λ − 1)², is 0.
    for level in (1e-3, 1e-8):
        found = rdp.epsilon(lambda order: min(order / 50, 0.3), level)
        assert found.order == pytest.approx(1 / level, rel=1e-4)
        assert found.value == pytest.approx(0.3 + math.log1p(-level), rel=1e-13)


def test_a_search_ends_where_there_is_nothing_to_gain():
    assert rdp.epsilon(lambda order: 0.0, 1e-300).value == 0
    # Below ε at every order δ is 0; the least double is above it. At ε itself δ is about 1/(eλ).
    assert 0 < rdp.delta(lambda order: 0.25, 0.5).value < 1e-319
    assert 0 < rdp.delta(lambda order: 0.0, 0).value < 1e-300


def test_a_sampled_curve_refuses_orders_that_would_take_forever_and_no_search_hides_it():
    curve = rdp.poisson_subsampled(lambda order: 1e-12 * order, 0.01)
    with pytest.raises(ValueError, match=r"order must be at most 10000 for a sampled curve, got .*; give orders"):
        rdp.epsilon(curve, 1e-8)
    assert rdp.epsilon(curve, 1e-8, orders=[2, 50]).order == 50


def test_conversion_is_the_printed_formula():
    with mpmath.workdps(40):
        for order, level in ((2, 1e-5), (17, 0.01)):
            extra = (
                mpmath.log(1 / mpmath.mpf(level))
                + (order - 1) * mpmath.log(1 - mpmath.mpf(1) / order)
                - mpmath.log(order)
            ) / (order - 1)
            found = rdp.epsilon(lambda order: 0.25, level, orders=[order]).value
            assert extra + 0.25 <= found < (extra + 0.25) * (1 + 1e-11)
            printed = (
                mpmath.exp((order - 1) * (0.25 - mpmath.mpf(2))) / (order - 1) * (1 - mpmath.mpf(1) / order) ** order
            )
            found = rdp.delta(lambda order: 0.25, 2, orders=[order]).value
            assert printed <= found < printed * (1 + 1e-10)


@pytest.mark.exact
@pytest.mark.parametrize("rounds", [1, 3])
def test_composed_curves_are_above_exact_rounds(rounds):
    D = decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0)
    pair = exact.shuffled_pair(D, 3)

    def curve(order):
        return float(exact.renyi_divergence(exact.renyi_moment(D, 3, order), order)) * (1 + 1e-12)

    for alpha in (q(6, 5), 2, 5):
        truth = exact.composed_divergence([pair] * rounds, alpha)
        found = rdp.delta(rdp.repeated(curve, rounds), sp.log(alpha), orders=range(2, 40))
        assert truth <= sp.Rational(found.value)
        assert rdp.delta(rdp.composed(*[curve] * rounds), sp.log(alpha), orders=range(2, 40)).value == pytest.approx(
            found.value, rel=1e-9
        )


def test_interpolated_orders_are_above_exact_real_ones():
    def curve(order):
        return float(exact.renyi_divergence(exact.two_rr_moment(sp.log(5), 4, order), order)) * (1 + 1e-12)

    smooth = rdp.interpolated(curve)
    assert smooth(3) == curve(3)
    for order in (q(5, 4), q(9, 4), q(7, 2), q(49, 5)):
        truth = exact.renyi_divergence(exact.two_rr_moment(sp.log(5), 4, order), order)
        assert truth <= smooth(order) <= truth * 1.5


def test_poisson_subsampling_is_exact_in_one_direction_and_a_bound_in_the_other():
    rate = Fraction(1, 5)
    pair = {
        "a": (Fraction(1, 2), Fraction(1, 6)),
        "b": (Fraction(1, 3), Fraction(1, 3)),
        "c": (Fraction(1, 6), Fraction(1, 2)),
    }

    def curve(order):
        both = (literal_moment(pair, order), literal_moment({k: v[::-1] for k, v in pair.items()}, order))
        return math.log(max(both)) / (order - 1) * (1 + 1e-12)

    mixed = {k: (rate * x + (1 - rate) * y, y) for k, (x, y) in pair.items()}
    for order in (2, 3, 6, 15):
        forward = math.log(literal_moment(mixed, order)) / (order - 1)
        backward = math.log(literal_moment({k: v[::-1] for k, v in mixed.items()}, order)) / (order - 1)
        exact_one = rdp.poisson_subsampled(curve, 0.2, by="forward")(order)
        assert forward <= exact_one <= forward * (1 + 1e-8)
        for by in ("proved", "zhu2019"):
            assert max(forward, backward) <= rdp.poisson_subsampled(curve, 0.2, by=by)(order)


def test_no_random_pair_is_above_a_poisson_sampled_curve():
    generator = random.Random(5)

    def law(size):
        weights = [generator.randint(1, generator.choice([5, 1000])) for _ in range(size)]
        return [Fraction(w, sum(weights)) for w in weights]

    for _ in range(60):
        size, rate = generator.randint(2, 5), Fraction(generator.randint(1, 20), generator.choice([20, 200]))
        P, Q = law(size), law(size)
        mixed = [rate * x + (1 - rate) * y for x, y in zip(P, Q, strict=True)]

        def divergence(first, second, order):
            return math.log(literal_moment(dict(enumerate(zip(first, second, strict=True))), order)) / (order - 1)

        def curve(order, P=P, Q=Q):
            return max(divergence(P, Q, order), divergence(Q, P, order)) * (1 + 1e-12)

        for order in (2, 3, 7, 12):
            forward, backward = divergence(mixed, Q, order), divergence(Q, mixed, order)
            for by in ("proved", "zhu2019"):
                assert max(forward, backward) <= rdp.poisson_subsampled(curve, q(rate), by=by)(order)
            assert forward <= rdp.poisson_subsampled(curve, q(rate), by="forward")(order)


def test_the_backward_bounds_of_a_poisson_sample_are_three_and_the_least_counts():
    # λ = 4, γ = 1/10, curves that make each of the three the least.
    with mpmath.workdps(30):
        for level, expected in (
            (1e-4, 1 + 6 * mpmath.mpf("0.01") * mpmath.mpf("0.9") ** -5 * mpmath.expm1(mpmath.mpf(1e-4))),
            (50.0, mpmath.mpf("0.9") ** -3),
            (0.75, None),
        ):
            found = rdp._backward(4, 0.1, level, 3 * level)
            three = [
                1 + 6 * mpmath.mpf("0.01") * mpmath.mpf("0.9") ** -5 * mpmath.expm1(level),
                mpmath.mpf("0.9") ** -3,
                mpmath.mpf("0.9") + mpmath.mpf("0.1") * mpmath.exp(3 * level),
            ]
            assert expected is None or expected == pytest.approx(min(three), rel=1e-12)
            assert mpmath.log(min(three)) <= found * (1 + mpmath.mpf("1e-15"))
            assert found <= mpmath.log(min(three)) * (1 + mpmath.mpf("3e-9"))
    assert rdp._backward(4, 1.0, 0.5, 1.5) == pytest.approx(1.5, rel=1e-8)


def test_an_infinite_divergence_stays_infinite():
    def infinite(order):
        return math.inf

    assert rdp.poisson_subsampled(infinite, 0.1)(3) == math.inf
    assert rdp.sampled_without_replacement(infinite, 0.1, 1)(3) == math.inf
    assert rdp.epsilon(infinite, 0.1).value == math.inf
    assert rdp.delta(infinite, 1).value == 1


def test_a_sample_of_the_users_is_bounded_with_replaced_records():
    # 4 users, 2 of them drawn, 2-RR with t = 3: every pair of datasets, by brute force.
    t, users, drawn = 3, 4, 2

    def law(X):
        found: dict[int, Fraction] = {}
        for chosen in itertools.combinations(X, drawn):
            for messages in itertools.product((0, 1), repeat=drawn):
                mass = math.prod(
                    (
                        Fraction(t, t + 1) if x == y else Fraction(1, t + 1)
                        for x, y in zip(chosen, messages, strict=True)
                    ),
                    start=Fraction(1),
                )
                found[sum(messages)] = found.get(sum(messages), Fraction(0)) + mass / math.comb(users, drawn)
        return found

    def curve(order):
        (worst,) = ground_truth.worst_moments(ss.BinaryRR(eps0=sp.log(t)), drawn, [order])
        return float(exact.renyi_divergence(worst.moment, order)) * (1 + 1e-12)

    sampled = rdp.sampled_without_replacement(curve, q(drawn, users), sp.log(t))
    for order, others in itertools.product((2, 3, 5), itertools.combinations_with_replacement((0, 1), users - 1)):
        P, Q = law((0, *others)), law((1, *others))
        truth = math.log(literal_moment({k: (P[k], Q[k]) for k in P}, order)) / (order - 1)
        assert truth <= sampled(order)


def test_a_loss_that_no_double_tells_from_0_has_a_renyi_divergence():
    masses = [["600001/700000000000000604001", "4000/700000000000000604001"],
              ["40000066866667/46666666480000040266733535467", "266666668800/46666666480000040266733535467"],
              ["0", "1/100004008"]]  # fmt: skip
    a, b, c = laws = [[*map(Fraction, law), 1 - sum(map(Fraction, law))] for law in masses]
    D = decomposition.Decomposition(*(list(map(str, law)) for law in laws))
    pairs = {(i, j): (a[i] * c[j] + a[j] * c[i], b[i] * c[j] + b[j] * c[i]) for i in range(3) for j in range(i)}
    pairs |= {i: (a[i] * c[i], b[i] * c[i]) for i in range(3) if c[i]}
    assert float(D.max_loss) == 0 != D.max_loss  # what SymPy makes of it
    excess = literal_moment(pairs, 2) - 1
    # log(1 + x) is between x − x²/2 and x.
    answer = ss.Shuffle(D, 2).rdp(2, rtol=0.03)
    assert answer.lower <= excess
    assert excess - excess**2 / 2 <= answer.upper
    assert answer.upper <= 1.031 * answer.lower


@pytest.mark.parametrize("eps0", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("rate", [1e-3, 0.3, 1.0])
def test_a_sample_without_replacement_has_the_printed_formula(rate, eps0):
    # Wang, Balle and Kasiviswanathan 2019, Theorem 9, term by term with 40 digits.
    mp = mpmath.MPContext()
    mp.dps = 40
    for slope in (1e-9, 1e-2, 0.8):
        sampled = rdp.sampled_without_replacement(lambda order, slope=slope: slope * order, rate, eps0)
        for order in (2, 3, 7, 40):
            gain, second = mp.expm1(eps0), mp.mpf(2 * slope)
            terms = [rate**2 * mp.binomial(order, 2) * min(4 * mp.expm1(second), min(2, gain**2) * mp.exp(second))]
            for j in range(3, order + 1):
                terms.append(mp.mpf(rate) ** j * mp.binomial(order, j) * min(2, gain**j) * mp.exp((j - 1) * j * slope))
            true = mp.log1p(mp.fsum(terms)) / (order - 1)
            assert true <= sampled(order) <= true * (1 + mp.mpf("3e-9"))
