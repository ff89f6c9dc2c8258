r"""Girgis, Data, Diggavi, Suresh and Kairouz 2021, On the Rényi differential privacy of the shuffle model."""

from shuffle_sym.papers.registry import shown

TITLE = "Girgis et al. 2021"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("bounds", "curves", "lower", "mixtures", "moments", "upper")

__all__ = ["TITLE", *MODULES]

__getattr__, __dir__ = shown(__name__)
