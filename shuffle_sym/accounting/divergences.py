r"""D_α of n shuffled users at many α, in doubles, by the method that suits: decompositions, and continuous noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.interval import Interval, outward
from shuffle_sym.model import gparv
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import binomial, contour, lattice
from shuffle_sym.numeric.published import positive_part_published, spacing
from shuffle_sym.truth import exact

METHODS = ("auto", "contour", "binomial", "fft", "fft-published", "exact")
SHARPENED = ("auto", "contour", "binomial", "fft")  # methods that can be asked for any width
_MAX_CELLS = 4096
_LEAST_TAIL = 1e-290
_SMALLEST = 1e-305  # below this only an upper end is told
_LITTLE_WORK = 10**4  # up to here the exact sum takes the place of the lattice, which would not do better
_FEW_USERS = 10**5  # up to here binomial tails, where they apply, are cheaper than the contour


class Analysed(Protocol):
    """What n users are analysed by."""

    def from_one_on(self, ratios: Sequence[Ratio], rtol: float, method: str, turned: bool) -> list[Interval]:
        """D_α for each α >= 1, with the two datasets ``turned`` round or not."""


def at_every_alpha(analysed: Analysed, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
    """D_α for each α > 0; below 1 from the other direction."""
    found: dict[int, Interval] = {}
    for below in (False, True):
        places = [i for i, ratio in enumerate(ratios) if ratio.below_one is below]
        there = [ratios[i].inverse() if below else ratios[i] for i in places]
        for i, interval in zip(places, analysed.from_one_on(there, rtol, method, turned=below), strict=True):
            found[i] = _below_one(ratios[i], interval) if below else interval
    return [found[i] for i in range(len(ratios))]


class Blankets:
    """Decompositions, one for each pair of inputs: the largest of their divergences."""

    def __init__(self, decompositions: Sequence[Decomposition], n: int) -> None:
        self.decompositions, self.n = decompositions, n

    def from_one_on(self, ratios: Sequence[Ratio], rtol: float, method: str, turned: bool) -> list[Interval]:
        contenders = [D.reversed() for D in self.decompositions] if turned else list(self.decompositions)
        wanted = [list(range(len(ratios)))] * len(contenders)
        if method in SHARPENED and len(contenders) > 1:
            # A rough look is enough to see which pairs of inputs cannot be the worst.
            rough = [deltas(D, self.n, ratios, max(rtol, 0.3), method) for D in contenders]
            least = [max(ends[i].lower for ends in rough) for i in range(len(ratios))]
            wanted = [[i for i, end in enumerate(ends) if end.upper >= least[i]] for ends in rough]
        ends: list[list[Interval]] = [[] for _ in ratios]
        for D, places in zip(contenders, wanted, strict=True):
            for i, end in zip(places, deltas(D, self.n, [ratios[i] for i in places], rtol, method), strict=True):
                ends[i].append(end)
        return [_largest(found, method) for found in ends]


class Noise:
    """Continuous noise: a lower and an upper discretisation, refined until the two are close."""

    def __init__(self, R: Continuous, n: int) -> None:
        self.R, self.n = R, n
        self._discretisations: dict[tuple[str, int, float], Decomposition] = {}

    def from_one_on(self, ratios: Sequence[Ratio], rtol: float, method: str, turned: bool) -> list[Interval]:
        R = self.R  # of its inputs 0 and 1 each is the mirror image of the other: turned or not is the same
        arguments.numeric_only(R.free_symbols, "a number")
        if method not in ("auto", "contour", "fft"):
            raise ValueError(
                f'method must be "auto", "contour" or "fft" for {R!r}, which is continuous, got {method!r}'
            )
        bounded = R.eps0 is not sp.oo
        found = [Interval(0.0, 0.0, method)] * len(ratios)
        waiting = {
            i: (0.0, 1.0) for i, ratio in enumerate(ratios) if not (bounded and field.at_least(ratio.eps, R.eps0))
        }
        tail, cells = 1e-8, 32
        while waiting and cells <= _MAX_CELLS:
            there = [ratios[i] for i in waiting]
            below, above = (
                deltas(self._discretised(side, cells, tail), self.n, there, rtol / 4, method)
                for side in ("lower", "upper")
            )
            for (i, (lower, upper)), low, high in zip(list(waiting.items()), below, above, strict=True):
                waiting[i] = lower, upper = max(lower, low.lower), min(upper, high.upper)
                if upper - lower <= rtol * upper or upper < _SMALLEST:
                    found[i] = Interval(lower, upper, high.method)
                    del waiting[i]
            # What is cut off would be seen; few tails are ever tried, so that discretisations are used again.
            least = min((lower for lower, _ in waiting.values()), default=1.0)
            if not bounded and tail > max(rtol * least / 8, _LEAST_TAIL):
                tail *= 1e-8
            else:
                cells *= 2
        if waiting:
            reached = max((upper - lower) / upper for lower, upper in waiting.values())
            raise ValueError(
                f"rtol = {rtol:g} needs more than {_MAX_CELLS} cells; ask for a larger rtol "
                f"(reached so far: {reached:.2g})"
            )
        return found

    def _discretised(self, side: str, cells: int, tail: float) -> Decomposition:
        key = (side, cells, tail)
        if key not in self._discretisations:
            self._discretisations[key] = getattr(self.R, side)(cells, tail)
        return self._discretisations[key]


def deltas(D: Decomposition, n: int, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
    """D_α of one decomposition for each α >= 1."""
    found = [Interval(0.0, 0.0)] * len(ratios)
    places = [i for i, ratio in enumerate(ratios) if not D.has_no_loss_above(ratio)]
    if not places:
        return found
    if method == "exact":
        for i in places:
            found[i] = _exactly(D, n, ratios[i])
        return found
    laws = D.gparv.floats_at([ratios[i] for i in places])
    if method == "fft-published":
        answers: Sequence[tuple[Interval, str] | ValueError] = _by_published(D, n, laws)
    else:
        answers = _by_certified(laws, n, rtol, _methods(D, n, laws, method))
    for i, null, answer in zip(places, laws.null, answers, strict=True):
        if not isinstance(answer, ValueError):
            found[i] = _with_null(null, *answer)
        elif method == "auto" and _has_little_work(D, n):
            found[i] = _exactly(D, n, ratios[i])
        else:
            raise ValueError(f"{answer}; for small n digits=… in place of rtol has any accuracy") from answer
    return found


def _exactly(D: Decomposition, n: int, ratio: Ratio) -> Interval:
    value = float(exact.divergence(D, n, ratio.alpha, digits=20))
    return outward(value, value, "exact")


def _has_little_work(D: Decomposition, n: int) -> bool:
    """Whether the exact sum costs next to nothing."""
    return n <= _LITTLE_WORK and exact.work(D, n) <= _LITTLE_WORK


def _by_published(D: Decomposition, n: int, laws: gparv.Law) -> list[tuple[Interval, str]]:
    eps0 = sp.Max(D.max_loss, D.reversed().max_loss)
    if eps0 is sp.oo:
        raise ValueError('method="fft-published" needs a finite eps0; use method="fft"')
    step = spacing(float(eps0))
    return [(positive_part_published(v, laws.probabilities, n, step), "fft-published") for v in laws.values]


def _by_certified(
    laws: gparv.Law, n: int, rtol: float, methods: Sequence[tuple[str, ...]]
) -> list[tuple[Interval, str] | ValueError]:
    """For each row of values the first of its methods that reaches ``rtol``; the first refusal if none does."""
    waiting = dict(enumerate(methods))
    found: dict[int, tuple[Interval, str] | ValueError] = {}
    refusals: dict[int, ValueError] = {}
    while waiting:
        name = next(iter(waiting.values()))[0]
        rows = [i for i, names in waiting.items() if names[0] == name]
        for i, part in zip(rows, _EVALUATE[name](laws.values[rows], laws.probabilities, n, rtol), strict=True):
            names = waiting.pop(i)
            if isinstance(part, Interval):
                found[i] = part, name
                continue
            found[i] = refusals.setdefault(i, part)
            if len(names) > 1:
                waiting[i] = names[1:]
    return [found[i] for i in range(len(laws.values))]


def _methods(D: Decomposition, n: int, laws: gparv.Law, method: str) -> list[tuple[str, ...]]:
    """What is tried for each row of values, in this order."""
    if method != "auto":
        return [(method,)] * len(laws.values)
    last = () if _has_little_work(D, n) else ("fft",)
    two = ("binomial", "contour") if n <= _FEW_USERS else ("contour", "binomial")
    return [(*(two if binomial.applies(values) else ("contour",)), *last) for values in laws.values]


_Evaluate = Callable[[Any, Any, int, float], list[Interval | ValueError]]


def _one_by_one(positive_part: Callable[[Any, Any, int, float], Interval]) -> _Evaluate:
    def positive_parts(values: Any, probabilities: Any, n: int, rtol: float) -> list[Interval | ValueError]:
        found: list[Interval | ValueError] = []
        for row in values:
            try:
                found.append(positive_part(row, probabilities, n, rtol))
            except ValueError as refusal:
                found.append(refusal)
        return found

    return positive_parts


_EVALUATE: dict[str, _Evaluate] = {
    "contour": contour.positive_parts,
    "binomial": _one_by_one(binomial.positive_part),
    "fft": _one_by_one(lattice.positive_part),
}


def _largest(ends: Sequence[Interval], method: str) -> Interval:
    """Of several pairs of inputs."""
    used = "+".join(dict.fromkeys(e.method for e in ends if e.method))
    return Interval(max(e.lower for e in ends), max(e.upper for e in ends), used or method)


def _below_one(ratio: Ratio, found: Interval) -> Interval:
    r"""1 − α + α D for α < 1 and bounds of D; α and 1 − α as doubles have relative errors of at most FLOAT_ERROR."""
    rest, alpha = ratio.less_than_one_by, float(ratio)
    slack = 8 * field.UNIT_ROUNDOFF
    lower, upper = rest + alpha * found.lower, rest + alpha * found.upper
    return outward(lower * (1 - slack), upper * (1 + slack), found.method)


def _with_null(null_masses: Any, part: Interval, method: str) -> Interval:
    null = math.fsum(null_masses)
    slack = 4 * field.FLOAT_ERROR
    return outward(part.lower + null * (1 - slack), part.upper + null * (1 + slack), method)


def log_delta(D: Decomposition, n: int, ratio: Ratio, rtol: float) -> tuple[float, float]:
    """Bounds of log D_α for an α >= 1, by the contour integral: also far below the smallest double."""
    if D.has_no_loss_above(ratio):
        return -math.inf, -math.inf
    law = D.gparv.floats_at([ratio])
    part = contour.log_positive_part(law.values[0], law.probabilities, n, rtol)
    null, slack = math.fsum(law.null[0]), 4 * field.FLOAT_ERROR
    log_null = math.log(null) if null > 0 else -math.inf
    low, high = _log_sum(part.lower, log_null), _log_sum(part.upper, log_null)
    rounding = slack + 8 * field.UNIT_ROUNDOFF * (1 + (abs(high) if high > -math.inf else 0.0))
    return low - rounding, high + rounding


def _log_sum(x: float, y: float) -> float:
    """log(e^x + e^y); −inf stands for 0."""
    low, high = min(x, y), max(x, y)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
