r"""A chart as SVG text, for what is redrawn while a slider moves: a millisecond, where a figure takes a hundred.

Text and grid take the colours of the page, so that the chart fits light and dark themes; curves are in the colours of
`shuffle_sym.apps.plots`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT, WIDEST = 760, 380, 1100
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 210, 14, 46
_INK, _GRID = "var(--jp-content-font-color1, #333)", "var(--jp-border-color2, #bbb)"
_ROUND = (1, 1.5, 2, 3, 5, 7, 10)
_STEPS = (1, 2, 5, 10)
_LEGEND_LINE = 20


@dataclass(frozen=True)
class Curve:
    """Upper ends over x, (x, lower ends) where there is a band to show, and a name.

    >>> Curve("certified", "#0072B2", [0.0, 1.0], [0.5, 0.1]).lower is None
    True
    """

    name: str
    colour: str
    xs: Sequence[float]
    uppers: Sequence[float]
    lower: tuple[Sequence[float], Sequence[float]] | None = None
    #: Lengths of dashes and gaps; none is a full line.
    dash: str = ""
    width: float = 2


def nice_above(x: float, digits: Sequence[float] = _ROUND) -> float:
    """The next round number.

    >>> nice_above(0.38), nice_above(1.2), nice_above(70)
    (0.5, 1.5, 70.0)
    """
    scale = 10.0 ** math.floor(math.log10(x))
    return float(f"{next(step for step in digits if step * scale >= x * (1 - 1e-12)) * scale:.6g}")


@dataclass(frozen=True)
class Axis:
    """Numbers from ``start`` to ``end``, on a logarithmic scale if ``log``.

    >>> Axis("n", 1.0, 100.0, log=True).share(10.0), Axis("x", 0.0, 2.0).ticks()
    (0.5, [0.0, 0.5, 1.0, 1.5, 2.0])
    """

    label: str
    start: float
    end: float
    log: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a number is: 0 at its start, 1 at its end."""
        if not self.log:
            return (value - self.start) / (self.end - self.start)
        # Far below the axis is far enough; the clip hides it.
        share = math.log(value / self.start) / math.log(self.end / self.start) if value > 0 else -1.0
        return max(share, -1.0)

    def ticks(self) -> list[float]:
        if self.log:
            first, last = math.ceil(math.log10(self.start) - 1e-9), math.floor(math.log10(self.end) + 1e-9)
            return [10.0**i for i in range(last, first - 1, -max(1, -((first - last) // 8)))]
        step = nice_above((self.end - self.start) / 7, _STEPS)
        return [float(f"{i * step:.6g}") for i in range(math.floor(self.end / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Frame:
    """The two axes as places on the chart.

    >>> frame = Frame(Axis("ε", 0.0, 2.0), Axis("δ", 1e-8, 1.0, log=True))
    >>> frame.x(1.0) == (frame.x(0.0) + frame.x(2.0)) / 2
    True
    """

    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * self.across.share(value)

    def y(self, value: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - self.up.share(value))


def chart(frame: Frame, curves: Sequence[Curve], marked: tuple[str, float]) -> str:
    """The chart: grid, curves, a line at the ``marked`` "x" or "y", and names at the right in the order of the curves.

    >>> frame = Frame(Axis("ε", 0.0, 1.0), Axis("δ", 1e-6, 1.0, log=True))
    >>> drawn = chart(frame, [Curve("a", "#0072B2", [0.0, 1.0], [0.5, 1e-3])], ("y", 1e-3))
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
    if axis == "x":
        ends = f'x1="{frame.x(value):.1f}" x2="{frame.x(value):.1f}" y1="{_TOP}" y2="{HEIGHT - _BOTTOM}"'
    else:
        ends = f'x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{frame.y(value):.1f}" y2="{frame.y(value):.1f}"'
    return f'<line {ends} stroke="{stroke}"/>'


def _written(value: float, axis: Axis) -> str:
    power = round(math.log10(value)) if axis.log else 0
    if power == 0:
        return f"{value:.6g}"
    return f'10<tspan dy="-5" font-size="9">{"−" if power < 0 else ""}{abs(power)}</tspan>'


def _grid(frame: Frame) -> list[str]:
    parts = []
    for value in frame.across.ticks():
        place = f'x="{frame.x(value):.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle" fill="{_INK}"'
        parts += [_across(frame, "x", value, _GRID), f"<text {place}>{_written(value, frame.across)}</text>"]
    for value in frame.up.ticks():
        place = f'x="{_LEFT - 8}" y="{frame.y(value) + 4:.1f}" text-anchor="end" fill="{_INK}"'
        parts += [_across(frame, "y", value, _GRID), f"<text {place}>{_written(value, frame.up)}</text>"]
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts.append(
        f'<text x="{(_LEFT + WIDTH - _RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="{_INK}">'
        f"{escape(frame.across.label)}</text>"
        f'<text transform="rotate(-90)" x="{-middle}" y="16" text-anchor="middle" fill="{_INK}">'
        f"{escape(frame.up.label)}</text>"
    )
    return parts


def alone(drawing: str) -> str:
    """The chart as a file of its own: no colours of a page, and a ground of its own.

    >>> alone('<svg a="1"><line stroke="var(--page, #333)"/></svg>')
    '<svg a="1"><rect width="100%" height="100%" fill="white"/><line stroke="#333"/></svg>'
    """
    plain = re.sub(r"var\([^,]*, ([^)]*)\)", r"\1", drawing)
    return re.sub(r"(<svg[^>]*>)", r'\1<rect width="100%" height="100%" fill="white"/>', plain, count=1)
