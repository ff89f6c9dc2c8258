"""The formulas of a cell against pairs that are written out, and their NumPy functions against mpmath."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from conftest import decompositions
from hypothesis import assume, given
from hypothesis import strategies as st

import shuffle_sym as ss
from shuffle_sym.algebra import field, precise
from shuffle_sym.model.cells import Cells, a, b, clone_cells, n, order
from shuffle_sym.papers.koskela2021 import definitions
from shuffle_sym.truth import exact

q = sp.Rational
t = field.t
mp = precise.context(50)


def at(expr, **values):
    number = expr.subs({symbol: values[str(symbol)] for symbol in expr.free_symbols})
    return Fraction(int(number.p), int(number.q))


@pytest.mark.exact
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("level", [Fraction(5, 4), Fraction(3)])
def test_the_clones_have_the_laws_of_their_definition_at_every_cell(size, level):
    formulas = clone_cells()
    pair = definitions.clone_cells(level, size, level / (level + 1))
    assert sum(p for p, _ in pair.values()) == 1
    for (x, y), (p, other) in pair.items():
        values = {"a": x, "b": y, "n": size, "t": q(level)}
        assert at(formulas.law, **values) == p
        assert at(formulas.other_law, **values) == other
        _, below = formulas.sums
        assert (at(below, **values) == 0) == ((x, y) == (size, 0))
        if other:
            assert at(formulas.ratio, **values) == p / other


@pytest.mark.exact
def test_the_ratio_is_the_printed_one_and_the_laws_are_those_of_the_paper():
    formulas = clone_cells()
    ratio = (2 * t * (t - 1) * a + n - a - b) / (2 * t * (t - 1) * b + n - a - b)
    assert formulas.ratio == ratio
    p, keep = 1 / t, t / (t + 1)
    first = (
        sp.binomial(n - 1, a + b - 1) * sp.binomial(a + b - 1, a - 1) * (p / 2) ** (a + b - 1) * (1 - p) ** (n - a - b)
    )
    eq67 = (keep + (1 - keep) * p / (1 - p) * (n - a - b) / (2 * a)) * first
    eq68 = (1 - keep) * sp.binomial(n - 1, b) * (p / 2) ** b * (1 - p) ** (n - 1 - b)
    for law, printed in ((formulas.law, eq67), (formulas.law.subs(a, 0), eq68)):
        quotient = sp.powsimp(sp.gammasimp((law / printed).rewrite(sp.gamma)), force=True)
        assert field.simplest(quotient) == 1


@pytest.mark.exact
@given(decompositions(largest=4), st.integers(1, 3))
def test_every_decomposition_has_the_laws_of_its_reduction_pair(D, size):
    assume(all(c != 0 for c in D.c))
    kinds = len(D.gparv.masses)
    formulas = Cells(D, tuple(sp.symbols(f"h:{kinds - 1}", integer=True, nonnegative=True)))
    for histogram, (p, other) in exact.shuffled_pair(D, size).items():
        values = {f"h{i}": h for i, h in enumerate(histogram[: kinds - 1])} | {"n": size}
        if sum(histogram[:kinds]) == size:
            assert at(formulas.law, **values) == p
            assert at(formulas.other_law, **values) == other


@pytest.mark.exact
@pytest.mark.parametrize("power", [2, 3, 7])
def test_the_moment_is_the_sum_over_all_cells(power):
    D = ss.decomposition.dataset(ss.BinaryRR(eps0=sp.log(3)), 1, 0, 0)
    formulas, truth = Cells(D, (a,)), exact.renyi_moment(D, 5, power)
    assert formulas.moment.subs({n: 5, order: power, t: 3}).doit() == truth
    log, error = formulas.log_moment().with_error(5, power)
    assert abs(mp.mpf(float(log)) - mp.log(mp.mpf(int(truth.p)) / int(truth.q))) <= error < 1e-12


def test_two_counts_can_be_summed_as_well():
    D = ss.decomposition.clones(sp.log(3))
    truth = exact.renyi_moment(D, 4, 3)
    log_moment = Cells(D, (a, b)).log_moment()
    assert float(log_moment(n=4, lambda_=3)) == pytest.approx(float(sp.log(truth)), abs=1e-13)


@pytest.mark.parametrize(("eps0", "size"), [(4, 10**4), (1, 10**6), (9, 10**6)])
def test_the_functions_of_many_users_have_the_error_that_is_stated(eps0, size):
    D = ss.decomposition.clones_koskela(eps0)
    formulas = Cells(D, (a, b))
    level = mp.exp(eps0)
    c = (1 / (2 * level), 1 / (2 * level), 1 - 1 / level)
    mean, spread = size * c[0], mp.sqrt(size * c[0])
    for first, second in ((0, 0), (3, -3), (-7, 2), (9, 9)):
        h = [max(int(mean + move * spread), 0) for move in (first, second)]
        h.append(size - sum(h))
        above, below = (2 * level * (level - 1) * x + h[2] for x in h[:2])
        law = mp.loggamma(size + 1) + sum(x * mp.log(share) - mp.loggamma(x + 1) for x, share in zip(h, c, strict=True))
        law += mp.log(level / (level**2 - 1) * above / size)
        log, error = formulas.log_law().with_error(*h[:2], size)
        assert abs(mp.mpf(float(log)) - law) <= min(float(error), 1e-11)
        loss, error = formulas.log_ratio().with_error(*h[:2], size)
        assert abs(mp.mpf(float(loss)) - mp.log(above / below)) <= error < 1e-14


def test_epsilon_may_be_left_as_an_argument():
    symbolic, bound = clone_cells(), Cells(ss.decomposition.clones_koskela(2), (a, b))
    x, y = np.array([70, 68, 0]), np.array([65, 68, 71])
    for ours, theirs in ((symbolic.log_law(), bound.log_law()), (symbolic.log_ratio(), bound.log_ratio())):
        assert ours(x, y, 1000, np.exp(2)) == pytest.approx(theirs(x, y, 1000), rel=1e-12)
        assert np.all(np.isnan(ours.error(x, y, 1000, np.exp(2))))


def test_a_component_that_no_other_user_sends_is_refused():
    with pytest.raises(ValueError, match="c = 0"):
        Cells(ss.decomposition.strong(ss.KRR(k=3, eps0=1)), (a, b))
    with pytest.raises(ValueError, match="counts must be 2 symbols"):
        Cells(ss.decomposition.clones(1), (a,))


@pytest.mark.parametrize(
    ("R", "same"),
    [(ss.KRR(), ss.KRR(k=4, eps0=0.5)), (ss.RAPPOR(), ss.RAPPOR(d=4, eps0=0.5)), (ss.BLH(), ss.BLH(d=4, eps0=0.5))],
)
def test_the_values_of_g_as_functions_are_those_of_the_exact_law(R, same):
    numbers = {"alpha": 1.25, "epsilon_0": 0.5, "k": 4, "d": 4}
    law, truth = R.gparv().numpy(), same.gparv().floats(q(5, 4))
    for ours, theirs in ((law.values, truth.values), (law.probabilities, truth.probabilities)):
        given = {name: numbers[name] for name in ours[0].__signature__.parameters}
        assert sorted(f(**given) for f in ours) == pytest.approx(sorted(theirs), rel=1e-13)
