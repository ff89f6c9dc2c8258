r"""What goes beyond the papers: orders between analyses, the drop-out bound, and what the contour method rests on."""

from shuffle_sym.papers.ours import (
    any_randomizer,
    cube,
    dropout,
    noise,
    noise_pairs,
    orders,
    rare,
    sampling,
    smooth_pairs,
    smoothing,
)
from shuffle_sym.papers.registry import shown

TITLE = "this package"

__all__ = [
    "TITLE",
    "any_randomizer",
    "cube",
    "dropout",
    "noise",
    "noise_pairs",
    "orders",
    "rare",
    "sampling",
    "smooth_pairs",
    "smoothing",
]

__getattr__, __dir__ = shown(__name__)
