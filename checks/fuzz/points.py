r"""Where a subject is asked: ratios α, levels ε and targets δ at which something happens."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from checks.fuzz.inputs import Subject
from checks.fuzz.judges import exponential
from checks.fuzz.oracle import Pair, ball


class Ratio(NamedTuple):
    """An α, or an ε: its text and e^ε."""

    text: str
    alpha: arb


def number(value: Fraction) -> str:
    """The text of a fraction."""
    return f"sp.Rational({value.numerator}, {value.denominator})"


def alphas(subject: Subject, rng: random.Random, count: int, *, below_one: bool = True) -> Iterator[Fraction]:
    """Ratios where something happens: over the range of δ, at and beside losses and outcomes, around 1."""
    if subject.alphas:
        yield from subject.alphas  # all above 1
        return
    found: set[Fraction] = set()
    ratios = [ratio for ratio in subject.below.ratios if 1e-60 < ratio < 1e60]
    largest = math.log(max(ratios)) if ratios else 3 * subject.scale
    for _ in range(3 * count):
        style = rng.random()
        if style < 0.1 and subject.losses:
            alpha = rng.choice(subject.losses) * _beside(rng)
        elif style < 0.3 and ratios:
            alpha = Fraction(rng.choice(ratios)) * _beside(rng)
        elif style < 0.35:
            alpha = _beside(rng)
        elif style < 0.6 and ratios:
            one, other, share = math.log(rng.choice(ratios)), math.log(rng.choice(ratios)), rng.random()
            alpha = Fraction(f"{math.exp(share * one + (1 - share) * other):.{rng.randint(2, 17)}g}")
        else:
            eps = subject.scale * rng.choice((0.1, 1, 3, 10, 38)) * rng.uniform(0, 1)
            eps = eps if eps < largest or rng.random() < 0.03 else largest * rng.random()
            alpha = Fraction(f"{math.exp(rng.choice((-1, 1, 1)) * min(eps, 150)):.{rng.randint(3, 17)}g}")
        if not below_one and 0 < alpha < 1:
            alpha = 1 / alpha
        if Fraction(1, 10**80) < alpha < 10**80 and alpha not in found and len(found) < count:
            found.add(alpha)
            yield alpha


def _beside(rng: random.Random) -> Fraction:
    return 1 + rng.choice((0, 0, 1, -1)) * Fraction(1, 10 ** rng.choice((1, 3, 6, 9, 12, 15, 18)))


def epsilons(subject: Subject, rng: random.Random, count: int) -> Iterator[Ratio]:
    """ε as logarithms of fractions, as doubles, as exact decimals."""
    for alpha in alphas(subject, rng, count, below_one=False):
        if rng.random() < 0.3 or subject.alphas:
            yield Ratio(f"sp.log({number(alpha)})", ball(alpha))
            continue
        eps = math.log(alpha) if alpha < 10**300 else 0.0
        eps = eps if rng.random() < 0.6 else float(f"{eps:.3g}")
        yield Ratio(repr(eps), exponential(Fraction(repr(eps))))


def targets(subject: Subject, rng: random.Random, count: int, pair: Pair | None = None) -> list[tuple[str, Fraction]]:
    """δ that are reached: values of the curve, times something; and from 1e-300 to 1/2."""
    chosen = []
    for alpha in alphas(subject, rng, count, below_one=False):
        value = float((pair or subject.below).divergence(ball(alpha)).mid())
        value *= rng.choice((1.0, 1.0, 0.5, 1.01))
        if not 1e-300 < value < 1 or rng.random() < 0.1:
            value = 10 ** rng.uniform(-299, -0.3)
        text = repr(value)
        chosen.append((text, Fraction(text)))  # a float is read as the decimal that it prints as
    return chosen
