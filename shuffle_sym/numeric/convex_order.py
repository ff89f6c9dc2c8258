r"""Laws that are below another one in convex order, certified in doubles: sums of them are never the worst.

A law A is below B if E f(A) <= E f(B) for every convex f; then a term with the law A may be replaced by one with law B
in every mean positive part of a sum. For equal means that is: π_A <= π_B with π(k) = E[G − k]_+. Both are convex, and
π_B is straight between neighbouring values of B: π_B − π_A is concave there, and its sign at the values of B decides.
At the largest value of B it is 0 if A has none above, at the smallest if A has none below.
"""

import numpy as np

from shuffle_sym.algebra.rounding import FLOAT_ERROR, UNIT_ROUNDOFF
from shuffle_sym.numeric.transforms import Array


def same_means(values: Array, probabilities: Array) -> bool:
    """Whether the means of all rows are the same as far as doubles can tell."""
    means, sizes = (probabilities * values).sum(axis=1), (probabilities * np.abs(values)).sum(axis=1)
    errors = (3 * FLOAT_ERROR + (values.shape[1] + 4) * UNIT_ROUNDOFF) * sizes
    return bool((np.abs(means - means[0]) <= errors + errors[0]).all())


def undominated(values: Array, probabilities: Array) -> list[int]:
    """The rows that are not certain to be below another one, all with the same true mean; at least one is left.

    Values and probabilities are doubles with relative errors of at most FLOAT_ERROR, rows filled up with
    probabilities 0. Where doubles cannot tell, both laws stay.

    >>> undominated(np.array([[-1.0, 1.0], [-2.0, 2.0], [-3.0, 1.0]]), np.array([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]]))
    [1, 2]
    """
    rows = [(g[p > 0], p[p > 0]) for g, p in zip(values, probabilities, strict=True)]
    # What is above A is above all that is below A: a chain has a top, because nothing is strictly below itself.
    return [i for i, row in enumerate(rows) if not any(_below(row, other) for j, other in enumerate(rows) if j != i)]


def _below(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether the first law is certainly below the second one."""
    (g, p), (k, _) = one, other
    apart = 4 * FLOAT_ERROR  # both errors: that of k is at most that of g and FLOAT_ERROR of the difference
    inside = k.max() - g.max() > apart * abs(g.max())
    inside = inside and g.min() - k.min() > apart * abs(g.min())
    if not inside:
        return False
    k = k[(k > k.min()) & (k < k.max())]
    (low, low_error), (high, high_error) = _stop_loss(g, p, k), _stop_loss(*other, k)
    return bool((high - low > low_error + high_error).all())


def _stop_loss(values: Array, probabilities: Array, k: Array) -> tuple[Array, Array]:
    """E[G − k]_+ for each k, and bounds on the error: of the inputs, of k and of the sum."""
    terms = probabilities * np.maximum(values - k[:, None], 0.0)
    sizes = (probabilities * (np.abs(values) + np.abs(k[:, None]))).sum(axis=1)
    return terms.sum(axis=1), (4 * FLOAT_ERROR + (len(values) + 8) * UNIT_ROUNDOFF) * sizes
