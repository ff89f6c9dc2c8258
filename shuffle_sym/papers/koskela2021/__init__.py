r"""Koskela, Heikkilä and Honkela 2021, Tight accounting in the shuffle model of differential privacy."""

from shuffle_sym.papers.koskela2021 import clones, definitions, printed, views
from shuffle_sym.papers.registry import shown

TITLE = "Koskela et al. 2021"

__all__ = ["TITLE", "clones", "definitions", "printed", "views"]

__getattr__, __dir__ = shown(__name__)
