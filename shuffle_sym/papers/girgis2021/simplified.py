r"""The simplified upper bound, Girgis et al. 2021, Corollary 3.2 and Appendix A, as chains.

The corollary says that (5) simplifies to (6), and it need not: Appendix A has (47) "for sufficiently large n" only, and
for t → 1 its right side goes to 0 and its left side does not. Here (6) comes from Theorem 3.6, the cut of (40) and
Theorem 3.7; what few doubles contribute goes to 0 with t − 1, as (6) does.
"""

from fractions import Fraction

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, at_most, chain, equals, growing, telescoping
from shuffle_sym.papers.engine.derivation import Blocks, cite, derivation
from shuffle_sym.papers.engine.facts import Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.girgis2021 import notation
from shuffle_sym.papers.girgis2021.mixtures import ABOVE, whole
from shuffle_sym.papers.girgis2021.moments import closed_form, higher_term, lemma62, messages, theorem37
from shuffle_sym.papers.girgis2021.notation import MOMENT, SOURCE, B, S, above_one, i, j, m, n, order, p, p1, t
from shuffle_sym.papers.girgis2021.upper import HALF, SIZE, D, cut, few, gamma, half_number, many, nbar, one_user

k = sp.Symbol("k", integer=True, nonnegative=True)
later = k + 3  # an index from 3 on
e, y, z = sp.symbols("e y z", nonnegative=True)
w, x = sp.symbols("w x", positive=True)
users = sp.Symbol("nbar", integer=True, positive=True)
PAIRS, F = sp.binomial(order, 2), sp.Rational
CONDITION, MANY = sp.Ge(n, 9 * order**4 * t**5), sp.Ge(m, (n - 1) / (2 * t))
USERS = {t: r"$e^{\varepsilon_0}$", n: "number of users"}


@derivation(r"The $\Gamma$ function and the binomial coefficient", f"{SOURCE}, Claim 1", where={order: "the order"})
def claim1() -> Blocks:
    r"""C(λ, k) k Γ(k/2) ≤ λ^k for k ≥ 2 (Girgis et al. 2021, Claim 1, for k ≥ 3). For k = 1 it is false (√π > 1).

    C(λ, k) k! is a product of k factors, each at most λ, so Γ(k/2) ≤ (k − 1)! is enough.

    >>> claim1().result
    lambda**k
    """
    G, down = quantity("G", positive=True), quantity("ff", r"\lambda^{{\underline{{{0}}}}}", nonnegative=True)
    ratio = given(G(k), sp.gamma(k / 2) / sp.factorial(k - 1), r"$\Gamma(k/2)/(k - 1)!$")
    falling = given(
        down(k), sp.factorial(order) / sp.factorial(order - k), r"$\lambda(\lambda - 1)\dots(\lambda - k + 1)$"
    )
    starts = [
        chain(G(2), equals(1, r"$\Gamma(1) = 1!$", ratio)),
        chain(
            G(3), equals(sp.sqrt(sp.pi) / 4, r"$\Gamma(3/2) = \sqrt{\pi}/2$", ratio), at_most(1, r"$\pi$ is below 16")
        ),
    ]
    two = sp.Ge(k, 2)
    hypothesis = suppose(G(k), "<=", 1, "the hypothesis of the induction, at $k$", two)
    step = chain(
        G(k + 2),
        equals(G(k) / (2 * (k + 1)), r"$\Gamma(k/2 + 1) = (k/2)\Gamma(k/2)$", ratio),
        at_most(1 / (2 * (k + 1)), "at $k$", hypothesis),
        at_most(1, "a fraction"),
        under=two,
    )
    small = theorems.general(
        "induction", G(k), "<=", 1, [], [("$k = 2$", starts[0]), ("$k = 3$", starts[1]), ("from $k$ to $k + 2$", step)],
        under=two, discharges=(hypothesis,),
    )  # fmt: skip
    first = chain(down(0), equals(1, "no factor", falling))
    before = suppose(down(k), "<=", order**k, "the hypothesis of the induction, at $k$")
    factor = chain(
        down(k + 1),
        equals(order * down(k) - k * down(k), "one factor more", falling),
        at_most(order * down(k), "$k$ is not negative"),
        at_most(order ** (k + 1), "at $k$", before.fixing(k)),
    )
    powers = theorems.induction(before, k, first, factor, 0)
    shown = chain(
        sp.binomial(order, k) * k * sp.gamma(k / 2),
        equals(down(k) * G(k), r"$\tbinom{\lambda}{k} k!$ and $\Gamma(k/2)/(k - 1)!$", falling, ratio),
        at_most(down(k), r"$\Gamma(k/2) \le (k - 1)!$", small),
        at_most(order**k, r"$k$ factors, each at most $\lambda$", powers),
        under=two,
    )
    return ratio, falling, *starts, hypothesis, step, first, before, factor, shown


