r"""No protocol for sums has a smaller error: Lemmas 4.1–4.5 and Theorem 4.2 of Balle et al. 2019."""

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.notation import SOURCE, half, i, m, n
from shuffle_sym.papers.balle2019.reduction import LAWS
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, cases, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Random, quantity
from shuffle_sym.papers.laws import COPIES
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.tools import F

alpha, error = field.alpha, Random("e")
delta = sp.Symbol("delta", nonnegative=True)
k, a, b = sp.symbols("k a b", positive=True, integer=True)
p, out, least = quantities("p o q", nonnegative=True)
left, right, room = sp.symbols("S T d", nonnegative=True)
distances = quantity("T", r"T_{{{0}}}", nonnegative=True)
stay, come = Parameter("p_b", 0, 1), Parameter("p_a", 0, 1)


def _own_message_alone() -> bool:
    """Whether the posterior mean of an input, 0 or 1, given the messages of two users is that given the own one."""
    messages = [(F(1, 3) * p, F(2, 3) * q) for p, q in zip(*LAWS, strict=True)]  # each with the input 0, and 1
    pairs = [(mine, [sum(p * q for q in other) for p in mine]) for mine in messages for other in messages]
    return all(both[1] / sum(both) == mine[1] / sum(mine) for mine, both in pairs)


@derivation(
    "The posterior mean, summed, is the best estimate", f"{SOURCE}, Lemma 4.1",
    {Random("Z"): "the sum of the inputs, given the messages", sp.Symbol("h", real=True): "any estimate"},
)  # fmt: skip
def lemma41() -> Blocks:
    r"""For independent inputs no estimate of their sum Z has a smaller MSE than the sum of the posterior means of the
    messages (Balle et al. 2019, Lemma 4.1); and mapping each message to its posterior mean keeps (ε, δ)-DP.

    >>> [one.name for one in lemma41().by]
    ['data processing']
    """
    Z, U, h = Random("Z"), Random("U"), sp.Symbol("h", real=True)
    f, X = quantity("f", real=True), quantity("X", real=True)
    total = sp.Symbol("s", real=True)
    inputs = given(Z, sp.Sum(X(i, U), (i, 1, n)), "the sum of the inputs, which chance decides, given the messages")
    posterior = given(f(i), Mean(X(i, U)), "the posterior mean of input $i$")
    summed = given(total, sp.Sum(f(i), (i, 1, n)), "the posterior means of all messages")
    mean = chain(
        Mean(Z),
        equals(sp.Sum(Mean(X(i, U)), (i, 1, n)), "the mean is linear", inputs),
        equals(total, "the posterior means", summed, posterior),
    )
    best = chain(
        Mean((h - Z) ** 2),
        equals((h - Mean(Z)) ** 2 + Mean(Z**2) - Mean(Z) ** 2, "complete the square"),
        at_least(Mean(Z**2) - Mean(Z) ** 2, "a square is not negative"),
        equals(total**2 - 2 * total * Mean(Z) + Mean(Z**2), "the mean is the sum of the posterior means", mean),
        equals(Mean((total - Z) ** 2), "as a square"),
    )
    estimate = chain(
        Mean((h - Z) ** 2),
        at_least(Mean((total - Z) ** 2), "no estimate is better", best),
        equals(Mean((sp.Sum(f(i), (i, 1, n)) - Z) ** 2), "the posterior means", summed),
    )
    before, after = sp.symbols("M M'"), sp.symbols("fM fM'")
    private = suppose(Divergence(alpha, *before), "<=", delta, r"the shuffled messages are $(\varepsilon, \delta)$-DP")
    kept = chain(
        Divergence(alpha, *after),
        at_most(Divergence(alpha, *before), "data processing", theorems.data_processing(
            alpha, after, before, "$f(i)$ depends on message $i$ only, as the inputs are independent",
            ("two users, in fractions", _own_message_alone),
        )),
        at_most(delta, r"the shuffled messages are $(\varepsilon, \delta)$-DP", private),
    )  # fmt: skip
    return inputs, posterior, summed, mean, best, private, kept, estimate, parts(estimate, kept)


@derivation(
    "The error of a sum is at least that of its parts", f"{SOURCE}, Lemma 4.2", {error: "$R(X) - X$ of one user"}
)
def lemma42() -> Blocks:
    r""":math:`\mathrm{MSE} \ge n E[(R(X) - X)^2]` for n independent users of one law (Balle et al. 2019, Lemma 4.2).

    >>> lemma42().result
    n*E[e**2]
    """
    mse = sp.Symbol("MSE", nonnegative=True)
    shown = chain(
        mse,
        by("$n$ squares, $n(n - 1)$ products", theorems.independence(
            mse, n * Mean(error**2) + n * (n - 1) * Mean(error) ** 2, "the square of a sum of errors of users", COPIES,
        )),
        at_least(n * Mean(error**2), "a square is not negative"),
    )  # fmt: skip
    return (shown,)


