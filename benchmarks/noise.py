"""Continuous noise: milliseconds for one certified δ of the blanket.

``python benchmarks/noise.py``. *cold* is with a new noise, whose cells have to be made.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import shuffle_sym as ss

CASES: list[tuple[str, Callable[[], Any], float]] = [
    ("Laplace, eps0 = 1", lambda: ss.Laplace(eps0=1), 1e-3),
    ("Laplace, eps0 = 4", lambda: ss.Laplace(eps0=4), 1e-3),
    ("Laplace, eps0 = 1", lambda: ss.Laplace(eps0=1), 1e-4),
    ("Gaussian, sigma = 2", lambda: ss.Gaussian(sigma=2), 1e-3),
    ("Gaussian, sigma = 1", lambda: ss.Gaussian(sigma=1), 1e-3),
    ("Gaussian, sigma = 1", lambda: ss.Gaussian(sigma=1), 1e-4),
    ("Gaussian, sigma = 1/2", lambda: ss.Gaussian(sigma=0.5), 1e-2),
    ("logistic, eps0 = 1", lambda: ss.randomizers.Logistic(eps0=1), 1e-3),
    ("piecewise, eps0 = 1", lambda: ss.randomizers.PiecewiseMechanism(eps0=1), 1e-3),
    ("skewed Laplace", lambda: ss.randomizers.AsymmetricLaplace(left=1, right=2), 1e-3),
    ("clipped Gaussian", lambda: ss.randomizers.ClippedGaussian(sigma=1), 1e-3),
    ("truncated Laplace", lambda: ss.randomizers.TruncatedLaplace(eps0=1), 1e-3),
]
REPEAT = 5


def seconds(call: Callable[[], Any], repeat: int = 1) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    print(f"{'noise':22} {'rtol':>6} {'n':>8} {'cold ms':>8} {'warm ms':>8}  δ")
    for name, make, rtol in CASES:
        for n in (10**3, 10**5, 10**9):
            eps = 3.0 / math.sqrt(n) if n > 10**3 else 0.1
            noise = make()
            M = ss.Shuffle(ss.decomposition.blanket(noise), n)
            ask = partial(M.delta, eps, rtol=rtol)
            cold, warm = seconds(ask), seconds(ask, REPEAT)
            answer = ask()
            times = f"{1e3 * cold:8.1f} {1e3 * warm:8.1f}"
            print(f"{name:22} {rtol:6.0e} {n:8.0e} {times}  {answer} {answer.method}")


if __name__ == "__main__":
    main()
