r"""Sound implementations by the thousand: how often does an audit say something against one?

    python -m checks.empirical [--audits 1000]

Each audit has the level β; the number of wrong words is compared with the binomial law of that rate. A second table
says how soon broken ones are convicted.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tqdm.auto import tqdm

import shuffle_sym as ss
from shuffle_sym.protocols.empirical.statistics import at_least

BETA = 0.05
_NEVER = 1e-6  # a sound audit gives so many wrong words with less than this probability


def krr(k: int, eps0: float) -> Callable[[Any, np.random.Generator], int]:
    """k-RR as people write it."""
    gamma = k / (k + math.exp(eps0) - 1)
    return lambda x, rng: int(rng.integers(k)) if rng.random() < gamma else int(x)


def oue(d: int, q: float) -> Callable[[Any, np.random.Generator], Any]:
    """OUE in which other bits are set with probability q."""

    def draw(x: Any, rng: np.random.Generator) -> Any:
        bits = rng.random(d) < q
        bits[x] = rng.random() < 0.5
        return bits.astype(np.int8)

    return draw


def pipeline(k: int, gamma: float) -> Callable[[Any, np.random.Generator], Any]:
    """Users of k-RR with the noise γ, shuffled."""
    return lambda X, rng: rng.permutation(np.where(rng.random(len(X)) < gamma, rng.integers(0, k, len(X)), X))


def local_wrong(seed: int) -> bool:
    """A sound 2-, 3- or 10-RR or OUE; is anything said against it?"""
    kind = seed % 4
    R: Any = ss.OUE(4, 1) if kind == 3 else ss.KRR((2, 3, 10)[kind], 1)
    sample = oue(4, 1 / (math.e + 1)) if kind == 3 else krr((2, 3, 10)[kind], 1)
    audit = ss.empirical.local(sample, R=R, beta=BETA, most=6_000, seed=seed)
    return audit.convicted or not audit.consistent


def unknown_wrong(seed: int) -> bool:
    """Messages of two equal laws over many messages, without a randomizer."""
    rng = np.random.default_rng(seed)
    return ss.empirical.local(*rng.integers(0, 50, (2, 1_000)), eps0=0, beta=BETA, seed=seed).convicted


def shuffled_wrong(seed: int) -> bool:
    """A sound pipeline of 20 users of 2-RR."""
    R = ss.BinaryRR(1)
    run = pipeline(2, float(R.gamma))
    return ss.empirical.shuffled(run, R, 20, delta=0.05, beta=BETA, most=1_600, seed=seed).convicted


def needed(name: str, audit: Callable[[int], Any], count: Callable[[Any], int]) -> str:
    """How soon broken implementations are convicted, over ten seeds."""
    audits = [audit(seed) for seed in range(10)]
    sizes = [count(a) for a in audits if a.convicted]
    return f"{name}: convicted {len(sizes)} of 10, samples of each law: {sorted(sizes)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=1000)
    audits = parser.parse_args().audits
    failed = False
    for name, wrong in (("one user", local_wrong), ("no randomizer", unknown_wrong), ("shuffled", shuffled_wrong)):
        count = sum(wrong(seed) for seed in tqdm(range(audits), desc=name))
        chance = at_least(count, audits, BETA)
        failed |= chance < _NEVER
        print(f"{name}: {count} of {audits:,} sound implementations accused, beta = {BETA}", flush=True)
    for k in (2, 10, 100):
        R = ss.KRR(k, 1)
        print(needed(f"{k}-RR with eps0 = 1.2 for 1", _local(krr(k, 1.2), R), lambda a: a.sizes[0]), flush=True)
    R2 = ss.BinaryRR(1)
    broken = pipeline(2, float(R2.gamma) / 2)
    for n in (20, 100, 400):
        name = f"{n} users of 2-RR with half the noise"
        print(needed(name, _shuffled(broken, R2, n), lambda a: a.runs), flush=True)
    return int(failed)


def _local(sample: Any, R: Any) -> Callable[[int], Any]:
    return lambda seed: ss.empirical.local(sample, R=R, seed=seed)


def _shuffled(run: Any, R: Any, n: int) -> Callable[[int], Any]:
    return lambda seed: ss.empirical.shuffled(run, R, n, seed=seed, most=100_000)


if __name__ == "__main__":
    raise SystemExit(main())
