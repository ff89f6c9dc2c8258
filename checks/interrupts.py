r"""Interrupts at random moments of different questions: ``python -m checks.interrupts --moments 5 --seed 1``.

Each question is asked in a process of its own, which receives SIGINT after a random part of the time that the answer
takes. The interrupt has to come out as KeyboardInterrupt within a second, wall time; then the same objects, and new
ones, have to give the answer of a process that nobody interrupted. Where the second is over, the place is printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import flint
import numpy as np
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model.continuous import x, y

q = sp.Rational
PATIENCE = 1.0  # seconds between the signal and the exception
HANGS = 60.0  # seconds after which a process that does not answer is ended


class Question(NamedTuple):
    """What makes an object, which is kept after an interrupt, and what is asked of it."""

    make: Callable[[], Any]
    ask: Callable[[Any], Any]


def _table(d: int) -> list[list[sp.Rational]]:
    """A matrix without symmetry."""
    rows = [[1 + (3 * i + 5 * j * j + i * j) % 11 for j in range(d)] for i in range(d)]
    return [[q(entry, sum(row)) for entry in row] for row in rows]


def _krr(X: Any, rng: np.random.Generator) -> Any:
    return int(rng.integers(3)) if rng.random() < 0.5 else X


QUESTIONS: dict[str, Question] = {
    "noise, epsilon": Question(lambda: ss.Shuffle(ss.Laplace(eps0=2), 10_000), lambda M: M.epsilon(1e-6)),
    "noise, delta": Question(lambda: ss.Shuffle(ss.Gaussian(sigma=1), 1_000), lambda M: M.delta([0.05, 0.1])),
    "noise, rounds": Question(lambda: ss.Shuffle(ss.Laplace(eps0=1), 1_000).compose(10), lambda C: C.epsilon(1e-6)),
    "a logistic density": Question(
        lambda: ss.from_density(sp.exp(-(y - x)) / (1 + sp.exp(-(y - x))) ** 2, (0, 1)),
        lambda R: ss.Shuffle(R, 1_000).epsilon(1e-6),
    ),
    "a density of e^(-u^4)": Question(
        lambda: ss.from_density(2 * sp.exp(-((y - x) ** 4)) / sp.gamma(q(1, 4)), (0, 1)),
        lambda R: ss.Shuffle(R, 1_000).epsilon(1e-6),
    ),
    "an ordered density": Question(
        lambda: ss.from_density(sp.exp(x * y) * x / (sp.exp(x) - 1), (1, 2), (0, 1)),
        lambda R: ss.Shuffle(R, 1_000).epsilon(1e-6),
    ),
    "rounds of k-RR": Question(lambda: ss.Shuffle(ss.KRR(k=10, eps0=4), 1_000).compose(16), lambda C: C.epsilon(1e-6)),
    "rounds of different mechanisms": Question(
        lambda: ss.compose([(ss.Shuffle(ss.KRR(k=4, eps0=2), 500), 10), (ss.Shuffle(ss.BLH(d=4, eps0=1), 900), 4)]),
        lambda C: C.delta([0.1, 0.3]),
    ),
    "a matrix": Question(lambda: ss.Shuffle(ss.from_matrix(_table(6)), 300), lambda M: M.epsilon(1e-6)),
    "an exact sum": Question(lambda: ss.Shuffle(ss.KRR(k=4, eps0=sp.log(3)), 20), lambda M: M.exact(q(21, 20))),
    "an exact sum of a decomposition": Question(
        lambda: ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=10, eps0=sp.log(20))), 300),
        lambda M: M.exact(q(11, 10)),
    ),
    "digits": Question(lambda: ss.Shuffle(ss.KRR(k=3, eps0=4), 16), lambda M: M.delta(0.3, digits=20)),
    "digits of a decomposition": Question(
        lambda: ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=10, eps0=4)), 200_000),
        lambda D: D.delta(0.3, digits=20),
    ),
    "brute force": Question(lambda: ss.from_matrix(_table(4)), lambda R: ss.ground_truth.worst_pair(R, 14, q(6, 5))),
    "a sweep": Question(
        lambda: {"k": [2, 3, 5, 10, 20], "eps0": [1, 2, 4]},
        lambda grid: ss.sweep(lambda k, eps0: ss.Shuffle(ss.KRR(k, eps0), 900).epsilon(1e-6), grid, progress=False),
    ),
    "an audit of a sampler": Question(
        lambda: ss.KRR(k=3, eps0=1), lambda R: ss.empirical.local(_krr, R=R, most=20_000, seed=1)
    ),
    "calibrate": Question(lambda: 20_000, lambda n: ss.calibrate(lambda e: ss.KRR(k=10, eps0=e), n, 0.5, 1e-6)),
    "users needed": Question(lambda: ss.RAPPOR(d=8, eps0=4), lambda R: ss.users_needed(R, 0.3, 1e-6)),
    "a profile": Question(lambda: ss.Shuffle(ss.OLH(g=4, d=16, eps0=3), 2_000), lambda M: M.profile().epsilon(1e-5)),
    "Rényi divergences": Question(
        lambda: ss.Shuffle(ss.SubsetSelection(d=10, w=3, eps0=3), 500), lambda M: [M.rdp(order) for order in (2, 8)]
    ),
    "a derivation": Question(lambda: ss.papers.koskela2021, lambda paper: paper.lemma11()),
    "a table of G": Question(lambda: ss.SubsetSelection(), lambda R: ss.papers.su2025.gparv_table(R)),
    "sampled users": Question(lambda: ss.Shuffle(ss.Sampled(ss.KRR(4, 2), q(1, 10)), 2_000), lambda M: M.epsilon(1e-6)),
    "groups": Question(
        lambda: ss.Shuffle([(ss.KRR(k=3, eps0=1), 200), (ss.KRR(k=3, eps0=3), 300)]), lambda M: M.epsilon(1e-6)
    ),
}


def exactly(answer: Any) -> str:
    """An answer as a text that tells different ones apart; an interval shows six digits only."""
    if isinstance(answer, list):
        return ", ".join(map(exactly, answer))
    if isinstance(answer, Interval):
        return f"[{answer.lower!r}, {answer.upper!r}] {answer!r} {answer.lower_by} {answer.upper_by}"
    return str(answer)


def answers(question: Question, told: Connection) -> None:
    """What the process of a question does: it asks and, if that is interrupted, asks again, of old and new objects."""
    made: list[Any] = []

    def ask() -> str:
        if not made:
            made.append(question.make())
        return exactly(question.ask(made[0]))

    told.send("ready")
    try:
        answer = ask()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # It came too late.
    except BaseException as raised:  # of whatever type: that is what is examined
        ended = time.monotonic()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        told.send(("interrupted" if type(raised) is KeyboardInterrupt else f"WRONG {raised!r}", ended))
        precision = flint.ctx.prec
        answer = ask()
        made.clear()
        told.send((answer, ask(), precision))
    else:
        told.send(("answered", time.monotonic()))
        told.send((answer, answer, flint.ctx.prec))


def in_a_process(question: Question, moment: float | None, places: Path) -> tuple[str, float, Any]:
    """What came out, seconds since the signal (without a signal: since the start), and the answers."""
    ours, theirs = Pipe()
    child = os.fork()
    if not child:
        with places.open("w") as file:
            faulthandler.register(signal.SIGUSR1, file, all_threads=True)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                answers(question, theirs)
            except BaseException as raised:
                theirs.send(f"WRONG afterwards {raised!r}")
            os._exit(0)
    theirs.close()
    try:
        ours.recv()
        start = time.monotonic()
        if moment is not None and not ours.poll(moment):
            start = time.monotonic()
            os.kill(child, signal.SIGINT)
            if not ours.poll(PATIENCE):
                os.kill(child, signal.SIGUSR1)
        outcome, ended = ours.recv() if ours.poll(HANGS) else ("WRONG hangs", time.monotonic())
        after = ours.recv() if ours.poll(HANGS) else "WRONG hangs afterwards"
    except EOFError:
        outcome, ended, after = "WRONG died", time.monotonic(), None
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ours.close()
    return outcome, ended - start, after


def examined(name: str, moments: int, rng: random.Random) -> tuple[list[str], list[float]]:
    """What is wrong with one question, and how long it took each interrupt to come out."""
    wrong, waits = [], []
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / "places"
        _, lasts, fresh = in_a_process(QUESTIONS[name], None, places)
        for _ in range(moments):
            moment = 0.8 * lasts * rng.random()  # a process may be faster than the first
            outcome, waited, after = in_a_process(QUESTIONS[name], moment, places)
            said = f"{name}, after {moment:.3f} of {lasts:.3f} s"
            if outcome == "interrupted":
                waits.append(waited)
            elif outcome != "answered":
                wrong.append(f"{said}: {outcome}")
            if waited > PATIENCE and outcome == "interrupted":
                wrong.append(f"{said}: {waited:.2f} s until it ended\n{places.read_text()}")
            if not isinstance(after, tuple) or after[:2] != fresh[:2]:
                wrong.append(f"{said}: then {after!r} in place of {fresh!r}")
            elif after[2] != fresh[2]:
                wrong.append(f"{said}: then the precision of balls is {after[2]} bits, not {fresh[2]}")
    return wrong, waits


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--moments", type=int, default=5, help="of each question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of the names of the questions that are asked")
    given = parser.parse_args()
    rng, failed, count, longest = random.Random(given.seed), 0, 0, 0.0
    for name in QUESTIONS:
        if given.only in name:
            wrong, waits = examined(name, given.moments, rng)
            print(f"{name}: {len(waits)} interrupts, the longest wait {max(waits, default=0):.3f} s", flush=True)
            print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
            failed, count, longest = failed + len(wrong), count + len(waits), max([longest, *waits])
    print(f"{count} interrupts, the longest wait {longest:.3f} s; {failed} failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
