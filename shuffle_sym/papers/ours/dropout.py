r"""The drop-out bound, from the view that its proof reveals to the sum over places, and what it says if only ε0 is
known and all users share the randomizer; the proofs are ours.

User 1 has x_0 or x_1, the others x_2, …, x_n. The others are asked in a random order whether they drop out: a user with
message y does with probability c(y)/R(x_i)(y). J is the place of the first who does. Revealed are the messages of those
before, by name (the prefix s with its messages e), the message y of the one who drops out, without the name, and the
messages z on the chairs of the others, where user 1 sits on the empty chair.
"""

from itertools import permutations, product
from math import prod

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.balle2019.reduction import convex_positive_part
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, claim, equals
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.ours.notation import alpha, gamma, i, j, n, y
from shuffle_sym.papers.proofs import LEVEL, by, quantities
from shuffle_sym.papers.tools import F, collected

OURS = "shuffle_sym, truth/dropout"
N = quantity("N", "N_{{{0}}}", integer=True, positive=True)(j)
s, e, z, prefixes, answers, messages, seats = sp.symbols("s e z S L K Z", integer=True, positive=True)
sent = (y, 1, messages)
pi, kappa, c, law, R, stays = quantities("pi kappa c Pi R sigma", nonnegative=True)
u0, u1, V0, V1, phi, at_place = quantities("u_0 u_1 V_0 V_1 Phi T", nonnegative=True)
largest = quantity("Phi_max", r"\Phi^{{*}}_{{{0}}}", nonnegative=True)
D1, T0 = sp.symbols("D_1 T_0", nonnegative=True)
x, x0, x1 = sp.symbols("x x_0 x_1")
WHERE = {
    j: "place of the first user who drops out",
    N: "chairs that are left, $n - j$",
    s: "who was asked before, in order",
    e: "their messages",
    y: "the message of the one who drops out",
    z: "the messages on the chairs",
}


def _small_view_gives_the_messages() -> bool:
    """Whether the revealed view, mapped to the multiset of its messages, has the law of the shuffled messages: all
    outcomes of two 3-message users beside user 1, in fractions."""
    R = ((F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 2), F(1, 4)), (F(1, 8), F(1, 8), F(3, 4)))
    others, c = (1, 2), tuple(min(row[m] for row in R) for m in range(3))
    for first in (0, 1):
        real = collected(
            (tuple(sorted((m, *sent))), R[first][m] * R[others[0]][sent[0]] * R[others[1]][sent[1]])
            for m in range(3)
            for sent in product(range(3), repeat=2)
        )
        view: list[tuple[tuple[int, ...], F]] = []
        for order in permutations((0, 1)):
            for m, *sent in product(range(3), repeat=3):
                left = F(1, 2) * R[first][m]
                for place, user in enumerate(order):
                    row = R[others[user]]
                    rest = [sent[other] for other in order[place + 1 :]]
                    weight = left * c[sent[user]]
                    for other in order[place + 1 :]:
                        weight *= R[others[other]][sent[other]]
                    before = [sent[other] for other in order[:place]]
                    view.append((tuple(sorted((*before, sent[user], *rest, m))), weight))
                    left *= row[sent[user]] - c[sent[user]]
                view.append((tuple(sorted((m, *sent))), left))
        if collected(view) != real:
            return False
    return True


def _product_of_sums() -> bool:
    """A sum over all lists of messages of products is a product of sums, for three users, in fractions."""
    rows = ((F(1, 4), F(0), F(1, 8)), (F(1, 8), F(1, 8), F(1, 8)), (F(0), F(3, 8), F(0)))
    lists = sum((prod(row[m] for row, m in zip(rows, sent, strict=True)) for sent in product(range(3), repeat=3)), F(0))
    return lists == prod(sum(row) for row in rows) == F(3, 8) ** 3


PRODUCT = ("three users who stay with probability $3/8$, in fractions", _product_of_sums)


