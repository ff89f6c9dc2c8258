"""Panels and integrals: what bounds their errors, for densities that have poles and cuts next to the real line."""

from __future__ import annotations

import math

import pytest
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, integrals
from shuffle_sym.model import panels
from shuffle_sym.model.continuous import y

DENSITIES = {  # and their integrals from 0 on
    "sech": (1 / sp.cosh(y), sp.atan(sp.sinh(y))),
    "logistic": (sp.exp(-y) / (1 + sp.exp(-y)) ** 2, sp.tanh(y / 2) / 2),
    "Cauchy": (1 / (1 + y**2), sp.atan(y)),
    "logarithm": (sp.log(1 + y**2), y * sp.log(1 + y**2) - 2 * y + 2 * sp.atan(y)),
    "root": (1 / sp.sqrt(1 + y**2), sp.log(y + sp.sqrt(1 + y**2))),
    "cube root": (y / (1 + y**2) ** sp.Rational(4, 3), -sp.Rational(3, 2) / (1 + y**2) ** sp.Rational(1, 3)),
}


@pytest.mark.parametrize(("density", "whole"), DENSITIES.values(), ids=DENSITIES.keys())
def test_the_error_of_a_panel_is_below_what_every_ellipse_says(density, whole):
    smooth = panels.Smooth(y, density, 1 + density)
    finite = 0
    for half in (0.2, 0.5, 0.7, 1.3, 2.5, 4.0):
        for middle in (0.0, 0.3, 2.0):
            around = smooth.panel(arb(middle), arb(half)).ellipses[:-1]
            with balls.precision(300):
                at = balls.compiled(density, y)
                nodes = [arb.legendre_p_root(16, k, weight=True) for k in range(16)]
                total = sum((w * half * at(arb(middle) + arb(half) * node) for node, w in nodes), arb(0))
                ends = [balls.value(whole, {y: arb(middle) + side * arb(half)}) for side in (-1, 1)]
                error = balls.upper(abs(total - (ends[1] - ends[0])))
            finite += sum(cap < math.inf for cap, *_ in around)
            assert all(error <= cap for cap, *_ in around)
    assert finite > 20


@pytest.mark.parametrize(
    ("formula", "ends", "value"),
    [(sp.sqrt(y), (1, 4), sp.Rational(14, 3)), (y ** sp.Rational(3, 2), (0, 4), sp.Rational(64, 5))],
)
def test_the_integral_of_a_root_is_right_up_to_its_branch_point(formula, ends, value):
    with balls.precision(100):
        total = integrals.integral(balls.compiled(formula, y), *map(arb, ends))
    low, high = balls.ends(total)
    assert low <= value <= high
    assert high - low < 1e-20
