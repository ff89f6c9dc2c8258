r"""What people see: the command line, plots, the explorer, charts."""

import importlib
from typing import Any

#: Imported when they are asked for: `ss.apps.plots` needs matplotlib, `ss.apps.explorer` ipywidgets.
_LATER = ("catalogue", "cli", "explorer", "numbers", "plots", "svg")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
