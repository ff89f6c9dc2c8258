r"""The explorer: sliders over live curves, a table of the numbers, and the lines of Python that reproduce them.

What is on the screen *is* what the lines say: `View` writes the lines, and its numbers are the values of these lines.
`app` puts widgets around a view; everything else works without them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html import escape
from typing import Any

import sympy as sp

import shuffle_sym
from shuffle_sym import catalogue, svg, typed
from shuffle_sym.interval import Interval
from shuffle_sym.plots import COLOURS
from shuffle_sym.randomizer import Randomizer

RTOL = 0.01  # an eye sees no less
_POINTS = 7
_FEW_KINDS = 3  # of messages: with more of them, several rounds take seconds and are not live
_GREY = "#808080"


def live() -> tuple[str, ...]:
    """The randomizers that are fast enough to be live: those with finitely many messages.

    >>> "krr" in live(), "gaussian" in live()
    (True, False)
    """
    makers: Mapping[str, Any] = catalogue.makers()
    return tuple(name for name, make in makers.items() if isinstance(make, type) and issubclass(make, Randomizer))


@dataclass(frozen=True)
class Settings:
    """What the sliders and fields say; numbers are texts, read exactly.

    >>> Settings(n="1000").parameters
    {'k': '10', 'eps0': '4'}
    """

    randomizer: str = "krr"
    parameters: Mapping[str, str] = field(default_factory=lambda: {"k": "10", "eps0": "4"})
    n: str = "10000"
    delta: str = "1e-6"
    rounds: str = "1"


@dataclass(frozen=True)
class Line:
    """One analysis: its name, what it is, and how Python asks it for ε and for δ at ``{eps}``.

    >>> [line.name for line in View(Settings()).lines]
    ['Feldman', 'Bennett', 'clones', 'certified', 'attack']
    """

    name: str
    about: str
    colour: str
    epsilon: str
    #: None where δ at ε is not cheap: then one point is drawn.
    delta: str | None
    #: Which end counts: "both" of a bracket, "upper" for a bound, "lower" for an attack.
    end: str = "upper"
    #: A closed form is dashed, and may say nothing for some settings.
    closed: bool = False


class View:
    """The numbers, the chart and the code for some settings.

    >>> view = View(Settings(randomizer="binaryrr", parameters={"eps0": "log(3)"}, n="1", delta="1/4"))
    >>> sp.log(2) in view.answers["certified"]       # one user: δ = (3 − α)/4
    True
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._n = typed.code(settings.n, "n")
        self._delta = typed.code(settings.delta, "delta")
        self._rounds = typed.code(settings.rounds, "rounds")
        self._many = typed.number(settings.rounds, "rounds") != 1
        name, maker = catalogue.find(settings.randomizer)
        if name not in live():
            raise ValueError(f"randomizer must be one of {', '.join(live())} to be live, got {name}")
        given = catalogue.arguments_for(name, settings.parameters)
        arguments = ", ".join(f"{key}={typed.code(text, key)}" for key, text in given.items())
        self._eps0 = typed.code(settings.parameters["eps0"], "eps0")
        self._source = f"R = ss.{maker.__name__}({arguments})"
        self.R: Any = _evaluated(self._source, "R")

    # -- the lines of Python

    def _mechanism(self, source: str) -> str:
        if not self._many:
            return f"ss.Shuffle({source}, n={self._n})"
        return f"ss.FourierAccountant([(ss.ShuffledPLD({source}, n={self._n}), {self._rounds})])"

    @cached_property
    def mechanisms(self) -> dict[str, str]:
        """Letter → the Python that makes it: M itself, C its clones, A an attack on two real datasets."""
        other = 2 if self.R.input_count > 2 else 0
        found = {
            "M": "R",
            "C": f"ss.decomposition.clones({self._eps0})",
            "A": f"ss.decomposition.dataset(R, 0, 1, {other})",
        }
        if self._many:
            found = {letter: source for letter, source in found.items() if self._is_live(source)}
        return {letter: self._mechanism(source) for letter, source in found.items()}

    def _is_live(self, source: str) -> bool:
        D: Any = _evaluated(self._source, source if source != "R" else "ss.decomposition.blanket(R, 0, 1)")
        return bool(len(D.atoms) + (D.beta_form != 0) <= _FEW_KINDS)

    @cached_property
    def definitions(self) -> str:
        """The lines that make R and the mechanisms."""
        return "\n".join([self._source, *(f"{letter} = {python}" for letter, python in self.mechanisms.items())])

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What is compared, the largest ε usually first."""
        found = [
            self._closed_form("Feldman", "feldman2020_thm31", "Theorem 3.1 (Feldman et al. 2020)", COLOURS[3], False),
            self._closed_form("Bennett", "balle2019_bennett", "Bennett (Balle et al. 2019)", _GREY, True),
        ]
        about = {
            "C": ("clones", "holds for every randomizer with this ε₀", COLOURS[1], "upper"),
            "M": ("certified", "the privacy blanket of this randomizer, both ends", COLOURS[0], "both"),
            "A": ("attack", "two real datasets: no analysis can be below", COLOURS[2], "lower"),
        }
        for letter, (name, what, colour, end) in about.items():
            if letter in self.mechanisms:
                ask = f"{letter}.epsilon({self._delta}, rtol={RTOL})", f"{letter}.delta({{eps}}, rtol={RTOL})"
                found.append(Line(name, what, colour, *ask, end))
        return tuple(found)

    def _closed_form(self, name: str, function: str, about: str, colour: str, with_delta: bool) -> Line:
        """A bound for every randomizer with this ε0; several rounds by basic composition, rounds × (ε, δ/rounds)."""
        bound, about = f"ss.bounds.{function}", f"closed form, {about}"
        if not self._many:
            delta = f"{bound}.delta({self._eps0}, {self._n}, {{eps}})" if with_delta else None
            return Line(name, about, colour, f"{bound}({self._eps0}, {self._n}, {self._delta})", delta, closed=True)
        share = f"sp.S({str(typed.number(self.settings.delta, 'delta'))!r}) / {self._rounds}"
        one = f"{bound}({self._eps0}, {self._n}, {share})"
        epsilon = f"ss.bounds.basic_composition({one}, {share}, {self._rounds})[0]"
        delta = f"min(1.0, {self._rounds} * {bound}.delta({self._eps0}, {self._n}, {{eps}} / {self._rounds}))"
        return Line(name, f"{about}, basic composition", colour, epsilon, delta if with_delta else None, closed=True)

    @cached_property
    def code(self) -> str:
        """Python that reproduces the table (``answers``) and the curves (``curves``) to the last digit."""
        answers = "".join(f"    {line.name!r}: {line.epsilon},\n" for line in self.lines if line.name in self.answers)
        curves = "".join(
            f"    {line.name!r}: [{line.delta.format(eps='eps')} for eps in grid],\n"
            for line in self.lines
            if line.name in self.curves and line.delta
        )
        return (
            f"import shuffle_sym as ss\nimport sympy as sp\n\n{self.definitions}\n\nanswers = {{\n{answers}}}\n"
            f"grid = {self.grid}\ncurves = {{\n{curves}}}\n"
        )

    # -- their values

    @cached_property
    def _asked(self) -> dict[str, Any]:
        """Name → ε at δ, or the refusal of a theorem that says nothing here."""
        found: dict[str, Any] = {}
        for line in self.lines:
            try:
                found[line.name] = _evaluated(self.definitions, line.epsilon)
            except ValueError as refusal:
                if not line.closed:
                    raise
                found[line.name] = refusal
        return found

    @property
    def answers(self) -> dict[str, Any]:
        """Name → ε at δ: an `Interval`, or a number for a closed form."""
        return {name: found for name, found in self._asked.items() if not isinstance(found, ValueError)}

    @cached_property
    def grid(self) -> list[float]:
        """Few ε, the same ones for settings that are near: what was computed is found again."""
        ends = [_end(found, "upper") for name, found in self.answers.items() if name in ("certified", "clones")]
        local = float(typed.number(self.settings.parameters["eps0"], "eps0")) * int(
            typed.number(self.settings.rounds, "rounds")
        )
        right = svg.nice_above(min(1.3 * max(ends, default=local), local) or 1.0)
        return [round(right * i / (_POINTS - 1), 9) for i in range(_POINTS)]

    @cached_property
    def curves(self) -> dict[str, list[Any]]:
        """Name → δ at every ε of the grid."""
        found: dict[str, list[Any]] = {}
        for line in self.lines:
            if line.delta is not None:
                with suppress(ValueError):
                    asked = (line.delta.format(eps=eps) for eps in self.grid)
                    found[line.name] = [_evaluated(self.definitions, expression) for expression in asked]
        return found

    # -- how it looks

    @property
    def chart(self) -> str:
        """The curves as SVG."""
        level = float(typed.number(self.settings.delta, "delta"))
        frame = svg.Frame(self.grid[-1], 10.0 ** (math.floor(math.log10(level)) - 3))
        drawn = []
        for line in self.lines:
            values = self.curves.get(line.name)
            if values is not None:
                end = "lower" if line.end == "lower" else "upper"
                lowers = [_end(v, "lower") for v in values] if line.end == "both" else None
                ends = [_end(v, end) for v in values]
                # The attack often lies on the bracket: a thin line on a broad one shows both.
                dash, width = "5 3" if line.closed else "", 7 if line.end == "both" else 2
                drawn.append(svg.Curve(line.name, line.colour, self.grid, ends, lowers, dash, width))
            elif line.name in self.answers:
                drawn.append(svg.Curve(line.name, line.colour, [_end(self.answers[line.name], "upper")], [level]))
        return svg.chart(frame, drawn, level, "central ε", "δ(ε)")

    @property
    def table(self) -> str:
        """ε at δ for every line, as HTML."""
        rows = "".join(
            f"<tr><td style='border-left:6px solid {line.colour};padding:4px 16px 4px 8px'>{escape(line.name)}</td>"
            f"<td style='text-align:right;padding-right:16px'>{escape(self._shown(line))}</td>"
            f"<td style='text-align:left'>{escape(line.about)}</td></tr>"
            for line in self.lines
        )
        head = (
            f"<tr><th></th><th>ε at δ = {escape(self.settings.delta)}</th><th style='text-align:left'>what it is</th>"
        )
        return f"<table>{head}</tr>{rows}</table>{self._note()}"

    def _shown(self, line: Line) -> str:
        found = self._asked[line.name]
        if isinstance(found, ValueError):
            return "says nothing here"
        if isinstance(found, Interval):
            lower, upper = str(found).strip("[]").split(", ")
            return {"both": f"{lower} … {upper}", "upper": f"≤ {upper}", "lower": f"≥ {lower}"}[line.end]
        return f"≤ {_up(found)}"

    def _note(self) -> str:
        if "M" in self.mechanisms:
            return ""
        return "<p>Several rounds of this randomizer itself take seconds and are not drawn; the clones hold for it.</p>"

    def _repr_html_(self) -> str:
        return f"{self.chart}{self.table}"


def _end(value: Any, end: str) -> float:
    return float(getattr(value, end)) if isinstance(value, Interval) else float(value)


def _up(value: float) -> str:
    return str(Interval(value, value)).strip("[]").split(", ")[1]


@lru_cache(maxsize=64)
def _namespace(definitions: str) -> dict[str, Any]:
    """What the lines define; with the same first line, R is the same object and remembers what it derived."""
    first, _, rest = definitions.partition("\n")
    names: dict[str, Any] = {**_namespace(first)} if rest else {"ss": shuffle_sym, "sp": sp}
    exec(rest or first, names)
    return names


@lru_cache(maxsize=4096)
def _evaluated(definitions: str, expression: str) -> Any:
    """The value of a line; both texts are written by `View` out of numbers that were read, never typed by anybody."""
    return eval(expression, _namespace(definitions))


# ------------------------------------------------------------------------------------------------------- widgets

_START = {"eps0": "4", "k": "10", "g": "4", "w": "4"}  # where a randomizer starts; sizes that are not named: 16
_SIZE = "16"


class App:
    """The widgets; ``controls`` holds them by name, ``view`` is what they show.

    A value that makes no sense is named in red and leaves the last picture where it was.

    >>> app = App(Settings(randomizer="binaryrr", parameters={"eps0": "1"}, n="1000"))
    >>> sorted(app.controls), list(app.parameters)
    (['delta', 'n', 'randomizer', 'rounds'], ['eps0'])
    """

    def __init__(self, settings: Settings | None = None) -> None:
        import ipywidgets

        self._widgets = ipywidgets
        first = settings or Settings()
        self.view = View(first)
        wide = {"description_width": "90px"}
        log = {"base": 10, "style": wide, "readout_format": ".1e"}
        self.controls: dict[str, Any] = {
            "randomizer": ipywidgets.Dropdown(
                options=live(), value=first.randomizer, description="randomizer", style=wide
            ),
            "n": ipywidgets.FloatLogSlider(float(first.n), min=1, max=9, step=0.05, description="users n", **log),
            "delta": ipywidgets.FloatLogSlider(float(first.delta), min=-12, max=-1, step=0.25, description="δ", **log),
            "rounds": ipywidgets.IntSlider(int(first.rounds), 1, 64, description="rounds", style=wide),
        }
        self.parameters: dict[str, Any] = {}
        self._fields = ipywidgets.VBox()
        self.chart, self.table, self.message = (ipywidgets.HTML() for _ in range(3))
        self.code = ipywidgets.Textarea(layout={"width": "100%", "height": "260px"})
        self.copy = ipywidgets.Accordion([self.code], titles=("copy as code",))
        left = [self.controls["randomizer"], self._fields]
        right = [self.controls[name] for name in ("n", "delta", "rounds")]
        head = ipywidgets.HBox([ipywidgets.VBox(left), ipywidgets.VBox(right)])
        self.box = ipywidgets.VBox([head, self.message, self.chart, self.table, self.copy])
        self._make_fields(first.parameters)
        self.controls["randomizer"].observe(lambda _: self._make_fields({}), "value")
        for name in ("n", "delta", "rounds"):
            self.controls[name].observe(self._update, "value")

    def _make_fields(self, values: Mapping[str, str]) -> None:
        """A slider for ε0 and a field for every size that this randomizer takes."""
        _, maker = catalogue.find(self.controls["randomizer"].value)
        self.parameters = {}
        for name in catalogue.parameters(maker):
            value = values.get(name) or _START.get(name, _SIZE)
            shared = {"description": "ε₀" if name == "eps0" else name, "style": {"description_width": "90px"}}
            if name == "eps0":
                made = self._widgets.FloatSlider(float(typed.number(value, name)), min=0.1, max=8, step=0.1, **shared)
            else:
                made = self._widgets.IntText(int(value), **shared)
            made.observe(self._update, "value")
            self.parameters[name] = made
        self._fields.children = list(self.parameters.values())
        self._update()

    @property
    def settings(self) -> Settings:
        """What the controls say, with as many digits as they show."""
        return Settings(
            self.controls["randomizer"].value,
            {name: f"{widget.value:.6g}" for name, widget in self.parameters.items()},
            str(int(float(f"{self.controls['n'].value:.3g}"))),
            f"{self.controls['delta'].value:.3g}",
            str(self.controls["rounds"].value),
        )

    def _update(self, _: Any = None) -> None:
        try:
            view = View(self.settings)
            chart, table, code = view.chart, view.table, view.code
        except (ValueError, TypeError) as refusal:
            self.message.value = f"<b style='color:#D55E00'>{escape(str(refusal))}</b>"
            return
        self.view, self.message.value = view, ""
        self.chart.value, self.table.value, self.code.value = chart, table, code

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.box)


def app(settings: Settings | None = None) -> App:
    """The explorer, to be shown in a notebook; needs ipywidgets.

    >>> explorer = app(Settings(randomizer="binaryrr", parameters={"eps0": "1"}, n="1000"))
    >>> explorer.controls["n"].value = 100.0
    >>> "n=100)" in explorer.code.value
    True
    """
    return App(settings)
