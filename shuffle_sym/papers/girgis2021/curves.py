r"""Rényi curves: from Rényi to (ε, δ), between integer orders, and under Poisson sampling, as chains."""

import sympy as sp

from shuffle_sym.papers.engine import theorems
from shuffle_sym.papers.engine.chains import at_most, cases, chain, claim, equals, growing, parts
from shuffle_sym.papers.engine.derivation import Blocks, derivation
from shuffle_sym.papers.engine.facts import given, suppose
from shuffle_sym.papers.engine.quantities import Mean, Positive, Random, quantity
from shuffle_sym.papers.girgis2021.notation import SOURCE, i, order, rho
from shuffle_sym.papers.proofs import shown_by

x, alpha, u, z = sp.symbols("x alpha u z", positive=True)
lam = sp.Symbol("lambda", positive=True)
ABOVE_ONE = sp.Gt(lam, 1)
delta = quantity("delta", r"\delta({0})", nonnegative=True)


@derivation(
    r"From Rényi to $(\varepsilon, \delta)$", f"{SOURCE}, Lemma 2.1",
    where={alpha: r"$e^{\varepsilon}$", rho: "$M(D)/M(D')$", lam: "the order, $1 + u$"},
)  # fmt: skip
def lemma21() -> Blocks:
    r"""δ(ε) = E[ρ − α]_+ ≤ E[ρ^λ] α^{1−λ} (1 − 1/λ)^λ/(λ − 1), α = e^ε, for every real λ = 1 + u > 1 (Girgis et al.
    2021, Lemma 2.1, second form; the first one is this, solved for ε).

    >>> lemma21().result
    (u/(u + 1))**(u + 1)*E[rho**(u + 1)]/(alpha**u*u)
    """
    best = alpha * (1 + u) / u
    factor = (u / (1 + u)) ** (1 + u) / u
    definition = given(
        delta(alpha), Mean(Positive(rho - alpha)), r"$D_{\alpha}$ of the two laws, $\rho$ drawn from the second"
    )
    tangent = chain(
        1 + (1 + u) * (z - 1), at_most(z ** (1 + u), "a convex function is above its tangent", growing(z, 1))
    )
    scaled = chain(
        x - alpha,
        equals(alpha / u * (1 + (1 + u) * (x / best - 1)), r"with $x$ in units of $\alpha\lambda/(\lambda - 1)$"),
        at_most(alpha / u * (x / best) ** (1 + u), "the tangent at 1", tangent.at({z: x / best})),
        equals(alpha**-u * factor * x ** (1 + u), "the powers"),
    )
    power = alpha**-u * factor * x ** (1 + u)
    part = cases(
        chain(
            Positive(x - alpha), equals(x - alpha, r"$x$ above $\alpha$"), at_most(power, "as above", scaled),
            under=sp.Ge(x, alpha),
        ),
        chain(Positive(x - alpha), equals(0, r"$x$ below $\alpha$"), at_most(power, "not negative"), under=sp.Lt(x,
        alpha)),
        words="at most a power",
    )  # fmt: skip
    return definition, tangent, scaled, part, chain(
        delta(alpha),
        at_most(Mean(alpha**-u * factor * rho ** (1 + u)), "at every outcome", definition, part.at({x: rho})),
        equals(alpha**-u * factor * Mean(rho ** (1 + u)), "the mean is linear"),
    )  # fmt: skip


@derivation(
    "Between integer orders", f"{SOURCE}, (7), its reason corrected",
    where={lam: "the order", sp.Symbol("L", positive=True): r"$\lambda$ rounded down", sp.Symbol("a"):
        "the weight of $L$"},
)  # fmt: skip
def eq7() -> Blocks:
    r"""(λ − 1)D_λ ≤ a(L − 1)D_L + (1 − a)L D_{L+1} for L = ⌊λ⌋ and a = L + 1 − λ (Girgis et al. 2021, (7)).

    a is the weight of ⌊λ⌋, as (7) has it. The sentence below (7) has "λ = a⌈λ⌉ + (1 − a)⌊λ⌋", with the ends exchanged:
    for λ = 9/4 that is 11/4.

    >>> eq7().result
    (L*(1 - a)*D(L + 1) + a*(L - 1)*D(L))/(lambda - 1)
    """
    low, a = sp.Symbol("L", positive=True), sp.Symbol("a", nonnegative=True)
    D = quantity("D", r"D_{{{0}}}", real=True)
    moment = quantity("H", r"\mathbb{{E}}\left[\rho^{{{0}}}\right]", positive=True)
    weight = given(a, low + 1 - lam, "the weight of $L$, between 0 and 1")
    definition = given(D(lam), sp.log(moment(lam)) / (lam - 1), "the Rényi divergence")
    logs = shown_by(r"$(\lambda - 1)D$ is convex in $\lambda$", theorems.general(
        "Hölder's inequality", sp.log(moment(lam)), "<=", a * sp.log(moment(low)) + (1 - a) * sp.log(moment(low + 1)),
        ["$a$ is in $[0, 1]$"],
        [
            (
                r"$\lambda = aL + (1 - a)(L + 1)$",
                claim(lam, "=", a * low + (1 - a) * (low + 1), r"$\lambda$ is the mean of its neighbours", weight),
            ),
        ],
    ))  # fmt: skip
    return weight, definition, logs, chain(
        D(lam),
        equals(sp.log(moment(lam)) / (lam - 1), "by definition", definition),
        at_most((a * sp.log(moment(low)) + (1 - a) * sp.log(moment(low + 1))) / (lam - 1), "Hölder's inequality", logs),
        equals((a * (low - 1) * D(low) + (1 - a) * low * D(low + 1)) / (lam - 1), "(7)", definition),
        under=ABOVE_ONE,
    )  # fmt: skip


