r"""The derivations of all papers, by name: what they state, step by step, each step checked by SymPy when it is built.

>>> import shuffle_sym as ss
>>> ss.derivations.lemma11().proved
True
"""

from shuffle_sym.papers.derivation import Derivation, Step
from shuffle_sym.papers.registry import DERIVATIONS, shown
from shuffle_sym.papers.su2025.gparv import gparv_table
from shuffle_sym.papers.su2025.printed import compare

#: Every derivation that needs no argument, by name.
ALL = DERIVATIONS

__all__ = ["ALL", "Derivation", "Step", "compare", "gparv_table", *ALL]

__getattr__, __dir__ = shown(__name__, ALL)
