r"""The expectation of Girgis et al. 2021, Theorem 3.6, from above, in well under a millisecond.

With M(m) the moment of 2-RR with m users, r = 1/t + (t − 1/t)K/m, K ~ Bin(m, p), p = 1/(t + 1), and q = 1/t,

.. math:: \mathbb E_{m \sim \mathrm{Bin}(n-1,\,q)}[M(m + 1)] - 1
          = \frac{1}{nq}\,\mathbb E_{N \sim \mathrm{Bin}(n,\,q)}[G(N)], \qquad G(m) = m\,(M(m) - 1),\ G(0) = 0

(`derivations.absorption`). N is cut into blocks. M falls in m, and for m >= λ so does G: since
:math:`\mathbb E[(r_1 - 1)^j] \ge 0` (`derivations.odd_moments`), M(m) − 1 is a sum, with coefficients that are not
negative, of :math:`m(m-1)\cdots(m-b+1)/m^i`, 2b <= i <= λ. Times m, the quotient of two such terms in a row is, with
x = 1/(m + 1), at most :math:`(1-x)^{2b-1}/(1-bx)`. For b = 1 that is 1; for b >= 2 and m >= 2b it is at most
:math:`e^{-(2b-1)x}/(1-bx) \le 1`, because :math:`-\log(1-y) \le (2\log 2)\,y \le \tfrac32 y \le (2b-1)x` for
:math:`y = bx \le \tfrac12`.

M(m) itself is the least of three upper bounds; which one is sharp depends on m:

* *moments*, for small M − 1: the terms of order 2, 3, 4 exactly, and for the others
  :math:`\binom\lambda i \le \lambda^i/i!` and :math:`\mathbb E[(r_1-1)^i] \le (t-1)^i/t`: they are below those of
  :math:`\exp(w(e^u - 1 - u))`, w = m/t, u = λ(t − 1)/m;
* *tangent*, for large M: :math:`r^\lambda \le a^\lambda e^{\lambda(r/a - 1)}` for every a > 0, whose mean is a formula;
  at the best a it loses a factor of about :math:`\sqrt{1 + \lambda\mathrm{Var}(r)/a^2}`;
* *sum*, in between: every s-th term, as in `binomial_moments`; with :math:`s^2 \le p(1-p)(m-\lambda)/2` that differs
  from M by less than 2.4e-7 of M, since :math:`2p(1-p)(m-\lambda)\sin^2(\pi k/s) \ge 16k^2`.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from shuffle_sym.algebra.compiled import log_multinomial
from shuffle_sym.papers.girgis2021.binomial_moments import ALLOWANCE, geometric, log_cdf_upper, saddle_point

Array = npt.NDArray[np.float64]
#: Up to so many users every number of doubles is a block of its own.
FEW = 64
_TABLED = 128
_ALIASING = 2.4e-7
_SHARP = 0.002  # what may be lost, relative to log M
_WINDOW = 6.5  # standard deviations
_FINE, _ROUNDS = 40, 3  # of making blocks smaller where it matters
_NEAR = np.concatenate([-9 * 1.25 ** np.arange(10)[::-1], np.arange(-8, 3.01, 0.5)])


class BinaryResponse(NamedTuple):
    """2-RR in numbers."""

    eps0: float
    order: int
    s: float  # 1/t
    p: float  # 1/(t + 1)
    d: float  # t − 1/t, what one more 1 adds to m r

    @staticmethod
    def of(eps0: float, order: int) -> "BinaryResponse":
        s = math.exp(-eps0)
        return BinaryResponse(eps0, order, s, s / (1 + s), math.expm1(eps0) * (1 + s))


def log_expected_excess(eps0: float, n: int, order: int) -> float:
    """At least log(E[M(m + 1)] − 1); ``eps0`` > 0, an integer order >= 2."""
    law = BinaryResponse.of(eps0, order)
    mean = n * law.s
    with np.errstate(all="ignore"):
        if n <= FEW or mean <= FEW / 4:
            return _one_by_one(law, n) - math.log(mean) + ALLOWANCE
        return _in_blocks(law, n) - math.log(mean) + ALLOWANCE


def _one_by_one(law: BinaryResponse, n: int) -> float:
    """log E[G(N)], N up to 64 and the rest, in which M is at most M(64)."""
    m = np.arange(1.0, min(n, FEW) + 1)
    logs = log_excess_upper(law, m, sharp=1e-6)
    terms = logs + np.log(m) + log_multinomial((m, n - m), (law.s, 1 - law.s))[0]
    if n <= FEW:
        return float(np.logaddexp.reduce(terms))
    # E[N; N > 64] = nq Pr[Bin(n − 1, q) >= 64], by Chernoff's bound: 64 is far above the mean.
    x = FEW / (n - 1)
    rest = -(n - 1) * float(special.xlogy(x, x / law.s) + special.xlog1py(1 - x, (law.s - x) / (1 - law.s)))
    return float(np.logaddexp(np.logaddexp.reduce(terms), logs[-1] + math.log(n * law.s) + min(rest, 0.0)))


def _in_blocks(law: BinaryResponse, n: int) -> float:
    """log E[G(N)] on blocks of N."""
    m = _ends(law, n)
    below = log_cdf_upper(m[1:] - 1, n, law.s, -math.expm1(-law.eps0))
    logs = log_excess_upper(law, m, np.append(below, 0))
    logs = np.minimum.accumulate(logs)  # M falls
    falls = m >= law.order
    last = np.append(m[1:] - 1, n)
    G = logs + np.log(np.where(falls, m, last))
    G[falls] = np.minimum.accumulate(G[falls])  # so does G, from m = λ on
    G = np.maximum.accumulate(G[::-1])[::-1]
    # E[G(N)] = G_last + Σ_j (G_j − G_{j+1}) Pr[N < m_{j+1}]: no difference is negative, upper bounds may enter.
    return float(np.logaddexp.reduce(np.append(G[:-1] + np.log(-np.expm1(G[1:] - G[:-1])) + below, G[-1])))


def _ends(law: BinaryResponse, n: int) -> Array:
    """The least N of each block: close together where what a block adds is large, far apart elsewhere, and one block
    from 1 to where even t^(λ−1) would not be seen. Any choice gives a bound."""
    mean, deviation = n * law.s, math.sqrt(n * law.s * -math.expm1(-law.eps0))
    m = np.concatenate([np.geomspace(1, mean, 24), mean + deviation * _NEAR])
    m = np.unique(np.clip(np.floor(m), 1, n))
    for _ in range(_ROUNDS):
        x = np.minimum(m / n, law.s)
        chance = -n * (special.xlogy(x, x / law.s) + special.xlog1py(1 - x, (law.s - x) / (1 - law.s)))
        excess = _about(law, m)
        ends = np.append(chance[1:], 0)
        top = float(np.max(chance + excess))
        heavy = np.flatnonzero(ends + excess > top - 7)
        first, last = heavy[0], min(heavy[-1] + 1, len(m) - 1)
        unseen = int(np.sum(np.logical_and.accumulate(ends + (law.order - 1) * law.eps0 < top - 12)))
        # What blocks lose: by how much G, or M before it falls, differs at their ends, relative to log M.
        G = excess + np.where(m >= law.order, np.log(m), 0)
        moment = np.logaddexp(0, excess[first])
        allowed = 5 * _SHARP * moment / -np.expm1(-moment)
        inner = m[first : last + 1]
        if np.all((G[first:last] - G[first + 1 : last + 1] < allowed) | (np.diff(inner) == 1)):
            return np.unique(np.concatenate([[1.0], m[min(unseen, first) :]]))
        inner = np.floor(np.linspace(inner[0], inner[-1], _FINE + 1))
        m = np.unique(np.concatenate([[1.0], m[min(unseen, first) : first], inner, m[last + 1 :]]))
        if G[first] - G[last] < _FINE * allowed:
            break
    return m


def _about(law: BinaryResponse, m: Array) -> Array:
    """About log(M(m) − 1)."""
    small, loss = _moments(law, m)
    excess = np.log(small)
    if not np.all(loss < _SHARP * small):
        large = _tangent(law, m)[0]
        excess = np.fmin(excess, large + np.log(-np.expm1(-np.maximum(large, 1e-300))))
    least: Array = np.fmin(excess, (law.order - 1) * law.eps0)
    return least


def log_excess_upper(law: BinaryResponse, m: Array, weights: Array | None = None, sharp: float = _SHARP) -> Array:
    """At least log(M(m) − 1), for every m in rising order; sharp where the (logarithmic) weight is large enough."""
    few, loss = _moments(law, m)
    if np.all(loss < sharp * few):
        return np.log(few)
    log_moment, factor, centre, spread = _tangent(law, m)
    log_moment = np.minimum(log_moment, (law.order - 1) * law.eps0)  # M(1) <= t^(λ−1)
    unsharp = ~(loss < sharp * few) & (factor > sharp * log_moment)
    if weights is not None:
        weights = weights + log_moment
        unsharp &= weights > weights.max() - 7
    if unsharp.any():
        summed = (
            _table(law, m[unsharp]) if m[-1] <= _TABLED else _sum(law, m[unsharp], centre[unsharp], spread[unsharp])
        )
        log_moment[unsharp] = np.minimum(log_moment[unsharp], summed)
    large = log_moment + np.log(-np.expm1(-np.maximum(log_moment, 1e-300)))
    least: Array = np.fmin(np.log(few), large)
    return least


def _moments(law: BinaryResponse, m: Array) -> tuple[Array, Array]:
    """An upper bound of M − 1, and how much of it may be too much; w u² = λ²(t − 1)²/(tm)."""
    order, s = law.order, law.s
    w, u = m * s, order * math.expm1(law.eps0) / m
    pairs, square = w * u**2, 1 - 1 / order
    triples = square * (1 - 2 / order) / 6
    total = square / 2 * pairs + triples * pairs * u * (1 - s)
    total += triples * (1 - 3 / order) / 4 * (3 * pairs**2 * (1 - 1 / m) + pairs * u**2 * (1 - s + s * s))
    rest = 0 * m
    if order > 4:
        grown = np.exp(u)
        z = pairs * grown / 2
        rest = pairs * grown * u * (u**2 / 120 + z / 6) + z**3 * np.exp(z) / 6
    total = np.maximum((total + rest) * (1 + 1e-12), 1e-300)
    finite = np.isfinite(total)
    return np.where(finite, total, np.inf), np.where(finite, rest, np.inf)


def _tangent(law: BinaryResponse, m: Array) -> tuple[Array, Array, Array, Array]:
    """An upper bound of log M, the logarithm of the factor it is about too large, and where the terms Pr[K] r^λ are:
    centre and standard deviation."""
    share = saddle_point(m, law.s, law.d, law.order)
    a = law.s + law.d * share
    w = law.order * law.d / (m * a)
    mean = np.where(w < 30, np.log1p(law.p * np.expm1(w)), np.logaddexp(math.log1p(-law.p), math.log(law.p) + w))
    parts = (law.order * np.log(a), law.order * (law.s / a - 1), m * mean)
    slack = 1e-15 * (np.abs(parts[0]) + np.abs(parts[1]) + np.abs(parts[2]) + law.order)
    spread = law.order * law.d**2 * share * (1 - share) / (m * a * a)
    return sum(parts) + slack, np.log1p(spread) / 2, m * share, np.sqrt(m * share * (1 - share) / (1 + spread))


@lru_cache(maxsize=1)
def _binomials() -> Array:
    """log C(m, K), m and K up to 128; −∞ for K > m."""
    m = np.arange(_TABLED + 1.0)
    rest = m[:, None] - m
    logs = special.gammaln(m[:, None] + 1) - special.gammaln(m + 1) - special.gammaln(np.maximum(rest, 0) + 1)
    return np.where(rest >= 0, logs, -np.inf)


def _table(law: BinaryResponse, m: Array) -> Array:
    """log M for m <= 128: all terms."""
    K = np.arange(m[-1] + 1)
    logs = _binomials()[m.astype(int), : len(K)]
    logs = logs + K * -law.eps0 + law.order * np.log(law.s + law.d * K / m[:, None])
    total: Array = np.logaddexp.reduce(logs, axis=1) + m * math.log1p(-law.p)
    return total + ALLOWANCE + law.order * 1e-14


def _sum(law: BinaryResponse, m: Array, centre: Array, spread: Array) -> Array:
    """log M by every s-th term inside a window; terms are log-concave, so that what is outside is below a geometric
    series on each side."""
    step = np.maximum(np.floor(np.sqrt(np.maximum(law.p * (1 - law.p) * (m - law.order), 0) / 2)), 1)
    reach = _WINDOW * spread + 12 + 2 * step
    low = np.maximum(np.floor(centre - reach), 0)
    count = int(np.max(np.ceil((np.minimum(centre + reach, m) - low) / step))) + 1
    K = low[:, None] + step[:, None] * np.arange(max(count, 2))
    size = m[:, None]
    inside = size >= K
    K = np.minimum(K, size)
    terms = log_multinomial((K, size - K), (law.p, 1 - law.p))[0] + law.order * np.log(law.s + law.d * K / size)
    terms = np.where(inside, terms, -np.inf)
    rows, last = np.arange(len(m)), inside.sum(axis=1) - 1
    end = terms[rows, last]
    above = np.where(K[rows, last] + step <= m, end + geometric(end - terms[rows, np.maximum(last - 1, 0)]), -np.inf)
    below = np.where(low > 0, terms[:, 0] + geometric(terms[:, 0] - terms[:, 1]), -np.inf)
    total = np.logaddexp(np.logaddexp.reduce(terms, axis=1), np.logaddexp(above, below)) + np.log(step)
    slack = ALLOWANCE + law.order * 1e-14 + 1e-14 * np.sqrt(m)
    return total + slack + np.where(step > 1, 2 * _ALIASING, 0)
