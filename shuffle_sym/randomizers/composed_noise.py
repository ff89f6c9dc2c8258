r"""Randomizers made of others, some of them continuous: one of several at random, or several at once.

**One of several.** The messages of the parts are told apart, so that the blanket is the weighted sum of theirs, and G
is a mixture of theirs. A mixture of laws that are above others in convex order is above their mixture: what is proved
of every part, that two inputs are the worst pair or that a pair of laws is above all pairs, is true of the whole. A
finite part has two inputs, which are the ends; an input between them is rounded to one of the two at random, so that
the mean is kept. It has to treat both ends alike; then they are a worst pair (`papers.ours.noise`, Theorem 10).

**Several at once.** The blanket is the product of theirs. Let X* and X' be above all p_x/c of a continuous part,
coupled so that one falls as the other grows (`model.comonotone`). Given the messages of the other parts, a part may be
replaced by its finite pair of laws, and so may one after the other (`papers.ours.cube`, Theorem 11). What is left is
finite, and `model.products` makes it small: for symmetric log-concave noise on a cube, X* and X' are p_0/c and p_1/c
themselves, up to a finite number of levels, and opposite corners are the worst pair for the blanket. Other bounds than
the blanket are not proved for a cube. What it gives is larger than what real datasets attain by about γ^(−1/2), and γ
is a product: few attributes, or little of ε0 for each of them.
"""

import math
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from itertools import chain, product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.rationals import with_sum
from shuffle_sym.algebra.rounding import BITS
from shuffle_sym.model import decomposition, products
from shuffle_sym.model.continuous import TYPICAL_USERS, Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.products import Columns
from shuffle_sym.model.randomizer import Randomizer

_MOST_CONTINUOUS = 100
_MOST_PAIRS = 30
_MOST_ATOMS = 1600  # of a product, about
_FEWEST_ATOMS = 150
_FEWEST_CELLS, _MOST_MESSAGES = 8, 400
_MOST_CORNERS = 2
_MOST_DATASETS = 3


def check_parts(parts: Sequence[Any]) -> None:
    """Refuse what is no randomizer, finite or continuous."""
    if not parts:
        raise ValueError("parts must not be empty: give at least one randomizer")
    for i, part in enumerate(parts):
        if not isinstance(part, (Randomizer, Continuous)):
            raise TypeError(f"parts[{i}] must be a randomizer, got {part!r}")
        if isinstance(part, JointNoise):
            raise ValueError(f"parts[{i}] must not be a Joint with a continuous part; list its parts, got {part!r}")


class ComposedNoise(Continuous):
    """What `ParallelNoise` and `JointNoise` have in common."""

    parts: tuple[Any, ...]

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return set().union(*(part.free_symbols for part in self.parts))

    def _facts(self) -> list[tuple[str, str]]:
        return [("parts", ", ".join(map(repr, self.parts)))]


