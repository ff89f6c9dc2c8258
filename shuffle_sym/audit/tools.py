r"""Small things that several claims are examined with. Numbers come out as `Fraction`, so that findings show them exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy as sp

from shuffle_sym.decomposition import Decomposition
from shuffle_sym.randomizer import Randomizer
from shuffle_sym.randomizers import KRR
from shuffle_sym.shuffle import Shuffle

Analysis = Decomposition | Randomizer


def fraction(number: Any) -> Fraction:
    """A SymPy rational as a fraction.

    >>> fraction(sp.Rational(3, 4))
    Fraction(3, 4)
    """
    return Fraction(int(number.p), int(number.q))


def exact(source: Analysis, n: int, alpha: Fraction) -> Fraction:
    """D_α with n users, exactly: of a decomposition, or of the blanket of a randomizer."""
    return fraction(Shuffle(source, n).exact(alpha))


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
