r"""The claims of Koskela et al. 2021, section by section; predicates stand above the claim that first needs them.

"Full" is the full version of the paper, "workshop" the shorter one.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, product
from operator import truediv
from typing import Any

import numpy as np
import sympy as sp
from sympy.discrete.transforms import fft, ifft

from shuffle_sym.accounting.pld import ShuffledPLD
from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import field, rounding
from shuffle_sym.model.cells import a, b, n
from shuffle_sym.model.decomposition import blanket, clones, clones_koskela, dataset, strong, weak
from shuffle_sym.numeric.losses import LossGrid
from shuffle_sym.papers import bounds, derivations
from shuffle_sym.papers.claims import (
    Check,
    Claims,
    Evidence,
    all_of,
    certified,
    confirmed,
    counterexample,
    fact,
    first,
    identity,
    makes_test,
    on_grid,
    proved,
    refuted,
    seen,
)
from shuffle_sym.papers.enclosures import ends, exp
from shuffle_sym.papers.engine import claim as line
from shuffle_sym.papers.engine.chains import Line
from shuffle_sym.papers.koskela2021.clones import p, q
from shuffle_sym.papers.koskela2021.definitions import (
    EVERYONE,
    OTHERS,
    clone_cells,
    left_over,
    standard_clone_cells,
    view,
)
from shuffle_sym.papers.koskela2021.printed import divergences, printed_strong, printed_weak
from shuffle_sym.papers.laws import binomial, divergence_of_laws, shuffled_datasets
from shuffle_sym.papers.tools import (
    F,
    between,
    collected,
    exact,
    fraction,
    krr,
    level,
    of_datasets,
    told_worst,
    worst,
)
from shuffle_sym.randomizers import KRR, BinaryRR, from_matrix
from shuffle_sym.truth.exact import composed_divergence, shuffled_pair
from shuffle_sym.truth.histograms import hockey_stick

claim = Claims(__name__)

Law = dict[Any, F]
ALPHAS = (F(1), F(6, 5), F(3, 2), F(2), F(3), F(7))


# ------------------------------------------------------------ Sections 2 and 3: losses, the accountant, many rounds


def printed_delta(pair: dict[Any, tuple[F, F]], rounds: int, alpha: F) -> F:
    """(2.3) as printed: the losses s are kept as e^s, so that the convolution is exact."""
    infinite = sum((p for p, q in pair.values() if q == 0), F(0))
    one = collected((p / q, p) for p, q in pair.values() if p and q)
    law: Law = {F(1): F(1)}
    for _ in range(rounds):
        law = collected((x * y, p * q) for (x, p), (y, q) in product(law.items(), one.items()))
    return 1 - (1 - infinite) ** rounds + sum(((1 - alpha / s) * p for s, p in law.items() if s > alpha), F(0))


claim(
    "K-Thm5/(2.3)",
    "full 67-87; workshop 45-50",
    r"$\delta$ after $n_c$ rounds is $1 - (1 - \delta(\infty))^{n_c}$ plus the integral of $(1 - "
    r"e^{\varepsilon-s})$ over the $n_c$-fold convolution",
    proved(derivations.theorem5, finding="for every pair, in both directions"),
    on_grid(
        lambda D, n, rounds, alpha: (
            printed_delta(shuffled_pair(D, n), rounds, alpha),
            fraction(composed_divergence([shuffled_pair(D, n)] * rounds, alpha)),
        ),
        lambda: (clones_koskela(level(2)), strong(krr(3, F(1, 2))), dataset(BinaryRR(eps0=level(3)), 0, 1, 0)),
        (1, 2, 3),
        (1, 2, 3),
        ALPHAS,
        says="=",
        finding="equal to the product of the rounds, outcome by outcome, with δ(∞) > 0 in two of three pairs: n "
        "and n_c up to 3, six α. (The workshop version has lost a prime in δ(∞): P(M(X)) > 0 and P(M(X)) = 0)",
    ),
)


def both_directions(n: int, t: F, alpha: F) -> tuple[F, F]:
    """2-RR, all zeros against a single 1."""
    D = dataset(BinaryRR(eps0=level(t)), 0, 1, 0)
    return exact(D, n, alpha), exact(D.reversed(), n, alpha)


claim(
    "K-001-Def1",
    "workshop 22",
    r"one inequality for the ordered pair defines $(\varepsilon, \delta)$-indistinguishability (the full "
    "version has both)",
    counterexample(
        both_directions,
        (1, 2, 3),
        (F(2), F(3)),
        (F(3, 2), F(2)),
        only=lambda n, t, alpha: alpha < t,
        says="=",
        told=lambda n, t, alpha, forward, backward: (
            f"2-RR, all zeros against one 1, n = {n}, t = {t}, α = {alpha}: δ is {forward} in one direction and "
            f"{backward} in the other, so P ≃ Q of the workshop version does not say Q ≃ P, and its (3.1) needs both"
        ),
    ),
    condition=on_grid(
        lambda D: D.reversed() == D,
        lambda: (clones(), clones_koskela(), *(make(krr(k, F(1, 2))) for k in (2, 3, 4) for make in (strong, weak))),
        finding="it is enough if exchanging P and Q changes nothing: clones for all t, and both views of k-RR",
    ),
)
claim(
    "K-Lem6",
    "full 113-117",
    r"$\delta$ from losses rounded down is at most $\delta$, and that from losses rounded up at least, "
    r"for every $\varepsilon > 0$",
    proved(
        derivations.rounded_losses,
        finding="the divergence grows with every loss; the losses must lie in [−L, L − Δz], as (2.4) says",
    ),
)


def of_grid(power: int, m: int) -> tuple[list[F], dict[int, tuple[F, F]]]:
    """2-RR with one user, ε0 = power·log 2: its losses ±ε0 on a grid of m points log 2 apart, and the pair itself."""
    keep = F(2**power, 2**power + 1)
    masses = [F(0)] * m
    masses[m // 2 + power], masses[m // 2 - power] = keep, 1 - keep
    return masses, {0: (keep, 1 - keep), 1: (1 - keep, keep)}


def accountant(power: int, m: int, rounds: int, alpha: F, last: int) -> tuple[F, F]:
    """Algorithm 1 with Δz = log 2 and δ(∞) = 0, exactly, with its sum up to l = ``last``; and δ."""
    masses, pair = of_grid(power, m)
    half = m // 2

    def swapped(entries: list[Any]) -> list[Any]:
        return [*entries[half:], *entries[:half]]

    transform = fft(swapped([sp.Rational(mass) for mass in masses]))
    law = swapped([fraction(sp.nsimplify(sp.expand(e))) for e in ifft([sp.expand(e**rounds) for e in transform])])
    terms = ((F(2) ** (i - half), mass) for i, mass in enumerate(law[: last + 1]))
    found = sum(((1 - alpha / ratio) * mass for ratio, mass in terms if ratio > alpha), F(0))
    return found, fraction(composed_divergence([pair] * rounds, alpha))


claim(
    "K-Alg1",
    "full 121-143",
    r"$b = D F^{-1}(F(Da)^{n_c})$, and $\delta(\varepsilon)$ is the sum from "
    r"$l_\varepsilon$ to $n - 1$",
    counterexample(
        lambda n, alpha: accountant(1, 4, 1, alpha, n - 1),
        [(1, F(3, 2))],
        says="=",
        told=lambda n, alpha, printed, truth: (
            f"one user of 2-RR, t = 2, α = {alpha}, a grid of m = 4 points: the sum up to n − 1 = 0 is {printed}, up "
            f"to m − 1 = 3 it is {truth}, which is δ (n is the number of users everywhere else)"
        ),
    ),
    corrected=on_grid(
        lambda power, m, rounds, alpha: accountant(power, m, rounds, alpha, m - 1),
        ((1, 4, 1), (1, 8, 2), (1, 8, 3), (2, 8, 1), (3, 8, 1)),
        ALPHAS,
        says="=",
        finding="with m − 1 the algorithm, in exact arithmetic, gives δ, as long as no sum of n_c losses leaves "
        "[−L, L): m = 4 and 8, up to 3 rounds, six α. Beyond that sums are folded in, and ≈ is all that is said",
    ),
    misread="it is one letter, n for m",
)


def worse(P: Law, Q: Law, alpha: F) -> F:
    """The larger divergence of both directions."""
    return max(divergence_of_laws(P, Q, alpha), divergence_of_laws(Q, P, alpha))


def kinks(*pairs: tuple[Law, Law]) -> list[F]:
    """All α ≥ 1 at which some divergence has a kink or two of them cross: between these all are straight lines."""
    ordered = [pair for P, Q in pairs for pair in ((P, Q), (Q, P))]
    bends = sorted({F(1), *(p / Q[y] for P, Q in ordered for y, p in P.items() if Q[y] and p > Q[y])})
    crossings = set(bends)
    for low, high in zip(bends, [*bends[1:], bends[-1] + 1], strict=True):
        values = [(divergence_of_laws(P, Q, low), divergence_of_laws(P, Q, high)) for P, Q in ordered]
        for (x, x_end), (y, y_end) in combinations(values, 2):
            if (x - y) * (x_end - y_end) < 0:
                crossings.add(low + (high - low) * (x - y) / ((x - y) - (x_end - y_end)))
    return sorted(crossings)


def three_laws() -> Iterator[tuple[Law, Law, Law]]:
    """Laws of three messages without zeros, with the denominators 3 to 6, up to the order of the messages."""
    for whole in (3, 4, 5, 6):
        counts = [(i, j, whole - i - j) for i, j in product(range(1, whole), repeat=2) if i + j < whole]
        for chosen in product(counts, repeat=3):
            if list(chosen[0]) == sorted(chosen[0]):
                P, Q, A = ({y: F(count, whole) for y, count in enumerate(law)} for law in chosen)
                yield P, Q, A


def theorem_7_breaks(P: Law, Q: Law, A: Law) -> tuple[F, F, F] | None:
    """α, δ of P and Q, and the larger δ of another pair after two rounds, if P and Q decide one round at every ε."""
    if P == Q or max(worse(P, A, F(1)), worse(Q, A, F(1))) > worse(P, Q, F(1)):
        return None
    if any(worse(B, A, alpha) > worse(P, Q, alpha) for B in (P, Q) for alpha in kinks((P, Q), (B, A))):
        return None
    P2, Q2, A2 = ({y: law[y[0]] * law[y[1]] for y in product(law, repeat=2)} for law in (P, Q, A))
    for B2 in (P2, Q2):
        for alpha in kinks((P2, Q2), (B2, A2)):
            ours, theirs = worse(P2, Q2, alpha), worse(B2, A2, alpha)
            if theirs > ours:
                return alpha, ours, theirs
    return None


def blanket_bounds_the_rounds(n: int, rounds: int, alpha: F) -> bool:
    R = from_matrix([[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], [F(1, 3)] * 3])
    bound = composed_divergence([shuffled_pair(blanket(R, 0, 1), n)] * rounds, alpha)
    datasets = (shuffled_datasets(R, (0, *others), (1, *others)) for others in product(range(3), repeat=n - 1))
    return all(composed_divergence([pair] * rounds, alpha) <= bound for pair in datasets)


@claim.by(
    "K-Thm7",
    "full 151-157",
    r"if $P$ and $Q$ decide the $(\varepsilon, \delta)$-guarantees of one round, $n_c$-fold compositions "
    "of $P$ and $Q$ bound $n_c$ rounds",
    condition=confirmed(
        proved(
            derivations.many_rounds,
            finding="it holds if D_α(P‖Q) is the largest for every α > 0, in one order of P and Q, not only for "
            "α ≥ 1 with both orders",
        ),
        on_grid(
            blanket_bounds_the_rounds,
            (1, 2),
            (1, 2),
            (F(1, 2), *ALPHAS),
            finding="3 × 3 randomizer, its blanket against all datasets, n and n_c up to 2",
        ),
    ),
)
def theorem_7() -> Check:
    laws, (alpha, ours, theirs) = next((laws, found) for laws in three_laws() if (found := theorem_7_breaks(*laws)))
    rows = ", ".join("(" + ", ".join(str(mass) for mass in law.values()) + ")" for law in laws)
    return refuted(
        theirs > ours,
        f"one user whose inputs send three messages with {rows}: the first two inputs are the worst pair at every "
        f"ε ≥ 0, but after two rounds, at α = {alpha}, they give {ours} and another pair gives {theirs}",
    )


# ------------------------------------------------------------ Sections 4, 5, Appendix A: 2-RR, and k-RR as it is seen

SIZES = ((1, 2), (2, 2), (3, 2), (4, 2), (2, 3), (3, 3))  # n and k
SHARES = (F(1, 4), F(1, 3), F(1, 2), F(2, 3))


def marked_at_random(n: int, k: int, gamma: F) -> bool:
    others = tuple(i % k for i in range(n - 1))
    views = view(k, gamma, (*others, 0), OTHERS)
    left = all(sum(left_over(random, sent, others).values()) == sum(random) + 1 for random, sent in views)
    return left and collected((sum(random), p) for (random, _), p in views.items()) == dict(
        enumerate(binomial(n - 1, gamma))
    )


@claim.by(
    "K-001-beta",
    "workshop 64, 87 against full 202, 234",
    r"$\beta$ marks the users who answered truthfully (workshop) or randomly (full version); $b = \sum "
    r"\beta$ is $\mathrm{Bin}(n - 1, \gamma)$, and $b + 1$ messages are left",
    corrected=on_grid(
        marked_at_random,
        SIZES,
        SHARES,
        finding="if β marks those who answered randomly, as in the full version, b is Bin(n − 1, γ) and b + 1 "
        "messages are left: n up to 4, k = 2, 3, four γ",
    ),
    well_read="the word 'truthfully' stands in both places of the workshop version",
)
def who_is_marked() -> Check:
    n, k, gamma = 2, 2, F(1, 4)
    truthful = {sent: p for (random, sent), p in view(k, gamma, (0, 0), OTHERS).items() if not random[0]}
    chance, left = sum(truthful.values()), {sum(left_over((False,), sent, (0,)).values()) for sent in truthful}
    return refuted(
        chance != gamma and left != {2},
        f"n = {n}, k = {k}, γ = {gamma}, marked as in the workshop version: b = 1 has probability {chance}, not "
        f"γ, and then {min(left)} message is left, not b + 1 = 2",
    )


claim(
    "K-2RR-worst",
    "full 161",
    "the worst case of shuffled 2-RR is all zeros against a single 1",
    counterexample(
        lambda n, t, alpha: (worst(BinaryRR(eps0=level(t)), n, alpha), max(both_directions(n, t, alpha))),
        (1, 2, 3, 4),
        [(t, alpha) for t in (F(2), F(3)) for alpha in between(t, 8)[1:]],
        told=lambda n, t, alpha, _, zeros: (
            f"n = {n}, t = {t}, α = {alpha}: {told_worst(BinaryRR(eps0=level(t)), n, alpha)}, all zeros against one "
            f"1 gives {zeros}. It is the worst case for n = 1, 2 (t = 2, 3, seven α)"
        ),
    ),
)
claim(
    "K-4.1-PLD",
    "full 164-188",
    r"$P = \mathrm{Bin}(n, p)$, $Q = \mathrm{Bin}(n - 1, p) + \mathrm{Bern}(1 - p)$, their PLD, and "
    r"$\delta(\infty) = 0$",
    proved(
        derivations.two_rr_pair,
        finding="the pair is that of two datasets, its ratio is (n − i)/(nt) + ti/n, between 1/t and t, so δ(∞) = "
        "0 in both directions",
    ),
)


def other_ratios(n: int, k: int, gamma: F) -> list[tuple[bool, Counter[int], F, F]]:
    """The views of A_s whose ratio is not n_1/n_2; the others have value 0. For each: whether the differing user
    answered randomly, the counts that are left, the probabilities under X and X'."""
    others = (0,) * (n - 1)
    P, Q = (view(k, gamma, (*others, x), EVERYONE) for x in (0, 1))
    views = [
        (random[-1], left_over(random, sent, others), P[random, sent], Q[random, sent]) for random, sent in {*P, *Q}
    ]
    return [(random, counts, p, q) for random, counts, p, q in views if p * counts[1] != q * counts[0]]


