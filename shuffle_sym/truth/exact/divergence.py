r"""The divergence of a decomposition, exactly or to any number of digits.

.. math:: D_\alpha = \sum_{j:\,c_j = 0} [a_j - \alpha b_j]_+ + \frac1n\, \mathbb E\Bigl[\sum_{i=1}^n G_i\Bigr]_+
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import sympy as sp
from flint import arb

from shuffle_sym.algebra import arguments, precise
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import LawOfG, Ratio
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.exact.central import CentralSum
from shuffle_sym.truth.histograms import positive_part, seconds_of_all

MOST_SECONDS = 20.0
_GUARD = 2  # digits more than are asked for


def divergence(D: Decomposition, n: int, alpha: sp.Expr, digits: int = 50) -> sp.Rational | mpmath.mpf:
    r"""D_α of the decomposition D with n users: a ``Rational`` if a, b, c and α are rational, else an ``mpf`` with
    ``digits`` good digits.

    A ``Rational`` is summed over :math:`\binom{n + m - 2}{m - 2}` terms for m values of G.

    >>> import shuffle_sym as ss
    >>> D = ss.decomposition.blanket(ss.BinaryRR(eps0=sp.log(3)))
    >>> divergence(D, 1, sp.Integer(2)), divergence(D, 2, sp.Integer(2))
    (1/4, 3/16)
    """
    if not isinstance(D, Decomposition):
        raise TypeError(f"D must be a Decomposition, got {D!r}")
    n, alpha, digits = arguments.users(n), arguments.ratio(alpha), arguments.positive_integer(digits, "digits")
    law = D.gparv.fractions(alpha)
    if law is None:
        return precise.middle(enclosure(D, n, Ratio(alpha=alpha), digits, f"a value with {digits} digits"), digits + 5)
    if _seconds_of_fractions(law, n) > MOST_SECONDS:
        most, _ = last_that_holds(lambda size: _seconds_of_fractions(law, size) <= MOST_SECONDS, 0, n)
        raise ValueError(
            f"n = {n} is too much for a fraction, which takes {MOST_SECONDS:g} s up to n = {most}; "
            "delta(eps, digits=…) has as many digits as are asked for, and delta(eps) an answer for every n"
        )
    return sp.Rational(_of_fractions(law, n))


def enclosure(D: Decomposition, n: int, ratio: Ratio, digits: int, asked: str) -> arb:
    """A ball that contains D_α of D and n users, α from ``ratio``, of a relative radius below 10^-digits; what takes
    too long is refused, with what was ``asked`` for, in the words of the caller.

    >>> import shuffle_sym as ss
    >>> D = ss.decomposition.blanket(ss.KRR(k=3, eps0=1))
    >>> enclosure(D, 10_000, Ratio(eps=sp.Rational(3, 100)), 30, "digits = 30").str(30, radius=False)
    '1.27806298133874281616806496809e-5'
    """
    arguments.numeric_only(D.free_symbols, "a numerical answer")
    planned = CentralSum(D.gparv, ratio, n, digits + _GUARD)
    if planned.seconds <= MOST_SECONDS:
        return planned.value()

    def fits(users: int, wanted: int) -> bool:
        return CentralSum(D.gparv, ratio, users, wanted + _GUARD).seconds <= MOST_SECONDS

    most, _ = last_that_holds(lambda users: fits(users, digits), 0, n)
    few, _ = last_that_holds(lambda wanted: fits(n, wanted), 0, digits)
    fewer = f" (digits = {few} would)" if few else ""
    raise ValueError(
        f"{asked} takes a sum that ends within {MOST_SECONDS:g} s up to n = {most} for this decomposition, "
        f"got n = {n}{fewer}; delta(eps, rtol=…) has an answer in doubles for every n"
    )


def _seconds_of_fractions(law: LawOfG, n: int) -> float:
    """About how long the sum of fractions takes: their numerators get long."""
    bits = n * math.log2(math.lcm(*(p.denominator for p in law.probabilities)))
    return seconds_of_all(n, len(law.values)) * (1 + math.pow(bits / 4000, 1.6))


def _of_fractions(law: LawOfG, n: int) -> Fraction:
    """Whole numbers over common denominators: none is reduced on the way."""
    unit, whole = (math.lcm(*(x.denominator for x in numbers)) for numbers in (law.values, law.probabilities))
    mean = positive_part([int(v * unit) for v in law.values], [int(p * whole) for p in law.probabilities], n)
    return sum(law.null, Fraction(mean, n * unit * whole**n))
