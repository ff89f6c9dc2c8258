r"""The drop-out bound, from the view that its proof reveals to the sum over places; the proof is ours.

User 1 has x_0 or x_1, the others x_2, …, x_n. The others are asked in a random order whether they drop out: a user with
message y does with probability c(y)/R(x_i)(y). J is the place of the first who does. Revealed are the messages of those
before, by name (the prefix s with its messages e), the message y of the one who drops out, without the name, and the
messages z on the chairs of the others, where user 1 sits on the empty chair.
"""

from itertools import permutations, product
from math import prod

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_most, chain, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, Given, Supposed, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Positive, quantity
from shuffle_sym.papers.tools import F, collected

OURS = "shuffle_sym, truth/dropout"
n, j = sp.symbols("n j", integer=True, positive=True)
N = quantity("N", "N_{{{0}}}", integer=True, positive=True)(j)
alpha = sp.Symbol("alpha", positive=True)
gamma = parameter("gamma", 0, 1)
s, e, y, z, i = sp.symbols("s e y z i", integer=True, positive=True)
prefixes, answers, messages, seats = sp.symbols("S L K Z", integer=True, positive=True)
sent = (y, 1, messages)
pi, kappa, c, law = (quantity(name, nonnegative=True) for name in ("pi", "kappa", "c", "Pi"))
u0, u1, V0, V1 = (quantity(name, nonnegative=True) for name in ("u_0", "u_1", "V_0", "V_1"))
phi, at_place, R, stays = (quantity(name, nonnegative=True) for name in ("Phi", "T", "R", "sigma"))
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


def _one_stays() -> tuple[Given, Supposed, Chain]:
    """γ, the row of a user, and that a user stays with probability 1 − γ."""
    mass = given(gamma, sp.Sum(c(y), sent), "the probability to drop out, the same for every user")
    row = suppose(sp.Sum(R(x, y), sent), "=", 1, "a user sends some message")
    stays = chain(
        sp.Sum(R(x, y) - c(y), sent),
        equals(sp.Sum(R(x, y), sent) - sp.Sum(c(y), sent), "two sums"),
        equals(1 - gamma, r"rows sum to 1, $c$ sums to $\gamma$", row, mass),
        words=r"a user stays with probability $1 - \gamma$",
    )
    return mass, row, stays


def _one_place(mass: Given, one_stays: Chain) -> tuple[Fact, ...]:
    """What the views with J = j add to the divergence is at most γ(1 − γ)^(j−1) Φ*; the last block says it."""
    over_all = ((z, 1, seats), sent, (e, 1, answers), (s, 1, prefixes))
    view0 = given(V0(j, s, e, y, z), _seen(u0), "the view under $x_0$: $c$ does not depend on who drops out")
    view1 = given(V1(j, s, e, y, z), _seen(u1), "the view under $x_1$: the empty chair is uniform among $N$")
    excess = sp.Sum(law(j, s, z) * Positive(sp.Sum(u0(j, s, i, z) - alpha * u1(j, s, i, z), (i, 1, N))), (z, 1, seats))
    mean = given(phi(j, s), excess / N, r"$\Phi(S)$: the mean over independent messages on the chairs")
    gap = sp.Sum(Positive(V0(j, s, e, y, z) - alpha * V1(j, s, e, y, z)), *over_all)
    place = given(at_place(j), gap, "what the views with $J = j$ add to the divergence")
    before, share = sp.Sum(kappa(j, s, e), (e, 1, answers)), gamma * (1 - gamma) ** (j - 1)
    all_stay = theorems.independence(before, one_stays.left ** (j - 1), "the $j - 1$ users before", PRODUCT)
    stay = chain(
        before,
        equals(one_stays.left ** (j - 1), "a product of $j - 1$ sums", all_stay),
        equals((1 - gamma) ** (j - 1), "all of them stay", one_stays),
        words="the users before stay",
    )
    total = suppose(sp.Sum(pi(j, s), (s, 1, prefixes)), "=", 1, "the prefixes of one length have probabilities")
    most = suppose(phi(j, s), "<=", largest(N), r"$\Phi^*$ is the largest $\Phi$ of a set of $N$ others")
    inner = sp.Sum(pi(j, s) * kappa(j, s, e) * c(y) * excess / N, *over_all[1:])
    shown = chain(
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
    return view0, view1, mean, place, stay, total, most, shown


def _nobody(one_stays: Chain) -> tuple[Fact, ...]:
    """What the views without a drop-out add to the divergence is (1 − γ)^(n−1) D_1; the last block says it."""
    at_once = sp.Sum(Positive(R(x0, y) - alpha * R(x1, y)), sent)
    local = given(D1, at_once, "the divergence of one message of user 1")
    known = given(
        T0,
        sp.Sum(stays(e) * Positive(R(x0, y) - alpha * R(x1, y)), sent, (e, 1, answers)),
        "what the views without a drop-out add: all others are known, and stay",
    )
    others = sp.Sum(stays(e), (e, 1, answers))
    nobody = theorems.independence(others, one_stays.left ** (n - 1), "all $n - 1$ others", PRODUCT)
    shown = chain(
        T0,
        equals(others * at_once, "their messages and that of user 1", known),
        equals(one_stays.left ** (n - 1) * D1, "a product of $n - 1$ sums", nobody, local),
        equals((1 - gamma) ** (n - 1) * D1, "all of them stay", one_stays),
        words="nobody drops out",
    )
    return local, known, shown


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
    mass, row, one_stays = _one_stays()
    *views, one_place = _one_place(mass, one_stays)
    *alone, nobody = _nobody(one_stays)
    chairs = given(N, n - j, "the chairs of those who were not asked, and the empty one", under=sp.Lt(j, n))
    messages_of, view_of = (sp.symbols(f"{name}_0 {name}_1") for name in ("M", "V"))
    shuffled = theorems.data_processing(
        alpha, messages_of, view_of, "the shuffled messages are the messages of the view, without names",
        checked=("$n = 3$, three messages, in fractions", _small_view_gives_the_messages),
    )  # fmt: skip
    places, last = (j, 1, n - 1), (1 - gamma) ** (n - 1) * D1
    by_place = "the views by the place of the drop-out"
    split = given(Divergence(alpha, *view_of), sp.Sum(at_place(j), places) + T0, by_place)
    bound = sp.Sum(gamma * (1 - gamma) ** (j - 1) * largest(n - j), places) + last
    everything = chain(
        Divergence(alpha, *messages_of),
        at_most(Divergence(alpha, *view_of), "more is revealed", shuffled),
        equals(split.right, "place by place", split),
        equals(sp.Sum(at_place(j), places) + last, "if nobody drops out", nobody),
        at_most(bound, "each place is bounded", one_place, chairs),
    )
    return chairs, mass, row, one_stays, *views, one_place, *alone, nobody, split, everything
