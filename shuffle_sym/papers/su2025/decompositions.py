r"""Decompositions of Su et al. 2025: those that every ε0-LDP randomizer has (Section 3), the blanket as one that no
other beats, and Algorithms 1 to 3 as maps: what they make of a reduction pair."""

from collections.abc import Sequence
from itertools import combinations

import sympy as sp

from shuffle_sym.algebra import latex
from shuffle_sym.model.decomposition import Decomposition, Numbers
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.laws import Histogram, binomial, mixed, shuffled
from shuffle_sym.papers.proofs import LEVEL, by, cite_parts, quantities, shown_by
from shuffle_sym.papers.su2025.gparv import L, pair, theorem9, total
from shuffle_sym.papers.su2025.notation import BLANKET, ROWS, SOURCE, K, Law, above_one, alpha, i, j, m, n, t, y
from shuffle_sym.papers.tools import F, law_of_g
from shuffle_sym.truth.exact import reduction_pair

beta, gamma, rho = sp.symbols("beta gamma rho", positive=True)
real, output = sp.symbols("s f")
shuffled_pair, blanket_pair, clone_pair = (sp.symbols(f"{name}_0 {name}_1") for name in ("S", "B", "P"))

# ------------------------------------------------------------------------------------------ the maps, run literally

#: Points, and three laws of which two are mixed: components of two decompositions.
POINTS: list[Law] = [[F(1), F(0), F(0)], [F(0), F(1), F(0)], [F(0), F(0), F(1)]]


def _left_over(row: Law, common: Law) -> Law:
    beta = 1 - sum(common)
    return [(p - c) / beta for p, c in zip(row, common, strict=True)]


def _masses(a: Law, b: Law, c: Law) -> Numbers:
    return Numbers(a, b, c, 1 - sum(c))


#: The blanket as a decomposition.
OF_BLANKET = _masses(ROWS[0], ROWS[1], BLANKET)


def _pair_of_laws(decomposition: Numbers, users: int) -> list[dict[Histogram, F]]:
    """The laws of a reduction pair under both inputs, each on the histograms that it makes."""
    pair = reduction_pair(decomposition, users)
    return [{h: laws[side] for h, laws in pair.items() if laws[side]} for side in (0, 1)]


def _draws(components: list[Law], histogram: Sequence[int]) -> list[Law]:
    """One draw for every count of a component."""
    return [law for law, count in zip(components, histogram, strict=True) for _ in range(count)]


def _output(histogram: Histogram, components: list[Law], left_overs: list[Law]) -> dict[Histogram, F]:
    """Algorithms 1 and 2: one draw for every count of a component, and left-overs of users chosen at random."""
    chosen = list(combinations(left_overs, histogram[-1]))
    drawn = _draws(components, histogram[:-1])
    return mixed((F(1, len(chosen)), shuffled([*drawn, *some])) for some in chosen)


def _algorithms_1_and_2_are_right() -> bool:
    """Run on every histogram of the blanket's pair they return the shuffled messages, for both inputs and n ≤ 3."""
    for others in ((), (2,), (1, 2), (0, 2)):
        left_overs = [_left_over(ROWS[x], BLANKET) for x in others]
        for row, law in zip(ROWS[:2], _pair_of_laws(OF_BLANKET, len(others) + 1), strict=True):
            made = mixed((mass, _output(h, POINTS, left_overs)) for h, mass in law.items())
            if made != shuffled([row, *(ROWS[x] for x in others)]):
                return False
    return True


def _algorithm_3_is_right() -> bool:
    """Run on every histogram of a decomposition that is not the blanket (the components overlap, and some of the common
    part is left out) it returns the pair of the blanket, for both inputs, n ≤ 3."""
    components = [*POINTS, [F(1, 2), F(1, 2), F(0)]]
    a, b = ([p - F(1, 8), q - F(1, 8), r, F(1, 4)] for p, q, r in ROWS[:2])
    masses = _masses(a, b, [BLANKET[0] - F(1, 12), BLANKET[1] - F(1, 12), BLANKET[2] / 2, F(1, 12)])
    common = [sum(c * law[y] for c, law in zip(masses.c, components, strict=True)) for y in range(3)]
    extra = [(w - c) / masses.beta for w, c in zip(BLANKET, common, strict=True)]
    draws = [*([*law, F(0)] for law in components), [*extra, 1 - sum(extra)]]  # the last message: nothing is sent

    def made(users: int) -> list[dict[Histogram, F]]:
        laws = _pair_of_laws(masses, users)
        return [mixed((mass, shuffled(_draws(draws, h))) for h, mass in law.items()) for law in laws]

    return all(made(users) == _pair_of_laws(OF_BLANKET, users) for users in (1, 2, 3))


