r"""Claims of Girgis et al. 2021: upper bounds, lower bounds, what their proofs use, and the figures."""

from shuffle_sym.papers.audit.girgis2021 import section_3_1, section_3_1_quoted, section_3_2, section_3_3, section_4
from shuffle_sym.papers.audit.girgis2021.paper import PAPER

__all__ = ["PAPER", "section_3_1", "section_3_1_quoted", "section_3_2", "section_3_3", "section_4"]
