r"""Which randomizer is the worst: 2-RR for special neighbours, and to first order in 1/n; ours, as chains."""

from typing import Any

import sympy as sp

from shuffle_sym.model import decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, law, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity
from shuffle_sym.papers.girgis2021.notation import SOURCE, i, j, m, n, t
from shuffle_sym.randomizers import KRR, BinaryRR

level = sp.Symbol("k", real=True)
order = sp.Symbol("lambda", positive=True)
ABOVE, ORDER = sp.Gt(t, 1), sp.Gt(order, 1)


@derivation(
    "2-RR is the worst for special neighbours", "ours; it sharpens Girgis et al. 2021, Theorem 3.7",
    where={t: r"$e^{\varepsilon_0}$", m: "number of users", level: "any level", order: "the order, above 1"},
)  # fmt: skip
def worst_special() -> Blocks:
    r"""No ε0-LDP randomizer has a larger moment for special neighbours than 2-RR, by convex order.

    The ratio r = p'_j/p_j of one user is in [1/t, t] and has mean 1; that of 2-RR is t with probability 1/(t + 1), else
    1/t.

    >>> worst_special().statement[0].relation
    '<='
    """
    r, two, U = Random("r", positive=True), Random("r2", positive=True), Random("U", nonnegative=True)
    share = suppose(
        r, "=", U * t + (1 - U) / t, r"$\varepsilon_0$-LDP: $r$ is in $[1/t, t]$, with some $U$ in $[0, 1]$"
    )
    at_most_one = suppose(U, "<=", 1, "$U$ is not above 1")
    mean = suppose(Mean(r), "=", 1, "$p'$ is a law")
    weight = chain(
        Mean(U),
        equals((Mean(U * t + (1 - U) / t) - 1 / t) / (t - 1 / t), "solved for $U$"),
        equals((Mean(r) - 1 / t) / (t - 1 / t), "the ratio", share),
        equals(1 / (t + 1), "it has mean 1", mean),
        under=ABOVE,
    )
    high, low = Positive(t - level), Positive(1 / t - level)
    jensen = theorems.jensen(Positive, [(U, t - level), (1 - U, 1 / t - level)], at_most_one)
    ratio = law(two, {t: 1 / (t + 1), 1 / t: t / (t + 1)}, "the ratio of 2-RR")
    excess = chain(
        Mean(Positive(r - level)),
        equals(Mean(jensen.left), "the ratio", share),
        at_most(Mean(jensen.right), "below the chord", jensen),
        equals(Mean(U) * high + (1 - Mean(U)) * low, "the mean is linear"),
        equals(high / (t + 1) + t * low / (t + 1), "the mean of $U$", weight),
        equals(Mean(Positive(two - level)), "2-RR", ratio.mean(lambda u: Positive(u - level))),
        under=ABOVE,
    )
    means = chain(
        Mean(r), equals(1, "$p'$ is a law", mean), equals(t / (t + 1) + 1 / (t + 1), "of 2-RR"),
        equals(Mean(two), "2-RR", ratio.mean(lambda u: u)), under=ABOVE,
    )  # fmt: skip
    total, worst = Random("R", positive=True), Random("R2", positive=True)
    x = sp.Symbol("x", positive=True)
    convex = claim(0, "<=", sp.diff((x / m) ** order, x, 2), r"the second derivative of $(x/m)^{\lambda}$", under=ORDER)
    sums = theorems.general(
        "convex order is closed under independent sums", Mean((total / m) ** order), "<=", Mean((worst / m) ** order),
        ["$R$ and $R_2$ are sums over $m$ independent users, by (32)"],
        [("the excess over every level", excess), ("equal means", means), (r"$(x/m)^{\lambda}$ is convex", convex)],
        local=(level, x),
    )  # fmt: skip
    shown = chain(Mean((total / m) ** order), at_most(Mean((worst / m) ** order), "2-RR", sums), under=(ABOVE, ORDER))
    return share, at_most_one, mean, weight, ratio, excess, means, shown


