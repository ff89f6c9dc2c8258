r"""Going through a derivation line by line: with buttons in a notebook, or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shuffle_sym.algebra import latex
from shuffle_sym.papers.engine import shown

if TYPE_CHECKING:
    from shuffle_sym.papers.engine.derivation import Derivation


def tree(d: Derivation, number: int) -> list[str]:
    """The parts of a derivation and the numbers of their lines, with a mark at the part that holds this line.

    A derivation without cases or conditions has none.
    """
    parts: list[tuple[str, int, int]] = []
    for row in shown.rows(d):
        if row.heading or not parts or (not row.continued and parts[-1][0]):
            parts.append((row.heading, row.number, row.number))
        else:
            parts[-1] = (*parts[-1][:2], row.number)
    if not any(heading for heading, _, _ in parts):
        return []
    lines = []
    for heading, first, last in parts:
        mark = "▸" if first <= number <= last else " "
        numbers = f"line {first}" if first == last else f"lines {first}–{last}"
        lines.append(f"{mark} {heading or 'in general'}: {numbers}")
    return lines


class PlainWalk:
    """One line of a derivation after the other, as text, with the lines before it.

    >>> from shuffle_sym.papers import derivations
    >>> walk = derivations.lemma53().walk(plain=True)
    >>> "line 1 of" in str(walk), "line 2 of" in str(walk.on())
    (True, True)
    """

    def __init__(self, d: Derivation, number: int = 1) -> None:
        self.d, self.number = d, min(max(number, 1), len(d))

    def on(self) -> PlainWalk:
        """The next line."""
        return PlainWalk(self.d, self.number + 1)

    def back(self) -> PlainWalk:
        """The line before."""
        return PlainWalk(self.d, self.number - 1)

    def why(self) -> str:
        """How this line is justified."""
        return latex.in_text(shown.why(self.d.line(self.number)))

    def __repr__(self) -> str:
        page = [f"line {self.number} of {len(self.d)}", shown.text(self.d, self.number, reasons=False)]
        return "\n".join([*page, *map(latex.in_text, tree(self.d, self.number))])


def page(d: Derivation, number: int, reason: bool = False) -> dict[str, Any]:
    """One step as Markdown and as text: the lines up to a number, the reason if it is asked for, and the tree."""
    parts = [shown.page(d, number), *([shown.why(d.line(number))] if reason else [])]
    parts += ["\n".join(f"    {one}" for one in map(latex.in_text, tree(d, number)))]
    return {"text/markdown": "\n\n".join(filter(None, parts)), "text/plain": repr(PlainWalk(d, number))}


def buttons(d: Derivation) -> Any:
    """A box with buttons: back, next, why. Where they cannot run it shows the first line. Without ipywidgets the walk
    as text."""
    try:
        import ipywidgets
    except ImportError:
        return PlainWalk(d)

    class Walk(ipywidgets.VBox):  # type: ignore[misc]
        def _repr_mimebundle_(self, **given: Any) -> dict[str, Any]:
            return {**super()._repr_mimebundle_(**given), **page(d, 1)}

    number = ipywidgets.BoundedIntText(value=1, min=1, max=len(d), description="line")
    back, on = ipywidgets.Button(description="back"), ipywidgets.Button(description="next")
    reason = ipywidgets.ToggleButton(value=False, description="why?")
    place, output = ipywidgets.Label(), ipywidgets.Output()
    back.on_click(lambda _: setattr(number, "value", max(1, number.value - 1)))
    on.on_click(lambda _: setattr(number, "value", min(len(d), number.value + 1)))

    def show(change: Any = None) -> None:
        place.value = f"line {number.value} of {len(d)}"
        # Printing into the widget would make a program that runs notebooks wait for minutes (nbclient, issue 312).
        step = page(d, number.value, reason.value)
        output.outputs = ({"output_type": "display_data", "data": step, "metadata": {}},)

    number.observe(show, "value")
    reason.observe(show, "value")
    show()
    return Walk([ipywidgets.HBox([back, number, on, reason, place]), output])
