r"""Many rounds of the clones pair: our accountant beside the published setting (L = 20, m = 10^7, losses rounded up).

The published side is Algorithm 1 of Koskela et al. 2021 as printed, without any certificate, with their tail cut. Real
FFTs instead of complex ones, one transform for all rounds, and ε read off cumulative sums are our gift to it.
"""

from __future__ import annotations

import math

import numpy as np
from measuring import measured

import shuffle_sym as ss

ROUNDS, DELTA = [1, 4, 16, 64], 1e-6


def published(n: int, eps0: int, L: float = 20.0, m: int = 10**7) -> list[float]:
    """ε at δ = 10^-6 after each number of rounds, losses rounded up."""
    losses = ss.accounting.ShuffledPLD(ss.decomposition.clones_koskela(eps0), n, tail=1e-12, cut="hoeffding").losses(
        1e-12
    )
    step = 2 * L / m
    law = np.zeros(m)
    for block in losses.blocks():
        places = np.ceil(block.losses / step).astype(np.int64) + m // 2
        np.add.at(law, np.clip(places, 0, m - 1), block.masses)
    transform = np.fft.rfft(np.roll(law, m // 2))
    answers = []
    s = (np.arange(m) - m // 2) * step
    for rounds in ROUNDS:
        composed = np.roll(np.fft.irfft(transform**rounds, m), m // 2)
        above = np.cumsum(composed[::-1])[::-1]
        weighted = np.cumsum((composed * np.exp(-s))[::-1])[::-1]
        deltas = above - np.exp(s) * weighted + 1 - (1 - losses.infinite - losses.neglected) ** rounds
        answers.append(float(s[m // 2 + int(np.argmax(deltas[m // 2 :] <= DELTA))]))
    return answers


def ours(n: int, eps0: int) -> list[ss.Interval]:
    pld = ss.accounting.ShuffledPLD(ss.decomposition.clones_koskela(eps0), n)
    return ss.FourierAccountant(pld).epsilon(DELTA, ROUNDS)


def main() -> None:
    for n, eps0, repeat in ((10**4, 4, 5), (10**6, 9, 5)):
        print(f"clones pair of Koskela et al., n = {n}, eps0 = {eps0}, delta = {DELTA:g}, rounds = {ROUNDS}")
        seconds, peak, answers = measured(lambda n=n, eps0=eps0: ours(n, eps0), repeat)
        slow, slow_peak, rounded = measured(lambda n=n, eps0=eps0: published(n, eps0), 1)
        print(f"  certified: {seconds:7.3f} s, peak {peak:6.1f} MB")
        print(f"  published: {slow:7.3f} s, peak {slow_peak:6.1f} MB: {slow / seconds:.0f} x the time")
        for rounds, interval, above in zip(ROUNDS, answers, rounded, strict=True):
            print(f"  {rounds:4} rounds: {interval} width {interval.relative_width:.1e}, published {above:.6f}")
    tiny = ss.FourierAccountant(ss.accounting.ShuffledPLD(ss.decomposition.clones_koskela(4), 10**4))
    seconds, _, answer = measured(lambda: tiny.delta(6.8, rounds=16, rtol=1e-4), 1)
    digits = -math.log10(answer.relative_width)
    print(f"16 rounds, eps = 6.8: delta = {answer} ({digits:.1f} digits) in {seconds:.2f} s")


if __name__ == "__main__":
    main()
