"""Four threads and four processes answer alike, bit for bit, whatever else they are asked at the same time."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import shuffle_sym as ss

QUESTIONS = [
    ("delta", 0.2, 30),
    ("epsilon", 1e-6, 3_000),
    ("log_delta", 0.5, 100),
    ("hockey_stick", 0.9, 40),
]
RANDOMIZERS = {
    "2-RR": lambda: ss.BinaryRR(eps0="log(3)"),
    "3-RR": lambda: ss.KRR(k=3, eps0=2),
    "OUE": lambda: ss.OUE(d=4, eps0=1),
    "any": lambda: ss.AnyRandomizer(eps0=1),
}


def answer(name: str, question: str, value: float, n: int) -> tuple[str, str, str]:
    found = getattr(ss.Shuffle(RANDOMIZERS[name](), n), question)(value, rtol=0.02)
    return float(found.lower).hex(), float(found.upper).hex(), str(found.method)


def answers(executor: Executor) -> list[tuple[str, str, str]]:
    asked = [(name, *question) for question in QUESTIONS for name in RANDOMIZERS]
    # Each question twice, so that equal ones run at the same time.
    found = [f.result() for f in [executor.submit(answer, *one) for one in asked for _ in range(2)]]
    assert found[::2] == found[1::2]
    return found[::2]


@pytest.fixture(scope="module")
def alone():
    return [answer(name, *question) for question in QUESTIONS for name in RANDOMIZERS]


def test_four_threads_answer_alike(alone):
    with ThreadPoolExecutor(4) as executor:
        assert answers(executor) == alone


def test_four_processes_answer_alike(alone):
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as executor:
        assert answers(executor) == alone
