r"""E[G_1 + … + G_n]_+ to any number of digits, also for millions of users, where G has at most four values.

The values are put into two pairs, an *outer* one, zo > zo − go, and an *inner* one, zi > zi − gi (one value and gi = 0
if there are three; no user at all if there are two). M users draw from the outer pair, B of them the lower value; C of
the N = n − M others draw the lower value of the inner pair. All three are binomial, and

.. math:: S = \sigma - g_i C, \qquad \sigma = z_o M + z_i N - g_o B,

is positive for C below k = ⌈σ/gi⌉. By de Moivre's identity the sum over C, or that of a linear function over B, is

.. math:: \sum_{C < k} \Pr[C]\,(\sigma - g C) = (\sigma - g N q) \Pr[C < k] + g\, k (1 - q) \Pr[C = k],
          \qquad C \sim \mathrm{Bin}(N, q).

Neighbouring tails differ by a term or two, so tails are moved and not computed: one for the inner pair at the upper end
h of its window, one for all B with σ >= gi·h, whose C are then all those below h, and one for each line of points
(M, B) in between, along the shortest step that moves (N, k) little. For every c > 0 and tilted chances p e^{cg}/φ(c)

.. math:: \mathbb E\bigl[[S]_+;\ \text{outside}\bigr] \le \frac{\varphi(c)^n}{e\,c} \Pr_c[\text{outside}],
          \qquad [s]_+ \le e^{cs}/(ec),

and Bernstein's inequality gives windows of M and C. Where each error goes:

===================  =========================================================================================
values of G          whole multiples of a unit, off by at most `_OFF` units each (half a unit, and _OFF/2 to the
                     largest of those that are made equal): S moves by at most n·_OFF units, which matters where
                     S > −n·_OFF in units: that has a mass of less than φ^n e^{c·n·_OFF}
values below −4n     times the largest one: a sum that has one is negative, before and after they are raised
outside the windows  the bound above, with Pr_c[M outside] + max_M Pr_c[C outside | M] <= 2 e^log_outside; the
                     middles of the windows are doubles, right to 1e-12, and the windows wider by n/10^10 + 1
all else             inside balls (`arb`); more bits until the sum is right to the digits that were asked for
===================  =========================================================================================
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from flint import arb

from shuffle_sym.algebra import balls
from shuffle_sym.model.gparv import Gparv, LawOfG, Ratio
from shuffle_sym.numeric.binomial import bernstein_reach
from shuffle_sym.numeric.tilting import saddle_point_of_logs
from shuffle_sym.truth.histograms import positive_part, seconds_of_all

_MOST_VALUES = 4  # two pairs; with more, all histograms are summed
_OFF = 8  # units, see above
_BITS_A_DIGIT = math.log2(10)
# Seconds that a value of M, a point (M, B) and a step of a tail take: wrong ones choose the slower of two plans.
_SECONDS_OF_M, _SECONDS_OF_POINT, _SECONDS_OF_STEP = 8e-6, 5e-6, 1e-6


class _Tail:
    """Pr[C < k] and Pr[C = k] for C ~ Bin(N, q), q = p/(p + r), and the sum of σ − gC over C < k."""

    def __init__(self, p: arb, r: arb, gap: int, bits: int) -> None:
        self.share, self.rest, self.odds = p / (p + r), r / (p + r), p / r
        self.scaled_share, self.scaled_rest, self.small = gap * self.share, gap * self.rest, arb(2) ** -bits
        self.N, self.k, self.below, self.at = -1, -1, arb(0), arb(0)

    def to(self, N: int, k: int, good: int = 0) -> None:
        """Move to (N, k), 0 <= k <= N + 1; on the way 0 <= k <= N, so that no factor is 0. What is then right to less
        than ``good`` bits is computed anew."""
        if not (0 <= k <= N and 0 <= self.k <= self.N):
            self._start(N, k)
            return
        size, count, below, at = self.N, self.k, self.below, self.at  # names of the function's own are faster
        while count > k:
            at = at * count / ((size - count + 1) * self.odds)
            count -= 1
            below -= at
        while size > N:
            part = at / size
            below += part * count
            at = part * (size - count) / self.rest
            size -= 1
        while size < N:
            size += 1
            part = at * self.rest / (size - count)
            at, below = part * size, below - part * count
        while count < k:
            below += at
            count += 1
            at = at * self.odds * (size - count + 1) / count
        self.N, self.k, self.below, self.at = N, k, below, at
        if good and not balls.is_right_to(good, below):
            self._start(N, k)

    def _start(self, N: int, k: int) -> None:
        """Term by term from k down; once the terms fall, they fall faster and faster."""
        self.N, self.k, self.below, self.at = N, k, arb(1), arb(0)
        if k > N:
            return
        self.below, self.at = arb(0), _binomial(N, k, self.share, self.rest)
        term = self.at
        for j in range(k, 0, -1):
            ratio = j / ((N - j + 1) * self.odds)
            term = term * ratio
            self.below += term
            if ratio < 1 and term * ratio < (1 - ratio) * self.below * self.small:
                self.below += arb(0).union(term * ratio / (1 - ratio))
                break

    def sum(self, sigma: int) -> arb:
        """The sum of Pr[C] (σ − gC) over C < k."""
        return (sigma - self.N * self.scaled_share) * self.below + self.k * self.scaled_rest * self.at


def _binomial(N: int, k: int, p: arb, r: arb) -> arb:
    """C(N, k) p^k r^(N − k)."""
    ways = (arb(N + 1).lgamma() - arb(k + 1).lgamma() - arb(N - k + 1).lgamma()).exp()
    return ways * p**k * r ** (N - k)


@dataclass(frozen=True)
class _Plan:
    """How a sum is done: the places of the two pairs among the values, the larger value first; the window of M; that of
    C, ``share`` · N ± ``reach``; the step (dM, dB) along a line; the bits that cancel; the seconds it takes."""

    outer: tuple[int, ...]
    inner: tuple[int, ...]
    window: range
    share: float
    reach: int
    step: tuple[int, int]
    cancelled: int
    seconds: float


class CentralSum:
    """The divergence from the law of G at the α of ``ratio`` with n users, to so many digits; its cost is known first.

    >>> import shuffle_sym as ss, sympy as sp
    >>> one = CentralSum(ss.decomposition.blanket(ss.BinaryRR(eps0=sp.log(3))).gparv, Ratio(alpha=sp.Integer(2)), 2, 9)
    >>> one.seconds < 1, one.value().str(9, radius=False)  # 3/16
    (True, '0.187500000')
    """

    def __init__(self, G: Gparv, ratio: Ratio, n: int, digits: int) -> None:
        self.G, self.ratio, self.n, self.digits = G, ratio, n, digits
        rough = G.balls(ratio, 64)
        self.sign = -1 if _mean(rough) > 0 else 1
        self.one_sided = not (any(v > 0 for v in rough.values) and any(v < 0 for v in rough.values))
        if not self.one_sided:
            with balls.LOCK, balls.workprec(64):
                values, largest = self._scaled(rough)
                doubles, logs = np.array(values, dtype=float), np.array([float(p.log()) for p in rough.probabilities])
                self.tilt = saddle_point_of_logs(doubles, logs, n)
                log_bound = n * float(np.logaddexp.reduce(logs + self.tilt * doubles)) - 1 - math.log(self.tilt * n)
                known, spare = self._known(rough) / balls.ball(largest), 0.0
                if known > 0:  # what is added to a large number need not have all digits
                    spare = (float(known.log()) - log_bound) / math.log(10) - 2
            self.digits_of_sum = max(digits - max(math.floor(spare), 0), 0)
            spread = math.log2(self.tilt * n + 4)
            self.log_outside = -math.log(10) * (self.digits_of_sum + 2) - 2 * spread
            self.bits = math.ceil(_BITS_A_DIGIT * self.digits_of_sum + 3 * spread) + 32
            self._merge(min(self.bits, 384))  # which are enough for a plan

    def _known(self, law: LawOfG) -> arb:
        """What is added to the sum: atoms with c = 0, and E[S] in E[S]_+ = E[S] + E[−S]_+."""
        return sum(law.null, arb(0)) + (_mean(law) if self.sign < 0 else 0)

    def _scaled(self, law: LawOfG) -> tuple[list[Fraction], Fraction]:
        """The values over 4n times the largest, and that number; from −1 on every sum with such a value is negative."""
        values = [self.sign * balls.middle(v) for v in law.values]
        largest = 4 * self.n * max(values)
        return [max(v / largest, Fraction(-1)) for v in values], largest

    def _merge(self, fine: int) -> None:
        """The values as whole multiples of 2^-fine, from the largest down; nearly equal ones are made equal."""
        law = self.G.balls(self.ratio, _rounded_up(fine + 16))
        scaled, largest = self._scaled(law)
        whole = [round(v * 2**fine) for v in scaled]
        self.fine, self.unit = fine, largest / 2**fine
        self.values: list[int] = []
        self.places: list[list[int]] = []
        for i in sorted(range(len(whole)), key=lambda i: -whole[i]):
            if not self.values or self.values[-1] - whole[i] > _OFF // 2:
                self.values.append(whole[i])
                self.places.append([])
            self.places[-1].append(i)
        with balls.LOCK, balls.workprec(64):
            logs = [float(p.log()) for p in self._chances(law)]
        self.logs = [log + self.tilt * (v / 2**fine) for log, v in zip(logs, self.values, strict=True)]
        self.__dict__.pop("plan", None)

    def _chances(self, law: LawOfG) -> list[arb]:
        return [sum((law.probabilities[i] for i in places), arb(0)) for places in self.places]

    @property
    def seconds(self) -> float:
        """About how long the sum takes."""
        if self.one_sided or not self.digits_of_sum:
            return 0.0
        few = len(self.values) <= _MOST_VALUES
        return (self.plan.seconds if few else seconds_of_all(self.n, len(self.values))) * (1 + self.bits / 1000)

    # -- the plan, in doubles: any will do, some are faster

    @cached_property
    def plan(self) -> _Plan:
        places = range(len(self.values))
        pairs = [(pair, tuple(i for i in places if i not in pair)) for pair in combinations(places, 2)]
        return min((self._plan(outer, inner) for outer, inner in pairs), key=lambda plan: plan.seconds)

    def _plan(self, outer: tuple[int, ...], inner: tuple[int, ...]) -> _Plan:
        slack = 1 + self.n // 10**10  # doubles are right to 1e-12
        share = self._share(outer, inner)
        middle, reach = math.floor(self.n * share), bernstein_reach(self.n, share, self.log_outside) + slack
        window = range(max(middle - reach, 0), min(middle + reach, self.n) + 1) if inner else range(self.n, self.n + 1)
        go, gi = (self.values[pair[0]] - self.values[pair[-1]] if pair else 0 for pair in (outer, inner))
        jump = self.values[outer[0]] - self.values[inner[0]] if inner else 0
        begun = bernstein_reach(window[-1], self._share(outer[1:], outer[:1]), -self.bits * math.log(2))
        moved = len(window) * (2 + abs(_quotient(jump, go)))
        weight = len(window) * _SECONDS_OF_M + (begun + moved) * _SECONDS_OF_STEP
        if not gi:
            return _Plan(outer, inner, window, 0.0, 0, (0, 0), 0, weight)
        lower = self._share(inner[1:], inner[:1])
        reach = bernstein_reach(self.n - window[0], lower, self.log_outside) + slack
        across = max(_quotient(go, gi), 1e-60)
        step, length = _shortest(across, _quotient(jump, gi))
        points = min(2 * reach, self.n - window[0]) / across + 1
        started = (points * max(step[0], 1) + len(window) * length / across) * min(across, 2 * reach)
        steps = len(window) * points * min(length, 2 * reach) + (started if step[0] else 0)
        seconds = weight + len(window) * points * _SECONDS_OF_POINT + steps * _SECONDS_OF_STEP
        cancelled = math.ceil(self.tilt * (gi / 2**self.fine) * 2 * reach * math.log2(math.e))
        return _Plan(outer, inner, window, lower, reach, step, cancelled, seconds)

    def _share(self, some: tuple[int, ...], others: tuple[int, ...]) -> float:
        """The tilted chance of some places among these and others."""
        above, below = (np.logaddexp.reduce([self.logs[i] for i in part]) for part in (some, others))
        return float(1 / (1 + np.exp(min(below - above, 700.0))))

    # -- the sum

    def value(self) -> arb:
        """A ball that contains D_α, with a relative radius of at most 10^-digits."""
        wanted = math.ceil(_BITS_A_DIGIT * self.digits) + 1
        trial = self
        for _ in range(9):  # digits are missing where large numbers cancel: a few times more of them are asked for
            found = trial._value()
            if balls.is_right_to(wanted, found):
                return found
            reached = found.rel_accuracy_bits() if found.is_finite() else 0
            more = math.ceil((wanted - reached) / _BITS_A_DIGIT) + 3 if reached > 0 else trial.digits + self.digits
            trial = CentralSum(self.G, self.ratio, self.n, trial.digits + more)
            if trial.seconds > 60:
                break
        raise ValueError(
            f"the values of G at alpha = {self.ratio.alpha} are too far apart for {self.digits} digits at n = {self.n}"
        )

    def _value(self) -> arb:
        bits = _rounded_up(math.ceil(_BITS_A_DIGIT * self.digits) + 40 + 2 * self.n.bit_length())
        if not self.one_sided:
            self._merge(self.bits)
            bits += self.plan.cancelled if len(self.values) <= _MOST_VALUES else 0
        law = self.G.balls(self.ratio, bits)
        with balls.LOCK, balls.workprec(bits):
            if self.one_sided:
                return self._known(law)
            return self._known(law) + self._positive_part(self._chances(law), bits) * balls.ball(self.unit) / self.n

    def _positive_part(self, chances: list[arb], bits: int) -> arb:
        """E[S]_+ in units: the sum, what is outside, and what the units make of the values."""
        tilt = arb(self.tilt) / 2**self.fine
        power = sum((p * (tilt * v).exp() for v, p in zip(self.values, chances, strict=True)), arb(0)) ** self.n
        off, all_of_it = self.n * _OFF, power / (tilt * arb.const_e())
        moved = power * (tilt * off).exp() * off
        if not self.digits_of_sum:
            return arb(0).union(all_of_it + moved)
        outside: arb = arb(0).union(all_of_it * 2 * arb(self.log_outside).exp())
        rest: arb = outside + moved.union(-moved)
        return rest + self._sum(chances, bits)

    def _sum(self, chances: list[arb], bits: int) -> arb:
        if len(self.values) > _MOST_VALUES:
            return arb(positive_part(self.values, chances, self.n))
        plan, n = self.plan, self.n
        p, r = (sum((chances[i] for i in pair), arb(0)) for pair in (plan.outer, plan.inner))
        given = _Given(self, chances, bits)
        weight, total = _binomial(n, plan.window[0], p, r), arb(0)
        for M in plan.window:
            total += weight * given(M, n - M)
            weight = weight * ((n - M) * p) / ((M + 1) * r) if n > M else weight
        return total


class _Given:
    """E[S]_+ given M, without what is outside the window of C."""

    def __init__(self, whole: CentralSum, chances: list[arb], bits: int) -> None:
        self.plan = plan = whole.plan
        values = whole.values
        (high, low), inner = plan.outer, plan.inner
        self.zo, self.go = values[high], values[high] - values[low]
        self.zi, self.gi = (values[inner[0]], values[inner[0]] - values[inner[-1]]) if inner else (0, 0)
        self.outer = _Tail(chances[low], chances[high], self.go, bits)
        if self.gi:
            self.inner = _Tail(chances[inner[1]], chances[inner[0]], self.gi, bits)
        self.lines: dict[tuple[int, int], _Tail] = {}
        self.good = math.ceil(_BITS_A_DIGIT * whole.digits_of_sum) + 8

    def __call__(self, M: int, N: int) -> arb:
        base, outer = self.zo * M + self.zi * N, self.outer
        if not self.gi:
            outer.to(M, min(max(base // self.go + 1, 0), M + 1), self.good)
            return outer.sum(base)
        middle = math.floor(N * self.plan.share)
        end, start = min(middle + self.plan.reach, N) + 1, max(middle - self.plan.reach, 0)
        self.inner.to(N, end)
        outer.to(M, min(max((base - self.gi * end) // self.go + 1, 0), M + 1), self.good)
        total = outer.sum(base) * self.inner.below + outer.below * self.inner.sum(0)
        last = min(M, (base - self.gi * start - 1) // self.go)
        return total + self._strip(M, N, base, last)

    def _strip(self, M: int, N: int, base: int, last: int) -> arb:
        """The B for which some C of the window make the sum positive and some do not."""
        outer, near, (dM, dB) = self.outer, self.inner, self.plan.step
        chance, total = outer.at, arb(0)
        for B in range(outer.k, last + 1):
            sigma = base - self.go * B
            line = (M % dM, B - dB * (M // dM)) if dM else (0, B - outer.k)
            tail = self.lines.get(line) if dM else None
            if tail is None:
                tail = self.lines[line] = copy(near)
            tail.to(N, -(-sigma // self.gi))
            total += chance * tail.sum(sigma)
            chance = chance * ((M - B) * outer.odds) / (B + 1)
            near = tail
        return total


def _mean(law: LawOfG) -> arb:
    return sum((v * p for v, p in zip(law.values, law.probabilities, strict=True)), arb(0))


def _rounded_up(bits: int) -> int:
    """So that few precisions are ever asked for."""
    return -(-bits // 64) * 64


def _quotient(x: int, y: int) -> float:
    """x/y, or 1e60 if it is larger."""
    return x / y if abs(x) < abs(y) * 10**60 else (1e60 if x > 0 else -1e60)


def _shortest(across: float, along: float) -> tuple[tuple[int, int], float]:
    """The step (dM, dB), dM >= 0, not 0, for which N − dM and k + along·dM − across·dB move least, and how much
    (Gauss's reduction of a lattice in the plane)."""
    long, short = (0, 1), (1, round(along / across))

    def moves(step: tuple[int, int]) -> tuple[float, float]:
        return step[0], along * step[0] - across * step[1]

    for _ in range(100):
        if math.hypot(*moves(long)) < math.hypot(*moves(short)):
            long, short = short, long
        (x, y), (u, v) = moves(long), moves(short)
        times = round((x * u + y * v) / (u * u + v * v))
        if not times:
            break
        long = long[0] - times * short[0], long[1] - times * short[1]
    if short[0] < 0:
        short = -short[0], -short[1]
    return short, sum(map(abs, moves(short)))
