r"""G of Su et al. 2025: a reduction pair, or two datasets, as one expectation; mean and range of G."""

from collections.abc import Callable

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Cases, Link, at_least, at_most, cases, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.laws import divergence_of_laws, shuffled
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.su2025.notation import ROWS, K, alpha, i, j, n, t, x, y
from shuffle_sym.papers.tools import F, collected, law_of_g, positive_mean, sum_of_copies
from shuffle_sym.truth.exact import reduction_pair_divergence, shuffled_pair
from shuffle_sym.truth.histograms import weighted_histograms

N, V = sp.symbols("N V", integer=True, positive=True)
L = sp.Symbol("L", integer=True, nonnegative=True)
#: Masses of the components under x_0, under x_1 and of everyone else; those with c = 0 have a line above.
a, b, null_a, null_b = quantities("a b A B", "*_{{{0}}}", nonnegative=True)
c = quantity("c", r"c_{{{0}}}", positive=True)
g = quantity("g", r"g_{{{0}}}", real=True)
count = quantity("h", r"h_{{{1}}}({0})", integer=True, nonnegative=True)
#: Probabilities of histograms: of n draws from (c, β), of n − 1 such draws, and of the two laws of the pair.
everyone, others = quantities("M M'", nonnegative=True)
under_x0, under_x1 = quantities("p_0 p_1", nonnegative=True)
rest = quantity("rho", r"\rho_{{{1}}}({0})", nonnegative=True)
cell = quantity("W", nonnegative=True)
pair = sp.symbols("P_0 P_1")
total = Random("S_n")
#: The divergence of a reduction pair: what Theorem 9 ends in.
missing = sp.Sum(Positive(null_a(i) - alpha * null_b(i)), (i, 1, L))
MASSES = {
    a(j): "probability of component $j$ under $x_0$; $b_j$ under $x_1$",
    c(j): "probability of component $j$, $c_j > 0$, in what everyone else has in common",
}
WHERE = {
    **MASSES,
    null_a(i): "probability under $x_0$ of component $i$ that the others do not have; $B_i$ under $x_1$",
    count(x, j): "how often component $j$ occurs in histogram number $x$, which $n$ draws make with probability $M(x)$",
    total: r"the sum $G_1 + \dots + G_n$ of independent copies of $G$",
}


def _null_atoms_occur_once() -> bool:
    """In the pair itself: a histogram has at most one null atom, sent by the differing user."""
    D = Decomposition(["1/2", "1/4", "1/4", 0], ["1/4", "1/4", 0, "1/2"], ["1/4", "1/2", 0, 0])
    masses = D.exact()
    nulls = [j for j, mass in enumerate(masses.c) if mass == 0]
    weights = [F(mass) for mass in (*masses.c, masses.beta)]
    for users in (1, 2, 3):
        before = dict(weighted_histograms(users - 1, weights))
        for histogram, laws in shuffled_pair(D, users).items():
            seen = [j for j in nulls if histogram[j]]
            without = tuple(0 if j in nulls else many for j, many in enumerate(histogram))
            once = sum(histogram[j] for j in seen) == 1
            if seen and any(laws) and not (once and before[without] * masses.a[seen[0]] == laws[0]):
                return False
    return True


def _sums_of_copies() -> bool:
    """E[G_1 + … + G_n]_+ from the law of the sum, and from the histograms of n draws."""
    D = Decomposition(["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"], ["1/4", "1/8", "1/4"])
    G = D.gparv.exact(sp.Rational(5, 4), 50)

    def of_histograms(users: int) -> F:
        drawn = weighted_histograms(users, list(G.probabilities))
        sums = ((sum(m * v for m, v in zip(h, G.values, strict=True)), weight) for h, weight in drawn)
        return positive_mean(collected(sums))

    law = law_of_g(D, F(5, 4))
    return all(positive_mean(sum_of_copies(law, users)) == of_histograms(users) for users in (1, 2, 3))


