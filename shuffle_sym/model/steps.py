r"""Densities with two levels, and single messages: an exact finite pair of laws, with symbols.

If every message has the smaller density ``low`` for one of the two end inputs, the blanket is constant, and the ratio
to it is 1 or t = high/low. A message that is sent with a probability that is linear in x is least likely for one of the
two ends. Under the blanket, of mass γ, every p_x/c has the mean 1 and lies between 1 and the largest ratio: the law
with no value in between is above all of them in convex order (`model.comonotone`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.pieces import Smooth
from shuffle_sym.model import comonotone
from shuffle_sym.model.continuous import Continuous, pair, proved_sign, x, y
from shuffle_sym.model.decomposition import Decomposition

_BITS = 200


class Steps(Continuous):
    """A randomizer whose density takes two values, between ``outputs``, and that sends some messages by themselves.

    ``atoms`` are these messages with their probabilities, linear in x.
    """

    atoms: Mapping[sp.Expr, sp.Expr]

    def __init__(self, density: sp.Expr, inputs: Any, outputs: Any, atoms: Mapping[Any, Any] | None = None) -> None:
        self.density, self.inputs, self.outputs = density, pair(inputs), pair(outputs)
        self.atoms = dict(atoms or {})

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        formulas = (self.density, *self.outputs, *self.atoms.values())
        return {s for formula in formulas for s in sp.sympify(formula).free_symbols} - {x, y}

    @cached_property
    def steps(self) -> tuple[Smooth, ...]:
        """The intervals of messages on which the density is constant; their ends move with x."""
        for strip in self.strips:
            if {x, y} & strip.formula.free_symbols:
                raise ValueError(f"density must be constant between its bends here, got {strip.formula}")
        return self.strips

    @cached_property
    def levels(self) -> tuple[sp.Expr, sp.Expr]:
        """The smaller and the larger value of the density."""
        values = tuple(dict.fromkeys(step.formula for step in self.steps))
        if len(values) != 2:
            raise ValueError(f"density must take two values here, got {len(values)}: {values}")
        low, high = values if proved_sign(values[1] - values[0]) > 0 else values[::-1]
        if proved_sign(low) <= 0:
            raise ValueError(f"density must be positive between {self.outputs}, got {low}")
        return low, high

    def check(self) -> None:
        """Refuse what is no density: the integral is 1, no probability is negative, and no message is sent by both
        ends with the larger density."""
        _, high = self.levels
        for end in self.inputs:
            total = sum(step.formula * (step.right - step.left) for step in self.steps).subs(x, end)
            for message, probability in self.atoms.items():
                if sp.expand(sp.diff(probability, x, 2)) != 0:
                    raise ValueError(f"atoms[{message}] must be linear in x, got {probability}")
                if proved_sign(probability.subs(x, end)) < 0:
                    raise ValueError(f"atoms[{message}] must not be negative, got {probability} at x = {end}")
                total += probability.subs(x, end)
            if proved_sign(total - 1):
                about = "" if total.free_symbols else f" = {float(total):.12g}, off by {float(total - 1):.3g}"
                raise ValueError(f"density must integrate to 1 over y, got {sp.simplify(total)}{about} at x = {end}")
        ends = [
            [(step.left.subs(x, end), step.right.subs(x, end)) for step in self.steps if step.formula == high]
            for end in self.inputs
        ]
        for left, right in ends[0]:
            for other_left, other_right in ends[1]:
                if proved_sign(other_left - right) < 0 and proved_sign(left - other_right) < 0:
                    raise ValueError(
                        f"every message must have the density {self.levels[0]} for one of the inputs {self.inputs}"
                    )

    # -- what follows

    @cached_property
    def _forms(self) -> tuple[sp.Expr, sp.Expr, field.Bindings]:
        """γ and the largest ratio."""
        low, high = self.levels
        rows = [[probability.subs(x, end) for probability in self.atoms.values()] for end in self.inputs]
        width = self.outputs[1] - self.outputs[0]
        forms, bindings = field.rational_form([low, high, width, *rows[0], *rows[1]])
        (low, high, width), atoms = forms[:3], forms[3:]
        pairs = list(zip(atoms[: len(self.atoms)], atoms[len(self.atoms) :], strict=True))
        least = [field.minimum(pair, bindings) for pair in pairs]
        ratios = [field.maximum(pair, bindings) / low for pair, low in zip(pairs, least, strict=True)]
        gamma = field.simplest(low * width + sum(least))
        return gamma, field.simplest(field.maximum([high / low, *ratios], bindings)), bindings

    @cached_property
    def eps0(self) -> sp.Expr:
        _, ratio, bindings = self._forms
        return sp.log(field.substitute(ratio, bindings)).expand()

    @cached_property
    def gamma(self) -> sp.Expr:
        gamma, _, bindings = self._forms
        return field.substitute(gamma, bindings)

    @cached_property
    def dominating(self) -> Decomposition:
        """The finite pair of laws above all pairs of inputs: that of the two ends, if all ratios there are 1 or t."""
        gamma, ratio, bindings = self._forms
        return comonotone.from_mass(gamma, ratio, bindings, "blanket")

    def dataset(self, x2: Any, cells: int = 0, tail: float = 0.0) -> Decomposition:
        """All others have x2, the first user the least or the greatest input: exact, without cells."""
        value = arguments.exact_number(x2, "x2")
        if not (proved_sign(value - self.inputs[0]) >= 0 and proved_sign(self.inputs[1] - value) >= 0):
            raise ValueError(f"x2 must be a number in {list(self.inputs)}, got {x2!r}")
        arguments.numeric_only(self.free_symbols, "a dataset")
        inputs = (*self.inputs, value)
        moving = {end.subs(x, input_) for input_ in inputs for step in self.steps for end in (step.left, step.right)}
        with balls.precision(_BITS):
            places = sorted(moving, key=lambda place: float(balls.value(place)))
        columns = []
        for input_ in inputs:
            cells_of = [self._level(input_, a, b) * (b - a) for a, b in pairwise(places)]
            columns.append([*cells_of, *(probability.subs(x, input_) for probability in self.atoms.values())])
        return Decomposition(*columns, title=f"{self!r}, others {value}")

    def _level(self, input_: sp.Expr, left: sp.Expr, right: sp.Expr) -> sp.Expr:
        """The density between two neighbouring places."""
        with balls.precision(_BITS):
            middle = balls.value((left + right) / 2)
            for step in self.steps:
                if middle < balls.value(step.right.subs(x, input_)):
                    return step.formula
        return self.steps[-1].formula
