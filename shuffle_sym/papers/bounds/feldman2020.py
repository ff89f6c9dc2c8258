r"""Closed forms of Feldman et al. 2020, as Koskela et al. 2021 quote them (Appendix C.3)."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.bounds.rounding import evaluated


def feldman2020_thm31(eps0: Any, n: Any, delta: Any) -> float:
    r"""ε of any shuffled ε0-LDP randomizer:
    :math:`\varepsilon = \log\bigl(1 + \frac{8\sqrt{\log(4/\delta)}}{\sqrt{pn}} + \frac{8}{pn}\bigr)`,
    :math:`p = e^{-\varepsilon_0}` (Feldman et al. 2020, Theorem 3.1).

    It needs :math:`\varepsilon_0 \le \log\frac{n}{16\log(2/\delta)}` and raises otherwise.

    >>> round(feldman2020_thm31(eps0=4, n=100_000, delta=1e-6), 4)
    0.55
    """
    eps0, n, delta = arguments.local_epsilon(eps0), arguments.users(n), arguments.between_0_and_1(delta, "delta")
    arguments.numeric_only(eps0.free_symbols, "a bound")
    _refuse_outside(eps0, n, delta)
    return evaluated(
        lambda e, d: mpmath.log1p(8 * mpmath.sqrt(mpmath.log(4 / d) * mpmath.exp(e) / n) + 8 * mpmath.exp(e) / n),
        eps0,
        delta,
    )


def feldman2020_thm31_delta(eps0: Any, n: Any, eps: Any) -> float:
    r"""The same solved for δ: :math:`\delta = 4\exp\bigl(-[(e^\varepsilon - 1 - \frac{8}{pn})\sqrt{pn}/8]^2\bigr)`
    (Koskela et al. 2021, (C.2)), for ε with :math:`e^\varepsilon - 1 > 8/(pn)`; below that the theorem says nothing,
    and neither does a δ above 1.

    >>> "{:.4e}".format(feldman2020_thm31_delta(eps0=4, n=100_000, eps=0.5))
    '2.7654e-05'
    """
    eps0, n, eps = arguments.local_epsilon(eps0), arguments.users(n), arguments.central_epsilon(eps)
    arguments.numeric_only(eps0.free_symbols, "a bound")
    if sp.exp(eps) - 1 <= 8 * sp.exp(eps0) / n:
        return 1.0

    def formula(e: mpmath.mpf, e0: mpmath.mpf) -> mpmath.mpf:
        pn = n * mpmath.exp(-e0)
        return 4 * mpmath.exp(-(((mpmath.expm1(e) - 8 / pn) * mpmath.sqrt(pn) / 8) ** 2))

    delta = min(evaluated(formula, eps, eps0), 1.0)
    if delta < 1:
        _refuse_outside(eps0, n, sp.Rational(delta))
    return delta


def _refuse_outside(eps0: sp.Expr, n: int, delta: sp.Expr) -> None:
    largest = sp.log(n / (16 * sp.log(2 / delta)))
    if eps0 > largest:
        raise ValueError(
            f"eps0 must be at most log(n/(16 log(2/delta))) = {float(largest):.4g} for this theorem, "
            f"got {float(eps0):.4g}"
        )
