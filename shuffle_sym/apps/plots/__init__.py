r"""Plots of certified curves: a band from the lower to the upper end, and the upper end as the line to report."""

from shuffle_sym.apps.plots.curves import (
    band,
    bracket,
    closed_forms,
    closing_bracket,
    cost_curves,
    curves,
    delta_curves,
    discretisation_gap,
    epsilon_curves,
    grid_widths,
    profile,
    renyi_gap,
    rounds_curves,
    spaced,
    steps,
    trade_off,
    where_it_holds,
)
from shuffle_sym.apps.plots.pictures import analyses, empty_chair, worst_kinds
from shuffle_sym.apps.plots.style import (
    COLOURS,
    axes,
    close,
    legend_below,
    name_at_end,
    name_lines,
    panel_grid,
    panels,
    power,
)

__all__ = [
    "COLOURS", "analyses", "axes", "band", "bracket", "close", "closed_forms", "closing_bracket", "cost_curves",
    "curves", "delta_curves", "discretisation_gap", "empty_chair", "epsilon_curves", "grid_widths", "legend_below",
    "name_at_end", "name_lines", "panel_grid", "panels", "power", "profile", "renyi_gap", "rounds_curves", "spaced",
    "steps", "trade_off", "where_it_holds", "worst_kinds",
]  # fmt: skip
