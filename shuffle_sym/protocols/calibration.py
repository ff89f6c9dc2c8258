r"""How much noise a target (ε, δ) needs."""

from typing import Any

import sympy as sp

from shuffle_sym.accounting.inverses import calibrate
from shuffle_sym.algebra import arguments
from shuffle_sym.model import decomposition
from shuffle_sym.papers.balle2019.bounds import thm31_gamma
from shuffle_sym.randomizers import KRR

METHODS = ("certified", "clones", "theorem31")
_RTOL = 1e-4
_DIGITS = 6


def smallest_gamma(k: int, n: Any, eps: Any, delta: Any, by: str = "certified") -> sp.Rational:
    r"""The smallest γ with which ``n`` users of k-RR are (``eps``, ``delta``)-DP if shuffled, rounded up to 6 digits.

    ``by="certified"`` asks the accountant about the blanket of k-RR, ``"clones"`` about the clones of every randomizer
    with that ε0, and ``"theorem31"`` takes the closed form of Balle et al. 2019. More noise is never less private: k-RR
    with a larger γ is k-RR with a smaller one, randomised once more.

    >>> smallest_gamma(10, n=10**5, eps=1, delta=1e-6) < smallest_gamma(10, n=10**5, eps=1, delta=1e-6, by="theorem31")
    True
    """
    arguments.one_of(by, "by", METHODS)
    n = arguments.users(n)
    if by == "theorem31":
        return _rounded_up(sp.Rational(thm31_gamma(k, n, eps, delta)))
    if by == "certified":
        eps0 = calibrate(lambda level: KRR(k=k, eps0=level), n, eps, delta, rtol=_RTOL).lower
    else:
        eps0 = calibrate(decomposition.clones, n, eps, delta, rtol=_RTOL).lower
    gamma = KRR(k=k, eps0=sp.Rational(eps0)).gamma
    return _rounded_up(sp.Rational(str(sp.N(gamma, 40))) * (1 + sp.Rational(1, 10**30)))


def _rounded_up(gamma: sp.Rational) -> sp.Rational:
    scale = sp.Integer(10) ** (_DIGITS - 1 - sp.floor(sp.log(gamma, 10)))
    rounded = sp.ceiling(gamma * scale) / scale
    if rounded >= 1:
        raise ValueError(
            f"the target needs so much noise that no data are left (gamma = {float(gamma):.10g} rounds to 1); "
            "ask for a larger eps or delta, or more users"
        )
    return rounded
