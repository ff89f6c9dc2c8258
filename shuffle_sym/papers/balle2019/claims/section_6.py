r"""Balle et al. 2019, Section 6: what is read off the figures."""

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.model import decomposition
from shuffle_sym.papers.balle2019.bounds import bennett, hoeffding
from shuffle_sym.papers.claims import Check, certified, claim, confirmed, refuted
from shuffle_sym.papers.tools import fraction
from shuffle_sym.randomizers import KRR, BinaryRR, Laplace
from shuffle_sym.truth.ground_truth import delta


@claim("B-Sec6-order", "574", "at one ε0, 2-RR amplifies better than Laplace, and Laplace better than 100-RR")
def order_of_randomizers() -> Check:
    t, alpha, n = 3, sp.Integer(2), 2
    two = fraction(delta(BinaryRR(sp.log(t)), (0, *[0] * (n - 1)), (1, *[0] * (n - 1)), alpha))
    hundred = fraction(Shuffle(decomposition.blanket(KRR(100, sp.log(t))), n).exact(alpha=alpha))
    users, target = 10**4, 1e-6
    # Only whether a message is above 1/2: Laplace becomes 2-RR with a smaller ε0, and no divergence grows.
    signs = BinaryRR(sp.log(2 * sp.exp(sp.Rational(1, 2)) - 1))
    real, noise = (
        Shuffle(decomposition.dataset(R, 0, 1, 1), users).epsilon(target, rtol=1e-2).lower for R in (BinaryRR(1), signs)
    )
    many = Shuffle(decomposition.blanket(KRR(100, 1)), users).epsilon(target, rtol=1e-2).upper
    bounds = [hoeffding(R, users, target) for R in (BinaryRR(1), Laplace(1), KRR(100, 1))]
    return confirmed(
        refuted(
            two > hundred,
            f"e^ε0 = 3, e^ε = 2, n = 2: two datasets of 2-RR have {two}, no two of 100-RR more than {hundred}",
        ),
        certified(
            not (3 * many < min(real, noise) and bounds == sorted(bounds)),
            f"ε0 = 1, n = 1e4, δ = 1e-6: two datasets of 2-RR have ε ≥ {real:.4f}, two of Laplace ε ≥ {noise:.4f}, "
            f"and 100-RR is at most {many:.4f}. The order in print is that of Hoeffding's bounds, "
            f"{', '.join(f'{b:.4f}' for b in bounds)}",
        ),
    )


@claim("B-578", "576-578", "panel (iii): for every mechanism Bennett's bound is better than Hoeffding's")
def bennett_against_hoeffding() -> Check:
    levels = {n: [bound.eps0(n, 0.1, 1e-6, BinaryRR) for bound in (hoeffding, bennett)] for n in (1000, 10**5)}
    worse = all(by_bennett < by_hoeffding for by_hoeffding, by_bennett in levels.values())
    rows = "; ".join(f"n = {n}: ε0 = {b:.4f} against {h:.4f}" for n, (h, b) in levels.items())
    return certified(
        not worse,
        f"2-RR, ε = 0.1, δ = 1e-6, with the corrected Lemma 5.6, Bennett against Hoeffding: {rows}. The figure was "
        "made with a factor that is too small",
    )
