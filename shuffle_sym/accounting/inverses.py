r"""Questions the other way round: which randomizer, or how many users, a target (ε, δ) allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.model.continuous import Continuous
from shuffle_sym.model.decomposition import Decomposition
from shuffle_sym.model.randomizer import Randomizer
from shuffle_sym.numeric.search import boundary

_LARGEST_EPS0 = 60.0
_SMALLEST_EPS0 = 1e-12
_MOST_USERS = 2**53

Source = Randomizer | Decomposition | Continuous


def calibrate(make: Callable[[Any], Source], n: Any, eps: Any, delta: Any, *, rtol: float = RTOL) -> Interval:
    r"""The largest ε0 for which n users of ``make(eps0)`` are (ε, δ)-DP after shuffling.

    ``make`` turns an ε0 into a randomizer (or a decomposition). The *lower* end meets the target for certain, the upper
    end misses it for certain; they are within ``rtol`` of each other. That nothing beyond the upper end meets it again
    takes a δ(ε) that grows with ε0, which is not checked.

    One user of 2-RR has δ = (t − α)/(t + 1), which is 1/4 at α = 2 for t = 3:

    >>> import shuffle_sym as ss
    >>> sp.log(3) in calibrate(ss.BinaryRR, n=1, eps=sp.log(2), delta=0.25)
    True
    """
    if not callable(make):
        raise TypeError(f"make must be a function of eps0 that returns a randomizer, got {make!r}")
    n, target, number = arguments.users(n), arguments.delta_target(delta), arguments.central_epsilon(eps)
    rtol = arguments.relative_tolerance(rtol)

    def delta_at(eps0: float, delta_rtol: float) -> Interval:
        source = make(sp.Rational(eps0))
        if not isinstance(source, (Randomizer, Decomposition, Continuous)):
            raise TypeError(f"make must return a randomizer or a Decomposition, got {source!r}")
        answer: Interval = Shuffle(source, n).delta(number, rtol=delta_rtol)
        return answer

    meets = max(float(number), _SMALLEST_EPS0)
    while delta_at(meets, 0.02).upper > target:
        meets /= 4
        if meets < _SMALLEST_EPS0:
            raise ValueError(f"delta = {target:g} at eps = {number} is not reached by any eps0 >= {_SMALLEST_EPS0:g}")
    fails = max(2 * meets, meets + 1)
    while (answer := delta_at(fails, 0.02)).lower <= target:
        meets = fails if answer.upper <= target else meets
        fails *= 1.5
        if fails > _LARGEST_EPS0:
            raise ValueError(
                f"delta = {target:g} at eps = {number} is met by every eps0 up to {_LARGEST_EPS0:g} that was tried: "
                f"there delta(eps) is {answer}"
            )
    return Interval(*boundary(delta_at, target, meets, fails, rtol), "calibrate")


def users_needed(source: Source, eps: Any, delta: Any, *, rtol: float = RTOL) -> Interval:
    r"""The smallest number of users for which the shuffled ``source`` is (ε, δ)-DP.

    ``upper`` users are enough for certain, and fewer than ``lower`` are not; the two are within ``rtol`` of each other,
    or equal.

    >>> import shuffle_sym as ss
    >>> n = users_needed(ss.KRR(k=10, eps0=4), eps=1, delta=1e-6)
    >>> ss.Shuffle(ss.KRR(k=10, eps0=4), int(n.upper)).delta(1, rtol=1e-5).upper <= 1e-6
    True
    """
    target, number = arguments.delta_target(delta), arguments.central_epsilon(eps)
    rtol = arguments.relative_tolerance(rtol)

    def delta_at(n: float, delta_rtol: float) -> Interval:
        answer: Interval = Shuffle(source, round(n)).delta(number, rtol=delta_rtol)
        return answer

    if delta_at(1, 0.02).upper <= target:
        return Interval(1, 1, "users_needed")
    fails, meets = 1.0, 4.0
    while (answer := delta_at(meets, 0.02)).upper > target:
        fails = meets if answer.lower > target else fails
        meets *= 8
        if meets > _MOST_USERS:
            raise ValueError(
                f"delta = {target:g} at eps = {number} is not reached by any n <= 2^53: "
                f"there delta(eps) is still at least {answer.lower:.6g}"
            )
    enough, too_few = boundary(delta_at, target, meets, fails, rtol)
    enough, too_few = round(enough), round(too_few)
    while enough - too_few > 1 and enough - too_few <= max(8, rtol * enough):
        # Whole numbers: close in on the very one as long as that costs nothing.
        middle = (enough + too_few) // 2
        answer = delta_at(middle, 1e-5)
        if answer.lower <= target < answer.upper or enough > 10**6:
            break
        enough, too_few = (middle, too_few) if answer.upper <= target else (enough, middle)
    return Interval(min(too_few + 1, enough), enough, "users_needed")
