r"""Noise that is added to an input, and the panels of its blanket, by which it is integrated.

Below the middle of the inputs the ratio of the densities of the two end inputs is all that matters, and it is monotone
in y; above, everything is mirrored. That half is cut where the density has a bend, and each smooth piece into panels.
"""

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls
from shuffle_sym.model.continuous import Continuous, x, y
from shuffle_sym.model.noise import LogConcave, u
from shuffle_sym.model.panels import Panel, Panels, Smooth, Tail, panels

_distance = sp.Dummy("d", positive=True)
BITS = 256  # masses are differences of distribution functions: what is left is far below the error of a double
_DENSITY_SPREAD = 10.0
_USUAL_TAIL, _MORE = 1e-12, 1.125  # panels with the widths of a usual tail are a little narrower, to serve others
_NARROW, _CHANGE, _RARE_RATIO = 0.06, 10.0, 64.0  # panels for few users: spread, change of ρ over it, and up to which ρ


class NoiseInPanels(Continuous):
    """Noise with a log-concave density that is added to an input: its masses, ratios and panels."""

    #: Pr[R(x) <= y] as a formula in x and y, where one is known; masses are integrated where it is not.
    distribution: sp.Expr | None = None
    #: What the caller can change if messages tell the inputs apart, for all that doubles can hold.
    enough_noise = "density must be above 1e-100 at y = 1 for x = 0"
    #: Messages beyond these two places are moved to the nearer of them.
    clip: tuple[sp.Expr, sp.Expr] | None = None

    @cached_property
    def added(self) -> LogConcave:
        """The density of the noise, a function of u = y − x."""
        g = sp.expand(self.density.subs(y, x + u)) if self.density.has(sp.Piecewise) else self.density.subs(y, x + u)
        g = g.replace(lambda e: e.is_Relational, lambda e: e.func(sp.expand(e.lhs - e.rhs), 0))
        if x in g.free_symbols:
            g = sp.simplify(g)
        if x in g.free_symbols:
            raise ValueError(f"density must be a function of y - x here, got {self.density}")
        return LogConcave(g)

    @property
    def has_worst_pair(self) -> bool:
        return self.added.symmetric and self.clip is None

    @property
    def width(self) -> sp.Expr:
        """How far inputs are apart at most."""
        return self.inputs[1] - self.inputs[0]

    @property
    def middle(self) -> sp.Expr:
        return (self.inputs[0] + self.inputs[1]) / 2

    def _mass_below(self, input_: sp.Expr, place: arb) -> arb:
        """Pr[R(input) <= place]."""
        away = place - balls.value(input_)
        if self.distribution is None or not self.added.symmetric:
            return self.added.tail(away)
        mass = self._mass_beyond(abs(away))
        return mass if away <= 0 else 1 - mass if away > 0 else mass.union(1 - mass)

    @cached_property
    def _mass_beyond(self) -> Callable[[arb], arb]:
        """The mass of symmetric noise below minus a distance."""
        with balls.precision(BITS):
            return balls.compiled(sp.sympify(self.distribution).subs({x: 0, y: -_distance}), _distance)

    def _ratio_at(self, place: arb) -> arb:
        one, other = (self.added.at(place - balls.value(end)) for end in self.inputs)
        return one / other

    # -- panels

    @cached_property
    def _known_panels(self) -> dict[tuple[float, float, str], Panels]:
        return {}

    @cached_property
    def _known_parts(self) -> dict[tuple[float, float, int, int], Panel]:
        """Each panel that was made: by spread, by tail if it depends on that (−1 if its width is the usual one), by the
        number of its stretch and by its own number there, counted from the middle on."""
        return {}

    @cached_property
    def _known_pieces(self) -> dict[tuple[sp.Expr, sp.Expr], Smooth]:
        return {}

    @property
    def rounds_off(self) -> bool:
        """Whether ratios tend to a bound far out and never reach it: then the messages there are nearly one."""
        return not self.added.flat and self.eps0 is not sp.oo

    def panels(self, spread: float, tail: float, side: str = "cut") -> Panels:
        """The left half of the messages as panels over each of which log ρ changes by ``spread`` on average; about
        ``tail`` of μ_1 lies beyond them. ``side`` says what becomes of that, unless ρ is constant there: "cut" leaves
        it out, "lower" counts it as one message, "upper" moves it to the ends of the range of ρ there."""
        key = (spread, 0.0, "cut") if self.added.flat else (spread, tail, side)
        if key not in self._known_panels:
            arguments.numeric_only(self.free_symbols, "a number")
            if not self.has_worst_pair:
                self._no_worst_pair()
            self._known_panels[key] = self._panels(*key)
        return self._known_panels[key]

    def _panels(self, spread: float, tail: float, side: str = "cut") -> Panels:
        low, high = self.inputs
        with balls.precision(BITS):
            parts, last = self._parts(self._last(tail), spread, tail)
            masses = [self._mass_below(input_, last) for input_ in (low, high)]
            if self.added.flat:
                return panels(parts, [(balls.value(sp.exp(self.eps0)), masses[1])])
            if side == "lower":
                return panels(parts, [(masses[0] / masses[1], masses[1])])
            if side == "upper":
                least, most = self._ratio_at(last), balls.value(sp.exp(self.eps0))
                to_most = (masses[0] - least * masses[1]) / (most - least)
                return panels(parts, [(least, masses[1] - to_most), (most, to_most)])
            ends = [(balls.lower(mass), balls.upper(mass)) for mass in masses]
            return panels(parts, [], Tail(*ends[0], *ends[1], balls.lower(self._ratio_at(last))))

    def _last(self, tail: float) -> arb:
        """A message below which all ratios are constant; else one that is not next to the middle and has at most
        ``tail`` of μ_1 below it."""
        if self.added.flat:
            return balls.value(self.inputs[0]) + balls.value(self.added.pieces[0].right)
        near = balls.value(self.middle) - balls.value(self.width) / 4
        return arb.min(balls.value(self.inputs[1]) + self.added.quantile(tail), near)

    def _parts(self, last: arb, spread: float, tail: float) -> tuple[list[Panel], arb]:
        """Panels from about ``last`` to the middle, and where they end.

        Where ratios are unbounded, those of the smooth piece farthest out have the widths of a usual tail, counted from
        its inner end: so other tails have the same ones, and some more or less."""
        halves, parts, number = self._left_half(last, balls.value(self.middle))[::-1], [], 0
        for place, (left, right, common, ratio) in enumerate(halves):
            smooth, usual, own = self._smooth(common, ratio), left, 0.0
            if place == len(halves) - 1 and not self.added.flat:
                farther = self._last(_USUAL_TAIL)
                shared = spread >= _NARROW and not self.rounds_off and farther < right
                usual, own = (farther, -1.0) if shared else (left, tail)
            for one, other, count in _stretches(usual, right, common, ratio, spread)[::-1]:
                width = (other - one) / count
                if own < 0:
                    width /= _MORE
                    count = max(round(float((right - left) / width)), 1)
                    last = right - width * count
                for key in ((spread, own, number, i) for i in range(count)):
                    if key not in self._known_parts:
                        self._known_parts[key] = smooth.panel(other - width * (key[3] + arb(0.5)), width / 2)
                    parts.append(self._known_parts[key])
                number += 1
        return parts, last

    def _smooth(self, common: sp.Expr, ratio: sp.Expr) -> Smooth:
        if (common, ratio) not in self._known_pieces:
            self._known_pieces[common, ratio] = Smooth(y, common, ratio)
        return self._known_pieces[common, ratio]

    def _left_half(self, last: arb, middle: arb) -> list[tuple[arb, arb, sp.Expr, sp.Expr]]:
        """The smooth pieces between ``last`` and the middle: both ends, the density of the greatest input, and ρ."""
        added, (low, high) = self.added, self.inputs
        # Bends of the two end inputs that are one count once: a part without length would have no mass.
        places = {sp.expand(end + piece.right) for piece in added.pieces[:-1] for end in self.inputs}
        ends = [last, *sorted((b for b in map(balls.value, places) if last < b < middle), key=float), middle]
        halves = []
        for left, right in pairwise(ends):
            place = (left + right) / 2
            one, other = (added.piece(place - balls.value(end)) for end in (low, high))
            ratio = sp.exp(added.log_ratio(one, other, self.width).subs(u, y - low))
            halves.append((left, right, added.pieces[other].formula.subs(u, y - high), sp.expand_power_exp(ratio)))
        return halves