@derivation("The divergence is one expectation", "Su et al. 2025, Theorem 9, with null atoms", where=WHERE)
def theorem9() -> Blocks:
    r"""D = (1/n) E[G_1 + … + G_n]_+ for the reduction pair of every decomposition (Su et al. 2025, Theorem 9), where
    G = g_j = (a_j − αb_j)/c_j with probability c_j and 0 otherwise; components with c = 0, which are not in the paper,
    add their :math:`[A_i - \alpha B_i]_+`.

    >>> theorem9().result
    Sum([-alpha*B(i) + A(i)]_+, (i, 1, L)) + E[S_n]_+/n
    """
    # -- the multinomial law with one cell singled out, and what it is without one draw of that cell
    m, h = sp.symbols("m h", integer=True, nonnegative=True)
    q, r = sp.Symbol("q", positive=True), sp.Symbol("r", nonnegative=True)
    also_negative = sp.Symbol("h", integer=True)
    law = given(
        cell(m, also_negative, q, r),
        sp.factorial(m) * q**also_negative / sp.factorial(also_negative) * r,
        "$m$ draws: $h$ in a cell of probability $q$, and $r$ for all the other cells",
    )
    without = cell(n - 1, h - 1, q, r)
    right = h / (n * q) * cell(n, h, q, r)
    written = sp.factorial(n - 1) * q ** (h - 1) / sp.factorial(h - 1) * r
    one_less = cases(
        chain(
            without,
            equals(written, "the definition", law),
            equals(right, "$(n - 1)!/(h - 1)! = (h/n) n!/h!$", law),
            under=sp.Gt(h, 0),
        ),
        chain(
            without,
            equals(0, "an empty cell has no draw to lose", law),
            equals(right, "and $h = 0$ leaves nothing", law),
            under=sp.Eq(h, 0),
        ),
        words="one draw less, in this cell",
    )
    others_make = everyone(x) * sp.factorial(count(x, j)) / (sp.factorial(n) * c(j) ** count(x, j))
    split = given(
        rest(x, j), others_make, "the multinomial probability $M(x)$ without $n!$ and without the factor of cell $j$"
    )
    whole = chain(
        cell(n, count(x, j), c(j), rest(x, j)), equals(everyone(x), "$n$ draws make the histogram $x$", law, split)
    )
    # -- M(x) Σ_j h_j a_j/(n c_j): the differing user sends some j, the others make the histogram without it
    here, messages = one_less.at({h: count(x, j), q: c(j), r: rest(x, j)}), (j, 1, K)
    first, second = (
        given(probability(x), sp.Sum(user(j) * cell(n - 1, count(x, j) - 1, c(j), rest(x, j)), messages),
              rf"one draw from ${name}$ makes $j$, and $n - 1$ draws from $(c, \beta)$ the histogram without it")
        for probability, user, name in ((under_x0, a, "a"), (under_x1, b, "b"))
    )  # fmt: skip
    P0, P1 = (
        chain(
            defined.left,
            equals(sp.Sum(user(j) * count(x, j) / (n * c(j)) * cell(n, count(x, j), c(j), rest(x, j)), messages),
                   "the others have one draw less, in cell $j$", defined, here),
            equals(everyone(x) / n * sp.Sum(count(x, j) * user(j) / c(j), messages),
                   "whatever $j$ is, this is the probability of $n$ draws", whole),
        )
        for defined, user in ((first, a), (second, b))
    )  # fmt: skip
    value = given(g(j), (a(j) - alpha * b(j)) / c(j), "the value of $G$ on component $j$")
    counted = sp.Sum(count(x, j) * g(j), (j, 1, K))
    live = chain(
        sp.Sum(Positive(under_x0(x) - alpha * under_x1(x)), (x, 1, N)),
        equals(sp.Sum(Positive(P0.right - alpha * P1.right), (x, 1, N)), "the probabilities of the histograms", P0, P1),
        equals(sp.Sum(everyone(x) / n * Positive(counted), (x, 1, N)), "$M(x)/n$ is not negative: take it out", value),
    )
    # -- [A_i − αB_i]_+ for the histograms with a component that only the differing user can send
    ones = suppose(
        sp.Sum(others(y), (y, 1, V)), "=", 1, r"$M'(y)$: histogram number $y$ of $n - 1$ draws from $(c, \beta)$"
    )
    with_null = quantity("Z", nonnegative=True)
    gap = Positive(null_a(i) - alpha * null_b(i))
    stick = sp.Sum(Positive(null_a(i) * others(y) - alpha * null_b(i) * others(y)), (y, 1, V))
    one_null = given(
        with_null(i), stick, "the histograms with the component $i$, $c_i = 0$, which only the user can send"
    )
    nulls = chain(
        with_null(i),
        equals(gap * sp.Sum(others(y), (y, 1, V)), "$M'(y)$ is not negative: take it out", one_null),
        equals(gap, "and these probabilities sum to 1", ones),
    )
    return law, one_less, split, whole, first, P0, second, P1, value, live, ones, one_null, nulls, chain(
        Divergence(alpha, *pair),
        by("histogram by histogram", theorems.total_probability(
            Divergence(alpha, *pair), live.left + sp.Sum(nulls.left, (i, 1, L)),
            "a histogram has no component with $c = 0$, or one that is the differing user's",
            checked=(r"for every histogram of four components, two with $c = 0$, $n \le 3$", _null_atoms_occur_once),
        )),
        equals(live.right + missing, "both sums, as above", live, nulls),
        equals(
            Mean(Positive(total)) / n + missing, "the mean of the positive part of a sum of $n$ copies",
            theorems.total_probability(
                Mean(Positive(total)), sp.Sum(everyone(x) * Positive(counted), (x, 1, N)),
                r"$n$ independent copies of $G$ make the histogram $x$ with probability $M(x)$, and then their sum is "
                r"$\sum h_j g_j$", checked=(r"for three components, $n \le 3$, in fractions", _sums_of_copies),
            ),
        ),
    )  # fmt: skip


