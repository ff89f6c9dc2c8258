r"""Finitely many laws that are above everything that the other users of Gaussian or logistic noise can add, for all
pairs of inputs.

The scale of the noise is 1 here and inputs are in [0, w]: w = 1/σ for N(0, σ²) and inputs in [0, 1]. p_x is the density
around x, (u, v | x) the law of (p_u − αp_v)/p_x under p_x, α >= 1, and a law is *above* another one if its
E[· − k]_+ is the larger one for every k (the increasing convex order).

**Pairs of inputs** (`papers.ours.noise`, `papers.ours.smooth_pairs`). If w <= 2 for Gaussian and w <= 3 for
logistic noise, the law of every other user is below one of

.. math:: (0, w \mid x),\ 0 \le x \le w, \qquad (a, a - d \mid 0),\ 0 \le d \le d^*,\ d \le a \le w.

The second ones are those of *close* pairs and have a small variance. Pairs are not close from a distance d* on, about
w log α, if for all u from d* to w

.. math:: \alpha \le \frac{e^{-u^2/2}}{1 - u/w} \text{ (Gaussian)}, \qquad
          \alpha \le \frac{\sinh(w/2)}{\sinh((w-u)/2)\,\cosh^3(u/2)} \text{ (logistic)}.

If w is near its limit the right sides are small in the middle: then d* may be most of w, and the bound is of no use.

**Inputs in cells.** Let x be in [l, h] and r = log p_h/p_l at a message. With weights θ + η = 1, as x = θl + ηh,

.. math:: p_x \ge p_l^\theta p_h^\eta \ge e^{-r^2/8}(\theta p_l + \eta p_h)

(log-concavity; Hoeffding's lemma). R f(w/R) is convex in R, and pf(v/p) + (1 − p)f(0) falls with p: with q <= e^{−r²/8}
the law (u, v | x) is below a mixture of the laws of G/q with probability q, else 0, for G = (u, v | l) and
G = (u, v | h). The law of a close pair is (0, −d | −a); for d in a cell, too, p_{−d} is at least q times a mean of its
values at the ends, which take its place: f is convex and rises.

**Messages in cells.** To move the mass of a cell to the two ends of a range of G, keeping the mean, goes up. G of
(0, w | x) falls with y: the range is that of the ends. That of (p_0 − αqp_{−d})/p_x is A(1 − αqρ) with A = p_0/p_x,
which rises, and ρ = p_{−d}/p_0, which falls. Beyond the first and the last cell G is set to 0, and its positive part
counts by itself (it is at most the probability of these messages under the first input: they count like null messages).

All of this costs an amount that is quadratic in the widths of cells. Values are raised, and q lowered, by more than
their rounding and that of masses, which are doubles: by definition the law has the masses that are computed, and q is
what they are over those of p_x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import scipy
import sympy as sp
from flint import arb

from shuffle_sym.algebra import balls, integrals, zeros
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.laws_in_cells import Array, LawsInCells, Raised
from shuffle_sym.model.noise import LogConcave, u

_BITS = 128
_WIDEST, _FARTHEST = 0.25, 37.0  # of the parts of a cell, and from the middle of normal noise
_ROOM = 1e-11  # by which values are raised, relative to A + αB: more than their rounding
_SURE = 1e-9  # by which a condition has to hold beyond its rounding
_OTHERS = np.array([0.0, 0.04, 0.14, 0.4, 0.6, 0.86, 0.96, 1.0])  # inputs over w: only 0 and w have a large variance
_CLOSE, _OTHERS_OF_CLOSE = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.8, 0.94, 1.0])
_FEW = 1 / 3  # of the distances of two inputs: those of close pairs, if the bound is to be of use
_FINE = 20
_DISTANCES = 1.3 ** -np.arange(48.0, -1.0 / _FINE, -1.0 / _FINE)  # over w; conditions are checked between these
# Those that are used: small ones have so small a variance that few are enough
_USED = _FINE * np.concatenate([np.arange(0, 42, 3), np.arange(42, 49)])
_MESSAGES, _MESSAGES_PER_WIDTH = 44, 52  # cells: at least, and for each unit of the range of inputs
_PLACES = 601  # where densities are looked at
_SPREAD_OUT = 0.03  # of the cells
_STEP = 1e-3  # between tails of close pairs
_TILT, _LARGEST_TILT, _TYPICAL_RATE = 8.0, 14.0, 0.1  # exponents λG, and λ times the variance of G, for choosing cells


_NODES, _WEIGHTS = np.array(integrals.rule(16, _BITS), dtype=float).T


@dataclass(frozen=True)
class Shape:
    """Symmetric log-concave noise of scale 1, without a bend.

    ``widest`` is the largest w, ``log`` is log g up to a constant, ``below`` the distribution function and ``place``
    about its inverse; ``masses(y, x)`` are the probabilities of the intervals between messages y, in order, for the
    input x. ``far(u, v, w)`` is not above the α up to which pairs of inputs at any distance between u and v are not
    close; ``meeting(α, w)`` is where p_0 = αp_w.
    """

    widest: float
    log: Callable[[Array], Array]
    below: Callable[[arb], arb]
    place: Callable[[float], float]
    masses: Callable[[Array, float], Array]
    far: Callable[[Array, Array, float], Array]
    meeting: Callable[[arb, arb], arb]


def _masses_normal(y: Array, x: float) -> Array:
    r"""By 16 nodes of Gauss and Legendre in each part of an interval.

    The error is at most (64/15) h M r^{−32}/(1 − r^{−2}) (see `integrals`). With r = 6, half width h <= 1/8 and middle
    c, the ellipse has half axes below 0.386, so that M <= g(|c| − 0.386) e^{0.075}, and the mass is at least
    2h g(|c| + 1/8): relative to it, for |c| <= 37, the error is below e^{20} 6^{−32} < 1e-16. An exponent is off by a
    few u times z² and |z| times the size of the inputs that were taken off: less than 1e-12 for inputs up to 2.
    """
    if (farthest := float(np.abs(y - x).max())) > _FARTHEST:
        raise balls.RangeError(f"messages must be at most {_FARTHEST:g} deviations from an input, got {farthest:g}")
    widths = np.diff(y)
    parts = math.ceil(float(widths.max()) / _WIDEST)
    shares = ((np.arange(parts)[:, None] + (_NODES + 1) / 2) / parts).ravel()
    places = (y[:-1] - x)[:, None] + widths[:, None] * shares
    weights = np.tile(_WEIGHTS, parts) / (2 * parts * math.sqrt(2 * math.pi))
    return np.asarray(widths * (np.exp(-places * places / 2) @ weights))


def _masses_logistic(y: Array, x: float) -> Array:
    """e^a (e^{b−a} − 1)/((1 + e^a)(1 + e^b)), and right of the input that of the mirror image."""
    widths, near = np.diff(y), np.minimum(y[:-1] - x, x - y[1:])
    return np.asarray(np.exp(near) * np.expm1(widths) / ((1 + np.exp(near)) * (1 + np.exp(near + widths))))


def _far_normal(u: Array, v: Array, w: float) -> Array:
    return np.exp(-v * v / 2) / (1 - u / w)


def _far_logistic(u: Array, v: Array, w: float) -> Array:
    critical: Array = math.sinh(w / 2) / (np.sinh((w - u) / 2) * np.cosh(v / 2) ** 3)
    return critical


def _meeting_logistic(alpha: arb, w: arb) -> arb:
    root = alpha.sqrt()
    return (((w / 2).exp() - root) / (root - (-w / 2).exp())).log()


NORMAL = Shape(
    2.0,
    lambda z: -z * z / 2,
    lambda z: (-z / arb(2).sqrt()).erfc() / 2,
    lambda p: float(scipy.special.ndtri(p)),
    _masses_normal,
    _far_normal,
    lambda alpha, w: w / 2 - alpha.log() / w,
)
LOGISTIC = Shape(
    3.0,
    lambda z: -np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z))),
    lambda z: 1 / (1 + (-z).exp()),
    lambda p: math.log(p),
    _masses_logistic,
    _far_logistic,
    _meeting_logistic,
)


class SmoothLaws:
    """The laws above for one shape and one w, of users who take part with probability q: exact numbers.

    Who stays away sends a message that is as likely for all inputs: G = 1 − α with probability 1 − q.
    """

    def __init__(self, shape: Shape, w: sp.Expr, q: sp.Expr = sp.S.One) -> None:
        if not w <= shape.widest:
            raise VerificationError(f"inputs must be at most {shape.widest:g} scales of the noise apart here, got {w}")
        self.shape = shape
        with balls.LOCK, balls.workprec(_BITS):
            self._w, self._q = balls.value(w), balls.value(q)
        self.w = float(self._w)
        self._rows: dict[tuple[float, float], LawsInCells] = {}
        distances = self.w * _DISTANCES
        critical = np.append(shape.far(distances[:-1], distances[1:], self.w), math.inf)
        self._distances, self._critical = distances[_USED], np.minimum.accumulate(critical[::-1])[::-1][_USED]

    def local(self, ratio: Ratio) -> float:
        """An upper end of the largest divergence of one user, that of the inputs 0 and w; 0 where α is not seen to be
        below the largest ratio, and no bound is needed."""
        with balls.LOCK, balls.workprec(_BITS):
            place = self.shape.meeting(ratio.from_one().ball, self._w)
            if not place.is_finite():
                return 0.0
            gap = self.shape.below(place) - ratio.ball * self.shape.below(place - self._w)
            return min(max(balls.upper(self._q * gap), 0.0), 1.0)

    def close(self, alpha: float) -> float:
        """A distance d* for one α: inputs that are farther apart are not close."""
        return float(self._distances[int(np.argmax(self._critical >= alpha * (1 + _SURE)))])

    @property
    def last(self) -> float:
        """The last α at which few pairs of inputs are close."""
        return max(float(self._critical[self._distances <= _FEW * self.w].max()) / (1 + 2 * _SURE), 1.0)

    def at(self, alpha: float, tail: float) -> tuple[list[Raised], list[float]]:
        """Values and probabilities of all laws at one α from 1 on, and for each law what counts by itself, if about
        ``tail`` of the messages is cut off."""
        laws: list[Raised] = []
        lost: list[float] = []
        # Close pairs are many, so that few of their tails are ever tried.
        rare = _STEP ** math.ceil(math.log(tail, _STEP) - 1e-9)
        for key in ((tail, 0.0), (rare, self.close(alpha))):
            if key not in self._rows:
                with balls.LOCK, balls.workprec(_BITS):
                    self._rows[key] = self._of_close_pairs(*key) if key[1] else self._of_ends(tail)
            rows = self._rows[key]
            laws += rows.at(alpha)
            lost += [rows.lost] * len(rows.rest)
        return laws, lost

    def _of_ends(self, tail: float) -> LawsInCells:
        """Laws that are above all (0, w | x): one for each node x."""
        far, made = -self.shape.place(tail), []
        for other, width in _with_widths(_OTHERS):
            cells = _Cells(self.shape, (0.0, self.w, self.w * other), self.w * width)
            y = cells.chosen(-far, self.w + far, tail, self._count)
            a, b = cells.ratios(y)
            upper, lower = (a[:-1], b[:-1]), (a[1:], b[1:])  # G falls
            made.append(cells.row(y, (upper, upper), (lower, lower), self._q, self._masses(y)))
        return _stacked(made, balls.upper(self._q * self.shape.below(arb(-far))))

    def _of_close_pairs(self, tail: float, distance: float) -> LawsInCells:
        """Laws that are above all (a, a − d | 0), 0 <= d <= the distance: one for each pair of nodes a and d."""
        far, made = -self.shape.place(tail), []
        farthest = 0.0, -distance, -self.w
        # The same messages for all of them, so that few masses are needed
        y = _Cells(self.shape, farthest, 0.0).chosen(-self.w - far, far, tail, self._count)
        masses = self._masses(y)
        for d, gap in _with_widths(_CLOSE):
            for other, width in _with_widths(_OTHERS_OF_CLOSE):
                inputs = 0.0, -distance * d, -self.w * other
                cells = _Cells(self.shape, inputs, self.w * width, distance * gap)
                a, b = cells.ratios(y)
                # A(1 − αρ), where A rises and ρ falls
                rho, least = b / a, cells.least(y, 1)
                upper, lower = (((a[:-1], r * a[:-1]), (a[1:], r * a[1:])) for r in (least * rho[1:], least * rho[:-1]))
                made.append(cells.row(y, upper, lower, self._q, masses))
        # Beyond the last cell and before the first one, p_0
        lost = self.shape.below(arb(-far)) + self.shape.below(arb(-far) - self._w)
        return _stacked(made, balls.upper(self._q * lost))

    @property
    def _count(self) -> int:
        """The number of cells of messages: ratios of little noise are large."""
        return max(_MESSAGES, round(_MESSAGES_PER_WIDTH * self.w) if self.shape is NORMAL else 0)

    def _masses(self, y: Array) -> Callable[[float], Array]:
        """The probabilities of the cells between messages y, for any input."""
        return cache(partial(self.shape.masses, y))


def _with_widths(nodes: Array) -> list[tuple[float, float]]:
    """Each node with the width of the wider cell next to it."""
    steps = np.diff(nodes)
    widths = np.maximum(np.append(steps, 0.0), np.append(0.0, steps))
    return list(zip(nodes.tolist(), widths.tolist(), strict=True))


_Ends = tuple[tuple[Array, Array], tuple[Array, Array]]
_Row = tuple[Array, Array, Array, Array, Array]


@dataclass(frozen=True)
class _Cells:
    """Cells of messages for a law above (u, v | x), for inputs u, v, x = ``inputs``; ``width`` is that of the cells of
    inputs around x, ``gap`` that of those around v."""

    shape: Shape
    inputs: tuple[float, float, float]
    width: float
    gap: float = 0.0

    def _logs(self, y: Array) -> list[Array]:
        return [self.shape.log(y - place) for place in self.inputs]

    def ratios(self, y: Array) -> tuple[Array, Array]:
        """A = p_u/p_x and B = p_v/p_x at messages."""
        of_u, of_v, of_x = self._logs(y)
        return np.exp(of_u - of_x), np.exp(of_v - of_x)

    def chosen(self, low: float, high: float, tail: float, count: int) -> Array:
        """The ends of so many cells between two places: widths ∝ (p_x G'² e^{λG})^{-1/3} lose least, and any are right.
        Large G matter more where little is cut off."""
        y = np.linspace(low, high, _PLACES)
        density, (a, b) = np.exp(self._logs(y)[2]), self.ratios(y)
        slopes = np.abs(np.gradient(a, y)) + np.abs(np.gradient(b, y))
        variance = (density * (a - b) ** 2).sum() / density.sum()
        rate = _TYPICAL_RATE / max(float(variance), 1e-9)
        largest = min(max(_TILT, -math.log10(tail)), _LARGEST_TILT)
        wanted = np.cbrt(density * slopes**2 * np.exp(np.clip(rate * (a - b), -_TILT, largest)))
        shares = np.concatenate([[0.0], np.cumsum(wanted[1:] + wanted[:-1])])
        even = np.linspace(0.0, 1.0, _PLACES)
        shares = even if shares[-1] == 0 else (1 - _SPREAD_OUT) * shares / shares[-1] + _SPREAD_OUT * even
        return np.interp(np.linspace(0.0, 1.0, count + 1), shares, y)

    def least(self, y: Array, which: int) -> Array:
        """For each cell, what the density of every input next to v (``which`` = 1) or x (2) is at least, over a mean of
        those at the nodes on both sides."""
        place, step = self.inputs[which], (0.0, self.gap, self.width)[which]
        logs = [self.shape.log(y - place - shift) - self.shape.log(y - place) for shift in (-step, step)]
        r = np.abs(logs).max(axis=0)
        r = np.maximum(r[1:], r[:-1])
        return np.asarray(np.exp(-r * r / 8) * (1 - _ROOM))

    def row(self, y: Array, upper: _Ends, lower: _Ends, q: arb, of_input: Callable[[float], Array]) -> _Row:
        """One row of `LawsInCells`, with these ends of the range of G in each cell, and the masses of the cells."""
        of_u, of_v, of_x = map(of_input, self.inputs)
        weights, share = self.least(y, 2), float(q)
        mass, of_u, of_v = share * weights * of_x, share * of_u, share * self.least(y, 1) * of_v
        # Who stays away is one more cell.
        means = np.append(np.array([of_u, of_v]) / mass, np.ones((2, 1)), axis=1)
        a, b = (np.array([[pair[i] for pair in end] for end in (upper, lower)]) / weights for i in (0, 1))
        a, b = (np.append(ends, np.ones((2, 2, 1)), axis=2) for ends in (a, b))
        rest = math.fsum([share, float(q - share), *(-mass)])
        return a, b, means, np.append(mass, float(1 - q)), np.array([rest])


def _stacked(rows: list[_Row], lost: float) -> LawsInCells:
    a, b, means, mass, rest = (np.array(column) for column in zip(*rows, strict=True))
    return LawsInCells(np.moveaxis(a, 0, 2), np.moveaxis(b, 0, 2), np.moveaxis(means, 0, 1), mass, rest, _ROOM, lost)


@cached_by_value
def laws_of(R: Continuous, q: sp.Expr = sp.S.One) -> SmoothLaws | None:
    """The laws above if R is Gaussian or logistic noise that is not too small; else None."""
    if not isinstance(R, AddedNoise) or R.clip is not None:
        return None
    bend = sp.diff(R.added.logs[0], u, 2)
    if len(R.added.logs) == 1 and not bend.free_symbols and bend < 0:
        shape, w = NORMAL, R.width * sp.sqrt(-bend)
    elif R.eps0 is not sp.oo and _is_logistic(R.added, R.eps0 / R.width):
        shape, w = LOGISTIC, R.eps0
    else:
        return None
    return SmoothLaws(shape, w, q) if w <= shape.widest else None


def _is_logistic(added: LogConcave, rate: sp.Expr) -> bool:
    """Whether algebra proves that this is logistic noise, however it is written."""
    logistic = rate * sp.exp(-rate * u) / (1 + sp.exp(-rate * u)) ** 2
    return all(zeros.vanishes((piece.formula - logistic).rewrite(sp.exp)) for piece in added.pieces)
