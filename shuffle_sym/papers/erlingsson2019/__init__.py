r"""Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, Amplification by shuffling."""

from shuffle_sym.papers.erlingsson2019 import bounds
from shuffle_sym.papers.registry import shown

TITLE = "Erlingsson et al. 2019"

__all__ = ["TITLE", "bounds"]

__getattr__, __dir__ = shown(__name__)
