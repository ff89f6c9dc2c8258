r"""Algorithm 4 of Su et al. 2025, as printed: round every value of G *up* to the lattice, one plain FFT.

Kept for comparison. Its value is the upper end; the lower end (and the round-off in both) is ours: rounding up
adds at most one spacing to each of the n terms, so :math:`\mathbb E[S]_+ \ge \mathbb E[\tilde S - nl]_+`.
"""

import math
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import Interval, outward
from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric.convolution import Array, self_convolution, transform_by_fft

MAX_POINTS = 2**27


def algorithm4(D: Decomposition, n: Any, eps: Any) -> Interval:
    r"""δ at ``eps`` >= 0 of ``n`` users analysed by the decomposition ``D``, by Algorithm 4 as printed.

    The spacing is that of Su et al. 2025, Section 8, and the width of the interval is what follows from it. For a
    randomizer take ``decomposition.blanket(R)``.

    >>> import shuffle_sym as ss
    >>> D = ss.decomposition.blanket(ss.BinaryRR(eps0=sp.log(3)))
    >>> ss.Shuffle(D, 9).exact(2) in algorithm4(D, 9, sp.log(2))
    True
    """
    if not isinstance(D, Decomposition):
        raise TypeError(f"D must be a decomposition, such as decomposition.blanket(R), got {D!r}")
    arguments.numeric_only(D.free_symbols, "a numerical answer")
    users, ratio = arguments.users(n), Ratio(eps=arguments.central_epsilon(eps))
    if D.has_no_loss_above(ratio):
        return Interval(0.0, 0.0)
    eps0 = sp.Max(D.max_loss, D.reversed().max_loss)
    if eps0 is sp.oo:
        raise ValueError("Algorithm 4 needs a finite eps0, and the loss of this decomposition is not bounded")
    law = D.gparv.floats_at([ratio])
    part = _positive_part(law.values[0], law.probabilities, users, spacing(float(eps0)))
    null, slack = math.fsum(law.null[0]), 4 * FLOAT_ERROR
    return outward(part.lower + null * (1 - slack), part.upper + null * (1 + slack), "Algorithm 4")


def spacing(eps0: float) -> float:
    """The spacing of their Section 8: (e^ε0 − 1)/1200 at ε0 = 0.1 and (e^ε0 − 1)/1000 at ε0 = 4; between the two
    nothing is printed, and we change over at ε0 = 1."""
    return math.expm1(eps0) / (1200 if eps0 < 1 else 1000)


def _positive_part(values: Array, probabilities: Array, n: int, step: float) -> Interval:
    r"""Bounds of :math:`\frac1n\mathbb E[S]_+`; the spacing is the only knob."""
    # Rounded up from above the true value, so that round-off cannot turn "up" into "down".
    rounded = np.ceil((values + 2 * FLOAT_ERROR * np.abs(values)) / step)
    lowest, highest = int(rounded.min()), int(rounded.max())
    span = n * (highest - lowest) + 1
    if span > MAX_POINTS:
        raise ValueError(
            f"Algorithm 4 needs {span} lattice points at n = {n}, more than {MAX_POINTS}; "
            "Shuffle(D, n).delta(eps) has no such limit"
        )
    from scipy.fft import next_fast_len  # 0.2 s to import, and only this comparison needs it

    places = rounded.astype(np.int64)
    size = next_fast_len(span, real=True)
    while size % 2:
        size = next_fast_len(size + 1, real=True)
    chunks, eta = transform_by_fft(places - lowest, probabilities, size)
    law, error = self_convolution(chunks, eta, n, size)
    x = (np.arange(span) + n * lowest) * step
    ends = []
    for moved in (x - n * step * (1 + 4 * FLOAT_ERROR), x):
        first = int(np.searchsorted(moved, 0.0))
        positive, inside = moved[first:], law[first:span]
        total = float(inside @ positive)
        slack = error * float(np.linalg.norm(positive))
        slack += (len(positive) + 4) * UNIT_ROUNDOFF * float(np.abs(inside) @ positive)
        ends.append((total, slack))
    factor = math.exp(4 * n * FLOAT_ERROR)  # relative errors of the probabilities, to the n-th power
    (low, low_slack), (high, high_slack) = ends
    return Interval(max(0.0, (low - low_slack) / factor / n), (high + high_slack) * factor / n)
