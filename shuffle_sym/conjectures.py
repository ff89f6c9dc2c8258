r"""Our own conjectures about the worst neighbours, and the range in which they are checked, with exact fractions.

``python -m shuffle_sym.conjectures`` goes through the whole range (minutes); the test suite through a part of it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence

import sympy as sp
from tqdm.auto import tqdm

from shuffle_sym import arguments
from shuffle_sym.neighbours import exceptions, worst_rows
from shuffle_sym.randomizer import Randomizer
from shuffle_sym.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    BinaryRR,
    HadamardResponse,
    SubsetSelection,
    from_matrix,
)

#: For what we conjecture a rule; the range in which it is checked, exactly, is that of `checked_range`.
CONJECTURES = {
    "the others have at most two values": "every randomizer with finitely many inputs and messages, every n and α >= 1",
    "nobody else has x1": "k-RR with k >= 3 and Hadamard response, every n and α >= 1",
}

_CATALOGUE: dict[str, tuple[Callable[[sp.Expr], Randomizer], int]] = {
    "2-RR": (BinaryRR, 12),
    "3-RR": (lambda e: KRR(3, e), 12),
    "4-RR": (lambda e: KRR(4, e), 9),
    "5-RR": (lambda e: KRR(5, e), 6),
    "OUE, d = 3": (lambda e: OUE(3, e), 8),
    "OUE, d = 4": (lambda e: OUE(4, e), 4),
    "RAPPOR, d = 3": (lambda e: RAPPOR(3, 2 * e), 8),
    "RAPPOR, d = 4": (lambda e: RAPPOR(4, 2 * e), 4),
    "BLH, d = 3": (lambda e: BLH(3, e), 8),
    "BLH, d = 4": (lambda e: BLH(4, e), 4),
    "OLH, g = d = 3": (lambda e: OLH(3, 3, e), 6),
    "Hadamard, K = 4": (lambda e: HadamardResponse(4, e), 8),
    "Hadamard, K = 8": (lambda e: HadamardResponse(8, e), 4),
    "2 of 4": (lambda e: SubsetSelection(4, 2, e), 6),
    "2 of 5": (lambda e: SubsetSelection(5, 2, e), 4),
}
_LEVELS = tuple(sp.Rational(*t) for t in ((11, 10), (3, 2), (2, 1), (4, 1), (10, 1)))


def applies(rule: str, R: Randomizer) -> bool:
    """Whether a conjecture of ours says something about R."""
    arguments.one_of(rule, "rule", CONJECTURES)
    if rule != "nobody else has x1":
        return True
    return (R.is_krr and R.input_count > 2) or isinstance(R, HadamardResponse)


def checked_range(
    levels: Sequence[sp.Rational] = _LEVELS, most_users: int = 12, steps: int = 24
) -> Iterator[tuple[str, Randomizer, range, list[sp.Rational]]]:
    r"""Where the conjectures are checked: name, randomizer, n = 2 … (at most ``most_users``, fewer where there are many
    messages), and α = 1 + (t − 1) i/``steps``; t = e^ε0 in ``levels``, its square for RAPPOR.

    >>> sum(len(users) * len(alphas) for _, _, users, alphas in checked_range())
    10560
    """
    for name, (make, most) in _CATALOGUE.items():
        for t in levels:
            R = make(sp.log(t))
            top = sp.exp(R.eps0)
            alphas = [1 + (top - 1) * sp.Rational(i, steps) for i in range(steps)]
            yield f"{name}, t = {top}", R, range(2, min(most, most_users) + 1), alphas


def random_randomizers(count: int, seed: int, inputs: int = 5, messages: int = 5) -> Iterator[Randomizer]:
    """Matrices with small whole numbers over their sum, zeros and very different entries among them."""
    rng = random.Random(seed)
    for _ in range(count):
        rows = []
        width = rng.randint(2, messages)
        for _ in range(rng.randint(3, inputs)):
            weights = [rng.choice([0, 1, 1, 2, 3, 8, 30]) for _ in range(width)]
            weights[rng.randrange(width)] += 1
            rows.append([sp.Rational(w, sum(weights)) for w in weights])
        yield from_matrix(rows)


def main() -> int:
    """Every conjecture on its whole range, and on 500 random matrices."""
    failed = 0
    cases = [*checked_range()]
    alphas = [sp.Rational(*a) for a in ((1, 1), (21, 20), (6, 5), (3, 2), (2, 1), (3, 1), (5, 1))]
    cases += [("random", R, range(4, 7), alphas) for R in random_randomizers(500, seed=1)]
    counts = dict.fromkeys(CONJECTURES, 0)
    for name, R, users, ratios in tqdm(cases, unit="case"):
        rows = worst_rows(R, users, ratios)
        for rule in CONJECTURES:
            if applies(rule, R):
                counts[rule] += len(rows)
                for row in exceptions(rows, rule):
                    failed += 1
                    print(f"EXCEPTION to {rule!r}: {name}, {row}")
    for rule, number in counts.items():
        print(f"{rule}: {number} cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
