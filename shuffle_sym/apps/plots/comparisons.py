r"""The values of all analyses of one mechanism, on one axis."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.ticker import LogLocator, NullFormatter

from shuffle_sym.accounting.analyses import Analyses
from shuffle_sym.apps.plots.style import COLOURS, INK, close, grid, ink  # noqa: F401 (close is for examples)

_COLOUR = {"upper": COLOURS[0], "lower": COLOURS[2], "approximation": "#808080"}
_MARKER = {"upper": "<", "lower": ">", "approximation": "d"}  # a bound points to where the truth is
_FAR = 10.0  # values that are so many times apart are on a logarithmic axis
_ROW = 0.27  # inches


def _scale(ax: Any, values: list[float]) -> None:
    """Room for the numbers beside the marks, and a logarithmic axis for values that are far apart."""
    ax.margins(x=0.25)
    if not values or max(values) <= _FAR * min(values):
        return
    ax.set_xscale("log")
    if max(values) <= _FAR**3 * min(values):
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def analyses(found: Analyses) -> Any:
    """A line for each analysis that was ``found``, from its value to the certified interval, which is a band; what
    says nothing is not drawn.

    >>> import shuffle_sym as ss
    >>> ax = analyses(ss.Shuffle(ss.BinaryRR(eps0=1), n=1000).analyses(delta=1e-6))
    >>> ax.get_xlabel(), ax.get_yticklabels()[-1].get_text()
    ('ε at δ = 1e-06', '0 against 1, all others 1')
    >>> close(ax)
    """
    rows = [row for row in found.rows if row.value and row.value < math.inf]
    ((ax,),) = grid(1, 1, (7.6, 1.1 + _ROW * max(len(rows), 1)))
    ends = {"upper": found.answer.upper, "lower": found.answer.lower, "approximation": found.answer.upper}
    ax.axvspan(found.answer.lower, found.answer.upper, color=COLOURS[1], alpha=0.5, linewidth=1)
    for place, row in enumerate(rows):
        colour, value = _COLOUR[row.kind], row.value
        if row.kind != "approximation":
            ax.plot([value, ends[row.kind]], [place, place], color=colour, linewidth=1.5, alpha=0.5)
        ax.plot(value, place, _MARKER[row.kind], color=colour, markersize=6)
        beside = {"upper": (8, "left"), "lower": (-8, "right"), "approximation": (8, "left")}[row.kind]
        ax.annotate(
            row.shown,
            (value, place),
            xytext=(beside[0], 0),
            textcoords="offset points",
            ha=beside[1],
            va="center",
            color=ink(colour),
            fontsize="small",
        )
    ax.set_yticks(range(len(rows)), [row.name for row in rows], fontsize="small", color=INK)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    _scale(ax, [row.value for row in rows if row.value])
    ax.set(xlabel=found.question)
    ax.set_title(f"{found.mechanism}: {found.answer}", fontsize="medium", color=INK)
    return ax
