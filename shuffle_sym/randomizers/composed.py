r"""Randomizers made of randomizers: several attributes at once, one of several at random, users who may stay away, and
users with different randomizers."""

import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache, reduce
from itertools import accumulate, combinations_with_replacement, groupby, product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.matching import Matching
from shuffle_sym.model.randomizer import MOST_ENTRIES, Family, OutputClass, Randomizer
from shuffle_sym.randomizers.composed_noise import JointNoise, ParallelNoise, check_parts
from shuffle_sym.randomizers.matrix import MatrixRandomizer

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
                name, number = f"{symbol.name}_{{({number})}}", number + 1
                own = symbol.renamed(name) if isinstance(symbol, Parameter) else sp.Symbol(name, **symbol.assumptions0)
            if own != symbol:
                renaming[symbol] = own
            bindings[own] = value
        renamings.append(renaming)
    return {symbol: value for symbol, value in bindings.items() if symbol != value}, renamings


def _renamed(y: OutputClass, renaming: dict[sp.Symbol, sp.Symbol], weight: sp.Expr = sp.S.One) -> OutputClass:
    return y.mapped(lambda e: weight * e.xreplace(renaming))


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
        reached = tuple(field.simplest(a * b) for a, b in pairs)
        masses = tuple(field.simplest(a * b) for a, b in zip(y.masses, z.masses, strict=True))
        label = rf"{y.label} \times {z.label}"
        classes.append(OutputClass(label, masses, reached if in_order else tuple(dict.fromkeys(reached))))
    return _merged(classes)


def _merged(classes: Sequence[OutputClass]) -> tuple[OutputClass, ...]:
    """Classes with proportional probabilities, under the named inputs and over all inputs, as one."""
    groups: dict[tuple[sp.Expr, ...], list[OutputClass]] = {}
    for y in classes:
        scale = next((e for e in y.range if e != 0), sp.S.One)
        key = (sp.Integer(len(y.range)), *(field.simplest(e / scale) for e in (*y.range, *y.masses)))
        groups.setdefault(key, []).append(y)
    merged = []
    for first, *others in groups.values():
        columns = [(first.masses, *(y.masses for y in others)), (first.range, *(y.range for y in others))]
        masses, reached = (tuple(field.simplest(sum(e)) for e in zip(*column, strict=True)) for column in columns)
        label = first.label.removesuffix(_AND_MORE) + _AND_MORE
        merged.append(OutputClass(label, masses, reached) if others else first)
    return tuple(merged)


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

    __repr__ = JointNoise.__repr__


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

    def _least_symmetric(self) -> Randomizer | None:
        """The part with the fewest symmetries, if they are symmetries of all others too: one pair stands for all."""
        others = [part for part in self.parts if not part.symmetric]
        return others[0] if len(others) == 1 else None

    def pairs(self) -> tuple[tuple[int, int], ...]:
        part = self._least_symmetric()
        return super().pairs() if part is None else part.pairs()

    def kinds(self, x0: int, x1: int, thirds: int = 1) -> list[int]:
        part = self._least_symmetric()
        return super().kinds(x0, x1, thirds) if part is None else part.kinds(x0, x1, thirds)

    def rows(self) -> list[list[sp.Expr]]:
        parts = [
            [[w * e.xreplace(renaming) for e in row] for row in part.rows()]
            for part, renaming, w in zip(self.parts, self._renamings, self._weights, strict=True)
        ]
        return [[e for row in rows for e in row] for rows in zip(*parts, strict=True)]

    __repr__ = ParallelNoise.__repr__


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


# ---- Users who take part with some probability -----------------------------------------------------------------------


class _Silence(Randomizer):
    """One message, the same for all inputs."""

    symmetric = True

    def __init__(self, input_count: sp.Expr) -> None:
        self.input_count, self.bindings = input_count, {}

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        one = sp.Integer(1)
        return (OutputClass(r"\text{void}", (one,) * len(inputs), (one,)),)

    def rows(self) -> list[list[sp.Expr]]:
        arguments.numeric_only(self.input_count.free_symbols, "the matrix")
        return [[sp.Integer(1)]] * int(self.input_count)


