r"""A table over a grid of parameters: serial or on any executor, with a progress bar, resumable."""

import json
import platform
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import closing
from functools import partial
from itertools import product
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from shuffle_sym.accounting import fingerprint
from shuffle_sym.algebra import VERSION, records
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.records import Row

_SHOWN = 20  # failed points that an error names: with more nobody sees the first, with fewer a pattern is missed


def sweep(
    fn: Callable[..., Any],
    grid: Mapping[str, Sequence[Any]],
    executor: Executor | None = None,
    *,
    path: str | Path | None = None,
    progress: bool = True,
) -> list[Row]:
    r"""``fn(**parameters)`` for every point of the grid, as rows in the order of the grid.

    A row holds the parameters and the result: ``lower``, ``upper``, ``method``, ``lower_by`` and ``upper_by`` of an
    `Interval`, the entries of a mapping (an interval under the name *eps* as ``eps_lower``, ``eps_upper``, …), or one
    ``value``. Parameters are numbers, texts, booleans or None, in lists or arrays.

    ``executor`` is a Dask ``Client`` or anything with the interface of `concurrent.futures.Executor` (processes,
    ipyparallel, mpi4py); then ``fn`` must be importable by the workers. An interrupt
    cancels the points of a ``Client`` all in one message, and those of its executor one by one, which takes longer.
    ``progress`` shows a bar.

    With ``path`` every finished row is written to that file at once, one JSON object a line, and rows that are there
    already are not computed again: an interrupted sweep goes on where it stopped, also with more values in the grid.
    A point that fails does not stop the others; in the end one RuntimeError names the points that failed. Without
    ``path`` there is nothing to keep the other rows in, and the first error ends the sweep.

    The first line of the file says which function its rows belong to, and a file of something else is refused. Two
    functions are the same if their names are, their compiled code, and every value that they read as it is when the
    sweep begins: defaults, captured and global variables, and, by the same rule, the functions, methods and modules
    that they use. Not compared are installed packages, built-in functions, what a function imports when it runs, and
    what it reads from outside, such as files.

    >>> sweep(lambda x, y: x * y, {"x": [2, 3], "y": [5, 7]}, progress=False)[-1]
    {'x': 3, 'y': 7, 'value': 21}
    """
    if not callable(fn):
        raise TypeError(f"fn must be a function, got {fn!r}")
    points = _points(grid)
    done = {} if path is None else _rows(path, fn, set(grid))
    missing = [point for point in points if records.key(point) not in done]
    failed: list[tuple[Row, Exception]] = []
    with (
        tqdm(total=len(points), initial=len(points) - len(missing), disable=not progress, desc="sweep") as bar,
        closing(_results(fn, missing, executor)) as results,
    ):
        for point, result in results:
            try:
                row = {**point, **_columns(result(), point)}
            except Exception as error:
                if path is None:
                    error.add_note(f"This is the point {_place(point)} of the sweep.")
                    raise
                failed.append((point, error))
                continue
            if path is not None:
                records.append(path, row)
            done[records.key(point)] = row
            bar.update()
    if failed:
        lines = [f"{_place(point)}: {type(error).__name__}: {error}" for point, error in failed[:_SHOWN]]
        raise RuntimeError(
            f"{len(failed)} of the {len(points)} points failed. All other rows are in {path}: the same call computes "
            "only what failed. (If a pool of processes broke, give it a new one.)\n"
            + "\n".join([*lines, *([f"and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else [])])
        ) from failed[0][1]
    return [done[records.key(point)] for point in points]


def _place(point: Row) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in point.items())


def _results(
    fn: Callable[..., Any], points: list[Row], executor: Any
) -> Generator[tuple[Row, Callable[[], Any]], None, None]:
    """Every point, with a function that returns its result or raises its error, as they finish."""
    if executor is None or not points:
        for point in points:
            yield point, partial(fn, **point)
        return
    if hasattr(executor, "get_executor"):
        yield from _results_of_dask(fn, points, executor)
        return
    # The executor of a Dask client gives equal calls one future: without a mark of its own a sweep would cancel those
    # of the next one.
    mark = uuid.uuid4().hex
    futures: dict[Any, Row] = {}
    finished: SimpleQueue[Any] = SimpleQueue()
    try:
        for number, point in enumerate(points, 1):
            try:
                future = executor.submit(_call, fn, point, mark)
            except Exception as error:  # such as that of a pool that has lost a process
                future = Future()
                future.set_exception(error)
            futures[future] = point
            future.add_done_callback(finished.put)
            # What is finished while the rest is handed in does not wait for that.
            while futures and (number == len(points) or not finished.empty()):
                future = finished.get()
                yield futures.pop(future), future.result
    finally:
        for future in futures:
            future.cancel()


def _results_of_dask(
    fn: Callable[..., Any], points: list[Row], client: Any
) -> Generator[tuple[Row, Callable[[], Any]], None, None]:
    """All points in one message, and cancelled in one; results are fetched as soon as they are there."""
    from distributed import as_completed

    futures = dict(zip(client.map(partial(_call, fn), points, pure=False), points, strict=True))
    try:
        for future, result in as_completed(futures, client.loop, with_results=True, raise_errors=False):
            yield futures.pop(future), partial(_fetched, future, result)
    finally:
        client.cancel(list(futures))


def _fetched(future: Any, result: Any) -> Any:
    return result if future.status == "finished" else future.result()


def _call(fn: Callable[..., Any], point: Row, mark: str = "") -> Any:
    return fn(**point)


def _rows(path: str | Path, fn: Callable[..., Any], names: set[str]) -> dict[str, Row]:
    """The rows of the same sweep that the file holds; a new file is begun with what the sweep is."""
    name, parts = fingerprint.of(fn)
    python = ".".join(platform.python_version_tuple()[:2])  # code is compiled differently by every version
    asked = {"sweep": name, "names": sorted(names), "version": VERSION, "python": python, "parts": parts}
    held = records.first(path)
    if held is None:
        records.append(path, asked)
        return {}
    cure = "Delete it, or give another path."
    if set(held) != set(asked):
        raise ValueError(
            f"path must name a new file or one that this sweep wrote, got {path}: its first line does not say which "
            f"function its rows belong to (earlier versions did not write that). Give another path."
        )
    holds, asks = (
        f"{head['sweep']} over {', '.join(head['names'])} (shuffle_sym {head['version']}, Python {head['python']})"
        for head in (held, asked)
    )
    if holds != asks:
        raise ValueError(
            f"path must name a new file or one that this sweep wrote, got {path}: it holds the sweep of {holds}, and "
            f"asked for is {asks}. {cure}"
        )
    if held["parts"] != parts:
        changed = sorted(part for part in {*held["parts"], *parts} if held["parts"].get(part) != parts.get(part))
        raise ValueError(
            f"path must name a new file or one that this sweep wrote, got {path}: it holds the sweep of another "
            f"{name}, which differs in {', '.join(changed)}. {cure}"
        )
    return records.read(path, names, skip=1)


def _points(grid: Any) -> list[Row]:
    if not isinstance(grid, Mapping) or not grid:
        raise TypeError(f"grid must be a mapping from names to lists of values, got {grid!r}")
    for name, values in grid.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or not len(values):
            raise ValueError(f"grid[{name!r}] must be a list of values that is not empty, got {values!r}")
    lists = [[_plain(value) for value in values] for values in grid.values()]
    for name, values in zip(grid, lists, strict=True):
        for value in values:
            if not isinstance(value, (int, float, str, bool, type(None))):
                raise TypeError(f"grid[{name!r}] must hold numbers, texts, booleans or None, got {value!r}")
    points = [dict(zip(grid, values, strict=True)) for values in product(*lists)]
    if len({records.key(point) for point in points}) < len(points):
        raise ValueError("grid must not hold the same value twice under one name")
    return points


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python, which a file can hold."""
    return value.item() if isinstance(value, np.generic) else value


def _ends(interval: Interval, prefix: str) -> Row:
    columns: Row = {"lower": interval.lower, "upper": interval.upper, "method": interval.method}
    for name in ("lower_by", "upper_by"):
        by = getattr(interval, name)
        columns[name] = None if by is None else str(by)
    return {prefix + name: value for name, value in columns.items()}


def _columns(result: Any, point: Row) -> Row:
    if isinstance(result, Interval):
        columns = _ends(result, "")
    else:
        columns = {}
        for name, value in (result if isinstance(result, Mapping) else {"value": result}).items():
            columns |= _ends(value, f"{name}_") if isinstance(value, Interval) else {name: _plain(value)}
    if clash := set(columns) & set(point):
        raise ValueError(f"the result of fn and the grid must have different names, got {sorted(clash)} twice")
    # What comes back from a file must be what was computed.
    if json.loads(json.dumps(columns)) != columns:
        raise TypeError(
            f"fn must return an Interval, a number, or a mapping of such that JSON can hold, got {result!r}"
        )
    return columns
