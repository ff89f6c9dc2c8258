r"""Certified :math:`\frac1n \mathbb E[G_1 + \dots + G_n]_+` for a continuous G: a contour integral without smoothing.

φ(s) − 1 is the sum over the nodes of `model.panels`, a law with finitely many values, and what the sum is off by:

==================  ============================================================================================
panels              the ellipses: see `model.panels`. With s = x + iy, |e^{sG}| there is at most
                    exp(x max Re G + |y| max |Im G|)
values              G = A − αB in doubles is off by at most 4 FLOAT_ERROR (A + αB), e^{sG} by |s| times that
truncation          the tilted law of G contains uniform laws of length L with probability q (where its density is
                    at least q/L), so that :math:`|\varphi(x + iy)/\varphi(x)| \le 1 - \sum q\,(1 - e(yL/2))`, with
                    e(z) the largest |sin z'/z'| for z' >= z; it falls in y
==================  ============================================================================================

Beyond the last panel lie the masses a of μ_0 and b of μ_1, and their mirror image. Let D₀ be the value with G = 0
there. Then :math:`D \le D_0 + a`, because [·]_+ is subadditive and the mirror image has G < 0. If no term lies beyond,
the sum is what it is for D₀; the other outcomes contribute to D₀ at most :math:`2nb` times
:math:`\frac1n\mathbb E[S_{n-1}]_+ \le D_0 + (\alpha - 1)/n` (Jensen). If exactly one term lies beyond, on the side of
G > 0, the rest has the mean :math:`-(n-1)m, m = (\alpha-1)(1-a-b)/(1-2b)` (Jensen again). So

.. math:: D \ge D_0 (1 - 2nb) - 2b(\alpha - 1)
          + (1 - 2b)^{n-1} \bigl[a - \alpha b - (n - 1)\,m\,b\bigr]_+ .

The upper end is nearly that as well. With one term g beyond, [S]_+ exceeds its part of D₀ by g + S' − [S']_+ + [S]_-,
where S' = S − g is the rest, or by [S]_+ − [S']_+ for the mirror image; with two or more by their positive g at most:

.. math:: D \le D_0 - 2b\,\mathbb E\bigl[[S']_+; \text{no other beyond}\bigr] + (1 - 2b)^{n-1}(a - \alpha b - (n-1)mb)
          + b\,\ell + 2(n-1)ab,

where ℓ is at least what [S]_- and, for the mirror image, [S]_+ have left (Chernoff), and the expectation is at least
:math:`(n-1)D_0 - 2(n-1)b\,(nD_0 + 2(\alpha-1))` (Jensen, and one more term beyond).
"""

import math

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.panels import Panels, Tail
from shuffle_sym.numeric.contour import exponential, log_ends
from shuffle_sym.numeric.rules import Rule
from shuffle_sym.numeric.transforms import SMALLEST, AllSums, Array, Complex, Mask, Sums

Places = npt.NDArray[np.int64]

_LAYERS = 4  # uniform laws in each half
_REACHES = np.geomspace(0.5, 1e4, 160)  # of the last node, over the standard deviation of S
_LARGEST_EXPONENT = 600.0
_MOST_AT_ONCE = 2**13  # α times nodes in one array
_FALLS = np.geomspace(0.125, 8.0, 13)  # rates of Chernoff's bound, over c
_FEW_USERS = 40
_ROUGH = 0.05  # an error of φ from which on nothing is told


