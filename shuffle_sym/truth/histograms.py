r"""Histograms of messages, all of them: as an array, and one by one with their multinomial probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Histogram = tuple[int, ...]


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
