"""The closed form of Feldman et al. 2020."""

from __future__ import annotations

import math

import pytest
from conftest import shuffled_laws

from shuffle_sym.model import decomposition
from shuffle_sym.papers import feldman2020


@pytest.mark.parametrize(("eps0", "n"), [(1, 1000), (4, 10**5), (7, 10**6)])
@pytest.mark.parametrize("delta", [1e-4, 1e-6, 1e-9])
def test_the_clones_theorem_is_above_the_clones_themselves(eps0, n, delta):
    eps = feldman2020.thm31(eps0, n, delta)
    assert shuffled_laws(decomposition.clones(eps0), n).epsilon(delta, rtol=1e-2).upper <= eps
    if eps > eps0:  # nothing is gained by shuffling: ε is ε0, rounded up
        assert feldman2020.thm31.delta(eps0, n, eps) == 0.0
        return
    # The form that is solved for δ gives the δ back.
    assert math.isclose(feldman2020.thm31.delta(eps0, n, eps), delta, rel_tol=1e-9)
    assert feldman2020.thm31.delta(eps0, n, eps / 2) > delta


def test_shuffling_never_costs_more_than_the_local_loss():
    # 8√(log(4/δ)t/n) is ten times ε0 here, and no shuffled ε0-LDP message loses more than ε0.
    assert feldman2020.thm31(0.01, 10**5, 1e-6) == pytest.approx(0.01, rel=1e-15)
    assert feldman2020.thm31.delta(0.01, 10**5, 0.01) == 0.0


def test_outside_of_the_theorem_nothing_is_said():
    assert feldman2020.thm31.delta(4, 100, 0.5) == 1.0  # e^ε − 1 <= 8/(pn)
    for ask in (lambda: feldman2020.thm31(4, 10**4, 1e-6), lambda: feldman2020.thm31.delta(4, 10**4, 2)):
        with pytest.raises(ValueError, match="eps0 must be at most"):
            ask()


def test_the_largest_eps0_is_where_the_condition_or_the_bound_ends():
    # ε is generous: the condition ε0 <= log(n/(16 log(2/δ))) decides.
    found = feldman2020.thm31.eps0(10**5, 3, 1e-6)
    assert found == pytest.approx(math.log(10**5 / (16 * math.log(2e6))), rel=1e-6)
    tight = feldman2020.thm31.eps0(10**5, 0.3, 1e-6)
    assert feldman2020.thm31(tight, 10**5, 1e-6) == pytest.approx(0.3, rel=1e-8)
