r"""The answer of a command, as a table for people or as JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shuffle_sym.algebra.interval import Interval


@dataclass
class Answer:
    """Rows of a table, a sentence for people, and whether a check failed. A row may hold one `Interval`."""

    title: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    note: str = ""
    failed: bool = False
    #: Shown to people in place of the table.
    text: str | None = None
    #: The names of the two ends of an interval, the lower one first.
    ends: tuple[str, str] = ("lower", "upper")

    def for_people(self) -> str:
        body = table(self.rows, self.ends) if self.text is None else self.text
        return "\n".join(part for part in (self.title if self.text is None else "", body, self.note) if part)

    def for_programs(self, command: str) -> str:
        """One JSON object: intervals with all their digits, other numbers as they were typed."""
        rows = [_flat(row, _digits, self.ends) for row in self.rows]
        whole = {"command": command, "title": self.title, "rows": rows, "note": self.note, "ok": not self.failed}
        return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False)

    def for_tables(self) -> str:
        """Comma-separated values: a line of names, then a line for each row, intervals with all their digits."""
        rows = [_flat(row, _digits, self.ends) for row in self.rows]
        written = io.StringIO()
        names = list(dict.fromkeys(key for row in rows for key in row))
        table = csv.DictWriter(written, names, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        return written.getvalue().rstrip("\n")


def _six_digits(interval: Interval) -> dict[str, str]:
    lower, upper = interval.shown
    return {"lower": lower, "upper": upper, "method": interval.method or "", **_reasons(interval)}


def _digits(interval: Interval) -> dict[str, Any]:
    ends = {"lower": float(interval.lower), "upper": float(interval.upper), "method": interval.method}
    return ends | {"upper_by": None, "lower_by": None} | _reasons(interval)


def _reasons(interval: Interval) -> dict[str, str]:
    """Why the ends are where they are, for an answer about a mechanism."""
    by = {"upper_by": interval.upper_by, "lower_by": interval.lower_by}
    return {end: str(reason) for end, reason in by.items() if reason is not None}


def _flat(row: Mapping[str, Any], parts: Any, ends: tuple[str, str]) -> dict[str, Any]:
    names = dict(zip(("lower", "upper", "lower_by", "upper_by"), (*ends, *(f"{end}_by" for end in ends)), strict=True))
    flat: dict[str, Any] = {}
    for key, value in row.items():
        both = parts(value) if isinstance(value, Interval) else {}
        flat |= {names.get(part, part): at for part, at in both.items()} or {key: value}
    return flat


def table(rows: Iterable[Mapping[str, Any]], ends: tuple[str, str] = ("lower", "upper")) -> str:
    """Aligned columns: numbers to the right, words to the left; what a row does not have stays empty. The two ends of
    an interval are called ``ends``.

    >>> print(table([{"n": 5, "what": "a"}, {"n": 10, "what": "bcd"}]))
     n  what
     5  a
    10  bcd
    """
    shown = [{key: str(value) for key, value in _flat(row, _six_digits, ends).items()} for row in rows]
    if not shown:
        return "(nothing)"
    columns = dict.fromkeys(key for cells in shown for key in cells)
    shown = [{key: cells.get(key, "") for key in columns} for cells in shown]
    widths = {key: max(len(key), *(len(cells[key]) for cells in shown)) for key in columns}
    words = {key for key in widths if key.endswith("_by") or not all(c[key][:1] in "0123456789-+." for c in shown)}
    return "\n".join(
        "  ".join(line[k].ljust(w) if k in words else line[k].rjust(w) for k, w in widths.items()).rstrip()
        for line in [{key: key for key in widths}, *shown]
    )
