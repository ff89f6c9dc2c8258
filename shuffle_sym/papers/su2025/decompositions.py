r"""Decompositions that every ε0-LDP randomizer has: Su et al. 2025, Section 3."""

from collections.abc import Sequence
from fractions import Fraction

import sympy as sp

from shuffle_sym.algebra import field, latex
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import Cases, at_least, at_most, cases, chain, claim, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Divergence, Mean, Positive, Random, quantity
from shuffle_sym.papers.su2025.gparv import L, pair, theorem9, total
from shuffle_sym.papers.su2025.maps import algorithms_1_and_2, clone_pair, shuffled_pair
from shuffle_sym.papers.tools import law_of_g

t, alpha = field.t, field.alpha
SOURCE = "Su et al. 2025"
y, K, n = sp.symbols("y K n", integer=True, positive=True)
#: R(x_0)(y), R(x_1)(y) and R(x)(y) for any other input x.
R0, R1, R = (quantity(f"R{k}", rf"R(x{k})({{0}})", nonnegative=True) for k in ("_0", "_1", ""))
Q0, Q1 = (quantity(f"Q_{k}", rf"Q_{k}({{0}})", real=True) for k in (0, 1))
mass = sp.Symbol("p")
above_one = sp.Gt(t, 1)
EVERY_MESSAGE = {
    R0(y): "probability of the message $y$ under $x_0$; likewise under $x_1$ and under any input $x$",
    t: r"$e^{\varepsilon_0}$",
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


def _two_laws() -> list[Fact]:
    first = given(Q0(y), (t * R0(y) - R1(y)) / (t - 1), "$t$ times what $x_0$ makes of it, less $x_1$")
    return [first, given(Q1(y), (t * R1(y) - R0(y)) / (t - 1), "the same with $x_0$ and $x_1$ exchanged")]


@derivation("$R(x_0)$ and $R(x_1)$ as mixtures of two laws", f"{SOURCE}, Lemma 1", where=EVERY_MESSAGE)
def two_point_decomposition() -> Blocks:
    r"""R(x_0) and R(x_1) are the mixtures t : 1 and 1 : t of two laws, :math:`Q_0 = (tR(x_0) - R(x_1))/(t - 1)` and
    Q_1, the same with x_0 and x_1 exchanged (Su et al. 2025, Lemma 1), for t > 1. At t = 1 both are R(x_0) = R(x_1).

    >>> [fact.right for fact in two_point_decomposition().statement]
    [t*Q_0(y)/(t + 1) + Q_1(y)/(t + 1), t*Q_1(y)/(t + 1) + Q_0(y)/(t + 1), 0, 0, 1, 1]
    """
    local = [_ldp(R0, R1), _ldp(R1, R0)]
    laws, defined = _laws(R0, R1), _two_laws()
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


def _left_over(local: Sequence[Fact], laws: Sequence[Fact], defined: Sequence[Fact]) -> tuple[Fact, Fact, Fact, Fact]:
    """What (Q_0 + Q_1)/2t leaves of R(x): it is a law, and R(x) is the mixture."""
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
    return left, sign, whole, mixture


@derivation("Everyone is a clone with probability $1/t$", f"{SOURCE}, Theorem 2", where=EVERY_MESSAGE)
def standard_clone() -> Blocks:
    r"""The pair of the standard clone, a = (t, 1)/(t + 1), b = (1, t)/(t + 1), c = (1, 1)/2t, bounds every pair of
    datasets (Su et al. 2025, Theorem 2): with the laws of Lemma 1 every R(x) is :math:`\frac1{2t}(Q_0 + Q_1)` and
    something left over, and Algorithm 1 makes the messages.

    >>> standard_clone().result
    D_alpha(P_0 || P_1)
    """
    lemma = [cite(two_point_decomposition, part=number) for number in range(4)]
    local, laws, defined = [_ldp(R, R0), _ldp(R, R1)], _laws(R0, R1, R), _two_laws()
    left, sign, whole, mixture = _left_over(local, laws, defined)
    law = cite(algorithms_1_and_2)
    words = ("$R(x_0) = (tQ_0 + Q_1)/(t + 1)$", "$R(x_1) = (Q_0 + tQ_1)/(t + 1)$", r"$Q_0 \ge 0$", r"$Q_1 \ge 0$")
    processing = theorems.general(
        "data processing", Divergence(alpha, *shuffled_pair), "<=", Divergence(alpha, *clone_pair),
        stated=[r"Algorithm 1, with $Q_0$ and $Q_1$, knows $x_2, \dots, x_n$ and not whether user 1 has $x_0$ "
                r"or $x_1$"],
        shown=[
            *zip(words, lemma, strict=True),
            (r"$\mathrm{LO}(x)$ is not negative", sign),
            ("it sums to 1", whole),
            ("$R(x)$ is the mixture", mixture),
            ("Algorithm 1 returns the shuffled messages", law),
        ],
        under=above_one,
    )  # fmt: skip
    shown = chain(
        Divergence(alpha, *shuffled_pair), at_most(processing.right, "by Algorithm 1", processing), under=above_one
    )
    return *local, *laws, *defined, *lemma, left, sign, whole, mixture, law, shown


# ------------------------------------------------------------------------------------------------- the stronger clone


def _exchanged() -> tuple[sp.Symbol, sp.Symbol, Cases]:
    """[u − w]_+ = u − w + [w − u]_+."""
    u, w = sp.symbols("u w", real=True)
    right = u - w + Positive(w - u)
    one = chain(
        Positive(u - w), equals(u - w, "it is not negative"), equals(right, "$[w - u]_+$ is 0"), under=sp.Ge(u, w)
    )
    two = chain(
        Positive(u - w), equals(0, "it is not positive"), equals(right, "$[w - u]_+$ is $w - u$"), under=sp.Ge(w, u)
    )
    return u, w, cases(one, two, words="$[u - w]_+ = u - w + [w - u]_+$")


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
    A0, A1, C = (quantity(name, rf"{name}({{0}})", real=True) for name in ("A_0", "A_1", "C"))
    lemma = [cite(two_point_decomposition, part=number) for number in range(6)]
    laws, mixtures, signs = lemma[4:], lemma[:2], lemma[2:4]
    defined = [
        given(A0(y), Positive(Q0(y) - Q1(y)) / (t + 1), "$p$ times the first law"),
        given(A1(y), Positive(Q1(y) - Q0(y)) / (t + 1), "$p$ times the second law"),
        given(C(y), Q0(y) - Positive(Q0(y) - Q1(y)), "$1 - p - tp$ times the third"),
    ]
    u, w, exchange = _exchanged()
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
    clone = _in_everyone()
    members = (first, second, sign, other, bound, clone)
    return *lemma, *defined, exchange, first, second, below, sign, total_mass, other, bound, clone, parts(*members)


def _in_everyone() -> Cases:
    """(pQ_0 + pQ_1)(y) is at most R(x)(y) = r, which is at least R(x_0)(y)/t and R(x_1)(y)/t, in terms of Q_0, Q_1."""
    u, w, r = sp.symbols("u w r", nonnegative=True)
    left = Positive(u - w) / (t + 1) + Positive(w - u) / (t + 1)
    local = [sp.Ge(r, (t * u + w) / (t + 1) / t), sp.Ge(r, (u + t * w) / (t + 1) / t)]
    one = chain(
        left, equals((u - w) / (t + 1), "where $Q_0$ is larger"), at_most(r, r"$r \ge R(x_0)(y)/t \ge Q_0/(t + 1)$"),
        under=[sp.Ge(u, w), local[0]],
    )  # fmt: skip
    two = chain(
        left, equals((w - u) / (t + 1), "where $Q_1$ is larger"), at_most(r, r"$r \ge R(x_1)(y)/t \ge Q_1/(t + 1)$"),
        under=[sp.Ge(w, u), local[1]],
    )  # fmt: skip
    return cases(one, two, within=local, words="every $R(x)$ has $pQ_0 + pQ_1$ in it")


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
    level, ratio = Fraction(2), Fraction(5, 4)
    for p in (Fraction(1, 8), Fraction(1, 5), Fraction(1, 4)):
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
    order = theorems.convex_order_of_sums(G, H, level, (S, T), "$n$ copies each", excess, means)
    P0, P1 = quantity("P_0"), quantity("P_1")
    lemma = cite(theorem9)
    small, large = ((P0(one), P1(one)) for one in (p, larger))
    expectations = [
        theorems.for_other_laws(lemma, {pair[0]: laws_[0], pair[1]: laws_[1], total: one, L: 0},
                                "$P_0$, $P_1$ are the reduction pair of the three-point decomposition, and $G$ "
                                "has its law")
        for laws_, one in ((small, S), (large, T))
    ]  # fmt: skip
    shown = chain(
        Divergence(alpha, *small),
        equals(Mean(Positive(S)) / n, "Theorem 9; no component has $c = 0$", expectations[0]),
        at_most(Mean(Positive(T)) / n, "convex order", order),
        equals(Divergence(alpha, *large), "Theorem 9", expectations[1]),
        under=in_order,
    )
    return *laws, merged, excess, means, lemma, shown
