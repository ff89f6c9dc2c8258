r"""Many rounds: Koskela et al. 2021, Theorem 5, Lemma 6 and Theorem 7, from the divergence as a sum of positive
parts."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.papers.engine import (
    Blocks,
    Positive,
    at_least,
    at_most,
    chain,
    derivation,
    equals,
    given,
    parts,
    quantity,
    suppose,
    theorems,
)

SOURCE = "Koskela et al. 2021"
alpha = field.alpha
eps, infinite = sp.Symbol("epsilon", real=True), sp.Symbol("delta_infinity", nonnegative=True)
rounds, y, z, v, M, Z, K = sp.symbols("c y z v M Z K", integer=True, positive=True)
delta = quantity("delta", r"\delta({0})", nonnegative=True)
P, Q, P_only, weight, total = (quantity(name, nonnegative=True) for name in ("P", "Q", "P_0", "omega_c", "mass"))
loss, level = quantity("S", real=True), quantity("s", real=True)

#: A pair of three outcomes, the last one impossible under the second law.
_PAIR = ((Fraction(1, 2), Fraction(2, 3)), (Fraction(1, 3), Fraction(1, 3)), (Fraction(1, 6), Fraction(0)))
_SMALL = "for three outcomes, one of them impossible under Q, up to 3 rounds, in fractions"


def _outcomes(count: int) -> list[tuple[Fraction, Fraction]]:
    """P and Q of all outcomes of some rounds that are possible under both."""
    one = [pair for pair in _PAIR if pair[1]]
    return [(math.prod(p for p, _ in y), math.prod(q for _, q in y)) for y in product(one, repeat=count)]  # type: ignore[misc]


def _mass_is_a_power() -> bool:
    lost = sum(p for p, q in _PAIR if not q)
    return all(sum(p for p, _ in _outcomes(count)) == (1 - lost) ** count for count in (1, 2, 3))


def _convolution() -> bool:
    """Whether the law of the ratio of all rounds is that of one round, convolved."""
    one = {p / q: p for p, q in _PAIR if q}
    law: dict[Fraction, Fraction] = {Fraction(1): Fraction(1)}
    for count in (1, 2, 3):
        convolved: dict[Fraction, Fraction] = defaultdict(Fraction)
        for (x, p), (w, q) in product(law.items(), one.items()):
            convolved[x * w] += p * q
        law = dict(convolved)
        direct: dict[Fraction, Fraction] = defaultdict(Fraction)
        for p, q in _outcomes(count):
            direct[p / q] += p
        if law != dict(direct):
            return False
    return True


@derivation(
    "δ of many rounds from the privacy loss distribution", f"{SOURCE}, Theorem 5, (2.3)",
    {rounds: "number of rounds", eps: "ε", infinite: "mass of P in one round where Q is 0",
     M: "outcomes of all rounds that are possible under both",
     Z: "outcomes that are impossible under Q", v: "number of a total loss s(v), of K"},
)  # fmt: skip
def loss_distribution() -> Blocks:
    r"""δ(ε) of c rounds is 1 − (1 − δ(∞))^c plus the mean of :math:`[1 - e^{\varepsilon - s}]_+` under the c-fold
    convolution of the privacy loss distribution (Koskela et al. 2021, Theorem 5, (2.3)).

    δ(ε) is the divergence :math:`\sum_y [P(y) - e^\varepsilon Q(y)]_+` over the outcomes y of all rounds, the least δ
    for this pair and direction.

    >>> loss_distribution().result
    -(1 - delta_infinity)**c + Sum(omega_c(v)*[1 - exp(epsilon - s(v))]_+, (v, 1, K)) + 1
    """
    both, only = (y, 1, M), (z, 1, Z)
    parts_of = sp.Sum(Positive(P(y) - sp.exp(eps) * Q(y)), both) + sp.Sum(P_only(z), only)
    divergence = given(delta(eps), parts_of, "the sum of positive parts; P_0 are the outcomes with Q = 0")
    losses = suppose(Q(y), "=", P(y) * sp.exp(-loss(y)), "S(y) = log(P(y)/Q(y)), the losses of all rounds added, (2.2)")
    ones = suppose(sp.Sum(P_only(z), only), "=", 1 - sp.Sum(P(y), both), "P sums to 1")
    power = theorems.independence(
        sp.Sum(P(y), both), (1 - infinite) ** rounds, "Q > 0 in every round, the rounds", (_SMALL, _mass_is_a_power)
    )
    gain = Positive(1 - sp.exp(eps - loss(y)))
    convolved = theorems.general(
        "the law of a sum of independent losses is a convolution",
        sp.Sum(P(y) * gain, both), "=", sp.Sum(weight(v) * Positive(1 - sp.exp(eps - level(v))), (v, 1, K)),
        stated=["S is the sum of the losses of independent rounds, and s(v) its values"],
        checked=(_SMALL, _convolution),
    )  # fmt: skip
    shown = chain(
        delta(eps),
        equals(parts_of, "by definition", divergence),
        equals(sp.Sum(P(y) * gain, both) + sp.Sum(P_only(z), only), "[P − e^ε Q]_+ = P [1 − e^{ε − S}]_+", losses),
        equals(sp.Sum(P(y) * gain, both) + 1 - sp.Sum(P(y), both), "P sums to 1", ones),
        equals(sp.Sum(P(y) * gain, both) + 1 - (1 - infinite) ** rounds, "independent rounds", power),
        equals(convolved.right + 1 - (1 - infinite) ** rounds, "outcomes with one total loss together", convolved),
    )
    return divergence, losses, ones, shown


@derivation(
    "Rounded losses bound the divergence", f"{SOURCE}, Lemma 6, with (2.5)",
    {rounds: "number of rounds", y: "an outcome of all rounds, of M", v: "a round", eps: "ε"},
)  # fmt: skip
def rounded_losses() -> Blocks:
    r"""Losses rounded up raise δ and losses rounded down lower it, in every round (Koskela et al. 2021, Lemma 6,
    (2.5)).

    s(y, v) is the loss of outcome y in round v, s_R its value rounded up to the grid and s_L rounded down; the losses
    must lie in [−L, L − Δz], as (2.4) says. What has Q = 0 is the same in all three.

    >>> [fact.relation for fact in rounded_losses().statement]
    ['<=', '>=']
    """
    one, up, down = (quantity(name, real=True) for name in ("s", "s_R", "s_L"))
    raised = suppose(up(y, v), ">=", one(y, v), "(2.5): the smallest point of the grid that is not below")
    lowered = suppose(down(y, v), "<=", one(y, v), "(2.5): the largest point of the grid that is not above")
    gains, deltas, definitions = [], [], []
    for name, losses in (("", one), ("_R", up), ("_L", down)):
        gain = quantity(f"g{name}", nonnegative=True)
        value = quantity(f"delta{name}", rf"\delta{name}({{0}})", nonnegative=True)
        added = sp.Sum(losses(y, v), (v, 1, rounds))
        definitions.append(given(gain(y), Positive(1 - sp.exp(eps - added)), "what an outcome adds, over P(y): (2.3)"))
        whole = sp.Sum(P(y) * gain(y), (y, 1, M)) + 1 - (1 - infinite) ** rounds
        definitions.append(given(value(eps), whole, "δ of these losses: Theorem 5"))
        gains.append(gain)
        deltas.append(value)
    shown = []
    steps = []
    for other, fact, end in ((1, raised, at_most), (2, lowered, at_least)):
        step = chain(
            gains[0](y),
            equals(definitions[0].right, "by definition", definitions[0]),
            end(definitions[2 * other].right, "every loss moves one way, and [1 − e^{ε − s}]_+ grows in s", fact),
            equals(gains[other](y), "by definition", definitions[2 * other]),
        )
        steps.append(step)
        shown.append(
            chain(
                deltas[0](eps),
                equals(definitions[1].right, "by definition", definitions[1]),
                end(definitions[2 * other + 1].right, "outcome by outcome", step),
                equals(deltas[other](eps), "by definition", definitions[2 * other + 1]),
            )
        )
    return raised, lowered, *definitions, *steps, *shown, parts(*shown)


@derivation(
    "A pair that dominates one round dominates many", f"{SOURCE}, Theorem 7, with the condition that it needs",
    {rounds: "number of rounds", alpha: "e^ε, any positive number"},
)  # fmt: skip
def many_rounds() -> Blocks:
    r"""If :math:`D_x(M(X) \| M(X')) \le D_x(P \| Q)` for *every* x > 0, then c rounds of the mechanism are below c
    rounds of P and Q, at every α (Koskela et al. 2021, Theorem 7, with the condition that it needs).

    The paper asks only that P and Q decide the (ε, δ)-guarantees of one round, in both orders and for ε ≥ 0; that is
    not enough (`papers.koskela2021.claims.rounds`, a counterexample with three messages). A, A' are c rounds of the
    mechanism, B, B' one round of it; R, S are c rounds of P, Q. In one round more, first B is replaced by P, given what
    the first c rounds sent, then the c rounds are, given what P sent. Outcomes that are impossible under the first law
    add nothing; y and w are the others.

    >>> many_rounds().statement[0].relational()
    'D_M(c, alpha) <= D_P(c, alpha)'
    """
    A, P_ = (quantity(name, name + "({0})", positive=True) for name in ("A", "P"))
    A2, B, B2, Q_, R, S = (
        quantity(name, name + "({0})", nonnegative=True) for name in ("A'", "B", "B'", "Q", "R", "S")
    )
    one_M, one_P = (quantity(name, name + "({0})", nonnegative=True) for name in ("E_M", "E_P"))
    many_M, many_P = (quantity(name, name + "({0}, {1})", nonnegative=True) for name in ("D_M", "D_P"))
    w, r, W, N = sp.symbols("w r W N", integer=True, positive=True)
    left, right = (y, 1, M), (z, 1, Z)

    def joint(first: Any, second: Any, first_other: Any, second_other: Any, *limits: Any) -> sp.Expr:
        return sp.Sum(Positive(first * second - alpha * first_other * second_other), *limits)

    round_M = given(one_M(alpha), sp.Sum(Positive(B(z) - alpha * B2(z)), right), "one round of the mechanism")
    round_P = given(one_P(alpha), sp.Sum(Positive(P_(w) - alpha * Q_(w)), (w, 1, W)), "one round of P and Q")
    below = suppose(
        one_M(alpha), "<=", one_P(alpha), "P and Q dominate one round, for every α > 0; at α = 0 both are 1"
    )
    before = suppose(many_M(rounds, alpha), "<=", many_P(rounds, alpha), "c rounds")
    next_M = suppose(many_M(rounds + 1, alpha), "=", joint(A(y), B(z), A2(y), B2(z), right, left),
                     "c rounds A, A' and one more, independent of them")  # fmt: skip
    next_P = suppose(many_P(rounds + 1, alpha), "=", joint(R(r), P_(w), S(r), Q_(w), (r, 1, N), (w, 1, W)),
                     "c rounds R, S and one more, independent of them")  # fmt: skip
    these_M = suppose(
        many_M(rounds, alpha), "=", sp.Sum(Positive(A(y) - alpha * A2(y)), left), "c rounds of the mechanism"
    )
    these_P = suppose(
        many_P(rounds, alpha), "=", sp.Sum(Positive(R(r) - alpha * S(r)), (r, 1, N)), "c rounds of P and Q"
    )
    ratio_y, ratio_w = alpha * A2(y) / A(y), alpha * Q_(w) / P_(w)
    step = chain(
        many_M(rounds + 1, alpha),
        equals(next_M.right, "independent rounds", next_M),
        equals(sp.Sum(A(y) * one_M(ratio_y), left), "given what c rounds sent, A(y) is taken out", round_M),
        at_most(sp.Sum(A(y) * one_P(ratio_y), left), "one round is dominated at every α", below),
        equals(joint(A(y), P_(w), A2(y), Q_(w), (w, 1, W), left), "back inside", round_P),
        equals(joint(A(y), P_(w), A2(y), Q_(w), left, (w, 1, W)), "the sums exchanged"),
        equals(sp.Sum(P_(w) * many_M(rounds, ratio_w), (w, 1, W)), "given what P sent, P(w) is taken out", these_M),
        at_most(
            sp.Sum(P_(w) * many_P(rounds, ratio_w), (w, 1, W)),
            "c rounds are dominated at every α",
            before.fixing(rounds),
        ),
        equals(next_P.right, "back inside", these_P),
        equals(many_P(rounds + 1, alpha), "independent rounds", next_P),
    )
    start = [
        suppose(many(1, alpha), "=", one(alpha), "the first round") for many, one in ((many_M, one_M), (many_P, one_P))
    ]
    base = chain(
        many_M(1, alpha),
        equals(one_M(alpha), "one round", start[0]),
        at_most(one_P(alpha), "one round is dominated", below),
        equals(many_P(1, alpha), "one round", start[1]),
    )
    for_all = theorems.induction(before, rounds, base, step)
    shown = chain(many_M(rounds, alpha), at_most(many_P(rounds, alpha), "by induction over the rounds", for_all))
    given_laws = (round_M, round_P, below, before, next_M, next_P, these_M, these_P)
    return *given_laws, *start, base, step, shown
