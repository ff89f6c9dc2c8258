r"""Datasets of continuous noise: the first user has 0 or 1, all others x, and messages are counted by cells.

To count messages by cells is post-processing, so the divergence can only fall. With G = (p_0 − αp_1)/p_x a cell of
width h loses about p_x h (hG')²/12 of the variance of G, and values count with their weights e^{λG} in a tilted law:
h ∝ (p_x G'² e^{λ|G|})^{-1/3} loses least for the two directions, up to a largest exponent, and any cells are right.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.model.continuous import x, y

if TYPE_CHECKING:
    from shuffle_sym.model.added import AddedNoise

_PLACES = 4001  # where the density is looked at
_LEAST = 1e-13  # of the largest density: beyond, messages are in the first and the last cell
_LEAST_FAR = 1e-100  # a density with squares and quotients that are doubles
_TYPICAL, _LARGEST_EXPONENT = 5.0, 9.0  # λ times the standard deviation of a sum, and the largest λ|G| that counts
_ENOUGH = 50.0  # of |G| over the number of users
_STEPS = 2**20  # ends of cells are multiples of one over this


def ends(R: AddedNoise, other: sp.Expr, cells: int, users: int) -> list[Fraction]:
    """The ends of that many cells with all others at ``other``, an exact number in [0, 1]: of noise on [0, 1]. They are
    chosen for about so many users."""
    density = sp.lambdify((x, y), R.density, "numpy")
    if not (far := float(density(0.0, 1.0))) > _LEAST_FAR:
        raise ValueError(
            f"{R.enough_noise} for {R!r}: with so little noise a message almost proves its input (input 0 sends the "
            f"message 1 with the density {far:.3g}), and shuffling hides hardly anything"
        )

    def at(places: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        with np.errstate(all="ignore"):
            return [np.broadcast_to(density(float(input_), places), places.shape) for input_ in (0, 1, other)]

    reach = 1.0
    while max(p[0] / p.max() for p in at(np.linspace(-reach, 0.5, 101))) > _LEAST:
        reach *= 1.25
    places = np.linspace(-reach, 1 + reach, _PLACES)
    p0, p1, p = at(places)
    with np.errstate(all="ignore"):  # a density below the smallest double says nothing about cells
        gaps = (p0 - p1) / p
        chi = np.where(p > _LEAST * p.max(), p * gaps**2, 0.0).sum() / p.sum()
        exponents = np.minimum(_TYPICAL / np.sqrt(users * chi) * np.abs(gaps), _LARGEST_EXPONENT)
        wanted = np.cbrt(p * np.gradient(gaps, places) ** 2 * np.exp(exponents))
    # One value that makes every sum positive is as good as another one, and large ones are hard to sum.
    wanted = np.where(np.isfinite(wanted) & (np.abs(gaps) <= _ENOUGH * users), wanted, 0.0) + _LEAST
    shares = np.concatenate([[0.0], np.cumsum(wanted[1:] + wanted[:-1])])
    chosen = np.interp(np.arange(1, cells) * shares[-1] / cells, shares, places)
    # A bend of the density, at an input, is an end of a cell.
    return [Fraction(int(k), _STEPS) for k in sorted({*np.round(chosen * _STEPS).tolist(), 0, _STEPS})]
