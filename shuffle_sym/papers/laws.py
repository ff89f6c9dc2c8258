r"""Small laws, literally: shuffled messages, mixtures, divergences and moments, outcome by outcome in fractions."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.tools import F, collected, fraction, positive_mean, sum_of_copies
from shuffle_sym.truth.histograms import hockey_stick

Law = Mapping[Any, F]
Histogram = tuple[int, ...]


def shuffled(laws: Sequence[Sequence[F]]) -> dict[Histogram, F]:
    """The histogram of independent messages, one from each law."""
    histograms: dict[Histogram, F] = {(0,) * len(laws[0]): F(1)}
    for law in laws:
        sent = product(histograms.items(), enumerate(law))
        histograms = collected(((*h[:y], h[y] + 1, *h[y + 1 :]), mass * p) for (h, mass), (y, p) in sent if p)
    return histograms


def rows(R: Any) -> list[list[F]]:
    """The law of every input of a rational randomizer."""
    return [[fraction(e) for e in row] for row in R.matrix().tolist()]


def floors(R: Any) -> list[F]:
    """The least probability of every message: γω, the part that all inputs share."""
    return [min(column) for column in zip(*rows(R), strict=True)]


def moment(P: Law, Q: Law, order: int) -> F:
    """E_Q[(P/Q)^λ], outcome by outcome, for an integer λ."""
    return sum((p**order / Q[h] ** (order - 1) for h, p in P.items() if p), F(0))


def mixed(parts: Iterable[tuple[F, Law]]) -> dict[Any, F]:
    """The mixture of laws with these weights."""
    return collected((outcome, weight * mass) for weight, law in parts for outcome, mass in law.items())


def binomial(n: int, p: F) -> list[F]:
    """The probabilities of 0, …, n successes in n independent trials.

    >>> binomial(2, F(1, 3))
    [Fraction(4, 9), Fraction(4, 9), Fraction(1, 9)]
    """
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def chosen(users: int, chance: F) -> list[tuple[F, tuple[bool, ...]]]:
    """The probability of each set of users, as who is in it, if each is chosen with this chance.

    >>> chosen(1, F(1, 3))
    [(Fraction(1, 3), (True,)), (Fraction(2, 3), (False,))]
    """
    sets = product((True, False), repeat=users)
    return [(math.prod((chance if is_in else 1 - chance for is_in in who), start=F(1)), who) for who in sets]


def positive_part(law: Iterable[tuple[F, F]], count: int) -> F:
    """E[X_1 + … + X_count]_+ for independent copies of a variable with these (value, probability)."""
    return positive_mean(sum_of_copies(collected(law), count))


def shuffled_datasets(R: Randomizer, X0: Sequence[int], X1: Sequence[int]) -> dict[Histogram, tuple[F, F]]:
    """Histogram of the messages → its probabilities under two datasets, for a rational randomizer.

    >>> from shuffle_sym.randomizers import from_matrix
    >>> shuffled_datasets(from_matrix([[0.75, 0.25], [0.25, 0.75]]), (0,), (1,))[1, 0]
    (Fraction(3, 4), Fraction(1, 4))
    """
    laws = rows(R)
    P, Q = (shuffled([laws[x] for x in X]) for X in (X0, X1))
    return {h: (P.get(h, F(0)), Q.get(h, F(0))) for h in P | Q}


def divergence_of_laws(P: Mapping[Any, F], Q: Mapping[Any, F], alpha: F) -> F:
    """Σ [P − αQ]_+ over the outcomes of two laws.

    >>> divergence_of_laws({"a": F(3, 4), "b": F(1, 4)}, {"b": F(1)}, F(2))
    Fraction(3, 4)
    """
    return hockey_stick(((p, Q.get(v, F(0))) for v, p in P.items()), alpha)


def _copies_add() -> bool:
    """Sums S of n copies of X, which has three values: E[S] = nE[X], E[S²] = nE[X²] + n(n − 1)E[X]², and E[S]_+ and
    E[−S]_+ are at most n times those of X."""
    one = {F(-3): F(1, 2), F(1): F(1, 3), F(4): F(1, 6)}
    parts: list[Callable[[F], F]] = [F, lambda v: v**2, lambda v: max(v, F(0)), lambda v: max(-v, F(0))]
    sums = [[sum(m * f(v) for v, m in sum_of_copies(one, n).items()) for f in parts] for n in range(1, 5)]
    mean, square, up, down = sums[0]
    return all(
        first == n * mean and second == n * square + n * (n - 1) * mean**2 and more <= n * up and less <= n * down
        for n, (first, second, more, less) in enumerate(sums, 1)
    )


#: A check of what is said of sums of independent copies.
COPIES = (r"for a law with three values, $n \le 4$, in fractions", _copies_add)
