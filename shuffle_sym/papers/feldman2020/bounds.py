r"""The closed form of Feldman et al. 2020: in full, and as Koskela et al. 2021 quote it (Appendix C.3)."""

from typing import Any

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import arguments
from shuffle_sym.model import decomposition
from shuffle_sym.papers.amplification import EveryRandomizer, amplification, every_randomizer
from shuffle_sym.papers.rounded import MP, Mpf, evaluated, number


def _refuse_outside(eps0: sp.Expr, n: int, delta: Mpf) -> None:
    largest = MP.log(n / (16 * MP.log(2 / delta)))
    if number(eps0) > largest:
        raise ValueError(
            f"eps0 must be at most log(n/(16 log(2/delta))) = {float(largest):.4g} for this theorem, "
            f"got {float(eps0):.4g}"
        )


def _solved(randomizers: EveryRandomizer, n: int, delta: sp.Expr) -> float:
    """ε in closed form; raises where ε0 is too large for the theorem."""
    _refuse_outside(randomizers.eps0, n, number(delta))
    return evaluated(lambda e, d: MP.log1p(_excess(e, n, d)), randomizers.eps0, delta)


def _excess(eps0: Mpf, n: int, delta: Mpf) -> Mpf:
    return 8 * MP.sqrt(MP.log(4 / delta) * MP.exp(eps0) / n) + 8 * MP.exp(eps0) / n


def _delta(randomizers: EveryRandomizer, n: int, excess: Mpf) -> Mpf:
    pn = n * MP.exp(-number(randomizers.eps0))
    above = excess - 8 / pn
    if above <= 0:
        return MP.mpf(1)
    delta = 4 * MP.exp(-((above * MP.sqrt(pn) / 8) ** 2))
    if delta < 1:
        _refuse_outside(randomizers.eps0, n, delta)
    return delta


def thm31_formula(eps0: Any, n: Any, delta: Any) -> float:
    r"""The formula of `thm31_full` for ε0, n, δ whether or not its condition is met: **no bound** where it is not.

    >>> round(thm31_formula(4, 1000, 1e-6), 2)  # the clones themselves need 3.99
    2.13
    """
    level, users, target = every_randomizer(eps0).eps0, arguments.users(n), arguments.between_0_and_1(delta, "delta")
    return evaluated(lambda e, d: MP.log1p(MP.tanh(e / 2) * _excess(e, users, d)), level, target)


def _solved_full(randomizers: EveryRandomizer, n: int, delta: sp.Expr) -> float:
    _refuse_outside(randomizers.eps0, n, number(delta))
    return thm31_formula(randomizers.eps0, n, delta)


add(of_every_randomizer("clones", "Feldman et al. 2020", decomposition.clones, one_randomizer=False))


@amplification(solved=_solved, title="Feldman", source="Feldman et al. 2020, Theorem 3.1", one_randomizer=False)
def thm31(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r"""ε of any shuffled ε0-LDP randomizer:
    :math:`\varepsilon = \log\bigl(1 + \frac{8\sqrt{\log(4/\delta)}}{\sqrt{pn}} + \frac{8}{pn}\bigr)`,
    :math:`p = e^{-\varepsilon_0}` (Feldman et al. 2020, Theorem 3.1, as Koskela et al. 2021 quote it).

    It needs :math:`\varepsilon_0 \le \log\frac{n}{16\log(2/\delta)}` and raises otherwise. Solved for δ it is
    :math:`4\exp\bigl(-[(e^\varepsilon - 1 - \frac{8}{pn})\sqrt{pn}/8]^2\bigr)` (Koskela et al. 2021, (C.2)), for ε with
    :math:`e^\varepsilon - 1 > 8/(pn)`; below that the theorem says nothing, and this is 1.

    >>> round(thm31(4, n=100_000, delta=1e-6), 4)
    0.55
    >>> "{:.4e}".format(thm31.delta(4, n=100_000, eps=0.5))
    '2.7654e-05'
    """
    return _delta(randomizers, n, MP.expm1(eps))


@amplification(solved=_solved_full)
def thm31_full(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r"""Theorem 3.1 of Feldman et al. 2020 with the factor that Koskela et al. 2021 leave out, which matters for small
    ε0: :math:`e^\varepsilon - 1` is (t − 1)/(t + 1) times that of `thm31`, under the same condition.

    It is `thm31` for X = (A + 1, C − A) and Y = (A, C − A + 1): the clones mix the two, P = qX + (1 − q)Y and
    Q = (1 − q)X + qY with q = t/(t + 1), so P − αQ is a share of X − βY with
    :math:`\alpha - 1 = (\beta - 1)\frac{t-1}{t+\beta} \le (\beta - 1)\frac{t-1}{t+1}`.

    >>> [round(form(0.1, n=100_000, delta=1e-6), 4) for form in (thm31, thm31_full)]
    [0.0987, 0.0052]
    """
    return _delta(randomizers, n, MP.expm1(eps) / MP.tanh(number(randomizers.eps0) / 2))
