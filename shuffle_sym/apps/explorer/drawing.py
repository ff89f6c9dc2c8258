r"""How the explorer looks: its chart, its table, and both as files."""

from __future__ import annotations

import csv
import io
import math
from html import escape
from typing import TYPE_CHECKING, Any

from shuffle_sym.algebra import texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps import numbers, svg

if TYPE_CHECKING:
    from shuffle_sym.apps.explorer.views import Line, View


def end(value: Any, which: str) -> float:
    """One end of an interval; a number is both of its ends.

    >>> end(Interval(1, 2), "upper"), end(3, "lower")
    (2.0, 3.0)
    """
    return float(getattr(value, which)) if isinstance(value, Interval) else float(value)


def chart(view: View) -> str:
    """The curves of a view as SVG.

    >>> from shuffle_sym.apps import explorer
    >>> chart(explorer.View(explorer.Settings(n="1000"))).startswith("<svg")
    True
    """
    return svg.chart(*_drawn(view))


def _drawn(view: View) -> tuple[svg.Frame, list[svg.Curve], tuple[str, float]]:
    # The band between the two ends lies under the lines that may touch it.
    lines = sorted(view.lines, key=lambda line: line.end != "both")
    if view.settings.over == "eps":
        level = float(texts.read(view.settings.delta, "delta"))
        bottom = 10.0 ** (math.floor(math.log10(level)) - (1 if view.many else 3))
        frame = svg.Frame(svg.Axis("central ε", 0.0, view.grid[-1]), svg.Axis("δ(ε)", bottom, 1.0, log=True))
        asked = {*view.curves, *view.answers}
        return frame, [_curve(view, line, level) for line in lines if line.name in asked], ("y", level)
    curves = [_swept(view, line) for line in lines if line.name in view.curves]
    return _frame(view), curves, ("y" if view.settings.over == "level" else "x", view.now)


def _frame(view: View) -> svg.Frame:
    """ε over n or over rounds, or the level over ε."""
    over, label = view.settings.over, f"ε at δ = {view.settings.delta}"
    told = {"certified", "other", "clones"} & {*view.curves} or {*view.curves}
    ends = [end(value, "upper") for name in told for value in view.curves[name]]
    most = svg.nice_above(max(ends, default=0.0) or 1.0)
    if over == "level":
        return svg.Frame(svg.Axis(f"target {label}", 0.0, most), svg.Axis(view.settings.level, 0.0, view.grid[-1]))
    if over == "rounds":
        return svg.Frame(svg.Axis("rounds", 0.0, view.grid[-1]), svg.Axis(label, 0.0, most))
    least = 10.0 ** math.floor(math.log10(min((x for x in ends if x > 0), default=0.1)))
    most = 10.0 ** math.ceil(math.log10(max(most, 2 * least)))
    return svg.Frame(svg.Axis("users n", view.grid[0], view.grid[-1], log=True), svg.Axis(label, least, most, log=True))


def _styled(line: Line, path: Any) -> svg.Curve:
    lower = path("lower") if line.end == "both" else None
    dash, width = "5 3" if line.closed else "", 2.5 if line.end == "both" else 1.5
    xs, uppers = path("upper")
    return svg.Curve(line.name, line.colour, xs, uppers, lower, dash, width)


def _swept(view: View, line: Line) -> svg.Curve:
    def path(which: str) -> tuple[list[float], list[float]]:
        epsilons = [end(value, which) for value in view.curves[line.name]]
        if view.settings.over != "level":
            return view.grid, epsilons
        xs, ys = zip(*sorted(zip(epsilons, view.grid, strict=True)), strict=True)
        return list(xs), list(ys)

    return _styled(line, path)


def _curve(view: View, line: Line, level: float) -> svg.Curve:
    """δ(ε); where a curve is asked for only up to its answer, it ends there."""
    values, answer = view.curves.get(line.name), view.answers.get(line.name)
    if values is None:
        return svg.Curve(line.name, line.colour, [end(answer, "upper")], [level])
    points = view.points(line)

    def path(which: str) -> tuple[list[float], list[float]]:
        ys = [end(value, which) for value in values]
        if points is view.grid or not end(answer, which) > max(points, default=-1.0):
            return points, ys
        return [*points, end(answer, which)], [*ys, level]

    return _styled(line, path)


