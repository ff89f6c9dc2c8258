r"""Many rounds of a specific randomizer: how long, how wide, and what the clones would give.

The clones are composed from their exact outcomes; the specific randomizer from its profile, which has no enumeration.
"""

from __future__ import annotations

import time

import shuffle_sym as ss

ROUNDS, DELTA, N, EPS0 = (1, 4, 16, 64), 1e-6, 10_000, 4


def timed(call):
    start = time.perf_counter()
    return call(), time.perf_counter() - start


def main() -> None:
    clones = ss.Shuffle(ss.decomposition.clones(EPS0), N)
    for R in (ss.KRR(k=10, eps0=EPS0), ss.OUE(d=100, eps0=EPS0)):
        M, total = ss.Shuffle(R, N), 0.0
        print(f"{R!r}, n = {N}, delta = {DELTA:g}")
        for rounds in (*reversed(ROUNDS), 1000):
            answer, seconds = timed(lambda M=M, rounds=rounds: M.compose(rounds).epsilon(DELTA))
            total += seconds if rounds in ROUNDS else 0.0
            other = clones.compose(rounds).epsilon(DELTA)
            print(
                f"  {rounds:5} rounds: {answer} width {answer.relative_width:.1e} in {seconds:6.3f} s; "
                f"clones {other}, {other.lower / answer.upper:.2f} x"
            )
        print(f"  the first four together: {total:.2f} s")
        orders, seconds = timed(lambda M=M: M.rdp([2, 8, 32]))
        print(f"  Rényi, orders 2, 8, 32: {', '.join(map(str, orders))} in {seconds:.2f} s")


if __name__ == "__main__":
    main()
