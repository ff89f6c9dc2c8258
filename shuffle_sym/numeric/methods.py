r"""The table of methods for :math:`\frac1n\mathbb E[G_1 + \dots + G_n]_+`, one row each, and the choice among them.

Every method is a function ``positive_parts(values, probabilities, n, rtol) -> list[Interval | ValueError]``:

* ``values`` has one row for each law of G (G at several α), ``probabilities`` is common to all rows; both are doubles
  with relative errors of at most FLOAT_ERROR, and the true probabilities add up to 1;
* the result has one entry for each row: certified bounds, no wider than ``rtol`` of the upper end (below 1e-305:
  from 0), or the ValueError that says why not. A refusal is returned, not raised.

A new method is one file and one row of `METHODS`. Methods that need more than a law in doubles (the exact sum) are no
part of this table.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, SMALLEST
from shuffle_sym.numeric import binomial, contour, lattice
from shuffle_sym.numeric.transforms import Array, refusal

_FAR = 1e4, 1e2  # a value over the sum of the others, from which on it is apart: about one over this is lost
_WIDEST = 0.4  # what was reached, from which on twice as much says no more than one user does

PositiveParts = Callable[[Array, Array, int, float], list[Interval | ValueError]]


@dataclass(frozen=True)
class Method:
    """One row of the table.

    ``suits`` says whether the method can be used for the values of one law and n users. ``cost(n)`` is relative to
    the contour integral; the cheapest is tried first, and what costs infinitely much only by its name.
    """

    name: str
    positive_parts: PositiveParts
    suits: Callable[[Array, int], bool] = lambda values, n: True
    cost: Callable[[int], float] = lambda n: 1.0


def row_by_row(positive_part: Callable[[Array, Array, int, float], Interval]) -> PositiveParts:
    """A function for one law, as a function for several."""

    def positive_parts(values: Array, probabilities: Array, n: int, rtol: float) -> list[Interval | ValueError]:
        answers: list[Interval | ValueError] = []
        for row in values:
            try:
                answers.append(positive_part(row, probabilities, n, rtol))
            except ValueError as refusal:
                answers.append(refusal)
        return answers

    return positive_parts


METHODS = {
    method.name: method
    for method in (
        # O(√n) terms, as long as the contour integral at n = 10^5
        Method(
            "binomial",
            row_by_row(binomial.positive_part),
            suits=lambda values, _: binomial.has_two_values(values),
            cost=lambda n: math.sqrt(n / 10**5),
        ),
        Method("contour", contour.positive_parts),
        Method("fft", row_by_row(lattice.positive_part), cost=lambda n: math.inf),  # by name only
    )
}


def cheapest_first(values: Array, n: int) -> tuple[str, ...]:
    """The names of the methods that suit the values of one law, in the order in which they should be tried.

    >>> import numpy as np
    >>> cheapest_first(np.array([-1.0, 0.0, 2.0]), 100), cheapest_first(np.array([-1.0, 1.0, 2.0]), 100)
    (('binomial', 'contour'), ('contour',))
    """
    suitable = [method for method in METHODS.values() if method.suits(values, n) and method.cost(n) < math.inf]
    return tuple(method.name for method in sorted(suitable, key=lambda method: method.cost(n)))


def first_within(
    values: Array, probabilities: Array, n: int, rtol: float, names: Sequence[tuple[str, ...]]
) -> list[Interval | ValueError]:
    """For each row of ``values`` the bounds by the first of its methods, ``names[row]``, that reaches ``rtol``.

    The interval's ``method`` says which. If none reaches it, the refusal of the one that came closest. Rows that wait
    for the same method are evaluated together.
    """
    waiting = dict(enumerate(names))
    answers: dict[int, Interval | ValueError] = {}
    while waiting:
        name = next(iter(waiting.values()))[0]
        rows = [i for i, left in waiting.items() if left[0] == name]
        for i, part in zip(rows, METHODS[name].positive_parts(values[rows], probabilities, n, rtol), strict=True):
            left = waiting.pop(i)[1:]
            if isinstance(part, Interval):
                if part.upper - part.lower <= rtol * part.upper < math.inf or part.upper < SMALLEST:
                    answers[i] = Interval(part.lower, part.upper, name)
                    continue
                part = refusal(n, rtol, part.relative_width if part.upper < math.inf else 1.0, "another method")
            answers[i] = min(answers.get(i, part), part, key=reached)
            if left:
                waiting[i] = left
    return [answers[i] for i in range(len(names))]


def widened(
    values: Array, probabilities: Array, n: int, rtol: float, names: tuple[str, ...], refusal: ValueError
) -> Interval:
    """Bounds for one law that are as narrow as its methods go, after what ``rtol`` was refused for; at worst those of
    one user, because a mean of more terms has a smaller positive part.

    >>> import numpy as np
    >>> widened(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 2, 1e-3, ("contour",), ValueError("nothing is known"))
    Interval(0, 0.500001)
    """
    for factor in _FAR:
        if (apart := _large_values_apart(values, probabilities, n, rtol, factor)) is not None:
            return apart
    while reached(refusal) <= _WIDEST:
        rtol = 2 * max(rtol, reached(refusal))
        (answer,) = first_within(values[None], probabilities, n, rtol, [names])
        if isinstance(answer, Interval):
            return answer
        refusal = answer
    (one,) = contour.positive_parts(values[None], probabilities, 1, _WIDEST)
    if not isinstance(one, Interval):
        raise one
    return Interval(0.0, one.upper, "one user")


def _large_values_apart(values: Array, probabilities: Array, n: int, rtol: float, factor: float) -> Interval | None:
    r"""Bounds where one value may be nearly all there is of a sum: larger, by a ``factor``, than what all others take
    away. None if there is no such value, or if the other ones are refused, too.

    Let S' be the sum without values above a limit, B such a value and q their probability. S is at most S' and all
    these, so that :math:`\frac1n E[S]_+ \le \frac1n E[S']_+ + E[B]`. If there is one of them, S_+ − S'_+ is at least
    (B − R_−)_+, R the sum of the others, and by Jensen its mean is at least that with the mean of R_−, which is at most
    n − 1 times that of one term: :math:`\frac1n E[S]_+ \ge \frac1n E[S']_+ + (1-q)^{n-1} E[B - (n-1) E G_-]_+`.
    """
    slack = (16 + 2 * len(values)) * FLOAT_ERROR
    others = (n - 1) * math.fsum(probabilities * np.maximum(-values, 0.0)) * (1 + slack)
    large = values > factor * others
    if not large.any():
        return None
    (rest,) = contour.positive_parts(np.where(large, 0.0, values)[None], probabilities, n, rtol)
    if isinstance(rest, ValueError):
        return None
    mass, large_values = probabilities[large], values[large]
    q = min(math.fsum(mass) * (1 + slack), 1.0)
    others = others / (1 - q) if q < 1 else math.inf
    alone = (1 - q) ** (n - 1) * (1 - n * slack)
    lower = rest.lower + max(alone, 0.0) * math.fsum(mass * np.maximum(large_values * (1 - slack) - others, 0.0))
    upper = rest.upper + math.fsum(mass * large_values) * (1 + slack)
    return Interval(lower * (1 - slack), upper * (1 + slack), "large values apart")


def reached(answer: Interval | ValueError) -> float:
    """The relative width that a refusal says was reached; 1 if it does not say."""
    return getattr(answer, "reached", 1.0)
