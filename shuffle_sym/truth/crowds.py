r"""Brute force for users with different randomizers, and for batches drawn from more users: all datasets, in fractions.

A shuffled dataset is the polynomial :math:`\prod_i \sum_y R_i(x_i)(y)\, z_y`; a batch of m of n users is the mean of
the polynomials of all sets of m of them. Nothing here knows a bound: every pair of neighbouring datasets is multiplied
out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth.dropout import Matrix, fraction, matrix_of
from shuffle_sym.truth.histograms import Law, histogram_count, hockey_stick, one_more

MOST_WORK = 2_000_000  # probabilities of histograms, in about ten seconds: with more a question takes minutes
_ALPHA = "alpha = e^eps", ", as with eps = sp.log(2)"  # its name, and what makes it one


def worst_of_groups(parts: Sequence[tuple[Randomizer, int]], group: int, alpha: Any) -> sp.Rational:
    r"""The largest D_α over all neighbouring datasets that differ in one user of ``group``: users have the randomizers
    of their groups, and message y of one group is message y of all others.

    Args:
        parts: (randomizer, number of users) of each group, with rational probabilities.
        group: the number of the group of the differing user.
        alpha: any rational number > 0.

    >>> import shuffle_sym as ss
    >>> worst_of_groups([(ss.BinaryRR(eps0=sp.log(3)), 1), (ss.BinaryRR(eps0=sp.log(2)), 1)], 0, 1)
    1/3
    """
    ratio = fraction(arguments.ratio(alpha), *_ALPHA)
    matrices = [matrix_of(R) for R, _ in parts]
    counts = [count - (i == group) for i, (_, count) in enumerate(parts)]
    refuse_too_much(matrices, counts, group)
    largest = Fraction(0)
    for others in _shuffled(matrices, counts):
        laws = [one_more(others, row) for row in matrices[group]]
        largest = max(largest, *(divergence(P, Q, ratio) for P, Q in permutations(laws, 2)))
    return sp.Rational(largest)


def worst_of_batches(R: Randomizer, m: int, n: int, alpha: Any) -> sp.Rational:
    r"""The largest D_α over all neighbouring datasets of n users, of whom m drawn without replacement are shuffled.

    >>> import shuffle_sym as ss
    >>> worst_of_batches(ss.BinaryRR(eps0=sp.log(3)), 1, 2, 1)  # half of 1/2
    1/4
    """
    ratio, matrix, q = fraction(arguments.ratio(alpha), *_ALPHA), matrix_of(R), Fraction(m, n)
    refuse_too_much([matrix], [n], 0)
    largest = Fraction(0)
    for inputs in combinations_with_replacement(range(len(matrix)), n - 1):
        batches = _batches([matrix[x] for x in inputs], len(matrix[0]), m)
        with_one, without = batches[m - 1], batches[m]
        laws = []
        for row in matrix:
            law = {h: (1 - q) * p for h, p in without.items()}
            for h, p in one_more(with_one, row).items():
                law[h] = law.get(h, Fraction(0)) + q * p
            laws.append(law)
        largest = max(largest, *(divergence(P, Q, ratio) for P, Q in permutations(laws, 2)))
    return sp.Rational(largest)


def divergence(P: Law, Q: Law, alpha: Fraction) -> Fraction:
    """Σ [P − αQ]_+ over the histograms."""
    return hockey_stick(((p, Q.get(h, Fraction(0))) for h, p in P.items()), alpha)


def refuse_too_much(matrices: Sequence[Matrix], counts: Sequence[int], group: int) -> None:
    """Raise if there are too many datasets and histograms to be listed."""
    datasets = math.prod(histogram_count(c, len(matrix)) for c, matrix in zip(counts, matrices, strict=True))
    inputs, messages = len(matrices[group]), len(matrices[0][0])
    work = datasets * inputs**2 * histogram_count(sum(counts) + 1, messages)
    if work > MOST_WORK:
        raise ValueError(
            f"all neighbouring datasets of {sum(counts) + 1} users would be {work} probabilities, more than "
            f"{MOST_WORK}: exact values are for fewer users"
        )


def _shuffled(matrices: Sequence[Matrix], counts: Sequence[int]) -> Iterator[Law]:
    """The laws of the histograms of all datasets with so many users of each kind."""
    laws: list[Law] = [{(0,) * len(matrices[0][0]): Fraction(1)}]
    for matrix, count in zip(matrices, counts, strict=True):
        waiting = [(law, 0) for law in laws]
        for _ in range(count):
            waiting = [(one_more(law, matrix[x]), x) for law, first in waiting for x in range(first, len(matrix))]
        laws = [law for law, _ in waiting]
    yield from laws


def _batches(rows: Sequence[Sequence[Fraction]], messages: int, most: int) -> list[Law]:
    """The mean law of the histogram of all sets of 0 … ``most`` users: coefficients of Π(1 + s f_i), normalised."""
    laws: list[Law] = [{(0,) * messages: Fraction(1)}, *({} for _ in range(most))]
    for row in rows:
        longer = [one_more(law, row) for law in laws[:most]]
        for law, more in zip(laws[1:], longer, strict=True):
            for h, p in more.items():
                law[h] = law.get(h, Fraction(0)) + p
    return [{h: p / math.comb(len(rows), i) for h, p in law.items()} for i, law in enumerate(laws)]
