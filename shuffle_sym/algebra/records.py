r"""Finished rows in a file, one JSON object a line: what was computed once is read again."""

import json
import os
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def key(point: Row) -> str:
    """One text for one set of parameters, in whatever order they were given.

    >>> key({"n": 10, "eps0": 1}) == key({"eps0": 1, "n": 10})
    True
    """
    return json.dumps(point, sort_keys=True)


def append(path: str | Path, row: Row) -> None:
    """Write a row at the end of the file."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def first(path: str | Path) -> Row | None:
    """The object in the first line, empty if that is none or was cut off; None if the file is empty or not there."""
    if not Path(path).exists():
        return None
    with Path(path).open("rb") as file:
        line = file.readline()
    if not line:
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) and line.endswith(b"\n") else {}


def read(path: str | Path, names: set[str], skip: int = 0) -> dict[str, Row]:
    """Rows of an earlier run by the key of their parameters; a last line that was cut off is taken out of the file."""
    rows: dict[str, Row] = {}
    if not Path(path).exists():
        return rows
    lines = Path(path).read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        os.truncate(path, sum(len(line) for line in lines[:-1]))
        del lines[-1]
    for number, line in enumerate(lines[skip:], skip + 1):
        try:
            row = json.loads(line)
        except ValueError:
            raise ValueError(f"path must name a file that sweep wrote, got {path}: line {number} is not JSON") from None
        if not isinstance(row, dict) or not names <= set(row):
            raise ValueError(
                f"path must name a file of a sweep over {sorted(names)}, got {path}: line {number} has other names"
            )
        rows[key({name: row[name] for name in row if name in names})] = row
    return rows
