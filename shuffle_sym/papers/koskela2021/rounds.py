r"""Many rounds: Koskela et al. 2021, Theorem 5, Lemma 6, Theorem 7, from the divergence as a sum of positive parts."""

from __future__ import annotations

import math
from collections import namedtuple
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import Positive, quantity
from shuffle_sym.papers.koskela2021.notation import SOURCE, alpha
from shuffle_sym.papers.proofs import by, quantities
from shuffle_sym.papers.tools import collected

eps, infinite = sp.Symbol("epsilon", real=True), sp.Symbol("delta_infinity", nonnegative=True)
rounds, x, worst, y, z, v, M, Z = sp.symbols("c x w y z v M Z", integer=True, positive=True)
#: How many outcomes a pair has: of both laws, of the first only, of the second only; and how many total losses.
shared, first_only, second_only, distinct = quantities("M Z V K", "*_{{{0}}}", integer=True, positive=True)
#: A law, on the outcomes that both have and on those of its own, and how many the latter are.
Law = namedtuple("Law", "both alone size")
kind_of = sp.Symbol("i", integer=True, nonnegative=True)
member = quantity("E", r"1_E({1})", nonnegative=True)
at_most_one = suppose(
    member(kind_of, y), "<=", 1, "whether an outcome is in the event $E$, 1 or 0; the first entry is its kind"
)
P = quantity("P", nonnegative=True)

#: A pair of three outcomes, the last one impossible under the second law.
_PAIR = ((Fraction(1, 2), Fraction(2, 3)), (Fraction(1, 3), Fraction(1, 3)), (Fraction(1, 6), Fraction(0)))
_SMALL = "for three outcomes, one of them impossible under $Q$, up to 3 rounds, in fractions"


def _outcomes(count: int) -> list[tuple[Fraction, Fraction]]:
    """P and Q of all outcomes of some rounds that are possible under both."""
    one = [pair for pair in _PAIR if pair[1]]
    return [(math.prod(p for p, _ in y), math.prod(q for _, q in y)) for y in product(one, repeat=count)]  # type: ignore[misc]


def _mass_is_a_power() -> bool:
    """Whether the mass of the outcomes that both laws have, of all rounds, is a power of that of one round."""
    shared = sum(p for p, q in _PAIR if q)
    return all(sum(p for p, _ in _outcomes(count)) == shared**count for count in (1, 2, 3))


def _convolution() -> bool:
    """Whether the law of the ratio of all rounds is that of one round, convolved."""
    one, law = {p / q: p for p, q in _PAIR if q}, {Fraction(1): Fraction(1)}
    for count in (1, 2, 3):
        law = collected((x * w, p * q) for (x, p), (w, q) in product(law.items(), one.items()))
        if law != collected((p / q, p) for p, q in _outcomes(count)):
            return False
    return True


