r"""Noise that is added to an input: everything that follows from its density, if that is log-concave.

For g log-concave, p_x(y) = g(y − x) is a quasi-concave function of x, so that the blanket is the smaller of the
densities of the two end inputs; p_x/p_x' is monotone in y. The worst pair of inputs is that of the two ends if g is
moreover symmetric (`papers.ours.noise`). If it is not, `model.comonotone` bounds all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, zeros
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.integrals import integral
from shuffle_sym.algebra.pieces import Smooth, order, smooth_pieces
from shuffle_sym.model.comonotone import Half, combined
from shuffle_sym.model.decomposition import Decomposition

Array = npt.NDArray[np.float64]

u = sp.Symbol("u", real=True)
_distance = sp.Dummy("d", positive=True)
_BITS = 160
_FAR = 2.0**-120  # of what a tail may be off by, relatively
_MOST_STEPS = 4000
_CELLS = 128  # of the inputs
_LEAST_TAIL = 1e-18
_SLACK = 1e-12
_FALLS = "density must decrease on both sides of its peak, and this could not be proved"


class LogConcave:
    """A log-concave density of noise in u, cut into its smooth pieces; refused if log-concavity could not be proved."""

    variable = u

    def __init__(self, g: sp.Expr) -> None:
        self.g = g
        self.pieces = smooth_pieces(g, u)
        self.logs = [sp.expand_log(sp.log(piece.formula), force=True) for piece in self.pieces]
        if missing := self._missing():
            raise ValueError(
                f"density is not covered: {missing}. It must be log-concave noise (its logarithm concave in u = y - "
                f"x), got {g}. For other noise let users send the number of a cell in place of y, and give the "
                "probabilities of the cells to ss.from_matrix. For users who send y itself, the answer would only be a "
                "lower bound"
            )

    def _missing(self) -> str:
        """What could not be proved: the logarithm is concave on each piece, continuous, and its slope falls between."""
        for piece, log in zip(self.pieces, self.logs, strict=True):
            where = (
                f" where {piece.left} < y - x < {piece.right}".replace(" where -oo < y - x < oo", "")
                .replace("-oo < ", "")
                .replace(" < oo", "")
            )
            if piece.formula.has(sp.nan):
                return f"none of its cases applies{where}"
            if piece.formula == 0:
                return (
                    f"it is 0{where}, so some messages are possible for some inputs only, and ε0 is infinite (add a "
                    "floor, and give outputs=(a, b), or round messages to cells before they are sent)"
                )
            if not _is_positive(piece):
                return f"could not prove that it is positive{where}"
            if not _holds("is_nonpositive", sp.diff(log, u, 2), piece):
                return f"could not prove that its logarithm is concave{where}"
        for (left, log), (right, after) in pairwise(zip(self.pieces, self.logs, strict=True)):
            place = left.right
            gap = sp.simplify((left.formula - right.formula).subs(u, place))
            if gap != 0 and (gap.free_symbols or zeros.sign(gap)):
                return f"it jumps where y - x = {place}"
            change = _at(sp.diff(after, u), place, "+") - _at(sp.diff(log, u), place, "-")
            if not change.is_nonpositive and order(change) > 0:
                return f"its logarithm bends upward where y - x = {place}"
        return ""

    @cached_property
    def mirrored(self) -> LogConcave:
        """The density of the noise with the other sign."""
        return LogConcave(self.g.subs(u, -u))

    @cached_property
    def symmetric(self) -> bool:
        """Whether it is proved to be the same as its mirror image."""
        if self.g.subs(u, -u) == self.g:
            return True
        for piece, other in zip(self.pieces, reversed(self.pieces), strict=True):
            if piece.left != -other.right or not zeros.vanishes(piece.formula.subs(u, -u) - other.formula):
                return False
        return True

    # -- ratios

    def log_ratio(self, index: int, other: int, shift: sp.Expr) -> sp.Expr:
        """log g(u) − log g(u − shift), where u is in one piece and u − shift in another."""
        return sp.expand(self.logs[index] - self.logs[other].subs(u, u - shift))

    @cached_property
    def flat(self) -> bool:
        """Whether far to the left all ratios are constant: the logarithm is linear there."""
        bend = sp.together(sp.diff(self.logs[0], u, 2))
        return zeros.vanishes(bend)

    def largest_log_ratio(self, shift: sp.Expr) -> sp.Expr:
        """sup log g(u)/g(u − shift) for a shift >= 0: the limit to the left, where the slope of log g is largest."""
        return sp.expand(_limit(sp.diff(self.logs[0], u)) * shift)

    # -- numbers

    def at(self, place: arb, of: int = 0) -> arb:
        """The density, or with ``of`` = 1 the slope of its logarithm, at a place."""
        piece = self.piece(place)
        return self._compiled[piece][of](place)

    @cached_property
    def _compiled(self) -> list[tuple[Callable[[arb], arb], ...]]:
        with balls.LOCK, balls.workprec(_BITS):
            return [
                (balls.compiled(piece.formula, u), balls.compiled(sp.diff(log, u), u))
                for piece, log in zip(self.pieces, self.logs, strict=True)
            ]

    @cached_property
    def _breaks(self) -> list[arb]:
        with balls.LOCK, balls.workprec(_BITS):
            return [balls.value(piece.right) for piece in self.pieces[:-1]]

    def piece(self, place: arb) -> int:
        """The number of the smooth piece in which a place is."""
        return sum(bool(place > point) for point in self._breaks)

    def mass(self, left: arb, right: arb) -> arb:
        """The probability of an interval."""
        ends = [left, *(point for point in self._breaks if left < point < right), right]
        total = arb(0)
        for a, b in pairwise(ends):
            total += integral(self._compiled[self.piece((a + b) / 2)][0], a, b)
        return total

    def tail(self, right: arb) -> arb:
        """The probability of everything below: an integral, and beyond it at most the density over the slope."""
        left, width = right, arb(1)
        goal = self.at(right) * arb(_FAR)
        for _ in range(_MOST_STEPS):
            left = left - width
            slope = self.at(left, 1)
            if slope > 0:
                beyond = self.at(left) / slope
                if beyond < goal * arb.min(arb(1), 1 / slope):
                    return self._stretch(left, right) + beyond * arb(0.5, 0.5)
                width = arb(float(arb.max(width, 8 / slope).mid()))
        raise ValueError(_FALLS)

    def _stretch(self, left: arb, right: arb) -> arb:
        count = max(math.ceil(float((right - left).mid() / 20)), 1)
        ends = [left + (right - left) * k / count for k in range(count)] + [right]
        return sum((self.mass(a, b) for a, b in pairwise(ends)), arb(0))

    def quantile(self, tail: float) -> arb:
        """A place below which there is at most ``tail``, and not far less: where density over slope is that."""
        low = 1.0
        while not self._is_far(-low, tail):
            low *= 2
            if low > 1e15:
                raise ValueError(_FALLS)
        high = -low
        while self._is_far(high + low / 2, tail):
            high += low / 2
        near, far = high + low / 2, high
        for _ in range(40):
            middle = (near + far) / 2
            near, far = (near, middle) if self._is_far(middle, tail) else (middle, far)
        return arb(far)

    def _is_far(self, place: float, tail: float) -> bool:
        at = arb(place)
        slope = self.at(at, 1)
        return bool(slope > 0) and bool(self.at(at) / slope <= tail)

    def total(self) -> arb:
        """The integral of the density, which has to be 1."""
        with balls.LOCK, balls.workprec(_BITS):
            return self.tail(arb(0)) + self.mirrored.tail(arb(0))


def _limit(slope: sp.Expr) -> sp.Expr:
    """The limit of a formula in u to the left."""
    if u not in slope.free_symbols:
        return slope
    if slope.is_polynomial(u):
        return sp.oo  # it falls in u, and is not constant
    grows = {e for e in slope.atoms(sp.exp) if u in e.free_symbols}
    if len(grows) == 1:
        (one,) = grows
        rate, small = sp.diff(one.exp, u), sp.Symbol("w", positive=True)
        if u not in rate.free_symbols and (rate.is_nonnegative or rate.is_nonpositive):
            # A multiple of e^{rate·u}, which vanishes or whose inverse does
            form = slope.xreplace({one: small if rate.is_nonnegative else 1 / small})
            if u not in form.free_symbols:
                limit = sp.cancel(sp.together(form)).subs(small, 0)
                return sp.oo if limit is sp.zoo else limit  # the slope falls in u: it cannot be −oo there
    return sp.limit(slope, u, -sp.oo)


def _at(slope: sp.Expr, place: sp.Expr, side: str) -> sp.Expr:
    """A slope at an end of its piece, which is on one side of it."""
    there = slope.subs(u, place)
    return sp.limit(slope, u, place, side) if there.has(sp.nan, sp.zoo) else there


def _is_positive(piece: Smooth) -> bool:
    """Whether a piece is proved to be positive: a constant factor by its enclosure, the rest by its form."""
    constant, rest = piece.formula.as_independent(u, as_Add=False)
    if constant.free_symbols or zeros.sign(constant) != 1:
        return _holds("is_positive", piece.formula, piece)
    return _holds("is_positive", rest, piece)


def _holds(sign: str, formula: sp.Expr, piece: Smooth) -> bool:
    """Whether a formula in u is proved to have a sign on a piece, "is_positive" or "is_nonpositive"."""
    place: sp.Expr = u
    if piece.left.is_finite:
        place = piece.left + _distance
    elif piece.right.is_finite:
        place = piece.right - _distance
    here = formula.subs(u, place)
    # A rate that may be 0 by its range is not: there would be no density.
    rates = [s for s in here.free_symbols if s.is_nonnegative and not s.is_positive]
    here = here.xreplace({s: sp.Dummy(s.name, positive=True) for s in rates})
    return any(getattr(form(here), sign) for form in (sp.expand, sp.together, sp.simplify, sp.factor))


# ------------------------------------------------------------------------------------------ all pairs, no symmetry


def blanket_mass(noise: LogConcave, width: sp.Expr) -> sp.Rational:
    """A number with 30 digits that is not above the mass of the smaller of two densities, ``width`` apart."""
    with balls.LOCK, balls.workprec(_BITS):
        apart = balls.value(width)
        place = meeting(noise, apart)
        mass = balls.ends((noise.tail(place - apart) + noise.mirrored.tail(-place)) * (1 - arb(10) ** -29))
    if mass is None:
        raise VerificationError("could not enclose the mass of the blanket")
    return sp.Rational(math.floor(mass[0] * 10**30), 10**30)


def dominating(
    noise: LogConcave, width: arb, log_ratio: sp.Expr, title: str, clip: tuple[arb, arb] | None = None
) -> Decomposition:
    """A finite pair of laws above the blanket of every pair of inputs from 0 to ``width``; ``log_ratio`` is ε0, ``oo``
    if there is none. Messages beyond the ends of ``clip`` are moved to these ends."""
    with balls.LOCK, balls.workprec(_BITS):
        place = meeting(noise, width)
        # With y* and the inputs 0 … width on one grid, so are all differences.
        left = _half(noise, width, place, clip and clip[0])
        right = _half(noise.mirrored, width, width - place, clip and width - clip[1])
        top = None if log_ratio is sp.oo else balls.upper(balls.value(sp.exp(log_ratio)))
        gamma = balls.lower(noise.tail(place - width) + noise.mirrored.tail(-place)) * (1 - _SLACK)
    return combined(left, right, gamma, top, 4 * _SLACK, title)


def meeting(noise: LogConcave, width: arb) -> arb:
    """Where the densities of the inputs 0 and width are equal."""

    def is_left(y: float) -> bool:
        return bool(noise.at(arb(y)) > noise.at(arb(y) - width))

    low, high = -1.0, 1.0 + float(width)
    while not is_left(low):
        low *= 2
    while is_left(high):
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    place = arb(low)
    if not abs((noise.at(place) / noise.at(place - width)).log()) < _SLACK:
        raise VerificationError("could not find where the densities of the two end inputs are equal")
    return place


def _half(noise: LogConcave, width: arb, place: arb, clip: arb | None) -> Half:
    """The half of the messages below y*, with the messages below ``clip`` moved there."""
    step = width / _CELLS
    if clip is not None:
        first = clip + step
        if not first + step < place:
            raise ValueError("clip must leave room on both sides of the message both end inputs send equally often")
    elif noise.flat and noise.pieces[0].right.is_finite:
        first = balls.value(noise.pieces[0].right)
    else:
        first = arb.min(noise.quantile(_LEAST_TAIL) + width, place - step)
    exact = float(((place - first) / step).mid())
    count = max(math.floor(exact) if clip is not None else math.ceil(exact), 1)
    # u = y − x for all messages y = y* − j·step, j = 0 … count, and all inputs i·step, i = 0 … _CELLS
    places = [place - width + step * m for m in range(-count, _CELLS + 1)]
    masses, densities = _below(noise, places), balls.doubles(noise.at(place) for place in places)
    j, i = np.arange(count + 1), np.arange(_CELLS + 1)
    own = count - j[None, :] + _CELLS - i[:, None]
    largest = None
    if clip is not None:
        # The message at the end has the largest ratio, that of all masses beyond.
        beyond = _below(noise, [clip - width + step * m for m in range(_CELLS + 1)])[_CELLS - i]
        largest = beyond / beyond[_CELLS]
    elif noise.flat:
        largest = densities[own[:, -1]] / densities[own[-1, -1]]
    return Half(masses[own], densities[own], largest)


def _below(noise: LogConcave, places: Sequence[arb]) -> Array:
    """The probabilities of what is below each of the places."""
    masses = [noise.tail(places[0])]
    for a, b in pairwise(places):
        masses.append(masses[-1] + noise.mass(a, b))
    return balls.doubles(masses)
