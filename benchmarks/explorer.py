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

from shuffle_sym.apps.explorer import Settings, View, late

STAGES = range(2)
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


def wider() -> dict[str, list[Settings]]:
    """Noise, typed randomizers, comparisons and the other axes, with the level or the users moved."""
    tenths, users = [f"{i / 10}" for i in range(20, 26)], [str(n) for n in range(20_000, 26_000, 1_000)]
    typed = [f"0.{i} 0.{10 - i}; 0.2 0.8" for i in range(4, 10)]
    densities = [f"{x}/2*exp(-{x}*abs(y - x))" for x in tenths]
    other = {"other": "oue", "other_parameters": {"d": "10", "eps0": "3"}}
    group = {"other": "krr", "other_parameters": {"k": "10", "eps0": "1"}, "share": "0.5"}
    return {
        "laplace eps0": [Settings("laplace", {"eps0": x}) for x in tenths],
        "laplace n": [Settings("laplace", {"eps0": "2"}, n=n) for n in users],
        "gaussian sigma": [Settings("gaussian", {"sigma": x}) for x in tenths],
        "gaussian n": [Settings("gaussian", {"sigma": "1"}, n=n) for n in users],
        "matrix": [Settings("matrix", {"rows": rows}) for rows in typed],
        "matrix, 5 rounds": [Settings("matrix", {"rows": rows}, rounds="5") for rows in typed],
        "density": [Settings("density", {"density": d, "least": "0", "greatest": "1"}) for d in densities],
        "compared n": [Settings(**other, n=n) for n in users],
        "groups n": [Settings(**group, n=n) for n in users],
        "take part": [Settings(q=f"0.{i}") for i in range(2, 8)],
        "over n": [replace(position, over="n") for position in levels(START)[:6]],
        "over eps0": [replace(START, over="level", n=n) for n in users],
        "over rounds": [replace(START, over="rounds", n=n) for n in users[:3]],
    }


def show(settings: Settings, skip: Collection[str]) -> None:
    view = View(settings, skip)
    assert view.chart
    assert view.table
    assert view.code


def measured(title: str, moves: dict[str, list[Settings]]) -> None:
    """Two rows for each slider: what is shown at once, and what is added, line by line, when the slider rests."""
    print(f"{title} (medians; first: cold)")
    print(f"{'moved':>18} {'first':>9} {'wall ms':>9} {'best':>9} {'cpu ms':>9} {'best':>9}")
    for name, positions in moves.items():
        walls: list[list[float]] = [[] for _ in STAGES]
        processors: list[list[float]] = [[] for _ in STAGES]
        for position in positions:
            for i, skip in enumerate((late(position), ())):
                wall, processor = time.perf_counter(), time.process_time()
                show(position, skip)
                walls[i].append(1e3 * (time.perf_counter() - wall))
                processors[i].append(1e3 * (time.process_time() - processor))
        for i in STAGES:
            times = [f"{statistics.median(x[i][1:]):9.1f} {min(x[i][1:]):9.1f}" for x in (walls, processors)]
            print(f"{name if i == 0 else 'then':>18} {walls[i][0]:9.1f} {times[0]} {times[1]}", flush=True)


if __name__ == "__main__":
    measured("one round: at once, then at rest", ONE)
    measured("several rounds: at once, then at rest", MANY)
    measured("noise, typed randomizers, two randomizers, other axes: at once, then at rest", wider())
