"""The quick form of the cross-check; ``make cross-check`` runs the long one."""

from __future__ import annotations

import pytest

from checks import cross_check

pytestmark = pytest.mark.exact


@pytest.mark.parametrize("case", cross_check.quick(), ids=lambda case: f"{case.name}, n={case.n}")
def test_symbols_exact_values_brute_force_and_floats_agree(case):
    outcomes = list(cross_check.check(case))
    assert {outcome.law for outcome in outcomes} == set(cross_check.LAWS)
    assert [outcome for outcome in outcomes if not outcome.holds] == []


@pytest.mark.parametrize("seed", [101, 102])
def test_a_sample_of_the_random_comparisons_holds(seed):
    found = cross_check.random_comparisons(150, seed)
    assert found["holds"] >= 150
    assert found["VIOLATION"] == 0
