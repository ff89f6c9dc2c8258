r"""LaTeX pieces shared by everything that shows itself in a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sympy as sp


def formula(expr: Any) -> str:
    r"""One formula; ε is drawn as ``\varepsilon`` as in the papers, text is left as it is."""
    if isinstance(expr, str):
        return expr
    return str(sp.latex(expr)).replace(r"\epsilon", r"\varepsilon")


def text(words: str) -> str:
    """Words between formulas; a part between dollars is a formula."""
    parts = words.split("$")
    return "".join(
        part if i % 2 else rf"\text{{{part.replace('_', chr(92) + '_')}}}" for i, part in enumerate(parts) if part
    )


def table(rows: Sequence[Sequence[Any]], notes: Iterable[str] = ()) -> str:
    """An array with a heading column, and what its letters stand for below it."""
    columns = "c|" + "c" * (len(rows[0]) - 1)
    body = r" \\[4pt] ".join(" & ".join(r"\displaystyle " + formula(cell) for cell in row) for row in rows)
    # `gathered` lets the notes stand below the array.
    lines = [rf"\begin{{array}}{{{columns}}} {body} \end{{array}}"]
    if notes := tuple(notes):
        lines.append(r",\quad ".join(notes))
    return r"$\displaystyle \begin{gathered} " + r" \\[6pt] ".join(lines) + r" \end{gathered}$"


def where(bindings: Mapping[sp.Symbol, sp.Expr]) -> list[str]:
    """``t = e^4`` for every symbol that stands for something else."""
    return [f"{formula(s)} = {formula(e)}" for s, e in bindings.items() if s != e]
