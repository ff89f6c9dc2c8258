r"""Su et al. 2025, A unified framework and efficient computation for privacy amplification via shuffling."""

from shuffle_sym.papers.registry import shown
from shuffle_sym.papers.su2025.algorithm4 import algorithm4
from shuffle_sym.papers.su2025.printed import compare
from shuffle_sym.papers.su2025.tables import five_components, gparv_table

TITLE = "Su et al. 2025"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("compositions", "decompositions", "gparv", "laplace", "printed", "tables")

__all__ = ["TITLE", *MODULES, "algorithm4", "compare", "five_components", "gparv_table"]

__getattr__, __dir__ = shown(__name__)
