r"""The upper bounds: Girgis et al. 2021, Theorems 3.1 and 3.3 and what they rest on, assembled as chains."""

from itertools import product
from math import comb

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.enclosures import below, exp
from shuffle_sym.papers.engine import (
    Blocks,
    at_most,
    chain,
    cite,
    derivation,
    equals,
    given,
    quantity,
    suppose,
    theorems,
)
from shuffle_sym.papers.engine.derivation import Cited
from shuffle_sym.papers.girgis2021.mixtures import ABOVE, ORDER, expected, lemma_d1, q, theorem36, whole
from shuffle_sym.papers.girgis2021.moments import closed_form, messages, theorem37, theorem71
from shuffle_sym.papers.girgis2021.notation import SOURCE, B, S, j, m, n, order, p, p1, real_order, sums_to_one, t
from shuffle_sym.papers.tools import F

count, s = sp.symbols("m s", integer=True, nonnegative=True)
gamma = parameter("gamma", 0, 1)
nbar = sp.Symbol("nbar", integer=True, positive=True)
b = quantity("b", r"b_{{{0}}}", nonnegative=True)
D = quantity("D", r"D_{{{0}}}", real=True)
SIZE = sp.floor((1 - gamma) * (n - 1) / t) + 1
_MEANING = {
    t: "e^ε0",
    n: "number of users",
    whole(real_order): "the moment E[(M(D)/M(D'))^λ] of two neighbouring datasets",
    S(real_order, m): "the same of special neighbours, m users",
    gamma: "a share in [0, 1]",
    nbar: "a number of users",
}


def _tails_enumerated() -> bool:
    """Pr[Bin(n − 1, q) < ⌊(1 − γ)(n − 1)q⌋] ≤ exp(−γ²(n − 1)q/2) on a grid, enclosed."""

    def holds(users: int, chance: F, share: F) -> bool:
        trials = users - 1
        end = int((1 - share) * trials * chance)
        tail = sum((comb(trials, e) * chance**e * (1 - chance) ** (trials - e) for e in range(end)), F(0))
        return below(tail, exp(-(share**2) * trials * chance / 2))

    grid = product((2, 9, 40), (F(1, 5), F(1, 2), F(9, 10)), (F(1, 10), F(1, 2), F(1)))
    return all(holds(*case) for case in grid)


@derivation("One user alone", f"{SOURCE}, Appendix D.1, step (c)", where={t: "e^ε0", B: "number of messages"})
def single_user() -> Blocks:
    r"""S_λ(1) ≤ t^λ: without others the moment is that of R, whose ratios are at most t (Girgis et al. 2021, D.1).

    >>> single_user().result
    t**lambda
    """
    e = quantity("e", r"e_{{{0}}}", nonnegative=True)
    private = suppose(p1(j), "=", t * p(j) / (1 + e(j)), "R is ε0-LDP: p'_j ≤ t p_j, written with some e_j ≥ 0")
    ratios = sp.Sum(p(j) * (p1(j) / p(j)) ** real_order, messages)
    alone = theorems.total_probability(S(real_order, 1), ratios, "the user sends j with probability p_j")
    each = chain(
        (p1(j) / p(j)) ** real_order,
        equals((t / (1 + e(j))) ** real_order, "ε0-LDP", private),
        at_most(t**real_order, "a power rises"),
    )
    shown = chain(
        S(real_order, 1),
        equals(ratios, "by definition", alone),
        at_most(t**real_order * sp.Sum(p(j), messages), "each ratio is at most t", each),
        equals(t**real_order, "p is a law", sums_to_one),
    )
    return sums_to_one, private, each, shown


