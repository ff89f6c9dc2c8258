r"""Claims of Su et al. 2025.

The authors' program, to which findings refer, is on GitHub:
Optimal-amplification-bound/Decomposition-Based-Optimal-Bounds-for-Shuffle-DP.
"""

#: The modules, in the order of the paper.
ORDER = ("decompositions", "gparv", "tables", "datasets", "compositions")
