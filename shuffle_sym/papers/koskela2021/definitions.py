r"""Laws written out from the definitions of Koskela et al. 2021, choice by choice: no decomposition, no formula.

What the derivations and decompositions say about these laws is compared with them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from shuffle_sym.algebra import arguments

#: Who of the users (the differing one is the last) is seen to have answered randomly: adversaries A_s and A_w.
EVERYONE, OTHERS = slice(None), slice(None, -1)
MAX_CHOICES = 2_000_000

Law = dict[Any, Fraction]


def view(k: int, gamma: Fraction, inputs: Sequence[int], seen: slice) -> Law:
    """Law of (which of the users in ``seen`` answered randomly, the shuffled messages) in k-RR: a user tells the truth
    with probability 1 − γ and sends any of the k values at random otherwise (Koskela et al. 2021, Definitions 8 and 9).

    Cost: (k + 1)^n choices.

    >>> law = view(2, Fraction(1, 2), (0,), EVERYONE)
    >>> law[(False,), (0,)], law[(True,), (0,)]
    (Fraction(1, 2), Fraction(1, 4))
    """
    size, n = arguments.positive_integer(k, "k"), len(inputs)
    if (size + 1) ** n > MAX_CHOICES:
        fits = int(math.log(MAX_CHOICES, size + 1))
        raise ValueError(f"n = {n} users of {size}-RR make {(size + 1) ** n} choices; n <= {fits} is feasible")
    law: Law = defaultdict(Fraction)
    answers = [(False, None), *((True, y) for y in range(size))]
    for choice in product(answers, repeat=n):
        probability = math.prod((gamma / size if random else 1 - gamma for random, _ in choice), start=Fraction(1))
        messages = sorted(x if y is None else y for (_, y), x in zip(choice, inputs, strict=True))
        law[tuple(random for random, _ in choice)[seen], tuple(messages)] += probability
    return law


def left_over(random: Sequence[bool], messages: Sequence[int], others: Sequence[int]) -> Counter[int]:
    """How often each value is left after the truthful messages of the others are taken away: n_1, …, n_k.

    >>> left_over((False,), (0, 1), (0,))[1]
    1
    """
    return Counter(messages) - Counter(x for x, r in zip(others, random, strict=False) if not r)


def clone_cells(t: Fraction, n: int, q: Fraction) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """(a, b) → (P, Q) of Koskela et al. 2021, (6.1): C, A and Δ enumerated; q is the probability of Δ = 1.

    >>> clone_cells(Fraction(2), 1, Fraction(2, 3))[1, 0]
    (Fraction(2, 3), Fraction(0, 1))
    """
    return _cells(t, n, q, lambda A, C, D: ((A + D, C - A), (A, C - A + D)))


def standard_clone_cells(t: Fraction, n: int) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    """(a, b) → (P_0, P_1) of Su et al. 2025, Theorem 2, from its definition.

    >>> standard_clone_cells(Fraction(2), 1)[1, 0]
    (Fraction(2, 3), Fraction(1, 3))
    """
    return _cells(t, n, t / (t + 1), lambda A, C, D: ((A + D, C - A + 1 - D), (A + 1 - D, C - A + D)))


def _cells(t: Fraction, n: int, q: Fraction, ends: Any) -> dict[tuple[int, int], tuple[Fraction, Fraction]]:
    p = 1 / Fraction(t)
    cells: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for C in range(arguments.users(n)):
        for A in range(C + 1):
            weight = math.comb(n - 1, C) * p**C * (1 - p) ** (n - 1 - C) * math.comb(C, A) * Fraction(1, 2**C)
            for change, chance in ((1, q), (0, 1 - q)):
                for side, cell in enumerate(ends(A, C, change)):
                    masses = list(cells.get(cell, (Fraction(0), Fraction(0))))
                    masses[side] += weight * chance
                    cells[cell] = (masses[0], masses[1])
    return cells
