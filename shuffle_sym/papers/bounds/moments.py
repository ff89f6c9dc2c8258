r"""What Hoeffding's and Bennett's inequalities want to know of the GPARV: its range, second moment and mass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.bounds.rounding import DIGITS, number
from shuffle_sym.papers.derivations.blanket import lemma58
from shuffle_sym.randomizers import Laplace


@dataclass(frozen=True)
class Range:
    """G at one α: smallest <= G <= largest, E[G²] <= second."""

    smallest: mpmath.mpf
    largest: mpmath.mpf
    second: mpmath.mpf


@dataclass(frozen=True)
class Moments:
    r"""Bounds on :math:`G = (R(x_0) - \alpha R(x_1))/c` for all pairs of inputs, as functions of α.

    For every ε0-LDP randomizer, :math:`1 - \alpha t \le G \le t - \alpha` and
    :math:`E[G^2] \le \frac{(1+t^2)(1+\alpha^2) - 4\alpha t}{t+1}` (`derivations.property2`,
    `derivations.second_moment`); γ is then not known. E[G] = 1 − α always.
    """

    eps0: sp.Expr
    gamma: mpmath.mpf | None
    pairs: tuple[Callable[[mpmath.mpf], Range], ...]

    @staticmethod
    def of(source: Any) -> Moments:
        """Of a randomizer, or of all that are ε0-LDP."""
        if isinstance(source, Randomizer):
            return _of_randomizer(source)
        if isinstance(source, Laplace):
            return _of_laplace(source)
        if hasattr(source, "density"):
            raise ValueError(f"source must have a bounded loss for this bound, got {source!r}")
        return _of_all(arguments.local_epsilon(source))


def _of_all(eps0: sp.Expr) -> Moments:
    arguments.numeric_only(eps0.free_symbols, "a bound")
    with mpmath.workdps(DIGITS):
        t = mpmath.exp(number(eps0))
    # (1 + t²)(1 + α²) − 4αt without the cancellation.
    return Moments(eps0, None, (lambda a: Range(1 - a * t, t - a, ((t - a) ** 2 + (1 - a * t) ** 2) / (t + 1)),))


def _of_randomizer(R: Randomizer) -> Moments:
    arguments.numeric_only(R.free_symbols, "a bound")
    if R.eps0 is sp.oo:
        raise ValueError(f"source must have a bounded loss for this bound, got {R!r}")
    tables = []
    with mpmath.workdps(DIGITS):
        for x0, x1 in R.pairs():
            G = decomposition.blanket(R, x0, x1).gparv
            ratios = [tuple(number(field.substitute(e, G.bindings)) for e in pair) for pair in G.ratios]
            tables.append((ratios, [number(p) for p in G.probabilities]))
        gamma = number(R.gamma)
    return Moments(R.eps0, gamma, tuple(_from_table(ratios, masses) for ratios, masses in tables))


def _from_table(ratios: list[Any], masses: list[Any]) -> Callable[[mpmath.mpf], Range]:
    def at(alpha: mpmath.mpf) -> Range:
        values = [f - alpha * g for f, g in ratios]
        second = mpmath.fsum(p * v * v for v, p in zip(values, masses, strict=True))
        return Range(min(values), max(values), second)

    return at


@lru_cache(maxsize=1)
def _laplace_second() -> Callable[[mpmath.mpf, mpmath.mpf], mpmath.mpf]:
    """γ E[G²] as a function of ε0 and α: the last line of `derivations.lemma58`, which holds for all pairs of inputs
    (`derivations.lemma58_all_pairs`)."""
    result = lemma58().result
    eps0, alpha = (sp.Symbol(name, positive=True) for name in ("epsilon_0", "alpha"))
    function: Callable[[mpmath.mpf, mpmath.mpf], mpmath.mpf] = sp.lambdify((eps0, alpha), result, modules="mpmath")
    return function


def _of_laplace(R: Laplace) -> Moments:
    arguments.numeric_only(R.free_symbols, "a bound")
    with mpmath.workdps(DIGITS):
        e = number(R.eps0)
        t, gamma = mpmath.exp(e), number(R.gamma)
    second = _laplace_second()
    return Moments(R.eps0, gamma, (lambda a: Range(1 - a * t, t - a, second(e, a) / gamma),))
