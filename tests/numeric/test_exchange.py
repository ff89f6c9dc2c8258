"""Equal others are the worst: what is certified is true, cell by cell and for every multiset; the value is above."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from random import Random

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom
from test_dropout_in_doubles import convolved, in_doubles, law_of

from shuffle_sym.numeric import dropout, exchange
from shuffle_sym.numeric.dropout import Places

CONTEXT = mpmath.MPContext()
CONTEXT.dps = 30


def smoothed_part(law, smoothing: float):
    """E[S + τZ]_+ to many digits."""
    tau = CONTEXT.sqrt(smoothing)

    def part(v):
        x = CONTEXT.mpf(v.numerator) / v.denominator
        return x * CONTEXT.ncdf(x / tau) + tau * CONTEXT.npdf(x / tau) if tau else max(x, 0)

    return CONTEXT.fsum(CONTEXT.mpf(p.numerator) / p.denominator * part(v) for v, p in law.items())


def family(random: Random, messages: int):
    """Laws of G of a random matrix without zeros, as doubles."""
    rows = [[random.randint(1, 12) for _ in range(messages)] for _ in range(random.choice([2, 3]))]
    matrix = [[Fraction(w, sum(row)) for w in row] for row in rows]
    alpha = random.choice([Fraction(21, 20), Fraction(6, 5), Fraction(3, 2)])
    laws = [law_of(matrix, x, alpha)[0] for x in range(len(matrix))]
    return [in_doubles(law) for law in laws if min(law) < 0 < max(law)]


def in_full(chosen, smoothing: float) -> float:
    """E[S + τZ]_+ over all outcomes of independent terms."""
    sums, weights = np.zeros(1), np.ones(1)
    for values, probabilities in chosen:
        sums, weights = np.add.outer(sums, values).ravel(), np.multiply.outer(weights, probabilities).ravel()
    tau = math.sqrt(smoothing)
    normal = np.exp(-(sums**2) / (2 * smoothing)) / math.sqrt(2 * math.pi) if tau else 0.0
    parts = sums * ndtr(sums / tau) + tau * normal if tau else np.maximum(sums, 0.0)
    return math.fsum(weights * parts)


def least_part(terms, smoothing: float) -> float:
    """What E[S + τZ]_+ of equal terms must be, next to round-off."""
    return in_full(terms, smoothing) * (1 + 1e-12)


@pytest.mark.parametrize("padded", [False, True])
def test_what_is_certified_holds_for_every_multiset(padded):
    random, certain, wrong, by_pads = Random(1), 0, 0, 0
    for i in range(300):
        messages, N = [(2, 8), (2, 11), (3, 6)][i % 3]
        laws = family(random, messages)
        if not laws:
            continue
        values, probabilities = dropout.padded(laws, N)
        star = random.randrange(len(values))
        variance = float(probabilities[star] @ values[star] ** 2 - (probabilities[star] @ values[star]) ** 2)
        smoothing = random.choice([0.0, 0.5, 2.0, 4.0]) * variance
        pads = np.array([random.choice([0.0, 0.1, 0.4, 1.0]) for _ in values]) * (variance if padded else 0.0)
        equal = [(values[star], probabilities[star])] * N
        most = max(in_full(terms, smoothing) for terms in combinations_with_replacement(laws, N))
        worst = most <= least_part(equal, smoothing + N * pads[star])
        if exchange.certified(values, probabilities, pads, star, smoothing, (N, N)):
            assert worst
            certain += len(values) > 1
            by_pads += most > least_part(equal, smoothing)
        wrong += not worst
    assert certain > 15  # or little was tested
    assert wrong > 50
    assert by_pads >= 10 * padded  # without the variance that goes with \* it would be false


def ties(random: Random):
    """Laws of G of two messages, or of hashes, with about the same variance and opposite skewness."""
    p = random.choice([0.4, 0.25, 0.1, 0.03])
    alpha = random.choice([Fraction(1), 1 + Fraction(1, 10**6), 1 + Fraction(1, 10**3)])
    half, low, high = Fraction(1, 4), Fraction(p) / 2, (1 - Fraction(p)) / 2
    hashed = [[high, high, low, low], [high, low, high, low], [half] * 4]
    matrix = random.choice([[[1 - Fraction(p), Fraction(p)], [Fraction(p), 1 - Fraction(p)]], hashed])
    return [in_doubles(law_of(matrix, x, alpha)[0]) for x in range(len(matrix))]


def test_ties_are_certified_with_a_little_more_variance():
    random, certain = Random(2), [0, 0]
    for _ in range(60):
        laws = ties(random)
        N = 14 if len(laws) == 2 else 7
        values, probabilities = dropout.padded(laws, N)
        star, variance = random.randrange(len(values)), float(probabilities[0] @ values[0] ** 2)
        smoothing, share = random.choice([1.0, 4.0, 16.0]) * variance, random.choice([0.0, 0.3, 1.0, 3.0])
        pads = np.zeros(len(values))
        pads[star] = share * variance
        if exchange.certified(values, probabilities, pads, star, smoothing, (N, N)):
            most = max(in_full(terms, smoothing) for terms in combinations_with_replacement(laws, N))
            assert most <= least_part([laws[star]] * N, smoothing + N * pads[star])
            certain[share > 0] += 1
    assert certain[1] > 10
    assert certain[0] == 0


# The same mean, −9/16, and other variances.
VALUES = np.array([[-2.0, 0.25, 1.5], [-1.25, -0.25, 0.5]])
PROBABILITIES = np.array([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])


def two_messages(p: float, alpha: float):
    """The laws of G of two messages with probabilities p and 1 − p, for others with input 0 and with input 1."""
    matrix = [[Fraction(1 - p), Fraction(p)], [Fraction(p), Fraction(1 - p)]]
    return [in_doubles(law_of(matrix, x, Fraction(alpha))[0]) for x in range(2)]


def test_arguments_without_the_conditions_are_not_certified():
    both, low = (np.array([-1.0, 0.5]), np.array([0.75, 0.25])), (np.array([-1.0, 0.0]), np.array([0.625, 0.375]))
    values, probabilities = dropout.padded([both, low], 10)
    none, one = np.zeros(2), np.zeros(1)
    assert not exchange.certified(values, probabilities, none, 0, 1.0, (10, 10))  # one law is never positive
    assert not exchange.certified(-values[:1], probabilities[:1], one, 0, 1.0, (10, 10))  # a positive mean
    assert exchange.certified(values[:1], probabilities[:1], one, 0, 1.0, (10, 10))
    values, probabilities = dropout.padded(two_messages(0.25, 1.125), 10)
    assert exchange.certified(values, probabilities, none, 0, 8.0, (150, 159))
    moved = values - np.array([[0.0], [2.0**-40]])
    assert not exchange.certified(moved, probabilities, none, 0, 8.0, (150, 159))  # another mean


def transform(s, x, pads):
    return (PROBABILITIES[x] * np.exp(np.multiply.outer(s, VALUES[x]))).sum(axis=-1) * np.exp(pads[x] * s**2 / 2)


def cumulants(rate, x, pads):
    q = PROBABILITIES[x] * np.exp(rate * VALUES[x])
    q = q / q.sum()
    mean = q @ VALUES[x]
    return mean + pads[x] * rate, q @ VALUES[x] ** 2 - mean**2 + pads[x]


def heights(points, rate, half, terms, smoothing, pads):
    """|Q_x| C A by plain formulas, C = −cos(|arg(−Q_x)| + Θ); e^{τ²λ²/2} is left out, as it is in the parts."""
    s = rate + 1j * points
    ratios = np.array([transform(s, x, pads) / transform(np.array(rate), x, pads) for x in range(2)])
    angles = np.array([np.angle(r * np.exp(-1j * points * cumulants(rate, x, pads)[0])) for x, r in enumerate(ratios)])
    bend = max(cumulants(r, x, pads)[1] for x in range(2) for r in np.linspace(rate - half, rate + half, 21))
    theta = (terms[1] - 1) * (np.abs(angles).max(axis=0) + points * half * bend)
    q = (transform(s, 1, pads) - transform(s, 0, pads)) / s**2
    C = -np.cos(np.minimum(np.abs(np.angle(-q)) + smoothing * rate * points + theta, math.pi))
    low, high = np.abs(ratios).min(axis=0) ** (terms[1] - 1), np.abs(ratios).max(axis=0) ** (terms[0] - 1)
    return np.abs(q) * np.exp(-smoothing * points**2 / 2) * C * np.where(C < 0, low, high)


PADS = [np.zeros(2), np.array([0.5, 0.0]), np.array([0.125, 1.5])]


@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("terms", [(2, 2), (20, 20), (90, 100)])
@pytest.mark.parametrize("smoothing", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("cells", [1, 2_000])
def test_every_cell_is_above_its_integral(terms, smoothing, cells, pads):
    span = exchange.rates(VALUES, PROBABILITIES, pads)
    assert span is not None
    # Cells of λ that are wide, and so narrow that they do not cover up anything else
    half = (span[1] - span[0]) / (2 * cells)
    centres = span[0] + half * np.array([1.0, 2 * cells - 1.0])
    bounds = exchange._Bounds(VALUES, PROBABILITIES, pads, 0, smoothing, terms, centres, half)
    u = np.concatenate([np.linspace(0, 1, 9), np.linspace(1, 9, 12)[1:]])
    parts = bounds.parts(u, bounds.at(u))[:, :, 1]
    points = u[:-1, None] + np.diff(u)[:, None] * (np.arange(200) + 0.5) / 200
    beyond = np.linspace(9, 400, 20_001)
    for k, rate in enumerate(centres):
        integrals = heights(points, rate, half, terms, smoothing, pads).mean(axis=1) * np.diff(u)
        assert (parts[:-1, k] >= integrals - 1e-4 * np.abs(integrals)).all()
        assert parts[-1, k] >= heights(beyond, rate, half, terms, smoothing, pads).sum() * (beyond[1] - beyond[0])


@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("rate", [0.05, 0.4, 1.5])
def test_no_second_derivative_is_above_its_bound(rate, pads):
    """Differences of the second order, over their step: of (M_x − M_*)/s², of ζ and of |ζ|²."""
    bounds = exchange._Bounds(VALUES, PROBABILITIES, pads, 0, 0.0, (5, 5), np.array([rate]), 0.01)
    u = np.linspace(0.0, 6.0, 3001)
    excess, real, imaginary, q_real, q_imaginary, _ = (a[:, 0, 1] for a in bounds.at(u))
    curved = [
        (np.abs(np.diff(a, 2)) / u[1] ** 2).max() for a in (excess, real + 1j * imaginary, q_real + 1j * q_imaginary)
    ]
    limits = 2 * bounds.variance[0, 1], bounds.variance[0, 1], bounds.bend[0].sum()
    assert all(0.2 * limit <= c <= limit * (1 + 1e-5) for c, limit in zip(curved[:2], limits, strict=False))
    assert 0.01 * limits[2] <= curved[2] <= limits[2]


@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("rate", [-1e-9, 0.0, 1e-300, 1e-12, 1e-7, 1e-3, 0.4])
def test_what_is_computed_at_nodes_is_within_its_error_also_next_to_0(rate, pads):
    u = np.array([0.0, 1e-160, 1e-12, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.3, 2.0])
    bounds = exchange._Bounds(VALUES, PROBABILITIES, pads, 0, 0.0, (5, 5), np.array([rate]), 0.0)
    *_, real, imaginary, error = (a[:, 0, 1] for a in bounds.at(u))
    context = mpmath.MPContext()
    context.dps = 700
    for i, y in enumerate(u.tolist()):
        s = context.mpc(rate, y) + context.mpf("1e-330")  # the quotient has no pole
        one, other = (
            context.fsum(
                p * context.exp(s * g) for g, p in zip(VALUES[x].tolist(), PROBABILITIES[x].tolist(), strict=True)
            )
            * context.exp(pads.tolist()[x] * s**2 / 2)
            for x in range(2)
        )
        assert abs((one - other) / s**2 - context.mpc(real[i], imaginary[i])) <= error[i] < 1e-5


def two_values(n: int) -> dict[Fraction, Fraction]:
    return {Fraction(1): Fraction(1, 2) - Fraction(1, n), Fraction(-1): Fraction(1, 2) + Fraction(1, n)}


@pytest.mark.parametrize("smoothing", [0.0, 3.0])
@pytest.mark.parametrize(("n", "gamma"), [(80, 0.5), (80, 0.05), (150, 0.2)])
def test_the_contour_of_all_places_is_just_above_the_sum_over_places(n, gamma, smoothing):
    law = two_values(n)
    last = min(n // 3, 40)
    sums, total = {Fraction(0): Fraction(1)}, CONTEXT.mpf(0)
    for N in range(1, n):
        sums = convolved(sums, law)
        j = n - N
        if j <= last:
            weight = CONTEXT.mpf(gamma) * (1 - CONTEXT.mpf(gamma)) ** (j - 1) / N
            total += weight * smoothed_part(sums, smoothing)
    values, probabilities = in_doubles(law)
    log_bound = dropout.equal_log_upper(values, probabilities, Places(gamma, n, 0, last), smoothing, 1e-4)
    assert log_bound is not None
    # Two values are a lattice: without smoothing the rule is exact, and what is left is 1/(n − j) on a segment.
    assert total <= CONTEXT.exp(log_bound) <= total * (1 + 2e-4 + 0.3 / (gamma * n) ** 2 + 2e-3)


def test_a_value_that_is_rarely_positive_is_left_to_other_methods():
    values, probabilities = np.array([-1.0, 1.0]), np.array([0.999, 0.001])
    assert dropout.equal_log_upper(values, probabilities, Places(0.5, 100, 0, 20), 0.0, 1e-3) is None
    assert dropout.equal_log_upper(values, probabilities, Places(0.5, 100, 0, 20), 4.0, 1e-3) is not None


def all_multisets(p: float, alpha: float, most: int) -> list[float]:
    """Φ*_N of two messages with probabilities p, 1 − p, for N = 1 … most: every number of others with input 0."""
    values = np.array([(1 - p) - alpha * p, p - alpha * (1 - p)])
    laws = [values / np.array([1 - p, p]), values / np.array([p, 1 - p])]
    means = []
    for N in range(1, most + 1):
        parts = []
        for k in range(N + 1):
            first, second = np.arange(k + 1), np.arange(N - k + 1)
            sums = np.add.outer(
                (k - first) * laws[0][0] + first * laws[0][1],
                (N - k - second) * laws[1][0] + second * laws[1][1],
            )
            weights = np.multiply.outer(binom.pmf(first, k, p), binom.pmf(second, N - k, 1 - p))
            parts.append(float((weights * np.maximum(sums, 0.0)).sum()))
        means.append(max(parts) / N)
    return means


@pytest.mark.parametrize(
    ("p", "alpha"), [(0.25, 1.125), (0.25, 1.5), (0.125, 1.25), (0.25, 1.0), (0.25, 1 + 2.0**-9), (0.375, 1.0)]
)
def test_the_bound_of_equal_others_is_above_all_multisets_at_many_users(p, alpha, monkeypatch):
    monkeypatch.setattr(dropout._Family, "_by_moduli", lambda *_: math.inf)  # which is lower at so few users
    n, gamma = 120, 2 * p
    means = all_multisets(p, alpha, n - 1)
    truth = sum(gamma * (1 - gamma) ** (j - 1) * means[n - j - 1] for j in range(1, n))
    bound = dropout.upper(two_messages(p, alpha), [[], []], gamma, n, 1 - p - alpha * p)
    assert bound.method == "exchange"
    assert truth * (1 - 1e-9) <= bound.value <= 1.4 * truth


def test_the_variance_that_goes_with_the_star_is_in_the_bound(monkeypatch):
    """In the normal limit and at α = 1 the bound is σ/√(2πn): twice the variance is √2 times the bound."""
    monkeypatch.setattr(dropout._Family, "_by_moduli", lambda *_: math.inf)
    monkeypatch.setattr(dropout, "_EXCHANGES", ((16.0, 1.0),))
    bounds = []
    for share in (0.01, 1.0):
        monkeypatch.setattr(dropout._Family, "_star_pad", lambda self, *_, share=share: share * self.spread)
        bounds.append(dropout.upper(two_messages(0.25, 1.0), [[], []], 0.5, 100_000, 0.5))
    assert [bound.method for bound in bounds] == ["exchange"] * 2
    assert bounds[1].value / bounds[0].value == pytest.approx(math.sqrt(2 / 1.01), rel=1e-3)


def one_cell(quotient: float, error: float, centres, u):
    """Bounds of |Q_x| in one cell: one term of which nothing is smoothed, with these quotients −Q_x at its ends."""
    bounds = exchange._Bounds(VALUES, PROBABILITIES, np.zeros(2), 0, 0.0, (1, 1), centres, 0.01)
    zeros = np.zeros((2, len(centres), 2))
    parts = bounds.parts(u, [zeros, zeros + 1, zeros, zeros + quotient, zeros, zeros + error])
    return bounds, parts[0, :, 1] / (u[1] - u[0])


def test_where_a_quotient_is_not_known_it_is_below_two_transforms_over_a_square():
    centres, u, mp = np.linspace(0.3, 1.2, 10), np.array([0.5, 1.5]), mpmath.MPContext()
    _, found = one_cell(-1e9, 0.0, centres, u)
    mp.dps = 40
    for rate, bound in zip(centres.tolist(), found, strict=True):
        both = zip(VALUES.ravel(), PROBABILITIES.ravel(), strict=True)  # the sum of the two transforms
        total = sum(mp.mpf(p) * mp.exp(mp.mpf(rate) * mp.mpf(g)) for g, p in both)
        exact = total / (mp.mpf(rate) ** 2 + mp.mpf(u[0]) ** 2)
        assert exact <= bound <= exact * (1 + mp.mpf(10) ** -8)


def test_between_two_nodes_a_quotient_rises_by_its_second_derivative_and_its_error():
    centres, u = np.array([0.0, 0.7]), np.array([0.0, 0.25])
    bounds, found = one_cell(-0.1, 0.02, centres, u)
    # As f − f'' (t − a)(b − t)/2 does in the middle of the cell
    largest = 0.1 + 0.02 + 0.25**2 / 8 * bounds.bend.sum(axis=1)
    assert np.all(np.abs(found / largest - 1) < 1e-12)


def test_quotients_at_nodes_have_the_errors_of_values_and_probabilities(monkeypatch):
    off, rate, u = 1e-4, 0.4, np.array([1.0, 2.0, 4.0])
    monkeypatch.setattr(exchange, "FLOAT_ERROR", off)
    bounds = exchange._Bounds(VALUES, PROBABILITIES, np.zeros(2), 0, 0.0, (5, 5), np.array([rate]), 0.0)
    *_, real, imaginary, error = (a[:, 0, 1] for a in bounds.at(u))
    s, worst = rate + 1j * u, 0.0
    star = transform(s, 0, np.zeros(2))
    for signs in product((1, -1), repeat=3):
        sign = 0.999 * off * np.array(signs)
        p = PROBABILITIES[1]
        for g, q in ((VALUES[1] * (1 + sign), p), (VALUES[1], p * (1 + (sign - p @ sign) / 2))):
            there = (star - np.exp(np.multiply.outer(s, g)) @ q) / s**2
            worst = max(worst, np.max(np.abs(there - real - 1j * imaginary) / error))
    assert 0.05 < worst <= 1
