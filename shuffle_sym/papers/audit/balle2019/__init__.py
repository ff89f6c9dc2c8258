r"""Claims of Balle et al. 2019, section by section."""

from shuffle_sym.papers.audit.balle2019 import section_3, section_4, section_5_blanket, section_5_bounds, section_6
from shuffle_sym.papers.audit.balle2019.paper import PAPER

__all__ = ["PAPER", "section_3", "section_4", "section_5_blanket", "section_5_bounds", "section_6"]
