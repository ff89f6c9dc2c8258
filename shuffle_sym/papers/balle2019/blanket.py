r"""The blanket of Balle et al. 2019: Lemmas 5.1 and 5.2, from the definition of each randomizer."""

import sympy as sp

from shuffle_sym.algebra.symbols import Parameter
from shuffle_sym.papers.balle2019.notation import SOURCE, eps0, half, k, t
from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_least, cases, chain, equals
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import Applied, Fact, given, suppose
from shuffle_sym.papers.engine.quantities import quantity
from shuffle_sym.papers.proofs import LEVEL

sigma, gamma = sp.symbols("sigma gamma", positive=True)
message, other, last = sp.symbols("y x K", positive=True, integer=True)
x, y, z = Parameter("x", 0, 1), sp.Symbol("y", real=True), sp.Symbol("z", nonnegative=True)
R = quantity("R", r"R({0})({1})", nonnegative=True)
c = quantity("c", nonnegative=True)
WHERE = {R(x, y): "probability (density) of the message $y$ if the input is $x$", gamma: "total variation similarity"}


def attained(infimum: sp.Expr, value: sp.Expr, below: Fact, there: Fact) -> Applied:
    """The infimum over the inputs is a value that no input is below and that one input has."""
    return theorems.general(
        "a lower bound that is attained is the infimum", infimum, "=", value, (),
        [("no input is below it", below), ("one has it", there)],
    )  # fmt: skip


@derivation("Total variation similarity of $k$-RR", f"{SOURCE}, Lemma 5.1 (1)", WHERE | {k: "number of messages"})
def lemma51_krr() -> Blocks:
    r"""γ of k-RR is k/(e^ε0 + k − 1) (Balle et al. 2019, Lemma 5.1 (1)).

    >>> lemma51_krr().result
    k/(k + t - 1)
    """
    own, j = other, message
    law = sp.Piecewise((t / (t + k - 1), sp.Eq(own, j)), (1 / (t + k - 1), True))
    least = 1 / (t + k - 1)
    defined = given(R(own, j), law, "$k$-RR: the own input $t$ times as often as any other")
    truth = equals(t / (t + k - 1), "the own input", defined), at_least(least, r"$t \ge 1$")
    smaller, larger = (
        chain(R(own, j), equals(least, "another input", defined), under=one) for one in (sp.Lt(own, j), sp.Gt(own, j))
    )
    below = cases(chain(R(own, j), *truth, under=sp.Eq(own, j)), smaller, larger)
    there = chain(R(j + 1, j), equals(least, "such as the input $y + 1$", defined))
    mass = given(gamma, sp.Sum(c(j), (j, 1, k)), "$c(y)$ is the infimum of $R(x)(y)$ over the inputs $x$")
    total = chain(
        gamma,
        equals(sp.Sum(least, (j, 1, k)), r"the infimum at $y$ is that of an input $x \ne y$", mass, attained(
            c(j), least, below, there,
        )),
        equals(k / (t + k - 1), "$k$ messages"),
    )  # fmt: skip
    return defined, below, there, mass, total


def _two_halves(density: sp.Expr, near: Fact, closed: sp.Expr, result: sp.Expr, words: str) -> Blocks:
    r"""γ of noise on [0, 1]: at 1/2 − z, z ≥ 0, no input is less likely than 1, ``near``; 1/2 + z is the mirror image.

    ``closed`` is the integral of one half."""
    left, right = (
        quantity("c_left", "c(1/2-{0})", nonnegative=True),
        quantity("c_right", "c(1/2+{0})", nonnegative=True),
    )
    floor = density.subs({x: 1, y: half - z}).replace(sp.Abs, lambda distance: sp.expand(distance))
    defined = given(R(x, y), density, words)
    below = chain(R(x, half - z), at_least(floor, "no input is less likely than 1", defined, near))
    there = chain(R(1, half - z), equals(floor, "the input 1", defined))
    mirror = chain(R(x, half + z), equals(R(1 - x, half - z), "the noise is symmetric", defined))
    whole = (z, 0, sp.oo)
    halves = sp.Integral(left(z), whole) + sp.Integral(right(z), whole)
    mass = given(
        gamma, halves, "$c(y)$ is the infimum of $R(x)(y)$ over the inputs $x$, at $y = 1/2 - z$ and at $y = 1/2 + z$"
    )
    total = chain(
        gamma,
        equals(2 * sp.Integral(left(z), whole), "the mirror image", mass, theorems.general(
            "an infimum over $x$ is one over $1 - x$", right(z), "=", left(z), (), [("$x$ and $1 - x$", mirror)],
        )),
        equals(2 * sp.Integral(floor, whole), r"the infimum is that of the input 1 for $y \le 1/2$", attained(
            left(z), floor, below, there,
        )),
        equals(2 * closed, "each half"),
        *((equals(result, "the tail of the noise at 0"),) if result != 2 * closed else ()),
    )  # fmt: skip
    return defined, near, below, there, mirror, mass, total


