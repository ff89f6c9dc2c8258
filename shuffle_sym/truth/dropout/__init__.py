r"""The drop-out bound in exact fractions: no pair of neighbouring datasets of n users is above it (ours).

For an input x of another user and w = R(x0) − α R(x1) let :math:`G_x = w(Y)/R(x)(Y)`, Y drawn from R(x), and let
:math:`s_x = \sum_{y : R(x)(y) = 0} [w(y)]_+` be the messages that are impossible under x. For a multiset S of N inputs

.. math:: \Phi(S) = \frac1N \Bigl( \mathbb E \Bigl[ \sum_{x \in S} G_x \Bigr]_+ + \sum_{x \in S} s_x \Bigr), \qquad
          \Phi^*_N = \max_{|S| = N} \Phi(S) .

**Theorem 1.** With :math:`\gamma = \sum_y \min_x R(x)(y)` and :math:`D_1 = D_\alpha(R(x_0) \| R(x_1))`, for every α > 0

.. math:: D_\alpha \;\le\; \sum_{j=1}^{n-1} \gamma (1-\gamma)^{j-1}\, \Phi^*_{n-j} + (1-\gamma)^{n-1} D_1 .

*Proof.* Each other user flips a coin that comes up with probability :math:`\min_x R(x)(y)/R(x_i)(y)` given the message
y. Go through them in random order up to the first i* whose coin comes up, at place j. Reveal who came before with
their messages, and the *message* of i*. It is equally likely under every input, so i* is uniform among the n − j users
who are left. Let user 1 sit down on the empty chair, and reveal who sends what: a law whose divergence is Φ of those
chairs. Nothing revealed depended on user 1 before. If no coin comes up, D_1 is left.

For one dataset Φ* is an average over the chairs that can be left (`dataset_bound`, which is Theorem G and allows chairs
of different weights). Φ({x}) = D_1 for every x and Φ*_N falls with N, so the bound falls with n and is at most D_1.

*Related.* Takagi and Liew (arXiv 2601.19154) leave a band between an upper and a lower shuffle index; for finite
randomizers with full support the limit of this bound is the lower end. Shvets (2602.09029, 2603.21197) has two inputs,
in the limit, and 2-RR as extremal when all others are alike; here others may have any inputs, at every n. Feldman and
Shenfeld (2502.08202) study random allocation: the experiment with the chairs, when all of them have one law.
"""

from shuffle_sym.truth.dropout.chairs import largest_means
from shuffle_sym.truth.dropout.theorems import any_randomizer_bound, bound, bounds, dataset_bound, worst_bound
from shuffle_sym.truth.dropout.user_laws import extreme_laws, laws, pruned

__all__ = [
    "any_randomizer_bound",
    "bound",
    "bounds",
    "dataset_bound",
    "extreme_laws",
    "largest_means",
    "laws",
    "pruned",
    "worst_bound",
]
