r"""Densities between two messages that are ordered: the larger the input, the more likely are large messages; or small
ones, and then everything here is done with the mirror image of the messages, which is as private.

What `model.comonotone` needs is derived, or refused:

- p_x/p_x' is monotone in y if :math:`\partial_x \partial_y \log p_x(y) \ge 0` between the bends, and if at a bend
  y = b(x) log p is continuous and b' times the jump of its slope in y is not positive: these are the two parts of the
  second difference of log p over a rectangle;
- no density is below (1 − η) min(p_0, p_1): without a bend, because p_x(y) is log-concave or monotone in x for every y;
  else branch and bound over all inputs and messages;
- the largest ratios are those of the first and of the last message: branch and bound over all inputs.
"""

from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, branch, field, zeros
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.integrals import integral
from shuffle_sym.algebra.pieces import Smooth, smooth_pieces
from shuffle_sym.algebra.rationals import with_sum
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.model.comonotone import Half, combined
from shuffle_sym.model.continuous import Continuous, pair, x, y
from shuffle_sym.model.decomposition import Decomposition

_BITS = 128
_ETA = Fraction(1, 10**9)
_CELLS = 64
_MOST_TRIES = 60
_FEW_BOXES = 1000
_LEAST = Fraction(1, 10**9)
_LONGEST = 80  # characters of a formula that a message shows
_share = sp.Symbol("s", real=True)


