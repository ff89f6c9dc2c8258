r"""Several attributes at once, each with noise of its own: opposite corners are the worst pair; the proof is ours.

Attribute i has densities p_x, all above c_i. The blanket of the whole is the product of the c_i, and γ is its mass.
Means are over the product of the c_i, divided by γ, under which the attributes are independent. r(0, i, ω) and
r(1, i, ω) are the ratios p_x/c_i of attribute i for the first and for the second input of a pair. r_s(0, i, ω) and
−r_s(1, i, ω) are above all p_x/c_i and −p_x/c_i in convex order, and non-decreasing functions of one variable: p_0/c_i
and −p_1/c_i for symmetric log-concave noise on [0, 1] (`symmetric_noise`), so that they belong to opposite corners.
"""

from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, equals, telescoping
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random
from shuffle_sym.papers.ours.noise import LOW, OURS, TOP, V, X, comonotone_sums, k, n
from shuffle_sym.papers.ours.notation import alpha, d, gamma, i, j, m, omega
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.tools import F

z = sp.Symbol("z", integer=True, nonnegative=True)
a, b = sp.symbols("a b", positive=True)
plain, starred, replaced, rest = quantities("r r_s P U", positive=True)
Psi, of_pair, of_stars = quantities("Psi h h_s", real=True)


def _one_after_the_other() -> bool:
    """Whether the mean over two attributes is the mean over the second one of that over the first one, in fractions."""
    first = {(F(3), F(1)): F(1, 3), (F(1), F(2)): F(2, 3)}  # two ratios: probability
    second = {(F(1), F(4)): F(1, 5), (F(5, 2), F(1)): F(4, 5)}
    order, level = F(3, 2), F(-1, 2)

    def over(a: F, b: F) -> F:
        return sum((mass * max(a * x - order * b * y - level, F(0)) for (x, y), mass in first.items()), F(0))

    joint = sum(
        p * q * max(x * u - order * y * v - level, F(0))
        for ((x, y), p), ((u, v), q) in product(first.items(), second.items())
    )
    return joint == sum(q * over(u, v) for (u, v), q in second.items())


def _logs(one: sp.Expr, first: sp.Expr, last: sp.Expr) -> sp.Expr:
    """The logarithm of the product of the ratios of attributes in a row."""
    return sp.Sum(sp.log(one(z, j, omega)), (j, first, last))


