"""The mean-preserving lattice."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from shuffle_sym.numeric.lattice import positive_part


def test_values_that_are_multiples_of_the_spacing_lose_nothing():
    # G is −1 or 1 with probability 1/2: E[S]_+ is n/2 · C(n−1, (n−1)/2)/2^(n−1) for odd n.
    n = 101
    interval = positive_part(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), n, 1e-6)
    truth = Fraction(n, 2) * Fraction(math.comb(n - 1, (n - 1) // 2), 2 ** (n - 1)) / n
    assert interval.lower <= truth <= interval.upper