@derivation("The distance to a cell", f"{SOURCE}, Lemma 4.3", {k: "number of cells", m: "number of the cell"})
def lemma43() -> Blocks:
    r""":math:`\frac1k\sum_{a \ne b} (|a-b| - \frac1{2k})^2 \ge \frac1{48}(1 - \frac1{k^2})` for midpoints a, b of k
    cells (Balle et al. 2019, Lemma 4.3). Distances are l/k with :math:`l = |i - m| \ge 1`.

    >>> lemma43().result
    1/48 - 1/(48*k**2)
    """
    apart = Parameter("l", 1, integer=True)
    below, above = (apart, 1, m - 1), (apart, 1, k - m)
    term = (apart / k - 1 / (2 * k)) ** 2 / k
    both = sp.Sum(term, below) + sp.Sum(term, above)
    total = given(distances(m), both, r"the cells below $m$, and those above it, are $l = 1, 2, \dots$ cells away")
    squares = sp.Sum(apart**2, below) + sp.Sum(apart**2, above)
    return total, chain(
        distances(m),
        at_least(squares / (4 * k**3), r"$(l - 1/2)^2 \ge l^2/4$ for $l \ge 1$", total),
        equals((1 - 1 / k**2) / 48 + (m - (k + 1) / 2) ** 2 / (4 * k**2), "sums of squares"),
        at_least((1 - 1 / k**2) / 48, "smallest in the middle"),
        under=sp.Ge(k, m),
    )  # fmt: skip


@derivation(
    "The error of one message, cell by cell", f"{SOURCE}, Lemma 4.4",
    {p(a, b): "probability that the input in the middle of cell $a$ is sent into cell $b$", out(b): "$1 - p(b, b)$"},
)  # fmt: skip
def lemma44() -> Blocks:
    r"""Two lower bounds on the error of one message for a uniform input (Balle et al. 2019, Lemma 4.4): inputs that
    leave their cell cost at least :math:`1/(4k^2)`, and those that enter cell b at least :math:`(|a-b| - 1/(2k))^2`.
    The smaller one of the two sums is at least the published sum of the smaller ones.

    >>> lemma44().result
    (1/48 - 1/(48*k**2))*Sum(q(b), (b, 1, k))
    """
    dist = quantity("s", nonnegative=True)
    mse = sp.Symbol("E", nonnegative=True)
    cells, inputs = (b, 1, k), (a, 1, k)
    leave = suppose(mse, ">=", sp.Sum(out(b) / (4 * k**2), cells) / k,
                    "outside its cell an input is at least half a width away").at({})  # fmt: skip
    first = chain(mse, at_least(sp.Sum(out(b), cells) / (4 * k**3), "inputs that leave their cell", leave))
    enter = suppose(
        mse, ">=", sp.Sum(sp.Sum(p(a, b) * dist(a, b), inputs), cells) / k,
        "in cell $b$ an input $a$ is at least $|a - b| - 1/(2k)$ away; $s(a, b)$ is its square, $s(b, b) = 0$",
    )  # fmt: skip
    floor = suppose(p(a, b), ">=", least(b), "$q(b)$ is the smallest of the $p(a, b)$").at({})
    lemma = cite(lemma43)
    spread = suppose(sp.Sum(dist(a, b), inputs), "=", k * distances(b), "the sum of Lemma 4.3, times $k$").at({})
    second = chain(
        mse,
        at_least(sp.Sum(sp.Sum(p(a, b) * dist(a, b), inputs), cells) / k, "inputs in other cells", enter.at({})),
        at_least(
            sp.Sum(least(b) * sp.Sum(dist(a, b), inputs), cells) / k, "every input enters with $q$ at least", floor
        ),
        equals(sp.Sum(least(b) * distances(b), cells), "the sum of Lemma 4.3", spread),
        at_least((1 - 1 / k**2) / 48 * sp.Sum(least(b), cells), "Lemma 4.3", lemma),
    )
    return leave.root, first, enter, floor.root, lemma, spread.root, second, parts(first, second)


