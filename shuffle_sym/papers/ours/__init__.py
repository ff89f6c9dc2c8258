r"""What goes beyond the papers: orders between analyses, and what the contour method rests on."""

from shuffle_sym.papers.ours import orders, smoothing
from shuffle_sym.papers.registry import shown

TITLE = "this package"

__all__ = ["TITLE", "orders", "smoothing"]

__getattr__, __dir__ = shown(__name__)
