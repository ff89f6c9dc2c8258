r"""The sandwich: attack ≤ truth ≤ bound, in ε, for the worst of all neighbouring datasets.

*From below*: two real datasets in which all others have one value (`decomposition.dataset`), or datasets whose others
are drawn at random (`decomposition.mixture`: some real pair is at least as bad). *From above*: the blanket, or, with
two messages, all datasets there are (`two_messages`).

**Which end is the suspect?** By the central limit theorem the histogram is, for large n, nearly a normal vector. Its
mean moves by v = R(x0) − R(x1), its covariance is the sum of those of the others,
:math:`\Sigma_x = \mathrm{diag}(R(x)) - R(x)R(x)^\top`, and the divergence is that of N(0, 1) and N(μ, 1) with

.. math:: \mu^2 = v^\top \Bigl(\sum_x n_x \Sigma_x\Bigr)^{-1} v \;\le\; \frac1{n - 1} \max_x \chi(x), \qquad
          \chi(x) = \sum_y \frac{(R(x_0)(y) - R(x_1)(y))^2}{R(x)(y)} .

The inequality is proved for every dataset: A ↦ v' A⁻¹ v is convex on positive definite matrices, so the largest value
over mixtures of the Σ_x is at a vertex, where it is χ(x) (as v sums to 0). *In this limit all others have one value in
a worst pair*, and its μ is known. The blanket has χ with the infimum over x in the denominator, message by message. If
that is larger, the blanket stays above the truth however large n is, and no attack will close the gap. At a given n
this is an approximation: it names a suspect and certifies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp
from scipy import special

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import continuous, decomposition
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth import two_messages

_MOST_VALUES = 16  # inputs that the others are tried with, where symmetry does not make them fewer
_MOST_TRIED = 12
_ROUGH, _ROUGH_CONTINUOUS = 0.02, 1e-3
_CLOSED = 1e-3
_CELLS, _TAIL, _DIGITS = 128, 1e-4, 60  # continuous noise, cut into cells
_SHARES = (sp.Rational(1, 20), sp.Rational(1, 4), sp.Rational(1, 2))


@dataclass(frozen=True)
class Attack:
    """The first user has x0 and not x1; each other user's input is drawn from ``weights``, {input: probability}."""

    x0: int
    x1: int
    weights: tuple[tuple[int, sp.Rational], ...]

    @property
    def named(self) -> bool:
        """Whether it is one pair of datasets; if not, some pair with these inputs is at least as bad."""
        return len(self.weights) == 1

    def decomposition(self, R: Randomizer) -> Decomposition:
        return decomposition.mixture(R, self.x0, self.x1, dict(self.weights))

    def __str__(self) -> str:
        if self.named:
            return f"{self.x0} against {self.x1}, all others {self.weights[0][0]}"
        shares = ", ".join(f"{x} with probability {w}" for x, w in self.weights)
        return f"{self.x0} against {self.x1}, others {shares} (some such datasets)"


def chi_square(D: Decomposition) -> float:
    r""":math:`\sum_j (a_j - b_j)^2/c_j`: √(χ/n) is how far the two normal laws of the limit are apart.

    >>> import shuffle_sym as ss
    >>> R = ss.BinaryRR(eps0=sp.log(3))
    >>> chi_square(ss.decomposition.dataset(R, 0, 1, 0)), chi_square(ss.decomposition.blanket(R))
    (1.3333333333333333, 2.0)
    """
    masses = D.floats
    if any(c == 0 and a != b for a, b, c in zip(masses.a, masses.b, masses.c, strict=True)):
        return math.inf
    return math.fsum((a - b) ** 2 / c for a, b, c in zip(masses.a, masses.b, masses.c, strict=True) if c)


def gaussian_epsilon(chi: float, n: int, delta: float) -> float:
    r"""ε at δ of N(0, 1) against N(√(χ/n), 1), from δ = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ): an approximation, no bound.

    >>> round(gaussian_epsilon(4.0, 4, 0.1), 6) > 0
    True
    """
    if math.isinf(chi):
        return math.inf
    mu = math.sqrt(chi / n)

    def excess(eps: float) -> float:
        return float(special.ndtr(mu / 2 - eps / mu) - math.exp(eps + special.log_ndtr(-mu / 2 - eps / mu))) - delta

    if mu == 0 or excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, mu
    while excess(high) > 0:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:  # bisection: importing scipy.optimize would cost more than it saves
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high


