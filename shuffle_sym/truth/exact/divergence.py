r"""The divergence of a decomposition, summed exactly over the multinomial.

.. math:: D_\alpha = \sum_{j:\,c_j = 0} [a_j - \alpha b_j]_+ + \frac1n\, \mathbb E\Bigl[\sum_{i=1}^n G_i\Bigr]_+
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments, precise
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.histograms import weighted_histograms

MAX_WORK = 100_000_000  # terms times their length in digits, which grows like n


def divergence(D: Decomposition, n: int, alpha: sp.Expr, digits: int = 50) -> sp.Rational | mpmath.mpf:
    r"""D_α of the decomposition with n users: a ``Rational`` if a, b, c and α are rational, else an ``mpf`` with
    ``digits`` good digits.

    Cost: :math:`\binom{n + m - 2}{m - 2}` terms for m values of G.

    >>> import shuffle_sym as ss
    >>> D = ss.decomposition.blanket(ss.BinaryRR(eps0=sp.log(3)))
    >>> divergence(D, 1, sp.Integer(2)), divergence(D, 2, sp.Integer(2))
    (1/4, 3/16)
    """
    if not isinstance(D, Decomposition):
        raise TypeError(f"D must be a Decomposition, got {D!r}")
    n, alpha, digits = arguments.users(n), arguments.ratio(alpha), arguments.positive_integer(digits, "digits")
    G = D.gparv
    m, terms = _terms(D, n)
    if work(D, n) > MAX_WORK:
        raise ValueError(
            f"n = {n} with {m} values of G needs {terms} terms of about {n} digits, which is too much; use delta(eps)"
        )
    law = G.exact(alpha, digits + 15)
    if isinstance(law.probabilities[0], Fraction):
        return sp.Rational(Fraction(_evaluate(law.values, law.probabilities, law.null, n)[0]))
    return _to_digits(G, n, alpha, digits)


def _terms(D: Decomposition, n: int) -> tuple[int, int]:
    """The number of values of G, and of terms in the sum."""
    m = max(len(D.gparv.masses), 2)
    return m, math.comb(n + m - 2, m - 2)


def work(D: Decomposition, n: int) -> int:
    """What `divergence` costs: terms times their length in digits.

    >>> import shuffle_sym as ss
    >>> work(ss.decomposition.blanket(ss.BinaryRR(eps0=1)), 10)  # 11 counts of one value, the others follow
    110
    """
    return _terms(D, n)[1] * n


def most_users(D: Decomposition) -> int:
    """The largest n for which `divergence` is not refused.

    >>> import shuffle_sym as ss
    >>> most_users(ss.decomposition.clones(1)) > most_users(ss.decomposition.blanket(ss.KRR(k=10, eps0=1)))
    True
    """

    def fits(n: int) -> bool:
        return work(D, n) <= MAX_WORK

    too_many = 2
    while fits(too_many):
        too_many *= 2
    return last_that_holds(fits, 1, too_many)[0]


def _to_digits(G: Any, n: int, alpha: sp.Expr, digits: int) -> mpmath.mpf:
    """Raise the working precision until the error bound is below the digits asked for."""
    working = digits + 15
    while working < 100 * (digits + 15):
        law, mp = G.exact(alpha, working), precise.context(working)
        if not law.null and max(law.values) <= 0:
            return mpmath.mpf(0)
        values, probabilities, null = (
            [mp.convert(x) for x in part] for part in (law.values, law.probabilities, law.null)
        )
        value, scale = _evaluate(values, probabilities, null, n)
        # Each product in the sum has at most 4n + 20 roundings, of numbers right to `working` digits.
        error = scale * (4 * n + 20) * mp.mpf(10) ** (1 - working)
        # The truth is positive: a zero here is round-off.
        if value > 0 and error * mp.mpf(10) ** digits <= value:
            return precise.as_mpf(value)
        working *= 2
    raise VerificationError(f"cannot reach {digits} digits at n = {n}, alpha = {alpha}")


def _evaluate(values: Sequence[Any], probabilities: Sequence[Any], null: Sequence[Any], n: int) -> tuple[Any, Any]:
    """D_α, and a bound on the sum of the absolute values of everything that was added up for it."""
    exact = isinstance(probabilities[0], Fraction)
    mean, mass = (_positive_part_of_fractions if exact else _positive_part)(values, probabilities, n)
    return sum(null) + mean / n, sum(null) + 2 * max(abs(v) for v in values) * mass


def _positive_part_of_fractions(
    values: Sequence[Fraction], probabilities: Sequence[Fraction], n: int
) -> tuple[Fraction, Fraction]:
    """`_positive_part` of fractions, in integers over common denominators: none is reduced on the way."""
    unit, whole = (math.lcm(*(x.denominator for x in numbers)) for numbers in (values, probabilities))
    mean, mass = _positive_part([int(v * unit) for v in values], [int(p * whole) for p in probabilities], n)
    return Fraction(mean, unit * whole**n), Fraction(mass, whole**n)


def _positive_part(values: Sequence[Any], probabilities: Sequence[Any], n: int) -> tuple[Any, Any]:
    r"""E[S]_+ for the sum S of n copies, and the probability of all outcomes that were, or by a rounding might
    have been, counted as positive.

    Counts of all values but the lowest and the highest are enumerated; given their sum w and the r draws left, these
    two are a binomial, and their part is a tail of it, from the first count that makes the sum positive.
    """
    merged: dict[Any, Any] = {}
    for value, probability in zip(values, probabilities, strict=True):
        merged[value] = merged.get(value, 0) + probability
    if len(merged) == 1:
        ((value, probability),) = merged.items()
        return max(n * value * probability**n, 0 * value), probability**n
    (low, p_low), *middle, (high, p_high) = sorted(merged.items())
    gap = high - low
    tails: dict[int, list[tuple[Any, Any]]] = {}
    mean, mass = 0 * low, 0 * low
    for (*counts, r), weight in weighted_histograms(n, [*(p for _, p in middle), p_low**0]):
        base = sum((count * value for count, (value, _) in zip(counts, middle, strict=True)), r * low)
        if r not in tails:
            tails[r] = _binomial_tails(r, p_high, p_low)
        first = 0 if base > 0 else int(-base // gap if isinstance(gap, int) else -base / gap) + 1
        if first <= r:
            tail, moment = tails[r][first]
            mean += weight * (base * tail + gap * moment)
        if first <= r + 1:
            mass += weight * tails[r][max(first - 1, 0)][0]
    return mean, mass


def _binomial_tails(r: int, p: Any, q: Any) -> list[tuple[Any, Any]]:
    """For m = 0 … r: the sums over i >= m of C(r, i) p^i q^(r−i), plain and weighted with i."""
    powers_p = list(accumulate([p] * r, lambda x, y: x * y, initial=p**0))
    powers_q = list(accumulate([q] * r, lambda x, y: x * y, initial=q**0))
    terms = [math.comb(r, i) * powers_p[i] * powers_q[r - i] for i in range(r + 1)]
    tails = accumulate(reversed(terms))
    moments = accumulate(i * terms[i] for i in range(r, -1, -1))
    return list(zip(tails, moments, strict=True))[::-1]