class Ordered(Continuous):
    """A randomizer with messages between ``outputs`` whose ratios of densities are monotone in the message."""

    def __init__(self, density: sp.Expr, inputs: Any, outputs: Any) -> None:
        self.density, self.inputs, self.outputs = density, pair(inputs), pair(outputs)

    @cached_property
    def _falls(self) -> bool:
        """Whether large inputs seem to have small messages, by the second difference of log p over all of them."""
        if self.free_symbols:
            return False
        corners = [(1 if i == j else -1, {x: self.inputs[i], y: self.outputs[j]}) for i in (0, 1) for j in (0, 1)]
        with balls.LOCK, balls.workprec(_BITS):
            return bool(sum((side * balls.value(self.density.subs(at)).log() for side, at in corners), arb(0)) < 0)

    def _mirrored(self, formula: sp.Expr) -> sp.Expr:
        """A formula in y for the mirror images of the messages if that is what is looked at, and back."""
        return formula.subs(y, sum(self.outputs) - y) if self._falls else formula

    @cached_property
    def strips(self) -> tuple[Smooth, ...]:
        return tuple(smooth_pieces(self._mirrored(self.density), y, *self.outputs, sign=self.bend_order))

    @cached_property
    def logs(self) -> tuple[sp.Expr, ...]:
        return tuple(sp.expand_log(sp.log(strip.formula), force=True) for strip in self.strips)

    @cached_property
    def end_logs(self) -> tuple[sp.Expr, sp.Expr]:
        """log p_0 and log p_1 in y: of the one piece that is not empty at an end of the inputs."""
        logs = []
        for end in self.inputs:
            lying = [i for i, s in enumerate(self.strips) if sp.simplify((s.right - s.left).subs(x, end)) != 0]
            if len(lying) != 1:
                raise ValueError(f"density must have no bend between outputs = {self.outputs} at the input {end}")
            logs.append(self.logs[lying[0]].subs(x, end))
        return logs[0], logs[1]

    # -- what is checked

    def check(self) -> None:
        """Refuse a formula that is no density, or for which one of the properties above could not be proved."""
        # With a symbol whose range is known SymPy has fewer cases.
        any_input, total = Parameter("x", *self.inputs), sp.Integer(0)
        for strip in self.strips:
            try:
                bad = self._counterexample([strip.formula], strip, _LEAST, _FEW_BOXES)
            except VerificationError as unknown:
                raise ValueError(f"density must be positive, and this could not be proved: {unknown}") from None
            if bad is not None:
                density = float(_fraction(self.density.subs({s: sp.Rational(place) for s, place in bad.items()})))
                raise ValueError(
                    f"density must be positive, and at least {float(_LEAST):g}, for all inputs and messages; at "
                    f"{_words(bad)} it is {density:.3g}"
                )
            formula, left, right = (e.subs(x, any_input) for e in (strip.formula, strip.left, strip.right))
            # What does not depend on y stays outside of the integral, for SymPy's sake.
            outside, inside = sp.expand_power_exp(formula).as_independent(y, as_Add=False)
            total += outside * sp.integrate(inside, (y, left, right))
        if not _vanishes(total - 1):
            misses = []
            for input_ in (self.inputs[0], sum(self.inputs) / 2, self.inputs[1]):
                with balls.LOCK, balls.workprec(_BITS):
                    found = float(self._mass(input_, *map(balls.value, self.outputs)))
                misses.append(f"{found:.12g} at x = {input_}, off by {found - 1:.3g}")
            raise ValueError(
                f"density must be shown to integrate to 1 for every input x; the integral is {'; '.join(misses)}"
            )
        self._check_order()
        if self._is_least_at_an_end():
            return
        for strip, log in zip(self.strips, self.logs, strict=True):
            bad = self._counterexample([log - end for end in self.end_logs], strip, -_ETA)
            if bad is not None:
                raise ValueError(f"density must be smallest for one of {self.inputs}, but at {_words(bad)} it is not")

    @property
    def _range(self) -> tuple[Fraction, Fraction]:
        return _fraction(self.inputs[0]), _fraction(self.inputs[1])

    def _counterexample(
        self, formulas: list[sp.Expr], strip: Smooth, least: Fraction, most: int = branch.MOST_BOXES
    ) -> branch.Point | None:
        """A point of the strip at which all formulas are below ``least``, None if there is none."""
        for formula in (d for f in formulas for d in (f, sp.diff(f, x), sp.diff(f, y))):
            balls.compiled(self._mirrored(formula), x, y)  # refused in these symbols, if it is
        place = strip.left + _share * (strip.right - strip.left)
        box = {x: self._range, _share: (Fraction(0), Fraction(1))}
        try:
            bad = branch.counterexample([sp.expand(f.subs(y, place)) for f in formulas], box, least, most)
        except VerificationError:
            raise VerificationError(
                f"{most} boxes of inputs x and messages y do not decide whether "
                f"{' or '.join(_short(self._mirrored(f)) for f in formulas)} is at least {float(least):g}"
            ) from None
        if bad is None:
            return None
        found = place.subs({x: sp.Rational(bad[x]), _share: sp.Rational(bad[_share])})
        return {x: bad[x], y: _fraction(self._mirrored(y).subs(y, found))}

    def _is_nonnegative(self, formula: sp.Expr, strip: Smooth) -> bool:
        """Whether the form of a formula shows that it is at least 0 for all inputs and all messages of a strip."""
        if not formula.is_rational_function(x, y):
            return bool(formula.is_nonnegative)
        formula = sp.factor(formula)
        if formula.is_nonnegative:
            return True
        place = strip.left + Parameter("s", 0, 1) * (strip.right - strip.left)
        (form,), bindings = field.rational_form([formula.subs(y, place).subs(x, Parameter("x", *self.inputs))])
        return field.proves_nonnegative(form, bindings)

    def _is_least_at_an_end(self) -> bool:
        """Whether a density without bends is seen to be smallest at an end of the inputs for every message: monotone
        in x, a product of a function of x and one of y being its slope, or log-concave."""
        if len(self.strips) > 1:
            return False
        (strip,), (log,) = self.strips, self.logs
        slope, bend = sp.diff(strip.formula, x), -sp.diff(log, x, 2)
        if slope.is_rational_function(x, y):
            of_input, of_message = sp.factor(slope).as_independent(y, as_Add=False)
            signs = (self._is_nonnegative(side * of_input, strip) for side in (1, -1))
            if x not in of_message.free_symbols and any(signs):
                return True
        try:
            return (
                self._is_nonnegative(bend, strip)
                or self._counterexample([bend], strip, Fraction(0), _FEW_BOXES) is None
            )
        except VerificationError:
            return False

    def _check_order(self) -> None:
        for strip, log in zip(self.strips, self.logs, strict=True):
            mixed = sp.simplify(sp.diff(log, x, y))
            if self._is_nonnegative(mixed, strip):
                continue
            if self._counterexample([mixed], strip, Fraction(0)) is not None:
                raise ValueError(
                    "ratios of densities must be monotone in y, but the mixed derivative of log p has both signs: "
                    f"{_short(sp.simplify(sp.diff(sp.log(self._mirrored(strip.formula)), x, y)))}"
                )
        for (left, before), (right, after) in pairwise(zip(self.strips, self.logs, strict=True)):
            place = left.right
            if not _vanishes((left.formula - right.formula).subs(y, place)):
                raise ValueError(f"density must not jump, but it does at y = {self._mirrored(y).subs(y, place)}")
            bend = sp.simplify(sp.diff(place, x) * (sp.diff(after, y) - sp.diff(before, y)).subs(y, place))
            if not bend.is_nonpositive:
                raise ValueError(
                    f"ratios of densities must be monotone in y, but are not at y = {self._mirrored(y).subs(y, place)}"
                )

    # -- what follows

    @cached_property
    def eps0(self) -> sp.Expr:
        """The largest loss, or a number above it by at most 1e-9."""
        low, high = self.end_logs
        first, last = self.outputs
        sides = (
            ((self.logs[0] - high).subs(y, first), self.inputs[0]),
            ((self.logs[-1] - low).subs(y, last), self.inputs[1]),
        )
        largest = []
        for formula, end in sides:
            # Start with the loss at an end of the inputs, and go up while another input is above that.
            most = sp.simplify(formula.subs(x, end))
            for _ in range(_MOST_TRIES):
                bad = branch.counterexample([most - formula], {x: self._range}, -_ETA)
                if bad is None:
                    break
                most = sp.Rational(_fraction(formula.subs(x, sp.Rational(bad[x])))) + sp.Rational(_ETA)
            else:
                raise VerificationError(f"could not enclose the largest value of {formula} for inputs {self.inputs}")
            largest.append(most + sp.Rational(_ETA))
        return sp.Max(*largest)

    def blanket(self) -> sp.Expr:
        """(1 − η) times the smaller of the densities of the two end inputs: no density is shown to be below that."""
        low, high = (sp.exp(log) for log in self.end_logs)
        first, last = self.outputs
        least = (1 - sp.Rational(_ETA)) * self._mirrored(sp.Min(low, high))
        return sp.Piecewise((0, y < first), (least, y <= last), (0, True))

    @cached_property
    def _meeting(self) -> arb:
        """Where p_0 = p_1."""
        low, high = (float(end) for end in self.outputs)
        gap = balls.compiled(sp.expand(self.end_logs[0] - self.end_logs[1]), y)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if gap(arb(middle)) > 0 else (low, middle)
        if not abs(gap(arb(low))) < arb(1e-12):
            raise ValueError("density must be the same for the two end inputs at some message")
        return arb(low)

    @cached_property
    def gamma(self) -> sp.Expr:
        """A number that is not above the mass of the blanket, and at most 1e-9 below it, relatively."""
        first, last = (balls.value(end) for end in self.outputs)
        with balls.LOCK, balls.workprec(_BITS):
            meeting = self._meeting
            mass = self._mass(self.inputs[1], first, meeting) + self._mass(self.inputs[0], meeting, last)
        return sp.Rational(balls.lower(mass)) * (1 - sp.Rational(_ETA))

    @cached_property
    def dominating(self) -> Decomposition:
        """The finite pair of laws above all pairs of inputs."""
        first, last = (balls.value(end) for end in self.outputs)
        with balls.LOCK, balls.workprec(_BITS):
            top = balls.upper(balls.value(sp.exp(self.eps0)))
            left = self._half(first, forward=True)
            right = self._half(last, forward=False)
        # γ is that of c/(1 + 2η), about.
        return combined(left, right, float(self.gamma) * (1 - 1e-12), top, 3 * float(_ETA), f"all blankets of {self!r}")

    def _half(self, end: arb, *, forward: bool) -> Half:
        """The messages from y* to one end of the outputs; those above y* with everything mirrored."""
        low, high = self.inputs
        step = (high - low) / _CELLS
        places = [self._meeting + (end - self._meeting) * j / _CELLS for j in range(_CELLS + 1)]
        masses, densities = [], []
        for i in range(_CELLS + 1):
            input_ = low + i * step if forward else high - i * step
            parts = [self._mass(input_, *((b, a) if forward else (a, b))) for a, b in pairwise(places)]
            beyond = [sum(parts[j:], arb(0)) for j in range(_CELLS + 1)]
            masses.append([float(v) for v in beyond])
            densities.append([float(self._density(input_, place)(place)) for place in places])
        table = np.array(densities)
        return Half(np.array(masses), table, table[:, -1] / table[-1, -1])

    # -- numbers

    @cached_property
    def _compiled(self) -> list[Any]:
        with balls.LOCK, balls.workprec(_BITS):
            return [balls.compiled(strip.formula, x, y) for strip in self.strips]

    def _density(self, input_: sp.Expr, place: arb) -> Any:
        """The smooth density of an input around a message."""
        number = sum(bool(place > bend) for bend in self._bends(input_))
        return partial(self._compiled[number], balls.value(input_))

    def _bends(self, input_: sp.Expr) -> list[arb]:
        return [balls.value(strip.right.subs(x, input_)) for strip in self.strips[:-1]]

    def _mass(self, input_: sp.Expr, left: arb, right: arb) -> arb:
        """The probability of an interval of messages."""
        ends = [left, *(bend for bend in self._bends(input_) if left < bend < right), right]
        return sum((integral(self._density(input_, (a + b) / 2), a, b) for a, b in pairwise(ends)), arb(0))

    def _places(self, cells: int, tail: float) -> list[Fraction]:
        first, last = map(_fraction, self.outputs)
        return [first + (last - first) * i / cells for i in range(cells + 1)]

    def _masses(self, input_: sp.Expr, places: list[Fraction]) -> list[Fraction]:
        with balls.LOCK, balls.workprec(_BITS):
            masses = [balls.middle(self._mass(input_, balls.ball(a), balls.ball(b))) for a, b in pairwise(places)]
        return with_sum(masses, 1)


def _vanishes(formula: sp.Expr) -> bool:
    """Whether algebra proves that a formula is 0, as a rational function of its exponentials, roots and logarithms."""
    (form,), _ = field.rational_form([sp.expand_power_exp(sp.expand(formula))])
    return bool(field.simplest(form) == 0) or zeros.vanishes(sp.expand(formula))


def _fraction(number: sp.Expr) -> Fraction:
    with balls.LOCK, balls.workprec(_BITS):
        return balls.middle(balls.value(number))


def _short(formula: sp.Expr) -> str:
    """A formula, cut to what fits in a line."""
    text = str(formula)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _words(point: branch.Point) -> str:
    return ", ".join(f"{symbol} = {float(place):.6g}" for symbol, place in point.items())
