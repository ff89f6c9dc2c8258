"""The one style of all plots: readable on any theme, told apart by everybody, named at the curves."""

from __future__ import annotations

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

import shuffle_sym as ss
from shuffle_sym.apps import plots
from shuffle_sym.apps.plots import style

# Machado, Oliveira and Fernandes 2009, full severity, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def lab(colour: str, sight: object) -> np.ndarray:
    """CIE L*a*b* of a colour as somebody with that sight sees it."""
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(sight) @ linear, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHT)
def test_any_two_colours_are_told_apart(sight):
    # A difference of about 2.3 is just noticeable; lines apart from each other need several times as much.
    for one, other in combinations(plots.COLOURS, 2):
        assert np.linalg.norm(lab(one, SIGHT[sight]) - lab(other, SIGHT[sight])) > 15


@pytest.mark.parametrize("colour", [*plots.COLOURS, style.INK, "grey"])
def test_names_can_be_read_on_the_paper(colour):
    assert style.contrast(style.ink(colour), style.PAPER) >= 4.5


def test_contrast_is_that_of_the_accessibility_guidelines():
    # Grey #767676 is the lightest grey that passes on white, as their examples say.
    assert style.contrast("#767676", "#FFFFFF") >= 4.5 > style.contrast("#777777", "#FFFFFF")


@pytest.mark.parametrize("theme", ["default", "dark_background"])
def test_a_figure_brings_its_paper_and_its_ink_whatever_the_theme(theme):
    with plt.style.context(theme):
        for ax in (plots.axes("x", "y"), *plots.panels(["one", "two"], "x", "y")):
            assert mpl.colors.to_hex(ax.figure.get_facecolor()).upper() == style.PAPER
            assert mpl.colors.to_hex(ax.get_facecolor()).upper() == style.PAPER
            written = (ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels())
            assert {mpl.colors.to_hex(text.get_color()) for text in written} == {style.INK}


def test_making_a_plot_leaves_the_settings_of_the_user_alone():
    before = dict(mpl.rcParams)
    plots.delta_curves({"one": ss.Shuffle(ss.BinaryRR(eps0=1), 10)}, [0.1, 0.2])
    assert dict(mpl.rcParams) == before


def test_names_of_curves_that_end_together_do_not_overlap():
    one = ss.Shuffle(ss.BinaryRR(eps0=1), 10)
    ax = plots.delta_curves({"first": one, "second": one, "third": one}, [0.1, 0.2])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert [text.get_text() for text in ax.texts] == ["first", "second", "third"]
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


def test_the_line_is_the_upper_end_and_the_band_reaches_down_to_the_lower():
    ax = plots.axes("x", "y")
    plots.bracket(ax, [1, 2], [ss.Interval(0.5, 0.6), ss.Interval(0.1, 0.3)], "certified", plots.COLOURS[0])
    assert list(ax.lines[0].get_ydata()) == [0.6, 0.3]
    corners = ax.collections[0].get_paths()[0].vertices
    assert {(1.0, 0.5), (1.0, 0.6), (2.0, 0.1), (2.0, 0.3)} <= {tuple(map(float, c)) for c in corners}


def test_a_curve_that_reaches_zero_is_named_where_it_can_be_seen():
    ax = plots.delta_curves({"bit": ss.Shuffle(ss.BinaryRR(eps0=1), 10)}, [0.5, 0.9, 1.0])
    assert ax.texts[0].xy[0] == 0.9, "from eps0 = 1 on delta is 0, which a logarithmic axis cannot show"


def test_a_legend_below_names_each_curve_once_in_the_order_of_the_first_panel():
    drawn = plots.panels(["one", "two"], "x", "y")
    for ax, labels in zip(drawn, (("a", "b"), ("b", "c", "_nameless")), strict=True):
        for label in labels:
            ax.plot([0, 1], [1, 2], label=label)
    plots.legend_below(drawn)
    (legend,) = drawn[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    drawn[0].figure.canvas.draw()
    below = legend.get_window_extent()
    assert all(below.y1 <= ax.get_tightbbox().y0 for ax in drawn)


def test_a_bound_keeps_the_colour_that_it_is_given():
    ax = plots.axes("x", "y")
    plots.closed_forms(ax, [1, 2], {"a": 1, "b": 2}, lambda bound, x: bound * x, colours={"b": "#123456"})
    assert [line.get_color() for line in ax.lines] == [plots.COLOURS[0], "#123456"]


@pytest.mark.parametrize(
    ("number", "written"),
    [(1e-6, "10⁻⁶"), (10**4, "10⁴"), (1, "1"), (10, "10"), (0.002, "0.002"), (10**5 + 1, "100001")],
)
def test_only_powers_of_ten_are_written_as_such(number, written):
    assert plots.power(number) == written


def test_every_analysis_that_says_something_is_a_mark_at_its_value():
    found = ss.Shuffle(ss.BinaryRR(eps0=1), 10_000).analyses(delta=1e-6)
    ax = plots.analyses(found)
    marks = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() != "None"]
    assert marks == [row.value for row in found.bounds]
    assert [label.get_text() for label in ax.get_yticklabels()] == [row.name for row in found.bounds]
    assert ax.get_xscale() == "log", "from 0.035 to 1"
    plots.close(ax)
