r"""How the explorer looks: its chart, its table, and both as files."""

from __future__ import annotations

import io
import math
from html import escape
from typing import TYPE_CHECKING, Any

from shuffle_sym.accounting.risk import in_words
from shuffle_sym.algebra import arguments, rounding, texts
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps import svg
from shuffle_sym.apps.explorer.expressions import noise

if TYPE_CHECKING:
    from shuffle_sym.apps.explorer.views import Line, View


def end(value: Any, which: str) -> float:
    """One end of an interval; a number is both of its ends."""
    return float(getattr(value, which)) if isinstance(value, Interval) else float(value)


def drawn(view: View) -> tuple[svg.Frame, list[svg.Curve], tuple[str, float]]:
    """What is on the chart: its frame, its curves, and where the settings are."""
    # The band between the two ends lies under the lines that may touch it.
    lines = sorted(view.lines, key=lambda line: line.end != "both")
    if view.settings.over == "eps":
        level = float(texts.read(view.settings.delta, "delta"))
        ends_there = view.many or noise(view.settings.randomizer)
        frame = svg.Frame(view.grid[-1], 10.0 ** (math.floor(math.log10(level)) - (1 if ends_there else 3)))
        curves = [_curve(view, line, level) for line in lines if line.name in {*view.curves, *view.answers}]
        return frame, [curve for curve in curves if min(curve.xs) <= frame.right], ("y", level)
    curves = [_curve(view, line) for line in lines if line.name in view.curves]
    return _frame(view), curves, ("y" if view.settings.over == "level" else "x", _place(view, view.now))


def _frame(view: View) -> svg.Frame:
    """ε over log n or over rounds, or the level over ε; closed forms may leave the chart."""
    label, told = f"ε at δ = {view.settings.delta}", {"certified", "other", "clones"} & {*view.curves}
    ends = [end(value, "upper") for name in told or view.curves for value in view.curves[name]] or [1.0]
    if view.settings.over == "level":
        ylabel = {"eps0": "ε₀", "sigma": "σ"}[view.settings.level]
        return svg.Frame(svg.nice_above(max(ends)), *_decades(view.grid), f"target {label}", ylabel)
    left, users = _place(view, view.grid[0]) if len(view.grid) > 1 else 0.0, view.settings.over == "n"
    xlabel, right = "users n" if users else "rounds", _place(view, view.grid[-1])
    return svg.Frame(right, *_decades(ends), xlabel, label, left, users)


def _decades(values: list[float]) -> tuple[float, float]:
    """The powers of ten below and above some numbers; ε = 0 is below any axis."""
    logs = [math.log10(value) for value in values if value > 0] or [0.0]
    return 10.0 ** math.floor(min(logs)), 10.0 ** (math.floor(max(logs)) + 1)


def _place(view: View, value: float) -> float:
    return math.log10(value) if view.settings.over == "n" else value


def _curve(view: View, line: Line, level: float = 0.0) -> svg.Curve:
    """A line of the chart; a curve δ(ε) that is asked for only up to its answer ends there, at ``level``."""
    values, answer, points = view.curves.get(line.name), view.answers.get(line.name), view.points(line)
    if values is None:
        return svg.Curve(line.name, line.colour, [end(answer, "upper")], [level])

    def path(which: str) -> tuple[list[float], list[float]]:
        ys = [end(value, which) for value in values]
        if view.settings.over == "level":
            xs, levels = zip(*sorted(zip(ys, points, strict=True)), strict=True)
            return list(xs), list(levels)
        if points is view.grid or not end(answer, which) > max(points, default=-1.0):
            return [_place(view, x) for x in points], ys
        return [*points, end(answer, which)], [*ys, level]

    xs, uppers = path("upper")
    lower = path("lower") if line.end == "both" else None
    dash, width = "5 3" if not line.letter else "", 2.5 if line.end == "both" else 1.5
    return svg.Curve(line.name, line.colour, xs, uppers, lower, dash, width)