@claim.by(
    "K-ratio",
    "full 204; workshop 66",
    "for any view of $A_s$ the ratio of the probabilities is $n_1/n_2$",
    condition=confirmed(
        proved(
            derivations.strong_view,
            finding="it is n_1/n_2 if the differing user told the truth, which A_s sees, and 1 otherwise",
        ),
        on_grid(
            lambda *case: all(random for random, *_ in other_ratios(*case)),
            SIZES,
            SHARES,
            finding="all views in which the differing user told the truth, n up to 4, k = 2, 3",
        ),
    ),
)
def ratio() -> Check:
    n, k, gamma = first((1, 2, 3), (2, 3), (F(1, 2),), only=lambda *case: bool(other_ratios(*case)))
    _, counts, p, q = other_ratios(n, k, gamma)[0]
    return refuted(
        p == q and counts[0] != counts[1],
        f"n = {n}, k = {k}, γ = {gamma}, the user answered randomly: n_1 = {counts[0]}, n_2 = "
        f"{counts[1]}, but both probabilities are {p}: the ratio is 1",
    )


def strong_sides(n: int, k: int, gamma: F, alpha: F) -> tuple[F, F]:
    """What A_s sees, and the printed pair."""
    return exact(strong(krr(k, gamma)), n, alpha), max(divergences(printed_strong(k, gamma, n), alpha))