class Sampled(Parallel):
    r"""Each user takes part with probability q, independently of everybody else, and sends a void message otherwise
    (Poisson sampling).

    Arguments: a randomizer ``R``, finite or continuous, the probability ``q`` in (0, 1], a number or a symbol.

    It is a local randomizer in its own right, and nothing about it is approximate: with the void message the blanket
    is q inf_x R(x) + (1 − q) void, with the mass γ' = qγ + 1 − q, and neighbours differ in one user's input, whether
    or not that user takes part. The shuffled messages show how many took part, because void messages are counted, too:
    both ends of an answer of ``Shuffle(Sampled(R, q), n)`` are about that. If the size of the batch is hidden (by
    padding, say), less is revealed, and the upper end still holds.

    For m of n users drawn without replacement see `Shuffle.sampled_from`.

    >>> from shuffle_sym.randomizers import KRR
    >>> Sampled(KRR(k=3, eps0=sp.log(3)), q="1/2").gamma  # 3/5 · 1/2 + 1/2
    4/5
    """

    def __new__(cls, R: Any = None, q: Any = None, **named: Any) -> Any:
        if isinstance(R, Continuous):
            return R if (rate := _rate(q)) == 1 else SampledNoise(R, rate)
        return super().__new__(cls, **named)

    def __init__(self, R: Any, q: Any) -> None:
        if not isinstance(R, Randomizer):
            hint = "; Shuffle(AnyRandomizer(eps0), n) holds for sampled users, too, but gains nothing from sampling"
            raise TypeError(f"R must be one randomizer, got {R!r}{hint if isinstance(R, Family) else ''}")
        self.R, self.q = R, _rate(q)
        everybody = self.q == 1
        silence = _Silence(R.input_count)
        super().__init__([R] if everybody else [R, silence], [1] if everybody else [self.q, 1 - self.q])

    def pairs(self) -> tuple[tuple[int, int], ...]:
        return self.R.pairs()

    def __repr__(self) -> str:
        return f"Sampled({self.R!r}, q={self.q})"


class SampledNoise(ParallelNoise):
    """Continuous noise of users who take part with probability q."""

    def __init__(self, R: Continuous, q: sp.Expr) -> None:
        self.R, self.q = R, q
        super().__init__([R, _Silence(sp.Integer(2))], [q, 1 - q])

    __repr__ = Sampled.__repr__


def _rate(q: Any) -> sp.Expr:
    """A probability in (0, 1]; of a symbol it has to be known."""
    number = arguments.exact_number(q, "q")
    if not number.free_symbols:
        arguments.share(q, "q")
        return number
    (form,), bindings = field.rational_form([number])
    if not (field.proves_nonnegative(form, bindings) and field.proves_nonnegative(1 - form, bindings)):
        raise ValueError(f'q must be known to be in (0, 1], as ss.parameter("q", 0, 1) is, got {q!r}')
    return number


# ---- Users with different randomizers on one message space -----------------------------------------------------------


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
        #: Whether all parts tilt one law of messages towards those that match: then messages that match the same inputs
        #: are alike for all parts at once. The law is made of the sizes, which agree, and μ.
        matching = [R for R in self.parts if isinstance(R, Matching)]
        laws = {(message_space(R), field.substitute(R.mu, R.bindings)) for R in matching}
        self.one_reference = len(matching) == len(self.parts) and len(laws) == 1

    def number(self, part: int, x: int) -> int:
        """The number of an input of one part. Inputs that cannot be listed have numbers as if there were a million."""
        return self._offsets[part] + x

    @property
    def _offsets(self) -> list[int]:
        counts = [int(part.input_count) if part.input_count.is_Integer else 10**6 for part in self.parts]
        return [0, *accumulate(counts)]

    def input(self, x: Any, name: str) -> int:
        return arguments.member(x, name, sp.Integer(self._offsets[-1]))

    def classes(self, *inputs: int) -> tuple[OutputClass, ...]:
        offsets = self._offsets
        if not self.one_reference:
            reached = [x for part in self.common for x in range(offsets[part], offsets[part + 1])]
            return tuple(
                OutputClass(f"y = {y}", tuple(column[x] for x in inputs), tuple(column[x] for x in reached))
                for y, column in enumerate(zip(*self.rows(), strict=True))
                if any(e != 0 for e in column)
            )
        numbers = [(max(i for i, first in enumerate(offsets[:-1]) if first <= x), x) for x in inputs]
        split = [(part, x - offsets[part]) for part, x in numbers]
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

    def rows(self) -> list[list[sp.Expr]]:
        first = self.parts[0]
        stacked = []
        for part, renaming in zip(self.parts, self._renamings, strict=True):
            order = None
            if isinstance(part, MatrixRandomizer) and isinstance(first, MatrixRandomizer):
                order = [part.messages.index(name) for name in first.messages]
            silent = [sp.Integer(0)] if isinstance(part, Sampled) and part.q == 1 else []
            for row in part.rows():
                entries = [e.xreplace(renaming) for e in row]
                stacked.append([*(entries if order is None else [entries[i] for i in order]), *silent])
        return stacked


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
        return type(R).__name__, *map(message_space, R.parts)
    if R.is_krr:
        return "KRR", R.input_count
    names = {name for name in inspect.signature(type(R)).parameters if name != "eps0"}
    given = {name: value for name, value in R._given().items() if name in names}
    return (type(R), *given.items()) if names == set(given) else (type(R), R)
