r"""Sliders and fields around a `View`; the only file of ours that needs ipywidgets, and only when it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from html import escape
from typing import Any

from shuffle_sym.algebra import texts
from shuffle_sym.apps import catalogue
from shuffle_sym.apps.explorer.views import LATE, Settings, View, live

_REST = 0.05  # seconds without a move: then the sliders have come to rest
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
        self._waiting: asyncio.TimerHandle | None = None
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
                made = self._widgets.FloatSlider(float(texts.read(value, name)), min=0.1, max=8, step=0.1, **shared)
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
        """What is fast at once; what is not when the sliders rest, which only a kernel can wait for."""
        if self._waiting is not None:
            self._waiting.cancel()
        several = self.controls["rounds"].value > 1
        if not self._show(LATE if several else ()) or not several:
            return
        try:
            self._waiting = asyncio.get_running_loop().call_later(_REST, self._show)
        except RuntimeError:
            self._show()

    def _show(self, skip: Collection[str] = ()) -> bool:
        try:
            view = View(self.settings, skip)
            chart, table, code = view.chart, view.table, view.code
        except (ValueError, TypeError) as refusal:
            self.message.value = f"<b style='color:#D55E00'>{escape(str(refusal))}</b>"
            return False
        self.view, self.message.value = view, ""
        self.chart.value, self.table.value, self.code.value = chart, table, code
        return True

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
