r"""Maps of the worst neighbours."""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp
from matplotlib.lines import Line2D

from shuffle_sym.apps.plots.style import COLOURS, INK, WIDTH, close, grid, name_lines  # noqa: F401 (close is for examples)
from shuffle_sym.truth.neighbours import MapRow


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
    handles = [
        Line2D(
            [],
            [],
            marker="s",
            linestyle="",
            color=colours[k],
            label=f"others: {k}".replace("all ", "").replace("third", "a third value"),
        )
        for k in kinds
    ]
    placed = {"loc": "outside lower center", "ncols": min(6, len(kinds))}
    panels[0, 0].figure.legend(handles=handles, frameon=False, labelcolor=INK, **placed)
    return panels


def curves(ax: Any, series: Mapping[str, tuple[Sequence[float], Sequence[float]]], **style: Any) -> None:
    """Several lines, ``series`` of name → (xs, ys), a colour for each, named at their ends.

    >>> panels = grid(1, 1, (4, 3))
    >>> curves(panels[0, 0], {"a": ([1, 2], [3, 4])})
    >>> [text.get_text() for text in panels[0, 0].texts]
    ['a']
    >>> close(panels[0, 0])
    """
    for (label, (xs, ys)), colour in zip(series.items(), COLOURS, strict=False):
        ax.plot(xs, ys, marker="o", markersize=4, color=colour, label=label, **style)
    name_lines(ax)
