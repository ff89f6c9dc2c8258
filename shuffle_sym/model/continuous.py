r"""What all randomizers with continuous messages have in common."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, cards, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.pieces import Smooth, smooth_pieces
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.equality import ByDefinition
from shuffle_sym.model.randomizer import LocalRandomizer

y = sp.Symbol("y", real=True)
x = sp.Symbol("x", real=True)
TYPICAL_USERS = 10_000  # for whom cells of messages are chosen, if nothing is known of them


class NoiseBlanket(ByDefinition):
    """The blanket of symmetric noise for the two end inputs, which `Shuffle` evaluates by cells.

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
    """A randomizer whose inputs are the numbers of an interval and whose messages are numbers.

    ``density`` is a formula in the symbols x, the input, and y, the message, of this module; ``inputs`` are the least
    and the greatest input.
    """

    density: sp.Expr
    inputs: tuple[sp.Expr, sp.Expr] = (sp.Integer(0), sp.Integer(1))
    #: The least and the greatest message.
    outputs: tuple[sp.Expr, sp.Expr] = (-sp.oo, sp.oo)

    @property
    def has_worst_pair(self) -> bool:
        """Whether it is proved that the two end inputs are the worst pair for the blanket, in either order."""
        return False

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return set(self.density.free_symbols) - {x, y}

    def _facts(self) -> list[tuple[str, str]]:
        low, high = self.inputs
        return [("inputs", f"[{low}, {high}]"), ("density of R(x) at y", cards.value(lambda: self.density))]

    def of_input(self, input_: sp.Expr) -> sp.Expr:
        """The density of the messages of an input."""
        return self.density.subs(x, input_)

    def bend_order(self, difference: sp.Expr, inputs: tuple[sp.Expr, sp.Expr] | None = None) -> int:
        """The sign of a formula that is linear in x, for all inputs but the ends: those here, or others."""
        if not is_linear(difference):
            raise ValueError(f"the bends of density must move linearly with x, got one at {difference}")
        signs = {proved_sign(sp.expand(difference.subs(x, end))) for end in inputs or self.inputs} - {0}
        if len(signs) > 1:
            raise CrossingError(difference)
        return signs.pop() if signs else 0

    @cached_property
    def strips(self) -> tuple[Smooth, ...]:
        """The smooth pieces of the density in y; their ends move with x."""
        return tuple(smooth_pieces(self.density, y, *self.outputs, sign=self.bend_order))

    def noise_blankets(self) -> tuple[NoiseBlanket | Decomposition, ...]:
        """What `decomposition.blankets` are for continuous messages: together they are for all pairs of inputs."""
        return (NoiseBlanket(self) if self.has_worst_pair else self.dominating,)

    @property
    def dominating(self) -> Decomposition:
        """A finite pair of distributions above the blanket of every pair of inputs."""
        raise NotImplementedError

    def _finite_only(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            f"{self!r} is continuous: take a discretisation from either side, R.lower(cells) and R.upper(cells), "
            "and ask that"
        )

    def blanket(self) -> sp.Expr:
        """The common part of the densities of all inputs, γω(y), or a little less; single messages that
        have a probability as multiples of δ(y − message)."""
        raise TypeError(f"the blanket of {self!r} is not one formula in y; ss.decomposition.blankets(R) has its laws")

    gparv = pairs = classes = rows = matrix = input = _finite_only

    def _no_worst_pair(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(
            f"no pair of inputs of {self!r} is proved to be the worst; ss.decomposition.blanket(R) is a finite pair of "
            "laws above all of them"
        )

    def alone(self, alpha: arb) -> tuple[Fraction, arb] | None:
        """A message where the ratio of the worst pair of inputs is α >= 1, about, and D_α of one user alone, where
        these are known."""
        return None

    def lower(self, cells: int, tail: float = 1e-20) -> Decomposition:
        """A finite pair of laws below the worst pair of inputs."""
        self._no_worst_pair()

    def upper(self, cells: int, tail: float = 1e-20) -> Decomposition:
        """A finite pair of laws above the worst pair of inputs."""
        self._no_worst_pair()

    def dataset(self, x2: Any, cells: int, tail: float = 1e-4) -> Decomposition:
        """All others have x2, the first user the least or the greatest input; messages are counted by cells, which can
        only lose."""
        value = self._input(x2)
        return self._in_cells(value, self._places(arguments.positive_integer(cells, "cells"), tail))

    def _in_cells(self, value: sp.Expr, places: list[Fraction]) -> Decomposition:
        columns = {input_: self._masses(input_, places) for input_ in {*self.inputs, value}}
        rational = {x2: [sp.Rational(v.numerator, v.denominator) for v in masses] for x2, masses in columns.items()}
        low, high = (rational[input_] for input_ in self.inputs)
        return Decomposition(low, high, rational[value], title=f"{self!r}, others {value}, {len(places) - 1} cells")

    def _input(self, x2: Any) -> sp.Expr:
        value, (low, high) = arguments.exact_number(x2, "x2"), self.inputs
        if arguments.decided(sp.And(value >= low, value <= high)) is not True:
            raise ValueError(f"x2 must be a number in [{low}, {high}], got {x2!r}")
        arguments.numeric_only(self.free_symbols, "a discretisation")
        return value

    def in_cells(self, x2: sp.Expr, cells: int, users: int = TYPICAL_USERS) -> Decomposition:
        """`dataset` with cells that are chosen so that little is lost with about so many users, where that is known."""
        return self.dataset(x2, cells)

    def datasets(self, cells: int, users: int = TYPICAL_USERS) -> list[tuple[Any, Any, Any, Decomposition]]:
        """Neighbouring datasets (x0, x1, input of all others) and their laws, in `in_cells`: the others at an end or in
        the middle."""
        low, high = self.inputs
        first, middle = ((x2, self.in_cells(x2, cells, users)) for x2 in (low, (low + high) / 2))
        # For symmetric noise either end is the mirror image of the other; else the two orders may differ.
        cut = [first, middle, (high, first[1].reversed() if self.has_worst_pair else self.in_cells(high, cells, users))]
        one_way = [(low, high, x2, D) for x2, D in cut]
        return one_way if self.has_worst_pair else [*one_way, *((high, low, x2, D.reversed()) for x2, D in cut)]

    def _places(self, cells: int, tail: float) -> list[Fraction]:
        """The ends of cells of messages."""
        raise NotImplementedError

    def _masses(self, input_: sp.Expr, places: list[Fraction]) -> list[Fraction]:
        """The probabilities of the cells, which sum to 1; what lies beyond the ends counts as two more."""
        raise NotImplementedError


class CrossingError(ValueError):
    """Two bends of a density change their order at an input."""

    def __init__(self, difference: sp.Expr) -> None:
        super().__init__(f"the bends of density must not cross for any input, and {difference} changes its sign")
        self.input = sp.cancel(-difference.subs(x, 0) / sp.diff(sp.expand(difference), x))


def is_linear(formula: sp.Expr) -> bool:
    """Whether a formula is a polynomial in x of degree 1 or 0. A second derivative that is 0 would not say that: those
    of Piecewise formulas and of atan(tan(x)) are.

    >>> is_linear(x / 2 + 1), is_linear(sp.Piecewise((x, x < 1), (2 - x, True)))
    (True, False)
    """
    polynomial = sp.expand(formula).as_poly(x)
    return polynomial is not None and polynomial.degree() <= 1


def with_atoms(density: sp.Expr, masses: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """A density, and masses of single messages as multiples of δ(y − message)."""
    return density + sp.Add(*(mass * sp.DiracDelta(y - message) for message, mass in masses.items()))


def proved_sign(formula: sp.Expr) -> int:
    """The sign of a formula, proved for all values of its symbols; where it is 0 for some of them, that of the rest."""
    if formula in (sp.oo, -sp.oo):
        raise VerificationError("outputs must be two numbers")
    (form,), bindings = field.rational_form([formula])
    form = field.simplest(form)
    if form == 0 or (not field.free_symbols([form], bindings) and field.sign(form, bindings) == 0):
        return 0
    return 1 if field.is_nonnegative(form, bindings) else -1


def pair(ends: Any) -> tuple[sp.Expr, sp.Expr]:
    """The least and the greatest number, as SymPy numbers."""
    low, high = map(sp.sympify, ends)
    return low, high