@derivation("The moment, cut at a number of users", f"{SOURCE}, (40), corrected", where=_MEANING)
def eq40() -> Blocks:
    r"""The moment of two neighbouring datasets is at most t^λ e^{−γ²(n−1)/(2t)} + S_λ(n̄), n̄ = ⌊(1 − γ)(n − 1)/t⌋ + 1,
    for every real λ > 1 (Girgis et al. 2021, (40)), if γ ≤ 1 and with the floor; the paper has γ > 0 arbitrary.

    >>> eq40().result
    t**lambda*exp(-gamma**2*(n - 1)/(2*t)) + S(lambda, nbar)
    """
    reduction, falls, alone = cite(theorem36), cite(lemma_d1), cite(single_user)
    law = given(b(count), sp.binomial(n - 1, count) * q**count * (1 - q) ** (n - 1 - count), "Bin(n − 1, 1/t)")
    size = given(nbar, SIZE, "a share 1 − γ of the mean of m, rounded down, and the differing user")
    total = chain(sp.Sum(b(count), (count, 0, n - 1)), equals(1, "the binomial theorem", law), under=ABOVE)
    rest = sp.Sum(b(nbar - 1 + s), (s, 0, n - nbar))
    early = sp.Sum(b(count), (count, 0, nbar - 2))
    most = chain(
        rest,
        equals(sp.Sum(b(count), (count, 0, n - 1)) - early, "all without the first ones"),
        at_most(sp.Sum(b(count), (count, 0, n - 1)), "no probability is negative"),
        equals(1, "all of them", total),
        under=ABOVE,
    )
    bound = sp.exp(-(gamma**2) * (n - 1) / (2 * t))
    chernoff = theorems.general(
        "Chernoff's bound", early, "<=", bound,
        ["m is a sum of n − 1 independent indicators of mean 1/t, and m ≤ nbar − 2 is below (1 − γ)(n − 1)/t"],
        [("the law of m", law), ("the number of users", size)],
        checked=("n ≤ 40, three values of t and of γ, enclosed", _tails_enumerated),
    )  # fmt: skip
    tail = chain(early, at_most(bound, "m far below its mean", chernoff))
    both = (ABOVE, ORDER)
    shown = chain(
        whole(real_order),
        at_most(expected(lambda users: S(real_order, users)), "Theorem 3.6", reduction),
        equals(sp.Sum(b(count) * S(real_order, count + 1), (count, 0, n - 1)), "the law of m", law),
        equals(
            sp.Sum(b(count) * S(real_order, count + 1), (count, 0, nbar - 2))
            + sp.Sum(b(nbar - 1 + s) * S(real_order, nbar + s), (s, 0, n - nbar)),
            "cut at nbar − 1 doubles",
        ),
        at_most(
            S(real_order, 1) * early + S(real_order, nbar) * rest, "the moments fall",
            falls.at({m: 1, sp.Symbol("k", integer=True, nonnegative=True): count}),
            falls.at({m: nbar, sp.Symbol("k", integer=True, nonnegative=True): s}),
        ),
        at_most(t**real_order * early + S(real_order, nbar) * rest, "one user alone", alone),
        at_most(t**real_order * bound + S(real_order, nbar) * rest, "Chernoff's bound", tail),
        at_most(t**real_order * bound + S(real_order, nbar), "at most all of them", most),
        under=both,
    )  # fmt: skip
    return reduction, falls, alone, law, size, total, most, tail, shown


HALF = SIZE.subs(gamma, sp.Rational(1, 2))


def _assembled(special: Cited, lam: sp.Expr, moment: sp.Expr) -> Blocks:
    """From (40) with γ = 1/2 and a bound for special neighbours to the Rényi divergence."""
    size = given(nbar, HALF, "half the mean number of doubles, rounded down, and the differing user")
    cut = cite(eq40)
    divergence = given(D(lam), sp.log(whole(lam)) / (lam - 1), "the Rényi divergence of two neighbouring datasets")
    half = cut.at({gamma: sp.Rational(1, 2), real_order: lam})
    last = half.right - S(lam, nbar)
    bounded = chain(
        whole(lam),
        at_most(half.right, "(40) with γ = 1/2", half),
        at_most(moment + last, "special neighbours with so many users", special),
        under=(ABOVE, ORDER) if lam == real_order else ABOVE,
    )
    shown = chain(
        D(lam),
        equals(sp.log(whole(lam)) / (lam - 1), "by definition", divergence),
        at_most(sp.log(moment + last) / (lam - 1), "log rises", bounded),
        equals(sp.log(moment.subs(nbar, HALF) + last) / (lam - 1), "the number of users put in", size),
        under=bounded.under,
    )
    return size, cut, special, divergence, bounded, shown


_RESULT = {**_MEANING, nbar: "(n − 1)/(2t) rounded down, plus 1", D(real_order): "the Rényi divergence of order λ"}


@derivation("The first upper bound", f"{SOURCE}, Theorem 3.1, corrected", where=_RESULT)
def theorem31_renyi() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any integer λ ≥ 2 is at most
    log(1 + C(λ, 2)(t − 1)²/(n̄t) + Σ_{i=3}^λ C(λ, i) i Γ(i/2) ((t² − 1)²/(2n̄t²))^{i/2} + t^λ e^{−(n−1)/(8t)})/(λ − 1),
    n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.1 as its proof has it, (41): (5) as printed has λ/2 for
    C(λ, 2) and ends the logarithm early).

    >>> theorem31_renyi().statement[0].left
    D(lambda)
    """
    return _assembled(cite(theorem37), order, closed_form(nbar))


@derivation("The second upper bound", f"{SOURCE}, Theorem 3.3, corrected", where=_RESULT)
def theorem33() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any real λ > 1 is at most
    1/(λ − 1) · log(e^{λ²(t − 1)²/n̄} + t^λ e^{−(n−1)/(8t)}), n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.3 as
    its proof has it: (8) as printed has ε0 for e^ε0 and n for n̄).

    >>> theorem33().result
    log(t**lambda*exp(-(n - 1)/(8*t)) + exp(lambda**2*(t - 1)**2/(floor((n - 1)/(2*t)) + 1)))/(lambda - 1)
    """
    return _assembled(cite(theorem71), real_order, sp.exp(real_order**2 * (t - 1) ** 2 / nbar))
