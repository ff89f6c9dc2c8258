r"""Formulas, exact numbers, intervals and arguments: the language in which every other room is written."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later

VERSION = "0.1.0"  # of the package, said in what it saves

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
