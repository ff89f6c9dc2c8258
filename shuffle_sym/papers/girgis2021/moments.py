r"""Rényi moments of shuffled messages: Girgis et al. 2021, derived line by line.

All other users have the input d, and one has d or d'. Of m messages, h_j are the j-th one; p and p' are the laws of
R(d) and R(d'), and :math:`1/t \le p'_j/p_j \le t`. λ is the order.
"""

from functools import lru_cache

import sympy as sp

from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.papers.koskela2021.views import two_rr_pair
from shuffle_sym.randomizers import BinaryRR

t = field.t
n, m = sp.symbols("n m", integer=True, positive=True)
order, i, k, j = sp.symbols("lambda i k j", integer=True, nonnegative=True)
p, q, x, u, s = sp.symbols("p q x u s", positive=True)
SOURCE = "Girgis et al. 2021"
LARGEST = 12  # moments are written out up to this order


@derivation("The ratio of two special neighbours", f"{SOURCE}, (32)")
def eq32() -> Steps:
    r"""M(D')/M(D) = Σ_j (p'_j/p_j) h_j/m (Girgis et al. 2021, (32)).

    h arises from D' if the last user sends some message j and the others make h − e_j. What the other cells contribute
    (``r``) is the same above and below.

    >>> eq32().result
    -m + Sum(h[j]*r[j], (j, 1, B))
    """
    h, rest = sp.symbols("h_j r", integer=True, positive=True)
    mine, theirs = sp.symbols("p'_j p_j", positive=True)
    others = sp.factorial(m - 1) / (sp.factorial(h - 1) * rest) * theirs ** (h - 1)
    everyone = sp.factorial(m) / (sp.factorial(h) * rest) * theirs**h
    ratio, count = sp.IndexedBase("r"), sp.IndexedBase("h")
    B = sp.Symbol("B", integer=True, positive=True)
    return (
        Step(sp.powsimp(mine * others / everyone), mine * h / (theirs * m), "the last user sends the message j"),
        Step(
            m * (sp.Sum(ratio[j] * count[j] / m, (j, 1, B)) - 1),
            sp.Sum(ratio[j] * count[j], (j, 1, B)) - m,
            "summed over j, with r = p'/p: X(h) = m(M(D')/M(D) - 1)",
        ),
    )


@derivation("Mean and variance of X", f"{SOURCE}, Lemma 6.1 (1), (2)")
def lemma61() -> Steps:
    r"""Mean and variance of X = Σ_j r_j h_j − m (Girgis et al. 2021, Lemma 6.1 (1), (2)): multinomial moments are
    derivatives of :math:`(p_1 z_1 + p_2 z_2 + \dots)^m` at z = 1. Two named cells stand for all pairs of cells.

    With three cells and :math:`p_3 = 1 - p_1 - p_2`, :math:`p'_3 = 1 - p'_1 - p'_2` everything is written out; for any
    number of cells X is a sum of m independent copies of r − 1, whose mean is 0.

    >>> lemma61().result
    Sum(p[j]*r[j]**2 - 2*p[j]*r[j] + p[j], (j, 1, B))
    """
    z1, z2 = sp.symbols("z_1 z_2", positive=True)
    p1, p2, d1, d2 = sp.symbols("p_1 p_2 p'_1 p'_2", positive=True)
    cells = (p1 * z1 + p2 * z2 + 1 - p1 - p2) ** m

    def at_one(*by: sp.Symbol) -> sp.Subs:
        return sp.Subs(sp.Derivative(cells, *by), (z1, z2), (1, 1))

    laws, primed = (p1, p2, 1 - p1 - p2), (d1, d2, 1 - d1 - d2)
    ratios = [b / a for a, b in zip(laws, primed, strict=True)]
    squares = sp.Add(*(r**2 * (m * (m - 1) * a**2 + m * a) for r, a in zip(ratios, laws, strict=True)))
    pairs = sp.Add(*(2 * m * (m - 1) * b * c for b, c in (primed[:2], primed[1:], primed[::2])))
    mean = sp.Add(*(m * b for b in primed))
    chi = sp.Add(*(b**2 / a for a, b in zip(laws, primed, strict=True))) - 1
    ratio, law = sp.IndexedBase("r"), sp.IndexedBase("p")
    B = sp.Symbol("B", integer=True, positive=True)
    return (
        Step(at_one(z1), m * p1, "the mean of a count"),
        Step(at_one(z1, z1), m * (m - 1) * p1**2, "E[h(h - 1)] of a count"),
        Step(at_one(z1, z2), m * (m - 1) * p1 * p2, "the product of two counts"),
        Step(sp.Add(mean, -m, evaluate=False), sp.Integer(0), "(1) the mean of X: p' sums to 1"),
        Step(squares + pairs - 2 * m * mean + m**2, m * chi, "(2) the variance of X, three cells written out"),
        Step(
            sp.Sum(law[j] * (ratio[j] - 1) ** 2, (j, 1, B)),
            sp.Sum(law[j] * ratio[j] ** 2 - 2 * law[j] * ratio[j] + law[j], (j, 1, B)),
            r"one copy, any number of cells: $\sum p r^2 - 2 \sum p r + \sum p = \sum p'^2/p - 1$",
        ),
    )