def told_of_strong(n: int, k: int, gamma: F, alpha: F, truth: F, printed: F) -> str:
    (nine, at_nine), (one, at_one) = (strong_sides(*case) for case in ((9, 2, F(1, 4), F(4, 3)), (1, 2, F(1, 2), F(2))))
    real = of_datasets(krr(3, F(1, 4)), (0, *[2] * 12), (1, *[2] * 12), F(7, 6))
    pair = max(divergences(printed_strong(3, F(1, 4), 13), F(7, 6)))
    below_at_nine = seen(at_nine < nine, f"at n = 9, α = 4/3 it is {at_nine} against {nine}")
    alone = seen(pair < real, f"others equal to a third value: {pair} against {real}")
    loose = seen(at_one > one, f"one user, k = 2, γ = 1/2, α = 2 gives {at_one} against {one}")
    return (
        f"not a bound: n = {n}, k = {k}, γ = {gamma}, α = {alpha} gives {printed} where A_s sees {truth} (no "
        f"smaller n with k = 2, 3, γ = 1/8, 1/4, 1/2, α = 101/100, 4/3); {below_at_nine}. Not even for the shuffled "
        f"messages alone: 3-RR, γ = 1/4, n = 13, α = 7/6, {alone}. Not tight: {loose}. The factor 1 − γ is "
        "missing, and N_1 and N_2 are not given by their margins; what A_s sees is (1 − γ) E[1 − αN_2/N_1]_+"
    )


