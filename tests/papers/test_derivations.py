"""Every derivation is a chain of lines that are shown when they are written, and a changed line is refused."""

from __future__ import annotations

import re
from functools import cache

import pytest
import sympy as sp

import shuffle_sym as ss
from checks.derivations import changed_definitions, changed_lines
from shuffle_sym.algebra import field, latex
from shuffle_sym.model.continuous import x as input_
from shuffle_sym.model.continuous import y
from shuffle_sym.papers import derivations
from shuffle_sym.papers.engine import walk
from shuffle_sym.papers.engine.chains import Chain, Line
from tools import formulas

TABLES = [
    ss.KRR(),
    ss.SubsetSelection(),
    ss.RAPPOR(),
    ss.RAPPOR(d=sp.oo),
    ss.OUE(),
    ss.OUE(d=sp.oo),
    ss.BLH(),
    ss.OLH(),
    ss.OLH(d=sp.oo),
    ss.HadamardResponse(),
    ss.Parallel([ss.KRR(), ss.OUE(d=field.k)], weights=[0.5, 0.5]),
    ss.BinaryRR(),
]
BUILDERS = {
    **derivations.ALL,
    **{f"gparv_table({R!r})": lambda R=R: derivations.gparv_table(R) for R in TABLES},
}
# Each is built once: the tests of a file run in one process.
BUILDERS = {name: cache(build) for name, build in BUILDERS.items()}
each = pytest.mark.parametrize("build", [pytest.param(build, id=name) for name, build in BUILDERS.items()])


@each
def test_a_changed_line_or_definition_is_refused(build):
    d = build()
    for what, noticed in [*changed_lines(d), *changed_definitions(d)]:
        assert noticed, what


@each
def test_every_line_goes_on_where_the_last_one_ended(build):
    d = build()
    for block in d.blocks:
        for chain in (block, *getattr(block, "branches", ())):
            if isinstance(chain, Chain):
                assert all(a.right == b.left for a, b in zip(chain.parts, chain.parts[1:], strict=False))
    assert any(isinstance(line, Line) for line in d), "definitions alone show nothing"


@each
def test_what_a_derivation_rests_on_is_told(build):
    d = build()
    assert d.proved == (not d.by and not d.checked)
    assert (d.established == "proved") == d.proved
    for theorem in d.by:
        assert theorem.hypotheses, f"{theorem.name} without its hypotheses"
        assert latex.in_text(theorem.name) in d.established


@each
def test_no_theorem_rests_on_words_alone(build):
    d = build()
    cited = {one for lemma in d.lemmas for one in lemma.by}
    own = [one for one in d.by if one not in cited]
    assert not [one.name for one in own if all(hypothesis.status == "stated" for hypothesis in one.hypotheses)]


@each
def test_a_derivation_shows_itself(build):
    d = build()
    text, page, paper = str(d), d.to_markdown(), d.to_latex()
    assert all(f"({number})" in text and f"| ({number}) |" in page for number in range(1, len(d) + 1))
    assert not [line.relational() for line in d if sp.latex(line.left) == sp.latex(line.right)], "drawn alike"
    assert not re.search(r"[\\$]", text), "a formula that is still LaTeX"
    # MathJax, and so JupyterLab, replaces these with a copy of all that follows, and refuses beyond 5 kB.
    assert not re.search(r"(?<!\\)\\(?: |bmod|pmod|iff|implies|stackrel|boxed|mathstrut)", page)
    rows = [row for row in page.splitlines() if row.startswith("|")]
    assert {row.count("|") for row in rows} == {4}, "a bar in a cell ends the cell"
    assert paper.isascii()
    assert [int(number) for number in re.findall(r"\\tag\{(\d+)\}", paper)] == list(range(1, len(d) + 1))


@pytest.mark.skipif(formulas.node() is None, reason="there is no Node.js here, so MathJax was not asked")
def test_jupyterlab_draws_every_formula_of_every_derivation_and_every_page_of_its_walker():
    derived = {name: build() for name, build in BUILDERS.items()}
    pages = [(name, "text/markdown", d.to_markdown()) for name, d in derived.items()]
    pages += [
        (f"{name}, line {number}", "text/markdown", walk.page(d, number, reason=True)["text/markdown"])
        for name, d in derived.items()
        for number in range(1, len(d) + 1)
    ]
    said = formulas.asked(pages)
    assert said["formulas"] > 2 * len(pages)
    assert said["refused"] == []


@pytest.mark.parametrize("R", TABLES, ids=repr)
def test_a_gparv_table_ends_in_the_mean(R):
    assert derivations.gparv_table(R).result == 1 - field.alpha


def test_the_moments_of_laplace_come_from_the_density_of_the_randomizer():
    # The derivation integrates piecewise densities; compare one of them with the definition in the catalogue.
    R = ss.Laplace(eps0=2)
    ratio = (R.density.subs(input_, 0) / R.density.subs(input_, 1)).subs(y, sp.Rational(1, 5))
    assert sp.simplify(ratio - sp.exp(2 * (sp.Rational(4, 5) - sp.Rational(1, 5)))) == 0  # |y − 1| − |y|