def _blanket_pairs_agree() -> bool:
    """(|b|, Y) of Definition 6, multiplied out, against the histograms of Definition 8, for both inputs, n ≤ 3."""
    gamma = sum(BLANKET, F(0))
    omega = [c / gamma for c in BLANKET]

    def made(row: Law, others: int) -> dict[Histogram, F]:
        return mixed(
            (chance, {(*h, others - size): p for h, p in shuffled([row, *[omega] * size]).items()})
            for size, chance in enumerate(binomial(others, gamma))
        )

    return all([made(row, n - 1) for row in ROWS[:2]] == _pair_of_laws(OF_BLANKET, n) for n in (1, 2, 3))


# ------------------------------------------------------------------------------------------------- Algorithms 1 and 2

RUN = (r"by running it on every histogram, $n \le 3$, a randomizer without symmetry", _algorithms_1_and_2_are_right)


@derivation(
    "Algorithms 1 and 2 make the shuffled messages", f"{SOURCE}, Algorithms 1 and 2",
    where={beta: r"what a decomposition leaves of every other user; $1 - \gamma$ for the blanket",
           m: "how many of the $n - 1$ others send from what is left",
           i: "number of a set of $m$ of them, from 1 to the binomial coefficient",
           real: "probability of some messages when the users send them; $f$ when the algorithm returns them"},
)  # fmt: skip
def algorithms_1_and_2() -> Blocks:
    r"""From the histogram of a reduction pair, Algorithms 1 and 2 make the shuffled messages of the users (Su et al.
    2025, Algorithms 1 and 2): it does no harm that the users whose left-overs are drawn are chosen at random.

    k(m, i) is the probability of some shuffled messages if it is set number i of m users that sends from what is left,
    and everyone else from the components. Algorithm 1 has the components of the clones, Algorithm 2 the messages.

    >>> algorithms_1_and_2().result
    f
    """
    k, at_random = quantity("k", nonnegative=True), quantity("A", nonnegative=True)
    chance = quantity("B", nonnegative=True)
    sets = sp.binomial(n - 1, m)
    average = given(
        at_random(m), sp.Sum(k(m, i), (i, 1, sets)) / sets, "the algorithm draws the $m$ users uniformly at random"
    )
    counted = given(chance(m), sets * beta**m * (1 - beta) ** (n - 1 - m), "so likely is $m$ in the histogram")
    return average, counted, chain(
        real,
        by("the shuffled messages of the users, by who sends from what is left", theorems.total_probability(
            real, sp.Sum(beta**m * (1 - beta) ** (n - 1 - m) * sp.Sum(k(m, i), (i, 1, sets)), (m, 0, n - 1)),
            r"every other user sends from what is left with probability $\beta$, independently of the others",
            checked=RUN,
        )),
        equals(sp.Sum(chance(m) * at_random(m), (m, 0, n - 1)), "all sets of $m$ users are alike", average, counted),
        equals(output, "what the algorithm returns", theorems.total_probability(
            output, sp.Sum(chance(m) * at_random(m), (m, 0, n - 1)),
            "the histogram has $m$ uncovered users with probability $B(m)$, and then the messages are made with $A(m)$",
            checked=RUN,
        )),
    )  # fmt: skip


