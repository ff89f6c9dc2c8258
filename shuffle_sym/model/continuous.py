r"""Additive noise on [0, 1]: continuous messages, cut into cells.

For the inputs 0 and 1 the blanket is the smaller of the two densities: that of 1 below y = 1/2, that of 0 above. Below
1/2 the ratio :math:`\rho = \mu_0/\mu_1 \ge 1` is all that matters, and it is monotone in y; above, everything is
mirrored. Cut the left half into cells of equal width:

- **lower**: count the messages of a cell as one. That is post-processing, so the divergence can only fall;
- **upper**: move the mass of a cell to its two ends, keeping its mean of (μ_0, μ_1). That is larger in convex order, so
  the divergence can only grow. Where ρ is unbounded, the last cell is given away: its messages tell 0 and 1 apart for
  certain and nobody else sends them (null atoms, c = 0), which is larger still.

Both are decompositions in their own right, and they close in on each other like cells⁻².
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NoReturn

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, cards
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.equality import ByDefinition
from shuffle_sym.model.panels import Panels, Piece, panels
from shuffle_sym.model.randomizer import LocalRandomizer

_BITS = 256  # masses are differences of distribution functions: what is left is far below the error of a double
y = sp.Symbol("y", real=True)
x = sp.Symbol("x", real=True)
_moved = sp.Dummy("moved", real=True)
_distance = sp.Dummy("distance", positive=True)


class NoiseBlanket(ByDefinition):
    """The blanket of continuous noise for the inputs 0 and 1, which `Shuffle` brackets by discretisations.

    >>> import shuffle_sym as ss
    >>> ss.decomposition.blanket(ss.Laplace(eps0=1))
    NoiseBlanket(Laplace(eps0=1))
    """

    def __init__(self, noise: Continuous) -> None:
        self.noise = noise

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return self.noise.free_symbols

    def __repr__(self) -> str:
        return f"NoiseBlanket({self.noise!r})"


class Continuous(LocalRandomizer):
    r"""Noise that is added to an input in [0, 1], with a density that is symmetric and log-concave.

    For such noise the inputs 0 and 1 (and, by symmetry, 1 and 0) are the worst pair for the blanket: proved, see
    `papers.ours.noise`. Other densities are refused, because for them other pairs may be worse.
    """

    #: Distribution function Pr[R(x) <= y] and density as expressions in x and y.
    distribution: sp.Expr
    density: sp.Expr
    #: log μ_0(y)/μ_1(y) for y <= 1/2, linear in y.
    log_ratio: sp.Expr
    parameter: sp.Expr

    @abstractmethod
    def edge(self, tail: float) -> tuple[sp.Expr, bool]:
        """Where the last cell begins (at most ``tail`` of μ_0 lies below it), and whether ρ is bounded there."""

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return set(self.parameter.free_symbols)

    def _facts(self) -> list[tuple[str, str]]:
        return [("inputs", "[0, 1]"), ("density of R(x) at y", cards.value(lambda: self.density))]

    def _refuse_unproved(self) -> None:
        if self._missing:
            raise ValueError(
                "density must be that of symmetric, log-concave noise, for which 0 and 1 are proved to be the worst "
                f"inputs; it is not seen to be {self._missing}: {self.density}"
            )

    @cached_property
    def _missing(self) -> str:
        """What is not shown of what the worst pair is proved from."""
        if self.density.xreplace({x: x + _moved, y: y + _moved}) != self.density:
            return "a function of y - x"
        centred = self.density.subs(x, 0)
        if centred.subs(y, -y) != centred:
            return "symmetric"
        return "" if _is_concave(centred) else "log-concave"

    def blanket(self) -> sp.Expr:
        """The smaller of the densities of inputs 0 and 1, γω(y)."""
        return sp.Piecewise((self.density.subs(x, 1), y < sp.Rational(1, 2)), (self.density.subs(x, 0), True))

    def noise_blanket(self) -> NoiseBlanket:
        """What `decomposition.blanket` is for noise."""
        return NoiseBlanket(self)

    def _finite_only(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is continuous: take a discretisation from either side, R.lower(cells) and R.upper(cells), "
            "and ask that"
        )

    gparv = pairs = classes = rows = matrix = input = _finite_only

    def lower(self, cells: int, tail: float = 1e-20) -> Decomposition:
        """Every cell is one atom: a lower bound on the divergence of the blanket, for every n and α."""
        atoms = []
        for a, b, *_ in self._cells(arguments.positive_integer(cells, "cells"), tail):
            atoms.append((a, b, b))
        return self._decomposition(atoms, f"{self!r}, {cells} cells from below")

    def upper(self, cells: int, tail: float = 1e-20) -> Decomposition:
        """Every cell is split between its ends: an upper bound on the divergence of the blanket, for every n and α."""
        atoms = []
        for a, b, low, high in self._cells(arguments.positive_integer(cells, "cells"), tail):
            if high is None:
                # ρ is unbounded here: as if the message told the inputs apart for certain, and nobody else sent it.
                atoms += [(a, Fraction(0), Fraction(0)), (Fraction(0), b, Fraction(0))]
            elif low == high:
                atoms.append((a, b, b))
            else:
                to_high = (a - low * b) / (high - low)
                atoms.append((high * to_high, to_high, to_high))
                atoms.append((a - high * to_high, b - to_high, b - to_high))
        return self._decomposition(atoms, f"{self!r}, {cells} cells from above")

    def dataset(self, x2: Any, cells: int, tail: float = 1e-4) -> Decomposition:
        """All others have x2 in [0, 1], the first user 0 or 1; messages are counted by cells, which can only lose."""
        value = arguments.exact_number(x2, "x2")
        if arguments.decided(sp.And(value >= 0, value <= 1)) is not True:
            raise ValueError(f"x2 must be a number in [0, 1], got {x2!r}")
        arguments.numeric_only(self.free_symbols, "a discretisation")
        cells, first = arguments.positive_integer(cells, "cells"), _number(self.edge(tail)[0], {})
        ends = [first + (1 - 2 * first) * i / cells for i in range(cells + 1)]
        columns = []
        for input_ in (Fraction(0), Fraction(1), _number(value, {})):
            below = [Fraction(0), *(_number(self.distribution, {x: input_, y: end}) for end in ends), Fraction(1)]
            masses = [b - a for a, b in pairwise(below)]
            columns.append([sp.Rational(v.numerator, v.denominator) for v in masses])
        return Decomposition(*columns, title=f"{self!r}, others {value}, {cells} cells")

    @cached_property
    def _known_panels(self) -> dict[tuple[float, float], Panels]:
        return {}

    @cached_property
    def _ends_flat(self) -> bool:
        return self.edge(0.5)[1]

    def panels(self, spread: float, tail: float) -> Panels:
        """The left half of the messages as panels over each of which log ρ changes by ``spread`` on average; at most
        ``tail`` of μ_1 lies beyond them."""
        arguments.numeric_only(self.free_symbols, "a number")
        self._refuse_unproved()
        tail = 0.0 if self._ends_flat else tail
        if (spread, tail) not in self._known_panels:
            self._known_panels[spread, tail] = self._panels(spread, tail)
        return self._known_panels[spread, tail]

    def _panels(self, spread: float, tail: float) -> Panels:
        edge, constant = self.edge(tail or 0.5)
        # R(1) is R(0) moved by 1.
        edge = edge if constant else sp.Min(edge + 1, sp.Rational(1, 4))
        density, log_ratio = (_analytic(e) for e in (self.density.subs(x, 1), self.log_ratio))
        with balls.precision(_BITS):
            last = balls.value(edge)
            largest = balls.value(sp.exp(log_ratio), {y: last})
            masses = [balls.value(self.distribution, {x: balls.ball(input_), y: last}) for input_ in (0, 1)]
            count = max(math.ceil(float(largest.log()) / spread), 1)
            piece = Piece(last, arb(0.5), density, sp.exp(log_ratio), count)
            if constant:
                return panels(y, [piece], [(largest, masses[1])])
            return panels(y, [piece], [], (balls.lower(masses[0]), balls.upper(masses[0]), balls.upper(masses[1])))

    def _cells(self, cells: int, tail: float) -> list[tuple[Fraction, Fraction, Fraction, Fraction | None]]:
        """Masses under inputs 0 and 1 and both ends of ρ, cell by cell from 1/2 down; the last one reaches to −∞."""
        arguments.numeric_only(self.free_symbols, "a discretisation")
        self._refuse_unproved()
        edge, bounded = self.edge(tail)
        first, last = Fraction(1, 2), _number(edge, {})
        ends = [first + (last - first) * i / cells for i in range(cells + 1)]
        below = [[_number(self.distribution, {x: Fraction(input_), y: end}) for end in ends] for input_ in (0, 1)]
        ratios = [_number(sp.exp(self.log_ratio), {y: end}) for end in ends]
        inner = [
            (below[0][i] - below[0][i + 1], below[1][i] - below[1][i + 1], ratios[i], ratios[i + 1])
            for i in range(cells)
        ]
        return [*inner, (below[0][-1], below[1][-1], ratios[-1], ratios[-1] if bounded else None)]

    def _decomposition(self, left: list[tuple[Fraction, Fraction, Fraction]], title: str) -> Decomposition:
        """Both halves; what the rounding to rational numbers misses of 1 goes to the largest mass."""
        a = [atom[0] for atom in left] + [atom[1] for atom in left]
        b = [atom[1] for atom in left] + [atom[0] for atom in left]
        c = [atom[2] for atom in left] * 2
        for masses in (a, b):
            masses[masses.index(max(masses))] += 1 - sum(masses)
        rational = [[sp.Rational(v.numerator, v.denominator) for v in masses] for masses in (a, b, c)]
        return Decomposition(*rational, title=title)


def _is_concave(density: sp.Expr) -> bool:
    """Whether the logarithm is seen to be concave for y > 0, and to fall there: with symmetry, everywhere."""
    log = sp.expand_log(sp.log(density.subs(y, _distance)), force=True)
    slope, bend = (sp.together(sp.diff(log, _distance, k)) for k in (1, 2))
    return bool(slope.is_nonpositive and bend.is_nonpositive)


def _analytic(expr: sp.Expr) -> sp.Expr:
    """The formula without Abs, Min, Max and cases, as it is between the last bend below 1/2 and 1/2."""
    near = sp.Rational(1, 2) - sp.Rational(1, 10**6)

    def size(e: sp.Expr) -> float:
        return float(e.subs(y, near))

    expr = expr.replace(sp.Abs, lambda e: e if size(e) >= 0 else -e)
    expr = expr.replace(sp.Min, lambda *parts: min(parts, key=size))
    return expr.replace(sp.Max, lambda *parts: max(parts, key=size))


def _number(expr: sp.Expr, values: Mapping[sp.Symbol, Fraction]) -> Fraction:
    """The value of an expression with a relative error of at most 2^-200."""
    with balls.precision(_BITS):
        enclosed = balls.value(expr, {symbol: balls.ball(value) for symbol, value in values.items()})
    if not balls.is_right_to(_BITS - 56, enclosed):
        raise VerificationError(f"cannot evaluate {expr} at {values} to {_BITS - 56} bits")
    return balls.middle(enclosed)
