r"""Cases, one after the other: what was compared, what was wrong, refused or slow, and the file that remembers it."""

from __future__ import annotations

import json
import math
import os
import random
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from checks.fuzz.inputs import subject
from checks.fuzz.judges import notices
from checks.fuzz.questions import Item, Question, questions

SLOW = 30  # seconds of this process
_SHOWN = 20  # failures that are kept of each kind
_SMALLEST = 1e-300  # of a δ below which no width is promised (rounds: 1e-250)
_ALONE = 6  # arguments that are tried one by one when a list is refused
_FIRST, _MOST = 3, 400  # arguments of the first list, and of any
_LONG, _SHORT = 6.0, 0.1  # seconds, after which the other arguments of a question are left out, by what one costs
_CHEAP = 2e-3  # seconds for one argument


@dataclass
class Tally:
    """Counts by function and method, and examples of what went wrong, was refused or took long."""

    counts: dict[str, list[int]] = field(default_factory=dict)  # comparisons, substantive, planted, noticed
    failures: dict[str, list[str]] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, list[Any]] = field(default_factory=dict)  # how many, an example

    def add(self, other: Tally) -> None:
        """Everything of another tally as well."""
        for name, row in other.counts.items():
            mine = self.counts.setdefault(name, [0, 0, 0, 0])
            self.counts[name] = [x + y for x, y in zip(mine, row, strict=True)]
        for kind, lines in other.failures.items():
            self.failures[kind] = (self.failures.get(kind, []) + lines)[:_SHOWN]
        for kind, number in other.failed.items():
            self.failed[kind] = self.failed.get(kind, 0) + number
        for kind, (number, example) in other.refusals.items():
            known = self.refusals.setdefault(kind, [0, example])
            known[0] += number

    def fail(self, kind: str, line: str) -> None:
        """One more failure, as a line of Python that shows it."""
        self.failed[kind] = self.failed.get(kind, 0) + 1
        self.failures.setdefault(kind, []).append(line)

    @property
    def substantive(self) -> int:
        return sum(row[1] for row in self.counts.values())

    def __str__(self) -> str:
        lines = [f"{'function, method':32}{'comparisons':>13}{'substantive':>13}{'planted':>10}{'noticed':>10}"]
        total = [sum(column) for column in zip(*self.counts.values(), strict=True)] or [0] * 4
        for name, row in [*sorted(self.counts.items()), ("all", total)]:
            lines.append(f"{name:32}{row[0]:13,}{row[1]:13,}{row[2]:10,}{row[3]:10,}")
        lines += [f"{number:7,} x {kind}\n    {self.failures[kind][0]}" for kind, number in self.failed.items()]
        lines += ["refusals:"] if self.refusals else []
        for kind, (number, example) in sorted(self.refusals.items(), key=lambda entry: -entry[1][0]):
            lines.append(f"{number:7,} x {kind}\n    {example}")
        return "\n".join(lines)


class TooLongError(BaseException):
    """Not an Exception: nothing may catch it on the way."""


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def ask(question: Question, items: list[Item]) -> list[Any]:
    """The answers of the package; warnings are errors."""
    import sympy as sp

    import shuffle_sym as ss

    with warnings.catch_warnings(), _at_most(SLOW):
        warnings.simplefilter("error")
        answers: list[Any] = eval(question.text(items), {"ss": ss, "sp": sp})
        return answers


def compare(question: Question, tally: Tally, *, planted: bool = False) -> None:
    """Ask, judge and count: the first arguments, and the others as long as they do not take too long."""
    items, start, size, done = iter(question.items), time.process_time(), _FIRST, 0
    while chunk := list(islice(items, size)):
        _compare(question, chunk, tally, planted)
        done += len(chunk)
        took = time.process_time() - start
        left = (_LONG if took < _CHEAP * done else _SHORT) - took
        if left < 0:
            break
        size = min(max(int(done * left / max(took, 1e-3)), 1), 4 * size, _MOST)


