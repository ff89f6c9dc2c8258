"""Privacy loss distributions from functions of a cell: against fractions, and against the recurrences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.accounting import CellPLD, CompiledPLD, ShuffledPLD
from shuffle_sym.model import decomposition
from shuffle_sym.model.cells import clone_cells
from shuffle_sym.truth import exact

q = sp.Rational
ANALYSES = {
    "clones": decomposition.clones(sp.log(3)),
    "clones of Koskela et al.": decomposition.clones_koskela(sp.log(3)),
    "of a small epsilon": decomposition.clones_koskela(sp.log(q(101, 100))),
    "no privacy loss": decomposition.clones(0),
    "one-sided": decomposition.clones_one_sided(sp.log(2)),
    "2-RR dataset": decomposition.dataset(ss.BinaryRR(eps0=sp.log(2)), 0, 1, 0),
    "blanket of 3-RR": decomposition.blanket(ss.KRR(k=3, eps0=sp.log(2))),
}


def all_cells(n):
    """(a, b) with a + b ≤ n."""
    a, b = np.indices((n + 1, n + 1)).reshape(2, -1)
    return {"a": a[a + b <= n], "b": b[a + b <= n]}


def clone_functions(t, n):
    """log P/Q and log P of the pair of Koskela et al. as somebody else might write them: cell by cell, no formula."""
    pair = exact.shuffled_pair(decomposition.clones_koskela(sp.log(t)), n)
    masses = {(h[0], h[1]): (float(p), float(other)) for h, (p, other) in pair.items()}

    def log_mass(a, b):
        p = [masses[int(x), int(y)][0] for x, y in zip(a, b, strict=True)]
        return np.array([math.log(x) if x else -np.inf for x in p])

    def log_ratio(a, b):
        pairs = [masses[int(x), int(y)] for x, y in zip(a, b, strict=True)]
        return np.array([(math.log(x / y) if x else -np.inf) if y else np.inf for x, y in pairs])

    return log_ratio, log_mass


# -- the compiled formulas


@pytest.mark.exact
@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("back", [False, True])
def test_brute_force_composition_is_inside_the_interval(name, n, back):
    D = ANALYSES[name]
    one = CompiledPLD(D, n).reversed() if back else CompiledPLD(D, n)
    pair = {h: (y, x) if back else (x, y) for h, (x, y) in exact.shuffled_pair(D, n).items()}
    accountant = ss.FourierAccountant(one)
    for alpha in (q(1), q(101, 100), q(2), q(5)):
        for rounds in (1, 2):
            truth = exact.composed_divergence([pair] * rounds, alpha)
            found = accountant.delta(sp.log(alpha), rounds, rtol=1e-5)
            assert truth in found, (alpha, rounds)
            assert found.width <= 1e-5 * found.upper + 1e-38


@pytest.mark.parametrize(("eps0", "n", "eps"), [(4, 10**4, 0.4), (1, 10**4, 0.05), (7, 10**5, 0.7), (9, 10**6, 1.2)])
def test_the_formulas_and_the_recurrences_have_the_same_law(eps0, n, eps):
    D = decomposition.clones_koskela(eps0)
    compiled, recurrences = CompiledPLD(D, n, tail=1e-25), ShuffledPLD(D, n, tail=1e-25)
    for rounds in (1, 8):
        first, second = (ss.FourierAccountant(one).delta(eps, rounds, rtol=1e-4) for one in (compiled, recurrences))
        assert max(first.lower, second.lower) <= min(first.upper, second.upper)
        assert first.relative_width <= 1e-4


def test_the_errors_of_a_million_users_are_small():
    losses = CompiledPLD(decomposition.clones_koskela(9), 10**6).losses(1e-20)
    assert losses.mass_error < 1e-10
    assert losses.loss_error < 1e-13
    total = sum(float(np.sum(block.masses)) for block in losses.blocks())
    assert total == pytest.approx(1, abs=1e-12)


def test_what_is_compiled_is_the_formula_of_the_model():
    one = CompiledPLD(decomposition.clones_koskela(sp.log(3)), 10)
    names = {symbol.name: symbol for symbol in one.log_ratio.expr.free_symbols}
    renamed = one.log_ratio.expr.subs({names["h1"]: sp.Symbol("a", integer=True, nonnegative=True)})
    renamed = renamed.subs({names["h2"]: sp.Symbol("b", integer=True, nonnegative=True)})
    assert renamed == clone_cells().ratio


def test_what_has_no_cells_is_refused():
    with pytest.raises(ValueError, match="c = 0"):
        CompiledPLD(decomposition.strong(ss.KRR(k=3, eps0=1)), 10)
    with pytest.raises(ValueError, match=r"more than 4e\+07; take a larger tail, or ShuffledPLD"):
        CompiledPLD(decomposition.clones(1), 10**6)
    with pytest.raises(TypeError, match="two kinds of messages"):
        CompiledPLD(decomposition.Decomposition([1], [1], [1]), 10)
    with pytest.raises(TypeError, match="still symbolic"):
        CompiledPLD(decomposition.clones(), 10)


# -- functions of one's own


@pytest.mark.parametrize("size", [0.0, 1e-6, 5e-4])
def test_an_error_that_is_stated_is_inside_the_interval(size):
    log_ratio, log_mass = clone_functions(3, 5)
    truth = exact.composed_divergence([exact.shuffled_pair(decomposition.clones_koskela(sp.log(3)), 5)] * 2, q(3, 2))
    for way in (-1, 1):
        # The worst that can happen: large losses all rarer or all likelier, and the other way for the small ones.
        one = CellPLD(
            lambda a, b, way=way: log_ratio(a, b) + way * size,
            lambda a, b, way=way: log_mass(a, b) + way * size * np.sign(log_ratio(a, b) - 0.2),
            all_cells(5),
            error=size + 1e-14,
        )
        found = ss.FourierAccountant(one).delta(sp.log(1.5), 2, rtol=1e-5)
        assert truth in found
        assert found.relative_width <= 1e-4 + 50 * size


def test_formulas_and_own_cells_can_be_mixed_with_a_number_for_t():
    formulas, pair = clone_cells(), exact.shuffled_pair(decomposition.clones_koskela(sp.log(3)), 6)
    truth = exact.composed_divergence([pair], q(3, 2))
    cells = {**all_cells(6), "n": 6, "t": 3.0}
    with pytest.raises(ValueError, match="error must bound the absolute error of log_law"):
        CellPLD(formulas.log_ratio(), formulas.log_law(), cells).losses(1e-20)
    one = CellPLD(formulas.log_ratio(), formulas.log_law(), cells, error=1e-12)
    assert truth in ss.FourierAccountant(one).delta(sp.log(1.5), rtol=1e-5)


def test_cells_that_are_left_out_count_in_the_upper_end():
    log_ratio, log_mass = clone_functions(3, 5)
    pair = exact.shuffled_pair(decomposition.clones_koskela(sp.log(3)), 5)
    truth = exact.composed_divergence([pair], q(3, 2))
    some = {name: x[all_cells(5)["a"] <= 1] for name, x in all_cells(5).items()}
    missing = float(sum(p for h, (p, _) in pair.items() if h[0] > 1))
    one = CellPLD(log_ratio, log_mass, some, error=1e-14)
    found = ss.FourierAccountant(one).delta(sp.log(1.5))
    assert truth in found
    assert found.upper >= missing
    with pytest.raises(ValueError, match="left_out must be at least"):
        CellPLD(log_ratio, log_mass, some, error=1e-14, left_out=missing / 2).losses(1e-20)
    stated = CellPLD(log_ratio, log_mass, some, error=1e-14, left_out=missing * 1.01)
    assert truth in ss.FourierAccountant(stated).delta(sp.log(1.5))


def test_functions_that_describe_no_pair_are_refused():
    log_ratio, log_mass = clone_functions(3, 4)
    cells = all_cells(4)
    for ratio, mass, words in (
        (log_ratio, lambda a, b: log_mass(a, b) + 1e-6, "P with the total probability 1.0000"),
        (lambda a, b: log_ratio(a, b) - 0.01, log_mass, "Q with the total probability 1.00"),
        (lambda a, b: np.full(len(a), -np.inf), log_mass, "P/Q is 0 where P is not"),
        (log_ratio, lambda a, b: np.full(len(a), np.nan), "number for each"),
        (log_ratio, lambda a, b: np.zeros(3), "number for each"),
        (lambda a, c: a, log_mass, r"each argument of log_ratio, \['a', 'c'\], got \['a', 'b'\]"),
    ):
        with pytest.raises(ValueError, match=words):
            CellPLD(ratio, mass, cells, error=1e-14).losses(1e-20)


def test_cells_and_errors_that_make_no_sense_are_refused():
    log_ratio, log_mass = clone_functions(3, 4)
    twice = {name: np.append(x, x[0]) for name, x in all_cells(4).items()}
    with pytest.raises(ValueError, match="different from each other, got some of the 16 twice"):
        CellPLD(log_ratio, log_mass, twice, error=1e-14)
    with pytest.raises(ValueError, match="equally long"):
        CellPLD(log_ratio, log_mass, {"a": np.arange(3), "b": np.arange(4)}, error=1e-14)
    with pytest.raises(ValueError, match="equally long"):
        CellPLD(log_ratio, log_mass, {"a": 1, "b": 2}, error=1e-14)
    for error, words in ((0.5, "at most 0.001"), (-1, "error must be"), (0, "error must be")):
        with pytest.raises(ValueError, match=words):
            CellPLD(log_ratio, log_mass, all_cells(4), error=error)
    with pytest.raises(ValueError, match="error must bound the absolute error"):
        CellPLD(log_ratio, log_mass, all_cells(4)).losses(1e-20)
