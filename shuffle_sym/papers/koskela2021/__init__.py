r"""Koskela, Heikkilä and Honkela 2021, Tight accounting in the shuffle model of differential privacy."""

from shuffle_sym.papers.registry import shown

TITLE = "Koskela et al. 2021"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("clones", "definitions", "printed", "rounds", "views")

__all__ = ["TITLE", *MODULES]

__getattr__, __dir__ = shown(__name__)
