"""The mechanisms of Wang et al. and Duchi et al.: published laws, and exact values of every pair of inputs."""

from __future__ import annotations

from itertools import pairwise, permutations

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.model.continuous import x, y
from shuffle_sym.randomizers import DuchiMechanism, HybridMechanism, PiecewiseMechanism

q = sp.Rational
INPUTS = [q(-1), q(-1, 3), q(0), q(1, 2), q(1)]


def rows_of(R, inputs=None) -> tuple[list[list[sp.Rational]], list[sp.Rational]]:
    """Probabilities of cells without a bend of the density, for a few inputs, and their lengths (0 for atoms)."""
    inputs = INPUTS if inputs is None else inputs
    moving = [e for *_, steps in R.ranges for step in steps for e in (step.left, step.right)]
    ends = sorted({end.subs(x, z) for z in inputs for end in moving})
    ends = [end for end in ends if R.outputs[0] <= end <= R.outputs[1]]
    rows = [
        [R.density.subs({x: z, y: (a + b) / 2}) * (b - a) for a, b in pairwise(ends)]
        + [p.subs(x, z) for p in R.atoms.values()]
        for z in inputs
    ]
    return rows, [b - a for a, b in pairwise(ends)] + [q(0)] * len(R.atoms)


@pytest.mark.parametrize("R", [PiecewiseMechanism(2 * sp.log(2)), HybridMechanism(2 * sp.log(3))], ids=repr)
def test_no_pair_of_inputs_is_worse_than_the_ends(R):
    R.check()
    rows, lengths = rows_of(R)
    assert all(sum(row) == 1 for row in rows)
    # The blanket is what is common to *all* inputs: the smaller level, and the ends of the atoms.
    low = min(step.formula for *_, steps in R.ranges for step in steps)
    c = [
        low * length if length else min(column) for length, column in zip(lengths, zip(*rows, strict=True), strict=True)
    ]
    assert sum(c) == R.gamma
    for n in (1, 2, 4):
        for alpha in (q(1), q(6, 5), q(2)):
            bound = shuffled_laws(ss.decomposition.blanket(R), n).exact(alpha)
            pairs = {
                (i, j): shuffled_laws(ss.model.Decomposition(rows[i], rows[j], c), n).exact(alpha)
                for i, j in permutations(range(len(INPUTS)), 2)
            }
            assert max(pairs.values()) == pairs[0, 4] == bound


MANY_LEVELS = {
    "both ends share a step": (sp.Piecewise((3, (y >= x / 4) & (y <= x / 4 + q(1, 2))), (1, True)) / 2, (0, 1), {}),
    "four levels": (
        sp.Piecewise((4, (y >= x / 2) & (y < x / 2 + q(1, 4))), (2, (y >= x / 2) & (y < x / 2 + q(1, 2))), (1, True))
        / 2,
        (0, 1),
        {},
    ),
    "inputs of which one is worse": (
        sp.Piecewise((3, y < x / 4), (2, y > (x + 1) / 2), (1, True)) * q(2, 3),
        (0, 1),
        {},
    ),
    "bends that cross": (sp.Piecewise((2, sp.Abs(y - x) < q(1, 4)), (1, True)) * q(2, 7), (-1, 2), {}),
    "atoms of other ratios": (
        sp.Piecewise((3, (y >= x / 2) & (y <= (x + 1) / 2)), (1, True)) / 4,
        (0, 1),
        {-1: (1 + x) / 6, 2: q(1, 3) - x / 6},
    ),
}
GRID = [q(0), q(1, 4), q(1, 3), q(1, 2), q(3, 4), q(1)]


def stop_loss(masses, c, k):
    return sum(max(a - k * b, q(0)) for a, b in zip(masses, c, strict=True))


@pytest.mark.parametrize(("density", "outputs", "atoms"), MANY_LEVELS.values(), ids=MANY_LEVELS.keys())
def test_a_density_with_many_levels_has_a_bound_for_all_pairs_of_inputs(density, outputs, atoms):
    R = ss.from_density(density, inputs=(0, 1), outputs=outputs, atoms=atoms)
    rows, _ = rows_of(R, GRID)
    assert all(sum(row) == 1 for row in rows)
    c = [min(column) for column in zip(*rows, strict=True)]
    # The grid has inputs at which the bends meet: what is common to all of it is common to all inputs, or more.
    assert R.gamma <= sum(c)
    assert float(R.eps0) >= max(float(sp.log(max(column) / min(column))) for column in zip(*rows, strict=True)) - 1e-12
    for k in (q(1), q(11, 10), q(3, 2), q(2), q(5, 2), q(7, 2)):
        most = max(stop_loss(row, c, k) for row in rows)
        above = ss.decomposition.blanket(R)
        assert most <= stop_loss(above.a, above.c, k)
    for n, alpha in ((1, q(6, 5)), (3, q(6, 5)), (3, q(2))):
        bound = shuffled_laws(ss.decomposition.blanket(R), n).exact(alpha)
        pairs = [
            shuffled_laws(ss.model.Decomposition(rows[i], rows[j], c), n).exact(alpha)
            for i, j in permutations(range(len(GRID)), 2)
        ]
        assert max(pairs) <= bound