def table(view: View) -> str:
    """ε at δ for every line, as HTML."""
    rows = "".join(
        f"<tr><td style='border-left:6px solid {line.colour};padding:4px 16px 4px 8px'>{escape(line.name)}</td>"
        f"<td style='text-align:right;padding-right:16px;white-space:nowrap'>{escape(_shown(view, line))}</td>"
        f"<td style='text-align:left'>{escape(_about(view, line))}</td></tr>"
        for line in sorted(view.lines, key=lambda line: line.end != "both")  # the answer comes first
    )
    head = f"<tr><th></th><th>ε at δ = {escape(view.settings.delta)}</th><th style='text-align:left'>what it is</th>"
    return f"<table>{head}</tr>{rows}</table>{_guess(view)}"


def _guess(view: View) -> str:
    """What δ at ε = 0, where a curve begins, means for one person: half of it is added to a guess."""
    if view.settings.over != "eps" or not (curve := view.curves.get("certified")):
        return ""
    right = min(rounding.above((1 + end(curve[0], "upper")) / 2), 1.0)
    return f"<p>For one person: {in_words(right)}</p>"


def _about(view: View, line: Line) -> str:
    """What the line is and, of the mechanism, where its ends come from."""
    answer = view.asked.get(line.name)
    if isinstance(answer, ValueError):
        return f"{line.about}: {answer}"
    if line.end != "both" or not isinstance(answer, Interval) or answer.upper_by is None:
        return line.about
    return f"{line.about}; upper end: {answer.upper_by}, lower end: {answer.lower_by}"


def _shown(view: View, line: Line) -> str:
    if line.name in view.skip:
        return "…"
    answer = view.asked[line.name]
    if isinstance(answer, ValueError):
        return "says nothing here"
    lower, upper = (answer if isinstance(answer, Interval) else Interval(answer, answer)).shown
    return f"{lower} … {upper}" if line.end == "both" else f"≤ {upper}"


def exported(view: View, kind: str) -> bytes:
    """The chart of a ``view`` as the ``kind`` "svg" or "pdf", or its numbers as "csv".

    >>> from shuffle_sym.apps import explorer
    >>> exported(explorer.View(explorer.Settings(n="1000")), "csv").splitlines()[1]
    b'line,eps,lower,upper'
    """
    return _csv(view) if arguments.one_of(kind, "kind", ("svg", "pdf", "csv")) == "csv" else _figure(view, kind)


def _csv(view: View) -> bytes:
    """A line for each point: δ at ε, or ε at whatever runs along the axis."""
    rows = [f"# {view.settings!r}", f"line,{view.settings.over},lower,upper"]
    for line in view.lines:
        for at, value in zip(view.points(line), view.curves.get(line.name, ()), strict=False):
            rows.append(f"{line.name},{at},{end(value, 'lower') if line.end == 'both' else ''},{end(value, 'upper')}")
    return ("\n".join(rows) + "\n").encode()


def _figure(view: View, kind: str) -> bytes:
    from matplotlib.figure import Figure

    frame, curves, (axis, marked) = drawn(view)
    figure, written = Figure(figsize=(7.2, 4.0), layout="constrained"), io.BytesIO()
    ax = figure.add_subplot()
    for curve in curves:
        style: dict[str, Any] = {"color": curve.colour, "lw": curve.width, "ls": "--" if curve.dash else "-"}
        ax.plot(curve.xs, curve.uppers, label=curve.name, marker="o" if len(curve.xs) == 1 else "", **style)
        if curve.lower is not None:
            ax.plot(*curve.lower, **style)
            xs, ys = [*curve.xs, *reversed(curve.lower[0])], [*curve.uppers, *reversed(curve.lower[1])]
            ax.fill(xs, ys, color=curve.colour, alpha=0.3, lw=0)
    ax.set(xlabel=frame.xlabel, ylabel=frame.ylabel, yscale="log")
    if frame.powers:
        ax.xaxis.set_major_formatter("$10^{{{x:g}}}$")
    ax.set(xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top))
    (ax.axvline if axis == "x" else ax.axhline)(marked, color="#333", lw=0.8, ls=":")
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(written, format=kind)
    return written.getvalue()
