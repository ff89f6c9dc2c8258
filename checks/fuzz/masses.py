r"""Masses at random, as fractions: alike, of very different sizes, down to 1e-300, and their texts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction


def random_weights(rng: random.Random, size: int) -> list[Fraction]:
    """Positive and zero weights: alike, of very different sizes, or down to 1e-300."""
    style = rng.choice(("plain", "plain", "scales", "tiny", "steep"))
    weights = []
    for _ in range(size):
        weight = Fraction(rng.choice((0, 1, 1, 1, 1)) * rng.randint(1, 9))
        if style == "scales":
            weight *= Fraction(10) ** rng.choice((0, 0, 1, 2, 9))
        elif style == "tiny" and rng.random() < 0.5:
            weight /= Fraction(10) ** rng.choice((5, 20, 100, rng.randint(1, 300)))
        elif style == "steep":
            weight *= Fraction(10) ** rng.randint(-21, 21)
        weights.append(weight)
    weights[rng.randrange(size)] += 1
    return weights


def law(weights: Sequence[Fraction], total: Fraction = Fraction(1)) -> list[Fraction]:
    return [total * weight / sum(weights) for weight in weights]


def masses(rng: random.Random, size: int) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """a, b and c of a decomposition; some with a nearly b, some without a rest, some with hardly anything but rest."""
    a = law(random_weights(rng, size))
    b = law(random_weights(rng, size))
    if rng.random() < 0.2:
        off = Fraction(1, 10 ** rng.randint(1, 12))
        b = law([mass * (1 + off * rng.randint(-9, 9) / 10) for mass in a])
    covered = rng.choice(
        [Fraction(1)] * 3 + [Fraction(i, 8) for i in range(9)] + [Fraction(1, 10 ** rng.randint(2, 9))]
    )
    c = law(random_weights(rng, size), covered)
    if rng.random() < 0.3:  # as in a blanket: at most the least of the two
        c = [covered * min(p, q) for p, q in zip(a, b, strict=True)]
    return a, b, c


def text_of(a: Sequence[Fraction], b: Sequence[Fraction], c: Sequence[Fraction]) -> str:
    return f"ss.decomposition.Decomposition({strings(a)}, {strings(b)}, {strings(c)})"


def strings(numbers: Sequence[Fraction]) -> str:
    return "[" + ", ".join(f'"{number}"' for number in numbers) + "]"


def losses(a: Sequence[Fraction], b: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(p / q for p, q in zip(a, b, strict=True) if p and q)


def inside(rng: random.Random, bits: int) -> Fraction:
    """A probability, now and then close to 0 or 1."""
    small = Fraction(rng.randint(1, 9), 10**bits)
    return rng.choice((small, 1 - small, Fraction(rng.randint(1, 99), 100), Fraction(rng.randint(1, 99), 100)))
