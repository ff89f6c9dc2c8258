"""Laws below another one in convex order: against exact stop-loss transforms, and never one that is not below."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
from test_dropout_in_doubles import in_doubles

from shuffle_sym.numeric.convex_order import undominated
from shuffle_sym.numeric.dropout import padded


def is_below(one, other) -> bool:
    """By all stop-loss transforms at all values of both laws, in fractions."""

    def part(law, k):
        return sum(p * max(v - k, 0) for v, p in law.items())

    return all(part(one, k) <= part(other, k) for k in {*one, *other})


def centred(random: Random):
    """A law with three values and mean −1/2."""
    weights = [random.randint(1, 6) for _ in range(3)]
    law = {Fraction(random.randint(-40, 40), 7): Fraction(w, sum(weights)) for w in weights}
    total = sum(law.values())
    law = {v: p / total for v, p in law.items()}
    mean = sum(v * p for v, p in law.items())
    scale = Fraction(random.choice([1, 2, 5]), 5)
    return {scale * (v - mean) - Fraction(1, 2): p for v, p in law.items()}


def test_only_laws_that_are_below_are_left_out():
    random, left_out, below = Random(3), 0, 0
    for _ in range(400):
        laws = [centred(random) for _ in range(3)]
        values, probabilities = padded([in_doubles(law) for law in laws], 2)
        if len(values) < 3:
            continue
        kept = undominated(values, probabilities)
        assert kept
        for i, law in enumerate(laws):
            dominated = any(is_below(law, laws[j]) for j in range(3) if j != i)
            assert dominated or i in kept
            left_out, below = left_out + (i not in kept), below + dominated
    assert left_out > 0.8 * below > 50


def test_ties_stay():
    """Two laws with the same largest value: doubles cannot tell that it is the same."""
    values, probabilities = np.array([[-1.0, 1.0], [-3.0, 1.0]]), np.array([[0.5, 0.5], [0.25, 0.75]])
    assert undominated(values, probabilities) == [0, 1]
