r"""The letters of Balle et al. 2019 that several derivations share, and what they mean."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter

SOURCE = "Balle et al. 2019"
half = sp.Rational(1, 2)
t, k = field.t, field.k
alpha, eps0 = sp.symbols("alpha epsilon_0", positive=True)
gamma = Parameter("gamma", 0, 1)
#: Users, how many of them are looked at, messages; an index of each.
n, m, K, i, j = sp.symbols("n m K i j", positive=True, integer=True)

SIMILARITY = {gamma: "total variation similarity"}
