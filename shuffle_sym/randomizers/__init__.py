"""The catalogue of local randomizers: definitions only."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later
from shuffle_sym.randomizers.composed import Joint, Parallel, Sampled
from shuffle_sym.randomizers.density import from_density
from shuffle_sym.randomizers.family import AnyRandomizer
from shuffle_sym.randomizers.matching import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    BinaryRR,
    BlockHadamard,
    HadamardResponse,
    SubsetSelection,
)
from shuffle_sym.randomizers.matrix import DiscreteLaplace, from_matrix
from shuffle_sym.randomizers.noise import (
    AsymmetricLaplace,
    ClippedGaussian,
    DuchiMechanism,
    Gaussian,
    HybridMechanism,
    Laplace,
    Logistic,
    PiecewiseMechanism,
    Staircase,
    TruncatedLaplace,
)

__all__ = [
    "BLH", "KRR", "OLH", "OUE", "RAPPOR", "AnyRandomizer", "AsymmetricLaplace", "BinaryRR", "BlockHadamard",
    "ClippedGaussian", "DiscreteLaplace", "DuchiMechanism", "Gaussian", "HadamardResponse", "HybridMechanism",
    "Joint", "Laplace", "Logistic", "Parallel", "PiecewiseMechanism", "Sampled", "Staircase", "SubsetSelection",
    "TruncatedLaplace", "from_density", "from_matrix",
]  # fmt: skip

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
