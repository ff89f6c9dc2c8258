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
INDEX = "index.ipynb"
LINKS = "navigation"  # the id of the cell with the links

#: The way through the book: a part, what it answers, and the numbers of its notebooks.
PARTS = (
    ("Start here", "How private are shuffled reports, and what does the number mean?", ("00",)),
    ("One randomizer", "From a definition to a bound that can be trusted.", ("01", "02")),
    ("Every randomizer, every adversary", "Clones, views, and pairs that are no bounds.", ("03", "04")),
    ("Many rounds", "Composition and Rényi divergence.", ("05", "06", "07")),
    ("Use it", "Your own randomizer, and protocols that can be run.", ("08", "09")),
    ("Look closer", "What is printed wrong, how a number is computed, what the worst data are.", ("10", "11", "12")),
    ("Play", "Everything under sliders.", ("13",)),
    ("The truth", "Why no dataset is worse than the answer says, and what is not known yet.", ("14",)),
    ("Numbers as messages", "From a density to certified answers, or to a refusal that says why.", ("15",)),
    ("Crowds as they are", "Sampled, different and colluding users, over a thousand rounds.", ("16",)),
    ("What really runs", "Is a program what its proof is about? An audit from samples.", ("17",)),
    ("The papers' experiments", "Every curve computed again, with certified ends.", ("18", "19", "20", "21")),
)

#: Shorter ways, for readers with one question: who, and the numbers of the notebooks.
SHORTER = (
    ("In a hurry", ("00", "13", "08")),
    ("Here to check a paper", ("10", "02", "03", "04", "06", "12", "18", "19", "20", "21")),
    ("Here for the methods", ("01", "11", "05", "07", "14", "15")),
)

#: One letter, one meaning, in all notebooks.
LETTERS = r"""## Letters and words

| letter | in code | meaning |
|---|---|---|
| ε₀, t = e^ε₀ | `eps0` | what one report gives away: the randomizer is ε₀-LDP |
| ε, α = e^ε, δ | `eps`, `alpha`, `delta` | what all shuffled reports give away: they are (ε, δ)-DP |
| n, k, d | `n`, `k`, `d` | users, with the differing one; size of the alphabet; bits or inputs |
| T | `rounds` | number of rounds that are composed |
| R(x)(y) | `R` | probability that a user with input x sends the message y |
| γ | `R.gamma` | mass of the *blanket*, the part that all inputs have in common |
| a, b, c | `decomposition` | masses of a message under $x_0$, under $x_1$, and in what everybody else sends |
| G | `R.gparv()` | the random variable (GPARV) with $D_\alpha = \frac1n \mathbb E[G_1 + \dots + G_n]_+$ |

The *hockey-stick divergence* of two neighbouring datasets, $D_\alpha(P\|Q) = \sum_y [P(y) - \alpha Q(y)]_+$, is their
δ at ε = log α; neighbouring datasets differ in one user's input. Of the two ends of an answer about a mechanism, the
upper one holds for all neighbouring datasets and the lower one for two that can be written down. *Clones* are
analyses that know nothing of the randomizer but ε₀. *Proved* means by SymPy, for all values of the symbols; *exact*
means fractions; *certified* means doubles with a bound on every error."""

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
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        first = nbformat.read(path, as_version=4).cells[0].source
        goal = re.search(rf"`notebooks/{re.escape(path.name)}` \| (.*?) \|", contributing)
        listed.append(Chapter(path.name, first.splitlines()[0].lstrip("# "), goal[1] if goal else ""))
    return listed


def index(book: Sequence[Chapter]) -> Any:
    """The index: parts, chapters with what they are for, letters, and a cell that shows if everything is installed."""
    by_number = {chapter.number: chapter for chapter in book}
    placed = [number for _, _, numbers in PARTS for number in numbers]
    parts = [*PARTS, ("More", "", tuple(sorted(set(by_number) - set(placed))))]
    lines = [
        "# shuffle_sym: the way through the notebooks",
        "",
        "Every notebook makes one claim, and every claim ends in an `assert`: what it says was computed when saved.",
        "Each begins with its goals and its sources, and ends with exercises and with links back and forward.",
        "The order below is for a first visit; each can also be read by itself.",
        "",
    ]
    for who, numbers in SHORTER:
        way = ", ".join(f"[{number}]({by_number[number].name})" for number in numbers if number in by_number)
        lines += [f"- **{who}?** {way}."] if way else []
    for title, question, numbers in parts:
        present = [by_number[number] for number in numbers if number in by_number]
        if present:
            lines += ["", f"## {title}", "", *([question, ""] if question else [])]
            lines += [f"- **{c.number}** {c.link}" + (f": {c.goal}." if c.goal else "") for c in present]
    cells = [
        nbformat.v4.new_markdown_cell("\n".join(lines), id="index"),
        nbformat.v4.new_markdown_cell(LETTERS, id="letters"),
        nbformat.v4.new_markdown_cell(
            "## Ready?\n\nIf this cell shows an interval, everything is installed.", id="ask"
        ),
        nbformat.v4.new_code_cell(READY, id="ready"),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
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
