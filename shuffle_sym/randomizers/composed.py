r"""Randomizers made of randomizers: joint (several attributes at once) and parallel (one of several at random)."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import combinations_with_replacement, groupby, product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.randomizer import MOST_ENTRIES, OutputClass, Randomizer
from shuffle_sym.randomizers.composed_noise import JointNoise, ParallelNoise, check_parts

_AND_MORE = r",\ldots"


def _with_own_symbols(
    parts: Sequence[Randomizer], free: Iterable[sp.Symbol] = ()
) -> tuple[dict[sp.Symbol, sp.Expr], list[dict[sp.Symbol, sp.Symbol]]]:
    """One set of bindings for all parts, and for each part what its symbols are called in it.

    Parts that mean the same by t share it; a part with another ε0 gets a t with a number. Symbols that are ``free``,
    here or in a part, keep their names.
    """
    bindings: dict[sp.Symbol, sp.Expr] = {symbol: symbol for symbol in free}
    renamings = []
    for i, part in enumerate(parts, start=1):
        renaming = {}
        free = {symbol: symbol for symbol in part.free_symbols}
        for symbol, value in {**free, **part.bindings}.items():
            own, number = symbol, i
            while bindings.get(own, value) != value:  # also where a part is itself made of parts
                own, number = _renamed_symbol(symbol, f"{symbol.name}_{{({number})}}"), number + 1
            if own != symbol:
                renaming[symbol] = own
            bindings[own] = value
        renamings.append(renaming)
    return {symbol: value for symbol, value in bindings.items() if symbol != value}, renamings


def _renamed_symbol(symbol: sp.Symbol, name: str) -> sp.Symbol:
    return symbol.renamed(name) if isinstance(symbol, Parameter) else sp.Symbol(name, **symbol.assumptions0)


def _renamed(y: OutputClass, renaming: dict[sp.Symbol, sp.Symbol], weight: sp.Expr = sp.S.One) -> OutputClass:
    return OutputClass(
        y.label,
        tuple(weight * e.xreplace(renaming) for e in y.masses),
        tuple(weight * e.xreplace(renaming) for e in y.range),
    )


def _with_ends(y: OutputClass, bindings: field.Bindings) -> OutputClass:
    """The class with the smallest and the largest value of its range only."""
    ends = (field.minimum(y.range, bindings), field.maximum(y.range, bindings))
    return OutputClass(y.label, tuple(map(field.simplest, y.masses)), ends)


@lru_cache(maxsize=1024)
def _power(classes: tuple[OutputClass, ...], count: int, in_order: bool) -> tuple[OutputClass, ...]:
    """So many independent messages."""
    return classes if count == 1 else _product(_power(classes, count - 1, in_order), classes, in_order)


def _product(
    first: tuple[OutputClass, ...], second: tuple[OutputClass, ...], in_order: bool
) -> tuple[OutputClass, ...]:
    """Two messages that are sent together. Classes that are proportional stay so whatever else is sent, so they are
    merged at every step; ``in_order`` says that every range holds its smallest and its largest value."""
    classes = []
    for y, z in product(first, second):
        pairs = zip(y.range, z.range, strict=True) if in_order else product(y.range, z.range)
        reached = [field.simplest(a * b) for a, b in pairs]
        masses = tuple(field.simplest(a * b) for a, b in zip(y.masses, z.masses, strict=True))
        classes.append(
            OutputClass(rf"{y.label} \times {z.label}", masses, tuple(reached if in_order else dict.fromkeys(reached)))
        )
    return _merged(classes)


def _merged(classes: Sequence[OutputClass]) -> tuple[OutputClass, ...]:
    """Classes with proportional probabilities, under the named inputs and over all inputs, as one."""
    groups: dict[tuple[sp.Expr, ...], list[OutputClass]] = {}
    for y in classes:
        scale = next((e for e in y.range if e != 0), sp.S.One)
        key = (sp.Integer(len(y.range)), *(field.simplest(e / scale) for e in (*y.range, *y.masses)))
        groups.setdefault(key, []).append(y)
    return tuple(
        group[0]
        if len(group) == 1
        else OutputClass(
            group[0].label.removesuffix(_AND_MORE) + _AND_MORE,
            tuple(field.simplest(sum(column)) for column in zip(*(y.masses for y in group), strict=True)),
            tuple(field.simplest(sum(column)) for column in zip(*(y.range for y in group), strict=True)),
        )
        for group in groups.values()
    )


class Joint(Randomizer):
    r"""Every part randomises its own attribute: inputs and messages are tuples, probabilities are products (Su et al.
    2025, §6). The input (x_1, x_2, …) has the number x_1 + d_1 (x_2 + d_2 (…)).

    Arguments: ``parts``, one randomizer for each attribute.

    Any two tuples are neighbours, so the worst pair may differ in all attributes or only in some: all are tried.

    >>> from shuffle_sym.randomizers import KRR
    >>> Joint(KRR(k=3, eps0=sp.log(2)), KRR(k=4, eps0=sp.log(3))).gamma
    1/2
    """

    def __new__(cls, *parts: Any) -> Any:
        if any(isinstance(part, Continuous) for part in parts):
            return JointNoise(*parts)
        return super().__new__(cls)

    def __init__(self, *parts: Randomizer) -> None:
        check_parts(parts)
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
        """The number of a tuple of ``attributes``."""
        x = 0
        for part, own in reversed(list(zip(self.parts, attributes, strict=True))):
            x = x * int(part.input_count) + own
        return x

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        split = [self.attributes(x) for x in inputs]
        factors = [
            tuple(_renamed(y, renaming) for y in part.classes(*(attributes[i] for attributes in split)))
            for i, (part, renaming) in enumerate(zip(self.parts, self._renamings, strict=True))
        ]
        try:  # the smallest and the largest probability of messages that are sent together are products
            factors = [tuple(_with_ends(y, self.bindings) for y in factor) for factor in factors]
            in_order = True
        except VerificationError:  # not known which is the smallest: all values, then
            in_order = False
        powers = [_power(factor, len(list(same)), in_order) for factor, same in groupby(factors)]
        return reduce(lambda y, z: _product(y, z, in_order), powers)

    def pairs(self) -> tuple[tuple[int, int], ...]:
        arguments.numeric_only(self.input_count.free_symbols, "the list of pairs")
        # In each attribute: one of its own pairs, or (up to symmetry) the same value twice.
        groups: list[tuple[Randomizer, list[int]]] = []
        for i, part in enumerate(self.parts):
            alike = next((places for other, places in groups if other == part), None)
            if alike is None:
                groups.append((part, [i]))
            else:
                alike.append(i)
        chosen = []
        for part, places in groups:
            equal = ((0, 0),) if part.symmetric else tuple((x, x) for x in range(int(part.input_count)))
            # Equal attributes can be exchanged: only how often each pair occurs among them matters.
            chosen.append(list(combinations_with_replacement((*part.pairs(), *equal), len(places))))
        order = [i for _, places in groups for i in places]
        pairs = []
        for choice in product(*chosen):
            by_place = dict(zip(order, (pair for group in choice for pair in group), strict=True))
            pairs.append(tuple(self.number([by_place[i][side] for i in range(len(self.parts))]) for side in (0, 1)))
        return tuple((x0, x1) for x0, x1 in dict.fromkeys(pairs) if x0 != x1)

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        # Symmetries of the parts that keep the attributes of x0 and of x1, in each part by itself.
        own = zip(self.parts, self.attributes(x0), self.attributes(x1), strict=True)
        kinds = product(*(dict.fromkeys(part.kinds(a0, a1, thirds)) for part, a0, a1 in own))
        return list(dict.fromkeys([x0, x1, *map(self.number, kinds)]))

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        parts = [
            [[e.xreplace(renaming) for e in row] for row in part.rows()]
            for part, renaming in zip(self.parts, self._renamings, strict=True)
        ]
        if math.prod(len(part) * len(part[0]) for part in parts) > MOST_ENTRIES:
            raise self._too_long()
        chosen = (
            [part[x] for part, x in zip(parts, self.attributes(x), strict=True)] for x in range(int(self.input_count))
        )
        return [[sp.Mul(*entries) for entries in product(*rows)] for rows in chosen]

    def __repr__(self) -> str:
        return f"Joint({', '.join(map(repr, self.parts))})"


class Parallel(Randomizer):
    r"""One of the parts, chosen at random and named in the message, randomises the input (Su et al. 2025, §7).

    Arguments: ``parts``, randomizers with the same inputs; ``weights``, the probability of each, which sum to 1.

    >>> from shuffle_sym.randomizers import KRR, BLH
    >>> Parallel([KRR(k=3, eps0=sp.log(3)), BLH(d=3, eps0=sp.log(2))], weights=[0.5, 0.5]).gamma
    27/40
    """

    def __new__(cls, parts: Sequence[Any] = (), weights: Sequence[Any] = (), **named: Any) -> Any:
        if any(isinstance(part, Continuous) for part in parts):
            return ParallelNoise(parts, _weights(weights, len(parts))[0])
        return super().__new__(cls, **named)

    def __init__(self, parts: Sequence[Randomizer], weights: Sequence[Any]) -> None:
        parts = tuple(parts)
        check_parts(parts)
        self.weights, _, _ = _weights(weights, len(parts))
        bindings, self._renamings = _with_own_symbols(parts, free=field.symbols_of(self.weights))
        _, self._weights, irrational = _weights(weights, len(parts), taken=bindings)
        self.bindings = {**bindings, **irrational}
        if len({part.input_count for part in parts}) != 1:
            counts = ", ".join(str(part.input_count) for part in parts)
            raise ValueError(f"parts must have equally many inputs, got {counts}")
        self.parts, self.input_count = parts, parts[0].input_count
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

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        others = [part for part in self.parts if not part.symmetric]
        return others[0].kinds(x0, x1, thirds) if len(others) == 1 else super().kinds(x0, x1, thirds)

    def rows(self) -> list[list[sp.Expr]]:
        parts = [
            [[w * e.xreplace(renaming) for e in row] for row in part.rows()]
            for part, renaming, w in zip(self.parts, self._renamings, self._weights, strict=True)
        ]
        return [[e for row in rows for e in row] for rows in zip(*parts, strict=True)]

    def __repr__(self) -> str:
        return f"Parallel([{', '.join(map(repr, self.parts))}], weights={list(self.weights)})"


def _weights(
    weights: Sequence[Any], count: int, taken: field.Bindings | None = None
) -> tuple[tuple[sp.Expr, ...], Sequence[sp.Expr], field.Bindings]:
    """The probabilities of so many parts, positive and with the sum 1; the same in a field, and what is bound there."""
    if count != len(weights):
        raise ValueError(f"weights must have one entry for each of the {count} parts, got {len(weights)}")
    exact = tuple(arguments.exact_number(w, f"weights[{i}]") for i, w in enumerate(weights))
    forms, irrational = field.rational_form(exact, taken=taken or {})
    for i, w in enumerate(forms):
        if not field.is_nonnegative(w, irrational) or field.is_zero(w, irrational):
            raise ValueError(f"weights[{i}] must be a number > 0, got {exact[i]}")
    if not field.is_zero(sum(forms) - 1, irrational):
        raise ValueError(f"weights must sum to 1, got the sum {sum(exact)}")
    return exact, forms, irrational
