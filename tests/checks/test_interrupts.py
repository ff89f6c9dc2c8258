"""The quick form of the check of interrupts; ``make cross-check`` runs the long one."""

from __future__ import annotations

import random
import sys
import time

import pytest

from checks import interrupts

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="processes are forked"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pytest.mark.parametrize("name", ["noise, delta", "a derivation", "sampled users"])
def test_an_interrupt_comes_out_and_the_next_answer_is_that_of_a_fresh_process(name):
    wrong, _ = interrupts.examined(name, 1, random.Random(1))
    assert wrong == []


def test_a_question_that_swallows_interrupts_and_one_that_remembers_them_are_noticed(monkeypatch):
    times = []

    def swallows(made):
        for _ in range(3):
            try:
                time.sleep(0.1)
            except KeyboardInterrupt:
                raise ValueError("something else") from None
        return "answer"

    def remembers(made):
        times.append(1)
        time.sleep(0.3)
        return f"asked {len(times)} times"

    monkeypatch.setitem(interrupts.QUESTIONS, "swallows", interrupts.Question(list, swallows))
    monkeypatch.setitem(interrupts.QUESTIONS, "remembers", interrupts.Question(list, remembers))
    swallowed, _ = interrupts.examined("swallows", 1, random.Random(1))
    remembered, _ = interrupts.examined("remembers", 1, random.Random(1))
    assert "WRONG ValueError" in swallowed[0]
    assert "asked 2 times" in remembered[0]