claim(
    "K-Ps/Qs",
    "full 206-224; workshop 68-75, 112",
    r"the views of $A_s$ are $(\varepsilon, \delta)$-indistinguishable if $P_s = \mathrm{Bin}(n - 1, "
    r"\gamma/k) + 1$ and $Q_s = \mathrm{Bin}(n - 1, \gamma/k)$ are, and tightly so",
    counterexample(
        strong_sides,
        range(1, 10),
        (2, 3),
        (F(1, 8), F(1, 4), F(1, 2)),
        (F(101, 100), F(4, 3)),
        told=told_of_strong,
    ),
)


def weak_sides(n: int, k: int, gamma: F, alpha: F) -> tuple[F, F]:
    """What A_w sees, and the printed pair."""
    return exact(weak(krr(k, gamma)), n, alpha), max(divergences(printed_weak(k, gamma, n), alpha))


def told_of_weak(n: int, k: int, gamma: F, alpha: F, truth: F, printed: F) -> str:
    shuffled = worst(krr(k, gamma), n, alpha)
    smaller = on_grid(
        lambda *case: weak_sides(*case)[0] > weak_sides(*case)[1],
        range(2, 11),
        (3,),
        (F(1, 4), F(1, 2), F(2, 3)),
        (F(5, 4),),
        finding="3-RR: below the view for n = 2 … 10, γ = 1/4, 1/2, 2/3 at α = 5/4",
    )
    joint = proved(derivations.theorem10, finding="the joint law of (N_1, N_2, B), which the proof names, is the view")
    alone = seen(shuffled == truth, f"and so do the shuffled messages of two real datasets ({shuffled})")
    return (
        f"n = {n}, k = {k}, γ = {gamma}, α = {alpha}: the pair gives {printed}, the view {truth}, {alone}; "
        f"{fact(smaller)}; {fact(joint)}, two scalars with the laws of numerator and denominator are not"
    )


claim(
    "K-Thm10",
    "full 240-319; workshop 89-106",
    r"the view of $A_w$ is equivalent to $P_w = (1 - \gamma)N_1 + (B + 1)\gamma/k$ against $Q_w$, the "
    "same with $N_2$",
    counterexample(weak_sides, (1, 2), (2, 3), (F(2, 3), F(1, 2)), (F(3, 2), F(2)), says="=", told=told_of_weak),
)


@claim.by(
    "K-Fig1",
    "full 327; workshop 143",
    r"Figure 1 ($n = 1000$, $\gamma = 1/4$, $k = 4$): both curves are tight bounds under their adversary",
    slow=True,
)
def figure_1() -> Check:
    n, k, gamma, alpha = 1000, 4, F(1, 4), F(6, 5)
    pairs = {"A_s": (strong, printed_strong), "A_w": (weak, printed_weak)}
    printed = {name: max(divergences(pair(k, gamma, n), alpha)) for name, (_, pair) in pairs.items()}
    truth = {name: Shuffle(D(krr(k, gamma)), n).delta(sp.log(sp.Rational(alpha))) for name, (D, _) in pairs.items()}
    text = ", ".join(
        f"{name}: {float(printed[name]):.6f} from the printed pair, {truth[name]} for the view" for name in pairs
    )
    return certified(
        not any(printed[name] < F(truth[name].lower) for name in pairs),
        f"at e^ε = {alpha} and one round both curves are below what their adversary sees. {text}",
    )


def printed_factor(b: int, counts: Counter[int]) -> F:
    """b!/(n_1! … n_k!)."""
    return F(math.factorial(b), math.prod(math.factorial(c) for c in counts.values()))


