r"""The closed form of Erlingsson et al. 2019, as Balle et al. 2019 quote it (Theorem 5.1)."""

import sympy as sp

from shuffle_sym.papers.amplification import EveryRandomizer, amplification
from shuffle_sym.papers.rounded import MP, Mpf, evaluated, number

_LEAST_N = 1000


def _refused(randomizers: EveryRandomizer, n: int) -> None:
    if n < _LEAST_N:
        raise ValueError(f"n must be at least {_LEAST_N} for this theorem, got {n}")
    if randomizers.eps0 >= sp.Rational(1, 2):
        raise ValueError(f"eps0 must be below 1/2 for this theorem, got {float(randomizers.eps0):.4g}")


def _solved(randomizers: EveryRandomizer, n: int, delta: sp.Expr) -> float:
    """ε in closed form; raises where δ is too large for the theorem."""
    if delta >= sp.Rational(1, 100):
        raise ValueError(f"delta must be below 1/100 for this theorem, got {sp.N(delta, 6)}")
    return evaluated(lambda e, d: 12 * e * MP.sqrt(-MP.log(d) / n), randomizers.eps0, delta)


@amplification(
    refuse=_refused,
    solved=_solved,
    ends_at=0.5,
    title="Erlingsson",
    source="Erlingsson et al. 2019",
    one_randomizer=False,
)
def shuffling(randomizers: EveryRandomizer, n: int, eps: Mpf) -> Mpf:
    r""":math:`\varepsilon = 12\varepsilon_0\sqrt{\log(1/\delta)/n}` for ε0 < 1/2, n >= 1000 and δ < 1/100 (Balle et al.
    2019, Theorem 5.1). Outside it raises; asked for a δ that is not below 1/100, it gives 1.

    >>> round(shuffling(0.4, 100_000, 1e-6), 5)
    0.05642
    """
    delta = MP.exp(-n * (eps / (12 * number(randomizers.eps0))) ** 2)
    return delta if delta < MP.mpf(1) / 100 else MP.mpf(1)