def test_the_staircase_has_the_blanket_that_its_integral_has():
    for e in (q(1), q(3)):
        R = ss.randomizers.Staircase(e)
        R.check()
        t = mpmath.exp(mpmath.mpf(e.p) / e.q)
        first = 1 / (1 + mpmath.sqrt(t))
        top = (1 - 1 / t) / (2 * (first + (1 - first) / t))

        def density(u, t=t, first=first, top=top):
            return top * t ** (-mpmath.floor(abs(u) + 1 - first))

        def common(y, density=density):
            return min(density(y), density(y - 1))

        places = sorted({k + s for k in range(26) for s in (0, first, 1 - first, mpmath.mpf(1) / 2)})
        half = mpmath.quad(common, [place for place in places if place >= 0.5])
        assert float(R.gamma) == pytest.approx(float(2 * half), abs=1e-9)
        assert R.eps0 == e
    e = sp.Symbol("epsilon_0", positive=True)
    assert sp.simplify(ss.randomizers.Staircase(e).gamma.subs(e, 3) - ss.randomizers.Staircase(3).gamma) == 0


def test_real_datasets_respect_both_ends():
    R = PiecewiseMechanism(2 * sp.log(2))
    finite = ss.from_matrix(rows_of(R)[0])
    for n, alpha in ((2, q(6, 5)), (3, q(3, 2))):
        answer = ss.Shuffle(R, n).delta(sp.log(alpha))
        assert answer.lower <= ss.ground_truth.worst_pair(finite, n, alpha).delta <= answer.upper


def test_the_law_of_the_piecewise_mechanism_is_the_published_one():
    e = sp.Symbol("epsilon_0", positive=True)
    D = ss.decomposition.blanket(PiecewiseMechanism(e))
    t = sp.exp(e)
    wanted = [1 / (t + sp.sqrt(t)), 1 / (t + sp.sqrt(t)), sp.exp(-e / 2) * sp.tanh(e / 4)]
    for mass, formula in zip(D.c, wanted, strict=True):
        assert sp.simplify((mass - formula).rewrite(sp.exp)) == 0


def test_the_piecewise_mechanism_has_the_value_of_another_tool():
    answer = ss.Shuffle(ss.decomposition.blanket(PiecewiseMechanism(1)), 1000).delta(0.1, rtol=1e-5)
    assert 3.8508e-5 <= answer.lower <= answer.upper <= 3.8525e-5


def test_the_mechanism_of_duchi_et_al_is_binary_randomized_response():
    one, other = (ss.decomposition.blanket(R) for R in (DuchiMechanism(sp.log(3)), ss.BinaryRR(sp.log(3))))
    assert set(zip(one.a, one.b, one.c, strict=True)) == set(zip(other.a, other.b, other.c, strict=True))
    slope = q(1, 2) * x
    typed = ss.from_density(0, inputs=(-1, 1), atoms={-2: (1 - slope) / 2, 2: (1 + slope) / 2})
    assert typed.eps0 == sp.log(3)


LEVELS = sp.Piecewise((3, (y >= x / 2) & (y <= (x + 1) / 2)), (1, True)) / 2
REFUSED = {
    "not 1": (LEVELS * 2, (0, 1), {}, ["integrate to 1", "off by 1"]),
    "atoms on top": (LEVELS, (0, 1), {0: q(1, 4)}, ["integrate to 1", "off by 0.25"]),
    "three values": (LEVELS + sp.Piecewise((1, y > q(9, 10)), (0, True)), (0, 1), {}, ["must"]),
    "negative atom": (LEVELS * q(3, 4), (0, 1), {0: x / 2 - q(1, 4), 2: q(1, 2) - x / 2}, ["not be negative", "x = 0"]),
    "curved atom": (LEVELS * q(3, 4), (0, 1), {0: x**2 / 4, 2: q(1, 4) - x**2 / 4}, ["linear in x"]),
    "zero": (sp.Piecewise((2, (y >= x / 2) & (y <= (x + 1) / 2)), (0, True)), (0, 1), {}, ["must be positive"]),
    "not constant": (sp.Piecewise((2 * y, y > x / 2), (1, True)), (0, 1), {}, ["must be positive"]),
    "curved bend": (sp.Piecewise((2, y > x**2), (1, True)), (0, 1), {}, ["linearly with x"]),
}


@pytest.mark.parametrize(("density", "outputs", "atoms", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_density_is_refused_at_once(density, outputs, atoms, words):
    with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are compared below)
        ss.from_density(density, inputs=(0, 1), outputs=outputs, atoms=atoms)
    for word in words:
        assert word in str(refused.value)