class ParallelNoise(ComposedNoise):
    """One of the parts, chosen at random and named in the message; made by `Parallel` and `Sampled`."""

    def __init__(self, parts: Sequence[Any], weights: Sequence[sp.Expr]) -> None:
        check_parts(parts)
        self.parts, self.weights = tuple(parts), tuple(weights)
        self.inputs = next(part.inputs for part in self.parts if isinstance(part, Continuous))
        for i, part in enumerate(self.parts):
            if isinstance(part, Continuous) and part.inputs != self.inputs:
                raise ValueError(f"parts must have the same inputs, got {part.inputs} and {self.inputs}")
            if isinstance(part, Randomizer) and not (part.input_count == 2 and part.symmetric):
                wanted = "two inputs that a symmetry exchanges, as BinaryRR has: they stand for the ends of the noise"
                raise ValueError(f"parts[{i}] must have {wanted}, got {part!r} with {part.input_count} inputs")

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        return super().free_symbols | set().union(*(w.free_symbols for w in self.weights))

    @property
    def has_worst_pair(self) -> bool:
        return all(part.has_worst_pair for part in self.parts if isinstance(part, Continuous))

    @property
    def eps0(self) -> sp.Expr:
        return sp.Max(*(part.eps0 for part in self.parts))

    @property
    def gamma(self) -> sp.Expr:
        return sp.Add(*(w * part.gamma for w, part in zip(self.weights, self.parts, strict=True)))

    def _mixed(
        self,
        title: str,
        of_noise: Callable[[Continuous], Decomposition],
        of_finite: Callable[[Randomizer], Decomposition] = lambda R: decomposition.blanket(R, 0, 1),
    ) -> Decomposition:
        """The mixture of the pairs of laws of all parts."""
        arguments.numeric_only(self.free_symbols, "a bound")
        made = [of_noise(part) if isinstance(part, Continuous) else of_finite(part) for part in self.parts]
        scaled = [[[w * e for e in c] for c in (D.a, D.b, D.c)] for w, D in zip(self.weights, made, strict=True)]
        return Decomposition(*(list(chain(*column)) for column in zip(*scaled, strict=True)), title=title)

    @cached_property
    def dominating(self) -> Decomposition:
        return self._mixed(f"all blankets of {self!r}", lambda part: part.dominating)

    def lower(self, cells: int, tail: float = 1e-20) -> Decomposition:
        return self._mixed(f"{self!r}, {cells} cells from below", lambda part: part.lower(cells, tail))

    def upper(self, cells: int, tail: float = 1e-20) -> Decomposition:
        return self._mixed(f"{self!r}, {cells} cells from above", lambda part: part.upper(cells, tail))

    def dataset(self, x2: Any, cells: int, tail: float = 1e-4) -> Decomposition:
        value = self._input(x2)
        share = (value - self.inputs[0]) / (self.inputs[1] - self.inputs[0])

        def of_finite(part: Randomizer) -> Decomposition:
            first, last = part.matrix().tolist()
            return Decomposition(first, last, [(1 - share) * p + share * q for p, q in zip(first, last, strict=True)])

        title = f"{self!r}, others {value}, {cells} cells"
        return self._mixed(title, lambda part: part.in_cells(value, cells), of_finite)

    def __repr__(self) -> str:
        return f"Parallel([{', '.join(map(repr, self.parts))}], weights={list(self.weights)})"


