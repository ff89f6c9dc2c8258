"""Verdicts follow from checks, and checks from what they are given."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.papers.claims import (
    Check,
    Claims,
    Evidence,
    all_of,
    cases,
    certified,
    confirmed,
    counterexample,
    fact,
    first,
    identity,
    on_grid,
    proved,
    refuted,
    seen,
)
from shuffle_sym.papers.enclosures import below, enclosed, exp
from shuffle_sym.papers.laws import moment, positive_part, shuffled
from shuffle_sym.papers.tools import exact, law_of_g, positive_mean, sum_of_copies

F = Fraction
GOOD, BAD = Check(True, "proved", "yes"), Check(False, "counterexample", "no")


def test_a_test_is_run_when_it_is_asked_for():
    asked = []
    test = on_grid(lambda case: asked.append(case) is None, [1, 2], finding="asked")
    assert asked == []
    assert (test().finding, asked) == ("asked (2 cases)", [1, 2])
    assert test() == test()  # and again
    assert GOOD() is GOOD


def test_axes_are_multiplied_and_tuples_are_several_arguments():
    assert list(cases((1, 2), [("a", "b")])) == [(1, "a", "b"), (2, "a", "b")]
    assert list(cases(lambda: "xy", (1, 2), only=lambda letter, i: i > 1)) == [("x", 2), ("y", 2)]
    assert list(cases()) == [()]


def test_a_grid_without_cases_shows_nothing():
    with pytest.raises(ss.VerificationError, match="without cases"):
        on_grid(lambda case: True, [], finding="nothing")()


def test_a_grid_names_the_first_case_that_fails():
    found = on_grid(lambda case: case < 2, [1, 2, 3], finding="small")()
    assert (found.passes, found.kind) == (False, "counterexample")
    assert "2" in found.finding
    assert on_grid(lambda case: case < 2, [1, 2], finding="small", kind="certified floats")().kind == "certified floats"


def test_a_check_of_an_unknown_kind_is_refused():
    with pytest.raises(ss.VerificationError, match="kind must be one of"):
        Check(True, "looked at", "well")


def test_several_checks_are_known_as_the_weakest_is():
    grid = on_grid(bool, [1], finding="one")
    assert all_of(GOOD, grid)() == Check(True, "exact grid", "yes; one (1 cases)")
    assert confirmed(GOOD, grid)() == Check(True, "proved", "yes; one (1 cases)")
    assert confirmed(GOOD, BAD)().passes is False
    assert all_of(GOOD, BAD, grid)() is BAD


def test_a_fact_that_is_none_raises():
    assert seen(True, "so") == "so"
    for lie in (lambda: seen(False, "so"), lambda: fact(BAD)):
        with pytest.raises(ss.VerificationError, match="not a fact"):
            lie()


def test_a_search_without_a_find_raises():
    assert first([1, 2, 3], only=lambda x: x > 1) == (2,)
    with pytest.raises(ss.VerificationError, match="no case of the search fails"):
        first([1, 2, 3], only=lambda x: x > 3)


def test_an_identity_is_proved_or_not():
    x = sp.Symbol("x")
    assert identity((x + 1) ** 2, x**2 + 2 * x + 1, "square")().kind == "proved"
    assert identity((x + 1) ** 2, x**2 + 1, "square")().passes is False


def test_a_refutation_that_is_wrong_passes_for_the_claim():
    assert refuted(False, "nothing wrong").passes is True


@pytest.mark.exact
def test_sums_of_copies_give_the_divergence():
    D = ss.decomposition.blanket(ss.KRR(k=3, eps0=sp.log(2)))
    for n in (1, 2, 4):
        for alpha in (F(1), F(5, 4), F(7, 4)):
            assert positive_mean(sum_of_copies(law_of_g(D, alpha), n)) / n == exact(D, n, alpha)


def test_fractions_are_compared_with_exponentials_on_both_sides():
    # e^(−1/2) = 0.606530659712633…
    assert below(F(6065306597126, 10**13), exp(F(-1, 2)))
    assert not below(F(6065306597127, 10**13), exp(F(-1, 2)))


def test_an_enclosure_that_cannot_tell_raises():
    third = enclosed(Fraction(1, 3))
    with pytest.raises(VerificationError, match="do not tell"):
        below(third, third * 3 / 3)
    assert below(third, Fraction(34, 100))
    assert not below(Fraction(34, 100), third)


def test_checks_together_pass_if_all_do():
    good, bad, unknown = (Check(p, k, k) for p, k in ((True, "proved"), (False, "counterexample"), (None, "searched")))
    assert confirmed(good, good)().passes is True
    assert (confirmed(good, bad)().passes, confirmed(good, bad)().kind) == (False, "counterexample")
    assert confirmed(good, unknown)().passes is None
    assert confirmed(good, bad)().finding == "proved; counterexample"


def test_a_search_that_finds_nothing_decides_nothing():
    nothing = counterexample(lambda n: (n, 5), [1, 2, 3], told=lambda *case: str(case))()
    assert (nothing.passes, nothing.kind, nothing.finding) == (None, "searched", "none of 3 cases fails")
    assert counterexample(lambda n: (n, 1), [1, 2, 3], told=lambda *case: str(case))().finding == "(2, 2, 1)"
    assert counterexample(lambda n: (n, 2), [2, 1], says="=", told=lambda *case: str(case))().finding == "(1, 1, 2)"


def test_balls_are_told_apart_in_a_search():
    assert counterexample(lambda: (exp(1), F(2718, 1000)), told=lambda *sides: "e")().passes is False
    assert counterexample(lambda: (F(2718, 1000), exp(1)), told=lambda *sides: "e")().passes is None
    with pytest.raises(VerificationError, match="do not tell"):
        counterexample(lambda: (exp(1), exp(1)), told=lambda *sides: "e")()


def test_lines_that_were_only_checked_are_no_proof():
    line = type("Line", (), {"status": "checked"})()
    assert proved(lambda: [line], finding="a line")() == Check(True, "exact grid", "a line (1 steps)")
    assert proved([object()], lambda: [], finding="a line")() == Check(True, "proved", "a line (1 steps)")


@pytest.mark.exact
def test_small_laws_are_those_of_their_definitions():
    laws = [[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 5), 0, Fraction(4, 5)]] * 2
    literal: dict = {}
    for messages in itertools.product(range(3), repeat=4):
        h = tuple(messages.count(y) for y in range(3))
        literal[h] = literal.get(h, 0) + math.prod(law[y] for law, y in zip(laws, messages, strict=True))
    assert shuffled(laws) == {h: p for h, p in literal.items() if p}
    law = [(Fraction(2), Fraction(1, 3)), (Fraction(-1), Fraction(2, 3))]
    assert positive_part(law, 2) == Fraction(1, 9) * 4 + Fraction(4, 9) * 1
    assert moment({0: Fraction(1)}, {0: Fraction(1, 2), 1: Fraction(1, 2)}, 3) == 4


@pytest.mark.parametrize("repair", [BAD, Check(None, "searched", "?")])
def test_a_repair_that_does_not_hold_raises(repair):
    for evidence in (Evidence(BAD, corrected=repair, misread="perhaps"), Evidence(BAD, condition=repair)):
        with pytest.raises(ss.VerificationError, match="does not hold either"):
            _ = evidence.verdict


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Evidence(GOOD), "holds"),
        (Evidence(BAD), "false"),
        (Evidence(BAD, corrected=GOOD, well_read="it stands there twice"), "misprint"),
        (Evidence(BAD, corrected=GOOD, misread="it is one letter"), "misprint or misread"),
        (Evidence(BAD, not_in_print="the other program"), "not reproduced"),
        (Evidence(GOOD, not_in_print="the other program"), "holds"),
        (Evidence(BAD, condition=GOOD), "holds if"),
        (Evidence(Check(None, "searched", "?")), "open"),
    ],
)
def test_the_verdict_follows_from_the_checks(evidence, verdict):
    assert evidence.verdict == verdict


def test_a_correction_says_how_the_page_was_read_and_nothing_else_does():
    for given in ({"corrected": GOOD}, {"misread": "perhaps"}, {"corrected": GOOD, "misread": "a", "well_read": "b"}):
        with pytest.raises(ss.VerificationError, match="well_read or how it may be misread"):
            Evidence(BAD, **given)


def test_an_id_cannot_be_claimed_twice():
    claim = Claims(__name__)
    claim("X-1", "1", "one", GOOD)
    assert [known.id for known in claim] == ["X-1"]
    with pytest.raises(ValueError, match="'X-1' twice"):
        claim("X-1", "1", "one again", GOOD)


def test_a_claim_is_examined_with_fifty_digits():
    claim = Claims(__name__)

    @claim.by("X-2", "2", "the digits")
    def digits():
        lower, upper = balls.ends(enclosed(F(1, 3)))
        return certified(upper - lower < F(1, 10**50), "a third")

    assert claim[0].examine() == Evidence(Check(True, "certified floats", "a third"))
    assert digits().passes is False  # outside as before


def test_a_claim_has_its_repair_as_data_or_from_the_function_that_examines_it():
    claim = Claims(__name__)
    claim("X-3", "3", "data", BAD, GOOD, condition=confirmed(GOOD, GOOD), slow=True)
    claim.by("X-4", "4", "a function", corrected=GOOD, misread="perhaps")(lambda: BAD)
    claim.by("X-5", "5", "all of it")(lambda: Evidence(BAD, condition=GOOD))
    assert [each.examine().verdict for each in claim] == ["holds if", "misprint or misread", "holds if"]
    assert [each.slow for each in claim] == [True, False, False]
    assert claim[0].examine().printed.finding == "no; yes"
