"""Randomizers from densities: what is derived, what is refused, and bounds against all pairs of inputs."""

from __future__ import annotations

from itertools import pairwise, permutations

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss

q = sp.Rational
x, y = sp.symbols("x y", real=True)
SKEWED = sp.Piecewise((q(2, 3) * sp.exp(y - x), y < x), (q(2, 3) * sp.exp(2 * (x - y)), True))
NORMAL = sp.exp(-((y - x) ** 2) / 2) / sp.sqrt(2 * sp.pi)


def masses(density: sp.Expr, input_: sp.Expr, places: list[float]) -> list[sp.Rational]:
    """Probabilities of cells of messages, with what is beyond them on either side; by mpmath."""
    with mpmath.workdps(30):
        f = sp.lambdify(y, density.subs(x, input_), modules="mpmath")
        kink = mpmath.mpf(sp.Rational(input_).p) / sp.Rational(input_).q
        ends = [-mpmath.inf, *map(mpmath.mpf, places), mpmath.inf]
        parts = [mpmath.quad(f, sorted({a, b} | ({kink} if a < kink < b else set()))) for a, b in pairwise(ends)]
    exact = [q(*mpmath.libmp.to_rational(part._mpf_)) for part in parts]
    exact[len(exact) // 2] += 1 - sum(exact)
    return exact


CASES = {
    "skewed": (SKEWED, None),
    "steep": (SKEWED.subs({x: 2 * x, y: 2 * y}) * 2, None),
    "clipped normal": (NORMAL, (0, 1)),
    "clipped skewed": (SKEWED, (q(-1, 4), q(3, 4))),
}


@pytest.mark.parametrize(("density", "clip"), CASES.values(), ids=CASES.keys())
def test_no_pair_of_inputs_on_a_grid_is_above_the_bound(density, clip):
    R = ss.from_density(density, inputs=(0, 1), clip=clip)
    low, high = (-2.0, 3.0) if clip is None else map(float, clip)
    places = [low + (high - low) * i / 12 for i in range(13)]
    grid = [q(0), q(1, 4), q(1, 2), q(1)]
    cells = {input_: masses(density, input_, places) for input_ in grid}
    # The blanket of cells is at least that of the density: messages that are put together have a larger minimum, which
    # can only lower the divergence.
    c = [min(column) for column in zip(*cells.values(), strict=True)]
    assert q(R.gamma) <= sum(c) + q(1, 10**15)
    above = ss.decomposition.blanket(R)
    for n, eps in ((1, 0.2), (6, 0.1), (300, 0.1)):
        bound = shuffled_laws(above, n).delta(eps, rtol=1e-2).upper
        for x0, x1 in permutations(grid, 2):
            D = ss.model.Decomposition(cells[x0], cells[x1], c)
            assert shuffled_laws(D, n).delta(eps, rtol=1e-2).lower <= bound


def test_a_skewed_noise_for_which_the_pair_of_0_and_1_is_no_bound():
    # Two datasets are 4.285e-4 apart; the blanket of the pair (0, 1) taken for the worst one gave 1.09e-11.
    M = ss.Shuffle(ss.from_density(SKEWED, inputs=(0, 1)), n=1000)
    assert M.delta(0.1).upper >= 4.285e-4
    assert M.delta(0.1).lower >= 4.285e-4


@pytest.mark.parametrize("R", [ss.Laplace(1), ss.Laplace(3), ss.Gaussian(2)], ids=repr)
def test_for_symmetric_noise_the_bound_of_all_pairs_is_the_worst_pair(R):
    for n, eps in ((40, 0.2), (2000, 0.05)):
        worst = ss.Shuffle(ss.decomposition.blanket(R), n).delta(eps, rtol=1e-3)
        above = ss.Shuffle(R.dominating, n).delta(eps, rtol=1e-3)
        assert worst.lower <= above.upper <= worst.upper * 1.004


def test_a_density_typed_by_hand_is_the_randomizer_of_the_catalogue():
    p, r = sp.symbols("p r")
    normal = NORMAL.subs({x: p, y: r})
    for density, R in ((sp.exp(-3 * sp.Abs(r - p)) * q(3, 2), ss.Laplace(3)), (normal, ss.Gaussian(1))):
        mine = ss.from_density(density, inputs=(0, 1), x=p, y=r)
        assert mine.eps0 == R.eps0
        assert abs(sp.N(mine.gamma - R.gamma, 40)) < 1e-28
        one, other = (ss.Shuffle(ss.decomposition.blanket(N), 500).delta(0.1) for N in (mine, R))
        assert one == other


def test_the_symbols_of_input_and_message_may_have_each_others_names():
    swapped = ss.from_density(sp.exp(-3 * sp.Abs(y - x)) * q(3, 2), inputs=(0, 1), x=y, y=x)
    skewed = ss.from_density(SKEWED.subs({x: y, y: x}, simultaneous=True), inputs=(0, 1), x=y, y=x)
    assert swapped.eps0 == 3
    assert skewed == ss.from_density(SKEWED, inputs=(0, 1))


def test_bends_of_the_two_end_inputs_that_are_one_make_no_cell_without_mass():
    away = sp.Abs(y - x)
    huber = sp.Piecewise((sp.exp(-((y - x) ** 2) / 2), away < 1), (sp.exp(q(1, 2) - away), True))
    whole = sp.sqrt(2 * sp.pi) * sp.erf(1 / sp.sqrt(2)) + 2 * sp.exp(-q(1, 2))
    R = ss.from_density(huber / whole, inputs=(0, 1))
    assert all(min(column) > 0 for D in (R.lower(32), R.upper(32)) for column in (D.a, D.b))


SYMBOLS = {
    "a stray x": (sp.exp(-sp.Abs(y - x)) / 2, {"x": sp.Symbol("z")}, ["the symbols z and y", "got the symbol x"]),
    "one name": (sp.exp(-sp.Abs(y - x)) / 2, {"x": sp.Symbol("y")}, ["different names", "got y for both"]),
    "outputs": (1 + x * (y - q(1, 2)), {"outputs": (0, sp.Symbol("c"))}, ["outputs must be", "got the symbol c"]),
}


@pytest.mark.parametrize(("density", "more", "words"), SYMBOLS.values(), ids=SYMBOLS.keys())
def test_symbols_that_are_not_declared_are_refused(density, more, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are compared below)
        ss.from_density(density, inputs=(0, 1), **more)
    for word in words:
        assert word in str(refused.value)


def test_inputs_of_another_width_are_noise_of_another_scale():
    wide = ss.from_density(sp.exp(-sp.Abs(y - x)) / 2, inputs=(-1, 2))
    assert wide.eps0 == 3
    one, other = (ss.Shuffle(ss.decomposition.blanket(N), 500).delta(0.2) for N in (wide, ss.Laplace(3)))
    assert one.lower == pytest.approx(other.lower, rel=1e-9)
    assert one.upper == pytest.approx(other.upper, rel=1e-9)


def test_a_constant_base_is_that_of_an_exponential():
    two = ss.from_density(sp.log(2) / 2 * 2 ** (-sp.Abs(y - x)), inputs=(0, 1))
    assert two.eps0 == sp.log(2)
    one, other = (ss.Shuffle(ss.decomposition.blanket(N), 500).delta(0.1) for N in (two, ss.Laplace(sp.log(2))))
    assert one.lower == pytest.approx(other.lower, rel=1e-9)
    assert one.upper == pytest.approx(other.upper, rel=1e-9)


ROOTS = {  # and ε0
    "hyperbolic": (sp.exp(-sp.sqrt(1 + (y - x) ** 2)) / (2 * sp.besselk(1, 1)), 1),
    "power 3/2": (sp.exp(-(sp.Abs(y - x) ** q(3, 2))) / (2 * sp.gamma(q(5, 3))), sp.oo),
}


@pytest.mark.parametrize(("density", "eps0"), ROOTS.values(), ids=ROOTS.keys())
def test_noise_with_roots_in_its_exponent_has_the_mass_and_the_cells_of_its_density(density, eps0):
    R = ss.from_density(density, inputs=(0, 1))
    assert R.eps0 == eps0
    assert R.has_worst_pair
    with mpmath.workdps(30):
        tail = sp.lambdify(y, density.subs(x, 0), modules="mpmath")
        beyond = mpmath.quad(tail, [mpmath.mpf(1) / 2, 2, 8, mpmath.inf])
        assert abs(2 * beyond - mpmath.mpf(R.gamma.p) / R.gamma.q) < 1e-20
    low, high = (shuffled_laws(D, 50).delta(0.2, rtol=1e-3) for D in (R.lower(40), R.upper(40)))
    whole = ss.Shuffle(ss.decomposition.blanket(R), 50).delta(0.2, rtol=1e-2)
    assert low.lower <= whole.upper
    assert whole.lower <= high.upper
    assert whole.upper <= 1.02 * whole.lower


def test_parameters_with_a_range_stay_in_the_formulas():
    e = ss.parameter("e", 1, 2)
    R = ss.from_density(e / 2 * sp.exp(-e * sp.Abs(y - x)), inputs=(0, 1))
    assert R.eps0 == e
    with pytest.raises(TypeError, match="still symbolic: e"):
        ss.Shuffle(R, 100).delta(0.1)


a = sp.Symbol("a", positive=True)
REFUSED = {
    "not 1": (sp.exp(-sp.Abs(y - x)), ["integrate to 1", "got 2", "off by 1"]),
    "a little off": (sp.exp(-sp.Abs(y - x)) * q(1001, 2000), ["integrate to 1", "1.001", "off by 0.001"]),
    "undeclared": (a * sp.exp(-2 * a * sp.Abs(y - x)), ["ss.parameter('a'", "the symbol a"]),
    "negative": (-sp.exp(-sp.Abs(y - x)) / 2, ["could not prove that it is positive"]),
    "moving support": (
        sp.Piecewise((1, (y > x - q(1, 2)) & (y < x + q(1, 2))), (0, True)),
        ["it is 0 where y - x < -1/2", "possible for some inputs only", "ε0 is infinite"],
    ),
    "one side": (sp.Piecewise((sp.exp(x - y), y > x), (0, True)), ["it is 0 where y - x < 0", "ε0 is infinite"]),
    "no last case": (sp.Piecewise((sp.exp(x - y), y > x)), ["none of its cases applies where y - x < 0"]),
    "0 in the middle": (sp.Abs(y - x) * sp.exp(-sp.Abs(y - x)) / 2, ["bends upward where y - x = 0"]),
    "Heaviside": (sp.exp(x - y) * sp.Heaviside(y - x), ["density must be made of Abs", "got Heaviside(-x + y)"]),
    "heavy tails": (1 / (sp.pi * (1 + (y - x) ** 2)), ["log-concave", "ss.from_matrix", "only be a lower bound"]),
    "Gumbel": (sp.exp(x - y - sp.exp(x - y)), ["unbounded", "clip=(a, b)"]),
    "two bumps": ((NORMAL + NORMAL.subs(y, y - 5)) / 2, ["log-concave"]),
    "jumps up": (sp.Piecewise((sp.exp(y - x) / 2, y < x), (sp.exp(2 * (x - y)), True)), ["jumps where y - x = 0"]),
    "no message": (sp.exp(-x), ["must depend on the message y"]),
}


@pytest.mark.parametrize(("density", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_a_density_or_not_covered_is_refused_at_once(density, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are compared below)
        ss.from_density(density, inputs=(0, 1))
    for word in words:
        assert word in str(refused.value)


@pytest.mark.parametrize("inputs", [(1, 0), (0, 0), (0, a)])
def test_inputs_are_two_numbers(inputs):
    with pytest.raises(ValueError, match="inputs must be two numbers"):
        ss.from_density(NORMAL, inputs=inputs)


def test_clipped_ends_have_room_for_messages_of_both_ends():
    for clip in ((2, 3), (-3, q(1, 2)), (q(1, 2), 1)):
        with pytest.raises(ValueError, match=r"clip must have room on both sides of 0\.5"):
            ss.from_density(NORMAL, inputs=(0, 1), clip=clip)
