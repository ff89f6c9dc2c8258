r"""Densities that are constant between their bends, and single messages: an exact finite pair of laws, with symbols.

The bends are linear in x. Between inputs at which two of them meet they keep their order, and the messages that some
input sends with one level of the density are an interval, whose ends belong to one of these inputs. So the blanket c
and the largest density are constant between finitely many places. A message that is sent with a probability that is
linear in x is least likely for one of the two ends. Under c every p_x/c has the mean 1 and lies between 1 and the
largest ratio t: the law with no value in between is above all of them in convex order (`model.comonotone`), and it is
that of the two end inputs if their ratios are 1 and t alone. If not, :math:`\int [p_x - kc]_+` is piecewise linear in x
but for the single messages, for which it is convex: it is largest where a bend of p_x meets a place.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, cmp_to_key, reduce
from itertools import pairwise, permutations, product
from typing import Any

import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.pieces import Smooth, smooth_pieces
from shuffle_sym.algebra.rounding import BITS
from shuffle_sym.model import comonotone
from shuffle_sym.model.continuous import Continuous, CrossingError, is_linear, pair, proved_sign, with_atoms, x, y
from shuffle_sym.model.decomposition import Decomposition

Interval = tuple[sp.Expr, sp.Expr, sp.Expr]  # of messages, and its density
Range = tuple[sp.Expr, sp.Expr, tuple[Smooth, ...]]  # of inputs, and intervals of messages
Part = tuple[sp.Expr, sp.Expr, list[sp.Expr]]  # of messages, and all of its densities

_SLACK = Fraction(1, 10**12)


class Steps(Continuous):
    """A randomizer whose density is constant between its bends, and that sends some single messages with a probability.

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
    def ranges(self) -> tuple[Range, ...]:
        """The inputs, cut where two bends meet, and the intervals of messages on which the density is constant."""
        return tuple(self._ranges(*self.inputs))

    def _ranges(self, low: sp.Expr, high: sp.Expr) -> Iterator[Range]:
        try:
            steps = smooth_pieces(self.density, y, *self.outputs, sign=lambda e: self.bend_order(e, (low, high)))
        except CrossingError as crossing:
            yield from self._ranges(low, crossing.input)
            yield from self._ranges(crossing.input, high)
            return
        for step in steps:
            if {x, y} & step.formula.free_symbols:
                raise ValueError(f"density must be constant between its bends here, got {step.formula}")
        yield low, high, tuple(steps)

    @property
    def is_constant(self) -> bool:
        """Whether the density is constant between its bends."""
        pieces = self.density.xreplace({e: sp.Dummy() for e in self.density.atoms(sp.core.relational.Relational)})
        return not pieces.has(x, y)

    def check(self) -> None:
        """Refuse what is no density: the integral is 1, and nothing is negative."""
        for low, high, steps in self.ranges:
            for step in steps:
                if proved_sign(step.formula) <= 0:
                    raise ValueError(f"density must be positive between {self.outputs}, got {step.formula}")
            for end in (low, high):  # linear in between
                total = sum(step.formula * (step.right - step.left) for step in steps).subs(x, end)
                total += checked_sum(self.atoms, end)
                for message, probability in self.atoms.items():
                    if proved_sign(probability.subs(x, end)) == 0 and probability != 0:
                        raise ValueError(
                            f"atoms[{message}] must be positive for all inputs, or there is no finite eps0, got "
                            f"{probability}, which is 0 at x = {end}"
                        )
                if proved_sign(total - 1):
                    raise ValueError(f"density must integrate to 1 over y, got {in_words(total)} at x = {end}")

    def blanket(self) -> sp.Expr:
        parts = [(levels[0], y <= right) for _, right, levels in self.swept]
        density = sp.Piecewise((0, y < self.outputs[0]), *parts, (0, True))
        ends = zip(*map(self._atoms_at, self.inputs), strict=True)
        least = [low if proved_sign(high - low) >= 0 else high for low, high in ends]
        return with_atoms(density, dict(zip(self.atoms, least, strict=True)))

    # -- what follows

    @cached_property
    def swept(self) -> tuple[Part, ...]:
        """The messages, cut into intervals, and all densities that inputs send them with, from the least on."""
        intervals: list[Interval] = []
        for low, high, steps in self.ranges:
            for step in steps:
                lefts, rights = ([e.subs(x, end) for end in (low, high)] for e in (step.left, step.right))
                left = lefts[0] if proved_sign(lefts[1] - lefts[0]) >= 0 else lefts[1]
                right = rights[1] if proved_sign(rights[1] - rights[0]) >= 0 else rights[0]
                _add((left, right, step.formula), intervals)
        parts = []
        for left, right in pairwise(_in_order({place for interval in intervals for place in interval[:2]})):
            sent = {level for a, b, level in intervals if proved_sign(left - a) >= 0 and proved_sign(b - right) >= 0}
            parts.append((left, right, _in_order(sent)))
        return tuple(parts)

    @cached_property
    def _forms(self) -> tuple[sp.Expr, sp.Expr, field.Bindings]:
        """γ and the largest ratio."""
        mass = sp.Add(*(levels[0] * (right - left) for left, right, levels in self.swept))
        ratios = list(dict.fromkeys(levels[-1] / levels[0] for *_, levels in self.swept))
        first, last = map(self._atoms_at, self.inputs)
        (mass, *forms), bindings = field.rational_form([mass, *first, *last, *ratios])
        pairs = list(zip(forms[: len(first)], forms[len(first) : 2 * len(first)], strict=True))
        least = [field.minimum(pair, bindings) for pair in pairs]
        most = [field.maximum(pair, bindings) / low for pair, low in zip(pairs, least, strict=True)]
        ratio = field.maximum([*forms[2 * len(first) :], *most], bindings)
        return field.simplest(mass + sum(least)), field.simplest(ratio), bindings

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
        ratios = {level / levels[0] for *_, levels in self.swept for level in levels}
        if self.free_symbols or len(ratios) <= 2:
            return comonotone.from_mass(gamma, ratio, bindings, "blanket")
        # Upper bounds of the largest integral of [p_x − kc]_+ at all ratios k
        ends, inputs, points = map(self._atoms_at, self.inputs), self._meetings(), []
        ratios |= {a / b for pair in zip(*ends, strict=True) for a, b in permutations(pair)}
        with balls.LOCK, balls.workprec(BITS):
            levels = sorted({balls.upper(balls.value(ratio)) for ratio in ratios if proved_sign(ratio - 1) > 0})
            for k in levels:
                largest = (
                    Fraction(max(balls.upper(self._excess(z, k)) for z in inputs)) if k < levels[-1] else Fraction(0)
                )
                points.append((Fraction(k) * (1 + _SLACK), largest))
            return comonotone.from_transform(points, Fraction(balls.lower(balls.value(self.gamma))), "blanket")

    def _meetings(self) -> list[sp.Expr]:
        """The inputs for which a bend is at one of the places, and the ends of all ranges."""
        places = {end for part in self.swept for end in part[:2]}
        inputs = {end for low, high, _ in self.ranges for end in (low, high)}
        for low, high, steps in self.ranges:
            moving = [(step.right.subs(x, 0), sp.diff(step.right, x)) for step in steps if step.right.has(x)]
            meetings = {sp.expand((place - start) / slope) for (start, slope), place in product(moving, places)}
            inputs |= {z for z in meetings if proved_sign(z - low) > 0 and proved_sign(high - z) > 0}
        return sorted(inputs, key=sp.default_sort_key)

    def _atoms_at(self, input_: sp.Expr) -> list[sp.Expr]:
        return [probability.subs(x, input_) for probability in self.atoms.values()]

    def _excess(self, input_: sp.Expr, k: float) -> arb:
        """A ball with the integral of [p_x − kc]_+ for one input."""
        total = arb(0)
        for step in self._steps_at(input_):
            own, left, right = (balls.value(e.subs(x, input_)) for e in (step.formula, step.left, step.right))
            for *ends, levels in self.swept:
                a, b, least = (balls.value(e) for e in (*ends, levels[0]))
                length = arb.max(arb.min(right, b) - arb.max(left, a), arb(0))
                total += length * arb.max(own - k * least, arb(0))
        for own, *ends in zip(*map(self._atoms_at, (input_, *self.inputs)), strict=True):
            least = reduce(arb.min, map(balls.value, ends))
            total += arb.max(balls.value(own) - k * least, arb(0))
        return total

    def _steps_at(self, input_: sp.Expr) -> tuple[Smooth, ...]:
        return next(steps for _, high, steps in self.ranges if proved_sign(high - input_) >= 0)

    def dataset(self, x2: Any, cells: int = 0, tail: float = 0.0) -> Decomposition:
        """All others have x2, the first user the least or the greatest input: exact, without cells."""
        value = self._input(x2)
        inputs, columns = (*self.inputs, value), []
        moving = {e.subs(x, z) for z in inputs for step in self._steps_at(z) for e in (step.left, step.right)}
        with balls.LOCK, balls.workprec(BITS):
            places = sorted(moving, key=lambda place: float(balls.value(place)))
            for input_ in inputs:
                steps, masses = self._steps_at(input_), []
                for a, b in pairwise(places):
                    middle = balls.value((a + b) / 2)
                    after = (step.formula for step in steps if middle < balls.value(step.right.subs(x, input_)))
                    masses.append(next(after, steps[-1].formula) * (b - a))
                columns.append([*masses, *self._atoms_at(input_)])
        return Decomposition(*columns, title=f"{self!r}, others {value}")


