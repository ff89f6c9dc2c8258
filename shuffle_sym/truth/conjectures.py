r"""Our own conjectures about the worst neighbours, and the range in which they are checked, with exact fractions.

``python -m shuffle_sym.truth.conjectures`` goes through the whole range (minutes); the test suite through a part of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import sympy as sp
from tqdm.auto import tqdm

from shuffle_sym.algebra import arguments
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.randomizers import BLH, KRR, OLH, OUE, RAPPOR, BinaryRR, HadamardResponse, SubsetSelection
from shuffle_sym.truth.neighbours import exceptions, worst_map

#: For what we conjecture a rule; the range in which it is checked, exactly, is that of `checked_range`.
CONJECTURES = {
    "the others have at most two values": "k-RR, subsets, RAPPOR, OUE, local hashing, Hadamard response; all n, α >= 1",
    "nobody else has x1": "k-RR with k >= 3 and Hadamard response; all n, α >= 1",
}

#: The first conjecture is not true of every randomizer: rows of a matrix, n and α at which the others of the only worst
#: pair have three values. Four users are the fewest that can.
THREE_VALUES = (
    tuple(tuple(sp.Rational(w, sum(row)) for w in row) for row in ((1, 10, 1), (1, 2, 1), (2, 3, 1))),
    4,
    sp.Rational(9, 5),
)

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


def covers(rule: str, R: Randomizer) -> bool:
    """Whether a conjecture of ours says something about R."""
    arguments.one_of(rule, "rule", CONJECTURES)
    if rule != "nobody else has x1":
        return isinstance(R, Matching)
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


def main() -> int:
    """Every conjecture on its whole range."""
    failed, counts = 0, dict.fromkeys(CONJECTURES, 0)
    for name, R, users, alphas in tqdm(list(checked_range()), unit="case"):
        rows = worst_map(R, users, alphas, blanket=False)
        for rule in CONJECTURES:
            if covers(rule, R):
                counts[rule] += len(rows)
                for row in exceptions(rows, rule):
                    failed += 1
                    print(f"EXCEPTION to {rule!r}: {name}, {row}")
    for rule, number in counts.items():
        print(f"{rule}: {number} worst pairs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
