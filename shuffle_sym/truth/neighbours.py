r"""The worst neighbours: which pair of datasets maximises the divergence, for every n and α, by brute force.

Su et al. 2025 (Section 9) take for a plausible candidate that all other users have one third value, for every ε;
Koskela et al. 2021 (Section 4) take for 2-RR that all of them have x0. Both are *families* here, to be compared with
the truth, and so is what our own conjectures say (`RULES`). Everything is exact: fractions where t and α are rational.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.model.decomposition import blankets
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth import exact, ground_truth

Dataset = tuple[int, ...]
Pair = tuple[Dataset, Dataset]

#: What the others of a candidate have, given x0, x1 and the number of inputs: one dataset for each value listed.
FAMILIES: dict[str, Callable[[int, int, int], Iterable[int]]] = {
    "third": lambda x0, x1, inputs: (x for x in range(inputs) if x not in (x0, x1)),
    "own": lambda x0, x1, inputs: (x0, x1),
    "equal": lambda x0, x1, inputs: range(inputs),
}


def _values(pair: Pair) -> Counter[int]:
    return Counter(pair[0][1:])


#: Statements about a worst pair; `shuffle_sym.truth.conjectures` says which of them are our own conjectures.
RULES: dict[str, Callable[[Pair], bool]] = {
    "the others have at most two values": lambda pair: len(_values(pair)) <= 2,
    "nobody else has x1": lambda pair: pair[1][0] not in _values(pair),
    "the others have one value": lambda pair: len(_values(pair)) <= 1,
}


def kind(X0: Dataset, X1: Dataset) -> str:
    """What the others have in X0 and X1, in words.

    >>> kind((0, 2, 2), (1, 2, 2)), kind((0, 0, 1, 2, 3), (1, 0, 1, 2, 3)), kind((0,), (1,))
    ('all third', 'x0, x1, two thirds', 'nobody else')
    """
    others = _values((X0, X1))
    thirds = len(set(others) - {X0[0], X1[0]})
    named = [name for name, x in (("x0", X0[0]), ("x1", X1[0])) if x in others]
    many = {0: [], 1: ["third"], 2: ["two thirds"], 3: ["three thirds"]}.get(thirds, [f"{thirds} thirds"])
    words = [*named, *many]
    if not words:
        return "nobody else"
    return f"all {words[0]}" if len(others) == 1 else ", ".join(words)


@dataclass(frozen=True)
class MapRow:
    """The truth of a ``randomizer`` at one n and α: a worst pair, those ``tied`` with it, and what the blanket says.

    >>> import shuffle_sym as ss
    >>> (row,) = worst_map(ss.KRR(k=3, eps0=sp.log(3)), [2], [sp.Rational(3, 2)])
    >>> row.pair, row.truth <= row.blanket
    (((0, 2), (1, 2)), True)
    """

    randomizer: str
    n: int
    alpha: sp.Expr
    pair: Pair
    tied: tuple[Pair, ...]
    truth: Any
    blanket: Any = None

    @property
    def kind(self) -> str:
        return kind(*self.pair)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of pairs that attain the largest divergence."""
        return tuple(dict.fromkeys(kind(*pair) for pair in self.tied))

    @property
    def excess(self) -> float:
        """How far the blanket is above the truth, relative to the truth; 0 where both are 0."""
        return float(self.blanket / self.truth - 1) if self.truth else 0.0

    def obeys(self, rule: str) -> bool:
        """Whether some worst pair is as the rule says."""
        return any(RULES[rule](pair) for pair in self.tied)