@derivation(
    "The blanket is a decomposition", f"{SOURCE}, Theorem 7",
    where={m: "how many of the $n - 1$ others send from the blanket, $|b|$",
           beta: r"$1 - \gamma$, what the blanket leaves of every user",
           rho: r"the product of $c_j^{h_j}/h_j!$ over the messages; $\sigma$ with $c_j/\gamma$ in place of $c_j$"},
)  # fmt: skip
def blanket_is_a_decomposition() -> Blocks:
    r"""R(x) is c + βLO(x) for every x, where c = inf_x R(x), β = 1 − γ and LO(x) is a law; and the pair
    :math:`(|b|, Y)` of the blanket has the law, hence the divergence, of the reduction pair of this decomposition
    (Su et al. 2025, Theorem 7).

    >>> [fact.right for fact in blanket_is_a_decomposition().statement]
    [LO(y), 1, beta*LO(y) + c(y), u(m), D_alpha(P_0 || P_1)]
    """
    R = quantity("R", r"R(x)({0})", nonnegative=True)
    c, rest = quantity("c", r"c({0})", nonnegative=True), quantity("LO", r"\mathrm{{LO}}(x)({0})")
    below = suppose(c(y), "<=", R(y), "$c$ is the infimum over all inputs $x$")
    ones = suppose(sp.Sum(R(y), (y, 1, K)), "=", 1, "$R(x)$ is a law")
    mass = suppose(sp.Sum(c(y), (y, 1, K)), "=", 1 - beta, r"$\gamma = \sum c(y) = 1 - \beta$")
    defined = given(rest(y), (R(y) - c(y)) / beta, "what the blanket leaves of $R(x)$")
    sign = chain(0, at_most(rest(y), "$c$ is not above $R(x)$", defined, below))
    whole = chain(
        sp.Sum(rest(y), (y, 1, K)),
        equals((sp.Sum(R(y), (y, 1, K)) - sp.Sum(c(y), (y, 1, K))) / beta, "message by message", defined),
        equals(1, r"$1 - \gamma = \beta$", ones, mass),
    )
    mixture = chain(
        R(y),
        equals(c(y) + beta * rest(y), r"$R(x)$ is the blanket, or $\mathrm{LO}(x)$ with probability $\beta$", defined),
    )
    sigma, (v, u) = sp.Symbol("sigma", positive=True), quantities("v u", nonnegative=True)
    blanket = given(
        v(m),
        sp.binomial(n - 1, m) * (1 - beta) ** m * beta ** (n - 1 - m) * sp.factorial(m) * sigma,
        r"Definition 6: $m$ of the others are covered, and $m$ draws from $c/\gamma$ make a histogram",
    )
    clone = given(
        u(m),
        sp.factorial(n - 1) / sp.factorial(n - 1 - m) * beta ** (n - 1 - m) * rho,
        r"Definition 8: $n - 1$ draws from $(c, \beta)$ make it, with $n - 1 - m$ in the last cell",
    )
    scaled = given(sigma, rho / (1 - beta) ** m, r"the $m$ draws have $1/\gamma$ each")
    same = chain(
        v(m),
        equals(
            sp.binomial(n - 1, m) * sp.factorial(m) * beta ** (n - 1 - m) * rho, r"$\gamma^m$ cancels", blanket, scaled
        ),
        equals(u(m), r"$\tbinom{n - 1}{m} m! = (n - 1)!/(n - 1 - m)!$", clone),
    )
    equal = shown_by("one pair in two notations", theorems.general(
        "data processing, both ways", Divergence(alpha, *blanket_pair), "=", Divergence(alpha, *clone_pair),
        stated=["the differing user's message is added to both, and $(|b|, Y)$ and the histogram say the same"],
        shown=[("the others have the same law in both", same)], local=(m,),
        checked=(r"outcome by outcome, $n \le 3$, a randomizer without symmetry", _blanket_pairs_agree),
    ))  # fmt: skip
    return (
        below, ones, mass, defined, sign, whole, mixture, scaled, blanket, clone, same, equal,
        parts(sign, whole, mixture, same, equal),
    )  # fmt: skip


@derivation("The blanket bounds every pair of datasets", f"{SOURCE}, Theorem 3")
def blanket_reduction() -> Blocks:
    r"""D_α of the shuffled messages of two neighbouring datasets is at most that of the blanket's pair (Su et al. 2025,
    Theorem 3): R(x) = c + (1 − γ)LO(x) for every x, and Algorithm 2 makes the messages from the pair.

    >>> blanket_reduction().result
    D_alpha(B_0 || B_1)
    """
    mixture = cite_parts(blanket_is_a_decomposition, 0, 1, 2)
    law = cite(algorithms_1_and_2)
    words = (r"$\mathrm{LO}(x)$ is not negative", "it sums to 1", "$R(x)$ is the mixture")
    return *mixture, law, shown_by("by Algorithm 2", theorems.general(
        "data processing", Divergence(alpha, *shuffled_pair), "<=", Divergence(alpha, *blanket_pair),
        stated=[r"Algorithm 2 knows $x_2, \dots, x_n$ and not whether user 1 has $x_0$ or $x_1$"],
        shown=[*zip(words, mixture, strict=True), ("Algorithm 2 returns the shuffled messages", law)],
    ))  # fmt: skip


# ------------------------------------------------------------------------------------------------- Algorithm 3