def views_have_the_printed_chances(n: int, k: int, gamma: F) -> bool:
    others = tuple(i % k for i in range(n - 1))
    for (random, messages), chance in view(k, gamma, (*others, 0), OTHERS).items():
        counts, b = left_over(random, messages, others), sum(random)
        bracket = counts[0] * (1 - gamma) + gamma / k * (b + 1)
        if chance != printed_factor(b, counts) * gamma**b * (1 - gamma) ** (n - 1 - b) / k**b * bracket:
            return False
    return True


claim(
    "K-AppA",
    "full 263-286, 456-495",
    r"a view of $A_w$ has the probability (multinomial coefficient of $b$ over $n_1, \dots, n_k$) "
    r"$\gamma^b (1 - \gamma)^{n-1-b} k^{-b}$ times $n_1(1 - \gamma) + (b + 1)\gamma/k$, with $\sum n_i = "
    "b + 1$",
    # A multinomial coefficient is a number of arrangements, and 0 if the counts do not sum to b.
    counterexample(
        lambda b, counts: (printed_factor(b, counts), printed_factor(b, counts) * (sum(counts.values()) == b)),
        [(1, Counter({0: 2}))],
        says="=",
        told=lambda b, counts, factor, _: (
            f"the n_i sum to b + 1, so no multinomial coefficient is meant: two users, both messages 1, b = {b}: "
            f"b!/(n_1! n_2!) = {factor}. (The line before has Pr[B = b] where the probability of the vector β is "
            "meant, which is smaller by the factor C(n − 1, b))"
        ),
    ),
    corrected=confirmed(
        proved(derivations.appendix_a, finding="with b!/(n_1! … n_k!) in its place the probability is right"),
        on_grid(views_have_the_printed_chances, SIZES, SHARES, finding="all views, n up to 4, k = 2, 3, four γ"),
    ),
    well_read="the coefficient stands six times, in Section 5 and in Appendix A",
)


# ------------------------------------------------------------ Section 6 and Appendix B: the pair of the clones


def at_cell(formula: Any, t: F, users: int, cell: tuple[int, int], weight: F | None = None) -> F:
    """A formula in a, b, n, p and q at one cell; q is the mixing weight t/(t + 1) unless another is given."""
    numbers = (*cell, users, sp.Rational(1 / t), sp.Rational(t / (t + 1) if weight is None else weight))
    return fraction(sp.sympify(formula).subs(dict(zip((a, b, n, p, q), numbers, strict=True))))


@makes_test
def everywhere(
    formula: Callable[[], Any], keep: Callable[[int, int, int], bool], what: Callable[[F, F], F], where: str
) -> Check:
    """The formula against the enumeration of C, A and Δ at the cells of (6.1) that are kept."""
    built = formula()
    kept = [
        (t, users, cell, P, Q)
        for t, users in product((F(3, 2), F(2), F(5)), (1, 2, 3, 4))
        for cell, (P, Q) in clone_cells(t, users, t / (t + 1)).items()
        if keep(*cell, users)
    ]
    return on_grid(
        lambda t, users, cell, P, Q: (what(P, Q), at_cell(built, t, users, cell)),
        kept,
        says="=",
        finding=f"equal to the enumeration of C, A and Δ at every cell with {where}, n up to 4, t = 3/2, 2, 5",
    )()


def ratio_of_lemma_11() -> Any:
    return derivations.lemma11().result


def right_clones_bound_k_rr(t: F, alpha: F, users: int) -> bool:
    bound = exact(clones(level(t)), users, alpha)
    return hockey_stick(standard_clone_cells(t, users).values(), alpha) == bound and all(
        worst(KRR(k=k, eps0=level(t)), users, alpha) <= bound for k in (2, 3, 4)
    )


@claim.by(
    "K-6.1-pair",
    "full 329-342; workshop 128-137",
    r"$P = (A + \Delta, C - A)$, $Q = (A, C - A + \Delta)$, $\Delta \sim \mathrm{Bern}(t/(t + 1))$, is "
    "the clone pair of Feldman et al., Remark 3.5",
)
def clone_pair() -> Evidence:
    t, alpha = F(2), F(3, 2)
    theirs, ours = (exact(D(level(t)), 1, alpha) for D in (clones_koskela, clones))
    local = of_datasets(BinaryRR(eps0=level(t)), (0,), (1,), alpha)
    above = proved(
        derivations.clones_order,
        finding="(6.1) is above the standard clone for all n, t and α, so what was computed with it is a bound, too "
        "large",
    )
    return Evidence(
        refuted(
            theirs != local,
            f"one user, t = {t}, α = {alpha}: no ε0-LDP randomizer has more than {local}, but (6.1) gives {theirs}. "
            f"{fact(above)}",
        ),
        corrected=on_grid(
            right_clones_bound_k_rr,
            [(t, alpha) for t in (F(2), F(3)) for alpha in between(t, 4)],
            (1, 2, 3),
            finding="P = (A + Δ, C − A + 1 − Δ), Q = (A + 1 − Δ, C − A + Δ), as Su et al. 2025, Theorem 2, quote it, "
            f"gives {ours} there and bounds 2-RR, 3-RR and 4-RR over all datasets: n up to 3, t = 2, 3, four α",
        )(),
        well_read="both versions of the paper have this pair, and (6.3) to (6.8) go on with it",
    )


claim(
    "K-LemB1",
    "full 539-549",
    r"$P_1 = \frac{a}{b} Q_1$ and "
    r"$P_0 = \frac{p}{1 - p} \cdot \frac{n - a - b}{2b} Q_1$, for $b > 0$",
    proved(derivations.lemma_b1, finding="for b > 0, a + b ≤ n and ε0 > 0"),
)
claim(
    "K-Lem11-b>0",
    "full 364-369, 616",
    "the ratio of $P$ and $Q$ at a cell with $b > 0$, (6.5)",
    proved(derivations.lemma11, finding="with q = t/(t + 1)"),
    everywhere(ratio_of_lemma_11, lambda a, b, users: b > 0, truediv, "b > 0"),
)


