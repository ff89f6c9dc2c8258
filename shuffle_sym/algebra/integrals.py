r"""Integrals of analytic functions, enclosed by balls: Gauss–Legendre rules on parts of an interval.

Let f be analytic and at most M in absolute value on the ellipse around [−1, 1] whose half axes are (r ± 1/r)/2. Its
Chebyshev coefficients are at most 2M r^{−k}; a rule with m ≥ 2 nodes integrates each Chebyshev polynomial of degree
below 2m exactly, and the odd ones; the others it misses by at most 2 + 2/(k² − 1) ≤ 32/15. The sum of these errors is
at most (64/15) M r^{−2m}/(1 − r^{−2}) (Trefethen, "Is Gauss quadrature better than Clenshaw–Curtis?", SIAM Review 50,
2008, Theorem 4.5).

python-flint has such an integral too, ``acb.integral``, and it is not used: it calls the function from C and goes on
when the function raises an exception, so that an interrupt may be lost, and with it the value.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import flint
from flint import acb, arb

from shuffle_sym.algebra import balls
from shuffle_sym.algebra.errors import VerificationError

_ELLIPSES = (1, 2, 3, 5, 9, 17)  # log2 of r; with others there are more nodes or more parts, never a wrong value
_NODES = 8  # numbers of nodes are multiples of it; with fewer, more rules are made, with more, more nodes are wasted
_MOST_PARTS = 20_000  # a few seconds; fewer refuse integrals that can be had, more take longer to refuse the others


@lru_cache(maxsize=512)
def rule(nodes: int, bits: int) -> tuple[tuple[arb, arb], ...]:
    """The nodes in [−1, 1] of a Gauss–Legendre rule and their weights."""
    with balls.LOCK, balls.workprec(bits):
        return tuple(arb.legendre_p_root(nodes, k, weight=True) for k in range(nodes))


def integral(density: Callable[[Any], Any], left: arb, right: arb) -> arb:
    """A ball that contains the integral of a function from one place to another, as narrow as the bits of now and the
    balls of the function allow; refused if it is not seen to be finite. On complex balls the function must be finite
    only where it is analytic, as `balls.compiled` is.

    >>> from fractions import Fraction
    >>> with balls.LOCK, balls.workprec(100):
    ...     third = integral(lambda y: y * y, arb(0), arb(1))
    >>> low, high = balls.ends(third)
    >>> low <= Fraction(1, 3) <= high, high - low < Fraction(1, 2**90)
    (True, True)
    """
    total, parts = arb(0), [(left, right)]
    for a, b in parts:  # The halves of a part wait at the end: those next to a branch point come last.
        middle, half = (a + b) / 2, (b - a) / 2
        around = 2 * half * acb(density(acb(a.union(b)))).real
        part = around if around.rad() <= _goal(total) else _by_nodes(density, middle, half, total)
        if part is not None and part.is_finite():
            total += part
        elif len(parts) < _MOST_PARTS:
            parts += [(a, middle), (middle, b)]
        else:
            raise VerificationError(f"the integral from {float(left):.6g} to {float(right):.6g} cannot be enclosed")
    return total


def _goal(size: arb) -> arb:
    """The error that is small enough for an integral of this size."""
    return abs(size).lower() * arb(2) ** -flint.ctx.prec


def _by_nodes(density: Callable[[Any], Any], middle: arb, half: arb, total: arb) -> arb | None:
    """The integral over a part from the fewest nodes whose error is small enough, next to ``total`` or to the part
    itself; none if there would have to be more of them than bits."""
    goal = arb.max(_goal(total), _goal(half * acb(density(acb(middle))).real))
    bits = most = flint.ctx.prec
    best = None
    for e in _ELLIPSES:
        long, short = (half * arb(0, (2.0**e + sign * 2.0**-e) / 2) for sign in (1, -1))
        error = 6 * abs(half * acb(density(acb(middle + long, short)))).upper()  # (64/15)/(1 - r^-2) is below 6
        if not error.is_finite():
            break
        wanted = float((error / goal).log().mid()) / (2 * e * math.log(2))
        # Estimates choose the number of nodes only: the error that so many nodes make is added below.
        if wanted <= most - _NODES:
            most = max(math.ceil(wanted / _NODES), 1) * _NODES
            best = most, error * arb(2) ** (-2 * e * most)
    if best is None:
        return None
    places = rule(best[0], bits)
    return half * sum((w * acb(density(acb(middle + half * x))).real for x, w in places), arb(0)) + best[1] * arb(0, 1)
