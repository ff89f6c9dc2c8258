r"""shuffle_sym: privacy amplification by shuffling, from a randomizer's definition to a certified number.

>>> import shuffle_sym as ss
>>> R = ss.KRR(k=10, eps0=4)
>>> ss.Shuffle(R, n=10_000).delta(0.2).upper < 7e-4
True
"""

import importlib
from typing import Any

from shuffle_sym import protocols
from shuffle_sym.accounting import rdp
from shuffle_sym.accounting.attacks import Sandwich, sandwich
from shuffle_sym.accounting.fourier import FourierAccountant
from shuffle_sym.accounting.inverses import calibrate, users_needed
from shuffle_sym.accounting.pld import PairPLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.rounds import Composition, compose
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.sweep import sweep
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    BinaryRR,
    Gaussian,
    HadamardResponse,
    Joint,
    Laplace,
    Parallel,
    SubsetSelection,
    from_matrix,
)
from shuffle_sym.truth import exact, ground_truth, neighbours

__version__ = "0.1.0"

__all__ = [
    "BLH",
    "KRR",
    "OLH",
    "OUE",
    "RAPPOR",
    "BinaryRR",
    "Composition",
    "Decomposition",
    "FourierAccountant",
    "Gaussian",
    "HadamardResponse",
    "Interval",
    "Joint",
    "Laplace",
    "PairPLD",
    "Parallel",
    "PrivacyLossDistribution",
    "PrivacyProfile",
    "Randomizer",
    "Sandwich",
    "Shuffle",
    "ShuffledPLD",
    "SubsetSelection",
    "VerificationError",
    "audit",
    "bounds",
    "calibrate",
    "compose",
    "decomposition",
    "derivations",
    "exact",
    "from_matrix",
    "ground_truth",
    "neighbours",
    "protocols",
    "rdp",
    "sandwich",
    "sweep",
    "users_needed",
]


def __getattr__(name: str) -> Any:
    """The audit is imported when it is asked for: its claims would take as long as much of the rest."""
    if name == "audit":
        return importlib.import_module("shuffle_sym.papers.audit")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
