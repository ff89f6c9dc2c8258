"""The repository as a newcomer meets it."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

import shuffle_sym

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


PACKAGE = ROOT / "shuffle_sym"
FILES = sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imported_modules(path: Path) -> set[str]:
    """Modules of ours imported at run time (imports for type checkers only do not count)."""
    tree = ast.parse(path.read_text())
    type_only = {
        node
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for node in ast.walk(branch)
    }
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names if alias.name in MODULES}
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES and node not in type_only:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            # A name that is no module comes from the package itself.
            modules |= names & set(MODULES) | ({node.module} if names - set(MODULES) else set())
    return modules


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "__init__"


@cache
def imports() -> dict[str, set[str]]:
    """Read once, and only by a process that runs these tests."""
    return {module: imported_modules(path) for module, path in MODULES.items()}


def test_imports_point_from_later_rooms_to_earlier_ones():
    # The package itself imports every room but the last: only that one may import it.
    order = {name: i for i, name in enumerate(ROOMS)} | {"__init__": ROOMS.index("apps")}
    for module, others in imports().items():
        wrong = [other for other in others if order[room(other)] > order[room(module)]]
        assert not wrong, f"{module} imports {wrong}"


def test_no_module_imports_itself_by_way_of_others():
    # A room that lists names of its modules is imported before them, and they do not ask it for these names.
    graph = {m: {o for o in others if not m.startswith(f"{o}.")} for m, others in imports().items()}
    TopologicalSorter(graph).prepare()


def test_the_figures_of_the_house():
    pairs = {(room(module), room(other)) for module, others in imports().items() for other in others}
    edges = [(one, other) for one, other in pairs if one != other and "__init__" not in (one, other)]
    assert len(edges) <= 32
    assert len(shuffle_sym.__all__) <= 37


#: What the package may hold at most. Each of the two falls with every change that makes something simpler, and rises
#: only with a sentence in the message of the commit about what a user got for it.
MOST_STATEMENTS, MOST_BRANCHES = 20_160, 6_962
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.BoolOp, ast.comprehension)


def test_the_package_has_no_more_statements_and_branches_than_it_had():
    """Imports, docstrings and the layout count for nothing."""
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = [node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    imported = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    statements = sum(isinstance(node, ast.stmt) for node in nodes) - len(texts) - len(imported)
    assert statements <= MOST_STATEMENTS
    assert sum(isinstance(node, BRANCHES) for node in nodes) <= MOST_BRANCHES


def test_the_package_has_nine_rooms_and_nothing_else():
    listed = subprocess.run(["git", "ls-files", "shuffle_sym"], cwd=ROOT, capture_output=True, text=True, check=True)
    entries = {line.split("/")[1] for line in listed.stdout.split()}
    assert entries == {*ROOMS[:-1], "__init__.py", "__main__.py", "py.typed"}


def test_no_text_is_run_as_code():
    for path in FILES:
        called = {node.func.id for node in calls(path) if isinstance(node.func, ast.Name)}
        assert not called & {"exec", "eval", "compile"}, path
        assert not re.search(r"(?<!def )\b(exec|eval)\(", path.read_text()), path  # SymPy's classes have a method eval


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]


def test_no_sympy_object_can_reach_the_accountants():
    for path in (PACKAGE / "numeric").glob("*.py"):
        assert "sympy" not in {
            name.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import)
            for name in node.names
        }


def test_all_names_of_the_package_together_import_no_plotting_and_no_notebooks():
    # scipy.stats takes longer to import than all of ours; what we need of it is in scipy.special.
    unwanted = ("matplotlib", "IPython", "ipywidgets", "jupyter_core", "pandas", "dp_accounting", "scipy.stats")
    code = f"import sys; from shuffle_sym import *; print([m for m in {unwanted} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{name}.md" for name in ("guide", "how-to", "several-messages", "federated-learning")),
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_examples_of_a_document_print_what_it_says(document, tmp_path):
    command = [sys.executable, "-W", "error", "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", str(ROOT / document)]
    # What an example saves is saved elsewhere.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert (ROOT / document).read_text().count(">>>") >= 4


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_a_saved_notebook_is_current_small_and_clean(path):
    assert path.stat().st_size <= 400_000
    cells = json.loads(path.read_text())["cells"]
    assert len(cells) <= 30
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(sum(not line.isspace() for line in cell["source"]) <= 15 for cell in code), "a cell is one step"
    lines = [line for cell in code for line in "".join(cell["source"]).splitlines()]
    assert [line for line in lines if len(line) > 109] == []  # a page of 1,000 px shows no more without scrolling
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert all(output["output_type"] != "error" for output in outputs)
    assert all(output.get("name") != "stderr" for output in outputs)
    printed = [line for output in outputs for line in "".join(output.get("text", "")).splitlines()]
    assert [line for line in printed if len(line) > 104] == []  # wider lines are broken within words and numbers
    text = path.read_text()
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)
    source = "\n".join("".join(cell["source"]) for cell in code)
    assert not re.search(r"^\s*[%!]|sys\.path", source, re.MULTILINE)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 10, f"{node.name} belongs in the package"
    assert "assert " in source, "every claim ends in an assert"
