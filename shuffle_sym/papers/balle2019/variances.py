r"""Estimates and variances of the protocols, as formulas: `protocols` derives them, what people run evaluates them."""

import sympy as sp

from shuffle_sym.algebra.symbols import Parameter

half = sp.Rational(1, 2)
gamma = sp.Symbol("gamma", positive=True)
#: Values 0 … k are sent, and k may be 1.
k = Parameter("k", 1, integer=True)
x = Parameter("x", 0, 1)
rest = Parameter("f", 0, 1)

#: Var[y/k] of one message, exactly; f is the part of kx after the point.
MESSAGE_VARIANCE = (
    (1 - gamma) * rest * (1 - rest) / k**2 + gamma * (1 - gamma) * (x - half) ** 2 + gamma * (k + 2) / (12 * k)
)
#: Its supremum over x for γk <= 1, and for γk >= 1 without the middle term.
WORST_VARIANCE = gamma * (1 - gamma) / 4 + (1 - gamma * k) ** 2 / (4 * k**2) + gamma * (k + 2) / (12 * k)

first, second = sp.symbols("S_1 S_2", nonnegative=True)
#: What is reported for Var[y/k], from the mean S_1 of y/k and the mean S_2 of its square.
SAFE_VARIANCE = (
    gamma * (second - first)
    + gamma * (1 - gamma) * (2 * k + 1) / (6 * k)
    + gamma**2 / 4
    + (1 - gamma) ** 2 / (4 * k**2)
)

p, q, N, users, C = sp.symbols("p q N n C", positive=True)
#: The estimated count; its variance and the estimate of that are these over (p − q)².
COUNT = (C - users * q) / (p - q)
MATCH_VARIANCE = N * p * (1 - p) + (users - N) * q * (1 - q)
FOUND_VARIANCE = (users - C) * p * q + C * (1 - p) * (1 - q)
