"""The repository as a newcomer meets it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CONDA_NAMES = {"matplotlib": "matplotlib-base"}

# Each room may import from the rooms before it, never back.
ROOMS = ["algebra", "model", "randomizers", "numeric", "truth", "accounting", "papers", "protocols", "apps", "__main__"]


def test_environment_yml_names_the_requirements_of_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["lab"], f"python{project['requires-python']}"]
    for old, new in CONDA_NAMES.items():
        wanted = [re.sub(rf"^{old}(?=[<>=])", new, requirement) for requirement in wanted]
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    named = [entry for entry in conda if isinstance(entry, str) and entry != "pip"]
    assert sorted(named) == sorted(wanted)
    assert conda[-1] == {"pip": ["-e ."]}


def imported_rooms(path: Path) -> set[str]:
    """Rooms imported at run time (imports for type checkers only do not count)."""
    tree = ast.parse(path.read_text())
    type_only = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    rooms = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node not in type_only:
            if node.module == "shuffle_sym":
                rooms |= {alias.name for alias in node.names}
            elif node.module.startswith("shuffle_sym."):
                rooms.add(node.module.split(".")[1])
    return rooms


@pytest.mark.parametrize(
    "path", sorted((ROOT / "shuffle_sym").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT / "shuffle_sym"))
)
def test_imports_point_from_later_rooms_to_earlier_ones(path):
    room = path.relative_to(ROOT / "shuffle_sym").parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for other in imported_rooms(path):
        assert ROOMS.index(other) <= ROOMS.index(room), f"{room} imports {other}"


def test_the_package_has_nine_rooms_and_nothing_else():
    listed = subprocess.run(["git", "ls-files", "shuffle_sym"], cwd=ROOT, capture_output=True, text=True, check=True)
    entries = {line.split("/")[1] for line in listed.stdout.split()}
    assert entries == {*ROOMS[:-1], "__init__.py", "__main__.py", "py.typed"}


def test_no_sympy_object_can_reach_the_accountants():
    for path in (ROOT / "shuffle_sym" / "numeric").glob("*.py"):
        assert "sympy" not in {
            name.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import)
            for name in node.names
        }


def test_importing_the_package_does_not_import_plotting_or_notebooks():
    # scipy.stats takes longer to import than all of ours; what we need of it is in scipy.special.
    unwanted = ("matplotlib", "IPython", "ipywidgets", "jupyter_core", "pandas", "dp_accounting", "scipy.stats")
    code = f"import sys, shuffle_sym; print([m for m in {unwanted} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_readme_examples_print_what_the_readme_says():
    command = [sys.executable, "-W", "error", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "README.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (ROOT / "README.md").read_text().count(">>>") >= 4


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_a_saved_notebook_is_current_small_and_clean(path):
    assert path.stat().st_size <= 400_000
    cells = json.loads(path.read_text())["cells"]
    assert len(cells) <= 30
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert all(output["output_type"] != "error" for output in outputs)
    assert all(output.get("name") != "stderr" for output in outputs)
    text = path.read_text()
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)
    source = "\n".join("".join(cell["source"]) for cell in code)
    assert not re.search(r"^\s*[%!]|sys\.path", source, re.MULTILINE)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 10, f"{node.name} belongs in the package"
    assert "assert " in source, "every claim ends in an assert"
