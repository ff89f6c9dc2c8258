r"""Pairs of laws, outcome by outcome, without any code of the package: integers, fractions and balls of flint.

A pair is what polynomials say: :math:`A(z) (C(z) + \beta)^{n-1}` against :math:`B(z) (C(z) + \beta)^{n-1}`, coefficient
by coefficient; for two real datasets the product of one linear form a user. No formula of the papers enters.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations, combinations_with_replacement

from flint import arb, ctx, fmpq, fmpz, fmpz_mpoly, fmpz_mpoly_ctx

BITS = 640
_KEPT = 320  # bits of an irrational mass
_MOST_BITS = 10**9  # of all weights of several rounds together
_NEAR = 1e-12  # outcomes with a ratio so close to α are looked at one by one

Mass = Fraction | arb


def ball(number: Mass | int) -> arb:
    """An enclosure with `BITS` bits."""
    with ctx.workprec(BITS):
        return number if isinstance(number, arb) else arb(fmpq(number.numerator, number.denominator))


class Pair(ABC):
    """Two laws (or several pairs of them, of which the worst counts) whose divergence can be enclosed."""

    @abstractmethod
    def divergence(self, alpha: arb) -> arb:
        """D_α for any α > 0."""

    def renyi(self, order: arb) -> arb:
        """The Rényi divergence of an order above 1."""
        raise NotImplementedError

    def composed(self, rounds: int) -> Pair | None:
        """So many independent rounds; None where that is too much work."""
        return None

    @property
    def ratios(self) -> Sequence[float]:
        """Ratios P/Q of outcomes, largest first: where the curve bends."""
        return ()


class Outcomes(Pair):
    """A finite pair: weights ``p`` and ``q`` of the outcomes, in units 1/scale, each within a relative ``error``."""

    def __init__(self, weights: Iterable[tuple[int, int]], scales: tuple[int, int], error: float = 0.0) -> None:
        p_scale, q_scale = scales
        keyed = [(_ratio(p * q_scale, q * p_scale), p, q) for p, q in weights if p or q]
        keyed.sort(key=lambda outcome: -outcome[0])
        self.weights = [(p, q) for _, p, q in keyed]
        self.scales, self.error = scales, error
        self._keys = [-key for key, _, _ in keyed]
        with ctx.workprec(BITS):
            slack = 1 + arb(0, error)
            self.p = [slack * p / p_scale for p, _ in self.weights]
            self.q = [slack * q / q_scale for _, q in self.weights]
            self._sums = [(arb(0), arb(0))]
            for p, q in zip(self.p, self.q, strict=True):
                self._sums.append((self._sums[-1][0] + p, self._sums[-1][1] + q))

    @property
    def ratios(self) -> Sequence[float]:
        return [-key for key in self._keys]

    def divergence(self, alpha: arb) -> arb:
        about = float(alpha)
        first = bisect_left(self._keys, -about * (1 + _NEAR))
        last = bisect_right(self._keys, -about * (1 - _NEAR))
        with ctx.workprec(BITS):
            value = self._sums[first][0] - alpha * self._sums[first][1]
            for i in range(first, last):
                value += (self.p[i] - alpha * self.q[i]).max(arb(0))
            return value.nonnegative_part()

    def renyi(self, order: arb) -> arb:
        with ctx.workprec(BITS):
            total = arb(0)
            for p, q in zip(self.p, self.q, strict=True):
                if p != 0:
                    total += p * (p / q) ** (order - 1)
            return total.log() / (order - 1)

    def composed(self, rounds: int) -> Outcomes | None:
        merged = self._merged
        count = math.comb(len(merged) + rounds - 1, rounds)
        bits = count * rounds * max(scale.bit_length() for scale in self.scales)
        if count > 20_000 or len(merged) > 60 or bits > _MOST_BITS:
            return None
        names = fmpz_mpoly_ctx.get([f"z{i}" for i in range(len(merged))], "lex")
        p, q = (linear(names, [outcome[side] for outcome in merged]) ** rounds for side in (0, 1))
        return Outcomes(together(p, q), (self.scales[0] ** rounds, self.scales[1] ** rounds), 1.1 * rounds * self.error)

    @cached_property
    def _merged(self) -> list[tuple[int, int]]:
        """Outcomes with equal ratios are one."""
        groups: dict[tuple[int, int], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for p, q in self.weights:
            common = math.gcd(p, q)
            key = (p // common, q // common)
            groups[key] = (groups[key][0] + p, groups[key][1] + q)
        return list(groups.values())


class Largest(Pair):
    """The worst of several pairs, at each α and each order."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = tuple(pairs)

    @property
    def ratios(self) -> Sequence[float]:
        return self.pairs[0].ratios

    def divergence(self, alpha: arb) -> arb:
        return reduce(_maximum, (pair.divergence(alpha) for pair in self.pairs))

    def renyi(self, order: arb) -> arb:
        return reduce(_maximum, (pair.renyi(order) for pair in self.pairs))

    def composed(self, rounds: int) -> Pair | None:
        pairs = [pair.composed(rounds) for pair in self.pairs]
        known = [pair for pair in pairs if pair is not None]
        return Largest(known) if len(known) == len(pairs) else None


def _maximum(x: arb, y: arb) -> arb:
    with ctx.workprec(BITS):
        return x.max(y)


