r"""The plots: a band from the lower to the upper end, and the upper end as the line to report."""

import timeit
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from shuffle_sym.accounting.fourier import FourierAccountant
from shuffle_sym.accounting.pld import PrivacyLossDistribution
from shuffle_sym.accounting.profile import PrivacyProfile, TradeOff
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.apps.plots.style import COLOURS, axes, close, name_at_end, name_lines, power  # noqa: F401 (close is for examples)
from shuffle_sym.model.continuous import Continuous


def closed_forms(
    ax: Any,
    xs: Sequence[Any],
    forms: Mapping[str, Any],
    at: Callable[[Any, Any], float],
    *,
    colours: Mapping[str, str] | None = None,
    **style: Any,
) -> None:
    """Bounds ``forms`` over the same ``xs``, ``at(bound, x)``, drawn where they hold: in the palette's colours, or
    those of ``colours``, name → colour, so that a bound keeps its own in every figure.

    >>> import math
    >>> ax = axes("x", "y")
    >>> closed_forms(ax, [1, 4], {"square": lambda x: x**2, "root": math.sqrt}, lambda bound, x: bound(x))
    >>> [(line.get_label(), [float(y) for y in line.get_ydata()]) for line in ax.lines]
    [('square', [1.0, 16.0]), ('root', [1.0, 2.0])]
    >>> close(ax)
    """
    given = dict(zip(forms, COLOURS, strict=False)) | dict(colours or {})
    for label, bound in forms.items():
        where_it_holds(ax, xs, partial(at, bound), color=given[label], label=label, **style)


def bracket(ax: Any, xs: Sequence[float], intervals: Sequence[Interval], label: str, colour: str) -> None:
    """One certified curve, ``intervals`` at ``xs``, with the ``label`` at its right end.

    >>> ax = axes("x", "y")
    >>> bracket(ax, [1, 2], [Interval(0.5, 0.6), Interval(0.1, 0.2)], "certified", COLOURS[0])
    >>> [float(y) for y in ax.lines[0].get_ydata()], ax.texts[0].get_text()
    ([0.6, 0.2], 'certified')
    >>> close(ax)
    """
    upper = band(ax, xs, intervals, colour)
    # A logarithmic axis has no place for the 0 that δ is from ε0 on.
    seen = [point for point in zip(xs, upper, strict=True) if point[1] > 0 or ax.get_yscale() != "log"]
    if seen:
        name_at_end(ax, *seen[-1], label, colour)


def band(
    ax: Any, xs: Sequence[float], intervals: Sequence[Interval], colour: str, style: str = "-", **line: Any
) -> list[float]:
    """The band between the ends of ``intervals`` at ``xs``, the upper end as a line; the upper ends are returned.

    >>> ax = axes("x", "y")
    >>> band(ax, [1, 2], [Interval(0.5, 0.6), Interval(0.1, 0.2)], COLOURS[0])
    [0.6, 0.2]
    >>> close(ax)
    """
    upper = [i.upper for i in intervals]
    ax.fill_between(xs, [i.lower for i in intervals], upper, color=colour, alpha=0.3, linewidth=0)
    ax.plot(xs, upper, style, color=colour, **line)
    return upper


def delta_curves(mechanisms: Mapping[str, Shuffle], eps: Sequence[float]) -> Any:
    """δ(ε) of several mechanisms, on a logarithmic scale.

    >>> from shuffle_sym.randomizers import BinaryRR
    >>> ax = delta_curves({"one user": Shuffle(BinaryRR(eps0=sp.log(3)), 1)}, [0, 1])
    >>> [float(y) >= exact for y, exact in zip(ax.lines[0].get_ydata(), [1 / 2, (3 - sp.E) / 4])]  # δ = (3 − α)/4
    [True, True]
    >>> close(ax)
    """
    ax = axes("central ε", "δ(ε)", logy=True)
    for (label, M), colour in zip(mechanisms.items(), COLOURS, strict=False):
        bracket(ax, eps, [M.delta(e) for e in eps], label, colour)
    return ax


