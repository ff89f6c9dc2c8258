r"""The drop-out bound in exact fractions: no pair of neighbouring datasets of n users is above it (ours).

For an input x of another user and w = R(x0) − α R(x1) let :math:`G_x = w(Y)/R(x)(Y)`, Y drawn from R(x), and let
:math:`s_x = \sum_{y : R(x)(y) = 0} [w(y)]_+` be the messages that are impossible under x. For a multiset S of N inputs

.. math:: \Phi(S) = \frac1N \Bigl( \mathbb E \Bigl[ \sum_{x \in S} G_x \Bigr]_+ + \sum_{x \in S} s_x \Bigr), \qquad
          \Phi^*_N = \max_{|S| = N} \Phi(S) .

**Theorem 1.** With :math:`\gamma = \sum_y \min_x R(x)(y)` and :math:`D_1 = D_\alpha(R(x_0) \| R(x_1))`, for every α > 0

.. math:: D_\alpha \;\le\; \sum_{j=1}^{n-1} \gamma (1-\gamma)^{j-1}\, \Phi^*_{n-j} + (1-\gamma)^{n-1} D_1 .

*Proof.* Each other user flips a coin that comes up with probability :math:`\min_x R(x)(y)/R(x_i)(y)` given the message
y. Go through them in random order up to the first i* whose coin comes up, at place j. Reveal who came before with
their messages, and the *message* of i*. It is equally likely under every input, so i* is uniform among the n − j users
who are left. Let user 1 sit down on the empty chair, and reveal who sends what: a law whose divergence is Φ of those
chairs. Nothing revealed depended on user 1 before. If no coin comes up, D_1 is left.

For one dataset Φ* is an average over the chairs that can be left (`dataset_bound`, which is Theorem G and allows chairs
of different weights). Φ({x}) = D_1 for every x and Φ*_N falls with N, so the bound falls with n and is at most D_1.

*Related.* Takagi and Liew (arXiv 2601.19154) leave a band between an upper and a lower shuffle index; for finite
randomizers with full support the limit of this bound is the lower end. Shvets (2602.09029, 2603.21197) has two inputs,
in the limit, and 2-RR as extremal when all others are alike; here others may have any inputs, at every n. Feldman and
Shenfeld (2502.08202) study random allocation: the experiment with the chairs, when all of them have one law.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.gparv import LawOfG
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.ground_truth import merged_columns

__all__ = [
    "any_randomizer_bound",
    "bound",
    "bounds",
    "dataset_bound",
    "extreme_laws",
    "largest_means",
    "laws",
    "pruned",
    "worst_bound",
]

MAX_SUMS = 3_000_000  # values of sums of G that are listed, in a few seconds: with more a question takes minutes

Matrix = tuple[tuple[Fraction, ...], ...]
Counts = tuple[int, ...]  # how many chairs there are of each law


# ----------------------------------------------------------------------------------------- the laws of G


def laws(R: Randomizer, x0: int, x1: int, alpha: Any) -> list[LawOfG]:
    r"""The law of G_x for every input x, in fractions; ``null`` holds s_x. A message that is impossible under x0 and x1
    is the value 0.

    >>> import shuffle_sym as ss, sympy as sp
    >>> [[str(v) for v in law.values] for law in laws(ss.KRR(k=3, eps0=sp.log(3)), 0, 1, 2)]
    [['-5', '-1', '1/3'], ['-5/3', '-1', '1'], ['-5', '-1/3', '1']]
    """
    matrix, ratio = matrix_of(R), fraction(arguments.ratio(alpha), "alpha")
    x0, x1 = R.input(x0, "x0"), R.input(x1, "x1")
    arguments.different(x0, x1)
    gains = [p - ratio * q for p, q in zip(matrix[x0], matrix[x1], strict=True)]
    found = []
    for row in matrix:
        values = [gain / p if p else Fraction(0) for gain, p in zip(gains, row, strict=True)]
        null = [gain for gain, p in zip(gains, row, strict=True) if not p and gain > 0]
        found.append(_tidy(LawOfG(values, row, null)))
    return found


def fraction(value: Any, name: str, hint: str = "") -> Fraction:
    """A rational number of any kind; others are refused, with a ``hint`` where they come from a caller's ε."""
    number = arguments.exact_number(value, name)
    if not number.is_Rational:
        raise ValueError(f"{name} must be a rational number{hint}, because exact values are fractions, got {number}")
    return Fraction(int(number.p), int(number.q))


