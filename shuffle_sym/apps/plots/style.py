r"""One style for all plots: light paper with dark ink whatever the theme around it, Okabe and Ito's colours, and curves
that are named at their ends."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex, to_rgb
from scipy.optimize import isotonic_regression

# Okabe and Ito's palette without black and yellow: told apart by colour-blind readers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
PAPER, INK = "#FFFFFF", "#000000"
CONTRAST = 4.5  # of text on paper, as the accessibility guidelines ask for

DPI = 96  # a pixel of the figure is a pixel of the page; saved with a palette, notebooks stay small
WIDTH = 8.6  # of the column of a notebook, in inches: what is wider is made smaller, letters and all


def axes(xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> Any:
    """Axes in the style of all our plots, with ``xlabel`` and ``ylabel``; ``logx``, ``logy``: a logarithmic scale.

    >>> ax = axes("number of users n", "central ε", logx=True)
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'linear')
    >>> close(ax)
    """
    ((ax,),) = grid(1, 1, (7, 4.2))
    _scaled(ax, xlabel, logx=logx, logy=logy)
    ax.set(ylabel=ylabel)
    return ax


def panels(titles: Sequence[str], xlabel: str, ylabel: str, *, logx: bool = False, logy: bool = False) -> list[Any]:
    """Axes side by side, one for each of ``titles``, with one scale of y for all; labels, scales as for `axes`.

    >>> drawn = panels(["weak", "strong"], "central ε", "δ(ε)", logy=True)
    >>> [ax.get_title() for ax in drawn]
    ['weak', 'strong']
    >>> close(drawn[0])
    """
    (panels,) = grid(1, len(titles), (min(4 * len(titles), WIDTH), 3.6), sharey=True)
    for ax, title in zip(panels, titles, strict=True):
        _scaled(ax, xlabel, logx=logx, logy=logy)
        ax.set_title(title, fontsize="medium")
    panels[0].set(ylabel=ylabel)
    return list(panels)


def panel_grid(titles: Mapping[str, str], ylabel: str, *, columns: int = 3, linear: Sequence[str] = ()) -> list[Any]:
    """Panels in ``columns``, title → label of x, with one ``ylabel``, each with its own scales; logarithmic but for
    the titles in ``linear``, whose x-axis is not.

    >>> drawn = panel_grid({"(a)": "n", "(b)": "order", "(c)": "ε0", "(d)": "n"}, "divergence", columns=2)
    >>> [ax.get_xlabel() for ax in drawn]
    ['n', 'order', 'ε0', 'n']
    >>> close(drawn[0])
    """
    rows = -(-len(titles) // columns)
    panels = grid(rows, columns, (min(3.1 * columns, WIDTH), 2.5 * rows))
    for ax, (title, xlabel) in zip(panels.flat, titles.items(), strict=True):
        _scaled(ax, xlabel, logx=title not in linear, logy=True)
        ax.set_title(title, fontsize="medium")
    for row in panels:
        row[0].set(ylabel=ylabel)
    return list(panels.flat)


def close(ax: Any) -> None:
    """Forget the figure of these axes: figures that nobody closes are kept in memory.

    >>> ax = axes("x", "y")
    >>> close(ax)
    >>> plt.fignum_exists(ax.figure.number)
    False
    """
    plt.close(ax.figure)


def grid(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> Any:
    """An array of axes on our paper, with our ink.

    >>> panels = grid(2, 3, (6, 4))
    >>> panels.shape
    (2, 3)
    >>> close(panels[0, 0])
    """
    _, panels = plt.subplots(rows, columns, figsize=size, layout="constrained", dpi=DPI, squeeze=False, **shared)
    for ax in panels.flat:
        on_paper(ax)
    return panels


def on_paper(ax: Any) -> Any:
    """The axes on our paper, with our ink."""
    # The paper is part of the figure, so that the ink can be read on light and dark themes alike. It is set here and
    # not in rcParams: those are the user's, and a context around the first figure would undo what its back end sets.
    ax.figure.set_facecolor(PAPER)
    ax.set_facecolor(PAPER)
    ax.tick_params(colors=INK, which="both")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK)
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label):
        text.set_color(INK)
    ax.grid(alpha=0.25)
    return ax


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
    """Write ``label`` beside the end (x, y) of a curve; names that would overlap are moved apart.

    >>> ax = axes("x", "y")
    >>> name_at_end(ax, 1, 0.5, "certified", COLOURS[0])
    >>> ax.texts[0].get_text(), ax.texts[0].xy
    ('certified', (1, 0.5))
    >>> close(ax)
    """
    name = ax.annotate(label, (x, y), xytext=(6, 0), textcoords="offset points", color=ink(colour), va="center")
    name.is_end = True
    names = [text for text in ax.texts if getattr(text, "is_end", False)]
    # Heights in points from the bottom of the axes; the limits are those of all curves so far.
    points = 72 / ax.figure.dpi
    heights = [float(ax.transData.transform(text.xy)[1]) * points for text in names]
    line, bottom = 1.25 * name.get_fontsize(), float(ax.transAxes.transform((0, 0))[1]) * points
    for text, height, wanted in zip(names, heights, _apart(heights, line, bottom + line / 2), strict=True):
        text.set_position((6, wanted - height))


def _apart(heights: Sequence[float], least: float, lowest: float) -> list[float]:
    """The heights moved as little as needed for ``least`` between neighbours: groups that touch share their mean. None
    is moved below ``lowest``, where the axis has its own labels.

    >>> _apart([20.0, 21.0, 50.0], 10.0, 0.0), _apart([20.0, 21.0, 50.0], 10.0, 18.0)
    ([15.5, 25.5, 50.0], [18.0, 28.0, 50.0])
    """
    order = np.argsort(heights, kind="stable")
    apart = least * np.arange(len(heights))
    wanted = isotonic_regression(np.array(heights)[order] - apart).x + apart
    places = np.maximum(wanted, min(lowest, min(heights)) + apart)
    return [float(place) for place in places[np.argsort(order)]]


def name_lines(ax: Any) -> None:
    """Names beside the right ends of all labelled lines, in place of a legend.

    >>> ax = axes("x", "y")
    >>> _ = ax.plot([0, 1], [2, 3], label="a"), ax.plot([0, 1], [4, 5])
    >>> name_lines(ax)
    >>> [text.get_text() for text in ax.texts]
    ['a']
    >>> close(ax)
    """
    for line in ax.get_lines():
        label, (xs, ys) = line.get_label(), line.get_data()
        if not label.startswith("_") and len(xs):
            last = int(np.argmin(xs) if ax.xaxis_inverted() else np.argmax(xs))
            name_at_end(ax, xs[last], ys[last], label, to_hex(line.get_color()))


def legend_below(drawn: Sequence[Any], columns: int = 4) -> None:
    """One legend, in ``columns``, below the panels ``drawn``, each name once: where curves end too close to be named.

    >>> drawn = panels(["one", "two"], "x", "y")
    >>> _ = [ax.plot([0, 1], [2, 3], label=label) for ax in drawn for label in ("a", "b")]
    >>> legend_below(drawn)
    >>> [text.get_text() for text in drawn[0].figure.legends[0].get_texts()]
    ['a', 'b']
    >>> close(drawn[0])
    """
    lines = {line.get_label(): line for ax in reversed(drawn) for line in reversed(ax.get_lines())}
    named = {label: line for label, line in reversed(lines.items()) if not label.startswith("_")}
    # A name is in ink: on paper some colours are too light for text.
    drawn[0].figure.legend(
        handles=list(named.values()), loc="outside lower center", ncols=columns, frameon=False, labelcolor=INK
    )


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def power(number: float) -> str:
    """A power of ten with a superscript, such as 10⁴; 1, 10 and any other number as it is.

    >>> power(1e-6), power(10**4), power(2.5)
    ('10⁻⁶', '10⁴', '2.5')
    """
    exponent = round(math.log10(number))
    if exponent in (0, 1) or not math.isclose(number, 10.0**exponent, rel_tol=1e-12):
        return f"{number:g}"
    return "10" + str(exponent).translate(_RAISED)