def epsilon_curves(mechanisms: Mapping[str, Sequence[Shuffle]], delta: float) -> Any:
    """ε(n) at one δ: every sequence in ``mechanisms`` holds one mechanism at growing n.

    >>> from shuffle_sym.randomizers import BinaryRR
    >>> ax = epsilon_curves({"2-RR": [Shuffle(BinaryRR(eps0=1), n) for n in (10, 100)]}, 1e-3)
    >>> [float(x) for x in ax.lines[0].get_xdata()]
    [10.0, 100.0]
    >>> close(ax)
    """
    ax = axes("number of users n", f"central ε at δ = {power(delta)}", logx=True, logy=True)
    for (label, sequence), colour in zip(mechanisms.items(), COLOURS, strict=False):
        bracket(ax, [M.n for M in sequence], [M.epsilon(delta) for M in sequence], label, colour)
    return ax


def closing_bracket(M: Shuffle, alpha: sp.Rational, rtols: Sequence[float], *, method: str = "auto") -> Any:
    """How far both ends of D_α of M (``method`` as for `delta`) are from the exact value, for each of ``rtols``.

    >>> from shuffle_sym.randomizers import BinaryRR
    >>> ax = closing_bracket(Shuffle(BinaryRR(eps0=sp.log(3)), 4), sp.Rational(6, 5), [0.1, 0.01])
    >>> [text.get_text() for text in ax.texts]
    ['upper end', 'lower end', 'what was asked for']
    >>> close(ax)
    """
    exact = M.exact(alpha)
    intervals = [M.delta(sp.log(alpha), rtol=rtol, method=method) for rtol in rtols]
    ax = axes("relative width asked for", "relative distance from the exact value", logx=True, logy=True)
    # Differences of exact numbers: the ends may agree with the exact value to more digits than a double shows.
    ends = {
        "upper end": [float((sp.Rational(i.upper) - exact) / exact) for i in intervals],
        "lower end": [float((exact - sp.Rational(i.lower)) / exact) for i in intervals],
    }
    for (label, distances), colour, marker in zip(ends.items(), COLOURS, "v^", strict=False):
        ax.plot(rtols, distances, marker=marker, color=colour, label=label)
    ax.plot(rtols, rtols, color="grey", linestyle=":", label="what was asked for")
    ax.invert_xaxis()
    name_lines(ax)
    return ax


