r"""Koskela, Heikkilä and Honkela 2021, Tight accounting in the shuffle model of differential privacy."""

from shuffle_sym.papers.koskela2021 import cells, clone_order, clones, definitions, printed, rounds, views
from shuffle_sym.papers.registry import shown

TITLE = "Koskela et al. 2021"

__all__ = ["TITLE", "cells", "clone_order", "clones", "definitions", "printed", "rounds", "views"]

__getattr__, __dir__ = shown(__name__)
