r"""Ways to see answers: the command line, plots, the explorer. `ss.apps.plots` needs matplotlib,
`ss.apps.explorer` also needs ipywidgets."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
