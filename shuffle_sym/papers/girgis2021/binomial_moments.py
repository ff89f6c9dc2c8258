r"""E[r^λ] − 1 of 2-RR in doubles, at any n, with both ends: r = 1/t + (t − 1/t)K/m, K ~ Bin(m, 1/(t + 1)).

Since E[r] = 1 it is the mean of :math:`g = r^\lambda - 1 - \lambda(r - 1) \ge 0`: no digits cancel, however small.

*Few terms.* With step s, :math:`s\sum_j \Pr[K = a + js]\, r^\lambda` differs from :math:`\mathbb E[r^\lambda]` by
:math:`\mathbb E[r^\lambda e^{i\theta K}]` at the s − 1 multiples θ of 2π/s. For an integer λ, r^λ is a sum of
factorial moments of K with coefficients that are not negative, and
:math:`|\mathbb E[K^{\underline j} e^{i\theta K}]| = m^{\underline j} p^j\, |1 - p + p e^{i\theta}|^{m-j}`,
so each of them is at most :math:`\rho^{m - \lambda}\, \mathbb E[r^\lambda]` with
:math:`\rho^2 = 1 - 4p(1-p)\sin^2(\theta/2)`. A step of a third of a standard deviation leaves less than 1e-33.

*Windows.* Terms are log-concave in K, so what is left out beyond a window is below a geometric series.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from shuffle_sym.algebra.compiled import log_multinomial

Array = npt.NDArray[np.float64]
#: Relative error of the sums in doubles: far above what the terms can have, which is about 1e-11 (see the tests).
ALLOWANCE = 1e-9
#: The same for the incomplete beta function.
CDF_ALLOWANCE = 1e-6
_ALIASING = 4e-34


def log_excess(eps0: float, sizes: npt.ArrayLike, order: int) -> tuple[Array, Array]:
    """Lower and upper bounds of log(E[r^λ] − 1) for every m in ``sizes``; ``eps0`` > 0, an integer order >= 2."""
    m = np.atleast_1d(np.asarray(sizes, dtype=float))[:, None]
    t, gain = math.exp(eps0), math.expm1(eps0)
    p = 1 / (t + 1)
    slope = gain * (t + 1) / t / m  # r − 1 is slope·(K − mp)
    mean = m * p
    mode = m * saddle_point(m, 1 / t, gain * (t + 1) / t, order)
    spread = 10 * np.sqrt(mode * (1 - mode / m)) + 60
    step = np.maximum(np.floor(np.sqrt(np.maximum(p * (1 - p) * (m - order), 0) / 10)), 1)
    low = np.maximum(np.floor(np.minimum(mean, mode) - spread), 0)
    count = int(np.max(np.ceil((np.minimum(mode + spread, m) - low) / step))) + 1
    K = low + step * np.arange(count)
    inside = m >= K
    K = np.minimum(K, m)
    gap = slope * (K - mean)
    log_ratio = np.where(gap < -0.5, np.log(1 / t + slope * K), np.log1p(np.maximum(gap, -0.5)))
    mass = np.where(inside, log_multinomial((K, m - K), (p, 1 - p))[0] + np.log(step), -np.inf)
    terms = mass + _log_convex_part(gap, order * log_ratio, order)
    total = np.logaddexp.reduce(terms, axis=1)
    whole = np.logaddexp(0, total)  # log E[r^λ]
    aliasing = np.where(step[:, 0] > 1, math.log(_ALIASING) + np.logaddexp(whole, math.log(1 + 2 * order)), -np.inf)
    above = _tail(mass + order * log_ratio, K, m, step)
    below = _tail_below(mass, low) + math.log(order)
    upper = np.logaddexp.reduce(np.stack([total, aliasing, above, below]), axis=0)
    with np.errstate(divide="ignore"):
        lower = total + np.log1p(-np.minimum(np.exp(aliasing - total), 1))
    # λ log r has λ roundings' worth of error, and K − mp that of mp, relative to its standard deviation.
    slack = ALLOWANCE + order * 1e-14 + 1e-14 * np.sqrt(m[:, 0])
    return lower - slack, upper + slack


def saddle_point(m: Array, s: float, d: float, order: int) -> Array:
    """About the K/m where Pr[K] r^λ is largest, r = s + dK/m: log((m − K)s/K) + (λ/m) d/r = 0, in z = logit(K/m)."""
    start, w = math.log(s), order / m * d
    # 1 <= r <= s + d: the root is between these. For large t it is near K = λ/log t. Newton's step, halving where it
    # leaves; few are needed.
    low, high = start + w / (s + d), start + w
    z = np.clip(np.log(s + order / m / max(-start, 1.0)), low, high)
    for _ in range(60):
        x = special.expit(z)
        r = s + d * x
        value = z - start - w / r
        low, high = np.where(value < 0, z, low), np.where(value < 0, high, z)
        new = z - value / (1 + w * d * x * (1 - x) / r**2)
        new = np.where((new > low) & (new < high), new, (low + high) / 2)
        z, moved = new, float(np.max(np.abs(new - z)))
        if moved < 1e-3:
            break
    share: Array = special.expit(z)
    return share


def _log_convex_part(gap: Array, power: Array, order: int) -> Array:
    r"""log of (1 + y)^λ − 1 − λy >= 0, ``power`` = λ log(1 + y); where λy is small, by its binomial series."""
    small = np.abs(order * gap) < 0.01
    series, few = np.ones_like(gap), np.where(small, gap, 0)
    for i in range(8, 2, -1):
        series = 1 + (order - i + 1) / i * few * series
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near = math.log(order) + math.log(order - 1) - math.log(2) + 2 * np.log(np.abs(gap)) + np.log(series)
        middle = np.log(np.maximum(np.expm1(np.minimum(power, 1)) - order * gap, 0))
        far = power + np.log1p(-np.exp(np.log1p(order * np.maximum(gap, 0)) - np.maximum(power, 1)))
    return np.where(small, near, np.where(power > 1, far, middle))


def _tail(log_terms: Array, K: Array, m: Array, step: Array) -> Array:
    """Log of what lies above the last term: at most a geometric series with the last quotient."""
    last = np.sum(np.isfinite(log_terms), axis=1) - 1
    rows = np.arange(len(log_terms))
    end = log_terms[rows, last]
    quotient = end - log_terms[rows, np.maximum(last - 1, 0)]
    open_end = (K[rows, last] + step[:, 0] <= m[:, 0]) & (last > 0)
    return np.where(open_end, end + geometric(quotient), -np.inf)


def _tail_below(log_mass: Array, low: Array) -> Array:
    if log_mass.shape[1] < 2:
        return np.full(len(log_mass), -np.inf)
    quotient = log_mass[:, 0] - log_mass[:, 1]
    return np.where(low[:, 0] > 0, log_mass[:, 0] + geometric(quotient), -np.inf)


def geometric(quotient: Array) -> Array:
    """log(r + r² + …) for r = exp(quotient); infinite where terms do not fall."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(quotient < 0, quotient - np.log(-np.expm1(np.minimum(quotient, -1e-300))), np.inf)


def log_cdf_upper(k: Array, n: int, p: float, rest: float | None = None) -> Array:
    """At least log Pr[Bin(n, p) <= k], k < n: the incomplete beta function where in range, Chernoff's bound below.
    ``rest`` is 1 − p, where that is known to more digits."""
    k = np.asarray(k, dtype=float)
    x = np.clip(k / n, 0, p)
    rest = 1 - p if rest is None else rest
    with np.errstate(divide="ignore", invalid="ignore"):
        chernoff = -n * (special.xlogy(x, x / p) + special.xlog1py(1 - x, (p - x) / rest))
        # Not bdtr: at n = 1e9 it is off in the first digit.
        cdf = np.log(special.betainc(np.maximum(n - k, 1e-300), np.maximum(k, 0) + 1, rest)) + CDF_ALLOWANCE
    chernoff += CDF_ALLOWANCE - 1e-12 * chernoff
    bound = np.where(cdf > -600, np.minimum(cdf, chernoff), chernoff)
    return np.where(k < 0, -np.inf, np.minimum(bound, 0))
