r"""Rounds by brute force: the product of pairs of distributions, outcome by outcome, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.truth.exact.reduction_pair import hockey_stick

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
    merged = [_merged(pair.values()) for pair in rounds]
    product = [(Fraction(1), Fraction(1))]
    for i, pair in enumerate(merged):
        if len(product) * len(pair) > MAX_PRODUCTS:
            raise ValueError(f"round {i + 1} needs {len(product) * len(pair)} products, more than {MAX_PRODUCTS}")
        if i < len(merged) - 1:
            product = _merged((p * x, q * y) for p, q in product for x, y in pair)
    exact = Fraction(int(ratio.p), int(ratio.q))
    total = hockey_stick(((p * x, q * y) for p, q in product for x, y in merged[-1]), exact)
    return sp.Rational(total.numerator, total.denominator)


def _merged(outcomes: Any) -> list[tuple[Fraction, Fraction]]:
    groups: dict[Any, tuple[Fraction, Fraction]] = {}
    for p, q in outcomes:
        key = p / q if q else None
        x, y = groups.get(key, (Fraction(0), Fraction(0)))
        groups[key] = (x + p, y + q)
    return list(groups.values())
