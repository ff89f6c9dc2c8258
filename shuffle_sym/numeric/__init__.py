r"""Accountants: arrays of doubles in, certified intervals out. No SymPy object reaches this room."""

from typing import TYPE_CHECKING

from shuffle_sym.algebra.names import later

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