def _dataset_is_a_pair() -> bool:
    """The shuffled messages of (x_0, x_2, …) and (x_1, x_2, …), message by message, against the reduction pair."""
    D = Decomposition(*ROWS)

    def divergence(users: int, ratio: F) -> F:
        P, Q = (shuffled([ROWS[user], *[ROWS[2]] * (users - 1)]) for user in (0, 1))
        return divergence_of_laws(P, Q, ratio)

    small = ((1, F(1)), (2, F(5, 4)), (3, F(9, 8)))
    return all(divergence(*case) == reduction_pair_divergence(D, *case) for case in small)


@derivation("One dataset in which all others have one input", "Su et al. 2025, Theorem 10, corrected", where=WHERE)
def one_dataset() -> Blocks:
    r"""If x_2 = … = x_n, the divergence of the two datasets is (1/n) E[G_1 + … + G_n]_+ with
    G = (R(x_0)(y) − αR(x_1)(y))/R(x_2)(y), y ~ R(x_2), and :math:`[R(x_0)(y) - \alpha R(x_1)(y)]_+` for each message
    that x_2 cannot send (Su et al. 2025, Theorem 10; the published formula leaves the last part out).

    >>> [fact.right for fact in one_dataset().statement]
    [(-alpha*R(1, j) + R(0, j))/R(2, j), Sum([-alpha*R(1, i) + R(0, i)]_+, (i, 1, L)) + E[S_n]_+/n]
    """
    real, R = sp.symbols("S(X_0) S(X_1)"), quantity("R", r"R(x_{{{0}}})({1})", positive=True)
    live = [given(law(j), R(number, j), f"$x_{number}$") for number, law in enumerate((a, b, c))]
    unsent = [
        given(law(i), R(number, i), f"$x_{number}$, a message that $x_2$ cannot send")
        for number, law in enumerate((null_a, null_b))
    ]
    lemma = cite(theorem9)
    definition = given(g(j), (a(j) - alpha * b(j)) / c(j), "the value of $G$ at message $j$")
    value = chain(
        g(j), equals((R(0, j) - alpha * R(1, j)) / R(2, j), "with probability $R(x_2)(j)$", definition, *live)
    )
    shown = chain(
        Divergence(alpha, *real),
        by("$c = R(x_2)$: nothing is left over", theorems.general(
            "data processing, both ways", Divergence(alpha, *real), "=", Divergence(alpha, *pair),
            stated=[
                "messages in random order and their histogram can be made from each other without the data; $n - 1$ "
                "messages from $R(x_2)$ and one from $R(x_0)$ or $R(x_1)$ are the reduction pair with $a = R(x_0)$, "
                "$b = R(x_1)$, $c = R(x_2)$",
            ], checked=(r"for a randomizer without symmetry, $n \le 3$", _dataset_is_a_pair),
        )),
        by("the divergence is one expectation", lemma),
        equals(
            Mean(Positive(total)) / n + sp.Sum(Positive(R(0, i) - alpha * R(1, i)), (i, 1, L)),
            "what $x_2$ cannot send, in terms of $R$", *unsent,
        ),
    )  # fmt: skip
    return *live, *unsent, definition, value, lemma, shown, parts(value, shown)


