r"""Datasets of continuous noise: the first user has 0 or 1, all others x, and messages are counted by cells.

To count messages by cells is post-processing, so the divergence can only fall. With G = (p_0 − αp_1)/p_x a cell of
width h loses about p_x h (hG')²/12 of the variance of G. Of all ways to make a given number of cells the one with
h ∝ (p_x G'²)^{-1/3} loses least; it is found roughly, in doubles, and any cells are right.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.continuous import x, y
from shuffle_sym.model.decomposition import Decomposition

if TYPE_CHECKING:
    from shuffle_sym.model.added import AddedNoise

_BITS, _RIGHT_TO = 256, 160  # a mass is a difference of distribution functions
_PLACES = 4001  # where the density is looked at
_LEAST = 1e-13  # of the largest density: beyond, messages are in the first and the last cell
_STEPS = 2**20  # ends of cells are multiples of one over this


def dataset_in_cells(R: AddedNoise, other: sp.Expr, cells: int) -> Decomposition:
    """The decomposition of the datasets with all others at ``other``, an exact number in [0, 1].

    R is noise on [0, 1], not clipped, with a formula for its distribution.
    """
    ends = _ends(R, other, cells)
    columns = [_masses(R, input_, ends) for input_ in (sp.S.Zero, sp.S.One, other)]
    return Decomposition(*columns, title=f"{R!r}, others {other}, {cells} cells")


def _ends(R: AddedNoise, other: sp.Expr, cells: int) -> list[Fraction]:
    density = sp.lambdify((x, y), R.density, "numpy")

    def at(places: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        with np.errstate(all="ignore"):
            return [np.broadcast_to(density(float(input_), places), places.shape) for input_ in (0, 1, other)]

    reach = 1.0
    while max(p[0] / p.max() for p in at(np.linspace(-reach, 0.5, 101))) > _LEAST:
        reach *= 1.25
    places = np.linspace(-reach, 1 + reach, _PLACES)
    p0, p1, p = at(places)
    slopes = np.gradient((p0 - p1) / p, places)
    wanted = np.cbrt(p * slopes**2)
    shares = np.concatenate([[0.0], np.cumsum(wanted[1:] + wanted[:-1])])
    chosen = np.interp(np.arange(1, cells) * shares[-1] / cells, shares, places)
    # A bend of the density, at an input, is an end of a cell.
    return [Fraction(int(k), _STEPS) for k in sorted({*np.round(chosen * _STEPS).tolist(), 0, _STEPS})]


def _masses(R: AddedNoise, input_: sp.Expr, ends: list[Fraction]) -> list[Any]:
    with balls.precision(_BITS):
        centre = balls.value(input_)
        inner = [balls.value(R.distribution, {x: centre, y: balls.ball(end)}) for end in ends]
        known = [b - a for a, b in pairwise([balls.ball(0), *inner, balls.ball(1)])]
        if not all(balls.is_right_to(_RIGHT_TO, mass) for mass in known):
            raise VerificationError(f"cannot evaluate the masses of cells of {R!r} to {_RIGHT_TO} bits")
        masses = [balls.middle(mass) for mass in known]
    # What the rounding to rational numbers misses of 1 goes to the largest mass.
    masses[masses.index(max(masses))] += 1 - sum(masses)
    return [sp.Rational(mass.numerator, mass.denominator) for mass in masses]
