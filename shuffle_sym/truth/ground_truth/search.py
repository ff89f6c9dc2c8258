r"""The search over all neighbouring datasets, up to symmetry, part by part."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, precise, records
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.ground_truth.messages import MAX_HISTOGRAMS, Divergences, Messages, RenyiMoments
from shuffle_sym.truth.ground_truth.symmetry import Counts, Symmetry, Triple
from shuffle_sym.truth.histograms import histogram_count

MAX_COMPARISONS = 2_000_000_000  # histograms compared, over all pairs of datasets; some minutes
_PARTS = 200
_SECONDS_OF_DOUBLES, _SECONDS_OF_INTEGERS, _SECONDS_OF_MP = 1.5e-8, 1.5e-7, 4e-6  # of a histogram in one pass

Dataset = tuple[int, ...]
Progress = Callable[..., Any]
Evaluator = Divergences | RenyiMoments


@dataclass
class Worst:
    """The largest value so far, and every pair of datasets, by its name, that has it."""

    value: Any = None
    triples: list[Triple] = field(default_factory=list)

    def add(self, value: Any, triples: Sequence[Triple], tolerance: Any) -> None:
        if self.value is None or value > self.value + abs(self.value) * tolerance:
            self.value, self.triples = value, list(triples)
        elif value >= self.value - abs(self.value) * tolerance:
            self.triples = self.triples + [t for t in triples if t not in self.triples]
            if not value:
                self.triples = [first(self.triples)]  # nothing to tell apart: one name is enough


def first(triples: Sequence[Triple]) -> Triple:
    """The first in the order of (x0, x1, others), the others as a sorted tuple."""
    return min(triples, key=lambda triple: (triple[0], triple[1], others_of(triple[2])))


def others_of(counts: Counts) -> Dataset:
    """The others as a sorted tuple, from how many of them have each input."""
    return tuple(x for x, count in enumerate(counts) for _ in range(count))


class Search:
    """All neighbouring datasets of n users, and what is computed for each of them."""

    def __init__(
        self, R: Randomizer, n: int, parameters: Sequence[sp.Expr], digits: int, evaluator: type[Evaluator]
    ) -> None:
        _refuse_too_many(R, n)
        self.messages = Messages(R, n, parameters, digits)
        self.symmetry = Symmetry(self.messages.columns)
        self.evaluate = evaluator(self.messages)
        self.digits = digits
        # Exact values are compared as they are; of mpmath numbers the digits that were asked for count.
        self.tolerance: Any = 0 if self.messages.exact else self.messages.mp.mpf(10) ** -digits
        self._named = sorted({x for pair in self.symmetry.pairs for x in pair})
        self.described = {
            "randomizer": repr(R),
            "n": n,
            "what": evaluator.__name__,
            "parameters": " ".join(map(str, parameters)),
            "digits": 0 if self.messages.exact else digits,
        }

    def run(self, progress: Progress | None, path: str | Path | None) -> list[Worst]:
        """The largest values, over all parts; with ``path`` every finished part is kept in that file."""
        parts = list(self._parts())
        worst = [Worst() for _ in self.messages.parameters]
        for part in parts if progress is None else progress(parts, desc="datasets", unit="part"):
            of_part = self._of_part(part) if path is None else self._kept(part, path)
            for best, other in zip(worst, of_part, strict=True):
                if other.value is not None:
                    best.add(other.value, other.triples, self.tolerance)
        return worst

    def _parts(self) -> Iterator[Dataset]:
        """Beginnings of the sorted others, about as many as a progress bar needs."""
        length = 0
        while length < self.messages.n - 1 and histogram_count(length + 1, self.messages.inputs) <= _PARTS:
            length += 1
        for counts, _, _ in self._others((), length, product=False):
            yield others_of(counts)

    def _others(self, beginning: Dataset, length: int, *, product: bool = True) -> Iterator[tuple[Counts, Any, int]]:
        """Multisets of ``length`` inputs that begin so, with polynomials; common beginnings are multiplied once."""
        messages = self.messages

        def extended(counts: list[int], last: int, level: int, law: Any) -> Iterator[tuple[Counts, Any, int]]:
            if level == length:
                yield tuple(counts), law, level
                return
            for x in range(last, messages.inputs):
                if self.symmetry.may_follow(counts, x):
                    counts[x] += 1
                    yield from extended(counts, x, level + 1, messages.one_more(law, level, x) if product else None)
                    counts[x] -= 1

        start = [beginning.count(x) for x in range(messages.inputs)]
        law = messages.shuffled(beginning) if product else None
        yield from extended(start, beginning[-1] if beginning else 0, len(beginning), law)

    def _of_part(self, part: Dataset) -> list[Worst]:
        worst = [Worst() for _ in self.messages.parameters]
        for counts, law, level in self._others(part, self.messages.n - 1):
            pairs = [pair for pair in self.symmetry.pairs if self.symmetry.represents(pair, counts)]
            named = {x for pair in pairs for x in pair}
            laws = {x: self.messages.one_more(law, level, x) for x in self._named if x in named}
            for x0, x1 in pairs:
                for best, values in zip(worst, self.evaluate(laws[x0], laws[x1]), strict=True):
                    for value, pair in zip(values, ((x0, x1), (x1, x0)), strict=True):
                        if best.value is None or value >= best.value - abs(best.value) * self.tolerance:
                            best.add(value, [self.symmetry.smallest(*pair, counts)], self.tolerance)
        return worst

    # -- parts in a file

    def _kept(self, part: Dataset, path: str | Path) -> list[Worst]:
        """A part from the file, if it was computed before; otherwise it is computed and written there."""
        point = {**self.described, "part": json.dumps(part)}
        row = records.read(path, set(point)).get(records.key(point))
        if row is None:
            row = {**point, "worst": [self._written(w) for w in self._of_part(part)]}
            records.append(path, row)
        return [self._read(entry) for entry in row["worst"]]

    def _written(self, worst: Worst) -> list[Any]:
        """A value as a fraction in text, exactly as it is."""
        value = worst.value
        if hasattr(value, "_mpf_"):
            value = precise.fraction(value)
        return [None if value is None else str(value), [[x0, x1, list(counts)] for x0, x1, counts in worst.triples]]

    def _read(self, entry: list[Any]) -> Worst:
        text, triples = entry
        value: Any = None if text is None else Fraction(text)
        if value is not None and not self.messages.exact:
            value = self.messages.mp.mpf(value.numerator) / value.denominator
        elif value is not None and isinstance(self.evaluate, Divergences):
            value = int(value)
        return Worst(value, [(x0, x1, tuple(counts)) for x0, x1, counts in triples])


def comparisons(n: int, inputs: int, pairs: int, width: int) -> int:
    """How many histograms are compared, at most: pairs of inputs × multisets of the others × histograms."""
    return pairs * histogram_count(n - 1, inputs) * histogram_count(n, width)


def most_users(R: Randomizer) -> int:
    """The largest n for which the search over all neighbouring datasets of R is not refused.

    >>> import shuffle_sym as ss
    >>> most_users(ss.KRR(k=9, eps0=1))
    10
    """
    too_many = 2
    while _is_feasible(R, too_many):
        too_many *= 2
    return last_that_holds(lambda size: _is_feasible(R, size), 0, too_many)[0]


def seconds(R: Randomizer, n: int, *, rational: bool) -> float:
    """About how long the search over n users of R takes: with one α, and ``rational`` numbers or others.

    >>> import shuffle_sym as ss
    >>> R = ss.KRR(k=4, eps0=sp.log(3))
    >>> seconds(R, 12, rational=True) < 1 < seconds(R, 12, rational=False) < 20 < seconds(R, 40, rational=True)
    True
    """
    messages, symmetry = _one_user(R)
    sets = histogram_count(n - 1, messages.inputs)
    if symmetry.full:  # the two inputs of a pair can be exchanged, all others permuted
        datasets = sets / min(2 * math.factorial(messages.inputs - 2), sets)
    else:
        datasets = sets * sum(1 / max(len(symmetry.fixing[pair]), 1) for pair in symmetry.pairs)
    # Each dataset takes about fifteen passes over its histograms, and a part begins with the product of its beginning.
    passes = histogram_count(n, messages.width) * (15 * datasets + min(sets, _PARTS) * n / 3)
    if not (rational and messages.exact):
        return passes * _SECONDS_OF_MP
    bits = n * math.log2(messages.total)
    return passes * (_SECONDS_OF_DOUBLES if bits <= 53 else _SECONDS_OF_INTEGERS * (1 + bits / 500))


def users_within(R: Randomizer, most: float, *, rational: bool) -> int:
    """The largest n for which the search of R is not refused and takes at most ``most`` seconds; ``rational`` as there.

    >>> import shuffle_sym as ss
    >>> users_within(ss.BinaryRR(eps0=1), 1, rational=True) < users_within(ss.BinaryRR(eps0=1), 20, rational=True)
    True
    """

    def fits(n: int) -> bool:
        return _is_feasible(R, n) and seconds(R, n, rational=rational) <= most

    return last_that_holds(fits, 0, most_users(R) + 1)[0]


@cached_by_value
def _one_user(R: Randomizer) -> tuple[Messages, Symmetry]:
    messages = Messages(R, 1, (), 15)
    return messages, Symmetry(messages.columns)


def _sizes(R: Randomizer) -> tuple[int, int, int]:
    """How many inputs, pairs of inputs that differ, and kinds of messages there are."""
    messages, symmetry = _one_user(R)
    return messages.inputs, len(symmetry.pairs), messages.width


def _is_feasible(R: Randomizer, n: int) -> bool:
    inputs, pairs, width = _sizes(R)
    few = comparisons(n, inputs, pairs, width) <= MAX_COMPARISONS
    return few and histogram_count(n, width) <= MAX_HISTOGRAMS


def _refuse_too_many(R: Randomizer, n: int) -> None:
    if not _is_feasible(R, n):
        inputs, pairs, width = _sizes(R)
        raise ValueError(
            f"{R!r} with n = {n} has up to {pairs * histogram_count(n - 1, inputs)} neighbouring pairs with "
            f"{histogram_count(n, width)} histograms each, which is too much ({MAX_COMPARISONS} comparisons are not); "
            f"take a smaller n: the largest feasible one is {most_users(R)}"
        )


def checked(R: Any, digits: Any) -> int:
    if isinstance(R, Continuous):
        R.rows()  # says what to do with continuous noise
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be one randomizer, such as KRR(k=3, eps0=1), got {R!r}")
    return arguments.positive_integer(digits, "digits")
