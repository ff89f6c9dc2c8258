r"""Sliders and fields around a `View`; the only file of ours that needs ipywidgets, and only when it is used."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from shuffle_sym.algebra import texts
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.explorer.drawing import exported
from shuffle_sym.apps.explorer.expressions import TYPED, live
from shuffle_sym.apps.explorer.views import CHARTS, Settings, View, late

_REST = 0.05  # seconds without a move: then the sliders have come to rest
#: Where a randomizer starts; sizes that are not named: 16.
_START = {"eps0": "4", "sigma": "1", "left": "1", "right": "2", "k": "10", "g": "4", "w": "4"}
_SIZE = "16"
#: Sliders: what they are called and where they begin (less noise than that takes seconds).
_SLIDERS = {"eps0": ("ε₀", 0.1), "sigma": ("σ", 0.8), "left": ("left", 0.1), "right": ("right", 0.1)}
#: Of the lines that are left open, which comes first.
_ORDER = ("certified", "other", "Feldman", "Bennett", "blanket", "clones", "shared")
_WIDE = {"style": {"description_width": "90px"}, "layout": {"width": "96%"}}


class App:
    """The widgets, at first with ``settings``; ``controls`` holds them by name, ``view`` is what they show.

    A value that makes no sense is named in red and leaves the last picture where it was.

    >>> app = App(Settings(randomizer="binaryrr", parameters={"eps0": "1"}, n="1000"))
    >>> sorted(app.controls), list(app.parameters)
    (['delta', 'n', 'other', 'over', 'q', 'randomizer', 'rounds', 'share'], ['eps0'])
    >>> app.controls["n"].value = 100.0
    >>> "n=100)" in app.code.value
    True
    """

    def __init__(self, settings: Settings | None = None) -> None:
        import ipywidgets

        self._widgets = ipywidgets
        first = settings or Settings()
        self.view = View(first)
        self._waiting: asyncio.TimerHandle | None = None
        self.controls = self._controls(first)
        self._fields: dict[str, dict[str, Any]] = {"randomizer": {}, "other": {}}
        self._boxes = {which: ipywidgets.VBox() for which in self._fields}
        self.chart, self.table, self.message, self.links = (ipywidgets.HTML() for _ in range(4))
        self.code = ipywidgets.Textarea(layout={"width": "100%", "height": "260px"})
        self.copy = ipywidgets.Accordion([self.code], titles=("copy as code",))
        self.export = ipywidgets.Button(description="export", tooltip="the chart as SVG and PDF, the numbers as CSV")
        self.export.on_click(lambda _: self._link())
        left = [box for which in self._fields for box in (self.controls[which], self._boxes[which])]
        right = [self.controls[name] for name in ("n", "delta", "rounds", "q", "share")]
        head = ipywidgets.HBox([ipywidgets.VBox(side, layout={"width": "50%"}) for side in (left, right)])
        ways_out = ipywidgets.HBox([self.export, self.links])
        shown = [head, self.controls["over"], self.message, self.chart, self.table, ways_out, self.copy]
        self.box = ipywidgets.VBox(shown)
        self._make_fields("randomizer", first.parameters)
        self._make_fields("other", first.other_parameters)
        self._update()
        self.controls["randomizer"].observe(lambda _: self._make_fields("randomizer", {}), "value")
        self.controls["other"].observe(lambda _: self._make_fields("other", {}), "value")
        for control in self.controls.values():  # the new fields of a randomizer are there before it is shown
            control.observe(self._update, "value")

    def _controls(self, first: Settings) -> dict[str, Any]:
        make = self._widgets
        log = {"base": 10, "readout_format": ".1e", **_WIDE}
        charts = [(title, name) for name, title in CHARTS.items()]
        others = [("none", ""), *((name, name) for name in live())]
        return {
            "over": make.ToggleButtons(options=charts, value=first.over, style={"button_width": "auto"}),
            "randomizer": make.Dropdown(options=live(), value=first.randomizer, description="randomizer", **_WIDE),
            "other": make.Dropdown(options=others, value=first.other, description="compare with", **_WIDE),
            "share": make.FloatSlider(float(first.share), min=0, max=0.95, step=0.05, description="mix in", **_WIDE),
            "q": make.FloatSlider(float(first.q), min=0.05, max=1, step=0.05, description="participation", **_WIDE),
            "n": make.FloatLogSlider(float(first.n), min=1, max=9, step=0.05, description="users n", **log),
            "delta": make.FloatLogSlider(float(first.delta), min=-12, max=-1, step=0.25, description="δ", **log),
            "rounds": make.IntSlider(int(first.rounds), 1, 64, description="rounds", **_WIDE),
        }

    def _make_fields(self, which: str, values: Mapping[str, str]) -> None:
        self._fields[which] = self._fields_of(self.controls[which].value, values)
        self._boxes[which].children = list(self._fields[which].values())

    def _fields_of(self, randomizer: str, values: Mapping[str, str]) -> dict[str, Any]:
        """A slider for ε0 or σ, and a field for everything else that this randomizer takes."""
        fields: dict[str, Any] = {}
        known = catalogue.parameters(catalogue.find(randomizer)[1]) if randomizer not in ("", *TYPED) else ()
        for name in TYPED.get(randomizer, known):
            value = values.get(name) or TYPED.get(randomizer, _START).get(name, _SIZE)
            if randomizer in TYPED:
                made = self._widgets.Text(value, description=name, continuous_update=False, **_WIDE)
            elif name in _SLIDERS:
                title, least = _SLIDERS[name]
                now = float(texts.read(value, name))
                made = self._widgets.FloatSlider(now, min=least, max=8, step=0.1, description=title, **_WIDE)
            else:
                made = self._widgets.IntText(int(value), description=name, **_WIDE)
            made.observe(self._update, "value")
            fields[name] = made
        return fields

    parameters = property(lambda self: self._fields["randomizer"])
    other_parameters = property(lambda self: self._fields["other"])

    @property
    def settings(self) -> Settings:
        """What the controls say, with as many digits as they show."""
        said: dict[str, Any] = {name: _text(widget.value) for name, widget in self.controls.items()}
        n, delta = (f"{self.controls[name].value:.3g}" for name in ("n", "delta"))
        said |= {"n": str(int(float(n))), "delta": delta}
        mine, others = ({name: _text(x.value) for name, x in own.items()} for own in self._fields.values())
        return Settings(**said, parameters=mine, other_parameters=others)

    def _update(self, _: Any = None) -> None:
        """What is fast at once; what is not when the sliders rest, which only a kernel can wait for."""
        if self._waiting is not None:
            self._waiting.cancel()
        self.controls["share"].disabled = not self.controls["other"].value
        self._add(late(self.settings), _REST)

    def _add(self, left_open: Collection[str], pause: float = 0.01) -> None:
        """Show all lines but those left open, then add these one at a time; a slider moved meanwhile stops the rest."""
        if not self._show(left_open) or not left_open:
            return
        fewer = sorted({line.name for line in self.view.lines} & {*left_open}, key=_ORDER.index)[1:]
        try:
            self._waiting = asyncio.get_running_loop().call_later(pause, self._add, fewer)
        except RuntimeError:
            self._show()

    def _show(self, skip: Collection[str] = ()) -> bool:
        try:
            view = View(self.settings, skip)
            chart, table, code = view.chart, view.table, view.code
        except (ValueError, TypeError) as refusal:
            self.message.value = f"<b style='color:#D55E00'>{escape(str(refusal))}</b>"
            return False
        self.view, self.message.value, self.links.value = view, "", ""
        self.chart.value, self.table.value, self.code.value = chart, table, code
        return True

    def _link(self) -> None:
        """Files to download, made when they are asked for."""
        self.links.value = ""
        for kind in ("svg", "pdf", "csv"):
            data = f"data:application/octet-stream;base64,{base64.b64encode(exported(self.view, kind)).decode()}"
            self.links.value += f"<a download='explorer.{kind}' href='{data}'>explorer.{kind}</a>&emsp;"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        # A notebook that has not run yet shows the chart and the table.
        display(
            {
                **self.box._repr_mimebundle_(),
                "text/html": View(self.settings)._repr_html_(),
                "text/plain": repr(self.view),
            },
            raw=True,
        )


def _text(value: Any) -> str:
    """A number with six digits; texts as they are."""
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


app = App
