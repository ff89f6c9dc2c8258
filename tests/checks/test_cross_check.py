"""The quick form of the cross-check; ``make cross-check`` runs the long one."""

from __future__ import annotations

import pytest
import sympy as sp

import shuffle_sym as ss
from checks import cross_check, dropout_grid, mechanism_grid
from checks.reports import Comparison, Report
from shuffle_sym.accounting import bounds

BLH = dropout_grid.Case(ss.BLH(d=3, eps0=sp.log(3)), (sp.Rational(4, 5), sp.Rational(21, 20)), 4)
ZEROS = dropout_grid.Case(
    ss.from_matrix([["1/2", "1/2", 0], [0, "1/3", "2/3"], ["1/4", "1/4", "1/2"]]), (sp.Integer(1), sp.Integer(2)), 4
)


@pytest.mark.exact
@pytest.mark.parametrize("case", cross_check.quick(), ids=lambda case: f"{case.name}, n={case.n}")
def test_symbols_exact_values_brute_force_and_floats_agree(case):
    report = Report().add(cross_check.check(case))
    assert set(report.counts) == set(cross_check.LAWS)
    assert report.violations == []


@pytest.mark.parametrize(
    ("check", "cases"),
    [
        (mechanism_grid.maximum_at, mechanism_grid.matrices(4)[15:]),
        (mechanism_grid.maximum_at, mechanism_grid.many_users()[1:6:4]),
        (mechanism_grid.by_itself, [BLH, ZEROS]),
        (mechanism_grid.two_messages, mechanism_grid.with_two_messages()[3::20]),
        (mechanism_grid.any_randomizer, mechanism_grid.family(2)),
    ],
    ids=["maximum", "many users", "drop-out by itself", "two messages", "any randomizer"],
)
def test_a_sample_of_the_checks_of_the_mechanism_holds(check, cases):
    report = Report()
    for case in cases:
        report.add(check(case))
    assert report.counts.total() >= 10
    assert report.violations == []


def test_the_sample_of_many_users_has_bounds_by_drop_out():
    report = Report().add(mechanism_grid.maximum_at(mechanism_grid.many_users()[5]))
    assert report.counts["the maximum is in the interval, by drop-out"] >= 1


def test_a_bound_that_keeps_one_user_too_many_is_noticed(monkeypatch):
    at = bounds.DropOutOfPair.at

    def with_one_more(self, ratios, between):
        self.n += 1
        return at(self, ratios, between)

    case = dropout_grid.Case(ss.from_matrix([["5/13", "8/13"], ["1/5", "4/5"]]), (sp.Rational(6, 5),), 8)
    assert len(Report().add(mechanism_grid.by_itself_at(case)).violations) == 0
    monkeypatch.setattr(bounds.DropOutOfPair, "at", with_one_more)
    failed = Report().add(mechanism_grid.by_itself_at(case)).violations
    assert {comparison.kind.partition(",")[0] for comparison in failed} == {"exact drop-out bound <= in doubles"}


def test_what_fails_is_reported():
    report = Report().add([Comparison("kind", False, "2 + 2 = 5"), Comparison("kind", True, "")])
    assert str(report).splitlines() == [
        "VIOLATION of kind: 2 + 2 = 5",
        "        2  kind",
        "        2  comparisons, 1 violations",
    ]
