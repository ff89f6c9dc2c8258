r"""A chart as SVG text, for what is redrawn while a slider moves: a millisecond, where a figure takes a hundred.

Text and grid take the colours of the page, so that the chart fits light and dark themes; curves are in the colours of
`shuffle_sym.apps.plots`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT, WIDEST = 760, 380, 1100
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 210, 14, 46
_INK, _GRID = "var(--jp-content-font-color1, currentColor)", "var(--jp-border-color2, #888)"
_ROUND, _STEPS, _LEGEND_LINE = (1, 1.5, 2, 3, 5, 7, 10), (1, 2, 5, 10), 20


@dataclass(frozen=True)
class Curve:
    """``uppers`` over ``xs``, (x, lower ends) where there is a band to show, a name, and how the line is drawn.

    >>> Curve("certified", "#0072B2", [0.0, 1.0], [0.5, 0.1]).lower is None
    True
    """

    name: str
    colour: str
    xs: Sequence[float]
    uppers: Sequence[float]
    lower: tuple[Sequence[float], Sequence[float]] | None = None
    dash: str = ""  # lengths of dashes and gaps; none is a full line
    width: float = 2


def nice_above(x: float, digits: Sequence[float] = _ROUND) -> float:
    """The next round number from x on: one of ``digits`` times a power of ten.

    >>> nice_above(0.38), nice_above(1.2), nice_above(70)
    (0.5, 1.5, 70.0)
    """
    scale = 10.0 ** math.floor(math.log10(x))
    return float(f"{next(step for step in digits if step * scale >= x * (1 - 1e-12)) * scale:.6g}")


@dataclass(frozen=True)
class Frame:
    """x from ``left`` to ``right``, with ``powers`` exponents of ten; log y from ``bottom`` to ``top``; their labels.

    >>> frame = Frame(right=2.0, bottom=1e-8)
    >>> frame.x(1.0) == (frame.x(0.0) + frame.x(2.0)) / 2
    True
    """

    right: float
    bottom: float
    top: float = 1.0
    xlabel: str = "central ε"
    ylabel: str = "δ(ε)"
    left: float = 0.0
    powers: bool = False

    def x(self, value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (value - self.left) / (self.right - self.left)

    def y(self, value: float) -> float:
        # Far below the axis is far enough; the clip hides it.
        share = math.log(self.top / value) / math.log(self.top / self.bottom) if value > 0 else 2.0
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * min(share, 2.0)


def chart(frame: Frame, curves: Sequence[Curve], marked: tuple[str, float]) -> str:
    """The chart in a ``frame``: grid, curves, a line at the ``marked`` "x" or "y", and names in the same order.

    >>> drawn = chart(Frame(1.0, 1e-6), [Curve("a", "#0072B2", [0.0, 1.0], [0.5, 1e-3])], ("y", 1e-3))
    >>> drawn.startswith("<svg"), drawn.count("<path")
    (True, 1)
    """
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" style="max-width:{WIDEST}px;font:12px sans-serif" '
        f'role="img" xmlns="http://www.w3.org/2000/svg">',
        f'<clipPath id="inside"><rect x="{_LEFT}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT}" '
        f'height="{HEIGHT - _TOP - _BOTTOM}"/></clipPath>',
        *_grid(frame),
        _across(frame, *marked, f'{_INK}" stroke-dasharray="2 4'),
        '<g clip-path="url(#inside)" fill="none">',
        *(_drawn(frame, curve) for curve in curves),
        "</g>",
    ]
    for i, curve in enumerate(curves):
        y, x = _TOP + 14 + i * _LEGEND_LINE, WIDTH - _RIGHT + 12
        parts.append(
            f'<line x1="{x}" x2="{x + 20}" y1="{y - 4}" y2="{y - 4}" {_stroke(curve)}/>'
            f'<text x="{x + 26}" y="{y}" fill="{_INK}">{escape(curve.name)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _drawn(frame: Frame, curve: Curve) -> str:
    if len(curve.xs) == 1:
        centre = f'cx="{frame.x(curve.xs[0]):.1f}" cy="{frame.y(curve.uppers[0]):.1f}"'
        return f'<circle {centre} r="5" fill="{curve.colour}" stroke="none"/>'
    upper = _smooth([(frame.x(x), frame.y(y)) for x, y in zip(curve.xs, curve.uppers, strict=True)])
    line = f'<path d="M{upper}" {_stroke(curve)}/>'
    if curve.lower is None or len(curve.lower[0]) < 2:
        return line
    back = list(zip(*map(reversed, curve.lower), strict=True))
    lower = _smooth([(frame.x(x), frame.y(y)) for x, y in back])
    band = f'<path d="M{upper} L{lower} Z" fill="{curve.colour}" fill-opacity="0.3" stroke="none"/>'
    return f'{band}<path d="M{lower}" {_stroke(curve)}/>{line}'


def _stroke(curve: Curve) -> str:
    dash = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
    return f'stroke="{curve.colour}" stroke-width="{curve.width}"{dash}'


def _smooth(points: Sequence[tuple[float, float]]) -> str:
    """A path through the points that goes up or down only where they do (Fritsch and Carlson's cubics)."""
    slopes = [(y1 - y0) / (x1 - x0) if x1 != x0 else 0.0 for (x0, y0), (x1, y1) in pairwise(points)]
    inner = [2 * a * b / (a + b) if a * b > 0 else 0.0 for a, b in pairwise(slopes)]
    tangents = [slopes[0], *inner, slopes[-1]]
    path = [f"{points[0][0]:.1f},{points[0][1]:.1f}"]
    for ((x0, y0), (x1, y1)), (m0, m1) in zip(pairwise(points), pairwise(tangents), strict=True):
        third = (x1 - x0) / 3
        path.append(f"C{x0 + third:.1f},{y0 + m0 * third:.1f} {x1 - third:.1f},{y1 - m1 * third:.1f} {x1:.1f},{y1:.1f}")
    return " ".join(path)


def _across(frame: Frame, axis: str, value: float, stroke: str) -> str:
    """A line through the whole chart at one x or one y."""
    x = [frame.x(value)] * 2 if axis == "x" else [_LEFT, WIDTH - _RIGHT]
    y = [frame.y(value)] * 2 if axis == "y" else [_TOP, HEIGHT - _BOTTOM]
    return f'<line x1="{x[0]:.1f}" x2="{x[1]:.1f}" y1="{y[0]:.1f}" y2="{y[1]:.1f}" stroke="{stroke}"/>'


def _grid(frame: Frame) -> list[str]:
    parts = []
    step = nice_above((frame.right - frame.left) / 7, _STEPS)
    for i in range(math.ceil(frame.left / step - 1e-9), math.floor(frame.right / step + 1e-9) + 1):
        x, shown = frame.x(i * step), _power(round(i * step)) if frame.powers else f"{i * step:.6g}"
        parts.append(_across(frame, "x", i * step, _GRID))
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle" fill="{_INK}">{shown}</text>')
    last, first = (round(math.log10(end)) for end in (frame.top, frame.bottom))
    for i in range(last, first - 1, -max(1, -(-(last - first) // 8))):
        parts.append(_across(frame, "y", 10.0**i, _GRID))
        parts.append(
            f'<text x="{_LEFT - 8}" y="{frame.y(10.0**i) + 4:.1f}" text-anchor="end" fill="{_INK}">{_power(i)}</text>'
        )
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts.append(
        f'<text x="{(_LEFT + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="{_INK}">'
        f"{escape(frame.xlabel)}</text>"
        f'<text transform="rotate(-90)" x="{-middle}" y="16" text-anchor="middle" fill="{_INK}">'
        f"{escape(frame.ylabel)}</text>"
    )
    return parts


def _power(i: int) -> str:
    return f'10<tspan dy="-5" font-size="9">{str(i).replace("-", "−")}</tspan>' if i not in (0, 1) else f"{10**i}"
