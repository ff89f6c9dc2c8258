r"""Koskela et al. 2021, Sections 2 and 3: privacy loss distributions, the Fourier accountant, many rounds."""

import math
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import sympy as sp
from sympy.discrete.transforms import fft, ifft

from shuffle_sym.model import decomposition
from shuffle_sym.papers import derivations
from shuffle_sym.papers.claims import Check, Evidence, claim, confirmed, first, on_grid, proved, refuted
from shuffle_sym.papers.laws import divergence_of_laws, shuffled_datasets
from shuffle_sym.papers.tools import F, collected, fraction, krr, level
from shuffle_sym.papers.tools import exact as value
from shuffle_sym.randomizers import BinaryRR, from_matrix
from shuffle_sym.truth import exact

Law = dict[Any, F]
ALPHAS = (F(1), F(6, 5), F(3, 2), F(2), F(3), F(7))


def _printed_delta(pair: dict[Any, tuple[F, F]], rounds: int, alpha: F) -> F:
    """(2.3) as printed: the losses s are kept as e^s, so that the convolution is exact."""
    infinite = sum((p for p, q in pair.values() if q == 0), F(0))
    one = collected((p / q, p) for p, q in pair.values() if p and q)
    law: Law = {F(1): F(1)}
    for _ in range(rounds):
        law = collected((x * y, p * q) for (x, p), (y, q) in product(law.items(), one.items()))
    return 1 - (1 - infinite) ** rounds + sum(((1 - alpha / s) * p for s, p in law.items() if s > alpha), F(0))


@claim(
    "K-Thm5/(2.3)",
    "full 67-87; workshop 45-50",
    r"$\delta$ after $n_c$ rounds is $1 - (1 - \delta(\infty))^{n_c}$ plus the integral of $(1 - "
    r"e^{\varepsilon-s})$ over the $n_c$-fold convolution",
)
def theorem5() -> Check:
    analyses = (
        decomposition.clones_koskela(level(2)),
        decomposition.strong(krr(3, F(1, 2))),
        decomposition.dataset(BinaryRR(eps0=level(3)), 0, 1, 0),
    )

    def holds(D: decomposition.Decomposition, n: int, rounds: int, alpha: F) -> bool:
        pair = exact.shuffled_pair(D, n)
        return _printed_delta(pair, rounds, alpha) == fraction(exact.composed_divergence([pair] * rounds, alpha))

    grid = on_grid(
        product(analyses, (1, 2, 3), (1, 2, 3), ALPHAS),
        holds,
        finding="equal to the product of the rounds, outcome by outcome, with δ(∞) > 0 in two of three pairs: n "
        "and n_c up to 3, six α. (The workshop version has lost a prime in δ(∞): P(M(X)) > 0 and P(M(X)) = 0)",
    )
    return confirmed(proved(derivations.theorem5(), finding="for every pair, in both directions"), grid)


@claim(
    "K-001-Def1",
    "workshop 22",
    r"one inequality for the ordered pair defines $(\varepsilon, \delta)$-indistinguishability (the full "
    "version has both)",
)
def one_inequality() -> Evidence:
    def both(n: int, t: F, alpha: F) -> tuple[F, F]:
        D = decomposition.dataset(BinaryRR(eps0=level(t)), 0, 1, 0)
        return value(D, n, alpha), value(D.reversed(), n, alpha)

    cases = ((n, F(t), alpha) for n in (1, 2, 3) for t in (2, 3) for alpha in (F(3, 2), F(2)) if alpha < t)
    n, t, alpha = first(cases, lambda *case: both(*case)[0] != both(*case)[1], "the two directions")
    forward, backward = both(n, t, alpha)
    symmetric = (decomposition.clones(), decomposition.clones_koskela())
    adversaries = [make(krr(k, F(1, 2))) for k in (2, 3, 4) for make in (decomposition.strong, decomposition.weak)]
    return Evidence(
        refuted(
            forward != backward,
            f"2-RR, all zeros against one 1, n = {n}, t = {t}, α = {alpha}: δ is {forward} in one direction and "
            f"{backward} in the other, so P ≃ Q of the workshop version does not say Q ≃ P, and its (3.1) needs both",
        ),
        condition=on_grid(
            (*symmetric, *adversaries),
            lambda D: D.reversed() == D,
            finding="it is enough if exchanging P and Q changes nothing: clones for all t, and both views of k-RR",
        ),
    )


