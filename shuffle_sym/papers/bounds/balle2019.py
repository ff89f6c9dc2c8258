r"""Closed forms of Balle et al. 2019.

With the GPARV G of the blanket, :math:`\delta = \frac1n E[G_1 + \dots + G_n]_+` (Su et al. 2025, Theorem 9), where G is
L/γ with probability γ and 0 otherwise. A bound on the positive part of a sum can be used in two ways: on the sum of the
L of those who are covered, averaged over their number, which is Balle et al., Lemma 5.3, or on the n copies of G at
once. Both hold, and what is returned is the smaller one. No sum over n is left in either:
:math:`E[e^{-sM}] = (1 - \gamma(1 - e^{-s}))^n` for M ~ Bin(n, γ) (`derivations.theorem53`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import mpmath
import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.bounds.amplification import Amplification
from shuffle_sym.papers.bounds.moments import Moments, Range
from shuffle_sym.papers.bounds.rounding import DIGITS, evaluated, number, up


def _over_covered_users(gamma: mpmath.mpf, rate: mpmath.mpf, n: int) -> mpmath.mpf:
    """E[e^(−rate·M); M >= 1] for M ~ Bin(n, γ)."""
    if gamma >= 1:
        return mpmath.exp(-n * rate)
    everyone_else = n * mpmath.log1p(-gamma)
    return mpmath.exp(everyone_else) * mpmath.expm1(n * mpmath.log1p(gamma * mpmath.exp(-rate) / (1 - gamma)))


class _TailBound(Amplification):
    """A bound front·e^(−n·rate) on E[X_1 + … + X_n]_+/n, for G directly and for L in Lemma 5.3; the smaller one."""

    @abstractmethod
    def _direct(self, G: Range, a: mpmath.mpf, n: int) -> tuple[mpmath.mpf, mpmath.mpf]:
        """front and rate for n copies of G."""

    @abstractmethod
    def _covered(self, front: mpmath.mpf, rate: mpmath.mpf, gamma: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
        """The same for L = γG of those who are covered."""

    def _value(self, moments: Moments, n: int, eps: mpmath.mpf) -> mpmath.mpf:
        a, alpha = mpmath.expm1(eps), mpmath.exp(eps)
        return max(self._of_pair(pair(alpha), moments.gamma, a, n) for pair in moments.pairs)

    def _of_pair(self, G: Range, gamma: mpmath.mpf | None, a: mpmath.mpf, n: int) -> mpmath.mpf:
        if G.largest <= 0:
            return mpmath.mpf(0)
        front, rate = self._direct(G, a, n)
        direct = front * mpmath.exp(-n * rate)
        if gamma is None:
            return direct
        front, rate = self._covered(front, rate, gamma)
        return min(direct, front * _over_covered_users(gamma, rate, n))


class Hoeffding(_TailBound):
    r"""Lemma 5.5, :math:`E[L_1 + \dots + L_m]_+ \le \frac{b^2}{4a} e^{-2ma^2/b^2}` with a = α − 1 and b the length of
    the range, in Lemma 5.3 and on G directly (Balle et al. 2019).

    With an ε0 it holds for every ε0-LDP randomizer: there G has the range 1 − αt … t − α whatever γ is, and

    .. math:: \delta \le \frac{(\alpha+1)^2 (t-1)^2}{4n(\alpha-1)}
              \exp\Bigl(-\frac{2n(\alpha-1)^2}{(\alpha+1)^2(t-1)^2}\Bigr),

    which is below Theorem 5.3 everywhere. (γ = e^-ε0 in the range of L as well as in the law of M would *not* be a
    bound: b grows with γ.) With a randomizer, its own range and γ are used.

    >>> "{:.3e}".format(balle2019_hoeffding.delta(1, 10_000, 0.1))
    '1.414e-10'
    """

    name = "balle2019_hoeffding"

    def _direct(self, G: Range, a: mpmath.mpf, n: int) -> tuple[mpmath.mpf, mpmath.mpf]:
        b = G.largest - G.smallest
        return b * b / (4 * a * n), 2 * a * a / (b * b)

    def _covered(self, front: mpmath.mpf, rate: mpmath.mpf, gamma: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
        return front * gamma, rate / (gamma * gamma)


class Bennett(_TailBound):
    r"""Lemma 5.6, corrected: :math:`E[L_1 + \dots + L_m]_+ \le \frac{b_+}{\log(1 + ab_+/c)} e^{-(mc/b_+^2)
    \phi(ab_+/c)}` with L <= b_+, E[L²] <= c, a = α − 1 and φ(u) = (1 + u) log(1 + u) − u, in Lemma 5.3 and on G
    directly (Balle et al. 2019).

    The print has am in the denominator of the first factor. That is not a bound: it does not grow with L while the left
    side does (see `derivations.lemma56`).

    >>> "{:.3e}".format(balle2019_bennett.delta(1, 10_000, 0.1))
    '1.462e-16'
    """

    name = "balle2019_bennett"

    def _direct(self, G: Range, a: mpmath.mpf, n: int) -> tuple[mpmath.mpf, mpmath.mpf]:
        b, c = G.largest, G.second
        u = a * b / c
        growth = mpmath.log1p(u)
        return b / (growth * n), c / (b * b) * ((1 + u) * growth - u)

    def _covered(self, front: mpmath.mpf, rate: mpmath.mpf, gamma: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
        return front, rate / gamma


class Theorem53(Amplification):
    r"""Theorem 5.3 as printed, for every ε0-LDP randomizer (Balle et al. 2019):

    .. math:: \delta = \frac{(\alpha+1)^2 (t - 1/t)^2}{4n(\alpha-1)}
              \exp\Bigl(-Cn\Bigl(\frac1t \wedge \frac{(\alpha-1)^2}{(\alpha+1)^2(t - 1/t)^2}\Bigr)\Bigr),
              \quad C = 1 - e^{-2}.

    >>> "{:.3e}".format(balle2019_thm53.delta(1, 10_000, 0.1))
    '1.170e-04'
    """

    name = "balle2019_thm53"

    def _read(self, source: Any) -> Moments:
        return Moments.of(arguments.local_epsilon(source))

    def _value(self, moments: Moments, n: int, eps: mpmath.mpf) -> mpmath.mpf:
        a, alpha, t = mpmath.expm1(eps), mpmath.exp(eps), mpmath.exp(number(moments.eps0))
        b = (alpha + 1) * (t - 1 / t)
        rate = -mpmath.expm1(-2) * min(1 / t, (a / b) ** 2)
        return b * b / (4 * a * n) * mpmath.exp(-n * rate)


class Corollary531(Amplification):
    r"""Corollary 5.3.1 with its constants: for δ <= e^-(1 + √2) and ε0 <= log(n/log(1/δ))/2, every shuffled ε0-LDP
    randomizer is (ε, δ)-DP with

    .. math:: \varepsilon = 2\log(1 + \sqrt2)\,(1 \wedge \varepsilon_0)\,e^{\varepsilon_0}\sqrt{\log(1/\delta)/n}

    (Balle et al. 2019; the constants are ours, see `derivations.corollary531`). Outside, asked for an ε, it raises;
    asked for a δ, it gives 1.

    >>> round(balle2019_cor531(1, 10_000, 1e-6), 4)
    0.1781
    """

    name = "balle2019_cor531"

    def _read(self, source: Any) -> Moments:
        return Moments.of(arguments.local_epsilon(source))

    def _value(self, moments: Moments, n: int, eps: mpmath.mpf) -> mpmath.mpf:
        eps0 = number(moments.eps0)
        root2, t = mpmath.sqrt(2), mpmath.exp(eps0)
        slope = 2 * mpmath.log(1 + root2) * min(eps0, 1) * t
        log_inverse = min(n * (eps / slope) ** 2, n / (t * t))
        return mpmath.exp(-log_inverse) if log_inverse >= 1 + root2 else mpmath.mpf(1)

    def __call__(self, source: Any, n: Any, delta: Any) -> float:
        moments, n, target = self._read(source), arguments.users(n), arguments.between_0_and_1(delta, "delta")
        largest_delta, largest_eps0 = sp.exp(-1 - sp.sqrt(2)), sp.log(n / sp.log(1 / target)) / 2
        if target > largest_delta:
            raise ValueError(f"delta must be at most exp(-1 - sqrt(2)) = 0.0894 for this bound, got {sp.N(target, 6)}")
        if moments.eps0 > largest_eps0:
            enough = float(sp.exp(2 * moments.eps0) * sp.log(1 / target))
            users = f"{math.ceil(enough)}" if enough < 2**53 else f"{enough:.3g}"
            raise ValueError(
                f"eps0 must be at most log(n/log(1/delta))/2 = {float(largest_eps0):.4g} for this bound, got "
                f"{float(moments.eps0):.4g}; n >= {users} users would be enough"
            )

        def formula(e: mpmath.mpf, d: mpmath.mpf) -> mpmath.mpf:
            constant = 2 * mpmath.log(1 + mpmath.sqrt(2))
            return min(e, constant * min(e, 1) * mpmath.exp(e) * mpmath.sqrt(-mpmath.log(d) / n))

        return evaluated(formula, moments.eps0, target)


balle2019_hoeffding = Hoeffding()
balle2019_bennett = Bennett()
balle2019_thm53 = Theorem53()
balle2019_cor531 = Corollary531()


# ------------------------------------------------------------------------------------- Theorem 3.1: k-RR, by γ


def balle2019_thm31(k: Any, gamma: Any, n: Any, delta: Any) -> float:
    r"""ε of shuffled k-RR that answers randomly with probability γ:
    :math:`\varepsilon = \sqrt{\frac{14 k \log(2/\delta)}{(n-1)\gamma}}` (Balle et al. 2019, Theorem 3.1, solved for ε;
    Koskela et al. 2021, (C.1)).

    The theorem asks for ε <= 1, and the first of its two terms is the larger one for δ <= 2 e^-2; where one of them
    fails, this raises. The theorem is about an adversary who knows who answered randomly.

    >>> round(balle2019_thm31(k=4, gamma=0.25, n=100_000, delta=1e-6), 4)
    0.1803
    """
    k = arguments.size(k, "k", 2)
    arguments.numeric_only(k.free_symbols, "a bound")
    n = arguments.users(n)
    gamma = arguments.between_0_and_1(gamma, "gamma")
    delta = arguments.between_0_and_1(delta, "delta")
    if n < 2:
        raise ValueError(f"n must be at least 2 for this bound, got {n}")
    if delta > 2 * sp.exp(-2):
        raise ValueError(f"delta must be at most 2 exp(-2) = 0.2706 for this bound, got {sp.N(delta, 6)}")
    eps = evaluated(lambda k, g, d: mpmath.sqrt(14 * k * mpmath.log(2 / d) / ((n - 1) * g)), k, gamma, delta)
    if eps > 1:
        raise ValueError(
            f"the theorem holds for eps <= 1, and here it would give {eps:.4g}; "
            f"n >= {int(sp.ceiling(14 * k * sp.log(2 / delta) / gamma)) + 1} users would be enough"
        )
    return eps


def balle2019_thm31_gamma(k: Any, n: Any, eps: Any, delta: Any) -> float:
    r"""The γ that Theorem 3.1 asks for: :math:`\max\{\frac{14k\log(2/\delta)}{(n-1)\varepsilon^2},
    \frac{27k}{(n-1)\varepsilon}\}` (Balle et al. 2019), for 0 < ε <= 1. Where it is 1 or more, this raises and says how
    many users would be enough.

    >>> round(balle2019_thm31_gamma(k=4, n=100_000, eps=0.5, delta=1e-6), 5)
    0.0325
    """
    k = arguments.size(k, "k", 2)
    arguments.numeric_only(k.free_symbols, "a bound")
    n = arguments.users(n)
    eps, delta = _at_most_1(eps), arguments.between_0_and_1(delta, "delta")
    blanket = _users_in_the_blanket(eps, delta)
    enough = int(sp.floor(k * blanket)) + 2  # the least n with γ < 1
    if n < enough:
        raise ValueError(
            f"n must be at least {enough} for k = {k}, eps = {float(eps):g} and delta = {float(delta):g}: with n = {n} "
            "Theorem 3.1 would ask for gamma >= 1"
        )
    return evaluated(lambda k, b: k * b / (n - 1), k, blanket)


def balle2019_thm31_delta(k: Any, gamma: Any, n: Any, eps: Any) -> float:
    r"""δ of Theorem 3.1: :math:`2e^{-c\varepsilon^2/14}` with c = γ(n−1)/k, if cε >= 27; else it says nothing, 1.

    >>> "{:.3e}".format(balle2019_thm31_delta(k=4, gamma=0.25, n=100_000, eps=0.2))
    '3.514e-08'
    """
    k = arguments.size(k, "k", 2)
    arguments.numeric_only(k.free_symbols, "a bound")
    n = arguments.users(n)
    gamma, eps = arguments.between_0_and_1(gamma, "gamma"), _at_most_1(eps)
    c = gamma * (n - 1) / k
    if c * eps < 27:
        return 1.0
    return min(1.0, evaluated(lambda c, e: 2 * mpmath.exp(-c * e * e / 14), c, eps))


def balle2019_thm31_eps0(k: Any, n: Any, eps: Any, delta: Any) -> float:
    r"""The ε0 of k-RR with the γ of Theorem 3.1: :math:`\log(1 + k(1 - \gamma)/\gamma)` (Balle et al. 2019, Lemma 5.1).

    >>> round(balle2019_thm31_eps0(k=4, n=100_000, eps=0.5, delta=1e-6), 4)
    4.7881
    """
    gamma = balle2019_thm31_gamma(k, n, eps, delta)
    if gamma >= 1:  # below 1, but by less than a double can say
        return 0.0
    with mpmath.workdps(DIGITS):
        g = mpmath.mpf(gamma)
        return max(0.0, -up(-mpmath.log1p(int(k) * (1 - g) / g)))


def _at_most_1(eps: Any) -> sp.Expr:
    number = arguments.central_epsilon(eps)
    if arguments.decided(sp.And(number > 0, number <= 1)) is not True:
        raise ValueError(f"eps must be a number > 0 and at most 1 for Theorem 3.1, got {eps!r}")
    return number


def _users_in_the_blanket(eps: sp.Expr, delta: sp.Expr) -> sp.Expr:
    """What γ(n − 1)/k has to be at least."""
    return sp.Max(14 * sp.log(2 / delta) / eps**2, 27 / eps)


def balle2019_thm42(n: Any, eps: Any, delta: Any) -> float:
    r"""What the worst-case MSE of every (ε, δ)-DP single-message protocol for sums is at least (Balle et al. 2019,
    Theorem 4.2, in numbers): the maximum over k of

    .. math:: \min\Bigl\{\frac{n}{8k^2e^\varepsilon} - \frac{1 - 2\delta}{8k},
              \frac1{48}\Bigl(k - \frac1k\Bigr)\Bigl(\frac12 - \delta\Bigr)\Bigr\}.

    Rounded down. Any k gives a bound (`derivations.theorem42`); the theorem takes :math:`\lceil n^{1/3} \rceil`. The
    second term on the left is ours: the proof in print does not account for it.

    >>> round(balle2019_thm42(n=10**6, eps=1, delta=1e-8), 4)
    1.7083
    """
    n, eps, delta = arguments.users(n), arguments.central_epsilon(eps), arguments.between_0_and_1(delta, "delta")
    if delta >= sp.Rational(1, 2):
        raise ValueError(f"delta must be below 1/2 for this bound, got {sp.N(delta, 6)}")
    with mpmath.workdps(DIGITS):
        alpha, room = mpmath.exp(number(eps)), mpmath.mpf(1) / 2 - number(delta)

        def both(k: int) -> tuple[mpmath.mpf, mpmath.mpf]:
            return n / (8 * k * k * alpha) - room / (4 * k), (k - mpmath.mpf(1) / k) * room / 48

        low, high = 1, 2
        while both(high)[0] > both(high)[1]:
            low, high = high, 2 * high
        # One side falls while it is positive and the other grows: the largest minimum is where they cross.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if both(middle)[0] > both(middle)[1] else (low, middle)
        return max(0.0, -up(-max(min(both(low)), min(both(high)))))
