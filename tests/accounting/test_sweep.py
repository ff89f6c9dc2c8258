"""One sweep: serially, on processes, on a Dask cluster, and interrupted, with the same rows."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from conftest import shuffled_laws

import shuffle_sym as ss

GRID = {"n": [100, 1_000], "eps0": [1, 2.5], "delta": [1e-4, 1e-6]}


def certified(n: int, eps0: float, delta: float) -> ss.Interval:
    return shuffled_laws(ss.KRR(k=4, eps0=eps0), n).epsilon(delta, rtol=0.01)


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


def test_a_dask_cluster_gives_the_same_rows(rows):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        assert ss.sweep(certified, GRID, client.get_executor(), progress=False) == rows
        # Dask gives equal calls one future: what one sweep cancels must not be what the next one waits for.
        for _ in range(6):
            assert ss.sweep(certified, GRID, client, progress=False) == rows


def stopping(n, stop):
    if str(n) in Path(stop).read_text().split():
        raise KeyboardInterrupt
    with Path(stop).with_suffix(".calls").open("a") as calls:
        calls.write(f"{n}\n")
    return n * n


def stop_at(tmp_path, *places):
    (tmp_path / "stop.txt").write_text(" ".join(map(str, places)))
    return {"n": list(range(10)), "stop": [str(tmp_path / "stop.txt")]}


def test_an_interrupted_sweep_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        ss.sweep(stopping, stop_at(tmp_path, 4), path=path, progress=False)
    assert len(path.read_text().splitlines()) == 5  # what the sweep is, and four rows
    with path.open("a") as file:
        file.write('{"n": 4, "st')  # the power went off in the middle of a line
    rows = ss.sweep(stopping, stop_at(tmp_path), path=path, progress=False)
    assert [row["value"] for row in rows] == [n * n for n in range(10)]
    assert (tmp_path / "stop.calls").read_text().split() == [str(n) for n in range(10)]  # each was computed once
    stop_at(tmp_path, *range(10))
    assert ss.sweep(stopping, stop_at(tmp_path, 3), path=path, progress=False) == rows  # nothing is left to compute
    # A line that was cut off just before its end is not taken for a whole one, on which the next would be written.
    path.write_bytes(path.read_bytes()[:-1])
    assert ss.sweep(stopping, stop_at(tmp_path), path=path, progress=False) == rows
    assert ss.sweep(stopping, stop_at(tmp_path, *range(10)), path=path, progress=False) == rows


def squared(n):
    if n % 7 == 5:
        raise ValueError("unlucky")
    return n * n


@pytest.mark.parametrize("kind", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_points_that_fail_are_named_and_all_others_are_kept(tmp_path, kind):
    path, grid = tmp_path / "rows.jsonl", {"n": list(range(20))}
    with kind(2) if kind else nullcontext() as executor:
        with pytest.raises(RuntimeError, match="3 of the 20 points failed") as told:
            ss.sweep(squared, grid, executor, path=path, progress=False)
        # Without a file there is nowhere to keep the others: the error itself comes, and names its point.
        with pytest.raises(ValueError, match="unlucky") as alone:
            ss.sweep(squared, grid, executor, progress=False)
    for words in ("n = 5: ValueError: unlucky", "n = 12: ValueError: unlucky", str(path), "the same call"):
        assert words in str(told.value)
    assert isinstance(told.value.__cause__, ValueError)
    assert alone.value.__notes__[0] in [f"This is the point n = {n} of the sweep." for n in (5, 12, 19)]
    kept = {row["n"]: row["value"] for row in map(json.loads, path.read_text().splitlines()[1:])}
    assert kept == {n: n * n for n in range(20) if n % 7 != 5}


def test_only_the_first_of_many_failed_points_are_shown(tmp_path):
    with pytest.raises(RuntimeError, match="50 of the 50 points failed") as told:
        ss.sweep(lambda n: 1 / 0, {"n": list(range(50))}, path=tmp_path / "rows.jsonl", progress=False)
    assert str(told.value).count("ZeroDivisionError") == 20
    assert str(told.value).endswith("and 30 more")


def ends_its_process(n, stop):
    if str(n) in Path(stop).read_text().split():
        os._exit(1)
    return n * n


def test_a_process_that_is_lost_leaves_the_rows_that_were_done_and_a_new_pool_goes_on(tmp_path):
    path = tmp_path / "rows.jsonl"
    with ProcessPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="BrokenProcessPool") as told:
        ss.sweep(ends_its_process, stop_at(tmp_path, 6), pool, path=path, progress=False)
    assert "n = 6, stop = " in str(told.value)
    with pytest.raises(RuntimeError, match="10 of the 10 points failed"):  # the same pool takes no more work
        ss.sweep(ends_its_process, stop_at(tmp_path), pool, path=tmp_path / "other.jsonl", progress=False)
    kept = [json.loads(line)["n"] for line in path.read_text().splitlines()[1:]]
    assert kept == list(range(len(kept)))
    with ProcessPoolExecutor(1) as pool:
        rows = ss.sweep(ends_its_process, stop_at(tmp_path), pool, path=path, progress=False)
    assert [row["value"] for row in rows] == [n * n for n in range(10)]


def test_rows_are_written_as_they_finish_and_an_interrupt_cancels_what_has_not_begun(tmp_path):
    path = tmp_path / "rows.jsonl"

    def ask(n):
        (tmp_path / f"{n}.begun").touch()
        if n == 6:  # the other worker holds the first point: all between them must reach the file
            while len(path.read_text().splitlines()) < 6:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        while n in (0, 6) and not (tmp_path / "over").exists():
            time.sleep(0.01)
        return n

    with ThreadPoolExecutor(2) as executor:
        try:
            with pytest.raises(KeyboardInterrupt):
                ss.sweep(ask, {"n": list(range(100))}, executor, path=path, progress=False)
        finally:
            (tmp_path / "over").touch()
    assert sorted(json.loads(line)["n"] for line in path.read_text().splitlines()[1:]) == [1, 2, 3, 4, 5]
    assert len(list(tmp_path.glob("*.begun"))) == 7


def other(n, eps0, delta):
    return 0.5


def told(fn, grid, path):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="path must name a new file or one that this sweep wrote") as refusal:
        ss.sweep(fn, grid, path=path, progress=False)
    assert path.read_bytes() == before
    assert str(path) in str(refusal.value)
    assert "ive another path." in str(refusal.value)
    return str(refusal.value)


def test_rows_of_another_function_grid_or_version_are_refused_and_more_values_are_not(rows, tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    assert ss.sweep(certified, GRID, path=path, progress=False) == rows
    more = {"eps0": [2.5, 3], "delta": [1e-4], "n": [100, 50]}
    again = ss.sweep(certified, more, path=path, progress=False)
    assert [row for row in again if row in rows] == [
        row for row in rows if (row["n"], row["eps0"], row["delta"]) == (100, 2.5, 1e-4)
    ]
    assert len(path.read_text().splitlines()) == 1 + len(rows) + 3
    refusal = told(other, GRID, path)
    for words in (
        f"holds the sweep of {__name__}.certified over delta, eps0, n",
        f"asked for is {__name__}.other over",
    ):
        assert words in refusal
    assert "asked for is" in told(certified, {"n": [100], "eps0": [1], "delta": [1e-4], "k": [2]}, path)
    monkeypatch.setattr("shuffle_sym.accounting.sweep.VERSION", "99.1")
    assert "(shuffle_sym 99.1, Python" in told(certified, GRID, path)


def test_functions_of_one_name_are_told_apart_by_what_they_read(tmp_path):
    path = tmp_path / "rows.jsonl"

    def times(k):
        return lambda n: k * n

    grid = {"n": [1, 2]}
    assert [row["value"] for row in ss.sweep(times(3), grid, path=path, progress=False)] == [3, 6]
    assert [row["value"] for row in ss.sweep(times(3), grid, path=path, progress=False)] == [3, 6]
    assert "differs in k in " in told(times(4), grid, path)
    assert ".<lambda> over n (" in told(lambda n: n, grid, path)
    with pytest.raises(ValueError, match="told from others"):
        ss.sweep(times(threading.Lock()), grid, path=tmp_path / "new.jsonl", progress=False)
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize(
    "text",
    [
        b'{"n": 4, "lower": 0.1, "upper": 0.2, "method": "contour"}\n',  # as earlier versions wrote it
        b"what somebody else keeps here",
        b"what somebody else\nkeeps here\n",
        b"[1]\n",
        b"\xff\xfe\x00",
        b'{"sweep": "tests.f", "names": ["n"], "ver',
    ],
)
def test_a_file_that_does_not_say_what_it_holds_is_refused_and_left_as_it_is(tmp_path, text):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(text)
    assert "its first line does not say which function" in told(lambda n: n, {"n": [4]}, path)


def test_an_empty_file_is_a_new_one(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.touch()
    assert ss.sweep(lambda n: n, {"n": [4]}, path=path, progress=False) == [{"n": 4, "value": 4}]


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


def test_intervals_say_what_their_ends_come_from(tmp_path):
    path = tmp_path / "rows.jsonl"
    (row,) = ss.sweep(lambda n: ss.Shuffle(ss.KRR(k=3, eps0=1), n).delta(0.1), {"n": [4]}, path=path, progress=False)
    assert (row["lower_by"], row["upper_by"]) == ("0 against 1, all others 2", "blanket")
