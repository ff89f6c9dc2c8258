r"""The closed form of Feldman et al. 2020, as Koskela et al. 2021 quote it (Appendix C.3)."""

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.model import decomposition
from shuffle_sym.papers.amplification import EveryRandomizer, amplification
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
    return evaluated(
        lambda e, d: MP.log1p(8 * MP.sqrt(MP.log(4 / d) * MP.exp(e) / n) + 8 * MP.exp(e) / n), randomizers.eps0, delta
    )


add(of_every_randomizer("clones", "Feldman et al. 2020", decomposition.clones, one_randomizer=False))


@amplification(solved=_solved, title="Feldman", source="Feldman et al. 2020, Theorem 3.1", one_randomizer=False)
def thm31(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r"""ε of any shuffled ε0-LDP randomizer:
    :math:`\varepsilon = \log\bigl(1 + \frac{8\sqrt{\log(4/\delta)}}{\sqrt{pn}} + \frac{8}{pn}\bigr)`,
    :math:`p = e^{-\varepsilon_0}` (Feldman et al. 2020, Theorem 3.1).

    It needs :math:`\varepsilon_0 \le \log\frac{n}{16\log(2/\delta)}` and raises otherwise. Solved for δ it is
    :math:`4\exp\bigl(-[(e^\varepsilon - 1 - \frac{8}{pn})\sqrt{pn}/8]^2\bigr)` (Koskela et al. 2021, (C.2)), for ε with
    :math:`e^\varepsilon - 1 > 8/(pn)`; below that the theorem says nothing, and this is 1.

    >>> round(thm31(4, n=100_000, delta=1e-6), 4)
    0.55
    >>> "{:.4e}".format(thm31.delta(4, n=100_000, eps=0.5))
    '2.7654e-05'
    """
    pn = n * MP.exp(-number(randomizers.eps0))
    above = MP.expm1(eps) - 8 / pn
    if above <= 0:
        return MP.mpf(1)
    delta = 4 * MP.exp(-((above * MP.sqrt(pn) / 8) ** 2))
    if delta < 1:
        _refuse_outside(randomizers.eps0, n, delta)
    return delta
