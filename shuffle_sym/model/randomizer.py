r"""`Randomizer`: everything that follows from the definition of a local randomizer with finitely many messages.

A definition (see `shuffle_sym.randomizers`) says how likely each class of messages is under given inputs; the
privacy level, the blanket and the GPARV follow from it here.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, ClassVar, Self

import sympy as sp

from shuffle_sym.algebra import arguments, cards, field, latex
from shuffle_sym.model import decomposition, gparv
from shuffle_sym.model.equality import ByDefinition

MOST_ENTRIES = 2**18  # of a matrix: a minute of SymPy for those who want all of it
_MOST_PAIRS = 2**22  # of inputs: more take half a gigabyte to be listed, and hours to be analysed


@dataclass(frozen=True)
class OutputClass:
    r"""Messages that can be counted as one, because their likelihoods are proportional: under the named inputs, and in
    the values that they reach over all inputs.

    ``masses`` are the probabilities of the class under the named inputs; ``range`` holds the values that the
    same sum takes over *all* inputs, each message with its own worst and best input.
    """

    label: str
    masses: tuple[sp.Expr, ...]
    range: tuple[sp.Expr, ...]

    def floor(self, bindings: field.Bindings) -> sp.Expr:
        """The infimum over all inputs: what the class contributes to the blanket."""
        return field.minimum(self.range, bindings)

    def mapped(self, function: Callable[[sp.Expr], sp.Expr]) -> OutputClass:
        """The class with a function of each probability in its place."""
        return OutputClass(self.label, tuple(map(function, self.masses)), tuple(map(function, self.range)))


@dataclass(frozen=True)
class Blanket:
    r"""The part that is common to all inputs: :math:`\gamma\,\omega(y) = \inf_x R(x)(y)` (Balle et al. 2019, §5.1)."""

    labels: tuple[str, ...]
    forms: tuple[sp.Expr, ...]
    bindings: field.Bindings

    @property
    def masses(self) -> tuple[sp.Expr, ...]:
        r"""γ·ω of each class of messages."""
        return tuple(field.substitute(e, self.bindings) for e in self.forms)

    @property
    def gamma(self) -> sp.Expr:
        """Total variation similarity."""
        return field.substitute(field.simplest(sum(self.forms)), self.bindings)

    def _repr_latex_(self) -> str:
        gamma = latex.formula(field.simplest(sum(self.forms)))
        rows = [(r"\text{messages}", *self.labels), (r"\sum_y \inf_x R(x)(y)", *self.forms)]
        return latex.table(rows, notes=[rf"\gamma = {gamma}", *latex.where(self.bindings)])


class LocalRandomizer(ByDefinition, ABC):
    """The attributes of every local randomizer, finite or continuous; two are equal if type and parameters are."""

    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        # The arguments are those of __init__, also where __new__ may choose another class.
        _, *parameters = inspect.signature(cls.__init__).parameters.values()
        cls.__signature__ = inspect.Signature(parameters)

    def __new__(cls, *_: Any, **named: Any) -> Self:
        if named:
            arguments.known(named, tuple(inspect.signature(cls).parameters), cls.__name__)
        return super().__new__(cls)

    @property
    @abstractmethod
    def eps0(self) -> sp.Expr:
        """The smallest ε0 for which the randomizer is ε0-LDP; ``oo`` if there is none."""

    @property
    @abstractmethod
    def gamma(self) -> sp.Expr:
        """Total variation similarity, the mass of the blanket."""

    @property
    @abstractmethod
    def free_symbols(self) -> set[sp.Symbol]:
        """The parameters that are still symbols."""

    def _given(self) -> dict[str, Any]:
        """The arguments of the constructor, as far as they are kept under their own names; ε0 as it was given, where
        that is kept as ``parameter``, because the derived one may be a bound."""
        names = inspect.signature(type(self)).parameters
        kept = {name: "parameter" if name == "eps0" and hasattr(self, "parameter") else name for name in names}
        return {name: getattr(self, own) for name, own in kept.items() if hasattr(self, own)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._given().items())})"

    def _facts(self) -> list[tuple[str, str]]:
        """The definition, as names and HTML for a card."""
        return []

    def _repr_html_(self) -> str:
        derived = [("ε₀", cards.value(lambda: self.eps0)), ("γ", cards.value(lambda: self.gamma))]
        return cards.card(repr(self), [*self._facts(), *derived])


class Family(LocalRandomizer):
    """Many randomizers at once: a bound for the family holds for each of them.

    >>> import shuffle_sym as ss
    >>> sorted(ss.AnyRandomizer(eps0=1).members())
    ['2-RR', '3-RR']
    """

    #: Whether the data are shuffled first, so that each place may have another one of them; if not, users share one.
    data_shuffled_first: bool

    @abstractmethod
    def members(self) -> dict[str, Randomizer]:
        """Those that are known to be bad, by their names: lower bounds come from them."""

    @abstractmethod
    def worst_alone(self) -> decomposition.Decomposition:
        """One whose divergence for a single user is the largest."""

    @abstractmethod
    def dominating(self) -> decomposition.Decomposition:
        """One that bounds every member with any number of users."""

    @abstractmethod
    def extreme_laws(self) -> tuple[decomposition.Decomposition, ...] | None:
        """Laws that bound every member whose others all have one input, by mixtures; None if there are none."""


class Randomizer(LocalRandomizer):
    """A local randomizer with finitely many classes of messages.

    A subclass sets ``bindings`` (what t and other symbols stand for), says how many inputs there are and writes
    down `classes`. Formulas are rational functions of the symbols.

    >>> from shuffle_sym.randomizers import KRR
    >>> R = KRR(k=3, eps0=sp.log(3))
    >>> R.eps0, R.gamma, R.pairs()
    (log(3), 3/5, ((0, 1),))
    """

    bindings: field.Bindings
    input_count: sp.Expr
    #: Whether every permutation of the inputs can be undone by one of the messages. A class of your own that says so is
    #: checked on the list of all its messages.
    symmetric: bool = False
    #: Whether it is k-ary randomized response, for which the adversaries of Koskela et al. are defined.
    is_krr: bool = False

    @abstractmethod
    def classes(self, *inputs: int) -> Sequence[OutputClass]:
        """The classes of messages, with their masses under ``inputs`` and their range over all inputs."""

    @abstractmethod
    def rows(self) -> Sequence[Sequence[sp.Expr]]:
        """Pr[R(x) = y] as a formula for every input x and message y, where both can be listed."""

    def _too_long(self) -> ValueError:
        """The error for inputs and messages that are too many to be listed."""
        return ValueError(
            f"{self!r} has more than {MOST_ENTRIES} probabilities, one for each input and message; "
            "take fewer inputs for the matrix and for exact values; delta(eps, rtol=…) does not need them"
        )

    # -- what follows from the definition

    @cached_property
    def eps0(self) -> sp.Expr:
        r"""The smallest ε0 for which the randomizer is ε0-LDP: :math:`\log \max_{x, x', y} R(x)(y)/R(x')(y)`."""
        ratios = []
        for y in self.classes():
            low, high = y.floor(self.bindings), field.maximum(y.range, self.bindings)
            if high != 0 and low == 0:
                return sp.oo
            if high != 0:
                ratios.append(high / low)
        return sp.log(field.substitute(field.maximum(ratios, self.bindings), self.bindings))

    @property
    def gamma(self) -> sp.Expr:
        r"""Total variation similarity, the mass of the blanket."""
        return self.blanket().gamma

    def blanket(self) -> Blanket:
        """The blanket distribution, from the definition."""
        classes = self.classes()
        floors = tuple(y.floor(self.bindings) for y in classes)
        return Blanket(tuple(y.label for y in classes), floors, field.used(self.bindings, floors))

    def gparv(self, x0: int | None = None, x1: int | None = None) -> gparv.Gparv:
        """The GPARV of the blanket for the inputs x0 and x1 (which may be left out if all give the same)."""
        return decomposition.blanket(self, x0, x1).gparv

    def matrix(self) -> sp.Matrix:
        """Pr[R(x) = y] in row x and column y."""
        return sp.Matrix([[field.substitute(e, self.bindings) for e in row] for row in self.rows()])

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Ordered pairs of different inputs, up to symmetry."""
        if not self.symmetric:
            arguments.numeric_only(self.input_count.free_symbols, "the list of pairs")
            if self.input_count**2 > _MOST_PAIRS:
                raise ValueError(
                    f"{self!r} has {self.input_count} inputs, more than {_MOST_PAIRS} pairs of them, and no symmetry "
                    "is known that would let one pair stand for many; take fewer inputs"
                )
            return tuple(permutations(range(int(self.input_count)), 2))
        self._check_symmetry()
        return ((0, 1),)

    def _check_symmetry(self) -> None:
        """Refuse what calls itself symmetric and is not; for the classes of the package that is known, and for those
        derived from them that define nothing anew."""
        classes = type(self).__mro__
        ours = next(i for i, cls in enumerate(classes) if cls.__module__.startswith("shuffle_sym."))
        own = {name for cls in classes[:ours] for name in vars(cls) if not name.startswith("_")}
        if not own & set(dir(classes[ours])):
            return
        columns = [*zip(*([field.simplest(e) for e in row] for row in self.rows()), strict=True)]
        for x in range(len(columns[0]) - 1):
            swapped = [(*column[:x], column[x + 1], column[x], *column[x + 2 :]) for column in columns]
            if Counter(swapped) != Counter(columns):
                raise ValueError(
                    f"symmetric must be False for {self!r}: exchanging the inputs {x} and {x + 1} does more than "
                    "reorder the messages"
                )

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        """x0 and x1, where they are inputs, and others such that a symmetry that keeps x0 and x1 takes every input to
        one of these; where every permutation of the inputs is a symmetry, as many others as ``thirds`` says."""
        if not self.symmetric and not self.input_count.is_Integer:
            raise ValueError(f"R must have finitely many inputs, got {self!r}")
        inputs = range(sp.Min(self.input_count, thirds + 2) if self.symmetric else int(self.input_count))
        others = [x for x in inputs if x not in (x0, x1)]
        pair = [x for x in (x0, x1) if x in inputs or not self.input_count.is_Integer]
        return [*pair, *(others[:thirds] if self.symmetric else others)]

    def input(self, x: Any, name: str) -> int:
        """``x`` if it is an input; else an error about the argument ``name`` that says what is one."""
        return arguments.member(x, name, self.input_count)

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The parameters that are still symbols."""
        return field.free_symbols((e for y in self.classes() for e in y.range), self.bindings)