@derivation("Higher moments of X", f"{SOURCE}, Lemma 6.1 (3)")
def lemma61_tail() -> Steps:
    r"""E|X|^i ≤ i Γ(i/2) (2mν²)^(i/2), ν = (t − 1/t)/2 (Girgis et al. 2021, Lemma 6.1 (3)).

    X is a sum of m independent copies of r − 1 with mean 0 on an interval of length t − 1/t. A variable y on [a, a + l]
    has variance at most l²/4, also after tilting, so log E e^{sX} is at most ms²ν²/2 (Hoeffding's lemma): its second
    derivative is a tilted variance. (34) and (35) of the paper print i! where its proof has i.

    >>> lemma61_tail().result
    (t**2 - 1)**2/(2*m*t**2)
    """
    length, level, nu = sp.symbols("l y nu", positive=True)
    w = sp.Symbol("w", nonnegative=True)
    sigma = sp.Symbol("sigma", positive=True)
    power = sp.Symbol("i", positive=True)
    tail = 2 * power * level ** (power - 1) * sp.exp(-(level**2) / (2 * sigma**2))
    root = sigma * sp.sqrt(2 * u)
    scale, density = power * (2 * sigma**2) ** (power / 2), u ** (power / 2 - 1) * sp.exp(-u)
    inside = length * w / (1 + w)  # any point of [0, l]
    return (
        Step(
            inside * (length - inside),
            length**2 / 4 * (1 - ((1 - w) / (1 + w)) ** 2),
            r"variance on $[0, l]$ with mean $\mu$: at most $\mu(l - \mu)$, which is at most $l^2/4$",
        ),
        Step(
            s**2 * m * nu**2 / 2 - s * level,
            (s * m * nu**2 - level) ** 2 / (2 * m * nu**2) - level**2 / (2 * m * nu**2),
            r"Chernoff's exponent; at $s = y/(m\nu^2)$ the square is 0",
        ),
        Step(
            sp.powsimp(sp.expand_power_base(tail.subs(level, root) * sp.diff(root, u)), force=True),
            scale * density,
            r"$E|X|^i = \int i y^{i-1} \Pr[|X| \geq y]\,dy$, two tails, $y = \sigma\sqrt{2u}$, $\sigma^2 = m\nu^2$",
        ),
        Step(scale * sp.Integral(density, (u, 0, sp.oo)), scale * sp.gamma(power / 2), "integrated"),
        Step(
            2 * m * ((t - 1 / t) / 2) ** 2 / m**2,
            (t**2 - 1) ** 2 / (2 * t**2 * m),
            r"divided by $m^i$: the base of the power $i/2$",
        ),
    )


