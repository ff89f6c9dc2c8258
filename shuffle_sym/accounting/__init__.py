r"""Questions: δ(ε) and ε(δ) of shuffled messages, profiles, rounds, Rényi divergences, attacks, inverses."""

from typing import TYPE_CHECKING

from shuffle_sym.accounting.analyses import Analyses, Analysis
from shuffle_sym.accounting.attacks import Neighbours
from shuffle_sym.accounting.cell_pld import CellPLD, CompiledPLD
from shuffle_sym.accounting.pld import PairPLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.risk import Risk
from shuffle_sym.accounting.rounds import Composition
from shuffle_sym.accounting.stated import StatedMechanism
from shuffle_sym.algebra.names import later

__all__ = [
    "Analyses",
    "Analysis",
    "CellPLD",
    "CompiledPLD",
    "Composition",
    "Neighbours",
    "PairPLD",
    "PrivacyLossDistribution",
    "PrivacyProfile",
    "Risk",
    "ShuffledPLD",
    "StatedMechanism",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
