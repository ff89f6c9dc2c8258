r"""The letters of Koskela et al. 2021 that several derivations share, and what they mean."""

from shuffle_sym.algebra import field
from shuffle_sym.model.cells import n as n

SOURCE = "Koskela et al. 2021"
t, k, alpha = field.t, field.k, field.alpha

USERS = {n: "number of users, including the one whose input differs"}
