r"""Which errors in the code would the tests notice? Mutants of numeric/, truth/ and accounting/, weighted to rounding.

    python -m checks.mutants [--module numeric/contour] [--count 240] [--seed 0] [--processes 1] [--out FILE]

A mutant is the package with one expression changed: a comparison, a sign, a term or a factor dropped, min for max, up
for down, a rounding error set to 0. Each one runs the tests that reach its line, shortest first; what no test notices
is listed, with the reason if `checks/mutants.toml` knows that nobody can see it. A test that fails without any change
notices nothing: it is named and left out. No file is changed: pytest collects the tests once, then each mutant is a
fork of that process with one function replaced.
"""

from __future__ import annotations

import argparse
import gc
import inspect
import json
import math
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from itertools import accumulate, pairwise, zip_longest
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from tqdm.auto import tqdm

from checks.changes import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "shuffle_sym"
ROOMS = ("numeric", "truth", "accounting")
TESTS = [f"{folder}/{room}" for room in ROOMS for folder in ("tests", PACKAGE)]
KNOWN = Path(__file__).with_suffix(".toml")
_OPTIONS = ["-s", "--assert=plain", "--hypothesis-profile=mutants", "-o", "addopts=--doctest-modules"]
_OPTIONS += [f"-pno:{plugin}" for plugin in ("cacheprovider", "nbmake", "xdist", "terminal")]
_OPTIONS += ["--ignore=tests/accounting/test_threads.py"]  # it starts processes, which a child may not
_FOLDERS = tuple(f"{ROOT / PACKAGE / room}{os.sep}" for room in ROOMS)
_MEMORY = 6 * 2**30


