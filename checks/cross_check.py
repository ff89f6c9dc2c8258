r"""The cross-check the project is named for: symbols, exact values, brute force and floats must agree.

For a grid of randomizers with rational t = e^ε0, rational α and small n, five laws are checked with exact arithmetic:

=================== ============================================================================================
pair = formula      the divergence of the reduction pair, histogram by histogram, equals the GPARV formula
data = formula      two real datasets with all others equal, by brute force, equal their decomposition
truth <= blanket    the worst pair of all neighbouring datasets, by brute force, is at most the blanket bound
blanket in floats   the exact blanket value lies in the interval of every float method
truth in mechanism  the worst pair of all neighbouring datasets lies in the interval of the mechanism
=================== ============================================================================================

``python -m checks.cross_check`` runs the full grid and the checks of `mechanism_grid`, `dropout_grid` and `renyi_grid`
(minutes); the test suite runs `quick()` and samples. What is drawn at random is in `checks.fuzz`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from checks import dropout_grid, mechanism_grid, renyi_grid
from checks.reports import Comparison, run
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.su2025 import algorithm4
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
from shuffle_sym.truth import exact, ground_truth

FLOAT_METHODS = ("contour", "fft")
_MANY_MESSAGES, _FEW_USERS = 4, 4
LAWS = ("pair = formula", "data = formula", "truth <= blanket", "blanket in floats", "truth in mechanism")


@dataclass(frozen=True)
class Case:
    """One randomizer and one n, at several α; all numbers are rational."""

    name: str
    randomizer: Randomizer
    n: int
    alphas: tuple[sp.Rational, ...]


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
    return grid([q(3, 2), q(3)], [q(2, 3), q(1), q(6, 5), q(2)], [1, 2, 3, 5])


def full() -> list[Case]:
    """Minutes: n = 1 … 10."""
    q = sp.Rational
    return grid(
        [q(11, 10), q(3, 2), q(2), q(3), q(5)],
        [q(1, 2), q(9, 10), q(1), q(21, 20), q(6, 5), q(3, 2), q(2), q(3)],
        range(1, 11),
    )


def check(case: Case) -> Iterator[Comparison]:
    """All laws for one case."""
    R, n = case.randomizer, case.n
    blankets = Shuffle(decomposition.blankets(R), n)
    worst = ground_truth.worst_pairs(R, n, case.alphas)
    answers = Shuffle(R, n).hockey_stick(list(case.alphas))
    for alpha, pair, answer in zip(case.alphas, worst, answers, strict=True):
        where = f"{case.name}, n = {n}, alpha = {alpha}"
        yield from _formulas(R, blankets, alpha, where)
        blanket = blankets.exact(alpha)
        yield Comparison(LAWS[2], pair.delta <= blanket, f"{where}: blanket {blanket}, {pair}")
        for method, interval in _in_floats(R, blankets, alpha).items():
            yield Comparison(LAWS[3], blanket in interval, f"{where}: exact {float(blanket)}, {method} {interval}")
        yield Comparison(LAWS[4], pair.delta in answer, f"{where}: {pair}, {answer!r}")


def _formulas(R: Randomizer, blankets: Shuffle, alpha: sp.Rational, where: str) -> Iterator[Comparison]:
    """Formulas against sums over histograms and over messages, outcome by outcome."""
    n, (x0, x1) = blankets.n, R.pairs()[0]
    for D in blankets.decompositions:
        formula = exact.divergence(D, n, alpha)
        pair = exact.reduction_pair_divergence(D, n, Fraction(int(alpha.p), int(alpha.q)))
        yield Comparison(LAWS[0], formula == pair, f"{where}: formula {formula}, pair {pair}")
    for x2 in range(int(R.input_count)):
        formula = exact.divergence(decomposition.dataset(R, x0, x1, x2), n, alpha)
        others = (x2,) * (n - 1)
        truth = ground_truth.delta(R, (x0, *others), (x1, *others), alpha)
        yield Comparison(LAWS[1], formula == truth, f"{where}: formula {formula}, brute force {truth}")


def _in_floats(R: Randomizer, blankets: Shuffle, alpha: sp.Rational) -> dict[str, Interval]:
    """The blanket's divergence by every method that is not exact; Algorithm 4 is for α >= 1 and a finite ε0."""
    intervals = {method: blankets.hockey_stick(alpha, method=method) for method in FLOAT_METHODS}
    if alpha >= 1 and R.eps0 is not sp.oo:
        published = [algorithm4(D, blankets.n, sp.log(alpha)) for D in blankets.decompositions]
        intervals["Algorithm 4"] = Interval(max(i.lower for i in published), max(i.upper for i in published))
    return intervals


def main() -> int:
    """Everything; 1 if something is wrong."""
    report = run("formulas, brute force and floats", check, full())
    others = [mechanism_grid.main(), dropout_grid.main(), renyi_grid.main()]
    return 1 if report.violations or any(others) else 0


if __name__ == "__main__":
    sys.exit(main())
