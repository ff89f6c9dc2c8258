r"""Inverse questions: which randomizer, or how many users, a target (ε, δ) allows."""

import inspect
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy as sp

from shuffle_sym.accounting.shuffle import Shuffle
from shuffle_sym.algebra import arguments
from shuffle_sym.algebra.interval import RTOL, Interval
from shuffle_sym.model.randomizer import LocalRandomizer
from shuffle_sym.numeric.search import boundary

_LARGEST_EPS0 = 60.0
_SMALLEST_EPS0 = 1e-12
_FIRST_USERS, _MOST_USERS = 256.0, 2**53


def calibrate(make: Callable[[Any], Any], n: Any, eps: Any, delta: Any, *, rtol: float = RTOL) -> Interval:
    r"""The largest ε0 for which n users of ``make(eps0)`` are (ε, δ)-DP after shuffling.

    ``make`` is a function that turns an ε0 into a randomizer or a decomposition; ``eps`` and ``delta`` are the target.
    Where noise is given by σ, look for 1/σ: ``lambda inverse: ss.Gaussian(sigma=1/inverse)``.
    Use the *lower* end of the answer: it meets the target for all neighbouring datasets. At the upper end two of them
    miss it. Each end is found within ``rtol``. It is assumed, not checked, that δ(ε) grows with ε0 beyond the upper
    end.

    One user of 2-RR has δ = (t − α)/(t + 1), which is 1/4 at α = 2 for t = 3:

    >>> import shuffle_sym as ss
    >>> sp.log(3) in calibrate(ss.BinaryRR, n=1, eps=sp.log(2), delta=0.25)
    True
    """
    if not callable(make):
        raise TypeError(f"make must be a function of eps0, as in lambda eps0: KRR(k=10, eps0=eps0), got {make!r}")
    _refuse_other_arguments(make)
    n, target, number = arguments.users(n), arguments.delta_target(delta), arguments.central_epsilon(eps)
    rtol = arguments.relative_tolerance(rtol)

    @lru_cache(maxsize=64)
    def shuffled(eps0: float) -> Shuffle:
        source = make(sp.Rational(eps0))
        try:
            return Shuffle(source, n)
        except TypeError:
            raise TypeError(f"make must return a randomizer or a Decomposition, got {source!r}") from None

    def ends_at(eps0: float, delta_rtol: float) -> Interval:
        answer: Interval = shuffled(eps0).delta(number, rtol=delta_rtol)
        return answer

    # At ε0 = ε there is δ = 0. A loss without bound never has that: there the search begins elsewhere and takes short
    # steps, because a δ far below the target takes long.
    bounded = shuffled(max(float(number), _SMALLEST_EPS0)).max_loss is not sp.oo
    if not bounded:
        _refuse_sigma(make)
    meets, fails = max(float(number), _SMALLEST_EPS0) if bounded else 1.0, 0.0  # 0: none is known yet
    while (answer := ends_at(meets, 0.02)).upper > target:
        fails = meets if answer.lower > target else fails
        meets /= 4 if bounded else 1.5
        if meets < _SMALLEST_EPS0:
            raise ValueError(
                f"delta = {target:g} at eps = {eps} is not reached by any eps0 >= {_SMALLEST_EPS0:g}; ask for a larger "
                "delta or eps, or for more users"
            )
    fails = fails or (max(2 * meets, meets + 1) if bounded else 1.5 * meets)
    while (answer := ends_at(fails, 0.02)).lower <= target:
        meets = fails if answer.upper <= target else meets
        fails *= 1.5
        if fails > _LARGEST_EPS0:
            raise ValueError(
                f"delta = {target:g} at eps = {eps} is met by every eps0 up to {_LARGEST_EPS0:g} that was tried: "
                f"there delta(eps) is {answer}"
            )
    lower, upper = _boundaries(shuffled, number, target, meets, fails, rtol)
    bound, datasets = _reasons(shuffled(lower), shuffled(upper), number, rtol)
    return Interval(lower, upper, "calibrate", lower_by=bound, upper_by=None if datasets is None else str(datasets))


def _refuse_other_arguments(make: Callable[[Any], Any]) -> None:
    """A class of the catalogue whose first argument is not ε0 would take ε0 for something else."""
    if not inspect.isclass(make) or not issubclass(make, LocalRandomizer):
        return
    names = tuple(inspect.signature(make).parameters)
    if "eps0" not in names:
        raise TypeError(f"make must be a function of eps0, got {make.__name__}, which has {', '.join(names)}")
    if names[0] != "eps0":
        rest = ", ".join(f"{name}=…" for name in names if name != "eps0")
        raise TypeError(
            f"make must be a function of eps0 alone, got {make.__name__}, which has other arguments: say "
            f"lambda eps0: {make.__name__}({rest}, eps0=eps0)"
        )


def _refuse_sigma(make: Callable[[Any], Any]) -> None:
    """With a standard deviation in place of ε0 the loss falls, and no search for the largest one ends."""
    if getattr(make(sp.Integer(2)), "sigma", None) == 2:
        raise ValueError(
            "make must be a function of eps0 (a larger one is less private), got one of sigma (more private). Take the "
            "inverse: lambda inverse: Gaussian(sigma=1/inverse); one over the lower end then meets the target"
        )


