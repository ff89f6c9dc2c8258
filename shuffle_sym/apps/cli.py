r"""The command line ``shuffle-sym``: the questions of the package with the names and defaults of its Python calls.

Exit codes: 0 for an answer, 1 for a check that failed, 2 for an input that is wrong (one line says why).

The commands are in `commands`, with their options, which are added when the command is used: they name all randomizers,
and to import these takes many times as long as to say ``--help`` or ``--version``.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from threading import Timer
from typing import Any, NoReturn

from shuffle_sym.algebra import VERSION
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.names import did_you_mean

__all__ = ["EXAMPLES", "main"]

PROGRAM = "shuffle-sym"
OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130
_KRR = "--randomizer krr --k 10 --eps0 4"

#: Examples by command: the help shows them, and the tests run them.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "epsilon": (
        f"{_KRR} --n 10000 --delta 1e-6",
        "--randomizer clones --eps0 'log(3)' --n 1000 10000 --delta 1e-6 --rounds 16 --json",
        "--matrix '0.7 0.3; 0.2 0.8' --n 1000 --delta 1e-6 --at-most 0.5",
        f"{_KRR} --q 0.1 --n 10000 --delta 1e-6",
    ),
    "delta": (f"{_KRR} --n 10000 --eps 0.2 0.4", "--randomizer laplace --eps0 1 --n 1000 --eps 1/10 --rtol 0.01"),
    "explain": (f"{_KRR} --n 10000 --delta 1e-6", "--randomizer any --eps0 1 --n 1000 --eps 0.2 --json"),
    "calibrate": ("--randomizer krr --k 10 --n 10000 --eps 1 --delta 1e-6",),
    "users": (f"{_KRR} --eps 1 --delta 1e-6",),
    "compose": ("--mechanism 'clones eps0=1 n=10000 rounds=10' --mechanism 'binaryrr eps0=2 n=5000' --delta 1e-6",),
    "rdp": ("--randomizer krr --k 10 --eps0 4 --n 10000 --order 2 8",),
    "derive": ("", "lemma52", "gparv_table --randomizer krr --latex"),
    "audit": ("--quick",),
    "bench": ("--n 1e4 1e9 --repeat 3",),
    "completion": ("bash",),
}


#: What each command is about.
COMMANDS = {
    "epsilon": "smallest epsilon at delta",
    "delta": "delta at epsilon",
    "explain": "what every bound and every attack says, paper by paper",
    "calibrate": "largest eps0, or least sigma, that meets a target (eps, delta)",
    "users": "smallest number of users that meets a target (eps, delta)",
    "compose": "different mechanisms one after the other",
    "rdp": "Rényi divergence of an order > 1",
    "derive": "a derivation, line by line; without a name, the list of all",
    "audit": "verdicts on the papers' statements, recomputed",
    "bench": "cost of one delta and one epsilon on this machine",
    "completion": "script for tab completion",
}


class OneLineParser(ArgumentParser):
    """An error is one line; with an option or a command that was mistyped it names the one that is near."""

    #: Of a command whose options were not added yet, its name.
    waiting = ""

    def complete(self) -> None:
        """Adds the options of the command, once."""
        name, self.waiting = self.waiting, ""
        if name:
            import_module("shuffle_sym.apps.commands").complete(self, name)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual; what is left over at the end is an error here, where the options are known."""
        self.complete()
        options, rest = super().parse_known_args(args, namespace)
        if rest:
            unknown = next((word for word in rest if word.startswith("--")), rest[0])
            hint = did_you_mean(unknown, self._option_string_actions)
            self.error(f"{unknown} is not an option{hint}")
        return options, rest

    def error(self, message: str) -> NoReturn:
        joined = f"{message} See" if message.endswith("?") else f"{message}; see"
        self.exit(2, f"{PROGRAM}: {joined} {self.prog} --help\n")


def parser() -> OneLineParser:
    """The whole command line."""
    top = OneLineParser(
        prog=PROGRAM,
        description="How private are shuffled reports? The upper end holds for all neighbouring datasets (one user's "
        "input is replaced): report it. The lower end is attained by two of these datasets.",
        epilog=_examples(*((name, examples[0]) for name, examples in EXAMPLES.items()))
        + "\n\nexit codes: 0 an answer, 1 a check failed, 2 wrong input",
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"{PROGRAM} {VERSION}")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, about in COMMANDS.items():
        added = subparsers.add_parser(
            name,
            help=about,
            description=about,
            epilog=_examples(*((name, example) for example in EXAMPLES[name])),
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.waiting = name
        shown = added.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", help="one JSON object in place of a table")
        shown.add_argument("--csv", action="store_true", help="comma-separated values, all digits")
    return top


def _examples(*pairs: tuple[str, str]) -> str:
    return "examples:\n" + "\n".join(f"  {PROGRAM} {name} {example}".rstrip() for name, example in pairs)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code.

    >>> main(["users", "--randomizer", "binaryrr", "--eps0", "1", "--eps", "1", "--delta", "1e-6"])
    BinaryRR(eps0=1), shuffled: the smallest n
    eps  delta  lower  upper  method
      1   1e-6      1      1  users_needed
    The upper end is enough for certain.
    0
    """
    try:
        given = parser().parse_args(argv)
    except SystemExit as stopped:  # after --help or a wrong option
        return int(stopped.code or OK)
    told = Timer(1, lambda: print("… still at work; Ctrl-C stops it\r", end="", file=sys.stderr, flush=True))
    try:
        if sys.stderr.isatty():  # somebody watches
            told.start()
        answer = given.run(given)
        shown = answer.for_programs(given.command) if given.json else answer.for_people()
        print(answer.for_tables() if given.csv else shown, flush=True)
    except VerificationError as failure:
        return _said(failure, FAILED)
    except (ValueError, TypeError, OverflowError, MemoryError, ImportError) as refusal:
        return _said(refusal, WRONG)
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _said("interrupted", INTERRUPTED)
    else:
        return FAILED if answer.failed else OK
    finally:
        told.cancel()
    return OK


def _said(what: object, code: int) -> int:
    print(f"{PROGRAM}: {' '.join(str(what).split())}", file=sys.stderr)
    return code