def _direction(own: Law, other: Law, mark: str) -> tuple[Fact, ...]:
    """δ of one direction: its definition and the losses, (2.3), and that it is what events can tell at most."""
    P, Q, both = own.both(x, y), other.both(x, y), (y, 1, shared(x))
    of_own, of_other = (own.alone(x, z), (z, 1, own.size(x))), (-sp.exp(eps) * other.alone(x, v), (v, 1, other.size(x)))
    value, weight = quantities(f"delta{mark} omega{mark}", r"\*({0}, {1})", nonnegative=True)
    lost = quantity("delta_inf" + mark, rf"\delta{mark}_\infty({{0}})", nonnegative=True)
    loss, level = quantities(f"S{mark} s{mark}", "*({0}, {1})", real=True)
    mass, rest, gap = sp.Sum(P, both), sp.Sum(*of_own), P - sp.exp(eps) * Q
    gain, kept = sp.Sum(P * Positive(1 - sp.exp(eps - loss(x, y))), both), (1 - lost(x)) ** rounds
    seen, unseen = sp.Sum(Positive(gap), both) + rest, sp.Sum(Positive(of_other[0]), of_other[1])
    divergence = given(value(x, eps), seen + unseen, "outcomes of both laws, of the first only, of the second only")
    losses = given(loss(x, y), sp.log(P / Q), "the losses of all rounds added, (2.2)")
    ones = suppose(rest, "=", 1 - mass, "a law sums to 1")
    totals = theorems.general(
        "the law of a sum of independent losses is a convolution", gain, "=",
        sp.Sum(weight(x, v) * Positive(1 - sp.exp(eps - level(x, v))), (v, 1, distinct(x))),
        stated=["$S$ is the sum of the losses of independent rounds, and $s(v)$ its values"],
        checked=(_SMALL, _convolution),
    )  # fmt: skip
    start = equals(seen + unseen, "by definition", divergence), equals(seen, "what is negative has no positive part")
    shown = chain(
        value(x, eps),
        *start,
        equals(gain + rest, r"$[P - e^{\varepsilon} Q]_+ = P [1 - e^{\varepsilon - S}]_+$", losses),
        equals(gain + 1 - mass, "a law sums to 1", ones),
        equals(
            gain + 1 - kept,
            "independent rounds",
            theorems.independence(mass, kept, "in every round an outcome of both laws", (_SMALL, _mass_is_a_power)),
        ),
        equals(totals.right + 1 - kept, "outcomes with one total loss together", totals),
    )
    kinds = tuple(enumerate(((gap, both), of_own, of_other)))
    most = chain(
        sp.Add(*(sp.Sum(member(kind, over[0]) * inside, over) for kind, (inside, over) in kinds)),
        at_most(sp.Add(*(sp.Sum(member(kind, over[0]) * Positive(inside), over) for kind, (inside, over) in kinds)),
                "no number is above its positive part"),
        at_most(seen + unseen, "at most all outcomes", at_most_one),
        equals(value(x, eps), "by definition", divergence),
    )  # fmt: skip
    best = quantity("best" + mark, r"1_{{S > \varepsilon}}({0})", nonnegative=True)
    chosen = suppose(
        best(y) * gap,
        "=",
        Positive(gap),
        r"the event $S > \varepsilon$: 1 where $P$ is above $e^{\varepsilon} Q$, else 0",
    )
    attained = chain(
        value(x, eps), *start, equals(sp.Sum(best(y) * gap, both) + rest, r"the event $S > \varepsilon$", chosen)
    )
    return divergence, losses, ones, chosen, most, attained, shown


@derivation(
    r"$\delta$ of many rounds from the privacy loss distribution", f"{SOURCE}, Theorem 5, (2.3)",
    {rounds: "number of rounds", eps: r"$\varepsilon$", x: "a pair of neighbouring datasets $X$, $X'$", worst:
        "the worst of them",
     y: "an outcome of all rounds that is possible under both", z: "one that is impossible under $X'$",
     v: "one that is impossible under $X$; of a total loss $s(v)$ the number"},
)  # fmt: skip
def theorem5() -> Blocks:
    r"""A mechanism of c rounds is tightly (ε, δ(ε))-DP for the largest δ of both directions of all pairs X, X' of
    neighbouring datasets, and δ of one direction is 1 − (1 − δ(∞))^c plus the mean of
    :math:`[1 - e^{\varepsilon - s}]_+` under the c-fold convolution of its privacy loss distribution (Koskela et al.
    2021, Theorem 5, (2.3)).

    For each direction of any pair: no event E has Pr[M(X) ∈ E] − e^ε Pr[M(X') ∈ E] above its δ, the event S > ε has
    that, and (2.3). The last part is the theorem.

    >>> theorem5().statement[-1].right.func
    Max
    """
    P, Q = (
        Law(quantity(name, positive=True), quantity(f"{name}_0", nonnegative=True), size)
        for name, size in (("P", first_only), ("Q", second_only))
    )
    ahead, behind = _direction(P, Q, ""), _direction(Q, P, "'")
    tight = quantity("delta_tight", r"\delta({0})", nonnegative=True)
    largest = given(
        tight(eps), sp.Max(*(blocks[-1].left.subs(x, worst) for blocks in (ahead, behind))),
        r"the least $\delta$ that is enough for both directions of every pair: that of the worst one",
    )  # fmt: skip
    shown = chain(
        tight(eps),
        by("by definition", largest),
        equals(sp.Max(*(d[-1].right.subs(x, worst) for d in (ahead, behind))), "(2.3), twice", ahead[-1], behind[-1]),
    )
    return at_most_one, *ahead, *behind, largest, shown, parts(*ahead[-3:], *behind[-3:], shown)


