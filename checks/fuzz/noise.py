r"""The blanket of Laplace and Gaussian noise on [0, 1], inputs 0 and 1, by formulas and integrals of this file's own.

With u = log p_0/p_1, the blanket c = min(p_0, p_1) and G = e^u − α where u > 0 (c = p_1), 1 − αe^{−u} where u < 0
(c = p_0), 0 with the probability 1 − γ that is left, δ = E[G_1 + … + G_n]_+/n. Two users: E H(−G) with H(k) = E[G −
k]_+, a sum of four distribution functions. Many users of Laplace noise: :math:`\frac1\pi\int_0^\infty \Re\,
\varphi(s)^n s^{-2}\, dy` along s = c + iy, where the part of φ that does not die is small. Nothing is certified:
every integral is done twice, with more digits and a longer range the second time, and ten times the difference is the
radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
from flint import acb, arb, ctx

from checks.fuzz.oracle import BITS, Pair, ball

_DIGITS, _BITS = 40, 160
_POINTS = 16
_PANEL = 4  # standard deviations
_MOST_NODES = 6_000


class TooLongError(Exception):
    """Where the integral would take too long."""


class _Noise(Pair):
    """The law of u under p_0, which is that of −u under p_1: ``cdf(u)``, or without u itself."""

    digits = _DIGITS, _DIGITS + 10

    def __init__(self, n: int) -> None:
        self.n, self.mp = n, mpmath.MPContext()

    def cdf(self, u: Any, without: bool = False) -> Any:
        raise NotImplementedError

    def beyond(self, u: Any) -> Any:
        """p_0 of more than u."""
        return 1 - self.cdf(u)

    def average(self, f: Callable[[Any], Any], marks: list[Any], eps: Any) -> Any:
        """∫ f(u) dp_1(u) over u > 0, for an f of the size of e^u beyond ε."""
        raise NotImplementedError

    def divergence(self, alpha: arb) -> arb:
        with ctx.workprec(BITS):
            text = alpha.mid().str(_DIGITS + 30, radius=False)
        values = []
        for digits in self.digits:
            self.mp.dps = digits
            values.append(self._two(self.mp.mpf(text)))
        return _ball(values[0], values[1])

    def _two(self, alpha: Any) -> Any:
        mp = self.mp
        half = self.cdf(mp.mpf(0))  # p_0 of u < 0, and p_1 of u > 0
        gamma = 2 * half

        def g(u: Any) -> Any:
            return mp.exp(u) - alpha if u > 0 else 1 - alpha * mp.exp(-u)

        def positive(k: Any) -> Any:
            """H(k) without the atom at 0."""
            cut = mp.log(k + alpha) if k > 1 - alpha else -mp.log((1 - k) / alpha)
            high = max(cut, mp.mpf(0))
            total = self.beyond(high) - (alpha + k) * self.cdf(-high, True)
            if cut < 0:
                total += (1 - k) * (half - self.cdf(cut)) - alpha * (self.cdf(-cut, True) - half)
            return total

        def all_of(k: Any) -> Any:
            return (1 - gamma) * max(-k, mp.mpf(0)) + positive(k)

        ends = self.ends(alpha)
        marks = [abs(u) for v in (mp.mpf(0), alpha - 1, *(-x for x in ends)) for u in [_inverse(mp, v, alpha)] if u]
        above = self.average(lambda u: all_of(-g(u)), marks, mp.log(alpha))
        below = self.average(lambda u: all_of(-g(-u)), marks, mp.log(alpha))
        return ((1 - gamma) * all_of(mp.mpf(0)) + above + below) / 2

    def ends(self, alpha: Any) -> list[Any]:
        """The smallest and the largest value of G, if there are such."""
        return []


def _inverse(mp: Any, k: Any, alpha: Any) -> Any:
    return mp.log(k + alpha) if k > 1 - alpha else -mp.log((1 - k) / alpha)


class Gaussian(_Noise):
    """Normal noise: u is normal with means ±1/2σ² and the variance 1/σ²; two users."""

    digits = 24, 34  # quadrature with as many nodes

    def __init__(self, sigma: str) -> None:
        super().__init__(2)
        self.sigma = sigma

    def cdf(self, u: Any, without: bool = False) -> Any:
        s = self.mp.mpf(self.sigma)
        return self.mp.ncdf(u * s - 1 / (2 * s))

    def beyond(self, u: Any) -> Any:
        s = self.mp.mpf(self.sigma)
        return self.mp.ncdf(1 / (2 * s) - u * s)  # one less the other would lose what is far out

    def average(self, f: Callable[[Any], Any], marks: list[Any], eps: Any) -> Any:
        """Up to where p_0 has fallen below its tail beyond ε by as many digits as are kept."""
        mp, s = self.mp, self.mp.mpf(self.sigma)
        far = max(eps * s - 1 / (2 * s), 0)
        reach = (mp.sqrt(far**2 + 2 * mp.log(10) * (mp.dps + 10)) + 1 / (2 * s)) / s
        panels = int(reach * s / _PANEL) + 1
        places = {reach * i / panels for i in range(panels + 1)} | {x for x in marks if 0 < x < reach}
        if eps > 0:  # beyond ε the tail is as short as one over its distance; below log(2α − 1) cut is steep
            steep, places = mp.log(2 * mp.exp(eps) - 1), places | {eps + i / (s * (1 + far)) for i in (2, 8)}
            places |= {steep - (steep - eps) / 4**i for i in range(1, int(eps) + 8)}
        inner = sorted(x for x in places if x <= reach)
        return sum(
            w * f(u) * s * mp.npdf(u * s + 1 / (2 * s))
            for left, right in pairwise(inner)
            for u, w in _nodes(mp, left, right)
        )


def _nodes(mp: Any, left: Any, right: Any) -> Iterator[tuple[Any, Any]]:
    """Gauss and Legendre's, more for more digits; a relative accuracy, where `mpmath.quad` has an absolute one."""
    for x, w in _legendre(mp.dps):
        yield left + (right - left) * (1 + mp.mpf(x)) / 2, (right - left) * mp.mpf(w) / 2