def checked_sum(atoms: Mapping[sp.Expr, sp.Expr], end: sp.Expr) -> sp.Expr:
    """The sum of the probabilities of single messages at an end of the inputs; what is no probability is refused."""
    for message, probability in atoms.items():
        if y in probability.free_symbols:
            raise ValueError(f"atoms[{message}] must not depend on y, got {probability}")
        if not is_linear(probability):
            raise ValueError(f"atoms[{message}] must be linear in x, got {probability}")
        if proved_sign(probability.subs(x, end)) < 0:
            raise ValueError(f"atoms[{message}] must not be negative, got {probability} at x = {end}")
    return sp.Add(*(probability.subs(x, end) for probability in atoms.values()))


def in_words(total: sp.Expr) -> str:
    """A number that should be 1, and how far it is from that."""
    about = "" if total.free_symbols else f" = {float(total):.12g}, off by {float(total - 1):.3g}"
    return f"{sp.simplify(total)}{about}"


def _add(interval: Interval, intervals: list[Interval]) -> None:
    """Add an interval of messages to others; with those of the same density that it is known to touch it is one."""
    left, right, level = interval
    for i, (a, b, own) in enumerate(intervals):
        # They touch if they do for all values of their symbols, and the ends of their union are known.
        with suppress(VerificationError):
            if own == level and proved_sign(right - a) >= 0 and proved_sign(b - left) >= 0:
                union = (a if proved_sign(left - a) >= 0 else left, b if proved_sign(b - right) >= 0 else right, level)
                del intervals[i]
                return _add(union, intervals)
    intervals.append(interval)


def _in_order(formulas: Iterable[sp.Expr]) -> list[sp.Expr]:
    """Different formulas from the smallest to the largest, which is proved for all values of their symbols."""
    ordered = sorted(formulas, key=cmp_to_key(lambda a, b: proved_sign(a - b)))  # type: ignore[operator]
    return [e for i, e in enumerate(ordered) if not i or proved_sign(e - ordered[i - 1])]
