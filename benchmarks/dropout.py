r"""The drop-out bound: milliseconds and excess over the best attack with equal others, flat in n.

Processor time of one bound at one α for laws that are doubles already; the excess is in ε at the same δ.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import math
import statistics
import time

import numpy as np
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.numeric import contour, dropout

RANDOMIZERS = {
    "BLH": ss.BLH(d=16, eps0=4),
    "3 of 10": ss.SubsetSelection(d=10, w=3, eps0=4),
    "RAPPOR": ss.RAPPOR(d=16, eps0=4),
    "Hadamard": ss.HadamardResponse(K=16, eps0=4),
    "OUE": ss.OUE(d=16, eps0=4),
    "OLH g=8": ss.OLH(d=16, g=8, eps0=4),
    "10-RR": ss.KRR(k=10, eps0=4),
    "2-RR": ss.BinaryRR(eps0=4),
}
CASES = [(10**3, 1e-2), (10**3, 1e-6), (10**4, 1e-2), (10**4, 1e-6), (10**6, 1e-6), (10**9, 1e-6), (10**9, 1e-12)]


class Pair:
    """The laws of G of a randomizer that treats all inputs beyond 0 and 1 alike."""

    def __init__(self, R) -> None:
        inputs = [0, 1] if isinstance(R, ss.BinaryRR) else [0, 1, 2]
        self.datasets = [ss.decomposition.dataset(R, 0, 1, x) for x in inputs]
        self.gamma = float(R.gamma) * (1 - 1e-14)

    def arguments(self, eps: float):
        laws = [D.gparv.floats_at([Ratio(eps=sp.Rational(eps))]) for D in self.datasets]
        masses = self.datasets[0].floats
        local = math.fsum(np.maximum(masses.a - math.exp(eps) * masses.b, 0.0)) * (1 + 1e-12)
        return [(law.values[0], law.probabilities) for law in laws], [law.null[0] for law in laws], local

    def upper(self, eps: float, n: int, equal: bool = True) -> dropout.Bound:
        laws, null, local = self.arguments(eps)
        return dropout.upper(laws, null, self.gamma, n, local, equal=equal)

    def attack(self, eps: float, n: int) -> float:
        return max(contour.positive_part(*law, n, 1e-4).lower for law in self.arguments(eps)[0])


def solved(delta_of, delta: float) -> float:
    """The ε at which a falling function is δ, by bisection."""
    low, high = 1e-7, 4.0
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return high


def milliseconds(pair: Pair, eps: float, n: int) -> float:
    laws, null, local = pair.arguments(eps)
    seconds = []
    for _ in range(21):
        start = time.process_time()
        dropout.upper(laws, null, pair.gamma, n, local)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds) * 1e3


def row(pair: Pair, n: int, delta: float) -> str:
    attack = solved(lambda eps: pair.attack(eps, n), delta)
    alone = solved(lambda eps: pair.upper(eps, n, equal=False).value, delta)
    eps = solved(lambda eps: pair.upper(eps, n).value, delta)
    excess = f"{alone / attack - 1:9.3%} {eps / attack - 1:9.3%}"
    return f"{attack:11.6g} {excess} {milliseconds(pair, eps, n):6.2f}  {pair.upper(eps, n).method}"


if __name__ == "__main__":
    print(f"{'':9} {'n':>10} {'delta':>7} {'attack':>11} {'moduli':>9} {'both':>9} {'ms':>6}  by")
    for name, R in RANDOMIZERS.items():
        pair = Pair(R)
        for n, delta in CASES:
            print(f"{name:9} {n:10} {delta:7.0e} {row(pair, n, delta)}", flush=True)
