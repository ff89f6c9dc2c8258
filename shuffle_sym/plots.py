r"""Plots of certified curves: a band from the lower to the upper end, and the upper end as the line to report.

One style for all: light paper with dark ink whatever the theme around it, Okabe and Ito's colours, curves named at
their ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from matplotlib.colors import to_hex, to_rgb

from shuffle_sym.continuous import Continuous
from shuffle_sym.fourier import FourierAccountant
from shuffle_sym.interval import Interval
from shuffle_sym.pld import PrivacyLossDistribution
from shuffle_sym.shuffle import Shuffle

# Okabe and Ito's palette without black and yellow: told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
PAPER, INK = "#FFFFFF", "#000000"
CONTRAST = 4.5  # of text on paper, as the accessibility guidelines ask for

DPI = 72  # notebooks hold many figures and stay small


def axes(xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> Any:
    """Axes in the style of all our plots.

    >>> ax = axes("number of users n", "central ε", logx=True)
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'linear')
    >>> plt.close(ax.figure)
    """
    ((ax,),) = _grid(1, 1, (7, 4.2))
    _scaled(ax, xlabel, logx=logx, logy=logy)
    ax.set(ylabel=ylabel)
    return ax


def panels(titles: Sequence[str], xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> list[Any]:
    """The same side by side, with one scale for all.

    >>> drawn = panels(["weak", "strong"], "central ε", "δ(ε)", logy=True)
    >>> [ax.get_title() for ax in drawn]
    ['weak', 'strong']
    >>> plt.close(drawn[0].figure)
    """
    (found,) = _grid(1, len(titles), (4 * len(titles), 3.6), sharey=True)
    for ax, title in zip(found, titles, strict=True):
        _scaled(ax, xlabel, logx=logx, logy=logy)
        ax.set_title(title, fontsize="medium")
    found[0].set(ylabel=ylabel)
    return list(found)


def panel_grid(titles: Mapping[str, str], ylabel: str, *, columns: int = 3, linear: Sequence[str] = ()) -> list[Any]:
    """Panels in rows, title → label of the x-axis, each with its own scales; logarithmic but for the titles in
    ``linear``, whose x-axis is not.

    >>> drawn = panel_grid({"(a)": "n", "(b)": "order", "(c)": "ε0", "(d)": "n"}, "divergence", columns=2)
    >>> [ax.get_xlabel() for ax in drawn]
    ['n', 'order', 'ε0', 'n']
    >>> plt.close(drawn[0].figure)
    """
    rows = -(-len(titles) // columns)
    found = _grid(rows, columns, (3.1 * columns, 2.5 * rows))
    for ax, (title, xlabel) in zip(found.flat, titles.items(), strict=True):
        _scaled(ax, xlabel, logx=title not in linear, logy=True)
        ax.set_title(title, fontsize="medium")
    for row in found:
        row[0].set(ylabel=ylabel)
    return list(found.flat)


def _grid(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> Any:
    figure, found = plt.subplots(rows, columns, figsize=size, layout="constrained", dpi=DPI, squeeze=False, **shared)
    # The paper is part of the figure, so that the ink can be read on light and dark themes alike. It is set here and
    # not in rcParams: those are the user's, and a context around the first figure would undo what its back end sets.
    figure.set_facecolor(PAPER)
    for ax in found.flat:
        ax.set_facecolor(PAPER)
        ax.tick_params(colors=INK, which="both")
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(INK)
        for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
            text.set_color(INK)
        ax.grid(alpha=0.25)
    return found


def _scaled(ax: Any, xlabel: str, *, logx: bool, logy: bool) -> None:
    ax.set(xlabel=xlabel, xscale="log" if logx else "linear", yscale="log" if logy else "linear")


# ------------------------------------------------------------------------------------------- names at the curves


def luminance(colour: str) -> float:
    """Relative luminance, as the accessibility guidelines define it: 0 is black and 1 is white.

    >>> luminance("#000000"), round(luminance("#FFFFFF"), 12)
    (0.0, 1.0)
    """
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The ratio of luminances that decides whether text can be read, from 1 to 21.

    >>> round(contrast(INK, PAPER), 1)
    21.0
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink(colour: str) -> str:
    """The colour, darkened as far as text on paper needs.

    >>> ink("#0072B2"), contrast(ink("#E69F00"), PAPER) >= CONTRAST
    ('#0072b2', True)
    """
    rgb = np.array(to_rgb(colour))
    while contrast(to_hex(rgb), PAPER) < CONTRAST:
        rgb = rgb * 0.97
    return str(to_hex(rgb))


def name_at_end(ax: Any, x: float, y: float, label: str, colour: str) -> None:
    """Write ``label`` beside the end (x, y) of a curve; names that would overlap are moved apart."""
    name = ax.annotate(label, (x, y), xytext=(6, 0), textcoords="offset points", color=ink(colour), va="center")
    name.is_end = True
    names = [text for text in ax.texts if getattr(text, "is_end", False)]
    # Heights in points from the bottom of the axes; the limits are those of all curves so far.
    points = 72 / ax.figure.dpi
    heights = [float(ax.transData.transform(text.xy)[1]) * points for text in names]
    line = 1.25 * name.get_fontsize()
    for text, height, wanted in zip(names, heights, _apart(heights, line), strict=True):
        text.set_position((6, wanted - height))


def _apart(heights: Sequence[float], least: float) -> list[float]:
    """The heights moved as little as needed for ``least`` between neighbours: groups that touch share their mean.

    >>> _apart([0.0, 1.0, 30.0], 10.0)
    [-4.5, 5.5, 30.0]
    """
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    groups: list[list[int]] = []

    def bottom(group: list[int]) -> float:
        return sum(heights[i] for i in group) / len(group) - least * (len(group) - 1) / 2

    for i in order:
        groups.append([i])
        while len(groups) > 1 and bottom(groups[-1]) - bottom(groups[-2]) < least * len(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    found = [0.0] * len(heights)
    for group in groups:
        for j, i in enumerate(group):
            found[i] = bottom(group) + j * least
    return found


def name_lines(ax: Any) -> None:
    """Names beside the right ends of all labelled lines, in place of a legend."""
    for line in ax.get_lines():
        label, (xs, ys) = line.get_label(), line.get_data()
        if not label.startswith("_") and len(xs):
            last = int(np.argmin(xs) if ax.xaxis_inverted() else np.argmax(xs))
            name_at_end(ax, xs[last], ys[last], label, to_hex(line.get_color()))


# ---------------------------------------------------------------------------------------------------- the plots


def closed_forms(
    ax: Any, xs: Sequence[Any], forms: Mapping[str, Any], at: Callable[[Any, Any], float], **style: Any
) -> None:
    """Several bounds over the same x, ``at(bound, x)``, a colour for each, drawn where they hold."""
    for (label, bound), colour in zip(forms.items(), COLOURS, strict=False):
        where_it_holds(ax, xs, partial(at, bound), color=colour, label=label, **style)


def bracket(ax: Any, xs: Sequence[float], intervals: Sequence[Interval], label: str, colour: str) -> None:
    """One certified curve, labelled at its right end.

    >>> ax = axes("x", "y")
    >>> bracket(ax, [1, 2], [Interval(0.5, 0.6), Interval(0.1, 0.2)], "certified", COLOURS[0])
    >>> [float(y) for y in ax.lines[0].get_ydata()], ax.texts[0].get_text()
    ([0.6, 0.2], 'certified')
    >>> plt.close(ax.figure)
    """
    upper = band(ax, xs, intervals, colour)
    # A logarithmic axis has no place for the 0 that δ is from ε0 on.
    seen = [point for point in zip(xs, upper, strict=True) if point[1] > 0 or ax.get_yscale() != "log"]
    if seen:
        name_at_end(ax, *seen[-1], label, colour)


def band(
    ax: Any, xs: Sequence[float], intervals: Sequence[Interval], colour: str, style: str = "-", **line: Any
) -> list[float]:
    """The band between the ends, and the upper end as a line; the upper ends are handed back."""
    upper = [i.upper for i in intervals]
    ax.fill_between(xs, [i.lower for i in intervals], upper, color=colour, alpha=0.3, linewidth=0)
    ax.plot(xs, upper, style, color=colour, **line)
    return upper


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
    name_lines(ax)
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
    name_lines(ax)
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
        band(ax, eps[: len(intervals)], intervals, colour, style, label=f"{label}, rounds: {count}")


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
    name_lines(ax)
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
    name_lines(ax)
    return ax
