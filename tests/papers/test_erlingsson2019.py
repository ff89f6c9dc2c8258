"""The closed form of Erlingsson et al. 2019."""

from __future__ import annotations

import math

import pytest
from conftest import shuffled_laws

from shuffle_sym.model import decomposition
from shuffle_sym.papers import erlingsson2019


@pytest.mark.parametrize(("eps0", "n"), [(0.49, 1000), (0.1, 1000), (0.4, 10**5)])
@pytest.mark.parametrize("delta", [0.0099, 1e-6])
def test_the_theorem_of_erlingsson_et_al_is_above_the_clones(eps0, n, delta):
    found = shuffled_laws(decomposition.clones(eps0), n).epsilon(delta, rtol=0.02)
    assert found.upper <= erlingsson2019.shuffling(eps0, n, delta)


def test_the_theorem_of_erlingsson_et_al_gives_its_delta_back():
    eps = erlingsson2019.shuffling(0.4, 10**5, 1e-6)
    assert erlingsson2019.shuffling.delta(0.4, 10**5, eps) == pytest.approx(1e-6, rel=1e-12)
    assert erlingsson2019.shuffling.eps0(10**5, eps, 1e-6) == pytest.approx(0.4, rel=1e-9)


def test_erlingsson_ends_at_one_half():
    assert erlingsson2019.shuffling.eps0(10**9, 0.1, 1e-6) == math.nextafter(0.5, 0)
    assert erlingsson2019.shuffling.delta(0.4, 1000, 0.001) == 1.0
