r"""Su et al. 2025, A unified framework and efficient computation for privacy amplification via shuffling."""

from shuffle_sym.papers.registry import shown
from shuffle_sym.papers.su2025 import decompositions, gparv, printed
from shuffle_sym.papers.su2025.algorithm4 import algorithm4
from shuffle_sym.papers.su2025.gparv import gparv_table
from shuffle_sym.papers.su2025.printed import compare

TITLE = "Su et al. 2025"

__all__ = ["TITLE", "algorithm4", "compare", "decompositions", "gparv", "gparv_table", "printed"]

__getattr__, __dir__ = shown(__name__)
