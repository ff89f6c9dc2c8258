r"""The cross-check the project is named for: symbols, exact values, brute force and floats must agree.

For a grid of randomizers with rational t = e^ε0, rational α and small n, four laws are checked with exact arithmetic:

==================  ============================================================================================
pair = formula      the divergence of the reduction pair, histogram by histogram, equals the GPARV formula
data = formula      two real datasets with all others equal, by brute force, equal their decomposition
truth <= blanket    the worst pair of all neighbouring datasets, by brute force, is at most the blanket bound
lower <= x <= upper the exact blanket value lies in the interval of every float method
==================  ============================================================================================

``python -m shuffle_sym.cross_check`` runs the full grid (minutes); the test suite runs `quick()`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from tqdm.auto import tqdm

from shuffle_sym import decomposition, exact, ground_truth
from shuffle_sym.randomizer import Randomizer
from shuffle_sym.randomizers import (
    BLH,
    KRR,
    OUE,
    RAPPOR,
    BinaryRR,
    HadamardResponse,
    SubsetSelection,
    from_matrix,
)
from shuffle_sym.shuffle import Shuffle

FLOAT_METHODS = ("fft", "fft-published")
_MANY_MESSAGES, _FEW_USERS = 4, 4
LAWS = ("pair = formula", "data = formula", "truth <= blanket", "lower <= x <= upper")


@dataclass(frozen=True)
class Case:
    """One randomizer and one n, at several α; all numbers are rational."""

    name: str
    randomizer: Randomizer
    n: int
    alphas: tuple[sp.Rational, ...]


@dataclass(frozen=True)
class Outcome:
    law: str
    holds: bool
    detail: str


def randomizers(levels: Iterable[sp.Rational]) -> Iterator[tuple[str, Randomizer]]:
    """k-RR at several t = e^ε0, and matrices that are not symmetric, have zeros, or repeat a column."""
    for t in levels:
        yield f"2-RR t={t}", BinaryRR(eps0=sp.log(t))
        yield f"3-RR t={t}", KRR(k=3, eps0=sp.log(t))
        yield f"4-RR t={t}", KRR(k=4, eps0=sp.log(t))
    for t in (sp.Integer(2), sp.Integer(4)):
        yield f"RAPPOR d=3 t={t**2}", RAPPOR(d=3, eps0=2 * sp.log(t))
        yield f"OUE d=3 t={t}", OUE(d=3, eps0=sp.log(t))
        yield f"BLH d=3 t={t}", BLH(d=3, eps0=sp.log(t))
        yield f"Hadamard K=4 t={t}", HadamardResponse(K=4, eps0=sp.log(t))
        yield f"subsets 2 of 4 t={t}", SubsetSelection(d=4, w=2, eps0=sp.log(t))
    yield "lopsided 2x2", from_matrix([[0.7, 0.3], [0.2, 0.8]])
    yield "2 inputs, 3 messages", from_matrix([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    yield "3 inputs, repeated column", from_matrix([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4], [0.3, 0.1, 0.6]])
    yield "zeros (eps0 = oo)", from_matrix([[0.5, 0.5, 0], [0, 0.5, 0.5]])


def grid(levels: Iterable[sp.Rational], alphas: Iterable[sp.Rational], users: Iterable[int]) -> list[Case]:
    users, alphas = tuple(users), tuple(alphas)
    # Brute force grows with the number of messages: many of them, few users.
    return [
        Case(name, R, n, alphas)
        for name, R in randomizers(levels)
        for n in users
        if len(R.rows()[0]) <= _MANY_MESSAGES or n <= _FEW_USERS
    ]


def quick() -> list[Case]:
    """Seconds: every randomizer, few n and α."""
    q = sp.Rational
    return grid([q(3, 2), q(3)], [q(1), q(6, 5), q(2)], [1, 2, 3, 5])


def full() -> list[Case]:
    """Minutes: n = 1 … 10."""
    q = sp.Rational
    return grid([q(11, 10), q(3, 2), q(2), q(3), q(5)], [q(1), q(21, 20), q(6, 5), q(3, 2), q(2), q(3)], range(1, 11))


def check(case: Case) -> Iterator[Outcome]:
    """All laws for one case."""
    R, n = case.randomizer, case.n
    M = Shuffle(R, n)
    x0, x1 = R.pairs()[0]
    for alpha, worst in zip(case.alphas, ground_truth.worst_pairs(R, n, case.alphas), strict=True):
        where = f"{case.name}, n = {n}, alpha = {alpha}"
        for D in M.decompositions:
            formula = exact.divergence(D, n, alpha)
            pair = exact.reduction_pair_divergence(D, n, Fraction(int(alpha.p), int(alpha.q)))
            yield Outcome(LAWS[0], formula == pair, f"{where}: formula {formula}, pair {pair}")
        for x2 in range(int(R.input_count)):
            formula = exact.divergence(decomposition.dataset(R, x0, x1, x2), n, alpha)
            others = (x2,) * (n - 1)
            truth = ground_truth.delta(R, (x0, *others), (x1, *others), alpha)
            yield Outcome(LAWS[1], formula == truth, f"{where}: formula {formula}, brute force {truth}")
        blanket = M.exact(alpha)
        yield Outcome(LAWS[2], worst.delta <= blanket, f"{where}: blanket {blanket}, {worst}")
        for method in FLOAT_METHODS:
            if method == "fft" or R.eps0 is not sp.oo:
                interval = M.delta(sp.log(alpha), method=method)
                yield Outcome(LAWS[3], blanket in interval, f"{where}: exact {float(blanket)}, {method} {interval}")


def main() -> int:
    cases, counts, violations = full(), Counter[tuple[str, str]](), []
    for case in tqdm(cases, unit="case", desc="cross-check"):
        for outcome in check(case):
            counts[case.name, outcome.law] += 1
            if not outcome.holds:
                violations.append(outcome)
    names = list(dict.fromkeys(case.name for case in cases))
    print(f"{'comparisons':28}" + "".join(f"{law:>21}" for law in LAWS))
    for name in names:
        print(f"{name:28}" + "".join(f"{counts[name, law]:21}" for law in LAWS))
    for outcome in violations:
        print(f"VIOLATION of {outcome.law}: {outcome.detail}")
    print(
        f"{sum(len(case.alphas) for case in cases)} cases, {counts.total()} comparisons, {len(violations)} violations"
    )
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
