r"""Where a condition stops to hold: bisection, Newton's method, and certified searches along δ(ε).

=====================  ==========================================================================================
`last_that_holds`      bisection between a number (int or float) where a condition holds and one where it does not
`increasing_roots`     roots of increasing functions, many at once, by Newton's method inside brackets
`smallest_epsilon`     the smallest ε with δ(ε) <= target, from certified bounds of δ
`smallest_eps_meeting` the smallest ε at which a bound of δ meets a target, from an ε at which it nearly does
`boundary`             where a monotone δ(x) crosses a target, in log x
=====================  ==========================================================================================
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from shuffle_sym.algebra import rounding
from shuffle_sym.algebra.interval import Interval

Array = npt.NDArray[np.float64]
Number = TypeVar("Number", int, float)
DeltaAt = Callable[[float, float], Interval]

LARGEST_EPS = 700.0  # e^700 is near the end of the doubles
_MAX_STEPS = 100
_MOST_BLUNT = 4  # bounds of δ that are wider than they should be, in one search: each may have taken long
_MOST_SECANTS = 30


def last_that_holds(
    holds: Callable[[Number], bool], good: Number, bad: Number, *, atol: float = 0.0, rtol: float = 0.0
) -> tuple[Number, Number]:
    """Two numbers next to each other, between ``good`` and ``bad``: the condition holds at the first, not the second.

    ``holds`` is taken to hold at ``good`` and not at ``bad``, on either side, and is not asked there. Next to each
    other means at a distance of at most ``atol``, or ``rtol`` relative to the larger; if both are 0, that there is no
    whole number, or no double, in between.

    >>> last_that_holds(lambda k: k * k <= 1000, 0, 1000)
    (31, 32)
    >>> last_that_holds(lambda x: x * x >= 2, 2.0, 1.0)
    (1.4142135623730951, 1.414213562373095)
    """
    whole = all(isinstance(end, int) for end in (good, bad))
    middle: Any
    while abs(good - bad) > max(atol, rtol * max(abs(good), abs(bad))):
        middle = (good + bad) // 2 if whole else (good + bad) / 2
        if middle in (good, bad):
            break
        good, bad = (middle, bad) if holds(middle) else (good, middle)
    return good, bad


def increasing_roots(
    function: Callable[[Array], tuple[Array, Array]],
    start: Array,
    low: Array,
    high: Array,
    close: Callable[[Array, Array], npt.NDArray[np.bool_]],
) -> Array:
    r"""About where increasing functions on x > 0 are zero, one for each entry, by Newton's method inside brackets.

    ``function(x)`` returns values and derivatives; ``close(values, derivatives)`` says where that is close enough. A
    step out of the bracket [``low``, ``high``] is replaced by its geometric mean, and a bracket narrower
    than 1e-3 of its lower end is close enough, too. What comes out for one entry does not depend on the others.

    >>> x = np.array([2.0, 9.0])
    >>> increasing_roots(lambda s: (s * s - x, 2 * s), x, x / x, x, lambda v, d: abs(v) < 1e-9 * d).round(6).tolist()
    [1.414214, 3.0]
    """
    x, roots, done = start, start, np.zeros(len(start), dtype=bool)
    for _ in range(200):
        x = np.where((low < x) & (x < high), x, np.sqrt(low * high))
        values, slopes = function(x)
        low, high = np.where(values < 0, x, low), np.where(values < 0, high, x)
        x = x - values / slopes
        roots = np.where(done, roots, np.clip(x, low, high))
        done |= close(values, slopes) | (high - low < 1e-3 * low)
        if done.all():
            break
    return roots


def smallest_epsilon(
    delta_at: DeltaAt,
    target: float,
    rtol: float,
    max_loss: float,
    *,
    sharpens: bool = True,
    start: float | None = None,
    largest: float = LARGEST_EPS,
) -> Interval:
    r"""Bounds on the smallest ε with δ(ε) <= target, for a δ(ε) that does not increase.

    ``delta_at(eps, rtol)`` returns certified bounds of δ. The upper end satisfies δ(upper) <= target for certain,
    the lower end δ(lower) > target (or is 0); ``max_loss`` is an ε at which δ is exactly 0, or inf, and then the upper
    end may be inf where the target cannot be told from the limit of δ. They are within
    ``rtol`` of each other, relative to ε or, for ε near 0, to the ε over which δ falls; if the values of δ are not
    sharp enough for that, they are as close as these allow. ``sharpens`` says whether a smaller ``rtol`` makes δ
    sharper; ``start`` is a guess, and no ε above ``largest`` is asked for.
    """
    at_zero = delta_at(0.0, 0.01)
    if at_zero.upper <= target:
        return Interval(0.0, 0.0)
    search = _EpsilonSearch(delta_at, target, rtol, max_loss, at_zero, sharpens, largest)
    search.guess = search.guess if start is None else start
    for _ in range(_MAX_STEPS):
        if search.high - search.low <= search.tolerance or not search.sharp_enough():
            break
        search.learn(search.next_point())
    return Interval(search.low, search.high)


class _EpsilonSearch:
    """The search for one ε: it is between ``low`` and ``high``, for certain.

    ``undecided`` are the ends of the range in which bounds of δ contained the target, with the tolerance ``delta_rtol``
    that δ has now; None if that did not happen. ``blunt`` counts the bounds of δ that were wider than they should be:
    to ask for sharper ones does not help then.
    """

    def __init__(
        self,
        delta_at: DeltaAt,
        target: float,
        rtol: float,
        max_loss: float,
        at_zero: Interval,
        sharpens: bool,
        largest: float,
    ) -> None:
        self.delta_at, self.target, self.rtol, self.at_zero = delta_at, target, rtol, at_zero.upper
        self.largest, self.sharpens = largest, sharpens
        self.low, self.high, self.blunt = 0.0, max_loss, 0
        self.undecided = (0.0, 0.0) if at_zero.lower <= target else None
        self.delta_rtol = max(rtol, 0.02)
        self.finest = min(rtol, 0.02) / 100 if sharpens else self.delta_rtol
        # sqrt(log δ(0) − log δ(ε)) is nearly a straight line in ε: interpolate in it.
        self.height = math.sqrt(max(math.log(self.at_zero) - math.log(target), 1e-12))
        self.points = [(0.0, 0.0)]
        self.guess, self.side = 2.5 * self.at_zero * math.sqrt(2) * self.height, 1

    @property
    def tolerance(self) -> float:
        """How close the two ends have to be."""
        return self.rtol * max(self.high if self.high < math.inf else self.low, self.at_zero)

    def sharp_enough(self) -> bool:
        """Whether the next value of δ may decide something, after making δ sharper where that helps; False if δ is as
        sharp as it gets and the range in which it does not decide fills the bracket."""
        if self.undecided is None:
            return True
        blurred = max(self._around()) <= self.tolerance / 4
        if self.blunt:
            return not blurred and self.blunt <= _MOST_BLUNT
        # On the line log δ falls by 2·height²/ε times the tolerance over it.
        needed = 2 * self.height**2 * self.tolerance / max(self.undecided[0], self.tolerance) / 3
        if not blurred and self.delta_rtol <= max(needed, self.finest):
            return True
        if self.delta_rtol <= self.finest:
            return False
        self.delta_rtol, self.undecided = self.delta_rtol / 8, None
        # A line through a blurred point and a sharp one next to it would lead anywhere.
        del self.points[max(len(self.points) - 1, 1) :]
        return True

    def _around(self) -> tuple[float, float]:
        """How far the bracket goes beyond the undecided range, to the left and to the right."""
        left, right = self.undecided or (self.low, self.high)
        return left - self.low, self.high - right if right < self.largest else 0.0

    def next_point(self) -> float:
        """The next ε to look at."""
        if self.undecided is None:
            return _inside(self.guess * (1 + self.side * 0.4 * self.rtol), self.low, self.high, self.largest)
        # Step out of the undecided range on the wider side, farther each time.
        (left, right), (below, above) = self.undecided, self._around()
        step = math.inf if self.blunt else max(self.tolerance / 3, right - left)
        return min(right + min(step, above / 2) if above >= below else left - min(step, below / 2), self.largest)

    def learn(self, x: float) -> None:
        """Move an end of the bracket, or widen the undecided range, by the value of δ at x."""
        delta = self.delta_at(x, self.delta_rtol)
        if delta.upper <= self.target:
            self.high = x
        elif delta.lower > self.target:
            self.low = x
        else:
            left, right = self.undecided or (x, x)
            self.undecided = min(x, left), max(x, right)
            self.blunt += self.sharpens and delta.relative_width > 2 * self.delta_rtol
        if self.undecided and (self.undecided[1] < self.low or self.high < self.undecided[0]):
            self.undecided = None  # what was not decided outside of the bracket does not matter any more
        if x >= self.largest and delta.lower > self.target:
            raise ValueError(
                f"delta = {self.target:g} is not reached by any eps <= {self.largest:g}: "
                f"there delta(eps) is still at least {delta.lower:.6g}"
            )
        middle = max((delta.lower + delta.upper) / 2, 5e-324)
        self.points.append((x, math.sqrt(max(math.log(self.at_zero) - math.log(middle), 0.0))))
        self.guess = _interpolated(self.points, self.height)
        self.side = -1 if self.high - self.guess < self.guess - self.low else 1


def _inside(x: float, low: float, high: float, largest: float) -> float:
    """x, or the middle of the bracket if x is outside; outward by doubling while there is no upper end."""
    if low < x < high and x <= largest:
        return x
    return min(low + (high - low) / 2 if high < math.inf else 2 * low + 1, largest)


def _interpolated(points: list[tuple[float, float]], height: float) -> float:
    """Where the line through the two points nearest to ``height`` reaches it."""
    (x0, y0), (x1, y1) = sorted(points, key=lambda p: abs(p[1] - height))[:2]
    return x0 + (height - y0) * (x1 - x0) / (y1 - y0) if y1 != y0 else x0


def smallest_eps_meeting(
    bound_at: DeltaAt, target: float, low: float, high: float, rtol: float
) -> tuple[float, str | None]:
    """About the smallest ε from ``low`` to ``high`` at which the upper end of a bound is at most the target, and the
    name of the bound there: the target is met for certain. At ``high`` it is met anyway, and by no name; ``high`` may
    be inf, and is what comes out if no ε that was looked at meets the target.

    At ``low`` the bound is near the target, and its logarithm is nearly a straight line: secants from there, the first
    one with the slope of a normal law far out, each a little beyond its aim. It ends where the last ε that fails, or
    the place where the line to an ε that meets the target by the same bound crosses it, is within half of ``rtol``.
    ``bound_at(eps, rtol)`` need not be sharper than what that line makes of it.

    >>> round(smallest_eps_meeting(lambda eps, _: Interval(0.0, math.exp(-eps)), 0.25, 1.0, 9.0, 1e-3)[0], 2)  # log 4
    1.39
    """
    by: str | None = None
    last, too_much, failed_by = low, math.inf, by  # the last ε that fails, the logarithm of what it is off by
    slope = 2 * math.log(1 / target) / low if low else math.inf
    x, beyond, left = low, rtol / 8, 0.0
    for _ in range(_MOST_SECANTS):
        answer = bound_at(x, min(rtol * max(slope * x / 8, 1.0), 0.02) if x else rtol)
        excess = math.log(max(answer.upper, rounding.SMALLEST) / target)
        if answer.upper <= target:
            high, left, by = x, excess, answer.upper_by
        else:
            if x > last and too_much > excess:
                slope = (too_much - excess) / (x - last)
            last, too_much, failed_by = x, excess, answer.upper_by
        size = high if high < math.inf else max(last, 1.0)
        if by and too_much < math.inf:
            slope = (too_much - left) / (high - last)
        crossing = last + too_much / slope if too_much < math.inf else last
        enough = high - rtol * size / 2
        if last >= min(enough, LARGEST_EPS) or (by and by == failed_by and crossing >= enough):
            break
        middle = (last + high) / 2 if high < math.inf else 2 * size
        x = min(max(crossing, last) + beyond * size, LARGEST_EPS, math.inf if by else middle)
        beyond = min(2 * beyond, 0.45 * rtol)  # less than what is close enough
    return high, by


def boundary(delta_at: DeltaAt, target: float, meets: float, fails: float, rtol: float) -> tuple[float, float]:
    r"""Where a δ that is monotone in x > 0 crosses the target: an x with δ <= target and one with δ > target, both for
    certain, within ``rtol`` of each other, or as near as certified values of δ can tell them apart.

    ``delta_at(x, rtol)`` returns certified bounds; ``meets`` and ``fails`` are such points to begin with, on either
    side. In log x, log δ is nearly a straight line: interpolation, with the middle where that is slow.
    """

    def score(delta: Interval) -> float:
        return math.log(max((delta.lower + delta.upper) / 2, 1e-300)) - math.log(target)

    scores = {x: score(delta_at(x, 0.02)) for x in (meets, fails)}
    delta_rtol, slow, aside = 0.02, 0, 0.4 * rtol
    for _ in range(_MAX_STEPS):
        if abs(meets - fails) <= rtol * max(meets, fails):
            break
        apart = scores[meets] - scores[fails]
        share = scores[meets] / apart if apart and slow < 2 else 0.5
        x, gap = _between(meets, fails, share, aside)
        delta = delta_at(x, delta_rtol)
        if delta.upper <= target or delta.lower > target:
            scores[x] = score(delta)
            meets, fails = (x, fails) if delta.upper <= target else (meets, x)
            slow = slow + 1 if abs(math.log(meets / fails)) > gap / 2 else 0
        elif delta_rtol > 1e-5:
            delta_rtol /= 10
        elif aside < gap / 4:
            aside *= 2
        else:
            break
    return meets, fails


def _between(meets: float, fails: float, share: float, aside: float) -> tuple[float, float]:
    """The point so far on the way from one to the other in log x, and the length of the way."""
    left, right = math.log(meets), math.log(fails)
    gap = abs(right - left)
    # A little beyond the guess, towards the farther end, so that the two close in from both sides.
    share += math.copysign(aside / gap, 0.5 - share)
    return math.exp(left + min(max(share, 0.02), 0.98) * (right - left)), gap