@derivation("The largest variance", f"{SOURCE}, Lemma 6.2")
def lemma62() -> Steps:
    r"""Σ p'²/p − 1 ≤ (t − 1)²/t, with equality for 2-RR (Girgis et al. 2021, Lemma 6.2).

    r = p'/p is in [1/t, t], written as (1/t + wt)/(1 + w), w ≥ 0, and has mean 1 under p; a parabola is below its
    chord. The paper argues with the vertices of a polytope, "any vertex satisfies all the B LDP constraints with
    equality": p = p' = (1, 0) is a vertex and has ratio 1. The bound stands.

    >>> lemma62().result
    (t - 1)**2/t
    """
    w = sp.Symbol("w", nonnegative=True)
    ratio = (1 / t + w * t) / (1 + w)
    atoms = decomposition.dataset(BinaryRR(), 0, 1, 0).atoms
    largest = sp.Add(*(sp.Mul(e.b**2, 1 / e.c, evaluate=False) for e in atoms), evaluate=False) - 1
    return (
        Step(ratio**2, (t + 1 / t) * ratio - 1, "the chord of a square over [1/t, t]", "<="),
        Step((t + 1 / t) * 1 - 1 - sp.Integer(1), (t - 1) ** 2 / t, "its mean, since r has mean 1; less 1"),
        Step(largest, (t - 1) ** 2 / t, "2-RR has it"),
    )


@derivation("2-RR: the ratio is linear in the count", f"{SOURCE}, (72)")
def eq72() -> Steps:
    r"""M(D')/M(D) − 1 for 2-RR (Girgis et al. 2021, (72)): K of n messages are ones.

    >>> eq72().proved
    True
    """
    ratio = two_rr_pair().result.subs(i, k)
    closed = (t**2 - 1) / (n * t) * (k - n / (t + 1))
    return (
        Step(ratio - 1, k * (t - 1 / t) / n + 1 / t - 1, "the pair of (4.1) of Koskela et al. 2021"),
        Step(k * (t - 1 / t) / n + 1 / t - 1, closed, "factored"),
        Step(sp.Subs(closed, k, n / (t + 1)), sp.Integer(0), "it is 0 at the mean of K ~ Bin(n, 1/(t + 1))"),
    )


@lru_cache
def central_moment(power: int) -> sp.Expr:
    r"""E(K − np)^i for K ~ Bin(n, p), as a polynomial in n and p, by
    :math:`\mu_{i+1} = p(1 - p)\,(i n \mu_{i-1} + \mathrm d\mu_i/\mathrm dp)`.

    >>> central_moment(3)
    2*n*p**3 - 3*n*p**2 + n*p
    """
    if power < 2:
        return sp.Integer(1 - power)
    before, last = central_moment(power - 2), central_moment(power - 1)
    return sp.expand(p * (1 - p) * ((power - 1) * n * before + sp.diff(last, p)))


@derivation("Central moments of the binomial law", f"{SOURCE}, Theorem 3.4")
def central_moments(largest: int = 6) -> Steps:
    r"""The recurrence for central binomial moments (Romanovsky 1923), and those of order 2 … ``largest`` (≤ 12).

    >>> central_moments().proved
    True
    """
    _written_out(largest)
    power = sp.Symbol("i", integer=True, positive=True)
    gap, mass = k - n * p, k * sp.log(p) + (n - k) * sp.log(1 - p)
    steps = [
        Step(p * (1 - p) * sp.Derivative(mass, p), gap, r"$p(1-p)$ times the derivative of $\log p^k (1-p)^{n-k}$"),
        Step(sp.Derivative(gap**power, p), -power * n * gap ** (power - 1), "the derivative of the power"),
        Step(
            p * (1 - p) * (x / (p * (1 - p)) * x**power - power * n * x ** (power - 1)),
            x ** (power + 1) - power * n * p * (1 - p) * x ** (power - 1),
            r"both, with $x = k - np$, summed: $p(1-p)\,\mu_i' = \mu_{i+1} - i n p (1-p)\,\mu_{i-1}$",
        ),
    ]
    for count in range(1, largest):
        held = sp.Derivative(central_moment(count), p) if count > 1 else sp.Integer(0)
        inner = sp.Add(count * n * central_moment(count - 1), held, evaluate=False)
        outer = sp.Mul(p * (1 - p), inner, evaluate=False)
        steps.append(Step(outer, central_moment(count + 1), f"the moment of order {count + 1}"))
    return tuple(steps)


