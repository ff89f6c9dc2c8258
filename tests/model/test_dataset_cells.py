"""Datasets of continuous noise in cells: masses are right, and more cells lose less."""

from __future__ import annotations

import mpmath
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model.added import dataset_cells

HALF = sp.Rational(1, 2)


@pytest.mark.parametrize(("R", "other"), [(ss.Laplace(3), sp.S.Zero), (ss.Gaussian(sp.Rational(3, 4)), HALF)])
def test_masses_are_those_of_mpmath(R, other):
    MP = mpmath.MPContext()
    MP.dps = 30
    ends, D = dataset_cells(R, other, 12, 1000), R.in_cells(other, 12, 1000)
    for column, place in (("a", 0), ("b", 1), ("c", float(other))):
        if isinstance(R, ss.Gaussian):
            below = [MP.ncdf((MP.mpf(e.numerator) / e.denominator - place) / MP.mpf(0.75)) for e in ends]
        else:
            away = [3 * (MP.mpf(e.numerator) / e.denominator - place) for e in ends]
            below = [MP.exp(d) / 2 if d < 0 else 1 - MP.exp(-d) / 2 for d in away]
        masses = [b - a for a, b in zip([0, *below], [*below, 1], strict=True)]
        known = [getattr(atom, column) for atom in D.atoms]
        assert sum(known) == 1
        assert all(abs(MP.mpf(m.p) / m.q - true) < 1e-25 for m, true in zip(known, masses, strict=True))


def test_the_cells_lose_less_than_a_thousandth_of_the_variance():
    # ∫ (p_0 − p_1)²/p_0 of Laplace noise: (t + t^-2)/2 + (t − t^-2)/6 − 1
    t = sp.exp(4).evalf(30)
    true = (t + t**-2) / 2 + (t - t**-2) / 6 - 1
    shares = []
    for cells in (12, 24, 48):
        atoms = ss.Laplace(4).in_cells(sp.S.Zero, cells).atoms
        shares.append(sum((atom.a - atom.b) ** 2 / atom.c for atom in atoms) / true)
    assert shares[0] < shares[1] < shares[2] < 1
    assert shares[2] > 1 - 1e-3


def test_noise_that_is_too_little_for_doubles_is_refused_before_any_work():
    for question in ("delta", "epsilon"):
        with pytest.raises(ValueError, match=r"sigma must be at least 0.047 for Gaussian\(sigma=1/50\)"):
            getattr(ss.Shuffle(ss.Gaussian("1/50"), 100), question)(0.5)


@pytest.mark.parametrize(
    ("enough", "too_little"),
    [
        (ss.Gaussian(sigma="0.047"), ss.Gaussian(sigma="0.046")),
        (ss.Laplace(eps0=230), ss.Laplace(eps0=240)),
        (ss.randomizers.Logistic(eps0=230), ss.randomizers.Logistic(eps0=240)),
    ],
    ids=repr,
)
def test_the_least_noise_that_a_refusal_speaks_of_is_served(enough, too_little):
    assert enough.in_cells(sp.S.Zero, 12).atoms
    with pytest.raises(ValueError, match=enough.enough_noise):
        too_little.in_cells(sp.S.Zero, 12)