class JointNoise(ComposedNoise):
    """Every part randomises its own attribute, some of them continuous; made by `Joint`."""

    def __init__(self, *parts: Any) -> None:
        check_parts(parts)
        self.parts = parts
        smooth, finite = _kinds(parts)
        if len(smooth) > _MOST_CONTINUOUS:
            raise ValueError(f"at most {_MOST_CONTINUOUS} parts may be continuous at once, got {len(smooth)}: {parts}")
        pairs = reduce(lambda count, part: count * (len(part.pairs()) + _equal_inputs(part)), finite, 1)
        if pairs > _MOST_PAIRS:
            raise ValueError(
                f"next to a continuous part the finite ones must have at most {_MOST_PAIRS} different pairs of inputs, "
                f"got {pairs}; a randomizer with interchangeable inputs, such as k-RR, has two"
            )

    @property
    def eps0(self) -> sp.Expr:
        return sp.Add(*(part.eps0 for part in self.parts))

    @property
    def gamma(self) -> sp.Expr:
        return sp.Mul(*(part.gamma for part in self.parts))

    @cached_property
    def blankets(self) -> tuple[Decomposition, ...]:
        """A finite pair of laws above all blankets for each pair of inputs of the finite parts."""
        arguments.numeric_only(self.free_symbols, "a bound")
        smooth, finite = _kinds(self.parts)
        choices = list(product(*(_finite_blankets(part) for part in finite)))
        largest = max(reduce(lambda size, D: size * len(D.atoms), choice, 1) for choice in choices)
        above = products.above(
            [columns_of(part.dominating) for part in smooth], max(_MOST_ATOMS // largest, _FEWEST_ATOMS)
        )
        made = [reduce(_times, [above, *map(columns_of, choice)]) for choice in choices]
        return tuple(dict.fromkeys(Decomposition(*laws, title=f"all blankets of {self!r}") for laws in made))

    def noise_blankets(self) -> tuple[Decomposition, ...]:
        return self.blankets

    def datasets(self, cells: int, users: int = TYPICAL_USERS) -> list[tuple[Any, Any, Any, Decomposition]]:
        """All others alike, and the first user differs in every attribute: the few with the largest χ. The worst
        datasets of the continuous parts go together: then all others are in one corner of the cube."""
        smooth, finite = _kinds(self.parts)
        few = max(cells // len(smooth), _FEWEST_CELLS)
        ranked = {p: sorted(p.datasets(few, users), key=lambda case: -_chi(columns_of(case[3]))) for p in set(smooth)}
        joined = []
        for of_noise in list(zip(*(ranked[part] for part in smooth), strict=False))[:_MOST_CORNERS]:
            noise = products.below([columns_of(case[3]) for case in of_noise], _MOST_MESSAGES)
            for others in product(*map(_datasets, finite)):
                cases = {True: iter(of_noise), False: iter(others)}
                choice = [next(cases[isinstance(part, Continuous)]) for part in self.parts]
                inputs = [tuple(case[i] for case in choice) for i in range(3)]
                joined.append((inputs, reduce(_times, [noise, *(columns_of(case[3]) for case in others)])))
        joined.sort(key=lambda case: -_chi(case[1]))
        return [(x0, x1, x2, Decomposition(*laws)) for (x0, x1, x2), laws in joined[:_MOST_DATASETS]]

    def __repr__(self) -> str:
        return f"Joint({', '.join(map(repr, self.parts))})"


def _kinds(parts: Sequence[Any]) -> tuple[list[Continuous], list[Randomizer]]:
    return [part for part in parts if isinstance(part, Continuous)], [p for p in parts if isinstance(p, Randomizer)]


def _equal_inputs(R: Randomizer) -> int:
    return 1 if R.symmetric else int(R.input_count)


def _finite_blankets(R: Randomizer) -> list[Decomposition]:
    """The blanket for every pair of inputs, also of equal ones: the first user may differ in other attributes."""
    made = list(decomposition.blankets(R))
    for x in range(_equal_inputs(R)):
        classes = R.classes(x)
        own = [y.masses[0] for y in classes]
        made.append(Decomposition(own, own, [y.floor(R.bindings) for y in classes], bindings=R.bindings))
    return made


def _datasets(R: Any) -> list[tuple[Any, Any, Any, Decomposition]]:
    """All others have one input, for every pair of inputs; of interchangeable inputs three are enough."""
    inputs = (
        range(min(int(R.input_count), 3) if R.input_count.is_Integer else 3) if R.symmetric else range(_equal_inputs(R))
    )
    return [(x0, x1, x, decomposition.dataset(R, x0, x1, x)) for x0, x1 in R.pairs() for x in inputs]


def _chi(laws: Columns) -> float:
    """What decides for many users: the sum of (a − b)²/c."""
    return math.fsum(float(a - b) ** 2 / float(c) if c else math.inf * (a != b) for a, b, c in zip(*laws, strict=True))


@cached_by_value
def columns_of(D: Decomposition) -> Columns:
    """a, b and c as rational numbers: right to so many bits that doubles do not show what is missing."""
    masses = [balls.middle(v) for v in field.numbers(D.forms, D.bindings, BITS)]
    a, b, c = (masses[i : i + len(D.atoms)] for i in range(0, len(masses) - 1, len(D.atoms)))
    return [with_sum(a, 1), with_sum(b, 1), c]


def _times(first: Columns, second: Columns) -> Columns:
    """Two messages that are sent together."""
    return [[p * q for p, q in product(*columns)] for columns in zip(first, second, strict=True)]