@derivation(
    "Poisson sampling of a Rényi curve", "the forward sum as in Zhu and Wang 2019; the backward bounds are ours",
    where={sp.Symbol("gamma", positive=True): "chance to take part", Random("L", positive=True): "$P/Q$", u:
        r"$\lambda - 1$"},
)  # fmt: skip
def poisson_sampling() -> Blocks:
    r"""A record that takes part with probability γ: P' = (1 − γ)Q + γP against Q, in both directions, and L = P/Q.

    Forward, E_Q[(P'/Q)^λ] is a binomial sum. Backward, E_Q[(P'/Q)^{1−λ}] is at most
    :math:`1 + \binom\lambda2 \gamma^2 (1-\gamma)^{-\lambda-1}\,\mathbb E_Q[(L-1)^2]`, at most
    :math:`(1-\gamma)^{1-\lambda}` and, by convexity, :math:`1 - \gamma + \gamma\,\mathbb E_Q[L^{1-\lambda}]`. Which of
    the other records take part is averaged over: the moment is jointly convex (`lemma52_renyi`), and an average is at
    most the largest.

    >>> len(poisson_sampling().statement)
    4
    """
    L = Random("L", positive=True)
    gamma, keep = sp.symbols("gamma c", positive=True)
    y = sp.Symbol("y", positive=True)
    forward_moment = quantity("Forward", r"\mathbb{{E}}_Q\left[(P'/Q)^{{{0}}}\right]", positive=True)
    backward_moment = quantity("Backward", r"\mathbb{{E}}_Q\left[(P'/Q)^{{-{0}}}\right]", positive=True)
    weights = given(keep, 1 - gamma, "the probability not to take part")
    mean = suppose(Mean(L), "=", 1, r"$P$ is a law: $\mathbb{E}_Q[P/Q] = 1$")
    there = given(forward_moment(order), Mean((keep + gamma * L) ** order), r"$P'/Q = 1 - \gamma + \gamma L$")
    back = given(backward_moment(u), Mean((keep + gamma * L) ** -u), r"the other direction, $\lambda = 1 + u$")
    expansion = sp.binomial(order, i) * keep ** (order - i) * gamma**i
    forward = chain(
        forward_moment(order),
        equals(Mean(sp.Sum(expansion * L**i, (i, 0, order))), "the binomial theorem", there),
        equals(sp.Sum(expansion * Mean(L**i), (i, 0, order)), "moment by moment"),
    )
    lowest = chain((keep + gamma * y) ** -u, at_most(keep**-u, r"$P'/Q$ is at least $1 - \gamma$"))
    flat = chain(backward_moment(u), at_most(keep**-u, "at every outcome", back, lowest.at({y: L})))
    mixed = chain(
        backward_moment(u),
        at_most(Mean(keep + gamma * L**-u), "$P'$ is a mixture", back, theorems.jensen(
            lambda v: v**-u, [(keep, sp.Integer(1)), (gamma, L)], weights,
        )),
        equals(keep + gamma * Mean(L**-u), "the mean is linear"),
    )  # fmt: skip
    curve = u * (u + 1) / 2 * keep ** (-u - 2)
    steepest = chain((keep + y) ** (-u - 2), at_most(keep ** (-u - 2), "it falls"))
    square = Mean((L - 1) ** 2)
    near = chain(
        backward_moment(u),
        at_most(
            Mean(1 - u * (keep + gamma * L - 1) + curve * (keep + gamma * L - 1) ** 2),
            "around 1",
            back,
            theorems.general(
                "Taylor's formula",
                (keep + gamma * L) ** -u,
                "<=",
                1 - u * (keep + gamma * L - 1) + curve * (keep + gamma * L - 1) ** 2,
                [r"the second derivative of $x^{-u}$ is $u(u + 1)x^{-u-2}$, and $x$ is at least $1 - \gamma$"],
                [
                    ("$x^{-u-2}$ is largest at the lower end", steepest),
                    (r"$1 - \gamma$ is at most 1", claim(keep + gamma, "=", 1, "the weights sum to 1", weights)),
                ],
            ),
        ),
        equals(1 - u * gamma * (Mean(L) - 1) + curve * gamma**2 * square, r"$P'/Q - 1$ is $\gamma(L - 1)$", weights),
        equals(1 + curve * gamma**2 * square, "$L$ has mean 1", mean),
    )
    return weights, mean, there, back, forward, lowest, flat, mixed, steepest, near, parts(forward, near, flat, mixed)
