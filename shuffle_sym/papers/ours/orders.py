r"""Orders between analyses that hold for every number of users; the proofs are ours.

An order is shown in three moves. Two laws of G have the same mean; their stop-loss transforms :math:`E[G - x]_+` are
ordered for every x, so one law is larger in convex order; convex order survives sums, and :math:`[u]_+` is convex. Then
:math:`D_\alpha = \frac1n E[G_1 + \dots + G_n]_+` is ordered for *every* n.
"""

import sympy as sp

from shuffle_sym.accounting.analyses import add, of_every_randomizer
from shuffle_sym.algebra import field
from shuffle_sym.model import decomposition
from shuffle_sym.papers.derivation import Step, Steps, derivation
from shuffle_sym.randomizers import KRR, BinaryRR

t, k = field.t, field.k
w = sp.Symbol("w", nonnegative=True)
#: Any α between 1 and t.
alpha = (1 + w * t) / (1 + w)

add(of_every_randomizer("shared clones", "Su et al. 2025, (1); proof ours", decomposition.clones_shared))


@derivation("No blanket is above that of 2-RR", "Su et al. 2025, (1); proof ours")
def stronger_clone_generic() -> Steps:
    r"""For every ε0-LDP randomizer, every n and 1 ≤ α ≤ t: the blanket is below the pair with p = 1/(t + 1), which is
    the blanket of 2-RR (Su et al. 2025, (1), which they leave open; the proof is ours).

    At a message with blanket mass c write :math:`\rho_i = R(x_i)/c`, both between 1 and t; Σ cρ_0 = Σ cρ_1 = 1 and
    :math:`G = \rho_0 - \alpha\rho_1`. For a fixed x, :math:`[G - x]_+` is convex in (ρ_0, ρ_1), so a linear function
    λ_0ρ_0 + λ_1ρ_1 that is above it at the corners of the square is above it everywhere, and :math:`E[G - x]_+` is at
    most λ_0 + λ_1. For x ≥ 0 let A be t − α − x. For x = −z ≤ 0 the same is done for :math:`[x - G]_+`, with
    B = αt − 1 − z. (Where A or B is negative, the transform is 0.)

    >>> stronger_clone_generic().result
    B/(t + 1)
    """
    A, B = sp.symbols("A B", nonnegative=True)
    z = sp.Symbol("z", nonnegative=True)
    high = (t * A / (t**2 - 1), -A / (t**2 - 1))
    low = (-B / (t**2 - 1), t * B / (t**2 - 1))
    value = alpha * t - 1 - z

    def at(line: tuple[sp.Expr, sp.Expr], rho0: sp.Expr, rho1: sp.Expr) -> sp.Expr:
        return sp.Add(line[0] * rho0, line[1] * rho1, evaluate=False)

    G = BinaryRR().gparv()
    masses = dict(zip(G.forms, G.masses, strict=True))
    top, bottom = masses[field.simplest(t - field.alpha)], masses[field.simplest(1 - field.alpha * t)]
    one = sp.Integer(1)
    return (
        Step(at(high, t, one), A, "x ≥ 0, corner (t, 1): the line is the value there"),
        Step(at(high, one, t), sp.Integer(0), "corner (1, t): it is 0, and so is the value"),
        Step(sp.Integer(0), at(high, one, one), "corner (1, 1): it is above 0", "<="),
        Step(sp.Integer(0), at(high, t, t), "corner (t, t)", "<="),
        Step(sp.Add(*high), A * top, "so the mean excess of G over x is at most that of 2-RR"),
        Step(at(low, one, t), B, "x = -z, corner (1, t): the line is how far G is below x"),
        Step(at(low, t, one), sp.Integer(0), "corner (t, 1)"),
        Step(alpha - 1 - z, at(low, one, one).subs(B, value), "corner (1, 1): the line is above", "<="),
        Step(t * (alpha - 1) - z, at(low, t, t).subs(B, value), "corner (t, t): the line is above", "<="),
        Step(sp.Integer(0), at(low, one, one), "and above 0", "<="),
        Step(sp.Add(*low), B * bottom, "so the mean of what G is below x is at most that of 2-RR"),
    )


@derivation("The blanket of k-RR falls in k", "Koskela et al. 2021, C.4, reversed; proof ours")
def krr_falls_in_k() -> Steps:
    r"""For every n and 1 ≤ α ≤ t the blanket of k-RR at a fixed ε0 falls as k grows (ours; Koskela et al. 2021, C.4,
    read the opposite off a figure).

    The stop-loss transforms of k-RR and (k + 1)-RR, from the table of G. Below 0 the value 1 − α counts only where
    it is below −z, that is for E = α − 1 − z > 0; there α = 1 + z + E and t = α + v.

    >>> krr_falls_in_k().proved
    True
    """
    G = KRR().gparv()
    masses = dict(zip(G.forms, G.masses, strict=True))
    outer, middle = masses[field.simplest(t - field.alpha)], masses[field.simplest(1 - field.alpha)]
    A, B, E, z, v = sp.symbols("A B E z v", nonnegative=True)
    level = {t: 1 + z + E + v}
    reach = (1 + z + E) * (1 + z + E + v) - 1 - z

    def both(size: sp.Expr) -> sp.Expr:
        return (outer * reach + middle * E).subs(level).subs(k, size)

    return (
        Step((A * outer).subs(k, k + 1), A * outer, "x ≥ 0: only t - α exceeds it", "<="),
        Step((B * outer).subs(k, k + 1), B * outer, "x = -z, z ≥ α - 1: only 1 - αt is below", "<="),
        Step(both(k + 1), both(k), "x = -z, z < α - 1: 1 - αt and 1 - α are below", "<="),
    )
