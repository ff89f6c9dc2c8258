r"""m of n users, drawn without replacement, shuffled.

Let q = m/n, α >= 1 and α' = 1 + q(α − 1), and let the datasets differ in one user, x0 or x1. The batch holds that user
with probability q. Write P and Q for its shuffled messages given that it does, in the two worlds, and μ for those given
that it does not, which are the same in both; (1 − q)(α' − 1) = q(α − α') (`derivations.batch_identity`). What is seen
under μ only adds [(1 − q)(1 − α')μ]_+ = 0 to the divergence, because α' >= 1: below, P and Q decide what can be seen.

**Lower.** One pair of datasets in which all others have one input: a decomposition, exactly (`decomposition.in_batch`,
`derivations.batch_lower`).

**Upper, of finitely many messages.** The bounds for m shuffled users of the laws `in_batch`, of the blanket as of all
others alike, hold for all datasets of the n users. *Proof for the blanket.* c <= R(x) for all x, u = c/γ: user by user
a message comes from u with probability γ. Reveal the set V of the others in the batch for whom it does not, with their
messages; the m − |V| messages that are left are the first user's and N − 1 from u, or N from u, N = m − |V|. The same
V and messages have under μ the probability that they have under P and Q, times γm/N: there are (n − m)/(m − |V|)
times as many batches, each (m/(n − m))γ times as likely. So

.. math:: D_{\alpha'} \le q\, \mathbb E\Bigl[\frac1N \Bigl(\sum_{k=1}^N \frac{R(x_0) - \alpha' R(x_1)}{u}(z_k)
          - (\alpha - \alpha')\gamma m\Bigr)\Bigr]_+, \qquad z_k \sim u, \quad N - 1 \sim \mathrm{Bin}(m-1, \gamma),

which is the divergence of m users of the blanket ``in_batch``, term by term. *For drop-out* (`truth.dropout`) let the
others in the batch be asked in a random order, T in P and Q, T' in μ, and in μ let the chair of the user i who drops
out, at place j, go away with the user. Then m − j named chairs are left in all three. A given order of the j − 1
before, message of i and set of chairs are equally likely in all three: in μ, i is any of n − m users, and
(n − m)/C(n−1, m) · (m−j)!/m! = 1/C(n−1, m−1) · (m−j)!/(m−1)!. On the chairs are the laws of their users, in P and Q
with one of them taken by the first user: what is left is the mean positive part of the terms
:math:`q G_x - (1-q)(\alpha'-1)`, those of ``in_batch``. If nobody drops out, leave μ away: q times the divergence of
R(x0) from R(x1) at α' is left. ∎

**Upper, of noise and where only ε0 is known.** :math:`D'_{\alpha'} \le q \sup D_\alpha` over the neighbouring datasets
of m shuffled users (`derivations.batch_upper`). It may be wide: for 10-RR, ε0 = 4, 1,000 of 10,000 users and δ = 1e-6
it gives 0.233 where the truth is 0.1097.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import mpmath
import sympy as sp

from shuffle_sym.accounting.attacks import Datasets
from shuffle_sym.accounting.bounds import PairOfInputs, Prepared, of_prepared, prepared
from shuffle_sym.accounting.mechanism import Crowd, Mechanism, refuse_less_than_proofs
from shuffle_sym.accounting.sources import Between, PairOfLaws, Source
from shuffle_sym.algebra import balls, rounding
from shuffle_sym.algebra.interval import Interval
from shuffle_sym.algebra.rounding import UNIT_ROUNDOFF
from shuffle_sym.model import decomposition
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.gparv import Ratio
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.truth import crowds


class Batch(Crowd):
    """A batch of the users of a mechanism's size, drawn from more."""

    def __init__(self, batch: Mechanism, users: int) -> None:
        self.batch, self.users, self.n = batch, users, batch.n
        self.q = sp.Rational(batch.n, users)

    @cached_property
    def attack(self) -> Datasets:
        pairs = [
            (replace(at, n=self.users), PairOfLaws(decomposition.in_batch(laws.D, self.q), self.n))
            for at, laws in self.batch.attack.pairs
        ]
        return Datasets(pairs, self.n)

    @cached_property
    def bounds(self) -> Source:
        """Those of users with the laws of a batch; of noise, and where only ε0 is known, a share of those of all m."""
        if not isinstance(self.batch.R, Randomizer):
            return ShareOfBatch(self.batch.bounds, self.q, self.max_loss)
        known = prepared(self.batch.R)
        pairs = [
            PairOfInputs(
                decomposition.in_batch(pair.blanket, self.q),
                _there_or_not(pair.local, self.q),
                pair.laws and tuple(decomposition.in_batch(D, self.q) for D in pair.laws),
            )
            for pair in known.pairs
        ]
        return of_prepared(Prepared(tuple(pairs), known.gamma, self.max_loss), self.n)

    @cached_property
    def max_loss(self) -> sp.Expr:
        largest = self.batch.max_loss
        return sp.oo if largest is sp.oo else sp.log(1 + self.q * (sp.exp(largest) - 1))

    def epsilon(self, target: float, rtol: float, method: str = "auto") -> Interval:
        if target >= self.q:
            return Interval(0.0, 0.0, upper_by="the share of users in a batch")
        return super().epsilon(target, rtol, method)

    def refuse_what_no_epsilon_meets(self, target: float) -> None:
        refuse_less_than_proofs(self.batch.R, self.q, target)

    def exact(self, alpha: sp.Expr, digits: int) -> sp.Rational | mpmath.mpf:
        """The maximum over all neighbouring datasets, by brute force; probabilities and α have to be rational."""
        R = self.batch.R
        if not isinstance(R, Randomizer):
            raise TypeError(f"exact values are for a randomizer with finitely many messages, got {R!r}")
        return crowds.worst_of_batches(R, self.n, self.users, alpha)

    def __repr__(self) -> str:
        return repr(self.batch)


