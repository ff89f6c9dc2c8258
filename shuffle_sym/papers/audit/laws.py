r"""Small laws, literally: shuffled messages, mixtures, divergences and moments, outcome by outcome in fractions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from shuffle_sym.papers.audit.claims import steps
from shuffle_sym.papers.audit.tools import fraction, positive_mean, sum_of_copies
from shuffle_sym.papers.derivations.engine import Derivation, Step

Law = Mapping[Any, Fraction]
Histogram = tuple[int, ...]


def shuffled(laws: Sequence[Sequence[Fraction]]) -> dict[Histogram, Fraction]:
    """The histogram of independent messages, one from each law."""
    cells = len(laws[0])
    found: dict[Histogram, Fraction] = {(0,) * cells: Fraction(1)}
    for law in laws:
        following: dict[Histogram, Fraction] = {}
        for h, mass in found.items():
            for y, p in enumerate(law):
                if p:
                    more = (*h[:y], h[y] + 1, *h[y + 1 :])
                    following[more] = following.get(more, Fraction(0)) + mass * p
        found = following
    return found


def rows(R: Any) -> list[list[Fraction]]:
    """The law of every input of a rational randomizer."""
    matrix = R.matrix()
    return [[fraction(matrix[x, y]) for y in range(matrix.cols)] for x in range(matrix.rows)]


def moment(P: Law, Q: Law, order: int) -> Fraction:
    """E_Q[(P/Q)^λ], outcome by outcome, for an integer λ."""
    return sum((p**order / Q[h] ** (order - 1) for h, p in P.items() if p), Fraction(0))


def mixed(parts: Iterable[tuple[Fraction, Law]]) -> dict[Any, Fraction]:
    """The mixture of laws with these weights."""
    found: dict[Any, Fraction] = {}
    for weight, law in parts:
        for outcome, mass in law.items():
            found[outcome] = found.get(outcome, Fraction(0)) + weight * mass
    return found


def positive_part(law: Iterable[tuple[Fraction, Fraction]], count: int) -> Fraction:
    """E[X_1 + … + X_count]_+ for independent copies of a variable with these (value, probability)."""
    return positive_mean(sum_of_copies(mixed((p, {value: Fraction(1)}) for value, p in law), count))


def convex_positive_part() -> Derivation:
    """[Σ w_i x_i]_+ ≤ Σ w_i [x_i]_+, with each x as the difference of its positive and negative parts."""
    p, q, v, w, s = sp.symbols("p q v w s", nonnegative=True)
    return steps(
        "The positive part is convex",
        "used for every f-divergence of hockey-stick type",
        Step(p * (v - w) + q * (s - 0), p * v + q * s, "where the mean is positive: leave the negative part out", "<="),
        Step(sp.Integer(0), p * v + q * s, "where it is not", "<="),
    )
