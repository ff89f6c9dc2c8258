r"""The explorer: sliders over live curves, a table of the numbers, and the lines of Python that reproduce them.

What is on the screen *is* what the lines say. `app` puts widgets around a `View`; everything else works without them.
"""

from shuffle_sym.apps.explorer.drawing import exported
from shuffle_sym.apps.explorer.expressions import live
from shuffle_sym.apps.explorer.views import LATE, ROUNDS_RTOL, RTOL, Line, Settings, View, late
from shuffle_sym.apps.explorer.widgets import App, app

__all__ = ["LATE", "ROUNDS_RTOL", "RTOL", "App", "Line", "Settings", "View", "app", "exported", "late", "live"]
