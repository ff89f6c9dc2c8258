r"""ε of the clones by the numerical method of Feldman et al. 2020 beside the certified binomial tails, in one run.

The published method has arrays here in place of its loop over C. Speed is a ratio inside one run: machines are noisy,
so nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core; before NumPy is imported

from functools import partial

from measuring import measured

import shuffle_sym as ss

DELTA = 1e-6


def main() -> None:
    print(f"epsilon of the clones at delta = {DELTA:g}")
    print(f"{'eps0':>5} {'n':>10} {'method':>12} {'ms':>9} {'ratio':>8} {'width':>8}  ends")
    for eps0, n, repeat in ((0.1, 10**4, 5), (4, 10**4, 5), (4, 10**6, 5), (1, 10**8, 1)):
        M = ss.Shuffle(ss.decomposition.clones(eps0), n)
        ours, _, answer = measured(lambda M=M: M.epsilon(DELTA), repeat)
        row = f"{eps0:5} {n:10} {'certified':>12} {ours * 1e3:9.2f} {1:7.1f}x"
        print(f"{row} {answer.relative_width:8.1e}  {answer.lower:.6g} … {answer.upper:.6g}")
        for step in (8, 64):
            ask = partial(ss.papers.feldman2020.numerical_epsilon, eps0, n, DELTA, step=step)
            seconds, _, (lower, upper) = measured(ask, repeat)
            row = f"{eps0:5} {n:10} {f'blocks of {step}':>12} {seconds * 1e3:9.2f} {seconds / ours:7.1f}x"
            print(f"{row} {1 - lower / upper:8.1e}  {lower:.6g} … {upper:.6g}")


if __name__ == "__main__":
    main()
