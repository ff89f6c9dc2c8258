r"""Drawings that tell a proof."""

from __future__ import annotations

from typing import Any

from matplotlib.patches import Circle, FancyBboxPatch

from shuffle_sym.apps.plots.style import COLOURS, INK, PAPER, WIDTH, close, grid  # noqa: F401 (close is for examples)

_OTHERS, _FIRST, _GONE = COLOURS[0], COLOURS[1], "#D8D8D8"


def empty_chair() -> Any:
    """The proof of the drop-out bound with four users, in three pictures: the array of their axes.

    >>> panels = empty_chair()
    >>> [ax.get_title() for ax in panels]
    ['1. Four users, four messages', '2. Ask one after the other', '3. User 1 takes the empty chair']
    >>> close(panels[0])
    """
    (panels,) = grid(1, 3, (WIDTH, 2.9))
    for ax in panels:
        ax.set(xlim=(-0.75, 3.75), ylim=(-1.35, 1.7), aspect="equal")
        ax.axis("off")
    sent, asked, seated = panels
    sent.set_title("1. Four users, four messages")
    _user(sent, 0, "1", _FIRST, "$y_1$", chair=None)
    for x, name in enumerate("ABC", 1):
        _user(sent, x, name, _OTHERS, f"$y_{name}$")
    _says(sent, "The shuffler tells the messages,\nnot who sent which. User 1 has\n$x_0$ or $x_1$: can one see which?")
    asked.set_title("2. Ask one after the other")
    _user(asked, 0, "1", _FIRST, "?", chair=None)
    _user(asked, 1, "B", _GONE, "$y_B$")
    _user(asked, 2, "A or C", PAPER, "$y$")
    _user(asked, 3, "A or C", PAPER, "?")
    _says(
        asked,
        "B is asked first, and stays: name and\nmessage are told. The next drops out:\n$y$ is told, the name is not.",
    )
    seated.set_title("3. User 1 takes the empty chair")
    for place, name in ((0.6, "A"), (2.4, "C")):
        _user(seated, place, f"1 or {name}", PAPER, f"$z_{name}$", chair=f"chair {name}", edge=_FIRST)
    _says(seated, "Who sits on which chair? Each of the\ntwo cases has probability 1/2,\nwhatever was told so far.")
    return panels


def _user(ax: Any, x: float, name: str, face: str, message: str, *, chair: str | None = "", edge: str = INK) -> None:
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


def _says(ax: Any, text: str) -> None:
    ax.text(1.5, -0.45, text, ha="center", va="top", color=INK, fontsize="small")
