r"""Protocols that can be run: local randomizer, shuffler, analyzer, with parameters that meet a target."""

from shuffle_sym.protocols.calibration import smallest_gamma
from shuffle_sym.protocols.data import Estimate, shuffle
from shuffle_sym.protocols.frequencies import Frequencies, Histogram
from shuffle_sym.protocols.summation import Sum

__all__ = ["Estimate", "Frequencies", "Histogram", "Sum", "shuffle", "smallest_gamma"]
