r"""How a derivation is written: chains of lines that are shown while they are written down."""

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import (
    at_least,
    at_most,
    cases,
    chain,
    claim,
    equals,
    growing,
    on_grid,
    parts,
    telescoping,
)
from shuffle_sym.papers.engine.derivation import Blocks, Derivation, cite, derivation
from shuffle_sym.papers.engine.facts import given, law, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Least, Mean, Positive, Random, quantity

__all__ = [
    "Blocks", "Derivation", "Divergence", "Least", "Mean", "Positive", "Random", "at_least", "at_most", "cases",
    "chain", "cite", "claim", "derivation", "equals", "given", "growing", "law", "on_grid", "parts", "quantity",
    "suppose", "telescoping", "theorems",
]  # fmt: skip
