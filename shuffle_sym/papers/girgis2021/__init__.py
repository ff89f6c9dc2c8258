r"""Girgis, Data, Diggavi, Suresh and Kairouz 2021, On the Rényi differential privacy of the shuffle model."""

from shuffle_sym.papers.girgis2021 import bounds, curves, lower, mixtures, moments, simplified, upper, worst
from shuffle_sym.papers.registry import shown

TITLE = "Girgis et al. 2021"

__all__ = ["TITLE", "bounds", "curves", "lower", "mixtures", "moments", "simplified", "upper", "worst"]

__getattr__, __dir__ = shown(__name__)
