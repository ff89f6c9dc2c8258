r"""From what was typed to what is printed, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from threading import Timer

from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.apps.cli.parser import PROGRAM, parser

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


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
