r"""Balle, Bell, Gascón and Nissim 2019, The privacy blanket of the shuffle model."""

from shuffle_sym.papers.registry import shown

TITLE = "Balle et al. 2019"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("blanket", "bounds", "lower", "moments", "protocols", "reduction", "tails")

__all__ = ["TITLE", *MODULES]

__getattr__, __dir__ = shown(__name__)
