r"""The upper bounds: Girgis et al. 2021, Theorems 3.1 and 3.3 and what they rest on, assembled as chains."""

from itertools import product
from math import comb

import sympy as sp

from shuffle_sym.algebra.symbols import parameter
from shuffle_sym.papers.enclosures import below, exp
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, chain, equals, parts
from shuffle_sym.papers.engine.derivation import Blocks, Cited, cite, derivation
from shuffle_sym.papers.engine.facts import Applied, given
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.girgis2021 import notation
from shuffle_sym.papers.girgis2021.mixtures import ABOVE, ORDER, expected, lemma_d1, q, theorem36, whole
from shuffle_sym.papers.girgis2021.moments import closed_form, messages, pairs_of_laws, theorem37, theorem71
from shuffle_sym.papers.girgis2021.notation import SOURCE, B, S, j, k, m, n, order, p, p1, real_order, sums_to_one, t
from shuffle_sym.papers.laws import moment, shuffled
from shuffle_sym.papers.tools import F

count, s = sp.symbols("m s", integer=True, nonnegative=True)
gamma = parameter("gamma", 0, 1)
number = quantity("nbar", r"\bar n", integer=True, positive=True)
nbar = number(gamma)
b = quantity("b", r"b_{{{0}}}", nonnegative=True)
D = quantity("D", r"D_{{{0}}}", real=True)
few, many = (quantity(name, name.replace("pi", r"\pi"), nonnegative=True)(gamma) for name in ("pi", "pi'"))
SIZE = sp.floor((1 - gamma) * (n - 1) / t) + 1
_MEANING = {
    t: r"$e^{\varepsilon_0}$",
    n: "number of users",
    whole(real_order): r"the moment $\mathbb{E}[(M(D)/M(D'))^{\lambda}]$ of two neighbouring datasets",
    S(real_order, m): "the same of special neighbours, $m$ users",
    gamma: "a share in $[0, 1]$",
    nbar: "a number of users",
}
_CUT = {**_MEANING, few: r"the probability of fewer than $\bar{n} - 1$ doubles", many: "that of all others"}


def _tails_enumerated() -> bool:
    """Pr[Bin(n − 1, q) < ⌊(1 − γ)(n − 1)q⌋] ≤ exp(−γ²(n − 1)q/2) on a grid, enclosed."""

    def holds(users: int, chance: F, share: F) -> bool:
        trials = users - 1
        end = int((1 - share) * trials * chance)
        tail = sum((comb(trials, e) * chance**e * (1 - chance) ** (trials - e) for e in range(end)), F(0))
        return below(tail, exp(-(share**2) * trials * chance / 2))

    grid = product((2, 9, 40), (F(1, 5), F(1, 2), F(9, 10)), (F(1, 10), F(1, 2), F(1)))
    return all(holds(*case) for case in grid)


def one_user(lam: sp.Expr) -> Applied:
    """The moment of special neighbours with one user is that of R."""

    def alone(law: list[F], other: list[F]) -> bool:
        cubes = sum(u * (v / u) ** 3 for u, v in zip(law, other, strict=True))
        return moment(shuffled([other]), shuffled([law]), 3) == cubes

    ratios, words = sp.Sum(p(j) * (p1(j) / p(j)) ** lam, messages), "the user sends $j$ with probability $p_j$"
    checked = (r"three randomizers, $\lambda = 3$, in fractions", lambda: all(alone(*pair) for pair in pairs_of_laws()))
    return theorems.total_probability(S(lam, 1), ratios, words, checked)


@derivation(
    "One user alone", f"{SOURCE}, Appendix D.1, step (c)", where={t: r"$e^{\varepsilon_0}$", B: "number of messages"}
)
def single_user() -> Blocks:
    r"""S_λ(1) ≤ t^λ: without others the moment is that of R, whose ratios are at most t (Girgis et al. 2021, D.1).

    >>> single_user().result
    t**lambda
    """
    alone = one_user(real_order)
    each = chain(
        (p1(j) / p(j)) ** real_order,
        equals((t / (1 + notation.above_one(j))) ** real_order, r"$\varepsilon_0$-LDP", notation.not_above_t),
        at_most(t**real_order, "a power rises"),
    )
    shown = chain(
        S(real_order, 1),
        at_most(t**real_order * sp.Sum(p(j), messages), "each ratio is at most $t$", alone, each),
        equals(t**real_order, "$p$ is a law", sums_to_one),
    )
    return sums_to_one, notation.not_above_t, each, shown


