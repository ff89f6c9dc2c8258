r"""Rényi bounds of Girgis et al. 2021, as divergences of order λ; t = e^{ε0}, v = (t − 1)²/t.

Doubles, through logarithms: nothing overflows for λ up to 10^7 and n up to 10^9. Upper bounds are rounded up and lower
bounds down, by a relative `ALLOWANCE` of 1e-9, far more than their rounding errors. Unless said otherwise λ is an
integer; `shuffle_sym.accounting.rdp.interpolated` gives real orders.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp
from scipy import special

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import arguments
from shuffle_sym.model import decomposition
from shuffle_sym.papers.girgis2021.binomial_moments import ALLOWANCE, log_excess
from shuffle_sym.papers.girgis2021.reduction import log_expected_excess
from shuffle_sym.papers.registry import bound
from shuffle_sym.papers.renyi import Users, integer, renyi_bound

add(of_every_randomizer("one-sided clones", "Girgis et al. 2021, Theorem 3.6", decomposition.clones_one_sided))


@renyi_bound(title="Girgis, closed form", source="Girgis et al. 2021, Theorem 3.1")
def thm31(users: Users, order: int, gamma: Any = 0.5) -> float:
    r"""Upper bound for every ε0-LDP randomizer (Girgis et al. 2021, Theorem 3.1):

    .. math:: \frac1{\lambda-1}\log\Bigl(1 + \binom\lambda2\frac{(t-1)^2}{\bar n t}
              + \sum_{i=3}^\lambda \binom\lambda i\, i\,\Gamma(i/2)\Bigl(\frac{(t^2-1)^2}{2t^2\bar n}\Bigr)^{i/2}
              + e^{\varepsilon_0\lambda - \gamma^2(n-1)/(2t)}\Bigr), \quad
              \bar n = \Bigl\lfloor\frac{(1-\gamma)(n-1)}{t}\Bigr\rfloor + 1

    with γ = 1/2 in (5), any γ in (0, 1] in (40), and the best one for ``gamma="best"`` (`best_gamma`).

    >>> round(thm31(eps0=0.5, n=10**6, order=2), 9)
    8.42e-07
    """
    if isinstance(gamma, str) and gamma == "best":
        return _best(users, order)[0]
    gamma = arguments.share(gamma, "gamma")
    return _up(_theorem31(users.eps0, _size(users, gamma), order, _chernoff(users, order, gamma)), order)


@bound
def best_gamma(eps0: Any, n: Any, order: Any) -> float:
    r"""The γ that makes Theorem 3.1 smallest at this ε0 (Girgis et al. 2021, Remark 3): (1 − γ)(n − 1)/t is a
    whole number, and the best one is searched for.

    The remark's own example :math:`\gamma = \sqrt{2\varepsilon_0 t/(n \log n)}` makes the last term
    :math:`e^{\varepsilon_0(\lambda - 1/\log n)}` for large n: it grows with λ and does not vanish as n → ∞. For that
    γ² has to be above :math:`2t(\lambda\varepsilon_0 + \log n)/(n - 1)`.

    >>> round(best_gamma(eps0=0.5, n=10**6, order=2), 3)
    0.009
    """
    return float(_best(Users.of(eps0, n), integer(order))[1])


@renyi_bound()
def cor32(users: Users, order: int) -> float:
    r"""Upper bound :math:`\frac1{\lambda-1}\log(1 + \binom\lambda2\frac{4(t-1)^2}n)` for every ε0-LDP randomizer, under
    the condition :math:`\lambda^4 t^5 < n/9` (Girgis et al. 2021, Corollary 3.2, (6)); refused without it.

    It does not follow from (5), as the paper says: for t → 1 the last term of (5) stays. It holds by Theorem 3.6
    (`derivations.corollary32`).

    >>> round(cor32(eps0=0.5, n=10**6, order=2), 9)
    1.683e-06
    """
    eps0, n, exact = users.eps0, users.n, users.exact_eps0
    gap = math.log(n / 9) - 4 * math.log(order) - 5 * eps0
    if gap <= 1e-9 and (gap < -1e-9 or not order**4 * sp.exp(5 * exact) < sp.Rational(n, 9)):
        largest = int(math.exp((math.log(n / 9) - 5 * eps0) / 4))
        raise ValueError(
            f"order must satisfy order^4 exp(5 eps0) < n/9 for this bound, which allows "
            f"{f'orders up to {largest}' if largest >= 2 else 'no order'} here, got {order}; use girgis2021_thm31"
        )
    return _up(_logarithm([_log_pairs(order) + 2 * _log_gain(eps0) + math.log(4 / n)]), order)


@renyi_bound(real_orders=True, title="Girgis, any order", source="Girgis et al. 2021, Theorem 3.3")
def thm33(users: Users, order: float, gamma: Any = 0.5) -> float:
    r"""Upper bound for every ε0-LDP randomizer and every real λ > 1 (Girgis et al. 2021, Theorem 3.3, as its proof and
    Section 7.2 have it):
    :math:`\frac1{\lambda-1}\log(e^{\lambda^2(t-1)^2/\bar n} + e^{\varepsilon_0\lambda - \gamma^2(n-1)/(2t)})`, n̄ as in
    Theorem 3.1.

    >>> round(thm33(eps0=0.5, n=10**6, order=2.5), 9)
    5.782e-06
    """
    gamma = arguments.share(gamma, "gamma")
    exponent = order**2 * math.exp(2 * _log_gain(users.eps0)) / _size(users, gamma)
    return _up(float(np.logaddexp(exponent, _chernoff(users, order, gamma))), order)


@renyi_bound(side="lower")
def thm34(users: Users, order: int) -> float:
    r"""*Lower* bound on the largest divergence of ε0-LDP randomizers (Girgis et al. 2021, Theorem 3.4): 2-RR, all zeros
    against a single 1, :math:`\frac1{\lambda-1}\log\mathbb E[r^\lambda]`; rounded down.

    The same two datasets in the other order have a larger divergence (``exact.two_rr_moment(…, reverse=True)``): 13/10
    against 5/4 at n = 2, t = 2, λ = 2.

    >>> round(thm34(eps0=0.5, n=10**6, order=2), 11)
    2.5525e-07
    """
    if users.eps0 == 0:
        return 0.0
    lower, _ = log_excess(users.eps0, users.n, order)
    return max(_down(_logarithm([float(lower[0])]), order), _corollary35(users, order))


@renyi_bound(side="lower")
def cor35(users: Users, order: int) -> float:
    r"""*Lower* bound :math:`\frac1{\lambda-1}\log(1 + \binom\lambda2\frac{(t-1)^2}{nt})` (Girgis et al. 2021,
    Corollary 3.5), rounded down: Theorem 3.4 without its higher moments, none of which is negative
    (`derivations.odd_moments`; the reason given in the paper is not one).

    >>> round(cor35(eps0=0.5, n=10**6, order=2), 11)
    2.5525e-07
    """
    return _corollary35(users, order)


@renyi_bound(real_orders=True)
def eq9(users: Users, order: float) -> float:
    r"""The bound λ·2t⁴(t − 1)²/n of Erlingsson et al. 2019, Remark 1, in Girgis et al. 2021, (9), for every real λ > 1.

    >>> round(eq9(eps0=0.5, n=10**6, order=2), 9)
    1.2438e-05
    """
    eps0 = users.eps0
    exponent = math.log(2 * order / users.n) + 4 * eps0 + 2 * _log_gain(eps0)
    if exponent > 700:
        raise ValueError(
            f"eps0 must be at most about 115 for (9) in doubles, got {eps0:g}; the divergence is at most eps0"
        )
    return math.exp(exponent) * (1 + ALLOWANCE)


@renyi_bound(title="Girgis, expectation", source="Girgis et al. 2021, Theorem 3.6")
def thm36(users: Users, order: int) -> float:
    r"""Upper bound for every ε0-LDP randomizer: the expectation of Theorem 3.6 itself, without the Chernoff bound and
    without Lemma 6.1 (Girgis et al. 2021, Theorem 3.6):

    .. math:: \frac1{\lambda-1}\log \mathbb E_{m \sim \mathrm{Bin}(n-1,\,1/t)}[M(m + 1)]

    M(m) is the moment of 2-RR with m users, which is the largest of all ε0-LDP randomizers: its ratio r is the largest
    in convex order (`derivations.worst_special`). `papers.girgis2021.reduction` says how it is bounded from above.
    Never above Theorem 3.1 or ε0.

    >>> round(thm36(eps0=0.5, n=10**6, order=2), 9)
    4.21e-07
    """
    eps0 = users.eps0
    if eps0 == 0:
        return 0.0
    first = _up(_theorem31(eps0, _size(users, 0.5), order, _chernoff(users, order, 0.5)), order)
    expectation = _up(_logarithm([log_expected_excess(eps0, users.n, order)]), order)
    return min(expectation, first, eps0 * (1 + ALLOWANCE))


# ------------------------------------------------------------------------------------------------ pieces


def _size(users: Users, gamma: float) -> int:
    """n̄; where doubles cannot tell on which side of a whole number it is, SymPy decides."""
    value = (1 - gamma) * (users.n - 1) * math.exp(-users.eps0)
    if value == 0:
        return 1
    if abs(value - round(value)) > 1e-12 * max(value, 1):
        return math.floor(value) + 1
    share = 1 - arguments.exact_number(gamma, "gamma")
    return int(sp.floor(sp.nsimplify(share) * (users.n - 1) * sp.exp(-users.exact_eps0))) + 1


def _corollary35(users: Users, order: int) -> float:
    logarithm = _log_pairs(order) + 2 * _log_gain(users.eps0) - users.eps0 - math.log(users.n)
    return _down(_logarithm([logarithm]), order)


def _log_gain(eps0: float) -> float:
    """log(t − 1)."""
    return math.log(math.expm1(eps0)) if eps0 > 0 else -math.inf


def _log_pairs(order: int) -> float:
    return math.log(order) + math.log(order - 1) - math.log(2)


def _chernoff(users: Users, order: float, gamma: float) -> float:
    """log of the last term, m < (1 − γ)(n − 1)/t; for γ = 1 nothing is below."""
    return users.eps0 * order - (users.n - 1) * gamma**2 * math.exp(-users.eps0) / 2


def _log_coefficients(order: int, i: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """log of C(λ, i) i Γ(i/2), rounded up: the logarithms of factorials have errors of some units of λ log λ."""
    choices = special.gammaln(order + 1) - special.gammaln(order - i + 1) - special.gammaln(i + 1)
    logs: npt.NDArray[np.float64] = choices + np.log(i) + special.gammaln(i / 2) + 2e-15 * order * math.log(order)
    return logs


def _log_higher_terms(order: int, base: float) -> float:
    """log of the sum over i = 3 … λ in (5), with e^(i·base) for the power. The terms are log-concave: 1/x < ψ'(x) <
    1/x + 1/x² makes the second derivative of their logarithm less than 1/(2i) − 1/(i + 1). So those within e^-60 of the
    largest are in a row, and all others together are less than λ e^-60 of it, far below `ALLOWANCE`."""
    i = np.geomspace(3.0, order, 200)
    for _ in range(2):
        i = np.unique(np.round(i))
        logs = _log_coefficients(order, i) + base * i
        (kept,) = np.nonzero(logs > logs.max() - 60)
        first, last = i[max(kept[0] - 1, 0)], i[min(kept[-1] + 1, len(i) - 1)]
        i = np.linspace(first, last, 200)
    i = np.arange(first, last + 1)
    return float(np.logaddexp.reduce(_log_coefficients(order, i) + base * i))


def _theorem31(eps0: float, size: int, order: int, remainder: float) -> float:
    """The logarithm in (5)."""
    logs = [_log_pairs(order) + 2 * _log_gain(eps0) - eps0 - math.log(size), remainder]
    if order > 2 and eps0 > 0:
        base = 2 * (_log_gain(eps0) + math.log1p(math.exp(-eps0))) - math.log(2 * size)
        logs.append(_log_higher_terms(order, base / 2))
    return _logarithm(logs)


def _logarithm(logs: list[float]) -> float:
    """log(1 + Σ exp), accurate where the sum is small."""
    top = max(logs)
    if top == -math.inf:
        return 0.0
    total = math.fsum(math.exp(value - top) for value in logs)
    return top + math.log(total + math.exp(-top)) if top > 0 else math.log1p(total * math.exp(top))


def _up(logarithm: float, order: float) -> float:
    return logarithm / (order - 1) * (1 + ALLOWANCE)


def _down(logarithm: float, order: float) -> float:
    return logarithm / (order - 1) * (1 - ALLOWANCE)


def _best(users: Users, order: int) -> tuple[float, float]:
    """The smallest Theorem 3.1 over whole n̄ and its γ. The first terms fall in n̄ and the last one grows: there is one
    valley, which is narrowed down on grids, with some of the terms for all. Wherever that ends, what is returned is a
    bound."""
    eps0, n = users.eps0, users.n
    most = max(math.ceil((n - 1) * math.exp(-eps0)), 1)
    shares = np.geomspace(1 / math.sqrt(n) / 100, 1, 48)
    sizes = np.unique(np.clip(np.floor((1 - shares) * most) + 1, 1, most))
    for _ in range(4):
        best = int(np.argmin(_about_theorem31(eps0, n, order, sizes)))
        low, high = sizes[max(best - 1, 0)], sizes[min(best + 1, len(sizes) - 1)]
        chosen = int(sizes[best])
        if high - low <= 2:
            break
        sizes = np.unique(np.floor(np.linspace(low, high, 48)))
    gamma = float(_gamma(eps0, n, chosen))
    return _up(_theorem31(eps0, chosen, order, _chernoff(users, order, gamma)), order), gamma


def _gamma(eps0: float, n: int, size: Any) -> Any:
    """The γ that belongs to a whole n̄, rounded down: what is lost in the difference is small, but γ may be as well."""
    share = (size - 1) * math.exp(eps0) / max(n - 1, 1)
    return np.maximum(1 - share * (1 + 1e-13) - 1e-15, 0) if np.ndim(size) or size > 1 else 1.0


def _about_theorem31(eps0: float, n: int, order: int, sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The logarithm in (5) up to a function that does not depend on n̄, about: of many terms only some are taken."""
    parts = [
        _log_pairs(order) + 2 * _log_gain(eps0) - eps0 - np.log(sizes),
        eps0 * order - (n - 1) * _gamma(eps0, n, sizes) ** 2 * math.exp(-eps0) / 2,
    ]
    if order > 2 and eps0 > 0:
        i = np.unique(np.round(np.geomspace(3, order, 120)))
        each = np.log(np.gradient(i)) if len(i) > 1 else np.zeros(1)
        base = 2 * (_log_gain(eps0) + math.log1p(math.exp(-eps0))) - np.log(2 * sizes)
        terms = _log_coefficients(order, i) + each + base[:, None] / 2 * i
        parts.append(np.logaddexp.reduce(terms, axis=1))
    logarithms: npt.NDArray[np.float64] = np.logaddexp.reduce(np.stack(parts), axis=0)
    return logarithms
