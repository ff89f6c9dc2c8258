r"""How long a process takes to begin: to import the package, to say what it can do, and to give a first answer.

Processor time of whole processes, the least of several runs that take turns, over that of a process that imports SymPy,
SciPy and python-flint and does nothing else. Nothing here is asserted; `tests/repository/test_imports.py` says what a
process does not import.
"""

from __future__ import annotations

import os
import sys

FIRST_ANSWER = "import shuffle_sym as ss; ss.Shuffle(ss.KRR(10, 4), 10_000).epsilon(1e-6)"
PROCESSES = {
    "import sympy, scipy, flint": ("-c", "import sympy, scipy, flint"),
    "import shuffle_sym": ("-c", "import shuffle_sym"),
    "shuffle-sym --help": ("-m", "shuffle_sym", "--help"),
    "shuffle-sym --version": ("-m", "shuffle_sym", "--version"),
    "shuffle-sym epsilon --help": ("-m", "shuffle_sym", "epsilon", "--help"),
    "the first answer": ("-c", FIRST_ANSWER),
    "all analyses of one mechanism": ("-c", "import shuffle_sym as ss; ss.Shuffle(ss.KRR(3, 1), 500).analyses(eps=1)"),
    "every public name": ("-c", "from shuffle_sym import *"),
}
_RUNS = 11


def seconds(arguments: tuple[str, ...]) -> float:
    """Processor time of a Python process, user and system, with what it prints thrown away."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=nowhere)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{arguments} failed")
    return used.ru_utime + used.ru_stime


def main() -> None:
    for arguments in PROCESSES.values():  # compiles what was not compiled yet
        seconds(arguments)
    rows = [[seconds(arguments) for arguments in PROCESSES.values()] for _ in range(_RUNS)]
    least = dict(zip(PROCESSES, map(min, zip(*rows, strict=True)), strict=True))
    unit = next(iter(least.values()))
    for name, spent in least.items():
        print(f"{name:30} {spent:6.3f} s  {spent / unit:5.2f}")


if __name__ == "__main__":
    main()
