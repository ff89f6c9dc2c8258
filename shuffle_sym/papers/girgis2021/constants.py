r"""What Appendix A of Girgis et al. 2021 uses: Claim 1, and the leading term of the simplified bound, as chains."""

import sympy as sp

from shuffle_sym.papers.engine import (
    Blocks,
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
from shuffle_sym.papers.girgis2021.notation import SOURCE, i, n, order, t

k = sp.Symbol("k", integer=True, nonnegative=True)
lam = sp.Symbol("lambda", integer=True, positive=True)


@derivation("The Γ function and the binomial coefficient", f"{SOURCE}, Claim 1", where={lam: "the order"})
def claim1() -> Blocks:
    r"""C(λ, k) k Γ(k/2) ≤ λ^k for 2 ≤ k ≤ λ (Girgis et al. 2021, Claim 1, for k ≥ 3). For k = 1 it is false (√π > 1).

    C(λ, k) k! is a product of k factors, each at most λ, so Γ(k/2) ≤ (k − 1)! is enough.

    >>> claim1().result
    lambda**k
    """
    G, down = quantity("G", positive=True), quantity("ff", r"\lambda^{{\underline{{{0}}}}}", nonnegative=True)
    gamma = given(G(k), sp.gamma(k / 2) / sp.factorial(k - 1), "Γ(k/2)/(k − 1)!")
    falling = given(down(k), sp.factorial(lam) / sp.factorial(lam - k), "λ(λ − 1)…(λ − k + 1)")
    starts = [
        chain(G(2), equals(1, "Γ(1) = 1!", gamma)),
        chain(G(3), equals(sp.sqrt(sp.pi) / 4, "Γ(3/2) = √π/2", gamma), at_most(1, "π is below 16")),
    ]
    two = sp.Ge(k, 2)
    hypothesis = suppose(G(k), "<=", 1, "the hypothesis of the induction, at k", two)
    step = chain(
        G(k + 2),
        equals(G(k) / (2 * (k + 1)), "Γ(k/2 + 1) = (k/2)Γ(k/2)", gamma),
        at_most(1 / (2 * (k + 1)), "at k", hypothesis),
        at_most(1, "a fraction"),
        under=two,
    )
    small = theorems.general(
        "induction", G(k), "<=", 1, [], [("k = 2", starts[0]), ("k = 3", starts[1]), ("from k to k + 2", step)],
        under=two, discharges=(hypothesis,),
    )  # fmt: skip
    fits = sp.Ge(lam, k)
    first = chain(down(0), equals(1, "no factor", falling))
    before = suppose(down(k), "<=", lam**k, "the hypothesis of the induction, at k", fits)
    factor = chain(
        down(k + 1),
        equals((lam - k) * down(k), "one factor more", falling),
        at_most((lam - k) * lam**k, "at k", before),
        equals(lam ** (k + 1) - k * lam**k, "multiplied out"),
        at_most(lam ** (k + 1), "k is not negative"),
        under=sp.Ge(lam, k + 1),
    )
    powers = theorems.general(
        "induction", down(k), "<=", lam**k, [], [("k = 0", first), ("from k to k + 1", factor)],
        under=fits, local=(), discharges=(before,),
    )  # fmt: skip
    shown = chain(
        sp.binomial(lam, k) * k * sp.gamma(k / 2),
        equals(down(k) * G(k), "C(λ, k) k! and Γ(k/2)/(k − 1)!", falling, gamma),
        at_most(down(k), "Γ(k/2) ≤ (k − 1)!", small),
        at_most(lam**k, "k factors, each at most λ", powers),
        under=(two, sp.Ge(lam, k + 1)),
    )
    return gamma, falling, *starts, hypothesis, step, first, before, factor, shown


@derivation("The leading term of the simplified bound", f"{SOURCE}, Corollary 3.2", where={t: "e^ε0", n: "users"})
def corollary32() -> Blocks:
    r"""The leading term of Theorem 3.6, C(λ, 2)(t − 1)²/t · E[1/(m + 1)] over m ~ Bin(n − 1, 1/t), is at most
    C(λ, 2)(t − 1)²/n, a quarter of that in (6) (Girgis et al. 2021, Corollary 3.2).

    The corollary says that (5) simplifies to (6). Appendix A takes n̄ = (n − 1)/(2t) + 1 without the floor of (5),
    prints λ² for λ(λ − 1) in (43), and has (47) "for sufficiently large n" only: for t → 1 its right side goes to 0 and
    its left side does not. So (5) need not be below (6) under the stated condition. That (6) bounds the divergence all
    the same is shown at `bounds.girgis2021_cor32`, from Theorem 3.6 and this leading term.

    >>> corollary32().result
    (t - 1)**2*binomial(lambda, 2)/n
    """
    q = sp.Symbol("q", positive=True)
    b, inverse = quantity("b", r"b_{{{0}}}", nonnegative=True), sp.Symbol("E[1/(m + 1)]", positive=True)
    fewer = sp.binomial(n - 1, i) * q**i * (1 - q) ** (n - 1 - i)
    law = given(b(i), sp.binomial(n, i) * q**i * (1 - q) ** (n - i), "Bin(n, q)")
    mean = given(inverse, sp.Sum(fewer / (i + 1), (i, 0, n - 1)), "m ~ Bin(n − 1, q)")
    term = chain(fewer / (i + 1), equals(b(i + 1) / (n * q), "absorption: C(n − 1, m)/(m + 1) = C(n, m + 1)/n", law))
    everything = chain(sp.Sum(b(i), (i, 0, n)), equals(1, "the binomial theorem", law))
    bound = chain(
        inverse,
        equals(sp.Sum(fewer / (i + 1), (i, 0, n - 1)), "by definition", mean),
        equals(sp.Sum(b(i + 1) / (n * q), (i, 0, n - 1)), "each term", term),
        equals((sp.Sum(b(i), (i, 0, n)) - b(0)) / (n * q), "all of Bin(n, q) but 0"),
        equals((1 - b(0)) / (n * q), "which sums to 1", everything),
        at_most(1 / (n * q), "no probability is negative"),
    )
    pairs = sp.binomial(order, 2)
    shown = chain(
        pairs * (t - 1) ** 2 / t * inverse,
        at_most(pairs * (t - 1) ** 2 / n, "q = 1/t: a quarter of (6)", bound.at({q: 1 / t})),
    )
    return law, mean, term, everything, bound, shown


@derivation("The condition of the simplified bound", f"{SOURCE}, (49), (50)", where={t: "e^ε0", n: "users"})
def condition32() -> Blocks:
    r"""(48) of Girgis et al. 2021, Appendix A, squared, follows from 9λ⁴t⁵ ≤ n: λ⁴(t² − 1)²(t + 1)⁴ ≤ n t³.

    >>> condition32().result
    n*t**3
    """
    users = sp.Symbol("n", positive=True)
    enough = sp.Ge(users, 9 * lam**4 * t**5)
    fifty = chain((t**2 - 1) * (t + 1) ** 2, at_most(3 * t**4, "(50)"))
    shown = chain(
        lam**4 * ((t**2 - 1) * (t + 1) ** 2) ** 2,
        at_most(lam**4 * (3 * t**4) ** 2, "(50), squared"),
        at_most(users * t**3, "the condition"),
        under=enough,
    )
    return fifty, shown, parts(fifty, shown)
