"""The explorer: what is on the screen is what its code says, and the code is right."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from fractions import Fraction
from itertools import combinations

import pytest
import sympy as sp

import shuffle_sym as ss
from shuffle_sym.apps import catalogue, explorer
from shuffle_sym.apps.explorer import Settings, View
from shuffle_sym.model.continuous import Continuous

BIT = {"randomizer": "binaryrr", "parameters": {"eps0": "log(3)"}}
SETTINGS = {
    "default": Settings(),
    "one user": Settings(**BIT, n="1", delta="1/4"),
    "eps0 typed as a decimal": Settings("krr", {"k": "3", "eps0": "0.1"}, n="1e3"),
    "several rounds of 2-RR": Settings(**BIT, n="10", delta="1e-2", rounds="3"),
    "several rounds of OUE": Settings("oue", {"d": "8", "eps0": "2"}, rounds="4", n="3000", delta="1e-5"),
    "subsets": Settings("subsetselection", {"d": "8", "w": "3", "eps0": "1"}, n="500"),
}
CATALOGUE = {
    name: Settings(name, {p: {"eps0": "1", "w": "3"}.get(p, "8") for p in catalogue.parameters(maker)}, n="500")
    for name, maker in catalogue.makers().items()
    if name in explorer.live() and not issubclass(maker, Continuous)
}
OTHER = {"other": "krr", "other_parameters": {"k": "3", "eps0": "1"}}
SAME_MESSAGES = {"other": "krr", "other_parameters": {"k": "10", "eps0": "1"}}
WIDER = {
    "Laplace": Settings("laplace", {"eps0": "2"}),
    "Gaussian": Settings("gaussian", {"sigma": "2"}),
    "a matrix that was typed": Settings("matrix", {"rows": "0.7 0.3; 1/5, 4/5"}, n="100", delta="0.01"),
    "a density that was typed": Settings("density", {"density": "exp(-abs(y-x))/2", "least": "0", "greatest": "1"}),
    "two compared": Settings(**OTHER, n="100", delta="0.01"),
    "two groups": Settings(**SAME_MESSAGES, share="0.3", n="100", delta="0.01"),
    "sampled users": Settings(q="1/4", n="100", delta="0.01"),
    "several rounds of unlike pairs": Settings("matrix", {"rows": "0.7 0.3; 0.2 0.8"}, n="3", delta="0.01", rounds="2"),
    "over n": Settings(**SAME_MESSAGES, over="n"),
    "over rounds": Settings(**BIT, n="3", delta="1e-2", rounds="3", over="rounds"),
    "over eps0": Settings(**SAME_MESSAGES, over="level"),
    "over eps0 of sampled users": Settings(q="1/4", over="level", n="100", delta="0.01"),
    "several rounds at a delta that is no fraction": Settings(**BIT, n="100", delta="exp(-7)", rounds="2"),
    "over sigma": Settings("gaussian", {"sigma": "4"}, over="level", n="1000", delta="1e-3"),
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_the_code_reproduces_every_number_on_the_screen_and_the_bounds_are_in_order(settings):
    view = View(settings)
    assert_order(view)
    names = assert_reproduced(view)
    # Every end that the table shows is one of them, with six digits.
    for line in view.lines:
        if isinstance(view.answers.get(line.name), ss.Interval):
            lower, upper = str(names["answers"][line.name]).strip("[]").split(", ")
            assert upper in view.table
            assert len(line.ends) == 1 or lower in view.table


@pytest.mark.parametrize("settings", CATALOGUE.values(), ids=CATALOGUE.keys())
def test_the_code_reproduces_every_randomizer_of_the_catalogue(settings):
    view = View(settings, explorer.LATE)
    assert "certified" in assert_reproduced(view)["answers"]
    assert view.curves["certified"]


def assert_reproduced(view):
    """The code has the numbers that are on the screen; what it defines."""
    names: dict[str, object] = {}
    exec(view.code, names)
    assert names["answers"] == view.answers
    assert names["curves"] == view.curves
    assert names["grid"] == view.grid
    assert names["R"] == view.R
    return names


def test_the_code_gives_the_same_numbers_in_a_process_of_its_own():
    views = [View(SETTINGS[name]) for name in ("default", "one user", "several rounds of 2-RR")]
    code = "\n".join(f"{view.code}\nprint(repr((answers, grid, curves)))" for view in views)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [repr((view.answers, view.grid, view.curves)) for view in views]


@pytest.mark.parametrize("settings", WIDER.values(), ids=WIDER.keys())
def test_the_code_says_what_is_on_the_screen_whatever_is_drawn(settings):
    quick, view = View(settings, explorer.late(settings)), View(settings)
    assert named(quick) <= {*quick.answers}  # what is left open is left out of the chart, and nothing fails
    assert quick.answers, "something is there at once"
    names: dict[str, object] = {}
    exec(view.code, names)
    assert names["curves"] == view.curves
    assert names["grid"] == view.grid
    assert "certified" in names["answers"]
    assert all(view.answers[line] == value for line, value in names["answers"].items())
    assert named(view) <= {*view.answers}
    again = re.search(r"explorer\.app\((explorer\..*)\)", view.code)
    assert eval(again[1], {"explorer": explorer}) == settings


def test_what_was_typed_compared_sampled_and_grouped_is_what_is_asked():
    asked = {name: View(WIDER[name]) for name in WIDER if "delta='0.01'" in repr(WIDER[name])}
    R, other, n = ss.KRR(k=10, eps0=4), ss.KRR(k=3, eps0=1), 100
    expected = {
        "a matrix that was typed": ss.Shuffle(ss.from_matrix([[0.7, 0.3], [0.2, 0.8]]), n),
        "two compared": ss.Shuffle(other, n),
        "two groups": ss.Shuffle([(R, 70), (ss.KRR(k=10, eps0=1), 30)]),
        "sampled users": ss.Shuffle(ss.Sampled(R, q=0.25), n),
    }
    for name, M in expected.items():
        line = "other" if name == "two compared" else "certified"
        assert asked[name].answers[line] == M.epsilon(0.01)
    typed = View(WIDER["a density that was typed"], explorer.LATE)
    assert typed.R.eps0 == 1


def test_a_sweep_has_at_each_place_what_its_settings_alone_have():
    rtol = 0.02
    view = View(Settings(over="n", n="1000"))
    assert view.grid == [10, 100, 1_000, 10_000, 100_000]
    assert view.curves["certified"][3] == ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000).epsilon(1e-6, rtol=rtol)
    level = View(Settings(over="level", n="1000"))
    assert level.grid == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert level.curves["certified"][0] == ss.Shuffle(ss.KRR(k=10, eps0=2), 1000).epsilon(1e-6, rtol=rtol)


def test_while_a_slider_moves_a_sweep_has_its_ends_and_where_it_is():
    view = View(Settings(over="n", n="20000"), explorer.LATE)
    assert view.grid == [100, 20_000, 1_000_000]
    assert view.curves["certified"][1] == view.answers["certified"]


def test_the_simple_bound_of_two_groups_is_that_of_either_group_alone():
    # Two users of 2-RR, one with t = 3 and one with t = 9: alone, their δ are (3 − α)/4 and (9 − α)/10.
    half = {"other": "binaryrr", "other_parameters": {"eps0": "log(9)"}, "share": "0.5"}
    view = View(Settings(**BIT, **half, n="2", delta="1/4"))
    assert view.answers["simple"] == pytest.approx(float(sp.log(Fraction(13, 2))), rel=1e-2)
    assert view.answers["simple"] >= sp.log(sp.Rational(13, 2)) >= view.answers["certified"].lower
    wide = View(WIDER["two groups"])
    assert wide.grid[-1] < wide.answers["simple"], "it does not press the curves that are better into a corner"


def test_the_simple_bound_of_several_rounds_is_their_sum():
    # One user, δ = 1/4 in each of two rounds: (3 − α)/4 = 1/4 at α = 2, and 2 ε in all.
    view = View(Settings(**BIT, n="1", delta="1/2", rounds="2", over="rounds"), (*explorer.LATE, "certified"))
    assert view.grid[1] == 2
    assert 2 * sp.log(2) <= view.curves["simple"][1] <= 2 * float(sp.log(2)) * 1.02


def test_rounds_along_the_axis_are_compositions():
    # One user of 2-RR, two rounds: δ = (9 − α)/16 (both reports true 9/16, both false 1/16), so that δ = 5/16 is α = 4.
    view = View(Settings(**BIT, n="1", delta="5/16", rounds="2", over="rounds"), ("clones",))
    assert view.grid[:2] == [1, 2]
    assert float(sp.log(4)) in view.curves["certified"][1]


def test_the_band_between_attack_and_bound_is_drawn():
    view = View(Settings("gaussian", {"sigma": "1"}, n="1000"))
    ax = explorer.drawn(view)
    ends = [line for line in ax.lines if line.get_color() == line_of(view, "certified").colour]
    assert len(ends) == 2, "both ends are lines of their own"
    (band,) = ax.patches
    corners = {tuple(corner) for corner in band.get_xy()}
    assert corners == {tuple(corner) for end in ends for corner in end.get_xydata()}
    assert view.answers["certified"].upper > 1.05 * view.answers["certified"].lower


def test_figure_and_numbers_are_exported():
    view = View(WIDER["two compared"])
    assert b"<svg" in explorer.exported(view, "svg")
    assert explorer.exported(view, "pdf").startswith(b"%PDF")
    state, head, *rows = explorer.exported(view, "csv").decode().splitlines()
    assert eval(state.removeprefix("# "), {"Settings": Settings}) == view.settings
    numbers = [row.split(",") for row in rows if row.startswith("certified")]
    ends = [(float(lower), float(upper)) for _, _, lower, upper in numbers]
    assert head == "line,eps,lower,upper"
    assert ends == [(value.lower, value.upper) for value in view.curves["certified"]]
    with pytest.raises(ValueError, match="kind must be"):
        explorer.exported(view, "png")


def test_the_controls_open_where_the_settings_are_and_say_so_again():
    settings = Settings(
        "krr",
        {"k": "3", "eps0": "1.5"},
        n="1000",
        delta="0.01",
        other="density",
        over="n",
        other_parameters=WIDER["a density that was typed"].parameters,
    )

    async def opened():  # in a kernel, which does not wait for every line
        app = explorer.app(settings)
        assert app.settings == settings
        assert app.view.settings == settings
        app.controls["delta"].value = 10**-5.75
        return app

    app = asyncio.run(opened())
    assert app.settings.delta == "1.78e-06"
    app.export.click()
    assert app.links.value.count("download=") == 3
    app.other_parameters["density"].value = "exp("
    assert "density must be a formula in x and y" in app.message.value


def test_what_was_asked_before_does_not_change_a_digit_of_several_rounds():
    explorer._value.cache_clear()
    for delta in ("1e-9", "1e-4"):  # the profile for the first would serve the second, with other digits
        assert_reproduced(View(Settings(**BIT, n="4", rounds="3", delta=delta), explorer.LATE))


def test_one_user_of_two_rr_is_its_local_curve():
    view = View(SETTINGS["one user"])  # δ = (3 − α)/4, so that δ = 1/4 is α = 2
    assert float(sp.log(2)) in view.answers["certified"]
    assert float(sp.log(2)) in view.answers["blanket"]
    exact = ss.Shuffle(ss.BinaryRR(eps0=sp.log(3)), 1)
    for eps, found in zip(view.grid, view.curves["certified"], strict=True):
        value = exact.exact(sp.exp(sp.Rational(str(eps))), digits=30) if eps < float(sp.log(3)) else Fraction(0)
        assert found.lower <= value <= found.upper


def assert_order(view):
    """No bound is below what it bounds, in the table and at every place of the chart."""
    order = ("certified", "blanket", "shared", "clones")
    assert {*order} <= {*view.answers}
    for below, above in [*combinations(order, 2), ("certified", "Bennett")]:
        if above in view.answers:
            assert explorer.end(view.answers[below], "lower") <= explorer.end(view.answers[above], "upper")
        drawn = [drawn_points(view, name) for name in (below, above)]
        for eps in {*drawn[0]} & {*drawn[1]}:
            assert explorer.end(drawn[0][eps], "lower") <= explorer.end(drawn[1][eps], "upper")


def drawn_points(view, name):
    return dict(zip(view.points(line_of(view, name)), view.curves[name], strict=True)) if name in view.curves else {}


def named(view):
    """The names in the legend."""
    return {line.get_label() for line in explorer.drawn(view).lines if not line.get_label().startswith("_")}


def line_of(view, name):
    return next(line for line in view.lines if line.name == name)


def test_two_rounds_of_one_user_are_the_product_of_two_coins():
    # Both reports are true with probability 9/16 and both false with 1/16: δ = (9 − α)/16, so that δ = 5/16 is α = 4.
    view = View(Settings(**BIT, n="1", delta="5/16", rounds="2"))
    assert float(sp.log(4)) in view.answers["certified"]
    assert float(sp.log(4)) in view.answers["blanket"]
    assert view.points(line_of(view, "certified"))
    for eps, found in zip(view.points(line_of(view, "certified")), view.curves["certified"], strict=True):
        assert found.lower <= (9 - sp.exp(sp.Rational(str(eps)))) / 16 <= found.upper


def test_curves_of_several_rounds_end_where_the_answer_is():
    view = View(SETTINGS["several rounds of OUE"])
    for curve in explorer.drawn(view).lines:
        if not curve.get_label().startswith("_") and line_of(view, curve.get_label()).letter:
            assert len(view.points(line_of(view, curve.get_label()))) >= 3
            assert tuple(curve.get_xydata()[-1]) == (view.answers[curve.get_label()].upper, 1e-5)
            assert list(curve.get_ydata()) == sorted(curve.get_ydata(), reverse=True)


@pytest.mark.parametrize(("randomizer", "others"), [("krr", 2), ("oue", 2), ("blh", 0)])
def test_the_table_says_where_the_certified_ends_come_from(randomizer, others):
    size = {"krr": "k"}.get(randomizer, "d")
    view = View(Settings(randomizer, {size: "8", "eps0": "1"}, n="10000"))
    assert f"lower end: 0 against 1, all others {others}" in view.table
    assert f"upper end: {view.answers['certified'].upper_by}" in view.table


def test_the_certified_band_of_blh_is_below_its_blanket():
    answers = View(Settings("blh", {"d": "8", "eps0": "4"}, n="10000")).answers
    assert answers["certified"].upper < 0.8 * answers["blanket"].lower


def test_what_takes_long_is_left_open_and_not_part_of_the_code():
    settings = SETTINGS["several rounds of OUE"]
    quick, whole = View(settings, explorer.LATE), View(settings)
    assert {*whole.answers} - {*quick.answers} == {*explorer.LATE}
    assert quick.table.count("…</td>") == len(explorer.LATE)
    assert "clones" not in quick.code
    assert_reproduced(quick)
    assert quick.answers["certified"] == whole.answers["certified"]
    assert quick.curves["certified"] == whole.curves["certified"][:2]  # few points while a slider moves


def test_in_a_kernel_the_rest_comes_when_the_slider_rests():
    async def moved():
        app = explorer.app()
        app.controls["rounds"].value = 2
        app.controls["rounds"].value = 3
        at_once = {*app.view.answers}
        seen = [at_once]
        while app.view.skip:
            await asyncio.sleep(0.005)
            seen.append({*app.view.answers})
        return at_once, app, seen

    at_once, app, seen = asyncio.run(asyncio.wait_for(moved(), 60))
    assert at_once == {"blanket"}
    assert {"blanket", "certified"} in seen, "lines are added one at a time: a slider can stop the rest"
    assert {*explorer.LATE, "certified"} - {"Feldman"} <= {*app.view.answers}
    assert "compose(3)" in app.code.value
    assert "…</td>" not in app.table.value.replace(" … ", "")


def test_without_a_kernel_everything_comes_at_once():
    app = explorer.app()
    app.controls["rounds"].value = 2
    assert {*explorer.LATE, "certified"} - {"Feldman"} <= {*app.view.answers}


def test_the_closed_forms_of_several_rounds_are_composed():
    one, many = View(Settings(n="1000", delta="1e-7")), View(Settings(n="1000", delta="3e-7", rounds="3"))
    assert many.answers["Bennett"] >= 3 * one.answers["Bennett"]
    assert many.answers["Bennett"] <= 3 * one.answers["Bennett"] * (1 + 1e-9)


def test_a_theorem_that_says_nothing_is_said_so_and_not_drawn():
    view = View(Settings(n="10"))  # Feldman et al. need eps0 <= log(n/(16 log(2/delta)))
    assert "Feldman" not in view.answers
    assert "says nothing here" in view.table
    assert "feldman" not in view.code


def test_the_chart_has_every_curve():
    view = View(Settings(n="1000000"))
    assert named(view) == {line.name for line in view.lines if line.letter or line.delta}


def test_a_bound_whose_delta_is_not_cheap_is_a_dot():
    view = View(WIDER["two groups"], explorer.late(WIDER["two groups"]))
    (dot,) = (line for line in explorer.drawn(view).lines if line.get_label() == "simple")
    assert [tuple(point) for point in dot.get_xydata()] == [(view.answers["simple"], 0.01)]


@pytest.mark.parametrize(
    ("over", "labels"),
    [
        ("eps", ("central ε", "δ(ε)", "log")),
        ("n", ("users n", "ε at δ = 1e-6", "log")),
        ("rounds", ("rounds", "ε at δ = 1e-6", "log")),
        ("level", ("target ε at δ = 1e-6", "ε₀", "linear")),
    ],
)
def test_the_axes_say_what_they_are(over, labels):
    ax = explorer.drawn(View(Settings(over=over), skip=explorer.LATE))
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == labels


def test_what_is_off_the_chart_is_not_in_its_legend():
    own, other = {"k": "10", "eps0": "1"}, {"k": "10", "eps0": "4"}
    view = View(Settings(parameters=own, other="krr", other_parameters=other, share="0.01", n="2000"))
    assert view.answers["simple"] > view.grid[-1]
    assert "simple" not in named(view)
    assert "simple" in view.table


def test_the_table_says_why_a_theorem_says_nothing():
    assert "says nothing here" in View(Settings()).table
    assert "eps0 must be at most log(n/(16 log(2/delta)))" in View(Settings()).table


def test_a_share_needs_a_second_randomizer():
    app = explorer.app()
    assert app.controls["share"].disabled
    app.controls["other"].value = "binaryrr"
    assert not app.controls["share"].disabled


def test_settings_that_are_near_share_what_was_computed(monkeypatch):
    asked = []

    def delta(self, eps, **given):
        asked.append(eps)
        return ss.Interval(0, 1)

    monkeypatch.setattr(ss.Shuffle, "delta", delta)
    explorer._value.cache_clear()
    first, second = (View(Settings(delta=delta)).curves for delta in ("1e-6", "1.1e-6"))
    explorer._value.cache_clear()
    assert first == second
    assert len(asked) == sum(len(curve) for name, curve in first.items() if name != "Bennett"), "asked once"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"randomizer": "clones", "parameters": {"eps0": "1"}}, "randomizer must be one of"),
        ({"randomizer": "matrix", "parameters": {"rows": "1 0; 0 one"}}, "matrix[1][1] must be a number"),
        ({"randomizer": "matrix", "parameters": {}}, "matrix takes rows"),
        ({"over": "time"}, "over must be one of"),
        ({"over": "level", "randomizer": "matrix", "parameters": {"rows": "1 0; 0 1"}}, "matrix has no eps0 or sigma"),
        ({"other": "oue", "other_parameters": {"d": "4", "eps0": "1"}, "share": "0.5", "n": "1"}, "users"),
        ({"parameters": {"k": "1", "eps0": "4"}}, "k must be an integer >= 2"),
        ({"parameters": {"eps0": "4"}}, "k must be given"),
        ({"n": "many"}, "n must be a number such as"),
        ({"delta": "0"}, "delta must be"),
        ({"n": "__import__('os')"}, "n must be a number such as"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        View(Settings(**wrong))._repr_html_()


def test_the_answer_comes_first_and_is_that_of_the_package():
    view = View(Settings())
    assert view.answers["certified"] == ss.Shuffle(ss.KRR(k=10, eps0=4), 10_000).epsilon(1e-6)
    assert re.findall(r">(\w+)</td>", view.table)[0] == "certified"


def test_a_notebook_that_has_not_run_shows_the_chart_and_the_table(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    app = explorer.app()
    app._ipython_display_()
    assert shown[0]["text/html"] == View(app.settings)._repr_html_()
    assert "<img" in shown[0]["text/html"]
    assert shown[0]["text/plain"] == "View(Settings(delta='1e-06'))"


def test_moving_a_slider_changes_chart_table_and_code():
    app = explorer.app()
    seen = app.chart.value, app.table.value, app.code.value
    app.parameters["eps0"].value = 2.0
    assert all(old != new for old, new in zip(seen, (app.chart.value, app.table.value, app.code.value), strict=True))
    assert "ss.KRR(k=10, eps0=2)" in app.code.value
    assert app.view.answers["certified"] == ss.Shuffle(ss.KRR(k=10, eps0=2), 10_000).epsilon(1e-6)


@pytest.mark.parametrize("name", explorer.live())
def test_every_randomizer_of_the_list_starts(name):
    async def started():  # in a kernel, which does not wait for every line
        app = explorer.app()
        app.controls["randomizer"].value = name
        return app

    app = asyncio.run(started())
    assert app.message.value == ""
    assert app.parameters
    assert app.view.answers
    assert "certified" in View(app.settings, explorer.LATE).answers


def test_a_value_that_makes_no_sense_is_named_and_leaves_the_picture():
    app = explorer.app()
    seen = app.chart.value
    app.parameters["k"].value = 1
    assert "k must be an integer &gt;= 2, got 1" in app.message.value
    assert app.chart.value == seen
    app.parameters["k"].value = 3
    assert app.message.value == ""


def test_the_widgets_are_not_imported_before_they_are_needed():
    code = "import sys, shuffle_sym.apps.explorer; print('ipywidgets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_table_says_what_the_answer_means_for_one_person():
    # One user of 2-RR with t = 3 keeps the bit with probability 3/4: no guess is better, and rounding is upward.
    view = View(Settings(randomizer="binaryrr", parameters={"eps0": "log(3)"}, n="1", delta="1/10"))
    (right,) = re.findall("They guess right at most ([0-9.]+) % of the time, against 50 %", view.table)
    assert Fraction(75) <= Fraction(right) <= Fraction("75.1")
    assert "guess right" not in View(Settings(over="n")).table


@pytest.mark.parametrize(
    "text",
    [
        "().__class__",
        "__import__('os')",
        "ss.algebra.names.import_module",
        "ss.papers",
        "ss.__dict__",
        "[x for x in ()]",
        "lambda: 0",
        "1 > 0",
    ],
)
def test_a_line_is_calls_of_the_package_and_nothing_else(text):
    with pytest.raises(ValueError, match="only calls of the package are read"):
        explorer._value(text)


@pytest.mark.parametrize(
    "text", ["__import__('os').getcwd()", "exp(-abs(y - x)).__class__", "ss.Shuffle", "{x}", "open('x')"]
)
def test_what_is_typed_is_never_run(text):
    for typed in (
        {"randomizer": "density", "parameters": {"density": text, "least": "0", "greatest": "1"}},
        {"randomizer": "density", "parameters": {"density": "exp(-abs(y - x))/2", "least": text, "greatest": "1"}},
        {"randomizer": "matrix", "parameters": {"rows": f"1 0; 0 {text}"}},
        {"parameters": {"k": text, "eps0": "4"}},
        {"q": text},
        {"other": "binaryrr", "other_parameters": {"eps0": "1"}, "share": text},
    ):
        with pytest.raises(ValueError, match=r"must be a (formula|number)"):
            View(Settings(**typed))


def test_a_comment_in_what_is_typed_is_no_way_into_the_lines():
    typed = {"density": "exp(-abs(y-x))/2  # {O} '", "least": "0 # {O}", "greatest": "1"}
    other = {"other": "matrix", "other_parameters": {"rows": "1/3 2/3; 2/3 1/3"}}
    view = View(Settings("density", typed, delta="0.01 # {O}", **other), explorer.LATE)
    assert "exp(-abs(y - x)) / 2'" in view.code
    assert "{" not in view.code.split("\n\n")[1]