@derivation(
    "A power above its tangent",
    "Taylor's theorem at 1",
    where={e: "$x = t/(1 + e)$ is at most $t$", t: r"$e^{\varepsilon_0}$"},
)
def above_tangent() -> Blocks:
    r"""x^λ ≤ 1 + λ(x − 1) + C(λ, 2)(x − 1)² t^(λ−2) for 0 < x ≤ t, here x = t/(1 + e), and every integer λ ≥ 2.

    >>> above_tangent().statement[0].left
    (t/(e + 1))**lambda
    """
    f, g = quantity("f", r"f_{{{0}}}", real=True), quantity("g", r"g_{{{0}}}", positive=True)
    ratio = t / (1 + e)
    square = (ratio - 1) ** 2
    rest = given(f(order), ratio**order - 1 - order * (ratio - 1), r"$x^{\lambda}$ less its tangent at 1")
    power = given(g(order), t ** (order - 2), "a power of $t$")
    large = chain(g(order), equals(t ** (order - 2), "by definition", power), at_least(1, r"$t \ge 1$", growing(t, 1)))
    base = chain(f(2), equals(square, "multiplied out", rest), equals(square * g(2), "$t$ to the 0", power))
    before = suppose(f(order), "<=", PAIRS * square * g(order), r"the hypothesis of the induction, at $\lambda$")
    following = chain(
        f(order + 1),
        equals(ratio * f(order) + order * square, "$x$ times it, and what is new", rest),
        at_most(square * (ratio * PAIRS * g(order) + order), r"at $\lambda$", before.fixing(order)),
        at_most(square * (t * PAIRS * g(order) + order), r"$x \le t$"),
        at_most(square * (t * PAIRS * g(order) + t * order * g(order)), r"$t \ge 1$", large),
        equals(
            sp.binomial(order + 1, 2) * square * g(order + 1),
            r"$\tbinom{\lambda}{2} + \lambda = \tbinom{\lambda + 1}{2}$",
            power,
        ),
    )
    every = theorems.induction(before, order, base, following, 2)
    shown = chain(
        ratio**order,
        equals(1 + order * (ratio - 1) + f(order), "the tangent and the rest", rest),
        at_most(1 + order * (ratio - 1) + PAIRS * square * g(order), r"by induction over $\lambda$", every),
        equals(1 + order * (ratio - 1) + PAIRS * square * t ** (order - 2), "the power put in", power),
    )
    return rest, power, large, base, before, following, shown


@derivation("One user alone, to second order", f"{SOURCE}, ours", where={**MOMENT, **USERS, B: "number of messages"})
def single_user_excess() -> Blocks:
    r"""S_λ(1) ≤ 1 + C(λ, 2)(t − 1)² t^(λ−3) for every integer λ ≥ 2: without others the moment is that of R.

    >>> single_user_excess().result
    1 + t**(lambda - 2)*(t - 1)**2*binomial(lambda, 2)/t
    """
    tangent, largest = cite(above_tangent), cite(lemma62, part=0)
    ratio, power = p1(j) / p(j), t ** (order - 2)
    alone = one_user(order)
    parabola = 1 + order * (ratio - 1) + PAIRS * (ratio - 1) ** 2 * power
    each = chain(
        ratio**order,
        equals((t / (1 + above_one(j))) ** order, r"$\varepsilon_0$-LDP", notation.not_above_t),
        at_most(tangent.right.subs(e, above_one(j)), "a parabola above it", tangent.at({e: above_one(j)})),
        equals(parabola, r"$\varepsilon_0$-LDP", notation.not_above_t),
    )
    totals = [sp.Sum(law(j), messages) for law in (p, p1)]
    chi = sp.Sum(p1(j) ** 2 / p(j), messages)
    shown = chain(
        S(order, 1),
        at_most(sp.Sum(p(j) * parabola, messages), "each ratio", alone, each),
        equals(totals[0] + order * (totals[1] - totals[0]) + PAIRS * power * (chi - 2 * totals[1] + totals[0]),
               "term by term"),
        equals(1 + PAIRS * power * (chi - 1), "both sum to 1", notation.sums_to_one, notation.primed_sums_to_one),
        at_most(1 + PAIRS * power * ((t - 1) ** 2 / t), "the largest variance", largest),
    )  # fmt: skip
    return notation.sums_to_one, notation.primed_sums_to_one, notation.not_above_t, tangent, largest, each, shown


