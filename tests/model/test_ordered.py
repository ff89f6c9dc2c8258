"""Densities whose ratios are monotone: the bound against pairs of inputs, and what is refused."""

from __future__ import annotations

from itertools import pairwise, permutations

import mpmath
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.randomizers import TruncatedLaplace

q = sp.Rational
x, y = sp.symbols("x y", real=True)
TILTED = x * sp.exp(x * y) / (sp.exp(x) - 1)  # on [0, 1], for x from 1 to 3
CASES = {
    "truncated Laplace": (TruncatedLaplace(2), [q(0), q(1, 4), q(1, 2), q(1)]),
    "tilted": (ss.from_density(TILTED, inputs=(1, 3), outputs=(0, 1)), [q(1), q(3, 2), q(2), q(3)]),
}


def masses(R, input_, places):
    """Probabilities of cells of messages by mpmath, as fractions."""
    with mpmath.workdps(30):
        f = sp.lambdify(y, R.of_input(input_).subs(sp.Symbol("y", real=True), y), modules="mpmath")
        kink = mpmath.mpf(input_.p) / input_.q
        parts = [
            mpmath.quad(f, sorted({a, b} | ({kink} if a < kink < b else set())))
            for a, b in pairwise(map(mpmath.mpf, places))
        ]
    exact = [q(*mpmath.libmp.to_rational(part._mpf_)) for part in parts]
    assert abs(sum(exact) - 1) < 1e-20
    exact[0] += 1 - sum(exact)
    return exact


@pytest.mark.parametrize(("R", "grid"), CASES.values(), ids=CASES.keys())
def test_no_pair_of_inputs_on_a_grid_is_above_the_bound(R, grid):
    R.check()
    cells = {input_: masses(R, input_, [i / 12 for i in range(13)]) for input_ in grid}
    c = [min(column) for column in zip(*cells.values(), strict=True)]
    assert R.gamma <= sum(c)
    ratios = [float(sp.log(p / low)) for column in zip(*cells.values(), strict=True) for p in column for low in column]
    assert max(ratios) <= float(R.eps0)
    above = ss.decomposition.blanket(R)
    for n, eps in ((1, 0.2), (6, 0.1), (300, 0.1)):
        bound = shuffled_laws(above, n).delta(eps, rtol=1e-2).upper
        pairs = [ss.model.Decomposition(cells[x0], cells[x1], c) for x0, x1 in permutations(grid, 2)]
        found = [shuffled_laws(D, n).delta(eps, rtol=1e-2).lower for D in pairs]
        assert max(found) <= bound
        # Twelve cells lose, and so does the bound, but not by orders of magnitude.
        assert bound <= 6 * max(found)


def test_the_largest_loss_of_truncated_noise_is_that_of_the_noise():
    assert 2 <= TruncatedLaplace(2).eps0 <= 2 + q(1, 10**8)


LEAST_AT_AN_END = {  # density, inputs, outputs, and ε0 and γ
    "linear": (1 + x * (y - q(1, 2)), (0, 1), (0, 1), sp.log(2), q(7, 8)),
    "linear, of both signs": (1 + x * (y - q(1, 2)), (-1, 1), (0, 1), sp.log(3), q(3, 4)),
    "falling": (1 - x * (y - q(1, 2)), (0, 1), (0, 1), sp.log(2), q(7, 8)),
    "a square": (1 + x**2 * (y - q(1, 2)), (0, 1), (0, 1), sp.log(2), q(7, 8)),
    "a power": ((x + 1) * y**x / (2 ** (x + 1) - 1), (0, 1), (1, 2), sp.log(q(3, 2)), q(11, 12)),
}


@pytest.mark.parametrize(
    ("density", "inputs", "outputs", "eps0", "gamma"), LEAST_AT_AN_END.values(), ids=LEAST_AT_AN_END
)
def test_a_density_that_is_monotone_or_log_concave_in_x_is_least_at_an_end(density, inputs, outputs, eps0, gamma):
    R = ss.from_density(density, inputs=inputs, outputs=outputs)
    assert sp.N(eps0, 30) <= sp.N(R.eps0, 30) <= sp.N(eps0, 30) + 1e-8
    assert gamma - q(1, 10**8) <= R.gamma <= gamma


def test_messages_that_fall_with_the_input_are_the_mirror_image_of_those_that_rise():
    rising, falling = (
        ss.Shuffle(ss.from_density(density, inputs=(1, 3), outputs=(0, 1)), 300).delta(0.1, rtol=1e-2)
        for density in (TILTED, TILTED.subs(y, 1 - y))
    )
    assert falling.lower == pytest.approx(rising.lower, rel=1e-9)
    assert falling.upper == pytest.approx(rising.upper, rel=1e-9)


def test_what_is_not_decided_is_told_in_the_symbols_of_the_caller_and_in_one_line():
    cauchy = 1 / (1 + (y - x) ** 2) / (sp.atan(1 - x) + sp.atan(x))
    with pytest.raises(
        VerificationError, match=r"of inputs x and messages y do not decide whether log\(y\*\*2 \+ 1\)"
    ) as told:
        ss.from_density(cauchy, inputs=(0, 1), outputs=(0, 1))
    assert len(str(told.value)) < 320


REFUSED = {
    "rises and falls": (1 + (x - 1) * (3 - x) * (y - q(1, 2)), r"monotone in y, but .* both signs"),
    "0 at an end": (2 * y, r"at least 1e-09, .* at x = 2, y = \S+e-10 it is \S+e-10"),
    "a bend in x": (1 + sp.Abs(x - 2) * (y - q(1, 2)), r"positive, and this could not be proved: .* sign\(x - 2\)"),
    "cases of x": (1 + sp.Piecewise((x, x < 2), (4 - x, True)) * (y - q(1, 2)) / 4, "Piecewise is not smooth"),
    "not 1": (TILTED * 2, "integrate to 1"),
    "not 1 for all inputs": (TILTED * (1 + (x - 1) * (x - 3) / 10), "off by"),
    "negative": (TILTED - q(1, 2), "positive"),
}


@pytest.mark.parametrize(("density", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_covered_is_refused(density, words):
    with pytest.raises(ValueError, match=words):
        ss.from_density(density, inputs=(1, 3), outputs=(0, 1))
