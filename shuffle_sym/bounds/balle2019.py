r"""Closed forms of Balle et al. 2019."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

from shuffle_sym import arguments
from shuffle_sym.bounds.rounding import evaluated


def balle2019_thm31(k: Any, gamma: Any, n: Any, delta: Any) -> float:
    r"""ε of shuffled k-RR that answers randomly with probability γ:
    :math:`\varepsilon = \sqrt{\frac{14 k \log(2/\delta)}{(n-1)\gamma}}` (Balle et al. 2019, Theorem 3.1, solved for ε;
    Koskela et al. 2021, (C.1)).

    The theorem asks for ε <= 1, and the first of its two terms is the larger one for δ <= 2 e^-2; where one of them
    fails, this raises. The theorem is about an adversary who knows who answered randomly.

    >>> round(balle2019_thm31(k=4, gamma=0.25, n=100_000, delta=1e-6), 4)
    0.1803
    """
    k = arguments.size(k, "k", 2)
    arguments.numeric_only(k.free_symbols, "a bound")
    n = arguments.users(n)
    gamma = arguments.between_0_and_1(gamma, "gamma")
    delta = arguments.between_0_and_1(delta, "delta")
    if n < 2:
        raise ValueError(f"n must be at least 2 for this bound, got {n}")
    if delta > 2 * sp.exp(-2):
        raise ValueError(f"delta must be at most 2 exp(-2) = 0.2706 for this bound, got {sp.N(delta, 6)}")
    eps = evaluated(lambda k, g, d: mpmath.sqrt(14 * k * mpmath.log(2 / d) / ((n - 1) * g)), k, gamma, delta)
    if eps > 1:
        raise ValueError(
            f"the theorem holds for eps <= 1, and here it would give {eps:.4g}; "
            f"n >= {int(sp.ceiling(14 * k * sp.log(2 / delta) / gamma)) + 1} users would be enough"
        )
    return eps
