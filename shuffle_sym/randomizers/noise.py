r"""Additive noise on [0, 1]."""

from __future__ import annotations

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.continuous import Continuous, x, y


class Laplace(Continuous):
    r"""x + Lap(1/ε0) for x in [0, 1] (Balle et al. 2019, §5; Su et al. 2025, Appendix C).

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> Laplace(eps0=2 * sp.log(2)).gamma
    1/2
    """

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
        if e == 0:
            raise ValueError("eps0 must be a number > 0 for Laplace noise, got 0")
        self.density = e / 2 * sp.exp(-e * sp.Abs(y - x))
        self.distribution = sp.Piecewise((sp.exp(e * (y - x)) / 2, y <= x), (1 - sp.exp(-e * (y - x)) / 2, True))
        self.log_ratio = e * sp.Min(1 - 2 * y, 1)

    @property
    def eps0(self) -> sp.Expr:
        return self.parameter

    @property
    def gamma(self) -> sp.Expr:
        return sp.exp(-self.parameter / 2)

    def edge(self, tail: float) -> tuple[sp.Expr, bool]:
        return sp.Integer(0), True  # below 0 the ratio is e^ε0 everywhere


class Gaussian(Continuous):
    r"""x + N(0, σ²) for x in [0, 1] (Balle et al. 2019, Lemma 5.1 (3)). The loss is unbounded: ε0 is ``oo``.

    Argument: standard deviation ``sigma``, a symbol if it is left out.

    >>> Gaussian(sigma=1).gamma
    erfc(sqrt(2)/4)
    """

    def __init__(self, sigma: Any = None) -> None:
        number = arguments.exact_number(sp.Symbol("sigma", positive=True) if sigma is None else sigma, "sigma")
        if arguments.decided(number > 0) is False:
            raise ValueError(f"sigma must be a number > 0, got {sigma}")
        self.parameter = self.sigma = number
        self.density = sp.exp(-((y - x) ** 2) / (2 * number**2)) / (sp.sqrt(2 * sp.pi) * number)
        self.distribution = sp.erfc((x - y) / (sp.sqrt(2) * number)) / 2
        self.log_ratio = (1 - 2 * y) / (2 * number**2)

    @property
    def eps0(self) -> sp.Expr:
        return sp.oo

    @property
    def gamma(self) -> sp.Expr:
        return sp.erfc(1 / (2 * sp.sqrt(2) * self.parameter))

    def edge(self, tail: float) -> tuple[sp.Expr, bool]:
        # Pr[N(0, σ²) < −zσ] <= e^(−z²/2)
        deviations = sp.sqrt(-2 * sp.log(sp.Rational(repr(tail))))
        return sp.Min(-deviations * self.parameter, sp.Rational(1, 4)), False
