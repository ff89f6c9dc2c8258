r"""The views of Koskela et al. 2021, Sections 4 and 5 and Appendix A: 2-RR, and k-RR as A_w and A_s see it; Lemma 6.

A user of k-RR answers truthfully with probability 1 − γ and otherwise sends one of the k values at random. The
adversary takes the truthful messages of the other users away; n_1, …, n_k count what is left. b of the n − 1 others
answered randomly. The differing user has value 1 (dataset X) or 2 (dataset X').
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from shuffle_sym.accounting import analyses
from shuffle_sym.accounting.sources import Source, Worst
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import KRR, BinaryRR

t, k, alpha = field.t, field.k, field.alpha
n = sp.Symbol("n", integer=True, positive=True)
n1, n2, b, m, i = sp.symbols("n_1 n_2 b m i", integer=True, nonnegative=True)
gamma, p = sp.symbols("gamma p", positive=True)
SOURCE = "Koskela et al. 2021"
#: Probabilities of one message of the differing user: the own value, and any other.
own, other = 1 - gamma + gamma / k, gamma / k


def _strong(R: Any, n: int) -> Source:
    if not isinstance(R, Randomizer):
        raise ValueError(f"the messages must be those of one randomizer and finitely many, got {R!r}")
    return Worst([decomposition.strong(R, *pair) for pair in R.pairs()], n)


analyses.add(analyses.by_laws("strong adversary", f"{SOURCE}, Definition 8", analyses.GIVEN, _strong))


@derivation("Shuffled 2-RR: all zeros against one 1", f"{SOURCE}, (4.1)")
def two_rr_pair() -> Steps:
    r"""The ratio Q/P of (4.1): P = Bin(n, p), Q = Bin(n − 1, p) + Bern(1 − p), p = 1/(t + 1) (Koskela et al. 2021, §4).

    i is the number of ones. P is the dataset of n zeros, Q has one 1 in it: ``dataset(BinaryRR(), 0, 1, 0)``. Both are
    positive for 0 ≤ i ≤ n, so δ(∞) is 0 in both directions. The paper calls it
    the worst case; from three users on a 1 among the others can be worse (``tests/papers/test_koskela2021.py``).

    >>> two_rr_pair().result
    i*t/n + (-i + n)/(n*t)
    """

    def others(ones: sp.Expr) -> sp.Expr:
        return sp.binomial(n - 1, ones) * p**ones * (1 - p) ** (n - 1 - ones)

    P = sp.binomial(n, i) * p**i * (1 - p) ** (n - i)
    Q = p * others(i) + (1 - p) * others(i - 1)
    ratio = p / (1 - p) * (n - i) / n + (1 - p) / p * i / n
    zeros, ones = _in_order(decomposition.dataset(BinaryRR(), 0, 1, 0))
    general = ((n - i) * zeros.b / zeros.c + i * ones.b / ones.c) / ((n - i) * zeros.a / zeros.c + i * ones.a / ones.c)
    in_t, zeros_seen = (n - i) / (n * t) + t * i / n, sp.Symbol("r", integer=True, nonnegative=True)
    return (
        Step(sp.Sum(P, (i, 0, n)), sp.Integer(1), "P is a law"),
        Step(sp.Mul(Q, sp.Pow(P, -1, evaluate=False), evaluate=False), ratio, "the last user adds a 0 or a 1"),
        Step(general, sp.Subs(ratio, p, 1 / (t + 1)), "the same from the decomposition, with p = 1/(t + 1)"),
        Step(1 / t, in_t.subs(n, i + zeros_seen), "with n = i + r: Q ≥ P/t, so δ(∞) of P against Q is 0", "<="),
        Step(in_t.subs(n, i + zeros_seen), t, "and Q ≤ tP, so δ(∞) of Q against P is 0", "<="),
        Step(sp.Subs(ratio, p, 1 / (t + 1)), in_t, "p/(1 - p) = 1/t"),
    )


def _in_order(D: decomposition.Decomposition) -> tuple[decomposition.Component, decomposition.Component]:
    """The two messages of 2-RR, the more likely one under x0 first."""
    first, second = D.atoms
    return (first, second) if field.proves_nonnegative(first.a - second.a, D.bindings) else (second, first)


def _chance_of_noise() -> sp.Expr:
    """Probability that exactly the given b of the n − 1 others answered randomly."""
    return gamma**b * (1 - gamma) ** (n - 1 - b)


@derivation("A view of the weak adversary", f"{SOURCE}, Appendix A")
def appendix_a() -> Steps:
    r"""Probability of a view of A_w under X (Koskela et al. 2021, Theorem 10 and Appendix A).

    The noise of b users is multinomial; the differing user adds some message i. ``r`` is :math:`\prod_{j \ne i} n_j!`
    and the n_j sum to b + 1. The paper writes the multinomial coefficient "b over n_1, …, n_k" for
    :math:`b!/(n_1! \cdots n_k!)`, which is none, because the n_j do not sum to b; it is one divided by b + 1. It also
    writes Pr[B = b] for the probability of the *vector* β, in which no binomial coefficient occurs.

    >>> appendix_a().proved
    True
    """
    count, rest = sp.symbols("n_i r", integer=True, positive=True)
    left, weight = sp.factorial(b) / (sp.factorial(count) * rest), _chance_of_noise()
    summed, bracket = n1 * own + (b + 1 - n1) * other, n1 * (1 - gamma) + gamma / k * (b + 1)
    return (
        Step(
            sp.factorial(b) / (sp.factorial(count - 1) * rest),
            left * count,
            "the noise makes the counts without one message i: a multinomial coefficient",
        ),
        Step(
            left,
            sp.factorial(b + 1) / (sp.factorial(count) * rest) / (b + 1),
            "b! over all the factorials is the one of b + 1 messages, divided by b + 1",
        ),
        Step(summed, bracket, "times the message's probability, summed over i"),
        Step(
            left * k ** (-b) * weight * summed,
            left * weight / k**b * bracket,
            "times the probabilities of the noise and of β",
        ),
    )


def _noise(first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """Probability that b random answers are ``first`` ones, ``second`` twos, and the rest one of k − 2 other values."""
    others = b - first - second
    ways = sp.factorial(b) / (sp.factorial(first) * sp.factorial(second) * sp.factorial(others))
    return ways * (k - 2) ** others / k**b


def _weak_law(mine: sp.Expr) -> sp.Expr:
    """Joint law of (N1, N2, B); ``mine`` is N1 under X and N2 under X'."""
    others = b + 1 - n1 - n2
    ways = sp.factorial(b) / (sp.factorial(n1) * sp.factorial(n2) * sp.factorial(others))
    law = ways * (k - 2) ** others / k**b * (mine * (1 - gamma) + gamma / k * (b + 1))
    return sp.binomial(n - 1, b) * _chance_of_noise() * law


