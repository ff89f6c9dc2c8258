r"""Histograms of messages, all of them: as an array, one by one with their multinomial probabilities, and as laws
{histogram: probability}; and what is summed over them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

Histogram = tuple[int, ...]
Law = dict[Histogram, Fraction]


def histogram_count(total: int, cells: int) -> int:
    """How many ways there are to put ``total`` messages into ``cells`` cells.

    >>> histogram_count(2, 3)
    6
    """
    return math.comb(total + cells - 1, cells - 1)


def histograms(total: int, cells: int) -> npt.NDArray[np.int64]:
    """All ways to put ``total`` messages into ``cells`` cells, a row each, in lexicographic order.

    >>> histograms(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    if cells == 1:
        return np.array([[total]], dtype=np.int64)
    blocks = []
    for first in range(total + 1):
        rest = histograms(total - first, cells - 1)
        blocks.append(np.hstack([np.full((len(rest), 1), first, dtype=np.int64), rest]))
    return np.vstack(blocks)


def weighted_histograms(total: int, weights: Sequence[Any]) -> Iterator[tuple[Histogram, Any]]:
    r"""All histograms h of ``total`` draws, in lexicographic order, with
    :math:`\frac{\text{total}!}{\prod_j h_j!} \prod_j w_j^{h_j}`.

    The weights are numbers of one kind: fractions, whole numbers, or mpmath numbers of one context. If they are
    probabilities, so are the results.

    >>> list(weighted_histograms(2, [1, 3]))
    [((0, 2), 9), ((1, 1), 6), ((2, 0), 1)]
    """
    first, *rest = weights
    if not rest:
        yield (total,), first**total
        return
    power = first**0
    for count in range(total + 1):
        factor = math.comb(total, count) * power
        for histogram, weight in weighted_histograms(total - count, rest):
            yield (count, *histogram), factor * weight
        power = power * first


def one_more(law: Law, row: Sequence[Fraction]) -> Law:
    """The law of the histogram after one more message, drawn with the probabilities ``row``.

    >>> one_more({(1, 0): Fraction(1)}, [Fraction(1, 4), Fraction(3, 4)])
    {(2, 0): Fraction(1, 4), (1, 1): Fraction(3, 4)}
    """
    product: Law = {}
    for h, p in law.items():
        for y, chance in enumerate(row):
            more = (*h[:y], h[y] + 1, *h[y + 1 :])
            product[more] = product.get(more, Fraction(0)) + p * chance
    return product


def hockey_stick(outcomes: Iterable[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """Σ [P − αQ]_+ over outcomes (P, Q)."""
    return sum((max(p - alpha * q, Fraction(0)) for p, q in outcomes), Fraction(0))


def power_sum(terms: Iterable[tuple[Any, Any, Any]], power: Any, mp: Any = None) -> Any:
    r"""Σ w p^λ q^(1−λ) over ``terms`` (w, p, q), λ = ``power``: a fraction if these are exact and λ is whole, else in
    the context ``mp``.

    >>> power_sum([(1, 3, 1), (1, 1, 3)], 2)
    Fraction(28, 3)
    """
    if mp is not None:  # all terms are positive: no digits are lost beyond a few roundings a term
        return mp.fsum(w * p**power * q ** (1 - power) for w, p, q in terms)
    tops: dict[Any, Any] = {}  # one for each value of q: few fractions are added
    for w, p, q in terms:
        tops[q] = tops.get(q, 0) + w * p**power
    return sum((Fraction(top, q ** (power - 1)) for q, top in tops.items()), Fraction(0))


def positive_part(values: Sequence[Any], probabilities: Sequence[Any], n: int) -> Any:
    r"""E[S]_+ for the sum S of n copies of a number that has these values, by all histograms of n draws.

    The values are exact numbers, the probabilities numbers of any one kind.

    Counts of all values but the lowest and the highest are enumerated; given their sum w and the r draws left, these
    two are a binomial, and their part is a tail of it, from the first count that makes the sum positive.
    """
    merged: dict[Any, Any] = {}
    for value, probability in zip(values, probabilities, strict=True):
        merged[value] = merged.get(value, 0) + probability
    if len(merged) == 1:
        ((value, probability),) = merged.items()
        return max(n * value, 0 * value) * probability**n
    (low, p_low), *middle, (high, p_high) = sorted(merged.items())
    gap = high - low
    tails: dict[int, list[tuple[Any, Any]]] = {}
    mean = 0 * p_low
    for (*counts, r), weight in weighted_histograms(n, [*(p for _, p in middle), p_low**0]):
        base = sum((count * value for count, (value, _) in zip(counts, middle, strict=True)), r * low)
        if r not in tails:
            tails[r] = _binomial_tails(r, p_high, p_low)
        first = max(-base // gap + 1, 0)
        if first <= r:
            tail, moment = tails[r][first]
            mean += weight * (base * tail + gap * moment)
    return mean


def seconds_of_all(n: int, m: int) -> float:
    """About how long `positive_part` takes for n draws of m values, with short numbers."""
    terms = math.comb(n + m - 2, m - 2) if m > 2 else n
    return 3e-6 * (terms + (n * n / 2 if m > 2 else 0)) if terms < 10**18 else math.inf


def _binomial_tails(r: int, p: Any, q: Any) -> list[tuple[Any, Any]]:
    """For m = 0 … r: the sums over i >= m of C(r, i) p^i q^(r−i), plain and weighted with i."""
    powers_p = list(accumulate([p] * r, lambda x, y: x * y, initial=p**0))
    powers_q = list(accumulate([q] * r, lambda x, y: x * y, initial=q**0))
    ways = accumulate(range(r), lambda found, i: found * (r - i) // (i + 1), initial=1)
    terms = [c * powers_p[i] * powers_q[r - i] for i, c in enumerate(ways)]
    tails = accumulate(reversed(terms))
    moments = accumulate(i * terms[i] for i in range(r, -1, -1))
    return list(zip(tails, moments, strict=True))[::-1]
