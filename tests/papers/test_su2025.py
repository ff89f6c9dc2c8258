"""What is said of G in Su et al. 2025, and their Algorithm 4 as printed."""

from __future__ import annotations

import pytest
import sympy as sp
from conftest import alphas, decompositions, shuffled_laws
from hypothesis import given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.papers import derivations
from shuffle_sym.papers.su2025 import algorithm4, five_components, gparv_table, printed
from shuffle_sym.papers.tools import collected, fraction

#: Derivation → the general theorems that it rests on; those without any are proved by SymPy alone.
RESTS_ON = {
    "two_point_decomposition": set(),
    "standard_clone": {"data processing", "total probability"},
    "three_point_decomposition": set(),
    "stronger_clone_monotone": {
        "total probability",
        "convex order is closed under independent sums",
        "a lemma for other laws",
    },
    "algorithms_1_and_2": {"total probability"},
    "blanket_is_a_decomposition": {"data processing, both ways"},
    "blanket_reduction": {"data processing", "data processing, both ways", "total probability"},
    "algorithm3": set(),
    "blanket_is_best": {"data processing", "data processing, both ways", "total probability"},
    "theorem9": {"total probability"},
    "one_dataset": {"data processing, both ways", "total probability"},
    "property2": set(),
    "joint_level": {"induction"},
    "parallel_level": set(),
    "joint_blanket": set(),
    "parallel_blanket": set(),
    "laplace_law": {"equal events are equally likely"},
    "idealised_limit": set(),
}


@pytest.mark.parametrize("name", RESTS_ON)
def test_a_derivation_says_what_it_rests_on(name):
    d = derivations.ALL[name]()
    assert {one.name for one in d.by} == RESTS_ON[name]
    assert not d.checked
    assert d.proved == (not RESTS_ON[name])


#: Small rational randomizers, and a pair of inputs.
SMALL = [
    (ss.KRR(k=4, eps0=sp.log(3)), 0, 1),
    (ss.SubsetSelection(d=4, w=2, eps0=sp.log(3)), 0, 1),
    (ss.RAPPOR(d=3, eps0=2 * sp.log(2)), 0, 1),
    (ss.OUE(d=3, eps0=sp.log(2)), 0, 1),
    (ss.BLH(d=3, eps0=sp.log(3)), 0, 1),
    (ss.OLH(g=3, d=2, eps0=sp.log(2)), 0, 1),
    (ss.HadamardResponse(K=8, eps0=sp.log(3)), 0, 1),
    (ss.Joint(ss.BinaryRR(eps0=sp.log(2)), ss.KRR(k=3, eps0=sp.log(3))), 0, 3),
    (ss.Parallel([ss.KRR(k=3, eps0=sp.log(3)), ss.OUE(d=3, eps0=sp.log(2))], weights=["1/3", "2/3"]), 0, 1),
    (ss.from_matrix([["1/2", "1/2", 0], [0, "1/2", "1/2"], ["1/4", "1/2", "1/4"]]), 0, 1),
]


@pytest.mark.parametrize(("R", "x0", "x1"), SMALL, ids=lambda value: repr(value) if hasattr(value, "matrix") else "")
def test_a_table_is_the_law_of_g_message_by_message(R, x0, x1):
    ratio = sp.Rational(5, 4)
    columns = [[fraction(R.matrix()[x, y]) for x in range(R.matrix().rows)] for y in range(R.matrix().cols)]
    law = collected(((c[x0] - fraction(ratio) * c[x1]) / min(c), min(c)) for c in columns if min(c))
    covered = sum(law.values())
    law = {value: mass for value, mass in collected([*law.items(), (0, 1 - covered)]).items() if mass}
    table = gparv_table(R, x0, x1)
    numbers = {**R.bindings, field.alpha: ratio}
    *chances, mean = table.statement
    derived = {}
    for fact in chances:
        value, mass = (fraction(sp.simplify(e.subs(numbers))) for e in (fact.left.value, fact.right))
        derived[value] = derived.get(value, 0) + mass
    assert {value: mass for value, mass in derived.items() if mass} == law
    assert fraction(sp.simplify(mean.right.subs(numbers))) == sum(value * mass for value, mass in law.items())
    assert table.proved


def test_the_rows_of_table_2_sum_to_one_and_one_printed_entry_is_another_number():
    rows = {"BLH": ss.BLH(d=sp.oo), "RAPPOR": ss.RAPPOR(d=sp.oo), "OUE": ss.OUE(d=sp.oo)}
    for name, R in rows.items():
        *entries, total = five_components(R).statement
        assert total.right == 1
        equal = [field.simplest(e.right - entry) == 0 for e, entry in zip(entries, printed.TABLE_2[name], strict=True)]
        assert equal == [True, True, name != "RAPPOR"]
    with pytest.raises(TypeError, match="R must be a randomizer whose messages match inputs"):
        five_components(ss.from_matrix([["1/2", "1/2"], ["1/4", "3/4"]]))


@pytest.mark.parametrize("R", [ss.RAPPOR(d=3, eps0=2 * sp.log(2)), ss.OUE(d=4, eps0=sp.log(3)), ss.BLH(d=2, eps0=1)])
def test_the_gain_of_finitely_many_inputs_is_that_of_the_randomizer(R):
    gain = derivations.idealised_limit().statement[0]
    d, sigma, t = gain.left.args
    mu, ratio = (field.substitute(e, R.bindings) for e in (R.mu, R.ratio))
    assert sp.simplify(gain.right.subs({d: R.d, sigma: 1 / mu - 1, t: ratio}) - R.gamma) == 0


def test_above_eps0_the_largest_value_of_g_is_zero():
    G = ss.BinaryRR(eps0=sp.log(2)).gparv().exact(sp.Integer(3), 30)
    assert max(G.values) == 0 > 2 - 3
    assert derivations.property2().result == 0


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
