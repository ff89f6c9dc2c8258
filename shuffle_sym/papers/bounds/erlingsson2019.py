r"""The closed form of Erlingsson et al. 2019, as Balle et al. 2019 quote it (Theorem 5.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.bounds.amplification import Amplification
from shuffle_sym.papers.bounds.moments import Moments
from shuffle_sym.papers.bounds.rounding import evaluated, number

_LEAST_N = 1000


class Erlingsson(Amplification):
    r""":math:`\varepsilon = 12\varepsilon_0\sqrt{\log(1/\delta)/n}` for ε0 < 1/2, n >= 1000 and δ < 1/100 (Balle et al.
    2019, Theorem 5.1). Outside it raises; asked for a δ that is not below 1/100, it gives 1.

    >>> round(erlingsson2019(0.4, 100_000, 1e-6), 5)
    0.05642
    """

    name = "erlingsson2019"

    def _read(self, source: Any) -> Moments:
        return Moments.of(arguments.local_epsilon(source))

    def _check(self, moments: Moments, n: int) -> None:
        if n < _LEAST_N:
            raise ValueError(f"n must be at least {_LEAST_N} for this theorem, got {n}")
        if moments.eps0 >= sp.Rational(1, 2):
            raise ValueError(f"eps0 must be below 1/2 for this theorem, got {float(moments.eps0):.4g}")

    def _value(self, moments: Moments, n: int, eps: mpmath.mpf) -> mpmath.mpf:
        delta = mpmath.exp(-n * (eps / (12 * number(moments.eps0))) ** 2)
        return delta if delta < mpmath.mpf(1) / 100 else mpmath.mpf(1)

    def __call__(self, source: Any, n: Any, delta: Any) -> float:
        moments, n, target = self._read(source), arguments.users(n), arguments.between_0_and_1(delta, "delta")
        self._check(moments, n)
        if target >= sp.Rational(1, 100):
            raise ValueError(f"delta must be below 1/100 for this theorem, got {sp.N(target, 6)}")
        return evaluated(
            lambda e, d: min(e, 12 * e * mpmath.sqrt(-mpmath.log(d) / n)),
            moments.eps0,
            target,
        )

    def _search(self, holds: Callable[[float], bool], least: float) -> float:
        largest = math.nextafter(0.5, 0)
        if least >= largest or holds(largest):
            return max(least, largest)
        return super()._search(lambda level: level < 0.5 and holds(level), least)


erlingsson2019 = Erlingsson()
