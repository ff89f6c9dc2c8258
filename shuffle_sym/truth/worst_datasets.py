r"""Which inputs of all other users are the worst for many users: all equal, and to which input?

Let all others have x, d = R(x0) − R(x1). For n → ∞ and α = 1 + a/√n the divergence is
:math:`\tfrac1{\sqrt n} \mathbb E[\sqrt{\chi_x} Z - a]_+` with

.. math:: \chi_x = \sum_y \frac{d(y)^2}{R(x)(y)},

and no dataset of the others has a larger limit than the largest of these (ours; the drop-out bound is the other half of
the proof). Inputs with nearly equal χ are told apart by the next term. With the variance of G at α,
:math:`\chi_x - 2(\alpha - 1)\sum_y d R(x_1)/R(x) + …`, and the first term of Edgeworth's expansion for its third
moment, the divergence is to this order the one with

.. math:: \chi_x + 2(\alpha - 1)\, s_x, \qquad
          s_x = -\sum_y \frac{d(y) R(x_1)(y)}{R(x)(y)} + \frac1{6 \chi_x} \sum_y \frac{d(y)^3}{R(x)(y)^2}

in the place of χ. This chooses a dataset and bounds nothing: the bound is the divergence of what was chosen.

Others with two inputs: if each draws one of the two, χ is at most the larger of both, as it is convex in R(x). So for
many users one input is best; with few users `ground_truth.worst_pair` tries all datasets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.equality import cached_by_value
from shuffle_sym.model.randomizer import Randomizer

Masses = Sequence[tuple[Any, Any, Any]]  # (a, b, c) of each component, as formulas or as doubles


@dataclass(frozen=True)
class AllAlike:
    """The first user has x0 and not x1, all others have x.

    ``chi`` and ``slope`` are χ_x and s_x, see `chi` and `slope`; χ is infinite if a message with R(x0) ≠ R(x1) is
    impossible under x.

    >>> import shuffle_sym as ss
    >>> worst, *_ = ranked(ss.BinaryRR(eps0=sp.log(3)), 0, 1)
    >>> worst.datasets(3), worst.chi
    (((0, 0, 0), (1, 0, 0)), 1.3333333333333333)
    """

    x0: int
    x1: int
    x: int
    chi: float
    slope: float

    def datasets(self, n: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """X0 and X1 of n users, as `ground_truth.delta` takes them."""
        others = (self.x,) * (arguments.users(n) - 1)
        return (self.x0, *others), (self.x1, *others)

    def decomposition(self, R: Randomizer) -> Decomposition:
        """The pair of laws whose divergence is that of these datasets."""
        return decomposition.dataset(R, self.x0, self.x1, self.x)

    def score(self, alpha: float) -> float:
        """χ with the next term: the larger, the worse for many users at this α."""
        return self.chi + 2 * (alpha - 1) * self.slope

    def __str__(self) -> str:
        return f"{self.x0} against {self.x1}, all others {self.x}"


def chi(D: Decomposition) -> sp.Expr:
    r""":math:`\sum_j (a_j - b_j)^2/c_j`, a formula where D is symbolic; infinite if a component with a ≠ b has c = 0.

    >>> import shuffle_sym as ss
    >>> R = ss.BinaryRR(eps0=sp.log(3))
    >>> chi(ss.decomposition.dataset(R, 0, 1, 0)), chi(ss.decomposition.blanket(R))
    (4/3, 2)
    """
    return field.substitute(field.simplest(_chi(_masses(D))), D.bindings)


def slope(D: Decomposition) -> sp.Expr:
    r""":math:`s = -\sum_j d_j b_j/c_j + \frac1{6\chi} \sum_j d_j^3/c_j^2` with d = a − b: at α, χ is χ + 2(α − 1)s.

    >>> import shuffle_sym as ss
    >>> R = ss.BinaryRR(eps0=sp.log(3))
    >>> [slope(ss.decomposition.dataset(R, 0, 1, x)) for x in (0, 1)]  # 5/6 and 1/6 of χ
    [10/9, 2/9]
    """
    return field.substitute(field.simplest(_slope(_masses(D))), D.bindings)


def _masses(D: Decomposition) -> Masses:
    return [(atom.a, atom.b, atom.c) for atom in D.atoms]


def _chi(masses: Masses) -> Any:
    if any(c == 0 and a != b for a, b, c in masses):
        return sp.oo
    return sum((a - b) ** 2 / c for a, b, c in masses if c != 0)


def _slope(masses: Masses) -> Any:
    variance = _chi(masses)
    if variance in (0, sp.oo):
        return sp.Integer(0)
    own = sum((a - b) * b / c for a, b, c in masses if c != 0)
    # In this order nothing underflows in a denominator, and doubles overflow to inf: it is a ranking.
    third = sum((a - b) * ((a - b) / c) * ((a - b) / c) for a, b, c in masses if c != 0)
    return third / (6 * variance) - own


def ranked(R: Randomizer, x0: int, x1: int, alpha: Any = 1) -> list[AllAlike]:
    """Every input of all others that gives another divergence, those with the largest score first.

    Args:
        R: a randomizer with finitely many messages.
        x0, x1: the two inputs of the first user.
        alpha: where the divergence will be evaluated; the choice hardly depends on it.

    >>> import shuffle_sym as ss
    >>> [worst.x for worst in ranked(ss.BinaryRR(eps0=1), 0, 1, alpha=1.1)]
    [0, 1]
    """
    if not isinstance(R, Randomizer):
        raise TypeError(f"R must be a randomizer with finitely many messages, got {R!r}")
    arguments.numeric_only(R.free_symbols, "the choice of a dataset")
    x0, x1, ratio = R.input(x0, "x0"), R.input(x1, "x1"), float(arguments.ratio(alpha))
    arguments.different(x0, x1)

    def rank(alike: AllAlike) -> tuple[float, float]:
        return -float(f"{alike.score(ratio):.9g}"), -alike.slope  # equal scores differ by round-off only

    return sorted((alike for alike, _ in candidates(R, x0, x1)), key=rank)


@cached_by_value
def candidates(R: Randomizer, x0: int, x1: int) -> tuple[tuple[AllAlike, Decomposition], ...]:
    """Datasets in which all others have one input, for every input that gives another pair of laws, and these laws.

    >>> import shuffle_sym as ss
    >>> [str(alike) for alike, _ in candidates(ss.KRR(k=5, eps0=1), 0, 1)]
    ['0 against 1, all others 0', '0 against 1, all others 1', '0 against 1, all others 2']
    """
    distinct: dict[Decomposition, AllAlike] = {}
    for x in R.kinds(x0, x1):
        D = decomposition.dataset(R, x0, x1, x)
        if D not in distinct:
            distinct[D] = all_alike(x0, x1, x, D)
    return tuple((candidate, D) for D, candidate in distinct.items())


def signal(D: Decomposition, alpha: float) -> tuple[float, float]:
    """How well the first user's input is seen among many others, the larger the worse: first how likely the messages
    are that none of the others sends, how much likelier for x0; then the score of all other messages.

    >>> D = Decomposition(["1/2", "1/2"], ["1/4", "3/4"], [0, 1])
    >>> signal(D, 1.0)
    (0.25, 0.0625)
    """
    masses = list(zip(*(map(float, column) for column in (D.floats.a, D.floats.b, D.floats.c)), strict=True))
    shared = [mass for mass in masses if mass[2] > 0]
    seen = AllAlike(0, 1, 0, float(_chi(shared)), float(_slope(shared)))
    return sum(max(a - alpha * b, 0.0) for a, b, c in masses if c == 0), seen.score(alpha)


def all_alike(x0: Any, x1: Any, x: Any, D: Decomposition) -> AllAlike:
    """The datasets whose pair of laws is D, with their χ and slope."""
    masses = list(zip(*(map(float, column) for column in (D.floats.a, D.floats.b, D.floats.c)), strict=True))
    return AllAlike(x0, x1, x, float(_chi(masses)), float(_slope(masses)))
