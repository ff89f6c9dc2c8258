r"""Randomizers for means of numbers in [−1, 1]."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field, zeros
from shuffle_sym.model.continuous import x, y
from shuffle_sym.model.steps import Steps
from shuffle_sym.randomizers.matrix import MatrixRandomizer


class PiecewiseMechanism(Steps):
    r"""A message near a multiple of x is e^ε0 times as likely as any other one (Wang et al. 2019, Algorithm 2).

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> PiecewiseMechanism(eps0=2 * sp.log(2)).gamma
    1/2
    """

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = _level(eps0)
        density, end = _piecewise(self.parameter)
        super().__init__(density, (-1, 1), (-end, end))


class HybridMechanism(Steps):
    r"""The piecewise mechanism with probability 1 − e^(−ε0/2), else that of Duchi et al. (Wang et al. 2019, §3.3).

    Argument: local privacy level ``eps0``, a symbol, which stands for a large one, if it is left out.

    That share makes the variance the same for all x, and a smaller one makes it smaller for x = 0 only where the
    piecewise mechanism has the larger variance there. With s = e^(ε0/2) that is so where 3s³ − s² + s <= 7, up to
    ε0 = 0.6093…: then the hybrid mechanism is `DuchiMechanism`, and one of these is made.

    >>> HybridMechanism(eps0=2 * sp.log(2)).eps0, HybridMechanism(eps0="1/2")
    (2*log(2), DuchiMechanism(eps0=1/2))
    """

    def __new__(cls, eps0: Any = None) -> Any:
        s = sp.exp(_level(eps0) / 2)
        few = not s.free_symbols and zeros.sign(3 * s**3 - s**2 + s - 7) <= 0
        return DuchiMechanism(eps0) if few else super().__new__(cls)

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _level(eps0)
        density, end = _piecewise(e)
        share, (low, high) = 1 - sp.exp(-e / 2), _two_answers(e)
        place = _answer(e)
        super().__init__(share * density, (-1, 1), (-end, end), {-place: (1 - share) * low, place: (1 - share) * high})


class DuchiMechanism(MatrixRandomizer):
    r"""One of two messages ± (e^ε0 + 1)/(e^ε0 − 1), with the mean x (Duchi et al. 2018). Only −1 and 1 are inputs here:
    the probabilities are linear in x, so that no other input is worse.

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> DuchiMechanism(eps0=sp.log(3)).gamma
    1/2
    """

    symmetric = True

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _level(eps0)
        forms, bindings = field.rational_form([p.subs(x, end) for end in (-1, 1) for p in _two_answers(e)])
        # Messages are numbers: those of another ε0 are others, which give away who sent them.
        super().__init__([forms[:2], forms[2:]], bindings, (-_answer(e), _answer(e)))

    def __repr__(self) -> str:
        return f"DuchiMechanism(eps0={self.parameter})"


def _level(eps0: Any) -> sp.Expr:
    number = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
    if number == 0:
        raise ValueError("eps0 must be a number > 0 here, got 0")
    return number


def _piecewise(e: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The density of the piecewise mechanism, and its largest message."""
    s = sp.exp(e / 2)
    high, end = (s**2 - s) / (2 * s + 2), (s + 1) / (s - 1)
    left = (end + 1) / 2 * x - (end - 1) / 2
    return sp.Piecewise((high, (y >= left) & (y <= left + end - 1)), (high / s**2, True)), end


def _answer(e: sp.Expr) -> sp.Expr:
    """The positive message of Duchi et al."""
    return (sp.exp(e) + 1) / (sp.exp(e) - 1)


def _two_answers(e: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """The probabilities of the negative and of the positive message of Duchi et al."""
    slope = (sp.exp(e) - 1) / (sp.exp(e) + 1)
    return (1 - slope * x) / 2, (1 + slope * x) / 2