def _compare(question: Question, items: list[Item], tally: Tally, planted: bool) -> None:
    """A list that is refused is asked again one by one; one that takes too long is not."""
    text = question.text(items)
    try:
        answers = ask(question, items)
    except TooLongError:
        tally.fail(f"{question.function} {question.method}: over {SLOW} s", text)
        return
    except ValueError as refusal:
        if len(items) > 1:
            for item in items[:_ALONE]:
                _compare(question, [item], tally, planted)
            return
        kind = f"{question.function} {question.method}: {_kind(refusal)}"
        tally.add(Tally(refusals={kind: [1, f"{text}  # {str(refusal)[:300]}"]}))
        return
    except Exception as error:
        if len(items) > 1:
            for item in items:
                _compare(question, [item], tally, planted)
            return
        tally.fail(f"{question.function} {question.method}: {type(error).__name__}", f"{text}  # {str(error)[:200]}")
        return
    row = tally.counts.setdefault(f"{question.function}, {question.method}", [0, 0, 0, 0])
    for item, answer in zip(items, answers, strict=True):
        _judge(question, item, answer, tally, row, planted)


def _judge(question: Question, item: Item, answer: Any, tally: Tally, row: list[int], planted: bool) -> None:
    lower, upper = answer.lower, answer.upper
    line = f"{question.text([item])}  # {answer!r}"
    row[0] += 1
    width = upper - lower if math.isfinite(lower) and math.isfinite(upper) else math.inf
    told = upper < math.inf and (width < abs(upper) or question.function in ("log_delta", "users_needed"))
    row[1] += item.substantive and told
    what = f"{question.function} {question.method}"
    if item.judge.low_wrong(lower):
        tally.fail(f"{what}: LOWER END ABOVE THE TRUTH", line)
    if item.judge.high_wrong(upper):
        tally.fail(f"{what}: UPPER END BELOW THE TRUTH", line)
    if upper > question.cap * (1 + 1e-14):
        tally.fail(f"{what}: above the largest value there is, {question.cap}", line)
    smallest = 1e-250 if question.function == "compose" else _SMALLEST
    if width > float(upper) * question.rtol * (1 + 1e-9) and upper > smallest:
        tally.fail(f"{what}: wider than rtol", line)
    if planted and question.sharp and item.substantive and told:
        down, up = notices(item.judge, lower, upper)
        row[2] += 2
        row[3] += down + up
        if not (down and up):
            tally.fail(f"{what}: shift not noticed ({'up' if down else 'down'})", line)


def _kind(refusal: Exception) -> str:
    """The message without its numbers."""
    text = re.sub(r"\[.*\]|\(.*\)|log\S*|sqrt\S*", "…", str(refusal))
    return re.sub(r"[-+]?\d[\d.,e+/-]*", "#", text)[:90]


def case(seed: int, number: int, only: str | None = None, *, planted: bool = False) -> Tally:
    """Everything about one subject; the same seed and number give the same case."""
    rng, tally = random.Random(f"{seed} {number}"), Tally()
    drawn = subject(rng)
    for question in questions(drawn, rng, only):
        compare(question, tally, planted=planted)
    return tally


# -- many of them


@dataclass
class State:
    """What has been done with one seed: cases up to ``next``, and ``ahead`` of it."""

    next: int = 0
    ahead: list[int] = field(default_factory=list)
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)

    def done(self, number: int, tally: Tally) -> None:
        self.tally.add(tally)
        self.ahead.append(number)
        while self.next in self.ahead:
            self.ahead.remove(self.next)
            self.next += 1


def load(path: Path, key: str) -> State:
    """What the file says about a run; a new one if it says nothing."""
    saved = json.loads(path.read_text()).get(key) if path.exists() else None
    if saved is None:
        return State()
    return State(saved["next"], saved["ahead"], saved["seconds"], Tally(**saved["tally"]))


def save(path: Path, key: str, state: State) -> None:
    """Replace the file at once, so that an interruption leaves the old one or the new one."""
    saved = json.loads(path.read_text()) if path.exists() else {}
    saved[key] = asdict(state)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(saved, indent=1))
    os.replace(temporary, path)


def run(
    state: State,
    seconds: float,
    processes: int,
    one: Callable[[int], Tally],
    keep: Callable[[], None],
) -> None:
    """Cases until the time is over; Ctrl-C ends it, and what was finished stays."""
    start, before, kept = time.monotonic(), state.seconds, time.monotonic()
    upcoming = (number for number in range(state.next, 10**12) if number not in set(state.ahead))
    running: dict[Future[Tally], int] = {}
    with ProcessPoolExecutor(processes) as pool:
        try:
            while True:
                while len(running) < 2 * processes and time.monotonic() - start < seconds:
                    number = next(upcoming)
                    running[pool.submit(one, number)] = number
                if not running:
                    break
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    state.done(running.pop(future), future.result())
                state.seconds = before + time.monotonic() - start
                if time.monotonic() - kept > 5:
                    keep()
                    kept = time.monotonic()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
        finally:
            keep()