@cached_by_value
def matrix_of(R: Randomizer) -> Matrix:
    """Pr[R(x) = y] as fractions."""
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be a randomizer with finitely many messages, got {R!r}")
    arguments.numeric_only(R.free_symbols, "the exact drop-out bound")
    if not R.input_count.is_Integer:
        raise ValueError(f"R must have finitely many inputs, got {R!r}")
    rows = R.rows()
    entries = field.fractions([e for row in rows for e in row], R.bindings)
    if entries is None:
        raise ValueError(f"R must have rational probabilities, as with eps0 = sp.log(3), got {R!r}")
    width = len(rows[0])
    return tuple(tuple(entries[x * width : (x + 1) * width]) for x in range(len(rows)))


def _tidy(law: LawOfG) -> LawOfG:
    """Equal values added up, impossible ones left out, in ascending order; one number for the null messages."""
    atoms: dict[Fraction, Fraction] = {}
    for value, probability in zip(law.values, law.probabilities, strict=True):
        if probability:
            atoms[value] = atoms.get(value, Fraction(0)) + probability
    if sum(atoms.values()) != 1:
        raise ValueError(f"the probabilities of G must sum to 1, got {sum(atoms.values())}")
    values, probabilities = zip(*sorted(atoms.items()), strict=True)
    return LawOfG(values, probabilities, (sum(law.null, Fraction(0)),))


def stop_loss(law: LawOfG, k: Fraction) -> Fraction:
    r""":math:`T_x(k) = E[G_x - k]_+ + s_x = \sum_y [w(y) - k R(x)(y)]_+`."""
    terms = (p * (v - k) for v, p in zip(law.values, law.probabilities, strict=True) if v > k)
    return sum(terms, sum(law.null, Fraction(0)))


def _scaled(law: LawOfG, factor: Fraction) -> LawOfG:
    """The law of a multiple of G, null messages included."""
    return _tidy(LawOfG([factor * v for v in law.values], law.probabilities, [factor * s for s in law.null]))


def pruned(candidates: Sequence[LawOfG]) -> list[LawOfG]:
    r"""Laws without those that another one makes superfluous: x may go if :math:`T_x(k) \le T_{x'}(k)` for all k.

    Let S' be the sum over the other chairs of S: N Φ(S) is the mean of :math:`T_x(-S')` plus their s, so x' instead of
    x does not lower it; the means of G need not agree. T is piecewise linear with corners at the values of G and slope
    −1 below the smallest: comparing at the values of both decides.

    >>> import shuffle_sym as ss, sympy as sp
    >>> R = ss.BLH(d=4, eps0=sp.log(3))  # one law for the inputs 2 and 3
    >>> len(laws(R, 0, 1, 1)), len(pruned(laws(R, 0, 1, 1)))
    (4, 3)
    """
    corners = sorted({v for law in candidates for v in law.values})
    # One law for each T: equal ones must not make one another superfluous.
    by_heights = {tuple(stop_loss(law, k) for k in corners): law for law in candidates}

    def superfluous(heights: tuple[Fraction, ...]) -> bool:
        higher = (other for other in by_heights if other != heights)
        return any(all(a <= b for a, b in zip(heights, other, strict=True)) for other in higher)

    return [law for heights, law in by_heights.items() if not superfluous(heights)]


def extreme_laws(t: Fraction, alpha: Fraction) -> list[LawOfG]:
    r"""The laws of G = U − αV that suffice for every ε0-LDP randomizer, t = e^ε0 (Theorem 5).

    U = R(x0)/R(x) and V = R(x1)/R(x) have mean 1 under R(x) and lie in the hexagon 1/t ≤ U, V, U/V ≤ t. Moving each
    point to the corners enlarges G in convex order, and laws on six points with given means are mixtures of laws with
    at most three atoms. The 20 triples of corners give five laws, and pruning leaves those of 2-RR with all others x0,
    of 2-RR with all others x1, and of 3-RR with all others a third input.

    >>> len(extreme_laws(Fraction(3), Fraction(2))), len(pruned(extreme_laws(Fraction(3), Fraction(2))))
    (5, 3)
    """
    one = Fraction(1)
    corners = [(1 / t, 1 / t), (one, 1 / t), (t, one), (t, t), (one, t), (1 / t, one)]
    if t == 1:
        return [LawOfG((1 - alpha,), (one,), (Fraction(0),))]
    extreme = []
    for triple in combinations(corners, 3):
        masses = _barycentric(triple)
        if min(masses) >= 0:
            extreme.append(_tidy(LawOfG([u - alpha * v for u, v in triple], masses, ())))
    return list(dict.fromkeys(extreme))


def _barycentric(triangle: Sequence[tuple[Fraction, Fraction]]) -> list[Fraction]:
    """The weights of three points whose mean is (1, 1)."""
    (a, b), (c, d), (e, f) = ((u - 1, v - 1) for u, v in triangle)
    areas = [c * f - d * e, e * b - f * a, a * d - b * c]
    return [area / sum(areas) for area in areas]


# ----------------------------------------------------------------------------------------- sums over chairs


