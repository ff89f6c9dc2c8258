r"""Which errors in the code would the tests notice? Mutants of numeric/, truth/ and accounting/, weighted to rounding.

    python -m checks.mutants [--module numeric/contour] [--count 240] [--seed 0] [--processes 1] [--out FILE]

A mutant is the package with one expression changed: a comparison, a sign, a term or a factor dropped, min for max, up
for down, a rounding error set to 0. Each one runs the tests that reach its line, shortest first; what no test notices
is listed, with the reason if `checks/mutants.toml` knows that nobody can see it. The sources are changed in a copy.
"""

from __future__ import annotations

import argparse
import ast
import atexit
import hashlib
import json
import math
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import sympy  # noqa: F401  # once, for all processes
from hypothesis import HealthCheck, Phase, settings
from tqdm.auto import tqdm

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "shuffle_sym"
ROOMS = ("numeric", "truth", "accounting")
TESTS = [f"{folder}/{room}" for room in ROOMS for folder in ("tests", PACKAGE)]
KNOWN = Path(__file__).with_suffix(".toml")
_OPTIONS = ["-q", "--assert=plain", "--hypothesis-profile=mutants", "-o", "addopts=--doctest-modules"]
_OPTIONS += [f"-pno:{plugin}" for plugin in ("cacheprovider", "nbmake", "xdist")]
_OPTIONS += ["--ignore=tests/accounting/test_threads.py"]  # it starts processes, which a child may not
_MEMORY = 6 * 2**30

# A term with such a name may be 0; statements with such words are changed more often.
_ERROR = re.compile(r"slack|rounding|roundoff|(^|_)errors?$|^off|outside|alias|truncat|left_out|neglect|dropped|shift|"
                    r"beyond|cut_off|tiny|smallest|^_small$", re.IGNORECASE)  # fmt: skip
_HEAVY = re.compile(_ERROR.pattern + r"|\bu\b|\de-\d|tail|moved|ceil|floor|\b(up|down|below|above|lower|upper)\b", re.I)
_SWAPS = {"min": "max", "minimum": "maximum", "ceil": "floor", "up": "down", "above": "below", "upper": "lower"}
_SWAPS |= {b: a for a, b in _SWAPS.items()}
_FLIPPED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.Gt, ast.LtE], ast.LtE: [ast.GtE, ast.Lt], ast.Gt: [ast.Lt, ast.GtE], ast.GtE: [ast.LtE, ast.Gt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq],
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the text of its line, the expression before and after, and where that is."""

    file: str
    line: int
    function: int  # the first line of the innermost function that it is in, 0 outside of all
    text: str
    kind: str
    before: str
    after: str
    span: tuple[int, int]  # in bytes
    weight: float

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.span[0]] + f"({self.after})".encode() + source[self.span[1] :]

    def place(self, seed: int) -> float:
        """Mutants are taken in this order: by chance, heavy ones sooner, and no edit elsewhere changes it."""
        name = f"{seed}|{self.file}|{self.text}|{self.before}|{self.after}".encode()
        chance = (int.from_bytes(hashlib.sha256(name).digest()[:6], "big") + 1) / 2**48
        return -math.log(chance) / self.weight

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  →  {self.after}"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """All mutants of one file.

    >>> [m.after for m in mutants_of("x.py", "y = max(a, 0) + error")]
    ['max(a, 0) - error', 'max(a, 0)', 'error', 'min(a, 0)', '0.0']
    """
    lines, code = source.splitlines(), source.encode()
    starts = [0, *accumulate(len(line.encode()) for line in source.splitlines(keepends=True))]
    found, tree = [], ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]  # inner ones after outer ones
    for statement, node in _expressions(tree):
        for kind, after in _changes(statement, node):
            whole: ast.stmt | ast.expr = node if hasattr(statement, "body") else statement
            first, last = whole.lineno, whole.end_lineno or whole.lineno
            weight = 4.0 if _HEAVY.search("\n".join(lines[first - 1 : last])) else 1.0
            weight *= 0.5 if kind == "comparison with ties" else 1.0
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            before, text = " ".join(code[start:end].decode().split()), lines[node.lineno - 1].strip()
            around = [f for f in functions if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            of_function = [d for f in around[-1:] for d in (f.lineno, *(d.lineno for d in f.decorator_list))]
            function = min(of_function, default=0)
            found.append(Mutant(file, node.lineno, function, text, kind, before, after, (start, end), weight))
    return found


def _expressions(tree: ast.AST) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Every expression with its innermost statement: no messages, defaults, annotations or decorators."""
    stack: list[tuple[Any, ast.AST]] = [(None, tree)]
    while stack:
        statement, node = stack.pop()
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.arguments)):
            continue
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.expr):
            yield statement, node
        skipped = {id(getattr(node, name, None)) for name in ("annotation", "returns")}
        skipped |= set(map(id, getattr(node, "decorator_list", [])))
        children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
        stack.extend((statement, child) for child in reversed(children))


