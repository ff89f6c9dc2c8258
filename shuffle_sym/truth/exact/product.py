r"""Rounds by brute force: the product of pairs of distributions, outcome by outcome, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments

Pair = dict[Any, tuple[Fraction, Fraction]]
MAX_PRODUCTS = 20_000_000


def composed_divergence(rounds: Sequence[Pair], alpha: Any) -> sp.Rational:
    r"""D_α of the product of ``rounds``, pairs {outcome: (P, Q)}, for a rational α.

    Outcomes with the same ratio P : Q are counted as one, which loses nothing; all else is literal.

    >>> coin = {"heads": (Fraction(3, 4), Fraction(1, 4)), "tails": (Fraction(1, 4), Fraction(3, 4))}
    >>> composed_divergence([coin, coin], 2)
    7/16
    """
    ratio = arguments.ratio(alpha)
    if not ratio.is_Rational:
        raise ValueError(f"alpha must be rational: composition is computed with fractions, got {alpha!r}")
    if not rounds:
        raise ValueError("rounds must not be empty")
    scales = [math.lcm(*(mass.denominator for both in pair.values() for mass in both)) for pair in rounds]
    merged = [_merged(pair.values(), scale) for pair, scale in zip(rounds, scales, strict=True)]
    product = [(int(ratio.q), int(ratio.p))]  # P is compared with αQ
    for i, pair in enumerate(merged):
        if len(product) * len(pair) > MAX_PRODUCTS:
            raise ValueError(f"round {i + 1} needs {len(product) * len(pair)} products, more than {MAX_PRODUCTS}")
        if i < len(merged) - 1:
            product = _merged((p * x, q * y) for p, q in product for x, y in pair)
    total = sum(max(p * x - q * y, 0) for p, q in product for x, y in merged[-1])
    return sp.Rational(total, int(ratio.q) * math.prod(scales))


def _merged(outcomes: Any, scale: int = 1) -> list[tuple[int, int]]:
    groups: dict[Any, tuple[int, int]] = {}
    for p, q in ((int(p * scale), int(q * scale)) for p, q in outcomes):
        common = math.gcd(p, q) or 1
        x, y = groups.get((p // common, q // common), (0, 0))
        groups[p // common, q // common] = (x + p, y + q)
    return list(groups.values())
