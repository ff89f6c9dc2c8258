r"""Rényi bounds: milliseconds for one bound at one (λ, n, ε0), the best of several, over a grid up to λ = 10^4 and
n = 10^9; and how far Theorem 3.6 is above the lower bound and below Theorem 3.1.

Nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import itertools
import statistics
import time

from checks import renyi_grid

BOUNDS = {**renyi_grid.UPPER, **renyi_grid.LOWER}
GRID = list(itertools.product((0.01, 0.1, 0.5, 1, 3, 6, 10), (1, 10, 100, 10**4, 10**6, 10**9), (2, 3, 10, 100, 10**4)))
REPEAT = 7


def best(call) -> float:
    """Milliseconds, the best of several."""
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main() -> None:
    print(f"{'bound':>20} {'median ms':>10} {'largest ms':>11}   at (eps0, n, order), of {len(GRID)}")
    for name, bound in BOUNDS.items():
        times = {case: best(lambda case=case, bound=bound: bound(*case)) for case in GRID}
        slowest = max(times, key=times.get)
        print(f"{name:>20} {statistics.median(times.values()):10.3f} {times[slowest]:11.3f}   {slowest}")
    print(f"\n{'eps0, n, order':>24} {'lower (3.4)':>12} {'Theorem 3.6':>12} {'Theorem 3.1':>12}")
    for case in ((0.5, 10**6, 2), (0.5, 10**6, 100), (3, 10**4, 10), (3, 10**6, 1000)):
        values = [BOUNDS[name](*case) for name in ("Theorem 3.4", "Theorem 3.6", "Theorem 3.1")]
        print(f"{case!s:>24} " + " ".join(f"{value:12.4g}" for value in values))


if __name__ == "__main__":
    main()
