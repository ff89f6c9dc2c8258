r"""Two normal laws, N(0, 1) and N(μ, 1): the curve that a Gaussian mechanism has, enclosed (Balle and Wang 2018)."""

from __future__ import annotations

from flint import arb, fmpq

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.rationals import rational

_BITS = 120


def divergence(alpha: fmpq, mu: float) -> tuple[fmpq, fmpq]:
    r"""Bounds of :math:`D_\alpha = \Phi(\mu/2 - \varepsilon/\mu) - \alpha\,\Phi(-\mu/2 - \varepsilon/\mu)`, ε = log α.

    >>> low, high = divergence(fmpq(1), 1.0)  # 2Φ(1/2) − 1
    >>> float(low) <= 0.3829249225480262 <= float(high) < 0.38292492254803
    True
    """
    with balls.precision(_BITS):
        ratio, shift, root = arb(alpha), arb(mu), arb(2).sqrt()
        middle = ratio.log() / shift
        value = ((middle - shift / 2) / root).erfc() / 2 - ratio * ((middle + shift / 2) / root).erfc() / 2
        return rational(max(balls.lower(value), 0.0)), rational(min(balls.upper(value), 1.0))
