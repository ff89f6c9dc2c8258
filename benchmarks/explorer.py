r"""The explorer: milliseconds from a slider to the new picture, table and code, at positions not in any cache.

Wall clock and processor time: on a machine that does other things as well only the second says something.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import statistics
import time
from dataclasses import replace

from shuffle_sym.explorer import Settings, View

START = Settings()
MOVES = {
    "eps0": [replace(START, parameters={"k": "10", "eps0": f"{i / 10}"}) for i in range(20, 40)],
    "k": [replace(START, parameters={"k": str(k), "eps0": "4"}) for k in range(11, 31)],
    "n": [replace(START, n=str(n)) for n in range(20_000, 40_000, 1_000)],
    "delta": [replace(START, delta=f"{i}e-7") for i in range(11, 31)],
    "rounds": [replace(START, rounds=str(rounds)) for rounds in range(2, 12)],
    **{
        name: [Settings(name, {"d": "16", "eps0": f"{i / 10}"}) for i in range(20, 30)]
        for name in ("rappor", "oue", "blh")
    },
}


def show(settings: Settings) -> None:
    view = View(settings)
    assert view.chart
    assert view.table
    assert view.code


if __name__ == "__main__":
    print(f"{'moved':>8} {'first':>9} {'wall ms':>9} {'best':>9} {'cpu ms':>9} {'best':>9}   (medians; first: cold)")
    for name, positions in MOVES.items():
        walls, processors = [], []
        for position in positions:
            wall, processor = time.perf_counter(), time.process_time()
            show(position)
            walls.append(1e3 * (time.perf_counter() - wall))
            processors.append(1e3 * (time.process_time() - processor))
        later = walls[1:], processors[1:]
        found = [f"{statistics.median(x):9.1f} {min(x):9.1f}" for x in later]
        print(f"{name:>8} {walls[0]:9.1f} {found[0]} {found[1]}")
