r"""Answers about the mechanism against the maximum over *all* neighbouring datasets, which is exact.

=================  ====================================================================================================
`maximum`          the maximum, by brute force, lies in the interval of `Shuffle(R, n)`, n <= 8, and up to n = 30 where
                   the drop-out bound is below the blanket; the datasets that are named attain the lower end
`by_itself`        the drop-out bound alone, by moduli (Lemma 3) and with equal others (Lemma X), is neither below the
                   exact bound nor below the maximum, for every ordered pair of inputs
`two_messages`     up to n = 2,000 all datasets are tried in certified doubles
`any_randomizer`   `AnyRandomizer(eps0)` is above every randomizer with that ε0, and below 2-RR or 3-RR
=================  ====================================================================================================

α is below and above 1 everywhere. ``make cross-check`` runs it all (minutes); the test suite runs a sample.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from checks import dropout_grid
from checks.dropout_grid import Case
from checks.reports import Comparison, Report, run
from shuffle_sym.accounting.bounds import DropOutOfPair, PairOfInputs, prepared
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments, precise
from shuffle_sym.model import decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.randomizers import KRR, AnyRandomizer, BinaryRR, from_matrix
from shuffle_sym.truth import dropout, ground_truth
from shuffle_sym.truth.two_messages import TwoMessages
from shuffle_sym.truth.worst_datasets import candidates

MATRICES = 450
WAYS = {"moduli": False, "equal others": True}  # of the drop-out bound, and whether equal others are tried
_ALPHAS = ("1/3", "4/5", "99/100", "1", "1001/1000", "21/20", "6/5", "3/2", "5/2", "8")
_RTOLS = (0.05, 0.01, 0.01, 1e-3)
_BY_ITSELF = 120  # matrices for which the drop-out bound is checked by itself
_FAMILY = 120
_TWO_MESSAGES = (3, 10, 30, 100, 300, 1_000, 2_000)
_EPSILONS = (0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5)
_LEAST = 1e-14  # of δ below which two messages in doubles say nothing


def _fraction(value: Any) -> Fraction:
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    return value if isinstance(value, Fraction) else precise.fraction(value)


# -- the interval of the mechanism


def matrices(count: int, seed: int = 1) -> list[Case]:
    """Random matrices of every kind, and randomizers of the catalogue, with ten α each."""
    alphas = tuple(map(sp.Rational, _ALPHAS))
    return [Case(case.randomizer, alphas, case.users) for case in dropout_grid.random_cases(count, seed)]


def many_users() -> list[Case]:
    """Three messages and few inputs, so that all datasets of 20 and more users can be tried."""
    q = sp.Rational
    rows = {
        "two inputs": [[q(5, 10), q(3, 10), q(2, 10)], [q(3, 10), q(4, 10), q(3, 10)]],
        "three inputs": [
            [q(5, 10), q(3, 10), q(2, 10)],
            [q(3, 10), q(4, 10), q(3, 10)],
            [q(2, 10), q(3, 10), q(5, 10)],
        ],
        "nearly alike": [
            [q(5, 12), q(4, 12), q(3, 12)],
            [q(4, 12), q(4, 12), q(4, 12)],
            [q(3, 12), q(5, 12), q(4, 12)],
        ],
        "a zero": [[q(5, 10), q(3, 10), q(2, 10)], [q(3, 10), q(4, 10), q(3, 10)], [q(4, 10), q(6, 10), 0]],
    }
    alphas = tuple(map(sp.Rational, ("4/5", "1", "21/20", "6/5", "13/10")))
    mechanisms = [*map(from_matrix, rows.values()), KRR(k=3, eps0=sp.log(2)), BinaryRR(eps0=sp.log(3))]
    return [Case(R, alphas, n) for R in mechanisms for n in (15, 20, 25, 30)]


def maximum(case: Case) -> Iterator[Comparison]:
    """All numbers of users up to that of the case."""
    for n in range(1, case.users + 1):
        yield from maximum_at(Case(case.randomizer, case.alphas, n))


def maximum_at(case: Case) -> Iterator[Comparison]:
    """The maximum over all datasets in the interval of the mechanism, and the datasets that are named below it."""
    R, n = case.randomizer, case.users
    rtol = random.Random(repr((R, n))).choice(_RTOLS)
    answers = Shuffle(R, n).hockey_stick(list(case.alphas), rtol=rtol)
    worst = ground_truth.worst_pairs(R, n, case.alphas)
    for alpha, answer, pair in zip(case.alphas, answers, worst, strict=True):
        where = f"{R!r}, n = {n}, alpha = {alpha}, rtol = {rtol}: {answer!r}"
        by = answer.upper_by.split(",")[0]
        yield Comparison(f"the maximum is in the interval, by {by}", pair.delta in answer, f"{where}, {pair}")
        if (named := answer.lower_by) is None:
            continue  # no loss is so large
        attained = _fraction(ground_truth.delta(R, named.X0, named.X1, alpha))
        yield Comparison(
            "the named datasets attain the lower end", Fraction(answer.lower) <= attained, f"{where} {named}"
        )


# -- the drop-out bound by itself


def in_doubles(R: Randomizer, x0: int, x1: int, n: int, alpha: sp.Rational, equal: bool) -> Fraction:
    """The drop-out bound of one ordered pair of inputs: by moduli, or with equal others where that is certified."""
    if alpha < 1:  # as the mechanism does it: the other direction
        return 1 - _fraction(alpha) + _fraction(alpha) * in_doubles(R, x1, x0, n, 1 / alpha, equal)
    blanket = decomposition.blanket(R, x0, x1)
    pair = PairOfInputs(blanket, blanket, tuple(D for _, D in candidates(R, x0, x1)))
    ((bound, _),) = DropOutOfPair(prepared(R), pair, n, equal=equal).at([Ratio(alpha=alpha)], None)
    return Fraction(bound.value)


def by_itself(case: Case) -> Iterator[Comparison]:
    """Every ordered pair, α and n from 2 on: exact bound and maximum against the bound in doubles."""
    R = case.randomizer
    for n in range(2, case.users + 1):
        yield from by_itself_at(Case(R, case.alphas, n))


def by_itself_at(case: Case) -> Iterator[Comparison]:
    """Every ordered pair and α at one n."""
    R, n = case.randomizer, case.users
    for (x0, x1), truths in dropout_grid.truths(R, n, case.alphas).items():
        for alpha, truth in zip(case.alphas, truths, strict=True):
            exact = _fraction(dropout.bound(R, x0, x1, n, alpha))
            where = (
                f"{R!r}, x0 = {x0}, x1 = {x1}, n = {n}, alpha = {alpha}: maximum {float(truth)}, exact {float(exact)}"
            )
            yield Comparison("maximum <= exact drop-out bound", truth <= exact, where)
            for name, equal in WAYS.items():
                value = in_doubles(R, x0, x1, n, alpha, equal)
                detail = f"{where}, in doubles {float(value)}"
                yield Comparison(f"maximum <= drop-out bound, {name}", truth <= value, detail)
                yield Comparison(f"exact drop-out bound <= in doubles, {name}", exact <= value, detail)


# -- two messages, and every randomizer with one ε0


def with_two_messages() -> list[Case]:
    """Matrices with two messages; the n of `two_messages` are its own."""
    q = sp.Rational
    rows = [
        [[q(7, 10), q(3, 10)], [q(2, 10), q(8, 10)]],
        [[q(1, 2), q(1, 2)], [q(2, 5), q(3, 5)], [q(1, 4), q(3, 4)]],
        [[q(99, 100), q(1, 100)], [q(1, 50), q(49, 50)]],
        [[q(51, 100), q(49, 100)], [q(1, 2), q(1, 2)]],
        [[q(1), q(0)], [q(1, 2), q(1, 2)]],
    ]
    twos = [BinaryRR(eps0=sp.log(t)) for t in (q(3, 2), q(3), q(10), q(55))]
    return [Case(R, (), n) for R in (*twos, *map(from_matrix, rows)) for n in _TWO_MESSAGES]


def two_messages(case: Case) -> Iterator[Comparison]:
    """The worst of all datasets, in certified doubles, against the interval of the mechanism."""
    R, n = case.randomizer, case.users
    truth = TwoMessages(R, n)
    for eps, answer in zip(_EPSILONS, Shuffle(R, n).delta(list(_EPSILONS)), strict=True):
        worst = truth.delta(eps)
        if worst.upper <= _LEAST:
            continue
        where = f"{R!r}, n = {n}, eps = {eps}: {answer!r}, all datasets {worst!r}"
        holds = answer.lower <= worst.upper and worst.lower <= answer.upper
        yield Comparison(f"two messages in the interval, by {answer.upper_by.split(',')[0]}", holds, where)
        ratio, whole = Ratio(eps=arguments.central_epsilon(eps)), prepared(R)
        for name, equal in WAYS.items():
            dropped = (DropOutOfPair(whole, pair, n, equal=equal).at([ratio], None) for pair in whole.pairs)
            ends = [bound.value for ((bound, _),) in dropped]
            detail = f"{where}, drop-out {max(ends)}"
            yield Comparison(f"two messages <= drop-out bound, {name}", worst.lower <= max(ends), detail)


def family(count: int, seed: int = 2) -> list[Case]:
    """Random randomizers with a finite ε0."""
    rng, alphas = random.Random(seed), tuple(map(sp.Rational, ("1/2", "1", "21/20", "3/2", "3")))
    matrices = [dropout_grid.random_matrix(rng) for _ in range(2 * count)]
    finite = [rows for rows in matrices if all(p for row in rows for p in row)][:count]
    return [Case(R, alphas, 4) for R in map(from_matrix, finite) if R.eps0 != 0]


def any_randomizer(case: Case) -> Iterator[Comparison]:
    """The maximum over all datasets of one randomizer, and that of 2-RR and 3-RR with its ε0."""
    R, alphas = case.randomizer, case.alphas
    for n in range(1, case.users + 1):
        answers = Shuffle(AnyRandomizer(eps0=R.eps0), n).hockey_stick(list(alphas))
        truths = [ground_truth.worst_pairs(each, n, alphas) for each in (R, BinaryRR(eps0=R.eps0), KRR(3, eps0=R.eps0))]
        for alpha, answer, of_one, of_two, of_three in zip(alphas, answers, *truths, strict=True):
            where = f"{R!r}, n = {n}, alpha = {alpha}: {answer!r}, {of_one}, {of_two}, {of_three}"
            below = _fraction(of_one.delta) <= Fraction(answer.upper)
            yield Comparison("one randomizer <= any randomizer", below, where)
            largest = max(_fraction(worst.delta) for worst in (of_two, of_three))
            yield Comparison("2-RR or 3-RR is in the interval of any", largest in answer, where)


def parts() -> Iterable[tuple[str, Any, Sequence[Case]]]:
    """Title, check and cases of everything here."""
    yield "the mechanism against all datasets", maximum, matrices(MATRICES)
    yield "the mechanism against all datasets of many users", maximum_at, many_users()
    yield "the drop-out bound by itself", by_itself, list(dropout_grid.random_cases(_BY_ITSELF, seed=3))
    yield "two messages", two_messages, with_two_messages()
    yield "any randomizer", any_randomizer, family(_FAMILY)


def main() -> int:
    """Everything here; 1 if something is wrong."""
    reports: list[Report] = [run(*part) for part in parts()]
    return 1 if any(report.violations for report in reports) else 0


if __name__ == "__main__":
    raise SystemExit(main())
