r"""The explorer: milliseconds from a slider to the new picture, table and code, at positions not in any cache.

Wall clock and processor time: on a machine that does other things as well only the second says something.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import statistics
import time
from collections.abc import Collection
from dataclasses import replace

from shuffle_sym.apps.explorer import LATE, Settings, View

START, SEVERAL = Settings(), Settings(rounds="5")
SIZES = {"rappor": "d", "oue": "d", "blh": "d", "subsetselection": "d", "hadamardresponse": "K"}


def levels(first: Settings) -> list[Settings]:
    return [replace(first, parameters={"k": "10", "eps0": f"{i / 10}"}) for i in range(20, 40)]


def others(rounds: str) -> dict[str, list[Settings]]:
    """The rest of the catalogue, with ε0 moved."""
    moves = {}
    for name, size in SIZES.items():
        sizes = {size: "16", **({"w": "4"} if name == "subsetselection" else {})}
        moves[name] = [Settings(name, {**sizes, "eps0": f"{i / 10}"}, rounds=rounds) for i in range(20, 30)]
    return moves


ONE = {
    "eps0": levels(START),
    "k": [replace(START, parameters={"k": str(k), "eps0": "4"}) for k in range(11, 31)],
    "n": [replace(START, n=str(n)) for n in range(20_000, 40_000, 1_000)],
    "delta": [replace(START, delta=f"{i}e-7") for i in range(11, 31)],
    **others("1"),
}
MANY = {
    "rounds": [replace(START, rounds=str(rounds)) for rounds in range(2, 12)],
    "eps0": levels(SEVERAL),
    "n": [replace(SEVERAL, n=str(n)) for n in range(20_000, 40_000, 2_000)],
    "n = 1e6": [replace(SEVERAL, n=str(n)) for n in range(1_000_000, 1_500_000, 100_000)],
    "n = 1e7": [replace(SEVERAL, n=str(n)) for n in range(10_000_000, 13_000_000, 1_000_000)],
    "delta": [replace(SEVERAL, delta=f"{i}e-7") for i in range(11, 31)],
    **others("5"),
}


def show(settings: Settings, skip: Collection[str]) -> None:
    view = View(settings, skip)
    assert view.chart
    assert view.table
    assert view.code


def measured(title: str, moves: dict[str, list[Settings]], *stages: Collection[str]) -> None:
    """A row for each slider; with two stages, what is shown at once and what is added when the slider rests."""
    print(f"{title} (medians; first: cold)")
    print(f"{'moved':>18} {'first':>9} {'wall ms':>9} {'best':>9} {'cpu ms':>9} {'best':>9}")
    for name, positions in moves.items():
        walls: list[list[float]] = [[] for _ in stages]
        processors: list[list[float]] = [[] for _ in stages]
        for position in positions:
            for i, skip in enumerate(stages):
                wall, processor = time.perf_counter(), time.process_time()
                show(position, skip)
                walls[i].append(1e3 * (time.perf_counter() - wall))
                processors[i].append(1e3 * (time.process_time() - processor))
        for i in range(len(stages)):
            times = [f"{statistics.median(x[i][1:]):9.1f} {min(x[i][1:]):9.1f}" for x in (walls, processors)]
            print(f"{name if i == 0 else 'then':>18} {walls[i][0]:9.1f} {times[0]} {times[1]}", flush=True)


if __name__ == "__main__":
    measured("one round", ONE, ())
    measured("several rounds: at once, then at rest", MANY, LATE, ())
