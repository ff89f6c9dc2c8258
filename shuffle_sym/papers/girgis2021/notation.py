r"""The letters of Girgis et al. 2021, once for all derivations, and exact enumerations of small cases.

Special neighbours: all m users have the input d, or one of them has d'. p and p' are the laws of R(d) and R(d').
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.engine import Random, quantity, suppose
from shuffle_sym.papers.laws import rows
from shuffle_sym.papers.proofs import LEVEL, quantities
from shuffle_sym.papers.tools import F, fraction
from shuffle_sym.randomizers import KRR, BinaryRR, from_matrix

SOURCE = "Girgis et al. 2021"
Laws = list[list[F]]

t = field.t
n, m, j, B = sp.symbols("n m j B", integer=True, positive=True)
i, k = sp.symbols("i k", integer=True, nonnegative=True)
order = parameter("lambda", 2, integer=True)  # an integer order
real_order = sp.Symbol("lambda", positive=True)  # any order

p, p1 = quantities("p p'", "*_{{{0}}}", positive=True)
#: E[(M(D')/M(D))^λ] of special neighbours, m users.
S = quantity("S", r"S_{{{0}}}({1})", positive=True)
rho, X = Random("rho", positive=True), Random("X", real=True)

messages = (j, 1, B)
ABOVE, ORDER = sp.Gt(t, 1), sp.Gt(real_order, 1)

USERS = {**LEVEL, n: "number of users"}
MEANING = {
    **LEVEL,
    p(j): "probability of the message $j$, input $d$",
    p1(j): "the same, input $d'$",
    B: "number of messages",
    m: "number of users",
}
MOMENT = {S(real_order, m): r"the moment $\mathbb{E}[(M(D')/M(D))^{\lambda}]$ of special neighbours, $m$ users"}

sums_to_one, primed_sums_to_one = (
    suppose(sp.Sum(law(j), messages), "=", 1, f"${name}$ is a law") for law, name in ((p, "p"), (p1, "p'"))
)
not_above = suppose(p1(j), "<=", t * p(j), r"$R$ is $\varepsilon_0$-LDP, $t = e^{\varepsilon_0}$")
above_one = quantity("e", r"e_{{{0}}}", nonnegative=True)
not_above_t = suppose(
    p1(j),
    "=",
    t * p(j) / (1 + above_one(j)),
    r"$R$ is $\varepsilon_0$-LDP: $p'_j \le t p_j$, written with some $e_j \ge 0$",
)
not_below = suppose(p1(j), ">=", p(j) / t, r"$R$ is $\varepsilon_0$-LDP, the other way")


# ------------------------------------------------------------------------------------------- small cases, exactly


def randomizers() -> list[Any]:
    """Small rational randomizers."""
    skew = from_matrix([[F(1, 2), F(3, 10), F(1, 5)], [F(1, 4), F(1, 4), F(1, 2)]])
    return [BinaryRR(sp.log(3)), KRR(3, sp.log(2)), skew]


def ratio_of(R: Any) -> F:
    """e^ε0 of a rational randomizer."""
    return fraction(sp.exp(R.eps0))


def neighbours(R: Any, n: int) -> Iterator[tuple[Laws, Laws]]:
    """The laws of all neighbouring datasets in which the last user differs, others in order."""
    laws = rows(R)
    inputs = range(len(laws))
    for x0, x1 in product(inputs, repeat=2):
        if x0 != x1:
            for others in product(inputs, repeat=n - 1):
                if list(others) == sorted(others):
                    same = [laws[x] for x in others]
                    yield [*same, laws[x0]], [*same, laws[x1]]


def without(own: Sequence[F], shared: Sequence[F], q: F) -> list[F]:
    """p̃ of (18)."""
    return [(p - q * s) / (1 - q) for p, s in zip(own, shared, strict=True)]
