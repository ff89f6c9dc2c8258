"""The documentation: every public name has an example that runs, and what the documents name exists."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import shuffle_sym

ROOT = Path(__file__).parent.parent.parent
#: What a room offers is in its ``__all__``; these modules are public without being in one.
MORE = ("apps.plots", "apps.explorer", "apps.catalogue")
ROOMS = ("algebra", "model", "randomizers", "numeric", "truth", "accounting", "papers", "protocols", "apps")


def public(module: object) -> Iterator[tuple[str, object]]:
    """What a module offers: its ``__all__``, or the functions and classes that are defined in it."""
    name = module.__name__
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == name]
    for key in getattr(module, "__all__", own):
        value = getattr(module, key)
        if not key.startswith("_") and (inspect.isroutine(value) or inspect.isclass(value) or callable(value)):
            yield f"{name}.{key}", value


def documented() -> dict[str, object]:
    """Every public name of the package, of its rooms, and of the modules that these list."""
    rooms = [getattr(shuffle_sym, room) for room in ROOMS]
    packages = [package for package in (shuffle_sym, *rooms) if hasattr(package, "__all__")]
    listed = [getattr(package, name) for package in packages for name in package.__all__]
    modules = [value for value in listed if inspect.ismodule(value)]
    modules += [importlib.import_module(f"shuffle_sym.{name}") for name in MORE]
    names = {name: value for module in (*packages, *modules) for name, value in public(module)}
    return dict(sorted(names.items()))


NAMES = documented()


def test_there_are_public_names():
    assert {
        "shuffle_sym.Shuffle",
        "shuffle_sym.accounting.PairPLD",
        "shuffle_sym.model.Decomposition",
        "shuffle_sym.papers.bounds.balle2019_hoeffding",
        "shuffle_sym.truth.exact.divergence",
        "shuffle_sym.apps.plots.bracket",
    } <= set(NAMES)
    assert len(NAMES) > 150


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_says_what_it_is_and_gives_an_example(name):
    text = inspect.getdoc(NAMES[name]) or ""
    assert text.strip(), "no docstring"
    assert ">>> " in text, "no example"


#: Letters that stand for an argument in prose, as they do in the papers.
LETTERS = {"eps": "ε", "delta": "δ", "alpha": "α", "eps0": "ε0|ε₀", "gamma": "γ", "order": "λ", "orders": "order"}
#: What every drawing takes, as matplotlib has it.
OF_EVERY_DRAWING = {"ax", "colour", "style", "xlabel", "ylabel", "logx", "logy"}
#: Results of functions, which explain what they hold; parts of the explorer that nobody makes by hand; an error.
MADE_ELSEWHERE = {
    "LocalAudit",
    "ShuffledAudit",
    "Derivation",
    "Line",
    "Settings",
    "VerificationError",
}


def unexplained(value: object, text: str) -> list[str]:
    """The arguments that a docstring does not name."""
    words = "\n".join(line for line in text.splitlines() if not line.strip().startswith((">>>", "...")))
    names = [name for name in inspect.signature(value).parameters if name not in ("self", "args", "kwargs")]
    named = {name: f"(?<![A-Za-z_]){name}(?![A-Za-z_])|{LETTERS.get(name, name)}" for name in names}
    return [name for name in names if not re.search(named[name], words) and name not in OF_EVERY_DRAWING]


@pytest.mark.parametrize("name", [name for name in NAMES if name.split(".")[-1] not in MADE_ELSEWHERE])
def test_a_public_name_explains_its_arguments(name):
    value = NAMES[name]
    if inspect.isclass(value):
        own = vars(value).get("__init__")
        assert unexplained(value, f"{value.__doc__}\n{own.__doc__ if own else ''}") == []
        for key in vars(value):
            method = getattr(value, key)
            if not key.startswith("_") and (inspect.isfunction(method) or inspect.ismethod(method)):
                assert unexplained(method, inspect.getdoc(method) or "") == [], key
    elif inspect.isroutine(value):  # a closed form is explained by its class
        assert unexplained(value, inspect.getdoc(value) or "") == []


def test_a_closed_form_shows_the_arguments_that_it_takes():
    shown = {name: list(inspect.signature(bound).parameters) for name, bound in shuffle_sym.bounds.ALL.items()}
    assert shown["balle2019_thm53"] == ["source", "n", "delta"]
    assert shown["girgis2021_thm31"] == ["eps0", "n", "order", "gamma"]
    by_name = shuffle_sym.bounds.girgis2021_thm31(eps0=0.5, n=10**6, order=2, gamma="best")
    assert by_name == shuffle_sym.bounds.girgis2021_thm31(0.5, 10**6, 2, "best")


@pytest.mark.parametrize("module", sorted({value.__module__ for value in NAMES.values() if inspect.isroutine(value)}))
def test_docstrings_with_backslashes_are_raw(module):
    """A formula in a docstring that is not raw loses its backslashes without a word."""
    for name, value in vars(importlib.import_module(module)).items():
        text = getattr(value, "__doc__", None)
        if getattr(value, "__module__", None) == module and isinstance(text, str):
            assert not re.search(r"[\t\x07\x08\x0b\x0c]", text), f"{name}: a backslash was taken for an escape"


def test_the_citation_names_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "version", "license", "type"} <= set(cited)
    assert project["dynamic"] == ["version"]  # read from the package, which says it once
    assert cited["version"] == shuffle_sym.__version__
    assert cited["license"] == project["license"]
    assert all("title" in work and "authors" in work and "year" in work for work in cited["references"])


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == shuffle_sym.__version__


def test_the_readme_shows_pictures_that_exist_and_are_small():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"\((gallery/[\w-]+\.png)\)", readme) + re.findall(r'src="(gallery/[\w-]+\.png)"', readme)
    assert len(set(pictures)) == 4
    for picture in pictures:
        content = (ROOT / picture).read_bytes()
        assert content.startswith(b"\x89PNG")
        assert len(content) < 100_000


def test_the_readme_has_at_most_600_words():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 600


def test_ten_tasks_take_a_few_lines_each():
    tasks = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert len(tasks) == 10
    for task in tasks:
        lines = [line for line in task.splitlines() if line.startswith((">>> ", "... "))]
        assert 1 <= len(lines) <= 6, task.splitlines()[0]


def test_every_file_and_command_that_the_documents_name_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in (
        "README.md",
        "CONTRIBUTING.md",
        *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    ):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE):
            assert target in targets, f"{document}: make {target}"
        for link in re.findall(r"\]\((?!api/)([^)#:]+)\)", text):  # the reference is made when the site is
            assert any((base / link).exists() for base in (ROOT, ROOT / "docs")), f"{document}: {link}"
        for path in re.findall(r"`((?:notebooks|shuffle_sym|tests|benchmarks|browser|checks|tools)/[\w./-]*)`", text):
            assert (ROOT / path).exists(), f"{document}: {path}"


def test_the_column_of_the_site_is_as_wide_as_the_code_of_the_notebooks():
    css = (ROOT / "docs" / "_static" / "site.css").read_text(encoding="utf-8")
    (size,) = re.findall(r"--code-font-size: (\d+)%", css)
    *_, column = (float(width) for width in re.findall(r"width: min\((\d+)em", css))
    # A character is 0.602 of the size of the font (Menlo, DejaVu, Liberation: 0.6); a block has 14 px on either side.
    characters = (16 * column - 28) / (0.602 * 16 * int(size) / 100)
    assert characters >= 109  # in one line of a notebook, see `test_repository`
    # With the side bar, its padding and one to scroll it is no wider than a window of 1,280 px.
    assert 16 * (column + 4 + 15) + 16 <= 1280
