r"""Two atoms and any number of users: binomial sums with many bits, in balls of flint.

With :math:`v_i = a_i - \alpha b_i`, v_1 > 0 >= v_2, and T, p the tail and the probabilities of Bin(n − 1, c_1),

.. math:: D_\alpha = (v_1 + v_2)\, T(k) + v_1\, p(k - 1), \qquad k = \min\{k : k v_1/c_1 + (n - k) v_2/c_2 > 0\}.

Short tails are summed term by term, what is left bounded by a geometric series; long ones are an integral with two
terms of Euler–Maclaurin and a remainder of at most :math:`\frac{1}{384}\int |f''''|`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb, ctx

from checks.fuzz.oracle import BITS, Mass, Pair, ball

_MOST_TERMS = 20_000
_LEFT = -120.0  # logarithm, relative to the first term, at which a sum ends
_REST_BITS = 2400  # of sums in which tails are updated by subtraction


class TwoAtoms(Pair):
    """A decomposition with two atoms and nothing else (``rest`` = 0), or with a rest that tells nothing.

    Of several atoms with only two values of G at one α the sums of each group are two atoms, for that α alone.
    """

    def __init__(self, a: Sequence[Mass], b: Sequence[Mass], c: Sequence[Mass], n: int, *, rest: bool) -> None:
        self.a, self.b, self.c = ([ball(mass) for mass in masses] for masses in (a, b, c))
        self.n, self.rest = n, rest

    @property
    def ratios(self) -> Sequence[float]:
        return [float(p / q) if q != 0 else math.inf for p, q in zip(self.a, self.b, strict=True)]

    def divergence(self, alpha: arb) -> arb:
        with ctx.workprec(_REST_BITS if self.rest else BITS):
            if float(alpha) < 1:
                return 1 - alpha + alpha * self._from_one(self.b, self.a, 1 / alpha)
            return self._from_one(self.a, self.b, alpha)

    def _from_one(self, a: Sequence[arb], b: Sequence[arb], alpha: arb) -> arb:
        (v1, c1), (v2, c2) = sorted(
            ((a[i] - alpha * b[i], self.c[i]) for i in (0, 1)), key=lambda each: -float(each[0] / each[1])
        )
        if v1 <= 0:
            return arb(0)
        if not (v1 > 0 and v2 < 0):
            return arb(0).union(v1.max(arb(0)))  # α cannot be told from a ratio a/b
        sums = _with_rest if self.rest else _alone
        return sums(v1, v2, c1, c2, self.n).nonnegative_part()


def _alone(v1: arb, v2: arb, c1: arb, c2: arb, n: int) -> arb:
    threshold = -n * v2 * c1 / (v1 * c2 - v2 * c1)
    k = math.floor(Fraction(*_as_ratio(threshold))) + 1
    if k > n:
        return arb(0) if threshold > n else arb(0).union(v1)
    return (v1 + v2) * tail(n - 1, c1, k) + v1 * probability(n - 1, c1, k - 1)


def _as_ratio(number: arb) -> tuple[int, int]:
    mid = number.mid().fmpq()
    return int(mid.p), int(mid.q)


def probability(n: int, c: arb, k: int) -> arb:
    """Pr[Bin(n, c) = k]."""
    return _log_probability(n, c, arb(k)).exp() if 0 <= k <= n else arb(0)


def _log_probability(n: int, c: arb, k: arb) -> arb:
    with ctx.workprec(ctx.prec + 2 * n.bit_length()):
        x = k
        log = (arb(n) + 1).lgamma() - (x + 1).lgamma() - (n - x + 1).lgamma()
        return log + x * c.log() + (n - x) * (1 - c).log()


def tail(n: int, c: arb, k: int) -> arb:
    """Pr[Bin(n, c) >= k], for a k above the mean."""
    if k > n:
        return arb(0)
    first, odds = probability(n, c, k), c / (1 - c)
    if not (n - k) * odds < k + 1:
        return 1 - tail(n, 1 - c, n - k + 1)  # below the mean, or too close to tell
    end = _end(n, float(c), k)
    if end - k > _MOST_TERMS:
        return first * _integral(n, c, k, end)
    term, total = first, arb(0)
    for i in range(k, end + 1):
        total += term
        term *= odds * (n - i) / (i + 1)
    quotient = odds * (n - end) / (end + 1)
    return total + arb(0).union(term / (1 - quotient)) if end < n else total


def _end(n: int, c: float, k: int) -> int:
    """Where the terms are e^`_LEFT` of the first one, about."""
    step = 1.0
    low = math.log(c / (1 - c)) if c < 1 else math.inf
    while k + step < n:
        x = k + step
        # log of the ratio of term x to term k is at most that of a normal law with the slope in the middle
        middle = (k + x) / 2
        if step * (math.log((n - middle) / (middle + 1)) + low) < _LEFT:
            return int(x)
        step *= 1.3
    return n


def _integral(n: int, c: arb, k: int, end: int) -> arb:
    """The sum from k on over the term at k: an integral, the ends, and what Euler and Maclaurin leave."""
    with ctx.workprec(192 + 2 * n.bit_length()):
        here, log_odds = _log_probability(n, c, arb(k)), (c / (1 - c)).log()
        width = end - k

        def relative(u: acb, analytic: bool) -> acb:
            # Expanded around the middle of the ball: the gammas of a wide one would cancel only in their middles.
            x = k + width * u
            middle = acb(x.real.mid(), x.imag.mid())
            if not (x.real > 0 and x.real < n):
                return acb(arb.nan())
            log = acb(n + 1).lgamma() - (middle + 1).lgamma() - (n - middle + 1).lgamma()
            log += middle * c.log() + (n - middle) * (1 - c).log() - here
            off, one = x - middle, acb(1)
            first = (n - middle + 1).digamma() - (middle + 1).digamma() + log_odds
            second = -(x + 1).polygamma(one) - (n - x + 1).polygamma(one)
            return (log + first * off + second * off * off / 2).exp()

        def slope(x: int) -> arb:
            return arb(n - x + 1).digamma() - arb(x + 1).digamma() + log_odds

        total = acb.integral(relative, 0, 1, rel_tol=arb(2) ** -90).real * width
        last = (_log_probability(n, c, arb(end)) - here).exp()
        value = total + (1 + last) / 2 + (slope(end) * last - slope(k)) / 12
        steepest = abs(slope(k)).max(abs(slope(end)))
        second, third, fourth = (_bound(m, k, n - end) for m in (1, 2, 3))
        fifth = steepest**4 + 6 * steepest**2 * second + 3 * second**2 + 4 * steepest * third + fourth
        off = fifth * total.upper() / 384
        quotient = (c / (1 - c)) * (n - end) / (end + 1)
        return value + off.upper() * arb(0, 1) + arb(0).union(last * quotient / (1 - quotient))


def _bound(m: int, k: int, left: int) -> arb:
    """Above the m-th polygamma function at k + 1 and at left + 1, their absolute values added."""
    sizes = (arb(k + 1), arb(left + 1))
    return sum((math.factorial(m - 1) / x**m + math.factorial(m) / x ** (m + 1) for x in sizes), arb(0))


def _with_rest(v1: arb, v2: arb, c1: arb, c2: arb, n: int) -> arb:
    """The number of the other users that tell anything is binomial; given it, as without a rest.

    From one number to the next the tail changes by one or two terms.
    """
    told = c1 + c2
    r = c1 / told
    slope = -v2 * c1 / (v1 * c2 - v2 * c1)  # the least k is above slope · (number of users that tell)
    low, high = _central(n - 1, told)
    total, m = arb(0), low
    j = _above(slope, m + 1) - 1
    log_left = (1 - told).log()
    weight = _log_weight(n - 1, m, told, log_left).exp()
    p = probability(m, r, j)
    above = tail(m, r, j + 1) if j < m else arb(0)
    while True:
        total += weight * ((v1 + v2) * above + v1 * p)
        if m == high:
            break
        weight *= told / (1 - told) * (n - 1 - m) / (m + 1)
        above += r * p
        m += 1
        p = p * (1 - r) * m / (m - j) if j < m else r**m
        if (up := _above(slope, m + 1) - 1) > j:
            p = p * (r / (1 - r)) * (m - j) / (j + 1)
            above -= p
            j = up
    outside = 2 * arb(10) ** -400  # of the weights left out, see `_central`
    return total + arb(0).union(outside)


def _log_weight(n: int, m: int, told: arb, log_left: arb) -> arb:
    log = arb(n + 1).lgamma() - arb(m + 1).lgamma() - arb(n - m + 1).lgamma()
    return log + m * told.log() + (n - m) * log_left


def _above(slope: arb, m: int) -> int:
    """The least k with k > slope · m."""
    return math.floor(Fraction(*_as_ratio(slope * m))) + 1


def _central(n: int, told: arb) -> tuple[int, int]:
    """Numbers outside of which a binomial law has less than 10^-400, by the bounds of Chernoff."""
    mean, enough = n * float(told), 400 * math.log(10) + 20
    ends = []
    for sign in (-1, 1):
        low, high = 0.0, mean if sign < 0 else n - mean
        for _ in range(60):
            middle = (low + high) / 2
            far = n * _relative_entropy((mean + sign * middle) / n, mean / n) if n else 0.0
            low, high = (middle, high) if far < enough else (low, middle)
        ends.append(mean + sign * high)
    return max(math.floor(ends[0]) - 1, 0), min(math.ceil(ends[1]) + 1, n)


def _relative_entropy(x: float, p: float) -> float:
    x = min(max(x, 0.0), 1.0)
    first = x * math.log(x / p) if x > 0 else 0.0
    return first + ((1 - x) * math.log((1 - x) / (1 - p)) if x < 1 else 0.0)
