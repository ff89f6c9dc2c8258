r"""Shuffled datasets as arrays: the probability of every histogram of messages, in whole numbers.

A shuffled dataset is the polynomial :math:`\prod_i \sum_y R(x_i)(y)\, z_y`; the coefficient of a monomial is the
probability of that histogram. A polynomial with n factors is an array with one entry for each histogram of n messages,
in lexicographic order, and one more user is one shifted sum a message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from shuffle_sym.algebra import arguments, field, precise
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth.histograms import histogram_count, histograms

MAX_HISTOGRAMS = 2_000_000
GUARD_DIGITS = 15
_EXACT_DOUBLES = 2**53  # up to here whole numbers are doubles, and a quotient of two is rounded once

Column = tuple[Any, ...]
Coefficients = npt.NDArray[Any]


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
    groups: dict[Column, list[Column]] = {}
    for column in columns:
        scale = next((e for e in column if e != 0), None)
        if scale is not None:
            groups.setdefault(tuple(_simplest(e / scale) for e in column), []).append(column)
    return [tuple(_simplest(sum(entries)) for entries in zip(*group, strict=True)) for group in groups.values()]


def _simplest(e: Any) -> Any:
    return field.simplest(e) if isinstance(e, sp.Expr) else e


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

    def one(self) -> Coefficients:
        """The polynomial 1: no users."""
        return np.array([1], dtype=np.int64 if self.small else object)

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
        coefficients = self.one()
        for level, x in enumerate(X):
            coefficients = self.one_more(coefficients, level, x)
        return coefficients


def refuse_too_many(R: Randomizer, n: int, width: int) -> None:
    """A ValueError for a dataset whose histograms are too many to be listed."""
    if (count := histogram_count(n, width)) > MAX_HISTOGRAMS:
        largest = max(i for i in range(n) if histogram_count(i, width) <= MAX_HISTOGRAMS)
        raise ValueError(
            f"{R!r} with n = {n} has {count} histograms of {width} kinds of messages, more than {MAX_HISTOGRAMS}; "
            f"the largest feasible n is {largest}"
        )


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


class Divergences:
    r"""D_α in both directions at several α, from one sorted list of likelihood ratios.

    Whole numbers are divided with one correct rounding, which is monotone: :math:`fl(p/q) > fl(α)` implies p/q > α. So
    doubles decide all histograms but those with :math:`fl(p/q) = fl(α)`, and these are decided by whole numbers. What
    is added up are cumulative sums of whole numbers: the result is exact.
    """

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._alphas = messages.parameters
        if messages.exact:
            self._cuts = np.array([_quotient(a, b) for a, b in self._alphas])
            self._inverse_cuts = np.array([_quotient(b, a) for a, b in self._alphas])

    def __call__(self, P: Coefficients, Q: Coefficients) -> list[tuple[Any, Any]]:
        """(D_α(P ‖ Q), D_α(Q ‖ P)) for each α; if exact, as integers, times the denominators of α and of the laws."""
        if not self._messages.exact:
            return [(self._positive_gaps(P, Q, a), self._positive_gaps(Q, P, a)) for a, _ in self._alphas]
        ratios = self._ratios(P, Q)
        order = np.argsort(-ratios, kind="stable")
        P, Q, ratios = P[order], Q[order], ratios[order]
        above_p, above_q = np.add.accumulate(P), np.add.accumulate(Q)
        descending, divergences = -ratios, []
        for i, (top, bottom) in enumerate(self._alphas):
            certain, possible = _places(descending, -self._cuts[i])
            forward = bottom * _upto(above_p, certain) - top * _upto(above_q, certain)
            forward += _decided(P[certain:possible], Q[certain:possible], top, bottom)
            # q/p > α is p/q < 1/α: the other end of the same list.
            possible, certain = _places(descending, -self._inverse_cuts[i])
            backward = bottom * (self._messages.total - _upto(above_q, certain))
            backward -= top * (self._messages.total - _upto(above_p, certain))
            backward += _decided(Q[possible:certain], P[possible:certain], top, bottom)
            divergences.append((forward, backward))
        return divergences

    def _ratios(self, P: Coefficients, Q: Coefficients) -> npt.NDArray[np.float64]:
        if self._messages.small:
            # 0/0 is a histogram that cannot occur: it may stand anywhere.
            return np.divide(P, Q, out=np.where(P > 0, np.inf, 0.0), where=Q > 0)
        return np.asarray(_quotients(P, Q), dtype=float)

    def _positive_gaps(self, P: Coefficients, Q: Coefficients, alpha: Any) -> Any:
        """Term by term: a difference of two sums would lose more digits than one of two numbers."""
        gaps = P - alpha * Q
        return self._messages.mp.fsum(gaps[gaps > 0])

    def value(self, result: Any, i: int) -> Any:
        """A result of the i-th α as a number: a ``Rational``, or an ``mpf``."""
        if self._messages.exact:
            return sp.Rational(Fraction(result, self._alphas[i][1] * self._messages.total))
        return precise.as_mpf(result)


def _quotient(p: Any, q: Any) -> float:
    """p/q rounded once; beyond the doubles, or with q = 0 < p, infinity."""
    try:
        return float(p / q)
    except (ZeroDivisionError, OverflowError):
        return math.inf if p else 0.0


_quotients = np.frompyfunc(_quotient, 2, 1)


def _places(ordered: npt.NDArray[np.float64], cut: float) -> tuple[int, int]:
    """How many entries are below ``cut``, and how many at or below it."""
    return int(np.searchsorted(ordered, cut, side="left")), int(np.searchsorted(ordered, cut, side="right"))


def _upto(sums: Coefficients, count: int) -> int:
    return int(sums[count - 1]) if count else 0


def _decided(P: Coefficients, Q: Coefficients, top: int, bottom: int) -> int:
    gaps = (bottom * int(p) - top * int(q) for p, q in zip(P, Q, strict=True))
    return sum(gap for gap in gaps if gap > 0)


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
        top, bottom = self._messages.parameters[i]
        possible = P != 0
        P, Q = P[possible].tolist(), Q[possible].tolist()
        if self._messages.exact and bottom == 1:
            # One group for each value of q: few fractions are added.
            groups: dict[int, int] = {}
            for p, q in zip(P, Q, strict=True):
                groups[q] = groups.get(q, 0) + p**top
            total = sum((p / Fraction(q) ** (top - 1) for q, p in groups.items()), Fraction(0))
            return total / self._messages.total
        mp = self._messages.mp
        power = mp.mpf(top) / bottom
        terms = (mp.mpf(p) ** power * mp.mpf(q) ** (1 - power) for p, q in zip(P, Q, strict=True))
        return mp.fsum(terms) / self._messages.total

    def value(self, result: Any, i: int) -> Any:
        """A moment of the i-th order as a number: a ``Rational``, or an ``mpf``."""
        return sp.Rational(result) if isinstance(result, Fraction) else precise.as_mpf(result)
