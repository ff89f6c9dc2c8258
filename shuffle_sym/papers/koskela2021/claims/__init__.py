r"""Claims of Koskela et al. 2021: the full paper, and the workshop version where it differs."""

#: The modules, in the order of the paper.
ORDER = ("rounds", "views", "clones", "comparisons")
