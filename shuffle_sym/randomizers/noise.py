r"""Additive noise on [0, 1]: densities, and where one is known a formula for the distribution."""

from __future__ import annotations

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import x, y


class Laplace(AddedNoise):
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


class Gaussian(AddedNoise):
    r"""x + N(0, σ²) for x in [0, 1] (Balle et al. 2019, Lemma 5.1 (3)). The loss is unbounded: ε0 is ``oo``.

    Argument: standard deviation ``sigma``, a symbol if it is left out.

    >>> Gaussian(sigma=1).gamma
    erfc(sqrt(2)/4)
    """

    def __init__(self, sigma: Any = None) -> None:
        self.parameter = self.sigma = number = _scale(sigma, "sigma")
        self.density = sp.exp(-((y - x) ** 2) / (2 * number**2)) / (sp.sqrt(2 * sp.pi) * number)
        self.distribution = sp.erfc((x - y) / (sp.sqrt(2) * number)) / 2


class Logistic(AddedNoise):
    r"""x + logistic noise with scale 1/ε0 for x in [0, 1]: the likelihood ratio tends to e^ε0 and never reaches it.

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> Logistic(eps0=2 * sp.log(2)).gamma
    2/3
    """

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _scale(field.eps0 if eps0 is None else eps0, "eps0")
        self.distribution = 1 / (1 + sp.exp(-e * (y - x)))
        self.density = e * sp.exp(-e * (y - x)) * self.distribution**2


def _scale(value: Any, name: str) -> sp.Expr:
    number = arguments.exact_number(sp.Symbol(name, positive=True) if value is None else value, name)
    if arguments.decided(number > 0) is False:
        raise ValueError(f"{name} must be a number > 0, got {value}")
    return number
