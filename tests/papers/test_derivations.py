"""Derivations are checked when they are built, and a wrong line cannot be built."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.model.continuous import x as input_
from shuffle_sym.model.continuous import y
from shuffle_sym.papers import derivations
from shuffle_sym.papers.derivation import Derivation, Step

pytestmark = pytest.mark.exact
x = sp.Symbol("x", positive=True)

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


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_every_step_is_proved_and_a_mutated_one_is_refused(build):
    d = build()
    assert d.proved
    for step in d:
        assert step.before != step.after, "a line that says nothing"
        wrong = (step.before, step.after + 1) if step.relation == "=" else (step.after + 1, step.before)
        with pytest.raises(ss.VerificationError):
            Step(*wrong, step.rule, step.relation)


@pytest.mark.parametrize("R", TABLES, ids=repr)
def test_a_gparv_table_ends_in_the_mean(R):
    assert derivations.gparv_table(R).result == 1 - field.alpha


def test_a_step_that_sympy_cannot_prove_needs_a_grid_and_says_so():
    n = sp.Symbol("n", integer=True, positive=True)
    before, after = sp.Mod(n**3 - n, 6), sp.Integer(0)
    step = Step(before, after, "divisible by six", grid={n: range(1, 20)})
    assert step.status == "checked"
    assert "n in" in step.evidence
    assert not Derivation("t", "s", (step,)).proved
    with pytest.raises(ss.VerificationError, match="cannot prove"):
        Step(before, after, "divisible by six")
    with pytest.raises(ss.VerificationError, match="fails at"):
        Step(sp.Mod(n**3, 6), after, "not divisible by six", grid={n: range(1, 20)})


def test_sums_over_binomial_coefficients_are_taken_for_all_values_of_the_symbols():
    i, j, m = sp.symbols("i j m", integer=True, nonnegative=True)
    z, w = sp.symbols("z w")
    terms = sp.binomial(m, i) * z**i * w ** (m - i)
    assert Step(sp.Sum(terms, (i, 0, m)), (z + w) ** m, "binomial theorem").status == "proved"
    nested = sp.Sum(terms * sp.binomial(i, j), (j, 0, i), (i, 0, m))
    assert Step(nested, (2 * z + w) ** m, "twice").status == "proved"
    for wrong in (
        sp.Sum(terms, (i, 0, m - 1)),  # one term is missing
        sp.Sum(terms, (i, 1, m)),
        sp.Sum(terms * i, (i, 0, m)),  # not geometric
        sp.Sum(terms * z ** (i**2), (i, 0, m)),
    ):
        with pytest.raises(ss.VerificationError):
            Step(wrong, (z + w) ** m, "not the binomial theorem")


def test_sums_of_binomial_coefficients_cancel_term_by_term():
    m, n = sp.symbols("m n", integer=True, positive=True)
    ratio = (sp.binomial(n, m) + sp.binomial(n, m + 1)) / (sp.binomial(n, m) - sp.binomial(n, m + 1))
    assert Step(ratio, (n + 1) / (2 * m + 1 - n), "divide by one of them").status == "proved"
    with pytest.raises(ss.VerificationError):
        Step(ratio, (n + 1) / (2 * m + 2 - n), "wrong")


@pytest.mark.parametrize("change", [sp.log, lambda r: sp.log(r) / sp.log(7)])
def test_numbers_that_differ_late_are_not_called_equal(change):
    # SymPy simplifies the difference of these two to 0.
    near, nearer = (1 + sp.Rational(i, 10**40) for i in (1, 3))
    with pytest.raises(ss.VerificationError, match="cannot prove"):
        Step(change(near), change(nearer), "not equal")
    with pytest.raises(ss.VerificationError, match="fails at"):
        Step(change(near * x), change(nearer * x), "not equal", grid={x: [1]})


def test_steps_and_derivations_are_frozen():
    d = derivations.lemma53()
    with pytest.raises(dataclasses.FrozenInstanceError):
        d.title = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        d.step(1).after = x


def test_a_step_is_shown_by_its_number():
    d = derivations.lemma57()
    assert d.step(3) is d.steps[2]
    for number in (0, 4):
        with pytest.raises(ValueError, match="1 … 3"):
            d.step(number)


def test_the_last_line_becomes_a_function_of_arrays():
    d = Derivation("t", "s", (Step(x * (x + 1), x**2 + x, "expand"),))
    assert list(d.numeric()(np.array([1.0, 2.0]))) == [2.0, 6.0]
    gamma = derivations.lemma51_krr().numeric()
    assert gamma(10, np.array([3.0]))[0] == pytest.approx(10 / 12)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
def test_a_derivation_shows_itself(build):
    d = build()
    assert str(d).count("\n") == len(d)
    text = d._repr_latex_()
    assert text.count("{") == text.count("}")
    assert text.count("(proved)") == len(d)
    assert text.count("$") == 2
    assert not re.search(r"\\text\{[^}]*(?<!\\)_", text), "an underscore in text breaks the whole formula"


def test_walking_works_with_buttons():
    box = derivations.lemma53().walk()
    back, number, on = box.children[0].children
    on.click()
    assert number.value == 2
    back.click()
    back.click()
    assert number.value == 1


def test_the_moments_of_laplace_come_from_the_density_of_the_randomizer():
    # The derivation integrates piecewise densities; compare one of them with the definition in the catalogue.
    R = ss.Laplace(eps0=2)
    ratio = (R.density.subs(input_, 0) / R.density.subs(input_, 1)).subs(y, sp.Rational(1, 5))
    assert sp.simplify(ratio - sp.exp(R.log_ratio.subs(y, sp.Rational(1, 5)))) == 0
