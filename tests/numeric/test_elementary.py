"""Elementary functions of complex numbers against forty digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.numeric import transforms

NODES = {
    "one after the other": np.arange(300.0),
    "in runs of 8": np.add.outer(np.array([0.0, 16, 64, 72, 88, 4096]), np.arange(8)).ravel(),
    "then in octaves": np.append(np.arange(49.0), np.outer(2.0 ** np.arange(9), [60, 72, 84, 96]).ravel()),
    "far apart": np.geomspace(0.1, 1e6, 50),
    "one": np.array([7.0]),
}


@pytest.mark.parametrize("nodes", NODES.values(), ids=NODES)
@pytest.mark.parametrize("step", [1e-7, 0.01, 2.0])
@pytest.mark.parametrize("octaves", [False, True])
def test_rotations_are_within_their_error(nodes, step, octaves, monkeypatch):
    monkeypatch.setattr(transforms, "_MUCH", 0)  # also where it is not worth it
    rng, mp = np.random.default_rng(1), mpmath.MPContext()
    mp.dps = 40
    halves, weights = np.concatenate([rng.normal(size=5), [0.0, 1e-9, 30.0]]), rng.dirichlet(np.ones(8))
    steps, doublings = np.array([step, 2 * step]), transforms.DOUBLINGS if octaves else 0
    rotated = transforms.rotations(
        steps, nodes, np.array([halves, -halves]), np.array([weights, weights]), octaves=octaves
    )
    assert rotated.shape == (2, len(nodes))
    for row, sign in ((0, 1), (1, -1)):
        for node, value in list(zip(nodes, rotated[row], strict=True))[:: max(len(nodes) // 40, 1)]:
            angles = [2 * sign * mp.mpf(float(steps[row])) * mp.mpf(float(node)) * mp.mpf(float(h)) for h in halves]
            exact = mp.fsum(mp.mpf(float(q)) * mp.expm1(1j * a) for q, a in zip(weights, angles, strict=True))
            size = mp.fsum(mp.mpf(float(q)) * abs(a) for q, a in zip(weights, angles, strict=True))
            assert abs(mp.mpc(complex(value)) - exact) <= (3 * len(halves) + 76 + doublings) * UNIT_ROUNDOFF * size


def test_waves_at_coarse_nodes_are_about_exponentials():
    x = np.array([[0.0, 0.3, -2.0], [1e-4, 0.07, 1.0]])
    waves = transforms.coarse_waves(x)
    assert waves.shape == (2, len(transforms.COARSE), 3)
    assert np.abs(waves - np.exp(1j * transforms.COARSE[:, None] * x[:, None])).max() < 1e-10
    assert (np.diff(transforms.COARSE) > 0).all()
