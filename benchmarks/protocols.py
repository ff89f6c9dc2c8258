r"""Protocols for many users: seconds and peak memory to randomise, shuffle and estimate, on one core.

Nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import numpy as np
from measuring import measured

import shuffle_sym as ss
from shuffle_sym.protocols import Frequencies, Histogram, Sum

ROWS = (
    (Histogram(1000, 0.01), 10**7),
    (Sum(60, 0.001), 10**7),
    (Frequencies(ss.HadamardResponse(K=1024, eps0=5)), 10**7),
    (Frequencies(ss.OUE(d=100, eps0=5)), 10**6),
    (Frequencies(ss.OLH(g=64, d=100, eps0=5)), 10**6),
)


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'protocol':>45} {'n':>10} {'s':>7} {'MB':>7}")
    for P, n in ROWS:
        values = rng.random(n) if isinstance(P, Sum) else rng.integers(0, P.inputs, n)
        seconds, peak, _ = measured(lambda P=P, values=values: P.run(values, np.random.default_rng(1)), 1)
        print(f"{P!r:>45} {n:>10} {seconds:7.2f} {peak:7.0f}")


if __name__ == "__main__":
    main()
