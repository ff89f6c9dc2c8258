r"""The tables of all that the folders of the papers hold: to import this module is to import every one of them."""

from shuffle_sym.papers import FOLDERS
from shuffle_sym.papers.registry import BOUNDS, DERIVATIONS, contents

__all__ = ["BOUNDS", "DERIVATIONS"]

for _folder in sorted(FOLDERS):
    contents(_folder)