@derivation("The weak adversary sees (N1, N2, B)", f"{SOURCE}, Theorem 10, corrected")
def theorem10() -> Steps:
    r"""What A_w sees is the joint law of (N1, N2, B), which is the blanket's reduction pair (Koskela et al. 2021,
    Theorem 10, corrected). Counts n_1, n_2 with n_1 + n_2 ≤ b + 1 ≤ n.

    The paper goes on to two *scalar* random variables with the laws of numerator and denominator; what follows from
    them is smaller than what the view gives away. With K classes the sum over all counts is K^m/m!, by induction on K.

    >>> theorem10().result
    (b + n_1*(t - 1) + 1)/(b + n_2*(t - 1) + 1)
    """
    D = decomposition.blanket(KRR())
    mass = k / (t + k - 1)
    alone = own * _noise(n1 - 1, n2) + other * _noise(n1, n2 - 1) + (k - 2) / k * gamma * _noise(n1, n2)
    law, law_other = _weak_law(n1), _weak_law(n2)
    ratio = (n1 * (1 - gamma) + gamma / k * (b + 1)) / (n2 * (1 - gamma) + gamma / k * (b + 1))
    h = (n1, n2, b + 1 - n1 - n2)
    seen = sp.factorial(n) / sp.factorial(n - 1 - b) * D.beta_form ** (n - 1 - b) / n
    for count, atom in zip(h, D.atoms, strict=True):
        seen *= atom.c**count / sp.factorial(count)
    seen *= sp.Add(*(count * field.simplest(atom.a / atom.c) for count, atom in zip(h, D.atoms, strict=True)))
    classes = sp.Symbol("K", integer=True, positive=True)
    return (
        Step(
            sp.Sum(sp.binomial(m, i) * classes ** (m - i) / sp.factorial(m), (i, 0, m)),
            (classes + 1) ** m / sp.factorial(m),
            "the other values summed out: i of m messages have the last of K + 1 values",
        ),
        Step(
            sp.binomial(n - 1, b) * _chance_of_noise() * alone,
            law,
            "the differing user adds a 1, a 2 or another value: law of (N1, N2, B) under X",
        ),
        Step(sp.Subs(law, gamma, mass), seen, "with γ = k/(t + k - 1): the reduction pair of the blanket"),
        Step(sp.Mul(law, sp.Pow(law_other, -1, evaluate=False), evaluate=False), ratio, "the ratio of X and X'"),
        Step(sp.Subs(ratio, gamma, mass), (n1 * (t - 1) + b + 1) / (n2 * (t - 1) + b + 1), "and in t"),
    )