@dataclass(frozen=True)
class Sandwich:
    """attack.lower ≤ ε of the worst neighbouring datasets at δ ≤ bound.upper.

    ``dataset`` says which pair the attack is, ``analysis`` where the bound comes from. ``limit_gap`` is the gap that
    remains between all attacks and the blanket in the normal limit (an approximation at this n, see the module).

    >>> import shuffle_sym as ss
    >>> found = ss.sandwich(ss.KRR(k=10, eps0=1), n=1_000, delta=1e-6)
    >>> found.attack.lower <= found.bound.upper, found.suspect
    (True, 'none')
    """

    randomizer: str
    n: int
    delta: float
    attack: Interval
    dataset: str
    bound: Interval
    analysis: str
    limit_gap: float

    @property
    def gap(self) -> float:
        """How far the bound is above the attack, relative to the attack; 0 if the worst ε is known to be 0."""
        if self.bound.upper == 0:
            return 0.0
        return self.bound.upper / self.attack.lower - 1 if self.attack.lower > 0 else math.inf

    @property
    def suspect(self) -> str:
        """``"none"``: closed to 0.1 %. ``"bound"``: most of the gap is there in the normal limit too, where no
        attack closes it. ``"either"``: the limit leaves no such gap; it closes as n grows, and here nothing is known.
        """
        if self.gap <= _CLOSED:
            return "none"
        return "bound" if self.limit_gap > self.gap / 2 else "either"

    def __str__(self) -> str:
        return (
            f"{self.randomizer}, n = {self.n}, delta = {self.delta:g}: attack {self.attack} ({self.dataset}) "
            f"<= truth <= bound {self.bound} ({self.analysis}), gap {100 * self.gap:.3g} %, suspect: {self.suspect}"
        )


def cells_of_dataset(R: Continuous, x: Any, cells: int = _CELLS) -> Decomposition:
    """All others have x in [0, 1], the first user 0 or 1; messages are counted by cells, which can only lose.

    Masses are rounded to 60 digits; what is missing of 1 goes to the largest one, far below the error of a double.
    """
    value = arguments.exact_number(x, "x")
    if arguments.decided(sp.And(value >= 0, value <= 1)) is not True:
        raise ValueError(f"x must be a number in [0, 1], got {x!r}")
    arguments.numeric_only(R.free_symbols, "a discretisation")
    cells, (edge, _) = arguments.positive_integer(cells, "cells"), R.edge(_TAIL)
    columns = []
    with mpmath.workdps(_DIGITS):
        first = mpmath.mpf(sp.N(edge, _DIGITS))
        ends = [first + (1 - 2 * first) * i / cells for i in range(cells + 1)]
        distribution = sp.lambdify((continuous.x, continuous.y), R.distribution, modules="mpmath")
        for input_ in (0, 1, value):
            number = mpmath.mpf(sp.N(input_, _DIGITS))
            below = [mpmath.mpf(0), *(distribution(number, end) for end in ends), mpmath.mpf(1)]
            masses = [sp.Rational(*mpmath.libmp.to_rational((b - a)._mpf_)) for a, b in pairwise(below)]
            masses[masses.index(max(masses))] += 1 - sum(masses)
            columns.append(masses)
    return Decomposition(*columns, title=f"{R!r}, others {value}, {cells} cells")


class _Candidates:
    """Attacks on one randomizer, those first that are best in the normal limit."""

    def __init__(self, R: Randomizer) -> None:
        self._R = R

    def _values(self, x0: int, x1: int) -> Iterator[int]:
        """What the others may have; in a symmetric randomizer all thirds are alike."""
        count = self._R.input_count
        most = _MOST_VALUES if not self._R.symmetric else 3
        yield from dict.fromkeys((x0, x1, *range(min(int(count), most) if count.is_Integer else most)))

    @cached_property
    def single(self) -> list[tuple[float, Attack, Decomposition]]:
        """All others alike: χ and the decomposition of each, the largest χ first."""
        found: dict[Decomposition, tuple[float, Attack, Decomposition]] = {}
        for x0, x1 in self._R.pairs():
            for x in self._values(x0, x1):
                attack = Attack(x0, x1, ((x, sp.Integer(1)),))
                D = attack.decomposition(self._R)
                found.setdefault(D, (chi_square(D), attack, D))
        return sorted(found.values(), key=lambda entry: -entry[0])

    def mixed(self, best: Attack) -> Iterator[Attack]:
        """A share of the others has x0 or x1 instead."""
        ((x, _),) = best.weights
        for other in (best.x0, best.x1):
            for share in _SHARES if other != x else ():
                yield Attack(best.x0, best.x1, ((x, 1 - share), (other, share)))


