r"""Closed forms of Balle et al. 2019.

With the GPARV G of the blanket, :math:`\delta = \frac1n E[G_1 + \dots + G_n]_+` (Su et al. 2025, Theorem 9), where G is
L/γ with probability γ and 0 otherwise. A bound on the positive part of a sum can be used in two ways: on the sum of the
L of those who are covered, averaged over their number, which is Balle et al., Lemma 5.3, or on the n copies of G at
once. Both hold, and what is returned is the smaller one. No sum over n is left in either:
:math:`E[e^{-sM}] = (1 - \gamma(1 - e^{-s}))^n` for M ~ Bin(n, γ) (`derivations.theorem53`).
"""

import math
from collections.abc import Callable
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.amplification import EveryRandomizer, amplification
from shuffle_sym.papers.balle2019.spread import Range, Spread
from shuffle_sym.papers.registry import bound
from shuffle_sym.papers.rounded import MP, Mpf, down, evaluated, number
from shuffle_sym.randomizers import KRR

Tail = tuple[Mpf, Mpf]  # front and rate of a bound front·e^(−n·rate)


def _over_covered_users(gamma: Mpf, rate: Mpf, n: int) -> Mpf:
    """E[e^(−rate·M); M >= 1] for M ~ Bin(n, γ)."""
    if gamma >= 1:
        return MP.exp(-n * rate)
    everyone_else = n * MP.log1p(-gamma)
    return MP.exp(everyone_else) * MP.expm1(n * MP.log1p(gamma * MP.exp(-rate) / (1 - gamma)))


def _smaller_tail(
    spread: Spread,
    n: int,
    eps: Mpf,
    direct: Callable[[Range, Mpf, int], Tail],
    covered: Callable[[Mpf, Mpf, Mpf], Tail],
) -> Mpf:
    """A bound front·e^(−n·rate) on E[X_1 + … + X_n]_+/n for the worst pair of inputs: ``direct`` gives front and rate
    for n copies of G, ``covered`` makes of them, with γ, those for the L of the covered users in Lemma 5.3."""
    a, alpha = MP.expm1(eps), MP.exp(eps)

    def of_pair(G: Range) -> Mpf:
        if G.largest <= 0:
            return MP.mpf(0)
        front, rate = direct(G, a, n)
        for_all = front * MP.exp(-n * rate)
        if spread.gamma is None:
            return for_all
        front, rate = covered(front, rate, spread.gamma)
        return min(for_all, front * _over_covered_users(spread.gamma, rate, n))

    return max(of_pair(pair(alpha)) for pair in spread.pairs)


@amplification(read=Spread.of, title="Hoeffding", source="Balle et al. 2019, Lemma 5.5")
def hoeffding(spread: Spread, n: int, eps: Mpf) -> Mpf:
    r"""Lemma 5.5, :math:`E[L_1 + \dots + L_m]_+ \le \frac{b^2}{4a} e^{-2ma^2/b^2}` with a = α − 1 and b the length of
    the range, in Lemma 5.3 and on G directly (Balle et al. 2019).

    With an ε0 it holds for every ε0-LDP randomizer: there G has the range 1 − αt … t − α whatever γ is, and

    .. math:: \delta \le \frac{(\alpha+1)^2 (t-1)^2}{4n(\alpha-1)}
              \exp\Bigl(-\frac{2n(\alpha-1)^2}{(\alpha+1)^2(t-1)^2}\Bigr),

    which is below Theorem 5.3 everywhere. (γ = e^-ε0 in the range of L as well as in the law of M would *not* be a
    bound: b grows with γ.) With a randomizer, its own range and γ are used.

    >>> "{:.3e}".format(hoeffding.delta(1, 10_000, 0.1))
    '1.414e-10'
    """

    def direct(G: Range, a: Mpf, n: int) -> Tail:
        b = G.largest - G.smallest
        return b * b / (4 * a * n), 2 * a * a / (b * b)

    return _smaller_tail(spread, n, eps, direct, lambda front, rate, gamma: (front * gamma, rate / (gamma * gamma)))


@amplification(read=Spread.of, title="Bennett", source="Balle et al. 2019, Lemma 5.6, corrected")
def bennett(spread: Spread, n: int, eps: Mpf) -> Mpf:
    r"""Lemma 5.6, corrected: :math:`E[L_1 + \dots + L_m]_+ \le \frac{b_+}{\log(1 + ab_+/c)} e^{-(mc/b_+^2)
    \phi(ab_+/c)}` with L <= b_+, E[L²] <= c, a = α − 1 and φ(u) = (1 + u) log(1 + u) − u, in Lemma 5.3 and on G
    directly (Balle et al. 2019).

    The paper has am in the denominator of the first factor. That is not a bound: it does not grow with L while the left
    side does (see `derivations.lemma56`).

    >>> "{:.3e}".format(bennett.delta(1, 10_000, 0.1))
    '1.462e-16'
    """

    def direct(G: Range, a: Mpf, n: int) -> Tail:
        b, c = G.largest, G.second
        u = a * b / c
        growth = MP.log1p(u)
        return b / (growth * n), c / (b * b) * ((1 + u) * growth - u)

    return _smaller_tail(spread, n, eps, direct, lambda front, rate, gamma: (front, rate / gamma))


