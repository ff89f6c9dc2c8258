r"""The drop-out bound if only ε0 is known and all users share the randomizer; the proof is ours.

U = R(x_0)/R(x) and V = R(x_1)/R(x) under R(x). ε0-LDP says that U, V and U/V lie between 1/t and t: a hexagon. Both
have the mean 1, and G = U − αV.
"""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.balle2019.reduction import convex_positive_part
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.ours.dropout import drop_out, gamma, j, largest, n

t, alpha = field.t, sp.Symbol("alpha", positive=True)
U, V = Random("U"), Random("V")
VERTICES = ((1 / t, 1 / t), (1, 1 / t), (t, 1), (t, t), (1, t), (1 / t, 1))
u, v = sp.symbols("u v")
EDGES = (v - 1 / t, t * v - u, t - u, t - v, t * u - v, u - 1 / t)  # from the first vertex on; inside they are positive
BETWEEN = (sp.Ge(alpha, 1 / t), sp.Le(alpha, t))


@derivation(
    r"One message of any $\varepsilon_0$-LDP randomizer", "ours, Theorem 5 ($D_1$)",
    where={U: "$R(x_0)/R(x)$ under $R(x)$", V: "$R(x_1)/R(x)$ under $R(x)$", t: r"$e^{\varepsilon_0}$", alpha:
        r"$e^{\varepsilon}$"},
)  # fmt: skip
def local_divergence() -> Blocks:
    r"""E[U − αV]_+ ≤ (t − α)/(t + 1) for 1/t ≤ α ≤ t: no ε0-LDP randomizer is worse than 2-RR on one message.

    A line that is above [u − αv]_+ at the six vertices of the hexagon is above it everywhere in it.

    >>> local_divergence().result
    (-alpha + t)/(t + 1)
    """
    first, second = (part * (t - alpha) / (t**2 - 1) for part in (t, -1))
    line = first * U + second * V
    vertices = []
    for u, v in VERTICES:
        value, above = Positive(u - alpha * v), first * u + second * v
        vertices.append((f"vertex $({u}, {v})$", claim(value, "<=", above, f"vertex $({u}, {v})$", under=BETWEEN)))
    below = theorems.general(
        "a convex function below a line at the vertices of a polygon", Positive(U - alpha * V), "<=", line,
        stated=[r"$1/t \le U, V, U/V \le t$: $\varepsilon_0$-LDP", "$[w]_+$ is convex in $w$"], under=BETWEEN,
        shown=[*vertices, (r"$w = U - \alpha V$ is linear", theorems.affine(U - alpha * V, (U, V)))],
    )  # fmt: skip
    means = tuple(suppose(Mean(ratio), "=", 1, f"$R({x})$ sums to 1") for ratio, x in ((U, "x_0"), (V, "x_1")))
    statement = chain(
        Mean(Positive(U - alpha * V)),
        at_most(Mean(line), "below the line at the vertices, so everywhere", below),
        equals(first * Mean(U) + second * Mean(V), "the mean is linear"),
        equals((t - alpha) / (t + 1), "both means are 1", *means),
        under=BETWEEN,
    )
    return *means, statement


def _vertices_of_the_hexagon() -> bool:
    """Whether each of the six points is on two neighbouring edges and inside of the other four, for every t > 1."""
    more = sp.Symbol("w", positive=True)
    for number, point in enumerate(VERTICES):
        values = [sp.factor(edge.subs(dict(zip((u, v), point, strict=True))).subs(t, 1 + more)) for edge in EDGES]
        on = {number, (number - 1) % 6}
        if not all(value == 0 if k in on else value.is_positive for k, value in enumerate(values)):
            return False
    return True


@derivation(
    r"The drop-out bound if only $\varepsilon_0$ is known", "ours, Theorem 5",
    where={j: "place of the first user who drops out", n: "users", t: r"$e^{\varepsilon_0}$",
    alpha: r"$e^{\varepsilon}$"},
)  # fmt: skip
def shared_randomizer() -> Blocks:
    r"""For every ε0-LDP randomizer that all users share and 1/t ≤ α ≤ t, the drop-out bound with γ = 1/t, with
    D_1 = (t − α)/(t + 1), and with Φ over the laws on at most three of the six vertices of the hexagon, at most
    20 of them.

    >>> shared_randomizer().proved
    False
    """
    six, hexagon = (
        quantity(f"Phi_{name}", rf"\Phi^{{{{\mathrm{{{{{name}}}}}}}}}_{{{{{{0}}}}}}", nonnegative=True)
        for name in ("six", "hex")
    )
    D1, size = sp.Symbol("D_1", nonnegative=True), sp.Symbol("N", integer=True, positive=True)
    bound, local, convex = cite(drop_out), cite(local_divergence), cite(convex_positive_part)
    ldp = suppose(gamma, "=", 1 / t, "$c = R(x')/t$ for one fixed $x'$ is below every $R(x)$, and sums to $1/t$")
    one = suppose(D1, "=", Mean(Positive(U - alpha * V)), "$D_1$ as a mean under $R(x)$")
    total = theorems.affine(u - alpha * v + sp.Symbol("r", real=True), (u, v))
    spread = theorems.general(
        "a bounded polygon is the convex hull of its vertices", largest(size), "<=", six(size),
        [r"the polygon is $1/t \le u, v, u/v \le t$", r"$(U, V)$ is in it: $\varepsilon_0$-LDP"],
        [("$[w]_+$ of a mean is at most the mean of $[w]_+$", convex), (r"$\sum G$ is linear in $(U, V)$", total)],
        checked=("that the six points are its vertices, for every $t > 1$", _vertices_of_the_hexagon),
    )  # fmt: skip
    share, (i, k) = parameter("theta", 0, 1), sp.symbols("i k", integer=True, positive=True)
    a, b, f = (quantity(name, nonnegative=True)(i) for name in "abf")
    each = [sp.Sum(law * f, (i, 1, k)) for law in (share * a + (1 - share) * b, a, b)]
    linear = claim(each[0], "=", share * each[1] + (1 - share) * each[2], "the mean over a mixture of two laws")
    three = theorems.general(
        "the fundamental theorem of linear programming", six(size), "<=", hexagon(size),
        ["the law of one user is six weights, none negative, with three equations: the mass and two means"],
        [(r"$\Phi$ is linear in the law of one user, the others held", linear)], local=(share,),
    )  # fmt: skip
    D = Divergence(alpha, *sp.symbols("M_0 M_1"))

    def summed(phi: sp.Expr, mass: sp.Expr, rest: sp.Expr) -> sp.Expr:
        return sp.Sum(mass * (1 - mass) ** (j - 1) * phi(n - j), (j, 1, n - 1)) + (1 - mass) ** (n - 1) * rest

    statement = chain(
        D,
        at_most(summed(largest, gamma, D1), "the drop-out bound", bound),
        equals(summed(largest, 1 / t, D1), "everyone drops out with probability $1/t$", ldp),
        at_most(summed(six, 1 / t, D1), "to the vertices of the hexagon", spread),
        at_most(summed(hexagon, 1 / t, D1), "to at most three of them", three),
        equals(summed(hexagon, 1 / t, Mean(Positive(U - alpha * V))), "one message", one),
        at_most(summed(hexagon, 1 / t, (t - alpha) / (t + 1)), "no worse than 2-RR", local),
        under=BETWEEN,
    )
    return bound, local, convex, ldp, one, statement