@cache
def _legendre(count: int) -> list[tuple[str, str]]:
    with ctx.workprec(BITS):
        roots = [arb.legendre_p_root(count, i, weight=True) for i in range(count)]
        return [(x.mid().str(80, radius=False), w.mid().str(80, radius=False)) for x, w in roots]


class Laplace(_Noise):
    """Laplace noise: u has the density e^{−ε0/2} e^{−u/2}/4 under p_1 on (−ε0, ε0), and atoms at both ends."""

    def __init__(self, eps0: str, n: int) -> None:
        super().__init__(n)
        self.eps0 = eps0

    def cdf(self, u: Any, without: bool = False) -> Any:
        mp, e = self.mp, self.mp.mpf(self.eps0)
        if u > e or (u == e and not without):
            return mp.mpf(1)
        return mp.mpf(0) if u < -e or (u == -e and without) else mp.exp((u - e) / 2) / 2

    def average(self, f: Callable[[Any], Any], marks: list[Any], eps: Any) -> Any:
        mp, e = self.mp, self.mp.mpf(self.eps0)
        places = sorted({mp.mpf(0), e, *(x for x in marks if 0 < x < e)})
        return mp.quad(lambda u: f(u) * mp.exp(-(u + e) / 2) / 4, places) + f(e) * mp.exp(-e) / 2

    def ends(self, alpha: Any) -> list[Any]:
        t = self.mp.exp(self.mp.mpf(self.eps0))
        return [1 - alpha * t, t - alpha]

    def divergence(self, alpha: arb) -> arb:
        if self.n == 2:
            return super().divergence(alpha)
        with ctx.workprec(_BITS):
            a, e = alpha.mid(), arb(self.eps0).mid() if "." not in self.eps0 else arb(self.eps0)
            rough, fine = (_contour(e, a, self.n, more) for more in (1, 2))
            return arb(fine.mid(), 10 * abs(float((fine - rough).mid())) + 1e-35 * abs(float(fine.mid())))


def _contour(e: arb, alpha: arb, n: int, more: int) -> arb:
    """δ from nodes in u and in y; ``more`` is how fine both are."""
    t, law = e.exp(), [(arb(0), 1 - (-e / 2).exp())]
    law += [(t - alpha, (-e).exp() / 2), (1 - alpha * t, (-e).exp() / 2)]
    panels = more * (4 + math.ceil(4 * float(e)))
    for k in range(panels):
        left, wide = e * k / panels, e / panels / 2
        for i in range(_POINTS):
            x, w = arb.legendre_p_root(_POINTS, i, weight=True)
            u = left + wide * (1 + x)
            weight = wide * w * (-(u + e) / 2).exp() / 4
            law += [(u.exp() - alpha, weight), (1 - alpha * u.exp(), weight)]
    law = [(g.mid(), p.mid()) for g, p in law]
    c = _rate([(float(g), float(p)) for g, p in law], n)
    tilted = [(g, p * (arb(c) * g).exp()) for g, p in law]
    top = sum((p for _, p in tilted), arb(0))
    tilted = [(g, p / top) for g, p in tilted]
    mean = sum(float(g * p) for g, p in tilted)
    spread = math.sqrt(n * sum(float(p) * (float(g) - mean) ** 2 for g, p in tilted))
    step, total, small = min(0.25 / spread, c / 8) / more, acb(0), 0
    for j in range(_MOST_NODES * more):
        y = arb(step) * j
        ratio = sum((p * acb(0, y * g).exp() for g, p in tilted), acb(0))
        term = ratio**n / acb(arb(c), y) ** 2
        total += term / 2 if j == 0 else term
        small = small + 1 if abs(term) < 1e-34 * abs(total) else 0
        if small > 20 + 0.02 * j:
            return (total.real * step / arb.pi() * top**n / n).mid()
    raise TooLongError


def _rate(law: list[tuple[float, float]], n: int) -> float:
    """About where log E e^{sS} − 2 log s is least."""
    low, high = 1e-12, 600 / max(abs(g) for g, _ in law)
    for _ in range(200):
        s = math.sqrt(low * high)
        weights = [(g, p * math.exp(s * g)) for g, p in law]
        mean = n * sum(g * w for g, w in weights) / sum(w for _, w in weights)
        low, high = (s, high) if mean < 2 / s else (low, s)
    return low


def _ball(rough: Any, fine: Any) -> arb:
    with ctx.workprec(_BITS):
        value, apart = (arb(mpmath.nstr(x, _DIGITS)) for x in (fine, abs(fine - rough)))
        return arb(value.mid(), 10 * apart + arb("1e-35") * abs(value))  # balls: doubles end at 1e-308


def known(pair: _Noise) -> bool:
    """Whether its values can be found in reasonable time."""
    try:
        return bool(pair.divergence(ball(1)).is_finite())
    except TooLongError:
        return False