@derivation("The moment, cut at a number of doubles", f"{SOURCE}, (40), corrected", where=_CUT)
def cut() -> Blocks:
    r"""The moment of two neighbouring datasets is at most S_λ(1)π + S_λ(n̄)π', where n̄ = ⌊(1 − γ)(n − 1)/t⌋ + 1,
    π ≤ e^{−γ²(n−1)/(2t)} is the probability of fewer than n̄ − 1 doubles, and π' = 1 − π (Girgis et al. 2021, in the
    proof of (40)), for every real λ > 1.

    >>> cut().result
    S(lambda, 1)*pi(gamma) + S(lambda, nbar(gamma))*pi'(gamma)
    """
    reduction, falls = cite(theorem36), cite(lemma_d1)
    law = given(
        b(count), sp.binomial(n - 1, count) * q**count * (1 - q) ** (n - 1 - count), r"$\mathrm{Bin}(n - 1, 1/t)$"
    )
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    early = given(few, sp.Sum(b(count), (count, 0, nbar - 2)), r"fewer than $\bar{n} - 1$ doubles")
    late = given(many, sp.Sum(b(nbar - 1 + s), (s, 0, n - nbar)), "all others")
    total = chain(sp.Sum(b(count), (count, 0, n - 1)), equals(1, "the binomial theorem", law), under=ABOVE)
    fits = sp.Ge(n, nbar)
    everything = chain(
        many,
        equals(total.left - early.right, "all without the first ones", late),
        equals(1 - few, "all of them", total, early),
        under=(ABOVE, fits),
    )
    bound = sp.exp(-(gamma**2) * (n - 1) / (2 * t))
    chernoff = theorems.general(
        "Chernoff's bound", early.right, "<=", bound,
        [r"$m$ is a sum of $n - 1$ independent indicators of mean $1/t$, and $m \le \bar{n} - 2$ is below "
         r"$(1 - \gamma)(n - 1)/t$"],
        [("the law of $m$", law), ("the number of users", size)],
        checked=(r"$n \le 40$, three values of $t$ and of $\gamma$, enclosed", _tails_enumerated),
    )  # fmt: skip
    tail = chain(few, equals(early.right, "by definition", early), at_most(bound, "$m$ far below its mean", chernoff))
    shown = chain(
        whole(real_order),
        at_most(expected(lambda users: S(real_order, users)), "Theorem 3.6", reduction),
        equals(sp.Sum(b(count) * S(real_order, count + 1), (count, 0, n - 1)), "the law of $m$", law),
        equals(
            sp.Sum(b(count) * S(real_order, count + 1), (count, 0, nbar - 2))
            + sp.Sum(b(nbar - 1 + s) * S(real_order, nbar + s), (s, 0, n - nbar)),
            r"cut at $\bar{n} - 1$ doubles",
        ),
        at_most(
            S(real_order, 1) * early.right + S(real_order, nbar) * late.right, "the moments fall",
            falls.at({m: 1, k: count}), falls.at({m: nbar, k: s}),
        ),
        equals(S(real_order, 1) * few + S(real_order, nbar) * many, "their probabilities", early, late),
        under=(ABOVE, ORDER, sp.Ge(n, nbar)),
    )  # fmt: skip
    return reduction, falls, law, size, early, late, total, everything, tail, shown, parts(tail, everything, shown)


