r"""Plots of certified curves: a band from the lower to the upper end, and the upper end as the line to report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

from shuffle_sym.continuous import Continuous
from shuffle_sym.fourier import FourierAccountant
from shuffle_sym.interval import Interval
from shuffle_sym.neighbours import MapRow
from shuffle_sym.pld import PrivacyLossDistribution
from shuffle_sym.shuffle import Shuffle

# Okabe and Ito's palette without black and yellow: told apart by colour-blind readers, visible on light and dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")

DPI = 72  # notebooks hold many figures and stay small


def axes(xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> Any:
    """Axes in the style of all our plots."""
    _, ax = plt.subplots(figsize=(7, 4.2), layout="constrained", dpi=DPI)
    _styled(ax, xlabel, logx=logx, logy=logy)
    ax.set(ylabel=ylabel)
    return ax


def panels(titles: Sequence[str], xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> list[Any]:
    """The same side by side, with one scale for all."""
    _, found = plt.subplots(1, len(titles), figsize=(4 * len(titles), 3.6), layout="constrained", sharey=True, dpi=DPI)
    for ax, title in zip(found, titles, strict=True):
        _styled(ax, xlabel, logx=logx, logy=logy)
        ax.set_title(title, fontsize="medium")
    found[0].set(ylabel=ylabel)
    return list(found)


def panel_grid(titles: Mapping[str, str], ylabel: str, *, columns: int = 3, linear: Sequence[str] = ()) -> list[Any]:
    """Panels in rows, title → label of the x-axis, each with its own scales; logarithmic but for the titles in
    ``linear``, whose x-axis is not."""
    rows = -(-len(titles) // columns)
    size = (3.1 * columns, 2.5 * rows)
    _, found = plt.subplots(rows, columns, figsize=size, layout="constrained", dpi=DPI, squeeze=False)
    for ax, (title, xlabel) in zip(found.flat, titles.items(), strict=True):
        _styled(ax, xlabel, logx=title not in linear, logy=True)
        ax.set_title(title, fontsize="medium")
    for row in found:
        row[0].set(ylabel=ylabel)
    return list(found.flat)


def closed_forms(
    ax: Any, xs: Sequence[Any], forms: Mapping[str, Any], at: Callable[[Any, Any], float], **style: Any
) -> None:
    """Several bounds over the same x, ``at(bound, x)``, a colour for each, drawn where they hold."""
    for (label, bound), colour in zip(forms.items(), COLOURS, strict=False):
        where_it_holds(ax, xs, partial(at, bound), color=colour, label=label, **style)


def _styled(ax: Any, xlabel: str, *, logx: bool, logy: bool) -> None:
    ax.set(xlabel=xlabel, xscale="log" if logx else "linear", yscale="log" if logy else "linear")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def bracket(ax: Any, xs: Sequence[float], intervals: Sequence[Interval], label: str, colour: str) -> None:
    """One certified curve, labelled at its right end."""
    upper = [i.upper for i in intervals]
    ax.fill_between(xs, [i.lower for i in intervals], upper, color=colour, alpha=0.3, linewidth=0)
    ax.plot(xs, upper, color=colour)
    ax.annotate(label, (xs[-1], upper[-1]), xytext=(6, 0), textcoords="offset points", color=colour, va="center")


def delta_curves(mechanisms: Mapping[str, Shuffle], eps: Sequence[float]) -> Any:
    """δ(ε) of several mechanisms, on a logarithmic scale."""
    ax = axes("central ε", "δ(ε)", logy=True)
    for (label, M), colour in zip(mechanisms.items(), COLOURS, strict=False):
        bracket(ax, eps, [M.delta(e) for e in eps], label, colour)
    return ax


def epsilon_curves(mechanisms: Mapping[str, Sequence[Shuffle]], delta: float) -> Any:
    """ε(n) at one δ: every sequence holds one mechanism at growing n."""
    ax = axes("number of users n", f"central ε at δ = {delta:g}", logx=True, logy=True)
    for (label, sequence), colour in zip(mechanisms.items(), COLOURS, strict=False):
        bracket(ax, [M.n for M in sequence], [M.epsilon(delta) for M in sequence], label, colour)
    return ax


def closing_bracket(M: Shuffle, alpha: sp.Rational, rtols: Sequence[float]) -> Any:
    """How far both ends of the interval are from the exact value, as the tolerance that is asked for shrinks."""
    exact = M.exact(alpha)
    intervals = [M.delta(sp.log(alpha), rtol=rtol) for rtol in rtols]
    ax = axes("relative width asked for", "relative distance from the exact value", logx=True, logy=True)
    # Differences of exact numbers: the ends may agree with the exact value to more digits than a double shows.
    ends = {
        "upper end": [float((sp.Rational(i.upper) - exact) / exact) for i in intervals],
        "lower end": [float((exact - sp.Rational(i.lower)) / exact) for i in intervals],
    }
    for (label, distances), colour, marker in zip(ends.items(), COLOURS, "v^", strict=False):
        ax.plot(rtols, distances, marker=marker, color=colour, label=label)
    ax.plot(rtols, rtols, color="grey", linestyle=":", label="what was asked for")
    ax.invert_xaxis()
    ax.legend(frameon=False)
    return ax


def steps(first: float, last: float, count: int) -> list[float]:
    """Numbers with equal differences, for linear axes."""
    return [float(x) for x in np.linspace(first, last, count)]


def spaced(first: float, last: float, count: int) -> list[float]:
    """Numbers with equal ratios, for logarithmic axes."""
    return [float(x) for x in np.geomspace(first, last, count)]


def discretisation_gap(randomizers: Mapping[str, Continuous], n: int, eps: float, cells: Sequence[int]) -> Any:
    """How the upper and the lower discretisation of continuous noise close in on each other."""
    ax = axes("number of cells", "relative gap between upper and lower δ", logx=True, logy=True)
    for (label, R), colour in zip(randomizers.items(), COLOURS, strict=False):
        gaps = []
        for count in cells:
            low, high = (Shuffle(D, n).delta(eps, rtol=1e-4) for D in (R.lower(count), R.upper(count)))
            gaps.append((high.upper - low.lower) / high.upper)
        ax.plot(cells, gaps, marker="o", color=colour, label=label)
    ax.plot(cells, [gaps[0] * (cells[0] / c) ** 2 for c in cells], color="grey", linestyle=":", label="cells⁻²")
    ax.set_xticks(cells, [str(c) for c in cells])
    ax.minorticks_off()
    ax.legend(frameon=False)
    return ax


def rounds_curves(
    ax: Any, accountant: FourierAccountant, eps: Sequence[float], rounds: Sequence[int], *, label: str, style: str = "-"
) -> None:
    """δ(ε) after several numbers of rounds, down to 1e-12: the certified band and its upper end, a colour for each."""
    for count, colour in zip(rounds, COLOURS, strict=False):
        intervals: list[Interval] = []
        for e in eps:
            intervals.append(accountant.delta(e, count, rtol=0.01))
            if intervals[-1].upper < 1e-12:
                break
        xs, upper = eps[: len(intervals)], [i.upper for i in intervals]
        ax.fill_between(xs, [i.lower for i in intervals], upper, color=colour, alpha=0.3, linewidth=0)
        ax.plot(xs, upper, style, color=colour, label=f"{label}, rounds: {count}")


def where_it_holds(ax: Any, xs: Sequence[float], bound: Callable[[float], float], **style: Any) -> None:
    """A closed form, drawn only where its theorem applies: elsewhere it raises, and nothing is drawn."""
    points = []
    for x in xs:
        with suppress(ValueError):
            points.append((x, bound(x)))
    ax.plot([x for x, _ in points], [y for _, y in points], **style)


def grid_widths(pld: PrivacyLossDistribution, eps: float, rounds: int, L: float, sizes: Sequence[int]) -> Any:
    """The relative width of the interval on published grids of m points: losses rounded outward, and split."""
    ax = axes("points of the grid, m", "relative width of the interval", logx=True, logy=True)
    for rounding, colour in zip(("outward", "split"), COLOURS, strict=False):
        found = [FourierAccountant(pld, L, m, rounding=rounding).delta(eps, rounds) for m in sizes]
        ax.plot(sizes, [i.relative_width for i in found], marker="o", color=colour, label=rounding)
    ax.legend(frameon=False)
    return ax


def cost_curves(R: Any, sizes: Sequence[int], delta: float, methods: Sequence[str]) -> Any:
    """Milliseconds for one certified δ near ``delta``, by number of users: the median of five."""
    ax = axes("number of users n", "milliseconds for one δ", logx=True, logy=True)
    for method, colour in zip(methods, COLOURS, strict=False):
        times = []
        for n in sizes:
            M = Shuffle(R, n)
            eps = M.epsilon(delta, rtol=0.01).upper
            measured = []
            for i in range(5):
                start = time.perf_counter()
                M.delta(eps * (1 + i / 1000), rtol=0.01, method=method)
                measured.append(time.perf_counter() - start)
            times.append(1e3 * float(np.median(measured)))
        ax.plot(sizes, times, marker="o", color=colour, label=method)
    ax.legend(frameon=False)
    return ax


def worst_kinds(maps: Mapping[str, Sequence[MapRow]], eps0: Mapping[str, sp.Expr], *, columns: int = 3) -> None:
    """Which kind of neighbours is the worst, for every ε/ε0 and n: a panel for each map; a dot marks ties of kinds."""
    kinds = sorted({row.kind for rows in maps.values() for row in rows}, key=lambda k: (not k.startswith("all"), k))
    colours = dict(zip(kinds, (*COLOURS, "grey", "black"), strict=False))
    lines = -(-len(maps) // columns)
    figure, found = plt.subplots(
        lines, columns, figsize=(3.3 * columns, 2.5 * lines + 0.5), layout="constrained", dpi=DPI, squeeze=False
    )
    for ax, (name, rows) in zip(found.flat, maps.items(), strict=False):
        for row in rows:
            x = float(sp.log(row.alpha) / eps0[name])
            ax.plot(x, row.n, "s", color=colours[row.kind], markersize=7)
            if len(row.kinds) > 1:
                ax.plot(x, row.n, ".", color="white", markersize=4)
        _styled(ax, "ε/ε0", logx=False, logy=False)
        ax.set_title(name, fontsize="medium")
        ax.set_yticks(sorted({row.n for row in rows}))
    for line in found:
        line[0].set(ylabel="users n")
    handles = [plt.Line2D([], [], marker="s", linestyle="", color=colours[k], label=f"others: {k}") for k in kinds]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(kinds)), frameon=False)


def curves(ax: Any, series: Mapping[str, tuple[Sequence[float], Sequence[float]]], **style: Any) -> None:
    """Several lines, a colour for each, with a legend."""
    for (label, (xs, ys)), colour in zip(series.items(), COLOURS, strict=False):
        ax.plot(xs, ys, marker="o", markersize=4, color=colour, label=label, **style)
    ax.legend(frameon=False)
