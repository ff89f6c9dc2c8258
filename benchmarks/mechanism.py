r"""Answers about the mechanism, both ends: time and width, beside the blanket alone and Algorithm 4 as published.

Processor time of warm calls (what does not depend on n is made before), at another ε or δ each time. Speed is a ratio
inside one run: machines are noisy, so nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import shuffle_sym as ss
from shuffle_sym.papers.su2025 import algorithm4

RANDOMIZERS = {
    "10-RR": ss.KRR(k=10, eps0=4),
    "2-RR": ss.BinaryRR(eps0=4),
    "BLH": ss.BLH(d=16, eps0=4),
    "RAPPOR": ss.RAPPOR(d=16, eps0=4),
    "OUE": ss.OUE(d=16, eps0=4),
    "Hadamard": ss.HadamardResponse(K=16, eps0=4),
    "OLH g=8": ss.OLH(d=16, g=8, eps0=4),
    "3 of 10": ss.SubsetSelection(d=10, w=3, eps0=4),
    "any": ss.AnyRandomizer(eps0=4),
}
USERS = (10**4, 10**6, 10**9)
ASYMMETRIC = ss.from_matrix([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.25, 0.15, 0.6]])
_DELTA = 1e-6


def milliseconds(call: Callable[[Any], Any], points: list[float]) -> tuple[float, Any]:
    """Median processor time of a call at each point, after one more, and the last result."""
    call(points[0])
    seconds = []
    for point in points[1:]:
        start = time.process_time()
        result = call(point)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds) * 1e3, result


def warm(R: Any, n: int) -> None:
    """One row: δ near the ε of δ = 1e-6, ε at two tolerances, the blanket alone, Algorithm 4."""
    M, laws = ss.Shuffle(R, n), R.dominating() if isinstance(R, ss.AnyRandomizer) else ss.decomposition.blankets(R)
    blanket = ss.Shuffle(laws, n)
    eps = M.epsilon(_DELTA).upper
    near = np.linspace(eps, 1.001 * eps, 8).tolist()
    targets = np.linspace(_DELTA, 1.001 * _DELTA, 6).tolist()
    delta, _ = milliseconds(M.delta, near)
    rough, _ = milliseconds(M.epsilon, targets)
    fine, answer = milliseconds(lambda target: M.epsilon(target, rtol=1e-4), targets)
    delta_alone, _ = milliseconds(blanket.delta, near)
    eps_alone, above = milliseconds(blanket.epsilon, targets)
    excess = f"{answer.relative_width:8.3%} {above.upper / answer.upper - 1:8.2%}"
    ours = f"{delta:7.2f} {rough:7.1f} {fine:7.1f} {excess}  {delta_alone:7.2f} {eps_alone:7.1f}"
    print(f"{n:11} {eps:10.4g} {ours}  {published(blanket, near[0], delta)}  {answer.upper_by}", flush=True)


def published(blanket: ss.Shuffle, eps: float, ours: float) -> str:
    """Milliseconds of Algorithm 4 for one δ of the blanket, over those of both ends of ours."""
    if blanket.n > USERS[0]:
        return f"{'':16}"  # it grows with n
    start = time.process_time()
    for D in blanket.decompositions:
        algorithm4(D, blanket.n, eps)
    spent = (time.process_time() - start) * 1e3
    return f"{spent:8.0f} {spent / ours:6.0f}x"


def rounds(R: Any, count: int) -> str:
    """Seconds and width of many rounds at n = 10^4, from the beginning."""
    start = time.process_time()
    answer = ss.Shuffle(R, 10**4).compose(count).epsilon(_DELTA, rtol=1e-3)
    spent = time.process_time() - start
    above = ss.Shuffle(ss.decomposition.blankets(R), 10**4).compose(count).epsilon(_DELTA, rtol=1e-3).upper
    return f"{count:4} rounds {answer} in {spent:5.2f} s, width {answer.relative_width:.2%}, blanket {above:.6g}"


def asymmetric() -> None:
    """All ordered pairs of inputs of a matrix without symmetry, and the time for each of them."""
    pairs = len(ASYMMETRIC.pairs())
    for n in USERS:
        M = ss.Shuffle(ASYMMETRIC, n)
        eps = M.epsilon(_DELTA).upper
        delta, _ = milliseconds(M.delta, np.linspace(eps, 1.001 * eps, 8).tolist())
        fine, answer = milliseconds(lambda d, M=M: M.epsilon(d, rtol=1e-4), [_DELTA * (1 + i * 1e-4) for i in range(5)])
        each = f"delta {delta / pairs:6.2f} ms, epsilon {fine / pairs:7.1f} ms"
        print(f"{n:11} {answer}, width {answer.relative_width:.3%}, of each of {pairs} pairs: {each}", flush=True)


if __name__ == "__main__":
    columns = "delta  eps 1e-3  1e-4    width  blanket   alone: delta    eps   Algorithm 4"
    print(f"eps0 = 4, delta = 1e-6; milliseconds\n{'n':>11} {'eps':>10} {columns}")
    for name, randomizer in RANDOMIZERS.items():
        print(name)
        for users in USERS:
            warm(randomizer, users)
    print("3 x 3 matrix without symmetry")
    asymmetric()
    for name in ("BLH", "RAPPOR"):
        for count in (16, 100):
            print(f"{name:8} {rounds(RANDOMIZERS[name], count)}", flush=True)
