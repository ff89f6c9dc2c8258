r"""Sums of G over multisets of chairs, each multiset listed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from shuffle_sym.model.gparv import LawOfG

MAX_SUMS = 3_000_000  # values of sums of G that are listed; a few seconds

Counts = tuple[int, ...]  # how many chairs there are of each law


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
        few, many = 1, n
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (middle, many) if work(middle, chairs) <= MAX_SUMS else (few, middle)
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