def worst_map(
    R: Randomizer,
    users: Sequence[Any],
    alphas: Sequence[Any],
    *,
    blanket: bool = True,
    progress: Callable[..., Any] | None = None,
    path: str | Path | None = None,
) -> list[MapRow]:
    r"""The worst pair of all neighbouring datasets of R for every n in ``users`` and α in ``alphas``, in this order.

    With ``blanket`` its divergence stands beside it, the largest over the pairs of inputs; else that is None.
    ``progress`` and ``path`` are those of `ground_truth.worst_pairs`.

    >>> import shuffle_sym as ss
    >>> rows = worst_map(ss.KRR(k=3, eps0=sp.log(3)), [2], [sp.Rational(3, 2), sp.Rational(5, 2)])
    >>> [(row.kind, row.truth) for row in rows]
    [('all third', 11/50), ('all x0', 3/50)]
    """
    sizes = [arguments.users(n) for n in _listed(users, "users")]
    ratios = [arguments.ratio(a) for a in _listed(alphas, "alphas")]
    rows = []
    for n in sizes:
        for alpha, worst in zip(
            ratios, ground_truth.worst_pairs(R, n, ratios, progress=progress, path=path), strict=True
        ):
            above = _blanket(R, n, alpha) if blanket else None
            rows.append(MapRow(repr(R), n, alpha, (worst.X0, worst.X1), worst.tied, worst.delta, above))
    return rows


def _blanket(R: Randomizer, n: int, alpha: sp.Expr) -> Any:
    """The blanket's divergence, the largest over the pairs of inputs."""
    values = (exact.divergence(D, n, alpha) for D in blankets(R))
    return max(values, key=lambda value: arguments.exact_number(value, "value"))


def _listed(values: Any, name: str) -> Sequence[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not len(values):
        raise TypeError(f"{name} must be a list with at least one entry, got {values!r}")
    return list(values)


def family_values(R: Randomizer, n: Any, alphas: Sequence[Any], family: str) -> list[Any]:
    r"""For each of ``alphas`` the largest D_α of n users of R over a family of `FAMILIES`: all x0, x1, in both
    directions, and for the others one of the values that the family allows.

    >>> import shuffle_sym as ss
    >>> family_values(ss.KRR(k=3, eps0=sp.log(3)), 2, [sp.Rational(5, 2)], "third")
    [1/50]
    """
    arguments.one_of(family, "family", FAMILIES)
    n, inputs = arguments.users(n), int(R.input_count)
    best: list[Any] = [None] * len(alphas)
    for x0, x1 in R.pairs():
        for x in FAMILIES[family](x0, x1, inputs):
            others = (x,) * (n - 1)
            for i, value in enumerate(ground_truth.deltas(R, (x0, *others), (x1, *others), alphas)):
                best[i] = value if best[i] is None else max(best[i], value)
    if None in best:
        raise ValueError(f"family {family!r} needs a third input, but {R!r} has {inputs} inputs")
    return best


@dataclass(frozen=True)
class Witness:
    """A pair for a ``randomizer`` whose ``truth`` is above every ``candidate`` of a family, at the first n and α.

    >>> import shuffle_sym as ss
    >>> witness(ss.BinaryRR(eps0=sp.log(2)), "own", [3], [1]).truth
    5/27
    """

    randomizer: str
    n: int
    alpha: sp.Expr
    pair: Pair
    truth: Any
    family: str
    candidate: Any


def witness(R: Randomizer, family: str, users: Sequence[Any], alphas: Sequence[Any]) -> Witness | None:
    r"""The first n of ``users`` and α of ``alphas`` at which a pair for R is worse than all of a family, or None.

    >>> import shuffle_sym as ss
    >>> first = witness(ss.BinaryRR(eps0=sp.log(2)), "own", [2, 3], [1])
    >>> first.n, first.pair, first.truth, first.candidate
    (3, ((0, 0, 1), (1, 0, 1)), 5/27, 4/27)
    """
    for n in _listed(users, "users"):
        candidates = family_values(R, n, alphas, family)
        for alpha, worst, candidate in zip(alphas, ground_truth.worst_pairs(R, n, alphas), candidates, strict=True):
            if worst.delta > candidate:
                ratio = arguments.ratio(alpha)
                return Witness(repr(R), int(n), ratio, (worst.X0, worst.X1), worst.delta, family, candidate)
    return None


def exceptions(rows: Iterable[MapRow], rule: str) -> list[MapRow]:
    """Those ``rows`` of a map in which no worst pair is as the rule says (where δ is 0, α > 0 says nothing).

    >>> import shuffle_sym as ss
    >>> exceptions(worst_map(ss.KRR(k=3, eps0=sp.log(3)), [2], [sp.Rational(3, 2)]), next(iter(RULES)))
    []
    """
    arguments.one_of(rule, "rule", RULES)
    return [row for row in rows if row.truth and not row.obeys(rule)]
