r"""Bounds of Rényi moments, how tight they can be, and what sampling does to a Rényi curve, derived line by line."""

from typing import Any

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import KRR, BinaryRR

t = field.t
n, m = sp.symbols("n m", integer=True, positive=True)
q, x, u, s, gamma = sp.symbols("q x u s gamma", positive=True)
order, i, k = sp.symbols("lambda i k", integer=True, nonnegative=True)
SOURCE = "Girgis et al. 2021"


@derivation("Interpolation between integer orders", f"{SOURCE}, (7)")
def eq7() -> Steps:
    r"""Real orders (Girgis et al. 2021, (7)): a = ⌈λ⌉ − λ is the weight of ⌊λ⌋, as (7) has it.

    The sentence below (7) has "λ = a⌈λ⌉ + (1 − a)⌊λ⌋", with the ends exchanged: for λ = 9/4 that is 11/4.

    >>> eq7().result
    lambda - 1
    """
    low, lam = sp.symbols("floor lambda", positive=True)
    high = low + 1
    a = sp.Add(high, -lam, evaluate=False)
    rest = sp.Add(1, -(high - lam), evaluate=False)
    return (
        Step(a * low + rest * high, lam, r"$\lambda = a \lfloor\lambda\rfloor + (1-a) \lceil\lambda\rceil$"),
        Step(a * high + rest * low, low + high - lam, "the print's reason gives the mirror image of λ"),
        Step(
            a * (low - 1) + rest * (high - 1),
            lam - 1,
            r"so a curve with $(\lambda-1)\varepsilon(\lambda)$ linear is met exactly",
        ),
    )


@derivation("The constant of the simplified bound", f"{SOURCE}, Corollary 3.2")
def corollary32() -> Steps:
    r"""The constant of (6) (Girgis et al. 2021, Corollary 3.2), and what Theorem 3.6 gives instead.

    The corollary says that (5) simplifies to (6). Appendix A takes n̄ = (n − 1)/(2t) + 1 without the floor of (5),
    prints λ² for λ(λ − 1) in (43), and has (47) "for sufficiently large n" only: for t → 1 its right side goes to 0 and
    its left side does not. So (5) need not be below (6) under the stated condition. That (6) bounds the divergence all
    the same is shown at `bounds.girgis2021_cor32`, from Theorem 3.6: E[1/(m + 1)] is at most t/n, which
    makes the leading term C(λ, 2)(t − 1)²/n, a quarter of that in (6).

    >>> corollary32().result
    lambda*(lambda - 1)*(t - 1)**2/(2*n)
    """
    lam = sp.Symbol("lambda", positive=True)
    pairs, square = lam * (lam - 1) / 2, (t - 1) ** 2
    size = (n - 1) / (2 * t) + 1
    users = sp.Symbol("n", positive=True)
    count = sp.Symbol("m", integer=True, nonnegative=True)
    chance = sp.binomial(n, i) * q**i * (1 - q) ** (n - i)
    return (
        Step(2 * pairs * square / (size * t), pairs * 4 * square / (n - 1 + 2 * t), "twice the term of order 2"),
        Step(
            4 * square / (users - 1 + 2 * t),
            4 * square / users,
            "without the floor the constant is 4/n; with it n̄ ≥ (n - 1)/(2t) is all, and 4/(n - 1)",
            "<=",
        ),
        Step((t**2 - 1) * (t + 1) ** 2, 3 * t**4, "(50)", "<="),
        Step(
            sp.Mul(sp.Pow(3 * lam**2 * t**4, 2, evaluate=False), t**-3, evaluate=False),
            9 * lam**4 * t**5,
            r"(49), squared: the condition $9 \lambda^4 t^5 \leq n$",
        ),
        Step(
            sp.binomial(n - 1, count) / (count + 1),
            sp.binomial(n, count + 1) / n,
            "Theorem 3.6: 1/(m + 1) under Bin(n - 1, q), by absorption",
        ),
        Step(
            (sp.Sum(chance, (i, 0, n)) - chance.subs(i, 0)) / (n * q),
            (1 - (1 - q) ** n) / (n * q),
            "E[1/(m + 1)], at most 1/(nq) = t/n",
        ),
        Step(
            sp.Mul(pairs * square / t, t / n, evaluate=False),
            pairs * square / n,
            "the leading term of Theorem 3.6: a quarter of (6)",
        ),
    )


