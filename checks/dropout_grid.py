r"""The drop-out bound by itself against all real datasets, in exact arithmetic.

Matrices at random (with zeros, rows that hardly ever lie, rows that are nearly equal) and randomizers from the
catalogue: for every ordered pair of inputs, every n and several α below and above 1, the largest divergence over *all*
datasets of the others must be at most the bound. The bound is an argument, so that one computed in floats can be put in
the place of the exact one; the exact one is then a sharper ``reference`` than any dataset.

``python -m checks.dropout_grid`` makes more than 20,000 comparisons (minutes); the test suite runs a sample.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import sympy as sp
from tqdm.auto import tqdm

from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.randomizers import BLH, KRR, OUE, BinaryRR, HadamardResponse, SubsetSelection, from_matrix
from shuffle_sym.truth import dropout
from shuffle_sym.truth.ground_truth import Divergences, Messages

RANDOMIZERS = 400
MOST_USERS = 8
_ALPHAS = ("1/2", "9/10", "1", "21/20", "6/5", "3/2", "5/2", "5")
_AT_ONCE = 3  # ratios α for one randomizer
_LARGE = 9  # inputs times messages from which on fewer users are tried
_FEWER_USERS = 6
_DIGITS = 15

Row = list[sp.Rational]
#: From R, x0, x1, n and α to upper bounds for 1, 2, …, n users.
Bounds = Callable[[Randomizer, int, int, int, sp.Rational], Sequence[Any]]


def each(bound: Callable[[Randomizer, int, int, int, sp.Rational], Any]) -> Bounds:
    """`Bounds` from a function of one number of users."""
    return lambda R, x0, x1, n, alpha: [bound(R, x0, x1, users, alpha) for users in range(1, n + 1)]


@dataclass
class Report:
    """What was compared: how often, by the number of users; how close a bound came; what went wrong.

    Only comparisons with a truth above max(0, 1 − α), which every mechanism has, are counted. ``tightest`` is the
    smallest ratio of bound and truth for each n, both above max(0, 1 − α), of bounds that are below that of one user.
    """

    counts: Counter[int] = field(default_factory=Counter)
    tightest: dict[int, Fraction] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    @property
    def comparisons(self) -> int:
        return self.counts.total()

    def __str__(self) -> str:
        ratios = ", ".join(f"n = {n}: {float(ratio):.4f}" for n, ratio in sorted(self.tightest.items()))
        return f"{self.comparisons} comparisons, {len(self.violations)} violations; tightest bound/truth {ratios}"


def random_matrix(rng: random.Random) -> list[Row]:
    """Two to four rows of two to four probabilities: dense, with zeros, nearly deterministic, or nearly equal."""
    inputs, width = rng.randint(2, 4), rng.randint(2, 4)
    kind = rng.choice(("dense", "dense", "zeros", "nearly deterministic", "nearly equal"))
    base = [rng.randint(1, 9) for _ in range(width)]
    rows = []
    for _ in range(inputs):
        weights = [rng.randint(1, 9) for _ in range(width)]
        if kind == "zeros":
            weights = [0 if rng.random() < 0.3 else weight for weight in weights]
        elif kind == "nearly deterministic":
            weights[rng.randrange(width)] = 300
        elif kind == "nearly equal":
            weights = [10 * b + rng.randint(0, 2) for b in base]
        weights[rng.randrange(width)] += 0 if any(weights) else 1
        rows.append([sp.Rational(weight, sum(weights)) for weight in weights])
    return rows


def catalogue() -> Iterator[Randomizer]:
    """Randomizers from the catalogue that have few messages."""
    for t in (sp.Rational(3, 2), sp.Integer(4)):
        yield BinaryRR(eps0=sp.log(t))
        yield KRR(k=3, eps0=sp.log(t))
        yield KRR(k=4, eps0=sp.log(t))
        yield BLH(d=3, eps0=sp.log(t))
        yield OUE(d=2, eps0=sp.log(t))
        yield HadamardResponse(K=4, eps0=sp.log(t))
        yield SubsetSelection(d=3, w=2, eps0=sp.log(t))


def truths(R: Randomizer, n: int, alphas: Sequence[sp.Rational]) -> dict[tuple[int, int], list[Fraction]]:
    """The largest divergence over all datasets of the others, for every ordered pair (x0, x1) and every α."""
    messages = Messages(R, n, alphas, _DIGITS)
    evaluate = Divergences(messages)
    largest: dict[tuple[int, int], list[Any]] = {}
    for others in combinations_with_replacement(range(messages.inputs), n - 1):
        law = messages.shuffled(others)
        shuffled = [messages.one_more(law, n - 1, x) for x in range(messages.inputs)]
        for x0, x1 in combinations(range(messages.inputs), 2):
            forward, backward = zip(*evaluate(shuffled[x0], shuffled[x1]), strict=True)
            for pair, values in (((x0, x1), forward), ((x1, x0), backward)):
                largest[pair] = [max(a, b) for a, b in zip(largest.get(pair, values), values, strict=True)]
    return {
        pair: [Fraction(str(evaluate.value(value, i))) for i, value in enumerate(values)]
        for pair, values in largest.items()
    }


@dataclass(frozen=True)
class Case:
    """One randomizer, the ratios α and the largest number of users it is checked with."""

    randomizer: Randomizer
    alphas: tuple[sp.Rational, ...]
    users: int


def random_cases(randomizers: int = RANDOMIZERS, seed: int = 0, most_users: int = MOST_USERS) -> Iterator[Case]:
    """The `catalogue` and ``randomizers`` at random; with many inputs and messages fewer users."""
    rng = random.Random(seed)
    for R in (*catalogue(), *(from_matrix(random_matrix(rng)) for _ in range(randomizers))):
        rows = R.rows()
        users = most_users if len(rows) * len(rows[0]) < _LARGE else min(most_users, _FEWER_USERS)
        yield Case(R, tuple(sp.Rational(alpha) for alpha in rng.sample(_ALPHAS, _AT_ONCE)), users)


def many_users() -> Iterator[Case]:
    """Randomizers and numbers of users for which the drop-out bound is below the blanket, two and more messages."""
    alphas = tuple(map(sp.Rational, ("1", "21/20", "6/5")))
    for t in (sp.Integer(2), sp.Integer(3)):
        yield Case(BLH(d=3, eps0=sp.log(t)), alphas, 10)
        yield Case(BinaryRR(eps0=sp.log(t)), alphas, 40)
    yield Case(SubsetSelection(d=4, w=2, eps0=sp.log(3)), alphas, 10)


def check(case: Case, bounds: Bounds, reference: Bounds | None, report: Report) -> None:
    """Every ordered pair, every α and every n from 2 on for one randomizer."""
    R = case.randomizer
    by_users = {n: truths(R, n, case.alphas) for n in range(2, case.users + 1)}
    for x0, x1 in by_users[2]:
        for i, alpha in enumerate(case.alphas):
            uppers = [_exactly(value) for value in bounds(R, x0, x1, case.users, alpha)]
            least = uppers if reference is None else reference(R, x0, x1, case.users, alpha)
            for n in range(2, case.users + 1):
                truth, upper = by_users[n][x0, x1][i], uppers[n - 1]
                if upper < max(truth, _exactly(least[n - 1])):
                    report.violations.append(
                        f"{R!r}, x0 = {x0}, x1 = {x1}, n = {n}, alpha = {alpha}: bound {float(upper)}, "
                        f"some dataset {float(truth)}, reference {float(least[n - 1])}"
                    )
                _count(report, n, truth, upper, uppers[0], 1 - _exactly(alpha))


def _exactly(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else Fraction(value)


def _count(report: Report, n: int, truth: Fraction, upper: Fraction, alone: Fraction, floor: Fraction) -> None:
    floor = max(floor, Fraction(0))
    if truth > floor:
        report.counts[n] += 1
        ratio = (upper - floor) / (truth - floor)
        if upper < alone:
            report.tightest[n] = min(ratio, report.tightest.get(n, ratio))


def run(
    cases: Iterable[Case],
    bounds: Bounds = dropout.bounds,
    *,
    reference: Bounds | None = None,
    progress: bool = False,
    stop: bool = False,
) -> Report:
    """Compare bounds with all datasets, and with ``reference`` where it is given.

    Args:
        cases: what to compare them on, see `random_cases` and `many_users`.
        bounds: what is checked, see `Bounds` and `each`.
        reference: a lower bound on ``bounds`` that is above the truth, such as the exact `dropout.bounds`.
        progress: whether to show a progress bar.
        stop: whether to end at the first violation.
    """
    report = Report()
    for case in tqdm(list(cases), desc="drop-out", disable=not progress):
        check(case, bounds, reference, report)
        if stop and report.violations:
            break
    return report


def main() -> int:
    """The full grid, with the exact bound."""
    report = run((*random_cases(), *many_users()), progress=True)
    for violation in report.violations:
        print(f"VIOLATION: {violation}")
    print(f"Drop-out bound against all datasets: {report}")
    return 1 if report.violations else 0


if __name__ == "__main__":
    raise SystemExit(main())
