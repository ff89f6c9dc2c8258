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


def many_rounds(k: int, eps0: float, n: int, rounds: int) -> ss.Interval:
    """ε at δ = 10^-6 of k-RR, profile and rounds, from nothing."""
    return ss.Shuffle(ss.KRR(k=k, eps0=eps0), n).compose(rounds).epsilon(DELTA)


def on_a_grid(pld: object, eps: float, rounds: int, reach: float, rtol: float) -> tuple[ss.Interval, int]:
    """δ on the coarsest grid [−reach, reach) that gives the width, and its number of points."""
    m = 2**12
    while (answer := ss.FourierAccountant(pld, reach, m).delta(eps, rounds)).relative_width > rtol and m < 2**23:
        m *= 2
    return answer, m


def line_against_grid() -> None:
    """One δ of many rounds of one profile, along a line and on a grid with split losses."""
    pld = ss.Shuffle(ss.KRR(k=10, eps0=4), 10**4).profile(rtol=1e-3).as_pld()
    for rounds, eps, reach in ((100, 4.6, 12.0), (2_000, 28.6, 60.0)):
        _, m = on_a_grid(pld, eps, rounds, reach, 1e-3)
        slow, slow_peak, _ = measured(
            lambda e=eps, r=rounds, L=reach, m=m: ss.FourierAccountant(pld, L, m).delta(e, r), 1
        )
        seconds, peak, answer = measured(lambda e=eps, r=rounds: ss.FourierAccountant(pld).delta(e, r), 5)
        print(
            f"10-RR, delta of {rounds} rounds: {seconds:.3f} s, peak {peak:.1f} MB, width {answer.relative_width:.1e};"
            f" on a grid of {m} points {slow:.3f} s, {slow_peak:.1f} MB: {slow / seconds:.0f} x the time"
        )


def main() -> None:
    line_against_grid()
    for k, eps0, n, rounds in (
        (10, 4, 10**4, 10**4),
        (10, 1, 10**6, 10**6),
        (2, 0.5, 10**6, 10**5),
        (10, 4, 10**4, 10**6),
    ):
        seconds, peak, answer = measured(lambda a=(k, eps0, n, rounds): many_rounds(*a), 1)
        print(f"{k}-RR, eps0 = {eps0}, n = {n}, {rounds} rounds: {answer} in {seconds:.2f} s, peak {peak:.1f} MB")
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
