"""A hundred questions to two trees: whose ends are narrower, and who is faster.

``make battery BASE=<commit>`` compares the work tree with a commit. By hand:

    PYTHONPATH=<tree> python benchmarks/battery.py run before.json
    python benchmarks/battery.py diff before.json after.json

Each question is asked in a process of its own, so that nothing is known before, and is named by what is asked. *wider*
is a loss of sharpness relative to the upper end (the upper end up, or the lower one down), *narrower* a gain; times are
those of the processor.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

LIMIT = 120  # seconds for one question
NOTHING = 0.02  # seconds that no comparison of times counts
SHOWN = 1e-4  # change of an end, and below, that is not worth a line

MATRIX = "from_matrix([[.5, .2, .2, .1], [.2, .5, .1, .2], [.1, .2, .2, .5]])"

#: Randomizer, numbers of users, δ: ε of the mechanism.
EPSILONS = [
    ("KRR(10, 4)", (10, 1000, 10**4, 10**6, 10**9), "1e-6"),
    ("KRR(10, 4)", (10**4,), "1e-6, rtol=1e-6"),
    ("KRR(10, 4)", (10**4,), "1e-30"),
    ("BinaryRR(eps0=1)", (10, 1000, 10**5), "1e-6"),
    ("BinaryRR(eps0=4)", (10**4,), "1e-6"),
    ("BinaryRR(eps0=6)", (3000,), "1e-6"),
    ("KRR(3, 8)", (10**4, 10**5), "1e-6"),
    ("KRR(3, 8)", (10**6,), "1e-10"),
    ("KRR(10, 8)", (1000,), "1e-6"),
    ("KRR(10, 10)", (10**5,), "1e-6"),
    ("KRR(100, 6)", (10**5,), "1e-6"),
    ("OUE(10, 4)", (10**4,), "1e-6"),
    ("OUE(256, 2)", (10**4,), "1e-6"),
    ("OUE(10, 8)", (10**4,), "1e-6"),
    ("RAPPOR(10, 4)", (30, 300, 10**4), "1e-6"),
    ("RAPPOR(10, 4)", (10**4,), "1e-6, rtol=1e-5"),
    ("RAPPOR(10, 8)", (1000,), "1e-6"),
    ("BLH(16, 4)", (10**4,), "1e-6"),
    ("BLH(16, 2)", (10**6,), "1e-6"),
    ("OLH(10, 8, 4)", (10**4,), "1e-6"),
    ("SubsetSelection(10, 3, 4)", (10**4,), "1e-6"),
    ("HadamardResponse(16, 4)", (10**4,), "1e-6"),
    ("HadamardResponse(16, 4)", (100,), "1e-4"),
    ("HadamardResponse(16, 8)", (10**4,), "1e-6"),
    ("AnyRandomizer(eps0=1)", (10**4,), "1e-6"),
    ("AnyRandomizer(eps0=4)", (10**5,), "1e-6"),
    ("AnyRandomizer(eps0=8)", (10**6,), "1e-6"),
    ("DiscreteLaplace(8, 1)", (10**4,), "1e-6"),
    (MATRIX, (1000,), "1e-6"),
    ("Laplace(eps0=2)", (8, 40), "1e-2"),
    ("Laplace(eps0=2)", (1000, 10**4, 10**6), "1e-6"),
    ("Laplace(eps0=3)", (8,), "1e-3"),
    ("Laplace(eps0=4)", (10**4,), "1e-6"),
    ("Gaussian(sigma=1)", (20,), "1e-2"),
    ("Gaussian(sigma=1)", (1000, 10**4, 10**6), "1e-6"),
    ("Gaussian(sigma=.5)", (10**4,), "1e-6"),
    ("Gaussian(sigma=.3)", (10**5,), "1e-6"),
    ("Gaussian(sigma=.2)", (10**4,), "1e-6"),
    ("Logistic(eps0=1)", (10**4,), "1e-6"),
    ("ClippedGaussian(sigma=1)", (10**4,), "1e-6"),
    ("AsymmetricLaplace(1, 2)", (1000,), "1e-6"),
    ("TruncatedLaplace(eps0=2)", (1000,), "1e-6"),
    ("Staircase(eps0=2)", (10**4,), "1e-6"),
    ("PiecewiseMechanism(eps0=2)", (10**4,), "1e-6"),
    ("Sampled(Gaussian(sigma=1), .1)", (10**4,), "1e-6"),
    ("Sampled(KRR(10, 4), .1)", (10**5,), "1e-7"),
    ("Joint(KRR(3, 1), KRR(4, 1))", (10**4,), "1e-6"),
    ("Joint(Laplace(eps0=1), BinaryRR(eps0=1))", (10**4,), "1e-6"),
    ("Parallel([KRR(4, 1), BLH(4, 2)], [.5, .5])", (10**4,), "1e-6"),
]
#: δ, logarithms, exact values; rounds, Rényi; groups; what is asked the other way round.
OTHERS = f"""
Shuffle(KRR(10, 4), 10**4).delta(.2)
Shuffle(KRR(10, 4), 5).delta(1)
Shuffle(KRR(10, 4), 10**5).delta(.3)
Shuffle(KRR(3, 2), 4).delta(np.linspace(0, 1.9, 8))
Shuffle(BLH(16, 4), 100).delta(np.linspace(.1, 3, 12))
Shuffle(HadamardResponse(16, 4), 10**4).delta(.05)
Shuffle(HadamardResponse(16, 4), 20).delta(1)
Shuffle(Gaussian(sigma=1), 1000).delta([.05, .1, .3])
Shuffle(Laplace(eps0=2), 4).delta(.5)
Shuffle(blanket(BinaryRR(eps0=1)), 1000).delta(.2, rtol=1e-6)
Shuffle(blanket(KRR(3, 8)), 1000).delta(2)
Shuffle(blanket(KRR(10, 8)), 10**4).delta([.1, .5, 2, 5])
Shuffle(blanket(RAPPOR(10, 4)), 3).delta(1)
Shuffle(blanket(OLH(10, 8, 4)), 200).delta([2.5, 3.5])
Shuffle(blanket({MATRIX}, 0, 1), 50).delta([.1, .5], rtol=1e-8)
Shuffle(clones(4), 10**4).epsilon(1e-6)
Shuffle(KRR(3, 1), 10**6).log_delta(.2)
Shuffle(KRR(3, sp.log(3)), 5).exact(sp.Rational(6, 5))
Shuffle(blanket(BLH(4, sp.log(3))), 60).exact(sp.Rational(6, 5))
Shuffle(KRR(3, 1), 6).delta(.5, digits=30)
Shuffle(KRR(10, 4), 10**4).compose(16).epsilon(1e-6)
Shuffle(BLH(16, 4), 10**4).compose(16).epsilon(1e-6)
Shuffle(BinaryRR(eps0=1), 10**5).compose(1000).epsilon(1e-6)
Shuffle(OUE(256, 2), 10**4).compose(500).epsilon(1e-6)
Shuffle(Laplace(eps0=2), 10**4).compose(16).epsilon(1e-6)
Shuffle(Gaussian(sigma=1), 10**4).compose(16).epsilon(1e-6)
Shuffle(Sampled(KRR(10, 4), .01), 10**5).compose(100).epsilon(1e-7)
Shuffle(clones_koskela(2), 1000).compose(4).epsilon(1e-6)
compose([(Shuffle(KRR(4, 2), 1000), 4), (Shuffle(BinaryRR(eps0=1), 1000), 8)]).epsilon(1e-6)
Shuffle(KRR(4, 2), 1000).rdp([2, 8, 32])
Shuffle(HadamardResponse(16, 4), 1000).profile().delta(.5)
Shuffle([(KRR(10, 1), 30_000), (KRR(10, 3), 70_000)]).epsilon(1e-6)
Shuffle([(KRR(10, 1), 30_000), (KRR(10, 3), 70_000)]).compose(16).epsilon(1e-6)
Shuffle([(BinaryRR(eps0=1), 300), (BinaryRR(eps0=2), 300), (BinaryRR(eps0=4), 400)]).epsilon(1e-5)
Shuffle([(KRR(3, 1), 4), (KRR(3, 2), 4)]).epsilon(1e-2)
Shuffle([(OUE(8, 1), 5000), (BLH(8, 2), 5000)]).epsilon(1e-6)
Shuffle(KRR(10, 4), 1000).sampled_from(10**4).epsilon(1e-6)
calibrate(lambda eps0: KRR(10, eps0), 10**4, .2, 1e-6)
users_needed(RAPPOR(10, 2), .1, 1e-6)
users_needed(Gaussian(sigma=1), .05, 1e-6)
rounds_allowed(Shuffle(KRR(4, 2), 1000), 2, 1e-6)
float(len(Shuffle(RAPPOR(10, 2), 1000).analyses(delta=1e-6).rows))
"""


def questions() -> list[str]:
    asked = [f"Shuffle({R}, {n}).epsilon({delta})" for R, users, delta in EPSILONS for n in users]
    return [*asked, *OTHERS.strip().splitlines()]


def names() -> dict[str, Any]:
    """What a question may name."""
    import numpy as np
    import sympy as sp

    import shuffle_sym as ss

    rooms = (ss.randomizers, ss.decomposition, ss)
    return {"np": np, "sp": sp} | {name: getattr(room, name) for room in rooms for name in dir(room) if name[0] != "_"}


def ends(answer: Any) -> list[list[float]]:
    """The ends of all intervals in an answer."""
    if isinstance(answer, (list, tuple)):
        return [pair for part in answer for pair in ends(part)]
    return [[float(getattr(answer, side, answer)) for side in ("lower", "upper")]]


def asked_alone(question: str) -> dict[str, Any]:
    """The ends of an answer, or the error, and the seconds, from a process of its own."""
    read, write = os.pipe()
    if not (child := os.fork()):
        os.close(read)
        signal.alarm(LIMIT)
        warnings.simplefilter("ignore")
        known, start = names(), time.process_time()
        try:
            told = {"ends": ends(eval(question, known))}
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"[:200]}
        told["seconds"] = time.process_time() - start
        os.write(write, json.dumps(told).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as told_by_child:
        text = told_by_child.read()
    os.waitpid(child, 0)
    return dict(json.loads(text)) if text else {"error": f"no answer within {LIMIT} s", "seconds": float(LIMIT)}


def run(path: str) -> None:
    answers = {}
    for question in questions():
        answers[question] = told = asked_alone(question)
        shown = told.get("error") or " ".join(f"[{low:.6g}, {high:.6g}]" for low, high in told["ends"][:2])
        print(f"{told['seconds']:7.2f} s  {question}  {shown}", flush=True)
        Path(path).write_text(json.dumps(answers, indent=0))
    print(f"{sum(told['seconds'] for told in answers.values()):.1f} s for {len(answers)} questions")


def change(before: list[list[float]], after: list[list[float]]) -> tuple[float, float]:
    """How much wider and how much narrower, at most."""
    wider = narrower = 0.0
    for (low, high), (new_low, new_high) in zip(before, after, strict=True):
        scale = max(abs(high), 1e-300)
        wider = max(wider, (new_high - high) / scale, (low - new_low) / scale)
        narrower = max(narrower, (high - new_high) / scale, (new_low - low) / scale)
    return wider, narrower


def diff(before: str, after: str) -> None:
    old, new = (json.loads(Path(path).read_text()) for path in (before, after))
    both = [question for question in old if question in new]
    ratios, changes = [], [(0.0, 0.0)]
    for question in both:
        one, other = old[question], new[question]
        ratios.append((other["seconds"] + NOTHING) / (one["seconds"] + NOTHING))
        if "error" in one or "error" in other:
            if ("error" in one) != ("error" in other):
                print(f"{question}\n    {one.get('error', 'an answer')} -> {other.get('error', 'an answer')}")
            continue
        changes.append(change(one["ends"], other["ends"]))
        wider, narrower = changes[-1]
        if max(wider, narrower) > SHOWN or not 1 / 1.5 < ratios[-1] < 1.5:
            times = f"{one['seconds']:.2f} -> {other['seconds']:.2f} s"
            print(f"{question}\n    wider {wider:.1e}, narrower {narrower:.1e}, {times} ({ratios[-1]:.2f} times)")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    wider, narrower = (max(column) for column in zip(*changes, strict=True))
    print(f"{len(both)} questions: at most {wider:.1e} wider and {narrower:.1e} narrower; times {mean:.2f} in the mean")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    {"run": run, "diff": diff}[sys.argv[1]](*sys.argv[2:])
