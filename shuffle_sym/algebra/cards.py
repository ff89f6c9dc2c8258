r"""What a notebook shows at the end of a cell: a small card of facts, with a sketch of a curve beside them.

A card is a table of words in HTML. JupyterLab strips a notebook that it does not trust of MathML and of drawings, and
leaves their letters; so formulas are text, and the sketch is an image, which goes as a whole.
"""

import base64
import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import sympy as sp

from shuffle_sym.algebra import latex

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _MARGIN = 230, 120, 34, 18, 6
_COLOUR, _GREY = "#2a8fd6", "#888888"  # can be seen on white and on black
_MOST_OPERATIONS = 40  # of a formula that is shown; a longer one is a decimal
_MOST_DIGITS = 15  # of a fraction in it
_MOST_CHARACTERS = 90  # of a title
_BOX = (
    "display:inline-flex;flex-wrap:wrap;gap:8px 28px;align-items:center;padding:8px 14px;"
    "border:1px solid rgba(128,128,128,0.5);border-radius:6px;color:inherit"
)
text = escape  # words as HTML
_CELL = '<td style="text-align:left;vertical-align:top">'


class Markdown(str):
    """Text that a notebook shows as Markdown."""

    def _repr_markdown_(self) -> str:
        return str(self)


def card(title: str, rows: Sequence[tuple[str, str]], drawing: str = "") -> str:
    """HTML of a title, of names with what they are, and of a drawing. Names are text, what they are is HTML.

    >>> card("KRR(k=3)", [("inputs", text("a < b"))]).count("a &lt; b")
    1
    """
    shown = escape(title if len(title) <= _MOST_CHARACTERS else title[: _MOST_CHARACTERS - 1] + "…")
    facts = table([(escape(name), what) for name, what in rows])
    heading = f'<b style="font-family:monospace">{shown}</b>'
    return f'<div style="{_BOX}"><div>{heading}{facts}</div>{drawing}</div>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML.

    >>> table([["1", "2"]]).count("<td")
    2
    """
    lines = ("".join(f"{_CELL}{cell}</td>" for cell in row) for row in rows)
    return f'<table style="margin:0">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'


def value(find: Callable[[], Any]) -> str:
    """What ``find`` returns as HTML: a formula with a decimal, an interval, words; or that, and why, it is refused.

    >>> value(lambda: sp.log(2)).count("0.6931")
    1
    >>> value(lambda: 1 / 0)
    '<i>division by zero</i>'
    """
    try:
        found = find()
        if isinstance(found, sp.MatrixBase):
            return table([[escape(latex.plain(entry)) for entry in found.row(i)] for i in range(found.rows)])
        return _number(found) if isinstance(found, sp.Basic) else escape(str(found))
    except Exception as refusal:  # a card never fails: it says what is not known
        return f"<i>{escape(str(refusal))}</i>"


def _number(expr: Any) -> str:
    long_fraction = any(len(str(number)) > _MOST_DIGITS for number in expr.atoms(sp.Rational))
    shown = "" if long_fraction or expr.count_ops() > _MOST_OPERATIONS else escape(latex.plain(expr))
    if getattr(expr, "free_symbols", None):
        return shown or "<i>a long formula</i>"
    if (expr.is_Rational and shown) or expr in (sp.oo, sp.zoo):
        return shown
    return f"{shown} ≈ {float(expr):.4g}".lstrip()


def sketch(upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]]) -> str:
    """δ(ε) as a line through the points (ε, δ) of the upper end, with the band down to those of the lower end; δ is on
    a logarithmic scale.

    >>> sketch([(0.0, 0.2), (1.0, 1e-5)], [(0.0, 0.1), (1.0, 1e-6)]).partition(",")[0]
    '<img alt="" src="data:image/svg+xml;base64'
    """
    bottom = max(min((delta for _, delta in upper if delta > 0), default=0.0), 1e-300)
    decades = max(1, math.ceil(-math.log10(bottom)))
    right = max(eps for eps, _ in upper) or 1.0

    def place(eps: float, delta: float) -> str:
        x = _LEFT + (_WIDTH - _LEFT - _MARGIN) * eps / right
        share = min(-math.log10(delta) / decades, 1.0) if delta > 0 else 1.0
        return f"{x:.1f},{_MARGIN + (_HEIGHT - _MARGIN - _BOTTOM) * share:.1f}"

    line, under = ([place(*point) for point in sorted(path)] for path in (upper, lower))
    floor = _HEIGHT - _BOTTOM
    labels = (
        f'<text x="{_LEFT - 4}" y="{_MARGIN + 6}" text-anchor="end">1</text>'
        f'<text x="{_LEFT - 4}" y="{floor}" text-anchor="end">10<tspan dy="-4" font-size="7">−{decades}</tspan></text>'
        f'<text x="{_LEFT}" y="{floor + 13}">0</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{floor + 13}" text-anchor="end">{right:.3g}</text>'
        f'<text x="{(_LEFT + _WIDTH) / 2}" y="{floor + 13}" text-anchor="middle">δ(ε)</text>'
    )
    drawing = (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" xmlns="http://www.w3.org/2000/svg">'
        f'<path d="M{_LEFT},{_MARGIN} V{floor} H{_WIDTH - _MARGIN}" fill="none" stroke="{_GREY}"/>'
        f'<polygon points="{" ".join([*line, *reversed(under)])}" fill="{_COLOUR}" fill-opacity="0.3"/>'
        f'<path d="M{" L".join(line)}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>'
        f'<g font-size="10" font-family="sans-serif" fill="{_GREY}">{labels}</g></svg>'
    )
    return image(drawing)


def image(drawing: str) -> str:
    """An SVG as an image: an untrusted notebook is stripped of all of it, and not of everything but its letters.

    >>> image("<svg></svg>")
    '<img alt="" src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4="/>'
    """
    encoded = base64.b64encode(drawing.replace("currentColor", _GREY).encode()).decode()
    return f'<img alt="" src="data:image/svg+xml;base64,{encoded}"/>'
