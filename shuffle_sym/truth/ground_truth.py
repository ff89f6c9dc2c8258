r"""Ground truth: brute force over real datasets, with no decomposition anywhere.

A shuffled dataset is the polynomial :math:`\prod_i \sum_y R(x_i)(y)\, z_y`: the coefficient of a monomial is the
probability of that histogram of messages. Two datasets are compared coefficient by coefficient, in whole numbers where
R and α are rational and in mpmath numbers otherwise. A polynomial with n factors is an array with one entry for each
histogram of n messages, in lexicographic order, and one more user is one shifted sum a message.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from fractions import Fraction
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import arguments, field, precise, records
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.histograms import histogram_count, histograms, power_sum

__all__ = [
    "WorstMoment",
    "WorstPair",
    "delta",
    "deltas",
    "most_users",
    "renyi_moment",
    "seconds",
    "users_within",
    "worst_moments",
    "worst_pair",
    "worst_pairs",
]

MAX_HISTOGRAMS = 2_000_000  # of one dataset: arrays of Python's integers with more take gigabytes
MAX_COMPARISONS = 2_000_000_000  # histograms compared, over all pairs of datasets: with more a search takes hours
MAX_ELEMENTS = 5040  # symmetries that are listed: more take longer to apply, fewer leave twins of datasets
GUARD_DIGITS = 15  # more than asked for: a sum of MAX_HISTOGRAMS terms loses seven
_EXACT_DOUBLES = 2**53  # up to here whole numbers are doubles, and a quotient of two is rounded once
_PARTS = 200  # of a search: an interrupt loses at most the work of one

Column = tuple[Any, ...]
Coefficients = npt.NDArray[Any]
Dataset = tuple[int, ...]
Permutation = tuple[int, ...]  # π(x) at place x
Counts = tuple[int, ...]  # how many of the other users have each input
Triple = tuple[int, int, Counts]  # x0, x1, and the others
Progress = Callable[..., Any]


# ----------------------------------------------------------------------------------------- the law of one dataset


def merged_columns(columns: Sequence[Column]) -> list[Column]:
    r"""Columns of a matrix Pr[R(x) = y], with proportional ones added up and empty ones left out.

    *Nothing is lost.* Let R(x)(y') = λ R(x)(y) for all x, and let m be the number of messages y or y' among the
    shuffled ones. Given m and all other counts, every one of the m is y' with probability λ/(1 + λ), independently, for
    *every* dataset. So the merged histogram is a function of the full one, and the full one is made from it by a
    coin that does not know the dataset: by data processing in both directions every divergence is the same.

    >>> q = sp.Rational
    >>> merged_columns([(q(1, 2), q(1, 4)), (q(1, 4), q(1, 8)), (q(1, 4), q(5, 8))])
    [(3/4, 3/8), (1/4, 5/8)]
    """

    def simplest(e: Any) -> Any:
        return field.simplest(e) if isinstance(e, sp.Expr) else e

    groups: dict[Column, list[Column]] = {}
    for column in columns:
        scale = next((e for e in column if e != 0), None)
        if scale is not None:
            groups.setdefault(tuple(simplest(e / scale) for e in column), []).append(column)
    return [tuple(simplest(sum(entries)) for entries in zip(*group, strict=True)) for group in groups.values()]


class Messages:
    """The rows of R, proportional messages merged, and the polynomials of datasets with up to n users.

    Rational probabilities are whole numbers over one denominator: 64 bits where all of them are exact as doubles too,
    Python's integers otherwise. Irrational ones are numbers of the mpmath context ``mp``, with denominator 1.
    ``columns`` are the messages as exact numbers or formulas, so that equal ones are equal; ``parameters`` are numbers
    such as α, as pairs of numerator and denominator.
    """

    def __init__(self, R: Randomizer, n: int, parameters: Sequence[sp.Expr], digits: int) -> None:
        arguments.numeric_only(R.free_symbols, "the ground truth")
        if not R.input_count.is_Integer:
            raise ValueError(f"R must have finitely many inputs, got {R!r}")
        rows, names = R.rows(), [sp.Dummy() for _ in parameters]
        bindings = {**R.bindings, **dict(zip(names, parameters, strict=True))}
        width = len(rows[0])
        known = field.fractions((*(e for row in rows for e in row), *names), bindings)
        self.exact = known is not None
        self.mp = precise.context(digits + GUARD_DIGITS)
        if known is not None:
            self.columns = merged_columns([known[y : width * len(rows) : width] for y in range(width)])
            flat: Sequence[Any] = [e for column in self.columns for e in column]
            scale = math.lcm(*(e.denominator for e in flat))
            flat = [int(e * scale) for e in flat]
            self.parameters = [(p.numerator, p.denominator) for p in known[width * len(rows) :]]
        else:
            self.columns = merged_columns([tuple(field.simplest(row[y]) for row in rows) for y in range(width)])
            forms = [*(e for column in self.columns for e in column), *names]
            numbers = [self.mp.convert(e) for e in field.mp_numbers(forms, bindings, digits + GUARD_DIGITS)]
            flat, scale = numbers[: len(forms) - len(names)], 1
            self.parameters = [(p, 1) for p in numbers[len(forms) - len(names) :]]
        self.inputs, self.width = len(rows), len(self.columns)
        self.rows = [list(flat[x :: self.inputs]) for x in range(self.inputs)]
        self.n, self.total = n, scale**n
        self.small = self.exact and self.total <= _EXACT_DOUBLES
        self._shifts: dict[int, list[npt.NDArray[np.int64]]] = {}

    def one_more(self, coefficients: Coefficients, level: int, x: int) -> Coefficients:
        """Multiply a polynomial with ``level`` factors by Σ_y R(x)(y) z_y."""
        if level not in self._shifts:
            self._shifts[level] = shifts(level, self.width)
        product = np.zeros(histogram_count(level + 1, self.width), dtype=coefficients.dtype)
        for probability, shift in zip(self.rows[x], self._shifts[level], strict=True):
            if probability:
                product[shift] += coefficients * probability
        return product

    def shuffled(self, X: Sequence[int]) -> Coefficients:
        """The law of the histogram of a dataset."""
        coefficients = np.array([1], dtype=np.int64 if self.small else object)
        for level, x in enumerate(X):
            coefficients = self.one_more(coefficients, level, x)
        return coefficients


def shifts(level: int, cells: int) -> list[npt.NDArray[np.int64]]:
    r"""For each message y: where h + e_y stands in the order, for every histogram h of ``level`` messages.

    Before h = (h_1, …, h_m) with the rests :math:`r_i = h_i + … + h_m` stand
    :math:`\sum_i \binom{r_i + m - i}{m - i} - \binom{r_{i+1} + m - i}{m - i}` histograms.

    >>> [s.tolist() for s in shifts(1, 2)]
    [[1, 2], [0, 1]]
    """
    binomials = np.array([[math.comb(r + c, c) for c in range(cells)] for r in range(level + 2)], dtype=np.int64)
    listed = histograms(level, cells)
    places = []
    for y in range(cells):
        rests = np.cumsum(listed[:, ::-1], axis=1)[:, ::-1]
        rests[:, : y + 1] += 1  # h + e_y has one more in cell y, so in the rests from there back
        rank = np.zeros(len(listed), dtype=np.int64)
        for i in range(cells - 1):
            rank += binomials[rests[:, i], cells - 1 - i] - binomials[rests[:, i + 1], cells - 1 - i]
        places.append(rank)
    return places


# ----------------------------------------------------------------------------------------- two datasets compared


class Divergences:
    r"""D_α in both directions at several α, from one sorted list of likelihood ratios.

    Whole numbers are divided with one correct rounding, which is monotone: :math:`fl(p/q) > fl(α)` implies p/q > α. So
    doubles decide all histograms but those with :math:`fl(p/q) = fl(α)`, and these are decided by whole numbers. What
    is added up are cumulative sums of whole numbers: the result is exact. The other direction is read off the same
    list, :math:`D_\alpha(Q \| P) = 1 - \alpha + \alpha\, D_{1/\alpha}(P \| Q)`.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def __call__(self, P: Coefficients, Q: Coefficients) -> list[tuple[Any, Any]]:
        """(D_α(P ‖ Q), D_α(Q ‖ P)) for each α; if exact, as integers, times the denominators of α and of the laws."""
        messages = self._messages
        if not messages.exact:
            return [(self._gaps(P - alpha * Q), self._gaps(Q - alpha * P)) for alpha, _ in messages.parameters]
        if messages.small:
            # 0/0 is a histogram that cannot occur: it may stand anywhere.
            ratios = np.divide(P, Q, out=np.where(P > 0, np.inf, 0.0), where=Q > 0)
        else:
            ratios = np.asarray(_quotients(P, Q), dtype=float)
        order = np.argsort(-ratios, kind="stable")
        P, Q, descending = P[order], Q[order], -ratios[order]
        first_p, first_q = (np.concatenate([law[:1] * 0, np.add.accumulate(law)]) for law in (P, Q))

        def above(top: int, bottom: int) -> int:
            """The sum of [bottom · P − top · Q]_+."""
            cut = -_quotient(top, bottom)
            certain, possible = (int(np.searchsorted(descending, cut, side=side)) for side in ("left", "right"))
            near = zip(P[certain:possible], Q[certain:possible], strict=True)
            decided = sum(max(bottom * int(p) - top * int(q), 0) for p, q in near)
            return bottom * int(first_p[certain]) - top * int(first_q[certain]) + decided

        return [(above(a, b), (b - a) * messages.total + above(b, a)) for a, b in messages.parameters]

    def _gaps(self, gaps: Coefficients) -> Any:
        """Term by term: a difference of two sums would lose more digits than one of two numbers."""
        return self._messages.mp.fsum(gaps[gaps > 0])

    def value(self, result: Any, i: int) -> Any:
        """A result of the i-th α as a number: a ``Rational``, or an ``mpf``."""
        if self._messages.exact:
            return sp.Rational(Fraction(result, self._messages.parameters[i][1] * self._messages.total))
        return precise.as_mpf(result)


def _quotient(p: Any, q: Any) -> float:
    """p/q rounded once; beyond the doubles, or with q = 0 < p, infinity."""
    try:
        return float(p / q)
    except (ZeroDivisionError, OverflowError):
        return math.inf if p else 0.0


_quotients = np.frompyfunc(_quotient, 2, 1)


class RenyiMoments:
    r"""Rényi moments :math:`\sum_h P(h)^\lambda Q(h)^{1-\lambda}` in both directions, for several orders λ."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    def __call__(self, P: Coefficients, Q: Coefficients) -> list[tuple[Any, Any]]:
        return [(self.moment(P, Q, i), self.moment(Q, P, i)) for i in range(len(self._messages.parameters))]

    def moment(self, P: Coefficients, Q: Coefficients, i: int) -> Any:
        """The moment of the i-th order in one direction."""
        if any((P != 0) & (Q == 0)):
            raise ValueError("the moment is infinite: a histogram of X0 is impossible for X1; use delta")
        (top, bottom), mp = self._messages.parameters[i], self._messages.mp
        possible = P != 0
        both = zip(P[possible].tolist(), Q[possible].tolist(), strict=True)
        if self._messages.exact and bottom == 1:
            return power_sum(((1, p, q) for p, q in both), top) / self._messages.total
        terms = ((1, mp.mpf(p), mp.mpf(q)) for p, q in both)
        return power_sum(terms, mp.mpf(top) / bottom, mp) / self._messages.total

    def value(self, result: Any, i: int) -> Any:
        """A moment of the i-th order as a number: a ``Rational``, or an ``mpf``."""
        return sp.Rational(result) if isinstance(result, Fraction) else precise.as_mpf(result)


Evaluator = Divergences | RenyiMoments


# ----------------------------------------------------------------------------------------- symmetries


class Symmetry:
    """Permutations of the inputs that permuting the messages undoes: all permutations, or a list of them.

    If R(π(x))(σ(y)) = R(x)(y) for all x and y, renaming the inputs of a dataset by π renames the messages by σ, and no
    divergence between two datasets changes. One pair of datasets stands for all that it can be renamed to. The list may
    be incomplete (it ends after `MAX_ELEMENTS`): then some datasets are looked at more often than needed, but the
    smallest of all its renamings is never skipped.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.inputs = len(columns[0])
        # Small numbers for equal entries: fractions and formulas are compared once, not a thousand times.
        codes: dict[Any, int] = {}
        columns = [tuple(codes.setdefault(e, len(codes)) for e in column) for column in columns]
        swaps = ((*range(x), x + 1, x, *range(x + 2, self.inputs)) for x in range(self.inputs - 1))
        self.full = all(Counter(tuple(c[x] for x in g) for c in columns) == Counter(columns) for g in swaps)
        self.elements = [] if self.full else automorphisms(columns)
        #: Unordered pairs of inputs, x0 < x1, one for each orbit, and the symmetries that keep each of them.
        self.pairs = [
            pair
            for pair in ([(0, 1)] if self.full else combinations(range(self.inputs), 2))
            if not any(tuple(sorted((g[pair[0]], g[pair[1]]))) < pair for g in self.elements)
        ]
        self.fixing = {pair: [g for g in self.elements if {g[pair[0]], g[pair[1]]} == set(pair)] for pair in self.pairs}

    def may_follow(self, counts: Sequence[int], x: int) -> bool:
        """Whether one more user with input x, the largest so far, can still lead to a representative."""
        return not self.full or x in (0, 2) or counts[x] < counts[x - 1]

    def represents(self, pair: tuple[int, int], counts: Counts) -> bool:
        """Whether no renaming that keeps the pair, in any order, makes the others smaller.

        Datasets are ordered as sorted tuples: more users with a small input come first.
        """
        if self.full:
            return counts[0] >= counts[1] and all(counts[x] >= counts[x + 1] for x in range(2, self.inputs - 1))
        return all(renamed(counts, g) <= counts for g in self.fixing[pair])

    def smallest(self, x0: int, x1: int, counts: Counts) -> Triple:
        """The name of a triple: the smallest of all its renamings.

        >>> Symmetry([(1, 0, 0), (0, 1, 0), (0, 0, 1)]).smallest(2, 1, (3, 0, 1))
        (0, 1, (1, 0, 3))
        """
        if self.full:
            thirds = sorted((counts[x] for x in range(self.inputs) if x not in (x0, x1)), reverse=True)
            return 0, 1, (counts[x0], counts[x1], *thirds)
        identity = tuple(range(self.inputs))
        least = min((g[x0], g[x1], tuple(-c for c in renamed(counts, g))) for g in (identity, *self.elements))
        return least[0], least[1], tuple(-c for c in least[2])


def renamed(counts: Counts, g: Permutation) -> Counts:
    """The counts after every input x has become g[x]."""
    moved = [0] * len(counts)
    for x, count in enumerate(counts):
        moved[g[x]] = count
    return tuple(moved)


def automorphisms(columns: Sequence[tuple[Any, ...]]) -> list[Permutation]:
    """Permutations of the inputs that only permute the columns, image by image; at most `MAX_ELEMENTS` of them.

    >>> automorphisms([(1, 1, 2), (2, 2, 1)])
    [(0, 1, 2), (1, 0, 2)]
    """
    inputs = len(columns[0])
    wanted = [Counter(column[:length] for column in columns) for length in range(inputs + 1)]

    def extended(images: Permutation) -> Iterator[Permutation]:
        if len(images) == inputs:
            yield images
            return
        for x in range(inputs):
            longer = (*images, x)
            if x not in images and Counter(tuple(c[i] for i in longer) for c in columns) == wanted[len(longer)]:
                yield from extended(longer)

    return list(islice(extended(()), MAX_ELEMENTS))


# ----------------------------------------------------------------------------------------- the search over all datasets


@dataclass
class Worst:
    """The largest value so far, and every pair of datasets, by its name, that has it."""

    value: Any = None
    triples: list[Triple] = attribute(default_factory=list)

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
        self.messages = Messages(R, n, parameters, digits)
        self.symmetry = Symmetry(self.messages.columns)
        self.evaluate = evaluator(self.messages)
        self.digits = digits
        # Exact values are compared as they are; of mpmath numbers the digits that were asked for count.
        self.tolerance: Any = 0 if self.messages.exact else self.messages.mp.mpf(10) ** -digits
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
        for counts, _ in self._others((), length):
            yield others_of(counts)

    def _others(self, beginning: Dataset, length: int) -> Iterator[tuple[Counts, Coefficients]]:
        """Multisets of ``length`` inputs that begin so, with polynomials; common beginnings are multiplied once."""
        messages = self.messages

        def extended(counts: list[int], last: int, level: int, law: Any) -> Iterator[tuple[Counts, Coefficients]]:
            if level == length:
                yield tuple(counts), law
                return
            for x in range(last, messages.inputs):
                if self.symmetry.may_follow(counts, x):
                    counts[x] += 1
                    yield from extended(counts, x, level + 1, messages.one_more(law, level, x))
                    counts[x] -= 1

        start = [beginning.count(x) for x in range(messages.inputs)]
        yield from extended(start, max(beginning, default=0), len(beginning), messages.shuffled(beginning))

    def _of_part(self, part: Dataset) -> list[Worst]:
        worst = [Worst() for _ in self.messages.parameters]
        level = self.messages.n - 1
        for counts, law in self._others(part, level):
            pairs = [pair for pair in self.symmetry.pairs if self.symmetry.represents(pair, counts)]
            named = {x for pair in pairs for x in pair}
            laws = {x: self.messages.one_more(law, level, x) for x in named}
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
        return Worst(value, [(x0, x1, tuple(counts)) for x0, x1, counts in triples])


def seconds(R: Randomizer, n: int, *, rational: bool) -> float:
    """About how long the search over n users of R takes: with one α, and ``rational`` numbers or others; infinity where
    it is refused. An estimate that is off by a factor moves the n up to which `Shuffle.exact` answers.

    >>> import shuffle_sym as ss
    >>> R = ss.KRR(k=4, eps0=sp.log(3))
    >>> seconds(R, 12, rational=True) < 1 < seconds(R, 12, rational=False) < 20 < seconds(R, 40, rational=True)
    True
    """
    messages, symmetry = _one_user(R)
    sets, size = histogram_count(n - 1, messages.inputs), histogram_count(n, messages.width)
    if size > MAX_HISTOGRAMS or len(symmetry.pairs) * sets * size > MAX_COMPARISONS:
        return math.inf
    if symmetry.full:  # the two inputs of a pair can be exchanged, all others permuted
        datasets = sets / min(2 * math.factorial(messages.inputs - 2), sets)
    else:
        datasets = sets * sum(1 / max(len(symmetry.fixing[pair]), 1) for pair in symmetry.pairs)
    # Each dataset takes about fifteen passes over its histograms, and a part begins with the product of its beginning.
    passes = size * (15 * datasets + min(sets, _PARTS) * n / 3)
    bits = n * math.log2(messages.total)
    if not (rational and messages.exact):
        return 4e-6 * passes  # of mpmath numbers
    return passes * (1.5e-8 if bits <= 53 else 1.5e-7 * (1 + bits / 500))  # of doubles, of whole numbers


def users_within(R: Randomizer, most: float, *, rational: bool) -> int:
    """The largest n for which the search of R is not refused and takes at most ``most`` seconds; ``rational`` as there.

    >>> import shuffle_sym as ss
    >>> users_within(ss.BinaryRR(eps0=1), 1, rational=True) < users_within(ss.BinaryRR(eps0=1), 20, rational=True)
    True
    """

    def fits(n: int) -> bool:
        return seconds(R, n, rational=rational) <= min(most, 1e300)

    too_many = 2
    while fits(too_many):
        too_many *= 2
    return last_that_holds(fits, 0, too_many)[0]


def most_users(R: Randomizer) -> int:
    """The largest n for which the search over all neighbouring datasets of R is not refused.

    >>> import shuffle_sym as ss
    >>> most_users(ss.KRR(k=9, eps0=1))
    10
    """
    return users_within(R, math.inf, rational=True)


@cached_by_value
def _one_user(R: Randomizer) -> tuple[Messages, Symmetry]:
    messages = Messages(R, 1, (), 15)
    return messages, Symmetry(messages.columns)


# ----------------------------------------------------------------------------------------- questions


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
    tied: tuple[tuple[Dataset, Dataset], ...] = attribute(default=(), repr=False, compare=False)


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
    tied: tuple[tuple[Dataset, Dataset], ...] = attribute(default=(), repr=False, compare=False)


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
    n, digits = arguments.users(n), _digits(R, digits)
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function such as tqdm.auto.tqdm, got {progress!r}")
    if math.isinf(seconds(R, n, rational=True)):
        messages, symmetry = _one_user(R)
        raise ValueError(
            f"{R!r} with n = {n} has up to {len(symmetry.pairs) * histogram_count(n - 1, messages.inputs)} "
            f"neighbouring pairs with {histogram_count(n, messages.width)} histograms each, which is too much "
            f"({MAX_COMPARISONS} comparisons are not); take a smaller n: the largest feasible one is {most_users(R)}"
        )
    search = Search(R, n, parameters, digits, evaluator)
    largest = []
    for i, worst in enumerate(search.run(progress, path)):
        tied = [((x0, *others_of(counts)), (x1, *others_of(counts))) for x0, x1, counts in worst.triples]
        x0, x1, counts = first(worst.triples)
        value = search.evaluate.value(worst.value, i)
        largest.append(((x0, *others_of(counts)), (x1, *others_of(counts)), value, tuple(sorted(tied))))
    return largest


def _laws(R: Randomizer, X0: Any, X1: Any, parameters: Sequence[sp.Expr], digits: Any) -> tuple[Messages, Any, Any]:
    digits = _digits(R, digits)
    first_set, second_set = _dataset(R, X0, "X0"), _dataset(R, X1, "X1")
    differing = [i for i, (x0, x1) in enumerate(zip(first_set, second_set, strict=False)) if x0 != x1]
    if len(first_set) != len(second_set) or len(differing) != 1:
        raise ValueError(f"X0 and X1 must be equally long and differ in one user, got {first_set} and {second_set}")
    (i,) = differing
    n = len(first_set)
    messages = Messages(R, n, parameters, digits)
    if (count := histogram_count(n, messages.width)) > MAX_HISTOGRAMS:
        largest = last_that_holds(lambda users: histogram_count(users, messages.width) <= MAX_HISTOGRAMS, 0, n)[0]
        raise ValueError(
            f"{R!r} with n = {n} has {count} histograms of {messages.width} kinds of messages, more than "
            f"{MAX_HISTOGRAMS}; the largest feasible n is {largest}"
        )
    others = messages.shuffled((*first_set[:i], *first_set[i + 1 :]))
    P, Q = (messages.one_more(others, n - 1, X[i]) for X in (first_set, second_set))
    return messages, P, Q


def _dataset(R: Randomizer, X: Any, name: str) -> Dataset:
    if isinstance(X, np.ndarray):
        X = X.tolist()
    if not isinstance(X, (tuple, list)) or not X:
        raise TypeError(f"{name} must be a non-empty tuple of inputs, got {X!r}")
    return tuple(R.input(x, f"{name}[{i}]") for i, x in enumerate(X))


def _digits(R: Any, digits: Any) -> int:
    if isinstance(R, Continuous):
        R.rows()  # says what to do with continuous noise
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be one randomizer, such as KRR(k=3, eps0=1), got {R!r}")
    return arguments.positive_integer(digits, "digits")