@derivation(
    "Rounded losses bound the divergence", f"{SOURCE}, Lemma 6, with (2.5)",
    {rounds: "number of rounds", y: "an outcome of all rounds, of $M$", v: "a round", eps: r"$\varepsilon$"},
)  # fmt: skip
def rounded_losses() -> Blocks:
    r"""Losses rounded up raise δ and losses rounded down lower it, in every round (Koskela et al. 2021, Lemma 6,
    (2.5)).

    s(y, v) is the loss of outcome y in round v, s_R its value rounded up to the grid and s_L rounded down; the losses
    must lie in [−L, L − Δz], as (2.4) says. What has Q = 0 is the same in all three.

    >>> [fact.relation for fact in rounded_losses().statement]
    ['<=', '>=']
    """
    one, up, down = quantities("s s_R s_L", real=True)
    raised = suppose(up(y, v), ">=", one(y, v), "(2.5): the smallest point of the grid that is not below")
    lowered = suppose(down(y, v), "<=", one(y, v), "(2.5): the largest point of the grid that is not above")
    gains, deltas = (
        quantities("g g_R g_L", nonnegative=True),
        quantities("delta delta_R delta_L", r"\*({0})", nonnegative=True),
    )
    gained = [
        given(gain(y), Positive(1 - sp.exp(eps - sp.Sum(losses(y, v), (v, 1, rounds)))),
              "what an outcome adds, over $P(y)$: (2.3)")
        for gain, losses in zip(gains, (one, up, down), strict=True)
    ]  # fmt: skip
    whole = [
        given(delta(eps), sp.Sum(P(y) * gain(y), (y, 1, M)) + 1 - (1 - infinite) ** rounds,
              r"$\delta$ of these losses: Theorem 5")
        for delta, gain in zip(deltas, gains, strict=True)
    ]  # fmt: skip
    ways = (1, raised, at_most), (2, lowered, at_least)
    words = r"every loss moves one way, and $[1 - e^{\varepsilon - s}]_+$ grows in $s$"
    steps = [
        chain(
            gains[0](y),
            by("by definition", gained[0]),
            end(gained[other].right, words, fact),
            equals(gains[other](y), "by definition", gained[other]),
        )
        for other, fact, end in ways
    ]
    shown = [
        chain(
            deltas[0](eps),
            by("by definition", whole[0]),
            end(whole[other].right, "outcome by outcome", step),
            equals(deltas[other](eps), "by definition", whole[other]),
        )
        for step, (other, _, end) in zip(steps, ways, strict=True)
    ]
    definitions = (definition for both in zip(gained, whole, strict=True) for definition in both)
    return raised, lowered, *definitions, *steps, *shown, parts(*shown)


level = sp.Symbol("alpha", nonnegative=True)  # 0 where a law has no mass
one_m, one_p = quantities("E_M E_P", "*({0})", nonnegative=True)
many_m, many_p = quantities("D_M D_P", "*({0}, {1})", nonnegative=True)