def positive_parts(panels: Panels, alphas: Array, n: int, rtol: float) -> list[Interval | ValueError]:
    """Bounds for each α >= 1, given as a double with a relative error of FLOAT_ERROR; n >= 2. A refusal is returned."""
    rows = max(_MOST_AT_ONCE // (2 * len(panels.ratios) + 1), 1)
    parts = [_positive_parts(panels, alphas[i : i + rows], n, rtol) for i in range(0, len(alphas), rows)]
    return [answer for part in parts for answer in part]


def _positive_parts(panels: Panels, alphas: Array, n: int, rtol: float) -> list[Interval | ValueError]:
    """In the same arrays; if that is refused, either half by itself, to see which α is the reason."""
    answers: dict[int, Interval | ValueError] = {}
    try:
        law = SmoothSums(panels, alphas, n)
        sharp = np.flatnonzero(law.sharp(rtol / 8))
        logs = []
        if len(sharp):
            logs = log_ends(law.take(sharp), rtol / 2, math.log(SMALLEST), np.ones(len(sharp)), Unsmoothed)
    except ValueError as refused:
        if len(alphas) == 1:
            return [refused]
        half = len(alphas) // 2
        return [answer for part in (alphas[:half], alphas[half:]) for answer in _positive_parts(panels, part, n, rtol)]
    for i, (low, high) in zip(sharp.tolist(), logs, strict=True):
        part, alpha = exponential(low, high), float(alphas[i])
        answers[i] = answer = _with_tails(part, panels.tail, alpha, n, math.inf)
        if panels.tail.most_0 and answer.upper - answer.lower > rtol * answer.upper:
            (left,) = law.take([i]).left_of_one(panels.tail.edge).tolist()
            answers[i] = _with_tails(part, panels.tail, alpha, n, left)
    return [answers.get(i, ValueError("the panels are too wide for these values")) for i in range(len(alphas))]


def estimates(panels: Panels, alphas: Array, n: int) -> Array:
    """About what the values without the tails are, by the saddle point approximation, at a small part of the cost of
    bounds; 0 where there is none. No bound."""
    about = np.zeros(len(alphas))
    inside = np.flatnonzero(panels.ratios.max() > alphas)
    if len(inside):
        try:
            law = SmoothSums(panels, alphas[inside], n)
        except ValueError:  # nearly all messages, or none, are alike
            return about
        values = np.exp(law.log_scale) / (n * law.c * np.sqrt(2 * math.pi * (law.variance * law.c**2 + 2)))
        about[inside] = np.where(law.sharp(math.inf), values, 0.0)
    return about


def _with_tails(part: Interval, tail: Tail, alpha: float, n: int, left: float) -> Interval:
    if not tail.most_0:
        return part
    (least_a, most_a, least_b, most_b, _), u = tail, UNIT_ROUNDOFF
    most_rest = (alpha - 1) * (1 + 8 * u) + 4 * u
    least_rest = max((alpha - 1) * (1 - 8 * u) - 4 * u, 0.0)
    rarely, often = (math.exp((n - 1) * math.log1p(-2 * b)) for b in (most_b, least_b))
    alone = least_a - alpha * (1 + 8 * u) * most_b - (n - 1) * most_rest * most_b / (1 - 2 * most_b)
    lower = part.lower * (1 - 2 * n * most_b) - 2 * most_b * most_rest + rarely * max(alone, 0.0) * (1 - 1e-12)
    lower -= 16 * u * (part.lower + most_a)
    alone = most_a - alpha * (1 - 8 * u) * least_b - (n - 1) * least_rest * least_b * (1 - most_a - most_b)
    gone = (n - 1) * (part.lower - 2 * most_b * (n * part.upper + 2 * most_rest))
    sharp = part.upper - 2 * least_b * max(gone, 0.0) + max(often * alone, rarely * alone)
    sharp += (
        2 * (n - 1) * most_a * most_b
        + most_b * min(left, 1e300)
        + 1e-12 * (most_a + most_b * (alpha + n * (part.upper + most_rest)))
    )
    upper = min(sharp + 16 * u * (part.upper + most_a), (part.upper + most_a) * (1 + 4 * u))
    return Interval(min(max(lower, 0.0), 1.0), min(upper, 1.0))


def tails(panels: Panels, alpha: float, n: int, value: float, rtol: float) -> float:
    """About how much of μ_1 may lie beyond the panels where the value is this: most of ``rtol`` for what is said of it
    in the table above. No bound."""
    rest, room = alpha - 1, rtol * value / 3
    simple = room / (2 * n * value + (n + 3) * rest + alpha)
    order = np.argsort(panels.ratios)
    A, W = panels.ratios[order], panels.masses[order]
    a, b = (end + np.cumsum(w[::-1])[::-1] for end, w in ((panels.tail.most_0, A * W), (panels.tail.most_1, W)))
    variance = n * np.cumsum(W * ((A - alpha) ** 2 + (1 - alpha * A) ** 2))
    away = A - alpha - (n - 1) * rest
    left = np.exp(-np.minimum(away * away / (2 * variance), 700.0)) * variance / np.maximum(away, 1e-9)
    enough = (away > 0) & (b * (left + 2 * (rest + value)) + 2 * n * a * b <= room)
    return max(simple, float(b[enough].max(initial=0.0)))


class SmoothSums(AllSums):
    """The sum of n copies of G, from the nodes of panels."""

    uneven = True

    def __init__(self, panels: Panels, alphas: Array, n: int) -> None:
        A, W, alpha = panels.ratios, panels.masses, np.asarray(alphas, dtype=float)[:, None]
        self.panels, self.alpha = panels, alpha
        self.patience = 8 if n <= _FEW_USERS else 1  # no other law of few terms has as few values
        nothing = np.zeros_like(alpha)
        values = np.concatenate([A - alpha, 1 - alpha * A, nothing], axis=1)
        gamma = 2 * math.fsum(W)
        if not 0 < gamma < 1 or values.max(axis=1).min() <= 0:
            raise ValueError("the law has no value of both signs, or no mass that is left")
        # The rest is 1 minus a sum: its relative error is larger.
        error = 4 * FLOAT_ERROR / (1 - gamma)
        super().__init__(values, np.concatenate([W, W, [1 - gamma]]), n, 0.0, error)
        x = self.c
        sizes = np.concatenate([A + alpha, 1 + alpha * A, nothing], axis=1)
        self.moving = 4 * FLOAT_ERROR * (self.one.q * sizes).sum(axis=1)  # over |s|
        self.at_c = self._quadrature(x[:, None], np.zeros((1, 1)))[:, 0] + self.moving * x
        self.log_slack = self.log_slack + 1.1 * n * self.at_c
        # Both the panels and the sum of their masses are off by a little of what has no mass in them.
        off = 2.1 * panels.caps.min(axis=1).sum() / (1 - gamma) + error
        self.leave_out_zero(np.full(len(x), 1 - gamma), off + 1.1 * self.at_c)

    def sharp(self, slack: float) -> Mask:
        """For which α the panels are not too wide: log φ(c)^n is known to within ``slack``, or the value is tiny."""
        tiny = self.log_scale + self.log_slack - math.log(self.n) - np.log(self.c) < math.log(SMALLEST)
        known: Mask = (self.at_c <= _ROUGH) & ((self.log_slack <= slack) | tiny)
        return known

    def _quadrature(self, x: Array, y: Array) -> Array:
        """The error of φ(x + iy) by the panels, over φ(c); all x have the same sign."""
        panels, alpha = self.panels, self.alpha[:, :, None, None]
        x, y = np.broadcast_arrays(x, y)
        x, y = x[..., None, None], y[..., None, None]
        least, most = (panels.lows, panels.tops) if x.max() > 0 else (panels.tops, panels.lows)
        front = x * (most - alpha) + y * panels.sides
        back = x * (1 - alpha * least) + y * (alpha * panels.sides)
        sizes = sum(np.exp(np.minimum(e, _LARGEST_EXPONENT)) + 1 for e in (front, back))
        bounds = np.where(np.maximum(front, back) < _LARGEST_EXPONENT, panels.caps * sizes, np.inf).min(axis=-1)
        total: Array = 1.001 * bounds.sum(axis=-1) * np.exp(-self.one.log_phi)[:, None]
        return total

    def off(self, y: Array) -> Array:
        more = self._quadrature(self.c[:, None], y) + self.moving[:, None] * (self.c[:, None] + y)
        # Both φ(c + iy) and φ(c) are off.
        bound: Array = np.minimum(super().off(y) + 1.1 * (more + self.at_c[:, None]), 2.0)
        return bound

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        with np.errstate(over="ignore"):
            powers, errors = super().powers(step, nodes)
        # The transforms of both laws are at most 1.
        return powers, np.minimum(errors, 2.0)

    def quiet(self, step: Array, nodes: Array, log_level: float) -> Mask:
        return Sums.quiet(self, step, nodes, log_level)

    def log_growths(self, d: Array) -> Array:
        logs, errors = self.one.log_growths(d)
        s = self.c[:, None] + d
        off = self._quadrature(s, np.zeros((1, 1))) * np.exp(np.minimum(-logs, _LARGEST_EXPONENT))
        off += 4 * FLOAT_ERROR * np.abs(s) * (np.abs(self.one.g).max(axis=1, keepdims=True) + 2 * self.alpha)
        bounds = self.n * (logs + errors + 1.1 * (off + self.at_c[:, None]))
        return np.asarray(np.where((off < _ROUGH) & (-logs < _LARGEST_EXPONENT), bounds, np.inf))

    def left_of_one(self, edge: float) -> Array:
        r"""At least :math:`\mathbb E[S' + g]_- + \mathbb E[S' - g']_+` for the sum S' of n − 1 terms that are no zeros,
        times the probability of that, and ratios ``edge`` or more: g = edge − α, g' = α edge − 1."""
        c, alpha = self.c[:, None], self.alpha
        s = c * _FALLS
        scale = (self.log_scale + self.log_slack)[:, None]
        # E e^{−sG} >= 1 and E e^{cG} >= e^{−c(α − 1)}, because E G >= 1 − α: one factor less is no more than that.
        front = [scale, self.log_growths(-s - c), -s * (edge - alpha), -np.log(s)]
        back = [scale, c * (alpha - alpha * edge), -np.log(c)]
        total = np.full(len(self.c), 1e-300)
        for terms in (front, back):
            logs: Array = sum(terms) - 1 + 8 * FLOAT_ERROR * sum(np.abs(term) for term in terms)
            least = logs.min(axis=1)
            total += np.where(least < _LARGEST_EXPONENT, np.exp(np.minimum(least, _LARGEST_EXPONENT)), np.inf)
        return total

    def log_modulus(self, y: Array) -> Array:
        """Upper bounds of log |φ(c + iy)/φ(c)| that fall in y."""
        mass, length, gaps = (part[:, :, None] for part in np.array(self._uniform_laws()).swapaxes(0, 1))
        gone: Array = np.maximum(mass * (1 - _envelope(y * length / 2)) - gaps, 0.0).sum(axis=0)
        return np.log1p(-np.minimum(gone * (1 - 1e-6), 0.999))

    def _uniform_laws(self) -> list[Array]:
        """Probability, length, and twice what is missing in the middle."""
        density, start, end = self.panels.runs
        c, alpha, log_phi = self.c[:, None], self.alpha, (self.one.log_phi + 1.1 * self.at_c)[:, None]
        front = density * np.exp(np.minimum(c * (start - alpha) - log_phi, _LARGEST_EXPONENT))
        back = density / alpha * np.exp(np.minimum(c * (1 - alpha * end) - log_phi, _LARGEST_EXPONENT))
        before = np.concatenate([[0.0], np.cumsum(end - start)])
        # Both halves at once, as rows
        rows, places, laws = len(alpha), np.arange(len(start)), []
        left, scale = np.concatenate([front, back]) * (1 - 1e-9), np.concatenate([np.ones(rows), alpha[:, 0]])
        for _ in range(_LAYERS):
            first, last, height = _largest(left, start, end)
            length, covered = scale * (end[last] - start[first]), scale * (before[last + 1] - before[first])
            both = np.array([height * length, length, 2 * height * np.abs(length - covered)])
            laws += [both[:, :rows], both[:, rows:]]
            left -= height[:, None] * ((first[:, None] <= places) & (places <= last[:, None]))
        return laws


def _largest(heights: Array, start: Array, end: Array) -> tuple[Places, Places, Array]:
    """For each row of heights the run of neighbours whose least height times the cube of its length is largest, and
    that height."""
    rows, places = np.arange(len(heights)), np.arange(len(start))
    after = places[:, None] <= places
    least = np.minimum.accumulate(np.where(after, heights[:, None, :], np.inf), axis=2)
    cubes = np.where(after, np.maximum(end - start[:, None], 0.0) ** 3, 0.0)
    worth = np.where(after, least, 0.0) * cubes
    first, last = np.divmod(worth.reshape(len(rows), -1).argmax(axis=1), len(places))
    return first, last, np.maximum(least[rows, first, last], 0.0)


def _envelope(z: Array) -> Array:
    """At least |sin z'/z'| for every z' >= z: it falls to 4.49, and the largest value beyond is below 0.2173."""
    low = np.clip(z, 1e-6, 4.0)
    near = np.where(z < 1e-6, 1.0, np.sin(low) / low)
    return np.where(z < 2.5, near, np.minimum(np.maximum(near, 0.2173), 1 / np.maximum(z, 1.0)))


class Unsmoothed(Rule):
    """The kernel 1/s² itself."""

    def __init__(self, law: Sums, target: Array, like: Rule | None = None) -> None:
        super().__init__(law, target, like)
        assert isinstance(law, SmoothSums)
        deviation, step = np.sqrt(law.variance + 1 / law.c**2)[:, None], self.step[:, None]
        lasts = _REACHES / deviation
        logs = law.n * law.log_modulus(lasts) + np.log((1 / lasts + step / lasts**2) / math.pi)
        enough = logs <= np.log(target)[:, None]
        rows, first = np.arange(len(target)), np.argmax(enough, axis=1)
        with np.errstate(divide="ignore"):  # an infinite period has infinitely many nodes
            count = np.ceil(lasts[rows, first] / self.step) + 1
        self.count = np.where(enough.any(axis=1), count, np.inf)
        self.truncation = np.exp(np.minimum(logs[rows, first], 0.0)) * (1 + 1e-6)
        self.roundings = np.full(len(target), 200 * UNIT_ROUNDOFF)
        self.total = self.step / law.c**2 + 1 / law.c

    def kernel(self, y: Array) -> tuple[Complex, Complex, Array]:
        s = self.law.c[:, None] + 1j * y
        inverse = np.asarray(1 / (s * s), dtype=complex)
        return inverse, inverse, np.abs(inverse)