@derivation(
    "The expectation of Theorem 3.6, absorbed", "ours; Girgis et al. 2021, Theorem 3.6",
    where={n: "number of users", sp.Symbol("q", positive=True): "$1/t$"},
)  # fmt: skip
def absorption() -> Blocks:
    r"""E[M(m + 1)] − 1 over m ~ Bin(n − 1, q) is E[G(N)]/(nq) over N ~ Bin(n, q), with G(N) = N(M(N) − 1).

    >>> absorption().proved
    True
    """
    q, M = sp.Symbol("q", positive=True), quantity("M", positive=True)
    G, b = quantity("G", real=True), quantity("b", r"b_{{{0}}}", nonnegative=True)
    doubles = sp.Symbol("N", integer=True, nonnegative=True)
    excess = given(G(i), i * (M(i) - 1), "what the reduction bounds")
    law = given(b(i), sp.binomial(n, i) * q**i * (1 - q) ** (n - i), r"$\mathrm{Bin}(n, q)$")
    mean = sp.Sum(b(doubles) * G(doubles), (doubles, 0, n)) / (n * q)
    fewer = sp.binomial(n - 1, i) * q**i * (1 - q) ** (n - 1 - i)
    term = chain(
        fewer * (M(i + 1) - 1),
        equals(b(i + 1) * G(i + 1) / (n * q), r"$(i + 1)\tbinom{n}{i + 1}$ is $n\tbinom{n - 1}{i}$", law, excess),
    )
    none = chain(G(0), equals(0, "no user", excess))
    shown = chain(
        sp.Sum(fewer * (M(i + 1) - 1), (i, 0, n - 1)),
        equals(sp.Sum(b(i + 1) * G(i + 1) / (n * q), (i, 0, n - 1)), "absorption", term),
        equals(mean - b(0) * G(0) / (n * q), "$N = m + 1$"),
        equals(mean, "and $N = 0$ adds nothing", none),
    )
    return excess, law, term, none, shown


def _first_order(D: decomposition.Decomposition) -> sp.Expr:
    """Σ (a_j − b_j)²/c_j: n(E[(P/Q)^λ] − 1) tends to C(λ, 2) times this."""
    return sp.Add(*((atom.a - atom.b) ** 2 / atom.c for atom in D.atoms), evaluate=False)


def _below_plane(plane: Any, case: Any) -> list[tuple[str, Fact]]:
    """(α − β)² at the corners of the hexagon 1/t ≤ α, β, α/β ≤ t, at most a plane; mirrored corners are one."""
    corners = {"(t, t)": (t, t), "(1/t, 1/t)": (1 / t, 1 / t), "(t, 1)": (t, 1), "(1/t, 1)": (1 / t, 1)}
    return [
        (f"the corner ${name}$", claim((x0 - x1) ** 2, "<=", plane(x0, x1), f"at ${name}$", under=case))
        for name, (x0, x1) in corners.items()
        if (x0 - x1) ** 2 != plane(x0, x1)  # where it meets the corner there is nothing to show
    ]