def last_cell() -> Check:
    """The cell (n, 0), which no ratio has."""
    t, users = F(2), 1
    P, Q = clone_cells(t, users, t / (t + 1))[users, 0]
    return refuted(
        Q == 0 < P,
        f"n = {users}, t = {t}, a = n = {users}: P is {P}, Q is {Q}, and the denominator of the formula is 0; the cell "
        "(n, 0) belongs to δ(∞)",
    )


#: The ratio at (a, 0), which two places of the paper state.
BEFORE_THE_LAST_CELL = confirmed(
    proved(derivations.lemma11, finding="for 0 < a < n, and 1 at a = 0"),
    everywhere(ratio_of_lemma_11, lambda a, b, users: b == 0 and a < users, truediv, "b = 0 and a < n"),
)
claim(
    "K-Lem11-b=0",
    "full 371-376, 623-628",
    "the ratio of $P$ and $Q$ at $(a, 0)$, for all $a$, (6.6)",
    last_cell,
    condition=BEFORE_THE_LAST_CELL,
)


claim(
    "K-LemB2-q",
    "full 614",
    r"Lemma B.2 with $q = e^{-\varepsilon_0}$",
    counterexample(
        lambda t, users, cell: (
            at_cell(ratio_of_lemma_11(), t, users, cell, weight=1 / t),
            truediv(*clone_cells(t, users, t / (t + 1))[cell]),
        ),
        [(F(2), 2, (0, 1))],
        says="=",
        told=lambda t, users, cell, printed, ratio: (
            f"n = {users}, t = {t}, cell {cell}: the ratio is {ratio}, with q = e^−ε0, which is p, (B.7) gives "
            f"{printed}"
        ),
    ),
    corrected=everywhere(
        ratio_of_lemma_11, lambda a, b, users: b > 0, truediv, "b > 0, with q = t/(t + 1) as in (6.3)"
    ),
    misread="it is one letter if p = e^−ε0 is meant: the lemma uses p further down",
)
claim(
    "K-LemB2-b=0,a>0",
    "full 630-634",
    "the ratio at $b = 0$ and $a > 0$, in closed form",
    last_cell,
    condition=BEFORE_THE_LAST_CELL,
)
claim(
    "K-LemB2-(0,0)",
    "full 636-640",
    "the ratio at $a = b = 0$ is 1",
    proved(derivations.lemma11, finding="only Δ = 0 and no clones lead there, under P and Q alike"),
    everywhere(lambda: sp.Integer(1), lambda a, b, users: a == b == 0, truediv, "a = b = 0"),
)
claim(
    "K-LemB3",
    "full 706-716",
    r"$P_1$ at $(j + 1, i - j)$, and "
    r"$P_0 = \frac{p}{1 - p} \cdot \frac{n - a - b}{2a} P_1$ for $a > 0$",
    proved(derivations.lemma_b3, finding="for ε0 > 0"),
)
claim(
    "K-eq6.7",
    "full 380-383",
    "the probability of $(a, b)$ under $P$ for $a > 0$",
    proved(derivations.eq67, derivations.cells_sum_to_one, finding="and P sums to 1"),
    everywhere(lambda: derivations.eq67().result, lambda a, b, users: a > 0, lambda P, Q: P, "a > 0"),
)
claim(
    "K-eq6.8",
    "full 387-390",
    "the probability of $(0, b)$ under $P$",
    proved(derivations.eq68, finding="A = 0, C = b and Δ = 0"),
    everywhere(lambda: derivations.eq68().result, lambda a, b, users: a == 0, lambda P, Q: P, "a = 0"),
)


claim(
    "K-delta_inf",
    "full 401",
    r"$\delta(\infty) = (1/2)^{n-1} e^{-(n-2)\varepsilon_0}/(e^{\varepsilon_0} + 1)$",
    proved(derivations.delta_infinity, finding="everybody else is a clone, all of the first kind, and Δ = 1"),
    lambda: identity(
        sp.Rational(1, 2) ** (n - 1) * field.t ** (-(n - 2)) / (field.t + 1),
        derivations.delta_infinity().result,
        "the published formula is the derived one",
    )(),
)


def two_tails() -> Check:
    tau, c = sp.symbols("tau c", positive=True)
    users = sp.Symbol("n", integer=True, positive=True)
    printed = sp.sqrt(sp.log(2 / tau) / (2 * (users - 1)))
    both = (2 * sp.exp(-2 * (users - 1) * c**2)).subs(c, printed)
    return identity(both, tau, "Hoeffding's two tails at this c are τ together")()


def neglected(t: F, users: int, x: F) -> tuple[F, Any]:
    """The P-mass of the cells whose i = a + b − 1 is outside S_c (cells with a = 0: b outside), and τ = 2e^−x.

    |i − p(n − 1)| > c(n − 1) is (i − p(n − 1))² > (n − 1)x/2: nothing irrational is compared.
    """
    middle, law = (users - 1) / t, clone_cells(t, users, t / (t + 1)).items()
    masses = ((a + b - (a > 0), P) for (a, b), (P, _) in law)
    return sum((P for i, P in masses if (i - middle) ** 2 > (users - 1) * x / 2), F(0)), 2 * exp(-x)


