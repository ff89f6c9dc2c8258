r"""Small laws, literally: shuffled messages, mixtures, divergences and moments, outcome by outcome in fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.claims import steps
from shuffle_sym.papers.derivation import Derivation, Step
from shuffle_sym.papers.tools import fraction, positive_mean, sum_of_copies
from shuffle_sym.truth.exact.reduction_pair import hockey_stick

Law = Mapping[Any, Fraction]
Histogram = tuple[int, ...]


def shuffled(laws: Sequence[Sequence[Fraction]]) -> dict[Histogram, Fraction]:
    """The histogram of independent messages, one from each law."""
    histograms: dict[Histogram, Fraction] = {(0,) * len(laws[0]): Fraction(1)}
    for law in laws:
        following: dict[Histogram, Fraction] = {}
        for h, mass in histograms.items():
            for y, p in enumerate(law):
                if p:
                    more = (*h[:y], h[y] + 1, *h[y + 1 :])
                    following[more] = following.get(more, Fraction(0)) + mass * p
        histograms = following
    return histograms


def rows(R: Any) -> list[list[Fraction]]:
    """The law of every input of a rational randomizer."""
    matrix = R.matrix()
    return [[fraction(matrix[x, y]) for y in range(matrix.cols)] for x in range(matrix.rows)]


def moment(P: Law, Q: Law, order: int) -> Fraction:
    """E_Q[(P/Q)^λ], outcome by outcome, for an integer λ."""
    return sum((p**order / Q[h] ** (order - 1) for h, p in P.items() if p), Fraction(0))


def mixed(parts: Iterable[tuple[Fraction, Law]]) -> dict[Any, Fraction]:
    """The mixture of laws with these weights."""
    mixture: dict[Any, Fraction] = {}
    for weight, law in parts:
        for outcome, mass in law.items():
            mixture[outcome] = mixture.get(outcome, Fraction(0)) + weight * mass
    return mixture


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


def shuffled_datasets(
    R: Randomizer, X0: Sequence[int], X1: Sequence[int]
) -> dict[tuple[int, ...], tuple[Fraction, Fraction]]:
    """Sorted messages → their probabilities under two datasets, for a rational randomizer.

    >>> from shuffle_sym.randomizers import from_matrix
    >>> shuffled_datasets(from_matrix([[0.75, 0.25], [0.25, 0.75]]), (0,), (1,))[(0,)]
    (Fraction(3, 4), Fraction(1, 4))
    """
    rows = [[Fraction(int(e.p), int(e.q)) for e in row] for row in R.matrix().tolist()]
    pair: dict[tuple[int, ...], tuple[Fraction, Fraction]] = {}
    for y in product(range(len(rows[0])), repeat=len(X0)):
        key = tuple(sorted(y))
        masses = [math.prod((rows[x][m] for x, m in zip(X, y, strict=True)), start=Fraction(1)) for X in (X0, X1)]
        p, q = pair.get(key, (Fraction(0), Fraction(0)))
        pair[key] = (p + masses[0], q + masses[1])
    return pair


def divergence_of_laws(P: Mapping[Any, Fraction], Q: Mapping[Any, Fraction], alpha: Fraction) -> Fraction:
    """Σ [P − αQ]_+ over the outcomes of two laws.

    >>> divergence_of_laws({"a": Fraction(3, 4), "b": Fraction(1, 4)}, {"b": Fraction(1)}, Fraction(2))
    Fraction(3, 4)
    """
    return hockey_stick(((p, Q.get(v, Fraction(0))) for v, p in P.items()), alpha)
