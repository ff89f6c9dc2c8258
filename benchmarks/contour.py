r"""The contour accountant: one certified δ at any n, ε(n) curves, and a δ of 10^-300, in one run on one core.

Speed is a ratio inside one run: machines are noisy, so nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import time

import mpmath
import numpy as np
import sympy as sp
from measuring import measured

import shuffle_sym as ss
from shuffle_sym.algebra import precise
from shuffle_sym.papers.su2025 import algorithm4

R = ss.KRR(k=10, eps0=4)
BLANKET = ss.decomposition.blanket(R)
EPS = {10**4: 0.38, 10**6: 0.0319, 10**9: 0.00070}


def one_delta() -> None:
    print("10-RR, eps0 = 4: one certified delta of the blanket, rtol = 1e-3")
    print(f"{'n':>11} {'eps':>8} {'method':>14} {'ms':>9} {'ratio':>8} {'width':>9}  interval")
    first = None
    for n, eps in EPS.items():
        M = ss.Shuffle(BLANKET, n)
        # Another ε each time: nothing comes from a cache.
        points = iter(np.linspace(eps, eps * 1.001, 400).tolist())
        seconds, _, answer = measured(lambda M=M, points=points: M.delta(next(points)), 101)
        first = first or seconds
        row = f"{seconds * 1e3:9.2f} {seconds / first:7.2f}x {answer.relative_width:9.1e}  {answer}"
        print(f"{n:11} {eps:8} {answer.method:>14} {row}")
        seconds, _, answer = measured(lambda M=M: M.epsilon(1e-6), 9)
        print(f"{n:11} {'':8} {'epsilon(1e-6)':>14} {seconds * 1e3:9.2f} {'':8} {answer.relative_width:9.1e}  {answer}")
    seconds, _, answer = measured(lambda: algorithm4(BLANKET, 10**4, 0.38), 1)
    print(f"{10**4:11} {0.38:8} {'Algorithm 4':>14} {seconds * 1e3:9.2f} {seconds / first:7.0f}x {'':9}  {answer}")


def many_deltas() -> None:
    print("10-RR, eps0 = 4: 200 certified deltas, one by one and in one array, milliseconds each")
    for n, eps in {10**3: 1.0, **EPS}.items():
        M, grid = ss.Shuffle(BLANKET, n), np.linspace(eps / 2, eps * 1.1, 200)
        alone, _, _ = measured(lambda M=M, grid=grid: [M.delta(e) for e in grid.tolist()], 3)
        together, _, answers = measured(lambda M=M, grid=grid: M.delta(grid), 5)
        widest = max(e.relative_width for e in answers)
        print(f"{n:11} {alone * 5:9.3f} {together * 5:9.3f} {alone / together:7.1f}x   width {widest:.1e}")


def curves() -> None:
    sizes = [round(n) for n in np.geomspace(1e3, 1e8, 50)]
    for name, randomizer in {
        "10-RR": R,
        "BLH": ss.BLH(d=64, eps0=4),
        "RAPPOR": ss.RAPPOR(d=64, eps0=4),
        "OUE": ss.OUE(d=64, eps0=4),
    }.items():
        start = time.perf_counter()
        blanket = ss.decomposition.blanket(randomizer)
        answers = [ss.Shuffle(blanket, n).epsilon(1e-6) for n in sizes]
        widest = max(e.relative_width for e in answers)
        print(
            f"{name:>8}: 50 values of eps(n), n = 1e3 … 1e8, in {time.perf_counter() - start:.2f} s, width {widest:.1e}"
        )


def tiny() -> None:
    M = ss.Shuffle(ss.decomposition.dataset(ss.BinaryRR(eps0=1), 0, 1, 0), 4000)
    eps = sp.Rational(73, 100)
    exact = M.exact(sp.exp(eps), digits=400)
    start = time.perf_counter()
    answer = M.delta(eps)
    seconds = time.perf_counter() - start
    digits = precise.context(400)
    off = max(abs(digits.mpf(end) / digits.convert(exact) - 1) for end in (answer.lower, answer.upper))
    print(f"2-RR, eps0 = 1, n = 4000, eps = 0.73: {answer} in {seconds * 1e3:.1f} ms, off by at most {float(off):.1e}")
    print(f"  exact, 400 digits: {mpmath.nstr(exact, 10)}")


if __name__ == "__main__":
    one_delta()
    many_deltas()
    curves()
    tiny()