#: What √w is at most under the condition, which is at most 7/80.
SMALL, ENOUGH = F(7, 20) * t / (t + 1) ** 2, (CONDITION, MANY, ABOVE)
power, most = (quantity(name, name + "_{{{0}}}", nonnegative=True) for name in "vu")


def _small_powers(base: Fact, powers: Fact, bound: Fact) -> tuple[Fact, Fact, Fact]:
    """w^(1/2) + … + w^((λ−2)/2) is below a geometric series, under the condition; and what shows that."""
    rises = chain(e ** ((k + 1) / 2), at_most(z ** ((k + 1) / 2), "a power rises"), under=sp.Le(e, z))
    rest = chain(
        power(k),
        at_most(SMALL ** (k + 1), "the condition", powers, base, rises.at({z: y**2}).at({e: base.right, y: SMALL})),
        equals(most(k), "a name for it", bound),
        under=ENOUGH,
    )
    series = telescoping(SMALL ** (k + 1) / (SMALL - 1))
    summed = chain(
        sp.Sum(power(k), (k, 0, order - 3)),
        at_most(sp.Sum(most(k), (k, 0, order - 3)), "the condition", rest),
        equals((SMALL - SMALL ** (order - 1)) / (1 - SMALL), "a geometric sum", bound, series),
        at_most(SMALL / (1 - SMALL), "without its end"),
        at_most(F(80, 73) * SMALL, "it is at most $7/80$"),
        under=ENOUGH,
    )
    return rises, rest, summed


@derivation(
    "Special neighbours, many of them", f"{SOURCE}, (44) to (50), corrected",
    where={**MOMENT, **USERS, w: "what the terms of Theorem 3.7 are powers of"},
)  # fmt: skip
def enough_users() -> Blocks:
    r"""S_λ(m) ≤ 1 + 9/5 C(λ, 2)(t − 1)²/(mt) if n ≥ 9λ⁴t⁵ and m ≥ (n − 1)/(2t) (Girgis et al. 2021, (44) to (50)).

    With w = λ²(t² − 1)²/(2mt²) the i-th term of Theorem 3.7 is at most w^(i/2), and the condition makes w small.

    >>> enough_users().result
    1 + 9*(t - 1)**2*binomial(lambda, 2)/(5*m*t)
    """
    moment, by_claim = cite(theorem37), cite(claim1)
    c = quantity("c", "c_{{{0}}}", nonnegative=True)
    base = given(w, order**2 * (t**2 - 1) ** 2 / (2 * m * t**2), r"$\lambda^2$ times what (14) has a power of")
    named = given(c(k), sp.binomial(order, k) * k * sp.gamma(k / 2), "the coefficient in (14)")
    powers = given(power(k), w ** ((k + 1) / 2), "all factors of the term $i = k + 3$ but $w$")
    bound = given(most(k), SMALL ** (k + 1), "what the condition makes of it")
    coefficient = chain(c(later), at_most(order**later, "Claim 1", named, by_claim.at({k: later})))
    term = chain(
        higher_term(m).subs(i, later),
        equals(c(later) * (w / order**2) ** (later / 2), "with $w$", named, base),
        at_most(order**later * (w / order**2) ** (later / 2), "Claim 1", coefficient),
        equals(w * power(k), "$w^{i/2}$", powers),
    )
    rises, rest, summed = _small_powers(base, powers, bound)
    leading, half = PAIRS * (t - 1) ** 2 / (m * t), order * (order - 1) / 2
    counted = chain(
        S(order, m),
        at_most(closed_form(m), "Theorem 3.7", moment),
        equals(1 + leading + sp.Sum(higher_term(m).subs(i, later), (k, 0, order - 3)), "counted from 0"),
        under=ABOVE,
    )
    total = chain(
        F(80, 73) * SMALL * w,
        at_most(F(4, 5) * half * (t - 1) ** 2 / (m * t), r"$\lambda/2 \le \lambda - 1$", base),
        equals(F(4, 5) * leading, r"$\tbinom{\lambda}{2}$"),
    )
    shown = chain(
        S(order, m),
        at_most(counted.right, "Theorem 3.7", counted),
        at_most(1 + leading + w * sp.Sum(power(k), (k, 0, order - 3)), "(45)", term),
        at_most(1 + leading + w * F(80, 73) * SMALL, "the condition", summed),
        at_most(1 + F(9, 5) * leading, "together", total),
        under=ENOUGH,
    )
    defined = (base, named, powers, bound)
    return moment, by_claim, *defined, coefficient, rises, rest, term, summed, counted, total, shown


