r"""Small things that several claims are examined with. Numbers are fractions, so that findings show them exactly."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.model.decomposition import Decomposition, blankets
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.randomizers import KRR
from shuffle_sym.truth import ground_truth

Analysis = Decomposition | Randomizer
F = Fraction


def fraction(number: Any) -> Fraction:
    """A rational number of SymPy or Python as a Fraction.

    >>> fraction(sp.Rational(3, 4))
    Fraction(3, 4)
    """
    return Fraction(int(number.p), int(number.q)) if isinstance(number, sp.Rational) else Fraction(number)


def exact(source: Analysis, n: int, alpha: Fraction) -> Fraction:
    """D_α with n users, exactly: of a decomposition, or of the blanket of a randomizer."""
    analysed = source if isinstance(source, Decomposition) else blankets(source)
    return fraction(Shuffle(analysed, n).exact(alpha))


def of_datasets(R: Randomizer, X0: Sequence[int], X1: Sequence[int], alpha: Any) -> Fraction:
    """D_α of the shuffled messages of two datasets, exactly, for a rational randomizer."""
    return fraction(ground_truth.delta(R, X0, X1, alpha))


def worst(R: Randomizer, n: int, alpha: Any) -> Fraction:
    """The largest D_α of all neighbouring datasets of n users, exactly, for a rational randomizer."""
    return fraction(ground_truth.worst_pair(R, n, sp.Rational(alpha)).delta)


def told_worst(R: Randomizer, n: int, alpha: Any) -> str:
    """The datasets that have it, in words."""
    pair = ground_truth.worst_pair(R, n, sp.Rational(alpha))
    return f"{pair.X0} against {pair.X1} gives {pair.delta}"


def level(t: Any) -> sp.Expr:
    """ε0 with e^ε0 = t."""
    return sp.log(sp.Rational(t))


def krr(k: int, gamma: Fraction) -> KRR:
    """k-RR that answers randomly with probability γ: t = 1 + k(1 − γ)/γ."""
    return KRR(k=k, eps0=level(1 + k * (1 - gamma) / gamma))


def between(t: Fraction | int, parts: int) -> list[Fraction]:
    """α from 1 up to, but not including, t."""
    return [1 + (Fraction(t) - 1) * Fraction(i, parts) for i in range(parts)]


def union(parts: list[tuple[Fraction, Decomposition]]) -> Decomposition:
    """The weighted union of decompositions: parallel composition."""
    columns = ([sp.Rational(w) * mass for w, D in parts for mass in getattr(D, name)] for name in "abc")
    return Decomposition(*columns, title="weighted union")


def product_of(*parts: Decomposition) -> Decomposition:
    """The Cartesian product of decompositions: joint composition."""
    columns = ([prod(masses) for masses in product(*(getattr(D, name) for D in parts))] for name in "abc")
    return Decomposition(*columns, title="product")


def same_columns(D: Decomposition, E: Decomposition) -> bool:
    """Whether two decompositions have the same components as numbers, whatever symbols they are written in."""
    ours, theirs = (sorted(zip(X.a, X.b, X.c, strict=True)) for X in (D, E))
    return ours == theirs


def collected(masses: Iterable[tuple[Any, Fraction]]) -> dict[Any, Fraction]:
    """Outcome → its whole mass, where an outcome may occur several times.

    >>> collected([("a", Fraction(1, 2)), ("b", Fraction(1, 4)), ("a", Fraction(1, 4))])
    {'a': Fraction(3, 4), 'b': Fraction(1, 4)}
    """
    law: dict[Any, Fraction] = {}
    for outcome, mass in masses:
        law[outcome] = law.get(outcome, Fraction(0)) + mass
    return law


def sum_of_copies(law: Mapping[Fraction, Fraction], n: int) -> dict[Fraction, Fraction]:
    """The law of the sum of n independent copies, value by value.

    >>> sum_of_copies({Fraction(1): Fraction(1, 2), Fraction(-1): Fraction(1, 2)}, 2)[Fraction(0)]
    Fraction(1, 2)
    """
    total = {Fraction(0): Fraction(1)}
    for _ in range(n):
        total = collected((x + y, p * q) for (x, p), (y, q) in product(total.items(), law.items()))
    return total


def positive_mean(law: Mapping[Fraction, Fraction]) -> Fraction:
    """E[S]_+.

    >>> positive_mean({Fraction(2): Fraction(1, 4), Fraction(-9): Fraction(3, 4)})
    Fraction(1, 2)
    """
    return sum((x * p for x, p in law.items() if x > 0), Fraction(0))


def law_of_g(D: Decomposition, alpha: Fraction) -> dict[Fraction, Fraction]:
    """Value → probability of G, for a rational decomposition."""
    G = D.gparv.exact(sp.Rational(alpha), 50)
    return collected(zip(G.values, G.probabilities, strict=True))
