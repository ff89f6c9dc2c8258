r"""The pair of Koskela et al. 2021, Section 6 and Appendix B, cell by cell.

.. math:: P = (A + \Delta, C - A), \quad Q = (A, C - A + \Delta), \qquad
          C \sim \mathrm{Bin}(n - 1, p),\ A \sim \mathrm{Bin}(C, 1/2),\ \Delta \sim \mathrm{Bern}(q)

with p = 1/t and q = t/(t + 1), t = e^{ε0}. Given Δ = 1 these are P1 and Q1, given Δ = 0 both are P0. A cell (a, b) has
a, b ≥ 0 and a + b ≤ n. Everything is for t > 1: at t = 1 the factor p/(1 − p) of the paper does not exist.
"""

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.derivation import Step, Steps, derivation

t = field.t
a, b, i, j = sp.symbols("a b i j", integer=True, nonnegative=True)
n = sp.Symbol("n", integer=True, positive=True)
p, q = sp.symbols("p q", positive=True)
odds = p / (1 - p)
SOURCE = "Koskela et al. 2021"

add(of_every_randomizer("Koskela's clones", f"{SOURCE}, Section 6", decomposition.clones_koskela, one_randomizer=False))


def _law(i: sp.Expr, j: sp.Expr) -> sp.Expr:
    """Pr[C = i, A = j]."""
    return sp.binomial(n - 1, i) * p**i * (1 - p) ** (n - 1 - i) * sp.binomial(i, j) / 2**i


def _at(count: sp.Expr, first: sp.Expr) -> sp.Subs:
    """Pr[C = count, A = first], held as the law with the two values beside it."""
    return sp.Subs(_law(i, j), (i, j), (count, first))


