r"""Rényi moments, exactly: :math:`\mathbb E_Q[(P/Q)^\lambda]`, P under x0 and Q under x1.

With W the histogram of n draws from (c, β), A = Σ h_j a_j/c_j and B = Σ h_j b_j/c_j,

.. math:: \mathbb E_Q[(P/Q)^\lambda] = \sum_{j:\,c_j = 0} a_j^\lambda\, b_j^{1-\lambda}
          + \frac1n\, \mathbb E_W\bigl[A^\lambda B^{1-\lambda}\bigr]

for every decomposition: P(h)/Q(h) is A/B and Q(h) is Pr[W = h] B/n. The Rényi divergence is the logarithm of the
moment, divided by λ − 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import sympy as sp
from mpmath import MPContext

from shuffle_sym.algebra import arguments, field, precise
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.truth.histograms import histogram_count, weighted_histograms

MAX_HISTOGRAMS = 2_000_000
MAX_TERMS = 2_000_000
_GUARD = 15


def renyi_moment(D: Decomposition, n: Any, order: Any, digits: int = 50) -> sp.Rational | mpmath.mpf:
    r"""E_Q[(P/Q)^λ] of a decomposition with n users, λ = ``order`` > 1; ``D.reversed()`` is the other direction.

    A ``Rational`` if a, b, c are rational and λ is an integer, else an ``mpf`` with ``digits`` good digits. Cost:
    :math:`\binom{n + m - 1}{m - 1}` histograms for m values of G.

    >>> import shuffle_sym as ss
    >>> renyi_moment(ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0), 2, 2)
    5/3
    """
    if not isinstance(D, Decomposition):
        raise TypeError(f"D must be a Decomposition, got {D!r}")
    n, power, digits = arguments.users(n), arguments.order(order), arguments.positive_integer(digits, "digits")
    live = [atom for atom in D.atoms if atom.c != 0]
    cells = len(live) + (D.beta_form != 0)
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
        return sp.Rational(_fraction_moment(_ratios(masses, Fraction), n, int(power)))
    mp = precise.context(digits + _GUARD)
    return precise.as_mpf(_mp_moment(_ratios(masses, lambda x: _mp(mp, x)), n, _mp(mp, power), mp))


class _Ratios(NamedTuple):
    """(a, b) of the null atoms, and (a/c, b/c, c) of all others, with (0, 0, β) for what neither input can tell."""

    null: list[tuple[Any, Any]]
    live: list[tuple[Any, Any, Any]]


def _ratios(masses: Any, number: Callable[[Any], Any]) -> _Ratios:
    """The masses of a decomposition as numbers of one kind."""
    atoms = [tuple(map(number, atom)) for atom in zip(masses.a, masses.b, masses.c, strict=True)]
    live = [(a / c, b / c, c) for a, b, c in atoms if c != 0]
    if masses.beta:
        live.append((number(0), number(0), number(masses.beta)))
    return _Ratios([(a, b) for a, b, c in atoms if c == 0 and a != 0], live)


def _fraction_moment(ratios: _Ratios, n: int, power: int) -> Fraction:
    """Whole numbers over common denominators, one group of terms for each value of B."""
    null = sum((a**power / b ** (power - 1) for a, b in ratios.null), Fraction(0))
    scales = [math.lcm(*(r[i].denominator for r in ratios.live)) for i in range(3)]
    whole = _Ratios([], [(int(a * scales[0]), int(b * scales[1]), int(c * scales[2])) for a, b, c in ratios.live])
    groups: dict[int, int] = {}
    for weight, A, B in _sums(whole, n):
        groups[B] = groups.get(B, 0) + weight * A**power
    total = sum((Fraction(top, B ** (power - 1)) for B, top in groups.items()), Fraction(0))
    return null + total * Fraction(scales[1] ** (power - 1), n * scales[0] ** power * scales[2] ** n)


def _mp_moment(ratios: _Ratios, n: int, power: Any, mp: MPContext) -> Any:
    """All terms are positive: no digits are lost beyond a few roundings a term."""
    null = mp.fsum(a**power * b ** (1 - power) for a, b in ratios.null)
    return null + mp.fsum(weight * A**power * B ** (1 - power) for weight, A, B in _sums(ratios, n)) / n


def _sums(ratios: _Ratios, n: int) -> Iterator[tuple[Any, Any, Any]]:
    """The probability of every histogram of n draws, A and B, where A is not 0."""
    if not ratios.live:
        return
    for h, weight in weighted_histograms(n, [c for _, _, c in ratios.live]):
        A, B = (sum(count * r[i] for count, r in zip(h, ratios.live, strict=True)) for i in (0, 1))
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
    if not by_moments and n > MAX_TERMS:
        raise ValueError(
            f"n = {n} has more than {MAX_TERMS} terms; an integer order with reverse=False is possible at every n"
        )
    if digits is None and t.is_Rational and power.is_Integer:
        exact = Fraction(int(t.p), int(t.q))
        if by_moments:
            return sp.Rational(_by_factorial_moments(exact, n, int(power), Fraction(1)))
        return sp.Rational(_negative_power(exact, n, int(power) - 1))
    # Each of at most n + λ products and sums of positive numbers loses a few units in the last place.
    mp = precise.context(good + _GUARD + len(str(n)))
    if by_moments:
        return precise.as_mpf(_by_factorial_moments(_mp(mp, t), n, int(power), mp.mpf(1)))
    s = _mp(mp, power)
    return precise.as_mpf(_by_terms(_mp(mp, t), n, 1 - s if reverse else s))


def _by_factorial_moments(t: Any, n: int, power: int, one: Any) -> Any:
    r"""E[(1/t + gK)^λ] = Σ_j w_j n(n − 1)…(n − j + 1) (gp)^j, where the w_j are those of x^λ in falling factorials:
    (1/t + gK)·K^(j) = g K^(j + 1) + (1/t + gj) K^(j)."""
    slope, zero, weights = (t - one / t) / n, 0 * one, [one]
    places, p = [one / t + slope * j for j in range(power + 1)], slope / (1 + t)
    for _ in range(power):
        weights = [w * place + low for w, place, low in zip([*weights, zero], places, [zero, *weights], strict=False)]
    total, falling = zero, one
    for j, w in enumerate(weights):
        total += w * falling
        falling *= (n - j) * p
    return total


def _by_terms(t: Any, n: int, s: Any) -> Any:
    """Σ_k C(n, k) t^(n − k)/(t + 1)^n (1/t + (t − 1/t)k/n)^s, term by term; every term is positive."""
    mass, slope = (t / (t + 1)) ** n, (t - 1 / t) / n
    total = 0 * t
    for k in range(n + 1):
        total += mass * (1 / t + slope * k) ** s
        mass = mass * (n - k) / ((k + 1) * t)
    return total


def _negative_power(t: Fraction, n: int, power: int) -> Fraction:
    """E[r^−s] in fractions: r = (n b² + (a² − b²)k)/(abn) for t = a/b, summed in halves."""
    a, b = t.numerator, t.denominator
    tops, bottoms = [], []
    for k in range(n + 1):
        tops.append(math.comb(n, k) * a ** (n - k) * b**k)
        bottoms.append((n * b * b + (a * a - b * b) * k) ** power)
    total = _sum_of_fractions(tops, bottoms)
    return total * Fraction((a * b * n) ** power, (a + b) ** n)


def _sum_of_fractions(tops: list[int], bottoms: list[int]) -> Fraction:
    """Σ top/bottom, halves of it first: the fractions that are added have about the same length."""
    if len(tops) == 1:
        return Fraction(tops[0], bottoms[0])
    half = len(tops) // 2
    return _sum_of_fractions(tops[:half], bottoms[:half]) + _sum_of_fractions(tops[half:], bottoms[half:])


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