def steps(first: float, last: float, count: int) -> list[float]:
    """``count`` numbers from ``first`` to ``last`` with equal differences, for linear axes.

    >>> steps(0, 1, 5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return [float(x) for x in np.linspace(first, last, count)]


def spaced(first: float, last: float, count: int) -> list[float]:
    """``count`` numbers from ``first`` to ``last`` with equal ratios, for logarithmic axes.

    >>> spaced(1, 100, 3)
    [1.0, 10.0, 100.0]
    """
    return [float(x) for x in np.geomspace(first, last, count)]


def discretisation_gap(randomizers: Mapping[str, Continuous], n: int, eps: float, cells: Sequence[int]) -> Any:
    """How the two discretisations of δ(``eps``) of n users of ``randomizers`` close in with more ``cells``.

    >>> from shuffle_sym.randomizers import Laplace
    >>> ax = discretisation_gap({"Laplace": Laplace(eps0=1)}, n=10, eps=0.1, cells=[2, 4])
    >>> bool(ax.lines[0].get_ydata()[0] > ax.lines[0].get_ydata()[1])
    True
    >>> close(ax)
    """
    ax = axes("number of cells", "relative gap between upper and lower δ", logx=True, logy=True)
    for (label, R), colour in zip(randomizers.items(), COLOURS, strict=False):
        gaps = []
        for count in cells:
            low, high = (Shuffle(D, n).delta(eps, rtol=1e-4) for D in (R.lower(count), R.upper(count)))
            gaps.append((high.upper - low.lower) / high.upper)
        ax.plot(cells, gaps, marker="o", color=colour, label=label)
    ax.plot(cells, [gaps[0] * (cells[0] / c) ** 2 for c in cells], color="grey", linestyle=":", label="cells⁻²")
    ax.set_xticks(cells, [str(c) for c in cells])
    ax.minorticks_off()
    name_lines(ax)
    return ax


def rounds_curves(
    ax: Any, accountant: FourierAccountant, eps: Sequence[float], rounds: Sequence[int], *, label: str, style: str = "-"
) -> None:
    """δ(ε) after several numbers of rounds by an ``accountant``, down to 1e-12: certified bands, a ``label`` for each.

    >>> from fractions import Fraction as F
    >>> from shuffle_sym.accounting.pld import PairPLD
    >>> ax = axes("central ε", "δ(ε)", logy=True)
    >>> accountant = FourierAccountant(PairPLD([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]))
    >>> rounds_curves(ax, accountant, [0.1, 0.2], [1, 2], label="2-RR")
    >>> [line.get_label() for line in ax.lines]
    ['2-RR, rounds: 1', '2-RR, rounds: 2']
    >>> close(ax)
    """
    for count, colour in zip(rounds, COLOURS, strict=False):
        intervals: list[Interval] = []
        for e in eps:
            intervals.append(accountant.delta(e, count, rtol=0.01))
            if intervals[-1].upper < 1e-12:
                break
        band(ax, eps[: len(intervals)], intervals, colour, style, label=f"{label}, rounds: {count}")


def where_it_holds(ax: Any, xs: Sequence[float], bound: Callable[[float], float], **style: Any) -> None:
    """A closed form ``bound`` over ``xs``, drawn only where its theorem applies: elsewhere it raises.

    >>> import math
    >>> ax = axes("x", "y")
    >>> where_it_holds(ax, [-4, 0, 4], math.sqrt)
    >>> [float(y) for y in ax.lines[0].get_ydata()]
    [0.0, 2.0]
    >>> close(ax)
    """
    points = []
    for x in xs:
        with suppress(ValueError):
            points.append((x, bound(x)))
    ax.plot([x for x, _ in points], [y for _, y in points], **style)


def grid_widths(pld: PrivacyLossDistribution, eps: float, rounds: int, L: float, sizes: Sequence[int]) -> Any:
    """The width of δ(``eps``) after ``rounds`` on grids −L … L of ``sizes`` points: ``pld`` rounded outward, and split.

    >>> from fractions import Fraction as F
    >>> from shuffle_sym.accounting.pld import PairPLD
    >>> ax = grid_widths(PairPLD([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)]), 0.5, 2, 4, [64, 256])
    >>> [line.get_label() for line in ax.lines]
    ['outward', 'split']
    >>> close(ax)
    """
    ax = axes("points of the grid, m", "relative width of the interval", logx=True, logy=True)
    for rounding, colour in zip(("outward", "split"), COLOURS, strict=False):
        intervals = [FourierAccountant(pld, L, m, rounding=rounding).delta(eps, rounds) for m in sizes]
        ax.plot(sizes, [i.relative_width for i in intervals], marker="o", color=colour, label=rounding)
    name_lines(ax)
    return ax


def cost_curves(R: Any, sizes: Sequence[int], delta: float, methods: Sequence[str]) -> Any:
    """Milliseconds for one certified δ of R near ``delta`` by each of ``methods``, for ``sizes``: the median of five.

    >>> from shuffle_sym.randomizers import BinaryRR
    >>> ax = cost_curves(BinaryRR(eps0=1), [10, 100], 1e-3, ["contour"])
    >>> [float(x) for x in ax.lines[0].get_xdata()]
    [10.0, 100.0]
    >>> close(ax)
    """
    ax = axes("number of users n", "milliseconds for one δ", logx=True, logy=True)
    for method, colour in zip(methods, COLOURS, strict=False):
        times = []
        for n in sizes:
            M = Shuffle(R, n)
            eps = M.epsilon(delta, rtol=0.01).upper
            # Another ε each time: nothing comes from a cache.
            calls = map(partial(M.delta, rtol=0.01, method=method), [eps * (1 + i / 1000) for i in range(5)])
            times.append(1e3 * float(np.median(timeit.repeat(partial(next, calls), number=1, repeat=5))))
        ax.plot(sizes, times, marker="o", color=colour, label=method)
    name_lines(ax)
    return ax


def profile(curve: PrivacyProfile, ax: Any = None) -> Any:
    """δ(ε) of a privacy profile, ``curve``, for ε >= 0: the band between its ends, and the sampled points.

    >>> import shuffle_sym as ss
    >>> ax = profile(ss.Shuffle(ss.BinaryRR(eps0=1), n=3).profile(rtol=0.1))
    >>> ax.get_ylabel()
    'δ(ε)'
    >>> close(ax)
    """
    if ax is None:
        ax = axes("central ε", "δ(ε)", logy=True)
    rows = [row for row in curve.rows() if row["eps"] >= 0 and row["upper"] > 0]
    intervals = [Interval(row["lower"], row["upper"]) for row in rows]
    band(ax, [row["eps"] for row in rows], intervals, COLOURS[0], marker=".", markersize=3, linewidth=1)
    return ax


def trade_off(f: TradeOff) -> Any:
    """What an attack gains over guessing, 1 − x − f(x) for the two certified curves f of f-DP: no attack is above the
    solid line, some attack is on the dashed one or above.

    >>> import shuffle_sym as ss
    >>> ax = trade_off(ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), n=1).profile().trade_off())
    >>> bool(ax.lines[1].get_ydata()[50] <= 1 / 2 <= ax.lines[0].get_ydata()[50])  # f(1/4) = 1/4
    True
    >>> close(ax)
    """
    ax = axes("false alarms: says x₁ where it is x₀", "true alarms beyond false ones")
    errors = [sp.Rational(i, 200) for i in range(201)]
    xs, intervals = [float(x) for x in errors], [f(x) for x in errors]
    ax.plot(
        xs,
        [1 - x - i.lower for x, i in zip(xs, intervals, strict=True)],
        color=COLOURS[0],
        label="no attack gains more",
    )
    least = [1 - x - i.upper for x, i in zip(xs, intervals, strict=True)]
    ax.plot(xs, least, "--", color=COLOURS[1], linewidth=1, label="some attack gains this")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def renyi_gap(
    ax: Any,
    orders: Sequence[int],
    forms: Mapping[str, Callable[[Any], float]],
    truths: Mapping[str, Callable[[Any], Interval]],
    *,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Bounds over the order, and the brackets of what they bound: ``Shuffle(…).rdp`` or `rdp.exact_curve`.

    Bounds, ``forms``, are lines in the palette's colours, drawn where they hold; truths are bands with dashed ends.

    >>> ax = axes("order", "divergence")
    >>> renyi_gap(ax, [2, 3], {"bound": lambda order: order}, {"truth": lambda order: Interval(order / 2, order / 2)})
    >>> [line.get_label() for line in ax.lines]
    ['bound', 'truth']
    >>> close(ax)
    """
    closed_forms(ax, orders, forms, lambda form, order: form(order), colours=colours)
    for (label, truth), style in zip(truths.items(), ("--", ":", "-.", (0, (1, 3))), strict=False):
        intervals = [truth(order) for order in orders]
        ax.fill_between(
            orders, [i.lower for i in intervals], [i.upper for i in intervals], color="grey", alpha=0.4, linewidth=0
        )
        ax.plot(orders, [i.upper for i in intervals], ls=style, color="black", label=label)


def curves(ax: Any, series: Mapping[str, tuple[Sequence[float], Sequence[float]]], **style: Any) -> None:
    """Several lines, ``series`` of name → (xs, ys), a colour for each, named at their ends.

    >>> ax = axes("x", "y")
    >>> curves(ax, {"a": ([1, 2], [3, 4])})
    >>> [text.get_text() for text in ax.texts]
    ['a']
    >>> close(ax)
    """
    for (label, (xs, ys)), colour in zip(series.items(), COLOURS, strict=False):
        ax.plot(xs, ys, marker="o", markersize=4, color=colour, label=label, **style)
    name_lines(ax)
