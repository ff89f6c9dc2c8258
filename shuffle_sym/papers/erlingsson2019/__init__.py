r"""Erlingsson, Feldman, Mironov, Raghunathan, Talwar and Thakurta 2019, Amplification by shuffling."""

from shuffle_sym.papers.registry import shown

TITLE = "Erlingsson et al. 2019"

#: What is written here, imported when somebody asks for a derivation or a closed form.
MODULES = ("bounds",)

__all__ = ["TITLE", *MODULES]

__getattr__, __dir__ = shown(__name__)
