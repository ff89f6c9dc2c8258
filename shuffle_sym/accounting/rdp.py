r"""Rényi curves: composed, subsampled, and turned into (ε, δ).

A curve is a function order → Rényi divergence, such as ``lambda order: bounds.girgis2021_thm36(0.5, 10**6, order)``.
Where nothing else is said it is asked for integer orders >= 2 only; `interpolated` makes real orders of it. Results are
rounded up by more than their rounding errors: if the curve bounds a mechanism, so do they.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy
import sympy as sp

from shuffle_sym.algebra import arguments, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.truth import exact

RenyiCurve = Callable[[Any], float]
SAMPLED_ORDERS = 10_000  # a sampled curve at one order is the curve at all orders up to it
_LAST_ORDER = 2**1000  # a double holds it; what larger orders gain is below 1e-298
_LOG_LEAST = -745.0  # its exponential is the least double
_ROUNDING = 1e-14  # relative to what is added up


class AtOrder(NamedTuple):
    """The smallest value over the orders, and the order that gives it.

    >>> AtOrder(0.5, 8).order
    8
    """

    value: float
    order: Any


def epsilon(curve: RenyiCurve, delta: Any, orders: Iterable[Any] | None = None) -> AtOrder:
    r"""ε at δ: :math:`\min_\lambda \varepsilon(\lambda) + \frac{\log(1/\delta) + (\lambda-1)\log(1-1/\lambda) -
    \log\lambda}{\lambda-1}`, at least 0 (Girgis et al. 2021, Lemma 2.1; Canonne et al. 2020, Proposition 12).

    Without ``orders`` the best integer order is searched for, however large it is: if (λ − 1)ε(λ) is convex, as it is
    for a pair of distributions, what is minimised has one valley. For other curves the result is a bound all the same.
    An order that the curve refuses on the way is an error: give the orders that it has.

    >>> best = epsilon(lambda order: order / 200, 1e-6)
    >>> round(best.value, 4), best.order
    (0.43, 46)
    """
    target = arguments.delta_target(delta)

    def converted(order: Any, divergence: float) -> float:
        x = float(order)
        parts = (-math.log(target) / (x - 1), math.log1p(-1 / x), -math.log(x) / (x - 1), divergence)
        return max(sum(parts) + _ROUNDING * sum(map(abs, parts)), 0.0)

    return _smallest(curve, converted, orders, 0.0)


def delta(curve: RenyiCurve, eps: Any, orders: Iterable[Any] | None = None) -> AtOrder:
    r"""δ at ε: :math:`\min_\lambda \frac{e^{(\lambda-1)(\varepsilon(\lambda)-\varepsilon)}}{\lambda-1}
    (1 - 1/\lambda)^\lambda`, at most 1 and never below 1e-320 (Girgis et al. 2021, Lemma 2.1). ``orders`` as
    for `epsilon`, and ``curve``.

    >>> best = delta(lambda order: order / 200, 0.43)
    >>> round(best.value * 1e6, 2), best.order
    (1.0, 46)
    """
    level = float(arguments.central_epsilon(eps))

    def converted(order: Any, divergence: float) -> float:
        x = float(order)
        if divergence == math.inf:
            return math.inf
        parts = ((x - 1) * divergence, -(x - 1) * level, -math.log(x - 1), x * math.log1p(-1 / x))
        return sum(parts) + _ROUNDING * (1 + sum(map(abs, parts)))

    best = _smallest(curve, converted, orders, _LOG_LEAST)
    return AtOrder(math.exp(min(max(best.value, _LOG_LEAST), 0.0)) + rounding.SUBNORMAL_ERROR, best.order)


def composed(*curves: RenyiCurve) -> RenyiCurve:
    """The curve of mechanisms with these ``curves``, each seeing the results before it: the sum (Lemma 2.2).

    >>> composed(lambda order: order, lambda order: 1.0)(3)  # rounded up
    4.00000000000004
    """
    if not curves:
        raise ValueError("curves must not be empty")
    for curve in curves:
        _callable(curve)
    return lambda order: _up(math.fsum(_value(curve, order) for curve in curves))


def repeated(curve: RenyiCurve, rounds: Any) -> RenyiCurve:
    """The curve of T rounds of one mechanism: T times the curve.

    >>> round(repeated(lambda order: 0.5 * order, 10)(2), 12)
    10.0
    """
    _callable(curve)
    count = arguments.positive_integer(rounds, "rounds")
    return lambda order: _up(count * _value(curve, order))


def interpolated(curve: RenyiCurve) -> RenyiCurve:
    r"""Real orders from integer ones (Girgis et al. 2021, (7)): (λ − 1)ε(λ) is convex, so it is at most its chord,

    .. math:: (\lambda-1)\,\varepsilon(\lambda) \le a\,(\lfloor\lambda\rfloor - 1)\,\varepsilon(\lfloor\lambda\rfloor)
              + (1-a)\,(\lceil\lambda\rceil - 1)\,\varepsilon(\lceil\lambda\rceil), \quad
              a = \lceil\lambda\rceil - \lambda

    The curve may be any bound at the integers: the chord of upper values is above that of the true ones.

    >>> round(interpolated(lambda order: order * (order - 1))(2.5) * 1.5, 12)
    7.0
    """
    _callable(curve)

    def at(order: Any) -> float:
        power = arguments.order(order)
        if power.is_Integer:
            return _value(curve, int(power))
        low = int(sp.floor(power))
        a = float(low + 1 - power)
        below = a * (low - 1) * _value(curve, low) if low > 1 else 0.0
        return _up((below + (1 - a) * low * _value(curve, low + 1)) / float(power - 1))

    return at


def poisson_subsampled(curve: RenyiCurve, gamma: Any, *, by: str = "proved") -> RenyiCurve:
    r"""Every record takes part with probability γ, independently; one record is *added or removed*.

    With the record against without it, by the binomial theorem and joint convexity,

    .. math:: F = \sum_{l=0}^\lambda \binom\lambda l (1-\gamma)^{\lambda-l}\gamma^l e^{(l-1)\varepsilon(l)}

    bounds the moment (the terms l = 0, 1 without ε), and for one pair with that curve it is equal to it. The other
    direction is at most the least of :math:`1 + \binom\lambda2\gamma^2(1-\gamma)^{-\lambda-1}(e^{\varepsilon(2)}-1)`,
    :math:`(1-\gamma)^{1-\lambda}` and :math:`1 - \gamma + \gamma e^{(\lambda-1)\varepsilon(\lambda)}`. Both are proved
    in `derivations.poisson_sampling`; ``by="proved"`` takes the larger one.

    ``by="zhu2019"`` is Theorem 5 of Zhu and Wang 2019, taken from the literature: F with the terms l >= 3 three times,
    for both directions. ``by="forward"`` is F alone, which they prove for both directions where no odd Pearson–Vajda
    divergence is negative. All three were compared with exact moments of random pairs; none was below.

    The histogram of a shuffler shows how many took part, so for it the divergence of an added record is infinite;
    Girgis et al. put the curve for a *replaced* record here (Figure 5). `sampled_without_replacement` is for those, and
    ``Shuffle(Sampled(R, q), n)`` is the shuffled mechanism itself, a replaced input included.

    >>> round(poisson_subsampled(lambda order: order / 2, 1)(3), 8)
    1.5
    """
    _callable(curve)
    rate = arguments.share(gamma, "gamma")
    arguments.one_of(by, "by", ("proved", "zhu2019", "forward"))
    at = cache(partial(_value, curve))

    def subsampled(order: Any) -> float:
        power = _sampled_order(order)
        i = np.arange(2, power + 1)
        exponents = (i - 1) * np.array([at(int(j)) for j in i])
        if np.any(exponents == math.inf):
            return math.inf
        rest = (power - i) * math.log1p(-rate) if rate < 1 else np.where(i < power, -np.inf, 0.0)
        chances = _log_binomials(power)[2:] + rest + i * math.log(rate)
        # The chances of 0 … λ sum to 1, so that the sum less 1 has positive terms only.
        logs = [chances + _log_expm1(exponents)]
        if by == "zhu2019":
            logs.append((chances + exponents + math.log(2))[1:])
        log_moment = _log1p_sum(np.concatenate(logs))
        if by == "proved":
            log_moment = max(log_moment, _backward(power, rate, float(exponents[0]), float(exponents[-1])))
        return log_moment / (power - 1)

    return subsampled


def _backward(power: int, rate: float, second: float, last: float) -> float:
    """log of the least bound, for the sample without the record against that with it, from ε(2) and (λ − 1)ε(λ)."""
    convex = _log1p_sum(np.array([math.log(rate) + float(_log_expm1(last))]))
    if rate == 1:
        return convex
    pairs = math.log(power) + math.log(power - 1) - math.log(2)
    taylor = pairs + 2 * math.log(rate) - (power + 1) * math.log1p(-rate) + float(_log_expm1(second))
    return min(convex, _log1p_sum(np.array([taylor])), -(power - 1) * math.log1p(-rate) * (1 + 1e-9))


def sampled_without_replacement(curve: RenyiCurve, gamma: Any, eps0: Any) -> RenyiCurve:
    r"""A share γ of the records takes part, chosen without replacement; one record is replaced (Wang, Balle and
    Kasiviswanathan 2019, Theorem 9). With :math:`w_j = \min(2, (e^{\varepsilon_0}-1)^j)`, ε0 the largest loss,

    .. math:: \frac1{\lambda-1}\log\Bigl(1 + \gamma^2\binom\lambda2\min\bigl(4(e^{\varepsilon(2)}-1),
              w_2 e^{\varepsilon(2)}\bigr)
              + \sum_{j=3}^\lambda \gamma^j\binom\lambda j w_j e^{(j-1)\varepsilon(j)}\Bigr)

    Given how many take part, users who take part at random are such a sample: this is what applies to a shuffler whose
    number of messages is seen. The curve is that of γn users. Taken from the literature, not derived here; it was
    compared with the exact moments of small shuffled samples, over all datasets, and was not below any.

    >>> sampled_without_replacement(lambda order: 0.0, 0.5, 1)(2)
    0.0
    """
    _callable(curve)
    rate, level = arguments.share(gamma, "gamma"), float(arguments.local_epsilon(eps0))
    at = cache(partial(_value, curve))

    def sampled(order: Any) -> float:
        power = _sampled_order(order)
        i = np.arange(2, power + 1)
        divergences = np.array([at(int(j)) for j in i])
        if np.any(divergences == math.inf):
            return math.inf
        log_gain = math.log(math.expm1(level)) if level > 0 else -math.inf
        caps = np.minimum(math.log(2), i * log_gain)
        logs = _log_binomials(power)[2:] + i * math.log(rate) + (i - 1) * divergences + caps
        logs[0] = min(
            logs[0], _log_binomials(power)[2] + 2 * math.log(rate) + math.log(4) + float(_log_expm1(divergences[:1])[0])
        )
        return _log1p_sum(logs) / (power - 1)

    return sampled


def exact_curve(D: Decomposition, n: Any) -> Callable[[Any], Interval]:
    """The Rényi divergence of a decomposition with n users as a function of the order, exact at small n and rounded
    outward: what a bound is compared with. ``D.reversed()`` is the other direction.

    >>> import shuffle_sym as ss
    >>> curve = exact_curve(ss.decomposition.dataset(ss.BinaryRR(eps0=math.log(3)), 1, 0, 0), 2)
    >>> round(curve(2).upper, 9)
    0.510825624
    """
    n = arguments.users(n)

    def at(order: Any) -> Interval:
        value = exact.renyi_divergence(exact.renyi_moment(D, n, order, digits=25), order, digits=25)
        double = float(value)
        return Interval(max(rounding.below(double), 0.0), rounding.above(double), "exact")

    return at


def _callable(curve: Any) -> None:
    if not callable(curve):
        raise TypeError(f"curve must be a function of the order, got {curve!r}")


def _value(curve: RenyiCurve, order: Any) -> float:
    """What the curve says, if it can be a divergence: a nan would otherwise look like no loss at all."""
    value = float(curve(order))
    if not value >= 0:
        raise ValueError(f"curve must give numbers >= 0, got {value!r} at order {order}")
    return value


def _sampled_order(order: Any) -> int:
    power = arguments.integer_order(order)
    if power > SAMPLED_ORDERS:
        raise ValueError(f"order must be at most {SAMPLED_ORDERS} for a sampled curve, got {power}; give orders")
    return power


def _up(value: float) -> float:
    return value * (1 + _ROUNDING)


def _log_binomials(power: int) -> Any:
    i = np.arange(power + 1)
    return scipy.special.gammaln(power + 1) - scipy.special.gammaln(i + 1) - scipy.special.gammaln(power - i + 1)


def _log_expm1(x: Any) -> Any:
    """log(e^x − 1) for x >= 0."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(x > 30, x, np.log(np.expm1(np.minimum(x, 30)))) + np.where(x > 30, np.log1p(-np.exp(-x)), 0)


