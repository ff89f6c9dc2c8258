r"""Upper bounds of the drop-out sum over equal terms, by the contour that `contour` describes.

With φ the transform of one law of G, τ² >= 0 and the weights of `places`, the sum over j of
:math:`\frac{\gamma(1-\gamma)^{j-1}}{n-j}\, \mathbb E[G_1 + \dots + G_{n-j} + \tau Z]_+` is the mean positive part under
one measure, with the transform F(φ(s)) e^{τ²s²/2}, F the geometric sums of `places`. The measure takes the place of the
law of a sum in `contour`: one integral for all j. F has positive coefficients and powers from n − J to n − 1, so that
|F(z)| <= F(|z|), F(rz) <= r^{n−J} F(z) for 0 <= r <= 1 and |F'(z)| <= (n − 1) F(|z|)/|z|.
"""

import math

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric import contour
from shuffle_sym.numeric.elementary import to_complex
from shuffle_sym.numeric.places import Places
from shuffle_sym.numeric.rules import OFF, OnLattice
from shuffle_sym.numeric.transforms import AllSums, Array, Complex, Mask

_LOG_TINY = -50.0  # powers below e^this are bounded, not computed
_RARE = 30.0  # expected positive terms below which a sum has too much mass next to 0 if nothing smooths it


class PlacedSums(AllSums):
    """The measure with the transform F(φ(s)) e^{τ²s²/2}, for one row of values."""

    def __init__(self, values: Array, probabilities: Array, places: Places, smoothing: float, error: float) -> None:
        usual = places.first + min(1 / places.gamma, (places.last - places.first) / 2)
        super().__init__(values, probabilities, max(round(places.n - usual), 2), error)
        self.n, self.places, self.smoothing = places.n - 1, places, smoothing
        logs, slack = places.logs_with_slack(self.one.log_phi)
        normal = smoothing * self.c**2 / 2
        self.log_sum = logs
        self.log_scale = logs + normal
        self.log_slack = self.n * self.one.log_error + slack + 8 * UNIT_ROUNDOFF * (np.abs(logs) + normal)
        self.variance = self.n * self.spread + smoothing
        self.total = 1.01 * self.n * (self.one.q * np.abs(values)).sum(axis=1)

    def log_growths(self, d: Array) -> Array:
        logs, errors = self.one.log_growths(d)
        known = np.isfinite(errors)
        reached = self.one.log_phi[:, None] + logs + np.where(known, errors, 0.0)
        sums = self.places.log_sums(reached.ravel()).reshape(d.shape)
        normal = self.smoothing * d * (self.c[:, None] + d / 2)
        growths = sums - self.log_sum[:, None] + self.log_slack[:, None] + normal + 16 * UNIT_ROUNDOFF * np.abs(normal)
        return np.where(known, growths, np.inf)

    def powers(self, step: Array, nodes: Array) -> tuple[Complex, Array]:
        logs, angles = self.one.log_ratios(step, nodes)
        y = step[:, None] * nodes
        eta = self.one.drift[:, None] * y
        # |F(ζ + η) − F(ζ)| <= (n − 1)η F(|ζ| + η)/(|ζ| + η); |ζ| is taken as 1/10 at least.
        shown = np.maximum(logs, math.log(0.1))
        reached = self.one.log_phi[:, None] + shown + 10 * eta
        sums = self.places.log_sums(reached.ravel()).reshape(y.shape)
        bounds = np.exp(np.minimum(sums - self.log_sum[:, None], 700.0))
        errors = bounds.copy()
        powers = np.zeros(y.shape, dtype=complex)
        large = (self.n + 1 - self.places.last) * logs[0] > _LOG_TINY
        w = to_complex(self.one.log_phi[0] + logs[0, large], angles[0, large])
        powers[0, large], lost = self.places.powers(w, float(self.log_sum[0]))
        errors[0, large] = (self.n * eta * bounds * np.exp(-shown))[0, large] + lost
        damped = np.exp(-self.smoothing / 2 * y * y)
        turn = self.smoothing * self.c[:, None] * y
        rotated = powers * damped * to_complex(np.cos(turn), np.sin(turn))
        return rotated, errors * damped + 16 * UNIT_ROUNDOFF * (1 + turn) * np.abs(rotated) + 8 * UNIT_ROUNDOFF * damped

    def quiet(self, step: Array, nodes: Array, log_level: float) -> Mask:
        few: PlacedSums = self.take(slice(None))
        few.n = self.n + 1 - self.places.last
        return AllSums.quiet(few, step, nodes, log_level)


def log_upper(values: Array, probabilities: Array, places: Places, smoothing: float, rtol: float) -> float | None:
    """The logarithm of an upper bound of the sum, about ``rtol`` above it; None where the contour is not the method.

    ``values`` have both signs and a largest one about 1, relative errors of at most FLOAT_ERROR.
    """
    possible = probabilities > 0
    values, probabilities = values[possible], probabilities[possible]
    rare = places.n * float(probabilities[values > 0].sum()) <= _RARE
    if values.min() >= 0 or (rare and not smoothing):
        return None
    spacing = 0.0
    if not smoothing:
        values, spacing = contour.on_a_lattice(values, places.n)
    # As in `transforms`: how far below −n·max a value is does not matter.
    values = np.maximum(values, -4.0 * places.n * values.max())
    try:
        law = PlacedSums(values[None], probabilities, places, smoothing, OFF if spacing else FLOAT_ERROR)
        on_lattice = (lambda law, target, like: OnLattice(law, spacing, target, like)) if spacing else None
        _, upper = contour._refined(law, on_lattice, rtol, np.array([rtol]))
    except ValueError:
        return None
    log_bound = float(np.log(upper[0]) + law.log_scale[0] + law.log_slack[0])
    return log_bound + 8 * UNIT_ROUNDOFF * (2 + abs(log_bound) + abs(float(law.log_scale[0])))
