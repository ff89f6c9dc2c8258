r"""The reduction pair itself: two distributions of histograms (Su et al. 2025, Definition 8).

The slow, literal way. It knows nothing of the GPARV, so it can tell whether Theorem 9 and our null atoms are right.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from shuffle_sym.algebra import arguments
from shuffle_sym.model.decomposition import Decomposition, Numbers
from shuffle_sym.truth.histograms import Histogram, weighted_histograms


def reduction_pair(masses: Numbers, n: int) -> dict[Histogram, tuple[Fraction, Fraction]]:
    """Probability of every histogram under x0 and under x1: one draw from a or b of ``masses``, n − 1 from (c, β).

    >>> from shuffle_sym.model.decomposition import Decomposition
    >>> D = Decomposition(a=["3/4", "1/4"], b=["1/4", "3/4"], c=["1/2", "1/2"])
    >>> reduction_pair(D.exact(), 2)[1, 1, 0]
    (Fraction(1, 2), Fraction(1, 2))
    """
    a, b, c = (*masses.a, 0), (*masses.b, 0), (*masses.c, masses.beta)
    pair: dict[Histogram, tuple[Fraction, Fraction]] = {}
    for others, weight in weighted_histograms(n - 1, [Fraction(probability) for probability in c]):
        for j, (under_x0, under_x1) in enumerate(zip(a, b, strict=True)):
            histogram = (*others[:j], others[j] + 1, *others[j + 1 :])
            p, q = pair.get(histogram, (Fraction(0), Fraction(0)))
            pair[histogram] = (p + weight * under_x0, q + weight * under_x1)
    return pair


def shuffled_pair(D: Decomposition, n: Any) -> dict[Histogram, tuple[Fraction, Fraction]]:
    """The reduction pair of a rational decomposition D with n users.

    >>> import shuffle_sym as ss
    >>> import sympy as sp
    >>> pair = shuffled_pair(ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 0), 2)
    >>> pair[2, 0, 0], pair[1, 1, 0], pair[0, 2, 0]
    ((Fraction(9, 16), Fraction(3, 16)), (Fraction(3, 8), Fraction(5, 8)), (Fraction(1, 16), Fraction(3, 16)))
    """
    masses = D.exact()
    if not isinstance(masses.beta, Fraction):
        raise ValueError(
            "the reduction pair is computed with fractions: give eps0 as sp.log of a rational number, such as sp.log(3)"
        )
    return reduction_pair(masses, arguments.users(n))


def hockey_stick(outcomes: Iterable[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """Σ [P − αQ]_+ over outcomes (P, Q)."""
    return sum((max(p - alpha * q, Fraction(0)) for p, q in outcomes), Fraction(0))


def reduction_pair_divergence(D: Decomposition, n: int, alpha: Fraction) -> Fraction:
    r"""D_α of the reduction pair of n users, histogram by histogram, for a rational decomposition D.

    >>> import shuffle_sym as ss
    >>> import sympy as sp
    >>> D = ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 0)
    >>> reduction_pair_divergence(D, 2, Fraction(1))         # 9/16 − 3/16
    Fraction(3, 8)
    """
    return hockey_stick(shuffled_pair(D, n).values(), alpha)