@claim(
    "K-Lem6",
    "full 113-117",
    r"$\delta$ from losses rounded down is at most $\delta$, and that from losses rounded up at least, "
    r"for every $\varepsilon > 0$",
)
def lemma6() -> Check:
    return proved(
        derivations.rounded_losses(),
        finding="the divergence grows with every loss; the losses must lie in [−L, L − Δz], as (2.4) says",
    )


def _accountant(masses: list[F], rounds: int, alpha_steps: F, last: int) -> F:
    r"""Algorithm 1 with Δz = log 2 and δ(∞) = 0, exactly: ``masses`` at −L + lΔz, the sum up to l = ``last``.

    ``alpha_steps`` is e^ε.
    """
    m = len(masses)
    half = m // 2

    def swapped(entries: list[Any]) -> list[Any]:
        return [*entries[half:], *entries[:half]]

    transform = fft(swapped([sp.Rational(a) for a in masses]))
    b = swapped([fraction(sp.nsimplify(sp.expand(e))) for e in ifft([sp.expand(e**rounds) for e in transform])])
    ratios = [F(2) ** (i - half) for i in range(m)]
    return sum(((1 - alpha_steps / ratios[i]) * b[i] for i in range(min(last + 1, m)) if ratios[i] > alpha_steps), F(0))