@derivation("The reduction as a decomposition", f"{SOURCE}, Theorem 3.6")
def theorem36() -> Steps:
    r"""The expectation of Theorem 3.6 is the Rényi moment of a decomposition: c = b/t (Girgis et al. 2021).

    Every other user is the differing user's double with probability 1/t. 2-RR is the worst R: by convex order r may be
    taken to be 1/t or t with mean 1 (the chord of `lemma62`, for every convex function), and a sum of independent
    copies keeps the order. n copies, N of them doubles, have probability C(n, N) q^N (1 − q)^(n−N), weighted with
    N/(nq): that is m = N − 1 ~ Bin(n − 1, q).

    >>> theorem36().result
    q**m*(1 - q)**(-m + n - 1)*binomial(n - 1, m)
    """
    D = decomposition.clones_one_sided()
    count = sp.Symbol("m", integer=True, nonnegative=True)
    first, second = D.atoms

    def held(above: sp.Expr, below: sp.Expr) -> sp.Expr:
        return sp.Mul(above, sp.Pow(below, -1, evaluate=False), evaluate=False)

    return (
        Step(held(first.b, first.c), t, "b/c of the first message"),
        Step(held(second.b, second.c), t, "and of the second"),
        Step(held(first.a, first.b), t, "r = a/b of the first message: the upper end"),
        Step(held(second.a, second.b), 1 / t, "and of the second: the lower end"),
        Step(first.b * t + second.b / t, sp.Integer(1), "r has mean 1 under b"),
        Step(
            sp.binomial(n, count + 1) * q ** (count + 1) * (1 - q) ** (n - count - 1) * (count + 1) / (n * q),
            sp.binomial(n - 1, count) * q**count * (1 - q) ** (n - 1 - count),
            "N/(nq) of N = m + 1 doubles among n: Bin(n - 1, q)",
        ),
    )


def _first_order(D: decomposition.Decomposition) -> sp.Expr:
    """Σ (a_j − b_j)²/c_j: n(E[(P/Q)^λ] − 1) tends to C(λ, 2) times this."""
    return sp.Add(*((atom.a - atom.b) ** 2 / atom.c for atom in D.atoms), evaluate=False)