@derivation(
    "Several attributes at once: the worst pairs of all of them together", f"{OURS}, Theorem 11",
    where={
        omega: "the messages of all attributes",
        d: "attributes",
        gamma: "the mass of the blanket",
        k: "any level",
        Random("G_s"): "$G$ of the pair with stars: opposite corners for symmetric log-concave noise on a cube",
        n: "users",
    },
)  # fmt: skip
def several_attributes() -> Blocks:
    r"""If in every attribute r_s(0) and −r_s(1) are above all p_x/c_i and −p_x/c_i in convex order and move together,
    then the blanket of every pair of inputs is at most the one of the pair of products of these, for every α > 0 and n.

    P(0, m, ω) and P(1, m, ω) are the products of the ratios of a pair, the first m of them with stars. Given all other
    messages, attribute i gets its star: the sum ar(0) − αbr(1), where a and b are products of the others.

    >>> several_attributes().statement[0].relation
    '<='
    """
    G, H, sums = Random("G"), Random("G_s"), (Random("G_1 + … + G_n"), Random("H_1 + … + H_n"))

    # -- h(i, a, b, k) ≤ h_s(i, a, b, k) for all weights a and b
    def above(one: Any, sign: int, side: int) -> sp.Expr:
        return Mean(Positive(sign * one(side, i, omega) - k))

    def weighted(one: Any) -> sp.Expr:
        return Mean(Positive(a * one(0, i, omega) - alpha * b * one(1, i, omega) - k))

    first = suppose(
        above(plain, 1, 0), "<=", above(starred, 1, 0), "$p_x/c_i$ is below $r_s(0)$ in convex order", (), [k]
    )
    second = suppose(above(plain, -1, 1), "<=", above(starred, -1, 1), "and $-p_x/c_i$ is below $-r_s(1)$", (), [k])
    low = given(of_pair(i, a, b, k), weighted(plain), "attribute $i$, the others being known")
    high = given(of_stars(i, a, b, k), weighted(starred), "the same with stars")
    lemma = cite(comonotone_sums)
    values = {X: plain(0, i, omega), V: -plain(1, i, omega), TOP: starred(0, i, omega), LOW: -starred(1, i, omega)}
    together = theorems.for_other_laws(
        lemma, values, "$r_s(0)$ and $-r_s(1)$ of one attribute move together",
        list(zip(lemma.supposed, (first, second), strict=True)),
    )  # fmt: skip
    scaled = together.at({alpha: alpha * b / a, k: k / a})
    one_attribute = chain(
        of_pair(i, a, b, k),
        equals(a * scaled.left, "take out $a$", low),
        at_most(a * scaled.right, "sums are largest when they move together", scaled),
        equals(of_stars(i, a, b, k), "put $a$ in again", high),
        words="one attribute",
    )
    # -- the products with stars up to an attribute, and without attribute i
    whole = given(
        replaced(z, m, omega), sp.exp(_logs(starred, 1, m) + _logs(plain, m + 1, d)), "a product with $m$ stars"
    )
    earlier, later = _logs(starred, 1, i - 1), _logs(plain, i + 1, d)
    others = given(rest(z, i, omega), sp.exp(earlier + later), "without attribute $i$")
    without, with_star = (
        chain(
            replaced(z, stars, omega),
            equals(sp.exp(earlier + _logs(one, i, i) + later), "attribute $i$ apart", whole),
            equals(rest(z, i, omega) * one(z, i, omega), words, others),
        )
        for stars, one, words in ((i - 1, plain, "without its star"), (i, starred, "with its star"))
    )
    psi = given(
        Psi(m, k),
        Mean(Positive(replaced(0, m, omega) - alpha * replaced(1, m, omega) - k)),
        "with $m$ stars, at level $k$",
    )
    # -- attribute i gets its star: a mean over all attributes is that over the others of that over attribute i
    weights = {a: rest(0, i, omega), b: rest(1, i, omega)}
    before, after = (
        theorems.independence(
            Mean(h.right.args[0].xreplace(weights)), Mean(h.left.func(i, *weights.values(), k)),
            "the messages of different attributes", ("two attributes, in fractions", _one_after_the_other),
        )
        for h in (low, high)
    )  # fmt: skip
    step = chain(
        Psi(i - 1, k),
        equals(before.left, "attribute $i$ apart", psi, *(without.at({z: side}) for side in (0, 1))),
        by("the mean over the others of that over attribute $i$", before),
        at_most(after.right, "for all messages of the others", one_attribute),
        equals(after.left, "the mean over all attributes", after),
        equals(Psi(i, k), "attribute $i$ is in it again", psi, *(with_star.at({z: side}) for side in (0, 1))),
        words="one attribute after the other",
    )
    steps = sp.Sum(Psi(i, k) - Psi(i - 1, k), (i, 1, d))
    telescopes = chain(steps, equals(Psi(d, k) - Psi(0, k), "they telescope", telescoping(Psi(i - 1, k))))
    all_stars = chain(
        Psi(0, k),
        equals(Psi(d, k) - steps, "star by star", telescopes),
        at_most(Psi(d, k), "no star lowers it", step),
    )
    uncovered = (1 - gamma) * Positive(-k)
    pair, stars = (
        suppose(Mean(Positive(one - k)), "=", gamma * Psi(count, k) + uncovered, words, (), [k])
        for one, count, words in ((G, 0, "$G$ of a pair, 0 where the blanket is not"), (H, d, "$G_s$ of the stars"))
    )
    means = suppose(Mean(G), "=", Mean(H), r"both are $1 - \alpha$: the mean of a product of independent ratios")
    order = chain(
        Mean(Positive(G - k)),
        by("a pair of inputs", pair),
        at_most(stars.right, "all stars", all_stars),
        equals(Mean(Positive(H - k)), "the pair with stars", stars),
        words="convex order",
    )
    statement = chain(
        Mean(Positive(sums[0])) / n,
        at_most(
            Mean(Positive(sums[1])) / n,
            "the divergence of $n$ users, for every $n$",
            theorems.convex_order_of_sums(G, H, k, sums, "users are independent", excess=order, means=means),
        ),
    )
    return (
        first, second, lemma, low, high, one_attribute, whole, others, without, with_star, psi, step, telescopes,
        all_stars, pair, stars, means, order, statement,
    )  # fmt: skip
