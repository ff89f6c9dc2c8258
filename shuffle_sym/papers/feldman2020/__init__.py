r"""Feldman, McMillan and Talwar 2020, Hiding among the clones."""

from shuffle_sym.papers.feldman2020.bounds import thm31_formula
from shuffle_sym.papers.feldman2020.numerical import numerical_delta, numerical_epsilon
from shuffle_sym.papers.registry import shown

TITLE = "Feldman et al. 2020"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("bounds", "numerical")

__all__ = ["TITLE", *MODULES, "numerical_delta", "numerical_epsilon", "thm31_formula"]

__getattr__, __dir__ = shown(__name__)
