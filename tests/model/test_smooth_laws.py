"""Gaussian and logistic noise: laws above those of every other user, for all pairs of inputs."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy as sp
from flint import arb
from scipy import special

import shuffle_sym as ss
from shuffle_sym.algebra import balls
from shuffle_sym.model import smooth_laws
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.smooth_laws import _CLOSE, _OTHERS, _OTHERS_OF_CLOSE, LOGISTIC, NORMAL, SmoothLaws, laws_of
from shuffle_sym.randomizers import ClippedGaussian, Logistic

DENSITIES = {
    NORMAL: lambda z: np.exp(-z * z / 2) / math.sqrt(2 * math.pi),
    LOGISTIC: lambda z: np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))) ** 2,
}
REACH = {NORMAL: 11.0, LOGISTIC: 36.0}
CASES = [(NORMAL, 2.0), (NORMAL, 1.0), (NORMAL, 0.1), (LOGISTIC, 3.0), (LOGISTIC, 1.0), (LOGISTIC, 0.2)]
IDS = [f"{'normal' if shape is NORMAL else 'logistic'} {w}" for shape, w in CASES]


def below(shape, z):
    """The distribution function, by another program."""
    return float(special.ndtr(z) if shape is NORMAL else special.expit(z))


def stop_loss(shape, u, v, x, alpha, levels):
    """E[G − k]_+ of (u, v | x) for each k, by the trapezoidal rule; its error is below 1e-8 here."""
    y = np.linspace(-REACH[shape], REACH[shape] + 3, 20_001)
    of_u, of_v, of_x = (DENSITIES[shape](y - z) for z in (u, v, x))
    gaps = of_u - alpha * of_v - np.multiply.outer(levels, of_x)
    return np.maximum(gaps, 0.0).sum(axis=1) * (y[1] - y[0])


def largest(laws, lost, levels):
    """The largest E[G − k]_+ of some laws for each k."""
    return np.max([np.maximum(g - levels[:, None], 0.0) @ p for g, p in laws], axis=0) + max(lost)


def levels_of(rng, alpha):
    return np.concatenate([-(10 ** rng.uniform(-3, 1.3, 12)), 10 ** rng.uniform(-3, 1, 12), [0.0, 1 - alpha]])


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_no_other_user_has_a_law_that_is_above_all(shape, w):
    rng, laws, closest = np.random.default_rng(5), SmoothLaws(shape, sp.Rational(str(w))), 0.0
    for alpha in (1.0, 1.01, 1.1, 1.6):
        close = laws.close(alpha)
        levels = levels_of(rng, alpha)
        above = largest(*laws.at(alpha, 1e-6), levels)
        for _ in range(24):
            x0, x1, other = rng.uniform(0, w, 3)
            if rng.random() < 0.5:  # a pair about as far apart as close ones are, the other user at an end
                x0 = rng.choice([0.0, rng.uniform(0, w)])
                x1, other = min(x0 + close * rng.choice([0.5, 0.99, 1.01, 1.5]), w), rng.choice([0.0, w])
            x0, x1 = (x1, x0) if rng.random() < 0.5 else (x0, x1)
            below = stop_loss(shape, x0, x1, other, alpha, levels)
            assert (below <= above * (1 + 1e-7) + 1e-8).all(), (alpha, x0, x1, other)
            closest = max(closest, float(np.max(below[above > 1e-3] / above[above > 1e-3])))
    assert closest > 0.98


def mixed(rows, weights, alpha, levels):
    """E[G − k]_+ of a mixture of rows for each k, and what counts by itself."""
    laws = rows.at(alpha)
    means = [np.maximum(laws[i].values - levels[:, None], 0.0) @ laws[i].probabilities for i in weights]
    return np.asarray(list(weights.values())) @ means + rows.lost


def between(nodes, place):
    """The two nodes next to a place, with the weights whose mean it is."""
    right = min(max(int(np.searchsorted(nodes, place)), 1), len(nodes) - 1)
    share = (place - nodes[right - 1]) / (nodes[right] - nodes[right - 1])
    return {right - 1: 1 - share, right: share}


@pytest.mark.parametrize("tail", [1e-7, 0.02])
@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_an_input_between_two_nodes_has_a_law_below_a_mixture_of_theirs(shape, w, tail):
    rng, laws = np.random.default_rng(8), SmoothLaws(shape, sp.Rational(str(w)))
    with balls.LOCK, balls.workprec(128):
        rows = laws._of_ends(tail)
    for alpha, other in zip((1.0, 1.2, 2.0, 1.05), w * np.array([0.03, 0.27, 0.5, 0.91]), strict=True):
        levels = levels_of(rng, alpha)
        below, above = (
            stop_loss(shape, 0.0, w, other, alpha, levels),
            mixed(rows, between(w * _OTHERS, other), alpha, levels),
        )
        assert (below <= above + 1e-8).all()
        if tail < 1e-6:
            assert (above <= 1.1 * below + 0.1 * alpha).all()


@pytest.mark.parametrize("tail", [1e-7, 0.02])
@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_a_close_pair_has_a_law_below_a_mixture_of_four(shape, w, share, tail):
    rng, laws, distance = np.random.default_rng(9), SmoothLaws(shape, sp.Rational(str(w))), share * w
    with balls.LOCK, balls.workprec(128):
        rows = laws._of_close_pairs(tail, distance)
    for alpha, d, b in ((1.0, 0.25, 0.0), (1.02, 0.25, 0.25), (1.3, 0.75, 0.75), (1.1, 1.0, 1.0), (1.1, 0.0, 0.6)):
        levels, d = levels_of(rng, alpha), d * distance
        a = d + b * (w - d)
        weights = {
            len(_OTHERS_OF_CLOSE) * i + j: p * q
            for i, p in between(distance * _CLOSE, d).items()
            for j, q in between(w * _OTHERS_OF_CLOSE, a).items()
        }
        below = stop_loss(shape, a, a - d, 0.0, alpha, levels)
        assert (below <= mixed(rows, weights, alpha, levels) + 1e-8).all()


@pytest.mark.parametrize("tail", [1e-2, 10**-4.5])
@pytest.mark.parametrize("q", [1, "1/3"])
@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_what_counts_by_itself_is_not_below_what_is_cut_off_of_each_law(shape, w, q, tail):
    # q ∫ [p_0 − αp_w]_+ left of all cells for the two ends; q ∫ [p_d − αp_0]_+ right of them for the closest pairs,
    # whose cells end elsewhere if fewer of their messages are cut off. Both are known from distribution functions.
    laws, share = SmoothLaws(shape, sp.Rational(str(w)), sp.Rational(q)), float(sp.Rational(q))
    ends, close = len(_OTHERS), len(_CLOSE) * len(_OTHERS_OF_CLOSE)
    for alpha in (1.0, 1.02, 1.3):
        rows, lost = laws.at(alpha, tail)
        assert len(rows) == len(lost) == ends + close
        of_ends, of_close = lost[:ends], lost[ends:]
        assert len({*of_ends}) == len({*of_close}) == 1
        far = -shape.place(tail)
        assert min(of_ends) >= share * (below(shape, -far) - alpha * below(shape, -far - w)) * (1 - 1e-12)
        # The most of their messages that may have been cut off, by what they say counts: ζ >= 1 is in it.
        d, least = laws.close(alpha), min(of_close) / share
        cut = [t for t in (tail, 1e-3 ** math.ceil(math.log(tail, 1e-3) - 1e-9)) if (t, d) in laws._rows]
        far = -shape.place(max(cut))
        assert least >= (below(shape, -far) - alpha * below(shape, -far - d)) * (1 - 1e-12)
        assert 0 < least < 2.1 * max(cut)
        with balls.LOCK, balls.workprec(128):
            rows = laws._of_close_pairs(tail, 0.1 * w)
        # p_0 beyond the last cell and before the first one
        far = -shape.place(tail)
        assert rows.lost >= share * (below(shape, -far) + below(shape, -far - w)) * (1 - 1e-12)


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_more_cells_of_messages_are_closer_to_the_law_and_none_is_below_it(shape, w, monkeypatch):
    laws, levels, alpha = SmoothLaws(shape, sp.Rational(str(w))), np.linspace(-1.5, 1.5, 31), 1.1
    truth, excess = stop_loss(shape, 0.0, w, w, alpha, levels), []
    for cells in (6, 80):
        monkeypatch.setattr(SmoothLaws, "_count", cells)
        monkeypatch.setattr(smooth_laws, "_OTHERS", np.array([0.0, 0.999999, 1.0]))
        with balls.LOCK, balls.workprec(128):
            rows = laws._of_ends(1e-7)
        g, p = rows.at(alpha)[2]
        gaps = np.maximum(g - levels[:, None], 0.0) @ p + rows.lost - truth
        assert gaps.min() >= -1e-8
        excess.append(gaps.max())
    assert excess[1] < excess[0] / 8


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_far_pairs_are_below_the_two_ends(shape, w):
    rng, laws = np.random.default_rng(6), SmoothLaws(shape, sp.Rational(str(w)))
    for alpha in (1.003, 1.03, 1.3):
        levels = levels_of(rng, alpha)
        ends = stop_loss(shape, w, 0.0, 0.0, alpha, levels)
        mirrored = stop_loss(shape, 0.0, w, 0.0, alpha, levels)
        close = laws.close(alpha)
        for _ in range(12):
            d = close + (w - close) * rng.random() ** 4
            b = (w - d) * rng.choice([1.0, rng.random()])
            assert (stop_loss(shape, b + d, b, 0.0, alpha, levels) <= ends + 1e-8).all(), (alpha, d, b)
            near, far = sorted(rng.uniform(0, w, 2))
            assert (stop_loss(shape, near, far, 0.0, alpha, levels) <= mirrored + 1e-8).all(), (alpha, near, far)


def test_close_pairs_are_not_below_the_two_ends():
    # (w, 0 | 0) is never below −α, and with a pair that is close and far from the other user G is
    alpha, w = 1.6, 2.0
    d = SmoothLaws(NORMAL, sp.Integer(2)).close(alpha) / 5
    levels = np.linspace(-4.0, -alpha, 12)
    gaps = stop_loss(NORMAL, w, w - d, 0.0, alpha, levels) - stop_loss(NORMAL, w, 0.0, 0.0, alpha, levels)
    assert gaps.min() > 1e-3


def largest_ratio(shape, u, w):
    """The largest α up to which inputs at this distance are not close, with mpmath."""
    u, w = mpmath.mpf(u), mpmath.mpf(w)
    b = w - u
    if shape is NORMAL:
        return mpmath.exp(-u * u / 2) / (1 - u / w)
    return mpmath.sinh(w / 2) / (mpmath.sinh(b / 2) * mpmath.cosh(u / 2) ** 3)


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_all_distances_that_are_not_close_allow_the_ratio(shape, w):
    laws = SmoothLaws(shape, sp.Rational(str(w)))
    for alpha in (1.0, 1.0001, 1.01, 1.1, 2.0, 9.0):
        close = laws.close(alpha)
        far = [close + (w - close) * k / 200 for k in range(200)] if close < w else []  # at w all pairs are close
        assert all(largest_ratio(shape, u, w) >= alpha for u in far)
        if 1.001 < alpha < 1.05:
            assert largest_ratio(shape, close / 1.3**3, w) < alpha  # small distances are in steps of three


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_what_is_left_of_a_density_is_below_the_density_of_inputs_on_both_sides(shape, w):
    width = 0.26 * w
    with balls.LOCK, balls.workprec(128):
        cells = smooth_laws._Cells(shape, (0.0, 0.7 * w, 0.4 * w), width, 0.11 * w)
        y = cells.chosen(-6.0, w + 6.0, 1e-8, 44)
        ends = tuple((a[:-1], b[:-1]) for a, b in [cells.ratios(y)] * 2)
        masses = SmoothLaws(shape, sp.Rational(str(w)))._masses(y)
        _, _, means, mass, _ = cells.row(y, ends, ends, arb(1), masses)
        of_v, of_x = masses(0.7 * w), masses(0.4 * w)
    # What is used of the densities at x and at v, over all of them
    for used, place, step in ((mass[:-1] / of_x, 0.4, width), ((means[1] * mass)[:-1] / of_v, 0.7, 0.11 * w)):
        assert used.min() > 0
        for shift in (-step, -step / 3, step / 2, step):
            at = DENSITIES[shape](y - place * w - shift) / DENSITIES[shape](y - place * w)
            least = np.exp(-(np.log(at) ** 2) / 8)
            assert (used <= np.minimum(least[1:], least[:-1]) * (1 + 1e-12)).all()


@pytest.mark.parametrize("shape", [NORMAL, LOGISTIC], ids=["normal", "logistic"])
def test_the_condition_on_distances_between_two_holds_at_each_of_them(shape):
    for w in (shape.widest, 1.3, 0.01):
        for low, high in ((0.1, 0.11), (0.5, 0.53), (0.9, 0.92)):
            bound = shape.far(np.array([low * w]), np.array([high * w]), w)[0]
            values = [largest_ratio(shape, w * (low + (high - low) * k / 20), w) for k in range(21)]
            assert bound <= min(values) * (1 + 1e-12)
            assert bound >= 0.8 * min(values)


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_at_the_largest_ratio_that_a_distance_allows_the_set_leans_to_the_left(shape, w):
    # h(b − s) >= h(b + s) for h = (αp_b − p_w)/p_0 at the largest α that is allowed for the distance w − b
    rng = np.random.default_rng(7)
    for u in rng.uniform(0.02, 0.98, 8) * w:
        alpha, b = float(shape.far(np.array([u]), np.array([u]), w)[0]), w - u

        def h(y, alpha=alpha, b=b):
            of_b, of_w, of_0 = (DENSITIES[shape](y - z) for z in (b, w, 0.0))
            return (alpha * of_b - of_w) / of_0

        s = np.linspace(0.0, 9.0, 400)
        before, after = h(b - s), h(b + s)
        if alpha > 0:
            assert (before - after >= -1e-9 * (1 + np.abs(before) + np.abs(after))).all()


@pytest.mark.parametrize("shape", [NORMAL, LOGISTIC], ids=["normal", "logistic"])
def test_masses_have_the_digits_of_another_program_also_far_out(shape):
    mp = mpmath.MPContext()
    mp.dps = 60
    below = (lambda z: mp.erfc(-z / mp.sqrt(2)) / 2) if shape is NORMAL else (lambda z: 1 / (1 + mp.exp(-z)))
    for x in (0.0, 0.7, -2.0):
        y = np.array([-30.0, -29.875, -29.8749, -9.5, -9.25, -1.0, 0.25, 0.25000001, 0.5, 3.5, 8.0, 31.0])
        ends = [mp.mpf(float(place)) - mp.mpf(x) for place in y]
        # The smaller one of two tails has all digits.
        exact = [below(b) - below(a) if a + b < 0 else below(-a) - below(-b) for a, b in pairwise(ends)]
        assert shape.masses(y, x).tolist() == pytest.approx([float(mass) for mass in exact], rel=1e-12)
        # Intervals of all widths: the bound of the error is for parts that are narrow enough.
        assert shape.masses(y[[0, 3, 6, 11]], x).tolist() == pytest.approx(
            [float(mp.fsum(exact[i:j])) for i, j in ((0, 3), (3, 6), (6, 11))], rel=1e-12
        )


def test_messages_that_are_too_far_away_for_doubles_are_refused():
    with pytest.raises(balls.RangeError, match="at most 37 deviations"):
        NORMAL.masses(np.array([0.0, 38.0]), 0.0)


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_one_user_has_the_divergence_of_the_two_ends(shape, w):
    laws = SmoothLaws(shape, sp.Rational(str(w)))
    for eps in (0.0, 0.05, 0.15):
        truth = stop_loss(shape, 0.0, w, 0.0, math.exp(eps), np.array([0.0]))[0]
        bound = laws.local(Ratio(eps=sp.Rational(str(eps))))
        assert bound == pytest.approx(truth, rel=1e-6, abs=1e-9)
    assert SmoothLaws(LOGISTIC, sp.Integer(1)).local(Ratio(eps=sp.Integer(1))) <= 1e-30
    assert SmoothLaws(LOGISTIC, sp.Integer(1)).local(Ratio(eps=sp.Integer(2))) == 0


def test_users_who_stay_away_send_a_message_that_is_alike_for_all_inputs():
    whole, half = SmoothLaws(NORMAL, sp.Integer(1)), SmoothLaws(NORMAL, sp.Integer(1), sp.Rational(1, 2))
    levels, alpha = np.linspace(-1.0, 2.0, 13), 1.25
    for (g, p), (halved_g, halved_p) in zip(whole.at(alpha, 1e-6)[0], half.at(alpha, 1e-6)[0], strict=True):
        expected = (np.maximum(g - levels[:, None], 0.0) @ p + np.maximum(1 - alpha - levels, 0.0)) / 2
        assert np.maximum(halved_g - levels[:, None], 0.0) @ halved_p == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert half.at(alpha, 1e-6)[1][0] == pytest.approx(whole.at(alpha, 1e-6)[1][0] / 2)


@pytest.mark.parametrize(
    ("shape", "R"), [(NORMAL, ss.Gaussian(1)), (LOGISTIC, Logistic(1))], ids=["normal", "logistic"]
)
def test_a_shape_is_the_noise_of_the_catalogue_at_scale_1(shape, R):
    x, y = sp.symbols("x y")
    density, distribution = (
        expr.subs({z: {"x": x, "y": y}[z.name] for z in expr.free_symbols}) for expr in (R.density, R.distribution)
    )
    for z in (-3.25, -0.5, 0.0, 1.75):
        at = {x: 0, y: sp.Rational(z)}
        log = float(sp.log(density.subs(at) / density.subs({x: 0, y: 0})))
        assert float(shape.log(np.array([z]))[0] - shape.log(np.array([0.0]))[0]) == pytest.approx(log, abs=1e-14)
        assert float(shape.below(arb(z))) == pytest.approx(float(distribution.subs(at)), rel=1e-14)


def test_logistic_noise_has_these_laws_however_it_is_written():
    x, y = sp.symbols("x y", real=True)
    u, away = y - x, sp.exp(-sp.Abs(y - x))
    same = [
        1 / (4 * sp.cosh(u / 2) ** 2),
        1 / (2 + 2 * sp.cosh(u)),
        (1 - sp.tanh(u / 2) ** 2) / 4,
        away / (1 + away) ** 2,
    ]
    for density in same:
        laws = laws_of(ss.from_density(density, inputs=(0, 1)))
        assert (laws.shape, laws.w) == (LOGISTIC, 1.0)


def test_which_noise_has_these_laws():
    x, y = sp.symbols("x y", real=True)
    normal = sp.exp(-((y - x) ** 2) / 8) / sp.sqrt(8 * sp.pi)
    assert laws_of(ss.Gaussian(2)).w == laws_of(ss.from_density(normal, inputs=(0, 1))).w == 0.5
    assert laws_of(ss.from_density(normal, inputs=(-1, 1))).w == 1.0
    assert (laws_of(Logistic(2)).shape, laws_of(Logistic(2)).w) == (LOGISTIC, 2.0)
    for R in (
        ss.Laplace(1),
        ss.Gaussian("0.499"),
        Logistic("3.01"),
        ClippedGaussian(1),
        ss.randomizers.AsymmetricLaplace(left=1, right=2),
        ss.from_density(1 / (sp.pi * sp.cosh(y - x)), inputs=(0, 1)),
    ):
        assert laws_of(R) is None


def test_a_cell_of_inputs_is_as_wide_as_the_distance_to_either_neighbour(monkeypatch):
    made, w, distance = [], 1.5, 0.4

    class Recorded(smooth_laws._Cells):
        def __init__(self, *given):
            super().__init__(*given)
            made.append((*map(float, self.inputs), self.width, self.gap))

    monkeypatch.setattr(smooth_laws, "_Cells", Recorded)
    laws = SmoothLaws(NORMAL, sp.Rational(3, 2))
    with balls.LOCK, balls.workprec(128):
        laws._of_ends(1e-6)
        ends, made = made, []
        laws._of_close_pairs(1e-6, distance)
    assert {(u, v, gap) for u, v, _, _, gap in ends} == {(0.0, w, 0.0)}
    assert {u for u, *_ in made} == {0.0}
    cases = [({x: width for _, _, x, width, _ in ends}, (0.0, w))]
    made = made[1:]  # the first one only says which messages
    for v in {v for _, v, *_ in made}:
        cases.append(({x: width for _, other, x, width, _ in made if other == v}, (-w, 0.0)))
    for x in {x for _, _, x, *_ in made}:
        cases.append(({v: gap for _, v, other, _, gap in made if other == x}, (-distance, 0.0)))
    for widths, reach in cases:
        assert (min(widths), max(widths)) == reach
        for low, high in pairwise(sorted(widths)):
            assert min(widths[low], widths[high]) >= (high - low) * (1 - 1e-12)


@pytest.mark.parametrize(("shape", "w"), CASES, ids=IDS)
def test_the_mean_of_a_cell_is_between_the_ends_of_its_range(shape, w):
    laws = SmoothLaws(shape, sp.Rational(str(w)))
    with balls.LOCK, balls.workprec(128):
        made = [laws._of_ends(1e-6), laws._of_close_pairs(1e-6, 0.1 * w), laws._of_close_pairs(1e-6, w)]
    for rows in made:
        for alpha in (1.0, 1.1, 3.0):
            high, low = (rows.a - alpha * rows.b)[0].max(axis=0), (rows.a - alpha * rows.b)[1].min(axis=0)
            mean, size = rows.means[0] - alpha * rows.means[1], rows.means[0] + alpha * rows.means[1]
            assert (low - 1e-10 * size <= mean).all()
            assert (mean <= high + 1e-10 * size).all()
