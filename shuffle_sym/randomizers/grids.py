r"""Noise on a grid of numbers."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import arguments, field
from shuffle_sym.randomizers.matrix import MatrixRandomizer


class DiscreteLaplace(MatrixRandomizer):
    r"""x + two-sided geometric noise for x = 0, …, k − 1, moved into that range: a step is e^(ε0/(k − 1)) times less
    likely than none (Ghosh et al. 2009). Messages beyond an end say no more than the end does, so that nothing is lost.

    Arguments: the number of inputs ``k``; local privacy level ``eps0``, a symbol if it is left out.

    >>> DiscreteLaplace(k=3, eps0=2 * sp.log(2)).matrix()
    Matrix([
    [2/3, 1/6, 1/6],
    [1/3, 1/3, 1/3],
    [1/6, 1/6, 2/3]])
    """

    def __init__(self, k: int, eps0: Any = None) -> None:
        self.k = count = arguments.positive_integer(k, "k", 2)
        self.level = e = arguments.local_epsilon(field.eps0 if eps0 is None else eps0)
        r = sp.exp(-e / (count - 1))
        flat = [
            r ** abs(x - y) / (1 + r) * (1 if y in (0, count - 1) else 1 - r)
            for x in range(count)
            for y in range(count)
        ]
        forms, bindings = field.rational_form(flat)
        simple = [field.simplest(p) for p in forms]
        super().__init__([simple[x * count : (x + 1) * count] for x in range(count)], bindings)

    def __repr__(self) -> str:
        return f"DiscreteLaplace(k={self.k}, eps0={self.level})"
