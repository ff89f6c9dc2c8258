r"""Exact values of decompositions: fractions and mpmath at small n, balls at any n; never floats.

.. math:: D_\alpha = \sum_{j:\,c_j = 0} [a_j - \alpha b_j]_+ + \frac1n\, \mathbb E\Bigl[\sum_{i=1}^n G_i\Bigr]_+

The divergence, in fractions or to any number of digits (`central_sum`); the reduction pair itself, histogram by
histogram, which knows nothing of G; several rounds, outcome by outcome; and Rényi moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import sympy as sp
from flint import arb
from mpmath import MPContext

from shuffle_sym.algebra import arguments, field, precise
from shuffle_sym.model.decomposition import Decomposition, Numbers
from shuffle_sym.model.gparv import LawOfG, Ratio
from shuffle_sym.numeric.search import last_that_holds
from shuffle_sym.truth.central_sum import CentralSum
from shuffle_sym.truth.histograms import (
    Histogram,
    histogram_count,
    hockey_stick,
    one_more,
    positive_part,
    power_sum,
    seconds_of_all,
    weighted_histograms,
)

__all__ = [
    "MOST_SECONDS",
    "CentralSum",
    "composed_divergence",
    "divergence",
    "enclosure",
    "reduction_pair",
    "reduction_pair_divergence",
    "renyi_divergence",
    "renyi_moment",
    "shuffled_pair",
    "two_rr_moment",
]

MOST_SECONDS = 20.0  # what would take longer is refused, with the largest n that does not: with less, fewer questions
MAX_PRODUCTS = 20_000_000  # of one round more: with more a composition takes minutes
MAX_HISTOGRAMS = 2_000_000  # of a moment, or of its terms: with more it takes minutes
_GUARD = 15  # digits more than asked for: a sum of MAX_HISTOGRAMS terms loses seven

Pair = dict[Any, tuple[Fraction, Fraction]]


# ----------------------------------------------------------------------------------------- the divergence


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
    # Whole numbers over common denominators: none is reduced on the way.
    unit, whole = (math.lcm(*(x.denominator for x in numbers)) for numbers in (law.values, law.probabilities))
    mean = positive_part([int(v * unit) for v in law.values], [int(p * whole) for p in law.probabilities], n)
    return sp.Rational(sum(law.null, Fraction(mean, n * unit * whole**n)))


def enclosure(D: Decomposition, n: int, ratio: Ratio, digits: int, asked: str) -> arb:
    """A ball that contains D_α of D and n users, α from ``ratio``, of a relative radius below 10^-digits; what takes
    too long is refused, with what was ``asked`` for, in the words of the caller.

    >>> import shuffle_sym as ss
    >>> D = ss.decomposition.blanket(ss.KRR(k=3, eps0=1))
    >>> enclosure(D, 10_000, Ratio(eps=sp.Rational(3, 100)), 30, "digits = 30").str(30, radius=False)
    '1.27806298133874281616806496809e-5'
    """
    arguments.numeric_only(D.free_symbols, "a numerical answer")
    planned = CentralSum(D.gparv, ratio, n, digits + 2)
    if planned.seconds <= MOST_SECONDS:
        return planned.value()

    def fits(users: int, wanted: int) -> bool:
        return CentralSum(D.gparv, ratio, users, wanted + 2).seconds <= MOST_SECONDS

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


# ----------------------------------------------------------------------------------------- literally
#
# The slow way. It knows nothing of the GPARV, so it can tell whether Theorem 9 and our null atoms are right.


def reduction_pair(masses: Numbers, n: int) -> dict[Histogram, tuple[Fraction, Fraction]]:
    """The reduction pair (Su et al. 2025, Definition 8): probability of every histogram under x0 and under x1, from one
    draw from a or b of ``masses`` and n − 1 from (c, β).

    >>> from shuffle_sym.model.decomposition import Decomposition
    >>> D = Decomposition(a=["3/4", "1/4"], b=["1/4", "3/4"], c=["1/2", "1/2"])
    >>> reduction_pair(D.exact(), 2)[1, 1, 0]
    (Fraction(1, 2), Fraction(1, 2))
    """
    others = dict(weighted_histograms(n - 1, [Fraction(probability) for probability in (*masses.c, masses.beta)]))
    P, Q = (one_more(others, (*row, Fraction(0))) for row in (masses.a, masses.b))
    return {histogram: (p, Q[histogram]) for histogram, p in P.items()}


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


def reduction_pair_divergence(D: Decomposition, n: int, alpha: Fraction) -> Fraction:
    r"""D_α of the reduction pair of n users, histogram by histogram, for a rational decomposition D.

    >>> import shuffle_sym as ss
    >>> import sympy as sp
    >>> D = ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 0, 1, 0)
    >>> reduction_pair_divergence(D, 2, Fraction(1))         # 9/16 − 3/16
    Fraction(3, 8)
    """
    return hockey_stick(shuffled_pair(D, n).values(), alpha)


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


# ----------------------------------------------------------------------------------------- Rényi moments


def renyi_moment(D: Decomposition, n: Any, order: Any, digits: int = 50) -> sp.Rational | mpmath.mpf:
    r"""E_Q[(P/Q)^λ], P under x0 and Q under x1, of a decomposition with n users, λ = ``order`` > 1; ``D.reversed()`` is
    the other direction.

    With W the histogram of n draws from (c, β), A = Σ h_j a_j/c_j and B = Σ h_j b_j/c_j,

    .. math:: \mathbb E_Q[(P/Q)^\lambda] = \sum_{j:\,c_j = 0} a_j^\lambda\, b_j^{1-\lambda}
              + \frac1n\, \mathbb E_W\bigl[A^\lambda B^{1-\lambda}\bigr]

    for every decomposition: P(h)/Q(h) is A/B and Q(h) is Pr[W = h] B/n.

    A ``Rational`` if a, b, c are rational and λ is an integer, else an ``mpf`` with ``digits`` good digits. Cost:
    :math:`\binom{n + m - 1}{m - 1}` histograms for m values of G.

    >>> import shuffle_sym as ss
    >>> renyi_moment(ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0), 2, 2)
    5/3
    """
    if not isinstance(D, Decomposition):
        raise TypeError(f"D must be a Decomposition, got {D!r}")
    n, power, digits = arguments.users(n), arguments.order(order), arguments.positive_integer(digits, "digits")
    cells = sum(atom.c != 0 for atom in D.atoms) + (D.beta_form != 0)
    if cells and histogram_count(n, cells) > MAX_HISTOGRAMS:
        raise ValueError(
            f"n = {n} with {cells} kinds of messages has more than {MAX_HISTOGRAMS} histograms; take a smaller n"
        )
    if any(atom.a != 0 and atom.b == 0 for atom in D.atoms):
        # n draws of it alone, or the null atom itself, are possible under x0 only.
        raise ValueError(
            "the moment is infinite at every order: a component has mass under x0 and none under x1; use delta(eps)"
        )
    masses = D.exact(digits + _GUARD)
    if isinstance(masses.beta, Fraction) and power.is_Integer:
        null, live = _ratios(masses, Fraction)
        # Whole numbers over common denominators: none is reduced on the way.
        units = [math.lcm(*(atom[i].denominator for atom in live)) for i in range(3)]
        whole = [tuple(int(x * unit) for x, unit in zip(atom, units, strict=True)) for atom in live]
        total = power_sum(_sums(whole, n), int(power))
        total *= Fraction(units[1] ** (power - 1), n * units[0] ** power * units[2] ** n)
        return sp.Rational(power_sum(null, int(power)) + total)
    mp = precise.context(digits + _GUARD)
    null, live = _ratios(masses, lambda x: _mp(mp, x))
    order = _mp(mp, power)
    return precise.as_mpf(power_sum(null, order, mp) + power_sum(_sums(live, n), order, mp) / n)


def _ratios(masses: Numbers, number: Callable[[Any], Any]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """As numbers of one kind (1, a, b) of the null atoms, and (a/c, b/c, c) of all others, with (0, 0, β) for what
    neither input can tell."""
    atoms = [tuple(map(number, atom)) for atom in zip(masses.a, masses.b, masses.c, strict=True)]
    live = [(a / c, b / c, c) for a, b, c in atoms if c != 0]
    if masses.beta:
        live.append((number(0), number(0), number(masses.beta)))
    return [(1, a, b) for a, b, c in atoms if c == 0 and a != 0], live


def _sums(live: Sequence[tuple[Any, ...]], n: int) -> Iterator[tuple[Any, Any, Any]]:
    """The probability of every histogram of n draws, A and B, where A is not 0."""
    for h, weight in weighted_histograms(n, [c for _, _, c in live]) if live else ():
        A, B = (sum(count * atom[i] for count, atom in zip(h, live, strict=True)) for i in (0, 1))
        if A:
            yield weight, A, B


def _mp(mp: MPContext, number: Any) -> Any:
    """A fraction, a SymPy number or an mpmath number, in the precision of the context."""
    if isinstance(number, sp.Expr):
        symbol = sp.Dummy()
        (number,) = field.mp_numbers([symbol], {symbol: number}, mp.dps)
    return mp.mpf(number.numerator) / number.denominator if isinstance(number, Fraction) else mp.convert(number)


def two_rr_moment(
    eps0: Any, n: Any, order: Any, *, reverse: bool = False, digits: int | None = None
) -> sp.Rational | mpmath.mpf:
    r"""E[(M(D')/M(D))^λ] under M(D), 2-RR with ε0, D all 0, D' with a single 1 (Girgis et al. 2021, (10)); with
    ``reverse`` E[(M(D)/M(D'))^λ] under M(D').

    Both are :math:`\mathbb E[r^s]` with r = 1/t + (t − 1/t)K/n, K ~ Bin(n, 1/(t + 1)), and s = λ or s = 1 − λ. For an
    integer λ, forward, through factorial moments :math:`\mathbb E[K^{\underline j}] = n^{\underline j} p^j`: O(λ²)
    products of non-negative numbers at *any* n. Otherwise the n + 1 terms are summed. A ``Rational`` where t is
    rational and λ an integer, unless ``digits`` are asked for; else an ``mpf`` with ``digits`` (50) digits.

    >>> two_rr_moment(sp.log(3), 2, 2), two_rr_moment(sp.log(3), 10**9, 2), two_rr_moment(sp.log(3), 2, 2, reverse=True)
    (5/3, 750000001/750000000, 29/15)
    """
    level, n, power = arguments.local_epsilon(eps0), arguments.users(n), arguments.order(order)
    arguments.numeric_only(level.free_symbols, "a moment")
    good = 50 if digits is None else arguments.positive_integer(digits, "digits")
    t = sp.exp(level)
    by_moments = power.is_Integer and not reverse
    if not by_moments and n > MAX_HISTOGRAMS:
        raise ValueError(
            f"n = {n} has more than {MAX_HISTOGRAMS} terms; an integer order with reverse=False is possible at every n"
        )
    exact = digits is None and t.is_Rational and power.is_Integer
    # Each of at most n + λ products and sums of positive numbers loses a few units in the last place.
    mp = precise.context(good + _GUARD + len(str(n)))
    ratio = Fraction(int(t.p), int(t.q)) if exact else _mp(mp, t)
    s = int(power) if exact or by_moments else _mp(mp, power)
    if by_moments:
        moment = _by_factorial_moments(ratio, n, s)
    else:
        terms = _two_rr_terms(ratio, n, 1 - s if reverse else s)
        moment = _in_halves(list(terms)) if exact else mp.fsum(terms)
    return sp.Rational(moment) if exact else precise.as_mpf(moment)


def _by_factorial_moments(t: Any, n: int, power: int) -> Any:
    r"""E[(1/t + gK)^λ] = Σ_j w_j n(n − 1)…(n − j + 1) (gp)^j, where the w_j are those of x^λ in falling factorials:
    (1/t + gK)·K^(j) = g K^(j + 1) + (1/t + gj) K^(j)."""
    slope, zero, weights = (t - 1 / t) / n, 0 * t, [t**0]
    places, p = [1 / t + slope * j for j in range(power + 1)], slope / (1 + t)
    for _ in range(power):
        weights = [w * place + low for w, place, low in zip([*weights, zero], places, [zero, *weights], strict=False)]
    total, falling = zero, t**0
    for j, w in enumerate(weights):
        total += w * falling
        falling *= (n - j) * p
    return total


def _two_rr_terms(t: Any, n: int, s: Any) -> Iterator[Any]:
    """C(n, k) t^(n − k)/(t + 1)^n (1/t + (t − 1/t)k/n)^s for each k; every term is positive."""
    mass, slope = (t / (t + 1)) ** n, (t - 1 / t) / n
    for k in range(n + 1):
        yield mass * (1 / t + slope * k) ** s
        mass = mass * (n - k) / ((k + 1) * t)


def _in_halves(terms: list[Fraction]) -> Fraction:
    """A sum, halves of it first: the fractions that are added have about the same length."""
    half = len(terms) // 2
    return _in_halves(terms[:half]) + _in_halves(terms[half:]) if half else terms[0]


def renyi_divergence(moment: Any, order: Any, digits: int = 50) -> mpmath.mpf:
    r"""The Rényi divergence of order λ that belongs to a moment: log(moment)/(λ − 1), to so many ``digits``.

    >>> import mpmath
    >>> mpmath.nstr(renyi_divergence(two_rr_moment(sp.log(3), 2, 2), 2), 12)
    '0.510825623766'
    """
    power, digits = arguments.order(order), arguments.positive_integer(digits, "digits")
    value = arguments.exact_number(moment, "moment")
    if value.free_symbols or arguments.decided(value >= 1) is not True:
        raise ValueError(f"moment must be a number >= 1, got {moment!r}")
    mp = precise.context(digits + _GUARD)
    return precise.as_mpf(mp.log(_mp(mp, value)) / (_mp(mp, power) - 1))
