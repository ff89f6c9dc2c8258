r"""shuffle_sym: privacy amplification by shuffling, from a randomizer's definition to a certified number.

>>> import shuffle_sym as ss
>>> R = ss.KRR(k=10, eps0=4)
>>> ss.Shuffle(R, n=10_000).delta(0.2).upper < 7e-4
True

Here are the names that most people need. The rooms hold the rest: `ss.accounting.PrivacyProfile`, `ss.truth.exact`,
`ss.model.Decomposition`, `ss.protocols.Histogram`.
"""

import importlib
from typing import Any

from shuffle_sym import papers as papers
from shuffle_sym import protocols as protocols
from shuffle_sym.accounting import rdp
from shuffle_sym.accounting.budget import Budget, rounds_allowed
from shuffle_sym.accounting.fourier import FourierAccountant
from shuffle_sym.accounting.inverses import calibrate, users_needed
from shuffle_sym.accounting.rounds import compose
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.accounting.sweep import sweep
from shuffle_sym.algebra import VERSION
from shuffle_sym.algebra.errors import VerificationError
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.protocols import empirical
from shuffle_sym.randomizers import (
    BLH,
    KRR,
    OLH,
    OUE,
    RAPPOR,
    AnyRandomizer,
    BinaryRR,
    Gaussian,
    HadamardResponse,
    Joint,
    Laplace,
    Parallel,
    Sampled,
    SubsetSelection,
    from_density,
    from_matrix,
)
from shuffle_sym.truth import ground_truth

__version__ = VERSION

__all__ = [
    "BLH", "KRR", "OLH", "OUE", "RAPPOR", "AnyRandomizer", "BinaryRR", "Budget", "FourierAccountant", "Gaussian",
    "HadamardResponse", "Interval", "Joint", "Laplace", "Parallel", "Randomizer", "Sampled", "Shuffle",
    "SubsetSelection", "VerificationError", "audit", "bounds", "calibrate", "compose", "decomposition",
    "derivations", "empirical", "from_density", "from_matrix", "ground_truth", "parameter", "rdp", "rounds_allowed",
    "sweep", "users_needed",
]  # fmt: skip


#: Imported when they are asked for: the claims of the audit would take as long as much of the rest.
_LATER = {"audit": "shuffle_sym.papers.audit", "apps": "shuffle_sym.apps"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(_LATER[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