def sandwich(R: Randomizer, n: Any, delta: Any, *, rtol: float = 1e-4) -> Sandwich:
    r"""The best attack known to us and the best bound, for n users of R at δ = ``delta``.

    Attacks: all others have one value, each value in turn (up to symmetry, the first 16 of a domain without), then
    mixtures of the best one with x0 and x1. Each end is an `Interval` of relative width ``rtol``.

    >>> import shuffle_sym as ss
    >>> found = sandwich(ss.KRR(k=10, eps0=4), n=10_000, delta=1e-6)
    >>> found.dataset, found.suspect, found.attack.lower <= found.bound.upper
    ('0 against 1, all others 2', 'none', True)
    """
    if not isinstance(R, (Randomizer, Continuous)):
        raise TypeError(f"R must be a randomizer, got {R!r}")
    arguments.numeric_only(R.free_symbols, "a sandwich")
    n, target, rtol = arguments.users(n), arguments.delta_target(delta), arguments.relative_tolerance(rtol)
    if isinstance(R, Continuous):
        return _of_continuous(R, n, target, rtol)
    if two_messages.has_two_messages(R) and n <= two_messages.MOST_USERS:
        truth = two_messages.TwoMessages(R, n)
        eps = truth.epsilon(target, rtol=rtol)
        return Sandwich(repr(R), n, target, eps, str(truth.worst(eps.lower)), eps, "all datasets", 0.0)
    candidates, blanket = _Candidates(R), Shuffle(R, n)
    chis = candidates.single[0][0], max(chi_square(D) for D in blanket.decompositions)
    attack, eps = _best(R, n, target, rtol, candidates)
    bound = blanket.epsilon(target, rtol=rtol)
    return Sandwich(repr(R), n, target, eps, str(attack), bound, "blanket", _limit_gap(chis, n, target))


def _limit_gap(chis: tuple[float, float], n: int, target: float) -> float:
    """How far the second of two normal limits is above the first, in ε."""
    below, above = (gaussian_epsilon(chi, n, target) for chi in chis)
    return above / below - 1 if 0 < below < math.inf else 0.0


def _of_continuous(R: Continuous, n: int, target: float, rtol: float) -> Sandwich:
    """The others at 0, 1/2 or 1; the blanket from cells as well, for the limit."""
    found = []
    for x in (sp.Integer(0), sp.Rational(1, 2), sp.Integer(1)):
        D = cells_of_dataset(R, x)
        found.append((Shuffle(D, n).epsilon(target, rtol=rtol), f"0 against 1, all others {x}", chi_square(D)))
    eps, dataset, _ = max(found, key=lambda entry: entry[0].lower)
    bound = Shuffle(R, n).epsilon(target, rtol=max(rtol, _ROUGH_CONTINUOUS))
    chis = max(chi for *_, chi in found), chi_square(R.lower(_CELLS, _TAIL))
    return Sandwich(repr(R), n, target, eps, dataset, bound, "blanket", _limit_gap(chis, n, target))


def _best(R: Randomizer, n: int, target: float, rtol: float, candidates: _Candidates) -> tuple[Attack, Interval]:
    """Rough values of all candidates, then a sharp one of the best."""
    rough = [(Shuffle(D, n).epsilon(target, rtol=_ROUGH), attack) for chi, attack, D in candidates.single[:_MOST_TRIED]]
    _, leader = max(rough, key=lambda entry: entry[0].lower)
    for attack in candidates.mixed(leader):
        rough.append((Shuffle(attack.decomposition(R), n).epsilon(target, rtol=_ROUGH), attack))
    floor = max(eps.lower for eps, _ in rough)
    sharp = [
        (Shuffle(attack.decomposition(R), n).epsilon(target, rtol=rtol), attack)
        for eps, attack in rough
        if eps.upper >= floor
    ]
    eps, attack = max(sharp, key=lambda entry: entry[0].lower)
    return attack, eps


def table(sandwiches: Sequence[Sandwich]) -> str:
    """Markdown: one row a sandwich."""
    lines = [
        "| randomizer | n | attack ε ≥ | bound ε ≤ | gap | gap in the limit | suspect | attack |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for s in sandwiches:
        lines.append(
            f"| {s.randomizer} | {s.n} | {s.attack.lower:.5f} | {s.bound.upper:.5f} | {100 * s.gap:.3g} % "
            f"| {100 * s.limit_gap:.3g} % | {s.suspect} | {s.dataset} |"
        )
    return "\n".join(lines)
