"""One folder a paper: what is written in a folder is registered once and shown by the views over all of them."""

from __future__ import annotations

import ast
import json
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import shuffle_sym as ss
from shuffle_sym.papers import FOLDERS, audit, bounds, derivations, registry
from shuffle_sym.papers.amplification import Amplification
from shuffle_sym.papers.engine import derivation
from shuffle_sym.papers.renyi import RenyiBound

PAPERS = Path(ss.papers.__file__).parent
PACKAGES = [getattr(ss.papers, folder) for folder in FOLDERS]


def decorated(decorator: str) -> list[tuple[str, str]]:
    """(folder, function) wherever a function has this decorator, read from the files."""
    found = []
    for path in PAPERS.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(mark).split("(")[0] == decorator for mark in node.decorator_list
            ):
                found.append((path.relative_to(PAPERS).parts[0], node.name))
    return found


def test_every_folder_but_the_engine_is_a_paper_that_the_reports_know():
    on_disk = {path.parent.name for path in PAPERS.glob("*/__init__.py")} - {"engine"}
    assert set(FOLDERS) == on_disk


def test_what_a_folder_registers_lies_in_the_modules_that_it_names():
    registers = re.compile(r"^(@derivation|@amplification|@renyi_bound|@bound|add\(|analyses\.add\()", re.MULTILINE)
    for folder in FOLDERS:
        written = {path.stem for path in (PAPERS / folder).glob("*.py") if registers.search(path.read_text("utf-8"))}
        assert written <= set(getattr(ss.papers, folder).MODULES), folder


def test_every_derivation_is_registered_once_and_shown_by_its_folder_and_the_view():
    written = decorated("derivation")
    assert len(written) == 129
    assert Counter(name for _, name in written) == Counter(list(derivations.ALL))
    for folder, name in written:
        build = getattr(getattr(ss.papers, folder), name)
        assert build is getattr(ss.derivations, name) is derivations.ALL[name]
        assert name in dir(getattr(ss.papers, folder))
        assert name in dir(ss.derivations)


def test_a_function_that_builds_a_derivation_without_arguments_is_registered():
    builders = {
        node.name
        for path in PAPERS.glob("*/*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.returns and ast.unparse(node.returns) == "Blocks"
    }
    assert {name for name in builders if not name.startswith("_")} == set(derivations.ALL)


def test_every_closed_form_is_registered_once_and_has_one_of_two_shapes():
    written = [*decorated("amplification"), *decorated("renyi_bound")]
    shapes = {name: form for name, form in bounds.ALL.items() if isinstance(form, (Amplification, RenyiBound))}
    assert sorted(f"{folder}_{name}" for folder, name in written) == sorted(shapes)
    functions = {f"{folder}_{name}".removeprefix("many_rounds.py_") for folder, name in decorated("bound")}
    assert functions == set(bounds.ALL) - set(shapes)
    for folder, name in written:
        assert getattr(getattr(ss.papers, folder), name) is getattr(ss.bounds, f"{folder}_{name}")
        assert f"{folder}_{name}" in dir(ss.bounds)


@pytest.mark.parametrize("name", sorted(bounds.ALL))
def test_a_closed_form_can_be_sent_to_another_process(name):
    assert pickle.loads(pickle.dumps(bounds.ALL[name])) is bounds.ALL[name]


@pytest.mark.parametrize(
    "module",
    [ss.derivations, ss.bounds, *PACKAGES],
    ids=lambda module: module.__name__,
)
def test_what_is_not_there_is_an_attribute_error(module):
    assert not hasattr(module, "lemma99")
    with pytest.raises(AttributeError, match=f"{module.__name__}' has no attribute 'lemma99'"):
        module.lemma99  # noqa: B018


def test_a_name_that_is_taken_is_refused(monkeypatch):
    monkeypatch.setattr(registry, "DERIVATIONS", dict(registry.DERIVATIONS))
    with pytest.raises(ValueError, match=r"'lemma52' .* is one of shuffle_sym\.papers\.balle2019\.blanket already"):

        @derivation("Another one", "nobody")
        def lemma52():
            return ()


def test_every_claim_lies_in_the_folder_of_its_paper_and_has_its_verdict_recorded_there():
    for paper in audit.PAPERS:
        recorded = json.loads((PAPERS / paper.key / audit.RECORD).read_text(encoding="utf-8"))
        assert list(recorded) == [claim.id for claim in getattr(ss.papers, paper.key).claims.claim]
    assert list(audit.recorded()) == [claim.id for claim in audit.claims()]


def test_closed_forms_and_derivations_leave_the_claims_for_those_who_ask():
    code = """
import sys, shuffle_sym as ss
assert dir(ss.bounds) and dir(ss.derivations)
assert not [m for m in sys.modules if ".claims" in m or m in ("matplotlib", "scipy.stats", "scipy.fft")], sys.modules
assert ss.audit.recorded() and "shuffle_sym.papers.su2025.claims" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
