r"""Every question to every randomizer of the catalogue, at random levels, far out: nothing may break.

    python -W error -m checks.corners [--minutes 10] [--seed 0] [--seconds 60]

ε0 from 0.01 to 100, n from 1 to 10^12, δ from 1e-300 to 0.99. An answer is an interval of two numbers in order, δ at
most 1, ε at most ε0 (rounds: as many times); a refusal is a ValueError or TypeError with a sentence. Whatever else
happens is printed with the call; so is what takes longer than so many seconds.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import shuffle_sym as ss
from shuffle_sym.algebra.interval import Interval

MAKERS: dict[str, Callable[[float], Any]] = {
    "BinaryRR": lambda e: ss.BinaryRR(eps0=e),
    "KRR3": lambda e: ss.KRR(k=3, eps0=e),
    "KRR10": lambda e: ss.KRR(k=10, eps0=e),
    "Subset": lambda e: ss.SubsetSelection(d=10, w=3, eps0=e),
    "RAPPOR": lambda e: ss.RAPPOR(d=8, eps0=e),
    "OUE": lambda e: ss.OUE(d=8, eps0=e),
    "BLH": lambda e: ss.BLH(d=16, eps0=e),
    "OLH": lambda e: ss.OLH(g=4, d=16, eps0=e),
    "Hadamard": lambda e: ss.HadamardResponse(K=8, eps0=e),
    "Laplace": lambda e: ss.Laplace(eps0=e),
    "Any": lambda e: ss.AnyRandomizer(eps0=e),
    "clones": lambda e: ss.decomposition.clones(e),
    "blanket": lambda e: ss.decomposition.blanket(ss.KRR(k=4, eps0=e)),
}


class TooSlowError(Exception):
    """What a call is ended by."""


def questions(
    rng: random.Random, make: Callable[[float], Any], eps0: float, n: int
) -> dict[str, tuple[Callable[[], Any], float]]:
    """What is asked, and the largest number that an answer may have."""
    eps, delta = rng.choice([0, eps0 * rng.random(), 10 ** rng.uniform(-4, 2)]), _delta(rng)
    rounds, order = rng.choice([1, 2, 5, 30]), rng.choice([1.5, 2, 8, 64])
    M = ss.Shuffle(make(eps0), n)
    top = eps0 * (1 + 1e-15)
    return {
        f"delta({eps})": (lambda: M.delta(eps), 1.0),
        f"delta({eps}, digits=5)": (lambda: M.delta(eps, digits=5), 1.0),
        f"epsilon({delta})": (lambda: M.epsilon(delta), top),
        f"log_delta({eps})": (lambda: M.log_delta(eps), 0.0),
        f"compose({rounds}).epsilon({delta})": (lambda: M.compose(rounds).epsilon(delta), rounds * top),
        f"compose({rounds}).delta({eps})": (lambda: M.compose(rounds).delta(eps), 1.0),
        f"rdp({order})": (lambda: M.rdp(order), top),
        f"profile(least_delta={delta}).delta({eps})": (
            lambda: M.profile(least_delta=delta, rtol=0.01).delta(eps), 1.0),
        f"calibrate({n}, {eps}, {delta})": (lambda: ss.calibrate(make, n, eps, delta, rtol=0.01), math.inf),
        f"users_needed({eps}, {delta})": (lambda: ss.users_needed(make(eps0), eps, delta, rtol=0.01), math.inf),
    }  # fmt: skip


def _delta(rng: random.Random) -> float:
    return rng.choice([10 ** rng.uniform(-300, -0.01), 10 ** rng.uniform(-12, -1), rng.uniform(0.1, 0.99)])


def verdict(ask: Callable[[], Any], most: float, seconds: int) -> str:
    """Answered, refused, slow, or what is wrong."""

    def stop(*_: Any) -> None:
        raise TooSlowError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of this process: other work on the machine does not count
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer = ask()
    except TooSlowError:
        return "slow"
    except (ValueError, TypeError) as refusal:
        words = str(refusal)
        return (
            f"refused {words}" if len(words.split()) >= 6 and "math domain" not in words else f"WRONG words: {words!r}"
        )
    except Exception as error:
        return f"WRONG {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    lower, upper = (answer.lower, answer.upper) if isinstance(answer, Interval) else (float(x) for x in answer)
    fine = lower <= upper <= most or (math.isinf(most) and lower <= upper)
    return "answered" if fine else f"WRONG ends {answer!r}, at most {most!r}"


def main() -> int:
    """Random questions for so many minutes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=60, help="after which a call is ended")
    options = parser.parse_args()
    rng, until, tally = random.Random(options.seed), time.time() + 60 * options.minutes, Counter[tuple[str, str]]()
    while time.time() < until:
        name = rng.choice(sorted(MAKERS))
        eps0 = rng.choice([rng.uniform(0.01, 8), 10 ** rng.uniform(-2, 2), float(rng.randint(1, 100))])
        n = rng.choice([rng.randint(1, 12), int(10 ** rng.uniform(0, 12))])
        asked = questions(rng, MAKERS[name], eps0, n)
        for call in rng.sample(sorted(asked), 3):
            start = time.process_time()
            ask, most = asked[call]
            answer = verdict(ask, most, options.seconds)
            took = time.process_time() - start
            kind = answer.split()[0]
            tally[call.split("(")[0], kind] += 1
            if kind in ("WRONG", "slow", "refused") or took > options.seconds / 3:
                print(f"{name} eps0={eps0!r} n={n} {call}: {answer} ({took:.1f} s)", flush=True)
    for (question, kind), count in sorted(tally.items()):
        print(f"{count:6}  {question}: {kind}")
    return 1 if any(kind == "WRONG" for _, kind in tally) else 0


if __name__ == "__main__":
    raise SystemExit(main())
