r"""m of n users, drawn without replacement, shuffled: bounded by m shuffled users.

Let q = m/n, α >= 1 and α' = 1 + q(α − 1), and let the datasets differ in one user, x0 or x1. The batch holds that user
with probability q. Write P and Q for its shuffled messages given that it does, in the two worlds, and μ for those given
that it does not, which are the same in both. Then, exactly,

.. math:: D_{\alpha'}\bigl((1-q)\mu + qP \,\|\, (1-q)\mu + qQ\bigr)
          = q\, D_\alpha\bigl(P \,\|\, (1-\beta)\mu + \beta Q\bigr), \qquad \beta = \alpha'/\alpha,

because :math:`(1-q)(\alpha'-1) = q(\alpha - \alpha')` (Balle, Barthe and Gaboardi 2018, advanced joint convexity).

**Upper.** :math:`D'_{\alpha'} \le q \sup D_\alpha` over the neighbouring datasets of m shuffled users, who replace one
input. *Proof.* D_α is convex in its second argument: the right side is at most
:math:`q(1-\beta) D_\alpha(P\|\mu) + q\beta D_\alpha(P\|Q)`. P and Q are means over the m − 1 others T in the batch,
uniform; given T the two are neighbours, and D_α is jointly convex. For μ draw T' uniform of size m among the others
and j uniform in T': T = T' without j is uniform of size m − 1, so P is a mean of datasets (x0, T) and μ of (x_j, T)
over the same (T, j): neighbours again, or equal. ∎

**Lower.** One pair of datasets in which all others have one input x. A batch without the differing user then holds one
x more, so that the divergence is that of m users in which the first one sends from q R(x_b) + (1 − q) R(x): a
decomposition, exactly (`decomposition.in_batch`). The bound above is attained only in special datasets: for 3-RR,
e^ε0 = 3, n = 4, m = 2 at α = 6/5 it is 7/50, and the largest divergence of all datasets is 17/125.

Line by line these are the derivations `batch_identity`, `batch_upper` and `batch_lower`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import mpmath
import sympy as sp

from shuffle_sym.accounting.attacks import Datasets
from shuffle_sym.accounting.mechanism import CrowdOfUsers, Mechanism
from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.model import decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth import crowds


class Batch(CrowdOfUsers):
    """A batch of the users of a mechanism's size, drawn from more."""

    def __init__(self, batch: Mechanism, users: int) -> None:
        self.batch, self.users, self.n = batch, users, batch.n
        self.q = sp.Rational(batch.n, users)

    @cached_property
    def below(self) -> Datasets:
        tried = self.batch.below
        pairs = [
            (replace(neighbours, n=self.users), decomposition.in_batch(law.D, self.q))
            for neighbours, law in zip(tried.neighbours, tried.laws, strict=True)
        ]
        return Datasets(pairs, self.n)

    @cached_property
    def max_loss(self) -> sp.Expr:
        largest = self.batch.max_loss
        return sp.oo if largest is sp.oo else sp.log(1 + self.q * (sp.exp(largest) - 1))

    def _inside(self, ratio: Ratio) -> Ratio:
        """α of the batch, where α' = 1 + q(α − 1) is asked for."""
        return Ratio(alpha=1 + (ratio.alpha - 1) / self.q)

    def from_one(self, ratios: Sequence[Ratio], rtol: float, method: str) -> list[Interval]:
        q = float(self.q) * (1 + 4 * UNIT_ROUNDOFF)
        uppers = self.batch.above.from_one([self._inside(ratio) for ratio in ratios], rtol, method)
        ends = [min(rounding.above(q * answer.upper), 1.0) if answer.upper else 0.0 for answer in uppers]
        lowers = self.below.at_least(ratios, rtol, method, ends)
        return [
            replace(upper, lower=lower.lower, upper=end, lower_by=lower.lower_by)
            for lower, upper, end in zip(lowers, uppers, ends, strict=True)
        ]

    def epsilon(self, target: float, rtol: float, method: str) -> Interval:
        """The lower end from datasets, the upper end from that of the batch at δ/q."""
        low = self.below.epsilon(target, rtol, method)
        inside = rounding.down(Fraction(target) / Fraction(int(self.q.p), int(self.q.q)))
        if inside >= 1:
            return replace(low, lower=0.0, upper=0.0, upper_by="the share of users in a batch")
        upper = self.batch.epsilon(inside, rtol, method)
        end = math.log1p(float(self.q) * math.expm1(upper.upper)) if upper.upper < 700 else upper.upper
        return replace(low, upper=end * (1 + 16 * UNIT_ROUNDOFF), upper_by=upper.upper_by)

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """The maximum over all neighbouring datasets, by brute force; probabilities and α have to be rational."""
        R = self.batch.R
        if not isinstance(R, Randomizer):
            raise TypeError(f"exact values are for a randomizer with finitely many messages, got {R!r}")
        return crowds.worst_of_batches(R, self.n, self.users, alpha)

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        ends = [pair.log_delta(ratio, rtol).lower for pair in self.below.laws]
        inside = self.batch.log_delta(self._inside(ratio), rtol)
        log_q = math.log(self.q)
        upper = inside.upper + log_q + 8 * UNIT_ROUNDOFF * (1 + abs(log_q) + abs(inside.upper))
        upper = upper if math.isfinite(inside.upper) else inside.upper
        neighbours = self.below.neighbours[ends.index(max(ends))]
        return Interval(max(ends), upper, "contour", neighbours, inside.upper_by)

    def __repr__(self) -> str:
        return repr(self.batch)
