r"""Pictures that are no curves: the values of all analyses on one axis, maps of the worst neighbours, and a proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.ticker import LogLocator, NullFormatter

from shuffle_sym.accounting.analyses import Analyses
from shuffle_sym.apps.plots.style import COLOURS, INK, PAPER, WIDTH, close, grid, ink  # noqa: F401 (close is for examples)
from shuffle_sym.truth.neighbours import MapRow

# --------------------------------------------------------------------------------------------------------- all analyses

#: Colour, mark and where the number is; a bound points to where the truth is.
_KINDS = {
    "upper": (COLOURS[0], "<", "left"),
    "lower": (COLOURS[2], ">", "right"),
    "approximation": ("#808080", "d", "left"),
}
_FAR = 10.0  # values that are so many times apart are on a logarithmic axis
_ROW = 0.27  # inches


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
    ax.axvspan(found.answer.lower, found.answer.upper, color=COLOURS[1], alpha=0.5, linewidth=1)
    for place, row in enumerate(rows):
        colour, marker, side = _KINDS[row.kind]
        if row.kind != "approximation":
            ax.plot(
                [row.value, getattr(found.answer, row.kind)], [place, place], color=colour, linewidth=1.5, alpha=0.5
            )
        ax.plot(row.value, place, marker, color=colour, markersize=6)
        beside: dict[str, Any] = {"xytext": (8 if side == "left" else -8, 0), "textcoords": "offset points", "ha": side}
        ax.annotate(row.shown, (row.value, place), **beside, va="center", color=ink(colour), fontsize="small")
    ax.set_yticks(range(len(rows)), [row.name for row in rows], fontsize="small", color=INK)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.25)  # room for the numbers beside the marks
    values = [row.value for row in rows if row.value] or [1.0]
    if max(values) > _FAR * min(values):
        ax.set_xscale("log")
        ax.xaxis.set_minor_formatter(NullFormatter())
        if max(values) <= _FAR**3 * min(values):
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.xaxis.set_major_formatter("{x:g}")
    ax.set(xlabel=found.question)
    ax.set_title(f"{found.mechanism}: {found.answer}", fontsize="medium", color=INK)
    return ax


# ------------------------------------------------------------------------------------------------- the worst neighbours


def worst_kinds(maps: Mapping[str, Sequence[MapRow]], eps0: Mapping[str, sp.Expr], *, columns: int = 3) -> Any:
    """Which neighbours are worst, for every ε/ε0 and n: a panel for each of ``maps``, in ``columns``; dots are ties.

    >>> import shuffle_sym as ss
    >>> rows = ss.truth.neighbours.worst_map(ss.BinaryRR(eps0=sp.log(2)), users=[2], alphas=[sp.Rational(3, 2)])
    >>> panels = worst_kinds({"2-RR": rows}, {"2-RR": sp.log(2)}, columns=1)
    >>> panels[0, 0].get_title()
    '2-RR'
    >>> close(panels[0, 0])
    """
    kinds = sorted({row.kind for rows in maps.values() for row in rows}, key=lambda k: (not k.startswith("all"), k))
    colours = dict(zip(kinds, (*COLOURS, "grey", INK), strict=False))
    lines = -(-len(maps) // columns)
    panels = grid(lines, columns, (min(3.3 * columns, WIDTH), 2.5 * lines + 0.5))
    for ax, (name, rows) in zip(panels.flat, maps.items(), strict=False):
        for row in rows:
            x = float(sp.log(row.alpha) / eps0[name])
            ax.plot(x, row.n, "s", color=colours[row.kind], markersize=5)
            if len(row.kinds) > 1:
                ax.plot(x, row.n, ".", color="white", markersize=3)
        ax.set(xlabel="ε/ε₀")
        ax.set_title(name, fontsize="medium")
        ax.set_yticks(sorted({row.n for row in rows}))
    for line in panels:
        line[0].set(ylabel="users n")
    labels = {kind: f"others: {kind}".replace("all ", "").replace("third", "a third value") for kind in kinds}
    handles = [Line2D([], [], marker="s", linestyle="", color=colours[k], label=labels[k]) for k in kinds]
    placed = {"loc": "outside lower center", "ncols": min(6, len(kinds))}
    panels[0, 0].figure.legend(handles=handles, frameon=False, labelcolor=INK, **placed)
    return panels


# -------------------------------------------------------------------------------------------------------------- a proof

_OTHERS, _FIRST, _GONE = COLOURS[0], COLOURS[1], "#D8D8D8"
#: Title, users (place, name, colour, message, chair or None, edge), and what is said below.
_PROOF: tuple[tuple[str, tuple[tuple[Any, ...], ...], str], ...] = (
    (
        "1. Four users, four messages",
        (
            (0, "1", _FIRST, "$y_1$", None),
            (1, "A", _OTHERS, "$y_A$"),
            (2, "B", _OTHERS, "$y_B$"),
            (3, "C", _OTHERS, "$y_C$"),
        ),
        "The shuffler tells the messages,\nnot who sent which. User 1 has\n$x_0$ or $x_1$: can one see which?",
    ),
    (
        "2. Ask one after the other",
        (
            (0, "1", _FIRST, "?", None),
            (1, "B", _GONE, "$y_B$"),
            (2, "A or C", PAPER, "$y$"),
            (3, "A or C", PAPER, "?"),
        ),
        "B is asked first, and stays: name and\nmessage are told. The next drops out:\n$y$ is told, the name is not.",
    ),
    (
        "3. User 1 takes the empty chair",
        ((0.6, "1 or A", PAPER, "$z_A$", "chair A", _FIRST), (2.4, "1 or C", PAPER, "$z_C$", "chair C", _FIRST)),
        "Who sits on which chair? Each of the\ntwo cases has probability 1/2,\nwhatever was told so far.",
    ),
)


def empty_chair() -> Any:
    """The proof of the drop-out bound with four users, in three pictures: the array of their axes.

    >>> panels = empty_chair()
    >>> [ax.get_title() for ax in panels]
    ['1. Four users, four messages', '2. Ask one after the other', '3. User 1 takes the empty chair']
    >>> close(panels[0])
    """
    (panels,) = grid(1, 3, (WIDTH, 2.9))
    for ax, (title, users, said) in zip(panels, _PROOF, strict=True):
        ax.set(xlim=(-0.75, 3.75), ylim=(-1.35, 1.7), aspect="equal", title=title)
        ax.axis("off")
        for user in users:
            _user(ax, *user)
        ax.text(1.5, -0.45, said, ha="center", va="top", color=INK, fontsize="small")
    return panels


def _user(ax: Any, x: float, name: str, face: str, message: str, chair: str | None = "", edge: str = INK) -> None:
    """A head, a message above it, and a chair below unless ``chair`` is None."""
    ax.add_patch(Circle((x, 0.45), 0.38, facecolor=face, edgecolor=edge, linewidth=2 if edge != INK else 1))
    ink = PAPER if face in (_OTHERS, _FIRST) else INK
    ax.text(x, 0.45, name, ha="center", va="center", color=ink, fontsize="small")
    style = "round,pad=0.02,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch((x - 0.28, 1.1), 0.56, 0.46, boxstyle=style, facecolor=PAPER, edgecolor=INK))
    ax.text(x, 1.33, message, ha="center", va="center", color=INK)
    if chair is not None:
        ax.plot([x - 0.34, x + 0.34], [0, 0], color=INK, linewidth=3)
        ax.text(x, -0.12, chair, ha="center", va="top", color=INK, fontsize="small")