def _log1p_sum(logs: Any) -> float:
    """log(1 + Σ exp) of logarithms, rounded up by a relative 1e-9."""
    top = float(np.max(logs))
    if top == -math.inf:
        return 0.0
    total = math.fsum(np.exp(logs - top))
    value = math.log1p(total * math.exp(top)) if top < 0 else top + math.log(total + math.exp(-top))
    return value * (1 + 1e-9)


def _smallest(
    curve: RenyiCurve, converted: Callable[[Any, float], float], orders: Iterable[Any] | None, least: float
) -> AtOrder:
    """The smallest converted value, over the orders or by a search, which ends where ``least`` or less is found."""
    _callable(curve)
    seen: dict[Any, float] = {}

    def at(order: Any) -> float:
        if order not in seen:
            seen[order] = converted(order, _value(curve, order))
        return seen[order]

    if orders is not None:
        for order in orders:
            arguments.order(order, "orders")
            at(order)
        if not seen:
            raise ValueError("orders must not be empty")
    else:
        coarse, i = [2], 0
        # Past the valley: four in a row that are not smaller.
        while at(coarse[i]) > least and len(coarse) - i < 5 and coarse[-1] < _LAST_ORDER:
            coarse.append(max(coarse[-1] + 1, coarse[-1] * 7 // 5))
            if at(coarse[-1]) < at(coarse[i]):
                i = len(coarse) - 1
        low, high = coarse[max(i - 1, 0)], coarse[min(i + 1, len(coarse) - 1)]
        while high - low > 2:
            # Not next to each other while there is room: a bound in doubles is not smooth from one order to the next.
            middle, step = (low + high) // 2, max((high - low) // 8, 1)
            low, high = (low, middle + step) if at(middle) <= at(middle + step) else (middle, high)
        at((low + high + 1) // 2)
    best = min(seen, key=seen.__getitem__)
    return AtOrder(seen[best], best)
