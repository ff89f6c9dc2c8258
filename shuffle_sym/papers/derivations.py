r"""The derivations of all papers, by name: what they state, line by line, each line shown when it is built.

>>> import shuffle_sym as ss
>>> ss.derivations.lemma11().proved
True
"""

from shuffle_sym.papers import everything
from shuffle_sym.papers.engine import Derivation
from shuffle_sym.papers.registry import shown
from shuffle_sym.papers.su2025.printed import compare
from shuffle_sym.papers.su2025.tables import gparv_table

#: Every derivation that needs no argument, by name.
ALL = everything.DERIVATIONS

__all__ = ["ALL", "Derivation", "compare", "gparv_table", *ALL]

__getattr__, __dir__ = shown(__name__, ALL)
