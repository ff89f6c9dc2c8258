"""The contour and the binomial accountant: against exact values, against the lattice, and every error term in sight."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
import sympy as sp
from conftest import alphas, decompositions
from hypothesis import given
from hypothesis import strategies as st
from test_error_terms import PROBABILITIES, VALUES, positive_part

import shuffle_sym as ss
from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import binomial, contour, lattice, transforms
from shuffle_sym.numeric.methods import METHODS
from shuffle_sym.truth import histograms

q = sp.Rational
TEN = ss.decomposition.blanket(ss.KRR(k=10, eps0=4), x0=0, x1=1)


def delta(D, alpha, n, rtol=1e-3, method=contour.positive_part) -> Interval:
    """What `Shuffle` would return: the null atoms and the positive part, each rounded outward."""
    law = D.gparv.floats(sp.sympify(alpha))
    part, null = method(law.values, law.probabilities, n, rtol), math.fsum(law.null)
    slack = 8 * rounding.FLOAT_ERROR
    return Interval(part.lower * (1 - slack) + null * (1 - slack), part.upper * (1 + slack) + null * (1 + slack))


def exact(D, alpha, n) -> Fraction:
    value = ss.truth.exact.divergence(D, n, sp.sympify(alpha))
    return Fraction(int(value.p), int(value.q))


def sums(values, probabilities, n, value_error) -> transforms.Sums:
    """Of one law."""
    ((_, found),) = transforms.sums(values[None], probabilities, n, value_error)
    return found


def overlap(one: Interval, other: Interval) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


# ------------------------------------------------------------------------------------------- against exact fractions


@given(decompositions(), st.integers(1, 12), alphas, st.sampled_from([0.3, 1e-2, 1e-3]))
def test_the_exact_value_is_inside_the_contour_interval(D, n, alpha, rtol):
    interval = delta(D, alpha, n, rtol)
    assert interval.lower <= exact(D, alpha, n) <= interval.upper
    assert interval.width <= rtol * interval.upper * (1 + 1e-9) + 1e-300


@given(decompositions(largest=2), st.integers(13, 40), alphas)
def test_the_exact_value_is_inside_for_more_users(D, n, alpha):
    interval = delta(D, alpha, n)
    assert interval.lower <= exact(D, alpha, n) <= interval.upper


@given(decompositions(largest=6), st.integers(1, 4), st.fractions(Fraction(1, 50), 50))
def test_the_exact_value_is_inside_for_more_values_and_any_alpha(D, n, alpha):
    interval = delta(D, q(alpha.numerator, alpha.denominator), n)
    assert interval.lower <= exact(D, q(alpha.numerator, alpha.denominator), n) <= interval.upper


@given(decompositions(largest=3), st.integers(1, 12), alphas)
def test_smoothing_is_right_where_the_lattice_would_be_taken(D, n, alpha):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contour, "on_a_lattice", lambda values, n: (values, 0.0))
        patch.setattr(contour, "MAX_WORK", 2**20)
        try:
            interval = delta(D, alpha, n, 1e-2)
        except ValueError:  # most of the mass on one point next to 0
            return
    assert interval.lower <= exact(D, alpha, n) <= interval.upper


two_values = st.tuples(*[st.fractions(Fraction(1, 99), 99, max_denominator=99)] * 2)


@given(two_values, st.lists(st.integers(1, 1000), min_size=3, max_size=3), st.integers(1, 40), st.booleans())
def test_the_exact_value_is_inside_the_binomial_interval(values, weights, n, zero):
    weights[2] *= zero
    values = (values[0], -values[1], Fraction(0))
    chances = [Fraction(w, sum(weights)) for w in weights]
    truth = histograms.positive_part(values, chances, n) / n
    law = np.array([float(v) for v in values]), np.array([float(c) for c in chances])
    interval = binomial.positive_part(*law, n, 1e-6)
    assert interval.lower <= truth <= interval.upper
    assert overlap(interval, contour.positive_part(*law, n, 1e-2))


def test_every_randomizer_is_inside_its_contour_interval(randomizer):
    D = ss.decomposition.blanket(randomizer, *next(iter(randomizer.pairs())))
    for n, eps in ((1, q(1, 3)), (4, q(1, 3)), (8, q(1, 10)), (8, q(0)), (8, q(-1, 2))):
        interval = delta(D, sp.exp(eps), n)
        assert interval.lower <= ss.truth.exact.divergence(D, n, sp.exp(eps), digits=30) <= interval.upper


# ------------------------------------------------------------------------------------------------- the three agree


@pytest.mark.parametrize("n", [100, 1_000, 10_000, 1_000_000])
@pytest.mark.parametrize("deviations", [-1, 0, 1, 4, 9])
def test_contour_and_lattice_agree(n, deviations):
    alpha = sp.exp(q(deviations) * q(4) / sp.sqrt(n))
    assert overlap(delta(TEN, alpha, n), delta(TEN, alpha, n, 0.03, lattice.positive_part))


@pytest.mark.parametrize("n", [100, 10**4, 10**6, 10**9])
@pytest.mark.parametrize("deviations", [-2, 0, 1, 4, 12])
@pytest.mark.parametrize("D", [ss.decomposition.blanket(ss.BinaryRR(eps0=1), 0, 1), ss.decomposition.clones(3)])
def test_contour_and_binomial_agree(D, n, deviations):
    alpha = sp.exp(q(deviations) / sp.sqrt(n))
    assert overlap(delta(D, alpha, n, 1e-3, binomial.positive_part), delta(D, alpha, n, 1e-4))


@pytest.mark.parametrize("eps0", [12, 30])
@pytest.mark.parametrize("k", [3, 10**12])
@pytest.mark.parametrize("n", [2, 10])
def test_rare_and_huge_values_where_the_lattice_gives_up(eps0, k, n):
    D = ss.decomposition.blanket(ss.KRR(k=k, eps0=eps0), 0, 1)
    for alpha in (sp.exp(q(1, 10**6)), sp.Integer(1), sp.exp(2)):
        interval = delta(D, alpha, n)
        assert interval.lower <= ss.truth.exact.divergence(D, n, alpha, digits=20) <= interval.upper


def test_the_cost_does_not_grow_with_n():
    counts = []
    for n in (10**4, 10**6, 10**9, 2**53):
        law = TEN.gparv.floats(sp.exp(q(25) / sp.sqrt(n)))
        measure = sums(law.values / 32, law.probabilities, n, rounding.FLOAT_ERROR)
        counts.append(contour.Smoothed(measure, 0.05 / measure.c, 1e-5 / measure.c).count[0])
        assert contour.positive_part(law.values, law.probabilities, n, 1e-3).relative_width <= 1e-3
    assert max(counts) <= 1.5 * min(counts) < 1500


# ---------------------------------------------------------------------------------------------------- tiny values


@pytest.mark.parametrize("n", [300, 900])
@pytest.mark.parametrize("magnitude", [-30, -100, -300])
def test_tiny_values_keep_their_relative_accuracy(n, magnitude):
    D = ss.decomposition.blanket(ss.BinaryRR(eps0=4), 0, 1)
    law = D.gparv.floats
    low, high = 0.0, 4.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        at = law(sp.exp(q(middle)))
        found = contour.log_positive_part(at.values, at.probabilities, n, 0.1).upper
        low, high = (middle, high) if found > magnitude * math.log(10) else (low, middle)
    alpha = sp.exp(q(high))
    interval, truth = delta(D, alpha, n), ss.truth.exact.divergence(D, n, alpha, digits=20)
    assert interval.lower <= truth <= interval.upper
    assert interval.relative_width <= 1e-3
    assert truth < mpmath.mpf(10) ** (magnitude + 1)


@pytest.mark.parametrize("n", [700, 5_000])
def test_logarithms_go_on_below_the_smallest_double(n):
    # G is −99/100 or 1/100 with probability 1/2: at least 99 in 100 have to be positive.
    truth = sum(
        (Fraction(k, 100) - Fraction(99, 100) * (n - k)) * math.comb(n, k) for k in range(n * 99 // 100 + 1, n + 1)
    )
    log_truth = math.log(truth.numerator) - math.log(truth.denominator) - n * math.log(2) - math.log(n)
    values, chances = np.array([-0.99, 0.01]), np.array([0.5, 0.5])
    interval = contour.log_positive_part(values, chances, n, 1e-3)
    assert interval.lower - 1e-12 * n <= log_truth <= interval.upper + 1e-12 * n
    assert interval.width <= 1.1e-3
    if log_truth < -800:
        tiny = contour.positive_part(values, chances, n, 1e-3)
        assert tiny.lower == 0 < tiny.upper < 1e-319


# -------------------------------------------------------------------------------------------------- simple and odd


@pytest.mark.parametrize("method", [contour.positive_part, binomial.positive_part])
@pytest.mark.parametrize(
    ("values", "chances", "truth"),
    [
        ([-1.0, 0.0], [0.5, 0.5], 0),
        ([0.0], [1.0], 0),
        ([2.0], [1.0], 2),
        ([2.0, 2.0], [0.5, 0.5], 2),
        ([2.0, 0.0], [0.25, 0.75], Fraction(1, 2)),
        ([-1.0, 1.0], [0.5, 0.5], Fraction(math.comb(100, 50), 2**101)),
        ([-1e300, 1.0], [0.5, 0.5], Fraction(1, 2**101)),
        ([-1e-300, 1e-300], [0.5, 0.5], Fraction(math.comb(100, 50), 2**101) * Fraction(1e-300)),
        ([-1.0, 1e200, 0.0], [0.5, 2.0**-50, 0.5 - 2.0**-50], Fraction(1e200) / 2**50 - Fraction(1, 2)),
    ],
)
def test_a_law_that_is_easy(method, values, chances, truth):
    interval = method(np.array(values), np.array(chances), 101, 1e-3)
    if truth in (0, 2):
        assert interval.relative_width < 1e-13
    slack = Fraction(101, 10**12)  # the last truth leaves out sums without a huge value
    assert interval.lower <= truth * (1 + slack)
    assert truth <= interval.upper


def test_zero_is_returned_as_zero():
    assert contour.positive_part(np.array([-1.0, 0.0]), np.array([0.5, 0.5]), 7, 1e-3) == Interval(0.0, 0.0)
    assert contour.log_positive_part(np.array([-1.0, 0.0]), np.array([0.5, 0.5]), 7, 1e-3).upper == -math.inf


@pytest.mark.parametrize(
    ("values", "chances", "n", "rtol", "words"),
    [
        ([1.0], [0.5], 3, 1e-3, "add up to 1"),
        ([1.0, -1.0], [1.5, -0.5], 3, 1e-3, "non-negative"),
        ([1.0, math.inf], [0.5, 0.5], 3, 1e-3, "finite"),
        ([1.0], [0.5, 0.5], 3, 1e-3, "same length"),
        ([1.0, -1.0], [0.5, 0.5], 0, 1e-3, "n must be"),
        ([1.0, -1.0], [0.5, 0.5], 2**53 + 2, 1e-3, "n must be"),
        ([1.0, -1.0], [0.5, 0.5], 3, 0.0, "rtol must be"),
        ([1.0, -1.0], [0.5, 0.5], 10**6, 1e-14, "ask for a larger rtol"),
        ([0.9, -1.0], [0.5, 0.5], 10**15, 1e-3, "ask for a larger rtol"),
    ],
)
def test_what_is_refused_says_why(values, chances, n, rtol, words):
    with pytest.raises(ValueError, match=words):
        contour.log_positive_part(np.array(values), np.array(chances), n, rtol)


def test_the_binomial_method_refuses_three_values():
    with pytest.raises(ValueError, match="at most one positive"):
        binomial.positive_part(np.array([1.0, 2.0, -1.0]), np.array([0.25, 0.25, 0.5]), 3, 1e-3)


# ------------------------------------------------------------------------------------------------- the bracket


def w(v):
    root = mpmath.sqrt(v)
    return 1 - root * mpmath.exp(v / 2) * mpmath.erfc(root / mpmath.sqrt(2)) * mpmath.sqrt(mpmath.pi / 2)


def test_the_two_polynomials_are_on_either_side():
    hermite = [lambda v: 1, lambda v: v - 1, lambda v: v * v - 6 * v + 3]
    below, above = ([sum(c * h(v) for c, h in zip(side, hermite, strict=True)) for v in np.linspace(0, 60, 4001)]
                    for side in (contour._ABOVE, contour._BELOW))  # fmt: skip
    with mpmath.workdps(30):
        for v, lowest, highest in zip(np.linspace(0, 60, 4001), below, above, strict=True):
            assert lowest - 1e-12 <= w(mpmath.mpf(v)) <= highest + 1e-12


def test_the_lines_touch_where_the_docstring_says():
    (u0, u1, _), (l0, l1, l2) = contour._ABOVE, contour._BELOW
    assert u0 == pytest.approx(float(w(1)), abs=1e-14)
    assert l0 - l1 + 3 * l2 == pytest.approx(1, abs=1e-14)
    assert l0 + 2 * l1 - 6 * l2 == pytest.approx(float(w(3)), abs=1e-14)
    assert l0 - u0 == pytest.approx(0.3857, abs=1e-4)
    assert u1 < 0


# ---------------------------------------------------------------------------------------------- every error term


def bounds(values, probabilities, n, tau, target) -> tuple[float, float, contour.Rule]:
    """One rule at one τ, unrefined, as bounds of E[S]_+/n."""
    law = sums(values, probabilities, n, transforms.FLOAT_ERROR)
    rule = contour.Smoothed(law, tau / law.c, target / law.c)
    below, above, error = rule.evaluate()
    scale, slack = np.exp(law.log_scale) / n, np.exp(law.log_slack)
    lower, upper = (below - error - rule.alias) * scale / slack, (above + error) * scale * slack
    return float(lower[0]), float(upper[0]), rule


@pytest.mark.parametrize("rare", [-1.0, 30.0])
@pytest.mark.parametrize("n", [2, 3, 9])
@pytest.mark.parametrize("target", [1e-1, 1e-2, 1e-4, 1e-8])
def test_aliasing_and_truncation_are_inside(monkeypatch, rare, n, target):
    monkeypatch.setattr(transforms, "_RARE", rare)
    truth = positive_part(VALUES, PROBABILITIES, n)
    lower, upper, rule = bounds(VALUES, PROBABILITIES, n, 0.3, target)
    assert lower <= truth <= upper
    assert rule.alias[0] > 0
    assert rule.truncation[0] > 0


@pytest.mark.parametrize("n", [2, 9])
def test_a_period_that_is_too_short_is_paid_for(monkeypatch, n):
    period = contour.periods
    truth = positive_part(VALUES, PROBABILITIES, n)
    widths = []
    for factor in (1.0, 0.6, 0.4):
        monkeypatch.setattr(contour, "periods", partial(_shortened, period, factor=factor))
        lower, upper, _ = bounds(VALUES, PROBABILITIES, n, 0.05, 1e-9)
        assert lower <= truth <= upper
        widths.append(upper - lower)
    assert widths[0] < widths[1] < widths[2]


def _shortened(period, law, target, factor):
    """A shorter period with its own bound: the target is raised until the period is as short."""
    length = period(law, target)[0][0]
    while period(law, target)[0][0] > factor * length:
        target *= 2
    return period(law, target)


@pytest.mark.parametrize("rare", [-1.0, 30.0])
@pytest.mark.parametrize("n", [2, 3, 12])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_the_values_are_inside(monkeypatch, rare, n, sign):
    error = 1e-3
    monkeypatch.setattr(transforms, "_RARE", rare)
    monkeypatch.setattr(transforms, "FLOAT_ERROR", error)
    for direction in (np.ones(4), np.sign(VALUES), np.array([1, -1, 1, 1])):
        truth = positive_part(VALUES * (1 + sign * 0.9 * error * direction), PROBABILITIES, n)
        lower, upper, _ = bounds(VALUES, PROBABILITIES, n, 0.02, 1e-7)
        assert lower <= truth <= upper


@pytest.mark.parametrize("rare", [-1.0, 30.0])
@pytest.mark.parametrize("n", [2, 3, 12])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_the_probabilities_are_inside(monkeypatch, rare, n, sign):
    error = 1e-3
    monkeypatch.setattr(transforms, "_RARE", rare)
    monkeypatch.setattr(transforms, "FLOAT_ERROR", error)
    for direction in (np.array([1, 0.5, -2 / 3, -1]), np.array([0, 0, 2 / 3, -1])):  # the true ones add up to 1
        truth = positive_part(VALUES, PROBABILITIES * (1 + sign * 0.9 * error * direction), n)
        lower, upper, _ = bounds(VALUES, PROBABILITIES, n, 0.02, 1e-7)
        assert lower <= truth <= upper


@pytest.mark.parametrize("name", ["FLOAT_ERROR", "UNIT_ROUNDOFF"])
@pytest.mark.parametrize("rare", [-1.0, 30.0])
def test_inflated_round_off_widens_the_interval(monkeypatch, name, rare):
    monkeypatch.setattr(transforms, "_RARE", rare)
    lower, upper, _ = bounds(VALUES, PROBABILITIES, 5, 0.02, 1e-7)
    monkeypatch.setattr(transforms, name, 1e-6)
    wider_lower, wider_upper, _ = bounds(VALUES, PROBABILITIES, 5, 0.02, 1e-7)
    assert wider_lower < lower * (1 - 1e-6)
    assert wider_upper > upper * (1 + 1e-6)


@pytest.mark.parametrize("off", [1e-3, 1e-5])
@pytest.mark.parametrize("n", [2, 7])
@pytest.mark.parametrize("sign", [1, -1])
def test_values_that_are_not_quite_on_a_lattice_are_inside(monkeypatch, off, n, sign):
    monkeypatch.setattr(contour, "OFF", off)
    values, chances = np.array([-2.0, -1.0, 0.0, 1.0]), PROBABILITIES
    truth = positive_part(values * (1 + sign * 0.9 * off * np.array([-1, 1, 1, 1])), chances, n)
    snapped, spacing = contour.on_a_lattice(values, n)
    assert spacing == 1
    law = sums(snapped, chances, n, off)
    rule = contour.OnLattice(law, spacing, np.array([1e-9]))
    below, above, error = rule.evaluate()
    scale = np.exp(law.log_scale) / n
    assert rule.moved[0] > 0
    assert ((below - error - rule.alias) * scale)[0] <= truth <= ((above + error) * scale)[0]


def test_only_values_on_a_lattice_are_said_to_be():
    assert contour.on_a_lattice(np.array([-0.3, 0.0, 0.2, 0.5]), 10)[1] == pytest.approx(0.1)
    assert contour.on_a_lattice(np.array([-0.3, 0.0, 0.2, 0.5 + 1e-12]), 10)[1] == 0
    assert contour.on_a_lattice(np.array([-1.0, math.sqrt(2)]), 10)[1] == 0
    assert contour.on_a_lattice(np.array([-0.3, 0.0, 0.2, 0.5]), 10**16)[1] == 0


def test_nodes_are_left_out_only_where_nothing_is_heard():
    law = sums(*_ten_at(10**6), 10**6, rounding.FLOAT_ERROR)
    left = np.linspace(0, 3, 400)
    for level in (-1.0, -10.0, -40.0):
        quiet = law.quiet(left[1:2], np.arange(400.0), level)[0]
        assert 0 < np.sum(quiet) < len(quiet)
        for y in left[quiet][::10]:
            inside = np.linspace(y, y + left[1], 50)
            assert np.max(np.abs(law.powers(np.ones(1), inside)[0])) <= math.exp(level)


def test_leaving_nodes_out_changes_nothing(monkeypatch):
    values, chances = _ten_at(10**6)
    some = contour.positive_part(values, chances, 10**6, 1e-5)
    monkeypatch.setattr(contour, "_FEW", 2**30)
    every = contour.positive_part(values, chances, 10**6, 1e-5)
    assert some.upper == pytest.approx(every.upper, rel=1e-12)
    assert some.lower == pytest.approx(every.lower, rel=1e-12)


@pytest.mark.parametrize("together", [1, 2**13, 2**30])
@pytest.mark.parametrize("log_level", [-5.0, -40.0])
def test_rows_that_are_added_up_together_are_as_if_alone(monkeypatch, together, log_level):
    # |φ| of the first law is large again and again, that of the second one only next to 0; one rule has 300 times as
    # many nodes as the other.
    values, chances = np.array([[-1.0, 1.001, 3.0], [-1.0, 0.123, 0.777]]), np.array([0.6, 0.3, 0.1])
    for n, taus in ((200, [0.01, 1.0]), (200, [1.0, 0.003]), (200, [0.01, 0.01]), (3, [1.0, 0.003])):
        law = transforms.AllSums(values, chances, n, rounding.FLOAT_ERROR)
        rule = contour.Smoothed(law, np.array(taus) / law.c, np.array([1e-3, 1e-3]) / law.c)
        monkeypatch.setattr(contour, "_FEW", 2**30)
        every = [rule.take([i]).evaluate() for i in (0, 1)]
        for few in (2**30, 0):
            monkeypatch.setattr(contour, "_FEW", few)
            monkeypatch.setattr(contour, "_TOGETHER", together)
            monkeypatch.setattr(contour, "_LOG_LEFT_OUT", log_level)
            sides = np.array(rule.evaluate())
            for i, (below, above, error) in enumerate(every):
                assert np.all(np.abs(sides[:2, i] - [below[0], above[0]]) <= sides[2, i] - rule.truncation[i])
                assert log_level > -40 or sides[2, i] <= 1.1 * error[0]


def _ten_at(n):
    law = TEN.gparv.floats(sp.exp(q(25) / sp.sqrt(n)))
    return law.values / 32, law.probabilities


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n", [2, 9])
def test_errors_of_the_values_are_inside_the_binomial_interval(monkeypatch, n, sign):
    error = 1e-4
    monkeypatch.setattr(binomial, "_OFF", 4 * error)
    values, chances = np.array([-1.3, 0.0, 1.3]), np.array([0.4, 0.3, 0.3])
    truth = positive_part(values * (1 + sign * 0.9 * error * np.sign(values)), chances, n)
    interval = binomial.positive_part(values, chances, n, 0.5)
    assert interval.lower <= truth <= interval.upper
    assert interval.relative_width > error


@pytest.mark.parametrize("log_left_out", [-0.5, -2.0, -5.0])
def test_counts_that_are_left_out_are_inside_the_binomial_interval(monkeypatch, log_left_out):
    values, chances, n = np.array([-1.3, 0.0, 1.1]), np.array([0.4, 0.3, 0.3]), 40
    sharp = binomial.positive_part(values, chances, n, 1e-6)
    monkeypatch.setattr(binomial, "_LOG_LEFT_OUT", log_left_out)
    lower, upper, outside = binomial._Two(1.1, 1.3, 0.3, 0.4, 0.3, n)._bounds(-40.0)
    assert lower <= sharp.lower
    assert sharp.upper <= upper + outside


@pytest.mark.parametrize("log_tail", [-0.5, -1.0, -3.0, -9.0])
@pytest.mark.parametrize("N", [1, 5, 60])
def test_a_window_of_the_binomial_law_bounds_what_is_outside(log_tail, N):
    law = binomial.log_binomial_law(N, 0.3, 0.5, binomial.bernstein_reach(N, 0.375, log_tail) // 2)
    p = Fraction(0.3) / (Fraction(0.3) + Fraction(0.5))
    truth = [math.comb(N, int(k)) * p ** int(k) * (1 - p) ** (N - int(k)) for k in law.counts]
    assert float(1 - sum(truth)) <= law.outside + 1e-15
    for log, value in zip(law.logs, truth, strict=True):
        assert abs(float(log) - math.log(value)) <= law.error + 1e-15


def test_low_values_that_vanish_when_tilted_are_a_refusal_and_no_division_by_zero():
    # Found by the random cross-check: the values <= 0 underflow at the saddle point of the rare sums.
    values, chances = np.array([-52.0, 2e-9, 1.0]), np.array([2e-7, 1 - 2e-7 - 1e-9, 1e-9])
    with pytest.raises(ValueError, match="ask for a larger rtol"):
        contour.positive_part(values, chances, 12, 1e-2)


# ------------------------------------------------------------------------------------------------- many laws at once

MIXED = np.array(
    [
        [-1.3, -0.2, 0.4, 2.0],
        [-1.3, -0.2, -0.4, 2.0],
        [-1.0, -2.0, 0.0, 1.0],  # on a lattice
        [-1.0, -2.0, 0.0, -1.0],  # nothing positive
        [0.1, 0.2, 0.0, 1.0],  # nothing negative
        [-1e-300, 2e-300, 0.0, -3.3e-300],
        [-1e3, -0.7, 0.3, 0.01],
        [-math.pi, -0.1, 0.2, 1e-3],
        [math.sqrt(2), -0.31, -1.7, -math.e],  # other signs than the first
        [-0.5, 1.1, 0.3, -math.sqrt(3)],
    ]
)


@pytest.mark.parametrize("rare", [-1.0, 3.0, 30.0])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_laws_of_all_kinds_at_once_hold_their_exact_values(monkeypatch, rare, n):
    monkeypatch.setattr(transforms, "_RARE", rare)
    found = contour.positive_parts(MIXED, PROBABILITIES, n, 1e-3)
    for values, interval in zip(MIXED, found, strict=True):
        assert interval.lower <= positive_part(values, PROBABILITIES, n) <= interval.upper
        assert interval.relative_width <= 1e-3


@pytest.mark.parametrize("n", [2, 100, 10**4, 10**7])
@pytest.mark.parametrize("chunk", [2**6, 2**10, 2**16])
def test_many_laws_at_once_are_the_same_as_one_by_one(monkeypatch, n, chunk):
    monkeypatch.setattr(contour, "_CHUNK", chunk)
    law = TEN.gparv.floats_at([Ratio(eps=q(i) / sp.sqrt(n)) for i in (0, 1, 2, 3, 8, 9, 20, 30)])
    together = contour.positive_parts(law.values, law.probabilities, n, 1e-3)
    for values, interval in zip(law.values, together, strict=True):
        alone = contour.positive_part(values, law.probabilities, n, 1e-3)
        assert interval.lower == pytest.approx(alone.lower, rel=1e-9)
        assert interval.upper == pytest.approx(alone.upper, rel=1e-9)


@pytest.mark.parametrize("place", [0, 1])
def test_one_refusal_does_not_refuse_the_others(place):
    # The row at that place is the one that underflows in the test above.
    chances = np.array([2e-7, 1 - 2e-7 - 1e-9, 1e-9])
    values = np.array([[-math.pi, -0.3, 0.7], [-math.pi, 0.3, 0.7], [-math.e, 0.3, -0.7]])
    answers = contour.positive_parts(np.insert(values, place, [-52.0, 2e-9, 1.0], axis=0), chances, 12, 1e-2)
    assert isinstance(answers.pop(place), ValueError)
    for row, interval in zip(values, answers, strict=True):
        assert interval.lower <= positive_part(row, chances, 12) * (1 + 1e-12)
        assert positive_part(row, chances, 12) * (1 - 1e-12) <= interval.upper


@given(st.lists(st.tuples(*[st.integers(-40, 40)] * 4), min_size=1, max_size=6), st.integers(1, 7))
def test_any_laws_at_once_hold_their_exact_values(rows, n):
    values = np.array(rows) / 7.3
    for row, interval in zip(values, contour.positive_parts(values, PROBABILITIES, n, 1e-2), strict=True):
        assert interval.lower <= positive_part(row, PROBABILITIES, n) <= interval.upper


@pytest.mark.parametrize("method", ["contour", "fft"])
def test_a_value_too_far_below_for_doubles_of_the_largest_counts_as_a_negative_sum(method):
    """Two users: S > 0 only where no value is the low one, whatever that is; quotients of the two overflow."""
    p, top = np.array([0.25, 0.5, 0.25]), 1e-290
    (found,) = METHODS[method].positive_parts(np.array([[top, 0.0, -1e60]]), p, 2, 1e-3)
    assert found.lower <= top * 0.25 * 0.75 <= found.upper < 1.001 * top * 0.25 * 0.75