def _ratio(p: int, q: int) -> float:
    try:
        return p / q
    except (ZeroDivisionError, OverflowError):
        return math.inf


# -- from masses to outcomes


def linear(names: fmpz_mpoly_ctx, weights: Sequence[int], constant: int = 0) -> fmpz_mpoly:
    """The form w0 z0 + w1 z1 + … + constant."""
    size = len(weights)
    terms = {tuple(int(i == j) for i in range(size)): fmpz(w) for j, w in enumerate(weights) if w}
    return names.from_dict({**terms, (0,) * size: fmpz(constant)} if constant else terms)


def together(p: fmpz_mpoly, q: fmpz_mpoly) -> list[tuple[int, int]]:
    """The coefficients of two polynomials, monomial by monomial."""
    ps, qs = p.to_dict(), q.to_dict()
    return [(int(ps.get(key, 0)), int(qs.get(key, 0))) for key in {**ps, **qs}]


def integers(masses: Sequence[Mass]) -> tuple[list[int], int, float]:
    """Masses as integers over one scale, and their relative error: none for fractions."""
    if not any(isinstance(mass, arb) for mass in masses):
        fractions = [Fraction(mass) for mass in masses if not isinstance(mass, arb)]
        scale = math.lcm(*(mass.denominator for mass in fractions))
        return [int(mass * scale) for mass in fractions], scale, 0.0
    pairs = [_dyadic(ball(mass)) for mass in masses]
    least = min(exponent for mantissa, exponent in pairs if mantissa)
    least = min(least, 0)
    return [mantissa << (exponent - least) if mantissa else 0 for mantissa, exponent in pairs], 1 << -least, 2.0**-300


def _dyadic(number: arb) -> tuple[int, int]:
    """Mantissa and exponent of a ball, within 2^-310 of it."""
    if number == 0:
        return 0, 0
    if not number.rel_accuracy_bits() > _KEPT:
        raise ArithmeticError(f"the mass {number} is known to too few bits")
    with ctx.workprec(_KEPT):
        mantissa, exponent = (+number).mid().man_exp()
        return int(mantissa), int(exponent)


def shuffled(a: Sequence[Mass], b: Sequence[Mass], c: Sequence[Mass], rest: Mass, n: int) -> Outcomes:
    """One user from a or b, n − 1 from c or, with the probability ``rest``, from what tells nothing."""
    names = fmpz_mpoly_ctx.get([f"z{i}" for i in range(len(a))], "lex")
    (first, p_scale, p_error), (second, q_scale, q_error) = integers(a), integers(b)
    (*others, silent), scale, error = integers([*c, rest])
    power = linear(names, others, silent) ** (n - 1)
    total = scale ** (n - 1)
    weights = together(linear(names, first) * power, linear(names, second) * power)
    return Outcomes(weights, (p_scale * total, q_scale * total), 1.1 * (n * error + p_error + q_error))


def all_datasets(rows: Sequence[Sequence[Mass]], n: int) -> Largest:
    """Every pair of neighbouring datasets, in both directions."""
    names = fmpz_mpoly_ctx.get([f"z{i}" for i in range(len(rows[0]))], "lex")
    scaled = [integers(row) for row in rows]
    forms = [linear(names, weights) for weights, _, _ in scaled]
    scales, error = [scale for _, scale, _ in scaled], 1.1 * n * max(error for _, _, error in scaled)
    pairs: list[Pair] = []
    for others in combinations_with_replacement(range(len(rows)), n - 1):
        common = reduce(lambda product, x: product * forms[x], others, linear(names, [0] * len(rows[0]), 1))
        scale = math.prod(scales[x] for x in others)
        laws = [common * form for form in forms]
        for x0, x1 in combinations(range(len(rows)), 2):
            weights, both = together(laws[x0], laws[x1]), (scale * scales[x0], scale * scales[x1])
            pairs.append(Outcomes(weights, both, error))
            pairs.append(Outcomes([(q, p) for p, q in weights], (both[1], both[0]), error))
    return Largest(pairs)


def blankets(rows: Sequence[Sequence[Mass]], n: int) -> Largest:
    """The privacy blanket of every ordered pair of inputs: no dataset is worse."""
    c = [least(column) for column in zip(*rows, strict=True)]
    rest = remainder(c)
    ordered = [(x0, x1) for x0 in range(len(rows)) for x1 in range(len(rows)) if x0 != x1]
    return Largest([shuffled(rows[x0], rows[x1], c, rest, n) for x0, x1 in ordered])


def least(masses: Sequence[Mass]) -> Mass:
    """The smallest mass."""
    if not any(isinstance(mass, arb) for mass in masses):
        return min(Fraction(mass) for mass in masses if not isinstance(mass, arb))
    with ctx.workprec(BITS):
        return reduce(lambda x, y: x.min(y), map(ball, masses))


def remainder(c: Sequence[Mass]) -> Mass:
    """1 less the sum; what cannot be told from 0 is 0."""
    if not any(isinstance(mass, arb) for mass in c):
        return 1 - sum((Fraction(mass) for mass in c if not isinstance(mass, arb)), Fraction(0))
    with ctx.workprec(BITS):
        left = 1 - sum(map(ball, c), arb(0))
        return Fraction(0) if left.contains(0) else left