@derivation(
    "A pair that dominates one round dominates many", f"{SOURCE}, Theorem 7, with the condition that it needs",
    {rounds: "number of rounds", alpha: r"$e^{\varepsilon}$, any positive number"},
)  # fmt: skip
def many_rounds() -> Blocks:
    r"""If :math:`D_x(M(X) \| M(X')) \le D_x(P \| Q)` for *every* x > 0, then c rounds of the mechanism are below c
    rounds of P and Q, at every α (Koskela et al. 2021, Theorem 7, with the condition that it needs).

    The paper asks only that P and Q decide the (ε, δ)-guarantees of one round, in both orders and for ε ≥ 0; that is
    not enough (`papers.koskela2021.claims`, a counterexample with three messages). A, A' are c rounds of the
    mechanism, B, B' one round of it; R, S are c rounds of P, Q. In one round more, first B is replaced by P, given what
    the first c rounds sent, then the c rounds are, given what P sent. Outcomes that are impossible under the first law
    add nothing; y and w are the others.

    >>> many_rounds().statement[0].relational()
    'D_M(c, alpha) <= D_P(c, alpha)'
    """
    below = suppose(
        one_m(level),
        "<=",
        one_p(level),
        r"$P$ and $Q$ dominate one round, for every $\alpha > 0$; at $\alpha = 0$ both are 1",
    )
    before = suppose(many_m(rounds, level), "<=", many_p(rounds, level), "$c$ rounds")
    # -- what c + 1 independent rounds are, and from c rounds to c + 1
    A, P_ = quantities("A P", "*({0})", positive=True)
    A2, B, B2, Q_, R, S = quantities("A' B B' Q R S", "*({0})", nonnegative=True)
    w, r, W, N = sp.symbols("w r W N", integer=True, positive=True)
    sent, last, of_p, of_r = (y, 1, M), (z, 1, Z), (w, 1, W), (r, 1, N)

    def excess(first: Any, second: Any, *limits: Any) -> sp.Expr:
        return sp.Sum(Positive(first - level * second), *limits)

    next_M = suppose(many_m(rounds + 1, level), "=", excess(A(y) * B(z), A2(y) * B2(z), last, sent),
                     "$c$ rounds $A$, $A'$ and one more, independent of them")  # fmt: skip
    next_P = suppose(many_p(rounds + 1, level), "=", excess(R(r) * P_(w), S(r) * Q_(w), of_r, of_p),
                     "$c$ rounds $R$, $S$ and one more, independent of them")  # fmt: skip
    round_M = given(one_m(level), excess(B(z), B2(z), last), "one round of the mechanism")
    round_P = given(one_p(level), excess(P_(w), Q_(w), of_p), "one round of $P$ and $Q$")
    these_M = suppose(many_m(rounds, level), "=", excess(A(y), A2(y), sent), "$c$ rounds of the mechanism")
    these_P = suppose(many_p(rounds, level), "=", excess(R(r), S(r), of_r), "$c$ rounds of $P$ and $Q$")
    ratio_y, ratio_w = level * A2(y) / A(y), level * Q_(w) / P_(w)
    mixed = A(y) * P_(w), A2(y) * Q_(w)
    step = chain(
        many_m(rounds + 1, level),
        by("independent rounds", next_M),
        equals(sp.Sum(A(y) * one_m(ratio_y), sent), "given what $c$ rounds sent, $A(y)$ is taken out", round_M),
        at_most(sp.Sum(A(y) * one_p(ratio_y), sent), r"one round is dominated at every $\alpha$", below),
        equals(excess(*mixed, of_p, sent), "back inside", round_P),
        equals(excess(*mixed, sent, of_p), "the sums exchanged"),
        equals(sp.Sum(P_(w) * many_m(rounds, ratio_w), of_p), "given what $P$ sent, $P(w)$ is taken out", these_M),
        at_most(sp.Sum(P_(w) * many_p(rounds, ratio_w), of_p), r"$c$ rounds are dominated at every $\alpha$",
                before.fixing(rounds)),
        equals(next_P.right, "back inside", these_P),
        equals(many_p(rounds + 1, level), "independent rounds", next_P),
    )  # fmt: skip
    start = [
        suppose(many(1, level), "=", one(level), "the first round") for many, one in ((many_m, one_m), (many_p, one_p))
    ]
    base = chain(
        many_m(1, level),
        equals(one_m(level), "one round", start[0]),
        at_most(one_p(level), "one round is dominated", below),
        equals(many_p(1, level), "one round", start[1]),
    )
    return below, before, round_M, round_P, next_M, next_P, these_M, these_P, *start, base, step, chain(
        many_m(rounds, level),
        at_most(many_p(rounds, level), "by induction over the rounds", theorems.induction(before, rounds, base, step)),
    )  # fmt: skip
