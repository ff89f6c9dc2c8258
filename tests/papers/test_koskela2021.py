"""Koskela et al. 2021, Sections 4 to 6 and Appendices A and B: what holds, what does not, exact at small n.

The views of the two adversaries are multiplied out from their definitions, without a decomposition
(`shuffle_sym.papers.koskela2021.definitions`).
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss
from shuffle_sym.algebra import field
from shuffle_sym.model.decomposition import clones, clones_koskela, dataset, strong, weak
from shuffle_sym.papers import derivations
from shuffle_sym.papers.koskela2021 import views
from shuffle_sym.papers.koskela2021.clones import a as symbol_a
from shuffle_sym.papers.koskela2021.clones import b as symbol_b
from shuffle_sym.papers.koskela2021.clones import n as symbol_n
from shuffle_sym.papers.koskela2021.clones import p as symbol_p
from shuffle_sym.papers.koskela2021.clones import q as symbol_q
from shuffle_sym.papers.koskela2021.definitions import EVERYONE, OTHERS, clone_cells, view
from shuffle_sym.papers.koskela2021.printed import divergences, printed_strong, printed_weak
from shuffle_sym.papers.laws import divergence_of_laws
from shuffle_sym.truth import ground_truth
from shuffle_sym.truth.exact import reduction_pair

pytestmark = pytest.mark.exact
F = Fraction
ALPHAS = [F(1, 2), F(1), F(6, 5), F(3, 2), F(2), F(3), F(7)]
SHARES = [F(1, 4), F(1, 2), F(2, 3)]


def krr(k: int, gamma: Fraction) -> ss.KRR:
    """k-RR that answers randomly with probability γ: t = 1 + k(1 − γ)/γ."""
    return ss.KRR(k=k, eps0=sp.log(sp.Rational(1 + k * (1 - gamma) / gamma)))


def exact(D: ss.model.Decomposition, n: int, alpha: Fraction) -> Fraction:
    return fraction(shuffled_laws(D, n).exact(alpha))


def fraction(number: sp.Rational) -> Fraction:
    return Fraction(int(number.p), int(number.q))


# ------------------------------------------------------------------------------------------- views, from the definition


@pytest.mark.parametrize("gamma", SHARES)
@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2), (3, 3), (4, 2)])
def test_the_views_of_both_adversaries_are_their_decompositions(k, n, gamma):
    R = krr(k, gamma)
    for others in {(0,) * (n - 1), (1,) * (n - 1), tuple(i % k for i in range(n - 1))}:
        for seen, D in ((EVERYONE, strong(R)), (OTHERS, weak(R))):
            P, Q = (view(k, gamma, (*others, x), seen) for x in (0, 1))
            for alpha in ALPHAS:
                assert divergence_of_laws(P, Q, alpha) == divergence_of_laws(Q, P, alpha) == exact(D, n, alpha)


@pytest.mark.parametrize("k", [2, 3])
def test_a_view_of_the_weak_adversary_has_the_probability_of_appendix_a(k):
    n, gamma = 3, F(1, 3)
    for (random, messages), probability in view(k, gamma, (0, 1, 0), OTHERS).items():
        truthful = Counter(x for x, r in zip((0, 1), random, strict=True) if not r)
        counts, b = Counter(messages) - truthful, sum(random)
        assert sum(counts.values()) == b + 1
        first = F(math.factorial(b), math.prod(math.factorial(c) for c in counts.values()))
        bracket = counts[0] * (1 - gamma) + gamma / k * (b + 1)
        # The vector β has probability γ^b (1 − γ)^(n−1−b); the paper writes Pr[B = b], which is C(n−1, b) times that.
        assert probability == first * gamma**b * (1 - gamma) ** (n - 1 - b) / k**b * bracket


def test_b_factorial_over_the_counts_is_not_a_multinomial_coefficient():
    # Two users, the other one answered randomly (b = 1), both messages equal 1: b!/(n_1! n_2!) is 1/2, no integer.
    assert F(math.factorial(1), math.factorial(2) * math.factorial(0)) == F(1, 2)
    coefficient = derivations.appendix_a().statement[0]
    assert coefficient.left.subs(views.b, 1) == coefficient.right.subs(views.b, 1)


def test_if_beta_marks_truthful_users_as_in_the_workshop_version_the_counts_do_not_fit():
    # Two users; the other one is truthful. Marked as in the workshop version, b = 1; one message is left, not b + 1.
    ((random, messages),) = [v for v in view(2, F(1, 2), (0, 0), OTHERS) if v == ((False,), (0, 1))]
    b_workshop, b_full = sum(not r for r in random), sum(random)
    left = len(messages) - 1
    assert (left, b_workshop + 1, b_full + 1) == (1, 2, 1)


def test_the_ratio_of_a_strong_view_is_not_n1_over_n2_if_the_differing_user_answered_randomly():
    # One user, k = 2, γ = 1/2, who answered randomly and sent the value 1: n_1 = 1, n_2 = 0.
    P, Q = (view(2, F(1, 2), (x,), EVERYONE) for x in (0, 1))
    random_one = ((True,), (0,))
    assert P[random_one] == Q[random_one] == F(1, 4)


def test_the_joint_law_of_theorem_10_is_the_reduction_pair_of_the_blanket():
    k, gamma, n = 4, F(1, 3), 4
    D = weak(krr(k, gamma))
    pair = reduction_pair(D.exact(), n)
    law, other = (fact.right for fact in derivations.theorem10().statement[:2])
    for (n1, n2, rest, _), masses in pair.items():
        values = {
            views.n1: n1,
            views.n2: n2,
            views.b: n1 + n2 + rest - 1,
            views.n: n,
            views.k: k,
            views.gamma: sp.Rational(gamma),
        }
        if n1 + n2 + rest == 0:
            assert masses == (0, 0)  # the differing user's message is always left
        else:
            assert tuple(fraction(e.subs(values)) for e in (law, other)) == masses


# -------------------------------------------------------------------------------------- the price of information


@pytest.mark.parametrize("gamma", SHARES)
@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 3), (2, 5), (3, 2), (3, 4), (4, 3)])
def test_who_sees_more_learns_more(k, n, gamma):
    R = krr(k, gamma)
    for alpha in ALPHAS:
        shuffled = fraction(ground_truth.worst_pair(R, n, alpha).delta)
        assert shuffled <= exact(weak(R), n, alpha) <= exact(strong(R), n, alpha)


def test_the_order_is_strict_for_three_users_of_2_rr():
    R, alpha = krr(2, F(1, 2)), F(6, 5)
    shuffled = fraction(ground_truth.worst_pair(R, 3, alpha).delta)
    assert (shuffled, exact(weak(R), 3, alpha), exact(strong(R), 3, alpha)) == (F(81, 320), F(43, 160), F(49, 160))


# --------------------------------------------------------------------------------- the pairs of Section 5 as printed


@pytest.mark.parametrize("gamma", SHARES)
@pytest.mark.parametrize(("k", "n"), [(2, 1), (2, 2), (2, 5), (3, 2), (3, 4), (5, 3)])
def test_the_printed_pairs_see_less_than_the_views(k, n, gamma):
    R = krr(k, gamma)
    for pair in (printed_strong(k, gamma, n), printed_weak(k, gamma, n)):
        assert [sum(column) for column in zip(*pair.values(), strict=True)] == [1, 1]
    for alpha in ALPHAS:
        assert max(divergences(printed_weak(k, gamma, n), alpha)) <= exact(weak(R), n, alpha)
        assert (1 - gamma) * max(divergences(printed_strong(k, gamma, n), alpha)) <= exact(strong(R), n, alpha)


def test_the_printed_strong_pair_can_be_above_the_view():
    k, gamma, n, alpha = 2, F(1, 2), 1, F(2)
    assert divergences(printed_strong(k, gamma, n), alpha) == (1, 1)
    assert exact(strong(krr(k, gamma)), n, alpha) == F(1, 2)


def test_the_printed_strong_pair_can_be_below_the_view_in_one_direction():
    k, gamma, n, alpha = 2, F(1, 2), 2, F(3)
    assert divergences(printed_strong(k, gamma, n), alpha) == (F(1, 4), F(3, 4))
    assert exact(strong(krr(k, gamma)), n, alpha) == F(3, 8)


def test_the_printed_strong_pair_can_be_below_the_view_in_both_directions():
    k, gamma, n, alpha = 2, F(1, 4), 9, F(4, 3)
    printed = max(divergences(printed_strong(k, gamma, n), alpha))
    assert printed == F(7, 8) ** 8 == F(5764801, 16777216)
    assert printed < exact(strong(krr(k, gamma)), n, alpha)


def test_the_printed_strong_pair_does_not_bound_the_shuffled_output_alone():
    # (5.1) is said to imply that the shuffled mechanism is (ε, δ)-DP; two real datasets are further apart.
    k, gamma, n, alpha = 3, F(1, 4), 13, F(7, 6)
    others = (2,) * (n - 1)
    truth = fraction(ground_truth.delta(krr(k, gamma), (0, *others), (1, *others), alpha))
    printed = max(divergences(printed_strong(k, gamma, n), alpha))
    assert truth == F(28288155654187, 80244904034304)
    assert printed == F(3138428376721, 8916100448256) < truth


@pytest.mark.parametrize(
    ("k", "gamma", "alpha", "printed", "truth"),
    [
        (2, F(2, 3), F(3, 2), (F(1, 18), F(1, 18)), F(1, 9)),  # two different views have the same value
        (3, F(1, 2), F(2), (F(2, 9), F(5, 36)), F(1, 4)),  # N_2 is not seen
    ],
)
def test_the_printed_weak_pair_does_not_bound_the_shuffled_output_of_two_users(k, gamma, alpha, printed, truth):
    R = krr(k, gamma)
    assert divergences(printed_weak(k, gamma, 2), alpha) == printed
    assert exact(weak(R), 2, alpha) == fraction(ground_truth.worst_pair(R, 2, alpha).delta) == truth
    assert max(printed) < truth


def test_for_large_alpha_the_printed_strong_pair_forgets_the_views_without_a_two():
    k, gamma, n = 3, F(1, 2), 5
    alpha = F(10**9)
    assert exact(strong(krr(k, gamma)), n, alpha) == (1 - gamma) * (1 - gamma / k) ** (n - 1)
    assert divergences(printed_strong(k, gamma, n), alpha)[0] == (gamma / k) ** (n - 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, F(1, 2), 3), "k must be an integer >= 2, got 1"),
        ((2, F(3, 2), 3), "gamma must be in"),
        ((2, sp.sqrt(2) / 2, 3), "gamma must be rational"),
        ((2, F(1, 2), 0), "n must be an integer >= 1, got 0"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    for build in (printed_strong, printed_weak):
        with pytest.raises(ValueError, match=message):
            build(*arguments)


# ------------------------------------------------------------------------------------------------- Section 4: 2-RR


def test_the_pair_of_section_4_is_the_dataset_of_zeros():
    t, n = F(3), 5
    p = 1 / (t + 1)
    D = dataset(ss.BinaryRR(eps0=sp.log(sp.Rational(t))), 0, 1, 0)
    P = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    rest = [0, *(math.comb(n - 1, i) * p**i * (1 - p) ** (n - 1 - i) for i in range(n)), 0]
    Q = [p * rest[i + 1] + (1 - p) * rest[i] for i in range(n + 1)]
    for alpha in ALPHAS:
        assert sum(max(x - alpha * y, 0) for x, y in zip(P, Q, strict=True)) == exact(D, n, alpha)
        assert sum(max(y - alpha * x, 0) for x, y in zip(P, Q, strict=True)) == exact(D.reversed(), n, alpha)


def test_the_dataset_of_zeros_is_not_the_worst_one_for_three_users():
    # (4.1) is called the worst case. If one of the others has a 1, three users are further apart.
    R, alpha = ss.BinaryRR(eps0=sp.log(2)), F(9, 8)
    D = dataset(R, 0, 1, 0)
    assert max(exact(D, 3, alpha), exact(D.reversed(), 3, alpha)) == F(7, 54)
    worst = ground_truth.worst_pair(R, 3, alpha)
    assert (worst.X0, worst.X1, fraction(worst.delta)) == ((0, 0, 1), (1, 0, 1), F(29, 216))
    assert F(7, 54) < F(29, 216)


@pytest.mark.parametrize("t", [F(3, 2), F(2), F(5)])
def test_for_two_users_the_dataset_of_zeros_is_the_worst_one(t):
    R = ss.BinaryRR(eps0=sp.log(sp.Rational(t)))
    D = dataset(R, 0, 1, 0)
    for alpha in ALPHAS:
        largest = max(exact(D, 2, alpha), exact(D.reversed(), 2, alpha))
        assert largest == fraction(ground_truth.worst_pair(R, 2, alpha).delta)


# ------------------------------------------------------------------------------------------------ Section 6: clones


def value(expr: sp.Expr, t: Fraction, n: int, cell: tuple[int, int], q: Fraction) -> Fraction:
    numbers = (cell[0], cell[1], n, sp.Rational(1 / t), sp.Rational(q))
    return fraction(expr.subs(dict(zip((symbol_a, symbol_b, symbol_n, symbol_p, symbol_q), numbers, strict=True))))


@pytest.mark.parametrize("t", [F(3, 2), F(2), F(5)])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_every_cell_is_what_the_derivations_say(t, n):
    q = t / (t + 1)
    cells = clone_cells(t, n, q)
    every, law = (
        d.result.subs(field.t, sp.Rational(t)) for d in (derivations.lemma11_every_cell(), derivations.law_every_cell())
    )
    eq67, eq68, cases = (d.result for d in (derivations.eq67(), derivations.eq68(), derivations.lemma11()))
    infinite = []
    for (a, b), (P, Q) in cells.items():
        assert value(eq67 if a > 0 else eq68, t, n, (a, b), q) == value(law, t, n, (a, b), q) == P
        if Q == 0:
            infinite.append(((a, b), P))
            continue
        assert P / Q == value(every, t, n, (a, b), q) == value(cases, t, n, (a, b), q)
    assert sum(P for P, _ in cells.values()) == 1
    mass = derivations.delta_infinity().result
    at_n = mass.subs({field.t: sp.Rational(t), symbol_n: n})
    assert infinite == [((n, 0), fraction(at_n))]
    no_q, some_p = derivations.lemma11().statement[:2]
    assert (no_q.right, value(some_p.right, t, n, (n, 0), q)) == (0, infinite[0][1])


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_cells_are_the_reduction_pair_of_clones_koskela(n):
    t = F(3)
    pair = reduction_pair(clones_koskela(sp.log(3)).exact(), n)
    cells = clone_cells(t, n, t / (t + 1))
    merged: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for (a, b, _, _), (P, Q) in pair.items():
        p, q = merged.get((a, b), (F(0), F(0)))
        merged[a, b] = (p + P, q + Q)
    assert {cell: masses for cell, masses in merged.items() if any(masses)} == cells


def test_the_mixing_weight_is_not_the_q_of_lemma_b2():
    # Lemma B.2 says q = e^(−ε0), which is p. With t = 2 and one user the cell (1, 0) has 2/3 in (6.1) and 1/2 with it.
    t = F(2)
    assert clone_cells(t, 1, t / (t + 1))[1, 0] == (F(2, 3), 0)
    assert clone_cells(t, 1, 1 / t)[1, 0] == (F(1, 2), 0)
    # The ratio (B.7) differs from two users on, at the cell (0, 1).
    P, Q = clone_cells(t, 2, t / (t + 1))[0, 1]
    assert P / Q == value(derivations.lemma11().result, t, 2, (0, 1), t / (t + 1)) == F(1, 5)
    assert value(derivations.lemma11().result, t, 2, (0, 1), 1 / t) == F(1, 3)


def test_the_ratio_at_b_0_is_not_for_all_a():
    # (6.6) and (B.8) divide by (1 − q) Pr[P0 = (a, 0)], which is 0 at a = n.
    for n in (1, 2, 3):
        P, Q = clone_cells(F(2), n, F(2, 3))[n, 0]
        assert Q == 0 < P == F(2, 3) * F(1, 4) ** (n - 1)


def test_clones_koskela_is_not_the_standard_clone():
    # One user, t = 2, α = 3/2: the local curve is (t − α)/(t + 1) = 1/6.
    assert exact(clones(sp.log(2)), 1, F(3, 2)) == F(1, 6)
    assert exact(clones_koskela(sp.log(2)), 1, F(3, 2)) == F(2, 3)
    # Two users at the same t and α: the ratio is smaller, the order the same.
    assert exact(clones(sp.log(2)), 2, F(3, 2)) < exact(clones_koskela(sp.log(2)), 2, F(3, 2))


@pytest.mark.parametrize("t", [F(3, 2), F(2), F(5)])
def test_clones_koskela_is_above_the_standard_clone(t):
    level = sp.log(sp.Rational(t))
    assert clones(level).gparv.masses == clones_koskela(level).gparv.masses  # what `clones_order` supposes
    for n in range(1, 9):
        for alpha in [F(1, 10), F(3, 4), *ALPHAS]:
            below, above = exact(clones(level), n, alpha), exact(clones_koskela(level), n, alpha)
            assert below <= above
            if alpha >= 1:
                assert below < above


def test_both_directions_of_the_clones_agree_for_all_t():
    for D in (clones(), clones_koskela()):
        assert D.reversed() == D


def test_the_order_of_the_clones_supposes_equal_probabilities_for_all_t():
    assert clones().gparv.masses == clones_koskela().gparv.masses
    order = derivations.clones_order()
    assert "convex order is closed under independent sums" in order.established
    assert not order.checked


# --------------------------------------------------------------------------------------------- what is rested on


@pytest.mark.parametrize(
    "name",
    ["lemma_b1", "lemma_b2", "lemma_b3", "lemma11", "lemma11_every_cell", "eq67", "eq68", "cells_sum_to_one",
     "law_every_cell", "delta_infinity", "two_rr_pair", "appendix_a", "rounded_losses"],
)  # fmt: skip
def test_no_general_theorem_is_needed(name):
    assert derivations.ALL[name]().proved


@pytest.mark.parametrize(
    ("name", "theorems"),
    [
        ("theorem10", {"a sufficient statistic keeps the divergence"}),
        ("strong_view", {"the divergence given what is seen"}),
        ("many_rounds", {"induction"}),
        ("theorem5", {"independence", "the law of a sum of independent losses is a convolution"}),
    ],
)
def test_the_general_theorems_are_named(name, theorems):
    d = derivations.ALL[name]()
    assert {one.name for one in d.by} == theorems
    assert not d.checked


def test_the_check_of_a_view_notices_a_wrong_formula():
    def without_the_factor(k, gamma, n, alpha):  # (5.1) leaves 1 − γ out
        return views._strong_formula(k, gamma, n, alpha) / (1 - gamma)

    assert views._agree(EVERYONE, views._strong_formula)()
    assert not views._agree(EVERYONE, without_the_factor)()
    assert not views._agree(OTHERS, views._strong_formula)()


def test_the_strong_view_is_the_mean_of_its_derivation():
    k, gamma, n = 3, F(1, 2), 4
    for alpha in ALPHAS:
        assert views._strong_formula(k, gamma, n, alpha) == exact(strong(krr(k, gamma)), n, alpha)
