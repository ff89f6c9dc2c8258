r"""Algorithms 1 to 3 of Su et al. 2025 as maps: what they make of a reduction pair, and the theorems that follow."""

import math
from fractions import Fraction
from itertools import combinations

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model.decomposition import Numbers
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, quantity
from shuffle_sym.papers.laws import Histogram, mixed, shuffled
from shuffle_sym.truth.exact import reduction_pair

F = Fraction
Law = list[F]
SOURCE = "Su et al. 2025"
alpha = field.alpha
n = sp.Symbol("n", integer=True, positive=True)
m = sp.Symbol("m", integer=True, nonnegative=True)
i, j, y, K = sp.symbols("i j y K", integer=True, positive=True)
beta = sp.Symbol("beta", positive=True)
gamma = sp.Symbol("gamma", positive=True)
rho = sp.Symbol("rho", positive=True)
real, output = sp.symbols("s f")
shuffled_pair, blanket_pair, clone_pair = (sp.symbols(f"{name}_0 {name}_1") for name in ("S", "B", "P"))

# ------------------------------------------------------------------------------------------ the maps, run literally

#: A randomizer without symmetry, and the infimum of its rows.
ROWS: list[Law] = [[F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]]
BLANKET: Law = [min(column) for column in zip(*ROWS, strict=True)]
#: Points, and three laws of which two are mixed: components of two decompositions.
POINTS: list[Law] = [[F(1), F(0), F(0)], [F(0), F(1), F(0)], [F(0), F(0), F(1)]]


def _left_over(row: Law, common: Law) -> Law:
    beta = 1 - sum(common)
    return [(p - c) / beta for p, c in zip(row, common, strict=True)]


def _masses(a: Law, b: Law, c: Law) -> Numbers:
    return Numbers(a, b, c, 1 - sum(c))


def _output(histogram: Histogram, components: list[Law], left_overs: list[Law]) -> dict[Histogram, F]:
    """Algorithms 1 and 2: one draw for every count of a component, and left-overs of users chosen at random."""
    drawn = [law for law, count in zip(components, histogram[:-1], strict=True) for _ in range(count)]
    chosen = list(combinations(left_overs, histogram[-1]))
    return mixed((F(1, len(chosen)), shuffled([*drawn, *some])) for some in chosen)


def _algorithms_1_and_2_are_right() -> bool:
    """Run on every histogram of the blanket's pair they return the shuffled messages, for both inputs and n ≤ 3."""
    for others in ((), (2,), (1, 2), (0, 2)):
        pair = reduction_pair(_masses(ROWS[0], ROWS[1], BLANKET), len(others) + 1)
        left_overs = [_left_over(ROWS[x], BLANKET) for x in others]
        for side in (0, 1):
            made = mixed((laws[side], _output(h, POINTS, left_overs)) for h, laws in pair.items() if laws[side])
            if made != shuffled([ROWS[side], *(ROWS[x] for x in others)]):
                return False
    return True


def _split() -> tuple[Numbers, list[Law]]:
    """A decomposition that is not the blanket: the components overlap, and some of the common part is left out."""
    components = [*POINTS, [F(1, 2), F(1, 2), F(0)]]
    a, b = ([p - F(1, 8), q - F(1, 8), r, F(1, 4)] for p, q, r in ROWS[:2])
    c = [BLANKET[0] - F(1, 12), BLANKET[1] - F(1, 12), BLANKET[2] / 2, F(1, 12)]
    return _masses(a, b, c), components


def _algorithm_3_is_right() -> bool:
    """Run on every histogram of another decomposition it returns the pair of the blanket, for both inputs, n ≤ 3."""
    masses, components = _split()
    common = [sum(c * law[y] for c, law in zip(masses.c, components, strict=True)) for y in range(3)]
    extra = [(w - c) / masses.beta for w, c in zip(BLANKET, common, strict=True)]
    draws = [*([*law, F(0)] for law in components), [*extra, 1 - sum(extra)]]  # the last message: nothing is sent
    for users in (1, 2, 3):
        pair = reduction_pair(masses, users)
        wanted = reduction_pair(_masses(ROWS[0], ROWS[1], BLANKET), users)
        for side in (0, 1):
            made = mixed(
                (laws[side], shuffled([law for law, count in zip(draws, h, strict=True) for _ in range(count)]))
                for h, laws in pair.items()
                if laws[side]
            )
            if made != {h: laws[side] for h, laws in wanted.items() if laws[side]}:
                return False
    return True


