r"""What is known of many rounds if only (ε, δ) of one is known: basic, advanced and optimal composition."""

import math
from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments
from shuffle_sym.papers.amplification import excess, last_that_holds
from shuffle_sym.papers.registry import bound
from shuffle_sym.papers.rounded import DIGITS, MP, Mpf, evaluated, number, up


@bound
def basic_composition(eps: Any, delta: Any, rounds: Any) -> tuple[float, float]:
    """(k ε, k δ) after k rounds of an (ε, δ)-DP mechanism.

    >>> "{:.6f} {:.6e}".format(*basic_composition(0.5, 1e-7, 4))
    '2.000000 4.000000e-07'
    """
    eps, delta, k = _one_round(eps, delta, rounds)
    return evaluated(lambda e: k * e, eps), min(evaluated(lambda d: k * d, delta), 1.0) if delta else 0.0


@bound
def advanced_composition(eps: Any, delta: Any, rounds: Any, slack: Any) -> tuple[float, float]:
    r"""(ε', kδ + δ') with :math:`\varepsilon' = \varepsilon\sqrt{2k\log(1/\delta')} + k\varepsilon(e^\varepsilon - 1)`,
    δ' = ``slack`` and k = ``rounds`` (Dwork and Roth 2014, Theorem 3.20).

    >>> "{:.6f} {:.6e}".format(*advanced_composition(0.1, 1e-8, 100, 1e-7))
    '6.729402 1.100000e-06'
    """
    eps, delta, k = _one_round(eps, delta, rounds)
    slack = arguments.between_0_and_1(slack, "slack")
    total = evaluated(lambda e, d: e * MP.sqrt(2 * k * MP.log(1 / d)) + k * e * MP.expm1(e), eps, slack)
    return total, min(evaluated(lambda d, extra: k * d + extra, delta, slack), 1.0)


@bound
def strong_composition(eps: Any, delta: Any, rounds: Any, slack: Any) -> tuple[float, float]:
    r"""(ε', 1 − (1 − δ)^k (1 − δ')), k = ``rounds``, δ' = ``slack``, ε' the least of kε, kεh + ε√(2k log(1/δ')) and
    kεh + ε√(2k log(e + ε√k/δ')), :math:`h = (e^\varepsilon - 1)/(e^\varepsilon + 1)` (Kairouz, Oh and Viswanath 2015,
    Theorem 3.4): a closed form above `optimal_composition`.

    >>> "{:.6f} {:.6e}".format(*strong_composition(0.1, 1e-8, 100, 1e-7))
    '6.177276 1.099999e-06'
    """
    eps, delta, k = _one_round(eps, delta, rounds)
    slack = arguments.between_0_and_1(slack, "slack")

    def formula(e: Mpf, d: Mpf) -> Mpf:
        drift = k * e * MP.tanh(e / 2)
        factor = min(MP.log(1 / d), MP.log(MP.e + e * MP.sqrt(k) / d))
        return min(k * e, drift + e * MP.sqrt(2 * k * factor))

    total = evaluated(lambda d, extra: -MP.expm1(k * MP.log1p(-d) + MP.log1p(-extra)), delta, slack)
    return evaluated(formula, eps, slack), min(total, 1.0)


@bound
def poisson_subsampled(eps: Any, delta: Any, gamma: Any) -> tuple[float, float]:
    r"""(log(1 + γ(e^ε − 1)), γδ): every record takes part with probability γ, and one is added or removed (Li et al.
    2012); the same holds for a share γ drawn without replacement, where one is replaced (Balle et al. 2018), as in
    `Shuffle.sampled_from`. For users who take part independently, one of whom is replaced: `Sampled`.

    >>> "{:.6f} {:.1e}".format(*poisson_subsampled(1, 1e-6, 0.001))
    '0.001717 1.0e-09'
    """
    eps, delta, _ = _one_round(eps, delta, 1)
    arguments.share(gamma, "gamma")
    rate = arguments.exact_number(gamma, "gamma")
    total = evaluated(lambda e, g: MP.log1p(g * MP.expm1(e)), eps, rate)
    return total, evaluated(lambda d, g: d * g, delta, rate) if delta else 0.0


@bound
def optimal_composition(eps: Any, delta: Any, rounds: Any, total_eps: Any) -> float:
    r"""δ after k rounds of (ε, δ)-DP mechanisms at ``total_eps``, the smallest that holds for all of them
    (Kairouz, Oh and Viswanath 2015):

    .. math:: 1 - (1-\delta)^k\Bigl(1 - \sum_{l=0}^{k} \binom kl
              \frac{[e^{(k-l)\varepsilon} - e^{\varepsilon' + l\varepsilon}]_+}{(1 + e^\varepsilon)^k}\Bigr)

    Randomized response that leaks its input with probability δ is the worst mechanism, and this is its δ.

    >>> round(optimal_composition(sp.log(3), 0, 2, sp.log(2)), 12)
    0.4375
    """
    eps, delta, k = _one_round(eps, delta, rounds)
    total_eps = arguments.central_epsilon(total_eps)
    e, d, target = number(eps), number(delta), number(total_eps)
    log_all, sums = k * MP.log1p(MP.exp(e)), MP.mpf(0)
    ways = MP.mpf(1)
    for lost in range(k + 1):
        high, low = (k - lost) * e, target + lost * e
        if high <= low:
            break
        # C(k, l) t^(k−l)/(1 + t)^k is a probability: only the product is of moderate size.
        sums += ways * MP.exp(high - log_all) * -MP.expm1(low - high)
        ways *= MP.mpf(k - lost) / (lost + 1)
    # All terms are positive: nothing cancels, however small δ is.
    leaked = -MP.expm1(k * MP.log1p(-d))
    total = leaked + (1 - leaked) * sums
    # k + 10 roundings in each term, and more digits than doubles have to hide them in.
    return min(up(total * (1 + (k + 10) * MP.mpf(10) ** (3 - DIGITS))), 1.0) if total else 0.0


@bound
def optimal_composition_epsilon(eps: Any, delta: Any, rounds: Any, total_delta: Any) -> float:
    """The smallest ε, within 1e-10 (relative), at which `optimal_composition` (with δ, ``rounds``) <= ``total_delta``.

    >>> round(optimal_composition_epsilon(0.1, 0, 100, 1e-6), 3)
    4.775
    """
    eps, delta, k = _one_round(eps, delta, rounds)
    target = arguments.delta_target(total_delta)
    largest = evaluated(lambda e: k * e, eps)

    def missing(total: float) -> float:
        return excess(optimal_composition(eps, delta, k, total), target)

    if missing(largest) > 0:
        raise ValueError(
            f"total_delta = {target:g} is not reached: {k} rounds lose 1 - (1 - delta)^{k} = "
            f"{-math.expm1(k * math.log1p(-float(delta))):.4g} at every eps"
        )
    return 0.0 if missing(0.0) <= 0 else last_that_holds(missing, largest, 0.0)


def _one_round(eps: Any, delta: Any, rounds: Any) -> tuple[sp.Expr, sp.Expr, int]:
    delta = arguments.exact_number(delta, "delta")
    if delta != 0:
        delta = arguments.between_0_and_1(delta, "delta")
    return arguments.central_epsilon(eps), delta, arguments.positive_integer(rounds, "rounds")