class ShareOfBatch(Source):
    """The bound of a batch from that of its m users alone: q times as much, at another α."""

    def __init__(self, inner: Source, q: sp.Rational, max_loss: sp.Expr) -> None:
        self.inner, self.q, self.max_loss, self.n = inner, q, max_loss, inner.n

    def _inside(self, ratio: Ratio) -> Ratio:
        """α of the batch, where α' = 1 + q(α − 1) is asked for."""
        return Ratio(alpha=1 + (ratio.from_one().alpha - 1) / self.q)

    def hockey_sticks(
        self, ratios: Sequence[Ratio], rtol: float, method: str = "auto", between: Between = None
    ) -> list[Interval]:
        q = float(self.q) * (1 + 4 * UNIT_ROUNDOFF)
        limits = between and [Interval(at.lower / q, max(at.upper / q, at.lower / q)) for at in between]
        answers = self.inner.hockey_sticks([self._inside(ratio) for ratio in ratios], rtol, method, limits)
        ends = [min(rounding.above(q * answer.upper), 1.0) if answer.upper else 0.0 for answer in answers]
        return [replace(answer, lower=end, upper=end) for answer, end in zip(answers, ends, strict=True)]

    def log_delta(self, ratio: Ratio, rtol: float) -> Interval:
        inside = self.inner.log_delta(self._inside(ratio), rtol)
        with balls.LOCK, balls.workprec(64):
            end = balls.upper(balls.ball(self.q).log()) + inside.upper
        end += 4 * UNIT_ROUNDOFF * abs(end) if end > -math.inf else 0.0
        return replace(inside, lower=end, upper=end)


def _there_or_not(D: Decomposition, q: sp.Expr) -> Decomposition:
    """The message of a user who is there with probability q, and who else is seen not to be."""
    a, b = ([*(q * mass for mass in masses), 1 - q] for masses in ([y.a for y in D.atoms], [y.b for y in D.atoms]))
    labels = [*(y.label for y in D.atoms), r"\text{void}"]
    return Decomposition(
        a, b, [*(y.c for y in D.atoms), 0], labels=labels, bindings=D.bindings, title="local randomizer"
    )
