r"""A table over a grid of parameters: serial or on any executor, with a progress bar, resumable."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from shuffle_sym.algebra import records
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.records import Row

_NAMED = ("lower_by", "upper_by")


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

    ``executor`` is anything with the interface of `concurrent.futures.Executor` (processes, a Dask ``Client``,
    ipyparallel or mpi4py); then ``fn`` must be importable by the workers. With ``path`` every finished row is written
    to that file at once, one JSON object a line, and rows that are there already are not computed again: an
    interrupted sweep goes on where it stopped. ``progress`` shows a bar.

    >>> sweep(lambda x, y: x * y, {"x": [2, 3], "y": [5, 7]}, progress=False)[-1]
    {'x': 3, 'y': 7, 'value': 21}
    """
    if not callable(fn):
        raise TypeError(f"fn must be a function, got {fn!r}")
    points = _points(grid)
    done = records.read(path, set(grid)) if path is not None else {}
    for row in done.values():
        if {"lower", "upper", "method"} <= set(row) and not set(_NAMED) <= set(row):
            raise ValueError(
                f"path must name a file that this version wrote, got {path}: its intervals do not say what their ends "
                "come from, and may be about a bound in place of the mechanism; delete it, or give another path"
            )
    missing = [point for point in points if records.key(point) not in done]
    with tqdm(total=len(points), initial=len(points) - len(missing), disable=not progress, desc="sweep") as bar:
        for point, result in _results(fn, missing, executor):
            row = {**point, **_columns(result, point)}
            if path is not None:
                records.append(path, row)
            done[records.key(point)] = row
            bar.update()
    return [done[records.key(point)] for point in points]


def _results(fn: Callable[..., Any], points: list[Row], executor: Executor | None) -> Iterator[tuple[Row, Any]]:
    if executor is None:
        for point in points:
            yield point, fn(**point)
        return
    # Dask gives equal calls one future: without a mark of its own a sweep would cancel those of the next one.
    mark = uuid.uuid4().hex
    futures = {executor.submit(_call, fn, point, mark): point for point in points}
    try:
        for future in _finished(futures):
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def _call(fn: Callable[..., Any], point: Row, mark: str) -> Any:
    return fn(**point)


def _finished(futures: Mapping[Any, Row]) -> Iterable[Any]:
    """As they finish; futures of other libraries may not be known to `as_completed`, and come in order."""
    try:
        yield from as_completed(futures)
    except AttributeError:
        yield from futures


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
        raise ValueError("grid must not hold a value twice")
    return points


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python, which a file can hold."""
    return value.item() if isinstance(value, np.generic) else value


def _ends(interval: Interval, prefix: str) -> Row:
    columns: Row = {"lower": interval.lower, "upper": interval.upper, "method": interval.method}
    for name in _NAMED:
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
