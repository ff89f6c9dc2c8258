r"""Divergences and Rényi moments of real datasets, and the largest over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth.ground_truth.messages import Divergences, Messages, RenyiMoments, refuse_too_many
from shuffle_sym.truth.ground_truth.search import Dataset, Evaluator, Progress, Search, checked, first, others_of


@dataclass(frozen=True)
class WorstPair:
    """Neighbouring datasets with the largest divergence, ``delta`` = D_α(X0 ‖ X1).

    Of several such pairs, up to symmetry, it is the first in lexicographic order; ``tied`` holds all of them.

    >>> import shuffle_sym as ss
    >>> worst_pair(ss.BinaryRR(eps0=sp.log(3)), n=2, alpha=2).X0
    (0, 0)
    """

    X0: Dataset
    X1: Dataset
    delta: Any
    tied: tuple[tuple[Dataset, Dataset], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class WorstMoment:
    """Neighbouring datasets with the largest Rényi moment of one order, E[(X0/X1)^λ] under X1.

    ``tied`` holds all pairs that attain it.

    >>> import shuffle_sym as ss
    >>> worst_moments(ss.BinaryRR(eps0=sp.log(3)), 2, [2])[0].moment
    29/15
    """

    X0: Dataset
    X1: Dataset
    moment: Any
    tied: tuple[tuple[Dataset, Dataset], ...] = field(default=(), repr=False, compare=False)


def delta(R: Randomizer, X0: Sequence[int], X1: Sequence[int], alpha: Any, digits: int = 50) -> Any:
    r"""D_α between the shuffled messages of two neighbouring datasets, :math:`\sum_h [P_0(h) - \alpha P_1(h)]_+`.

    X0 and X1 are tuples of 0-based inputs that differ in one user. A ``Rational`` if R and α are rational, else an
    ``mpf``; its terms are computed with ``digits`` digits and some to spare.

    >>> import shuffle_sym as ss
    >>> delta(ss.BinaryRR(eps0=sp.log(3)), (0, 1), (1, 1), 2)
    1/16
    """
    return deltas(R, X0, X1, [alpha], digits)[0]


def deltas(R: Randomizer, X0: Sequence[int], X1: Sequence[int], alphas: Sequence[Any], digits: int = 50) -> list[Any]:
    """`delta` (R, X0, X1, ``digits``) at several ``alphas``; datasets are multiplied out and ratios sorted once.

    >>> import shuffle_sym as ss
    >>> deltas(ss.BinaryRR(eps0=sp.log(3)), (0, 1), (1, 1), [1, 2])
    [3/8, 1/16]
    """
    messages, first_law, second_law = _laws(R, X0, X1, [arguments.ratio(a) for a in alphas], digits)
    evaluate = Divergences(messages)
    return [evaluate.value(forward, i) for i, (forward, _) in enumerate(evaluate(first_law, second_law))]


def worst_pair(R: Randomizer, n: int, alpha: Any, digits: int = 50) -> WorstPair:
    r"""The largest `delta` (R, α, ``digits``) over *all* neighbouring datasets of n users, in both directions.

    >>> import shuffle_sym as ss
    >>> worst_pair(ss.BinaryRR(eps0=sp.log(3)), 2, 2)
    WorstPair(X0=(0, 0), X1=(1, 0), delta=3/16)
    """
    return worst_pairs(R, n, [alpha], digits)[0]


def worst_pairs(
    R: Randomizer,
    n: int,
    alphas: Sequence[Any],
    digits: int = 50,
    *,
    progress: Progress | None = None,
    path: str | Path | None = None,
) -> list[WorstPair]:
    """`worst_pair` of R, n, ``digits`` for several ``alphas``; every dataset is multiplied out once for all of them.

    ``progress`` is a function such as ``tqdm.auto.tqdm`` that wraps the parts of the search. With ``path`` every
    finished part is written to that file, and parts that are there already are not computed again: an interrupted
    search goes on where it stopped.

    >>> import shuffle_sym as ss
    >>> [w.delta for w in worst_pairs(ss.KRR(k=3, eps0=sp.log(3)), 4, [1, 2, 3])]
    [6/25, 33/625, 0]
    """
    ratios = [arguments.ratio(a) for a in alphas]
    return [WorstPair(*row) for row in _worst(R, n, ratios, digits, Divergences, progress, path)]


def renyi_moment(R: Randomizer, X0: Sequence[int], X1: Sequence[int], order: Any, digits: int = 50) -> Any:
    r"""E[(P_0/P_1)^λ] under P_1, λ = ``order`` > 1; R, X0, X1, ``digits`` as for `delta`: :math:`\sum_h P_0(h)^\lambda
    P_1(h)^{1-\lambda}`. A ``Rational`` if R is rational and λ an integer, else an ``mpf``.

    >>> import shuffle_sym as ss
    >>> renyi_moment(ss.BinaryRR(eps0=sp.log(3)), (1, 0), (0, 0), 2)
    5/3
    """
    messages, first_law, second_law = _laws(R, X0, X1, [arguments.order(order)], digits)
    moments = RenyiMoments(messages)
    return moments.value(moments.moment(first_law, second_law, 0), 0)


def worst_moments(
    R: Randomizer,
    n: int,
    orders: Sequence[Any],
    digits: int = 50,
    *,
    progress: Progress | None = None,
    path: str | Path | None = None,
) -> list[WorstMoment]:
    r"""The largest Rényi moments over *all* neighbouring datasets of n users, in both directions, one for each order.
    ``digits``, ``progress`` and ``path`` are those of `worst_pairs`.

    >>> import shuffle_sym as ss
    >>> worst_moments(ss.BinaryRR(eps0=sp.log(3)), 2, [2])
    [WorstMoment(X0=(0, 0), X1=(1, 0), moment=29/15)]
    """
    powers = [arguments.order(e) for e in orders]
    return [WorstMoment(*row) for row in _worst(R, n, powers, digits, RenyiMoments, progress, path)]


def _worst(
    R: Randomizer,
    n: int,
    parameters: Sequence[sp.Expr],
    digits: int,
    evaluator: type[Evaluator],
    progress: Progress | None,
    path: str | Path | None,
) -> list[tuple[Dataset, Dataset, Any, tuple[tuple[Dataset, Dataset], ...]]]:
    """For each α or order the neighbouring datasets with the largest value, the value, and all that tie with them."""
    digits = checked(R, digits)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function such as tqdm.auto.tqdm, got {progress!r}")
    search = Search(R, arguments.users(n), parameters, digits, evaluator)
    largest = []
    for i, worst in enumerate(search.run(progress, path)):
        tied = [((x0, *others_of(counts)), (x1, *others_of(counts))) for x0, x1, counts in worst.triples]
        x0, x1, counts = first(worst.triples)
        value = search.evaluate.value(worst.value, i)
        largest.append(((x0, *others_of(counts)), (x1, *others_of(counts)), value, tuple(sorted(tied))))
    return largest


def _laws(R: Randomizer, X0: Any, X1: Any, parameters: Sequence[sp.Expr], digits: Any) -> tuple[Messages, Any, Any]:
    digits = checked(R, digits)
    first_set, second_set = _dataset(R, X0, "X0"), _dataset(R, X1, "X1")
    differing = [i for i, (x0, x1) in enumerate(zip(first_set, second_set, strict=False)) if x0 != x1]
    if len(first_set) != len(second_set) or len(differing) != 1:
        raise ValueError(f"X0 and X1 must be equally long and differ in one user, got {first_set} and {second_set}")
    (i,) = differing
    messages = Messages(R, len(first_set), parameters, digits)
    refuse_too_many(R, len(first_set), messages.width)
    others = messages.shuffled((*first_set[:i], *first_set[i + 1 :]))
    P, Q = (messages.one_more(others, len(first_set) - 1, X[i]) for X in (first_set, second_set))
    return messages, P, Q


def _dataset(R: Randomizer, X: Any, name: str) -> Dataset:
    if isinstance(X, np.ndarray):
        X = X.tolist()
    if not isinstance(X, (tuple, list)) or not X:
        raise TypeError(f"{name} must be a non-empty tuple of inputs, got {X!r}")
    return tuple(R.input(x, f"{name}[{i}]") for i, x in enumerate(X))
