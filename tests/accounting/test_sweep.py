"""One sweep: serially, on processes, on a Dask cluster, and interrupted, with the same rows."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss

GRID = {"n": [100, 1_000], "eps0": [1, 2.5], "delta": [1e-4, 1e-6]}


def certified(n: int, eps0: float, delta: float) -> ss.Interval:
    return shuffled_laws(ss.KRR(k=4, eps0=eps0), n).epsilon(delta, rtol=0.01)


def failing(n: int, eps0: float, delta: float) -> ss.Interval:
    if n == 1_000 and eps0 > 2:
        raise RuntimeError("interrupted")
    return certified(n, eps0, delta)


@pytest.fixture(scope="module")
def rows():
    return ss.sweep(certified, GRID, progress=False)


def test_rows_come_in_the_order_of_the_grid_with_their_parameters(rows):
    assert [(row["n"], row["eps0"], row["delta"]) for row in rows] == [
        (n, eps0, delta) for n in GRID["n"] for eps0 in GRID["eps0"] for delta in GRID["delta"]
    ]
    found = certified(**{name: rows[-1][name] for name in GRID})
    assert (rows[-1]["lower"], rows[-1]["upper"]) == (found.lower, found.upper)


def test_processes_give_the_same_rows(rows):
    with ProcessPoolExecutor(2) as executor:
        assert ss.sweep(certified, GRID, executor, progress=False) == rows


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_gives_the_same_rows(rows):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        assert ss.sweep(certified, GRID, client.get_executor(), progress=False) == rows
        # Dask gives equal calls one future: what one sweep cancels must not be what the next one waits for.
        for _ in range(6):
            assert ss.sweep(certified, GRID, client, progress=False) == rows


def test_an_interrupted_sweep_goes_on_where_it_stopped(rows, tmp_path):
    path = tmp_path / "rows.jsonl"
    with pytest.raises(RuntimeError, match="interrupted"):
        ss.sweep(failing, GRID, path=path, progress=False)
    kept = path.read_text()
    assert 0 < kept.count("\n") < len(rows)
    path.write_text(kept + '{"n": 1000, "ep')  # the power went off in the middle of a line
    calls = []

    def counted(**parameters):
        calls.append(parameters)
        return certified(**parameters)

    assert ss.sweep(counted, GRID, path=path, progress=False) == rows
    assert len(calls) == len(rows) - kept.count("\n")
    assert ss.sweep(failing, GRID, path=path, progress=False) == rows  # all there: nothing is computed
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()].count(100) == 4


def test_mappings_and_numbers_become_columns():
    assert ss.sweep(lambda x: {"double": 2 * x}, {"x": [1]}, progress=False) == [{"x": 1, "double": 2}]
    assert ss.sweep(lambda x: x / 3, {"x": [1]}, progress=False) == [{"x": 1, "value": 1 / 3}]


def test_grids_and_results_may_come_from_numpy_and_results_may_hold_intervals(tmp_path):
    def answer(n, eps):
        M = ss.Shuffle(ss.KRR(k=3, eps0=1), n)
        return {"delta": M.delta(eps), "twice": np.float64(2 * eps)}

    grid = {"n": np.array([4, 5]), "eps": np.array([0.25])}
    rows = ss.sweep(answer, grid, path=tmp_path / "rows.jsonl", progress=False)
    assert rows == ss.sweep(answer, {"n": [4, 5], "eps": [0.25]}, path=tmp_path / "rows.jsonl", progress=False)
    assert [type(row["n"]) for row in rows] == [int, int]
    exact = ss.Shuffle(ss.KRR(k=3, eps0=1), 4).exact(sp.exp(sp.Rational(1, 4)))
    assert rows[0]["delta_lower"] <= exact <= rows[0]["delta_upper"]
    assert (rows[0]["delta_upper_by"], rows[0]["twice"]) == ("blanket", 0.5)


def test_a_bar_shows_how_far_it_is(capsys):
    ss.sweep(lambda x: x, {"x": [1, 2]})
    assert "2/2" in capsys.readouterr().err


def test_intervals_say_what_their_ends_come_from_and_files_that_do_not_are_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    (row,) = ss.sweep(lambda n: ss.Shuffle(ss.KRR(k=3, eps0=1), n).delta(0.1), {"n": [4]}, path=path, progress=False)
    assert (row["lower_by"], row["upper_by"]) == ("0 against 1, all others 2", "blanket")
    path.write_text('{"n": 4, "lower": 0.1, "upper": 0.2, "method": "contour"}\n')
    with pytest.raises(ValueError, match="do not say what their ends come from"):
        ss.sweep(lambda n: None, {"n": [4]}, path=path, progress=False)
