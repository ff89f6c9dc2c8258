"""Every analysis of one mechanism: upper bounds are above the maximum over all datasets, attacks below it."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import analyses
from shuffle_sym.accounting.analyses import Analysis

q = sp.Rational
half = q(1, 2)
RANDOMIZERS = {
    "2-RR": ss.BinaryRR(eps0=sp.log(3)),
    "3-RR": ss.KRR(k=3, eps0=sp.log(4)),
    "a weak one": ss.BinaryRR(eps0=sp.log(q(5, 4))),
    "subsets": ss.SubsetSelection(d=4, w=2, eps0=sp.log(2)),
    "lopsided": ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]),
    "tall": ss.from_matrix([[0.5, 0.5], [0.4, 0.6], [0.25, 0.75]]),
    "wide": ss.from_matrix([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]]),
    "a message that only one sends": ss.from_matrix([[half, half, 0], [q(1, 4), half, q(1, 4)]]),
}
PAPERS = ("Balle et al. 2019", "Erlingsson et al. 2019", "Feldman et al. 2020", "Girgis et al. 2021", "Koskela et al.")


@pytest.mark.parametrize("R", RANDOMIZERS.values(), ids=RANDOMIZERS.keys())
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("alpha", [1, q(6, 5), 2, 9])
def test_bounds_are_above_the_worst_datasets_and_attacks_below(R, n, alpha):
    M = ss.Shuffle(R, n)
    exact = M.exact(alpha)
    truth = Fraction(int(exact.p), int(exact.q))
    found = M.analyses(eps=sp.log(alpha))
    assert truth in found.answer
    kinds = {row.kind for row in found.rows if row.value is not None}
    assert {"upper", "lower"} <= kinds
    for row in found.rows:
        if row.value is not None and row.kind == "upper":
            assert row.value >= truth, row
        elif row.value is not None and row.kind == "lower":
            assert row.value <= truth, row


@pytest.mark.parametrize("name", ["2-RR", "3-RR", "lopsided", "tall", "wide"])
def test_every_epsilon_is_on_its_side_of_what_is_true(name):
    delta, M = q(1, 20), ss.Shuffle(RANDOMIZERS[name], 5)
    found = M.analyses(delta=delta)
    assert found.answer.lower > 0
    for row in found.rows:
        if row.value and row.kind != "approximation":
            there = M.exact(sp.exp(sp.Rational(row.value)), digits=30)
            assert there <= delta if row.kind == "upper" else there >= delta, row


@pytest.mark.parametrize(
    "R",
    [ss.KRR(k=10, eps0=4), ss.BinaryRR(eps0=1), ss.AnyRandomizer(2), ss.AnyRandomizer(0.25, data_shuffled_first=True)],
    ids=repr,
)
@pytest.mark.parametrize("question", [{"delta": 1e-6}, {"eps": 0.1}], ids=str)
def test_the_answer_is_the_best_of_all(R, question):
    found = ss.Shuffle(R, 2_000).analyses(**question)
    # All datasets of two messages take too long for every answer.
    bounds = [row for row in found.rows if row.value is not None and row.kind == "upper" and row.name != "all datasets"]
    upper = min(row.value for row in bounds)
    lower = max(row.value for row in found.rows if row.value is not None and row.kind == "lower")
    assert lower <= upper
    assert found.answer.upper <= upper * 1.002
    assert found.answer.lower >= lower * 0.998
    values = [row.value for row in found.rows if row.value is not None]
    assert values == sorted(values, reverse=True)


def test_a_row_is_what_its_analysis_says_by_itself():
    found = ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000).analyses(delta=1e-6)
    assert found.row("clones").value == ss.Shuffle(ss.decomposition.clones(4), 10_000).epsilon(1e-6).upper
    assert (
        found.row("blanket").value
        == ss.Shuffle(ss.decomposition.blanket(ss.KRR(k=10, eps0=4)), 10_000).epsilon(1e-6).upper
    )
    assert found.row("Bennett").value == ss.bounds.balle2019_bennett(ss.KRR(k=10, eps0=4), 10_000, 1e-6)
    reached = ss.rdp.epsilon(lambda order: ss.bounds.girgis2021_thm36(4, 10_000, order), 1e-6).value
    assert found.row("Girgis, expectation").value == reached


def test_every_paper_with_a_bound_is_there():
    sources = [analysis.source for analysis in analyses.TABLE.values()]
    for paper in (*PAPERS, "Su et al. 2025", "this package"):
        assert any(paper in source for source in sources), paper


def test_the_normal_limit_is_close_for_many_users_and_no_bound():
    found = ss.Shuffle(ss.KRR(k=10, eps0=1), 10**8).analyses(delta=1e-6)
    assert found.row("normal limit").kind == "approximation"
    assert found.row("normal limit").value == pytest.approx(found.answer.upper, rel=2e-3)


def test_what_does_not_apply_says_why():
    found = ss.Shuffle(ss.Gaussian(sigma="2/5"), 50).analyses(eps=0.5, rtol=0.1)
    assert found.row("clones").refusal == "eps0 must be finite, but Gaussian(sigma=2/5) is not ε0-LDP for any ε0"
    assert "noise that is not too small, got Gaussian(sigma=2/5)" in found.row("drop-out").refusal
    assert all((row.value is None) == bool(row.refusal) for row in found.rows)
    few = ss.Shuffle(ss.KRR(k=10, eps0=4), 100).analyses(delta=1e-6)
    assert few.row("Feldman").refusal.startswith("eps0 must be at most")
    assert few.row("all datasets").shown == "says nothing"


def test_bounds_for_one_randomizer_are_not_used_where_each_place_may_have_another():
    found = ss.Shuffle(ss.AnyRandomizer(0.25, data_shuffled_first=True), 10_000).analyses(delta=1e-6)
    said = {row.name for row in found.rows if row.value is not None and row.kind == "upper"}
    assert said == {"local randomizer", "Erlingsson", "Feldman", "clones", "Koskela's clones"}
    assert found.row("shared clones").refusal == "all users must share one randomizer"


def test_two_messages_are_decided_by_all_datasets():
    found = ss.Shuffle(ss.BinaryRR(eps0=2), 300).analyses(eps=0.2)
    assert found.row("all datasets").value == min(row.value for row in found.rows if row.kind == "upper" and row.value)


def test_the_table_is_text_html_and_survives_a_pickle():
    found = ss.Shuffle(ss.KRR(k=3, eps0=1), 1_000).analyses(delta=1e-6)
    lines = str(found).splitlines()
    assert lines[0] == f"Shuffle(KRR(k=3, eps0=1), n=1000): ε at δ = 1e-06 is in {found.answer}"
    assert lines[1].split() == ["ε", "analysis", "source", "holds", "for"]
    assert len(lines) == 2 + len(found.rows)
    assert lines[1].index("source") == lines[2].index(found.rows[0].source)
    assert found._repr_html_().count("<tr>") == 1 + len(found.rows)
    assert "Koskela&#x27;s clones" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_value_is_rounded_to_the_safe_side():
    found = ss.Shuffle(ss.KRR(k=3, eps0=1), 1_000).analyses(delta=1e-6)
    for row in found.rows:
        if row.value is not None and row.kind != "approximation":
            shown = Fraction(row.shown[2:])
            assert shown >= row.value if row.kind == "upper" else shown <= row.value


def test_a_new_analysis_is_in_the_next_table(monkeypatch):
    monkeypatch.setattr(analyses, "TABLE", dict(analyses.TABLE))
    analyses.add(Analysis("trivial", "nobody", "upper", "everything", lambda *_: 5.0, lambda *_: 1.0))
    assert ss.Shuffle(ss.BinaryRR(eps0=1), 10).analyses(eps=0.1).row("trivial").value == 1
    with pytest.raises(ValueError, match="kind must be one of 'upper', 'lower'"):
        analyses.add(Analysis("wrong", "", "sideways", "", lambda *_: 5.0, lambda *_: 1.0))