def _blanket_pairs_agree() -> bool:
    """(|b|, Y) of Definition 6, multiplied out, against the histograms of Definition 8, for both inputs, n ≤ 3."""
    gamma = sum(BLANKET)
    omega = [c / gamma for c in BLANKET]
    for users in (1, 2, 3):
        wanted = reduction_pair(_masses(ROWS[0], ROWS[1], BLANKET), users)
        for side in (0, 1):
            made = mixed(
                (chance, {(*h, users - 1 - size): p for h, p in shuffled([ROWS[side], *[omega] * size]).items()})
                for size in range(users)
                for chance in [math.comb(users - 1, size) * gamma**size * (1 - gamma) ** (users - 1 - size)]
            )
            if made != {h: laws[side] for h, laws in wanted.items() if laws[side]}:
                return False
    return True


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
    users = theorems.total_probability(
        real, sp.Sum(beta**m * (1 - beta) ** (n - 1 - m) * sp.Sum(k(m, i), (i, 1, sets)), (m, 0, n - 1)),
        r"every other user sends from what is left with probability $\beta$, independently of the others", checked=RUN,
    )  # fmt: skip
    made = theorems.total_probability(
        output, sp.Sum(chance(m) * at_random(m), (m, 0, n - 1)),
        "the histogram has $m$ uncovered users with probability $B(m)$, and then the messages are made with $A(m)$",
        checked=RUN,
    )  # fmt: skip
    shown = chain(
        real,
        equals(users.right, "the shuffled messages of the users, by who sends from what is left", users),
        equals(sp.Sum(chance(m) * at_random(m), (m, 0, n - 1)), "all sets of $m$ users are alike", average, counted),
        equals(output, "what the algorithm returns", made),
    )
    return average, counted, shown


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
    sigma, v, u = sp.Symbol("sigma", positive=True), quantity("v", nonnegative=True), quantity("u", nonnegative=True)
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
    processing = theorems.general(
        "data processing, both ways", Divergence(alpha, *blanket_pair), "=", Divergence(alpha, *clone_pair),
        stated=["the differing user's message is added to both, and $(|b|, Y)$ and the histogram say the same"],
        shown=[("the others have the same law in both", same)], local=(m,),
        checked=(r"outcome by outcome, $n \le 3$, a randomizer without symmetry", _blanket_pairs_agree),
    )  # fmt: skip
    equal = chain(Divergence(alpha, *blanket_pair), equals(processing.right, "one pair in two notations", processing))
    statement = parts(sign, whole, mixture, same, equal)
    return below, ones, mass, defined, sign, whole, mixture, scaled, blanket, clone, same, equal, statement


@derivation("The blanket bounds every pair of datasets", f"{SOURCE}, Theorem 3")
def blanket_reduction() -> Blocks:
    r"""D_α of the shuffled messages of two neighbouring datasets is at most that of the blanket's pair (Su et al. 2025,
    Theorem 3): R(x) = c + (1 − γ)LO(x) for every x, and Algorithm 2 makes the messages from the pair.

    >>> blanket_reduction().result
    D_alpha(B_0 || B_1)
    """
    mixture = [cite(blanket_is_a_decomposition, part=number) for number in range(3)]
    law = cite(algorithms_1_and_2)
    words = (r"$\mathrm{LO}(x)$ is not negative", "it sums to 1", "$R(x)$ is the mixture")
    processing = theorems.general(
        "data processing", Divergence(alpha, *shuffled_pair), "<=", Divergence(alpha, *blanket_pair),
        stated=[r"Algorithm 2 knows $x_2, \dots, x_n$ and not whether user 1 has $x_0$ or $x_1$"],
        shown=[*zip(words, mixture, strict=True), ("Algorithm 2 returns the shuffled messages", law)],
    )  # fmt: skip
    shown = chain(Divergence(alpha, *shuffled_pair), at_most(processing.right, "by Algorithm 2", processing))
    return *mixture, law, shown


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
    draws = [cite(algorithm3, part=number) for number in range(4)]
    words = ("the user with $x_0$, and $x_1$ likewise", "every other user", "nothing is sent", "$r$ is a probability")
    processing = theorems.general(
        "data processing", Divergence(alpha, *blanket_pair), "<=", Divergence(alpha, *clone_pair),
        stated=[
            "Algorithm 3 turns each draw of the histogram into a message or nothing, by itself and without the data"
        ],
        shown=list(zip(words, draws, strict=True)),
        checked=(r"by running it on every histogram, $n \le 3$, four overlapping components", _algorithm_3_is_right),
    )  # fmt: skip
    better = chain(Divergence(alpha, *blanket_pair), at_most(processing.right, "by Algorithm 3", processing))
    shown = chain(
        Divergence(alpha, *shuffled_pair),
        at_most(Divergence(alpha, *blanket_pair), "by Algorithm 2", first),
        at_most(Divergence(alpha, *clone_pair), "by Algorithm 3", better),
    )
    return first, *draws, better, shown, parts(better, shown)