@derivation("What the strong adversary sees", f"{SOURCE}, Definition 8 and (5.1), corrected")
def strong_view() -> Steps:
    r"""What A_s sees (Koskela et al. 2021, Definition 8 and (5.1), corrected; Balle et al. 2019, Theorem 3.1).

    If the differing user answered randomly, which A_s knows, X and X' are equally likely; else their ratio is n_1/n_2.
    The paper says n_1/n_2 for *every* view, leaves out the factor 1 − γ, and replaces the joint law by its two margins.

    >>> strong_view().result
    (1 - gamma)*(-gamma/k + 1)**(n - 1)
    """
    rest = n - n1 - n2  # others who sent something else, or the truth

    def trinomial(first: sp.Expr, second: sp.Expr) -> sp.Expr:
        ways = sp.factorial(n - 1) / (sp.factorial(first) * sp.factorial(second) * sp.factorial(rest))
        return ways * p ** (first + second) * (1 - 2 * p) ** rest

    total = sp.Symbol("r", integer=True, nonnegative=True)
    under_x, under_other = (1 - gamma) * trinomial(n1 - 1, n2), (1 - gamma) * trinomial(n1, n2 - 1)
    atoms = decomposition.strong(KRR()).atoms
    mass = k / (t + k - 1)
    twos = sp.binomial(n - 1, m) * p**m * (1 - p) ** (n - 1 - m)
    return (
        Step(
            gamma * (_noise(n1 - 1, n2) + _noise(n1, n2 - 1) + (k - 2) * _noise(n1, n2)) / k,
            gamma * _noise(n1, n2).subs(b, b + 1),
            "answered randomly: b + 1 random answers, the same under X and X', ratio 1",
        ),
        Step(
            sp.Sum(sp.binomial(total, i) * (gamma * (k - 2) / k) ** i * (1 - gamma) ** (total - i), (i, 0, total)),
            ((k - 2 * gamma) / k) ** total,
            "the others who sent neither 1 nor 2 as noise: other noise, or the truth",
        ),
        Step(sp.powsimp(under_x / under_other), n1 / n2, "answered truthfully: the user sent a 1, or a 2"),
        Step(sp.Subs(1 - gamma, gamma, mass), atoms[0].a, "1 - γ is a of the decomposition, γ = k/(t + k - 1)"),
        Step(sp.Subs(other, gamma, mass), atoms[0].c, "γ/k is its c: what hides the message"),
        Step(
            under_x - alpha * under_other,
            (1 - gamma) * trinomial(n1 - 1, n2) * (1 - alpha * n2 / n1),
            r"what X has above αX', with p = γ/k; summed, $(1-\gamma)\,\mathbb{E}[1 - \alpha N_2/N_1]_+$",
        ),
        Step(
            (1 - gamma) * sp.Subs(twos, (m, p), (0, gamma / k)),
            (1 - gamma) * (1 - gamma / k) ** (n - 1),
            "and for α → ∞ the views without any 2 remain",
        ),
    )


@derivation("Rounded losses bound the divergence", "Koskela et al. 2021, Lemma 6")
def rounded_losses() -> Steps:
    r"""Losses rounded up raise δ and losses rounded down lower it (Koskela et al. 2021, Lemma 6).

    An outcome of two rounds with ratios x and y adds P(1 − α/(xy)) where that is positive; rounding multiplies the
    ratios by 1 + u and 1 + w. More rounds are the same with more factors, and :math:`[\cdot]_+` keeps the order.

    >>> rounded_losses().result
    -alpha/(x*y) + 1
    """
    x, y, a = sp.symbols("x y alpha", positive=True)
    u, w = sp.symbols("u w", nonnegative=True)
    return (
        Step(1 - a / (x * y), 1 - a / (x * (1 + u) * y * (1 + w)), "rounded up", "<="),
        Step(1 - a * (1 + u) * (1 + w) / (x * y), 1 - a / (x * y), "rounded down", "<="),
    )
