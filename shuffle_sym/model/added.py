r"""Noise that is added to an input, cut into cells.

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

**Datasets**: the first user has 0 or 1, all others x, and messages are counted by cells. That is post-processing, so
the divergence can only fall. With G = (p_0 − αp_1)/p_x a cell of width h loses about p_x h (hG')²/12 of the variance of
G, and values count with their weights e^{λG} in a tilted law: h ∝ (p_x G'² e^{λ|G|})^{-1/3} loses least for the two
directions, up to a largest exponent, and any cells are right.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, balls, field
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.rationals import with_sum
from shuffle_sym.algebra.rounding import BITS
from shuffle_sym.model import noise
from shuffle_sym.model.continuous import TYPICAL_USERS, Continuous, with_atoms, x, y
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.noise import LogConcave, u

_distance = sp.Dummy("d", positive=True)
_GOOD_BITS = 100
_ALIKE = Fraction(1, 2**60)  # two ratios that differ by less, relatively
_APART = Fraction(1, 2**24)  # of two ends of cells, over the length of all
_GOLDEN = 0.3819660112501052
_FAR_AWAY = 2**40  # over the width of the inputs
_PLACES = 4001  # where the density is looked at
_LEAST_DENSITY = 1e-13  # of the largest density: beyond, messages are in the first and the last cell
_LEAST_FAR = 1e-100  # a density with squares and quotients that are doubles
_TYPICAL, _LARGEST_TILT = 5.0, 9.0  # λ times the standard deviation of a sum, and the largest λ|G| that counts
_ENOUGH = 50.0  # of |G| over the number of users
_STEPS = 2**20  # ends of cells are multiples of one over this


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
        with balls.LOCK, balls.workprec(BITS):
            return balls.compiled(sp.sympify(self.distribution).subs({x: 0, y: -_distance}), _distance)

    def _ratio_at(self, place: arb) -> arb:
        low, high = (self.added.at(place - balls.value(end)) for end in self.inputs)
        return low / high

    @cached_property
    def eps0(self) -> sp.Expr:
        """The largest logarithm of a ratio of densities, far out on one of the sides, or of masses at a clipped end."""
        if self.clip is not None:
            return self._clipped_loss()
        left = self.added.largest_log_ratio(self.width)
        return left if self.added.symmetric else sp.Max(left, self.added.mirrored.largest_log_ratio(self.width))

    def check_clip(self) -> None:
        """Refuse clipped ends between which no message is as likely for both end inputs."""
        assert self.clip is not None
        first, last = self.clip
        with balls.LOCK, balls.workprec(BITS):
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
        with balls.LOCK, balls.workprec(BITS):
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

    def blanket(self) -> sp.Expr:
        """The smaller of the densities of the two end inputs, γω(y); at clipped ends, the smaller of their masses."""
        low, high = (self.of_input(end) for end in self.inputs)
        least = sp.Piecewise((high, y < self.middle), (low, True)) if self.added.symmetric else sp.Min(low, high)
        if self.clip is None:
            return least
        first, last = self.clip
        # The one with the smaller mass beyond an end is the input that is farther from it.
        sides = {first: sp.integrate(high, (y, -sp.oo, first)), last: sp.integrate(low, (y, last, sp.oo))}
        inside = sp.Piecewise((0, y <= first), (least, y < last), (0, True))
        return with_atoms(inside, {place: sp.simplify(mass) for place, mass in sides.items()})

    @cached_property
    def dominating(self) -> Decomposition:
        """A finite pair of laws above the blanket of every pair of inputs, for noise that need not be symmetric."""
        arguments.numeric_only(self.free_symbols, "a bound")
        with balls.LOCK, balls.workprec(BITS):
            width, low = balls.value(self.width), balls.value(self.inputs[0])
            clip = self.clip and (balls.value(self.clip[0]) - low, balls.value(self.clip[1]) - low)
        return noise.dominating(self.added, width, self.eps0, f"all blankets of {self!r}", clip)

    def in_cells(self, x2: sp.Expr, cells: int, users: int = TYPICAL_USERS) -> Decomposition:
        plain = self.distribution is not None and self.inputs == (0, 1) and self.has_worst_pair
        return self._in_cells(x2, dataset_cells(self, x2, cells, users)) if plain else self.dataset(x2, cells)

    # -- cells

    def alone(self, alpha: arb) -> tuple[Fraction, arb] | None:
        if not self.has_worst_pair:
            return None
        with balls.LOCK, balls.workprec(BITS):
            near, step = balls.value(self.middle).mid(), balls.value(self.width).mid()
            far = near - step
            while not self._ratio_at(far) > alpha:
                far, step = far - step, 2 * step
                if step > _FAR_AWAY * balls.value(self.width):
                    return None
            for _ in range(BITS):
                place = (near + (far - near) * arb(_GOLDEN)).mid()  # no place where ρ = α has to be met by chance
                ratio = self._ratio_at(place)
                if not (ratio > alpha or ratio < alpha):
                    break
                near, far = (near, place) if ratio > alpha else (place, far)
            (near_0, _), (far_0, far_1) = ([self._mass_below(x2, end) for x2 in self.inputs] for end in (near, far))
            # Between the two places [μ_0 − αμ_1]_+ is at least 0, and at most μ_0.
            beyond = far_0 - alpha * far_1
            return balls.middle(far), beyond.union(beyond + near_0 - far_0)

    def lower(self, cells: int, tail: float = 1e-20, cut: Fraction | None = None) -> Decomposition:
        """Every cell is one atom: a lower bound on the divergence of the blanket, for every n and α. Cells have equal
        widths; ``cut`` is one more place where one ends."""
        atoms = [(a, b, b) for a, b, *_ in self._cells(cells, tail, cut)]
        return self._decomposition(atoms, f"{self!r}, {cells} cells from below")

    def upper(self, cells: int, tail: float = 1e-20, cut: Fraction | None = None) -> Decomposition:
        """Every cell is split between its ends: an upper bound on the divergence of the blanket, for every n and α."""
        atoms = []
        for a, b, low, high in self._cells(cells, tail, cut):
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
            with balls.LOCK, balls.workprec(BITS):
                ends = [balls.ball(place) - balls.value(input_) for place in places]
                masses = [_good(self.added.tail(ends[0])), *(_good(self.added.mass(a, b)) for a, b in pairwise(ends))]
            return [*masses, 1 - sum(masses, Fraction(0))]
        below = [Fraction(0), *(self._below(input_, place) for place in places), Fraction(1)]
        return [b - a for a, b in pairwise(below)]

    def _edge(self, added: LogConcave, tail: float) -> Fraction:
        """A place with at most ``tail`` of the noise below it; where all ratios are constant there, the last such."""
        with balls.LOCK, balls.workprec(BITS):
            if added.flat and added.pieces[0].right.is_finite:
                return Fraction(balls.lower(balls.value(added.pieces[0].right)))
            return balls.middle(added.quantile(tail))

    def _below(self, input_: sp.Expr, place: Fraction) -> Fraction:
        with balls.LOCK, balls.workprec(BITS):
            return _good(self._mass_below(input_, balls.ball(place)))

    def _cells(
        self, cells: int, tail: float, cut: Fraction | None = None
    ) -> list[tuple[Fraction, Fraction, Fraction, Fraction | None]]:
        """Masses under both end inputs and both ends of ρ, cell by cell from the middle down; the last one reaches to
        −∞."""
        cells = arguments.positive_integer(cells, "cells")
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
        with balls.LOCK, balls.workprec(BITS):
            ratios = [_good(self._ratio_at(balls.ball(end))) for end in ends]
        inner = [
            (below[0][i] - below[0][i + 1], below[1][i] - below[1][i + 1], ratios[i], ratios[i + 1])
            for i in range(len(ends) - 1)
        ]
        bound = None if self.eps0 is sp.oo else ratios[-1] if self.added.flat else _number(sp.exp(self.eps0))
        return [*inner, (below[0][-1], below[1][-1], ratios[-1], bound)]

    def _decomposition(self, left: list[tuple[Fraction, Fraction, Fraction]], title: str) -> Decomposition:
        """Both halves; what the rounding to rational numbers misses of 1 goes to the largest mass."""
        a, b, c = map(list, zip(*left, strict=True))
        columns = (with_sum(a + b, 1), with_sum(b + a, 1), c + c)
        return Decomposition(*columns, title=title)


def _number(expr: sp.Expr) -> Fraction:
    """The value of an expression."""
    with balls.LOCK, balls.workprec(BITS):
        return _good(balls.value(expr))


def _good(enclosed: arb) -> Fraction:
    """The middle of a ball that is far narrower than the error of a double."""
    if not balls.is_right_to(_GOOD_BITS, enclosed):
        raise VerificationError(f"could not enclose a mass or a ratio of the density to {_GOOD_BITS} bits: {enclosed}")
    return balls.middle(enclosed)


# ---- Cells of the messages of datasets -------------------------------------------------------------------------------


def dataset_cells(R: AddedNoise, other: sp.Expr, cells: int, users: int) -> list[Fraction]:
    """The ends of that many cells with all others at ``other``, an exact number in [0, 1]: of noise on [0, 1]. They are
    chosen for about so many users."""
    density = sp.lambdify((x, y), R.density, "numpy")
    if not (far := float(density(0.0, 1.0))) > _LEAST_FAR:
        raise ValueError(
            f"{R.enough_noise} for {R!r}: with so little noise a message almost proves its input (input 0 sends the "
            f"message 1 with the density {far:.3g}), and shuffling hides hardly anything"
        )

    def at(places: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float64]]:
        with np.errstate(all="ignore"):
            return [np.broadcast_to(density(float(input_), places), places.shape) for input_ in (0, 1, other)]

    reach = 1.0
    while max(p[0] / p.max() for p in at(np.linspace(-reach, 0.5, 101))) > _LEAST_DENSITY:
        reach *= 1.25
    places = np.linspace(-reach, 1 + reach, _PLACES)
    p0, p1, p = at(places)
    with np.errstate(all="ignore"):  # a density below the smallest double says nothing about cells
        gaps = (p0 - p1) / p
        chi = np.where(p > _LEAST_DENSITY * p.max(), p * gaps**2, 0.0).sum() / p.sum()
        exponents = np.minimum(_TYPICAL / np.sqrt(users * chi) * np.abs(gaps), _LARGEST_TILT)
        wanted = np.cbrt(p * np.gradient(gaps, places) ** 2 * np.exp(exponents))
    # One value that makes every sum positive is as good as another one, and large ones are hard to sum.
    wanted = np.where(np.isfinite(wanted) & (np.abs(gaps) <= _ENOUGH * users), wanted, 0.0) + _LEAST_DENSITY
    shares = np.concatenate([[0.0], np.cumsum(wanted[1:] + wanted[:-1])])
    chosen = np.interp(np.arange(1, cells) * shares[-1] / cells, shares, places)
    # A bend of the density, at an input, is an end of a cell.
    return [Fraction(int(k), _STEPS) for k in sorted({*np.round(chosen * _STEPS).tolist(), 0, _STEPS})]