@amplification(title="Balle, closed form", source="Balle et al. 2019, Theorem 5.3")
def thm53(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r"""Theorem 5.3 as printed, for every ε0-LDP randomizer (Balle et al. 2019):

    .. math:: \delta = \frac{(\alpha+1)^2 (t - 1/t)^2}{4n(\alpha-1)}
              \exp\Bigl(-Cn\Bigl(\frac1t \wedge \frac{(\alpha-1)^2}{(\alpha+1)^2(t - 1/t)^2}\Bigr)\Bigr),
              \quad C = 1 - e^{-2}.

    >>> "{:.3e}".format(thm53.delta(1, 10_000, 0.1))
    '1.170e-04'
    """
    a, alpha, t = MP.expm1(eps), MP.exp(eps), MP.exp(number(randomizers.eps0))
    b = (alpha + 1) * (t - 1 / t)
    rate = -MP.expm1(-2) * min(1 / t, (a / b) ** 2)
    return b * b / (4 * a * n) * MP.exp(-n * rate)


def _solved_cor531(randomizers: EveryRandomizer, n: int, delta: sp.Expr) -> float:
    """ε of Corollary 5.3.1; raises where its conditions fail."""
    eps0, largest_eps0 = randomizers.eps0, sp.log(n / sp.log(1 / delta)) / 2
    if delta > sp.exp(-1 - sp.sqrt(2)):
        raise ValueError(f"delta must be at most exp(-1 - sqrt(2)) = 0.0894 for this bound, got {sp.N(delta, 6)}")
    if eps0 > largest_eps0:
        enough = float(sp.exp(2 * eps0) * sp.log(1 / delta))
        users = f"{math.ceil(enough)}" if enough < 2**53 else f"{enough:.3g}"
        raise ValueError(
            f"eps0 must be at most log(n/log(1/delta))/2 = {float(largest_eps0):.4g} for this bound, got "
            f"{float(eps0):.4g}; n >= {users} users would be enough"
        )
    return evaluated(lambda e, d: _slope_cor531(e) * MP.sqrt(-MP.log(d) / n), eps0, delta)


def _slope_cor531(eps0: Mpf) -> Mpf:
    return 2 * MP.log(1 + MP.sqrt(2)) * min(eps0, 1) * MP.exp(eps0)


@amplification(solved=_solved_cor531, title="Balle, simplified", source="Balle et al. 2019, Corollary 5.3.1")
def cor531(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r"""Corollary 5.3.1 with its constants: for δ <= e^-(1 + √2) and ε0 <= log(n/log(1/δ))/2, every shuffled ε0-LDP
    randomizer is (ε, δ)-DP with

    .. math:: \varepsilon = 2\log(1 + \sqrt2)\,(1 \wedge \varepsilon_0)\,e^{\varepsilon_0}\sqrt{\log(1/\delta)/n}

    (Balle et al. 2019; the constants are ours, see `derivations.corollary531`). Outside, asked for an ε, it raises;
    asked for a δ, it gives 1.

    >>> round(cor531(1, 10_000, 1e-6), 4)
    0.1781
    """
    eps0 = number(randomizers.eps0)
    log_inverse = min(n * (eps / _slope_cor531(eps0)) ** 2, n * MP.exp(-2 * eps0))
    return MP.exp(-log_inverse) if log_inverse >= 1 + MP.sqrt(2) else MP.mpf(1)


# ------------------------------------------------------------------------------------- Theorem 3.1: k-RR, by γ


def _krr(source: Any) -> KRR:
    if not isinstance(source, KRR):
        raise TypeError(f"source must be a KRR for Theorem 3.1, got {source!r}")
    arguments.numeric_only(source.free_symbols, "a bound")
    return source


def _two_users(R: KRR, n: int) -> None:
    if n < 2:
        raise ValueError(f"n must be at least 2 for this bound, got {n}")


def _solved_thm31(R: KRR, n: int, delta: sp.Expr) -> float:
    """ε of Theorem 3.1; raises where its conditions fail."""
    if delta > 2 * sp.exp(-2):
        raise ValueError(f"delta must be at most 2 exp(-2) = 0.2706 for this bound, got {sp.N(delta, 6)}")
    square = 14 * R.input_count * sp.log(2 / delta) / ((n - 1) * R.gamma)
    eps = evaluated(MP.sqrt, square)
    if eps > 1:
        raise ValueError(
            f"the theorem holds for eps <= 1, and here it would give {eps:.4g}; "
            f"n >= {int(sp.ceiling(square * (n - 1))) + 1} users would be enough"
        )
    return eps


@amplification(
    read=_krr, refuse=_two_users, solved=_solved_thm31, title="Balle, k-RR", source="Balle et al. 2019, Theorem 3.1"
)
def thm31(R: KRR, n: int, eps: Mpf) -> Mpf:
    r"""ε of shuffled k-RR, which answers randomly with probability γ:
    :math:`\varepsilon = \sqrt{\frac{14 k \log(2/\delta)}{(n-1)\gamma}}` (Balle et al. 2019, Theorem 3.1, solved for ε;
    Koskela et al. 2021, (C.1)).

    The theorem asks for ε <= 1, and the first of its two terms is the larger one for δ <= 2 e^-2; where one of them
    fails, this raises. The theorem is about an adversary who knows who answered randomly. Solved for δ it is
    :math:`2e^{-c\varepsilon^2/14}` with c = γ(n−1)/k, if cε >= 27; else it says nothing, 1. Above ε = 1 the δ of 1 is
    taken.

    >>> R = KRR(k=4, eps0=sp.log(13))  # γ = 1/4
    >>> round(thm31(R, n=100_000, delta=1e-6), 4)
    0.1803
    >>> "{:.3e}".format(thm31.delta(R, n=100_000, eps=0.2))
    '3.514e-08'
    """
    c, e = number(R.gamma * (n - 1) / R.input_count), min(eps, 1)
    return MP.mpf(1) if c * e < 27 else 2 * MP.exp(-c * e * e / 14)


@bound
def thm31_gamma(k: Any, n: Any, eps: Any, delta: Any) -> float:
    r"""The γ that Theorem 3.1 asks for: :math:`\max\{\frac{14k\log(2/\delta)}{(n-1)\varepsilon^2},
    \frac{27k}{(n-1)\varepsilon}\}` (Balle et al. 2019), for 0 < ε <= 1. Where it is 1 or more, this raises and says how
    many users would be enough. ``k`` is the number of values, ``n`` that of users.

    >>> round(thm31_gamma(k=4, n=100_000, eps=0.5, delta=1e-6), 5)
    0.0325
    """
    k = arguments.size(k, "k", 2)
    arguments.numeric_only(k.free_symbols, "a bound")
    n, delta = arguments.users(n), arguments.between_0_and_1(delta, "delta")
    target = arguments.central_epsilon(eps)
    if arguments.decided(sp.And(target > 0, target <= 1)) is not True:
        raise ValueError(f"eps must be a number > 0 and at most 1 for Theorem 3.1, got {eps!r}")
    least = sp.Max(14 * sp.log(2 / delta) / target**2, 27 / target)  # of γ(n − 1)/k
    enough = int(sp.floor(k * least)) + 2  # the least n with γ < 1
    if n < enough:
        raise ValueError(
            f"n must be at least {enough} for k = {k}, eps = {float(target):g} and delta = {float(delta):g}: with "
            f"n = {n} Theorem 3.1 would ask for gamma >= 1"
        )
    return evaluated(lambda share: share / (n - 1), k * least)


@bound
def thm42(n: Any, eps: Any, delta: Any) -> float:
    r"""What the worst-case MSE of every (ε, δ)-DP single-message protocol for sums of ``n`` users is at least (Balle et
    al. 2019, Theorem 4.2, in numbers): the maximum over k of

    .. math:: \min\Bigl\{\frac{n}{8k^2e^\varepsilon} - \frac{1 - 2\delta}{8k},
              \frac1{48}\Bigl(k - \frac1k\Bigr)\Bigl(\frac12 - \delta\Bigr)\Bigr\}.

    Rounded down. Any k gives a bound (`derivations.theorem42`); the theorem takes :math:`\lceil n^{1/3} \rceil`. The
    second term on the left is ours: the proof in print does not account for it.

    >>> round(thm42(n=10**6, eps=1, delta=1e-8), 4)
    1.7083
    """
    n, eps, delta = arguments.users(n), arguments.central_epsilon(eps), arguments.between_0_and_1(delta, "delta")
    if delta >= sp.Rational(1, 2):
        raise ValueError(f"delta must be below 1/2 for this bound, got {sp.N(delta, 6)}")
    alpha, room = MP.exp(number(eps)), MP.mpf(1) / 2 - number(delta)

    def both(k: int) -> tuple[Mpf, Mpf]:
        return n / (8 * k * k * alpha) - room / (4 * k), (k - MP.mpf(1) / k) * room / 48

    low, high = 1, 2
    while both(high)[0] > both(high)[1]:
        low, high = high, 2 * high
    # One side falls while it is positive and the other grows: the largest minimum is where they cross.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if both(middle)[0] > both(middle)[1] else (low, middle)
    return max(0.0, down(max(min(both(low)), min(both(high)))))
