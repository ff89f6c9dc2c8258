r"""What Hoeffding's and Bennett's inequalities want to know of the GPARV: its range, second moment and mass."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model import decomposition
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.rounded import MP, Mpf, number
from shuffle_sym.randomizers import AnyRandomizer, Laplace


@dataclass(frozen=True)
class Range:
    """G at one α: smallest <= G <= largest, E[G²] <= second."""

    smallest: Mpf
    largest: Mpf
    second: Mpf


@dataclass(frozen=True)
class Spread:
    r"""Bounds on :math:`G = (R(x_0) - \alpha R(x_1))/c` for all pairs of inputs, as functions of α.

    For every ε0-LDP randomizer, :math:`1 - \alpha t \le G \le t - \alpha` and
    :math:`E[G^2] \le \frac{(1+t^2)(1+\alpha^2) - 4\alpha t}{t+1}` (`derivations.property2`,
    `derivations.second_moment`); γ is then not known. E[G] = 1 − α always.
    """

    eps0: sp.Expr
    gamma: Mpf | None
    pairs: tuple[Callable[[Mpf], Range], ...]

    @staticmethod
    def of(source: Any) -> "Spread":
        """What is known of G for a randomizer, or for all that are ε0-LDP if ``source`` is an ε0."""
        if isinstance(source, Randomizer):
            return _of_randomizer(source)
        if isinstance(source, Laplace):
            return _of_laplace(source)
        if isinstance(source, AnyRandomizer):
            return _of_all(source.eps0)
        if hasattr(source, "density"):
            raise ValueError(f"source must have a bounded loss for this bound, got {source!r}")
        return _of_all(arguments.local_epsilon(source))


def _of_all(eps0: sp.Expr) -> Spread:
    arguments.numeric_only(eps0.free_symbols, "a bound")
    t = MP.exp(number(eps0))
    # (1 + t²)(1 + α²) − 4αt without the cancellation.
    return Spread(eps0, None, (lambda a: Range(1 - a * t, t - a, ((t - a) ** 2 + (1 - a * t) ** 2) / (t + 1)),))


@cached_by_value
def _of_randomizer(R: Randomizer) -> Spread:
    arguments.numeric_only(R.free_symbols, "a bound")
    if R.eps0 is sp.oo:
        raise ValueError(f"source must have a bounded loss for this bound, got {R!r}")
    tables = []
    for x0, x1 in R.pairs():
        G = decomposition.blanket(R, x0, x1).gparv
        ratios = [tuple(number(field.substitute(e, G.bindings)) for e in pair) for pair in G.ratios]
        tables.append((ratios, [number(p) for p in G.probabilities]))
    return Spread(R.eps0, number(R.gamma), tuple(_from_table(ratios, masses) for ratios, masses in tables))


def _from_table(ratios: list[Any], masses: list[Any]) -> Callable[[Mpf], Range]:
    def at(alpha: Mpf) -> Range:
        values = [f - alpha * g for f, g in ratios]
        second = MP.fsum(p * v * v for v, p in zip(values, masses, strict=True))
        return Range(min(values), max(values), second)

    return at


@lru_cache(maxsize=1)
def _laplace_formulas() -> tuple[Callable[[Mpf], Mpf], Callable[[Mpf, Mpf], Mpf]]:
    """γ as a function of ε0, and γ E[G²] of ε0 and α: the last line of `derivations.lemma58`, for all pairs of
    inputs."""
    from shuffle_sym.papers.balle2019.moments import lemma58  # no other spread needs a derivation

    eps0, alpha = (sp.Symbol(name, positive=True) for name in ("epsilon_0", "alpha"))
    # mpmath's own functions would take the precision of the process.
    modules = [{"exp": MP.exp, "mpf": MP.mpf}, "mpmath"]
    return (
        sp.lambdify(field.eps0, Laplace().gamma, modules=modules),
        sp.lambdify((eps0, alpha), lemma58().result, modules=modules),
    )


def _of_laplace(R: Laplace) -> Spread:
    arguments.numeric_only(R.free_symbols, "a bound")
    mass, second = _laplace_formulas()
    e = number(R.parameter)
    t, gamma = MP.exp(e), mass(e)
    return Spread(R.parameter, gamma, (lambda a: Range(1 - a * t, t - a, second(e, a) / gamma),))
