r"""Brute force over all neighbouring datasets at 20 values of α: CPU seconds.

The first rows are the sizes that were asked for, the others how far a minute or so reaches. Nothing is asserted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

import time

import sympy as sp

import shuffle_sym as ss
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.ground_truth import Divergences, Search, histogram_count

t3 = sp.log(3)
ROWS = (
    (ss.KRR(k=3, eps0=t3), 12),
    (ss.KRR(k=4, eps0=t3), 8),
    (ss.RAPPOR(d=3, eps0=2 * sp.log(2)), 5),
    (ss.OUE(d=3, eps0=t3), 5),
    (ss.BLH(d=3, eps0=t3), 4),
    (ss.KRR(k=3, eps0=1), 12),
    (ss.KRR(k=3, eps0=t3), 60),
    (ss.KRR(k=4, eps0=t3), 22),
    (ss.RAPPOR(d=3, eps0=2 * sp.log(2)), 12),
    (ss.OUE(d=3, eps0=t3), 12),
    (ss.BLH(d=3, eps0=t3), 14),
    (ss.HadamardResponse(K=8, eps0=t3), 8),
)


def main() -> None:
    print(f"{'randomizer':>40} {'n':>4} {'kinds':>6} {'histograms':>11} {'CPU s':>8}")
    for R, n in ROWS:
        alphas = [1 + sp.Rational(i, 20) * (sp.Rational(str(sp.N(sp.exp(R.eps0), 6))) - 1) for i in range(20)]
        width = Search(R, 1, [sp.Integer(1)], 50, Divergences).messages.width
        start = time.process_time()
        ground_truth.worst_pairs(R, n, alphas)
        seconds = time.process_time() - start
        print(f"{R!r:>40} {n:>4} {width:>6} {histogram_count(n, width):>11} {seconds:8.2f}", flush=True)


if __name__ == "__main__":
    main()