def _changes(statement: ast.stmt, node: ast.expr) -> Iterator[tuple[str, str]]:
    """What an expression may become: the kind of the change, and the new expression."""
    text = ast.unparse
    added = isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub))
    if added and node is statement.value:  # type: ignore[attr-defined]
        yield "sign", f"-({text(node)})"
        yield "term dropped", f"0 * ({text(node)})"
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _FLIPPED:
            for new, kind in zip(_FLIPPED[type(op)], ("comparison", "comparison with ties"), strict=False):
                yield kind, text(ast.Compare(left, [new()], [right]))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not _is_text(left, right):
            plus = isinstance(op, ast.Add)
            yield "sign", text(ast.BinOp(left, ast.Sub() if plus else ast.Add(), right))
            yield "term dropped", text(left)
            yield "term dropped", text(right if plus else ast.UnaryOp(ast.USub(), right))
            if isinstance(right, ast.Constant) and right.value in (1, 2, 3):  # more are room that was left
                yield "one more", text(ast.BinOp(left, op, ast.Constant(right.value + 1)))
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=ast.BinOp(left=ast.Constant(value=1))):
            yield "factor dropped", text(left)
        case ast.BinOp(left=ast.BinOp(left=ast.Constant(value=1)), op=ast.Mult(), right=right):
            yield "factor dropped", text(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "sign", text(operand)
        case ast.Call(func=ast.Name(id=name), args=[_, *_]) if name in _SWAPS:
            yield "other way", text(ast.Call(ast.Name(_SWAPS[name]), node.args, node.keywords))
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if name in _SWAPS:
            yield "other way", text(ast.Attribute(value, _SWAPS[name]))
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if _ERROR.search(name):
            yield "slack dropped", "0.0"
        case ast.Constant(value=float(value)) if 0 < value < 1e-6:
            yield "slack dropped", "0.0"


def _is_text(*terms: ast.expr) -> bool:
    texts = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return any(isinstance(term, texts) or isinstance(getattr(term, "value", 0), str) for term in terms)


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


class Plugin:
    """For pytest: the first test that fails and, if asked for, the functions that each test calls, and its time."""

    def __init__(self, trace: bool = False) -> None:
        self.failed, self.trace, self.start = "", trace, 0.0
        self.tests: dict[str, tuple[float, dict[str, list[int]]]] = {}
        self.hits: set[tuple[str, int]] = set()
        self.rooms = tuple(f"{Path.cwd() / PACKAGE / room}{os.sep}" for room in ROOMS)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code  # no lines: that would take several times as long
        if code.co_filename.startswith(self.rooms):
            self.hits.add((code.co_filename, code.co_firstlineno))

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.hits, self.start = set(), time.perf_counter()
        sys.settrace(self._call if self.trace else None)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        sys.settrace(None)
        lines: dict[str, list[int]] = defaultdict(list)
        for file, line in sorted(self.hits):
            lines[Path(file).relative_to(Path.cwd()).as_posix()].append(line)
        self.tests[nodeid] = time.perf_counter() - self.start, lines


def _run_tests(tests: list[str], trace: bool) -> tuple[int, str, dict[str, Any]]:
    quick = settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    phases = [Phase.explicit, Phase.generate]  # no search for the smallest example
    settings.register_profile("mutants", quick, phases=phases)
    stop = [] if trace else ["-x"]
    status = pytest.main([*_OPTIONS, *stop, *tests], plugins=[plugin := Plugin(trace)])
    return int(status), plugin.failed, plugin.tests


def _in_child(folder: Path, timeout: float, tests: list[str], trace: bool = False) -> tuple[int, str, dict[str, Any]]:
    """Runs tests in a process of their own, in a copy of the project; status −1 if they take too long."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        os.setsid()
        os.chdir(folder)
        os.environ["PYTHONPATH"] = str(folder)
        sys.path[:] = [str(folder), *(p for p in sys.path if Path(p).resolve() != ROOT)]
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
            sending.send(_run_tests(tests, trace))

    child = multiprocessing.get_context("fork").Process(target=run)
    child.start()
    sending.close()
    try:
        return receiving.recv() if receiving.poll(timeout) else (-1, "", {})
    except EOFError:  # the process died
        return 1, "crash", {}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()


@cache
def _copied() -> Path:
    """A copy of the project, one for each process."""
    folder = Path(tempfile.mkdtemp(prefix="mutants"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name in (PACKAGE, "tests", "checks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", folder)
    return folder


def _reaching(mutant: Mutant, coverage: dict[str, Any], seconds: float) -> list[str]:
    """Tests that call the function, those of the same name and room first, short ones first, for so many seconds.

    What runs when the file is imported is reached by every test that reaches anything in the file.
    """
    hits = {name: lines.get(mutant.file, []) for name, (_, lines) in coverage.items()}
    tests = [name for name, lines in hits.items() if mutant.function in lines]
    tests = tests or [name for name, lines in hits.items() if lines]
    room, stem = mutant.file.split("/")[1], Path(mutant.file).stem
    tests.sort(key=lambda name: (stem not in name, f"/{room}/" not in name, coverage[name][0]))
    spent = accumulate(coverage[name][0] for name in tests)
    return [name for name, time_so_far in zip(tests, spent, strict=True) if time_so_far <= seconds] or tests[:1]


def _result(mutant: Mutant, tests: list[str], timeout: float) -> tuple[str, str]:
    """Killed, timeout or survived, and the test that did it."""
    target, original = _copied() / mutant.file, ROOT / mutant.file
    target.write_bytes(mutant.applied(original.read_bytes()))
    try:
        status, test, _ = _in_child(_copied(), timeout, tests) if tests else (0, "", {})
    finally:
        shutil.copy2(original, target)
    return ("timeout", "") if status == -1 else ("killed", test) if status else ("survived", f"{len(tests)} tests")


def reason(mutant: Mutant) -> str | None:
    """Why this mutant may survive, if that is known."""
    for entry in tomllib.loads(KNOWN.read_text())["survivor"]:
        if (entry["file"], entry["line"]) == (mutant.file, mutant.text) and mutant.after in entry["after"]:
            return str(entry["reason"])
    return None


def _coverage(kept: Path | None) -> dict[str, Any]:
    if kept and kept.exists():
        return dict(json.loads(kept.read_text()))
    status, failed, coverage = _in_child(_copied(), 3600.0, TESTS, trace=True)
    if status:
        sys.exit(f"the tests fail without a mutant: {failed}")
    if kept:
        kept.write_text(json.dumps(coverage))
    return coverage


def run(mutants: Sequence[Mutant], coverage: dict[str, Any], processes: int, seconds: float) -> Iterator[list[str]]:
    """For each mutant its file, line, change, verdict and the test that noticed it or the reason why none does."""
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(_result, m, _reaching(m, coverage, seconds), 60 + 5 * seconds) for m in mutants]
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
    parser.add_argument("--count", type=int, default=240, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other mutants")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="of traced tests for each mutant")
    parser.add_argument("--coverage", type=Path, help="a file that keeps which test reaches which lines")
    parser.add_argument("--survivors", type=Path, help="only those that survived in an earlier run, from its --out")
    parser.add_argument("--out", type=Path, help="a file for the results")
    options = parser.parse_args()
    mutants = chosen(options.module, options.count, options.seed)
    if options.survivors:
        again = [row[:3] for row in json.loads(options.survivors.read_text()) if row[3].startswith("survived")]
        mutants = [m for m in mutants if [m.file, m.text, m.after] in again]
    rows = []
    for row in run(mutants, _coverage(options.coverage), options.processes, options.seconds):
        rows.append(row)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=0))
    for (room, verdict), number in sorted(Counter((row[0].split("/")[1], row[3]) for row in rows).items()):
        print(f"{number:5}  {room}: {verdict}")
    noticed = sum(not row[3].startswith("survived") for row in rows)
    print(f"{noticed} of {len(rows)} mutants noticed: {noticed / max(len(rows), 1):.1%}")
    return 1 if any(row[3] == "survived" for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
