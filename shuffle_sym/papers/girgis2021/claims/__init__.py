r"""Claims of Girgis et al. 2021: upper bounds, lower bounds, what their proofs use, and the figures."""

#: The modules, in the order of the paper.
ORDER = ("section_3_1", "section_3_1_quoted", "section_3_2", "section_3_3", "section_4")
