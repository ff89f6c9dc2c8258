r"""Formulas, exact numbers, intervals and arguments: what every other room is written in."""

VERSION = "0.1.0"  # of the package, said in what it saves
