r"""The bounds: for all datasets, for one dataset with chairs of any weight, for every ε0-LDP randomizer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.gparv import LawOfG
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth.dropout.chairs import Counts, largest_means, refuse_too_many, sums
from shuffle_sym.truth.dropout.user_laws import (
    Matrix,
    extreme_laws,
    fraction,
    laws,
    matrix_of,
    pruned,
    scaled,
    stop_loss,
)


def _averages(gamma: Fraction, candidates: Sequence[LawOfG], n: int) -> list[Fraction]:
    r""":math:`\sum_{j=1}^{n'-1} \gamma (1-\gamma)^{j-1} \Phi^*_{n'-j} + (1-\gamma)^{n'-1} D_1` for n' = 1 … n users.

    With one user more, the first one who is asked drops out or goes away: a recursion. D_1 is the mean of one chair.
    """
    averages = [max(stop_loss(law, Fraction(0)) for law in candidates)]
    for mean in largest_means(candidates, n - 1):
        averages.append(gamma * mean + (1 - gamma) * averages[-1])
    return averages


def bounds(R: Randomizer, x0: int, x1: int, n: Any, alpha: Any) -> list[sp.Rational]:
    r"""`bound` for 1, 2, …, n users, from one list of multisets.

    >>> import shuffle_sym as ss
    >>> bounds(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 4, 2)
    [1/4, 1/4, 7/32, 23/128]
    """
    n, candidates = arguments.users(n), pruned(laws(R, x0, x1, alpha))
    gamma = sum((min(column) for column in zip(*matrix_of(R), strict=True)), Fraction(0))
    return [sp.Rational(value) for value in _averages(gamma, candidates, n)]


def bound(R: Randomizer, x0: int, x1: int, n: Any, alpha: Any) -> sp.Rational:
    r"""Theorem 1 over all datasets: D_α is at most this if the first of n users has x0 or x1, whatever others have.

    Args:
        R: a randomizer with rational probabilities.
        x0, x1: the two inputs of the first user, in this order.
        n: users, the first one included.
        alpha: any rational number > 0.

    >>> import shuffle_sym as ss
    >>> R = ss.BinaryRR(eps0=sp.log(3))
    >>> bound(R, 0, 1, 4, 2), ss.ground_truth.worst_pair(R, 4, 2).delta
    (23/128, 27/256)
    """
    return bounds(R, x0, x1, n, alpha)[-1]


def worst_bound(R: Randomizer, n: Any, alpha: Any) -> sp.Rational:
    r"""The largest `bound` of all ordered pairs of inputs, up to symmetry: no neighbouring datasets are above it.

    >>> import shuffle_sym as ss
    >>> worst_bound(ss.from_matrix([[0.5, 0.5], [0.25, 0.75]]), 3, 1)
    13/64
    """
    return max(bound(R, x0, x1, n, alpha) for x0, x1 in R.pairs())


def dataset_bound(
    R: Randomizer,
    x0: int,
    x1: int,
    others: Sequence[int],
    alpha: Any,
    *,
    weights: Mapping[int, Any] | None = None,
    common: Mapping[int, Sequence[Any]] | None = None,
) -> sp.Rational:
    r"""An upper bound on D_α of (x0, others) and (x1, others): Theorem G, and Theorem 1 if nothing else is given.

    A user with input x has a chair of weight ω_x and drops out with a message y with probability
    :math:`c_x(y) \le R(x)(y)`, :math:`\gamma_x = \sum_y c_x(y)`. Users are asked in the order of successive draws by
    weight; S are the chairs that are left when somebody drops out:

    .. math:: D_\alpha \le \sum_S \Pr[\text{S is left}]\; \frac1{\omega_S} \sum_y \Bigl( \mathbb E \Bigl[ \sum_{k \in S}
              \omega_k c_k(y) G_k \Bigr]_+ + \sum_{k \in S} \omega_k c_k(y) s_k \Bigr) + \prod_i (1 - \gamma_i)\, D_1 .

    Args:
        R, x0, x1, alpha: as in `bound`.
        others: the inputs of the other users.
        weights: {input: ω > 0} for every input among the others; 1 if left out.
        common: {input: row of c_x(y), one for each message}; the minimum over the others' inputs if left out.

    >>> import shuffle_sym as ss
    >>> R = ss.BinaryRR(eps0=sp.log(3))
    >>> dataset_bound(R, 0, 1, (0, 0), 2), ss.ground_truth.delta(R, (0, 0, 0), (1, 0, 0), 2)
    (3/16, 9/64)
    >>> dataset_bound(R, 0, 1, (0, 1, 1), 2), dataset_bound(R, 0, 1, (0, 1, 1), 2, weights={0: 2, 1: 1})
    (41/384, 19/192)
    """
    matrix = matrix_of(R)
    dataset = [R.input(x, f"others[{i}]") for i, x in enumerate(others)]
    inputs = sorted(set(dataset))
    full: Counts = tuple(dataset.count(x) for x in inputs)
    weight = _weights(inputs, weights)
    rows = _common(matrix, inputs, common)
    by_input = laws(R, x0, x1, alpha)
    if inputs:
        refuse_too_many(len(dataset) + 1, [by_input[x] for x in inputs])
    values: dict[Counts, Fraction] = {}
    for factors in _merged([[weight[i] * row[y] for i, row in enumerate(rows)] for y in range(len(matrix[0]))]):
        chairs = [scaled(by_input[x], factor) for x, factor in zip(inputs, factors, strict=True)]
        for counts, total in sums(chairs, full, len(dataset)):
            values[counts] = values.get(counts, Fraction(0)) + total
    stays = [1 - sum(row, Fraction(0)) for row in rows]
    total = Fraction(0)
    for counts, reached in _left(full, weight, stays):
        if any(counts):
            total += reached * values.get(counts, Fraction(0)) / sum(c * w for c, w in zip(counts, weight, strict=True))
        else:
            total += reached * stop_loss(by_input[x0], Fraction(0))
    return sp.Rational(total)


def _left(full: Counts, weight: Sequence[Fraction], stays: Sequence[Fraction]) -> Iterator[tuple[Counts, Fraction]]:
    """Every multiset of chairs that can be left, and the probability that all users asked before stayed."""
    level = {full: Fraction(1)}
    while level:
        yield from level.items()
        following: dict[Counts, Fraction] = {}
        for counts, reached in level.items():
            total = sum(c * w for c, w in zip(counts, weight, strict=True))
            for i, count in enumerate(counts):
                if count:
                    fewer = (*counts[:i], count - 1, *counts[i + 1 :])
                    step = reached * count * weight[i] / total * stays[i]
                    following[fewer] = following.get(fewer, Fraction(0)) + step
        level = following


def _merged(vectors: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, ...]]:
    """Vectors that are multiples of one another added up, zeros left out: E[ · ]_+ is homogeneous."""
    totals: dict[tuple[Fraction, ...], Fraction] = {}
    for vector in vectors:
        scale = next((e for e in vector if e), None)
        if scale is not None:
            direction = tuple(e / scale for e in vector)
            totals[direction] = totals.get(direction, Fraction(0)) + scale
    return [tuple(e * scale for e in direction) for direction, scale in totals.items()]


def _weights(inputs: Sequence[int], weights: Mapping[int, Any] | None) -> list[Fraction]:
    if weights is None:
        return [Fraction(1)] * len(inputs)
    for x in inputs:
        if x not in weights:
            raise ValueError(
                f"weights must have an entry for every input of the others, {list(inputs)}; {x} is missing"
            )
    exact = [fraction(weights[x], f"weights[{x}]") for x in inputs]
    for x, weight in zip(inputs, exact, strict=True):
        if weight <= 0:
            raise ValueError(f"weights[{x}] must be a number > 0, got {weights[x]}")
    return exact


def _common(matrix: Matrix, inputs: Sequence[int], common: Mapping[int, Sequence[Any]] | None) -> Matrix:
    if common is None:
        return (tuple(min(matrix[x][y] for x in inputs) for y in range(len(matrix[0]))),) * len(inputs)
    rows = []
    for x in inputs:
        if x not in common or len(common[x]) != len(matrix[x]):
            raise ValueError(
                f"common must have a row of {len(matrix[x])} numbers for every input of the others, x = {x}"
            )
        row = [fraction(e, f"common[{x}][{y}]") for y, e in enumerate(common[x])]
        for y, (c, most) in enumerate(zip(row, matrix[x], strict=True)):
            if not 0 <= c <= most:
                raise ValueError(f"common[{x}][{y}] must be in 0 … Pr[R({x}) = {y}] = {most}, got {c}")
        rows.append(tuple(row))
    return tuple(rows)


def any_randomizer_bound(eps0: Any, n: Any, alpha: Any) -> sp.Rational:
    r"""Theorem 5: no ε0-LDP randomizer that all n users share has neighbouring datasets above this, in either order.

    The sum of Theorem 1 with γ = 1/t, the `extreme_laws` and :math:`D_1 = \max(1 - \alpha, (t - \alpha)_+/(t + 1))`.

    Args:
        eps0: the local privacy level, with a rational t = e^ε0 such as sp.log(3).
        n: number of users, including the one whose input differs.
        alpha: any rational number > 0.

    >>> any_randomizer_bound(sp.log(3), 3, 2), any_randomizer_bound(sp.log(3), 8, 2)
    (11/48, 1070035/11943936)
    """
    n, level, ratio = arguments.users(n), arguments.local_epsilon(eps0), fraction(arguments.ratio(alpha), "alpha")
    if not sp.exp(level).is_Rational:
        raise ValueError(f"eps0 must have a rational e^eps0, as sp.log(3) has, got {eps0}")
    t = fraction(sp.exp(level), "e^eps0")
    return sp.Rational(_averages(1 / t, pruned(extreme_laws(t, ratio)), n)[-1])
