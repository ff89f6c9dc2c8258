"""The tools around the notebooks: what counts as a change, and the book they make."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks for its module by name.
    importlib.sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


run_notebooks, book = tool("run_notebooks"), tool("book")


def cell(text: str, *tags: str, pieces: int = 1):
    size = -(-len(text) // pieces)
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": text[i : i + size]} for i in range(0, len(text), size)
    ]
    return {"cell_type": "code", "metadata": {"tags": list(tags)}, "outputs": outputs}


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        (cell("eps in [0.3803, 0.3806]"), cell("eps in [0.3804, 0.3807]"), None),
        (cell("eps in [0.3803, 0.3806]"), cell("eps in [0.3810, 0.3813]"), "0.3803 became 0.3810"),
        (cell("eps = 0.38", "tolerance=0.05"), cell("eps = 0.39"), None),
        (cell("eps = 0.38", "tolerance=0.05"), cell("eps = 0.41"), "0.38 became 0.41"),
        (cell("took 12 ms", "volatile"), cell("took 1.2 s"), None),
        (cell("proved"), cell("checked"), "'proved' became 'checked'"),
        (cell("1e-6"), cell("1e-7"), "1e-6 became 1e-7"),
        (cell("2552/15625"), cell("2553/15625"), None),  # 4e-4 of it
        (cell("2552/15625", "tolerance=0"), cell("2553/15625"), "2552 became 2553"),
        (cell("-1"), cell("1"), "-1 became 1"),
        (cell("one\ntwo\n", pieces=1), cell("one\ntwo\n", pieces=3), None),
        (cell("<View at 0x7f8b83629410>"), cell("<View at 0x7f8b99999410>"), None),
        (cell("10,000 users"), cell("10,000 users"), None),
    ],
)
def test_an_output_has_changed_if_it_is_outside_the_tolerance_that_its_cell_states(before, now, change):
    found = run_notebooks.differences({"cells": [before]}, {"cells": [now]})
    assert found == ([] if change is None else [f"cell 1: {change}"])


def test_pictures_are_not_compared_but_formulas_are():
    picture = {"output_type": "display_data", "data": {"image/png": "a", "text/plain": "<Figure size 700x420>"}}
    formula = {"output_type": "execute_result", "data": {"text/latex": "$x$", "text/plain": "y"}}
    shown = run_notebooks.shown({"outputs": [picture, formula]})
    assert "Figure" not in shown
    assert shown.endswith("$x$")


def notebook(folder: Path, source: str, output: str) -> Path:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id="one")])
    made.cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text=output)]
    made.cells[0].execution_count = 1
    path = folder / "a.ipynb"
    nbformat.write(made, path)
    return path


def test_what_changed_fails_and_is_saved_only_when_accepted(tmp_path, capsys):
    path = notebook(tmp_path, "print(2)", "1\n")
    assert run_notebooks.main([str(path)]) == 1
    assert "1 became 2" in capsys.readouterr().out
    assert nbformat.read(path, 4).cells[0].outputs[0].text == "1\n"
    assert run_notebooks.main([str(path), "--accept"]) == 0
    assert nbformat.read(path, 4).cells[0].outputs[0].text == "2\n"
    assert run_notebooks.main([str(path)]) == 0


def test_an_error_fails_even_when_changes_are_accepted(tmp_path, capsys):
    path = notebook(tmp_path, "1 / 0", "1\n")
    assert run_notebooks.main([str(path), "--accept"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


BOOK = book.chapters(ROOT / "notebooks", (ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_index_is_current_and_every_link_leads_somewhere():
    saved = nbformat.read(ROOT / "notebooks" / book.INDEX, 4)
    fresh = book.index(BOOK)
    assert [c.source for c in saved.cells] == [c.source for c in fresh.cells], "run make book"
    links = re.findall(r"\]\(([^)]+)\)", saved.cells[0].source)
    assert links
    assert set(links) == {chapter.name for chapter in BOOK}
    assert all((ROOT / "notebooks" / link).exists() for link in links)


def test_every_notebook_of_the_index_says_what_it_is_for():
    assert [chapter.name for chapter in BOOK if not chapter.goal] == []


def test_links_go_to_the_chapter_before_and_after():
    chapters = [book.Chapter(f"0{i}_x.ipynb", f"title {i}", "") for i in range(3)]
    assert book.links(chapters, 0) == "---\n[index](index.ipynb) · [title 1](01_x.ipynb) →"
    assert book.links(chapters, 1) == ("---\n← [title 0](00_x.ipynb) · [index](index.ipynb) · [title 2](02_x.ipynb) →")
    assert book.links(chapters, 2) == "---\n← [title 1](01_x.ipynb) · [index](index.ipynb)"


def test_links_that_are_written_again_are_there_once():
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# title")])
    twice = book.with_links(book.with_links(made, "old"), "new")
    assert [c.source for c in twice.cells] == ["# title", "new"]


@pytest.mark.parametrize("i", range(len(BOOK)), ids=[chapter.name for chapter in BOOK])
def test_links_at_the_end_of_a_notebook_are_current_if_there_are_any(i):
    cells = json.loads((ROOT / "notebooks" / BOOK[i].name).read_text())["cells"]
    found = ["".join(c["source"]) for c in cells if c.get("id") == book.LINKS]
    assert found in ([], [book.links(BOOK, i)]), "run make book"
