r"""The letters of Su et al. 2025 that several derivations share, what they mean, and a randomizer for exact checks."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.tools import F

SOURCE = "Su et al. 2025"
t, alpha = field.t, field.alpha
#: Users, messages or components; an index of each.
n, K, i, j, x, y, z = sp.symbols("n K i j x y z", integer=True, positive=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
above_one = sp.Gt(t, 1)


Law = list[F]
#: A randomizer without symmetry, and the infimum of its rows.
ROWS: list[Law] = [[F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]]
BLANKET: Law = [min(column) for column in zip(*ROWS, strict=True)]
