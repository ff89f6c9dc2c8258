r"""Run every notebook, compare what it shows now with what was saved, and save it.

``make notebooks`` runs this. It fails on any error, and where an output no longer is what it was: words must be equal,
numbers equal up to a relative tolerance of 1e-3 (the default width of an interval). A cell states another tolerance
with a tag such as ``tolerance=0.05``, or with ``volatile`` that it shows times and nothing is compared. What changed is
not saved until somebody has looked: ``make notebooks ACCEPT=1``. Pictures are not compared; they are saved with a
palette, which takes a quarter of the space. Nothing is saved about when a cell was run.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import re
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image

DEFAULT_TOLERANCE = 1e-3
SECONDS = 300
PALETTE = 64  # colours of a saved picture
TEXTS = ("text/markdown", "text/latex", "text/plain")  # the first one that is there
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def tolerance(cell: Any) -> float | None:
    """What the tags of a cell state; None if nothing is compared.

    >>> tolerance({"metadata": {"tags": ["tolerance=0.05"]}}), tolerance({"metadata": {"tags": ["volatile"]}})
    (0.05, None)
    """
    for tag in cell["metadata"].get("tags", []):
        if tag == "volatile":
            return None
        if tag.startswith("tolerance="):
            return float(tag.removeprefix("tolerance="))
    return DEFAULT_TOLERANCE


def shown(cell: Any) -> str:
    """What a cell shows in words and numbers; not its pictures and widgets, nor where objects are in memory.

    What is printed may arrive in any number of pieces: they are put together.
    """
    printed, shown = "", []
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "text" in output:
            printed += "".join(output["text"])
        elif not any(kind.startswith("image/") or "widget" in kind for kind in data):
            kind = next((kind for kind in TEXTS if kind in data), None)
            shown.append("".join(data[kind]) if kind else "")
    return _ADDRESS.sub("0x…", "\n".join([printed, *shown]))


def difference(before: str, now: str, rtol: float) -> str | None:
    """Where two texts differ by more than the tolerance, in words; None if they do not.

    >>> difference("[0.380301, 0.380607]", "[0.380302, 0.380606]", 1e-3)
    >>> difference("eps = 0.38", "eps = 0.39", 1e-3)
    '0.38 became 0.39'
    """
    if NUMBER.sub("#", before) != NUMBER.sub("#", now):
        pairs = zip_longest(before.splitlines(), now.splitlines(), fillvalue="")
        old, new = next(pair for pair in pairs if NUMBER.sub("#", pair[0]) != NUMBER.sub("#", pair[1]))
        return f"{old[:100]!r} became {new[:100]!r}"
    for old, new in zip(NUMBER.findall(before), NUMBER.findall(now), strict=True):
        x, y = (float(text.replace(",", "").replace("_", "")) for text in (old, new))
        if abs(x - y) > rtol * max(abs(x), abs(y)):
            return f"{old} became {new}"
    return None


def differences(before: Any, now: Any) -> list[str]:
    """What two versions of a notebook show differently."""
    saved, fresh = ([cell for cell in version["cells"] if cell["cell_type"] == "code"] for version in (before, now))
    changes = []
    for number, (old, new) in enumerate(zip(saved, fresh, strict=True), 1):
        rtol = tolerance(old)
        if rtol is None:
            continue
        if change := difference(shown(old), shown(new), rtol):
            changes.append(f"cell {number}: {change}")
    return changes


def executed(path: Path) -> Any:
    """The notebook, run in its folder by a fresh kernel."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata.pop("widgets", None)
    # As JupyterLab writes it, for which a notebook is not changed by opening it.
    notebook.metadata["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources, record_timing=False, coalesce_streams=True).execute()
    return without_times(with_light_pictures(notebook))


def without_times(notebook: Any) -> Any:
    """The notebook without the times at which its cells were run: they differ whenever nothing else does."""
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)
    return notebook


def with_light_pictures(notebook: Any) -> Any:
    """The notebook with every picture that a palette makes smaller saved with that palette."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" in data:
                data["image/png"] = light_picture(data["image/png"])
    return notebook


def light_picture(encoded: str) -> str:
    """A PNG (in base64) with at most `PALETTE` colours; as it was, if that is not smaller."""
    # On white paper, which our figures bring along, nothing is lost with the transparency.
    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    paper = Image.new("RGBA", picture.size, "white")
    few = Image.alpha_composite(paper, picture).convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE)
    saved = io.BytesIO()
    few.save(saved, "PNG", optimize=True)
    smaller = base64.b64encode(saved.getvalue()).decode()
    return min(encoded, smaller, key=len)


def run(path: Path, accept: bool) -> tuple[str, list[str], float]:
    """Run one notebook and save it if it shows what it showed; name, what is wrong, seconds."""
    start = time.monotonic()
    before = nbformat.read(path, as_version=4)
    try:
        now = executed(path)
    except CellExecutionError as error:
        return path.name, [f"error: {error.ename}: {error.evalue}"], time.monotonic() - start
    was_run = any(cell.get("execution_count") for cell in before.cells)
    changes = differences(before, now) if was_run else []
    if accept or not changes:
        nbformat.write(now, path)
    return path.name, changes, time.monotonic() - start


def main(argv: Sequence[str] | None = None) -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("notebooks", nargs="+", type=Path)
    asked.add_argument("--accept", action="store_true", help="save what changed as well")
    given = asked.parse_args(argv)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    failed = False
    with ProcessPoolExecutor(2) as pool:
        for future in [pool.submit(run, path, given.accept) for path in sorted(given.notebooks)]:
            name, changes, seconds = future.result()
            wrong = [line for line in changes if line.startswith("error") or not given.accept]
            failed |= bool(wrong)
            print(f"{name:42} {seconds:6.1f} s  {'FAILED' if wrong else 'changed' if changes else 'ok'}", flush=True)
            for line in changes:
                print(f"    {line}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