def _boundaries(
    shuffled: Callable[[float], Shuffle], eps: sp.Expr, target: float, meets: float, fails: float, rtol: float
) -> tuple[float, float]:
    """The last point at which the upper end of δ is at most the target, and the first at which the lower end is above
    it, both for certain: two searches where the ends come from different sources, one otherwise."""
    searches = {}
    for side in ("bound", "attack"):

        def delta_at(x: float, delta_rtol: float, side: str = side) -> Interval:
            return shuffled(x).one_sided(side, eps, delta_rtol)

        searches[side] = boundary(delta_at, target, meets, fails, rtol)
        if shuffled(meets).closes:
            return searches[side]
    return searches["bound"][0], searches["attack"][1]


def _reasons(meets: Shuffle, fails: Shuffle, eps: sp.Expr, rtol: float) -> tuple[str | None, Any]:
    """The bound that shows the target to be met by the first, and the datasets that miss it for the second."""
    return meets.one_sided("bound", eps, rtol).upper_by, fails.one_sided("attack", eps, rtol).lower_by


def users_needed(source: Any, eps: Any, delta: Any, *, rtol: float = RTOL) -> Interval:
    r"""The smallest number of users for which the shuffled ``source`` is (ε, δ)-DP.

    ``upper`` users are enough for certain: the bound for all datasets says so. Fewer than ``lower`` are not enough: two
    datasets of ``lower`` − 1 users miss the target. Each is found within ``rtol``, or exactly where that costs nothing.

    What holds at one n holds on one side of it, since δ does not grow with n. For a mechanism, what n + 1 users send is
    made from what n of them send, the one who differs included, by adding a message that has the same law in both
    datasets and shuffling again. For a decomposition, a mean of n + 1 terms is the mean of the n + 1 means that leave
    one out, so by Jensen :math:`E[S_{n+1}]_+/(n+1) \le E[S_n]_+/n`.

    >>> import shuffle_sym as ss
    >>> n = users_needed(ss.KRR(k=10, eps0=4), eps=1, delta=1e-6)
    >>> ss.Shuffle(ss.KRR(k=10, eps0=4), int(n.upper)).delta(1, rtol=1e-5).upper <= 1e-6
    True
    """
    target, number = arguments.delta_target(delta), arguments.central_epsilon(eps)
    rtol = arguments.relative_tolerance(rtol)

    @lru_cache(maxsize=64)
    def of(n: int) -> Shuffle:
        return Shuffle(source, n)

    def shuffled(n: float) -> Shuffle:
        return of(round(n))

    def ends_at(n: float, delta_rtol: float) -> Interval:
        answer: Interval = shuffled(n).delta(number, rtol=delta_rtol)
        return answer

    fails, meets, known = 1.0, _FIRST_USERS, [(1.0, 0.0)]
    while (answer := ends_at(meets, 0.02)).upper > target:
        fails = meets if answer.lower > target else fails
        known = [known[-1], (meets, math.log(answer.upper / target))]
        meets = _more_users(*known)
        if meets > _MOST_USERS:
            raise ValueError(
                f"delta = {target:g} at eps = {eps} is not {'' if answer.lower > target else 'known to be '}reached by "
                f"any n <= 2^53: there delta(eps) is still at least {answer.lower:.6g}, our bound {answer.upper:.6g}"
            )
    decided: bool | None = False
    if fails == 1:
        alone = ends_at(1, 0.02)
        decided = alone.upper <= target or (False if alone.lower > target else _met_by_one(source, number, delta))
    if decided:
        return Interval(1, 1, "users_needed")
    enough, too_few = (round(x) for x in _boundaries(shuffled, number, target, meets, fails, rtol))
    if shuffled(enough).closes:
        enough, too_few = _closest(ends_at, target, enough, too_few, rtol)
    bound, datasets = _reasons(shuffled(enough), shuffled(too_few), number, rtol)
    if too_few == 1 and decided is None:
        too_few, datasets = 0, None
    return Interval(min(too_few + 1, enough), enough, "users_needed", lower_by=datasets, upper_by=bound)


def _more_users(before: tuple[float, float], last: tuple[float, float]) -> float:
    """Where log δ, about a straight line in n, is below that of the target: from two points (n, log δ over it), and at
    most eight times as many, because a δ far below the target takes long."""
    (m, above), (n, left) = before, last
    farther = 1.2 * (n + (n - m) * left / (above - left)) + 1 if above > left else math.inf
    return float(min(round(min(farther, 8 * n)), 8 * n))


def _met_by_one(source: Any, eps: sp.Expr, delta: Any) -> bool | None:
    """Whether one user alone meets the target, decided exactly: no shuffling is needed where δ is the target itself.
    None if there is no exact value: for continuous noise and families of randomizers."""
    try:
        value = Shuffle(source, 1).exact(sp.exp(eps))
    except TypeError:
        return None
    return bool(arguments.exact_number(value, "delta") <= arguments.exact_number(delta, "delta"))


def _closest(
    ends_at: Callable[[float, float], Interval], target: float, enough: int, too_few: int, rtol: float
) -> tuple[int, int]:
    """Whole numbers: close in on the very one as long as that costs nothing."""
    while enough - too_few > 1 and enough - too_few <= max(8, rtol * enough):
        middle = (enough + too_few) // 2
        answer = ends_at(middle, 1e-5)
        if answer.lower <= target < answer.upper or enough > 10**6:
            break
        enough, too_few = (middle, too_few) if answer.upper <= target else (enough, middle)
    return enough, too_few
