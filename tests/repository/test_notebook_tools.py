"""The tools around the notebooks: what counts as a change, and the book they make."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image, ImageDraw

ROOT = Path(__file__).parent.parent.parent


def tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks for its module by name.
    importlib.sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


run_notebooks, book, formulas = tool("run_notebooks"), tool("book"), tool("formulas")
with_node = pytest.mark.skipif(formulas.node() is None, reason="there is no Node.js here, so MathJax was not asked")


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


def test_nothing_is_saved_about_when_a_cell_was_run():
    made = {"cells": [{"metadata": {"execution": {"iopub.status.busy": "2026-01-01"}, "tags": ["volatile"]}}]}
    assert run_notebooks.without_times(made) == {"cells": [{"metadata": {"tags": ["volatile"]}}]}


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_no_saved_notebook_holds_the_times_of_its_cells(path):
    assert "iopub" not in path.read_text(encoding="utf-8")


def encoded(picture: Image.Image) -> str:
    saved = io.BytesIO()
    picture.save(saved, "PNG")
    return base64.b64encode(saved.getvalue()).decode()


def decoded(text: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_a_picture_is_saved_with_a_palette_and_looks_the_same():
    # Smooth lines on paper, as a figure has them: drawn four times as large, then made smaller.
    large = Image.new("RGBA", (1600, 1200), "white")
    for i, colour in enumerate(("#0072B2", "#D55E00", "#009E73", "black")):
        ImageDraw.Draw(large).line([(100, 100 + 200 * i), (1500, 300 + 250 * i)], fill=colour, width=12)
    picture = large.resize((400, 300))
    before = encoded(picture)
    after = run_notebooks.light_picture(before)
    assert len(after) < len(before) / 2
    assert decoded(after).size == picture.size
    assert decoded(after).mode == "P"
    one, other = (np.asarray(p.convert("RGB"), dtype=float) for p in (picture, decoded(after)))
    assert np.abs(one - other).max() < 60  # of 255, at the edge of a line
    assert np.abs(one - other).mean() < 0.5


def test_a_transparent_picture_is_put_on_white_paper():
    noise = np.random.default_rng(1).integers(0, 256, (60, 60, 4), dtype=np.uint8)
    noise[:, :30, 3] = 0
    after = decoded(run_notebooks.light_picture(encoded(Image.fromarray(noise)))).convert("RGB")
    assert set(np.unique(np.asarray(after)[:, :30])) == {255}


def test_a_picture_that_a_palette_does_not_make_smaller_stays_as_it_is():
    small = encoded(Image.new("1", (3, 3)))
    assert len(run_notebooks.light_picture(small)) <= len(small)


BOOK = book.chapters(ROOT / "notebooks", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


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
    assert book.links(chapters, 0) == "---\n[index](00_index.ipynb) · [title 1](01_x.ipynb) →"
    assert book.links(chapters, 1) == (
        "---\n← [title 0](00_x.ipynb) · [index](00_index.ipynb) · [title 2](02_x.ipynb) →"
    )
    assert book.links(chapters, 2) == "---\n← [title 1](01_x.ipynb) · [index](00_index.ipynb)"


def test_links_that_are_written_again_are_there_once():
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# title")])
    twice = book.with_links(book.with_links(made, "old"), "new")
    assert [c.source for c in twice.cells] == ["# title", "new"]


def test_an_index_that_is_written_again_stays_as_it_was_saved():
    path = ROOT / "notebooks" / book.INDEX
    assert (
        nbformat.writes(book.with_outputs(book.index(BOOK), path)).strip() == path.read_text(encoding="utf-8").strip()
    )


def test_the_index_names_every_notebook_once():
    assert sorted(number for _, numbers in book.PARTS for number in numbers) == [chapter.number for chapter in BOOK]


@pytest.mark.parametrize("i", range(len(BOOK)), ids=[chapter.name for chapter in BOOK])
def test_a_notebook_has_goals_sources_exercises_and_links(i):
    cells = json.loads((ROOT / "notebooks" / BOOK[i].name).read_text(encoding="utf-8"))["cells"]
    # Solutions follow the exercises, folded, and are run with the rest.
    folded = [c for c in cells if "solutions" in c["metadata"].get("tags", [])]
    assert len(folded) == 1
    assert folded[0]["metadata"]["jupyter"]["source_hidden"]
    assert "assert" in "".join(folded[0]["source"])
    sources = ["".join(c["source"]) for c in cells if c not in folded]
    assert "**Goals.**" in sources[0]
    assert "**Sources.**" in "".join(sources)
    exercises, more = re.search(r"## Exercises\n(.*)## What to try next\n(.*)", sources[-2], re.DOTALL).groups()
    assert re.findall(r"^(\d)\. ", exercises, re.MULTILINE) in (["1", "2"], ["1", "2", "3"], ["1", "2", "3", "4"])
    assert more.strip()
    assert cells[-1]["id"] == book.LINKS
    assert sources[-1] == book.links(BOOK, i), "run make book"
    links = [link for source in sources for link in re.findall(r"\]\(([^)#]+\.ipynb)\)", source)]
    assert all((ROOT / "notebooks" / link).exists() for link in links)


# ------------------------------------------------------------------------------------------------ formulas


@with_node
def test_jupyterlab_draws_every_formula_of_every_notebook():
    said = formulas.asked(
        page for path in sorted((ROOT / "notebooks").glob("*.ipynb")) for page in formulas.pages(path)
    )
    assert said["version"].startswith("3.")
    assert said["formulas"] > 1_000
    assert said["refused"] == []


@with_node
@pytest.mark.parametrize(
    ("kind", "source", "why"),
    [
        ("text/markdown", r"$x_1^2$, `$` and \\$5", []),
        ("text/markdown", r"| $\text{a^b}$ |", ["'^' allowed only in math mode"]),
        ("text/markdown", r"$\unknown{x}$", ["an unknown command"]),
        ("text/markdown", r"one $ alone", ["a dollar without another one"]),
        ("text/latex", r"$\begin{array}{l} \text{a_b} \end{array}$", ["'_' allowed only in math mode"]),
        ("text/html", r"<td>$x &lt; \frac{1}$</td>", ["Missing argument for \\frac"]),
    ],
)
def test_the_mathjax_of_jupyterlab_refuses_what_it_would_not_draw(kind, source, why):
    assert [found for _, _, found in formulas.asked([("page", kind, source)])["refused"]] == why
