r"""Su et al. 2025, A unified framework and efficient computation for privacy amplification via shuffling."""

from shuffle_sym.papers.registry import shown
from shuffle_sym.papers.su2025 import compositions, decompositions, gparv, laplace, maps, printed, tables
from shuffle_sym.papers.su2025.algorithm4 import algorithm4
from shuffle_sym.papers.su2025.printed import compare
from shuffle_sym.papers.su2025.tables import five_components, gparv_table

TITLE = "Su et al. 2025"

__all__ = [
    "TITLE", "algorithm4", "compare", "compositions", "decompositions", "five_components", "gparv", "gparv_table",
    "laplace", "maps", "printed", "tables",
]  # fmt: skip

__getattr__, __dir__ = shown(__name__)
