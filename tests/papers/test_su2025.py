"""What is said of G in Su et al. 2025, and their Algorithm 4 as printed."""

from __future__ import annotations

import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.papers import derivations
from shuffle_sym.papers.su2025 import algorithm4


def test_the_print_of_su_et_al_differs_from_the_derivation_in_two_entries():
    different = [(e.row, e.column) for e in derivations.compare() if not e.equal]
    assert different == [("RAPPOR", r"1 - \alpha"), ("RAPPOR", "r")]
    wrong = next(e for e in derivations.compare() if not e.equal)
    # With the printed entry the row does not sum to 1, with the derived one it does.
    s = field.s
    others = 2 / (s + 1) ** 2 + 1 / (s * (s + 1) ** 2) + 1 - 1 / s
    assert field.simplest(others + wrong.derived) == 1
    assert field.simplest(others + wrong.printed) != 1


@given(decompositions(largest=3), st.integers(1, 6), alphas)
def test_the_exact_value_is_inside_the_published_interval(D, n, alpha):
    if D.max_loss is sp.oo or D.reversed().max_loss is sp.oo or max(D.max_loss, D.reversed().max_loss) > 8:
        return
    M = shuffled_laws(D, n)
    assert M.exact(alpha) in algorithm4(D, n, sp.log(alpha))


def test_the_published_algorithm_is_above_the_certified_interval():
    D = ss.decomposition.blanket(ss.KRR(k=10, eps0=4))
    ours, published = shuffled_laws(D, 2_000).delta(0.5), algorithm4(D, 2_000, 0.5)
    assert published.lower <= ours.lower
    assert published.upper > ours.upper
