"""Typesets every derivation with pdflatex under a plain article, and refuses errors and formulas that are too wide.

    python tools/latex_check.py [NAME ...] [--keep FOLDER]

It needs pdflatex (Debian's texlive-latex-base and texlive-latex-recommended) and says so where that is missing.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shuffle_sym.papers import derivations

HEAD = "\\documentclass{article}\n\\usepackage{amsmath,amssymb}\n\\allowdisplaybreaks\n\\begin{document}\n"
MOST_POINTS = 5.0  # what a line may stick out


def document(names: list[str]) -> str:
    """All derivations one after the other; a mark in the log says which one comes next."""
    pages = []
    for name in names:
        body = derivations.ALL[name]().to_latex()
        body.encode("ascii")
        pages.append(
            f"\\typeout{{DERIVATION {name}}}\n\\section*{{\\texttt{{{name.replace('_', chr(92) + '_')}}}}}\n{body}"
        )
    return HEAD + "\n".join(pages) + "\\end{document}\n"


def too_wide(log: str) -> list[str]:
    """Which derivations have a line that sticks out, and by how much."""
    found, name = [], "?"
    for line in log.splitlines():
        if match := re.match(r"DERIVATION (\w+)", line):
            name = match.group(1)
        if (match := re.match(r"Overfull \\hbox \(([\d.]+)pt too wide\)", line)) and float(
            match.group(1)
        ) > MOST_POINTS:
            found.append(f"{name}: {match.group(1)} points too wide")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="derivations; all of them if none is given")
    parser.add_argument("--keep", type=Path, help="a folder for the document")
    given = parser.parse_args()
    if shutil.which("pdflatex") is None:
        print("pdflatex is not installed: nothing was typeset")
        return 1
    names = given.names or list(derivations.ALL)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "derivations.tex").write_text(document(names), encoding="ascii")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "derivations.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        log = (folder / "derivations.log").read_text(encoding="latin-1")
    if done.returncode:
        print(log[log.find("\n!") : log.find("\n!") + 600])
        return 1
    wide = too_wide(log)
    print("\n".join([*wide, f"{len(names)} derivations typeset, {len(wide)} lines too wide"]))
    return 1 if wide else 0


if __name__ == "__main__":
    sys.exit(main())