@derivation("The moment, cut at a number of users", f"{SOURCE}, (40), corrected", where=_CUT)
def eq40() -> Blocks:
    r"""The moment of two neighbouring datasets is at most t^λ e^{−γ²(n−1)/(2t)} + S_λ(n̄), n̄ = ⌊(1 − γ)(n − 1)/t⌋ + 1,
    for every real λ > 1 (Girgis et al. 2021, (40)), if γ ≤ 1 and with the floor; the paper has γ > 0 arbitrary.

    >>> eq40().result
    t**lambda*exp(-gamma**2*(n - 1)/(2*t)) + S(lambda, nbar(gamma))
    """
    (tail, everything, parted), alone = (cite(cut, part=e) for e in range(3)), cite(single_user)
    shown = chain(
        whole(real_order),
        at_most(S(real_order, 1) * few + S(real_order, nbar) * many, "few doubles, or many", parted),
        at_most(t**real_order * few + S(real_order, nbar) * many, "one user alone", alone),
        at_most(t**real_order * tail.right + S(real_order, nbar) * many, "Chernoff's bound", tail),
        equals(t**real_order * tail.right + S(real_order, nbar) * (1 - few), "all others", everything),
        at_most(t**real_order * tail.right + S(real_order, nbar), "no probability is negative"),
        under=(ABOVE, ORDER, sp.Ge(n, nbar)),
    )
    return tail, everything, parted, alone, shown


half_number, HALF = (one.subs(gamma, sp.Rational(1, 2)) for one in (nbar, SIZE))


def _assembled(special: Cited, lam: sp.Expr, moment: sp.Expr) -> Blocks:
    """From (40) with γ = 1/2 and a bound for special neighbours to the Rényi divergence."""
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    cut = cite(eq40)
    divergence = given(D(lam), sp.log(whole(lam)) / (lam - 1), "the Rényi divergence of two neighbouring datasets")
    half = cut.at({gamma: sp.Rational(1, 2), real_order: lam})
    last = half.right - S(lam, half_number)
    so_many = theorems.for_other_laws(special, {m: half_number}, r"$\rho$ and $X$ are those of $\bar{n}$ users")
    bounded = chain(
        whole(lam),
        at_most(half.right, r"(40) with $\gamma = 1/2$", half, size),
        at_most(moment + last, "special neighbours with so many users", so_many),
        under=(ABOVE, ORDER) if lam == real_order else ABOVE,
    )
    shown = chain(
        D(lam),
        at_most(sp.log(moment + last) / (lam - 1), r"$\log$ rises", divergence, bounded),
        equals(sp.log(moment.subs(half_number, HALF) + last) / (lam - 1), "the number of users put in", size),
        under=bounded.under,
    )
    return size, cut, special, divergence, bounded, shown


_RESULT = {
    **_MEANING,
    half_number: "$(n - 1)/(2t)$ rounded down, plus 1",
    D(real_order): r"the Rényi divergence of order $\lambda$",
}


@derivation("The first upper bound", f"{SOURCE}, Theorem 3.1, corrected", where=_RESULT)
def theorem31_renyi() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any integer λ ≥ 2 is at most
    log(1 + C(λ, 2)(t − 1)²/(n̄t) + Σ_{i=3}^λ C(λ, i) i Γ(i/2) ((t² − 1)²/(2n̄t²))^{i/2} + t^λ e^{−(n−1)/(8t)})/(λ − 1),
    n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.1 as its proof has it, (41): (5) as printed has λ/2 for
    C(λ, 2) and ends the logarithm early).

    >>> theorem31_renyi().statement[0].left
    D(lambda)
    """
    return _assembled(cite(theorem37), order, closed_form(half_number))


@derivation("The second upper bound", f"{SOURCE}, Theorem 3.3, corrected", where=_RESULT)
def theorem33() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets, any ε0-LDP randomizer and any real λ > 1 is at most
    1/(λ − 1) · log(e^{λ²(t − 1)²/n̄} + t^λ e^{−(n−1)/(8t)}), n̄ = ⌊(n − 1)/(2t)⌋ + 1 (Girgis et al. 2021, Theorem 3.3 as
    its proof has it: (8) as printed has ε0 for e^ε0 and n for n̄).

    >>> theorem33().result
    log(t**lambda*exp(-(n - 1)/(8*t)) + exp(lambda**2*(t - 1)**2/(floor((n - 1)/(2*t)) + 1)))/(lambda - 1)
    """
    return _assembled(cite(theorem71), real_order, sp.exp(real_order**2 * (t - 1) ** 2 / half_number))
