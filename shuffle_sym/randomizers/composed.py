r"""Randomizers made of randomizers: joint (several attributes at once) and parallel (one of several at random)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.randomizer import OutputClass, Randomizer


def _with_own_symbols(parts: Sequence[Randomizer]) -> tuple[dict[sp.Symbol, sp.Expr], list[dict[sp.Symbol, sp.Symbol]]]:
    """One set of bindings for all parts, and for each part what its symbols are called in it.

    Parts that mean the same by t share it; a part with another ε0 gets a t with a number.
    """
    bindings: dict[sp.Symbol, sp.Expr] = {}
    renamings = []
    for i, part in enumerate(parts, start=1):
        renaming = {}
        for symbol, value in part.bindings.items():
            if bindings.get(symbol, value) != value:
                renaming[symbol] = sp.Symbol(f"{symbol.name}_{{({i})}}", **symbol.assumptions0)
                field.LEAST.setdefault(renaming[symbol], field.LEAST.get(symbol, 0))
            bindings[renaming.get(symbol, symbol)] = value
        renamings.append(renaming)
    return bindings, renamings


def _renamed(y: OutputClass, renaming: dict[sp.Symbol, sp.Symbol], weight: sp.Expr = sp.S.One) -> OutputClass:
    return OutputClass(
        y.label,
        tuple(weight * e.xreplace(renaming) for e in y.masses),
        tuple(weight * e.xreplace(renaming) for e in y.range),
    )


class Joint(Randomizer):
    r"""Every part randomises its own attribute: inputs and messages are tuples, probabilities are products (Su et al.
    2025, §6). The input (x_1, x_2, …) has the number x_1 + d_1 (x_2 + d_2 (…)).

    Any two tuples are neighbours, so the worst pair may differ in all attributes or only in some: all are tried.

    >>> from shuffle_sym.randomizers import KRR
    >>> Joint(KRR(k=3, eps0=sp.log(2)), KRR(k=4, eps0=sp.log(3))).gamma
    1/2
    """

    def __init__(self, *parts: Randomizer) -> None:
        _check_parts(parts)
        self.parts = parts
        self.bindings, self._renamings = _with_own_symbols(parts)
        self.input_count = sp.Mul(*(part.input_count for part in parts))

    def attributes(self, x: int) -> tuple[int, ...]:
        """The tuple with the number x."""
        split = []
        for part in self.parts:
            x, own = divmod(x, int(part.input_count)) if part.input_count.is_Integer else (0, x)
            split.append(own)
        return tuple(split)

    def number(self, attributes: Sequence[int]) -> int:
        """The number of a tuple."""
        x = 0
        for part, own in reversed(list(zip(self.parts, attributes, strict=True))):
            x = x * int(part.input_count) + own
        return x

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        split = [self.attributes(x) for x in inputs]
        factors = [
            [_renamed(y, renaming) for y in part.classes(*(attributes[i] for attributes in split))]
            for i, (part, renaming) in enumerate(zip(self.parts, self._renamings, strict=True))
        ]
        return tuple(
            OutputClass(
                r" \times ".join(y.label for y in combination),
                tuple(sp.Mul(*column) for column in zip(*(y.masses for y in combination), strict=True)),
                tuple(sp.Mul(*values) for values in product(*(y.range for y in combination))),
            )
            for combination in product(*factors)
        )

    def pairs(self) -> tuple[tuple[int, int], ...]:
        arguments.numeric_only(self.input_count.free_symbols, "the list of pairs")
        # In each attribute: one of its own pairs, or (up to symmetry) the same value twice.
        same = [
            ((0, 0),) if part.symmetric else tuple((x, x) for x in range(int(part.input_count))) for part in self.parts
        ]
        choices = [(*part.pairs(), *equal) for part, equal in zip(self.parts, same, strict=True)]
        pairs = ((self.number([p[0] for p in c]), self.number([p[1] for p in c])) for c in product(*choices))
        return tuple(pair for pair in dict.fromkeys(pairs) if pair[0] != pair[1])

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        parts = [
            [[e.xreplace(renaming) for e in row] for row in part.rows()]
            for part, renaming in zip(self.parts, self._renamings, strict=True)
        ]
        chosen = (
            [part[x] for part, x in zip(parts, self.attributes(x), strict=True)] for x in range(int(self.input_count))
        )
        return [[sp.Mul(*entries) for entries in product(*rows)] for rows in chosen]

    def __repr__(self) -> str:
        return f"Joint({', '.join(map(repr, self.parts))})"


class Parallel(Randomizer):
    r"""One of the parts, chosen at random and named in the message, randomises the input (Su et al. 2025, §7).

    >>> from shuffle_sym.randomizers import KRR, BLH
    >>> Parallel([KRR(k=3, eps0=sp.log(3)), BLH(d=3, eps0=sp.log(2))], weights=[0.5, 0.5]).gamma
    27/40
    """

    def __init__(self, parts: Sequence[Randomizer], weights: Sequence[Any]) -> None:
        parts = tuple(parts)
        _check_parts(parts)
        if len(parts) != len(weights):
            raise ValueError(f"weights must have one entry for each of the {len(parts)} parts, got {len(weights)}")
        self.weights = tuple(arguments.exact_number(w, f"weights[{i}]") for i, w in enumerate(weights))
        for i, w in enumerate(self.weights):
            if arguments.decided(w > 0) is not True:
                raise ValueError(f"weights[{i}] must be a number > 0, got {w}")
        if sp.simplify(sum(self.weights) - 1) != 0:
            raise ValueError(f"weights must sum to 1, got the sum {sum(self.weights)}")
        if len({part.input_count for part in parts}) != 1:
            counts = ", ".join(str(part.input_count) for part in parts)
            raise ValueError(f"parts must have the same inputs, got {counts} of them")
        self.parts = parts
        self.bindings, self._renamings = _with_own_symbols(parts)
        forms, irrational = field.rational_form(self.weights)
        self._weights, self.bindings = forms, {**self.bindings, **irrational}
        self.input_count = parts[0].input_count
        self.symmetric = all(part.symmetric for part in parts)

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        return tuple(
            OutputClass(rf"{i}{{:}}\,{y.label}", y.masses, y.range)
            for i, (part, renaming, w) in enumerate(zip(self.parts, self._renamings, self._weights, strict=True), 1)
            for y in (_renamed(y, renaming, w) for y in part.classes(*inputs))
        )

    def pairs(self) -> tuple[tuple[int, int], ...]:
        # One pair stands for all if the symmetries of a part that has the fewest are symmetries of the others too.
        others = [part for part in self.parts if not part.symmetric]
        return others[0].pairs() if len(others) == 1 else super().pairs()

    def rows(self) -> list[list[sp.Expr]]:
        parts = [
            [[w * e.xreplace(renaming) for e in row] for row in part.rows()]
            for part, renaming, w in zip(self.parts, self._renamings, self._weights, strict=True)
        ]
        return [[e for row in rows for e in row] for rows in zip(*parts, strict=True)]

    def __repr__(self) -> str:
        return f"Parallel([{', '.join(map(repr, self.parts))}], weights={list(self.weights)})"


def _check_parts(parts: Sequence[Any]) -> None:
    if not parts:
        raise ValueError("parts must not be empty: give at least one randomizer")
    for i, part in enumerate(parts):
        if not isinstance(part, Randomizer):
            raise TypeError(f"parts[{i}] must be a randomizer, got {part!r}")