def table(view: View) -> str:
    """ε at δ for every line, as HTML.

    >>> from shuffle_sym.apps import explorer
    >>> table(explorer.View(explorer.Settings(n="1000"))).count("<tr>")
    7
    """
    rows = "".join(
        f"<tr><td style='border-left:6px solid {line.colour};padding:4px 16px 4px 8px'>{escape(line.name)}</td>"
        f"<td style='text-align:right;padding-right:16px'>{escape(_shown(view, line))}</td>"
        f"<td style='text-align:left'>{escape(_about(view, line))}</td></tr>"
        for line in view.lines
    )
    head = f"<tr><th></th><th>ε at δ = {escape(view.settings.delta)}</th><th style='text-align:left'>what it is</th>"
    return f"<table>{head}</tr>{rows}</table>"


def _about(view: View, line: Line) -> str:
    """What the line is and, of the mechanism, where its ends come from."""
    answer = view.asked.get(line.name)
    if line.end != "both" or not isinstance(answer, Interval) or answer.upper_by is None:
        return line.about
    return f"{line.about}; upper end: {answer.upper_by}, lower end: {answer.lower_by}"


def _shown(view: View, line: Line) -> str:
    if line.name in view.skip:
        return "…"
    answer = view.asked[line.name]
    if isinstance(answer, ValueError):
        return "says nothing here"
    if isinstance(answer, Interval):
        lower, upper = numbers.shown(answer)
        return f"{lower} … {upper}" if line.end == "both" else f"≤ {upper}"
    return f"≤ {numbers.shown(Interval(answer, answer))[1]}"


def exported(view: View, kind: str) -> bytes:
    """The chart as "svg" or "pdf", or its numbers as "csv".

    >>> from shuffle_sym.apps import explorer
    >>> exported(explorer.View(explorer.Settings(n="1000")), "csv").splitlines()[1]
    b'line,eps,lower,upper'
    """
    if kind == "csv":
        return _csv(view).encode()
    if kind == "svg":
        return svg.alone(view.chart).encode()
    if kind == "pdf":
        return _pdf(view)
    raise ValueError(f"kind must be 'svg', 'pdf' or 'csv', got {kind!r}")


def _csv(view: View) -> str:
    """A line for each point: δ at ε, or ε at whatever runs along the axis."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    text.write(f"# {view.settings!r}\n")
    writer.writerow(["line", view.settings.over, "lower", "upper"])
    for line in view.lines:
        for at, value in zip(view.points(line), view.curves.get(line.name, ()), strict=False):
            writer.writerow([line.name, at, end(value, "lower") if line.end == "both" else "", end(value, "upper")])
    return text.getvalue()


def _pdf(view: View) -> bytes:
    from matplotlib.figure import Figure

    frame, curves, (axis, marked) = _drawn(view)
    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    ax = figure.add_subplot()
    for curve in curves:
        style: dict[str, Any] = {
            "color": curve.colour,
            "linewidth": curve.width,
            "linestyle": "--" if curve.dash else "-",
        }
        ax.plot(curve.xs, curve.uppers, label=curve.name, marker="o" if len(curve.xs) == 1 else "", **style)
        if curve.lower is not None:
            ax.plot(*curve.lower, **style)
            xs, ys = [*curve.xs, *reversed(curve.lower[0])], [*curve.uppers, *reversed(curve.lower[1])]
            ax.fill(xs, ys, color=curve.colour, alpha=0.3, linewidth=0)
    ax.set(xlabel=frame.across.label, ylabel=frame.up.label)
    ax.set(xscale="log" if frame.across.log else "linear", yscale="log" if frame.up.log else "linear")
    ax.set(xlim=(frame.across.start, frame.across.end), ylim=(frame.up.start, frame.up.end))
    (ax.axvline if axis == "x" else ax.axhline)(marked, color="#333", linewidth=0.8, linestyle=":")
    figure.legend(loc="outside right upper", frameon=False)
    written = io.BytesIO()
    figure.savefig(written, format="pdf")
    return written.getvalue()