def _few_doubles(tail: Fact) -> Blocks:
    """What few doubles contribute, C(λ, 2)(t − 1)² t^(λ−3) π, is at most C(λ, 2)(t − 1)²/(4nt), if n ≥ 9λ⁴t⁵."""
    power = chain(t ** (order - 2), at_most(sp.exp((order - 2) * (t - 1)), r"$\log t \le t - 1$", growing(t, 1)))
    cube = chain(sp.exp(-x), at_most(6 / x**3, r"$e^x \ge x^3/6$", growing(x, 3)))
    factor = PAIRS * (t - 1) ** 2 / t
    shown = chain(
        factor * t ** (order - 2) * tail.left,
        at_most(factor * t ** (order - 2) * tail.right, "Chernoff's bound", tail),
        at_most(factor * sp.exp((order - 2) * (t - 1)) * tail.right, "a power below an exponential", power),
        equals(factor * sp.exp((order - 2) * (t - 1) - (n - 1) / (8 * t)), "one exponent"),
        at_most(factor * sp.exp(-n / (9 * t)), "the condition"),
        at_most(factor * 6 / (n / (9 * t)) ** 3, "an exponential below a power", cube.at({x: n / (9 * t)})),
        at_most(factor / (4 * n), "the condition"),
        under=(CONDITION, ABOVE),
    )
    return power, cube, shown


def _rounded_down() -> bool:
    """⌊x⌋ + 1 ≥ x, for fractions."""
    return all(Fraction(u, v) <= u // v + 1 for u in range(60) for v in range(1, 12))


@derivation(
    "The simplified upper bound", f"{SOURCE}, Corollary 3.2, another proof",
    where={**MOMENT, **USERS, users: "$(n - 1)/(2t)$ rounded down, plus 1", D(order):
        r"the Rényi divergence of order $\lambda$"},
)  # fmt: skip
def corollary32() -> Blocks:
    r"""The Rényi divergence of any two neighbouring datasets and any ε0-LDP randomizer is at most
    log(1 + 4C(λ, 2)(t − 1)²/n)/(λ − 1) for every integer λ ≥ 2 with 9λ⁴t⁵ ≤ n (Girgis et al. 2021, Corollary 3.2, (6),
    with C(λ, 2) as in (44)); for t > 1, and for t = 1 it is 0.

    >>> corollary32().result
    log(1 + 4*(t - 1)**2*binomial(lambda, 2)/n)/(lambda - 1)
    """
    half = {gamma: F(1, 2), notation.real_order: order}
    chernoff, everything, parted = (cite(cut, part=part) for part in range(3))
    alone, enough = cite(single_user_excess), cite(enough_users)
    size = given(nbar, SIZE, r"a share $1 - \gamma$ of the mean of $m$, rounded down, and the differing user")
    number = given(users, half_number, "half the mean number of doubles, rounded down, and the differing user")
    divergence = given(D(order), sp.log(whole(order)) / (order - 1), "the Rényi divergence of two datasets")
    *powers, early = _few_doubles(chernoff.at(half))
    rare, often = (one.subs(gamma, F(1, 2)) for one in (few, many))
    leading = PAIRS * (t - 1) ** 2
    one, more = leading * t ** (order - 2) / t, F(9, 5) * leading / (users * t)
    so_many = theorems.for_other_laws(enough, {m: users}, r"$\rho$ and $X$ are those of $\bar{n}$ users")
    put_in = chain(users, equals(half_number, "by definition", number), equals(HALF, r"$\gamma = 1/2$", size))
    rounded = theorems.general(
        "rounding down loses less than 1", users, ">=", (n - 1) / (2 * t), [r"$\lfloor x \rfloor + 1$ is at least $x$"],
        [("the number", put_in)], checked=("660 fractions", _rounded_down),
    )  # fmt: skip
    bounded = chain(
        whole(order),
        at_most(S(order, 1) * rare + S(order, users) * often, "few doubles, or many", parted.at(half), number, size),
        at_most((1 + one) * rare + S(order, users) * often, "one user alone", alone),
        at_most((1 + one) * rare + (1 + more) * often, "enough users", so_many, rounded),
        equals(1 + one * rare + more * (1 - rare), "all others", everything.at(half), size),
        at_most(1 + leading / (4 * n * t) + more * (1 - rare), "few doubles", early),
        at_most(1 + leading / (4 * n * t) + more, "no probability is negative"),
        at_most(1 + 4 * leading / n, r"$\bar{n}$ is at least $(n - 1)/(2t)$", rounded),
        under=(CONDITION, ABOVE),
    )
    shown = chain(
        D(order),
        at_most(sp.log(bounded.right) / (order - 1), r"$\log$ rises", divergence, bounded),
        under=(CONDITION, ABOVE),
    )
    cited = (chernoff, everything, parted, alone, enough)
    return size, number, *cited, divergence, *powers, early, put_in, bounded, shown