@derivation(
    "Algorithm 3 makes the blanket of any decomposition", f"{SOURCE}, Algorithm 3",
    where={beta: "what the decomposition leaves of every other user, in its component $K + 1$",
           gamma: r"the mass of the blanket, $\sum \omega(y)$ over the messages"},
)  # fmt: skip
def algorithm3() -> Blocks:
    r"""What Algorithm 3 makes of one draw (Su et al. 2025): of the differing user's draw a message from R(x_0) or
    R(x_1); of another user's draw the message y with the blanket's probability, and nothing with probability 1 − γ.

    ω(y) stands for the infimum of R(x)(y) over all x, not divided by γ. r(y) is the probability that the algorithm
    sends y for a draw of component K + 1, the published coin times Q^com(y); it is not negative because a decomposition
    is one for all inputs.

    >>> [fact.right for fact in algorithm3().statement]
    [R_0(y), omega(y), 1 - gamma, 0]
    """
    a, c = quantity("a", r"a_{{{0}}}", nonnegative=True), quantity("c", r"c_{{{0}}}", nonnegative=True)
    Q, omega = quantity("Q", r"Q_{{{0}}}({1})", nonnegative=True), quantity("omega", nonnegative=True)
    under_x0, extra = quantity("R_0", r"R(x_0)({0})", nonnegative=True), quantity("r", real=True)
    common = sp.Sum(c(j) * Q(j, y), (j, 1, K))
    messages = sp.Symbol("Y", integer=True, positive=True)
    first = suppose(under_x0(y), "=", sp.Sum(a(j) * Q(j, y), (j, 1, K)), "the decomposition of $R(x_0)$")
    below = suppose(common, "<=", omega(y), "the common part is below every $R(x)$, so below the infimum")
    size = suppose(sp.Sum(omega(y), (y, 1, messages)), "=", gamma, r"the blanket has the mass $\gamma$")
    sent = given(extra(y), (omega(y) - common) / beta, "a draw of component $K + 1$ becomes the message $y$")
    sign = chain(extra(y), at_least(0, "what the blanket has more than the decomposition", sent, below))
    own = chain(
        sp.Sum(a(j) * Q(j, y), (j, 1, K)),
        equals(under_x0(y), "the user with $x_0$: a draw of component $j$ becomes a message from $Q_j$", first),
    )
    other = chain(
        common + beta * extra(y),
        equals(
            omega(y), "every other user: component $j$ becomes a message from $Q_j$, component $K + 1$ by $r$", sent
        ),
    )
    nothing = chain(
        1 - sp.Sum(common + beta * extra(y), (y, 1, messages)),
        equals(1 - sp.Sum(omega(y), (y, 1, messages)), "message by message", other),
        equals(1 - gamma, "the blanket's mass", size),
    )
    return first, below, size, sent, sign, own, other, nothing, parts(own, other, nothing, sign)


@derivation("No decomposition does better than the blanket", f"{SOURCE}, Theorem 6")
def blanket_is_best() -> Blocks:
    r"""D_α of the shuffled messages ≤ D_α of the blanket's pair ≤ D_α of the pair of any decomposition that holds for
    all inputs (Su et al. 2025, Theorem 6), by Algorithms 2 and 3.

    >>> blanket_is_best().result
    D_alpha(P_0 || P_1)
    """
    first = cite(blanket_reduction)
    draws = cite_parts(algorithm3, 0, 1, 2, 3)
    words = ("the user with $x_0$, and $x_1$ likewise", "every other user", "nothing is sent", "$r$ is a probability")
    better = shown_by("by Algorithm 3", theorems.general(
        "data processing", Divergence(alpha, *blanket_pair), "<=", Divergence(alpha, *clone_pair),
        stated=[
            "Algorithm 3 turns each draw of the histogram into a message or nothing, by itself and without the data",
        ], shown=list(zip(words, draws, strict=True)),
        checked=(r"by running it on every histogram, $n \le 3$, four overlapping components", _algorithm_3_is_right),
    ))  # fmt: skip
    shown = chain(
        Divergence(alpha, *shuffled_pair),
        at_most(Divergence(alpha, *blanket_pair), "by Algorithm 2", first),
        at_most(Divergence(alpha, *clone_pair), "by Algorithm 3", better),
    )
    return first, *draws, better, shown, parts(better, shown)


# ------------------------------------------------------------------------------------------------- the standard clone

#: R(x_0)(y), R(x_1)(y) and R(x)(y) for any other input x.
R0, R1, R = (quantity(f"R{k}", rf"R(x{k})({{0}})", nonnegative=True) for k in ("_0", "_1", ""))
Q0, Q1 = quantities("Q_0 Q_1", "*({0})", real=True)
mass = sp.Symbol("p")
EVERY_MESSAGE = {
    R0(y): "probability of the message $y$ under $x_0$; likewise under $x_1$ and under any input $x$",
    **LEVEL,
}


