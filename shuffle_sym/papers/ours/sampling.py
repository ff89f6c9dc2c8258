r"""Users who are sampled before they are shuffled, where neighbours replace one user's input; the proofs are ours, but
for the identity between the two divergences (Balle, Barthe and Gaboardi 2018, advanced joint convexity).

Each user takes part with probability q on its own (Poisson), or a batch of m of n users is drawn without replacement.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.balle2019.reduction import alone, joined, lemma_a2
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Chain, at_least, at_most, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, Given, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Positive, quantity
from shuffle_sym.papers.laws import Histogram, mixed, shuffled
from shuffle_sym.papers.ours.notation import K, N, alpha, gamma, n, y
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.tools import F

q, beta = parameter("q", 0, 1), parameter("beta", 0, 1)
x, h, m, e, T, H, L = sp.symbols("x h m e T H L", integer=True, positive=True)
less = sp.Symbol("alpha'", positive=True)
A0, A1, B0, B1, P, Q, MU, M = sp.symbols("A_0 A_1 B_0 B_1 P Q mu M")
mass = {law: quantity(law.name, nonnegative=True)(h) for law in (A0, A1, P, Q, MU, M)}
WITHIN = sp.Ge(alpha, 1)
OURS = "ours (shuffle_sym, accounting/batches)"
WHERE = {
    alpha: r"$e^{\varepsilon}$ for the $m$ users of a batch",
    less: r"$e^{\varepsilon}$ for all $n$ users",
    h: "a multiset of $m$ messages",
    H: "how many of them there are",
    A0: "the messages if the user has $x_0$",
    A1: "the messages if the user has $x_1$",
    P: "those of a batch that holds the user with $x_0$",
    Q: "those of a batch that holds the user with $x_1$",
    MU: "those of a batch without the user",
    M: r"the mixture $(1 - \beta)\mu + \beta Q$",
}


@derivation(
    "The blanket of users who take part with probability $q$", "ours (shuffle_sym, randomizers/composed)",
    where={x: "an input", y: "a message that is not void", K: "how many there are", q: "probability to take part"},
)  # fmt: skip
def sampled_blanket() -> Blocks:
    r"""With c = inf R of mass γ, the largest common part of q·R + (1 − q)·void is q·c + (1 − q)·void: it is below the
    law of every input, some input attains it at every message, and its mass is qγ + 1 − q.

    w(y) is an input that sends y with the least probability: of finitely many inputs, one does.

    >>> sampled_blanket().result, sampled_blanket().proved
    (gamma*q - q + 1, True)
    """
    R, S, common = quantities("R S c", nonnegative=True)
    least = quantity("w", integer=True, positive=True)
    void = quantity("S_void", r"S({0})(\mathrm{{void}})", nonnegative=True)
    sends = given(S(x, y), q * R(x, y), "who takes part sends from $R$")
    silent = given(void(x), 1 - q, "who does not sends the void message")
    infimum = given(common(y), R(least(y), y), "the common part of $R$, attained at $w(y)$")
    smallest = suppose(R(x, y), ">=", common(y), "no input sends $y$ with a smaller probability than $w(y)$")
    mass = suppose(sp.Sum(common(y), (y, 1, K)), "=", gamma, "the mass of the common part of $R$")
    row = suppose(sp.Sum(R(x, y), (y, 1, K)), "=", 1, "a user who takes part sends some message")
    law = chain(
        sp.Sum(S(x, y), (y, 1, K)) + void(x),
        equals(q * sp.Sum(R(x, y), (y, 1, K)) + 1 - q, "takes part, or does not", sends, silent),
        equals(1, "$R(x)$ sums to 1", row),
        words="the sampled user has a law",
    )
    below = chain(
        S(x, y),
        equals(q * R(x, y), "who takes part", sends),
        at_least(q * common(y), "no input is below $c$", smallest),
        words=r"$q\cdot c$ is below the law of every input",
    )
    attained = chain(
        S(least(y), y),
        equals(q * R(least(y), y), "who takes part", sends),
        equals(q * common(y), "$c$ is attained", infimum),
        words="and is attained, so that it is the infimum",
    )
    whole = chain(
        sp.Sum(S(least(y), y), (y, 1, K)) + void(x),
        equals(q * sp.Sum(common(y), (y, 1, K)) + 1 - q, "the infimum at every message, void the same for all $x$",
               silent, attained),
        equals(q * gamma + 1 - q, "the mass of $c$", mass),
        words="the mass of the common part",
    )  # fmt: skip
    return sends, silent, infimum, smallest, mass, row, law, below, attained, whole, parts(law, below, attained, whole)


#: Four users, two of them in a batch, for exact checks: the laws of x_0 and x_1, and those of the three others.
MINE = ((F(1, 2), F(3, 10), F(1, 5)), (F(1, 4), F(1, 4), F(1, 2)))
OTHERS = ((F(1, 8), F(3, 8), F(1, 2)), (F(3, 5), F(1, 5), F(1, 5)), (F(1, 3), F(1, 3), F(1, 3)))
IN_THE_BATCH = "the batch holds the user with probability $q$; without the user it does not depend on $x_0$ or $x_1$"
SMALL = "two of four users, three messages, in fractions"
Messages = tuple[F, ...]


def _mean(batches: Iterable[Sequence[Messages]]) -> dict[Histogram, F]:
    """The law of the shuffled messages of a batch that is one of these, all equally likely."""
    all_ = list(batches)
    return mixed([(F(1, len(all_)), shuffled(batch)) for batch in all_])


def _with(mine: Messages) -> dict[Histogram, F]:
    """The messages of a batch that holds the user: one other is in it, each with probability 1/3."""
    return _mean([mine, other] for other in OTHERS)


def _with_or_without() -> bool:
    """Whether a batch drawn from all users is one with the user, with probability q = 1/2, or one of the others."""
    without = _mean(combinations(OTHERS, 2))
    return all(
        _mean(combinations((mine, *OTHERS), 2)) == mixed([(F(1, 2), _with(mine)), (F(1, 2), without)]) for mine in MINE
    )


def _same_others() -> bool:
    """Whether P and Q are means over the same sets T of others: those of the batches that hold the user."""
    users = [(mine, *OTHERS) for mine in MINE]
    return all(_with(all_[0]) == _mean(b for b in combinations(all_, 2) if all_[0] in b) for all_ in users)


def _one_other_leaves() -> bool:
    """Whether P and μ are means over the same pairs (T', j): of (x_0, T) and of (x_j, T), T = T' without j."""
    drawn = [(T[j], T[1 - j]) for T in combinations(OTHERS, 2) for j in (0, 1)]
    return _mean([MINE[0], T] for _, T in drawn) == _with(MINE[0]) and _mean(drawn) == _mean(combinations(OTHERS, 2))


def _divergence(order: sp.Expr, first: sp.Symbol, second: sp.Symbol) -> Given:
    """A divergence of two laws of multisets, as the sum that it is."""
    terms = sp.Sum(Positive(mass[first] - order * mass[second]), (h, 1, H))
    return given(
        Divergence(order, first, second),
        terms,
        f"the divergence of ${latex.formula(first)}$ from ${latex.formula(second)}$",
    )


def _names() -> tuple[Given, Given, Given]:
    """α' and β as they come from α and q, and the mixture of μ and Q."""
    return (
        given(less, 1 + q * (alpha - 1), r"$\alpha' = 1 + q(\alpha - 1)$", under=WITHIN),
        given(beta, (1 + q * (alpha - 1)) / alpha, r"$\beta = \alpha'/\alpha$", under=WITHIN),
        given(mass[M], (1 - beta) * mass[MU] + beta * mass[Q], r"the mixture of $\mu$ and $Q$"),
    )


@derivation(
    "A batch, and a mixture", "Balle, Barthe and Gaboardi 2018, advanced joint convexity",
    where={m: "users in a batch", n: "all users", **WHERE},
)  # fmt: skip
def batch_identity() -> Blocks:
    r"""For batches of m of n users drawn without replacement, q = m/n, α ≥ 1, α' = 1 + q(α − 1) and β = α'/α:

    .. math:: D_{\alpha'}\bigl((1-q)\mu + qP \,\|\, (1-q)\mu + qQ\bigr)
              = q\, D_\alpha\bigl(P \,\|\, (1-\beta)\mu + \beta Q\bigr)

    (Balle, Barthe and Gaboardi 2018, advanced joint convexity), multiset by multiset: (1 − q)(α' − 1) = q(α − α').

    >>> batch_identity().result
    q*D_alpha(P || M)
    """
    share = given(q, m / n, "the share of the users in a batch", under=sp.Ge(n, m))
    drawn = chain(
        sp.binomial(n - 1, m - 1) / sp.binomial(n, m),
        equals(m / n, "the batches that hold the user, among all"),
        equals(q, "the share", share),
        under=sp.Ge(n, m), words="the user is in the batch with probability $q$",
    )  # fmt: skip
    worlds = [
        theorems.total_probability(
            mass[world], (1 - q) * mass[MU] + q * mass[inside],
            IN_THE_BATCH, (SMALL, _with_or_without),
        )
        for world, inside in ((A0, P), (A1, Q))
    ]  # fmt: skip
    ratio, weight, mixture = _names()
    whole, to_mixture = _divergence(less, A0, A1), _divergence(alpha, P, M)
    pointwise = chain(
        mass[A0] - less * mass[A1],
        equals((1 - q) * mass[MU] + q * mass[P] - less * ((1 - q) * mass[MU] + q * mass[Q]), "two worlds", *worlds),
        equals(q * (mass[P] - alpha * mass[M]), r"$(1 - q)(\alpha' - 1) = q(\alpha - \alpha')$", mixture, ratio,
        weight),
        under=WITHIN, words="multiset by multiset",
    )  # fmt: skip
    identity = chain(
        whole.left,
        equals(sp.Sum(q * Positive(mass[P] - alpha * mass[M]), (h, 1, H)), "multiset by multiset", whole, pointwise),
        equals(q * to_mixture.left, "take out $q$", to_mixture),
        under=WITHIN, words="the identity",
    )  # fmt: skip
    return share, drawn, ratio, weight, mixture, whole, to_mixture, pointwise, identity, parts(drawn, identity)


def _mean_of_neighbours(
    second: sp.Symbol, index: sp.Symbol, last: sp.Symbol, worst: sp.Symbol, datasets: str, checked: Callable[[], bool]
) -> tuple[Chain, tuple[Fact, ...]]:
    """D_α(P ‖ second) is at most the largest D_α of m users, because both are means over neighbours with the same
    weights; and what that uses."""
    apart = tuple(quantity(f"{law.name}_{index}", rf"{sp.latex(law)}_{{{{{{0}}}}}}")(index) for law in (P, second))
    limits = (index, 1, last)
    close = suppose(
        Divergence(alpha, *apart),
        "<=",
        worst,
        rf"{datasets} differ in one of $m$ users at most: $D_{{\max}}$ is the largest $D_\alpha$",
    )
    one = chain(sp.Sum(1 / last, limits), equals(1, f"all ${index}$ are equally likely"))
    mean = chain(
        Divergence(alpha, P, second),
        at_most(sp.Sum(Divergence(alpha, *apart) / last, limits), "both are means", theorems.joint_convexity(
            alpha, (P, second), 1 / last, limits, apart, f"the messages of {datasets}", one, (SMALL, checked),
        )),
        at_most(sp.Sum(worst / last, limits), "neighbours", close),
        equals(worst, f"all ${index}$ are equally likely"),
        words=f"a mean over {datasets}",
    )  # fmt: skip
    return mean, (close, one)


@derivation(
    "A batch without replacement: the upper bound", OURS,
    where={
        m: "users in a batch", n: "all users", T: "a set of $m - 1$ others",
        e: "$m$ others $T'$ and one $j$ of them; $T$ is $T'$ without $j$", **WHERE,
    },
)  # fmt: skip
def batch_upper() -> Blocks:
    r"""For batches of m < n of n users, q = m/n, α ≥ 1 and α' = 1 + q(α − 1), D_α' of the n users is at most q times
    the largest D_α of m shuffled users. (With m = n, α' is α, and there is nothing to show.)

    P and Q are means over the set T of the m − 1 others in the batch: (x_0, T) and (x_1, T) are neighbours. For μ draw
    m others T' and j among them: T = T' without j is uniform, so P is a mean of (x_0, T) and μ one of (x_j, T), over
    the same pairs.

    >>> batch_upper().result
    D_max*q
    """
    worst = sp.Symbol("D_max", nonnegative=True)
    mixture, (to_mixture, to_mu, to_Q) = _names()[-1], (_divergence(alpha, P, law) for law in (M, MU, Q))
    identity, (u, v) = cite(batch_identity, 1), sp.symbols("u v", real=True)
    mean, above = (1 - beta) * u + beta * v, (1 - beta) * Positive(u) + beta * Positive(v)
    bent = claim(Positive(mean), "<=", above, r"$[\cdot]_+$ is convex")
    far, near = mass[P] - alpha * mass[MU], mass[P] - alpha * mass[Q]
    convex = chain(
        to_mixture.left,
        equals(sp.Sum(Positive((1 - beta) * far + beta * near), (h, 1, H)), "the mixture", to_mixture, mixture),
        at_most(sp.Sum(above.subs({u: far, v: near}), (h, 1, H)), bent.words, bent.at({u: far, v: near})),
        equals((1 - beta) * to_mu.left + beta * to_Q.left, "two sums", to_mu, to_Q),
        words="convex in the second law",
    )  # fmt: skip
    given_others, supposed_others = _mean_of_neighbours(Q, T, N, worst, "$(x_0, T)$ and $(x_1, T)$", _same_others)
    one_leaves, supposed_leaves = _mean_of_neighbours(MU, e, L, worst, "$(x_0, T)$ and $(x_j, T)$", _one_other_leaves)
    often = claim(
        m * sp.binomial(n - 1, m), "=", (n - m) * sp.binomial(n - 1, m - 1),
            "each $T$ is left by $n - m$ pairs $(T', j)$",
        under=sp.Gt(n, m),
    )  # fmt: skip
    statement = chain(
        Divergence(less, A0, A1),
        equals(q * to_mixture.left, "the identity", identity),
        at_most(q * ((1 - beta) * to_mu.left + beta * to_Q.left), "convex in the second law", convex),
        at_most(q * worst, "each is a mean over neighbours", one_leaves, given_others),
        under=WITHIN,
    )
    return (
        mixture, to_mixture, to_mu, to_Q, identity, convex,
        *supposed_others, given_others, *supposed_leaves, one_leaves, often, statement, parts(often, statement),
    )  # fmt: skip


@derivation(
    "A batch without replacement, all others alike: a decomposition",
    "ours (shuffle_sym, model/decomposition, in_batch)",
    where={
        y: "a message", K: "how many of them there are", **{law: WHERE[law] for law in (h, H, A0, A1, P, Q, MU)},
        B0: "$m$ messages, the first from $a'$, the others from $c$", B1: "the same with $b'$",
    },
)  # fmt: skip
def batch_lower() -> Blocks:
    r"""If all others have one input, the divergence of m of n users drawn without replacement, q = m/n, is exactly that
    of m users of whom the first sends from a' = qa + (1 − q)c or b' = qb + (1 − q)c, and the others from c; a, b and c
    are the laws of x_0, x_1 and of the others' input.

    ρ(h, y) is the probability that m − 1 messages from c are h without one y. In a batch without the user one more of
    the others takes its place, who sends from c.

    >>> batch_lower().result
    D_alpha(B_0 || B_1)
    """
    rest = quantity("rho", nonnegative=True)
    a, b, c = quantities("a b c", nonnegative=True)
    firsts = quantities("a' b'", nonnegative=True)
    pair = quantities("B_0 B_1", nonnegative=True)

    def after(first: sp.Expr) -> sp.Expr:
        return sp.Sum(first(y) * rest(h, y), (y, 1, K))

    inside = [
        given(mass[law], after(first), f"one of $m$ users sends from ${first.__name__}$, the others from $c$")
        for law, first in ((P, a), (Q, b), (MU, c))
    ]
    blocks, worlds = [], []
    for world, law, own, first, both in zip((A0, A1), (P, Q), (a, b), firsts, pair, strict=True):
        mixed_law = given(
            first(y), q * own(y) + (1 - q) * c(y), f"the first of $m$ users sends from ${first.__name__}$"
        )
        alone = given(both(h), after(first), "and the others from $c$")
        same = chain(
            mass[world],
            by(
                "with the user, or without",
                theorems.total_probability(
                    mass[world], (1 - q) * mass[MU] + q * mass[law], IN_THE_BATCH, (SMALL, _with_or_without)
                ),
            ),
            equals((1 - q) * after(c) + q * after(own), "one of $m$ users, and the others", *inside),
            equals(after(first), r"sums of one and the same $\rho$", mixed_law),
            equals(both(h), "its name", alone),
            words=f"${world}$ and ${both.__name__}$ are one law",
        )
        worlds.append(same)
        blocks += [mixed_law, alone, same]
    apart, named = (
        given(Divergence(alpha, *laws), sp.Sum(Positive(first - alpha * second), (h, 1, H)), "the divergence")
        for laws, first, second in (((A0, A1), mass[A0], mass[A1]), ((B0, B1), pair[0](h), pair[1](h)))
    )
    return *inside, *blocks, apart, named, chain(
        apart.left,
        equals(named.right, "the same laws", apart, *worlds),
        equals(named.left, "the divergence of the decomposition", named),
    )  # fmt: skip


@derivation("One more user does not hurt", "ours; Balle et al. 2019, Lemma A.2", where={n: "users"})
def one_more_user() -> Blocks:
    r"""D_α of n + 1 shuffled users is at most that of n, for the same two inputs that differ: the message of one more
    user, whose input is the same in both datasets, is independent of the others and tells nothing. One
    after the other: the divergence does not grow with the number of users.

    >>> one_more_user().result
    D_alpha(W_0(n) || W_1(n))
    """
    worlds = quantity("W_0", r"W_0^{{({0})}}"), quantity("W_1", r"W_1^{{({0})}}")
    more, fewer = (tuple(world(size) for world in worlds) for size in (n + 1, n))
    lemma = cite(lemma_a2)
    return lemma, chain(
        Divergence(alpha, *more),
        at_most(Divergence(alpha, *fewer), "one more message", theorems.for_other_laws(
            lemma, dict(zip((*joined, *alone), (*more, *fewer), strict=True)),
            "$A_0$ is the message of a user who has the same input in both datasets, independent of the others",
        )),
    )  # fmt: skip
