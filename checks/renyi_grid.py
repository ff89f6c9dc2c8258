r"""No Rényi bound is below an exact moment: a grid of randomizers, numbers of users and orders, in exact arithmetic.

At t = e^ε0 ∈ {3/2, 2, 3, 5}, n = 1 … 12 and λ = 2 … 12, for randomizers of every kind: the moment of the blanket, that
of all datasets in which the other users agree, and for few users the largest over *all* neighbouring datasets (brute
force), in both directions, against every upper bound of Girgis et al. 2021; and their lower bounds against 2-RR.

``make cross-check`` runs it all (minutes); the test suite runs a sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import mpmath
import sympy as sp
from tqdm.auto import tqdm

from shuffle_sym.model import decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.papers import bounds
from shuffle_sym.randomizers import BLH, KRR, OUE, BinaryRR, HadamardResponse, SubsetSelection
from shuffle_sym.truth import exact, ground_truth

RATIOS = (sp.Rational(3, 2), sp.Integer(2), sp.Integer(3), sp.Integer(5))
USERS = tuple(range(1, 13))
ORDERS = tuple(range(2, 13))
#: Up to so many users all neighbouring datasets are multiplied out.
BRUTE_FORCE = {"2-RR": 12, "3-RR": 7, "6-RR": 4, "BLH d=3": 3, "OUE d=3": 3, "Hadamard K=4": 6, "subsets 2 of 4": 4}
UPPER = {
    "Theorem 3.1": bounds.girgis2021_thm31,
    "Theorem 3.1, best γ": lambda eps0, n, order: bounds.girgis2021_thm31(eps0, n, order, "best"),
    "Theorem 3.3": bounds.girgis2021_thm33,
    "Theorem 3.6": bounds.girgis2021_thm36,
    "(9)": bounds.girgis2021_eq9,
}
LOWER = {"Theorem 3.4": bounds.girgis2021_thm34, "Corollary 3.5": bounds.girgis2021_cor35}
_DIGITS = 25


class Comparison(NamedTuple):
    """One bound and one exact divergence."""

    bound: str
    source: str
    holds: bool
    detail: str


def randomizers(t: sp.Rational) -> dict[str, Randomizer]:
    e = sp.log(t)
    return {
        "2-RR": BinaryRR(eps0=e),
        "3-RR": KRR(k=3, eps0=e),
        "6-RR": KRR(k=6, eps0=e),
        "BLH d=3": BLH(d=3, eps0=e),
        "OUE d=3": OUE(d=3, eps0=e),
        "Hadamard K=4": HadamardResponse(K=4, eps0=e),
        "subsets 2 of 4": SubsetSelection(d=4, w=2, eps0=e),
    }


def moments(name: str, R: Randomizer, n: int, orders: Iterable[int]) -> Iterator[tuple[str, int, sp.Rational]]:
    """(what it is of, λ, exact moment); nothing is left out but datasets that a symmetry makes equal."""
    orders = tuple(orders)
    x0, x1 = R.pairs()[0]
    pairs = {"blanket": decomposition.blanket(R, x0, x1)}
    others = {x0, x1, *(x for x in range(int(R.input_count)) if x not in (x0, x1))}
    pairs |= {f"all others {x2}": decomposition.dataset(R, x0, x1, x2) for x2 in sorted(others)[:3]}
    for what, D in pairs.items():
        for direction in (D, D.reversed()):
            for order in orders:
                yield what, order, exact.renyi_moment(direction, n, order)
    if n <= BRUTE_FORCE[name]:
        for order, worst in zip(orders, ground_truth.worst_moments(R, n, orders), strict=True):
            yield "worst of all datasets", order, worst.moment


def check(t: sp.Rational, name: str, n: int, orders: Iterable[int] = ORDERS) -> Iterator[Comparison]:
    """Every bound against every exact moment of one randomizer and one n."""
    eps0, R, orders = sp.log(t), randomizers(t)[name], tuple(orders)
    upper = {(bound, order): form(eps0, n, order) for bound, form in UPPER.items() for order in orders}
    for what, order, moment in moments(name, R, n, orders):
        truth = exact.renyi_divergence(moment, order, digits=_DIGITS)
        for bound in UPPER:
            value = upper[bound, order]
            where = (
                f"{name}, t = {t}, n = {n}, order {order}, {what}: {bound} {value!r}, exact {mpmath.nstr(truth, 17)}"
            )
            yield Comparison(bound, what, bool(value >= truth), where)
    if name == "2-RR":
        for order in orders:
            truth = exact.renyi_divergence(exact.two_rr_moment(eps0, n, order), order, digits=_DIGITS)
            for bound, form in LOWER.items():
                value = form(eps0, n, order)
                where = f"t = {t}, n = {n}, order {order}: {bound} {value!r}, exact {mpmath.nstr(truth, 17)}"
                yield Comparison(bound, "2-RR", bool(value <= truth), where)


def main() -> int:
    """The full grid."""
    counts, violations = Counter[str](), []
    cases = [(t, name, n) for t in RATIOS for name in BRUTE_FORCE for n in USERS]
    for case in tqdm(cases, unit="case", desc="Rényi"):
        for comparison in check(*case):
            counts[comparison.bound] += 1
            if not comparison.holds:
                violations.append(comparison)
    for comparison in violations:
        print(f"VIOLATION: {comparison.detail}")
    listed = ", ".join(f"{bound} {number}" for bound, number in counts.items())
    print(f"Rényi bounds against exact moments: {listed}; {counts.total()} comparisons, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    raise SystemExit(main())