@derivation("Mean and range of $G$", "Su et al. 2025, Property 2, corrected", where=MASSES)
def property2() -> Blocks:
    r"""E[G] = 1 − α, 1 − αt ≤ G, and G ≤ t − α for α ≤ t, G ≤ 0 beyond (Su et al. 2025, Property 2).

    The paper has :math:`e^{-\varepsilon}` for α, and says t − α for every α: where the blanket does not cover, G is 0,
    which is above t − α if α > t.

    >>> [fact.right for fact in property2().statement]
    [1 - alpha, -alpha*t + 1, -alpha + t, 0]
    """
    mean, G = sp.Symbol("E[G]"), quantity("G", "G", real=True)
    sums = [suppose(sp.Sum(law(j), (j, 1, K)), "=", 1, f"${law}$ is a law") for law in (a, b)]
    value = given(g(j), (a(j) - alpha * b(j)) / c(j), "the value of $G$ at message $j$, which has probability $c_j$")
    defined = given(mean, sp.Sum(c(j) * g(j), (j, 1, K)), "where the blanket does not cover, $G$ is 0")
    average = chain(
        mean,
        equals(sp.Sum(a(j), (j, 1, K)) - alpha * sp.Sum(b(j), (j, 1, K)), "$c_j$ cancels", defined, value),
        equals(1 - alpha, "$R(x_0)$ and $R(x_1)$ sum to 1", *sums),
    )
    above = [suppose(law(j), ">=", c(j), f"the blanket is not above ${law}$") for law in (a, b)]
    below = [
        suppose(law(j), "<=", t * c(j), rf"$\varepsilon_0$-LDP: ${law}$ is at most $t$ times the infimum")
        for law in (a, b)
    ]
    covered = parameter("kappa", 0, 1, integer=True)
    either = given(
        G(j, covered), covered * g(j), r"$\kappa = 1$ if message $j$ comes from the blanket; if not, $\kappa = 0$"
    )

    def end(link: Callable[..., Link], right: sp.Expr, facts: list[Fact], within: sp.Basic, where: str) -> Cases:
        """Both values of κ under one condition on α."""
        yes, no = (sp.Eq(covered, number) for number in (1, 0))
        further = () if right == 0 else (link(right, "0 is on this side of it"),)
        return cases(
            chain(
                G(j, covered),
                equals(g(j), rf"$\kappa = 1$, {where}", either),
                link(right, "both masses at an end", value, *facts),
                under=[yes, within],
            ),
            chain(G(j, covered), equals(0, rf"$\kappa = 0$, {where}", either), *further, under=[no, within]),
            within=within,
        )

    lowest = end(at_least, 1 - alpha * t, [above[0], below[1]], sp.Ge(alpha, 1), r"$\alpha \ge 1$")
    highest = end(at_most, t - alpha, [below[0], above[1]], sp.Le(alpha, t), r"$\alpha \le t$")
    beyond = end(at_most, sp.Integer(0), [below[0], above[1]], sp.Ge(alpha, t), r"$\alpha \ge t$")
    return (
        *sums, value, defined, average, *above, *below, either, lowest, highest, beyond,
        parts(average, lowest, highest, beyond),
    )  # fmt: skip