def _cells(a: sp.Expr, b: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """The probabilities of (a, b) under P1 = (A + 1, C − A), Q1 = (A, C − A + 1) and P0 = (A, C − A)."""
    return _law(a + b - 1, a - 1), _law(a + b - 1, a), _law(a + b, a)


def _quotient(above: sp.Expr, below: sp.Expr) -> sp.Expr:
    """above/below with the powers that both have taken out; the binomial coefficients are left to be proved."""
    return sp.powsimp(above / below)


def _mixture(given_one: sp.Expr, given_zero: sp.Expr) -> sp.Expr:
    return q * given_one + (1 - q) * given_zero


@derivation("Cells of P1, P0 and Q1, for b > 0", f"{SOURCE}, Lemma B.1")
def lemma_b1() -> Steps:
    r"""P1 and P0 as multiples of Q1, for b > 0 and a + b ≤ n (Koskela et al. 2021, Lemma B.1).

    >>> lemma_b1().result
    p*(-a - b + n)/(2*b*(1 - p))
    """
    P1, Q1, P0 = _cells(a, b)
    return (
        Step(_at(a + b - 1, a - 1), P1, "P1: (A + 1, C - A) is (a, b) where A = a - 1, C = a + b - 1"),
        Step(_at(a + b - 1, a), Q1, "Q1: (A, C - A + 1) is (a, b) where A = a, C = a + b - 1"),
        Step(_at(a + b, a), P0, "P0: (A, C - A) is (a, b) where A = a, C = a + b"),
        Step(_quotient(P1, Q1), a / b, "P1 against Q1, for b > 0"),
        Step(_quotient(P0, Q1), odds * (n - a - b) / (2 * b), "P0 against Q1, for b > 0"),
    )


@derivation("Cells of P1 and P0, for a > 0", f"{SOURCE}, Lemma B.3")
def lemma_b3() -> Steps:
    r"""P1 in closed form, and P0 as a multiple of it for a > 0 (Koskela et al. 2021, Lemma B.3).

    >>> lemma_b3().result
    p*(-a - b + n)/(2*a*(1 - p))
    """
    P1, _, P0 = _cells(a, b)
    moved = sp.Subs(P1, (a, b), (j + 1, i - j))
    return (
        Step(moved, _law(i, j), "P1 with a = j + 1, b = i - j: the law of C = i, A = j"),
        Step(_quotient(P0, P1), odds * (n - a - b) / (2 * a), "P0 against P1, for a > 0"),
    )


@derivation("Ratio of P and Q, for b > 0", f"{SOURCE}, Lemma 11 (6.5)")
def lemma11() -> Steps:
    r"""The ratio of P and Q at a cell with b > 0 (Koskela et al. 2021, (6.5), (B.7)).

    q is the mixing weight t/(t + 1) of (6.2); Lemma B.2 prints :math:`q = e^{-\varepsilon_0}`, which is p.

    >>> lemma11().result.subs({a: 1, b: 1, n: 3, p: sp.Rational(1, 3), q: sp.Rational(3, 4)})
    1
    """
    P1, Q1, P0 = _cells(a, b)
    P0_by_Q1 = odds * (n - a - b) / (2 * b)
    return (
        Step(_quotient(P1, Q1), a / b, "Lemma B.1, first part"),
        Step(_quotient(P0, Q1), P0_by_Q1, "Lemma B.1, second part"),
        Step(
            _mixture(P1, P0) / _mixture(Q1, P0),
            _mixture(a / b, P0_by_Q1) / _mixture(sp.Integer(1), P0_by_Q1),
            "the mixtures, divided by Q1",
        ),
    )


@derivation("Ratio of P and Q, for b = 0 and 0 < a < n", f"{SOURCE}, Lemma 11 (6.6), corrected")
def lemma11_b0() -> Steps:
    r"""The ratio at b = 0 and 0 < a < n (Koskela et al. 2021, (6.6), (B.8), (B.11)); the paper says "for all a".

    >>> lemma11_b0().result
    (2*a*q*(1 - p)/(p*(-a + n)) - q + 1)/(1 - q)
    """
    P1, _, P0 = _cells(a, sp.Integer(0))
    first = sp.Symbol("a", integer=True, positive=True)  # here a > 0, so that Q1 = 0 is seen
    multiple = 2 * a / (n - a) / odds
    return (
        Step(_at(first - 1, first), sp.Integer(0), "Q1 is never (a, 0): A = a needs C ≥ a"),
        Step(_quotient(P1, P0), multiple, "P1 against P0, for 0 < a < n"),
        Step(
            sp.Mul(_mixture(P1, P0), sp.Pow((1 - q) * P0, -1, evaluate=False), evaluate=False),
            _mixture(multiple, sp.Integer(1)) / (1 - q),
            "the mixtures, divided by P0",
        ),
    )


@derivation("Ratio of P and Q, for a = b = 0", f"{SOURCE}, Lemma B.2")
def lemma11_origin() -> Steps:
    r"""The ratio at a = b = 0 is 1 (Koskela et al. 2021, Lemma B.2).

    >>> lemma11_origin().proved
    True
    """
    none = sp.Integer(0)
    P0 = (1 - p) ** (n - 1)
    return (
        Step(_at(sp.Integer(-1), sp.Integer(-1)), none, "P1 is never (0, 0)"),
        Step(_at(sp.Integer(-1), none), none, "neither is Q1"),
        Step(_at(none, none), P0, "P0 is (0, 0) where nobody is a clone"),
        Step((1 - q) * P0 / sp.UnevaluatedExpr((1 - q) * P0), sp.Integer(1), "the mixtures"),
    )


@derivation("The cell (n, 0): possible under P only", f"{SOURCE}, Lemma 11 (6.6), corrected")
def lemma11_infinite() -> Steps:
    r"""At the cell (n, 0) Q vanishes and P does not (Koskela et al. 2021, (6.6) and (B.8), corrected).

    Both are printed "for all a"; at a = n their denominator is 0.

    >>> lemma11_infinite().result
    q*(p/2)**(n - 1)
    """
    mass = q * (p / 2) ** (n - 1)
    return (
        Step(_mixture(_at(n - 1, n), _at(n, n)), sp.Integer(0), "Q: A = n needs n clones among n - 1"),
        Step(_mixture(_at(n - 1, n - 1), _at(n, n)), mass, "P: A = C = n - 1 and Δ = 1"),
    )


@derivation("Ratio of P and Q at every cell", f"{SOURCE}, Lemma 11; Su et al. 2025, Theorem 10")
def lemma11_every_cell() -> Steps:
    r"""One ratio for every cell, from the decomposition: Σ h_j a_j/c_j over Σ h_j b_j/c_j with h = (a, b, n − a − b).

    For t > 1. It is (6.5) for b > 0, (6.6) for b = 0 < a < n, 1 at the origin, and its denominator is 0 at (n, 0) only.

    >>> lemma11_every_cell().proved
    True
    """
    D = decomposition.clones_koskela()
    h = (a, b, n - a - b)
    under_x0, under_x1 = (
        sp.Add(*(count * field.simplest(mass / atom.c) for count, mass, atom in zip(h, masses, D.atoms, strict=True)))
        for masses in ([atom.a for atom in D.atoms], [atom.b for atom in D.atoms])
    )
    ratio = (2 * t * (t - 1) * a + n - a - b) / (2 * t * (t - 1) * b + n - a - b)
    values = (1 / t, t / (t + 1))
    return (
        Step(under_x0 / under_x1, ratio, "the decomposition, with h = (a, b, n - a - b)"),
        Step(sp.Subs(lemma11().result, (p, q), values), ratio, "it is (6.5), for b > 0"),
        Step(sp.Subs(lemma11_b0().result, (p, q), values), sp.Subs(ratio, b, 0), "it is (6.6), for b = 0 < a < n"),
        Step(sp.Subs(ratio, (a, b), (0, 0)), sp.Integer(1), "the origin"),
        Step(sp.Subs(sp.denom(ratio), (a, b), (n, 0)), sp.Integer(0), "the cell (n, 0)"),
    )


@derivation("Probability of a cell under P, for a > 0", f"{SOURCE}, (6.7)")
def eq67() -> Steps:
    r"""The probability of (a, b) under P for a > 0, and that P sums to 1 (Koskela et al. 2021, (6.7)).

    The cells of P1, and those of P0, are the pairs (C, A), each once: every pair belongs to one cell.

    >>> eq67().proved
    True
    """
    P1, _, P0 = _cells(a, b)
    everything = sp.Sum(_law(i, j), (j, 0, i), (i, 0, n - 1))
    return (
        Step(_mixture(P1, P0), (q + (1 - q) * odds * (n - a - b) / (2 * a)) * P1, "P0 through P1, for a > 0"),
        Step(sp.Sum(sp.binomial(i, j) / 2**i, (j, 0, i)), sp.Integer(1), "given C = i, the A sum to 1"),
        Step(everything, sp.Integer(1), "the cells of P1, and those of P0: the law of (C, A) sums to 1"),
        Step(_mixture(everything, everything), sp.Integer(1), "all cells of P"),
    )


@derivation("Probability of a cell under P, for a = 0", f"{SOURCE}, (6.8)")
def eq68() -> Steps:
    r"""The probability of (0, b) under P, and of all such cells together (Koskela et al. 2021, (6.8)).

    >>> eq68().result
    (1 - p/2)**(n - 1)*(1 - q)
    """
    cell = (1 - q) * sp.binomial(n - 1, b) * (p / 2) ** b * (1 - p) ** (n - 1 - b)
    return (
        Step(_at(b - 1, sp.Integer(-1)), sp.Integer(0), "P1 is never (0, b)"),
        Step((1 - q) * _at(b, sp.Integer(0)), cell, "P0: A = 0 and C = b"),
        Step(
            sp.Sum(cell, (b, 0, n - 1)),
            (1 - q) * (1 - p / 2) ** (n - 1),
            "all cells with a = 0: nobody sends the first message",
        ),
    )


@derivation("The mass that no ε removes", f"{SOURCE}, Section 6.1")
def delta_infinity() -> Steps:
    r"""The part of P where Q vanishes (Koskela et al. 2021, Section 6.1): Pr[A + Δ = n].

    >>> delta_infinity().result
    2**(1 - n)*t**(2 - n)/(t + 1)
    """
    mass = q * _at(n - 1, n - 1)
    return (
        Step(mass, q * (p / 2) ** (n - 1), "A + Δ = n: everybody else is a clone, all of them are 1, and Δ = 1"),
        Step(
            sp.Subs(q * (p / 2) ** (n - 1), (p, q), (1 / t, t / (t + 1))),
            t ** (2 - n) / (2 ** (n - 1) * (t + 1)),
            "p = 1/t and q = t/(t + 1)",
        ),
    )


@derivation(
    "The pair of Koskela et al. is above the standard clone", f"{SOURCE}, (6.1), against Su et al. 2025, Theorem 2"
)
def clones_order() -> Steps:
    r"""For all n, t > 1 and α the pair of Koskela et al. is above the standard clone.

    G of both takes a low, a middle and a high value with probabilities 1/(2t), 1 − 1/t, 1/(2t), and has the same mean.
    Lower low and higher high values make it larger in convex order, which survives sums, and :math:`[u]_+` is convex.
    This is for 1/t ≤ α ≤ t, written as α = (1 + wt)/(t + w), w ≥ 0. For other α the standard clone is at
    :math:`[1 - \alpha]_+`, which no pair is below.

    >>> clones_order().result
    2*t**2/(t + 1)
    """
    w = sp.Symbol("w", nonnegative=True)
    alpha = (1 + w * t) / (t + w)
    standard, koskela = (D.gparv for D in (decomposition.clones(), decomposition.clones_koskela()))
    (high, low, middle), (high_k, low_k, middle_k) = (
        [value.subs(field.alpha, alpha) for value in G.forms] for G in (standard, koskela)
    )
    mean, mean_k = (
        sp.Add(*(value * mass for value, mass in zip(G.forms, G.masses, strict=True))) for G in (standard, koskela)
    )
    return (
        Step(mean_k, mean, "equal means, and the same probabilities"),
        Step(low, middle, "standard clone: the middle value is above the low one", "<="),
        Step(middle, high, "and below the high one", "<="),
        Step(low_k, middle_k, "Koskela et al.: the middle value is above the low one", "<="),
        Step(middle_k, high_k, "and below the high one", "<="),
        Step(low_k, low, "their low value is lower", "<="),
        Step(high, high_k, "their high value is higher", "<="),
    )