def _on_grid_of_twos(t_power: int, m: int) -> tuple[list[F], dict[int, tuple[F, F]]]:
    """2-RR with one user, ε0 = t_power·log 2: its losses ±ε0 on the grid, and the pair itself."""
    t = F(2) ** t_power
    keep = t / (t + 1)
    masses = [F(0)] * m
    masses[m // 2 + t_power], masses[m // 2 - t_power] = keep, 1 - keep
    return masses, {0: (keep, 1 - keep), 1: (1 - keep, keep)}


@claim(
    "K-Alg1",
    "full 121-143",
    r"$b = D F^{-1}(F(Da)^{n_c})$, and $\delta(\varepsilon)$ is the sum from "
    r"$l_\varepsilon$ to $n - 1$",
)
def algorithm1() -> Evidence:
    n, alpha = 1, F(3, 2)
    masses, pair = _on_grid_of_twos(1, 4)
    printed, whole = (_accountant(masses, 1, alpha, last) for last in (n - 1, 3))
    truth = fraction(exact.composed_divergence([pair], alpha))

    def holds(power: int, rounds: int, a: F) -> bool:
        m = 4 if power * rounds < 2 else 8
        law, one = _on_grid_of_twos(power, m)
        return _accountant(law, rounds, a, m - 1) == fraction(exact.composed_divergence([one] * rounds, a))

    cases = [(power, rounds, a) for power, rounds in ((1, 1), (1, 2), (1, 3), (2, 1), (3, 1)) for a in ALPHAS]
    return Evidence(
        refuted(
            printed != truth == whole,
            f"one user of 2-RR, t = 2, α = {alpha}, a grid of m = 4 points: the sum up to n − 1 = 0 is {printed}, up "
            f"to m − 1 = 3 it is {whole}, which is δ (n is the number of users everywhere else)",
        ),
        corrected=on_grid(
            cases,
            holds,
            finding="with m − 1 the algorithm, in exact arithmetic, gives δ, as long as no sum of n_c losses leaves "
            "[−L, L): m = 4 and 8, up to 3 rounds, six α. Beyond that sums are folded in, and ≈ is all that is said",
        ),
        misread="it is one letter, n for m",
    )


def _worse(P: Law, Q: Law, alpha: F) -> F:
    return max(divergence_of_laws(P, Q, alpha), divergence_of_laws(Q, P, alpha))


def _kinks(*pairs: tuple[Law, Law]) -> list[F]:
    """All α ≥ 1 at which some divergence has a kink or two of them cross: between these all are straight lines."""
    ordered = [pair for P, Q in pairs for pair in ((P, Q), (Q, P))]
    kinks = sorted({F(1), *(p / Q[y] for P, Q in ordered for y, p in P.items() if Q[y] and p > Q[y])})
    crossings = set(kinks)
    for low, high in zip(kinks, [*kinks[1:], kinks[-1] + 1], strict=True):
        ends = [(divergence_of_laws(P, Q, low), divergence_of_laws(P, Q, high)) for P, Q in ordered]
        for (x, x_end), (y, y_end) in combinations(ends, 2):
            if (x - y) * (x_end - y_end) < 0:
                crossings.add(low + (high - low) * (x - y) / ((x - y) - (x_end - y_end)))
    return sorted(crossings)


def _rounds(P: Law, rounds: int) -> Law:
    return {y: math.prod((P[i] for i in y), start=F(1)) for y in product(P, repeat=rounds)}


def _randomizers(denominator: int) -> Iterator[tuple[Law, Law, Law]]:
    """Three laws of three messages with this denominator, without zeros, up to the order of the messages."""
    whole = range(1, denominator - 1)
    laws = [(a, b, denominator - a - b) for a, b in product(whole, whole) if a + b < denominator]
    for first_law in laws:
        if list(first_law) == sorted(first_law):
            for second, third in product(laws, laws):
                yield _law(first_law, denominator), _law(second, denominator), _law(third, denominator)


def _law(counts: tuple[int, ...], denominator: int) -> Law:
    return {y: F(count, denominator) for y, count in enumerate(counts)}


def _breaks_theorem7(P: Law, Q: Law, A: Law) -> tuple[F, F, F] | None:
    """α, δ of P and Q, and the larger δ of another pair after two rounds, if P and Q decide one round at every ε."""
    if P == Q or _worse(P, A, F(1)) > _worse(P, Q, F(1)) or _worse(Q, A, F(1)) > _worse(P, Q, F(1)):
        return None
    for B in (P, Q):
        if any(_worse(B, A, a) > _worse(P, Q, a) for a in _kinks((P, Q), (B, A))):
            return None
    two = _rounds(P, 2), _rounds(Q, 2), _rounds(A, 2)
    for i in (0, 1):
        for alpha in _kinks((two[0], two[1]), (two[i], two[2])):
            ours, theirs = _worse(two[0], two[1], alpha), _worse(two[i], two[2], alpha)
            if theirs > ours:
                return alpha, ours, theirs
    return None


@claim(
    "K-Thm7",
    "full 151-157",
    r"if $P$ and $Q$ decide the $(\varepsilon, \delta)$-guarantees of one round, $n_c$-fold compositions "
    "of $P$ and $Q$ bound $n_c$ rounds",
)
def theorem7() -> Evidence:
    cases = (laws for denominator in (3, 4, 5, 6) for laws in _randomizers(denominator))
    laws = first(cases, lambda *laws: _breaks_theorem7(*laws) is not None, "Theorem 7")
    broken = _breaks_theorem7(*laws)
    alpha, ours, theirs = broken if broken is not None else (F(1), F(0), F(0))
    rows = ", ".join("(" + ", ".join(str(mass) for mass in law.values()) + ")" for law in laws)

    def holds(n: int, rounds: int, a: F) -> bool:
        R = from_matrix([[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], [F(1, 3)] * 3])
        bound = exact.shuffled_pair(decomposition.blanket(R, 0, 1), n)
        return all(
            exact.composed_divergence([shuffled_datasets(R, (0, *others), (1, *others))] * rounds, a)
            <= exact.composed_divergence([bound] * rounds, a)
            for others in product(range(3), repeat=n - 1)
        )

    return Evidence(
        refuted(
            theirs > ours,
            f"one user whose inputs send three messages with {rows}: the first two inputs are the worst pair at every "
            f"ε ≥ 0, but after two rounds, at α = {alpha}, they give {ours} and another pair gives {theirs}",
        ),
        condition=confirmed(
            proved(
                derivations.many_rounds(),
                finding="it holds if D_α(P‖Q) is the largest for every α > 0, in one order of P and Q, not only for "
                "α ≥ 1 with both orders",
            ),
            on_grid(
                product((1, 2), (1, 2), (F(1, 2), *ALPHAS)),
                holds,
                finding="3 × 3 randomizer, its blanket against all datasets, n and n_c up to 2",
            ),
        ),
    )