def _ldp(low: sp.Function, high: sp.Function) -> Fact:
    return suppose(
        high(y),
        "<=",
        t * low(y),
        rf"$\varepsilon_0$-LDP: ${latex.formula(high(y))}$ is at most $t$ times ${latex.formula(low(y))}$",
    )


def _laws(*laws: sp.Function) -> list[Fact]:
    return [suppose(sp.Sum(law(y), (y, 1, K)), "=", 1, f"${latex.formula(law(y))}$ is a law in $y$") for law in laws]


TWO_LAWS = [
    given(Q0(y), (t * R0(y) - R1(y)) / (t - 1), "$t$ times what $x_0$ makes of it, less $x_1$"),
    given(Q1(y), (t * R1(y) - R0(y)) / (t - 1), "the same with $x_0$ and $x_1$ exchanged"),
]


@derivation("$R(x_0)$ and $R(x_1)$ as mixtures of two laws", f"{SOURCE}, Lemma 1", where=EVERY_MESSAGE)
def two_point_decomposition() -> Blocks:
    r"""R(x_0) and R(x_1) are the mixtures t : 1 and 1 : t of two laws, :math:`Q_0 = (tR(x_0) - R(x_1))/(t - 1)` and
    Q_1, the same with x_0 and x_1 exchanged (Su et al. 2025, Lemma 1), for t > 1. At t = 1 both are R(x_0) = R(x_1).

    >>> [fact.right for fact in two_point_decomposition().statement]
    [t*Q_0(y)/(t + 1) + Q_1(y)/(t + 1), t*Q_1(y)/(t + 1) + Q_0(y)/(t + 1), 0, 0, 1, 1]
    """
    local = [_ldp(R0, R1), _ldp(R1, R0)]
    laws, defined = _laws(R0, R1), TWO_LAWS
    keep, flip = t / (t + 1), 1 / (t + 1)
    mixed = [
        chain(R0(y), equals(keep * Q0(y) + flip * Q1(y), "$R(x_1)$ cancels", *defined), under=above_one),
        chain(R1(y), equals(flip * Q0(y) + keep * Q1(y), "$R(x_0)$ cancels", *defined), under=above_one),
    ]
    signs = [
        chain(Q(y), at_least(0, r"by $\varepsilon_0$-LDP", defined[k], local[k]), under=above_one)
        for k, Q in enumerate((Q0, Q1))
    ]
    sums = [
        chain(
            sp.Sum(Q(y), (y, 1, K)),
            equals((t * sp.Sum(one(y), (y, 1, K)) - sp.Sum(two(y), (y, 1, K))) / (t - 1), "message by message", law),
            equals(1, "$R(x_0)$ and $R(x_1)$ sum to 1", *laws),
            under=above_one,
        )
        for Q, law, one, two in ((Q0, defined[0], R0, R1), (Q1, defined[1], R1, R0))
    ]
    return *local, *laws, *defined, *mixed, *signs, *sums, parts(*mixed, *signs, *sums)


