r"""What is analysed: randomizers, decompositions (a, b, c), and the random variable G."""

from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Randomizer

__all__ = ["Decomposition", "Randomizer", "decomposition"]
