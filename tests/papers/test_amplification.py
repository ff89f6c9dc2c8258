"""The search that turns δ(ε) around: what it returns holds, and is within 1e-10 of where it stops to hold."""

from __future__ import annotations

import math

import pytest

from shuffle_sym.papers.amplification import excess, last_that_holds

PLACES = [1e-7, 0.013, 1.0, 77.7]
SHAPES = {
    "a step": lambda x: 0.1 if x >= 1 else 0.9,
    "exponential": lambda x: math.exp(-x),
    "normal after a plateau": lambda x: math.exp(-x * x) if x > 0.5 else 1.0,
    "zero from there on": lambda x: 0.0 if x >= 1 else 0.5,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_found_from_above_holds_and_is_close(shape, place):
    target = math.exp(-1)

    def missing(x: float) -> float:
        return excess(SHAPES[shape](x / place), target)

    found = last_that_holds(missing, 300.0, 0.0)
    assert missing(found) <= 0
    assert place * (1 - 1e-15) <= found <= place * (1 + 1e-10)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_found_from_below_holds_and_is_close(place):
    found = last_that_holds(lambda x: excess(x, place), place / 5, 1000.0)
    assert place * (1 - 1e-10) <= found <= place


def test_an_excess_has_the_sign_of_the_comparison():
    one = 1.0
    assert excess(one, one) <= 0
    assert excess(math.nextafter(one, 2), one) > 0
    assert excess(math.nextafter(one, 0), one) <= 0
    assert excess(0.0, 5e-324) < 0