claim(
    "K-6.2-Hoeffding",
    "full 408-414",
    r"with $c = \sqrt{\log(2/\tau)/(2(n - 1))}$ the mass that is neglected "
    r"is at most $\tau$",
    all_of(
        two_tails,
        on_grid(
            neglected,
            (F(5, 4), F(2), F(5)),
            (2, 3, 8, 25),
            [F(x) for x in range(1, 8)],
            finding="the mass of P outside, counted by the summation index i of (6.7), which is C where Δ = 1 and "
            "C − 1 where Δ = 0, is at most τ: n up to 25, t = 5/4, 2, 5, τ = 2e^−1, …, 2e^−7",
        ),
    ),
)


def terms(t: int, others: int, x: int) -> int:
    """The values (i, j) of (C, A) with |i − (n−1)/t| ≤ √((n−1)x/2) and |j − i/2| ≤ √(ix/2), for n − 1 others."""
    total = 0
    for i in range(others + 1):
        if 2 * (t * i - others) ** 2 <= t * t * others * x:
            r = math.isqrt(2 * i * x)  # 2j − i is at most that, and even or odd as i is
            total += r + ((r - i) % 2 == 0)
    return total


def values_of_c() -> tuple[Line, ...]:
    others, x, share = sp.symbols("n x c", positive=True)  # x = log(2/τ)
    values = sp.Subs((2 * share * others) ** 2, share, sp.sqrt(x / (2 * others)))
    return (line(values, "=", 2 * others * x, "2c(n - 1) for C, and for A no more"),)


def terms_are_few(t: int, others: int, x: int) -> bool:
    most = 2 * others * x
    return terms(t, others, x) <= most + 2 * (math.isqrt(most) + 1) + 1 < others**2 / 2


claim(
    "K-6.2-terms",
    "full 406-414",
    r"cutting $C$ and $A$ off drops the terms of the PLD from $O(n^2)$ to "
    r"$O(n \log(2/\tau))$",
    proved(values_of_c, finding="at most √(2(n - 1) log(2/τ)) + 1 values of C, and so of A given C"),
    on_grid(
        terms_are_few,
        (2, 5),
        (10**3, 10**4, 10**5),
        (14, 28),
        finding="counted: t = 2, 5, n up to 10^5, τ = 2e^-14, 2e^-28",
    ),
)


@claim.by(
    "K-6.2-time",
    "full 414",
    "forming the PLD costs more than the FFT already for $n = 1000$",
    slow=True,
    not_in_print="the program; what is published of it (DPBayes/numerical-shuffler-experiments on GitHub) goes "
    "through the cells one by one in Python",
)
def time_of_forming() -> Check:
    m, tail = 10**7, 1e-12  # L = 20 and m are those of the figures

    def formed(n: int) -> float:
        start = time.perf_counter()
        losses = ShuffledPLD(clones_koskela(4), n, tail=tail, cut="hoeffding").losses(tail)
        LossGrid(losses, 2 * 20 / m, "up")
        return time.perf_counter() - start

    formed(10)  # the first call loads and compiles
    masses = np.full(m, 1 / m)
    start = time.perf_counter()
    np.fft.irfft(np.fft.rfft(masses), m)
    transformed = time.perf_counter() - start
    share = formed(1000) / transformed
    told = "less than a tenth of" if share < 0.1 else "less than" if share < 1 else "more than"
    return Check(
        share > 1,
        "measured",
        "a ratio of times within one run of our program, which handles the cells as arrays: at n = 1000, ε0 = 4, "
        f"L = 20, m = 1e7 forming the PLD takes {told} the time of the two FFTs",
    )


# ------------------------------------------------------------ Appendix C: the bounds that are compared with


def theorem_c1_in_numbers() -> Check:
    sharpest = 0.0
    for k, gamma, users, delta in product((2, 4, 10), (0.1, 0.25), (10**4, 10**5), (1e-2, 1e-6)):
        eps = math.sqrt(14 * k * math.log(2 / delta) / ((users - 1) * gamma))
        if eps <= 1:
            seen_by_them = Shuffle(strong(krr(k, F(gamma))), users).delta(rounding.below(eps))
            sharpest = max(sharpest, seen_by_them.upper / delta)
    return certified(
        0 < sharpest < 1,
        f"at that ε the δ of the strong adversary is at most {sharpest:.1g} of the one claimed: k = 2, 4, 10, γ = 0.1, "
        "0.25, n = 10^4, 10^5, δ = 10^-2, 10^-6, where ε ≤ 1. (Balle et al. also say γ < 1; where ε comes out above 1, "
        "(C.1) says nothing)",
    )


claim(
    "K-C1",
    "full 726-735",
    r"$\gamma = \max\left(\frac{14k \log(2/\delta)}{(n - 1)\varepsilon^2}, \frac{27k}{(n - "
    r"1)\varepsilon}\right)$ makes shuffled $k$-RR $(\varepsilon, \delta)$-DP for $\varepsilon \le 1$; "
    r"for $\delta \le 2e^{-2}$ this is $\varepsilon = \sqrt{14k \log(2/\delta)/((n - 1)\gamma)}$",
    all_of(
        # The first term is the larger one iff log(2/δ) ≥ 27ε/14; δ ≤ 2e^−2 says log(2/δ) ≥ 2.
        Check(F(27, 14) <= 2, "proved", "log(2/δ) ≥ 2 ≥ 27ε/14 for ε ≤ 1, so the first term is the larger one"),
        theorem_c1_in_numbers,
    ),
)


def printed_c2(t: F, users: int, alpha: F) -> F:
    """An upper bound of 4 exp(−[(α − 1 − 8/(pn))√(pn)/8]²), p = 1/t, as printed: whatever the sign of the bracket."""
    pn = users / t
    return ends(4 * exp(-((alpha - 1 - 8 / pn) ** 2) * pn / 64))[1]


