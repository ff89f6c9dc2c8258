r"""``python -m checks.fuzz``: answers of the package against the oracle until the time is over."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from checks.fuzz import runs
from checks.fuzz.questions import FUNCTIONS


def main(arguments: list[str] | None = None) -> int:
    """1 if an answer was wrong, too wide, slow, or no answer and no refusal."""
    parser = argparse.ArgumentParser(prog="python -m checks.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", choices=sorted(FUNCTIONS), help="ask nothing but this")
    parser.add_argument("--state", type=Path, default=Path(".fuzz/state.json"), help="where a run is resumed from")
    parser.add_argument("--planted", action="store_true", help="move every answer by its width: each must be noticed")
    given = parser.parse_args(arguments)
    key = f"seed {given.seed}" + (f", only {given.only}" if given.only else "") + (", planted" if given.planted else "")
    state = runs.load(given.state, key)
    one = partial(runs.case, given.seed, only=given.only, planted=given.planted)
    runs.run(state, 60 * given.minutes, given.processes, one, partial(runs.save, given.state, key, state))
    print(f"{key}: {state.next} cases, {state.seconds:.0f} s\n{state.tally}")
    return 1 if state.tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
