r"""Noise that is added to an input, cut into cells and panels.

If the noise is symmetric and log-concave, the two ends of the inputs are the worst pair for the blanket, which is the
smaller of their two densities: that of the larger input below the middle, that of the smaller one above. Below the
middle the ratio :math:`\rho = \mu_0/\mu_1 \ge 1` is all that matters, and it is monotone in y; above, everything is
mirrored. Cut the left half into cells of equal width:

- **lower**: count the messages of a cell as one. That is post-processing, so the divergence can only fall;
- **upper**: move the mass of a cell to its two ends, keeping its mean of (μ_0, μ_1). That is larger in convex order, so
  the divergence can only grow. Where ρ is not constant beyond the last cell, that one is given away: its messages tell
  the inputs apart for certain and nobody else sends them (null atoms, c = 0), which is larger still.

Both are decompositions in their own right, and they close in on each other like cells⁻². Without symmetry other pairs
may be worse: `model.noise` has one pair of laws above all of them.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model import dataset_cells, noise
from shuffle_sym.model.continuous import TYPICAL_USERS, Continuous, x, y
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.noise import LogConcave, u
from shuffle_sym.model.panels import Panel, Panels, Smooth, Tail, panels

_distance = sp.Dummy("d", positive=True)
_BITS = 256  # masses are differences of distribution functions: what is left is far below the error of a double
_GOOD_BITS = 100
_ALIKE = Fraction(1, 2**60)  # two ratios that differ by less, relatively
_APART = Fraction(1, 2**24)  # of two ends of cells, over the length of all
_GOLDEN = 0.3819660112501052
_FAR_AWAY = 2**40  # over the width of the inputs
_DENSITY_SPREAD = 10.0
_USUAL_TAIL = 1e-12
_NARROW, _CHANGE, _RARE_RATIO = 0.06, 10.0, 64.0  # panels for few users: spread, change of ρ over it, and up to which ρ


class AddedNoise(Continuous):
    r"""Noise that is added to an input, with a log-concave density, which is all that defines it.

    For symmetric noise the two end inputs are the worst pair for the blanket: proved, see `papers.ours.noise`. A
    density that is not log-concave is refused.
    """

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

    @cached_property
    def eps0(self) -> sp.Expr:
        """The largest logarithm of a ratio of densities, far out on one of the sides, or of masses at a clipped end."""
        if self.clip is not None:
            return self._clipped_loss()
        one = self.added.largest_log_ratio(self.width)
        return one if self.added.symmetric else sp.Max(one, self.added.mirrored.largest_log_ratio(self.width))

    def check_clip(self) -> None:
        """Refuse clipped ends between which no message is as likely for both end inputs."""
        assert self.clip is not None
        first, last = self.clip
        with balls.precision(_BITS):
            place = noise.meeting(self.added, balls.value(self.width)) + balls.value(self.inputs[0])
            room = balls.value(self.width) / 32
            if not balls.value(first) + room < place < balls.value(last) - room:
                raise ValueError(
                    f"clip must have room on both sides of {float(place):.6g}, the message that both end inputs send "
                    f"with the same density, got {self.clip}"
                )

    def _clipped_loss(self) -> sp.Expr:
        """An upper bound with 30 digits, or the formula if there is one for the distribution of symmetric noise."""
        assert self.clip is not None
        (low, high), (first, last) = self.inputs, self.clip
        # As seen from either side: what is beyond the clipped end for the near and for the far input
        sides = ((first - low, first - high), (high - last, low - last))
        if self.distribution is not None and self.added.symmetric:
            beyond = [[self.distribution.subs({x: 0, y: place}) for place in side] for side in sides]
            return sp.Max(*(sp.log(near / far) for near, far in beyond))
        arguments.numeric_only(self.free_symbols, "the largest loss")
        with balls.precision(_BITS):
            ends = []
            for added, side in zip((self.added, self.added.mirrored), sides, strict=True):
                near, far = (added.tail(balls.value(place)) for place in side)
                ends.append(balls.ends((near / far).log()))
        return sp.Max(*(sp.Rational(math.ceil(end[1] * 10**30), 10**30) for end in ends if end is not None))

    @cached_property
    def gamma(self) -> sp.Expr:
        """The mass of the blanket; if there is no formula for it, a number with 30 digits that is not above it."""
        if self.added.symmetric and self.distribution is not None:
            return field.simplest(2 * self.distribution.subs({x: self.inputs[1], y: self.middle}))
        arguments.numeric_only(self.free_symbols, "the mass of the blanket")
        return noise.blanket_mass(self.added, self.width)

    @property
    def middle(self) -> sp.Expr:
        return (self.inputs[0] + self.inputs[1]) / 2

    def blanket(self) -> sp.Expr:
        """The smaller of the densities of the two end inputs, γω(y)."""
        low, high = (self.of_input(end) for end in self.inputs)
        if self.added.symmetric:
            return sp.Piecewise((high, y < self.middle), (low, True))
        return sp.Min(low, high)

    @cached_property
    def dominating(self) -> Decomposition:
        """A finite pair of laws above the blanket of every pair of inputs, for noise that need not be symmetric."""
        arguments.numeric_only(self.free_symbols, "a bound")
        with balls.precision(_BITS):
            width, low = balls.value(self.width), balls.value(self.inputs[0])
            clip = self.clip and (balls.value(self.clip[0]) - low, balls.value(self.clip[1]) - low)
        return noise.dominating(self.added, width, self.eps0, f"all blankets of {self!r}", clip)

    def in_cells(self, x2: sp.Expr, cells: int, users: int = TYPICAL_USERS) -> Decomposition:
        plain = self.distribution is not None and self.inputs == (0, 1) and self.has_worst_pair
        return self._in_cells(x2, dataset_cells.ends(self, x2, cells, users)) if plain else self.dataset(x2, cells)

    # -- cells

    def alone(self, alpha: arb) -> tuple[Fraction, arb] | None:
        if not self.has_worst_pair:
            return None
        with balls.precision(_BITS):
            near, step = balls.value(self.middle).mid(), balls.value(self.width).mid()
            far = near - step
            while not self._ratio_at(far) > alpha:
                far, step = far - step, 2 * step
                if step > _FAR_AWAY * balls.value(self.width):
                    return None
            for _ in range(_BITS):
                place = (near + (far - near) * arb(_GOLDEN)).mid()  # no place where ρ = α has to be met by chance
                ratio = self._ratio_at(place)
                if not (ratio > alpha or ratio < alpha):
                    break
                near, far = (near, place) if ratio > alpha else (place, far)
            (near_0, _), (far_0, far_1) = ([self._mass_below(x2, end) for x2 in self.inputs] for end in (near, far))
            # Between the two places [μ_0 − αμ_1]_+ is at least 0, and at most μ_0.
            one = far_0 - alpha * far_1
            return balls.middle(far), one.union(one + near_0 - far_0)

    def lower(self, cells: int, tail: float = 1e-20, cut: Fraction | None = None) -> Decomposition:
        """Every cell is one atom: a lower bound on the divergence of the blanket, for every n and α. Cells have equal
        widths; ``cut`` is one more place where one ends."""
        atoms = []
        for a, b, *_ in self._cells(arguments.positive_integer(cells, "cells"), tail, cut):
            atoms.append((a, b, b))
        return self._decomposition(atoms, f"{self!r}, {cells} cells from below")

    def upper(self, cells: int, tail: float = 1e-20, cut: Fraction | None = None) -> Decomposition:
        """Every cell is split between its ends: an upper bound on the divergence of the blanket, for every n and α."""
        atoms = []
        for a, b, low, high in self._cells(arguments.positive_integer(cells, "cells"), tail, cut):
            if high is None:
                # ρ is unbounded here: as if the message told the inputs apart for certain, and nobody else sent it.
                atoms += [(a, Fraction(0), Fraction(0)), (Fraction(0), b, Fraction(0))]
            elif low == high:
                atoms.append((a, b, b))
            else:
                if high - low < high * _ALIKE:  # wider is larger still, and masses may not cancel
                    low, high = low * (1 - _ALIKE), high * (1 + _ALIKE)
                to_high = (a - low * b) / (high - low)
                atoms.append((high * to_high, to_high, to_high))
                atoms.append((a - high * to_high, b - to_high, b - to_high))
        return self._decomposition(atoms, f"{self!r}, {cells} cells from above")

    def _places(self, cells: int, tail: float) -> list[Fraction]:
        if self.clip is not None:
            first, last = (_number(end) for end in self.clip)
        else:
            first = _number(self.inputs[0]) + self._edge(self.added, tail)
            last = _number(self.inputs[1]) - self._edge(self.added.mirrored, tail)
        return [first + (last - first) * i / cells for i in range(cells + 1)]

    def _masses(self, input_: sp.Expr, places: list[Fraction]) -> list[Fraction]:
        if self.distribution is None:
            with balls.precision(_BITS):
                ends = [balls.ball(place) - balls.value(input_) for place in places]
                masses = [_good(self.added.tail(ends[0])), *(_good(self.added.mass(a, b)) for a, b in pairwise(ends))]
            return [*masses, 1 - sum(masses, Fraction(0))]
        below = [Fraction(0), *(self._below(input_, place) for place in places), Fraction(1)]
        return [b - a for a, b in pairwise(below)]

    def _edge(self, added: LogConcave, tail: float) -> Fraction:
        """A place with at most ``tail`` of the noise below it; where all ratios are constant there, the last such."""
        with balls.precision(_BITS):
            if added.flat and added.pieces[0].right.is_finite:
                return Fraction(balls.lower(balls.value(added.pieces[0].right)))
            return balls.middle(added.quantile(tail))

    def _below(self, input_: sp.Expr, place: Fraction) -> Fraction:
        with balls.precision(_BITS):
            return _good(self._mass_below(input_, balls.ball(place)))

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
        with balls.precision(_BITS):
            return balls.compiled(sp.sympify(self.distribution).subs({x: 0, y: -_distance}), _distance)

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
        with balls.precision(_BITS):
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

    def _cells(
        self, cells: int, tail: float, cut: Fraction | None = None
    ) -> list[tuple[Fraction, Fraction, Fraction, Fraction | None]]:
        """Masses under both end inputs and both ends of ρ, cell by cell from the middle down; the last one reaches to
        −∞."""
        arguments.numeric_only(self.free_symbols, "a discretisation")
        if not self.has_worst_pair:
            self._no_worst_pair()
        low, high = self.inputs
        first, width = _number(self.middle), _number(self.width)
        last = min(_number(low) + self._edge(self.added, tail), first - width / 4)
        ends = [first + (last - first) * i / cells for i in range(cells + 1)]
        if cut is not None and min(abs(end - cut) for end in ends) > _APART * (first - last) and last < cut < first:
            ends = sorted({*ends, cut}, reverse=True)
        below = [[self._below(input_, end) for end in ends] for input_ in (low, high)]
        with balls.precision(_BITS):
            ratios = [_good(self._ratio_at(balls.ball(end))) for end in ends]
        inner = [
            (below[0][i] - below[0][i + 1], below[1][i] - below[1][i + 1], ratios[i], ratios[i + 1])
            for i in range(len(ends) - 1)
        ]
        bound = None if self.eps0 is sp.oo else ratios[-1] if self.added.flat else _number(sp.exp(self.eps0))
        return [*inner, (below[0][-1], below[1][-1], ratios[-1], bound)]

    def _ratio_at(self, place: arb) -> arb:
        one, other = (self.added.at(place - balls.value(end)) for end in self.inputs)
        return one / other

    def _decomposition(self, left: list[tuple[Fraction, Fraction, Fraction]], title: str) -> Decomposition:
        """Both halves; what the rounding to rational numbers misses of 1 goes to the largest mass."""
        a = [atom[0] for atom in left] + [atom[1] for atom in left]
        b = [atom[1] for atom in left] + [atom[0] for atom in left]
        c = [atom[2] for atom in left] * 2
        for masses in (a, b):
            masses[masses.index(max(masses))] += 1 - sum(masses)
        rational = [[sp.Rational(v.numerator, v.denominator) for v in masses] for masses in (a, b, c)]
        return Decomposition(*rational, title=title)


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


def _number(expr: sp.Expr) -> Fraction:
    """The value of an expression."""
    with balls.precision(_BITS):
        return _good(balls.value(expr))


def _good(enclosed: arb) -> Fraction:
    """The middle of a ball that is far narrower than the error of a double."""
    if not balls.is_right_to(_GOOD_BITS, enclosed):
        raise VerificationError(f"a mass or a ratio of the density is not known to {_GOOD_BITS} bits: {enclosed}")
    return balls.middle(enclosed)
