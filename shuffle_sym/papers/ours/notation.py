r"""The letters that several derivations of our own share."""

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.engine.quantities import Random

alpha, eps0 = sp.symbols("alpha epsilon_0", positive=True)
gamma = parameter("gamma", 0, 1)
#: Users, messages and other things that are counted; an index of each.
n, K, N, d, i, j, y = sp.symbols("n K N d i j y", integer=True, positive=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
#: The outcome of all users.
omega = Random("omega")
