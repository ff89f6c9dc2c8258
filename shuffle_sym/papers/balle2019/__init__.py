r"""Balle, Bell, Gascón and Nissim 2019, The privacy blanket of the shuffle model."""

from shuffle_sym.papers.balle2019 import (
    blanket,
    bounds,
    histogram,
    laplace,
    lower,
    moments,
    protocols,
    reduction,
    tails,
)
from shuffle_sym.papers.registry import shown

TITLE = "Balle et al. 2019"

__all__ = ["TITLE", "blanket", "bounds", "histogram", "laplace", "lower", "moments", "protocols", "reduction", "tails"]

__getattr__, __dir__ = shown(__name__)
