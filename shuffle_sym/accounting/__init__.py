r"""The questions: δ(ε) and ε(δ) of shuffled messages, profiles, rounds, Rényi divergences, attacks, inverses."""

from shuffle_sym.accounting.attacks import Sandwich
from shuffle_sym.accounting.pld import PairPLD, PrivacyLossDistribution, ShuffledPLD
from shuffle_sym.accounting.profile import PrivacyProfile
from shuffle_sym.accounting.rounds import Composition

__all__ = ["Composition", "PairPLD", "PrivacyLossDistribution", "PrivacyProfile", "Sandwich", "ShuffledPLD"]
