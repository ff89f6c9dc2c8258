"""A sweep on a Dask cluster of two processes: one is killed, a point fails, somebody interrupts, and no row is lost."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import shuffle_sym as ss

POINTS, KILLS, FAILS, WAITS, INTERRUPTS = 40, 10, 20, 30, 15
SECONDS = 120  # a sweep that takes longer hangs: an idle machine needs ten


def lines(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def ask(n: int, folder: str) -> ss.Interval:
    """The first time one point kills its worker, one fails, and one waits until all others are in the file."""
    here = Path(folder)
    with (here / "begun").open("a") as begun:
        begun.write(f"{n}\n")
    if n == KILLS and not (here / "killed").exists():
        (here / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if n == FAILS and not (here / "repaired").exists():
        raise ValueError("no such survey")
    end = time.monotonic() + SECONDS
    while n == WAITS and lines(here / "rows.jsonl") < 1 + POINTS - 2 and time.monotonic() < end:
        time.sleep(0.05)
    return ss.Shuffle(ss.KRR(k=4, eps0=1), n + 2).delta(0.1)


def interrupting(n: int, folder: str) -> int:
    """One point interrupts the process that asks, and its worker is busy for a while."""
    here = Path(folder)
    with (here / "begun").open("a") as begun:
        begun.write(f"{n}\n")
    if n == INTERRUPTS and not (here / "interrupted").exists():
        while lines(here / "rows.jsonl") < 10:
            time.sleep(0.05)
        (here / "interrupted").write_text(str(time.time()))
        os.kill(int((here / "asks").read_text()), signal.SIGINT)
        time.sleep(2)
    time.sleep(0.05)
    return n * n


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(params=["client", "executor"])
def executor(request, client):
    def hangs(*_: object) -> None:
        raise TimeoutError("the sweep hangs")

    signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it may be ignored
    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    yield client if request.param == "client" else client.get_executor()
    signal.alarm(0)


def test_a_killed_worker_and_a_point_that_fails_cost_no_other_row(executor, tmp_path):
    path, grid = tmp_path / "rows.jsonl", {"n": list(range(POINTS)), "folder": [str(tmp_path)]}
    with pytest.raises(RuntimeError, match="1 of the 40 points failed") as told:
        ss.sweep(ask, grid, executor, path=path, progress=False)
    assert f"n = {FAILS}, folder = {str(tmp_path)!r}: ValueError: no such survey" in str(told.value)
    assert (tmp_path / "killed").exists()
    kept = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    assert sorted(row["n"] for row in kept) == [n for n in range(POINTS) if n != FAILS]
    assert kept[-1]["n"] == WAITS  # all others were in the file before it ended

    (tmp_path / "repaired").touch()
    (tmp_path / "begun").unlink()
    rows = ss.sweep(ask, grid, executor, path=path, progress=False)
    assert (tmp_path / "begun").read_text() == f"{FAILS}\n"
    for row in rows:
        answer = ask(row["n"], str(tmp_path))
        assert (row["lower"], row["upper"]) == (answer.lower, answer.upper)


# The executor of a client cancels its points one by one, which takes long on a busy machine.
@pytest.mark.parametrize("executor", ["client"], indirect=True)
def test_an_interrupt_keeps_what_is_done_and_cancels_the_rest(executor, tmp_path):
    path, grid = tmp_path / "rows.jsonl", {"n": list(range(400)), "folder": [str(tmp_path)]}
    (tmp_path / "asks").write_text(str(os.getpid()))
    with pytest.raises(KeyboardInterrupt):
        ss.sweep(interrupting, grid, executor, path=path, progress=False)
    assert time.time() - float((tmp_path / "interrupted").read_text()) < 3
    kept = lines(path) - 1
    assert kept >= 9
    begun = (tmp_path / "begun").read_text().count("\n")
    time.sleep(4)  # the two workers would begin some hundred points in these, and a few are on their way to them
    after = (tmp_path / "begun").read_text().count("\n")
    assert after < begun + 30

    rows = ss.sweep(interrupting, grid, executor, path=path, progress=False)
    assert [row["value"] for row in rows] == [n * n for n in range(400)]
    assert (tmp_path / "begun").read_text().count("\n") == after + 400 - kept
