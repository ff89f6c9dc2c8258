"""The audit: verdicts follow from evidence, every claim has one, and every refutation names an exact case."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import sympy as sp
from conftest import shuffled_laws
from hypothesis import given, settings
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.papers import audit, derivations
from shuffle_sym.papers.audit import main
from shuffle_sym.papers.claims import Check, Claim, Evidence
from shuffle_sym.papers.tools import exact

F = Fraction
CLAIMS = {claim.id: claim for claim in audit.claims()}

#: The statements that were chosen to be examined, by paper.
LIST = {
    "koskela2021": """
        K-Thm5/(2.3); K-001-Def1; K-001-beta; K-Lem6; K-Alg1; K-Thm7; K-2RR-worst; K-4.1-PLD; K-ratio; K-Ps/Qs;
        K-Thm10; K-Fig1; K-AppA; K-6.1-pair; K-LemB1; K-Lem11-b>0; K-Lem11-b=0; K-LemB2-q; K-LemB2-b=0,a>0;
        K-LemB2-(0,0); K-LemB3; K-eq6.7; K-eq6.8; K-delta_inf; K-6.2-Hoeffding; K-C1; K-C2; K-C3-adv;
        K-C4-weaker""",
    "su2025": """
        S-Lem1; S-Thm2; S-Thm3; S-Thm4; S-3.3-specific; S-eq1; S-Lem5; S-Thm6; S-Thm7; S-Lem8; S-Thm9;
        S-Prop2(1); S-Prop2(2); S-Rem1; S-Round; S-Err1; S-Err2; S-Hoeff; S-Table1-kRR; S-Table1-BLH;
        S-Table1-RAPPOR; S-Table1-OUE; S-Table1-HR; S-Table2-RAPPOR; S-Table2-BLH/OUE/HR; S-5.3-|X|=2; S-Thm10;
        S-Joint; S-Ex6.1; S-Thm11/12; S-Parallel; S-AppE; S-681; S-Sec9; S-AppA; S-AppB; S-Laplace-CDF;
        S-headline""",
    "balle2019": """
        B-Thm3.1; B-196; B-Thm4.1 MSE; B-Cor4.1.1; B-Lem4.3; B-Lem4.4; B-Lem4.5; B-Thm4.2; B-Lem5.1(1);
        B-Lem5.1(2); B-Lem5.1(3); B-Lem5.2; B-Thm5.1; B-Lem5.3; B-LemA.1; B-675; B-LemA.2; B-LemA.3; B-Lem5.4;
        B-LemA.4; B-Lem5.5; B-Lem5.6; B-Lem5.7; B-Lem5.8(1); B-Lem5.8(2); B-890; B-Thm5.3; B-Cor5.3.1;
        B-Sec6-order""",
    "girgis2021": """
        G-Lem2.1; G-eq5/Thm3.1; G-Cor3.2/(6); G-Rem1; G-eq7; G-eq8/Thm3.3; G-Rem3; G-Rem4; G-eq9; G-253;
        G-Thm3.4; G-Cor3.5-Jensen; G-Cor3.5; G-Rem7; G-Thm3.6; G-Thm3.7; G-Lem5.1; G-Lem5.2; G-Lem5.3;
        G-Lem6.1(1,2); G-Lem6.1(3)/(34),(35); G-Lem6.2; G-eq40; G-LemD.1; G-Thm7.1; G-Claim1; G-8x""",
}


#: Statements that were met while those were examined, and what the papers conclude from their experiments and rates.
ADDED = {
    *("K-6.2-terms", "K-6.2-time", "S-29", "S-570", "S-679", "B-404", "B-420", "B-574", "B-574-[14]", "B-578"),
    *("G-671", "G-323", "G-10x", "G-253-factor", "G-325"),
}
#: What is counted as a refutation, and comes with a case that fails.
REFUTED = ("misprint", "misprint or misread", "not reproduced", "false")


def ids(key: str) -> list[str]:
    return [" ".join(id.split()) for id in LIST[key].split(";")]


#: Refuted claim → numbers of its case, worked out apart from the audit (by hand, or in the tests that are named).
CASES = {
    "K-Alg1": ["0, up to", "1/6"],  # (t − α)/(t + 1) at t = 2, α = 3/2
    "K-001-beta": ["3/4"],  # 1 − γ
    "K-2RR-worst": ["29/216", "7/54"],  # test_koskela
    "K-Ps/Qs": ["5764801/16777216", "28288155654187/80244904034304"],  # (7/8)^8; test_koskela
    "K-Thm10": ["1/18", "1/9"],  # test_koskela
    "K-Fig1": ["below what their adversary sees"],  # numbers: test_figure_1…
    "K-AppA": ["1/2"],  # 1!/(2! 0!)
    "K-6.1-pair": ["1/6", "2/3"],  # the local curve; q itself
    "K-LemB2-q": ["1/5", "1/3"],  # test_koskela
    "K-C4-weaker": ["1/6", "1/8"],
    "S-3.3-specific": ["7/150", "1/25"],
    "S-Lem8": ["3/16", "3/4"],  # γ = 1/2: 1/γ² is four times 1/(γ·2)
    "S-Prop2(1)": ["-1", "1/2"],  # 1 − 2 and 1 − 1/2
    "S-Rem1": ["4/3", "5/4"],  # 2 − 2/3 and 2 − 3/4
    "S-Hoeff": ["probability 1"],
    "S-Table1-kRR": ["4/(3e² − 1)"],
    "S-Table1-RAPPOR": ["8/9"],  # 3/9 + 1/18 + 1/2
    "S-Table2-RAPPOR": ["8/9"],  # 5/9 + 2/9 + 1/9
    "S-5.3-|X|=2": ["1/16", "3/16"],  # the doctests of ground_truth
    "S-Ex6.1": ["(3/(2e² − 1))²"],
    "S-681": ["495/1156", "4341/10000"],
    "S-Sec9": ["1/32", "3/64"],
    "S-AppA": ["1/4", "gives 0"],  # the other user sends the other value at random: γ/k
    "S-headline": ["Laplace at ε0 = 0.1"],  # the gain: test_laplace…
}


@pytest.fixture
def quick() -> audit.Audit:
    return recomputed()


@cache
def recomputed() -> audit.Audit:
    return audit.run(quick=True)


@cache
def examined(id: str) -> audit.Result:
    """One claim; a slow one is not among the quick ones."""
    return (audit.run([id]) if CLAIMS[id].slow else recomputed())[id]


@pytest.mark.parametrize("paper", audit.PAPERS, ids=lambda paper: paper.key)
def test_every_claim_of_the_list_is_examined_and_few_others(paper):
    found = {claim.id for claim in paper.claims}
    assert len(found) == len(paper.claims)
    assert found >= set(ids(paper.key))
    assert found - set(ids(paper.key)) <= ADDED


def test_the_record_counts_138_verdicts():
    assert Counter(audit.recorded().values()) == {
        "holds": 62,
        "holds if": 29,
        "misprint": 15,
        "misprint or misread": 12,
        "not reproduced": 3,
        "false": 17,
    }


def test_there_are_123_claims_on_the_list():
    assert sum(len(ids(key)) for key in LIST) == 123
    assert set(audit.recorded()) == {claim.id for claim in audit.claims()}


def test_the_quick_verdicts_and_their_evidence_are_the_recorded_ones(quick):
    assert quick.changed() == {}
    assert len(quick) >= 60
    before = audit.on_record([result.id for result in quick])
    for now, then in zip(quick, before, strict=True):
        assert (now.id, now.evidence) == (then.id, then.evidence)


def test_the_readme_and_the_guide_count_the_recorded_verdicts():
    found = Counter(audit.recorded().values())
    root = Path(__file__).parent.parent.parent
    readme, text = (
        " ".join((root / name).read_text(encoding="utf-8").split()) for name in ("README.md", "docs/guide.md")
    )
    assert f"{found.total()} statements of the papers checked: {found['false']} are false" in readme
    assert f"{found.total()} statements of the papers" in text
    assert f"{found['holds']} hold, {found['holds if']} hold under a condition" in text
    assert f"{found['misprint']} are misprints, {found['misprint or misread']} are misprints unless the page" in text
    assert f"{found['not reproduced']} could not be reproduced" in text
    assert f"{found['false']} are false" in text


def test_few_claims_are_slow():
    assert sum(claim.slow for claim in audit.claims()) <= 12


def refutations() -> list[str]:
    return [id for id, verdict in audit.recorded().items() if verdict in REFUTED]


@pytest.mark.parametrize("id", refutations())
def test_a_refuted_claim_fails_on_a_case_that_is_named(id):
    evidence = examined(id).evidence
    assert evidence.verdict in REFUTED
    assert evidence.printed.passes is False
    assert evidence.printed.kind in ("counterexample", "certified floats", "measured")
    assert re.search(r"\d", evidence.printed.finding)
    for numbers in CASES.get(id, []):
        assert numbers in evidence.printed.finding
    # Were the printed form right, the verdict would be another one.
    right = dataclasses.replace(evidence, printed=dataclasses.replace(evidence.printed, passes=True))
    assert right.verdict == "holds"


def test_figure_1_shows_what_plain_binomials_give():
    """Both printed pairs from their definitions, in the worse of their directions, with nothing from the package."""
    n, alpha = 1000, F(6, 5)  # γ = 1/4, k = 4

    def binomial(size: int, p: Fraction) -> list[Fraction]:
        return [math.comb(size, i) * p**i * (1 - p) ** (size - i) for i in range(size + 1)]

    strong: list[Counter[int]] = [Counter(), Counter()]
    for i, mass in enumerate(map(float, binomial(n - 1, F(1, 16)))):
        strong[0][i + 1] += mass
        strong[1][i] += mass
    weak: list[Counter[int]] = [Counter(), Counter()]
    for B, chance in enumerate(map(float, binomial(n - 1, F(1, 4)))):
        for i in range(B + 1 if chance > 1e-12 else 0):
            mass = chance * float(F(math.comb(B, i) * 3 ** (B - i), 4**B))
            for law, sent in zip(weak, (13 / 16, 1 / 16), strict=True):  # 1 − γ + γ/k and γ/k
                law[12 * (i + 1) + B + 1] += sent * mass  # 16 times (1 − γ)N + (B + 1)γ/k
                law[12 * i + B + 1] += (1 - sent) * mass
    finding = examined("K-Fig1").evidence.printed.finding
    for P, Q in (strong, weak):
        ways = [sum(max(X[v] - float(alpha) * Y[v], 0.0) for v in {*X, *Y}) for X, Y in ((P, Q), (Q, P))]
        assert f"{max(ways):.6f}" in finding, (ways, finding)


def test_laplace_gains_less_than_a_tenth_by_the_lattice_too():
    lower = shuffled_laws(ss.Laplace(eps0=0.1).lower(64), 1000).epsilon(1e-6, rtol=0.01, method="fft").lower
    clones = shuffled_laws(ss.decomposition.clones(0.1), 1000).epsilon(1e-6, rtol=0.01, method="fft").upper
    assert 0.9 < lower / clones < 1


def test_every_refuted_claim_of_the_first_two_papers_has_its_numbers():
    assert {id for id in refutations() if id[0] in "KS"} - {"K-6.2-time"} == set(CASES)


def test_every_misprint_says_whether_the_page_may_be_misread(quick):
    for result in quick:
        evidence = result.evidence
        assert bool(evidence.page) == (result.verdict in REFUTED[:-1]), result.id
        assert (result.verdict == "misprint or misread") == evidence.page.startswith("perhaps misread: ")
    report = audit.Audit(quick.results).to_markdown()
    assert "*perhaps misread*: it is one letter, n for m." in report
    assert "*not in print*: how δ is split" in report


def test_a_condition_or_correction_comes_with_a_check_that_passes(quick):
    for result in quick:
        repairs = [check for check in (result.evidence.corrected, result.evidence.condition) if check is not None]
        assert len(repairs) == (result.verdict in (*REFUTED[:2], "holds if")), result.id
        assert all(check.passes for check in repairs)


GOOD = Check(True, "proved", "yes")


# -- the report


def test_a_verdict_that_changed_is_seen(monkeypatch):
    changed = {**audit.recorded(), "K-Lem6": "false"}
    monkeypatch.setattr(audit, "recorded", lambda: changed)
    assert audit.run(["K-Lem6", "K-LemB1"]).changed() == {"K-Lem6": ("false", "holds")}


def test_a_claim_without_a_record_counts_as_changed(monkeypatch):
    monkeypatch.setattr(audit, "recorded", dict)
    assert audit.run(["K-Lem6"]).changed() == {"K-Lem6": (None, "holds")}


def test_the_command_fails_if_a_verdict_changed(monkeypatch, capsys):
    assert main(["K-Lem6"]) == 0
    assert "K-Lem6 | **holds**" in capsys.readouterr().out
    changed = {**audit.recorded(), "K-Lem6": "false"}
    monkeypatch.setattr(audit, "recorded", lambda: changed)
    assert main(["K-Lem6", "--json"]) == 1
    assert "CHANGED: K-Lem6 was 'false' and is 'holds'" in capsys.readouterr().err


def test_recording_some_verdicts_keeps_the_others(monkeypatch, tmp_path):
    before, papers = audit.recorded(), []
    for paper in audit.PAPERS:
        papers.append(dataclasses.replace(paper, folder=tmp_path / paper.key))
        papers[-1].folder.mkdir()
        (papers[-1].folder / audit.RECORD).write_text((paper.folder / audit.RECORD).read_text(encoding="utf-8"))
    koskela = papers[0].folder / audit.RECORD
    wrong, right = {"passes": False, "kind": "counterexample", "finding": "no"}, dataclasses.asdict(GOOD)
    more = {"K-Lem6": {"printed": wrong}, "K-gone": {"printed": right}}
    koskela.write_text(json.dumps({**json.loads(koskela.read_text()), **more}))
    monkeypatch.setattr(audit, "PAPERS", tuple(papers))
    assert audit.recorded() == {**before, "K-Lem6": "false", "K-gone": "holds"}
    assert main(["K-Lem6", "--record"]) == 0
    assert audit.recorded() == before
    assert set(json.loads(koskela.read_text())) == {claim.id for claim in papers[0].claims}


def test_an_unknown_id_is_named():
    with pytest.raises(ValueError, match="'K-none'"):
        audit.run(["K-Lem6", "K-none"])


def test_an_id_that_was_not_examined_is_named():
    with pytest.raises(KeyError, match="K-Thm10"):
        audit.run(["K-Lem6"])["K-Thm10"]


def test_the_report_has_a_row_for_each_claim_and_escapes_bars():
    table = audit.Audit(
        (audit.Result(Claim("S-5.3-|X|=2", "1", "a claim", lambda: Evidence(GOOD)), Evidence(GOOD), 0.0),)
    )
    assert r"S-5.3-\|X\|=2" in table.to_markdown()
    assert table.counts["holds"] == 1
    assert '"verdict": "holds"' in table.to_json()


# -- the orders that were found on the way


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=3).filter(
        lambda rows: len({tuple(F(x, sum(row)) for x in row) for row in rows}) > 1
    ),
    st.integers(1, 3),
    st.integers(0, 7),
)
def test_no_blanket_is_above_that_of_2_rr_at_the_same_level(rows, n, eighths):
    R = ss.from_matrix([[F(x, sum(row)) for x in row] for row in rows])
    t = F(str(sp.exp(R.eps0)))
    alpha = 1 + (t - 1) * F(eighths, 8)
    assert exact(R, n, alpha) <= exact(ss.BinaryRR(eps0=sp.log(sp.Rational(t))), n, alpha)


@pytest.mark.exact
@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("t", [F(3, 2), F(4)])
def test_the_blanket_of_k_rr_falls_in_k(n, t):
    level = sp.log(sp.Rational(t))
    for i in range(6):
        alpha = 1 + (t - 1) * F(i, 6)
        values = [exact(ss.KRR(k=k, eps0=level), n, alpha) for k in (2, 3, 4, 7, 20)]
        assert values == sorted(values, reverse=True)
    established = "proved, by convex order is closed under independent sums"
    assert derivations.krr_falls_in_k().established == established


# -- Balle et al. and Girgis et al.

EXPECTED = {
    "misprint": ("B-196", "B-404", "B-675", "B-Lem5.6", "G-Lem5.1"),
    "misprint or misread": (
        *("B-Lem5.1(3)", "B-890", "G-eq5/Thm3.1", "G-Cor3.2/(6)", "G-eq7", "G-eq8/Thm3.3", "G-Rem3"),
    ),
    "not reproduced": ("G-8x", "G-10x"),
    "false": ("B-Sec6-order", "B-578", "G-671", "G-Rem4", "G-253", "G-323", "G-Cor3.5-Jensen", "G-Rem7"),
    "holds if": (
        *("B-Cor4.1.1", "B-Lem5.3", "B-LemA.2", "B-LemA.3", "B-LemA.4", "B-420", "B-574", "B-574-[14]"),
        *("G-Lem6.2", "G-eq40", "G-325"),
    ),
}


@pytest.mark.parametrize(("expected", "id"), [(verdict, id) for verdict, ids in EXPECTED.items() for id in ids])
def test_a_printed_form_that_fails_is_found_to_fail(expected, id, quick):
    evidence = quick[id].evidence
    assert evidence.printed.passes is False
    assert evidence.verdict == expected


def test_every_paper_has_the_claims_that_were_listed_and_fifteen_more():
    assert {paper.key: len(paper.claims) for paper in audit.PAPERS} == {
        "koskela2021": 29 + 2,
        "su2025": 38 + 3,
        "balle2019": 29 + 5,
        "girgis2021": 27 + 5,
    }
    assert set(CLAIMS) >= ADDED
