r"""Time, peak memory and width of the mean-preserving lattice beside the published algorithm, in one run.

Speed is a ratio inside one run: machines are noisy, so nothing here is asserted and nothing is kept.
"""

from __future__ import annotations

import sympy as sp
from measuring import measured

import shuffle_sym as ss
from shuffle_sym.papers.su2025 import algorithm4
from shuffle_sym.truth import ground_truth

EPS = {1_000: 0.7, 10_000: 0.2}


def accountants() -> None:
    print("10-RR, eps0 = 4: one certified delta of the blanket")
    print(f"{'n':>8} {'eps':>5} {'method':>14} {'seconds':>9} {'ratio':>7} {'peak MB':>8} {'width':>9}  lower … upper")
    for n, eps in EPS.items():
        D, fastest = ss.decomposition.blanket(ss.KRR(k=10, eps0=4)), None
        M = ss.Shuffle(D, n)
        ways = {
            "fft": (lambda M=M, eps=eps: M.delta(eps, method="fft"), 9),
            "Algorithm 4": (lambda D=D, n=n, eps=eps: algorithm4(D, n, eps), 3),
        }
        for method, (ask, repeat) in ways.items():
            seconds, peak, answer = measured(ask, repeat)
            fastest = fastest or seconds
            print(
                f"{n:8} {eps:5} {method:>14} {seconds:9.4f} {seconds / fastest:6.1f}x {peak:8.1f} "
                f"{answer.relative_width:9.2e}  {answer.lower:.6e} … {answer.upper:.6e}"
            )
        seconds, _, answer = measured(lambda M=M: M.epsilon(1e-6), 3)
        print(f"{n:8} epsilon(1e-6) in {seconds:.3f} s: [{answer.lower:.6f}, {answer.upper:.6f}]")


def exact_values() -> None:
    R, alpha = ss.KRR(k=3, eps0=sp.log(3)), sp.Rational(6, 5)
    seconds, _, value = measured(lambda: ss.Shuffle(ss.decomposition.blanket(R), 60).exact(alpha), 3)
    print(f"exact fraction, 3-RR, t = 3, n = 60, alpha = 6/5: {seconds:.3f} s ({float(value):.6e})")
    seconds, _, pair = measured(lambda: ground_truth.worst_pair(R, 6, alpha), 3)
    print(f"worst_pair, 3-RR, n = 6: {seconds:.3f} s ({pair})")


if __name__ == "__main__":
    accountants()
    exact_values()