def _written_out(largest: int) -> None:
    if largest not in range(2, LARGEST + 1):
        raise ValueError(f"largest must be an integer in 2 … {LARGEST}, got {largest!r}")


@derivation("Odd central moments are not negative for p ≤ 1/2", f"{SOURCE}, below Theorem 3.4, another proof")
def odd_moments() -> Steps:
    r"""No central moment of Bin(n, p) is negative if p ≤ 1/2 (Girgis et al. 2021, below Theorem 3.4; another proof).

    K − np is a sum of n independent copies of Y = 1 − p or −p. With q = 1 − p = p + w, w ≥ 0, no moment of Y is
    negative; multiply out (Y_1 + … + Y_n)^i: by independence every term is a product of moments of Y.
    The paper calls :math:`x^i` convex for odd i and uses Jensen's inequality, which would prove the same for p > 1/2,
    where it is false: n = 1, p = 3/4, i = 3 gives −3/32.

    >>> odd_moments().result
    -3/32
    """
    w, v = sp.symbols("w v", nonnegative=True)
    b = sp.Symbol("b", nonnegative=True)  # p^(i-1); q^(i-1) is b + v by the line before
    power = sp.Symbol("i", integer=True, positive=True)
    large = p + w
    return (
        Step(
            p * q**power + q * (-p) ** power,
            p * q * (q ** (power - 1) - (-p) ** (power - 1)),
            "a moment of Y, which is q with probability p and -p with probability q",
        ),
        Step(p, large, "p ≤ 1/2 says that q = 1 - p is at least p", "<="),
        Step(
            b * p**2,
            (b + v) * large**2,
            r"i odd: from $q^{i-1} \geq p^{i-1}$ follows $q^{i+1} \geq p^{i+1}$, and i even has two plus signs",
            "<=",
        ),
        Step(
            sp.Subs(central_moment(3), (n, p), (1, sp.Rational(3, 4))),
            sp.Rational(-3, 32),
            "without p ≤ 1/2 it is false: n = 1, p = 3/4",
        ),
    )


def _expansion(power: int) -> tuple[sp.Expr, sp.Expr]:
    r"""Σ_i C(λ, i) c^i μ_i for 2-RR with c = (t² − 1)/(nt), p = 1/(t + 1), λ = ``power``: the sum from i = 0, and the
    same with the terms of order up to 2 written out."""
    scale = (t**2 - 1) / (n * t)
    moments = [sp.factor(central_moment(e).subs(p, 1 / (t + 1))) * scale**e for e in range(power + 1)]
    terms = [sp.binomial(power, e) * moment for e, moment in enumerate(moments)]
    return sp.Add(*terms), 1 + sp.binomial(power, 2) * (t - 1) ** 2 / (n * t) + sp.Add(*terms[3:])


@derivation("Rényi moments of 2-RR", f"{SOURCE}, Theorems 3.4 and 3.7")
def rdp_moments(largest: int = 5) -> Steps:
    r"""E[(M(D')/M(D))^λ] of 2-RR as central moments (Girgis et al. 2021, (15), (30), (10); Theorem 3.4).

    The expansion is for any integer λ; written out for λ = 2 … ``largest`` (at most 12).

    >>> rdp_moments().step(3).after
    1 + (t - 1)**2/(n*t)
    """
    _written_out(largest)
    steps = [
        Step(
            sp.Sum(sp.binomial(order, i) * x**i, (i, 0, order)),
            (1 + x) ** order,
            "the binomial theorem, for every integer λ ≥ 0; take the expectation with x = M(D')/M(D) - 1",
        ),
        Step(
            ((t**2 - 1) / (n * t)) ** 2 * central_moment(2).subs(p, 1 / (t + 1)),
            (t - 1) ** 2 / (n * t),
            "the second moment, with p = 1/(t + 1)",
        ),
    ]
    for power in range(2, largest + 1):
        everything, short = _expansion(power)
        held = sp.Add(*(sp.UnevaluatedExpr(term) for term in everything.args), evaluate=False)
        steps.append(Step(held, short, f"λ = {power}"))
    return tuple(steps)