@derivation("Everyone is a clone with probability $1/t$", f"{SOURCE}, Theorem 2", where=EVERY_MESSAGE)
def standard_clone() -> Blocks:
    r"""The pair of the standard clone, a = (t, 1)/(t + 1), b = (1, t)/(t + 1), c = (1, 1)/2t, bounds every pair of
    datasets (Su et al. 2025, Theorem 2): with the laws of Lemma 1 every R(x) is :math:`\frac1{2t}(Q_0 + Q_1)` and
    something left over, and Algorithm 1 makes the messages.

    >>> standard_clone().result
    D_alpha(P_0 || P_1)
    """
    lemma = cite_parts(two_point_decomposition, 0, 1, 2, 3)
    local, laws, defined = [_ldp(R, R0), _ldp(R, R1)], _laws(R0, R1, R), TWO_LAWS
    # -- what (Q_0 + Q_1)/2t leaves of R(x): it is a law, and R(x) is the mixture
    rest = quantity("LO", r"\mathrm{{LO}}(x)({0})")
    left = given(rest(y), (R(y) - (Q0(y) + Q1(y)) / (2 * t)) / (1 - 1 / t), "what is left of $R(x)$, over $1 - 1/t$")
    sign = chain(
        rest(y),
        equals((R(y) - (R0(y) + R1(y)) / (2 * t)) / (1 - 1 / t), "$Q_0 + Q_1 = R(x_0) + R(x_1)$", left, *defined),
        at_least(0, "$R(x_0)$ and $R(x_1)$ are at most $t$ times $R(x)$", *local),
        under=above_one,
    )
    whole = chain(
        sp.Sum(rest(y), (y, 1, K)),
        equals(
            (sp.Sum(R(y), (y, 1, K)) - (sp.Sum(R0(y), (y, 1, K)) + sp.Sum(R1(y), (y, 1, K))) / (2 * t)) / (1 - 1 / t),
            "message by message",
            left,
            *defined,
        ),
        equals(1, "all three sum to 1", *laws),
        under=above_one,
    )
    mixture = chain(
        R(y),
        equals((Q0(y) + Q1(y)) / (2 * t) + (1 - 1 / t) * rest(y), "so $R(x)$ is this mixture", left),
        under=above_one,
    )
    law = cite(algorithms_1_and_2)
    words = ("$R(x_0) = (tQ_0 + Q_1)/(t + 1)$", "$R(x_1) = (Q_0 + tQ_1)/(t + 1)$", r"$Q_0 \ge 0$", r"$Q_1 \ge 0$")
    return *local, *laws, *defined, *lemma, left, sign, whole, mixture, law, shown_by(
        "by Algorithm 1",
        theorems.general(
            "data processing", Divergence(alpha, *shuffled_pair), "<=", Divergence(alpha, *clone_pair),
            stated=[
                r"Algorithm 1, with $Q_0$ and $Q_1$, knows $x_2, \dots, x_n$ and not whether user 1 has $x_0$ or $x_1$",
            ],
            shown=[
                *zip(words, lemma, strict=True), (r"$\mathrm{LO}(x)$ is not negative", sign), ("it sums to 1", whole),
                ("$R(x)$ is the mixture", mixture), ("Algorithm 1 returns the shuffled messages", law),
            ], under=above_one,
        ), under=above_one,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- the stronger clone


@derivation(
    "The three-point decomposition", f"{SOURCE}, Theorem 4",
    where={
        **EVERY_MESSAGE,
        mass: "the mass of $A_0$ and of $A_1$",
        sp.Symbol("u", nonnegative=True): "$Q_0(y)$ of Lemma 1, $w$ is $Q_1(y)$, and $r$ is $R(x)(y)$ for any "
                                          "input $x$",
    },
)  # fmt: skip
def three_point_decomposition() -> Blocks:
    r"""R(x_0) = tpQ_0 + pQ_1 + (1 − p − tp)Q, R(x_1) with p and tp exchanged, and pQ_0 + pQ_1 in every R(x), with
    p = TV(R(x_0), R(x_1))/(t − 1) ≤ 1/(t + 1) (Su et al. 2025, Theorem 4). Finitely many messages are not needed.

    With the laws Q_0, Q_1 of Lemma 1, pQ_0 here is :math:`A_0 = [Q_0 - Q_1]_+/(t + 1)`, pQ_1 is A_1 likewise, and what
    is left is C = min(Q_0, Q_1).

    >>> [fact.right for fact in three_point_decomposition().statement]
    [R_0(y), R_1(y), 0, p, 1/(t + 1), r]
    """
    A0, A1, C = quantities("A_0 A_1 C", "*({0})", real=True)
    lemma = cite_parts(two_point_decomposition, 0, 1, 2, 3, 4, 5)
    laws, mixtures, signs = lemma[4:], lemma[:2], lemma[2:4]
    defined = [
        given(A0(y), Positive(Q0(y) - Q1(y)) / (t + 1), "$p$ times the first law"),
        given(A1(y), Positive(Q1(y) - Q0(y)) / (t + 1), "$p$ times the second law"),
        given(C(y), Q0(y) - Positive(Q0(y) - Q1(y)), "$1 - p - tp$ times the third"),
    ]
    # -- [u − w]_+ = u − w + [w − u]_+
    u, w = sp.symbols("u w", real=True)
    turned = u - w + Positive(w - u)
    exchange = cases(
        chain(
            Positive(u - w), equals(u - w, "it is not negative"), equals(turned, "$[w - u]_+$ is 0"), under=sp.Ge(u, w)
        ),
        chain(
            Positive(u - w),
            equals(0, "it is not positive"),
            equals(turned, "$[w - u]_+$ is $w - u$"),
            under=sp.Ge(w, u),
        ),
        words="$[u - w]_+ = u - w + [w - u]_+$",
    )
    here = exchange.at({u: Q0(y), w: Q1(y)})
    exchanged = "$[Q_0 - Q_1]_+ = Q_0 - Q_1 + [Q_1 - Q_0]_+$"
    first, second = (
        chain(
            left + C(y), equals(right, exchanged, *defined, here), equals(law(y), "Lemma 1", *mixtures), under=above_one
        )
        for left, right, law in (
            (t * A0(y) + A1(y), (t * Q0(y) + Q1(y)) / (t + 1), R0),
            (A0(y) + t * A1(y), (Q0(y) + t * Q1(y)) / (t + 1), R1),
        )
    )
    below = chain(Positive(Q0(y) - Q1(y)), at_most(Q0(y), "$Q_0$ and $Q_1$ are not negative", *signs), under=above_one)
    sign = chain(C(y), at_least(0, "what is left is not negative", defined[2], below), under=above_one)
    total_mass = given(mass, sp.Sum(A0(y), (y, 1, K)), "the mass of $A_0$")
    other = chain(
        sp.Sum(A1(y), (y, 1, K)),
        equals(sp.Sum(A0(y), (y, 1, K)) - (sp.Sum(Q0(y), (y, 1, K)) - sp.Sum(Q1(y), (y, 1, K))) / (t + 1), exchanged,
               *defined[:2], here),
        equals(mass, "both laws sum to 1: $A_1$ has the same mass", *laws, total_mass),
        under=above_one,
    )  # fmt: skip
    bound = chain(
        mass,
        at_most(sp.Sum(Q0(y), (y, 1, K)) / (t + 1), "$A_0$ is at most $Q_0/(t + 1)$", total_mass, defined[0], below),
        equals(1 / (t + 1), "$Q_0$ is a law", laws[0]),
        under=above_one,
    )
    # -- (pQ_0 + pQ_1)(y) is at most R(x)(y) = r, which is at least R(x_0)(y)/t and R(x_1)(y)/t, in terms of Q_0, Q_1
    q0, q1, r = sp.symbols("u w r", nonnegative=True)
    both = Positive(q0 - q1) / (t + 1) + Positive(q1 - q0) / (t + 1)
    local = [sp.Ge(r, (t * q0 + q1) / (t + 1) / t), sp.Ge(r, (q0 + t * q1) / (t + 1) / t)]
    clone = cases(
        chain(
            both,
            equals((q0 - q1) / (t + 1), "where $Q_0$ is larger"),
            at_most(r, r"$r \ge R(x_0)(y)/t \ge Q_0/(t + 1)$"),
            under=[sp.Ge(q0, q1), local[0]],
        ),
        chain(
            both,
            equals((q1 - q0) / (t + 1), "where $Q_1$ is larger"),
            at_most(r, r"$r \ge R(x_1)(y)/t \ge Q_1/(t + 1)$"),
            under=[sp.Ge(q1, q0), local[1]],
        ),
        within=local,
        words="every $R(x)$ has $pQ_0 + pQ_1$ in it",
    )
    return (
        *lemma, *defined, exchange, first, second, below, sign, total_mass, other, bound, clone,
        parts(first, second, sign, other, bound, clone),
    )  # fmt: skip


p, v, q, q_larger = sp.symbols("p v q q'", positive=True)
larger = p + v
level = sp.Symbol("k", real=True)
G, H = Random("G"), Random("H")
in_order = [sp.Le(v, 1 / (t + 1) - p), sp.Le(p, 1 / (t + 1))]


def _middle(p: sp.Expr) -> sp.Expr:
    """The middle value times its probability: (1 − α) times the mass 1 − p − tp of the last component."""
    return (1 - alpha) * (1 - (t + 1) * p)


def _values_of_g() -> bool:
    """The law of G from the decomposition a = (tp, p, 1 − p − tp), b likewise, c = (p, p, 1 − 2p)."""
    level, ratio = F(2), F(5, 4)
    for p in (F(1, 8), F(1, 5), F(1, 4)):
        rest, q = 1 - p - level * p, 1 - 2 * p
        D = Decomposition([level * p, p, rest], [p, level * p, rest], [p, p, q])
        law = {level - ratio: p, 1 - ratio * level: p, (1 - ratio) * rest / q: q}
        if law_of_g(D, ratio) != law:
            return False
    return True


def _law(variable: sp.Expr, p: sp.Expr, q: sp.Expr) -> tuple[Fact, Fact]:
    """The mean of [G − k]_+ and of G, for the three values with the probabilities p, p, q."""
    values = ((p, t - alpha), (p, 1 - alpha * t), (q, _middle(p) / q))
    sign = claim(0, "<=", 1 - (t + 1) * larger, "the mass of the last component", under=in_order)
    words = "$c = (p, p, q)$, $a = (tp, p, 1 - p - tp)$, $b = (p, tp, 1 - p - tp)$"
    checked = ("for $t = 2$, $p = 1/8, 1/5, 1/4$, from the decomposition", _values_of_g)
    return tuple(
        theorems.general(
            "total probability", Mean(inside(variable)), "=", sp.Add(*(mass * inside(value) for mass, value in values)),
            stated=[words], shown=[(r"no mass is negative, for $p \le 1/(t + 1)$", sign)], checked=checked,
            under=in_order,
        )
        for inside in (lambda x: Positive(x - level), lambda x: x)
    )  # type: ignore[return-value]  # fmt: skip


@derivation(
    "The stronger clone is monotone in $p$", f"{SOURCE}, Lemma 5, corrected",
    where={p: "the probability of each outer value of $G$; $q = 1 - 2p$ that of the middle one",
           v: "how much larger it is in the other pair, where $q' = 1 - 2(p + v)$",
           H: "$G$ of that pair; $S_n$ and $T_n$ are sums of $n$ independent copies of $G$ and of $H$"},
)  # fmt: skip
def stronger_clone_monotone() -> Blocks:
    r"""The divergence of the pair (P_0(ε0, p), P_1(ε0, p)) grows with p, up to p = 1/(t + 1) (Su et al. 2025, Lemma 5;
    for larger p, which the paper allows, a mass is negative and there is no pair).

    G has the values t − α and 1 − αt with probability p each, and one middle value. Its law is that of the pair with
    p + v after a part of each outer value has been merged with the middle one: it is smaller in convex order.

    >>> stronger_clone_monotone().result
    D_alpha(P_0(p + v) || P_1(p + v))
    """
    laws = [given(q, 1 - 2 * p, "the middle value has the rest"), given(q_larger, 1 - 2 * larger, "also with $p + v$")]
    (over, mean), (over_larger, mean_larger) = _law(G, p, q), _law(H, larger, q_larger)
    outer = [t - alpha - level, 1 - alpha * t - level]
    rest, rest_larger = _middle(p) - q * level, _middle(larger) - q_larger * level
    merged = chain(
        Positive(rest),
        equals(Positive(v * outer[0] + v * outer[1] + rest_larger),
               "$v$ of each outer value, and the middle one of the larger pair, merged", *laws),
        at_most(v * Positive(outer[0]) + v * Positive(outer[1]) + Positive(rest_larger),
                r"$[x + y + z]_+ \le [x]_+ + [y]_+ + [z]_+$"),
    )  # fmt: skip
    masses = [sp.Add(*(mass * Positive(value) for value in outer)) for mass in (p, larger)]
    excess = chain(
        Mean(Positive(G - level)),
        equals(masses[0] + Positive(rest), "the law of $G$, with $q$ taken inside", over),
        at_most(masses[1] + Positive(rest_larger), "merging makes it smaller", merged),
        equals(Mean(Positive(H - level)), "the law of $H$", over_larger),
        under=in_order,
    )
    means = chain(
        Mean(G),
        equals(1 - alpha, "the mean does not depend on $p$", mean),
        equals(Mean(H), "nor does that of $H$", mean_larger),
        under=in_order,
    )
    S, T = Random("S_n"), Random("T_n")
    P0, P1 = quantities("P_0 P_1")
    lemma = cite(theorem9)
    small, large = ((P0(one), P1(one)) for one in (p, larger))
    expectations = [
        theorems.for_other_laws(lemma, {pair[0]: laws_[0], pair[1]: laws_[1], total: one, L: 0},
                                "$P_0$, $P_1$ are the reduction pair of the three-point decomposition, and $G$ "
                                "has its law")
        for laws_, one in ((small, S), (large, T))
    ]  # fmt: skip
    return *laws, merged, excess, means, lemma, chain(
        Divergence(alpha, *small),
        equals(Mean(Positive(S)) / n, "Theorem 9; no component has $c = 0$", expectations[0]),
        at_most(
            Mean(Positive(T)) / n,
            "convex order",
            theorems.convex_order_of_sums(G, H, level, (S, T), "$n$ copies each", excess, means),
        ),
        equals(Divergence(alpha, *large), "Theorem 9", expectations[1]),
        under=in_order,
    )  # fmt: skip
