"""What a notebook shows at the end of a cell."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import cards
from shuffle_sym.algebra.interval import Interval

HALF = sp.Rational(1, 2)
R = ss.KRR(k=10, eps0=4)
#: Something, or a function that computes it, and what its card says.
SHOWN = {
    "symbols": (ss.KRR(), ["KRR(k=k, eps0=epsilon_0)", "e^ε₀"]),
    "numbers": (R, ["≈ 0.1572", "≈ 54.6"]),
    "a matrix": (ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), ["7/10</td>", "inputs, messages"]),
    "a large matrix": (ss.from_matrix(R.matrix()), ["10, 10", "…"]),
    "a matrix without privacy": (ss.from_matrix([[1, 0], [HALF, HALF]]), ["∞"]),
    "a long fraction": (ss.from_matrix([["1e-20", 1 - sp.Rational("1e-20")], [HALF, HALF]]), ["≈ 0.5</td>"]),
    "noise": (ss.Laplace(eps0=1), ["[0, 1]", "density"]),
    "all randomizers": (ss.AnyRandomizer(eps0=2), ["≈ 0.1353"]),
    "a mechanism": (ss.Shuffle(R, 10_000), ["10,000", "<img", "upper end: all datasets"]),
    "a pair of laws": (ss.Shuffle(ss.decomposition.clones(4), 10_000), ["standard clone", "of this pair of laws"]),
    "a mechanism of symbols": (ss.Shuffle(ss.KRR(), 9), ["needs numbers for epsilon_0, k"]),
    "a refused answer": (ss.Shuffle(ss.from_matrix([[1, 0], [HALF, HALF]]), 5), ["no ε meets delta = 1e-06"]),
    "what would take long": (ss.Shuffle(ss.from_matrix(R.matrix()), 100), ["ask .epsilon(delta)"]),
    "a profile": (lambda: ss.Shuffle(R, 100).profile(rtol=0.1), ["points", "rtol", "<img"]),
    "rounds": (ss.Shuffle(R, 1_000).compose(16), ["16 rounds", "ask .epsilon(1e-6)"]),
    "different rounds": (ss.compose([ss.Shuffle(R, 1_000), (ss.Shuffle(R, 9), 2)]), ["3 rounds", "ask .epsilon"]),
}


class Balanced(HTMLParser):
    """Fails on a tag that is not closed, or closed twice."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SHOWN)
def test_a_card_says_what_a_thing_is_and_is_html(name):
    thing, words = SHOWN[name]
    html = (thing() if callable(thing) else thing)._repr_html_()
    for word in words:
        assert word in html
    parser = Balanced()
    parser.feed(html)
    assert not parser.open
    # Text has the colour of the page, whatever its theme.
    assert not re.search(r"(?<![-\w])color:(?!inherit)|fill=\"#(?!2a8fd6)", html)


def test_a_card_shows_the_answer_that_the_mechanism_gives():
    M = ss.Shuffle(R, 10_000)
    assert str(M.epsilon(1e-6, rtol=1e-2)) in M._repr_html_()
    assert repr(M) == "Shuffle(KRR(k=10, eps0=4), n=10000)"  # elsewhere it is plain text


def test_rounds_show_their_answer_once_a_question_was_asked():
    rounds = ss.Shuffle(R, 10_000).compose(16)
    rounds.epsilon(1e-6, rtol=1e-2)
    assert str(rounds.epsilon(1e-6, rtol=1e-2)) in rounds._repr_html_()
    assert "<img" in rounds._repr_html_()


def test_text_is_escaped():
    D = ss.model.Decomposition([1, 0], [HALF, HALF], [HALF, HALF], title="<script>alert(1)</script>")
    assert "<script>" not in ss.Shuffle(D, 9)._repr_html_()


def test_a_card_never_fails():
    class Broken(ss.KRR):
        @property
        def gamma(self):
            raise ss.VerificationError("no <bound> is known")

    assert "no &lt;bound&gt; is known" in Broken(k=3, eps0=1)._repr_html_()
    broken = ss.Shuffle(R, 9)
    broken.epsilon = lambda *_, **__: 1 / 0
    assert "division by zero" in cards.of_mechanism(broken)


def test_a_card_answers_for_as_many_ordered_pairs_of_inputs_as_it_may(monkeypatch):
    four = ss.from_matrix([[HALF, HALF], ["1/3", "2/3"], ["1/4", "3/4"], ["1/5", "4/5"]])  # 12 of them
    for most, few in ((12, True), (11, False)):
        monkeypatch.setattr(cards, "_FEW_PAIRS", most)
        assert cards._few_pairs(four) is few


def test_a_curve_whose_epsilon_is_only_known_from_above_is_sketched_too():
    answer, sketch = cards._answers(lambda _: Interval(0.0, 2.0), lambda eps: [Interval(0.0, 0.5) for _ in eps])
    assert answer == str(Interval(0.0, 2.0))
    assert "<img" in sketch


def test_the_curve_of_a_card_ends_at_the_answer():
    M = ss.Shuffle(R, 10_000)
    drawing = base64.b64decode(M._repr_html_().partition("base64,")[2].partition('"')[0]).decode()
    # The axes end where the line does: at the answer, and at δ = 10⁻⁶.
    assert f">{M.epsilon(1e-6, rtol=1e-2).upper:.3g}<" in drawing
    assert ">−6<" in drawing
    *_, last = re.search(r'd="M([^"V]* L[^"]*)"', drawing)[1].split(" L")
    *_, corner = re.search(r'd="(M[^"]*V[^"]*)"', drawing)[1].split("V")
    assert [float(x) for x in reversed(last.split(","))] == [float(x) for x in corner.split(" H")]


def test_a_card_reads_the_same_where_everything_but_plain_tables_is_stripped():
    # What JupyterLab leaves of a card in a notebook that it does not trust: these tags, and the text of all others.
    html = ss.Shuffle(ss.from_matrix([["3/5", "2/5"], ["2/5", "3/5"]]), 100)._repr_html_()
    left = {"div", "b", "table", "tr", "td", "i", "img"}
    assert set(re.findall(r"</?(\w+)", html)) <= left
    assert "4/5" in html  # γ, the sum of the smaller entry of each column
    text = re.sub(r"<[^>]*>", " ", html)
    assert re.findall(r"γ\s+(\S+)", text) == ["4/5"]
