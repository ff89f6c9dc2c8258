r"""Feldman, McMillan and Talwar 2020, Hiding among the clones."""

from shuffle_sym.papers.feldman2020 import bounds
from shuffle_sym.papers.registry import shown

TITLE = "Feldman et al. 2020"

__all__ = ["TITLE", "bounds"]

__getattr__, __dir__ = shown(__name__)