def _seen(u: sp.Expr) -> sp.Expr:
    """The probability of a view with J = j: prefix, its messages, the one who drops out, the chairs, the empty one."""
    return pi(j, s) * kappa(j, s, e) * c(y) * law(j, s, z) * sp.Sum(u(j, s, i, z), (i, 1, N)) / N


@derivation("The drop-out bound", f"ours ({OURS}), Theorem 1", where=WHERE)
def drop_out() -> Blocks:
    r"""For every dataset of the others and every α > 0 (ours):

    .. math:: D_\alpha \le \sum_{j=1}^{n-1} \gamma(1-\gamma)^{j-1}\,\Phi^*_{n-j} + (1-\gamma)^{n-1} D_1,
              \qquad \Phi(S) = \tfrac1N\,\mathbb E\Bigl[\sum_{i \in S} G_{x_i}\Bigr]_+ .

    A prefix s of j − 1 users has the probability π(j, s); ``kappa`` is that of its messages together with staying,
    Π(R − c); Π(j, s, z) is the law of independent messages on the chairs S, and
    u_b(j, s, i, z) = R(x_b)(z_i)/R(x_i)(z_i): user 1 on chair i.

    >>> drop_out().result
    D_1*(1 - gamma)**(n - 1) + Sum(gamma*(1 - gamma)**(j - 1)*Phi_max(-j + n), (j, 1, n - 1))
    """
    # -- a user stays with probability 1 − γ
    mass = given(gamma, sp.Sum(c(y), sent), "the probability to drop out, the same for every user")
    row = suppose(sp.Sum(R(x, y), sent), "=", 1, "a user sends some message")
    one_stays = chain(
        sp.Sum(R(x, y) - c(y), sent),
        equals(sp.Sum(R(x, y), sent) - sp.Sum(c(y), sent), "two sums"),
        equals(1 - gamma, r"rows sum to 1, $c$ sums to $\gamma$", row, mass),
        words=r"a user stays with probability $1 - \gamma$",
    )
    # -- what the views with J = j add to the divergence is at most γ(1 − γ)^(j−1) Φ*
    over_all = ((z, 1, seats), sent, (e, 1, answers), (s, 1, prefixes))
    view0 = given(V0(j, s, e, y, z), _seen(u0), "the view under $x_0$: $c$ does not depend on who drops out")
    view1 = given(V1(j, s, e, y, z), _seen(u1), "the view under $x_1$: the empty chair is uniform among $N$")
    excess = sp.Sum(law(j, s, z) * Positive(sp.Sum(u0(j, s, i, z) - alpha * u1(j, s, i, z), (i, 1, N))), (z, 1, seats))
    mean = given(phi(j, s), excess / N, r"$\Phi(S)$: the mean over independent messages on the chairs")
    gap = sp.Sum(Positive(V0(j, s, e, y, z) - alpha * V1(j, s, e, y, z)), *over_all)
    place = given(at_place(j), gap, "what the views with $J = j$ add to the divergence")
    before, share = sp.Sum(kappa(j, s, e), (e, 1, answers)), gamma * (1 - gamma) ** (j - 1)
    stay = chain(
        before,
        by(
            "a product of $j - 1$ sums",
            theorems.independence(before, one_stays.left ** (j - 1), "the $j - 1$ users before", PRODUCT),
        ),
        equals((1 - gamma) ** (j - 1), "all of them stay", one_stays),
        words="the users before stay",
    )
    total = suppose(sp.Sum(pi(j, s), (s, 1, prefixes)), "=", 1, "the prefixes of one length have probabilities")
    most = suppose(phi(j, s), "<=", largest(N), r"$\Phi^*$ is the largest $\Phi$ of a set of $N$ others")
    inner = sp.Sum(pi(j, s) * kappa(j, s, e) * c(y) * excess / N, *over_all[1:])
    one_place = chain(
        at_place(j),
        equals(inner, "take out what is not negative, sum over $z$", place, view0, view1),
        equals(
            gamma * sp.Sum(pi(j, s) * phi(j, s) * before, (s, 1, prefixes)),
            r"$y$ sums to $\gamma$, the rest is $\Phi$",
            mass,
            mean,
        ),
        equals(share * sp.Sum(pi(j, s) * phi(j, s), (s, 1, prefixes)), "the users before stay: a constant", stay),
        at_most(share * largest(N) * total.left, r"each $\Phi$ is at most $\Phi^*$", most),
        equals(share * largest(N), "and the prefixes sum to 1", total),
        words="one place $j$",
    )
    # -- what the views without a drop-out add to the divergence is (1 − γ)^(n−1) D_1
    at_once = sp.Sum(Positive(R(x0, y) - alpha * R(x1, y)), sent)
    local = given(D1, at_once, "the divergence of one message of user 1")
    known = given(
        T0,
        sp.Sum(stays(e) * Positive(R(x0, y) - alpha * R(x1, y)), sent, (e, 1, answers)),
        "what the views without a drop-out add: all others are known, and stay",
    )
    others = sp.Sum(stays(e), (e, 1, answers))
    nobody = chain(
        T0,
        equals(others * at_once, "their messages and that of user 1", known),
        equals(
            one_stays.left ** (n - 1) * D1,
            "a product of $n - 1$ sums",
            theorems.independence(others, one_stays.left ** (n - 1), "all $n - 1$ others", PRODUCT),
            local,
        ),
        equals((1 - gamma) ** (n - 1) * D1, "all of them stay", one_stays),
        words="nobody drops out",
    )
    chairs = given(N, n - j, "the chairs of those who were not asked, and the empty one", under=sp.Lt(j, n))
    messages_of, view_of = (sp.symbols(f"{name}_0 {name}_1") for name in ("M", "V"))
    places, last = (j, 1, n - 1), (1 - gamma) ** (n - 1) * D1
    split = given(
        Divergence(alpha, *view_of), sp.Sum(at_place(j), places) + T0, "the views by the place of the drop-out"
    )
    bound = sp.Sum(gamma * (1 - gamma) ** (j - 1) * largest(n - j), places) + last
    everything = chain(
        Divergence(alpha, *messages_of),
        at_most(Divergence(alpha, *view_of), "more is revealed", theorems.data_processing(
            alpha, messages_of, view_of, "the shuffled messages are the messages of the view, without names",
            checked=("$n = 3$, three messages, in fractions", _small_view_gives_the_messages),
        )),
        by("place by place", split),
        equals(sp.Sum(at_place(j), places) + last, "if nobody drops out", nobody),
        at_most(bound, "each place is bounded", one_place, chairs),
    )  # fmt: skip
    return (
        chairs, mass, row, one_stays, view0, view1, mean, place, stay, total, most, one_place, local, known, nobody,
        split, everything,
    )  # fmt: skip