@derivation(
    "The first order of the worst randomizer", f"{SOURCE}, Remark 7, answered",
    where={t: r"$e^{\varepsilon_0}$", j: "a message; $a$, $b$, $c$ are its probabilities for $x_0$, $x_1$ and "
                                         "all others"},
)  # fmt: skip
def remark7() -> Blocks:
    r"""Is the lower bound tight "at least for the first order term" (Girgis et al. 2021, Remark 7 and Section 8)? For
    t ≤ 2 it is, for t > 2 it is not.

    Let R(x0) = a, R(x1) = b, and let all others have R(x2) = c. n(E[(P/Q)^λ] − 1) tends to C(λ, 2) Σ (a_j − b_j)²/c_j,
    the term of second order of A^λ B^{1−λ} around (1, 1). An ε0-LDP randomizer has (α, β) = (a/c, b/c) with mean (1, 1)
    in the hexagon 1/t ≤ α, β, α/β ≤ t, and (α − β)² is convex: a plane above it at the corners is above it everywhere,
    and its value at (1, 1) bounds the sum. 2-RR attains (t − 1)²/t, the value of Theorem 3.4, and 3-RR attains
    2(t − 1)²/(t + 2), which is larger for t > 2. Theorem 3.6 has (t − 1)², and the standard clone, whose Rényi
    divergence bounds every ε0-LDP randomizer as well, 4t(t − 1)²/(t + 1)²: the gap e^ε0 of the remark is a factor
    below 2.

    >>> [fact.right for fact in remark7().statement][:2]
    [2*(t - 1)**2/(t + 2), (t - 1)**2/t]
    """
    B = sp.Symbol("B", integer=True, positive=True)
    a, b, c = (quantity(name, rf"{name}_{{{{{{0}}}}}}", positive=True) for name in "abc")
    laws = [suppose(sp.Sum(law(j), (j, 1, B)), "=", 1, "probabilities sum to 1") for law in (a, b, c)]
    first = sp.Sum((a(j) - b(j)) ** 2 / c(j), (j, 1, B))
    large, small = sp.Ge(t, 2), (sp.Ge(t, 1), sp.Le(t, 2))

    def above(x0: Any, x1: Any) -> sp.Expr:
        return (t - 1) / (t + 2) * (t * (x0 + x1) - 2)

    def beneath(x0: Any, x1: Any) -> sp.Expr:
        return (t - 1) ** 2 / t * (x0 + x1 - 1)

    shown = []
    for plane, case, D, name in (
        (above, large, decomposition.dataset(KRR(k=3), 0, 1, 2), "3-RR"),
        (beneath, small, decomposition.dataset(BinaryRR(), 0, 1, 0), "2-RR"),
    ):
        ratio = plane(a(j) / c(j), b(j) / c(j))
        corners = theorems.general(
            "a convex function is below a plane that is above it at the corners",
            (a(j) - b(j)) ** 2 / c(j), "<=", c(j) * ratio, [r"$\varepsilon_0$-LDP: $(a/c, b/c)$ is in the "
                                                            r"hexagon; $(\alpha - \beta)^2$ is convex"],
            _below_plane(plane, case), under=case,
        )  # fmt: skip
        shown.append(
            chain(
                first,
                at_most(sp.Sum(c(j) * ratio, (j, 1, B)), "a plane above it in the hexagon", corners),
                equals(_at_means(plane, a, b, c, B), "term by term"),
                equals(sp.factor(plane(1, 1)), f"no randomizer has more than {name}", *laws),
                under=case,
            )
        )
        shown.append(chain(_first_order(D), equals(sp.factor(plane(1, 1)), f"{name} has it")))
    clone = 4 * t * (t - 1) ** 2 / (t + 1) ** 2
    shown.append(
        chain(
            _first_order(decomposition.clones()),
            equals(clone, "the standard clone"),
            at_most(2 * (2 * (t - 1) ** 2 / (t + 2)), "below twice 3-RR"),
        )
    )
    return *laws, *shown, parts(shown[0], shown[2], shown[1], shown[3], shown[4])


def _at_means(plane: Any, a: Any, b: Any, c: Any, B: sp.Symbol) -> sp.Expr:
    """Σ c·plane(a/c, b/c): a plane is linear, so this is the plane at the sums."""
    one, two, three = (sp.Sum(law(j), (j, 1, B)) for law in (a, b, c))
    x0, x1 = sp.symbols("x0 x1")
    constant, form = plane(0, 0), plane(x0, x1) - plane(0, 0)
    return (
        sp.expand(form.subs(x0, 1).subs(x1, 0)) * one + sp.expand(form.subs(x0, 0).subs(x1, 1)) * two + constant * three
    )
