r"""A continuous law of G as nodes of Gauss–Legendre panels, with what bounds the error made by them.

The transform of G is an integral over messages, :math:`\varphi(s) - 1 = \int c(y)\,(e^{sG(y)} - 1)\,dy` with
G = A − αB, A = μ_0/c, B = μ_1/c. A panel is a piece of it with m nodes. If the integrand is analytic and at most M in
absolute value on the ellipse around the panel whose half axes are (r ± 1/r)/2 times its half width h, the error is at
most (64/15) h M r^{−2m}/(1 − r^{−2}). Bounds of c, A and B there come from balls that contain the ellipse, after boxes
that cover what is inside have shown that no pole is there; they serve every α, every n and every s. Everything is
computed once for a noise.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import acb, arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.integrals import rule

Array = npt.NDArray[np.float64]
Function = Callable[[Any], Any]

_NODES = 16
_BITS = 128
_RADII = (2, 3, 6, 12)  # r of the ellipses
_ARCS = 10
_PARTS = (8, 32, 128)
_ROUNDING = 1e-14
_MOST_BOXES = 200
_NO_BOUNDS = (math.inf, 0.0, 0.0, 0.0)


class Panel(NamedTuple):
    """One panel: A and the weights times c at its nodes; cap, top, low and side for each ellipse; its run. See
    `Panels`."""

    ratios: Array
    masses: Array
    ellipses: list[tuple[float, ...]]
    run: tuple[float, float, float]


class Tail(NamedTuple):
    """What lies beyond the last panel: its mass under 0 and under 1, each at least and at most, and the least A."""

    least_0: float = 0.0
    most_0: float = 0.0
    least_1: float = 0.0
    most_1: float = 0.0
    edge: float = math.inf


_NOTHING = Tail()


@dataclass(frozen=True)
class Panels:
    r"""Nodes and bounds of one half of the messages, on which B = 1; the other half is its mirror image, A = 1.

    ``ratios`` and ``masses`` are A and the weights times c at all nodes (atoms among them), to within FLOAT_ERROR.
    ``caps`` bounds the error of a panel over max |e^{sG}| + 1; ``tops``, ``lows`` and ``sides`` are bounds of Re A from
    both sides and of |Im A| on the ellipses, one column for each. ``runs`` describes the panels on the real line, from
    the smallest A on: the least density of A, and the ends of an interval of A that the panel covers for certain.
    """

    ratios: Array
    masses: Array
    caps: Array
    tops: Array
    lows: Array
    sides: Array
    runs: tuple[Array, Array, Array]
    tail: Tail


class Smooth:
    """An interval of messages y on which the densities c, and A or B = 1, are analytic; ``ratio`` is the other one."""

    def __init__(self, y: sp.Symbol, common: sp.Expr, ratio: sp.Expr) -> None:
        with balls.precision(_BITS):
            self.common, self.ratio, self.slope = (balls.compiled(e, y) for e in (common, ratio, sp.diff(ratio, y)))

    def panel(self, middle: arb, half: arb) -> Panel:
        """The panel with this middle and half width."""
        with balls.precision(_BITS):
            places = [(middle + half * node, half * weight) for node, weight in rule(_NODES, _BITS)]
            nodes = [(self.ratio(place), weight * self.common(place)) for place, weight in places]
            around = self._ellipses(middle, half)
            flat = _flat(self.ratio(middle + half * arb(0, 1)), nodes, around)
            return Panel(*_doubles(nodes), [*around, flat], _run(self.common, self.ratio, self.slope, middle, half))

    def _ellipses(self, middle: arb, half: arb) -> list[tuple[float, ...]]:
        """cap, top, low, side of each ellipse; a pole in one of them is in all larger ones."""
        around, analytic = [], True
        for r in _RADII:
            bounds = _ellipse(self.common, self.ratio, middle, half, r) if analytic else _NO_BOUNDS
            if bounds != _NO_BOUNDS and not self._is_analytic(middle, half, r):
                bounds, analytic = _NO_BOUNDS, False
            around.append(bounds)
        return around

    def _is_analytic(self, middle: arb, half: arb, r: int) -> bool:
        """Whether boxes that cover the upper half of the ellipse have finite values, and the lower half is alike."""
        long, short = (half * axis for axis in _axes(r))
        waiting = [((-1.0, 1.0), (0.0, 1.0))]  # in units of the half axes
        for _ in range(_MOST_BOXES):
            if not waiting:
                return True
            x, y = waiting.pop()
            nearest = min(abs(x[0]), abs(x[1])) if x[0] * x[1] > 0 else 0.0
            if nearest**2 + y[0] ** 2 > 1:
                continue
            box = acb(middle + long * arb(x[0]).union(arb(x[1])), short * arb(y[0]).union(arb(y[1])))
            if not (acb(self.common(box)).is_finite() and acb(self.ratio(box)).is_finite()):
                waiting += [(left, low) for left in _halves(*x) for low in _halves(*y)]
        return False


def _doubles(nodes: Sequence[tuple[arb, arb]]) -> tuple[Array, Array]:
    if not all(balls.is_right_to(60, x) for node in nodes for x in node):
        raise VerificationError("could not evaluate the densities to the accuracy of doubles")
    ratios, masses = (balls.doubles(column) for column in zip(*nodes, strict=True))
    return ratios, masses


def panels(parts: Sequence[Panel], atoms: Sequence[tuple[arb, arb]], tail: Tail = _NOTHING) -> Panels:
    """Panels next to each other, on which A does not decrease from one to the next, and atoms (A, mass)."""
    alone = [_doubles(atoms)] if atoms else []
    ratios, masses = (np.concatenate(column) for column in zip(*alone, *(part[:2] for part in parts), strict=True))
    bounds = np.array([part.ellipses for part in parts])
    density, start, end = np.array(sorted((part.run for part in parts), key=lambda run: run[1])).T
    caps, tops, lows, sides = (bounds[:, :, k] for k in range(4))
    return Panels(ratios, masses, caps, tops, lows, sides, (density, start, end), tail)


def mixed(parts: Sequence[tuple[arb, Panels]], atoms: Sequence[tuple[arb, arb]]) -> Panels:
    """The panels of a mixture: of parts with their probabilities, and of messages by themselves, as atoms (A, mass)."""
    weights = balls.doubles(w for w, _ in parts)
    made = [part for _, part in parts]
    values, masses = (balls.doubles(column) for column in zip(*atoms, strict=True)) if atoms else (np.zeros(0),) * 2
    # Of one part, the most likely one: intervals of several may overlap.
    density, start, end = made[int(weights.argmax())].runs
    # A product with a weight has one rounding more: a little more or less, in the direction that is safe.
    scaled = [(w * (1 + _ROUNDING), part) for w, part in zip(weights, made, strict=True)]
    most, less = (1 + _ROUNDING), (1 - 8 * _ROUNDING)
    least_0, most_0, least_1, most_1 = (float(sum(w * part.tail[k] for w, part in scaled)) for k in range(4))
    tail = Tail(least_0 * less, most_0 * most, least_1 * less, most_1 * most, min(part.tail.edge for part in made))
    tops, lows, sides = (np.concatenate([getattr(part, name) for part in made]) for name in ("tops", "lows", "sides"))
    return Panels(
        np.concatenate([values, *(part.ratios for part in made)]),
        np.concatenate([masses, *(w * part.masses for w, part in zip(weights, made, strict=True))]),
        np.concatenate([w * part.caps for w, part in scaled]),
        tops,
        lows,
        sides,
        (density * weights.max() * (1 - _ROUNDING), start, end),
        tail,
    )


def _axes(r: int) -> tuple[arb, arb]:
    """The half axes of the ellipse around [−1, 1]."""
    return (arb(r) + arb(1) / r) / 2, (arb(r) - arb(1) / r) / 2


def _halves(low: float, high: float) -> tuple[tuple[float, float], tuple[float, float]]:
    middle = (low + high) / 2
    return (low, middle), (middle, high)


@lru_cache(maxsize=8)
def _arcs(r: int) -> tuple[tuple[arb, arb], ...]:
    """Balls that contain the upper half of the ellipse around [−1, 1], (r e^{iθ} + e^{−iθ}/r)/2, real and imaginary
    part."""
    long, short = _axes(r)
    step = arb.pi() / _ARCS
    angles = [step * (arb(k) + arb(0.5, 0.5)) for k in range(_ARCS)]
    return tuple((long * angle.cos(), short * angle.sin()) for angle in angles)


def _ellipse(common: Function, ratio: Function, middle: arb, half: arb, r: int) -> tuple[float, ...]:
    """cap, top, low, side. Largest on the boundary, and on its upper half: they are real on the real line; if they are
    analytic inside, which is not checked here."""
    places = [acb(middle + half * x, half * y) for x, y in _arcs(r)]
    sizes: list[arb] = [abs(acb(common(place))) for place in places]
    values = [acb(ratio(place)) for place in places]
    if not (all(v.is_finite() for v in sizes) and all(v.is_finite() for v in values)):
        return _NO_BOUNDS
    factor = arb(64) / 15 * half * arb(r) ** (-2 * _NODES) / (1 - arb(r) ** -2)
    return (
        balls.upper(factor * reduce(arb.max, sizes)),
        balls.upper(reduce(arb.max, (v.real for v in values))),
        balls.lower(reduce(arb.min, (v.real for v in values))),
        balls.upper(reduce(arb.max, (abs(v.imag) for v in values))),
    )


def _flat(ratios: arb, nodes: Sequence[tuple[arb, arb]], ellipses: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """cap, top, low, side without an ellipse: no error is above both masses, that of the nodes and that of the panel,
    which is off by an error itself. For few messages with large ratios, on which e^{sG} goes round many times."""
    mass = balls.upper(2 * sum((mass for _, mass in nodes), arb(0))) + min(cap for cap, *_ in ellipses)
    if not ratios.is_finite():
        return _NO_BOUNDS
    return mass * (1 + _ROUNDING), balls.upper(ratios), balls.lower(ratios), 0.0


def _run(common: Function, ratio: Function, slope: Function, middle: arb, half: arb) -> tuple[float, float, float]:
    """The least density of A on the panel, and an interval of A that it covers, which is empty if A is not known to be
    monotone there."""
    # In parts: over a wide ball a slope that never changes its sign may seem to.
    for count in _PARTS:
        parts = [middle + half * (arb(2 * k + 1 - count, 1) / count) for k in range(count)]
        slopes = [slope(part) for part in parts]
        rising, falling = all(steep > 0 for steep in slopes), all(steep < 0 for steep in slopes)
        if rising or falling:
            break
    first, last = ratio(middle - half), ratio(middle + half)
    low, high = (first, last) if rising else (last, first)
    if not (rising or falling) or not low < high:
        return 0.0, balls.upper(low), balls.upper(low)
    density = min(balls.lower(common(part) / abs(steep)) for part, steep in zip(parts, slopes, strict=True))
    return max(density, 0.0), balls.upper(low), balls.lower(high)