def c2_where_it_holds() -> Check:
    shares = []
    for (eps0, users), delta in product(((1, 10**4), (2, 10**4), (4, 10**5), (4, 10**6)), (1e-1, 1e-3, 1e-6)):
        if eps0 <= math.log(users / (16 * math.log(2 / delta))):
            eps = bounds.feldman2020_thm31(eps0, users, delta)
            printed = bounds.feldman2020_thm31.delta(eps0, users, eps)
            shares.append(Shuffle(clones(eps0), users).delta(eps).upper / printed)
    return certified(
        0 < max(shares) < 1,
        f"under both conditions the standard clone is at most {max(shares):.1g} of it: {len(shares)} cases, ε0 = 1, 2, "
        "4, n = 10^4, 10^5, 10^6",
    )


@claim.by(
    "K-C2",
    "full 763-770",
    r"every shuffled $\varepsilon_0$-LDP randomizer has $\delta \le 4 \exp(-[(e^{\varepsilon} - 1 - "
    r"8/(pn))\sqrt{pn}/8]^2)$, $p = e^{-\varepsilon_0}$",
    condition=c2_where_it_holds,
)
def equation_c2() -> Check:
    (t,) = first([F(t) for t in range(2, 9)], only=lambda t: printed_c2(t, 1, F(1)) < (t - 1) / (t + 1))
    truth = of_datasets(KRR(k=2, eps0=level(t)), (0,), (1,), 1)
    # With the bracket positive, but ε0 above log(n/(16 log(2/δ))):
    big, users, alpha = F(10**4), 9, F(9900)
    other = exact(dataset(KRR(k=3, eps0=level(big)), 0, 1, 2), users, alpha)
    printed = printed_c2(big, users, alpha)
    outside = seen(
        alpha - 1 > 8 * big / users and printed < other,
        "nor is it enough that the bracket is positive: t = 10^4, n = 9, α = 9900 gives less than "
        f"{float(printed):.1g}, 3-RR with the others at a third value has more than {float(other) - 1e-4:.4f}",
    )
    figures = ", ".join(
        f"at n = 10^{power}, ε0 = {eps0}, the condition is δ ≥ {2 * math.exp(-(10**power) / (16 * math.exp(eps0))):.1e}"
        for power, eps0 in ((4, 4), (6, 9))
    )
    return refuted(
        printed_c2(t, 1, F(1)) < truth,
        f"one user of 2-RR, t = {t}, ε = 0: (C.2) gives 4e^−{t}, less than {truth}; {outside}. The theorem has the "
        "condition ε0 ≤ log(n/(16 log(2/δ))), and δ follows from it only where e^ε − 1 > 8/(pn). In the figures: "
        f"{figures}",
    )


@claim.by(
    "K-C3-adv",
    "full 781",
    r"$n_c$ rounds of an $(\varepsilon, \delta)$-DP mechanism are $(\varepsilon', n_c\delta + "
    r"\delta')$-DP with $\varepsilon' = \varepsilon\sqrt{2n_c \log(1/\delta')} + "
    r"n_c\varepsilon(e^{\varepsilon} - 1)$",
)
def advanced() -> Check:
    largest = 0.0
    pairs = ((0, 1e-3), (1e-6, 1e-5), (1e-8, 1e-2))
    for eps, rounds, (delta, slack) in product((0.01, 0.1, 0.5, 1.0), (1, 4, 30), pairs):
        total, allowed = bounds.advanced_composition(eps, delta, rounds, slack)
        largest = max(largest, bounds.optimal_composition(eps, delta, rounds, rounding.below(total)) / allowed)
    return certified(
        largest <= 1,
        f"the least δ that holds for all such mechanisms (Kairouz et al. 2015) is at most {largest:.2f} of it: ε = "
        "0.01 … 1, up to 30 rounds, 36 cases",
    )


def told_of_larger_k(n: int, t: int, alpha: F, two: F, three: F) -> str:
    reverse = proved(
        derivations.krr_falls_in_k,
        finding="for all n, ε0 and 0 ≤ ε ≤ ε0 the blanket of k-RR falls as k grows: stronger",
    )
    truth = on_grid(
        lambda n, t, alpha: all(
            worst(KRR(k=k, eps0=level(t)), n, alpha) >= worst(KRR(k=k + 1, eps0=level(t)), n, alpha) for k in (2, 3)
        ),
        (1, 2, 3, 4),
        [(t, alpha) for t in (2, 5) for alpha in between(t, 5)],
        finding="so does the largest divergence of all datasets, from k = 2 to 3 to 4, t = 2, 5, n up to 4, five α",
    )
    views = [Shuffle(strong(KRR(k=k, eps0=4)), 10**4).delta(1.0) for k in (4, 40)]
    pairs = [max(divergences(printed_strong(k, F(k, 4 + k - 1), 9), F(3, 2))) for k in (4, 40)]
    why = seen(
        views[0].upper < views[1].lower and pairs[0] < pairs[1],
        f"what grows with k is the view of A_s (n = 10^4, ε0 = 4, ε = 1: {views[0]} for k = 4, {views[1]} for k = 40), "
        "who knows "
        "who answered randomly, and the printed P_s, Q_s, which depend on k through γ/k = 1/(e^ε0 + k − 1) only",
    )
    return (
        f"n = {n}, t = {t}, α = {alpha}: the worst datasets of 2-RR give {two}, those of 3-RR {three}; "
        f"{fact(reverse)}; {fact(truth)}; {why}"
    )


claim(
    "K-C4-weaker",
    "full 801",
    r"at a fixed $\varepsilon_0$ the amplification of $k$-RR is weaker for larger $k$",
    counterexample(
        lambda n, t, alpha: (worst(KRR(k=2, eps0=level(t)), n, alpha), worst(KRR(k=3, eps0=level(t)), n, alpha)),
        [(2, 2, F(5, 4))],
        told=told_of_larger_k,
    ),
)
