r"""Formulas, exact numbers, intervals and arguments: what every other room is written in."""