@derivation("Total variation similarity of Laplace on $[0, 1]$", f"{SOURCE}, Lemma 5.1 (2)", WHERE)
def lemma51_laplace() -> Blocks:
    r"""γ of Laplace on [0, 1] is e^(−ε0/2) (Balle et al. 2019, Lemma 5.1 (2)).

    >>> lemma51_laplace().result
    exp(-epsilon_0/2)
    """
    distance, farthest = sp.exp(-eps0 * sp.Abs(y - x)), sp.exp(-eps0 * (half + z))
    here = distance.subs(y, half - z)
    nearer_end = chain(sp.exp(-eps0 * (half - z)), at_least(farthest, r"$1/2 - z \le 1/2 + z$"))
    near, result = (
        cases(
            chain(
                here,
                equals(sp.exp(-eps0 * (x - half + z)), "$x$ is not below $y = 1/2 - z$"),
                at_least(farthest, r"$x \le 1$"),
                under=sp.Ge(z, half - x),
            ),
            chain(
                here,
                equals(sp.exp(-eps0 * (half - z - x)), "$x$ is not above $y = 1/2 - z$"),
                at_least(sp.exp(-eps0 * (half - z)), r"$x \ge 0$"),
                at_least(farthest, "1 is farther from $y$ than 0", nearer_end),
                under=sp.Le(z, half - x),
            ),
        ),
        sp.exp(-eps0 / 2),
    )
    return nearer_end, *_two_halves(eps0 / 2 * distance, near, result / 2, result, "Laplace noise")


@derivation("Total variation similarity of the Gaussian on $[0, 1]$", f"{SOURCE}, Lemma 5.1 (3)", WHERE)
def lemma51_gaussian() -> Blocks:
    r"""γ of the Gaussian on [0, 1] is 2 Pr[N(0, σ²) ≤ −1/2] (Balle et al. 2019, Lemma 5.1 (3)).

    The published proof ends in ≥ −1/2, which would exceed 1; the statement is right.

    >>> lemma51_gaussian().result
    2*Integral(sqrt(2)*exp(-y**2/(2*sigma**2))/(2*sqrt(pi)*sigma), (y, -oo, -1/2))
    """
    scale = 1 / (sp.sqrt(2 * sp.pi) * sigma)
    bell = sp.exp(-((y - x) ** 2) / (2 * sigma**2))
    here, least = (bell.subs(y, half - z).subs(x, one) for one in (x, 1))
    near = chain(here, at_least(least, r"$(1 - y)^2 - (x - y)^2 = (1 - x)(1 + x - 2y) \ge 0$ at $y = 1/2 - z$"))
    tail = sp.Integral(scale * sp.exp(-(y**2) / (2 * sigma**2)), (y, -sp.oo, -half))
    closed = sp.erfc(sp.sqrt(2) / (4 * sigma)) / 2
    return _two_halves(scale * bell, near, closed, 2 * tail, "Gaussian noise")


@derivation(
    r"Total variation similarity is at least $\exp(-\varepsilon_0)$", f"{SOURCE}, Lemma 5.2",
    WHERE | LEVEL | {last: "number of messages"},
)  # fmt: skip
def lemma52() -> Blocks:
    r"""γ ≥ e^(−ε0) for every ε0-LDP randomizer (Balle et al. 2019, Lemma 5.2).

    >>> lemma52().result
    1/t
    """
    another = sp.Symbol("z", positive=True, integer=True)
    messages = (message, 1, last)
    private = suppose(
        R(another, message),
        ">=",
        R(other, message) / t,
        r"$\varepsilon_0$-LDP: every input $z$ against every input $x$",
    )
    law = suppose(sp.Sum(R(other, message), messages), "=", 1, "probabilities sum to 1")
    mass = given(gamma, sp.Sum(c(message), messages), "$c(y)$ is the infimum of $R(z)(y)$ over the inputs $z$")
    total = chain(
        gamma,
        at_least(sp.Sum(R(other, message) / t, messages), "whatever the input $x$", mass, theorems.general(
            "the infimum is the greatest lower bound", c(message), ">=", R(other, message) / t, (),
            [("$R(x)(y)/t$ is a lower bound for all inputs $z$", private)],
        )),
        equals(sp.Sum(R(other, message), messages) / t, "$1/t$ is constant"),
        equals(1 / t, "$R(x)$ is a law", law),
    )  # fmt: skip
    return private, law, mass, total