def chosen(modules: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """So many mutants of these files (none: of all): as many of each room, and as many of each file of a room."""
    queues: dict[str, list[list[Mutant]]] = defaultdict(list)
    for path in sorted(path for room in ROOMS for path in (ROOT / PACKAGE / room).rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if not modules or file.removeprefix(f"{PACKAGE}/").removesuffix(".py") in modules:
            mutants = sorted(mutants_of(file, path.read_text()), key=lambda m: m.place(seed))
            queues[file.split("/")[1]].append(mutants)
    # All first ones of a room's files, all second ones, …; then the rooms in turn
    rows = [zip_longest(*files) for files in queues.values()]
    rooms = [[mutant for row in room for mutant in row if mutant] for room in rows]
    return [mutant for row in zip_longest(*rooms) for mutant in row if mutant][:count]


class Noticing:
    """For pytest: which test failed first; and, while traced, the functions that each test calls and its time."""

    def __init__(self) -> None:
        self.failed, self.calls = "", set[tuple[str, str]]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def traced(self, item: pytest.Item, longest: float, ended: Callable[[dict[str, list[str]]], None]) -> Any:
        """Processor time of a test and the functions, by file; ``ended`` gets those of a long one."""
        self.calls, start = set(), time.process_time()
        signal.signal(signal.SIGPROF, lambda *_: ended(self._called()))
        signal.setitimer(signal.ITIMER_PROF, longest)
        sys.settrace(self._call)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return time.process_time() - start, self._called()

    def _called(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = defaultdict(list)
        for file, name in sorted(self.calls):
            names[Path(file).relative_to(ROOT).as_posix()].append(name)
        return names

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code  # no lines: that would take several times as long
        if code.co_filename.startswith(_FOLDERS):
            self.calls.add((code.co_filename, code.co_qualname))


def _in_child(job: Callable[[Callable[[Any], None]], None], seconds: float) -> Any:
    """What a function answers in a process of its own; None if it takes more processor time, or much more time."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (most := math.ceil(seconds + time.process_time()), most))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

        def answer(value: Any) -> None:
            sending.send(value)
            os._exit(0)

        job(answer)

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    sending.close()
    try:
        return receiving.recv() if receiving.poll(20 * seconds) else None
    except EOFError:  # the process died
        child.join()
        return None if child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL) else "crash"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()


def _patch(mutant: Mutant) -> None:
    """Changes the package that is loaded: the code of the function, or the constants that the file defines."""
    path = ROOT / mutant.file
    name = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    source = path.read_bytes()
    before, after = (compile(text, str(path), "exec") for text in (source, mutant.applied(source)))
    pairs = zip(_functions(before), _functions(after), strict=True)
    changed = {(old.co_qualname, old.co_firstlineno): new for old, new in pairs if old != new}
    for function in [f for f in gc.get_objects() if isinstance(f, FunctionType) and f.__module__ == name]:
        if new := changed.get((function.__code__.co_qualname, function.__code__.co_firstlineno)):
            function.__code__ = new
    if mutant.function:
        return
    again = ModuleType(name)
    again.__file__ = str(path)
    exec(after, again.__dict__)
    for key, value in vars(sys.modules[name]).items():
        if isinstance(value, (int, float, complex, tuple)) and again.__dict__[key] != value:
            for module in [m for m in sys.modules.values() if getattr(m, "__name__", "").startswith(PACKAGE)]:
                if vars(module).get(key) is value:
                    setattr(module, key, again.__dict__[key])


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes, not those inside functions."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & inspect.CO_NEWLOCALS:
                yield inner
            else:
                yield from _functions(inner)


def _reaching(mutant: Mutant, coverage: dict[str, Any], seconds: float) -> list[str]:
    """Tests that call the function, those of the same name and room first, short ones first, for so many seconds.

    What runs when the file is imported is reached by every test that reaches anything in the file.
    """
    called = {name: names.get(mutant.file, []) for name, (_, names) in coverage.items()}
    tests = [name for name, names in called.items() if mutant.function in names]
    tests = tests or [name for name, names in called.items() if names]
    room, stem = mutant.file.split("/")[1], Path(mutant.file).stem

    def near(name: str) -> float:
        return float(coverage[name][0]) * (1 if stem in name else 2 if f"/{room}/" in name else 4)

    tests.sort(key=near)
    spent = accumulate(coverage[name][0] for name in tests)
    return [name for name, time_so_far in zip(tests, spent, strict=True) if time_so_far <= seconds] or tests[:1]


def _answer_also(answer: Callable[[Any], None], found: dict[str, Any], name: str, names: dict[str, list[str]]) -> None:
    answer({**found, name: (math.inf, names)})


def _likely(mutant: Mutant, items: dict[str, pytest.Item], texts: dict[str, str]) -> list[str]:
    """Tests in the order in which they are likely to notice it: of the file itself, of its name, those that import it,
    those of its room; those that name the function or its class sooner, and first a few cases of each."""
    room, stem = mutant.file.split("/")[1], Path(mutant.file).stem
    imported = re.compile(rf"import\b.*\b{stem}\b|from .*\b{stem} import|^    {stem},$", re.MULTILINE)
    names = [name for name in mutant.function.split(".") if name.isidentifier() and not name.startswith("__")]
    named = re.compile(rf"\b({'|'.join(names)})\b") if names else None

    def rank(file: str) -> int:
        by_name = 0 if file == mutant.file else 1 if stem.split("_")[0] in Path(file).stem else 4
        return min(by_name, 2 if imported.search(texts[file]) else 3 if f"/{room}/" in file else 4)

    ranks, seen = {file: rank(file) for file in texts}, Counter[str]()
    order = {}
    for name in items:
        seen[function := name.split("[")[0]] += 1
        sooner = 1.5 if named and named.search(_text(items[name])) else 0
        order[name] = ranks[_file(name)] - sooner + (0 if seen[function] <= 3 else 2), seen[function]
    return sorted((name for name in items if order[name][0] < 6), key=order.__getitem__)


def _file(name: str) -> str:
    return name.split("::")[0]


@cache
def _text(item: pytest.Item) -> str:
    """The source of a test; of an example in a docstring nothing."""
    return inspect.getsource(item.function) if isinstance(item, pytest.Function) else ""


class Runner:
    """Runs in place of the tests, when pytest has collected them; every mutant gets a process of its own."""

    def __init__(self, run: Callable[[Runner], None]) -> None:
        self.run, self.noticing = run, Noticing()
        self.passes: dict[str, bool] = {}  # without any change

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        session.config.pluginmanager.register(self.noticing)
        self.items = {item.nodeid: item for item in session.items}
        self.run(self)
        return True

    def coverage(self, longest: float) -> dict[str, Any]:
        """For each test its time, infinite if it was ended, and the functions that it calls, as the first case does."""
        first = {name.split("[")[0]: name for name in reversed(self.items)}
        known: dict[str, Any] = {}

        def run(answer: Callable[[Any], None]) -> None:
            found: dict[str, Any] = {}
            for name in [name for name in first.values() if name not in known]:
                item = self.items[name]
                end = partial(_answer_also, answer, found, name)
                found[name] = self.noticing.traced(item, longest, end)
                if len(found) == 20:
                    break
            answer(found)

        with tqdm(total=len(first), desc="which test calls what") as bar:
            while len(known) < len(first):
                known |= _in_child(run, 36_000.0)
                bar.update(len(known) - bar.n)
        return {name: known[first[name.split("[")[0]]] for name in self.items}

    def result(self, mutant: Mutant, tests: list[str], seconds: float, ends: bool) -> tuple[str, str]:
        """Killed, timeout or survived, and the test that did it; ``ends`` says that a test is ended after the seconds,
        and then nobody knows whether it would have noticed."""
        while tests:
            failed = self.first_failed(tests, seconds, ends, mutant)
            if failed is None:
                return "timeout", ""
            if not failed:
                break
            if failed not in self.passes and failed in self.items:
                self.passes[failed] = not self.first_failed([failed], math.inf, False)
                if not self.passes[failed]:
                    tqdm.write(f"fails without any change: {failed}", file=sys.stdout)
            if self.passes.get(failed, True):
                return "killed", failed
            tests = [name for name in tests if name != failed]
        return "survived", f"{len(tests)} tests"

    def first_failed(self, tests: list[str], seconds: float, ends: bool, mutant: Mutant | None = None) -> str | None:
        """The first test that fails, with the change or without any; None if they take much too long."""

        def run(answer: Callable[[Any], None]) -> None:
            try:
                if mutant:
                    _patch(mutant)
            except Exception as error:
                answer("a bug of this file" if mutant and mutant.function else f"import: {error!r}")
            start = time.process_time()
            if ends:  # in the middle of a test, which may be a long one
                signal.signal(signal.SIGPROF, lambda *_: answer(""))
                signal.setitimer(signal.ITIMER_PROF, seconds)
            for name, after in pairwise([*tests, ""]):
                item = self.items[name]
                if time.process_time() - start > seconds:
                    break
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items.get(after))
                if self.noticing.failed:
                    break
            answer(self.noticing.failed)

        failed: str | None = _in_child(run, 20 + 5 * min(seconds, 600.0))
        return failed


def reason(mutant: Mutant) -> str | None:
    """Why this mutant may survive, if that is known."""
    for entry in tomllib.loads(KNOWN.read_text())["survivor"]:
        if (entry["file"], entry["line"]) == (mutant.file, mutant.text) and mutant.after in entry["after"]:
            return str(entry["reason"])
    return None


def results(runner: Runner, mutants: Sequence[Mutant], options: argparse.Namespace) -> Iterator[list[str]]:
    """For each mutant its file, line, change, verdict and the test that noticed it or the reason why none does."""
    kept, seconds = options.coverage, options.seconds
    if options.quick:
        texts = {file: Path(file).read_text() for file in set(map(_file, runner.items))}
        tests_of = partial(_likely, items=runner.items, texts=texts)
    else:
        coverage = json.loads(kept.read_text()) if kept and kept.exists() else runner.coverage(seconds / 8)
        if kept:
            kept.write_text(json.dumps(coverage))
        known = {name: reached for name, reached in coverage.items() if name in runner.items}
        tests_of = partial(_reaching, coverage=known, seconds=seconds)
    with ThreadPoolExecutor(options.processes) as pool:
        jobs = [pool.submit(runner.result, m, tests_of(m), seconds, options.quick) for m in mutants]
        for mutant, job in zip(mutants, tqdm(jobs, desc="mutants"), strict=True):
            verdict, test = job.result()
            why = reason(mutant) if verdict == "survived" else None
            if verdict != "killed":
                tqdm.write(f"{verdict}: {mutant} ({mutant.kind}; {why or test})", file=sys.stdout)
            yield [mutant.file, mutant.text, mutant.after, f"{verdict}, known" if why else verdict, why or test]


def main() -> int:
    """The mutants that were asked for, and the share that the tests notice."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--module", action="append", default=[], help="such as numeric/contour; all if not given")
    parser.add_argument(
        "--tests", action="append", help="a file or folder with tests; all of the three rooms if not given"
    )
    parser.add_argument("--count", type=int, default=240, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other mutants")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time of tests for each mutant")
    parser.add_argument("--quick", action="store_true", help="choose tests by names, without a run that traces them")
    parser.add_argument("--coverage", type=Path, help="a file that keeps which test reaches which lines")
    parser.add_argument("--survivors", type=Path, help="only those that survived in an earlier run, from its --out")
    parser.add_argument("--out", type=Path, help="a file for the results")
    options = parser.parse_args()
    mutants = chosen(options.module, options.count, options.seed)
    if options.survivors:
        again = [row[:3] for row in json.loads(options.survivors.read_text()) if row[3].startswith("survived")]
        mutants = [m for m in mutants if [m.file, m.text, m.after] in again]
    rows = []

    def run(runner: Runner) -> None:
        for row in results(runner, mutants, options):
            rows.append(row)
            if options.out:
                options.out.write_text(json.dumps(rows, indent=0))

    quick = settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    phases = [Phase.explicit, Phase.generate]  # no search for the smallest example
    settings.register_profile("mutants", quick, phases=phases)
    os.chdir(ROOT)
    pytest.main([*_OPTIONS, *(options.tests or TESTS)], plugins=[Runner(run)])
    for (room, verdict), number in sorted(Counter((row[0].split("/")[1], row[3]) for row in rows).items()):
        print(f"{number:5}  {room}: {verdict}")
    noticed = sum(not row[3].startswith("survived") for row in rows)
    print(f"{noticed} of {len(rows)} mutants noticed: {noticed / max(len(rows), 1):.1%}")
    return 1 if any(row[3] == "survived" for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
