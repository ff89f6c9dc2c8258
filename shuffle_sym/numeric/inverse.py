r"""ε(δ) from certified values of δ(ε)."""

from __future__ import annotations

import math
from collections.abc import Callable

from shuffle_sym.algebra.interval import Interval

LARGEST_EPS = 700.0  # e^700 is near the end of the doubles
_MAX_STEPS = 100


def smallest_epsilon(
    delta_at: Callable[[float, float], Interval], target: float, rtol: float, max_loss: float, *, sharpens: bool = True
) -> Interval:
    r"""Bounds on the smallest ε with δ(ε) <= target, for a δ(ε) that does not increase.

    ``delta_at(eps, rtol)`` returns certified bounds of δ. The upper end satisfies δ(upper) <= target for certain,
    the lower end δ(lower) > target (or is 0); ``max_loss`` is an ε at which δ is exactly 0, or inf. They are within
    ``rtol`` of each other, relative to ε or, for ε near 0, to the ε over which δ falls; if the values of δ are not
    sharp enough for that, they are as close as these allow. ``sharpens`` says whether a smaller ``rtol`` makes δ
    sharper.
    """
    at_zero = delta_at(0.0, 0.01)
    if at_zero.upper <= target:
        return Interval(0.0, 0.0)
    low, high = 0.0, max_loss
    undecided = (0.0, 0.0) if at_zero.lower <= target else None  # where δ is too blurred to be compared with the target
    delta_rtol = max(rtol, 0.02)
    finest = min(rtol, 0.02) / 100 if sharpens else delta_rtol
    # sqrt(log δ(0) − log δ(ε)) is nearly a straight line in ε: interpolate in it.
    height = math.sqrt(max(math.log(at_zero.upper) - math.log(target), 1e-12))
    points = [(0.0, 0.0)]
    guess, side = 2.5 * at_zero.upper * math.sqrt(2) * height, 1
    for _ in range(_MAX_STEPS):
        tolerance = rtol * max(high if high < math.inf else low, at_zero.upper)
        if high - low <= tolerance:
            return Interval(low, high)
        if undecided is None:
            x = _inside(guess * (1 + side * 0.4 * rtol), low, high)
        else:
            below, above = undecided[0] - low, high - undecided[1]
            # On that line log δ falls by 2·height²/ε times the tolerance over it.
            needed = 2 * height**2 * tolerance / max(undecided[0], tolerance) / 3
            if max(below, above) <= tolerance / 4 or delta_rtol > max(needed, finest):
                if delta_rtol <= finest:
                    return Interval(low, high)
                delta_rtol, undecided = delta_rtol / 8, None
                # A line through a blurred point and a sharp one next to it would lead anywhere.
                del points[max(len(points) - 1, 1) :]
                continue
            # Step out of the blur on the wider side, farther each time.
            step = max(tolerance / 3, undecided[1] - undecided[0])
            x = undecided[1] + min(step, above / 2) if above >= below else undecided[0] - min(step, below / 2)
            x = min(x, LARGEST_EPS)
        found = delta_at(x, delta_rtol)
        if found.upper <= target:
            high = x
        elif found.lower > target:
            low = x
        else:
            undecided = (min(x, undecided[0]), max(x, undecided[1])) if undecided else (x, x)
        if x >= LARGEST_EPS and high > x:
            raise ValueError(
                f"delta = {target:g} is not reached by any eps <= {LARGEST_EPS:g}: "
                f"there delta(eps) is still at least {found.lower:.6g}"
            )
        middle = max((found.lower + found.upper) / 2, 5e-324)
        points.append((x, math.sqrt(max(math.log(at_zero.upper) - math.log(middle), 0.0))))
        guess = _interpolated(points, height)
        side = -1 if high - guess < guess - low else 1
    return Interval(low, high)


def _inside(x: float, low: float, high: float) -> float:
    """x, or the middle of the bracket if x is outside; outward by doubling while there is no upper end."""
    if low < x < high and x <= LARGEST_EPS:
        return x
    return min(low + (high - low) / 2 if high < math.inf else 2 * low + 1, LARGEST_EPS)


def _interpolated(points: list[tuple[float, float]], height: float) -> float:
    """Where the line through the two points nearest to ``height`` reaches it."""
    (x0, y0), (x1, y1) = sorted(points, key=lambda p: abs(p[1] - height))[:2]
    return x0 + (height - y0) * (x1 - x0) / (y1 - y0) if y1 != y0 else x0


def boundary(
    delta_at: Callable[[float, float], Interval], target: float, meets: float, fails: float, rtol: float
) -> tuple[float, float]:
    r"""Where a δ that is monotone in x > 0 crosses the target: an x with δ <= target and one with δ > target, both for
    certain, within ``rtol`` of each other, or as near as certified values of δ can tell them apart.

    ``delta_at(x, rtol)`` returns certified bounds; ``meets`` and ``fails`` are such points to begin with, on either
    side. In log x, log δ is nearly a straight line: interpolation, with the middle where that is slow.
    """
    goal = math.log(target)
    scores = {}
    for x in (meets, fails):
        found = delta_at(x, 0.02)
        scores[x] = math.log(max((found.lower + found.upper) / 2, 1e-300)) - goal
    delta_rtol, slow, aside = 0.02, 0, 0.4 * rtol
    for _ in range(_MAX_STEPS):
        if abs(meets - fails) <= rtol * max(meets, fails):
            break
        left, right = math.log(meets), math.log(fails)
        share = 0.5 if slow >= 2 else scores[meets] / (scores[meets] - scores[fails])
        # A little beyond the guess, towards the farther end, so that the two close in from both sides.
        share += math.copysign(aside / abs(right - left), 0.5 - share)
        x = math.exp(left + min(max(share, 0.02), 0.98) * (right - left))
        found = delta_at(x, delta_rtol)
        if found.lower <= target < found.upper:
            if delta_rtol > 1e-5:
                delta_rtol /= 10
            elif aside < abs(right - left) / 4:
                aside *= 2
            else:
                break
            continue
        gap = abs(right - left)
        scores[x] = math.log(max((found.lower + found.upper) / 2, 1e-300)) - goal
        meets, fails = (x, fails) if found.upper <= target else (meets, x)
        slow = slow + 1 if abs(math.log(meets / fails)) > gap / 2 else 0
    return meets, fails
