r"""The notebooks as a book: the index, and the links back and forward at the end of every notebook.

``make book`` writes them. Titles are the headings of the notebooks, what they are for is in the list of CONTRIBUTING:
nothing is written down twice.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parent.parent
INDEX = "00_index.ipynb"
LINKS = "navigation"  # the id of the cell with the links

#: The way through the book: parts, and the numbers of their notebooks.
PARTS = (
    ("Start here", ("01", "02", "03")),
    ("Use it", ("04", "05", "06", "07")),
    ("How close to the truth?", ("08", "09", "10")),
    ("How it is computed", ("11", "12", "13")),
    ("The papers' lemmas, checked", ("14", "15", "16", "17", "18")),
    ("The papers' experiments, recomputed", ("19", "20", "21", "22")),
)

#: One letter, one meaning, in all notebooks.
LETTERS = r"""## Letters and words

| letter | in code | meaning |
|---|---|---|
| $\varepsilon_0$, $t = e^{\varepsilon_0}$ | `eps0` | how much one report reveals: it is $\varepsilon_0$-LDP |
| $\varepsilon$, $\alpha = e^\varepsilon$ | `eps`, `alpha` | how much all reports reveal: $(\varepsilon, \delta)$-DP |
| $\delta$ | `delta` | the hockey-stick divergence at $\alpha$ |
| $n$ | `n` | number of users, including the one whose input differs |
| $k$, $d$ | `k`, `d` | size of the alphabet; number of bits or inputs |
| $T$ | `rounds` | number of rounds that are composed |
| $R(x)(y)$ | `R` | probability that a user with input $x$ sends the message $y$ |
| $\gamma$ | `R.gamma` | mass of the blanket |
| $a$, $b$, $c$ | `decomposition` | probability of a message under $x_0$, $x_1$, and in what all others share |
| $G$ | `R.gparv()` | the random variable (GPARV) with $D_\alpha = \frac1n \mathbb E[G_1 + \dots + G_n]_+$ |

- *Neighbouring datasets* differ in one user's input. Their *hockey-stick divergence*
  $D_\alpha(P\|Q) = \sum_y [P(y) - \alpha Q(y)]_+$ is $\delta$ at $\varepsilon = \log \alpha$.
- An *answer* about a mechanism has two ends. The upper end holds for all neighbouring datasets. The lower end is an
  *attack*: two datasets that can be written down.
- The *blanket* is the part that the reports of all inputs have in common; it gives the best published bound we know.
- *Clones* are bounds that know nothing of the randomizer but $\varepsilon_0$.
- The *drop-out bound* is ours, and holds for all datasets; [notebook 09](09_the_truth.ipynb) proves it.
- The *profile* of a mechanism is $\delta$ as a function of $\varepsilon$.
- *GPARV* is short for *generalised privacy amplification random variable* (Su et al. 2025).
- *Proved* means shown by SymPy, for all values of the symbols. *Exact* means in fractions. *Certified* means in
  doubles, with a bound on every error."""

READY = """import shuffle_sym as ss

answer = ss.Shuffle(ss.KRR(k=10, eps0=4), n=10_000).epsilon(1e-6)
assert answer.upper < 0.39
answer"""


@dataclass(frozen=True)
class Chapter:
    """One notebook: its file, its heading and what it is for."""

    name: str
    title: str
    goal: str

    @property
    def number(self) -> str:
        return self.name.split("_")[0]

    @property
    def link(self) -> str:
        return f"[{self.title}]({self.name})"


def chapters(folder: Path, contributing: str) -> list[Chapter]:
    """All numbered notebooks, in order."""
    listed = []
    for path in sorted(set(folder.glob("[0-9][0-9]_*.ipynb")) - {folder / INDEX}):
        first = nbformat.read(path, as_version=4).cells[0].source
        goal = re.search(rf"`notebooks/{re.escape(path.name)}` \| (.*?) \|", contributing)
        listed.append(Chapter(path.name, first.splitlines()[0].lstrip("# "), goal[1] if goal else ""))
    return listed


def index(book: Sequence[Chapter]) -> Any:
    """The index: parts, chapters with what they are for, letters, and a cell that shows if everything is installed."""
    by_number = {chapter.number: chapter for chapter in book}
    placed = [number for _, numbers in PARTS for number in numbers]
    parts = [*PARTS, ("More", tuple(sorted(set(by_number) - set(placed))))]
    lines = [
        "# shuffle_sym: the way through the notebooks",
        "",
        "How private are shuffled reports? Users randomise their own reports, and a shuffler forgets who sent what.",
        "These notebooks compute how private all reports together are, with bounds on both sides, and prove it.",
        "",
        "Every claim in a notebook ends in an `assert`, so it was checked when the notebook was last run.",
        "Each notebook can be read on its own. Exercises at the end have solutions in a folded cell.",
        "Letters and words are explained at the end of this page.",
    ]
    for title, numbers in parts:
        present = [by_number[number] for number in numbers if number in by_number]
        if present:
            lines += ["", f"## {title}", ""]
            lines += [f"- **{c.number}** {c.link}{'' if c.title[-1] in '?!.' else '.'} {c.goal}." for c in present]
    cells = [
        nbformat.v4.new_markdown_cell("\n".join(lines), id="index"),
        nbformat.v4.new_markdown_cell(LETTERS, id="letters"),
        nbformat.v4.new_markdown_cell(
            "## Ready?\n\nIf this cell shows an interval, everything is installed.", id="ask"
        ),
        nbformat.v4.new_code_cell(READY, id="ready"),
    ]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def links(book: Sequence[Chapter], i: int) -> str:
    """The line at the end of chapter i."""
    parts = [f"← {book[i - 1].link}"] if i else []
    parts.append(f"[index]({INDEX})")
    parts += [f"{book[i + 1].link} →"] if i + 1 < len(book) else []
    return "---\n" + " · ".join(parts)


def with_links(notebook: Any, line: str) -> Any:
    """The notebook with that line as its last cell, in place of an older one."""
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") != LINKS]
    notebook.cells.append(nbformat.v4.new_markdown_cell(line, id=LINKS))
    return notebook


def with_outputs(fresh: Any, path: Path) -> Any:
    """The fresh notebook with the metadata of the saved one, and with its outputs where the code is the same."""
    if path.exists():
        old = nbformat.read(path, as_version=4)
        fresh.metadata = old.metadata  # what the kernel said of itself when it was run
        saved = {cell.source: cell for cell in old.cells if cell.cell_type == "code"}
        for cell in fresh.cells:
            if cell.cell_type == "code" and cell.source in saved:
                cell.outputs, cell.execution_count = saved[cell.source].outputs, saved[cell.source].execution_count
    return fresh


def main(argv: Sequence[str]) -> int:
    """Write the index; with ``--links`` the links of all notebooks too."""
    folder, contributing = ROOT / "notebooks", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    book = chapters(folder, contributing)
    nbformat.write(with_outputs(index(book), folder / INDEX), folder / INDEX)
    if "--links" in argv:
        for i, chapter in enumerate(book):
            path = folder / chapter.name
            nbformat.write(with_links(nbformat.read(path, as_version=4), links(book, i)), path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
