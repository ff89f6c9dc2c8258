r"""Claims of Balle et al. 2019, section by section."""

#: The modules, in the order of the paper.
ORDER = ("section_3", "section_4", "section_5_blanket", "section_5_bounds", "section_6")
