r"""shuffle_sym: privacy amplification by shuffling, from a randomizer's definition to a certified number.

>>> import shuffle_sym as ss
>>> R = ss.KRR(k=10, eps0=4)
>>> ss.Shuffle(R, n=10_000).delta(0.2).upper < 7e-4
True

Here are the names that most people need. Everything else is in the subpackages: `ss.accounting.PrivacyProfile`,
`ss.truth.exact`, `ss.model.Decomposition`, `ss.protocols.Histogram`. A name is imported when somebody asks for it.
"""

from typing import TYPE_CHECKING

from shuffle_sym.algebra import VERSION
from shuffle_sym.algebra.names import later

__version__ = VERSION

#: Module → the public names that are imported from it. Type checkers read the same below.
_NAMES = {
    "accounting": ("rdp",),
    "accounting.budget": ("Budget", "rounds_allowed"),
    "accounting.fourier": ("FourierAccountant",),
    "accounting.inverses": ("calibrate", "users_needed"),
    "accounting.rounds": ("compose",),
    "accounting.shuffle": ("Shuffle",),
    "accounting.sweep": ("sweep",),
    "algebra.errors": ("VerificationError",),
    "algebra.interval": ("Interval",),
    "algebra.symbols": ("parameter",),
    "model": ("decomposition",),
    "model.randomizer": ("Randomizer",),
    "papers": ("audit", "bounds", "derivations"),
    "protocols": ("empirical",),
    "randomizers": (
        "BLH", "KRR", "OLH", "OUE", "RAPPOR", "AnyRandomizer", "BinaryRR", "Gaussian", "HadamardResponse", "Joint",
        "Laplace", "Parallel", "Sampled", "SubsetSelection", "from_density", "from_matrix",
    ),
    "truth": ("ground_truth",),
}  # fmt: skip
_HOMES = {name: f"{__name__}.{home}" for home, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from shuffle_sym import accounting as accounting
    from shuffle_sym import algebra as algebra
    from shuffle_sym import apps as apps
    from shuffle_sym import model as model
    from shuffle_sym import numeric as numeric
    from shuffle_sym import papers as papers
    from shuffle_sym import protocols as protocols
    from shuffle_sym import randomizers as randomizers
    from shuffle_sym import truth as truth
    from shuffle_sym.accounting import rdp as rdp
    from shuffle_sym.accounting.budget import Budget as Budget
    from shuffle_sym.accounting.budget import rounds_allowed as rounds_allowed
    from shuffle_sym.accounting.fourier import FourierAccountant as FourierAccountant
    from shuffle_sym.accounting.inverses import calibrate as calibrate
    from shuffle_sym.accounting.inverses import users_needed as users_needed
    from shuffle_sym.accounting.rounds import compose as compose
    from shuffle_sym.accounting.shuffle import Shuffle as Shuffle
    from shuffle_sym.accounting.sweep import sweep as sweep
    from shuffle_sym.algebra.errors import VerificationError as VerificationError
    from shuffle_sym.algebra.interval import Interval as Interval
    from shuffle_sym.algebra.symbols import parameter as parameter
    from shuffle_sym.model import decomposition as decomposition
    from shuffle_sym.model.randomizer import Randomizer as Randomizer
    from shuffle_sym.papers import audit as audit
    from shuffle_sym.papers import bounds as bounds
    from shuffle_sym.papers import derivations as derivations
    from shuffle_sym.protocols import empirical as empirical
    from shuffle_sym.randomizers import BLH as BLH
    from shuffle_sym.randomizers import KRR as KRR
    from shuffle_sym.randomizers import OLH as OLH
    from shuffle_sym.randomizers import OUE as OUE
    from shuffle_sym.randomizers import RAPPOR as RAPPOR
    from shuffle_sym.randomizers import AnyRandomizer as AnyRandomizer
    from shuffle_sym.randomizers import BinaryRR as BinaryRR
    from shuffle_sym.randomizers import Gaussian as Gaussian
    from shuffle_sym.randomizers import HadamardResponse as HadamardResponse
    from shuffle_sym.randomizers import Joint as Joint
    from shuffle_sym.randomizers import Laplace as Laplace
    from shuffle_sym.randomizers import Parallel as Parallel
    from shuffle_sym.randomizers import Sampled as Sampled
    from shuffle_sym.randomizers import SubsetSelection as SubsetSelection
    from shuffle_sym.randomizers import from_density as from_density
    from shuffle_sym.randomizers import from_matrix as from_matrix
    from shuffle_sym.truth import ground_truth as ground_truth
else:
    __getattr__, __dir__ = later(__name__, **_HOMES)