def _stretches(left: arb, right: arb, common: sp.Expr, ratio: sp.Expr, spread: float) -> list[tuple[arb, arb, int]]:
    """Parts of a smooth piece and the number of panels in each: over a panel the logarithm of the ratio changes by
    ``spread``, on average, and that of the density by a few times as much. Narrow ones so that the ratio itself, as
    long as it is not so large that few messages have it, changes by little: then e^{iyG} goes round a few times only.
    """
    narrow = spread < _NARROW
    stretches = max(math.ceil(_change(ratio, left, right)), 1) if narrow else 1
    ends, parts = [left + (right - left) * i / stretches for i in range(stretches + 1)], []
    for one, other in pairwise(ends):
        count = max(_change(ratio, one, other), _change(common, one, other) / _DENSITY_SPREAD) / spread
        low, high = sorted(float(balls.value(ratio, {y: end})) for end in (one, other)) if narrow else (1.0, 1.0)
        if low < _RARE_RATIO:
            count = max(count, (high - low) / (_CHANGE * spread))
        parts.append((one, other, max(math.ceil(count), 1)))
    return parts


def _change(formula: sp.Expr, left: arb, right: arb) -> float:
    """By how much the logarithm of a formula differs between two places."""
    one, other = (float(balls.value(formula, {y: place}).log()) for place in (left, right))
    return abs(one - other)
