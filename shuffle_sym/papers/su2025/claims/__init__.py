r"""Claims of Su et al. 2025."""

#: The modules, in the order of the paper.
ORDER = ("decompositions", "gparv", "tables", "datasets", "compositions")
