r"""The one-dimensional pairs of Koskela et al. 2021, Section 5, *as printed*: for comparison only, nothing is computed
with them.

Both replace a pair of laws of *two* counts by the laws of the counts, each for itself. Exchanging the values 1 and 2
turns N_2 under X into N_1 under X', so both pairs see less than the adversary they stand for, and data processing
gives, for every α and in both directions,

.. math:: D_\alpha(P_w \| Q_w) \le D_\alpha(A_w), \qquad (1 - \gamma)\, D_\alpha(P_s \| Q_s) \le D_\alpha(A_s).

The first is *below* the truth; the second misses the factor 1 − γ and can be on either side.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.laws import binomial
from shuffle_sym.truth.histograms import hockey_stick

Pair = dict[Fraction, tuple[Fraction, Fraction]]


def printed_strong(k: Any, gamma: Any, n: Any) -> Pair:
    r"""Value → (P, Q) for P_s = Bin(n − 1, γ/k) + 1 and Q_s = Bin(n − 1, γ/k) (Koskela et al. 2021, (5.1), as printed).

    >>> printed_strong(2, Fraction(1, 2), 2)[Fraction(1)]
    (Fraction(3, 4), Fraction(1, 4))
    """
    k, gamma, n = _checked(k, gamma, n)
    pair: Pair = {}
    for count, weight in enumerate(binomial(n - 1, gamma / k)):
        _add(pair, Fraction(count + 1), weight, Fraction(0))
        _add(pair, Fraction(count), Fraction(0), weight)
    return pair


def printed_weak(k: Any, gamma: Any, n: Any) -> Pair:
    r"""Value → (P, Q) for P_w = (1 − γ) N_1 + (B + 1)γ/k and Q_w with N_2 in place of N_1, where B ~ Bin(n − 1, γ) and,
    given B, N_1 ~ Bin(B, 1/k) + Bern(1 − γ + γ/k), N_2 ~ Bin(B, 1/k) + Bern(γ/k) (Koskela et al. 2021, Theorem 10, as
    printed).

    >>> printed_weak(2, Fraction(1, 2), 1)
    {Fraction(1, 4): (Fraction(1, 4), Fraction(3, 4)), Fraction(3, 4): (Fraction(3, 4), Fraction(1, 4))}
    """
    k, gamma, n = _checked(k, gamma, n)
    other = gamma / k
    own = 1 - gamma + other
    # Whole numbers over one denominator: fractions would be reduced half a million times at n = 1000. In units of
    # γ/k's denominator a value is count·step + (b + 1)·top, and the user's own message adds one step or none.
    top, bottom = gamma.numerator, gamma.denominator
    step, whole = (bottom - top) * k, (bottom * k) ** (n - 1)
    others: dict[int, int] = {}
    for b in range(n):
        chance = math.comb(n - 1, b) * top**b * (bottom - top) ** (n - 1 - b) * k ** (n - 1 - b) * (k - 1) ** b
        for count in range(b + 1):
            value = count * step + (b + 1) * top
            others[value] = others.get(value, 0) + chance
            chance = chance * (b - count) // ((count + 1) * (k - 1))

    def law(sent: Fraction, value: int) -> Fraction:
        return Fraction((1 - sent) * others.get(value, 0) + sent * others.get(value - step, 0), whole)

    values = sorted({*others, *(value + step for value in others)})
    return {Fraction(value, bottom * k): (law(own, value), law(other, value)) for value in values}


def divergences(pair: Mapping[Fraction, tuple[Fraction, Fraction]], alpha: Any) -> tuple[Fraction, Fraction]:
    r"""D_α(P ‖ Q) and D_α(Q ‖ P); (ε, δ)-indistinguishable means that δ is at least the larger one.

    >>> divergences(printed_strong(2, Fraction(1, 2), 2), Fraction(3))
    (Fraction(1, 4), Fraction(3, 4))
    """
    ratio = _fraction(arguments.ratio(alpha), "alpha")
    return hockey_stick(pair.values(), ratio), hockey_stick(((q, p) for p, q in pair.values()), ratio)


def _checked(k: Any, gamma: Any, n: Any) -> tuple[int, Fraction, int]:
    k, n = arguments.positive_integer(k, "k"), arguments.users(n)
    if k < 2:
        raise ValueError(f"k must be an integer >= 2, got {k}")
    share = _fraction(arguments.exact_number(gamma, "gamma"), "gamma")
    if not 0 < share <= 1:
        raise ValueError(f"gamma must be in (0, 1], got {gamma}")
    return k, share, n


def _fraction(number: sp.Expr, name: str) -> Fraction:
    if not number.is_Rational:
        raise ValueError(f"{name} must be rational, got {number}: the printed pairs are computed with fractions")
    return Fraction(int(number.p), int(number.q))


def _add(pair: Pair, value: Fraction, under_p: Fraction, under_q: Fraction) -> None:
    p, q = pair.get(value, (Fraction(0), Fraction(0)))
    pair[value] = (p + under_p, q + under_q)
