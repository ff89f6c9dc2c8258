r"""Large values of G that are rare, in sums with terms of any of some laws.

A value that is so large that one of its kind makes a sum positive spoils every mean :math:`\mathbb E e^{\lambda G}`
with a λ that suits the other values. So such values are counted by themselves, with λ of their own.

For each law x let O_x be some of its positive values, b at least the probability of O_x for every x, and G' = G, but 0
in O_x. For independent terms G_1, …, G_N with any of these laws, and e(g) at least :math:`\mathbb E[g + S']_+` for
every sum S' of N − 1 terms G' with any of them,

.. math:: \frac1N \mathbb E\Bigl[\sum_i G_i\Bigr]_+ \le \frac1N \mathbb E\Bigl[\sum_i G_i'\Bigr]_+
          + \max_x \sum_{g \in O_x} p_x(g) \min(e(g), g) + \frac{N-1}2\, b\, \max_x \sum_{g \in O_x} p_x(g)\, g .

The proof is `papers.ours.rare`.

By `moduli`, :math:`e(g) = e^{\lambda g} C_\lambda` will do for every λ > 0, C_λ the integral there for N − 1 terms.
Which values are rare and which λ they have is chosen by a rough calculation; any choice is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR
from shuffle_sym.numeric.elementary import COARSE, coarse_waves
from shuffle_sym.numeric.places import Places
from shuffle_sym.numeric.transforms import Array

FEWEST_USERS = 8
_HARMLESS = 3.0  # an exponent λg for the usual λ, up to which no value spoils a mean
_NOT_RARE = 1e-2  # the least probability of a value that is not looked at
_RATES = np.geomspace(0.1, 50.0, 28)  # λ that are looked at, times the standard deviation of the sum
_THRESHOLDS = 8  # that are looked at
_MOST_RATES, _LITTLE = 3, 2e-3  # of large values, and by how much a logarithm has to fall for one more
_LARGEST_EXPONENT = 600.0
_LARGEST, _LEAST = 1e60, 1e-30  # values whose cubes, and those of quotients, are doubles
_FAR_BELOW = 100.0  # a logarithm that is so far below another one does not count next to it


class RareValues:
    """The values of some laws, a row each, that are above a threshold; ``inner`` are the values with 0 in their place.

    ``rates`` are the λ for them.
    """

    def __init__(self, g: Array, p: Array, threshold: float, rates: Array) -> None:
        out = g > threshold
        self.inner: Array = np.where(out, 0.0, g)
        self.rates: list[float] = rates.tolist()
        with np.errstate(divide="ignore"):
            self.log_p: Array = np.where(out, np.log(p), -math.inf)
        self.g: Array = np.where(out, g, 1.0)

    def log_upper(self, places: Places, log_integral: Callable[[float, Places], float]) -> float:
        """The logarithm of the last two terms above, summed over `places`; ``log_integral`` gives that of C_λ/(N − 1),
        summed over places."""
        terms = places.n - places.first - 2  # N − 1, at most
        log_weight = places.first * math.log1p(-places.gamma)
        fewer = Places(places.gamma, places.n - 1, places.first, places.last)
        log_g = np.log(self.g)
        exponents = [log_g + log_weight]  # e(g) = g
        for rate in self.rates:
            log, growth = log_integral(rate, fewer) + math.log(terms), rate * self.g
            exponents.append(log + growth + 8 * FLOAT_ERROR * (abs(log) + growth))  # of which much may cancel
        best = np.argmin(exponents, axis=0)
        parts = [self._log_largest(np.where(best == k, exponent, -math.inf)) for k, exponent in enumerate(exponents)]
        likely, mean = self._log_largest(np.zeros_like(log_g)), self._log_largest(log_g)
        parts.append(math.log(terms / 2) + likely + mean + log_weight)
        total = float(np.logaddexp.reduce(parts))
        return total + FLOAT_ERROR * (64 + 8 * (abs(total) + abs(log_weight))) if total > -math.inf else total

    def _log_largest(self, exponents: Array) -> float:
        """An upper bound of the logarithm of the largest Σ p e^exponent of a law."""
        logs = self.log_p + exponents
        top = float(logs.max())
        if top == -math.inf:
            return -math.inf
        # Roundings of both logarithms, of which none that counts is far below the largest, and of the sum
        sizes = float(np.where(logs > top - _FAR_BELOW, np.abs(self.log_p) + np.abs(exponents), 0.0).max())
        log_sum = top + math.log(float(np.exp(logs - top).sum(axis=1).max()))
        return log_sum + FLOAT_ERROR * (16 + len(self.g[0]) + 8 * sizes)


def chosen(g: Array, p: Array, n: int) -> RareValues | None:
    """The large values of laws that should count by themselves in sums of about n terms; None if there are none.

    By a rough calculation for two laws, that with the largest variance and that with the most large values.
    """
    top = float(g.max())
    if n < FEWEST_USERS or not 0 < top < _LARGEST or -g.min() > _LARGEST:
        return None
    means = (p * g).sum(axis=1)
    variances = np.maximum((p * g * g).sum(axis=1) - means**2, 1e-300)
    # In the normal limit λ is about −mean/variance.
    low = max(
        _HARMLESS * float((variances / np.maximum(-means, _LEAST)).max()), float(g[p > _NOT_RARE].max(initial=0.0))
    )
    if low >= top:
        return None
    thresholds = np.append(np.geomspace(low, top, _THRESHOLDS + 1)[:-1], top)
    wide, heavy = int(variances.argmax()), int((p * np.maximum(g - low, 0.0)).sum(axis=1).argmax())
    deviation = math.sqrt(n * float(variances[wide]))
    rates = _RATES / deviation
    looked_at = [(g[i], p[i]) for i in dict.fromkeys([wide, heavy])]
    logs = _rough(looked_at, n, rates, thresholds, 1 / deviation)
    outside = g > thresholds[:, None, None]
    values = g[heavy]
    with np.errstate(divide="ignore"):  # values that are not there count nothing
        log_p = np.log(p[heavy])
        pairs = np.log((outside * p).sum(axis=2).max(axis=1) * (outside * (p * g)).sum(axis=2).max(axis=1) * n / 2)
    # Axes: threshold, value, rate
    exponents = rates * values[:, None] + logs[:, None, :]
    log_e = np.minimum(exponents.min(axis=2), np.log(np.maximum(values, low)))
    tails = np.logaddexp.reduce(np.where(outside[:, heavy], log_p + log_e, -math.inf), axis=1)
    best = int(np.logaddexp.reduce([logs.min(axis=1) - math.log(n), tails, pairs]).argmin())
    threshold, rare = float(thresholds[best]), outside[best, heavy]
    possible = rates * threshold < _LARGEST_EXPONENT
    # What is left is a law of its own only if it has positive values, and they are not far below the others.
    if not rare.any() or not possible.any() or float(g[~outside[best]].max()) < _LEAST:
        return None
    beside = float(np.logaddexp(logs[best].min() - math.log(n), pairs[best]))
    some = _few(log_p[rare], values[rare], exponents[best][rare][:, possible], beside)
    return RareValues(g, p, threshold, rates[possible][some])


def _rough(laws: list[tuple[Array, Array]], n: int, rates: Array, thresholds: Array, unit: float) -> Array:
    """About the logarithm of ∫ |M(λ + iu)|^n/(λ² + u²) du/π for each threshold and each rate: for the largest M of some
    laws, with 0 in the place of the values that are above the threshold. ``unit`` is that of u."""
    u = COARSE * unit
    moduli = np.zeros((len(thresholds), len(rates), len(u)))
    for values, masses in laws:
        inside = values <= thresholds[:, None]
        grown = masses * np.exp(np.minimum(rates[:, None] * values, _LARGEST_EXPONENT))
        waves, parts = coarse_waves(values * unit).T, inside[:, None, :] * grown
        real, imaginary = parts @ waves.real + (~inside @ masses)[:, None, None], parts @ waves.imag
        moduli = np.maximum(moduli, np.hypot(real, imaginary))
    logs = n * np.log(moduli) - np.log(rates[:, None] ** 2 + u**2)
    top = logs.max(axis=2)
    return np.asarray(top + np.log((np.exp(logs - top[:, :, None]) * np.gradient(u)).sum(axis=2) / math.pi))


def _few(log_p: Array, values: Array, exponents: Array, beside: float) -> list[int]:
    """The places of some rates that serve all values nearly as well as all of them do: one after the other, whichever
    helps most, as long as that is seen ``beside`` the logarithm of the rest of the bound."""
    kept: list[int] = []
    logs, before = np.log(values), math.inf
    for _ in range(_MOST_RATES):
        totals = np.logaddexp.reduce(log_p[:, None] + np.minimum(exponents, logs[:, None]), axis=0)
        total = float(np.logaddexp(beside, totals.min()))
        if total > before - _LITTLE:
            break
        kept.append(int(totals.argmin()))
        logs, before = np.minimum(logs, exponents[:, kept[-1]]), total
    return sorted({*kept})
