r"""Users with different randomizers on one message space, as one randomizer whose inputs say who has which."""

import inspect
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import OutputClass, Randomizer
from shuffle_sym.randomizers.composed import Joint, Parallel, _renamed, _with_own_symbols
from shuffle_sym.randomizers.matrix import MatrixRandomizer
from shuffle_sym.randomizers.sampled import Sampled


class Stacked(Randomizer):
    r"""The rows of several randomizers, one below the other: input x of part g has the number `number` (g, x).

    Arguments: ``parts``, randomizers with one message space; ``common``, the numbers of the parts whose inputs count
    for the blanket, all if left out.

    >>> from shuffle_sym.randomizers import KRR
    >>> R = Stacked([KRR(k=3, eps0=sp.log(3)), KRR(k=3, eps0=sp.log(2))])
    >>> R.matrix().shape, R.number(1, 0), R.gamma
    ((6, 3), 3, 3/5)
    """

    def __init__(self, parts: Sequence[Randomizer], common: Sequence[int] | None = None) -> None:
        self.parts = tuple(parts)
        self.common = tuple(range(len(self.parts)) if common is None else common)
        self.bindings, self._renamings = _with_own_symbols(self.parts)
        self.input_count = sp.Add(*(part.input_count for part in self.parts))
        #: Whether all parts tilt one law of messages, so that they have the symmetries of any one of them.
        self.one_reference = _one_reference(self.parts)

    def number(self, part: int, x: int) -> int:
        """The number of an input of one part. Inputs that cannot be listed have numbers as if there were a million."""
        return self._offsets[part] + x

    @property
    def _offsets(self) -> list[int]:
        counts = [int(part.input_count) if part.input_count.is_Integer else 10**6 for part in self.parts]
        return [0, *accumulate(counts)]

    def _split(self, x: int) -> tuple[int, int]:
        offsets = self._offsets
        part = max(i for i, first in enumerate(offsets[:-1]) if first <= x)
        return part, x - offsets[part]

    def input(self, x: Any, name: str) -> int:
        return arguments.member(x, name, sp.Integer(self._offsets[-1]))

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        split = [self._split(x) for x in inputs]
        if not self.one_reference:
            return self._from_rows(inputs)
        named = tuple(dict.fromkeys(x for _, x in split))
        places = [(part, named.index(x)) for part, x in split]
        return tuple(
            OutputClass(
                column[0].label,
                tuple(column[part].masses[place] for part, place in places),
                tuple(e for part in self.common for e in column[part].range),
            )
            for column in zip(*self._by_part(named), strict=True)
        )

    @cached_property
    def _by_part(self) -> Callable[[tuple[int, ...]], list[list[OutputClass]]]:
        """The classes of each part in symbols of its own, kept: all datasets ask for the same few."""
        parts = [*zip(self.parts, self._renamings, strict=True)]
        return lru_cache(maxsize=64)(lambda named: [[_renamed(y, own) for y in R.classes(*named)] for R, own in parts])

    def _from_rows(self, inputs: tuple[int, ...]) -> tuple[OutputClass, ...]:
        rows, offsets = self.rows(), self._offsets
        reached = [x for part in self.common for x in range(offsets[part], offsets[part + 1])]
        return tuple(
            OutputClass(f"y = {y}", tuple(column[x] for x in inputs), tuple(column[x] for x in reached))
            for y, column in enumerate(zip(*rows, strict=True))
            if any(e != 0 for e in column)
        )

    def rows(self) -> list[list[sp.Expr]]:
        first = _names(self.parts[0])
        stacked = []
        for part, renaming in zip(self.parts, self._renamings, strict=True):
            names = _names(part)
            order = None if names is None or first is None else [names.index(name) for name in first]
            for row in part.rows():
                entries = [e.xreplace(renaming) for e in row]
                silent = [sp.Integer(0)] if isinstance(part, Sampled) and part.q == 1 else []
                stacked.append([*(entries if order is None else [entries[i] for i in order]), *silent])
        return stacked


def _names(R: Randomizer) -> tuple[Hashable, ...] | None:
    return R.messages if isinstance(R, MatrixRandomizer) else None


def message_space(R: Randomizer) -> tuple[Hashable, ...]:
    """What two randomizers have in common if message y of one is message y of the other: the constructor and its
    arguments without ε0; of a matrix the names of its messages. A class that does not keep its arguments under their
    own names has the messages of equal randomizers only.

    >>> from shuffle_sym.randomizers import KRR, BinaryRR
    >>> message_space(KRR(k=2, eps0=1)) == message_space(BinaryRR(eps0=4))
    True
    """
    if isinstance(R, MatrixRandomizer):
        return "matrix", frozenset(R.messages)
    if isinstance(R, Sampled):
        return "Sampled", message_space(R.R)
    if isinstance(R, (Joint, Parallel)):
        return type(R).__name__, *(message_space(part) for part in R.parts)
    if R.is_krr:
        return "KRR", R.input_count
    names = [name for name in inspect.signature(type(R)).parameters if name != "eps0"]
    if not all(hasattr(R, name) for name in names):
        return type(R), R
    return type(R), *((name, getattr(R, name)) for name in names)


def _one_reference(parts: Sequence[Randomizer]) -> bool:
    """Whether all parts tilt one and the same law of messages towards those that match: then messages that match the
    same inputs are alike for all parts at once."""
    alike = all(isinstance(part, Matching) for part in parts) and len(set(map(message_space, parts))) == 1
    # The law of messages is made of the sizes, which agree, and μ.
    return (
        alike and len({field.substitute(part.mu, part.bindings) for part in parts if isinstance(part, Matching)}) == 1
    )