# ------------------------------------------------------------------------------------- if only ε0 is known

#: U = R(x_0)/R(x) and V = R(x_1)/R(x) under R(x). ε0-LDP says that U, V and U/V lie between 1/t and t: a hexagon. Both
#: have the mean 1, and G = U − αV.
U, V = Random("U"), Random("V")
t = field.t
VERTICES = ((1 / t, 1 / t), (1, 1 / t), (t, 1), (t, t), (1, t), (1 / t, 1))
u, v = sp.symbols("u v")
EDGES = (v - 1 / t, t * v - u, t - u, t - v, t * u - v, u - 1 / t)  # from the first vertex on; inside they are positive
BETWEEN = (sp.Ge(alpha, 1 / t), sp.Le(alpha, t))


@derivation(
    r"One message of any $\varepsilon_0$-LDP randomizer", "ours, Theorem 5 ($D_1$)",
    where={U: "$R(x_0)/R(x)$ under $R(x)$", V: "$R(x_1)/R(x)$ under $R(x)$", **LEVEL, alpha:
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
    vertices = [
        (f"vertex $({u}, {v})$", claim(Positive(u - alpha * v), "<=", first * u + second * v, f"vertex $({u}, {v})$",
                                       under=BETWEEN))
        for u, v in VERTICES
    ]  # fmt: skip
    means = tuple(suppose(Mean(ratio), "=", 1, f"$R({x})$ sums to 1") for ratio, x in ((U, "x_0"), (V, "x_1")))
    return *means, chain(
        Mean(Positive(U - alpha * V)),
        at_most(Mean(line), "below the line at the vertices, so everywhere", theorems.general(
            "a convex function below a line at the vertices of a polygon", Positive(U - alpha * V), "<=", line,
            stated=[r"$1/t \le U, V, U/V \le t$: $\varepsilon_0$-LDP", "$[w]_+$ is convex in $w$"], under=BETWEEN,
            shown=[*vertices, (r"$w = U - \alpha V$ is linear", theorems.affine(U - alpha * V, (U, V)))],
        )),
        equals(first * Mean(U) + second * Mean(V), "the mean is linear"),
        equals((t - alpha) / (t + 1), "both means are 1", *means),
        under=BETWEEN,
    )  # fmt: skip


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
    where={j: "place of the first user who drops out", n: "users", **LEVEL,
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
    share, k = parameter("theta", 0, 1), sp.Symbol("k", integer=True, positive=True)
    a, b, f = (of_i(i) for of_i in quantities("a b f", nonnegative=True))
    each = [sp.Sum(law * f, (i, 1, k)) for law in (share * a + (1 - share) * b, a, b)]
    D = Divergence(alpha, *sp.symbols("M_0 M_1"))

    def summed(phi: sp.Expr, mass: sp.Expr, rest: sp.Expr) -> sp.Expr:
        return sp.Sum(mass * (1 - mass) ** (j - 1) * phi(n - j), (j, 1, n - 1)) + (1 - mass) ** (n - 1) * rest

    return (
        bound, local, convex, ldp, one, chain(
            D,
            at_most(summed(largest, gamma, D1), "the drop-out bound", bound),
            equals(summed(largest, 1 / t, D1), "everyone drops out with probability $1/t$", ldp),
            at_most(summed(six, 1 / t, D1), "to the vertices of the hexagon", theorems.general(
                "a bounded polygon is the convex hull of its vertices", largest(size), "<=", six(size),
                [r"the polygon is $1/t \le u, v, u/v \le t$", r"$(U, V)$ is in it: $\varepsilon_0$-LDP"],
                [
                    ("$[w]_+$ of a mean is at most the mean of $[w]_+$", convex),
                    (
                        r"$\sum G$ is linear in $(U, V)$",
                        theorems.affine(u - alpha * v + sp.Symbol("r", real=True), (u, v)),
                    ),
                ], checked=("that the six points are its vertices, for every $t > 1$", _vertices_of_the_hexagon),
            )),
            at_most(summed(hexagon, 1 / t, D1), "to at most three of them", theorems.general(
                "the fundamental theorem of linear programming", six(size), "<=", hexagon(size),
                ["the law of one user is six weights, none negative, with three equations: the mass and two means"],
                [
                    (
                        r"$\Phi$ is linear in the law of one user, the others held", claim(
                            each[0], "=", share * each[1] + (1 - share) * each[2],
                            "the mean over a mixture of two laws",
                        ),
                    ),
                ], local=(share,),
            )),
            equals(summed(hexagon, 1 / t, Mean(Positive(U - alpha * V))), "one message", one),
            at_most(summed(hexagon, 1 / t, (t - alpha) / (t + 1)), "no worse than 2-RR", local),
            under=BETWEEN,
        ),
    )  # fmt: skip