def sums(chairs: Sequence[LawOfG], limits: Counts, most: int) -> Iterator[tuple[Counts, Fraction]]:
    r"""N Φ(S) for every multiset S of 1 … ``most`` chairs, at most ``limits`` of each law.

    Sums are integers over common denominators; multisets with a common beginning are convolved once.
    """
    unit = math.lcm(*(v.denominator for law in chairs for v in law.values))
    whole = math.lcm(*(p.denominator for law in chairs for p in law.probabilities))
    atoms = [
        [(int(v * unit), int(p * whole)) for v, p in zip(law.values, law.probabilities, strict=True)] for law in chairs
    ]
    nulls = [sum(law.null, Fraction(0)) for law in chairs]

    waiting: list[tuple[Counts, int, dict[int, int], Fraction]] = [((0,) * len(chairs), 0, {0: 1}, Fraction(0))]
    while waiting and most > 0:
        counts, first, law, null = waiting.pop()
        size = sum(counts) + 1
        for i in range(first, len(chairs)):
            if counts[i] == limits[i]:
                continue
            longer: dict[int, int] = {}
            for value, weight in law.items():
                for v, p in atoms[i]:
                    longer[value + v] = longer.get(value + v, 0) + weight * p
            more = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
            positive = sum(value * weight for value, weight in longer.items() if value > 0)
            yield more, Fraction(positive, unit * whole**size) + null + nulls[i]
            if size < most:
                waiting.append((more, i, longer, null + nulls[i]))


def work(n: int, chairs: Sequence[LawOfG]) -> int:
    """How many values all sums of up to n − 1 chairs have together, at most.

    A multiset and its sum are counts of the values of G, one count for each value of each law. And where the values are
    multiples of one unit, a sum of N of them has at most N times their range and one different values.
    """
    atoms = sum(len(law.values) for law in chairs)
    values = [v for law in chairs for v in law.values]
    unit = math.lcm(*(v.denominator for v in values))
    span = int((max(values) - min(values)) * unit)
    kinds = len(chairs) - 1
    on_lattice = sum(math.comb(size + kinds, kinds) * (size * span + 1) for size in range(1, n))
    return min(math.comb(n - 1 + atoms, atoms), on_lattice)


def refuse_too_many(n: int, chairs: Sequence[LawOfG]) -> None:
    """Raise if listing the sums of up to n − 1 chairs takes too long."""
    if work(n, chairs) > MAX_SUMS:
        few, _ = last_that_holds(lambda users: work(users, chairs) <= MAX_SUMS, 1, n)
        raise ValueError(
            f"n = {n} has up to {work(n, chairs)} sums of G, more than {MAX_SUMS}; the largest feasible n is {few}"
        )


def largest_means(candidates: Sequence[LawOfG], most: int) -> list[Fraction]:
    r""":math:`\Phi^*_N` for N = 1 … ``most``: the largest of all multisets of N laws, each of them tried.

    >>> import shuffle_sym as ss, sympy as sp
    >>> from shuffle_sym.truth.dropout import laws
    >>> [str(phi) for phi in largest_means(laws(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 2), 3)]
    ['1/4', '3/16', '9/64']
    """
    refuse_too_many(most + 1, candidates)
    largest: dict[int, Fraction] = {}
    for counts, total in sums(candidates, (most,) * len(candidates), most):
        size = sum(counts)
        largest[size] = max(total / size, largest.get(size, Fraction(0)))
    return [largest[size] for size in range(1, most + 1)]


# ----------------------------------------------------------------------------------------- the bounds


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
    # E[ · ]_+ is homogeneous: messages whose factors are multiples of one another are added up.
    by_message = zip(*([w * c for c in row] for w, row in zip(weight, rows, strict=True)), strict=True)
    for factors in merged_columns(list(by_message)):
        chairs = [_scaled(by_input[x], factor) for x, factor in zip(inputs, factors, strict=True)]
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


def _weights(inputs: Sequence[int], weights: Mapping[int, Any] | None) -> list[Fraction]:
    if weights is None:
        return [Fraction(1)] * len(inputs)
    exact = []
    for x in inputs:
        if x not in weights:
            raise ValueError(
                f"weights must have an entry for every input of the others, {list(inputs)}; {x} is missing"
            )
        exact.append(fraction(weights[x], f"weights[{x}]"))
        if exact[-1] <= 0:
            raise ValueError(f"weights[{x}] must be a number > 0, got {weights[x]}")
    return exact


def _common(matrix: Matrix, inputs: Sequence[int], common: Mapping[int, Sequence[Any]] | None) -> Matrix:
    if common is None:
        columns = zip(*(matrix[x] for x in inputs), strict=True)
        return (tuple(map(min, columns)),) * len(inputs)
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
