r"""A bound over all pairs of inputs for densities whose ratios are monotone in y.

Let p_x/p_x' not increase in y for x < x', and let c = min(p_0, p_1) be the blanket, that of the two end inputs, which
are equal at y*. Then, for `comonotone`,

.. math:: \Psi(k) = \sup_x\,(A_k(x) + B_k(x)), \quad A_k(x) = \int_{y < y^*} [p_x - k p_1]_+, \quad
          B_k(x) = \int_{y > y^*} [p_x - k p_0]_+ .

The set of all y with p_x > kp_1 is a half line, so :math:`A_k(x) = \sup_{v \le y^*} (P_x(v) - k P_1(v))`, where the
distribution functions P_x do not increase in x: A does not increase in x, and B does not decrease. Between two
neighbours x < x' of a grid the sum is at most A_k(x) + B_k(x'). In k, A_k(x) is convex, and where k is the ratio at a
place v of a grid of messages it is P_x(v) − kP_1(v).
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from shuffle_sym.model import comonotone
from shuffle_sym.model.decomposition import Decomposition

Array = npt.NDArray[np.float64]

_LEVELS = 240
_ROUNDING = 1e-14  # a few hundred units in the last place
_SLACK = 1e-12


class Half:
    """A_k(x) for a grid of inputs, a row each, the last one that of p_1.

    ``masses`` and ``densities`` are P_x and p_x at places from y* down; ``largest`` is the largest ratio of each input,
    None if it is not known.
    """

    def __init__(self, masses: Array, densities: Array, largest: Array | None) -> None:
        self.ratios = densities / densities[-1]
        products = self.ratios * masses[-1]
        self.values = np.maximum(masses - products, 0.0) + _ROUNDING * (masses + products)
        self.nearest = masses[:, 0], masses[-1, 0]
        self.bounded = largest is not None
        if largest is not None:
            self.ratios = np.hstack([self.ratios, largest[:, None] * (1 + _ROUNDING)])
            self.values = np.hstack([self.values, np.zeros((len(largest), 1))])
        self.most = float(self.ratios.max())

    def at(self, levels: Array) -> Array:
        """Upper bounds of A_k(x), a row for each input."""
        rows = []
        own, last = self.nearest
        for i, (ratios, values) in enumerate(zip(self.ratios, self.values, strict=True)):
            # Below its chords. Beyond the last knot it does not grow.
            row = np.interp(levels, np.maximum.accumulate(ratios), values)
            row = np.where(levels < ratios[0], (own[i] - levels * last) + _ROUNDING * (own[i] + levels * last), row)
            rows.append(np.where(levels >= ratios.max(), 0.0, row) if self.bounded else row)
        return np.array(rows)


def combined(left: Half, right: Half, gamma: float, top: float | None, slack: float, title: str) -> Decomposition:
    """The finite pair of laws above all pairs of inputs, from A and, mirrored, from B; ``top`` is not below the largest
    ratio, None if there is none, and ``slack`` is what ratios may be off by."""
    levels = np.geomspace(1.0, top or max(left.most, right.most), _LEVELS)[1:]
    # Row i of A is for the input i, of B for the one that is i from the other end.
    sums = left.at(levels)[:-1] + right.at(levels)[::-1][1:]
    bounds = sums.max(axis=0) * (1 + _SLACK)
    if top is not None:
        bounds[-1] = 0.0
    factor = 1 + Fraction(slack)
    points = [(Fraction(float(k)) * factor, Fraction(float(v))) for k, v in zip(levels, bounds, strict=True)]
    return comonotone.from_transform(points, Fraction(gamma), title)
