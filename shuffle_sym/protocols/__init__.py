r"""Protocols that can be run: a local randomizer, a shuffler and an analyzer, with parameters that meet a target."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later
from shuffle_sym.protocols.calibration import smallest_gamma
from shuffle_sym.protocols.data import Estimate, shuffle
from shuffle_sym.protocols.frequencies import Frequencies, Histogram
from shuffle_sym.protocols.summation import Sum

__all__ = ["Estimate", "Frequencies", "Histogram", "Sum", "shuffle", "smallest_gamma"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
