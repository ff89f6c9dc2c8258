r"""The cross-check the project is named for: symbols, exact values, brute force and floats must agree.

For a grid of randomizers with rational t = e^ε0, rational α and small n, five laws are checked with exact arithmetic:

=================== ============================================================================================
pair = formula      the divergence of the reduction pair, histogram by histogram, equals the GPARV formula
data = formula      two real datasets with all others equal, by brute force, equal their decomposition
truth <= blanket    the worst pair of all neighbouring datasets, by brute force, is at most the blanket bound
blanket in floats   the exact blanket value lies in the interval of every float method
truth in mechanism  the worst pair of all neighbouring datasets lies in the interval of the mechanism
=================== ============================================================================================

Besides, `random_comparisons` draws decompositions with one to six atoms of very different sizes, n up to 40 and α over
the whole range, below 1 included, and looks for the exact value in the interval of every method that applies.

``python -m checks.cross_check`` runs the full grid, 100,000 random comparisons and the checks of `mechanism_grid`,
`dropout_grid` and `renyi_grid` (minutes); the test suite runs `quick()` and samples.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction

import sympy as sp
from tqdm.auto import tqdm

from checks import dropout_grid, mechanism_grid, renyi_grid
from checks.reports import Comparison, run
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
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
RANDOM_METHODS = ("contour", "binomial", "fft")
RANDOM_COMPARISONS = 100_000
_SCALES = (1, 1, 1, 1, 1, 1, 1, 1, 10, 10, 100, 10**9)
_RTOLS = (0.1, 0.01, 0.01, 1e-3, 1e-3, 1e-5)
_AT_ONCE = 8  # ratios α for one decomposition
_LARGEST_LOSS = 9.0
_WIDEST = 1000  # largest over smallest value of G up to which the lattice is asked
_MOST_USERS = (40, 40, 40, 24, 12, 8, 6)  # by the number of atoms: the exact sum has to end
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


def random_decomposition(rng: random.Random) -> Decomposition:
    """One to six atoms, masses from 1e-9 to 1, null atoms, atoms impossible under one input, β = 0 and β = 1."""
    size = rng.randint(1, 6)

    def masses() -> list[sp.Rational]:
        scales = [rng.choice(_SCALES) for _ in range(size)]
        weights = [rng.choice([0, 1, 1, 1]) * rng.randint(1, 9) * scale for scale in scales]
        weights[rng.randrange(size)] += 1
        return [sp.Rational(w, sum(weights)) for w in weights]

    covered = rng.choice([sp.Rational(i, 8) for i in range(9)])
    return Decomposition(masses(), masses(), [covered * c for c in masses()])


def random_ratios(D: Decomposition, rng: random.Random) -> list[sp.Rational]:
    """α between the least and the largest ratio a/b, and now and then beyond; some with few digits, so that the values
    of G are on a lattice."""
    low, high = (min(float(loss), _LARGEST_LOSS) for loss in (D.reversed().max_loss, D.max_loss))
    alphas = []
    for _ in range(_AT_ONCE):
        beyond, scale = rng.choice([0.0] * 9 + [1.0]), rng.choice([10, 1000, 10**6])
        alphas.append(sp.Rational(max(round(math.exp(rng.uniform(-low - beyond, high + beyond)) * scale), 1), scale))
    return alphas


def random_comparisons(count: int, seed: int) -> Counter[str]:
    """At least ``count`` comparisons: how many hold, how many methods refused, and how many are *violations*.

    Where α is beyond every loss and D_α is 0 or 1 − α without any integral, the comparison is made and not counted.
    """
    rng, counts = random.Random(seed), Counter[str]()
    while counts["holds"] + counts["VIOLATION"] < count:
        D = random_decomposition(rng)
        n = rng.randint(1, rng.choice([4, _MOST_USERS[len(D.atoms)]]))
        alphas = random_ratios(D, rng)
        values = {alpha: {v for v in D.gparv.exact(alpha, 20).values if v} for alpha in alphas}
        truths = {alpha: exact.divergence(D, n, alpha) for alpha in alphas}
        for method in RANDOM_METHODS:
            rtol = rng.choice(_RTOLS)
            wanted = [alpha for alpha in alphas if _is_for(method, values[alpha], rtol)]
            for alpha, interval in zip(wanted, _intervals(Shuffle(D, n), wanted, rtol, method), strict=True):
                if interval is None:
                    counts[f"{method} refused"] += 1
                elif truths[alpha] not in interval:
                    counts["VIOLATION"] += 1
                    print(f"VIOLATION: {D!r}, n = {n}, {alpha = }: exact {truths[alpha]}, {method} {interval!r}")
                elif truths[alpha] == max(1 - alpha, 0):
                    counts["beyond every loss"] += 1
                else:
                    counts.update(["holds", f"{method} holds"])
    return counts


def _is_for(method: str, values: set[Fraction], rtol: float) -> bool:
    """Binomial tails are for few values of G; the lattice is slow where these are far apart, and has its own tests."""
    if method == "binomial":
        sides = sum(v > 0 for v in values), sum(v < 0 for v in values)
        return max(sides) <= 1 or min(sides) == 0
    sizes = [abs(v) for v in values] or [Fraction(1)]
    return method != "fft" or (rtol >= 0.05 and max(sizes) <= _WIDEST * min(sizes))


def _intervals(M: Shuffle, alphas: list[sp.Rational], rtol: float, method: str) -> list[Interval | None]:
    """All at once, which is what is to be checked; where one of them is refused, one by one."""
    try:
        together: list[Interval | None] = M.hockey_stick(alphas, rtol=rtol, method=method)
        return together
    except ValueError:
        if len(alphas) == 1:
            return [None]
    return [_intervals(M, [alpha], rtol, method)[0] for alpha in alphas]


def random_main() -> int:
    """The random comparisons on two processes."""
    parts = 100
    with ProcessPoolExecutor(2) as pool:
        futures = [pool.submit(random_comparisons, RANDOM_COMPARISONS // parts, seed) for seed in range(parts)]
        total = Counter[str]()
        for future in tqdm(futures, unit="part", desc="random"):
            total += future.result()
    print("random comparisons: " + ", ".join(f"{key}: {number}" for key, number in sorted(total.items())))
    return 1 if total["VIOLATION"] else 0


def main() -> int:
    """Everything; 1 if something is wrong."""
    report = run("formulas, brute force and floats", check, full())
    others = [random_main(), mechanism_grid.main(), dropout_grid.main(), renyi_grid.main()]
    return 1 if report.violations or any(others) else 0


if __name__ == "__main__":
    sys.exit(main())
