r"""What goes beyond the papers: orders between analyses, the drop-out bound, and what the contour method rests on."""

from shuffle_sym.papers.registry import shown

TITLE = "this package"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = (
    "cube",
    "dropout",
    "noise",
    "orders",
    "rare",
    "sampling",
    "smooth_pairs",
    "smoothing",
)

__all__ = ["TITLE", *MODULES]

__getattr__, __dir__ = shown(__name__)
