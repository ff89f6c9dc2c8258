"""The catalogue of local randomizers: definitions only, one file each."""

from shuffle_sym.randomizers.krr import KRR, BinaryRR
from shuffle_sym.randomizers.matrix import from_matrix

__all__ = ["KRR", "BinaryRR", "from_matrix"]
