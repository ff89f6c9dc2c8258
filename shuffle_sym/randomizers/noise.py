r"""Continuous randomizers: additive noise on [0, 1], as densities and, if there is one, a formula for the distribution
function; and randomizers for means of numbers in [−1, 1]."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field, zeros
from shuffle_sym.model.added import AddedNoise
from shuffle_sym.model.continuous import x, y
from shuffle_sym.model.ordered import Ordered
from shuffle_sym.model.steps import Steps
from shuffle_sym.randomizers.matrix import MatrixRandomizer


class Laplace(AddedNoise):
    r"""x + Lap(1/ε0) for x in [0, 1] (Balle et al. 2019, §5; Su et al. 2025, Appendix C).

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> Laplace(eps0=2 * sp.log(2)).gamma
    1/2
    """

    enough_noise = "eps0 must be at most 230"

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _level(eps0)
        self.density = e / 2 * sp.exp(-e * sp.Abs(y - x))
        self.distribution = sp.Piecewise((sp.exp(e * (y - x)) / 2, y <= x), (1 - sp.exp(-e * (y - x)) / 2, True))


class Gaussian(AddedNoise):
    r"""x + N(0, σ²) for x in [0, 1] (Balle et al. 2019, Lemma 5.1 (3)). The loss is unbounded: ε0 is ``oo``.

    Argument: standard deviation ``sigma``, a symbol if it is left out.

    >>> Gaussian(sigma=1).gamma
    erfc(sqrt(2)/4)
    """

    enough_noise = "sigma must be at least 0.047"

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

    enough_noise = "eps0 must be at most 230"

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _scale(field.eps0 if eps0 is None else eps0, "eps0")
        self.distribution = 1 / (1 + sp.exp(-e * (y - x)))
        self.density = e * sp.exp(-e * (y - x)) * self.distribution**2


class ClippedGaussian(Gaussian):
    r"""x + N(0, σ²) for x in [0, 1], moved to the nearer end if it is outside [0, 1]: the loss is bounded.

    Argument: standard deviation ``sigma``, a symbol if it is left out.

    >>> round(float(ClippedGaussian(sigma=1).eps0), 6)  # log of 1/2 over the probability of a message below −1
    1.147874
    """

    clip: tuple[sp.Expr, sp.Expr] | None = (sp.Integer(0), sp.Integer(1))


class AsymmetricLaplace(AddedNoise):
    r"""x + noise for x in [0, 1] that falls like e^(−left·|u|) below 0 and like e^(−right·u) above: no pair of inputs
    is proved to be the worst, and a pair of laws above all of them is the bound.

    Arguments: the rates ``left`` and ``right``, symbols if they are left out.

    >>> AsymmetricLaplace(left=1, right=2).eps0
    2
    """

    def __init__(self, left: Any = None, right: Any = None) -> None:
        self.left, self.right = a, b = _scale(left, "left"), _scale(right, "right")
        self.density = a * b / (a + b) * sp.Piecewise((sp.exp(a * (y - x)), y < x), (sp.exp(b * (x - y)), True))


class TruncatedLaplace(Ordered):
    r"""A message in [0, 1] with density ∝ e^(−ε0|y − x|) for x in [0, 1]: other inputs have other constants.

    Argument: ``eps0``, the rate, a number.

    >>> TruncatedLaplace(eps0=1), round(float(TruncatedLaplace(eps0=1).eps0), 6)
    (TruncatedLaplace(eps0=1), 1.0)
    """

    def __init__(self, eps0: Any) -> None:
        self.parameter = e = _scale(eps0, "eps0")
        whole = (2 - sp.exp(-e * x) - sp.exp(-e * (1 - x))) / e
        super().__init__(sp.exp(-e * sp.Abs(y - x)) / whole, (0, 1), (sp.Integer(0), sp.Integer(1)))


class Staircase(Steps):
    r"""x + noise for x in [0, 1] whose density falls by e^(−ε0) from each step to the next, the first of which is
    1/(1 + e^(ε0/2)) wide, all others 1: the ε0-DP noise with the least mean size (Geng and Viswanath 2014). A message
    above 1 says no more if it is moved by a whole number to [1, 2], nor does one below 0 in [−1, 0].

    Argument: local privacy level ``eps0``, a symbol if it is left out.

    >>> Staircase(eps0=2 * sp.log(2)).gamma
    7/16
    """

    def __init__(self, eps0: Any = None) -> None:
        self.parameter = e = _scale(field.eps0 if eps0 is None else eps0, "eps0")
        s, away = sp.exp(e / 2), sp.Abs(y - x)
        first = 1 / (1 + s)
        top = (1 - s**-2) / (2 * (first + (1 - first) / s**2))
        steps = sp.Piecewise((1, away < first), (s**-2, away < 1 + first), (s**-4, True))
        moved = sp.Piecewise((1, (y > 0) & (y < 1)), (1 / (1 - s**-2), True))
        super().__init__(top * steps * moved, (0, 1), (sp.Integer(-1), sp.Integer(2)))


# ---- Means of numbers in [−1, 1] -------------------------------------------------------------------------------------


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


# ---- Parameters ------------------------------------------------------------------------------------------------------


def _level(eps0: Any) -> sp.Expr:
    number = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
    if number == 0:
        raise ValueError("eps0 must be a number > 0 for this randomizer, got 0")
    return number


def _scale(value: Any, name: str) -> sp.Expr:
    number = arguments.exact_number(sp.Symbol(name, positive=True) if value is None else value, name)
    if arguments.decided(number > 0) is False:
        raise ValueError(f"{name} must be a number > 0, got {value}")
    return number