@derivation(
    "Who stays, and who enters",
    f"{SOURCE}, Lemma 4.5",
    {stay: "$p(b, b)$", come: "$p(a, b)$", alpha: r"$e^{\varepsilon}$"},
)
def lemma45() -> Blocks:
    r"""If the shuffled messages are (ε, δ)-DP and :math:`p_{bb} \ge 1 - e^{-\varepsilon}/2`, then
    :math:`p_{ab} \ge (\frac12 - \delta)/n` (Balle et al. 2019, Lemma 4.5). The event is that no message is in cell b;
    the datasets are (a, …, a) and (b, a, …, a).

    >>> lemma45().result
    (1/2 - delta)/n
    """
    empty, other = sp.symbols("P Q", nonnegative=True)
    rest = Parameter("r", 0, 1)
    none = given(empty, (1 - come) ** n, "none of $n$ messages of the input $a$ is in cell $b$")
    one = given(other, (1 - stay) * rest, "nor that of one user with $b$; $r$: nor those of $n - 1$ users with $a$")
    private = suppose(empty, "<=", alpha * other + delta, r"$(\varepsilon, \delta)$-DP for this event")
    stays = suppose(stay, ">=", 1 - 1 / (2 * alpha), "the input $b$ stays in its cell")
    return none, private, one, stays, chain(
        come,
        at_least((1 - (1 - come) ** n) / n, "Bernoulli's inequality", theorems.general(
            "Bernoulli's inequality", (1 - come) ** n, ">=", 1 - n * come, (),
            [("$1 - p_a$ is not negative", claim(0, "<=", 1 - come, "a probability"))],
        )),
        equals((1 - empty) / n, "the event", none),
        at_least((1 - alpha * other - delta) / n, r"$(\varepsilon, \delta)$-DP", private),
        at_least((1 - alpha * (1 - stay) - delta) / n, "the others make it rarer", one),
        at_least((half - delta) / n, "the input $b$ stays in its cell", stays),
    )  # fmt: skip


@derivation(
    "A lower bound on the error of every protocol", f"{SOURCE}, Theorem 4.2, corrected",
    {
        left: r"cells whose own input leaves with probability at least $e^{-\varepsilon}/2$",
        right: "cells that every input enters with probability at least $d/n$",
        room: r"$1/2 - \delta$",
    },
)  # fmt: skip
def theorem42() -> Blocks:
    r"""What Theorem 4.2 says in numbers (Balle et al. 2019, corrected): for every k, an (ε, δ)-DP single-message
    protocol for sums has :math:`\mathrm{MSE} \ge \min\bigl\{\frac{n}{8k^2e^\varepsilon} - \frac{1-2\delta}{8k},
    \frac{1}{48}\bigl(k - \frac1k\bigr)\bigl(\frac12 - \delta\bigr)\bigr\}`.

    By Lemma 4.5 each of the k cells is of one of two kinds. For the T cells that every input enters, d/n of each input
    is counted. Inputs of the S other cells leave with e^-ε/2, at most kd/n of which is in that count; the rest costs at
    least 1/(4k²). The published proof leaves the term (1 − 2δ)/(8k) out: it puts "one of two" (Lemma 4.5) into the
    smaller of both (Lemma 4.4), which needs both.

    >>> theorem42().statement[0].relation
    '>='
    """
    users, away = cite(lemma42), cite(lemma43)
    mse, one = users.left, Mean(error**2)
    leaves, enters = sp.symbols("A B", real=True)
    first = given(leaves, n / (8 * k**2 * alpha) - room / (4 * k), "if all cells were of the first kind")
    other = given(enters, (k - 1 / k) * room / 48, "if all were of the second kind")
    entered = cite(lemma45)
    total = chain(
        mse,
        at_least(n * one, "Lemma 4.2", users),
        at_least(
            (right * room * k * (1 - 1 / k**2) / 48 + left * (n / (2 * alpha) - k * room) / (4 * k**2)) / k,
            "cells of both kinds", theorems.general(
                "total probability", one, ">=",
                (right * room / n * k * (1 - 1 / k**2) / 48 + left * (1 / (2 * alpha) - k * room / n) / (4 * k**2)) / k,
                [
                    r"$T$ cells are entered by $d/n$ of each input; $S$ inputs leave for other cells with what is "
                    r"left of $e^{-\varepsilon}/2$",
                ],
                [
                    ("a cell whose own input stays is entered by every input", entered),
                    ("whichever cell $m$ it is", away),
                ], local=(m,),
            ),
        ),
        equals((left * leaves + right * enters) / k, "in short", first, other),
    )  # fmt: skip
    whole = sp.Eq(k, left + right)
    smaller = cases(
        chain(mse, at_least((left * leaves + right * enters) / k, "both kinds", total), at_least(leaves, "$k = S + T$"),
              under=(whole, sp.Ge(enters, leaves))),
        chain(mse, at_least((left * leaves + right * enters) / k, "both kinds", total), at_least(enters, "$k = S + T$"),
              under=(whole, sp.Ge(leaves, enters))),
        within=whole,
    )  # fmt: skip
    return users, away, entered, first, other, total, smaller
