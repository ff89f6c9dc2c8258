r"""Ground truth: brute force over real datasets, with no decomposition anywhere.

A shuffled dataset is the polynomial :math:`\prod_i \sum_y R(x_i)(y)\, z_y`: the coefficient of a monomial is the
probability of that histogram of messages. Two datasets are compared coefficient by coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from shuffle_sym import arguments, field
from shuffle_sym.randomizer import Randomizer

MAX_PAIRS = 2_000_000
_GUARD_DIGITS = 15

Dataset = tuple[int, ...]
Polynomial = dict[int, Any]  # coefficients by monomial; the exponents are the digits of the key


@dataclass(frozen=True)
class WorstPair:
    """Neighbouring datasets with the largest divergence, D_α(X0 ‖ X1)."""

    X0: Dataset
    X1: Dataset
    delta: Any


@dataclass(frozen=True)
class WorstMoment:
    """Neighbouring datasets with the largest Rényi moment of one order, E[(X0/X1)^λ] under X1."""

    X0: Dataset
    X1: Dataset
    moment: Any


def delta(R: Randomizer, X0: Sequence[int], X1: Sequence[int], alpha: Any, digits: int = 50) -> Any:
    r"""D_α between the shuffled messages of two neighbouring datasets, :math:`\sum_h [P_0(h) - \alpha P_1(h)]_+`.

    Datasets are tuples of 0-based inputs that differ in one user. A ``Rational`` if R and α are rational, else an
    ``mpf``; its terms are computed with ``digits`` digits and some to spare.

    >>> import shuffle_sym as ss
    >>> delta(ss.BinaryRR(eps0=sp.log(3)), (0, 1), (1, 1), 2)
    1/16
    """
    digits = _checked(R, digits)
    first, second = _dataset(R, X0, "X0"), _dataset(R, X1, "X1")
    _neighbours(first, second)
    messages = _Messages(R, len(first), [arguments.ratio(alpha)], digits)
    with mpmath.workdps(digits + _GUARD_DIGITS):
        return messages.divergence(messages.shuffled(first), messages.shuffled(second), 0)


def worst_pair(R: Randomizer, n: int, alpha: Any, digits: int = 50) -> WorstPair:
    r"""The largest divergence over *all* neighbouring datasets of n users, up to symmetry, in both directions.

    >>> import shuffle_sym as ss
    >>> worst_pair(ss.BinaryRR(eps0=sp.log(3)), 2, 2)
    WorstPair(X0=(0, 0), X1=(1, 0), delta=3/16)
    """
    return worst_pairs(R, n, [alpha], digits)[0]


def renyi_moment(R: Randomizer, X0: Sequence[int], X1: Sequence[int], order: Any, digits: int = 50) -> Any:
    r"""E[(P_0/P_1)^λ] under P_1, λ = ``order`` > 1, for two neighbouring datasets: :math:`\sum_h P_0(h)^\lambda
    P_1(h)^{1-\lambda}`. A ``Rational`` if R is rational and λ an integer, else an ``mpf``.

    >>> import shuffle_sym as ss
    >>> renyi_moment(ss.BinaryRR(eps0=sp.log(3)), (1, 0), (0, 0), 2)
    5/3
    """
    digits, power = _checked(R, digits), arguments.order(order)
    first, second = _dataset(R, X0, "X0"), _dataset(R, X1, "X1")
    _neighbours(first, second)
    messages = _Messages(R, len(first), [power], digits)
    with mpmath.workdps(digits + _GUARD_DIGITS):
        return messages.moment(messages.shuffled(first), messages.shuffled(second), 0)


def worst_moments(R: Randomizer, n: int, orders: Sequence[Any], digits: int = 50) -> list[WorstMoment]:
    r"""The largest Rényi moments over *all* neighbouring datasets of n users, in both directions, one for each order.

    >>> import shuffle_sym as ss
    >>> worst_moments(ss.BinaryRR(eps0=sp.log(3)), 2, [2])
    [WorstMoment(X0=(0, 0), X1=(1, 0), moment=29/15)]
    """
    return [WorstMoment(*found) for found in _worst(R, n, [arguments.order(e) for e in orders], digits, "moment")]


def worst_pairs(R: Randomizer, n: int, alphas: Sequence[Any], digits: int = 50) -> list[WorstPair]:
    """`worst_pair` for several α; every dataset is multiplied out once for all of them."""
    return [WorstPair(*found) for found in _worst(R, n, [arguments.ratio(a) for a in alphas], digits, "divergence")]


def _worst(
    R: Randomizer, n: int, parameters: Sequence[sp.Expr], digits: int, what: str
) -> list[tuple[Dataset, Dataset, Any]]:
    """For each α or order the neighbouring datasets with the largest ``what``, and its value."""
    digits = _checked(R, digits)
    n = arguments.users(n)
    arguments.numeric_only(R.free_symbols, "worst_pair")
    inputs = int(R.input_count)
    # With every permutation of the inputs at hand, (1, 0) among `others` is (0, 1) among the permuted ones.
    pairs = R.pairs()
    named = sorted({x for pair in pairs for x in pair})
    count = math.comb(n + inputs - 2, n - 1) * len(pairs)
    if count > MAX_PAIRS:
        raise ValueError(f"{R!r} with n = {n} has {count} neighbouring pairs, more than {MAX_PAIRS}; take a smaller n")
    messages = _Messages(R, n, parameters, digits)
    compared = getattr(messages, what)
    worst: list[tuple[Dataset, Dataset, Any] | None] = [None] * len(parameters)
    with mpmath.workdps(digits + _GUARD_DIGITS):
        for others, product in _others(n - 1, inputs, messages, R.symmetric):
            shuffled = {x: messages.one_more(product, x) for x in named}
            for x0, x1 in pairs:
                for i in range(len(parameters)):
                    value = compared(shuffled[x0], shuffled[x1], i)
                    best = worst[i]
                    if best is None or value > best[2]:
                        worst[i] = ((x0, *others), (x1, *others), value)
    return [pair for pair in worst if pair is not None]


class _Messages:
    """The rows of R and the ratios α as numbers, and polynomials made of them.

    Rational numbers are scaled to integers (a common denominator for the rows, one for each α): that is several
    times faster than fractions. Irrational ones are mpmath numbers with scale 1.
    """

    def __init__(self, R: Randomizer, n: int, ratios: Sequence[sp.Expr], digits: int) -> None:
        arguments.numeric_only(R.free_symbols, "the ground truth")
        rows = R.rows()
        width = len(rows[0])
        names = [sp.Dummy() for _ in ratios]
        forms = (*(e for row in rows for e in row), *names)
        bindings = {**R.bindings, **dict(zip(names, ratios, strict=True))}
        known = field.fractions(forms, bindings)
        self.exact = known is not None
        values = field.mp_numbers(forms, bindings, digits + _GUARD_DIGITS) if known is None else known
        split = len(rows) * width
        entries, alphas = values[:split], values[split:]
        scale = math.lcm(*(v.denominator for v in entries)) if self.exact else 1
        integers = [int(v * scale) if self.exact else v for v in entries]
        self._rows = [integers[x * width : (x + 1) * width] for x in range(len(rows))]
        self._total = scale**n
        self._alphas = [(a.numerator, a.denominator) if self.exact else (a, 1) for a in alphas]
        self._steps = [(n + 1) ** y for y in range(width)]

    def one_more(self, polynomial: Polynomial, x: int) -> Polynomial:
        """Multiply by Σ_y R(x)(y) z_y."""
        product: Polynomial = {}
        for probability, step in zip(self._rows[x], self._steps, strict=True):
            if probability:
                for monomial, coefficient in polynomial.items():
                    key = monomial + step
                    product[key] = product.get(key, 0) + coefficient * probability
        return product

    def shuffled(self, X: Dataset) -> Polynomial:
        polynomial: Polynomial = {0: 1}
        for x in X:
            polynomial = self.one_more(polynomial, x)
        return polynomial

    def divergence(self, P: Polynomial, Q: Polynomial, i: int) -> Any:
        top, bottom = self._alphas[i]
        gaps = (bottom * p - top * Q.get(h, 0) for h, p in P.items())
        total = sum(gap for gap in gaps if gap > 0)
        if self.exact:
            return sp.Rational(Fraction(total, bottom * self._total))
        return mpmath.mpf(total)

    def moment(self, P: Polynomial, Q: Polynomial, i: int) -> Any:
        """Σ p^λ q^(1 − λ), where the i-th parameter is λ."""
        top, bottom = self._alphas[i]
        if any(h not in Q for h in P):
            raise ValueError("the moment is infinite: a histogram of X0 is impossible for X1; use delta")
        if self.exact and bottom == 1:
            # One group for each value of q: few fractions are added.
            groups: dict[int, int] = {}
            for h, p in P.items():
                groups[Q[h]] = groups.get(Q[h], 0) + p**top
            total = sum((p / Fraction(q) ** (top - 1) for q, p in groups.items()), Fraction(0))
            return sp.Rational(total / self._total)
        power = mpmath.mpf(top) / bottom
        return mpmath.fsum(mpmath.mpf(p) ** power * mpmath.mpf(Q[h]) ** (1 - power) for h, p in P.items()) / self._total


def _checked(R: Randomizer, digits: Any) -> int:
    if not hasattr(R, "rows"):
        raise TypeError(f"R must be a randomizer, got {R!r}")
    return arguments.positive_integer(digits, "digits")


def _dataset(R: Randomizer, X: Sequence[int], name: str) -> Dataset:
    if isinstance(X, np.ndarray):
        X = X.tolist()
    if not isinstance(X, (tuple, list)) or not X:
        raise TypeError(f"{name} must be a non-empty tuple of inputs, got {X!r}")
    return tuple(R.input(x, f"{name}[{i}]") for i, x in enumerate(X))


def _neighbours(X0: Dataset, X1: Dataset) -> None:
    if len(X0) != len(X1) or sum(x0 != x1 for x0, x1 in zip(X0, X1, strict=True)) != 1:
        raise ValueError(f"X0 and X1 must be equally long and differ in one user, got {X0} and {X1}")


def _others(count: int, inputs: int, messages: _Messages, symmetric: bool) -> Iterator[tuple[Dataset, Polynomial]]:
    """Every multiset of the other users' inputs with its polynomial; common prefixes are multiplied out once.

    In a symmetric randomizer the inputs other than 0 and 1 can be renamed: one multiset stands for all renamings.
    """
    products: dict[Dataset, Polynomial] = {(): {0: 1}}
    for X in combinations_with_replacement(range(inputs), count):
        unnamed = [X.count(x) for x in range(2, inputs)]
        if symmetric and unnamed != sorted(unnamed, reverse=True):
            continue
        for length in range(1, count + 1):
            if X[:length] not in products:
                products[X[:length]] = messages.one_more(products[X[: length - 1]], X[length - 1])
        yield X, products[X]