@derivation("The first order of the worst randomizer", "Girgis et al. 2021, Remark 7, answered")
def remark7() -> Steps:
    r"""Is the lower bound tight "at least for the first order term" (Girgis et al. 2021, Remark 7 and Section 8)? For
    t <= 2 it is, for t > 2 it is not.

    Let R(x0) = a, R(x1) = b, and let all others have R(x2) = c. With A and B the means of n draws of a/c and b/c,
    :math:`\mathbb E_Q[(P/Q)^\lambda] = \mathbb E[A^\lambda B^{1-\lambda}]`, so that n times what it exceeds 1 by tends
    to :math:`\binom\lambda2 \sum_j (a_j - b_j)^2/c_j`. An ε0-LDP randomizer has (α, β) = (a/c, b/c) with mean (1, 1) in
    the hexagon 1/t <= α, β, α/β <= t. Its corners are (t, t), (1/t, 1/t), (t, 1), (1, t), (1/t, 1), (1, 1/t), and
    (α − β)² is convex: a plane above it at the corners is above it everywhere, and its value at (1, 1) bounds the sum.
    2-RR attains (t − 1)²/t, the value of Theorem 3.4, and 3-RR attains 2(t − 1)²/(t + 2), which is larger for t > 2, by
    a factor that tends to 2: this is the first order of the worst ε0-LDP randomizer. Theorem 3.6 has (t − 1)², and the
    standard clone, whose Rényi divergence bounds every ε0-LDP randomizer as well, 4t(t − 1)²/(t + 1)²: with it the gap
    :math:`e^{\varepsilon_0}` of the remark is a factor below 2.

    If the other users differ, the covariance of their histogram is the sum of theirs, and the inverse of a matrix is
    operator convex: to first order no such dataset is worse than the worst of those where all agree.

    >>> remark7().step(8).after
    2*(t - 1)**2/(t + 2)
    """
    lam, s, alpha, beta = sp.symbols("lambda s alpha beta", positive=True)
    w = sp.Symbol("w", nonnegative=True)
    large, small = {t: 2 + w}, {t: (2 + w) / (1 + w)}  # t >= 2, and 1 < t <= 2
    two = decomposition.dataset(BinaryRR(), 0, 1, 0)
    three = decomposition.dataset(KRR(k=3), 0, 1, 2)

    clone = 4 * t * (t - 1) ** 2 / (t + 1) ** 2

    def above(x0: Any, x1: Any) -> sp.Expr:
        return sp.Subs((t - 1) / (t + 2) * (t * (alpha + beta) - 2), (alpha, beta), (x0, x1))

    def below(x0: Any, x1: Any) -> sp.Expr:
        return sp.Subs((t - 1) ** 2 / t * (alpha + beta - 1), (alpha, beta), (x0, x1))

    def at(plane: sp.Expr, values: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
        return sp.cancel(plane.doit().subs(values))

    return (
        Step(
            sp.Subs(sp.Derivative((1 + s * alpha) ** lam * (1 + s * beta) ** (1 - lam), (s, 2)), s, 0) / 2,
            lam * (lam - 1) / 2 * (alpha - beta) ** 2,
            r"the term of second order of $A^\lambda B^{1-\lambda}$ around (1, 1)",
        ),
        Step(_first_order(two), (t - 1) ** 2 / t, "2-RR, all others like the differing user"),
        Step(_first_order(three), 2 * (t - 1) ** 2 / (t + 2), "3-RR, all others have the third value"),
        Step(above(t, 1), (t - 1) ** 2, "t ≥ 2: a plane that meets (α - β)² at the corner (t, 1)"),
        Step(above(1 / t, 1 / t), sp.Integer(0), "and at (1/t, 1/t)"),
        Step(((1 - 1 / t) ** 2).subs(large), at(above(1 / t, 1), large), "it is above at (1/t, 1), t = 2 + w", "<="),
        Step(sp.Integer(0), at(above(t, t), large), "and at (t, t)", "<="),
        Step(above(1, 1), 2 * (t - 1) ** 2 / (t + 2), "at (1, 1): no randomizer has more than 3-RR"),
        Step(below(t, 1), (t - 1) ** 2, "t ≤ 2: a plane that meets it at (t, 1)"),
        Step(below(1 / t, 1), (1 - 1 / t) ** 2, "and at (1/t, 1)"),
        Step(sp.Integer(0), at(below(1 / t, 1 / t), small), "it is not below at (1/t, 1/t), t = (2 + w)/(1 + w)", "<="),
        Step(sp.Integer(0), at(below(t, t), small), "nor at (t, t)", "<="),
        Step(below(1, 1), (t - 1) ** 2 / t, "at (1, 1): no randomizer has more than 2-RR"),
        Step(_first_order(decomposition.clones()), clone, "the standard clone"),
        Step(clone, (t - 1) ** 2, "it is below Theorem 3.6", "<="),
        Step(clone, 2 * (2 * (t - 1) ** 2 / (t + 2)), "and below twice 3-RR", "<="),
        Step(
            sp.cancel((clone / (t - 1) ** 2 * t).subs(small)),
            sp.Rational(16, 9),
            "for t ≤ 2 at most 16/9 times 2-RR, t = (2 + w)/(1 + w)",
            "<=",
        ),
    )


@derivation(
    "Poisson sampling of a Rényi curve", "the forward sum as in Zhu and Wang 2019; the backward bounds are derived here"
)
def poisson_sampling() -> Steps:
    r"""A record that takes part with probability γ: P' = (1 − γ)Q + γP against Q, in both directions.

    Given which of the other records take part, the mechanism is Q without the record and P with it; the moment
    :math:`\mathbb E_Q[(P/Q)^\lambda]` is jointly convex: the average over the others is at most the largest. With
    L = P/Q and x = P'/Q = 1 + γ(L − 1) the moments are :math:`\mathbb E_Q[x^\lambda]` and
    :math:`\mathbb E_Q[x^{1-\lambda}]`. The first is a binomial sum. For the second, x has mean 1 and is at least 1 − γ,
    where the second derivative of :math:`x^{1-\lambda}`, which falls, is largest:
    :math:`\mathbb E_Q[x^{1-\lambda}] \le 1 + \binom\lambda2 \gamma^2 (1-\gamma)^{-\lambda-1}\,\mathbb E_Q[(L-1)^2]`.
    It is also at most :math:`(1-\gamma)^{1-\lambda}` and, by convexity, :math:`1 - \gamma + \gamma\,\mathbb
    E_P[(Q/P)^\lambda]`.

    >>> poisson_sampling().step(1).after
    (L*gamma - gamma + 1)**lambda
    """
    L, lam = sp.symbols("L lambda", positive=True)
    ratio, law = sp.IndexedBase("L"), sp.IndexedBase("q")
    B, j = sp.symbols("B j", integer=True, positive=True)
    return (
        Step(
            sp.Sum(sp.binomial(order, i) * (1 - gamma) ** (order - i) * (gamma * L) ** i, (i, 0, order)),
            (1 - gamma + gamma * L) ** order,
            "forward, for every integer λ: take the mean under Q",
        ),
        Step(
            sp.Derivative(x ** (1 - lam), (x, 2)),
            lam * (lam - 1) * x ** (-lam - 1),
            r"backward: the second derivative falls in x, so on $x \geq 1 - \gamma$ it is largest at $1 - \gamma$",
        ),
        Step(
            ((1 - gamma + gamma * L) - 1) ** 2,
            gamma**2 * (L - 1) ** 2,
            "and the remainder of Taylor's formula at 1 is at most half of that, times",
        ),
        Step(
            sp.Sum(law[j] * (ratio[j] - 1) ** 2, (j, 1, B)),
            sp.Sum(law[j] * ratio[j] ** 2 - 2 * law[j] * ratio[j] + law[j], (j, 1, B)),
            r"its mean under Q: $E_Q[(L-1)^2] = E_Q[L^2] - 1$, since $E_Q[L] = 1$",
        ),
    )


@derivation("Special neighbours, second bound", f"{SOURCE}, Theorem 7.1")
def theorem71() -> Steps:
    r"""E[(M(D')/M(D))^λ] ≤ exp(λ²(t − 1)²/m) (Girgis et al. 2021, Theorem 7.1), for every real λ > 0.

    An inequality between functions that are not rational is shown as an equation whose remainder is plainly of one
    sign. |r − 1| ≤ t − 1 needs both ends of [1/t, t]; the paper names one. With Hoeffding's lemma instead of the
    Taylor series the same chain gives exp(λ²(t − 1/t)²/(8m)), at most half of it in the exponent.

    >>> theorem71().result
    (t - 1)**2/2
    """
    y = sp.Symbol("y", real=True, nonzero=True)
    lam = sp.Symbol("lambda", positive=True)
    step = lam * (t - 1) / m
    remainder = y**2 * sp.Integral((1 - s) * sp.exp(s * y), (s, 0, 1))
    return (
        Step(remainder, sp.exp(y) - 1 - y, r"the remainder is not negative, so $1 + y \leq e^y$ for all real y"),
        Step(1 - 1 / t, t - 1, "r - 1 is at most t - 1 in absolute value, on both sides", "<="),
        Step(sp.Sum(x**k / sp.factorial(k), (k, 2, sp.oo)), sp.exp(x) - 1 - x, r"term by term; $x = \lambda(t-1)/m$"),
        Step(sp.exp(x) - x, sp.exp(x) * (1 - x * sp.exp(-x)), "the bound for one of m users"),
        Step(
            m * x - m * (x * sp.exp(-x)),
            m * x * (1 - sp.exp(-x)),
            r"$1 - y \leq e^{-y}$, m times: the exponent; and $1 - e^{-x} \leq x$",
        ),
        Step(sp.Subs(m * x**2, x, step), lam**2 * (t - 1) ** 2 / m, r"$m x^2$ with $x = \lambda(t-1)/m$"),
        Step((t - 1 / t) ** 2 / 8, (t - 1) ** 2 / 2, "Hoeffding's lemma instead: half of it, or less", "<="),
    )


@derivation("The Γ function and the binomial coefficient", f"{SOURCE}, Claim 1")
def claim1() -> Steps:
    r"""C(λ, k) k Γ(k/2) ≤ λ^k for k ≥ 2 (Girgis et al. 2021, Claim 1, for k ≥ 3).

    C(λ, k) k! is a product of k factors, each at most λ, so Γ(k/2) ≤ (k − 1)! is enough: true for k = 2 and k = 3, and
    it carries over from k to k + 2. For k = 1 it is false (√π > 1).

    >>> claim1().proved
    True
    """
    size = sp.Symbol("k", integer=True, positive=True)
    gap = sp.Integral(sp.exp(-u) * (sp.sqrt(u) - 1) ** 2, (u, 0, sp.oo))
    grown = sp.gamma(size / 2 + 1) / sp.factorial(size + 1)
    rest = sp.Symbol("k", integer=True, nonnegative=True)
    return (
        Step(
            sp.binomial(order, size) * size * sp.gamma(size / 2),
            sp.factorial(order) / sp.factorial(order - size) * sp.gamma(size / 2) / sp.factorial(size - 1),
            r"$\lambda(\lambda-1)\cdots(\lambda-k+1)$, times $\Gamma(k/2)/(k-1)!$",
        ),
        Step(sp.gamma(1, evaluate=False), sp.Integer(1), r"k = 2: $\Gamma(1) = 1!$"),
        Step(gap, 2 - 2 * sp.gamma(sp.Rational(3, 2)), r"k = 3: $\Gamma(3/2) \leq 1$, since a square is integrated"),
        Step(
            grown / (sp.gamma(size / 2) / sp.factorial(size - 1)), 1 / (2 * (size + 1)), "from k to k + 2: the quotient"
        ),
        Step(1 / (2 * (rest + 1)), sp.Integer(1), "which is below 1", "<="),
    )
