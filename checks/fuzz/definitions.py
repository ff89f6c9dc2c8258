r"""The catalogue a second time: what each randomizer sends, as rows of probabilities in balls.

An ε0 is a text that the package evaluates and a ball: ``("sp.sqrt(2)", √2)``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

from flint import arb, ctx, fmpq

from checks.fuzz.oracle import BITS, Mass, ball

Rows = list[list[Mass]]
_TIED = 6  # of ten levels how many are plain decimals


class Level(NamedTuple):
    """A local privacy level: its text and its value."""

    text: str
    value: arb


class Definition(NamedTuple):
    """A randomizer of the catalogue: its text with a place for ε0, and its rows from t = e^ε0."""

    text: str
    rows: Callable[[arb], Rows]


def level(rng: random.Random, largest: float = 100.0) -> Level:
    """ε0 from 1e-6 to ``largest``: decimals, logarithms, roots."""
    with ctx.workprec(BITS + 64):
        if rng.randrange(10) < _TIED:
            size = math.exp(rng.uniform(math.log(0.05), math.log(largest)))
            size = size if rng.random() < 0.9 else 10 ** rng.uniform(-6, -1)
            text = f"{size:.{rng.randint(1, 6)}g}"
            return Level(f'sp.Rational("{text}")', ball(Fraction(text)))
        p, q = rng.randint(2, 30), rng.randint(1, 9)
        if p <= q or math.log(p / q) > largest:
            p, q = 3, 2
        root = min(p, int(largest))
        choices = [
            Level(f"sp.log(sp.Rational({p}, {q}))", arb(fmpq(p, q)).log()),
            Level(f"sp.sqrt({root})", arb(root).sqrt()),
            Level(f"sp.pi/{q}", arb.pi() / q),
        ]
        return rng.choice(choices[:2] if largest < math.pi else choices)


def _normalised(rows: Sequence[Sequence[arb]]) -> Rows:
    with ctx.workprec(BITS + 64):
        return [[weight / sum(row, arb(0)) for weight in row] for row in rows]


def responses(k: int) -> Callable[[arb], Rows]:
    """k-ary randomized response."""
    return lambda t: _normalised([[t if x == y else arb(1) for y in range(k)] for x in range(k)])


def subsets(d: int, w: int) -> Callable[[arb], Rows]:
    """A set of w of the d inputs, t times as likely if the input is in it."""
    sets = list(combinations(range(d), w))
    return lambda t: _normalised([[t if x in chosen else arb(1) for chosen in sets] for x in range(d)])


def bits(d: int, own: Callable[[arb], arb], other: Callable[[arb], arb]) -> Callable[[arb], Rows]:
    """d bits, each set by itself: that of the input with ``own(t)``, the others with ``other(t)``."""

    def rows(t: arb) -> Rows:
        with ctx.workprec(BITS + 64):
            table: Rows = []
            for x in range(d):
                chances = [own(t) if i == x else other(t) for i in range(d)]
                row: list[Mass] = []
                for message in product((True, False), repeat=d):
                    mass = arb(1)
                    for chance, is_set in zip(chances, message, strict=True):
                        mass *= chance if is_set else 1 - chance
                    row.append(mass)
                table.append(row)
            return table

    return rows


def hashing(g: int, d: int) -> Callable[[arb], Rows]:
    """A random function of the input to g values, told, and randomized response on its value."""
    messages = list(product(product(range(g), repeat=d), range(g)))
    return lambda t: _normalised([[t if h[x] == z else arb(1) for h, z in messages] for x in range(d)])


def hadamard(size: int) -> Callable[[arb], Rows]:
    """Columns with an even number of ones in common with x + 1 are t times as likely."""
    return lambda t: _normalised(
        [[t if ((x + 1) & y).bit_count() % 2 == 0 else arb(1) for y in range(size)] for x in range(size - 1)]
    )


def joint(first: Callable[[arb], Rows], second: Callable[[arb], Rows]) -> Callable[[arb], Rows]:
    """Both randomizers, each on its own attribute."""

    def rows(t: arb) -> Rows:
        with ctx.workprec(BITS + 64):
            return [[p * q for p, q in product(one, two)] for one, two in product(first(t), second(t))]  # type: ignore[operator]

    return rows


def _half(t: arb) -> arb:
    return arb(1) / 2


def _kept(t: arb) -> arb:
    return t.sqrt() / (t.sqrt() + 1)


def _flipped(t: arb) -> arb:
    return 1 / (t.sqrt() + 1)


def _one_of(t: arb) -> arb:
    return 1 / (t + 1)


#: Those with few messages, most likely first.
CATALOGUE = (
    Definition("ss.BinaryRR(eps0={})", responses(2)),
    Definition("ss.KRR(k=3, eps0={})", responses(3)),
    Definition("ss.KRR(k=4, eps0={})", responses(4)),
    Definition("ss.SubsetSelection(d=3, w=2, eps0={})", subsets(3, 2)),
    Definition("ss.HadamardResponse(K=4, eps0={})", hadamard(4)),
    Definition("ss.OUE(d=2, eps0={})", bits(2, _half, _one_of)),
    Definition("ss.RAPPOR(d=2, eps0={})", bits(2, _kept, _flipped)),
    Definition("ss.KRR(k=7, eps0={})", responses(7)),
    Definition("ss.SubsetSelection(d=4, w=2, eps0={})", subsets(4, 2)),
    Definition("ss.BLH(d=2, eps0={})", hashing(2, 2)),
    Definition("ss.OUE(d=3, eps0={})", bits(3, _half, _one_of)),
    Definition("ss.RAPPOR(d=3, eps0={})", bits(3, _kept, _flipped)),
    Definition("ss.Joint(ss.BinaryRR(eps0={0}), ss.KRR(k=3, eps0={0}))", joint(responses(2), responses(3))),
)


def clones(t: arb) -> tuple[list[Mass], list[Mass], list[Mass]]:
    """The standard clone."""
    with ctx.workprec(BITS + 64):
        a: list[Mass] = [t / (t + 1), 1 / (t + 1)]
        return a, a[::-1], [1 / (2 * t), 1 / (2 * t)]


def clones_koskela(t: arb) -> tuple[list[Mass], list[Mass], list[Mass]]:
    """The pair of Koskela et al. 2021, Section 6."""
    with ctx.workprec(BITS + 64):
        q, p, zero = t / (t + 1), 1 / t, Fraction(0)
        return [q, zero, 1 - q], [zero, q, 1 - q], [p / 2, p / 2, 1 - p]
