"""Users who are not alike, against brute force: ``python -m checks.crowds --cases 1200 --seed 1``.

Each case is two or three groups of random matrices with zeros, tiny and large entries, equal rows and different numbers
of inputs, sampled or not, n <= 5 users, and an α of either side of 1: the exact largest divergence over all datasets
has to lie between the certified ends, for a user of each group. Batches drawn without replacement are examined too, and
the bound by weighted chairs by itself, which at few users is seldom the smallest.
"""

from __future__ import annotations

import argparse
import random
import sys

import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting.groups import Chairs, CountedBlanket, OneGroup
from shuffle_sym.model.gparv import Ratio

q = sp.Rational


def matrix(rng: random.Random, inputs: int, messages: int) -> ss.Randomizer:
    rows: list[list[sp.Expr]] = []
    for _ in range(inputs):
        row = [rng.choice([0, 0, 1, 1, 2, 5, 9, 40, 1000]) for _ in range(messages - 1)] + [rng.choice([1, 3, 10, 200])]
        rng.shuffle(row)
        rows.append(rows[-1] if rows and rng.random() < 0.15 else [q(e, sum(row)) for e in row])
    return ss.from_matrix(rows)


def crowd(rng: random.Random) -> ss.Shuffle:
    messages = rng.choice([2, 2, 3])
    sizes = rng.choice([(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (1, 4), (1, 1, 1), (1, 2, 1)])
    most = 2 if sum(sizes) > 4 else 3
    parts = [(matrix(rng, rng.randint(2, most), messages), size) for size in sizes]
    q0 = rng.choice([None, None, q(1, 2), q(1, 10)])
    return ss.Shuffle([(ss.Sampled(R, q0) if q0 else R, size) for R, size in parts])


def examined(M: ss.Shuffle, alpha: sp.Rational) -> list[str]:
    """What is wrong with the answers about every group at one α."""
    wrong = []
    for i in range(len(M.source)):
        one = M.group(i)
        exact, answer = one.exact(alpha), one.hockey_stick(alpha)
        if exact not in answer:
            wrong.append(f"{one!r} at {alpha}: {exact} is not in {answer}")
        crowd = one._analysed
        if alpha >= 1 and isinstance(crowd, OneGroup):
            ratio = [Ratio(alpha=alpha)]
            largest, counted = (
                max(bound(crowd, *pair).hockey_sticks(ratio, 1e-3)[0].upper for pair in crowd.ordered)
                for bound in (Chairs, CountedBlanket)
            )
            if not exact <= min(largest, counted):
                wrong.append(f"{one!r} at {alpha}: chairs {largest}, blanket {counted} are not both above {exact}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, done = random.Random(given.seed), 0
    wrong: list[str] = []
    while done < given.cases and not wrong:
        alpha = q(rng.choice([50, 90, 100, 100, 101, 110, 125, 150, 300]), 100)
        if rng.random() < 0.15:
            m, n = rng.choice([(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)])
            batch = ss.Shuffle(matrix(rng, 2, rng.choice([2, 3])), m).sampled_from(n)
            exact, answer = batch.exact(alpha), batch.hockey_stick(alpha)
            wrong += [] if exact in answer else [f"{batch!r} at {alpha}: {exact} is not in {answer}"]
            done += 1
            continue
        M = crowd(rng)
        wrong += examined(M, alpha)
        done += len(M.source)
        if sys.stderr.isatty():
            print(f"\r{done}", end="", file=sys.stderr)
    print("\n".join(wrong) or f"{done} cases, nothing outside its interval")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
