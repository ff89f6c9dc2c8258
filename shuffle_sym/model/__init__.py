r"""The objects that are analysed: randomizers, decompositions (a, b, c), and the random variable G."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Randomizer

__all__ = ["Decomposition", "Randomizer", "decomposition"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
