r"""Several attributes that are randomised at once: from pairs of laws of the parts to one pair of laws of the whole.

A product of d laws with k atoms each has k^d atoms. Two ways out, one for either side:

- **above**: in every part the law of X* is moved to the points :math:`q^i`, because chords of Ψ between these are above
  Ψ, and so is its copy X' (`comonotone`). An atom of the product is then at a point :math:`(q^I, q^J)`, where I and J
  are sums of exponents of the parts: masses are coefficients of a product of polynomials. If there are too many points
  only some values of I and J are kept; what is between two of them is moved to both, so that the mean is kept. Given
  X' and all other users that is a larger law of X*, and the same for X' given X*.
  Messages that are hardly ever sent, and have very large ratios, tell who sent them: whoever knows that knows more;
- **below**: messages with nearly the same ratios a : b : c are counted as one, which is post-processing.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpz_poly

from shuffle_sym.algebra.rationals import ZERO, fraction, rational, with_sum
from shuffle_sym.algebra.rounding import BITS
from shuffle_sym.model import comonotone

Masses = dict[tuple[int, int], Any]  # at points (q^i, q^j), by i and j: whole numbers, or fractions, over `_UNIT`
Columns = Sequence[Sequence[Fraction]]  # a, b and c

_STEPS, _MOST_STEPS = 256, 128  # of all exponents together, about, and of those of one part
_BASE_BITS, _MASS_BITS = 24, 320
_UNIT = 2**_MASS_BITS
_TELLING = Fraction(1, 10**13)  # the probability of messages that are given away where ratios are not bounded
_RARE = 2 ** (_MASS_BITS - 240)  # of a mass times `_UNIT`
_FIRST_BIN = 2.0**-9  # of logarithms of ratios


def above(parts: Sequence[Columns], most: int) -> Columns:
    """a, b, c of a pair of laws above the product of pairs of laws, of which each is above all pairs of inputs; about
    ``most`` atoms at most. Right to so many bits that doubles do not show what is missing."""
    counts = Counter(tuple(map(tuple, part)) for part in parts)
    logs = {part: math.log(max(a / c for a, c in zip(part[0], part[2], strict=True) if c)) for part in counts}
    steps = len(parts) * min(math.ceil(_STEPS / len(parts)), _MOST_STEPS)
    step = sum(count * logs[part] for part, count in counts.items()) / steps
    scale = 2 ** (_BASE_BITS - math.frexp(step)[1])
    q = 1 + Fraction(math.ceil(math.expm1(step) * scale), scale)
    made = [(_on_lattice(part, q), count) for part, count in counts.items()]
    highest = 1 + sum(count * max(i for i, _ in law) for law, count in made)
    whole = fmpz_poly([_UNIT])
    for law, count in made:
        coefficients = [0] * (highest * (1 + max(j for _, j in law)))
        for (i, j), mass in law.items():
            coefficients[i + highest * j] = mass
        whole = _times(whole, _power(fmpz_poly(coefficients), count))
    masses = {(k % highest, k // highest): int(m) for k, m in enumerate(whole.coeffs()) if m != 0}
    telling = any(c == 0 for part in counts for c in part[2])
    shares = (fraction(sum(map(rational, part[2]), ZERO)) ** count for part, count in counts.items())
    gamma = math.prod(shares, start=Fraction(1))
    kept = _without_the_farthest(masses, q) if telling else _with_corners(masses, q, highest - 1, gamma)
    every = math.ceil((len(kept) / most) ** (1 / min(len(parts), 2)))
    while len(laws := _coarser(kept, q, every)) > most:
        every += 1
    powers = [q**i for i in range(max(max(key) for key in laws) + 1)]
    columns = [[_short(powers[key[side]] * m) for key, m in laws.items()] for side in (0, 1)]
    columns.append([_short(m) for m in laws.values()])
    if telling:
        first, second = (1 - sum(column, Fraction(0)) for column in columns[:2])
        columns[0] += [first, Fraction(0)]
        columns[1] += [Fraction(0), second]
        columns[2] += [Fraction(0)] * 2
    else:
        columns[:2] = [with_sum(column, 1) for column in columns[:2]]
    return columns


def _on_lattice(laws: Columns, q: Fraction) -> Masses:
    """The masses, times `_UNIT`, of a pair of laws above this one at points (q^i, q^j)."""
    a, b, c = ([rational(m) for m in column] for column in laws)
    powers, top = [Fraction(1)], max(p / m for p, m in zip((*a, *b), (*c, *c), strict=True) if m != 0)
    while rational(powers[-1]) < top:
        powers.append(powers[-1] * q)
    points = []
    for k in powers[1:]:
        level = rational(k)
        excess = (
            sum((p - level * m for p, m in zip(masses, c, strict=True) if p > level * m), ZERO) for masses in (a, b)
        )
        points.append((k, fraction(max(excess))))
    made = comonotone.from_transform(points, fraction(sum(c, ZERO)), "on a lattice")
    exponents = {sp.Rational(k.numerator, k.denominator): i for i, k in enumerate(powers)}
    return {(exponents[a / c], exponents[b / c]): int(fraction(rational(c)) * _UNIT) for _, a, b, c in made.atoms if c}


def _times(first: fmpz_poly, second: fmpz_poly) -> fmpz_poly:
    """A product of polynomials with coefficients that are masses times `_UNIT`, rounded down."""
    return fmpz_poly([int(m) >> _MASS_BITS for m in (first * second).coeffs()])


def _power(base: fmpz_poly, count: int) -> fmpz_poly:
    if count == 1:
        return base
    half = _power(base, count // 2)
    return _times(_times(half, half), base) if count % 2 else _times(half, half)


def _totals(masses: Masses, side: int) -> dict[int, int]:
    """The mass at each exponent of one of the two laws."""
    totals: dict[int, int] = defaultdict(int)
    for key, mass in masses.items():
        totals[key[side]] += mass
    return totals


def _with_corners(masses: Masses, q: Fraction, top: int, gamma: Fraction) -> Masses:
    """With what rounding down has missed, so that both laws have the mass 1 and their blanket has the mass gamma. It is
    moved to the exponents 0 and ``top``, each of the two means being kept, and coupled so that one falls as the other
    grows: no other law of it is larger."""
    missed = gamma * _UNIT - sum(masses.values())
    if not missed:
        return masses
    first, second = (
        (_UNIT - sum(q**i * m for i, m in _totals(masses, side).items()) - missed) / (q**top - 1) for side in (0, 1)
    )
    both = max(first + second - missed, Fraction(0))
    corners = {(top, 0): first - both, (0, top): second - both, (top, top): both}
    corners[0, 0] = missed - first - second + both
    return {key: masses.get(key, 0) + corners.get(key, Fraction(0)) for key in {**masses, **corners}}


def _without_the_farthest(masses: Masses, q: Fraction) -> Masses:
    """Without the messages with the largest ratios, which little of the probability of either input is at. To tell who
    sent them is to tell more."""
    last = []
    for side in (0, 1):
        totals = _totals(masses, side)
        given, highest = Fraction(0), max(totals)
        while (given := given + q**highest * totals[highest] / _UNIT) <= _TELLING:
            highest -= 1
        last.append(highest)
    return {key: mass for key, mass in masses.items() if key[0] <= last[0] and key[1] <= last[1]}


def _coarser(masses: Masses, q: Fraction, every: int) -> dict[tuple[int, int], Fraction]:
    """A larger pair of laws, at 0 and at exponents that differ from the largest one by multiples of a number: what is
    between two of them is moved to both, and each of the two means is kept."""
    top = max(map(max, masses))
    places: list[list[tuple[int, int]]] = []  # for each exponent, where it goes to and which share, times `_UNIT`
    for low, high in pairwise([0, *range(top % every or every, top + 1, every)]):
        for i in range(low, high):
            up = round((q ** (i - low) - 1) / (q ** (high - low) - 1) * _UNIT)
            places.append([(low, _UNIT - up), (high, up)] if up else [(low, _UNIT)])
    places.append([(top, _UNIT)])
    moved: Masses = defaultdict(int)
    for (i, j), mass in masses.items():
        for to_i, share_i in places[i]:
            part = mass * share_i
            for to_j, share_j in places[j]:
                moved[to_i, to_j] += part * share_j
    return {key: Fraction(mass, _UNIT**3) for key, mass in moved.items()}


def _short(number: Fraction) -> Fraction:
    """The number to so many bits."""
    bits = BITS - number.numerator.bit_length() + number.denominator.bit_length()
    return Fraction(round(number * Fraction(2) ** bits)) / Fraction(2) ** bits


def below(parts: Sequence[Columns], most: int) -> Columns:
    """a, b, c of the product of pairs of laws, messages being counted as one until there are ``most`` at most. Right to
    so many bits that doubles do not show what is missing."""
    columns = [[_UNIT]] * 3
    for part in parts:
        own = [with_sum([int(m * _UNIT) for m in column], int(sum(column) * _UNIT)) for column in part]
        totals = [sum(old) * sum(new) >> _MASS_BITS for old, new in zip(columns, own, strict=True)]
        sent = [[p * m >> _MASS_BITS for p in old for m in new] for old, new in zip(columns, own, strict=True)]
        columns = [with_sum(column, total) for column, total in zip(_merged(sent, most), totals, strict=True)]
    return [[Fraction(m, _UNIT) for m in column] for column in columns]


def _merged(columns: list[list[int]], most: int) -> list[list[int]]:
    """Messages with ratios in one bin as one; the bins are so wide that there are few enough. Messages that are so rare
    that rounding is seen are counted with the most likely one."""
    logs = np.array([[_log(c, a), _log(c, b)] for a, b, c in zip(*columns, strict=True)])
    width = _FIRST_BIN
    while len(set(bins := [tuple(place) for place in np.round(logs / width).tolist()])) > most:
        width *= 2
    totals: dict[tuple[float, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    likely = bins[columns[2].index(max(columns[2]))]
    for place, *atom in zip(bins, *columns, strict=True):
        here = place if max(atom) > _RARE else likely
        totals[here] = [p + q for p, q in zip(totals[here], atom, strict=True)]
    return [list(column) for column in zip(*totals.values(), strict=True)]


def _log(p: int, q: int) -> float:
    """About log(q/p), a large number where one of the two is 0."""
    return math.log(q) - math.log(p) if p and q else 1e9 * ((p > 0) - (q > 0))
