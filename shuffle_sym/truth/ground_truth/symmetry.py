r"""Symmetries of a randomizer: permutations of the inputs that permuting the messages undoes.

If R(π(x))(σ(y)) = R(x)(y) for all x and y, renaming the inputs of a dataset by π renames the messages by σ, and no
divergence between two datasets changes. One pair of datasets stands for all that it can be renamed to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Any

Permutation = tuple[int, ...]  # π(x) at place x
Counts = tuple[int, ...]  # how many of the other users have each input
Triple = tuple[int, int, Counts]  # x0, x1, and the others

MAX_ELEMENTS = 5040


class Symmetry:
    """The symmetries of a matrix with the given columns: all permutations, or a list of them.

    The list may be incomplete (it ends after `MAX_ELEMENTS`): then some datasets are looked at more often than needed,
    but the smallest of all its renamings is never skipped.
    """

    def __init__(self, columns: Sequence[tuple[Any, ...]]) -> None:
        self.inputs = len(columns[0])
        # Small numbers for equal entries: fractions and formulas are compared once, not a thousand times.
        codes: dict[Any, int] = {}
        columns = [tuple(codes.setdefault(e, len(codes)) for e in column) for column in columns]
        swaps = (_swapped(self.inputs, x) for x in range(self.inputs - 1))
        self.full = all(is_automorphism(columns, swap) for swap in swaps)
        self.elements = [] if self.full else automorphisms(columns)
        self.pairs = self._pairs()
        self.fixing = {pair: [g for g in self.elements if {g[pair[0]], g[pair[1]]} == set(pair)] for pair in self.pairs}

    def _pairs(self) -> list[tuple[int, int]]:
        """Unordered pairs of inputs, x0 < x1, one for each orbit."""
        if self.full:
            return [(0, 1)]
        return [
            pair
            for pair in combinations(range(self.inputs), 2)
            if not any(tuple(sorted((g[pair[0]], g[pair[1]]))) < pair for g in self.elements)
        ]

    def may_follow(self, counts: Sequence[int], x: int) -> bool:
        """Whether one more user with input x, the largest so far, can still lead to a representative."""
        return not self.full or x in (0, 2) or counts[x] < counts[x - 1]

    def represents(self, pair: tuple[int, int], counts: Counts) -> bool:
        """Whether no renaming that keeps the pair, in any order, makes the others smaller.

        Datasets are ordered as sorted tuples: more users with a small input come first.
        """
        if self.full:
            return counts[0] >= counts[1] and all(counts[x] >= counts[x + 1] for x in range(2, self.inputs - 1))
        return all(renamed(counts, g) <= counts for g in self.fixing[pair])

    def smallest(self, x0: int, x1: int, counts: Counts) -> Triple:
        """The name of a triple: the smallest of all its renamings.

        >>> Symmetry([(1, 0, 0), (0, 1, 0), (0, 0, 1)]).smallest(2, 1, (3, 0, 1))
        (0, 1, (1, 0, 3))
        """
        if self.full:
            thirds = sorted((counts[x] for x in range(self.inputs) if x not in (x0, x1)), reverse=True)
            return 0, 1, (counts[x0], counts[x1], *thirds)
        identity = tuple(range(self.inputs))
        least = min((g[x0], g[x1], tuple(-c for c in renamed(counts, g))) for g in (identity, *self.elements))
        return least[0], least[1], tuple(-c for c in least[2])


def renamed(counts: Counts, g: Permutation) -> Counts:
    """The counts after every input x has become g[x]."""
    moved = [0] * len(counts)
    for x, count in enumerate(counts):
        moved[g[x]] = count
    return tuple(moved)


def is_automorphism(columns: Sequence[tuple[Any, ...]], g: Permutation) -> bool:
    """Whether permuting the inputs only permutes the columns."""
    return Counter(tuple(column[x] for x in g) for column in columns) == Counter(columns)


def automorphisms(columns: Sequence[tuple[Any, ...]]) -> list[Permutation]:
    """Permutations of the inputs that only permute the columns, image by image; at most `MAX_ELEMENTS` of them.

    >>> automorphisms([(1, 1, 2), (2, 2, 1)])
    [(0, 1, 2), (1, 0, 2)]
    """
    inputs = len(columns[0])
    wanted = [Counter(column[:length] for column in columns) for length in range(inputs + 1)]

    def extended(images: Permutation) -> Iterator[Permutation]:
        if len(images) == inputs:
            yield images
            return
        for x in range(inputs):
            longer = (*images, x)
            if x not in images and Counter(tuple(c[i] for i in longer) for c in columns) == wanted[len(longer)]:
                yield from extended(longer)

    return list(islice(extended(()), MAX_ELEMENTS))


def _swapped(inputs: int, x: int) -> Permutation:
    return (*range(x), x + 1, x, *range(x + 2, inputs))
