"""What the audit says of the numbers of terms in Koskela et al. 2021, by other means again."""

from __future__ import annotations

import math

import pytest

from shuffle_sym.papers import audit
from shuffle_sym.papers.koskela2021 import claims

CLAIMS = {claim.id: claim for claim in audit.claims()}


@pytest.mark.parametrize(("t", "others", "x"), [(2, 40, 3), (5, 60, 2), (3, 7, 28)])
def test_the_terms_that_are_kept_are_counted_one_by_one(t, others, x):
    pairs = [
        (i, j)
        for i in range(others + 1)
        for j in range(-2 * others, 2 * others)
        if abs(i - others / t) <= math.sqrt(others * x / 2) and abs(j - i / 2) <= math.sqrt(i * x / 2)
    ]
    assert claims.terms(t, others, x) == len(pairs)


def test_terms_of_the_order_n_squared_would_be_noticed(monkeypatch):
    monkeypatch.setattr(claims, "terms", lambda t, others, x: others**2 // 4)
    assert CLAIMS["K-6.2-terms"].examine().verdict == "false"


def test_a_slow_pld_would_be_noticed(monkeypatch):
    """The verdict follows the clock: were forming the PLD slower than the transforms, the statement would hold."""
    ticks = iter([0.0, 1.0, 10.0, 10.5, 20.0, 25.0])  # n = 10, the transforms, n = 1000
    monkeypatch.setattr(claims.time, "perf_counter", lambda: next(ticks))
    monkeypatch.setattr(claims.np.fft, "rfft", lambda masses: masses)
    monkeypatch.setattr(claims.np.fft, "irfft", lambda transform, m: transform)
    evidence = CLAIMS["K-6.2-time"].examine()
    assert evidence.verdict == "holds"
    assert evidence.printed.kind == "measured"
