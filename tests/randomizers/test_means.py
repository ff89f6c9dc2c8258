"""The mechanisms of Wang et al. and Duchi et al.: published laws, and exact values of every pair of inputs."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.model.continuous import x, y
from shuffle_sym.randomizers import DuchiMechanism, HybridMechanism, PiecewiseMechanism

q = sp.Rational
INPUTS = [q(-1), q(-1, 3), q(0), q(1, 2), q(1)]


def rows_of(R) -> tuple[list[list[sp.Rational]], list[sp.Rational]]:
    """Probabilities of cells without a bend of the density, for a few inputs, and their lengths (0 for atoms)."""
    ends = sorted({end.subs(x, z) for z in INPUTS for step in R.steps for end in (step.left, step.right)})
    rows = [
        [R.density.subs({x: z, y: (a + b) / 2}) * (b - a) for a, b in pairwise(ends)]
        + [p.subs(x, z) for p in R.atoms.values()]
        for z in INPUTS
    ]
    return rows, [b - a for a, b in pairwise(ends)] + [q(0)] * len(R.atoms)


@pytest.mark.parametrize("R", [PiecewiseMechanism(2 * sp.log(2)), HybridMechanism(2 * sp.log(3))], ids=repr)
def test_no_pair_of_inputs_is_worse_than_the_ends(R):
    R.check()
    rows, lengths = rows_of(R)
    assert all(sum(row) == 1 for row in rows)
    # The blanket is what is common to *all* inputs: the smaller level, and the ends of the atoms.
    low = min(step.formula for step in R.steps)
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
    "overlap": (
        sp.Piecewise((q(3, 2), (y >= x / 4) & (y <= x / 4 + q(1, 2))), (q(1, 2), True)),
        (0, 1),
        {},
        ["for one of the inputs"],
    ),
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
